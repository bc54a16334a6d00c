#include "sim-backend/congestion/pace.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace pace_test {

constexpr Picos kPacket = 278'000;
constexpr Picos kTrip = 354'000;

std::vector<Picos> gaps(const Pace& pace, int marks) {
  std::vector<Picos> out;
  double value = pace.initial();
  for (int i = 0; i <= marks; ++i) {
    out.push_back(pace.gap(value, kPacket));
    pace.on_marked(value);
  }
  return out;
}

// Table 5.1 for 4-ary 5-fly: 0, 1, 4, 16 … round trips.
TEST(Pace, SlotsGrowByTheRadix) {
  const auto pace = pace_by_slots({.radix = 4, .stages = 5, .round_trip = kTrip});
  EXPECT_EQ(gaps(*pace, 8),
            (std::vector<Picos>{kPacket,
                                kTrip,
                                4 * kTrip,
                                16 * kTrip,
                                64 * kTrip,
                                256 * kTrip,
                                1024 * kTrip,
                                1024 * kTrip,
                                1024 * kTrip}));
}

TEST(Pace, TheCapOfSlotsHasTwoReadingsAndCanBeOff) {
  const auto at = [](cc::WaitCap cap) {
    return gaps(*pace_by_slots({.radix = 4, .stages = 5, .cap = cap, .round_trip = kTrip}), 8)[8];
  };
  EXPECT_EQ(at(cc::WaitCap::Stages), 1024 * kTrip);
  EXPECT_EQ(at(cc::WaitCap::StagesMinusOne), 256 * kTrip);
  EXPECT_EQ(at(cc::WaitCap::None), 16384 * kTrip);
}

TEST(Pace, OneCleanAcknowledgementTakesAllSlotsBack) {
  const auto pace = pace_by_slots({.radix = 4, .stages = 5, .round_trip = kTrip});
  double value = pace->initial();
  for (int i = 0; i < 4; ++i) pace->on_marked(value);
  EXPECT_EQ(pace->gap(value, kPacket), 64 * kTrip);
  EXPECT_TRUE(pace->on_clean(value));
  EXPECT_EQ(pace->gap(value, kPacket), kPacket);
  EXPECT_FALSE(pace->on_clean(value));
  pace->on_marked(value);
  EXPECT_EQ(pace->gap(value, kPacket), kTrip) << "one, not four";
}

TEST(Pace, FimdHalvesAndDoubles) {
  const auto pace = pace_fimd(2);
  EXPECT_EQ(gaps(*pace, 3), (std::vector<Picos>{kPacket, 2 * kPacket, 4 * kPacket, 8 * kPacket}));
  double rate = 0.125;
  EXPECT_TRUE(pace->on_clean(rate));
  EXPECT_EQ(rate, 0.25);
  rate = 1;
  EXPECT_FALSE(pace->on_clean(rate));
  EXPECT_EQ(rate, 1);
}

TEST(Pace, AimdHalvesAndAdds) {
  const auto pace = pace_aimd(2, 1.0 / 16);
  EXPECT_EQ(gaps(*pace, 2), (std::vector<Picos>{kPacket, 2 * kPacket, 4 * kPacket}));
  double rate = 0.25;
  EXPECT_TRUE(pace->on_clean(rate));
  EXPECT_EQ(rate, 0.3125);
}

TEST(Pace, LipdAddsAPacketTime) {
  const auto pace = pace_lipd();
  EXPECT_EQ(gaps(*pace, 3), (std::vector<Picos>{kPacket, 2 * kPacket, 3 * kPacket, 4 * kPacket}));
  double delay = 2;
  EXPECT_TRUE(pace->on_clean(delay));
  EXPECT_EQ(delay, 1);
}

// 102 hot sources, switches of 8 ports: 12.75 packet times a slot, without a cap.
TEST(Pace, PfistersSlotsHaveNoCap) {
  EXPECT_EQ(pfister_slot(102, 8), 12.75);
  EXPECT_EQ(pfister_slot(2, 8), 1);
  const auto pace = pace_pfister(12.75);
  const std::vector<Picos> all = gaps(*pace, 1000);
  EXPECT_EQ(all[1], 13.75 * kPacket);
  EXPECT_EQ(all[8], 103 * kPacket) << "its share of the hot link";
  EXPECT_EQ(all[1000], 12751 * kPacket);
}

TEST(Pace, EveryRuleComesBackToItsStart) {
  for (const auto& pace : {pace_by_slots({.round_trip = kTrip}),
                           pace_fimd(),
                           pace_aimd(),
                           pace_lipd(),
                           pace_pfister(3)}) {
    double value = pace->initial();
    for (int i = 0; i < 5; ++i) pace->on_marked(value);
    int steps = 0;
    while (pace->on_clean(value)) ASSERT_LT(++steps, 100);
    EXPECT_EQ(value, pace->initial());
    EXPECT_EQ(pace->gap(value, kPacket), kPacket);
  }
}

}  // namespace pace_test
}  // namespace smd::sim
