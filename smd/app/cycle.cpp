#include "smd/app/cycle.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "smd/app/carrying.h"
#include "smd/app/cycle_choices.h"
#include "smd/app/cycle_log.h"
#include "smd/app/first_look.h"
#include "smd/app/qos_choice.h"
#include "smd/base/log.h"
#include "smd/fabric/describe.h"
#include "smd/policy/lid_takeover.h"

namespace smd::app {
namespace {

/// A plan that was interrupted so often is left to the next cycle.
constexpr unsigned kMostReplans = 3;

/// Traps of links that were taken down on purpose come in for so long, throttled ones included.
constexpr Duration kEchoes = std::chrono::seconds(10);

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
      plan.cut.size());
}

}  // namespace

Cycle::Cycle(const Parts& parts, Hooks hooks) : parts_(parts), hooks_(std::move(hooks)) {}

/// A stage calls from one of its own handlers: its frame is left before it is destroyed.
template <class Stage, class Value>
void Cycle::leave(std::optional<Stage>& stage, Value value, void (Cycle::*then)(Value)) {
  deferred_ = Timer(parts_.runtime,
                    parts_.runtime.now(),
                    [this, &stage, value = std::move(value), then]() mutable {
                      stage.reset();
                      (this->*then)(std::move(value));
                    });
}

void Cycle::start(Suspicion why) {
  report_.reason = std::move(why.reason);
  report_.began = parts_.runtime.now();
  report_.detection = {.smps = parts_.meter.lap().smps};
  hooks_.on_phase(Phase::Discovering);
  look_.emplace(parts_.runtime, parts_.client, parts_.settings, parts_.holdings, parts_.only_look);
  look_->start(std::move(why), [this](Seen seen) { on_seen(std::move(seen)); });
}

void Cycle::on_seen(Seen seen) {
  report_.discovery += parts_.meter.lap();
  report_.partial = seen.partial;
  report_.full_why = std::move(seen.full_why);
  if (seen.error) return fail(std::move(*seen.error));
  report_.quiet = seen.quiet;
  if (seen.quiet) return finish();
  report_.look_again = std::move(seen.look_again);
  found_ = std::move(seen.sweep);
  new_silence_ = seen.new_silence;
  relieving_ = seen.relief;
  report_.duplicates = found_.duplicates;
  probe_refusing();
}

/// Switches that took no settings before are in again once they take one.
void Cycle::probe_refusing() {
  std::vector<SwitchIdx> asked;
  for (const auto& [guid, why] : parts_.holdings.refusing) {
    const auto node = found_.fabric->find_node(guid);
    if (node && found_.fabric->is_switch(*node)) asked.push_back(found_.fabric->switch_of[*node]);
  }
  if (asked.empty()) return take_in();
  set_probe_.emplace(parts_.client, parts_.settings.ports.m_key);
  set_probe_->start(found_, std::move(asked), [this](const std::vector<Guid>& willing) {
    for (const Guid guid : willing) parts_.holdings.refusing.erase(guid);
    deferred_ = Timer(parts_.runtime, parts_.runtime.now(), [this] {
      set_probe_.reset();
      report_.discovery += parts_.meter.lap();
      take_in();
    });
  });
}

void Cycle::take_in() {
  if (!parts_.holdings.refusing.empty()) found_ = leave_out(found_, parts_.holdings.refusing);
  found_.fabric = parts_.aftercare.with_known(*found_.fabric);
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
  if (parts_.only_look) {
    // Changes that a switch reported before its ports were read are still reported.
    for (const SwitchIdx sw : found_.fabric->switch_node.indices()) {
      if (found_.fabric->switch_info[sw].port_state_change)
        report_.look_again.push_back(found_.fabric->node_guid[found_.fabric->switch_node[sw]]);
    }
  }
  follow_other_master();
  if (parts_.holdings.reregister) {
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
    deferred_ = Timer(parts_.runtime, parts_.runtime.now(), [this] {
      key_taker_.reset();
      report_.configure += parts_.meter.lap();
      address();
    });
  });
}

