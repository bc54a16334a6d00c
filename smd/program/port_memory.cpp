#include "smd/program/port_memory.h"

#include "smd/policy/port_policy.h"

namespace smd {

void PortMemory::remember(Guid node,
                          PortNum port,
                          const PortInfo& wanted,
                          const PortInfo& answered) {
  ports_[node].insert_or_assign(port, Entry{wanted, answered});
}

bool PortMemory::settled(Guid node,
                         PortNum port,
                         const PortInfo& wanted,
                         const PortInfo& now) const {
  const auto at_node = ports_.find(node);
  if (at_node == ports_.end()) return false;
  const auto entry = at_node->second.find(port);
  if (entry == at_node->second.end()) return false;
  return !differs(entry->second.wanted, wanted) && !differs(entry->second.answered, now);
}

void PortMemory::forget(Guid node) { ports_.erase(node); }

}  // namespace smd
