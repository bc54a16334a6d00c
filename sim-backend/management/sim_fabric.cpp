#include "sim-backend/management/sim_fabric.h"

#include <fmt/core.h>

#include "sim-backend/agents/m_key.h"
#include "sim-backend/management/fabric_impl.h"
#include "smd/base/check.h"
#include "smd/mad/notice.h"

namespace smd::sim {

SimFabric::SimFabric(Runtime& runtime,
                     FabricSpec spec,
                     Timing timing,
                     std::uint64_t seed,
                     const AgentOptions& options)
    : impl_(std::make_unique<Impl>(runtime, std::move(spec), timing, seed, options)) {}

SimFabric::~SimFabric() = default;

const FabricSpec& SimFabric::spec() const { return impl_->spec_; }

SimFabric::ClientId SimFabric::attach(std::uint32_t node, PortNum port, Receive receive) {
  SMD_CHECK(node < impl_->nodes_.size(), "attach to a node that the fabric does not have");
  const NodeState& state = impl_->nodes_[node].state;
  SMD_CHECK(state.is_switch() ? port.value() == 0 : state.is_external(port),
            "attach at port 0 of a switch or at a port of an adapter");
  const std::uint32_t id = impl_->next_client_++;
  impl_->clients_[id] = {
      .node = node, .port = port, .receive = std::make_shared<const Receive>(std::move(receive))};
  impl_->clients_at_[{node, port.value()}].push_back(id);
  return ClientId{id};
}

void SimFabric::detach(ClientId client) {
  const auto found = impl_->clients_.find(static_cast<std::uint32_t>(client));
  if (found == impl_->clients_.end()) return;
  const std::uint32_t node = found->second.node;
  const PortNum port = found->second.port;
  std::erase(impl_->clients_at_[{node, port.value()}], found->first);
  impl_->clients_.erase(found);
  impl_->refresh_is_sm(node, port);
}

void SimFabric::inject(ClientId client, const MadPacket& packet) { impl_->inject(client, packet); }

void SimFabric::set_is_sm(ClientId client, bool is_sm) {
  const auto found = impl_->clients_.find(static_cast<std::uint32_t>(client));
  if (found == impl_->clients_.end()) return;
  found->second.is_sm = is_sm;
  impl_->refresh_is_sm(found->second.node, found->second.port);
}

void SimFabric::set_link(std::uint32_t node, PortNum port, bool up) {
  LinkEnd& end = impl_->link(node, port);
  if (end.peer_node == kNoNode) return;
  end.pulled = !up;
  impl_->link(end.peer_node, end.peer_port).pulled = !up;
  impl_->refresh_link(node, port);
}

void SimFabric::set_node(std::uint32_t node, bool up) {
  impl_->nodes_[node].reboot = {};
  if (up) {
    impl_->switch_on(node);
  } else {
    impl_->switch_off(node);
  }
}

void SimFabric::reboot_node(std::uint32_t node, Duration off_time) {
  impl_->switch_off(node);
  impl_->nodes_[node].reboot = Timer(impl_->runtime_,
                                     impl_->runtime_.now() + off_time,
                                     [impl = impl_.get(), node] { impl->switch_on(node); });
}

void SimFabric::set_silent(std::uint32_t node, bool silent) { impl_->nodes_[node].silent = silent; }

void SimFabric::move_cable(std::uint32_t node,
                           PortNum port,
                           std::uint32_t to_node,
                           PortNum to_port) {
  const LinkEnd moved = impl_->link(node, port);
  if (moved.peer_node == kNoNode) return;
  const bool to_itself = moved.peer_node == node && moved.peer_port == port;
  impl_->unplug(node, port);
  impl_->unplug(to_node, to_port);
  const std::uint32_t far_node = to_itself ? to_node : moved.peer_node;
  impl_->plug(to_node, to_port, far_node, to_itself ? to_port : moved.peer_port);
}

void SimFabric::set_description(std::uint32_t node, const std::string& description) {
  SimNode& at = impl_->nodes_[node];
  impl_->spec_.nodes[node].description = description;
  at.state.description = description;
  for (unsigned p = at.state.is_switch() ? 0 : 1; p <= at.state.num_ports(); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    const PortInfo& info = at.state.ports[p].info;
    if (at.on) {
      at.traps->raise(port, capability_notice(info.lid, at.state.type, info.capability_mask, true));
    }
    if (at.state.is_switch()) break;
  }
}

void SimFabric::set_congestion_support(std::uint32_t node, CongestionSupport support) {
  impl_->nodes_[node].state.options.congestion = support;
}

void SimFabric::log_mark(std::uint32_t node, PortNum port, const cc::SwitchLogEvent& event) {
  impl_->nodes_[node].state.congestion_regs(PortNum{}).log_mark(port, event);
}

void SimFabric::log_trigger(std::uint32_t node, PortNum port, const cc::CaLogEvent& event) {
  impl_->nodes_[node].state.congestion_regs(port).log_trigger(event);
}

void SimFabric::before_congestion(std::function<void()> catch_up) {
  impl_->before_congestion_ = std::move(catch_up);
}

void SimFabric::count_data(std::uint32_t node,
                           PortNum port,
                           std::uint64_t words,
                           std::uint64_t waits) {
  impl_->nodes_[node].state.ports[port.value()].counters.count_data(words, waits);
}

void SimFabric::before_performance(std::function<void(std::uint32_t node)> catch_up) {
  impl_->before_performance_ = std::move(catch_up);
}

void SimFabric::set_wait_counters(std::uint32_t node, WaitCounters counters) {
  impl_->nodes_[node].state.options.wait_counters = counters;
}

void SimFabric::set_wire_faults(const WireFaults& faults) {
  impl_->faults_ = faults;
  impl_->faulty_wires_ =
      faults.drop > 0 || faults.duplicate > 0 || faults.corrupt > 0 || faults.reorder > 0;
}

bool SimFabric::link_up(std::uint32_t node, PortNum port) const {
  return impl_->link(node, port).up;
}

PortInfo SimFabric::port_info(std::uint32_t node, PortNum port) const {
  PortRegs& regs = impl_->nodes_[node].state.ports[port.value()];
  expire_lease(regs, impl_->runtime_.now());
  return regs.info;
}

SwitchInfo SimFabric::switch_info(std::uint32_t node) const {
  return impl_->nodes_[node].state.switch_info;
}

PortNum SimFabric::lft(std::uint32_t node, Lid lid) const {
  return find_route(impl_->nodes_[node].state, lid);
}

SlToVl SimFabric::sl_to_vl(std::uint32_t node, PortNum in, PortNum out) const {
  return impl_->nodes_[node].state.read_sl_to_vl(in, out);
}

const NodeState& SimFabric::node_state(std::uint32_t node) const {
  return impl_->nodes_[node].state;
}

ObserverId SimFabric::on_change(ChangeObserver observer) {
  const std::uint32_t id = impl_->next_observer_++;
  impl_->observers_[id] = std::move(observer);
  return ObserverId{id};
}

void SimFabric::stop_observing(ObserverId observer) {
  impl_->observers_.erase(static_cast<std::uint32_t>(observer));
}

const SimFabricStats& SimFabric::stats() const { return impl_->stats_; }

std::uint64_t SimFabric::trace_hash() const { return impl_->trace_hash_; }

std::uint32_t find_node(const FabricSpec& spec, const std::string& name) {
  std::uint32_t found = kNoNode;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    const NodeSpec& node = spec.nodes[n];
    if (node.description != name && node.id != name && fmt::format("{}", node.guid) != name) {
      continue;
    }
    if (found != kNoNode) return kNoNode;
    found = n;
  }
  return found;
}

}  // namespace smd::sim
