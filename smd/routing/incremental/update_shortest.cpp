#include "smd/routing/incremental/update_shortest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/incremental/changes.h"
#include "smd/routing/incremental/entries.h"
#include "smd/routing/incremental/rebalance_shortest.h"

namespace smd {
namespace {

// With more of them nearly every destination is nearer to somebody or further off.
constexpr std::size_t kMostChanged = 256;

class ShortestUpdate {
 public:
  ShortestUpdate(const Fabric& fabric,
                 const LidMap& lids,
                 const SwitchGraph& graph,
                 const Targets& targets,
                 const std::vector<std::uint32_t>& costs,
                 const PreviousRoutes& before)
      : fabric_(fabric),
        before_(before),
        graph_(graph),
        targets_(targets),
        costs_(costs),
        changes_(find_port_changes(*before.fabric, fabric, graph)),
        old_(*before.fabric, graph, changes_),
        tables_(copy_tables(before.routing->lft, changes_.before, lids.top)),
        destinations_(list_destinations(
            targets, Lid{static_cast<std::uint16_t>(tables_.blocks() * kLftBlockSize - 1)})),
        fresh_(find_new_lids(fabric, lids, before, destinations_)),
        entries_(graph, targets, costs, destinations_, tables_),
        search_(graph),
        gained_(graph.switches()),
        may_be_longer_(before.routing->turns != nullptr),
        whole_before_(is_in_one_piece(old_.graph_before())),
        passing_(graph.switches()) {
    if (may_be_longer_) find_new_senders();
    for (const PortChanges::Gained& link : changes_.gained) gained_[link.sw].set(link.port.value());
  }

  bool is_worth_it() const { return are_worth_keeping(destinations_, fresh_, changes_.before); }

  UpdatedRoutes run(bool rebalance) {
    withdraw();
    for (const SwitchIdx last : targets_.of.indices()) {
      list_lids(last);
      if (lids_.empty()) continue;
      const bool any_fresh =
          std::ranges::any_of(lids_, [&](Lid lid) { return fresh_[lid.value()] != 0; });
      if (may_be_longer_ && whole_before_ && !any_fresh && is_switch_alone(last) && mend(last))
        continue;
      if (any_fresh || !old_.hold(last) || send_round_about(last) || !settle_changed(last))
        route_anew(last);
    }
    LoadRecord load = rebalance_shortest(list_switch_guids(fabric_),
                                         {.graph = graph_,
                                          .targets = targets_,
                                          .costs = costs_,
                                          .destinations = destinations_,
                                          .tables = tables_},
                                         {.graph = old_.graph_before(),
                                          .routes = before_,
                                          .changes = changes_,
                                          .rebalance = rebalance},
                                         entries_);
    return {
        .lft = std::move(tables_), .recomputed = entries_.list_touched(), .load = std::move(load)};
  }

 private:
  // What is left of routes to nobody stays a part of a tree.
  void withdraw() {
    for (const SwitchIdx sw : old_.changed()) {
      const std::span<const PortNum> row = tables_.row(sw);
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        if (destinations_[value].last == kNone<SwitchIdx> &&
            changes_.suspect[sw][row[value].value()])
          entries_.set(sw, Lid{static_cast<std::uint16_t>(value)}, kNoRoute);
      }
    }
    for (const auto& [sw, port] : find_loopback_links(fabric_)) {
      for (std::size_t value = 1; value < destinations_.size(); ++value) {
        const Lid lid{static_cast<std::uint16_t>(value)};
        if (tables_.route(sw, lid) == port) entries_.set(sw, lid, kNoRoute);
      }
    }
  }

  void list_lids(SwitchIdx last) {
    lids_.clear();
    for (const Target& target : targets_.of[last]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        lids_.push_back(Lid{static_cast<std::uint16_t>(target.base.value() + offset)});
    }
  }

