// Requests to agents on QP1: matching, retries, the window.
#include "smd/smp/gmp_client.h"

#include <gtest/gtest.h>

#include "sim-backend/kernel/sim_runtime.h"
#include "tests/unit/smp/fake_transport.h"

namespace smd {
namespace {

using std::chrono_literals::operator""ms;

MadPacket request_to(unsigned lid) {
  MadPacket packet;
  packet.remote_lid = Lid{static_cast<std::uint16_t>(lid)};
  encode_mad_header({.mgmt_class = 0x21, .class_version = 2, .method = 0x01}, packet.mad);
  return packet;
}

std::uint64_t id_of(const MadPacket& packet) {
  return decode_mad_header(packet.mad)->transaction_id;
}

MadPacket answer(const MadPacket& request) {
  MadPacket out = request;
  out.mad[3] = std::byte{0x81};
  return out;
}

class Gmps : public ::testing::Test {
 protected:
  Gmps() : client(runtime, port) { client.configure({.window = 2, .retries = 2, .timeout = 10ms}); }

  void ask(unsigned lid) {
    client.send(request_to(lid), [this](const Result<MadBytes>& result) {
      result ? ++answered : ++failed;
      if (!result) why = result.error().context;
    });
  }

  void run(Duration time) { runtime.run_until(runtime.now() + time); }

  sim::SimRuntime runtime;
  FakeTransport port;
  GmpClient client;
  int answered = 0;
  int failed = 0;
  std::string why;
};

TEST_F(Gmps, AnAnswerReachesItsAsker) {
  ask(7);
  EXPECT_TRUE(port.sent.empty()) << "never inside send()";
  run(1ms);
  ASSERT_EQ(port.sent.size(), 1u);
  EXPECT_EQ(port.sent[0].remote_qp, 1u);
  EXPECT_EQ(port.sent[0].local_qp, 1u);
  MadPacket other = answer(port.sent[0]);
  other.remote_lid = Lid{8};
  port.deliver(other);
  EXPECT_EQ(answered, 0) << "from a node that was not asked";
  MadPacket strange = answer(port.sent[0]);
  strange.mad[17] = std::byte{0x18};
  port.deliver(strange);
  strange = answer(port.sent[0]);
  strange.mad[23] = std::byte{1};
  port.deliver(strange);
  EXPECT_EQ(answered, 0) << "of another attribute, of another block";
  port.deliver(answer(port.sent[0]));
  EXPECT_EQ(answered, 1);
  port.deliver(answer(port.sent[0]));
  EXPECT_EQ(answered, 1) << "once";
  EXPECT_EQ(client.stats().unasked, 4u);
  run(100ms);
  EXPECT_EQ(failed, 0);
  EXPECT_TRUE(client.at_rest());
}

TEST_F(Gmps, SilenceIsAskedAgainUnderNewIdsAndThenGivenUp) {
  ask(7);
  run(100ms);
  ASSERT_EQ(port.sent.size(), 3u);
  EXPECT_NE(id_of(port.sent[0]), id_of(port.sent[1]));
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(why, "lid 7 does not answer");
  EXPECT_EQ(client.stats().timeouts, 1u);
  port.deliver(answer(port.sent[2]));
  EXPECT_EQ(answered, 0) << "too late";
}

TEST_F(Gmps, NoMoreThanTheWindowAreOnTheWire) {
  for (unsigned lid = 1; lid <= 5; ++lid) ask(lid);
  run(1ms);
  EXPECT_EQ(port.sent.size(), 2u);
  port.deliver(answer(port.sent[1]));
  run(1ms);
  ASSERT_EQ(port.sent.size(), 3u);
  EXPECT_EQ(port.sent[2].remote_lid, Lid{3});
  run(1000ms);
  EXPECT_EQ(answered, 1);
  EXPECT_EQ(failed, 4);
}

TEST_F(Gmps, APortThatHoldsLessHasASmallerWindow) {
  port.room = 8;
  client.configure({.window = 100});
  for (unsigned lid = 1; lid <= 5; ++lid) ask(lid);
  run(1ms);
  EXPECT_EQ(port.sent.size(), 2u) << "a quarter: the rest is for SMPs";
}

TEST_F(Gmps, ASendThatFailsIsTriedAgain) {
  port.on_attempt = [this]() -> Result<void> {
    if (port.attempts == 1) return fail(Errc::Io, "full");
    return {};
  };
  ask(7);
  run(15ms);
  ASSERT_EQ(port.sent.size(), 1u);
  port.deliver(answer(port.sent[0]));
  EXPECT_EQ(answered, 1);
}

TEST_F(Gmps, WhatOthersAskIsHandedOn) {
  int traps = 0;
  client.on_unsolicited([&](const MadPacket&) { ++traps; });
  MadPacket trap = request_to(3);
  trap.mad[3] = std::byte{0x05};
  port.deliver(trap);
  EXPECT_EQ(traps, 1);
}

TEST_F(Gmps, AStoppedClientCallsNobody) {
  for (unsigned lid = 1; lid <= 3; ++lid) ask(lid);
  run(1ms);
  client.stop();
  port.deliver(answer(port.sent[0]));
  run(1000ms);
  EXPECT_EQ(answered + failed, 0);
  EXPECT_EQ(port.sent.size(), 2u);
}

}  // namespace
}  // namespace smd
