// From verified routes to tables that hold them: plan, program, measure.
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

/// Where links alone stand in the way, and may be left out: everything else waits for them
/// meanwhile.
constexpr unsigned kMostReplansForLinks = 1;

/// Traps of links that were taken down on purpose come in for so long, throttled ones included.
constexpr Duration kSelfInflictedTraps = std::chrono::seconds(10);

/// Switches whose tables are compared with the wanted ones in one turn of the loop.
constexpr unsigned kRowsInATurn = 256;

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

/// Of ascending lists.
template <class T>
void keep_common(std::vector<T>& list, const std::vector<T>& other) {
  std::erase_if(list, [&](const T& each) { return !std::ranges::binary_search(other, each); });
}

/// Ends of links between switches that are not Active, and over which entries lead.
std::vector<PortRef> find_stuck_links(const Fabric& fabric,
                                      const LidMap& lids,
                                      const ForwardingTables& tables) {
  const auto is_active = [&](PortIdx port) {
    return fabric.port_info[port].state() == PortState::Active;
  };
  std::vector<PortRef> stuck;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const PortIdx port : fabric.external_ports(fabric.switch_node[sw])) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || fabric.switch_at(peer) == kNone<SwitchIdx> ||
          (is_active(port) && is_active(peer)) || !is_to_be_active(fabric, lids, port))
        continue;
      if (std::ranges::count(tables.row(sw), fabric.number_of(port)) != 0)
        stuck.push_back({fabric.node_guid[fabric.node_of[port]], fabric.number_of(port)});
    }
  }
  std::ranges::sort(stuck);
  return stuck;
}

/// The same ports by their numbers in `now`, those that it has.
std::vector<PortIdx> find_again(const std::vector<PortIdx>& ports,
                                const Fabric& before,
                                const Fabric& now) {
  std::vector<PortIdx> found;
  for (const PortIdx port : ports) {
    if (const auto node = now.find_node(before.node_guid[before.node_of[port]]))
      found.push_back(now.port_of(*node, before.number_of(port)));
  }
  return found;
}

/// Of the same cycle: what `before` says of routes, and of those whom they lead to.
void restore_outcome(CycleReport& report, CycleReport before) {
  report.counts = before.counts;
  report.engine = std::move(before.engine);
  report.engine_asked = std::move(before.engine_asked);
  report.engine_refused = std::move(before.engine_refused);
  report.notes = std::move(before.notes);
  report.candidates = std::move(before.candidates);
  report.routed = before.routed;
  report.routes = std::move(before.routes);
  report.cycle_text = std::move(before.cycle_text);
}

}  // namespace

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

namespace {

/// Entries of random forwarding tables, which no ConfirmedTables has. Of one that was not read yet
/// nothing is known.
void add_random_entries(const Fabric& fabric, const RandomTables& random, ForwardingTables& held) {
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (!has_random_table(fabric.switch_info[sw])) continue;
    const auto entries = random.entries(fabric.node_guid[fabric.switch_node[sw]]);
    for (const auto& [lid, port] : entries) {
      if (lid <= held.top()) held.set_route(sw, lid, port);
    }
  }
}

}  // namespace

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
  add_random_entries(fabric, confirmed.random, job.held.lft);
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
  const std::shared_ptr<const ActiveSubnet> before =
      std::exchange(state.with_lost, state.with_lost ? add_lost(goal, *state.with_lost) : goal);
  std::shared_ptr<const ActiveSubnet> extended =
      proves && state.with_lost != goal ? add_unresponsive(goal, *before) : goal;
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

Cycle::StandingRoutes Cycle::standing() const {
  const ManagerState& state = parts_.state;
  return {state.in_force, state.with_lost, state.before_loss, state.lost_then, state.orientation};
}

/// What is published, and what later cycles start from, is what was in force then.
void Cycle::restore(const StandingRoutes& routes) {
  ManagerState& state = parts_.state;
  state.in_force = routes.in_force;
  state.with_lost = routes.with_lost;
  state.before_loss = routes.before_loss;
  state.lost_then = routes.lost_then;
  state.orientation = routes.orientation;
}

/// Nothing of a change that waits is written, and nobody is told of its routes: they are not there.
/// The next cycle finds the change again.
void Cycle::hold(const TransitionPlan& plan) {
  const std::string why =
      "the change waits, since nothing proves it free of deadlock (sm.unproved): " + plan.why;
  if (written_) return keep_written(why);
  note_plan(plan);
  restore(before_);
  parts_.state.stale = "a change waits";
  fail({Errc::Unsupported, why});
}

