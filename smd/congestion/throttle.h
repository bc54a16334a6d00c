// What a mark costs a flow, for the packets that its path holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "smd/mad/congestion.h"

namespace smd::cc {

// How many packets a flow needs on the way to keep an empty path busy: the window ω.
//
//   t_vct = h · t_hop + L / B            one packet over h switches, cut through
//   RTT   = 2 · h · t_hop + (L_data + L_ack) / B
//   K     = 2 · h · t_hop · B + L_ack    what the way costs, in bytes
//   ω     = RTT / (L_data / B) = (K + L_data) / L_data
//
// Source: Ferrer, Design of Efficient Packet Marking-based Congestion Management Techniques,
// 2012, formulas 5.1 – 5.5. Any unit of time will do, if both fields use it.

struct PathTiming {
  unsigned switches = 1;      // h: on the longest path
  double hop_time = 0;        // t_hop: routing, switch and cable
  double bytes_per_time = 1;  // B
  double head_bytes = 0;      // L_data is head and payload
  double ack_bytes = 0;
};

[[nodiscard]] double compute_path_bytes(const PathTiming& path);  // K
[[nodiscard]] double compute_round_trip(const PathTiming& path, double payload);

/// ω in packets; above 1.
[[nodiscard]] double compute_window(const PathTiming& path, double payload);

/// DWmax: ω as a whole number of packets, rounded up.
[[nodiscard]] unsigned window_ceiling(double window);

// How far a flow is slowed down by each mark, and the table that says so to an adapter.
//
// In a network of k-port switches and n stages a validated mark divides the rate of a flow by k:
// what is fair at one switch. n divisions are the most that k^n hosts can make necessary. Waits
// between two packets are whole round trips: 0, 1, k, k^2 …
//
// Source: as window.h, formulas 5.7 – 5.11 and Table 5.1.

/// "At most n increases" can be read in two ways; uncapped, gaps grow without bound.
enum class WaitCap : std::uint8_t { Stages, StagesMinusOne, None };

/// Waits of a flow after so many marks at a window of one packet, in round trips: 0, 1, k … up to
/// k^n, or k^(n-1). Saturates at 2^63.
[[nodiscard]] std::uint64_t waiting_slots(unsigned marks,
                                          unsigned radix,
                                          unsigned stages,
                                          WaitCap cap = WaitCap::Stages);

/// Rate at the hot output of a k-port switch where b inputs send to it all that they have and the
/// others uniformly, in rates of one input (5.10): 1 + b - b / k.
[[nodiscard]] double hot_rate(unsigned radix, double hot_inputs);

/// What that has to be multiplied with to be 1 (5.11): k / (b (k - 1) + k). 1 for no hot input,
/// 1 / k for k of them.
[[nodiscard]] double fair_reduction(unsigned radix, double hot_inputs);

/// The worst of n stages: 1 / k^n.
[[nodiscard]] double least_reduction(unsigned radix, unsigned stages);

/// Packet times between two packets, index by index.
using Delays = std::vector<double>;

/// 0, then the waits of 1, k, k^2 … k^n round trips (k^(n-1)), a round trip being `window` packet
/// times.
[[nodiscard]] Delays waiting_delays(double window,
                                    unsigned radix,
                                    unsigned stages,
                                    WaitCap cap = WaitCap::Stages);

/// As above, and where the window holds more than two packets its reductions first, down to two:
/// the rate of w packets in flight is w / window. One by one, or in as few as 32 steps.
[[nodiscard]] Delays throttle_delays(double window, unsigned radix, unsigned stages);

/// The same delays, and between them as many as it takes for no step to lower a rate to less than
/// `least` of what it was: a mark more or less then moves a flow a little. Requires: sorted, from
/// 0; 0 < least < 1.
[[nodiscard]] Delays spread_delays(const Delays& delays, double least);

/// The entry nearest to a delay: with as many fractional bits as fit. More than 16383 is 16383.
[[nodiscard]] CctEntry encode_delay(double packet_times);

/// The same, but never above.
[[nodiscard]] CctEntry encode_delay_below(double packet_times);

[[nodiscard]] double delay_of(const CctEntry& entry);

/// Hosts to reckon with where there are so many: the largest 3 · 2^i that is not more, so that one
/// host that comes or goes changes no table.
[[nodiscard]] std::size_t counted_hosts(std::size_t hosts);

/// SwitchCongestionSetting.Threshold of a buffer that is to mark when it is fuller than this
/// fraction: weight w stands for 1 - w / 16, so that 15 is the most eager one. 1 … 15.
/// The standard leaves the scale to the vendor; ours is what simulated switches use.
[[nodiscard]] std::uint8_t threshold_of(double fraction);

/// The inverse; above 1 for threshold 0, which never marks.
[[nodiscard]] double fraction_of(std::uint8_t threshold);

}  // namespace smd::cc
