// One request, one answer: what matches, what a stranger may not see, and which status says no.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/sa/node_records.h"
#include "smd/sa/sa_mad.h"
#include "tests/unit/sa/subnet.h"

namespace smd::sa {
namespace query_test {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Three hosts on two switches.
constexpr std::string_view kTree = "H1-S1 H2-S1 S1-S2 H3-S2";

constexpr std::uint64_t kLidBit = 1;

template <class Record, class Decode>
std::vector<Record> records(const Answer& answer, Decode decode) {
  std::vector<Record> out;
  const std::size_t size = std::size_t{8} * answer.offset;
  for (std::size_t i = 0; i < answer.count(); ++i)
    out.push_back(decode(std::span(answer.records).subspan(i * size, size)).value());
  return out;
}

Answer nodes(const SubnetView& view,
             Method method,
             std::uint64_t mask,
             const NodeRecord& wanted = {}) {
  return answer_query(view, ask(method, RecordId::NodeRecord, mask, wanted, 112).query());
}

std::vector<Guid> port_guids(const Answer& answer) {
  std::vector<Guid> out;
  for (const NodeRecord& each : records<NodeRecord>(answer, decode_node_record))
    out.push_back(each.info.port_guid);
  return out;
}

TEST(SaQuery, AMaskOfNothingMeansEveryNode) {
  const auto view = view_of(kTree);
  const Answer answer = nodes(*view, Method::GetTable, 0);
  EXPECT_EQ(answer.status, Status::Ok);
  EXPECT_EQ(answer.count(), 5u);
  EXPECT_EQ(answer.offset, 14);
}

TEST(SaQuery, ANodeIsFoundByLidAndByEitherGuid) {
  const auto view = view_of(kTree);
  const Guid host = guid_of(*view, "H2");
  const NodeInfo info = view->fabric().node_info[test::node(view->fabric(), "H2")];
  const NodeRecord by_lid{.lid = lid_of(*view, "H2")};
  EXPECT_THAT(port_guids(nodes(*view, Method::Get, kLidBit, by_lid)), ElementsAre(host));
  const NodeRecord by_port{.info = {.port_guid = host}};
  EXPECT_THAT(port_guids(nodes(*view, Method::Get, 1u << 8, by_port)), ElementsAre(host));
  const NodeRecord by_node{.info = {.node_guid = info.node_guid}};
  EXPECT_THAT(port_guids(nodes(*view, Method::Get, 1u << 7, by_node)), ElementsAre(host));
}

TEST(SaQuery, EveryComponentMustAgree) {
  const auto view = view_of(kTree);
  NodeRecord wanted{.lid = lid_of(*view, "H2"), .info = {.port_guid = guid_of(*view, "H3")}};
  EXPECT_EQ(nodes(*view, Method::GetTable, kLidBit | 1u << 8, wanted).count(), 0u);
  wanted.info = {.node_type = 2};
  EXPECT_EQ(nodes(*view, Method::GetTable, 1u << 4, wanted).count(), 2u);
}

TEST(SaQuery, AnyLidOfAPortNamesIt) {
  const auto view = view_of(kTree, 2);
  const Lid base = lid_of(*view, "H2");
  const NodeRecord wanted{.lid = Lid{static_cast<std::uint16_t>(base.value() + 3)}};
  const Answer answer = nodes(*view, Method::Get, kLidBit, wanted);
  ASSERT_EQ(answer.count(), 1u);
  EXPECT_EQ(records<NodeRecord>(answer, decode_node_record)[0].lid, base);
}

TEST(SaQuery, GetTakesExactlyOne) {
  const auto view = view_of(kTree);
  EXPECT_EQ(nodes(*view, Method::Get, 0).status, Status::TooManyRecords);
  const NodeRecord one_of_two{.info = {.node_type = 2}};
  EXPECT_EQ(nodes(*view, Method::Get, 1u << 4, one_of_two).status, Status::TooManyRecords);
  const NodeRecord nobody{.lid = Lid{999}};
  EXPECT_EQ(nodes(*view, Method::Get, kLidBit, nobody).status, Status::NoRecords);
  EXPECT_TRUE(nodes(*view, Method::Get, 0).records.empty());
}

TEST(SaQuery, ATableMayBeEmpty) {
  const Answer answer = nodes(*view_of(kTree), Method::GetTable, kLidBit, {.lid = Lid{999}});
  EXPECT_EQ(answer.status, Status::Ok);
  EXPECT_EQ(answer.count(), 0u);
}

TEST(SaQuery, ATableTooLargeIsRefused) {
  const auto view = view_of(kTree);
  const Asked asked = ask(Method::GetTable, RecordId::NodeRecord, 0, NodeRecord{}, 112);
  EXPECT_EQ(answer_query(*view, asked.query(), {.bytes = 5 * 112}).status, Status::Ok);
  EXPECT_EQ(answer_query(*view, asked.query(), {.bytes = 5 * 112 - 1}).status, Status::NoResources);
}

TEST(SaQuery, OnlyTheTrustedSeeKeysOrFindByThem) {
  const auto view = view_of(kTree);
  const auto m_keys = [&](bool trusted, std::uint64_t mask, MKey key) {
    PortInfoRecord wanted{.lid = lid_of(*view, "H1"), .info = {.m_key = key}};
    const Asked asked = ask(Method::GetTable, RecordId::PortInfoRecord, mask | kLidBit, wanted, 72);
    std::vector<MKey> keys;
    for (const PortInfoRecord& each : records<PortInfoRecord>(
             answer_query(*view, asked.query(trusted)), decode_port_info_record))
      keys.push_back(each.info.m_key);
    return keys;
  };
  EXPECT_THAT(m_keys(true, 0, {}), ElementsAre(MKey{0xabcdef}));
  EXPECT_THAT(m_keys(false, 0, {}), ElementsAre(MKey{}));
  constexpr std::uint64_t kByMKey = 1u << 3;
  EXPECT_THAT(m_keys(true, kByMKey, MKey{0xabcdef}), ElementsAre(MKey{0xabcdef}));
  EXPECT_TRUE(m_keys(false, kByMKey, MKey{0xabcdef}).empty());
}

// The snapshot has the name of the seed where ports have keys of their own.
TEST(SaQuery, TheTrustedSeeTheKeyOfEachPort) {
  const auto plain = view_of(kTree);
  ViewParts parts = plain->parts();
  const MKeySource seed{.seed = std::string(16, 'a'), .key = {}};
  Fabric fabric = *parts.fabric;
  const PortIdx port = test::end_port(fabric, "H1");
  fabric.port_info[port].m_key = name_of(seed);
  parts.fabric = std::make_shared<const Fabric>(std::move(fabric));
  parts.m_keys = {seed};
  const SubnetView view(std::move(parts));
  const PortInfoRecord wanted{.lid = lid_of(view, "H1"), .info = {}};
  const Asked asked = ask(Method::GetTable, RecordId::PortInfoRecord, kLidBit, wanted, 72);
  const auto found =
      records<PortInfoRecord>(answer_query(view, asked.query(true)), decode_port_info_record);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].info.m_key, derive_m_key(seed.seed, view.fabric().port_guid[port]));
}