  // From the farthest switch on, so that what passes a switch is known when its turn comes.
  void route_anew(SwitchIdx last) {
    search_.find(last, hops_);
    IndexVector<SwitchIdx, std::uint32_t> before;
    // To a switch that was not there nothing has come nearer: it is as far as it is.
    if (!changes_.gained.empty() && changes_.before[last] != kNone<SwitchIdx>)
      before = old_.to(last);
    const std::size_t width = lids_.size();
    flows_.resize(graph_.switches() * width);
    for (const SwitchIdx sw : targets_.of.indices())
      std::fill_n(flows_.begin() + static_cast<std::ptrdiff_t>(sw.value() * width),
                  width,
                  entries_.own_paths(sw));
    reached_.assign(graph_.switches(), 0);
    reached_[last.value()] = 1;
    for (const Lid lid : lids_) entries_.set(last, lid, destinations_[lid.value()].egress);
    for (std::size_t i = 0; i < hops_.order.size(); ++i) {
      const SwitchIdx sw = hops_.order[i];
      reached_[sw.value()] = 1;
      candidates_.assign(hops_.edges.data() + hops_.first[i],
                         hops_.edges.data() + hops_.first[i + 1]);
      new_candidates_.clear();
      for (const std::uint32_t position : candidates_) {
        const SwitchEdge& edge = graph_.edge(position);
        if (gained_[sw][edge.port.value()] ||
            (!before.empty() && before[edge.to] != search_.distance(edge.to)))
          new_candidates_.push_back(position);
      }
      settle(sw, {flows_.data() + sw.value() * width, width});
      hand_over(sw);
    }
    for (const SwitchIdx sw : targets_.of.indices()) {
      if (reached_[sw.value()]) continue;
      for (const Lid lid : lids_) entries_.set(sw, lid, kNoRoute);
    }
  }

  void hand_over(SwitchIdx sw) {
    std::array<std::uint32_t, 256> to;
    for (const std::uint32_t edge : candidates_)
      to[graph_.edge(edge).port.value()] = graph_.edge(edge).to.value();
    for (std::size_t j = 0; j < lids_.size(); ++j)
      flows_[to[tables_.route(sw, lids_[j]).value()] * lids_.size() + j] +=
          flows_[sw.value() * lids_.size() + j];
  }

  static bool is_in_one_piece(const SwitchGraph& graph) {
    const SwitchIdx first{0};
    return std::ranges::count(compute_distances(graph, {&first, 1}), kUnreached) == 0;
  }

  // Nobody draws anything there.
  [[nodiscard]] bool is_switch_alone(SwitchIdx last) const {
    return entries_.own_paths(last) == 0 && targets_.of[last].size() == 1 &&
           targets_.of[last].front().egress == PortNum{0};
  }

  // Paths that were led apart stay so, however long; those that lost their link go on by a
  // neighbour that still has one, and where none has, so do those that come by it. False: not all
  // of them can.
  bool mend(SwitchIdx last) {
    for (const Lid lid : lids_) {
      std::vector<SwitchIdx> lost;
      for (const SwitchIdx sw : old_.changed()) {
        const PortNum port = tables_.route(sw, lid);
        if (sw == last || (port != kNoRoute && !changes_.suspect[sw][port.value()])) continue;
        entries_.set(sw, lid, kNoRoute);
        lost.push_back(sw);
      }
      while (!lost.empty()) {
        const auto goes_on = [&](SwitchIdx sw) { return go_on(sw, lid, last); };
        if (std::erase_if(lost, goes_on) == 0 && !lose_those_before(lost, lid)) return false;
      }
    }
    return true;
  }

  // Adds who hands over to one of them. False: nobody does.
  bool lose_those_before(std::vector<SwitchIdx>& lost, Lid lid) {
    const std::size_t known = lost.size();
    for (std::size_t at = 0; at < known; ++at) {
      for (const SwitchEdge& edge : graph_.edges(lost[at])) {
        if (tables_.route(edge.to, lid) != edge.peer_port) continue;
        entries_.set(edge.to, lid, kNoRoute);
        lost.push_back(edge.to);
      }
    }
    return lost.size() > known;
  }

