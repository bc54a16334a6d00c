#include "sim-backend/management/sim_transport.h"

#include <fmt/core.h>

#include "sim-backend/agents/node_state.h"

namespace smd::sim {

SimTransport::SimTransport(SimFabric& fabric, std::uint32_t node, PortNum port)
    : fabric_(fabric),
      node_(node),
      port_(port),
      client_(fabric.attach(node, port, [this](const MadPacket& packet) {
        if (!unplugged_ && receive_) receive_(packet);
      })) {}

SimTransport::~SimTransport() { fabric_.detach(client_); }

LocalPort SimTransport::local_port() const {
  const NodeSpec& node = fabric_.spec().nodes[node_];
  const bool is_switch = node.type == NodeType::Switch;
  return {.device = "sim",
          .port = port_,
          .port_guid = is_switch ? node.guid : node.ports[port_.value()].guid};
}

bool SimTransport::routes_smps_by_lid() const {
  return fabric_.node_state(node_).options.routes_smps_by_lid;
}

Result<void> SimTransport::send(const MadPacket& packet) {
  if (unplugged_) return fail(Errc::NoDevice, "sim: the adapter was unplugged");
  fabric_.inject(client_, packet);
  return {};
}

void SimTransport::set_handlers(Receive receive, Lost lost) {
  receive_ = std::move(receive);
  lost_ = std::move(lost);
}

Result<void> SimTransport::set_is_sm(bool is_sm) {
  if (unplugged_) return fail(Errc::NoDevice, "sim: the adapter was unplugged");
  fabric_.set_is_sm(client_, is_sm);
  return {};
}

void SimTransport::unplug() {
  if (unplugged_) return;
  fabric_.set_is_sm(client_, false);
  unplugged_ = true;
  // A copy: the handler may replace itself.
  const Lost lost = lost_;
  if (lost) lost(Error{Errc::NoDevice, fmt::format("sim: the adapter was unplugged")});
}

}  // namespace smd::sim
