// Nodes, links, routes, agents and hot ports as JSON.
#include "smd/report/subnet_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "smd/base/text.h"
#include "smd/policy/partition_orders.h"

namespace smd {

namespace {

using Json = nlohmann::json;

PortIdx first_end_port(const ActiveSubnet& now, NodeIdx node) {
  for (PortIdx port : now.fabric().ports_of(node)) {
    if (now.lids->base[port] != kUnassignedLid) return port;
  }
  return kNone<PortIdx>;
}

Lid lid_of(const ActiveSubnet& now, NodeIdx node) {
  const PortIdx port = first_end_port(now, node);
  return port == kNone<PortIdx> ? kUnassignedLid : now.lids->base[port];
}

/// kUnassignedLid when the text is no LID that somebody has.
Lid parse_lid(const ActiveSubnet& now, const std::string& text) {
  std::uint16_t lid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lid);
  if (error != std::errc{} || end != text.data() + text.size()) return kUnassignedLid;
  return now.lids->owner_of(Lid{lid}) == kNone<PortIdx> ? kUnassignedLid : Lid{lid};
}

/// kNone when no node is called so; the name of two nodes is an error. Nobody takes a GUID or the
/// operator's name away from a node by describing himself so.
Result<NodeIdx> find_named(const Fabric& fabric, const std::string& name) {
  const auto find = [&](auto&& calls) {
    std::vector<NodeIdx> found;
    for (const NodeIdx node : fabric.node_guid.indices()) {
      if (calls(node)) found.push_back(node);
    }
    return found;
  };
  std::vector<NodeIdx> found =
      find([&](NodeIdx node) { return fmt::format("{}", fabric.node_guid[node]) == name; });
  if (found.empty() && fabric.site_nodes)
    found = find([&](NodeIdx node) {
      return &label_of(fabric, node) != &fabric.description[node] && label_of(fabric, node) == name;
    });
  if (found.empty()) found = find([&](NodeIdx node) { return fabric.description[node] == name; });
  if (found.size() > 1)
    return fail(Errc::Invalid,
                fmt::format("more than one node is called '{}'; use its GUID", name));
  return found.empty() ? kNone<NodeIdx> : found.front();
}

Json node_json(const ActiveSubnet& now, NodeIdx node) {
  const Fabric& fabric = now.fabric();
  unsigned linked = 0;
  for (PortIdx port : fabric.external_ports(node)) {
    linked += fabric.peer[port] != kNone<PortIdx> ? 1 : 0;
  }
  Json out{{"guid", fmt::format("{}", fabric.node_guid[node])},
           {"type", print_node_type(static_cast<NodeType>(fabric.node_info[node].node_type))},
           {"description", fabric.description[node]},
           {"lid", lid_of(now, node).value()},
           {"ports", fabric.num_ports(node)},
           {"linked_ports", linked}};
  if (label_of(fabric, node) != fabric.description[node]) out["name"] = label_of(fabric, node);
  return out;
}

/// Of a port: its own, else that of its node.
Lid lid_at(const ActiveSubnet& now, PortIdx port) {
  const Lid own = now.lids->base[port];
  return own != kUnassignedLid ? own : lid_of(now, now.fabric().node_of[port]);
}

struct RouteEnd {
  NodeIdx node;
  PortIdx port;
  Lid lid;
};

Result<RouteEnd> find_end(const ActiveSubnet& now, const std::string& name) {
  const auto node = find_node(now, name);
  if (!node) return tl::unexpected<Error>(node.error());
  const auto named = find_named(now.fabric(), name);
  const bool by_lid = named && *named == kNone<NodeIdx>;
  const Lid lid = by_lid ? parse_lid(now, name) : lid_of(now, *node);
  if (lid == kUnassignedLid) {
    return fail(Errc::Unreachable, fmt::format("{} has no LID", name_of(now.fabric(), *node)));
  }
  return RouteEnd{*node, now.lids->owner_of(lid), lid};
}

/// The port by which data for the LID leaves; kNone when it is discarded.
PortIdx exit_port(const ActiveSubnet& now, NodeIdx node, const RouteEnd& from, Lid lid) {
  const Fabric& fabric = now.fabric();
  if (!fabric.is_switch(node)) return node == from.node ? from.port : kNone<PortIdx>;
  const SwitchIdx sw = fabric.switch_of[node];
  PortNum egress = now.routing->lft.route(sw, lid);
  if (egress == kNoRoute && now.routing->default_port.size() > 0) {
    egress = now.routing->default_port[sw];
  }
  return egress.value() == 0 || egress.value() > fabric.num_ports(node)
             ? kNone<PortIdx>
             : fabric.port_of(node, egress);
}

constexpr std::size_t kMostListed = 100;

Json hot_json(const CcManager& cc_manager, const ActiveSubnet& now) {
  using Item = std::pair<CcPort, HotPort>;
  std::vector<Item> items(cc_manager.hot().begin(), cc_manager.hot().end());
  std::ranges::stable_sort(
      items, std::ranges::greater{}, [](const Item& item) { return item.second.readings; });
  if (items.size() > kMostListed) items.resize(kMostListed);
  Json out = Json::array();
  for (const auto& [key, hot] : items) {
    const auto node = now.fabric().find_node(key.first);
    if (!node) continue;
    const Duration ago = cc_manager.now() - hot.last;
    out.push_back({{"node", name_of(now.fabric(), *node)},
                   {"guid", fmt::format("{}", key.first)},
                   {"port", key.second.value()},
                   {"readings", hot.readings},
                   {"events", hot.events},
                   {"seconds_ago", in_seconds(ago)}});
  }
  return out;
}

Json others_json(const CcManager& cc_manager) {
  Json out = Json::array();
  for (const auto& [key, known] : cc_manager.agents()) {
    if (known.agent.is_confirmed() || out.size() == kMostListed) continue;
    out.push_back({{"node", known.name},
                   {"guid", fmt::format("{}", key.first)},
                   {"port", key.second.value()},
                   {"standing", print_cc_agent_status(known.agent.status())},
                   {"trouble", known.agent.trouble()}});
  }
  return out;
}

}  // namespace

