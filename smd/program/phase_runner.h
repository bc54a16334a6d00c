// Runs the phases of a plan, list by list. A list that is not confirmed as a whole ends the plan:
// what follows was proved for switches that hold it. Everybody else on the list is served first.
//
// Two things interrupt nothing: a port that does not come up, since it carries nothing; and
// whatever happens to an initial plan, since nothing carries anything.
#pragma once

#include "smd/program/block_writer.h"
#include "smd/program/port_setter.h"
#include "smd/program/row_setter.h"
#include "smd/program/switch_setter.h"
#include "smd/program/turn_setter.h"

namespace smd {

class PhaseRunner {
 public:
  struct Parts {
    Stage& stage;
    SwitchSetter& switches;
    TurnSetter& turns;
    RowSetter& rows;
    PortSetter& ports;
    BlockWriter& blocks;
  };

  PhaseRunner(ProgramRun& run, const Parts& parts) : run_(run), parts_(parts) {}

  PhaseRunner(const PhaseRunner&) = delete;

  /// `done` runs once: all phases are in, or report.plan_interrupted tells why not.
  void start(std::function<void()> done);

 private:
  void block_turns();
  void restore_turns();
  void deactivate();
  void write_rows();
  void write_entries();
  void raise_tops();
  void activate();
  void write_leftovers();
  void finish();

  /// True when the plan ends here.
  bool interrupts(std::string_view list, Unconfirmed unconfirmed);

  [[nodiscard]] const TransitionPlan& plan() const { return *run_.input.plan; }

  [[nodiscard]] const TransitionPhase& phase() const { return plan().phases[at_]; }

  ProgramRun& run_;
  Parts parts_;
  std::function<void()> done_;
  std::size_t at_ = 0;
  bool defaults_set_ = false;
  bool whole_written_ = false;
};

}  // namespace smd
