#include "smd/routing/topology/hop_table.h"

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <bitset>
#include <limits>
#include <optional>
#include <utility>

#include "smd/routing/graph/acyclic_graph.h"

namespace smd {
namespace {

using RankPair = std::pair<std::uint32_t, std::uint32_t>;  // first < second

class Search {
 public:
  Search(const Fabric& fabric, const NeighbourGraph& graph, const Columns& columns, HopTable& hops)
      : fabric_(fabric),
        graph_(graph),
        columns_(columns),
        hops_(hops),
        state_(graph.switches()),
        length_(graph.switches()) {}

  std::optional<Error> run() {
    const std::vector<char> incomplete = find_incomplete();
    for (const SwitchIdx to : graph_.by_guid()) {
      for (std::uint32_t variant = 0; variant < columns_.variants; ++variant) {
        column_ = columns_.of(to, variant);
        if (!incomplete[column_]) continue;
        judge();
        for (const SwitchIdx from : bad_)
          pairs_.push_back(std::minmax(graph_.rank(from), graph_.rank(to)));
        while (!bad_.empty()) {
          if (!repair()) {
            return Error{Errc::Unsupported,
                         fmt::format("no way from {} to {}",
                                     print_switch(fabric_, bad_.front()),
                                     print_switch(fabric_, to))};
          }
          judge();
        }
      }
    }
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    return std::nullopt;
  }

  [[nodiscard]] const std::vector<RankPair>& pairs() const { return pairs_; }

 private:
  enum class State : char { Unknown, Good, Bad };

  // By column. Switch by switch, as the table lies in memory.
  std::vector<char> find_incomplete() const {
    std::vector<char> incomplete(columns_.count, 0);
    for (const SwitchIdx sw : graph_.by_guid()) {
      const auto row = std::as_const(hops_).row(sw);
      for (std::size_t c = 0; c < row.size(); ++c) incomplete[c] |= row[c] == kNoHop;
    }
    return incomplete;
  }

  // Who arrives, and in how many hops.
  void judge() {
    state_.assign(state_.size(), State::Unknown);
    bad_.clear();
    for (const SwitchIdx start : graph_.by_guid()) {
      SwitchIdx sw = start;
      State end = state_[sw];
      std::uint32_t length = 0;
      while (end == State::Unknown) {
        const std::uint8_t hop = hops_.row(sw)[column_];
        path_.push_back(sw);
        if (hop >= kHere) {
          end = hop == kHere ? State::Good : State::Bad;
          break;
        }
        sw = graph_.around(sw)[hop].to;
        end = state_[sw];
        length = length_[sw] + 1;
      }
      for (; !path_.empty(); path_.pop_back()) {
        state_[path_.back()] = end;
        length_[path_.back()] = length++;
        if (end == State::Bad) bad_.push_back(path_.back());
      }
    }
    std::sort(bad_.begin(), bad_.end(), [&](SwitchIdx a, SwitchIdx b) {
      return graph_.rank(a) < graph_.rank(b);
    });
  }

  // Place of the neighbour with the shortest path; kNoHop when none has one.
  std::uint8_t find_good(SwitchIdx sw) const {
    std::uint8_t best = kNoHop;
    const auto around = graph_.around(sw);
    for (std::size_t i = 0; i < around.size(); ++i) {
      if (state_[around[i].to] != State::Good) continue;
      if (best == kNoHop || length_[around[i].to] < length_[around[best].to])
        best = static_cast<std::uint8_t>(i);
    }
    return best;
  }

  // Only where the closed form ends, as long as that helps: everybody before keeps their entries.
  bool repair() {
    bool repaired = false;
    for (const SwitchIdx sw : bad_) {
      if (hops_.row(sw)[column_] != kNoHop) continue;
      if (const std::uint8_t hop = find_good(sw); hop != kNoHop) {
        hops_.row(sw)[column_] = hop;
        repaired = true;
      }
    }
    if (repaired) return true;
    SwitchIdx best = kNone<SwitchIdx>;
    std::uint8_t first_hop = kNoHop;
    for (const SwitchIdx sw : bad_) {
      const std::uint8_t hop = find_good(sw);
      if (hop == kNoHop) continue;
      if (best != kNone<SwitchIdx> &&
          length_[graph_.around(sw)[hop].to] >= length_[graph_.around(best)[first_hop].to])
        continue;
      best = sw;
      first_hop = hop;
    }
    if (best == kNone<SwitchIdx>) return false;
    hops_.row(best)[column_] = first_hop;
    return true;
  }

