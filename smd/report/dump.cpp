// What is in force and plans, as text, and their files.
#include "smd/report/dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "smd/base/read_file.h"
#include "smd/multicast/subnet_limits.h"
#include "smd/state/opensm_state.h"

namespace smd {

namespace {

template <class List, class Print>
void append_list(const char* title, const List& list, const Print& print, std::string& out) {
  if (list.empty()) return;
  out += fmt::format("  {} {}\n", title, list.size());
  for (const auto& each : list) out += fmt::format("    {}\n", print(each));
}

std::string print_entry(const Fabric& fabric, const EntryChange& change) {
  const std::string name = name_of(fabric, fabric.switch_node[change.sw]);
  if (change.egress == kNoRoute) return fmt::format("{} lid {} withdrawn", name, change.lid);
  return fmt::format("{} lid {} -> port {}", name, change.lid, change.egress);
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
  const std::string description = plain(label_of(fabric, node));
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
                   plain(label_of(fabric, other)),
                   lids.base[other_end],
                   print_link_width(active_width(info)),
                   print_link_speed(link_speed(fabric, port)));
  } else {
    fmt::format_to(to,
                   "\t\t# lid {} lmc {} \"{}\" lid {} {}{}\n",
                   lids.base[port],
                   lids.lmc[port],
                   plain(label_of(fabric, other)),
                   lids.base[other_end],
                   print_link_width(active_width(info)),
                   print_link_speed(link_speed(fabric, port)));
  }
}

/// Whose GUID a port has: port 0 of a switch, or itself.
PortIdx end_port(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  return fabric.is_switch(node) ? fabric.port_of(node, PortNum{0}) : port;
}

/// One end of a link of opensm-subnet.lst; OpenSM gives the vendor of the first 6 digits, of the
/// second 8.
void add_link_end(
    const Fabric& fabric, const LidMap& lids, PortIdx port, int vendor_digits, std::string& out) {
  const NodeIdx node = fabric.node_of[port];
  const NodeInfo& info = fabric.node_info[node];
  const PortIdx end = end_port(fabric, port);
  std::string name = plain(label_of(fabric, node));
  std::ranges::replace(name, '}', ')');  // ends the name
  const bool router = info.node_type == static_cast<std::uint8_t>(NodeType::Router);
  fmt::format_to(std::back_inserter(out),
                 "{{ {}{} Ports:{:02X} SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} "
                 "VenID:{:0{}X} DevID:{:04X} Rev:{:08X} {{{}}} LID:{:04X} PN:{:02X} }} ",
                 fabric.is_switch(node) ? "SW" : (router ? "Rt" : "CA"),
                 end == end_port(fabric, fabric.sm_port) ? "-SM" : "",
                 info.num_ports,
                 info.system_guid.value(),
                 fabric.node_guid[node].value(),
                 fabric.port_guid[end].value(),
                 info.vendor_id,
                 vendor_digits,
                 info.device_id,
                 info.revision,
                 name,
                 lids.base[end].value(),
                 fabric.number_of(port).value());
}

std::string_view link_state(PortState state) {
  switch (state) {
    case PortState::Active:
      return "ACT";
    case PortState::Armed:
      return "ARM";
    case PortState::Initialize:
      return "INI";
    default:
      return "DWN";
  }
}

/// Gb/s of one lane, as OpenSM writes them; it knows none above 50.
std::string_view lane_speed(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::Sdr:
      return "2.5";
    case LinkSpeed::Ddr:
      return "5";
    case LinkSpeed::Qdr:
      return "10";
    case LinkSpeed::Fdr10:
      return "FDR10";
    case LinkSpeed::Fdr:
      return "14";
    case LinkSpeed::Edr:
      return "25";
    case LinkSpeed::Hdr:
      return "50";
    case LinkSpeed::Ndr:
      return "100";
    case LinkSpeed::Xdr:
      return "200";
    case LinkSpeed::None:
      break;
  }
  return "??";
}