  // By the neighbour with the shortest path, of equal ones the lowest, so that different LIDs turn
  // at the same few.
  bool go_on(SwitchIdx sw, Lid lid, SwitchIdx last) {
    std::tuple best{kUnreached, SwitchIdx{0}, kNoRoute};
    for (const SwitchEdge& edge : graph_.edges(sw))
      best = std::min(best, std::tuple{count_links(edge.to, lid, last), edge.to, edge.port});
    if (std::get<0>(best) == kUnreached) return false;
    entries_.set(sw, lid, std::get<PortNum>(best));
    return true;
  }

  // As the entries are; kUnreached where they do not lead to `last`.
  [[nodiscard]] std::uint32_t count_links(SwitchIdx sw, Lid lid, SwitchIdx last) const {
    std::uint32_t links = 0;
    for (; sw != last; ++links) {
      if (sw == kNone<SwitchIdx> || links > graph_.switches()) return kUnreached;
      sw = next(sw, lid);
    }
    return links;
  }

  // kNone where the entry leads to no switch.
  [[nodiscard]] SwitchIdx next(SwitchIdx sw, Lid lid) const {
    const auto edges = graph_.edges(sw);
    const PortNum port = tables_.route(sw, lid);
    const auto edge = std::ranges::lower_bound(edges, port, {}, &SwitchEdge::port);
    return edge == edges.end() || edge->port != port ? kNone<SwitchIdx> : edge->to;
  }

  // Switches that nobody sent from, and somebody does now. Paths from there were of no account when
  // they were led apart.
  void find_new_senders() {
    const Targets were = find_targets(*before_.fabric, *before_.lids);
    for (const SwitchIdx sw : targets_.of.indices()) {
      const SwitchIdx row = changes_.before[sw];
      if (row != kNone<SwitchIdx> && were.hosts[row] == 0 && targets_.hosts[sw] != 0)
        new_senders_.push_back(sw);
    }
  }

  [[nodiscard]] bool send_round_about(SwitchIdx last) {
    if (new_senders_.empty() || is_switch_alone(last)) return false;
    search_.find(last, hops_);
    return std::ranges::any_of(new_senders_, [&](SwitchIdx sw) {
      return std::ranges::any_of(
          lids_, [&](Lid lid) { return count_links(sw, lid, last) != search_.distance(sw); });
    });
  }

  // Where every switch is as far from `last` as it was. False: something goes round in a circle, as
  // it may where paths in force are longer than the shortest: of another manager, or where switches
  // were led apart.
  bool settle_changed(SwitchIdx last) {
    touched_.clear();
    std::ranges::copy_if(old_.changed(), std::back_inserter(touched_), [&](SwitchIdx sw) {
      return sw != last && is_touched(sw, last);
    });
    for (const SwitchIdx sw : touched_) drop_lost(sw, last);
    for (const SwitchIdx sw : touched_) {
      if (std::ranges::any_of(lids_, [&](Lid lid) { return goes_round(sw, lid, last); }))
        return false;
      settle_in_place(sw, last);
    }
    return all_arrive(last);
  }

  // Paths that were led apart stay so where neither a link that they take is gone nor a new one is
  // as short as they are.
  [[nodiscard]] bool is_touched(SwitchIdx sw, SwitchIdx last) const {
    if (!may_be_longer_) return true;
    if (std::ranges::any_of(lids_, [&](Lid lid) {
          const PortNum port = tables_.route(sw, lid);
          return port == kNoRoute || changes_.suspect[sw][port.value()];
        }))
      return true;
    return gained_[sw].any() && std::ranges::any_of(graph_.edges(sw), [&](const SwitchEdge& edge) {
             return gained_[sw][edge.port.value()] && old_(edge.to, last) + 1 == old_(sw, last);
           });
  }

