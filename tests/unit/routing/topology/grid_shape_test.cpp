// Meshes and tori are found by their cables alone, whole and damaged.
#include "smd/routing/topology/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/topology/lattice_record.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// By what a grid is: one switch a cell, cables between neighbours only.
void expect_grid(const Fabric& f, const GridShape& grid) {
  std::vector<char> taken(grid.lattice.cells(), 0);
  for (const SwitchIdx sw : f.switch_node.indices()) {
    ASSERT_EQ(grid.lattice.at[grid.lattice.cell[sw]], sw);
    EXPECT_EQ(taken[grid.lattice.cell[sw]]++, 0);
    for (const PortIdx port : f.external_ports(f.switch_node[sw])) {
      if (f.peer[port] == kNone<PortIdx>) continue;
      const SwitchIdx far = f.switch_at(f.peer[port]);
      if (far == kNone<SwitchIdx>) continue;
      unsigned steps = 0;
      for (std::size_t d = 0; d < grid.lattice.dimensions(); ++d) {
        const unsigned a = grid.lattice.coordinate(sw, d), b = grid.lattice.coordinate(far, d);
        const unsigned apart = a < b ? b - a : a - b;
        steps += grid.wraps[d] ? std::min(apart, grid.lattice.sides[d] - apart) : apart;
      }
      EXPECT_EQ(steps, 1u) << print_port(f, port);
    }
  }
}

struct Row {
  const char* call;
  const char* text;
};

class EveryGrid : public ::testing::TestWithParam<Row> {};

TEST_P(EveryGrid, IsFoundWhateverItsLabels) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Reshaped drawn{GetParam().call};
    if (seed != 0) drawn.relabel(seed);
    const Fabric f = drawn.build();
    const Result<GridShape> grid = recognise_grid(f);
    ASSERT_TRUE(grid) << grid.error().context;
    EXPECT_EQ(print_grid(*grid), GetParam().text);
    EXPECT_TRUE(grid->lattice.full());
    expect_grid(f, *grid);
  }
}

// A ring of four is the same graph as two dimensions of two.
INSTANTIATE_TEST_SUITE_P(All,
                         EveryGrid,
                         ::testing::Values(Row{"torus:dims=2", "mesh 2"},
                                           Row{"torus:dims=3", "torus 3"},
                                           Row{"torus:dims=4", "mesh 2 x 2"},
                                           Row{"torus:dims=7", "torus 7"},
                                           Row{"torus:dims=6,mesh=1", "mesh 6"},
                                           Row{"torus:dims=5.5", "torus 5 x 5"},
                                           Row{"torus:dims=3.3", "torus 3 x 3"},
                                           Row{"torus:dims=3.4", "torus 3 x 2 x 2"},
                                           Row{"torus:dims=4.4", "mesh 2 x 2 x 2 x 2"},
                                           Row{"torus:dims=2.9", "torus 9 x 2"},
                                           Row{"torus:dims=6.8", "torus 8 x 6"},
                                           Row{"torus:dims=2.5,mesh=1", "mesh 5 x 2"},
                                           Row{"torus:dims=4.6,mesh=1", "mesh 6 x 4"},
                                           Row{"torus:dims=5.6.7", "torus 7 x 6 x 5"},
                                           Row{"torus:dims=3.3.5", "torus 5 x 3 x 3"},
                                           Row{"torus:dims=3.4.5,mesh=1", "mesh 5 x 4 x 3"},
                                           Row{"torus:dims=3.5.2.3", "torus 5 x 3 x 3 x 2"},
                                           Row{"torus:dims=2.3.2.3.5", "torus 5 x 3 x 3 x 2 x 2"},
                                           Row{"hypercube:dim=5", "mesh 2 x 2 x 2 x 2 x 2"}));

class EveryLoss : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryLoss, OfACableMovesNobody) {
  const Reshaped whole = Reshaped{GetParam()}.relabel(7);
  const GridShape before = recognise_grid(whole.build()).value();
  const Fabric f = whole.build();
  for (const auto& [a, b] : whole.cables()) {
    const Fabric damaged = Reshaped{whole}.without_cable(a, b).build();
    const Result<GridShape> grid = recognise_grid(damaged);
    ASSERT_TRUE(grid) << a << " " << b << ": " << grid.error().context;
    EXPECT_EQ(grid->lattice.sides, before.lattice.sides);
    EXPECT_EQ(grid->wraps, before.wraps);
    EXPECT_EQ(grid->lattice.cell, before.lattice.cell) << a << " " << b;
    expect_grid(damaged, *grid);
  }
}

