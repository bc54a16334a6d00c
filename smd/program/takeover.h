// What follows when another manager was master before: our M_Key, and clients that register again.
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/policy/port_policy.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Gives ports that show another manager's M_Key ours. At protection level 0, to which a port falls
// when its lease ends, it shows its key to anybody, and that key opens it (IBA 14.2.4). Ports that
// hide theirs are tried with the keys that we had before, where there are some (m_keys.h).

class MKeyTakeover {
 public:
  /// How many ports took our key; the others take no Set until the next attempt.
  using Done = std::function<void(std::uint64_t taken)>;

  explicit MKeyTakeover(SmpClient& client) : pump_(client) {}

  MKeyTakeover(const MKeyTakeover&) = delete;

  /// `done` runs once, last; it may destroy this. `found` outlives the run.
  void start(const SweepReport& found, const PortPolicy& policy, Done done);

 private:
  void take(PortIdx port);

  SmpPump pump_;
  const SweepReport* found_ = nullptr;
  PortPolicy policy_;
  std::uint64_t taken_ = 0;
};

// Tells clients to register again with us, at ports that name this manager already: where another
// one was master in between, what they had registered with us is gone. Ports that name another
// manager are notified as they are set (port_setter).

/// End ports whose clients can be notified, and that name `own` as master.
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
