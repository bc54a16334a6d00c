#include "sim-backend/sourceroute/smart_like.h"

#include <algorithm>
#include <queue>

#include "smd/routing/graph/acyclic_graph.h"

namespace smd::sim {
namespace {

constexpr std::size_t kTrees = 8;     // that are tried
constexpr unsigned kMostRounds = 30;  // through all pairs

struct Pair {
  std::uint32_t from, to;
  std::int64_t weight;
  ChannelPath path;
};

/// Pairs of switches with hosts, in a random order.
std::vector<Pair> list_pairs(const RouteNet& net, Rng& rng) {
  std::vector<Pair> out;
  for (std::uint32_t from = 0; from < net.switches(); ++from) {
    for (std::uint32_t to = 0; to < net.switches(); ++to) {
      const auto weight = static_cast<std::int64_t>(net.hosts(from).size() * net.hosts(to).size());
      if (from != to && weight > 0) out.push_back({from, to, weight, {}});
    }
  }
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

struct Loads {
  explicit Loads(std::size_t channels) : of(channels, 0) {}

  void add(const Pair& pair, std::int64_t sign) {
    for (const Channel c : pair.path) {
      squares -= of[c] * of[c];
      of[c] += sign * pair.weight;
      squares += of[c] * of[c];
    }
  }

  std::vector<std::int64_t> of;
  std::int64_t squares = 0;
};

/// The way over allowed turns that adds least to the squares of the loads.
ChannelPath find_way(const RouteNet& net,
                     const AcyclicGraph& turns,
                     const Loads& loads,
                     const Pair& pair) {
  struct Entry {
    std::int64_t cost;
    Channel at;

    bool operator>(const Entry& other) const {
      return cost != other.cost ? cost > other.cost : at > other.at;
    }
  };

  const auto price = [&](Channel c) { return 2 * loads.of[c] + pair.weight; };
  std::vector<std::int64_t> cost(net.channels(), INT64_MAX);
  std::vector<Channel> before(net.channels(), kNoChannel);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const auto reach = [&](Channel c, std::int64_t at, Channel from) {
    if (at >= cost[c]) return;
    cost[c] = at;
    before[c] = from;
    open.push({at, c});
  };
  for (Channel c = net.first(pair.from); c < net.end(pair.from); ++c)
    reach(c, price(c), kNoChannel);
  while (!open.empty()) {
    const auto [at, c] = open.top();
    open.pop();
    if (at != cost[c]) continue;
    if (net.to(c) == pair.to) {
      ChannelPath out;
      for (Channel step = c; step != kNoChannel; step = before[step]) out.push_back(step);
      std::ranges::reverse(out);
      return out;
    }
    for (Channel next = net.first(net.to(c)); next < net.end(net.to(c)); ++next) {
      if (turns.has(net.dependencies().between(c, next))) reach(next, at + price(next), c);
    }
  }
  return {};
}

/// How many shortest paths take each turn, those of a pair sharing its weight.
std::vector<double> count_turns(const RouteNet& net, Rng& rng) {
  std::vector<double> out(net.dependencies().size(), 0);
  ShortestPaths any(net);
  for (std::uint32_t to = 0; to < net.switches(); ++to) {
    any.aim(to);
    for (std::uint32_t from = 0; from < net.switches(); ++from) {
      if (from == to) continue;
      const std::vector<ChannelPath> ways = any.sample(from, 10, rng);
      for (const ChannelPath& way : ways) {
        for (std::size_t i = 1; i < way.size(); ++i) {
          out[net.dependencies().between(way[i - 1], way[i])] +=
              1 / static_cast<double>(ways.size());
        }
      }
    }
  }
  return out;
}

void add_turns(const RouteNet& net,
               std::uint32_t root,
               const std::vector<double>& uses,
               AcyclicGraph& turns) {
  const Dependencies& all = net.dependencies();
  std::vector<char> in_tree(net.channels(), 0);  // both directions
  for (std::uint32_t sw = 0; sw < net.switches(); ++sw) {
    if (sw == root) continue;
    for (Channel c = net.first(sw); c < net.end(sw); ++c) {
      if (net.distance(root, net.to(c)) + 1 != net.distance(root, sw)) continue;
      in_tree[c] = 1;
      for (Channel back = net.first(net.to(c)); back < net.end(net.to(c)); ++back) {
        if (net.to(back) == sw && in_tree[back] == 0) {
          in_tree[back] = 1;
          break;
        }
      }
      break;
    }
  }

  struct Turn {
    bool tree;
    double uses;
    Dependency turn;
  };

  std::vector<Turn> order;
  for (Channel c = 0; c < net.channels(); ++c) {
    for (Channel next = net.first(net.to(c)); next < net.end(net.to(c)); ++next) {
      if (net.to(next) == net.from(c)) continue;
      const Dependency turn = all.between(c, next);
      order.push_back({in_tree[c] != 0 && in_tree[next] != 0, uses[turn], turn});
    }
  }
  std::ranges::stable_sort(order, [](const Turn& a, const Turn& b) {
    return a.tree != b.tree ? a.tree : a.uses > b.uses;
  });
  for (const Turn& turn : order) {
    std::uint64_t budget = UINT64_MAX;
    turns.add(turn.turn, budget);
  }
}

/// Every pair takes its cheapest way, until none has a cheaper one.
void settle(const RouteNet& net,
            const AcyclicGraph& turns,
            std::vector<Pair>& pairs,
            Loads& loads) {
  bool better = true;
  for (unsigned round = 0; round < kMostRounds && better; ++round) {
    better = false;
    for (Pair& pair : pairs) {
      const ChannelPath former = pair.path;
      const std::int64_t before = loads.squares;
      loads.add(pair, -1);
      pair.path = find_way(net, turns, loads, pair);
      loads.add(pair, 1);
      better = better || former.empty() || loads.squares < before;
    }
  }
}

RouteSet to_set(const RouteNet& net, const std::vector<Pair>& pairs) {
  RouteSet out(net);
  for (const Pair& pair : pairs) out.of(pair.from, pair.to).push_back({pair.path, {}});
  return out;
}

}  // namespace

RouteSet smart_like(const RouteNet& net, std::uint64_t seed) {
  Rng rng(seed);
  const std::vector<double> uses = count_turns(net, rng);
  std::vector<Pair> pairs = list_pairs(net, rng), best;
  std::int64_t least = INT64_MAX;
  const std::size_t trees = std::min<std::size_t>(kTrees, net.switches());
  for (std::size_t tree = 0; tree < trees; ++tree) {
    AcyclicGraph turns(net.dependencies());
    add_turns(net, static_cast<std::uint32_t>(tree * net.switches() / trees), uses, turns);
    Loads loads(net.channels());
    for (Pair& pair : pairs) pair.path.clear();
    settle(net, turns, pairs, loads);
    if (loads.squares >= least) continue;
    least = loads.squares;
    best = pairs;
  }
  return to_set(net, best);
}

RouteSet balance_locally(const RouteNet& net, std::uint64_t seed, std::size_t per_pair) {
  Rng rng(seed);
  std::vector<Pair> pairs = list_pairs(net, rng);
  std::ranges::stable_sort(pairs, {}, &Pair::to);
  std::vector<std::vector<ChannelPath>> ways;
  ShortestPaths any(net);
  Loads loads(net.channels());
  std::uint32_t aimed = kUnreached;
  for (Pair& pair : pairs) {
    if (aimed != pair.to) any.aim(aimed = pair.to);
    ways.push_back(any.sample(pair.from, per_pair, rng));
    pair.path = ways.back()[rng.below(ways.back().size())];
    loads.add(pair, 1);
  }
  bool better = true;
  for (unsigned round = 0; round < kMostRounds && better; ++round) {
    better = false;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const std::int64_t before = loads.squares;
      std::int64_t least = before;
      const ChannelPath former = pairs[p].path;
      const ChannelPath* chosen = &former;
      loads.add(pairs[p], -1);
      for (const ChannelPath& way : ways[p]) {
        pairs[p].path = way;
        loads.add(pairs[p], 1);
        if (loads.squares < least) {
          least = loads.squares;
          chosen = &way;
        }
        loads.add(pairs[p], -1);
      }
      pairs[p].path = *chosen;
      loads.add(pairs[p], 1);
      better = better || least < before;
    }
  }
  return to_set(net, pairs);
}

}  // namespace smd::sim
