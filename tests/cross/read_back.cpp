#include "tests/cross/read_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <sstream>

#include "sim-backend/topology/snapshot.h"
#include "tests/support/readings.h"

namespace smd::test {
namespace {

/// The same drawing with its nodes in ascending order of their GUIDs.
sim::FabricSpec in_guid_order(const sim::FabricSpec& drawn) {
  std::vector<std::uint32_t> order(drawn.nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t n) { return drawn.nodes[n].guid; });
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t at = 0; at < order.size(); ++at) place[order[at]] = at;
  sim::FabricSpec sorted = drawn;
  for (std::uint32_t at = 0; at < order.size(); ++at) {
    sorted.nodes[at] = drawn.nodes[order[at]];
    for (sim::PortSpec& port : sorted.nodes[at].ports) {
      if (port.peer_node != sim::kNoNode) port.peer_node = place[port.peer_node];
    }
  }
  return sorted;
}

/// The node that the manager sits on, which is not where the tools are run.
std::uint32_t find_manager(const Stage& stage, const sim::FabricSpec& spec) {
  const auto at = std::ranges::find(spec.nodes, stage.manager(), &sim::NodeSpec::guid);
  return static_cast<std::uint32_t>(at - spec.nodes.begin());
}

}  // namespace

ReadBack read_back(const Stage& stage) {
  ReadBack out;
  const std::string drawing = stage.tool({"ibnetdiscover"}).out;
  const auto spec = sim::parse_fabric(drawing, "ibnetdiscover");
  EXPECT_TRUE(spec) << drawing;
  if (!spec) return out;
  sim::FabricSpec sorted = in_guid_order(*spec);
  sorted.sm_node = find_manager(stage, sorted);
  out.fabric = sim::build_snapshot(sorted);
  out.lids = sim::read_lids(sorted, *out.fabric).value();

  const SeenTables tables = read_dump_fts(stage.tool({"dump_fts", "-n"}).out);
  out.broken = find_broken_routes(read_ibnetdiscover(drawing), tables);
  out.lft = ForwardingTables(out.fabric->switch_count(), out.lids.top);
  for (const SwitchIdx sw : out.fabric->switch_node.indices()) {
    const Guid guid = out.fabric->node_guid[out.fabric->switch_node[sw]];
    const auto table = tables.find(fmt::format("S-{:016x}", guid.value()));
    EXPECT_NE(table, tables.end()) << "no table of " << fmt::format("{}", guid);
    if (table == tables.end()) continue;
    for (const auto& [lid, egress] : table->second) {
      if (lid > out.lids.top.value()) continue;
      out.lft.set_route(
          sw, Lid{static_cast<std::uint16_t>(lid)}, PortNum{static_cast<std::uint8_t>(egress)});
    }
  }
  return out;
}

// "ports: in  2, out  1: | 0| 1| 0| 1|…"
std::vector<SlToVl> read_lanes(const Stage& stage, Lid sw, PortNum out) {
  std::vector<SlToVl> rows;
  const Finished query =
      stage.tool({"smpquery", "sl2vl", std::to_string(sw.value()), std::to_string(out.value())});
  std::istringstream lines(query.out);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find('|');
    if (!line.starts_with("ports:") || at == std::string::npos) continue;
    SlToVl row{};
    for (Vl& vl : row) {
      vl = Vl{static_cast<std::uint8_t>(std::strtoul(line.c_str() + at + 1, nullptr, 10))};
      at = line.find('|', at + 1);
    }
    rows.push_back(row);
  }
  return rows;
}

unsigned ask_path_sl(const Stage& stage, Lid source, Lid destination) {
  const Finished query =
      stage.tool({"saquery",
                  "--src-to-dst",
                  std::to_string(source.value()) + ":" + std::to_string(destination.value())});
  unsigned sl = 255;
  const std::size_t at = query.out.find("\tsl..");
  if (at != std::string::npos)
    std::sscanf(query.out.c_str() + query.out.find_first_not_of('.', at + 3), "%x", &sl);
  return sl;
}

std::vector<std::string> find_differences(const Fabric& fabric,
                                          const ForwardingTables& in_switches,
                                          const ForwardingTables& computed) {
  std::vector<std::string> differences;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (unsigned lid = 1; lid <= in_switches.top().value(); ++lid) {
      const Lid destination{static_cast<std::uint16_t>(lid)};
      const PortNum seen = in_switches.route(sw, destination);
      const PortNum wanted = computed.route(sw, destination);
      if (seen != wanted && differences.size() < 5)
        differences.push_back(fmt::format("switch {} lid {}: {} in the switch, {} computed",
                                          fabric.node_guid[fabric.switch_node[sw]],
                                          lid,
                                          seen.value(),
                                          wanted.value()));
    }
  }
  return differences;
}

}  // namespace smd::test
