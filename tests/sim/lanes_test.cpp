// Routes that change lanes at turns, in the switches: tables and SL-to-VL rows are read from the
// registers and walked by the checker, which made neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>

#include "sim-backend/agents/node_state.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/support/cables.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace lanes_test {

Settings settings_for(const std::string& engine) {
  Settings settings = default_settings();
  settings.engine = engine;
  return settings;
}

/// The first end port that sends to the manager with another SL than that of its path by `routes`.
std::string find_other_sm_sl(const TimedFabric& on,
                             const ActiveSubnet& routes,
                             bool of_adapters = false) {
  const Fabric& now = routes.fabric();
  const Lid manager = routes.lids->base[now.sm_port];
  for (const PortIdx port : routes.lids->base.indices()) {
    if (routes.lids->base[port] == kUnassignedLid) continue;
    const NodeIdx node = now.node_of[port];
    if (of_adapters && now.is_switch(node)) continue;
    const PortIdx at = now.is_switch(node) ? port : now.peer[port];
    const PathSls& sls = routes.routing->path_sls;
    const unsigned wanted =
        at == kNone<PortIdx> || sls.empty() ? 0u : sls.sl(now.switch_at(at), manager);
    std::uint32_t n = 0;
    while (on.fabric.spec().nodes[n].guid != now.node_guid[node]) ++n;
    const unsigned sl = on.fabric.port_info(n, now.number_of(port)).master_sm_sl;
    if (sl != wanted) return fmt::format("{}: {}, not {}", print_port(now, port), sl, wanted);
  }
  return "";
}

/// One fabric, several lives of the manager.
class Lives : public TimedFabric {
 public:
  explicit Lives(const std::string& text) : TimedFabric(spec_of(text)) {
    fabric.on_change([this](std::uint32_t, sim::FabricChange what) {
      if (watching && what != sim::FabricChange::Ports) look();
    });
  }

  /// After every SMP that changes an entry or a row: what hosts were told before closes no circle.
  void look() {
    const ActiveSubnet& goal = *life->manager.in_force();
    const Fabric& now = goal.fabric();
    SlSets sls{now.switch_count(), goal.lids->top};
    for (const SwitchIdx sw : now.switch_node.indices()) {
      const auto then = told->fabric().find_node(now.node_guid[now.switch_node[sw]]);
      for (std::uint16_t lid = 1; then && lid <= told->lids->top.value(); ++lid)
        sls.add(
            sw, Lid{lid}, told->routing->path_sls.sl(told->fabric().switch_of[*then], Lid{lid}));
    }
    const RouteReport report =
        check_routes(now, goal.lids, read(), {.minimality = false, .offered = &sls});
    ++looks;
    if (early.empty()) early = find_other_sm_sl(*this, *told);
    if (passing.empty() && !report.acyclic) passing = print_cycle(now, report.cycle);
  }

  void live(Settings settings) {
    SimulatedSubnetOptions options{.settings = std::move(settings)};
    if (life) options.kept = life->kept();
    options.on_cycle = [this](const CycleReport&) {
      watching = false;
      told = life->manager.share_in_force();
    };
    options.on_plan = [this](const Fabric&, const TransitionPlan& plan) {
      watching =
          told && !told->routing->path_sls.empty() &&
          (plan.kind == TransitionKind::Certified || plan.kind == TransitionKind::CutDependencies);
    };
    told.reset();
    life.emplace(*this, options);
    life->manager.start();
  }

  bool settle_up() {
    const std::size_t before = life->reports.size();
    return run_until([&] { return life->reports.size() > before && life->is_up(); },
                     std::chrono::minutes(5));
  }

  /// What the registers say, in the order of the manager's snapshot, with the SLs that it names.
  [[nodiscard]] RoutingTables read() const {
    const ActiveSubnet& goal = *life->manager.in_force();
    const Fabric& now = goal.fabric();
    RoutingTables out;
    out.lft = ForwardingTables{now.switch_count(), goal.lids->top};
    out.path_sls = goal.routing->path_sls;
    out.sl_to_vl = SlToVlMaps{now};
    for (const SwitchIdx sw : now.switch_node.indices()) {
      const std::uint32_t n = node(now.node_guid[now.switch_node[sw]]);
      for (std::uint16_t lid = 1; lid <= goal.lids->top.value(); ++lid)
        out.lft.set_route(sw, Lid{lid}, fabric.lft(n, Lid{lid}));
      const unsigned ports = now.num_ports(now.switch_node[sw]);
      for (unsigned in = 0; in <= ports; ++in) {
        for (unsigned to = 0; to <= ports; ++to) {
          const PortNum i{static_cast<std::uint8_t>(in)}, o{static_cast<std::uint8_t>(to)};
          SlToVl row = fabric.sl_to_vl(n, i, o);
          if (in == to) row.fill(kManagementVl);  // a switch sends nothing back where it came from
          out.sl_to_vl.set_row(sw, i, o, out.sl_to_vl.add_row(row));
        }
      }
    }
    return out;
  }

