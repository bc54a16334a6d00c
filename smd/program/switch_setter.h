// SwitchInfo, and whether a switch that took no Set takes one now.
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/program/program_run.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Sets SwitchInfo: LinearFDBTop, LifeTimeValue, and DefaultPort of random tables.
//
// LinearFDBTop is what puts blocks in force. With a plan it does not rise over blocks of which
// nothing is known before the plan has written them.
//
// A switch that has restarted since it was read has empty tables, and its LinearFDBTop of 0 says
// so, until it is set. Wherever one that had tables is set, its LID is read afterwards: without it
// LinearFDBTop goes back to 0, and the switch is one of ProgramReport::restarted.

class SwitchSetter {
 public:
  using Done = std::function<void()>;

  SwitchSetter(ProgramRun& run, SmpBatch& batch) : run_(run), batch_(batch) {}

  SwitchSetter(const SwitchSetter&) = delete;

  /// What does not depend on tables that are still to be written.
  void set_before(Done done);

  /// Of random tables: goes with the entries that it completes.
  void set_default_ports(Done done);

  /// LinearFDBTop of switches of which every block that it puts in force is known by now. A switch
  /// without it forwards nothing, whatever its blocks say: it goes with the entries that others
  /// rely on, and every switch that is left below it is unconfirmed.
  void raise_tops(std::function<void(Unconfirmed)> done);

  /// What set_before() left.
  void set_after(Done done);

 private:
  void set_each(PhaseCost& cost, std::function<SwitchInfo(SwitchIdx)> wanted_of, Done done);
  void send(SwitchIdx sw, const SwitchInfo& wanted);
  void on_answer(SwitchIdx sw, const SwitchInfo& wanted, const Result<SmpReply>& reply);
  void look_for_restart(SwitchIdx sw);
  void take_back(SwitchIdx sw);
  [[nodiscard]] SmpRequest request(SwitchIdx sw, Method method, AttributeId attribute) const;
  [[nodiscard]] bool has_restarted(SwitchIdx sw) const;
  [[nodiscard]] SwitchInfo wanted_of(SwitchIdx sw) const;
  [[nodiscard]] bool is_below_top(SwitchIdx sw) const;
  [[nodiscard]] bool may_rise(SwitchIdx sw) const;
  [[nodiscard]] bool would_show_unknown_blocks(SwitchIdx sw) const;

  ProgramRun& run_;
  SmpBatch& batch_;
};

// Whether switches that took no Set before take one now: the first block of their forwarding table
// is written as it is.

class SetProbe {
 public:
  /// Those that took it, in the order in which they answered.
  using Done = std::function<void(std::vector<Guid> willing)>;

  SetProbe(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  SetProbe(const SetProbe&) = delete;

  /// `done` runs once, last; it may destroy this. `found` outlives the run.
  void start(const SweepReport& found, std::vector<SwitchIdx> switches, Done done);

 private:
  void read(SwitchIdx sw);
  void write_back(SwitchIdx sw, const SmpData& block);
  [[nodiscard]] SmpRequest request(SwitchIdx sw, Method method) const;

  SmpPump pump_;
  MKey m_key_;
  const SweepReport* found_ = nullptr;
  std::vector<SwitchIdx> switches_;
  std::size_t next_ = 0;
  std::vector<Guid> willing_;
};

}  // namespace smd
