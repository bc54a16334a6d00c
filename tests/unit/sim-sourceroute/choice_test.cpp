// Which route a message takes: what Flich (2001) says of each rule, step by step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/sourceroute/route_choice.h"

namespace smd::sim::test {
namespace {

std::vector<std::uint32_t> draw(RouteChooser& chooser, int times, std::uint32_t bytes = 512) {
  Rng rng(1);
  std::vector<std::uint32_t> out;
  for (int i = 0; i < times; ++i) out.push_back(chooser.choose(bytes, rng));
  return out;
}

TEST(RouteChoice, OneIsAlwaysTheFirstAndRotateGoesOn) {
  const RouteChoiceSpec one{.kind = RouteChoiceKind::One}, rotate{.kind = RouteChoiceKind::Rotate};
  Rng rng(1);
  RouteChooser first(one, 3, 0, rng), turns(rotate, 3, 0, rng);
  EXPECT_THAT(draw(first, 3), testing::ElementsAre(0, 0, 0));
  const auto drawn = draw(turns, 4);
  for (std::size_t i = 1; i < drawn.size(); ++i) EXPECT_EQ(drawn[i], (drawn[i - 1] + 1) % 3);
}

// Most messages of a short run are the first of their pair.
TEST(RouteChoice, WhereTurnsBeginIsDrawn) {
  for (const RouteChoiceKind kind : {RouteChoiceKind::Rotate, RouteChoiceKind::Contention}) {
    const RouteChoiceSpec spec{.kind = kind};
    Rng rng(1);
    std::vector<int> times(4, 0);
    for (int pair = 0; pair < 4000; ++pair) {
      RouteChooser chooser(spec, 4, 0, rng);
      ++times[chooser.choose(512, rng)];
    }
    EXPECT_THAT(times, testing::Each(testing::AllOf(testing::Gt(900), testing::Lt(1100))));
  }
}

TEST(RouteChoice, RandomTakesEachAlike) {
  const RouteChoiceSpec spec{.kind = RouteChoiceKind::Random};
  Rng rng(1);
  RouteChooser chooser(spec, 4, 0, rng);
  std::vector<int> times(4, 0);
  for (const std::uint32_t route : draw(chooser, 4000)) ++times[route];
  EXPECT_THAT(times, testing::Each(testing::AllOf(testing::Gt(900), testing::Lt(1100))));
}

TEST(RouteChoice, ContentionIsRememberedAndForgottenByATenth) {
  const RouteChoiceSpec spec{.kind = RouteChoiceKind::Contention};
  Rng rng(1);
  RouteChooser chooser(spec, 2, 0, rng);
  const std::uint32_t one = chooser.choose(512, rng), other = 1 - one;
  chooser.on_left(one, 1.35);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(chooser.choose(512, rng), other) << i;
    chooser.on_left(other, 1.0);  // the first one forgets: 1.25, 1.15, 1.05
  }
  EXPECT_EQ(chooser.choose(512, rng), other);
  chooser.on_left(other, 1.2);  // the first one is at 1 now, which is the least there is
  EXPECT_EQ(chooser.choose(512, rng), one);
}

TEST(RouteChoice, ASecondSetIsUsedWhenTheFirstIsWorseByTheMargin) {
  const RouteChoiceSpec spec{.kind = RouteChoiceKind::Contention, .margin = 1};
  Rng rng(1);
  RouteChooser chooser(spec, 1, 1, rng);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(chooser.choose(512, rng), 0u);
    chooser.on_left(0, 1.9);
  }
  chooser.on_left(0, 2.1);
  EXPECT_EQ(chooser.choose(512, rng), 1u);
}

TEST(RouteChoice, BySizeAndByShare) {
  const RouteChoiceSpec by_size{.kind = RouteChoiceKind::Size},
      by_share{.kind = RouteChoiceKind::Share};
  Rng rng(1);
  RouteChooser sizes(by_size, 1, 1, rng), shares(by_share, 1, 1, rng);
  EXPECT_THAT(draw(sizes, 1, 32), testing::ElementsAre(0));
  EXPECT_THAT(draw(sizes, 1, 33), testing::ElementsAre(1));
  const auto drawn = draw(shares, 2000);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(drawn, 0u)), 1000, 100);
}

}  // namespace
}  // namespace smd::sim::test