TEST(SaQuery, OnlyTheTrustedSeeTheManagersKey) {
  const auto view = view_of(kTree);
  const Asked asked = ask(Method::Get, RecordId::SmInfoRecord, 0, SmInfoRecord{}, 32);
  const auto key = [&](bool trusted) {
    return records<SmInfoRecord>(answer_query(*view, asked.query(trusted)), decode_sm_info_record)
        .at(0)
        .info.sm_key;
  };
  EXPECT_EQ(key(true), kTrusted);
  EXPECT_EQ(key(false), SmKey{});
}

TEST(SaQuery, ASwitchHasAPortInfoRecordForEachPort) {
  const auto view = view_of(kTree);
  const PortInfoRecord wanted{.lid = lid_of(*view, "S1")};
  const Answer all = answer_query(
      *view, ask(Method::GetTable, RecordId::PortInfoRecord, kLidBit, wanted, 72).query());
  const unsigned ports = view->fabric().num_ports(test::node(view->fabric(), "S1"));
  EXPECT_EQ(all.count(), ports + 1);
  const PortInfoRecord one{.lid = wanted.lid, .port = PortNum{2}};
  const Answer single =
      answer_query(*view, ask(Method::Get, RecordId::PortInfoRecord, kLidBit | 2, one, 72).query());
  ASSERT_EQ(single.count(), 1u);
  EXPECT_EQ(records<PortInfoRecord>(single, decode_port_info_record)[0].port, PortNum{2});
}

