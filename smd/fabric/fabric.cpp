#include "smd/fabric/fabric.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "smd/base/check.h"
#include "smd/base/text.h"
#include "smd/fabric/hosts.h"
#include "smd/mad/tables.h"
#include "smd/mad/vendor.h"

namespace smd {
namespace {

constexpr std::uint16_t kAggregationNode = 0xcf09;  // of Quantum switches, all generations
constexpr std::uint32_t kHeaviest = 0xffff;  // keeps loads of the largest subnet within 56 bits

// `*` and `?`. Where a try fails, the last star takes one character more.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::optional<Guid> parse_guid(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, value, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return Guid{value};
}

// The operator's list of who sends no data, sorted out.
class AdapterList {
 public:
  explicit AdapterList(const std::vector<std::string>& list) {
    for (const std::string& each : list) {
      if (const auto guid = parse_guid(each)) {
        guids_.push_back(*guid);
      } else {
        patterns_.push_back(each);
      }
    }
    std::ranges::sort(guids_);
  }

  [[nodiscard]] bool has(Guid guid) const { return std::ranges::binary_search(guids_, guid); }

  [[nodiscard]] bool has(std::string_view description) const {
    return std::ranges::any_of(patterns_,
                               [&](const auto& each) { return matches(each, description); });
  }

