// Losses that others' answers give away: asked again long before the timeout, without giving up
// sooner, and without a retry while nothing at all is heard.
#include "tests/unit/smp/smp_client_fixture.h"

namespace smd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EarlyRetry : public SmpClientTest {
 protected:
  static constexpr Duration kLong = 200ms;
  static constexpr unsigned kSlow = 5;  // a node that takes 10 ms

  /// Answers every SMP after `delay_`, except those that `lost_` picks; notes retries.
  void SetUp() override {
    make_client(
        {.window_min = 4, .window_start = 32, .window_max = 256, .retries = 3, .timeout = kLong});
    port_.on_sent = [this](const MadPacket& packet) {
      const Smp request = decode_smp(packet.mad).value();
      const unsigned attempt = attempt_of(request);
      if (attempt > 0) retried_.push_back({runtime_.now() - start_, attempt});
      if (lost_(request, attempt)) return;
      runtime_.call_at(runtime_.now() + (to(request, kSlow) ? 10ms : delay_),
                       [this, request] { port_.deliver(answer_to(request)); });
    };
    // The fabric's pace is known.
    ask(node_info(1));
    run_for(1ms);
    start_ = runtime_.now();
  }

  static unsigned attempt_of(const Smp& request) {
    return static_cast<unsigned>(request.transaction_id >> 12) & 31u;
  }

  static bool to(const Smp& request, unsigned exit) { return request.initial_path[1] == exit; }

  /// One request after the other to node 1, for so long.
  void keep_asking(Duration duration) {
    for (Duration gone{0}; gone < duration; gone += 500us) {
      ask(node_info(1));
      run_for(500us);
    }
  }

  using Retry = std::pair<Duration, unsigned>;

  TimePoint start_;
  Duration delay_ = 100us;
  std::function<bool(const Smp&, unsigned)> lost_ = [](const Smp&, unsigned) { return false; };
  std::vector<Retry> retried_;
};

TEST_F(EarlyRetry, WhatLaterSmpsHaveOvertakenIsAskedAgain) {
  lost_ = [](const Smp& smp, unsigned attempt) { return to(smp, 7) && attempt == 0; };
  const auto outcome = ask(node_info(7));
  keep_asking(5ms);
  ASSERT_TRUE(*outcome);
  EXPECT_TRUE(outcome->value());
  // The one that left at 2.5 ms is the first to have left more than the margin of 2 ms later.
  EXPECT_THAT(retried_, ElementsAre(Retry{2600us, 1}));
}

TEST_F(EarlyRetry, TheMarginIsFourTimesTheSlowestAnswerOfLate) {
  delay_ = 1ms;
  lost_ = [](const Smp& smp, unsigned attempt) { return to(smp, 7) && attempt == 0; };
  ask(node_info(1));
  run_for(2ms);
  start_ = runtime_.now();
  ask(node_info(7));
  keep_asking(10ms);
  ASSERT_EQ(retried_.size(), 1u);
  EXPECT_EQ(retried_[0].first, 5500us);  // the one that left at 4.5 ms, after four answer times
}

TEST_F(EarlyRetry, ALateAnswerToTheFirstAttemptTeachesHowSlowAgentsAre) {
  ask(node_info(kSlow));
  keep_asking(20ms);
  ASSERT_THAT(retried_, ElementsAre(Retry{2600us, 1}, Retry{5100us, 2}));
  lost_ = [](const Smp& smp, unsigned attempt) { return to(smp, 7) && attempt == 0; };
  start_ = runtime_.now();
  ask(node_info(7));
  keep_asking(60ms);
  ASSERT_EQ(retried_.size(), 3u);
  EXPECT_GT(retried_[2].first, 36ms);  // four times 10 ms, faded by a hundred answers since
  EXPECT_LT(retried_[2].first, 40ms);
}

TEST_F(EarlyRetry, ASilentNodeGetsNoMoreSmpsAndNoLessPatience) {
  lost_ = [](const Smp& smp, unsigned) { return to(smp, 7); };
  const auto outcome = ask(node_info(7));
  keep_asking(20ms);
  EXPECT_EQ(retried_.size(), 2u);  // the third is kept for later
  run_for(4 * kLong - 20ms);
  EXPECT_FALSE(*outcome);
  EXPECT_EQ(retried_.size(), 3u);
  EXPECT_GE(retried_[2].first, kLong);
  run_for(20ms);
  ASSERT_TRUE(*outcome);
  EXPECT_EQ(outcome->value().error().code, Errc::Timeout);
  EXPECT_EQ(client_->stats().timeouts, 1u);
}

