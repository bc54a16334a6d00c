// all-to-all: a transpose. In round k rank i sends to rank i + k + 1.
#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {
namespace all_to_all {

std::uint32_t rounds(const PhaseInput& in) { return in.ranks - 1; }

void list(const PhaseInput& in, std::uint32_t round, std::vector<PhaseMessage>& out) {
  for (HostNum rank = 0; rank < in.ranks; ++rank) {
    out.push_back({rank, (rank + round + 1) % in.ranks, in.bytes});
  }
}

}  // namespace all_to_all

const PhasePattern kAllToAllPhase{
    .name = "all-to-all",
    .meaning = "every rank sends `bytes` to every other: a transpose",
    .rounds = all_to_all::rounds,
    .list = all_to_all::list,
};

}  // namespace smd::sim
