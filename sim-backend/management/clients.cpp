// Software that sits on a node's ports: managers, diagnostic tools, a subnet administrator.
#include <algorithm>

#include "sim-backend/management/fabric_impl.h"
#include "smd/mad/notice.h"

namespace smd::sim {
namespace {

constexpr std::size_t kRemembered = 4096;

std::uint64_t transaction_id(const MadBytes& mad) {
  std::uint64_t id = 0;
  for (std::size_t i = 8; i < 16; ++i) id = id << 8 | std::to_integer<std::uint64_t>(mad[i]);
  return id;
}

bool is_answer(const MadBytes& mad) { return (std::to_integer<unsigned>(mad[3]) & 0x80) != 0; }

std::pair<std::uint32_t, std::uint8_t> place_of(const SimNode& node, const Packet& packet) {
  return {packet.node, node.state.is_switch() ? std::uint8_t{0} : packet.port.value()};
}

}  // namespace

void SimFabric::Impl::inject(ClientId id, const MadPacket& from) {
  const auto found = clients_.find(static_cast<std::uint32_t>(id));
  if (found == clients_.end()) return;
  FabricClient& client = found->second;
  const SimNode& node = nodes_[client.node];
  ++stats_.injected;
  if (!node.on || node.silent) {
    ++stats_.dropped_link;
    return;
  }
  if (!is_answer(from.mad)) remember_request(client, transaction_id(from.mad));

  Packet* packet = pool_.take();
  packet->mad = from.mad;
  packet->node = client.node;
  packet->node_epoch = node.epoch;
  packet->port = client.port;
  packet->local = true;
  packet->slid = node.state.management_port(client.port).info.lid;
  packet->dlid = from.remote_lid;
  packet->origin = from.remote_lid;
  packet->source_qp = from.local_qp;
  packet->dest_qp = from.remote_qp;
  packet->sl = from.sl & 15;
  packet->pkey_index = from.pkey_index;
  if (from.remote_qp == 0) return enqueue_smi(packet);
  route_local(packet);
}

void SimFabric::Impl::remember_request(FabricClient& client, std::uint64_t transaction) {
  if (clients_at_[{client.node, client.port.value()}].size() < 2) return;
  if (client.asked.size() < kRemembered) {
    client.asked.push_back(transaction);
  } else {
    client.asked[client.asked_at++ % kRemembered] = transaction;
  }
}

bool SimFabric::Impl::has_client(const Packet& packet) const {
  const auto found = clients_at_.find(place_of(nodes_[packet.node], packet));
  return found != clients_at_.end() && !found->second.empty();
}

void SimFabric::Impl::reach_client(Packet* packet) {
  if (!has_client(*packet)) {
    const auto method = static_cast<Method>(packet->mad[3]);
    if (method != Method::Get && method != Method::Set) {
      return drop(packet, stats_.dropped_no_client);
    }
    // Nobody serves this class here: the port says so instead of letting the asker wait.
    trace(*packet);
    refuse(*packet);
    return reply(packet);
  }
  // Never inside the call that injected it.
  run_later(std::max(runtime_.now(), packet->ready), packet, Step::Deliver);
}

void SimFabric::Impl::on_deliver(Packet* packet) {
  const auto found = clients_at_.find(place_of(nodes_[packet->node], *packet));
  if (found == clients_at_.end() || found->second.empty()) {
    return drop(packet, stats_.dropped_no_client);
  }
  trace(*packet);
  std::vector<std::uint32_t> targets = found->second;
  if (targets.size() > 1) {
    const std::uint64_t id = transaction_id(packet->mad);
    const bool answer = is_answer(packet->mad);
    const auto wanted = [&](std::uint32_t target) {
      const FabricClient& client = clients_.at(target);
      if (!answer) return client.is_sm;
      return std::find(client.asked.begin(), client.asked.end(), id) != client.asked.end();
    };
    // What nobody claims goes to all: an answer to a request from before a second client came.
    if (std::any_of(targets.begin(), targets.end(), wanted)) {
      std::erase_if(targets, [&](std::uint32_t target) { return !wanted(target); });
    }
  }
  const MadPacket out{.remote_lid = packet->slid,
                      .local_qp = packet->dest_qp,
                      .remote_qp = packet->source_qp,
                      .sl = packet->sl,
                      .pkey_index = packet->pkey_index,
                      .mad = packet->mad};
  pool_.give_back(packet);
  for (const std::uint32_t target : targets) {
    const auto client = clients_.find(target);
    if (client == clients_.end()) continue;  // an earlier handler detached it
    ++stats_.delivered;
    const auto receive = client->second.receive;  // outlives a handler that detaches itself
    (*receive)(out);
  }
}

void SimFabric::Impl::refresh_is_sm(std::uint32_t node, PortNum port) {
  SimNode& at = nodes_[node];
  bool is_sm = false;
  for (const std::uint32_t id : clients_at_[{node, port.value()}]) is_sm |= clients_.at(id).is_sm;
  PortInfo& info = at.state.management_port(port).info;
  const std::uint32_t mask =
      is_sm ? info.capability_mask | port_cap::kIsSm : info.capability_mask & ~port_cap::kIsSm;
  if (mask == info.capability_mask) return;
  info.capability_mask = mask;
  if (at.on) at.traps->raise(port, capability_notice(info.lid, at.state.type, mask, false));
}

}  // namespace smd::sim
