// Hot spots, incasts and all-reduces on a fat tree of three levels and a dragonfly at 4x HDR. The
// settings beside the manager's are those published of clusters (Gran et al. 2010 and 2012, as far
// as they can be read) and of a vendor's manager (MLNX_OFED 3.2); where that computes its table and
// timer from the fabric by an unpublished rule, it has the former's.
#include <fmt/core.h>

#include <array>

#include "sim-backend/experiments/congestion/modern_run.h"
#include "sim-backend/experiments/tables.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim::modern {
namespace {

constexpr std::string_view kOurs = "ours";

constexpr ClaimSpec kClaims[] = {
    {.id = "M1",
     .text = "as planned, victims of a hot spot wait half as long as without control, or less",
     .source = kOurs,
     .expected = "half or less"},
    {.id = "M2",
     .text = "as planned, the hot link stays busy",
     .source = kOurs,
     .expected = "0.95 or more"},
    {.id = "M3",
     .text = "as planned, contributors share the hot link at least as evenly as without control",
     .source = kOurs,
     .expected = "not less (0.01)"},
    {.id = "M4",
     .text = "as planned, an incast takes no longer than without",
     .source = kOurs,
     .expected = "not longer (5 %)"},
    {.id = "M5",
     .text = "as planned, an all-reduce takes no longer than without",
     .source = kOurs,
     .expected = "not longer (5 %)"},
};

struct Setting {
  std::string_view name;
  ModernSetting setting;
};

constexpr std::array kSettings{Setting{"none", ModernSetting::None},
                               Setting{"standard as planned", ModernSetting::Planned},
                               Setting{"planned, marks rare", ModernSetting::PlannedRare},
                               Setting{"planned, coarse table", ModernSetting::PlannedCoarse},
                               Setting{"standard of clusters", ModernSetting::Published},
                               Setting{"standard of a vendor", ModernSetting::Vendor},
                               Setting{"mvcm of the path", ModernSetting::Mvcm},
                               Setting{"mvcm of two", ModernSetting::MvcmOfTwo}};

constexpr std::array<std::string_view, 4> kLoads{"alone", "hot spot", "incast", "all-reduce"};

std::vector<ModernFabric> fabrics(bool quick) {
  if (quick) {
    return {{"fat tree", "fat-tree:k=4,levels=2,speed=HDR", "ftree"},
            {"dragonfly", "dragonfly:a=4,c=1,h=1,speed=HDR", "dragonfly"}};
  }
  return {{"fat tree", "fat-tree:k=8,levels=3,speed=HDR", "ftree"},
          {"dragonfly", "dragonfly:a=4,c=2,h=2,speed=HDR", "dragonfly"}};
}

Result<ModernResult> run_one(const ModernFabric& fabric,
                             ModernSetting setting,
                             std::string_view load,
                             bool quick) {
  const unsigned hosts = quick ? 3 : 16;
  const unsigned lasts = quick ? 60 : 500;
  const unsigned warm = quick ? 20 : 100;
  if (load == "all-reduce") return run_all_reduce(fabric, setting, quick ? 16384 : 262144);
  if (load == "alone") return run_contention(fabric, setting, {.warm_us = warm, .lasts_us = lasts});
  if (load == "hot spot") {
    return run_contention(
        fabric, setting, {.contributors = hosts, .warm_us = warm, .lasts_us = lasts});
  }
  return run_contention(
      fabric, setting, {.contributors = 2 * hosts, .packets = quick ? 16u : 128u, .warm_us = warm});
}

/// Results by fabric, setting and load.
struct Table {
  std::vector<ModernResult> all;

  [[nodiscard]] static std::size_t place(std::size_t fabric,
                                         std::size_t setting,
                                         std::size_t load) {
    return (fabric * kSettings.size() + setting) * kLoads.size() + load;
  }

