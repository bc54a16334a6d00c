// 000-infiniband: the networks of 000 and a cluster in production as subnets, in which packets move
// whole and nothing leaves the network between: engines on one lane against engines with lanes.
#include <fmt/core.h>

#include <array>
#include <map>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/verify/patterns.h"

namespace smd::sim::engine_ratio {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "L1",
     .text = "lanes gain over up*/down* on irregular networks, and more on larger ones",
     .source = "as Flich 2001 has it of stops at hosts",
     .measured = "{least:.3f} times",
     .expected = "ascending"},
    {.id = "L2",
     .text = "two to four lanes do",
     .source = "the longest of shortest paths",
     .measured = "{most:.0f}",
     .expected = "at most 4"},
    {.id = "L3",
     .text = "depth-first up*/down* carries no less than breadth-first on irregular networks",
     .source = "as Flich 2001 has it of worms",
     .measured = "{least:.3f} times, mean of a size",
     .expected = "at least 1"},
    {.id = "L4",
     .text = "turns that are chosen well gain on one lane what up*/down* forbids",
     .source = "nue on one lane against updn, irregular networks",
     .measured = "{least:.3f} times, mean of a size",
     .expected = "at least 1"},
    {.id = "L5",
     .text = "of local traffic lanes gain less than of uniform traffic, on the torus",
     .source = "the root is not on the way",
     .measured = "{most:.3f} of the gain",
     .expected = "at most 0.5"},
    {.id = "L6",
     .text = "on the cluster in production lanes carry more than up*/down*",
     .source = "itb-vl against updn",
     .measured = "{least:.3f} times",
     .expected = "at least 1.05"},
};

struct EngineRow {
  const char *name, *engine;
  unsigned vls;
  OrientationSearch search = OrientationSearch::BreadthFirst;
};

constexpr std::array kEngines{
    EngineRow{"updn", "updn", 1},
    EngineRow{"updn, depth-first", "updn", 1, OrientationSearch::DepthFirst},
    EngineRow{"nue, one lane", "nue", 1},
    EngineRow{"itb-vl", "itb-vl", 8},
    EngineRow{"dfsssp", "dfsssp", 8}};
constexpr std::size_t kUpdn = 0, kDepthFirst = 1, kNue = 2, kItbVl = 3;

struct Net {
  std::string name, fabric;
  unsigned switches = 0;  // of irregular ones; else 0
  std::string pattern = "uniform";
  unsigned packet_ns = 0;  // of a host's link
};

constexpr unsigned kHdr = 83, kNdr = 42;
constexpr double kStep = 0.05;  // of what hosts' links carry

struct Reading {
  double accepted = 0;
  // Of uniform traffic, what the fullest channel lets all hosts send alike. More may be accepted:
  // who does not cross it goes on.
  double limit = 1;
  unsigned lanes = 0;
  std::string refused;
};

/// In the time of so many packets of a host.
struct LoadTiming {
  unsigned warm_up, measured;
};

Result<Reading> read(const Net& net, const EngineRow& engine, const LoadTiming& timing) {
  Scenario s;
  s.file = net.name;
  s.fabric = net.fabric;
  s.packet.vls = s.program.vls = engine.vls;
  s.program.engine = engine.engine;
  s.program.search = engine.search;
  s.program.mtu = Mtu::B2048;
  s.traffic.pattern = net.pattern;
  constexpr unsigned kIntervals = 5;
  const Picos packet = net.packet_ns * kNano;
  s.measure.plan = {.warm_up = timing.warm_up * packet,
                    .interval = timing.measured / kIntervals * packet,
                    .least_intervals = kIntervals,
                    .most_intervals = kIntervals,
                    .stop_early = false};
  const auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return Reading{.refused = prepared.error().at(0).message};
  const RoutingTables& routing = prepared->fabric().routing;
  Reading out{.lanes = routing.path_sls.empty() ? 1 : routing.vls};
  const auto fabric = build_snapshot(prepared->spec());
  const auto lids = assign_lids(*fabric, {}, {});
  if (!lids) return tl::unexpected<Error>(lids.error());
  const std::vector<PortIdx> hosts = find_hosts(*fabric, lids->map);
  out.limit = measure_pattern(*fabric,
                              lids->map,
                              routing.lft,
                              hosts,
                              uniform_pattern(static_cast<HostNum>(hosts.size())))
                  .throughput;
  const auto peak =
      find_peak(kStep, static_cast<unsigned>(1 / kStep), [&](unsigned steps) -> Result<LoadPoint> {
        const PointResult point = prepared->run(steps * kStep, 1);
        const std::string why = !point.steady.deadlock.empty() ? "a deadlock" : point.audit;
        const SteadyResult& steady = point.steady;
        if (why.empty()) {
          return LoadPoint{.accepted = steady.accepted_load,
                           .share = steady.accepted_load / steady.offered_load};
        }
        return fail(Errc::Invalid, fmt::format("{} on {}: {}", engine.name, net.fabric, why));
      });
  if (!peak) return tl::unexpected<Error>(peak.error());
  out.accepted = *peak;
  return out;
}

