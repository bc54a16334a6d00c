#include "sim-backend/experiments/hot_spot_cases.h"

#include <fmt/core.h>

namespace smd::sim {
namespace {

CongestionSpec preset(std::string_view name) {
  CongestionSpec spec;
  (void)find_mechanism(name, spec);
  return spec;
}

CongestionSpec with_marking(std::string_view name) {
  CongestionSpec spec = preset("mvcm");
  (void)find_marking(name, spec.marking);
  if (spec.marking == MarkingKind::Opm) spec.thresholds.output = 90;
  return spec;
}

CongestionSpec window_alone(CongestionSpec spec) {
  spec.pace = PaceKind::None;
  return spec;
}

CongestionSpec slots_alone(CongestionSpec spec) {
  spec.window = {};
  return spec;
}

CongestionSpec marks_alone(std::string_view name) {
  const CongestionSpec whole = with_marking(name);
  return {.marking = whole.marking, .thresholds = whole.thresholds};
}

}  // namespace

std::vector<HotSpotCase> hot_spot_cases() {
  std::vector<HotSpotCase> out;
  for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
    for (const char* name : {"none", "standard", "renato", "pfister", "iocm", "mvcm"}) {
      out.push_back({name, level, preset(name)});
    }
    out.push_back({"mvpm window", level, window_alone(preset("mvcm"))});
    out.push_back({"mvpm slots", level, slots_alone(preset("mvcm"))});
    CongestionSpec progressive = preset("mvcm");
    progressive.recovery = Recovery::Progressive;
    out.push_back({"mvcm progressive", level, progressive});
  }
  for (const char* name : kOtherMarkings) {
    out.push_back({fmt::format("{} window", name), 2, window_alone(with_marking(name))});
    out.push_back({fmt::format("{} slots", name), 2, slots_alone(with_marking(name))});
  }
  for (const char* name : {"ipm", "rpm", "opm", "iopm", "mvpm"}) {
    out.push_back({fmt::format("{} marks", name), 1, marks_alone(name)});
  }
  CongestionSpec uncapped = preset("mvcm");
  uncapped.cap = cc::WaitCap::None;
  out.push_back({"mvcm uncapped", 1, uncapped});
  return out;
}

}  // namespace smd::sim
