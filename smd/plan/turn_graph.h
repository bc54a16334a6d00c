// The channel graph while a plan is being made: turns come and go, and an order of the channels
// follows them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "smd/plan/order_mender.h"
#include "smd/plan/transition.h"

namespace smd {

/// A turn leads from the channel that ends at port `in` of a switch to the one that begins at its
/// port `out`. Only links between two switches have channels here.
class TurnGraph {
 public:
  explicit TurnGraph(const Fabric& fabric);

  [[nodiscard]] bool is_channel(PortIdx port) const { return words_[port] != 0; }

  /// Requires of the functions below: `in` and `out` are channels and ports of one switch.
  [[nodiscard]] bool has(PortIdx in, PortIdx out) const {
    return turns_[word(in, out)] & bit(in, out);
  }

  void add(PortIdx in, PortIdx out) {
    const Word mask = bit(in, out) & ~struck_[word(in, out)];
    turns_[word(in, out)] |= mask;
  }

  void remove(PortIdx in, PortIdx out) { turns_[word(in, out)] &= ~bit(in, out); }

  /// From now on this turn does not exist, however often it is added.
  void strike(PortIdx in, PortIdx out);

  [[nodiscard]] bool is_struck(PortIdx in, PortIdx out) const {
    return struck_[word(in, out)] & bit(in, out);
  }

  /// A packet that would leave by the port it came in by is discarded: strikes all such turns.
  void strike_bounces();

  /// Orders the channels anew; false when there is a cycle, and then there is no order.
  [[nodiscard]] bool sort();

  /// Takes the order instead of computing one; false, and no order, where a turn falls in it.
  [[nodiscard]] bool sort_by(const ChannelOrder& order);

  [[nodiscard]] bool rises(PortIdx in, PortIdx out) const {
    return position_[fabric_->peer[in]] < position_[out];
  }

  /// Adds a turn and mends the order. False, and nothing changed, when a cycle would close.
  /// Requires: sorted.
  [[nodiscard]] bool insert(PortIdx in, PortIdx out);

  /// Requires: sorted.
  [[nodiscard]] const ChannelOrder& order() const { return position_; }

  /// Calls visit(in, out) for every turn, in port order.
  template <class Visit>
  void for_each_turn(Visit&& visit) const {
    for (const PortIdx in : words_.indices()) {
      if (is_channel(in)) for_each_exit(in, [&](PortIdx out) { visit(in, out); });
    }
  }

 private:
  using Word = std::uint64_t;

  [[nodiscard]] std::size_t word(PortIdx in, PortIdx out) const {
    return first_word_[in] + (out.value() - first_port_[in]) / 64;
  }

  [[nodiscard]] Word bit(PortIdx in, PortIdx out) const {
    return Word{1} << ((out.value() - first_port_[in]) % 64);
  }

  template <class Visit>
  void for_each_exit(PortIdx in, Visit&& visit) const {
    for (std::uint32_t i = 0; i < words_[in]; ++i) {
      for (Word bits = turns_[first_word_[in] + i]; bits != 0; bits &= bits - 1) {
        const auto offset = i * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        visit(PortIdx{first_port_[in] + offset});
      }
    }
  }

  /// Channels that lead to the one that begins at `out`.
  template <class Visit>
  void for_each_entry(PortIdx out, Visit&& visit) const {
    const NodeIdx node = fabric_->node_of[out];
    for (const PortIdx in : fabric_->external_ports(node)) {
      if (is_channel(in) && has(in, out)) visit(fabric_->peer[in]);
    }
  }

  const Fabric* fabric_;
  IndexVector<PortIdx, std::uint32_t> words_;  // 0: no channel
  IndexVector<PortIdx, std::uint32_t> first_word_;
  IndexVector<PortIdx, std::uint32_t> first_port_;  // of its switch
  std::vector<Word> turns_, struck_;
  ChannelOrder position_;  // by the port a channel begins at
  OrderMender<PortIdx, ChannelOrder, IndexVector<PortIdx, char>> mender_;
};

}  // namespace smd
