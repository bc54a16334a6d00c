#include "smd/program/switch_memory.h"

namespace smd {
namespace {

bool same(SwitchInfo a, SwitchInfo b) {
  a.port_state_change = b.port_state_change = false;
  return a == b;
}

}  // namespace

bool SwitchMemory::remember(Guid node, const SwitchInfo& wanted, const SwitchInfo& answered) {
  const bool keeps = wanted.life_time_value == answered.life_time_value;
  const auto before = switches_.find(node);
  const bool known = before != switches_.end() &&
                     before->second.wanted.life_time_value == wanted.life_time_value &&
                     before->second.answered.life_time_value == answered.life_time_value;
  switches_.insert_or_assign(node, Entry{wanted, answered});
  return !keeps && !known;
}

bool SwitchMemory::settled(Guid node, const SwitchInfo& wanted, const SwitchInfo& now) const {
  const auto entry = switches_.find(node);
  return entry != switches_.end() && same(entry->second.wanted, wanted) &&
         same(entry->second.answered, now) && routes_alike(wanted, now);
}

bool SwitchMemory::was_reset(Guid node, const SwitchInfo& now) const {
  const auto entry = switches_.find(node);
  return entry != switches_.end() && !same(entry->second.answered, now);
}

void SwitchMemory::forget(Guid node) { switches_.erase(node); }

bool routes_alike(const SwitchInfo& a, const SwitchInfo& b) {
  return a.linear_fdb_top == b.linear_fdb_top && a.default_port == b.default_port;
}

}  // namespace smd
