#include "sim-backend/scenario/worm_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "sim-backend/multicast/verdict.h"

namespace smd::sim {
namespace {

/// Sets of destinations that are gone through in a second or so.
constexpr double kMostSets = 8'000;

}  // namespace

Result<WormScenario> WormScenario::prepare_multicast(const FabricSpec& spec, const WormSpec& what) {
  const MulticastAlgorithm& algorithm = *find_multicast_algorithm(what.algorithm);
  WormSetup setup;
  setup.what = what;
  auto graph = build_worm_graph(spec, algorithm.lanes, what.channels);
  if (!graph) return tl::unexpected(graph.error());
  setup.graph = std::move(*graph);
  auto routing = MulticastRouting::build(spec, setup.graph, algorithm, what.header);
  if (!routing) return tl::unexpected(routing.error());
  setup.multicast = std::move(*routing);
  setup.leaves = setup.multicast->leaves();
  const LabelledNet& net = setup.multicast->net();
  // A branch that goes on by itself does so by a buffer: it waits for the others as well. Circles
  // by one of several channels of a host are no deadlocks yet, nor those of the escapes or of what
  // lies further down a fork. Escapes are a proof where no lane has the head of a message behind
  // the tail of another.
  if (count_sets(net, 2) <= kMostSets) {
    const auto is_safe = [&](HostChannels channels) {
      return check_multicast(net, algorithm, 2, ForkModel::Whole, algorithm.adaptive, channels)
          .is_safe();
    };
    const bool atomic = what.options.allocation == WormAllocation::Atomic;
    if (!is_safe({})) {
      setup.can_deadlock = true;
    } else if (!is_safe({.count = what.channels})) {
      if (what.channels == 1 && !algorithm.adaptive && !algorithm.forks) setup.can_deadlock = true;
    } else if (!algorithm.adaptive || atomic) {
      setup.can_deadlock = false;
    }
  }
  WormScenario out;
  out.setup_ = std::make_shared<const WormSetup>(std::move(setup));
  return out;
}

Result<WormScenario> WormScenario::prepare(const FabricSpec& spec, const WormSpec& what) {
  if (!what.algorithm.empty()) return prepare_multicast(spec, what);
  auto graph = build_worm_graph(spec, 1, what.channels);
  if (!graph) return tl::unexpected(graph.error());
  const auto net = RouteNet::build(spec);
  if (!net) return tl::unexpected(net.error());
  if (what.routes.root >= net->switches()) {
    return fail(
        Errc::Invalid,
        fmt::format(
            "routes.root is {}: the fabric has {} switches", what.routes.root, net->switches()));
  }
  // A pair has more than one route only where something chooses among them.
  SystemOptions options = what.routes;
  const RouteChoiceKind kind = what.choice.kind;
  const bool chooses = what.second.empty() && kind != RouteChoiceKind::One;
  options.keep = chooses ? options.per_pair : 1;
  auto first = find_system(what.system)->build(*net, options);
  if (!first) return tl::unexpected(first.error());
  std::optional<RouteSet> second;
  if (!what.second.empty()) {
    auto made = find_system(what.second)->build(*net, options);
    if (!made) return tl::unexpected(made.error());
    second = std::move(*made);
  }
  RouteSet all = *first;
  if (second) all.add(*second);
  if (const std::string why = check_routes(*net, all); !why.empty()) {
    return fail(Errc::Unsupported, why);
  }
  WormSetup setup;
  setup.what = what;
  setup.graph = std::move(*graph);
  setup.routing.emplace(setup.graph, *net, *first, second ? &*second : nullptr, what.header);
  setup.figures = measure_routes(*net, all);
  setup.can_deadlock =
      !check_relation(net->fabric(), RouteRelation(*net, all), RelationMode::All).is_safe();
  setup.leaves.resize(setup.graph.host_node.size());
  for (std::uint32_t sw = 0; sw < net->switches(); ++sw) {
    for (const std::uint32_t node : net->hosts(sw)) {
      setup.leaves[setup.graph.host_of[node]] = sw;
    }
  }
  WormScenario out;
  out.setup_ = std::make_shared<const WormSetup>(std::move(setup));
  return out;
}

std::unique_ptr<WormNet> WormScenario::make_net(std::uint64_t seed) const {
  if (setup_->multicast) {
    return std::make_unique<WormNet>(setup_->graph, setup_->what.options, *setup_->multicast);
  }
  return std::make_unique<WormNet>(
      setup_->graph, setup_->what.options, *setup_->routing, setup_->what.choice, seed);
}

WormRunStart WormRunStart::of(const WormNet& net) {
  return {.at = net.now(),
          .bytes = net.stats().delivered_bytes,
          .delivered = net.stats().delivered,
          .transits = net.figures().transits,
          .ports = net.port_use(),
          .multicast = net.figures().multicast};
}

std::vector<PortUse> use_since(std::vector<PortUse> now, const std::vector<PortUse>& before) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    PortUse& port = now[i];
    port.active -= before[i].active;
    port.blocked = 0;
    // The lane that is blocked longest from now on need not be the one that was before.
    for (std::size_t lane = 0; lane < port.blocked_lanes.size(); ++lane) {
      port.blocked_lanes[lane] -= before[i].blocked_lanes[lane];
      port.blocked = std::max(port.blocked, port.blocked_lanes[lane]);
    }
  }
  return now;
}

