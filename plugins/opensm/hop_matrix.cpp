#include "plugins/opensm/hop_matrix.h"

#include <algorithm>
#include <bit>

namespace smd::opensm {

// Breadth-first from 64 switches at a time, one bit for each.
HopMatrix::HopMatrix(const SwitchGraph& graph)
    : switches_(graph.switches()), hops_(switches_ * switches_, kNoPath) {
  std::vector<std::uint64_t> seen, front, next;
  for (std::size_t first = 0; first < switches_; first += 64) {
    const std::size_t sources = std::min<std::size_t>(64, switches_ - first);
    seen.assign(switches_, 0);
    for (std::size_t s = 0; s < sources; ++s) {
      seen[first + s] = std::uint64_t{1} << s;
      hops_[(first + s) * switches_ + first + s] = 0;
    }
    front = seen;
    for (unsigned distance = 1; true; ++distance) {
      next.assign(switches_, 0);
      for (std::uint32_t at = 0; at < switches_; ++at) {
        if (front[at] == 0) continue;
        for (const SwitchEdge& edge : graph.edges(SwitchIdx{at}))
          next[edge.to.value()] |= front[at];
      }
      bool any = false;
      const auto hops = static_cast<std::uint8_t>(std::min(distance, kNoPath - 1u));
      for (std::size_t at = 0; at < switches_; ++at) {
        next[at] &= ~seen[at];
        seen[at] |= next[at];
        any = any || next[at] != 0;
        for (std::uint64_t bits = next[at]; bits != 0; bits &= bits - 1) {
          const auto source = static_cast<std::size_t>(std::countr_zero(bits));
          hops_[(first + source) * switches_ + at] = hops;
        }
      }
      if (!any) break;
      front.swap(next);
    }
  }
}

}  // namespace smd::opensm
