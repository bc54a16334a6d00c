#include "smd/plan/make/planner.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include <vector>

#include "smd/plan/make/fallback_plans.h"
#include "smd/plan/make/intermediate_routing.h"
#include "smd/plan/make/ordered_phases.h"
#include "smd/plan/make/vl_transient_graph.h"

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
                              .sl_to_vl = task.sl_to_vl};
  TransientGraph transient{wanted, builder.initial(), {}};
  builder.fill_at_once(plan, transient, {});
  plan.phases[0].to_wanted = true;
  prove_silent(builder, transient, plan);
  return plan;
}

std::optional<OrderedPlan> find_detours(const PlannerOptions& options,
                                        const PlanBuilder& builder,
                                        const TurnGraph& empty) {
  if (!options.detours) return std::nullopt;
  return find_intermediate_phases(builder.task(), builder.initial(), empty, options.max_phases);
}

// `task` may want other SL-to-VL entries than the builder's.
std::optional<TransitionPlan> plan_by_vl(const PlannerOptions& options,
                                         const PlanBuilder& builder,
                                         TransientGraph& transient,
                                         const TransitionTask& task,
                                         PlanBudget& budget,
                                         bool lossless) {
  if (task.sl_to_vl == nullptr) return std::nullopt;
  auto found = find_vl_phases(task,
                              builder.initial(),
                              transient.changes(),
                              builder.must_activate_first(transient),
                              options.max_phases,
                              budget,
                              lossless);
  if (!found) return std::nullopt;
  TransitionPlan plan =
      builder.begin(lossless ? TransitionKind::Certified : TransitionKind::CutDependencies);
  plan.vls = found->vls;
  const std::size_t first = found->before ? 1 : 0;
  builder.fill_phases(plan, transient, found->phases, found->before ? &*found->before : nullptr);
  (found->advertised_last ? plan.phases.back() : plan.phases[first]).advertised = true;
  if (plan.phases.size() > 1) plan.in_flight = InFlight::Drained;
  return plan;
}

std::optional<TransitionPlan> plan_certified(const PlannerOptions& options,
                                             const PlanBuilder& builder,
                                             TransientGraph& transient,
                                             PlanBudget& budget) {
  TransitionPlan plan = builder.begin(TransitionKind::Certified);
  const TurnGraph empty = builder.empty_graph(true);
  const bool activate_first = builder.must_activate_first(transient);
  std::vector<OrderedPhase> phases;
  // A proof that does not tell VLs apart does not see what SL-to-VL entries discard.
  const bool blind = !sl_to_vl_discards(builder.task());
  // Where SL-to-VL entries alone differ there are no phases to find, and nothing is proved so.
  auto single = blind ? find_single_phase(transient, empty, activate_first) : std::nullopt;
  if (single) {
    phases.push_back(std::move(*single));
  } else if (auto by_vl = plan_by_vl(options, builder, transient, builder.task(), budget, true)) {
    return by_vl;
  } else if (!blind) {
    return std::nullopt;
  } else if (auto several = find_phases(transient, empty, options.max_phases);
             several && !several->phases.empty()) {
    phases = std::move(several->phases);
    plan.in_flight = several->in_flight;
  } else if (auto by_intermediate = find_detours(options, builder, empty);
             by_intermediate && !by_intermediate->phases.empty()) {
    phases = std::move(by_intermediate->phases);
    plan.in_flight = by_intermediate->in_flight;
  } else {
    return std::nullopt;
  }
  if (!builder.fill(plan, transient, phases, activate_first)) return std::nullopt;
  return plan;
}

