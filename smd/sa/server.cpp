#include "smd/sa/server.h"

#include <algorithm>
#include <utility>

namespace smd::sa {
namespace {

/// A turn that took longer is followed by a pause of so many times as long.
constexpr Duration kLongTurn = std::chrono::milliseconds(1);
constexpr int kPause = 3;

/// How often transfers are looked at for silence.
constexpr Duration kTick = std::chrono::milliseconds(100);

bool wants_answer(std::uint8_t method) {
  switch (static_cast<Method>(method)) {
    case Method::Get:
    case Method::Set:
    case Method::GetTable:
    case Method::GetTraceTable:
    case Method::GetMulti:
    case Method::Delete:
      return true;
    default:
      return false;
  }
}

bool is_control(const RmppHeader& rmpp) {
  return rmpp.active() && rmpp.type != static_cast<std::uint8_t>(RmppType::Data);
}

/// The header of the answer: the request's, without its key and its segment (IBA 15.4.1).
SaHeader answer_header(const SaHeader& request, Status status, std::uint16_t offset) {
  SaHeader header = request;
  header.mad.method = answer_method(request.mad.method);
  header.mad.status = static_cast<std::uint16_t>(status);
  header.mad.class_version = kClassVersion;
  header.rmpp = {.response_time = 0};
  header.sm_key = SmKey{};
  header.attribute_offset = offset;
  return header;
}

bool is_segment(const SaHeader& header) {
  return header.rmpp.active() && static_cast<Method>(header.mad.method) == Method::GetMulti;
}

std::span<const std::byte, kDataSize> data_of(const MadPacket& packet) {
  return std::span<const std::byte, kMadSize>(packet.mad).subspan<kHeaderSize, kDataSize>();
}

/// Of one client, in a map by client and transaction.
template <class Map>
std::size_t count_of(const Map& map, const typename Map::key_type& any) {
  return static_cast<std::size_t>(
      std::distance(map.lower_bound({any.client, 0}), map.upper_bound({any.client, UINT64_MAX})));
}

}  // namespace

Server::Server(Runtime& runtime, Transport& transport, ServerLimits limits)
    : runtime_(runtime), transport_(transport), limits_(limits) {
  transport_.set_handlers([this](const MadPacket& packet) { receive(packet); },
                          [](const Error&) {});
}

Server::~Server() {
  transport_.set_handlers([](const MadPacket&) {}, [](const Error&) {});
}

void Server::receive(const MadPacket& packet) {
  const SaHeader header = *decode_sa_header(packet.mad);
  if (header.mad.mgmt_class != static_cast<std::uint8_t>(MgmtClass::SubnAdm) ||
      header.mad.base_version != 1) {
    ++stats_.malformed;
    return;
  }
  const ClientId client{packet.remote_lid, packet.remote_qp};
  const TransferId transfer{client, header.mad.transaction_id};
  if (is_control(header.rmpp)) return on_control(transfer, header);
  if (header.mad.method == static_cast<std::uint8_t>(Method::ReportResp) && on_answer_)
    return on_answer_(packet);
  if (!wants_answer(header.mad.method)) {
    ++stats_.unasked;
    return;
  }
  if (transfers_.contains(transfer)) {
    ++stats_.repeated;
    return;
  }
  if (is_segment(header)) return on_segment(transfer, header, packet);
  enqueue(client, {.packet = packet, .data = {}});
}

void Server::on_control(const TransferId& id, const SaHeader& header) {
  const bool ends = header.rmpp.type != static_cast<std::uint8_t>(RmppType::Ack);
  if (const auto coming = receptions_.find(id); coming != receptions_.end()) {
    if (ends) receptions_.erase(coming);
    return;
  }
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) {
    ++stats_.unasked;
    return;
  }
  found->second.sender.on_control(header.rmpp, runtime_.now());
  advance(found);
}

