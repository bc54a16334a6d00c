// A manager that dies while turns are blocked: the next one knows of them and opens them. And one
// that is to choose the engine where another was in force.
#include <gtest/gtest.h>

#include "sim-backend/agents/node_state.h"
#include "smd/base/log.h"
#include "smd/routing/engine.h"
#include "smd/routing/verify/channel_load.h"
#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"
#include "tests/support/relabel.h"

namespace smd::test {
namespace restart_test {

Settings cutting() {
  Settings settings = default_settings();
  settings.strategy =
      make_strategy(parse_reconfiguration_mode("partial+fera+cut-dependencies+delta").value());
  return settings;
}

/// One fabric, several lives of the manager.
struct Lives : testing::Test, TimedFabric {
  Lives() : TimedFabric(spec_of("torus:dims=4.4")) {}

  void live(Settings settings) {
    life.emplace(*this, SimulatedSubnetOptions{.settings = std::move(settings), .kept = kept});
    life->manager.start();
  }

  /// Rows of all switches that discard every SL.
  [[nodiscard]] std::vector<TurnRef> blocked() const {
    SlToVl row;
    row.fill(kManagementVl);
    std::vector<TurnRef> out;
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
      const sim::NodeSpec& node = fabric.spec().nodes[n];
      if (node.type != NodeType::Switch) continue;
      for (unsigned in = 0; in <= node.num_ports(); ++in) {
        for (unsigned to = 0; to <= node.num_ports(); ++to) {
          const PortNum i{static_cast<std::uint8_t>(in)};
          const PortNum o{static_cast<std::uint8_t>(to)};
          if (fabric.sl_to_vl(n, i, o) == row) out.push_back({node.guid, i, o});
        }
      }
    }
    std::ranges::sort(out);
    return out;
  }

  /// Takes one cable after the other until the manager blocks a turn for it; it dies there.
  bool die_with_blocked_turns() {
    for (const Cable& cable : cables_between_switches(fabric.spec())) {
      for (const bool up : {false, true}) {
        fabric.set_link(cable.node, cable.port, up);
        if (!run_until([this] { return !blocked().empty(); }, std::chrono::seconds(1))) continue;
        die();
        return true;
      }
    }
    return false;
  }

  void die() {
    kept = life->kept();
    life.reset();
  }

  PersistentState kept;
  std::optional<SimulatedManager> life;
};

TEST_F(Lives, TurnsThatOneLeftBlockedAreOpenedByTheNext) {
  live(cutting());
  ASSERT_TRUE(life->settle_up());
  EXPECT_TRUE(life->kept().turns.empty());
  ASSERT_TRUE(die_with_blocked_turns());
  for (const TurnRef& turn : blocked())
    EXPECT_TRUE(std::ranges::count(kept.turns, turn)) << "written down before it was blocked";

  live(default_settings());
  ASSERT_TRUE(life->settle_up());
  EXPECT_TRUE(blocked().empty());
  EXPECT_TRUE(life->kept().turns.empty()) << "nothing is left to be opened";
}

/// As from an old copy of the state directory.
TEST_F(Lives, HostsThatGetOtherLidsThanTheyRunWithAreNamed) {
  live(default_settings());
  ASSERT_TRUE(life->settle_up());
  die();
  const auto said = [this] {
    const auto before = log::entries_after(0);
    const std::uint64_t last = before.empty() ? 0 : before.back().number;
    live(default_settings());
    EXPECT_TRUE(life->settle_up());
    std::string out;
    for (const log::Entry& each : log::entries_after(last)) {
      if (each.event == "lid.moved") out += each.text + "\n";
    }
    return out;
  };
  EXPECT_EQ(said(), "");
  die();
  const auto lid_of = [this](const char* host) -> Lid& {
    const sim::FabricSpec& spec = fabric.spec();
    return kept.lids.at(spec.nodes[sim::find_node(spec, host)].ports[1].guid).base;
  };
  Lid& one = lid_of("host-00003");
  Lid& other = lid_of("host-00005");
  const std::string moves = fmt::format("from {} to {}", one, other);
  std::swap(one, other);
  const std::string text = said();
  EXPECT_NE(text.find("ports=2 of="), std::string::npos) << text;
  EXPECT_NE(text.find(moves), std::string::npos) << text;
}

/// A life under updn in which cables went and came back; then, unless it goes on, another one under
/// auto.
struct TwoLives : TimedFabric {
  explicit TwoLives(const char* name, bool dies = true) : TimedFabric(spec_of(name)) {
    SimulatedSubnetOptions options;
    options.settings.rebalance_delay = Duration{0};
    life.emplace(*this, options);
    EXPECT_TRUE(life->bring_up());
    for (const std::size_t at : {3u, 11u}) {
      for (const bool up : {false, true}) {
        set_cable(at, up);
        EXPECT_TRUE(life->settle());
      }
    }
    former = life->manager.in_force()->routing->lft;
    life->reports.clear();
    if (!dies) return;
    options.kept = life->kept();
    options.settings.engine = "auto";
    options.settings.rebalance_delay = kDelay;
    life.emplace(*this, options);
    EXPECT_TRUE(life->bring_up());
  }