// Packets that come to a switch without an entry, or with one that leads over a cable that is gone,
// are lost. A phase that gives a switch its first
// entry for a LID, and leads packets there that got on before, becomes two: first entries first.
// Whatever is in force in either part may be in force in the whole phase, so its proof holds.
//
// Where many hosts are new, nearly every entry is a first one, and leads nowhere before: none of
// them is copied to find that out.
class FirstEntriesFirst {
 public:
  explicit FirstEntriesFirst(const TransitionTask& task)
      : task_(task),
        fabric_(*task.fabric),
        lids_(std::max(task.held->blocks(), task.wanted->blocks()) * kLftBlockSize) {}

  void apply(TransitionPlan& plan) {
    std::vector<TransitionPhase> phases;
    for (TransitionPhase& phase : plan.phases) {
      const bool is_last = &phase == &plan.phases.back();
      const auto is_first = [&](const EntryChange& each) { return lacks_entry(each.sw, each.lid); };
      if (needs_two(phase)) {
        TransitionPhase front{.block = std::move(phase.block),
                              .restore = std::move(phase.restore),
                              .deactivate = std::move(phase.deactivate),
                              .sl_to_vl = std::exchange(phase.sl_to_vl, false),
                              .advertised = std::exchange(phase.advertised, false),
                              .certificate = phase.certificate};
        phase.block.clear();
        phase.restore.clear();
        phase.deactivate.clear();
        std::ranges::copy_if(phase.entries, std::back_inserter(front.entries), is_first);
        std::erase_if(phase.entries, is_first);
        if (!is_last) note_written(front);
        phases.push_back(std::move(front));
      }
      if (!is_last) note_written(phase);
      phases.push_back(std::move(phase));
    }
    if (phases.size() > plan.phases.size() && plan.vls > 1) plan.in_flight = InFlight::Drained;
    plan.phases = std::move(phases);
  }

 private:
  [[nodiscard]] bool is_written(SwitchIdx sw, Lid lid) const {
    return !written_.empty() && written_[place_of(sw, lid)];
  }

  [[nodiscard]] std::size_t place_of(SwitchIdx sw, Lid lid) const {
    return sw.value() * lids_ + lid.value();
  }

  [[nodiscard]] bool lacks_entry(SwitchIdx sw, Lid lid) const { return !forwards(sw, lid); }

  // Packets may get on from here.
  [[nodiscard]] bool forwards(SwitchIdx sw, Lid lid) const {
    const PortNum held = entry_of(*task_.held, sw, lid);
    if (held == PortNum{0} || is_written(sw, lid)) return true;
    const NodeIdx node = fabric_.switch_node[sw];
    return held.value() <= fabric_.num_ports(node) &&
           fabric_.peer[fabric_.port_of(node, held)] != kNone<PortIdx>;
  }

  // By `phase`, whose entries are sorted.
  [[nodiscard]] bool gives_first(const TransitionPhase& phase, SwitchIdx sw, Lid lid) const {
    if (!lacks_entry(sw, lid)) return false;
    const auto found =
        std::ranges::lower_bound(phase.entries, std::pair{sw, lid}, {}, [](const EntryChange& e) {
          return std::pair{e.sw, e.lid};
        });
    return found != phase.entries.end() && found->sw == sw && found->lid == lid &&
           found->egress != kNoRoute;
  }

  [[nodiscard]] bool needs_two(const TransitionPhase& phase) const {
    return std::ranges::any_of(phase.entries, [&](const EntryChange& each) {
      const NodeIdx node = fabric_.switch_node[each.sw];
      if (each.egress.value() > fabric_.num_ports(node) || !forwards(each.sw, each.lid))
        return false;
      const PortIdx peer = fabric_.peer[fabric_.port_of(node, each.egress)];
      return peer != kNone<PortIdx> && fabric_.switch_at(peer) != kNone<SwitchIdx> &&
             gives_first(phase, fabric_.switch_at(peer), each.lid) &&
             task_.lids->owner_of(each.lid) != kNone<PortIdx>;
    });
  }

