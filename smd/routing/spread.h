// Turns "these next hops are all right" into tables: picks, for every LID, the next hop whose
// channel carries least so far. What a channel carries is counted in paths (host to LID), each by
// what its LID draws and what it costs the link, so the choice at one switch is seen by every
// switch downstream.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

/// All equally good ways to one destination switch.
struct NextHops {
  /// Every switch that reaches the destination, except itself; a switch stands before all of its
  /// next hops.
  std::vector<SwitchIdx> order;

  /// Edges (positions in the graph) that order[i] may take: edges[first[i]] … edges[first[i+1]-1],
  /// ascending. At least one each.
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> edges;

  void clear() {
    order.clear();
    first.assign(1, 0);
    edges.clear();
  }

  /// Ends the list of the switch pushed last.
  void close() { first.push_back(static_cast<std::uint32_t>(edges.size())); }
};

class Spread {
 public:
  /// Every link costs 1.
  Spread(const SwitchGraph& graph, const Targets& targets);

  /// `costs` by edge, see find_link_costs().
  Spread(const SwitchGraph& graph, const Targets& targets, std::vector<std::uint32_t> costs);

  /// Sets the route to LID base + offset of every target at `destination` that has so many LIDs.
  /// Other ways than those of lower offsets are preferred.
  /// Requires: destinations of one offset are served before the next offset begins.
  void serve(SwitchIdx destination,
             const NextHops& hops,
             unsigned offset,
             ForwardingTables& tables);

  /// The same once more, now that all other destinations are known: what it has laid over the
  /// channels does not count while it chooses. Requires: served with the same arguments before,
  /// and the tables of that.
  void serve_again(SwitchIdx destination,
                   const NextHops& hops,
                   unsigned offset,
                   ForwardingTables& tables);

  /// Whether serving again pays: a channel carries over a quarter more than those do that carry
  /// anything, on average, and a third of the entries or more were without a choice. Whoever came
  /// before those and had one chose without knowing of them.
  [[nodiscard]] bool is_worth_another_turn() const;

  /// Forgets the loads: the paths of each LID offset are balanced for themselves.
  void begin_offset();

  /// By edge: paths of the offset at hand, by what they draw and cost.
  [[nodiscard]] std::span<const std::uint64_t> loads() const { return load_; }

  /// Sum of squared loads: smaller is shorter and more even.
  [[nodiscard]] double sum_of_squares() const;

 private:
  struct Wanted {
    Lid lid;
    Lid base;
    std::uint32_t draws;  // 0 where it does not count
  };

  void lay(SwitchIdx destination,
           const NextHops& hops,
           unsigned offset,
           bool again,
           ForwardingTables& tables);

  /// Takes what the entries of a switch lay over the ways off them.
  void take_back(SwitchIdx sw, std::span<const std::uint32_t> ways, const ForwardingTables& tables);

  /// Lists what is wanted at the destination, and routes it there.
  void want(SwitchIdx destination, unsigned offset, ForwardingTables& tables);

  // Entries of one switch for all that is wanted.
  void send_all(SwitchIdx sw, std::uint32_t edge, ForwardingTables& tables);
  [[nodiscard]] std::uint32_t find_lightest(std::span<const std::uint32_t> ways) const;
  void send_by_load(SwitchIdx sw, std::span<const std::uint32_t> ways, ForwardingTables& tables);
  [[nodiscard]] bool take_turns(SwitchIdx sw, std::span<const std::uint32_t> ways, PortNum* row);
  void send_afresh(SwitchIdx sw,
                   std::span<const std::uint32_t> ways,
                   unsigned offset,
                   ForwardingTables& tables);

  /// The key of the way that the lower offsets of the same port use least.
  [[nodiscard]] std::uint64_t find_fresh(SwitchIdx sw,
                                         Lid base,
                                         unsigned offset,
                                         std::span<const std::uint32_t> edges,
                                         const ForwardingTables& tables) const;

  const SwitchGraph& graph_;
  const Targets& targets_;
  std::vector<std::uint8_t> edge_port_;
  std::vector<std::uint32_t> edge_to_;
  std::vector<std::uint64_t> load_;               // by edge
  std::vector<std::uint32_t> cost_;               // by edge
  IndexVector<SwitchIdx, std::uint32_t> weight_;  // paths that begin at a switch
  bool hosts_exist_ = false;
  bool even_ = true;  // every link costs 1

  // Of switches and destinations of the offset at hand: all, and those with one way only.
  std::uint64_t choices_ = 0;
  std::uint64_t forced_ = 0;

  // Scratch.
  std::vector<Wanted> wanted_;  // the silent ones, which carry no weight, first
  std::size_t silent_ = 0;
  bool alike_ = true;                // all others draw 1
  std::vector<std::uint32_t> flow_;  // switch-major: paths to each of the others that pass a switch
  std::vector<std::uint32_t> former_;         // likewise, by the entries that are to go
  std::array<std::uint32_t, 256> edge_of_{};  // by port of one switch

  // Load (56 bits) and the way's place among the ways (8 bits): one comparison finds the least
  // loaded way, and of those the lowest port.
  std::array<std::uint64_t, 256> keys_{};
};

/// LIDs have offsets 0 … 2^highest_lmc - 1.
[[nodiscard]] unsigned highest_lmc(const Targets& targets);

}  // namespace smd
