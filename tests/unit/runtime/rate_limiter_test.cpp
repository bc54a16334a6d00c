// A source has its burst at once and then one token each refill; nobody else is slowed down by it,
// and however many there are, the table stays small.
#include "smd/runtime/rate_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/base/rng.h"

namespace smd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr Rate kRate{.burst = 10, .refill = 2s};

/// Counts how often it is asked for the time: once for each source that an offer looks at.
class CountingRuntime final : public Runtime {
 public:
  [[nodiscard]] TimePoint now() const override {
    ++looks;
    return inner.now();
  }

  TimerId call_at(TimePoint when, Task task) override {
    return inner.call_at(when, std::move(task));
  }

  void cancel(TimerId id) override { inner.cancel(id); }

  void post(Task task) override { inner.post(std::move(task)); }

  void offload(Task work, Task then) override { inner.offload(std::move(work), std::move(then)); }

  sim::SimRuntime inner;
  mutable std::uint64_t looks = 0;
};

struct RateLimiterTest : testing::Test {
  using Limiter = RateLimiter<std::uint32_t, int>;
  using enum Limiter::Verdict;

  Limiter::Verdict offer(std::uint32_t key, int value) { return limiter.offer(key, kRate, value); }

  void use_up(std::uint32_t key) {
    for (unsigned i = 0; i < kRate.burst; ++i) ASSERT_EQ(offer(key, 0), Passed) << i;
    passed.clear();
  }

  void run_for(Duration time) { runtime.inner.run_until(runtime.inner.now() + time); }

  CountingRuntime runtime;
  std::vector<int> passed;
  Limiter limiter{runtime, 1000, [this](std::uint32_t, int value) { passed.push_back(value); }};
};

TEST_F(RateLimiterTest, ABurstPassesAndTheLatestOfTheRestWhenItIsDue) {
  use_up(7);
  EXPECT_EQ(offer(7, 1), HeldBack);
  EXPECT_EQ(offer(7, 2), HeldBack);
  EXPECT_TRUE(limiter.waiting());
  run_for(1999ms);
  EXPECT_THAT(passed, IsEmpty());
  run_for(1ms);
  EXPECT_THAT(passed, ElementsAre(2));
  EXPECT_FALSE(limiter.waiting());
  EXPECT_EQ(offer(7, 3), HeldBack) << "that was its token";
}

TEST_F(RateLimiterTest, ASlowSourceNeverWaits) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(offer(7, i), Passed) << i;
    run_for(kRate.refill);
  }
}

TEST_F(RateLimiterTest, QuietTimeGivesTheBurstBack) {
  use_up(7);
  EXPECT_EQ(offer(7, 1), HeldBack);
  run_for((kRate.burst + 1) * kRate.refill);
  use_up(7);
}

TEST_F(RateLimiterTest, SourcesDoNotShareTokens) {
  use_up(7);
  for (int i = 0; i < 100; ++i) (void)offer(7, i);
  EXPECT_EQ(offer(8, 1), Passed);
}

TEST_F(RateLimiterTest, ASourceOfNoUseIsHeededEverMoreRarely) {
  use_up(7);
  for (unsigned i = 0; i < 10; ++i) limiter.slow_down(7);
  EXPECT_EQ(offer(7, 1), HeldBack);
  run_for(kRate.refill * 31);
  EXPECT_THAT(passed, IsEmpty());
  run_for(kRate.refill);
  EXPECT_THAT(passed, ElementsAre(1)) << "32 times as long, and no more than that";
}

TEST_F(RateLimiterTest, WhatIsHeldBackComesSoonerOnceItsSourceIsOfUse) {
  use_up(7);
  limiter.slow_down(7);
  limiter.slow_down(7);
  EXPECT_EQ(offer(7, 1), HeldBack);
  limiter.restore(7);
  run_for(kRate.refill);
  EXPECT_THAT(passed, ElementsAre(1));
}

TEST_F(RateLimiterTest, SlowingDownHoldsForWhatIsHeldBackToo) {
  use_up(7);
  EXPECT_EQ(offer(7, 1), HeldBack);
  limiter.slow_down(7);
  run_for(kRate.refill);
  EXPECT_THAT(passed, IsEmpty());
  run_for(kRate.refill);
  EXPECT_THAT(passed, ElementsAre(1));
}

TEST_F(RateLimiterTest, QuietTimeForgivesWhatWasOfNoUse) {
  use_up(7);
  limiter.slow_down(7);
  run_for(kRate.burst * 2 * kRate.refill);
  use_up(7);
  EXPECT_EQ(offer(7, 1), HeldBack);
  run_for(kRate.refill);
  EXPECT_THAT(passed, ElementsAre(1));
}

TEST_F(RateLimiterTest, NeitherTheTableNorTheCostOfAnOfferGrowsWithTheSourcesThatCame) {
  Rng rng(1);
  std::uint64_t dearest = 0;
  std::uint64_t no_room = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t before = runtime.looks;
    if (offer(static_cast<std::uint32_t>(rng.below(48'000)), i) == NoRoom) ++no_room;
    dearest = std::max(dearest, runtime.looks - before);
    if (i % 22 == 0) run_for(1ms);
    ASSERT_LE(limiter.sources(), 1000u);
  }
  EXPECT_GT(no_room, 0u);
  EXPECT_LE(dearest, 8u);
}

TEST_F(RateLimiterTest, SourcesThatWentQuietMakeRoom) {
  for (std::uint32_t key = 0; key < 1000; ++key) ASSERT_EQ(offer(key, 0), Passed);
  EXPECT_EQ(offer(5000, 0), NoRoom);
  EXPECT_EQ(offer(3, 0), Passed) << "who is in the table is served";
  run_for(2 * kRate.refill);
  for (std::uint32_t key = 5000; key < 5400; ++key) EXPECT_EQ(offer(key, 0), Passed);
  EXPECT_LE(limiter.sources(), 401u) << "those that are quiet are gone";
}

TEST_F(RateLimiterTest, WhoForgetsEverythingForgetsWhatIsHeldBack) {
  use_up(7);
  EXPECT_EQ(offer(7, 1), HeldBack);
  limiter.clear();
  EXPECT_EQ(limiter.sources(), 0u);
  run_for(60s);
  EXPECT_THAT(passed, IsEmpty());
  use_up(7);
}

}  // namespace
}  // namespace smd
