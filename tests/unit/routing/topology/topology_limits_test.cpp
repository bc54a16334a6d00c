// What minimal routes can carry at most, against the exact values: fractions of the rate at which
// all hosts can send at once. Flattened butterflies with trunks, dragonflies with trunks between
// groups and within them; uniform traffic, and the patterns that hurt them most. From a study of
// both by simulation and by formula (Benito Hoz, 2014), recomputed exactly.
#include <gtest/gtest.h>

#include "smd/routing/verify/patterns.h"
#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace topology_limits_test {

struct Row {
  const char* engine;
  const char* fabric;
  double uniform;
  double adverse;
  std::vector<std::uint32_t> sides;  // of a flattened butterfly; empty: a dragonfly
  std::size_t switches_per_group = 1;
};

class Limits : public ::testing::TestWithParam<Row> {
 protected:
  Limits()
      : fabric_(Reshaped{GetParam().fabric}.build()),
        lids_(lids_in_order(fabric_)),
        hosts_(find_hosts(fabric_, lids_)) {}

  [[nodiscard]] double throughput(const TrafficPattern& pattern) const {
    const RoutingTables tables = compute(GetParam().engine, fabric_, lids_);
    return measure_pattern(fabric_, lids_, tables.lft, hosts_, pattern).throughput;
  }

  // The hosts of each switch, or of each group of switches.
  [[nodiscard]] std::vector<std::vector<HostNum>> groups() const {
    std::vector<std::vector<HostNum>> groups;
    const auto switches = group_by_switch(fabric_, hosts_);
    for (std::size_t s = 0; s < switches.size(); ++s) {
      if (s % GetParam().switches_per_group == 0) groups.emplace_back();
      groups.back().insert(groups.back().end(), switches[s].begin(), switches[s].end());
    }
    return groups;
  }

  Fabric fabric_;
  LidMap lids_;
  std::vector<PortIdx> hosts_;
};

TEST_P(Limits, UniformTraffic) {
  EXPECT_NEAR(throughput(uniform_pattern(static_cast<HostNum>(hosts_.size()))),
              GetParam().uniform,
              0.005 * GetParam().uniform);
}

TEST_P(Limits, AdverseTraffic) {
  const auto all = groups();
  const auto next = GetParam().sides.empty() ? next_group(static_cast<std::uint32_t>(all.size()))
                                             : next_diagonally(GetParam().sides);
  EXPECT_NEAR(throughput(group_pattern(all, next, static_cast<HostNum>(hosts_.size()))),
              GetParam().adverse,
              0.005 * GetParam().adverse);
}

INSTANTIATE_TEST_SUITE_P(
    FlattenedButterfly,
    Limits,
    ::testing::Values(
        Row{"hamming", "hamming:dims=16.16,hosts=16", 1.0, 1.0 / 16, {16, 16}},
        Row{"hamming", "hamming:dims=6.16,hosts=6", 1.0, 1.0 / 6, {6, 16}},
        Row{"hamming", "hamming:dims=6.16,hosts=16", 0.375, 1.0 / 16, {6, 16}},
        Row{"hamming", "hamming:dims=6.16,hosts=16,trunk=2.1", 0.75, 1.0 / 16, {6, 16}},
        Row{"hamming", "hamming:dims=6.16,hosts=16,trunk=3.1", 1.0, 1.0 / 16, {6, 16}},
        Row{"hamming", "hamming:dims=4.4.7,hosts=7", 4.0 / 7, 1.0 / 7, {4, 4, 7}},
        Row{"hamming", "hamming:dims=4.4.7,hosts=7,trunk=2.2.1", 1.0, 1.0 / 7, {4, 4, 7}},
        Row{"hamming", "hamming:dims=4.7.7,hosts=7", 4.0 / 7, 1.0 / 7, {4, 7, 7}},
        Row{"hamming", "hamming:dims=4.7.7,hosts=7,trunk=2.1.1", 1.0, 1.0 / 7, {4, 7, 7}}));

