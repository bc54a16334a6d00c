// Requests under way: by transaction id, by deadline, and in the order they wait.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "smd/runtime/runtime.h"
#include "smd/smp/smp_client.h"

namespace smd {

// When injected requests time out. Requests injected under one timeout expire in injection order,
// so each timeout has a queue and the whole costs one timer, not one per SMP.
//
// Answered requests leave their deadline behind; `live(id)` tells which still count.

class Deadlines {
 public:
  void push(TimePoint injected, Duration timeout, std::uint32_t id) {
    if (queues_.empty() || queues_.back().timeout != timeout) queues_.push_back({timeout, {}});
    queues_.back().entries.push_back({injected + timeout, id});
  }

  /// The earliest deadline that still counts.
  template <class Live>
  [[nodiscard]] std::optional<TimePoint> next(const Live& live) {
    const TimeoutQueue* queue = earliest(live);
    if (queue == nullptr) return std::nullopt;
    return queue->entries.front().when;
  }

  /// Takes the earliest one that still counts and is due.
  template <class Live>
  [[nodiscard]] std::optional<std::uint32_t> pop_due(TimePoint now, const Live& live) {
    TimeoutQueue* queue = earliest(live);
    if (queue == nullptr || queue->entries.front().when > now) return std::nullopt;
    const std::uint32_t id = queue->entries.front().id;
    queue->entries.pop_front();
    return id;
  }

 private:
  struct Entry {
    TimePoint when;
    std::uint32_t id;
  };

  struct TimeoutQueue {
    Duration timeout;
    std::deque<Entry> entries;
  };

  template <class Live>
  TimeoutQueue* earliest(const Live& live) {
    for (TimeoutQueue& queue : queues_) {
      while (!queue.entries.empty() && !live(queue.entries.front().id)) queue.entries.pop_front();
    }
    while (queues_.size() > 1 && queues_.front().entries.empty()) queues_.pop_front();
    TimeoutQueue* best = nullptr;
    for (TimeoutQueue& queue : queues_) {
      if (queue.entries.empty()) continue;
      if (best == nullptr || queue.entries.front().when < best->entries.front().when) best = &queue;
    }
    return best;
  }

  std::deque<TimeoutQueue> queues_;
};

// Transaction ids. Only the low 32 bits are ours: the kernel writes its agent's number into the
// upper ones, and ibsim's client library does likewise.
//
//    31       17 16   12 11         0
//   +-----------+-------+------------+
//   | generation|attempt|    slot    |
//   +-----------+-------+------------+
//
// The attempt is part of the id because the kernel refuses a request whose id it still waits for
// (EINVAL), and it goes on waiting for the first attempt when the second is sent; an answer to any
// attempt still names the request. Slots are reused oldest first, so that an id comes back only
// after 2^27 requests.

class WireIds {
 public:
  static constexpr std::uint16_t kSlots = 4096;
  static constexpr std::uint8_t kMaxAttempt = 31;

  WireIds() : slots_(kSlots) {
    for (std::uint16_t slot = 0; slot < kSlots; ++slot) free_.push_back(slot);
  }

  [[nodiscard]] bool exhausted() const { return free_.empty(); }

  /// Requires: !exhausted().
  std::uint16_t take(std::uint32_t request) {
    const std::uint16_t slot = free_.front();
    free_.pop_front();
    slots_[slot].request = request;
    slots_[slot].taken = true;
    return slot;
  }

  void give_back(std::uint16_t slot) {
    slots_[slot].taken = false;
    // Never 0, so that no id is 0.
    slots_[slot].generation = slots_[slot].generation == kLastGeneration
                                  ? std::uint16_t{1}
                                  : static_cast<std::uint16_t>(slots_[slot].generation + 1);
    free_.push_back(slot);
  }

  [[nodiscard]] std::uint32_t id(std::uint16_t slot, std::uint8_t attempt) const {
    return std::uint32_t{slots_[slot].generation} << 17 | std::uint32_t{attempt} << 12 | slot;
  }

