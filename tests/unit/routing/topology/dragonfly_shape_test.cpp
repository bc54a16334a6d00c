// Dragonflies are found by their cables alone, whole and damaged.
#include "smd/routing/topology/dragonfly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/topology/lattice_record.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {
namespace {

using ::testing::HasSubstr;

// "sw-G-R" is in group G.
void expect_named_groups(const Fabric& f, const DragonflyShape& shape) {
  const auto group_in_name = [&](SwitchIdx sw) {
    const std::string& name = f.description[f.switch_node[sw]];
    return name.substr(0, name.rfind('-'));
  };
  for (const SwitchIdx a : f.switch_node.indices()) {
    for (const SwitchIdx b : f.switch_node.indices())
      EXPECT_EQ(shape.group[a] == shape.group[b], group_in_name(a) == group_in_name(b));
  }
}

struct Row {
  const char* call;
  const char* text;
};

class EveryDragonfly : public ::testing::TestWithParam<Row> {};

TEST_P(EveryDragonfly, IsFoundWhateverItsLabels) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Reshaped drawn{GetParam().call};
    if (seed != 0) drawn.relabel(seed);
    const Fabric f = drawn.build();
    const Result<DragonflyShape> shape = recognise_dragonfly(f);
    ASSERT_TRUE(shape) << shape.error().context;
    EXPECT_EQ(print_dragonfly(*shape), GetParam().text);
    expect_named_groups(f, *shape);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    EveryDragonfly,
    ::testing::Values(Row{"dragonfly:a=3,h=1", "dragonfly of 4 groups of 3, 1 link between groups"},
                      Row{"dragonfly:a=4,h=2", "dragonfly of 9 groups of 4, 1 link between groups"},
                      Row{"dragonfly:a=5,h=2,c=2",
                          "dragonfly of 11 groups of 5, 1 link between groups"},
                      Row{"dragonfly:a=9,h=4,groups=19,global-trunk=2",
                          "dragonfly of 19 groups of 9, 2 links between groups"},
                      Row{"dragonfly:a=6,h=2,local-trunk=2",
                          "dragonfly of 13 groups of 6, 1 link between groups"}));

// Either rows or columns are the groups: the graph does not tell.
TEST(DragonflyShape, ReadsAHammingGraphAsRows) {
  const Fabric f = Reshaped{"dragonfly:a=5,h=4,groups=5,global-trunk=5"}.build();
  const Result<DragonflyShape> shape = recognise_dragonfly(f);
  ASSERT_TRUE(shape) << shape.error().context;
  EXPECT_EQ(print_dragonfly(*shape), "dragonfly of 5 groups of 5, 5 links between groups");
}

TEST(DragonflyShape, SurvivesTheLossOfAnyCable) {
  const Reshaped whole = Reshaped{"dragonfly:a=4,h=2"}.relabel(2);
  for (const auto& [a, b] : whole.cables()) {
    const Fabric f = Reshaped{whole}.without_cable(a, b).build();
    const Result<DragonflyShape> shape = recognise_dragonfly(f);
    ASSERT_TRUE(shape) << a << " " << b << ": " << shape.error().context;
    expect_named_groups(f, *shape);
  }
}

TEST(DragonflyShape, SurvivesTheLossOfAnySwitch) {
  const Reshaped whole{"dragonfly:a=5,h=2"};
  for (const std::string& name : whole.switches()) {
    const Fabric f = Reshaped{whole}.without_switch(name).build();
    const Result<DragonflyShape> shape = recognise_dragonfly(f);
    ASSERT_TRUE(shape) << name << ": " << shape.error().context;
    expect_named_groups(f, *shape);
  }
}

// Switches of different groups have as many neighbours in common here as those of the damaged one.
TEST(DragonflyShape, SurvivesLossesWhereGlobalLinksFormTriangles) {
  for (const char* gone : {"sw-0-0", "sw-30-4", "sw-72-8"}) {
    const Fabric f = Reshaped{"dragonfly:a=9,h=8,c=1"}.without_switch(gone).build();
    const Result<DragonflyShape> shape = recognise_dragonfly(f);
    ASSERT_TRUE(shape) << gone << ": " << shape.error().context;
    EXPECT_EQ(print_dragonfly(*shape), "dragonfly of 73 groups of 9, 1 link between groups");
    expect_named_groups(f, *shape);
  }
}

// Whoever is gone keeps no place: another one takes it.
TEST(DragonflyShape, KeepsItsNumbersOverAnyLoss) {
  for (const char* call : {"dragonfly:a=4,h=2", "dragonfly:a=5,h=4,groups=5,global-trunk=5"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const Reshaped whole = Reshaped{call}.relabel(seed);
      const Fabric f = whole.build();
      const DragonflyShape before = recognise_dragonfly(f).value();
      const LatticeRecord record = record_dragonfly(f, before);
      const auto expect_same_places = [&](const Fabric& now, const DragonflyShape& is) {
        ASSERT_EQ(is.places, before.places);
        for (const SwitchIdx sw : now.switch_node.indices()) {
          const auto known = f.find_node(now.node_guid[now.switch_node[sw]]);
          if (!known) continue;
          EXPECT_EQ(is.group[sw], before.group[f.switch_of[*known]]) << print_switch(now, sw);
          EXPECT_EQ(is.place[sw], before.place[f.switch_of[*known]]) << print_switch(now, sw);
        }
      };
      for (const std::string& name : whole.switches()) {
        SCOPED_TRACE(fmt::format("{} {} without {}", call, seed, name));
        const Fabric g = Reshaped{whole}.without_switch(name).build();
        const Result<DragonflyShape> shape = recognise_dragonfly(g, NeighbourGraph{g}, &record);
        ASSERT_TRUE(shape) << shape.error().context;
        expect_same_places(g, *shape);
        const LatticeRecord rest = record_dragonfly(g, *shape);
        EXPECT_EQ(rest.cells.size() + 1, record.cells.size());
        const DragonflyShape back = recognise_dragonfly(f, NeighbourGraph{f}, &rest).value();
        expect_same_places(f, back);
        EXPECT_EQ(back.group, before.group);
        EXPECT_EQ(back.place, before.place);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
}

TEST(DragonflyShape, SaysWhatDoesNotFit) {
  const auto why = [](const Fabric& f) { return recognise_dragonfly(f).error().context; };
  EXPECT_THAT(why(fabric_from("S1-S2 S3-S4")), HasSubstr("not connected"));
  EXPECT_THAT(why(fabric_from("S1-S2 S2-S3")), HasSubstr("no three switches"));
  EXPECT_THAT(why(fabric_from("S1-S2 S2-S3 S3-S1")), HasSubstr("one group"));
  EXPECT_FALSE(recognise_dragonfly(Reshaped{"torus:dims=3.6"}.build()));
  EXPECT_FALSE(recognise_dragonfly(Reshaped{"hamming:dims=4.4.4"}.build()));
  EXPECT_FALSE(recognise_dragonfly(Reshaped{"fat-tree:k=4,levels=3"}.build()));
  EXPECT_FALSE(recognise_dragonfly(Reshaped{"irregular:switches=40,links=4,seed=3"}.build()));
}

}  // namespace
}  // namespace smd::test
