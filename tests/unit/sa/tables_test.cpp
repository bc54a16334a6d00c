// Tables of ports as records, and paths under the site's QoS rules.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "smd/sa/path_finder.h"
#include "smd/sa/port_tables.h"
#include "smd/sa/sa_mad.h"
#include "tests/unit/sa/served.h"

namespace smd::sa {
namespace tables_test {

using ::testing::ElementsAre;
using ::testing::SizeIs;
namespace part = path_component;

constexpr std::string_view kTree = "H1-S1 H2-S1 S1-S2 H3-S2";

template <class Record, class Decode>
std::vector<Record> records(const Answer& answer, Decode decode) {
  std::vector<Record> out;
  for (std::size_t i = 0; i < answer.count(); ++i)
    out.push_back(decode(std::span(answer.records).subspan(i * answer.offset * 8u)).value());
  return out;
}

template <class Record>
Answer table(const SubnetView& view,
             RecordId id,
             std::uint64_t mask,
             const Record& wanted,
             std::size_t size,
             bool trusted = true) {
  return answer_query(view, ask(Method::GetTable, id, mask, wanted, size).query(trusted));
}

struct PortTables : ::testing::Test {
  explicit PortTables(std::string_view text = kTree) : parts(parts_of(text)) {
    auto fabric = std::make_shared<Fabric>(*parts.fabric);
    for (PortInfo& info : fabric->port_info) {
      info.capability_mask = port_cap::kIsSlMappingSupported;
      info.vl_cap = 3;
      info.vl_arb_low_cap = 40;
      info.vl_arb_high_cap = 2;
    }
    parts.fabric = fabric;
  }

  [[nodiscard]] PortRef ref(std::string_view name) const {
    const PortIdx at = test::port(*parts.fabric, name);
    return {parts.fabric->node_guid[parts.fabric->node_of[at]], parts.fabric->number_of(at)};
  }

  [[nodiscard]] Lid lid(std::string_view name) const {
    return parts.lids->base[test::end_port(*parts.fabric, name)];
  }

  ViewParts parts;
};

TEST_F(PortTables, OfPKeysAreForTheTrustedAlone) {
  KeyTable keys(40);
  keys[0] = kDefaultPKey;
  keys[33] = PKey{0x8001};
  parts.keys.remember(ref("H2:1"), keys);
  parts.keys.remember(ref("S1:2"), {kDefaultPKey, PKey{0x8001}});
  const SubnetView view(parts);
  const auto ask_all = [&](bool trusted) {
    return table(view, RecordId::PKeyTableRecord, 0, PKeyTableRecord{}, 72, trusted);
  };
  EXPECT_EQ(ask_all(false).status, Status::RequestInvalid);
  const auto all = records<PKeyTableRecord>(ask_all(true), decode_p_key_table_record);
  ASSERT_THAT(all, SizeIs(3));
  const auto of_host = records<PKeyTableRecord>(
      table(
          view, RecordId::PKeyTableRecord, component_bit(0), PKeyTableRecord{.lid = lid("H2")}, 72),
      decode_p_key_table_record);
  ASSERT_THAT(of_host, SizeIs(2));
  EXPECT_EQ(of_host[0].port, PortNum{1});
  EXPECT_EQ(of_host[0].keys[0], kDefaultPKey);
  EXPECT_EQ(of_host[1].block, 1);
  EXPECT_EQ(of_host[1].keys[1], PKey{0x8001});
  const auto of_port =
      records<PKeyTableRecord>(table(view,
                                     RecordId::PKeyTableRecord,
                                     component_bit(0) | component_bit(2),
                                     PKeyTableRecord{.lid = lid("S1"), .port = PortNum{2}},
                                     72),
                               decode_p_key_table_record);
  ASSERT_THAT(of_port, SizeIs(1));
  EXPECT_EQ(of_port[0].keys[1], PKey{0x8001});
}

TEST_F(PortTables, OfRowsAreThoseThatTheSiteWants) {
  SlToVl row;
  for (std::uint8_t sl = 0; sl < 16; ++sl) row[sl] = Vl{sl};
  parts.qos.kinds[static_cast<std::size_t>(PortKind::Ca)].sl_to_vl = row;
  row.fill(Vl{1});
  parts.qos.sl_to_vl = row;
  const SubnetView view(parts);
  const auto rows = [&](std::uint64_t mask, const SlToVlTableRecord& wanted) {
    return records<SlToVlTableRecord>(
        table(view, RecordId::SlToVlTableRecord, mask, wanted, 16, false),
        decode_sl_to_vl_table_record);
  };
  const auto host = rows(component_bit(0), {.lid = lid("H1")});
  ASSERT_THAT(host, SizeIs(1));
  EXPECT_EQ(host[0].vls[6], Vl{2}) << "four lanes";
  EXPECT_EQ(host[0].in, PortNum{0});
  EXPECT_EQ(host[0].out, PortNum{0});
  // S1 has three links; port 0 carries no data here.
  EXPECT_THAT(rows(component_bit(0), {.lid = lid("S1")}), SizeIs(4 * 3));
  const auto one = rows(component_bit(0) | component_bit(1) | component_bit(2),
                        {.lid = lid("S1"), .in = PortNum{1}, .out = PortNum{3}});
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].vls[6], Vl{1});
}