TEST_F(EarlyRetry, HoweverManyAreSilentTheyLeaveTheWindowToTheOthersOnceThatIsKnown) {
  lost_ = [](const Smp& smp, unsigned) { return smp.initial_path[1] == 7; };
  const auto ask_all = [this] {
    for (std::uint8_t i = 1; i <= 200; ++i)
      ask(node_info(SmpRoute::directed({PortNum{7}, PortNum{i}})));
    run_for(60s);
  };
  ask_all();
  for (int turn = 0; turn < 300; ++turn) {
    for (int i = 0; i < 100; ++i) ask(node_info(1));
    run_for(2ms);
  }
  const unsigned open = client_->window();
  ASSERT_GT(open, 16u);
  ask_all();
  EXPECT_EQ(client_->window(), open);
}

TEST_F(EarlyRetry, WhileNothingIsHeardOnlyTheOldestIsAskedAgain) {
  lost_ = [](const Smp&, unsigned) { return true; };
  for (std::uint8_t i = 0; i < 20; ++i) ask(node_info(i));
  run_for(kLong - 1ms);
  ASSERT_EQ(retried_.size(), 1u);
  EXPECT_EQ(retried_[0].first, 6ms);  // 2 ms and two margins
}

TEST_F(EarlyRetry, TheAnswerToTheProbeFreesTheRestOfALostCrowd) {
  lost_ = [](const Smp&, unsigned attempt) { return attempt == 0; };
  std::vector<decltype(ask(node_info()))> burst;
  for (std::uint8_t i = 10; i < 30; ++i) burst.push_back(ask(node_info(i)));
  run_for(10ms);
  for (const auto& outcome : burst) EXPECT_TRUE(*outcome && outcome->value());
  EXPECT_EQ(retried_.size(), 20u);
  EXPECT_EQ(client_->stats().late, 0u);
}

TEST_F(EarlyRetry, AProbeGoesOutThoughTheLostFillAWindowThatWasHalved) {
  lost_ = [](const Smp& smp, unsigned attempt) {
    return attempt == 0 && smp.initial_path[1] >= 7 && smp.initial_path[1] < 40;
  };
  std::vector<decltype(ask(node_info()))> burst{ask(node_info(7))};
  run_for(1500us);
  for (std::uint8_t i = 10; i < 38; ++i) burst.push_back(ask(node_info(i)));
  run_for(600us);
  // Overtakes the first, not yet the others: they are more than half of the window now.
  ask(node_info(1));
  run_for(200us);
  ASSERT_LT(client_->window(), client_->outstanding());
  run_for(20ms);
  for (const auto& outcome : burst) EXPECT_TRUE(*outcome && outcome->value());
  EXPECT_EQ(client_->stats().timeouts, 0u);
  EXPECT_EQ(retried_.size(), burst.size());
}

TEST_F(EarlyRetry, APauseOfTheWholeFabricCostsOneSmp) {
  delay_ = 50ms;
  for (std::uint8_t i = 10; i < 30; ++i) ask(node_info(i));
  run_for(1s);
  EXPECT_EQ(retried_.size(), 1u);
  EXPECT_EQ(client_->stats().answered, 21u);
  EXPECT_EQ(client_->stats().timeouts, 0u);
}

TEST_F(EarlyRetry, BeforeAnythingIsKnownTheTimeoutDecides) {
  make_client({.retries = 3, .timeout = kLong});
  start_ = runtime_.now();
  retried_.clear();
  lost_ = [](const Smp&, unsigned) { return true; };
  ask(node_info(7));
  run_for(kLong);
  EXPECT_THAT(retried_, ElementsAre(Retry{kLong, 1}));
}

TEST_F(EarlyRetry, NothingIsAskedAgainThatWasAnsweredOrCancelled) {
  delay_ = 300us;
  for (std::uint8_t i = 0; i < 100; ++i) ask(node_info(i == kSlow ? 1 : i));
  run_for(1ms);
  delay_ = 100ms;
  ask(node_info(9));
  scope_->cancel_all();
  delay_ = 100us;
  keep_asking(20ms);
  run_for(1s);
  EXPECT_THAT(retried_, IsEmpty());
}

TEST_F(EarlyRetry, AnEarlyLossHalvesTheCrowdThatItBelongedTo) {
  lost_ = [](const Smp& smp, unsigned attempt) { return to(smp, 7) && attempt == 0; };
  for (std::uint8_t i = 0; i < 30; ++i) ask(node_info(i == 29 ? 7 : 1));
  run_for(1ms);
  EXPECT_EQ(client_->window(), 32u);
  keep_asking(5ms);
  EXPECT_EQ(client_->window(), 15u);
}

TEST_F(EarlyRetry, TheVeryFirstAnswerMakesTheProbePossible) {
  make_client({.retries = 3, .timeout = kLong});
  lost_ = [](const Smp& smp, unsigned attempt) { return to(smp, 7) && attempt == 0; };
  ask(node_info(1));
  const auto outcome = ask(node_info(7));
  run_for(10ms);
  EXPECT_TRUE(*outcome);
}

}  // namespace
}  // namespace smd
