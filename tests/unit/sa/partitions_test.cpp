// Who sees whom, and in which partition paths lead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "smd/sa/group_manager.h"
#include "smd/sa/multi_path.h"
#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/port_tables.h"
#include "tests/unit/sa/subnet.h"

namespace smd::sa {
namespace partitions_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
namespace part = path_component;

// The manager sits on H1. H2 and H3 share partition 1, H3 and H4 share 2; all hosts are limited
// members of the default, so that only the manager reaches everybody.
constexpr std::string_view kTree = "H1-S1 H2-S1 S1-S2 H3-S2 H4-S2";
constexpr std::string_view kRules =
    "A=1,sl=3: 0x20201=full, 0x20301=full; B=2: 0x20301=full, 0x20401;";

class InPartitions : public ::testing::Test {
 protected:
  InPartitions() {
    ViewParts parts = parts_of(kTree);
    auto fabric = std::make_shared<Fabric>(*parts.fabric);
    for (PortInfo& info : fabric->port_info) info.guid_cap = 8;
    parts.fabric = fabric;
    const PartitionPolicy policy{.rules = parse_partition_file(kRules, "p").value().rules};
    auto plan = std::make_shared<PartitionPlan>();
    plan->map = build_partition_map(*parts.fabric, policy);
    plan->sls = {{1, 3}};
    parts.partitions = plan;
    view = std::make_shared<const SubnetView>(parts);
  }

  Query from(const Asked& asked, std::string_view who, bool trusted = false) const {
    Query query = asked.query(trusted);
    query.requester = test::end_port(view->fabric(), who);
    return query;
  }

  /// Names of the nodes that a NodeRecord table shows.
  std::vector<std::string> seen_by(std::string_view who, bool trusted = false) const {
    const Asked asked = ask(Method::GetTable, RecordId::NodeRecord, 0, NodeRecord{}, 112);
    const Answer answer = answer_query(*view, from(asked, who, trusted));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < answer.count(); ++i) {
      const NodeRecord record =
          decode_node_record(std::span(answer.records).subspan(i * answer.offset * 8u)).value();
      const PortIdx port = view->lids().owner_of(record.lid);
      for (const char* name : {"H1", "H2", "H3", "H4", "S1", "S2"}) {
        if (test::end_port(view->fabric(), name) == port) names.emplace_back(name);
      }
    }
    return names;
  }

  std::optional<PKey> key(std::string_view source,
                          std::string_view target,
                          std::optional<unsigned> asked = std::nullopt) const {
    std::optional<PKey> wanted;
    if (asked) wanted = PKey{static_cast<std::uint16_t>(*asked)};
    return find_path_key(*view,
                         test::end_port(view->fabric(), source),
                         test::end_port(view->fabric(), target),
                         wanted);
  }

  /// Between two LIDs, as `who` asks.
  std::vector<PathRecord> paths(std::string_view who,
                                std::string_view source,
                                std::string_view target,
                                std::uint64_t more = 0,
                                PathRecord wanted = {}) const {
    wanted.slid = lid_of(*view, source);
    wanted.dlid = lid_of(*view, target);
    const Asked asked = ask(Method::GetTable,
                            RecordId::PathRecord,
                            part::kSlid | part::kDlid | more,
                            wanted,
                            kPathRecordSize);
    const Answer answer = answer_query(*view, from(asked, who));
    std::vector<PathRecord> out;
    for (std::size_t i = 0; i < answer.count(); ++i)
      out.push_back(decode_path_record(std::span(answer.records).subspan(i * 64)).value());
    return out;
  }

  std::shared_ptr<const SubnetView> view;
};

TEST_F(InPartitions, WhoIsNotTrustedSeesWhomHeCanTalkTo) {
  EXPECT_THAT(seen_by("H1"), UnorderedElementsAre("H1", "H2", "H3", "H4", "S1", "S2"));
  EXPECT_THAT(seen_by("H2"), UnorderedElementsAre("H1", "H2", "H3"));
  EXPECT_THAT(seen_by("H4"), UnorderedElementsAre("H1", "H3", "H4"));
  EXPECT_THAT(seen_by("H4", true), UnorderedElementsAre("H1", "H2", "H3", "H4", "S1", "S2"));
}

TEST_F(InPartitions, WhoHasNoLidSeesNobody) {
  const Asked asked = ask(Method::GetTable, RecordId::NodeRecord, 0, NodeRecord{}, 112);
  EXPECT_EQ(answer_query(*view, asked.query()).count(), 0u);
  EXPECT_EQ(answer_query(*view, asked.query(true)).count(), 6u);
}

