// Random changes of random fabrics whose routes are free of deadlock only because packets go on
// different lanes: whatever is proved is carried out entry by entry and row by row in random order,
// and no packet of any SL that a host may use ever closes a circle.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <optional>

#include "smd/plan/check_transition.h"
#include "smd/plan/planner.h"
#include "smd/routing/check.h"
#include "smd/routing/switch_rows.h"
#include "tests/unit/plan/lane_oracle.h"
#include "tests/unit/plan/random_change.h"

namespace smd::test {
namespace {

SlSets sls_of(const Fabric& then, const RoutingTables& routes, const Fabric& now, Lid top) {
  SlSets sets{now.switch_count(), top};
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    for (std::uint16_t l = 1; node && l <= routes.lft.top().value() && l <= top.value(); ++l) {
      for (std::uint8_t sl = 0; sl < 16; ++sl) {
        if (routes.path_sls.empty() || routes.path_sls.sl(then.switch_of[*node], Lid{l}) == sl)
          sets.add(sw, Lid{l}, sl);
      }
    }
  }
  return sets;
}

LaneMaps rows_of(const Fabric& fabric, const RoutingTables& routes) {
  return build_switch_rows(fabric, routes.lanes, modulo_row(routes.vls));
}

LaneTask lane_task_of(const Change& change) {
  const Fabric& then = *change.before;
  const Fabric& now = *change.after;
  const Lid top = change.new_routes.lft.top();
  const LaneMaps before = rows_of(then, change.old_routes);
  LaneTask task{.told = sls_of(then, change.old_routes, now, top),
                .wanted_sls = sls_of(now, change.new_routes, now, top),
                .held = LaneMaps{now},
                .wanted = rows_of(now, change.new_routes),
                .unknown = {}};
  task.held.add_row(modulo_row(8));
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    for_each_way(now, sw, [&](PortNum in, PortNum out) {
      if (node)
        task.held.set_row(
            sw, in, out, task.held.add_row(before.row(then.switch_of[*node], in, out)));
    });
  }
  return task;
}

/// Everything in random order within its list.
void carry_out(const TransitionTask& task, const TransitionPlan& plan, Rng& rng) {
  const LaneMaps wanted_rows = with_cuts(task.lanes->wanted, plan.cut);
  LaneMoment moment{.at = Moment::begin(task), .task = task.lanes, .rows = task.lanes->held};
  const bool silent =
      plan.kind == TransitionKind::DeactivateAll || plan.kind == TransitionKind::Initial;
  const auto look = [&](const char* when) {
    const LaneFinding finding = find_lane_faults(moment);
    ASSERT_EQ(finding.cycle, "") << when;
    if (plan.kind == TransitionKind::Certified) {
      ASSERT_EQ(finding.lost, "") << when;
    }
  };
  ASSERT_NO_FATAL_FAILURE(look("before"));
  for (const TransitionPhase& phase : plan.phases) {
    moment.at.blocked.insert(phase.block.begin(), phase.block.end());
    for (const Turn& turn : phase.restore) moment.at.blocked.erase(turn);
    for (const PortIdx port : phase.deactivate) moment.at.active.erase(port);
    moment.asked = moment.asked || silent;
    if (phase.rows) {
      std::vector<Turn> ways;
      for (const SwitchIdx sw : task.fabric->switch_node.indices())
        for_each_way(*task.fabric, sw, [&](PortNum in, PortNum out) {
          ways.push_back({sw, in, out});
        });
      for (std::size_t i = ways.size(); i > 1; --i) std::swap(ways[i - 1], ways[rng.below(i)]);
      for (std::size_t i = 0; i < ways.size(); ++i) {
        const auto [sw, in, out] = ways[i];
        moment.rows.set_row(sw, in, out, moment.rows.add_row(wanted_rows.row(sw, in, out)));
        if (i % (ways.size() / 3 + 1) == 0) {
          ASSERT_NO_FATAL_FAILURE(look("rows"));
        }
      }
    }
    moment.told = moment.told || phase.told;
    std::vector<EntryChange> entries = phase.entries;
    for (std::size_t i = entries.size(); i > 1; --i)
      std::swap(entries[i - 1], entries[rng.below(i)]);
    const std::size_t step = std::max<std::size_t>(1, entries.size() / 5);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      moment.at.tables.set_route(entries[i].sw, entries[i].lid, entries[i].egress);
      if (i % step == 0) {
        ASSERT_NO_FATAL_FAILURE(look("entries"));
      }
    }
    moment.at.active.insert(phase.activate.begin(), phase.activate.end());
    ASSERT_NO_FATAL_FAILURE(look("phase"));
  }
}

