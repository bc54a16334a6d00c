// Worms that wait for each other for ever: what is stuck when nothing but the stuck could free it.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "sim-backend/worm/worm_model.h"

namespace smd::sim {

/// Takes all for stuck, and frees what waits for something that moves, until nothing changes.
class WormModel::KnotSearch {
 public:
  explicit KnotSearch(const WormModel& streams) : s_(streams), stuck_(s_.hops_.size(), 0) {
    for (ChannelAt c = 0; c < s_.channels_.size(); ++c) {
      const Channel& channel = s_.channels_[c];
      for (HopAt r = channel.front; r != kNowhere; r = s_.hops_[r].after) add(r);
      if (channel.owner != kNowhere && s_.hops_[channel.owner].in == kNowhere) {
        add(channel.owner);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const HopAt r : all_) {
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
    for (const HopAt r : all_) {
      for (std::uint8_t b = 0; b < branches(r); ++b) {
        if (is_stuck({r, b})) out.push_back({s_.hops_[r].worm, wanted({r, b})});
      }
    }
    return out;
  }

  /// A circle among them.
  [[nodiscard]] std::vector<Held> circle() const {
    std::optional<OutputRequest> at;
    for (const HopAt r : all_) {
      for (std::uint8_t b = 0; b < branches(r) && !at; ++b) {
        if (is_stuck({r, b})) at = OutputRequest{r, b};
      }
    }
    if (!at) return {};
    // After so many steps the walk is on the circle.
    for (std::size_t i = 0; i < all_.size() * kMostForks; ++i) at = wait_of(*at);
    const OutputRequest first = *at;
    std::vector<Held> out;
    do {
      const WormHop& hop = s_.hops_[at->hop];
      const WormHop::Branch& branch = hop.branches[at->branch];
      if (branch.asks || branch.chooses ||
          (branch.granted && !s_.permitted(s_.channels_[branch.out], s_.now_ + 1))) {
        out.push_back({hop.worm, wanted(*at)});
      }
      at = wait_of(*at);
    } while (at->hop != first.hop || at->branch != first.branch);
    return out;
  }

 private:
  void add(HopAt r) {
    all_.push_back(r);
    stuck_[r] = static_cast<std::uint8_t>((1u << branches(r)) - 1);
  }

  [[nodiscard]] std::uint8_t branches(HopAt r) const {
    return std::max<std::uint8_t>(1, s_.hops_[r].forks);
  }

  [[nodiscard]] bool is_stuck(const OutputRequest& at) const {
    return ((stuck_[at.hop] >> at.branch) & 1) != 0;
  }

  /// The channel that it waits for; of several the one that it likes best.
  [[nodiscard]] ChannelAt wanted(const OutputRequest& at) const {
    const WormHop& hop = s_.hops_[at.hop];
    const WormHop::Branch& branch = hop.branches[at.branch];
    return branch.chooses ? s_.choices(hop, at.branch).front().out : branch.out;
  }

  /// Whoever is stuck and keeps a lane from those who ask for it: its owner, or what fills its
  /// buffer where allocation is atomic.
  [[nodiscard]] std::optional<OutputRequest> holder_of(const Channel& channel) const {
    if (channel.owner == kNowhere) {
      if (s_.is_free(channel) || channel.front == kNowhere) return {};
      return stuck_branch(channel.front);
    }
    const OutputRequest owner{channel.owner, channel.owner_branch};
    return is_stuck(owner) ? std::optional(owner) : std::nullopt;
  }

  /// One that may choose waits for ever where all that it may take are held by the stuck.
  [[nodiscard]] std::optional<OutputRequest> wait_of_choices(const OutputRequest& at) const {
    std::optional<OutputRequest> out;
    for (const WormChoice& choice : s_.choices(s_.hops_[at.hop], at.branch)) {
      const auto holder = holder_of(s_.channels_[choice.out]);
      if (!holder) return {};
      if (!out) out = holder;
    }
    return out;
  }

  /// Of the branches that have had least, which keep the flits in the buffer, a stuck one.
  [[nodiscard]] std::optional<OutputRequest> stuck_branch(HopAt r) const {
    const WormHop& hop = s_.hops_[r];
    const auto had = [&](std::uint8_t b) { return s_.left(hop, hop.branches[b], s_.now_ + 1); };
    std::int64_t least = had(0);
    for (std::uint8_t b = 1; b < hop.forks; ++b) least = std::min(least, had(b));
    for (std::uint8_t b = 0; b < branches(r); ++b) {
      if (had(b) == least && is_stuck({r, b})) return OutputRequest{r, b};
    }
    return {};
  }

  /// What gives this worm its flits, if it is stuck and nothing of them is on the cable.
  [[nodiscard]] std::optional<OutputRequest> feeder(const WormHop& hop) const {
    if (hop.in == kNowhere) return {};
    const Channel& in = s_.channels_[hop.in];
    if (in.dead || in.owner == kNowhere || s_.hops_[in.owner].worm != hop.worm) return {};
    const auto lost = static_cast<std::uint64_t>(in.lost);
    if (in.sent.before(s_.now_ + 1) - lost != in.came.before(s_.now_ + 1)) return {};
    const OutputRequest from{in.owner, in.owner_branch};
    return is_stuck(from) ? std::optional(from) : std::nullopt;
  }

  /// A stuck one that it waits for; nothing: it moves, or may yet.
  [[nodiscard]] std::optional<OutputRequest> wait_of(const OutputRequest& at) const {
    const WormHop& hop = s_.hops_[at.hop];
    const WormHop::Branch& branch = hop.branches[at.branch];
    if (hop.in != kNowhere) {
      const Channel& in = s_.channels_[hop.in];
      if (in.to_host && (hop.forks == 0 || hop.dropped)) return feeder(hop);
      if (in.to_host && !branch.granted) {
        if (hop.head_in < 0) return feeder(hop);
        return wait_of_host(s_.graph_.channels[hop.in].to);
      }
      if (!in.to_host && in.front != at.hop) return stuck_branch(in.front);
      if (hop.head_in < 0 || hop.waits) return feeder(hop);
    }
    if (branch.done) return {};
    if (branch.chooses) return wait_of_choices(at);
    if (!branch.granted) {
      if (!branch.asks) return {};  // it is routed
      return holder_of(s_.channels_[branch.out]);
    }
    if (const auto own = own_wait(at)) return own;
    if (s_.is_locked_fork(hop)) {
      for (std::uint8_t b = 0; b < hop.forks; ++b) {
        if (b != at.branch && is_stuck({at.hop, b}) && !waits_for_sibling({at.hop, b})) {
          return OutputRequest{at.hop, b};
        }
      }
    }
    return {};
  }

  [[nodiscard]] bool waits_for_sibling(const OutputRequest& at) const {
    return s_.hops_[at.hop].branches[at.branch].granted && !own_wait(at);
  }

  /// Of a branch that is connected: whom it waits for at the far end, or for flits.
  [[nodiscard]] std::optional<OutputRequest> own_wait(const OutputRequest& at) const {
    const WormHop& hop = s_.hops_[at.hop];
    const WormHop::Branch& branch = hop.branches[at.branch];
    const Channel& out = s_.channels_[branch.out];
    if (!s_.permitted(out, s_.now_ + 1)) {
      const bool is_told =
          s_.options_.flow == WormFlow::Credits
              ? out.taken.before(s_.now_ + 1) + static_cast<std::uint64_t>(out.lost) >
                    out.returned.before(s_.now_ + 1)
              : !out.said_stop;
      if (out.taken.runs || is_told || out.front == kNowhere) return {};
      return stuck_branch(out.front);
    }
    if (s_.arrived(hop, s_.now_) - hop.strip > s_.left(hop, branch, s_.now_ + 1)) return {};
    return feeder(hop);
  }

  [[nodiscard]] std::optional<OutputRequest> wait_of_host(std::uint32_t node) const {
    std::optional<OutputRequest> out;
    for (const ChannelAt c : s_.graph_.out_of[node]) {
      const Channel& engine = s_.channels_[c];
      if (engine.owner == kNowhere || !is_stuck({engine.owner, engine.owner_branch})) return {};
      out = OutputRequest{engine.owner, engine.owner_branch};
    }
    return out;
  }

  const WormModel& s_;
  std::vector<std::uint8_t> stuck_;  // by hop, a bit for each branch
  std::vector<HopAt> all_;
};

std::vector<WormModel::Held> WormModel::find_knot(bool all) const {
  const KnotSearch search(*this);
  return all ? search.all() : search.circle();
}

std::string WormModel::audit() const {
  for (ChannelAt c = 0; c < channels_.size(); ++c) {
    const Channel& channel = channels_[c];
    const std::uint64_t sent =
        channel.sent.before(now_ + 1) - static_cast<std::uint64_t>(channel.lost);
    const std::uint64_t came = channel.came.before(now_ + 1);
    if (!channel.dead && (came > sent || sent - came > channel.forth)) {
      return fmt::format("channel {}: {} flits sent, {} came in", c, sent, came);
    }
    if (channel.to_host) continue;
    const std::uint64_t taken = channel.taken.before(now_ + 1);
    // The far end of a cable that goes down makes a flit of its own.
    const std::uint32_t room = options_.buffer + (channel.cut_at == kNoCycle ? 0 : 1);
    if (taken > came || came - taken > room) {
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
