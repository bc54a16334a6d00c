// Data packets on a managed fabric while one change is taken in: what was made, what arrived, what
// was lost and for which cause, in all and moment by moment. Random destinations and service levels
// among the hosts that are in service when it begins.
#pragma once

#include <vector>

#include "sim-backend/kernel/sim_runtime.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/coupled_fabric.h"
#include "sim-backend/scenario/period_meter.h"
#include "sim-backend/traffic/synthetic.h"

namespace smd::sim {

/// What happened between two moments.
struct ChangeInterval {
  Interval all;
  std::uint64_t severed = 0;  // of what was lost: from or for hosts that the change cut off
};

class ChangeTraffic final : private PacketObserver {
 public:
  /// Hosts that are not in service now neither send nor are sent to. `load`: of the hosts' links.
  ChangeTraffic(SimRuntime& runtime, SimFabric& fabric, double load);
  ChangeTraffic(const ChangeTraffic&) = delete;

  /// Forgets what was before. Requires: before the change.
  void restart();

  /// Counts from here, and changes the switch.
  void change(std::uint32_t node, bool comes);

  /// Ends the interval that runs.
  void cut();

  /// What follows is counted apart. Requires: change().
  void split();

  /// An error where the net's own books do not agree.
  Result<void> finish();

  [[nodiscard]] const PeriodMeter& meter() const { return meter_; }

  [[nodiscard]] const PacketNet& net() const { return net_; }

  /// From the change to the split, or to the end. Requires: finish().
  [[nodiscard]] const Period& until_split() const;

  /// Of all that was lost since the change, see Period. Requires: finish().
  [[nodiscard]] double unexplained() const;

  /// All that were cut, in time since the change: negative before it.
  [[nodiscard]] std::vector<ChangeInterval> intervals() const;

 private:
  void on_delivered(const Delivery& arrival) override { meter_.on_delivered(arrival); }

  void on_discarded(const Loss& loss) override;
  void blame(std::uint32_t node);
  void sever(std::uint32_t node);

  const FabricSpec& spec_;
  PacketNet net_;
  CoupledFabric follow_;
  PeriodMeter meter_;
  std::unique_ptr<SyntheticTraffic> traffic_;
  std::vector<bool> severed_;              // by host: the change cut it off
  std::uint64_t severed_losses_ = 0;       // in the interval that runs
  std::vector<std::uint64_t> severed_of_;  // by interval
  Picos changed_ = 0;
};

}  // namespace smd::sim
