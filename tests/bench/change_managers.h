// Two subnet managers on ibsim, asked the same question: what did this event cost you?
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/timed_process.h"
#include "tests/support/ibsim.h"

namespace smd::bench {

struct Reaction {
  double tables_ms = 0;   // from the event to the last confirmed table
  double settled_ms = 0;  // to the end of the last change
  double smps = 0;        // sent from the event on
  double rounds = 0;      // changes, or heavy sweeps
};

/// A reaction is over when nothing followed for this long.
constexpr std::chrono::milliseconds kQuiet{1500};

class Manager {
 public:
  virtual ~Manager() = default;

  virtual bool comes_up(std::chrono::seconds limit) = 0;

  /// Notes what was sent so far.
  virtual void before_event() = 0;

  /// Blocks until the reaction to what happened at `event` is over; nothing at the limit.
  virtual std::optional<Reaction> wait_for_reaction(Clock::time_point event,
                                                    std::chrono::seconds limit) = 0;
};

/// `words`: further words for `smd run`.
[[nodiscard]] std::unique_ptr<Manager> start_smd(const test::Ibsim& ibsim,
                                                 const std::filesystem::path& folder,
                                                 const std::vector<std::string>& words);

/// `window`: max_wire_smps; 0 leaves it as shipped.
[[nodiscard]] std::unique_ptr<Manager> start_opensm(const test::Ibsim& ibsim,
                                                    const std::filesystem::path& folder,
                                                    unsigned window);

}  // namespace smd::bench
