// Shapes without an engine of their own: dragonfly+, dragonflies with butterfly groups, slim flies,
// rails, several trees joined by cores, random regular graphs. Which engine carries about as much
// as any routes can, by shortest paths, and on how many VLs.
#include <gtest/gtest.h>

#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/load_bound.h"
#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace other_shapes_test {

struct Row {
  const char* engine;
  const char* fabric;
  unsigned vls;
  double times_bound;  // paths on the fullest channel, against what some channel must carry
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.engine << " on " << row.fabric; }

class OtherShapes : public ::testing::TestWithParam<Row> {};

TEST_P(OtherShapes, AreServedByShortestPathsWithinTheBound) {
  const Row& row = GetParam();
  const Fabric fabric = Reshaped{row.fabric}.build();
  const LidMap lids = lids_in_order(fabric);
  const RoutingTables tables = compute(row.engine, fabric, lids);
  const RouteReport report = expect_sound(fabric, lids, tables);
  // Between switches without hosts there may be detours, and then they are told.
  if (tables.turns == nullptr) {
    EXPECT_EQ(report.minimal, report.pairs);
  }
  expect_shortest_between_hosts(fabric, lids, tables);
  EXPECT_EQ(report.disconnected, 0u);
  EXPECT_LE(tables.vls, row.vls);
  const double ratio = find_load_bound(fabric, lids)
                           .ratio(static_cast<double>(measure_load(fabric, lids, tables.lft).max));
  EXPECT_GE(ratio, 1.0 - 1e-9);
  EXPECT_LE(ratio, row.times_bound);
}

constexpr const char* kPlus = "dragonfly-plus:leaves=4,spines=4,hosts=4,global=4";
constexpr const char* kCray = "dragonfly:local=3.4,h=3,c=3,groups=13,global-trunk=3";
constexpr const char* kRandom = "irregular:switches=40,links=8,hosts=4,ports=12";

INSTANTIATE_TEST_SUITE_P(
    Engines,
    OtherShapes,
    ::testing::Values(Row{"itb-vl", kPlus, 3, 1.02},
                      Row{"dfsssp", kPlus, 1, 1.03},
                      Row{"itb-vl", kCray, 3, 1.05},
                      Row{"dfsssp", "slim-fly:q=5", 2, 1.0},
                      Row{"itb-vl", "slim-fly:q=5", 2, 1.0},
                      Row{"dfsssp", "slim-fly:q=7", 2, 1.0},
                      Row{"ftree", "rails", 1, 1.0},
                      Row{"ftree", "rails:units=4,hosts=32,rails=8,spines=16,parallel=2", 1, 1.0},
                      Row{"updn", "multi-plane:planes=4,leaves=8,spines=8,hosts=8,cores=8", 1, 1.0},
                      Row{"dfsssp", kRandom, 5, 1.15},
                      Row{"itb-vl", kRandom, 2, 1.20}));

// D-mod-k spreads what climbs by the number of the host, and where every spine of a plane meets
// every core, cores that are as many as spines get all of one spine's.
TEST(MultiPlane, WantsAnotherEngineThanFtreeWhereEverySpineMeetsEveryCore) {
  const Fabric fabric = Reshaped{"multi-plane:planes=4,leaves=8,spines=8,hosts=8,cores=8"}.build();
  const LidMap lids = lids_in_order(fabric);
  const auto fullest = [&](const char* engine) {
    return measure_load(fabric, lids, compute(engine, fabric, lids).lft).max;
  };
  EXPECT_GT(fullest("ftree"), 6 * fullest("updn"));
  EXPECT_EQ(fullest("auto"), fullest("updn"));
}

}  // namespace other_shapes_test
}  // namespace smd::test
