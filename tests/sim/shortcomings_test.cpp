// What one port or one switch lacks costs that port or switch alone: the rest of the subnet is up,
// and changes elsewhere are taken in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/mad/node_info.h"
#include "smd/mad/port_info.h"
#include "smd/mad/tables.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace shortcomings_test {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr PortNum kOne{1};

SimulatedSubnetOptions watched() {
  SimulatedSubnetOptions out;
  out.settings.sweep_interval = std::chrono::seconds(10);
  return out;
}

/// The port of `name` that leads to `peer`.
PortNum port_to(const SimulatedSubnet& subnet, const std::string& name, const std::string& peer) {
  const sim::NodeSpec& node = subnet.fabric.spec().nodes[subnet.node(name)];
  for (unsigned p = 1; p <= node.num_ports(); ++p) {
    if (node.ports[p].peer_node == subnet.node(peer)) return PortNum{static_cast<std::uint8_t>(p)};
  }
  throw std::runtime_error("no cable from " + name + " to " + peer);
}

void set_cable(SimulatedSubnet& subnet, const std::string& name, const std::string& peer, bool up) {
  subnet.fabric.set_link(subnet.node(name), port_to(subnet, name, peer), up);
}

/// Adapters whose port shows no LID or is not Active.
std::set<std::uint32_t> find_hosts_out(const SimulatedSubnet& subnet) {
  std::set<std::uint32_t> out;
  const sim::FabricSpec& spec = subnet.fabric.spec();
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    if (spec.nodes[node].type == NodeType::Switch || !subnet.fabric.link_up(node, kOne)) continue;
    const PortInfo info = subnet.fabric.port_info(node, kOne);
    if (info.lid == kUnassignedLid || info.state() != PortState::Active) out.insert(node);
  }
  return out;
}

//  Four leaves with two hosts each, two spines: 14 end ports.
constexpr const char* kTree = "fat-tree:k=4,levels=2";

SimulatedSubnetOptions with_lids(unsigned max, std::uint8_t lmc = 0) {
  SimulatedSubnetOptions out = watched();
  out.settings.lids.max = Lid{static_cast<std::uint16_t>(max)};
  out.settings.lids.lmc = lmc;
  return out;
}

struct OnePortMoreThanLids : testing::Test {
  void SetUp() override { ASSERT_TRUE(subnet.start()); }

  SimulatedSubnet subnet{spec_of(kTree), with_lids(13)};
};

TEST_F(OnePortMoreThanLids, StaysOutAloneAndIsNamed) {
  const CycleReport& first = *subnet.manager.last_cycle();
  EXPECT_FALSE(first.error);
  EXPECT_FALSE(first.up()) << "one port is missing";
  EXPECT_EQ(first.ports_without_lid, 1u);
  const std::set<std::uint32_t> out = find_hosts_out(subnet);
  ASSERT_EQ(out.size(), 1u);
  const std::uint32_t host = *out.begin();
  const sim::NodeSpec& spec = subnet.fabric.spec().nodes[host];
  EXPECT_EQ(subnet.fabric.port_info(host, kOne).lid, kUnassignedLid);
  EXPECT_EQ(subnet.fabric.port_info(host, kOne).state(), PortState::Initialize);
  EXPECT_THAT(subnet.manager.alarms(),
              Contains(AllOf(HasSubstr("no LIDs left for 1 port, 1 missing in 1 … 13"),
                             HasSubstr(fmt::format("port GUID {}, LMC 0", spec.ports[1].guid)))));
  EXPECT_EQ(find_broken_route(subnet, out), "");
}

TEST_F(OnePortMoreThanLids, CablesThatFailAreRoutedAround) {
  for (const bool up : {false, true}) {
    set_cable(subnet, "sw-0-1", "sw-1-0", up);
    ASSERT_TRUE(subnet.settle());
    EXPECT_FALSE(subnet.manager.last_cycle()->error);
    EXPECT_EQ(subnet.manager.last_cycle()->fault_count, 0u);
    EXPECT_EQ(find_broken_route(subnet, find_hosts_out(subnet)), "");
    EXPECT_EQ(find_hosts_out(subnet).size(), 1u);
  }
}

