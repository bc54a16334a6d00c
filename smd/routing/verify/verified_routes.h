// What a check of routes found, kept so that the next routes are judged by what became of them. For
// verification only: reads snapshots and tables, and shares no code with the engines.
//
// The packets of a LID that meet no changed entry and no changed link end where they ended; those
// that meet one come through a switch that has it, and are followed to their end. A dependency of
// two channels is the affair of two neighbouring entries of one LID, so that those beside changed
// entries are all that come and go (decision 40).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "smd/routing/tables.h"
#include "smd/routing/verify/channel_dependencies.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/route_changes.h"

namespace smd {

/// Of routes without a fault, on a fabric in one piece. On one VL a turn is counted for each LID
/// that takes it. On several ones what waits for what depends on where a packet comes from: a turn
/// is counted for each switch and LID whose packets take it, and each SL and VL that they begin
/// with.
class VerifiedRoutes {
 public:
  /// Nothing: a fault, or routes of another kind. check_routes() knows which.
  [[nodiscard]] static std::shared_ptr<const VerifiedRoutes> build(const RoutesOnFabric& on);

  /// Those of `now`, by what differs from `before`, which these are of. Nothing: as build(), or
  /// more differs than stays. What differs is found here, whatever the makers of the routes say.
  [[nodiscard]] std::shared_ptr<const VerifiedRoutes> update(const RoutesOnFabric& before,
                                                             const RoutesOnFabric& now) const;

  /// As check_routes() without minimality.
  [[nodiscard]] RouteReport report() const;

  /// Whether the full check found the same, minimality aside.
  [[nodiscard]] bool agrees_with(const RouteReport& full) const;

  /// As measure_load(). Requires: the fabric that the routes are on.
  [[nodiscard]] LoadReport measure_load(const Fabric& fabric) const;

  /// Nothing is told apart by VL.
  [[nodiscard]] bool is_on_one_vl() const { return one_vl_; }

  /// Of the LIDs that somebody has. Requires: on one VL.
  [[nodiscard]] const TurnCounts& turns() const { return turns_; }

  /// Requires: not on one VL.
  [[nodiscard]] const VlTurnCounts& vl_turns() const { return vl_turns_; }

  /// Every dependency of two channels leads to a higher place. VL 0, where all is on one.
  [[nodiscard]] std::uint32_t place(PortIdx channel, unsigned vl) const {
    return places_.of(channel.value() * vl_turns_.vls() + vl);
  }

  /// The same counts; the order may be another one.
  [[nodiscard]] bool counts_equal(const VerifiedRoutes& other) const;

 private:
  friend class RouteUpdate;

  bool one_vl_ = true;
  TurnCounts turns_;
  VlTurnCounts vl_turns_;
  std::array<std::uint64_t, 16> packets_by_vl_{};  // between switches
  IndexVector<PortIdx, std::uint64_t> load_;       // of hosts
  std::vector<PortRef> no_data_;                   // ascending: adapters' ports that were no hosts
  std::vector<std::uint64_t> pairs_by_hops_;       // no 0 at the end
  ChannelPlaces places_;                           // of the ports of switches
};

/// The check of `now`: by what differs, where `verified` is of `before`; else, or where it finds a
/// fault, in full, by so many threads. Nothing is kept of routes with a fault.
struct RouteCheck {
  RouteReport routes;
  std::shared_ptr<const VerifiedRoutes> verified;
};

[[nodiscard]] RouteCheck check_route_changes(const VerifiedRoutes* verified,
                                             const RoutesOnFabric& before,
                                             const RoutesOnFabric& now,
                                             unsigned threads = 1);

}  // namespace smd