  [[nodiscard]] bool goes_round(SwitchIdx sw, Lid lid, SwitchIdx last) const {
    std::size_t links = 0;
    for (; sw != last && sw != kNone<SwitchIdx> && links <= graph_.switches(); ++links)
      sw = next(sw, lid);
    return links > graph_.switches();
  }

  // Who takes a longer way may come back to a switch that has taken a shorter one. Where there are
  // such, a host's path must not come by them.
  [[nodiscard]] bool all_arrive(SwitchIdx last) const {
    return std::ranges::all_of(touched_, [&](SwitchIdx sw) {
      const std::uint32_t distance = old_(sw, last);
      return distance == kUnreached || std::ranges::all_of(lids_, [&](Lid lid) {
               const std::uint32_t links = count_links(sw, lid, last);
               const bool of_switch = destinations_[lid.value()].egress == PortNum{0};
               return links != kUnreached && (of_switch || !may_be_longer_ || links == distance);
             });
    });
  }

  // A port that leads elsewhere now might close a ring.
  void drop_lost(SwitchIdx sw, SwitchIdx last) {
    if (sw == last) return;
    list_candidates_in_place(sw, last);
    const std::bitset<256> shortest = list_ports();
    for (const Lid lid : lids_) {
      if (!shortest[tables_.route(sw, lid).value()]) entries_.set(sw, lid, kNoRoute);
    }
  }

  [[nodiscard]] std::bitset<256> list_ports() const {
    std::bitset<256> ports;
    for (const std::uint32_t edge : candidates_) ports.set(graph_.edge(edge).port.value());
    return ports;
  }

  void settle_in_place(SwitchIdx sw, SwitchIdx last) {
    if (sw == last) return;
    list_candidates_in_place(sw, last);
    if (candidates_.size() > 1) {
      own_flows_.clear();
      for (const Lid lid : lids_) own_flows_.push_back(entries_.count_paths(sw, lid));
      settle(sw, own_flows_);
    } else if (candidates_.size() == 1) {
      for (const Lid lid : lids_) entries_.set(sw, lid, graph_.edge(candidates_[0]).port);
    }
  }

  void list_candidates_in_place(SwitchIdx sw, SwitchIdx last) {
    candidates_.clear();
    new_candidates_.clear();
    const std::uint32_t own = old_(sw, last);
    if (own == kUnreached) return;
    std::uint32_t position = graph_.first_edge(sw);
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      if (old_(edge.to, last) + 1 == own) {
        candidates_.push_back(position);
        if (gained_[sw][edge.port.value()]) new_candidates_.push_back(position);
      }
      ++position;
    }
  }

  // `flows`: paths to each of the LIDs that pass the switch.
  void settle(SwitchIdx sw, std::span<const std::uint32_t> flows) {
    if (candidates_.size() == 1) {
      for (const Lid lid : lids_) entries_.set(sw, lid, graph_.edge(candidates_[0]).port);
      return;
    }
    const std::bitset<256> shortest = list_ports();
    for (std::size_t j = 0; j < lids_.size(); ++j) {
      if (!shortest[tables_.route(sw, lids_[j]).value()])
        entries_.set(sw, lids_[j], choose(sw, j, flows));
    }
    for (const std::uint32_t edge : new_candidates_) {
      while (draw_one(sw, graph_.edge(edge).port, shortest, flows)) {
      }
    }
  }

  struct Uses {
    std::array<std::uint16_t, 256> by_owner{};
    std::array<std::uint64_t, 256> by_neighbours{};  // paths, by what their LIDs draw
  };

