// The manager: wiring and life cycle only. Who produces, who consumes:
//
//   trap, timer, command -> request_sweep -> Discovery -> SweepReport -> assign_lids -> LidMap
//     -> engine (offloaded) -> RoutingTables -> check_routes -> Programmer -> CycleReport
//
// One cycle at a time. What is requested while one runs is remembered and starts one more when it
// ends, so that a change is neither lost nor restarts the work without bound.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "smd/app/cycle_report.h"
#include "smd/app/retry_clock.h"
#include "smd/app/route_job.h"
#include "smd/app/settings.h"
#include "smd/app/trap_desk.h"
#include "smd/discovery/description_fetch.h"
#include "smd/discovery/discovery.h"
#include "smd/discovery/fdr10_fetch.h"
#include "smd/discovery/switch_poll.h"
#include "smd/program/programmer.h"
#include "smd/routing/engine.h"
#include "smd/smp/smp_client.h"

namespace smd::app {

class SubnetManager {
 public:
  struct Observer {
    std::function<void(Phase)> on_phase = [](Phase) {};
    std::function<void(const CycleReport&)> on_cycle = [](const CycleReport&) {};
    std::function<void(const LidBook&)> on_lids = [](const LidBook&) {};  // changed: to be kept
    WallClock wall;                                                       // none: wall costs are 0
    std::function<void(Error)> on_lost = [](Error) {};                    // the transport is gone
  };

  SubnetManager(
      Runtime& runtime, Transport& transport, Settings settings, LidBook book, Observer observer);
  SubnetManager(const SubnetManager&) = delete;

  /// Shows IsSM and begins the first cycle.
  void start();

  /// A full cycle now, or after the one that runs.
  void request_sweep(std::string reason);

  /// From the next cycle on; transport and window settings need a restart.
  void adopt(Settings settings);

  [[nodiscard]] Phase phase() const { return phase_; }

  [[nodiscard]] TimePoint now() const { return runtime_.now(); }

  /// Nothing runs and nothing is asked for.
  [[nodiscard]] bool at_rest() const {
    return (phase_ == Phase::Idle || phase_ == Phase::Up) && pending_reason_.empty() &&
           !traps_.waiting() && !tending_;
  }

  /// Null before the first cycle ended.
  [[nodiscard]] const CycleReport* last_cycle() const { return last_ ? &*last_ : nullptr; }

  /// Cycles after the first that found something different, newest first; the latest 100.
  [[nodiscard]] const std::deque<CycleReport>& changes() const { return changes_; }

  /// The first complete bring-up.
  [[nodiscard]] const CycleReport* bring_up() const { return bring_up_ ? &*bring_up_ : nullptr; }

  /// Null until a cycle has routes that were verified.
  [[nodiscard]] const InForce* in_force() const { return in_force_ ? &*in_force_ : nullptr; }

  [[nodiscard]] const SmpStats& smp_stats() const { return client_.stats(); }

  [[nodiscard]] const Settings& settings() const { return settings_; }

  [[nodiscard]] const std::vector<std::string>& alarms() const { return alarms_; }

  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

 private:
  void enter(Phase phase);
  void begin_cycle(std::string reason);
  void on_discovered(Result<SweepReport> found);
  void compute_routes();
  void on_routed(Routed routed);
  void program();
  void on_programmed(ProgramReport report);
  void end_cycle();
  void tend();
  void fetch_descriptions();
  void fetch_fdr10();
  void on_traps(TrapDesk::Batch batch);
  [[nodiscard]] Duration patience() const;
  void arm_poll();
  void poll();
  void on_poll(PollReport report);
  void learn_timeout();
  [[nodiscard]] std::optional<PortInfo> literal_lid(Guid port_guid, const PortInfo& now);
  [[nodiscard]] PortPolicy port_policy() const;

  Runtime& runtime_;
  Transport& transport_;
  Settings settings_;
  std::optional<Settings> next_settings_;
  Observer observer_;
  SmpClient client_;
  TrapDesk traps_;
  ProgramState program_state_;

  LidBook book_;
  Orientation orientation_;
  std::map<Guid, std::string> descriptions_;
  std::uint64_t next_epoch_ = 1;
  std::uint64_t next_literal_lid_ = 1;
  std::uint64_t cycles_ = 0;

  Phase phase_ = Phase::Idle;
  bool tending_ = false;
  bool pkeys_checked_ = false;
  std::vector<PortIdx> came_up_;  // of the cycle that ended last, ascending
  std::string pending_reason_;    // asked for while a cycle runs; empty when nothing is
  CostMeter meter_;
  std::optional<SweepReport> found_;  // of the cycle that runs, until its routes are verified
  LidMap lids_;                       // likewise
  std::optional<InForce> in_force_;
  CycleReport current_;
  std::optional<CycleReport> last_;
  std::optional<CycleReport> bring_up_;
  std::deque<CycleReport> changes_;
  std::vector<std::string> alarms_;

  std::optional<Discovery> discovery_;
  std::optional<Programmer> programmer_;
  std::optional<TableAudit> pkeys_;
  std::optional<DescriptionFetch> describer_;
  std::optional<Fdr10Fetch> fdr10_;
  std::optional<SwitchPoll> poll_;
  OffloadOwner route_work_;
  RetryClock retry_;
  Timer poll_timer_;
  Timer deferred_;  // leaves the frame of a stage that is about to be destroyed
};

}  // namespace smd::app
