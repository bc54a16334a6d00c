// What a scenario needs before it runs: the fabric drawn, tables computed, every key that does not
// fit them refused with its line.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>

#include "sim-backend/packet/credits.h"
#include "sim-backend/packet/partition_split.h"
#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/scenario/pattern_check.h"
#include "sim-backend/scenario/run.h"
#include "sim-backend/scenario/without_subnet.h"
#include "sim-backend/topology/network.h"
#include "sim-backend/topology/snapshot.h"
#include "sim-backend/traffic/trace.h"
#include "smd/base/read_file.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kTwelve = 0x12;  // 1.07 s: what managers write

/// Why hosts are no hosts of a network; empty when each of their cables leads to a switch.
std::string find_host_without_switch(const FabricSpec& spec) {
  for (const NodeSpec& node : spec.nodes) {
    if (node.type == NodeType::Switch) continue;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const std::uint32_t peer = node.ports[p].peer_node;
      if (peer == kNoNode || spec.nodes[peer].type == NodeType::Switch) continue;
      return fmt::format(
          "port {} of {} is cabled to {}, which is no switch: cables of hosts lead "
          "to switches",
          p,
          node.description,
          spec.nodes[peer].description);
    }
  }
  return {};
}

}  // namespace

Parsed<PreparedScenario> PreparedScenario::prepare(Scenario scenario) {
  PreparedScenario out;
  out.scenario_ = std::move(scenario);
  const Scenario& s = out.scenario_;
  auto network = load_network(s.fabric);
  if (!network) {
    Faults faults = std::move(network.error());
    // A fault of the fabric's own file has its line there.
    for (Fault& fault : faults) {
      if (fault.line == 0) fault = {s.file, s.fabric_line, fault.where + ": " + fault.message};
    }
    return tl::unexpected(std::move(faults));
  }
  out.is_subnet_ = network->is_subnet;
  out.notes_ = std::move(network->notes);
  out.spec_ =
      out.is_subnet_ ? hosts_and_switches(std::move(network->spec)) : std::move(network->spec);
  if (const std::string why = find_host_without_switch(out.spec_); !why.empty()) {
    return fault(s.file, s.fabric_line, why);
  }
  if (!out.is_subnet_) {
    if (Faults faults = check_without_subnet(s); !faults.empty()) {
      return tl::unexpected(std::move(faults));
    }
    out.scenario_.traffic.sl_choice = SlChoice::Fixed;  // the one that all have there
    out.scenario_.traffic.sl = 0;
  }
  if (const std::string why = out.check_split(); !why.empty()) {
    return fault(s.file, s.fabric_line, why);
  }
  if (s.model == NetModel::Worms) {
    if (const std::string why = out.find_worm_routes(); !why.empty()) {
      return fault(s.file, s.routes_line > 0 ? s.routes_line : s.fabric_line, why);
    }
  } else if (!out.is_subnet_) {
    out.fabric_ = list_hosts(out.spec_);
    if (const std::string why = out.find_routes(); !why.empty()) {
      return fault(s.file, s.routes_line, why);
    }
  } else {
    if (s.program.path_sets && s.program.lmc == 0) {
      return fault(
          s.file,
          s.line_of("fabric.path_sets"),
          "fabric.path_sets is about LIDs beyond the first of a host: fabric.lmc = 1 to 7");
    }
    if (s.program.non_minimal == NonMinimal::AlmostMinimal &&
        (s.program.lmc == 0 || s.program.path_sets)) {
      return fault(
          s.file,
          s.line_of("fabric.non_minimal"),
          s.program.lmc == 0
              ? "fabric.non_minimal almost-minimal is about LIDs beyond the first of a "
                "host: fabric.lmc = 1 to 7"
              : "fabric.non_minimal almost-minimal and fabric.path_sets both say what LIDs "
                "beyond the first lead to; one of them");
    }
    auto fabric = program_nodes(out.spec_, s.program);
    if (!fabric) return fault(s.file, s.fabric_line, fabric.error().context);
    out.fabric_ = std::move(*fabric);
    if (const std::string why = out.find_routes(); !why.empty()) {
      return fault(s.file, s.routes_line, why);
    }
  }
  if (out.routes_ && out.routes_->shape().kind() == ShapeKind::Butterfly) {
    for (const char* key : {"routes.valiant", "routes.gateway"}) {
      if (const int line = s.line_of(key); line > 0) {
        return fault(s.file,
                     line,
                     fmt::format("{} has no effect here: it is of dragonflies; leave it out", key));
      }
    }
  }
  if (out.fabric_.host_lids.size() < 2) {
    return fault(s.file, s.fabric_line, "traffic needs a fabric with at least two hosts");
  }
  if (const std::string why = out.find_rails(); !why.empty()) {
    const int line = s.line_of("traffic.among");
    return fault(s.file, line > 0 ? line : s.fabric_line, why);
  }
  if (s.model == NetModel::Packets) out.fit_buffers();
  if (const std::string why = check_queues(s.packet, out.fabric_.host_lids.size()); !why.empty()) {
    const int line = std::max(s.line_of("adapter.queues"), s.line_of("adapter.hashed_queues"));
    return fault(s.file, line > 0 ? line : s.fabric_line, why);
  }
  auto groups =
      program_groups(out.spec_, s.groups, s.multicast_trees, s.program.vls, s.file, out.fabric_);
  if (!groups) return tl::unexpected(std::move(groups.error()));
  out.groups_of_hosts_ = std::move(*groups);
  if (const std::string why = out.find_adders(); !why.empty()) {
    return fault(s.file, s.traffic_line, why);
  }
  for (NodeState& node : out.fabric_.nodes) {
    node.switch_info.life_time_value = kTwelve;
    for (PortRegs& port : node.ports) port.info.hoq_life = kTwelve;
  }
  const Picos earliest = s.is_managed() ? s.measure.plan.warm_up : 0;
  auto faults = plan_faults(out.spec_, s.faults, earliest, s.file);
  if (!faults) return tl::unexpected(std::move(faults.error()));
  out.faults_ = std::move(*faults);
  out.find_neighbours();
  if (!s.traffic.trace.empty()) {
    // It is read more than once: a pipe would be empty the second time.
    if (const auto fine = check_regular_file(s.traffic.trace); !fine)
      return fault(s.file, s.traffic_line, s.traffic.trace + ": " + fine.error().context);
    std::ifstream in(s.traffic.trace);
    const auto hosts = static_cast<HostNum>(out.fabric_.host_lids.size());
    const auto lines = check_trace(in, s.traffic.trace, hosts, out.worms_.has_value());
    if (!lines) return tl::unexpected(lines.error());
    return out;
  }
  if (s.traffic.collective) return out;
  if (const auto hosts = out.fabric_.host_lids.size(); s.traffic.destinations >= hosts) {
    return fault(s.file,
                 s.traffic_line,
                 fmt::format("traffic.destinations is {}: a message of {} hosts has {} others",
                             s.traffic.destinations,
                             hosts,
                             hosts - 1));
  }
  if (Faults wrong = out.check_sources(); !wrong.empty()) return tl::unexpected(std::move(wrong));
  return out;
}

