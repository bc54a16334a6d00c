// Random changes of random fabrics whose routes are free of deadlock only because packets go on
// different VLs: whatever is proved is carried out entry by entry and row by row in random order,
// and no packet of any SL that a host may use ever closes a circle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <optional>

#include "smd/plan/make/planner.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/routing/sl_to_vl.h"
#include "tests/unit/plan/change_on_vls.h"
#include "tests/unit/plan/vl_oracle.h"

namespace smd::test {
namespace {

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
    // More may be discarded than would close a cycle.
    TransitionPlan forged = plan;
    forged.blocked_sls.clear();
    if (check_transition(task, forged).fault.empty()) {
      ASSERT_NO_FATAL_FAILURE(carry_out(task, forged, rng)) << "SLs that are not discarded";
    }
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
  unsigned changes = 0, free = 0, blind = 0, several = 0, phases = 0, unproved = 0, led = 0,
           blocked_sls = 0;

  void add(const TransitionPlan& plan) {
    ++changes;
    if (!plan.certified()) ++unproved;
    if (plan.discards_sls()) ++blocked_sls;
    if (!plan.blocked_sls.empty() && !plan.discards_sls()) ++led;
    if (plan.kind != TransitionKind::Certified && plan.kind != TransitionKind::Nothing) return;
    ++free;
    if (plan.vls == 1) ++blind;
    if (plan.phases.size() > 1) ++several;
    phases += static_cast<unsigned>(plan.phases.size());
  }

  void print(const std::string& what) const {
    std::printf(
        "%s: %u changes on several lanes, %u (%.1f %%) without blocking (%u of them without "
        "telling lanes apart, %u with SLs led over other lanes, %u in several phases, %.2f "
        "phases), %u with SLs discarded, %u unproved\n",
        what.c_str(),
        changes,
        free,
        changes == 0 ? 0.0 : 100.0 * free / changes,
        blind,
        led,
        several,
        free == 0 ? 0.0 : 1.0 * phases / free,
        blocked_sls,
        unproved);
  }
};

/// Of a change that nothing proves: why, and what the other two answers would be.
void expect_operator_decides(const TransitionTask& task, const TransitionPlan& written) {
  ASSERT_EQ(written.kind, TransitionKind::NextHopFirst);
  ASSERT_NE(written.why.find("cycle S"), std::string::npos) << written.why;
  const TransitionPlan held = plan_transition(task, {.unproved = Unproved::Hold});
  ASSERT_EQ(held.kind, TransitionKind::Held);
  ASSERT_TRUE(held.phases.empty());
  ASSERT_FALSE(held.certified());
  ASSERT_EQ(check_transition(task, held).fault, "");
  const TransitionPlan blocked = plan_transition(task, {.unproved = Unproved::Block});
  ASSERT_EQ(blocked.kind, TransitionKind::DeactivateAll);
  ASSERT_TRUE(blocked.certified());
  ASSERT_EQ(check_transition(task, blocked).fault, "");
}

class OnLanes : public testing::TestWithParam<const char*> {
 protected:
  /// Of the seeds 1 … last, as far as the engine takes what was drawn.
  template <class Visit>
  static void for_each_change(std::uint64_t last, Visit&& visit) {
    for (std::uint64_t seed = 1; seed <= last && !HasFatalFailure(); ++seed) {
      SCOPED_TRACE(seed);
      Draw draw{seed};
      Keeps keeps{};
      const std::optional<Change> change = draw_change_on_lanes(draw, GetParam(), keeps);
      if (!change) continue;
      const SlToVlTask vls = lane_task_of(*change);
      TransitionTask task = change->task();
      task.sl_to_vl = &vls;
      visit(task, keeps, draw.rng());
    }
  }
};

TEST_P(OnLanes, ProvedPlansNeverShowACycle) {
  std::array<Tally, 2> tallies;
  for_each_change(160, [&](const TransitionTask& task, Keeps keeps, Rng& rng) {
    const TransitionPlan plan = plan_transition(task, {});
    tallies[keeps == Keeps::Nothing ? 0 : 1].add(plan);
    ASSERT_NE(plan.kind, TransitionKind::DeactivateAll);
    ASSERT_EQ(check_transition(task, plan).fault, "") << print_transition_kind(plan.kind);
    if (!plan.certified()) {
      ASSERT_NO_FATAL_FAILURE(expect_operator_decides(task, plan));
      return;
    }
    ASSERT_NO_FATAL_FAILURE(carry_out(task, plan, rng));
    forge(task, plan, rng);
  });
  tallies[0].print(std::string(GetParam()) + ", to another engine");
  tallies[1].print(std::string(GetParam()) + ", routes kept");
  EXPECT_GT(tallies[0].changes + tallies[1].changes, 15u);
}

TEST_P(OnLanes, WhateverTheBudgetPlansAreSafeAndTheSameAgain) {
  unsigned spent = 0, certified = 0;
  for_each_change(40, [&](const TransitionTask& task, Keeps /*keeps*/, Rng& rng) {
    if (plan_transition(task, {}).certified()) ++certified;
    for (const std::uint64_t steps : {0u, 300u, 3'000u, 30'000u}) {
      SCOPED_TRACE(fmt::format("{} steps", steps));
      const PlannerOptions options{.max_steps = steps};
      const TransitionPlan plan = plan_transition(task, options);
      const TransitionPlan again = plan_transition(task, options);
      ASSERT_EQ(plan.kind, again.kind);
      ASSERT_EQ(plan.why, again.why);
      ASSERT_TRUE(plan.phases == again.phases);
      ASSERT_EQ(check_transition(task, plan).fault, "") << print_transition_kind(plan.kind);
      if (plan.certified()) {
        ASSERT_NO_FATAL_FAILURE(carry_out(task, plan, rng));
      } else if (plan.why.find("sm.plan_budget_ms is spent") != std::string::npos) {
        ++spent;
      }
    }
  });
  EXPECT_GT(spent, 0u);
  EXPECT_GT(certified, 0u);
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
