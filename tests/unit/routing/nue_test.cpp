// Any connected fabric, any number of lanes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "sim-backend/topology/snapshot.h"
#include "smd/routing/check.h"
#include "tests/unit/routing/paths.h"
#include "tests/unit/routing/random_fabric.h"

namespace smd::test {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

Fabric drawn(const std::string& spec) {
  return *sim::build_snapshot(sim::load_fabric(spec).value());
}

RoutingTables nue(const Fabric& f, const LidMap& lids, unsigned lanes) {
  return find_engine("nue")->compute(f, lids, {.max_vls = lanes}).value();
}

// Links of all routes between hosts.
double count_links(const Fabric& f, const LidMap& lids, const ForwardingTables& lft) {
  return measure_load(f, lids, lft).mean;  // per channel, and those are the same for all engines
}

double over_shortest(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  return count_links(f, lids, tables.lft) / count_links(f, lids, compute("minhop", f, lids).lft);
}

std::string ring(int switches) {
  std::string text;
  for (int s = 1; s <= switches; ++s)
    text += fmt::format("S{}-S{} S{}-H{} ", s, s % switches + 1, s, s);
  return text;
}

struct Row {
  const char* name;
  const char* spec;
};

class NueOn : public ::testing::TestWithParam<std::tuple<Row, unsigned>> {};

TEST_P(NueOn, EveryPairIsServedWithoutDeadlock) {
  const auto& [row, lanes] = GetParam();
  const Fabric f = drawn(row.spec);
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = nue(f, lids, lanes);
  EXPECT_LE(tables.vls, lanes);
  const RouteReport report = check_routes(f, lids, tables);
  EXPECT_THAT(report.first_faults, IsEmpty());
  EXPECT_TRUE(report.acyclic) << print_cycle(f, report.cycle);
  EXPECT_EQ(report.disconnected, 0u);
}

TEST_P(NueOn, HostsHaveTheLaneOfTheirDestinationWhereverTheyAre) {
  const auto& [row, lanes] = GetParam();
  const Fabric f = drawn(row.spec);
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = nue(f, lids, lanes);
  if (tables.path_sls.empty()) {
    EXPECT_EQ(tables.vls, 1u);
    return;
  }
  for (std::uint16_t lid = 1; lid <= lids.top.value(); ++lid) {
    const std::uint8_t sl = tables.path_sls.sl(SwitchIdx{0}, Lid{lid});
    EXPECT_LT(sl, tables.vls);
    for (const SwitchIdx sw : f.switch_node.indices())
      EXPECT_EQ(tables.path_sls.sl(sw, Lid{lid}), sl);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics,
    NueOn,
    ::testing::Combine(
        ::testing::Values(Row{"ring", "torus:dims=9,hosts=1"},
                          Row{"torus2d", "torus:dims=6.5,hosts=2"},
                          Row{"torus3d", "torus:dims=4.4.4,hosts=1"},
                          Row{"hypercube", "hypercube:dim=5,hosts=1"},
                          Row{"dragonfly", "dragonfly:a=4,c=2,h=2"},
                          Row{"irregular", "irregular:switches=24,ports=12,links=4,hosts=4"},
                          Row{"sparse", "irregular4:switches=32,nodes=60"},
                          Row{"hyperx", "hyperx:dims=4.4,hosts=2"},
                          Row{"fat_tree", "fat-tree:k=6,levels=3"}),
        ::testing::Values(1u, 2u, 3u, 4u, 8u, 15u)),
    [](const auto& row) {
      return fmt::format("{}_{}", std::get<0>(row.param).name, std::get<1>(row.param));
    });

}  // namespace
}  // namespace smd::test
