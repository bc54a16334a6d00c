#include "sim-backend/experiments/congestion/ablation_cases.h"

#include <fmt/core.h>

#include "sim-backend/experiments/congestion/hot_spot_cases.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R4",
     .text = "OPM marks before IPM and RPM, which are alike, IOPM first of all and MVPM last; "
             "marks of IOPM outlast the pulse and outnumber those of MVPM",
     .source = "Ferrer 2012, Figure 4.12"},
    {.id = "R16",
     .text = "with one reaction the five markings are alike, IPM and RPM slightly behind at "
             "medium and high load",
     .source = "Ferrer 2012, Figure 8.27"},
    {.id = "R17",
     .text = "windows alone: alike at low load; of static ones 2 is best and 1 too few, 8 and "
             "more are alike; a dynamic one of 2 is best of all, then one of 4",
     .source = "Ferrer 2012, Figure 8.29"},
    {.id = "R18",
     .text = "at high load a static window of 1 has the lowest latency during the pulse, which "
             "then goes on rising; 4 is worse than 2",
     .source = "Ferrer 2012, Figures 5.1 and 8.30"},
    {.id = "R24",
     .text = "IOCM is slightly better than MVCM, acts earlier, and its marks go on after the pulse",
     .source = "Ferrer 2012, Figures 8.36 and 8.37"},
    {.id = "R25",
     .text = "IOCM acts upon more cold packets than MVCM, when the pulse begins",
     .source = "Ferrer 2012, Figures 8.38 and 8.39"},
};

constexpr Picos kAfter = 100'000 * kNano;

}  // namespace

std::span<const ClaimSpec> ablation_claims() { return kClaims; }

std::string marked_case(std::string_view marking, std::size_t level) {
  return fmt::format("{} both, {}", marking, kHotSpotLevels[level].name);
}

std::string window_case(char kind, unsigned packets, std::size_t level) {
  return fmt::format("{}W={}, {}", kind, packets, kHotSpotLevels[level].name);
}

std::vector<PulseCase> ablation_cases(bool quick) {
  std::vector<PulseCase> out;
  PulseNetwork network = study_network(quick);
  const auto add = [&](std::string name, const CongestionSpec& spec, std::size_t level) {
    out.push_back({std::move(name), network, spec, kHotSpotLevels[level].rate});
  };
  for (std::size_t level = 0; level < kHotSpotLevels.size(); ++level) {
    for (const char* marking : kAblatedMarkings) {
      network.after = level == 1 ? kAfter : 0;
      add(marked_case(marking, level), with_marking(marking), level);
    }
    network.after = 0;
    const auto window = [&](WindowKind kind, unsigned packets) {
      CongestionSpec spec = window_alone(with_marking("mvpm"));
      spec.window = {.kind = kind, .most = packets};
      const char letter = kind == WindowKind::Static ? 'S' : 'D';
      add(window_case(letter, packets, level), spec, level);
    };
    for (const unsigned packets : kStaticWindows) {
      network.after = level == 2 && packets <= 4 ? kAfter : 0;
      window(WindowKind::Static, packets);
    }
    network.after = 0;
    for (const unsigned packets : kDynamicWindows) window(WindowKind::Dynamic, packets);
  }
  network.after = kAfter;
  for (const char* marking : kAblatedMarkings) {
    add(fmt::format("{} marks", marking), marks_alone(marking), 1);
  }
  return out;
}

}  // namespace smd::sim
