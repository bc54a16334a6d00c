// Requests of one client that wait for their answers.
//
// Two clients may use the same transaction id, so each request travels under an id of ours and
// the client's own id is put back into the answer. Ours carries the client's number: an answer
// finds its client even where several share a port.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/serve/frames.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

struct Transaction {
  std::uint64_t id = 0;  // ours; 0 while the slot is free
  std::uint64_t client_id = 0;
  TimePoint deadline;
  std::uint64_t sent = 0;   // counts injections of all clients: when it went out last
  unsigned tries_left = 0;  // retransmissions
  std::uint64_t answer_length = kMadSize;
  PacketFrame request;  // as injected, under our id
};

class TransactionTable {
 public:
  static constexpr std::size_t kLargest = 1u << 16;

  explicit TransactionTable(unsigned client) : client_(client) {}

  /// The number of the client whose table gave out `id`, if any did.
  [[nodiscard]] static unsigned client_of(std::uint64_t id) {
    return static_cast<unsigned>(id >> 48) - 1;
  }

  /// A new transaction under a fresh id, or nullptr when kLargest are open. Valid until the next
  /// open().
  Transaction* open();

  [[nodiscard]] Transaction* find(std::uint64_t id);

  void close(Transaction& transaction);

  [[nodiscard]] std::size_t size() const { return slots_.size() - free_.size(); }

  /// Calls `visit` for each open transaction, in order of slots. It may close the transaction it
  /// is given, and nothing else.
  template <class Visit>
  void for_each(Visit&& visit) {
    if (size() == 0) return;
    for (Transaction& transaction : slots_) {
      if (transaction.id != 0) visit(transaction);
    }
  }

 private:
  static constexpr std::uint64_t kSlotMask = (1u << 24) - 1;

  unsigned client_;
  std::uint64_t generation_ = 0;
  std::vector<Transaction> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace smd::sim