TEST_F(OnePortMoreThanLids, ComesInWhenAnotherLeaves) {
  ASSERT_EQ(find_hosts_out(subnet).size(), 1u);
  const std::uint32_t out = *find_hosts_out(subnet).begin();
  const std::uint32_t other = subnet.node("host-00002");
  ASSERT_NE(out, other);
  subnet.fabric.set_node(other, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_TRUE(find_hosts_out(subnet).empty());
  EXPECT_EQ(find_broken_route(subnet), "");
  EXPECT_EQ(find_inactive_port(subnet), "");

  subnet.fabric.set_node(other, true);
  ASSERT_TRUE(subnet.settle(2));
  EXPECT_EQ(find_hosts_out(subnet), std::set{other}) << "who is in stays in";
  EXPECT_EQ(find_broken_route(subnet, {other}), "");
}

TEST_F(OnePortMoreThanLids, IsNoReasonToDiscoverEverythingAgain) {
  subnet.run_for(std::chrono::seconds(3));  // what is read at leisure
  std::size_t asked = 0;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    asked += is_about(smp, AttributeId::NodeInfo);
    return true;
  };
  subnet.run_for(std::chrono::seconds(120));
  EXPECT_EQ(asked, 0u) << "sweeps ask switches for changes, and there are none";
  EXPECT_EQ(subnet.manager.last_cycle()->ports_without_lid, 1u);
}

