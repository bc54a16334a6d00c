#include "smd/smp/client_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/smp/messages.h"

namespace smd {
namespace {

using State = PendingRequest::State;

// How soon to try again when the port's send queue is full.
constexpr Duration kBusyPause = std::chrono::milliseconds(1);

// Routes whose silence is known and says nothing about the room on the wire: more than the ports of
// a subnet, so that a crowd of them is not forgotten while it is asked again.
constexpr std::size_t kMaxSilentRoutes = 1u << 16;

SmpClientConfig within_limits(SmpClientConfig config, unsigned most_outstanding) {
  config.window_max = std::clamp(
      config.window_max, 1u, std::clamp(most_outstanding, 1u, unsigned{WireIds::kSlots}));
  config.window_min = std::clamp(config.window_min, 1u, config.window_max);
  config.window_start = std::clamp(config.window_start, config.window_min, config.window_max);
  config.retries = std::min(config.retries, 20u);
  static_assert(WireIds::kMaxAttempt >= 20);
  return config;
}

void count_injection(std::vector<AttributeCount>& counts, const SmpRequest& request) {
  const auto attribute = static_cast<std::uint16_t>(request.attribute);
  auto at = std::ranges::lower_bound(counts, attribute, {}, &AttributeCount::attribute);
  if (at == counts.end() || at->attribute != attribute) {
    at = counts.insert(at, {.attribute = attribute});
  }
  ++(request.method == Method::Set ? at->sets : at->gets);
}

}  // namespace

SmpClient::Impl::Impl(Runtime& r, Transport& t, const SmpClientConfig& c)
    : runtime(r),
      transport(t),
      config(within_limits(c, t.most_outstanding())),
      timeout(config.timeout),
      window(config.window_min, config.window_start, config.window_max),
      pacer(config.max_per_second) {
  transport.set_handlers([this](const MadPacket& packet) { receive(packet); },
                         [this](const Error& error) { on_lost(error); });
}

SmpClient::Impl::~Impl() {
  transport.set_handlers([](const MadPacket&) {}, [](const Error&) {});
}

/// Nothing where no path is known, or it has no room for the hops behind the LID.
std::optional<SmpRoute> SmpClient::Impl::directed(const SmpRoute& route) const {
  std::optional<HopPath> path = find_path(route.lid);
  for (std::size_t i = 0; path && i < route.path.size(); ++i) {
    if (path->full()) return std::nullopt;
    path->push_back(route.path[i]);
  }
  if (!path) return std::nullopt;
  return SmpRoute::directed(*path);
}

void SmpClient::Impl::add(std::uint32_t scope, const SmpRequest& request, Done done) {
  const RequestHandle handle = requests.add(scope, request, std::move(done));
  ++queued;
  if (lost) return fail_later(handle, requests.at(handle.index), *lost);
  if (find_path && request.route.kind != SmpRoute::Kind::Directed) {
    const auto route = directed(request.route);
    if (!route) {
      return fail_later(
          handle,
          requests.at(handle.index),
          Error{Errc::Unreachable,
                fmt::format("{}: no path to that LID is known, and this subnet routes no SMPs by "
                            "LID",
                            print_request(request))});
    }
    requests.at(handle.index).request.route = *route;
  }
  if (waits_for_nobody(requests.at(handle.index).request)) {
    fresh.push_front(handle);
  } else {
    fresh.push_back(handle);
  }
  pump();
}

/// Whether the own cable is out has to be known while all that is on the wire is being lost.
bool SmpClient::Impl::waits_for_nobody(const SmpRequest& request) {
  return request.method == Method::Get && request.route.stays_here();
}

void SmpClient::Impl::cancel(std::uint32_t scope) {
  while (requests.first_of(scope) != nullptr) {
    // Destroyed one by one after its request is gone: what it captured may call back.
    const Done dying = release(requests.index_of_first(scope));
  }
  pump();
}

/// Puts on the wire what the window, the rate and the port take.
void SmpClient::Impl::pump() {
  while (std::deque<RequestHandle>* queue = next_queue()) {
    const TimePoint earliest = std::max(busy_until, pacer.next());
    if (earliest > runtime.now()) return pump_at(earliest);
    const RequestHandle handle = queue->front();
    queue->pop_front();
    if (!inject(handle, *requests.find(handle))) return;
  }
}

/// The queue whose front is to go next, or nullptr when nothing may go.
std::deque<RequestHandle>* SmpClient::Impl::next_queue() {
  for (auto* queue : {&retries, &fresh}) {
    while (!queue->empty()) {
      const PendingRequest* request = requests.find(queue->front());
      if (request != nullptr && request->state != State::Failing) break;
      queue->pop_front();
    }
  }
  if (lost) return nullptr;
  const bool fresh_may_go = !fresh.empty() && !wire_ids.exhausted();
  if (fresh_may_go && waits_for_nobody(requests.find(fresh.front())->request)) return &fresh;
  // What is lost fills the window, and more than that where it was halved: a probe needs no room.
  if (on_wire >= window.size()) return probe_due && !retries.empty() ? &retries : nullptr;
  const bool retries_have_room = retries_on_wire < std::max(1u, window.size() / 2);
  if (!retries.empty() && (retries_have_room || !fresh_may_go)) return &retries;
  return fresh_may_go ? &fresh : nullptr;
}

/// False when the port takes nothing more for now.
bool SmpClient::Impl::inject(RequestHandle handle, PendingRequest& request) {
  if (request.state == State::Queued) request.wire_id = wire_ids.take(handle.index);
  const std::uint32_t id = wire_ids.id(request.wire_id, request.attempt);
  const Result<void> sent = transport.send(
      build_request(port_m_keys == nullptr ? request.request
                                           : port_m_keys->on_wire(request.request, request.attempt),
                    local_lid,
                    id));
  if (!sent) {
    on_send_error(handle, request, sent.error());
    return !lost && busy_until <= runtime.now();
  }
  const TimePoint now = runtime.now();
  busy_since.reset();
  pacer.on_sent(now);
  ++stats.sent;
  count_injection(stats.sent_by_attribute, request.request);
  if (request.attempt == 0) {
    request.first_injected = now;
  } else {
    ++stats.retries;
    ++retries_on_wire;
    probe_due = false;
  }
  --queued;
  ++on_wire;
  request.state = State::OnWire;
  request.injected = now;
  request.busy = false;
  request.burst = static_cast<std::uint16_t>(on_wire);
  if (may_go_early(request)) losses.on_injected(now, id);
  deadlines.push(now, timeout, id);
  if (!expiry_at || now + timeout < *expiry_at) arm_expiry();
  arm_probe();
  return true;
}

void SmpClient::Impl::on_send_error(RequestHandle handle,
                                    PendingRequest& request,
                                    const Error& error) {
  ++stats.send_errors;
  const bool was_fresh = request.state == State::Queued;
  if (was_fresh) wire_ids.give_back(request.wire_id);
  if (error.code == Errc::NoDevice) return on_lost(error);
  const TimePoint now = runtime.now();
  if (error.code == Errc::Busy) {
    if (!busy_since || now - busy_until > timeout) busy_since = now;
    if (now - *busy_since < (config.retries + 1) * timeout) {
      (was_fresh ? fresh : retries).push_front(handle);
      busy_until = now + kBusyPause;
      return pump_at(busy_until);
    }
  }
  const Errc code = error.code == Errc::Busy ? Errc::Io : error.code;
  fail_later(handle,
             request,
             Error{code, fmt::format("{}: {}", print_request(request.request), error.context)});
}

void SmpClient::Impl::pump_at(TimePoint when) {
  if (pump_time && *pump_time <= when) return;
  pump_time = when;
  pump_timer = Timer(runtime, when, [this] {
    pump_time.reset();
    pump();
  });
}

/// The timer is left alone while answers come: it fires for a deadline that no longer counts, and
/// is set to the next that does.
void SmpClient::Impl::arm_expiry() {
  expiry_at = deadlines.next(live());
  if (!expiry_at) return expiry_timer.reset();
  expiry_timer = Timer(runtime, *expiry_at, [this] { on_expiry(); });
}

void SmpClient::Impl::on_expiry() {
  while (const auto id = deadlines.pop_due(runtime.now(), live())) {
    on_silence(wire_ids.find(*id)->request);
  }
  arm_expiry();
  pump();
}

/// The latest attempt of the request got no answer in time.
void SmpClient::Impl::on_silence(std::uint32_t index) {
  PendingRequest& request = requests.at(index);
  if (!request.busy) on_loss(index);
  if (request.attempt < config.retries) {
    leave_wire(request);
    ++queued;
    ++request.attempt;
    request.state = State::Waiting;
    retries.push_back(requests.handle(index));
    return;
  }
  if (request.early > 0) {
    --request.early;
    return deadlines.push(runtime.now(), timeout, wire_ids.id(request.wire_id, request.attempt));
  }
  on_given_up(index);
  fail_later(requests.handle(index),
             request,
             Error{request.garbled && !request.busy ? Errc::Malformed : Errc::Timeout,
                   fmt::format("{}: {} after {} tries",
                               print_request(request.request),
                               request.busy      ? "busy, or no answer,"
                               : request.garbled ? "only malformed answers"
                                                 : "no answer",
                               config.retries + 1)});
}

/// Only a route that answered before speaks of a full wire; the others speak of a node that is
/// gone, and must not slow down the rest.
void SmpClient::Impl::on_loss(std::uint32_t index) {
  const PendingRequest& request = requests.at(index);
  const SmpRoute& route = request.request.route;
  if (silent_routes.contains(route)) return;
  const unsigned burst = std::max(unsigned{request.burst}, static_cast<unsigned>(on_wire));
  const SmpWindow before = suspect_loss ? suspect_loss->before : window;
  if (window.on_loss(request.injected, runtime.now(), burst)) {
    suspect_loss = {.request = index, .before = before, .answered = stats.answered};
  }
  if (silent_routes.size() == kMaxSilentRoutes) silent_routes.clear();
  silent_routes.try_emplace(route);
}

/// While others answer, who hears no attempt, the later ones in less of a crowd, is gone: the
/// window learned from nothing. Where nobody answers, or nothing was asked again, it is not known.
void SmpClient::Impl::on_given_up(std::uint32_t index) {
  const auto silent = silent_routes.find(requests.at(index).request.route);
  const bool was_given_up =
      silent != silent_routes.end() && std::exchange(silent->second.given_up, true);
  ++(was_given_up ? stats.silent_timeouts : stats.timeouts);
  if (!suspect_loss || suspect_loss->request != index) return;
  if (requests.at(index).attempt > 0 && stats.answered > suspect_loss->answered)
    window.take_back(suspect_loss->before);
  suspect_loss.reset();
}

/// The last retry keeps its distance: what lost the others may pass in the meantime.
bool SmpClient::Impl::may_go_early(const PendingRequest& request) const {
  return request.attempt + 1u < config.retries;
}

void SmpClient::Impl::retry_overtaken() {
  while (const auto id = losses.pop_overtaken(unheard())) {
    const std::uint32_t index = wire_ids.find(*id)->request;
    on_loss(index);
    retry_early(index);
  }
}

void SmpClient::Impl::retry_early(std::uint32_t index) {
  PendingRequest& request = requests.at(index);
  leave_wire(request);
  ++queued;
  ++request.attempt;
  ++request.early;
  request.state = State::Waiting;
  retries.push_back(requests.handle(index));
}

/// Like the expiry timer, left alone while answers come.
void SmpClient::Impl::arm_probe() {
  if (probe_armed) return;
  const auto when = losses.probe_at(unheard());
  if (!when) return;
  probe_armed = true;
  probe_timer = Timer(runtime, *when, [this] {
    probe_armed = false;
    on_probe();
  });
}

void SmpClient::Impl::on_probe() {
  const auto when = losses.probe_at(unheard());
  if (when && *when <= runtime.now()) {
    probe_due = true;
    retry_early(wire_ids.find(losses.pop_probe())->request);
    pump();
  }
  arm_probe();
}

/// True while a request is on the wire under exactly this id.
bool SmpClient::Impl::is_live(std::uint32_t id) {
  const auto match = wire_ids.find(id);
  if (!match) return false;
  const PendingRequest& request = requests.at(match->request);
  return request.state == State::OnWire && request.attempt == match->attempt;
}

void SmpClient::Impl::receive(const MadPacket& packet) {
  const Result<Smp> smp = decode_smp(packet.mad);
  if (!smp) {
    ++stats.malformed;
  } else if (smp->method == Method::GetResp) {
    on_answer(*smp, packet.remote_lid);
  } else {
    ++stats.unsolicited;
    if (unsolicited) unsolicited(*smp, packet);
  }
}

/// Some drivers give no source for what our own port sends to itself.
bool SmpClient::Impl::may_come_from(const SmpRoute& asked, Lid from) const {
  return asked.kind != SmpRoute::Kind::LidRouted || from == asked.lid ||
         (asked.lid == local_lid && !is_unicast(from)) || (same_port && same_port(asked.lid, from));
}

void SmpClient::Impl::on_answer(const Smp& smp, Lid from) {
  const auto match = wire_ids.find(static_cast<std::uint32_t>(smp.transaction_id));
  if (!match || match->attempt > requests.at(match->request).attempt) {
    ++stats.late;
    return;
  }
  PendingRequest& request = requests.at(match->request);
  if (!may_come_from(request.request.route, from)) {
    ++stats.unsolicited;
    return;
  }
  if (find_mismatch(request.request, smp) != nullptr) {
    ++stats.malformed;
    request.garbled = true;
    return;
  }
  ++stats.answered;
  if (smp.status != 0) ++stats.refused;
  const bool in_time = request.state == State::OnWire && match->attempt == request.attempt;
  // Discarded, to be asked again (IBA 13.4.7): as if nothing had come, but that nothing was lost.
  if ((smp.status & static_cast<std::uint16_t>(MadStatus::Busy)) != 0) {
    if (!silent_routes.empty()) silent_routes.erase(request.request.route);
    if (in_time) request.busy = true;
    return;
  }
  if (in_time && on_wire >= window.size()) window.on_answer();
  if (!silent_routes.empty()) silent_routes.erase(request.request.route);
  SmpReply reply{
      .status = smp.status,
      .data = smp.data,
      .return_path = smp.return_path,
      .round_trip = runtime.now() - (in_time ? request.injected : request.first_injected)};
  if (in_time) {
    losses.on_answer(request.injected, runtime.now());
  } else if (match->attempt == 0) {
    losses.on_answer(request.first_injected, runtime.now());
  }
  if (port_m_keys != nullptr) port_m_keys->take_in(request.request, match->attempt, reply);
  const Done done = release(match->request);
  retry_overtaken();
  pump();
  arm_probe();
  done(reply);
}

/// The port is gone: every request ends, those added later included.
void SmpClient::Impl::on_lost(const Error& error) {
  if (lost) return;
  lost = Error{Errc::NoDevice, error.context};
  for (const RequestHandle handle : requests.all()) {
    PendingRequest& request = requests.at(handle.index);
    if (request.state != State::Failing) fail_later(handle, request, *lost);
  }
  deliver_soon();
}

void SmpClient::Impl::leave_wire(PendingRequest& request) {
  --on_wire;
  if (request.attempt > 0) --retries_on_wire;
}

SmpClient::Done SmpClient::Impl::release(std::uint32_t index) {
  PendingRequest& request = requests.at(index);
  if (suspect_loss && suspect_loss->request == index) suspect_loss.reset();
  if (request.state == State::OnWire) {
    leave_wire(request);
  } else {
    --queued;
  }
  if (request.state == State::OnWire || request.state == State::Waiting) {
    wire_ids.give_back(request.wire_id);
  }
  return requests.remove(index);
}

void SmpClient::Impl::fail_later(RequestHandle handle, PendingRequest& request, Error error) {
  if (request.state == State::OnWire) {
    leave_wire(request);
    ++queued;
  }
  if (request.state == State::OnWire || request.state == State::Waiting) {
    wire_ids.give_back(request.wire_id);
  }
  request.state = State::Failing;
  failures.push_back({handle, std::move(error)});
  if (failures.size() == 1) deliver_soon();
}

void SmpClient::Impl::deliver_soon() {
  failure_timer = Timer(runtime, runtime.now(), [this] { deliver_failure(); });
}

/// One handler per task, so that each may cancel the others.
void SmpClient::Impl::deliver_failure() {
  while (!failures.empty()) {
    const Failure failure = std::move(failures.front());
    failures.pop_front();
    if (requests.find(failure.request) == nullptr) continue;
    if (!failures.empty() || lost) deliver_soon();
    const Done done = release(failure.request.index);
    return done(tl::unexpected(failure.error));
  }
  if (lost && lost_handler) {
    const Error error = *lost;
    const auto handler = std::exchange(lost_handler, nullptr);
    handler(error);
  }
}

}  // namespace smd
