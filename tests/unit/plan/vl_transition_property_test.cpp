// Random changes of random fabrics whose routes are free of deadlock only because packets go on
// different VLs: whatever is proved is carried out entry by entry and row by row in random order,
// and no packet of any SL that a host may use ever closes a circle.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <optional>

#include "smd/plan/make/planner.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/routing/sl_to_vl.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/plan/random_change.h"
#include "tests/unit/plan/vl_oracle.h"

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

SlToVlMaps rows_of(const Fabric& fabric, const RoutingTables& routes) {
  return build_switch_rows(fabric, routes.sl_to_vl, modulo_row(routes.vls));
}

SlToVlTask lane_task_of(const Change& change) {
  const Fabric& then = *change.before;
  const Fabric& now = *change.after;
  const Lid top = change.new_routes.lft.top();
  const SlToVlMaps before = rows_of(then, change.old_routes);
  SlToVlTask task{.advertised = sls_of(then, change.old_routes, now, top),
                  .wanted_sls = sls_of(now, change.new_routes, now, top),
                  .held = SlToVlMaps{now},
                  .wanted = rows_of(now, change.new_routes),
                  .unknown = {}};
  task.held.add_row(modulo_row(8));
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    for_each_turn(now, sw, [&](PortNum in, PortNum out) {
      if (node)
        task.held.set_row(
            sw, in, out, task.held.add_row(before.row(then.switch_of[*node], in, out)));
    });
  }
  return task;
}

/// Everything in random order within its list.
void carry_out(const TransitionTask& task, const TransitionPlan& plan, Rng& rng) {
  const SlToVlMaps wanted_sl_to_vl = with_blocked_sls(task.sl_to_vl->wanted, plan.blocked_sls);
  LaneMoment moment{.at = Moment::begin(task), .task = task.sl_to_vl, .rows = task.sl_to_vl->held};
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
    if (phase.sl_to_vl) {
      std::vector<Turn> turns;
      for (const SwitchIdx sw : task.fabric->switch_node.indices())
        for_each_turn(*task.fabric, sw, [&](PortNum in, PortNum out) {
          turns.push_back({sw, in, out});
        });
      for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[rng.below(i)]);
      for (std::size_t i = 0; i < turns.size(); ++i) {
        const auto [sw, in, out] = turns[i];
        moment.rows.set_row(sw, in, out, moment.rows.add_row(wanted_sl_to_vl.row(sw, in, out)));
        if (i % (turns.size() / 3 + 1) == 0) {
          ASSERT_NO_FATAL_FAILURE(look("rows"));
        }
      }
    }
    moment.advertised = moment.advertised || phase.advertised;
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
  if (!plan.blocked_sls.empty()) {
    TransitionPlan forged = plan;
    forged.blocked_sls.clear();
    EXPECT_NE(check_transition(task, forged).fault, "") << "SLs that are not discarded";
  }
  if (plan.vls > 1 && !plan.phases.empty()) {
    TransitionPlan forged = plan;
    for (TransitionPhase& phase : forged.phases) phase.advertised = false;
    EXPECT_NE(check_transition(task, forged).fault, "") << "hosts that are not told";
    forged = plan;
    ChannelOrder& order = forged.phases[rng.below(plan.phases.size())].certificate;
    for (const PortIdx vl : order.indices()) order[vl] = ~order[vl];
    EXPECT_NE(check_transition(task, forged).fault, "") << "an order that falls";
  }
  if (sl_to_vl_differs(task) && !plan.phases.empty()) {
    TransitionPlan forged = plan;
    for (TransitionPhase& phase : forged.phases) phase.sl_to_vl = false;
    EXPECT_NE(check_transition(task, forged).fault, "") << "rows that are not written";
  }
}

struct Tally {
  unsigned changes = 0, free = 0, blind = 0, several = 0, phases = 0, down = 0, blocked_sls = 0;

  void add(const TransitionPlan& plan) {
    ++changes;
    if (plan.kind == TransitionKind::DeactivateAll) ++down;
    if (!plan.blocked_sls.empty()) ++blocked_sls;
    if (plan.kind != TransitionKind::Certified && plan.kind != TransitionKind::Nothing) return;
    ++free;
    if (plan.vls == 1) ++blind;
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
        blocked_sls,
        down);
  }
};

/// None when the engine refuses the fabric, or one VL will do before and afterwards.
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
  const auto vls = [](const RoutingTables& routes) {
    return routes.vls > 1 || !routes.sl_to_vl.empty();
  };
  if (!vls(change->old_routes) && !vls(change->new_routes)) return std::nullopt;
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
    const SlToVlTask vls = lane_task_of(*change);
    TransitionTask task = change->task();
    task.sl_to_vl = &vls;
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