TEST_F(InPartitions, NobodyIsFoundByAnyOtherRecordEither) {
  const Lid hidden = lid_of(*view, "H4");
  const Guid guid = guid_of(*view, "H4");
  const auto count = [&](const Asked& asked, bool trusted) {
    return answer_query(*view, from(asked, "H2", trusted)).count();
  };
  const auto table = [](RecordId id, std::uint64_t mask, const auto& record, std::size_t size) {
    return ask(Method::GetTable, id, mask, record, size);
  };
  const std::vector<Asked> questions = {
      table(RecordId::NodeRecord, component_bit(0), NodeRecord{.lid = hidden}, 112),
      table(RecordId::NodeRecord, component_bit(8), NodeRecord{.info = {.port_guid = guid}}, 112),
      table(RecordId::PortInfoRecord, component_bit(0), PortInfoRecord{.lid = hidden}, 64),
      table(RecordId::GuidInfoRecord, component_bit(0), GuidInfoRecord{.lid = hidden}, 72),
      table(RecordId::LinkRecord, component_bit(0), LinkRecord{.from_lid = hidden}, 8),
      table(RecordId::SwitchInfoRecord,
            component_bit(0),
            SwitchInfoRecord{.lid = lid_of(*view, "S2")},
            32),
      table(RecordId::LftRecord, component_bit(0), LftRecord{.lid = lid_of(*view, "S2")}, 72)};
  for (const Asked& each : questions) {
    EXPECT_EQ(count(each, false), 0u) << each.header.mad.attribute_id;
    EXPECT_GT(count(each, true), 0u) << each.header.mad.attribute_id;
  }
}

/// Sites let all hosts ask about all switches, and so about where each cable leads.
TEST_F(InPartitions, NorByThePortOfASwitchThatLeadsThere) {
  ViewParts parts = view->parts();
  auto fabric = std::make_shared<Fabric>(*parts.fabric);
  for (PortInfo& info : fabric->port_info) {
    info.capability_mask = port_cap::kIsSlMappingSupported;
    info.vl_cap = 3;
    info.vl_arb_low_cap = info.vl_arb_high_cap = 2;
  }
  parts.fabric = fabric;
  const std::string rules = "Default=0x7fff: ALL=limited, ALL_SWITCHES=full;" + std::string(kRules);
  const PartitionPolicy policy{.rules = parse_partition_file(rules, "p").value().rules};
  auto plan = std::make_shared<PartitionPlan>();
  plan->map = build_partition_map(*fabric, policy);
  parts.partitions = plan;
  HeldTables held;
  parts.held = &held;
  view = std::make_shared<const SubnetView>(parts);
  const Lid lid = lid_of(*view, "S2");
  const PortNum hidden = fabric->number_of(fabric->peer[test::end_port(*fabric, "H4")]);

  std::vector<Asked> questions;
  const auto add = [&](RecordId id, const auto& record, std::size_t size) {
    questions.push_back(ask(Method::GetTable, id, component_bit(0), record, size));
  };
  add(RecordId::PortInfoRecord, PortInfoRecord{.lid = lid}, 64);
  add(RecordId::SlToVlTableRecord, SlToVlTableRecord{.lid = lid}, 16);
  add(RecordId::VlArbTableRecord, VlArbTableRecord{.lid = lid}, 72);
  for (const Asked& each : std::span(questions).subspan(1)) {
    const auto unread = find_unread_tables(*view, from(each, "H2"), held);
    EXPECT_LT(unread.size(), find_unread_tables(*view, from(each, "H2", true), held).size());
    for (const TableBlock& block : find_unread_tables(*view, from(each, "H2", true), held))
      held.note(block, SmpData{});
  }
  const auto ports_in = [&](const Asked& asked, std::string_view who, bool trusted = false) {
    const Answer answer = answer_query(*view, from(asked, who, trusted));
    std::set<unsigned> numbers;
    for (std::size_t at = 0; at < answer.records.size(); at += answer.offset * 8u) {
      numbers.insert(std::to_integer<unsigned>(answer.records[at + 2]));
      if (static_cast<RecordId>(asked.header.mad.attribute_id) == RecordId::SlToVlTableRecord)
        numbers.insert(std::to_integer<unsigned>(answer.records[at + 3]));
    }
    return numbers;
  };
  for (const Asked& each : questions) {
    const auto all = ports_in(each, "H2", true);
    EXPECT_TRUE(all.contains(hidden.value())) << each.header.mad.attribute_id;
    auto others = all;
    others.erase(hidden.value());
    EXPECT_EQ(ports_in(each, "H2"), others) << each.header.mad.attribute_id;
    EXPECT_EQ(ports_in(each, "H3"), all) << "who shares one with H4";
  }
}