TEST_F(PortTables, OfRowsAreThoseThatRoutesNeed) {
  auto rows = std::make_shared<SlToVlMaps>(*parts.fabric);
  SlToVl row;
  row.fill(Vl{3});
  rows->add_row(row);
  parts.rows = rows;
  parts.qos.sl_to_vl = SlToVl{};
  const SubnetView view(parts);
  const auto found =
      records<SlToVlTableRecord>(table(view,
                                       RecordId::SlToVlTableRecord,
                                       component_bit(0) | component_bit(2),
                                       SlToVlTableRecord{.lid = lid("S2"), .out = PortNum{1}},
                                       16),
                                 decode_sl_to_vl_table_record);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].vls[0], Vl{3});
}

TEST_F(PortTables, OfArbitrationAreCutIntoBlocks) {
  parts.qos.low = std::vector<VlArbEntry>(40, VlArbEntry{.vl = Vl{5}, .weight = 7});
  parts.qos.high = std::vector<VlArbEntry>{{.vl = Vl{0}, .weight = 64}};
  const SubnetView view(parts);
  const auto found = records<VlArbTableRecord>(table(view,
                                                     RecordId::VlArbTableRecord,
                                                     component_bit(0),
                                                     VlArbTableRecord{.lid = lid("H1")},
                                                     72),
                                               decode_vl_arb_table_record);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].block, 1);
  EXPECT_EQ(found[0].entries[31], (VlArbEntry{.vl = Vl{1}, .weight = 7})) << "four lanes";
  EXPECT_EQ(found[1].block, 2);
  EXPECT_EQ(found[1].entries[7].weight, 7);
  EXPECT_EQ(found[1].entries[8].weight, 0);
  EXPECT_EQ(found[2].block, 3);
  EXPECT_EQ(found[2].entries[0].weight, 64);
}

constexpr std::string_view kPolicy = R"(
port-groups
  port-group
    name: H3
    port-guid: 0x20301
  end-port-group
end-port-groups
qos-levels
  qos-level
    name: DEFAULT
    sl: 1
  end-qos-level
  qos-level
    name: storage
    sl: 4
    mtu-limit: 3
    rate-limit: 3
    packet-life: 10
  end-qos-level
  qos-level
    name: elsewhere
    sl: 5
    pkey: 2
  end-qos-level
  qos-level
    name: bits
    sl: 6
    path-bits: 1
  end-qos-level
end-qos-levels
qos-match-rules
  qos-match-rule
    service-id: 0x77
    qos-level-name: storage
  end-qos-match-rule
  qos-match-rule
    qos-class: 9
    qos-level-name: elsewhere
  end-qos-match-rule
  qos-match-rule
    qos-class: 10
    qos-level-name: bits
  end-qos-match-rule
  qos-match-rule
    destination: H3
    qos-level-name: storage
  end-qos-match-rule
end-qos-match-rules
)";

std::vector<PathRecord> paths(const SubnetView& view,
                              std::string_view from,
                              std::string_view to,
                              std::uint64_t more = 0,
                              PathRecord wanted = {}) {
  wanted.sgid = {kDefaultSubnetPrefix, guid_of(view, from)};
  wanted.dgid = {kDefaultSubnetPrefix, guid_of(view, to)};
  return records<PathRecord>(
      table(view, RecordId::PathRecord, part::kSgid | part::kDgid | more, wanted, 64),
      decode_path_record);
}