 private:
  std::vector<Guid> guids_;
  std::vector<std::string> patterns_;
};

bool is_router(const Fabric& fabric, NodeIdx node) {
  return fabric.node_info[node].node_type == static_cast<std::uint8_t>(NodeType::Router);
}

std::string check_nodes(const Fabric& f) {
  const std::size_t nodes = f.node_count();
  if (f.first_port.size() != nodes + 1 && !(nodes == 0 && f.first_port.empty()))
    return fmt::format("first_port has {} entries for {} nodes", f.first_port.size(), nodes);
  if (f.switch_of.size() != nodes || f.node_info.size() != nodes || f.description.size() != nodes)
    return "arrays per node differ in length";
  if (nodes == 0) return f.port_count() == 0 ? "" : "ports without nodes";
  if (f.first_port[NodeIdx{0}] != 0) return "first_port does not start at 0";
  for (const NodeIdx node : f.node_guid.indices()) {
    if (f.first_port[next(node)] <= f.first_port[node])
      return fmt::format("node {} has no port 0", node);
    if (f.num_ports(node) != f.node_info[node].num_ports)
      return fmt::format("node {} has {} ports, its NodeInfo says {}",
                         node,
                         f.num_ports(node),
                         f.node_info[node].num_ports);
    if (f.node_guid[node] != f.node_info[node].node_guid)
      return fmt::format("node {} is {} here and {} in its NodeInfo",
                         node,
                         f.node_guid[node],
                         f.node_info[node].node_guid);
  }
  return "";
}

std::string check_guids(const Fabric& f) {
  for (const NodeIdx node : f.node_guid.indices()) {
    const std::optional<NodeIdx> found = f.find_node(f.node_guid[node]);
    if (!found) return fmt::format("{} cannot be looked up", f.node_guid[node]);
    if (*found != node)
      return fmt::format("{} is node {} and node {}", f.node_guid[node], *found, node);
  }
  if (f.node_by_guid->size() != f.node_count()) return "node_by_guid knows a node that is not here";
  return "";
}

std::string check_switches(const Fabric& f) {
  if (f.switch_info.size() != f.switch_count()) return "arrays per switch differ in length";
  SwitchIdx expected{0};
  for (const NodeIdx node : f.node_guid.indices()) {
    if (f.is_switch(node) != f.node_info[node].is_switch())
      return fmt::format("node {} is a switch in only one of switch_of and NodeInfo", node);
    if (!f.is_switch(node)) continue;
    if (f.switch_of[node] != expected || expected.value() >= f.switch_count() ||
        f.switch_node[expected] != node)
      return fmt::format("switch numbers do not follow node order at node {}", node);
    expected = next(expected);
  }
  if (expected.value() != f.switch_count()) return "switch_node names a node that is no switch";
  return "";
}

std::string check_ports(const Fabric& f) {
  const std::size_t ports = f.port_count();
  if (f.node_of.size() != ports || f.port_guid.size() != ports || f.port_info.size() != ports)
    return "arrays per port differ in length";
  if (f.first_port[NodeIdx{static_cast<std::uint32_t>(f.node_count())}] != ports)
    return "first_port does not end at the last port";
  for (const NodeIdx node : f.node_guid.indices()) {
    for (const PortIdx port : f.ports_of(node)) {
      if (f.node_of[port] != node) return fmt::format("port {} is not of node {}", port, node);
    }
  }
  return "";
}

std::string check_links(const Fabric& f) {
  for (const PortIdx port : f.peer.indices()) {
    const PortIdx peer = f.peer[port];
    if (peer == kNone<PortIdx>) continue;
    if (peer.value() >= f.port_count())
      return fmt::format("{} leads to port {}, which does not exist", print_port(f, port), peer);
    if (f.peer[peer] != port)
      return fmt::format("{} leads to {}, but not back", print_port(f, port), print_port(f, peer));
    if (f.number_of(port) == PortNum{0})
      return fmt::format("{} has a cable; port 0 is never connected", print_port(f, port));
  }
  return "";
}

std::string check_switch_guids(const Fabric& f) {
  for (const NodeIdx node : f.switch_node) {
    for (const PortIdx port : f.ports_of(node)) {
      if (f.port_guid[port] != f.port_guid[f.port_of(node, PortNum{0})])
        return fmt::format("{} has a port GUID of its own on a switch", print_port(f, port));
    }
  }
  return "";
}

std::string check_manager(const Fabric& f) {
  if (f.sm_node == kNone<NodeIdx>)
    return f.sm_port == kNone<PortIdx> ? "" : "the manager has a port but no node";
  if (f.sm_node.value() >= f.node_count()) return "the manager's node does not exist";
  if (f.sm_port.value() >= f.port_count() || f.node_of[f.sm_port] != f.sm_node)
    return "the manager's port is not of its node";
  if (f.is_switch(f.sm_node) != (f.number_of(f.sm_port) == PortNum{0}))
    return "the manager's port is port 0 of a switch, or another port of anything else";
  return "";
}

/// An adapter none of whose ports sends data, by what the operator says.
bool is_excepted(const Fabric& fabric, NodeIdx node) {
  bool sends = fabric.demand.empty() || fabric.num_ports(node) == 0;
  for (const PortIdx port : fabric.external_ports(node))
    sends = sends || fabric.demand_of(port) != 0;
  return !sends;
}

/// 1 of "host-00003 mlx5_1": the number that the last of several words ends with.
std::optional<std::uint32_t> device_number(std::string_view description) {
  const std::size_t space = description.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = description.substr(space + 1);
  const std::size_t letters = word.find_last_not_of("0123456789");
  if (letters == std::string_view::npos || letters + 1 == word.size()) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + letters + 1, end, number);
  return stop == end && error == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Of the adapters of one host, in node order.
void number_devices(std::span<const SystemNode> nodes,
                    const std::vector<std::uint32_t>& of_host,
                    std::vector<std::uint32_t>& device) {
  std::vector<std::uint32_t> called;
  for (const std::uint32_t node : of_host) {
    if (const auto number = device_number(nodes[node].description)) called.push_back(*number);
  }
  std::vector<std::uint32_t> sorted = called;
  std::ranges::sort(sorted);
  const bool all_differ =
      called.size() == of_host.size() && std::ranges::adjacent_find(sorted) == sorted.end();
  for (std::uint32_t i = 0; i < of_host.size(); ++i)
    device[of_host[i]] = all_differ ? called[i] : i;
}

std::string check_demand(const Fabric& f) {
  return f.demand == list_demand(f) ? "" : "demand is not what nodes and rules say";
}

}  // namespace

