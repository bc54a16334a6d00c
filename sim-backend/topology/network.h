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
  Faults notes;  // what the file does not say and had to be assumed, a line each
};

/// As load_fabric(), which refuses what is no subnet.
[[nodiscard]] Parsed<Network> load_network(const std::string& fabric);

/// load_fabric(); what had to be assumed is added to `notes`.
[[nodiscard]] Parsed<FabricSpec> load_fabric(const std::string& fabric, Faults& notes);

}  // namespace smd::sim
