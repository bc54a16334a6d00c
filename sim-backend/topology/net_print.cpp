// Writing a fabric: ibnetdiscover's layout, which is also ibsim's net format. ibsim reads names,
// LIDs and rates from the comments too, and 255 bytes of a line at most.
#include <fmt/core.h>

#include <iterator>

#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {
namespace {

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return result;
}

/// ibsim warns about a speed that it does not know and takes the first of two; we take the last.
std::string rate(const PortSpec& port) {
  const auto print = [&port](LinkSpeed speed) {
    return fmt::format("{}{}", print_link_width(port.width), print_link_speed(speed));
  };
  switch (port.speed) {
    case LinkSpeed::Fdr10:
      return print(LinkSpeed::Qdr) + " " + print(port.speed);
    case LinkSpeed::Ndr:
    case LinkSpeed::Xdr:
      return print(LinkSpeed::Hdr) + " " + print(port.speed);
    default:
      return print(port.speed);
  }
}

Lid lid_of(const NodeSpec& node, std::size_t port) {
  return node.ports[node.type == NodeType::Switch ? 0 : port].lid;
}

/// The peer's name is for people. ibsim takes every = in the line for an option, comment or not.
std::string_view peer_name(const NodeSpec& peer) {
  const bool is_safe = peer.description.find('=') == std::string::npos;
  return is_safe ? std::string_view(peer.description) : std::string_view();
}

void print_header(std::string& out, const NodeSpec& node) {
  auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "\nvendid=0x{:x}\ndevid=0x{:x}\nsysimgguid=0x{:x}\n",
                 node.vendor_id,
                 node.device_id,
                 node.system_guid.value());
  const auto guid = node.guid.value();
  switch (node.type) {
    case NodeType::Switch:
      fmt::format_to(to,
                     "switchguid=0x{:x}({:x})\nSwitch\t{} \"{}\"\t\t# \"{}\" {} port 0 lid {} lmc "
                     "{}\n",
                     guid,
                     guid,
                     node.num_ports(),
                     node.id,
                     node.description,
                     node.enhanced_port0 ? "enhanced" : "base",
                     node.ports[0].lid,
                     node.ports[0].lmc);
      return;
    case NodeType::Router:
      fmt::format_to(to, "rtguid=0x{:x}\nRt", guid);
      break;
    case NodeType::Ca:
      fmt::format_to(to, "caguid=0x{:x}\nCa", guid);
      break;
  }
  fmt::format_to(to, "\t{} \"{}\"\t\t# \"{}\"\n", node.num_ports(), node.id, node.description);
}

void print_cable(std::string& out, const FabricSpec& spec, const NodeSpec& node, std::size_t p) {
  auto to = std::back_inserter(out);
  const PortSpec& port = node.ports[p];
  const NodeSpec& peer = spec.nodes[port.peer_node];
  const std::size_t q = port.peer_port.value();
  fmt::format_to(to, "[{}]", p);
  if (node.type != NodeType::Switch) fmt::format_to(to, "({:x}) ", port.guid.value());
  fmt::format_to(to, "\t\"{}\"[{}]", peer.id, q);
  if (peer.type != NodeType::Switch) fmt::format_to(to, "({:x})", peer.ports[q].guid.value());
  fmt::format_to(to, " \t\t# ");
  if (node.type != NodeType::Switch) fmt::format_to(to, "lid {} lmc {} ", port.lid, port.lmc);
  fmt::format_to(to, "\"{}\" lid {} {}\n", peer_name(peer), lid_of(peer, q), rate(port));
}

}  // namespace

std::string print_fabric(const FabricSpec& spec) {
  std::string out = fmt::format("#\n# Fabric: {}\n#\n", printable(spec.title));
  if (spec.sm_node < spec.nodes.size()) {
    const NodeSpec& node = spec.nodes[spec.sm_node];
    const bool on_switch = node.type == NodeType::Switch;
    const Guid port = on_switch ? node.guid : node.ports[spec.sm_port.value()].guid;
    fmt::format_to(std::back_inserter(out),
                   "# Initiated from node {:016x} port {:016x}\n",
                   node.guid.value(),
                   port.value());
  }
  for (const NodeSpec& node : spec.nodes) {
    print_header(out, node);
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (node.ports[p].peer_node != kNoNode) print_cable(out, spec, node, p);
    }
  }
  return out;
}

}  // namespace smd::sim