  // Of all LIDs at the destination but one.
  [[nodiscard]] Uses count_uses(SwitchIdx sw,
                                std::size_t without,
                                std::span<const std::uint32_t> flows) const {
    Uses uses;
    const Lid base = destinations_[lids_[without].value()].base;
    for (std::size_t j = 0; j < lids_.size(); ++j) {
      if (j == without) continue;
      const Destination& other = destinations_[lids_[j].value()];
      const std::size_t port = tables_.route(sw, lids_[j]).value();
      uses.by_neighbours[port] += std::uint64_t{flows[j]} * other.demand;
      uses.by_owner[port] += other.base == base;
    }
    return uses;
  }

  [[nodiscard]] PortNum choose(SwitchIdx sw, std::size_t j, std::span<const std::uint32_t> flows) {
    const Uses uses = count_uses(sw, j, flows);
    const std::span<const std::uint64_t> carried = entries_.carried(sw);
    const std::uint64_t demand = destinations_[lids_[j].value()].demand;
    const auto rank = [&](std::uint32_t edge) {
      const PortNum port = graph_.edge(edge).port;
      return std::tuple{uses.by_owner[port.value()],
                        uses.by_neighbours[port.value()] * costs_[edge],
                        (carried[port.value()] + demand) * costs_[edge],
                        port};
    };
    return graph_.edge(std::ranges::min(candidates_, {}, rank)).port;
  }

  // One LID moves to the new path from the one that carries most to this destination, or most of
  // all, if that makes the two more even.
  bool draw_one(SwitchIdx sw,
                PortNum to,
                const std::bitset<256>& shortest,
                std::span<const std::uint32_t> flows) {
    std::vector<std::uint64_t>& all = count_passing(sw);
    std::tuple<std::uint64_t, std::uint64_t> most{};
    std::size_t best = lids_.size();
    for (std::size_t j = 0; j < lids_.size(); ++j) {
      const PortNum from = tables_.route(sw, lids_[j]);
      const std::uint64_t weight = weigh(j, flows);
      if (from == to || !shortest[from.value()] || weight == 0) continue;
      const Uses uses = count_uses(sw, j, flows);
      const std::uint64_t there = uses.by_neighbours[to.value()];
      const std::uint64_t here = uses.by_neighbours[from.value()];
      const bool evens =
          here > there || (here == there && all[from.value()] > all[to.value()] + weight);
      if (!evens || uses.by_owner[to.value()] > uses.by_owner[from.value()]) continue;
      if (const std::tuple rank{here, all[from.value()]}; rank > most) {
        most = rank;
        best = j;
      }
    }
    if (best == lids_.size()) return false;
    std::uint64_t& lightened = all[tables_.route(sw, lids_[best]).value()];
    lightened -= std::min(lightened, weigh(best, flows));
    all[to.value()] += weigh(best, flows);
    entries_.set(sw, lids_[best], to);
    return true;
  }

  [[nodiscard]] std::uint64_t weigh(std::size_t j, std::span<const std::uint32_t> flows) const {
    return std::uint64_t{flows[j]} * destinations_[lids_[j].value()].demand;
  }

  // By port: paths that begin at the switch or at a neighbour. Those from further off would take
  // too long to count.
  std::vector<std::uint64_t>& count_passing(SwitchIdx sw) {
    std::vector<std::uint64_t>& sums = passing_[sw];
    if (!sums.empty()) return sums;
    sums.assign(256, 0);
    const std::span<const PortNum> row = tables_.row(sw);
    const std::span<const std::uint32_t> demand = entries_.demand();
    if (const std::uint64_t own = entries_.own_paths(sw); own != 0) {
      for (std::size_t lid = 0; lid < demand.size(); ++lid)
        sums[row[lid].value()] += own * demand[lid];
    }
    for (const SwitchEdge& edge : graph_.edges(sw)) {
      const std::uint64_t own = entries_.own_paths(edge.to);
      if (own == 0) continue;
      const std::span<const PortNum> from = tables_.row(edge.to);
      for (std::size_t lid = 0; lid < demand.size(); ++lid) {
        if (from[lid] == edge.peer_port) sums[row[lid].value()] += own * demand[lid];
      }
    }
    return sums;
  }

