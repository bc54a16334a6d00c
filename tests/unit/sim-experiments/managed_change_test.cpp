// Data while a change is taken in: the time line and the totals are of the same packets, and
// looking at it changes nothing.
#include "sim-backend/experiments/managed_change.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace {

AssimilationCost measure(const char* mode, bool comes, Duration sample) {
  auto cost = measure_change({.fabric = "example:name=fig76",
                              .preset = kPresets[0],
                              .how = *parse_assimilation(mode),
                              .node = 1,
                              .comes = comes,
                              .load = 0.25,
                              .sample = sample});
  if (!cost) throw std::runtime_error(cost.error().context);
  return std::move(*cost);
}

TEST(ManagedChange, TheTimeLineIsOfThePacketsThatAreCounted) {
  const AssimilationCost plain = measure("basic", false, Duration{0});
  const AssimilationCost seen = measure("basic", false, std::chrono::milliseconds(1));
  EXPECT_TRUE(plain.timeline.empty());
  EXPECT_GT(plain.discarded, 0);
  EXPECT_EQ(plain.discarded, seen.discarded);
  EXPECT_EQ(plain.causes, seen.causes);
  EXPECT_EQ(plain.packets, seen.packets);
  EXPECT_EQ(plain.time(), seen.time());
  double made = 0;
  DiscardCounts causes{};
  Picos end = seen.timeline.at(0).all.begin;
  std::uint64_t severed_after = 0;
  EXPECT_EQ(end, -5 * kMilli);
  for (const auto& [interval, severed] : seen.timeline) {
    std::uint64_t lost = 0;
    for (const std::uint64_t count : interval.discarded) lost += count;
    EXPECT_LE(severed, lost);
    if (interval.end <= 0) {
      EXPECT_EQ(severed, 0u);
    }
    if (interval.begin >= static_cast<Picos>((seen.detected + seen.time()) * 1e12)) {
      EXPECT_EQ(severed, lost) << "routes are in: only who has no link loses packets";
      severed_after += severed;
    }
    EXPECT_EQ(interval.begin, end);
    end = interval.end;
    if (interval.begin >= 0) made += static_cast<double>(interval.generated);
    for (std::size_t i = 0; i < kDiscards; ++i) causes[i] += interval.discarded[i];
  }
  EXPECT_GT(severed_after, 0u);
  EXPECT_EQ(made, seen.packets);
  EXPECT_EQ(causes, seen.causes) << "nothing is lost before the change";
}

TEST(ManagedChange, TellsLossesThatTheChangeExplainsFromOthers) {
  const AssimilationCost certified = measure("certified", false, Duration{0});
  EXPECT_GT(certified.discarded, 0);
  EXPECT_EQ(certified.unexplained, 0);
  const AssimilationCost basic = measure("basic", false, Duration{0});
  EXPECT_GT(basic.unexplained, 0);
  EXPECT_LT(basic.unexplained, basic.discarded);
  const AssimilationCost comes = measure("basic", true, Duration{0});
  EXPECT_GT(comes.discarded, 0);
  EXPECT_EQ(comes.unexplained, comes.discarded) << "a switch that comes explains no loss";
}

}  // namespace
}  // namespace smd::sim
