#include "sim-backend/serve/switchboard.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "sim-backend/serve/mad_bytes.h"
#include "smd/base/log.h"

namespace smd::sim {
namespace {

constexpr Duration kWatchInterval = std::chrono::milliseconds(5);
constexpr std::uint64_t kAgentIdBits = 0x0000ffff00000000u;

/// "name[3]" → "name" and 3.
std::optional<std::pair<std::string, unsigned>> split_port(const std::string& name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string::npos || name.back() != ']') return std::nullopt;
  unsigned port = 0;
  const char* end = name.data() + name.size() - 1;
  const auto [rest, error] = std::from_chars(name.data() + open + 1, end, port);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return std::pair{name.substr(0, open), port};
}

}  // namespace

void TrapIds::note(std::uint64_t id) {
  if (ring_.size() < kRemembered) ring_.resize(kRemembered);
  ring_[next_++ % kRemembered] = id;
}

std::optional<std::uint64_t> TrapIds::find(std::uint64_t id) const {
  const auto same = [id](std::uint64_t trap) { return ((trap ^ id) & ~kAgentIdBits) == 0; };
  const auto found = std::find_if(ring_.begin(), ring_.end(), same);
  return found == ring_.end() ? std::nullopt : std::optional(*found);
}

Switchboard::Switchboard(Runtime& runtime,
                         SimFabric& fabric,
                         ClientWire& wire,
                         SwitchboardOptions options)
    : runtime_(runtime), fabric_(fabric), wire_(wire), options_(options) {
  clients_.resize(options_.max_clients);
}

Switchboard::~Switchboard() {
  for (unsigned i = 0; i < clients_.size(); ++i) disconnect(i);
}

Switchboard::Client* Switchboard::find_client(unsigned number) {
  return number < clients_.size() ? clients_[number].get() : nullptr;
}

std::optional<Switchboard::Place> Switchboard::find_place(const std::string& name) const {
  const FabricSpec& spec = fabric_.spec();
  if (name.empty()) return Place{spec.sm_node, spec.sm_port};
  const auto first_port = [&](std::uint32_t node) {
    return PortNum{static_cast<std::uint8_t>(spec.nodes[node].type == NodeType::Switch ? 0 : 1)};
  };
  if (const std::uint32_t node = find_node(spec, name); node != kNoNode) {
    return Place{node, first_port(node)};
  }
  const auto parts = split_port(name);
  if (!parts) return std::nullopt;
  const std::uint32_t node = find_node(spec, parts->first);
  if (node == kNoNode || spec.nodes[node].type == NodeType::Switch) return std::nullopt;
  if (parts->second == 0 || parts->second > spec.nodes[node].num_ports()) return std::nullopt;
  return Place{node, PortNum{static_cast<std::uint8_t>(parts->second)}};
}

std::optional<unsigned> Switchboard::find_manager(Place place) const {
  for (unsigned i = 0; i < clients_.size(); ++i) {
    const Client* client = clients_[i].get();
    if (client != nullptr && client->is_sm && Place{client->node, client->port} == place) return i;
  }
  return std::nullopt;
}

