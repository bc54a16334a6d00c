// Routes, off the loop: the tables of an engine, and the check that did not make them.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/topology/lattice_record.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

struct RouteJob {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
  std::string engine;
  std::vector<std::string> next_engines;  // in this order, where those before refuse or fail the
                                          // check
  bool fallback = false;                  // updn behind the last of them
  unsigned max_vls = 15;                  // that the site lets ports use
  EngineOptions engine_options;
  Orientation orientation;              // empty: from scratch
  bool keeps_equal_directions = false;  // where they are found to be those in force, so are
                                        // the routes
  LatticeRecord lattice;                // of former routes; empty: from scratch
  std::shared_ptr<const ActiveSubnet> in_force;  // null: from scratch
  std::optional<ForwardingTables> found;  // that switches hold: kept as far as they lead somewhere
  bool taking_over = false;  // from another manager: under any engine, not under auto alone

  std::stop_token stop;  // of a rebalance: nobody wants it any more
};

struct Routed {
  RoutingTables tables;
  RouteReport routes;
  std::shared_ptr<const VerifiedRoutes> verified;  // null: they were checked in full
  std::string fallback_reason;  // why another engine than the first was used; empty when it was
                                // not
  std::optional<Error> error;   // refused, or not verified: `tables` must not be written
  bool kept_found = false;      // for the sake of entries that switches held, others unasked
  std::shared_ptr<const Routed> instead =
      nullptr;  // where these cannot be written without blocking
};

[[nodiscard]] Routed compute_routed(const RouteJob& job);

/// For a fabric that is as it was, where the fullest channel carries over 5 % more than from
/// scratch: the routes in force, rebalanced as far as that; where the engine does not get there,
/// those from scratch, and instead of them what the engine got to on several VLs, where hosts keep
/// their SLs. Where the engine asked for leaves the choice to another one, which now would
/// be another one: that one's, if they are worth a tenth more. Those from scratch also in place of
/// others', found and kept, under an engine that would not keep them at the next change. Else why
/// nothing is to be done: the routes in force are balanced enough, or were made by no engine of the
/// job, the fallback included; or there are none from scratch.
[[nodiscard]] tl::expected<Routed, std::string> compute_rebalance(const RouteJob& job);

/// Those in force, checked once more. Requires: there are some, of this fabric.
[[nodiscard]] Routed check_in_force(const RouteJob& job);

/// `next` for the LIDs up to `last`, `now` for the rest. Requires: one shape.
[[nodiscard]] RoutingTables take_over(const RoutingTables& now,
                                      const RoutingTables& next,
                                      Lid last);

/// For reports: lengths and loads of the routes in force. The full check runs beside what the check
/// of changes has kept of them.
struct RouteStatistics {
  std::optional<RouteReport> routes;  // nothing: stopped before the full check was through
  LoadReport load;                    // empty where it was stopped and nothing was kept
  std::shared_ptr<const VerifiedRoutes> verified;  // to be kept; null where there is a fault
  bool differs = false;                            // what was kept is not what the full check found
};

[[nodiscard]] RouteStatistics compute_statistics(const ActiveSubnet& in_force,
                                                 const std::stop_token& stop = {});

}  // namespace smd
