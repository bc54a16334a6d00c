#include "smd/app/subnet_manager.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "smd/app/cycle_log.h"
#include "smd/base/log.h"

namespace smd::app {
namespace {

/// Changes kept for `smctl changes`.
constexpr std::size_t kChangesKept = 100;

/// The first look after trouble where periodic sweeps are off.
constexpr Duration kFirstRetry = std::chrono::seconds(10);

/// The reason of those that come at intervals.
constexpr const char* kSweep = "sweep";

/// Between two sweeps, however short they are.
constexpr Duration kShortestPause = std::chrono::milliseconds(1);

/// Between two aftercares that nodes asked for by traps: each makes a new snapshot.
constexpr Duration kRereadPause = std::chrono::milliseconds(500);

/// Aftercare waits for a fabric at rest, but no longer than this.
constexpr Duration kLongestWithoutCare = std::chrono::seconds(30);

bool found_something(const CycleReport& cycle, const CycleReport& before) {
  return cycle.error || cycle.sets() > 0 || cycle.counts != before.counts ||
         cycle.silent != before.silent;
}

}  // namespace

std::string_view print_phase(Phase phase) {
  switch (phase) {
    case Phase::Idle:
      return "idle";
    case Phase::Discovering:
      return "discovering";
    case Phase::Routing:
      return "routing";
    case Phase::Programming:
      return "programming";
    case Phase::Up:
      return "master";
    case Phase::HandingOver:
      return "handing over";
    case Phase::Standby:
      return "standby";
    case Phase::NotActive:
      return "not active";
  }
  return "unknown";
}

SubnetManager::SubnetManager(
    Runtime& runtime, Transport& transport, Settings settings, Kept kept, Observer observer)
    : runtime_(runtime),
      transport_(transport),
      settings_(std::move(settings)),
      observer_(std::move(observer)),
      gate_(transport,
            [this] {
              // The thesis sets LIDs while it looks, and knows of one manager only.
              return election_.may_write() ||
                     (settings_.assimilation.literal && election_.state() == SmState::Discovering);
            }),
      client_(runtime, gate_, settings_.smp),
      election_(runtime, client_, transport.local_port(), settings_.election, election_hooks()),
      traps_(runtime,
             client_,
             {.in_force = [this]() -> const ActiveSubnet* { return holdings_.in_force.get(); },
              .look = [this](TrapBatch batch) { on_traps(std::move(batch)); },
              .on_sm_info = [this](const Smp& smp,
                                   const MadPacket& packet) { election_.receive(smp, packet); },
              .on_manager = [this](Lid lid) { election_.hear_of(lid); }}),
      holdings_{.book = std::move(kept.book), .rows = kept.rows},
      aftercare_(client_, holdings_.program.keys),
      leases_(runtime, client_),
      meter_(runtime, client_, observer_.wall),
      multicast_(runtime, client_, holdings_.program.multicast, meter_),
      turns_(std::move(kept.turns)) {
  traps_.adopt(settings_);
  for (const TurnRef& turn : turns_) holdings_.program.turns.suspect(turn);
  connect();
}

/// Who in here hears of what.
void SubnetManager::connect() {
  traps_.on_notice([this](const Notice& notice) { noticed_.emit(notice); });
  client_.on_lost([this](const Error& error) { observer_.on_lost(error); });
  multicast_.on_credit_loop([this] { return set_multicast_apart(); });
  active_.subscribe([this](const Publisher<ActiveSubnet>::Change& change) {
    if (!change.now) return multicast_.retire();
    // A manager that lost its own cable knows nothing of the others, and they go on as they are.
    if (multicast_.realm() == nullptr || !is_cut_off(change.now->fabric()))
      multicast_.adopt(change.now, settings_);
  });
  active_.subscribe([this](const Publisher<ActiveSubnet>::Change& change) {
    leases_.keep(
        change.now, settings_.ports.m_key, std::chrono::seconds(settings_.ports.m_key_lease_s));
  });
}

SubnetManager::~SubnetManager() { drop_cycle("the manager ends"); }

void SubnetManager::start() {
  if (const auto shown = transport_.set_is_sm(true); !shown) {
    log::warn("transport.is_sm", "why=\"{}\"", shown.error().context);
  }
  election_.start();
  begin_cycle(Suspicion::of_everything("start"));
}

Election::Hooks SubnetManager::election_hooks() {
  return {.look =
              [this](std::string reason) {
                drop_work();
                begin_cycle(Suspicion::of_everything(std::move(reason)));
              },
          .hold =
              [this] {
                drop_work();
                enter(Phase::HandingOver);
              },
          .rule =
              [this](std::string reason) {
                drop_work();
                begin_cycle(Suspicion::of_everything(std::move(reason)));
              },
          .on_state = [this](SmState state) { on_sm_state(state); },
          .on_others =
              [this] {
                if (active_.current()) active_.publish(active_.current());
              },
          .busy =
              [this] {
                return phase_ == Phase::Routing || phase_ == Phase::Programming ||
                       observer_.heir_is_behind();
              }};
}

void SubnetManager::on_sm_state(SmState state) {
  using Listen = TrapHandler::Listen;
  traps_.listen(state == SmState::Master        ? Listen::Ruling
                : state == SmState::Discovering ? Listen::Quietly
                                                : Listen::Off);
  observer_.on_role(state);
  if (state == SmState::Master) return;
  if (active_.current()) active_.publish(nullptr);
  if (state == SmState::Discovering) return;
  drop_work();
  if (next_settings_) take_settings();
  enter(state == SmState::Standby ? Phase::Standby : Phase::NotActive);
}

/// What another manager may change meanwhile is forgotten: it will be read from the fabric.
void SubnetManager::drop_work() {
  drop_cycle("another manager, or an order of one");
  aftercare_.stop();
  leases_.stop();
  poll_.reset();
  for (Timer* timer : {&deferred_, &polled_, &poll_timer_, &relief_timer_, &reread_timer_})
    timer->reset();
  reread_armed_ = false;
  pending_ = {};
  poll_wanted_.clear();
  care_due_since_.reset();
  alarms_.clear();
  if (std::exchange(is_trying_, false)) trial_.reset();
  holdings_ = {.book = std::move(holdings_.book),
               .rows = holdings_.rows,
               .reregister = true,
               .next_epoch = holdings_.next_epoch};
  for (const TurnRef& turn : turns_) holdings_.program.turns.suspect(turn);
}

void SubnetManager::drop_cycle(std::string_view why) {
  if (cycle_) log::info("cycle.end", "reason=\"{}\" result=dropped why=\"{}\"", reason_, why);
  cycle_.reset();
}

void SubnetManager::take_book(LidBook book) {
  holdings_.book = std::move(book);
  observer_.on_lids(holdings_.book);
}

void SubnetManager::take_turns(std::vector<TurnRef> turns) {
  keep_turns(std::move(turns));
  holdings_.program.turns = {};
  for (const TurnRef& turn : turns_) holdings_.program.turns.suspect(turn);
}

void SubnetManager::take_rows_mark() {
  if (!std::exchange(holdings_.rows, true)) observer_.on_rows();
}

void SubnetManager::adopt(Settings settings) {
  election_.adopt(settings.election);
  next_settings_ = std::move(settings);
  trial_.reset();
  is_trying_ = false;
  if (is_bystander()) take_settings();
}

Result<void> SubnetManager::request_engine(const std::string& name, bool force) {
  if (is_bystander()) return fail(Errc::Busy, "this manager does not rule the subnet");
  const Settings& settings = next_settings_ ? *next_settings_ : settings_;
  if (settings.assimilation.routes != Assimilation::Routes::Engine)
    return fail(Errc::Invalid, "sm.mode has routes of its own, and no engine");
  trial_ = {.engine = name, .why = {}};
  is_trying_ = true;
  engine_by_force_ = force;
  request_sweep(fmt::format("command: engine {}", name));
  return {};
}

/// One that was asked for while the cycle ran waits for the next.
void SubnetManager::note_trial(const CycleReport& report) {
  if (report.trial && report.trial->taken) settings_.engine = report.trial->engine;
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
  if (const std::string& why = multicast_.stats().lane_refused; !why.empty())
    out.push_back("multicast and unicast packets may block each other: " + why);
  return out;
}

/// Who else manages here is asked before anything is written.
void SubnetManager::survey(const SweepReport& found) {
  const Fabric& fabric = *found.fabric;
  std::vector<ManagerAddress> managers;
  for (const PortIdx port : fabric.peer.indices()) {
    const std::uint32_t can = fabric.port_info[port].capability_mask;
    if (!fabric.is_end_port(port) || port == fabric.sm_port || (can & port_cap::kIsSm) == 0 ||
        (can & port_cap::kIsSmDisabled) != 0)
      continue;
    managers.push_back({.guid = fabric.port_guid[port],
                        .route = SmpRoute::directed(path_to(found, port)),
                        .lid = fabric.port_info[port].lid});
  }
  election_.survey(std::move(managers), [this] {
    if (cycle_) cycle_->proceed();
  });
}

tl::expected<MulticastLane, std::string> SubnetManager::set_multicast_apart() {
  if (!holdings_.in_force) return tl::unexpected(std::string("no routes are in force"));
  const ActiveSubnet& now = *holdings_.in_force;
  auto lane = choose_multicast_lane(now.fabric(), now.routing, settings_);
  if (lane && !std::exchange(holdings_.multicast_apart, true))
    request_sweep("multicast packets need a lane of their own");
  return lane;
}

void SubnetManager::request_sweep(std::string reason) {
  suspect(Suspicion::of_everything(std::move(reason)));
}

void SubnetManager::request_poll() {
  if (is_bystander()) return;
  if (phase_ == Phase::Idle || phase_ == Phase::Up) return look("command");
  poll_wanted_ = "command";
}

void SubnetManager::suspect(Suspicion suspicion) {
  if (is_bystander() || phase_ == Phase::HandingOver) return;  // everything is looked at afterwards
  const bool busy =
      (phase_ != Phase::Idle && phase_ != Phase::Up) || (aftercare_.running() && care_is_overdue());
  if (busy) return pending_.merge(std::move(suspicion));
  begin_cycle(std::move(suspicion));
}

void SubnetManager::enter(Phase phase) {
  phase_ = phase;
  observer_.on_phase(phase);
}

void SubnetManager::take_settings() {
  // Kept directions outrank what is asked of new ones.
  const auto asked = [](const Settings& settings) {
    return std::tie(
        settings.roots, settings.root_choice, settings.orientation_search, settings.lane_cut);
  };
  if (asked(*next_settings_) != asked(settings_)) holdings_.orientation = {};
  settings_ = *std::exchange(next_settings_, std::nullopt);
  traps_.adopt(settings_);
}

void SubnetManager::begin_cycle(Suspicion suspicion) {
  if (next_settings_) take_settings();
  poll_timer_.reset();
  relief_timer_.reset();
  // What one that is cut short was asked for is still to be found out.
  if (poll_ && poll_reason_ != kSweep) poll_wanted_ = std::move(poll_reason_);
  poll_.reset();
  aftercare_.stop();
  traps_.begin_look();
  tried_ = is_trying_ ? trial_->engine : std::string{};
  reason_ = suspicion.reason;
  log::info("cycle.begin",
            "reason=\"{}\" epoch={} suspects={}",
            suspicion.reason,
            holdings_.next_epoch,
            suspicion.full.empty() ? fmt::format("{}", suspicion.switches.size()) : "all");
  cycle_.emplace(
      Cycle::Parts{.runtime = runtime_,
                   .client = client_,
                   .settings = settings_,
                   .holdings = holdings_,
                   .aftercare = aftercare_,
                   .meter = meter_,
                   // Also of one that was handed the subnet: the order may be an old one.
                   .only_look = !holdings_.in_force && !settings_.assimilation.literal,
                   .trial_engine = tried_,
                   .engine_by_force = engine_by_force_},
      Cycle::Hooks{.on_phase = [this](Phase phase) { enter(phase); },
                   .on_lids = observer_.on_lids,
                   .on_turns = [this](std::vector<TurnRef> turns) { keep_turns(std::move(turns)); },
                   .on_rows = observer_.on_rows,
                   .on_plan = observer_.on_plan,
                   .on_found = [this](const SweepReport& found) { survey(found); },
                   .done =
                       [this](CycleReport report) {
                         deferred_ = Timer(runtime_,
                                           runtime_.now(),
                                           [this, report = std::move(report)]() mutable {
                                             cycle_.reset();
                                             on_cycle(std::move(report));
                                           });
                       }});
  cycle_->start(std::move(suspicion));
}

void SubnetManager::on_cycle(CycleReport report) {
  meter_.lap();  // what follows belongs to the detection of the next change
  note_trial(report);
  if (!report.error) last_sweep_ = {.ended = report.ended, .took = report.ended - report.began};
  keep_turns(holdings_.program.turns.maybe_blocked());
  traps_.end_look(!report.quiet && (!last_ || found_something(report, *last_)));
  if (report.quiet) {
    log::info("cycle.end", "reason=\"{}\" result=unchanged smps={}", report.reason, report.smps());
    enter(Phase::Up);
    election_.settle();
    if (phase_ == Phase::HandingOver) return;
    return next();
  }
  ++cycles_;
  changed_ = runtime_.now();
  keep(report);
  if (!report.look_again.empty())
    pending_.merge(Suspicion::of("a change while it was looked at", std::move(report.look_again)));
  if (!report.error) {
    aftercare_.note_came_up(holdings_.in_force->fabric(), report.came_up);
    if (!care_due_since_) care_due_since_ = runtime_.now();
  }
  enter(report.error ? Phase::Idle : Phase::Up);
  cycle_ended_.emit(*last_);
  if (!report.error) active_.publish(holdings_.in_force);
  observer_.on_cycle(*last_);
  election_.settle();
  if (phase_ == Phase::HandingOver) return;
  next();
}

/// The report goes where readers find it.
void SubnetManager::keep(const CycleReport& report) {
  log_cycle(report);
  alarms_ = alarms_of(report);
  CycleReport kept = report;
  if (last_) {
    kept.shrank =
        kept.counts.links < last_->counts.links ||
        kept.counts.switches + kept.counts.cas < last_->counts.switches + last_->counts.cas;
  }
  retry_.on_cycle(trouble_of(kept), runtime_.now(), patience());
  if (bring_up_ && found_something(kept, *last_)) {
    ++change_count_;
    changes_.push_front(kept);
    if (changes_.size() > kChangesKept) changes_.pop_back();
  } else if (!bring_up_ && !kept.error) {
    bring_up_ = kept;
  }
  last_ = std::move(kept);
}

void SubnetManager::keep_turns(std::vector<TurnRef> turns) {
  if (turns == turns_) return;
  turns_ = std::move(turns);
  observer_.on_turns(turns_);
}

void SubnetManager::next() {
  if (!pending_.empty() && !care_is_overdue()) return begin_cycle(std::exchange(pending_, {}));
  if (phase_ == Phase::Up && care_due_since_) take_care();
  reread_soon();
  arm_relief();
  if (!poll_wanted_.empty()) return look(std::exchange(poll_wanted_, {}));
  arm_poll();
}

bool SubnetManager::care_is_overdue() const {
  return care_due_since_ && runtime_.now() - *care_due_since_ > kLongestWithoutCare;
}

void SubnetManager::take_care() {
  care_began_ = runtime_.now();
  const auto on_learned = [this](std::shared_ptr<const ActiveSubnet> better) {
    holdings_.replace_in_force(std::move(better));
  };
  aftercare_.start(holdings_.in_force, settings_.ports.m_key, on_learned, [this] {
    care_due_since_.reset();
    meter_.lap();
    active_.publish(holdings_.in_force);
    deferred_ = Timer(runtime_, runtime_.now(), [this] {
      if (!pending_.empty() && phase_ == Phase::Up)
        begin_cycle(std::exchange(pending_, {}));
      else
        reread_soon();
    });
  });
}

void SubnetManager::reread_soon() {
  if (phase_ != Phase::Up || aftercare_.running() || reread_armed_ || !aftercare_.owes_reread())
    return;
  reread_armed_ = true;
  const TimePoint due = std::max(runtime_.now(), care_began_ + kRereadPause);
  reread_timer_ = Timer(runtime_, due, [this] {
    reread_armed_ = false;
    if (phase_ == Phase::Up && !aftercare_.running() && aftercare_.owes_reread()) take_care();
  });
}

void SubnetManager::on_traps(TrapBatch batch) {
  if (!holdings_.in_force) return request_sweep(std::move(batch.reason));
  for (const Guid node : batch.redescribed) aftercare_.note_changed(node);
  if (!batch.changed.empty())
    suspect(Suspicion::of(batch.reason, {batch.changed.begin(), batch.changed.end()}));
  if (batch.unknown) return look_round(std::move(batch.reason));
  reread_soon();
}

/// For somebody whom nobody knows. Where he came in, a switch reports a change; unless he is what
/// was silent there before.
void SubnetManager::look_round(std::string reason) {
  if (is_bystander() || phase_ == Phase::HandingOver) return;
  if (last_ && (!last_->silent.empty() || !last_->duplicates.empty()))
    return request_sweep(std::move(reason));
  if (phase_ == Phase::Idle || phase_ == Phase::Up) return look(std::move(reason));
  poll_wanted_ = std::move(reason);
}

/// The time between two looks; also the first wait after trouble, for which "never" is no answer.
Duration SubnetManager::patience() const {
  return settings_.sweep_interval == Duration{0} ? kFirstRetry : settings_.sweep_interval;
}

void SubnetManager::arm_poll() {
  if (settings_.sweep_factor != 0) {
    const TimePoint next = poll_began_ + settings_.sweep_factor * poll_length_;
    poll_timer_ = Timer(
        runtime_, std::max(next, runtime_.now() + kShortestPause), [this] { on_poll_timer(); });
  } else if (settings_.sweep_interval != Duration{0}) {
    poll_timer_ =
        Timer(runtime_, runtime_.now() + settings_.sweep_interval, [this] { on_poll_timer(); });
  } else if (!retry_.trouble().empty()) {
    poll_timer_ = Timer(runtime_, runtime_.now() + retry_.wait(), [this] { on_poll_timer(); });
  }
}

/// A change writes no more than it must; what it leaves uneven is seen to when all is at rest.
void SubnetManager::arm_relief() {
  if (phase_ != Phase::Up || settings_.relief_delay == Duration{0} ||
      settings_.assimilation.literal || !holdings_.uneven)
    return;
  const TimePoint due = changed_ + settings_.relief_delay;
  relief_timer_ = Timer(runtime_, std::max(due, runtime_.now()), [this] {
    if (phase_ == Phase::Up) suspect(Suspicion::of_unevenness("relief after a change"));
  });
}

void SubnetManager::on_poll_timer() {
  election_.look_around();
  if (retry_.due(runtime_.now())) return request_sweep("retry: " + retry_.trouble());
  if (phase_ == Phase::Idle && last_->counts.switches > 0) return arm_poll();
  look(kSweep);
}

void SubnetManager::look(std::string reason) {
  // Without a switch nobody reports a change, and looking at everything costs next to nothing.
  if (phase_ == Phase::Idle || last_->counts.switches == 0) return request_sweep(std::move(reason));
  const Assimilation& how = settings_.assimilation;
  if (how.literal && how.discovery == Assimilation::Discovery::Partial)
    return suspect(Suspicion::of(std::move(reason), {}));  // its discovery begins with the sweep
  poll(std::move(reason));
}

void SubnetManager::poll(std::string reason) {
  poll_reason_ = std::move(reason);
  traps_.begin_look();
  poll_began_ = runtime_.now();
  poll_.emplace(runtime_, client_, settings_.ports.m_key);
  poll_->start(holdings_.in_force->fabric(), holdings_.in_force->lids, [this](PollReport report) {
    on_poll(std::move(report));
  });
}

void SubnetManager::on_poll(PollReport report) {
  poll_length_ = runtime_.now() - poll_began_;
  last_sweep_ = {.ended = runtime_.now(), .took = poll_length_};
  Suspicion suspicion;
  const Fabric& fabric = holdings_.in_force->fabric();
  for (const auto* list : {&report.changed, &report.silent}) {
    for (const NodeIdx node : *list) suspicion.switches.push_back(fabric.node_guid[node]);
  }
  if (!report.quiet()) {
    suspicion.reason = fmt::format("{}: {} {}",
                                   poll_reason_,
                                   suspicion.switches.front(),
                                   report.changed.empty() ? "is silent" : "reports a change");
  }
  polled_ = Timer(runtime_, runtime_.now(), [this, suspicion = std::move(suspicion)]() mutable {
    poll_.reset();
    if (suspicion.empty()) {
      if (!cycle_) traps_.end_look(false);
      return arm_poll();
    }
    suspect(std::move(suspicion));
  });
}

}  // namespace smd::app