/// What hosts cannot send as they are to.
Faults PreparedScenario::check_sources() const {
  const Scenario& s = scenario_;
  const std::string& pattern = s.traffic.pattern;
  const bool always = pattern == "uniform" || pattern == "uniform-self" || pattern == "all-to-all";
  if (always && s.traffic.arrivals.kind != ArrivalKind::Bernoulli) return {};
  const double load = s.measure.saturation ? 1 : std::ranges::max(s.traffic.loads);
  TrafficInput input{.load = worms_ ? worms_->share_of(load) : load,
                     .mtu = worms_ ? kLargestWorm : mtu_bytes(s.program.mtu),
                     .pattern = pattern_input(1),
                     .groups = &groups_of_hosts_.groups};
  std::vector<std::uint32_t> byte_times(fabric_.host_lids.size());
  unsigned header_bytes = 0;
  if (worms_) {
    const std::unique_ptr<WormNet> net = worms_->make_net(1);
    for (HostNum host = 0; host < byte_times.size(); ++host) {
      byte_times[host] = net->host_byte_time(host);
    }
    header_bytes = net->header_bytes();
  } else {
    const Wiring wiring(spec_, s.packet);
    for (HostNum host = 0; host < byte_times.size(); ++host) {
      byte_times[host] = wiring.wires[wiring.host_port[host]].byte_time;
    }
    header_bytes = s.packet.links.header_bytes;
  }
  return check_pattern(s, input, std::move(byte_times), header_bytes);
}

/// Why it cannot run in as many partitions as it is to; empty when it can.
std::string PreparedScenario::check_split() const {
  const Scenario& s = scenario_;
  if (s.packet.partitions == 1) return {};
  if (s.is_managed()) return "a network with [[fault]] is simulated in 1 partition";
  if (s.model == NetModel::Worms) return "worms are simulated in 1 partition";
  return check_partitions(spec_, s.packet);
}

