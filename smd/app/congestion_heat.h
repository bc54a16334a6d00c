// Which ports are congested, as the logs of their agents tell.
#pragma once

#include <map>

#include "smd/app/congestion_roll.h"
#include "smd/runtime/runtime.h"

namespace smd::app {

/// A port whose log told of congestion.
struct HotPort {
  std::uint64_t readings = 0;  // of the log in which it stood
  std::uint64_t events = 0;    // of its switch, or its own where it is an adapter's
  TimePoint last;
};

class CcHeat {
 public:
  /// An agent's answer to a Get of its log. Requires: its node is of `fabric`.
  void take(const CcPort& agent,
            bool is_switch,
            const Fabric& fabric,
            const MadBytes& answer,
            TimePoint now);

  /// Ports of nodes that left the subnet.
  void forget_gone(const Fabric& fabric);

  void clear() { ports_.clear(); }

  [[nodiscard]] const std::map<CcPort, HotPort>& ports() const { return ports_; }

 private:
  void note(const CcPort& port, std::uint16_t events, TimePoint now);

  std::map<CcPort, HotPort> ports_;
};

}  // namespace smd::app
