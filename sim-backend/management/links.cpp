// Cables and nodes that come and go. Every change shows as hardware shows it: port states on both
// ends, PortStateChange and trap 128 on switches.
#include "sim-backend/agents/link_codes.h"
#include "sim-backend/management/fabric_impl.h"
#include "smd/base/check.h"
#include "smd/mad/notice.h"

namespace smd::sim {
namespace {

constexpr auto code(PortState state) { return static_cast<std::uint8_t>(state); }

constexpr auto code(PhysState state) { return static_cast<std::uint8_t>(state); }

bool is_kept_down(const PortInfo& info) {
  return info.port_physical_state == code(PhysState::Disabled) ||
         info.port_physical_state == code(PhysState::Sleep);
}

/// LinkDownDefaultState: a link that is lost stays lost until somebody sets the port to Polling.
bool sleeps_when_down(const PortInfo& info) {
  return info.link_down_default_state == code(PhysState::Sleep);
}

constexpr double kEdr4xMbps = 100000;

}  // namespace

bool SimFabric::Impl::can_be_up(std::uint32_t node, PortNum port) {
  const LinkEnd& end = link(node, port);
  if (end.peer_node == kNoNode || end.pulled) return false;
  if (!nodes_[node].on || !nodes_[end.peer_node].on) return false;
  const PortRegs& here = nodes_[node].state.ports[port.value()];
  const PortRegs& there = nodes_[end.peer_node].state.ports[end.peer_port.value()];
  if (is_kept_down(here.info) || is_kept_down(there.info)) return false;
  const LinkMode mode = negotiate(here.info, there.info, here.fdr10 && there.fdr10);
  return mode.width != LinkWidth::None && mode.speed != LinkSpeed::None;
}

void SimFabric::Impl::refresh_link(std::uint32_t node, PortNum port, Cause cause) {
  const bool wanted = can_be_up(node, port);
  if (wanted == link(node, port).up) return;
  if (wanted) {
    bring_up(node, port, cause);
  } else {
    bring_down(node, port, cause);
  }
}

void SimFabric::Impl::bring_up(std::uint32_t node, PortNum port, Cause cause) {
  const LinkEnd near = link(node, port);
  PortRegs& here = nodes_[node].state.ports[port.value()];
  PortRegs& there = nodes_[near.peer_node].state.ports[near.peer_port.value()];
  const LinkMode mode = negotiate(here.info, there.info, here.fdr10 && there.fdr10);
  const double mbps = static_cast<double>(lanes(mode.width)) * lane_mbps(mode.speed);
  const Duration serialisation{
      static_cast<std::int64_t>(timing_.byte_ns * kWireBytes * kEdr4xMbps / mbps + 0.5)};

  const std::uint32_t epoch = ++link_epoch_;
  const auto raise = [&](std::uint32_t at, PortNum number, PortRegs& regs) {
    LinkEnd& end = link(at, number);
    end.up = true;
    end.epoch = epoch;
    end.serialisation = serialisation;
    end.busy_until = {};
    regs.info.port_state = code(PortState::Initialize);
    regs.info.port_physical_state = code(PhysState::LinkUp);
    regs.fdr10_active = mode.speed == LinkSpeed::Fdr10;
    set_active(regs.info, mode);
  };
  raise(node, port, here);
  if (&there != &here) raise(near.peer_node, near.peer_port, there);
  // Told only when both ends are up: a trap may have to pass this very link.
  announce(node, near, port, cause);
}

void SimFabric::Impl::bring_down(std::uint32_t node, PortNum port, Cause cause) {
  const LinkEnd near = link(node, port);
  const std::uint32_t epoch = ++link_epoch_;
  const auto lower = [&](std::uint32_t at, PortNum number) {
    LinkEnd& end = link(at, number);
    end.up = false;
    end.epoch = epoch;
    PortRegs& regs = nodes_[at].state.ports[number.value()];
    regs.info.port_state = code(PortState::Down);
    if (!is_kept_down(regs.info))
      regs.info.port_physical_state =
          code(sleeps_when_down(regs.info) ? PhysState::Sleep : PhysState::Polling);
    if (cause == Cause::Fault) add_sticky(regs.counters.link_downed);
  };
  lower(node, port);
  const bool to_itself = near.peer_node == node && near.peer_port == port;
  if (!to_itself) lower(near.peer_node, near.peer_port);
  announce(node, near, port, cause);
}

void SimFabric::Impl::retrain(std::uint32_t node, PortNum port) {
  const LinkEnd near = link(node, port);
  if (!near.up) return refresh_link(node, port);
  if (!can_be_up(node, port)) return refresh_link(node, port, Cause::Manager);
  const PortInfo& here = nodes_[node].state.ports[port.value()].info;
  const PortInfo& there = nodes_[near.peer_node].state.ports[near.peer_port.value()].info;
  if (sleeps_when_down(here) || sleeps_when_down(there))
    return bring_down(node, port, Cause::Manager);
  bring_up(node, port, Cause::Manager);
}

void SimFabric::Impl::announce(std::uint32_t node, const LinkEnd& near, PortNum port, Cause cause) {
  // A Set does not report itself (IBA 14.2.5.4): of a managed change only the far end does.
  if (cause == Cause::Fault) note_change(node);
  const bool to_itself = near.peer_node == node && near.peer_port == port;
  if (cause == Cause::Manager ? !to_itself : near.peer_node != node) note_change(near.peer_node);
  const FabricChange what = cause == Cause::Fault ? FabricChange::Wiring : FabricChange::Ports;
  tell(node, what);
  if (near.peer_node != node) tell(near.peer_node, what);
}

void SimFabric::Impl::tell(std::uint32_t node, FabricChange what) const {
  for (const auto& [id, observer] : observers_) observer(node, what);
}

void SimFabric::Impl::note_change(std::uint32_t node) {
  SimNode& at = nodes_[node];
  if (!at.on || !at.state.is_switch()) return;
  at.state.switch_info.port_state_change = true;
  at.traps->raise(PortNum{}, link_state_notice(at.state.ports[0].info.lid));
}

void SimFabric::Impl::unplug(std::uint32_t node, PortNum port) {
  LinkEnd& near = link(node, port);
  if (near.peer_node == kNoNode) return;
  if (near.up) bring_down(node, port, Cause::Fault);
  LinkEnd& far = link(near.peer_node, near.peer_port);
  PortSpec& far_spec = spec_.nodes[near.peer_node].ports[near.peer_port.value()];
  PortSpec& near_spec = spec_.nodes[node].ports[port.value()];
  far.peer_node = far_spec.peer_node = kNoNode;
  far.peer_port = far_spec.peer_port = PortNum{};
  near.peer_node = near_spec.peer_node = kNoNode;
  near.peer_port = near_spec.peer_port = PortNum{};
  near.pulled = far.pulled = false;
  tell(node, FabricChange::Wiring);
}

void SimFabric::Impl::plug(std::uint32_t node,
                           PortNum port,
                           std::uint32_t peer_node,
                           PortNum peer_port) {
  const auto point = [this](std::uint32_t at, PortNum number, std::uint32_t to, PortNum to_port) {
    LinkEnd& end = link(at, number);
    PortSpec& spec = spec_.nodes[at].ports[number.value()];
    end.peer_node = spec.peer_node = to;
    end.peer_port = spec.peer_port = to_port;
  };
  point(node, port, peer_node, peer_port);
  point(peer_node, peer_port, node, port);
  tell(node, FabricChange::Wiring);
  refresh_link(node, port);
}

void SimFabric::Impl::switch_off(std::uint32_t node) {
  SimNode& at = nodes_[node];
  if (!at.on) return;
  at.on = false;
  ++at.epoch;
  at.traps->clear();
  while (at.smi_head != nullptr) {
    Packet* packet = at.smi_head;
    at.smi_head = packet->next;
    runtime_.cancel(packet->timer);
    drop(packet, stats_.dropped_link);
  }
  for (unsigned p = 1; p <= at.state.num_ports(); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    link(node, port).vl15_waiting = 0;
    refresh_link(node, port);
  }
}

void SimFabric::Impl::switch_on(std::uint32_t node) {
  SimNode& at = nodes_[node];
  if (at.on) return;
  at.on = true;
  at.sma_free = {};
  AgentOptions options = options_;
  options.congestion = at.state.options.congestion;
  options.wait_counters = at.state.options.wait_counters;
  at.state = power_on(spec_.nodes[node], options, timing_.resp_time_code);
  for (const auto& [place, ids] : clients_at_) {
    if (place.first == node && !ids.empty()) refresh_is_sm(node, PortNum{place.second});
  }
  tell(node, FabricChange::Wiring);
  for (unsigned p = 1; p <= at.state.num_ports(); ++p) {
    refresh_link(node, PortNum{static_cast<std::uint8_t>(p)});
  }
}

}  // namespace smd::sim
