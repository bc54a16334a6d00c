// Uniform traffic in a network of the preset "multistage": how full its buffers are, and how long a
// packet and its acknowledgement take.
#pragma once

#include <string>

#include "smd/base/result.h"

namespace smd::sim {

struct UniformNetwork {
  std::string name, fabric;
  unsigned ports = 1;  // of a host, as HotSpotOptions
  unsigned payload = 256;
};

struct UniformResult {
  double accepted = 0;      // bytes per cycle and host, headers included
  double input_fill = 0;    // share of the input buffers between switches, and of output buffers of
  double output_fill = 0;   // switches; looked at every 1,000 cycles
  double fullest_fill = 0;  // of one buffer, on average over the run
  double round_trip = 0;    // cycles, from a packet's injection to its acknowledgement
};

/// `load`: bytes per cycle and host. Buffers hold four packets. `cycles` are measured after a third
/// as many.
[[nodiscard]] Result<UniformResult> run_uniform(const UniformNetwork& network,
                                                double load,
                                                unsigned cycles);

}  // namespace smd::sim
