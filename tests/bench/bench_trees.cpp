// Engines on fat trees of 36-port switches: routes from scratch by size, and after one cable was
// lost or came back at 11,664 hosts; and the check of those.
#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/routing/nue/paths_of_switches.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/verified_routes.h"

namespace smd {
namespace {

struct Network {
  std::shared_ptr<const Fabric> fabric;
  LidMap lids;
};

const Network& network(const std::string& spec) {
  static std::map<std::string, Network> all;
  Network& found = all[spec];
  if (found.fabric == nullptr) {
    found.fabric = sim::build_snapshot(sim::load_fabric(spec).value());
    found.lids = assign_lids(*found.fabric, {}, {}).value().map;
  }
  return found;
}

const Network& tree(std::int64_t hosts) {
  return network("fat-tree:k=36,levels=3,hosts=" + std::to_string(hosts));
}

void report_load(benchmark::State& state, const Network& on, const ForwardingTables& tables) {
  const LoadReport load = measure_load(*on.fabric, on.lids, tables);
  state.counters["load_max"] = static_cast<double>(load.max);
  state.counters["load_stddev"] = load.stddev;
}

void compute(benchmark::State& state, const char* engine, const Network& on) {
  for (auto _ : state)
    benchmark::DoNotOptimize(find_engine(engine)->compute(*on.fabric, on.lids, {}));
  report_load(state, on, find_engine(engine)->compute(*on.fabric, on.lids, {})->lft);
}

void from_scratch(benchmark::State& state, const char* engine) {
  compute(state, engine, tree(state.range(0)));
}

void torus(benchmark::State& state, const char* engine) {
  compute(state, engine, network("torus:dims=32.32"));
}

// The last cable of a leaf; the last one up of a switch in the middle.
enum Where { kLeaf, kSpine };

Fabric without_cable(const Network& on, Where where) {
  Fabric cut = *on.fabric;
  const std::string_view level = where == kLeaf ? "sw-0-300" : "sw-1-300";
  for (const NodeIdx node : cut.switch_node) {
    if (cut.description[node] != level) continue;
    PortIdx last = kNone<PortIdx>;
    for (const PortIdx port : cut.external_ports(node)) {
      if (cut.peer[port] != kNone<PortIdx> && cut.is_switch(cut.node_of[cut.peer[port]]))
        last = port;
    }
    cut.peer[cut.peer[last]] = kNone<PortIdx>;
    cut.peer[last] = kNone<PortIdx>;
  }
  return cut;
}

void reroute(benchmark::State& state, const char* engine, Where where, bool lost) {
  const Network& on = tree(11664);
  const Fabric cut = without_cable(on, where);
  const Engine* const routes = find_engine(engine);
  const RoutingTables whole = routes->compute(*on.fabric, on.lids, {}).value();
  const PreviousRoutes before{on.fabric.get(), &on.lids, &whole};
  const RoutingTables broken =
      routes->compute(cut, on.lids, {.previous = &whole.orientation, .in_force = &before}).value();
  const PreviousRoutes meanwhile{&cut, &on.lids, &broken};
  const RoutingTables& was = lost ? whole : broken;
  const RoutingRequest request{.previous = &was.orientation,
                               .in_force = lost ? &before : &meanwhile};
  RoutingTables after;
  for (auto _ : state) {
    auto now = routes->compute(lost ? cut : *on.fabric, on.lids, request);
    benchmark::DoNotOptimize(now);
    state.PauseTiming();
    after = std::move(*now);
    state.ResumeTiming();
  }
  std::size_t entries = 0;
  for (std::uint32_t sw = 0; sw < after.lft.switches(); ++sw) {
    const auto now = after.lft.row(SwitchIdx{sw}), then = was.lft.row(SwitchIdx{sw});
    for (std::size_t lid = 0; lid < now.size(); ++lid) entries += now[lid] != then[lid];
  }
  state.counters["entries"] = static_cast<double>(entries);
  if (after.recomputed) state.counters["lids"] = static_cast<double>(after.recomputed->size());
  report_load(state, on, after.lft);
}

/// The leaf and its hosts are gone.
Network without_leaf() {
  sim::FabricSpec spec = sim::load_fabric("fat-tree:k=36,levels=3,hosts=11664").value();
  std::vector<std::uint32_t> now(spec.nodes.size(), 0);
  std::vector<sim::NodeSpec> nodes;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const sim::NodeSpec& node = spec.nodes[n];
    const auto is_leaf = [&](std::uint32_t at) {
      return at != sim::kNoNode && spec.nodes[at].description == "sw-0-300";
    };
    const bool goes = is_leaf(n) || (node.type == NodeType::Ca && is_leaf(node.ports[1].peer_node));
    now[n] = goes ? sim::kNoNode : static_cast<std::uint32_t>(nodes.size());
    if (!goes) nodes.push_back(node);
  }
  for (sim::NodeSpec& node : nodes) {
    for (sim::PortSpec& port : node.ports) {
      if (port.peer_node != sim::kNoNode) port.peer_node = now[port.peer_node];
    }
  }
  spec.nodes = std::move(nodes);
  spec.sm_node = now[spec.sm_node];
  Network left{sim::build_snapshot(spec), {}};
  const Network& on = tree(11664);
  left.lids = make_lid_map(*left.fabric);
  for (const PortIdx port : left.fabric->peer.indices()) {
    if (!left.fabric->is_end_port(port)) continue;
    const NodeIdx node = left.fabric->node_of[port];
    const NodeIdx was = *on.fabric->find_node(left.fabric->node_guid[node]);
    const PortIdx before = on.fabric->port_of(was, left.fabric->number_of(port));
    set_lid(left.lids, port, on.lids.base[before], 0);
  }
  return left;
}

Network without_cable(Where where) {
  return {std::make_shared<const Fabric>(without_cable(tree(11664), where)), tree(11664).lids};
}

/// As the manager takes them: without the credit loops of paths from switch to switch.
RoutingTables compute(const char* engine, const Network& on, const RoutingRequest& request) {
  RoutingTables tables = find_engine(engine)->compute(*on.fabric, on.lids, request).value();
  const RouteReport report =
      check_routes(*on.fabric, on.lids, tables, CheckOptions{.minimality = false});
  if (!report.acyclic) lead_switches_apart(*on.fabric, on.lids, tables);
  return tables;
}

// The check and the loads of routes after a change, in full and by what differs.
void check(benchmark::State& state, const char* engine, const Network& left, bool in_full) {
  const Network& on = tree(11664);
  const RoutingTables whole = compute(engine, on, {});
  const PreviousRoutes in_force{on.fabric.get(), &on.lids, &whole};
  const RoutingTables after =
      compute(engine, left, {.previous = &whole.orientation, .in_force = &in_force});
  const RoutesOnFabric before{on.fabric.get(), &on.lids, &whole};
  const RoutesOnFabric now{left.fabric.get(), &left.lids, &after};
  const auto verified = VerifiedRoutes::build(before);
  if (verified == nullptr) return state.SkipWithError("nothing is kept of them");
  for (auto _ : state) {
    if (in_full) {
      benchmark::DoNotOptimize(
          check_routes(*now.fabric, *now.lids, *now.routing, {.minimality = false}));
      benchmark::DoNotOptimize(measure_load(*now.fabric, *now.lids, now.routing->lft));
      continue;
    }
    const auto next = verified->update(before, now);
    if (next == nullptr) return state.SkipWithError("it was checked in full");
    benchmark::DoNotOptimize(next->report());
    benchmark::DoNotOptimize(next->measure_load(*now.fabric));
  }
}

void build_verified(benchmark::State& state, const char* engine) {
  const Network& on = tree(11664);
  const RoutingTables whole = compute(engine, on, {});
  for (auto _ : state)
    benchmark::DoNotOptimize(VerifiedRoutes::build({on.fabric.get(), &on.lids, &whole}));
}

void register_checks() {
  for (const char* engine : {"minhop", "updn", "ftree", "nue", "dfsssp", "itb-vl"}) {
    const std::string name{engine};
    benchmark::RegisterBenchmark(("check/" + name + "/from_scratch").c_str(),
                                 [=](benchmark::State& state) { build_verified(state, engine); })
        ->Unit(benchmark::kMillisecond);
    for (const char* what : {"leaf_cable", "spine_cable", "leaf_switch"}) {
      for (const bool in_full : {true, false}) {
        benchmark::RegisterBenchmark(
            ("check/" + name + "/" + what + (in_full ? "/full" : "/changes")).c_str(),
            [=, what = std::string{what}](benchmark::State& state) {
              check(state,
                    engine,
                    what == "leaf_switch" ? without_leaf()
                                          : without_cable(what == "leaf_cable" ? kLeaf : kSpine),
                    in_full);
            })
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

void register_all() {
  register_checks();
  for (const char* engine : {"minhop", "updn", "ftree", "dfsssp", "nue"}) {
    const std::string name{engine};
    auto* const sizes = benchmark::RegisterBenchmark(
        ("tree/" + name).c_str(),
        [engine](benchmark::State& state) { from_scratch(state, engine); });
    for (const int hosts : {1728, 3456, 5184, 11664}) sizes->Arg(hosts);
    sizes->Unit(benchmark::kMillisecond);
    for (const bool lost : {true, false}) {
      for (const Where where : {kLeaf, kSpine}) {
        benchmark::RegisterBenchmark(
            ("reroute/" + name + (where == kLeaf ? "/leaf" : "/spine") + (lost ? "_lost" : "_back"))
                .c_str(),
            [=](benchmark::State& state) { reroute(state, engine, where, lost); })
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  for (const char* engine : {"minhop", "updn"})
    benchmark::RegisterBenchmark(("torus1024/" + std::string{engine}).c_str(),
                                 [engine](benchmark::State& state) { torus(state, engine); })
        ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace smd

int main(int argc, char** argv) {
  smd::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
