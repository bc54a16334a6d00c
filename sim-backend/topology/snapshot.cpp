#include "sim-backend/topology/snapshot.h"

#include <fmt/core.h>

#include "smd/fabric/builder.h"

namespace smd::sim {
namespace {

constexpr std::uint16_t kMulticastLids = 1024;  // as simulated switches have them
constexpr std::uint8_t kEightVls = 4;           // PortInfo.VLCap
constexpr std::uint16_t kWholeLft = 49152;

NodeInfo node_info(const NodeSpec& node) {
  NodeInfo info;
  info.node_type = static_cast<std::uint8_t>(node.type);
  info.num_ports = static_cast<std::uint8_t>(node.num_ports());
  info.node_guid = info.port_guid = node.guid;
  info.system_guid = node.system_guid;
  info.device_id = node.device_id;
  info.vendor_id = node.vendor_id;
  info.local_port = PortNum{1};
  return info;
}

PortInfo port_info(const PortSpec& port, bool active) {
  PortInfo info;
  info.port_state = static_cast<std::uint8_t>(active ? PortState::Active : PortState::Down);
  info.port_physical_state =
      static_cast<std::uint8_t>(active ? PhysState::LinkUp : PhysState::Polling);
  info.mtu_cap = info.neighbor_mtu = static_cast<std::uint8_t>(Mtu::B4096);
  info.vl_cap = info.operational_vls = kEightVls;
  info.lid = port.lid;
  info.lmc = port.lmc;
  if (!active) return info;
  const SpeedCodes codes = speed_codes(port.speed);
  info.link_width_active = static_cast<std::uint8_t>(port.width);
  info.link_speed_active = codes.base;
  info.link_speed_ext_active = codes.ext;
  info.link_speed_ext2_active = codes.ext2;
  return info;
}

}  // namespace

std::shared_ptr<const Fabric> build_snapshot(const FabricSpec& spec) {
  FabricBuilder builder;
  std::vector<NodeIdx> nodes;
  std::vector<PortIdx> fdr10;  // which PortInfo calls QDR
  for (const NodeSpec& node : spec.nodes) {
    const NodeIdx at = builder.add_node(node_info(node));
    nodes.push_back(at);
    builder.set_description(at, node.description);
    const bool is_switch = node.type == NodeType::Switch;
    if (is_switch) {
      SwitchInfo info;
      info.linear_fdb_cap = kWholeLft;
      info.multicast_fdb_cap = kMulticastLids;
      info.enhanced_port0 = node.enhanced_port0;
      builder.set_switch_info(at, info);
    }
    for (unsigned p = 0; p <= node.num_ports(); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      const bool active = p == 0 ? is_switch : node.ports[p].peer_node != kNoNode;
      builder.set_port_info(at, number, port_info(node.ports[p], active));
      if (!is_switch && p != 0) builder.set_port_guid(at, number, node.ports[p].guid);
      if (p != 0 && active && node.ports[p].speed == LinkSpeed::Fdr10)
        fdr10.push_back(builder.port_of(at, number));
    }
  }
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const PortSpec& port = spec.nodes[n].ports[p];
      if (port.peer_node == kNoNode) continue;
      builder.add_link(
          nodes[n], PortNum{static_cast<std::uint8_t>(p)}, nodes[port.peer_node], port.peer_port);
    }
  }
  builder.set_fdr10(std::move(fdr10));
  if (!nodes.empty()) builder.set_sm_port(nodes[spec.sm_node], spec.sm_port);
  return builder.build(Epoch{1});
}

FabricSpec hosts_and_switches(FabricSpec spec) {
  const std::shared_ptr<const Fabric> fabric = build_snapshot(spec);
  std::vector<std::uint32_t> becomes(spec.nodes.size(), kNoNode);
  std::uint32_t kept = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const bool goes =
        spec.nodes[n].type == NodeType::Router || is_aggregation_node(*fabric, NodeIdx{n});
    if (!goes) becomes[n] = kept++;
  }
  if (kept == spec.nodes.size()) return spec;
  FabricSpec out{.title = spec.title, .nodes = {}, .sm_node = 0, .sm_port = spec.sm_port};
  out.nodes.reserve(kept);
  if (becomes[spec.sm_node] != kNoNode) {
    out.sm_node = becomes[spec.sm_node];
  } else if (const PortSpec& port = spec.nodes[spec.sm_node].ports[spec.sm_port.value()];
             port.peer_node != kNoNode && becomes[port.peer_node] != kNoNode) {
    out.sm_node = becomes[port.peer_node];
    out.sm_port = PortNum{0};
  } else {
    const auto first = std::ranges::find_if(becomes, [](std::uint32_t at) { return at == 0; });
    const bool at_switch =
        first != becomes.end() &&
        spec.nodes[static_cast<std::size_t>(first - becomes.begin())].type == NodeType::Switch;
    out.sm_port = PortNum{at_switch ? std::uint8_t{0} : std::uint8_t{1}};
  }
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (becomes[n] == kNoNode) continue;
    NodeSpec& node = out.nodes.emplace_back(std::move(spec.nodes[n]));
    bool last_goes = false;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      PortSpec& port = node.ports[p];
      const bool is_freed = port.peer_node != kNoNode && becomes[port.peer_node] == kNoNode;
      last_goes = is_freed && is_aggregation_node(*fabric, NodeIdx{port.peer_node});
      if (is_freed) port.peer_port = {};
      if (port.peer_node != kNoNode) port.peer_node = becomes[port.peer_node];
    }
    if (last_goes && node.num_ports() > 1) node.ports.pop_back();
  }
  return out;
}

HostAdapters group_adapters(const FabricSpec& spec) {
  std::vector<SystemNode> nodes;
  nodes.reserve(spec.nodes.size());
  for (const NodeSpec& node : spec.nodes) {
    nodes.push_back(
        {.type = node.type, .system = node.system_guid, .description = node.description});
  }
  return group_adapters(nodes);
}

HostPorts group_ports(const FabricSpec& spec) {
  std::vector<AdapterPort> ports;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      if (spec.nodes[n].ports[p].peer_node == kNoNode) continue;
      ports.push_back({n, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return group_ports(group_adapters(spec), ports);
}

Result<LidMap> read_lids(const FabricSpec& spec, const Fabric& snapshot) {
  LidMap map = make_lid_map(snapshot);
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    for (const PortIdx at : snapshot.ports_of(NodeIdx{n})) {
      const PortSpec& port = spec.nodes[n].ports[snapshot.number_of(at).value()];
      if (port.lid == kUnassignedLid || !snapshot.is_end_port(at)) continue;
      const unsigned last = port.lid.value() + (1u << port.lmc) - 1;
      if (last > kTopUnicastLid.value()) {
        return fail(Errc::Invalid,
                    fmt::format("{} has LID {} with LMC {}; unicast LIDs end at {}",
                                print_port(snapshot, at),
                                port.lid,
                                port.lmc,
                                kTopUnicastLid));
      }
      for (unsigned lid = port.lid.value(); lid <= last; ++lid) {
        const PortIdx owner = map.owner_of(Lid{static_cast<std::uint16_t>(lid)});
        if (owner == kNone<PortIdx>) continue;
        return fail(Errc::Invalid,
                    fmt::format("LID {} belongs to {} and to {}; every port has its own",
                                lid,
                                print_port(snapshot, owner),
                                print_port(snapshot, at)));
      }
      set_lid(map, at, port.lid, port.lmc);
    }
  }
  return map;
}

}  // namespace smd::sim
