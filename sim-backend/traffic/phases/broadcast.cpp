// broadcast along a binomial tree: in round k those that have it send it 2^k ranks further, counted
// from the root.
#include <bit>

#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {
namespace broadcast {

std::uint32_t rounds(const PhaseInput& in) {
  return static_cast<std::uint32_t>(std::bit_width(in.ranks - 1));
}

void list(const PhaseInput& in, std::uint32_t round, std::vector<PhaseMessage>& out) {
  const HostNum have = 1u << round;
  for (HostNum rank = 0; rank < have && rank + have < in.ranks; ++rank) {
    out.push_back({(rank + in.root) % in.ranks, (rank + have + in.root) % in.ranks, in.bytes});
  }
}

}  // namespace broadcast

const PhasePattern kBroadcastPhase{
    .name = "broadcast",
    .meaning = "`bytes` from the root to all ranks, along a binomial tree",
    .rounds = broadcast::rounds,
    .list = broadcast::list,
    .has_root = true,
};

}  // namespace smd::sim
