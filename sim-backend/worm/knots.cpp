// Worms that wait for each other for ever: what is stuck when nothing but the stuck could free it.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "sim-backend/worm/streams.h"

namespace smd::sim {

/// Takes all for stuck, and frees what waits for something that moves, until nothing changes.
class WormStreams::KnotSearch {
 public:
  explicit KnotSearch(const WormStreams& streams) : s_(streams), stuck_(s_.reaches_.size(), 0) {
    for (ChannelAt c = 0; c < s_.channels_.size(); ++c) {
      const Channel& channel = s_.channels_[c];
      for (ReachAt r = channel.front; r != kNowhere; r = s_.reaches_[r].after) add(r);
      if (channel.owner != kNowhere && s_.reaches_[channel.owner].in == kNowhere) {
        add(channel.owner);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const ReachAt r : all_) {
        for (std::uint8_t b = 0; b < branches(r); ++b) {
          if (!is_stuck({r, b}) || wait_of({r, b})) continue;
          stuck_[r] &= static_cast<std::uint8_t>(~(1u << b));
          changed = true;
        }
      }
    }
  }

  /// Every worm of which a part never ends, and the channel that it asks for.
  [[nodiscard]] std::vector<Held> all() const {
    std::vector<Held> out;
    for (const ReachAt r : all_) {
      for (std::uint8_t b = 0; b < branches(r); ++b) {
        if (is_stuck({r, b})) out.push_back({s_.reaches_[r].worm, s_.reaches_[r].branches[b].out});
      }
    }
    return out;
  }

  /// A circle among them.
  [[nodiscard]] std::vector<Held> circle() const {
    std::optional<Asking> at;
    for (const ReachAt r : all_) {
      for (std::uint8_t b = 0; b < branches(r) && !at; ++b) {
        if (is_stuck({r, b})) at = Asking{r, b};
      }
    }
    if (!at) return {};
    // After so many steps the walk is on the circle.
    for (std::size_t i = 0; i < all_.size() * kMostForks; ++i) at = wait_of(*at);
    const Asking first = *at;
    std::vector<Held> out;
    do {
      const Reach& reach = s_.reaches_[at->reach];
      const Reach::Branch& branch = reach.branches[at->branch];
      if (branch.asks || (branch.granted && !s_.permitted(s_.channels_[branch.out], s_.now_ + 1))) {
        out.push_back({reach.worm, branch.out});
      }
      at = wait_of(*at);
    } while (at->reach != first.reach || at->branch != first.branch);
    return out;
  }

 private:
  void add(ReachAt r) {
    all_.push_back(r);
    stuck_[r] = static_cast<std::uint8_t>((1u << branches(r)) - 1);
  }

  [[nodiscard]] std::uint8_t branches(ReachAt r) const {
    return std::max<std::uint8_t>(1, s_.reaches_[r].forks);
  }

  [[nodiscard]] bool is_stuck(const Asking& at) const {
    return ((stuck_[at.reach] >> at.branch) & 1) != 0;
  }

  /// Of the branches that have had least, which keep the flits in the buffer, a stuck one.
  [[nodiscard]] std::optional<Asking> stuck_branch(ReachAt r) const {
    const Reach& reach = s_.reaches_[r];
    const auto had = [&](std::uint8_t b) { return s_.left(reach, reach.branches[b], s_.now_ + 1); };
    std::int64_t least = had(0);
    for (std::uint8_t b = 1; b < reach.forks; ++b) least = std::min(least, had(b));
    for (std::uint8_t b = 0; b < branches(r); ++b) {
      if (had(b) == least && is_stuck({r, b})) return Asking{r, b};
    }
    return {};
  }

  /// What gives this worm its flits, if it is stuck and nothing of them is on the cable.
  [[nodiscard]] std::optional<Asking> feeder(const Reach& reach) const {
    if (reach.in == kNowhere) return {};
    const Channel& in = s_.channels_[reach.in];
    if (in.owner == kNowhere || s_.reaches_[in.owner].worm != reach.worm) return {};
    if (in.sent.before(s_.now_ + 1) != in.came.before(s_.now_ + 1)) return {};
    const Asking from{in.owner, in.owner_branch};
    return is_stuck(from) ? std::optional(from) : std::nullopt;
  }

