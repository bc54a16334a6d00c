// The manager: life cycle only. Traps, polls, retries and commands become suspicions; a suspicion
// becomes a cycle (app/cycle.h); what can wait comes after it (app/aftercare.h).
//
// Among several managers of a subnet an election says whether this one rules: without it no cycle
// goes further than its look.
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
#include "smd/app/lease_keeper.h"
#include "smd/app/multicast_desk.h"
#include "smd/app/retry_clock.h"
#include "smd/app/trap_handler.h"
#include "smd/base/publisher.h"
#include "smd/discovery/switch_poll.h"
#include "smd/ha/election.h"
#include "smd/ha/write_gate.h"

namespace smd::app {

class SubnetManager {
 public:
  struct Observer {
    std::function<void(Phase)> on_phase = [](Phase) {};
    std::function<void(const CycleReport&)> on_cycle = [](const CycleReport&) {};  // last of all
    std::function<void(const LidBook&)> on_lids = [](const LidBook&) {};  // changed: to be kept

    /// Turns that may be blocked, before they are and when it changed: to be kept.
    std::function<void(const std::vector<TurnRef>&)> on_turns = [](const std::vector<TurnRef>&) {};
    std::function<void()> on_rows = [] {};  // see Kept::rows; before the first is set
    std::function<void(SmState)> on_role = [](SmState) {};  // ours among the managers is another
    /// Whoever is to take over from us does not have what we keep: a handover waits until it is
    /// false and settle_handover() is called.
    std::function<bool()> heir_is_behind = [] { return false; };
    PlanWatcher on_plan;                                // none: nobody watches
    WallClock wall;                                     // none: wall costs are 0
    std::function<void(Error)> on_lost = [](Error) {};  // the transport is gone: to be said
  };

  SubnetManager(
      Runtime& runtime, Transport& transport, Settings settings, Kept kept, Observer observer);
  ~SubnetManager();
  SubnetManager(const SubnetManager&) = delete;

  /// Shows IsSM and begins the first cycle.
  void start();

  /// A cycle that looks at everything, now or after the one that runs.
  void request_sweep(std::string reason);

  /// Routes of another engine, in a cycle now or after the one that runs. The engine in force stays
  /// where the fabric does not suit the other one, and, unless `force`, where its tables could be
  /// reached only by blocking turns or taking ports down; engine_trial() says so. Busy without a
  /// subnet to manage; Invalid where the mode has routes of its own.
  [[nodiscard]] Result<void> request_engine(const std::string& name, bool force);

  /// What was asked for last, by command; nothing since the configuration was read.
  [[nodiscard]] const std::optional<EngineTrial>& engine_trial() const { return trial_; }

  /// It has not been decided yet.
  [[nodiscard]] bool is_trying_engine() const { return is_trying_; }

  /// A look at every switch, now or after the cycle that runs; one more only where a switch reports
  /// a change. Everything where there is no switch, or the last cycle failed.
  void request_poll();

  /// What the master keeps whom we may succeed, in place of our own. Requires: standby.
  void take_book(LidBook book);
  void take_turns(std::vector<TurnRef> turns);
  void take_rows_mark();

  void settle_handover() { election_.settle(); }

  /// From the next cycle on; transport and window settings need a restart.
  void adopt(Settings settings);

  [[nodiscard]] Phase phase() const { return phase_; }

  [[nodiscard]] TimePoint now() const { return runtime_.now(); }

  /// Nothing runs and nothing is asked for.
  [[nodiscard]] bool at_rest() const {
    if (is_bystander()) return true;
    return (phase_ == Phase::Idle || phase_ == Phase::Up) && pending_.empty() &&
           poll_wanted_.empty() && !traps_.waiting() && !aftercare_.running() &&
           multicast_.at_rest();
  }

  /// Master, standby…, the other managers, and how they see us.
  [[nodiscard]] const Election& election() const { return election_; }

  /// Null before the first cycle ended.
  [[nodiscard]] const CycleReport* last_cycle() const { return last_ ? &*last_ : nullptr; }

  /// Cycles after the first that found something different, newest first; the latest 100.
  [[nodiscard]] const std::deque<CycleReport>& changes() const { return changes_; }

  /// All of them, forgotten ones included.
  [[nodiscard]] std::uint64_t change_count() const { return change_count_; }

  /// A look at all that was to be looked at: a poll of the switches, or a cycle without error.
  struct Sweep {
    TimePoint ended;
    Duration took{0};
  };

  [[nodiscard]] const std::optional<Sweep>& last_sweep() const { return last_sweep_; }

  /// The first complete bring-up.
  [[nodiscard]] const CycleReport* bring_up() const { return bring_up_ ? &*bring_up_ : nullptr; }

  /// What the last cycle without error reached, with what was learned since; null before, and while
  /// another manager rules. Published anew also when the keys of ports or the other managers are
  /// better known. Who subscribes outlives the manager.
  [[nodiscard]] Publisher<ActiveSubnet>& active() { return active_; }