/// The ports that have LIDs.
LidBook book_of(const Fabric& fabric, const LidMap& lids) {
  LidBook book;
  for (const PortIdx port : fabric.peer.indices()) {
    if (lids.base[port] != kUnassignedLid)
      book[fabric.port_guid[port]] = {.base = lids.base[port], .lmc = lids.lmc[port]};
  }
  return book;
}

std::string print_guid2mkey(const LidBook& book, const MKeySources& sources) {
  const MKey name = sources.empty() ? MKey{} : name_of(sources.front());
  std::string out;
  for (const auto& [guid, record] : book)
    fmt::format_to(
        std::back_inserter(out), "{} 0x{:016x}\n\n", guid, find_m_key(sources, guid, name).value());
  return out;
}

constexpr mode_t kForAll = 0644;
constexpr mode_t kForOwner = 0600;

using Sink = std::function<void(std::string_view)>;
using Print = std::function<void(const Sink&)>;

/// Whole or not at all; piece by piece, as `print` gives them.
Result<void> write_file(const std::string& directory,
                        std::string_view name,
                        const Print& print,
                        mode_t mode) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail(Errc::Io, fmt::format("{}: {}", directory, error.message()));
  const std::string path = fmt::format("{}/{}", directory, name), fresh = path + ".new";
  const auto give_up = [&](int number) {
    ::unlink(fresh.c_str());
    return fail(Errc::Io, fmt::format("{}: {}", path, std::strerror(number)));
  };
  ::unlink(fresh.c_str());  // of somebody who was interrupted
  const Descriptor file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (file.get() < 0) return give_up(errno);
  int failed = 0;
  print([&](std::string_view rest) {
    while (!rest.empty() && failed == 0) {
      const ssize_t n = ::write(file.get(), rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) failed = errno;
      if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
    }
  });
  if (failed != 0) return give_up(failed);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return give_up(errno);
  return {};
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

DumpInput dump_input_of(const SubnetManager& manager) {
  return {.in_force = manager.active().current(),
          .multicast = manager.multicast().tables(),
          .m_keys = manager.settings().m_keys,
          .qos = manager.settings().qos,
          .sl_to_vl = manager.program_state().sl_to_vl,
          .blocked = manager.program_state().turns.collect(manager.active().current()->fabric(),
                                                           TurnMemory::Held::Blocked)};
}

namespace {

// A switch at a time: tables of a large subnet are more than a gigabyte of text.

void print_lft_dump(const ActiveSubnet& in_force, const Sink& sink) {
  const Fabric& fabric = in_force.fabric();
  const unsigned top = in_force.routing->lft.top().value();
  std::string out;
  auto to = std::back_inserter(out);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    fmt::format_to(to,
                   "Unicast lids [0-{}] of switch Lid {} guid {} ('{}'):\n",
                   top,
                   in_force.lids->base[fabric.port_of(node, PortNum{0})],
                   fabric.node_guid[node],
                   plain(label_of(fabric, node)));
    for (unsigned value = 1; value <= top; ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const PortNum egress = in_force.routing->lft.route(sw, lid);
      const PortIdx owner = in_force.lids->owner_of(lid);
      if (egress == kNoRoute || owner == kNone<PortIdx>) continue;
      const NodeIdx end = fabric.node_of[owner];
      fmt::format_to(to,
                     "0x{:04x} {:03} # {} portguid {}: '{}'\n",
                     value,
                     egress.value(),
                     kind_of(fabric, end),
                     fabric.port_guid[owner],
                     plain(label_of(fabric, end)));
    }
    fmt::format_to(to, "{} lids dumped\n", top);  // as OpenSM counts: the highest
    sink(out);
    out.clear();
  }
}

std::string collect(const Print& print) {
  std::string out;
  print([&](std::string_view piece) { out += piece; });
  return out;
}

}  // namespace

std::string print_lft_dump(const ActiveSubnet& in_force) {
  return collect([&](const Sink& sink) { print_lft_dump(in_force, sink); });
}

