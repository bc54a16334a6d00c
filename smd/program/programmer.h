// Makes the fabric what the plan says, one barrier after the other, writing only what differs from
// what is confirmed:
//   read back   tables of switches that somebody programmed before us
//   switches    SwitchInfo: LinearFDBTop, LifeTimeValue
//   vls         OperationalVLs of Active ports, where rows may lead to more of them
//   qos         SL-to-VL entries and VL arbitration, where configured
//   keys        P_Key tables of end ports and of the switch ports before them, where configured
//   phases      per phase: turns blocked, turns restored, ports taken down, SL-to-VL entries,
//   forwarding entries, ports up
//               (without a plan: all of them, all blocks), by directed route: old tables must not
//               be trusted
//   ports       one Set each: LID, configuration, and Initialize -> Armed
//   activate    Armed -> Active
// Every answer is compared with what was set. The answer to a Set carries the register as it now
// is, not as we sent it (IBA 14.2.5), so only a matching answer confirms.
#pragma once

#include <functional>
#include <memory>

#include "smd/program/program_input.h"
#include "smd/program/program_report.h"
#include "smd/program/table_audit.h"

namespace smd {

class Programmer {
 public:
  using Done = std::function<void(ProgramReport)>;

  Programmer(Runtime& runtime, SmpClient& client, ProgramState& state, CostMeter& meter);
  ~Programmer();
  Programmer(const Programmer&) = delete;

  /// `done` runs once, last; it may destroy this.
  void start(const ProgramInput& input, Done done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Runtime& runtime_;
  SmpClient& client_;
  ProgramState& state_;
  CostMeter& meter_;
};

}  // namespace smd
