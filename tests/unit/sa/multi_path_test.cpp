// MultiPathRecord: its bytes, what it is answered with, and requests that come in segments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "smd/sa/multi_path.h"
#include "smd/sa/rmpp.h"
#include "tests/unit/sa/served.h"

namespace smd::sa {
namespace multi_path_test {

using std::chrono_literals::operator""s;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::uint64_t kCounts =
    multi_path_component::kSgidCount | multi_path_component::kDgidCount;

Gid gid_of(const SubnetView& view, std::string_view name) {
  return {kDefaultSubnetPrefix, guid_of(view, name)};
}

MultiPathRecord from_to(const SubnetView& view,
                        std::initializer_list<const char*> from,
                        std::initializer_list<const char*> to) {
  MultiPathRecord record;
  for (const char* name : from) record.sgids.push_back(gid_of(view, name));
  for (const char* name : to) record.dgids.push_back(gid_of(view, name));
  return record;
}

Answer paths(const SubnetView& view, std::uint64_t mask, const MultiPathRecord& record) {
  const Asked asked{.header = {.component_mask = mask}};
  return find_multi_paths(view, asked.query(), encode_multi_path_record(record), {});
}

std::vector<std::pair<Lid, Lid>> lids_of(const Answer& answer) {
  std::vector<std::pair<Lid, Lid>> lids;
  for (std::size_t i = 0; i < answer.count(); ++i) {
    const PathRecord path = decode_path_record(std::span(answer.records).subspan(i * 64)).value();
    lids.emplace_back(path.slid, path.dlid);
  }
  return lids;
}

TEST(SaMultiPath, ItsBytes) {
  MultiPathRecord record{.wanted = {.service_id = 0x1122334455667788,
                                    .reversible = true,
                                    .numb_path = 5,
                                    .p_key = PKey{0xffff},
                                    .sl = 3,
                                    .mtu = {Selector::Exactly, 4}},
                         .independence = 1,
                         .sgids = {{1, Guid{2}}},
                         .dgids = {{3, Guid{4}}, {5, Guid{6}}}};
  const std::vector<std::byte> data = encode_multi_path_record(record);
  ASSERT_EQ(data.size(), 24u + 3 * 16);
  EXPECT_EQ(data[5], std::byte{0x85});   // reversible, NumbPath
  EXPECT_EQ(data[9], std::byte{3});      // SL
  EXPECT_EQ(data[10], std::byte{0x84});  // MTU and its selector
  EXPECT_EQ(data[13], std::byte{0x11});  // ServiceID, its first byte alone
  EXPECT_EQ(data[14], std::byte{0x40});  // IndependenceSelector
  EXPECT_EQ(data[15], std::byte{1});
  EXPECT_EQ(data[16], std::byte{2});
  EXPECT_EQ(data[17], std::byte{0x22});
  EXPECT_EQ(data[31], std::byte{1});  // the first GID
  EXPECT_EQ(decode_multi_path_record(data).value(), record);
  EXPECT_FALSE(decode_multi_path_record(std::span(data).first(data.size() - 1)));
  EXPECT_FALSE(decode_multi_path_record(std::span(data).first(23)));
}

TEST(SaMultiPath, EverySourceToEveryDestination) {
  const auto view = view_of("H1-S1 H2-S1 S1-S2 H3-S2");
  const Lid h1 = lid_of(*view, "H1"), h2 = lid_of(*view, "H2"), h3 = lid_of(*view, "H3");
  const Answer answer = paths(*view, kCounts, from_to(*view, {"H1", "H2"}, {"H3", "H1"}));
  EXPECT_THAT(lids_of(answer), ElementsAre(Pair(h1, h3), Pair(h1, h1), Pair(h2, h3), Pair(h2, h1)));
}

TEST(SaMultiPath, AFurtherGidOfAPortIsAnsweredAsItWasAskedFor) {
  ViewParts parts = parts_of("H1-S1 H2-S1 S1-S2 H3-S2");
  constexpr Guid kOfH1{0xa1}, kOfH3{0xa3};
  const auto own = [&](const char* name) {
    return parts.fabric->port_guid[test::end_port(*parts.fabric, name)];
  };
  parts.aliases = std::make_shared<const std::map<Guid, std::vector<Guid>>>(
      std::map<Guid, std::vector<Guid>>{{own("H1"), {{}, kOfH1}}, {own("H3"), {{}, kOfH3}}});
  const SubnetView view(std::move(parts));
  const Gid of_h1{kDefaultSubnetPrefix, kOfH1}, of_h3{kDefaultSubnetPrefix, kOfH3};
  MultiPathRecord record = from_to(view, {"H1"}, {"H3"});
  record.sgids.push_back(of_h1);
  record.dgids.push_back(of_h3);
  record.wanted.numb_path = 1;
  for (const bool apart : {false, true}) {
    record.independence = apart ? 1 : 0;
    const Answer answer =
        paths(view,
              kCounts | multi_path_component::kIndependence | component_bit(6),  // NumbPath
              record);
    std::vector<std::pair<Gid, Gid>> gids;
    for (std::size_t i = 0; i < answer.count(); ++i) {
      const PathRecord path = *decode_path_record(std::span(answer.records).subspan(i * 64));
      gids.emplace_back(path.sgid, path.dgid);
    }
    EXPECT_THAT(gids,
                ElementsAre(Pair(gid_of(view, "H1"), gid_of(view, "H3")),
                            Pair(gid_of(view, "H1"), of_h3),
                            Pair(of_h1, gid_of(view, "H3")),
                            Pair(of_h1, of_h3)));
  }
}

/// Two spines; of the four LIDs of H3 and H4 the first two lead by S3, the others by S4.
std::shared_ptr<const SubnetView> two_ways() {
  ViewParts parts = parts_of("H1-S1 H2-S1 H3-S2 H4-S2 S1-S3 S1-S4 S3-S2 S4-S2", 2);
  auto tables = std::make_shared<RoutingTables>(*parts.routing);
  const Fabric& fabric = *parts.fabric;
  const SwitchIdx leaf = test::switch_named(fabric, "S1");
  for (const char* host : {"H3", "H4"}) {
    const Lid base = parts.lids->base[test::end_port(fabric, host)];
    for (unsigned i = 0; i < 4; ++i) {
      const NodeIdx spine = fabric.switch_node[test::switch_named(fabric, i < 2 ? "S3" : "S4")];
      for (const PortIdx port : fabric.ports_of(fabric.switch_node[leaf])) {
        if (fabric.peer[port] != kNone<PortIdx> && fabric.node_of[fabric.peer[port]] == spine)
          tables->lft.set_route(
              leaf, Lid{static_cast<std::uint16_t>(base.value() + i)}, fabric.number_of(port));
      }
    }
  }
  parts.routing = tables;
  return std::make_shared<const SubnetView>(parts);
}

/// Links that more than one of the paths passes, hosts' own aside.
std::size_t count_shared(const SubnetView& view, const Answer& answer) {
  const Fabric& fabric = view.fabric();
  std::map<PortIdx, unsigned> paths_over;
  for (const auto& [slid, dlid] : lids_of(answer)) {
    PortIdx at = view.lids().owner_of(slid);
    const PortIdx target = view.lids().owner_of(dlid);
    for (at = fabric.peer[at]; fabric.node_of[at] != fabric.node_of[target];) {
      const SwitchIdx sw = fabric.switch_at(at);
      const PortIdx out = fabric.port_of(fabric.node_of[at], view.routing().lft.route(sw, dlid));
      at = fabric.peer[out];
      if (fabric.node_of[at] != fabric.node_of[target]) ++paths_over[out];
    }
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(paths_over, [](const auto& each) { return each.second > 1; }));
}

TEST(SaMultiPath, IndependentPathsShareNoCableWhereTheyCan) {
  const auto view = two_ways();
  MultiPathRecord record = from_to(*view, {"H1"}, {"H3"});
  record.wanted.numb_path = 2;
  record.independence = 1;
  constexpr std::uint64_t kNumbPath = component_bit(6);
  constexpr std::uint64_t kSelector = multi_path_component::kIndependence;
  const Answer any = paths(*view, kCounts | kNumbPath, record);
  EXPECT_EQ(any.count(), 2u);
  EXPECT_EQ(count_shared(*view, any), 2u) << "the first two LIDs, without the selector";
  const Answer apart = paths(*view, kCounts | kNumbPath | kSelector, record);
  EXPECT_EQ(apart.count(), 2u);
  EXPECT_EQ(count_shared(*view, apart), 0u);
  EXPECT_EQ(lids_of(apart).front(), lids_of(any).front()) << "the first stays the first";
  // The same of paths between different ports; what cannot be apart is shared.
  MultiPathRecord four = from_to(*view, {"H1", "H2"}, {"H3", "H4"});
  four.wanted.numb_path = 1;
  four.independence = 1;
  const Answer each = paths(*view, kCounts | kNumbPath | kSelector, four);
  ASSERT_EQ(each.count(), 4u);
  std::set<int> ways;
  for (const auto& [slid, dlid] : lids_of(each))
    ways.insert((dlid.value() - view->lids().base[view->lids().owner_of(dlid)].value()) / 2);
  EXPECT_EQ(ways.size(), 2u) << "both spines";
  // A selector of 0 asks for nothing.
  record.independence = 0;
  EXPECT_EQ(lids_of(paths(*view, kCounts | kNumbPath | kSelector, record)), lids_of(any));
  // More than there are.
  record.independence = 1;
  record.wanted.numb_path = 100;
  EXPECT_EQ(paths(*view, kCounts | kNumbPath | kSelector, record).count(), 16u);
}

/// What is compared for the choice counts as what is walked does, and has the same limit.
TEST(SaMultiPath, IndependentPathsCostWhatIsComparedForThem) {
  const auto view = view_of("H1-S1 H2-S1 H3-S1 H4-S1", 7);
  constexpr std::uint64_t kMask =
      kCounts | component_bit(6) | multi_path_component::kIndependence;  // NumbPath
  MultiPathRecord record = from_to(*view, {"H1"}, {"H2"});
  record.wanted.numb_path = 127;
  record.independence = 1;
  const Answer one = paths(*view, kMask, record);
  EXPECT_EQ(one.count(), 127u);
  EXPECT_GE(one.cost, 127u * 64) << "of ever fewer each time";
  EXPECT_LE(one.cost, 128u * 80) << "of matched LIDs alone, which lead all ways that there are";
  record.dgids = from_to(*view, {}, {"H2", "H2", "H2"}).dgids;
  const Answer same = paths(*view, kMask, record);
  EXPECT_EQ(same.records, one.records);
  EXPECT_EQ(same.cost, one.cost);
  record = from_to(*view, {"H1", "H2", "H3", "H4"}, {"H1", "H2", "H3", "H4"});
  record.wanted.numb_path = 127;
  record.independence = 1;
  const Answer many = paths(*view, kMask, record);
  EXPECT_EQ(many.status, Status::NoResources);
  EXPECT_GE(many.cost, QueryLimits{}.paths);
  EXPECT_LE(many.cost, 2 * QueryLimits{}.paths);
  record.wanted.numb_path = 8;
  EXPECT_EQ(paths(*view, kMask, record).count(), 16u * 8);
}

TEST(SaMultiPath, AGidThatIsRepeatedIsAskedForOnce) {
  const auto view = view_of("H1-S1 H2-S1 S1-S2 H3-S2");
  const Lid h1 = lid_of(*view, "H1"), h2 = lid_of(*view, "H2"), h3 = lid_of(*view, "H3");
  const Answer answer =
      paths(*view, kCounts, from_to(*view, {"H1", "H2", "H1"}, {"H3", "H3", "H1"}));
  EXPECT_THAT(lids_of(answer), ElementsAre(Pair(h1, h3), Pair(h1, h1), Pair(h2, h3), Pair(h2, h1)));
}

TEST(SaMultiPath, BoundsHoldForEachPath) {
  const auto view = view_of("H1-S1 H2-S1", 1);
  MultiPathRecord record = from_to(*view, {"H1"}, {"H2"});
  EXPECT_EQ(paths(*view, kCounts, record).count(), 4u);
  record.wanted.numb_path = 2;
  constexpr std::uint64_t kNumbPath = component_bit(6);
  EXPECT_EQ(paths(*view, kCounts | kNumbPath, record).count(), 2u);
  record.wanted.mtu = {Selector::GreaterThan, 5};
  constexpr std::uint64_t kMtu = component_bit(10) | component_bit(11);
  EXPECT_EQ(paths(*view, kCounts | kMtu, record).count(), 0u);
}

TEST(SaMultiPath, WhatIsMissingOrUnknownIsSaidSo) {
  const auto view = view_of("H1-S1 H2-S1");
  MultiPathRecord record = from_to(*view, {"H1"}, {"H2"});
  for (const std::uint64_t mask : {std::uint64_t{0}, component_bit(19), component_bit(20)})
    EXPECT_EQ(paths(*view, mask, record).status, Status::InsufficientComponents);
  EXPECT_EQ(paths(*view, kCounts, {}).status, Status::RequestInvalid);
  record.dgids.push_back({kDefaultSubnetPrefix, Guid{0x404}});
  EXPECT_EQ(paths(*view, kCounts, record).status, Status::InvalidGid);
}

SaHeader multi_header(std::uint64_t transaction = 7) {
  return {.mad = {.mgmt_class = 3,
                  .class_version = 2,
                  .method = static_cast<std::uint8_t>(Method::GetMulti),
                  .transaction_id = transaction,
                  .attribute_id = static_cast<std::uint16_t>(RecordId::MultiPathRecord)},
          .component_mask = kCounts};
}

void deliver(ServerBench& bench, const MadBytes& mad, Lid from = Lid{40}) {
  bench.transport.deliver({.remote_lid = from, .local_qp = 1, .remote_qp = 1, .mad = mad});
}

TEST(SaMultiPath, ARequestInSegmentsIsAnsweredOnceItIsWhole) {
  ServerBench bench;
  // 12 destinations: 232 bytes, two segments.
  MultiPathRecord record = from_to(*bench.view, {"H1"}, {});
  for (int i = 0; i < 12; ++i) record.dgids.push_back(gid_of(*bench.view, "H3"));
  RmppSender sender(multi_header(), encode_multi_path_record(record), {}, bench.runtime.now());
  MadBytes mad{};
  ASSERT_TRUE(sender.next(mad, bench.runtime.now()));
  deliver(bench, mad);
  bench.run();
  ASSERT_EQ(bench.transport.sent.size(), 1u);
  EXPECT_EQ(bench.sent(0).rmpp.type, 2);
  EXPECT_EQ(bench.sent(0).mad.method, 0x94);
  EXPECT_EQ(bench.server.half_open(), 1u);
  sender.on_control(bench.sent(0).rmpp, bench.runtime.now());
  ASSERT_TRUE(sender.next(mad, bench.runtime.now()));
  deliver(bench, mad);
  deliver(bench, mad);  // twice, as if the acknowledgement had been late
  bench.run();
  EXPECT_EQ(bench.server.half_open(), 0u);
  EXPECT_EQ(bench.server.transfers(), 1u);
  const SaHeader answer = bench.sent(bench.transport.sent.size() - 1);
  EXPECT_EQ(answer.mad.method, 0x94);
  EXPECT_EQ(answer.rmpp.type, 1);
  EXPECT_EQ(answer.attribute_offset, 8);
  EXPECT_EQ(bench.server.stats().records, 1u) << "of a GID that is repeated";
  EXPECT_EQ(bench.server.stats().requests, 1u);
}

MadBytes first_of_many(std::uint64_t transaction) {
  SaHeader header = multi_header(transaction);
  header.rmpp = {.version = 1, .type = 1, .flags = 3, .segment = 1, .length = 5000};
  MadBytes mad{};
  encode_sa_header(header, mad);
  return mad;
}

TEST(SaMultiPath, AThousandHalfOpenRequestsAreStoppedAndForgotten) {
  ServerBench bench({.half_open = 10, .half_open_of_one_port = 4});
  for (std::uint64_t i = 0; i < 1000; ++i) deliver(bench, first_of_many(i), Lid{66});
  EXPECT_EQ(bench.server.half_open(), 4u);
  EXPECT_EQ(bench.server.stats().busy, 996u);
  EXPECT_EQ(bench.sent(999).rmpp.type, 3);  // Stop
  for (std::uint64_t i = 0; i < 1000; ++i)
    deliver(bench, first_of_many(i), Lid{static_cast<std::uint16_t>(100 + i)});
  EXPECT_EQ(bench.server.half_open(), 10u);
  bench.run_for(60s);
  EXPECT_EQ(bench.server.half_open(), 0u);
  EXPECT_EQ(bench.server.stats().transfers_failed, 10u);
}

TEST(SaMultiPath, SegmentZeroEndsTheRequest) {
  ServerBench bench;
  SaHeader header = multi_header();
  header.rmpp = {.version = 1, .type = 1, .flags = 1, .segment = 0};
  MadBytes mad{};
  encode_sa_header(header, mad);
  deliver(bench, mad);
  EXPECT_EQ(bench.server.half_open(), 0u);
  EXPECT_EQ(bench.sent(0).rmpp.type, 4);
  EXPECT_EQ(bench.sent(0).rmpp.status, 120);
}

TEST(SaMultiPath, TheClientMayAbortItsRequest) {
  ServerBench bench;
  deliver(bench, first_of_many(7));
  SaHeader header = multi_header();
  header.rmpp = {.version = 1, .type = 4, .flags = 1, .status = 127};
  MadBytes mad{};
  encode_sa_header(header, mad);
  deliver(bench, mad, Lid{41});
  EXPECT_EQ(bench.server.half_open(), 1u) << "not somebody else's";
  deliver(bench, mad);
  EXPECT_EQ(bench.server.half_open(), 0u);
}

TEST(SaMultiPath, NoOtherRecordHasThisMethod) {
  ServerBench bench;
  SaHeader header = multi_header();
  header.mad.attribute_id = static_cast<std::uint16_t>(RecordId::PathRecord);
  MadBytes mad{};
  encode_sa_header(header, mad);
  deliver(bench, mad);
  bench.run();
  EXPECT_EQ(bench.sent(0).mad.status, 0x000c);
}

}  // namespace multi_path_test
}  // namespace smd::sa
