#include "smd/routing/shape/hop_table.h"

#include <algorithm>
#include <array>

namespace smd {

std::vector<ColumnTarget> list_column_targets(const NeighbourGraph& graph,
                                              const Targets& targets,
                                              const Columns& columns) {
  std::vector<ColumnTarget> all;
  std::uint32_t hosts = 0, others = 0;
  for (const SwitchIdx sw : graph.by_guid()) {
    for (const Target& target : targets.of[sw]) {
      const std::uint32_t turn = target.host ? hosts++ : others++;
      for (std::uint32_t offset = 0; offset < 1u << target.lmc; ++offset) {
        all.push_back({Lid{static_cast<std::uint16_t>(target.base.value() + offset)},
                       columns.of(sw, turn + offset),
                       (turn + offset) / columns.variants});
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const ColumnTarget& a, const ColumnTarget& b) {
    return a.lid < b.lid;
  });
  return all;
}

ForwardingTables write_tables(const Fabric& fabric,
                              const LidMap& lids,
                              const NeighbourGraph& graph,
                              const Targets& targets,
                              const Columns& columns,
                              const HopTable& hops) {
  const std::vector<ColumnTarget> destinations = list_column_targets(graph, targets, columns);
  ForwardingTables tables{fabric.switch_count(), lids.top};
  std::array<PortNum, 256> port{};
  for (const SwitchIdx sw : targets.of.indices()) {
    port.fill(kNoRoute);
    bool trunks = false;
    const auto around = graph.around(sw);
    for (std::uint32_t i = 0; i < around.size(); ++i) {
      port[i] = graph.ports(graph.first(sw) + i).front();
      trunks = trunks || graph.ports(graph.first(sw) + i).size() > 1;
    }
    const auto hop = hops.row(sw);
    const std::span<PortNum> row = tables.row(sw);
    if (!trunks) {
      for (const ColumnTarget& d : destinations) row[d.lid.value()] = port[hop[d.column]];
    } else {
      for (const ColumnTarget& d : destinations) {
        const std::uint8_t place = hop[d.column];
        if (place >= around.size()) continue;
        const auto members = graph.ports(graph.first(sw) + place);
        row[d.lid.value()] = members.size() == 1 ? members[0] : members[d.turn % members.size()];
      }
    }
    for (const Target& target : targets.of[sw]) {
      for (std::uint32_t offset = 0; offset < 1u << target.lmc; ++offset)
        row[target.base.value() + offset] = target.exit;
    }
  }
  return tables;
}

PathSls write_sls(const LidMap& lids,
                  const NeighbourGraph& graph,
                  const Targets& targets,
                  const Columns& columns,
                  const HopTable& sls) {
  const std::vector<ColumnTarget> destinations = list_column_targets(graph, targets, columns);
  PathSls paths{graph.switches(), lids.top};
  for (const SwitchIdx sw : targets.of.indices()) {
    const auto from = sls.row(sw);
    const std::span<std::uint8_t> row = paths.row(sw);
    for (const ColumnTarget& d : destinations) row[d.lid.value()] = from[d.column];
  }
  return paths;
}

}  // namespace smd
