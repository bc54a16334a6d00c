// Clients that mean no good, or no sense: floods, half-open transfers, random bytes.
#include <gtest/gtest.h>

#include <random>

#include "smd/sa/path_finder.h"
#include "tests/unit/sa/served.h"

namespace smd::sa {
namespace {

using std::chrono_literals::operator""s;

TEST(SaFlood, WhoFloodsWaitsBehindHimself) {
  ServerBench bench({.requests_of_one_port = 100, .requests_per_turn = 4});
  for (std::uint64_t i = 0; i < 1000; ++i) bench.give(node_by_lid(Lid{1}), Lid{66}, i);
  bench.give(node_by_lid(Lid{1}), Lid{40}, 5000);
  EXPECT_EQ(bench.server.waiting(), 101u);
  EXPECT_EQ(bench.server.stats().flooded, 900u);
  bench.run();
  ASSERT_EQ(bench.transport.sent.size(), 101u);
  EXPECT_EQ(bench.transport.sent[1].remote_lid, Lid{40}) << "the second turn is the other client's";
}

TEST(SaFlood, SoManyRequestsOfAPortInATenthOfASecondAreTakenAndNoMore) {
  ServerBench bench({.requests_of_one_port = 5000, .requests_of_one_port_in_100ms = 10});
  const auto flood = [&](Lid from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      bench.give(node_by_lid(Lid{1}), from, 100 * bench.server.stats().requests + i);
    bench.run();
  };
  flood(Lid{66}, 1000);
  EXPECT_EQ(bench.transport.sent.size(), 10u);
  EXPECT_EQ(bench.server.stats().too_fast, 990u);
  flood(Lid{40}, 10);
  EXPECT_EQ(bench.transport.sent.size(), 20u) << "another port is answered";
  bench.run_for(std::chrono::milliseconds(99));
  flood(Lid{66}, 1);
  EXPECT_EQ(bench.transport.sent.size(), 20u);
  bench.run_for(std::chrono::milliseconds(1));
  flood(Lid{66}, 11);
  EXPECT_EQ(bench.transport.sent.size(), 30u) << "a new tenth of a second";
  EXPECT_EQ(bench.server.stats().flooded, 0u);
}

TEST(SaFlood, FurtherLidsAreNoFurtherPorts) {
  ServerBench bench({.requests_of_one_port_in_100ms = 2});
  bench.server.adopt(bench.view = view_of("H1-S1 H2-S1", 2));
  for (std::uint16_t i = 0; i < 4; ++i) {
    const Lid lid{static_cast<std::uint16_t>(lid_of(*bench.view, "H1").value() + i)};
    bench.give(node_by_lid(Lid{1}), lid, i);
  }
  EXPECT_EQ(bench.server.stats().too_fast, 2u);
}

TEST(SaFlood, DearRequestsShareTheLoop) {
  // All nodes are five records: two such requests are a turn.
  ServerBench bench({.requests_per_turn = 32, .cost_per_turn = 10});
  for (std::uint64_t i = 0; i < 6; ++i) bench.give(all_nodes(), Lid{66}, i);
  ASSERT_TRUE(bench.runtime.run_one());
  EXPECT_EQ(bench.server.waiting(), 4u);
  // Paths that are looked at and refused cost as much as those that are found.
  ServerBench picky({.requests_per_turn = 32, .cost_per_turn = 10});
  PathRecord wanted{.mtu = {Selector::GreaterThan, 5}};
  const Asked none = ask(Method::GetTable,
                         RecordId::PathRecord,
                         path_component::kMtu | path_component::kMtuSelector,
                         wanted,
                         kPathRecordSize);
  for (std::uint64_t i = 0; i < 6; ++i) picky.give(none, Lid{66}, i);
  ASSERT_TRUE(picky.runtime.run_one());
  EXPECT_EQ(picky.server.waiting(), 5u);
}

/// Every request takes `each`, by a clock of its own.
struct SlowKeeper final : RecordManager {
  explicit SlowKeeper(Duration how_long) : each(how_long) {}

  std::optional<Answer> answer(const SubnetView&, const Query&) override {
    wall += each;
    return std::nullopt;
  }

