#include "smd/manager/cycle.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "smd/base/log.h"
#include "smd/fabric/builder.h"
#include "smd/fabric/hosts.h"
#include "smd/manager/cycle_log.h"
#include "smd/manager/effective_settings.h"
#include "smd/manager/plan_job.h"
#include "smd/manager/sweep.h"
#include "smd/policy/lid_assignment.h"
#include "smd/policy/port_policy.h"
#include "smd/policy/qos_rules.h"

namespace smd {
namespace {

/// For the LIDs to be on the disk.
constexpr Duration kLongestSave = std::chrono::seconds(2);
constexpr Duration kSaveLook = std::chrono::milliseconds(1);

/// "ports=2 of=\"host-1:1 from 5 to 9, host-2:1 from 9 to 5\"; …": of ports that run and do not
/// keep LIDs that nobody else claims; names up to five. Empty where there is none.
std::string print_moved(const Fabric& fabric,
                        const LidMap& lids,
                        const std::vector<LidConflict>& conflicts) {
  constexpr std::size_t kMostNamed = 5;
  std::size_t moved = 0;
  std::string names;
  for (const PortIdx port : fabric.peer.indices()) {
    const PortInfo& info = fabric.port_info[port];
    if (!fabric.is_end_port(port) || info.state() < PortState::Armed || !is_unicast(info.lid) ||
        lids.base[port] == kUnassignedLid || lids.base[port] == info.lid ||
        std::ranges::count(conflicts, port, &LidConflict::moved) > 0)
      continue;
    if (++moved > kMostNamed) continue;
    names += fmt::format("{}{} from {} to {}",
                         moved == 1 ? "" : ", ",
                         print_port(fabric, port),
                         info.lid,
                         lids.base[port]);
  }
  if (moved == 0) return "";
  return fmt::format(
      "ports={} of=\"{}{}\"; they run, and get others by the LID book, or by sm.lid_min and "
      "sm.lid_max: their connections end",
      moved,
      names,
      moved > kMostNamed ? ", …" : "");
}

/// The own port names another master, or so do most of those that name any: our own cable was out
/// while that one ruled. A port that lost its LID, as without power, counts with the one that it
/// had.
bool names_another_master(const Fabric& fabric, const LidBook& book) {
  Lid own = fabric.port_info[fabric.sm_port].lid;
  if (const auto had = book.find(fabric.port_guid[fabric.sm_port]);
      !is_unicast(own) && had != book.end())
    own = had->second.base;
  const auto names_another = [&](PortIdx port) {
    const Lid master = fabric.port_info[port].master_sm_lid;
    return master != kUnassignedLid && master != own;
  };
  if (names_another(fabric.sm_port)) return true;
  std::size_t ours = 0, others = 0;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port) || fabric.port_info[port].master_sm_lid == kUnassignedLid)
      continue;
    ++(names_another(port) ? others : ours);
  }
  return others > ours;
}

}  // namespace

Cycle::Cycle(const Parts& parts, Hooks hooks) : parts_(parts), hooks_(std::move(hooks)) {}

void Cycle::start(SweepTrigger why) {
  report_.reason = std::move(why.reason);
  report_.began = parts_.runtime.now();
  report_.detection = {.smps = parts_.meter.lap().smps};
  if (why.audits) parts_.state.audit_wanted = parts_.state.partitions.tries_anew = true;
  before_ = standing();
  stuck_before_ = parts_.state.stuck_links;
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
  if (!swept.partial) parts_.state.inactive_links.clear();  // they are tried again
  report_.resweep = std::move(swept.resweep);
  found_ = std::move(swept.sweep);
  delta_ = std::move(swept.delta);
  new_silence_ = swept.new_silence;
  opening_ = swept.opens;
  rebalancing_ = swept.rebalance || swept.opens;
  report_.duplicates = found_.duplicates;
  probe_refusing();
}

/// Switches that took no settings before are in again once they take one. Who sees nobody does not
/// know who is gone.
void Cycle::probe_refusing() {
  std::vector<SwitchIdx> asked;
  const bool sees_all = !report_.partial && !is_cut_off(*found_.fabric);
  std::erase_if(parts_.state.refusing, [&](const auto& each) {
    const auto node = found_.fabric->find_node(each.first);
    const bool is_there = node && found_.fabric->is_switch(*node);
    if (is_there) asked.push_back(found_.fabric->switch_of[*node]);
    return !is_there && sees_all;
  });
  if (asked.empty()) return take_in();
  set_probe_.emplace(parts_.client, parts_.settings.ports.m_key);
  set_probe_->start(found_, std::move(asked), [this](const std::vector<Guid>& willing) {
    for (const Guid guid : willing) parts_.state.refusing.erase(guid);
    end_stage(set_probe_, report_.discovery, &Cycle::take_in);
  });
}

