// Writes the SL-to-VL rows of switches, those that are not known to be as wanted. Rows of blocked
// turns stay blocked: TurnSetter gives them the wanted row when it opens them.
//
// Sent is not confirmed, as with forwarding blocks: a Set that was refused, lost or kept otherwise
// is looked after once.
#pragma once

#include "smd/program/stage.h"

namespace smd {

class RowSetter {
 public:
  using Done = std::function<void(Unconfirmed)>;

  RowSetter(ProgramRun& run, Stage& stage) : run_(run), stage_(stage) {}

  RowSetter(const RowSetter&) = delete;

  /// All rows of `input.rows`, one list with its barrier. Nothing without rows.
  void write(Done done);

  /// The first row that is neither as wanted nor blocked; empty: none.
  [[nodiscard]] std::string find_unwanted() const;

 private:
  [[nodiscard]] bool is_settled(const Turn& way) const;
  [[nodiscard]] const SlToVl& wanted(const Turn& way) const;
  void send(const Turn& way);
  void look(const Turn& way, std::string why);
  bool confirm(const Turn& way, const Result<SmpReply>& reply);

  ProgramRun& run_;
  Stage& stage_;
  Unconfirmed unconfirmed_;
};

}  // namespace smd
