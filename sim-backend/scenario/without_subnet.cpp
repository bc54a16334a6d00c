#include "sim-backend/scenario/without_subnet.h"

#include <algorithm>
#include <initializer_list>

namespace smd::sim {
namespace {

/// The first line that has one of these keys; else `otherwise`.
int line_of_any(const Scenario& s, std::initializer_list<std::string_view> keys, int otherwise) {
  for (const std::string_view key : keys) {
    if (const int line = s.line_of(key); line > 0) return line;
  }
  return otherwise;
}

}  // namespace

Faults check_without_subnet(const Scenario& s) {
  Faults out;
  const auto refuse = [&](bool asks, int line, std::string_view what) {
    if (asks) out.push_back({s.file, line, "beyond=1 is no subnet: " + std::string(what)});
  };
  const auto refuse_key =
      [&](bool asks, std::initializer_list<std::string_view> keys, std::string_view what) {
        refuse(asks, line_of_any(s, keys, s.fabric_line), what);
      };
  const auto refuse_named = [&](std::string_view key, std::string_view why) {
    const int line = s.line_of(key);
    refuse(line > 0, line, std::string(key) + " means nothing there, " + std::string(why));
  };

  const TrafficSpec& t = s.traffic;
  const CongestionSpec& c = s.congestion;
  const bool by_shape = !s.routes.shape.dims.empty() || s.routes.shape.group > 0;
  const int routes = s.routes_line > 0 ? s.routes_line : s.fabric_line;
  if (s.model != NetModel::Packets) {
    refuse_key(true, {"fabric.model"}, "fabric.model = \"worms\" needs a subnet");
    return out;  // rules and adapters are of packets
  }
  if (s.is_managed()) {
    refuse(true, s.faults.front().line, "[[fault]] needs a manager, which has subnets alone");
  }
  if (!s.groups.empty()) {
    refuse(true, s.groups.front().line, "[[group]] needs tables of a subnet");
  }
  refuse(!s.routes.has_rule(), routes, "routes.rule has to choose the ways, which no table holds");
  refuse(
      s.routes.has_rule() && !by_shape, routes, "routes.dims or routes.group has to say the shape");
  refuse_key(c.marking != MarkingKind::None || c.echo != EchoKind::None ||
                 c.reaction != ReactionKind::None,
             {"congestion.preset", "congestion.marking", "congestion.echo", "congestion.reaction"},
             "[congestion] answers by LID");
  refuse_key(s.program.lmc > 0, {"fabric.lmc"}, "fabric.lmc needs LIDs");
  refuse_key(t.any_lid, {"traffic.lid"}, "traffic.lid needs LIDs");
  refuse_key(s.packet.lifetimes, {"fabric.lifetimes"}, "fabric.lifetimes needs registers");
  refuse_key(t.collective.has_value(),
             {"traffic.collective"},
             "traffic.collective sends by LID: a pattern does not");
  refuse_key(!t.trace.empty(), {"traffic.trace"}, "traffic.trace sends by LID: a pattern does not");
  refuse_key(t.pattern == "local" || t.pattern == "combined",
             {"traffic.pattern"},
             "the patterns local and combined list every host's neighbours");
  refuse_key(s.packet.adapters.waiting == SourceQueues::PerDestination,
             {"adapter.queues", "fabric.preset"},
             "adapter.queues = \"per-destination\" keeps something for each pair of hosts");
  refuse_key(s.packet.adapters.static_rate,
             {"adapter.static_rate"},
             "adapter.static_rate keeps something for each pair of hosts");
  refuse_named("fabric.engine", "where a rule chooses the ways: leave it out");
  refuse_named("fabric.orientation", "where a rule chooses the ways: leave it out");
  refuse_named("fabric.non_minimal", "where hosts have no LIDs: leave it out");
  refuse_named("fabric.path_sets", "where hosts have no LIDs: leave it out");
  refuse_key(t.sl_choice != SlChoice::Path || s.line_of("traffic.sl") > 0,
             {"traffic.sl"},
             "traffic.sl means nothing there, where every SL goes to VL 0: leave it out");
  std::ranges::stable_sort(out, {}, &Fault::line);
  return out;
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
