// From the next hops of a closed form to tables: detours where something is missing, service levels
// and VLs, ports.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "smd/routing/engine.h"
#include "smd/routing/topology/hop_table.h"

namespace smd {

/// Data VL of every SL on one kind of turn.
using VlBySl = std::array<std::uint8_t, 16>;

struct ShapeRoutes {
  std::string_view engine;
  std::string shape;  // for the notes: "torus 8 x 8"
  Columns columns;
  HopTable hops;
  std::shared_ptr<const LatticeRecord> lattice = nullptr;  // for those of the next change
  std::optional<HopTable> sls;                             // of every path; without: 0
  /// Other columns are those of the variants, detours included; their SLs stay as they are given.
  bool others_follow = false;
  unsigned regular_sls = 1;  // SLs and VLs of paths that follow the closed form
  unsigned regular_vls = 1;

  /// Rows for SLs below regular_sls, and which one holds for a turn: places among around(sw), in
  /// being kHere for packets that begin there. Without rows: VL 0.
  std::vector<VlBySl> rows;
  std::function<std::size_t(SwitchIdx sw, std::uint8_t in, std::uint8_t out)> row_of;
};

/// SLs and VLs from the regular ones on are the detours'. Unsupported when the request has fewer
/// VLs than that takes.
[[nodiscard]] Result<RoutingTables> finish_tables(const Fabric& fabric,
                                                  const LidMap& lids,
                                                  const RoutingRequest& request,
                                                  const NeighbourGraph& graph,
                                                  ShapeRoutes routes);

/// Whether there are LIDs that RoutingRequest::non_minimal is for.
[[nodiscard]] bool wants_other_ways(const LidMap& lids, const RoutingRequest& request);

/// What a note says of them; they need the whole shape.
[[nodiscard]] std::string describe_other_ways(bool whole);

/// The lattice that routes in force go by, or where they know of none the one of the request, if it
/// is of this engine.
[[nodiscard]] const LatticeRecord* find_lattice_before(const RoutingRequest& request,
                                                       std::string_view engine);

/// Data VLs that routes may use.
[[nodiscard]] unsigned count_allowed_vls(const Fabric& fabric, const RoutingRequest& request);

/// LIDs that any switch sends elsewhere, or on another SL, than in the routes in force.
[[nodiscard]] std::vector<Lid> find_recomputed(const Fabric& fabric,
                                               const LidMap& lids,
                                               const RoutingTables& tables,
                                               const PreviousRoutes& before);

}  // namespace smd
