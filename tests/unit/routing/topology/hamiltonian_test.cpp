#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/topology/neighbour_graph.h"
#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<RoutingTables> hamiltonian(const Fabric& f, const LidMap& lids) {
  return find_engine("hamiltonian")->compute(f, lids, {});
}

// Every hop's label rises, or every hop's falls, and none passes the destination's.
void expect_labels_in_order(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  const auto order = find_hamiltonian_path(f, NeighbourGraph{f}, 1).value();
  std::map<std::string, int> label;
  for (std::size_t l = 0; l < order.size(); ++l)
    label[f.description[f.switch_node[order[l]]]] = static_cast<int>(l);
  for (const SwitchIdx from : f.switch_node.indices()) {
    for (const SwitchIdx to : f.switch_node.indices()) {
      const auto names = path(f,
                              lids,
                              tables.lft,
                              f.description[f.switch_node[from]],
                              f.description[f.switch_node[to]]);
      const int goal = label[f.description[f.switch_node[to]]];
      for (std::size_t i = 1; i < names.size(); ++i) {
        const int here = label[names[i - 1]], there = label[names[i]];
        EXPECT_TRUE(here < goal ? here < there && there <= goal : here > there && there >= goal);
      }
    }
  }
}

TEST(Hamiltonian, WalksAMeshRowByRow) {
  const Fabric f = Reshaped{"torus:dims=4.3,mesh=1"}.build();
  const auto order = find_hamiltonian_path(f, NeighbourGraph{f}, 1).value();
  std::vector<std::string> names;
  for (const SwitchIdx sw : order) names.push_back(f.description[f.switch_node[sw]]);
  EXPECT_THAT(names,
              ElementsAre("sw-0-0",
                          "sw-0-1",
                          "sw-0-2",
                          "sw-1-2",
                          "sw-1-1",
                          "sw-1-0",
                          "sw-2-0",
                          "sw-2-1",
                          "sw-2-2",
                          "sw-3-2",
                          "sw-3-1",
                          "sw-3-0"));
}

// R(u, v): the neighbour with the greatest label up to l(v), or the smallest down to it.
TEST(Hamiltonian, IsTheCappedRoutingFunctionOnAMesh) {
  for (const auto& [rows, columns] : {std::pair{6, 6}, std::pair{5, 3}, std::pair{7, 4}}) {
    const Fabric f =
        Reshaped{"torus:dims=" + std::to_string(rows) + "." + std::to_string(columns) + ",mesh=1"}
            .build();
    const LidMap lids = lids_in_order(f);
    const RoutingTables tables = compute("hamiltonian", f, lids);
    // 6 x 6 has equal sides: rows are along the dimension of near GUIDs or across it.
    const auto order = find_hamiltonian_path(f, NeighbourGraph{f}, 1).value();
    std::vector<int> label(order.size());
    for (std::size_t l = 0; l < order.size(); ++l) label[order[l].value()] = static_cast<int>(l);
    const NeighbourGraph graph{f};
    for (const SwitchIdx u : f.switch_node.indices()) {
      for (const SwitchIdx v : f.switch_node.indices()) {
        if (u == v) continue;
        SwitchIdx wanted = kNone<SwitchIdx>;
        for (const Neighbour& p : graph.around(u)) {
          const int lp = label[p.to.value()], lu = label[u.value()], lv = label[v.value()];
          const bool up = lu < lv;
          if (up ? (lp <= lu || lp > lv) : (lp >= lu || lp < lv)) continue;
          if (wanted == kNone<SwitchIdx> ||
              (up ? lp > label[wanted.value()] : lp < label[wanted.value()]))
            wanted = p.to;
        }
        const PortNum egress =
            tables.lft.route(u, lids.base[f.port_of(f.switch_node[v], PortNum{0})]);
        EXPECT_EQ(f.switch_at(f.peer[f.port_of(f.switch_node[u], egress)]), wanted);
      }
    }
    const RouteReport report = expect_sound(f, lids, tables);
    EXPECT_EQ(report.minimal, report.pairs);
    EXPECT_EQ(tables.vls, 1u);
  }
}

class EveryPath : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryPath, IsFollowedUpOrDownOnOneLane) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Reshaped drawn{GetParam()};
    if (seed != 0) drawn.relabel(seed);
    const Fabric f = drawn.build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = hamiltonian(f, lids);
    ASSERT_TRUE(tables) << tables.error().context;
    EXPECT_EQ(tables->vls, 1u);
    expect_sound(f, lids, *tables);
    expect_labels_in_order(f, lids, *tables);
    EXPECT_TRUE(check_routes(f, lids, *tables, {.any_sl = true}).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryPath,
                         ::testing::Values("torus:dims=4.5,mesh=1",
                                           "torus:dims=3.4.3,mesh=1",
                                           "torus:dims=5.6",
                                           "hypercube:dim=4",
                                           "hamming:dims=3.4",
                                           "dragonfly:a=4,h=2",
                                           "irregular:switches=24,links=4,seed=1"));

TEST(Hamiltonian, SurvivesTheLossOfAnyCableOfAMesh) {
  const Reshaped whole{"torus:dims=4.5,mesh=1"};
  for (const auto& [a, b] : whole.cables()) {
    SCOPED_TRACE(a + " " + b);
    const Fabric f = Reshaped{whole}.without_cable(a, b).build();
    const LidMap lids = lids_in_order(f);
    const Result<RoutingTables> tables = hamiltonian(f, lids);
    ASSERT_TRUE(tables) << tables.error().context;
    expect_sound(f, lids, *tables);
  }
}

TEST(Hamiltonian, SaysWhyThereIsNoPath) {
  const auto why = [](const Fabric& f) { return hamiltonian(f, lids_in_order(f)).error().context; };
  EXPECT_THAT(why(fabric_from("H1-H2")), HasSubstr("no switch"));
  EXPECT_THAT(why(fabric_from("S1-S2 S3-S4")), HasSubstr("S3 is not connected"));
  EXPECT_THAT(why(fabric_from("S1-S2 S1-S3 S1-S4")), HasSubstr("third switch with one neighbour"));
  EXPECT_THAT(why(fabric_from("S1-S3 S1-S4 S1-S5 S1-S6 S2-S3 S2-S4 S2-S5 S2-S6")),
              HasSubstr("4 switches only with the other 2"));
}

TEST(Hamiltonian, TakesASingleSwitch) {
  const Fabric f = fabric_from("S1-H1 S1-H2");
  const LidMap lids = lids_in_order(f);
  expect_sound(f, lids, compute("hamiltonian", f, lids));
}

}  // namespace
}  // namespace smd::test
