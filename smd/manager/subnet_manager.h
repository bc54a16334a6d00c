// The manager: life cycle only. Traps, light sweeps, retries and commands become triggers; a
// trigger becomes a cycle (cycle.h); what can wait comes after it (deferred_work.h).
//
// Among several managers of a subnet an election says whether this one is master: without it no
// cycle goes further than its sweep.
//
// One cycle at a time. What is reported while one runs is remembered and starts one more when it
// ends, so that a change is neither lost nor restarts the work without bound.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "smd/base/publisher.h"
#include "smd/discovery/light_sweep.h"
#include "smd/ha/election.h"
#include "smd/ha/write_gate.h"
#include "smd/manager/cycle.h"
#include "smd/manager/cycle_log.h"
#include "smd/manager/deferred_work.h"
#include "smd/manager/multicast_manager.h"
#include "smd/manager/sweep.h"
#include "smd/manager/trap_handler.h"
#include "smd/smp/m_keys.h"
#include "smd/state/state_store.h"

namespace smd {

class SubnetManager {
 public:
  struct PortsUp {
    const std::vector<PortIdx>& ports;
    const Fabric& fabric;
  };

  struct Observer {
    std::function<void(Phase)> on_phase = [](Phase) {};
    std::function<void(const CycleReport&)> on_cycle = [](const CycleReport&) {};  // last of all
    std::function<void(SmState)> on_role = [](SmState) {};  // ours among the managers is another
    /// Who is to take over from us does not have what we keep: a handover waits until it is false
    /// and settle_handover() is called.
    std::function<bool(Guid standby)> standby_is_behind = [](Guid) { return false; };
    PlanWatcher on_plan;                                // none: nobody watches
    WallClock wall;                                     // none: wall costs are 0
    std::function<void(Error)> on_lost = [](Error) {};  // the transport is gone
  };

  /// Runtime, transport and `store` outlive this. What is kept is put before the SMPs that rely on
  /// it; what somebody else puts while we stand by holds when we are master.
  SubnetManager(Runtime& runtime,
                Transport& transport,
                Settings settings,
                StateStore& store,
                Observer observer);
  ~SubnetManager();
  SubnetManager(const SubnetManager&) = delete;

  /// Shows IsSM and begins the first cycle.
  void start();

  /// A cycle with a full sweep, now or after the one that runs.
  void request_sweep(std::string reason);

  /// The same for an operator, who may doubt all that is taken for known: tables of ports are read
  /// again, and rules of partitions that were refused are tried on whoever is there.
  void request_audit(std::string reason);

  /// Routes of another engine, in a cycle now or after the one that runs. The engine in force stays
  /// where the fabric does not suit the other one, and, unless `force`, where its tables could be
  /// reached only by blocking turns or taking ports down; engine_trial() says so. Busy without a
  /// subnet to manage; Invalid where the mode has routes of its own.
  [[nodiscard]] Result<void> request_engine(const std::string& name, bool force);

  /// What was asked for last, by command; nothing since the configuration was read.
  [[nodiscard]] const std::optional<EngineTrial>& engine_trial() const { return trial_; }

  /// It has not been decided yet.
  [[nodiscard]] bool is_trying_engine() const { return is_trying_; }

  /// A light sweep of every switch, now or after the cycle that runs; one more only where a switch
  /// reports a change. Everything where there is no switch, or the last cycle failed.
  void request_light_sweep();

  void settle_handover() { election_.settle(); }

  /// From the next cycle on; transport and window settings need a restart.
  void adopt(Settings settings);

  /// Of the site, in place of those of adopt(), in a cycle now or after the one that runs: it asks
  /// for nothing that was not reported, and writes what they change.
  /// `rules`: their number, not below that of the settings.
  void adopt_partitions(std::optional<PartitionPolicy> partitions,
                        std::vector<PreconfiguredGroup> groups,
                        std::uint64_t rules,
                        std::string reason);

  /// The number of those that are asked for.
  [[nodiscard]] std::uint64_t partition_rules() const {
    return (next_settings_ ? *next_settings_ : settings_).partition_rules;
  }

  /// No cycle has brought in those of that number, or later ones.
  [[nodiscard]] bool is_adopting_partitions(std::uint64_t rules) const {
    return !is_standby() && partitions_in_force_ < rules;
  }

  [[nodiscard]] bool is_adopting_partitions() const {
    return is_adopting_partitions(partition_rules());
  }

  /// Why the last cycle that was to bring them in did not; others will try. Nothing where none has
  /// ended so.
  [[nodiscard]] std::optional<std::string> why_not_adopted(std::uint64_t rules) const {
    if (!is_adopting_partitions(rules) || partitions_failed_ < rules) return std::nullopt;
    return partitions_failed_why_;
  }

