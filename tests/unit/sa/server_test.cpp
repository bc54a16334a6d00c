// The service on QP1: answers, refusals, silence, and segmented tables.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/sa/served.h"

namespace smd::sa {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(SaServer, AnswersAGetWithOneMadToWhoAsked) {
  ServerBench bench;
  MadPacket packet = packet_of(node_by_lid(lid_of(*bench.view, "H2")), Lid{40}, 0x1234);
  packet.remote_qp = 77;
  packet.sl = 3;
  packet.pkey_index = 2;
  bench.transport.deliver(packet);
  EXPECT_TRUE(bench.transport.sent.empty()) << "not inside the call that delivered it";
  bench.run();
  ASSERT_EQ(bench.transport.sent.size(), 1u);
  const MadPacket& out = bench.transport.sent[0];
  EXPECT_EQ(out.remote_lid, Lid{40});
  EXPECT_EQ(out.remote_qp, 77u);
  EXPECT_EQ(out.local_qp, 1u);
  EXPECT_EQ(out.sl, 3);
  EXPECT_EQ(out.pkey_index, 2);
  const SaHeader header = bench.sent(0);
  EXPECT_EQ(header.mad.method, 0x81);
  EXPECT_EQ(header.mad.status, 0);
  EXPECT_EQ(header.mad.transaction_id, 0x1234u);
  EXPECT_FALSE(header.rmpp.active());
  EXPECT_EQ(decode_node_record(std::span(out.mad).subspan(kHeaderSize))->info.port_guid,
            guid_of(*bench.view, "H2"));
}

// The way here may have another SL than the way back.
TEST(SaServer, AnswersHaveTheSlOfTheirPathWhereThereIsOne) {
  ServerBench bench;
  bench.server.adopt(view_with_path_sls("H1-S1 H2-S1 S1-S2 H3-S2"));
  const Lid host = lid_of(*bench.view, "H3");
  const auto sl_of_answer = [&](const Asked& asked, Lid from) {
    bench.transport.sent.clear();
    MadPacket packet = packet_of(asked, from, 1);
    packet.sl = 9;
    bench.transport.deliver(packet);
    bench.run();
    EXPECT_EQ(bench.transport.sent.size(), 1u);
    return bench.transport.sent.empty() ? 255 : bench.transport.sent[0].sl;
  };
  EXPECT_EQ(sl_of_answer(node_by_lid(host), host), host.value() % 8);
  EXPECT_EQ(sl_of_answer(node_by_lid(Lid{999}), host), host.value() % 8) << "a refusal";
  EXPECT_EQ(sl_of_answer(all_nodes(), host), host.value() % 8) << "a table";
  EXPECT_EQ(sl_of_answer(node_by_lid(host), Lid{400}), 9) << "whom nobody knows";
}

/// Clients take a status for the last word, but ask again where nothing comes.
TEST(SaServer, IsSilentUntilThereIsASubnet) {
  ServerBench bench;
  bench.server.adopt(nullptr);
  bench.give(node_by_lid(Lid{1}));
  bench.run_for(5s);
  EXPECT_TRUE(bench.transport.sent.empty());
  EXPECT_EQ(bench.server.stats().busy, 1u);
  EXPECT_EQ(bench.server.stats().refused, 0u);
  EXPECT_EQ(bench.server.parked(), 0u);
}

/// While a cycle runs: ports come up, and ask, before there is a view that knows them.
struct AwaitedView : ::testing::Test {
  AwaitedView() {
    bench.server.set_expects_view([this] { return expected; });
  }

  Asked path_from(const char* name, Gid dgid) {
    namespace part = path_component;
    PathRecord wanted{.dgid = dgid, .sgid = {kDefaultSubnetPrefix, guid_of(*after, name)}};
    return ask(Method::Get, RecordId::PathRecord, part::kSgid | part::kDgid, wanted, 64);
  }

  Gid gid(const char* name) { return {kDefaultSubnetPrefix, guid_of(*after, name)}; }

