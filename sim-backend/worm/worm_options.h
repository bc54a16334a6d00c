// How the switches, hosts and cables of a wormhole network behave, in cycles of its links. One flit
// is one byte.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim-backend/packet/picos.h"

namespace smd::sim {

/// Nets tell the time of a byte, which is a cycle here, in 2^-16 ps and 32 bits.
inline constexpr Picos kLongestWormCycle = 65535;

enum class WormFlow : std::uint8_t {
  StopAndGo,  // symbols at marks of the buffer, which has room for what is still on its way
  Credits     // one for each flit that has left the buffer
};

enum class WormCopies : std::uint8_t {
  LockStep,     // a flit leaves by all branches of a fork at once
  Asynchronous  // by each when it can; the buffer keeps it until the last one has it
};

enum class WormAllocation : std::uint8_t {
  NonAtomic,  // a lane is free when the last flit of the worm before has left for it
  Atomic      // when its buffer is empty, too: a cycle after the last credit is back
};

struct WormOptions {
  Picos cycle = 6250;          // a flit on a link
  std::uint32_t cable = 8;     // until a flit, or a symbol, is at the far end
  std::uint32_t transfer = 1;  // from an input buffer onto the cable behind a switch
  std::uint32_t routing = 23;  // from a head's being in front until it asks for its output
  std::uint32_t buffer = 80;   // flits, per lane
  std::uint32_t stop = 56;     // STOP above it
  std::uint32_t go = 40;       // GO below it
  WormFlow flow = WormFlow::StopAndGo;
  WormCopies copies = WormCopies::Asynchronous;
  WormAllocation allocation = WormAllocation::NonAtomic;  // of lanes between switches
  // Hosts that pass worms on:
  std::uint32_t detection = 44;  // from the head's coming in until the host knows of it
  std::uint32_t dma = 32;        // from the sender's being free until the worm begins to leave
  std::uint32_t memory = 512 * 1024;
  /// A local message after so many in transit, with few, more, and many local ones waiting.
  std::array<std::uint32_t, 3> local_after{4, 2, 1};
  std::array<std::uint32_t, 2> local_marks{50, 100};

  /// Myrinet as evaluated by Flich (2001): 160 MB/s, 10 m of cable, 150 ns per switch; detection
  /// and DMA as measured on its adapters.
  static WormOptions myrinet() { return {}; }

  /// The routers of the multicast literature: routing, crossing and cable take a cycle each, four
  /// flits at each lane, credits; a flit takes a nanosecond. With less than three flits no lane
  /// carries one in every cycle.
  static WormOptions unit() {
    return {.cycle = 1000,
            .cable = 1,
            .routing = 1,
            .buffer = 4,
            .flow = WormFlow::Credits,
            .copies = WormCopies::LockStep};
  }

  /// What of a stopped sender still arrives: what is on the cable when STOP goes back, and what is
  /// sent until it is obeyed.
  [[nodiscard]] std::uint32_t slack() const { return 2 * cable; }
};

/// What is wrong with them; empty when all is well.
[[nodiscard]] std::string check_options(const WormOptions& options);

}  // namespace smd::sim