  static constexpr Duration kDelay = std::chrono::seconds(10);

  void set_cable(std::size_t at, bool up) {
    const Cable cable = cables_between_switches(fabric.spec()).at(at);
    fabric.set_link(cable.node, cable.port, up);
  }

  [[nodiscard]] std::uint64_t blocks_written() const {
    std::uint64_t blocks = 0;
    for (const CycleReport& report : life->reports) blocks += report.blocks_written;
    return blocks;
  }

  [[nodiscard]] const ActiveSubnet& now() const { return *life->manager.in_force(); }

  ForwardingTables former;  // that the first left
  std::optional<SimulatedManager> life;
};

TEST(SecondLifeUnderAuto, WritesNothingAndAChangeCostsWhatItWouldHave) {
  for (const char* const name :
       {"torus:dims=8.8,hosts=2", "irregular:switches=24,ports=16,links=4,hosts=2,seed=3"}) {
    TwoLives on(name);
    EXPECT_EQ(on.now().routing->lft, on.former) << name;
    EXPECT_EQ(on.now().routing->engine, "updn");
    EXPECT_EQ(on.now().routing->chosen_by, "auto");
    EXPECT_EQ(on.blocks_written(), 0u);
    TwoLives goes_on(name, false);
    for (TwoLives* each : {&on, &goes_on}) {
      OracleWatch watch(*each);
      each->set_cable(7, false);
      ASSERT_TRUE(each->life->settle());
      EXPECT_EQ(watch.never_allowed(), "");
      EXPECT_EQ(find_broken_route(*each), "");
    }
    EXPECT_GT(on.blocks_written(), 0u);
    EXPECT_EQ(on.blocks_written(), goes_on.blocks_written()) << name;
    EXPECT_EQ(on.now().routing->lft, goes_on.now().routing->lft) << name;
  }
}

TEST(SecondLifeUnderAuto, AtRestTakesWhatIsWorthATenthMoreAndCanBeReachedWithoutBlocking) {
  unsigned taken = 0, dropped = 0, stayed = 0;
  for (const char* const name : {"torus:dims=8.8,hosts=2",
                                 "torus:dims=4.4,hosts=2",
                                 "torus:dims=5.5,hosts=2",
                                 "hamming:dims=4.4,hosts=4",
                                 "dragonfly:a=4,c=2,h=2",
                                 "fat-tree:k=8,levels=3",
                                 "irregular:switches=12,ports=8,links=4,hosts=2,seed=3",
                                 "irregular:switches=16,ports=16,links=4,hosts=4,seed=2",
                                 "irregular:switches=24,ports=16,links=4,hosts=2,seed=1",
                                 "irregular:switches=24,ports=16,links=4,hosts=2,seed=3"}) {
    TwoLives on(name);
    const ActiveSubnet before = on.now();
    RoutingRequest request{.options = {.auto_vls = 1}};
    const auto best = find_engine("auto")->compute(before.fabric(), before.lids, request);
    ASSERT_TRUE(best);
    const bool worth =
        are_worth_a_change(before.fabric(), before.lids, before.routing, *best, TrafficGoal::Both);
    OracleWatch watch(on);
    const std::uint64_t changes = on.life->manager.change_count();
    on.run_for(2 * TwoLives::kDelay);
    EXPECT_EQ(watch.never_allowed(), "") << name;
    EXPECT_EQ(find_broken_route(on), "") << name;
    if (on.life->manager.change_count() == changes) {
      EXPECT_EQ(on.now().routing->lft, before.routing->lft) << name;
      ++(worth ? dropped : stayed);
      continue;
    }
    const CycleReport& relief = on.life->manager.changes().front();
    EXPECT_EQ(relief.reason, "relief after a change") << name;
    EXPECT_EQ(relief.transition.kind, TransitionKind::Certified) << name;
    EXPECT_TRUE(relief.transition.certified) << name;
    EXPECT_EQ(relief.transition.blocked, 0u) << name;
    if (on.now().routing->lft == best->lft) {
      EXPECT_TRUE(worth) << name;
      ++taken;
    } else {
      EXPECT_EQ(on.now().routing->orientation, before.routing->orientation) << name;
    }
  }
  EXPECT_GT(taken, 0u);
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(stayed, 0u);
}

enum class Fate : std::uint8_t { GoesOn, Restarts, IsTakenOver };

/// Directions that nobody would choose on the fabric as it is: the switch at the top of it was away
/// when they were chosen. A host is away, too. Unless it goes on, another life: under auto, or with
/// a copy on another host.
struct LaidWithoutTheTop : TimedFabric {
  explicit LaidWithoutTheTop(Fate fate)
      : TimedFabric(spec_of("irregular:switches=24,ports=16,links=4,hosts=2,seed=3")) {
    set_links_of(host(), false);
    SimulatedSubnetOptions options;
    options.settings.rebalance_delay = Duration{0};
    life.emplace(*this, options);
    EXPECT_TRUE(life->bring_up());
    const SwitchRanks ranks = life->manager.in_force()->routing->orientation.by_guid;
    const Guid top = std::ranges::min_element(ranks, {}, &SwitchRanks::value_type::second)->first;
    const auto& nodes = fabric.spec().nodes;
    const auto at = std::ranges::find(nodes, top, &sim::NodeSpec::guid) - nodes.begin();
    set_links_of(static_cast<std::uint32_t>(at), false);
    life.emplace(*this, options);
    EXPECT_TRUE(life->bring_up());
    set_links_of(static_cast<std::uint32_t>(at), true);
    EXPECT_TRUE(life->settle());
    if (fate != Fate::GoesOn) {
      options.kept = life->kept();
      if (fate == Fate::Restarts) options.settings.engine = "auto";
      if (fate == Fate::IsTakenOver) options.node = other_host();
      life.emplace(*this, options);
      EXPECT_TRUE(life->bring_up());
    }
    life->reports.clear();
  }