  void publish(std::shared_ptr<const SubnetView> view) {
    expected = false;
    bench.server.adopt(std::move(view));
    bench.run();
  }

  bool expected = true;
  ServerBench bench;
  std::shared_ptr<const SubnetView> after = view_of("H1-S1 H2-S1 S1-S2 H3-S2 H4-S2");
};

TEST_F(AwaitedView, IsWaitedForWhereThereIsNone) {
  bench.server.adopt(nullptr);
  for (std::uint16_t host = 40; host < 60; ++host) bench.give(all_nodes(), Lid{host});
  bench.run_for(500ms);
  bench.give(all_nodes(), Lid{40});  // which asks again
  bench.run_for(400ms);
  EXPECT_TRUE(bench.transport.sent.empty());
  EXPECT_EQ(bench.server.parked(), 20u);
  EXPECT_EQ(bench.server.stats().repeated, 1u);
  publish(after);
  EXPECT_EQ(bench.server.parked(), 0u);
  EXPECT_EQ(bench.server.stats().answered, 20u);
  EXPECT_EQ(bench.server.stats().busy, 0u);
}

TEST_F(AwaitedView, MayKnowWhoIsNotKnownYet) {
  bench.give(path_from("H4", gid("H1")), lid_of(*after, "H4"));
  bench.run_for(900ms);
  EXPECT_TRUE(bench.transport.sent.empty());
  EXPECT_EQ(bench.server.parked(), 1u);
  publish(after);
  ASSERT_EQ(bench.transport.sent.size(), 1u);
  EXPECT_EQ(bench.sent(0).mad.status, 0);
}

/// Its LID was another port's: the view has an owner for it.
TEST_F(AwaitedView, MayKnowThePortThatARequestNamesAsItsOwn) {
  bench.give(path_from("H4", gid("H1")), lid_of(*bench.view, "H2"));
  bench.run();
  EXPECT_TRUE(bench.transport.sent.empty());
  publish(after);
  ASSERT_EQ(bench.transport.sent.size(), 1u);
  EXPECT_EQ(bench.sent(0).mad.status, 0);
}

TEST_F(AwaitedView, IsWaitedForByNobodyWhoIsAnsweredFromTheLastOne) {
  const Lid known = lid_of(*bench.view, "H2");
  bench.give(path_from("H1", gid("H2")), known, 1);
  bench.give(path_from("H1", {kDefaultSubnetPrefix, Guid{0x4711}}), known, 2);
  bench.run();
  ASSERT_EQ(bench.transport.sent.size(), 2u);
  EXPECT_EQ(bench.sent(0).mad.status, 0);
  EXPECT_EQ(bench.sent(1).mad.status, static_cast<std::uint16_t>(Status::InvalidGid));
}

TEST_F(AwaitedView, IsWaitedForForASecond) {
  bench.give(path_from("H4", gid("H1")), lid_of(*after, "H4"));
  bench.run_for(1200ms);
  EXPECT_EQ(bench.server.parked(), 0u);
  EXPECT_TRUE(bench.transport.sent.empty()) << "it asks again";
  EXPECT_EQ(bench.server.stats().busy, 1u);
  bench.give(path_from("H4", gid("H1")), lid_of(*after, "H4"));
  bench.run();
  EXPECT_EQ(bench.server.parked(), 1u);
}

TEST_F(AwaitedView, ThatDoesNotKnowWhoWaitedAnswersNothing) {
  bench.give(path_from("H4", gid("H1")), lid_of(*after, "H4"));
  bench.run();
  publish(view_of("H1-S1 H2-S1 S1-S2 H3-S2"));
  EXPECT_EQ(bench.server.parked(), 0u);
  EXPECT_TRUE(bench.transport.sent.empty());
  bench.give(path_from("H4", gid("H1")), lid_of(*after, "H4"), 2);
  bench.run();
  ASSERT_EQ(bench.transport.sent.size(), 1u) << "no other one is expected";
  EXPECT_EQ(bench.sent(0).mad.status, static_cast<std::uint16_t>(Status::InvalidGid));
}

TEST_F(AwaitedView, ThatNeverComesLeavesNobodyWaiting) {
  bench.give(path_from("H4", gid("H1")), lid_of(*after, "H4"));
  bench.run();
  publish(nullptr);
  EXPECT_EQ(bench.server.parked(), 0u);
  bench.run_for(5s);
  EXPECT_TRUE(bench.transport.sent.empty());
}

TEST(SaServer, RefusalsCarryTheStatusAndNoKey) {
  ServerBench bench;
  Asked asked = node_by_lid(Lid{999});
  asked.header.sm_key = kTrusted;
  bench.give(asked);
  bench.run();
  EXPECT_EQ(bench.sent(0).mad.status, 0x0300);
  EXPECT_EQ(bench.sent(0).mad.method, 0x81);
  EXPECT_EQ(bench.sent(0).sm_key, SmKey{});
  asked.header.mad.method = static_cast<std::uint8_t>(Method::Set);
  bench.give(asked);
  bench.run();
  EXPECT_EQ(bench.sent(1).mad.method, 0x81) << "a Set is answered by a GetResp";
  EXPECT_EQ(bench.sent(1).mad.status, 0x0008);
  EXPECT_EQ(bench.server.stats().refused, 2u);
}

TEST(SaServer, AnswersAreCountedByAttributeAndStatus) {
  ServerBench bench;
  bench.give(node_by_lid(Lid{1}));
  bench.give(node_by_lid(Lid{999}));
  bench.give(node_by_lid(Lid{999}));
  bench.give(all_nodes());
  Asked strange = node_by_lid(Lid{1});
  for (const int attribute : {0x7777, 0x7778}) {
    strange.header.mad.attribute_id = static_cast<std::uint16_t>(attribute);
    bench.give(strange);
  }
  bench.run();
  const std::map<AnsweredAs, std::uint64_t> expected = {
      {{0x0011, Status::Ok}, 2},
      {{0x0011, Status::NoRecords}, 2},
      {{0, Status::BadMethodAttribute}, 2}};  // however many ids strangers make up
  EXPECT_EQ(bench.server.stats().by_attribute, expected);
}

TEST(SaServer, AWrongKeyIsNotAnsweredAtAll) {
  ServerBench bench;
  Asked asked = node_by_lid(Lid{1});
  asked.header.sm_key = SmKey{0xbad};
  bench.give(asked);
  bench.run_for(1s);
  EXPECT_TRUE(bench.transport.sent.empty());
  EXPECT_EQ(bench.server.stats().wrong_key, 1u);
}

TEST(SaServer, AnotherClassVersionIsRefusedAnotherBaseVersionIsNotUnderstood) {
  ServerBench bench;
  Asked asked = node_by_lid(Lid{1});
  asked.header.mad.class_version = 1;
  bench.give(asked);
  bench.run();
  EXPECT_EQ(bench.sent(0).mad.status, 0x0004);
  asked.header.mad.base_version = 2;
  bench.give(asked);
  bench.run();
  EXPECT_EQ(bench.transport.sent.size(), 1u);
  EXPECT_EQ(bench.server.stats().malformed, 1u);
}

/// There is no method 0x93 (IBA 15.2.2).
TEST(SaServer, ATraceIsAnsweredAsATable) {
  EXPECT_EQ(answer_method(static_cast<std::uint8_t>(Method::GetTraceTable)), 0x92);
  EXPECT_EQ(answer_method(static_cast<std::uint8_t>(Method::GetTable)), 0x92);
  EXPECT_EQ(answer_method(static_cast<std::uint8_t>(Method::Delete)), 0x95);
}

TEST(SaServer, AnswersAndTrapsAreNotRequests) {
  ServerBench bench;
  for (const int method : {0x81, 0x92, 0x05, 0x06, 0x07, 0x03, 0x00, 0x7f}) {
    Asked asked = node_by_lid(Lid{1});
    asked.header.mad.method = static_cast<std::uint8_t>(method);
    bench.give(asked);
  }
  bench.run_for(1s);
  EXPECT_TRUE(bench.transport.sent.empty());
  EXPECT_EQ(bench.server.stats().unasked, 8u);
}

TEST(SaServer, ATableGoesInSegmentsAsTheClientTakesThem) {
  ServerBench bench;
  bench.give(all_nodes());
  bench.run();
  ASSERT_EQ(bench.transport.sent.size(), 1u);
  EXPECT_EQ(bench.sent(0).mad.method, 0x92);
  EXPECT_EQ(bench.sent(0).attribute_offset, 14);
  EXPECT_EQ(bench.sent(0).rmpp.segment, 1u);
  bench.control(2, 1, 64);
  EXPECT_EQ(bench.transport.sent.size(), 3u);  // 5 * 112 bytes are three segments
  EXPECT_EQ(bench.sent(2).rmpp.flags, 5);
  bench.control(2, 3, 64);
  EXPECT_EQ(bench.server.transfers(), 0u);
  EXPECT_EQ(bench.server.stats().transfers_failed, 0u);
  EXPECT_EQ(bench.server.stats().records, 5u);
}

TEST(SaServer, AViewThatChangesDoesNotTearATable) {
  ServerBench bench;
  bench.give(all_nodes());
  bench.run();
  bench.server.adopt(view_of("H1-S1"));
  bench.control(2, 1, 64);
  EXPECT_EQ(bench.transport.sent.size(), 3u);
}

TEST(SaServer, SilenceRepeatsThenAborts) {
  ServerBench bench({.rmpp = {.response = 500ms, .retries = 2}});
  bench.give(all_nodes());
  bench.run_for(700ms);
  EXPECT_EQ(bench.transport.sent.size(), 2u);
  bench.run_for(10s);
  EXPECT_EQ(bench.server.transfers(), 0u);
  ASSERT_EQ(bench.transport.sent.size(), 4u);
  EXPECT_EQ(bench.sent(3).rmpp.type, 4);
  EXPECT_EQ(bench.server.stats().transfers_failed, 1u);
  EXPECT_EQ(bench.server.stats().segments_resent, 2u);
  const std::uint64_t tasks = bench.runtime.tasks_run();
  bench.run_for(10s);
  EXPECT_EQ(bench.runtime.tasks_run(), tasks) << "nothing ticks when nothing is under way";
}

TEST(SaServer, TheSameRequestAgainDoesNotBeginASecondTable) {
  ServerBench bench;
  bench.give(all_nodes());
  bench.run();
  bench.give(all_nodes());
  EXPECT_EQ(bench.server.waiting(), 0u) << "it is not even looked at";
  bench.run();
  EXPECT_EQ(bench.transport.sent.size(), 1u);
  EXPECT_EQ(bench.server.stats().repeated, 1u);
  bench.give(all_nodes(), Lid{40}, 2);
  bench.give(all_nodes(), Lid{41}, 1);
  bench.run();
  EXPECT_EQ(bench.server.transfers(), 3u);
}

TEST(SaServer, TheSameRequestTwiceInTheQueueIsOneTable) {
  ServerBench bench;
  bench.give(all_nodes());
  bench.give(all_nodes());
  bench.run();
  EXPECT_EQ(bench.server.transfers(), 1u);
  EXPECT_EQ(bench.transport.sent.size(), 1u);
}

TEST(SaServer, OneClientCannotEndTheTableOfAnother) {
  ServerBench bench;
  bench.give(all_nodes(), Lid{40}, 1);
  bench.run();
  bench.control(4, 0, 0, Lid{41}, 1);
  EXPECT_EQ(bench.server.transfers(), 1u);
  EXPECT_EQ(bench.server.stats().unasked, 1u);
  bench.control(4, 0, 0, Lid{40}, 1);
  EXPECT_EQ(bench.server.transfers(), 0u);
}

/// Answers every table with so many bytes.
struct LargeTable final : RecordManager {
  explicit LargeTable(std::size_t bytes) : records(bytes) {}

