// When the subnet is looked at: after traps, at intervals, for whoever is silent, and what is done
// at rest.
#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/manager/cycle_log.h"
#include "smd/manager/subnet_manager.h"

namespace smd {
namespace {

/// The first sweep after trouble where periodic sweeps are off.
constexpr Duration kRetryWithoutSweeps = std::chrono::seconds(10);

/// Between two sweeps, however short they are.
constexpr Duration kShortestPause = std::chrono::milliseconds(1);

/// Between two passes of deferred work that nodes asked for by traps: each makes a new snapshot.
constexpr Duration kRereadPause = std::chrono::milliseconds(500);

// So many times as long as it waits for rest what is done at rest is put off at most.
constexpr int kMostPutOff = 5;

}  // namespace

bool SubnetManager::is_silence_alone(const Trouble& trouble, const CycleReport& cycle) {
  return trouble.kind == Trouble::Kind::Silence && cycle.duplicates.empty();
}

void SubnetManager::reread_soon() {
  if (phase_ != Phase::Up || deferred_work_.running() || reread_armed_ ||
      !deferred_work_.has_changed_nodes())
    return;
  reread_armed_ = true;
  const TimePoint due = std::max(runtime_.now(), deferred_work_began_ + kRereadPause);
  reread_timer_ = Timer(runtime_, due, [this] {
    reread_armed_ = false;
    if (phase_ == Phase::Up && !deferred_work_.running() && deferred_work_.has_changed_nodes())
      start_deferred_work();
  });
}

void SubnetManager::on_traps(TrapBatch batch) {
  if (!state_.in_force) return request_sweep(std::move(batch.reason));
  for (const Guid node : batch.redescribed) deferred_work_.note_changed(node);
  if (!batch.changed.empty())
    trigger(SweepTrigger::of(batch.reason, {batch.changed.begin(), batch.changed.end()}));
  reread_soon();
  if (batch.unknown) sweep_for_stranger(std::move(batch.reason));
}

/// For somebody whom nobody knows. Where he came in, a switch reports a change; unless he is what
/// was silent there before.
void SubnetManager::sweep_for_stranger(std::string reason) {
  if (is_standby() || phase_ == Phase::HandingOver) return;
  const bool is_asked = asks_all_silent() && last_->silent.size() <= LightSweep::kMostSilent;
  if (last_ && ((!last_->silent.empty() && !is_asked) || !last_->duplicates.empty()))
    return request_sweep(std::move(reason));
  if (phase_ == Phase::Idle || phase_ == Phase::Up) return light_sweep(std::move(reason));
  light_sweep_wanted_ = std::move(reason);
}

/// Light sweeps ask across every port that leads to silence: a full one would learn no more.
bool SubnetManager::asks_all_silent() const {
  if (!state_.in_force || !last_ || settings_.strategy.requests != RequestSet::Fewest) return false;
  const SweepReport& sweep = state_.in_force->sweep;
  return list_silent(sweep).size() == sweep.silent.size();
}

/// Those that a light sweep asks.
std::vector<PortIdx> SubnetManager::next_silent() {
  if (settings_.strategy.requests != RequestSet::Fewest) return {};
  std::vector<PortIdx> ports = list_silent(state_.in_force->sweep);
  if (ports.size() <= LightSweep::kMostSilent) return ports;
  silent_turn_ %= ports.size();
  std::ranges::rotate(ports, ports.begin() + static_cast<std::ptrdiff_t>(silent_turn_));
  ports.resize(LightSweep::kMostSilent);
  silent_turn_ += LightSweep::kMostSilent;
  return ports;
}

/// The time between two sweeps; also the first wait after trouble, for which "never" is no answer.
Duration SubnetManager::sweep_pause() const {
  return settings_.sweep_interval == Duration{0} ? kRetryWithoutSweeps : settings_.sweep_interval;
}

/// What is taken in meanwhile puts nothing off.
void SubnetManager::arm_sweep() {
  std::optional<TimePoint> due = retry_.next();
  if (settings_.sweep_factor != 0) {
    due = light_sweep_began_ + settings_.sweep_factor * light_sweep_length_;
  } else if (settings_.sweep_interval != Duration{0}) {
    const TimePoint next = swept_ + settings_.sweep_interval;
    due = due ? std::min(*due, next) : next;
  }
  if (!due) return;
  sweep_timer_ = Timer(
      runtime_, std::max(*due, runtime_.now() + kShortestPause), [this] { on_sweep_timer(); });
}

/// So long after the last change; but where something changes all the time, as a link that flaps,
/// several times so long after it was wanted first, or tried last.
TimePoint SubnetManager::due_at_rest(Duration rest, std::optional<TimePoint>& wanted_since) const {
  if (!wanted_since) wanted_since = runtime_.now();
  return std::max(runtime_.now(), std::min(changed_ + rest, *wanted_since + kMostPutOff * rest));
}

/// A change writes no more than it must; what it leaves unbalanced is rebalanced when all is at
/// rest.
void SubnetManager::arm_rebalance() {
  if (!state_.imbalanced) uneven_since_.reset();
  if (phase_ != Phase::Up || settings_.rebalance_delay == Duration{0} ||
      !settings_.strategy.rebalances || !state_.imbalanced)
    return;
  const TimePoint due = due_at_rest(settings_.rebalance_delay, uneven_since_);
  rebalance_timer_ = Timer(runtime_, due, [this] {
    uneven_since_ = runtime_.now();
    if (phase_ == Phase::Up) trigger(SweepTrigger::of_imbalance("relief after a change"));
  });
}

/// What a plan left blocked, or discarded, no unicast route needs; a multicast tree that is laid
/// later may. It is opened when hosts have asked for the SLs of the routes in force.
void SubnetManager::arm_opening() {
  if (!state_.leaves_blocked) blocked_since_.reset();
  if (phase_ != Phase::Up || !settings_.strategy.rebalances || !state_.leaves_blocked) return;
  const TimePoint due = due_at_rest(AdvertisedSls::kHostsAskAgainWithin, blocked_since_);
  opening_timer_ = Timer(runtime_, due, [this] {
    blocked_since_ = runtime_.now();
    if (phase_ == Phase::Up) trigger(SweepTrigger::of_blocked("what was blocked is opened"));
  });
}

void SubnetManager::on_sweep_timer() {
  swept_ = runtime_.now();
  election_.look_around();
  if (retry_.due(runtime_.now())) {
    std::string reason = "retry: " + retry_.trouble().what;
    if (!is_silence_alone(retry_.trouble(), *last_) || !asks_all_silent())
      return request_sweep(std::move(reason));
    retry_.on_look(runtime_.now());
    return light_sweep(std::move(reason));
  }
  if (phase_ == Phase::Idle && last_->counts.switches > 0) return arm_sweep();
  light_sweep(kSweep);
}

void SubnetManager::light_sweep(std::string reason) {
  // Without a switch nobody reports a change, and a full sweep costs next to nothing.
  if (phase_ == Phase::Idle || last_->counts.switches == 0) return request_sweep(std::move(reason));
  if (!settings_.strategy.light_sweeps) return trigger(SweepTrigger::of(std::move(reason), {}));
  start_light_sweep(std::move(reason));
}

void SubnetManager::start_light_sweep(std::string reason) {
  light_sweep_reason_ = std::move(reason);
  traps_.begin_sweep();
  light_sweep_ended_.reset();
  if (light_sweep_) silent_by_lid_.clear();  // no cycle looked at what the last one found
  light_sweep_began_ = runtime_.now();
  light_sweep_.emplace(runtime_, client_, settings_.ports.m_key);
  light_sweep_->start(state_.in_force->sweep,
                      state_.in_force->lids,
                      next_silent(),
                      [this](LightSweepReport report) { on_light_sweep(std::move(report)); });
}

/// A switch that is silent by LID, that the cycle thereafter reached on a directed route, and that
/// is silent again: tables on the way are not as they were written, as where two masters met and
/// the other one wrote last. They are read again once; then it is the switch.
bool SubnetManager::are_tables_overwritten(const LightSweepReport& report) {
  std::set<Guid> silent;
  for (const NodeIdx node : report.silent) silent.insert(state_.in_force->fabric().node_guid[node]);
  std::erase_if(read_again_for_, [&](Guid guid) { return !silent.contains(guid); });
  const bool again = report.changed.empty() && std::ranges::any_of(silent, [&](Guid guid) {
                       return silent_by_lid_.contains(guid) && !read_again_for_.contains(guid);
                     });
  silent_by_lid_ = std::move(silent);
  return again;
}

void SubnetManager::on_light_sweep(LightSweepReport report) {
  light_sweep_length_ = report.took;
  last_sweep_ = {.ended = runtime_.now(), .took = light_sweep_length_};
  swept_ = runtime_.now();
  SweepTrigger why =
      SweepTrigger::of_light_sweep(light_sweep_reason_, report, state_.in_force->fabric());
  // Who is silent beside somebody who speaks was not asked to the end, and may speak as well.
  if (!report.speaking.empty()) {
    light_sweep_wanted_ = light_sweep_reason_;
    retry_.begin_anew(runtime_.now(), sweep_pause());
  }
  // Nothing happened anywhere since: whoever was behind them is.
  if (report.quiet()) state_.came_up.clear();
  const bool overwritten = are_tables_overwritten(report);
  light_sweep_ended_ =
      leave(runtime_, light_sweep_, [this, overwritten, why = std::move(why)]() mutable {
        if (overwritten && phase_ == Phase::Up) {
          read_again_for_ = silent_by_lid_;
          drop_work();
          return begin_cycle(
              SweepTrigger::of_everything(why.reason + " by LID alone; tables are read again"));
        }
        if (why.empty()) {
          if (cycle_) return;  // it arms the next one
          traps_.end_sweep(false);
          return arm_sweep();
        }
        trigger(std::move(why));
      });
}

}  // namespace smd
