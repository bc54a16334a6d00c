// 002-infiniband: what switches of today carry where LIDs beyond the first lead by way of another
// place (sm.non_minimal = "valiant"), on a butterfly and on a dragonfly as subnets; and what
// switches would that chose by their queues instead, and in which order packets then come.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim-backend/adaptive/limits.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"
#include "sim-backend/measure/arrival_order.h"
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
    {.id = "V5",
     .text = "by tables packets of one source, LID and SL come in the order in which they were "
             "made, and so they do where there is one minimal way",
     .source = "ours",
     .must_hold = true,
     .measured = "{most:.4f} of packets out of order",
     .expected = "none"},
    {.id = "V6",
     .text = "where switches choose by their queues, packet by packet, some of messages of 64 KiB "
             "come out of order at half of what is accepted at most",
     .source = "ours",
     .must_hold = true,
     .measured = "{least:.4f} to {most:.4f} of packets",
     .expected = "more than 0"},
    {.id = "V7",
     .text = "adaptive minimal ways carry of both adverse patterns what minimal ways can",
     .source = "docs/packet-level.md, limits",
     .measured = "{least:.3f} to {most:.3f} times the limit",
     .expected = "0.95 to 1.05 times the limit"},
    {.id = "V8",
     .text = "minimal ways or Valiant's, as the source's switch chooses (ugal-l), carry of both "
             "what Valiant's can",
     .source = "docs/packet-level.md, limits",
     .measured = "{least:.3f} to {most:.3f} times the limit",
     .expected = "0.95 to 1.05 times the limit"},
    {.id = "V9",
     .text = "on the butterfly, ways that each switch may lead astray (dal) carry as much",
     .source = "docs/packet-level.md, limits",
     .measured = "{least:.3f} times the limit",
     .expected = "0.95 to 1.05 times the limit"},
    {.id = "V10",
     .text = "of uniform traffic all of them carry what minimal ways can",
     .source = "docs/packet-level.md, limits",
     .measured = "{least:.3f} to {most:.3f} times the limit",
     .expected = "0.9 to 1.1 times the limit"},
    {.id = "V11",
     .text = "on the dragonfly, with one cable between any two groups, adaptive minimal ways carry "
             "what first LIDs do",
     .source = "ours",
     .measured = "{least:.3f} to {most:.3f} times that",
     .expected = "0.95 to 1.05 times that"},
    {.id = "V12",
     .text = "adaptive ways that need not be minimal carry more than LIDs by other places with LMC "
             "3, under each pattern",
     .source = "ours",
     .measured = "{least:.3f} to {most:.3f} times that",
     .expected = "more than 1"},
};

constexpr double kStep = 1.0 / 64;  // of what hosts' links carry
constexpr unsigned kMostLmc = 3;
constexpr std::uint32_t kPacketBytes = 2048, kMessageBytes = 65536;

/// What a simulated switch chooses for each packet by its queues: no table of a switch of today.
struct AdaptiveRule {
  std::string_view name;
  RuleSpec rule;
};

constexpr std::string_view kMinimal = "ar-minimal", kValiant = "ar-valiant", kAstray = "ar-dal";

struct Net {
  const char *name, *fabric, *engine, *adverse;
  std::vector<std::uint32_t> dims;
  std::uint32_t group;
  unsigned side;  // switches of a side of a butterfly
  RouterPattern adverse_limit;
  std::vector<AdaptiveRule> adaptive;
};

struct Row {
  const Net* net;
  std::string_view paths;  // an engine, or adaptive ways
  unsigned lmc;
  bool adverse;
  RuleSpec rule = {};

  [[nodiscard]] bool by_tables() const { return rule.rule == RuleKind::Tables; }
};

