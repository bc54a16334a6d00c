#include "smd/manager/cycle.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "smd/base/log.h"
#include "smd/fabric/builder.h"
#include "smd/manager/cycle_log.h"
#include "smd/manager/effective_settings.h"
#include "smd/manager/plan_job.h"
#include "smd/manager/sweep.h"
#include "smd/policy/lid_assignment.h"

namespace smd {
namespace {

/// A plan that was interrupted so often is left to the next cycle.
constexpr unsigned kMostReplans = 3;

/// Traps of links that were taken down on purpose come in for so long, throttled ones included.
constexpr Duration kSelfInflictedTraps = std::chrono::seconds(10);

/// Final routes follow provisional ones in so many parts, so that a part is sent while the next is
/// still being computed.
constexpr unsigned kFinalParts = 16;

/// What traffic would lose to a plan that is not free of loss.
std::string print_cost(const TransitionPlan& plan) {
  std::size_t down = 0;
  std::size_t blocked = 0;
  for (const TransitionPhase& phase : plan.phases) {
    down += phase.deactivate.size();
    blocked += phase.block.size();
  }
  return fmt::format(
      "the change ({}) would take {} ports down, block {} turns and discard an SL on {} more",
      print_transition_kind(plan.kind),
      down,
      blocked,
      plan.blocked_sls.size());
}

}  // namespace

Cycle::Cycle(const Parts& parts, Hooks hooks) : parts_(parts), hooks_(std::move(hooks)) {}

/// What the stage cost goes to `cost`.
template <class Stage>
void Cycle::end_stage(std::optional<Stage>& stage, PhaseCost& cost, void (Cycle::*then)()) {
  deferred_ = leave(parts_.runtime, stage, [this, &cost, then] {
    cost += parts_.meter.lap();
    (this->*then)();
  });
}

void Cycle::start(SweepTrigger why) {
  report_.reason = std::move(why.reason);
  report_.began = parts_.runtime.now();
  report_.detection = {.smps = parts_.meter.lap().smps};
  before_ = {parts_.state.in_force, parts_.state.extended, parts_.state.orientation};
  hooks_.on_phase(Phase::Discovering);
  sweep_.emplace(parts_.runtime, parts_.client, parts_.settings, parts_.state, parts_.read_only);
  sweep_->start(std::move(why), [this](SweepResult swept) { on_swept(std::move(swept)); });
}

void Cycle::on_swept(SweepResult swept) {
  report_.discovery += parts_.meter.lap();
  report_.partial = swept.partial;
  report_.full_why = std::move(swept.full_why);
  if (swept.error) return fail(std::move(*swept.error));
  report_.quiet = swept.quiet;
  if (swept.quiet) return finish();
  report_.resweep = std::move(swept.resweep);
  found_ = std::move(swept.sweep);
  new_silence_ = swept.new_silence;
  rebalancing_ = swept.rebalance;
  report_.duplicates = found_.duplicates;
  probe_refusing();
}

/// Switches that took no settings before are in again once they take one.
void Cycle::probe_refusing() {
  std::vector<SwitchIdx> asked;
  for (const auto& [guid, why] : parts_.state.refusing) {
    const auto node = found_.fabric->find_node(guid);
    if (node && found_.fabric->is_switch(*node)) asked.push_back(found_.fabric->switch_of[*node]);
  }
  if (asked.empty()) return take_in();
  set_probe_.emplace(parts_.client, parts_.settings.ports.m_key);
  set_probe_->start(found_, std::move(asked), [this](const std::vector<Guid>& willing) {
    for (const Guid guid : willing) parts_.state.refusing.erase(guid);
    end_stage(set_probe_, report_.discovery, &Cycle::take_in);
  });
}

void Cycle::take_in() {
  if (!parts_.state.refusing.empty()) found_ = leave_out(found_, parts_.state.refusing);
  found_.fabric = parts_.deferred_work.with_known(*found_.fabric);
  count_found();
  parts_.client.set_timeout(answer_timeout(found_, parts_.settings.smp.timeout));
  hooks_.on_found(found_);
}

void Cycle::count_found() {
  report_.silent = found_.silent;
  report_.counts = count(*found_.fabric);
  report_.cut_off = is_cut_off(*found_.fabric);
}

void Cycle::proceed() {
  if (parts_.read_only) {
    // Changes that a switch reported before its ports were read are still reported.
    for (const SwitchIdx sw : found_.fabric->switch_node.indices()) {
      if (found_.fabric->switch_info[sw].port_state_change)
        report_.resweep.push_back(found_.fabric->node_guid[found_.fabric->switch_node[sw]]);
    }
  }
  follow_other_master();
  if (parts_.state.reregister) {
    const PortInfo& own = found_.fabric->port_info[found_.fabric->sm_port];
    ours_already_ = find_ports_that_name(*found_.fabric, own.lid);
  }
  take_keys();
}

/// Keys that are shown are replaced; those that are not keep their ports from us.
void Cycle::take_keys() {
  report_.foreign_keys = find_foreign_keys(*found_.fabric, parts_.settings.ports.m_key);
  if (report_.foreign_keys.ports == 0) return address();
  key_taker_.emplace(parts_.client);
  key_taker_->start(found_, parts_.settings.ports, [this](std::uint64_t taken) {
    ForeignKeys& keys = report_.foreign_keys;
    keys.ports -= taken;
    keys.forever = std::min(keys.forever, keys.ports);
    end_stage(key_taker_, report_.configure, &Cycle::address);
  });
}

/// Where somebody else was master since our LIDs were written down, those of the fabric hold.
void Cycle::follow_other_master() {
  ManagerState& state = parts_.state;
  if (state.in_force) return;
  const PortInfo& own = found_.fabric->port_info[found_.fabric->sm_port];
  if (own.master_sm_lid == kUnassignedLid || own.master_sm_lid == own.lid) return;
  state.reregister = true;
  state.book = follow_fabric(*found_.fabric, std::move(state.book));
}

void Cycle::address() {
  hooks_.on_phase(Phase::Routing);
  ManagerState& state = parts_.state;
  const LidPolicy policy = choose_lids(parts_.settings, found_);
  auto assigned = assign_lids(*found_.fabric, state.book, policy);
  if (!assigned) return fail(assigned.error());
  if (const auto small = find_small_table(found_, assigned->map.top)) {
    found_ = leave_out(found_, {*small});
    count_found();
    return address();
  }
  for (const LidConflict& conflict : assigned->conflicts) {
    log::warn("lid.conflict",
              "lid={} kept={} moved={}",
              conflict.lid,
              print_port(*found_.fabric, conflict.kept),
              print_port(*found_.fabric, conflict.moved));
  }
  report_.lid_conflicts = std::move(assigned->conflicts);
  report_.ports_without_lid = assigned->without_lid.size();
  report_.lid_shortage = print_lid_shortage(*found_.fabric, assigned->without_lid, policy);
  lids_ = std::move(assigned->map);
  report_.counts.lids = static_cast<std::uint64_t>(
      std::ranges::count_if(lids_.owner, [](PortIdx p) { return p != kNone<PortIdx>; }));
  parts_.client.set_local_lid(lids_.base[found_.fabric->sm_port]);
  state.book = std::move(assigned->book);
  parts_.store.put_lids(state.book);
  read_back(&Cycle::route);
}

/// A plan starts from what the switches hold: what somebody else wrote is read before it is made.
void Cycle::read_back(void (Cycle::*then)()) {
  ProgramState& confirmed = parts_.state.program;
  for (const SwitchIdx sw : found_.fabric->switch_node.indices()) {
    if (found_.fabric->switch_info[sw].linear_fdb_top != 0) continue;  // else fresh from power-on
    const Guid guid = found_.fabric->node_guid[found_.fabric->switch_node[sw]];
    confirmed.forget(guid);
    if (!has_random_table(found_.fabric->switch_info[sw])) confirmed.multicast.note_restarted(guid);
  }
  std::vector<TableBlock> blocks = find_unread_blocks(*found_.fabric, lids_.top, confirmed.tables);
  if (blocks.empty()) return (this->*then)();
  read_back_.emplace(parts_.client, parts_.settings.ports.m_key);
  read_back_->start(found_, std::move(blocks), confirmed.tables, [this, then](std::uint64_t) {
    end_stage(read_back_, report_.tables, then);
  });
}

void Cycle::route() {
  hooks_.on_phase(Phase::Routing);
  RouteJob job{.fabric = found_.fabric,
               .lids = lids_,
               .engine = engine(),
               .fallback = parts_.settings.engine_fallback && !is_on_trial(),
               .max_vls = std::max(1u, data_vls(parts_.settings.ports.max_operational_vls)),
               .engine_options = parts_.settings.engine_options,
               .orientation = parts_.state.orientation,
               .in_force = parts_.state.in_force,
               .found = {}};
  job.engine_options.roots = choose_roots(parts_.settings, *found_.fabric);
  if (rebalancing_) return rebalance(std::move(job));
  if (parts_.state.reregister && !parts_.state.in_force) {
    job.found = collect_held_tables(*found_.fabric, lids_.top, parts_.state.program.tables).lft;
  }
  work_.offload(
      parts_.runtime,
      [job = std::move(job)] { return compute_routed(job); },
      [this](Routed routed) {
        computing_ = computing_time(routed);
        const Duration wait = round_ == 0 ? computing_ : Duration{0};  // else part by part
        deferred_ =
            Timer(parts_.runtime,
                  parts_.runtime.now() + wait,
                  [this, routed = std::move(routed)]() mutable { on_routed(std::move(routed)); });
      });
}

void Cycle::rebalance(RouteJob job) {
  work_.offload(
      parts_.runtime,
      [job = std::move(job)] { return compute_rebalance(job); },
      [this](std::optional<Routed> routed) {
        parts_.state.imbalanced = false;
        if (!routed) return drop_rebalance("routes are even");
        on_routed(std::move(*routed));
      });
}

/// What a simulation charges for the routes of this round; 0 elsewhere. Of those that come first,
/// only the entries count that an engine which keeps routes made anew.
Duration Cycle::computing_time(const Routed& routed) const {
  if (!parts_.settings.computing_time) return Duration{0};
  const Fabric& fabric = *found_.fabric;
  ComputedRoutes computed{.engine = engine_of_round(parts_.settings, round_),
                          .nodes = fabric.node_count()};
  if (round_ == 0 && routed.tables.recomputed)
    computed.share =
        changed_entries_pct(fabric, routed.tables.lft, parts_.state.program.tables) / 100;
  return parts_.settings.computing_time(computed);
}

void Cycle::on_routed(Routed routed) {
  if (is_on_trial() && routed.error) return end_trial(routed.error->context, false);
  if (!rebalancing_) {
    const bool engine_kept = !routed.tables.chosen_by.empty() && before_.in_force != nullptr;
    parts_.state.imbalanced = routed.tables.recomputed.has_value() || engine_kept;
  }
  if (!routed.fallback_reason.empty()) {
    log::warn("route.fallback",
              "engine={} used={} why=\"{}\"",
              engine(),
              routed.tables.engine,
              routed.fallback_reason);
  }
  report_.engine = routed.tables.engine.empty() ? engine() : routed.tables.engine;
  report_.engine_asked = engine();
  report_.engine_refused = std::move(routed.fallback_reason);
  report_.routed = !routed.tables.engine.empty();
  report_.routes = std::move(routed.routes);
  report_.notes = routed.tables.notes;
  report_.candidates = routed.tables.candidates;
  if (!report_.routes.acyclic)
    report_.cycle_text = print_cycle(*found_.fabric, report_.routes.cycle);
  if (routed.error) return fail(*routed.error);  // nothing is written that was not verified
  if (!before_.in_force || before_.in_force->routing->notes != routed.tables.notes)
    for (const std::string& note : routed.tables.notes)
      log::info("route.note", "what=\"{}\"", note);
  ManagerState& state = parts_.state;
  state.orientation = routed.tables.orientation;
  if (round_ == 0) mark_verified();
  if (round_ > 0) {
    final_ = {.tables = std::move(routed.tables), .began = parts_.runtime.now()};
    return await_part();
  }
  set_target(std::move(routed.tables), std::move(routed.verified));
}

std::string Cycle::engine() const {
  return parts_.trial_engine.empty() ? engine_of_round(parts_.settings, round_)
                                     : parts_.trial_engine;
}

bool Cycle::is_on_trial() const { return !parts_.trial_engine.empty() && !report_.trial; }

/// The change that this cycle found is taken in with the engine that was in force.
void Cycle::end_trial(std::string why, bool needs_force) {
  report_.trial = {.engine = std::exchange(parts_.trial_engine, {}),
                   .needs_force = needs_force,
                   .why = std::move(why)};
  log::warn("engine.not_taken",
            "engine={} stays={} why=\"{}\"",
            report_.trial->engine,
            engine(),
            report_.trial->why);
  first_plan_ = true;
  route();
}

/// What was verified is what the next partial discovery may build on.
void Cycle::mark_verified() {
  ManagerState& state = parts_.state;
  state.stale = new_silence_ ? print_silence(report_.silent.size()) : std::string{};
  state.silence = report_.silent;
}

void Cycle::set_target(RoutingTables goal, std::shared_ptr<const VerifiedRoutes> verified) {
  ManagerState& state = parts_.state;
  const Fabric& fabric = *found_.fabric;
  std::optional<MulticastVl> apart;
  if (state.wants_multicast_vl) {
    if (const auto vl = choose_multicast_vl(fabric, goal, parts_.settings)) apart = *vl;
  }
  SlToVlMaps rows;
  if (parts_.store.get().sl_to_vl_mark || goal.vls > 1 || !goal.sl_to_vl.empty() || apart)
    rows = choose_rows(fabric, goal, parts_.settings.qos, apart);
  auto partitions = choose_partitions(parts_.settings, fabric, state.partitions);
  report_.partition_faults = state.partitions.faults;
  report_qos_conflicts(parts_.settings, goal, state.qos_conflicts);
  state.in_force =
      std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = found_,
                                                        .lids = lids_,
                                                        .routing = std::move(goal),
                                                        .rows = std::move(rows),
                                                        .partitions = std::move(partitions),
                                                        .multicast_vl = apart,
                                                        .verified = std::move(verified)});
  replans_ = 0;
  read_rows();
}

