// The dependencies between the channels of one lane, kept free of cycles: what would close one is
// turned down. Parallel cables count as one channel, which can only show cycles too many.
//
// An order of the channels agrees with all dependencies; a new one against it moves only what lies
// between its ends (Pearce and Kelly, 2006).
#pragma once

#include <span>
#include <vector>

#include "smd/routing/shape/neighbour_graph.h"

namespace smd {

class LaneOrder {
 public:
  explicit LaneOrder(const NeighbourGraph& graph);

  /// A path is the sides of links that it leaves by, one after the other. Adds the dependencies of
  /// all of them and returns true, or none when they would close a cycle.
  [[nodiscard]] bool add_all(std::span<const std::vector<std::uint32_t>> paths);

 private:
  [[nodiscard]] bool add(const std::vector<std::uint32_t>& path);
  [[nodiscard]] bool insert(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] bool reach_down(std::uint32_t from, std::uint32_t goal, std::uint32_t highest);
  void reach_up(std::uint32_t from, std::uint32_t lowest);
  void reorder();

  // Of the dependency of side `to` on side `from`.
  [[nodiscard]] std::size_t bit(std::uint32_t from, std::uint32_t to) const {
    return first_bit_[from] + (to - graph_.first(end_[from]));
  }

  const NeighbourGraph& graph_;
  std::vector<SwitchIdx> begin_, end_;  // by side
  std::vector<std::uint32_t> back_;     // by side: the same link from the other end
  std::vector<std::size_t> first_bit_;  // by side
  std::vector<char> depends_;
  std::vector<std::uint32_t> place_;  // by side: in the order

  // Scratch.
  std::vector<std::size_t> fresh_;  // dependencies of the paths being added
  std::vector<std::uint32_t> down_, up_, stack_, free_;
  std::vector<char> met_;
};

}  // namespace smd