/// One more segment of a request that is too long for a MAD.
void Server::on_segment(const TransferId& id, const SaHeader& header, const MadPacket& packet) {
  auto found = receptions_.find(id);
  if (found == receptions_.end()) {
    if (receptions_.size() >= limits_.half_open ||
        count_of(receptions_, id) >= limits_.half_open_per_client) {
      ++stats_.busy;
      SaHeader back = header;
      back.mad.method ^= kResponseBit;
      return send(packet, make_rmpp_end(back, RmppStatus::NoResources));
    }
    found = receptions_
                .emplace(id,
                         Reception{
                             packet,
                             RmppReceiver(header, limits_.receiving, limits_.rmpp, runtime_.now())})
                .first;
    arm_tick();
  }
  Reception& reception = found->second;
  reception.receiver.on_segment(header, data_of(packet));
  MadBytes mad{};
  while (reception.receiver.next(mad)) send(reception.address, mad);
  if (reception.receiver.state() == RmppState::Failed) {
    ++stats_.transfers_failed;
    receptions_.erase(found);
  } else if (reception.receiver.state() == RmppState::Done && !reception.queued) {
    reception.queued = true;
    if (!enqueue(id.client, {.packet = reception.address, .data = reception.receiver.data()}))
      receptions_.erase(found);
  }
}

bool Server::enqueue(const ClientId& client, Request request) {
  auto found = waiting_.find(client);
  const bool full = found == waiting_.end() ? waiting_.size() >= limits_.clients
                                            : found->second.size() >= limits_.requests_per_client;
  if (full) {
    ++stats_.flooded;
    return false;
  }
  if (found == waiting_.end()) {
    found = waiting_.emplace(client, std::deque<Request>{}).first;
    turns_.push_back(client);
  }
  found->second.push_back(std::move(request));
  ++waiting_count_;
  if (!std::exchange(turn_armed_, true)) arm_turn();
  return true;
}

void Server::arm_turn() {
  turn_ = Timer(runtime_, std::max(runtime_.now(), next_turn_), [this] { serve_turn(); });
}

void Server::serve_turn() {
  const Duration began = wall_ ? wall_() : Duration{0};
  std::size_t cost = 0;
  for (std::size_t i = 0; i < limits_.requests_per_turn && !turns_.empty(); ++i) {
    if (cost >= limits_.cost_per_turn) break;
    const ClientId client = turns_.front();
    turns_.pop_front();
    const auto found = waiting_.find(client);
    const Request request = std::move(found->second.front());
    found->second.pop_front();
    --waiting_count_;
    if (found->second.empty()) {
      waiting_.erase(found);
    } else {
      turns_.push_back(client);
    }
    cost += serve(request);
  }
  const Duration took = wall_ ? wall_() - began : Duration{0};
  if (took > kLongTurn) next_turn_ = runtime_.now() + (1 + kPause) * took;
  turn_armed_ = !turns_.empty();
  if (turn_armed_) arm_turn();
}

/// What it cost.
std::size_t Server::serve(const Request& waiting) {
  const MadPacket& packet = waiting.packet;
  const SaHeader request = *decode_sa_header(packet.mad);
  ++stats_.requests;
  receptions_.erase(TransferId{{packet.remote_lid, packet.remote_qp}, request.mad.transaction_id});
  if (request.mad.class_version != kClassVersion) {
    refuse(packet, request, Status::BadVersion);
    return 1;
  }
  if (!view_) {
    ++stats_.busy;
    refuse(packet, request, Status::Busy);
    return 1;
  }
  const bool trusted = request.sm_key != SmKey{} && request.sm_key == view_->parts().trust_key;
  if (request.sm_key != SmKey{} && !trusted) {
    ++stats_.wrong_key;
    return 1;
  }
  const bool multi = static_cast<Method>(request.mad.method) == Method::GetMulti;
  const std::span<const std::byte> whole =
      is_segment(request) ? std::span<const std::byte>(waiting.data) : data_of(packet);
  const Query query{.header = request,
                    .data = data_of(packet),
                    .trusted = trusted,
                    .client = {packet.remote_lid, packet.remote_qp, packet.sl, packet.pkey_index},
                    .requester = view_->lids().owner_of(packet.remote_lid)};
  Answer answer = multi ? answer_multi(*view_, query, whole, limits_.query) : ask(query);
  const std::size_t cost = answer.cost;
  if (answer.status != Status::Ok) {
    refuse(packet, request, answer.status);
  } else {
    respond(packet, request, std::move(answer));
  }
  return cost;
}

Answer Server::ask(const Query& query) {
  // A keeper may bring about a new view.
  const std::shared_ptr<const SubnetView> view = view_;
  if (!view) return {.status = Status::Busy};
  for (RecordKeeper* keeper : keepers_) {
    if (auto answer = keeper->answer(*view, query)) return std::move(*answer);
  }
  return answer_query(*view, query, limits_.query);
}

