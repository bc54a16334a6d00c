// How an event says what it is of.
#pragma once

#include "sim-backend/packet/event_queue.h"
#include "sim-backend/packet/net_state.h"

namespace smd::sim {

// What an event is: its step, what it is of, an argument. Where that is a packet's cell, a number
// comes before it that the packet has from its port: cells are given out in an order that must not
// show.
inline constexpr unsigned kStepShift = 60;
inline constexpr unsigned kIndexShift = 32;
inline constexpr std::uint32_t kIndexMask = (1u << 28) - 1;
inline constexpr unsigned kPortShift = 38;
inline constexpr std::uint32_t kPortMask = (1u << 22) - 1;
inline constexpr unsigned kSequenceShift = 26;
inline constexpr std::uint64_t kSequenceMask = (1u << 12) - 1;
inline constexpr std::uint32_t kCellMask = (1u << 26) - 1;

[[nodiscard]] constexpr NetStep step_of(const Event& event) {
  return static_cast<NetStep>(event.what >> kStepShift);
}

/// Of an event that is no packet's.
[[nodiscard]] constexpr std::uint32_t index_of(const Event& event) {
  return static_cast<std::uint32_t>(event.what >> kIndexShift) & kIndexMask;
}

/// Of a packet's event.
[[nodiscard]] constexpr PortAt port_of(const Event& event) {
  return static_cast<PortAt>(event.what >> kPortShift) & kPortMask;
}

[[nodiscard]] constexpr CellAt cell_of(const Event& event) {
  return static_cast<CellAt>(event.what) & kCellMask;
}

}  // namespace smd::sim
