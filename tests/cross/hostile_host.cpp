// A host that means harm to its subnet manager: a program on one port of a served fabric that sends
// one kind of management datagram after the other, as fast as the simulator takes them or at a
// given rate. It speaks the socket's own protocol (docs/formats/ibsim-socket.md), so that no
// library stands between it and what it may send.
//
//   hostile_host --fabric FABRIC --socket NAME --host NODE --own-lid LID --manager NODE
//                --sm-lid LID --attack NAME --seconds S [--rate N] [--seed N]
//
// Prints how many datagrams went out.
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sim-backend/serve/frames.h"
#include "sim-backend/serve/mad_bytes.h"
#include "sim-backend/serve/unix_socket.h"
#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/command_line.h"
#include "smd/base/rng.h"
#include "smd/mad/node_info.h"
#include "smd/mad/notice.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/multi_path.h"
#include "smd/sa/node_records.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/service_manager.h"
#include "smd/sa/subscriptions.h"
#include "smd/transport/transport.h"

namespace smd::test {
namespace {

using Clock = std::chrono::steady_clock;

int complain(const std::string& what) {
  fmt::print(stderr, "hostile_host: {}\n", what);
  return 2;
}

// --- What it knows ------------------------------------------------------------------------------

struct Host {
  Rng rng{1};
  std::uint64_t sent = 0;
  Lid own_lid;
  Lid manager;      // where the manager is
  HopArray path{};  // directed, from here to the manager
  std::uint8_t hops = 0;
  Gid own;
  std::vector<Gid> ports;  // of every host
  bool has_guid = false;   // a further one, where the manager gave it

  std::uint64_t below(std::uint64_t n) { return rng.below(n); }

  template <class Items>
  auto any(const Items& items) {
    return items[below(std::size(items))];
  }

