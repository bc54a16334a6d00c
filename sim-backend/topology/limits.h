// What bounds every fabric, however it came about: the specification's sizes and what a node's
// names may hold in a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "smd/ib/types.h"

namespace smd::sim {

inline constexpr unsigned kMaxPorts = 254;          // 255 in an LFT means "no route"
inline constexpr std::size_t kMaxLids = 0xBFFF;     // unicast LIDs of a subnet
inline constexpr std::size_t kMaxDescription = 64;  // bytes of NodeDescription
inline constexpr std::size_t kMaxId = 64;           // what ibsim keeps of a node id

/// ibnetdiscover's name of a node: "S-0002000000000000", "H-…" for adapters, "R-…" for routers.
[[nodiscard]] std::string default_id(NodeType type, Guid guid);

/// Why this cannot be a node id or a description; empty when it can.
[[nodiscard]] std::string_view check_id(std::string_view id);
[[nodiscard]] std::string_view check_description(std::string_view description);

}  // namespace smd::sim
