#include "tests/support/fabric_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "smd/fabric/builder.h"

namespace smd::test {
namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view token) {
  std::fprintf(stderr,
               "fabric_from: %.*s: '%.*s'\n",
               static_cast<int>(what.size()),
               what.data(),
               static_cast<int>(token.size()),
               token.data());
  std::abort();
}

struct End {
  std::string name;
  unsigned port = 0;  // 0: the lowest free one
};

struct Link {
  End a, b;
  bool fresh = false;
};

struct Text {
  std::vector<std::string> names;         // in order of appearance
  std::map<std::string, unsigned> ports;  // number of ports
  std::map<std::string, std::map<unsigned, bool>> used;
  std::vector<Link> links;

  void add(const std::string& name) {
    if (name.empty() || std::string_view{"SHR"}.find(name[0]) == std::string_view::npos)
      refuse("a name starts with S, H or R", name);
    if (ports.emplace(name, 1).second) names.push_back(name);
  }

  void use(const std::string& name, unsigned number) {
    used[name][number] = true;
    ports[name] = std::max(ports[name], number);
  }
};

End read_end(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, 0};
  return {text.substr(0, colon),
          static_cast<unsigned>(std::strtoul(text.c_str() + colon + 1, nullptr, 10))};
}

Text read(std::string_view input) {
  Text text;
  std::istringstream tokens{std::string{input}};
  for (std::string token; tokens >> token;) {
    const std::size_t dash = token.find_first_of("-~");
    if (dash == std::string::npos) {
      const std::size_t slash = token.find('/');
      const std::string name = token.substr(0, slash);
      text.add(name);
      if (slash != std::string::npos)
        text.ports[name] = static_cast<unsigned>(std::atoi(token.c_str() + slash + 1));
      continue;
    }
    const Link link{
        read_end(token.substr(0, dash)), read_end(token.substr(dash + 1)), token[dash] == '~'};
    for (const End& end : {link.a, link.b}) {
      text.add(end.name);
      if (end.port != 0) text.use(end.name, end.port);
    }
    text.links.push_back(link);
  }
  for (Link& link : text.links) {
    for (End* end : {&link.a, &link.b}) {
      if (end->port != 0) continue;
      end->port = 1;
      while (text.used[end->name][end->port]) ++end->port;
      text.use(end->name, end->port);
    }
  }
  return text;
}

NodeInfo make_info(const std::string& name, unsigned ports, std::size_t order) {
  const char* digits = name.c_str() + 1;
  char* end = nullptr;
  std::uint64_t number = std::strtoul(digits, &end, 10);
  if (end == digits || *end != '\0') number = 0x800 + order;  // "Sroot" has no number of its own
  NodeInfo info;
  info.num_ports = static_cast<std::uint8_t>(ports);
  info.local_port = PortNum{1};
  switch (name[0]) {
    case 'S':
      info.node_type = static_cast<std::uint8_t>(NodeType::Switch);
      info.node_guid = info.port_guid = Guid{0x1000 + number};
      break;
    case 'H':
      info.node_type = static_cast<std::uint8_t>(NodeType::Ca);
      info.node_guid = Guid{0x20000 + (number << 8)};
      break;
    default:
      info.node_type = static_cast<std::uint8_t>(NodeType::Router);
      info.node_guid = Guid{0x3000000 + (number << 8)};
      break;
  }
  if (name[0] != 'S') info.port_guid = Guid{info.node_guid.value() + 1};
  info.system_guid = info.node_guid;
  return info;
}

PortInfo make_port_info(PortState state) {
  PortInfo info;
  info.port_state = static_cast<std::uint8_t>(state);
  info.port_physical_state =
      static_cast<std::uint8_t>(state == PortState::Down ? PhysState::Polling : PhysState::LinkUp);
  info.mtu_cap = info.neighbor_mtu = static_cast<std::uint8_t>(Mtu::B4096);
  info.vl_cap = info.operational_vls = 4;
  return info;
}

}  // namespace

std::shared_ptr<const Fabric> fabric_from_shared(std::string_view input) {
  const Text text = read(input);
  FabricBuilder builder;
  std::map<std::string, NodeIdx> nodes;
  for (const std::string& name : text.names) {
    const unsigned ports = text.ports.at(name);
    const NodeInfo info = make_info(name, ports, nodes.size());
    const NodeIdx node = builder.add_node(info);
    nodes[name] = node;
    builder.set_description(node, name);
    for (unsigned p = 0; p <= ports; ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      builder.set_port_info(
          node, number, make_port_info(p == 0 ? PortState::Active : PortState::Down));
      if (!info.is_switch() && p != 0)
        builder.set_port_guid(node, number, Guid{info.node_guid.value() + p});
    }
    if (info.is_switch()) {
      SwitchInfo switch_info;
      switch_info.linear_fdb_cap = 49152;
      builder.set_switch_info(node, switch_info);
    }
  }
  for (const Link& link : text.links) {
    const PortNum a{static_cast<std::uint8_t>(link.a.port)};
    const PortNum b{static_cast<std::uint8_t>(link.b.port)};
    const PortInfo info = make_port_info(link.fresh ? PortState::Initialize : PortState::Active);
    builder.add_link(nodes[link.a.name], a, nodes[link.b.name], b);
    builder.set_port_info(nodes[link.a.name], a, info);
    builder.set_port_info(nodes[link.b.name], b, info);
  }
  if (!text.names.empty()) {
    const bool on_switch = text.names[0][0] == 'S';
    builder.set_sm_port(NodeIdx{0}, PortNum{static_cast<std::uint8_t>(on_switch ? 0 : 1)});
  }
  return builder.build(Epoch{1});
}

Fabric fabric_from(std::string_view text) { return *fabric_from_shared(text); }

NodeIdx node(const Fabric& fabric, std::string_view name) {
  for (const NodeIdx n : fabric.node_guid.indices()) {
    if (fabric.description[n] == name) return n;
  }
  refuse("no such node", name);
}

SwitchIdx switch_named(const Fabric& fabric, std::string_view name) {
  return fabric.switch_of[node(fabric, name)];
}

PortIdx port(const Fabric& fabric, std::string_view name) {
  const End end = read_end(std::string{name});
  return fabric.port_of(node(fabric, end.name), PortNum{static_cast<std::uint8_t>(end.port)});
}

PortIdx end_port(const Fabric& fabric, std::string_view name) {
  for (const PortIdx p : fabric.ports_of(node(fabric, name))) {
    if (fabric.is_end_port(p)) return p;
  }
  refuse("no end port", name);
}

LidMap lids_in_order(const Fabric& fabric, std::uint8_t lmc) {
  LidMap map = make_lid_map(fabric);
  unsigned at = 1;
  for (const PortIdx p : fabric.peer.indices()) {
    if (!fabric.is_end_port(p)) continue;
    const std::uint8_t own = fabric.is_switch(fabric.node_of[p]) ? std::uint8_t{0} : lmc;
    const unsigned size = 1u << own;
    at = (at + size - 1) / size * size;
    set_lid(map, p, Lid{static_cast<std::uint16_t>(at)}, own);
    at += size;
  }
  return map;
}

}  // namespace smd::test
