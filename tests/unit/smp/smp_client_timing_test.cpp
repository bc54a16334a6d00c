// Timeouts, retries, the window and the rate, exact to the nanosecond of virtual time.
#include "tests/unit/smp/smp_client_fixture.h"

namespace smd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SmpClientTiming : public SmpClientTest {
 protected:
  /// Records when each SMP leaves, from now on.
  void watch() {
    start_ = runtime_.now();
    port_.on_sent = [this](const MadPacket&) { times_.push_back(runtime_.now() - start_); };
  }

  /// Answers every SMP after `delay`, except those that `lost` picks.
  void answer_all(
      Duration delay, std::function<bool(const Smp&)> lost = [](const Smp&) { return false; }) {
    port_.on_sent = [this, delay, lost](const MadPacket& packet) {
      const Smp request = decode_smp(packet.mad).value();
      if (lost(request)) return;
      runtime_.call_at(runtime_.now() + delay,
                       [this, request] { port_.deliver(answer_to(request)); });
    };
  }

  TimePoint start_;
  std::vector<Duration> times_;
};

TEST_F(SmpClientTiming, ASilentNodeIsAskedAgainAfterEachTimeoutAndThenGivenUp) {
  make_client();
  watch();
  const auto outcome = ask(node_info(7));
  run_for(3 * kTimeout - 1ns);
  EXPECT_FALSE(*outcome);
  run_for(1ns);
  ASSERT_TRUE(*outcome);
  EXPECT_EQ(outcome->value().error().code, Errc::Timeout);
  EXPECT_THAT(outcome->value().error().context, HasSubstr("Get NodeInfo mod 0 to (7)"));
  EXPECT_THAT(times_, ElementsAre(Duration{0}, kTimeout, 2 * kTimeout));
  EXPECT_EQ(client_->stats().sent, 3u);
  EXPECT_EQ(client_->stats().retries, 2u);
  EXPECT_EQ(client_->stats().timeouts, 1u);
  run_for(1s);
  EXPECT_EQ(port_.sent.size(), 3u);
}

TEST_F(SmpClientTiming, EachAttemptHasItsOwnIdAndAnAnswerToAnyOfThemCounts) {
  make_client();
  const auto outcome = ask(node_info());
  run_for(kTimeout + 1ms);
  ASSERT_EQ(port_.sent.size(), 2u);
  EXPECT_NE(port_.sent_smp(0).transaction_id, port_.sent_smp(1).transaction_id);
  answer(0);
  ASSERT_TRUE(*outcome);
  EXPECT_EQ((**outcome)->round_trip, kTimeout + 1ms);
  answer(1);
  EXPECT_EQ(client_->stats().late, 1u);
}

TEST_F(SmpClientTiming, AnAnswerAfterTheLastTimeoutIsLate) {
  make_client();
  const auto outcome = ask(node_info());
  run_for(1s);
  answer(2);
  EXPECT_EQ(client_->stats().late, 1u);
  EXPECT_EQ(client_->stats().answered, 0u);
}

TEST_F(SmpClientTiming, TheClockStartsAtInjectionNotWhenQueued) {
  make_client(
      {.window_min = 1, .window_start = 1, .window_max = 1, .retries = 0, .timeout = kTimeout});
  ask(node_info(1));
  const auto second = ask(node_info(2));
  run_for(9ms);
  answer(0);  // the second leaves now
  ASSERT_EQ(port_.sent.size(), 2u);
  run_for(kTimeout - 1ns);
  EXPECT_FALSE(*second);
  run_for(1ns);
  EXPECT_TRUE(*second);
}

TEST_F(SmpClientTiming, ANewTimeoutAppliesToLaterInjectionsOnly) {
  make_client({.retries = 0, .timeout = kTimeout});
  const auto slow = ask(node_info(1));
  client_->set_timeout(2ms);
  const auto quick = ask(node_info(2));
  client_->set_timeout(30ms);
  const auto slowest = ask(node_info(3));
  run_for(2ms);
  EXPECT_TRUE(*quick);
  EXPECT_FALSE(*slow);
  run_for(8ms);
  EXPECT_TRUE(*slow);
  EXPECT_FALSE(*slowest);
  run_for(20ms);
  EXPECT_TRUE(*slowest);
}

TEST_F(SmpClientTiming, NoMoreThanTheWindowIsOnTheWire) {
  make_client({.window_min = 2, .window_start = 3, .window_max = 5, .timeout = kTimeout});
  for (int i = 0; i < 20; ++i) ask(node_info());
  EXPECT_EQ(client_->outstanding(), 3u);
  EXPECT_EQ(client_->queued(), 17u);
  std::size_t most = 0;
  answer_all(1ms);
  port_.on_sent = [this, next = port_.on_sent, &most](const MadPacket& packet) {
    most = std::max(most, client_->outstanding() + 1);
    next(packet);
  };
  for (std::size_t i = 0; i < 3; ++i) answer(i);
  run_for(50ms);
  EXPECT_EQ(client_->stats().answered, 20u);
  EXPECT_EQ(most, 5u);
  EXPECT_EQ(client_->window(), 5u);
}

