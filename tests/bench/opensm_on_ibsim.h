// The stock OpenSM on ibsim, with our listener inside.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/timed_process.h"
#include "tests/support/ibsim.h"

namespace smd::bench {

struct OpensmEvent {
  std::string what;  // "sweep", "routed", "up"
  Clock::time_point at;
  double smps = 0;    // sent so far
  double blocks = 0;  // found to differ so far
};

struct OpensmSetup {
  unsigned window = 0;                      // max_wire_smps; 0 leaves it as shipped
  std::string plugin = "smd_opensm_probe";  // who listens
  std::string config;                       // further lines of its configuration
  std::string preload;                      // a library ahead of libumad2sim
  Environment env;
};

class OpensmOnIbsim {
 public:
  /// It sits on the fabric's first adapter, keeps every file in `folder`, and sweeps only when
  /// something is reported.
  OpensmOnIbsim(const test::Ibsim& ibsim,
                const std::filesystem::path& folder,
                const OpensmSetup& setup);

  /// Everything it did so far, as smd_opensm_probe saw it.
  [[nodiscard]] std::vector<OpensmEvent> events() const;

  /// The first SUBNET UP, unless it ends or the limit is reached before.
  std::optional<OpensmEvent> wait_until_up(std::chrono::seconds limit);

  [[nodiscard]] TimedProcess& process() { return process_; }

  /// What the listener writes.
  [[nodiscard]] std::filesystem::path probe_file() const { return folder_ / "probe"; }

 private:
  std::filesystem::path folder_;
  TimedProcess process_;
};

}  // namespace smd::bench
