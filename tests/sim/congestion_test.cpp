// Congestion control of a whole subnet: agents that obey, and those that do not.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "smd/report/subnet_json.h"
#include "tests/sim/congestion_lab.h"

namespace smd::test {
namespace congestion_test {

using sim::CongestionSupport;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Congestion, IsOffUnlessItIsAskedFor) {
  Subnet subnet(cc::Options{});
  subnet.start();
  EXPECT_EQ(subnet.cc_manager.mads().sent, 0u);
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node)
    EXPECT_EQ(subnet.at(node), CongestionState{});
}

TEST(Congestion, EveryAgentHoldsThePlan) {
  Subnet subnet;
  subnet.start();
  EXPECT_EQ(find_unset(subnet), "");
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Managed), subnet.nodes());
  EXPECT_THAT(subnet.cc_manager.alarms(), IsEmpty());
  EXPECT_EQ(subnet.cc_manager.stats().sets, 6u + 2 * 8u) << "one to a switch, two to an adapter";
}

TEST(Congestion, WhatIsThereAlreadyIsNotWrittenAgain) {
  Subnet subnet;
  subnet.start();
  const auto before = subnet.cc_manager.mads().sent;
  subnet.sweep();
  EXPECT_EQ(subnet.cc_manager.mads().sent, before) << "what was confirmed is remembered";

  StateStore store;
  CcManager next(subnet.runtime, subnet.split.congestion(), store);
  const auto cycle = *subnet.manager.last_cycle();
  next.adopt(subnet.manager.share_in_force(), subnet.manager.settings(), 3, {});
  ASSERT_TRUE(subnet.run_until([&] { return next.at_rest(); }, 60s));
  EXPECT_EQ(next.count(CcAgentStatus::Managed), subnet.nodes());
  EXPECT_EQ(next.stats().sets, 0u) << "a new life reads first";
}

TEST(Congestion, AChangeCostsWhatItTouches) {
  Subnet subnet;
  subnet.start();
  const std::uint32_t host = subnet.nth(false, 3);
  const auto sets = subnet.cc_manager.stats().sets;
  subnet.fabric.set_node(host, false);
  subnet.sweep();
  EXPECT_EQ(find_unset(subnet, {host}), "") << "the leaf has one victim port less";
  EXPECT_EQ(subnet.cc_manager.stats().sets, sets + 1);
  subnet.fabric.set_node(host, true);
  subnet.sweep();
  EXPECT_EQ(find_unset(subnet), "") << "a node that was off has forgotten everything";
  EXPECT_EQ(subnet.cc_manager.stats().sets, sets + 1 + 3);
}

TEST(Congestion, AFabricWithoutAgentsIsLeftAloneAndThatIsSaid) {
  Subnet subnet;
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node)
    subnet.fabric.set_congestion_support(node, CongestionSupport::None);
  subnet.start();
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Unsupported), subnet.nodes());
  EXPECT_EQ(subnet.cc_manager.stats().sets, 0u);
  EXPECT_EQ(subnet.cc_manager.stats().gets, subnet.nodes()) << "one question each";
  subnet.sweep();
  EXPECT_EQ(subnet.cc_manager.stats().gets, subnet.nodes()) << "and not another";
  const auto json = congestion_json(subnet.cc_manager, subnet.manager.in_force());
  EXPECT_EQ(json.at("agents").at("unsupported"), subnet.nodes());
  EXPECT_THAT(subnet.cc_manager.alarms(), IsEmpty()) << "nothing is wrong with it";
}

/// Rounds in which logs are read, or none: log_interval_s.
class SilentAgents : public testing::TestWithParam<unsigned> {
 protected:
  static cc::Options options() {
    cc::Options options = Subnet::wish();
    options.log_interval_s = GetParam();
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(LogIntervals, SilentAgents, testing::Values(0u, 60u));

TEST_P(SilentAgents, AreGivenUpAfterThreeRounds) {
  Subnet subnet(options());
  const std::uint32_t sw = subnet.nth(true, 0);
  subnet.fabric.set_congestion_support(sw, CongestionSupport::Silent);
  subnet.start();
  EXPECT_EQ(find_unset(subnet, {sw}), "") << "the others do not wait";
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Silent), 1u);
  const auto timeouts = [&] { return subnet.cc_manager.mads().timeouts; };
  subnet.run_for(1000s);
  EXPECT_EQ(timeouts(), 3u);
  // It speaks up when its cables come up again.
  subnet.fabric.set_congestion_support(sw, CongestionSupport::Full);
  subnet.fabric.set_node(sw, false);
  subnet.sweep();
  subnet.fabric.set_node(sw, true);
  subnet.sweep();
  EXPECT_EQ(find_unset(subnet), "");
}

