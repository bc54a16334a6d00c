// 002-infiniband: what switches of today carry where LIDs beyond the first lead by way of another
// place (sm.non_minimal = "valiant"), on a butterfly and on a dragonfly as subnets.
#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/scenario/run.h"

namespace smd::sim::other_places {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "V1",
     .text = "on the butterfly, traffic to the next diagonal gets 1 / ((1 - w) K + 2 w), w the "
             "share on LIDs beyond the first",
     .source = "docs/engines.md, LIDs by way of other places",
     .measured = "{least:.3f} to {most:.3f} times that",
     .expected = "0.95 to 1.05 times that"},
    {.id = "V2",
     .text = "of uniform traffic it then carries 1 / (1 + w (1 - 2 / K)) of what first LIDs do",
     .source = "docs/engines.md, LIDs by way of other places",
     .measured = "{least:.3f} to {most:.3f} times that",
     .expected = "0.9 to 1.1 times that"},
    {.id = "V3",
     .text = "on the dragonfly, traffic to the next group gains with LMC 3",
     .source = "ours",
     .measured = "{least:.3f} times first LIDs",
     .expected = "at least 2"},
    {.id = "V4",
     .text = "under both adverse patterns LIDs by other places carry more than shortest paths of "
             "updn and "
             "dfsssp",
     .source = "ours",
     .measured = "{least:.3f} times the better one's",
     .expected = "more than 1"},
};

constexpr double kStep = 1.0 / 64;  // of what hosts' links carry
constexpr unsigned kMostLmc = 3;

struct Net {
  const char *name, *fabric, *engine, *adverse;
  std::vector<std::uint32_t> dims;
  std::uint32_t group;
  unsigned side;  // switches of a side of a butterfly
};

struct Row {
  const Net* net;
  const char* engine;
  unsigned lmc;
  bool adverse;
};

std::vector<Net> nets(bool quick) {
  return {{.name = "butterfly",
           .fabric =
               quick ? "hamming:dims=4.4,hosts=4,speed=HDR" : "hamming:dims=8.8,hosts=8,speed=HDR",
           .engine = "hamming",
           .adverse = "mdn",
           .dims = quick ? std::vector<std::uint32_t>{4, 4} : std::vector<std::uint32_t>{8, 8},
           .group = 0,
           .side = quick ? 4u : 8u},
          {.name = "dragonfly",
           .fabric = quick ? "dragonfly:a=5,c=2,h=2,speed=HDR" : "dragonfly:a=8,c=4,h=4,speed=HDR",
           .engine = "dragonfly",
           .adverse = "adv+1",
           .dims = {},
           .group = quick ? 5u : 8u,
           .side = 0}};
}

Result<double> measure(const Row& row, bool quick) {
  constexpr Picos kPacket = 83 * kNano;  // 2 KiB on a host's link
  constexpr unsigned kVls = 4, kIntervals = 5;
  Scenario s;
  s.file = row.net->name;
  s.fabric = row.net->fabric;
  s.packet.vls = s.program.vls = kVls;
  s.packet.adapters.waiting = SourceQueues::PerDestination;
  s.program.engine = row.engine;
  s.program.lmc = static_cast<std::uint8_t>(row.lmc);
  s.program.mtu = Mtu::B2048;
  if (row.lmc > 0) s.program.non_minimal = NonMinimal::Valiant;
  s.traffic.any_lid = row.lmc > 0;
  s.traffic.pattern = row.adverse ? row.net->adverse : "uniform-self";
  if (row.adverse) s.traffic.dims = row.net->dims;
  if (row.adverse) s.traffic.switches_per_group = row.net->group;
  const unsigned packets = quick ? 100 : 400;
  s.measure.plan = {.warm_up = packets * kPacket,
                    .interval = 2 * packets / kIntervals * kPacket,
                    .least_intervals = kIntervals,
                    .most_intervals = kIntervals,
                    .stop_early = false};
  const auto prepared = PreparedScenario::prepare(std::move(s));
  if (!prepared) return fail(Errc::Invalid, print_fault(prepared.error().at(0)));
  return find_peak(
      kStep, static_cast<unsigned>(1 / kStep), [&](unsigned steps) -> Result<LoadPoint> {
        const PointResult point = prepared->run(steps * kStep, 1);
        const std::string why = !point.steady.deadlock.empty() ? "a deadlock" : point.audit;
        if (!why.empty()) return fail(Errc::Invalid, fmt::format("{}: {}", row.net->fabric, why));
        const SteadyResult& steady = point.steady;
        return LoadPoint{.accepted = steady.accepted_load,
                         .share = steady.accepted_load / steady.offered_load};
      });
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<Net> all = nets(options.quick);
  std::vector<Row> rows;
  for (const Net& net : all) {
    for (const bool adverse : {false, true}) {
      for (unsigned lmc = 0; lmc <= kMostLmc; ++lmc)
        rows.push_back({&net, net.engine, lmc, adverse});
      for (const char* engine : {"updn", "dfsssp"}) rows.push_back({&net, engine, 0, adverse});
    }
  }
  const auto accepted = collect<double>(
      options.jobs, rows.size(), [&](std::size_t i) { return measure(rows[i], options.quick); });
  if (!accepted) return tl::unexpected<Error>(accepted.error());

  Findings out{.plot = {.title = "LIDs by way of other places",
                        .x_label = "LMC",
                        .y_label = "accepted, share of the hosts' links"}};
  Range diagonal, uniform, group, others;
  double first = 0, best = 0, shortest = 0;  // of a network under a pattern
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const double got = (*accepted)[i];
    const bool own = std::string_view{row.engine} == row.net->engine;
    const char* const pattern = row.adverse ? row.net->adverse : "uniform-self";
    out.add_row({{"network", row.net->fabric},
                 {"pattern", pattern},
                 {"engine", row.engine},
                 {"lmc", row.lmc},
                 {"accepted", got}});
    if (own) out.plot.add_point(fmt::format("{}, {}", row.net->name, pattern), row.lmc, got);
    if (own && row.lmc == 0) first = got;
    if (own && row.net->side > 0) {
      const double w = 1 - 1.0 / (1u << row.lmc), side = row.net->side;
      if (row.adverse)
        diagonal.add(got * ((1 - w) * side + 2 * w));
      else if (row.lmc > 0)
        uniform.add(got / first * (1 + w * (1 - 2 / side)));
    }
    if (!row.adverse) continue;
    if (own && row.lmc == kMostLmc) best = got;
    if (!own) shortest = std::max(shortest, got);
    if (i + 1 < rows.size() && rows[i + 1].net == row.net) continue;
    others.add(best / shortest);
    if (row.net->side == 0) group.add(best / first);
    shortest = 0;
  }
  out.verdicts =
      decide(kClaims, {{"V1", diagonal}, {"V2", uniform}, {"V3", group}, {"V4", others}});
  return out;
}

}  // namespace
}  // namespace smd::sim::other_places

namespace smd::sim {

std::vector<Experiment> other_places_tables() {
  return {{.name = "002-infiniband",
           .source = "ours; networks of Benito 2014",
           .about = "What LIDs by way of other places bring in subnets, and cost",
           .claims = other_places::kClaims,
           .run = other_places::run}};
}

}  // namespace smd::sim
