// A fabric shared out among partitions: alike in work, with few cables between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim-backend/packet/packet_options.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {

inline constexpr unsigned kMostPartitions = 64;

/// The partition of each node. Adapters are where their first switch is. Depends on nothing but
/// its input. Requires: 1 <= parts <= switches.
[[nodiscard]] std::vector<std::uint32_t> split_nodes(const FabricSpec& spec, unsigned parts);

/// Why the fabric cannot be simulated in options.partitions parts; empty when it can.
[[nodiscard]] std::string check_partitions(const FabricSpec& spec, const PacketOptions& options);

}  // namespace smd::sim
