// Sets of switches that grow together.
#pragma once

#include <utility>

#include "smd/fabric/fabric.h"

namespace smd {

class MergedSets {
 public:
  /// Every switch is a set of its own.
  explicit MergedSets(std::size_t switches) {
    parent_.reserve(switches);
    for (std::uint32_t sw = 0; sw < switches; ++sw) parent_.push_back(SwitchIdx{sw});
  }

  /// The switch that stands for the whole set: the one with the lowest handle.
  [[nodiscard]] SwitchIdx find(SwitchIdx sw) {
    while (parent_[sw] != sw) {
      parent_[sw] = parent_[parent_[sw]];
      sw = parent_[sw];
    }
    return sw;
  }

  void merge(SwitchIdx a, SwitchIdx b) {
    a = find(a);
    b = find(b);
    if (b < a) std::swap(a, b);
    parent_[b] = a;
  }

 private:
  IndexVector<SwitchIdx, SwitchIdx> parent_;
};

}  // namespace smd