/// A plan starts from the rows that are there, as it does from the entries.
void Cycle::read_rows() {
  ProgramState& confirmed = parts_.state.program;
  const ActiveSubnet& goal = *parts_.state.in_force;
  std::vector<Turn> unread;
  if (!goal.rows->empty()) unread = find_unread_sl_to_vl(goal.fabric(), confirmed.sl_to_vl);
  if (unread.empty()) return plan();
  sl_to_vl_reader_.emplace(parts_.client, parts_.settings.ports.m_key);
  sl_to_vl_reader_->start(goal.sweep, std::move(unread), confirmed.sl_to_vl, [this] {
    end_stage(sl_to_vl_reader_, report_.turns, &Cycle::plan);
  });
}

void Cycle::await_part() {
  const TimePoint ready = final_.began + computing_ * (final_.part + 1) / kFinalParts;
  deferred_ = Timer(parts_.runtime, std::max(ready, parts_.runtime.now()), [this] {
    const RoutingTables& provisional = parts_.state.in_force->routing;
    const unsigned last = lids_.top.value() * (final_.part + 1) / kFinalParts;
    set_target(take_over(provisional, final_.tables, Lid{static_cast<std::uint16_t>(last)}),
               nullptr);
  });
}

PlanJob Cycle::plan_job(std::shared_ptr<const ActiveSubnet> goal) const {
  const ProgramState& confirmed = parts_.state.program;
  const Fabric& fabric = goal->fabric();
  PlanJob job{.goal = goal,
              .held = collect_held_tables(
                  fabric, goal->routing->lft.top(), confirmed.tables, &goal->routing->lft),
              .blocked = confirmed.turns.collect(parts_.state.in_force->fabric(),
                                                 TurnMemory::Held::Blocked),
              .options = parts_.settings.strategy.planner,
              .next_hop_first = round_ == 1,
              .rows = {},
              .advertised = {},
              .found = found_.fabric->switch_count()};
  if (!goal->rows->empty()) {
    job.rows = confirmed.sl_to_vl;
    job.advertised = parts_.state.advertised.at(parts_.runtime.now());
  }
  job.options.other_vls = choose_other_vls(parts_.settings, *goal);
  if (round_ > 0) job.options.whole_tables = false;  // each part brings only what it changes
  return job;
}