  void fill(std::span<std::byte> bytes) {
    for (std::byte& each : bytes) each = static_cast<std::byte>(rng.next());
  }
};

/// The ports that lead from one node to another, by the fewest links.
std::vector<PortNum> shortest_path(const sim::FabricSpec& spec,
                                   std::uint32_t from,
                                   std::uint32_t to) {
  struct Step {
    std::uint32_t node = sim::kNoNode;
    PortNum port;
  };

  std::vector<Step> before(spec.nodes.size());
  std::deque<std::uint32_t> next{from};
  before[from].node = from;
  while (!next.empty()) {
    const std::uint32_t node = next.front();
    next.pop_front();
    if (node != from && spec.nodes[node].type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[node].num_ports(); ++p) {
      const std::uint32_t peer = spec.nodes[node].ports[p].peer_node;
      if (peer == sim::kNoNode || before[peer].node != sim::kNoNode) continue;
      before[peer] = {node, PortNum{static_cast<std::uint8_t>(p)}};
      next.push_back(peer);
    }
  }
  std::vector<PortNum> ports;
  for (std::uint32_t at = to; at != from && before[at].node != sim::kNoNode; at = before[at].node)
    ports.insert(ports.begin(), before[at].port);
  return ports;
}

// --- What it sends ------------------------------------------------------------------------------

MadPacket by_lid(const Host& host, const Smp& smp) {
  MadPacket packet{.remote_lid = host.manager};
  encode_smp(smp, packet.mad);
  return packet;
}

MadPacket by_path(const Host& host, Smp smp) {
  smp.directed = true;
  smp.hop_count = host.hops;
  smp.initial_path = host.path;
  MadPacket packet{.remote_lid = kPermissiveLid};
  encode_smp(smp, packet.mad);
  return packet;
}

MadPacket trap_of(Host& host, std::uint16_t number, Lid issuer) {
  Smp smp{.method = Method::Trap,
          .transaction_id = host.sent,
          .attribute_id = static_cast<std::uint16_t>(AttributeId::Notice)};
  Notice notice{.is_generic = host.below(16) != 0,
                .type = static_cast<std::uint8_t>(host.below(5)),
                .producer_or_vendor = static_cast<std::uint32_t>(host.below(4)),
                .trap_or_device = number,
                .issuer_lid = issuer};
  for (std::uint8_t& each : notice.details) each = static_cast<std::uint8_t>(host.rng.next());
  // The subject of most notices: right behind the reserved word, or in front.
  for (const std::size_t at : {0u, 2u}) {
    notice.details[at] = static_cast<std::uint8_t>(issuer.value() >> 8);
    notice.details[at + 1] = static_cast<std::uint8_t>(issuer.value());
  }
  encode_notice(notice, smp.data);
  return by_lid(host, smp);
}

constexpr std::uint16_t kTraps[] = {
    64, 65, 66, 67, 128, 129, 130, 131, 144, 145, 256, 257, 258, 259, 0x7000};

Lid anybody(Host& host) { return Lid{static_cast<std::uint16_t>(1 + host.below(0xbfff))}; }

/// Of a host or switch of this subnet, mostly: LIDs are given from 1 on.
Lid somebody(Host& host) {
  return Lid{static_cast<std::uint16_t>(1 + host.below(host.ports.size() + 10))};
}

Lid nobody(Host& host) { return Lid{static_cast<std::uint16_t>(0x8000 + host.below(0x3fff))}; }

MadPacket traps_of_anybody(Host& host) { return trap_of(host, host.any(kTraps), anybody(host)); }

MadPacket traps_of_the_known(Host& host) { return trap_of(host, host.any(kTraps), somebody(host)); }

MadPacket changes_of_the_unknown(Host& host) {
  return trap_of(host, trap::kLinkState, nobody(host));
}

MadPacket to_administration(Host& host,
                            Method method,
                            sa::RecordId record,
                            std::uint64_t mask,
                            std::span<const std::byte> data) {
  MadPacket packet{.remote_lid = host.manager, .local_qp = 1, .remote_qp = 1};
  sa::encode_sa_header({.mad = {.mgmt_class = static_cast<std::uint8_t>(MgmtClass::SubnAdm),
                                .class_version = sa::kClassVersion,
                                .method = static_cast<std::uint8_t>(method),
                                .transaction_id = host.sent + 1,
                                .attribute_id = static_cast<std::uint16_t>(record)},
                        .component_mask = mask},
                       packet.mad);
  std::ranges::copy(data.first(std::min(data.size(), sa::kDataSize)),
                    packet.mad.begin() + sa::kHeaderSize);
  return packet;
}

/// Mostly a group that is not there yet; also leaving one, and one that the manager is to name.
MadPacket groups_without_limit(Host& host) {
  namespace part = sa::member_component;
  const std::uint64_t kind = host.below(10);
  const std::uint64_t number = kind == 0 ? host.below(host.sent + 1) : host.sent;
  sa::McMemberRecord record{.mgid = {0xff12a01cfe800000, Guid{number}},
                            .port_gid = host.own,
                            .q_key = 0x0b1b,
                            .p_key = PKey{0xffff},
                            .scope = 2,
                            .join_state = 1};
  if (kind == 1) record.mgid = {};
  std::array<std::byte, 56> data{};
  encode_record(record, data);
  std::uint64_t mask = part::kMgid | part::kPortGid | part::kQKey | part::kTclass | part::kPKey |
                       part::kSl | part::kFlowLabel | part::kJoinState;
  if (kind == 1) mask &= ~part::kMgid;
  return to_administration(
      host, kind == 0 ? Method::Delete : Method::Set, sa::RecordId::McMemberRecord, mask, data);
}

/// Services, subscriptions, further GUIDs: what a manager has to remember.
MadPacket registrations(Host& host) {
  namespace part = sa::service_component;
  const std::uint64_t kind = host.below(8);
  if (kind < 4) {
    std::array<std::byte, 176> data{};
    encode_record(sa::ServiceRecord{.id = host.sent, .gid = host.own, .p_key = PKey{0xffff}}, data);
    return to_administration(host,
                             kind == 0 ? Method::Delete : Method::Set,
                             sa::RecordId::ServiceRecord,
                             part::kId | part::kGid | part::kPKey,
                             data);
  }
  if (kind < 7) {
    std::array<std::byte, sa::kInformInfoSize> data{};
    encode_record(sa::InformInfo{.lid_first = somebody(host),
                                 .trap_or_device = static_cast<std::uint16_t>(host.rng.next()),
                                 .qpn = 1},
                  data);
    return to_administration(host, Method::Set, sa::RecordId::InformInfo, 0, data);
  }
  std::array<std::byte, sa::kDataSize> data{};
  if (host.below(2) == 0) {
    host.fill(data);
    return to_administration(
        host, Method::Set, sa::RecordId::GuidInfoRecord, host.rng.next() & 0xff3, data);
  }
  // One that it has and one that it has not, again and again: each changes who is who.
  sa::GuidInfoRecord record{.lid = host.own_lid};
  record.guids[1] = Guid{0xbad};
  encode_record(record, data);
  return to_administration(
      host,
      std::exchange(host.has_guid, !host.has_guid) ? Method::Delete : Method::Set,
      sa::RecordId::GuidInfoRecord,
      sa::component_bit(0) | sa::component_bit(1) | sa::component_bit(5),
      data);
}

constexpr sa::RecordId kRecords[] = {
    sa::RecordId::ClassPortInfo,     sa::RecordId::NodeRecord,       sa::RecordId::PortInfoRecord,
    sa::RecordId::SlToVlTableRecord, sa::RecordId::SwitchInfoRecord, sa::RecordId::LftRecord,
    sa::RecordId::RftRecord,         sa::RecordId::MftRecord,        sa::RecordId::SmInfoRecord,
    sa::RecordId::LinkRecord,        sa::RecordId::GuidInfoRecord,   sa::RecordId::ServiceRecord,
    sa::RecordId::PKeyTableRecord,   sa::RecordId::PathRecord,       sa::RecordId::VlArbTableRecord,
    sa::RecordId::McMemberRecord,    sa::RecordId::InformInfoRecord, sa::RecordId::InformInfo,
    sa::RecordId::TraceRecord,       sa::RecordId::MultiPathRecord,
};

/// Every table there is, whole; nothing that comes back is ever acknowledged.
MadPacket whole_tables(Host& host) {
  if (host.below(8) == 0) {
    sa::MultiPathRecord record;
    for (int i = 0; i < 4; ++i) {
      record.sgids.push_back(host.any(host.ports));
      record.dgids.push_back(host.any(host.ports));
    }
    return to_administration(
        host,
        Method::GetMulti,
        sa::RecordId::MultiPathRecord,
        sa::multi_path_component::kSgidCount | sa::multi_path_component::kDgidCount,
        encode_multi_path_record(record));
  }
  const sa::RecordId record = host.any(kRecords);
  const bool traces = record == sa::RecordId::TraceRecord;
  return to_administration(host, traces ? Method::GetTraceTable : Method::GetTable, record, 0, {});
}

/// Any method, any attribute that exists or not, any contents; RMPP headers as they fall.
MadPacket malformed_requests(Host& host) {
  std::array<std::byte, sa::kDataSize> data{};
  host.fill(data);
  const auto record =
      host.below(4) == 0 ? static_cast<sa::RecordId>(host.rng.next()) : host.any(kRecords);
  constexpr std::uint8_t kMethods[] = {1, 2, 3, 5, 6, 7, 0x12, 0x13, 0x14, 0x15, 0x42, 0x7f};
  MadPacket packet = to_administration(
      host, static_cast<Method>(host.any(kMethods)), record, host.rng.next(), data);
  if (host.below(2) == 0) host.fill(std::span(packet.mad).subspan(24, 12));  // RMPP
  if (host.below(8) == 0) host.fill(std::span(packet.mad).subspan(36, 10));  // key and offset
  if (host.below(16) == 0) packet.mad[2] = static_cast<std::byte>(host.rng.next());  // version
  return packet;
}

/// Questions and orders of managers that are none.
MadPacket orders_of_managers(Host& host) {
  Smp smp{.method = host.below(2) == 0 ? Method::Get : Method::Set,
          .transaction_id = host.sent,
          .attribute_id = static_cast<std::uint16_t>(AttributeId::SmInfo),
          .attribute_modifier = static_cast<std::uint32_t>(host.below(8))};
  encode_sm_info({.guid = host.below(2) == 0 ? host.any(host.ports).guid : Guid{host.rng.next()},
                  .sm_key = SmKey{host.below(2)},
                  .act_count = static_cast<std::uint32_t>(host.sent),
                  .priority = static_cast<std::uint8_t>(host.below(16)),
                  .sm_state = static_cast<std::uint8_t>(host.below(5))},
                 smp.data);
  return host.below(2) == 0 ? by_path(host, smp) : by_lid(host, smp);
}

/// Answers that nobody asked for, under numbers that the manager may be using.
MadPacket forged_answers(Host& host) {
  constexpr AttributeId kAttributes[] = {AttributeId::NodeInfo,
                                         AttributeId::PortInfo,
                                         AttributeId::SwitchInfo,
                                         AttributeId::NodeDescription,
                                         AttributeId::LinearForwardingTable,
                                         AttributeId::SmInfo};
  Smp smp{.method = Method::GetResp,
          .transaction_id = host.below(4) == 0
                                ? host.rng.next()
                                : (1 + host.below(4)) << 48 | (host.sent / 8) << 24 | host.below(8),
          .attribute_id = static_cast<std::uint16_t>(host.any(kAttributes)),
          .attribute_modifier = static_cast<std::uint32_t>(host.below(4))};
  host.fill(smp.data);
  return host.below(2) == 0 ? by_lid(host, smp) : by_path(host, smp);
}

/// Directed routes that lead to the manager, past it, or nowhere. Gets: what a Set does to a port
/// is a matter of its M_Key.
MadPacket directed_gets(Host& host) {
  Smp smp{.method = Method::Get,
          .transaction_id = host.sent,
          .attribute_id = static_cast<std::uint16_t>(0x10 + host.below(0x12)),
          .attribute_modifier = static_cast<std::uint32_t>(host.below(256))};
  MadPacket packet = by_path(host, smp);
  if (host.below(2) == 0) {
    packet.mad[7] = static_cast<std::byte>(host.rng.next());  // hop count
    host.fill(std::span(packet.mad).subspan(32, 8));          // M_Key
    host.fill(std::span(packet.mad).subspan(128 + host.below(16), 8));
  }
  return packet;
}

/// Classes that are somebody else's, and bytes that are nobody's.
MadPacket other_classes(Host& host) {
  constexpr std::uint8_t kClasses[] = {
      0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0f, 0x10, 0x20, 0x21, 0x30, 0x4f, 0x00, 0xff};
  const bool smp = host.below(4) == 0;
  MadPacket packet{
      .remote_lid = host.manager, .local_qp = smp ? 0u : 1u, .remote_qp = smp ? 0u : 1u};
  host.fill(packet.mad);
  packet.mad[0] = std::byte{1};
  if (host.below(8) != 0) packet.mad[1] = static_cast<std::byte>(host.any(kClasses));
  // A Set to the manager's own port is a matter of its M_Key.
  if (sim::is_smp(packet.mad) && sim::method_of(packet.mad) == Method::Set)
    packet.mad[3] = std::byte{0x01};
  return packet;
}

struct Attack {
  std::string_view name;
  MadPacket (*next)(Host&);
};

MadPacket everything(Host& host);

constexpr Attack kAttacks[] = {
    {"traps-of-anybody", traps_of_anybody},
    {"traps-of-the-known", traps_of_the_known},
    {"changes-of-the-unknown", changes_of_the_unknown},
    {"groups", groups_without_limit},
    {"registrations", registrations},
    {"whole-tables", whole_tables},
    {"malformed", malformed_requests},
    {"orders", orders_of_managers},
    {"forged-answers", forged_answers},
    {"directed", directed_gets},
    {"other-classes", other_classes},
    {"everything", everything},
};

MadPacket everything(Host& host) {
  return kAttacks[host.below(std::size(kAttacks) - 1)].next(host);
}

// --- How it gets there --------------------------------------------------------------------------

/// One client of the socket. A client number stands for one process at the server, and the server
/// keeps what it asked and nobody answered: a client leaves it behind by coming back under another
/// number.
class Line {
 public:
  Line(std::string socket, std::string node, unsigned first_id)
      : socket_(std::move(socket)), node_(std::move(node)), id_(first_id) {}

