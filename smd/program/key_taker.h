// Gives ports that show another manager's M_Key ours. At protection level 0, to which a port falls
// when its lease ends, it shows its key to anybody, and that key opens it (IBA 14.2.4).
#pragma once

#include <functional>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/policy/port_policy.h"
#include "smd/smp/smp_pump.h"

namespace smd {

class KeyTaker {
 public:
  /// How many ports took our key; the others take no Set until the next attempt.
  using Done = std::function<void(std::uint64_t taken)>;

  explicit KeyTaker(SmpClient& client) : pump_(client) {}

  KeyTaker(const KeyTaker&) = delete;

  /// `done` runs once, last; it may destroy this. `found` outlives the run.
  void start(const SweepReport& found, const PortPolicy& policy, Done done);

 private:
  void take(PortIdx port);

  SmpPump pump_;
  const SweepReport* found_ = nullptr;
  PortPolicy policy_;
  std::uint64_t taken_ = 0;
};

}  // namespace smd