/// A buffer that is full before credit for its first packet is back holds back a flow that nothing
/// else does.
void PreparedScenario::fit_buffers() {
  const Scenario& s = scenario_;
  constexpr unsigned kMost = kMostCredit * kBlockBytes;
  const int input_line = s.line_of("switch.input_buffer");
  if (!s.packet.fit_buffers && input_line == 0) return;
  const Wiring wiring(spec_, s.packet);
  SwitchModel& sw = scenario_.packet.switches;
  if (s.packet.fit_buffers) {
    const unsigned mtu = mtu_bytes(s.program.mtu);
    const unsigned wanted =
        std::min(wiring.longest_credit_loop(s.packet, mtu).packets() * mtu, kMost);
    if (input_line == 0) sw.input_buffer_bytes = std::max(sw.input_buffer_bytes, wanted);
    // What crosses has to find room at the pace of the cables, too.
    if (s.line_of("switch.output_buffer") == 0)
      sw.output_buffer_bytes = std::max(sw.output_buffer_bytes, wanted);
  }
  if (input_line == 0 && sw.input_buffer_bytes < kMost) return;
  const unsigned packet = s.largest_packet();
  const CreditLoop loop = wiring.longest_credit_loop(s.packet, packet);
  const unsigned held = sw.input_buffer_bytes / (blocks_of(packet) * kBlockBytes);
  if (held >= loop.packets()) return;
  notes_.push_back(
      {s.file,
       input_line > 0 ? input_line : s.fabric_line,
       fmt::format(
           "note: an input buffer of {} bytes holds {} packets of {}; on the longest of the fast "
           "cables {} are under way until credit for the first is back: there is credit for {} % "
           "of what it carries at worst",
           sw.input_buffer_bytes,
           held,
           packet,
           loop.packets(),
           held * loop.packet * 100 / loop.turn)});
}

/// Makes the rule, if there is one; why it cannot, or nothing.
std::string PreparedScenario::find_routes() {
  const RoutesSpec& routes = scenario_.routes;
  if (!routes.has_rule()) return {};
  const std::string_view name = rule_name(routes.rule.rule);
  auto shape = Shape::find(spec_, routes.shape);
  if (!shape) return fmt::format("routes.rule {}: {}", name, shape.error().context);
  if (const std::string why = check_rule(*shape, routes.rule); !why.empty()) {
    return fmt::format("routes.rule {} {}", name, why);
  }
  auto made = std::make_shared<const AdaptiveRoutes>(std::move(*shape), routes.rule);
  if (made->vls() > scenario_.packet.vls) {
    return fmt::format(
        "routes.rule {} needs {} VLs here: fabric.vls = {} or more",
        name,
        made->vls(),
        std::max(made->vls(), std::bit_ceil(made->vls()) < 16 ? std::bit_ceil(made->vls()) : 15u));
  }
  if (made->looks_far() && scenario_.packet.partitions > 1) {
    return fmt::format("routes.rule {} looks at other switches: it runs in 1 partition", name);
  }
  // The way to a random place and on may lead back over the same cable.
  scenario_.packet.switches.turns_back = true;
  routes_ = std::move(made);
  return {};
}

/// Source routes, and hosts as a programmed fabric has them; why there are none, or nothing.
std::string PreparedScenario::find_worm_routes() {
  auto made = WormScenario::prepare(spec_, scenario_.worm);
  if (!made) return made.error().context;
  worms_ = std::move(*made);
  const std::string& algorithm = scenario_.worm.algorithm;
  fabric_.routing.engine = algorithm.empty() ? scenario_.worm.system : algorithm;
  for (std::uint16_t host = 0; host < worms_->leaves().size(); ++host) {
    fabric_.host_lids.push_back(Lid{static_cast<std::uint16_t>(host + 1)});
    fabric_.host_leaf.push_back(SwitchIdx{worms_->leaves()[host]});
  }
  return {};
}

