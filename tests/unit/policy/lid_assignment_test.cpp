#include "smd/policy/lid_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/policy/port_policy.h"
#include "tests/support/fabric_text.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Guid guid_of(const Fabric& f, std::string_view name) { return f.port_guid[end_port(f, name)]; }

void claim(Fabric& f, std::string_view name, unsigned lid) {
  f.port_info[end_port(f, name)].lid = Lid{static_cast<std::uint16_t>(lid)};
}

unsigned lid_of(const Fabric& f, const LidAssignment& a, std::string_view name) {
  return a.map.base[end_port(f, name)].value();
}

LidAssignment assign(const Fabric& f, const LidBook& book = {}, const LidPolicy& policy = {}) {
  auto result = assign_lids(f, book, policy);
  EXPECT_TRUE(result) << (result ? "" : result.error().context);
  return result ? *result : LidAssignment{};
}

TEST(LidAssignment, GivesNewPortsTheNextFreeLidInNodeOrder) {
  const Fabric f = fabric_from("H1-S1 S1-S2 S2-H2");
  const LidAssignment a = assign(f);
  EXPECT_EQ(lid_of(f, a, "H1"), 1u);
  EXPECT_EQ(lid_of(f, a, "S1"), 2u);
  EXPECT_EQ(lid_of(f, a, "S2"), 3u);
  EXPECT_EQ(lid_of(f, a, "H2"), 4u);
  EXPECT_EQ(a.map.top, Lid{4});
  EXPECT_EQ(a.book.size(), 4u);
  EXPECT_THAT(a.conflicts, IsEmpty());
}

TEST(LidAssignment, TheBookComesBeforeWhatThePortSays) {
  Fabric f = fabric_from("H1-S1 S1-H2");
  claim(f, "H1", 9);
  claim(f, "H2", 7);
  const LidAssignment a = assign(f, {{guid_of(f, "H1"), {Lid{30}, 0}}});
  EXPECT_EQ(lid_of(f, a, "H1"), 30u);
  EXPECT_EQ(lid_of(f, a, "H2"), 7u);
  EXPECT_EQ(lid_of(f, a, "S1"), 1u);
}

TEST(LidAssignment, IsAFixedPoint) {
  const Fabric f = fabric_from("H1-S1 S1-S2 S2-H2");
  const LidAssignment first = assign(f, {{guid_of(f, "H2"), {Lid{2}, 0}}});
  const LidAssignment second = assign(f, first.book);
  EXPECT_EQ(first.map, second.map);
  EXPECT_EQ(first.book, second.book);
}

TEST(LidAssignment, BothPortsOfAnAdapterHaveTheirOwnLids) {
  const Fabric f = fabric_from("S1-H1:1 S1-H1:2");
  const LidAssignment a = assign(f);
  EXPECT_EQ(a.map.base[port(f, "H1:1")], Lid{2});
  EXPECT_EQ(a.map.base[port(f, "H1:2")], Lid{3});
}

TEST(LidAssignment, LmcRangesAreAlignedAndDoNotOverlap) {
  const Fabric f = fabric_from("S1-H1 S1-H2 S1-R1");
  const LidAssignment a = assign(f, {}, {.lmc = 2});
  EXPECT_EQ(lid_of(f, a, "S1"), 1u) << "port 0 of a base switch has one LID";
  EXPECT_EQ(lid_of(f, a, "H1"), 4u);
  EXPECT_EQ(lid_of(f, a, "H2"), 8u);
  EXPECT_EQ(lid_of(f, a, "R1"), 12u);
  EXPECT_EQ(a.map.owner_of(Lid{7}), end_port(f, "H1"));
  EXPECT_EQ(a.map.top, Lid{15});
}

TEST(LidAssignment, OnlyEnhancedPortsZeroTakeAnLmc) {
  Fabric f = fabric_from("S1-S2");
  f.switch_info[switch_named(f, "S2")].enhanced_port0 = true;
  const LidAssignment a = assign(f, {}, {.lmc_enhanced_port0 = 1});
  EXPECT_EQ(a.map.lmc[end_port(f, "S1")], 0);
  EXPECT_EQ(a.map.lmc[end_port(f, "S2")], 1);
  EXPECT_EQ(lid_of(f, a, "S2"), 2u);
}

