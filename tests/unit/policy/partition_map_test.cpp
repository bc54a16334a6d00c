// Rules on a fabric: who gets which keys, who fits, where keys stand.
#include <gmock/gmock.h>

#include "smd/policy/p_key_tables.h"
#include "smd/policy/partition_map.h"
#include "tests/support/fabric_text.h"

namespace smd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<unsigned> values(const std::vector<PKey>& keys) {
  std::vector<unsigned> out;
  for (const PKey key : keys) out.push_back(key.value());
  return out;
}

KeyTable table(std::initializer_list<unsigned> keys) {
  KeyTable out;
  for (const unsigned key : keys) out.push_back(PKey{static_cast<std::uint16_t>(key)});
  return out;
}

class PartitionsOnFabric : public testing::Test {
 protected:
  PartitionsOnFabric() {
    // The manager sits on the node that comes first.
    fabric = test::fabric_from("H1-S1 H2-S1 R3-S1 S1-S2");
    for (NodeInfo& info : fabric.node_info) info.partition_cap = 4;
    for (SwitchInfo& info : fabric.switch_info) info.partition_enforcement_cap = 3;
  }

  PartitionMap map(std::string_view text, bool allow_both = false) {
    policy = {.rules = parse_partition_file(text, "p").value().rules, .allow_both = allow_both};
    return build_partition_map(fabric, policy);
  }

  std::vector<unsigned> keys(const PartitionMap& map, std::string_view name) const {
    return values(map[test::end_port(fabric, name)].keys);
  }

  Fabric fabric;
  PartitionPolicy policy;
};

TEST_F(PartitionsOnFabric, EverybodyIsALimitedMemberOfTheDefaultUnlessTheFileSaysOtherwise) {
  const PartitionMap all = map("A=1: 0x20201=full;");
  EXPECT_THAT(keys(all, "H1"), ElementsAre(0xffff)) << "the manager's port";
  EXPECT_THAT(keys(all, "H2"), ElementsAre(0x7fff, 0x8001));
  EXPECT_THAT(keys(all, "R3"), ElementsAre(0x7fff));
  EXPECT_THAT(keys(all, "S1"), ElementsAre(0x7fff));
  EXPECT_THAT(all[test::port(fabric, "S1:1")].keys, IsEmpty());
}

TEST_F(PartitionsOnFabric, TheManagersPortIsAFullMemberWhateverTheFileSays) {
  EXPECT_THAT(keys(map("Default=0x7fff: ALL=limited, SELF=limited;"), "H1"), ElementsAre(0xffff));
  EXPECT_THAT(keys(map("A=1: SELF;"), "H1"), ElementsAre(0xffff, 0x0001)) << "elsewhere it is not";
}

TEST_F(PartitionsOnFabric, MembersByTypeOfNode) {
  const PartitionMap all = map("A=1: ALL_CAS; B=2: ALL_SWITCHES=full; C=3: ALL_ROUTERS; D=4: ALL;");
  EXPECT_THAT(keys(all, "H2"), ElementsAre(0x7fff, 1, 4));
  EXPECT_THAT(keys(all, "S2"), ElementsAre(0x7fff, 0x8002, 4));
  EXPECT_THAT(keys(all, "R3"), ElementsAre(0x7fff, 3, 4));
}

TEST_F(PartitionsOnFabric, TheLaterOfTwoMembersCounts) {
  EXPECT_THAT(keys(map("A=1: 0x20201=full, ALL=limited;"), "H2"), ElementsAre(0x7fff, 1));
  EXPECT_THAT(keys(map("A=1: ALL=limited; A=1: 0x20201=full;"), "H2"), ElementsAre(0x7fff, 0x8001));
}

TEST_F(PartitionsOnFabric, BothAreTwoKeysWhereThatIsAllowed) {
  EXPECT_THAT(keys(map("A=1: ALL=both;"), "H2"), ElementsAre(0x7fff, 0x8001));
  EXPECT_THAT(keys(map("A=1: ALL=both;", true), "H2"), ElementsAre(0x7fff, 0x0001, 0x8001));
  EXPECT_THAT(keys(map("A=1: ALL=both, ALL=limited;", true), "H2"), ElementsAre(0x7fff, 1));
  EXPECT_THAT(values(enforced_keys(map("A=1: ALL=both;", true)[test::end_port(fabric, "H2")])),
              ElementsAre(0x7fff, 0x8001));
}

