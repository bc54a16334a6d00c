// Trees that would close a credit loop with unicast routes get a lane of their own, as far as the
// registers of switches and hosts go; where there is none, people are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/manager/effective_settings.h"
#include "smd/manager/multicast_manager.h"
#include "smd/multicast/check_tree.h"
#include "smd/sa/path_finder.h"
#include "tests/sim/multicast_site.h"
#include "tests/support/cables.h"

namespace smd::test {
namespace multicast_lane_test {

using ::testing::Contains;
using ::testing::HasSubstr;

// lash takes shortest ways whichever way they turn: a lane without loops has some with the trees.
constexpr const char* kFabric = "torus:dims=4.4,hosts=1";
constexpr const char* kEngine = "lash";
constexpr std::uint64_t kGroup = 0x101;

/// Everybody has joined, and whatever the judge finds was seen to.
void populate(Site& site) {
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, kGroup);
  ASSERT_TRUE(site.settle());
  for (int round = 0; round < 2; ++round) {
    site.run_for(6s);
    ASSERT_TRUE(site.settle());
  }
}

TEST(MulticastVl, LoopsWithUnicastRoutesCostALane) {
  Site site(kFabric, kEngine);
  std::set<Lid> told;
  site.tap.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set && is_about(smp, AttributeId::PortInfo)) {
      const PortInfo info = decode_port_info(smp.data).value();
      if (info.client_reregister && site.manager.in_force() != nullptr &&
          site.manager.in_force()->multicast_vl)
        told.insert(info.lid);
    }
    return true;
  };
  populate(site);
  const MulticastStats& stats = site.manager.multicast().stats();
  ASSERT_TRUE(stats.vl);
  EXPECT_EQ(stats.credit_loops, 1u);
  EXPECT_EQ(stats.acyclic, true);
  EXPECT_EQ(stats.vl_refused, "");
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(told.size(), site.hosts.size()) << "every member, and nobody else";

  // On one lane they do close a loop.
  const ActiveSubnet& apart = *site.manager.in_force();
  EXPECT_EQ(check_multicast_deadlock(apart, site.held_trees(kGroup)).acyclic, true);
  const ActiveSubnet together{
      .sweep = apart.sweep, .lids = apart.lids, .routing = apart.routing, .rows = apart.rows};
  const MulticastVerdict verdict = check_multicast_deadlock(together, site.held_trees(kGroup));
  EXPECT_EQ(verdict.acyclic, false);
  EXPECT_NE(verdict.cycle, "");
}

/// As a host does that registers again: the broadcast group, then another with what that has. The
/// status of the latter.
std::uint16_t register_again(Site& site, std::size_t host, std::uint64_t group) {
  site.ask(host,
           Method::Set,
           {.mgid = ipoib_broadcast(kDefaultPKey),
            .port_gid = site.gid(host),
            .p_key = kDefaultPKey,
            .join_state = 1},
           part::kMgid | part::kPortGid | part::kPKey | part::kJoinState);
  EXPECT_TRUE(site.settle());
  EXPECT_EQ(site.answers.back().mad.status, 0);
  McMemberRecord said = site.records.back();
  said.mgid = mgid(group);
  said.mtu.selector = said.rate.selector = Selector::Exactly;
  site.ask(host,
           Method::Set,
           said,
           kJoinMask | part::kMtuSelector | part::kMtu | part::kRateSelector | part::kRate |
               part::kHopLimit);
  EXPECT_TRUE(site.settle());
  return site.answers.back().mad.status;
}

TEST(SiteGroups, WhoRegistersAgainGetsTheOtherGroupsOfIpoibToo) {
  Settings settings = Site::settings_of("updn", TreeShape::UpDown);
  settings.groups = {
      {.mgid = ipoib_broadcast(kDefaultPKey), .p_key = kDefaultPKey, .q_key = 0xb1b}};
  Site site("fat-tree:k=4,levels=2", settings);
  site.bring_up();
  for (const std::size_t host : {0u, 1u}) ASSERT_EQ(register_again(site, host, kGroup), 0);
  settings.groups[0].q_key = 0xb1c;
  settings.groups[0].rate = 2;
  site.manager.adopt(settings);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  for (const std::size_t host : {0u, 1u, 2u}) EXPECT_EQ(register_again(site, host, kGroup), 0);
  EXPECT_EQ(site.records.back().q_key, 0xb1cu);
}

