#include "sim-backend/campaign/join.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim-backend/lab/svg_plot.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

using Json = nlohmann::ordered_json;

using PartsByKey = std::map<RunKey, NamedPart>;

bool say_the_same(Part a, const Part& b) {
  a.plan = b.plan;  // one run may belong to several plans
  return print_part(a) == print_part(b);
}

std::string print_program(const Part& part) {
  return part.program.empty() ? "an earlier smsim" : "smsim " + part.program;
}

Faults add_part(NamedPart part, PartsByKey& parts) {
  if (!parts.empty()) {
    const NamedPart& first = parts.begin()->second;
    if (part.part.scenario != first.part.scenario ||
        part.part.plan.loads != first.part.plan.loads) {
      return {{part.file, 0, "is of another scenario than " + first.file + "; collect them apart"}};
    }
    if (part.part.program != first.part.program) {
      return {{part.file,
               0,
               fmt::format("is of {}, {} of {}; smsim run --resume runs again what is of another "
                           "version",
                           print_program(part.part),
                           first.file,
                           print_program(first.part))}};
    }
  }
  const RunKey key = part.part.key;
  const auto [at, added] = parts.try_emplace(key, part);
  if (added || say_the_same(part.part, at->second.part)) return {};
  return {
      {part.file,
       0,
       fmt::format("differs from {}, which is of the same load and seed; they come from different "
                   "versions of smsim, run one of them again",
                   at->second.file)}};
}

std::vector<std::string> find_missing(const PartsByKey& parts,
                                      const std::vector<CampaignPlan>& plans) {
  std::map<RunKey, std::string> missing;
  for (const CampaignPlan& plan : plans) {
    for (const RunKey& key : list_runs(plan)) {
      if (!parts.contains(key)) missing[key] = print_run(plan, key);
    }
  }
  std::vector<std::string> out;
  for (const auto& [key, text] : missing) out.push_back(text);
  return out;
}

void add_plot(const Plot& from, Plot& to) {
  if (to.title.empty()) {
    to = from;
    return;
  }
  for (const Series& series : from.series) {
    auto at = std::ranges::find(to.series, series.name, &Series::name);
    if (at == to.series.end()) at = to.series.insert(at, Series{.name = series.name});
    at->points.insert(at->points.end(), series.points.begin(), series.points.end());
  }
}

}  // namespace

Parsed<JoinedResult> join_parts(std::vector<NamedPart> parts) {
  SMD_CHECK(!parts.empty(), "nothing to join");
  PartsByKey by_key;
  std::vector<CampaignPlan> plans;
  Faults faults;
  for (NamedPart& part : parts) {
    if (std::ranges::find(plans, part.part.plan) == plans.end()) plans.push_back(part.part.plan);
    std::ranges::move(add_part(std::move(part), by_key), std::back_inserter(faults));
  }
  if (!faults.empty()) return tl::unexpected(std::move(faults));

  JoinedResult out{.points_csv = print_points_csv({}), .series_csv = print_series_csv({})};
  Json json;
  Plot plot;
  for (const auto& [key, named] : by_key) {
    const Part& part = named.part;
    const Json own = Json::parse(part.result);
    if (json.empty()) {
      json = own;
    } else {
      for (const char* list : {"points", "saturation"}) {
        for (const Json& entry : own.at(list)) json[list].push_back(entry);
      }
    }
    out.points_csv += part.row;
    out.series_csv += part.series;
    if (!part.periods.empty() && out.periods_csv.empty()) {
      out.periods_csv = print_periods_csv({});
    }
    out.periods_csv += part.periods;
    out.interrupted = out.interrupted || part.interrupted;
    out.lines += part.lines;
    out.sound = out.sound && part.sound;
    if (!part.audit.empty()) out.audits.push_back(part.audit);
    if (!key.saturation) add_plot(part.plot, plot);
  }
  out.missing = find_missing(by_key, plans);
  json["interrupted"] = out.interrupted || !out.missing.empty();
  out.json = json.dump(2) + "\n";
  out.svg = print_svg(plot);
  return out;
}

}  // namespace smd::sim
