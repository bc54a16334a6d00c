// Tells clients to register again with us, at ports that name this manager already: where another
// one ruled in between, what they had registered with us is gone. Ports that name another manager
// are told as they are set (port_setter).
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/smp/smp_pump.h"

namespace smd {

/// End ports whose clients can be told, and that name `own` as master.
[[nodiscard]] std::vector<PortIdx> find_ports_that_name(const Fabric& fabric, Lid own);

class Reregistration {
 public:
  Reregistration(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  Reregistration(const Reregistration&) = delete;

  /// `done` runs once, last; it may destroy this. `found` outlives the run: its registers are those
  /// that were confirmed last.
  void start(const SweepReport& found, std::vector<PortIdx> ports, std::function<void()> done);

 private:
  void tell(const SweepReport& found, PortIdx port);

  SmpPump pump_;
  MKey m_key_;
};

}  // namespace smd