  /// Empty when every pair arrives and no lane waits for itself.
  [[nodiscard]] std::string find_fault() const {
    const ActiveSubnet& goal = *life->manager.in_force();
    const RouteReport report = check_routes(goal.fabric(), goal.lids, read());
    if (report.ok()) return "";
    if (!report.acyclic) return print_cycle(goal.fabric(), report.cycle);
    return report.first_faults.empty() ? "unreachable" : report.first_faults.front();
  }

  [[nodiscard]] std::uint32_t node(Guid guid) const {
    std::uint32_t n = 0;
    while (fabric.spec().nodes[n].guid != guid) ++n;
    return n;
  }

  void set_first_cable(bool up) {
    const Cable cable = cables_between_switches(fabric.spec()).front();
    fabric.set_link(cable.node, cable.port, up);
  }

  std::shared_ptr<const ActiveSubnet> told;  // before the plan under way
  bool watching = false;
  unsigned looks = 0;
  std::string passing;  // the first circle while a proved plan was carried out
  std::string early;    // the first MasterSMSL by routes that were not written to their end
  std::optional<SimulatedManager> life;
};

struct Shape {
  const char* fabric;
  const char* engine;
  bool turns;   // its rows differ from turn to turn
  bool proved;  // changes are, without taking the subnet down
};

