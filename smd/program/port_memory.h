// Agents differ in what they keep of a PortInfo. Remembers what a port answered to which Set, so
// that a port that will not keep a value is not set again in every sweep.
#pragma once

#include <string>
#include <unordered_map>

#include "smd/mad/port_info.h"

namespace smd {

class PortMemory {
 public:
  /// What the port does not keep, as find_not_kept() says it; empty when that is no news.
  std::string remember(Guid node, PortNum port, const PortInfo& wanted, const PortInfo& answered);

  /// True when the port was last asked for `wanted` and still answers as it did then, the state
  /// aside.
  [[nodiscard]] bool settled(Guid node,
                             PortNum port,
                             const PortInfo& wanted,
                             const PortInfo& now) const;

  void forget(Guid node);

 private:
  struct Entry {
    PortInfo wanted;
    PortInfo answered;
  };

  std::unordered_map<Guid, std::unordered_map<PortNum, Entry>> ports_;  // look-ups only
};

}  // namespace smd
