// A manager whose own cable is out knows nothing of the others, and they go on as they are: what it
// knew of them stays, but for what somebody else has written meanwhile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/management/sim_transport.h"
#include "smd/policy/partition_file.h"
#include "smd/smp/messages.h"
#include "tests/support/cables.h"
#include "tests/support/managers.h"

namespace smd::test {
namespace own_cable_test {

constexpr const char* kIrregular = "irregular:switches=16,ports=12,links=5,hosts=2,seed=4";

void set_own_cable(TimedFabric& on, std::uint32_t node, bool up) {
  on.fabric.set_link(node, PortNum{1}, up);
}

/// Every cable between switches goes and comes, and leaves entries that nobody would choose from
/// scratch.
template <class Settle>
void disturb(TimedFabric& on, Settle&& settle) {
  for (const Cable& cable : cables_between_switches(on.fabric.spec())) {
    for (const bool up : {false, true}) {
      on.fabric.set_link(cable.node, cable.port, up);
      ASSERT_TRUE(settle());
    }
  }
}

/// Cables between switches of `part` and others.
void set_border(TimedFabric& on, const std::set<std::uint32_t>& part, bool up) {
  const sim::FabricSpec& spec = on.fabric.spec();
  for (const Cable& cable : cables_between_switches(spec)) {
    const std::uint32_t peer = spec.nodes[cable.node].ports[cable.port.value()].peer_node;
    if (part.contains(cable.node) != part.contains(peer))
      on.fabric.set_link(cable.node, cable.port, up);
  }
}

std::uint32_t leaf_of(const TimedFabric& on, std::uint32_t host) {
  return on.fabric.spec().nodes[host].ports[1].peer_node;
}

/// Switches near `leaf`, itself the first of them, that hang together.
std::set<std::uint32_t> list_near(const TimedFabric& on, std::uint32_t leaf, std::size_t count) {
  const sim::FabricSpec& spec = on.fabric.spec();
  std::vector<std::uint32_t> near{leaf};
  for (std::size_t at = 0; at < near.size() && near.size() < count; ++at) {
    for (unsigned p = 1; p <= spec.nodes[near[at]].num_ports() && near.size() < count; ++p) {
      const std::uint32_t peer = spec.nodes[near[at]].ports[p].peer_node;
      if (peer != sim::kNoNode && spec.nodes[peer].type == NodeType::Switch &&
          std::ranges::count(near, peer) == 0)
        near.push_back(peer);
    }
  }
  return {near.begin(), near.end()};
}

// Cables that came and went have left entries that nobody would choose from scratch.
TEST(OwnCable, MovesNoEntryWhenItIsBack) {
  SimulatedSubnet subnet(spec_of("irregular:switches=16,ports=12,links=5,hosts=2,seed=4"));
  ASSERT_TRUE(subnet.start());
  const ForwardingTables from_scratch = subnet.manager.in_force()->routing->lft;
  for (const Cable& cable : cables_between_switches(subnet.fabric.spec())) {
    for (const bool up : {false, true}) {
      subnet.fabric.set_link(cable.node, cable.port, up);
      ASSERT_TRUE(subnet.settle());
    }
  }
  const SwitchRanks directions = subnet.kept().directions;
  const ForwardingTables routes = subnet.manager.in_force()->routing->lft;
  ASSERT_FALSE(directions.empty());
  ASSERT_NE(routes, from_scratch);

  set_own_cable(subnet, subnet.fabric.spec().sm_node, false);
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.manager.last_cycle()->cut_off);
  EXPECT_EQ(subnet.kept().directions, directions);
  set_own_cable(subnet, subnet.fabric.spec().sm_node, true);
  ASSERT_TRUE(subnet.run_until(
      [&] { return subnet.manager.at_rest() && !subnet.manager.last_cycle()->cut_off; },
      std::chrono::minutes(2)));
  EXPECT_EQ(subnet.kept().directions, directions);
  EXPECT_EQ(subnet.manager.in_force()->routing->lft, routes);
  EXPECT_EQ(find_broken_route(subnet), "");
}

// Its own switch comes up first, and sees nothing but the manager.
TEST(OwnCable, MovesNoEntryWhenItsSwitchIsBackBeforeTheOthers) {
  SimulatedSubnet subnet(spec_of("irregular:switches=16,ports=12,links=5,hosts=2,seed=4"));
  ASSERT_TRUE(subnet.start());
  const sim::FabricSpec& spec = subnet.fabric.spec();
  const std::uint32_t leaf = spec.nodes[spec.sm_node].ports[1].peer_node;
  const std::vector<Cable> cables = cables_between_switches(spec);
  for (const Cable& cable : cables) {
    for (const bool up : {false, true}) {
      subnet.fabric.set_link(cable.node, cable.port, up);
      ASSERT_TRUE(subnet.settle());
    }
  }
  const SwitchRanks directions = subnet.kept().directions;
  const ForwardingTables routes = subnet.manager.in_force()->routing->lft;
  const auto set_uplinks = [&](bool up) {
    for (const Cable& cable : cables) {
      const std::uint32_t peer = spec.nodes[cable.node].ports[cable.port.value()].peer_node;
      if (cable.node == leaf || peer == leaf) subnet.fabric.set_link(cable.node, cable.port, up);
    }
    ASSERT_TRUE(subnet.settle());
    ASSERT_TRUE(
        subnet.run_until([&] { return subnet.manager.at_rest(); }, std::chrono::minutes(2)));
  };
  set_uplinks(false);
  ASSERT_EQ(subnet.manager.in_force()->fabric().switch_count(), 1u);
  EXPECT_EQ(subnet.kept().directions, directions);
  set_uplinks(true);
  ASSERT_EQ(subnet.manager.in_force()->fabric().switch_count(), 16u);
  EXPECT_EQ(subnet.kept().directions, directions);
  EXPECT_EQ(subnet.manager.in_force()->routing->lft, routes);
  EXPECT_EQ(find_broken_route(subnet), "");
}

using Entries = std::map<std::pair<std::uint32_t, Lid>, PortNum>;

/// Of switches other than `spared`.
std::size_t count_moved(const Entries& before, const Entries& now, std::uint32_t spared) {
  EXPECT_EQ(before.size(), now.size());
  return static_cast<std::size_t>(std::ranges::count_if(before, [&](const auto& each) {
    const auto at = now.find(each.first);
    return each.first.first != spared && (at == now.end() || at->second != each.second);
  }));
}

/// Nothing of `kept` is missing.
bool has_all(const SwitchRanks& now, const SwitchRanks& kept) {
  return std::ranges::includes(now, kept);
}

/// An engine, on a fabric that it suits.
struct Case {
  const char* engine;
  const char* fabric;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.engine << " on " << each.fabric; }

class OwnCableOf : public ::testing::TestWithParam<Case> {
 protected:
  static SimulatedSubnetOptions options() {
    SimulatedSubnetOptions out;
    out.settings.engine = GetParam().engine;
    return out;
  }

