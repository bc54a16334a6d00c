// Full discovery on fabrics with every oddity that a machine room has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/smp_tap.h"
#include "sim-backend/management/timed_fabric.h"
#include "smd/discovery/discovery.h"
#include "smd/discovery/survey.h"
#include "smd/mad/tables.h"
#include "tests/support/port_num.h"

namespace smd {
namespace {

using sim::add_node;
using sim::connect;
using sim::FabricSpec;
using sim::is_about;
using test::port_num;

/// One discovery on a simulated fabric.
struct Lab : sim::TimedFabric {
  explicit Lab(FabricSpec spec,
               sim::WireFaults faults = {},
               std::uint64_t seed = 1,
               RequestSet requests = RequestSet::Fewest)
      : TimedFabric(std::move(spec), sim::Timing::modern(), seed),
        transport(fabric, fabric.spec().sm_node, fabric.spec().sm_port),
        tap(transport),
        client(runtime, tap, config(faults)),
        discovery(client, {.requests = requests}, Epoch{1}) {
    fabric.set_wire_faults(faults);
  }

  static SmpClientConfig config(const sim::WireFaults& faults) {
    SmpClientConfig out;
    if (faults.drop > 0) out.retries = 12;
    return out;
  }

  const Result<SweepReport>& run() {
    discovery.start([this](Result<SweepReport> found) { result = std::move(found); });
    run_until([this] { return result.has_value(); }, std::chrono::minutes(10));
    return *result;
  }

  sim::SimTransport transport;
  sim::SmpTap tap;
  SmpClient client;
  Discovery discovery;
  std::optional<Result<SweepReport>> result;
};

/// A host H1 on port 1 of a switch S1 with eight ports.
FabricSpec one_switch() {
  FabricSpec spec;
  const auto h1 = add_node(spec, NodeType::Ca, "H1", Guid{0x1000}, 1);
  const auto s1 = add_node(spec, NodeType::Switch, "S1", Guid{0x2000}, 8);
  connect(spec, h1, port_num(1), s1, port_num(1));
  return spec;
}

NodeIdx node_of(const Fabric& fabric, std::uint64_t guid) {
  return fabric.find_node(Guid{guid}).value();
}

PortIdx peer_of(const Fabric& fabric, std::uint64_t guid, unsigned number) {
  return fabric.peer[fabric.port_of(node_of(fabric, guid), port_num(number))];
}

TEST(Discovery, FindsEveryNodeAndLink) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 4);
  const auto h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x1010}, 1);
  connect(spec, 1, port_num(2), s2, port_num(3));
  connect(spec, s2, port_num(1), h2, port_num(1));
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(check_invariants(*found->fabric), "");
  EXPECT_EQ(found->fabric->node_count(), 4u);
  EXPECT_EQ(found->fabric->link_count(), 3u);
  EXPECT_TRUE(found->silent.empty());
  EXPECT_EQ(found->path[node_of(*found->fabric, 0x1010)],
            (HopPath{port_num(1), port_num(2), port_num(1)}));
}

TEST(Discovery, ParallelLinksAreAllKept) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 8);
  for (unsigned p = 2; p <= 5; ++p) connect(spec, 1, port_num(p), s2, port_num(p + 3));
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fabric->link_count(), 5u);
  for (unsigned p = 2; p <= 5; ++p) {
    EXPECT_EQ(found->fabric->number_of(peer_of(*found->fabric, 0x2000, p)), port_num(p + 3));
  }
}

TEST(Discovery, LoopbackCablesAreLinksOfTheirOwnNode) {
  FabricSpec spec = one_switch();
  connect(spec, 1, port_num(3), 1, port_num(4));  // a link from the switch to itself
  spec.nodes[1].ports[5].peer_node = 1;           // a loop-back plug
  spec.nodes[1].ports[5].peer_port = port_num(5);
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  const Fabric& fabric = *found->fabric;
  EXPECT_EQ(check_invariants(fabric), "");
  EXPECT_EQ(fabric.node_count(), 2u);
  EXPECT_EQ(fabric.number_of(peer_of(fabric, 0x2000, 3)), port_num(4));
  EXPECT_EQ(fabric.number_of(peer_of(fabric, 0x2000, 5)), port_num(5));
  EXPECT_TRUE(found->duplicates.empty());
}

