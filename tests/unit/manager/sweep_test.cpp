// When a fabric with trouble is looked at again.
#include "smd/manager/sweep.h"

#include <gtest/gtest.h>

namespace smd {
namespace sweep_test {

using namespace std::chrono_literals;
using Kind = Trouble::Kind;

constexpr bool kPartial = true;
constexpr bool kFull = false;

struct Clock : testing::Test {
  void end(Kind kind, bool partial, const char* what = "some") {
    clock.on_cycle({.kind = kind, .what = what}, partial, now, 10s);
  }

  [[nodiscard]] Duration wait() const { return clock.next().value() - now; }

  RetryClock clock;
  TimePoint now{1h};
};

TEST_F(Clock, WaitsTwiceAsLongAfterEachFullSweepUpToFiveMinutes) {
  for (const Duration wanted : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
    end(Kind::Silence, kFull);
    EXPECT_EQ(wait(), wanted);
    EXPECT_FALSE(clock.due(now));
    EXPECT_TRUE(clock.due(now + wanted));
  }
}

TEST_F(Clock, WithoutTroubleNothingIsDue) {
  end(Kind::Silence, kFull);
  end(Kind::None, kPartial, "");
  EXPECT_FALSE(clock.next());
  EXPECT_FALSE(clock.due(now + 1h));
}

TEST_F(Clock, PartialCyclesPutNothingOff) {
  end(Kind::Silence, kFull);
  const TimePoint due = clock.next().value();
  for (int change = 0; change < 20; ++change) {
    now = now + 1s;
    end(Kind::Silence, kPartial);
    EXPECT_EQ(clock.next(), due);
  }
  end(Kind::Silence, kFull);
  EXPECT_EQ(wait(), 20s) << "it was looked at twice in full";
}

TEST_F(Clock, HowMuchTroubleThereIsDoesNotMatter) {
  end(Kind::SettingsFailed, kFull, "3 settings failed");
  end(Kind::SettingsFailed, kFull, "4 settings failed");
  EXPECT_EQ(wait(), 20s);
  EXPECT_EQ(clock.trouble().what, "4 settings failed");
}

TEST_F(Clock, WhatIsNewIsLookedAtSoonAndPutsNothingOff) {
  for (int times = 0; times < 5; ++times) end(Kind::Silence, kFull);
  ASSERT_EQ(wait(), 160s);
  clock.on_cycle({.kind = Kind::Silence, .what = "some"}, kPartial, now, 10s, true);
  EXPECT_EQ(wait(), 10s);
  now = now + 9s;
  clock.on_cycle({.kind = Kind::Silence, .what = "some"}, kPartial, now, 10s, true);
  EXPECT_EQ(wait(), 1s);
  now = now + 1s;
  clock.on_look(now);
  EXPECT_EQ(wait(), 20s);
}

TEST_F(Clock, WhereSomeOfItEndsTheRestIsLookedAtSoon) {
  for (int times = 0; times < 5; ++times) end(Kind::Silence, kFull);
  ASSERT_EQ(wait(), 160s);
  clock.begin_anew(now, 10s);
  EXPECT_EQ(wait(), 10s);
  now = now + 9s;
  clock.begin_anew(now, 10s);
  EXPECT_EQ(wait(), 1s) << "what was due before stays due";
}

TEST_F(Clock, OtherTroubleOfPartialCyclesPutsNothingOffEither) {
  end(Kind::Silence, kFull);
  end(Kind::Silence, kFull);
  for (int change = 0; change < 20; ++change) {
    now = now + 3s;
    end(change % 2 == 0 ? Kind::SettingsFailed : Kind::Silence, kPartial);
    if (change == 0) {
      EXPECT_EQ(wait(), 10s) << "it is news";
    }
  }
  EXPECT_TRUE(clock.due(now));
}

}  // namespace sweep_test
}  // namespace smd
