// Which losses a fault is the reason of.
#include "sim-backend/scenario/period_meter.h"

#include <gmock/gmock.h>

#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace period_meter_test {

/// What was lost in two stretches of one packet each, to a host whose port went.
std::vector<Period> lose_two(const std::function<void(PacketRig&, PeriodMeter&)>& between) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), PacketOptions::modern());
  rig.fabric.nodes[rig.node("S2")].ports[2].info.port_state =
      static_cast<std::uint8_t>(PortState::Down);
  rig.reload();
  PeriodMeter meter(*rig.net);
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)},
                 {.at = 100 * kMicro, .source = 0, .what = rig.to(1, 256)}});
  rig.net->set_workload(&script);
  rig.net->start();
  meter.begin(PeriodKind::Before);
  rig.net->run_until(50 * kMicro);
  meter.turn(PeriodKind::During);
  between(rig, meter);
  rig.net->run_until(200 * kMicro);
  meter.finish();
  EXPECT_EQ(rig.discarded(Discard::InactivePort), 2u);
  return meter.periods();
}

TEST(PeriodMeter, ALossIsExplainedByAFaultOfThatNodeOnly) {
  const auto periods =
      lose_two([](PacketRig& rig, PeriodMeter& meter) { meter.blame(rig.node("S2")); });
  ASSERT_EQ(periods.size(), 2u);
  EXPECT_EQ(periods[0].unexplained, 1u) << "nothing had failed yet";
  EXPECT_EQ(periods[1].unexplained, 0u);
  const auto others =
      lose_two([](PacketRig& rig, PeriodMeter& meter) { meter.blame(rig.node("S1")); });
  ASSERT_EQ(others.size(), 2u);
  EXPECT_EQ(others[1].unexplained, 1u) << "that happened elsewhere";
}

TEST(PeriodMeter, AMissingRouteIsNoFaultsDoing) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), PacketOptions::modern());
  PeriodMeter meter(*rig.net);
  meter.blame(rig.node("S1"));
  meter.blame(rig.node("S2"));
  PacketRequest nowhere = rig.to(1, 256);
  nowhere.dlid = Lid{999};
  Script script({{.at = 0, .source = 0, .what = nowhere}});
  rig.net->set_workload(&script);
  rig.net->start();
  meter.begin(PeriodKind::During);
  rig.net->run_until(50 * kMicro);
  meter.finish();
  EXPECT_EQ(rig.discarded(Discard::Unroutable), 1u);
  ASSERT_EQ(meter.periods().size(), 1u);
  EXPECT_EQ(meter.periods()[0].unexplained, 1u);
}

}  // namespace period_meter_test
}  // namespace smd::sim::test