void Cycle::plan() {
  ManagerState& state = parts_.state;
  const std::shared_ptr<const ActiveSubnet> goal = state.in_force;
  if (first_plan_) {
    report_.lft_entries_changed_pct =
        changed_entries_pct(goal->fabric(), goal->routing->lft, state.program.tables);
  }
  first_plan_ = false;
  const bool proves = parts_.settings.strategy.planner.first == Deactivation::Certified;
  std::shared_ptr<const ActiveSubnet> extended =
      proves && state.extended ? add_unresponsive(goal, *state.extended) : goal;
  const auto on_plan = [this](TransitionPlan plan) { program(std::move(plan)); };
  if (extended == goal) {
    work_.offload(
        parts_.runtime, [job = plan_job(goal)] { return compute_plan(job); }, on_plan);
  } else {
    log_unresponsive(goal->fabric(), extended->fabric());
    UnresponsiveJob job{.job = plan_job(extended), .without = plan_job(goal)};
    extended =
        freeze_unresponsive(SwitchIdx{static_cast<std::uint32_t>(goal->fabric().switch_count())},
                            *extended,
                            job.job.held);
    job.job.goal = extended;
    work_.offload(
        parts_.runtime, [job = std::move(job)] { return compute_plan(job); }, on_plan);
  }
  state.extended = std::move(extended);
}