// With the names of before; majorities of GUIDs are others without some switches. In a mesh the
// corner that a loss leaves on two cables may as well be where the loss is.
TEST_P(EveryLoss, OfASwitchMovesNobodyOfATorus) {
  for (std::uint64_t seed = 0; seed <= 10; ++seed) {
    Reshaped whole{GetParam()};
    if (seed != 0) whole.relabel(seed);
    const Fabric f = whole.build();
    const GridShape before = recognise_grid(f).value();
    const LatticeRecord record =
        record_lattice("dor", f, NeighbourGraph{f}, before.lattice, before.wraps);
    for (const std::string& name : whole.switches()) {
      const Fabric damaged = Reshaped{whole}.without_switch(name).build();
      const Result<GridShape> grid = recognise_grid(damaged, NeighbourGraph{damaged}, &record);
      ASSERT_TRUE(grid) << name << ": " << grid.error().context;
      EXPECT_EQ(grid->lattice.sides, before.lattice.sides) << name;
      EXPECT_EQ(grid->wraps, before.wraps);
      expect_grid(damaged, *grid);
      if (!before.torus()) continue;
      for (const SwitchIdx sw : damaged.switch_node.indices()) {
        const NodeIdx was = f.find_node(damaged.node_guid[damaged.switch_node[sw]]).value();
        ASSERT_EQ(grid->lattice.cell[sw], before.lattice.cell[f.switch_of[was]])
            << print_switch(damaged, sw) << " without " << name << ", seed " << seed;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryLoss,
                         ::testing::Values("torus:dims=5.6",
                                           "torus:dims=5.5.5",
                                           "torus:dims=6.5,mesh=1",
                                           "torus:dims=3.4.5,mesh=1"));

TEST(GridShape, LosesTheSizeOfARingThatNoOtherIsParallelTo) {
  const Reshaped ring{"torus:dims=9"};
  const Result<GridShape> cut =
      recognise_grid(Reshaped{ring}.without_cable("sw-3", "sw-4").build());
  ASSERT_TRUE(cut) << cut.error().context;
  EXPECT_EQ(print_grid(*cut), "mesh 9");
  EXPECT_EQ(print_grid(recognise_grid(Reshaped{ring}.without_switch("sw-3").build()).value()),
            "mesh 8");
}

TEST(GridShape, SurvivesManyLosses) {
  Reshaped drawn{"torus:dims=7.6.5"};
  Rng rng{11};
  for (int i = 0; i < 30; ++i) {
    const auto cables = drawn.cables();
    const auto& [a, b] = cables[rng.below(cables.size())];
    drawn.without_cable(a, b);
  }
  for (int i = 0; i < 5; ++i) {
    const auto names = drawn.switches();
    drawn.without_switch(names[rng.below(names.size())]);
  }
  drawn.relabel(3);
  const Fabric f = drawn.build();
  const Result<GridShape> grid = recognise_grid(f);
  ASSERT_TRUE(grid) << grid.error().context;
  EXPECT_EQ(print_grid(*grid), "torus 7 x 6 x 5, 5 switches missing");
  expect_grid(f, *grid);
}

TEST(GridShape, CountsParallelCablesOnce) {
  const Fabric f = fabric_from("S1-S2 S1-S2 S2-S3 S2-S3 S3-S4 S4-S5 S5-S1 S1-H1 S3-H2");
  EXPECT_EQ(print_grid(recognise_grid(f).value()), "torus 5");
}

TEST(GridShape, SaysWhatDoesNotFit) {
  const auto why = [](const Fabric& f) { return recognise_grid(f).error().context; };
  EXPECT_THAT(why(fabric_from("S1-H1")), HasSubstr("two switches at least"));
  EXPECT_THAT(why(fabric_from("S1-S2 S3-S4")), HasSubstr("not connected"));
  EXPECT_THAT(why(fabric_from("S1-S2 S1-S3 S1-S4 S1-H1")), HasSubstr("3 links are few"));
  EXPECT_THAT(why(Reshaped{"fat-tree:k=4,levels=3"}.build()), HasSubstr("neighbours in common"));
  // A tree: every dimension tears off the rest of those that the others have left in place.
  EXPECT_THAT(why(fabric_from("S5-S4 S4-S6 S10-S7 S7-S9 S2-S8 S3-S8 S10-S1 S7-S5 S2-S10 H1-S1")),
              HasSubstr("no switch has a place"));
  EXPECT_FALSE(recognise_grid(Reshaped{"hamming:dims=5.5"}.build()));
  EXPECT_FALSE(recognise_grid(Reshaped{"dragonfly:a=4,h=2"}.build()));
  EXPECT_FALSE(recognise_grid(Reshaped{"express-torus:dims=6.6"}.build()));
  EXPECT_FALSE(recognise_grid(Reshaped{"irregular:switches=40,links=4,seed=3"}.build()));
}

TEST(GridShape, IsNoTwistedTorus) {
  // 5 x 4, but whoever leaves a row at its end enters the next one: a ring of 20 with chords.
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += "S" + std::to_string(i + 1) + "-S" + std::to_string((i + 1) % 20 + 1) + " ";
    text += "S" + std::to_string(i + 1) + "-S" + std::to_string((i + 5) % 20 + 1) + " ";
  }
  EXPECT_FALSE(recognise_grid(fabric_from(text)));
}

}  // namespace
}  // namespace smd::test
