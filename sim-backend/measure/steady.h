// Runs a net through its transient and on until its mean latency is known well enough.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim-backend/measure/meter.h"

namespace smd::sim {

struct SteadyPlan {
  Picos warm_up = 20 * kMicro;
  Picos interval = 10 * kMicro;  // one batch
  unsigned least_intervals = 10;
  unsigned most_intervals = 100;
  double precision = 0.05;  // half width of the 95 % interval of the mean latency, of the mean
  bool stop_early = true;   // when it is reached; else all intervals are run
  // In messages that arrive, in place of times; 0: as above.
  std::uint64_t warm_up_messages = 0;
  // Then neither precision nor numbers of intervals end a run. Where packets are lost and none
  // arrives, ten times as many lost ones do.
  std::uint64_t messages = 0;
};

enum class RunState : std::uint8_t {
  Stable,     // what is sent arrives, and the mean is known as well as wanted
  Imprecise,  // stable, but not yet known so well
  Saturated,  // more is made, or would be, than arrives: latencies mean nothing
  Deadlocked,
  Interrupted,  // by whoever waits for it: the intervals so far
  Full,         // of more packets than a partition can have, or is to: the figures mean nothing
  Undelivered   // nothing arrived in what was measured: there is nothing to judge
};

/// "stable": as results name it.
[[nodiscard]] std::string_view print_run_state(RunState state);

struct SteadyResult {
  RunState state = RunState::Stable;
  std::vector<Interval> intervals;  // after the warm-up
  Confidence latency;               // ps, of the batches
  Confidence network_latency;
  std::size_t transient = 0;  // batches that MSER would still leave out
  // Shares of all hosts' links, headers included: of what was made, a packet for a group once for
  // each host that is to get it, and of what arrived.
  double offered_load = 0;
  double accepted_load = 0;
  /// Of the time of hosts that had something to send, in which AdapterModel::most_waiting kept them
  /// from making it: by so much less is offered than asked for.
  double held_back = 0;
  Occupancy occupancy;  // mean over the ends of the intervals; its maxima are of all of them
  std::vector<WaitingHop> deadlock;
  Picos deadlock_at = kNever;  // when it was found
};

/// Asked after every interval, and told what share (0 to 1) of the longest run is behind it: false
/// ends the run.
using GoesOn = std::function<bool(double)>;

/// `step(until)` advances whatever drives the net; it may stop it, then nothing moves any more.
/// `begun()`: the warm-up is over.
/// Requires: the meter is the net's observer, and the workload has been started.
[[nodiscard]] SteadyResult measure_steady(
    DataNet& net,
    Meter& meter,
    const SteadyPlan& plan,
    const std::function<void(Picos)>& step,
    const GoesOn& goes_on = [](double) { return true; },
    const std::function<void()>& begun = [] {});

[[nodiscard]] SteadyResult measure_steady(DataNet& net, Meter& meter, const SteadyPlan& plan);

/// Bytes that the links of all hosts carry in this time.
[[nodiscard]] double link_capacity(const DataNet& net, Picos time);

struct SaturationPoint {
  double load = 0;      // the highest offered load that was still stable
  double accepted = 0;  // at it
  unsigned runs = 0;
  /// A run at this load was Full, Interrupted or Undelivered, and the search ended with it: nobody
  /// knows whether the load is stable.
  std::optional<double> ended_early_at;
  RunState ended_early_by = RunState::Stable;  // what that run was
  std::optional<double> deadlocked_at;         // the lowest load at which a run ended in a deadlock
  std::vector<WaitingHop> deadlock;            // there
  Picos deadlock_found = kNever;
  // At `load`, while it was measured:
  std::uint64_t generated = 0;
  std::uint64_t unreachable = 0;  // thrown away for want of a route
};

/// Halves the stretch between a stable and a saturated load until it is at most `tolerance` wide.
/// `run` tells what a run at that load came to. A deadlock is not stable.
[[nodiscard]] SaturationPoint find_saturation(const std::function<SteadyResult(double)>& run,
                                              double tolerance);

}  // namespace smd::sim
