// The watch that simulation tests hang on a subnet, on the whole manager.
#include "tests/support/oracle_watch.h"

#include <gtest/gtest.h>

namespace smd::test {
namespace {

TEST(OracleWatch, SeesABringUpFromNothingToEverything) {
  SimulatedSubnet subnet(spec_of("example:name=fig67"));
  OracleWatch watch(subnet);
  EXPECT_FALSE(watch.connected());
  ASSERT_TRUE(subnet.bring_up());
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_EQ(watch.present_loop(), "");
  EXPECT_EQ(watch.timeline().lowest_connectivity(), 0);
  EXPECT_EQ(watch.timeline().now().connectivity().connected, 7u * 6u);
  EXPECT_GT(watch.timeline().samples().size(), 10u);
  EXPECT_GT(watch.timeline().changes(), 50u);
}

TEST(OracleWatch, SeesWhatAFailureCosts) {
  SimulatedSubnet subnet(spec_of("example:name=fig67"));
  ASSERT_TRUE(subnet.bring_up());
  OracleWatch watch(subnet);
  const std::uint32_t node = subnet.node("node-3");
  subnet.fabric.set_node(node, false);
  EXPECT_LT(watch.timeline().now().connectivity().level(), 1);
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(watch.connected());
  EXPECT_LT(watch.timeline().lowest_connectivity(), 1);
  watch.restart();
  EXPECT_EQ(watch.timeline().lowest_connectivity(), 1);
}

TEST(OracleWatch, RoutesThatMakeACircleAreNeverWritten) {
  // Shortest routes round a ring of switches wait for each other.
  SimulatedSubnetOptions options;
  options.settings.engine = "minhop";
  SimulatedSubnet subnet(spec_of("torus:dims=6,hosts=1"), std::move(options));
  OracleWatch watch(subnet);
  subnet.manager.start();
  subnet.run_for(std::chrono::seconds(1));
  // The manager writes nothing that it did not verify, so there is nothing to see.
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_FALSE(watch.connected());
}

}  // namespace
}  // namespace smd::test
