#include "sim-backend/sourceroute/systems.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>

#include "sim-backend/sourceroute/path_balance.h"
#include "sim-backend/sourceroute/smart_like.h"
#include "smd/routing/graph/acyclic_graph.h"

namespace smd::sim {
namespace {

/// Whether a host takes the message in at `at`, between `before` and `after`.
using CutRule = std::function<bool(std::uint32_t before, std::uint32_t at, std::uint32_t after)>;

class Maker {
 public:
  Maker(const RouteNet& net, const SystemOptions& options)
      : net_(net), options_(options), rng_(options.seed), set_(net), turn_(net.switches(), 0) {}

  template <class Visit>
  void for_pairs(Visit visit) {
    for (std::uint32_t to = 0; to < net_.switches(); ++to) {
      if (net_.hosts(to).empty()) continue;
      for (std::uint32_t from = 0; from < net_.switches(); ++from) {
        if (from != to && !net_.hosts(from).empty()) visit(from, to);
      }
    }
  }

  /// Of a list so many, at random.
  std::vector<ChannelPath> some(std::vector<ChannelPath> ways) {
    const std::size_t keep = std::min(options_.keep, ways.size());
    for (std::size_t i = 0; i < keep; ++i)
      std::swap(ways[i], ways[i + rng_.below(ways.size() - i)]);
    ways.resize(keep);
    return ways;
  }

  /// Random legal ways.
  void legal(const SwitchKeys& keys) {
    ShortestPaths ways(net_, &keys);
    std::uint32_t aimed = kUnreached;
    for_pairs([&](std::uint32_t from, std::uint32_t to) {
      if (aimed != to) ways.aim(aimed = to);
      for (ChannelPath& path : some(ways.sample(from, options_.per_pair, rng_))) {
        set_.of(from, to).push_back({std::move(path), {}});
      }
    });
  }

  /// Random shortest paths; where `legal_first`, legal ones wherever there are shortest ones among
  /// those.
  void shortest(const SwitchKeys* legal_first) {
    ShortestPaths any(net_);
    ShortestPaths legal(net_, legal_first);
    std::uint32_t aimed = kUnreached;
    for_pairs([&](std::uint32_t from, std::uint32_t to) {
      if (aimed != to) {
        any.aim(aimed = to);
        legal.aim(to);
      }
      const bool has_legal = legal_first != nullptr && legal.length(from) == any.length(from);
      for (ChannelPath& path :
           some((has_legal ? legal : any).sample(from, options_.per_pair, rng_))) {
        set_.of(from, to).push_back({std::move(path), {}});
      }
    });
  }

  /// Shortest ways, one for each pair, balanced.
  void balanced() {
    ShortestPaths any(net_);
    std::vector<PairPaths> pairs;
    std::uint32_t aimed = kUnreached;
    for_pairs([&](std::uint32_t from, std::uint32_t to) {
      if (aimed != to) any.aim(aimed = to);
      pairs.push_back({any.sample(from, options_.per_pair, rng_),
                       static_cast<std::int64_t>(net_.hosts(from).size() * net_.hosts(to).size())});
    });
    const std::vector<std::size_t> left = even_out(net_.channels(), pairs);
    std::size_t pair = 0;
    for_pairs([&](std::uint32_t from, std::uint32_t to) {
      set_.of(from, to).push_back({std::move(pairs[pair].ways[left[pair]]), {}});
      ++pair;
    });
  }

  void take(RouteSet set) { set_ = std::move(set); }

  void cut(const CutRule& rule) {
    for_pairs([&](std::uint32_t from, std::uint32_t to) {
      for (SourceRoute& route : set_.of(from, to)) {
        for (std::uint32_t i = 1; i < route.path.size(); ++i) {
          const Channel before = route.path[i - 1];
          if (rule(net_.from(before), net_.to(before), net_.to(route.path[i]))) stop(route, i);
        }
      }
    });
  }

  /// A stop wherever a dependency would close a circle with those before it.
  void cut_circles() {
    AcyclicGraph graph(net_.dependencies());
    for_pairs([&](std::uint32_t from, std::uint32_t to) {
      for (SourceRoute& route : set_.of(from, to)) {
        for (std::uint32_t i = 1; i < route.path.size(); ++i) {
          std::uint64_t budget = UINT64_MAX;
          const Dependency next = net_.dependencies().between(route.path[i - 1], route.path[i]);
          if (graph.has(next)) continue;
          if (graph.add(next, budget) != AcyclicGraph::Answer::Added) stop(route, i);
        }
      }
    });
  }

  Result<RouteSet> finish(std::string_view name) && {
    if (!without_host_.empty()) {
      return fail(
          Errc::Unsupported,
          fmt::format(
              "{} needs a host at {}, where messages are to be taken in", name, without_host_));
    }
    return std::move(set_);
  }

 private:
  void stop(SourceRoute& route, std::uint32_t before) {
    const std::uint32_t sw = net_.from(route.path[before]);
    const std::vector<std::uint32_t>& hosts = net_.hosts(sw);
    if (hosts.empty()) {
      without_host_ = net_.name(sw);
      return;
    }
    std::size_t chosen = 0;
    switch (options_.host) {
      case ItbHostRule::Random:
        chosen = rng_.below(hosts.size());
        break;
      case ItbHostRule::ByInput:
        chosen = net_.from(route.path[before - 1]) % hosts.size();
        break;
      case ItbHostRule::ByOutput:
        chosen = net_.to(route.path[before]) % hosts.size();
        break;
      case ItbHostRule::RoundRobin:
        chosen = turn_[sw]++ % hosts.size();
        break;
    }
    route.stops.push_back({before, hosts[chosen]});
  }