TEST_F(PartitionsOnFabric, TheKeyForIndex0) {
  const PartitionMap all = map("A=1,indx0: 0x20201=full;");
  EXPECT_EQ(all[test::end_port(fabric, "H2")].first, PKey{0x8001});
  EXPECT_EQ(all[test::end_port(fabric, "H1")].first, PKey{0});
  // The later definition of the same key says nothing of index 0.
  EXPECT_EQ(map("A=1,indx0: 0x20201; A=1: 0x20201;")[test::end_port(fabric, "H2")].first, PKey{0});
}

TEST_F(PartitionsOnFabric, LimitedMembersDoNotTalkToEachOther) {
  EXPECT_TRUE(keys_match(PKey{0x8001}, PKey{0x0001}));
  EXPECT_TRUE(keys_match(PKey{0x8001}, PKey{0x8001}));
  EXPECT_FALSE(keys_match(PKey{0x0001}, PKey{0x0001}));
  EXPECT_FALSE(keys_match(PKey{0x8001}, PKey{0x8002}));
  EXPECT_FALSE(keys_match(PKey{0x8000}, PKey{0x8000})) << "no key at all";
  const PartitionMap all = map("A=1: 0x20201=full, 0x3000301;");
  const PortIdx h1 = test::end_port(fabric, "H1");
  const PortIdx h2 = test::end_port(fabric, "H2");
  const PortIdx r3 = test::end_port(fabric, "R3");
  const PortIdx s2 = test::end_port(fabric, "S2");
  EXPECT_TRUE(share_partition(all, h1, s2)) << "the manager reaches everybody";
  EXPECT_TRUE(share_partition(all, h2, r3));
  EXPECT_FALSE(share_partition(all, h2, s2));
  EXPECT_TRUE(share_partition(all, s2, s2));
}

TEST_F(PartitionsOnFabric, SwitchPortsToHostsEnforce) {
  EXPECT_EQ(find_enforcer(fabric, test::end_port(fabric, "H2")), test::port(fabric, "S1:2"));
  EXPECT_EQ(find_enforcer(fabric, test::end_port(fabric, "R3")), test::port(fabric, "S1:3"));
  EXPECT_EQ(find_enforcer(fabric, test::end_port(fabric, "S2")), kNone<PortIdx>);
  fabric.switch_info[test::switch_named(fabric, "S1")].partition_enforcement_cap = 0;
  EXPECT_EQ(find_enforcer(fabric, test::end_port(fabric, "H2")), kNone<PortIdx>);
}

TEST_F(PartitionsOnFabric, WhatDoesNotFitIsNamed) {
  const char* five = "A=1: ALL; B=2: 0x20201; C=3: ALL; D=4: 0x20201;";
  const PartitionMap all = map(five);
  const auto overflows = find_overflows(fabric, all, policy);
  ASSERT_THAT(overflows, SizeIs(2));
  EXPECT_EQ(overflows[0].port, test::port(fabric, "S1:2"));
  EXPECT_EQ(print_overflow(fabric, overflows[0]),
            print_port(fabric, overflows[0].port) +
                ": room for 3 enforced P_Keys, 5 wanted; 0x0003, 0x0004 would not fit");
  EXPECT_EQ(overflows[1].port, test::end_port(fabric, "H2"));
  EXPECT_EQ(print_overflow(fabric, overflows[1]),
            print_port(fabric, overflows[1].port) +
                ": room for 4 P_Keys, 5 wanted; 0x0004 would not "
                "fit");
  policy.enforcement = PartitionEnforcement::Off;
  EXPECT_THAT(find_overflows(fabric, all, policy), SizeIs(1));
  for (NodeInfo& info : fabric.node_info) info.partition_cap = 5;
  EXPECT_THAT(find_overflows(fabric, all, policy), IsEmpty());
}

KeyTable arranged(const KeyTable& now, WantedKeyTable wanted) {
  return arrange_keys(now, wanted).value_or(KeyTable{});
}

