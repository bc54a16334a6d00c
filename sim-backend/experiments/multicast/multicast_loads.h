// Messages to several hosts on worm networks with routers of unit times: what comes of a load, and
// the most that is accepted.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/experiments/wormhole/worm_loads.h"

namespace smd::sim {

struct MulticastRun {
  std::string algorithm, fabric;
  unsigned destinations = 16;
  double share = 1;       // of messages that go to so many; the rest goes to one host
  unsigned channels = 4;  // to a host, and from it
  unsigned buffer = 4;    // flits of a lane
  std::uint64_t seed = 1;
};

/// At a load. Latencies in cycles, from being made until the tail is in.
struct MulticastPoint {
  double load = 0, accepted = 0;  // flits that each host takes in, per cycle
  double offered = 0;             // as it was drawn
  double last = 0, copy = 0;      // of messages to several: the last copy, and each on average
  double unicast = 0;             // of messages to one
  double blocked = 0;             // cycles in which lanes had to wait, for each message
  bool deadlocked = false;
};

/// Messages of 16 flits and a flit of head for each destination, Bernoulli arrivals.
[[nodiscard]] Result<PreparedScenario> prepare_multicast(const MulticastRun& run,
                                                         const MessageCount& length);

/// A fault where counts do not add up.
[[nodiscard]] Result<MulticastPoint> run_at(const PreparedScenario& prepared,
                                            double load,
                                            std::uint64_t seed);

/// Of runs at one load; locked where one of them is.
[[nodiscard]] MulticastPoint mean_of(std::span<const MulticastPoint> points);

struct LoadPlace {
  MulticastRun run;
  double load = 0;
};

/// At each place the mean of the runs with seeds 1 to `seeds`, whatever that of `run` is.
[[nodiscard]] Result<std::vector<MulticastPoint>> run_means(const std::vector<LoadPlace>& places,
                                                            unsigned seeds,
                                                            const MessageCount& length,
                                                            unsigned jobs);

/// The most that is accepted over loads of `step` apart, and every point that was run for it, by
/// load. Where it locks more is not accepted.
struct MulticastSweep {
  double most = 0;
  bool deadlocked = false;
  std::vector<MulticastPoint> points;
};

[[nodiscard]] Result<MulticastSweep> sweep(const MulticastRun& run,
                                           const MessageCount& length,
                                           double step);

/// "torus:dims=16.16,…,mesh=1".
[[nodiscard]] std::string mesh_fabric(unsigned side);

}  // namespace smd::sim
