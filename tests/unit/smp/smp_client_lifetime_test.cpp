// Cancelling, dying scopes, lost ports, failing sends.
#include "tests/unit/smp/smp_client_fixture.h"

namespace smd {
namespace {

using ::testing::HasSubstr;

using SmpClientLifetime = SmpClientTest;

TEST_F(SmpClientLifetime, NothingCompletesInsideTheCallThatSends) {
  make_client();
  port_.on_attempt = []() -> Result<void> { return fail(Errc::Io, "no"); };
  bool inside = true;
  scope_->send(node_info(), [&](Result<SmpReply> reply) {
    EXPECT_FALSE(inside);
    EXPECT_FALSE(reply);
  });
  inside = false;
  run_for(1ms);
  EXPECT_EQ(scope_->pending(), 0u);
}

TEST_F(SmpClientLifetime, ACancelledRequestNeverCompletes) {
  make_client({.window_min = 1, .window_start = 1, .window_max = 1, .timeout = kTimeout});
  const auto on_wire = ask(node_info(1));
  const auto queued = ask(node_info(2));
  EXPECT_EQ(scope_->pending(), 2u);
  scope_->cancel_all();
  EXPECT_EQ(scope_->pending(), 0u);
  answer(0);
  run_for(1s);
  EXPECT_FALSE(*on_wire);
  EXPECT_FALSE(*queued);
  EXPECT_EQ(client_->stats().late, 1u);
  EXPECT_EQ(client_->queued(), 0u);
}

TEST_F(SmpClientLifetime, CancellingOneScopeLetsTheOthersOn) {
  make_client({.window_min = 1, .window_start = 1, .window_max = 1, .timeout = kTimeout});
  SmpScope other(*client_);
  ask(node_info(1));
  bool done = false;
  other.send(node_info(2), [&](Result<SmpReply>) { done = true; });
  scope_->cancel_all();
  ASSERT_EQ(port_.sent.size(), 2u);
  answer(1);
  EXPECT_TRUE(done);
}

TEST_F(SmpClientLifetime, AHandlerMaySendMoreThroughItsScope) {
  make_client({.window_min = 1, .window_start = 1, .window_max = 1, .timeout = kTimeout});
  port_.on_sent = [this](const MadPacket& packet) {
    const Smp request = decode_smp(packet.mad).value();
    runtime_.post([this, request] { port_.deliver(answer_to(request)); });
  };
  int answers = 0;
  std::function<void(Result<SmpReply>)> again = [&](const Result<SmpReply>& reply) {
    EXPECT_TRUE(reply);
    if (++answers < 100) {
      scope_->send(node_info(), again);
      scope_->send(node_info(), [](Result<SmpReply>) {});
    }
  };
  scope_->send(node_info(), again);
  run_for(1ms);
  EXPECT_EQ(answers, 100);
  EXPECT_EQ(client_->stats().answered, 199u);
}

TEST_F(SmpClientLifetime, AnAnswersHandlerMayDestroyItsScope) {
  make_client();
  auto keep = std::make_shared<int>(5);
  int seen = 0;
  scope_->send(node_info(1), [this, keep, &seen](Result<SmpReply>) {
    scope_.reset();
    seen = *keep;  // the closure outlives its scope while it runs
  });
  scope_->send(node_info(2), [](Result<SmpReply>) { ADD_FAILURE() << "its scope is gone"; });
  answer(0);
  answer(1);
  run_for(1s);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(keep.use_count(), 1);
}

TEST_F(SmpClientLifetime, ATimeoutsHandlerMayDestroyItsScope) {
  make_client();
  int completed = 0;
  for (std::uint8_t i = 0; i < 5; ++i) {
    scope_->send(node_info(i), [&](Result<SmpReply>) {
      ++completed;
      scope_.reset();
    });
  }
  run_for(1s);
  EXPECT_EQ(completed, 1);
  EXPECT_EQ(client_->queued(), 0u);
}

/// Sends through a scope when it dies, as an owner's last word may.
struct LastWord {
  std::function<void()> call;

