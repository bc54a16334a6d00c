#include "sim-backend/scenario/programmed_nodes.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/agents/link_codes.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/routing/verify/check_routes.h"

namespace smd::sim {
namespace {

void set_port(NodeState& node, unsigned number, const PortSpec& cable, const ProgramOptions& with) {
  PortInfo& info = node.ports[number].info;
  info.operational_vls = vl_code(with.vls);
  info.neighbor_mtu = static_cast<std::uint8_t>(with.mtu);
  info.port_physical_state = static_cast<std::uint8_t>(PhysState::LinkUp);
  info.port_state = static_cast<std::uint8_t>(PortState::Active);
  set_active(info, {cable.width, cable.speed});
}

void set_sl_to_vl(NodeState& node, SwitchIdx sw, const RoutingTables& routing, unsigned vls) {
  const std::size_t ports = node.ports.size();
  for (std::size_t in = 0; in < ports; ++in) {
    for (std::size_t out = 0; out < ports; ++out) {
      const PortNum from{static_cast<std::uint8_t>(in)};
      const PortNum to{static_cast<std::uint8_t>(out)};
      SlToVl row{};
      for (unsigned sl = 0; sl < row.size(); ++sl)
        row[sl] = Vl{static_cast<std::uint8_t>(sl % vls)};
      if (!routing.sl_to_vl.empty()) row = routing.sl_to_vl.row(sw, from, to);
      node.write_sl_to_vl(from, to, row);
      if (routing.sl_to_vl.empty() && in == 0 && out == 0 && !node.sl_to_vl.empty()) {
        // One row for all: no need to write each.
        std::ranges::fill(node.sl_to_vl, node.sl_to_vl.front());
        return;
      }
    }
  }
}

void set_adapter_sl_to_vl(NodeState& node, unsigned vls) {
  for (std::size_t in = 0; in < node.ports.size(); ++in) {
    SlToVl row{};
    for (unsigned sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl % vls)};
    node.write_sl_to_vl(PortNum{static_cast<std::uint8_t>(in)}, PortNum{}, row);
  }
}

}  // namespace

std::uint8_t vl_code(unsigned vls) {
  for (std::uint8_t code = 1; code <= 5; ++code) {
    if (data_vls(code) == vls) return code;
  }
  return 0;
}

Result<ProgrammedFabric> program_nodes(const FabricSpec& spec, const ProgramOptions& options) {
  const Engine* engine = find_engine(options.engine);
  if (engine == nullptr) {
    return fail(Errc::Invalid, fmt::format("no engine is called {}", options.engine));
  }
  if (vl_code(options.vls) == 0) {
    return fail(Errc::Invalid, fmt::format("{} data VLs: 1, 2, 4, 8 or 15", options.vls));
  }
  const auto fabric = build_snapshot(spec);
  const auto assigned = assign_lids(*fabric, {}, {.lmc = options.lmc});
  if (!assigned) return tl::unexpected<Error>(assigned.error());
  const LidMap& lids = assigned->map;
  auto routing = engine->compute(*fabric,
                                 lids,
                                 {.options = {.orientation_search = options.search,
                                              .non_minimal = options.non_minimal,
                                              .path_sets = options.path_sets},
                                  .seed = options.seed,
                                  .max_vls = options.vls});
  if (!routing) return tl::unexpected<Error>(routing.error());
  const RouteReport report = check_routes(*fabric, lids, *routing, {.minimality = false});
  // Routes that can deadlock are what somebody may want to see; lost pairs are not.
  if (report.unreachable > 0 || report.loops > 0) {
    return fail(Errc::Refused,
                fmt::format("the routes of {} leave {} pairs without a way and {} in a loop",
                            options.engine,
                            report.unreachable,
                            report.loops));
  }
  if (routing->vls > options.vls) {
    return fail(Errc::Unsupported,
                fmt::format("the routes of {} need {} VLs", options.engine, routing->vls));
  }

  ProgrammedFabric out{.routing = std::move(*routing), .snapshot = fabric, .lids = lids};
  AgentOptions agents = options.agents;
  if (options.vls > data_vls(agents.vl_cap)) agents.vl_cap = vl_code(options.vls);
  // Without layers any SL may take any path: all VLs are used.
  const unsigned vls = out.routing.path_sls.empty() ? options.vls : out.routing.vls;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const NodeIdx idx{n};
    NodeState node = power_on(spec.nodes[n], agents, 0);
    for (unsigned p = 0; p < spec.nodes[n].ports.size(); ++p) {
      const PortSpec& cable = spec.nodes[n].ports[p];
      if (cable.peer_node != kNoNode) set_port(node, p, cable, options);
      const PortIdx port = fabric->port_of(idx, PortNum{static_cast<std::uint8_t>(p)});
      node.ports[p].info.lid = lids.base[port];
      node.ports[p].info.lmc = lids.lmc[port];
      if (node.is_switch() || cable.peer_node == kNoNode || p == 0) continue;
      out.host_lids.push_back(lids.base[port]);
      out.host_leaf.push_back(fabric->switch_of[NodeIdx{cable.peer_node}]);
    }
    if (node.is_switch()) {
      const SwitchIdx sw = fabric->switch_of[idx];
      const auto row = out.routing.lft.row(sw);
      node.lft.assign(row.begin(), row.end());
      node.switch_info.linear_fdb_top = out.routing.lft.top().value();
      if (node.has_multicast_top()) {
        node.switch_info.multicast_fdb_top =
            static_cast<std::uint16_t>(kFirstMulticast - 1 + node.switch_info.multicast_fdb_cap);
      }
      set_sl_to_vl(node, sw, out.routing, vls);
    } else {
      set_adapter_sl_to_vl(node, vls);
    }
    out.nodes.push_back(std::move(node));
  }
  return out;
}

}  // namespace smd::sim
