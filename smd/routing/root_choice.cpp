#include "smd/routing/root_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "smd/routing/up_down.h"

namespace smd {
namespace {

// Bounds on the work: every switch is looked at where there are no more than these.
constexpr std::size_t kCentralitySample = 64;  // per distance from the hosts
constexpr std::size_t kTrafficSample = 32;
constexpr std::size_t kCentralSample = 512;

std::vector<SwitchIdx> sample(const std::vector<SwitchIdx>& from, std::size_t count) {
  if (from.size() <= count) return from;
  std::vector<SwitchIdx> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(from[i * from.size() / count]);
  return some;
}

std::vector<SwitchIdx> sort_by_guid(std::vector<SwitchIdx> switches,
                                    const IndexVector<SwitchIdx, Guid>& guids) {
  std::ranges::sort(switches, {}, [&](SwitchIdx sw) { return guids[sw]; });
  return switches;
}

// Distance to the farthest switch, then to all of them together.
std::pair<std::uint32_t, std::uint64_t> measure_distances(const SwitchGraph& graph,
                                                          const std::vector<SwitchIdx>& island,
                                                          SwitchIdx from) {
  const auto distance = compute_distances(graph, {&from, 1});
  std::uint32_t most = 0;
  std::uint64_t sum = 0;
  for (const SwitchIdx sw : island) {
    most = std::max(most, distance[sw]);
    sum += distance[sw];
  }
  return {most, sum};
}

// All hosts of some switches talk to each other; the others are silent. (Silencing only receivers
// would let the channels next to the few receivers outweigh all others.)
struct Sample {
  std::vector<SwitchIdx> switches;
  Targets targets;
  Lid top;
};

Sample sample_traffic(const SwitchGraph& graph,
                      const Targets& targets,
                      std::vector<SwitchIdx> switches) {
  Sample traffic{.switches = std::move(switches),
                 .targets = {.of = IndexVector<SwitchIdx, std::vector<Target>>(graph.switches()),
                             .hosts = IndexVector<SwitchIdx, std::uint32_t>(graph.switches(), 0)}};
  std::uint16_t lid = 0;
  for (const SwitchIdx sw : traffic.switches) {
    const std::uint32_t count = std::max(targets.hosts[sw], 1u);
    traffic.targets.hosts[sw] = count;
    for (std::uint32_t i = 0; i < count; ++i)
      traffic.targets.of[sw].push_back({.base = Lid{++lid}, .exit = PortNum{0}, .host = true});
  }
  traffic.top = Lid{lid};
  return traffic;
}

// How well the sampled traffic flows with `root` as the only root.
double measure_load(const SwitchGraph& graph,
                    const IndexVector<SwitchIdx, Guid>& guids,
                    const Sample& traffic,
                    SwitchIdx root) {
  const UpDownGraph oriented{graph, compute_distances(graph, {&root, 1}), guids};
  UpDownSearch search{oriented};
  Spread spread{graph, traffic.targets};
  ForwardingTables tables{graph.switches(), traffic.top};
  NextHops hops;
  for (const SwitchIdx sw : traffic.switches) {
    search.find(sw, hops);
    spread.serve(sw, hops, 0, tables);
  }
  return spread.sum_of_squares();
}

}  // namespace

SwitchIdx choose_root(const SwitchGraph& graph,
                      const IndexVector<SwitchIdx, Guid>& guids,
                      const Targets& targets,
                      const std::vector<SwitchIdx>& island) {
  const std::vector<SwitchIdx> by_guid = sort_by_guid(island, guids);
  std::vector<SwitchIdx> with_hosts;
  for (const SwitchIdx sw : by_guid) {
    if (targets.hosts[sw] != 0) with_hosts.push_back(sw);
  }
  if (with_hosts.empty()) with_hosts = by_guid;

  std::map<std::uint32_t, std::vector<SwitchIdx>> levels;  // by distance from the hosts
  const auto distance = compute_distances(graph, with_hosts);
  for (const SwitchIdx sw : by_guid) levels[distance[sw]].push_back(sw);

  std::vector<SwitchIdx> candidates;
  for (const auto& [level, switches] : levels) {
    SwitchIdx best = kNone<SwitchIdx>;
    std::uint32_t least = kUnreached;
    for (const SwitchIdx sw : sample(switches, kCentralitySample)) {
      const std::uint32_t eccentricity = measure_distances(graph, island, sw).first;
      if (eccentricity >= least) continue;
      least = eccentricity;
      best = sw;
    }
    candidates.push_back(best);
  }
  if (candidates.size() == 1) return candidates[0];

  const Sample traffic = sample_traffic(graph, targets, sample(with_hosts, kTrafficSample));
  SwitchIdx best = candidates[0];
  double least = -1;
  for (const SwitchIdx root : candidates) {
    const double load = measure_load(graph, guids, traffic, root);
    if (least >= 0 && load >= least) continue;
    least = load;
    best = root;
  }
  return best;
}

SwitchIdx find_central(const SwitchGraph& graph,
                       const IndexVector<SwitchIdx, Guid>& guids,
                       const std::vector<SwitchIdx>& island) {
  return std::ranges::min(sample(sort_by_guid(island, guids), kCentralSample), {}, [&](auto sw) {
    return measure_distances(graph, island, sw);
  });
}

}  // namespace smd