  // For the phases after it: of entries that led nowhere.
  void note_written(const TransitionPhase& phase) {
    for (const EntryChange& each : phase.entries) {
      if (forwards(each.sw, each.lid)) continue;
      if (written_.empty()) written_.resize(fabric_.switch_count() * lids_);
      written_[place_of(each.sw, each.lid)] = true;
    }
  }

  const TransitionTask& task_;
  const Fabric& fabric_;
  std::size_t lids_;           // of each switch
  std::vector<bool> written_;  // by switch and LID; empty: none yet
};

bool has_orientation(const TransitionTask& task) {
  return task.orientation != nullptr &&
         task.orientation->rank.size() == task.fabric->switch_count();
}

class KindChooser {
 public:
  KindChooser(const TransitionTask& task, const PlannerOptions& options, PlanBuilder& builder)
      : task_(task),
        options_(options),
        builder_(builder),
        transient_(task, builder.initial(), find_changes(task)),
        budget_(options.max_steps) {}

  TransitionPlan run() {
    TransitionPlan plan = choose();
    if (plan.kind == TransitionKind::Certified) FirstEntriesFirst{task_}.apply(plan);
    plan.why = std::move(why_);
    return plan;
  }

 private:
  // What it does not need is there for those that come after it.
  template <class Search>
  auto with_half(Search&& search) {
    PlanBudget half{budget_.left() / 2};
    const std::uint64_t before = half.left();
    auto found = search(half);
    budget_.spend(before - half.left());
    return found;
  }

  TransitionPlan choose() {
    switch (options_.first) {
      case Deactivation::Certified:
        if (auto plan = with_half([&](PlanBudget& budget) {
              return plan_certified(options_, builder_, transient_, budget);
            }))
          return std::move(*plan);
        if (auto plan = lead_over_other_vls()) return std::move(*plan);
        note(transient_.changes().size() > kMostOrderedChanges
                 ? fmt::format("{} entries are too many to look for an order (up to {})",
                               transient_.changes().size(),
                               kMostOrderedChanges)
                 : fmt::format("no order of {} entries in {} phases or fewer keeps every mixture "
                               "free of cycles",
                               transient_.changes().size(),
                               options_.max_phases));
        [[fallthrough]];
      case Deactivation::CutDependencies:
        if (auto plan = cut_dependencies()) return std::move(*plan);
        if (task_.sl_to_vl != nullptr) {
          if (auto plan = discard_single_sls()) return std::move(*plan);
          if (auto plan = block_sls()) return std::move(*plan);
          note(budget_.is_spent() ? "sm.plan_budget_ms is spent"
                                  : "no SL can be discarded instead");
          return plan_unproved();
        }
        note("the wanted routes close a cycle themselves");
        break;
      case Deactivation::CutPorts:
        if (has_orientation(task_)) return plan_cut_ports(builder_, transient_);
        note("the wanted routes have no orientation that names cut nodes");
        [[fallthrough]];
      case Deactivation::All:
        return plan_deactivate_all(builder_, transient_);
      case Deactivation::None:
        break;
    }
    return plan_unordered(builder_, transient_);
  }

  std::optional<TransitionPlan> cut_dependencies() {
    const bool asked = options_.first == Deactivation::CutDependencies;
    if (asked && !has_orientation(task_))
      note("without an orientation only turns that would close a cycle are blocked");
    auto plan = plan_cut_dependencies(builder_, transient_, !asked);
    if (plan && !asked) note(fmt::format("{} turns blocked", plan->phases.front().block.size()));
    return plan;
  }

  // By SL-to-VL entries that no wanted route needs, without discarding anything there.
  std::optional<TransitionPlan> lead_over_other_vls() {
    if (!find_others(false) || other_vls_->discards) return std::nullopt;
    return plan_with(*other_vls_, true);
  }

