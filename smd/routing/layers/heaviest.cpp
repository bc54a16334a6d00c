#include "smd/routing/layers/heaviest.h"

#include <algorithm>
#include <vector>

namespace smd {
namespace {

// Dependencies between channels that could not be sorted, heaviest first.
std::vector<Dependency> list_doubtful(const Dependencies& dependencies,
                                      std::span<const std::uint32_t> uses,
                                      const LaneGraph& lane) {
  std::vector<Dependency> doubtful;
  for (Channel channel = 0; channel < dependencies.channels(); ++channel) {
    if (!lane.unsorted()[channel]) continue;
    const Dependency end = dependencies.first_word(channel + 1) * 64;
    for (Dependency d = dependencies.at(channel, 0); d < end; ++d) {
      if (uses[d] != 0 && lane.has(d) && lane.unsorted()[dependencies.out(d)])
        doubtful.push_back(d);
    }
  }
  std::sort(doubtful.begin(), doubtful.end(), [&](Dependency a, Dependency b) {
    return uses[a] != uses[b] ? uses[a] > uses[b] : a < b;
  });
  return doubtful;
}

}  // namespace

void keep_heaviest(const Dependencies& dependencies,
                   std::span<const std::uint32_t> uses,
                   LaneGraph& lane,
                   std::uint64_t budget) {
  const std::vector<Dependency> doubtful = list_doubtful(dependencies, uses, lane);
  for (const Dependency d : doubtful) lane.remove(d);

  // How many of the heaviest can stay together, by bisection: sorting all at once is cheaper than
  // adding one by one.
  std::size_t fits = 0;
  std::size_t closes = doubtful.size();
  std::size_t present = 0;
  const auto make_present = [&](std::size_t wanted) {
    for (; present < wanted; ++present) lane.set(doubtful[present]);
    for (; present > wanted; --present) lane.remove(doubtful[present - 1]);
  };
  while (closes - fits > 1) {
    const std::size_t middle = fits + (closes - fits) / 2;
    make_present(middle);
    (lane.sort() ? fits : closes) = middle;
  }
  make_present(fits);
  lane.sort();

  // doubtful[fits] is what closed a cycle.
  for (std::size_t at = fits + 1; at < doubtful.size(); ++at) lane.add(doubtful[at], budget);
}

}  // namespace smd