  bool rest() {
    return subnet.settle() &&
           subnet.run_until([&] { return subnet.manager.at_rest(); }, std::chrono::minutes(2));
  }

  [[nodiscard]] const ActiveSubnet& now() const { return *subnet.manager.in_force(); }

  SimulatedSubnet subnet{spec_of(GetParam().fabric), options()};
};

// Whatever the engine: many keep no directions.
TEST_P(OwnCableOf, MovesNoEntryWhenTheOthersAreBack) {
  ASSERT_TRUE(subnet.start());
  disturb(subnet, [&] { return subnet.settle(); });
  const SwitchRanks directions = subnet.kept().directions;
  const Shared<RoutingTables> routes = now().routing;
  const std::size_t switches = now().fabric().switch_count();
  const std::set<std::uint32_t> near{leaf_of(subnet, subnet.fabric.spec().sm_node)};
  set_own_cable(subnet, subnet.fabric.spec().sm_node, false);
  ASSERT_TRUE(rest());
  set_border(subnet, near, false);
  set_own_cable(subnet, subnet.fabric.spec().sm_node, true);
  ASSERT_TRUE(rest());
  ASSERT_EQ(now().fabric().switch_count(), 1u);
  EXPECT_TRUE(has_all(subnet.kept().directions, directions));
  std::uint64_t written = 0;
  subnet.tap.on_send = [&](const Smp& smp) {
    written += smp.method == Method::Set && is_about(smp, AttributeId::LinearForwardingTable);
    return true;
  };
  set_border(subnet, near, true);
  ASSERT_TRUE(rest());
  ASSERT_EQ(now().fabric().switch_count(), switches);
  EXPECT_EQ(now().routing->lft, routes->lft);
  EXPECT_EQ(now().routing->path_sls, routes->path_sls);
  EXPECT_EQ(subnet.kept().directions, directions);
  EXPECT_LE(written, 3 * near.size()) << "of the switch that saw nobody";
  EXPECT_EQ(find_broken_route(subnet), "");
}

class OwnCableInStepsOf : public OwnCableOf {};

// Some come back first, too few to know anything by or more than that, and then the others.
TEST_P(OwnCableInStepsOf, MovesNoEntry) {
  ASSERT_TRUE(subnet.start());
  disturb(subnet, [&] { return subnet.settle(); });
  const SwitchRanks directions = subnet.kept().directions;
  const Shared<RoutingTables> routes = now().routing;
  const std::size_t switches = now().fabric().switch_count();
  const std::uint32_t leaf = leaf_of(subnet, subnet.fabric.spec().sm_node);
  set_own_cable(subnet, subnet.fabric.spec().sm_node, false);
  ASSERT_TRUE(rest());
  std::set<std::uint32_t> part;
  for (const std::size_t tenths : {3u, 6u}) {
    set_border(subnet, part, true);
    part = list_near(subnet, leaf, (tenths * switches + 9) / 10);
    set_border(subnet, part, false);
    set_own_cable(subnet, subnet.fabric.spec().sm_node, true);
    ASSERT_TRUE(rest());
    ASSERT_EQ(now().fabric().switch_count(), part.size());
    EXPECT_TRUE(has_all(subnet.kept().directions, directions));
  }
  set_border(subnet, part, true);
  ASSERT_TRUE(rest());
  ASSERT_EQ(now().fabric().switch_count(), switches);
  EXPECT_EQ(now().routing->lft, routes->lft);
  EXPECT_EQ(now().routing->path_sls, routes->path_sls);
  EXPECT_EQ(subnet.kept().directions, directions);
  EXPECT_EQ(find_broken_route(subnet), "");
}

// On a part of a mesh there is no dor.
INSTANTIATE_TEST_SUITE_P(Engines,
                         OwnCableInStepsOf,
                         testing::Values(Case{"auto", kIrregular},
                                         Case{"updn", kIrregular},
                                         Case{"nue", kIrregular},
                                         Case{"dfsssp", kIrregular},
                                         Case{"lash", kIrregular},
                                         Case{"minhop", "fat-tree:k=6,levels=2"},
                                         Case{"ftree", "fat-tree:k=6,levels=2"}));

INSTANTIATE_TEST_SUITE_P(Engines,
                         OwnCableOf,
                         testing::Values(Case{"auto", kIrregular},
                                         Case{"updn", kIrregular},
                                         Case{"nue", kIrregular},
                                         Case{"dfsssp", kIrregular},
                                         Case{"lash", kIrregular},
                                         Case{"minhop", "fat-tree:k=6,levels=2"},
                                         Case{"ftree", "fat-tree:k=6,levels=2"},
                                         Case{"dor", "torus:dims=4.4,mesh=1,hosts=1"}));

// The manager starts before its own link has trained.
TEST(OwnCable, MovesNoEntryWhenItComesAfterTheManager) {
  Managers all(kIrregular, {"host-00000"});
  Settings settings = manager_settings(9);
  settings.engine = "auto";
  all[0].start(settings);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  disturb(all, [&] {
    all.run_for(std::chrono::seconds(1));
    return all.settle();
  });
  const auto entries = all.entries();
  const SwitchRanks directions = all[0].kept().directions;
  all[0].kill();
  set_own_cable(all, all[0].node, false);
  all[0].start(settings);
  while (all[0].manager->last_cycle() == nullptr)
    all.runtime.run_until(all.runtime.now() + std::chrono::microseconds(1));
  ASSERT_TRUE(all[0].manager->last_cycle()->cut_off);
  set_own_cable(all, all[0].node, true);
  ASSERT_TRUE(all.run_until(
      [&] { return all[0].manager->at_rest() && !all[0].manager->last_cycle()->cut_off; },
      std::chrono::minutes(2)));
  EXPECT_EQ(count_moved(entries, all.entries(), sim::kNoNode), 0u);
  EXPECT_EQ(all[0].kept().directions, directions);
  EXPECT_EQ(all.find_fault(), "");
}

// One that takes over sees the switch that it is at and no other; those hold what works.
TEST(OwnCable, MovesNoEntryWhenOneThatTookOverSeesMore) {
  Managers all(kIrregular, {"host-00000", "host-00031"});
  all[0].start(manager_settings(9));
  all[1].start(manager_settings(2));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  ASSERT_EQ(all[0].state(), SmState::Master);
  disturb(all, [&] {
    all.run_for(std::chrono::seconds(1));
    return all.settle();
  });
  all[1].start(manager_settings(2), all[0].kept());  // as it has a copy
  ASSERT_TRUE(all.settle()) << all.find_fault();
  const auto entries = all.entries();
  const SwitchRanks directions = all[0].kept().directions;
  all[0].kill();
  const std::set<std::uint32_t> leaf{leaf_of(all, all[1].node)};
  set_border(all, leaf, false);
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master; }, std::chrono::seconds(60)));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  ASSERT_EQ(all[1].manager->in_force()->fabric().switch_count(), 1u);
  EXPECT_EQ(all[1].kept().directions, directions);
  set_border(all, leaf, true);
  ASSERT_TRUE(all.run_until(
      [&] { return all[1].manager->in_force()->fabric().switch_count() == 16 && all.settled(); },
      std::chrono::seconds(60)))
      << all.find_fault();
  EXPECT_EQ(count_moved(entries, all.entries(), leaf_of(all, all[1].node)), 0u);
  EXPECT_EQ(all[1].kept().directions, directions);
}

