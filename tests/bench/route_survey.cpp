// What the routes of each engine are worth on many fabrics, and how far the choice of `auto` is
// from the best of them: uniform throughput and permutations, both at once. To be run by hand; what
// it prints is the same on every machine, but for times.
//
//   uniform       what everybody to everybody at once gets of full rate
//   permutations  what a flow of a random permutation gets, mean of 200
//   off           how far auto is below the best engine: at the one, at the other
//   in reach      the least that the larger of the two could be, by any engine
//   usual         the same by updn, ftree or minhop
//   bound         the fullest channel against what any routes must carry
//
// With --names N instead: how much hangs on GUIDs, LIDs, port numbers and the order of discovery.
// Each fabric is labelled anew N times; of the fullest channel and of the mean of permutations the
// best and the worst, and how far the worst is from the best.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "sim-backend/topology/snapshot.h"
#include "smd/base/command_line.h"
#include "smd/base/program.h"
#include "smd/base/rng.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/load_bound.h"
#include "smd/routing/verify/route_measures.h"
#include "tests/support/relabel.h"

namespace smd::bench {
namespace {

constexpr const char* kEngines[] = {
    "ftree", "dor", "hamming", "dragonfly", "updn", "nue", "dfsssp", "itb-vl", "lash", "minhop"};

constexpr MeasureOptions kMeasure{.permutations = 200, .seed = 7};

struct Wishes {
  std::vector<std::string> fabrics{"fat-tree:k=8,levels=3",
                                   "fat-tree:k=16",
                                   "fat-tree:k=36,hosts=648",
                                   "torus:dims=4.4,hosts=4",
                                   "torus:dims=8.8,hosts=2",
                                   "torus:dims=5.5,hosts=2",
                                   "torus:dims=4.4.4,hosts=2",
                                   "torus:dims=6.6,mesh=1,hosts=2",
                                   "hamming:dims=4.4,hosts=4",
                                   "hamming:dims=6.6,hosts=6",
                                   "dragonfly",
                                   "dragonfly:a=8,c=4,h=4",
                                   "irregular:switches=24,ports=16,links=4,hosts=6",
                                   "irregular:switches=64,ports=16,links=6,hosts=6",
                                   "irregular:switches=40,ports=24,links=8,hosts=8,seed=2"};
  std::vector<unsigned> losses{0, 5, 15};  // per cent of the cables between switches
  std::vector<std::string> engines;
  bool details = false;
  unsigned names = 0;
  unsigned auto_vls = EngineOptions{}.auto_vls;
  bool free = false;

  [[nodiscard]] EngineOptions options() const {
    return {.auto_vls = auto_vls, .auto_changes = free ? AutoChanges::Free : AutoChanges::Any};
  }
};

/// Cables between switches, but the last of a switch, are taken away by chance.
void lose_cables(sim::FabricSpec& spec, unsigned per_cent) {
  Rng rng(per_cent + 1);
  const auto is_switch = [&](std::uint32_t node) {
    return node != sim::kNoNode && spec.nodes[node].type == NodeType::Switch;
  };
  std::vector<unsigned> left(spec.nodes.size(), 0);
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    for (const sim::PortSpec& port : spec.nodes[node].ports)
      left[node] += is_switch(node) && is_switch(port.peer_node) ? 1 : 0;
  }
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    for (sim::PortSpec& port : spec.nodes[node].ports) {
      const std::uint32_t peer = port.peer_node;
      if (!is_switch(node) || !is_switch(peer) || peer <= node) continue;
      if (!rng.chance(per_cent / 100.0) || left[node] < 2 || left[peer] < 2) continue;
      --left[node];
      --left[peer];
      spec.nodes[peer].ports[port.peer_port.value()].peer_node = sim::kNoNode;
      port.peer_node = sim::kNoNode;
    }
  }
}

double spent_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Row {
  std::string engine;
  RouteMeasures measures;
  unsigned vls = 1;
};

struct Totals {
  unsigned fabrics = 0, near = 0, in_reach = 0;
  unsigned below = 0;  // by over 1 % than updn, ftree or minhop, at what is worse of the two
  double worst = 0;
};

