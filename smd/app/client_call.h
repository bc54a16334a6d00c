// Asks the clients behind ports that were Active before we knew them to register again: their
// groups, services and subscriptions are with a manager that is gone (IBA 14.4.11, PortInfo
// ClientReregister). Ports that come up are asked by the Set that arms them (program/port_setter).
#pragma once

#include <set>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/smp/smp_client.h"

namespace smd::app {

class ClientCall {
 public:
  explicit ClientCall(SmpClient& client) : scope_(client) {}

  ClientCall(const ClientCall&) = delete;

  /// Ports that were in Initialize in the cycle that ended: they know.
  void note_came_up(const Fabric& fabric, const std::vector<PortIdx>& ports);

  /// `before` and `after`: GUIDs in service, ascending. Who is new in `after`, did not just come up
  /// and has the capability is asked, and asked again at the next call where it did not answer.
  void call(const ActiveSubnet& now,
            const std::vector<Guid>& before,
            const std::vector<Guid>& after,
            MKey m_key);

  /// `guids` without those that still have to be asked: what may be kept as known.
  [[nodiscard]] std::vector<Guid> without_owed(const std::vector<Guid>& guids) const;

  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  SmpScope scope_;
  std::set<Guid> came_up_;
  std::set<Guid> owed_;
  std::set<Guid> under_way_;
  std::uint64_t asked_ = 0;
};

}  // namespace smd::app
