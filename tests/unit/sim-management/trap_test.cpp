// Traps 128 and 144: who is told, how often, and what stops them.
#include <gtest/gtest.h>

#include "smd/mad/notice.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace {

class Traps : public ::testing::Test {
 protected:
  Traps() {
    configure_line(rig_);
    rig_.arrivals.clear();
  }

  void repress(const Smp& trap) {
    Smp smp = request(Method::TrapRepress, AttributeId::Notice);
    smp.transaction_id = trap.transaction_id;
    smp.data = trap.data;
    rig_.inject(smp, decode_notice(trap.data).value().issuer_lid);
  }

  Rig rig_{line()};
  const Duration interval_{std::int64_t{4096} << 18};  // the power-on SubnetTimeout
};

TEST_F(Traps, BothEndsOfALinkTellTheManager) {
  rig_.fabric.set_link(2, PortNum{3}, false);
  rig_.run(std::chrono::milliseconds(1));
  ASSERT_EQ(rig_.arrivals.size(), 1u) << "the far end is an adapter, which does not report links";
  const Arrival& trap = rig_.arrivals[0];
  EXPECT_EQ(trap.smp.method, Method::Trap);
  EXPECT_FALSE(trap.smp.directed);
  EXPECT_EQ(trap.packet.remote_lid, Lid{3});
  const Notice notice = decode_notice(trap.smp.data).value();
  EXPECT_EQ(notice.trap_or_device, trap::kLinkState);
  EXPECT_EQ(notice.issuer_lid, Lid{3});
  EXPECT_EQ(notice_subject(notice), Lid{3});
}

TEST_F(Traps, ATrapOnlyArrivesWhereTheTablesLead) {
  // s2 loses its way to the manager; s1 does not.
  rig_.fabric.set_link(1, PortNum{2}, false);
  rig_.run(std::chrono::milliseconds(1));
  ASSERT_EQ(rig_.arrivals.size(), 1u);
  EXPECT_EQ(rig_.arrivals[0].packet.remote_lid, Lid{2});
  EXPECT_EQ(rig_.fabric.stats().traps, 2u);
  EXPECT_EQ(rig_.fabric.stats().dropped_link, 1u);
}

TEST_F(Traps, RepeatEveryIntervalUntilRepressed) {
  rig_.fabric.set_link(2, PortNum{3}, false);
  rig_.run(2 * interval_ + std::chrono::milliseconds(1));
  ASSERT_EQ(rig_.arrivals.size(), 3u);
  EXPECT_EQ(rig_.arrivals[1].after - rig_.arrivals[0].after, interval_);
  EXPECT_EQ(rig_.arrivals[2].after - rig_.arrivals[1].after, interval_);
  EXPECT_EQ(rig_.arrivals[0].smp.transaction_id, rig_.arrivals[2].smp.transaction_id);

  repress(rig_.arrivals[0].smp);
  rig_.run(10 * interval_);
  EXPECT_EQ(rig_.arrivals.size(), 3u);
}

TEST_F(Traps, AreGivenUpAfterTenRepetitions) {
  rig_.fabric.set_link(2, PortNum{3}, false);
  rig_.run(30 * interval_);
  EXPECT_EQ(rig_.arrivals.size(), 11u);
}

TEST_F(Traps, ALateRepressDoesNotHitTheNextTrap) {
  rig_.fabric.set_link(2, PortNum{3}, false);
  rig_.run(std::chrono::milliseconds(1));
  const Smp first = rig_.arrivals.at(0).smp;
  rig_.fabric.set_link(2, PortNum{3}, true);
  rig_.run(std::chrono::milliseconds(1));
  repress(first);
  rig_.arrivals.clear();
  rig_.run(interval_ + std::chrono::milliseconds(1));
  EXPECT_EQ(rig_.arrivals.size(), 1u) << "the newer event still repeats";
}

TEST_F(Traps, NobodyIsToldWithoutAManager) {
  Rig fresh(line());
  fresh.fabric.set_link(2, PortNum{3}, false);
  fresh.run(std::chrono::seconds(20));
  EXPECT_EQ(fresh.fabric.stats().traps, 0u);
}

TEST_F(Traps, AFabricWithoutTrapsSaysSo) {
  Rig quiet(line(), Timing::none(), 1, {.traps = false});
  configure_line(quiet);
  EXPECT_EQ(quiet.fabric.port_info(1, PortNum{0}).capability_mask & port_cap::kIsTrapSupported, 0u);
  quiet.fabric.set_link(2, PortNum{3}, false);
  quiet.run(std::chrono::seconds(20));
  EXPECT_EQ(quiet.fabric.stats().traps, 0u);
}

TEST_F(Traps, ANewManagerAndANewNameRaise144) {
  const auto rival = rig_.fabric.attach(3, PortNum{1}, [](const MadPacket&) {});
  rig_.fabric.set_is_sm(rival, true);
  rig_.run(std::chrono::milliseconds(1));
  ASSERT_EQ(rig_.arrivals.size(), 1u);
  auto change = find_capability_change(decode_notice(rig_.arrivals[0].smp.data).value());
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->lid, Lid{4});
  EXPECT_NE(change->capability_mask & port_cap::kIsSm, 0u);
  EXPECT_FALSE(change->description_changed);
  EXPECT_NE(rig_.fabric.port_info(3, PortNum{1}).capability_mask & port_cap::kIsSm, 0u);

  rig_.arrivals.clear();
  rig_.fabric.set_description(2, "renamed");
  rig_.run(std::chrono::milliseconds(1));
  ASSERT_EQ(rig_.arrivals.size(), 1u);
  change = find_capability_change(decode_notice(rig_.arrivals[0].smp.data).value());
  ASSERT_TRUE(change.has_value());
  EXPECT_TRUE(change->description_changed);
  EXPECT_EQ(change->lid, Lid{3});

  rig_.fabric.detach(rival);
  EXPECT_EQ(rig_.fabric.port_info(3, PortNum{1}).capability_mask & port_cap::kIsSm, 0u);
}

}  // namespace
}  // namespace smd::sim::test