TEST(LidAssignment, AClaimThatIsNotAlignedToTheLmcIsNotHonoured) {
  Fabric f = fabric_from("S1-H1 S1-H2");
  claim(f, "H1", 5);
  claim(f, "H2", 8);
  const LidAssignment a = assign(f, {}, {.lmc = 1});
  EXPECT_EQ(lid_of(f, a, "H1"), 2u);
  EXPECT_EQ(lid_of(f, a, "H2"), 8u);
}

TEST(LidAssignment, ClaimsOutsideTheRangeAreNotHonoured) {
  Fabric f = fabric_from("S1-H1 S1-H2 S1-H3");
  claim(f, "H1", 5);
  claim(f, "H2", 0xc000);
  claim(f, "H3", 0xffff);
  const LidAssignment a = assign(f, {}, {.min = Lid{10}, .max = Lid{20}});
  EXPECT_EQ(lid_of(f, a, "S1"), 10u);
  EXPECT_EQ(lid_of(f, a, "H1"), 11u);
  EXPECT_EQ(lid_of(f, a, "H2"), 12u);
  EXPECT_EQ(lid_of(f, a, "H3"), 13u);
}

TEST(LidAssignment, MergedFabricsDoNotMoveTheMajority) {
  //  H1-S1-H2   ~   S2-H3      Two running subnets, just cabled together. Both used LIDs from 1,
  //     |                      and our book knows only the small one.
  //     H5
  Fabric f = fabric_from("S2-H3 S1-H1 S1-H2 S1-H5 S1~S2");
  claim(f, "S1", 1), claim(f, "H1", 2), claim(f, "H2", 3), claim(f, "H5", 4);
  claim(f, "S2", 1), claim(f, "H3", 2);
  const LidBook book{{guid_of(f, "S2"), {Lid{1}, 0}}, {guid_of(f, "H3"), {Lid{2}, 0}}};
  const LidAssignment a = assign(f, book);
  EXPECT_EQ(lid_of(f, a, "S1"), 1u);
  EXPECT_EQ(lid_of(f, a, "H1"), 2u);
  EXPECT_EQ(lid_of(f, a, "H2"), 3u);
  EXPECT_EQ(lid_of(f, a, "H5"), 4u);
  EXPECT_EQ(lid_of(f, a, "S2"), 5u);
  EXPECT_EQ(lid_of(f, a, "H3"), 6u);
  EXPECT_THAT(a.conflicts,
              ElementsAre(LidConflict{Lid{1}, end_port(f, "S1"), end_port(f, "S2")},
                          LidConflict{Lid{2}, end_port(f, "H1"), end_port(f, "H3")}));
}

TEST(LidAssignment, WhoIsAwayKeepsItsLidsWhenARackJoins) {
  //  H1-S1-H2   ~   S2-H3      The manager is at H1. Two of its ports are away, whose LIDs the rack
  //     |           |          has used.
  //     H5          H4
  Fabric f = fabric_from("H1-S1 S1-H2 S1-H5 S2-H3 S2-H4 S1~S2");
  f.sm_port = end_port(f, "H1");
  f.sm_node = f.node_of[f.sm_port];
  claim(f, "H1", 1), claim(f, "S1", 2), claim(f, "H2", 3), claim(f, "H5", 9);
  claim(f, "S2", 4), claim(f, "H3", 5), claim(f, "H4", 7);
  LidBook book{{guid_of(f, "H1"), {Lid{1}, 0}},
               {guid_of(f, "S1"), {Lid{2}, 0}},
               {guid_of(f, "H2"), {Lid{3}, 0}},
               {Guid{0xaaa}, {Lid{4}, 0}},
               {Guid{0xbbb}, {Lid{5}, 0}},
               {Guid{0xccc}, {Lid{9}, 0}}};
  const LidAssignment a = assign(f, book);
  EXPECT_EQ(a.book.at(Guid{0xaaa}).base, Lid{4});
  EXPECT_EQ(a.book.at(Guid{0xbbb}).base, Lid{5});
  EXPECT_GT(lid_of(f, a, "S2"), 5u);
  EXPECT_GT(lid_of(f, a, "H3"), 5u);
  EXPECT_EQ(lid_of(f, a, "H4"), 7u) << "nobody else's";
  EXPECT_EQ(lid_of(f, a, "H5"), 9u) << "it runs here, and whoever is away does not";
  // Of two subnets that join the larger one is the running one.
  claim(f, "H5", 0);
  f.sm_port = end_port(f, "H3");
  f.sm_node = f.node_of[f.sm_port];
  const LidAssignment other = assign(f, {{Guid{0xaaa}, {Lid{2}, 0}}});
  EXPECT_EQ(lid_of(f, other, "H3"), 5u);
}

