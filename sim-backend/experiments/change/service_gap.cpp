// One switch that comes to or goes from 32 switches with 40 adapters: when routes are in again, and
// what is lost until then.
#include "sim-backend/experiments/change/experiments.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim-backend/experiments/change/loss_runs.h"
#include "sim-backend/experiments/change/published.h"
#include "sim-backend/experiments/change/subnet.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "H28-activation",
     .text = "for a new switch the improved manager throws nothing away where the basic one throws "
             "away 106,000 packets",
     .source = "thesis, Figure 108"},
    {.id = "H28-deactivation",
     .text = "for a dead switch it throws away 84,000 of the basic one's 361,000 packets",
     .source = "thesis, Figure 109"},
    {.id = "H28-service-new",
     .text = "routes to a new switch are in about 2 s earlier",
     .source = "thesis, Figure 108"},
    {.id = "H28-service-dead",
     .text = "routes round a dead one are in more than 1.5 s earlier",
     .source = "thesis, Figure 109"},
    {.id = "certified-gap",
     .text = "certified routes round a dead switch are in earlier than the improved manager's",
     .source = "proved transitions"},
    kCertifiedLoss,
};

constexpr std::size_t kRow = 3;

/// The time between routes is the same with a fraction of the packets.
constexpr double kQuickShare = 1.0 / 40;

/// The first of those with most cables to other switches: others go over it.
std::uint32_t find_busiest(const std::string& fabric) {
  const Subnet subnet(fabric, {});
  const auto cables = [&](std::uint32_t node) {
    const std::vector<NodeSpec>& nodes = subnet.fabric.spec().nodes;
    return std::ranges::count_if(nodes[node].ports, [&](const PortSpec& port) {
      return port.peer_node != kNoNode && nodes[port.peer_node].type == NodeType::Switch;
    });
  };
  const std::vector<std::uint32_t> all = subnet.other_switches();
  return *std::ranges::max_element(all, {}, cables);
}

Result<Findings> run(const ExperimentOptions& options) {
  const PublishedDiscards& row = kTable29[kRow];
  ManagedChange change{.fabric = irregular4(row.size, 1),
                       .preset = kPresets[0],
                       .load = row.load() * (options.quick ? kQuickShare : 1)};
  const std::uint32_t one[] = {find_busiest(change.fabric)};
  std::vector<LossCase> cases;
  for (const bool comes : {true, false}) {
    change.comes = comes;
    add_cases(cases, comes ? 0 : 1, change, one);
  }
  const auto groups = run_losses(options.jobs, cases, 2);
  if (!groups) return tl::unexpected<Error>(groups.error());

  Findings out = begin_losses({"switches", "nodes", "change"},
                              "From detection until routes are in, 32 switches");
  out.plot.x_label = "0: activation, 1: deactivation";
  out.plot.y_label = "seconds";
  for (const bool comes : {true, false}) {
    const LossGroup& group = (*groups)[comes ? 0 : 1];
    append_rows(
        out, {double(row.size.switches), double(row.size.nodes), print_direction(comes)}, group);
    for (std::size_t mode = 0; mode < kAllCharged; ++mode)
      add_point(
          out.plot, std::string(print_loss_mode(mode)), comes ? 0 : 1, group[mode].time.mean());
  }
  const LossGroup& activation = (*groups)[0];
  const LossGroup& deactivation = (*groups)[1];
  const auto share = [](const LossGroup& group) {
    return group[kImproved].published.mean() / group[kBasic].published.mean();
  };
  const auto earlier = [](const LossGroup& group, LossMode than, LossMode mode) {
    return group[than].time.mean() - group[mode].time.mean();
  };
  const double dead = share(deactivation), fresh = share(activation);
  const double gain_new = earlier(activation, kBasic, kImproved);
  const double gain_dead = earlier(deactivation, kBasic, kImproved);
  const double certified = earlier(deactivation, kImproved, kCertified);
  const auto of_basic = [](double s) { return fmt::format("{:.4f} of the basic one's", s); };
  const auto seconds_earlier = [](double s) { return fmt::format("{:.3f} s earlier", s); };
  out.judgements = {
      {.id = "H28-activation",
       .measured = of_basic(fresh),
       .expected = "at most 0.01",
       .holds = fresh <= 0.01},
      {.id = "H28-deactivation",
       .measured = of_basic(dead),
       .expected = "0.13 to 0.33, published 0.23",
       .holds = dead >= 0.13 && dead <= 0.33},
      {.id = "H28-service-new",
       .measured = seconds_earlier(gain_new),
       .expected = "1.5 to 2.5 s",
       .holds = gain_new >= 1.5 && gain_new <= 2.5},
      {.id = "H28-service-dead",
       .measured = seconds_earlier(gain_dead),
       .expected = "more than 1.5 s",
       .holds = gain_dead > 1.5},
      {.id = "certified-gap",
       .measured = seconds_earlier(certified),
       .expected = "earlier",
       .holds = certified > 0},
      judge_certified_loss(*groups),
  };
  return out;
}

}  // namespace

Experiment service_gap() {
  return {.name = "003-service-gap",
          .source = "thesis, Figures 107 to 109",
          .about = "how long one switch that comes or goes leaves hosts without routes",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
