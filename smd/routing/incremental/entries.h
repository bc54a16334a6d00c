// Entries in the making and the LIDs that they lead to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

// Whom each LID leads to, and which LIDs have to be routed afresh.

/// A LID that somebody has.
struct Destination {
  SwitchIdx last = kNone<SwitchIdx>;  // that serves the owner; kNone: nobody has the LID
  PortNum egress;                     // of the last switch
  Lid base;                           // of the port that owns it
  bool weighs = false;                // counts as traffic
  std::uint32_t demand = 0;           // how much, 0 where it does not count
};

/// By LID value, up to `top`.
[[nodiscard]] std::vector<Destination> list_destinations(const Targets& targets, Lid top);

/// Whether the LIDs of one port part as much as before where this one leaves `sw` by `to`.
[[nodiscard]] bool keeps_lids_apart(const std::vector<Destination>& destinations,
                                    const ForwardingTables& tables,
                                    SwitchIdx sw,
                                    Lid lid,
                                    PortNum to);

/// By LID value: new, or at another switch or port than before.
[[nodiscard]] std::vector<char> find_new_lids(const Fabric& fabric,
                                              const LidMap& lids,
                                              const PreviousRoutes& before,
                                              const std::vector<Destination>& destinations);

/// Neither most LIDs nor most switches are new.
[[nodiscard]] bool are_worth_keeping(const std::vector<Destination>& destinations,
                                     const std::vector<char>& fresh,
                                     const IndexVector<SwitchIdx, SwitchIdx>& row_before);

// Entries in the making: what each switch carries by port, and of equally good next hops the one
// that carries least.

class Entries {
 public:
  /// All outlive it. `costs` by edge, see find_link_costs(). Requires: every LID of the tables has
  /// its place in `destinations`.
  Entries(const SwitchGraph& graph,
          const Targets& targets,
          const std::vector<std::uint32_t>& costs,
          const std::vector<Destination>& destinations,
          ForwardingTables& tables);

  void set(SwitchIdx sw, Lid lid, PortNum port);

  struct Change {
    Lid lid;
    SwitchIdx sw;

    friend auto operator<=>(const Change&, const Change&) = default;
  };

  /// Every entry that set() has changed, sorted; it may be again as it was.
  [[nodiscard]] std::vector<Change> list_changes() const;

  [[nodiscard]] bool is_touched(Lid lid) const { return touched_[lid.value()] != 0; }

  /// LIDs that set() has changed an entry of, ascending.
  [[nodiscard]] std::vector<Lid> list_touched() const;

  /// Paths to any one LID that begin at the switch.
  [[nodiscard]] std::uint32_t own_paths(SwitchIdx sw) const {
    return hosts_exist_ ? targets_.hosts[sw] : 1;
  }

  /// Paths to the LID that pass the switch, begin there included.
  /// Requires: the entries of the LID make no loop.
  [[nodiscard]] std::uint32_t count_paths(SwitchIdx sw, Lid lid) const;

  /// By LID.
  [[nodiscard]] std::span<const std::uint32_t> demand() const { return demand_; }

  /// What the LIDs that leave by each port draw, by port number.
  [[nodiscard]] std::span<const std::uint64_t> carried(SwitchIdx sw);

  /// Of equally good links (positions in the graph) the one that fewest LIDs of the same owner
  /// take, then fewest of its neighbours at the last switch, then the one that carries least for
  /// what it can, then the lowest.
  /// Requires: `candidates` is not empty.
  [[nodiscard]] PortNum choose(SwitchIdx sw, Lid lid, std::span<const std::uint32_t> candidates);

 private:
  const SwitchGraph& graph_;
  const Targets& targets_;
  const std::vector<std::uint32_t>& costs_;
  const std::vector<Destination>& destinations_;
  ForwardingTables& tables_;
  IndexVector<SwitchIdx, std::vector<std::uint64_t>> carried_;  // empty: not counted yet
  std::vector<std::uint32_t> demand_;                           // by LID, as the destinations say
  std::vector<char> touched_;                                   // by LID
  std::vector<Change> changes_;                                 // in their order, some twice
  bool hosts_exist_ = false;
};

}  // namespace smd
