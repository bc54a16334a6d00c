// How many packets a flow needs on the way to keep an empty path busy: the window ω.
//
//   t_vct = h · t_hop + L / B            one packet over h switches, cut through
//   RTT   = 2 · h · t_hop + (L_data + L_ack) / B
//   K     = 2 · h · t_hop · B + L_ack    what the way costs, in bytes
//   ω     = RTT / (L_data / B) = (K + L_data) / L_data
//
// Source: Ferrer, Design of Efficient Packet Marking-based Congestion Management Techniques,
// 2012, formulas 5.1 – 5.5. Any unit of time will do, if both fields use it.
#pragma once

namespace smd::cc {

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

}  // namespace smd::cc
