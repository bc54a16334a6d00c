#include "smd/smp/smp_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "smd/smp/deadlines.h"
#include "smd/smp/pacer.h"
#include "smd/smp/request.h"
#include "smd/smp/request_table.h"
#include "smd/smp/window.h"
#include "smd/smp/wire_ids.h"

namespace smd {
namespace {

using State = PendingRequest::State;

// How soon to try again when the port's send queue is full.
constexpr Duration kBusyPause = std::chrono::milliseconds(1);

// Routes whose silence is known and says nothing about the room on the wire.
constexpr std::size_t kMaxSilentRoutes = 64;

SmpClientConfig within_limits(SmpClientConfig config) {
  config.window_max = std::clamp(config.window_max, 1u, unsigned{WireIds::kSlots});
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

// Every path ends in at most one call of a handler, as its very last act: the handler may destroy
// its scope, and after a loss the client.
struct SmpClient::Impl {
  struct Failure {
    RequestHandle request;
    Error error;
  };

  Impl(Runtime& r, Transport& t, const SmpClientConfig& c);
  ~Impl();

  void add(std::uint32_t scope, const SmpRequest& request, Done done);
  void cancel(std::uint32_t scope);

  void pump();
  [[nodiscard]] std::deque<RequestHandle>* next_queue();
  bool inject(RequestHandle handle, PendingRequest& request);
  void on_send_error(RequestHandle handle, PendingRequest& request, const Error& error);
  void pump_at(TimePoint when);

  void arm_expiry();
  void on_expiry();
  void on_silence(std::uint32_t index);
  [[nodiscard]] bool is_live(std::uint32_t id);

  void receive(const MadPacket& packet);
  void on_answer(const Smp& smp);
  void on_lost(const Error& error);

  void leave_wire(PendingRequest& request);
  [[nodiscard]] Done release(std::uint32_t index);
  void fail_later(RequestHandle handle, PendingRequest& request, Error error);
  void deliver_soon();
  void deliver_failure();

  Runtime& runtime;
  Transport& transport;
  SmpClientConfig config;
  Unsolicited unsolicited;
  std::function<void(const Error&)> lost_handler;
  Lid local_lid = kPermissiveLid;
  Duration timeout;
  SmpStats stats;

  RequestTable requests;
  WireIds wire_ids;
  SmpWindow window;
  Pacer pacer;
  std::deque<RequestHandle> fresh;
  std::deque<RequestHandle> retries;  // in State::Waiting
  std::size_t queued = 0;             // requests alive in the two queues
  std::size_t on_wire = 0;
  std::size_t retries_on_wire = 0;
  std::deque<SmpRoute> silent_routes;

  Deadlines deadlines;
  std::optional<TimePoint> expiry_at;
  Timer expiry_timer;
  std::optional<TimePoint> pump_time;
  Timer pump_timer;
  TimePoint busy_until;
  std::optional<TimePoint> busy_since;

  std::deque<Failure> failures;
  Timer failure_timer;
  std::optional<Error> lost;
};

SmpClient::Impl::Impl(Runtime& r, Transport& t, const SmpClientConfig& c)
    : runtime(r),
      transport(t),
      config(within_limits(c)),
      timeout(config.timeout),
      window(config.window_min, config.window_start, config.window_max),
      pacer(config.max_per_second) {
  transport.set_handlers([this](const MadPacket& packet) { receive(packet); },
                         [this](const Error& error) { on_lost(error); });
}

SmpClient::Impl::~Impl() {
  transport.set_handlers([](const MadPacket&) {}, [](const Error&) {});
}

void SmpClient::Impl::add(std::uint32_t scope, const SmpRequest& request, Done done) {
  const RequestHandle handle = requests.add(scope, request, std::move(done));
  ++queued;
  if (lost) return fail_later(handle, requests.at(handle.index), *lost);
  fresh.push_back(handle);
  pump();
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
  if (lost || on_wire >= window.size()) return nullptr;
  const bool fresh_may_go = !fresh.empty() && !wire_ids.exhausted();
  const bool retries_have_room = retries_on_wire < std::max(1u, window.size() / 2);
  if (!retries.empty() && (retries_have_room || !fresh_may_go)) return &retries;
  return fresh_may_go ? &fresh : nullptr;
}

/// False when the port takes nothing more for now.
bool SmpClient::Impl::inject(RequestHandle handle, PendingRequest& request) {
  if (request.state == State::Queued) request.wire_id = wire_ids.take(handle.index);
  const std::uint32_t id = wire_ids.id(request.wire_id, request.attempt);
  const Result<void> sent = transport.send(build_request(request.request, local_lid, id));
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
  }
  --queued;
  ++on_wire;
  request.state = State::OnWire;
  request.injected = now;
  deadlines.push(now, timeout, id);
  if (!expiry_at || now + timeout < *expiry_at) arm_expiry();
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
  expiry_at = deadlines.next([this](std::uint32_t id) { return is_live(id); });
  if (!expiry_at) return expiry_timer.reset();
  expiry_timer = Timer(runtime, *expiry_at, [this] { on_expiry(); });
}

void SmpClient::Impl::on_expiry() {
  const auto live = [this](std::uint32_t id) { return is_live(id); };
  while (const auto id = deadlines.pop_due(runtime.now(), live)) {
    on_silence(wire_ids.find(*id)->request);
  }
  arm_expiry();
  pump();
}

/// The latest attempt of the request got no answer in time.
void SmpClient::Impl::on_silence(std::uint32_t index) {
  PendingRequest& request = requests.at(index);
  // Only a first attempt over a route that answered before speaks of a full wire; the others speak
  // of a node that is gone, and must not slow down the rest.
  const SmpRoute& route = request.request.route;
  if (std::ranges::find(silent_routes, route) == silent_routes.end()) {
    window.on_loss(request.injected, runtime.now());
    silent_routes.push_back(route);
    if (silent_routes.size() > kMaxSilentRoutes) silent_routes.pop_front();
  }
  if (request.attempt < config.retries) {
    leave_wire(request);
    ++queued;
    ++request.attempt;
    request.state = State::Waiting;
    retries.push_back(requests.handle(index));
    return;
  }
  ++stats.timeouts;
  fail_later(requests.handle(index),
             request,
             Error{request.garbled ? Errc::Malformed : Errc::Timeout,
                   fmt::format("{}: {} after {} tries",
                               print_request(request.request),
                               request.garbled ? "only malformed answers" : "no answer",
                               config.retries + 1)});
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
    on_answer(*smp);
  } else {
    ++stats.unsolicited;
    if (unsolicited) unsolicited(*smp, packet);
  }
}

void SmpClient::Impl::on_answer(const Smp& smp) {
  const auto match = wire_ids.find(static_cast<std::uint32_t>(smp.transaction_id));
  if (!match || match->attempt > requests.at(match->request).attempt) {
    ++stats.late;
    return;
  }
  PendingRequest& request = requests.at(match->request);
  if (find_mismatch(request.request, smp) != nullptr) {
    ++stats.malformed;
    request.garbled = true;
    return;
  }
  ++stats.answered;
  if (smp.status != 0) ++stats.refused;
  const bool in_time = request.state == State::OnWire && match->attempt == request.attempt;
  if (in_time && on_wire >= window.size()) window.on_answer();
  if (!silent_routes.empty()) std::erase(silent_routes, request.request.route);
  const SmpReply reply{
      .status = smp.status,
      .data = smp.data,
      .return_path = smp.return_path,
      .round_trip = runtime.now() - (in_time ? request.injected : request.first_injected)};
  const Done done = release(match->request);
  pump();
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

SmpClient::SmpClient(Runtime& runtime, Transport& transport, SmpClientConfig config)
    : impl_(std::make_unique<Impl>(runtime, transport, config)) {}

SmpClient::~SmpClient() = default;

void SmpClient::set_timeout(Duration timeout) {
  impl_->timeout = std::max(timeout, Duration{std::chrono::microseconds(1)});
}

void SmpClient::set_local_lid(Lid lid) { impl_->local_lid = lid; }

void SmpClient::on_unsolicited(Unsolicited handler) { impl_->unsolicited = std::move(handler); }

void SmpClient::on_lost(std::function<void(const Error&)> handler) {
  impl_->lost_handler = std::move(handler);
  if (impl_->lost) impl_->deliver_soon();
}

Result<void> SmpClient::send_once(const MadPacket& packet) {
  if (impl_->lost) return tl::unexpected(*impl_->lost);
  return impl_->transport.send(packet);
}

const SmpStats& SmpClient::stats() const { return impl_->stats; }

unsigned SmpClient::window() const { return impl_->window.size(); }

std::size_t SmpClient::outstanding() const { return impl_->on_wire; }

std::size_t SmpClient::queued() const { return impl_->queued; }

SmpScope::SmpScope(SmpClient& client) : client_(client), id_(client.impl_->requests.open_scope()) {}

SmpScope::~SmpScope() {
  client_.impl_->cancel(id_);
  client_.impl_->requests.close_scope(id_);
}

void SmpScope::send(const SmpRequest& request, SmpClient::Done done) {
  client_.impl_->add(id_, request, std::move(done));
}

void SmpScope::cancel_all() { client_.impl_->cancel(id_); }

std::size_t SmpScope::pending() const { return client_.impl_->requests.count_of(id_); }

}  // namespace smd