// What is asked for meanwhile is not forgotten over what is found.
TEST(OwnCable, TakesTheEngineThatWasAskedForWhileItWasOut) {
  SimulatedSubnetOptions options;
  options.settings.engine = "updn";
  SimulatedSubnet subnet(spec_of("fat-tree:k=6,levels=2"), options);
  ASSERT_TRUE(subnet.start());
  set_own_cable(subnet, subnet.fabric.spec().sm_node, false);
  ASSERT_TRUE(subnet.settle());
  Settings settings = subnet.manager.settings();
  settings.engine = "ftree";
  subnet.manager.adopt(settings);
  set_own_cable(subnet, subnet.fabric.spec().sm_node, true);
  ASSERT_TRUE(subnet.run_until(
      [&] { return subnet.manager.at_rest() && !subnet.manager.last_cycle()->cut_off; },
      std::chrono::minutes(2)));
  EXPECT_EQ(subnet.manager.in_force()->routing->engine, "ftree");
  SimulatedSubnet other(spec_of("fat-tree:k=6,levels=2"), {.settings = settings});
  ASSERT_TRUE(other.start());
  EXPECT_EQ(subnet.manager.in_force()->routing->lft, other.manager.in_force()->routing->lft);
}

/// More switches than there are requests on the wire.
SimulatedSubnetOptions with_a_small_window() {
  Settings settings = default_settings();
  settings.sweep_interval = Duration{0};
  settings.smp.window_start = settings.smp.window_max = 4;
  return {.settings = settings};
}

