// What tables hold beyond the routes that are needed: entries for LIDs that nobody has, and LIDs of
// one port (LMC) that lead to it by the same path. No fault, but room that is not used.
#pragma once

#include <cstdint>

#include "smd/fabric/lid_map.h"
#include "smd/routing/tables.h"

namespace smd {

struct PathSetReport {
  std::uint64_t unused_entries = 0;   // of LIDs without an owner
  std::uint64_t paths = 0;            // from switches with hosts to LIDs of ports with several
  std::uint64_t duplicate_paths = 0;  // of those: as the path to an earlier LID of the same port

  friend bool operator==(const PathSetReport&, const PathSetReport&) = default;
};

[[nodiscard]] PathSetReport measure_path_sets(const Fabric& fabric,
                                              const LidMap& lids,
                                              const ForwardingTables& tables);

}  // namespace smd