// Else nobody learns that the own cable is out before all that was on its way is given up.
TEST_F(SmpClientTiming, AQuestionToTheOwnPortWaitsForNobody) {
  make_client({.window_min = 2, .window_start = 2, .window_max = 5, .timeout = kTimeout});
  for (std::uint8_t i = 1; i <= 20; ++i) ask(node_info(i));
  run_for(kTimeout + 1ms);  // nobody answers
  const std::size_t before = port_.sent.size();
  SmpRequest set = node_info(SmpRoute::directed({}));
  set.method = Method::Set;
  ask(set);
  EXPECT_EQ(port_.sent.size(), before) << "what is set waits its turn";
  const auto own = ask(node_info(SmpRoute::directed({})));
  ASSERT_EQ(port_.sent.size(), before + 1);
  answer(before);
  EXPECT_TRUE(*own && **own);
}

TEST_F(SmpClientTiming, TheWindowDoesNotGrowWhileNobodyIsHeldBack) {
  make_client({.window_min = 1, .window_start = 4, .window_max = 64, .timeout = kTimeout});
  answer_all(1ms);
  for (int i = 0; i < 50; ++i) {
    ask(node_info());
    run_for(2ms);
  }
  EXPECT_EQ(client_->window(), 4u);
}

TEST_F(SmpClientTiming, ACrowdThatIsLostTogetherHalvesTheWindowOnce) {
  make_client({.window_min = 4, .window_start = 32, .window_max = 64, .timeout = kTimeout});
  for (std::uint8_t i = 0; i < 32; ++i) ask(node_info(i));
  run_for(kTimeout);
  EXPECT_EQ(client_->window(), 16u);
  EXPECT_EQ(client_->outstanding(), 16u);  // the retries that fit
}

TEST_F(SmpClientTiming, TheWindowNeverFallsBelowItsMinimum) {
  make_client(
      {.window_min = 3, .window_start = 8, .window_max = 64, .retries = 0, .timeout = kTimeout});
  for (std::uint8_t i = 0; i < 200; ++i) ask(node_info(i));
  run_for(1s);
  EXPECT_EQ(client_->window(), 3u);
  EXPECT_EQ(client_->stats().timeouts, 200u);
}

TEST_F(SmpClientTiming, OneDeadNodeNeitherStarvesTheOthersNorCollapsesTheWindow) {
  make_client(
      {.window_min = 4, .window_start = 32, .window_max = 256, .retries = 3, .timeout = kTimeout});
  answer_all(100us, [](const Smp& smp) { return smp.initial_path[1] == 13; });
  for (int i = 0; i < 5000; ++i) {
    ask(node_info(static_cast<std::uint8_t>(i % 100)));  // fifty of them to the dead one
  }
  run_for(200ms);
  EXPECT_EQ(client_->stats().timeouts, 1u);
  EXPECT_EQ(client_->stats().silent_timeouts, 49u);
  EXPECT_EQ(client_->stats().answered, 4950u);
  // One halving for the node; the answers of the others have grown it since.
  EXPECT_GE(client_->window(), 32u);
}

// Else a host that is silent for good looks like a fabric that loses packets.
TEST_F(SmpClientTiming, WhoIsKnownToBeSilentIsCountedByItself) {
  make_client();
  for (int i = 0; i < 3; ++i) {
    ask(node_info(7));
    run_for(1s);
  }
  EXPECT_EQ(client_->stats().timeouts, 1u);
  EXPECT_EQ(client_->stats().silent_timeouts, 2u);
  ask(node_info(8));
  run_for(1s);
  EXPECT_EQ(client_->stats().timeouts, 2u) << "another";
  ask(node_info(7));
  answer(port_.sent.size() - 1);
  ask(node_info(7));
  run_for(1s);
  EXPECT_EQ(client_->stats().timeouts, 3u) << "it has answered since";
  EXPECT_EQ(client_->stats().silent_timeouts, 2u);
}

// A host whose agent is slow to come up, many times in the life of a manager.
TEST_F(SmpClientTiming, NodesThatAreAskedByThemselvesInVainLeaveTheWindowAlone) {
  make_client({.window_min = 4, .window_start = 32, .window_max = 64, .timeout = kTimeout});
  for (std::uint8_t dead = 0; dead < 10; ++dead) {
    ask(node_info(dead));
    run_for(1s);
  }
  EXPECT_EQ(client_->window(), 32u);
  answer_all(1ms);
  for (int i = 0; i < 64; ++i) ask(node_info(99));
  EXPECT_EQ(client_->outstanding(), 32u);
}