  ~LastWord() { call(); }
};

TEST_F(SmpClientLifetime, AHandlerThatDiesWithItsScopeMayStillSend) {
  make_client();
  SmpScope other(*client_);
  bool done = false;
  auto word = std::make_shared<LastWord>(LastWord{[] {}});
  word->call = [&] { other.send(node_info(2), [&](Result<SmpReply>) { done = true; }); };
  scope_->send(node_info(1), [word = std::move(word)](Result<SmpReply>) {});
  scope_.reset();
  answer(1);
  EXPECT_TRUE(done);
}

TEST_F(SmpClientLifetime, DestroyingScopeAndClientLeavesNothingBehind) {
  make_client();
  auto alive = std::make_shared<int>();
  scope_->send(node_info(), [alive](Result<SmpReply>) { ADD_FAILURE(); });
  scope_.reset();
  client_.reset();
  EXPECT_EQ(alive.use_count(), 1);
  port_.deliver(MadPacket{});
  port_.lose();
  run_for(1s);
}

TEST_F(SmpClientLifetime, ALostPortEndsEveryRequestThenTellsTheOwner) {
  make_client({.window_min = 1, .window_start = 2, .window_max = 2, .timeout = kTimeout});
  std::vector<std::shared_ptr<std::optional<Result<SmpReply>>>> outcomes;
  for (std::uint8_t i = 0; i < 5; ++i) outcomes.push_back(ask(node_info(i)));
  bool told = false;
  client_->on_lost([&](const Error& error) {
    EXPECT_EQ(error.code, Errc::NoDevice);
    for (const auto& outcome : outcomes) {
      ASSERT_TRUE(*outcome);
      EXPECT_EQ(outcome->value().error().code, Errc::NoDevice);
      EXPECT_THAT(outcome->value().error().context, HasSubstr("unplugged"));
    }
    told = true;
    scope_.reset();
    client_.reset();
  });
  port_.lose();
  port_.lose();
  EXPECT_FALSE(*outcomes[0]);
  run_for(0ns);
  EXPECT_TRUE(told);
}

TEST_F(SmpClientLifetime, AfterALossEverythingFailsWithNoDevice) {
  make_client();
  port_.lose();
  run_for(1ms);
  const auto outcome = ask(node_info());
  EXPECT_FALSE(*outcome);
  run_for(0ns);
  ASSERT_TRUE(*outcome);
  EXPECT_EQ(outcome->value().error().code, Errc::NoDevice);
  EXPECT_EQ(client_->send_once(MadPacket{}).error().code, Errc::NoDevice);
  EXPECT_EQ(port_.attempts, 0u);
  bool told = false;
  client_->on_lost([&](const Error&) { told = true; });
  run_for(0ns);
  EXPECT_TRUE(told);
}

TEST_F(SmpClientLifetime, ASendThatFindsNoDeviceIsALoss) {
  make_client();
  const auto waiting = ask(node_info(1));
  port_.on_attempt = []() -> Result<void> { return fail(Errc::NoDevice, "gone"); };
  const auto refused = ask(node_info(2));
  run_for(0ns);
  ASSERT_TRUE(*waiting);
  ASSERT_TRUE(*refused);
  EXPECT_EQ(waiting->value().error().code, Errc::NoDevice);
  EXPECT_EQ(port_.attempts, 2u);
}

// Fails send n, for every n that a conversation of 30 requests over a lossy wire makes.
class SmpClientFailureSweep : public SmpClientTest, public ::testing::WithParamInterface<Errc> {};

TEST_P(SmpClientFailureSweep, EveryRequestStillCompletesOnce) {
  for (std::size_t failing = 1;; ++failing) {
    ASSERT_LT(failing, 1000u);
    sim::SimRuntime runtime;
    FakeTransport port;
    SmpClient client(runtime, port, {.window_start = 8, .retries = 5, .timeout = kTimeout});
    SmpScope scope(client);
    port.on_attempt = [&]() -> Result<void> {
      if (port.attempts == failing) return fail(GetParam(), "injected");
      return {};
    };
    port.on_sent = [&](const MadPacket& packet) {
      if (port.sent.size() % 3 == 0) return;
      const Smp request = decode_smp(packet.mad).value();
      runtime.call_at(runtime.now() + 1ms, [&, request] { port.deliver(answer_to(request)); });
    };
    int good = 0;
    int bad = 0;
    for (std::uint8_t i = 0; i < 30; ++i) {
      scope.send(node_info(i), [&](Result<SmpReply> reply) {
        ++(reply ? good : bad);
        EXPECT_TRUE(reply || reply.error().code == GetParam());
      });
    }
    runtime.run_until(runtime.now() + 10s);
    ASSERT_EQ(good + bad, 30) << "send " << failing << " failed";
    ASSERT_EQ(client.outstanding() + client.queued(), 0u);
    if (port.attempts < failing) {
      EXPECT_EQ(bad, 0);
      return;
    }
    switch (GetParam()) {
      case Errc::Busy:
        EXPECT_EQ(bad, 0);
        break;
      case Errc::Io:
        EXPECT_EQ(bad, 1);
        break;
      default:
        EXPECT_GE(bad, 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Errors,
                         SmpClientFailureSweep,
                         ::testing::Values(Errc::Busy, Errc::Io, Errc::NoDevice));

}  // namespace
}  // namespace smd