/// There are no routes without the links that are stuck, or no way to them: what the switches hold
/// is all that this cycle reaches.
void Cycle::keep_written(std::string_view why) {
  Written written = *std::exchange(written_, std::nullopt);
  report_.routing += parts_.meter.lap();
  restore(written.routes);
  go_on_with(parts_.state.in_force->sweep);
  restore_outcome(report_, std::move(written.report));
  for (const PortRef& end : refusal_.links) {
    log::warn("link.not_active", "node={} port={} why=\"{}\"", end.node, end.port, why);
    parts_.state.inactive_links.erase(end);
  }
  mark_verified();
  tell_clients();
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
  if (gives_way()) return;
  if (rebalancing_) parts_.state.gave_way = 0;
  const bool must_be_free = is_on_trial() ? !parts_.engine_by_force && before_.in_force != nullptr
                                          : rebalancing_ && replans_ == 0;
  const bool opens_nothing = opening_ && !plan.blocked_sls.empty();
  if (must_be_free && (!plan.is_free() || opens_nothing)) {
    restore(before_);
    if (is_on_trial()) return end_trial(print_cost(plan), true);
    if (const auto other = std::exchange(instead_, nullptr)) return on_routed(*other);
    return drop_rebalance(print_transition_kind(plan.kind));
  }
  if (plan.kind == TransitionKind::Held) return hold(plan);
  written_.reset();
  if (is_on_trial()) {
    report_.trial = {.engine = parts_.trial_engine, .taken = true, .why = {}};
    parts_.state.ask_anew();
  }
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
  if (!hooks_.on_routes) return start_programming();
  hooks_.on_routes(parts_.state.in_force, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) start_programming();
  });
}