void Cycle::take_in() {
  found_.fabric = parts_.deferred_work.with_known(*found_.fabric, parts_.settings.site_nodes);
  leave_out_known_refusing();
  leave_out_inactive_links();
  if (before_.in_force && !is_cut_off(*found_.fabric)) {
    const Fabric& before = before_.in_force->fabric();
    if (!delta_) delta_ = diff_fabrics(before, *found_.fabric);
    report_.changes = log_changes(before, *found_.fabric, *delta_, parts_.state.said_changes);
    for (const std::vector<Guid>* nodes : {&delta_->nodes_new, &delta_->restarted})
      for (const Guid node : *nodes) parts_.deferred_work.note_new(*found_.fabric, node);
  }
  count_found();
  parts_.client.set_timeout(answer_timeout(found_, parts_.settings.smp.timeout));
  hooks_.on_found(found_);
}

/// What was dispensable need not be so any more.
void Cycle::leave_out_known_refusing() {
  for (const auto& [guid, why] : parts_.state.refusing) {
    const auto node = found_.fabric->find_node(guid);
    if (node && !is_indispensable(found_, *node)) found_ = leave_out(found_, {{guid, why}});
  }
}

void Cycle::leave_out_inactive_links() {
  std::map<PortRef, std::string>& links = parts_.state.inactive_links;
  if (links.empty()) return;
  const Fabric& fabric = *found_.fabric;
  std::erase_if(links, [&](const auto& each) {
    const auto node = fabric.find_node(each.first.node);
    if (!node || each.first.port.value() > fabric.num_ports(*node)) return true;
    const PortState state = fabric.port_info[fabric.port_of(*node, each.first.port)].state();
    return state == PortState::Active || state == PortState::Down;
  });
  links = find_dispensable(found_, links);
  found_ = leave_out_links(found_, links);
}

void Cycle::count_found() {
  report_.silent = found_.silent;
  report_.counts = count(*found_.fabric);
  report_.cut_off = is_cut_off(*found_.fabric);
  const PortInfo& own = found_.fabric->port_info[found_.fabric->sm_port];
  report_.has_no_link = report_.cut_off && own.state() == PortState::Down;
}

void Cycle::end_cut_off() {
  ManagerState& state = parts_.state;
  static_cast<void>(choose_partitions(parts_.settings, *found_.fabric, state.partitions));
  report_.partition_faults = state.partitions.faults;
  state.was_cut_off = state.in_force != nullptr;
  finish();
}

void Cycle::proceed() {
  if (parts_.read_only) look_again_at_raised();
  follow_other_master();
  if (parts_.state.reregister) {
    const PortInfo& own = found_.fabric->port_info[found_.fabric->sm_port];
    ours_already_ = find_ports_that_name(*found_.fabric, own.lid);
  }
  take_keys();
}

/// Changes that a switch reported before its ports were read are still reported.
void Cycle::look_again_at_raised() {
  for (const SwitchIdx sw : found_.fabric->switch_node.indices()) {
    if (!found_.fabric->switch_info[sw].port_state_change) continue;
    const Guid guid = found_.fabric->node_guid[found_.fabric->switch_node[sw]];
    report_.resweep.push_back(guid);
    parts_.state.left_raised.insert(guid);
  }
}

/// Keys that are shown are replaced; those that are not keep their ports from us.
void Cycle::take_keys() {
  report_.foreign_keys = find_foreign_keys(*found_.fabric, parts_.settings.ports.m_key);
  if (report_.foreign_keys.ports == 0) return soon(&Cycle::address);
  key_taker_.emplace(parts_.client);
  key_taker_->start(found_, parts_.settings.ports, [this](std::uint64_t taken) {
    ForeignKeys& keys = report_.foreign_keys;
    keys.ports -= taken;
    keys.forever = std::min(keys.forever, keys.ports);
    // Where one was in the way, the bit can be cleared now.
    if (taken > 0 && !parts_.read_only) look_again_at_raised();
    end_stage(key_taker_, report_.configure, &Cycle::address);
  });
}

