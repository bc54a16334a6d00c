// Which VL a port sends from next (IBA 7.6.9): a table of high and one of low priority, weights in
// units of 64 bytes, and a limit to how long the high one may go on.
//
// Entries of weight 0 are skipped. A packet goes whole even where it overdraws its entry's weight
// or the limit.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/agents/node_state.h"

namespace smd::sim {

/// The tables of a port without what is skipped; ports with equal ones share them.
struct ArbitrationTables {
  struct Entry {
    std::uint8_t vl = 0;
    std::uint16_t bytes = 0;  // of its weight

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  std::vector<Entry> high;
  std::vector<Entry> low;
  std::uint16_t high_vls = 0;  // by bit
  std::uint16_t low_vls = 0;
  std::uint8_t high_limit = 0;  // units of 4 KiB; 0 one packet, 255 no limit

  friend bool operator==(const ArbitrationTables&, const ArbitrationTables&) = default;
};

/// `vls`: data VLs in use; entries of others are skipped.
[[nodiscard]] ArbitrationTables build_arbitration(const VlArbTables& registers,
                                                  std::uint8_t high_limit,
                                                  unsigned vls);

/// Where one port stands in its tables.
class VlArbiter {
 public:
  static constexpr unsigned kNobody = 16;

  /// The VL to send from among those of `available`, by bit; kNobody when none of them stands in a
  /// table. Changes nothing but the place in the tables.
  [[nodiscard]] unsigned choose(const ArbitrationTables& tables, std::uint16_t available);

  /// Requires: the packet goes out that the last choose() was about.
  void charge(const ArbitrationTables& tables, unsigned bytes);

  /// The tables were replaced.
  void reset() { *this = {}; }

 private:
  struct Place {
    std::uint8_t at = 0;
    bool begun = false;
    std::int32_t left = 0;
  };

  static unsigned scan(const std::vector<ArbitrationTables::Entry>& table,
                       Place& place,
                       std::uint16_t available);

  Place high_;
  Place low_;
  std::int32_t high_left_ = 0;  // bytes until low priority has its turn
  bool high_running_ = false;   // high_left_ counts
  bool chose_high_ = false;
};

}  // namespace smd::sim
