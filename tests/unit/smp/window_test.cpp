// How the window grows, and what it learns from a loss.
#include "smd/smp/window.h"

#include <gtest/gtest.h>

namespace smd {
namespace {

using namespace std::chrono_literals;

/// Answers until the window has grown to `size`, or nothing when `most` do not suffice.
unsigned answers_until(SmpWindow& window, unsigned size, unsigned most = 1'000'000) {
  unsigned answers = 0;
  while (window.size() < size && answers < most) {
    window.on_answer();
    ++answers;
  }
  return answers;
}

TEST(SmpWindow, DoublesPerRoundTripUntilTheFirstLoss) {
  SmpWindow window(4, 8, 100);
  EXPECT_EQ(answers_until(window, 16), 8u);
  EXPECT_EQ(answers_until(window, 100), 84u);
  window.on_answer();
  EXPECT_EQ(window.size(), 100u);
}

TEST(SmpWindow, AfterALossDoublesToThreeQuartersOfWhatWasTooMuch) {
  SmpWindow window(4, 32, 256);
  answers_until(window, 64);
  window.on_loss(TimePoint{1ms}, TimePoint{2ms}, 64);
  EXPECT_EQ(window.size(), 32u);
  EXPECT_EQ(answers_until(window, 48), 16u);
  EXPECT_EQ(answers_until(window, 49), 2u * 48u);  // two windows of answers for one step
  EXPECT_EQ(answers_until(window, 50), 2u * 49u);
}

TEST(SmpWindow, FeelsItsWayMoreSlowlyEachTimeThatItRunsIntoTheSameWall) {
  SmpWindow window(4, 32, 256);
  answers_until(window, 64);
  TimePoint now{10ms};
  for (const unsigned windows_per_step : {2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
    window.on_loss(now, now, 64);
    now = now + 10ms;
    answers_until(window, 48);
    EXPECT_EQ(answers_until(window, 49), windows_per_step * 48u);
    answers_until(window, 64);
  }
}

TEST(SmpWindow, AnotherWallIsApproachedAfresh) {
  for (const unsigned elsewhere : {16u, 128u}) {
    SmpWindow window(4, 32, 256);
    answers_until(window, 64);
    window.on_loss(TimePoint{1ms}, TimePoint{2ms}, 64);
    answers_until(window, 64);
    window.on_loss(TimePoint{3ms}, TimePoint{4ms}, 64);
    answers_until(window, elsewhere);
    window.on_loss(TimePoint{5ms}, TimePoint{6ms}, elsewhere);
    const unsigned good = elsewhere * 3 / 4;
    answers_until(window, good);
    EXPECT_EQ(answers_until(window, good + 1), 2 * good);
  }
}

TEST(SmpWindow, LearnsFromTheCrowdThatWasThereNotFromTheRoomThatWasLeft) {
  SmpWindow window(4, 200, 256);
  window.on_loss(TimePoint{1ms}, TimePoint{2ms}, 40);
  EXPECT_EQ(window.size(), 20u);
  EXPECT_EQ(answers_until(window, 30), 10u);
  EXPECT_EQ(answers_until(window, 31), 60u);
}

TEST(SmpWindow, HalvesOncePerCrowdAndStaysWithinItsBounds) {
  SmpWindow window(4, 32, 32);
  window.on_answer();
  EXPECT_EQ(window.size(), 32u);
  window.on_loss(TimePoint{1ms}, TimePoint{10ms}, 32);
  window.on_loss(TimePoint{9ms}, TimePoint{11ms}, 32);  // injected before the halving
  EXPECT_EQ(window.size(), 16u);
  window.on_loss(TimePoint{10ms}, TimePoint{12ms}, 1000);
  EXPECT_EQ(window.size(), 8u);
  for (int i = 1; i < 9; ++i) window.on_loss(TimePoint{i * 20ms}, TimePoint{i * 20ms + 10ms}, 5);
  EXPECT_EQ(window.size(), 4u);
}

// As many are on the wire whatever it learns.
TEST(SmpWindow, LearnsNothingFromLossesOfNoMoreThanItsMinimum) {
  SmpWindow window(4, 32, 256);
  answers_until(window, 256);
  for (int i = 1; i < 9; ++i) {
    const unsigned burst = 1 + static_cast<unsigned>(i) % 4;
    EXPECT_FALSE(window.on_loss(TimePoint{i * 20ms}, TimePoint{i * 20ms + 10ms}, burst));
  }
  EXPECT_EQ(window.size(), 256u);
  EXPECT_TRUE(window.on_loss(TimePoint{1s}, TimePoint{2s}, 5));
  EXPECT_EQ(window.size(), 4u);
}

TEST(SmpWindow, IsAsBeforeWhenWhatWasLostIsTakenBack) {
  SmpWindow window(4, 32, 256);
  answers_until(window, 64);
  const SmpWindow before = window;
  window.on_loss(TimePoint{1ms}, TimePoint{2ms}, 40);
  window.on_loss(TimePoint{3ms}, TimePoint{4ms}, 20);
  EXPECT_EQ(window.size(), 10u);
  window.take_back(before);
  EXPECT_EQ(window.size(), 64u);
  EXPECT_EQ(answers_until(window, 256), 192u) << "no wall is remembered";
}

TEST(SmpWindow, KeepsWhatItGrewToMeanwhileWhenALossIsTakenBack) {
  SmpWindow window(4, 32, 256);
  const SmpWindow before = window;
  window.on_loss(TimePoint{1ms}, TimePoint{2ms}, 32);
  answers_until(window, 40);
  window.take_back(before);
  EXPECT_EQ(window.size(), 40u);
}

}  // namespace
}  // namespace smd