TEST(SaQuery, ACapabilityMaskMatchesAsAWholeOrAsASubset) {
  ViewParts parts = parts_of(kTree);
  auto fabric = std::make_shared<Fabric>(*parts.fabric);
  fabric->port_info[test::port(*fabric, "H1:1")].capability_mask = 0b1110;
  parts.fabric = fabric;
  const SubnetView view(parts);
  Asked asked = ask(Method::GetTable,
                    RecordId::PortInfoRecord,
                    1u << 7,
                    PortInfoRecord{.info = {.capability_mask = 0b0110}},
                    72);
  EXPECT_EQ(answer_query(view, asked.query()).count(), 0u);
  asked.header.mad.attribute_modifier = 1u << 31;
  EXPECT_EQ(answer_query(view, asked.query()).count(), 1u);
  encode_record(PortInfoRecord{.info = {.capability_mask = 0b0011}},
                std::span(asked.data).first(72));
  EXPECT_EQ(answer_query(view, asked.query()).count(), 0u) << "one of two is not enough";
}

TEST(SaQuery, TheSecondCapabilityMaskMatchesAsASubsetToo) {
  ViewParts parts = parts_of(kTree);
  auto fabric = std::make_shared<Fabric>(*parts.fabric);
  fabric->port_info[test::port(*fabric, "H1:1")].capability_mask2 = 0x0022;
  parts.fabric = fabric;
  const SubnetView view(parts);
  const auto count = [&](std::uint16_t mask2, std::uint32_t modifier) {
    Asked asked = ask(Method::GetTable,
                      RecordId::PortInfoRecord,
                      std::uint64_t{1} << 53,
                      PortInfoRecord{.info = {.capability_mask2 = mask2}},
                      72);
    asked.header.mad.attribute_modifier = modifier;
    return answer_query(view, asked.query()).count();
  };
  EXPECT_EQ(count(0x0022, 0), 1u);
  EXPECT_EQ(count(0x0020, 0), 0u);
  EXPECT_EQ(count(0x0020, 1u << 31), 1u);
  EXPECT_EQ(count(0x0030, 1u << 31), 0u) << "one of two is not enough";
}

TEST(SaQuery, APortsOwnGuidIsItsFirst) {
  ViewParts parts = parts_of(kTree);
  auto fabric = std::make_shared<Fabric>(*parts.fabric);
  const PortIdx port = test::port(*fabric, "H2:1");
  fabric->port_info[port].guid_cap = 9;
  parts.fabric = fabric;
  const SubnetView view(parts);
  const Answer answer = answer_query(
      view, ask(Method::GetTable, RecordId::GuidInfoRecord, 0, GuidInfoRecord{}, 72).query());
  const auto found = records<GuidInfoRecord>(answer, decode_guid_info_record);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].guids[0], view.fabric().port_guid[port]);
  EXPECT_EQ(found[0].guids[1], Guid{});
  EXPECT_EQ(found[1].block, 1);
  EXPECT_EQ(found[1].guids, GuidBlock{});
}

TEST(SaQuery, LinksAreThereInBothDirections) {
  const auto view = view_of(kTree);
  const Answer all =
      answer_query(*view, ask(Method::GetTable, RecordId::LinkRecord, 0, LinkRecord{}, 8).query());
  EXPECT_EQ(all.count(), 8u);
  const Lid s1 = lid_of(*view, "S1");
  const Answer of_host = answer_query(*view,
                                      ask(Method::Get,
                                          RecordId::LinkRecord,
                                          kLidBit,
                                          LinkRecord{.from_lid = lid_of(*view, "H2")},
                                          8)
                                          .query());
  EXPECT_THAT(records<LinkRecord>(of_host, decode_link_record),
              ElementsAre(LinkRecord{lid_of(*view, "H2"), PortNum{1}, PortNum{2}, s1}));
}