TEST(KeyTables, AFreshTableHasTheDefaultFirst) {
  EXPECT_EQ(arranged(table({0xffff, 0, 0, 0}), {.keys = table({0x8002, 0x7fff, 1})}),
            table({0x7fff, 0x8002, 1, 0}));
  EXPECT_EQ(arranged(table({0, 0, 0, 0}), {.keys = table({0x8002, 0xffff})}),
            table({0xffff, 0x8002, 0, 0}));
}

TEST(KeyTables, KeysKeepTheirIndex) {
  EXPECT_EQ(arranged(table({0xffff, 0x8005, 0x8004, 0x8003, 0, 0}),
                     {.keys = table({0xffff, 0x8003, 0x8004, 0x8006})}),
            table({0xffff, 0, 0x8004, 0x8003, 0x8006, 0}));
  EXPECT_EQ(arranged(table({0xffff, 0x8005}), {.keys = table({0xffff, 0x0005})}),
            table({0xffff, 0x0005}))
      << "another membership is no other partition";
}

TEST(KeyTables, AFreedIndexIsTakenOnlyWhenThereIsNoOther) {
  EXPECT_EQ(arranged(table({0xffff, 0x8001, 0, 0}),
                     {.keys = table({0xffff, 0x8002}), .first = PKey{0}, .used = 3}),
            table({0xffff, 0, 0, 0x8002}));
  EXPECT_EQ(arranged(table({0xffff, 0x8001, 0x8003}), {.keys = table({0xffff, 0x8002, 0x8003})}),
            table({0xffff, 0x8002, 0x8003}));
}

TEST(KeyTables, Index0) {
  EXPECT_EQ(arranged(table({0x8001, 0xffff, 0, 0}), {.keys = table({0xffff, 0x8001})}),
            table({0xffff, 0, 0x8001, 0}));
  EXPECT_EQ(arranged(table({0xffff, 0x8001, 0}),
                     {.keys = table({0xffff, 0x8001}), .first = PKey{0x8001}}),
            table({0x8001, 0, 0xffff}));
}

TEST(KeyTables, TheDefaultStaysWhereAnotherManagerLeftItBehindAnEmptyIndex0) {
  EXPECT_EQ(arranged(table({0, 0x8001, 0x7fff, 0}), {.keys = table({0x7fff, 0x8001})}),
            table({0, 0x8001, 0x7fff, 0}));
  EXPECT_EQ(arranged(table({0, 0x7fff, 0, 0}), {.keys = table({0xffff, 0x8001})}),
            table({0, 0xffff, 0x8001, 0}))
      << "as a full member now";
  EXPECT_EQ(arranged(table({0, 0x7fff, 0x8001}), {.keys = table({0x7fff, 0x8001, 0x8002})}),
            table({0x8002, 0x7fff, 0x8001}))
      << "index 0 is there for whom nothing else is left";
}

TEST(KeyTables, InFrontOfAHostAnyIndexWillDo) {
  EXPECT_EQ(
      arranged(table({0x8001, 0x7fff, 0}), {.keys = table({0x7fff, 0x8001}), .enforced = true}),
      table({0x8001, 0x7fff, 0}));
  EXPECT_EQ(arranged(table({0x8001, 0, 0}), {.keys = table({0x7fff, 0x8001}), .enforced = true}),
            table({0x7fff, 0x8001, 0}));
}

TEST(KeyTables, BothMembershipsAreTwoKeys) {
  EXPECT_EQ(arranged(table({0xffff, 0x8001, 0, 0}), {.keys = table({0xffff, 0x0001, 0x8001})}),
            table({0xffff, 0x8001, 0x0001, 0}));
  EXPECT_EQ(arranged(table({0, 0, 0}), {.keys = table({0x7fff, 0xffff})}),
            table({0xffff, 0x7fff, 0}));
}

TEST(KeyTables, WhatDoesNotFitIsNoTable) {
  EXPECT_FALSE(arrange_keys(table({0, 0}), {.keys = table({0xffff, 1, 2})}));
  EXPECT_TRUE(arrange_keys(table({5, 6}), {.keys = table({0xffff, 1})}));
}

}  // namespace
}  // namespace smd
