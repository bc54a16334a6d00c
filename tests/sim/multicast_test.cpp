// Hosts join and leave over the simulated fabric, cables fail, switches lose what is sent to them;
// what the switches hold is judged by letting packets go through their registers after every Set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "smd/report/subnet_json.h"
#include "tests/sim/multicast_site.h"

namespace smd::test {
namespace multicast_test {

using ::testing::ElementsAre;

constexpr const char* kFabric = "fat-tree:k=4,levels=3";

TEST(Multicast, HostsJoinAndLeave) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < 8; ++host) site.join(host, 0x101, host == 3 ? 4 : 1);
  site.join(2, 0x102);
  ASSERT_TRUE(site.settle());
  ASSERT_EQ(site.answers.size(), 9u);
  for (const SaHeader& answer : site.answers) EXPECT_EQ(answer.mad.status, 0);
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.manager.multicast().stats().unmet, 0u);
  for (std::size_t host = 0; host < 4; ++host) site.leave(host, 0x101, host == 3 ? 4 : 1);
  site.leave(2, 0x102);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.manager.multicast().groups().find(mgid(0x102)), nullptr);
  EXPECT_EQ(site.repetition, "");
  EXPECT_GT(site.looks, 10u);
  EXPECT_THAT(site.news, testing::Contains(GroupChange{mgid(0x102), kDefaultPKey, false}));
}

TEST(Multicast, SwitchesThatHaveATopCountAllOfTheirTables) {
  Site site(kFabric,
            Site::settings_of("updn", TreeShape::UpDown),
            {.mft_cap = 96, .multicast_fdb_top = true});
  site.bring_up();
  for (std::size_t host = 0; host < 8; ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  const std::uint32_t spine = site.node("sw-2-0");
  site.fabric.set_node(spine, false);
  site.fabric.set_node(spine, true);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  for (std::uint32_t n = 0; n < site.fabric.spec().nodes.size(); ++n) {
    if (site.fabric.spec().nodes[n].type != NodeType::Switch) continue;
    EXPECT_EQ(site.fabric.switch_info(n).multicast_fdb_top, 0xC05F) << n;
  }
  EXPECT_EQ(site.repetition, "");
}

TEST(Multicast, TheBroadcastGroupIsThereFromTheStart) {
  Site site(kFabric);
  site.bring_up();
  const Gid broadcast = ipoib_broadcast(kDefaultPKey);
  ASSERT_NE(site.manager.multicast().groups().find(broadcast), nullptr);
  EXPECT_EQ(site.manager.multicast().groups().find(broadcast)->mlid, Lid{0xc000});
  // What a host's kernel asks for: no more than the group and itself.
  site.ask(0,
           Method::Set,
           {.mgid = broadcast, .port_gid = site.gid(0), .p_key = kDefaultPKey, .join_state = 1},
           part::kMgid | part::kPortGid | part::kPKey | part::kJoinState);
  ASSERT_TRUE(site.settle());
  ASSERT_EQ(site.records.size(), 1u);
  EXPECT_EQ(site.answers[0].mad.status, 0);
  EXPECT_EQ(site.records[0].q_key, 0xb1bu);
  EXPECT_EQ(site.records[0].mtu, (Bound{Selector::Exactly, 4}));
  // Nobody but the site takes it away.
  site.ask(0,
           Method::Delete,
           {.mgid = broadcast, .port_gid = site.gid(0), .join_state = 1},
           part::kMgid | part::kPortGid | part::kJoinState);
  ASSERT_TRUE(site.settle());
  EXPECT_NE(site.manager.multicast().groups().find(broadcast), nullptr);
}

TEST(Multicast, AJoinCostsWhatItTouches) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < 6; ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  const std::uint64_t before = site.manager.smp_stats().sent;
  const std::uint64_t cycles = site.manager.cycles();
  site.join(6, 0x101);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  // At most its leaf, the switch above it, one core, and what is above the others.
  EXPECT_LE(site.manager.smp_stats().sent - before, 5u);
  EXPECT_EQ(site.manager.cycles(), cycles) << "a join is no change of the fabric";
}

