// Which rules of partitions are in force. New rules that do not fit the fabric are not taken: the
// old ones stay. Ports that are too small for the rules in force are left as they are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/app/settings.h"
#include "smd/policy/partition_map.h"

namespace smd::app {

struct PartitionState {
  std::optional<PartitionPolicy> in_force;
  std::vector<std::string> faults;  // of the latest snapshot: what does not fit, one line each
};

/// The plan for this snapshot; null while nobody has configured partitions. Who takes the file away
/// from a running manager gets everybody back into the default partition.
[[nodiscard]] std::shared_ptr<const PartitionPlan> choose_partitions(const Settings& settings,
                                                                     const Fabric& fabric,
                                                                     PartitionState& state);

}  // namespace smd::app
