// Groups of switches whose cables to each other are of another kind than those within: dragonfly+
// (megafly), whose groups are leaves below spines, and dragonflies whose groups are flattened
// butterflies. Dragonflies with complete groups are adaptive/shape.h's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {

struct SwitchGroups {
  std::string shape;                    // in words
  std::vector<std::uint32_t> group_of;  // by node; of hosts nothing that counts
};

/// Whole ones: every group like the others, and any two joined. Sides of butterflies are 3 or more:
/// shorter ones have no triangles, by which groups are found; nor are they where two neighbours of
/// a group lead to one router of another.
[[nodiscard]] std::optional<SwitchGroups> find_switch_groups(const FabricSpec& spec);

}  // namespace smd::sim