TEST(Discovery, TwoPortsOfOneHostInTheSameSubnetAreOneNode) {
  FabricSpec spec;
  const auto h1 = add_node(spec, NodeType::Ca, "H1", Guid{0x1000}, 2);
  const auto s1 = add_node(spec, NodeType::Switch, "S1", Guid{0x2000}, 4);
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 4);
  const auto h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x1010}, 2);
  connect(spec, h1, port_num(1), s1, port_num(1));
  connect(spec, h1, port_num(2), s2, port_num(1));
  connect(spec, s1, port_num(2), s2, port_num(2));
  connect(spec, h2, port_num(1), s1, port_num(3));
  connect(spec, h2, port_num(2), s1, port_num(4));
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  const Fabric& fabric = *found->fabric;
  EXPECT_EQ(fabric.node_count(), 4u);
  EXPECT_EQ(fabric.link_count(), 5u);
  EXPECT_TRUE(found->duplicates.empty());
  // Each port of an adapter is reached through its own link, the manager's second port too.
  EXPECT_EQ(path_to(*found, fabric.port_of(node_of(fabric, 0x1000), port_num(1))), HopPath{});
  EXPECT_EQ(path_to(*found, fabric.port_of(node_of(fabric, 0x1000), port_num(2))),
            (HopPath{port_num(1), port_num(2), port_num(1)}));
  EXPECT_EQ(path_to(*found, fabric.port_of(node_of(fabric, 0x1010), port_num(2))),
            (HopPath{port_num(1), port_num(4)}));
  for (unsigned p : {1u, 2u}) {
    const PortIdx at = fabric.port_of(node_of(fabric, 0x1010), port_num(p));
    EXPECT_EQ(fabric.port_info[at].state(), PortState::Initialize);
    EXPECT_NE(fabric.port_guid[at], Guid{});
  }
  EXPECT_NE(fabric.port_guid[fabric.port_of(node_of(fabric, 0x1010), port_num(1))],
            fabric.port_guid[fabric.port_of(node_of(fabric, 0x1010), port_num(2))]);
}

TEST(Discovery, BackToBackHosts) {
  FabricSpec spec;
  const auto h1 = add_node(spec, NodeType::Ca, "H1", Guid{0x1000}, 1);
  const auto h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x1010}, 1);
  connect(spec, h1, port_num(1), h2, port_num(1));
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fabric->node_count(), 2u);
  EXPECT_EQ(found->fabric->link_count(), 1u);
}

TEST(Discovery, TheManagerMaySitOnASwitch) {
  FabricSpec spec = one_switch();
  spec.sm_node = 1;
  spec.sm_port = port_num(0);
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fabric->number_of(found->fabric->sm_port), port_num(0));
  EXPECT_EQ(found->path[node_of(*found->fabric, 0x1000)], (HopPath{port_num(1)}));
}

TEST(Discovery, ARouterIsAnEndNode) {
  FabricSpec spec = one_switch();
  const auto r1 = add_node(spec, NodeType::Router, "R1", Guid{0x3000}, 2);
  connect(spec, 1, port_num(2), r1, port_num(1));
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  const Fabric& fabric = *found->fabric;
  EXPECT_FALSE(fabric.is_switch(node_of(fabric, 0x3000)));
  EXPECT_TRUE(fabric.is_end_port(fabric.port_of(node_of(fabric, 0x3000), port_num(1))));
}

TEST(Discovery, OneGuidTwiceIsReportedWithBothPlaces) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 8);
  connect(spec, 1, port_num(2), s2, port_num(1));
  const auto first = add_node(spec, NodeType::Ca, "twin", Guid{0x1010}, 1);
  const auto second = add_node(spec, NodeType::Ca, "twin", Guid{0x1010}, 1);
  connect(spec, first, port_num(1), 1, port_num(3));
  connect(spec, second, port_num(1), s2, port_num(2));
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->duplicates.size(), 1u);
  EXPECT_EQ(found->duplicates[0].guid, Guid{0x1010});
  EXPECT_EQ(found->duplicates[0].first, (HopPath{port_num(1), port_num(3)}));
  EXPECT_EQ(found->duplicates[0].second, (HopPath{port_num(1), port_num(2), port_num(2)}));
  EXPECT_EQ(found->fabric->node_count(), 4u);
  EXPECT_EQ(check_invariants(*found->fabric), "");
}