TEST(SiteGroups, MembersAreAskedToRegisterAgainWhenTheirsIsNotLikeItWas) {
  Settings settings = Site::settings_of("updn", TreeShape::UpDown);
  settings.groups = {{.mgid = mgid(kGroup), .p_key = kDefaultPKey, .q_key = 0xb1b}};
  Site site("fat-tree:k=4,levels=2", settings);
  std::set<Lid> told;
  site.tap.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set && is_about(smp, AttributeId::PortInfo)) {
      const PortInfo info = decode_port_info(smp.data).value();
      if (info.client_reregister) told.insert(info.lid);
    }
    return true;
  };
  site.bring_up();
  for (const std::size_t host : {0u, 1u, 2u}) site.join(host, kGroup);
  ASSERT_TRUE(site.settle());
  const auto adopt = [&] {
    told.clear();
    site.manager.adopt(settings);
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
  };
  adopt();
  EXPECT_TRUE(told.empty()) << "nothing is new";
  settings.groups[0].q_key = 0xb1c;
  adopt();
  EXPECT_EQ(told.size(), 3u) << "who is in it, and nobody else";
  adopt();
  EXPECT_TRUE(told.empty()) << "once";
}

TEST(MulticastVl, RegistersKeepTheLaneToIt) {
  Site site(kFabric, kEngine);
  populate(site);
  ASSERT_TRUE(site.manager.multicast().stats().vl);
  const auto [sl, vl] = *site.manager.multicast().stats().vl;
  const Fabric& fabric = site.snapshot();
  unsigned seen = 0;
  for (const PortIdx out : fabric.peer.indices()) {
    const NodeIdx node = fabric.node_of[out];
    if (fabric.peer[out] == kNone<PortIdx> || !fabric.is_switch(node)) continue;
    const sim::NodeState& state = site.fabric.node_state(site.sim_node(fabric.node_guid[node]));
    for (unsigned p = 0; p <= fabric.num_ports(node); ++p) {
      const PortNum in{static_cast<std::uint8_t>(p)};
      const bool has_row = p == 0 || fabric.peer[fabric.port_of(node, in)] != kNone<PortIdx>;
      if (in == fabric.number_of(out) || !has_row) continue;
      const SlToVl row = state.read_sl_to_vl(in, fabric.number_of(out));
      for (std::uint8_t each = 0; each < row.size(); ++each)
        EXPECT_EQ(row[each] == vl, each == sl) << print_port(fabric, out) << " SL " << +each;
      ++seen;
    }
  }
  EXPECT_GT(seen, 100u);
}

TEST(MulticastVl, HostsAreToldItsSl) {
  Site site(kFabric, kEngine);
  populate(site);
  ASSERT_TRUE(site.manager.multicast().stats().vl);
  const std::uint8_t sl = site.manager.multicast().stats().vl->sl;
  const auto joins_with = [&](std::uint8_t asked) {
    site.ask(0,
             Method::Set,
             {.mgid = mgid(kGroup), .port_gid = site.gid(0), .sl = asked, .join_state = 1},
             part::kMgid | part::kPortGid | part::kJoinState | part::kSl);
    EXPECT_TRUE(site.settle());
    return site.answers.back().mad.status;
  };
  EXPECT_EQ(joins_with(0), 0) << "as it was created";
  EXPECT_EQ(site.records.back().sl, sl);
  EXPECT_EQ(joins_with(sl), 0) << "as hosts know it now";
  EXPECT_NE(joins_with(static_cast<std::uint8_t>(sl - 1)), 0);

  const auto path_with = [&](std::uint8_t asked) {
    static_cast<void>(site.hosts[0]->send(encode_sa_request(
        {.manager = site.snapshot_lid(),
         .transaction = 0x10000u + asked,
         .method = Method::Get,
         .id = RecordId::PathRecord,
         .mask = path_component::kSgid | path_component::kDgid | path_component::kSl},
        PathRecord{.dgid = site.gid(1), .sgid = site.gid(0), .sl = asked},
        kPathRecordSize)));
    EXPECT_TRUE(site.settle());
    return site.answers.back().mad.status;
  };
  EXPECT_EQ(path_with(0), 0);
  EXPECT_NE(path_with(sl), 0) << "no path has it";
}

// The kernel of a host creates groups with the SL that the broadcast group is said to have.
TEST(MulticastVl, GroupsOfThatTimeAreJoinedWithoutItWhenItIsGone) {
  Site site(kFabric, kEngine);
  populate(site);
  ASSERT_TRUE(site.manager.multicast().stats().vl);
  ASSERT_EQ(register_again(site, 0, 0x102), 0);
  ASSERT_EQ(site.records.back().sl, site.manager.multicast().stats().vl->sl);
  Settings settings = site.manager.settings();
  settings.qos_rules.emplace();
  for (std::uint8_t sl = 0; sl < 16; ++sl)
    settings.qos_rules->levels.push_back({.name = fmt::format("level {}", sl), .sl = sl});
  site.manager.adopt(settings);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  ASSERT_FALSE(site.manager.multicast().stats().vl);
  EXPECT_EQ(register_again(site, 0, 0x102), 0);
  EXPECT_EQ(site.records.back().sl, 0);
}