void Cycle::start_programming() {
  const ActiveSubnet& goal = *parts_.state.in_force;
  programmer_.emplace(parts_.runtime, parts_.client, parts_.state.program, parts_.meter);
  programmer_->start(
      {.report = &goal.sweep,
       .lids = &*goal.lids,
       .lft = &goal.routing->lft,
       .policy = port_policy(),
       .qos = choose_qos(parts_.settings, goal.routing->vls, goal.multicast_vl),
       .partitions = goal.partitions.get(),
       .plan = &plan_,
       .is_last_attempt = replans_ == kMostReplans,
       .needed_links = &needed_links_,
       .default_port = &goal.routing->default_port,
       .sl_to_vl = &rows_,
       .path_sls = &goal.routing->path_sls,
       .tells_sls_early =
           parts_.state.publishes_unfinished(parts_.settings.strategy.planner.unproved),
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
  note_unconfirmed_keys(report.unconfirmed_keys);
  log_not_kept(report.not_kept);
  if (!report.retrained.empty())
    state.self_inflicted_traps_until = parts_.runtime.now() + kSelfInflictedTraps;
  report_.came_up.insert(report_.came_up.end(), report.came_up.begin(), report.came_up.end());
  const Fabric& asked = state.in_force->fabric();
  for (const PortIdx port : report.came_up)
    state.came_up.insert({asked.node_guid[asked.node_of[port]], asked.number_of(port)});
  found_.fabric = with_registers(
      state.in_force->fabric(), std::move(report.port_info), std::move(report.switch_info));
  state.replace_in_force(with_fabric(*state.in_force, found_.fabric));
  share_rows(SwitchIdx{0}, std::move(report));
}

/// The run has set the tables of every port that is there.
void Cycle::note_unconfirmed_keys(const std::map<Guid, std::string>& found) {
  const Fabric& fabric = parts_.state.in_force->fabric();
  auto& unconfirmed = parts_.state.partitions.unconfirmed;
  if (!unconfirmed.empty()) {
    for (const PortIdx port : fabric.peer.indices()) {
      if (fabric.is_end_port(port) && is_managed(fabric, port))
        unconfirmed.erase(fabric.port_guid[port]);
    }
  }
  for (const auto& [guid, why] : found)
    unconfirmed[guid] = {.rules = parts_.settings.partition_rules, .why = why};
}

/// A switch that nobody wrote to costs nothing.
void Cycle::share_rows(SwitchIdx first, ProgramReport report) {
  ConfirmedTables& tables = parts_.state.program.tables;
  const ForwardingTables& written = parts_.state.in_force->routing->lft;
  unsigned compared = 0;
  for (SwitchIdx sw = first; sw.value() < found_.fabric->switch_count(); sw = next(sw)) {
    const Guid guid = found_.fabric->node_guid[found_.fabric->switch_node[sw]];
    if (tables.shares_row(guid, written, sw)) continue;
    if (++compared > kRowsInATurn) {
      deferred_ = Timer(
          parts_.runtime, parts_.runtime.now(), [this, sw, report = std::move(report)]() mutable {
            share_rows(sw, std::move(report));
          });
      return;
    }
    tables.share_row(guid, written, sw);
  }
  on_confirmed(std::move(report));
}

void Cycle::on_confirmed(ProgramReport report) {
  ManagerState& state = parts_.state;
  for (const Guid guid : report.restarted) {
    log::warn("switch.restarted", "node={} while routes were computed", guid);
    state.program.forget(guid);
    state.program.multicast.note_restarted(guid);
    report_.resweep.push_back(guid);
  }
  const bool silent =
      plan_.kind == TransitionKind::Initial || plan_.kind == TransitionKind::DeactivateAll;
  if (parts_.store.get().sl_to_vl_mark)
    state.advertised.advertise(state.in_force,
                               !report.plan_interrupted && report.fault_count == 0,
                               silent,
                               parts_.runtime.now());
  state.is_plan_interrupted = report.plan_interrupted.has_value();
  // Turns that stay blocked because nobody passes them are in every plan.
  if (plan_.kind != TransitionKind::Nothing) {
    const ActiveSubnet& goal = *state.in_force;
    state.leaves_blocked =
        !plan_.blocked_sls.empty() ||
        !list_needed(goal.fabric(), &goal.routing->orientation, plan_.blocked).empty();
  }
  report_.transition.interrupted = report.plan_interrupted ? report.plan_interrupted->why : "";
  if (report.plan_interrupted) {
    // What stands in the way of balance is looked at before anything else.
    if (std::exchange(rebalancing_, false) && !report.plan_interrupted->switches.empty()) {
      const std::vector<Guid>& refused = report.plan_interrupted->switches;
      report_.resweep.insert(report_.resweep.end(), refused.begin(), refused.end());
      return tell_clients();
    }
    const PlanInterruption before = std::exchange(refusal_, *report.plan_interrupted);
    if (replans_ > 0) {
      keep_common(refusal_.switches, before.switches);
      keep_common(refusal_.links, before.links);
    }
    const bool by_links = refusal_.switches.empty() && !refusal_.links.empty() && has_refusing();
    if (replans_++ < (by_links ? kMostReplansForLinks : kMostReplans))
      return read_back(&Cycle::read_rows);
    if (has_refusing()) return read_back(&Cycle::leave_out_refusing);
  } else if (leaves_out_stuck_links()) {
    written_ = {.routes = standing(), .report = report_};
    return read_back(&Cycle::leave_out_refusing);
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

/// The switch of a link takes no setting of ours, or not others than those of ports that are not
/// Active either: then it is not the link.
bool Cycle::is_refusing_more(const PortRef& end) const {
  const Fabric& fabric = *found_.fabric;
  const PortIdx port = fabric.port_of(*fabric.find_node(end.node), end.port);
  const auto is_active = [&](PortIdx at) {
    return fabric.port_info[at].state() == PortState::Active;
  };
  const auto refuses = [&](PortIdx side) {
    const NodeIdx node = fabric.node_of[side];
    const PortIdx own = fabric.port_of(node, PortNum{0});
    const MKey ours = parts_.settings.ports.m_key;
    return shows_foreign_key(fabric, own, ours) || hides_key(fabric, own) ||
           std::ranges::any_of(report_.faults, [&](const ProgramFault& fault) {
             return fault.node == fabric.node_guid[node] &&
                    (fault.port == PortNum{0} || is_active(fabric.port_of(node, fault.port)));
           });
  };
  return refuses(port) || refuses(fabric.peer[port]);
}

/// A link may go into Initialize again, or never leave it, with nothing to be planned because of
/// that. One that was there already when the cycle before ended is not given more time.
bool Cycle::leaves_out_stuck_links() {
  std::vector<PortRef> stuck =
      find_stuck_links(*found_.fabric, lids_, parts_.state.in_force->routing->lft);
  std::erase_if(stuck, [&](const PortRef& end) {
    return std::ranges::binary_search(needed_links_, end) || is_refusing_more(end);
  });
  std::vector<PortRef> again = stuck;
  keep_common(again, stuck_before_);
  parts_.state.stuck_links = std::move(stuck);
  if (again.empty() || round_ > 0 || !parts_.settings.strategy.leaves_out_refusing) return false;
  std::map<PortRef, std::string> links;
  for (const PortRef& end : again) links[end] = "";
  if (find_dispensable(found_, links).empty()) return false;  // nothing would change
  refusal_ = {.phase = 0, .why = "entries lead over it", .switches = {}, .links = std::move(again)};
  return true;
}

/// Whether there is somebody to blame for the plan that does not get on, or a link, and the rest
/// can do without.
bool Cycle::has_refusing() const {
  if (round_ > 0 || !parts_.settings.strategy.leaves_out_refusing) return false;
  if (!refusal_.links.empty()) return true;
  return std::ranges::any_of(refusal_.switches, [&](Guid guid) {
    const auto node = found_.fabric->find_node(guid);
    return node && !is_indispensable(found_, *node);
  });
}

/// What is left of the fabric, whose ports have other numbers.
void Cycle::go_on_with(SweepReport rest) {
  const std::shared_ptr<const Fabric> before = found_.fabric;
  found_ = std::move(rest);
  for (std::vector<PortIdx>* const ports : {&report_.came_up, &ours_already_})
    *ports = find_again(*ports, *before, *found_.fabric);
  count_found();
}

/// What one switch does not take is its own loss: the others are routed around it, as around a link
/// that does not become Active.
void Cycle::leave_out_refusing() {
  for (const Guid guid : refusal_.switches) {
    const auto node = found_.fabric->find_node(guid);
    if (!node || is_indispensable(found_, *node)) continue;
    const std::string hosts = print_hosts_at(*found_.fabric, *node);
    log::warn("switch.left_out",
              "node={} name=\"{}\" why=\"{}{}\"",
              guid,
              name_of(*found_.fabric, *node),
              refusal_.why,
              hosts);
    std::string& why = parts_.state.refusing[guid];
    why = "left out, it does not take its settings: " + refusal_.why + hosts;
    go_on_with(leave_out(found_, {{guid, why}}));
  }
  std::map<PortRef, std::string> links;
  for (const PortRef& end : refusal_.links)
    links[end] = "left out, its link does not become Active";
  const std::map<PortRef, std::string> dispensable = find_dispensable(found_, links);
  for (const auto& [end, why] : links) {
    if (!dispensable.contains(end)) {
      log::warn("link.not_active", "node={} port={} why=\"{}\"", end.node, end.port, refusal_.why);
      needed_links_.push_back(end);
      continue;
    }
    log::warn("link.left_out", "node={} port={} why=\"{}\"", end.node, end.port, refusal_.why);
    parts_.state.inactive_links[end] = why;
  }
  std::ranges::sort(needed_links_);
  if (!dispensable.empty()) go_on_with(leave_out_links(found_, dispensable));
  rebalancing_ = opening_ = false;  // others are made now
  address();
}

void Cycle::tell_clients() {
  if (!std::exchange(parts_.state.reregister, false) || ours_already_.empty())
    return soon(&Cycle::measure);
  reregistration_.emplace(parts_.client, parts_.settings.ports.m_key);
  reregistration_->start(parts_.state.in_force->sweep, std::move(ours_already_), [this] {
    end_stage(reregistration_, report_.configure, &Cycle::measure);
  });
}

/// Nobody waits for these numbers but the reader of the report.
void Cycle::measure() {
  if (!parts_.settings.statistics) return finish();
  if (hooks_.on_written) hooks_.on_written(report_);
  std::shared_ptr<const ActiveSubnet> in_force = parts_.state.in_force;
  work_.offload(
      parts_.runtime,
      [in_force, stop = measuring_.get_token()] { return compute_statistics(*in_force, stop); },
      [this, in_force](const RouteStatistics& statistics) {
        if (statistics.routes) report_.routes = *statistics.routes;
        report_.load = statistics.load;
        report_.check_differs = statistics.differs;
        if (statistics.verified != in_force->verified && parts_.state.in_force == in_force)
          parts_.state.replace_in_force(with_verified(*in_force, statistics.verified));
        finish();
      });
}

}  // namespace smd