/// As a manager does that takes the link into the subnet.
void arm(Lab& lab, std::uint32_t node, unsigned number, HopPath path) {
  PortInfo port = lab.fabric.port_info(node, port_num(number));
  SmpRequest request{.route = SmpRoute::directed(path),
                     .method = Method::Set,
                     .attribute = AttributeId::PortInfo,
                     .modifier = number};
  port.port_state = static_cast<std::uint8_t>(PortState::Armed);
  port.port_physical_state = port.link_down_default_state = 0;
  port.link_width_enabled = port.link_speed_enabled = 0;
  port.link_speed_ext_enabled = port.link_speed_ext2_enabled = 0;
  encode_port_info(port, request.data);
  SmpScope scope(lab.client);
  std::optional<bool> taken;
  scope.send(request, [&](const Result<SmpReply>& reply) { taken = reply && reply->status == 0; });
  ASSERT_TRUE(lab.run_until([&] { return taken.has_value(); }, std::chrono::seconds(10)));
  ASSERT_EQ(lab.fabric.port_info(node, port_num(number)).state(), PortState::Armed);
}

// A twin that is plugged in nearer to the manager does not take the place of a host that runs.
TEST(Discovery, OfTwoUnderOneGuidTheOneThatIsInTheSubnetStays) {
  for (const bool far_one_is_in : {true, false}) {
    FabricSpec spec = one_switch();
    const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 8);
    connect(spec, 1, port_num(2), s2, port_num(1));
    const auto near = add_node(spec, NodeType::Ca, "near", Guid{0x1010}, 1);
    const auto far = add_node(spec, NodeType::Ca, "far", Guid{0x1010}, 1);
    connect(spec, near, port_num(1), 1, port_num(3));
    connect(spec, far, port_num(1), s2, port_num(2));
    spec.nodes[near].ports[1].guid = Guid{0x1011};
    spec.nodes[far].ports[1].guid = Guid{0x1012};
    Lab lab(spec);
    const HopPath to_near{port_num(1), port_num(3)};
    const HopPath to_far{port_num(1), port_num(2), port_num(2)};
    if (far_one_is_in) {
      arm(lab, s2, 2, {port_num(1), port_num(2)});
    } else {
      arm(lab, 1, 3, {port_num(1)});
    }
    const auto& found = lab.run();
    ASSERT_TRUE(found);
    const Fabric& fabric = *found->fabric;
    EXPECT_EQ(check_invariants(fabric), "");
    ASSERT_EQ(found->duplicates.size(), 1u);
    EXPECT_EQ(found->duplicates[0].first, far_one_is_in ? to_far : to_near);
    EXPECT_EQ(found->duplicates[0].second, far_one_is_in ? to_near : to_far);
    const PortIdx port = fabric.port_of(node_of(fabric, 0x1010), port_num(1));
    ASSERT_NE(fabric.peer[port], kNone<PortIdx>);
    EXPECT_EQ(fabric.node_guid[fabric.node_of[fabric.peer[port]]],
              Guid{far_one_is_in ? 0x2001u : 0x2000u});
    EXPECT_EQ(fabric.port_guid[port], Guid{far_one_is_in ? 0x1012u : 0x1011u});
    EXPECT_EQ(fabric.port_info[port].state(), PortState::Initialize) << "it was asked itself";
  }
}

/// Two adapters under GUID 0x1010, with these ports cabled, all to S1 from port 3 on.
FabricSpec twin_adapters(const std::vector<std::vector<unsigned>>& cabled,
                         const std::vector<std::uint8_t>& num_ports) {
  FabricSpec spec = one_switch();
  unsigned at = 3;
  for (std::size_t i = 0; i < cabled.size(); ++i) {
    const auto twin = add_node(spec, NodeType::Ca, "twin", Guid{0x1010}, num_ports[i]);
    for (const unsigned port : cabled[i]) connect(spec, twin, port_num(port), 1, port_num(at++));
  }
  return spec;
}

