// 000-links: how much the links between 32 switches carry, and for how long they may not send.
#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::link_usage {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "use-ud",
     .text = "where UD saturates, at 0.03, half of the links carry less than a tenth",
     .source = "Flich 2001, figure 71a",
     .measured = "{least:.3f} of them",
     .expected = "0.41 to 0.61"},
    {.id = "use-ud-most",
     .text = "there UD's busiest link carries more than half",
     .source = "Flich 2001, figure 71a",
     .measured = "{least:.3f}",
     .expected = "more than 0.5"},
    {.id = "use-itb",
     .text = "there UD_ITB has fewer idle links, 31 % under a tenth",
     .source = "Flich 2001, section 5.1.2",
     .measured = "{least:.3f} of them",
     .expected = "0.21 to 0.41"},
    {.id = "use-itb-most",
     .text = "there UD_ITB's busiest link carries less than 26 %",
     .source = "Flich 2001, section 5.1.2",
     .measured = "{least:.3f}",
     .expected = "at most 0.26"},
    {.id = "blocked-bsmart",
     .text = "at 0.05 BSMART's links are blocked less than smart-routing's, ours is smart-like",
     .source = "Flich 2001, section 5.2",
     .measured = "{least:.3f} times, of the link that is blocked most",
     .expected = "less than 1"},
    {.id = "blocked-smart-most",
     .text = "there smart-routing's are blocked up to 60 % of the time; ours is smart-like",
     .source = "Flich 2001, section 5.2",
     .measured = "{least:.3f}",
     .expected = "0.3 to 0.9"},
    {.id = "blocked-bsmart-most",
     .text = "there all of BSMART's are blocked less than 8 % of the time",
     .source = "Flich 2001, section 5.2",
     .measured = "{least:.3f}",
     .expected = "at most 0.08"},
    {.id = "blocked-bmax",
     .text = "at 0.066 BMAX's links are blocked less than BMIN's",
     .source = "Flich 2001, section 5.5",
     .measured = "{least:.3f} times, of the link that is blocked most",
     .expected = "less than 1"},
    {.id = "blocked-bmax-most",
     .text = "there BMAX's are blocked up to 6 % of the time, BMIN's up to 14 %",
     .source = "Flich 2001, section 5.5",
     .measured = "{farthest:.3f} times the published",
     .expected = "0.5 to 1.5 times"},
};

struct UsageCase {
  const char* system;
  double load;
};

constexpr UsageCase kCases[] = {{"UD", 0.03},
                                {"UD_ITB", 0.03},
                                {"SMART_LIKE", 0.05},
                                {"BSMART_ITB", 0.05},
                                {"BMIN_ITB", 0.066},
                                {"BMAX_ITB", 0.066}};

/// Of the links between switches: shares of the time, means over topologies.
struct Usage {
  double accepted = 0, below_tenth = 0, busiest = 0, most_blocked = 0;
};

Result<Usage> read(const UsageCase& what, unsigned topology, const MessageCount& length) {
  const auto prepared = prepare_worms(
      {.fabric = irregular_fabric(32, topology), .system = what.system, .seed = topology}, length);
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  const PointResult point = prepared->run(what.load, 1);
  if (!point.audit.empty()) return fail(Errc::Invalid, point.audit);
  Usage out{.accepted = point.worms->accepted_per_switch};
  for (const WormPortUse& port : point.worms->ports) {
    if (port.active < 0.1) out.below_tenth += 1.0 / static_cast<double>(point.worms->ports.size());
    out.busiest = std::max(out.busiest, port.active);
    out.most_blocked = std::max(out.most_blocked, port.blocked);
  }
  return out;
}

Result<Findings> run(const ExperimentOptions& options) {
  const unsigned topologies = options.quick ? 1 : 10;
  const MessageCount length =
      options.quick ? MessageCount{.warm_up = 2000, .measured = 6000} : MessageCount{};
  const auto results =
      collect<Usage>(options.jobs, std::size(kCases) * topologies, [&](std::size_t i) {
        return read(kCases[i / topologies], static_cast<unsigned>(1 + i % topologies), length);
      });
  if (!results) return tl::unexpected<Error>(results.error());
  Findings out{.plot = {.title = "Links between 32 switches",
                        .x_label = "case, in the order of the table",
                        .y_label = "share of the time"}};
  std::vector<Usage> means(std::size(kCases));
  for (std::size_t i = 0; i < results->size(); ++i) {
    Usage& mean = means[i / topologies];
    const Usage& one = (*results)[i];
    mean.accepted += one.accepted / topologies;
    mean.below_tenth += one.below_tenth / topologies;
    mean.busiest += one.busiest / topologies;
    mean.most_blocked += one.most_blocked / topologies;
  }
  for (std::size_t c = 0; c < means.size(); ++c) {
    out.add_row({{"system", kCases[c].system},
                 {"load", kCases[c].load},
                 {"accepted", means[c].accepted},
                 {"below_tenth", means[c].below_tenth},
                 {"busiest", means[c].busiest},
                 {"most_blocked", means[c].most_blocked}});
    out.plot.add_point("busiest", static_cast<double>(c), means[c].busiest);
    out.plot.add_point("most blocked", static_cast<double>(c), means[c].most_blocked);
  }
  Range bmin_and_bmax(means[4].most_blocked / 0.14);
  bmin_and_bmax.add(means[5].most_blocked / 0.06);
  out.verdicts = decide(kClaims,
                        {{"use-ud", Range(means[0].below_tenth)},
                         {"use-ud-most", Range(means[0].busiest)},
                         {"use-itb", Range(means[1].below_tenth)},
                         {"use-itb-most", Range(means[1].busiest)},
                         {"blocked-bsmart", Range(means[3].most_blocked / means[2].most_blocked)},
                         {"blocked-smart-most", Range(means[2].most_blocked)},
                         {"blocked-bsmart-most", Range(means[3].most_blocked)},
                         {"blocked-bmax", Range(means[5].most_blocked / means[4].most_blocked)},
                         {"blocked-bmax-most", bmin_and_bmax}});
  return out;
}

}  // namespace
}  // namespace smd::sim::link_usage

namespace smd::sim {

std::vector<Experiment> link_usage_tables() {
  return {{.name = "000-links",
           .source = "Flich 2001, sections 5.1, 5.2 and 5.5",
           .about = "What links between 32 switches carry, and how long they are blocked",
           .claims = link_usage::kClaims,
           .run = link_usage::run}};
}

}  // namespace smd::sim