TEST(AChangeOnSeveralVls, IsNotToldToHostsBeforeItIsWrittenToItsEnd) {
  SimulatedSubnetOptions options{.settings = settings_for("dfsssp")};
  options.settings.sweep_interval = std::chrono::seconds(10);
  SimulatedSubnet subnet(spec_of("torus:dims=4.4,hosts=1"), options);
  ASSERT_TRUE(subnet.start());
  const auto before = subnet.manager.active().current();
  ASSERT_GT(before->routing->vls, 1u);
  const std::uint32_t next =
      subnet.fabric.spec().nodes[subnet.fabric.spec().sm_node].ports[1].peer_node;
  bool swallows = true;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    return !swallows || smp.method != Method::Set ||
           !is_about(smp, AttributeId::LinearForwardingTable) ||
           find_destination(subnet, smp) != next;
  };
  subnet.fabric.set_link(next, PortNum{1}, false);
  ASSERT_TRUE(subnet.settle());
  EXPECT_FALSE(subnet.manager.last_cycle()->error);
  EXPECT_NE(subnet.manager.last_cycle()->transition.interrupted, "");
  EXPECT_TRUE(subnet.manager.active().current()->has_routes_of(*before));
  EXPECT_EQ(find_other_sm_sl(subnet, *before), "");
  EXPECT_THAT(subnet.manager.alarms(),
              testing::Contains(testing::HasSubstr("not written to its end")));
  swallows = false;
  ASSERT_TRUE(subnet.settle_up());
  EXPECT_FALSE(subnet.manager.active().current()->has_routes_of(*before));
  EXPECT_EQ(find_other_sm_sl(subnet, *subnet.manager.in_force()), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

TEST(AChangeOnSeveralVls, ThatIsNotWrittenToItsEndLeavesAdaptersTheirSlToTheManager) {
  const sim::FabricSpec spec = spec_of("irregular4:switches=12,nodes=23,seed=2");
  unsigned others = 0, interrupted = 0;
  for (const Cable& cable : cables_between_switches(spec)) {
    SimulatedSubnet* changing = nullptr;
    SimulatedSubnetOptions options{.settings = settings_for("itb-vl")};
    options.on_plan = [&](const Fabric&, const TransitionPlan&) {
      if (changing == nullptr) return;
      const ActiveSubnet& goal = *changing->manager.in_force();
      others += find_other_sm_sl(*changing, goal, true).empty() ? 0u : 1u;
    };
    SimulatedSubnet subnet(spec, options);
    ASSERT_TRUE(subnet.start());
    changing = &subnet;
    const auto before = subnet.manager.active().current();
    subnet.tap.on_send = [](const Smp& smp) -> Result<bool> {
      return smp.method != Method::Set || !is_about(smp, AttributeId::LinearForwardingTable);
    };
    subnet.fabric.set_link(cable.node, cable.port, false);
    ASSERT_TRUE(subnet.settle());
    if (subnet.manager.last_cycle()->transition.interrupted.empty()) continue;
    ++interrupted;
    EXPECT_EQ(find_other_sm_sl(subnet, *before, true), "");
  }
  EXPECT_GT(interrupted, 0u);
  EXPECT_GT(others, 0u) << "of no use: no path to the manager gets another SL";
}

// The manager's own switch refuses one block for good, and a host boots.
TEST(AChangeOnSeveralVls, ThatIsNeverWrittenToItsEndKeepsNobodyOut) {
  SimulatedSubnetOptions options{.settings = settings_for("dfsssp")};
  options.settings.sweep_interval = std::chrono::seconds(10);
  SimulatedSubnet subnet(spec_of("torus:dims=4.4,hosts=2"), options);
  const std::uint32_t late = subnet.node("host-00017");
  subnet.fabric.set_link(late, PortNum{1}, false);
  ASSERT_TRUE(subnet.start());
  const auto before = subnet.manager.active().current();
  ASSERT_GT(before->routing->vls, 1u);
  const std::uint32_t next =
      subnet.fabric.spec().nodes[subnet.fabric.spec().sm_node].ports[1].peer_node;
  subnet.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    return smp.method != Method::Set || !is_about(smp, AttributeId::LinearForwardingTable) ||
           find_destination(subnet, smp) != next;
  };
  subnet.fabric.set_link(late, PortNum{1}, true);
  ASSERT_TRUE(subnet.settle());
  EXPECT_TRUE(subnet.manager.active().current()->has_routes_of(*before)) << "not at once";
  subnet.run_for(std::chrono::minutes(5));
  EXPECT_NE(subnet.manager.last_cycle()->transition.interrupted, "");
  EXPECT_TRUE(
      subnet.manager.active().current()->fabric().find_node(subnet.fabric.spec().nodes[late].guid));
  EXPECT_EQ(find_other_sm_sl(subnet, *subnet.manager.in_force()), "");
  EXPECT_THAT(subnet.manager.alarms(),
              testing::Contains(testing::HasSubstr("not written to its end")));
}

class Lanes : public testing::TestWithParam<Shape> {};

TEST_P(Lanes, AreInTheSwitchesAndStayThere) {
  Lives lives(GetParam().fabric);
  lives.live(settings_for(GetParam().engine));
  ASSERT_TRUE(lives.settle_up());
  ASSERT_EQ(lives.life->reports.back().engine, GetParam().engine);
  EXPECT_EQ(lives.life->manager.in_force()->routing->sl_to_vl.empty(), !GetParam().turns);
  EXPECT_EQ(lives.find_fault(), "");
  EXPECT_TRUE(lives.life->kept().sl_to_vl_mark);

  for (const bool up : {false, true}) {
    lives.set_first_cable(up);
    ASSERT_TRUE(lives.settle_up());
    EXPECT_EQ(lives.find_fault(), "") << (up ? "up" : "down");
    EXPECT_EQ(lives.passing, "") << (up ? "up" : "down");
  }
  if (GetParam().proved) {
    EXPECT_GT(lives.looks, 5u);
  }
}

