// One test per pattern: who is sent to, and how often.
#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "sim-backend/traffic/patterns.h"

namespace smd::sim::test {
namespace patterns_test {

/// 16 hosts on 8 switches, two each; switches in a grid of 2 by 4, and groups of two.
PatternInput input() {
  PatternInput in{.hosts = 16, .dims = {2, 4}, .switches_per_group = 2};
  for (HostNum sw = 0; sw < 8; ++sw) in.groups.push_back({2 * sw, 2 * sw + 1});
  for (HostNum host = 0; host < 16; ++host) in.near.push_back(in.groups[host / 2]);
  return in;
}

/// Of so many draws of `source`: how many went where.
std::map<HostNum, int> draw(const char* name,
                            HostNum source,
                            int draws,
                            const PatternInput& in = input()) {
  const PatternRow* row = find_pattern(name);
  EXPECT_NE(row, nullptr) << name;
  auto mix = row->build(in);
  EXPECT_TRUE(mix.has_value()) << (mix ? "" : mix.error().context);
  const Destinations destinations(std::move(*mix), row->includes_self);
  Rng rng(7);
  std::map<HostNum, int> out;
  for (int i = 0; i < draws; ++i) ++out[destinations.draw(source, rng)];
  return out;
}

/// Where a pattern without chance sends each host.
std::vector<HostNum> map_of(const char* name, const PatternInput& in = input()) {
  std::vector<HostNum> to;
  for (HostNum host = 0; host < in.hosts; ++host) {
    const auto drawn = draw(name, host, 20, in);
    EXPECT_EQ(drawn.size(), 1u) << name << " host " << host;
    to.push_back(drawn.begin()->first == TrafficPattern::kSilent ? host : drawn.begin()->first);
  }
  return to;
}

TEST(Patterns, Uniform) {
  const auto drawn = draw("uniform", 3, 15'000);
  EXPECT_EQ(drawn.size(), 15u);
  EXPECT_FALSE(drawn.contains(3));
  for (const auto& [host, count] : drawn) EXPECT_NEAR(count, 1000, 130) << host;
}

TEST(Patterns, UniformWithOneself) {
  const auto drawn = draw("uniform-self", 3, 16'000);
  EXPECT_EQ(drawn.size(), 16u);
  EXPECT_NEAR(drawn.at(3), 1000, 130);
}

TEST(Patterns, Permutation) {
  auto to = map_of("permutation");
  std::ranges::sort(to);
  for (HostNum host = 0; host < 16; ++host) EXPECT_EQ(to[host], host);
  PatternInput other = input();
  other.seed = 2;
  EXPECT_NE(map_of("permutation"), map_of("permutation", other));
}

TEST(Patterns, BitReversal) {
  EXPECT_THAT(map_of("bit-reversal"),
              testing::ElementsAre(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
}

TEST(Patterns, Transpose) {
  EXPECT_THAT(map_of("transpose"),
              testing::ElementsAre(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
}

TEST(Patterns, Complement) {
  const auto to = map_of("complement");
  for (HostNum host = 0; host < 16; ++host) EXPECT_EQ(to[host], 15 - host);
}

TEST(Patterns, Shuffle) {
  EXPECT_THAT(map_of("shuffle"),
              testing::ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
}

TEST(Patterns, Tornado) {
  // Two rows of four switches: none in the first dimension, one on in the second.
  EXPECT_THAT(map_of("tornado"),
              testing::ElementsAre(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9));
  PatternInput ring = input();
  ring.dims = {8};
  EXPECT_EQ(map_of("tornado", ring)[0], 6u) << "three switches on";
}

TEST(Patterns, HotSpot) {
  PatternInput in = input();
  in.share = 0.5;
  std::map<HostNum, int> sum;
  for (HostNum host = 0; host < 16; ++host) {
    for (const auto& [to, count] : draw("hot-spot", host, 1000, in)) sum[to] += count;
  }
  const auto hottest =
      std::ranges::max_element(sum, {}, [](const auto& entry) { return entry.second; });
  // Half of what 15 others send, and a 15th of the other half.
  EXPECT_NEAR(hottest->second, 15'000 * (0.5 + 0.5 / 15), 400);
}

TEST(Patterns, Local) {
  const auto drawn = draw("local", 4, 100);
  EXPECT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn.begin()->first, 5u) << "the other one at its switch";
}

TEST(Patterns, AllToAll) { EXPECT_EQ(draw("all-to-all", 0, 3000).size(), 15u); }

TEST(Patterns, Incast) {
  HostNum target = TrafficPattern::kSilent;
  int silent = 0;
  for (HostNum host = 0; host < 16; ++host) {
    const auto drawn = draw("incast", host, 10);
    ASSERT_EQ(drawn.size(), 1u);
    if (drawn.begin()->first == TrafficPattern::kSilent) {
      ++silent;
    } else {
      if (target != TrafficPattern::kSilent) {
        EXPECT_EQ(drawn.begin()->first, target);
      }
      target = drawn.begin()->first;
    }
  }
  EXPECT_EQ(silent, 1);
}

TEST(Patterns, NextInEveryDimension) {
  // Switch (0, 3) to (1, 0): hosts 6 and 7 to 8 and 9.
  const auto drawn = draw("mdn", 6, 1000);
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_NEAR(drawn.at(8), 500, 80);
  EXPECT_NEAR(drawn.at(9), 500, 80);
}

TEST(Patterns, NextSwitch) {
  const auto drawn = draw("hrn", 15, 1000);
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_NEAR(drawn.at(0), 500, 80);
}

TEST(Patterns, NextGroup) {
  // Groups of two switches: hosts 12 to 15 to hosts 0 to 3.
  const auto drawn = draw("adv+1", 13, 4000);
  EXPECT_EQ(drawn.size(), 4u);
  for (HostNum host = 0; host < 4; ++host) EXPECT_NEAR(drawn.at(host), 1000, 150);
}

TEST(Patterns, Combined) {
  // A quarter each: its neighbour 5, its reversal 2, a hot spot and everybody.
  PatternInput in = input();
  in.share = 0.2;
  const auto drawn = draw("combined", 4, 40'000, in);
  EXPECT_NEAR(drawn.at(5), 10'000 + 18'000 / 15, 900);
  EXPECT_NEAR(drawn.at(2), 10'000 + 18'000 / 15, 900);
  EXPECT_EQ(drawn.size(), 15u);
}

TEST(Patterns, SayWhatTheyMiss) {
  PatternInput in = input();
  in.dims = {3, 3};
  EXPECT_FALSE(find_pattern("mdn")->build(in).has_value());
  EXPECT_FALSE(find_pattern("tornado")->build(in).has_value());
  in.switches_per_group = 3;
  EXPECT_FALSE(find_pattern("adv+1")->build(in).has_value());
  EXPECT_EQ(find_pattern("nothing"), nullptr);
}

}  // namespace patterns_test
}  // namespace smd::sim::test