std::string print_mft_dump(const Fabric& fabric, const MftMemory& multicast) {
  std::string out;
  auto to = std::back_inserter(out);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    std::map<unsigned, std::vector<unsigned>> ports;  // by MLID, ascending
    multicast.each_held(guid, [&](MftModifier at, const MftBlock& masks) {
      unsigned mlid = kFirstMlid.value() + at.block * unsigned{kMftBlockSize};
      for (const std::uint16_t mask : masks) {
        for (unsigned bit = 0; bit < 16; ++bit) {
          if ((mask >> bit & 1u) != 0) ports[mlid].push_back(at.position * 16u + bit);
        }
        ++mlid;
      }
    });
    if (ports.empty()) continue;
    fmt::format_to(to, "\nSwitch {}\nLID    : Out Port(s)\n", guid);
    for (auto& [mlid, list] : ports) {
      fmt::format_to(to, "0x{:04X} :", mlid);
      for (const unsigned port : list) fmt::format_to(to, " 0x{:03X} ", port);
      out += '\n';
    }
  }
  return out;
}

namespace {

/// Of a blocked turn nothing but VL 15. Else what the switch confirmed, that which routes need, or
/// that of the site. A switch that maps no SLs has one VL for all.
SlToVl shown_row(const DumpInput& input,
                 const ConfirmedSlToVl::OfSwitch& held,
                 SwitchIdx sw,
                 PortIdx in,
                 PortIdx out) {
  const Fabric& fabric = input.in_force->fabric();
  const PortNum from = fabric.number_of(in), to = fabric.number_of(out);
  if (std::ranges::binary_search(input.blocked, Turn{sw, from, to})) {
    SlToVl none;
    none.fill(kManagementVl);
    return none;
  }
  if (const SlToVl* const row = held.find(from, to)) return *row;
  const SlToVlMaps& rows = input.in_force->rows;
  if (!rows.empty()) return rows.row(sw, from, to);
  return wanted_row(fabric, input.qos, out).value_or(SlToVl{});
}

bool shows_rows(const DumpInput& input) {
  if (!input.in_force->rows->empty() || !input.blocked.empty()) return true;
  const Fabric& fabric = input.in_force->fabric();
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx exit : fabric.external_ports(node)) {
      if (wanted_row(fabric, input.qos, exit)) return true;
    }
  }
  return false;
}

void print_sl2vl_dump(const DumpInput& input, const Sink& sink) {
  const ActiveSubnet& in_force = *input.in_force;
  const Fabric& fabric = in_force.fabric();
  constexpr std::string_view kRule = "#--------------------------------------------------------\n";
  std::string out;
  auto to = std::back_inserter(out);
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    fmt::format_to(to,
                   "Switch {}, base LID {}, \"{}\"\n"
                   "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n{}",
                   fabric.node_guid[node],
                   in_force.lids->base[fabric.port_of(node, PortNum{0})],
                   plain(label_of(fabric, node)),
                   kRule);
    const ConfirmedSlToVl::OfSwitch held = input.sl_to_vl.of(fabric.node_guid[node]);
    for (const PortIdx exit : fabric.external_ports(node)) {
      if (fabric.peer[exit] == kNone<PortIdx>) continue;
      for (const PortIdx in : fabric.ports_of(node)) {
        fmt::format_to(
            to, "{:<3} {:<3} :", fabric.number_of(in).value(), fabric.number_of(exit).value());
        for (const Vl vl : shown_row(input, held, sw, in, exit))
          fmt::format_to(to, " {:<2}", vl.value());
        out += '\n';
      }
    }
    fmt::format_to(to, "{}\n", kRule);
    sink(out);
    out.clear();
  }
}

}  // namespace

