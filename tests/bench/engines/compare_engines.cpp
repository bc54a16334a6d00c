// Each engine beside OpenSM's engine of the same name, on the same net files: how long it computes
// and what its routes are worth. To be run by hand; its times hold for one machine at one time.
//
//   OpenSM ms  within its engine's two callbacks, in the stock opensm on ibsim (route_probe.cpp)
//   smd ms     one call of Engine::compute() on the fabric of the same file: the median of all runs
//   hops       mean (most) links between switches, over ordered pairs of hosts
//   VLs        that packets of hosts travel on; OpenSM's dfsssp and lash: what their log says they
//              need, since they spread paths over the rest; "loop": those packets can deadlock
//   load       paths of pairs of hosts on the fullest channel between switches
//   bisection  share of its full rate that a flow gets, mean of 50 random permutations
//
// With --auto: what engine auto takes beside the best that any engine of OpenSM's has, in either.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "sim-backend/topology/snapshot.h"
#include "smd/base/command_line.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "tests/bench/engines/opensm_routes.h"
#include "tests/bench/engines/quality.h"
#include "tests/bench/timed_process.h"
#include "tests/cross/smd_on_ibsim.h"

namespace smd::bench {
namespace {

/// Two engines, asked for the same.
struct Pair {
  std::string name;
  std::string engine;
  std::string opensm_options;
  RoutingRequest request;
};

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (const char* const each : {"minhop", "updn", "ftree", "dor", "dfsssp", "lash"})
    pairs.push_back({.name = each, .engine = each, .opensm_options = {}, .request = {}});
  pairs.push_back({.name = "nue-1vl",
                   .engine = "nue",
                   .opensm_options = "nue_max_num_vls 1\n",
                   .request = {.max_vls = 1}});
  pairs.push_back(
      {.name = "nue", .engine = "nue", .opensm_options = "nue_max_num_vls 0\n", .request = {}});
  return pairs;
}

struct Wishes {
  std::vector<std::string> fabrics{"fat-tree:k=36,hosts=648",
                                   "fat-tree:k=36,levels=3,hosts=1728",
                                   "torus:dims=16.16,hosts=4",
                                   "torus:dims=8.8.8,hosts=4",
                                   "dragonfly:a=8,c=4,h=4",
                                   "irregular:switches=250,ports=16,links=8,hosts=8",
                                   "fat-tree:k=36,levels=3,hosts=3456",
                                   "fat-tree:k=36,levels=3,hosts=5184",
                                   "dragonfly:a=12,c=6,h=6",
                                   "fat-tree:k=36,levels=3"};
  std::vector<std::string> engines;
  unsigned runs = 5;
  unsigned limit_s = 300;
  bool automatic = false;  // --auto
};

/// One side of a row.
struct Side {
  bool routed = false;
  std::string said;  // instead of a time, where there are no routes
  double ms = 0, least_ms = 0, most_ms = 0;
  RouteQuality quality;
};

Side run_ours(const Fabric& fabric, const Pair& pair, unsigned runs) {
  Side side;
  const Engine* const engine = find_engine(pair.engine);
  const LidMap lids = assign_lids(fabric, {}, {}).value().map;
  std::vector<double> spent;
  for (unsigned run = 0; run < runs; ++run) {
    const Clock::time_point begin = Clock::now();
    const auto tables = engine->compute(fabric, lids, pair.request);
    spent.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!tables) {
      side.said = "refused: " + tables.error().context;
      return side;
    }
    if (run == 0) side.quality = measure_quality(fabric, lids, *tables);
  }
  std::sort(spent.begin(), spent.end());
  side.routed = true;
  side.least_ms = spent.front();
  side.ms = spent[spent.size() / 2];
  side.most_ms = spent.back();
  return side;
}

Side run_opensm(const Fabric& fabric,
                const std::filesystem::path& net,
                const Pair& pair,
                unsigned limit_s) {
  Side side;
  const OpensmAnswer answer =
      ask_opensm(fabric, net, pair.engine, pair.opensm_options, std::chrono::seconds(limit_s));
  side.ms = answer.ms;
  switch (answer.kind) {
    case OpensmAnswer::Kind::Routed:
      side.routed = true;
      side.quality = measure_quality(fabric, answer.routes.lids, answer.routes.tables);
      if (answer.lanes_needed != 0) side.quality.lanes = answer.lanes_needed;
      break;
    case OpensmAnswer::Kind::OverLimit:
      side.ms = 1e3 * limit_s;
      side.said = fmt::format("> {} s", limit_s);
      break;
    case OpensmAnswer::Kind::Failed:
      side.said = fmt::format("failed after {:.1f} ms: {}", answer.ms, answer.why);
      break;
    case OpensmAnswer::Kind::Broken:
      side.said = "no answer: " + answer.why;
      break;
  }
  return side;
}