TEST(Multicast, ManyJoinsTakeFewRounds) {
  Site site(kFabric);
  site.bring_up();
  site.watching = false;
  for (std::uint64_t group = 0; group < 40; ++group) {
    for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x200 + group);
  }
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_LT(site.manager.multicast().stats().rounds, 60u) << "of " << site.answers.size();
}

TEST(Multicast, AHostThatCreatesGroupsWithoutEndTakesNothingFromOthers) {
  Site site(kFabric);
  site.bring_up();
  site.watching = false;
  site.manager.multicast().groups().set_limits({.groups = 40, .groups_of_one_port = 20});
  const auto& groups = site.manager.multicast().groups();
  const std::size_t own = groups.groups().size();  // the site's
  for (std::uint64_t group = 0; group < 500; ++group) {
    site.join(0, 0x1000 + group);
    if (group >= 20) site.wanted.erase(0x1000 + group);  // that it is refused
    if (group % 20 == 0) {
      ASSERT_TRUE(site.settle());
    }
  }
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(groups.groups().size(), own + 20);
  ASSERT_EQ(site.answers.size(), 500u);
  for (std::size_t i = 0; i < 500; ++i)
    ASSERT_EQ(site.answers[i].mad.status, i < 20 ? 0 : 0x0100) << i;
  // Others create and join theirs, and everybody is in the broadcast group, the host too.
  site.answers.clear();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) {
    if (host > 0) site.join(host, 0x100 + host % 8);
    site.ask(host,
             Method::Set,
             {.mgid = ipoib_broadcast(kDefaultPKey),
              .port_gid = site.gid(host),
              .p_key = kDefaultPKey,
              .join_state = 1},
             part::kMgid | part::kPortGid | part::kPKey | part::kJoinState);
  }
  ASSERT_TRUE(site.settle());
  for (const SaHeader& answer : site.answers) EXPECT_EQ(answer.mad.status, 0);
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(groups.groups().size(), own + 28);
  // What it kept is given back when it is gone.
  const NodeIdx gone = site.snapshot().node_of[site.port_of(site.guid(0))];
  site.fabric.set_node(site.sim_node(site.snapshot().node_guid[gone]), false);
  for (std::uint64_t group = 0; group < 20; ++group) site.wanted.erase(0x1000 + group);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(groups.groups().size(), own + 8);
  for (std::uint64_t group = 0; group < 20; ++group) site.join(1, 0x2000 + group);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(groups.groups().size(), own + 8 + 19) << "host 1 created one of the eight";
  site.wanted.erase(0x2013);
  EXPECT_EQ(site.find_misdelivery(), "");
}

TEST(Multicast, ALostCableIsMadeGood) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) {
    site.join(host, 0x101);
    if (host % 3 == 0) site.join(host, 0x102, host == 0 ? 1 : 4);
  }
  ASSERT_TRUE(site.settle());
  for (int i = 0; i < 3; ++i) {
    site.cut(site.any_branch(0x101));
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.find_misdelivery(), "") << i;
    EXPECT_EQ(site.repetition, "") << i;
  }
  EXPECT_EQ(site.manager.multicast().stats().acyclic, true);
}

TEST(Multicast, WhoIsGoneIsNoMember) {
  Site site(kFabric);
  site.bring_up();
  site.join(0, 0x101);
  site.join(5, 0x101);
  site.join(5, 0x102);
  ASSERT_TRUE(site.settle());
  site.news.clear();
  const NodeIdx gone = site.snapshot().node_of[site.port_of(site.guid(5))];
  site.fabric.set_node(site.sim_node(site.snapshot().node_guid[gone]), false);
  site.wanted[0x101].erase(site.guid(5));
  site.wanted.erase(0x102);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_THAT(site.news, ElementsAre(GroupChange{mgid(0x102), kDefaultPKey, false}));
  EXPECT_EQ(site.manager.multicast().groups().find(mgid(0x101))->members.size(), 1u);
}