  const Fabric& fabric_;
  const PreviousRoutes& before_;
  const SwitchGraph& graph_;
  const Targets& targets_;
  const std::vector<std::uint32_t>& costs_;
  const PortChanges changes_;
  const PreviousDistances old_;
  ForwardingTables tables_;
  const std::vector<Destination> destinations_;
  const std::vector<char> fresh_;
  Entries entries_;
  ShortestSearch search_;
  IndexVector<SwitchIdx, std::bitset<256>> gained_;
  const bool may_be_longer_;            // paths in force between switches that were led apart
  const bool whole_before_;             // all switches reached each other
  std::vector<SwitchIdx> new_senders_;  // where paths in force may be longer

  // Of the destination, and of the switch, that is looked at.
  std::vector<Lid> lids_;
  std::vector<SwitchIdx> touched_;
  NextHops hops_;
  std::vector<char> reached_;
  std::vector<std::uint32_t> flows_;  // switch-major
  std::vector<std::uint32_t> own_flows_;
  std::vector<std::uint32_t> candidates_, new_candidates_;
  IndexVector<SwitchIdx, std::vector<std::uint64_t>> passing_;  // empty: not counted yet
};

}  // namespace

PreviousDistances::PreviousDistances(const Fabric& before,
                                     const SwitchGraph& graph,
                                     const PortChanges& changes)
    : graph_before_(before), graph_(graph), changes_(changes), from_(graph_before_.switches()) {
  for (const SwitchIdx sw : changes.before.indices()) {
    if (!is_new(sw) && changes.suspect[sw].none()) continue;
    changed_.push_back(sw);
    known_ = known_ && !(is_new(sw) && has_new_neighbour(sw));
  }
  known_ = known_ && changed_.size() <= kMostChanged;
  if (!known_) return;
  const auto add = [this](SwitchIdx row) {
    if (row != kNone<SwitchIdx>) near_.push_back(row);
  };
  for (const SwitchIdx sw : changed_) {
    add(changes.before[sw]);
    for (const SwitchEdge& edge : graph_.edges(sw)) add(changes.before[edge.to]);
  }
}

bool PreviousDistances::has_new_neighbour(SwitchIdx sw) const {
  return std::ranges::any_of(graph_.edges(sw), [&](const auto& edge) { return is_new(edge.to); });
}

std::uint32_t PreviousDistances::before(SwitchIdx row, SwitchIdx last_row) const {
  if (from_[row].empty()) search_from(row);
  return from_[row][last_row];
}

// And from as many others that will be asked for: a search from 64 takes little longer than one.
void PreviousDistances::search_from(SwitchIdx row) const {
  constexpr std::size_t kAtOnce = 64;
  std::vector<SwitchIdx> rows;
  IndexVector<SwitchIdx, std::uint64_t> reached(graph_before_.switches(), 0), fresh = reached;
  const auto begin_at = [&](SwitchIdx at) {
    const std::uint64_t bit = std::uint64_t{1} << rows.size();
    rows.push_back(at);
    from_[at].assign(graph_before_.switches(), kUnreached);
    from_[at][at] = 0;
    reached[at] |= bit;
    fresh[at] |= bit;
  };
  begin_at(row);
  for (const SwitchIdx at : near_) {
    if (rows.size() < kAtOnce && from_[at].empty()) begin_at(at);
  }
  std::vector<SwitchIdx> front = rows;
  for (std::uint32_t distance = 1; !front.empty(); ++distance) {
    IndexVector<SwitchIdx, std::uint64_t> met(graph_before_.switches(), 0);
    for (const SwitchIdx at : front) {
      for (const SwitchEdge& edge : graph_before_.edges(at)) met[edge.to] |= fresh[at];
    }
    front.clear();
    for (const SwitchIdx at : met.indices()) {
      std::uint64_t bits = met[at] & ~reached[at];
      fresh[at] = bits;
      if (bits == 0) continue;
      reached[at] |= bits;
      front.push_back(at);
      for (; bits != 0; bits &= bits - 1)
        from_[rows[static_cast<std::size_t>(std::countr_zero(bits))]][at] = distance;
    }
  }
}