std::optional<NodeIdx> Fabric::find_node(Guid guid) const {
  const auto found = node_by_guid->find(guid);
  if (found == node_by_guid->end()) return std::nullopt;
  return found->second;
}

bool Fabric::is_end_port(PortIdx port) const {
  const bool zero = number_of(port) == PortNum{0};
  if (is_switch(node_of[port])) return zero;
  // A link from a port to itself leads nowhere, so it makes no end of a path.
  return !zero && peer[port] != kNone<PortIdx> && peer[port] != port;
}

std::uint32_t Fabric::demand_of(PortIdx port) const {
  if (demand.empty()) return 1;
  const auto at = std::ranges::lower_bound(demand, port, {}, &decltype(demand)::value_type::first);
  return at != demand.end() && at->first == port ? at->second : 1;
}

bool Fabric::is_host(PortIdx port) const {
  return !is_switch(node_of[port]) && is_end_port(port) && demand_of(port) != 0;
}

bool is_aggregation_node(const Fabric& fabric, NodeIdx node) {
  const NodeInfo& info = fabric.node_info[node];
  if (info.node_type != static_cast<std::uint8_t>(NodeType::Ca)) return false;
  return (info.vendor_id == kMellanox && info.device_id == kAggregationNode) ||
         fabric.description[node].find("Aggregation Node") != std::string::npos;
}

std::vector<std::pair<PortIdx, std::uint32_t>> list_demand(const Fabric& fabric) {
  static const SiteNodes none;
  const SiteNodes& rules = fabric.site_nodes ? *fabric.site_nodes : none;
  const AdapterList excepted{rules.no_data};
  std::vector<std::pair<PortIdx, std::uint32_t>> out;
  for (const NodeIdx node : fabric.node_guid.indices()) {
    const bool is_switch = fabric.is_switch(node);
    if (is_switch && rules.weights.empty()) continue;
    const bool no_data =
        !is_switch &&
        (is_router(fabric, node) || is_aggregation_node(fabric, node) ||
         excepted.has(fabric.node_guid[node]) || excepted.has(fabric.description[node]));
    for (const PortIdx port : fabric.ports_of(node)) {
      if ((fabric.number_of(port) == PortNum{0}) != is_switch) continue;
      const Guid guid = fabric.port_guid[port];
      const auto said =
          std::ranges::lower_bound(rules.weights, guid, {}, &std::pair<Guid, std::uint32_t>::first);
      // A weight that is said goes before what the node looks like.
      if (said != rules.weights.end() && said->first == guid) {
        if (said->second != 1 || no_data) out.emplace_back(port, std::min(said->second, kHeaviest));
      } else if (no_data || (!is_switch && excepted.has(guid))) {
        out.emplace_back(port, 0);
      }
    }
  }
  return out;
}

AdapterCounts count_no_data(const Fabric& fabric) {
  AdapterCounts counts;
  for (const NodeIdx node : fabric.node_guid.indices()) {
    if (fabric.is_switch(node)) continue;
    if (is_router(fabric, node)) {
      ++counts.routers;
    } else if (is_aggregation_node(fabric, node)) {
      ++counts.aggregation_nodes;
    } else {
      counts.excepted += is_excepted(fabric, node);
    }
  }
  return counts;
}

std::string print_adapters(std::size_t adapters, const AdapterCounts& no_data) {
  std::string text = fmt::format("{} adapters", adapters);
  const char* of_them = " of them";
  const auto add = [&](std::size_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    text += fmt::format(", {}{} {}", count, std::exchange(of_them, ""), count == 1 ? one : many);
  };
  add(no_data.aggregation_nodes, "aggregation node", "aggregation nodes");
  add(no_data.routers, "router", "routers");
  add(no_data.excepted, "without data", "without data");
  return text;
}