  [[nodiscard]] const Publisher<ActiveSubnet>& active() const { return active_; }

  /// Cycles that found something different, or failed. Before what they reached is published.
  [[nodiscard]] Signal<CycleReport>& cycle_ended() { return cycle_ended_; }

  /// Traps, as they came.
  [[nodiscard]] Signal<Notice>& noticed() { return noticed_; }

  /// What is wanted: ahead of active() while a cycle writes it. Null until a cycle has routes that
  /// were verified.
  [[nodiscard]] const ActiveSubnet* in_force() const { return holdings_.in_force.get(); }

  /// The same, to be kept.
  [[nodiscard]] std::shared_ptr<const ActiveSubnet> share_in_force() const {
    return holdings_.in_force;
  }

  /// What switches confirmed, and the turns that are blocked in them.
  [[nodiscard]] const ProgramState& program_state() const { return holdings_.program; }

  [[nodiscard]] MulticastDesk& multicast() { return multicast_; }

  [[nodiscard]] const MulticastDesk& multicast() const { return multicast_; }

  [[nodiscard]] const TrapHandler& traps() const { return traps_; }

  [[nodiscard]] const SmpStats& smp_stats() const { return client_.stats(); }

  /// For what is asked of ports outside cycles. Whoever uses it goes before the manager.
  [[nodiscard]] SmpClient& client() { return client_; }

  [[nodiscard]] const Settings& settings() const { return settings_; }

  /// One line each; empty when all is well.
  [[nodiscard]] std::vector<std::string> alarms() const;

  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

 private:
  [[nodiscard]] Election::Hooks election_hooks();

  [[nodiscard]] bool is_bystander() const {
    return phase_ == Phase::Standby || phase_ == Phase::NotActive;
  }

  void connect();
  void on_sm_state(SmState state);
  void drop_work();
  void drop_cycle(std::string_view why);
  void take_settings();
  void survey(const SweepReport& found);
  void enter(Phase phase);
  void suspect(Suspicion suspicion);
  void begin_cycle(Suspicion suspicion);
  void on_cycle(CycleReport report);
  void note_trial(const CycleReport& report);
  void keep(const CycleReport& report);
  void keep_turns(std::vector<TurnRef> turns);
  void next();
  void take_care();
  void reread_soon();
  void on_traps(TrapBatch batch);
  void look_round(std::string reason);
  [[nodiscard]] Duration patience() const;
  [[nodiscard]] bool care_is_overdue() const;
  void arm_poll();
  void arm_relief();
  void on_poll_timer();
  void look(std::string reason);
  void poll(std::string reason);
  void on_poll(PollReport report);
  tl::expected<MulticastLane, std::string> set_multicast_apart();

  Runtime& runtime_;
  Transport& transport_;
  Settings settings_;
  std::optional<Settings> next_settings_;
  Observer observer_;
  WriteGate gate_;
  SmpClient client_;
  Election election_;
  TrapHandler traps_;
  Holdings holdings_;
  Aftercare aftercare_;
  LeaseKeeper leases_;
  CostMeter meter_;
  MulticastDesk multicast_;
  Publisher<ActiveSubnet> active_;
  Signal<CycleReport> cycle_ended_;
  Signal<Notice> noticed_;

  Phase phase_ = Phase::Idle;
  std::optional<EngineTrial> trial_;
  bool is_trying_ = false;        // what trial_ names
  bool engine_by_force_ = false;  // likewise
  std::string tried_;             // by the cycle that runs
  Suspicion pending_;             // of what was reported while a cycle ran
  std::string poll_wanted_;       // why one was asked for while a cycle ran; empty: none was
  std::string poll_reason_;       // of the poll that runs
  std::vector<TurnRef> turns_;    // as last announced
  std::uint64_t cycles_ = 0;
  TimePoint poll_began_;     // of the last sweep
  Duration poll_length_{0};  // likewise
  std::optional<TimePoint> care_due_since_;
  TimePoint care_began_;       // of the last aftercare
  bool reread_armed_ = false;  // one is to come for nodes that changed
  std::optional<CycleReport> last_;
  std::optional<CycleReport> bring_up_;
  std::deque<CycleReport> changes_;
  std::uint64_t change_count_ = 0;
  std::optional<Sweep> last_sweep_;
  std::vector<std::string> alarms_;

  std::optional<Cycle> cycle_;
  std::string reason_;  // of the latest cycle
  std::optional<SwitchPoll> poll_;
  RetryClock retry_;
  Timer poll_timer_;
  TimePoint changed_;  // end of the last cycle that had more to do than look
  Timer relief_timer_;
  Timer reread_timer_;
  Timer deferred_;  // leaves the frame of a stage that is about to be destroyed
  Timer polled_;    // likewise, of the poll: it may end while aftercare does
};

}  // namespace smd::app
