// A switch that loses its tables while routes are computed: it was read before and is set after.
#include <gtest/gtest.h>

#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace switch_restart_test {

struct SwitchRestart : testing::Test {
  /// Brings up `subnet` without `host`, lets it come, and has `reset` gone and back in the moment
  /// in which routes are computed for that.
  static void reset_while_computing(const std::string& fabric,
                                    const std::string& host,
                                    const std::string& reset) {
    sim::SimulatedSubnet* at = nullptr;
    bool armed = false;
    sim::SimulatedSubnetOptions options;
    options.on_phase = [&](Phase phase) {
      if (phase != Phase::Routing || !std::exchange(armed, false)) return;
      const std::uint32_t node = sim::find_node(at->fabric.spec(), reset);
      at->fabric.set_node(node, false);
      at->fabric.set_node(node, true);
    };
    sim::SimulatedSubnet subnet(spec_of(fabric), options);
    at = &subnet;
    const std::uint32_t late = sim::find_node(subnet.fabric.spec(), host);
    subnet.fabric.set_node(late, false);
    ASSERT_TRUE(subnet.bring_up());
    OracleWatch watch(subnet);
    armed = true;
    subnet.fabric.set_node(late, true);
    ASSERT_TRUE(subnet.settle());
    ASSERT_FALSE(armed);
    ASSERT_TRUE(subnet.settle_up());
    EXPECT_TRUE(watch.connected()) << reset;
    EXPECT_EQ(watch.never_allowed(), "");
    EXPECT_EQ(watch.present_loop(), "");
  }
};

TEST_F(SwitchRestart, ItsTablesAreWrittenAgainWhereLinearFdbTopRises) {
  // Two blocks of LIDs: the new one is in the second, and nobody has a reason to write the first.
  for (const char* reset : {"sw-0-1", "sw-1-0"})
    reset_while_computing("fat-tree:k=12,levels=2", "host-00071", reset);
}

TEST_F(SwitchRestart, OfTheOnlyWayToTheRestToo) {
  reset_while_computing("torus:dims=30,mesh=1,hosts=2", "host-00059", "sw-1");
}

}  // namespace switch_restart_test
}  // namespace smd::test