/// Switches that add, along the tree of the first group; why they cannot, or nothing.
std::string PreparedScenario::find_adders() {
  const TrafficSpec& t = scenario_.traffic;
  if (t.collective != CollectiveKind::InNetworkAllReduce) return {};
  const ProgrammedGroup& group = groups_of_hosts_.groups.front();
  adders_ = {.entry = group.entry, .adding = t.combining};
  for (const TreeNode& each : group.tree) {
    adders_.adders.push_back({.node = each.node,
                              .parent = each.parent,
                              .up = each.up,
                              .lid = fabric_.nodes[each.node].ports[0].info.lid});
  }
  const std::vector<std::uint32_t> below = count_below(adders_);
  const auto most = std::ranges::max_element(below);
  if (*most <= t.combine_radix) return {};
  return fmt::format(
      "in-network-all-reduce: {} has {} hosts and switches of the group below it; "
      "traffic.combine_radix = {} or more, or a group that is spread more",
      spec_.nodes[group.tree[static_cast<std::size_t>(most - below.begin())].node].description,
      *most,
      *most);
}

/// Which hosts are ports of one host with several adapters, and their rails; why traffic as it is
/// asked for cannot be, or nothing.
std::string PreparedScenario::find_rails() {
  const bool all_apart = std::ranges::all_of(spec_.nodes, [](const NodeSpec& node) {
    return node.type == NodeType::Switch || node.system_guid == node.guid;
  });
  const bool among_rails = scenario_.traffic.among_rails;
  if (all_apart && !among_rails) return {};
  HostPorts ports = group_ports(spec_);
  // Of worms an adapter is one host, whatever ports it has.
  if (ports.host.size() != fabric_.host_lids.size()) return {};
  if (ports.hosts < 2) {
    return fmt::format("all {} adapters are of one host, which needs no network between them",
                       ports.host.size());
  }
  if (!among_rails) {
    if (!ports.are_apart()) ports_ = std::move(ports);
    return {};
  }
  std::vector<std::uint32_t> on_rail(ports.rails, 0);
  for (const std::uint32_t rail : ports.rail) ++on_rail[rail];
  if (std::ranges::max(on_rail) < 2) {
    return fmt::format("traffic.among = \"rail\": each of the {} rails has one adapter alone",
                       ports.rails);
  }
  ports_ = std::move(ports);
  return {};
}

/// Groups by leaf, and who is near whom: breadth-first over the switches.
void PreparedScenario::find_neighbours() {
  std::map<std::uint32_t, std::vector<HostNum>> by_leaf;
  for (HostNum host = 0; host < fabric_.host_leaf.size(); ++host) {
    by_leaf[fabric_.host_leaf[host].value()].push_back(host);
  }
  groups_.clear();
  for (const auto& [leaf, hosts] : by_leaf) groups_.push_back(hosts);
  const std::string& pattern = scenario_.traffic.pattern;
  if (pattern != "local" && pattern != "combined") return;

  std::vector<std::uint32_t> switch_of(spec_.nodes.size(), kNowhere), node_of;
  for (std::uint32_t n = 0; n < spec_.nodes.size(); ++n) {
    if (spec_.nodes[n].type != NodeType::Switch) continue;
    switch_of[n] = static_cast<std::uint32_t>(node_of.size());
    node_of.push_back(n);
  }
  near_.resize(fabric_.host_leaf.size());
  for (const auto& [leaf, hosts] : by_leaf) {
    std::vector<std::uint32_t> distance(node_of.size(), kNowhere), line{leaf};
    distance[leaf] = 0;
    std::vector<HostNum> reached;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const auto found = by_leaf.find(line[i]);
      if (found != by_leaf.end()) std::ranges::copy(found->second, std::back_inserter(reached));
      if (distance[line[i]] == scenario_.traffic.radius) continue;
      for (const PortSpec& port : spec_.nodes[node_of[line[i]]].ports) {
        if (port.peer_node == kNoNode || switch_of[port.peer_node] == kNowhere) continue;
        std::uint32_t& far = distance[switch_of[port.peer_node]];
        if (far != kNowhere) continue;
        far = distance[line[i]] + 1;
        line.push_back(switch_of[port.peer_node]);
      }
    }
    for (const HostNum host : hosts) near_[host] = reached;
  }
}

PatternInput PreparedScenario::pattern_input(std::uint64_t seed) const {
  const TrafficSpec& t = scenario_.traffic;
  return {.hosts = static_cast<HostNum>(fabric_.host_lids.size()),
          .groups = groups_,
          .near = near_,
          .dims = t.dims,
          .switches_per_group = t.switches_per_group,
          .share = t.share,
          .targets = t.targets,
          .seed = seed,
          .ports = ports_,
          .among_rails = t.among_rails};
}

}  // namespace smd::sim
