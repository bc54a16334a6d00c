// Snapshot, LIDs, engines and checker on the three-level fat tree of 36-port switches: 1,620
// switches, 11,664 hosts.
#include <benchmark/benchmark.h>

#include "smd/fabric/builder.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/check.h"
#include "smd/routing/engine.h"

namespace smd {
namespace {

constexpr unsigned kRadix = 36;
constexpr unsigned kHalf = kRadix / 2;

NodeIdx add(FabricBuilder& builder, NodeType type, unsigned ports, std::uint64_t guid) {
  NodeInfo info;
  info.node_type = static_cast<std::uint8_t>(type);
  info.num_ports = static_cast<std::uint8_t>(ports);
  info.node_guid = info.port_guid = Guid{guid};
  info.local_port = PortNum{1};
  return builder.add_node(info);
}

PortNum number(unsigned p) { return PortNum{static_cast<std::uint8_t>(p)}; }

std::shared_ptr<const Fabric> build_fat_tree() {
  FabricBuilder builder;
  std::uint64_t guid = 0;
  std::vector<NodeIdx> cores;
  for (unsigned c = 0; c < kHalf * kHalf; ++c)
    cores.push_back(add(builder, NodeType::Switch, kRadix, ++guid));
  for (unsigned pod = 0; pod < kRadix; ++pod) {
    std::vector<NodeIdx> aggs;
    for (unsigned a = 0; a < kHalf; ++a) {
      aggs.push_back(add(builder, NodeType::Switch, kRadix, ++guid));
      for (unsigned c = 0; c < kHalf; ++c)
        builder.add_link(aggs[a], number(kHalf + c + 1), cores[a * kHalf + c], number(pod + 1));
    }
    for (unsigned l = 0; l < kHalf; ++l) {
      const NodeIdx leaf = add(builder, NodeType::Switch, kRadix, ++guid);
      for (unsigned a = 0; a < kHalf; ++a)
        builder.add_link(leaf, number(kHalf + a + 1), aggs[a], number(l + 1));
      for (unsigned h = 0; h < kHalf; ++h)
        builder.add_link(leaf, number(h + 1), add(builder, NodeType::Ca, 1, ++guid), PortNum{1});
    }
  }
  builder.set_sm_port(cores[0], PortNum{0});
  return builder.build(Epoch{1});
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

// After a change: the orientation is kept, so no root has to be chosen.
void updn_again(benchmark::State& state) {
  const RoutingTables before = find_engine("updn")->compute(fabric(), lids(), {}).value();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        find_engine("updn")->compute(fabric(), lids(), {.previous = &before.orientation}));
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

void load(benchmark::State& state) {
  const RoutingTables tables = find_engine("updn")->compute(fabric(), lids(), {}).value();
  for (auto _ : state) benchmark::DoNotOptimize(measure_load(fabric(), lids(), tables.lft));
}

BENCHMARK(build)->Unit(benchmark::kMillisecond);
BENCHMARK(assign)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, updn, "updn")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine, minhop, "minhop")->Unit(benchmark::kMillisecond);
BENCHMARK(updn_again)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, updn, "updn", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, updn_without_minimality, "updn", false)->Unit(benchmark::kMillisecond);
BENCHMARK(load)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smd

BENCHMARK_MAIN();