Result<NodeIdx> find_node(const ActiveSubnet& now, const std::string& name) {
  const auto named = find_named(now.fabric(), name);
  if (!named || *named != kNone<NodeIdx>) return named;
  if (const Lid lid = parse_lid(now, name); lid != kUnassignedLid) {
    return now.fabric().node_of[now.lids->owner_of(lid)];
  }
  return fail(Errc::Invalid,
              fmt::format("no node is called '{}'; a description, GUID or LID would be", name));
}

PortIdx find_end_port(const Fabric& fabric, Guid guid) {
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.is_end_port(port) && fabric.port_guid[port] == guid) return port;
  }
  return kNone<PortIdx>;
}

namespace {

/// Of a node that is named without a port.
Result<PortIdx> find_only_end_port(const Fabric& fabric, NodeIdx node) {
  PortIdx found = kNone<PortIdx>;
  for (const PortIdx port : fabric.ports_of(node)) {
    if (!fabric.is_end_port(port)) continue;
    if (found != kNone<PortIdx>)
      return fail(
          Errc::Invalid,
          fmt::format("{0} has several ports; {0}:1, or the GUID of one", name_of(fabric, node)));
    found = port;
  }
  if (found != kNone<PortIdx>) return found;
  return fail(Errc::Invalid, fmt::format("{} has no end port", name_of(fabric, node)));
}

/// "host-3", "host-3:1", "host-3/1" or "host-3/P1".
Result<PortIdx> find_port_by_name(const ActiveSubnet& now, const std::string& text) {
  const Fabric& fabric = now.fabric();
  if (const auto node = find_node(now, text)) return find_only_end_port(fabric, *node);
  const std::size_t mark = text.find_last_of(":/");
  const auto no_port = [&text] {
    return fail(Errc::Invalid,
                fmt::format("'{}' is no port; a port GUID such as 0x0002c90300000001, or NODE:PORT "
                            "as in smctl nodes",
                            printable(text)));
  };
  if (mark == std::string::npos || mark == 0) return no_port();
  std::string_view number = std::string_view(text).substr(mark + 1);
  if (number.starts_with('P')) number.remove_prefix(1);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || error != std::errc{} || end != number.data() + number.size())
    return no_port();
  const auto node = find_node(now, text.substr(0, mark));
  if (!node) return tl::unexpected<Error>(node.error());
  const bool is_switch = fabric.is_switch(*node);
  if (value > fabric.num_ports(*node) || (is_switch ? value != 0 : value == 0))
    return fail(Errc::Invalid,
                fmt::format("{} has no end port {}; {}",
                            name_of(fabric, *node),
                            value,
                            is_switch ? std::string("0")
                                      : fmt::format("1 to {}", fabric.num_ports(*node))));
  return fabric.port_of(*node, PortNum{static_cast<std::uint8_t>(value)});
}

}  // namespace

