// Data while a change is taken in: the time line and the totals are of the same packets, and
// looking at it changes nothing.
#include "sim-backend/experiments/change/managed_change.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace {

AssimilationCost measure(const char* mode, bool comes, Duration sample) {
  auto cost = measure_change({.fabric = "example:name=fig76",
                              .preset = kPresets[0],
                              .how = *parse_reconfiguration_mode(mode),
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

TEST(ManagedChange, ChargesAnEngineThatKeepsEntriesForThoseThatItMakes) {
  ManagedChange change{.fabric = "example:name=fig76", .preset = kPresets[0], .node = 1};
  const auto computing = [&](const char* mode, bool all) {
    change.how = *parse_reconfiguration_mode(mode);
    change.charge_all = all;
    return measure_change(change).value().computing;
  };
  const double kept = computing("certified", false);
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, computing("certified", true));
  EXPECT_EQ(computing("improved", false), computing("improved", true)) << "it keeps none";
}

TEST(ManagedChange, CountsUntilProvisionalRoutesAreIn) {
  const AssimilationCost cost = measure("improved", false, std::chrono::milliseconds(1));
  double counted = 0, all = 0;
  for (const auto& [interval, severed] : cost.timeline) {
    const bool until = interval.end <= static_cast<Picos>((cost.detected + cost.time() + 0.005001) *
                                                          double(kSecond));
    if (interval.begin >= 0 && until) counted += static_cast<double>(interval.generated);
    if (interval.begin >= 0) all += static_cast<double>(interval.generated);
  }
  EXPECT_EQ(cost.packets, counted);
  EXPECT_LT(cost.packets, all);
}

TEST(ManagedChange, ComesWhenBetweenTwoSweepsItIsAskedTo) {
  ManagedChange change{.fabric = "example:name=fig76",
                       .preset = kPresets[0],
                       .how = *parse_reconfiguration_mode("certified"),
                       .node = 1};
  const auto detected = [&](double phase) {
    change.phase = phase;
    return measure_change(change).value().detected;
  };
  const double early = detected(0.1), late = detected(0.9);
  const double interval = 0.016 * 8;
  EXPECT_NEAR(early, 0.9 * interval, 0.05 * interval);
  EXPECT_NEAR(late, 0.1 * interval, 0.05 * interval);
  change.traps = true;
  EXPECT_LT(detected(0.1), 0.2 * early);
}

}  // namespace
}  // namespace smd::sim
