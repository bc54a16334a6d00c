// A simulated subnet whose administration knows of multicast groups alone, and what its switches
// hold.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim-backend/agents/forwarding.h"
#include "smd/daemon/administration.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/server.h"
#include "tests/support/sa_request.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {

class MulticastSubnet : public SimulatedSubnet {
 public:
  MulticastSubnet(const std::string& fabric_text,
                  Settings settings,
                  const sim::AgentOptions& agents = {})
      : SimulatedSubnet(spec_of(fabric_text), {.agents = agents, .settings = std::move(settings)}),
        server(runtime, split.general()),
        group_manager(group_parts(manager)) {
    server.add_manager(group_manager);
    manager.active().subscribe([this](const auto&) { server.adopt(make_view(manager, {})); });
    const sim::FabricSpec& spec = fabric.spec();
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) node_of_[spec.nodes[n].guid] = n;
  }

  /// Software on the first `most` adapters but the manager's.
  void attach_hosts(const Transport::Receive& receive,
                    std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const sim::FabricSpec& spec = fabric.spec();
    for (std::uint32_t n = 0; n < spec.nodes.size() && hosts.size() < most; ++n) {
      if (n == spec.sm_node || spec.nodes[n].type != NodeType::Ca) continue;
      hosts.push_back(std::make_unique<sim::SimTransport>(fabric, n, PortNum{1}));
      hosts.back()->set_handlers(receive, [](const Error&) {});
    }
  }

  [[nodiscard]] Guid guid(std::size_t host) const { return hosts.at(host)->local_port().port_guid; }

  [[nodiscard]] Gid gid(std::size_t host) const { return {kDefaultSubnetPrefix, guid(host)}; }

  [[nodiscard]] const Fabric& snapshot() const { return manager.in_force()->fabric(); }

  [[nodiscard]] Lid snapshot_lid() const {
    return manager.in_force()->lids->base[snapshot().sm_port];
  }

  [[nodiscard]] std::uint32_t sim_node(Guid guid) const { return node_of_.at(guid); }

  /// As the registers of the simulated switch say.
  [[nodiscard]] bool copies(Lid mlid, SwitchIdx sw, PortNum port) const {
    const sim::NodeState& node =
        fabric.node_state(sim_node(snapshot().node_guid[snapshot().switch_node[sw]]));
    return (sim::find_copies(node, mlid, port.value() / 16) >> port.value() % 16 & 1) != 0;
  }

  sa::Server server;
  sa::GroupManager group_manager;
  std::vector<std::unique_ptr<sim::SimTransport>> hosts;

 private:
  std::map<Guid, std::uint32_t> node_of_;
};

}  // namespace smd::test
