#include "smd/program/port_memory.h"

#include "smd/policy/port_policy.h"
#include "smd/program/port_judge.h"

namespace smd {

std::string PortMemory::remember(Guid node,
                                 PortNum port,
                                 const PortInfo& wanted,
                                 const PortInfo& answered) {
  std::string lost = find_not_kept(wanted, answered);
  auto& ports = ports_[node];
  const auto before = ports.find(port);
  if (before != ports.end() &&
      lost == find_not_kept(before->second.wanted, before->second.answered)) {
    lost.clear();
  }
  ports.insert_or_assign(port, Entry{wanted, answered});
  return lost;
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
