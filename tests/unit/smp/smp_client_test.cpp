// Answers: which count, which do not, and what the client tells about them.
#include "smd/smp/smp_client.h"

#include <map>

#include "smd/base/rng.h"
#include "tests/unit/smp/smp_client_fixture.h"

namespace smd {
namespace {

using ::testing::HasSubstr;

TEST_F(SmpClientTest, TheFirstAnswerWinsAndDuplicatesAreCounted) {
  make_client();
  const auto outcome = ask(node_info());
  run_for(3ms);
  ASSERT_EQ(port_.sent.size(), 1u);
  EXPECT_EQ(client_->outstanding(), 1u);

  Smp first = answer_to(port_.sent_smp(0));
  first.data[5] = std::byte{7};
  port_.deliver(first);
  answer(0);

  ASSERT_TRUE(*outcome);
  ASSERT_TRUE(outcome->value());
  EXPECT_EQ((**outcome)->data[5], std::byte{7});
  EXPECT_EQ((**outcome)->round_trip, Duration{3ms});
  EXPECT_EQ((**outcome)->return_path[1], 1);
  EXPECT_EQ(client_->stats().answered, 1u);
  EXPECT_EQ(client_->stats().late, 1u);
  EXPECT_EQ(client_->outstanding(), 0u);
}

TEST_F(SmpClientTest, ARefusalIsAnAnswer) {
  make_client();
  const auto outcome = ask(node_info());
  Smp refusal = answer_to(port_.sent_smp(0));
  refusal.status = 0x001c;
  port_.deliver(refusal);
  ASSERT_TRUE(*outcome);
  EXPECT_EQ((**outcome)->status, 0x001c);
  EXPECT_EQ(client_->stats().refused, 1u);
}

TEST_F(SmpClientTest, TheUpperHalfOfTheTransactionIdBelongsToTheTransport) {
  make_client();
  const auto outcome = ask(node_info());
  Smp rewritten = answer_to(port_.sent_smp(0));
  EXPECT_EQ(rewritten.transaction_id >> 32, 0u);
  EXPECT_NE(rewritten.transaction_id, 0u);
  rewritten.transaction_id |= 0xdeadbeef00000000u;
  port_.deliver(rewritten);
  EXPECT_TRUE(*outcome);
}

TEST_F(SmpClientTest, EveryRequestCarriesItsMKey) {
  make_client();
  for (const SmpRoute& route : {SmpRoute::directed({PortNum{1}}),
                                SmpRoute::to_lid(Lid{4}),
                                SmpRoute::mixed(Lid{4}, {PortNum{2}})}) {
    SmpRequest request = node_info(route);
    request.m_key = MKey{0x0123456789abcdef};
    ask(request);
    EXPECT_EQ(decode_smp(port_.sent.back().mad)->m_key, MKey{0x0123456789abcdef});
  }
}

struct Spoiled {
  const char* name;
  void (*spoil)(Smp&);
};

class SmpClientMalformed : public SmpClientTest, public ::testing::WithParamInterface<Spoiled> {};

TEST_P(SmpClientMalformed, IsCountedAndTheRequestGoesOn) {
  make_client();
  SmpRequest request = node_info();
  request.attribute = AttributeId::PortInfo;
  request.modifier = 3;
  const auto outcome = ask(request);
  Smp bad = answer_to(port_.sent_smp(0));
  GetParam().spoil(bad);
  port_.deliver(bad);
  EXPECT_FALSE(*outcome);
  EXPECT_EQ(client_->stats().malformed, 1u);
  answer(0);
  ASSERT_TRUE(*outcome);
  EXPECT_TRUE(outcome->value());
}

INSTANTIATE_TEST_SUITE_P(
    Answers,
    SmpClientMalformed,
    ::testing::Values(Spoiled{"OtherAttribute", [](Smp& s) { s.attribute_id = 0x11; }},
                      Spoiled{"OtherModifier", [](Smp& s) { s.attribute_modifier = 4; }},
                      Spoiled{"DirectionBitClear", [](Smp& s) { s.returning = false; }},
                      Spoiled{"OtherHopCount", [](Smp& s) { s.hop_count = 2; }},
                      Spoiled{"OtherClass", [](Smp& s) { s.directed = false; }}),
    [](const auto& row) { return row.param.name; });

TEST_F(SmpClientTest, OnlyMalformedAnswersEndAsMalformed) {
  make_client();
  port_.on_sent = [this](const MadPacket& packet) {
    Smp bad = answer_to(decode_smp(packet.mad).value());
    bad.attribute_id = 0x15;
    runtime_.post([this, bad] { port_.deliver(bad); });
  };
  const auto outcome = ask(node_info(9));
  run_for(1s);
  ASSERT_TRUE(*outcome);
  EXPECT_EQ(outcome->value().error().code, Errc::Malformed);
  EXPECT_THAT(outcome->value().error().context, HasSubstr("(9)"));
  EXPECT_EQ(client_->stats().malformed, 3u);
}

/// IBA 13.4.7: it was discarded, and is to be asked again.
TEST_F(SmpClientTest, WhoAnswersBusyIsAskedAgain) {
  make_client();
  const auto outcome = ask(node_info());
  Smp busy = answer_to(port_.sent_smp(0));
  busy.status = static_cast<std::uint16_t>(MadStatus::Busy);
  port_.deliver(busy);
  EXPECT_FALSE(*outcome);
  run_for(kTimeout / 2);
  EXPECT_EQ(port_.sent.size(), 1u) << "not at once";
  run_for(kTimeout);
  ASSERT_EQ(port_.sent.size(), 2u);
  answer(1);
  ASSERT_TRUE(*outcome);
  EXPECT_TRUE(outcome->value());
  EXPECT_EQ(client_->stats().timeouts, 0u);
}

TEST_F(SmpClientTest, WhoIsBusyAllTheTimeIsGivenUpAsSilent) {
  make_client();
  port_.on_sent = [this](const MadPacket& packet) {
    Smp busy = answer_to(decode_smp(packet.mad).value());
    busy.status = static_cast<std::uint16_t>(MadStatus::Busy);
    runtime_.post([this, busy] { port_.deliver(busy); });
  };
  const auto outcome = ask(node_info());
  run_for(2 * kTimeout + kTimeout / 2);
  EXPECT_FALSE(*outcome) << "as patient as with somebody who is mute";
  run_for(kTimeout);
  ASSERT_TRUE(*outcome);
  EXPECT_EQ(outcome->value().error().code, Errc::Timeout);
  EXPECT_THAT(outcome->value().error().context, HasSubstr("busy"));
  EXPECT_EQ(port_.sent.size(), 3u);
}

TEST_F(SmpClientTest, BytesThatAreNoSmpAreCounted) {
  make_client();
  port_.deliver(MadPacket{});
  EXPECT_EQ(client_->stats().malformed, 1u);
}

TEST_F(SmpClientTest, AnAnswerNobodyAskedForIsLate) {
  make_client();
  Smp stranger;
  stranger.method = Method::GetResp;
  for (std::uint64_t id : {0x0ull, 0x20000ull, 0x21000ull, 0xffffffffull}) {
    stranger.transaction_id = id;
    port_.deliver(stranger);
  }
  EXPECT_EQ(client_->stats().late, 4u);
}

TEST_F(SmpClientTest, NeverHasMoreOutstandingThanThePortTakes) {
  port_.room = 3;
  make_client({.window_start = 100, .window_max = 100, .timeout = kTimeout});
  for (int i = 0; i < 10; ++i) ask(node_info());
  run_for(0ms);
  EXPECT_EQ(port_.sent.size(), 3u);
  EXPECT_EQ(client_->window(), 3u);
}

TEST_F(SmpClientTest, AnIdIsNotReusedSoon) {
  make_client();
  std::map<std::uint64_t, int> seen;
  port_.on_sent = [this, &seen](const MadPacket& packet) {
    const Smp request = decode_smp(packet.mad).value();
    EXPECT_EQ(seen[request.transaction_id]++, 0);
    runtime_.post([this, request] { port_.deliver(answer_to(request)); });
  };
  for (int i = 0; i < 20000; ++i) ask(node_info());
  run_for(1s);
  EXPECT_EQ(client_->stats().answered, 20000u);
}

TEST_F(SmpClientTest, ByLidOnlyWhoWasAskedAnswers) {
  make_client();
  client_->set_local_lid(Lid{1});
  const auto outcome = ask(node_info(SmpRoute::to_lid(Lid{4})));
  const Smp good = answer_to(port_.sent_smp(0));
  for (const Lid other : {Lid{5}, Lid{1}, kUnassignedLid, kPermissiveLid}) {
    port_.deliver(good, other);
    EXPECT_FALSE(*outcome) << other.value();
  }
  EXPECT_EQ(client_->stats().unsolicited, 4u);
  EXPECT_EQ(client_->stats().answered, 0u);
  port_.deliver(good, Lid{4});
  EXPECT_TRUE(*outcome);
  EXPECT_EQ(client_->stats().answered, 1u);
}

TEST_F(SmpClientTest, ByLidAPortOfSeveralAnswersFromAnyOfThem) {
  make_client();
  client_->set_same_port(
      [](Lid one, Lid other) { return one.value() / 4 == 2 && other.value() / 4 == 2; });
  for (const Lid from : {Lid{8}, Lid{9}, Lid{11}}) {
    const auto outcome = ask(node_info(SmpRoute::to_lid(Lid{9})));
    const Smp good = answer_to(port_.sent_smp(port_.sent.size() - 1));
    port_.deliver(good, Lid{12});
    EXPECT_FALSE(*outcome);
    port_.deliver(good, from);
    EXPECT_TRUE(*outcome) << from.value();
  }
}

/// Some drivers give no source for what a port sends to itself.
TEST_F(SmpClientTest, OurOwnPortMayAnswerWithoutASource) {
  make_client();
  client_->set_local_lid(Lid{1});
  for (const Lid from : {Lid{1}, kUnassignedLid, kPermissiveLid}) {
    const auto outcome = ask(node_info(SmpRoute::to_lid(Lid{1})));
    const Smp good = answer_to(port_.sent_smp(port_.sent.size() - 1));
    port_.deliver(good, Lid{7});
    EXPECT_FALSE(*outcome) << "another one";
    port_.deliver(good, from);
    EXPECT_TRUE(*outcome) << from.value();
  }
}

TEST_F(SmpClientTest, TrapsAndRequestsGoToTheUnsolicitedHandler) {
  make_client();
  std::vector<Method> seen;
  client_->on_unsolicited([&](const Smp& smp, const MadPacket& packet) {
    seen.push_back(smp.method);
    EXPECT_EQ(packet.remote_lid, Lid{12});
  });
  for (const Method method : {Method::Trap, Method::Get, Method::Set, Method::TrapRepress}) {
    Smp smp;
    smp.method = method;
    smp.attribute_id = static_cast<std::uint16_t>(AttributeId::Notice);
    port_.deliver(smp, Lid{12});
  }
  EXPECT_THAT(seen,
              ::testing::ElementsAre(Method::Trap, Method::Get, Method::Set, Method::TrapRepress));
  EXPECT_EQ(client_->stats().unsolicited, 4u);
}

TEST_F(SmpClientTest, CountsInjectionsByAttribute) {
  make_client();
  ask(node_info());
  SmpRequest set = node_info();
  set.attribute = AttributeId::PortInfo;
  set.method = Method::Set;
  ask(set);
  ask(node_info());
  EXPECT_THAT(client_->stats().sent_by_attribute,
              ::testing::ElementsAre(AttributeCount{.attribute = 0x11, .gets = 2},
                                     AttributeCount{.attribute = 0x15, .sets = 1}));
}

TEST_F(SmpClientTest, TenThousandRequestsCompleteOnceEachWhileAThirdIsLostDuplicatedOrDelayed) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Rng rng(seed);
    port_.sent.clear();
    make_client({.retries = 20, .timeout = kTimeout});
    port_.on_sent = [&](const MadPacket& packet) {
      const Smp reply = answer_to(decode_smp(packet.mad).value());
      const std::uint64_t copies = rng.chance(0.3) ? 0 : rng.chance(0.1) ? 2 : 1;
      for (std::uint64_t i = 0; i < copies; ++i) {
        const Duration delay{static_cast<std::int64_t>(rng.below(14'000'000))};
        runtime_.call_at(runtime_.now() + delay, [this, reply] { port_.deliver(reply); });
      }
    };
    int completed = 0;
    int good = 0;
    std::vector<int> runs(10000);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      scope_->send(node_info(static_cast<std::uint8_t>(i % 200)), [&, i](Result<SmpReply> reply) {
        ++runs[i];
        ++completed;
        good += reply ? 1 : 0;
      });
    }
    ASSERT_TRUE(runtime_.run_while_not([&] { return completed == 10000; }, runtime_.now() + 1h));
    run_for(1s);
    EXPECT_EQ(std::ranges::count(runs, 1), 10000);
    EXPECT_EQ(good, 10000);  // 21 attempts at 30 % loss: 1e-11 each
    EXPECT_EQ(client_->outstanding(), 0u);
    EXPECT_EQ(client_->queued(), 0u);
    EXPECT_EQ(scope_->pending(), 0u);
    const SmpStats& stats = client_->stats();
    EXPECT_EQ(stats.requests(), 10000u);
    EXPECT_GT(stats.retries, 3000u);
    EXPECT_GT(stats.late, 0u);
  }
}

}  // namespace
}  // namespace smd