  // The same with single SLs discarded; nothing where not even that has led to anything before.
  std::optional<TransitionPlan> discard_single_sls() {
    if (!other_vls_) return std::nullopt;
    if (other_vls_->discards) {
      if (auto plan = plan_with(*other_vls_, false)) return plan;
    }
    if (!find_others(true)) return std::nullopt;
    return plan_with(*other_vls_, false);
  }

  bool find_others(bool at_once) {
    other_vls_.reset();
    if (task_.sl_to_vl == nullptr) return false;
    if (!task_.unknown.empty() || !task_.sl_to_vl->unknown.empty()) return false;
    other_vls_ = with_half([&](PlanBudget& budget) {
      return find_other_vls(
          task_, builder_.initial(), transient_.changes(), options_.other_vls, at_once, budget);
    });
    return other_vls_.has_value();
  }

  std::optional<TransitionPlan> plan_with(const OtherVls& others, bool lossless) {
    SlToVlTask rows = *task_.sl_to_vl;
    rows.wanted = with_blocked_sls(rows.wanted, others.sls);
    TransitionTask task = task_;
    task.sl_to_vl = &rows;
    auto plan = with_half([&](PlanBudget& budget) {
      return plan_by_vl(options_, builder_, transient_, task, budget, lossless);
    });
    if (!plan) return std::nullopt;
    plan->phases.front().sl_to_vl = true;
    plan->blocked_sls = others.sls;
    if (!lossless)
      note(fmt::format("single SLs are discarded on {} ways",
                       std::ranges::count(others.sls, kManagementVl, &BlockedSls::vl)));
    return plan;
  }

  // What the operator has chosen for a change that nothing proves. Modes that block on purpose go
  // all the way.
  TransitionPlan plan_unproved() {
    if (options_.first != Deactivation::Certified) return plan_deactivate_all(builder_, transient_);
    const std::string circle =
        find_vl_circle(task_,
                       builder_.initial(),
                       transient_.changes(),
                       PlanBudget{std::max(budget_.left(), options_.max_steps / 4)});
    if (!circle.empty()) note("cycle " + circle);
    switch (options_.unproved) {
      case Unproved::Block:
        return plan_deactivate_all(builder_, transient_);
      case Unproved::Hold:
        return builder_.begin(TransitionKind::Held);
      case Unproved::Write:
        break;
    }
    return plan_next_hop_first(task_, options_);
  }

  std::optional<TransitionPlan> block_sls() {
    auto found = find_blocked_sls(task_,
                                  builder_.initial(),
                                  transient_.changes(),
                                  builder_.must_activate_first(transient_),
                                  budget_);
    if (!found) return std::nullopt;
    TransitionPlan plan = builder_.begin(TransitionKind::CutDependencies);
    plan.vls = found->plan.vls;
    plan.in_flight = InFlight::Drained;
    const auto& before = found->plan.before;
    builder_.fill_phases(plan, transient_, found->plan.phases, before ? &*before : nullptr);
    plan.phases.front().sl_to_vl = true;
    plan.phases.back().advertised = true;
    plan.blocked_sls = std::move(found->blocked_sls);
    note(plan.blocked_sls.empty()
             ? std::string("no SL has to be discarded meanwhile")
             : fmt::format("single SLs are discarded on {} ways", plan.blocked_sls.size()));
    return plan;
  }

  void note(std::string_view what) {
    if (!why_.empty()) why_ += "; ";
    why_ += what;
  }

  const TransitionTask& task_;
  const PlannerOptions& options_;
  PlanBuilder& builder_;
  TransientGraph transient_;
  std::optional<OtherVls> other_vls_;
  PlanBudget budget_;
  std::string why_;
};

}  // namespace

TransitionPlan plan_transition(const TransitionTask& task, const PlannerOptions& options) {
  PlanBuilder builder{task, options.whole_tables};
  if (!builder.has_work()) return builder.begin(TransitionKind::Nothing);
  if (builder.initial().silent) return plan_initial(task, builder);
  return KindChooser{task, options, builder}.run();
}

}  // namespace smd