  struct Match {
    std::uint32_t request;
    std::uint8_t attempt;
  };

  /// The request that `id` was made for, while its slot is taken.
  [[nodiscard]] std::optional<Match> find(std::uint32_t id) const {
    const Slot& slot = slots_[id & (kSlots - 1)];
    if (!slot.taken || slot.generation != id >> 17) return std::nullopt;
    return Match{slot.request, static_cast<std::uint8_t>(id >> 12 & kMaxAttempt)};
  }

 private:
  static constexpr std::uint16_t kLastGeneration = 0x7fff;

  struct Slot {
    std::uint32_t request = 0;
    std::uint16_t generation = 1;
    bool taken = false;
  };

  std::vector<Slot> slots_;
  std::deque<std::uint16_t> free_;
};

// The requests of every conversation: slots that are reused, so that a SMP costs no allocation.
//
// A handle names one use of a slot. Whoever keeps handles (queues, deadlines) keeps them past the
// request's end and asks find() whether it still lives.

struct RequestHandle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
};

struct PendingRequest {
  enum class State : std::uint8_t {
    Free,
    Queued,   // not yet injected
    OnWire,   // waits for its answer
    Waiting,  // timed out, waits for its re-injection; an answer may still come
    Failing,  // its error waits to be delivered
  };

  State state = State::Free;
  std::uint8_t attempt = 0;  // of the injection that is on the wire or comes next
  bool garbled = false;      // an answer came that cannot be right
  bool busy = false;         // the latest attempt was answered Busy
  // Attempts that went before the timeout of the one before; the last one waits that much longer.
  std::uint8_t early = 0;
  std::uint16_t burst = 0;    // SMPs on the wire once the latest attempt was
  std::uint16_t wire_id = 0;  // OnWire, Waiting; see WireIds
  std::uint32_t generation = 1;
  TimePoint injected;        // the latest time
  TimePoint first_injected;  // the first time
  SmpRequest request;
  SmpClient::Done done;

  // The scope's list.
  std::uint32_t scope = 0;
  std::uint32_t previous = 0;
  std::uint32_t next = 0;
};

class RequestTable {
 public:
  std::uint32_t open_scope();

  /// Requires: the scope is empty.
  void close_scope(std::uint32_t scope);

  RequestHandle add(std::uint32_t scope, const SmpRequest& request, SmpClient::Done done);

  /// nullptr when the request has ended. Pointers stay good until then.
  [[nodiscard]] PendingRequest* find(RequestHandle handle);

  /// Requires: the request lives.
  [[nodiscard]] PendingRequest& at(std::uint32_t index) { return requests_[index]; }

  [[nodiscard]] RequestHandle handle(std::uint32_t index) const {
    return {index, requests_[index].generation};
  }

  /// Ends the request and gives back what to call; calling or destroying it may change the table.
  [[nodiscard]] SmpClient::Done remove(std::uint32_t index);

  /// One request of the scope, or nullptr.
  [[nodiscard]] PendingRequest* first_of(std::uint32_t scope);

  [[nodiscard]] std::uint32_t index_of_first(std::uint32_t scope) const {
    return scopes_[scope].first;
  }

  [[nodiscard]] std::size_t count_of(std::uint32_t scope) const { return scopes_[scope].count; }

  /// Every request that lives, oldest slot first.
  [[nodiscard]] std::vector<RequestHandle> all() const;

 private:
  static constexpr std::uint32_t kNobody = 0xffffffff;

  struct Scope {
    std::uint32_t first = kNobody;
    std::size_t count = 0;
  };

  std::deque<PendingRequest> requests_;  // a deque, so that handlers may add while one is looked at
  std::vector<std::uint32_t> free_requests_;
  std::vector<Scope> scopes_;
  std::vector<std::uint32_t> free_scopes_;
};

}  // namespace smd