  Result<void> connect() {
    leave();
    id_ += 2;
    const auto server = sim::make_address(socket_ + ":ctl");
    const auto own = sim::make_address(fmt::format("{}:ctl{}", socket_, id_));
    const auto in = sim::make_address(fmt::format("{}:in{}", socket_, id_));
    auto control = sim::open_datagram_socket();
    auto packets = sim::open_datagram_socket();
    if (!server || !own || !in || !control || !packets) return fail(Errc::Io, "no socket");
    for (const auto& [fd, name] : {std::pair{&*control, &*own}, std::pair{&*packets, &*in}}) {
      if (auto bound = sim::bind_socket(*fd, *name); !bound) return bound;
    }
    server_ = *server;
    control_ = std::move(*control);
    packets_ = std::move(*packets);
    const auto granted = ask({.type = static_cast<std::uint32_t>(sim::ControlType::Connect),
                              .length = 44,
                              .data = sim::encode_connect({.id = id_, .qp = 0, .node = node_})});
    if (!granted) return fail(Errc::Refused, "the server takes no client at " + node_);
    client_ = granted->client;
    const auto out = sim::make_address(fmt::format("{}:out{}", socket_, client_));
    if (::connect(packets_->get(), out->data(), out->length) != 0)
      return fail(Errc::Io, "no packet socket");
    asked_ = 0;
    return {};
  }