  const Fabric& fabric_;
  const NeighbourGraph& graph_;
  const Columns& columns_;
  HopTable& hops_;
  std::uint32_t column_ = 0;
  IndexVector<SwitchIdx, State> state_;
  IndexVector<SwitchIdx, std::uint32_t> length_;
  std::vector<SwitchIdx> path_, bad_;
  std::vector<RankPair> pairs_;
};

using Path = std::vector<Channel>;

/// Channel that stands for all cables of a side of a link: together they can only show cycles too
/// many.
std::vector<Channel> list_channels(const NeighbourGraph& graph, const SwitchGraph& all) {
  std::vector<Channel> channel;
  for (std::uint32_t s = 0; s < graph.switches(); ++s) {
    const SwitchIdx sw{s};
    for (std::uint32_t side = graph.first(sw); side < graph.first(sw) + graph.around(sw).size();
         ++side) {
      Channel at = all.first_edge(sw);
      while (all.edge(at).port != graph.ports(side).front()) ++at;
      channel.push_back(at);
    }
  }
  return channel;
}

/// Places of end ports among those that a switch has or had: ports that are cabled to no switch and
/// at which some switch has somebody of that kind.
class EndPlaces {
 public:
  EndPlaces(const NeighbourGraph& graph, const Targets& targets, bool traffic) : graph_(graph) {
    for (const std::vector<Target>& here : targets.of) {
      for (const Target& target : here) {
        if (target.is_traffic() == traffic) ends_.set(target.egress.value());
      }
    }
  }

  void begin(SwitchIdx sw) {
    std::bitset<256> here = ends_;
    const std::uint32_t first = graph_.first(sw);
    for (std::uint32_t side = first; side < first + graph_.around(sw).size(); ++side) {
      for (const PortNum port : graph_.ports(side)) here.reset(port.value());
    }
    std::uint32_t next = 0;
    for (std::size_t port = 0; port < here.size(); ++port) {
      place_[port] = next;
      next += here[port];
    }
  }

  [[nodiscard]] std::uint32_t of(PortNum egress) const { return place_[egress.value()]; }