TEST(SaQuery, AnyLidOfAPortNamesItInLinksAndManagersToo) {
  const auto view = view_of(kTree, 2);
  const auto beyond = [&](std::string_view name) {
    return Lid{static_cast<std::uint16_t>(lid_of(*view, name).value() + 3)};
  };
  const LinkRecord link{lid_of(*view, "H2"), PortNum{1}, PortNum{2}, lid_of(*view, "S1")};
  const auto links = [&](std::uint64_t mask, const LinkRecord& wanted) {
    return records<LinkRecord>(
        answer_query(*view, ask(Method::GetTable, RecordId::LinkRecord, mask, wanted, 8).query()),
        decode_link_record);
  };
  EXPECT_THAT(links(kLidBit, {.from_lid = beyond("H2")}), ElementsAre(link));
  EXPECT_THAT(
      links(kLidBit | component_bit(3), {.from_lid = beyond("H2"), .to_lid = lid_of(*view, "S1")}),
      ElementsAre(link));
  EXPECT_THAT(links(component_bit(3), {.to_lid = beyond("H2")}),
              ElementsAre(LinkRecord{link.to_lid, link.to_port, link.from_port, link.from_lid}));
  EXPECT_THAT(links(kLidBit, {.from_lid = Lid{0x7777}}), ElementsAre());
  EXPECT_THAT(links(component_bit(3), {.to_lid = Lid{0x7777}}), ElementsAre());
  const auto managers = [&](Lid lid) {
    return answer_query(
               *view,
               ask(Method::GetTable, RecordId::SmInfoRecord, kLidBit, SmInfoRecord{.lid = lid}, 32)
                   .query())
        .count();
  };
  const Lid manager = view->lid_of(view->fabric().sm_port);
  EXPECT_EQ(managers(Lid{static_cast<std::uint16_t>(manager.value() + 1)}), 1u);
  EXPECT_EQ(managers(beyond("S2")), 0u);
}

/// A host with two ports: links of the one that was named.
TEST(SaQuery, LinksOfALidAreThoseOfItsPort) {
  const auto view = view_of("H1:1-S1 H1:2-S2 S1-S2 H2-S2");
  const PortIdx first = test::end_port(view->fabric(), "H1");
  const Answer found = answer_query(*view,
                                    ask(Method::GetTable,
                                        RecordId::LinkRecord,
                                        kLidBit,
                                        LinkRecord{.from_lid = view->lids().base[first]},
                                        8)
                                        .query());
  EXPECT_EQ(found.count(), 1u);
}

TEST(SaQuery, ForwardingTablesAreThoseInForce) {
  const auto view = view_of(kTree);
  const Answer answer =
      answer_query(*view, ask(Method::GetTable, RecordId::LftRecord, 0, LftRecord{}, 72).query());
  const auto found = records<LftRecord>(answer, decode_lft_record);
  ASSERT_EQ(found.size(), 2u);
  const SwitchIdx sw = test::switch_named(view->fabric(), "S2");
  for (const LftRecord& each : found) {
    if (each.lid != lid_of(*view, "S2")) continue;
    EXPECT_TRUE(std::ranges::equal(each.ports, view->routing().lft.block(sw, 0)));
  }
}

TEST(SaQuery, SwitchInfoIsOfSwitchesAlone) {
  const auto view = view_of(kTree);
  const auto count = [&](std::string_view name) {
    const SwitchInfoRecord wanted{.lid = lid_of(*view, name)};
    return answer_query(
               *view,
               ask(Method::GetTable, RecordId::SwitchInfoRecord, kLidBit, wanted, 24).query())
        .count();
  };
  EXPECT_EQ(count("S1"), 1u);
  EXPECT_EQ(count("H1"), 0u);
}

TEST(SaQuery, TheServiceDescribesItself) {
  const auto view = view_of(kTree);
  const Answer answer = answer_query(
      *view, ask(Method::Get, RecordId::ClassPortInfo, 0, ClassPortInfo{}, 72).query());
  const ClassPortInfo info = decode_class_port_info(answer.records).value();
  EXPECT_EQ(info.class_version, 2);
  EXPECT_EQ(info.capability_mask,
            0x2600);  // multicast, MultiPathRecord, capability masks as subsets
  EXPECT_EQ(info.capability_mask2, 0xb4e8u);  // OpenSM's, but for multicast service records
  EXPECT_EQ(answer.offset, 0);
}

TEST(SaQuery, WhatIsNotOfferedIsSaidSo) {
  const auto view = view_of(kTree);
  const auto status = [&](Method method, std::uint16_t id) {
    Asked asked;
    asked.header.mad.method = static_cast<std::uint8_t>(method);
    asked.header.mad.attribute_id = id;
    return answer_query(*view, asked.query()).status;
  };
  EXPECT_EQ(status(Method::Get, 0x0038), Status::BadMethodAttribute);
  EXPECT_EQ(status(Method::GetTable, 0xbeef), Status::BadMethodAttribute);
  EXPECT_EQ(status(Method::GetTable, 0x0001), Status::BadMethodAttribute);
  EXPECT_EQ(status(Method::Set, 0x0038), Status::BadMethod);
  EXPECT_EQ(status(Method::Delete, 0x0031), Status::BadMethod);
}

}  // namespace query_test
}  // namespace smd::sa