TEST(Discovery, TwoAdaptersOfOneGuidAndDifferentPortCountsAreReported) {
  struct Case {
    std::vector<std::vector<unsigned>> cabled;
    std::vector<std::uint8_t> num_ports;
    std::size_t duplicates;  // one for each cable of the second
  };

  for (const Case& each : {Case{{{2}, {1}}, {2, 1}, 1},
                           Case{{{1, 2}, {1}}, {2, 1}, 1},
                           Case{{{1}, {1}}, {1, 2}, 1},
                           Case{{{1}, {1, 2}}, {1, 2}, 2}}) {
    for (const RequestSet requests : {RequestSet::Fewest, RequestSet::Thesis}) {
      Lab lab(twin_adapters(each.cabled, each.num_ports), {}, 1, requests);
      const auto& found = lab.run();
      ASSERT_TRUE(found);
      ASSERT_EQ(found->duplicates.size(), each.duplicates);
      for (const DuplicateGuid& duplicate : found->duplicates)
        EXPECT_EQ(duplicate.guid, Guid{0x1010});
      const Fabric& fabric = *found->fabric;
      EXPECT_EQ(fabric.node_count(), 3u);
      EXPECT_EQ(fabric.num_ports(node_of(fabric, 0x1010)), each.num_ports[0]);
      EXPECT_EQ(fabric.link_count(), 1 + each.cabled[0].size());
      EXPECT_EQ(check_invariants(fabric), "");
    }
  }
}

TEST(Discovery, ASwitchThatSaysItIsReachedAtPort0IsLeftOut) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 4);
  connect(spec, 1, port_num(2), s2, port_num(1));
  Lab lab(spec);
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.hop_count != 2 || !is_about(smp, AttributeId::NodeInfo)) return true;
    NodeInfo info = decode_node_info(smp.data).value();
    info.local_port = PortNum{0};
    encode_node_info(info, smp.data);
    return true;
  };
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(check_invariants(*found->fabric), "");
  EXPECT_EQ(found->fabric->node_count(), 2u);
  ASSERT_EQ(found->silent.size(), 1u);
  EXPECT_EQ(found->silent[0].why, "NodeInfo that cannot be");
}

/// Two switches under GUID 0x2009, on ports 4 and 6 of S1, reached on their ports 1 and 2.
FabricSpec twin_switches() {
  FabricSpec spec = one_switch();
  const auto first = add_node(spec, NodeType::Switch, "twin", Guid{0x2009}, 8);
  const auto second = add_node(spec, NodeType::Switch, "twin", Guid{0x2009}, 8);
  connect(spec, 1, port_num(4), first, port_num(1));
  connect(spec, 1, port_num(6), second, port_num(2));
  return spec;
}

// Nothing is contested here: the ports differ, and each is unused on the other switch.
TEST(Discovery, TwoSwitchesOfOneGuidOnDifferentPortsAreReportedWithBothPlaces) {
  for (const RequestSet requests : {RequestSet::Fewest, RequestSet::Thesis}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Lab lab(twin_switches(), {.reorder = 0.5}, seed, requests);
      const auto& found = lab.run();
      ASSERT_TRUE(found);
      ASSERT_EQ(found->duplicates.size(), 1u) << "seed " << seed;
      EXPECT_EQ(found->duplicates[0].guid, Guid{0x2009});
      const std::set<HopPath> places{found->duplicates[0].first, found->duplicates[0].second};
      EXPECT_EQ(places,
                (std::set<HopPath>{{port_num(1), port_num(4)}, {port_num(1), port_num(6)}}));
      EXPECT_EQ(found->fabric->node_count(), 3u);
      EXPECT_EQ(found->fabric->link_count(), 2u);
      EXPECT_EQ(check_invariants(*found->fabric), "");
    }
  }
}

// A switch's port that comes up between its PortInfo and the NodeInfo across it is no second
// switch.
TEST(Discovery, ALinkThatComesUpWhileWeLookIsNoDuplicate) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 8);
  connect(spec, 1, port_num(2), s2, port_num(1));
  connect(spec, 1, port_num(3), s2, port_num(5));
  for (unsigned moment = 1; moment < 40; ++moment) {
    Lab lab(spec);
    lab.fabric.set_link(1, port_num(3), false);
    lab.discovery.start([&](Result<SweepReport> found) { lab.result = std::move(found); });
    lab.run_until([&] { return lab.fabric.stats().agent_requests >= moment; },
                  std::chrono::seconds(1));
    lab.fabric.set_link(1, port_num(3), true);
    lab.run_until([&] { return lab.result.has_value(); }, std::chrono::minutes(5));
    ASSERT_TRUE(lab.result && *lab.result);
    EXPECT_TRUE((*lab.result)->duplicates.empty()) << "moment " << moment;
    EXPECT_EQ((*lab.result)->fabric->node_count(), 3u);
  }
}