TEST(LidAssignment, ARebootedHostDoesNotTakeALidInUse) {
  Fabric f = fabric_from("S1-H2 S1~H1");
  claim(f, "S1", 1), claim(f, "H2", 2), claim(f, "H1", 2);
  const LidAssignment a = assign(f);
  EXPECT_EQ(lid_of(f, a, "H2"), 2u);
  EXPECT_EQ(lid_of(f, a, "H1"), 3u);
}

TEST(LidAssignment, BetweenEqualsTheBookThenTheSmallerGuidKeeps) {
  Fabric f = fabric_from("S1-H3 S1-H2 S1-H1");
  claim(f, "H1", 5), claim(f, "H2", 5), claim(f, "H3", 5);
  EXPECT_EQ(lid_of(f, assign(f), "H1"), 5u);
  EXPECT_EQ(lid_of(f, assign(f, {{guid_of(f, "H2"), {Lid{5}, 0}}}), "H2"), 5u);
}

TEST(LidAssignment, WhoLosesItsLidInTheBookKeepsTheOneItHas) {
  Fabric f = fabric_from("S1-H1 S1-H2 S1-H4 S1~H3");
  claim(f, "H1", 5), claim(f, "H2", 6), claim(f, "H3", 9);
  const LidAssignment a = assign(f, {{guid_of(f, "H3"), {Lid{5}, 0}}});
  EXPECT_EQ(lid_of(f, a, "H1"), 5u) << "the larger side is the running one";
  EXPECT_EQ(lid_of(f, a, "H3"), 9u);
}

TEST(LidAssignment, LidsOfVanishedPortsStayReservedUntilTheRangeRunsOut) {
  const Fabric f = fabric_from("S1-H1 S1-H2");
  const LidBook book{{Guid{0xaaa}, {Lid{2}, 0}}, {Guid{0xbbb}, {Lid{3}, 0}}};
  const LidAssignment wide = assign(f, book);
  EXPECT_EQ(lid_of(f, wide, "H1"), 4u);
  EXPECT_EQ(lid_of(f, wide, "H2"), 5u);
  EXPECT_EQ(wide.book.at(Guid{0xaaa}).base, Lid{2});

  const LidAssignment tight = assign(f, book, {.max = Lid{4}});
  EXPECT_EQ(lid_of(f, tight, "H1"), 4u);
  EXPECT_EQ(lid_of(f, tight, "H2"), 2u) << "the lowest reserved LID goes first";
  EXPECT_FALSE(tight.book.contains(Guid{0xaaa}));
  EXPECT_TRUE(tight.book.contains(Guid{0xbbb}));
}

TEST(LidAssignment, WhoGetsNoLidIsNamedAndTheRestHasTheirs) {
  const Fabric f = fabric_from("H1-S1 S1-H2 S1-H3");
  const LidPolicy policy{.max = Lid{3}};
  const LidAssignment a = assign(f, {}, policy);
  EXPECT_EQ(lid_of(f, a, "H1"), 1u);
  EXPECT_EQ(lid_of(f, a, "S1"), 2u);
  EXPECT_EQ(lid_of(f, a, "H2"), 3u);
  EXPECT_EQ(lid_of(f, a, "H3"), 0u);
  EXPECT_THAT(a.without_lid, ElementsAre(end_port(f, "H3")));
  EXPECT_FALSE(a.book.contains(guid_of(f, "H3")));
  EXPECT_EQ(print_lid_shortage(f, a.without_lid, policy),
            fmt::format("no LIDs left for 1 port, 1 missing in 1 … 3: H3:1 (port GUID {}, LMC 0)",
                        guid_of(f, "H3")));
  EXPECT_EQ(print_lid_shortage(f, {}, policy), "");
}

TEST(LidAssignment, WhereLidsRunOutSwitchesComeBeforeAdapters) {
  const Fabric f = fabric_from("H1-S1 S1-H2 S1-S2 S2-H3");
  const LidAssignment a = assign(f, {}, {.max = Lid{4}});
  EXPECT_EQ(lid_of(f, a, "H1"), 1u);
  EXPECT_NE(lid_of(f, a, "S1"), 0u);
  EXPECT_NE(lid_of(f, a, "S2"), 0u);
  EXPECT_THAT(a.without_lid, ElementsAre(end_port(f, "H3")));
  EXPECT_EQ(assign(f, a.book, {.max = Lid{4}}).map, a.map) << "and it stays so";
}

