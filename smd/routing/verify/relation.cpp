#include "smd/routing/verify/relation.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "smd/base/check.h"

namespace smd {
namespace {

constexpr std::uint32_t kVlsPerPort = 16;
constexpr std::uint32_t kNoChannelHeld = 0xffffffff;

struct PlaceHash {
  std::size_t operator()(const RelationPlace& place) const {
    std::uint64_t word = place.state * 0x9e3779b97f4a7c15u;
    word ^= (std::uint64_t{place.in.value()} << 8 | place.vl.value()) + (word >> 29);
    return static_cast<std::size_t>(word * 0xbf58476d1ce4e5b9u ^ word >> 31);
  }
};

/// The places that can be reached, with their ways; and who waits for whom. Hashes are looked up,
/// never gone through.
class RelationSearch {
 public:
  RelationSearch(const Fabric& fabric, const RoutingRelation& relation)
      : fabric_(fabric), relation_(relation) {
    relation.starts([this](const RelationPlace& place) { (void)number(place); });
    std::vector<RelationStep> moves;
    for (std::uint32_t at = 0; at < places_.size(); ++at) {
      moves.clear();
      const bool delivered = relation_.moves(RelationPlace(places_[at]), moves);
      SMD_CHECK(!delivered || moves.empty(), "a delivered packet goes no further");
      delivered_.push_back(delivered);
      const std::optional<RelationChannel> host = relation_.consumes(RelationPlace(places_[at]));
      consumed_.push_back(host ? channel(host->out, host->vl) : kNoChannelHeld);
      first_.push_back(static_cast<std::uint32_t>(ways_.size()));
      for (const RelationStep& move : moves) {
        const PortIdx peer = fabric_.peer[move.out];
        SMD_CHECK(peer != kNone<PortIdx>, "a way by a port without a cable");
        vls_ = std::max<unsigned>(vls_, move.vl.value() + 1u);
        ways_.push_back({.channel = channel(move.out, move.vl),
                         .place = number({.in = peer, .vl = move.vl, .state = move.state}),
                         .escape = move.escape});
      }
    }
    first_.push_back(static_cast<std::uint32_t>(ways_.size()));
  }

  void wait_for_all() {
    for (std::uint32_t at = 0; at < places_.size(); ++at) {
      dead_ends_ += !delivered_[at] && first_[at] == first_[at + 1];
      if (consumed_[at] != kNoChannelHeld) add_edge(held(at), consumed_[at]);
      for (std::uint32_t w = first_[at]; w < first_[at + 1]; ++w) {
        add_edge(held(at), ways_[w].channel);
        add_edge(consumed_[at], ways_[w].channel);
        note_both(at, ways_[w].channel);
      }
    }
  }

  /// Whoever holds a channel that is an escape for anybody waits for the escapes that he can come
  /// to by other channels: Duato's direct, indirect and cross dependencies.
  void wait_for_escapes() {
    std::unordered_set<std::uint32_t> escapes;
    for (const ChannelStep& way : ways_) {
      if (way.escape) escapes.insert(way.channel);
    }
    std::vector<std::uint32_t> seen(places_.size(), kNoChannelHeld), line;
    for (std::uint32_t at = 0; at < places_.size(); ++at) {
      const auto begin = ways_.begin() + first_[at];
      const auto end = ways_.begin() + first_[at + 1];
      dead_ends_ += !delivered_[at] &&
                    std::none_of(begin, end, [](const ChannelStep& w) { return w.escape; });
      const std::uint32_t escape = escapes.contains(held(at)) ? held(at) : kNoChannelHeld;
      const std::uint32_t consumed = consumed_[at];  // there is no other, as with escapes
      if (escape == kNoChannelHeld && consumed == kNoChannelHeld) continue;
      if (consumed != kNoChannelHeld) add_edge(escape, consumed);
      line.assign(1, at);
      seen[at] = at;
      for (auto way = begin; way != end; ++way) {
        if (way->escape) note_both(at, way->channel);
      }
      const auto wait = [&](std::uint32_t for_channel) {
        add_edge(escape, for_channel);
        add_edge(consumed, for_channel);
      };
      for (std::size_t i = 0; i < line.size(); ++i) {
        if (i > 0 && consumed_[line[i]] != kNoChannelHeld) wait(consumed_[line[i]]);
        for (std::uint32_t w = first_[line[i]]; w < first_[line[i] + 1]; ++w) {
          const ChannelStep& way = ways_[w];
          if (way.escape) {
            wait(way.channel);
          } else if (seen[way.place] != at) {
            seen[way.place] = at;
            line.push_back(way.place);
          }
        }
      }
    }
  }