TEST_P(Lanes, AreGivenUpWhenTheNextLifeNeedsNone) {
  Lives lives(GetParam().fabric);
  lives.live(settings_for(GetParam().engine));
  ASSERT_TRUE(lives.settle_up());
  lives.live(settings_for("updn"));
  ASSERT_TRUE(lives.settle_up());
  EXPECT_EQ(lives.find_fault(), "") << "any SL passes";
  const RoutingTables now = lives.read();
  for (const SlToVl& row : now.sl_to_vl.rows()) {
    const auto discarded = std::ranges::count(row, kManagementVl);
    EXPECT_TRUE(discarded == 0 || discarded == 16) << "but for blocked turns";
  }

  lives.live(settings_for(GetParam().engine));
  ASSERT_TRUE(lives.settle_up());
  EXPECT_EQ(lives.find_fault(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    Lanes,
    testing::Values(Shape{"torus:dims=5.5", "dor", true, true},
                    Shape{"dragonfly:a=4,c=2,h=1", "dragonfly", true, false},
                    Shape{"irregular4:switches=12,nodes=23,seed=2", "itb-vl", true, true},
                    Shape{"torus:dims=4.4", "dfsssp", false, true}),
    [](const auto& each) {
      std::string name = each.param.engine;
      std::erase(name, '-');
      return name;
    });

class MasterSmSl : public testing::TestWithParam<Shape> {};

TEST_P(MasterSmSl, IsThatOfThePathThroughALossAndItsRepair) {
  Lives lives(GetParam().fabric);
  lives.live(settings_for(GetParam().engine));
  ASSERT_TRUE(lives.settle_up());
  ASSERT_EQ(lives.life->reports.back().engine, GetParam().engine);
  const auto is_on_another = [&](std::uint32_t n) {
    return lives.fabric.spec().nodes[n].type == NodeType::Ca &&
           lives.fabric.port_info(n, PortNum{1}).master_sm_sl != 0;
  };
  EXPECT_TRUE(std::ranges::any_of(
      std::views::iota(0u, static_cast<unsigned>(lives.fabric.spec().nodes.size())), is_on_another))
      << "of no use: SL 0 would do for all";
  EXPECT_EQ(find_other_sm_sl(lives, *lives.life->manager.in_force()), "");
  for (const bool up : {false, true}) {
    lives.set_first_cable(up);
    ASSERT_TRUE(lives.settle_up());
    EXPECT_EQ(find_other_sm_sl(lives, *lives.life->manager.in_force()), "") << (up ? "up" : "down");
  }
  EXPECT_EQ(lives.early, "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    MasterSmSl,
    testing::Values(Shape{"torus:dims=4.4,hosts=1", "lash", false, true},
                    Shape{"irregular4:switches=12,nodes=23,seed=2", "itb-vl", true, true},
                    Shape{"torus:dims=4.4,hosts=1", "dfsssp", false, true}),
    [](const auto& each) {
      std::string name = each.param.engine;
      std::erase(name, '-');
      return name;
    });

/// The first way of a switch whose row leads SL 0 to a VL that its link does not operate: what
/// comes there is lost.
std::string find_row_to_idle_vl(const sim::SimFabric& fabric) {
  const sim::FabricSpec& spec = fabric.spec();
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    for (unsigned out = 1; out <= spec.nodes[n].num_ports(); ++out) {
      const PortNum to{static_cast<std::uint8_t>(out)};
      const PortInfo& info = fabric.port_info(n, to);
      if (info.state() != PortState::Active) continue;
      for (unsigned in = 1; in <= spec.nodes[n].num_ports(); ++in) {
        const Vl vl = fabric.sl_to_vl(n, PortNum{static_cast<std::uint8_t>(in)}, to)[0];
        if (in != out && vl != kManagementVl && vl.value() >= data_vls(info.operational_vls))
          return fmt::format("{}: from {} to {} on VL {}", n, in, out, vl);
      }
    }
  }
  return "";
}

// Links that carry data operate one VL, and get routes that change between several.
TEST(LanesOfOtherRoutes, AreOperatedByLinksBeforeRowsLeadThere) {
  Lives lives("irregular4:switches=12,nodes=23,seed=2");
  Settings settings = settings_for("updn");
  settings.ports.max_operational_vls = 1;
  lives.live(settings);
  ASSERT_TRUE(lives.settle_up());
  ASSERT_EQ(find_row_to_idle_vl(lives.fabric), "");
  std::string lost;
  lives.fabric.on_change([&](std::uint32_t, sim::FabricChange) {
    if (lost.empty()) lost = find_row_to_idle_vl(lives.fabric);
  });
  lives.life->manager.adopt(settings_for("itb-vl"));
  lives.life->manager.request_sweep("configuration");
  ASSERT_TRUE(lives.settle_up());
  EXPECT_GT(lives.life->manager.in_force()->routing->vls, 1u);
  EXPECT_EQ(lost, "");
  EXPECT_EQ(lives.find_fault(), "");
}

TEST(LanesOfTheNextLife, AreReadAndFoundAsTheyShallBe) {
  Lives lives("torus:dims=5.5");
  lives.live(settings_for("dor"));
  ASSERT_TRUE(lives.settle_up());
  lives.live(settings_for("dor"));
  ASSERT_TRUE(lives.settle_up());
  EXPECT_EQ(lives.life->reports.back().transition.kind, TransitionKind::Nothing);
  EXPECT_GT(lives.life->reports.back().turns.smps, 25u * 4u * 4u);
}

/// Two sets of paths: a first LID by updn, a second one by an engine on VLs of its own.
class LanesOfPathSets : public testing::TestWithParam<Shape> {
 protected:
  static Settings settings(bool path_sets = true) {
    Settings out = settings_for(GetParam().engine);
    out.lids.lmc = 1;
    out.engine_options.path_sets = path_sets;
    return out;
  }
};

TEST_P(LanesOfPathSets, AreProvedAsOneThroughALossAndItsRepair) {
  Lives lives(GetParam().fabric);
  lives.live(settings());
  ASSERT_TRUE(lives.settle_up());
  const std::string name = std::string("updn+") + GetParam().engine;
  for (const std::optional<bool> up : {std::optional<bool>{}, {false}, {true}}) {
    const std::string when = !up ? "at first" : *up ? "up" : "down";
    if (up) {
      lives.set_first_cable(*up);
      ASSERT_TRUE(lives.settle_up()) << when;
    }
    const CycleReport& last = lives.life->reports.back();
    EXPECT_EQ(last.engine, name) << when << ": " << last.engine_refused;
    EXPECT_EQ(lives.find_fault(), "") << when;
    EXPECT_EQ(lives.passing, "") << when;
    if (GetParam().proved && up) {
      EXPECT_EQ(last.transition.kind, TransitionKind::Certified) << when;
    }
  }
  EXPECT_GT(lives.looks, 0u) << "while a change went on";
}

TEST_P(LanesOfPathSets, ComeAndGoWithTheNextLife) {
  Lives lives(GetParam().fabric);
  for (const bool path_sets : {true, false, true}) {
    lives.live(settings(path_sets));
    ASSERT_TRUE(lives.settle_up());
    EXPECT_EQ(lives.life->reports.back().engine,
              std::string(path_sets ? "updn+" : "") + GetParam().engine);
    EXPECT_EQ(lives.find_fault(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    LanesOfPathSets,
    testing::Values(Shape{"irregular:switches=10,links=4,hosts=2,seed=2", "itb-vl", true, true},
                    Shape{"torus:dims=4.4,hosts=1", "dfsssp", false, true},
                    Shape{"torus:dims=3.3,hosts=1", "lash", false, true}),
    [](const auto& each) {
      std::string name = each.param.engine;
      std::erase(name, '-');
      return name;
    });

TEST(LanesOfOneSet, AreUpDownWhereNoEngineCanMakeTwo) {
  Lives lives("torus:dims=3.3,hosts=1");
  Settings settings = settings_for("dfsssp");
  settings.lids.lmc = 1;
  settings.engine_options.path_sets = true;
  settings.engine_fallback = true;
  settings.ports.max_operational_vls = 1;  // one VL
  lives.live(settings);
  ASSERT_TRUE(lives.settle_up());
  const CycleReport& last = lives.life->reports.back();
  EXPECT_EQ(last.engine, "updn");
  EXPECT_THAT(last.engine_refused, testing::HasSubstr("two sets of paths (sm.path_sets) need 2"));
  EXPECT_THAT(last.notes, testing::Contains("sm.path_sets: updn routes all LIDs of a port alike"));
  EXPECT_EQ(lives.find_fault(), "");
}

/// Under itb-vl nothing proves what a lost cable of this torus asks for.
class ChangesWithoutProof : public Lives, public testing::Test {
 protected:
  ChangesWithoutProof() : Lives("torus:dims=8.8,hosts=1") {}

  void lose_a_cable(Unproved unproved) {
    Settings settings = settings_for("itb-vl");
    settings.strategy.planner.unproved = unproved;
    live(std::move(settings));
    ASSERT_TRUE(settle_up());
    before = life->manager.active().current();
    life->tap.on_send = [this](const Smp& smp) -> Result<bool> {
      sets += smp.method == Method::Set && is_about(smp, AttributeId::LinearForwardingTable);
      return true;
    };
    set_first_cable(false);
    ASSERT_TRUE(life->settle());
  }

  [[nodiscard]] std::string alarm() const {
    const std::vector<std::string> alarms = life->manager.alarms();
    return alarms.empty() ? "" : alarms.front();
  }

  std::shared_ptr<const ActiveSubnet> before;  // published
  unsigned sets = 0;
};

TEST_F(ChangesWithoutProof, AreWrittenWithAnAlarmThatNamesTheCircle) {
  lose_a_cable(Unproved::Write);
  const CycleReport& last = life->reports.back();
  EXPECT_EQ(last.transition.kind, TransitionKind::NextHopFirst);
  EXPECT_TRUE(last.up());
  EXPECT_THAT(alarm(), testing::HasSubstr("was written that nothing proves free of deadlock"));
  EXPECT_THAT(alarm(), testing::ContainsRegex("cycle .*:[0-9]+ VL [0-9]+ > "));
  EXPECT_GT(sets, 0u);
  EXPECT_EQ(find_fault(), "");
  EXPECT_NE(life->manager.active().current(), before);
}

TEST_F(ChangesWithoutProof, ThatWaitAreNeitherWrittenNorPublishedAndAreTriedAgain) {
  lose_a_cable(Unproved::Hold);
  ASSERT_TRUE(life->reports.back().error);
  EXPECT_EQ(life->reports.back().transition.kind, TransitionKind::Held);
  EXPECT_THAT(alarm(), testing::HasSubstr("the change waits"));
  EXPECT_EQ(sets, 0u);
  EXPECT_EQ(life->manager.active().current(), before) << "SLs of routes that are not there";
  EXPECT_EQ(life->manager.share_in_force(), before);

  const std::size_t cycles = life->reports.size();
  run_until([&] { return life->reports.size() > cycles; }, std::chrono::minutes(10));
  ASSERT_GT(life->reports.size(), cycles) << "it is tried again";
  EXPECT_EQ(life->reports.back().transition.kind, TransitionKind::Held);

  set_first_cable(true);
  ASSERT_TRUE(life->settle_up());
  EXPECT_EQ(alarm(), "");
  EXPECT_EQ(find_fault(), "");
}

TEST_F(ChangesWithoutProof, AreMadeWhileEveryPortIsDownWhereTheOperatorSaysSo) {
  lose_a_cable(Unproved::Block);
  EXPECT_EQ(life->reports.back().transition.kind, TransitionKind::DeactivateAll);
  ASSERT_TRUE(life->settle_up());
  EXPECT_EQ(find_fault(), "");
}

// What cannot be proved is to leave the cable out; the host is another matter.
TEST(AChangeThatWaits, KeepsNoHostOutWhereAnotherOneIsWritten) {
  Lives lives("torus:dims=4.4,hosts=1");
  const std::uint32_t late = lives.TimedFabric::node("host-00005");
  lives.fabric.set_link(late, PortNum{1}, false);
  Settings settings = settings_for("itb-vl");
  settings.strategy.planner.unproved = Unproved::Hold;
  lives.live(std::move(settings));
  ASSERT_TRUE(lives.settle_up());
  SimulatedManager& life = *lives.life;
  const Cable cable = cables_between_switches(lives.fabric.spec()).front();
  life.tap.on_send = [&](const Smp& smp) -> Result<bool> {
    return smp.method != Method::Set || !is_about(smp, AttributeId::PortInfo) ||
           decode_port_info(smp.data)->state() != PortState::Active ||
           find_destination(lives, smp) != cable.node ||
           decode_port_info_modifier(smp.attribute_modifier).port != cable.port;
  };
  lives.set_first_cable(false);
  lives.set_first_cable(true);  // before anybody looked
  ASSERT_TRUE(life.settle());
  ASSERT_GT(life.reports.back().ports_down_after, 0u);

  lives.fabric.set_link(late, PortNum{1}, true);
  ASSERT_TRUE(life.settle());
  const CycleReport& last = life.reports.back();
  EXPECT_FALSE(last.error) << last.error->context;
  EXPECT_TRUE(last.routes.ok());
  EXPECT_GT(last.ports_down_after, 0u);
  EXPECT_EQ(last.counts.lids, 32u);
  EXPECT_EQ(lives.fabric.port_info(late, PortNum{1}).state(), PortState::Active);
  const auto active = life.manager.active().current();
  EXPECT_EQ(active, life.manager.share_in_force());
  EXPECT_TRUE(active->fabric().find_node(lives.fabric.spec().nodes[late].guid));
  EXPECT_EQ(lives.find_fault(), "") << "what is in force is in the switches";
}

}  // namespace lanes_test
}  // namespace smd::test
