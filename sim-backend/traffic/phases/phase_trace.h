// The messages of phases as the lines of a trace, in the order of time, made one after the other:
// what the program would have sent on a network without latency whose links alone limit it.
//
// A round begins when the one before it is through: when the rank with most to send or to receive
// has had time for it. Within a phase a rank is late by a time of its own, up to `jitter_ns`.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "sim-backend/traffic/phases/phases.h"
#include "sim-backend/traffic/trace.h"
#include "smd/base/rng.h"

namespace smd::sim {

inline constexpr std::uint64_t kMostTraceNs = 9'000'000'000'000'000;  // that a reader takes

struct PhaseTiming {
  HostNum ranks = 64;
  HostNum first_host = 0;    // of rank 0; the others follow
  std::uint64_t repeat = 1;  // all phases in turn, so often
  std::uint64_t start_ns = 0;
  std::uint64_t jitter_ns = 0;
  double bytes_per_ns = 1;  // of a link of the network that the program ran on
  double speed = 1;         // all times are divided by it, but the start
  std::uint8_t sl = 0;
  std::uint64_t seed = 1;
};

/// All together; whole numbers where they are below 2^53.
struct PhaseSum {
  double messages = 0;
  double bytes = 0;
  double lasts_ns = 0;  // from the start until the last round is through, and its pause
};

[[nodiscard]] PhaseSum sum_phases(const std::vector<Phase>& phases, const PhaseTiming& timing);

/// One line of a trace, with its end.
[[nodiscard]] std::string print_trace_line(const TraceLine& line);

class PhaseTrace {
 public:
  /// Requires: the phases were parsed for so many ranks; speed and bytes_per_ns above 0; start
  /// and sum are within kMostTraceNs.
  PhaseTrace(std::vector<Phase> phases, const PhaseTiming& timing);

  /// Nothing at the end.
  [[nodiscard]] std::optional<TraceLine> next();

 private:
  struct Held {
    TraceLine line;
    std::uint64_t number = 0;  // of two at one time the first made is the first sent
  };

  struct Later {
    bool operator()(const Held& a, const Held& b) const {
      return a.line.at != b.line.at ? a.line.at > b.line.at : a.number > b.number;
    }
  };

  [[nodiscard]] bool at_end() const { return turn_ == timing_.repeat; }

  void begin_phase();
  void make_round();
  void end_round(Picos lasts);

  std::vector<Phase> phases_;
  PhaseTiming timing_;
  Rng rng_;
  std::uint64_t turn_ = 0;
  std::size_t phase_ = 0;
  std::uint32_t time_ = 0, round_ = 0;
  Picos base_ = 0;            // no message that is not made yet is earlier
  std::vector<Picos> delay_;  // by rank, in this phase
  std::vector<PhaseMessage> messages_;
  std::priority_queue<Held, std::vector<Held>, Later> held_;
  std::uint64_t made_ = 0;
};

}  // namespace smd::sim
