// M_Key protection: levels, lease, violations (IBA 14.2.4).
#include <gtest/gtest.h>

#include "smd/mad/notice.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace m_key_test {

constexpr MKey kKey{0xfeed};
constexpr MKey kWrong{0xbad};

class MKeys : public ::testing::Test {
 protected:
  /// h3 gets the key; LIDs and tables are in place so that its trap finds the manager.
  void protect(unsigned level, unsigned lease_seconds = 0) {
    configure_line(rig_);
    rig_.set_port({1, 2, 3}, 1, [&](PortInfo& info) {
      info.m_key = kKey;
      info.m_key_protect_bits = static_cast<std::uint8_t>(level);
      info.m_key_lease_period = static_cast<std::uint16_t>(lease_seconds);
    });
    ASSERT_EQ(regs().m_key, kKey);
  }

  std::optional<Smp> ask_with(MKey key, Method method, AttributeId attribute) {
    Smp smp = along({1, 2, 3}, request(method, attribute, attribute == AttributeId::PortInfo));
    smp.m_key = key;
    if (method == Method::Set) {
      PortInfo info = regs();
      info.port_state = info.port_physical_state = 0;
      info.hoq_life = 9;
      encode_port_info(info, smp.data);
    }
    rig_.arrivals.clear();
    rig_.inject(smp);
    rig_.run(std::chrono::milliseconds(1));
    for (const Arrival& arrival : rig_.arrivals) {
      if (arrival.smp.transaction_id == smp.transaction_id) return arrival.smp;
    }
    return std::nullopt;
  }

  PortInfo regs() { return rig_.fabric.port_info(3, PortNum{1}); }

  Rig rig_{line()};
};

struct Access {
  unsigned level;
  MKey key;
  bool get_passes;
  bool key_shown;  // in PortInfo
  bool set_passes;
};

class MKeyLevels : public MKeys, public ::testing::WithParamInterface<Access> {};

TEST_P(MKeyLevels, DecideWhoReadsAndWrites) {
  const Access& row = GetParam();
  protect(row.level);
  EXPECT_EQ(ask_with(row.key, Method::Get, AttributeId::NodeInfo).has_value(), row.get_passes);
  const auto info = ask_with(row.key, Method::Get, AttributeId::PortInfo);
  ASSERT_EQ(info.has_value(), row.get_passes);
  if (info.has_value()) {
    EXPECT_EQ(decode_port_info(info->data).value().m_key, row.key_shown ? kKey : MKey{});
  }
  EXPECT_EQ(ask_with(row.key, Method::Set, AttributeId::PortInfo).has_value(), row.set_passes);
  EXPECT_EQ(regs().hoq_life, row.set_passes ? 9 : 0);
  const unsigned refused = (row.get_passes ? 0 : 2) + (row.set_passes ? 0 : 1);
  EXPECT_EQ(regs().m_key_violations, refused);
  EXPECT_EQ(rig_.fabric.stats().dropped_m_key, refused);
}

INSTANTIATE_TEST_SUITE_P(Matrix,
                         MKeyLevels,
                         ::testing::Values(Access{0, kKey, true, true, true},
                                           Access{0, kWrong, true, true, false},
                                           Access{1, kKey, true, true, true},
                                           Access{1, kWrong, true, false, false},
                                           Access{2, kKey, true, true, true},
                                           Access{2, kWrong, false, false, false},
                                           Access{3, kKey, true, true, true},
                                           Access{3, kWrong, false, false, false}));

TEST_F(MKeys, NoKeyProtectsNothing) {
  configure_line(rig_);
  EXPECT_TRUE(ask_with(kWrong, Method::Set, AttributeId::PortInfo).has_value());
}

TEST_F(MKeys, TheLeaseRunsOutAndOpensTheDoor) {
  protect(2, 5);
  EXPECT_FALSE(ask_with(kWrong, Method::Get, AttributeId::NodeInfo).has_value());
  rig_.run(std::chrono::milliseconds(4900));
  EXPECT_FALSE(ask_with(kWrong, Method::Get, AttributeId::NodeInfo).has_value());
  rig_.run(std::chrono::milliseconds(200));
  EXPECT_TRUE(ask_with(kWrong, Method::Get, AttributeId::NodeInfo).has_value());
  EXPECT_EQ(regs().m_key_protect_bits, 0);
  EXPECT_EQ(regs().m_key, kKey) << "the key stays, for others to read and use";
}

TEST_F(MKeys, TheRightKeyStopsTheLease) {
  protect(2, 5);
  EXPECT_FALSE(ask_with(kWrong, Method::Get, AttributeId::NodeInfo).has_value());
  rig_.run(std::chrono::seconds(4));
  EXPECT_TRUE(ask_with(kKey, Method::Get, AttributeId::NodeInfo).has_value());
  rig_.run(std::chrono::seconds(60));
  EXPECT_FALSE(ask_with(kWrong, Method::Get, AttributeId::NodeInfo).has_value());
}

TEST_F(MKeys, WithoutALeasePeriodTheProtectionStays) {
  protect(2, 0);
  EXPECT_FALSE(ask_with(kWrong, Method::Get, AttributeId::NodeInfo).has_value());
  rig_.run(std::chrono::hours(24));
  EXPECT_FALSE(ask_with(kWrong, Method::Get, AttributeId::NodeInfo).has_value());
}

TEST_F(MKeys, WritingZeroResetsTheViolations) {
  protect(1);
  EXPECT_FALSE(ask_with(kWrong, Method::Set, AttributeId::PortInfo).has_value());
  EXPECT_EQ(regs().m_key_violations, 1);
  rig_.m_key = kKey;
  rig_.run(std::chrono::hours(1));  // until the trap is given up, so that answers come alone
  rig_.set_port({1, 2, 3}, 1, [](PortInfo& info) { info.m_key_violations = 0; });
  EXPECT_EQ(regs().m_key_violations, 0);
}

TEST_F(MKeys, AViolationRaisesTrap256) {
  protect(2);
  rig_.arrivals.clear();
  Smp smp = get({1, 2, 3}, AttributeId::NodeInfo);
  smp.m_key = kWrong;
  rig_.inject(smp);
  rig_.run(std::chrono::milliseconds(1));
  ASSERT_EQ(rig_.arrivals.size(), 1u);
  EXPECT_EQ(rig_.arrivals[0].smp.method, Method::Trap);
  const auto violation = find_m_key_violation(decode_notice(rig_.arrivals[0].smp.data).value());
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->lid, Lid{4});
  EXPECT_EQ(violation->m_key, kWrong);
  EXPECT_TRUE(violation->directed);
  EXPECT_EQ(violation->attribute_id, smp.attribute_id);
}

}  // namespace m_key_test
}  // namespace smd::sim::test