std::vector<Net> nets(bool quick) {
  std::vector<Net> out;
  for (const unsigned switches : {16u, 32u, 64u}) {
    for (unsigned topology = 1; topology <= (quick ? 1 : 3); ++topology) {
      if (quick && switches == 64) continue;
      out.push_back({.name = fmt::format("{} switches, {}", switches, topology),
                     .fabric = irregular_fabric(switches, topology) + ",speed=HDR",
                     .switches = switches,
                     .packet_ns = kHdr});
    }
  }
  const char* const torus =
      quick ? "torus:dims=4.4,hosts=4,speed=HDR" : "torus:dims=8.8,hosts=8,speed=HDR";
  out.push_back({.name = "torus", .fabric = torus, .packet_ns = kHdr});
  out.push_back({.name = "torus, local", .fabric = torus, .pattern = "local", .packet_ns = kHdr});
  if (!quick) {
    out.push_back({.name = "express channels",
                   .fabric = "express-torus:dims=8.8,hosts=8,speed=HDR",
                   .packet_ns = kHdr});
    out.push_back({.name = "CPLANT", .fabric = "cplant:speed=HDR", .packet_ns = kHdr});
  }
  if (quick) {
    out.push_back({.name = "uneven tree",
                   .fabric = "pgft:down=8.16,up=1.8,parallel=1.2,uneven=20,missing=6,speed=NDR",
                   .packet_ns = kNdr});
  } else {
    out.push_back(
        {.name = "cluster in production", .fabric = "ndr-582:aggregation=0", .packet_ns = kNdr});
  }
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<Net> all = nets(options.quick);
  const LoadTiming timing = options.quick ? LoadTiming{100, 200} : LoadTiming{400, 800};
  const auto results =
      collect<Reading>(options.jobs, all.size() * kEngines.size(), [&](std::size_t i) {
        return read(all[i / kEngines.size()], kEngines[i % kEngines.size()], timing);
      });
  if (!results) return tl::unexpected<Error>(results.error());

  Findings out{.plot = {.title = "Lanes in subnets",
                        .x_label = "network, in the order of the table",
                        .y_label = "accepted, share of the hosts' links"}};
  Range lanes, cluster, local;
  std::map<unsigned, std::array<Sample, kEngines.size()>> gains;  // over updn, by size
  double uniform = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto at = [&](std::size_t e) { return (*results)[n * kEngines.size() + e]; };
    const double updn = at(kUpdn).accepted;
    for (std::size_t e = 0; e < kEngines.size(); ++e) {
      const Reading& one = at(e);
      const bool done = one.refused.empty();
      out.add_row({{"network", all[n].name},
                   {"engine", kEngines[e].name},
                   {"lanes", done ? one.lanes : 0},
                   {"limit", done ? one.limit : 0},
                   {"accepted", one.accepted},
                   {"to_updn", one.accepted / updn},
                   {"refused", one.refused}});
      if (!done) continue;
      out.plot.add_point(kEngines[e].name, static_cast<double>(n), one.accepted);
      if (e == kItbVl) lanes.add(one.lanes);
      if (all[n].switches > 0) gains[all[n].switches][e].add(one.accepted / updn);
    }
    const double gain = at(kItbVl).accepted / updn;
    if (all[n].name == "torus") uniform = gain;
    if (all[n].pattern == "local") local.add(share_of_gain(gain, uniform));
    if (&all[n] == &all.back()) cluster.add(gain);
  }
  std::string text;
  bool ascends = true;
  double before = 1;
  Range depth_first, nue;
  for (const auto& [switches, engines] : gains) {
    const double gain = engines[kItbVl].mean();
    text += fmt::format("{}{:.2f} ({})", text.empty() ? "" : ", ", gain, switches);
    ascends = ascends && gain > before;
    before = gain;
    depth_first.add(engines[kDepthFirst].mean());
    nue.add(engines[kNue].mean());
  }
  out.verdicts = decide(kClaims,
                        {{"L1", text + " times", ascends},
                         {"L2", lanes},
                         {"L3", depth_first},
                         {"L4", nue},
                         {"L5", local},
                         {"L6", cluster}});
  return out;
}

}  // namespace
}  // namespace smd::sim::engine_ratio

namespace smd::sim {

std::vector<Experiment> engine_ratio_tables() {
  return {{.name = "000-infiniband",
           .source = "ours; networks of Flich 2001",
           .about = "What lanes bring in subnets: updn, nue, itb-vl and dfsssp on one network each",
           .claims = engine_ratio::kClaims,
           .run = engine_ratio::run}};
}

}  // namespace smd::sim
