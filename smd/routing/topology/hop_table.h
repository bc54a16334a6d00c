// Next hops as closed forms give them, before they become ports, and detours round what is missing.
#pragma once

#include <span>
#include <vector>

#include "smd/base/result.h"
#include "smd/fabric/fabric.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/tables.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {

// Next hops as closed forms give them, before they become ports.

/// A hop is a place among around(sw).
inline constexpr std::uint8_t kHere = 254;
inline constexpr std::uint8_t kNoHop = 255;

/// Columns of the table. A switch has one for every variant of the paths to its LIDs.
struct Columns {
  IndexVector<SwitchIdx, std::uint32_t> first;
  /// Where a switch stands in the shape, wherever else somebody is missing: turns begin with it.
  IndexVector<SwitchIdx, std::uint32_t> cell;
  std::uint32_t count = 0;
  std::uint32_t variants = 1;  // columns from first on
  /// Columns behind those, for LIDs of a port beyond the first alone, which take turns among them.
  /// None: such LIDs are variants too.
  std::uint32_t others = 0;
  bool others_by_offset = false;  // the same for the same LID offset of every port

  [[nodiscard]] std::uint32_t of(SwitchIdx destination, std::uint32_t variant) const {
    return first[destination] + variant % variants;
  }

  [[nodiscard]] std::uint32_t other(SwitchIdx destination, std::uint32_t which) const {
    return first[destination] + variants + which % others;
  }

  [[nodiscard]] std::uint32_t of_each() const { return variants + others; }
};

class HopTable {
 public:
  HopTable(std::size_t switches, std::uint32_t columns, std::uint8_t value = kNoHop)
      : columns_(columns), hops_(switches * columns, value) {}

  [[nodiscard]] std::span<std::uint8_t> row(SwitchIdx sw) {
    return {hops_.data() + std::size_t{sw.value()} * columns_, columns_};
  }

  [[nodiscard]] std::span<const std::uint8_t> row(SwitchIdx sw) const {
    return {hops_.data() + std::size_t{sw.value()} * columns_, columns_};
  }

 private:
  std::uint32_t columns_;
  std::vector<std::uint8_t> hops_;
};

/// No hop is missing.
[[nodiscard]] bool is_whole(const NeighbourGraph& graph, const HopTable& hops);

/// A LID and how it is reached. Parallel cables and variants take turns: a turn is the cell and the
/// place of the port at its switch, whether others are there or not, so that nobody moves with
/// another. The LIDs of one port are turns that follow each other.
struct ColumnTarget {
  Lid lid;
  std::uint32_t column;
  std::uint32_t turn;
};

/// Ascending by LID.
[[nodiscard]] std::vector<ColumnTarget> list_column_targets(const NeighbourGraph& graph,
                                                            const Targets& targets,
                                                            const Columns& columns);

[[nodiscard]] ForwardingTables write_tables(const Fabric& fabric,
                                            const LidMap& lids,
                                            const NeighbourGraph& graph,
                                            const Targets& targets,
                                            const Columns& columns,
                                            const HopTable& hops);

/// `sls` has the SL from each switch, with the same columns as the hops.
[[nodiscard]] PathSls write_sls(const LidMap& lids,
                                const NeighbourGraph& graph,
                                const Targets& targets,
                                const Columns& columns,
                                const HopTable& sls);

// Paths where a closed form has none, because a link or a switch is missing: around the hole.
//
// A switch without a next hop hands over to a neighbour whose own path arrives. Where the closed
// form takes one VL, it is one that closes no cycle with the dependencies of the closed form and of
// the detours before, if every such switch finds one; then no path needs another VL. As everybody
// else keeps their entries, routes without the hole take no turn that those are not checked with.
//
// Else every pair of switches whose path, either way, meets such a switch gets a VL beyond those of
// the closed form, on which the paths of the pairs that share it have no cyclic dependencies: that
// is tried pair by pair. What the closed form carries on its own VLs is left as its deadlock
// argument wants it.

struct Detour {
  SwitchIdx a, b;   // both ways
  std::uint8_t vl;  // from 0, beyond those of the closed form
};

struct Detours {
  std::vector<Detour> pairs;  // that need further VLs
  unsigned vls = 0;
  std::size_t among_regular = 0;  // pairs of switches whose detours are on that of the closed form
};

struct DetourVls {
  unsigned further = 0;  // that there may be, beyond those of the closed form
  /// The closed form has one VL, on which its dependencies have no cycle.
  bool may_stay = false;
};

/// Fills what is missing in `hops`.
/// Requires: other columns lack nothing, or follow the variants; hops that are there never lead
/// round in a circle; all switches are connected. Ensures: every switch reaches every column. Fails
/// when `allowed` are not enough.
[[nodiscard]] Result<Detours> find_detours(const Fabric& fabric,
                                           const NeighbourGraph& graph,
                                           const Columns& columns,
                                           DetourVls allowed,
                                           HopTable& hops);

}  // namespace smd
