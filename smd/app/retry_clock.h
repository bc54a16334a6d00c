// When to look at everything again although nothing was reported: after trouble, and ever more
// rarely while it lasts.
#pragma once

#include <algorithm>
#include <string>

#include "smd/app/cycle_report.h"

namespace smd::app {

/// Why the fabric may be other than the manager believes without anybody telling it; empty when it
/// is well watched.
[[nodiscard]] std::string trouble_of(const CycleReport& cycle);

class RetryClock {
 public:
  static constexpr Duration kLongest = std::chrono::minutes(5);

  /// `base` is the first wait; it doubles while the trouble stays the same, up to kLongest.
  void on_cycle(const std::string& trouble, TimePoint now, Duration base) {
    wait_ = trouble.empty()       ? Duration{0}
            : trouble == trouble_ ? std::min(2 * wait_, kLongest)
                                  : base;
    trouble_ = trouble;
    at_ = now + wait_;
  }

  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  [[nodiscard]] bool due(TimePoint now) const { return !trouble_.empty() && now >= at_; }

  [[nodiscard]] Duration wait() const { return wait_; }

 private:
  std::string trouble_;
  Duration wait_{0};
  TimePoint at_;
};

}  // namespace smd::app
