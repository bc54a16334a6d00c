// Next hops as closed forms give them, before they become ports.
#pragma once

#include <span>
#include <vector>

#include "smd/fabric/lid_map.h"
#include "smd/routing/shape/neighbour_graph.h"
#include "smd/routing/switch_graph.h"
#include "smd/routing/tables.h"

namespace smd {

/// A hop is a place among around(sw).
inline constexpr std::uint8_t kHere = 254;
inline constexpr std::uint8_t kNoHop = 255;

/// Columns of the table. A switch has one for every way in which its LIDs may be reached.
struct Columns {
  IndexVector<SwitchIdx, std::uint32_t> first;
  std::uint32_t count = 0;
  std::uint32_t variants = 1;  // columns from first on

  [[nodiscard]] std::uint32_t of(SwitchIdx destination, std::uint32_t variant) const {
    return first[destination] + variant % variants;
  }
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

/// A LID and how it is reached. Parallel cables and variants take turns, host by host; the LIDs of
/// one port are turns that follow each other.
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

}  // namespace smd