SubnetView with_rules(ViewParts parts) {
  parts.qos_rules = std::make_shared<const QosRules>(
      *parts.fabric, parse_qos_file(kPolicy, "q").value().rules, nullptr, default_partitions());
  return SubnetView(parts);
}

TEST(Paths, NoneHasTheSlThatMulticastPacketsHaveToThemselves) {
  ViewParts parts = parts_of(kTree);
  parts.multicast_sl = 5;
  const SubnetView view(parts);
  EXPECT_THAT(paths(view, "H1", "H2", part::kSl, {.sl = 4}), SizeIs(1));
  EXPECT_THAT(paths(view, "H1", "H2", part::kSl, {.sl = 5}), SizeIs(0));
}

TEST(QosPaths, TheServiceSaysThatThereAreLevels) {
  const auto qos_is_announced = [](const SubnetView& view) {
    Asked asked = ask(Method::Get, RecordId::ClassPortInfo, 0, ClassPortInfo{}, kClassPortInfoSize);
    const Answer answer = answer_query(view, asked.query());
    return (decode_class_port_info(answer.records).value().capability_mask2 &
            sa_cap2::kIsQosSupported) != 0;
  };
  EXPECT_TRUE(qos_is_announced(with_rules(parts_of(kTree))));
  EXPECT_FALSE(qos_is_announced(SubnetView(parts_of(kTree))));
}

TEST(QosPaths, HaveWhatTheirLevelAllows) {
  const SubnetView view = with_rules(parts_of(kTree));
  const auto usual = paths(view, "H1", "H2");
  ASSERT_THAT(usual, SizeIs(1));
  EXPECT_EQ(usual[0].sl, 1);
  EXPECT_EQ(usual[0].mtu.value, 5);
  for (const auto& found :
       {paths(view, "H1", "H3"), paths(view, "H1", "H2", part::kServiceId, {.service_id = 0x77})}) {
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].sl, 4);
    EXPECT_EQ(found[0].mtu.value, 3);
    EXPECT_EQ(found[0].rate.value, 3);
    EXPECT_EQ(found[0].life_time.value, 10);
  }
  EXPECT_THAT(paths(view, "H3", "H1"), SizeIs(1)) << "the way back is another path";
  EXPECT_EQ(paths(view, "H3", "H1")[0].sl, 1);
}

TEST(QosPaths, AreOfTheSlOfTheirLevelOrNone) {
  const SubnetView view = with_rules(parts_of(kTree));
  EXPECT_THAT(paths(view, "H1", "H2", part::kSl, {.sl = 1}), SizeIs(1));
  EXPECT_THAT(paths(view, "H1", "H2", part::kSl, {.sl = 2}), SizeIs(0));
  EXPECT_THAT(
      paths(view, "H1", "H3", part::kMtuSelector | part::kMtu, {.mtu = {Selector::GreaterThan, 3}}),
      SizeIs(0))
      << "beyond the limit of the level";
}

TEST(QosPaths, KeepToTheSlsThatRoutesNeed) {
  ViewParts parts = parts_of(kTree);
  auto routing = std::make_shared<RoutingTables>(*parts.routing);
  routing->vls = 2;
  routing->path_sls = PathSls(parts.fabric->switch_count(), routing->lft.top());
  const SwitchIdx s1 = test::switch_named(*parts.fabric, "S1");
  const Lid target = parts.lids->base[test::end_port(*parts.fabric, "H3")];
  routing->path_sls.set_sl(s1, target, 7);
  parts.routing = routing;
  const SubnetView view = with_rules(parts);
  EXPECT_EQ(paths(view, "H1", "H3").at(0).sl, 7);
  EXPECT_EQ(paths(view, "H1", "H3").at(0).mtu.value, 3) << "other limits hold";
  EXPECT_THAT(paths(view, "H1", "H3", part::kSl, {.sl = 4}), SizeIs(0));
}

TEST(QosPaths, OfAPartitionThatDoesNotJoinThemAreNone) {
  const SubnetView view = with_rules(parts_of(kTree));
  EXPECT_THAT(paths(view, "H1", "H2", part::kQosClass, {.qos_class = 9}), SizeIs(0));
}

