// The thread that receives goes ahead of others, and a flood does not make it take a processor.
#include "smd/transport/receiver_priority.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace smd {
namespace {

using namespace std::chrono_literals;

TEST(RealTimeShare, WhoTakesLittleIsAlwaysAhead) {
  RealTimeShare share;
  for (int i = 0; i <= 10'000; ++i) EXPECT_TRUE(share.update(i * 1ms, i * 190us)) << i;
}

TEST(RealTimeShare, AFloodGetsAFifthOfAProcessor) {
  RealTimeShare share;
  Duration ahead{};
  bool is_ahead = share.update(0ms, 0ms);
  for (int i = 1; i <= 10'000; ++i) {
    if (is_ahead) ahead += 1ms;
    is_ahead = share.update(i * 1ms, i * 1ms);
  }
  EXPECT_GE(ahead, 2s - RealTimeShare::kAtOnce);
  EXPECT_LE(ahead, 2s + 2 * RealTimeShare::kAtOnce);
}

TEST(RealTimeShare, ABurstEndsIt) {
  RealTimeShare share;
  share.update(0ms, 0ms);
  EXPECT_TRUE(share.update(20ms, 20ms)) << "4 ms came together meanwhile";
  EXPECT_FALSE(share.update(26ms, 26ms));
  EXPECT_FALSE(share.update(70ms, 70ms)) << "less than half has come together";
  EXPECT_TRUE(share.update(81ms, 81ms)) << "what is used beside others does not count";
}

TEST(RealTimeShare, WhatIsNotUsedComesTogetherToABound) {
  RealTimeShare share;
  share.update(0s, 0ms);
  share.update(1h, 0ms);
  EXPECT_FALSE(share.update(1h + 26ms, 26ms));
}

int policy() { return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

bool may_go_ahead() {
  bool may = false;
  std::thread([&may] {
    const sched_param lowest{.sched_priority = ::sched_get_priority_min(SCHED_FIFO)};
    may = ::sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
  }).join();
  return may;
}

TEST(ReceiverPriority, IsRealTimeWithinItsShare) {
  if (!may_go_ahead()) GTEST_SKIP() << "no right to a real-time priority";
  std::thread([] {
    ReceiverPriority priority;
    EXPECT_EQ(policy(), SCHED_FIFO);
    priority.update(0ms, 0ms);
    priority.update(30ms, 30ms);
    EXPECT_EQ(policy(), SCHED_OTHER);
    priority.update(110ms, 31ms);
    EXPECT_EQ(policy(), SCHED_FIFO);
    std::thread([] { EXPECT_EQ(policy(), SCHED_OTHER) << "whom it starts is not"; }).join();
  }).join();
}

TEST(ReceiverPriority, LeavesAThreadAloneForWhichSomebodyHasChosen) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    ReceiverPriority priority;
    priority.update(0ms, 0ms);
    priority.update(30ms, 30ms);
    priority.update(110ms, 31ms);
    EXPECT_EQ(policy(), SCHED_BATCH);
  }).join();
}

}  // namespace
}  // namespace smd
