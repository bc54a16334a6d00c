// What a change did to the traffic of hosts, read from the registers of simulated switches.
#pragma once

#include "smd/runtime/runtime.h"

namespace smd::app {

/// Connectivity counts where it lasted for some time; danger also where it passed at once.
struct ServiceReport {
  double lowest_connectivity = 1;  // share of the pairs of hosts that cables allow
  Duration below_possible{0};      // for so long fewer pairs were connected than cables allowed
  double highest_deadlock = 0;     // share of the channels that could wait for each other
  bool forwarding_loop = false;    // seen at least once
};

}  // namespace smd::app