  std::optional<Answer> answer(const SubnetView&, const Query&) override {
    return Answer{.offset = 14, .records = records};
  }

  std::vector<std::byte> records;
};

/// As the Linux kernel receives: it acknowledges the first segment, the last one, that at which its
/// window ends, and what it acknowledged before. Of what it has beyond that it says nothing.
struct KernelReceiver {
  std::uint32_t window;
  std::uint32_t window_last = 1;
  std::uint32_t in_order = 0;
  std::uint32_t acknowledged = 0;
  bool complete = false;
  std::set<std::uint32_t> ahead{};

  /// Whether it answers with an acknowledgement of `in_order`.
  bool take(const RmppHeader& rmpp) {
    if (rmpp.segment > window_last) return false;
    if (rmpp.segment <= acknowledged || complete) return true;
    ahead.insert(rmpp.segment);
    while (ahead.erase(in_order + 1) > 0) {
      ++in_order;
      if (in_order == rmpp.segment && (rmpp.flags & rmpp_flag::kLast) != 0) complete = true;
    }
    if (!complete && in_order != window_last) return false;
    if (!complete) window_last += window;
    acknowledged = in_order;
    return true;
  }
};

class WideWindows : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(WideWindows, ATableArrivesWholeAndOnce) {
  constexpr std::uint32_t kSegments = 3000;
  ServerBench bench;
  LargeTable table(kSegments * kDataSize);
  bench.server.add_manager(table);
  KernelReceiver receiver{.window = GetParam()};
  bench.give(all_nodes());
  std::size_t most_at_once = 0;
  const auto measured = [&](const auto& what) {
    const std::size_t before = bench.transport.sent.size();
    what();
    most_at_once = std::max(most_at_once, bench.transport.sent.size() - before);
  };
  const TimePoint begun = bench.runtime.now();
  bench.run();
  for (std::size_t at = 0; bench.server.transfers() > 0;) {
    for (; at < bench.transport.sent.size(); ++at) {
      if (!receiver.take(bench.sent(at).rmpp)) continue;
      measured([&] { bench.control(2, receiver.in_order, receiver.window_last); });
    }
    measured([&] { bench.run_for(1ms); });
  }
  EXPECT_TRUE(receiver.complete);
  EXPECT_EQ(bench.transport.sent.size(), kSegments);
  EXPECT_EQ(bench.server.stats().transfers_failed, 0u);
  EXPECT_LE(most_at_once, 64u) << "a wide window does not keep the loop busy";
  EXPECT_LT(bench.runtime.now() - begun, Duration{400ms}) << "nobody waits for a timeout";
}

INSTANTIATE_TEST_SUITE_P(OfKernels, WideWindows, ::testing::Values(1, 64, 65, 128, 500, 1024));

/// As on libumad2sim: clients take the first segment for the whole.
struct WithoutSegments final : Transport {
  [[nodiscard]] LocalPort local_port() const override { return {}; }

  [[nodiscard]] bool carries_segments() const override { return false; }

  Result<void> send(const MadPacket& packet) override {
    sent.push_back(packet);
    return {};
  }

  void set_handlers(Receive r, Lost) override { receive = std::move(r); }

  Result<void> set_is_sm(bool) override { return {}; }

  Receive receive;
  std::vector<MadPacket> sent;
};

TEST(SaServer, WhereNobodyAcknowledgesNothingIsKept) {
  sim::SimRuntime runtime;
  WithoutSegments transport;
  Server server(runtime, transport);
  server.adopt(view_of("H1-S1 H2-S1"));
  transport.receive(packet_of(all_nodes(), Lid{4}, 1));
  runtime.run_until(runtime.now() + Duration{5s});
  EXPECT_EQ(transport.sent.size(), 1u);
  EXPECT_EQ(server.transfers(), 0u);
}

}  // namespace
}  // namespace smd::sa
