#include "smd/routing/updn/root_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "smd/routing/trees/load_balancer.h"
#include "smd/routing/updn/up_down.h"

namespace smd {
namespace {

// Bounds on the work, in links looked at.
constexpr std::uint64_t kTrialBudget = 1u << 26;
constexpr std::uint64_t kDistanceBudget = 1u << 28;

using Ranks = IndexVector<SwitchIdx, std::uint32_t>;

std::vector<SwitchIdx> sample(std::vector<SwitchIdx> from, std::size_t count) {
  if (from.size() <= count) return from;
  for (std::size_t i = 0; i < count; ++i) from[i] = from[i * from.size() / count];
  from.resize(count);
  return from;
}

class DepthFirst {
 public:
  DepthFirst(const SwitchGraph& graph,
             const IndexVector<SwitchIdx, Guid>& guids,
             const std::vector<SwitchIdx>& island)
      : graph_(graph),
        guids_(guids),
        met_links_(graph.switches(), 0),
        total_distance_(graph.switches(), 0) {
    std::uint64_t links = 1;
    for (const SwitchIdx sw : island) links += graph.edges(sw).size();
    for (const SwitchIdx from : sample(island, kDistanceBudget / links + 1)) {
      const auto distance = compute_distances(graph, {&from, 1});
      for (const SwitchIdx sw : island) total_distance_[sw] += distance[sw];
    }
  }

  void start(SwitchIdx root, const std::vector<SwitchIdx>& island, Ranks& rank) {
    for (const SwitchIdx sw : island) {
      rank[sw] = kUnreached;
      met_links_[sw] = 0;
    }
    std::uint32_t count = 0;
    const auto meet = [&](SwitchIdx sw) {
      rank[sw] = count++;
      for (const SwitchEdge& edge : graph_.edges(sw)) ++met_links_[edge.to];
      path_.push_back(sw);
    };
    path_.clear();
    meet(root);
    while (!path_.empty()) {
      const SwitchIdx onward = choose(path_.back(), rank);
      if (onward == kNone<SwitchIdx>) {
        path_.pop_back();
      } else {
        meet(onward);
      }
    }
  }

 private:
  [[nodiscard]] SwitchIdx choose(SwitchIdx at, const Ranks& rank) const {
    SwitchIdx best = kNone<SwitchIdx>;
    for (const SwitchEdge& edge : graph_.edges(at)) {
      if (rank[edge.to] != kUnreached || edge.to == best) continue;
      if (best == kNone<SwitchIdx> || precedes(edge.to, best)) best = edge.to;
    }
    return best;
  }

  [[nodiscard]] bool precedes(SwitchIdx a, SwitchIdx b) const {
    if (met_links_[a] != met_links_[b]) return met_links_[a] > met_links_[b];
    if (total_distance_[a] != total_distance_[b]) return total_distance_[a] > total_distance_[b];
    return guids_[a] < guids_[b];
  }

  const SwitchGraph& graph_;
  const IndexVector<SwitchIdx, Guid>& guids_;
  IndexVector<SwitchIdx, std::uint32_t> met_links_;
  IndexVector<SwitchIdx, std::uint64_t> total_distance_;  // summed distance to the others
  std::vector<SwitchIdx> path_;
};

// Bounds on the work: every switch is looked at where there are no more than these.
constexpr std::size_t kCentralitySample = 64;  // per distance from the hosts
constexpr std::size_t kTrafficSample = 32;
constexpr std::size_t kCentralSample = 512;

std::vector<SwitchIdx> sort_by_guid(std::vector<SwitchIdx> switches,
                                    const IndexVector<SwitchIdx, Guid>& guids) {
  std::ranges::sort(switches, {}, [&](SwitchIdx sw) { return guids[sw]; });
  return switches;
}

// Those with hosts, or all where none has.
std::vector<SwitchIdx> list_leaves(const std::vector<SwitchIdx>& by_guid, const Targets& targets) {
  std::vector<SwitchIdx> out;
  for (const SwitchIdx sw : by_guid) {
    if (targets.hosts[sw] != 0) out.push_back(sw);
  }
  return out.empty() ? by_guid : out;
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
      traffic.targets.of[sw].push_back({.base = Lid{++lid}, .egress = PortNum{0}, .host = true});
  }
  traffic.top = Lid{lid};
  return traffic;
}

// How well the sampled traffic flows over legal routes.
double measure_load(const SwitchGraph& graph,
                    const IndexVector<SwitchIdx, Guid>& guids,
                    const Sample& traffic,
                    const Ranks& rank) {
  const UpDownGraph oriented{graph, rank, guids};
  UpDownSearch search{oriented};
  LoadBalancer balancer{graph, traffic.targets};
  ForwardingTables tables{graph.switches(), traffic.top};
  NextHops hops;
  for (const SwitchIdx sw : traffic.switches) {
    search.find(sw, hops);
    balancer.assign(sw, hops, 0, tables);
  }
  return balancer.sum_of_squares();
}

}  // namespace

