#include "sim-backend/scenario/followed_fabric.h"

#include "sim-backend/agents/node_state.h"

namespace smd::sim {

FollowedFabric::FollowedFabric(Runtime& runtime,
                               SimFabric& fabric,
                               PacketNet& net,
                               TimePoint origin)
    : runtime_(runtime),
      fabric_(fabric),
      net_(net),
      origin_(origin),
      off_(fabric.spec().nodes.size(), false) {
  catch_up();
  for (std::uint32_t node = 0; node < off_.size(); ++node) reload(node);
  // The registers have changed already; the net still works by its copy until it is told.
  observer_ = fabric_.on_change([this](std::uint32_t node, FabricChange what) {
    catch_up();
    if (what != FabricChange::Congestion) reload(node);
    reload_congestion(node);
  });
}

FollowedFabric::~FollowedFabric() { fabric_.stop_observing(observer_); }

void FollowedFabric::catch_up() { net_.run_until(to_picos(runtime_.now() - origin_)); }

void FollowedFabric::reload(std::uint32_t node) {
  if (!off_[node]) net_.load(node, fabric_.node_state(node));
}

void FollowedFabric::follow_congestion(IbMarking& marking, IbReaction& reaction) {
  marking_ = &marking;
  reaction_ = &reaction;
  for (std::uint32_t node = 0; node < off_.size(); ++node) reload_congestion(node);
}

void FollowedFabric::reload_congestion(std::uint32_t node) {
  if (marking_ == nullptr) return;
  const NodeState& state = fabric_.node_state(node);
  if (state.is_switch()) return marking_->set(node, read_switch(state.congestion(PortNum{})));
  const Wiring& wiring = net_.wiring();
  for (unsigned number = 1; number <= wiring.num_ports[node]; ++number) {
    const HostNum host = wiring.host_of[wiring.port_of(node, number)];
    if (host == kNowhere) continue;
    reaction_->set(host, read_ca(state.congestion(PortNum{static_cast<std::uint8_t>(number)})));
  }
}

void FollowedFabric::set_node(std::uint32_t node, bool up) {
  if (!up) {
    catch_up();
    net_.switch_off(node);
  }
  off_[node] = !up;
  fabric_.set_node(node, up);
  if (up) reload(node);
}

void FollowedFabric::set_link(std::uint32_t node, PortNum port, bool up) {
  catch_up();
  fabric_.set_link(node, port, up);
}

}  // namespace smd::sim
