// The software of the nodes: the SMI that serves one SMP at a time, the agents behind it, traps.
#include <algorithm>

#include "sim-backend/agents/cca.h"
#include "sim-backend/agents/m_key.h"
#include "sim-backend/agents/pma.h"
#include "sim-backend/agents/smi.h"
#include "sim-backend/management/fabric_impl.h"
#include "sim-backend/management/register_diff.h"

namespace smd::sim {
namespace {

std::uint8_t byte_at(const MadBytes& mad, std::size_t offset) {
  return std::to_integer<std::uint8_t>(mad[offset]);
}

constexpr std::size_t kClass = 1;
constexpr std::size_t kClassVersion = 2;
constexpr std::size_t kMethod = 3;

bool is_directed(const Packet& packet) {
  return byte_at(packet.mad, kClass) == static_cast<std::uint8_t>(MgmtClass::SubnDirected);
}

bool is_sm_info(const MadBytes& mad) {
  return (byte_at(mad, 16) << 8 | byte_at(mad, 17)) == static_cast<int>(AttributeId::SmInfo);
}

/// What a SMA does not answer itself: answers, traps and whatever is between managers.
bool is_for_manager(const MadBytes& mad) {
  const auto method = static_cast<Method>(byte_at(mad, kMethod));
  if (method == Method::TrapRepress) return false;
  return is_response(method) || method == Method::Trap || is_sm_info(mad);
}

void set_status(Packet& packet, MadStatus status) {
  const auto code = static_cast<std::uint16_t>(status);
  const unsigned direction = is_directed(packet) ? 0x80u : 0u;
  packet.mad[kMethod] = static_cast<std::byte>(Method::GetResp);
  packet.mad[4] = static_cast<std::byte>(direction | code >> 8);
  packet.mad[5] = static_cast<std::byte>(code & 0xff);
}

/// The agent's hands on the wires of one node.
class NodeLinks final : public LinkControl {
 public:
  NodeLinks(SimFabric::Impl& fabric, std::uint32_t node) : fabric_(fabric), node_(node) {}

  void retrain(PortNum port) override { fabric_.retrain(node_, port); }

  void take_down(PortNum port) override {
    fabric_.refresh_link(node_, port, SimFabric::Impl::Cause::Manager);
  }