TEST(OneBlockMoreThanLids, ComesInWhenTheOptionIsChanged) {
  // Eight blocks of four, and three LIDs below them.
  SimulatedSubnetOptions options = with_lids(35, 2);
  SimulatedSubnet subnet(spec_of(kTree), options);
  ASSERT_TRUE(subnet.start());
  EXPECT_EQ(find_hosts_out(subnet).size(), 1u);
  EXPECT_THAT(subnet.manager.alarms(), Contains(AllOf(HasSubstr("4 missing"), HasSubstr("LMC 2"))));

  options.settings.lids.max = kTopUnicastLid;
  subnet.manager.adopt(options.settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_TRUE(subnet.manager.alarms().empty());
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(OneBlockMoreThanLids, WhoLosesItsLidIsTakenDownBeforeTwoPortsShareIt) {
  SimulatedSubnetOptions options = watched();
  SimulatedSubnet subnet(spec_of(kTree), options);
  ASSERT_TRUE(subnet.start());
  options.settings.lids.lmc = 1;
  options.settings.lids.max = Lid{17};
  subnet.manager.adopt(options.settings);
  subnet.manager.request_sweep("configuration");
  ASSERT_TRUE(subnet.settle());
  ASSERT_FALSE(subnet.manager.last_cycle()->error);
  const std::set<std::uint32_t> out = find_hosts_out(subnet);
  EXPECT_FALSE(out.empty());
  EXPECT_FALSE(out.contains(subnet.fabric.spec().sm_node));
  for (const std::uint32_t host : out)
    EXPECT_EQ(subnet.fabric.port_info(host, kOne).state(), PortState::Initialize);
  EXPECT_EQ(find_broken_route(subnet, out), "");
}

/// From now on the first of `may` whose forwarding table is to change takes no Set.
struct Refusal {
  Refusal(SimulatedSubnet& to, const std::vector<std::string>& may) : subnet(to) {
    std::set<std::uint32_t> candidates;
    for (const std::string& name : may) candidates.insert(subnet.node(name));
    subnet.tap.on_send = [this, candidates](const Smp& smp) {
      const std::uint32_t at = find_destination(subnet, smp);
      if (who == sim::kNoNode && candidates.contains(at) && smp.method == Method::Set &&
          is_about(smp, AttributeId::LinearForwardingTable))
        who = at;
      return !(lasts && smp.method == Method::Set && at == who);
    };
  }

  /// The switch and the adapters that hang on it.
  [[nodiscard]] std::set<std::uint32_t> lost() const {
    std::set<std::uint32_t> out{who};
    for (const sim::PortSpec& port : subnet.fabric.spec().nodes[who].ports) {
      if (port.peer_node != sim::kNoNode &&
          subnet.fabric.spec().nodes[port.peer_node].type != NodeType::Switch)
        out.insert(port.peer_node);
    }
    return out;
  }

  SimulatedSubnet& subnet;
  std::uint32_t who = sim::kNoNode;
  bool lasts = true;
};

TEST(ASwitchThatTakesNoSettings, IsRoutedAround) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), watched());
  ASSERT_TRUE(subnet.start());
  // Whoever of them is left out, all others are joined still.
  Refusal refusal(subnet,
                  {"sw-0-1",
                   "sw-0-4",
                   "sw-0-5",
                   "sw-0-6",
                   "sw-0-7",
                   "sw-1-4",
                   "sw-1-5",
                   "sw-1-6",
                   "sw-1-7",
                   "sw-2-0",
                   "sw-2-1",
                   "sw-2-2",
                   "sw-2-3"});
  set_cable(subnet, "sw-0-2", "sw-1-2", false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_NE(refusal.who, sim::kNoNode) << "nobody was to change";
  EXPECT_FALSE(subnet.manager.last_cycle()->error);
  EXPECT_EQ(find_broken_route(subnet, refusal.lost()), "");
  EXPECT_THAT(subnet.manager.alarms(), Contains(HasSubstr("does not take its settings")));

  set_cable(subnet, "sw-0-3", "sw-1-3", false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_FALSE(subnet.manager.last_cycle()->error);
  EXPECT_EQ(find_broken_route(subnet, refusal.lost()), "");

  refusal.lasts = false;
  // Nobody reports it: it is found when silent ports are looked at again.
  ASSERT_TRUE(subnet.run_until(
      [&] { return subnet.manager.last_cycle()->silent.empty() && subnet.manager.at_rest(); },
      std::chrono::minutes(12)));
  EXPECT_TRUE(subnet.manager.alarms().empty());
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(ASwitchThatTakesNoSettings, KeepsNoHostDownWhereTheOthersCannotDoWithoutIt) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  const std::uint32_t host = subnet.node("host-00007");
  subnet.fabric.set_link(host, kOne, false);
  ASSERT_TRUE(subnet.start());
  Refusal refusal(subnet, {"sw-0-0"});  // the manager hangs on it
  subnet.fabric.set_link(host, kOne, true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_NE(refusal.who, sim::kNoNode) << "nobody was to change";
  EXPECT_GT(subnet.manager.last_cycle()->fault_count, 0u);
  EXPECT_TRUE(find_hosts_out(subnet).empty());
  EXPECT_EQ(find_broken_route(subnet, refusal.lost()), "");
}

/// Answers of `node` say that its forwarding table holds `entries` LIDs.
void shrink_table(SimulatedSubnet& subnet, std::set<std::uint32_t> nodes, std::uint16_t entries) {
  subnet.tap.on_receive = [&subnet, nodes = std::move(nodes), entries](Smp& smp) {
    if (!is_about(smp, AttributeId::SwitchInfo) || !nodes.contains(find_destination(subnet, smp)))
      return true;
    auto info = decode_switch_info(smp.data);
    info->linear_fdb_cap = entries;
    encode_switch_info(*info, smp.data);
    return true;
  };
}

TEST(ASwitchWithASmallForwardingTable, IsLeftOutAloneAndIsNamed) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  shrink_table(subnet, {subnet.node("sw-1-1")}, 14);  // LIDs up to 13
  ASSERT_TRUE(subnet.start());
  const CycleReport& first = *subnet.manager.last_cycle();
  EXPECT_FALSE(first.error);
  EXPECT_EQ(first.fault_count, 0u);
  EXPECT_TRUE(find_hosts_out(subnet).empty());
  EXPECT_EQ(find_broken_route(subnet, {subnet.node("sw-1-1")}), "");
  EXPECT_THAT(subnet.manager.alarms(),
              Contains(AllOf(HasSubstr(fmt::format(
                                 "{}", subnet.fabric.spec().nodes[subnet.node("sw-1-1")].guid)),
                             HasSubstr("its forwarding table holds LIDs below 14, "))));
}

// It is dispensable until the cable beside it goes.
TEST(ASwitchWithASmallForwardingTable, ComesInWhenOthersAreReachedByItAlone) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  shrink_table(subnet, {subnet.node("sw-1-1")}, 14);
  ASSERT_TRUE(subnet.start());
  const std::size_t switches = subnet.manager.in_force()->fabric().switch_count();
  set_cable(subnet, "sw-0-1", "sw-1-0", false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.in_force()->fabric().switch_count(), switches + 1);
  EXPECT_EQ(subnet.manager.last_cycle()->ports_without_lid, 1u) << "14 end ports, 13 LIDs";
  std::set<std::uint32_t> out = find_hosts_out(subnet);
  out.insert(subnet.node("sw-1-1"));  // its own LID may be the one too many
  EXPECT_EQ(find_broken_route(subnet, out), "");
}