void survey(sim::FabricSpec spec, unsigned loss, const Wishes& wishes, Totals& totals) {
  const std::string name =
      loss == 0 ? spec.title : fmt::format("{}, {} % of its cables lost", spec.title, loss);
  lose_cables(spec, loss);
  const std::shared_ptr<const Fabric> fabric = sim::build_snapshot(spec);
  const LidMap lids = assign_lids(*fabric, {}, {}).value().map;
  const LoadBound bound = find_load_bound(*fabric, lids);
  std::vector<Row> rows;
  for (const char* const engine : kEngines) {
    const auto tables = find_engine(engine)->compute(*fabric, lids, {});
    if (!tables) continue;
    if (!check_routes(*fabric, lids, *tables, {.minimality = false}).acyclic) continue;
    rows.push_back({engine, measure_routes(*fabric, lids, tables->lft, kMeasure), tables->vls});
  }
  const double begin = spent_ms();
  const RoutingTables chosen =
      find_engine("auto")->compute(*fabric, lids, {.options = wishes.options()}).value();
  const double took = spent_ms() - begin;
  const RouteMeasures own = measure_routes(*fabric, lids, chosen.lft, kMeasure);
  double uniform = 0, permutations = 0;
  for (const Row& row : rows) {
    uniform = std::max(uniform, row.measures.uniform);
    permutations = std::max(permutations, row.measures.permutations);
  }
  const auto off = [&](const RouteMeasures& of) {
    return std::pair{100 * (1 - of.uniform / uniform), 100 * (1 - of.permutations / permutations)};
  };
  double in_reach = 100, usual = 100;
  for (const Row& row : rows) {
    const auto [by_uniform, by_permutations] = off(row.measures);
    in_reach = std::min(in_reach, std::max(by_uniform, by_permutations));
    if (row.engine == "updn" || row.engine == "ftree" || row.engine == "minhop")
      usual = std::min(usual, std::max(by_uniform, by_permutations));
  }
  const auto [by_uniform, by_permutations] = off(own);
  const double most = std::max(by_uniform, by_permutations);
  ++totals.fabrics;
  totals.near += most <= 7 ? 1 : 0;
  totals.in_reach += in_reach <= 7 ? 1 : 0;
  totals.below += most > usual + 1 ? 1 : 0;
  totals.worst = std::max(totals.worst, most);
  fmt::print(
      "| {} | {} | {:.1f} / {:.1f} | {:.1f} / {:.1f} | {:.1f}, {:.1f} | {:.1f} | {:.1f} | {:.2f} | "
      "{:.0f} |\n",
      name,
      chosen.engine,
      100 * own.uniform,
      100 * uniform,
      100 * own.permutations,
      100 * permutations,
      by_uniform,
      by_permutations,
      in_reach,
      usual,
      bound.ratio(own.load.fullest),
      took);
  if (wishes.details) {
    for (const Row& row : rows) {
      const auto [one, other] = off(row.measures);
      fmt::print(
          "    {:<10} uniform {:.1f} permutations {:.1f} shifts {:.1f} worst {:.1f} hops {:.2f} "
          "VLs "
          "{} load {} ({:.2f}) off {:.1f}, {:.1f}\n",
          row.engine,
          100 * row.measures.uniform,
          100 * row.measures.permutations,
          100 * row.measures.shifts,
          100 * row.measures.worst_shift,
          row.measures.mean_hops,
          row.vls,
          row.measures.load.max,
          bound.ratio(row.measures.load.fullest),
          one,
          other);
    }
    for (const std::string& note : chosen.notes) fmt::print("    {}\n", note);
  }
  std::fflush(stdout);
}

struct Spread {
  std::uint64_t least = 0, most = 0;  // the fullest channel
  double worst = 0, best = 0;         // permutations
  double took_ms = 0;                 // to route, of all
  unsigned routed = 0;

