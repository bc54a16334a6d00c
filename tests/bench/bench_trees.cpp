// Engines on fat trees of 36-port switches: routes from scratch by size, and after one cable was
// lost or came back at 11,664 hosts.
#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"

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

void register_all() {
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