TEST(ASwitchWithASmallForwardingTable, BeforeTheManagerLimitsTheLids) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  shrink_table(subnet, {subnet.node("sw-0-0")}, 13);  // LIDs up to 12, for 14 ports
  ASSERT_TRUE(subnet.start());
  const CycleReport& first = *subnet.manager.last_cycle();
  EXPECT_FALSE(first.error);
  EXPECT_EQ(first.ports_without_lid, 2u);
  EXPECT_EQ(find_hosts_out(subnet).size(), 2u);
  EXPECT_EQ(find_broken_route(subnet, find_hosts_out(subnet)), "");
}

TEST(APortOfASwitchThatRefusesPortInfo, IsNoLinkToRouteOver) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  const std::uint32_t spine = subnet.node("sw-1-1");
  const PortNum port = port_to(subnet, "sw-1-1", "sw-0-2");
  subnet.tap.on_receive = [&](Smp& smp) {
    if (is_about(smp, AttributeId::PortInfo) && find_destination(subnet, smp) == spine &&
        decode_port_info_modifier(smp.attribute_modifier).port == port)
      smp.status = 0x1c;
    return true;
  };
  ASSERT_TRUE(subnet.start());
  const auto expect_no_link = [&] {
    const CycleReport& last = *subnet.manager.last_cycle();
    EXPECT_TRUE(last.up()) << "everything else is";
    ASSERT_EQ(last.silent.size(), 1u);
    EXPECT_EQ(last.silent[0].port, port);
    const Fabric& fabric = subnet.manager.in_force()->fabric();
    const auto node = fabric.find_node(subnet.fabric.spec().nodes[spine].guid);
    ASSERT_TRUE(node);
    EXPECT_EQ(fabric.peer[fabric.port_of(*node, port)], kNone<PortIdx>);
    EXPECT_EQ(find_broken_route(subnet), "");
  };
  expect_no_link();
  for (const bool up : {false, true}) {
    set_cable(subnet, "sw-0-3", "sw-1-1", up);
    ASSERT_TRUE(subnet.settle());
    expect_no_link();
  }
}

/// Set(PortInfo) that would make an end of these links Active gets lost, as long as `while_true`.
void swallow_active(SimulatedSubnet& subnet,
                    const std::vector<std::pair<std::string, std::string>>& links,
                    const bool& while_true) {
  std::set<std::pair<std::uint32_t, PortNum>> ends;
  for (const auto& [a, b] : links) {
    ends.insert({subnet.node(a), port_to(subnet, a, b)});
    ends.insert({subnet.node(b), port_to(subnet, b, a)});
  }
  subnet.tap.on_send = [&subnet, &while_true, ends](const Smp& smp) -> Result<bool> {
    if (!while_true || smp.method != Method::Set || !is_about(smp, AttributeId::PortInfo) ||
        decode_port_info(smp.data)->state() != PortState::Active)
      return true;
    return !ends.contains(
        {find_destination(subnet, smp), decode_port_info_modifier(smp.attribute_modifier).port});
  };
}