HostAdapters group_adapters(std::span<const SystemNode> nodes) {
  std::unordered_set<Guid> with_switch;
  for (const SystemNode& node : nodes) {
    if (node.type == NodeType::Switch) with_switch.insert(node.system);
  }
  HostAdapters out{.host = std::vector<std::uint32_t>(nodes.size(), kNoHost),
                   .device = std::vector<std::uint32_t>(nodes.size(), 0),
                   .adapters = {}};
  std::vector<std::vector<std::uint32_t>> of_host;
  std::unordered_map<Guid, std::uint32_t> host_of;  // look-ups only
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    const SystemNode& node = nodes[n];
    if (node.type != NodeType::Ca || !node.is_host) continue;
    auto host = static_cast<std::uint32_t>(of_host.size());
    if (node.system != Guid{} && !with_switch.contains(node.system))
      host = host_of.try_emplace(node.system, host).first->second;
    if (host == of_host.size()) of_host.emplace_back();
    of_host[host].push_back(n);
    out.host[n] = host;
  }
  for (const std::vector<std::uint32_t>& each : of_host) {
    out.adapters.push_back(static_cast<std::uint32_t>(each.size()));
    number_devices(nodes, each, out.device);
  }
  return out;
}

HostAdapters group_adapters(const Fabric& fabric) {
  std::vector<SystemNode> nodes;
  nodes.reserve(fabric.node_count());
  for (const NodeIdx node : fabric.node_guid.indices()) {
    const NodeInfo& info = fabric.node_info[node];
    const bool is_switch = fabric.is_switch(node);
    nodes.push_back(
        {.type = is_switch                 ? NodeType::Switch
                 : is_router(fabric, node) ? NodeType::Router
                                           : NodeType::Ca,
         .is_host = !is_switch && !is_aggregation_node(fabric, node) && !is_excepted(fabric, node),
         .system = info.system_guid,
         .description = fabric.description[node]});
  }
  return group_adapters(nodes);
}

HostCounts count_hosts(const HostAdapters& adapters) {
  HostCounts counts{.hosts = adapters.adapters.size()};
  if (counts.hosts == 0) return counts;
  const auto [least, most] = std::ranges::minmax(adapters.adapters);
  counts.least = least;
  counts.most = most;
  return counts;
}

HostCounts count_hosts(const Fabric& fabric) { return count_hosts(group_adapters(fabric)); }

std::string print_hosts(const HostCounts& counts) {
  std::string text = fmt::format("{} host{}", counts.hosts, counts.hosts == 1 ? "" : "s");
  if (counts.most <= 1) return text;
  if (counts.least < counts.most)
    return text + fmt::format(" with {} to {} adapters", counts.least, counts.most);
  return text + fmt::format(" with {} adapters{}", counts.most, counts.hosts == 1 ? "" : " each");
}

std::string print_adapters(std::size_t adapters,
                           const AdapterCounts& no_data,
                           const HostCounts& hosts) {
  const std::string text = print_adapters(adapters, no_data);
  return hosts.most > 1 ? fmt::format("{} ({})", text, print_hosts(hosts)) : text;
}

HostPorts group_ports(const HostAdapters& adapters, std::span<const AdapterPort> ports) {
  HostPorts out;
  std::vector<std::uint32_t> number(adapters.adapters.size(), kNoHost);
  std::vector<std::pair<std::uint32_t, std::uint8_t>> places;  // device and port
  for (const AdapterPort& port : ports) {
    const std::uint32_t host = adapters.host[port.node];
    places.emplace_back(adapters.device[port.node], port.port.value());
    if (host == kNoHost || adapters.adapters[host] == 1) {
      out.host.push_back(out.hosts++);
      continue;
    }
    if (number[host] == kNoHost) number[host] = out.hosts++;
    out.host.push_back(number[host]);
  }
  std::vector<std::pair<std::uint32_t, std::uint8_t>> rails = places;
  std::ranges::sort(rails);
  rails.erase(std::unique(rails.begin(), rails.end()), rails.end());
  out.rails = static_cast<std::uint32_t>(rails.size());
  for (const auto& place : places) {
    const auto at = std::ranges::lower_bound(rails, place);
    out.rail.push_back(static_cast<std::uint32_t>(at - rails.begin()));
  }
  return out;
}