TEST(Discovery, ALinkThatGoesDownWhileWeLookIsNoDuplicate) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 8);
  connect(spec, 1, port_num(2), s2, port_num(1));
  connect(spec, 1, port_num(3), s2, port_num(5));
  for (unsigned moment = 1; moment < 40; ++moment) {
    Lab lab(spec);
    lab.discovery.start([&](Result<SweepReport> found) { lab.result = std::move(found); });
    lab.run_until([&] { return lab.fabric.stats().agent_requests >= moment; },
                  std::chrono::seconds(1));
    lab.fabric.set_link(1, port_num(3), false);
    lab.run_until([&] { return lab.result.has_value(); }, std::chrono::minutes(5));
    ASSERT_TRUE(lab.result && *lab.result);
    EXPECT_TRUE((*lab.result)->duplicates.empty()) << "moment " << moment;
    EXPECT_EQ((*lab.result)->fabric->node_count(), 3u);
  }
}

TEST(Discovery, ASilentNodeIsReportedAndLeftOut) {
  FabricSpec spec = one_switch();
  const auto h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x1010}, 1);
  connect(spec, h2, port_num(1), 1, port_num(6));
  Lab lab(spec);
  lab.fabric.set_silent(h2, true);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->silent.size(), 1u);
  EXPECT_EQ(found->silent[0].node, Guid{0x2000});
  EXPECT_EQ(found->silent[0].port, port_num(6));
  EXPECT_EQ(found->fabric->node_count(), 2u);
}

TEST(Discovery, ANodeThatDiesWhileWeLookIsLeftOut) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 36);
  connect(spec, 1, port_num(2), s2, port_num(1));
  Lab lab(spec);
  // The twentieth SMP that reaches an agent is one of S2's port questions.
  const auto dying = [&] { return lab.fabric.stats().agent_requests >= 20; };
  lab.discovery.start([&](Result<SweepReport> found) { lab.result = std::move(found); });
  lab.run_until(dying, std::chrono::seconds(1));
  ASSERT_FALSE(lab.result);
  lab.fabric.set_silent(s2, true);
  lab.run_until([&] { return lab.result.has_value(); }, std::chrono::minutes(5));
  ASSERT_TRUE(lab.result && *lab.result);
  EXPECT_EQ((*lab.result)->fabric->node_count(), 2u);
  EXPECT_FALSE((*lab.result)->silent.empty());
}

TEST(Discovery, NothingLiesBeyond63Hops) {
  FabricSpec spec = one_switch();
  std::uint32_t last = 1;
  for (unsigned i = 0; i < 70; ++i) {
    const auto sw =
        add_node(spec, NodeType::Switch, fmt::format("chain-{}", i), Guid{0x5000u + i}, 3);
    connect(spec, last, port_num(2), sw, port_num(1));
    last = sw;
  }
  Lab lab(spec);
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fabric->node_count(), 64u);  // the manager's host and 63 switches
  ASSERT_EQ(found->silent.size(), 1u);
  EXPECT_EQ(found->silent[0], out_of_reach(Guid{0x5000u + 61}, port_num(2)));
}