void Server::count(const SaHeader& request, Status status) {
  const std::uint16_t attribute = request.mad.attribute_id;
  ++stats_
        .by_attribute[{print_record_id(attribute).empty() ? std::uint16_t{0} : attribute, status}];
}

void Server::refuse(const MadPacket& packet, const SaHeader& request, Status status) {
  ++stats_.refused;
  count(request, status);
  MadBytes mad{};
  encode_sa_header(answer_header(request, status, 0), mad);
  send(packet, mad);
}

void Server::respond(const MadPacket& packet, const SaHeader& request, Answer answer) {
  const SaHeader header = answer_header(request, Status::Ok, answer.offset);
  const auto method = static_cast<Method>(request.mad.method);
  if (method != Method::Get && method != Method::Set && method != Method::Delete)
    return respond_table(packet, header, std::move(answer));
  ++stats_.answered;
  count(request, Status::Ok);
  ++stats_.records;
  MadBytes mad{};
  encode_sa_header(header, mad);
  std::ranges::copy(answer.records, mad.begin() + kHeaderSize);
  send(packet, mad);
}

void Server::respond_table(const MadPacket& packet, const SaHeader& header, Answer answer) {
  const ClientId client{packet.remote_lid, packet.remote_qp};
  const TransferId id{client, header.mad.transaction_id};
  if (transfers_.contains(id)) {
    ++stats_.repeated;
    return;
  }
  if (!transport_.carries_segments()) {
    ++stats_.answered;
    count(header, Status::Ok);
    stats_.records += answer.count();
    MadBytes mad{};
    RmppSender first(header, std::move(answer.records), limits_.rmpp, runtime_.now());
    if (first.next(mad, runtime_.now())) send(packet, mad);
    return;
  }
  if (transfers_.size() >= limits_.transfers ||
      count_of(transfers_, id) >= limits_.transfers_per_client) {
    ++stats_.busy;
    ++stats_.refused;
    count(header, Status::Busy);
    SaHeader busy = header;
    busy.mad.status = static_cast<std::uint16_t>(Status::Busy);
    MadBytes mad{};
    encode_sa_header(busy, mad);
    return send(packet, mad);
  }
  ++stats_.answered;
  count(header, Status::Ok);
  stats_.records += answer.count();
  ++stats_.transfers;
  const auto [at, added] = transfers_.emplace(
      id,
      Transfer{packet,
               RmppSender(header, std::move(answer.records), limits_.rmpp, runtime_.now())});
  advance(at);
  arm_tick();
}

/// Sends what may be sent; a transfer that is over goes.
Server::Transfers::iterator Server::advance(Transfers::iterator transfer) {
  RmppSender& sender = transfer->second.sender;
  const std::uint64_t resent = sender.resent();
  MadBytes mad{};
  while (sender.next(mad, runtime_.now())) send(transfer->second.address, mad);
  stats_.segments_resent += sender.resent() - resent;
  if (sender.state() == RmppState::Running) return ++transfer;
  if (sender.state() == RmppState::Failed) ++stats_.transfers_failed;
  return transfers_.erase(transfer);
}

void Server::tick() {
  tick_armed_ = false;
  const TimePoint now = runtime_.now();
  for (auto each = transfers_.begin(); each != transfers_.end();) {
    if (each->second.sender.deadline() > now) {
      ++each;
    } else {
      each->second.sender.on_timeout(now);
      each = advance(each);
    }
  }
  for (auto each = receptions_.begin(); each != receptions_.end();) {
    Reception& reception = each->second;
    if (reception.queued || reception.receiver.deadline() > now) {
      ++each;
      continue;
    }
    reception.receiver.on_timeout();
    MadBytes mad{};
    while (reception.receiver.next(mad)) send(reception.address, mad);
    ++stats_.transfers_failed;
    each = receptions_.erase(each);
  }
  arm_tick();
}

void Server::arm_tick() {
  if ((transfers_.empty() && receptions_.empty()) || std::exchange(tick_armed_, true)) return;
  tick_ = Timer(runtime_, runtime_.now() + kTick, [this] { tick(); });
}

void Server::send(const MadPacket& to, const MadBytes& mad) {
  MadPacket packet = to;
  packet.local_qp = 1;
  packet.mad = mad;
  // What does not go out is like what gets lost: clients ask again, transfers repeat their window.
  if (!transport_.send(packet)) ++stats_.send_errors;
}

}  // namespace smd::sa