TEST(QosPaths, HavePathBitsOfTheirLevel) {
  const SubnetView view = with_rules(parts_of(kTree, 1));
  const auto found = paths(view, "H1", "H2", part::kQosClass, {.qos_class = 10});
  ASSERT_THAT(found, SizeIs(2));
  const Lid base = lid_of(view, "H1");
  for (const PathRecord& each : found)
    EXPECT_EQ(each.slid.value(), base.value() + 1) << "the second of two";
  EXPECT_THAT(paths(view, "H1", "H2"), SizeIs(4));
}

TEST(QosPaths, HavePathBitsThatCountFromTheFirstLidOfThePort) {
  const SubnetView view = with_rules(parts_of(kTree, 1));
  const Lid base = lid_of(view, "H1"), second{static_cast<std::uint16_t>(base.value() + 1)};
  constexpr std::uint64_t kMask = part::kQosClass | part::kSlid;
  EXPECT_THAT(paths(view, "H1", "H2", kMask, {.slid = base, .qos_class = 10}), SizeIs(0));
  const auto found = paths(view, "H1", "H2", kMask, {.slid = second, .qos_class = 10});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].slid, second);
}

// The pairs of equal offsets come first, whichever LID was asked for.
TEST(Paths, FromTheSecondLidComeFirstToTheSecond) {
  const SubnetView view(parts_of(kTree, 1));
  const Lid from{static_cast<std::uint16_t>(lid_of(view, "H1").value() + 1)};
  const Lid to{static_cast<std::uint16_t>(lid_of(view, "H2").value() + 1)};
  const auto by_slid = paths(view, "H1", "H2", part::kSlid, {.slid = from});
  ASSERT_THAT(by_slid, SizeIs(2));
  EXPECT_EQ(by_slid[0].dlid, to);
  EXPECT_EQ(by_slid[0].preference, 0);
  EXPECT_NE(by_slid[1].preference, 0);
  const auto by_dlid = paths(view, "H1", "H2", part::kDlid, {.dlid = to});
  ASSERT_THAT(by_dlid, SizeIs(2));
  EXPECT_EQ(by_dlid[0].slid, from);
  EXPECT_EQ(by_dlid[0].preference, 0);
  EXPECT_NE(by_dlid[1].preference, 0);
}

// Of two sets of paths the destination's LID says which one it is.
TEST(QosPaths, HoldBothEndsToPathBitsUnderTwoSetsOfPaths) {
  ViewParts parts = parts_of(kTree, 1);
  const SubnetView one = with_rules(parts);
  EXPECT_THAT(paths(one, "H1", "H2", part::kQosClass, {.qos_class = 10}), SizeIs(2));
  RoutingTables routing = *parts.routing;
  routing.engine = "updn+itb-vl";
  parts.routing = std::make_shared<const RoutingTables>(std::move(routing));
  const SubnetView two = with_rules(parts);
  const auto found = paths(two, "H1", "H2", part::kQosClass, {.qos_class = 10});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].slid.value(), lid_of(two, "H1").value() + 1);
  EXPECT_EQ(found[0].dlid.value(), lid_of(two, "H2").value() + 1);
}

/// A service whose ports hold tables that nobody set.
struct UnsetTables : PortTables {
  explicit UnsetTables(std::string_view text = kTree) : PortTables(text) {
    parts.held = &held;
    bench.server.adopt(std::make_shared<const SubnetView>(parts));
    bench.server.add_manager(manager);
  }

  static Asked row(Method method, std::uint64_t mask, const SlToVlTableRecord& wanted) {
    return ask(method, RecordId::SlToVlTableRecord, mask, wanted, 16);
  }

  /// What a port would answer: the VL of SL i is i % `vls`.
  void answer_all(std::uint8_t vls) {
    SlToVl held_row;
    for (std::uint8_t i = 0; i < 16; ++i) held_row[i] = Vl{static_cast<std::uint8_t>(i % vls)};
    SmpData data{};
    encode_sl_to_vl(held_row, data);
    for (const TableBlock& block : std::exchange(wanted, {})) held.note(block, data);
    bench.server.go_on();
    bench.run();
  }

  HeldTables held;
  std::vector<TableBlock> wanted;
  TableReadManager manager{held, [this](const std::vector<TableBlock>& blocks) {
                             wanted.insert(wanted.end(), blocks.begin(), blocks.end());
                           }};
  ServerBench bench{{.requests_of_one_port = 4}};
};

