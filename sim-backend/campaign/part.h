// One run of a campaign, as a file of its own: what a task leaves behind, whole or not at all, and
// what results are joined from (docs/campaigns.md).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/lab/experiment.h"
#include "sim-backend/scenario/result_text.h"

namespace smd::sim {

/// The runs of `smsim run SCENARIO --seed first --seeds count`: each load with each seed, then,
/// where the scenario asks for it, a search for saturation with each seed.
struct CampaignPlan {
  std::vector<double> loads;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  bool saturation = false;

  [[nodiscard]] bool operator==(const CampaignPlan&) const = default;
};

/// Which of a plan's runs. In the order of a result: loads as the scenario has them, then searches.
struct RunKey {
  bool saturation = false;
  std::size_t load = 0;  // its place in CampaignPlan::loads; 0 of a search
  std::uint64_t seed = 0;

  [[nodiscard]] auto operator<=>(const RunKey&) const = default;
};

[[nodiscard]] std::vector<RunKey> list_runs(const CampaignPlan& plan);

/// "load 0.3 seed 7", "saturation seed 7".
[[nodiscard]] std::string print_run(const CampaignPlan& plan, const RunKey& key);

struct Part {
  std::string program;   // the version that ran it; empty: one that did not say so
  std::string scenario;  // ScenarioDigest of what it was run from
  CampaignPlan plan;
  RunKey key;
  bool sound = true;    // as docs/formats/scenario.md has it for exit code 0
  std::string audit;    // what does not add up; empty
  std::string result;   // as print_scenario_json says it, of this run alone
  std::string row;      // of result.csv; empty of a search
  std::string series;   // rows of series.csv
  std::string periods;  // rows of stretches.csv; none without faults
  std::string lines;    // for people
  Plot plot;
  bool interrupted = false;  // before its end: part of one result, and of no file
};

/// What a run was made from, by its texts: the scenario, its fabric, its trace. FNV-1a, 64 bits.
class ScenarioDigest {
 public:
  void add(std::string_view bytes);

  /// Or the end of one text could be the beginning of the next.
  void end_text() { add(std::string_view("\0", 1)); }

  /// 16 hexadecimal digits.
  [[nodiscard]] std::string print() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// "load-0-seed-7.json", "saturation-seed-7.json".
[[nodiscard]] std::string part_name(const RunKey& key);

/// One object. Reading it back gives the same part.
[[nodiscard]] std::string print_part(const Part& part);
[[nodiscard]] Parsed<Part> parse_part(std::string_view text, const std::string& file);

}  // namespace smd::sim
