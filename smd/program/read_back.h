// Reads forwarding tables that somebody wrote before us: a plan starts from what is there, not from
// what is assumed.
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/plan/confirmed_tables.h"
#include "smd/plan/table_diff.h"
#include "smd/smp/smp_pump.h"

namespace smd {

/// Blocks below LinearFDBTop, and no further than `top`, of which nothing is known.
[[nodiscard]] std::vector<TableBlock> find_unread_blocks(const Fabric& fabric,
                                                         Lid top,
                                                         const ConfirmedTables& confirmed);

class ReadBack {
 public:
  /// How many blocks were asked for.
  using Done = std::function<void(std::uint64_t)>;

  ReadBack(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  ReadBack(const ReadBack&) = delete;

  /// Confirms what the switches answer; what is not answered stays unknown. Report and `confirmed`
  /// must stay alive. `done` runs once, last; it may destroy this.
  void start(const SweepReport& report,
             std::vector<TableBlock> blocks,
             ConfirmedTables& confirmed,
             Done done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::vector<TableBlock> blocks_;
  std::size_t next_ = 0;
};

}  // namespace smd
