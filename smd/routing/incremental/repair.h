// Repairs up*/down* routes, LID by LID, changing no entry that can stay.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "smd/routing/incremental/entries.h"
#include "smd/routing/updn/orientation.h"

namespace smd {

// Tables in the making, read as routes: where an entry leads, whether it descends, how long the
// path is that follows, and how many LIDs leave by each port.
//
// A route is legal when it climbs zero or more links and then descends. A table does not see where
// a packet comes from, so: who descends hands over to one who descends all the way; who climbs may
// hand over to anybody, and nobody above may hand over to him.

class RouteState {
 public:
  struct Hop {
    SwitchIdx to = kNone<SwitchIdx>;  // kNone: the port leads to no switch
    bool up = false;
  };

  /// All outlive it. Requires: rows of the tables are the switches of `oriented`, and every LID in
  /// them has its place in `destinations`.
  RouteState(const OrientedFabric& oriented,
             const std::vector<Destination>& destinations,
             ForwardingTables& tables);

  [[nodiscard]] const OrientedFabric& oriented() const { return oriented_; }

  [[nodiscard]] const Destination& destination(Lid lid) const { return destinations_[lid.value()]; }

  [[nodiscard]] PortNum egress(SwitchIdx sw, Lid lid) const { return tables_.route(sw, lid); }

  [[nodiscard]] Hop hop(SwitchIdx sw, PortNum port) const {
    const std::uint32_t at = first_hop_[sw.value()] + port.value();
    return at < first_hop_[sw.value() + 1] ? hops_[at] : Hop{};
  }

  /// By port number; ports past the end lead to no switch.
  [[nodiscard]] std::span<const Hop> hops(SwitchIdx sw) const {
    return {hops_.data() + first_hop_[sw.value()], hops_.data() + first_hop_[sw.value() + 1]};
  }

  [[nodiscard]] std::span<const PortNum> row(SwitchIdx sw) const { return tables_.row(sw); }

  [[nodiscard]] Hop next(SwitchIdx sw, Lid lid) const { return hop(sw, tables_.route(sw, lid)); }

  /// Links to the last switch of an owned LID; kUnreached when the entries do not lead there.
  [[nodiscard]] std::uint32_t length(SwitchIdx sw, Lid lid) const { return follow(sw, lid, false); }

  /// The same, but kUnreached unless all of them descend.
  [[nodiscard]] std::uint32_t descent(SwitchIdx sw, Lid lid) const { return follow(sw, lid, true); }

  /// See Entries.
  [[nodiscard]] std::uint64_t own_paths(SwitchIdx sw) const { return entries_.own_paths(sw); }

  [[nodiscard]] std::uint64_t count_paths(SwitchIdx sw, Lid lid) const {
    return entries_.count_paths(sw, lid);
  }

  void set(SwitchIdx sw, Lid lid, PortNum port);

  struct Change {
    SwitchIdx sw;
    PortNum from;
  };

  /// What set() has changed since clear_changes(), first to last.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  void clear_changes() { changes_.clear(); }

  /// LIDs that set() has changed an entry of, ascending.
  [[nodiscard]] std::vector<Lid> list_touched() const { return entries_.list_touched(); }

  /// See Entries.
  [[nodiscard]] std::vector<Entries::Change> list_changes() const {
    return entries_.list_changes();
  }

  /// Somebody above hands over to `sw`, which therefore has to descend.
  [[nodiscard]] bool is_entered_from_above(SwitchIdx sw, Lid lid) const;

  /// See Entries::choose().
  [[nodiscard]] PortNum choose(SwitchIdx sw, Lid lid, std::span<const std::uint32_t> candidates) {
    return entries_.choose(sw, lid, candidates);
  }

 private:
  [[nodiscard]] std::uint32_t follow(SwitchIdx sw, Lid lid, bool down_only) const;

  const OrientedFabric& oriented_;
  const std::vector<Destination>& destinations_;
  ForwardingTables& tables_;
  std::vector<std::uint32_t> first_hop_;  // by switch, one more than there are
  std::vector<Hop> hops_;
  Entries entries_;
  std::vector<Change> changes_;
};

// Makes the routes to one LID legal and complete again, changing no entry that can stay.

class RouteRepair {
 public:
  explicit RouteRepair(RouteState& routes);

  /// Looks at the entries of `suspects` and at every entry that depends on one that changes.
  /// From the foot upwards: who cannot descend any more descends by another next hop, the shortest;
  /// who has none climbs, and then those above who handed over to him are looked at. Afterwards,
  /// from the top downwards, climbers choose the neighbour with the shortest route.
  /// Requires: somebody has the LID; entries of all other switches were legal before the change.
  void repair(Lid lid, std::span<const SwitchIdx> suspects);

  struct Change {
    SwitchIdx sw;
    PortNum from;
  };

  /// Changes back what need not have changed since RouteState::clear_changes(): what was lost to an
  /// entry may have come back to it with another change. Only where the route gets no longer,
  /// unless `even_if_longer`.
  void restore(Lid lid, bool even_if_longer);

 private:
  void look_at(SwitchIdx sw);
  [[nodiscard]] bool may_go_back(const RouteState::Change& change, bool even_if_longer) const;
  [[nodiscard]] bool send_down(SwitchIdx sw);
  void send_up(SwitchIdx sw);
  void force_down(SwitchIdx top);
  void queue(SwitchIdx sw);

  RouteState& routes_;
  const UpDownGraph& up_down_;
  IndexVector<SwitchIdx, std::uint32_t> place_;  // 0: upmost
  std::priority_queue<std::uint32_t> queue_;     // places, lowest switch first
  IndexVector<SwitchIdx, char> queued_;
  std::vector<SwitchIdx> climbers_;  // without a next hop yet, lowest first
  std::vector<std::uint32_t> candidates_;
  Lid lid_;
};

}  // namespace smd
