#include "smd/fabric/text_format.h"

#include <fmt/format.h>

#include <iterator>

namespace smd {
namespace {

std::string node_id(const Fabric& fabric, NodeIdx node) {
  const char* prefix = "H";
  if (fabric.is_switch(node)) prefix = "S";
  if (fabric.node_info[node].node_type == static_cast<std::uint8_t>(NodeType::Router)) prefix = "R";
  return fmt::format("{}-{:016x}", prefix, fabric.node_guid[node].value());
}

/// Quotes and control characters would end the name in every reader of this format.
std::string plain(const std::string& text) {
  std::string out = text;
  for (char& c : out) {
    if (c == '"' || static_cast<unsigned char>(c) < 0x20) c = '\'';
  }
  return out;
}

void print_header(const Fabric& fabric, const LidMap& lids, NodeIdx node, std::string& out) {
  const NodeInfo& info = fabric.node_info[node];
  const std::string description = plain(fabric.description[node]);
  auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "\nvendid=0x{:x}\ndevid=0x{:x}\nsysimgguid=0x{:x}\n",
                 info.vendor_id,
                 info.device_id,
                 info.system_guid.value());
  if (fabric.is_switch(node)) {
    const PortIdx port0 = fabric.port_of(node, PortNum{0});
    const bool enhanced = fabric.switch_info[fabric.switch_of[node]].enhanced_port0;
    fmt::format_to(
        to,
        "switchguid=0x{:x}({:x})\nSwitch\t{} \"{}\"\t\t# \"{}\" {} port 0 lid {} lmc {}\n",
        fabric.node_guid[node].value(),
        fabric.port_guid[port0].value(),
        fabric.num_ports(node),
        node_id(fabric, node),
        description,
        enhanced ? "enhanced" : "base",
        lids.base[port0],
        lids.lmc[port0]);
    return;
  }
  const bool router = info.node_type == static_cast<std::uint8_t>(NodeType::Router);
  fmt::format_to(to,
                 "{}=0x{:x}\n{}\t{} \"{}\"\t\t# \"{}\"\n",
                 router ? "rtguid" : "caguid",
                 fabric.node_guid[node].value(),
                 router ? "Rt" : "Ca",
                 fabric.num_ports(node),
                 node_id(fabric, node),
                 description);
}

void print_link(const Fabric& fabric, const LidMap& lids, PortIdx port, std::string& out) {
  const PortIdx peer = fabric.peer[port];
  const NodeIdx node = fabric.node_of[port];
  const NodeIdx other = fabric.node_of[peer];
  const bool from_switch = fabric.is_switch(node);
  const PortIdx other_end = fabric.is_switch(other) ? fabric.port_of(other, PortNum{0}) : peer;
  const PortInfo& info = fabric.port_info[port];
  auto to = std::back_inserter(out);
  fmt::format_to(to, "[{}]", fabric.number_of(port));
  if (!from_switch) fmt::format_to(to, "({:x})", fabric.port_guid[port].value());
  fmt::format_to(to, " \t\"{}\"[{}]", node_id(fabric, other), fabric.number_of(peer));
  if (!fabric.is_switch(other)) fmt::format_to(to, "({:x})", fabric.port_guid[peer].value());
  if (from_switch) {
    fmt::format_to(to,
                   "\t\t# \"{}\" lid {} {}{}\n",
                   plain(fabric.description[other]),
                   lids.base[other_end],
                   print_link_width(active_width(info)),
                   print_link_speed(link_speed(fabric, port)));
  } else {
    fmt::format_to(to,
                   "\t\t# lid {} lmc {} \"{}\" lid {} {}{}\n",
                   lids.base[port],
                   lids.lmc[port],
                   plain(fabric.description[other]),
                   lids.base[other_end],
                   print_link_width(active_width(info)),
                   print_link_speed(link_speed(fabric, port)));
  }
}

}  // namespace

std::string print_net(const Fabric& fabric, const LidMap& lids) {
  std::string out = fmt::format("# {} nodes, {} links\n", fabric.node_count(), fabric.link_count());
  for (NodeIdx node : fabric.node_guid.indices()) {
    print_header(fabric, lids, node, out);
    for (PortIdx port : fabric.external_ports(node)) {
      if (fabric.peer[port] != kNone<PortIdx>) print_link(fabric, lids, port, out);
    }
  }
  return out;
}

}  // namespace smd
