#include "smd/sa/server.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"
#include "smd/sa/path_choice.h"

namespace smd::sa {
namespace {

/// A turn that took longer is followed by a pause of so many times as long.
constexpr Duration kLongTurn = std::chrono::milliseconds(1);
constexpr int kPause = 3;

/// How often transfers are looked at for silence.
constexpr Duration kTick = std::chrono::milliseconds(100);

/// Of all transfers whose receivers opened wide windows one goes on each time, so that such windows
/// cost the loop a bounded part of its time, whoever opens them.
constexpr Duration kBetweenPieces = std::chrono::milliseconds(1);

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

bool is_segment(const SaHeader& header) {
  return header.rmpp.active() && static_cast<Method>(header.mad.method) == Method::GetMulti;
}

/// Clients ask again after as long.
constexpr Duration kLongestForView = std::chrono::seconds(1);
constexpr Duration kLongestForTables = std::chrono::seconds(60);

constexpr Duration kPaceWindow = std::chrono::milliseconds(100);

/// Ports whose pace is remembered although they asked nothing lately.
constexpr std::size_t kMostPaces = 4096;

/// That a port is at a limit is said so seldom.
constexpr Duration kBetweenLimits = std::chrono::seconds(60);

/// Ports and attributes for which it is remembered when it was said.
constexpr std::size_t kMostSaid = 4096;

}  // namespace

Server::Server(Runtime& runtime, Transport& transport, ServerLimits limits)
    : runtime_(runtime), transport_(transport), limits_(limits) {
  transport_.set_handlers([this](const MadPacket& packet) { receive(packet); },
                          [](const Error&) {});
}

Server::~Server() {
  transport_.set_responder({});
  paths_->adopt(nullptr);
  transport_.set_handlers([](const MadPacket&) {}, [](const Error&) {});
}

void Server::set_limits(const ServerLimits& limits) {
  limits_ = limits;
  decide_off_loop();
}

void Server::adopt(std::shared_ptr<const SubnetView> view) {
  view_ = std::move(view);
  decide_off_loop();
  resume([this](const PendingRequest& each) { return !view_ || each.what == PendingCause::View; });
}

/// Where paths are given out in turn or by contention, and where ports are held to a pace, each
/// question changes what the loop keeps.
void Server::decide_off_loop() {
  const bool off_loop = view_ && limits_.requests_of_one_port_in_100ms == 0 &&
                        (view_->parts().path_order == nullptr ||
                         view_->parts().path_order->choice() == PathChoice::Offset);
  paths_->adopt(off_loop ? view_ : nullptr);
  if (std::exchange(answers_off_loop_, off_loop) == off_loop) return;
  transport_.set_responder(off_loop
                               ? Transport::Responder{PathResponder::may_answer,
                                                      [paths = paths_](const MadPacket& packet) {
                                                        return paths->answer(packet);
                                                      }}
                               : Transport::Responder{});
}

ServerStats Server::stats() const {
  ServerStats stats = stats_;
  const std::uint64_t beside = paths_->answered();
  stats.requests += beside;
  stats.answered += beside;
  stats.records += beside;
  stats.send_errors += transport_.receive_stats().answers_not_sent;
  if (beside != 0)
    stats.by_attribute[{static_cast<std::uint16_t>(RecordId::PathRecord), Status::Ok}] += beside;
  return stats;
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
  // Of a request in segments the first one counts.
  if (!receptions_.contains(transfer) && comes_too_fast(packet.remote_lid)) {
    ++stats_.too_fast;
    return;
  }
  if (is_segment(header)) return on_segment(transfer, header, packet);
  enqueue({.packet = packet});
}

/// The first LID of the port, whichever it asks from; where nobody is known to have it, itself.
Lid Server::port_of(Lid lid) const {
  const PortIdx port = view_ ? view_->lids().owner_of(lid) : kNone<PortIdx>;
  return port == kNone<PortIdx> ? lid : view_->lids().base[port];
}

Server::Use Server::use_of(Lid port) const {
  const auto found = uses_.find(port);
  return found == uses_.end() ? Use{} : found->second;
}

template <class Change>
void Server::change_use(Lid port, Change change) {
  const auto use = uses_.try_emplace(port).first;
  change(use->second);
  if (use->second == Use{}) uses_.erase(use);
}

bool Server::has_room_for_transfer(Lid port, std::size_t bytes) const {
  const Use own = use_of(port);
  if (own.transfers >= limits_.transfers_of_one_port || transfers_.size() >= limits_.transfers)
    return false;
  const bool first = own.transfers == 0;
  return (first || own.transfer_bytes + bytes <= limits_.transfer_bytes_of_one_port) &&
         (transfers_.empty() || transfer_bytes_ + bytes <= limits_.transfer_bytes);
}

Server::Receptions::iterator Server::forget(Receptions::iterator reception) {
  change_use(reception->second.port, [](Use& use) { --use.half_open; });
  return receptions_.erase(reception);
}

void Server::on_control(const TransferId& id, const SaHeader& header) {
  const bool ends = header.rmpp.type != static_cast<std::uint8_t>(RmppType::Ack);
  if (const auto coming = receptions_.find(id); coming != receptions_.end()) {
    if (ends) forget(coming);
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
    const Lid port = port_of(id.client.lid);
    if (receptions_.size() >= limits_.half_open ||
        use_of(port).half_open >= limits_.half_open_of_one_port) {
      ++stats_.busy;
      SaHeader back = header;
      back.mad.method ^= kResponseBit;
      return send(packet, make_rmpp_end(back, RmppStatus::NoResources));
    }
    found = receptions_
                .emplace(id,
                         Reception{
                             port,
                             packet,
                             RmppReceiver(header, limits_.receiving, limits_.rmpp, runtime_.now())})
                .first;
    change_use(port, [](Use& use) { ++use.half_open; });
    arm_tick();
  }
  Reception& reception = found->second;
  reception.receiver.on_segment(header, data_of(packet));
  MadBytes mad{};
  while (reception.receiver.next(mad)) send(reception.address, mad);
  if (reception.receiver.state() == RmppState::Failed) {
    ++stats_.transfers_failed;
    forget(found);
  } else if (reception.receiver.state() == RmppState::Done && !reception.queued) {
    reception.queued = true;
    if (!enqueue({.packet = reception.address, .data = reception.receiver.data()})) forget(found);
  }
}

bool Server::comes_too_fast(Lid lid) {
  const std::size_t most = limits_.requests_of_one_port_in_100ms;
  if (most == 0) return false;
  const TimePoint now = runtime_.now();
  const Lid port = port_of(lid);
  if (paces_.size() >= kMostPaces && !paces_.contains(port))
    std::erase_if(paces_, [&](const auto& each) { return each.second.since + kPaceWindow <= now; });
  Pace& pace = paces_.try_emplace(port, Pace{.since = now}).first->second;
  if (pace.since + kPaceWindow <= now) pace = {.since = now};
  return ++pace.requests > most;
}

bool Server::enqueue(Request request) {
  const Lid port = port_of(request.packet.remote_lid);
  auto found = waiting_.find(port);
  const std::size_t own =
      use_of(port).parked + (found == waiting_.end() ? 0 : found->second.size());
  if (waiting_count_ + parked_.size() >= limits_.requests || own >= limits_.requests_of_one_port) {
    ++stats_.flooded;
    return false;
  }
  if (found == waiting_.end()) {
    found = waiting_.emplace(port, std::deque<Request>{}).first;
    turns_.push_back(port);
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
    const Lid port = turns_.front();
    turns_.pop_front();
    const auto found = waiting_.find(port);
    const Request request = std::move(found->second.front());
    found->second.pop_front();
    --waiting_count_;
    if (found->second.empty()) {
      waiting_.erase(found);
    } else {
      turns_.push_back(port);
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
  if (const auto whole = receptions_.find(
          TransferId{{packet.remote_lid, packet.remote_qp}, request.mad.transaction_id});
      whole != receptions_.end())
    forget(whole);
  if (request.mad.class_version != kClassVersion) {
    refuse(packet, request, Status::BadVersion);
    return 1;
  }
  if (!view_) {
    park_or_drop(waiting);
    return 1;
  }
  if (waiting.answer) {
    respond(packet, request, *waiting.answer);
    return 1;
  }
  const bool trusted = request.sm_key != SmKey{} && request.sm_key == view_->parts().trust_key;
  if (request.sm_key != SmKey{} && !trusted) {
    ++stats_.wrong_key;
    return 1;
  }
  const std::shared_ptr<const SubnetView> asked = view_;  // there may be another one afterwards
  const bool multi = static_cast<Method>(request.mad.method) == Method::GetMulti;
  const std::span<const std::byte> whole =
      is_segment(request) ? std::span<const std::byte>(waiting.data) : data_of(packet);
  const Query query{.header = request,
                    .data = data_of(packet),
                    .trusted = trusted,
                    .client = client_of(packet),
                    .requester = view_->lids().owner_of(packet.remote_lid),
                    .may_wait = may_wait(waiting, PendingCause::Tables)};
  Answer answer = multi ? answer_multi(*view_, query, whole, limits_.query) : ask(query);
  const std::size_t cost = answer.cost;
  if (answer.waits) {
    park(waiting, PendingCause::Tables);
  } else if (answer.status == Status::Busy ||
             (answer.status != Status::Ok && is_stranger(*view_, query) &&
              (waiting.parked_at || expects_view()))) {
    park_or_drop(waiting);
  } else if (answer.status != Status::Ok) {
    if (answer.status == Status::NoResources) say_limit(query);
    refuse(packet, request, answer.status);
  } else if (answer.awaits_view && view_ == asked) {
    Request done = waiting;
    done.answer = std::move(answer);
    park(done, PendingCause::View);
  } else {
    respond(packet, request, std::move(answer));
  }
  return cost;
}

bool Server::expects_view() const { return expects_view_ && expects_view_(); }

bool Server::may_wait(const Request& request, PendingCause what) const {
  const Duration longest = what == PendingCause::View ? kLongestForView : kLongestForTables;
  return !request.parked_at || runtime_.now() < *request.parked_at + longest;
}

/// A request that is repeated meanwhile is the same.
void Server::park(const Request& request, PendingCause what) {
  const MadPacket& packet = request.packet;
  const TransferId id{{packet.remote_lid, packet.remote_qp},
                      decode_sa_header(packet.mad)->mad.transaction_id};
  if (!parked_ids_.insert(id).second) {
    ++stats_.repeated;
    return;
  }
  const Lid port = port_of(packet.remote_lid);
  change_use(port, [](Use& use) { ++use.parked; });
  parked_.push_back({port, id, what, request});
  if (!request.parked_at) parked_.back().request.parked_at = runtime_.now();
  --stats_.requests;  // counted when it is answered
  arm_tick();
}

/// Nothing that there is could answer it.
void Server::park_or_drop(const Request& request) {
  if (expects_view() && may_wait(request, PendingCause::View))
    return park(request, PendingCause::View);
  ++stats_.busy;
}

/// They are answered again.
template <class Predicate>
void Server::resume(Predicate is_due) {
  std::deque<PendingRequest> stay;
  for (PendingRequest& each : std::exchange(parked_, {})) {
    if (!is_due(std::as_const(each))) {
      stay.push_back(std::move(each));
      continue;
    }
    parked_ids_.erase(each.id);
    change_use(each.port, [](Use& use) { --use.parked; });
    enqueue(std::move(each.request));
  }
  parked_ = std::move(stay);
}

void Server::go_on() {
  resume([](const PendingRequest& each) { return each.what == PendingCause::Tables; });
}

Answer Server::ask(const Query& query) {
  // A manager may bring about a new view.
  const std::shared_ptr<const SubnetView> view = view_;
  if (!view) return {.status = Status::Busy};
  if (limits_.own_gids_only && !query.trusted && speaks_for_another(*view, query)) {
    ++stats_.foreign;
    return {.status = Status::Denied};
  }
  for (RecordManager* manager : keepers_) {
    if (auto answer = manager->answer(*view, query)) return std::move(*answer);
  }
  return answer_query(*view, query, limits_.query);
}

void Server::count(const SaHeader& request, Status status) {
  const std::uint16_t attribute = request.mad.attribute_id;
  ++stats_
        .by_attribute[{print_record_id(attribute).empty() ? std::uint16_t{0} : attribute, status}];
}

/// A port would have us keep more than a limit allows. Without this nobody would know whose fault
/// it is that something is full.
void Server::say_limit(const Query& query) {
  if (static_cast<Method>(query.header.mad.method) != Method::Set) return;
  const std::uint16_t attribute = query.header.mad.attribute_id;
  if (said_.size() >= kMostSaid)
    std::erase_if(said_, [this](const auto& each) { return each.second <= runtime_.now(); });
  const auto said = said_.find({port_of(query.client.lid), attribute});
  if (said != said_.end() && said->second > runtime_.now()) return;
  if (said == said_.end() && said_.size() >= kMostSaid) return;
  said_[{port_of(query.client.lid), attribute}] = runtime_.now() + kBetweenLimits;
  const Guid port =
      query.requester == kNone<PortIdx> ? Guid{} : view_->fabric().port_guid[query.requester];
  log::warn("sa.limit",
            "port={} lid={} attribute={}; refused: it, or all ports together, may keep no more",
            port,
            query.client.lid,
            print_record_id(attribute));
}

void Server::refuse(const MadPacket& packet, const SaHeader& request, Status status) {
  ++stats_.refused;
  count(request, status);
  send(make_answer(packet, request, {.status = status}));
}

void Server::respond(const MadPacket& packet, const SaHeader& request, Answer answer) {
  const auto method = static_cast<Method>(request.mad.method);
  if (method != Method::Get && method != Method::Set && method != Method::Delete) {
    const SaHeader header = answer_header(request, Status::Ok, answer.offset);
    return respond_table(packet, header, std::move(answer));
  }
  ++stats_.answered;
  count(request, Status::Ok);
  ++stats_.records;
  send(make_answer(packet, request, answer));
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
  const Lid port = port_of(client.lid);
  const std::size_t bytes = answer.records.size();
  if (!has_room_for_transfer(port, bytes)) {
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
      Transfer{port,
               bytes,
               packet,
               RmppSender(header, std::move(answer.records), limits_.rmpp, runtime_.now())});
  transfer_bytes_ += bytes;
  change_use(port, [bytes](Use& use) {
    ++use.transfers;
    use.transfer_bytes += bytes;
  });
  advance(at);
  arm_tick();
}

/// Sends what may be sent now; a transfer that is over goes.
Server::Transfers::iterator Server::advance(Transfers::iterator transfer) {
  RmppSender& sender = transfer->second.sender;
  const std::uint64_t resent = sender.resent();
  MadBytes mad{};
  while (sender.next(mad, runtime_.now())) send(transfer->second.address, mad);
  stats_.segments_resent += sender.resent() - resent;
  if (sender.state() == RmppState::Running) {
    if (sender.has_more() && !std::exchange(transfer->second.goes_on, true)) {
      going_on_.push_back(transfer->first);
      arm_more();
    }
    return ++transfer;
  }
  if (sender.state() == RmppState::Failed) ++stats_.transfers_failed;
  const std::size_t bytes = transfer->second.bytes;
  transfer_bytes_ -= bytes;
  change_use(transfer->second.port, [bytes](Use& use) {
    --use.transfers;
    use.transfer_bytes -= bytes;
  });
  return transfers_.erase(transfer);
}

void Server::send_more() {
  more_armed_ = false;
  while (!going_on_.empty()) {
    const auto transfer = transfers_.find(going_on_.front());
    going_on_.pop_front();
    if (transfer == transfers_.end() || !std::exchange(transfer->second.goes_on, false)) continue;
    transfer->second.sender.go_on();
    advance(transfer);
    break;
  }
  arm_more();
}

void Server::arm_more() {
  if (going_on_.empty() || std::exchange(more_armed_, true)) return;
  more_ = Timer(runtime_, runtime_.now() + kBetweenPieces, [this] { send_more(); });
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
    each = forget(each);
  }
  resume([this](const PendingRequest& each) { return !may_wait(each.request, each.what); });
  arm_tick();
}

void Server::arm_tick() {
  const bool is_idle = transfers_.empty() && receptions_.empty() && parked_.empty();
  if (is_idle || std::exchange(tick_armed_, true)) return;
  tick_ = Timer(runtime_, runtime_.now() + kTick, [this] { tick(); });
}

void Server::send(const MadPacket& to, const MadBytes& mad) {
  MadPacket packet = to;
  packet.local_qp = 1;
  packet.mad = mad;
  send(std::move(packet));
}

/// `packet` has the SL of the request.
void Server::send(MadPacket packet) {
  if (view_) packet.sl = view_->sl_to(packet.remote_lid, packet.sl);
  // What does not go out is like what gets lost: clients ask again, transfers repeat their window.
  if (!transport_.send(packet)) ++stats_.send_errors;
}

}  // namespace smd::sa
