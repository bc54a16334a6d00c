// Tables, SL-to-VL tables and plans as text.
#include "smd/report/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace smd {

namespace {

constexpr std::size_t kShown = 20;

template <class List, class Print>
void append_list(const char* title, const List& list, const Print& print, std::string& out) {
  if (list.empty()) return;
  out += fmt::format("  {} {}\n", title, list.size());
  for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i)
    out += fmt::format("    {}\n", print(list[i]));
  if (list.size() > kShown) out += fmt::format("    … {} more\n", list.size() - kShown);
}

std::string print_entry(const Fabric& fabric, const EntryChange& change) {
  const std::string& name = fabric.description[fabric.switch_node[change.sw]];
  if (change.egress == kNoRoute) return fmt::format("{} lid {} withdrawn", name, change.lid);
  return fmt::format("{} lid {} -> port {}", name, change.lid, change.egress);
}

std::string path_text(const HopPath& path) {
  std::string out = "0";  // dump_fts counts the local node as hop 0
  for (std::size_t i = 0; i < path.size(); ++i) out += fmt::format(",{}", path[i]);
  return out;
}

std::string_view kind_of(const Fabric& fabric, NodeIdx node) {
  switch (static_cast<NodeType>(fabric.node_info[node].node_type)) {
    case NodeType::Switch:
      return "Switch";
    case NodeType::Router:
      return "Router";
    case NodeType::Ca:
      break;
  }
  return "Channel Adapter";
}

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

std::string print_transition(const Fabric& fabric, const TransitionPlan& plan) {
  std::string out = fmt::format("plan: {}, {} phases{}{}{}\n",
                                print_transition_kind(plan.kind),
                                plan.phases.size(),
                                plan.whole_tables ? ", whole tables" : "",
                                plan.why.empty() ? "" : ", ",
                                plan.why);
  const auto turn = [&](const Turn& each) { return print_turn(fabric, each); };
  const auto port = [&](PortIdx each) { return print_port(fabric, each); };
  const auto entry = [&](const EntryChange& each) { return print_entry(fabric, each); };
  unsigned number = 0;
  for (const TransitionPhase& phase : plan.phases) {
    out += fmt::format(
        "phase {}: {}\n", ++number, phase.certificate.size() == 0 ? "not proved" : "proved");
    append_list("turns blocked:", phase.block, turn, out);
    append_list("turns restored:", phase.restore, turn, out);
    append_list("ports deactivated:", phase.deactivate, port, out);
    if (phase.to_wanted) out += "  entries: all, in any order\n";
    append_list("entries:", phase.entries, entry, out);
    append_list("ports activated:", phase.activate, port, out);
  }
  append_list("turns that stay blocked:", plan.blocked, turn, out);
  return out;
}

std::string print_lft_dump(const ActiveSubnet& in_force) {
  const Fabric& fabric = in_force.fabric();
  std::string out;
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    out += fmt::format(
        "Unicast lids [0x0-0x{:x}] of switch DR path slid 0; dlid 0; {} guid {} ({}):\n",
        in_force.routing->lft.top().value(),
        path_text(in_force.sweep.path[node]),
        fabric.node_guid[node],
        fabric.description[node]);
    out += "  Lid  Out   Destination\n       Port     Info \n";
    unsigned valid = 0;
    for (std::uint32_t value = 1; value <= in_force.routing->lft.top().value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const PortNum egress = in_force.routing->lft.route(sw, lid);
      const PortIdx owner = in_force.lids->owner_of(lid);
      if (egress == kNoRoute || owner == kNone<PortIdx>) continue;
      const NodeIdx to = fabric.node_of[owner];
      out += fmt::format("0x{:04x} {:03} : ({} portguid {}: '{}')\n",
                         value,
                         egress.value(),
                         kind_of(fabric, to),
                         fabric.port_guid[owner],
                         fabric.description[to]);
      ++valid;
    }
    out += fmt::format("{} valid lids dumped \n", valid);
  }
  return out;
}

std::string print_mft_dump(const ActiveSubnet& in_force) {
  const Fabric& fabric = in_force.fabric();
  std::string out;
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    out += fmt::format(
        "Multicast mlids [0xc000-0xc000] of switch DR path slid 0; dlid 0; {} guid {} ({}):\n",
        path_text(in_force.sweep.path[node]),
        fabric.node_guid[node],
        fabric.description[node]);
    out += "0 valid mlids dumped \n";
  }
  return out;
}

std::string print_sl2vl_dump(const ActiveSubnet& in_force) {
  const Fabric& fabric = in_force.fabric();
  const RoutingTables& routing = in_force.routing;
  if (routing.sl_to_vl.empty() && routing.vls <= 1) {
    return fmt::format("# {} switches; every SL to VL row is as the switch had it\n",
                       fabric.switch_count());
  }
  SlToVl same{};
  for (unsigned sl = 0; sl < same.size(); ++sl)
    same[sl] = Vl{static_cast<std::uint8_t>(sl % std::max(1u, routing.vls))};
  std::string out;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    out += fmt::format("Switch {}, base LID {}, \"{}\"\n",
                       fabric.node_guid[node],
                       in_force.lids->base[fabric.port_of(node, PortNum{0})],
                       fabric.description[node]);
    out += "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n";
    for (const PortIdx exit : fabric.external_ports(node)) {
      if (fabric.peer[exit] == kNone<PortIdx>) continue;
      for (const PortIdx in : fabric.ports_of(node)) {
        const PortNum from = fabric.number_of(in), to = fabric.number_of(exit);
        out += fmt::format("{:<3} {:<3} :", from.value(), to.value());
        for (const Vl vl : routing.sl_to_vl.empty() ? same : routing.sl_to_vl.row(sw, from, to))
          out += fmt::format(" {:<2}", vl.value());
        out += '\n';
      }
    }
  }
  return out;
}

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

std::string print_plan(const CycleReport& cycle, const std::string& plans) {
  std::string out = fmt::format("# {}\n", cycle.reason);
  out +=
      fmt::format("configure   {} SMPs: LinearFDBTop, LIDs, port settings, Initialize -> Armed\n",
                  cycle.configure.smps);
  out += fmt::format("turns       {} SMPs: SL-to-VL rows\n", cycle.turns.smps);
  out += fmt::format("deactivate  {} SMPs: ports taken down\n", cycle.deactivate.smps);
  out += fmt::format("tables      {} SMPs, {} blocks\n", cycle.tables.smps, cycle.blocks_written);
  out += fmt::format("activate    {} SMPs: Armed -> Active\n\n", cycle.activate.smps);
  return out + plans;
}

Result<void> write_texts(const std::string& directory, const std::vector<NamedText>& texts) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail(Errc::Io, fmt::format("{}: {}", directory, error.message()));
  for (const auto& [name, text] : texts) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) return fail(Errc::Io, fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  return {};
}

Result<void> write_dumps(const std::string& directory,
                         const ActiveSubnet& in_force,
                         const CycleReport& cycle,
                         const std::string& plans) {
  return write_texts(directory,
                     {{"lft.txt", print_lft_dump(in_force)},
                      {"mft.txt", print_mft_dump(in_force)},
                      {"sl2vl.txt", print_sl2vl_dump(in_force)},
                      {"fabric.net", print_net(in_force.fabric(), in_force.lids)},
                      {"plan.txt", print_plan(cycle, plans)}});
}

}  // namespace smd