/// Where somebody else was master since our LIDs were written down, those of the fabric hold. Who
/// takes over cannot tell by what ports say: another master may have had the LID that he has now.
void Cycle::follow_other_master() {
  ManagerState& state = parts_.state;
  if (state.in_force && !state.was_cut_off) return heed_joined();
  const bool ruled = names_another_master(*found_.fabric, state.book);
  if (ruled) state.reregister = state.taking_over = true;
  if (!ruled && (state.in_force || !state.taking_over)) return;
  state.book = follow_fabric(*found_.fabric, std::move(state.book));
}

/// Of a subnet that was joined to this one: what runs there keeps its LIDs, whatever we wrote down
/// before the two were parted. A host that was plugged in is not Active yet, and has those that we
/// gave it.
void Cycle::heed_joined() {
  const Fabric& fabric = *found_.fabric;
  std::vector<Guid> joined;
  for (const PortIdx port : fabric.peer.indices()) {
    const PortInfo& info = fabric.port_info[port];
    if (fabric.is_end_port(port) && is_unicast(info.lid) && info.state() >= PortState::Armed &&
        !before_.in_force->fabric().find_node(fabric.node_guid[fabric.node_of[port]]))
      joined.push_back(fabric.port_guid[port]);
  }
  if (joined.empty()) return;
  std::ranges::sort(joined);
  auto records = parts_.state.book.extract_sequence();
  const auto [end, last] = std::ranges::remove_if(
      records, [&](const auto& each) { return std::ranges::binary_search(joined, each.first); });
  records.erase(end, last);
  parts_.state.book.adopt_sequence(boost::container::ordered_unique_range, std::move(records));
}

/// A step of its own for the loop: whoever asks the administration is answered in between.
void Cycle::soon(void (Cycle::*then)()) {
  deferred_ = Timer(parts_.runtime, parts_.runtime.now(), [this, then] { (this->*then)(); });
}

void Cycle::address() {
  hooks_.on_phase(Phase::Routing);
  ManagerState& state = parts_.state;
  LidPolicy policy = parts_.settings.lids;
  auto assigned = assign_lids(*found_.fabric, state.book, policy);
  if (!assigned) return fail(assigned.error());
  if (const Lid most = find_highest_lid(found_, policy, assigned->map.top); most < policy.max) {
    policy.max = most;
    assigned = assign_lids(*found_.fabric, state.book, policy);
    if (!assigned) return fail(assigned.error());
  }
  if (const auto small = find_small_table(found_, assigned->map.top)) {
    go_on_with(leave_out(found_, {*small}));
    return address();
  }
  for (const LidConflict& conflict : assigned->conflicts) {
    log::warn("lid.conflict",
              "lid={} kept=\"{}\" moved=\"{}\"",
              conflict.lid,
              print_port(*found_.fabric, conflict.kept),
              print_port(*found_.fabric, conflict.moved));
  }
  report_.lid_conflicts = std::move(assigned->conflicts);
  report_.ports_without_lid = assigned->without_lid.size();
  report_.lid_shortage = print_lid_shortage(*found_.fabric, assigned->without_lid, policy);
  lids_ = std::move(assigned->map);
  if (const std::string moved = print_moved(*found_.fabric, lids_, report_.lid_conflicts);
      !moved.empty() && state.said_changes.insert(moved).second)
    log::warn("lid.moved", "{}", moved);
  report_.counts.lids = static_cast<std::uint64_t>(
      std::ranges::count_if(lids_.owner, [](PortIdx p) { return p != kNone<PortIdx>; }));
  parts_.client.set_local_lid(lids_.base[found_.fabric->sm_port]);
  state.book = std::move(assigned->book);
  parts_.store.put_lids(state.book);
  addressed_ = parts_.runtime.now();
  soon(&Cycle::await_book);
}

/// No port is told of a LID that is not on the disk. One that hangs does not keep a failure from
/// being answered, in this cycle or the next ones.
void Cycle::await_book() {
  bool& too_slow = parts_.state.is_disk_slow;
  if (parts_.store.is_kept()) {
    too_slow = false;
  } else if (!too_slow && parts_.runtime.now() - addressed_ < kLongestSave) {
    deferred_ = Timer(parts_.runtime, parts_.runtime.now() + kSaveLook, [this] { await_book(); });
    return;
  } else if (!std::exchange(too_slow, true)) {
    log::warn("state.slow",
              "kind={} waited_s={}; ports get their LIDs all the same",
              StateKind::kLids.name,
              kLongestSave / std::chrono::seconds(1));
  }
  read_held();
}

