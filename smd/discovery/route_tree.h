// The shortest directed routes from the manager over the cables of a survey: breadth first, ties by
// port. Adapters and routers forward nothing.
#pragma once

#include <vector>

#include "smd/discovery/survey.h"

namespace smd {

class RouteTree {
 public:
  explicit RouteTree(const Survey& survey);

  [[nodiscard]] bool reaches(std::uint32_t node) const {
    return node < steps_.size() && steps_[node].depth != kUnreached;
  }

  /// Requires: reaches(node).
  [[nodiscard]] HopPath path(std::uint32_t node) const;

  /// Where the last hop leaves from. Requires: reaches(node), and not node 0.
  [[nodiscard]] CableEnd last_hop(std::uint32_t node) const { return steps_[node].from; }

  /// The port where the path arrives: of node 0 the manager's own.
  [[nodiscard]] PortNum arrival(std::uint32_t node) const { return steps_[node].arrival; }

  /// Nodes that are reached through the cable at `end`, which is still there; they are not reached
  /// any more.
  std::vector<std::uint32_t> cut(CableEnd end);

 private:
  static constexpr std::uint8_t kUnreached = UINT8_MAX;

  struct Step {
    CableEnd from;
    PortNum arrival;
    std::uint8_t depth = kUnreached;
  };

  const Survey* survey_;
  std::vector<Step> steps_;
};

}  // namespace smd