  /// Ports that are without P_Keys of the rules in force: by port GUID.
  [[nodiscard]] const std::map<Guid, PartitionState::Unconfirmed>& unconfirmed_keys() const {
    return state_.partitions.unconfirmed;
  }

  [[nodiscard]] Phase phase() const { return phase_; }

  [[nodiscard]] TimePoint now() const { return runtime_.now(); }

  /// Nothing runs and nothing is asked for.
  [[nodiscard]] bool at_rest() const {
    if (is_standby()) return true;
    return (phase_ == Phase::Idle || phase_ == Phase::Up) && pending_.empty() &&
           light_sweep_wanted_.empty() && !traps_.waiting() && !deferred_work_.running() &&
           multicast_.at_rest();
  }

  /// Switches are asked whether anything has changed; what they say may be reason for a cycle.
  [[nodiscard]] bool is_light_sweeping() const {
    return light_sweep_ && light_sweep_->is_asking_switches();
  }

  /// Master, standby…, the other managers, and how they see us.
  [[nodiscard]] const Election& election() const { return election_; }

  /// Null before the first cycle ended.
  [[nodiscard]] const CycleReport* last_cycle() const { return last_ ? &*last_ : nullptr; }

  /// Cycles after the first that found something different, newest first; the latest 100.
  [[nodiscard]] const std::deque<CycleReport>& changes() const { return changes_; }

  /// All of them, forgotten ones included.
  [[nodiscard]] std::uint64_t change_count() const { return change_count_; }

  /// A light sweep, or a cycle without error.
  struct LastSweep {
    TimePoint ended;
    Duration took{0};
  };

  [[nodiscard]] const std::optional<LastSweep>& last_sweep() const { return last_sweep_; }

  /// The first complete bring-up.
  [[nodiscard]] const CycleReport* bring_up() const { return bring_up_ ? &*bring_up_ : nullptr; }

  /// What the last cycle without error reached, with what was learned since; null before, and while
  /// another manager is master. Where routes need several VLs, the last of them whose plan was
  /// written to its end. Published as soon as all is written, while the cycle still measures
  /// its routes. Published anew also when the keys of ports or the other managers are better known.
  /// Who subscribes outlives the manager.
  [[nodiscard]] Publisher<ActiveSubnet>& active() { return active_; }

  [[nodiscard]] const Publisher<ActiveSubnet>& active() const { return active_; }

  /// The cycle that runs may yet publish another one, or what the last one reached is held back.
  [[nodiscard]] bool expects_to_publish() const {
    return election_.state() == SmState::Master &&
           ((cycle_ && !is_published_) || active_.current() != state_.in_force);
  }

  /// Ports that a cycle brought up. Before what it reached is published.
  [[nodiscard]] Signal<PortsUp>& came_up() { return came_up_; }

  /// Cycles that found something different, or failed. After what they reached is published.
  [[nodiscard]] Signal<CycleReport>& cycle_ended() { return cycle_ended_; }

  /// Traps, as they came.
  [[nodiscard]] Signal<Notice>& noticed() { return noticed_; }

  /// What is wanted: ahead of active() while a cycle writes it. Null until a cycle has routes that
  /// were verified.
  [[nodiscard]] const ActiveSubnet* in_force() const { return state_.in_force.get(); }

  /// The same, to be kept.
  [[nodiscard]] std::shared_ptr<const ActiveSubnet> share_in_force() const {
    return state_.in_force;
  }

  /// What switches confirmed, and the turns that are blocked in them.
  [[nodiscard]] const ProgramState& program_state() const { return state_.program; }

  [[nodiscard]] MulticastManager& multicast() { return multicast_; }

  [[nodiscard]] const MulticastManager& multicast() const { return multicast_; }

  [[nodiscard]] const TrapHandler& traps() const { return traps_; }

  [[nodiscard]] const SmpStats& smp_stats() const { return client_.stats(); }

  /// For what is asked of ports outside cycles. Whoever uses it goes before the manager.
  [[nodiscard]] SmpClient& client() { return client_; }

  [[nodiscard]] const Settings& settings() const { return settings_; }

  /// One line each; empty when all is well.
  [[nodiscard]] std::vector<std::string> alarms() const;

  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

 private:
  /// The reason of sweeps that come at intervals.
  static constexpr const char* kSweep = "sweep";

  [[nodiscard]] Election::Hooks election_hooks();

  [[nodiscard]] bool is_standby() const {
    return phase_ == Phase::Standby || phase_ == Phase::NotActive;
  }