void set_faults(const FabricSpec& spec, const FaultPlan& plan, WormNet& net) {
  const auto set = [&](const FaultPlace& place, bool up, Picos at) {
    const PortSpec& port = spec.nodes[place.node].ports[place.port.value()];
    net.set_link(place.node, place.port.value(), port.peer_node, port.peer_port.value(), up, at);
  };
  for (const FaultPlace& place : plan.absent) set(place, false, 0);
  for (const PlannedFault& fault : plan.faults) set(fault.place, fault.up, fault.at);
}

double WormScenario::share_of(double load) const {
  if (!setup_->what.per_switch) return load;
  const auto hosts = static_cast<double>(setup_->graph.host_node.size());
  const auto switches = static_cast<double>(setup_->graph.is_host.size()) - hosts;
  return load * switches / hosts * static_cast<double>(setup_->what.options.cycle) / double(kNano);
}

WormRunFigures WormScenario::measure(const FabricSpec& spec,
                                     const WormNet& net,
                                     const WormRunStart& before) const {
  WormRunFigures out;
  const double time = std::max(1.0, static_cast<double>(net.now() - before.at));
  const std::uint64_t bytes = net.stats().delivered_bytes - before.bytes;
  const auto hosts = static_cast<double>(setup_->graph.host_node.size());
  const auto switches = static_cast<double>(setup_->graph.is_host.size()) - hosts;
  out.accepted_per_switch = static_cast<double>(bytes) / (time / double(kNano)) / switches;
  const WormFigures figures = net.figures();
  const std::uint64_t delivered = net.stats().delivered - before.delivered;
  out.stops_per_message = static_cast<double>(figures.transits - before.transits) /
                          static_cast<double>(std::max<std::uint64_t>(1, delivered));
  out.most_local = figures.most_local;
  out.most_transit = figures.most_transit;
  const MulticastSums& sums = figures.multicast;
  const MulticastSums& was = before.multicast;
  out.multicast = {.multicasts = sums.multicasts - was.multicasts,
                   .copies = sums.copies - was.copies,
                   .unicasts = sums.unicasts - was.unicasts,
                   .last = sums.last - was.last,
                   .copy = sums.copy - was.copy,
                   .unicast = sums.unicast - was.unicast};
  for (const PortUse& use : use_since(net.port_use(), before.ports)) {
    const PortSpec& port = spec.nodes[use.node].ports[use.port.value()];
    if (spec.nodes[port.peer_node].type != NodeType::Switch) continue;
    const Picos lanes =
        std::accumulate(use.blocked_lanes.begin(), use.blocked_lanes.end(), Picos{0});
    out.ports.push_back(
        {.port = fmt::format("{}:{}", spec.nodes[use.node].description, use.port.value()),
         .active = static_cast<double>(use.active) / time,
         .blocked = static_cast<double>(use.blocked) / time,
         .blocked_lanes = static_cast<double>(lanes) / time});
  }
  std::ranges::stable_sort(out.ports, std::greater<>{}, &WormPortUse::active);
  return out;
}

}  // namespace smd::sim