std::vector<Net> nets(bool quick) {
  return {
      {.name = "butterfly",
       .fabric =
           quick ? "hamming:dims=4.4,hosts=4,speed=HDR" : "hamming:dims=8.8,hosts=8,speed=HDR",
       .engine = "hamming",
       .adverse = "mdn",
       .dims = quick ? std::vector<std::uint32_t>{4, 4} : std::vector<std::uint32_t>{8, 8},
       .group = 0,
       .side = quick ? 4u : 8u,
       .adverse_limit = RouterPattern::NextDiagonal,
       // Valiant's ways as on the dragonfly; and dal, where each switch chooses once more.
       .adaptive = {{kMinimal, {.rule = RuleKind::MinimalAdaptive}},
                    {kValiant, {.rule = RuleKind::UgalLocal}},
                    {kAstray, {.rule = RuleKind::Dal}}}},
      {.name = "dragonfly",
       .fabric = quick ? "dragonfly:a=5,c=2,h=2,speed=HDR" : "dragonfly:a=8,c=4,h=4,speed=HDR",
       .engine = "dragonfly",
       .adverse = "adv+1",
       .dims = {},
       .group = quick ? 5u : 8u,
       .side = 0,
       .adverse_limit = RouterPattern::NextGroup,
       .adaptive = {{kMinimal, {.rule = RuleKind::Minimal, .gateway = Spread::ShortestQueue}},
                    {kValiant, {.rule = RuleKind::UgalLocal, .via = IntermediateKind::ByGroup}}}}};
}

std::vector<Row> rows(const std::vector<Net>& nets) {
  std::vector<Row> out;
  for (const Net& net : nets) {
    for (const bool adverse : {false, true}) {
      for (unsigned lmc = 0; lmc <= kMostLmc; ++lmc)
        out.push_back({&net, net.engine, lmc, adverse});
      for (const char* engine : {"updn", "dfsssp"}) out.push_back({&net, engine, 0, adverse});
      for (const auto& [name, rule] : net.adaptive) out.push_back({&net, name, 0, adverse, rule});
    }
  }
  return out;
}

/// The most that is accepted. Shares of packets that come after a later one of their source, LID
/// and SL, at that load, and at half of it in messages of 64 KiB: of uniform traffic to hundreds of
/// hosts, packets of a path seldom follow each other but within a message.
struct RowResult {
  double accepted = 0;
  double late = 0;
  double late_in_messages = 0;
};

Picos warm_up_of(bool quick) {
  constexpr Picos kPacket = 83 * kNano;  // 2 KiB on a host's link
  return (quick ? 100 : 400) * kPacket;
}

Parsed<PreparedScenario> prepare(const Row& row, bool quick, std::uint32_t message) {
  constexpr unsigned kVls = 4, kIntervals = 5;
  Scenario s;
  s.file = row.net->name;
  s.fabric = row.net->fabric;
  s.packet.vls = s.program.vls = kVls;
  s.packet.adapters.waiting = SourceQueues::PerDestination;
  // Tables that nobody goes by are minhop's, whose paths all have SL 0.
  s.program.engine = row.by_tables() ? row.paths : "minhop";
  s.program.lmc = static_cast<std::uint8_t>(row.lmc);
  s.program.mtu = Mtu::B2048;
  s.routes.rule = row.rule;
  if (row.lmc > 0) s.program.non_minimal = NonMinimal::Valiant;
  s.traffic.any_lid = row.lmc > 0;
  s.traffic.pattern = row.adverse ? row.net->adverse : "uniform-self";
  if (row.adverse) s.traffic.dims = row.net->dims;
  if (row.adverse) s.traffic.switches_per_group = row.net->group;
  s.traffic.sizes = {{message, 1}};
  const Picos warm_up = warm_up_of(quick);
  s.measure.plan = {.warm_up = warm_up,
                    .interval = 2 * warm_up / kIntervals,
                    .least_intervals = kIntervals,
                    .most_intervals = kIntervals,
                    .stop_early = false};
  return PreparedScenario::prepare(std::move(s));
}

