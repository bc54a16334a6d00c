// Turns "these next hops are all right" into tables: picks, for every LID, the next hop whose
// channel carries least so far. What a channel carries is counted in paths (host to LID), each by
// the demand of its LID and what it costs the link, so the choice at one switch is seen by every
// switch downstream.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

class LoadBalancer {
 public:
  /// Every link costs 1.
  LoadBalancer(const SwitchGraph& graph, const Targets& targets);

  /// `costs` by edge, see find_link_costs().
  LoadBalancer(const SwitchGraph& graph, const Targets& targets, std::vector<std::uint32_t> costs);

  /// Sets the route to LID base + offset of every target at `destination` that has so many LIDs.
  /// Other next hops than those of lower offsets are preferred.
  /// Requires: destinations of one offset are served before the next offset begins.
  void assign(SwitchIdx destination,
              const NextHops& hops,
              unsigned offset,
              ForwardingTables& tables);

  /// The same once more, now that all other destinations are known: what it has laid over the
  /// channels does not count while it chooses. Requires: served with the same arguments before,
  /// and the tables of that.
  void assign_again(SwitchIdx destination,
                    const NextHops& hops,
                    unsigned offset,
                    ForwardingTables& tables);

  /// Whether serving again pays: a channel carries over a quarter more than those do that carry
  /// anything, on average, and a third of the entries or more were without a choice. Whoever came
  /// before those and had one chose without knowing of them.
  [[nodiscard]] bool is_worth_second_pass() const;

  /// Forgets the loads: the paths of each LID offset are balanced for themselves.
  void begin_offset();

  /// By edge: paths of the offset at hand, by their demand and cost.
  [[nodiscard]] std::span<const std::uint64_t> loads() const { return load_; }

  /// Sum of squared loads: smaller is shorter and more even.
  [[nodiscard]] double sum_of_squares() const;

 private:
  struct Wanted {
    Lid lid;
    Lid base;
    std::uint32_t demand;  // 0 where it does not count
  };

  void assign_with(SwitchIdx destination,
                   const NextHops& hops,
                   unsigned offset,
                   bool again,
                   ForwardingTables& tables);

  /// Takes what the entries of a switch lay over the candidates off them.
  void take_back_load(SwitchIdx sw,
                      std::span<const std::uint32_t> candidates,
                      const ForwardingTables& tables);

  /// Lists what is wanted at the destination, and routes it there.
  void collect_wanted(SwitchIdx destination, unsigned offset, ForwardingTables& tables);

  // Entries of one switch for all that is wanted.
  void send_all(SwitchIdx sw, std::uint32_t edge, ForwardingTables& tables);
  [[nodiscard]] std::uint32_t find_lightest(std::span<const std::uint32_t> candidates) const;
  void send_by_load(SwitchIdx sw,
                    std::span<const std::uint32_t> candidates,
                    ForwardingTables& tables);
  [[nodiscard]] bool round_robin(SwitchIdx sw,
                                 std::span<const std::uint32_t> candidates,
                                 PortNum* row);
  void send_to_least_used(SwitchIdx sw,
                          std::span<const std::uint32_t> candidates,
                          unsigned offset,
                          ForwardingTables& tables);

  /// The key of the candidate that the lower offsets of the same port use least.
  [[nodiscard]] std::uint64_t find_least_used(SwitchIdx sw,
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

  // Of switches and destinations of the offset at hand: all, and those with one next hop only.
  std::uint64_t choices_ = 0;
  std::uint64_t forced_ = 0;

  // Scratch.
  std::vector<Wanted> wanted_;  // the silent ones, which carry no weight, first
  std::size_t silent_ = 0;
  bool alike_ = true;                // all others draw 1
  std::vector<std::uint32_t> flow_;  // switch-major: paths to each of the others that pass a switch
  std::vector<std::uint32_t> former_;         // likewise, by the entries that are to go
  std::array<std::uint32_t, 256> edge_of_{};  // by port of one switch

  // Load (56 bits) and the candidate's place among the candidates (8 bits): one comparison finds
  // the least loaded candidate, and of those the lowest port.
  std::array<std::uint64_t, 256> keys_{};
};

/// LIDs have offsets 0 … 2^highest_lmc - 1.
[[nodiscard]] unsigned highest_lmc(const Targets& targets);

/// Switches that serve a LID, in their order.
[[nodiscard]] std::vector<SwitchIdx> list_served_switches(const Targets& targets);

/// Sets the routes to all LIDs at `destinations`, for each LID offset on its own: find(destination,
/// hops) gives the next hops, assigned(offset) is called once all of an offset are routed.
template <class Find, class Assigned>
void assign_offsets(LoadBalancer& balancer,
                    const Targets& targets,
                    std::span<const SwitchIdx> destinations,
                    ForwardingTables& tables,
                    Find&& find,
                    Assigned&& assigned) {
  NextHops hops;
  for (unsigned offset = 0; offset < 1u << highest_lmc(targets); ++offset) {
    balancer.begin_offset();
    for (const SwitchIdx destination : destinations) {
      find(destination, hops);
      balancer.assign(destination, hops, offset, tables);
    }
    assigned(offset);
  }
}

/// A second pass over some of them: who came first chose without knowing the rest.
template <class Find>
void assign_again(LoadBalancer& balancer,
                  std::span<const SwitchIdx> destinations,
                  unsigned offset,
                  ForwardingTables& tables,
                  Find&& find) {
  NextHops hops;
  for (const SwitchIdx destination : destinations) {
    find(destination, hops);
    balancer.assign_again(destination, hops, offset, tables);
  }
}

}  // namespace smd