// A rack without power: they answer no attempt, and others do.
TEST_F(SmpClientTiming, NodesThatAreGoneTakeTheWindowForAsLongAsItIsNotKnown) {
  make_client({.window_min = 4, .window_start = 32, .window_max = 64, .timeout = kTimeout});
  answer_all(1ms, [](const Smp& smp) { return smp.initial_path[1] < 20; });
  for (std::uint8_t i = 0; i < 32; ++i) ask(node_info(i));
  run_for(kTimeout);
  EXPECT_EQ(client_->window(), 10u) << "half of those that are left";
  ask(node_info(99));
  run_for(1s);
  EXPECT_EQ(client_->stats().timeouts, 20u);
  EXPECT_GE(client_->window(), 32u);
}

TEST_F(SmpClientTiming, WhereNobodyAnswersTheWindowStaysHalved) {
  make_client({.window_min = 4, .window_start = 32, .window_max = 64, .timeout = kTimeout});
  for (std::uint8_t i = 0; i < 32; ++i) ask(node_info(i));
  run_for(1s);
  EXPECT_EQ(client_->stats().timeouts, 32u);
  EXPECT_EQ(client_->window(), 16u);
}

TEST_F(SmpClientTiming, ALossThatARetryMadeGoodCounts) {
  make_client({.window_min = 4, .window_start = 32, .window_max = 64, .timeout = kTimeout});
  int lost = 10;
  answer_all(1ms, [&](const Smp& smp) { return smp.initial_path[1] < 20 && lost-- > 0; });
  for (std::uint8_t i = 0; i < 32; ++i) ask(node_info(i));
  run_for(1s);
  EXPECT_EQ(client_->stats().timeouts, 0u);
  EXPECT_LT(client_->window(), 16u);
}

TEST_F(SmpClientTiming, RetriesGoFirstButLeaveHalfTheWindowToNewRequests) {
  make_client(
      {.window_min = 4, .window_start = 4, .window_max = 4, .retries = 3, .timeout = kTimeout});
  answer_all(1ms, [](const Smp& smp) { return smp.initial_path[1] < 4; });
  for (std::uint8_t dead = 0; dead < 4; ++dead) ask(node_info(dead));
  std::vector<decltype(ask(node_info()))> living;
  for (int i = 0; i < 10; ++i) living.push_back(ask(node_info(9)));
  run_for(kTimeout);
  EXPECT_EQ(client_->stats().retries, 2u);
  run_for(8ms);  // well before the second retry
  for (const auto& outcome : living) EXPECT_TRUE(*outcome);
}

TEST_F(SmpClientTiming, TheRateIsHeld) {
  make_client({.timeout = 1s, .max_per_second = 100});
  watch();
  for (int i = 0; i < 4; ++i) ask(node_info());
  run_for(1s - 1ns);
  EXPECT_THAT(times_, ElementsAre(Duration{0}, 10ms, 20ms, 30ms));
}

TEST_F(SmpClientTiming, AHighRateMayGoInBurstsOfAMillisecond) {
  make_client({.timeout = 10s, .max_per_second = 10000});
  watch();
  for (int i = 0; i < 32; ++i) ask(node_info());
  run_for(1s);
  ASSERT_EQ(times_.size(), 32u);
  EXPECT_EQ(times_[9], Duration{0});
  EXPECT_EQ(times_[10], Duration{100us});
  EXPECT_EQ(times_[31], Duration{2200us});
}

TEST_F(SmpClientTiming, ABusyPortIsTriedAgainShortly) {
  make_client();
  int refusals = 3;
  port_.on_attempt = [&]() -> Result<void> {
    if (refusals-- > 0) return fail(Errc::Busy, "send queue full");
    return {};
  };
  watch();
  const auto outcome = ask(node_info());
  run_for(5ms);
  EXPECT_THAT(times_, ElementsAre(Duration{3ms}));
  EXPECT_EQ(client_->stats().send_errors, 3u);
  EXPECT_EQ(client_->stats().sent, 1u);
  answer(0);
  EXPECT_TRUE(*outcome);
}

TEST_F(SmpClientTiming, APortThatStaysBusyEndsTheRequests) {
  make_client();
  port_.on_attempt = [&]() -> Result<void> { return fail(Errc::Busy, "send queue full"); };
  const auto first = ask(node_info());
  const auto second = ask(node_info());
  run_for(3 * kTimeout - 1ms);
  EXPECT_FALSE(*first);
  run_for(2ms);
  ASSERT_TRUE(*first);
  ASSERT_TRUE(*second);
  EXPECT_EQ(first->value().error().code, Errc::Io);
}

}  // namespace
}  // namespace smd