Result<ConnectData> Switchboard::connect(const ConnectData& wanted) {
  const std::optional<Place> place = find_place(wanted.node);
  if (!place) {
    return fail(Errc::NoDevice,
                fmt::format("process {} asked for node '{}', which is not in the "
                            "fabric, or is there twice",
                            wanted.id,
                            wanted.node));
  }
  // A second life of the same process: the first one's client is gone.
  for (unsigned i = 0; i < clients_.size(); ++i) {
    if (clients_[i] && clients_[i]->pid == wanted.id) disconnect(i);
  }
  const auto is_free = [](const std::unique_ptr<Client>& client) { return client == nullptr; };
  auto free = std::find_if(clients_.begin(), clients_.end(), is_free);
  if (free == clients_.end()) {
    disconnect_dead();
    free = std::find_if(clients_.begin(), clients_.end(), is_free);
  }
  if (free == clients_.end()) {
    return fail(
        Errc::Busy,
        fmt::format(
            "process {} is one client too many; {} are attached", wanted.id, clients_.size()));
  }
  const auto number = static_cast<unsigned>(free - clients_.begin());
  if (auto opened = wire_.open(number, wanted.id); !opened)
    return fail(opened.error().code, opened.error().context);

  *free = std::make_unique<Client>(number);
  Client& client = **free;
  client.pid = wanted.id;
  client.qp = wanted.qp;
  client.node = place->first;
  client.port = place->second;
  Attachment& attachment = attachments_[*place];
  if (attachment.clients++ == 0) {
    attachment.id =
        fabric_.attach(place->first, place->second, [this, at = *place](const MadPacket& packet) {
          on_fabric(at, packet);
        });
  }
  if (wanted.is_sm) {
    if (auto shown = set_is_sm(number, true); !shown) {
      disconnect(number);
      return fail(shown.error().code, shown.error().context);
    }
  }

  const NodeSpec& node = fabric_.spec().nodes[client.node];
  ConnectData granted = wanted;
  granted.id = number;
  if (granted.node.empty()) granted.node = node.description.empty() ? node.id : node.description;
  log::debug("serve.attached",
             "client={} pid={} node={} port={}",
             number,
             client.pid,
             node.description,
             client.port.value());
  return granted;
}

void Switchboard::disconnect(unsigned number) {
  if (find_client(number) == nullptr) return;
  const std::unique_ptr<Client> client = std::move(clients_[number]);
  wire_.close(number);
  const Place place{client->node, client->port};
  const auto at = attachments_.find(place);
  if (client->is_sm) fabric_.set_is_sm(at->second.id, false);
  if (--at->second.clients == 0) {
    fabric_.detach(at->second.id);
    attachments_.erase(at);
  }
  log::debug("serve.detached", "client={} pid={}", number, client->pid);
}

void Switchboard::disconnect_dead() {
  for (unsigned i = 0; i < clients_.size(); ++i) {
    if (clients_[i] && !wire_.is_alive(i)) disconnect(i);
  }
}

Result<void> Switchboard::set_is_sm(unsigned number, bool is_sm) {
  Client& client = *clients_[number];
  const Place place{client.node, client.port};
  if (client.is_sm == is_sm) return {};
  if (is_sm) {
    if (const auto holder = find_manager(place); holder && !wire_.is_alive(*holder)) {
      disconnect(*holder);
    }
    if (const auto holder = find_manager(place)) {
      return fail(Errc::Busy,
                  fmt::format("process {} would be a second subnet manager on the port of "
                              "process {}; one port has one",
                              client.pid,
                              clients_[*holder]->pid));
    }
  }
  client.is_sm = is_sm;
  fabric_.set_is_sm(attachments_.at(place).id, is_sm);
  return {};
}

void Switchboard::on_malformed(const Error& error) {
  ++stats_.malformed;
  log::warn("serve.malformed", "{}; ignored", error.context);
}

std::vector<ClientView> Switchboard::clients() const {
  std::vector<ClientView> views;
  for (unsigned i = 0; i < clients_.size(); ++i) {
    if (!clients_[i]) continue;
    const Client& client = *clients_[i];
    views.push_back({.number = i,
                     .pid = client.pid,
                     .node = client.node,
                     .port = client.port,
                     .is_sm = client.is_sm,
                     .waiting = client.table.size()});
  }
  return views;
}

void Switchboard::on_packet(unsigned number, PacketFrame frame) {
  Client* client = find_client(number);
  if (client == nullptr) {
    ++stats_.stray;
    return;
  }
  ++stats_.from_clients;
  // What libumad2sim sends beyond the length is whatever its stack held.
  std::fill(
      frame.mad.begin() + static_cast<std::ptrdiff_t>(frame.length), frame.mad.end(), std::byte{0});
  client->spoke[byte_at(frame.mad, 1)] = true;
  start_directed(frame.mad);
  if (wants_answer(frame.mad)) {
    track(number, *client, frame);
    return;
  }
  if (has_response_bit(frame.mad)) {
    // The length travels beside the MAD and the fabric does not know it.
    const std::uint64_t id = transaction_of(frame.mad);
    Client* asker = find_client(TransactionTable::client_of(id));
    Transaction* transaction = asker != nullptr ? asker->table.find(id) : nullptr;
    if (transaction != nullptr) transaction->answer_length = frame.length;
  } else if (method_of(frame.mad) == Method::TrapRepress) {
    // libumad2sim takes a repress for a request and writes its agent's number into the id.
    if (const auto trap = client->delivered.find(transaction_of(frame.mad)))
      set_transaction(frame.mad, *trap);
  } else if (method_of(frame.mad) == Method::Trap) {
    keep_trap(*client, frame);
  }
  inject(*client, frame);
}