/// Where somebody else ruled since our LIDs were written down, those of the fabric hold.
void Cycle::follow_other_master() {
  Holdings& holdings = parts_.holdings;
  if (holdings.in_force) return;
  const PortInfo& own = found_.fabric->port_info[found_.fabric->sm_port];
  if (own.master_sm_lid == kUnassignedLid || own.master_sm_lid == own.lid) return;
  holdings.reregister = true;
  holdings.book = follow_fabric(*found_.fabric, std::move(holdings.book));
}

void Cycle::address() {
  hooks_.on_phase(Phase::Routing);
  Holdings& holdings = parts_.holdings;
  const LidPolicy policy = choose_lids(parts_.settings, found_);
  auto assigned = assign_lids(*found_.fabric, holdings.book, policy);
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
  if (assigned->book != holdings.book) {
    holdings.book = std::move(assigned->book);
    hooks_.on_lids(holdings.book);
  }
  read_back(&Cycle::route);
}

/// A plan starts from what the switches hold: what somebody else wrote is read before it is made.
void Cycle::read_back(void (Cycle::*then)()) {
  ProgramState& state = parts_.holdings.program;
  for (const SwitchIdx sw : found_.fabric->switch_node.indices()) {
    if (found_.fabric->switch_info[sw].linear_fdb_top != 0) continue;  // else fresh from power-on
    const Guid guid = found_.fabric->node_guid[found_.fabric->switch_node[sw]];
    state.forget(guid);
    if (!has_random_table(found_.fabric->switch_info[sw])) state.multicast.note_fresh(guid);
  }
  std::vector<TableBlock> blocks = find_unread_blocks(*found_.fabric, lids_.top, state.tables);
  if (blocks.empty()) return (this->*then)();
  read_back_.emplace(parts_.client, parts_.settings.ports.m_key);
  read_back_->start(found_, std::move(blocks), state.tables, [this, then](std::uint64_t) {
    deferred_ = Timer(parts_.runtime, parts_.runtime.now(), [this, then] {
      read_back_.reset();
      report_.tables += parts_.meter.lap();
      (this->*then)();
    });
  });
}

void Cycle::route() {
  hooks_.on_phase(Phase::Routing);
  RouteJob job{.fabric = found_.fabric,
               .lids = lids_,
               .engine = engine(),
               .fallback = parts_.settings.engine_fallback && !is_on_trial(),
               .max_vls = std::max(1u, data_vls(parts_.settings.ports.max_operational_vls)),
               .roots = choose_roots(parts_.settings, *found_.fabric),
               .root_choice = parts_.settings.root_choice,
               .orientation_search = parts_.settings.orientation_search,
               .lane_cut = parts_.settings.lane_cut,
               .gateways = parts_.settings.gateways,
               .weights = parts_.settings.weights,
               .orientation = parts_.holdings.orientation,
               .in_force = parts_.holdings.in_force,
               .found = {}};
  if (relieving_) return relieve(std::move(job));
  if (parts_.holdings.reregister && !parts_.holdings.in_force) {
    job.found = collect_held_tables(*found_.fabric, lids_.top, parts_.holdings.program.tables).lft;
  }
  work_.offload(
      parts_.runtime,
      [job = std::move(job)] { return compute_routed(job); },
      [this](Routed routed) {
        // Final routes are charged part by part.
        const Duration charged =
            round_ == 0
                ? charge(parts_.settings, round_, found_.fabric->node_count(), share_of(routed))
                : Duration{0};
        deferred_ =
            Timer(parts_.runtime,
                  parts_.runtime.now() + charged,
                  [this, routed = std::move(routed)]() mutable { on_routed(std::move(routed)); });
      });
}

void Cycle::relieve(RouteJob job) {
  work_.offload(
      parts_.runtime,
      [job = std::move(job)] { return compute_relief(job); },
      [this](std::optional<Routed> routed) {
        parts_.holdings.uneven = false;
        if (!routed) return leave_uneven("routes are even");
        on_routed(std::move(*routed));
      });
}

/// Of the entries those that an engine which keeps routes made anew.
double Cycle::share_of(const Routed& routed) const {
  if (!parts_.settings.computing_time || !routed.tables.recomputed) return 1;
  return changed_entries_pct(*found_.fabric, routed.tables.lft, parts_.holdings.program.tables) /
         100;
}

