// How many links lie between any two switches: what OpenSM calls its LID matrices, which its
// multicast routing reads.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/routing/graph/switch_graph.h"

namespace smd::opensm {

inline constexpr std::uint8_t kNoPath = 255;

class HopMatrix {
 public:
  explicit HopMatrix(const SwitchGraph& graph);

  /// At most 254; kNoPath between islands.
  [[nodiscard]] std::uint8_t hops(SwitchIdx a, SwitchIdx b) const {
    return hops_[a.value() * switches_ + b.value()];
  }

 private:
  std::size_t switches_;
  std::vector<std::uint8_t> hops_;
};

}  // namespace smd::opensm