  [[nodiscard]] const ModernResult& at(std::size_t fabric,
                                       std::size_t setting,
                                       std::size_t load) const {
    return all[place(fabric, setting, load)];
  }
};

constexpr std::size_t kFabrics = 2, kNone = 0, kPlanned = 1, kHot = 1, kIncast = 2, kReduce = 3;

/// The figure without control and as planned, for each fabric; holds when it holds for both.
template <class Holds>
Measured compare(std::string_view id,
                 const Table& table,
                 std::size_t load,
                 std::string_view unit,
                 double ModernResult::*figure,
                 Holds holds) {
  std::string text;
  bool both = true;
  for (std::size_t f = 0; f < kFabrics; ++f) {
    const double none = table.at(f, kNone, load).*figure;
    const double planned = table.at(f, kPlanned, load).*figure;
    text += fmt::format("{}{}: {:.3g} to {:.3g}{}",
                        f == 0 ? "" : "; ",
                        f == 0 ? "fat tree" : "dragonfly",
                        none,
                        planned,
                        unit);
    both = both && holds(none, planned);
  }
  return {id, std::move(text), both};
}

Result<Findings> run(const ExperimentOptions& options) {
  const std::vector<ModernFabric> networks = fabrics(options.quick);
  const std::size_t count = Table::place(kFabrics, 0, 0);
  auto measured = collect<ModernResult>(options.jobs, count, [&](std::size_t i) {
    const std::size_t load = i % kLoads.size();
    const std::size_t setting = i / kLoads.size() % kSettings.size();
    return run_one(networks[i / kLoads.size() / kSettings.size()],
                   kSettings[setting].setting,
                   kLoads[load],
                   options.quick);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());
  const Table table{std::move(*measured)};
  Findings out{.plot = {.title = "Mean latency of victims of a hot spot",
                        .x_label = "setting, in the order of the table",
                        .y_label = "us",
                        .log_y = true}};
  for (std::size_t f = 0; f < kFabrics; ++f) {
    for (std::size_t s = 0; s < kSettings.size(); ++s) {
      for (std::size_t l = 0; l < kLoads.size(); ++l) {
        const ModernResult& r = table.at(f, s, l);
        out.add_row({{"fabric", networks[f].name},
                     {"setting", kSettings[s].name},
                     {"load", kLoads[l]},
                     {"victim_mean_us", r.victim_mean_us},
                     {"victim_p99_us", r.victim_p99_us},
                     {"victim_accepted", r.victim_accepted},
                     {"fairness", r.fairness},
                     {"least_share", r.least_share},
                     {"link_share", r.link_share},
                     {"completed_us", r.completed_us},
                     {"marked", r.marked}});
      }
      out.plot.add_point(networks[f].name, double(s + 1), table.at(f, s, kHot).victim_mean_us);
    }
  }
  using R = ModernResult;
  const auto not_longer = [](double none, double planned) { return planned <= 1.05 * none; };
  out.verdicts =
      decide(kClaims,
             {compare("M1",
                      table,
                      kHot,
                      " us on average",
                      &R::victim_mean_us,
                      [](double none, double planned) { return 2 * planned <= none; }),
              compare("M2",
                      table,
                      kHot,
                      " of it",
                      &R::link_share,
                      [](double, double planned) { return planned >= 0.95; }),
              compare("M3",
                      table,
                      kHot,
                      " (Jain)",
                      &R::fairness,
                      [](double none, double planned) { return planned >= none - 0.01; }),
              compare("M4", table, kIncast, " us", &R::completed_us, not_longer),
              compare("M5", table, kReduce, " us", &R::completed_us, not_longer)});
  return out;
}

}  // namespace
}  // namespace smd::sim::modern

namespace smd::sim {

std::vector<Experiment> modern_tables() {
  return {
      {.name = "004-modern",
       .source = modern::kOurs,
       .about = "hot spots, incasts and all-reduces at 4x HDR, by setting of congestion control",
       .claims = modern::kClaims,
       .run = modern::run}};
}

}  // namespace smd::sim
