// reduce along a binomial tree: a broadcast backwards.
#include <utility>

#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {
namespace reduce {

std::uint32_t rounds(const PhaseInput& in) { return kBroadcastPhase.rounds(in); }

void list(const PhaseInput& in, std::uint32_t round, std::vector<PhaseMessage>& out) {
  const std::size_t before = out.size();
  kBroadcastPhase.list(in, rounds(in) - 1 - round, out);
  for (std::size_t i = before; i < out.size(); ++i) std::swap(out[i].from, out[i].to);
}

}  // namespace reduce

const PhasePattern kReducePhase{
    .name = "reduce",
    .meaning = "a sum of `bytes` that the root has at the end, along a binomial tree",
    .rounds = reduce::rounds,
    .list = reduce::list,
    .has_root = true,
};

}  // namespace smd::sim