  void add(const RouteMeasures& measures) {
    const std::uint64_t load = measures.load.max;
    least = routed == 0 ? load : std::min(least, load);
    most = std::max(most, load);
    worst = routed == 0 ? measures.permutations : std::min(worst, measures.permutations);
    best = std::max(best, measures.permutations);
    ++routed;
  }
};

void survey_names(const sim::FabricSpec& drawn, unsigned loss, const Wishes& wishes) {
  sim::FabricSpec spec = drawn;
  lose_cables(spec, loss);
  std::vector<std::string> engines = wishes.engines;
  if (engines.empty()) {
    engines.assign(std::begin(kEngines), std::end(kEngines));
    engines.emplace_back("auto");
  }
  std::vector<Spread> spreads(engines.size());
  for (unsigned seed = 1; seed <= wishes.names; ++seed) {
    sim::FabricSpec other = spec;
    sim::relabel(other, seed);
    const std::shared_ptr<const Fabric> fabric = sim::build_snapshot(other);
    const LidMap lids = assign_lids(*fabric, {}, {}).value().map;
    for (std::size_t i = 0; i < engines.size(); ++i) {
      const double begin = spent_ms();
      const auto tables = find_engine(engines[i])->compute(*fabric, lids, {});
      spreads[i].took_ms += spent_ms() - begin;
      if (tables) spreads[i].add(measure_routes(*fabric, lids, tables->lft, kMeasure));
    }
  }
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const Spread& spread = spreads[i];
    if (spread.routed == 0) continue;
    fmt::print("| {} | {} | {} | {} | {}, {} | {:.1f} | {:.1f}, {:.1f} | {:.1f} | {:.1f} |\n",
               drawn.title,
               loss,
               engines[i],
               spread.routed,
               spread.least,
               spread.most,
               100.0 * static_cast<double>(spread.most) / static_cast<double>(spread.least) - 100,
               100 * spread.best,
               100 * spread.worst,
               100 - 100 * spread.worst / spread.best,
               spread.took_ms / wishes.names);
  }
  std::fflush(stdout);
}

int run(const Wishes& wishes) {
  Totals totals;
  if (wishes.names != 0) {
    fmt::print(
        "| fabric | cables lost, % | engine | routed under so many names | fullest channel: least, "
        "most | more, % | permutations %: best, worst | less, % | ms |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string& name : wishes.fabrics) {
      const auto spec = sim::load_fabric(name);
      if (!spec) return print_faults(spec.error());
      for (const unsigned loss : wishes.losses) survey_names(*spec, loss, wishes);
    }
    return 0;
  }
  fmt::print(
      "| fabric | auto takes | uniform %, own / best | permutations %, own / best | off % | in "
      "reach % | usual % | bound | auto ms |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const std::string& name : wishes.fabrics) {
    const auto spec = sim::load_fabric(name);
    if (!spec) return print_faults(spec.error());
    for (const unsigned loss : wishes.losses) survey(*spec, loss, wishes, totals);
  }
  fmt::print(
      "\n{} fabrics: auto within 7 % of the best at both on {}; some engine is on {}; auto is off "
      "by {:.1f} % at most, and by over 1 % more than updn, ftree or minhop on {}\n",
      totals.fabrics,
      totals.near,
      totals.in_reach,
      totals.worst,
      totals.below);
  return 0;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  Wishes wishes;
  smd::CommandLine line{"What the routes of each engine are worth, and how far auto is off"};
  line.option("--fabrics", wishes.fabrics, "Files or generators").show_default();
  line.option("--losses", wishes.losses, "Per cent of the cables that are lost")
      .range(0u, 100u)
      .show_default();
  line.option("--names", wishes.names, "Labels each fabric anew so many times").range(1u, 1000u);
  line.option("--engines", wishes.engines, "With --names: these; all and auto without");
  line.option("--auto-vls", wishes.auto_vls, "What auto may use").range(1u, 15u).show_default();
  line.flag("--free", wishes.free, "auto asks engines whose changes hardly ever block anything");
  line.flag("--details", wishes.details, "Every engine, and what auto says");
  if (const auto code = line.parse(argc, argv)) return *code;
  return run(wishes);
}
