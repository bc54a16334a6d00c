// Snapshot, LIDs, engines and checker on the three-level fat tree of 36-port switches: 1,620
// switches, 11,664 hosts. Computing times and entries of fera and pira by size.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "sim-backend/topology/snapshot.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/patterns.h"

namespace smd {
namespace {

std::shared_ptr<const Fabric> build_fat_tree() {
  static const sim::FabricSpec spec = sim::load_fabric("fat-tree:k=36,levels=3").value();
  return sim::build_snapshot(spec);
}

const Fabric& fabric() {
  static const std::shared_ptr<const Fabric> built = build_fat_tree();
  return *built;
}

const LidMap& lids() {
  static const LidMap map = assign_lids(fabric(), {}, {}).value().map;
  return map;
}

void build(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(build_fat_tree());
}

void assign(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(assign_lids(fabric(), {}, {}));
}

void engine(benchmark::State& state, const char* name) {
  for (auto _ : state) benchmark::DoNotOptimize(find_engine(name)->compute(fabric(), lids(), {}));
  const RoutingTables tables = find_engine(name)->compute(fabric(), lids(), {}).value();
  const LoadReport load = measure_load(fabric(), lids(), tables.lft);
  state.counters["load_max"] = static_cast<double>(load.max);
  state.counters["load_mean"] = load.mean;
  state.counters["load_stddev"] = load.stddev;
}

// The fabric without the cable at the last port of a switch.
Fabric without_cable(NodeIdx node) {
  Fabric cut = fabric();
  const PortIdx port = cut.port_of(node, PortNum{static_cast<std::uint8_t>(cut.num_ports(node))});
  cut.peer[cut.peer[port]] = kNone<PortIdx>;
  cut.peer[port] = kNone<PortIdx>;
  return cut;
}

std::size_t count_blocks(const ForwardingTables& a, const ForwardingTables& b) {
  std::size_t differ = 0;
  for (std::uint32_t sw = 0; sw < a.switches(); ++sw) {
    for (std::size_t block = 0; block < a.blocks(); ++block) {
      const auto x = a.block(SwitchIdx{sw}, block), y = b.block(SwitchIdx{sw}, block);
      differ += !std::equal(x.begin(), x.end(), y.begin());
    }
  }
  return differ;
}

// One cable lost, or come back: routes kept.
void keep(benchmark::State& state, bool lost) {
  NodeIdx leaf = kNone<NodeIdx>;
  for (const NodeIdx node : fabric().switch_node) {
    const PortIdx first = fabric().peer[fabric().port_of(node, PortNum{1})];
    if (!fabric().is_switch(fabric().node_of[first])) leaf = node;
  }
  const Fabric cut = without_cable(leaf);
  const RoutingTables whole = find_engine("updn")->compute(fabric(), lids(), {}).value();
  const PreviousRoutes before{&fabric(), &lids(), &whole};
  const RoutingTables broken =
      find_engine("updn")->compute(cut, lids(), {.in_force = &before}).value();
  const PreviousRoutes meanwhile{&cut, &lids(), &broken};
  RoutingTables after;
  for (auto _ : state)
    after = find_engine("updn")
                ->compute(lost ? cut : fabric(), lids(), {.in_force = lost ? &before : &meanwhile})
                .value();
  state.counters["blocks"] =
      static_cast<double>(count_blocks(after.lft, lost ? whole.lft : broken.lft));
  state.counters["load_stddev"] = measure_load(lost ? cut : fabric(), lids(), after.lft).stddev;
}

// After a change: the orientation is kept, so no root has to be chosen.
void updn_again(benchmark::State& state) {
  const RoutingTables before = find_engine("updn")->compute(fabric(), lids(), {}).value();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        find_engine("updn")->compute(fabric(), lids(), {.previous = &before.orientation}));
}

// The sparse networks that the two were published for: same number of switches and nodes, three
// seeds.
struct Sparse {
  int switches, nodes;
};

constexpr Sparse kSparse[] = {{8, 15},
                              {12, 23},
                              {16, 30},
                              {20, 40},
                              {24, 46},
                              {32, 72},
                              {40, 68},
                              {48, 112},
                              {64, 146},
                              {128, 218}};

void sparse(benchmark::State& state, const char* name) {
  const auto& [switches, nodes] = kSparse[state.range(0)];
  std::vector<std::pair<std::shared_ptr<const Fabric>, LidMap>> networks;
  for (int seed = 1; seed <= 3; ++seed) {
    const std::string text = "irregular4:switches=" + std::to_string(switches) +
                             ",nodes=" + std::to_string(nodes) + ",seed=" + std::to_string(seed);
    const auto network = sim::build_snapshot(sim::load_fabric(text).value());
    networks.emplace_back(network, assign_lids(*network, {}, {}).value().map);
  }
  const RoutingRequest request{.default_ports = true};
  for (auto _ : state) {
    for (const auto& [network, map] : networks)
      benchmark::DoNotOptimize(find_engine(name)->compute(*network, map, request));
  }
  double entries = 0;
  for (const auto& [network, map] : networks)
    entries += static_cast<double>(
        find_engine(name)->compute(*network, map, request).value().sequence.size());
  state.counters["switches"] = switches;
  state.counters["entries"] = entries / 3;
}

void check(benchmark::State& state, const char* name, bool minimality) {
  const RoutingTables tables = find_engine(name)->compute(fabric(), lids(), {}).value();
  RouteReport report;
  for (auto _ : state)
    report = check_routes(fabric(), lids(), tables.lft, {.minimality = minimality});
  if (!report.ok()) state.SkipWithError("the tables are not sound");
  state.counters["minimal_pct"] =
      100.0 * static_cast<double>(report.minimal) / static_cast<double>(report.pairs);
}

// Eight lanes and an SL of its own for every path; with `maps` lanes change on the way.
void check_lanes(benchmark::State& state, bool maps, bool any_sl) {
  RoutingTables tables = find_engine("updn")->compute(fabric(), lids(), {}).value();
  tables.vls = 8;
  tables.path_sls = PathSls{fabric().switch_count(), lids().top};
  for (const SwitchIdx sw : fabric().switch_node.indices()) {
    for (unsigned lid = 0; lid <= lids().top.value(); ++lid)
      tables.path_sls.set_sl(sw,
                             Lid{static_cast<std::uint16_t>(lid)},
                             static_cast<std::uint8_t>((sw.value() * 7 + lid * 5) / 11 % 8));
  }
  if (maps) {
    tables.sl_to_vl = SlToVlMaps{fabric()};
    for (unsigned row = 0; row < 8; ++row) {
      SlToVl lanes;
      for (unsigned sl = 0; sl < 16; ++sl)
        lanes[sl] = Vl{static_cast<std::uint8_t>((sl + row) % 8)};
      tables.sl_to_vl.add_row(lanes);
    }
    for (const SwitchIdx sw : fabric().switch_node.indices()) {
      for (unsigned in = 0; in <= 36; ++in) {
        for (unsigned out = 0; out <= 36; ++out)
          tables.sl_to_vl.set_row(sw,
                                  PortNum{static_cast<std::uint8_t>(in)},
                                  PortNum{static_cast<std::uint8_t>(out)},
                                  static_cast<std::uint8_t>((in + out) % 8));
      }
    }
  }
  RouteReport report;
  for (auto _ : state)
    report = check_routes(fabric(), lids(), tables, {.minimality = false, .any_sl = any_sl});
  if (!report.ok()) state.SkipWithError("the tables are not sound");
  state.counters["vls"] = report.vls;
}

void load(benchmark::State& state) {
  const RoutingTables tables = find_engine("updn")->compute(fabric(), lids(), {}).value();
  for (auto _ : state) benchmark::DoNotOptimize(measure_load(fabric(), lids(), tables.lft));
}

void bisection(benchmark::State& state) {
  const RoutingTables tables = find_engine("updn")->compute(fabric(), lids(), {}).value();
  const std::vector<PortIdx> hosts = find_hosts(fabric(), lids());
  EffectiveBisection found;
  for (auto _ : state)
    found = measure_effective_bisection(fabric(), lids(), tables.lft, hosts, 100, 1);
  state.counters["mean_pct"] = 100 * found.mean;
}

BENCHMARK(build)->Unit(benchmark::kMillisecond);
BENCHMARK(assign)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, updn, "updn")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, minhop, "minhop")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, fera, "fera")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, pira, "pira")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sparse, fera, "fera")->DenseRange(0, 9)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sparse, fera_flood, "fera-flood")
    ->DenseRange(0, 9)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sparse, pira, "pira")->DenseRange(0, 9)->Unit(benchmark::kMicrosecond);
BENCHMARK(updn_again)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(keep, cable_lost, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(keep, cable_back, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, updn, "updn", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, updn_without_minimality, "updn", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check_lanes, sl_per_path, false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check_lanes, lanes_that_change, true, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check_lanes, lanes_that_change_any_sl, true, true)->Unit(benchmark::kMillisecond);
BENCHMARK(load)->Unit(benchmark::kMillisecond);
BENCHMARK(bisection)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smd

BENCHMARK_MAIN();
