// Networks that need not be a subnet: drawn by a generator with beyond=1 they may have more nodes
// than a subnet has LIDs. Nobody manages them, and packets go by host number and a rule of
// sim-backend/adaptive.
#pragma once

#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {

/// Port 0 and adapters' ports among them: the packet level names ports in so many bits.
inline constexpr std::uint32_t kMostNetworkPorts = (1u << 23) - 1;

struct Network {
  FabricSpec spec;
  bool is_subnet = true;
};

/// As load_fabric(), which refuses what is no subnet.
[[nodiscard]] Parsed<Network> load_network(const std::string& fabric);

}  // namespace smd::sim