// A ring of switches is opened beside the manager's, and an adapter's second cable ends 63 hops
// away from then on: its port would be 64 away. In the shorter ring nothing else is lost.
TEST(Discovery, AnAdaptersOtherCableMayComeToLeadTooFar) {
  for (const unsigned length : {63u, 100u}) {
    FabricSpec spec = one_switch();
    std::vector<std::uint32_t> ring{1};
    for (unsigned i = 1; i < length; ++i) {
      ring.push_back(
          add_node(spec, NodeType::Switch, fmt::format("ring-{}", i), Guid{0x5000u + i}, 3));
      connect(spec, ring[i - 1], port_num(2), ring[i], port_num(1));
    }
    connect(spec, ring.back(), port_num(2), ring[0], port_num(3));
    const auto both = add_node(spec, NodeType::Ca, "both", Guid{0x1010}, 2);
    connect(spec, both, port_num(1), ring[1], port_num(3));
    connect(spec, both, port_num(2), ring[62], port_num(3));
    Lab lab(spec);
    const auto& before = lab.run();
    ASSERT_TRUE(before);
    ASSERT_EQ(before->fabric->link_count(), length + 3);
    Survey survey;
    survey.seed(*before);
    survey.unlink({node_of(*before->fabric, 0x2000).value(), port_num(3)});
    const SweepReport report = build_report(survey, {}, Epoch{2});
    const Fabric& fabric = *report.fabric;
    EXPECT_EQ(check_invariants(fabric), "");
    EXPECT_EQ(fabric.node_count(), 65u);
    EXPECT_EQ(fabric.link_count(), 64u);
    const PortIdx far = fabric.port_of(node_of(fabric, 0x1010), port_num(2));
    EXPECT_EQ(fabric.peer[far], kNone<PortIdx>);
    EXPECT_EQ(fabric.port_info[far], PortInfo{}) << "as what is not asked";
    std::vector<SilentPort> silent{out_of_reach(Guid{0x5000u + 62}, port_num(3))};
    if (length > 63) silent.insert(silent.begin(), out_of_reach(Guid{0x5000u + 62}, port_num(2)));
    EXPECT_EQ(report.silent, silent);
    // A full discovery finds the same.
    Lab again(spec);
    again.fabric.set_link(ring[0], port_num(3), false);
    const auto& full = again.run();
    ASSERT_TRUE(full);
    EXPECT_EQ(full->silent, report.silent);
    EXPECT_TRUE(diff_fabrics(*full->fabric, fabric).empty());
  }
}

TEST(Discovery, TheLocalNodeMustAnswer) {
  Lab lab(one_switch());
  lab.fabric.set_silent(0, true);
  const auto& found = lab.run();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().context.find("local node"), std::string::npos);
}

TEST(Discovery, NumberingDependsOnTheCablingAlone) {
  const FabricSpec spec = sim::load_fabric("irregular:switches=12,hosts=2,seed=4").value();
  Lab calm(spec);
  const auto& expected = calm.run();
  ASSERT_TRUE(expected);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Lab rough(spec, {.drop = 0.03, .duplicate = 0.05, .reorder = 0.3}, seed);
    const auto& found = rough.run();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->fabric->node_guid, expected->fabric->node_guid);
    EXPECT_EQ(found->fabric->peer, expected->fabric->peer);
  }
}

// Extended speeds, which devices show to who asks with bit 31 of PortInfo's modifier.

/// Two switches with a cable between them and three hosts; H1 is the manager's. Hosts are of one
/// kind of device, switches of another.
FabricSpec two_kinds(LinkSpeed speed) {
  FabricSpec spec = one_switch();
  const auto s2 = add_node(spec, NodeType::Switch, "S2", Guid{0x2001}, 8);
  connect(spec, 1, port_num(2), s2, port_num(1));
  for (unsigned h = 0; h < 2; ++h) {
    const auto host = add_node(spec, NodeType::Ca, fmt::format("H{}", h + 2), Guid{0x1010 + h}, 1);
    connect(spec, host, port_num(1), s2, port_num(2 + h));
  }
  for (sim::NodeSpec& node : spec.nodes) {
    node.device_id = node.type == NodeType::Switch ? 0xd2f2 : 0x1021;
    for (sim::PortSpec& each : node.ports) each.speed = speed;
  }
  return spec;
}

void expect_speed(const Fabric& fabric, LinkSpeed speed) {
  std::size_t ends = 0;
  for (const PortIdx end : fabric.peer.indices()) {
    if (fabric.peer[end] == kNone<PortIdx>) continue;
    ++ends;
    EXPECT_EQ(link_speed(fabric, end), speed) << print_port(fabric, end);
  }
  EXPECT_EQ(ends, 8u);
}

bool has_bit31(const Smp& smp) {
  return decode_port_info_modifier(smp.attribute_modifier).extended_speeds;
}

