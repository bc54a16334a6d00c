// What a session saw, as numbers that only grow: for those who read them at intervals.
#pragma once

#include <array>
#include <map>

#include "smd/admin/exposition.h"
#include "smd/app/cycle_report.h"
#include "smd/mad/notice.h"

namespace smd::app {

/// How a change was taken in.
struct ChangeKind {
  bool shrank = false;  // fewer nodes or links than before
  TransitionKind transition = TransitionKind::Nothing;

  friend auto operator<=>(const ChangeKind&, const ChangeKind&) = default;
};

class Tally {
 public:
  /// `is_change`: it found something other than the one before; see SubnetManager::changes().
  void note(const CycleReport& cycle, bool is_change);

  void note(const Notice& trap);

  /// Cycles that ended with everything as wanted, and others.
  [[nodiscard]] std::uint64_t cycles(bool up) const { return cycles_[up ? 1 : 0]; }

  /// Seconds from suspicion to confirmed, of changes that were taken in whole.
  [[nodiscard]] const std::map<ChangeKind, Histogram>& changes() const { return changes_; }

  /// Generic traps by number; 0 stands for all numbers that no specification gives, and for those
  /// of vendors.
  [[nodiscard]] const std::map<std::uint16_t, std::uint64_t>& traps() const { return traps_; }

 private:
  std::array<std::uint64_t, 2> cycles_{};
  std::map<ChangeKind, Histogram> changes_;
  std::map<std::uint16_t, std::uint64_t> traps_;
};

}  // namespace smd::app