TEST(Multicast, AManagerThatIsCutOffForgetsNobody) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < 4; ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  const nlohmann::json shown = multicast_json(site.manager.multicast());
  const sim::FabricSpec& spec = site.fabric.spec();
  site.fabric.set_link(spec.sm_node, spec.sm_port, false);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_TRUE(site.manager.last_cycle()->cut_off);
  EXPECT_EQ(multicast_json(site.manager.multicast()), shown) << "of the subnet, not of one node";
  EXPECT_EQ(site.manager.multicast().groups().find(mgid(0x101))->members.size(), 4u);
  site.fabric.set_link(spec.sm_node, spec.sm_port, true);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
}

TEST(Multicast, ASwitchThatWasOffIsWrittenAgain) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  const PortIdx up = site.any_branch(0x101);
  const Guid above = site.snapshot().node_guid[site.snapshot().node_of[site.snapshot().peer[up]]];
  site.fabric.reboot_node(site.sim_node(above), Duration{50ms});
  site.run_for(200ms);
  ASSERT_TRUE(site.settle());
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.repetition, "");
}

TEST(Multicast, WiresThatLoseSmps) {
  unsigned all_seen = 0;  // runs in which every sweep found every switch
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    Site site(kFabric);
    site.bring_up();
    site.fabric.set_wire_faults({.drop = 0.02 * static_cast<double>(seed)});
    // Requests get lost as well: only who was answered is a member for sure.
    for (int times = 0; times < 8; ++times) {
      for (std::size_t host = 0; host < 10; ++host) site.join(host, 0x101);
      site.run_for(20ms);
    }
    ASSERT_TRUE(site.settle());
    site.cut(site.any_branch(0x101));
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
    site.fabric.set_wire_faults({});
    site.run_for(70s);
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
    // Whoever was not seen for a while has to come back himself.
    for (std::size_t host = 0; host < 10; ++host) site.join(host, 0x101);
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.manager.multicast().stats().unmet, 0u);
    EXPECT_EQ(site.find_misdelivery(), "");
    // What a switch holds that no sweep has found is not counted with.
    if (std::ranges::all_of(site.reports,
                            [](const CycleReport& each) { return each.counts.switches == 20; })) {
      ++all_seen;
      EXPECT_EQ(site.repetition, "");
    }
  }
  EXPECT_GT(all_seen, 0u);
}

TEST(Multicast, EnginesWithoutDirections) {
  for (const char* engine : {"ftree", "dfsssp", "nue"}) {
    SCOPED_TRACE(engine);
    Site site(kFabric, engine);
    site.bring_up();
    for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.find_misdelivery(), "");
    site.run_for(6s);
    EXPECT_EQ(site.manager.multicast().stats().acyclic, true);
    EXPECT_EQ(check_multicast_deadlock(*site.manager.in_force(), site.held_trees(0x101)).acyclic,
              true);
  }
}

TEST(Multicast, PathsAlongLabels) {
  for (const TreeShape shape : {TreeShape::PathShared, TreeShape::DualPath}) {
    SCOPED_TRACE(shape == TreeShape::DualPath ? "dual path" : "shared path");
    Site site("torus:dims=4.4,mesh=1", "hamiltonian", shape);
    site.bring_up();
    for (std::size_t host = 0; host < site.hosts.size(); ++host) {
      if (host % 3 != 1) site.join(host, 0x101);
      if (host % 5 == 0) site.join(host, 0x102, host == 5 ? 4 : 1);
    }
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.manager.multicast().stats().shape_refused, "");
    EXPECT_EQ(site.find_misdelivery(), "");
    site.run_for(6s);
    EXPECT_EQ(site.manager.multicast().stats().acyclic, true) << "with unicast routes";
    // Hosts that leave and cables that are lost: other paths, and no moment without one copy each.
    site.leave(0, 0x102);
    site.leave(2, 0x101);
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.find_misdelivery(), "");
    for (int i = 0; i < 2; ++i) {
      site.cut(site.any_branch(0x101));
      site.manager.request_sweep("test");
      ASSERT_TRUE(site.settle());
      EXPECT_EQ(site.find_misdelivery(), "") << i;
      site.run_for(6s);
      if (site.manager.multicast().stats().shape_refused.empty()) {
        EXPECT_EQ(site.manager.multicast().stats().acyclic, true) << i;
      }
    }
    EXPECT_EQ(site.repetition, "");
    EXPECT_GT(site.looks, 10u);
  }
}

