// Data packets on a managed fabric while one change is taken in: what was made, what arrived, what
// was lost and for which cause, in all and moment by moment. Random destinations and service levels
// among the hosts that are in service when it begins.
#pragma once

#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/scenario/followed_fabric.h"
#include "sim-backend/scenario/stretch_meter.h"
#include "sim-backend/traffic/synthetic.h"

namespace smd::sim {

class ChangeTraffic {
 public:
  /// Hosts that are not in service now neither send nor are sent to. `load`: of the hosts' links.
  ChangeTraffic(SimRuntime& runtime, SimFabric& fabric, double load);

  /// Counts from here, and changes the switch.
  void change(std::uint32_t node, bool comes);

  /// Ends the interval that runs.
  void cut();

  /// An error where the net's own books do not agree.
  Result<void> finish();

  /// Since the change. Requires: finish().
  [[nodiscard]] const Stretch& since_change() const { return meter_.stretches().back(); }

  /// All that were cut, in time since the change: negative before it.
  [[nodiscard]] std::vector<Interval> intervals() const;

 private:
  void blame(std::uint32_t node);

  const FabricSpec& spec_;
  PacketNet net_;
  FollowedFabric follow_;
  StretchMeter meter_;
  std::unique_ptr<SyntheticTraffic> traffic_;
  Picos changed_ = 0;
};

}  // namespace smd::sim