void Cycle::note_plan(const TransitionPlan& plan) {
  TransitionReport& report = report_.transition;
  const bool is_first = report.phases == 0;
  report.certified = plan.certified() && (is_first || report.certified);
  if (is_first || !plan.phases.empty()) report.kind = plan.kind;
  report.phases += plan.phases.size();
  report.blocked = plan.blocked.size();
  report.replans += replans_ > 0 ? 1u : 0u;
  if (!plan.why.empty()) report.why = plan.why;
}

/// What is published, and what later cycles start from, is what was in force before.
void Cycle::restore_before() {
  std::tie(parts_.state.in_force, parts_.state.extended, parts_.state.orientation) =
      std::tie(before_.in_force, before_.extended, before_.orientation);
}

/// Nothing of a change that waits is written, and nobody is told of its routes: they are not there.
/// The next cycle finds the change again.
void Cycle::hold(const TransitionPlan& plan) {
  note_plan(plan);
  restore_before();
  parts_.state.stale = "a change waits";
  fail({Errc::Unsupported,
        "the change waits, since nothing proves it free of deadlock (sm.unproved): " + plan.why});
}

/// Before the first of them is blocked, so that a daemon that dies meanwhile leaves a trace.
void Cycle::keep_turns(const TransitionPlan& plan) {
  const Fabric& fabric = parts_.state.in_force->fabric();
  std::vector<TurnRef> turns = parts_.state.program.turns.maybe_blocked();
  const std::size_t before = turns.size();
  for (const TransitionPhase& phase : plan.phases) {
    for (const Turn& turn : phase.block)
      turns.push_back({fabric.node_guid[fabric.switch_node[turn.sw]], turn.in, turn.out});
  }
  if (turns.size() == before) return;
  std::ranges::sort(turns);
  const auto again = std::ranges::unique(turns);
  turns.erase(again.begin(), again.end());
  parts_.store.put_turns(turns);
}