void Cycle::on_routed(Routed routed) {
  if (is_on_trial() && routed.error) return end_trial(routed.error->context, false);
  if (relieving_ || is_on_trial())
    before_ = {parts_.holdings.in_force, parts_.holdings.carrying, parts_.holdings.orientation};
  if (!relieving_) parts_.holdings.uneven = routed.tables.recomputed.has_value();
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
  if (!report_.routes.acyclic)
    report_.cycle_text = print_cycle(*found_.fabric, report_.routes.cycle);
  if (routed.error) return fail(*routed.error);  // nothing is written that was not verified
  Holdings& holdings = parts_.holdings;
  holdings.orientation = routed.tables.orientation;
  if (round_ == 0) trust();
  if (round_ > 0) {
    final_ = std::move(routed.tables);
    part_ = 0;
    part_began_ = parts_.runtime.now();
    return await_part();
  }
  aim_at(std::move(routed.tables));
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
void Cycle::trust() {
  Holdings& holdings = parts_.holdings;
  holdings.stale = new_silence_ ? print_silence(report_.silent.size()) : std::string{};
  holdings.silence = report_.silent;
}

void Cycle::aim_at(RoutingTables goal) {
  Holdings& holdings = parts_.holdings;
  const Fabric& fabric = *found_.fabric;
  std::optional<MulticastLane> apart;
  if (holdings.multicast_apart) {
    if (const auto lane = choose_multicast_lane(fabric, goal, parts_.settings)) apart = *lane;
  }
  LaneMaps rows;
  if (holdings.rows || goal.vls > 1 || !goal.lanes.empty() || apart)
    rows = choose_rows(fabric, goal, parts_.settings.qos, apart);
  auto partitions = choose_partitions(parts_.settings, fabric, holdings.partitions);
  report_.partition_faults = holdings.partitions.faults;
  report_qos_conflicts(parts_.settings, goal, holdings.qos_conflicts);
  holdings.in_force =
      std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = found_,
                                                        .lids = lids_,
                                                        .routing = std::move(goal),
                                                        .rows = std::move(rows),
                                                        .partitions = std::move(partitions),
                                                        .multicast_lane = apart});
  replans_ = 0;
  read_rows();
}

/// A plan starts from the rows that are there, as it does from the entries.
void Cycle::read_rows() {
  ProgramState& state = parts_.holdings.program;
  const ActiveSubnet& goal = *parts_.holdings.in_force;
  std::vector<Turn> unread;
  if (!goal.rows->empty()) unread = find_unread_rows(goal.fabric(), state.rows);
  if (unread.empty()) return plan();
  row_reader_.emplace(parts_.client, parts_.settings.ports.m_key);
  row_reader_->start(goal.sweep, std::move(unread), state.rows, [this] {
    deferred_ = Timer(parts_.runtime, parts_.runtime.now(), [this] {
      row_reader_.reset();
      report_.turns += parts_.meter.lap();
      plan();
    });
  });
}

void Cycle::await_part() {
  const TimePoint ready =
      part_began_ +
      charge(parts_.settings, round_, found_.fabric->node_count()) * (part_ + 1) / kFinalParts;
  deferred_ = Timer(parts_.runtime, std::max(ready, parts_.runtime.now()), [this] {
    const RoutingTables& provisional = parts_.holdings.in_force->routing;
    const unsigned top = lids_.top.value();
    aim_at(take_over(
        provisional, final_, Lid{static_cast<std::uint16_t>(top * (part_ + 1) / kFinalParts)}));
  });
}

PlanJob Cycle::plan_job(std::shared_ptr<const ActiveSubnet> goal) const {
  const ProgramState& state = parts_.holdings.program;
  const Fabric& fabric = goal->fabric();
  PlanJob job{
      .goal = goal,
      .held = collect_held_tables(fabric, goal->routing->lft.top(), state.tables),
      .blocked = state.turns.collect(parts_.holdings.in_force->fabric(), TurnMemory::Held::Blocked),
      .options = planner_options(parts_.settings.assimilation),
      .next_hop_first = round_ == 1,
      .rows = {},
      .told = {},
      .found = found_.fabric->switch_count()};
  if (!goal->rows->empty()) {
    job.rows = state.rows;
    job.told = parts_.holdings.told.at(parts_.runtime.now());
  }
  if (round_ > 0) job.options.whole_tables = false;  // each part brings only what it changes
  return job;
}