  const RouteNet& net_;
  const SystemOptions& options_;
  Rng rng_;
  RouteSet set_;
  std::vector<std::size_t> turn_;
  std::string without_host_;
};

CutRule down_then_up(const SwitchKeys& keys) {
  return [keys](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return keys[b] > keys[a] && keys[b] > keys[c];
  };
}

Result<RouteSet> make_ud(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.legal(breadth_first_keys(net, options.root));
  return std::move(maker).finish("UD");
}

Result<RouteSet> make_dfs(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.legal(depth_first_keys(net));
  return std::move(maker).finish("DFS");
}

Result<RouteSet> make_smart(const RouteNet& net, const SystemOptions& options) {
  return smart_like(net, options.seed);
}

Result<RouteSet> make_ud_mitb(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  const SwitchKeys keys = breadth_first_keys(net, options.root);
  maker.shortest(&keys);
  maker.cut(down_then_up(keys));
  return std::move(maker).finish("UD_MITB");
}

Result<RouteSet> make_ud_itb(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.shortest(nullptr);
  maker.cut(down_then_up(breadth_first_keys(net, options.root)));
  return std::move(maker).finish("UD_ITB");
}

Result<RouteSet> make_dfs_itb(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.shortest(nullptr);
  maker.cut(down_then_up(depth_first_keys(net)));
  return std::move(maker).finish("DFS_ITB");
}

Result<RouteSet> make_bsmart(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.take(balance_locally(net, options.seed, options.per_pair));
  maker.cut_circles();
  return std::move(maker).finish("BSMART_ITB");
}

Result<RouteSet> make_random(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.shortest(nullptr);
  maker.cut_circles();
  return std::move(maker).finish("RANDOM_ITB");
}

Result<RouteSet> make_balanced(const RouteNet& net,
                               const SystemOptions& options,
                               std::string_view name,
                               const std::function<CutRule(const SwitchKeys&)>& rule) {
  Maker maker(net, options);
  maker.balanced();
  // Another stream than that of the candidates: the same routes under every rule.
  maker.cut(rule(random_keys(net, options.seed ^ 0x5bd1e995)));
  return std::move(maker).finish(name);
}

Result<RouteSet> make_b33(const RouteNet& net, const SystemOptions& options) {
  return make_balanced(net, options, "B33_ITB", down_then_up);
}

Result<RouteSet> make_b50(const RouteNet& net, const SystemOptions& options) {
  return make_balanced(net, options, "B50_ITB", [](const SwitchKeys& keys) -> CutRule {
    return [keys](std::uint32_t, std::uint32_t b, std::uint32_t c) { return keys[b] < keys[c]; };
  });
}

Result<RouteSet> make_b66(const RouteNet& net, const SystemOptions& options) {
  return make_balanced(net, options, "B66_ITB", [](const SwitchKeys& keys) -> CutRule {
    return [keys](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      return keys[b] > keys[a] || keys[b] > keys[c];
    };
  });
}

Result<RouteSet> make_bmax(const RouteNet& net, const SystemOptions& options) {
  return make_balanced(net, options, "BMAX_ITB", [](const SwitchKeys&) -> CutRule {
    return [](std::uint32_t, std::uint32_t, std::uint32_t) { return true; };
  });
}

Result<RouteSet> make_bmin(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.balanced();
  maker.cut_circles();
  return std::move(maker).finish("BMIN_ITB");
}

Result<RouteSet> make_shortest(const RouteNet& net, const SystemOptions& options) {
  Maker maker(net, options);
  maker.shortest(nullptr);
  return std::move(maker).finish("SHORTEST");
}

constexpr std::array<RouteSystem, 14> kRows{{
    {"UD", "up*/down* breadth-first, a random one of the shortest legal routes", make_ud},
    {"DFS", "up*/down* depth-first, likewise", make_dfs},
    {"SMART_LIKE",
     "balanced routes over turns without circles; stands in for smart-routing",
     make_smart},
    {"UD_MITB",
     "shortest routes, without a stop wherever UD has one; else stops at its cuts",
     make_ud_mitb},
    {"UD_ITB", "shortest routes, stops where UD forbids the turn", make_ud_itb},
    {"DFS_ITB", "shortest routes, stops where DFS forbids the turn", make_dfs_itb},
    {"BSMART_ITB", "routes balanced one by one, stops where a circle would close", make_bsmart},
    {"RANDOM_ITB", "random shortest routes, stops where a circle would close", make_random},
    {"B33_ITB", "balanced shortest routes, stops at a third of the switches between", make_b33},
    {"B50_ITB", "the same routes, at half of them", make_b50},
    {"B66_ITB", "the same routes, at two thirds", make_b66},
    {"BMAX_ITB", "the same routes, at all of them", make_bmax},
    {"BMIN_ITB", "the same routes, stops where a circle would close", make_bmin},
    {"SHORTEST", "random shortest routes without stops: they can deadlock", make_shortest},
}};

}  // namespace

std::span<const RouteSystem> route_systems() { return kRows; }

const RouteSystem* find_system(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &RouteSystem::name);
  return found == kRows.end() ? nullptr : &*found;
}

std::string list_systems() {
  std::string out;
  for (const RouteSystem& row : kRows) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

}  // namespace smd::sim