TEST(LidAssignment, WhoHasALidKeepsItAndANewcomerStaysOut) {
  Fabric f = fabric_from("H1-S1 S1-H2 S1-H3");
  claim(f, "H1", 1), claim(f, "S1", 2), claim(f, "H3", 3);
  const LidAssignment a = assign(f, {}, {.max = Lid{3}});
  EXPECT_EQ(lid_of(f, a, "H3"), 3u);
  EXPECT_THAT(a.without_lid, ElementsAre(end_port(f, "H2")));
}

TEST(LidAssignment, TheManagersOwnPortTakesLidsFromAnAdapterRatherThanHaveNone) {
  Fabric f = fabric_from("H1-S1 S1-H2 S1-H3");
  ASSERT_EQ(f.sm_port, end_port(f, "H1"));
  claim(f, "S1", 1), claim(f, "H2", 2), claim(f, "H3", 3);
  const LidAssignment a = assign(f, {}, {.max = Lid{3}});
  EXPECT_EQ(lid_of(f, a, "H1"), 3u);
  EXPECT_EQ(lid_of(f, a, "H2"), 2u);
  EXPECT_THAT(a.without_lid, ElementsAre(end_port(f, "H3")));
  EXPECT_THAT(a.conflicts, IsEmpty());
}

TEST(LidAssignment, ARangeWithoutRoomForTheManagersOwnPortIsRefused) {
  const auto result =
      assign_lids(fabric_from("H1-S1"), {}, {.lmc = 3, .min = Lid{1}, .max = Lid{7}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().context,
            "LIDs 1 … 7 hold no 8 LIDs in a row for the manager's own port");
}

TEST(LidAssignment, RecordsThatAreNoLidsAreIgnored) {
  const Fabric f = fabric_from("S1-H1");
  const LidAssignment a =
      assign(f, {{Guid{1}, {Lid{0xbfff}, 1}}, {Guid{2}, {Lid{0}, 0}}, {Guid{3}, {Lid{7}, 9}}});
  EXPECT_TRUE(a.without_lid.empty());
  EXPECT_EQ(a.book.size(), 2u) << "of those that are here";
}

TEST(LidAssignment, APortWithoutAGuidIsNotWrittenDown) {
  Fabric f = fabric_from("S1-H1");
  f.port_guid[end_port(f, "H1")] = Guid{};
  const LidAssignment a = assign(f);
  EXPECT_NE(lid_of(f, a, "H1"), 0u);
  EXPECT_TRUE(parse_lid_book(print_lid_book(a.book), "lids"));
}

TEST(LidAssignment, AManagersPortThatTakesNoLidGetsNone) {
  Fabric f = fabric_from("H1-S1 S1-S2 S2-H2");
  f.sm_port = f.port_of(f.node_of[end_port(f, "S1")], PortNum{1});
  const LidAssignment a = assign(f);
  EXPECT_EQ(a.map.base[f.sm_port], kUnassignedLid);
  EXPECT_EQ(a.map.top, Lid{4});
}

TEST(LidAssignment, RefusesSettingsThatCannotBe) {
  const Fabric f = fabric_from("S1-H1");
  for (const LidPolicy& policy : {LidPolicy{.lmc = 8},
                                  LidPolicy{.lmc_enhanced_port0 = 8},
                                  LidPolicy{.min = Lid{0}},
                                  LidPolicy{.max = Lid{0xc000}},
                                  LidPolicy{.min = Lid{9}, .max = Lid{8}}}) {
    const auto result = assign_lids(f, {}, policy);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::Invalid);
  }
}

TEST(LidBook, PrintsOneLinePerPortAndReadsItBack) {
  const LidBook book{{Guid{0x0002c90300000001}, {Lid{1}, 0}}, {Guid{0xff}, {Lid{0x40}, 3}}};
  EXPECT_EQ(print_lid_book(book),
            "0x00000000000000ff 0x0040 3\n"
            "0x0002c90300000001 0x0001 0\n");
  EXPECT_EQ(parse_lid_book(print_lid_book(book), "lids").value(), book);
  EXPECT_EQ(parse_lid_book("# a comment\n\n 0xff\t0x40  3 # why\r\n", "lids").value().size(), 1u);
  EXPECT_TRUE(parse_lid_book("", "lids").value().empty());
}

