// What a source keeps for some of its destinations: memory grows with those alone. Open addressing
// by linear probing, at most three quarters full. Nobody walks through it, so its order never
// shows.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/packet/wiring.h"

namespace smd::sim {

template <class Value>
class DestinationMap {
 public:
  /// Null: nothing is kept for it.
  [[nodiscard]] const Value* find(HostNum destination) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(destination)];
    return slot.key == destination ? &slot.value : nullptr;
  }

  /// `fresh` where nothing is kept for it yet. Valid until the next call for another one. Requires:
  /// not kNowhere.
  Value& at(HostNum destination, const Value& fresh = {}) {
    if (!slots_.empty()) {
      Slot& slot = slots_[place_of(destination)];
      if (slot.key == destination) return slot.value;
    }
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = slots_[place_of(destination)];
    slot = {destination, fresh};
    ++used_;
    return slot.value;
  }

  [[nodiscard]] std::size_t memory() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    HostNum key = kNowhere;
    Value value{};
  };

  /// Where it is, or would be.
  [[nodiscard]] std::size_t place_of(HostNum destination) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (std::uint64_t{destination} * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (slots_[at].key != destination && slots_[at].key != kNowhere) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 4 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != kNowhere) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t used_ = 0;
};

}  // namespace smd::sim
