// One cycle: from a trigger to a fabric that is as wanted.
//
//   Sweep -> SweepReport -> assign_lids -> LidMap -> (ReadBack)
//     -> compute_routed (offloaded) -> RoutingTables, verified
//     -> compute_plan (offloaded) -> TransitionPlan, proved -> Programmer -> CycleReport
//
// What could not be confirmed in one phase of a plan ends the plan there; it is made again around
// what is confirmed, a few times. A switch that none of them got past is left out as if it were
// silent, as is a link between switches that does not become Active, and the cycle goes on without
// it from assign_lids. A rebalance of loads is a cycle without a change; it ends where its plan
// would block anything. PIRa and then FERa are two rounds of the last two lines.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "smd/config/settings.h"
#include "smd/manager/deferred_work.h"
#include "smd/manager/manager_state.h"
#include "smd/manager/plan_job.h"
#include "smd/manager/route_job.h"
#include "smd/manager/sweep.h"
#include "smd/program/lft_writer.h"
#include "smd/program/programmer.h"
#include "smd/program/sl2vl_writer.h"
#include "smd/program/switch_setter.h"
#include "smd/program/takeover.h"
#include "smd/state/state_store.h"
#include "smd/subnet/active_subnet.h"
#include "smd/subnet/cycle_report.h"

namespace smd {

/// Sees each plan before its first SMP goes out.
using PlanWatcher = std::function<void(const Fabric&, const TransitionPlan&)>;

class Cycle {
 public:
  struct Hooks {
    std::function<void(Phase)> on_phase;
    PlanWatcher on_plan;

    /// The sweep is over, and nothing was written yet that others rely on: proceed() goes on.
    std::function<void(const SweepReport&)> on_found;

    /// Before the first entry of a plan is written: who relies on the routes in force makes way,
    /// and calls what it is given. May be empty.
    std::function<void(std::shared_ptr<const ActiveSubnet>, std::function<void()>)> on_routes;

    /// Something is other than it was since the cycle began: what is done at rest gives way to it.
    /// May be empty.
    std::function<bool()> change_waits;

    /// All is written and confirmed, and only statistics of the routes are missing: what the cycle
    /// reached may be published. Not where there are none. May call stop_measuring(), and may be
    /// empty.
    std::function<void(const CycleReport&)> on_written;
    std::function<void(CycleReport)> done;  // once, last; not from inside start()
  };

  /// All outlive the cycle.
  struct Parts {
    Runtime& runtime;
    SmpClient& client;
    const Settings& settings;
    ManagerState& state;
    StateStore& store;
    DeferredWork& deferred_work;
    CostMeter& meter;
    bool read_only = false;  // until proceed(): whether we may write is not settled

    /// Asked for by command: in place of the engine of `settings`, unless the fabric does not suit
    /// it, or, without `engine_by_force`, its tables cannot be reached without blocking turns or
    /// taking ports down. Empty: none.
    std::string trial_engine{};
    bool engine_by_force = false;
  };

  Cycle(const Parts& parts, Hooks hooks);
  Cycle(const Cycle&) = delete;

  ~Cycle() { stop_measuring(); }

  void start(SweepTrigger why);

  /// Requires: on_found ran.
  void proceed();

  /// In its place, where on_found said that nobody is seen: nothing is numbered or written, and
  /// what is known of the others stays.
  void end_cut_off();

  /// Somebody waits for the end of the cycle: statistics are left out if they are still being
  /// computed, and the report has what the check of the change said.
  void stop_measuring() { measuring_.request_stop(); }

  /// The same of a change: routes that are being computed at rest, and would give way to it, are
  /// left as well.
  void stop_for_change() {
    stop_measuring();
    if (may_give_way()) rebalance_stop_.request_stop();
  }

 private:
  /// Of the state, at a moment that it may go back to.
  struct StandingRoutes {
    std::shared_ptr<const ActiveSubnet> in_force;
    std::shared_ptr<const ActiveSubnet> with_lost;
    std::shared_ptr<const ActiveSubnet> before_loss;
    std::set<Guid> lost_then;
    Orientation orientation;
  };