TEST(ExtendedSpeeds, AreAskedForOnceForEachKindOfDevice) {
  for (const RequestSet requests : {RequestSet::Fewest, RequestSet::Thesis}) {
    Lab plain(two_kinds(LinkSpeed::Qdr), {}, 1, requests);
    plain.tap.on_send = [](const Smp& smp) {
      EXPECT_FALSE(is_about(smp, AttributeId::PortInfo) && has_bit31(smp));
      return true;
    };
    ASSERT_TRUE(plain.run());
    expect_speed(*(*plain.result)->fabric, LinkSpeed::Qdr);
    for (const LinkSpeed speed : {LinkSpeed::Edr, LinkSpeed::Ndr, LinkSpeed::Xdr}) {
      Lab lab(two_kinds(speed), {}, 1, requests);
      ASSERT_TRUE(lab.run());
      expect_speed(*(*lab.result)->fabric, speed);
      const auto more = lab.client.stats().sent - plain.client.stats().sent;
      // The requests of the thesis go to all ports of the first switch at once.
      EXPECT_EQ(more, requests == RequestSet::Fewest ? 2u : 1u + 9u);
    }
  }
}

TEST(ExtendedSpeeds, AnAgentThatShowsThemToEverybodyIsNoOther) {
  sim::SimRuntime runtime;
  sim::SimFabric fabric(runtime,
                        two_kinds(LinkSpeed::Ndr),
                        sim::Timing::modern(),
                        1,
                        {.extended_speeds = sim::ExtendedSpeeds::Always});
  sim::SimTransport transport(fabric, 0, port_num(1));
  SmpClient client(runtime, transport, {});
  std::optional<Result<SweepReport>> found;
  Discovery discovery(client, {}, Epoch{1});
  discovery.start([&](Result<SweepReport> report) { found = std::move(report); });
  runtime.run_until(runtime.now() + Duration(std::chrono::minutes(1)));
  ASSERT_TRUE(found && *found);
  expect_speed(*(*found)->fabric, LinkSpeed::Ndr);
}

// H2 is of the same kind as H1, with older firmware: it announces nothing, and takes bit 31 for a
// fault.
TEST(ExtendedSpeeds, WhoHasNotAnnouncedThemMayRefuseToBeAsked) {
  Lab lab(two_kinds(LinkSpeed::Ndr));
  unsigned refused = 0;
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.hop_count != 3 || smp.initial_path[3] != 2 || !is_about(smp, AttributeId::PortInfo))
      return true;
    if (has_bit31(smp)) {
      smp.status = static_cast<std::uint16_t>(MadStatus::BadField);
      ++refused;
    }
    PortInfo info = decode_port_info(smp.data).value();
    info.capability_mask &= ~port_cap::kIsExtendedSpeedsSupported;
    encode_port_info(info, smp.data);
    return true;
  };
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(refused, 1u);
  EXPECT_TRUE(found->silent.empty());
  const Fabric& fabric = *found->fabric;
  ASSERT_EQ(fabric.node_count(), 5u);
  const PortIdx old = fabric.port_of(node_of(fabric, 0x1010), port_num(1));
  EXPECT_EQ(link_speed(fabric, old), LinkSpeed::Qdr);
  EXPECT_EQ(link_speed(fabric, fabric.peer[old]), LinkSpeed::Ndr);
}

TEST(ExtendedSpeeds, APort0ThatAnswersLateIsMadeUpFor) {
  Lab lab(two_kinds(LinkSpeed::Ndr));
  bool lost = false;
  lab.tap.on_receive = [&](Smp& smp) {
    const bool hit =
        smp.hop_count == 1 && is_about(smp, AttributeId::PortInfo) && smp.attribute_modifier == 0;
    return !hit || std::exchange(lost, true);
  };
  const auto& found = lab.run();
  ASSERT_TRUE(found);
  EXPECT_TRUE(lost);
  expect_speed(*found->fabric, LinkSpeed::Ndr);
}

TEST(Discovery, DestroyedWhileItRunsItSaysNothing) {
  sim::SimRuntime runtime;
  sim::SimFabric fabric(runtime, one_switch(), sim::Timing::modern(), 1);
  sim::SimTransport transport(fabric, 0, port_num(1));
  SmpClient client(runtime, transport, {});
  bool called = false;
  {
    Discovery discovery(client, {}, Epoch{1});
    discovery.start([&](const Result<SweepReport>&) { called = true; });
    runtime.run_until(runtime.now() + Duration(std::chrono::microseconds(20)));
  }
  runtime.run_until(runtime.now() + Duration(std::chrono::minutes(1)));
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace smd
