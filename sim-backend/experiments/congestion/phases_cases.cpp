#include "sim-backend/experiments/congestion/phases_cases.h"

#include <bit>

namespace smd::sim {
namespace {

constexpr std::uint32_t kBytes = 256;

/// The first program's load is `rate` of a link while it sends, besides headers.
PhasesSetup setup_of(std::uint32_t ranks, double rate, std::string output) {
  // A step is a round to each other rank, and a round per doubling.
  const std::uint32_t rounds = ranks - 1 + static_cast<std::uint32_t>(std::bit_width(ranks)) - 1;
  const double step = rounds * kBytes / rate;
  PhasesSetup out{
      .ranks = ranks,
      .first = {.phases = {"all-to-all:bytes=256", "all-reduce:bytes=256"},
                .repeat = 60,
                .bytes_per_cycle = rate,
                .jitter = 1000},
      .second = {.phases = {"halo:bytes=512", "all-reduce:bytes=160", std::move(output)},
                 .jitter = 1000}};
  out.rate_window = static_cast<std::uint64_t>(step);
  out.second_at = 4 * out.rate_window;
  return out;
}

}  // namespace

std::vector<PhasesCase> phases_cases(bool quick) {
  const auto chosen = [&] {
    if (!quick) return setup_of(64, 0.3, "gather:bytes=3072");
    PhasesSetup out = setup_of(16, 0.3, "gather:bytes=3072");
    out.fabric = "bmin:k=4,stages=2";
    return out;
  };
  std::vector<PhasesCase> out{{"chosen", chosen()}};
  const auto other = [&](std::string name, auto change) {
    PhasesSetup setup = chosen();
    change(setup);
    out.push_back({std::move(name), std::move(setup)});
  };
  other("output of 1,536 bytes",
        [](PhasesSetup& s) { s.second.phases.back() = "gather:bytes=1536"; });
  if (quick) return out;
  other("output of 6,144 bytes",
        [](PhasesSetup& s) { s.second.phases.back() = "gather:bytes=6144"; });
  other("three outputs, to ranks 0, 21 and 42", [](PhasesSetup& s) {
    s.second.phases.back() = "gather:bytes=1024";
    s.second.phases.push_back("gather:bytes=1024,root=21");
    s.second.phases.push_back("gather:bytes=1024,root=42");
  });
  other("no output; faces of 4,096 bytes", [](PhasesSetup& s) {
    s.second.phases = {"halo:bytes=4096", "all-reduce:bytes=160"};
  });
  out.push_back({"first program at 0.15", setup_of(64, 0.15, "gather:bytes=3072")});
  out.push_back({"first program at 0.45", setup_of(64, 0.45, "gather:bytes=3072")});
  other("ranks in step", [](PhasesSetup& s) { s.first.jitter = s.second.jitter = 0; });
  other("ranks up to 10,000 cycles apart",
        [](PhasesSetup& s) { s.first.jitter = s.second.jitter = 10'000; });
  return out;
}

}  // namespace smd::sim
