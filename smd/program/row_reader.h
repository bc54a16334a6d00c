// Reads SL-to-VL rows that somebody wrote before us, or that a switch was made with: a plan starts
// from what is there.
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/plan/row_memory.h"
#include "smd/plan/transition.h"
#include "smd/smp/smp_pump.h"

namespace smd {

/// Rows of switches that forward, of which nothing is known; sorted. A switch fresh from power-on
/// forwards nothing until its rows are written.
[[nodiscard]] std::vector<Turn> find_unread_rows(const Fabric& fabric, const RowMemory& known);

class RowReader {
 public:
  RowReader(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  RowReader(const RowReader&) = delete;

  /// Confirms what the switches answer; what is not answered stays unknown. Report and `known` must
  /// stay alive. `done` runs once, last; it may destroy this.
  void start(const SweepReport& report,
             std::vector<Turn> ways,
             RowMemory& known,
             std::function<void()> done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::vector<Turn> ways_;
  std::size_t next_ = 0;
};

}  // namespace smd
