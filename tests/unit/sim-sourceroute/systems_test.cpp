// Every system's routes can wait in no circle, and neither can two sets that are used together. The
// checker shares no code with the systems.
#include <gmock/gmock.h>

#include <map>

#include "sim-backend/sourceroute/path_balance.h"
#include "tests/unit/sim-sourceroute/made.h"

namespace smd::sim::test {
namespace {

constexpr unsigned kGraphs = 40;

class EverySystem : public testing::TestWithParam<unsigned> {};

TEST_P(EverySystem, IsFreeOfDeadlockOnRandomGraphs) {
  for (unsigned seed = 1; seed <= kGraphs; ++seed) {
    const RouteNet net = irregular(GetParam(), seed);
    for (const RouteSystem& row : route_systems()) {
      // All of the shortest ones, or ten: one alone may happen to be without a circle.
      const bool all = row.name == "SHORTEST";
      const RouteSet set = routes(net, row.name, {.seed = seed, .keep = all ? 10u : 1u});
      EXPECT_EQ(is_free(net, set), !all) << row.name << " seed " << seed;
    }
  }
}

TEST_P(EverySystem, IsFreeWithTheSetThatItIsUsedWith) {
  for (unsigned seed = 1; seed <= kGraphs; ++seed) {
    const RouteNet net = irregular(GetParam(), seed);
    for (const auto& [first, second] : {std::pair{"UD_MITB", "UD_ITB"}, {"UD", "UD_ITB"}}) {
      RouteSet set = routes(net, first, {.seed = seed, .keep = 10});
      set.add(routes(net, second, {.seed = seed + 1, .keep = 10}));
      EXPECT_TRUE(is_free(net, set)) << first << " and " << second << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, EverySystem, testing::Values(8, 16, 32));

TEST(Systems, StopsOfOneTreeDoNotCutWhatAnotherNeeds) {
  unsigned cyclic = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const RouteNet net = irregular(16, seed);
    RouteSet set = routes(net, "UD");
    set.add(routes(net, "UD", {.root = 9}));
    cyclic += is_free(net, set) ? 0 : 1;
  }
  EXPECT_GE(cyclic, 8u) << "two roots together are no up*/down*";
}

TEST(Systems, NeedHostsWhereTheyStop) {
  // Leaves have hosts, spines none: shortest routes go up and down and stop nowhere.
  const RouteNet tree = net_of("fat-tree:k=4,levels=2");
  EXPECT_TRUE(find_system("UD_ITB")->build(tree, {}));
  const auto refused = find_system("BMAX_ITB")->build(tree, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().context, testing::StartsWith("BMAX_ITB needs a host at "));
}

TEST(Systems, GiveTheSameRoutesForTheSameSeed) {
  const RouteNet net = irregular(16, 3);
  for (const RouteSystem& row : route_systems()) {
    const RouteSet a = routes(net, row.name, {.seed = 5}), b = routes(net, row.name, {.seed = 5});
    for (std::uint32_t from = 0; from < 16; ++from) {
      for (std::uint32_t to = 0; to < 16; ++to) {
        ASSERT_EQ(a.of(from, to).size(), b.of(from, to).size());
        for (std::size_t i = 0; i < a.of(from, to).size(); ++i) {
          EXPECT_EQ(a.of(from, to)[i].path, b.of(from, to)[i].path) << row.name;
        }
      }
    }
  }
}

TEST(Systems, BalancedRoutesAreTheSameUnderEveryRuleAndEvenerThanRandomOnes) {
  const RouteNet net = irregular(32, 2);
  const RouteSet bmin = routes(net, "BMIN_ITB"), bmax = routes(net, "BMAX_ITB");
  for (std::uint32_t to = 1; to < 32; ++to) {
    EXPECT_EQ(bmin.of(0, to)[0].path, bmax.of(0, to)[0].path);
  }
  const RouteFigures even = measure_routes(net, bmin);
  EXPECT_LT(even.deviation, 0.8 * measure_routes(net, routes(net, "RANDOM_ITB")).deviation);
  EXPECT_LT(measure_routes(net, routes(net, "SMART_LIKE")).most_load,
            measure_routes(net, routes(net, "DFS")).most_load);
}

// Elimination with running sums against the figure's own text, which counts everything again.
std::vector<std::size_t> even_out_plainly(std::uint32_t channels,
                                          const std::vector<PairPaths>& pairs) {
  std::vector<std::vector<bool>> alive(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) alive[p].assign(pairs[p].ways.size(), true);
  const auto count = [](const std::vector<bool>& of) { return std::ranges::count(of, true); };
  while (true) {
    double best = 0;
    std::size_t pair = SIZE_MAX, number = 0;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      for (std::size_t w = 0; w < alive[p].size(); ++w) {
        if (!alive[p][w] || count(alive[p]) < 2) continue;
        alive[p][w] = false;
        std::vector<double> load(channels, 0);
        double mean = 0, deviation = 0;
        for (std::size_t q = 0; q < pairs.size(); ++q) {
          for (std::size_t v = 0; v < alive[q].size(); ++v) {
            if (!alive[q][v]) continue;
            for (const Channel c : pairs[q].ways[v]) load[c] += double(pairs[q].weight);
          }
        }
        for (const double l : load) mean += l / channels;
        for (const double l : load) deviation += (l - mean) * (l - mean);
        alive[p][w] = true;
        if (pair == SIZE_MAX || deviation < best - 1e-6) {
          best = deviation;
          pair = p;
          number = w;
        }
      }
    }
    if (pair == SIZE_MAX) break;
    alive[pair][number] = false;
  }
  std::vector<std::size_t> out;
  for (const auto& of : alive) out.push_back(std::size_t(std::ranges::find(of, true) - of.begin()));
  return out;
}

TEST(EvenOut, IsWhatTheFigureSays) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const RouteNet net = irregular(8, seed);
    ShortestPaths ways(net);
    Rng rng(seed);
    std::vector<PairPaths> pairs;
    for (std::uint32_t to = 0; to < 8; ++to) {
      ways.aim(to);
      for (std::uint32_t from = 0; from < 8; ++from) {
        if (from != to)
          pairs.push_back({ways.sample(from, 10, rng), std::int64_t(1 + rng.below(3))});
      }
    }
    EXPECT_EQ(even_out(net.channels(), pairs), even_out_plainly(net.channels(), pairs));
  }
}

TEST(Candidates, AreDrawnEvenly) {
  const RouteNet net = net_of("torus:dims=6.6,mesh=1,hosts=1");
  ShortestPaths ways(net);
  ways.aim(35);
  EXPECT_EQ(ways.count(0), 252u) << "10 over 5";
  EXPECT_EQ(ways.length(0), 10u);
  Rng rng(1);
  std::map<Channel, unsigned> first;
  for (int i = 0; i < 400; ++i) {
    const auto sample = ways.sample(0, 10, rng);
    ASSERT_EQ(sample.size(), 10u);
    for (const ChannelPath& way : sample) ++first[way.front()];
  }
  ASSERT_EQ(first.size(), 2u);
  for (const auto& [channel, times] : first) EXPECT_NEAR(times, 2000, 100);
}

}  // namespace
}  // namespace smd::sim::test