void Cycle::read_held() { read_back(&Cycle::route); }

/// Of a node that was away: its end port names nobody or another manager now, who may have written
/// tables.
bool Cycle::was_ruled_by_another(PortIdx end) const {
  const Fabric& fabric = *found_.fabric;
  return before_.in_force && fabric.port_info[end].master_sm_lid != lids_.base[fabric.sm_port] &&
         (parts_.state.was_cut_off ||
          !before_.in_force->fabric().find_node(fabric.node_guid[fabric.node_of[end]]));
}

/// P_Key and QoS tables of ports, which no plan looks at: the next run reads them again,
/// everybody's where that was asked for. What they held before does not count any more, but how
/// many P_Keys hosts were using does. Of adapters that name nobody the ports come up.
void Cycle::doubt_port_tables() {
  const bool everybody = std::exchange(parts_.state.audit_wanted, false);
  if (everybody) parts_.deferred_work.audit_everybody();
  const Fabric& fabric = *found_.fabric;
  ProgramState& confirmed = parts_.state.program;
  for (const NodeIdx node : fabric.node_guid.indices()) {
    const bool is_switch = fabric.is_switch(node);
    if (is_switch && !everybody && !was_ruled_by_another(fabric.port_of(node, PortNum{0})))
      continue;
    for (const PortIdx port : fabric.ports_of(node)) {
      const bool is_doubtful =
          is_switch || everybody ||
          (fabric.port_info[port].master_sm_lid != kUnassignedLid && was_ruled_by_another(port));
      if (!is_doubtful || !is_managed(fabric, port)) continue;
      const PortRef ref{fabric.node_guid[node], fabric.number_of(port)};
      confirmed.keys.doubt(ref);
      confirmed.doubtful.insert(ref);
    }
  }
}

/// A plan starts from what the switches hold: what somebody else wrote is read before it is made.
void Cycle::read_back(void (Cycle::*then)()) {
  ProgramState& confirmed = parts_.state.program;
  for (const SwitchIdx sw : found_.fabric->switch_node.indices()) {
    const SwitchInfo& info = found_.fabric->switch_info[sw];
    const bool is_fresh = info.linear_fdb_top == 0 && !has_random_table(info);  // from power-on
    const NodeIdx node = found_.fabric->switch_node[sw];
    if (!is_fresh && !was_ruled_by_another(found_.fabric->port_of(node, PortNum{0}))) continue;
    const Guid guid = found_.fabric->node_guid[node];
    if (is_fresh) {
      confirmed.forget(guid);
      confirmed.multicast.note_restarted(guid);
    } else {
      confirmed.doubt(guid);
      confirmed.multicast.forget(guid);
    }
  }
  doubt_port_tables();
  std::vector<TableBlock> blocks = find_unread_blocks(*found_.fabric, lids_.top, confirmed.tables);
  if (blocks.empty()) return (this->*then)();
  read_back_.emplace(parts_.client, parts_.settings.ports.m_key);
  read_back_->start(found_, std::move(blocks), confirmed.tables, [this, then](std::uint64_t) {
    end_stage(read_back_, report_.tables, then);
  });
}

/// Of those that come back the entries are as they were when they were lost.
std::shared_ptr<const ActiveSubnet> Cycle::routes_to_keep() const {
  const auto& before = parts_.state.before_loss;
  if (!before || round_ > 0) return parts_.state.in_force;
  const Fabric& fabric = *found_.fabric;
  const bool is_back = std::ranges::any_of(fabric.switch_node, [&](NodeIdx node) {
    return parts_.state.lost_then.contains(fabric.node_guid[node]);
  });
  return is_back ? before : parts_.state.in_force;
}

/// As at a start: most of the switches hold entries, and were in no routes of ours.
bool Cycle::finds_unknown_entries(const Fabric& ours) const {
  const Fabric& fabric = *found_.fabric;
  const auto unknown = std::ranges::count_if(fabric.switch_node, [&](NodeIdx node) {
    return fabric.switch_info[fabric.switch_of[node]].linear_fdb_top != 0 &&
           !ours.find_node(fabric.node_guid[node]);
  });
  return 2 * static_cast<std::size_t>(unknown) > fabric.switch_count();
}