PortPolicy Cycle::port_policy() const {
  PortPolicy policy = parts_.settings.ports;
  const ActiveSubnet& goal = *parts_.state.in_force;
  policy.master_sm_lid = goal.lids->base[goal.fabric().sm_port];
  return policy;
}

void Cycle::program(TransitionPlan plan) {
  const bool free = plan.kind == TransitionKind::Certified || plan.kind == TransitionKind::Nothing;
  const bool must_be_free = is_on_trial() ? !parts_.engine_by_force && before_.in_force != nullptr
                                          : rebalancing_ && replans_ == 0;
  if (must_be_free && !free) {
    restore_before();
    if (is_on_trial()) return end_trial(print_cost(plan), true);
    return drop_rebalance(print_transition_kind(plan.kind));
  }
  if (plan.kind == TransitionKind::Held) return hold(plan);
  if (is_on_trial()) report_.trial = {.engine = parts_.trial_engine, .taken = true, .why = {}};
  if (!parts_.state.in_force->rows->empty()) parts_.store.set_sl_to_vl_mark();
  hooks_.on_phase(Phase::Programming);
  report_.routing += parts_.meter.lap();
  plan_ = std::move(plan);
  note_plan(plan_);
  log_plan(parts_.state.in_force->fabric(), plan_);
  if (hooks_.on_plan) hooks_.on_plan(parts_.state.in_force->fabric(), plan_);
  keep_turns(plan_);
  const ActiveSubnet& goal = *parts_.state.in_force;
  rows_ = goal.rows->empty() ? SlToVlMaps{} : with_blocked_sls(goal.rows, plan_.blocked_sls);
  programmer_.emplace(parts_.runtime, parts_.client, parts_.state.program, parts_.meter);
  programmer_->start(
      {.report = &goal.sweep,
       .lids = &*goal.lids,
       .lft = &goal.routing->lft,
       .policy = port_policy(),
       .qos = choose_qos(parts_.settings, goal.routing->vls, goal.multicast_vl),
       .partitions = goal.partitions.get(),
       .plan = &plan_,
       .default_port = &goal.routing->default_port,
       .sl_to_vl = &rows_,
       .writing = parts_.settings.strategy.writing},
      [this](ProgramReport report) {
        deferred_ =
            leave(parts_.runtime, programmer_, [this, report = std::move(report)]() mutable {
              on_programmed(std::move(report));
            });
      });
}

