// The presets of Timing, and where their figures come from.
#include "sim-backend/management/sim_fabric.h"

namespace smd::sim {

using namespace std::chrono_literals;

Timing Timing::modern() {
  return {
      // Chosen: no vendor states what a switch's firmware takes to pass a directed SMP on.
      .smi_pass = 1us,
      // Chosen: tens of microseconds per attribute; nobody states it either.
      .sma_time = 20us,
      // Data sheets of EDR, HDR and NDR switches: 90 to 200 ns port to port; the middle.
      .switch_hop = 130ns,
      // 5 ns per metre of copper or fibre; 10 m is chosen.
      .cable = 50ns,
      // 4x EDR: 100 Gbit/s.
      .byte_ns = 0.08,
      // 4 KiB of VL15 buffer hold 14 SMPs of 290 bytes.
      .vl15_packets = 14,
      // Chosen: 1.05 ms.
      .resp_time_code = 8,
  };
}

Timing Timing::thesis() {
  return {
      // Derived from Table 11: two passages per transaction at the manager's node, 150 us.
      .smi_pass = 75us,
      // The residues of the same table leave 25 to 30 us for the agent.
      .sma_time = 27us,
      // Routing 40, arbitration 40, crossbar set-up 2 and first byte 4, link arbitration 40.
      .switch_hop = 126ns,
      // 20 m at 5 ns per metre.
      .cable = 100ns,
      // At the 2 Gbit/s of a 1x SDR link this is 4 ns; the fabric's links say which they are.
      .byte_ns = 0.08,
      // The model never overflows.
      .vl15_packets = 0,
      // The least code that covers 75 us: 131 us.
      .resp_time_code = 5,
  };
}

Timing Timing::none() { return {}; }

}  // namespace smd::sim
