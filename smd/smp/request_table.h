// The requests of every conversation: slots that are reused, so that a SMP costs no allocation.
//
// A handle names one use of a slot. Whoever keeps handles (queues, deadlines) keeps them past the
// request's end and asks find() whether it still lives.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "smd/smp/smp_client.h"

namespace smd {

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
  // Attempts that went before the timeout of the one before; the last one waits that much longer.
  std::uint8_t early = 0;
  std::uint16_t crowd = 0;    // SMPs on the wire once the latest attempt was
  std::uint16_t wire_id = 0;  // OnWire, Waiting; see wire_ids.h
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
