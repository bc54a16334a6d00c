#include "plugins/opensm/hop_matrix.h"

#include <gtest/gtest.h>

#include "tests/support/fabric_text.h"

namespace smd::opensm {
namespace {

using test::fabric_from;

/// The search of the engines, from one switch at a time, is the judge.
void expect_distances(const Fabric& fabric) {
  const SwitchGraph graph{fabric};
  const HopMatrix matrix{graph};
  for (const SwitchIdx from : fabric.switch_node.indices()) {
    const auto distances = compute_distances(graph, std::vector{from});
    for (const SwitchIdx to : fabric.switch_node.indices()) {
      const std::uint32_t far = distances[to];
      const std::uint32_t expected =
          far == kUnreached ? kNoPath : std::min<std::uint32_t>(far, kNoPath - 1u);
      ASSERT_EQ(matrix.hops(from, to), expected) << from.value() << " to " << to.value();
    }
  }
}

TEST(HopMatrix, CountsLinks) {
  const Fabric fabric = fabric_from("S1-S2 S2-S3 S3-S4 S4-S1 S4-S5 S1:9-S1:10 H1-S5");
  const HopMatrix matrix{SwitchGraph{fabric}};
  const SwitchIdx s2 = test::switch_named(fabric, "S2"), s5 = test::switch_named(fabric, "S5");
  EXPECT_EQ(matrix.hops(s2, s2), 0);
  EXPECT_EQ(matrix.hops(s2, s5), 3);
  EXPECT_EQ(matrix.hops(s5, s2), 3);
  expect_distances(fabric);
}

TEST(HopMatrix, IslandsHaveNoPath) {
  const Fabric fabric = fabric_from("S1-S2 S3-S4 S5");
  const HopMatrix matrix{SwitchGraph{fabric}};
  EXPECT_EQ(matrix.hops(test::switch_named(fabric, "S1"), test::switch_named(fabric, "S3")),
            kNoPath);
  expect_distances(fabric);
}

TEST(HopMatrix, MoreSwitchesThanBitsInAWord) {
  std::string ring;
  for (int s = 1; s <= 130; ++s)
    ring += "S" + std::to_string(s) + "-S" + std::to_string(s % 130 + 1) + " ";
  expect_distances(fabric_from(ring + "S1-S40 S77-S12"));
}

// OpenSM's matrices hold a byte, and 255 says that there is no path.
TEST(HopMatrix, FarAwayIsNotUnreachable) {
  std::string chain;
  for (int s = 1; s < 300; ++s)
    chain += "S" + std::to_string(s) + "-S" + std::to_string(s + 1) + " ";
  const Fabric fabric = fabric_from(chain);
  EXPECT_EQ((HopMatrix{SwitchGraph{fabric}}.hops(SwitchIdx{0}, SwitchIdx{299})), 254);
  expect_distances(fabric);
}

TEST(HopMatrix, OfNothing) { expect_distances(fabric_from("H1-H2")); }

}  // namespace
}  // namespace smd::opensm
