// The example by which the source explains what a victim is, against runs.
#include "sim-backend/experiments/congestion/experiments.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sim-backend/experiments/congestion/victim_run.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {
namespace {

using enum VictimHost;

constexpr ClaimSpec kClaims[] = {
    {.id = "R32-feeders",
     .text = "Y1, Y2 and the link xy get a third of the hot link each, X1 and X2 a sixth",
     .source = "Ferrer 2012, Figure 3.4",
     .must_hold = true},
    {.id = "R32-victim",
     .text = "with a victim, X1, X2 and X3 get a ninth each, and xy is idle for two thirds",
     .source = "Ferrer 2012, Figure 3.5"},
    {.id = "R32-freed",
     .text = "X3 could have 7/9 of xy where X1 and X2 are held back at the source",
     .source = "Ferrer 2012, Figure 3.5"},
};

struct Case {
  const char* name;
  const char* mechanism;
  bool with_victim;
};

constexpr std::array kCases{Case{"without victim", "none", false},
                            Case{"none", "none", true},
                            Case{"standard", "standard", true},
                            Case{"renato", "renato", true},
                            Case{"pfister", "pfister", true},
                            Case{"iocm", "iocm", true},
                            Case{"mvcm", "mvcm", true}};

bool near(double measured, double expected) { return std::abs(measured - expected) <= 0.01; }

Result<Findings> run(const ExperimentOptions& options) {
  auto measured = collect<VictimShares>(options.jobs, kCases.size(), [](std::size_t i) {
    return run_victim(kCases[i].mechanism, kCases[i].with_victim);
  });
  if (!measured) return tl::unexpected<Error>(measured.error());
  Findings out{.columns = {"case", "x1", "x2", "x3", "y1", "y2", "xy", "yz"},
               .plot = {.title = "What a victim gets",
                        .x_label = "mechanism, in the order of the table",
                        .y_label = "share of a link"}};
  Series victim{.name = "X3"}, hot{.name = "hot link"};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    const VictimShares& shares = (*measured)[i];
    out.rows.push_back({std::string(kCases[i].name),
                        shares[X1],
                        shares[X2],
                        shares[X3],
                        shares[Y1],
                        shares[Y2],
                        shares.xy(),
                        shares.yz()});
    victim.points.emplace_back(double(i + 1), shares[X3]);
    hot.points.emplace_back(double(i + 1), shares.yz());
  }
  out.plot.series = {victim, hot};

  const VictimShares& alone = (*measured)[0];
  const VictimShares& none = (*measured)[1];
  out.judgements.push_back({"R32-feeders",
                            fmt::format("{:.3f}, {:.3f}, {:.3f}; {:.3f}, {:.3f}",
                                        alone[Y1],
                                        alone[Y2],
                                        alone.xy(),
                                        alone[X1],
                                        alone[X2]),
                            "0.333 and 0.167 (0.01)",
                            near(alone[Y1], 1.0 / 3) && near(alone[Y2], 1.0 / 3) &&
                                near(alone.xy(), 1.0 / 3) && near(alone[X1], 1.0 / 6) &&
                                near(alone[X2], 1.0 / 6)});
  out.judgements.push_back(
      {"R32-victim",
       fmt::format(
           "{:.3f}, {:.3f}, {:.3f}; idle for {:.3f}", none[X1], none[X2], none[X3], 1 - none.xy()),
       "0.111 each (0.01); idle for 0.657 or more",
       near(none[X1], 1.0 / 9) && near(none[X2], 1.0 / 9) && near(none[X3], 1.0 / 9) &&
           none.xy() <= 1.0 / 3 + 0.01});
  std::string freed;
  bool all_freed = true;
  for (std::size_t i = 5; i < kCases.size(); ++i) {
    const VictimShares& shares = (*measured)[i];
    freed += fmt::format("{}{} {:.3f}, hot link {:.3f}",
                         freed.empty() ? "" : "; ",
                         kCases[i].name,
                         shares[X3],
                         shares.yz());
    all_freed = all_freed && shares[X3] >= 0.95 * 7 / 9;
  }
  out.judgements.push_back({"R32-freed", freed, "iocm and mvcm: X3 0.739 or more", all_freed});
  return out;
}

}  // namespace

Experiment victim() {
  return {.name = "004-victim",
          .source = "Ferrer 2012, 3.2",
          .about = "what a flow gets that only shares a link with those who cause the congestion",
          .claims = kClaims,
          .run = run};
}

}  // namespace smd::sim