// Nobody else can report it, and no switch is waited for.
TEST(OwnCable, ThatDropsIsNoticedByASweepAtOnce) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), with_a_small_window());
  ASSERT_TRUE(subnet.bring_up());
  ASSERT_GE(subnet.manager.in_force()->fabric().switch_count(), 20u);
  set_own_cable(subnet, subnet.fabric.spec().sm_node, false);
  subnet.manager.request_light_sweep();
  EXPECT_TRUE(subnet.run_until([&] { return subnet.manager.last_cycle()->cut_off; },
                               std::chrono::milliseconds(100)));
}

// Nobody can be reached, and it is not that cable.
TEST(OwnCable, BehindWhichNobodyAnswersIsWaitedForOnce) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), with_a_small_window());
  ASSERT_TRUE(subnet.bring_up());
  bool is_cut = true;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    return !is_cut || find_destination(subnet, smp) == subnet.fabric.spec().sm_node;
  };
  subnet.manager.request_light_sweep();
  ASSERT_TRUE(subnet.run_until(
      [&] { return subnet.manager.phase() == smd::Phase::Discovering; },
      (subnet.manager.settings().smp.retries + 2) * std::chrono::milliseconds(200)));
  is_cut = false;
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_EQ(subnet.manager.in_force()->fabric().switch_count(), subnet.reports[0].counts.switches);
}

// The second has ruled by other routes, and died before the first saw anything of it.
TEST(OwnCable, BringsBackTablesThatAnotherHasWritten) {
  Managers all("torus:dims=4.4,hosts=2", {"host-00000", "host-00031"});
  const auto come_up = [&](std::size_t which, unsigned priority, const char* engine) {
    Settings settings = manager_settings(priority);
    settings.engine = engine;
    all[which].start(settings);
    return all.settle();
  };
  ASSERT_TRUE(come_up(0, 9, "updn")) << all.find_fault();
  ASSERT_TRUE(come_up(1, 2, "dor")) << all.find_fault();
  const auto entries = all.entries();
  set_own_cable(all, all[0].node, false);
  all[0].manager->request_sweep("test");
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master; }, std::chrono::seconds(60)));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  ASSERT_NE(all.entries(), entries) << "it is to write something";
  all[1].kill();
  set_own_cable(all, all[0].node, true);
  const SubnetManager& first = *all[0].manager;
  ASSERT_TRUE(all.run_until([&] { return first.at_rest() && !first.last_cycle()->cut_off; },
                            std::chrono::seconds(60)));
  const ActiveSubnet& now = *first.in_force();
  const Fabric& fabric = now.fabric();
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const auto& nodes = all.fabric.spec().nodes;
    const auto node = std::ranges::find(nodes, guid, &sim::NodeSpec::guid) - nodes.begin();
    for (std::uint16_t lid = 1; lid <= now.lids->top.value(); ++lid)
      EXPECT_EQ(all.fabric.lft(static_cast<std::uint32_t>(node), Lid{lid}),
                now.routing->lft.route(sw, Lid{lid}));
  }
  EXPECT_EQ(find_broken_route(all), "");
}