std::size_t count_entries(const SimulatedSubnet& subnet, const std::string& name, PortNum port) {
  std::size_t entries = 0;
  for (std::uint16_t lid = 1; lid <= subnet.manager.in_force()->lids->top.value(); ++lid)
    entries += subnet.fabric.lft(subnet.node(name), Lid{lid}) == port ? 1 : 0;
  return entries;
}

TEST(ALinkBetweenSwitchesThatDoesNotBecomeActive, IsRoutedAround) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  ASSERT_TRUE(subnet.start());
  const std::uint32_t leaf = subnet.node("sw-0-1");
  const PortNum end = port_to(subnet, "sw-0-1", "sw-1-0");
  set_cable(subnet, "sw-0-1", "sw-1-0", false);
  ASSERT_TRUE(subnet.settle());
  bool swallows = true;
  swallow_active(subnet, {{"sw-0-1", "sw-1-0"}}, swallows);
  set_cable(subnet, "sw-0-1", "sw-1-0", true);
  ASSERT_TRUE(subnet.settle());
  const auto expect_no_entry = [&] {
    for (std::uint16_t lid = 1; lid <= subnet.manager.in_force()->lids->top.value(); ++lid)
      EXPECT_NE(subnet.fabric.lft(leaf, Lid{lid}), end) << lid;
    EXPECT_EQ(find_broken_route(subnet), "");
    EXPECT_FALSE(subnet.manager.last_cycle()->error);
    EXPECT_THAT(subnet.manager.alarms(), Contains(HasSubstr("does not become Active")));
  };
  expect_no_entry();
  for (const bool up : {false, true}) {
    subnet.fabric.set_link(subnet.node("host-00007"), kOne, up);
    ASSERT_TRUE(subnet.settle());
    expect_no_entry();
  }
  swallows = false;
  ASSERT_TRUE(
      subnet.run_until([&] { return subnet.manager.alarms().empty() && subnet.manager.at_rest(); },
                       std::chrono::minutes(12)));
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

// Nothing is planned because of it: entries lead over it from the beginning.
TEST(ALinkBetweenSwitchesThatDoesNotBecomeActive, IsRoutedAroundAlsoWhereItNeverWas) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  bool swallows = true;
  swallow_active(subnet, {{"sw-0-1", "sw-1-0"}}, swallows);
  static_cast<void>(subnet.start());
  ASSERT_TRUE(subnet.run_until(
      [&] { return count_entries(subnet, "sw-0-1", port_to(subnet, "sw-0-1", "sw-1-0")) == 0; },
      std::chrono::minutes(1)));
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(find_broken_route(subnet), "");
  EXPECT_THAT(subnet.manager.alarms(), Contains(HasSubstr("does not become Active")));
  swallows = false;
  ASSERT_TRUE(
      subnet.run_until([&] { return subnet.manager.alarms().empty() && subnet.manager.at_rest(); },
                       std::chrono::minutes(12)));
  EXPECT_EQ(find_inactive_port(subnet), "");
}

TEST(TwoLinksOfASwitchThatDoNotBecomeActive, AreBothRoutedAround) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=6,levels=2"), watched());
  bool swallows = true;
  swallow_active(subnet, {{"sw-0-1", "sw-1-0"}, {"sw-0-1", "sw-1-1"}}, swallows);
  static_cast<void>(subnet.start());
  subnet.run_for(std::chrono::minutes(1));
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(count_entries(subnet, "sw-0-1", port_to(subnet, "sw-0-1", "sw-1-0")), 0u);
  EXPECT_EQ(count_entries(subnet, "sw-0-1", port_to(subnet, "sw-0-1", "sw-1-1")), 0u);
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(ALinkBetweenSwitchesThatDoesNotBecomeActive, IsRoutedAroundBesideAHostLikeIt) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  bool swallows = true;
  swallow_active(subnet, {{"sw-0-1", "sw-1-0"}, {"sw-0-1", "host-00002"}}, swallows);
  static_cast<void>(subnet.start());
  subnet.run_for(std::chrono::minutes(1));
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(find_hosts_out(subnet), std::set{subnet.node("host-00002")});
  EXPECT_EQ(count_entries(subnet, "sw-0-1", port_to(subnet, "sw-0-1", "sw-1-0")), 0u);
  EXPECT_EQ(find_broken_route(subnet, {subnet.node("host-00002")}), "");
}

