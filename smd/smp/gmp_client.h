// Requests to agents on QP1: transaction ids, timeouts, retries, a fixed window. For classes whose
// traffic is light; SMPs have the adaptive client.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "smd/runtime/runtime.h"
#include "smd/transport/transport.h"

namespace smd {

struct GmpClientConfig {
  unsigned window = 128;  // requests on the wire
  unsigned retries = 3;   // injections after the first
  Duration timeout = std::chrono::milliseconds(200);
};

struct GmpStats {
  std::uint64_t sent = 0;  // injections, retries included
  std::uint64_t answered = 0;
  std::uint64_t timeouts = 0;  // requests that were given up
  std::uint64_t unasked = 0;   // answers to nothing, or to what was given up
};

class GmpClient {
 public:
  using Done = std::function<void(const Result<MadBytes>&)>;
  using Unsolicited = std::function<void(const MadPacket&)>;

  /// Takes the handlers of `transport`, which outlives this.
  GmpClient(Runtime& runtime, Transport& transport);
  GmpClient(const GmpClient&) = delete;

  /// For what is sent from now on.
  void configure(const GmpClientConfig& config);

  /// Sends the Get or Set in `packet`, whose transaction id is filled in. `done` runs exactly once,
  /// never inside this call, unless stop() comes first; it may send and stop. Timeout when nobody
  /// answered; an answer is handed on whatever its status.
  void send(const MadPacket& packet, Done done);

  /// Sends something that nobody answers: a TrapRepress.
  void send_once(const MadPacket& packet);

  /// Requests of others: traps.
  void on_unsolicited(Unsolicited handler) { unsolicited_ = std::move(handler); }

  /// Forgets every request.
  void stop();

  [[nodiscard]] bool at_rest() const { return waiting_.empty() && pending_.empty(); }

  [[nodiscard]] const GmpStats& stats() const { return stats_; }

 private:
  struct Pending {
    MadPacket packet;
    Done done;
    unsigned retries_left = 0;
    Timer timer;
  };

  void pump();
  void inject(std::uint32_t id);
  void on_timeout(std::uint32_t id);
  void receive(const MadPacket& packet);

  Runtime& runtime_;
  Transport& transport_;
  GmpClientConfig config_;
  std::uint32_t next_id_ = 1;
  std::deque<Pending> waiting_;
  std::map<std::uint32_t, Pending> pending_;  // by the low half of the transaction id
  Unsolicited unsolicited_;
  Timer pump_;
  GmpStats stats_;
};

}  // namespace smd