std::string print_subnet_list(const Fabric& fabric, const LidMap& lids) {
  std::string out;
  for (const PortIdx port : fabric.peer.indices()) {
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx>) continue;
    add_link_end(fabric, lids, port, 6, out);
    add_link_end(fabric, lids, peer, 8, out);
    const PortInfo& info = fabric.port_info[port];
    fmt::format_to(std::back_inserter(out),
                   "PHY={} LOG={} SPD={}\n",
                   print_link_width(active_width(info)),
                   link_state(std::min(info.state(), fabric.port_info[peer].state())),
                   lane_speed(link_speed(fabric, port)));
  }
  return out;
}

std::string print_neighbors(const Fabric& fabric) {
  using End = std::pair<Guid, PortNum>;
  std::map<End, End> links;
  const auto end_at = [&](PortIdx port) {
    return End{fabric.port_guid[end_port(fabric, port)], fabric.number_of(port)};
  };
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] != kNone<PortIdx>) links[end_at(port)] = end_at(fabric.peer[port]);
  }
  std::string out;
  for (const auto& [from, to] : links) {
    fmt::format_to(
        std::back_inserter(out), "{}:{} {}:{}\n\n", from.first, from.second, to.first, to.second);
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
  for (const NamedText& each : texts) {
    const Print print = [&](const Sink& sink) { sink(each.text); };
    if (auto written = write_file(directory, each.name, print, kForAll); !written) return written;
  }
  return {};
}

Result<std::vector<std::string>> write_opensm_dumps(const std::string& directory,
                                                    const DumpInput& input) {
  const ActiveSubnet& now = *input.in_force;
  const Fabric& fabric = now.fabric();
  const LidBook book = book_of(fabric, now.lids);
  constexpr std::string_view kLanes = "opensm-sl2vl.dump", kKeys = "guid2mkey";
  const std::pair<std::string_view, Print> files[] = {
      {"opensm-lfts.dump", [&](const Sink& sink) { print_lft_dump(now, sink); }},
      {"opensm.mcfdbs", [&](const Sink& sink) { sink(print_mft_dump(fabric, input.multicast)); }},
      {kLanes, [&](const Sink& sink) { print_sl2vl_dump(input, sink); }},
      {"opensm-subnet.lst", [&](const Sink& sink) { sink(print_subnet_list(fabric, now.lids)); }},
      {"guid2lid", [&](const Sink& sink) { sink(print_guid2lid(book)); }},
      {kKeys, [&](const Sink& sink) { sink(print_guid2mkey(book, input.m_keys)); }},
      {"neighbors", [&](const Sink& sink) { sink(print_neighbors(fabric)); }}};
  std::vector<std::string> names;
  for (const auto& [name, print] : files) {
    if (name == kLanes && !shows_rows(input)) {
      ::unlink(fmt::format("{}/{}", directory, name).c_str());
      continue;
    }
    const mode_t mode = name == kKeys ? kForOwner : kForAll;
    if (auto written = write_file(directory, name, print, mode); !written)
      return tl::unexpected<Error>(written.error());
    names.emplace_back(name);
  }
  return names;
}

Result<void> write_dumps(const std::string& directory,
                         const DumpInput& input,
                         const CycleReport& cycle,
                         const std::string& plans) {
  if (auto written = write_opensm_dumps(directory, input); !written)
    return tl::unexpected<Error>(written.error());
  const ActiveSubnet& now = *input.in_force;
  return write_texts(
      directory,
      {{"fabric.net", print_net(now.fabric(), now.lids)}, {"plan.txt", print_plan(cycle, plans)}});
}

void DumpWriter::write(std::string directory, DumpInput input) {
  busy_ = true;
  last_.reset();
  work_.offload_aside(
      runtime_,
      [directory, input = std::move(input)] { return write_opensm_dumps(directory, input); },
      [this, directory](const Result<std::vector<std::string>>& written) {
        busy_ = false;
        last_ = Outcome{.directory = directory, .files = {}, .why = {}};
        if (written) {
          last_->files = *written;
        } else {
          last_->why = written.error().context;
        }
      });
}

}  // namespace smd
