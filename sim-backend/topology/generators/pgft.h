// Parallel ports generalised fat trees: PGFT(h; m1…mh; w1…wh; p1…ph) after Zahavi.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/topology/drawing.h"

namespace smd::sim {

/// A node of level l has down[l] children, up[l] parents below it… each pair joined by parallel[l]
/// cables; index 0 is between hosts and leaves, where up and parallel are 1.
struct TreeShape {
  std::vector<std::uint32_t> down;
  std::vector<std::uint32_t> up;
  std::vector<std::uint32_t> parallel;

  [[nodiscard]] std::size_t levels() const { return down.size(); }

  /// Hosts if every leaf is full.
  [[nodiscard]] std::uint64_t hosts() const;

  /// Switches of level 1 (leaves) to levels().
  [[nodiscard]] std::uint64_t switches_on(std::size_t level) const;

  /// Ports in use on a switch of that level, down and up.
  [[nodiscard]] std::uint64_t down_ports(std::size_t level) const;
  [[nodiscard]] std::uint64_t up_ports(std::size_t level) const;

  [[nodiscard]] Size size() const;

  friend bool operator==(const TreeShape&, const TreeShape&) = default;
};

/// Ports of a switch: its down ports first, child by child within each parallel round, then its up
/// ports likewise, so up port q leads to parent q mod up (the numbering that d-mod-k expects).
///
/// `hosts` fills the leaves in order; leaves and whole subtrees that get no host are left out.
/// `radix` is the size of every switch; 0 makes each as large as its cables.
/// Requires: the size of the shape passed check_size, and radix holds every level.
void draw_tree(Drawing& drawing, const TreeShape& shape, std::uint64_t hosts, unsigned radix);

}  // namespace smd::sim