std::uint64_t count_forbidden_turns(const SwitchGraph& graph,
                                    const IndexVector<SwitchIdx, Guid>& guids,
                                    const std::vector<SwitchIdx>& island,
                                    const Ranks& rank) {
  std::uint64_t turns = 0;
  for (const SwitchIdx sw : island) {
    std::uint64_t up = 0;
    for (const SwitchEdge& edge : graph.edges(sw)) {
      up += rank[edge.to] != rank[sw] ? rank[edge.to] < rank[sw] : guids[edge.to] < guids[sw];
    }
    if (up > 0) turns += up * (up - 1);
  }
  return turns;
}

void rank_depth_first(const SwitchGraph& graph,
                      const IndexVector<SwitchIdx, Guid>& guids,
                      const std::vector<SwitchIdx>& island,
                      std::span<const SwitchIdx> roots,
                      Ranks& rank) {
  std::uint64_t links = 1;
  for (const SwitchIdx sw : island) links += graph.edges(sw).size();
  std::vector<SwitchIdx> trials{roots.begin(), roots.end()};
  std::ranges::sort(trials, {}, [&](SwitchIdx sw) { return guids[sw]; });
  trials = sample(std::move(trials), kTrialBudget / links + 1);

  DepthFirst walk{graph, guids, island};
  SwitchIdx best = trials[0];
  std::uint64_t fewest = 0;
  for (const SwitchIdx root : trials) {
    walk.start(root, island, rank);
    const std::uint64_t turns = count_forbidden_turns(graph, guids, island, rank);
    if (root != trials[0] && turns >= fewest) continue;
    fewest = turns;
    best = root;
  }
  walk.start(best, island, rank);
}

SwitchIdx choose_root(const SwitchGraph& graph,
                      const IndexVector<SwitchIdx, Guid>& guids,
                      const Targets& targets,
                      const std::vector<SwitchIdx>& island) {
  const std::vector<SwitchIdx> by_guid = sort_by_guid(island, guids);
  const std::vector<SwitchIdx> with_hosts = list_leaves(by_guid, targets);
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
    const double load = measure_load(graph, guids, traffic, compute_distances(graph, {&root, 1}));
    if (least >= 0 && load >= least) continue;
    least = load;
    best = root;
  }
  return best;
}

bool flows_as_well(const SwitchGraph& graph,
                   const IndexVector<SwitchIdx, Guid>& guids,
                   const Targets& targets,
                   const std::vector<SwitchIdx>& island,
                   const Ranks& rank,
                   const Ranks& other) {
  const Sample traffic = sample_traffic(
      graph, targets, sample(list_leaves(sort_by_guid(island, guids), targets), kTrafficSample));
  return measure_load(graph, guids, traffic, rank) <= measure_load(graph, guids, traffic, other);
}

SwitchIdx find_central(const SwitchGraph& graph,
                       const IndexVector<SwitchIdx, Guid>& guids,
                       const std::vector<SwitchIdx>& island) {
  return std::ranges::min(sample(sort_by_guid(island, guids), kCentralSample), {}, [&](auto sw) {
    return measure_distances(graph, island, sw);
  });
}

}  // namespace smd