TEST_F(InPartitions, NorByMulticastTables) {
  const Fabric& fabric = view->fabric();
  GroupTable groups;
  MftMemory tables;
  for (const char* name : {"S1", "S2"})
    tables.confirm(fabric.node_guid[test::node(fabric, name)], {}, MftBlock{9});
  GroupManager manager({.groups = groups,
                        .tables = tables,
                        .subnet = []() -> const SubnetLimits* { return nullptr; },
                        .on_changed = [] {}});
  const auto count = [&](std::uint64_t mask, std::string_view who, bool trusted) {
    const Asked asked =
        ask(Method::GetTable, RecordId::MftRecord, mask, MftRecord{.lid = lid_of(*view, "S2")}, 72);
    return manager.answer(*view, from(asked, who, trusted))->count();
  };
  EXPECT_EQ(count(0, "H2", false), 0u) << "sees no switch";
  EXPECT_EQ(count(component_bit(0), "H2", false), 0u);
  EXPECT_EQ(count(0, "H1", false), 2u);
  EXPECT_EQ(count(0, "H2", true), 2u);
  EXPECT_EQ(count(component_bit(0), "H2", true), 1u);
}

TEST_F(InPartitions, APathHasAKeyThatJoinsItsEnds) {
  EXPECT_EQ(key("H2", "H3"), PKey{0x8001});
  EXPECT_EQ(key("H4", "H3"), PKey{0x0002}) << "the source is a limited member";
  EXPECT_EQ(key("H3", "H4"), PKey{0x8002});
  EXPECT_EQ(key("H2", "H4"), std::nullopt);
  EXPECT_EQ(key("H2", "H1"), PKey{0x7fff});
  EXPECT_EQ(key("S1", "S1"), std::nullopt) << "nor takes a limited member packets of its own";
  EXPECT_EQ(key("H3", "H3"), PKey{0x8001});
  EXPECT_EQ(key("H2", "H3", 0x0001), PKey{0x0001}) << "as asked, in either membership";
  EXPECT_EQ(key("H2", "H3", 0xffff), std::nullopt) << "both are limited there";
  EXPECT_EQ(key("H2", "H3", 0x8002), std::nullopt);
}

TEST_F(InPartitions, TheDefaultIsTakenWhereItJoins) {
  ViewParts parts = parts_of("H1-S1 H2-S1");
  auto plan = std::make_shared<PartitionPlan>();
  plan->map = build_partition_map(
      *parts.fabric,
      {.rules = parse_partition_file("A=1: ALL=full; Default: ALL=full;", "p").value().rules});
  parts.partitions = plan;
  view = std::make_shared<const SubnetView>(parts);
  EXPECT_EQ(key("H1", "H2"), PKey{0xffff});
  EXPECT_EQ(key("H1", "H2", 0x8001), PKey{0x8001});
}

TEST_F(InPartitions, OfTwoMembershipsTheFirstThatJoinsAndTheFullOneToOneself) {
  ViewParts parts = parts_of("H1-S1 H2-S1");
  auto plan = std::make_shared<PartitionPlan>();
  plan->map = PartitionMap(parts.fabric->port_count(), PortKeys{});
  for (const char* name : {"H1", "H2"})
    plan->map[test::end_port(*parts.fabric, name)].keys = {
        PKey{0x0001}, PKey{0x8001}, PKey{0x7fff}};
  parts.partitions = plan;
  view = std::make_shared<const SubnetView>(parts);
  EXPECT_EQ(key("H1", "H2"), PKey{0x0001});
  EXPECT_EQ(key("H1", "H1"), PKey{0x8001});
}

TEST_F(InPartitions, PathsAreThoseOfPartitionsAndCarryTheirSl) {
  const auto found = paths("H2", "H2", "H3");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].p_key, PKey{0x8001});
  EXPECT_EQ(found[0].sl, 3) << "as the file says of it";
  EXPECT_THAT(paths("H2", "H2", "H4"), IsEmpty());
  EXPECT_EQ(paths("H1", "H1", "H4").at(0).sl, 0);
  EXPECT_EQ(paths("H2", "H2", "H3", part::kPKey, {.p_key = PKey{0x8001}}).size(), 1u);
  EXPECT_THAT(paths("H2", "H2", "H3", part::kPKey, {.p_key = PKey{0x8002}}), IsEmpty());
  EXPECT_THAT(paths("H2", "H3", "H4"), IsEmpty()) << "of no concern to H2";
  EXPECT_EQ(paths("H3", "H3", "H4").size(), 1u);
}

TEST_F(InPartitions, MultiPathsAreToo) {
  MultiPathRecord record;
  for (const char* name : {"H2"})
    record.sgids.push_back({kDefaultSubnetPrefix, guid_of(*view, name)});
  for (const char* name : {"H3", "H4"})
    record.dgids.push_back({kDefaultSubnetPrefix, guid_of(*view, name)});
  const Asked asked{.header = {.component_mask = multi_path_component::kSgidCount |
                                                 multi_path_component::kDgidCount}};
  const Answer answer =
      find_multi_paths(*view, from(asked, "H2"), encode_multi_path_record(record), {});
  ASSERT_EQ(answer.count(), 1u);
  EXPECT_EQ(decode_path_record(answer.records).value().dlid, lid_of(*view, "H3"));
}

}  // namespace partitions_test
}  // namespace smd::sa
