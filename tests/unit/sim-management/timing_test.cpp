// Arrival times against sums done by hand. One MAD is 290 bytes: 290 ns at byte_ns = 1 on 4x EDR.
#include <gtest/gtest.h>

#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace timing_test {

using namespace std::chrono_literals;

Timing simple() {
  return {.smi_pass = 10us, .sma_time = 5us, .switch_hop = 100ns, .cable = 50ns, .byte_ns = 1};
}

TEST(Timing, DirectedGetOverThreeWires) {
  Rig rig(line(), simple());
  ASSERT_TRUE(rig.ask(get({1, 2, 3}, AttributeId::NodeInfo)).has_value());
  // Eight passages of a SMI (the sender's and the far end's count twice), the agent, and six wires
  // of 50 + 290 ns.
  EXPECT_EQ(rig.arrivals[0].after, 8 * 10us + 5us + 6 * 340ns);
}

TEST(Timing, GetOfTheOwnNodePassesTheSmiTwice) {
  Rig rig(line(), simple());
  ASSERT_TRUE(rig.ask(get({}, AttributeId::NodeInfo)).has_value());
  EXPECT_EQ(rig.arrivals[0].after, 10us + 5us + 10us);
}

TEST(Timing, LidRoutedGetCutsThroughTheSwitches) {
  Rig rig(line(), simple());
  configure_line(rig);
  const Duration before = rig.elapsed();
  ASSERT_TRUE(rig.ask(request(Method::Get, AttributeId::NodeInfo), Lid{4}).has_value());
  // Four passages, the agent; per direction three cables, two relays, one serialisation.
  EXPECT_EQ(rig.arrivals[0].after - before, 4 * 10us + 5us + 2 * (3 * 50ns + 2 * 100ns + 290ns));
}

TEST(Timing, ASmiServesOneAtATimeInOrderOfArrival) {
  Rig rig(line(), simple());
  rig.inject(get({1}, AttributeId::NodeInfo));
  rig.inject(get({1}, AttributeId::NodeInfo));
  rig.run();
  ASSERT_EQ(rig.arrivals.size(), 2u);
  // At the switch the second request is served before the first answer, which the agent
  // finishes meanwhile: 10, 20.34, (25.34) 30.34, 40.34, then wire and sender.
  EXPECT_EQ(rig.arrivals[0].after, 50'680ns);
  EXPECT_EQ(rig.arrivals[1].after, 60'680ns);
}

TEST(Timing, SerialisationFollowsWidthAndSpeed) {
  Rig rig(line(LinkWidth::X1, LinkSpeed::Sdr), simple());
  ASSERT_TRUE(rig.ask(get({1}, AttributeId::NodeInfo)).has_value());
  // 2 Gbit/s instead of 100: fifty times 290 ns.
  EXPECT_EQ(rig.arrivals[0].after, 4 * 10us + 5us + 2 * (50ns + 14'500ns));
}

TEST(Timing, AFastOutputWaitsForTheTailOfASlowInput) {
  Drawing draw;
  const auto h0 = draw.ca("h0");
  const auto s1 = draw.sw("s1");
  const auto h2 = draw.ca("h2");
  draw.cable(h0, 1, s1, 1, LinkWidth::X1, LinkSpeed::Sdr);  // 14,500 ns
  draw.cable(s1, 2, h2, 1);                                 // 290 ns
  Rig rig(draw.spec(), simple());
  rig.set_lid({}, 1, 1);
  rig.set_lid({1, 2}, 1, 2);
  rig.set_routes({1}, {{1, 1}, {2, 2}});
  const Duration before = rig.elapsed();
  ASSERT_TRUE(rig.ask(request(Method::Get, AttributeId::NodeInfo), Lid{2}).has_value());
  const Duration there = 50ns + 14'500ns + 50ns;         // tail into s1, then one more cable
  const Duration back = 50ns + 100ns + 50ns + 14'500ns;  // cut through onto the slow wire
  EXPECT_EQ(rig.arrivals[0].after - before, 4 * 10us + 5us + there + back);
}

TEST(Timing, PresetsReportTheirResponseTime) {
  Rig rig(line(), Timing::thesis());
  EXPECT_EQ(rig.fabric.port_info(3, PortNum{1}).resp_time_value, 5) << "131 us covers 75 us";
}

TEST(Timing, TheThesisPaysTwoPassagesAtTheManagerPerTransaction) {
  // Table 11: a LID-routed sweep of S switches takes about 2 * 75 us * S.
  Rig rig(line(), Timing::thesis());
  configure_line(rig);
  const Duration before = rig.elapsed();
  rig.arrivals.clear();
  constexpr int kSweeps = 100;
  for (int i = 0; i < kSweeps; ++i) {
    rig.inject(request(Method::Get, AttributeId::SwitchInfo), Lid{2});
    rig.inject(request(Method::Get, AttributeId::SwitchInfo), Lid{3});
  }
  rig.run();
  ASSERT_EQ(rig.arrivals.size(), 2u * kSweeps);
  const Duration took = rig.arrivals.back().after - before;
  EXPECT_GE(took, 2 * kSweeps * 150us);
  EXPECT_LT(took, 2 * kSweeps * 150us + 200us);
}

}  // namespace timing_test
}  // namespace smd::sim::test
