// Of several routes for each pair one is left: again and again the route goes without which the
// loads of all channels deviate least (Flich 2001, figure 54).
#pragma once

#include <vector>

#include "sim-backend/sourceroute/candidate_paths.h"

namespace smd::sim {

struct PairPaths {
  std::vector<ChannelPath> ways;
  std::int64_t weight = 1;  // what a way of this pair counts on a channel
};

/// By pair, the way that is left. A way that has gone never comes back, so it ends.
[[nodiscard]] std::vector<std::size_t> even_out(std::uint32_t channels,
                                                const std::vector<PairPaths>& pairs);

}  // namespace smd::sim