/// What a forger might leave out, one at a time.
void forge(const TransitionTask& task, const TransitionPlan& plan, Rng& rng) {
  if (!plan.cut.empty()) {
    TransitionPlan forged = plan;
    forged.cut.clear();
    EXPECT_NE(check_transition(task, forged).fault, "") << "SLs that are not discarded";
  }
  if (plan.lanes > 1 && !plan.phases.empty()) {
    TransitionPlan forged = plan;
    for (TransitionPhase& phase : forged.phases) phase.told = false;
    EXPECT_NE(check_transition(task, forged).fault, "") << "hosts that are not told";
    forged = plan;
    ChannelOrder& order = forged.phases[rng.below(plan.phases.size())].certificate;
    for (const PortIdx lane : order.indices()) order[lane] = ~order[lane];
    EXPECT_NE(check_transition(task, forged).fault, "") << "an order that falls";
  }
  if (rows_differ(task) && !plan.phases.empty()) {
    TransitionPlan forged = plan;
    for (TransitionPhase& phase : forged.phases) phase.rows = false;
    EXPECT_NE(check_transition(task, forged).fault, "") << "rows that are not written";
  }
}

struct Tally {
  unsigned changes = 0, free = 0, blind = 0, several = 0, phases = 0, down = 0, cut = 0;

  void add(const TransitionPlan& plan) {
    ++changes;
    if (plan.kind == TransitionKind::DeactivateAll) ++down;
    if (!plan.cut.empty()) ++cut;
    if (plan.kind != TransitionKind::Certified && plan.kind != TransitionKind::Nothing) return;
    ++free;
    if (plan.lanes == 1) ++blind;
    if (plan.phases.size() > 1) ++several;
    phases += static_cast<unsigned>(plan.phases.size());
  }

  void print(const std::string& what) const {
    std::printf(
        "%s: %u changes on several lanes, %u (%.1f %%) without blocking (%u of them without "
        "telling lanes apart, %u in several phases, %.2f phases), %u with SLs discarded, %u with "
        "all "
        "ports down\n",
        what.c_str(),
        changes,
        free,
        changes == 0 ? 0.0 : 100.0 * free / changes,
        blind,
        several,
        free == 0 ? 0.0 : 1.0 * phases / free,
        cut,
        down);
  }
};

/// None when the engine refuses the fabric, or one lane will do before and afterwards.
std::optional<Change> draw_change_on_lanes(Draw& draw, const std::string& engine, Keeps& keeps) {
  Drawn drawn = draw_change(draw);
  if (drawn.spec.switches > 32) return std::nullopt;
  drawn.spec.old_engine = drawn.spec.new_engine = engine;
  if (drawn.keeps == Keeps::Nothing) drawn.spec.new_engine = engine == "dfsssp" ? "lash" : "dfsssp";
  drawn.spec.old_roots.clear();
  drawn.spec.new_roots.clear();
  drawn.spec.keep_routes = drawn.keeps != Keeps::Nothing;
  keeps = drawn.keeps;
  std::optional<Change> change = try_change(drawn.spec);
  if (!change) return std::nullopt;
  const auto lanes = [](const RoutingTables& routes) {
    return routes.vls > 1 || !routes.lanes.empty();
  };
  if (!lanes(change->old_routes) && !lanes(change->new_routes)) return std::nullopt;
  return change;
}

class OnLanes : public testing::TestWithParam<const char*> {};

TEST_P(OnLanes, ProvedPlansNeverShowACycle) {
  std::array<Tally, 2> tallies;
  for (std::uint64_t seed = 1; seed <= 160; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw{seed};
    Keeps keeps{};
    const std::optional<Change> change = draw_change_on_lanes(draw, GetParam(), keeps);
    if (!change) continue;
    const LaneTask lanes = lane_task_of(*change);
    TransitionTask task = change->task();
    task.lanes = &lanes;
    const TransitionPlan plan = plan_transition(task, {});
    ASSERT_TRUE(plan.certified()) << print_transition_kind(plan.kind) << ": " << plan.why;
    ASSERT_EQ(check_transition(task, plan).fault, "") << print_transition_kind(plan.kind);
    ASSERT_NO_FATAL_FAILURE(carry_out(task, plan, draw.rng()));
    forge(task, plan, draw.rng());
    tallies[keeps == Keeps::Nothing ? 0 : 1].add(plan);
  }
  tallies[0].print(std::string(GetParam()) + ", to another engine");
  tallies[1].print(std::string(GetParam()) + ", routes kept");
  EXPECT_GT(tallies[0].changes + tallies[1].changes, 15u);
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         OnLanes,
                         testing::Values("dfsssp", "lash", "nue", "dor", "itb-vl"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace smd::test