  /// Waits for room. False when the server is gone.
  bool send(const MadPacket& packet) {
    const sim::PacketFrame frame{
        .dlid = packet.remote_lid,
        .slid = packet.remote_lid == kPermissiveLid ? kPermissiveLid : Lid{0},
        .dqp = packet.remote_qp,
        .sqp = packet.local_qp,
        .mad = packet.mad};
    std::array<std::byte, sim::kPacketSize> bytes;
    sim::encode_packet(frame, bytes);
    while (::send(packets_->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) {
      if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) return false;
      pollfd room{packets_->get(), POLLOUT, 0};
      ::poll(&room, 1, 10);
    }
    if (sim::wants_answer(packet.mad)) ++asked_;
    return true;
  }

  void discard_answers() {
    std::array<std::byte, sim::kPacketSize> scrap;
    while (::recv(packets_->get(), scrap.data(), scrap.size(), 0) >= 0) {
    }
  }

  [[nodiscard]] unsigned asked() const { return asked_; }

  void leave() {
    if (control_) {
      (void)ask(
          {.client = client_, .type = static_cast<std::uint32_t>(sim::ControlType::Disconnect)});
    }
    control_.reset();
    packets_.reset();
  }

 private:
  std::optional<sim::ControlFrame> ask(const sim::ControlFrame& request) {
    std::array<std::byte, sim::kControlSize> bytes;
    sim::encode_control(request, bytes);
    ::sendto(control_->get(), bytes.data(), bytes.size(), 0, server_.data(), server_.length);
    pollfd answer{control_->get(), POLLIN, 0};
    if (::poll(&answer, 1, 30000) != 1) return std::nullopt;
    const ssize_t size = ::recv(control_->get(), bytes.data(), bytes.size(), 0);
    if (size != static_cast<ssize_t>(bytes.size())) return std::nullopt;
    const auto frame = sim::decode_control(bytes);
    if (!frame || frame->type == static_cast<std::uint32_t>(sim::ControlType::Error))
      return std::nullopt;
    return *frame;
  }

