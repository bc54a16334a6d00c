// Hamming graphs are found by their cables alone, whole and damaged.
#include "smd/routing/topology/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "smd/routing/topology/lattice_record.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {
namespace {

using ::testing::HasSubstr;

void expect_hamming(const Fabric& f, const HammingShape& shape) {
  for (const SwitchIdx sw : f.switch_node.indices()) {
    ASSERT_EQ(shape.lattice.at[shape.lattice.cell[sw]], sw);
    for (const PortIdx port : f.external_ports(f.switch_node[sw])) {
      if (f.peer[port] == kNone<PortIdx>) continue;
      const SwitchIdx far = f.switch_at(f.peer[port]);
      if (far == kNone<SwitchIdx>) continue;
      unsigned differ = 0;
      for (std::size_t d = 0; d < shape.lattice.dimensions(); ++d)
        differ += shape.lattice.coordinate(sw, d) != shape.lattice.coordinate(far, d);
      EXPECT_EQ(differ, 1u) << print_port(f, port);
    }
  }
}

/// Whoever is in both snapshots.
void expect_same_cells(const Fabric& now,
                       const Lattice& is,
                       const Fabric& before,
                       const Lattice& was) {
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto known = before.find_node(now.node_guid[now.switch_node[sw]]);
    ASSERT_TRUE(known);
    EXPECT_EQ(is.cell[sw], was.cell[before.switch_of[*known]]) << print_switch(now, sw);
  }
}

struct Row {
  const char* call;
  const char* text;
};

class EveryHamming : public ::testing::TestWithParam<Row> {};

TEST_P(EveryHamming, IsFoundWhateverItsLabels) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Reshaped drawn{GetParam().call};
    if (seed != 0) drawn.relabel(seed);
    const Fabric f = drawn.build();
    const Result<HammingShape> shape = recognise_hamming(f);
    ASSERT_TRUE(shape) << shape.error().context;
    EXPECT_EQ(print_hamming(*shape), GetParam().text);
    expect_hamming(f, *shape);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    EveryHamming,
    ::testing::Values(Row{"hamming:dims=2", "Hamming graph 2, trunks 1"},
                      Row{"hamming:dims=7", "Hamming graph 7, trunks 1"},
                      Row{"hamming:dims=4.4", "Hamming graph 4 x 4, trunks 1 x 1"},
                      Row{"hamming:dims=6.16,trunk=3.1", "Hamming graph 16 x 6, trunks 1 x 3"},
                      Row{"hamming:dims=3.5.2", "Hamming graph 5 x 3 x 2, trunks 1 x 1 x 1"},
                      Row{"hamming:dims=4.4.7,trunk=2.2.1",
                          "Hamming graph 7 x 4 x 4, trunks 1 x 2 x 2"},
                      Row{"torus:dims=3.3", "Hamming graph 3 x 3, trunks 1 x 1"},
                      Row{"hypercube:dim=3", "Hamming graph 2 x 2 x 2, trunks 1 x 1 x 1"}));

TEST(HammingShape, SurvivesTheLossOfAnyCable) {
  for (const char* call : {"hamming:dims=4.5", "hamming:dims=4.4", "hamming:dims=3.3.4"}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Reshaped whole = Reshaped{call}.relabel(seed);
      const HammingShape before = recognise_hamming(whole.build()).value();
      for (const auto& [a, b] : whole.cables()) {
        const Result<HammingShape> shape =
            recognise_hamming(Reshaped{whole}.without_cable(a, b).build());
        ASSERT_TRUE(shape) << a << " " << b << ": " << shape.error().context;
        ASSERT_EQ(shape->lattice.cell, before.lattice.cell)
            << call << " " << seed << ": " << a << " " << b;
      }
    }
  }
}

TEST(HammingShape, SurvivesTheLossOfAnySwitch) {
  for (const auto& [call, text] :
       {std::pair{"hamming:dims=4.5", "Hamming graph 5 x 4, trunks 1 x 1, 1 switch missing"},
        std::pair{"hamming:dims=4.4", "Hamming graph 4 x 4, trunks 1 x 1, 1 switch missing"},
        std::pair{"hamming:dims=3.3.4",
                  "Hamming graph 4 x 3 x 3, trunks 1 x 1 x 1, 1 switch missing"}}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Reshaped whole = Reshaped{call}.relabel(seed);
      const Fabric f = whole.build();
      const HammingShape before = recognise_hamming(f).value();
      const LatticeRecord record =
          record_lattice("hamming", f, NeighbourGraph{f}, before.lattice, {});
      for (const std::string& name : whole.switches()) {
        const Fabric damaged = Reshaped{whole}.without_switch(name).build();
        const Result<HammingShape> shape =
            recognise_hamming(damaged, NeighbourGraph{damaged}, &record);
        ASSERT_TRUE(shape) << name << ": " << shape.error().context;
        EXPECT_EQ(print_hamming(*shape), text);
        expect_hamming(damaged, *shape);
        expect_same_cells(damaged, shape->lattice, f, before.lattice);
        ASSERT_FALSE(::testing::Test::HasFailure()) << call << " " << seed << " without " << name;
      }
    }
  }
}

TEST(HammingShape, SaysWhatDoesNotFit) {
  const auto why = [](const Fabric& f) { return recognise_hamming(f).error().context; };
  EXPECT_THAT(why(fabric_from("S1-H1")), HasSubstr("two switches at least"));
  EXPECT_THAT(why(fabric_from("S1-S2 S3-S4")), HasSubstr("not connected"));
  EXPECT_THAT(why(Reshaped{"fat-tree:k=4,levels=3"}.build()), HasSubstr("neighbours in common"));
  EXPECT_FALSE(recognise_hamming(Reshaped{"torus:dims=6.6"}.build()));
  EXPECT_FALSE(recognise_hamming(Reshaped{"torus:dims=4.4,mesh=1"}.build()));
  EXPECT_FALSE(recognise_hamming(Reshaped{"dragonfly:a=4,h=2"}.build()));
  EXPECT_FALSE(recognise_hamming(Reshaped{"irregular:switches=40,links=4,seed=3"}.build()));
}

}  // namespace
}  // namespace smd::test