TEST_P(SilentAgents, GetThePlanThatWasMadeMeanwhile) {
  cc::Options plan = options();
  Subnet subnet(plan);
  subnet.start();
  const std::uint32_t sw = subnet.nth(true, 0);
  subnet.fabric.set_congestion_support(sw, CongestionSupport::Silent);
  plan.threshold = 9;
  subnet.manager.adopt(Subnet::settings_of(plan));
  subnet.sweep();
  subnet.run_for(1000s);
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Silent), 1u);
  subnet.fabric.set_congestion_support(sw, CongestionSupport::Full);
  subnet.run_for(100s);
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Silent), 0u) << "none of its cables was touched";
  EXPECT_EQ(subnet.at(sw).switch_setting.threshold, 9);
  EXPECT_EQ(subnet.cc_manager.stats().logs > 0, plan.log_interval_s > 0);
}

TEST(Congestion, ChangesOneAfterAnotherDoNotPutTheRoundOff) {
  cc::Options options = Subnet::wish();
  options.log_interval_s = 60;
  Subnet subnet(options);
  subnet.start();
  const auto logs = subnet.cc_manager.stats().logs;
  const std::uint32_t host = subnet.nth(false, 3);
  for (int i = 0; i < 10; ++i) {
    subnet.fabric.set_node(host, i % 2 != 0);
    subnet.sweep();
    subnet.run_for(30s);
  }
  EXPECT_GE(subnet.cc_manager.stats().logs, logs + 4 * (subnet.nodes() - 1)) << "in 300 s";
}

TEST(Congestion, AnAgentThatAnswersAndDoesNotObeyIsCountedOnce) {
  Subnet subnet;
  const std::uint32_t sw = subnet.nth(true, 1);
  const std::uint32_t host = subnet.nth(false, 2);
  for (const std::uint32_t node : {sw, host})
    subnet.fabric.set_congestion_support(node, CongestionSupport::Deaf);
  subnet.start();
  EXPECT_EQ(find_unset(subnet, {sw, host}), "");
  const auto json = congestion_json(subnet.cc_manager, subnet.manager.in_force());
  EXPECT_EQ(json.at("agents").at("disobeying"), 2);
  ASSERT_EQ(json.at("others").size(), 2u);
  EXPECT_THAT(json.at("others").at(0).at("trouble").get<std::string>(),
              HasSubstr("it answers the Set and keeps what it had"));
  EXPECT_EQ(subnet.cc_manager.alarms().size(), 2u);
  EXPECT_TRUE(subnet.manager.last_cycle()->up()) << "never fatal";
  const auto sets = subnet.cc_manager.stats().sets;
  subnet.sweep();
  EXPECT_EQ(subnet.cc_manager.stats().sets, sets) << "not asked again for the same";
}

TEST(Congestion, ATableThatIsTooSmallIsSaid) {
  cc::Options options = Subnet::wish();
  options.cct.emplace(129);
  Subnet subnet(options);
  subnet.start();
  EXPECT_THAT(subnet.cc_manager.alarms(),
              Contains(HasSubstr("its table has 2 blocks of 64 entries; 3 are needed")));
  EXPECT_EQ(subnet.at(subnet.nth(false, 0)), CongestionState{});
  EXPECT_NE(subnet.at(subnet.nth(true, 0)).switch_setting, cc::SwitchSetting{});
}

TEST(Congestion, WhatAnAgentRefusesIsSaid) {
  cc::Options options = Subnet::wish();
  options.cs_threshold = 3;  // which these switches do not know
  Subnet subnet(options);
  subnet.start();
  EXPECT_THAT(subnet.cc_manager.alarms(), Contains(HasSubstr("SwitchCongestionSetting: refused")));
  const auto json = congestion_json(subnet.cc_manager, nullptr);
  EXPECT_EQ(json.at("agents").at("refusing"), 6);
}