// They leave nothing out.
TEST(ALinkBetweenSwitchesThatDoesNotBecomeActive, KeepsNoHostDownInModesOfTheThesis) {
  for (const char* const mode : {"basic", "improved"}) {
    SCOPED_TRACE(mode);
    SimulatedSubnetOptions options = watched();
    options.settings.strategy = make_strategy(parse_reconfiguration_mode(mode).value());
    SimulatedSubnet subnet(spec_of(kTree), options);
    subnet.fabric.set_link(subnet.node("host-00007"), kOne, false);
    ASSERT_TRUE(subnet.bring_up());
    bool swallows = true;
    swallow_active(subnet, {{"sw-0-1", "sw-1-0"}}, swallows);
    set_cable(subnet, "sw-0-1", "sw-1-0", false);
    ASSERT_TRUE(subnet.settle());
    set_cable(subnet, "sw-0-1", "sw-1-0", true);
    subnet.fabric.set_link(subnet.node("host-00007"), kOne, true);
    ASSERT_TRUE(subnet.settle());
    subnet.run_for(std::chrono::minutes(2));
    EXPECT_EQ(find_hosts_out(subnet), std::set<std::uint32_t>{});
  }
}

// The last cable to half of the subnet.
TEST(ALinkBetweenSwitchesThatDoesNotBecomeActive, StaysWhereSwitchesAreReachedByItAlone) {
  SimulatedSubnet subnet(spec_of("torus:dims=4,mesh=1,hosts=2"), watched());
  const std::uint32_t late = subnet.node("host-00007");  // there are entries to be written to it
  subnet.fabric.set_link(late, kOne, false);
  ASSERT_TRUE(subnet.start());
  const std::size_t nodes = subnet.manager.in_force()->fabric().node_count() + 1;
  bool swallows = true;
  swallow_active(subnet, {{"sw-1", "sw-2"}}, swallows);
  set_cable(subnet, "sw-1", "sw-2", false);
  ASSERT_TRUE(subnet.settle());
  subnet.fabric.set_link(late, kOne, true);
  set_cable(subnet, "sw-1", "sw-2", true);
  ASSERT_TRUE(subnet.settle());
  subnet.run_for(std::chrono::minutes(2));
  EXPECT_EQ(subnet.manager.in_force()->fabric().node_count(), nodes);
  EXPECT_FALSE(subnet.manager.last_cycle()->error);
  EXPECT_EQ(find_hosts_out(subnet), std::set<std::uint32_t>{});
  swallows = false;
  ASSERT_TRUE(
      subnet.run_until([&] { return subnet.manager.alarms().empty() && subnet.manager.at_rest(); },
                       std::chrono::minutes(12)));
  EXPECT_EQ(find_broken_route(subnet), "");
}