  [[nodiscard]] RelationVerdict verdict() {
    RelationVerdict out;
    out.dead_ends = dead_ends_;
    out.places = places_.size();
    out.edges = edges_.size();
    out.vls = vls_;
    for (const std::uint32_t channel : find_cycle()) {
      out.cycle.push_back(
          {PortIdx{channel / kVlsPerPort}, Vl{static_cast<std::uint8_t>(channel % kVlsPerPort)}});
    }
    out.acyclic = out.cycle.empty();
    return out;
  }

 private:
  struct ChannelStep {
    std::uint32_t channel, place;
    bool escape;
  };

  static std::uint32_t channel(PortIdx out, Vl vl) {
    return out.value() * kVlsPerPort + vl.value();
  }

  /// What the packet holds while it is there; that of a host's link waits for it, but nobody for
  /// that.
  [[nodiscard]] std::uint32_t held(std::uint32_t place) const {
    const PortIdx from = fabric_.peer[places_[place].in];
    return from == kNone<PortIdx> || !fabric_.is_switch(fabric_.node_of[from])
               ? kNoChannelHeld
               : channel(from, places_[place].vl);
  }

  std::uint32_t number(const RelationPlace& place) {
    const auto [found, added] =
        numbers_.try_emplace(place, static_cast<std::uint32_t>(places_.size()));
    if (added) places_.push_back(place);
    return found->second;
  }

  void add_edge(std::uint32_t from, std::uint32_t to) {
    if (from != kNoChannelHeld && known_edges_.insert(std::uint64_t{from} << 32 | to).second) {
      edges_.push_back({from, to});
    }
  }

  /// Who needs a channel to the host and one to go on gets them one by one. Two who came in by
  /// different channels can have one each, so that each waits for the other's.
  void note_both(std::uint32_t at, std::uint32_t way) {
    if (consumed_[at] == kNoChannelHeld) return;
    const std::uint64_t pair = std::uint64_t{consumed_[at]} << 32 | way;
    const auto [found, added] = came_by_.try_emplace(pair, held(at));
    if (!added && found->second != held(at)) add_edge(way, consumed_[at]);
  }

  /// Depth first, lowest channels first. Empty: there is none.
  [[nodiscard]] std::vector<std::uint32_t> find_cycle() {
    std::ranges::sort(edges_);
    const std::size_t channels = fabric_.peer.size() * kVlsPerPort;
    std::vector<std::uint32_t> next(channels + 1, 0);
    for (const auto& [from, to] : edges_) ++next[from + 1];
    for (std::size_t c = 0; c < channels; ++c) next[c + 1] += next[c];
    const std::vector<std::uint32_t> first = next;

    enum : std::uint8_t { New, Open, Done };

    std::vector<std::uint8_t> state(channels, New);
    std::vector<std::uint32_t> path;
    for (std::uint32_t root = 0; root < channels; ++root) {
      if (state[root] != New) continue;
      path.assign(1, root);
      state[root] = Open;
      while (!path.empty()) {
        const std::uint32_t at = path.back();
        if (next[at] == first[at + 1]) {
          state[at] = Done;
          path.pop_back();
          continue;
        }
        const std::uint32_t to = edges_[next[at]++].second;
        if (state[to] == Open) return {std::ranges::find(path, to), path.end()};
        if (state[to] == Done) continue;
        state[to] = Open;
        path.push_back(to);
      }
    }
    return {};
  }

  const Fabric& fabric_;
  const RoutingRelation& relation_;
  std::vector<RelationPlace> places_;
  std::unordered_map<RelationPlace, std::uint32_t, PlaceHash> numbers_;
  std::vector<char> delivered_;
  std::vector<std::uint32_t> consumed_;  // by place
  std::vector<std::uint32_t> first_;     // by place: of its ways
  std::vector<ChannelStep> ways_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::unordered_set<std::uint64_t> known_edges_;
  std::unordered_map<std::uint64_t, std::uint32_t> came_by_;  // see note_both()
  std::uint64_t dead_ends_ = 0;
  unsigned vls_ = 0;
};

}  // namespace

RelationVerdict check_relation(const Fabric& fabric,
                               const RoutingRelation& relation,
                               RelationMode mode) {
  RelationSearch search(fabric, relation);
  if (mode == RelationMode::All) {
    search.wait_for_all();
  } else {
    search.wait_for_escapes();
  }
  return search.verdict();
}

std::string print_circle(const Fabric& fabric, const std::vector<RelationChannel>& circle) {
  std::string out;
  for (const RelationChannel& channel : circle) {
    if (!out.empty()) out += " -> ";
    out += fmt::format("{}:{}(VL{})",
                       fabric.description[fabric.node_of[channel.out]],
                       fabric.number_of(channel.out).value(),
                       channel.vl.value());
  }
  return out;
}

}  // namespace smd
