#include "sim-backend/scenario/without_subnet.h"

#include <array>

namespace smd::sim {

std::string check_without_subnet(const Scenario& s) {
  struct Row {
    bool asks;
    std::string_view what;
  };

  const TrafficSpec& t = s.traffic;
  const CongestionSpec& c = s.congestion;
  const bool by_shape = !s.routes.shape.dims.empty() || s.routes.shape.group > 0;
  const std::array rows{
      Row{s.model != NetModel::Packets, "fabric.model = \"worms\" needs a subnet"},
      Row{s.is_managed(), "[[fault]] needs a manager, which has subnets alone"},
      Row{!s.groups.empty(), "[[group]] needs tables of a subnet"},
      Row{!s.routes.has_rule(), "routes.rule has to choose the ways, which no table holds"},
      Row{!by_shape, "routes.dims or routes.group has to say the shape"},
      Row{c.marking != MarkingKind::None || c.echo != EchoKind::None ||
              c.reaction != ReactionKind::None,
          "[congestion] answers by LID"},
      Row{s.program.lmc > 0 || t.any_lid, "fabric.lmc and traffic.lid need LIDs"},
      Row{s.packet.lifetimes, "fabric.lifetimes needs registers"},
      Row{t.collective.has_value() || !t.trace.empty(),
          "traffic.collective and traffic.trace send by LID: a pattern does not"},
      Row{t.pattern == "local" || t.pattern == "combined",
          "the patterns local and combined list every host's neighbours"},
      Row{s.packet.adapters.waiting == SourceQueues::PerDestination ||
              s.packet.adapters.static_rate,
          "adapter.queues = \"per-destination\" and adapter.static_rate keep something for each "
          "pair of hosts"}};
  for (const Row& row : rows) {
    if (row.asks) return "beyond=1 is no subnet: " + std::string(row.what);
  }
  return {};
}

ProgrammedFabric list_hosts(const FabricSpec& spec) {
  ProgrammedFabric out;
  std::vector<std::uint32_t> switch_of(spec.nodes.size(), kNowhere);
  std::uint32_t switches = 0;
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Switch) switch_of[n] = switches++;
  }
  for (const NodeSpec& node : spec.nodes) {
    if (node.type == NodeType::Switch) continue;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (node.ports[p].peer_node == kNoNode) continue;
      out.host_leaf.push_back(SwitchIdx{switch_of[node.ports[p].peer_node]});
    }
  }
  out.host_lids.resize(out.host_leaf.size());
  return out;
}

}  // namespace smd::sim