TEST_F(UnsetTables, AreReadOnceAndThenAnswered) {
  const Asked of_host = row(Method::Get, component_bit(0), {.lid = lid("H2")});
  bench.give(of_host, lid("H1"), 1);
  bench.run();
  EXPECT_TRUE(bench.transport.sent.empty()) << "it waits";
  ASSERT_THAT(wanted, SizeIs(1));
  EXPECT_EQ(wanted[0], (TableBlock{.node = ref("H2:1").node, .port = PortNum{1}}));
  answer_all(4);
  ASSERT_THAT(bench.transport.sent, SizeIs(1));
  EXPECT_EQ(bench.sent(0).mad.status, 0);
  const auto got =
      *decode_sl_to_vl_table_record(std::span(bench.transport.sent[0].mad).subspan(kHeaderSize));
  EXPECT_EQ(got.lid, lid("H2"));
  EXPECT_EQ(got.vls[7], Vl{3});
  bench.give(of_host, lid("H3"), 2);
  bench.run();
  EXPECT_THAT(bench.transport.sent, SizeIs(2));
  EXPECT_TRUE(wanted.empty()) << "what is known is not read again";
  held.forget(ref("H2:1").node);
  bench.give(of_host, lid("H3"), 3);
  bench.run();
  EXPECT_THAT(wanted, SizeIs(1)) << "unless the port came up anew";
}

TEST_F(UnsetTables, OnlyWhatWasAskedForIsRead) {
  bench.give(row(Method::Get,
                 component_bit(0) | component_bit(1) | component_bit(2),
                 {.lid = lid("S1"), .in = PortNum{1}, .out = PortNum{2}}),
             lid("H1"));
  bench.run();
  ASSERT_THAT(wanted, SizeIs(1));
  EXPECT_EQ(wanted[0].modifier,
            encode_modifier(SlToVlModifier{.in = PortNum{1}, .out = PortNum{2}}));
  wanted.clear();
  // Of the low part two blocks of 32, of the high part one.
  bench.give(ask(Method::GetTable,
                 RecordId::VlArbTableRecord,
                 component_bit(0),
                 VlArbTableRecord{.lid = lid("H3")},
                 72),
             lid("H1"),
             2);
  bench.run();
  EXPECT_THAT(wanted, SizeIs(3));
  wanted.clear();
  bench.give(row(Method::GetTable, 0, {}), lid("H1"), 3);
  bench.run();
  EXPECT_TRUE(wanted.empty()) << "who names nobody has nobody asked";
}

TEST_F(UnsetTables, APortThatDoesNotAnswerHasNone) {
  bench.give(row(Method::Get, component_bit(0), {.lid = lid("H2")}), lid("H1"));
  bench.run();
  for (const TableBlock& block : std::exchange(wanted, {})) held.note(block, std::nullopt);
  bench.server.go_on();
  bench.run();
  ASSERT_THAT(bench.transport.sent, SizeIs(1));
  EXPECT_EQ(bench.sent(0).mad.status, static_cast<std::uint16_t>(Status::NoRecords));
  held.forget_unanswered();
  bench.give(row(Method::Get, component_bit(0), {.lid = lid("H2")}), lid("H1"), 2);
  bench.run();
  EXPECT_THAT(wanted, SizeIs(1)) << "it is asked again where the subnet is another";
  EXPECT_EQ(bench.server.stats().requests, 1u) << "what waits is counted when it is answered";
}

TEST_F(UnsetTables, RequestsThatWaitCountAgainstTheirPort) {
  const Asked asked = row(Method::Get, component_bit(0), {.lid = lid("H2")});
  for (std::uint64_t i = 0; i < 10; ++i) {
    bench.give(asked, lid("H1"), i);
    bench.run();
  }
  EXPECT_EQ(bench.server.parked(), 4u);
  EXPECT_EQ(bench.server.stats().flooded, 6u);
  bench.give(asked, lid("H3"), 1);
  bench.give(asked, lid("H3"), 1);
  bench.run();
  EXPECT_EQ(bench.server.parked(), 5u) << "others wait as well, and a repetition is the same";
  answer_all(2);
  EXPECT_EQ(bench.server.parked(), 0u);
  EXPECT_THAT(bench.transport.sent, SizeIs(5));
}