void Cycle::route() {
  hooks_.on_phase(Phase::Routing);
  RouteJob job{.fabric = found_.fabric,
               .lids = lids_,
               .engine = engine(),
               .next_engines = next_engines(),
               .fallback = parts_.settings.engine_fallback && !is_on_trial(),
               .max_vls = count_route_vls(parts_.settings),
               .engine_options = parts_.settings.engine_options,
               .orientation = parts_.state.orientation,
               .keeps_equal_directions = parts_.state.other_roots_alone,
               .lattice = parts_.store.get().lattice,
               .in_force = parts_.state.in_force,
               .found = {}};
  job.engine_options.roots = choose_roots(parts_.settings, *found_.fabric);
  if (rebalancing_) return rebalance(std::move(job));
  // Whom an operator names makes the routes anew; auto is to say who, and leaves those that are.
  const bool hold_entries = std::ranges::any_of(
      found_.fabric->switch_info, [](const SwitchInfo& info) { return info.linear_fdb_top != 0; });
  const bool asks_auto = job.engine == "auto" || std::ranges::count(job.next_engines, "auto") != 0;
  job.in_force = routes_to_keep();
  if (job.in_force != parts_.state.in_force) job.orientation = job.in_force->routing->orientation;
  job.taking_over = parts_.state.taking_over;
  const bool heeds_found = job.taking_over || (asks_auto && hold_entries);
  const auto is_start = [&](const ActiveSubnet& ours) {
    return round_ == 0 && !is_on_trial() && finds_unknown_entries(ours.fabric());
  };
  if (heeds_found && (!job.in_force || is_start(*job.in_force))) {
    job.in_force = nullptr;
    job.found = collect_held_tables(*found_.fabric, lids_.top, parts_.state.program.tables).lft;
    // Those that it was made by, as far as somebody knows.
    job.orientation = {};
    if (are_directions_free(parts_.settings.engine_options))
      job.orientation.by_guid = parts_.store.get().directions;
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
  if (gives_way()) return;
  job.stop = rebalance_stop_.get_token();
  // Of engines that are to be asked from now on nobody knows yet whether they refuse.
  job.fallback = job.fallback && !parts_.state.engine_refused.empty();
  if (opening_) return open_blocked(std::move(job));
  work_.offload(
      parts_.runtime,
      [job = std::move(job)] { return compute_rebalance(job); },
      [this](tl::expected<Routed, std::string> routed) {
        if (gives_way()) return;
        parts_.state.imbalanced = false;
        if (!routed) {
          parts_.state.gave_way = 0;
          return drop_rebalance(routed.error());
        }
        instead_ = routed->instead;
        on_routed(std::move(*routed));
      });
}

/// The same routes, and a plan for whatever is not as the site wants it.
void Cycle::open_blocked(RouteJob job) {
  work_.offload(
      parts_.runtime,
      [job = std::move(job)] { return check_in_force(job); },
      [this](Routed routed) {
        if (gives_way()) return;
        parts_.state.leaves_blocked = false;
        on_routed(std::move(routed));
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
    // Whom auto would take, or how even his routes would be, is asked at rest.
    const bool choice_kept = !routed.tables.chosen_by.empty() && before_.in_force != nullptr;
    parts_.state.imbalanced =
        routed.tables.recomputed.has_value() || choice_kept || routed.kept_found;
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
  // Who evens routes or opens what is blocked asks no engine.
  const bool asks = !routed.fallback_reason.empty() || report_.engine == report_.engine_asked ||
                    !(rebalancing_ || is_on_trial());
  report_.engine_refused = asks ? std::move(routed.fallback_reason) : parts_.state.engine_refused;
  if (!is_on_trial()) parts_.state.engine_refused = report_.engine_refused;
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

/// An engine that is on trial, or of a mode with routes of its own, stands alone.
std::vector<std::string> Cycle::next_engines() const {
  const Settings& settings = parts_.settings;
  if (is_on_trial() || !settings.strategy.engines.empty()) return {};
  std::vector<std::string> engines = settings.next_engines;
  std::erase(engines, settings.engine);  // one that was asked for by command
  return engines;
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
  state.was_cut_off = false;
  state.silence = report_.silent;
}

void Cycle::set_target(RoutingTables goal, std::shared_ptr<const VerifiedRoutes> verified) {
  ManagerState& state = parts_.state;
  const Fabric& fabric = *found_.fabric;
  auto partitions = choose_partitions(parts_.settings, fabric, state.partitions);
  report_.partition_faults = state.partitions.faults;
  report_qos_conflicts(parts_.settings, goal, partitions.get(), state.qos_conflicts);
  const bool loses_sl0 = std::ranges::count(state.qos_conflicts, kSl0Discarded) != 0;
  report_.qos_fault = loses_sl0 ? kSl0Discarded : std::string_view{};
  std::optional<MulticastVl> apart;
  if (state.wants_multicast_vl) {
    if (const auto vl = choose_multicast_vl(fabric, goal, parts_.settings, partitions.get()))
      apart = *vl;
  }
  SlToVlMaps rows;
  if (parts_.store.get().sl_to_vl_mark || goal.vls > 1 || !goal.sl_to_vl.empty() || apart)
    rows = choose_rows(fabric, goal, parts_.settings.qos, apart, count_route_vls(parts_.settings));
  state.in_force = std::make_shared<const ActiveSubnet>(ActiveSubnet{
      .sweep = found_,
      .lids = lids_,
      .routing = opening_ ? state.in_force->routing : Shared<RoutingTables>{std::move(goal)},
      .rows = std::move(rows),
      .partitions = std::move(partitions),
      .multicast_vl = apart,
      .verified = std::move(verified)});
  remember_loss();
  replans_ = 0;
  read_rows();
}

bool Cycle::may_give_way() const {
  constexpr unsigned kMostTimes = 2;
  return rebalancing_ && replans_ == 0 && !is_on_trial() && parts_.state.gave_way < kMostTimes;
}

/// Hosts may be cut off by a change, and nobody is by what is uneven: that is left for later.
bool Cycle::gives_way() {
  ManagerState& state = parts_.state;
  const bool is_stopped = rebalance_stop_.stop_requested();
  if (!may_give_way() || (!is_stopped && (!hooks_.change_waits || !hooks_.change_waits())))
    return false;
  ++state.gave_way;
  (opening_ ? state.leaves_blocked : state.imbalanced) = true;
  restore(before_);
  drop_rebalance("a change waits");
  return true;
}

/// Less than half of the switches are left, as where the own switch has lost its cables.
bool Cycle::is_mostly_lost(const ActiveSubnet& before) const {
  return 2 * found_.fabric->switch_count() < before.fabric().switch_count();
}

void Cycle::remember_loss() {
  ManagerState& state = parts_.state;
  // Unless other directions were asked for since.
  if (!state.before_loss && before_.in_force && is_mostly_lost(*before_.in_force) &&
      before_.orientation == before_.in_force->routing->orientation) {
    state.before_loss = before_.in_force;
    const Fabric& then = state.before_loss->fabric();
    for (const NodeIdx node : then.switch_node) state.lost_then.insert(then.node_guid[node]);
  }
  if (!state.before_loss) return;
  for (const NodeIdx node : found_.fabric->switch_node)
    state.lost_then.erase(found_.fabric->node_guid[node]);
  const bool rebalanced = rebalancing_ && !opening_ && !is_mostly_lost(*state.before_loss);
  if (state.lost_then.empty() || rebalanced) state.forget_loss();
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
  if (written_) return keep_written(error.context);
  if (parts_.read_only) report_.resweep.clear();  // the next cycle sweeps everything
  report_.error = std::move(error);
  finish();
}

/// By the names that they had when somebody last saw them.
void Cycle::remember_who_was_there() {
  std::map<PortRef, std::string>& led_to = parts_.state.led_to;
  std::set<PortRef> silent;
  for (const SilentPort& each : report_.silent) {
    const PortRef end{each.node, each.port};
    silent.insert(end);
    if (!before_.in_force || led_to.contains(end)) continue;
    const Fabric& before = before_.in_force->fabric();
    const auto node = before.find_node(end.node);
    if (!node || end.port.value() > before.num_ports(*node)) continue;
    const PortIdx peer = before.peer[before.port_of(*node, end.port)];
    if (peer != kNone<PortIdx>) led_to[end] = name_of(before, before.node_of[peer]);
  }
  if (report_.error || report_.cut_off || report_.quiet) return;
  std::erase_if(led_to, [&](const auto& each) { return !silent.contains(each.first); });
}

void Cycle::finish() {
  remember_who_was_there();
  report_.routing.wall += parts_.meter.lap().wall;  // of the measuring
  report_.ended = parts_.runtime.now();
  if (!report_.error && !report_.quiet && !report_.cut_off) parts_.state.said_changes.clear();
  if (found_.fabric) report_.counts.hosts = count_hosts(*found_.fabric);
  std::exchange(hooks_.done, nullptr)(std::move(report_));
}

}  // namespace smd
