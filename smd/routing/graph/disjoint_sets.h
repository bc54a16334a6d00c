// Sets of numbers, or of switches, that grow together: union-find with path halving.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/fabric/fabric.h"

namespace smd {

/// The smallest member stands for a set.
class DisjointSets {
 public:
  /// Every number below `count` is a set of its own.
  explicit DisjointSets(std::size_t count) : parent_(count) {
    for (std::uint32_t i = 0; i < count; ++i) parent_[i] = i;
  }

  [[nodiscard]] std::uint32_t find(std::uint32_t member) {
    while (parent_[member] != member) {
      parent_[member] = parent_[parent_[member]];
      member = parent_[member];
    }
    return member;
  }

  [[nodiscard]] SwitchIdx find(SwitchIdx sw) { return SwitchIdx{find(sw.value())}; }

  /// Returns false when they were together before.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    (a < b ? parent_[b] : parent_[a]) = a < b ? a : b;
    return true;
  }

  bool join(SwitchIdx a, SwitchIdx b) { return join(a.value(), b.value()); }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace smd