std::uint32_t PreviousDistances::operator()(SwitchIdx sw, SwitchIdx last) const {
  const SwitchIdx last_row = changes_.before[last];
  if (!is_new(sw)) return before(changes_.before[sw], last_row);
  std::uint32_t nearest = kUnreached;
  for (const SwitchEdge& edge : graph_.edges(sw))
    nearest = std::min(nearest, before(changes_.before[edge.to], last_row));
  return nearest == kUnreached ? kUnreached : nearest + 1;
}

// So it is exactly when the distances fall by one along a link from everybody but `last`, and
// nowhere by more: who has kept all his links has kept that as well.
bool PreviousDistances::hold(SwitchIdx last) const {
  return known_ && !is_new(last) && std::ranges::all_of(changed_, [&](SwitchIdx sw) {
           return fits_between_neighbours(sw, last) && (is_new(sw) || still_reaches(sw, last));
         });
}

// No new link leads nearer by more than one.
bool PreviousDistances::fits_between_neighbours(SwitchIdx sw, SwitchIdx last) const {
  const std::uint32_t own = (*this)(sw, last);
  return std::ranges::all_of(graph_.edges(sw), [&](const SwitchEdge& edge) {
    if (!is_new(sw) && !changes_.suspect[sw][edge.port.value()]) return true;
    const std::uint32_t onward = (*this)(edge.to, last);
    if (own == kUnreached || onward == kUnreached) return own == onward;
    return own <= onward + 1 && onward <= own + 1;
  });
}

// If it lost a link that leads nearer, it has another one.
bool PreviousDistances::still_reaches(SwitchIdx sw, SwitchIdx last) const {
  const SwitchIdx row = changes_.before[sw], last_row = changes_.before[last];
  const std::uint32_t own = before(row, last_row);
  if (sw == last || own == kUnreached) return true;
  const bool lost = std::ranges::any_of(graph_before_.edges(row), [&](const SwitchEdge& edge) {
    return changes_.suspect[sw][edge.port.value()] && before(edge.to, last_row) + 1 == own;
  });
  return !lost || std::ranges::any_of(graph_.edges(sw), [&](const SwitchEdge& edge) {
    return (*this)(edge.to, last) + 1 == own;
  });
}

IndexVector<SwitchIdx, std::uint32_t> PreviousDistances::to(SwitchIdx last) const {
  IndexVector<SwitchIdx, std::uint32_t> distance(graph_.switches(), kUnreached);
  if (changes_.before[last] == kNone<SwitchIdx>) return distance;
  const auto before = compute_distances(graph_before_, {&changes_.before[last], 1});
  for (const SwitchIdx sw : distance.indices()) {
    if (changes_.before[sw] != kNone<SwitchIdx>) distance[sw] = before[changes_.before[sw]];
  }
  return distance;
}

std::optional<UpdatedRoutes> update_shortest(const Fabric& fabric,
                                             const LidMap& lids,
                                             const SwitchGraph& graph,
                                             const Targets& targets,
                                             const std::vector<std::uint32_t>& costs,
                                             const PreviousRoutes& in_force,
                                             bool rebalance) {
  const Fabric& before = *in_force.fabric;
  if (in_force.routing->lft.switches() != before.switch_count() || before.switch_count() == 0)
    return std::nullopt;
  ShortestUpdate update{fabric, lids, graph, targets, costs, in_force};
  if (!update.is_worth_it()) return std::nullopt;
  return update.run(rebalance);
}

}  // namespace smd
