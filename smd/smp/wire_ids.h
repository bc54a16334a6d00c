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
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace smd {

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

}  // namespace smd
