// Which lane of which channel may wait for which, while a plan is being made: kept in an order in
// which every dependency rises.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "smd/plan/order_mender.h"

namespace smd {

class LaneTurnGraph {
 public:
  using Lane = std::uint32_t;  // port times lanes plus VL
  using Edge = std::pair<Lane, Lane>;

  explicit LaneTurnGraph(std::size_t lanes)
      : next_(lanes), before_(lanes), place_(lanes, 0), mender_(std::vector<char>(lanes, 0)) {}

  [[nodiscard]] bool has(const Edge& edge) const;

  /// Without looking at what it closes: sort() has to follow.
  void add(const Edge& edge);

  /// Requires: has(edge).
  void remove(const Edge& edge);

  /// Orders the lanes anew; false when there is a cycle, and then there is no order.
  [[nodiscard]] bool sort();

  /// Adds an edge and mends the order. False, and nothing changed, when a cycle would close.
  /// Requires: sorted.
  [[nodiscard]] bool insert(const Edge& edge);

  /// By lane. Requires: sorted.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return place_; }

 private:
  std::vector<std::vector<Lane>> next_, before_;
  std::vector<std::uint32_t> place_;
  OrderMender<Lane, std::vector<std::uint32_t>, std::vector<char>> mender_;
};

}  // namespace smd
