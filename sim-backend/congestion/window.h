// How many packets of a flow may be on their way unacknowledged.
//
//   none        as many as there are
//   static      always `most`
//   dynamic     from `most` down by one for each congested acknowledgement, to 1 at least; up by
//   one
//               for each clean one
//   fractional  dynamic, where `most` is `mean` rounded down or up so that its average over packets
//               is `mean` (Bresenham's line: adding and comparing alone)
//
// Source: Ferrer 2012, 5.2, 6.2, 9.2.
#pragma once

#include <cstdint>

namespace smd::sim {

enum class WindowKind : std::uint8_t { None, Static, Dynamic, Fractional };

struct WindowRule {
  WindowKind kind = WindowKind::None;
  unsigned most = 2;            // packets, at least 1
  unsigned mean_per_mille = 0;  // of a fractional one, at least 1000

  [[nodiscard]] bool reacts() const { return kind >= WindowKind::Dynamic; }

  /// Packets that it may be at most, now.
  [[nodiscard]] unsigned ceiling() const;
};

/// Of one flow.
struct WindowState {
  std::uint16_t now = 1;
  std::uint16_t error = 0;  // of the fractional ceiling, in thousandths
  std::uint16_t ceiling = 1;
};

[[nodiscard]] WindowState open_window(const WindowRule& rule);
void reset_window(const WindowRule& rule, WindowState& state);

/// Returns false when it was 1 already, or never changes.
bool narrow_window(const WindowRule& rule, WindowState& state);
void widen_window(const WindowRule& rule, WindowState& state);

/// A packet goes: the next step of a fractional ceiling.
void step_window(const WindowRule& rule, WindowState& state);

/// Packets that may be on their way; UINT_MAX without a window.
[[nodiscard]] unsigned window_of(const WindowRule& rule, const WindowState& state);

}  // namespace smd::sim