/// P_Keys of adapters, and what the first entry of each port for VLs of high priority weighs.
struct PortTables {
  std::map<std::uint32_t, std::set<PKey>> keys;
  std::map<std::pair<std::uint32_t, unsigned>, unsigned> weights;

  explicit PortTables(const TimedFabric& on) {
    const auto& nodes = on.fabric.spec().nodes;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      for (unsigned p = 1; p <= nodes[n].num_ports(); ++p) {
        if (nodes[n].ports[p].peer_node == sim::kNoNode) continue;
        const sim::PortRegs& port = on.fabric.node_state(n).ports[p];
        if (port.vl_arb) weights[{n, p}] = port.vl_arb->high[0].weight;
        if (nodes[n].type == NodeType::Ca) keys[n] = {port.p_keys.begin(), port.p_keys.end()};
        if (nodes[n].type == NodeType::Ca) keys[n].erase(PKey{0});
      }
    }
  }
};

// What ports hold is as little known as what switches do.
TEST(OwnCable, BringsBackTablesOfPortsThatAnotherHasWritten) {
  Managers all("fat-tree:k=4,levels=2", {"host-00000", "host-00007"});
  const auto come_up = [&](std::size_t which, unsigned priority, unsigned key) {
    Settings settings = manager_settings(priority);
    const std::string rules = fmt::format("Default=0x7fff: ALL=full;\nA=0x{:x}: ALL=full;\n", key);
    settings.partitions =
        PartitionPolicy{.rules = parse_partition_file(rules, "p").value().rules, .enforcement = {}};
    settings.qos.high = {{{.vl = Vl{0}, .weight = static_cast<std::uint8_t>(key)}}};
    all[which].start(settings);
    return all.settle();
  };
  ASSERT_TRUE(come_up(0, 9, 0x11));
  ASSERT_TRUE(come_up(1, 2, 0x22));
  const PortTables wanted(all);
  ASSERT_GT(wanted.weights.size(), wanted.keys.size()) << "of ports of switches, too";
  set_own_cable(all, all[0].node, false);
  all[0].manager->request_sweep("test");
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master; }, std::chrono::seconds(60)));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  ASSERT_NE(PortTables(all).keys, wanted.keys) << "it is to write something";
  ASSERT_NE(PortTables(all).weights, wanted.weights) << "likewise";
  all[1].kill();
  set_own_cable(all, all[0].node, true);
  ASSERT_TRUE(all.run_until(
      [&] { return all[0].manager->at_rest() && !all[0].manager->last_cycle()->cut_off; },
      std::chrono::seconds(60)));
  EXPECT_EQ(PortTables(all).keys, wanted.keys);
  EXPECT_EQ(PortTables(all).weights, wanted.weights);
}

// Those that are not back when loads are balanced are lost as any others.
TEST(OwnCable, KeepsNothingForOthersOnceLoadsAreBalancedWithoutThem) {
  SimulatedSubnetOptions options;
  options.settings.rebalance_delay = std::chrono::seconds(10);
  SimulatedSubnet subnet(spec_of(kIrregular), options);
  ASSERT_TRUE(subnet.start());
  disturb(subnet, [&] { return subnet.settle(); });
  const std::uint32_t host = subnet.fabric.spec().sm_node;
  set_own_cable(subnet, host, false);
  ASSERT_TRUE(subnet.settle());
  std::set<std::uint32_t> part;
  for (const std::size_t switches : {5u, 12u}) {
    set_border(subnet, part, true);
    part = list_near(subnet, leaf_of(subnet, host), switches);
    set_border(subnet, part, false);
    set_own_cable(subnet, host, true);
    ASSERT_TRUE(subnet.settle());
  }
  ASSERT_TRUE(subnet.run_until([&] { return subnet.manager.at_rest(); }, std::chrono::seconds(1)));
  ASSERT_EQ(subnet.manager.in_force()->fabric().switch_count(), part.size());
  EXPECT_EQ(subnet.kept().directions.size(), 16u);
  ASSERT_TRUE(
      subnet.run_until([&] { return subnet.manager.last_cycle()->reason.starts_with("relief"); },
                       std::chrono::seconds(60)));
  ASSERT_TRUE(subnet.run_until([&] { return subnet.manager.at_rest(); }, std::chrono::seconds(1)));
  EXPECT_EQ(subnet.kept().directions.size(), part.size());
}