void Switchboard::track(unsigned number, Client& client, PacketFrame& frame) {
  Transaction* transaction = client.table.open();
  if (transaction == nullptr) {
    frame.status = kStatusTimedOut;
    ++stats_.timed_out;
    hand_to(number, frame);
    return;
  }
  transaction->client_id = transaction_of(frame.mad);
  transaction->tries_left = options_.agent_retries;
  set_transaction(frame.mad, transaction->id);
  transaction->request = frame;
  send_tracked(client, *transaction);
}

void Switchboard::send_tracked(Client& client, Transaction& transaction) {
  const TimePoint deadline = runtime_.now() + options_.agent_timeout;
  transaction.deadline = deadline;
  transaction.sent = ++sent_;
  inject(client, transaction.request);  // may answer, and close the transaction, before it returns
  watch(deadline);
}

void Switchboard::inject(Client& client, const PacketFrame& frame) {
  const bool smp = is_smp(frame.mad);
  MadPacket packet;
  packet.remote_lid = frame.dlid;
  packet.local_qp = smp ? 0 : 1;
  packet.remote_qp = smp ? 0 : std::max(1u, frame.dqp);
  packet.mad = frame.mad;
  fabric_.inject(attachments_.at({client.node, client.port}).id, packet);
}

void Switchboard::on_fabric(Place place, const MadPacket& packet) {
  if (has_response_bit(packet.mad)) {
    deliver_answer(place, packet);
  } else if (method_of(packet.mad) == Method::TrapRepress) {
    deliver_repress(place, packet);
  } else {
    deliver_request(place, packet);
  }
}

void Switchboard::deliver_answer(Place place, const MadPacket& packet) {
  const std::uint64_t id = transaction_of(packet.mad);
  const unsigned number = TransactionTable::client_of(id);
  Client* client = find_client(number);
  Transaction* transaction = client != nullptr ? client->table.find(id) : nullptr;
  if (transaction == nullptr || Place{client->node, client->port} != place) {
    ++stats_.stray;
    return;
  }
  PacketFrame frame = {.dlid = transaction->request.slid,
                       .slid = packet.remote_lid,
                       .dqp = transaction->request.sqp,
                       .sqp = packet.remote_qp,
                       .status = 0,
                       .length = transaction->answer_length,
                       .mad = packet.mad};
  set_transaction(frame.mad, transaction->client_id);
  client->table.close(*transaction);
  hand_to(number, frame);
}

void Switchboard::deliver_request(Place place, const MadPacket& packet) {
  const std::optional<unsigned> number = find_manager(place);
  const MgmtClass mgmt_class = class_of(packet.mad);
  // A client without an agent for the class would crash in libumad2sim.
  const bool has_agent =
      is_smp(packet.mad) || mgmt_class == MgmtClass::SubnAdm ||
      (number && clients_[*number]->spoke[static_cast<std::uint8_t>(mgmt_class)]);
  if (!number || !has_agent) {
    ++stats_.stray;
    return;
  }
  Client& client = *clients_[*number];
  const std::uint64_t id = transaction_of(packet.mad);
  PacketFrame frame = frame_for(place, packet);
  if (method_of(packet.mad) == Method::Trap) client.delivered.note(id);
  // A request that a program answers takes as long as the program does.
  Client* asker = find_client(TransactionTable::client_of(id));
  if (Transaction* asked = asker != nullptr ? asker->table.find(id) : nullptr; asked != nullptr) {
    asked->deadline = runtime_.now() + options_.program_timeout;
    asked->tries_left = 0;
    frame.length = asked->request.length;
  }
  hand_to(*number, frame);
}

