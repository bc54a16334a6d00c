// One in-tree per destination switch: the edge that every other switch takes towards it.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

inline constexpr std::uint32_t kNoEdge = 0xffffffff;

class SwitchTrees {
 public:
  SwitchTrees() = default;

  explicit SwitchTrees(std::size_t switches)
      : switches_(switches), edges_(switches * switches, kNoEdge) {}

  [[nodiscard]] std::size_t switches() const { return switches_; }

  /// A position in the graph of the trees; kNoEdge at the destination and where no way leads there.
  [[nodiscard]] std::uint32_t edge(SwitchIdx destination, SwitchIdx at) const {
    return edges_[destination.value() * switches_ + at.value()];
  }

  void set_edge(SwitchIdx destination, SwitchIdx at, std::uint32_t edge) {
    edges_[destination.value() * switches_ + at.value()] = edge;
  }

  friend bool operator==(const SwitchTrees&, const SwitchTrees&) = default;

 private:
  std::size_t switches_ = 0;
  std::vector<std::uint32_t> edges_;  // destination-major
};

}  // namespace smd
