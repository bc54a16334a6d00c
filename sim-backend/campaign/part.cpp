#include "sim-backend/campaign/part.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace smd::sim {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Plot& plot) {
  Json series = Json::array();
  for (const Series& s : plot.series) series.push_back({{"name", s.name}, {"points", s.points}});
  return {{"title", plot.title},
          {"x_label", plot.x_label},
          {"y_label", plot.y_label},
          {"log_x", plot.log_x},
          {"log_y", plot.log_y},
          {"series", std::move(series)}};
}

Plot read_plot(const Json& json) {
  Plot plot{.title = json.at("title"),
            .x_label = json.at("x_label"),
            .y_label = json.at("y_label"),
            .log_x = json.at("log_x"),
            .log_y = json.at("log_y")};
  for (const Json& series : json.at("series")) {
    plot.series.push_back(
        {.name = series.at("name"), .points = series.at("points").get<decltype(Series::points)>()});
  }
  return plot;
}

Part read_part(const Json& json) {
  const Json& plan = json.at("plan");
  return {.program = json.value("program", ""),
          .scenario = json.at("scenario"),
          .plan = {.loads = plan.at("loads").get<std::vector<double>>(),
                   .first_seed = plan.at("first_seed"),
                   .seeds = plan.at("seeds"),
                   .saturation = plan.at("saturation")},
          .key = {.saturation = json.at("saturation"),
                  .load = json.at("load"),
                  .seed = json.at("seed")},
          .sound = json.at("sound"),
          .audit = json.at("audit"),
          .result = json.at("result").dump(2) + "\n",
          .row = json.at("row"),
          .series = json.at("series"),
          .periods = json.at("stretches"),
          .lines = json.at("lines"),
          .plot = read_plot(json.at("plot"))};
}

/// What parts are joined by.
bool has_lists(const Json& result) {
  return result.is_object() &&
         std::ranges::all_of(std::array{"points", "saturation"}, [&](auto list) {
           return result.contains(list) && result.at(list).is_array();
         });
}

}  // namespace

std::vector<RunKey> list_runs(const CampaignPlan& plan) {
  std::vector<RunKey> runs;
  for (std::size_t load = 0; load < plan.loads.size(); ++load) {
    for (std::uint64_t i = 0; i < plan.seeds; ++i) {
      runs.push_back({.load = load, .seed = plan.first_seed + i});
    }
  }
  for (std::uint64_t i = 0; plan.saturation && i < plan.seeds; ++i) {
    runs.push_back({.saturation = true, .seed = plan.first_seed + i});
  }
  return runs;
}

std::string print_run(const CampaignPlan& plan, const RunKey& key) {
  if (key.saturation) return fmt::format("saturation seed {}", key.seed);
  return fmt::format("load {} seed {}", plan.loads.at(key.load), key.seed);
}

void ScenarioDigest::add(std::string_view bytes) {
  for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

std::string ScenarioDigest::print() const { return fmt::format("{:016x}", hash_); }

std::string part_name(const RunKey& key) {
  return key.saturation ? fmt::format("saturation-seed-{}.json", key.seed)
                        : fmt::format("load-{}-seed-{}.json", key.load, key.seed);
}

std::string print_part(const Part& part) {
  Json json;
  json["program"] = part.program;
  json["scenario"] = part.scenario;
  json["plan"] = {{"loads", part.plan.loads},
                  {"first_seed", part.plan.first_seed},
                  {"seeds", part.plan.seeds},
                  {"saturation", part.plan.saturation}};
  json["saturation"] = part.key.saturation;
  json["load"] = part.key.load;
  json["seed"] = part.key.seed;
  json["sound"] = part.sound;
  json["audit"] = part.audit;
  json["result"] = Json::parse(part.result);
  json["row"] = part.row;
  json["series"] = part.series;
  json["stretches"] = part.periods;
  json["lines"] = part.lines;
  json["plot"] = to_json(part.plot);
  return json.dump(1) + "\n";
}

Parsed<Part> parse_part(std::string_view text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    Part part = read_part(json);
    if (!has_lists(json.at("result"))) {
      return tl::unexpected(Faults{{file,
                                    0,
                                    "is no result of a run: its \"result\" is an object with the "
                                    "lists \"points\" and \"saturation\"; run it again"}});
    }
    if (part.key.saturation || part.key.load < part.plan.loads.size()) return part;
    return tl::unexpected(Faults{{file, 0, "names a load that its plan does not have"}});
  } catch (const nlohmann::json::exception& e) {
    return tl::unexpected(
        Faults{{file, 0, fmt::format("is no result of a run ({}); run it again", e.what())}});
  }
}

}  // namespace smd::sim
