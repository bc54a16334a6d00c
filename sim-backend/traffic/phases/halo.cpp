// halo: ranks are the domains of a periodic grid of three dimensions, as near to a cube as their
// number allows; each sends a face to both neighbours in x, then y, then z.
#include <array>

#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {
namespace halo {

using Grid = std::array<HostNum, 3>;

/// The three factors with the smallest sum, ascending.
Grid grid_of(HostNum ranks) {
  Grid best{1, 1, ranks};
  for (HostNum x = 1; std::uint64_t{x} * x * x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    const HostNum rest = ranks / x;
    for (HostNum y = x; std::uint64_t{y} * y <= rest; ++y) {
      if (rest % y != 0) continue;
      if (x + y + rest / y < best[0] + best[1] + best[2]) best = {x, y, rest / y};
    }
  }
  return best;
}

std::uint32_t rounds(const PhaseInput&) { return 6; }

/// Along a dimension of one domain there is nobody; of two, both faces go to the same one.
void list(const PhaseInput& in, std::uint32_t round, std::vector<PhaseMessage>& out) {
  const Grid grid = grid_of(in.ranks);
  const std::size_t along = round / 2;
  if (grid[along] == 1) return;
  HostNum stride = 1;
  for (std::size_t d = 0; d < along; ++d) stride *= grid[d];
  for (HostNum rank = 0; rank < in.ranks; ++rank) {
    const HostNum place = rank / stride % grid[along];
    const HostNum next = (place + (round % 2 == 0 ? 1 : grid[along] - 1)) % grid[along];
    out.push_back({rank, rank + next * stride - place * stride, in.bytes});
  }
}

}  // namespace halo

const PhasePattern kHaloPhase{
    .name = "halo",
    .meaning = "a face of `bytes` to each neighbour in a grid of three dimensions",
    .rounds = halo::rounds,
    .list = halo::list,
};

}  // namespace smd::sim