HostPorts group_ports(const Fabric& fabric, std::span<const PortIdx> ports) {
  std::vector<AdapterPort> places;
  places.reserve(ports.size());
  for (const PortIdx port : ports)
    places.push_back({fabric.node_of[port].value(), fabric.number_of(port)});
  return group_ports(group_adapters(fabric), places);
}

std::size_t Fabric::link_count() const {
  std::size_t count = 0;
  for (const PortIdx port : peer.indices()) {
    if (peer[port] != kNone<PortIdx> && port < peer[port]) ++count;
  }
  return count;
}

const std::string& label_of(const Fabric& fabric, NodeIdx node) {
  if (fabric.site_nodes) {
    const auto& names = fabric.site_nodes->names;
    const Guid guid = fabric.node_guid[node];
    const auto at = std::ranges::lower_bound(names, guid, {}, &std::pair<Guid, std::string>::first);
    if (at != names.end() && at->first == guid) return at->second;
  }
  return fabric.description[node];
}

std::string name_of(const Fabric& fabric, NodeIdx node) {
  const std::string& label = label_of(fabric, node);
  return label.empty() ? fmt::format("{}", fabric.node_guid[node]) : label;
}

std::string print_port(const Fabric& fabric, PortIdx port) {
  if (port == kNone<PortIdx>) return "no port";
  return fmt::format(
      "{}:{}", printable(name_of(fabric, fabric.node_of[port])), fabric.number_of(port));
}

std::uint32_t port_info_modifier(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  const PortIdx management = fabric.is_switch(node) ? fabric.port_of(node, PortNum{0}) : port;
  return port_info_modifier(fabric.number_of(port), fabric.port_info[management].capability_mask);
}

LinkSpeed link_speed(const Fabric& fabric, PortIdx port) {
  if (std::ranges::binary_search(fabric.fdr10, port)) return LinkSpeed::Fdr10;
  return active_speed(fabric.port_info[port]);
}

// What check_invariants() demands, one group of arrays after the other; later groups may index by
// what earlier ones have proved.

std::string check_invariants(const Fabric& fabric) {
  for (const auto check : {check_nodes,
                           check_ports,
                           check_guids,
                           check_switches,
                           check_links,
                           check_switch_guids,
                           check_manager,
                           check_demand}) {
    if (std::string fault = check(fabric); !fault.empty()) return fault;
    if (fabric.node_count() == 0) break;
  }
  return "";
}

LidMap make_lid_map(const Fabric& fabric) {
  LidMap map;
  map.base.assign(fabric.port_count(), kUnassignedLid);
  map.lmc.assign(fabric.port_count(), 0);
  return map;
}

void set_lid(LidMap& map, PortIdx port, Lid base, std::uint8_t lmc) {
  const unsigned first = base.value();
  const unsigned last = first + (1u << lmc) - 1;
  SMD_CHECK(is_unicast(base) && last <= kTopUnicastLid.value(), "not unicast LIDs");
  if (map.owner.size() <= last) map.owner.resize(last + 1, kNone<PortIdx>);
  for (unsigned lid = first; lid <= last; ++lid) {
    SMD_CHECK(map.owner[lid] == kNone<PortIdx>, "the LID is taken");
    map.owner[lid] = port;
  }
  map.base[port] = base;
  map.lmc[port] = lmc;
  map.top = std::max(map.top, Lid{static_cast<std::uint16_t>(last)});
}

}  // namespace smd