 private:
  SimFabric::Impl& fabric_;
  std::uint32_t node_;
};

}  // namespace

void SimFabric::Impl::refuse(Packet& packet) { set_status(packet, MadStatus::BadMethodAttribute); }

void SimFabric::Impl::enqueue_smi(Packet* packet) {
  SimNode& node = nodes_[packet->node];
  if (node.silent) return drop(packet, stats_.dropped_link);
  packet->node_epoch = node.epoch;
  if (!packet->local) {
    LinkEnd& end = link(packet->node, packet->port);
    // An adapter's SMPs go to memory, a switch's stay in its VL15 buffer.
    const bool limited = node.state.is_switch() && timing_.vl15_packets > 0;
    if (limited && end.vl15_waiting >= timing_.vl15_packets) {
      add_sticky(counters(packet->node, packet->port).vl15_dropped);
      return drop(packet, stats_.dropped_vl15);
    }
    ++end.vl15_waiting;
  }
  packet->next = nullptr;
  const bool idle = node.smi_head == nullptr;
  (idle ? node.smi_head : node.smi_tail->next) = packet;
  node.smi_tail = packet;
  if (idle) serve_next(node);
}

void SimFabric::Impl::serve_next(SimNode& node) {
  const TimePoint start = std::max(runtime_.now(), node.smi_head->ready);
  schedule(start + timing_.smi_pass, node.smi_head, Step::SmiDone);
}

void SimFabric::Impl::on_smi_done(Packet* packet) {
  SimNode& node = nodes_[packet->node];
  node.smi_head = packet->next;
  if (!packet->local) --link(packet->node, packet->port).vl15_waiting;
  if (node.smi_head != nullptr) serve_next(node);
  if (node.silent) return drop(packet, stats_.dropped_link);

  if (is_directed(*packet)) return pass_directed(packet);
  if (byte_at(packet->mad, kClass) != static_cast<std::uint8_t>(MgmtClass::SubnLid)) {
    return drop(packet, stats_.dropped_malformed);
  }
  return packet->local ? route_local(packet) : reach_agent(packet);
}

void SimFabric::Impl::pass_directed(Packet* packet) {
  const NodeState& state = nodes_[packet->node].state;
  // The first LID-routed part of a mixed route does not concern the sender's SMI.
  const bool leaves_by_lid = packet->local && packet->dlid != kPermissiveLid;
  if (leaves_by_lid && !state.owns_lid(packet->port, packet->dlid)) return route_local(packet);

  SmiSource source = leaves_by_lid || packet->by_lid ? SmiSource::LidRouted
                     : packet->local                 ? SmiSource::Local
                                                     : SmiSource::Directed;
  const SmiNode node{state.is_switch(), static_cast<std::uint8_t>(state.num_ports())};
  SmiVerdict verdict = pass_smi(node, source, packet->port, packet->mad);
  if (verdict.kind == SmiVerdict::Kind::ToOrigin) {
    verdict = {SmiVerdict::Kind::ByLid, {}, packet->origin};
  }
  if (verdict.kind == SmiVerdict::Kind::ByLid && state.owns_lid(packet->port, verdict.dlid)) {
    packet->slid = packet->origin = verdict.dlid;
    verdict = pass_smi(node, SmiSource::LidRouted, packet->port, packet->mad);
  }
  switch (verdict.kind) {
    case SmiVerdict::Kind::Exit:
      packet->slid = packet->dlid = kPermissiveLid;
      return send(packet, verdict.port, runtime_.now());
    case SmiVerdict::Kind::Agent:
      return reach_agent(packet);
    case SmiVerdict::Kind::ByLid:
      packet->slid = state.management_port(packet->port).info.lid;
      packet->dlid = verdict.dlid;
      return route_local(packet);
    case SmiVerdict::Kind::ToOrigin:
    case SmiVerdict::Kind::Drop:
      return drop_unroutable(packet);
  }
}

void SimFabric::Impl::route_local(Packet* packet) {
  SimNode& node = nodes_[packet->node];
  if (node.state.owns_lid(packet->port, packet->dlid)) {
    packet->by_lid = true;
    return packet->dest_qp == 0 ? reach_agent(packet) : reach_gsi(packet);
  }
  if (!node.state.is_switch()) {
    if (packet->dest_qp != 0) {
      const PortInfo& info = node.state.ports[packet->port.value()].info;
      const Vl vl = node.state.map_sl(packet->port, PortNum{}, Sl{packet->sl});
      if (vl.value() >= data_vls(info.operational_vls)) {
        add_sticky(counters(packet->node, packet->port).xmit_discards);
        return drop(packet, stats_.dropped_route);
      }
    }
    return send(packet, packet->port, runtime_.now());
  }
  packet->port = PortNum{};
  // Base port 0 has no states and reads as Active.
  if (packet->dest_qp != 0 && node.state.ports[0].state() != PortState::Active) {
    add_sticky(counters(packet->node, PortNum{}).xmit_discards);
    return drop(packet, stats_.dropped_link);
  }
  if (!is_unicast(packet->dlid)) return drop_unroutable(packet);
  const RelayEgress egress = relay_unicast(node.state, packet->dlid, PortNum{});
  // Port 0 has no wire: an entry that points there for somebody else's LID leads nowhere.
  if (egress.fault != RelayFault::None || egress.port.value() == 0) return drop_unroutable(packet);
  return transit(packet, egress.port);
}

void SimFabric::Impl::reach_agent(Packet* packet) {
  if (is_for_manager(packet->mad)) return reach_client(packet);
  SimNode& node = nodes_[packet->node];
  node.sma_free = std::max(runtime_.now(), node.sma_free) + timing_.sma_time;
  schedule(node.sma_free, packet, Step::SmaDone);
}

void SimFabric::Impl::on_sma_done(Packet* packet) {
  SimNode& node = nodes_[packet->node];
  ++stats_.agent_requests;
  trace(*packet);
  if (byte_at(packet->mad, 0) == 1 && byte_at(packet->mad, kClassVersion) != 1) {
    set_status(*packet, MadStatus::BadVersion);
    return reply(packet);
  }
  auto smp = decode_smp(packet->mad);
  if (!smp.has_value()) return drop(packet, stats_.dropped_malformed);

  const PortNum arrival = packet->local && node.state.is_switch() ? PortNum{} : packet->port;
  const bool guarded = smp->method == Method::Get || smp->method == Method::Set ||
                       smp->method == Method::TrapRepress;
  MKeyVerdict verdict = MKeyVerdict::Pass;
  if (guarded) {
    verdict =
        check_m_key(node.state.management_port(arrival), smp->method, smp->m_key, runtime_.now());
  }
  if (verdict == MKeyVerdict::Refuse) {
    report_m_key(node, *packet, *smp);
    return drop(packet, stats_.dropped_m_key);
  }
  if (smp->method == Method::TrapRepress) {
    if (!node.traps->repress(smp->transaction_id) && has_client(*packet))
      return reach_client(packet);
    return pool_.give_back(packet);
  }
  NodeLinks links(*this, packet->node);
  std::optional<RegisterDiff> diff;
  if (!observers_.empty()) diff.emplace(node.state, *smp, arrival);
  answer_smp({.node = node.state,
              .arrival = arrival,
              .hide_m_key = verdict == MKeyVerdict::PassHidden,
              .link = links},
             *smp);
  if (diff) {
    if (const auto what = diff->compare(node.state)) tell(packet->node, *what);
  }
  encode_smp(*smp, packet->mad);
  reply(packet);
}

void SimFabric::Impl::reply(Packet* packet) {
  const NodeState& state = nodes_[packet->node].state;
  packet->local = true;
  packet->by_lid = false;
  packet->origin = packet->slid;
  packet->slid =
      is_directed(*packet) ? kPermissiveLid : state.management_port(packet->port).info.lid;
  std::swap(packet->source_qp, packet->dest_qp);
  if (state.is_switch()) packet->port = PortNum{};
  if (packet->dest_qp != 0) {
    packet->dlid = packet->origin;
    return route_local(packet);
  }
  // A directed answer finds its way by its return path; the SMI addresses it.
  packet->dlid = is_directed(*packet) ? kPermissiveLid : packet->origin;
  enqueue_smi(packet);
}

void SimFabric::Impl::reach_gsi(Packet* packet) {
  SimNode& node = nodes_[packet->node];
  if (node.silent) return drop(packet, stats_.dropped_link);
  packet->node_epoch = node.epoch;
  const auto mgmt_class = static_cast<MgmtClass>(byte_at(packet->mad, kClass));
  const auto method = static_cast<Method>(byte_at(packet->mad, kMethod));
  if (mgmt_class == MgmtClass::CongestionControl && method == Method::TrapRepress) {
    node.traps->repress(decode_mad_header(packet->mad)->transaction_id);
    return pool_.give_back(packet);
  }
  // A trap is for a manager that sits here, whatever agents do.
  const bool to_agent = (mgmt_class == MgmtClass::Performance ||
                         (mgmt_class == MgmtClass::CongestionControl && method != Method::Trap)) &&
                        !is_response(method);
  if (!to_agent) return reach_client(packet);
  const TimePoint start = std::max(runtime_.now(), packet->ready);
  schedule(start + timing_.sma_time, packet, Step::GsiDone);
}

void SimFabric::Impl::on_gsi_done(Packet* packet) {
  trace(*packet);
  if (byte_at(packet->mad, kClass) == static_cast<std::uint8_t>(MgmtClass::CongestionControl)) {
    return serve_congestion(packet);
  }
  NodeState& state = nodes_[packet->node].state;
  if (state.options.wait_counters == WaitCounters::Silent) {
    return drop(packet, stats_.dropped_no_client);
  }
  if (before_performance_) before_performance_(packet->node);
  answer_performance(state, state.is_switch() ? PortNum{} : packet->port, packet->mad);
  reply(packet);
}

void SimFabric::Impl::serve_congestion(Packet* packet) {
  SimNode& node = nodes_[packet->node];
  if (node.state.options.congestion == CongestionSupport::Silent) {
    return drop(packet, stats_.dropped_no_client);
  }
  if (node.state.options.congestion == CongestionSupport::None) {
    refuse(*packet);
    return reply(packet);
  }
  if (before_congestion_) before_congestion_();
  const PortNum arrival = node.state.is_switch() ? PortNum{} : packet->port;
  const MadBytes asked = packet->mad;
  const CcaResult result = answer_congestion(
      {.node = node.state, .arrival = arrival, .now = runtime_.now()}, packet->mad);
  if (result == CcaResult::Refused) {
    const MadHeader header = *decode_mad_header(asked);
    const cc::KeyViolation violation{.source = packet->slid,
                                     .method = header.method,
                                     .attribute = header.attribute_id,
                                     .modifier = header.attribute_modifier,
                                     .qp = packet->source_qp,
                                     .key = cc::read_key(asked)};
    drop(packet, stats_.dropped_cc_key);
    return node.traps->raise_congestion(arrival, cc::key_notice(violation, node.state.type));
  }
  if (result == CcaResult::Changed) tell(packet->node, FabricChange::Congestion);
  reply(packet);
}

void SimFabric::Impl::send_trap(std::uint32_t node, const TrapLetter& letter) {
  ++stats_.traps;
  Packet* packet = pool_.take();
  packet->mad = letter.mad;
  packet->node = node;
  packet->port = letter.port;
  packet->local = true;
  packet->sl = letter.sl;
  packet->slid = nodes_[node].state.management_port(letter.port).info.lid;
  packet->dlid = letter.to;
  packet->dest_qp = letter.qp;
  packet->source_qp = letter.qp == 0 ? 0 : 1;
  if (letter.qp == 0) return enqueue_smi(packet);
  packet->node_epoch = nodes_[node].epoch;
  route_local(packet);
}

void SimFabric::Impl::report_m_key(SimNode& node, const Packet& packet, const Smp& smp) {
  const PortNum speaker = node.state.is_switch() ? PortNum{} : packet.port;
  MKeyViolation violation;
  violation.lid = node.state.management_port(speaker).info.lid;
  violation.source = packet.slid;
  violation.method = smp.method;
  violation.attribute_id = smp.attribute_id;
  violation.attribute_modifier = smp.attribute_modifier;
  violation.m_key = smp.m_key;
  violation.directed = smp.directed;
  violation.dr_slid = smp.dr_slid;
  if (smp.directed) {
    violation.hop_count = smp.hop_count;
    violation.path_truncated = smp.hop_count > violation.return_path.size();
    for (std::size_t i = 0; i < violation.return_path.size() && i < smp.hop_count; ++i) {
      violation.return_path[i] = smp.return_path[i + 1];
    }
  }
  node.traps->raise(speaker, m_key_notice(violation, node.state.type));
}

}  // namespace smd::sim
