#include "smd/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/plan/bridged_search.h"
#include "smd/plan/cut_plans.h"
#include "smd/plan/lane_search.h"
#include "smd/plan/ordered_search.h"

namespace smd {
namespace {

TransitionPlan plan_initial(const TransitionTask& task, PlanBuilder& builder) {
  TransitionPlan plan = builder.begin(TransitionKind::Initial);
  // Whatever the tables held, no packet met it.
  const TransitionTask wanted{.fabric = task.fabric,
                              .lids = task.lids,
                              .held = task.wanted,
                              .wanted = task.wanted,
                              .unknown = {},
                              .blocked = {},
                              .orientation = task.orientation,
                              .lanes = task.lanes};
  Mixture mixture{wanted, builder.scene(), {}};
  builder.fill_at_once(plan, mixture, {});
  plan.phases[0].to_wanted = true;
  prove_silent(builder, mixture, plan);
  return plan;
}

std::optional<OrderedPlan> find_detours(const PlannerOptions& options,
                                        const PlanBuilder& builder,
                                        const TurnGraph& empty) {
  if (!options.detours) return std::nullopt;
  return find_bridged_phases(builder.task(), builder.scene(), empty, options.max_phases);
}

std::optional<TransitionPlan> plan_by_lanes(const PlannerOptions& options,
                                            const PlanBuilder& builder,
                                            Mixture& mixture) {
  if (builder.task().lanes == nullptr) return std::nullopt;
  auto found = find_lane_phases(builder.task(),
                                builder.scene(),
                                mixture.changes(),
                                builder.must_wake_first(mixture),
                                options.max_phases);
  if (!found) return std::nullopt;
  TransitionPlan plan = builder.begin(TransitionKind::Certified);
  plan.lanes = found->lanes;
  const std::size_t first = found->before ? 1 : 0;
  builder.fill_phases(plan, mixture, found->phases, found->before ? &*found->before : nullptr);
  (found->told_last ? plan.phases.back() : plan.phases[first]).told = true;
  if (plan.phases.size() > 1) plan.in_flight = InFlight::Drained;
  return plan;
}

std::optional<TransitionPlan> plan_certified(const PlannerOptions& options,
                                             const PlanBuilder& builder,
                                             Mixture& mixture) {
  TransitionPlan plan = builder.begin(TransitionKind::Certified);
  const TurnGraph empty = builder.empty_graph(true);
  const bool wake_first = builder.must_wake_first(mixture);
  std::vector<OrderedPhase> phases;
  // A proof that does not tell lanes apart does not see what rows discard.
  const bool blind = !rows_discard(builder.task());
  auto single = blind ? find_single_phase(mixture, empty, wake_first) : std::nullopt;
  if (single) {
    phases.push_back(std::move(*single));
  } else if (auto by_lanes = plan_by_lanes(options, builder, mixture)) {
    return by_lanes;
  } else if (!blind) {
    return std::nullopt;
  } else if (auto several = find_phases(mixture, empty, options.max_phases)) {
    phases = std::move(several->phases);
    plan.in_flight = several->in_flight;
  } else if (auto bridged = find_detours(options, builder, empty)) {
    phases = std::move(bridged->phases);
    plan.in_flight = bridged->in_flight;
  } else {
    return std::nullopt;
  }
  if (!builder.fill(plan, mixture, phases, wake_first)) return std::nullopt;
  return plan;
}

bool has_orientation(const TransitionTask& task) {
  return task.orientation != nullptr &&
         task.orientation->rank.size() == task.fabric->switch_count();
}

class Chooser {
 public:
  Chooser(const TransitionTask& task, const PlannerOptions& options, PlanBuilder& builder)
      : task_(task),
        options_(options),
        builder_(builder),
        mixture_(task, builder.scene(), find_changes(task)) {}

  TransitionPlan run() {
    TransitionPlan plan = choose();
    plan.why = std::move(why_);
    return plan;
  }

 private:
  TransitionPlan choose() {
    switch (options_.first) {
      case Deactivation::Certified:
        if (auto plan = plan_certified(options_, builder_, mixture_)) return std::move(*plan);
        note(mixture_.changes().size() > kMostOrderedChanges
                 ? fmt::format("{} entries are too many to look for an order (up to {})",
                               mixture_.changes().size(),
                               kMostOrderedChanges)
                 : fmt::format("no order of {} entries in {} phases or fewer keeps every mixture "
                               "free of cycles",
                               mixture_.changes().size(),
                               options_.max_phases));
        [[fallthrough]];
      case Deactivation::CutDependencies:
        if (auto plan = cut_dependencies()) return std::move(*plan);
        if (task_.lanes != nullptr) {
          if (auto plan = cut_lanes()) return std::move(*plan);
          note("no SL can be discarded instead");
          return plan_deactivate_all(builder_, mixture_);
        }
        note("the wanted routes close a cycle themselves");
        break;
      case Deactivation::CutPorts:
        if (has_orientation(task_)) return plan_cut_ports(builder_, mixture_);
        note("the wanted routes have no orientation that names cut nodes");
        [[fallthrough]];
      case Deactivation::All:
        return plan_deactivate_all(builder_, mixture_);
      case Deactivation::None:
        break;
    }
    return plan_unordered(builder_, mixture_);
  }

  std::optional<TransitionPlan> cut_dependencies() {
    const bool asked = options_.first == Deactivation::CutDependencies;
    if (asked && !has_orientation(task_))
      note("without an orientation only turns that would close a cycle are blocked");
    auto plan = plan_cut_dependencies(builder_, mixture_, !asked);
    if (plan && !asked) note(fmt::format("{} turns blocked", plan->phases.front().block.size()));
    return plan;
  }

  std::optional<TransitionPlan> cut_lanes() {
    auto found = find_lane_cut(
        task_, builder_.scene(), mixture_.changes(), builder_.must_wake_first(mixture_));
    if (!found) return std::nullopt;
    TransitionPlan plan = builder_.begin(TransitionKind::CutDependencies);
    plan.lanes = found->plan.lanes;
    plan.in_flight = InFlight::Drained;
    const auto& before = found->plan.before;
    builder_.fill_phases(plan, mixture_, found->plan.phases, before ? &*before : nullptr);
    plan.phases.front().rows = true;
    plan.phases.back().told = true;
    plan.cut = std::move(found->cut);
    note(plan.cut.empty() ? std::string("no SL has to be discarded meanwhile")
                          : fmt::format("single SLs are discarded on {} ways", plan.cut.size()));
    return plan;
  }

  void note(std::string_view what) {
    if (!why_.empty()) why_ += "; ";
    why_ += what;
  }

  const TransitionTask& task_;
  const PlannerOptions& options_;
  PlanBuilder& builder_;
  Mixture mixture_;
  std::string why_;
};

}  // namespace

TransitionPlan plan_transition(const TransitionTask& task, const PlannerOptions& options) {
  PlanBuilder builder{task, options.whole_tables};
  if (!builder.has_work()) return builder.begin(TransitionKind::Nothing);
  if (builder.scene().silent) return plan_initial(task, builder);
  return Chooser{task, options, builder}.run();
}

}  // namespace smd
