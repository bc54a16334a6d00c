// The calculators against the figures of the thesis they come from.
#include "smd/congestion/throttle.h"

#include <gmock/gmock.h>

namespace smd::cc {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

/// One cycle each for routing, switch and cable; one byte per cycle; headers and
/// acknowledgements of 22 bytes.
PathTiming thesis(unsigned switches) {
  return {
      .switches = switches, .hop_time = 3, .bytes_per_time = 1, .head_bytes = 22, .ack_bytes = 22};
}

struct WindowRow {
  const char* name;
  unsigned switches;
  double payload, path_bytes, round_trip, window;
};

class Windows : public testing::TestWithParam<WindowRow> {};

TEST_P(Windows, AreThoseOfTheThesis) {
  const WindowRow& row = GetParam();
  const PathTiming path = thesis(row.switches);
  EXPECT_DOUBLE_EQ(compute_path_bytes(path), row.path_bytes);
  EXPECT_DOUBLE_EQ(compute_round_trip(path, row.payload), row.round_trip);
  EXPECT_NEAR(compute_window(path, row.payload), row.window, 0.01);
  EXPECT_EQ(window_ceiling(compute_window(path, row.payload)), 2u);
}

INSTANTIATE_TEST_SUITE_P(Rows,
                         Windows,
                         testing::Values(WindowRow{"bmin_4ary_5fly_256", 9, 256, 76, 354, 1.28},
                                         WindowRow{"bmin_4ary_5fly_1024", 9, 1024, 76, 1122, 1.07},
                                         WindowRow{"umin_8ary_3fly_256", 3, 256, 40, 318, 1.14},
                                         WindowRow{"umin_8ary_3fly_1024", 3, 1024, 40, 1086, 1.04},
                                         WindowRow{"bmin_4ary_3fly_256", 5, 256, 52, 330, 1.19},
                                         WindowRow{"umin_4ary_4fly_256", 4, 256, 46, 324, 1.17}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Window, LiesBetweenTheLongestAndTheShortestPacket) {
  EXPECT_NEAR(compute_window(thesis(9), 0), 4.45, 0.01);
  EXPECT_NEAR(compute_window(thesis(9), 1e9), 1, 1e-6);
  // Two stages of time units and bytes per unit give the same packets.
  PathTiming scaled = thesis(9);
  scaled.hop_time = 300;
  scaled.bytes_per_time = 0.01;
  EXPECT_DOUBLE_EQ(compute_window(scaled, 256), compute_window(thesis(9), 256));
}

TEST(Waits, GrowByTheRadixFromOneRoundTrip) {
  const auto slots = [](unsigned marks, WaitCap cap) { return waiting_slots(marks, 4, 5, cap); };
  EXPECT_EQ(slots(0, WaitCap::None), 0u);
  EXPECT_EQ(slots(1, WaitCap::None), 1u);
  EXPECT_EQ(slots(2, WaitCap::None), 4u);
  EXPECT_EQ(slots(3, WaitCap::None), 16u);
  EXPECT_EQ(slots(6, WaitCap::Stages), 1024u);
  EXPECT_EQ(slots(60, WaitCap::Stages), 1024u);
  EXPECT_EQ(slots(60, WaitCap::StagesMinusOne), 256u);
  EXPECT_EQ(slots(7, WaitCap::None), 4096u);
  EXPECT_EQ(slots(1000, WaitCap::None), std::uint64_t{1} << 63) << "no overflow";
  // The two readings of the longest wait, in cycles of a round trip of 354.
  EXPECT_EQ(354 * slots(60, WaitCap::Stages), 362'496u);
  EXPECT_EQ(354 * slots(60, WaitCap::StagesMinusOne), 90'624u);
}

TEST(Waits, DivideTheRateFairly) {
  for (const unsigned radix : {2u, 4u, 8u, 36u}) {
    EXPECT_DOUBLE_EQ(fair_reduction(radix, 0), 1);
    EXPECT_DOUBLE_EQ(fair_reduction(radix, radix), 1.0 / radix);
    for (unsigned hot = 0; hot <= radix; ++hot)
      EXPECT_NEAR(hot_rate(radix, hot) * fair_reduction(radix, hot), 1, 1e-12)
          << radix << " " << hot;
  }
  EXPECT_DOUBLE_EQ(least_reduction(4, 5), 1.0 / 1024);
}

TEST(Table, IsThatOfTheWaits) {
  EXPECT_THAT(waiting_delays(1.28, 4, 5, WaitCap::Stages),
              Pointwise(DoubleNear(0.05), Delays{0, 1.28, 5.12, 20.5, 81.9, 327.7, 1310.7}));
  EXPECT_EQ(waiting_delays(1.28, 4, 5, WaitCap::StagesMinusOne).size(), 6u);
  EXPECT_EQ(throttle_delays(1.28, 4, 5), waiting_delays(1.28, 4, 5)) << "a window of two";
}

TEST(Table, TakesTheWindowDownFirstWhereItIsLarge) {
  EXPECT_THAT(throttle_delays(4.5, 4, 1),
              Pointwise(DoubleNear(1e-9), Delays{0, 0.125, 0.5, 1.25, 4.5, 18}));
  const Delays long_way = throttle_delays(320, 18, 3);
  EXPECT_LE(long_way.size(), kCctBlockSize);
  EXPECT_TRUE(std::ranges::is_sorted(long_way));
}

TEST(Table, IsSpreadSoThatAStepIsSmall) {
  EXPECT_THAT(spread_delays({0, 1, 7}, 0.5), Pointwise(DoubleNear(1e-9), Delays{0, 1, 3, 7}));
  EXPECT_EQ(spread_delays({0, 0.2}, 0.8), (Delays{0, 0.2})) << "small enough";
  EXPECT_TRUE(spread_delays({}, 0.8).empty());
  const Delays whole = throttle_delays(22.7, 4, 3), spread = spread_delays(whole, 0.8);
  EXPECT_TRUE(std::ranges::includes(spread, whole)) << "Table 5.1 is still there";
  for (std::size_t i = 1; i < spread.size(); ++i) {
    EXPECT_GT(spread[i], spread[i - 1]);
    EXPECT_LE(1 + spread[i], (1 + spread[i - 1]) / 0.8 + 1e-9);
  }
}

TEST(Entries, HoldDelaysToAnEighthWhileTheyFit) {
  EXPECT_EQ(encode_delay(1.28), (CctEntry{.shift = 3, .multiplier = 10}));
  EXPECT_DOUBLE_EQ(delay_of(encode_delay(5.1)), 5.125);
  EXPECT_EQ(encode_delay(2047.9), (CctEntry{.shift = 3, .multiplier = 16383}));
  EXPECT_EQ(encode_delay(2048), (CctEntry{.shift = 2, .multiplier = 8192}));
  EXPECT_EQ(encode_delay(16383), (CctEntry{.shift = 0, .multiplier = 16383}));
  EXPECT_EQ(encode_delay(1e9), encode_delay(16383));
  for (const double delay : {0.01, 0.9, 7.99, 3000.7, 16000.9})
    EXPECT_LE(delay_of(encode_delay_below(delay)), delay);
}

TEST(CountedHosts, MoveInBigSteps) {
  EXPECT_EQ(counted_hosts(0), 0u);
  EXPECT_EQ(counted_hosts(2), 2u);
  EXPECT_EQ(counted_hosts(5), 3u);
  EXPECT_EQ(counted_hosts(8), 6u);
  for (const std::size_t whole : {16u, 128u, 324u, 648u, 1024u, 11664u}) {
    EXPECT_EQ(counted_hosts(whole), counted_hosts(whole - 1)) << "one host less changes nothing";
    EXPECT_LE(counted_hosts(whole), whole);
    EXPECT_GT(2 * counted_hosts(whole), whole);
  }
}

TEST(Thresholds, SpreadEvenlyAndFiveIsTwoThirds) {
  EXPECT_EQ(threshold_of(0.66), 5);
  EXPECT_EQ(threshold_of(0.33), 11);
  EXPECT_EQ(threshold_of(0), 15);
  EXPECT_EQ(threshold_of(1), 1) << "0 would never mark";
  EXPECT_GT(fraction_of(0), 1) << "and so it does";
  for (std::uint8_t weight = 1; weight < 15; ++weight) {
    EXPECT_GT(fraction_of(weight), fraction_of(static_cast<std::uint8_t>(weight + 1)));
    EXPECT_EQ(threshold_of(fraction_of(weight)), weight);
  }
}

}  // namespace
}  // namespace smd::cc
