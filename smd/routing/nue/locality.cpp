#include "smd/routing/nue/locality.h"

#include <algorithm>
#include <span>

namespace smd {
namespace {

using Distances = IndexVector<SwitchIdx, std::uint32_t>;

constexpr std::size_t kCentreSample = 16;

class Splitter {
 public:
  Splitter(const SwitchGraph& graph, std::size_t parts) : graph_(graph), parts_(parts) {}

  std::vector<std::vector<SwitchIdx>> split(std::vector<SwitchIdx>& switches) {
    halve(switches, 0, parts_.size());
    return std::move(parts_);
  }

 private:
  void halve(std::span<SwitchIdx> switches, std::size_t first, std::size_t parts) {
    if (switches.empty()) return;
    if (parts == 1) {
      parts_[first] = order_from_centre(switches);
      return;
    }
    const Distances from_one = measure(find_farthest(switches, measure(switches.front())));
    const Distances from_other = measure(find_farthest(switches, from_one));
    const auto side = [&](SwitchIdx sw) {
      return static_cast<std::int64_t>(from_one[sw]) - static_cast<std::int64_t>(from_other[sw]);
    };
    std::ranges::stable_sort(switches, {}, side);
    const std::size_t left_parts = (parts + 1) / 2;
    const std::size_t left = (switches.size() * left_parts + parts - 1) / parts;
    halve(switches.first(left), first, left_parts);
    halve(switches.subspan(left), first + left_parts, parts - left_parts);
  }

  [[nodiscard]] Distances measure(SwitchIdx from) const {
    return compute_distances(graph_, {&from, 1});
  }

  static SwitchIdx find_farthest(std::span<const SwitchIdx> switches, const Distances& distance) {
    return *std::ranges::max_element(switches, {}, [&](SwitchIdx sw) { return distance[sw]; });
  }

  [[nodiscard]] std::vector<SwitchIdx> order_from_centre(std::span<const SwitchIdx> part) const {
    const std::size_t looked_at = std::min(part.size(), kCentreSample);
    Distances best;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t i = 0; i < looked_at; ++i) {
      Distances distance = measure(part[i * part.size() / looked_at]);
      std::uint64_t sum = 0;
      for (const SwitchIdx sw : part) sum += distance[sw];
      if (sum >= least) continue;
      least = sum;
      best = std::move(distance);
    }
    std::vector<SwitchIdx> ordered{part.begin(), part.end()};
    std::ranges::stable_sort(ordered, {}, [&](SwitchIdx sw) { return best[sw]; });
    return ordered;
  }

  const SwitchGraph& graph_;
  std::vector<std::vector<SwitchIdx>> parts_;
};

}  // namespace

std::vector<std::vector<SwitchIdx>> split_by_locality(const SwitchGraph& graph,
                                                      std::vector<SwitchIdx> switches,
                                                      std::size_t parts) {
  return Splitter{graph, parts}.split(switches);
}

}  // namespace smd