  std::string socket_;
  std::string node_;
  unsigned id_;
  unsigned client_ = 0;
  unsigned asked_ = 0;
  sim::SocketAddress server_;
  std::optional<sim::Fd> control_;
  std::optional<sim::Fd> packets_;
};

struct Orders {
  std::string fabric, socket, host, manager, attack;
  unsigned own_lid = 0;
  unsigned sm_lid = 0;
  double seconds = 5;
  unsigned rate = 0;  // datagrams a second; 0: as many as go
  std::uint64_t seed = 1;
};

/// After so many questions the other line goes on, and comes back as a new client.
constexpr unsigned kQuestionsPerLife = 2000;

Result<std::uint64_t> attack(const Orders& orders, const Attack& how) {
  const auto spec = sim::load_fabric(orders.fabric);
  if (!spec) return fail(Errc::Invalid, "no fabric " + orders.fabric);
  Host host{.rng = Rng(orders.seed),
            .own_lid = Lid{static_cast<std::uint16_t>(orders.own_lid)},
            .manager = Lid{static_cast<std::uint16_t>(orders.sm_lid)}};
  std::uint32_t from = sim::kNoNode, to = sim::kNoNode;
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) {
    const sim::NodeSpec& node = spec->nodes[n];
    if (node.description == orders.host) from = n;
    if (node.description == orders.manager) to = n;
    if (node.type == NodeType::Ca) host.ports.push_back({0xfe80000000000000, node.ports[1].guid});
    if (from == n) host.own = host.ports.back();
  }
  if (from == sim::kNoNode || to == sim::kNoNode) return fail(Errc::Invalid, "no such host");
  for (const PortNum port : shortest_path(*spec, from, to)) host.path[++host.hops] = port.value();