void Cycle::plan() {
  Holdings& holdings = parts_.holdings;
  const std::shared_ptr<const ActiveSubnet> goal = holdings.in_force;
  if (first_plan_) {
    report_.lft_entries_changed_pct =
        changed_entries_pct(goal->fabric(), goal->routing->lft, holdings.program.tables);
  }
  first_plan_ = false;
  const bool proves =
      planner_options(parts_.settings.assimilation).first == Deactivation::Certified;
  std::shared_ptr<const ActiveSubnet> carrying =
      proves && holdings.carrying ? with_lingering(goal, *holdings.carrying) : goal;
  const auto on_plan = [this](TransitionPlan plan) { program(std::move(plan)); };
  if (carrying == goal) {
    work_.offload(
        parts_.runtime, [job = plan_job(goal)] { return compute_plan(job); }, on_plan);
  } else {
    log_lingering(goal->fabric(), carrying->fabric());
    LingeringJob job{.job = plan_job(carrying), .without = plan_job(goal)};
    carrying = leave_alone(SwitchIdx{static_cast<std::uint32_t>(goal->fabric().switch_count())},
                           *carrying,
                           job.job.held);
    job.job.goal = carrying;
    work_.offload(
        parts_.runtime, [job = std::move(job)] { return compute_plan(job); }, on_plan);
  }
  holdings.carrying = std::move(carrying);
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

/// Before the first of them is blocked, so that a daemon that dies meanwhile leaves a trace.
void Cycle::announce_turns(const TransitionPlan& plan) {
  const Fabric& fabric = parts_.holdings.in_force->fabric();
  std::vector<TurnRef> turns = parts_.holdings.program.turns.maybe_blocked();
  const std::size_t before = turns.size();
  for (const TransitionPhase& phase : plan.phases) {
    for (const Turn& turn : phase.block)
      turns.push_back({fabric.node_guid[fabric.switch_node[turn.sw]], turn.in, turn.out});
  }
  if (turns.size() == before) return;
  std::ranges::sort(turns);
  const auto again = std::ranges::unique(turns);
  turns.erase(again.begin(), again.end());
  hooks_.on_turns(std::move(turns));
}

PortPolicy Cycle::port_policy() const {
  PortPolicy policy = parts_.settings.ports;
  const ActiveSubnet& goal = *parts_.holdings.in_force;
  policy.master_sm_lid = goal.lids->base[goal.fabric().sm_port];
  return policy;
}

void Cycle::program(TransitionPlan plan) {
  const bool free = plan.kind == TransitionKind::Certified || plan.kind == TransitionKind::Nothing;
  const bool must_be_free = is_on_trial() ? !parts_.engine_by_force && before_.in_force != nullptr
                                          : relieving_ && replans_ == 0;
  if (must_be_free && !free) {
    std::tie(parts_.holdings.in_force, parts_.holdings.carrying, parts_.holdings.orientation) =
        std::tie(before_.in_force, before_.carrying, before_.orientation);
    if (is_on_trial()) return end_trial(print_cost(plan), true);
    return leave_uneven(print_transition_kind(plan.kind));
  }
  if (is_on_trial()) report_.trial = {.engine = parts_.trial_engine, .taken = true, .why = {}};
  if (!parts_.holdings.in_force->rows->empty() && !std::exchange(parts_.holdings.rows, true))
    hooks_.on_rows();
  hooks_.on_phase(Phase::Programming);
  report_.routing += parts_.meter.lap();
  plan_ = std::move(plan);
  note_plan(plan_);
  log_plan(parts_.holdings.in_force->fabric(), plan_);
  if (hooks_.on_plan) hooks_.on_plan(parts_.holdings.in_force->fabric(), plan_);
  announce_turns(plan_);
  const ActiveSubnet& goal = *parts_.holdings.in_force;
  rows_ = goal.rows->empty() ? LaneMaps{} : with_cuts(goal.rows, plan_.cut);
  programmer_.emplace(parts_.runtime, parts_.client, parts_.holdings.program, parts_.meter);
  programmer_->start(
      {.report = &goal.sweep,
       .lids = &*goal.lids,
       .lft = &goal.routing->lft,
       .policy = port_policy(),
       .qos = choose_qos(parts_.settings, goal.routing->vls, goal.multicast_lane),
       .partitions = goal.partitions.get(),
       .plan = &plan_,
       .default_port = &goal.routing->default_port,
       .rows = &rows_,
       .drain_time =
           parts_.settings.assimilation.literal ? Duration{0} : parts_.settings.drain_time,
       .lid_routed_activation = parts_.settings.assimilation.lid_routed_activation,
       .one_set_activation = parts_.settings.one_set_activation,
       .literal = parts_.settings.assimilation.literal},
      [this](ProgramReport report) {
        leave(programmer_, std::move(report), &Cycle::on_programmed);
      });
}

void Cycle::on_programmed(ProgramReport report) {
  Holdings& holdings = parts_.holdings;
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
  if (!report.retrained.empty()) holdings.echoes_end = parts_.runtime.now() + kEchoes;
  report_.came_up.insert(report_.came_up.end(), report.came_up.begin(), report.came_up.end());
  found_.fabric = with_registers(
      holdings.in_force->fabric(), std::move(report.port_info), std::move(report.switch_info));
  holdings.replace_in_force(with_fabric(*holdings.in_force, found_.fabric));
  const bool silent =
      plan_.kind == TransitionKind::Initial || plan_.kind == TransitionKind::DeactivateAll;
  if (holdings.rows)
    holdings.told.tell(holdings.in_force,
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
  if (report_.fault_count == 0 && round_ + 1 < count_rounds(parts_.settings.assimilation)) {
    report_.provisional = parts_.runtime.now() - report_.began;
    ++round_;
    return route();
  }
  if (report_.fault_count == 0 && round_ > 0 && part_ + 1 < kFinalParts) {
    ++part_;
    return await_part();
  }
  tell_clients();
}

/// Whether there is somebody to blame for the plan that does not get on, and the rest can do
/// without.
bool Cycle::has_refusing() const {
  if (round_ > 0 || parts_.settings.assimilation.literal) return false;
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
    std::string& why = parts_.holdings.refusing[guid];
    why = "left out, it does not take its settings: " + refusal_.why;
    found_ = leave_out(found_, {{guid, why}});
  }
  count_found();
  relieving_ = false;
  address();
}

void Cycle::tell_clients() {
  if (!std::exchange(parts_.holdings.reregister, false) || ours_already_.empty()) return measure();
  reregistration_.emplace(parts_.client, parts_.settings.ports.m_key);
  reregistration_->start(parts_.holdings.in_force->sweep, std::move(ours_already_), [this] {
    deferred_ = Timer(parts_.runtime, parts_.runtime.now(), [this] {
      reregistration_.reset();
      report_.configure += parts_.meter.lap();
      measure();
    });
  });
}

/// Nobody waits for these numbers but the reader of the report.
void Cycle::measure() {
  if (!parts_.settings.statistics) return finish();
  std::shared_ptr<const ActiveSubnet> in_force = parts_.holdings.in_force;
  work_.offload(
      parts_.runtime,
      [in_force] { return compute_statistics(*in_force); },
      [this](const RouteStatistics& statistics) {
        report_.routes = statistics.routes;
        report_.load = statistics.load;
        finish();
      });
}

/// Routes are even enough to work with: nothing is blocked, and nothing fails, to make them evener.
void Cycle::leave_uneven(std::string_view why) {
  log::info("relief.dropped", "why=\"{}\"", why);
  parts_.holdings.stale.clear();
  report_.quiet = true;
  finish();
}

void Cycle::fail(Error error) {
  if (parts_.only_look) report_.look_again.clear();  // the next cycle looks at everything
  report_.error = std::move(error);
  finish();
}

void Cycle::finish() {
  report_.routing.wall += parts_.meter.lap().wall;  // of the measuring
  report_.ended = parts_.runtime.now();
  std::exchange(hooks_.done, nullptr)(std::move(report_));
}

}  // namespace smd::app