  /// A stuck one that it waits for; nothing: it moves, or may yet.
  [[nodiscard]] std::optional<Asking> wait_of(const Asking& at) const {
    const Reach& reach = s_.reaches_[at.reach];
    const Reach::Branch& branch = reach.branches[at.branch];
    if (reach.in != kNowhere) {
      const Channel& in = s_.channels_[reach.in];
      if (in.to_host && (reach.forks == 0 || reach.dropped)) return feeder(reach);
      if (in.to_host && !branch.granted) {
        if (reach.head_in < 0) return feeder(reach);
        return wait_of_host(s_.graph_.channels[reach.in].to);
      }
      if (!in.to_host && in.front != at.reach) return stuck_branch(in.front);
      if (reach.head_in < 0 || reach.waits) return feeder(reach);
    }
    if (branch.done) return {};
    if (!branch.granted) {
      if (!branch.asks) return {};  // it is routed
      const Channel& out = s_.channels_[branch.out];
      if (out.owner == kNowhere || !is_stuck({out.owner, out.owner_branch})) return {};
      return Asking{out.owner, out.owner_branch};
    }
    if (const auto own = own_wait(at)) return own;
    if (s_.is_locked_fork(reach)) {
      for (std::uint8_t b = 0; b < reach.forks; ++b) {
        if (b != at.branch && is_stuck({at.reach, b}) && !waits_for_sibling({at.reach, b})) {
          return Asking{at.reach, b};
        }
      }
    }
    return {};
  }

  [[nodiscard]] bool waits_for_sibling(const Asking& at) const {
    return s_.reaches_[at.reach].branches[at.branch].granted && !own_wait(at);
  }

  /// Of a branch that is connected: whom it waits for at the far end, or for flits.
  [[nodiscard]] std::optional<Asking> own_wait(const Asking& at) const {
    const Reach& reach = s_.reaches_[at.reach];
    const Reach::Branch& branch = reach.branches[at.branch];
    const Channel& out = s_.channels_[branch.out];
    if (!s_.permitted(out, s_.now_ + 1)) {
      const bool is_told = s_.options_.flow == WormFlow::Credits
                               ? out.taken.before(s_.now_ + 1) > out.returned.before(s_.now_ + 1)
                               : !out.said_stop;
      if (out.taken.runs || is_told || out.front == kNowhere) return {};
      return stuck_branch(out.front);
    }
    if (s_.arrived(reach, s_.now_) - reach.strip > s_.left(reach, branch, s_.now_ + 1)) return {};
    return feeder(reach);
  }

  [[nodiscard]] std::optional<Asking> wait_of_host(std::uint32_t node) const {
    std::optional<Asking> out;
    for (const ChannelAt c : s_.graph_.out_of[node]) {
      const Channel& engine = s_.channels_[c];
      if (engine.owner == kNowhere || !is_stuck({engine.owner, engine.owner_branch})) return {};
      out = Asking{engine.owner, engine.owner_branch};
    }
    return out;
  }

  const WormStreams& s_;
  std::vector<std::uint8_t> stuck_;  // by reach, a bit for each branch
  std::vector<ReachAt> all_;
};

std::vector<WormStreams::Held> WormStreams::find_knot(bool all) const {
  const KnotSearch search(*this);
  return all ? search.all() : search.circle();
}

std::string WormStreams::audit() const {
  for (ChannelAt c = 0; c < channels_.size(); ++c) {
    const Channel& channel = channels_[c];
    const std::uint64_t sent = channel.sent.before(now_ + 1), came = channel.came.before(now_ + 1);
    if (came > sent || sent - came > channel.forth) {
      return fmt::format("channel {}: {} flits sent, {} came in", c, sent, came);
    }
    if (channel.to_host) continue;
    const std::uint64_t taken = channel.taken.before(now_ + 1);
    if (taken > came || came - taken > options_.buffer) {
      return fmt::format("channel {}: {} of {} flits in a buffer for {}",
                         c,
                         static_cast<std::int64_t>(came - taken),
                         came,
                         options_.buffer);
    }
    if (channel.front == kNowhere && taken != came) {
      return fmt::format("channel {}: {} flits of no worm", c, came - taken);
    }
  }
  return {};
}

}  // namespace smd::sim