// A state directory of another fabric, or of this one before its switches were replaced.
TEST(OwnCable, IsNotTakenForOutWhereOtherSwitchesAreThere) {
  const char* fabrics[] = {"fat-tree:k=4,levels=1", "fat-tree:k=6,levels=2"};
  for (const char* fabric : fabrics) {
    SimulatedSubnetOptions options;
    const sim::FabricSpec spec = spec_of(fabric);
    const auto switches = static_cast<std::uint32_t>(
        std::ranges::count(spec.nodes, NodeType::Switch, &sim::NodeSpec::type));
    for (std::uint32_t n = 0; n < switches; ++n)
      options.kept.directions.emplace_back(Guid{n + 1}, n);
    SimulatedSubnet subnet(spec, options);
    ASSERT_TRUE(subnet.start());
    const SwitchRanks& mine = subnet.manager.in_force()->routing->orientation.by_guid;
    ASSERT_EQ(mine.size(), switches);
    for (const auto& each : mine) EXPECT_EQ(std::ranges::count(subnet.kept().directions, each), 1);
    disturb(subnet, [&] { return subnet.settle(); });
  }
}

// Whoever comes back does not find itself master beside another: two would rule until one heard of
// the other, and what the one wrote who ruled meanwhile would be undone.
TEST(OwnCable, OfAMasterLeavesTheSubnetToTheNextAndIsNoMasterWhenItIsBack) {
  Managers all("fat-tree:k=4,levels=2", {"host-00000", "host-00007"});
  const std::uint32_t late = all.node("host-00004");
  all.fabric.set_node(late, false);
  all[0].start(manager_settings(9));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all[1].start(manager_settings(2), all[0].kept());  // as it has a copy
  ASSERT_TRUE(all.settle()) << all.find_fault();
  set_own_cable(all, all[0].node, false);
  ASSERT_TRUE(all.run_until([&] { return all[0].state() == SmState::Discovering; },
                            std::chrono::seconds(3)))
      << "before anybody takes over";
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master; }, std::chrono::seconds(10)));
  ASSERT_TRUE(all.run_until([&] { return all[1].manager->at_rest(); }, std::chrono::seconds(10)));
  all.fabric.set_node(late, true);
  all.run_for(std::chrono::seconds(60));
  EXPECT_EQ(all[0].state(), SmState::Discovering);
  EXPECT_EQ(all[0].manager->alarms(),
            std::vector<std::string>{"the manager's own port has no link: nobody is seen"});
  const auto lids = all.lids();
  ASSERT_TRUE(lids.contains(all.fabric.spec().nodes[late].ports[1].guid));
  bool both = false;
  const std::uint64_t orders = all[1].sets;
  set_own_cable(all, all[0].node, true);
  ASSERT_TRUE(all.run_until(
      [&] {
        both = both || (all[0].state() == SmState::Master && all[1].state() == SmState::Master &&
                        !all[1].manager->election().holding());
        return all[0].state() == SmState::Master && all[1].state() == SmState::Standby;
      },
      std::chrono::seconds(60)));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  EXPECT_FALSE(both) << "it stood by first, and was handed the subnet";
  EXPECT_GT(all[1].sets, orders) << "who ruled brought its port up";
  EXPECT_EQ(all.lids(), lids);
  EXPECT_EQ(all.longest_rivalry, Duration{0});
}

