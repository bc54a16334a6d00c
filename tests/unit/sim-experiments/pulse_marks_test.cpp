// What each way of marking marks during a pulse that nobody reacts to, in 64 hosts.
#include <gtest/gtest.h>

#include "sim-backend/experiments/congestion/network_cases.h"

namespace smd::sim {
namespace {

class EveryMarking : public testing::TestWithParam<const char*> {};

// Published of 512 hosts: 93 to 98 percent of hot packets. With fewer hosts buffers fill later, so
// that the pulse has to be longer for its first packets to be as few.
TEST_P(EveryMarking, MarksThoseWhoCauseIt) {
  HotSpotNetwork network = study_network(true);
  network.traffic.batch = 100;
  const auto result = run_hot_spot(network, marks_alone(GetParam()), 0.1325, 1);
  ASSERT_TRUE(result.has_value()) << result.error().context;
  EXPECT_GT(result->hot.fully_marked, 0.9);
  EXPECT_LT(result->cold.fully_marked, 0.5 * result->hot.fully_marked);
  EXPECT_EQ(result->impossible_marks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Names,
                         EveryMarking,
                         testing::Values("ipm", "rpm", "opm", "iopm", "mvpm"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace smd::sim
