#include "smd/manager/subnet_manager.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "smd/base/log.h"
#include "smd/manager/cycle_log.h"

namespace smd {
namespace {

/// Changes kept for `smctl changes`.
constexpr std::size_t kChangesKept = 100;

/// Between two looks of one that sees nobody.
constexpr Duration kLongestBlindPause = std::chrono::seconds(10);

/// Deferred work waits for a fabric at rest, but no longer than this.
constexpr Duration kLongestDeferral = std::chrono::seconds(30);

bool found_something(const CycleReport& cycle, const CycleReport& before) {
  return cycle.sets() > 0 || cycle.counts != before.counts || cycle.silent != before.silent;
}

std::vector<std::string> list_engines(const Settings& settings) {
  std::vector<std::string> out{settings.engine};
  out.insert(out.end(), settings.next_engines.begin(), settings.next_engines.end());
  return out;
}

}  // namespace

SubnetManager::SubnetManager(
    Runtime& runtime, Transport& transport, Settings settings, StateStore& store, Observer observer)
    : runtime_(runtime),
      transport_(transport),
      settings_(std::move(settings)),
      configured_engines_(list_engines(settings_)),
      store_(store),
      observer_(std::move(observer)),
      gate_(transport,
            [this] {
              // Who sets LIDs while he sweeps knows of one manager only.
              return election_.may_write() || (settings_.strategy.lids_while_sweeping &&
                                               election_.state() == SmState::Discovering);
            }),
      port_m_keys_(transport.local_port().port_guid),
      client_(runtime, gate_, settings_.smp),
      election_(runtime, client_, transport.local_port(), settings_.election, election_hooks()),
      traps_(runtime,
             client_,
             {.in_force = [this]() -> const ActiveSubnet* { return state_.in_force.get(); },
              .on_batch = [this](TrapBatch batch) { on_traps(std::move(batch)); },
              .on_sm_info = [this](const Smp& smp,
                                   const MadPacket& packet) { election_.receive(smp, packet); },
              .on_manager = [this](Lid lid) { election_.hear_of(lid); }}),
      state_(fresh_state()),
      deferred_work_(runtime_, client_, state_.program.keys),
      leases_(runtime, client_),
      meter_(runtime, client_, observer_.wall),
      multicast_(runtime, client_, state_.program.multicast, meter_) {
  take_m_keys();
  deferred_work_.set_leftovers(settings_.leftovers);
  // The modes of the thesis ask by LID while there are no routes yet.
  if (settings_.directed_only.value_or(!transport.routes_smps_by_lid()) &&
      !settings_.strategy.lids_while_sweeping)
    client_.set_directed_only([this](Lid lid) { return path_of(lid); });
  client_.set_same_port([this](Lid one, Lid other) {
    const ActiveSubnet* now = state_.in_force.get();
    const PortIdx port = now == nullptr ? kNone<PortIdx> : now->lids->owner_of(one);
    return port != kNone<PortIdx> && now->lids->owner_of(other) == port;
  });
  traps_.adopt(settings_);
  connect();
}

void SubnetManager::take_m_keys() {
  port_m_keys_.adopt(settings_.m_keys);
  client_.set_port_m_keys(settings_.m_keys.empty() ? nullptr : &port_m_keys_);
}

/// Who in here hears of what.
void SubnetManager::connect() {
  traps_.on_notice([this](const Notice& notice) { noticed_.emit(notice); });
  client_.on_lost([this](const Error& error) { observer_.on_lost(error); });
  multicast_.on_credit_loop([this] { return request_multicast_vl(); });
  active_.subscribe([this](const Publisher<ActiveSubnet>::Change& change) {
    if (!change.now) return multicast_.stop();
    multicast_.adopt(change.now, settings_);
  });
  active_.subscribe([this](const Publisher<ActiveSubnet>::Change& change) {
    if (change.now && settings_.ports.m_key_protect >= 2 && port_m_keys_.has_seed() &&
        port_m_keys_.take_news())
      store_.put_m_key_links(port_m_keys_.links());
  });
  active_.subscribe([this](const Publisher<ActiveSubnet>::Change& change) {
    leases_.set_ports(
        change.now, settings_.ports.m_key, std::chrono::seconds(settings_.ports.m_key_lease_s));
  });
}

SubnetManager::~SubnetManager() { drop_cycle("the manager ends"); }

void SubnetManager::start() {
  if (const auto shown = transport_.set_is_sm(true); !shown) {
    log::warn("transport.is_sm", "why=\"{}\"", shown.error().context);
  }
  election_.start();
  begin_cycle(SweepTrigger::of_everything("start"));
}

Election::Hooks SubnetManager::election_hooks() {
  return {.look =
              [this](std::string reason) {
                if (active_.current()) active_.publish(nullptr);
                drop_work();
                begin_cycle(SweepTrigger::of_everything(std::move(reason)));
              },
          .hold =
              [this] {
                reregister_before_hold_ = state_.reregister;
                drop_work();
                enter(Phase::HandingOver);
              },
          .rule =
              [this](std::string reason) {
                drop_work();
                begin_cycle(SweepTrigger::of_everything(std::move(reason)));
              },
          .resume =
              [this](std::string reason) {
                drop_work();
                state_.reregister = reregister_before_hold_;
                begin_cycle(SweepTrigger::of_everything(std::move(reason)));
              },
          .on_state = [this](SmState state) { on_sm_state(state); },
          .on_others =
              [this] {
                if (active_.current()) active_.publish(active_.current());
              },
          .port_at =
              [this](const SmpRoute& route) {
                return state_.in_force ? find_port_at(*state_.in_force, route) : std::nullopt;
              },
          .on_own_link_lost = [this] { look_at_own_link(); },
          .on_own_link_back = [this] { request_sweep("the own port has a link again"); },
          .busy =
              [this](Guid to) {
                const bool behind = observer_.standby_is_behind(to);  // its time runs from now on
                return behind || phase_ == Phase::Routing || phase_ == Phase::Programming;
              }};
}

std::optional<HopPath> SubnetManager::path_of(Lid lid) const {
  const ActiveSubnet* now = state_.in_force.get();
  const PortIdx port = now == nullptr ? kNone<PortIdx> : now->lids->owner_of(lid);
  if (port == kNone<PortIdx>) return std::nullopt;
  return path_to(now->sweep, port);
}

void SubnetManager::on_sm_state(SmState state) {
  using Listen = TrapHandler::Listen;
  traps_.listen(state == SmState::Master        ? Listen::AsMaster
                : state == SmState::Discovering ? Listen::WithoutRepress
                                                : Listen::Off);
  observer_.on_role(state);
  if (state == SmState::Master || state == SmState::Discovering) return;
  if (active_.current()) active_.publish(nullptr);
  drop_work();
  if (next_settings_) take_settings();
  enter(state == SmState::Standby ? Phase::Standby : Phase::NotActive);
}

/// Nothing is known but what is kept.
ManagerState SubnetManager::fresh_state() const {
  ManagerState state{.book = store_.get().lids};
  for (const TurnRef& turn : store_.get().turns) state.program.turns.suspect(turn);
  return state;
}

/// What another manager may change meanwhile is forgotten: it will be read from the fabric. Not
/// which switches there were: those that answer nothing then may still forward.
void SubnetManager::drop_work() {
  drop_cycle("another manager, or an order of one");
  deferred_work_.stop();
  deferred_work_.forget();
  leases_.stop();
  light_sweep_.reset();
  for (Timer* timer : {&deferred_,
                       &light_sweep_ended_,
                       &sweep_timer_,
                       &rebalance_timer_,
                       &opening_timer_,
                       &reread_timer_})
    timer->reset();
  reread_armed_ = false;
  pending_ = {};
  light_sweep_wanted_.clear();
  deferred_work_due_since_.reset();
  uneven_since_.reset();
  blocked_since_.reset();
  alarms_.clear();
  said_ = {};
  if (std::exchange(is_trying_, false)) trial_.reset();
  const std::uint64_t epoch = state_.next_epoch;
  auto with_lost = std::move(state_.with_lost);
  auto partitions = std::move(state_.partitions);
  auto led_to = std::move(state_.led_to);
  state_ = fresh_state();
  state_.led_to = std::move(led_to);
  state_.with_lost = std::move(with_lost);
  // Rules that were refused, and of which an alarm says so, are not taken in silence later on.
  state_.partitions = std::move(partitions);
  state_.reregister = state_.taking_over = true;
  state_.next_epoch = epoch;
}

void SubnetManager::drop_cycle(std::string_view why) {
  if (cycle_) log::info("cycle.end", "reason=\"{}\" result=dropped why=\"{}\"", reason_, why);
  cycle_.reset();
}

void SubnetManager::adopt(Settings settings) {
  // Keys go with those of the ports, or what names one would be taken for it.
  ElectionConfig soon = settings.election;
  soon.m_key = settings_.election.m_key;
  election_.adopt(soon);
  keep_ordered_engine(settings);
  if (!is_standby()) state_.partitions.tries_anew = true;
  next_settings_ = std::move(settings);
  if (is_standby()) take_settings();
}

/// An order stands while the configuration names what it named before. Where that is another engine
/// now, it counts.
void SubnetManager::keep_ordered_engine(Settings& fresh) {
  const std::string ordered = is_trying_       ? trial_->engine
                              : next_settings_ ? next_settings_->engine
                                               : settings_.engine;
  const auto configured = std::exchange(configured_engines_, list_engines(fresh));
  const bool stands = configured == configured_engines_ && fresh.strategy.engines.empty();
  if (ordered != configured.front()) {
    log::info("engine.order",
              "ordered={} configured={} counts={}",
              ordered,
              fresh.engine,
              stands ? ordered : fresh.engine);
  }
  if (stands) fresh.engine = next_settings_ ? next_settings_->engine : settings_.engine;
  if (stands && is_trying_) return;
  trial_.reset();
  is_trying_ = false;
}

void SubnetManager::adopt_partitions(std::optional<PartitionPolicy> partitions,
                                     std::vector<PreconfiguredGroup> groups,
                                     std::uint64_t rules,
                                     std::string reason) {
  if (!next_settings_) next_settings_ = settings_;
  next_settings_->partitions = std::move(partitions);
  next_settings_->groups = std::move(groups);
  next_settings_->partition_rules = rules;
  if (is_standby()) return take_settings();
  trigger(SweepTrigger::of_rules(std::move(reason)));
}

Result<void> SubnetManager::request_engine(const std::string& name, bool force) {
  if (is_standby()) return fail(Errc::Busy, "this manager does not rule the subnet");
  if (phase_ == Phase::HandingOver)
    return fail(Errc::Busy, "the subnet is being handed over; ask whoever rules it then");
  const Settings& settings = next_settings_ ? *next_settings_ : settings_;
  if (!settings.strategy.engines.empty())
    return fail(Errc::Invalid, "sm.mode has routes of its own, and no engine");
  trial_ = {.engine = name, .why = {}};
  is_trying_ = true;
  engine_by_force_ = force;
  request_sweep(fmt::format("command: engine {}", name));
  return {};
}

/// One that was asked for while the cycle ran waits for the next.
void SubnetManager::note_trial(const CycleReport& report) {
  if (report.trial && report.trial->taken) {
    settings_.engine = report.trial->engine;
    // Those that came with the configuration end the trial.
    if (next_settings_ && trial_) next_settings_->engine = report.trial->engine;
  }
  if (!is_trying_ || trial_->engine != tried_) return;
  is_trying_ = false;
  if (report.trial) {
    trial_ = report.trial;
  } else {
    trial_->why = report.error ? report.error->context : "the cycle ended before its routes";
  }
}

std::vector<std::string> SubnetManager::alarms() const {
  std::vector<std::string> out = alarms_;
  if (trial_ && !is_trying_ && !trial_->taken)
    out.push_back(fmt::format("engine {} requested, {} in force: {}",
                              trial_->engine,
                              last_ ? last_->engine : settings_.engine,
                              trial_->why));
  if (!election_.trouble().empty()) out.push_back(election_.trouble());
  if (std::string storm = traps_.alarm(); !storm.empty()) out.push_back(std::move(storm));
  for (std::string& each : print_alarms(multicast_.stats())) out.push_back(std::move(each));
  if (state_.in_force) {
    for (std::string& each : deferred_work_.print_leftovers(state_.in_force->fabric()))
      out.push_back(std::move(each));
  }
  return out;
}

/// Nobody answers what a cycle asks now, and the gate is to be closed before another one rules.
void SubnetManager::look_at_own_link() {
  if (phase_ == Phase::Routing || phase_ == Phase::Programming) {
    drop_work();  // what was being written is not known
  } else if (cycle_) {
    deferred_.reset();
    drop_cycle("the own port has no link");
  }
  begin_cycle(SweepTrigger::of_everything("the own port has no link"));
}

/// Who else manages here is asked before anything is written.
void SubnetManager::survey(const SweepReport& found) {
  const Fabric& fabric = *found.fabric;
  if (is_cut_off(fabric)) {
    election_.be_cut_off(fabric.port_info[fabric.sm_port].state() != PortState::Down);
    return cycle_->end_cut_off();
  }
  election_.know_own_port(fabric.port_info[fabric.sm_port].capability_mask);
  election_.survey(find_other_managers(found), [this] {
    if (cycle_) cycle_->proceed();
  });
}

tl::expected<MulticastVl, std::string> SubnetManager::request_multicast_vl() {
  if (!state_.in_force) return tl::unexpected(std::string("no routes are in force"));
  const ActiveSubnet& now = *state_.in_force;
  auto vl = choose_multicast_vl(now.fabric(), now.routing, settings_, now.partitions.get());
  if (vl && !std::exchange(state_.wants_multicast_vl, true))
    request_sweep("multicast packets need a lane of their own");
  return vl;
}

void SubnetManager::request_sweep(std::string reason) {
  trigger(SweepTrigger::of_everything(std::move(reason)));
}

void SubnetManager::request_audit(std::string reason) {
  trigger(SweepTrigger::of_audit(std::move(reason)));
}

void SubnetManager::request_light_sweep() {
  if (is_standby()) return;
  if (phase_ == Phase::Idle || phase_ == Phase::Up) return light_sweep("command");
  light_sweep_wanted_ = "command";
}

void SubnetManager::trigger(SweepTrigger why) {
  if (is_standby() || phase_ == Phase::HandingOver) return;  // a full sweep follows
  const bool busy = (phase_ != Phase::Idle && phase_ != Phase::Up) ||
                    (deferred_work_.running() && deferred_work_is_overdue());
  if (busy) {
    if (cycle_) why.names_a_change() ? cycle_->stop_for_change() : cycle_->stop_measuring();
    return pending_.merge(std::move(why));
  }
  begin_cycle(std::move(why));
}

void SubnetManager::enter(Phase phase) {
  phase_ = phase;
  observer_.on_phase(phase);
}

void SubnetManager::take_settings() {
  // Kept directions outrank what is asked of new ones.
  const auto asked = [](const Settings& settings) {
    return std::tie(settings.engine_options.roots,
                    settings.engine_options.root_choice,
                    settings.engine_options.orientation_search,
                    settings.engine_options.lane_cut);
  };
  if (asked(*next_settings_) != asked(settings_)) {
    EngineOptions but_for_roots = next_settings_->engine_options;
    but_for_roots.roots = settings_.engine_options.roots;
    state_.other_roots_alone =
        but_for_roots == settings_.engine_options && !state_.orientation.by_guid.empty();
    state_.orientation = {};
  }
  const auto engines = [](const Settings& settings) {
    return std::tie(settings.engine, settings.next_engines, settings.engine_options);
  };
  if (state_.in_force && engines(*next_settings_) != engines(settings_)) state_.ask_anew();
  settings_ = *std::exchange(next_settings_, std::nullopt);
  take_m_keys();
  election_.adopt(settings_.election);
  traps_.adopt(settings_);
  if (deferred_work_.set_leftovers(settings_.leftovers)) deferred_work_due_since_ = runtime_.now();
}

void SubnetManager::begin_cycle(SweepTrigger why) {
  if (next_settings_) take_settings();
  if (!state_.in_force) {
    for (const KeyLink& link : store_.get().m_key_links) port_m_keys_.put(link);
  }
  sweep_timer_.reset();
  rebalance_timer_.reset();
  opening_timer_.reset();
  // What one that is cut short was asked for is still to be found out.
  if (light_sweep_ && light_sweep_->is_asking_switches() && light_sweep_reason_ == kSweep)
    swept_ = {};
  if (light_sweep_ && light_sweep_reason_ != kSweep)
    light_sweep_wanted_ = std::move(light_sweep_reason_);
  if (light_sweep_) {
    const Duration patience = answer_timeout(state_.in_force->sweep, settings_.smp.timeout);
    for (const NodeIdx node : light_sweep_->list_late(patience))
      why.switches.push_back(state_.in_force->fabric().node_guid[node]);
  }
  // What is done at rest waits until they have been looked at.
  if (!why.switches.empty()) why.rebalance = why.opens = false;
  light_sweep_.reset();
  deferred_work_.stop();
  traps_.begin_sweep();
  if (election_.state() == SmState::Discovering) election_.begin_look();
  is_published_ = false;
  tried_ = is_trying_ ? trial_->engine : std::string{};
  reason_ = why.reason;
  log::info("cycle.begin",
            "reason=\"{}\" epoch={} suspects={}",
            why.reason,
            state_.next_epoch,
            why.full.empty() ? fmt::format("{}", why.switches.size() + why.ports.size()) : "all");
  cycle_.emplace(
      Cycle::Parts{.runtime = runtime_,
                   .client = client_,
                   .settings = settings_,
                   .state = state_,
                   .store = store_,
                   .deferred_work = deferred_work_,
                   .meter = meter_,
                   // Also of one that was handed the subnet: the order may be an old one.
                   .read_only = (!state_.in_force || election_.state() == SmState::Discovering) &&
                                !settings_.strategy.lids_while_sweeping,
                   .trial_engine = tried_,
                   .engine_by_force = engine_by_force_},
      Cycle::Hooks{
          .on_phase = [this](Phase phase) { enter(phase); },
          .on_plan = observer_.on_plan,
          .on_found = [this](const SweepReport& found) { survey(found); },
          .on_routes =
              [this](std::shared_ptr<const ActiveSubnet> next, std::function<void()> then) {
                multicast_.make_way(std::move(next), [this, then = std::move(then)] {
                  // The plan reckons without what they copied.
                  if (multicast_.has_withdrawn()) state_.program.changed_at = runtime_.now();
                  then();
                });
              },
          .change_waits = [this] { return pending_.names_a_change(); },
          .on_written = [this](const CycleReport& report) { on_written(report); },
          .done =
              [this](CycleReport report) {
                deferred_ =
                    Timer(runtime_, runtime_.now(), [this, report = std::move(report)]() mutable {
                      cycle_.reset();
                      on_cycle(std::move(report));
                    });
              }});
  cycle_->start(std::move(why));
}

/// Hosts wait for the new routes, and nobody for their statistics.
void SubnetManager::on_written(const CycleReport& report) {
  is_published_ = true;
  if (cycle_ && !pending_.empty()) cycle_->stop_measuring();
  multicast_.end_way();
  came_up_.emit({report.came_up, state_.in_force->fabric()});
  const bool free = are_directions_free(settings_.engine_options);
  store_.put_directions(free ? directions_to_keep() : SwitchRanks{});
  // Routes that go by none leave that of former ones: its engine may be asked again.
  if (const auto& lattice = state_.in_force->routing->lattice) store_.put_lattice(*lattice);
  publish();
}

/// Those of switches that cannot be reached now hold there as ever. The others in the store are of
/// switches that are gone, once most are there.
SwitchRanks SubnetManager::directions_to_keep() const {
  const SwitchRanks& now = state_.orientation.by_guid;
  const SwitchRanks& kept = store_.get().directions;
  const auto there = std::ranges::count_if(kept, [this](const auto& each) {
    return state_.in_force->fabric().find_node(each.first).has_value();
  });
  if (!state_.before_loss && 2 * static_cast<std::size_t>(there) >= kept.size()) return now;
  SwitchRanks both;
  const auto guid = &SwitchRanks::value_type::first;
  std::ranges::set_union(now, kept, std::back_inserter(both), {}, guid, guid);
  return both;
}

/// Of a change that is not written to its end, and needs several VLs, hosts hear when it is, or
/// when that lasts.
void SubnetManager::publish() {
  if (state_.may_publish_after(active_.current().get(), settings_.strategy.planner.unproved))
    active_.publish(state_.in_force);
}

void SubnetManager::on_cycle(CycleReport report) {
  multicast_.end_way();
  meter_.lap();  // what follows belongs to the detection of the next change
  note_trial(report);
  if (report.cut_off && !report.error) return on_cut_off(report);
  if (!report.error) {
    last_sweep_ = {.ended = report.ended, .took = report.ended - report.began};
    if (!report.quiet) note_partitions("");
    // A cycle that fails says nothing of those who asked for it: the next one does.
    traps_.end_sweep(!report.quiet && (!last_ || found_something(report, *last_)));
  } else {
    note_partitions(report.error->context);
  }
  if (!report.partial) swept_ = runtime_.now();
  store_.put_turns(state_.program.turns.maybe_blocked());
  if (report.quiet) {
    if (pending_.names_a_change()) changed_ = runtime_.now();  // it is no rest
    log::info("cycle.end", "reason=\"{}\" result=unchanged smps={}", report.reason, report.smps());
    enter(Phase::Up);
    election_.settle();
    if (phase_ == Phase::HandingOver) return;
    return next();
  }
  ++cycles_;
  changed_ = runtime_.now();
  state_.interrupted_cycles =
      report.transition.interrupted.empty() ? 0 : state_.interrupted_cycles + 1;
  keep(report);
  if (!report.resweep.empty())
    pending_.merge(SweepTrigger::of("a change while it was looked at", std::move(report.resweep)));
  if (report.check_differs)
    log::error("route.check_differs", "engine={} next=\"full cycle\"", report.engine);
  if (!report.error) {
    deferred_work_.note_came_up(state_.in_force->fabric(), report.came_up);
    if (!deferred_work_due_since_) deferred_work_due_since_ = runtime_.now();
  }
  enter(report.error ? Phase::Idle : Phase::Up);
  if (!report.error && !is_published_) on_written(report);
  if (!report.error && active_.current() != state_.in_force) publish();
  cycle_ended_.emit(*last_);
  observer_.on_cycle(*last_);
  election_.settle();
  if (phase_ == Phase::HandingOver) return;
  next();
}

/// `trouble`: why the cycle did not write what it was to write; or empty.
void SubnetManager::note_partitions(const std::string& trouble) {
  const std::string& why = trouble.empty() ? state_.partitions.not_taken : trouble;
  if (why.empty()) {
    partitions_in_force_ = settings_.partition_rules;
  } else {
    partitions_failed_ = settings_.partition_rules;
    partitions_failed_why_ = why;
  }
}

/// Nobody but ourselves was seen, and the next sweep looks again.
void SubnetManager::on_cut_off(const CycleReport& report) {
  last_sweep_ = {.ended = report.ended, .took = report.ended - report.began};
  note_partitions(print_cut_off(report));
  swept_ = changed_ = runtime_.now();
  ++cycles_;
  traps_.end_sweep(false);
  keep(report);
  enter(Phase::Idle);
  cycle_ended_.emit(*last_);
  observer_.on_cycle(*last_);
  next();
}

NodeNames SubnetManager::node_names() const {
  return {.fabric = state_.in_force ? &state_.in_force->fabric() : nullptr,
          .led_to = &state_.led_to};
}

/// The report goes where readers find it.
void SubnetManager::keep(const CycleReport& report) {
  log_cycle(report, said_, node_names());
  alarms_ = alarms_of(report, node_names());
  CycleReport kept = report;
  if (last_) {
    kept.shrank =
        kept.counts.links < last_->counts.links ||
        kept.counts.switches + kept.counts.cas < last_->counts.switches + last_->counts.cas;
  }
  Trouble trouble = trouble_of(kept);
  // What is newly silent is asked soon, where nobody else has to be asked for it.
  const bool is_new = is_silence_alone(trouble, kept) && asks_all_silent() &&
                      std::ranges::any_of(kept.silent, [&](const SilentPort& each) {
                        return std::ranges::count(last_->silent, each) == 0;
                      });
  const bool looks_on = is_new || kept.cut_off;
  const Duration pause = kept.cut_off ? std::min(sweep_pause(), kLongestBlindPause) : sweep_pause();
  retry_.on_cycle(std::move(trouble), kept.partial, runtime_.now(), pause, looks_on);
  if (bring_up_ && (kept.error || found_something(kept, *last_))) {
    ++change_count_;
    changes_.push_front(kept);
    if (changes_.size() > kChangesKept) changes_.pop_back();
  } else if (!bring_up_ && !kept.error && !kept.cut_off) {
    bring_up_ = kept;
  }
  last_ = std::move(kept);
}

void SubnetManager::next() {
  // After a cycle that failed there is no deferred work to wait for.
  const bool works_first = phase_ == Phase::Up && deferred_work_is_overdue();
  if (!pending_.empty() && !works_first) return begin_cycle(std::exchange(pending_, {}));
  if (phase_ == Phase::Up && deferred_work_due_since_) start_deferred_work();
  reread_soon();
  arm_rebalance();
  arm_opening();
  if (!light_sweep_wanted_.empty()) return light_sweep(std::exchange(light_sweep_wanted_, {}));
  arm_sweep();
}

bool SubnetManager::deferred_work_is_overdue() const {
  return deferred_work_due_since_ && runtime_.now() - *deferred_work_due_since_ > kLongestDeferral;
}

void SubnetManager::start_deferred_work() {
  deferred_work_began_ = runtime_.now();
  // Routes were balanced for who sent data as far as it was known.
  const auto on_learned = [this](std::shared_ptr<const ActiveSubnet> better) {
    if (better->fabric().demand != state_.in_force->fabric().demand) state_.imbalanced = true;
    state_.replace_in_force(std::move(better));
  };
  deferred_work_.start(state_.in_force, settings_.ports.m_key, on_learned, [this] {
    deferred_work_due_since_.reset();
    meter_.lap();
    if (last_) alarms_ = alarms_of(*last_, node_names());  // of whom it learned the names
    publish();
    deferred_ = Timer(runtime_, runtime_.now(), [this] {
      if (!pending_.empty() && phase_ == Phase::Up) {
        begin_cycle(std::exchange(pending_, {}));
      } else {
        reread_soon();
        arm_rebalance();
        arm_opening();
      }
    });
  });
}

}  // namespace smd
