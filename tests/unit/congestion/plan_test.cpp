// What a fabric is set to, from its shape, rates and what the operator says.
#include "smd/congestion/plan.h"

#include <gmock/gmock.h>

#include "sim-backend/topology/snapshot.h"

namespace smd::cc {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<const Fabric> snapshot(const std::string& fabric) {
  return sim::build_snapshot(sim::load_fabric(fabric).value());
}

Facts facts_of(const std::string& fabric) { return read_facts(*snapshot(fabric), {}); }

TEST(Facts, OfTreesComeFromTheirLevels) {
  const Facts bmin = facts_of("bmin:k=4,stages=3");
  EXPECT_TRUE(bmin.is_tree);
  EXPECT_EQ(bmin.radix, 4u);
  EXPECT_EQ(bmin.stages, 3u);
  EXPECT_EQ(bmin.path, 5u);
  EXPECT_EQ(bmin.hosts, 64u);
  const Facts tree = facts_of("fat-tree:k=8,levels=2");
  EXPECT_EQ(tree.radix, 4u);
  EXPECT_EQ(tree.stages, 2u);
  EXPECT_EQ(tree.path, 3u);
  EXPECT_THAT(tree.mbps, ElementsAre(100'000u));
}

TEST(Facts, OfOtherShapesComeFromTheirPaths) {
  const Facts torus = facts_of("torus:dims=4.4,hosts=2");
  EXPECT_FALSE(torus.is_tree);
  EXPECT_EQ(torus.radix, 2u);
  EXPECT_EQ(torus.path, 5u) << "two and two links";
  EXPECT_EQ(torus.stages, 3u);
  EXPECT_EQ(facts_of("torus:dims=4.4,hosts=1").radix, 2u) << "one host per switch would never wait";
  const Facts routed = read_facts(*snapshot("torus:dims=4.4,hosts=2"), {.longest_route = 8});
  EXPECT_EQ(routed.path, 8u);
  EXPECT_EQ(routed.stages, 5u) << "rounded up";
}

TEST(Plan, LeavesEveryHostItsFloor) {
  for (const char* fabric :
       {"fat-tree:k=4,levels=2", "fat-tree:k=8,levels=3", "torus:dims=5.5", "dragonfly"}) {
    const Plan plan = build_plan(facts_of(fabric), {});
    EXPECT_EQ(plan.refusal, "") << fabric;
    ASSERT_EQ(plan.rates.size(), 1u);
    const RatePlan& rate = plan.rates.front();
    EXPECT_EQ(rate.longest_delay, static_cast<double>(counted_hosts(plan.facts.hosts) - 1));
    ASSERT_GT(rate.table.size(), 1u) << fabric;
    double last = -1;
    for (const CctEntry& entry : rate.table) {
      EXPECT_GT(delay_of(entry), last) << fabric;
      last = delay_of(entry);
    }
    EXPECT_LE(last, rate.longest_delay);
    const double cap =
        rate.window * static_cast<double>(waiting_slots(99, plan.facts.radix, plan.facts.stages));
    EXPECT_GT(last, std::min(rate.longest_delay, cap) - 1) << "and may fall to it, or to k^n";
    const CaEntry& entry = rate.setting.entries[15];
    EXPECT_EQ(entry.increase, 1);
  }
}

// All hosts that the table reckons with send to one, each at its slowest: the port between them
// marks one packet in 1 + marking rate, and a flow has its next mark when every other one has had
// its own. An index that has fallen by then is an index that falls to 0 while the port is full.
TEST(Plan, AMarkComesBeforeTheTimerTakesTheLastOneBack) {
  const auto marks_apart = [](const RatePlan& rate, unsigned marking_rate) {
    return (1.0 + marking_rate) * (1 + delay_of(rate.table.back())) * rate.packet_ns +
           rate.round_trip_ns;
  };
  for (const char* fabric : {"fat-tree:k=8,levels=3,speed=HDR",
                             "dragonfly:a=4,c=2,h=2,speed=HDR",
                             "torus:dims=5.5",
                             "fat-tree:k=16,levels=3,speed=NDR"}) {
    for (const unsigned asked : {0u, 1u, 10u, 60u}) {
      Options options;
      if (asked > 0) options.marking_rate = asked;
      const Plan plan = build_plan(facts_of(fabric), options);
      const RatePlan& rate = plan.rates.front();
      const double apart = marks_apart(rate, plan.switches.marking_rate);
      EXPECT_EQ(plan.switches.marking_rate, asked) << "every packet, unless told otherwise";
      for (const CaEntry& entry : rate.setting.entries) {
        EXPECT_GE(entry.timer * 1024.0, apart) << fabric << ", rate " << asked;
        EXPECT_LT((entry.timer - 1) * 1024.0, apart) << fabric << ": no longer than it has to be";
      }
    }
  }
  Options before_hosts;
  before_hosts.host_marking_rate = 5;
  const RatePlan rate = build_plan(facts_of("fat-tree:k=8,levels=2"), before_hosts).rates.front();
  EXPECT_GE(rate.setting.entries[0].timer * 1024.0, marks_apart(rate, 5));
}

// 1 / (1 + delay) is a flow's share of its link. Entries are coded to an eighth of a packet time.
TEST(Plan, NoMarkTakesMoreThanAFifthOfARate) {
  for (const char* fabric : {"fat-tree:k=4,levels=2",
                             "fat-tree:k=8,levels=3,speed=HDR",
                             "fat-tree:k=36,levels=3,speed=NDR",
                             "torus:dims=5.5"}) {
    const RatePlan rate = build_plan(facts_of(fabric), {}).rates.front();
    EXPECT_LE(rate.table.size(), kCctBlockSize) << fabric;
    for (std::size_t i = 1; i < rate.table.size(); ++i) {
      const double before = 1 + delay_of(rate.table[i - 1]), now = 1 + delay_of(rate.table[i]);
      EXPECT_LE(now - 0.0625, (before + 0.0625) / 0.8 + 1e-9) << fabric << ", entry " << i;
    }
  }
}

TEST(Plan, MarksAboveAThirdOfABuffer) {
  const Plan plan = build_plan(facts_of("fat-tree:k=8,levels=2"), {});
  EXPECT_EQ(plan.switches.threshold, 11) << "33 % of a buffer";
  EXPECT_EQ(plan.switches.packet_size, 8) << "512 bytes";
}

TEST(Plan, CountsEachRateInItsOwnPackets) {
  Facts facts = facts_of("fat-tree:k=8,levels=2");
  facts.mbps = {25'000, 100'000};
  const Plan plan = build_plan(facts, {});
  ASSERT_EQ(plan.rates.size(), 2u);
  EXPECT_EQ(plan.rates[0].longest_delay, 23);
  EXPECT_EQ(plan.rates[1].longest_delay, 95) << "four times the floor's share of a slow link";
  EXPECT_LT(plan.rates[0].window, plan.rates[1].window);
}

TEST(Plan, RefusesATableBelowTheFloorAndGivesTheFigure) {
  Options options;
  options.cct = {{}, {.shift = 0, .multiplier = 10}, {.shift = 0, .multiplier = 100}};
  const Plan plan = build_plan(facts_of("fat-tree:k=8,levels=2"), options);
  EXPECT_THAT(plan.refusal, HasSubstr("entry 2 of the table waits 100 packet times"));
  EXPECT_THAT(plan.refusal, HasSubstr("0.9901 %"));
  EXPECT_THAT(plan.refusal, HasSubstr("4.167 %"));
  options.cct->back().multiplier = 23;
  EXPECT_EQ(build_plan(facts_of("fat-tree:k=8,levels=2"), options).refusal, "");
  options.cct->back().multiplier = 100;
  options.floor_hosts = 101;
  EXPECT_EQ(build_plan(facts_of("fat-tree:k=8,levels=2"), options).refusal, "") << "said otherwise";
}

TEST(Plan, RefusesAnIndexThatTheTableHasNot) {
  Options options;
  options.cct = {{}, {.multiplier = 1}};
  options.ccti_min[7] = 2;
  EXPECT_THAT(build_plan(facts_of("fat-tree:k=8,levels=2"), options).refusal,
              HasSubstr("ccti_min of SL 7 is 2, and the table ends at 1"));
  options.ccti_min[7] = 1;
  EXPECT_EQ(build_plan(facts_of("fat-tree:k=8,levels=2"), options).refusal, "");
  options.nodes = {{.node = Guid{5}, .ccti_min = 9}};
  EXPECT_THAT(build_plan(facts_of("fat-tree:k=8,levels=2"), options).refusal,
              HasSubstr("ccti_min of 0x0000000000000005 is 9"));
}

TEST(Plan, TakesWhatTheOperatorSays) {
  Options options;
  options.threshold = 15;
  options.marking_rate = 10;
  options.packet_size = 3;
  options.cs_threshold = 2;
  options.port_control = 1;
  options.ca_control_map = 0x8001;
  options.ccti_timer[3] = 99;
  options.trigger_threshold[3] = 1;
  const Plan plan = build_plan(facts_of("fat-tree:k=8,levels=2"), options);
  EXPECT_EQ(plan.switches.threshold, 15);
  EXPECT_EQ(plan.switches.marking_rate, 10);
  EXPECT_EQ(plan.switches.packet_size, 3);
  EXPECT_EQ(plan.switches.control_map, 0x1du) << "credit starvation was spoken of, its mask not";
  const CaSetting& setting = plan.rates[0].setting;
  EXPECT_EQ(setting.port_control, 1);
  EXPECT_EQ(setting.control_map, 0x8001);
  EXPECT_EQ(setting.entries[3].timer, 99);
  EXPECT_EQ(setting.entries[3].trigger, 1);
  EXPECT_NE(setting.entries[4].timer, 99);
}

TEST(Wishes, MakeVictimsOfPortsBeforeHostsAlone) {
  const auto fabric = snapshot("fat-tree:k=4,levels=2");
  const Plan plan = build_plan(read_facts(*fabric, {}), {});
  std::size_t victims = 0;
  for (const NodeIdx node : fabric->switch_node) {
    const SwitchSetting setting = switch_setting(plan, {}, *fabric, node);
    for (const PortIdx port : fabric->external_ports(node)) {
      const PortIdx peer = fabric->peer[port];
      const bool host = peer != kNone<PortIdx> && !fabric->is_switch(fabric->node_of[peer]);
      EXPECT_EQ(setting.victim_mask.test(fabric->number_of(port)), host);
      victims += host;
    }
  }
  EXPECT_EQ(victims, 8u);
}

TEST(Wishes, DifferWhereANodeIsNamed) {
  const auto fabric = snapshot("fat-tree:k=4,levels=2");
  NodeIdx host = kNone<NodeIdx>;
  for (const NodeIdx node : fabric->node_guid.indices()) {
    if (!fabric->is_switch(node)) host = node;
  }
  const NodeIdx sw = *fabric->switch_node.begin();
  Options options;
  options.nodes = {{.node = fabric->node_guid[sw], .threshold = 3, .marking_rate = 7},
                   {.node = fabric->node_guid[host], .ccti_timer = 5, .ccti_min = 1}};
  const Plan plan = build_plan(read_facts(*fabric, {}), options);
  EXPECT_EQ(switch_setting(plan, options, *fabric, sw).threshold, 3);
  EXPECT_EQ(switch_setting(plan, options, *fabric, sw).marking_rate, 7);
  EXPECT_EQ(
      switch_setting(plan, options, *fabric, *std::next(fabric->switch_node.begin())).threshold,
      11);
  const auto target = ca_target(plan, options, *fabric, fabric->port_of(host, PortNum{1}));
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->setting.entries[0].timer, 5);
  EXPECT_EQ(target->setting.entries[15].min, 1);
}

TEST(Tables, GoOutInBlocksThatAllCarryTheLimit) {
  std::vector<CctEntry> table(65);
  table[64] = {.shift = 1, .multiplier = 9};
  const auto blocks = table_blocks(table);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].limit, 64);
  EXPECT_EQ(blocks[1].limit, 64);
  EXPECT_EQ(blocks[1].entries[0], table[64]);
  EXPECT_EQ(blocks[1].entries[1], CctEntry{});
  EXPECT_EQ(table_blocks({}).size(), 1u) << "a limit of 0 is said too";
}

TEST(PlanText, SaysWhatAndWhy) {
  const Plan plan = build_plan(facts_of("torus:dims=4.4"), {});
  const auto lines = print_plan(plan);
  EXPECT_THAT(lines, testing::Contains(HasSubstr("ccti_timer")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("no fat tree")));
}

}  // namespace
}  // namespace smd::cc
