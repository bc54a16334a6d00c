#include "smd/transport/receive_queue.h"

#include <optional>
#include <utility>
#include <vector>

#include "smd/base/log.h"
#include "smd/mad/header.h"

namespace smd {
namespace {

constexpr Duration kBetweenLines = std::chrono::seconds(10);

/// Not due in the turn that asks for it: sockets are served before.
constexpr Duration kNextTurn{1};

constexpr std::size_t index_of(MadKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

MadKind kind_of(const MadBytes& mad) {
  const auto method = static_cast<Method>(mad[3]);
  if ((static_cast<std::uint8_t>(method) & kResponseBit) != 0) return MadKind::Answer;
  if (method == Method::Trap) return MadKind::Trap;
  const auto mgmt_class = static_cast<MgmtClass>(mad[1]);
  const bool managers =
      (mgmt_class == MgmtClass::SubnLid || mgmt_class == MgmtClass::SubnDirected) &&
      (std::to_integer<unsigned>(mad[16]) << 8 | std::to_integer<unsigned>(mad[17])) ==
          static_cast<unsigned>(AttributeId::SmInfo);
  return managers ? MadKind::Manager : MadKind::Request;
}

bool WaitingMads::add(const MadPacket& packet, const ReceiveLimits& limits) {
  std::size_t& same = by_source_[packet.remote_lid];
  if (waiting_.size() >= limits.waiting || same >= limits.of_one_source) {
    if (same == 0) by_source_.erase(packet.remote_lid);
    return false;
  }
  ++same;
  waiting_.push_back(packet);
  return true;
}

void WaitingMads::take(std::size_t most, std::vector<MadPacket>& out) {
  for (std::size_t i = 0; i < most && !waiting_.empty(); ++i) {
    const auto source = by_source_.find(waiting_.front().remote_lid);
    if (--source->second == 0) by_source_.erase(source);
    out.push_back(waiting_.front());
    waiting_.pop_front();
  }
}

void RequestQueue::put(std::span<const MadPacket> packets, std::vector<MadPacket>& rest) {
  {
    const std::lock_guard lock(mutex_);
    for (const MadPacket& packet : packets) {
      if (!waiting_.add(packet, limits_)) rest.push_back(packet);
    }
  }
  wake_.notify_one();
}

bool RequestQueue::take(std::size_t most,
                        std::vector<MadPacket>& out,
                        const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, stop, [this] { return !waiting_.empty(); });
  if (stop.stop_requested()) return false;
  waiting_.take(most, out);
  return true;
}

struct ReceiveQueue::State : std::enable_shared_from_this<State> {
  State(Runtime& r, const Limits& l) : runtime(r), limits(l) {}

  /// True where the loop is to be woken.
  bool add(std::span<const MadPacket> packets) {
    const std::lock_guard lock(mutex);
    for (const MadPacket& packet : packets) {
      const std::size_t kind = index_of(kind_of(packet.mad));
      if (!queues[kind].add(packet, limits[kind])) ++stats.dropped[kind];
    }
    return !std::exchange(wake_posted, true);
  }

  /// What is handed over in one turn. Where nothing is left, the next add() wakes the loop again.
  void take(std::vector<MadPacket>& out) {
    const std::lock_guard lock(mutex);
    bool more = false;
    for (std::size_t kind = 0; kind < kMadKinds; ++kind) {
      queues[kind].take(limits[kind].per_turn, out);
      more = more || !queues[kind].empty();
    }
    wake_posted = more;
    left = more;
  }

  void turn() {
    if (closed) return;
    std::vector<MadPacket> packets;
    take(packets);
    // Before handlers run: they may end all this.
    if (left) {
      runtime.call_at(runtime.now() + kNextTurn, [self = shared_from_this()] { self->turn(); });
    }
    report_drops();
    for (const MadPacket& packet : packets) {
      if (closed) return;
      if (handler) handler(packet);
    }
  }

  void report_drops() {
    ReceiveStats now_is;
    {
      const std::lock_guard lock(mutex);
      now_is = stats;
    }
    if (now_is == notified || (notified_at && runtime.now() - *notified_at < kBetweenLines)) return;
    const auto since = [&](MadKind kind) {
      return now_is.dropped[index_of(kind)] - notified.dropped[index_of(kind)];
    };
    log::warn("transport.receive_queue_full",
              "traps={} requests={} of_managers={} answers={} were dropped",
              since(MadKind::Trap),
              since(MadKind::Request),
              since(MadKind::Manager),
              since(MadKind::Answer));
    notified = now_is;
    notified_at = runtime.now();
  }

  Runtime& runtime;
  const Limits limits;
  std::function<void(const MadPacket&)> handler;
  bool closed = false;

  std::mutex mutex;  // of what follows, up to the blank line
  std::array<WaitingMads, kMadKinds> queues;
  bool wake_posted = false;
  ReceiveStats stats;

  bool left = false;      // after take()
  ReceiveStats notified;  // of these the log knows
  std::optional<TimePoint> notified_at;
};

ReceiveQueue::ReceiveQueue(Runtime& runtime, const Limits& limits)
    : state_(std::make_shared<State>(runtime, limits)) {}

ReceiveQueue::~ReceiveQueue() { state_->closed = true; }

void ReceiveQueue::on_mad(std::function<void(const MadPacket&)> handler) {
  state_->handler = std::move(handler);
}

void ReceiveQueue::put(std::span<const MadPacket> packets) {
  if (state_->add(packets)) state_->runtime.post([state = state_] { state->turn(); });
}

ReceiveStats ReceiveQueue::stats() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stats;
}

}  // namespace smd
