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
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {
namespace vl_transition_property_test {

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

// Single cables of networks that need several VLs: each is lost, and comes back.

struct CableSurvey {
  unsigned losses = 0, free_losses = 0, free_returns = 0;
  std::size_t entries = 0, told_anew = 0;  // of losses: entries that change, SLs that do
  unsigned robbed = 0;                     // see count_robbed()
};

Change change_of(const Generated& was,
                 const RoutingTables& before,
                 const Generated& is,
                 const RoutingTables& now) {
  return {.before = was.shared,
          .after = is.shared,
          .lids_before = was.lids,
          .lids_after = is.lids,
          .old_routes = before,
          .new_routes = now,
          .held = before.lft};
}

/// From a switch to a host, by tables; calls visit(switch, in, out) at every switch but the last.
/// False: no way there.
template <class Visit>
bool walk(const Change& change, const ForwardingTables& lft, SwitchIdx from, Lid lid, Visit visit) {
  const Fabric& fabric = *change.after;
  const PortIdx last = fabric.peer[change.lids_after.owner_of(lid)];
  PortNum in{0};
  for (std::size_t hops = 0; hops <= fabric.switch_count(); ++hops) {
    const PortNum out = lft.route(from, lid);
    const PortIdx port = fabric.port_of(fabric.switch_node[from], out);
    if (port == last) return true;
    if (fabric.peer[port] == kNone<PortIdx>) return false;
    visit(from, in, out);
    in = fabric.number_of(fabric.peer[port]);
    from = fabric.switch_at(fabric.peer[port]);
  }
  return false;
}

/// Pairs of a switch and a host whose path the change did not cut and whose packets, with the SL
/// that hosts were told before, are discarded once all is written.
unsigned count_robbed(const Change& change, const TransitionPlan& plan) {
  const Fabric& fabric = *change.after;
  const SlToVlMaps rows = with_blocked_sls(rows_of(fabric, change.new_routes), plan.blocked_sls);
  unsigned robbed = 0;
  for (unsigned value = 1; value <= change.lids_after.top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = change.lids_after.owner_of(lid);
    if (owner == kNone<PortIdx> || fabric.is_switch(fabric.node_of[owner])) continue;
    for (const SwitchIdx from : fabric.switch_node.indices()) {
      if (!walk(change, change.old_routes.lft, from, lid, [](auto...) {})) continue;
      const unsigned sl = change.old_routes.path_sls.sl(from, lid);
      bool passes = true;
      passes = walk(change,
                    change.new_routes.lft,
                    from,
                    lid,
                    [&](SwitchIdx sw, PortNum in, PortNum out) {
                      passes = passes && rows.row(sw, in, out)[sl] != kManagementVl;
                    }) &&
               passes;
      robbed += !passes;
    }
  }
  return robbed;
}

/// The plan, when the judge has nothing against it.
TransitionPlan plan_and_judge(const Change& change) {
  const SlToVlTask vls = lane_task_of(change);
  TransitionTask task = change.task();
  task.sl_to_vl = &vls;
  TransitionPlan plan = plan_transition(task, {});
  EXPECT_EQ(check_transition(task, plan).fault, "") << print_transition_kind(plan.kind);
  return plan;
}

CableSurvey survey_cables(const std::string& call, const char* engine, unsigned each) {
  CableSurvey survey;
  const Generated whole = generated(call);
  const RoutingTables first =
      find_engine(engine)->compute(whole.fabric, whole.lids, {.max_vls = 8}).value();
  EXPECT_GT(first.vls, 1u);
  const auto cables = Reshaped{call}.cables();
  for (std::size_t at = 0; at < cables.size(); at += each) {
    SCOPED_TRACE(cables[at].first + " to " + cables[at].second);
    const auto left = std::make_shared<const Fabric>(
        Reshaped{call}.without_cable(cables[at].first, cables[at].second).build());
    const Generated cut{left, *left, whole.lids};
    const auto route = [&](const Generated& on, const Generated& was, const RoutingTables& before) {
      const PreviousRoutes in_force{&was.fabric, &was.lids, &before};
      return find_engine(engine)
          ->compute(on.fabric, on.lids, {.in_force = &in_force, .max_vls = 8})
          .value();
    };
    const RoutingTables kept = route(cut, whole, first);
    const RoutingTables back = route(whole, cut, kept);
    const auto is_free = [](const TransitionPlan& plan) {
      return plan.kind == TransitionKind::Certified || plan.kind == TransitionKind::Nothing;
    };
    ++survey.losses;
    const Change loss = change_of(whole, first, cut, kept);
    const TransitionPlan plan = plan_and_judge(loss);
    survey.free_losses += is_free(plan);
    survey.robbed += count_robbed(loss, plan);
    survey.free_returns += is_free(plan_and_judge(change_of(cut, kept, whole, back)));
    for (const SwitchIdx sw : whole.fabric.switch_node.indices()) {
      for (unsigned lid = 1; lid <= whole.lids.top.value(); ++lid) {
        const Lid to{static_cast<std::uint16_t>(lid)};
        survey.entries += first.lft.route(sw, to) != kept.lft.route(sw, to);
        survey.told_anew += first.path_sls.sl(sw, to) != kept.path_sls.sl(sw, to);
        EXPECT_EQ(kept.path_sls.sl(sw, to), back.path_sls.sl(sw, to));
      }
    }
  }
  std::printf(
      "%s, %s: %u cables, %u lost and %u back without blocking; %zu entries, %zu SLs; "
      "%u paths robbed\n",
      call.c_str(),
      engine,
      survey.losses,
      survey.free_losses,
      survey.free_returns,
      survey.entries,
      survey.told_anew,
      survey.robbed);
  return survey;
}

TEST(CablesOnLanes, WhatComesBackBlocksNothingAndNobodyIsToldAnew) {
  for (const char* engine : {"dfsssp", "lash"}) {
    for (const auto& [call, each] :
         {std::pair{"torus:dims=5.5,hosts=1", 5u},
          std::pair{"dragonfly:a=4,c=2,h=2", 15u},
          std::pair{"irregular:switches=24,links=4,hosts=2,seed=2", 5u}}) {
      const CableSurvey survey = survey_cables(call, engine, each);
      EXPECT_GT(survey.losses, 5u);
      EXPECT_EQ(survey.free_returns, survey.losses) << call << " " << engine;
      EXPECT_LE(4 * survey.told_anew, survey.entries) << call << " " << engine;
      EXPECT_LE(survey.robbed, survey.losses) << call << " " << engine;
    }
  }
}

// After a loss some SLs are discarded on the way, until hosts have asked anew. A change before
// that, be it that no entry changes, has a plan that is proved, or one that names the circle in its
// way.
TEST(CablesOnLanes, WhereSlsAreDiscardedTheNextPlanIsSoundToo) {
  const std::string call = "irregular:switches=24,links=4,hosts=2,seed=2";
  const Generated whole = generated(call);
  const auto cables = Reshaped{call}.cables();
  const RoutingTables first =
      find_engine("dfsssp")->compute(whole.fabric, whole.lids, {.max_vls = 8}).value();
  unsigned discarded = 0, proved = 0;
  for (std::size_t at = 0; at < cables.size(); at += 2) {
    const auto left = std::make_shared<const Fabric>(
        Reshaped{call}.without_cable(cables[at].first, cables[at].second).build());
    const Generated cut{left, *left, whole.lids};
    const PreviousRoutes in_force{&whole.fabric, &whole.lids, &first};
    const RoutingTables kept =
        find_engine("dfsssp")
            ->compute(cut.fabric, cut.lids, {.in_force = &in_force, .max_vls = 8})
            .value();
    const TransitionPlan plan = plan_and_judge(change_of(whole, first, cut, kept));
    if (!plan.discards_sls()) continue;
    ++discarded;
    const Change nothing = change_of(cut, kept, cut, kept);
    SlToVlTask vls = lane_task_of(nothing);
    vls.advertised = sls_of(whole.fabric, first, cut.fabric, kept.lft.top());
    vls.held = with_blocked_sls(vls.held, plan.blocked_sls);
    TransitionTask task = nothing.task();
    task.sl_to_vl = &vls;
    const TransitionPlan next = plan_transition(task, {});
    ASSERT_EQ(check_transition(task, next).fault, "") << print_transition_kind(next.kind);
    if (next.certified()) {
      ++proved;
    } else {
      EXPECT_NE(next.why.find("cycle sw-"), std::string::npos) << next.why;
    }
  }
  std::printf("%u changes after one that discards SLs, %u proved\n", discarded, proved);
  EXPECT_GT(discarded, 10u);
  EXPECT_GT(2 * proved, discarded);
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         OnLanes,
                         testing::Values("dfsssp", "lash", "nue", "dor", "itb-vl"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace vl_transition_property_test
}  // namespace smd::test
