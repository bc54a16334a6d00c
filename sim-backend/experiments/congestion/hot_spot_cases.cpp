#include "sim-backend/experiments/congestion/hot_spot_cases.h"

#include <fmt/core.h>

#include "sim-backend/experiments/congestion/pulse_set.h"

namespace smd::sim {

std::vector<HotSpotCase> hot_spot_cases() {
  std::vector<HotSpotCase> out;
  for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
    for (const char* name : {"none", "standard", "renato", "pfister", "iocm", "mvcm"}) {
      out.push_back({name, level, mechanism_of(name)});
    }
    out.push_back({"mvpm window", level, window_alone(mechanism_of("mvcm"))});
    out.push_back({"mvpm slots", level, slots_alone(mechanism_of("mvcm"))});
    CongestionSpec progressive = mechanism_of("mvcm");
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
  CongestionSpec uncapped = mechanism_of("mvcm");
  uncapped.cap = cc::WaitCap::None;
  out.push_back({"mvcm uncapped", 1, uncapped});
  return out;
}

}  // namespace smd::sim
