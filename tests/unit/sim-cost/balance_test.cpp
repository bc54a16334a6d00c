// Equations of balance on published networks: those that hold, and those that name what is missing.
#include "sim-backend/cost/balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace smd::sim::test {
namespace {

using testing::ElementsAre;
using testing::Optional;

std::map<std::string, BalanceEquation> equations_of(const std::string& fabric,
                                                    std::uint32_t group = 0) {
  const FabricSpec spec = load_fabric(fabric).value();
  std::map<std::string, BalanceEquation> out;
  for (BalanceEquation& each :
       balance_equations(Shape::find(spec, {.dims = {}, .group = group}).value())) {
    out.emplace(each.id, each);
  }
  return out;
}

std::vector<std::string> violated(const std::string& fabric, std::uint32_t group = 0) {
  std::vector<std::string> out;
  for (const auto& [id, each] : equations_of(fabric, group)) {
    EXPECT_EQ(each.holds, each.cure.empty()) << id;
    if (!each.holds) out.push_back(id);
  }
  return out;
}

TEST(Balance, HoldsOnPublishedNetworksOfWellChosenTrunks) {
  for (const char* fabric : {"hamming:dims=16.16,hosts=16",
                             "hamming:dims=6.16,hosts=16,trunk=3.1",
                             "hamming:dims=4.4.7,hosts=7,trunk=2.2.1",
                             "hamming:dims=4.7.7,hosts=7,trunk=2.1.1",
                             "dragonfly:a=5,c=2,h=2",
                             "dragonfly:a=9,c=4,h=4",
                             "dragonfly:a=9,c=4,h=4,groups=19,global-trunk=2",
                             "dragonfly:a=9,c=8,h=8,local-trunk=2"}) {
    EXPECT_THAT(violated(fabric), ElementsAre()) << fabric;
  }
  EXPECT_THAT(violated("dragonfly:a=9,c=8,h=8,groups=9,global-trunk=9", 9), ElementsAre());
}

TEST(Balance, NamesWhatIsViolatedAndWhatWouldCureIt) {
  // {6, 16} with single cables: Cray's XC30 with 4 hosts on a router is short in no dimension.
  EXPECT_THAT(violated("hamming:dims=6.16,hosts=16"), ElementsAre("3.3", "3.5", "3.7"));
  EXPECT_THAT(violated("hamming:dims=6.16,hosts=4"), ElementsAre("3.5", "3.7"));
  EXPECT_EQ(equations_of("hamming:dims=6.16,hosts=16").at("3.5").cure, "trunks of 1, 3");
  EXPECT_THAT(violated("hamming:dims=4.4,hosts=7,trunk=2"), ElementsAre("3.6"))
      << "everything twice: twice the hosts, but dearer than it need be";
  EXPECT_THAT(violated("dragonfly:a=9,c=4,h=2,groups=19"), ElementsAre("4.3", "4.5", "c = h"));
  EXPECT_THAT(violated("dragonfly:a=9,c=8,h=8"), ElementsAre("4.5"));
  EXPECT_EQ(equations_of("dragonfly:a=9,c=8,h=8").at("4.5").cure, "a trunk of 2 within groups");
  EXPECT_THAT(violated("dragonfly:a=5,c=3,h=2"), ElementsAre("c = h"));
  // 9 cables between each two of 4 groups of 4: two routers have 6 of them, two have 7.
  EXPECT_THAT(violated("dragonfly:a=4,c=7,h=7,groups=4,global-trunk=9", 4),
              testing::Contains("4.4"));
}

TEST(Balance, TrunksFollowFromThePrintedEquationsButOne) {
  EXPECT_THAT(balanced_trunks({6, 16}), Optional(ElementsAre(3, 1)));
  EXPECT_THAT(balanced_trunks({4, 4, 7}), Optional(ElementsAre(2, 2, 1)));
  EXPECT_THAT(balanced_trunks({4, 7, 7}), Optional(ElementsAre(2, 1, 1)));
  EXPECT_EQ(balanced_trunks({5, 16}), std::nullopt) << "15 neighbours are no multiple of 4";
  // 3.4 as printed has t K (K - 1) / 2 alike: 45 against 120 of the very network that it is
  // printed for.
  EXPECT_EQ(3 * 6 * 5 / 2, 45);
  EXPECT_EQ(1 * 16 * 15 / 2, 120);
  EXPECT_TRUE(equations_of("hamming:dims=6.16,hosts=16,trunk=3.1").at("3.5").holds);
}

TEST(Balance, LimitsAreCountedWhereThatEnds) {
  const auto limits = load_limits(load_fabric("hamming:dims=6.16,hosts=16,trunk=2.1").value());
  ASSERT_EQ(limits.size(), 6u);
  EXPECT_NEAR(limits[0].counted.value(), 0.75, 1e-9);
  EXPECT_NEAR(limits[1].counted.value(), 1.0 / 16, 1e-9);
  EXPECT_NEAR(limits[3].counted.value(), 0.375, 1e-9);
  // 1,728 routers by any of 1,728 to any of them are too many.
  const auto large = load_limits(load_fabric("hamming:dims=12.12.12,hosts=12").value());
  EXPECT_EQ(large[3].counted, std::nullopt);
  EXPECT_NEAR(large[3].closed.value(), 0.5, 1e-9);
  // Local cables are what limits this one, which the formula of global ones does not see.
  const auto dragonfly = load_limits(load_fabric("dragonfly:a=5,c=4,h=4").value());
  EXPECT_LT(dragonfly[0].counted.value(), 0.7);
  EXPECT_NEAR(dragonfly[0].closed.value(), 1, 1e-9);
}

TEST(Balance, LargestNetworksOfARadix) {
  for (const auto& [radix, hosts] : {std::pair{16u, 1332u},
                                     {32u, 18632u},
                                     {48u, 90300u},
                                     {64u, 279312u},
                                     {128u, 65u * 32u * 2081u}}) {
    EXPECT_EQ(largest_dragonfly(radix).hosts, hosts) << radix;
  }
  EXPECT_EQ(largest_butterfly(64, 1).hosts, 1024u);
  EXPECT_EQ(largest_butterfly(64, 2).hosts, 10648u);
  EXPECT_EQ(largest_butterfly(64, 3).hosts, 65536u);
  EXPECT_EQ(largest_butterfly(64, 4).hosts, 371293u);
  EXPECT_EQ(largest_butterfly(36, 2).hosts, 1728u);
}

}  // namespace
}  // namespace smd::sim::test