void Switchboard::keep_trap(Client& client, const PacketFrame& frame) {
  constexpr std::size_t kMostTraps = 64;
  if (client.sent.size() == kMostTraps) client.sent.pop_front();
  const TimePoint deadline = runtime_.now() + options_.trap_timeout;
  client.sent.push_back({deadline, frame});
  watch(deadline);
}

/// The kernel keeps a trap that was sent with a timeout as it keeps a request. OpenSM sends trap
/// 144 so, and begins no sweep while one is under way.
void Switchboard::return_traps(unsigned number, Client& client, TimePoint now) {
  while (!client.sent.empty() && client.sent.front().deadline <= now) {
    PacketFrame frame = client.sent.front().frame;
    client.sent.pop_front();
    frame.status = kStatusTimedOut;
    ++stats_.timed_out;
    hand_to(number, frame);
  }
}

/// To whoever sent the trap: a program that counts it as under way waits for nothing else.
void Switchboard::deliver_repress(Place place, const MadPacket& packet) {
  for (unsigned i = 0; i < clients_.size(); ++i) {
    Client* client = clients_[i].get();
    if (client == nullptr || Place{client->node, client->port} != place) continue;
    const auto trap =
        std::ranges::find(client->sent, transaction_of(packet.mad), [](const PendingTrap& each) {
          return transaction_of(each.frame.mad);
        });
    if (trap == client->sent.end()) continue;
    client->sent.erase(trap);
    return hand_to(i, frame_for(place, packet));
  }
  ++stats_.stray;
}

/// As the program on that port sees what nobody here asked for.
PacketFrame Switchboard::frame_for(Place place, const MadPacket& packet) const {
  const Lid own = fabric_.port_info(place.first, place.second).lid;
  return {.dlid = packet.remote_lid == kPermissiveLid ? kPermissiveLid : own,
          .slid = packet.remote_lid,
          .dqp = packet.local_qp,
          .sqp = packet.remote_qp,
          .status = 0,
          .length = kMadSize,
          .mad = packet.mad};
}

void Switchboard::hand_to(unsigned number, const PacketFrame& frame) {
  ++stats_.to_clients;
  wire_.send(number, frame);
}

void Switchboard::watch(TimePoint when) {
  if (watching_ && watch_at_ <= when) return;
  watching_ = true;
  watch_at_ = when;
  watch_ = Timer(runtime_, when, [this, sent_before = sent_] { on_watch(sent_before); });
}

void Switchboard::on_watch(std::uint64_t sent_before) {
  watching_ = false;
  const TimePoint now = runtime_.now();
  std::optional<TimePoint> next;
  for (unsigned i = 0; i < clients_.size(); ++i) {
    Client* client = clients_[i].get();
    if (client == nullptr) continue;
    client->table.for_each([&](Transaction& transaction) {
      // Of what was sent after this watch was set, the answer may be on its way.
      if (transaction.deadline <= now && transaction.sent <= sent_before) {
        if (transaction.tries_left == 0) return on_lost(i, *client, transaction);
        --transaction.tries_left;
        ++stats_.retransmitted;
        send_tracked(*client, transaction);
      }
      if (transaction.id == 0) return;  // answered meanwhile
      next = next ? std::min(*next, transaction.deadline) : transaction.deadline;
    });
    return_traps(i, *client, now);
    if (!client->sent.empty()) {
      const TimePoint deadline = client->sent.front().deadline;
      next = next ? std::min(*next, deadline) : deadline;
    }
  }
  if (!next) return;
  const bool instant = options_.agent_timeout == Duration{0};
  watch(instant ? std::max(*next, now) : std::max(*next, now + kWatchInterval));
}

void Switchboard::on_lost(unsigned number, Client& client, Transaction& transaction) {
  ++stats_.timed_out;
  PacketFrame frame = transaction.request;
  frame.status = kStatusTimedOut;
  set_transaction(frame.mad, transaction.client_id);
  client.table.close(transaction);
  hand_to(number, frame);
}

}  // namespace smd::sim
