// fabric.non_minimal = "almost-minimal": what is refused and where, and what hosts of a slim fly
// gain that spread an adverse shift over their LIDs.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "sim-backend/scenario/run.h"
#include "tests/support/scenario_text.h"

namespace smd::sim::test {
namespace almost_minimal_scenario_test {

constexpr const char* kFly = "[fabric]\nname = \"slim-fly:q=5\"\n";
constexpr const char* kApart = "non_minimal = \"almost-minimal\"\n";

TEST(AlmostMinimalScenario, WhatCannotBeIsRefusedWithItsLine) {
  const std::string apart = std::string(kFly) + kApart;  // line 3
  EXPECT_EQ(fault_of_text(apart + "lmc = 1\nvls = 8\nengine = \"dfsssp\"\n"), "");
  EXPECT_EQ(fault_of_text(apart + "vls = 8\nengine = \"dfsssp\"\n"),
            "s.toml:3: fabric.non_minimal almost-minimal is about LIDs beyond the first of a host: "
            "fabric.lmc = 1 to 7");
  EXPECT_EQ(
      fault_of_text(apart +
                    "lmc = 1\nvls = 8\nengine = \"dfsssp\"\npath_sets = \"updn-shortest\"\n"),
      "s.toml:3: fabric.non_minimal almost-minimal and fabric.path_sets both say what LIDs beyond "
      "the first lead to; one of them");
}

struct WaysCase {
  const char* ways;
  double stable;     // a load that they carry
  double saturated;  // and one that they do not
};

class AlmostMinimalAtLoad : public testing::TestWithParam<WaysCase> {};

// Four hosts of a switch send to those of the 24th from it, over the one path of two links, or two,
// where two such pairs share a link; docs/engines.md has 0.125 and 0.219 as the highest stable
// loads.
TEST_P(AlmostMinimalAtLoad, CarryWhatTheirRoutesDo) {
  const WaysCase& with = GetParam();
  const auto prepared = prepare_text(fmt::format(R"({}engine = "dfsssp"
lmc = 2
vls = 8
non_minimal = "{}"
[traffic]
pattern = "tornado"
dims = [50]
lid = "any"
{})",
                                                 kFly,
                                                 with.ways,
                                                 kShortRun));
  ASSERT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  expect_carried(*prepared, with.stable, with.saturated);
}

INSTANTIATE_TEST_SUITE_P(SlimFly,
                         AlmostMinimalAtLoad,
                         testing::Values(WaysCase{"off", 0.1, 0.17},
                                         WaysCase{"almost-minimal", 0.17, 0.27}));

}  // namespace almost_minimal_scenario_test
}  // namespace smd::sim::test