TEST(Congestion, ATableBelowTheFloorIsNotSet) {
  cc::Options options = Subnet::wish();
  options.cct = {{}, {.shift = 0, .multiplier = 100}};
  Subnet subnet(options);
  subnet.start();
  EXPECT_THAT(subnet.cc_manager.alarms(), Contains(HasSubstr("waits 100 packet times")));
  EXPECT_EQ(subnet.cc_manager.mads().sent, 0u);
}

TEST(Congestion, NodesMayBeDifferentOrLeftAlone) {
  Subnet plain;
  const std::uint32_t sw = plain.nth(true, 0);
  const std::uint32_t host = plain.nth(false, 0);
  cc::Options options = Subnet::wish();
  options.nodes = {{.node = plain.guid(sw), .threshold = 3},
                   {.node = plain.guid(host), .off = true}};
  std::ranges::sort(options.nodes, {}, &cc::NodeOverride::node);
  options.ccti_timer[5] = 77;
  Subnet subnet(options);
  subnet.start();
  EXPECT_EQ(subnet.at(sw).switch_setting.threshold, 3);
  EXPECT_EQ(subnet.at(host), CongestionState{});
  const std::uint32_t other = subnet.nth(false, 1);
  EXPECT_EQ(subnet.at(other).ca_setting.entries[5].timer, 77);
  EXPECT_NE(subnet.at(other).ca_setting.entries[4].timer, 77);
}

TEST(Congestion, PortsBeforeHostsMayDiffer) {
  cc::Options options = Subnet::wish();
  options.threshold = 11;
  options.host_threshold = 4;
  options.host_marking_rate = 7;
  const std::uint32_t odd = Subnet().nth(true, 3);
  options.nodes = {{.node = Subnet().guid(odd), .threshold = 2}};
  Subnet subnet(options);
  subnet.start();
  unsigned before_hosts = 0;
  const auto check = [&](bool differs) {
    before_hosts = 0;
    for (std::uint32_t node = 0; node < subnet.nodes(); ++node) {
      if (!subnet.is_switch(node)) continue;
      for (std::uint8_t p = 1; p <= 4; ++p) {
        const std::uint32_t far = subnet.fabric.spec().nodes[node].ports[p].peer_node;
        const bool host = far != sim::kNoNode && !subnet.is_switch(far) && node != odd && differs;
        const sim::MarkingRule rule = subnet.at(node).rule_of(PortNum{p});
        EXPECT_EQ(rule.threshold, node == odd ? 2 : host ? 4 : 11) << node << ":" << int{p};
        if (!host) continue;
        EXPECT_EQ(rule.marking_rate, 7);
        EXPECT_EQ(rule.packet_size, subnet.at(node).switch_setting.packet_size);
        ++before_hosts;
      }
    }
  };
  check(true);
  EXPECT_EQ(before_hosts, subnet.is_switch(odd) ? 6u : 8u) << "the odd one is a leaf";
  EXPECT_THAT(subnet.cc_manager.alarms(), IsEmpty());
  const auto sets = subnet.cc_manager.stats().sets;
  subnet.sweep();
  EXPECT_EQ(subnet.cc_manager.stats().sets, sets);
  options.host_threshold.reset();
  options.host_marking_rate.reset();
  subnet.manager.adopt(Subnet::settings_of(options));
  subnet.sweep();
  check(false);
}

TEST(Congestion, ANewConfigurationReachesRegistersAsADifference) {
  Subnet subnet;
  subnet.start();
  const auto sets = subnet.cc_manager.stats().sets;
  cc::Options options = Subnet::wish();
  options.threshold = 2;
  subnet.manager.adopt(Subnet::settings_of(options));
  subnet.sweep();
  EXPECT_EQ(subnet.at(subnet.nth(true, 4)).switch_setting.threshold, 2);
  EXPECT_EQ(subnet.cc_manager.stats().sets, sets + 6) << "switches alone";
}

TEST(Congestion, SwitchedOffItLeavesRegistersAsTheyAre) {
  Subnet subnet;
  subnet.start();
  const auto sent = subnet.cc_manager.mads().sent;
  subnet.manager.adopt(Subnet::settings_of(cc::Options{}));
  subnet.sweep();
  EXPECT_EQ(find_unset(subnet), "");
  EXPECT_EQ(subnet.cc_manager.mads().sent, sent);
  EXPECT_TRUE(subnet.cc_manager.agents().empty());
}

