#include "smd/congestion/window.h"

#include <cmath>

namespace smd::cc {

double compute_path_bytes(const PathTiming& path) {
  return 2 * path.switches * path.hop_time * path.bytes_per_time + path.ack_bytes;
}

double compute_round_trip(const PathTiming& path, double payload) {
  return (compute_path_bytes(path) + path.head_bytes + payload) / path.bytes_per_time;
}

double compute_window(const PathTiming& path, double payload) {
  const double data = path.head_bytes + payload;
  return (compute_path_bytes(path) + data) / data;
}

unsigned window_ceiling(double window) { return static_cast<unsigned>(std::ceil(window)); }

}  // namespace smd::cc