TEST(OwnCable, OfAStandbyMakesItNoMaster) {
  Managers all("fat-tree:k=4,levels=2", {"host-00000", "host-00007"});
  Settings settings = manager_settings(2);
  settings.election.master_priority = 15;
  all[0].start(settings);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  settings.election.priority = 9;
  all[1].start(settings);
  ASSERT_TRUE(all.settle()) << all.find_fault();
  ASSERT_EQ(all[1].state(), SmState::Standby);
  const auto lids = all.lids();
  bool ruled = false;
  const auto watch = [&](bool up, Duration time) {
    set_own_cable(all, all[1].node, up);
    (void)all.run_until(
        [&] {
          ruled = ruled || all[1].state() == SmState::Master;
          return false;
        },
        time);
  };
  watch(false, std::chrono::minutes(2));
  EXPECT_EQ(all[1].state(), SmState::Discovering);
  watch(true, std::chrono::seconds(30));
  EXPECT_EQ(all[1].state(), SmState::Standby);
  EXPECT_FALSE(ruled);
  EXPECT_EQ(all[0].state(), SmState::Master);
  EXPECT_EQ(all.lids(), lids);
  EXPECT_EQ(all.find_fault(), "");
}

// Nothing is forgotten for a cable that was out while nobody else ruled: hosts are not asked to
// register again, and no entry is written.
TEST(OwnCable, OfAManagerThatIsAloneCostsHostsNothing) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"));
  ASSERT_TRUE(subnet.bring_up());
  unsigned told = 0, written = 0;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    if (smp.method != Method::Set) return true;
    if (is_about(smp, AttributeId::PortInfo))
      told += decode_port_info(smp.data).value().client_reregister;
    written += is_about(smp, AttributeId::LinearForwardingTable);
    return true;
  };
  for (const bool up : {false, true}) {
    set_own_cable(subnet, subnet.fabric.spec().sm_node, up);
    ASSERT_TRUE(subnet.run_until(
        [&] { return subnet.manager.at_rest() && subnet.manager.last_cycle()->cut_off != up; },
        std::chrono::minutes(1)));
    EXPECT_EQ(subnet.manager.election().state(), up ? SmState::Master : SmState::Discovering);
    EXPECT_NE(subnet.manager.active().current(), nullptr) << "who asks for it may see it";
  }
  EXPECT_LE(told, 1u) << "the own port comes up anew";
  EXPECT_EQ(written, 0u);
  EXPECT_EQ(find_broken_route(subnet), "");
}

// An adapter that was without power meanwhile has no LID, and who names the one that it had names
// us: nobody else has ruled, and what we wrote down holds.
TEST(OwnCable, OfAnAdapterThatLostItsLidIsNoSignOfAnotherMaster) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"));
  ASSERT_TRUE(subnet.bring_up());
  const std::uint32_t own = subnet.fabric.spec().sm_node;
  const std::uint32_t other = subnet.node("host-00007");
  const PortInfo before = subnet.fabric.port_info(other, PortNum{1});
  set_own_cable(subnet, own, false);
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.manager.last_cycle()->cut_off);
  subnet.fabric.reboot_node(own, std::chrono::milliseconds(1));
  PortInfo stray = before;
  stray.lid = Lid{0x100};
  SmpRequest order{.route = SmpRoute::directed({}),
                   .method = Method::Set,
                   .attribute = AttributeId::PortInfo,
                   .modifier = 1};
  encode_port_info(set_body(stray, PortState::NoChange), order.data);
  sim::SimTransport host(subnet.fabric, other, PortNum{1});
  ASSERT_TRUE(host.send(build_request(order, Lid{0}, 99)));
  subnet.run_for(std::chrono::milliseconds(2));
  ASSERT_EQ(subnet.fabric.port_info(own, PortNum{1}).lid, kUnassignedLid);
  ASSERT_EQ(subnet.fabric.port_info(other, PortNum{1}).lid, stray.lid);
  set_own_cable(subnet, own, true);
  ASSERT_TRUE(subnet.run_until(
      [&] { return subnet.manager.at_rest() && !subnet.manager.last_cycle()->cut_off; },
      std::chrono::minutes(1)));
  EXPECT_EQ(subnet.fabric.port_info(other, PortNum{1}).lid, before.lid);
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(OwnCable, ThatIsBackIsNoticedAtOnce) {
  Settings settings = default_settings();
  settings.sweep_interval = std::chrono::minutes(5);
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=2"), {.settings = settings});
  ASSERT_TRUE(subnet.bring_up());
  const std::uint32_t own = subnet.fabric.spec().sm_node;
  subnet.tap.on_receive = [](Smp& smp) { return smp.method != Method::Trap; };  // another has them
  set_own_cable(subnet, own, false);
  subnet.manager.request_sweep("test");
  ASSERT_TRUE(subnet.settle());
  ASSERT_TRUE(subnet.manager.last_cycle()->cut_off);
  subnet.run_for(std::chrono::seconds(23));
  set_own_cable(subnet, own, true);
  EXPECT_TRUE(subnet.run_until(
      [&] { return subnet.manager.at_rest() && !subnet.manager.last_cycle()->cut_off; },
      std::chrono::seconds(2)));
}

