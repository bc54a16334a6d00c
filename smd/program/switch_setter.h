// Sets SwitchInfo: LinearFDBTop, LifeTimeValue, and DefaultPort of random tables.
//
// LinearFDBTop is what puts blocks in force. With a plan it does not rise over blocks of which
// nothing is known before the plan has written them.
#pragma once

#include "smd/program/stage.h"

namespace smd {

class SwitchSetter {
 public:
  using Done = std::function<void()>;

  SwitchSetter(ProgramRun& run, Stage& stage) : run_(run), stage_(stage) {}

  SwitchSetter(const SwitchSetter&) = delete;

  /// What does not depend on tables that are still to be written.
  void set_before(Done done);

  /// Of random tables: goes with the entries that it completes.
  void set_default_ports(Done done);

  /// LinearFDBTop of switches of which every block below it is known by now. A switch without it
  /// forwards nothing, whatever its blocks say: it goes with the entries that others rely on.
  void raise_tops(std::function<void(Unconfirmed)> done);

  /// What set_before() left.
  void set_after(Done done);

 private:
  void set_each(PhaseCost& cost, std::function<SwitchInfo(SwitchIdx)> wanted_of, Done done);
  void send(SwitchIdx sw, const SwitchInfo& wanted);
  void on_answer(SwitchIdx sw, const SwitchInfo& wanted, const Result<SmpReply>& reply);
  [[nodiscard]] SwitchInfo wanted_of(SwitchIdx sw) const;
  [[nodiscard]] bool may_rise(SwitchIdx sw) const;
  [[nodiscard]] bool would_show_unknown_blocks(SwitchIdx sw) const;

  ProgramRun& run_;
  Stage& stage_;
};

}  // namespace smd
