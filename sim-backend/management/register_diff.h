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
  /// `port` is the one that a PortInfo without a number in its modifier means.
  RegisterDiff(const NodeState& before, const Smp& request, PortNum port);

  /// What the request changed; nothing when the registers read as before.
  [[nodiscard]] std::optional<FabricChange> compare(const NodeState& after) const;

 private:
  [[nodiscard]] std::vector<std::uint64_t> read(const NodeState& node) const;

  AttributeId attribute_{};
  std::uint32_t modifier_ = 0;
  PortNum port_;
  std::vector<std::uint64_t> before_;  // empty: an attribute that no packet notices
};

}  // namespace smd::sim
