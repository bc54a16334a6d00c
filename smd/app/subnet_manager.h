// The manager: life cycle only. Traps, polls, retries and commands become suspicions; a suspicion
// becomes a cycle (app/cycle.h); what can wait comes after it (app/aftercare.h).
//
// One cycle at a time. What is suspected while one runs is remembered and starts one more when it
// ends, so that a change is neither lost nor restarts the work without bound.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "smd/app/aftercare.h"
#include "smd/app/cycle.h"
#include "smd/app/retry_clock.h"
#include "smd/app/trap_desk.h"
#include "smd/discovery/switch_poll.h"

namespace smd::app {

class SubnetManager {
 public:
  struct Observer {
    std::function<void(Phase)> on_phase = [](Phase) {};
    std::function<void(const CycleReport&)> on_cycle = [](const CycleReport&) {};
    std::function<void(const LidBook&)> on_lids = [](const LidBook&) {};  // changed: to be kept
    PlanWatcher on_plan;                                                  // none: nobody watches
    WallClock wall;                                                       // none: wall costs are 0
    std::function<void(Error)> on_lost = [](Error) {};                    // the transport is gone
  };

  SubnetManager(
      Runtime& runtime, Transport& transport, Settings settings, LidBook book, Observer observer);
  SubnetManager(const SubnetManager&) = delete;

  /// Shows IsSM and begins the first cycle.
  void start();

  /// A cycle that looks at everything, now or after the one that runs.
  void request_sweep(std::string reason);

  /// A look at every switch now; a cycle only where one reports a change.
  void request_poll();

  /// From the next cycle on; transport and window settings need a restart.
  void adopt(Settings settings);

  [[nodiscard]] Phase phase() const { return phase_; }

  [[nodiscard]] TimePoint now() const { return runtime_.now(); }

  /// Nothing runs and nothing is asked for.
  [[nodiscard]] bool at_rest() const {
    return (phase_ == Phase::Idle || phase_ == Phase::Up) && pending_.empty() &&
           !traps_.waiting() && !aftercare_.running();
  }

  /// Null before the first cycle ended.
  [[nodiscard]] const CycleReport* last_cycle() const { return last_ ? &*last_ : nullptr; }

  /// Cycles after the first that found something different, newest first; the latest 100.
  [[nodiscard]] const std::deque<CycleReport>& changes() const { return changes_; }

  /// The first complete bring-up.
  [[nodiscard]] const CycleReport* bring_up() const { return bring_up_ ? &*bring_up_ : nullptr; }

  /// Null until a cycle has routes that were verified.
  [[nodiscard]] const InForce* in_force() const { return holdings_.in_force.get(); }

  /// What switches confirmed, and the turns that are blocked in them.
  [[nodiscard]] const ProgramState& program_state() const { return holdings_.program; }

  [[nodiscard]] const SmpStats& smp_stats() const { return client_.stats(); }

  [[nodiscard]] const Settings& settings() const { return settings_; }

  [[nodiscard]] const std::vector<std::string>& alarms() const { return alarms_; }

  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

 private:
  void enter(Phase phase);
  void suspect(Suspicion suspicion);
  void begin_cycle(Suspicion suspicion);
  void on_cycle(CycleReport report);
  void keep(const CycleReport& report);
  void next();
  void take_care();
  void on_traps(TrapDesk::Batch batch);
  [[nodiscard]] Duration patience() const;
  [[nodiscard]] bool care_is_overdue() const;
  void arm_poll();
  void on_poll_timer();
  void poll();
  void on_poll(PollReport report);

  Runtime& runtime_;
  Transport& transport_;
  Settings settings_;
  std::optional<Settings> next_settings_;
  Observer observer_;
  SmpClient client_;
  TrapDesk traps_;
  Holdings holdings_;
  Aftercare aftercare_;
  CostMeter meter_;

  Phase phase_ = Phase::Idle;
  Suspicion pending_;  // of what was reported while a cycle ran
  std::uint64_t cycles_ = 0;
  std::optional<TimePoint> care_due_since_;
  std::optional<CycleReport> last_;
  std::optional<CycleReport> bring_up_;
  std::deque<CycleReport> changes_;
  std::vector<std::string> alarms_;

  std::optional<Cycle> cycle_;
  std::optional<SwitchPoll> poll_;
  RetryClock retry_;
  Timer poll_timer_;
  Timer deferred_;  // leaves the frame of a stage that is about to be destroyed
};

}  // namespace smd::app