TEST_F(UnsetTables, WhatTheSiteSetsIsNotRead) {
  parts.qos.sl_to_vl.emplace();
  bench.server.adopt(std::make_shared<const SubnetView>(parts));
  bench.give(row(Method::Get, component_bit(0), {.lid = lid("H2")}), lid("H1"));
  bench.run();
  EXPECT_THAT(bench.transport.sent, SizeIs(1));
  EXPECT_TRUE(wanted.empty());
}

TEST_F(UnsetTables, ThatAreNotReadInAMinuteAreAnsweredAsFarAsTheyAreKnown) {
  using std::chrono_literals::operator""ms;
  using std::chrono_literals::operator""s;
  bench.give(row(Method::Get, component_bit(0), {.lid = lid("H2")}), lid("H1"), 1);
  bench.give(row(Method::GetTable, component_bit(0), {.lid = lid("S1")}), lid("H1"), 2);
  bench.run();
  ASSERT_THAT(wanted, ::testing::Not(::testing::IsEmpty()));
  const Guid sw = ref("S1:1").node;
  for (const TableBlock& block : std::exchange(wanted, {})) {
    if (block.node == sw && block.modifier % 2 == 0) held.note(block, SmpData{});
  }
  // Others are done meanwhile, again and again.
  for (int i = 0; i < 299; ++i) {
    bench.server.go_on();
    bench.run_for(200ms);
  }
  EXPECT_TRUE(bench.transport.sent.empty());
  EXPECT_EQ(bench.server.parked(), 2u);
  bench.run_for(400ms);
  EXPECT_EQ(bench.server.parked(), 0u);
  ASSERT_THAT(bench.transport.sent, SizeIs(2));
  EXPECT_EQ(bench.sent(0).mad.status, static_cast<std::uint16_t>(Status::NoRecords));
  EXPECT_EQ(bench.sent(1).mad.status, 0);
  EXPECT_GT(bench.server.stats().records, 0u);
}

TEST(HeldTables, TheNodeThatNobodyAskedForForLongestMakesRoom) {
  constexpr Guid kOne{1}, kOther{2}, kThird{3};
  const auto block = [](Guid node, std::size_t i) {
    return TableBlock{.node = node, .modifier = static_cast<std::uint32_t>(i)};
  };
  HeldTables held;
  held.note_asked(kOne);
  held.note_asked(kOther);
  for (std::size_t i = 0; i < HeldTables::kMost / 2; ++i) {
    held.note(block(kOne, i), SmpData{});
    held.note(block(kOther, i), std::nullopt);
  }
  held.note(block(kOther, 0), SmpData{});
  EXPECT_EQ(held.size(), HeldTables::kMost);
  held.note_asked(kOne);
  held.note_asked(kThird);
  held.note(block(kThird, 0), SmpData{});
  EXPECT_EQ(held.size(), HeldTables::kMost / 2 + 1);
  EXPECT_TRUE(held.knows(block(kOne, 0)));
  EXPECT_FALSE(held.knows(block(kOther, 0)));
  EXPECT_TRUE(held.knows(block(kThird, 0)));
}

/// Sixteen switches in a ring, with hosts on all other ports.
std::string large_ring() {
  std::string text;
  for (unsigned s = 1; s <= 16; ++s) {
    text += fmt::format("S{}:64-S{}:1 ", s, s % 16 + 1);
    for (unsigned port = 2; port < 64; ++port)
      text += fmt::format("S{}:{}-H{}:1 ", s, port, 100 * s + port);
  }
  return text;
}

struct LargeSwitches : UnsetTables {
  LargeSwitches() : UnsetTables(large_ring()) {}
};

TEST_F(LargeSwitches, OfWhichMoreIsAskedForThanIsKeptAreAllAnswered) {
  for (unsigned s = 1; s <= 16; ++s) {
    bench.give(row(Method::GetTable, component_bit(0), {.lid = lid(fmt::format("S{}", s))}),
               lid(fmt::format("H{}", 100 * s + 2)));
    bench.run();
  }
  EXPECT_GT(wanted.size(), HeldTables::kMost);
  EXPECT_EQ(bench.server.parked(), 16u);
  for (int read = 0; read < 3 && bench.server.parked() > 0; ++read) {
    answer_all(4);
    EXPECT_LE(held.size(), HeldTables::kMost);
  }
  EXPECT_EQ(bench.server.parked(), 0u);
  EXPECT_EQ(bench.server.stats().answered, 16u);
}

}  // namespace tables_test
}  // namespace smd::sa