void Cycle::on_programmed(ProgramReport report) {
  ManagerState& state = parts_.state;
  report_.configure += report.configure;
  report_.turns += report.turns;
  report_.deactivate += report.deactivate;
  report_.tables += report.tables;
  report_.activate += report.activate;
  report_.blocks_written += report.blocks_written;
  report_.ports_down_after = report.ports_not_active;
  report_.fault_count = report.fault_count;
  report_.faults = std::move(report.faults);
  log_not_kept(report.not_kept);
  if (!report.retrained.empty())
    state.self_inflicted_traps_until = parts_.runtime.now() + kSelfInflictedTraps;
  report_.came_up.insert(report_.came_up.end(), report.came_up.begin(), report.came_up.end());
  found_.fabric = with_registers(
      state.in_force->fabric(), std::move(report.port_info), std::move(report.switch_info));
  state.replace_in_force(with_fabric(*state.in_force, found_.fabric));
  const ForwardingTables& written = state.in_force->routing->lft;
  for (const SwitchIdx sw : found_.fabric->switch_node.indices())
    state.program.tables.share_row(
        found_.fabric->node_guid[found_.fabric->switch_node[sw]], written, sw);
  const bool silent =
      plan_.kind == TransitionKind::Initial || plan_.kind == TransitionKind::DeactivateAll;
  if (parts_.store.get().sl_to_vl_mark)
    state.advertised.advertise(state.in_force,
                               !report.plan_interrupted && report.fault_count == 0,
                               silent,
                               parts_.runtime.now());
  if (report.plan_interrupted) {
    const std::vector<Guid> before = std::exchange(refusal_, *report.plan_interrupted).switches;
    if (replans_ > 0)
      std::erase_if(refusal_.switches,
                    [&](Guid guid) { return !std::ranges::binary_search(before, guid); });
    if (replans_++ < kMostReplans) return read_back(&Cycle::read_rows);
    if (has_refusing()) return read_back(&Cycle::leave_out_refusing);
  }
  if (report_.fault_count == 0 && round_ + 1 < count_rounds(parts_.settings)) {
    report_.provisional = parts_.runtime.now() - report_.began;
    ++round_;
    return route();
  }
  if (report_.fault_count == 0 && round_ > 0 && final_.part + 1 < kFinalParts) {
    ++final_.part;
    return await_part();
  }
  tell_clients();
}

