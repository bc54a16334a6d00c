// Between the thread that receives MADs and the loop: a queue of bounded size for each kind of MAD,
// so that none can crowd out another, and in each a bounded share for every source, so that no
// sender can crowd out the rest.
//
// A turn of the loop hands over all answers to our requests, and so many of the others; the next
// turn the next. In between the loop serves its timers and sockets. What finds no room is dropped
// and counted, and the log says so at most every 10 s.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "smd/runtime/runtime.h"
#include "smd/transport/transport.h"

namespace smd {

[[nodiscard]] MadKind kind_of(const MadBytes& mad);

struct ReceiveLimits {
  std::size_t waiting = 0;        // MADs of the kind
  std::size_t of_one_source = 0;  // of those: from one LID; all directed routes are one
  std::size_t per_turn = 0;
};

/// MADs of one kind that wait, in the order in which they came. Of one thread at a time.
class WaitingMads {
 public:
  /// False: no room.
  [[nodiscard]] bool add(const MadPacket& packet, const ReceiveLimits& limits);

  /// Appends the first so many.
  void take(std::size_t most, std::vector<MadPacket>& out);

  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  std::deque<MadPacket> waiting_;
  std::map<Lid, std::size_t> by_source_;  // of those that wait
};

/// Requests on the way to the thread that answers beside the loop.
class RequestQueue {
 public:
  explicit RequestQueue(const ReceiveLimits& limits) : limits_(limits) {}

  /// Those that find no room are appended to `rest`. On any thread.
  void put(std::span<const MadPacket> packets, std::vector<MadPacket>& rest);

  /// Waits for some and appends the first `most`; false once stop was requested.
  [[nodiscard]] bool take(std::size_t most,
                          std::vector<MadPacket>& out,
                          const std::stop_token& stop);

 private:
  const ReceiveLimits limits_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  WaitingMads waiting_;
};

class ReceiveQueue {
 public:
  using Limits = std::array<ReceiveLimits, kMadKinds>;

  /// Answers: more than can be outstanding. Together 6 MB at most.
  static constexpr Limits kLimits = {ReceiveLimits{16384, 16384, 16384},
                                     ReceiveLimits{512, 64, 16},
                                     ReceiveLimits{2048, 64, 8},
                                     ReceiveLimits{4096, 1024, 16}};

  explicit ReceiveQueue(Runtime& runtime, const Limits& limits = kLimits);

  /// Nothing is handed over any more.
  ~ReceiveQueue();
  ReceiveQueue(const ReceiveQueue&) = delete;

  /// Runs on the loop. To be set before the first put().
  void on_mad(std::function<void(const MadPacket&)> handler);

  /// The only member that any thread may call.
  void put(std::span<const MadPacket> packets);

  [[nodiscard]] ReceiveStats stats() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace smd
