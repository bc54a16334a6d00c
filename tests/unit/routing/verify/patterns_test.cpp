// Traffic patterns, and what routes give to them.
#include "smd/routing/verify/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/port_num.h"
#include "tests/unit/routing/support/paths.h"

namespace smd::test {
namespace patterns_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Patterns, ShiftWrapsRound) {
  EXPECT_THAT(shift(4, 1), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(shift(3, 5), ElementsAre(2, 0, 1));
  EXPECT_THAT(shift(0, 1), IsEmpty());
}

TEST(Patterns, BitReversalTakesTheLargestPowerOfTwo) {
  EXPECT_THAT(bit_reversal(8), ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
  EXPECT_THAT(bit_reversal(5), ElementsAre(0, 2, 1, 3, 4));
  EXPECT_THAT(bit_reversal(1), ElementsAre(0));
  EXPECT_THAT(bit_reversal(0), IsEmpty());
}

TEST(Patterns, TransposeTakesTheLargestSquare) {
  EXPECT_THAT(transpose(10), ElementsAre(0, 3, 6, 1, 4, 7, 2, 5, 8, 9));
  EXPECT_THAT(transpose(0), IsEmpty());
}

TEST(Patterns, RandomPermutationsReachEverybodyAndFollowTheirSeed) {
  Rng one(7), same(7), other(8);
  const std::vector<HostNum> to = random_permutation(50, one);
  EXPECT_EQ(to, random_permutation(50, same));
  EXPECT_NE(to, random_permutation(50, other));
  std::vector<HostNum> sorted = to;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, shift(50, 0));
}

TEST(Patterns, TheNextOnADiagonalIsOneFurtherInEveryDimension) {
  EXPECT_THAT(next_diagonally(std::vector<std::uint32_t>{3, 2}), ElementsAre(3, 2, 5, 4, 1, 0));
  EXPECT_THAT(next_group(3), ElementsAre(1, 2, 0));
}

TEST(Patterns, WhoSendsToItselfIsSilent) {
  const TrafficPattern pattern = permutation_pattern(std::vector<HostNum>{1, 0, 2});
  EXPECT_THAT(pattern.target, ElementsAre(0, 1, TrafficPattern::kSilent));
  EXPECT_THAT(pattern.sets, ElementsAre(ElementsAre(1), ElementsAre(0)));
}

/// H1 and H2 on S1, H3 and H4 on S2; two cables between, and every table says the first.
struct Pair {
  Pair() : lids(lids_in_order(fabric)), hosts(find_hosts(fabric, lids)) {
    tables = ForwardingTables{2, lids.top};
    for (const NodeIdx n : fabric.node_guid.indices()) {
      const std::string& name = fabric.description[n];
      const Lid lid = lids.base[end_port(fabric, name)];
      const bool left = name == "S1" || name == "H1" || name == "H2";
      const unsigned own = name[0] == 'S' ? 0 : name == "H1" || name == "H3" ? 3 : 4;
      tables.set_route(SwitchIdx{0}, lid, port_num(left ? own : 1));
      tables.set_route(SwitchIdx{1}, lid, port_num(left ? 1 : own));
    }
  }

  PatternLoad measure(const TrafficPattern& pattern) const {
    return measure_pattern(fabric, lids, tables, hosts, pattern);
  }

  PatternLoad measure_permutation(const std::vector<HostNum>& to) const {
    return measure(permutation_pattern(to));
  }