/// Whether there is somebody to blame for the plan that does not get on, and the rest can do
/// without.
bool Cycle::has_refusing() const {
  if (round_ > 0 || !parts_.settings.strategy.leaves_out_refusing) return false;
  return std::ranges::any_of(refusal_.switches, [&](Guid guid) {
    const auto node = found_.fabric->find_node(guid);
    return node && !is_indispensable(found_, *node);
  });
}

/// What one switch does not take is its own loss: the others are routed around it.
void Cycle::leave_out_refusing() {
  for (const Guid guid : refusal_.switches) {
    const auto node = found_.fabric->find_node(guid);
    if (!node || is_indispensable(found_, *node)) continue;
    log::warn("switch.left_out", "node={} why=\"{}\"", guid, refusal_.why);
    std::string& why = parts_.state.refusing[guid];
    why = "left out, it does not take its settings: " + refusal_.why;
    found_ = leave_out(found_, {{guid, why}});
  }
  count_found();
  rebalancing_ = false;
  address();
}

void Cycle::tell_clients() {
  if (!std::exchange(parts_.state.reregister, false) || ours_already_.empty()) return measure();
  reregistration_.emplace(parts_.client, parts_.settings.ports.m_key);
  reregistration_->start(parts_.state.in_force->sweep, std::move(ours_already_), [this] {
    end_stage(reregistration_, report_.configure, &Cycle::measure);
  });
}

/// Nobody waits for these numbers but the reader of the report.
void Cycle::measure() {
  if (!parts_.settings.statistics) return finish();
  std::shared_ptr<const ActiveSubnet> in_force = parts_.state.in_force;
  work_.offload(
      parts_.runtime,
      [in_force] { return compute_statistics(*in_force); },
      [this, in_force](const RouteStatistics& statistics) {
        report_.routes = statistics.routes;
        report_.load = statistics.load;
        report_.check_differs = statistics.differs;
        if (statistics.verified != in_force->verified && parts_.state.in_force == in_force)
          parts_.state.replace_in_force(with_verified(*in_force, statistics.verified));
        finish();
      });
}

/// Routes are balanced enough to work with: nothing is blocked, and nothing fails, to balance them
/// better.
void Cycle::drop_rebalance(std::string_view why) {
  log::info("relief.dropped", "why=\"{}\"", why);
  parts_.state.stale.clear();
  report_.quiet = true;
  finish();
}

void Cycle::fail(Error error) {
  if (parts_.read_only) report_.resweep.clear();  // the next cycle sweeps everything
  report_.error = std::move(error);
  finish();
}

void Cycle::finish() {
  report_.routing.wall += parts_.meter.lap().wall;  // of the measuring
  report_.ended = parts_.runtime.now();
  std::exchange(hooks_.done, nullptr)(std::move(report_));
}

}  // namespace smd
