// The run that thresholds are calibrated by, against what queueing says of so little traffic.
#include "sim-backend/experiments/congestion/uniform_run.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace {

const UniformNetwork kSmall{"bmin 4-ary 3-fly, 256", "bmin:k=4,stages=3"};

// A packet of 278 bytes takes a quarter of an output buffer for 278 cycles and some: by Little's
// law a load of x fills x / 4 of the buffers before hosts, and less before links that carry less.
TEST(UniformRun, BuffersOfLittleTrafficAreAsFullAsLittleSays) {
  const auto run = run_uniform(kSmall, 0.05, 200'000);
  ASSERT_TRUE(run.has_value()) << run.error().context;
  EXPECT_NEAR(run->accepted, 0.05, 0.002);
  EXPECT_GT(run->output_fill, 0.7 * 0.05 / 4);
  EXPECT_LT(run->output_fill, 1.3 * 0.05 / 4);
  EXPECT_LT(run->input_fill, run->output_fill) << "the crossbar is twice as fast";
  EXPECT_LT(run->fullest_fill, 0.05);
}

TEST(UniformRun, MoreTrafficFillsMoreAndTakesLonger) {
  UniformResult before;
  for (const double load : {0.05, 0.2, 0.35}) {
    const auto run = run_uniform(kSmall, load, 30'000);
    ASSERT_TRUE(run.has_value()) << run.error().context;
    EXPECT_GT(run->input_fill, before.input_fill);
    EXPECT_GT(run->output_fill, before.output_fill);
    EXPECT_GT(run->round_trip, before.round_trip);
    EXPECT_LE(run->fullest_fill, 1);
    before = *run;
  }
}

}  // namespace
}  // namespace smd::sim
