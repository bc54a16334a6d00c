// Why a data packet was thrown away. The first seven are the causes that the published evaluation
// counts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace smd::sim {

enum class Discard : std::uint8_t {
  InactivePort,     // its way leads through a port that is Down
  DeactivatedPort,  // the port is in Initialize, or Armed where it should be sent
  OutputOverflow,   // VL15: the output buffer is full
  BackToInput,      // the table sends it out of the port that it came in by
  Unroutable,       // no entry for its LID
  ClearedWithNode,  // it was inside a node that died
  Unmappable,       // its SL has no VL there
  OnTheWire,        // the link dropped while it was on it
  HeadOfQueueLife,  // too long at the head of a queue
  SwitchLife,       // too long in one switch
  TooLong,          // its payload exceeds the MTU of the port
  WrongNode,        // it reached an adapter, or a switch's port 0, that is not its destination
  NoTransitRoom,    // the host that was to pass it on had no memory for it
};

inline constexpr std::size_t kDiscards = 13;

using DiscardCounts = std::array<std::uint64_t, kDiscards>;

/// Those for want of a route: no entry, or one that leads nowhere, on no VL or to somebody else.
[[nodiscard]] std::uint64_t count_unreachable(const DiscardCounts& counts);

/// "inactive_port": as results name it.
[[nodiscard]] std::string_view print_discard(Discard cause);

}  // namespace smd::sim
