// Bring-up on a bad wire: every hop loses, doubles and delays SMPs. Everything comes up, and a seed
// repeats to the byte.
#include <gtest/gtest.h>

#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace lossy_bring_up_test {

constexpr std::uint64_t kSeeds = 50;

SimulatedSubnetOptions bad_wire(std::uint64_t seed) {
  SimulatedSubnetOptions options;
  options.seed = seed;
  options.faults = {.drop = 0.05, .duplicate = 0.05, .reorder = 0.05};
  options.settings.smp.retries = 12;
  options.settings.sweep_interval = std::chrono::seconds(1);
  return options;
}

struct Outcome {
  bool up = false;
  std::string inactive;
  std::string broken;
  std::uint64_t hash = 0;
  std::uint64_t drops = 0;
};

Outcome run(const std::string& fabric, std::uint64_t seed) {
  SimulatedSubnet subnet(spec_of(fabric), bad_wire(seed));
  subnet.manager.start();
  Outcome out;
  out.up = subnet.settle_up();
  out.inactive = find_inactive_port(subnet);
  out.broken = find_broken_route(subnet);
  out.hash = subnet.fabric.trace_hash();
  out.drops = subnet.fabric.stats().dropped_fault;
  return out;
}

class LossyBringUp : public testing::TestWithParam<const char*> {};

TEST_P(LossyBringUp, FiftySeedsComeUpAndRepeat) {
  std::uint64_t drops = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome first = run(GetParam(), seed);
    ASSERT_TRUE(first.up) << "seed " << seed;
    ASSERT_EQ(first.inactive, "") << "seed " << seed;
    ASSERT_EQ(first.broken, "") << "seed " << seed;
    drops += first.drops;
    const Outcome again = run(GetParam(), seed);
    ASSERT_EQ(first.hash, again.hash) << "seed " << seed << " does not repeat";
  }
  EXPECT_GT(drops, 0u) << "the wire lost nothing: the test proves nothing";
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         LossyBringUp,
                         testing::Values("example:name=fig67",
                                         "example:name=fig68",
                                         "example:name=fig69",
                                         "example:name=fig76",
                                         "example:name=flich",
                                         "fat-tree:k=4,levels=2",
                                         "fat-tree:k=4,levels=3",
                                         "fat-tree:k=6,levels=2",
                                         "torus:dims=3.3",
                                         "torus:dims=4.2",
                                         "torus:dims=4.3,mesh=1",
                                         "hypercube:dim=3",
                                         "dragonfly:a=2,c=1,h=1",
                                         "hamming:dims=3.3",
                                         "clos:m=3,n=1,r=4",
                                         "bmin:k=2,stages=3",
                                         "irregular:switches=8,seed=1",
                                         "irregular:switches=8,hosts=2,seed=2",
                                         "irregular4:switches=8,nodes=15,seed=1",
                                         "irregular4:switches=12,nodes=23,seed=2"));

TEST(LossySeeds, AnotherSeedIsAnotherHistory) {
  EXPECT_NE(run("example:name=fig67", 1).hash, run("example:name=fig67", 2).hash);
}

}  // namespace lossy_bring_up_test
}  // namespace smd::test