  Duration each;
  Duration wall{0};
};

TEST(SaFlood, AfterALongTurnTheLoopIsLeftToOthersThreeTimesAsLong) {
  using std::chrono_literals::operator""ms;
  using std::chrono_literals::operator""us;
  for (const Duration each : {Duration(20ms), Duration(20us)}) {
    ServerBench bench({.requests_per_turn = 1});
    SlowKeeper slow(each);
    bench.server.add_manager(slow);
    bench.server.set_wall([&] { return slow.wall; });
    for (std::uint64_t i = 0; i < 3; ++i) bench.give(all_nodes(), Lid{66}, i);
    bench.run();
    if (each < 1ms) {
      EXPECT_EQ(bench.server.waiting(), 0u) << "short turns follow at once";
      continue;
    }
    EXPECT_EQ(bench.server.waiting(), 2u);
    bench.run_for(79ms);
    EXPECT_EQ(bench.server.waiting(), 2u);
    bench.run_for(1ms);
    EXPECT_EQ(bench.server.waiting(), 1u);
    bench.run_for(80ms);
    EXPECT_EQ(bench.server.waiting(), 0u);
    bench.give(all_nodes(), Lid{67}, 9);
    bench.run_for(79ms);
    EXPECT_EQ(bench.server.waiting(), 1u) << "also for who comes after the last";
    bench.run_for(1ms);
    EXPECT_EQ(bench.server.waiting(), 0u);
  }
}

TEST(SaFlood, ThereIsRoomForSoManyClients) {
  ServerBench bench({.requests = 10});
  for (std::uint16_t lid = 1; lid <= 15; ++lid) bench.give(node_by_lid(Lid{1}), Lid{lid}, 1);
  EXPECT_EQ(bench.server.waiting(), 10u);
  EXPECT_EQ(bench.server.stats().flooded, 5u);
  bench.run();
  bench.give(node_by_lid(Lid{1}), Lid{99}, 1);
  bench.run();
  EXPECT_EQ(bench.transport.sent.size(), 11u) << "room comes back";
}

TEST(SaFlood, AThousandHalfOpenTablesAreRefusedAndForgotten) {
  ServerBench bench({.requests_of_one_port = 2000, .transfers = 100, .transfers_of_one_port = 60});
  for (std::uint64_t i = 0; i < 1000; ++i) bench.give(all_nodes(), Lid{66}, i);
  bench.run();
  EXPECT_EQ(bench.server.transfers(), 60u);
  EXPECT_EQ(bench.server.stats().busy, 940u);
  for (std::uint64_t i = 0; i < 100; ++i) bench.give(all_nodes(), Lid{67}, i);
  bench.run();
  EXPECT_EQ(bench.server.transfers(), 100u);
  bench.give(node_by_lid(Lid{1}), Lid{40}, 7);
  bench.run();
  EXPECT_EQ(bench.sent(bench.transport.sent.size() - 1).mad.status, 0) << "a Get still goes";
  bench.run_for(60s);
  EXPECT_EQ(bench.server.transfers(), 0u);
}

TEST(SaFlood, ManyQueuePairsOfAPortAreOnePort) {
  ServerBench bench(
      {.requests_of_one_port = 8, .transfers_of_one_port = 2, .requests_per_turn = 1});
  const Lid flooder = lid_of(*bench.view, "H1");
  const Lid other = lid_of(*bench.view, "H2");
  const auto ask_from = [&](Lid lid, std::uint32_t qp) {
    MadPacket packet = packet_of(all_nodes(), lid, qp);
    packet.remote_qp = qp;
    bench.transport.deliver(packet);
  };
  for (std::uint32_t qp = 1; qp <= 100; ++qp) ask_from(flooder, qp);
  ask_from(other, 1);
  EXPECT_EQ(bench.server.waiting(), 9u);
  EXPECT_EQ(bench.server.stats().flooded, 92u);
  bench.run();
  EXPECT_EQ(bench.sent(1).mad.status, 0);
  EXPECT_EQ(bench.transport.sent[1].remote_lid, other) << "the second turn";
  EXPECT_EQ(bench.server.transfers(), 3u) << "two of the one, one of the other";
  EXPECT_EQ(bench.server.stats().busy, 6u);
  bench.run_for(60s);
  EXPECT_EQ(bench.server.transfers(), 0u);
  for (std::uint32_t qp = 101; qp <= 102; ++qp) ask_from(flooder, qp);
  bench.run();
  EXPECT_EQ(bench.server.transfers(), 2u) << "room comes back";
}

TEST(SaFlood, AllLidsOfAPortAreOnePort) {
  // LMC 2: four LIDs, and a queue of each would be four times what others have.
  ServerBench bench({.requests_of_one_port = 8});
  const auto view = view_of("H1-S1 H2-S1 S1-S2 H3-S2", 2);
  bench.server.adopt(view);
  const std::uint16_t base = lid_of(*view, "H1").value();
  for (std::uint16_t i = 0; i < 40; ++i)
    bench.give(node_by_lid(Lid{1}), Lid{static_cast<std::uint16_t>(base + i % 4)}, i);
  EXPECT_EQ(bench.server.waiting(), 8u);
}

TEST(SaFlood, WhatTablesUnderWayTakeIsBounded) {
  // All nodes are five records of 112 bytes.
  ServerBench bench({.transfer_bytes = 2000, .transfer_bytes_of_one_port = 1200});
  for (std::uint64_t i = 0; i < 4; ++i) bench.give(all_nodes(), Lid{66}, i);
  bench.run();
  EXPECT_EQ(bench.server.transfers(), 2u);
  EXPECT_EQ(bench.server.stats().busy, 2u);
  for (std::uint16_t lid = 70; lid < 74; ++lid) bench.give(all_nodes(), Lid{lid}, 1);
  bench.run();
  EXPECT_EQ(bench.server.transfers(), 3u) << "in all";
  bench.run_for(60s);
  EXPECT_EQ(bench.server.transfers(), 0u);
  ServerBench small({.transfer_bytes = 100, .transfer_bytes_of_one_port = 100});
  small.give(all_nodes(), Lid{66}, 1);
  small.run();
  EXPECT_EQ(small.server.transfers(), 1u) << "one alone may be larger: else it would never come";
}

TEST(SaFlood, ARefusedTableSaysBusy) {
  ServerBench bench({.transfers_of_one_port = 1});
  bench.give(all_nodes(), Lid{66}, 1);
  bench.give(all_nodes(), Lid{66}, 2);
  bench.run();
  EXPECT_EQ(bench.sent(1).mad.method, 0x92);
  EXPECT_EQ(bench.sent(1).mad.status, 1);
}

/// Bytes that look like requests more often than chance would have it.
MadPacket random_packet(std::mt19937_64& random) {
  MadPacket packet{.remote_lid = Lid{static_cast<std::uint16_t>(random() % 8)},
                   .local_qp = 1,
                   .remote_qp = static_cast<std::uint32_t>(random() % 2)};
  for (std::byte& each : packet.mad) each = static_cast<std::byte>(random());
  if (random() % 8 == 0) return packet;
  static constexpr std::uint16_t kIds[] = {1,
                                           3,
                                           0x11,
                                           0x12,
                                           0x13,
                                           0x14,
                                           0x15,
                                           0x17,
                                           0x18,
                                           0x20,
                                           0x30,
                                           0x31,
                                           0x33,
                                           0x35,
                                           0x36,
                                           0x38,
                                           0x39,
                                           0x3a};
  static constexpr std::uint8_t kMethods[] = {0x01, 0x02, 0x12, 0x12, 0x13, 0x14, 0x15};
  SaHeader header = *decode_sa_header(packet.mad);
  header.mad.base_version = 1;
  header.mad.mgmt_class = 3;
  header.mad.class_version = 2;
  header.mad.method = kMethods[random() % std::size(kMethods)];
  header.mad.attribute_id = kIds[random() % std::size(kIds)];
  header.mad.transaction_id = random() % 16;
  if (random() % 4 != 0) header.sm_key = random() % 2 == 0 ? SmKey{} : kTrusted;
  if (random() % 2 == 0) header.component_mask = random() % 64;
  if (random() % 2 == 0) header.rmpp = {};
  if (random() % 4 == 0) {
    header.rmpp = {.version = 1,
                   .type = static_cast<std::uint8_t>(random() % 6),
                   .flags = static_cast<std::uint8_t>(random() % 8),
                   .status = static_cast<std::uint8_t>(random() % 2 * 120),
                   .segment = static_cast<std::uint32_t>(random() % 5),
                   .length = static_cast<std::uint32_t>(random() % 70)};
  }
  encode_sa_header(header, packet.mad);
  if (random() % 2 == 0) {  // a LID that exists, in a record that begins with one
    packet.mad[kHeaderSize] = std::byte{0};
    packet.mad[kHeaderSize + 1] = static_cast<std::byte>(random() % 8);
  }
  return packet;
}

TEST(SaFuzz, RandomRequestsNeverBreakIt) {
  std::mt19937_64 random(1);
  ServerBench bench;
  for (int i = 0; i < 100'000; ++i) {
    bench.transport.deliver(random_packet(random));
    if (i % 50 == 0) bench.run_for(std::chrono::milliseconds(random() % 400));
    if (i % 5000 == 0) bench.server.adopt(view_of("H1-S1 H2-S1 S1-S2", i % 10'000 == 0 ? 1 : 0));
    for (const MadPacket& out : bench.transport.sent)
      ASSERT_NE(std::to_integer<unsigned>(out.mad[3]) & 0x80, 0u) << "nothing but answers";
    bench.transport.sent.clear();
  }
  bench.run_for(120s);
  EXPECT_EQ(bench.server.transfers(), 0u);
  EXPECT_EQ(bench.server.waiting(), 0u);
  const ServerStats& stats = bench.server.stats();
  EXPECT_GT(stats.answered, 1000u);
  EXPECT_GT(stats.refused, 1000u);
  EXPECT_GE(stats.requests, stats.answered + stats.refused + stats.wrong_key);
}

}  // namespace
}  // namespace smd::sa