TEST(MulticastVl, WhereThereIsNonePeopleAreTold) {
  Settings settings = Site::settings_of(kEngine, TreeShape::UpDown);
  settings.qos_rules.emplace();
  for (std::uint8_t sl = 0; sl < 16; ++sl)
    settings.qos_rules->levels.push_back({.name = fmt::format("level {}", sl), .sl = sl});
  Site site(kFabric, settings);
  populate(site);
  const MulticastStats& stats = site.manager.multicast().stats();
  EXPECT_FALSE(stats.vl);
  EXPECT_EQ(stats.acyclic, false);
  EXPECT_EQ(stats.credit_loops, 1u);
  EXPECT_EQ(stats.vl_refused, "every SL is given out");
  EXPECT_EQ(stats.discarded, "") << "every SL has a lane";
  EXPECT_THAT(site.manager.alarms(), Contains(HasSubstr(stats.vl_refused)));
  EXPECT_EQ(site.manager.cycles(), 1u) << "there is nothing that another could do";
  EXPECT_EQ(site.find_misdelivery(), "");
}

// itb-vl discards an SL on every turn that no path with it takes, and SL 0 is that of the groups.
TEST(MulticastVl, WhereRowsDiscardTheirSlPeopleAreTold) {
  Settings settings = Site::settings_of("itb-vl", TreeShape::UpDown);
  settings.qos_rules.emplace();
  for (std::uint8_t sl = 0; sl < 16; ++sl)
    settings.qos_rules->levels.push_back({.name = fmt::format("level {}", sl), .sl = sl});
  Site site("torus:dims=5.5", settings);
  populate(site);
  const ActiveSubnet& now = *site.manager.in_force();
  ASSERT_EQ(now.routing->engine, "itb-vl");
  const std::string row =
      find_discarding_row(now.fabric(), now.rows, site.held_trees(kGroup)[0].masks, 0);
  ASSERT_NE(row, "");
  EXPECT_EQ(site.manager.multicast().stats().vl_refused, "every SL is given out");
  EXPECT_EQ(site.manager.multicast().stats().discarded, row);
  EXPECT_THAT(site.manager.alarms(), Contains("switches discard multicast packets: " + row));
}

TEST(MulticastVl, ALaneOfTheirOwnDiscardsNothing) {
  Site site("torus:dims=5.5", Site::settings_of("itb-vl", TreeShape::UpDown));
  populate(site);
  const MulticastStats& stats = site.manager.multicast().stats();
  ASSERT_TRUE(stats.vl);
  EXPECT_EQ(stats.discarded, "");
  const ActiveSubnet& now = *site.manager.in_force();
  EXPECT_EQ(find_discarding_row(
                now.fabric(), now.rows, site.held_trees(kGroup)[0].masks, now.multicast_vl->sl),
            "");
}

TEST(MulticastVl, WhatTheSiteGivesOutIsLeftAlone) {
  Site site(kFabric, kEngine);
  site.bring_up();
  RoutingTables routing = site.manager.in_force()->routing;
  routing.path_sls = {};
  Settings settings = site.manager.settings();
  PartitionPlan partitions;
  const auto choose = [&] {
    return choose_multicast_vl(site.snapshot(), routing, settings, &partitions);
  };
  routing.vls = 1;
  EXPECT_EQ(choose().value(), (MulticastVl{.sl = 15, .vl = Vl{7}})) << "links have 8";
  SlToVl row{};
  row[1] = Vl{3};
  settings.qos.sl_to_vl = row;
  EXPECT_EQ(choose().value().vl, Vl{4});
  const SlToVl of_hosts = *choose_qos(settings, 1, *choose()).row_of(PortKind::Ca);
  EXPECT_EQ(of_hosts[1], Vl{3});
  EXPECT_EQ(of_hosts[15], Vl{4});
  EXPECT_EQ((*choose_qos(settings, 3, *choose()).row_of(PortKind::Ca))[1], Vl{1});
  settings.qos_rules = QosFile{.levels = {{.name = "x", .sl = 15}, {.name = "y", .sl = 14}}};
  EXPECT_EQ(choose().value().sl, 13);
  settings.partitions = PartitionPolicy{.rules = {.partitions = {{.key = 1, .sl = 13}}}};
  EXPECT_EQ(choose().value().sl, 13) << "of rules that are not in force";
  partitions.sls[1] = 13;
  EXPECT_EQ(choose().value().sl, 12);
  settings.qos.low = settings.qos.high = std::vector<VlArbEntry>{{.vl = Vl{0}, .weight = 4}};
  EXPECT_THAT(choose().error(), HasSubstr("leave VL 4 out"));
  settings.qos.low->push_back({.vl = Vl{4}, .weight = 1});
  EXPECT_TRUE(choose());
  row[2] = Vl{7};
  settings.qos.sl_to_vl = row;
  EXPECT_EQ(choose().error(), "links have 8 VLs, and unicast packets need 8");
}