  void connect();
  [[nodiscard]] std::optional<HopPath> path_of(Lid lid) const;
  void on_sm_state(SmState state);
  [[nodiscard]] ManagerState fresh_state() const;
  void drop_work();
  void drop_cycle(std::string_view why);
  void take_settings();
  void keep_ordered_engine(Settings& fresh);
  void survey(const SweepReport& found);
  void look_at_own_link();
  void enter(Phase phase);
  void trigger(SweepTrigger why);
  void begin_cycle(SweepTrigger why);
  void on_written(const CycleReport& report);
  [[nodiscard]] SwitchRanks directions_to_keep() const;
  void publish();
  void on_cycle(CycleReport report);
  void on_cut_off(const CycleReport& report);
  void note_partitions(const std::string& trouble);
  void note_trial(const CycleReport& report);
  void keep(const CycleReport& report);
  [[nodiscard]] NodeNames node_names() const;
  void next();
  void start_deferred_work();
  void reread_soon();
  void on_traps(TrapBatch batch);
  void sweep_for_stranger(std::string reason);
  [[nodiscard]] static bool is_silence_alone(const Trouble& trouble, const CycleReport& cycle);
  [[nodiscard]] bool asks_all_silent() const;
  [[nodiscard]] std::vector<PortIdx> next_silent();
  [[nodiscard]] Duration sweep_pause() const;
  [[nodiscard]] bool deferred_work_is_overdue() const;
  void arm_sweep();
  [[nodiscard]] TimePoint due_at_rest(Duration rest, std::optional<TimePoint>& wanted_since) const;
  void arm_rebalance();
  void arm_opening();
  void on_sweep_timer();
  void light_sweep(std::string reason);
  void start_light_sweep(std::string reason);
  void on_light_sweep(LightSweepReport report);
  [[nodiscard]] bool are_tables_overwritten(const LightSweepReport& report);
  tl::expected<MulticastVl, std::string> request_multicast_vl();
  void take_m_keys();

  Runtime& runtime_;
  Transport& transport_;
  Settings settings_;
  std::optional<Settings> next_settings_;
  std::vector<std::string> configured_engines_;  // by the last that was adopted, without orders
  StateStore& store_;
  Observer observer_;
  WriteGate gate_;
  PortMKeys port_m_keys_;
  SmpClient client_;
  Election election_;
  TrapHandler traps_;
  ManagerState state_;
  bool reregister_before_hold_ = false;  // what a handover that nobody took leaves as it was
  DeferredWork deferred_work_;
  MKeyLeaseRefresher leases_;
  CostMeter meter_;
  MulticastManager multicast_;
  Publisher<ActiveSubnet> active_;
  Signal<PortsUp> came_up_;
  Signal<CycleReport> cycle_ended_;
  Signal<Notice> noticed_;

  Phase phase_ = Phase::Idle;
  std::optional<EngineTrial> trial_;
  bool is_trying_ = false;                 // what trial_ names
  bool engine_by_force_ = false;           // likewise
  std::string tried_;                      // by the cycle that runs
  bool is_published_ = false;              // what that cycle reached
  std::uint64_t partitions_in_force_ = 0;  // rules that a cycle brought in
  std::uint64_t partitions_failed_ = 0;    // that one was to bring in, and did not
  std::string partitions_failed_why_;
  SweepTrigger pending_;            // of what was reported while a cycle ran
  std::string light_sweep_wanted_;  // why one was asked for while a cycle ran; empty: none was
  std::string light_sweep_reason_;  // of the light sweep that runs
  std::size_t silent_turn_ = 0;     // of those that light sweeps ask by turns
  std::set<Guid> silent_by_lid_;    // switches in the last light sweep
  std::set<Guid> read_again_for_;   // of these, once all tables were read again for their sake
  std::uint64_t cycles_ = 0;
  TimePoint light_sweep_began_;     // of the last sweep
  Duration light_sweep_length_{0};  // likewise
  std::optional<TimePoint> deferred_work_due_since_;
  TimePoint deferred_work_began_;  // of the last one
  bool reread_armed_ = false;      // one is to come for nodes that changed
  std::optional<CycleReport> last_;
  std::optional<CycleReport> bring_up_;
  std::deque<CycleReport> changes_;
  std::uint64_t change_count_ = 0;
  std::optional<LastSweep> last_sweep_;
  std::vector<std::string> alarms_;
  SaidFaults said_;

  std::optional<Cycle> cycle_;
  std::string reason_;  // of the latest cycle
  std::optional<LightSweep> light_sweep_;
  RetryClock retry_;
  TimePoint swept_;  // last full or light sweep, or when the timer began one
  Timer sweep_timer_;
  TimePoint changed_;  // end of the last cycle that had more to do than sweep, or kept one waiting
  std::optional<TimePoint> uneven_since_, blocked_since_;
  Timer rebalance_timer_;
  Timer opening_timer_;
  Timer reread_timer_;
  Timer deferred_;           // leaves the frame of a stage that is about to be destroyed
  Timer light_sweep_ended_;  // likewise, of the light sweep: it may end while deferred work does
};

}  // namespace smd
