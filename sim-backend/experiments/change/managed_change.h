// One change of one switch in the hands of the whole manager, which sweeps and is charged for
// computing as the published one.
#pragma once

#include <string>
#include <vector>

#include "sim-backend/experiments/change/change_traffic.h"
#include "sim-backend/experiments/change/presets.h"
#include "smd/base/result.h"
#include "smd/config/reconfiguration_mode.h"

namespace smd::sim {

struct ManagedChange {
  std::string fabric;  // a FABRIC argument
  Preset preset;
  ReconfigurationMode how;
  std::uint32_t node = 0;
  bool comes = false;                             // else it goes
  double load = 0;                                // of data, of the hosts' links; 0: none
  Duration after = std::chrono::milliseconds(5);  // of data, when the change is in
  bool traps = false;                             // besides sweeps
  double phase = 0;         // when between two sweeps, as a share of that time; 0: anywhere
  bool charge_all = false;  // for computing: for entries that were kept, too
  Duration sample{0};       // of the time line of data; 0: none
};

/// Times in seconds from detection: from the first answer that tells of the change. Until routes
/// are in: provisional ones where there are any.
struct AssimilationCost {
  double discovery = 0;
  double computing = 0;
  double distribution = 0;
  double until_final = 0;  // all routes are final
  double detected = 0;     // from the change

  double discovery_smps = 0;  // with the sweep that noticed
  double distribution_smps = 0;
  double all_smps = 0;  // until all routes are final

  // Data from the change until routes are in, provisional ones where there are any, and `after`.
  double packets = 0;    // made
  double discarded = 0;  // of them
  DiscardCounts causes{};
  double unexplained = 0;                // lost, see Period; to the end
  std::vector<ChangeInterval> timeline;  // in time since the change; from before it

  [[nodiscard]] double time() const { return discovery + computing + distribution; }

  [[nodiscard]] double smps() const { return discovery_smps + distribution_smps; }
};

/// Brings the network up, lets it calm down, changes the switch.
[[nodiscard]] Result<AssimilationCost> measure_change(const ManagedChange& change);

}  // namespace smd::sim
