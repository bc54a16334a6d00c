#include "sim-backend/serve/transactions.h"

namespace smd::sim {

Transaction* TransactionTable::open() {
  if (free_.empty()) {
    if (slots_.size() == kLargest) return nullptr;
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  generation_ = (generation_ + 1) & kSlotMask;
  Transaction& transaction = slots_[slot];
  transaction.id = std::uint64_t{client_ + 1} << 48 | generation_ << 24 | slot;
  transaction.answer_length = kMadSize;
  return &transaction;
}

Transaction* TransactionTable::find(std::uint64_t id) {
  const auto slot = static_cast<std::size_t>(id & kSlotMask);
  if (id == 0 || slot >= slots_.size() || slots_[slot].id != id) return nullptr;
  return &slots_[slot];
}

void TransactionTable::close(Transaction& transaction) {
  free_.push_back(static_cast<std::uint32_t>(transaction.id & kSlotMask));
  transaction.id = 0;
}

}  // namespace smd::sim