Result<RowResult> measure(const Row& row, bool quick) {
  const auto run_at = [&](const PreparedScenario& prepared,
                          double load,
                          double& late_share) -> Result<SteadyResult> {
    ArrivalOrder order(static_cast<HostNum>(prepared.fabric().host_lids.size()), warm_up_of(quick));
    RunControl control;
    control.observer = &order;
    const PointResult point = prepared.run(load, 1, control);
    late_share = order.late_share();
    // By tables a switch does not send back what a host sends to itself.
    const std::uint64_t to_oneself =
        point.stats.discarded[static_cast<std::size_t>(Discard::BackToInput)];
    const std::string why = !point.steady.deadlock.empty()         ? "a deadlock"
                            : point.stats.discards() != to_oneself ? "packets were lost"
                                                                   : point.audit;
    if (why.empty()) return point.steady;
    return fail(Errc::Invalid, fmt::format("{}: {}", row.net->fabric, why));
  };
  RowResult out;
  const auto packets = prepare(row, quick, kPacketBytes);
  if (!packets) return fail(Errc::Invalid, print_fault(packets.error().at(0)));
  const auto peak =
      find_peak(kStep, static_cast<unsigned>(1 / kStep), [&](unsigned steps) -> Result<LoadPoint> {
        double late = 0;
        const auto steady = run_at(*packets, steps * kStep, late);
        if (!steady) return tl::unexpected<Error>(steady.error());
        if (steady->accepted_load > out.accepted) {
          out.accepted = steady->accepted_load;
          out.late = late;
        }
        return LoadPoint{.accepted = steady->accepted_load,
                         .share = steady->accepted_load / steady->offered_load};
      });
  if (!peak) return tl::unexpected<Error>(peak.error());
  const auto messages = prepare(row, quick, kMessageBytes);
  if (!messages) return fail(Errc::Invalid, print_fault(messages.error().at(0)));
  if (const auto half = run_at(*messages, out.accepted / 2, out.late_in_messages); !half)
    return tl::unexpected<Error>(half.error());
  return out;
}

/// What a network carries at most by minimal ways, and by Valiant's.
struct NetLimit {
  double uniform, adverse, valiant;
};

Result<NetLimit> limits_of(const Net& net) {
  const auto spec = load_fabric(net.fabric);
  if (!spec) return fail(Errc::Invalid, print_fault(spec.error().at(0)));
  const auto shape = Shape::find(*spec, {});
  if (!shape) return tl::unexpected<Error>(shape.error());
  const auto limit = [&](const RuleSpec& rule, RouterPattern pattern) {
    return closed_limit(AdaptiveRoutes(*shape, rule), pattern).value_or(std::nan(""));
  };
  const RuleSpec& minimal = net.adaptive.front().rule;
  return NetLimit{.uniform = limit(minimal, RouterPattern::Uniform),
                  .adverse = limit(minimal, net.adverse_limit),
                  .valiant = limit({.rule = RuleKind::Valiant}, net.adverse_limit)};
}

/// Ratios and shares by claim.
struct ClaimValues {
  Range diagonal, uniform, group, others;                             // V1 to V4
  Range in_order, late, minimal, valiant, astray, all, alike, gains;  // V5 to V12
};

