// What a switch answered to which SwitchInfo, so that one that will not keep a value is not set
// again in every cycle.
#pragma once

#include <unordered_map>

#include "smd/ib/types.h"
#include "smd/mad/switch_info.h"

namespace smd {

class SwitchMemory {
 public:
  /// True when it is news that the switch does not keep the wanted LifeTimeValue.
  bool remember(Guid node, const SwitchInfo& wanted, const SwitchInfo& answered);

  /// True when the switch was last asked for `wanted`, kept all that routes depend on, and still
  /// answers as it did then. PortStateChange aside.
  [[nodiscard]] bool settled(Guid node, const SwitchInfo& wanted, const SwitchInfo& now) const;

  /// True when somebody else changed what the switch last answered; the power-on of a switch does.
  [[nodiscard]] bool was_reset(Guid node, const SwitchInfo& now) const;

  void forget(Guid node);

 private:
  struct Entry {
    SwitchInfo wanted;
    SwitchInfo answered;
  };

  std::unordered_map<Guid, Entry> switches_;  // look-ups only
};

/// LinearFDBTop and DefaultPort: what packets are routed by.
[[nodiscard]] bool routes_alike(const SwitchInfo& a, const SwitchInfo& b);

}  // namespace smd