TEST(LidBook, NamesEveryFaultWithItsLineAndColumn) {
  const auto result = parse_lid_book(
      "0x1 0x1 0\n"
      "0x2 0x2\n"
      "zzz 0x2 0\n"
      "0x3 0 0\n"
      "0x3 0xc000 0\n"
      "0x3 0x5 8\n"
      "0x3 0x5 1\n"
      "0x3 0x6 -1\n"
      "0x1 0x7 0\n"
      "0x4 0x1 0\n"
      "0 0x8 0\n"
      "0x10000000000000000 0x8 0\n"
      "0x5 0x8 3\n"
      "0x6 0xc 2\n"
      "  0x7 \t0x20 0 0x8\n",
      "lids");
  ASSERT_FALSE(result);
  std::vector<std::string> lines;
  for (const Fault& f : result.error()) lines.push_back(print_fault(f));
  EXPECT_THAT(
      lines,
      ElementsAre(HasSubstr("lids:2:1: 2 words"),
                  HasSubstr("lids:3:1: 'zzz' is no GUID"),
                  HasSubstr("lids:4:5: '0' is no unicast LID"),
                  HasSubstr("lids:5:5: '0xc000' is no unicast LID"),
                  HasSubstr("lids:6:9: '8' is no LMC"),
                  HasSubstr("lids:7:5: LID 0x0005 with LMC 1: the LID has to be a multiple"),
                  HasSubstr("lids:8:9: '-1' is no LMC"),
                  HasSubstr("lids:9:1: 0x0000000000000001 is here twice"),
                  HasSubstr("lids:10:5: LID 0x0001 is already given by line 1"),
                  HasSubstr("lids:11:1: '0' is no GUID"),
                  HasSubstr("lids:12:1: '0x10000000000000000' is no GUID"),
                  HasSubstr("lids:14:5: LID 0x000c is already given by line 13"),
                  HasSubstr("lids:15:15: 4 words")));
}

TEST(FollowFabric, PortsThatHaveALidKeepItWhateverTheBookSays) {
  Fabric f = fabric_from("H1-S1 S1-H2");
  claim(f, "H1", 9);
  claim(f, "H2", 7);
  const LidBook book =
      follow_fabric(f, {{guid_of(f, "H1"), {Lid{30}, 0}}, {guid_of(f, "S1"), {Lid{7}, 0}}});
  const LidAssignment a = assign(f, book);
  EXPECT_EQ(lid_of(f, a, "H1"), 9u);
  EXPECT_EQ(lid_of(f, a, "H2"), 7u);
  EXPECT_THAT(a.conflicts, IsEmpty()) << "a port without a LID claims none from the book";
}

TEST(FollowFabric, AbsentPortsKeepTheirRecordsInNobodysWay) {
  Fabric f = fabric_from("H1-S1 S1-H2");
  claim(f, "H1", 9);
  const LidBook before{
      {Guid{0xa}, {Lid{9}, 0}}, {Guid{0xb}, {Lid{12}, 0}}, {Guid{0xc}, {Lid{8}, 1}}};
  const LidBook book = follow_fabric(f, before);
  EXPECT_FALSE(book.contains(Guid{0xa}));
  EXPECT_EQ(book.at(Guid{0xb}).base, Lid{12});
  EXPECT_FALSE(book.contains(Guid{0xc})) << "its second LID is H1's";
}

TEST(ForeignKeys, AreThoseShownAndThoseHidden) {
  Fabric f = fabric_from("H1-S1 S1-H2");
  const MKey ours{5};
  EXPECT_EQ(find_foreign_keys(f, ours), ForeignKeys{});
  f.port_info[end_port(f, "H1")].m_key = ours;
  EXPECT_EQ(find_foreign_keys(f, ours).ports, 0u);
  PortInfo& shown = f.port_info[end_port(f, "S1")];
  shown.m_key = MKey{6};
  shown.m_key_lease_period = 40;
  PortInfo& hidden = f.port_info[end_port(f, "H2")];
  hidden.m_key_protect_bits = 1;
  const ForeignKeys keys = find_foreign_keys(f, ours);
  EXPECT_EQ(keys.ports, 2u);
  EXPECT_EQ(keys.forever, 1u);
  EXPECT_EQ(keys.longest_lease_s, 40);
  EXPECT_TRUE(shows_foreign_key(f, end_port(f, "S1"), ours));
  EXPECT_FALSE(shows_foreign_key(f, end_port(f, "H2"), ours));
  EXPECT_FALSE(shows_foreign_key(f, end_port(f, "H1"), ours));
}

}  // namespace
}  // namespace smd::test