// Somebody else rules soon, whatever was being done.
TEST(OwnCable, OfAMasterThatIsBusyIsNoticedBeforeAnybodyTakesOver) {
  for (const Phase busy : {Phase::Discovering, Phase::Programming}) {
    SCOPED_TRACE(print_phase(busy));
    Managers all(kIrregular, {"host-00000", "host-00031"});
    Settings settings = manager_settings(9);
    settings.smp.window_start = settings.smp.window_max = 2;
    settings.engine = "updn";
    all[0].start(settings);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    all[1].start(manager_settings(2));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    settings.engine = "dfsssp";
    all[0].manager->adopt(settings);
    all[0].manager->request_sweep("test");
    while (all[0].manager->phase() != busy)
      all.runtime.run_until(all.runtime.now() + std::chrono::microseconds(10));
    set_own_cable(all, all[0].node, false);
    EXPECT_TRUE(all.run_until([&] { return all[0].state() == SmState::Discovering; },
                              std::chrono::seconds(1)));
    ASSERT_TRUE(
        all.run_until([&] { return all[1].state() == SmState::Master; }, std::chrono::seconds(10)));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    set_own_cable(all, all[0].node, true);
    ASSERT_TRUE(
        all.run_until([&] { return all[0].state() == SmState::Master; }, std::chrono::seconds(30)));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    EXPECT_EQ(all.longest_rivalry, Duration{0});
  }
}

// What was on the wire is lost with the cable, and fills the window until it is given up.
TEST(OwnCable, OfAMasterIsNoticedWhileManySmpsAreLost) {
  for (const auto into : {std::chrono::microseconds(800), std::chrono::microseconds(1600)}) {
    SCOPED_TRACE(into.count());
    Managers all("fat-tree:k=12,levels=3", {"host-00000", "host-00400"});
    Settings settings = manager_settings(9);
    settings.smp = {};
    all[0].start(settings);
    ASSERT_TRUE(all.settle()) << all.find_fault();
    all[1].start(manager_settings(2));
    ASSERT_TRUE(all.settle()) << all.find_fault();
    all[0].manager->request_sweep("test");
    ASSERT_TRUE(all.run_until([&] { return all[0].manager->phase() == Phase::Discovering; },
                              std::chrono::seconds(1)));
    all.runtime.run_until(all.runtime.now() + into);
    set_own_cable(all, all[0].node, false);
    EXPECT_TRUE(all.run_until([&] { return all[0].state() == SmState::Discovering; },
                              std::chrono::seconds(1)));
  }
}

// Each was silent for the other while they were parted.
TEST(PartedManagers, HearEachOtherBeforeTheyWrite) {
  Managers all("torus:dims=4,hosts=2", {"host-00000", "host-00004"});
  for (const std::size_t which : {0u, 1u}) {
    all[which].start(manager_settings(which == 0 ? 9 : 2));
    ASSERT_TRUE(all.settle()) << all.find_fault();
  }
  const std::set<std::uint32_t> part = list_near(all, leaf_of(all, all[0].node), 2);
  ASSERT_FALSE(part.contains(leaf_of(all, all[1].node)));
  set_border(all, part, false);
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Master; }, std::chrono::seconds(20)));
  ASSERT_TRUE(all.settle()) << all.find_fault();
  all.run_for(std::chrono::seconds(30));
  const TimePoint until = all.runtime.now() + std::chrono::milliseconds(300);
  bool is_answered = false;
  std::vector<std::string> early;
  for (const std::size_t which : {0u, 1u}) {
    all[which].loses = [&, which](const Smp& smp) {
      const bool is_answer = is_about(smp, AttributeId::SmInfo) && smp.method == Method::GetResp;
      if (is_answer && all.runtime.now() < until) return true;
      is_answered = is_answered || is_answer;
      // Reports are acknowledged while the subnet is looked at.
      if (smp.method == Method::Set && !is_answered && !is_about(smp, AttributeId::SwitchInfo))
        early.push_back(fmt::format("manager {} sets 0x{:x}", which, smp.attribute_id));
      return false;
    };
  }
  set_border(all, part, true);
  ASSERT_TRUE(
      all.run_until([&] { return all[1].state() == SmState::Standby; }, std::chrono::seconds(20)));
  EXPECT_TRUE(is_answered);
  EXPECT_EQ(early, std::vector<std::string>{});
  ASSERT_TRUE(all.settle()) << all.find_fault();
}

}  // namespace own_cable_test
}  // namespace smd::test
