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

/// Channels between neighbours. One stands for all cables of a side of a link: together they can
/// only show cycles too many.
class SideChannels {
 public:
  SideChannels(const Fabric& fabric, const NeighbourGraph& graph)
      : graph_(graph), all_(fabric), dependencies_(all_) {
    for (std::uint32_t s = 0; s < graph.switches(); ++s) {
      const SwitchIdx sw{s};
      for (std::uint32_t side = graph.first(sw); side < graph.first(sw) + graph.around(sw).size();
           ++side) {
        Channel at = all_.first_edge(sw);
        while (all_.edge(at).port != graph.ports(side).front()) ++at;
        channel_.push_back(at);
      }
    }
  }

  [[nodiscard]] const Dependencies& dependencies() const { return dependencies_; }

  [[nodiscard]] Channel at(SwitchIdx sw, std::uint8_t hop) const {
    return channel_[graph_.first(sw) + hop];
  }

  /// From sw by `hop`, and from there by `on`.
  [[nodiscard]] Dependency between(SwitchIdx sw, std::uint8_t hop, std::uint8_t on) const {
    return dependencies_.between(at(sw, hop), at(graph_.around(sw)[hop].to, on));
  }

 private:
  const NeighbourGraph& graph_;
  SwitchGraph all_;
  Dependencies dependencies_;
  std::vector<Channel> channel_;  // by side
};

/// Of all paths that `hops` has, whole or not.
AcyclicGraph collect_dependencies(const NeighbourGraph& graph,
                                  const Columns& columns,
                                  const HopTable& hops,
                                  const SideChannels& channels) {
  AcyclicGraph all{channels.dependencies()};
  for (const SwitchIdx sw : graph.by_guid()) {
    const auto row = hops.row(sw);
    for (std::uint32_t column = 0; column < columns.count; ++column) {
      if (row[column] >= kHere) continue;
      const std::uint8_t on = hops.row(graph.around(sw)[row[column]].to)[column];
      if (on < kHere) all.set(channels.between(sw, row[column], on));
    }
  }
  return all;
}

class Search {
 public:
  /// With `regular`, the dependencies of the closed form: only hops that close no cycle with them
  /// and with each other, shorter paths first.
  Search(const Fabric& fabric,
         const NeighbourGraph& graph,
         const Columns& columns,
         HopTable& hops,
         const SideChannels& channels,
         AcyclicGraph* regular)
      : fabric_(fabric),
        graph_(graph),
        columns_(columns),
        hops_(hops),
        channels_(channels),
        regular_(regular),
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

  // Hops to neighbours that arrive, those with the shortest paths first.
  const std::vector<std::uint8_t>& list_good(SwitchIdx sw) {
    good_.clear();
    const auto around = graph_.around(sw);
    for (std::size_t i = 0; i < around.size(); ++i) {
      if (state_[around[i].to] == State::Good) good_.push_back(static_cast<std::uint8_t>(i));
    }
    std::ranges::stable_sort(
        good_, {}, [&](std::uint8_t hop) { return length_[graph_.around(sw)[hop].to]; });
    return good_;
  }

  // With what comes to the switch on its way to this column, and how it goes on.
  bool stays_acyclic(SwitchIdx sw, std::uint8_t hop) {
    if (regular_ == nullptr) return true;
    wanted_.clear();
    const std::uint8_t on = hops_.row(graph_.around(sw)[hop].to)[column_];
    if (on < kHere) wanted_.push_back(channels_.between(sw, hop, on));
    for (const Neighbour& before : graph_.around(sw)) {
      const std::uint8_t in = hops_.row(before.to)[column_];
      if (in < kHere && graph_.around(before.to)[in].to == sw)
        wanted_.push_back(channels_.between(before.to, in, hop));
    }
    std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();
    return regular_->add_all(wanted_, budget);
  }

  // Only where the closed form ends, as long as that helps: everybody before keeps their entries.
  bool repair() {
    bool repaired = false;
    for (const SwitchIdx sw : bad_) {
      if (hops_.row(sw)[column_] == kNoHop) repaired = hand_over(sw) || repaired;
    }
    if (repaired) return true;
    std::vector<std::pair<std::uint32_t, SwitchIdx>> others;  // by the path that there is
    for (const SwitchIdx sw : bad_) {
      const std::vector<std::uint8_t>& good = list_good(sw);
      if (!good.empty()) others.emplace_back(length_[graph_.around(sw)[good.front()].to], sw);
    }
    std::ranges::stable_sort(others, {}, &std::pair<std::uint32_t, SwitchIdx>::first);
    return std::ranges::any_of(others, [&](const auto& each) { return hand_over(each.second); });
  }

  bool hand_over(SwitchIdx sw) {
    for (const std::uint8_t hop : list_good(sw)) {
      if (!stays_acyclic(sw, hop)) continue;
      hops_.row(sw)[column_] = hop;
      return true;
    }
    return false;
  }

  const Fabric& fabric_;
  const NeighbourGraph& graph_;
  const Columns& columns_;
  HopTable& hops_;
  const SideChannels& channels_;
  AcyclicGraph* regular_;
  std::uint32_t column_ = 0;
  IndexVector<SwitchIdx, State> state_;
  IndexVector<SwitchIdx, std::uint32_t> length_;
  std::vector<SwitchIdx> path_, bad_;
  std::vector<RankPair> pairs_;
  std::vector<std::uint8_t> good_;
  std::vector<Dependency> wanted_;
};

using Path = std::vector<Channel>;

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
                             DetourVls allowed,
                             HopTable& hops) {
  Detours detours;
  if (is_whole(graph, hops)) return detours;
  const SideChannels channels{fabric, graph};
  if (allowed.may_stay) {
    AcyclicGraph regular = collect_dependencies(graph, columns, hops, channels);
    HopTable filled = hops;
    Search search{fabric, graph, columns, filled, channels, &regular};
    if (regular.sort() && !search.run()) {
      hops = std::move(filled);
      detours.among_regular = search.pairs().size();
      return detours;
    }
  }
  Search search{fabric, graph, columns, hops, channels, nullptr};
  if (auto why = search.run()) return tl::unexpected<Error>(std::move(*why));

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
        path.push_back(channels.at(sw, hop));
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
    list_dependencies(channels.dependencies(), paths, wanted);
    std::size_t vl = 0;
    for (; vl < allowed.further; ++vl) {
      if (vl == vls.size()) vls.emplace_back(channels.dependencies());
      if (vls[vl].add_all(wanted, budget)) break;
    }
    if (vl == allowed.further) {
      return fail(Errc::Unsupported,
                  fmt::format("the way around what is missing between {} and {} needs more than "
                              "{} lane{} beyond those of the regular routes",
                              print_switch(fabric, a),
                              print_switch(fabric, b),
                              allowed.further,
                              allowed.further == 1 ? "" : "s"));
    }
    detours.pairs.push_back({a, b, static_cast<std::uint8_t>(vl)});
  }
  detours.vls = static_cast<unsigned>(vls.size());
  return detours;
}

}  // namespace smd