  /// The last one: the manager is elsewhere.
  [[nodiscard]] std::uint32_t host() const {
    const auto& nodes = fabric.spec().nodes;
    const auto last =
        std::ranges::find(nodes.rbegin(), nodes.rend(), NodeType::Ca, &sim::NodeSpec::type);
    return static_cast<std::uint32_t>(nodes.rend() - last - 1);
  }

  /// The first that is not the manager's.
  [[nodiscard]] std::uint32_t other_host() const {
    const auto& nodes = fabric.spec().nodes;
    std::uint32_t n = 0;
    while (nodes[n].type != NodeType::Ca || n == fabric.spec().sm_node) ++n;
    return n;
  }

  /// Of all switches, whatever numbers the manager has for them.
  [[nodiscard]] std::vector<PortNum> entries() const {
    std::vector<PortNum> out;
    const Lid top = life->manager.in_force()->routing->lft.top();
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
      if (fabric.spec().nodes[n].type != NodeType::Switch) continue;
      for (std::uint16_t lid = 1; lid <= top.value(); ++lid) out.push_back(fabric.lft(n, Lid{lid}));
    }
    return out;
  }

  void set_links_of(std::uint32_t node, bool up) {
    const sim::NodeSpec& spec = fabric.spec().nodes[node];
    for (unsigned p = 1; p <= spec.num_ports(); ++p) {
      if (spec.ports[p].peer_node != sim::kNoNode)
        fabric.set_link(node, PortNum{static_cast<std::uint8_t>(p)}, up);
    }
  }