  Fabric fabric = fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-H1 S1:4-H2 S2:3-H3 S2:4-H4");
  LidMap lids;
  std::vector<PortIdx> hosts;
  ForwardingTables tables;
};

TEST(PatternLoad, UniformTrafficIsSpreadOverEverybody) {
  const PatternLoad load = Pair{}.measure(uniform_pattern(4));
  EXPECT_EQ(load.flows, 16u);
  EXPECT_EQ(load.lost, 0u);
  EXPECT_DOUBLE_EQ(load.max, 1.0) << "two hosts send half of what they have to the other side";
  EXPECT_DOUBLE_EQ(load.mean, 0.5) << "the second cable carries nothing";
  EXPECT_DOUBLE_EQ(load.stddev, 0.5);
  EXPECT_DOUBLE_EQ(load.max_host, 1.0);
  EXPECT_DOUBLE_EQ(load.throughput, 1.0);
}

TEST(PatternLoad, APermutationAddsUpWhereItsPathsMeet) {
  const Pair pair;
  const PatternLoad across = pair.measure_permutation(shift(4, 2));
  EXPECT_EQ(across.flows, 4u);
  EXPECT_DOUBLE_EQ(across.max, 2.0);
  EXPECT_DOUBLE_EQ(across.throughput, 0.5);
  const PatternLoad near = pair.measure_permutation({1, 0, 3, 2});
  EXPECT_DOUBLE_EQ(near.max, 0.0);
  EXPECT_DOUBLE_EQ(near.throughput, 1.0);
  EXPECT_DOUBLE_EQ(near.max_host, 1.0);
}

TEST(PatternLoad, AHostThatEverybodySendsToIsTheLimit) {
  const Pair pair;
  TrafficPattern pattern;
  pattern.target = {0, 0, 0, TrafficPattern::kSilent};
  pattern.sets = {{3}};
  const PatternLoad load = pair.measure(pattern);
  EXPECT_EQ(load.flows, 3u);
  EXPECT_DOUBLE_EQ(load.max_host, 3.0);
  EXPECT_DOUBLE_EQ(load.max, 2.0);
  EXPECT_DOUBLE_EQ(load.throughput, 1.0 / 3);
}

TEST(PatternLoad, GroupsSendToTheNextGroup) {
  const Pair pair;
  const auto groups = group_by_switch(pair.fabric, pair.hosts);
  EXPECT_THAT(groups, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  const PatternLoad load = pair.measure(group_pattern(groups, next_group(2), 4));
  EXPECT_EQ(load.flows, 8u);
  EXPECT_DOUBLE_EQ(load.max, 2.0);
  EXPECT_DOUBLE_EQ(load.max_host, 1.0);
  EXPECT_DOUBLE_EQ(load.throughput, 0.5);
}

TEST(PatternLoad, LostPacketsLoadNothing) {
  Pair pair;
  pair.tables.set_route(SwitchIdx{1}, pair.lids.base[pair.hosts[2]], kNoRoute);
  const PatternLoad sparse = pair.measure_permutation(shift(4, 2));
  EXPECT_EQ(sparse.lost, 1u);
  const PatternLoad dense = pair.measure(uniform_pattern(4));
  EXPECT_EQ(dense.lost, 4u);
  EXPECT_DOUBLE_EQ(dense.max, 1.0) << "what goes to the left";
  pair.tables = {};
  EXPECT_EQ(pair.measure_permutation(shift(4, 2)).lost, 4u);
}

TEST(PatternLoad, LoopsLoseTheirPackets) {
  Pair pair;
  pair.tables.set_route(SwitchIdx{1}, pair.lids.base[pair.hosts[2]], port_num(2));
  EXPECT_EQ(pair.measure_permutation(shift(4, 2)).lost, 1u);
  pair.tables.set_route(SwitchIdx{1}, pair.lids.base[pair.hosts[2]], port_num(4));
  EXPECT_EQ(pair.measure_permutation(shift(4, 2)).lost, 1u) << "delivered to another host";
  pair.tables.set_route(SwitchIdx{1}, pair.lids.base[pair.hosts[2]], port_num(0));
  EXPECT_EQ(pair.measure_permutation(shift(4, 2)).lost, 1u) << "kept by a switch";
}

TEST(PatternLoad, AFasterChannelCarriesMore) {
  Pair pair;
  const auto set = [&](std::string_view at, LinkWidth width) {
    PortInfo& info = pair.fabric.port_info[port(pair.fabric, at)];
    info.link_width_active = static_cast<std::uint8_t>(width);
    info.link_speed_active = 1;
  };
  for (const PortIdx host : pair.hosts) {
    pair.fabric.port_info[host].link_width_active = static_cast<std::uint8_t>(LinkWidth::X4);
    pair.fabric.port_info[host].link_speed_active = 1;
  }
  set("S1:1", LinkWidth::X12);
  set("S2:1", LinkWidth::X12);
  EXPECT_DOUBLE_EQ(pair.measure_permutation(shift(4, 2)).throughput, 1.0);
  set("S2:1", LinkWidth::X1);
  EXPECT_DOUBLE_EQ(pair.measure_permutation(shift(4, 2)).throughput, 0.125);
}

TEST(PatternLoad, AFabricWithoutHostsHasNoLimit) {
  const Fabric fabric = fabric_from("S1-S2");
  const LidMap lids = lids_in_order(fabric);
  const PatternLoad load =
      measure_pattern(fabric, lids, compute("updn", fabric, lids).lft, {}, uniform_pattern(0));
  EXPECT_EQ(load.flows, 0u);
  EXPECT_DOUBLE_EQ(load.throughput, 1.0);
}

TEST(EffectiveBisection, IsTheMeanShareOfAFlowOnItsWorstChannel) {
  // Two hosts: the permutation exchanges them or leaves them alone, and nobody is in the way.
  const Fabric two = fabric_from("S1-S2 S1-H1 S2-H2");
  const LidMap lids = lids_in_order(two);
  const auto hosts = find_hosts(two, lids);
  const EffectiveBisection free =
      measure_effective_bisection(two, lids, compute("updn", two, lids).lft, hosts, 20, 1);
  EXPECT_DOUBLE_EQ(free.mean, 1.0);

  // Over one cable: of n flows that cross it each gets 1/n; a pair on one switch gets all.
  const Pair pair;
  const EffectiveBisection shared =
      measure_effective_bisection(pair.fabric, pair.lids, pair.tables, pair.hosts, 2000, 1);
  // By hand, over the 24 permutations of four hosts and those that send: see below.
  double sum = 0;
  unsigned counted = 0;
  std::vector<HostNum> to = shift(4, 0);
  do {
    unsigned sending = 0, right = 0, left = 0;
    for (HostNum host = 0; host < 4; ++host) {
      if (to[host] == host) continue;
      ++sending;
      right += host < 2 && to[host] >= 2;
      left += host >= 2 && to[host] < 2;
    }
    if (sending == 0) continue;
    // The flows of one direction get 1/n each: 1 together.
    const unsigned crossing = right + left;
    sum += (sending - crossing + (right > 0) + (left > 0)) / static_cast<double>(sending);
    ++counted;
  } while (std::ranges::next_permutation(to).found);
  EXPECT_NEAR(shared.mean, sum / counted, 0.01);
  EXPECT_DOUBLE_EQ(shared.worst, 0.5);
  EXPECT_EQ(shared.lost, 0u);
}

TEST(EffectiveBisection, TheBusiestChannelOfAPathCountsNotItsLast) {
  // H1 and H2 on S1, H3 on S2, H4 on S3, in a line: by hand over all permutations.
  const Fabric fabric = fabric_from("S1-S2 S2-S3 S1-H1 S1-H2 S2-H3 S3-H4");
  const LidMap lids = lids_in_order(fabric);
  const int at[] = {0, 0, 1, 2};
  double sum = 0;
  unsigned counted = 0;
  std::vector<HostNum> to = shift(4, 0);
  do {
    const auto crosses = [&](HostNum host, int link, bool right) {
      const int from = at[host], end = at[to[host]];
      return right ? from <= link && end > link : end <= link && from > link;
    };
    double shares = 0;
    unsigned sending = 0;
    for (HostNum host = 0; host < 4; ++host) {
      if (to[host] == host) continue;
      ++sending;
      unsigned most = 1;
      for (const int link : {0, 1}) {
        for (const bool right : {false, true}) {
          if (!crosses(host, link, right)) continue;
          unsigned flows = 0;
          for (HostNum other = 0; other < 4; ++other)
            flows += to[other] != other && crosses(other, link, right);
          most = std::max(most, flows);
        }
      }
      shares += 1.0 / most;
    }
    if (sending == 0) continue;
    sum += shares / sending;
    ++counted;
  } while (std::ranges::next_permutation(to).found);
  const EffectiveBisection found = measure_effective_bisection(
      fabric, lids, compute("minhop", fabric, lids).lft, find_hosts(fabric, lids), 4000, 1);
  EXPECT_NEAR(found.mean, sum / counted, 0.01);
}

// The less arrives, the less is in the way: that is no gain.
TEST(EffectiveBisection, AFlowWithoutARouteGetsNothing) {
  Pair pair;
  const auto measure = [&] {
    return measure_effective_bisection(pair.fabric, pair.lids, pair.tables, pair.hosts, 200, 1);
  };
  const EffectiveBisection whole = measure();
  for (const HostNum host : {2u, 3u})
    pair.tables.set_route(SwitchIdx{0}, pair.lids.base[pair.hosts[host]], kNoRoute);
  const EffectiveBisection half = measure();
  EXPECT_GT(half.lost, 0u);
  EXPECT_LT(half.mean, whole.mean) << "nothing crosses to the right";
  EXPECT_LT(half.worst, whole.worst);
  pair.tables = {};
  EXPECT_EQ(measure().mean, 0);
  EXPECT_EQ(measure().worst, 0);
}

TEST(EffectiveBisection, FollowsItsSeed) {
  const Pair pair;
  const auto measure = [&](std::uint64_t seed) {
    return measure_effective_bisection(pair.fabric, pair.lids, pair.tables, pair.hosts, 5, seed)
        .mean;
  };
  EXPECT_DOUBLE_EQ(measure(3), measure(3));
}

TEST(PathSets, CountsEntriesOfLidsThatNobodyHas) {
  Pair pair;
  EXPECT_EQ(measure_path_sets(pair.fabric, pair.lids, pair.tables), PathSetReport{});
  pair.tables.set_route(SwitchIdx{1}, Lid{20}, port_num(3));
  pair.tables.set_route(SwitchIdx{0}, Lid{0}, port_num(3));
  EXPECT_EQ(measure_path_sets(pair.fabric, pair.lids, pair.tables).unused_entries, 1u);
}

TEST(PathSets, CountsPathsThatAreThereTwice) {
  const Fabric fabric = fabric_from("S1:1-S2:1 S1:2-S2:2 S1:3-H1 S2:3-H2");
  const LidMap lids = lids_in_order(fabric, 1);
  ForwardingTables tables{2, lids.top};
  for (const unsigned offset : {0u, 1u}) {
    const auto lid = [&](const char* host) {
      return Lid{static_cast<std::uint16_t>(lids.base[end_port(fabric, host)].value() + offset)};
    };
    tables.set_route(SwitchIdx{0}, lid("H1"), port_num(3));
    tables.set_route(SwitchIdx{1}, lid("H1"), port_num(1 + offset));
    tables.set_route(SwitchIdx{0}, lid("H2"), port_num(1));
    tables.set_route(SwitchIdx{1}, lid("H2"), port_num(3));
  }
  const PathSetReport report = measure_path_sets(fabric, lids, tables);
  EXPECT_EQ(report.paths, 4u) << "from S1 and from S2, two each";
  EXPECT_EQ(report.duplicate_paths, 1u) << "to H2 both ways are one";
}

}  // namespace patterns_test
}  // namespace smd::test
