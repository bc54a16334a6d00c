// Engines for regular fabrics, recognition included: the fabrics that OpenSM was timed on, and the
// same with a cable or a switch missing.
#include <benchmark/benchmark.h>

#include <string>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"

namespace smd {
namespace {

struct Row {
  const char* name;
  const char* engine;
  const char* fabric;
};

constexpr Row kRows[] = {
    {"torus-2d-1024", "dor", "torus:dims=16.16,hosts=4"},
    {"torus-3d-2048", "dor", "torus:dims=8.8.8,hosts=4"},
    {"torus-3d-4096", "dor", "torus:dims=16.16.16,hosts=1"},
    {"mesh-2d-1024", "dor", "torus:dims=16.16,hosts=4,mesh=1"},
    {"mesh-2d-1024", "hamiltonian", "torus:dims=16.16,hosts=4,mesh=1"},
    {"dragonfly-1056", "dragonfly", "dragonfly:a=8,h=4,c=4"},
    {"dragonfly-5256", "dragonfly", "dragonfly:a=9,h=8,c=8"},
    {"butterfly-4096", "hamming", "hamming:dims=16.16,hosts=16"},
};

// What is missing is the first cable, or the first switch, that is not the manager's.
enum class Loss { None, Cable, Switch };

std::shared_ptr<const Fabric> build(const Row& row, Loss loss) {
  sim::FabricSpec spec = sim::load_fabric(row.fabric).value();
  std::uint32_t last = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Switch) last = n;
  }
  for (sim::PortSpec& port : spec.nodes[last].ports) {
    const bool cabled = port.peer_node != sim::kNoNode;
    if (loss == Loss::None || !cabled) continue;
    sim::NodeSpec& far = spec.nodes[port.peer_node];
    if (loss == Loss::Cable && far.type != NodeType::Switch) continue;
    far.ports[port.peer_port.value()].peer_node = sim::kNoNode;
    port.peer_node = sim::kNoNode;
    if (loss == Loss::Cable) break;
  }
  if (loss == Loss::Switch) spec.nodes[last].type = NodeType::Ca;  // dark: nobody is cabled to it
  return sim::build_snapshot(spec);
}

void compute(benchmark::State& state, const Row& row, Loss loss) {
  const auto fabric = build(row, loss);
  const LidMap lids = assign_lids(*fabric, {}, {}).value().map;
  const Engine& engine = *find_engine(row.engine);
  for (auto _ : state) {
    const auto tables = engine.compute(*fabric, lids, {});
    benchmark::DoNotOptimize(&tables);
    if (!tables) {
      state.SkipWithError(tables.error().context.c_str());
      return;
    }
  }
  const RoutingTables tables = engine.compute(*fabric, lids, {}).value();
  const LoadReport load = measure_load(*fabric, lids, tables.lft);
  state.counters["vls"] = tables.vls;
  state.counters["load_max"] = static_cast<double>(load.max);
  state.counters["load_mean"] = load.mean;
}

void register_all() {
  for (const Row& row : kRows) {
    for (const auto& [loss, text] : {std::pair{Loss::None, ""},
                                     std::pair{Loss::Cable, "/cable_lost"},
                                     std::pair{Loss::Switch, "/switch_lost"}}) {
      const Loss what = loss;
      benchmark::RegisterBenchmark((std::string{row.engine} + "/" + row.name + text).c_str(),
                                   [&row, what](benchmark::State& s) { compute(s, row, what); })
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace smd

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  smd::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
