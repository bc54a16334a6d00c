// Keeps the M_Key on every port: a SMP with a wrong key starts a port's lease, one with the right
// key stops it. Switches see ours in every sweep; adapters would not, so each is asked twice per
// lease.
#pragma once

#include <memory>
#include <optional>

#include "smd/app/active_subnet.h"
#include "smd/smp/smp_pump.h"

namespace smd::app {

class LeaseKeeper {
 public:
  LeaseKeeper(Runtime& runtime, SmpClient& client) : runtime_(runtime), client_(client) {}

  LeaseKeeper(const LeaseKeeper&) = delete;

  /// From now on, for the ports of `in_force`; nothing where that is null, or there is no key or no
  /// lease.
  void keep(std::shared_ptr<const ActiveSubnet> in_force, MKey m_key, Duration lease);

  void stop();

 private:
  void ask_all();

  Runtime& runtime_;
  SmpClient& client_;
  std::shared_ptr<const ActiveSubnet> in_force_;
  MKey m_key_;
  Duration pause_{0};
  std::optional<SmpPump> round_;
  Timer timer_;
};

}  // namespace smd::app