Result<Guid> find_port_guid(const ActiveSubnet& now, const std::string& text) {
  const Fabric& fabric = now.fabric();
  if (!text.starts_with("0x")) {
    const auto port = find_port_by_name(now, text);
    if (!port) return tl::unexpected<Error>(port.error());
    const Guid guid = fabric.port_guid[*port];
    if (!may_be_port_guid(guid))
      return fail(
          Errc::Invalid,
          fmt::format("'{}' says that its port GUID is {}, which is none", printable(text), guid));
    return guid;
  }
  const auto guid = parse_port_guid(text);
  if (!guid)
    return fail(
        Errc::Invalid,
        fmt::format("'{}' is no port GUID; 0x and up to 16 hexadecimal digits, neither 0 nor "
                    "all ones",
                    printable(text)));
  if (const auto node = fabric.find_node(*guid);
      node && find_end_port(fabric, *guid) == kNone<PortIdx>) {
    std::string ports;
    for (const PortIdx port : fabric.ports_of(*node)) {
      if (fabric.is_end_port(port)) ports += fmt::format(" {}", fabric.port_guid[port]);
    }
    return fail(Errc::Invalid,
                fmt::format("{} is the GUID of the node {}; those of its ports are{}",
                            *guid,
                            name_of(fabric, *node),
                            ports));
  }
  return *guid;
}

Json link_json(const ActiveSubnet& now, PortIdx port) {
  const Fabric& fabric = now.fabric();
  const PortIdx peer = fabric.peer[port];
  const PortInfo& info = fabric.port_info[port];
  const PortState state = std::min(info.state(), fabric.port_info[peer].state());
  return {{"from", name_of(fabric, fabric.node_of[port])},
          {"from_port", fabric.number_of(port).value()},
          {"from_lid", lid_at(now, port).value()},
          {"to", name_of(fabric, fabric.node_of[peer])},
          {"to_port", fabric.number_of(peer).value()},
          {"to_lid", lid_at(now, peer).value()},
          {"width", print_link_width(active_width(info))},
          {"speed", print_link_speed(link_speed(fabric, port))},
          {"state", print_port_state(state)}};
}

Json nodes_json(const ActiveSubnet& now, bool switches_only) {
  Json out = Json::array();
  for (NodeIdx node : now.fabric().node_guid.indices()) {
    if (!switches_only || now.fabric().is_switch(node)) out.push_back(node_json(now, node));
  }
  return out;
}

Json links_json(const ActiveSubnet& now) {
  Json out = Json::array();
  const Fabric& fabric = now.fabric();
  for (PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] != kNone<PortIdx> && port <= fabric.peer[port]) {
      out.push_back(link_json(now, port));
    }
  }
  return out;
}

Result<Json> route_json(const ActiveSubnet& now, const std::string& from, const std::string& to) {
  const auto start = find_end(now, from);
  if (!start) return tl::unexpected<Error>(start.error());
  const auto end = find_end(now, to);
  if (!end) return tl::unexpected<Error>(end.error());

  const Fabric& fabric = now.fabric();
  Json hops = Json::array();
  NodeIdx at = start->node;
  while (at != end->node) {
    const PortIdx out = exit_port(now, at, *start, end->lid);
    if (out == kNone<PortIdx> || fabric.peer[out] == kNone<PortIdx>) {
      return fail(Errc::Unreachable,
                  fmt::format("the route to lid {} ends at {}", end->lid, name_of(fabric, at)));
    }
    if (hops.size() > fabric.switch_count() + 1) {
      return fail(Errc::Unreachable, fmt::format("the route to lid {} goes round", end->lid));
    }
    hops.push_back(link_json(now, out));
    at = fabric.node_of[fabric.peer[out]];
  }
  return Json{{"from", name_of(fabric, start->node)},
              {"from_lid", start->lid.value()},
              {"to", name_of(fabric, end->node)},
              {"lid", end->lid.value()},
              {"hops", hops}};
}