/// From so many hosts on it shall be ten times as fast.
constexpr std::size_t kManyHosts = 1000;

/// Where we are not as fast as we shall be, or worth less.
std::string find_shortcomings(const Side& theirs, const Side& ours, std::size_t hosts) {
  std::vector<std::string> all;
  if (!ours.routed) return theirs.routed ? "no routes" : "";
  const RouteQuality &a = theirs.quality, &b = ours.quality;
  if (b.lost != 0) all.push_back(fmt::format("{} pairs lost", b.lost));
  const bool both_loop = theirs.routed && a.credit_loop && b.credit_loop;
  if (b.credit_loop && !both_loop) all.emplace_back("loop");
  if (theirs.routed) {
    if (hosts >= kManyHosts && theirs.ms < 10 * ours.ms) all.emplace_back("time");
    if (b.mean_hops > a.mean_hops + 0.0005 || b.max_hops > a.max_hops) all.emplace_back("hops");
    if (b.lanes > a.lanes && (both_loop || !a.credit_loop)) all.emplace_back("VLs");
    if (b.max_load > a.max_load) all.emplace_back("load");
    if (b.bisection < a.bisection - 0.0005) all.emplace_back("bisection");
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

/// "theirs / ours", with a dash for who has none.
template <class Print>
std::string both(const Side& theirs, const Side& ours, Print print) {
  const auto one = [&](const Side& side) {
    return side.routed ? print(side.quality) : std::string("–");
  };
  return one(theirs) + " / " + one(ours);
}

void print_row(const Pair& pair, const Side& theirs, const Side& ours, std::size_t hosts) {
  using Q = const RouteQuality&;
  const bool over = !theirs.routed && theirs.said.starts_with(">");
  const std::string ratio =
      ours.routed && (theirs.routed || over)
          ? fmt::format("{}{:.1f}", over ? "> " : "", theirs.ms / std::max(ours.ms, 1e-3))
          : "–";
  fmt::print(
      "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
      pair.name,
      theirs.routed ? fmt::format("{:.1f}", theirs.ms)
      : over        ? theirs.said
                    : "–",
      ours.routed ? fmt::format("{:.2f} ({:.2f}–{:.2f})", ours.ms, ours.least_ms, ours.most_ms)
                  : "–",
      ratio,
      both(theirs, ours, [](Q q) { return fmt::format("{:.3f} ({})", q.mean_hops, q.max_hops); }),
      both(theirs,
           ours,
           [](Q q) { return fmt::format("{}{}", q.lanes, q.credit_loop ? " loop" : ""); }),
      both(theirs, ours, [](Q q) { return fmt::format("{}", q.max_load); }),
      both(theirs, ours, [](Q q) { return fmt::format("{:.1f}", 100 * q.bisection); }),
      find_shortcomings(theirs, ours, hosts));
  std::fflush(stdout);
}

/// A fabric as both sides read it.
struct Network {
  std::shared_ptr<const Fabric> fabric;  // null: no such fabric, which was said
  test::Scratch folder;
  std::filesystem::path net = folder.path() / "fabric.net";

  explicit Network(const std::string& name) {
    const auto spec = sim::load_fabric(name);
    if (!spec) {
      fmt::print(stderr, "{}\n", print_fault(spec.error().front()));
      return;
    }
    fabric = sim::build_snapshot(*spec);
    std::ofstream(net) << sim::print_fabric(*spec);
  }

  [[nodiscard]] std::size_t hosts() const { return fabric->node_count() - fabric->switch_count(); }
};

/// Fabrics on which auto is at least as good as the best of OpenSM's engines.
struct Tally {
  std::size_t fabrics = 0, load = 0, bisection = 0, safe = 0;
};

bool compare_auto(const std::string& name,
                  const std::vector<Pair>& pairs,
                  const Wishes& wishes,
                  Tally& tally) {
  const Network of{name};
  if (!of.fabric) return false;
  const Side ours = run_ours(*of.fabric, {.name = "auto", .engine = "auto"}, 1);
  if (!ours.routed) {
    fmt::print("| {} | {} | | | | |\n", name, ours.said);
    return false;
  }

  struct Best {
    double value = 0;
    std::string engine = "none";
  } load, bisection;

  bool asked = true;
  for (const Pair& pair : pairs) {
    const Side theirs = run_opensm(*of.fabric, of.net, pair, wishes.limit_s);
    asked = asked && !theirs.said.starts_with("no answer");
    if (!theirs.routed || theirs.quality.lost != 0) continue;
    const std::string engine = pair.name + (theirs.quality.credit_loop ? ", with a loop" : "");
    const auto paths = static_cast<double>(theirs.quality.max_load);
    if (load.engine == "none" || paths < load.value) load = {paths, engine};
    if (theirs.quality.bisection > bisection.value) bisection = {theirs.quality.bisection, engine};
  }
  const RouteQuality& own = ours.quality;
  ++tally.fabrics;
  tally.load += load.engine == "none" || static_cast<double>(own.max_load) <= load.value ? 1 : 0;
  tally.bisection += own.bisection >= bisection.value - 0.0005 ? 1 : 0;
  tally.safe += own.credit_loop || own.lost != 0 ? 0 : 1;
  fmt::print("| {} | {} | {} | {:.0f} ({}) | {:.1f} | {:.1f} ({}) |\n",
             name,
             own.credit_loop ? "loop" : fmt::format("{}", own.lanes),
             own.max_load,
             load.value,
             load.engine,
             100 * own.bisection,
             100 * bisection.value,
             bisection.engine);
  std::fflush(stdout);
  return asked;
}

bool compare(const std::string& name, const std::vector<Pair>& pairs, const Wishes& wishes) {
  const Network of{name};
  if (!of.fabric) return false;
  const Fabric* const fabric = of.fabric.get();
  const std::size_t hosts = of.hosts();
  const Clock::time_point begin = Clock::now();
  fmt::print("### {} ({} switches, {} hosts)\n\n", name, fabric->switch_count(), hosts);
  fmt::print(
      "| engine | OpenSM ms | smd ms (least–most) | OpenSM over smd | hops, OpenSM / smd | VLs | "
      "load | bisection % | smd falls short in |\n|---|---|---|---|---|---|---|---|---|\n");
  std::vector<std::string> remarks;
  bool asked = true;
  for (const Pair& pair : pairs) {
    const Side ours = run_ours(*fabric, pair, wishes.runs);
    const Side theirs = run_opensm(*fabric, of.net, pair, wishes.limit_s);
    print_row(pair, theirs, ours, hosts);
    if (!theirs.said.empty())
      remarks.push_back(fmt::format("OpenSM's {}: {}", pair.name, theirs.said));
    if (!ours.said.empty()) remarks.push_back(fmt::format("smd's {}: {}", pair.name, ours.said));
    if (theirs.routed && theirs.quality.lost != 0)
      remarks.push_back(fmt::format(
          "OpenSM's {}: {} pairs of hosts without a route", pair.name, theirs.quality.lost));
    asked = asked && !theirs.said.starts_with("no answer");
  }
  fmt::print("\n");
  for (const std::string& remark : remarks) fmt::print("- {}\n", remark);
  fmt::print("{}Took {:.0f} s.\n\n",
             remarks.empty() ? "" : "\n",
             std::chrono::duration<double>(Clock::now() - begin).count());
  std::fflush(stdout);
  return asked;
}

int run(const Wishes& wishes) {
  std::vector<Pair> pairs = all_pairs();
  if (!wishes.engines.empty()) {
    std::erase_if(pairs, [&](const Pair& pair) {
      return std::ranges::find(wishes.engines, pair.name) == wishes.engines.end();
    });
  }
  bool all = !pairs.empty();
  if (wishes.automatic) {
    fmt::print(
        "| fabric | VLs | load | OpenSM's least | bisection % | OpenSM's best |\n"
        "|---|---|---|---|---|---|\n");
    Tally tally;
    for (const std::string& fabric : wishes.fabrics)
      all = compare_auto(fabric, pairs, wishes, tally) && all;
    fmt::print(
        "\n{} fabrics: auto is at least as good in load on {}, in bisection on {}, free of credit "
        "loops on {}\n",
        tally.fabrics,
        tally.load,
        tally.bisection,
        tally.safe);
    return all ? 0 : 1;
  }
  for (const std::string& fabric : wishes.fabrics) all = compare(fabric, pairs, wishes) && all;
  return all ? 0 : 1;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  Wishes wishes;
  smd::CommandLine line{"Routing engines beside OpenSM's of the same name: time and quality"};
  line.option("--fabrics", wishes.fabrics, "Files or generators").show_default();
  line.option("--engines",
              wishes.engines,
              "minhop, updn, ftree, dor, dfsssp, lash, nue-1vl, nue; all unless named");
  line.option("--runs", wishes.runs, "Runs of ours; OpenSM runs once")
      .range(1, 1000)
      .show_default();
  line.option("--limit", wishes.limit_s, "Seconds that OpenSM may compute")
      .range(1, 86400)
      .show_default();
  line.flag("--auto", wishes.automatic, "Engine auto beside the best of OpenSM's engines");
  if (const auto code = line.parse(argc, argv)) return *code;
  return run(wishes);
}
