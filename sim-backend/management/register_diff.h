// Did a Set change anything that packets notice? Remembers the registers that one request is about
// to write.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/management/fabric_change.h"
#include "smd/mad/smp.h"

namespace smd::sim {

class RegisterDiff {
 public:
  /// `arrival` is the port that a PortInfo with modifier 0 means at an adapter; at a switch that is
  /// port 0, whichever port the request came in by.
  RegisterDiff(const NodeState& before, const Smp& request, PortNum arrival);

  /// What the request changed; nothing when the registers read as before.
  [[nodiscard]] std::optional<FabricChange> compare(const NodeState& after) const;

 private:
  [[nodiscard]] PortNum port_of(const NodeState& node) const;
  [[nodiscard]] std::vector<std::uint64_t> read(const NodeState& node) const;

  AttributeId attribute_{};
  std::uint32_t modifier_ = 0;
  PortNum arrival_;
  std::vector<std::uint64_t> before_;  // empty: an attribute that no packet notices
};

}  // namespace smd::sim