  std::optional<SimulatedManager> life;
};

TEST(SecondLife, AddsAHostInTheDirectionsOfTheRoutesThatItFound) {
  LaidWithoutTheTop goes_on(Fate::GoesOn), restarts(Fate::Restarts);
  LaidWithoutTheTop is_taken_over(Fate::IsTakenOver);
  std::vector<std::uint64_t> blocks;
  for (LaidWithoutTheTop* each : {&goes_on, &restarts, &is_taken_over}) {
    OracleWatch watch(*each);
    each->set_links_of(each->host(), true);
    ASSERT_TRUE(each->life->settle());
    EXPECT_EQ(watch.never_allowed(), "");
    EXPECT_EQ(find_broken_route(*each), "");
    std::uint64_t& written = blocks.emplace_back();
    for (const CycleReport& report : each->life->reports) written += report.blocks_written;
    EXPECT_GT(written, 0u);
    EXPECT_EQ(written, blocks.front());
    EXPECT_EQ(each->entries(), goes_on.entries());
  }
}

/// Routes of a regular shape whose places have the names of a whole one. A switch goes; then,
/// unless it goes on, another life, in the end on another host.
struct LivesOfAShape : TimedFabric {
  LivesOfAShape(const sim::FabricSpec& spec, const char* engine, std::uint32_t lost, Fate fate)
      : TimedFabric(spec) {
    SimulatedSubnetOptions options;
    options.settings.engine = engine;
    options.settings.rebalance_delay = Duration{0};
    life.emplace(*this, options);
    EXPECT_TRUE(life->bring_up());
    fabric.set_node(lost, false);
    EXPECT_TRUE(life->settle());
    life->reports.clear();
    if (fate == Fate::GoesOn) return;
    options.kept = life->kept();
    if (fate == Fate::IsTakenOver) options.node = other_host(lost);
    life.emplace(*this, options);
    EXPECT_TRUE(life->bring_up());
  }

  /// Neither the manager's nor one that is lost with its switch.
  [[nodiscard]] std::uint32_t other_host(std::uint32_t lost) const {
    const auto& nodes = fabric.spec().nodes;
    std::uint32_t n = 0;
    while (nodes[n].type != NodeType::Ca || n == fabric.spec().sm_node ||
           nodes[n].ports[1].peer_node == lost)
      ++n;
    return n;
  }

  [[nodiscard]] std::uint64_t blocks_written() const {
    std::uint64_t blocks = 0;
    for (const CycleReport& report : life->reports) blocks += report.blocks_written;
    return blocks;
  }

  [[nodiscard]] const RoutingTables& now() const { return life->manager.in_force()->routing; }

  /// Of all switches, whatever numbers the manager has for them.
  [[nodiscard]] std::vector<PortNum> entries() const {
    std::vector<PortNum> out;
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
      if (fabric.spec().nodes[n].type != NodeType::Switch) continue;
      for (std::uint16_t lid = 1; lid <= now().lft.top().value(); ++lid)
        out.push_back(fabric.lft(n, Lid{lid}));
    }
    return out;
  }

  std::optional<SimulatedManager> life;
};

