#include "sim-backend/agents/m_key.h"

namespace smd::sim {

void expire_lease(PortRegs& port, TimePoint now) {
  if (port.lease_end == TimePoint{} || now < port.lease_end) return;
  port.lease_end = {};
  port.info.m_key_protect_bits = 0;
}

MKeyVerdict check_m_key(PortRegs& port, Method method, MKey key, TimePoint now) {
  expire_lease(port, now);
  PortInfo& info = port.info;
  if (info.m_key == MKey{} || info.m_key == key) {
    port.lease_end = {};
    return MKeyVerdict::Pass;
  }
  if (method == Method::Get && info.m_key_protect_bits < 2) {
    return info.m_key_protect_bits == 0 ? MKeyVerdict::Pass : MKeyVerdict::PassHidden;
  }
  add_sticky(info.m_key_violations);
  if (port.lease_end == TimePoint{} && info.m_key_lease_period != 0) {
    port.lease_end = now + std::chrono::seconds(info.m_key_lease_period);
  }
  return MKeyVerdict::Refuse;
}

}  // namespace smd::sim