TEST(Congestion, AStandbyAsksNobodyAndForgets) {
  cc::Options options = Subnet::wish();
  options.log_interval_s = 1;
  Subnet subnet(options);
  subnet.manager.start();
  ASSERT_TRUE(subnet.run_until([&] { return subnet.cc_manager.stats().sets > 3; }, 60s));
  subnet.cc_manager.stop();
  EXPECT_TRUE(subnet.cc_manager.at_rest());
  const auto sent = subnet.cc_manager.mads().sent;
  subnet.run_for(100s);
  EXPECT_EQ(subnet.cc_manager.mads().sent, sent);
  subnet.sweep();
  EXPECT_EQ(find_unset(subnet), "") << "ruling again";
}

TEST(Congestion, ARebootInTheMiddleOfTheTalkIsNoticed) {
  for (int delay = 1; delay < 40; ++delay) {
    Subnet subnet;
    const std::uint32_t host = subnet.nth(false, 5);
    subnet.manager.start();
    ASSERT_TRUE(subnet.run_until([&] { return subnet.cc_manager.stats().gets > 0; }, 60s));
    subnet.run_for(std::chrono::microseconds(10 * delay));
    subnet.fabric.reboot_node(host, std::chrono::milliseconds(1));
    ASSERT_TRUE(subnet.settle());
    subnet.sweep();
    EXPECT_EQ(find_unset(subnet), "") << delay;
  }
}

TEST(Congestion, LogsBecomeHotPorts) {
  cc::Options options = Subnet::wish();
  options.log_interval_s = 10;
  Subnet subnet(options);
  subnet.start();
  const std::uint32_t sw = subnet.nth(true, 2);
  const std::uint32_t host = subnet.nth(false, 1);
  for (int round = 0; round < 3; ++round) {
    subnet.fabric.log_mark(sw, PortNum{2}, {});
    if (round == 0) subnet.fabric.log_mark(sw, PortNum{1}, {});
    if (round == 0) subnet.fabric.log_trigger(host, PortNum{1}, {});
    subnet.run_for(10s);
  }
  const auto& hot = subnet.cc_manager.hot();
  ASSERT_EQ(hot.size(), 3u);
  EXPECT_EQ(hot.at({subnet.guid(sw), PortNum{2}}).readings, 3u);
  EXPECT_EQ(hot.at({subnet.guid(sw), PortNum{2}}).events, 4u);
  EXPECT_EQ(hot.at({subnet.guid(sw), PortNum{1}}).readings, 1u);
  EXPECT_EQ(hot.at({subnet.guid(host), PortNum{1}}).events, 1u);
  const auto json = congestion_json(subnet.cc_manager, subnet.manager.in_force());
  EXPECT_EQ(json.at("hot").at(0).at("port"), 2) << "the most often seen first";
  EXPECT_EQ(json.at("hot").at(0).at("node"), subnet.fabric.spec().nodes[sw].description);
}

TEST(Congestion, APlanThatIsMadeWhileLogsAreReadReachesEveryAgent) {
  cc::Options options = Subnet::wish();
  options.log_interval_s = 10;
  Subnet subnet(options);
  subnet.start();
  const auto logs = subnet.cc_manager.stats().logs;
  ASSERT_TRUE(subnet.run_until([&] { return subnet.cc_manager.stats().logs > logs; }, 60s));
  options.threshold = 9;
  subnet.cc_manager.adopt(subnet.manager.share_in_force(), Subnet::settings_of(options), 3, {});
  subnet.run_for(1000s);
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node) {
    if (!subnet.is_switch(node)) continue;
    EXPECT_EQ(subnet.at(node).switch_setting.threshold, 9) << node;
  }
}

TEST(Congestion, LossesCostTimeAndNothingElse) {
  Subnet subnet;
  subnet.start();
  cc::Options options = Subnet::wish();
  options.threshold = 9;
  options.log_interval_s = 5;
  subnet.manager.adopt(Subnet::settings_of(options));
  subnet.fabric.set_wire_faults({.drop = 0.05, .duplicate = 0.05, .reorder = 0.2});
  subnet.sweep();
  subnet.fabric.set_wire_faults({});
  subnet.run_for(30s);
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node) {
    if (!subnet.is_switch(node)) continue;
    EXPECT_EQ(subnet.at(node).switch_setting.threshold, 9);
  }
  EXPECT_EQ(subnet.cc_manager.count(CcAgentStatus::Managed), subnet.nodes());
}

}  // namespace congestion_test
}  // namespace smd::test
