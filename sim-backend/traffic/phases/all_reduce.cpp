// all-reduce by recursive doubling: in round k ranks exchange with the one whose number differs in
// bit k. Ranks beyond the largest power of two hand their data in first and get the sum last.
#include <bit>

#include "sim-backend/traffic/phases/pattern_entries.h"

namespace smd::sim {
namespace all_reduce {

std::uint32_t doublings(const PhaseInput& in) {
  return static_cast<std::uint32_t>(std::bit_width(in.ranks)) - 1;
}

std::uint32_t rounds(const PhaseInput& in) {
  return doublings(in) + (std::has_single_bit(in.ranks) ? 0 : 2);
}

void list(const PhaseInput& in, std::uint32_t round, std::vector<PhaseMessage>& out) {
  const HostNum inner = std::bit_floor(in.ranks);
  const bool folds = inner != in.ranks;
  if (folds && round == 0) {
    for (HostNum rank = inner; rank < in.ranks; ++rank) {
      out.push_back({rank, rank - inner, in.bytes});
    }
  } else if (folds && round == doublings(in) + 1) {
    for (HostNum rank = inner; rank < in.ranks; ++rank) {
      out.push_back({rank - inner, rank, in.bytes});
    }
  } else {
    const HostNum bit = 1u << (round - (folds ? 1 : 0));
    for (HostNum rank = 0; rank < inner; ++rank) out.push_back({rank, rank ^ bit, in.bytes});
  }
}

}  // namespace all_reduce

const PhasePattern kAllReducePhase{
    .name = "all-reduce",
    .meaning = "a sum of `bytes` that all ranks have at the end, by recursive doubling",
    .rounds = all_reduce::rounds,
    .list = all_reduce::list,
};

}  // namespace smd::sim