void compare(const Net& net,
             const NetLimit& limits,
             const std::vector<Row>& rows,
             const std::vector<RowResult>& carried,
             ClaimValues& out) {
  const auto got = [&](std::string_view paths, bool adverse, unsigned lmc = 0) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      if (row.net == &net && row.paths == paths && row.adverse == adverse && row.lmc == lmc)
        return carried[i];
    }
    return RowResult{.accepted = std::nan("")};
  };
  const auto first = [&](bool adverse) { return got(net.engine, adverse).accepted; };
  const auto most_lids = [&](bool adverse) { return got(net.engine, adverse, kMostLmc).accepted; };
  const bool butterfly = net.side > 0;
  for (unsigned lmc = 0; lmc <= kMostLmc && butterfly; ++lmc) {
    const double w = 1 - 1.0 / (1u << lmc), side = net.side;
    out.diagonal.add(got(net.engine, true, lmc).accepted * ((1 - w) * side + 2 * w));
    if (lmc == 0) continue;
    out.uniform.add(got(net.engine, false, lmc).accepted / first(false) * (1 + w * (1 - 2 / side)));
  }
  const double shortest = std::max(got("updn", true).accepted, got("dfsssp", true).accepted);
  out.others.add(most_lids(true) / shortest);
  if (!butterfly) out.group.add(most_lids(true) / first(true));

  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].net != &net) continue;
    // With one cable between any two groups there is one minimal way.
    const bool one_way = rows[i].by_tables() || (!butterfly && rows[i].paths == kMinimal);
    if (one_way) out.in_order.add(carried[i].late);
    (one_way ? out.in_order : out.late).add(carried[i].late_in_messages);
  }
  out.minimal.add(got(kMinimal, true).accepted / limits.adverse);
  out.valiant.add(got(kValiant, true).accepted / limits.valiant);
  // Not every network has these ways.
  out.astray.add_known(got(kAstray, true).accepted / limits.valiant);
  for (const AdaptiveRule& each : net.adaptive)
    out.all.add(got(each.name, false).accepted / limits.uniform);
  for (const bool adverse : {false, true}) {
    if (!butterfly) out.alike.add(got(kMinimal, adverse).accepted / first(adverse));
    for (const std::string_view paths : {kValiant, kAstray})
      out.gains.add_known(got(paths, adverse).accepted / most_lids(adverse));
  }
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<Net> all = nets(options.quick);
  const std::vector<Row> listed = rows(all);
  const auto carried = collect<RowResult>(options.jobs, listed.size(), [&](std::size_t i) {
    return measure(listed[i], options.quick);
  });
  if (!carried) return tl::unexpected<Error>(carried.error());

  Findings out{.plot = {.title = "LIDs by way of other places",
                        .x_label = "LMC",
                        .y_label = "accepted, share of the hosts' links"}};
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const Row& row = listed[i];
    const auto& [accepted, late, late_in_messages] = (*carried)[i];
    const char* const pattern = row.adverse ? row.net->adverse : "uniform-self";
    out.add_row({{"network", row.net->fabric},
                 {"pattern", pattern},
                 {"paths", row.paths},
                 {"rule", rule_name(row.rule.rule)},
                 {"lmc", row.lmc},
                 {"accepted", accepted},
                 {"out_of_order", late},
                 {"out_of_order_in_messages", late_in_messages}});
    if (row.paths != row.net->engine && row.by_tables()) continue;
    const std::string of = row.by_tables() ? "" : fmt::format(", {}", row.paths);
    out.plot.add_point(fmt::format("{}, {}{}", row.net->name, pattern, of), row.lmc, accepted);
  }
  ClaimValues values;
  for (const Net& net : all) {
    const auto limits = limits_of(net);
    if (!limits) return tl::unexpected<Error>(limits.error());
    compare(net, *limits, listed, *carried, values);
  }
  out.verdicts = decide(kClaims,
                        {{"V1", values.diagonal},
                         {"V2", values.uniform},
                         {"V3", values.group},
                         {"V4", values.others},
                         {"V5", values.in_order},
                         {"V6", values.late},
                         {"V7", values.minimal},
                         {"V8", values.valiant},
                         {"V9", values.astray},
                         {"V10", values.all},
                         {"V11", values.alike},
                         {"V12", values.gains}});
  return out;
}

}  // namespace
}  // namespace smd::sim::other_places

namespace smd::sim {

std::vector<Experiment> other_places_tables() {
  return {{.name = "002-infiniband",
           .source = "ours; networks of Benito 2014",
           .about = "What LIDs by way of other places bring in subnets, and cost; and what ways "
                    "by the queues of switches would",
           .claims = other_places::kClaims,
           .run = other_places::run}};
}

}  // namespace smd::sim