 private:
  const NeighbourGraph& graph_;
  std::bitset<256> ends_;
  std::array<std::uint32_t, 256> place_{};
};

void list_dependencies(const Dependencies& dependencies,
                       std::span<const Path> paths,
                       std::vector<Dependency>& wanted) {
  wanted.clear();
  for (const Path& path : paths) {
    for (std::size_t i = 1; i < path.size(); ++i)
      wanted.push_back(dependencies.between(path[i - 1], path[i]));
  }
}

}  // namespace

bool is_whole(const NeighbourGraph& graph, const HopTable& hops) {
  return std::ranges::none_of(graph.by_guid(), [&](SwitchIdx sw) {
    const auto row = hops.row(sw);
    return std::ranges::find(row, kNoHop) != row.end();
  });
}

std::vector<ColumnTarget> list_column_targets(const NeighbourGraph& graph,
                                              const Targets& targets,
                                              const Columns& columns) {
  std::vector<ColumnTarget> all;
  EndPlaces hosts{graph, targets, true}, others{graph, targets, false};
  for (const SwitchIdx sw : targets.of.indices()) {
    hosts.begin(sw);
    others.begin(sw);
    for (const Target& target : targets.of[sw]) {
      const std::uint32_t turn =
          columns.cell[sw] + (target.is_traffic() ? hosts : others).of(target.egress);
      const std::uint32_t beyond = (1u << target.lmc) - 1;
      for (std::uint32_t offset = 0; offset <= beyond; ++offset) {
        const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
        if (offset == 0 || columns.others == 0) {
          all.push_back({lid, columns.of(sw, turn + offset), (turn + offset) / columns.variants});
          continue;
        }
        // One after the other, so that the LIDs of any few ports have all of them alike.
        const std::uint32_t which = (columns.others_by_offset ? 0 : turn * beyond) + offset - 1;
        all.push_back({lid, columns.other(sw, which), turn + offset});
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const ColumnTarget& a, const ColumnTarget& b) {
    return a.lid < b.lid;
  });
  return all;
}

ForwardingTables write_tables(const Fabric& fabric,
                              const LidMap& lids,
                              const NeighbourGraph& graph,
                              const Targets& targets,
                              const Columns& columns,
                              const HopTable& hops) {
  const std::vector<ColumnTarget> destinations = list_column_targets(graph, targets, columns);
  ForwardingTables tables{fabric.switch_count(), lids.top};
  std::array<PortNum, 256> port{};
  for (const SwitchIdx sw : targets.of.indices()) {
    port.fill(kNoRoute);
    bool trunks = false;
    const auto around = graph.around(sw);
    for (std::uint32_t i = 0; i < around.size(); ++i) {
      port[i] = graph.ports(graph.first(sw) + i).front();
      trunks = trunks || graph.ports(graph.first(sw) + i).size() > 1;
    }
    const auto hop = hops.row(sw);
    const std::span<PortNum> row = tables.mutable_row(sw);
    if (!trunks) {
      for (const ColumnTarget& d : destinations) row[d.lid.value()] = port[hop[d.column]];
    } else {
      for (const ColumnTarget& d : destinations) {
        const std::uint8_t place = hop[d.column];
        if (place >= around.size()) continue;
        const auto members = graph.ports(graph.first(sw) + place);
        row[d.lid.value()] = members.size() == 1 ? members[0] : members[d.turn % members.size()];
      }
    }
    for (const Target& target : targets.of[sw]) {
      for (std::uint32_t offset = 0; offset < 1u << target.lmc; ++offset)
        row[target.base.value() + offset] = target.egress;
    }
  }
  return tables;
}

PathSls write_sls(const LidMap& lids,
                  const NeighbourGraph& graph,
                  const Targets& targets,
                  const Columns& columns,
                  const HopTable& sls) {
  const std::vector<ColumnTarget> destinations = list_column_targets(graph, targets, columns);
  PathSls paths{graph.switches(), lids.top};
  for (const SwitchIdx sw : targets.of.indices()) {
    const auto from = sls.row(sw);
    const std::span<std::uint8_t> row = paths.row(sw);
    for (const ColumnTarget& d : destinations) row[d.lid.value()] = from[d.column];
  }
  return paths;
}

Result<Detours> find_detours(const Fabric& fabric,
                             const NeighbourGraph& graph,
                             const Columns& columns,
                             unsigned most_vls,
                             HopTable& hops) {
  Search search{fabric, graph, columns, hops};
  if (auto why = search.run()) return tl::unexpected<Error>(std::move(*why));

  Detours detours;
  if (search.pairs().empty()) return detours;
  const SwitchGraph all{fabric};
  const std::vector<Channel> channel = list_channels(graph, all);
  const Dependencies dependencies{all};
  std::vector<AcyclicGraph> vls;
  std::vector<Path> paths;
  std::vector<Dependency> wanted;
  std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();
  const auto follow = [&](SwitchIdx from, SwitchIdx to) {
    for (std::uint32_t variant = 0; variant < columns.variants; ++variant) {
      const std::uint32_t column = columns.of(to, variant);
      Path path;
      for (SwitchIdx sw = from; sw != to;) {
        const std::uint8_t hop = hops.row(sw)[column];
        path.push_back(channel[graph.first(sw) + hop]);
        sw = graph.around(sw)[hop].to;
      }
      paths.push_back(std::move(path));
    }
  };
  for (const auto& [first, second] : search.pairs()) {
    const SwitchIdx a = graph.by_guid()[first], b = graph.by_guid()[second];
    paths.clear();
    follow(a, b);
    follow(b, a);
    list_dependencies(dependencies, paths, wanted);
    std::size_t vl = 0;
    for (; vl < most_vls; ++vl) {
      if (vl == vls.size()) vls.emplace_back(dependencies);
      if (vls[vl].add_all(wanted, budget)) break;
    }
    if (vl == most_vls) {
      return fail(Errc::Unsupported,
                  fmt::format("the way around what is missing between {} and {} needs more than "
                              "{} lane{} beyond those of the regular routes",
                              print_switch(fabric, a),
                              print_switch(fabric, b),
                              most_vls,
                              most_vls == 1 ? "" : "s"));
    }
    detours.pairs.push_back({a, b, static_cast<std::uint8_t>(vl)});
  }
  detours.vls = static_cast<unsigned>(vls.size());
  return detours;
}

}  // namespace smd
