#include "smd/policy/foreign_keys.h"

#include <algorithm>

namespace smd {

bool shows_foreign_key(const Fabric& fabric, PortIdx port, MKey ours) {
  const MKey key = fabric.port_info[port].m_key;
  return fabric.is_end_port(port) && key != MKey{} && key != ours;
}

ForeignKeys find_foreign_keys(const Fabric& fabric, MKey ours) {
  ForeignKeys out;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port)) continue;
    const PortInfo& info = fabric.port_info[port];
    // From level 1 on a key is hidden from who does not know it.
    const bool hidden = info.m_key == MKey{} && info.m_key_protect_bits != 0;
    if (!hidden && !shows_foreign_key(fabric, port, ours)) continue;
    if (!out.first) out.first = port;
    ++out.ports;
    out.longest_lease_s = std::max(out.longest_lease_s, info.m_key_lease_period);
    out.forever += info.m_key_lease_period == 0 ? 1u : 0u;
  }
  return out;
}

}  // namespace smd
