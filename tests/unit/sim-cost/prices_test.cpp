// A bill added up by hand, and what a price file may not say.
#include "sim-backend/cost/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::sim::test {
namespace {

using testing::HasSubstr;

constexpr const char* kPrices = R"([switch]
each = 1000
per_port = 100
[adapter]
per_port = 300
[cable]
copper = 50
copper_per_m = 10
copper_most_m = 5
optical = 200
optical_per_m = 3.5
[floor]
switches_per_rack = 2
within_m = 2
overhead_m = 3
rack_m = 1
row_m = 1000
)";

TEST(NetworkCosts, IsWhatItsLinesAddUpTo) {
  const Prices prices = parse_prices(kPrices, "prices.toml").value();
  // Four switches all joined, a host on each; racks of two: 0 and 1, 2 and 3.
  const FabricSpec spec = load_fabric("hamming:dims=2.2,hosts=1").value();
  const NetworkParts parts = count_parts(spec, prices.floor).value();
  const NetworkCosts bill = add_up(parts, prices);
  // Switches of 3 ports. 2 cables within racks and 4 of hosts of 2 m, 2 between racks of 7 m.
  EXPECT_DOUBLE_EQ(bill.switches, 4 * (1000 + 3 * 100));
  EXPECT_DOUBLE_EQ(bill.adapters, 4 * 300);
  EXPECT_EQ(bill.copper, 6u);
  EXPECT_EQ(bill.optical, 2u);
  EXPECT_DOUBLE_EQ(bill.cables, 6 * (50 + 2 * 10) + 2 * (200 + 7 * 3.5));
  EXPECT_DOUBLE_EQ(bill.total(), bill.switches + bill.adapters + bill.cables);
}

std::string faults_of(std::string text, std::string_view what, std::string_view instead) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), instead);
  const auto prices = parse_prices(text, "prices.toml");
  if (prices) return "none";
  std::string out;
  for (const Fault& fault : prices.error()) out += print_fault(fault) + "\n";
  return out;
}

TEST(Prices, EveryFaultHasItsLine) {
  EXPECT_EQ(faults_of(kPrices, "each = 1000\n", ""), "prices.toml: needs each in [switch]\n");
  EXPECT_EQ(faults_of(kPrices, "per_port = 300", "per_port = -1"),
            "prices.toml:5: adapter.per_port must be 0 to 1e+12\n");
  EXPECT_EQ(faults_of(kPrices, "optical = 200", "optical = \"dear\""),
            "prices.toml:10: cable.optical must be 0 to 1e+12\n");
  EXPECT_THAT(faults_of(kPrices, "copper_most_m", "copper_least_m"),
              HasSubstr("prices.toml:9: unknown key cable.copper_least_m; the nearest known one is "
                        "cable.copper_most_m\n"));
  EXPECT_THAT(faults_of(kPrices, "[floor]", "[ground]"),
              HasSubstr("prices.toml:12: unknown section [ground]"));
  EXPECT_EQ(faults_of(kPrices, "switches_per_rack = 2", "switches_per_rack = 0"),
            "prices.toml:13: floor.switches_per_rack must be 1 to 1000\n");
  EXPECT_EQ(faults_of(kPrices, "rack_m = 1\n", "rack_m = 0\n"),
            "prices.toml:16: floor.rack_m must be 0.01 to 10000\n");
  EXPECT_EQ(faults_of(kPrices, "within_m = 2\n", "within_m = 1e12\n"),
            "prices.toml:14: floor.within_m must be 0 to 10000\n");
  EXPECT_EQ(faults_of(kPrices, "overhead_m = 3\n", "overhead_m = 10001\n"),
            "prices.toml:15: floor.overhead_m must be 0 to 10000\n");
  EXPECT_EQ(faults_of(kPrices, "row_m = 1000\n", "row_m = 20000\n"),
            "prices.toml:17: floor.row_m must be 0.01 to 10000\n");
  EXPECT_EQ(faults_of(kPrices, "within_m = 2\n", "within_m = 10000\n"), "none");
  EXPECT_EQ(faults_of(kPrices, "within_m = 2\n", ""), "none") << "the floor has defaults";
}

}  // namespace
}  // namespace smd::sim::test