Json multicast_json(const MulticastManager& multicast) {
  const auto rounded = [](double value) { return std::round(value * 100.0) / 100.0; };
  const Fabric& fabric = multicast.fabric();
  const TreeReport& summary = multicast.summary();
  const MulticastStats& stats = multicast.stats();
  Json out = {{"groups", multicast.groups().groups().size()},
              {"mlids", summary.trees},
              {"stranded", stats.stranded},
              {"unconfirmed", stats.unmet},
              {"deadlock_free", nullptr},
              {"trees", Json::array()}};
  if (stats.acyclic) out["deadlock_free"] = *stats.acyclic;
  if (!stats.shape_refused.empty()) out["shape_refused"] = stats.shape_refused;
  if (summary.cables.most > 0) {
    out["cables"] = {{"used", summary.cables.cables},
                     {"most_trees", summary.cables.most},
                     {"mean_trees", rounded(summary.cables.mean())},
                     {"fullest", print_port(fabric, summary.cables.fullest)}};
  }
  for (const auto& [mlid, members, sender, quality] : summary.largest) {
    out["trees"].push_back({{"mlid", fmt::format("0x{:04x}", mlid.value())},
                            {"members", members},
                            {"cables", quality.cables},
                            {"hops", rounded(quality.mean_hops())},
                            {"hops_shortest", rounded(quality.mean_shortest_hops())},
                            {"depth", quality.depth},
                            {"depth_shortest", quality.shortest_depth},
                            {"channels", rounded(quality.mean_channels())},
                            {"channels_shortest", rounded(quality.mean_shortest_channels())},
                            {"channels_unicast", rounded(quality.mean_unicast_channels())},
                            {"sampled", quality.sampled}});
    if (sender != kNone<PortIdx>) out["trees"].back()["only_sender"] = print_port(fabric, sender);
  }
  if (summary.trees > summary.largest.size())
    out["trees_not_shown"] = summary.trees - summary.largest.size();
  return out;
}

Json path_watch_json(const PathWatch& watch, const ActiveSubnet* now) {
  constexpr std::size_t kMostLinks = 10;
  Json out = {{"rounds", watch.stats().rounds},
              {"ports", watch.ports()},
              {"readings", watch.stats().readings},
              {"skipped", watch.stats().skipped},
              {"busy", watch.stats().busy},
              {"given_up", watch.stats().given_up},
              {"mads", {{"sent", watch.mads().sent}, {"timeouts", watch.mads().timeouts}}},
              {"switches_without_counters", watch.without_counters()},
              {"contended_links", watch.order().contended().size()},
              {"most_contended", Json::array()}};
  using Item = std::pair<sa::PathOrder::Link, std::uint32_t>;
  std::vector<Item> items(watch.order().contended().begin(), watch.order().contended().end());
  std::ranges::stable_sort(items, std::ranges::greater{}, &Item::second);
  if (items.size() > kMostLinks) items.resize(kMostLinks);
  for (const auto& [link, value] : items) {
    const auto node = now == nullptr ? std::nullopt : now->fabric().find_node(link.first);
    out["most_contended"].push_back({{"node", node ? name_of(now->fabric(), *node) : ""},
                                     {"guid", fmt::format("{}", link.first)},
                                     {"port", link.second.value()},
                                     {"contention", value / 100.0}});
  }
  return out;
}

Json congestion_json(const CcManager& cc_manager, const ActiveSubnet* now) {
  Json out = {{"enabled", cc_manager.enabled()}};
  if (!cc_manager.enabled()) return out;
  std::size_t confirmed = 0;
  std::size_t disobeying = 0;
  std::size_t refusing = 0;
  for (const auto& [key, known] : cc_manager.agents()) {
    confirmed += known.agent.is_confirmed() ? 1 : 0;
    disobeying += known.agent.disobeys() ? 1 : 0;
    refusing += known.agent.refuses() ? 1 : 0;
  }
  const CcStats& stats = cc_manager.stats();
  out["agents"] = {{"all", cc_manager.agents().size()},
                   {"managed", cc_manager.count(CcAgentStatus::Managed)},
                   {"confirmed", confirmed},
                   {"unsupported", cc_manager.count(CcAgentStatus::Unsupported)},
                   {"silent", cc_manager.count(CcAgentStatus::Silent)},
                   {"foreign_key", cc_manager.count(CcAgentStatus::ForeignKey)},
                   {"disobeying", disobeying},
                   {"refusing", refusing}};
  out["mads"] = {{"gets", stats.gets},
                 {"sets", stats.sets},
                 {"logs", stats.logs},
                 {"sent", cc_manager.mads().sent},
                 {"timeouts", cc_manager.mads().timeouts}};
  out["key_violations"] = stats.violations;
  out["plan"] = cc::print_plan(cc_manager.plan());
  out["refusal"] = cc_manager.plan().refusal;
  out["others"] = others_json(cc_manager);
  out["hot"] = now == nullptr ? Json::array() : hot_json(cc_manager, *now);
  return out;
}

}  // namespace smd
