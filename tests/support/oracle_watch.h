// Attaches to a fabric and looks at the registers of the simulated switches after every change of
// one of them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "sim-backend/management/fabric_timeline.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {

class OracleWatch {
 public:
  explicit OracleWatch(TimedFabric& on) : timeline_(on.runtime, on.fabric) {}

  /// What must never be, not for a moment, with its virtual time; empty when it never was. Loops
  /// are not among it: a change of cables alone can make one.
  [[nodiscard]] std::string never_allowed() const {
    const auto say = [](const char* what, const sim::Sighting& seen) {
      return fmt::format("{} at {:.6f} s: {}", what, seconds(seen.at), seen.text);
    };
    if (timeline_.first_cycle()) return say("credit loop", *timeline_.first_cycle());
    if (timeline_.first_shared_lid()) return say("LID given twice", *timeline_.first_shared_lid());
    return "";
  }

  /// The first forwarding loop, however short; empty when there was none.
  [[nodiscard]] std::string passing_loop() const {
    if (!timeline_.first_loop()) return "";
    return fmt::format(
        "loop at {:.6f} s: {}", seconds(timeline_.first_loop()->at), timeline_.first_loop()->text);
  }

  /// The loop that is there now; at rest it stays.
  [[nodiscard]] std::string present_loop() { return timeline_.now().find_loop(); }

  /// Every pair that some path of cables joins is connected now.
  [[nodiscard]] bool connected() {
    const sim::Connectivity& now = timeline_.now().connectivity();
    return now.connected == now.possible;
  }

  /// From here on, for one change of many.
  void restart() { timeline_.restart(); }

  [[nodiscard]] sim::FabricTimeline& timeline() { return timeline_; }

 private:
  static double seconds(TimePoint at) {
    return std::chrono::duration<double>(at.since_epoch).count();
  }

  sim::FabricTimeline timeline_;
};

}  // namespace smd::test