class SecondLifeOfAShape : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(SecondLifeOfAShape, NamesItsPlacesAsTheFirst) {
  const auto& [engine, call] = GetParam();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    sim::FabricSpec spec = spec_of(call);
    sim::relabel(spec, seed);
    std::uint32_t lost = 0;
    while (spec.nodes[lost].description != "sw-1-1") ++lost;
    LivesOfAShape goes_on(spec, engine, lost, Fate::GoesOn);
    LivesOfAShape restarts(spec, engine, lost, Fate::Restarts);
    LivesOfAShape is_taken_over(spec, engine, lost, Fate::IsTakenOver);
    for (LivesOfAShape* each : {&goes_on, &restarts, &is_taken_over}) {
      SCOPED_TRACE(fmt::format("{} {} {}", call, seed, each == &restarts));
      ASSERT_EQ(each->now().engine, engine);
      EXPECT_EQ(each->blocks_written(), 0u);
      each->fabric.set_node(lost, true);
      ASSERT_TRUE(each->life->settle());
      EXPECT_EQ(find_broken_route(*each), "");
      EXPECT_EQ(each->entries(), goes_on.entries());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         SecondLifeOfAShape,
                         testing::Values(std::pair{"dor", "torus:dims=5.5,hosts=1"},
                                         std::pair{"dor", "torus:dims=5.5,hosts=1,mesh=1"},
                                         std::pair{"hamming", "hamming:dims=4.4,hosts=1"},
                                         std::pair{"dragonfly",
                                                   "dragonfly:a=4,h=2,c=1,local-trunk=2"}));

/// Whoever wrote the tables is gone and left no state, as when a site changes managers.
class FirstLifeUnderAuto : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(FirstLifeUnderAuto, KeepsWhatItFindsAndAtRestWritesWhatIsMoreEven) {
  TimedFabric on(spec_of("fat-tree:k=8,levels=2"));
  SimulatedSubnetOptions options;
  std::optional<SimulatedManager> life;
  const auto heaviest = [&life] {
    const ActiveSubnet& now = *life->manager.in_force();
    return measure_load(now.fabric(), now.lids, now.routing->lft).max;
  };
  const auto live = [&](const std::vector<std::string>& engines, OrientationSearch search) {
    options.settings.engine = engines.front();
    options.settings.next_engines.assign(engines.begin() + 1, engines.end());
    options.settings.engine_options.orientation_search = search;
    life.emplace(on, options);
    return life->bring_up();
  };
  // In a tree a bad choice of directions.
  ASSERT_TRUE(live({"updn"}, OrientationSearch::DepthFirst));
  const ForwardingTables found = life->manager.in_force()->routing->lft;
  const std::uint64_t crowded = heaviest();

  ASSERT_TRUE(live(GetParam(), OrientationSearch::BreadthFirst));
  EXPECT_EQ(life->manager.in_force()->routing->lft, found);
  OracleWatch watch(on);
  on.run_for(2 * options.settings.rebalance_delay);
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_EQ(find_broken_route(on), "");
  const ActiveSubnet& now = *life->manager.in_force();
  const auto fresh =
      find_engine("auto")->compute(now.fabric(), now.lids, {.options = {.auto_vls = 1}});
  ASSERT_TRUE(fresh);
  const std::uint64_t least = measure_load(now.fabric(), now.lids, fresh->lft).max;
  ASSERT_GT(20 * crowded, 21 * least);
  EXPECT_LE(20 * heaviest(), 21 * least);
}

INSTANTIATE_TEST_SUITE_P(FirstOrNot,
                         FirstLifeUnderAuto,
                         testing::Values(std::vector<std::string>{"auto"},
                                         std::vector<std::string>{"hamming", "auto"}));

}  // namespace restart_test
}  // namespace smd::test