INSTANTIATE_TEST_SUITE_P(
    Dragonfly,
    Limits,
    ::testing::Values(
        Row{"dragonfly", "dragonfly:a=5,h=2,c=2,groups=11", 1.0, 0.1, {}, 5},
        Row{"dragonfly", "dragonfly:a=9,h=4,c=4,groups=37", 1.0, 1.0 / 36, {}, 9},
        Row{"dragonfly", "dragonfly:a=9,h=2,c=4,groups=19", 0.5278, 1.0 / 36, {}, 9},
        Row{"dragonfly", "dragonfly:a=9,h=4,c=4,groups=19,global-trunk=2", 1.0, 2.0 / 36, {}, 9},
        Row{"dragonfly", "dragonfly:a=9,h=8,c=8,groups=9,global-trunk=9", 1.0, 0.125, {}, 9},
        Row{"dragonfly", "dragonfly:a=9,h=8,c=8,groups=73", 0.566, 1.0 / 72, {}, 9},
        Row{"dragonfly", "dragonfly:a=9,h=8,c=8,groups=73,local-trunk=2", 1.0, 1.0 / 72, {}, 9}));

// Every switch to the next one, whatever its coordinates: mostly over the one link between the two,
// which then carries all hosts of a switch.
class ButterflyLimits : public Limits {};

TEST_P(ButterflyLimits, TrafficToTheNextSwitch) {
  const auto all = groups();
  const auto next = next_group(static_cast<std::uint32_t>(all.size()));
  EXPECT_NEAR(throughput(group_pattern(all, next, static_cast<HostNum>(hosts_.size()))),
              GetParam().adverse,
              1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    ButterflyLimits,
    ::testing::Values(Row{"hamming", "hamming:dims=16.16,hosts=16", 1.0, 1.0 / 16, {16, 16}},
                      Row{"hamming", "hamming:dims=6.16,hosts=6", 1.0, 1.0 / 6, {6, 16}},
                      Row{"hamming", "hamming:dims=4.4.7,hosts=7", 4.0 / 7, 1.0 / 7, {4, 4, 7}}));

// The bits of a host's number backwards, on meshes with a host at every switch: against channels
// counted by coordinates.
class BitReversal : public ::testing::TestWithParam<unsigned> {};

TEST_P(BitReversal, LoadsAMeshAsItsCoordinatesSay) {
  const unsigned bits = GetParam(), side = 1u << bits;
  const std::string call =
      "torus:dims=" + std::to_string(side) + "." + std::to_string(side) + ",hosts=1,mesh=1";
  const Fabric f = Reshaped{call}.build();
  const LidMap lids = lids_in_order(f);
  const std::vector<PortIdx> hosts = find_hosts(f, lids);
  ASSERT_EQ(hosts.size(), std::size_t{side} * side);

  const auto reverse = [&](unsigned value) {
    unsigned out = 0;
    for (unsigned bit = 0; bit < bits; ++bit) out |= (value >> bit & 1u) << (bits - 1 - bit);
    return out;
  };
  // A host at row r, column c sends to row rev(c), column rev(r): along its row first. (Down its
  // column first gives the same picture, mirrored.) `out[c]`: who leaves column c rightwards.
  unsigned most = 0;
  for (unsigned row = 0; row < side; ++row) {
    std::vector<unsigned> out(side, 0), back(side, 0);
    for (unsigned column = 0; column < side; ++column) {
      const unsigned to = reverse(row);
      for (unsigned at = column; at < to; ++at) ++out[at];
      for (unsigned at = column; at > to; --at) ++back[at];
    }
    most = std::max({most, *std::ranges::max_element(out), *std::ranges::max_element(back)});
  }
  const PatternLoad load =
      measure_pattern(f,
                      lids,
                      compute("dor", f, lids).lft,
                      hosts,
                      permutation_pattern(bit_reversal(static_cast<HostNum>(hosts.size()))));
  EXPECT_EQ(load.lost, 0u);
  EXPECT_NEAR(load.max, most, 1e-9);
  EXPECT_NEAR(load.throughput, 1.0 / most, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Meshes, BitReversal, ::testing::Values(2u, 3u, 4u));

// What the choice of gateways alone can cost, where every switch has a link to every group.
TEST(GatewayLimits, UniformGatewaysCostTwoFifthsInTheExtreme) {
  const Fabric f = Reshaped{"dragonfly:a=9,h=8,c=8,groups=9,global-trunk=9"}.build();
  const LidMap lids = lids_in_order(f);
  const std::vector<PortIdx> hosts = find_hosts(f, lids);
  const RoutingTables tables =
      find_engine("dragonfly")
          ->compute(f, lids, {.options = {.gateways = GatewayChoice::Uniform}})
          .value();
  const double got =
      measure_pattern(
          f, lids, tables.lft, hosts, uniform_pattern(static_cast<HostNum>(hosts.size())))
          .throughput;
  EXPECT_LT(got, 0.6);
  EXPECT_GT(got, 0.5);
}

}  // namespace topology_limits_test
}  // namespace smd::test
