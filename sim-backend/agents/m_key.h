// The M_Key of a management port: who may read, who may write, and when a key expires
// (IBA 14.2.4).
#pragma once

#include "sim-backend/agents/node_state.h"
#include "smd/mad/smp.h"

namespace smd::sim {

enum class MKeyVerdict : std::uint8_t {
  Pass,
  PassHidden,  // read-only access: PortInfo must not show the key
  Refuse       // counted; the SMP is dropped and trap 256 is due
};

/// Checks a Get, Set or TrapRepress. A wrong key starts the lease, a right one stops it; when the
/// lease has run out the protection falls to level 0.
[[nodiscard]] MKeyVerdict check_m_key(PortRegs& port, Method method, MKey key, TimePoint now);

/// Applies an expiry that is due.
void expire_lease(PortRegs& port, TimePoint now);

}  // namespace smd::sim
