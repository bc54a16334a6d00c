// Limits, counted way by way and in closed form: both against the figures of published networks.
#include <gtest/gtest.h>

#include "sim-backend/adaptive/limits.h"

namespace smd::sim::test {
namespace limits_test {

constexpr auto kMin = RuleKind::Minimal;
constexpr auto kAny = RuleKind::MinimalAdaptive;
constexpr auto kVal = RuleKind::Valiant;

struct LimitCase {
  const char* fabric;
  ShapeKeys keys;
  RuleSpec rule;
  RouterPattern pattern;
  double limit;
};

class Limits : public testing::TestWithParam<LimitCase> {};

TEST_P(Limits, AreWhatIsPrinted) {
  const LimitCase& c = GetParam();
  const FabricSpec spec = load_fabric(c.fabric).value();
  const AdaptiveRoutes routes(Shape::find(spec, c.keys).value(), c.rule);
  const double counted = count_limit(routes, c.pattern);
  EXPECT_NEAR(counted, c.limit, 0.005 * c.limit);
  const auto closed = closed_limit(routes, c.pattern);
  ASSERT_TRUE(closed.has_value());
  EXPECT_NEAR(*closed, counted, 0.005 * counted);
}

const char* const kSquare = "hamming:dims=8.8,hosts=8";
const char* const kTrunk1 = "hamming:dims=6.16,hosts=16,trunk=1.1";
const char* const kTrunk2 = "hamming:dims=6.16,hosts=16,trunk=2.1";
const char* const kTrunk3 = "hamming:dims=6.16,hosts=16,trunk=3.1";
const char* const kDragonfly = "dragonfly:a=5,c=2,h=2";

INSTANTIATE_TEST_SUITE_P(
    Butterflies,
    Limits,
    testing::Values(
        LimitCase{kSquare, {}, {.rule = kMin}, RouterPattern::Uniform, 1},
        LimitCase{kSquare, {}, {.rule = kMin}, RouterPattern::NextDiagonal, 1.0 / 8},
        LimitCase{kSquare, {}, {.rule = kAny}, RouterPattern::Uniform, 1},
        LimitCase{kSquare, {}, {.rule = kAny}, RouterPattern::NextDiagonal, 1.0 / 8},
        LimitCase{kSquare, {}, {.rule = kVal}, RouterPattern::Uniform, 0.5},
        LimitCase{kSquare, {}, {.rule = kVal}, RouterPattern::NextDiagonal, 0.5},
        LimitCase{kSquare, {}, {.rule = kVal}, RouterPattern::NextRouter, 0.5},
        LimitCase{kTrunk1, {}, {.rule = kMin}, RouterPattern::Uniform, 0.375},
        LimitCase{kTrunk2, {}, {.rule = kMin}, RouterPattern::Uniform, 0.75},
        LimitCase{kTrunk3, {}, {.rule = kMin}, RouterPattern::Uniform, 1},
        LimitCase{kTrunk2, {}, {.rule = kAny}, RouterPattern::Uniform, 0.75},
        LimitCase{kTrunk1, {}, {.rule = kVal}, RouterPattern::Uniform, 0.1875},
        LimitCase{kTrunk2, {}, {.rule = kVal}, RouterPattern::Uniform, 0.375},
        LimitCase{kTrunk3, {}, {.rule = kVal}, RouterPattern::Uniform, 0.5},
        LimitCase{kTrunk1, {}, {.rule = kMin}, RouterPattern::NextDiagonal, 1.0 / 16},
        LimitCase{kTrunk3, {}, {.rule = kMin}, RouterPattern::NextDiagonal, 1.0 / 16},
        LimitCase{kTrunk3, {}, {.rule = kAny}, RouterPattern::NextDiagonal, 1.0 / 16},
        LimitCase{
            "hamming:dims=4.4.7,hosts=7", {}, {.rule = kMin}, RouterPattern::Uniform, 4.0 / 7},
        LimitCase{
            "hamming:dims=4.4.7,hosts=7", {}, {.rule = kAny}, RouterPattern::Uniform, 4.0 / 7},
        LimitCase{"hamming:dims=4.4.7,hosts=7,trunk=2.2.1",
                  {},
                  {.rule = kMin},
                  RouterPattern::Uniform,
                  1}));

const RuleSpec kNotOwn{.rule = kVal, .among = IntermediateSet::NotOwn};
const RuleSpec kOthers{.rule = kVal, .among = IntermediateSet::Others};
const RuleSpec kRouters{.rule = kVal, .via = IntermediateKind::ByRouter};

INSTANTIATE_TEST_SUITE_P(
    Dragonflies,
    Limits,
    testing::Values(
        LimitCase{kDragonfly, {}, {.rule = kMin}, RouterPattern::Uniform, 1},
        LimitCase{kDragonfly, {}, {.rule = kMin}, RouterPattern::NextGroup, 0.1},
        LimitCase{kDragonfly, {}, {.rule = kVal}, RouterPattern::Uniform, 0.55},
        LimitCase{kDragonfly, {}, kRouters, RouterPattern::Uniform, 0.55},
        LimitCase{kDragonfly, {}, kRouters, RouterPattern::NextGroup, 0.55},
        LimitCase{kDragonfly, {}, kNotOwn, RouterPattern::NextGroup, 0.5},
        LimitCase{kDragonfly, {}, kOthers, RouterPattern::NextGroup, 0.45},
        LimitCase{"dragonfly:a=9,c=4,h=2,groups=19",
                  {},
                  {.rule = kMin},
                  RouterPattern::BetweenGroups,
                  0.5},
        LimitCase{"dragonfly:a=9,c=4,h=2,groups=19",
                  {},
                  {.rule = kMin},
                  RouterPattern::Uniform,
                  19.0 / 36},
        LimitCase{"dragonfly:a=9,c=4,h=2,groups=19",
                  {},
                  {.rule = kMin},
                  RouterPattern::NextGroup,
                  1.0 / 36},
        LimitCase{"dragonfly:a=9,c=4,h=4,groups=19,global-trunk=2",
                  {},
                  {.rule = kMin},
                  RouterPattern::NextGroup,
                  2.0 / 36},
        LimitCase{
            "dragonfly:a=9,c=4,h=2,groups=19", {}, {.rule = kVal}, RouterPattern::Uniform, 0.264},
        LimitCase{"dragonfly:a=9,c=8,h=8,groups=9,global-trunk=9",
                  {.group = 9},
                  {.rule = kMin},
                  RouterPattern::NextGroup,
                  0.125}));

double counted(const char* fabric,
               const RuleSpec& rule,
               RouterPattern pattern,
               ShapeKeys keys = {}) {
  const FabricSpec spec = load_fabric(fabric).value();
  return count_limit(AdaptiveRoutes(Shape::find(spec, keys).value(), rule), pattern);
}

TEST(CountedLimits, OnesOwnCableFirstLoadsTheTwoOfAPairUnevenly) {
  const char* const two = "dragonfly:a=9,c=4,h=4,groups=19,global-trunk=2";
  RuleSpec rule{.rule = kVal, .among = IntermediateSet::Others};
  EXPECT_NEAR(counted(two, rule, RouterPattern::NextGroup), 0.378, 0.002);
  rule.gateway = Spread::Random;
  EXPECT_NEAR(counted(two, rule, RouterPattern::NextGroup), 0.472, 0.002);
}

TEST(CountedLimits, TheGatewayDecidesWhereTrunksAreAsWideAsGroups) {
  const char* const wide = "dragonfly:a=9,c=8,h=8,groups=9,global-trunk=9";
  EXPECT_EQ(counted(wide, {.rule = kMin}, RouterPattern::Uniform, {.group = 9}), 1);
  EXPECT_NEAR(
      counted(
          wide, {.rule = kMin, .gateway = Spread::Random}, RouterPattern::Uniform, {.group = 9}),
      0.596,
      0.003);
}

}  // namespace limits_test
}  // namespace smd::sim::test
