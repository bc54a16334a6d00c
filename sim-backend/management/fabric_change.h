// What an observer of a simulated fabric is told.
#pragma once

#include <cstdint>
#include <functional>

namespace smd::sim {

enum class FabricChange : std::uint8_t {
  Routes,      // a SMP changed what a switch does with packets: LFT, RFT, MFT, tops, lifetime
  SlToVl,      // a SMP changed a row
  Ports,       // a SMP changed a state, a LID or the VLs of a port, its MTU, arbitration or HOQLife
  Congestion,  // a MAD changed what packets obey of congestion control
  Wiring,      // a fault: a link or a node came or went, a cable moved
};

/// Runs after the registers have changed; must not call back into the fabric but to read.
using ChangeObserver = std::function<void(std::uint32_t node, FabricChange what)>;

enum class ObserverId : std::uint32_t {};

}  // namespace smd::sim