// What is left out was dispensable once, and the cable beside it goes.
TEST(ALinkBetweenSwitchesThatDoesNotBecomeActive, ComesBackInWhenNoOtherIsLeft) {
  SimulatedSubnet subnet(spec_of("torus:dims=4,hosts=2"), watched());
  ASSERT_TRUE(subnet.start());
  const std::size_t nodes = subnet.manager.in_force()->fabric().node_count();
  bool swallows = true;
  swallow_active(subnet, {{"sw-1", "sw-2"}}, swallows);
  set_cable(subnet, "sw-1", "sw-2", false);
  ASSERT_TRUE(subnet.settle());
  set_cable(subnet, "sw-1", "sw-2", true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_THAT(subnet.manager.alarms(), Contains(HasSubstr("does not become Active")));
  set_cable(subnet, "sw-3", "sw-0", false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_EQ(subnet.manager.in_force()->fabric().node_count(), nodes);
}

TEST(ALinkBetweenSwitchesThatDoesNotBecomeActive, MakesNoOtherLookAFullOne) {
  SimulatedSubnet subnet(spec_of(kTree), watched());
  ASSERT_TRUE(subnet.start());
  // Somebody who never answers.
  const std::uint32_t silent = subnet.node("host-00006");
  bool swallows = true;
  swallow_active(subnet, {{"sw-0-1", "sw-1-0"}}, swallows);
  const auto lossy = subnet.tap.on_send;
  subnet.tap.on_send = [&, lossy](const Smp& smp) -> Result<bool> {
    if (find_destination(subnet, smp) == silent) return false;
    return lossy(smp);
  };
  subnet.fabric.set_link(silent, kOne, false);
  ASSERT_TRUE(subnet.settle());
  subnet.fabric.set_link(silent, kOne, true);
  ASSERT_TRUE(subnet.settle());
  set_cable(subnet, "sw-0-1", "sw-1-0", false);
  ASSERT_TRUE(subnet.settle());
  set_cable(subnet, "sw-0-1", "sw-1-0", true);
  ASSERT_TRUE(subnet.settle());
  ASSERT_THAT(subnet.manager.alarms(), Contains(HasSubstr("left out")));
  for (const char* const host : {"host-00002", "host-00003", "host-00005"}) {
    for (const bool up : {false, true}) {
      subnet.fabric.set_link(subnet.node(host), kOne, up);
      ASSERT_TRUE(subnet.settle());
      EXPECT_TRUE(subnet.manager.last_cycle()->partial)
          << host << ": " << subnet.manager.last_cycle()->full_why;
    }
  }
}

/// H1 (the manager's) and H2, both with a port at S1 and one at S2.
sim::FabricSpec two_ports_each() {
  sim::FabricSpec spec;
  sim::add_node(spec, NodeType::Ca, "H1", Guid{0x1010}, 2);
  sim::add_node(spec, NodeType::Ca, "H2", Guid{0x1020}, 2);
  sim::add_node(spec, NodeType::Switch, "S1", Guid{0x2001}, 4);
  sim::add_node(spec, NodeType::Switch, "S2", Guid{0x2002}, 4);
  for (std::uint32_t host = 0; host < 2; ++host) {
    for (std::uint32_t sw = 0; sw < 2; ++sw) {
      sim::connect(spec,
                   host,
                   PortNum{static_cast<std::uint8_t>(sw + 1)},
                   2 + sw,
                   PortNum{static_cast<std::uint8_t>(host + 1)});
    }
  }
  sim::connect(spec, 2, PortNum{3}, 3, PortNum{3});
  return spec;
}

TEST(APortOfAnAdapterThatSaysNothing, CostsThatPortAlone) {
  for (const char* host : {"H1", "H2"}) {
    SCOPED_TRACE(host);
    SimulatedSubnet subnet(two_ports_each(), watched());
    const std::uint32_t mute = subnet.node(host);
    subnet.tap.on_send = [&](const Smp& smp) {
      return find_destination(subnet, smp) != mute || smp.hop_count < 2 ||
             !is_about(smp, AttributeId::PortInfo) ||
             decode_port_info_modifier(smp.attribute_modifier).port != PortNum{2};
    };
    ASSERT_TRUE(subnet.start());
    EXPECT_FALSE(subnet.manager.last_cycle()->error);
    EXPECT_EQ(subnet.manager.last_cycle()->silent.size(), 1u);
    EXPECT_EQ(subnet.fabric.port_info(mute, kOne).state(), PortState::Active);
    EXPECT_EQ(subnet.fabric.port_info(1 - mute, PortNum{2}).state(), PortState::Active);
  }
}

}  // namespace shortcomings_test
}  // namespace smd::test
