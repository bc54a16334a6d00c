// Windows from runs: the round trip of an empty path in the networks of the study, to a cycle.
#include "sim-backend/experiments/congestion/empty_run.h"

#include <gtest/gtest.h>

#include "smd/congestion/throttle.h"

namespace smd::sim {
namespace {

struct Row {
  const char* name;
  const char* fabric;
  unsigned ports, payload, switches;
  double window;  // as printed
};

class EmptyNetwork : public testing::TestWithParam<Row> {};

// The formula counts a cable per switch; there is one more, once each way.
TEST_P(EmptyNetwork, HasTheRoundTripAndTheWindowOfTheFormula) {
  const Row& row = GetParam();
  const auto run = run_empty({row.name, row.fabric, row.ports, row.payload});
  ASSERT_TRUE(run.has_value()) << run.error().context;
  EXPECT_EQ(run->switches, row.switches);
  const cc::PathTiming path{.switches = run->switches,
                            .hop_time = 3,
                            .bytes_per_time = 1,
                            .head_bytes = 22,
                            .ack_bytes = 22};
  EXPECT_EQ(run->least_round_trip, cc::compute_round_trip(path, row.payload) + 2);
  EXPECT_EQ(run->most_round_trip, run->least_round_trip);
  // To within how the source rounds, and the cable.
  EXPECT_NEAR(run->most_round_trip / (row.payload + 22), row.window, 0.012);
  EXPECT_NEAR(cc::compute_window(path, row.payload), row.window, 0.008);
}

INSTANTIATE_TEST_SUITE_P(
    Networks,
    EmptyNetwork,
    testing::Values(Row{"bmin_256", "bmin:k=4,stages=5,hosts=512", 1, 256, 9, 1.28},
                    Row{"bmin_1024", "bmin:k=4,stages=5,hosts=512", 1, 1024, 9, 1.07},
                    Row{"umin_256", "umin:k=8,stages=3", 2, 256, 3, 1.14},
                    Row{"umin_1024", "umin:k=8,stages=3", 2, 1024, 3, 1.04}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(EmptyNetworks, WithoutAFabricHaveNone) {
  EXPECT_FALSE(run_empty({"none", "bmin:k=1"}).has_value());
}

}  // namespace
}  // namespace smd::sim
