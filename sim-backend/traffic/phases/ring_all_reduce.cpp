// ring-all-reduce: the data in as many pieces as there are ranks; in each round every rank hands
// one on to the next rank, once around for the sums and once more for the results.
#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {
namespace ring_all_reduce {

/// The first pieces are a byte longer where the data does not divide evenly.
std::uint32_t piece_bytes(const PhaseInput& in, HostNum piece) {
  return in.bytes / in.ranks + (piece < in.bytes % in.ranks ? 1 : 0);
}

std::uint32_t rounds(const PhaseInput& in) { return 2 * (in.ranks - 1); }

void list(const PhaseInput& in, std::uint32_t round, std::vector<PhaseMessage>& out) {
  const HostNum n = in.ranks;
  // Sums: rank i begins with piece i. Results: with piece i + 1, which it has the sum of by then.
  const HostNum ahead = round < n - 1 ? n - round : 2 * n - round;
  for (HostNum rank = 0; rank < n; ++rank) {
    const HostNum piece = (rank + ahead) % n;
    if (const std::uint32_t bytes = piece_bytes(in, piece); bytes > 0) {
      out.push_back({rank, (rank + 1) % n, bytes});
    }
  }
}

}  // namespace ring_all_reduce

const PhasePattern kRingAllReducePhase{
    .name = "ring-all-reduce",
    .meaning = "a sum of `bytes` that all ranks have at the end, in pieces around a ring",
    .rounds = ring_all_reduce::rounds,
    .list = ring_all_reduce::list,
};

}  // namespace smd::sim