/// Where a switch discards, by its registers, what the group's tree leads through it. Empty:
/// nowhere.
std::string find_discarded(const Site& site, std::uint64_t group) {
  const auto& vl = site.manager.multicast().stats().vl;
  const std::uint8_t sl =
      vl ? vl->sl : site.manager.multicast().groups().find(mgid(group))->traits.sl;
  const Fabric& now = site.snapshot();
  const std::vector<TreesOfSl> trees = site.held_trees(group);
  for (const SwitchMask& mask : trees.front().masks) {
    const NodeIdx node = now.switch_node[mask.sw];
    std::vector<PortNum> ports;
    mask.ports.each([&](PortNum port) {
      if (port != PortNum{0} && now.peer[now.port_of(node, port)] != kNone<PortIdx>)
        ports.push_back(port);
    });
    for (const PortNum in : ports) {
      for (const PortNum out : ports) {
        if (in == out) continue;
        const SlToVl row = site.fabric.sl_to_vl(site.sim_node(now.node_guid[node]), in, out);
        if (row[sl] == kManagementVl)
          return fmt::format("SL {} {}>{}", sl, print_port(now, now.port_of(node, in)), out);
      }
    }
  }
  return "";
}

struct Leftover {
  const char* engine;
  const char* fabric;
  std::uint8_t vls;  // code of max_operational_vls: 1, 2 and 4 VLs
  bool turns;        // whole turns are blocked, not single SLs
};

class EveryLeftover : public ::testing::TestWithParam<Leftover> {};

// No unicast route needs what a plan has left blocked, so the plan is not at fault; the tree that
// leads through it would be, for as long as nothing else changes.
TEST_P(EveryLeftover, OfAPlanIsOpenedAtRest) {
  const Leftover& row = GetParam();
  Settings settings = Site::settings_of(row.engine, TreeShape::UpDown);
  if (row.turns) {  // on one VL dor refuses
    settings.engine = "dor";
    settings.next_engines = {row.engine};
  }
  settings.ports.max_operational_vls = row.vls;
  Site site(row.fabric, settings);
  populate(site);
  ASSERT_EQ(find_discarded(site, kGroup), "");
  for (const Cable& cable : cables_between_switches(site.fabric.spec())) {
    for (const bool up : {false, true}) {
      site.fabric.set_link(cable.node, cable.port, up);
      ASSERT_TRUE(site.settle());
      site.run_for(8s);
      ASSERT_TRUE(site.settle());
      if (find_discarded(site, kGroup).empty()) continue;
      const bool has_turns = !site.store.get().turns.empty();
      ASSERT_EQ(has_turns, row.turns);
      const ForwardingTables routes = site.manager.in_force()->routing->lft;
      site.run_for(60s);
      ASSERT_TRUE(site.settle());
      EXPECT_EQ(find_discarded(site, kGroup), "");
      EXPECT_EQ(find_broken_route(site), "");
      EXPECT_EQ(site.find_misdelivery(), "");
      const CycleReport& opened = *site.manager.last_cycle();
      EXPECT_EQ(opened.reason, "what was blocked is opened");
      EXPECT_EQ(opened.transition.kind, TransitionKind::Certified);
      EXPECT_TRUE(opened.transition.certified);
      EXPECT_EQ(opened.blocks_written, 0u);
      EXPECT_EQ(site.manager.in_force()->routing->lft, routes);
      EXPECT_EQ(opened.engine, row.engine);
      EXPECT_EQ(opened.engine_refused.empty(), !row.turns);
      const std::uint64_t changes = site.manager.change_count();
      site.run_for(300s);
      EXPECT_EQ(site.manager.change_count(), changes) << "once";
      return;
    }
  }
  FAIL() << "no change left anything in the way of the tree";
}

INSTANTIATE_TEST_SUITE_P(
    All,
    EveryLeftover,
    ::testing::Values(
        Leftover{"nue", "torus:dims=6.5,hosts=1", 1, true},
        Leftover{"nue", "torus:dims=4.4,hosts=1", 2, false},
        Leftover{"nue", "torus:dims=6.5,hosts=1", 3, false},
        Leftover{"dfsssp", "torus:dims=4.4,hosts=1", 2, false},
        Leftover{"lash", "irregular:switches=12,ports=8,links=4,hosts=1,seed=8", 2, false}));

}  // namespace multicast_lane_test
}  // namespace smd::test