TEST(Multicast, TreesAreMeasuredAsTheyAreWanted) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) {
    site.join(host, 0x101);
    if (host < 2) site.join(host, 0x102);
  }
  ASSERT_TRUE(site.settle());
  const TreeReport& summary = site.manager.multicast().summary();
  EXPECT_EQ(summary.trees, 2u);
  ASSERT_EQ(summary.largest.size(), 2u);
  EXPECT_EQ(summary.largest[0].members, 15u);
  // From a leaf over a core to another pod's.
  EXPECT_EQ(summary.largest[0].quality.depth, 4u);
  EXPECT_EQ(summary.largest[0].quality.shortest_depth, 4u);
  // 8 leaves, 4 spines, a core.
  EXPECT_EQ(summary.largest[0].quality.cables, 12u);
  EXPECT_EQ(summary.largest[0].quality.mean_channels(), 12.0);
  EXPECT_GT(summary.largest[0].quality.mean_unicast_channels(), 30.0);
  const unsigned before = summary.cables.most;
  EXPECT_GE(before, 1u);
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.leave(host, 0x101);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.manager.multicast().summary().trees, 1u) << "measured again after a change";
}

TEST(Multicast, ProofsInLockStepAskForTreesThatForkOnce) {
  Settings settings = Site::settings_of("updn", TreeShape::UpDown);
  settings.multicast_proof = CopyModel::LockStep;
  Site forks(kFabric, settings);
  forks.bring_up();
  for (std::size_t host = 0; host < forks.hosts.size(); ++host) forks.join(host, 0x101);
  ASSERT_TRUE(forks.settle());
  EXPECT_EQ(forks.manager.multicast().stats().acyclic, false);
  EXPECT_THAT(forks.manager.alarms(),
              testing::Contains(testing::HasSubstr("two switches of a tree fork")));
  EXPECT_FALSE(forks.manager.in_force()->multicast_vl) << "it would not help";
  EXPECT_EQ(forks.find_misdelivery(), "") << "written all the same";

  Site star("fat-tree:k=4,levels=2", settings);
  star.bring_up();
  for (std::size_t host = 0; host < star.hosts.size(); ++host) star.join(host, 0x101);
  ASSERT_TRUE(star.settle());
  EXPECT_EQ(star.manager.multicast().stats().acyclic, true);
  EXPECT_EQ(star.find_misdelivery(), "");
}

TEST(Multicast, WithoutLabelsTreesLeadUpAndDown) {
  Site site(kFabric, "updn", TreeShape::PathShared);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  EXPECT_THAT(site.manager.multicast().stats().shape_refused,
              testing::HasSubstr("no path meets every switch once"));
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.manager.multicast().stats().unmet, 0u);
}

TEST(Multicast, SameSeedSameBytes) {
  const auto run = [] {
    Site site(kFabric);
    site.bring_up();
    for (std::size_t host = 0; host < site.hosts.size(); ++host) {
      site.join(host, 0x101 + host % 4);
    }
    EXPECT_TRUE(site.settle());
    return site.fabric.trace_hash();
  };
  EXPECT_EQ(run(), run());
}

}  // namespace multicast_test
}  // namespace smd::test
