// A node's registers as its hardware uses them: what decides about a packet, ready to be looked up.
// A copy, so that a register that was set takes effect when the packets have come that far.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "sim-backend/packet/picos.h"

namespace smd::sim {

inline constexpr unsigned kDiscardVl = 15;  // what an SL is mapped to where its packets are dropped

/// Ports by bit.
using PortMask = std::array<std::uint64_t, 4>;

class NodeTables {
 public:
  NodeTables() = default;
  explicit NodeTables(const NodeState& node);

  /// 255 where there is no way; what an adapter is asked is never looked up.
  [[nodiscard]] unsigned route(std::uint16_t dlid) const {
    return dlid < lft_.size() ? lft_[dlid] : beyond_;
  }

  /// Where route() will look; null where nowhere.
  [[nodiscard]] const std::uint8_t* entry_of(std::uint16_t dlid) const {
    return dlid < lft_.size() ? &lft_[dlid] : nullptr;
  }

  /// The ports that a multicast LID leads to; none: it is nobody's.
  [[nodiscard]] PortMask find_group(std::uint16_t dlid) const;

  /// Of an adapter `in` is the port that the packet leaves by, and `out` is not looked at.
  [[nodiscard]] unsigned map_sl(unsigned in, unsigned out, unsigned sl) const {
    const std::uint64_t row = sl_to_vl_.empty() ? uniform_sl_to_vl_ : sl_to_vl_[in * width_ + out];
    return static_cast<unsigned>(row >> (4 * sl) & 15);
  }

  [[nodiscard]] Picos switch_life() const { return switch_life_; }

  /// Bytes beside the object itself.
  [[nodiscard]] std::size_t memory() const {
    return lft_.capacity() + sl_to_vl_.capacity() * sizeof(std::uint64_t) +
           groups_.capacity() * sizeof(Group);
  }

 private:
  void compile_routes(const NodeState& node);
  void compile_groups(const NodeState& node);
  void compile_sl_to_vl(const NodeState& node);

  struct Group {
    std::uint16_t mlid = 0;
    PortMask ports{};
  };

  std::vector<std::uint8_t> lft_;
  unsigned beyond_ = 255;
  std::vector<std::uint64_t> sl_to_vl_;  // of 16 nibbles; empty: the same one everywhere
  std::uint64_t uniform_sl_to_vl_ = 0;
  std::size_t width_ = 0;
  std::vector<Group> groups_;  // by MLID
  Picos switch_life_ = kNever;
};

/// 4.096 us * 2^code; kNever for codes above 19 (IBA 14.2.5.4, HOQLife and SwitchLifeTime).
[[nodiscard]] constexpr Picos life_time(std::uint8_t code) {
  return code > 19 ? kNever : Picos{4'096'000} << code;
}

}  // namespace smd::sim
