// Blocks turns and restores them: all SLs of an (input, output) pair on VL 15, or the row that the
// site wants.
#pragma once

#include "smd/program/stage.h"

namespace smd {

class TurnSetter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  TurnSetter(ProgramRun& run, Stage& stage) : run_(run), stage_(stage) {}

  TurnSetter(const TurnSetter&) = delete;

  /// One list with its barrier; turns that are so already cost nothing.
  void block(const std::vector<Turn>& turns, Done done);
  void restore(const std::vector<Turn>& turns, Done done);

 private:
  void start(std::vector<Turn> turns, TurnMemory::Held wanted, Done done);
  void block_one(const Turn& turn);
  void set_row(const Turn& turn, TurnMemory::Held wanted);
  void look(const Turn& turn, TurnMemory::Held wanted, std::string why);
  bool note(const Turn& turn, TurnMemory::Held wanted, const Result<SmpReply>& reply);
  [[nodiscard]] TurnMemory::Row& row_of(const Turn& turn);

  [[nodiscard]] const std::optional<SlToVl>& site_row() const {
    return run_.input.qos.row_of(PortKind::SwitchExternal);
  }

  [[nodiscard]] SlToVl open_row(const Turn& turn);

  ProgramRun& run_;
  Stage& stage_;
  Unconfirmed unconfirmed_;
};

}  // namespace smd
