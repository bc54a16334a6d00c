// The Transport of software that sits on a simulated node.
#pragma once

#include <cstdint>

#include "sim-backend/management/sim_fabric.h"
#include "smd/transport/transport.h"

namespace smd::sim {

class SimTransport final : public Transport {
 public:
  /// Attaches at a node's port; `port` is 0 on a switch.
  SimTransport(SimFabric& fabric, std::uint32_t node, PortNum port);
  ~SimTransport() override;

  [[nodiscard]] LocalPort local_port() const override;
  [[nodiscard]] bool routes_smps_by_lid() const override;
  Result<void> send(const MadPacket& packet) override;
  void set_handlers(Receive receive, Lost lost) override;
  Result<void> set_is_sm(bool is_sm) override;

  /// As if the adapter had been unplugged: the Lost handler runs, sends fail.
  void unplug();

 private:
  SimFabric& fabric_;
  std::uint32_t node_;
  PortNum port_;
  SimFabric::ClientId client_;
  Receive receive_;
  Lost lost_;
  bool unplugged_ = false;
};

}  // namespace smd::sim