  const unsigned base = 0x80000000u + (static_cast<unsigned>(::getpid()) & 0x7ffff) * 4096;
  std::array<Line, 2> lines{Line(orders.socket, orders.host, base),
                            Line(orders.socket, orders.host, base + 1)};
  std::size_t at = 0;
  if (auto connected = lines[at].connect(); !connected)
    return fail(Errc::Io, connected.error().context);
  const auto began = Clock::now();
  const auto end = began + std::chrono::duration<double>(orders.seconds);
  while (Clock::now() < end) {
    if (orders.rate != 0) {
      std::this_thread::sleep_until(
          began + std::chrono::duration<double>(static_cast<double>(host.sent) / orders.rate));
    }
    if (!lines[at].send(how.next(host))) return fail(Errc::Io, "the server is gone");
    if (++host.sent % 64 == 0) lines[at].discard_answers();
    if (lines[at].asked() < kQuestionsPerLife) continue;
    at = 1 - at;
    if (auto connected = lines[at].connect(); !connected)
      return fail(Errc::Io, connected.error().context);
  }
  return host.sent;
}

}  // namespace
}  // namespace smd::test

int main(int argc, char** argv) {
  using namespace smd::test;
  Orders orders;
  smd::CommandLine line("Sends one port's worth of harm to a subnet manager");
  line.option("--fabric", orders.fabric).required();
  line.option("--socket", orders.socket).required();
  line.option("--host", orders.host).required();
  line.option("--own-lid", orders.own_lid).required();
  line.option("--manager", orders.manager).required();
  line.option("--sm-lid", orders.sm_lid).required();
  line.option("--attack", orders.attack).required();
  line.option("--seconds", orders.seconds);
  line.option("--rate", orders.rate);
  line.option("--seed", orders.seed);
  if (const auto code = line.parse(argc, argv)) return *code;
  const auto* found = std::ranges::find(kAttacks, orders.attack, &Attack::name);
  if (found == std::end(kAttacks)) return complain("no attack " + orders.attack);
  const auto sent = attack(orders, *found);
  if (!sent) return complain(sent.error().context);
  fmt::print("sent {}\n", *sent);
  return 0;
}
