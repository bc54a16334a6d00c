// gather: all ranks send to the root at once, as for output that one of them writes.
#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {
namespace gather {

std::uint32_t rounds(const PhaseInput&) { return 1; }

void list(const PhaseInput& in, std::uint32_t, std::vector<PhaseMessage>& out) {
  for (HostNum rank = 0; rank < in.ranks; ++rank) {
    if (rank != in.root) out.push_back({rank, in.root, in.bytes});
  }
}

}  // namespace gather

const PhasePattern kGatherPhase{
    .name = "gather",
    .meaning = "`bytes` from every rank to the root, all at once: an incast",
    .rounds = gather::rounds,
    .list = gather::list,
    .has_root = true,
};

}  // namespace smd::sim
