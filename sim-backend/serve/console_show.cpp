#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/serve/console_context.h"

namespace smd::sim {
namespace {

std::optional<ConsolePort> find_lid(const ConsoleContext& context, Lid lid) {
  const FabricSpec& spec = context.fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const bool is_switch = spec.nodes[n].type == NodeType::Switch;
    const unsigned last = is_switch ? 0 : spec.nodes[n].num_ports();
    for (unsigned p = is_switch ? 0 : 1; p <= last; ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const PortInfo info = context.fabric.port_info(n, port);
      if (info.lid == kUnassignedLid) continue;
      const unsigned first = info.lid.value();
      if (lid.value() >= first && lid.value() < first + (1u << info.lmc))
        return ConsolePort{n, port};
    }
  }
  return std::nullopt;
}

void dump_node(const ConsoleContext& context, std::uint32_t node, std::string& text) {
  const FabricSpec& fabric = context.fabric.spec();
  const NodeSpec& spec = fabric.nodes[node];
  auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "\n{} {} \"{}\"\tnodeguid {:x}\n",
                 print_node_type(spec.type),
                 spec.num_ports(),
                 name_of(context, node),
                 spec.guid.value());
  for (unsigned p = spec.type == NodeType::Switch ? 0 : 1; p <= spec.num_ports(); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    const PortInfo info = context.fabric.port_info(node, port);
    const PortSpec& cable = spec.ports[p];
    fmt::format_to(out, "[{}]", p);
    if (cable.peer_node != kNoNode) {
      fmt::format_to(
          out, "\t\"{}\"[{}]", name_of(context, cable.peer_node), cable.peer_port.value());
    }
    if (info.lid != kUnassignedLid) {
      fmt::format_to(
          out, "\tlid {} lmc {} smlid {}", info.lid.value(), info.lmc, info.master_sm_lid.value());
    }
    fmt::format_to(out,
                   "\t{} {} {}/{}\n",
                   print_link_width(active_width(info)),
                   print_link_speed(active_speed(info)),
                   print_port_state(info.state()),
                   print_phys_state(static_cast<PhysState>(info.port_physical_state)));
  }
}

/// The registers of one agent, a line each.
void show_congestion(const ConsoleContext& context, ConsolePort at, std::string& text) {
  const NodeState& node = context.fabric.node_state(at.node);
  const CongestionState& state = node.congestion(at.port);
  text += fmt::format("\n\"{}\"[{}]\n{}\n",
                      name_of(context, at.node),
                      at.port.value(),
                      cc::print_key_info(state.key));
  if (node.is_switch()) {
    text += cc::print_switch_setting(state.switch_setting) + "\n";
    return;
  }
  text += cc::print_ca_setting(state.ca_setting) + "\n";
  cc::CctBlock block{.limit = state.ccti_limit};
  for (std::size_t first = 0; first < std::max<std::size_t>(state.table.size(), 1);
       first += block.entries.size()) {
    for (std::size_t i = 0; i < block.entries.size(); ++i) {
      block.entries[i] = state.delay_at(first + i);
    }
    text += fmt::format("from {} {}\n", first, cc::print_cct_block(block));
  }
}

void show_congestion(const ConsoleContext& context, std::uint32_t node, std::string& text) {
  const NodeSpec& spec = context.fabric.spec().nodes[node];
  if (spec.type == NodeType::Switch) return show_congestion(context, {node, PortNum{}}, text);
  for (unsigned p = 1; p <= spec.num_ports(); ++p) {
    if (spec.ports[p].peer_node == kNoNode) continue;
    show_congestion(context, ConsolePort{node, PortNum{static_cast<std::uint8_t>(p)}}, text);
  }
}

}  // namespace

ConsoleAnswer run_congestion(ConsoleContext& context) {
  std::string text;
  if (!context.words.at_end()) {
    const Result<std::uint32_t> node = next_node(context);
    if (!node) return fail(node.error().code, node.error().context);
    if (const auto end = check_end(context); !end)
      return fail(end.error().code, end.error().context);
    show_congestion(context, *node, text);
    return text;
  }
  const auto count = static_cast<std::uint32_t>(context.fabric.spec().nodes.size());
  for (std::uint32_t n = 0; n < count; ++n) show_congestion(context, n, text);
  return text;
}

/// Walks the tables of the switches from one LID to another.
ConsoleAnswer run_route(ConsoleContext& context) {
  std::array<Lid, 2> lids;
  std::array<ConsolePort, 2> ends;
  for (Lid& lid : lids) {
    const Result<unsigned> number = context.words.next_number(kTopUnicastLid.value());
    if (!number) return fail(Errc::Malformed, "write 'Route FROM-LID TO-LID'");
    lid = Lid{static_cast<std::uint16_t>(*number)};
  }
  if (const auto end = check_end(context); !end) return fail(end.error().code, end.error().context);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<ConsolePort> end = find_lid(context, lids[i]);
    if (!end) return fail(Errc::Invalid, fmt::format("no port has LID {}", lids[i].value()));
    ends[i] = *end;
  }
  const FabricSpec& spec = context.fabric.spec();
  std::uint32_t node = ends[0].node;
  PortNum port = ends[0].port;
  std::string text = fmt::format(
      "From node \"{}\" port {} lid {}\n", name_of(context, node), port.value(), lids[0].value());
  for (std::size_t hops = 0; node != ends[1].node; ++hops) {
    if (hops > spec.nodes.size()) return text + "# the tables lead in a circle\n";
    const PortNum egress =
        spec.nodes[node].type == NodeType::Switch ? context.fabric.lft(node, lids[1]) : port;
    const bool cabled = egress.value() >= 1 && egress.value() <= spec.nodes[node].num_ports() &&
                        spec.nodes[node].ports[egress.value()].peer_node != kNoNode;
    if (!cabled || !context.fabric.link_up(node, egress)) {
      return text + fmt::format("# \"{}\" sends it to port {}, which leads nowhere\n",
                                name_of(context, node),
                                egress.value());
    }
    const PortSpec& out = spec.nodes[node].ports[egress.value()];
    node = out.peer_node;
    port = out.peer_port;
    text +=
        fmt::format("[{}] -> \"{}\"[{}]\n", egress.value(), name_of(context, node), port.value());
  }
  return text + fmt::format("To node \"{}\" port {} lid {}\n",
                            name_of(context, node),
                            ends[1].port.value(),
                            lids[1].value());
}

ConsoleAnswer run_dump(ConsoleContext& context) {
  std::string text;
  if (!context.words.at_end()) {
    const Result<std::uint32_t> node = next_node(context);
    if (!node) return fail(node.error().code, node.error().context);
    if (const auto end = check_end(context); !end)
      return fail(end.error().code, end.error().context);
    dump_node(context, *node, text);
    return text;
  }
  const auto count = static_cast<std::uint32_t>(context.fabric.spec().nodes.size());
  for (std::uint32_t n = 0; n < count; ++n) dump_node(context, n, text);
  return text + fmt::format("# dumped {} nodes\n", count);
}

}  // namespace smd::sim