  void on_swept(SweepResult swept);
  void probe_refusing();
  void take_in();
  void leave_out_known_refusing();
  void leave_out_inactive_links();
  void count_found();
  void go_on_with(SweepReport rest);
  void look_again_at_raised();
  void take_keys();
  void follow_other_master();
  void heed_joined();
  void soon(void (Cycle::*then)());
  void address();
  void await_book();
  void read_held();
  [[nodiscard]] bool was_ruled_by_another(PortIdx end) const;
  void doubt_port_tables();
  void read_back(void (Cycle::*then)());
  [[nodiscard]] std::shared_ptr<const ActiveSubnet> routes_to_keep() const;
  [[nodiscard]] bool finds_unknown_entries(const Fabric& ours) const;
  void route();
  void rebalance(RouteJob job);
  void open_blocked(RouteJob job);
  [[nodiscard]] Duration computing_time(const Routed& routed) const;
  void on_routed(Routed routed);
  [[nodiscard]] std::string engine() const;
  [[nodiscard]] std::vector<std::string> next_engines() const;
  [[nodiscard]] bool is_on_trial() const;
  void end_trial(std::string why, bool needs_force);
  void mark_verified();
  void set_target(RoutingTables goal, std::shared_ptr<const VerifiedRoutes> verified);
  [[nodiscard]] bool is_mostly_lost(const ActiveSubnet& before) const;
  void remember_loss();
  void await_part();
  void read_rows();
  [[nodiscard]] PlanJob plan_job(std::shared_ptr<const ActiveSubnet> goal) const;
  void plan();
  void program(TransitionPlan plan);
  void start_programming();
  void on_programmed(ProgramReport report);
  void note_unconfirmed_keys(const std::map<Guid, std::string>& found);
  void share_rows(SwitchIdx first, ProgramReport report);
  void on_confirmed(ProgramReport report);
  [[nodiscard]] bool has_refusing() const;
  void leave_out_refusing();
  [[nodiscard]] bool is_refusing_more(const PortRef& end) const;
  [[nodiscard]] bool leaves_out_stuck_links();
  void keep_turns(const TransitionPlan& plan);
  [[nodiscard]] StandingRoutes standing() const;
  void restore(const StandingRoutes& routes);
  void hold(const TransitionPlan& plan);
  void keep_written(std::string_view why);
  void note_plan(const TransitionPlan& plan);
  void tell_clients();
  void measure();
  void fail(Error error);
  [[nodiscard]] bool may_give_way() const;
  [[nodiscard]] bool gives_way();
  void drop_rebalance(std::string_view why);
  void remember_who_was_there();
  void finish();

  [[nodiscard]] PortPolicy port_policy() const;

  template <class Stage>
  void end_stage(std::optional<Stage>& stage, PhaseCost& cost, void (Cycle::*then)());

  Parts parts_;
  Hooks hooks_;
  CycleReport report_;
  SweepReport found_;  // until its routes are verified
  std::optional<Delta> delta_;
  LidMap lids_;  // likewise
  TimePoint addressed_;
  bool new_silence_ = false;
  bool rebalancing_ = false;  // nothing has changed, and nothing need
  bool opening_ = false;      // likewise, and routes stay

  StandingRoutes before_;              // when the cycle began
  std::vector<PortRef> stuck_before_;  // likewise

  /// A plan that was written to its end, while routes without links that are stuck are made.
  struct Written {
    StandingRoutes routes;
    CycleReport report;
  };

  std::optional<Written> written_;
  std::shared_ptr<const Routed> instead_;  // see Routed

  unsigned round_ = 0;  // of routes: 0, then 1 when provisional ones come first
  unsigned replans_ = 0;
  PlanInterruption refusal_;           // what every attempt at the plan met
  std::vector<PortRef> needed_links_;  // do not become Active, and nobody can do without
  bool first_plan_ = true;
  Duration computing_{0};  // see computing_time(); of this round

  /// Routes of the round after provisional ones.
  struct FinalRoutes {
    RoutingTables tables;
    TimePoint began;
    unsigned part = 0;  // under way
  };

  FinalRoutes final_;
  std::stop_source measuring_;
  std::stop_source rebalance_stop_;
  TransitionPlan plan_;
  SlToVlMaps rows_;  // that it writes
  std::vector<PortIdx>
      ours_already_;  // ports that named us master, and whose clients are to register again

  std::optional<Sweep> sweep_;
  std::optional<SetProbe> set_probe_;
  std::optional<MKeyTakeover> key_taker_;
  std::optional<ReadBack> read_back_;
  std::optional<SlToVlReader> sl_to_vl_reader_;
  std::optional<Programmer> programmer_;
  std::optional<Reregistration> reregistration_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // while anybody may call back
  OffloadOwner work_;
  Timer deferred_;  // see leave()
};

/// What the stage cost goes to `cost`.
template <class Stage>
void Cycle::end_stage(std::optional<Stage>& stage, PhaseCost& cost, void (Cycle::*then)()) {
  deferred_ = leave(parts_.runtime, stage, [this, &cost, then] {
    cost += parts_.meter.lap();
    (this->*then)();
  });
}

}  // namespace smd
