// OpenSM's partitions.conf: what it says, and what is said of one that is wrong.
#include <gmock/gmock.h>

#include "smd/policy/partition_file.h"
#include "tests/unit/policy/parsed.h"

namespace smd {
namespace partition_file_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PartitionReading read(std::string_view text) {
  return test::accepted(parse_partition_file(text, "p.conf"));
}

std::vector<std::string> faults_of(std::string_view text) {
  return test::print_faults(parse_partition_file(text, "p.conf"));
}

std::vector<std::string> remarks_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const Fault& each : read(text).remarks) lines.push_back(print_fault(each));
  return lines;
}

PartitionMember port(std::uint64_t guid, Membership membership, bool first = false) {
  return {MemberKind::Port, Guid{guid}, membership, first};
}

constexpr PartitionMember kAllLimited{MemberKind::All, Guid{}, Membership::Limited, false};
constexpr PartitionMember kSelfFull{MemberKind::Self, Guid{}, Membership::Full, false};

TEST(PartitionFile, EveryKindOfMemberAndMembership) {
  const auto rules = read(
                         "Storage=0x80 : 0x1=full, 0x2=limited, 3=both, 0x4, ALL, ALL_CAS=full,\n"
                         "  ALL_SWITCHES, ALL_ROUTERS=both\n"
                         "  SELF=full ;")
                         .rules;
  ASSERT_THAT(rules.partitions, SizeIs(2));
  EXPECT_EQ(rules.partitions[0].key, kDefaultPartition);
  EXPECT_THAT(rules.partitions[0].members, ElementsAre(kAllLimited, kSelfFull));
  EXPECT_EQ(rules.partitions[1].name, "Storage");
  EXPECT_EQ(rules.partitions[1].key, 0x80);
  EXPECT_THAT(rules.partitions[1].members,
              ElementsAre(port(1, Membership::Full),
                          port(2, Membership::Limited),
                          port(3, Membership::Both),
                          port(4, Membership::Limited),
                          kAllLimited,
                          PartitionMember{MemberKind::AllCas, Guid{}, Membership::Full},
                          PartitionMember{MemberKind::AllSwitches},
                          PartitionMember{MemberKind::AllRouters, Guid{}, Membership::Both},
                          kSelfFull));
}

TEST(PartitionFile, TheExamplesOfOpensmsManual) {
  const PartitionReading reading = read(R"(
Default=0x7fff : ALL, SELF=full ;
Default=0x7fff : ALL, ALL_SWITCHES=full, SELF=full ;

NewPartition , ipoib : 0x123456=full, 0x3456789034=limi, 0x2134af2306 ;

YetAnotherOne = 0x300 : SELF=full ;
YetAnotherOne = 0x300 : ALL=limited ;

ShareIO = 0x80 , defmember=full : 0x123451, 0x123452;
# 0x123453, 0x123454 will be limited
ShareIO = 0x80 : 0x123453, 0x123454, 0x123455=full;
# 0x123456, 0x123457 will be limited
ShareIO = 0x80 : defmember=limited : 0x123456, 0x123457, 0x123458=full;
ShareIO = 0x80 , defmember=full : 0x123459, 0x12345a;
ShareIO = 0x80 , defmember=full : 0x12345b, 0x12345c=limited, 0x12345d;

# multicast groups added to default
Default=0x7fff,ipoib:
       mgid=ff12:401b::0707,sl=1 # random IPv4 group
       mgid=ff12:601b::16    # MLDv2-capable routers
       mgid=ff12:401b::16    # IGMP
       mgid=ff12:601b::2     # All routers
       mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2 # random group
       ALL=full;
)");
  const auto& partitions = reading.rules.partitions;
  ASSERT_THAT(partitions, SizeIs(4));
  EXPECT_EQ(partitions[1].name, "NewPartition");
  EXPECT_EQ(partitions[1].key, 1) << "the first that the file does not use";
  EXPECT_THAT(partitions[1].members,
              ElementsAre(port(0x123456, Membership::Full),
                          port(0x3456789034, Membership::Limited),
                          port(0x2134af2306, Membership::Limited)));
  EXPECT_EQ(partitions[2].key, 0x300);
  EXPECT_THAT(partitions[2].members, ElementsAre(kSelfFull, kAllLimited));
  EXPECT_EQ(partitions[3].key, 0x80);
  EXPECT_THAT(partitions[3].members,
              ElementsAre(port(0x123451, Membership::Full),
                          port(0x123452, Membership::Full),
                          port(0x123453, Membership::Limited),
                          port(0x123454, Membership::Limited),
                          port(0x123455, Membership::Full),
                          port(0x123456, Membership::Limited),
                          port(0x123457, Membership::Limited),
                          port(0x123458, Membership::Full),
                          port(0x123459, Membership::Full),
                          port(0x12345a, Membership::Full),
                          port(0x12345b, Membership::Full),
                          port(0x12345c, Membership::Limited),
                          port(0x12345d, Membership::Full)));

  const auto& groups = reading.rules.groups;
  ASSERT_THAT(groups, SizeIs(7));
  EXPECT_EQ(groups[0],
            (PreconfiguredGroup{.mgid = {0xff12401b80010000, Guid{0xffffffff}},
                                .p_key = PKey{0x8001},
                                .q_key = 0x0b1b,
                                .partition = "NewPartition"}));
  EXPECT_EQ(groups[1].mgid, (Gid{0xff12401bffff0000, Guid{0xffffffff}}));
  EXPECT_EQ(groups[1].p_key, kDefaultPKey);
  EXPECT_EQ(groups[2].mgid, (Gid{0xff12401bffff0000, Guid{0x0707}}));
  EXPECT_EQ(groups[2].sl, 1);
  EXPECT_EQ(groups[2].q_key, 0x0b1bu) << "that of IP groups";
  EXPECT_EQ(groups[3].mgid, (Gid{0xff12601bffff0000, Guid{0x16}}));
  EXPECT_EQ(groups[6],
            (PreconfiguredGroup{.mgid = {0xff12000000000000, Guid{1}},
                                .p_key = kDefaultPKey,
                                .q_key = 0xdeadbeef,
                                .mtu = 2,
                                .rate = 3,
                                .sl = 1,
                                .partition = "Default"}));
}

TEST(PartitionFile, FlagsOfAPartitionAreThoseOfItsGroups) {
  const auto groups = read(
                          "A=0x10,ipoib,rate=7,mtu=5,sl=3,scope=2,scope=0xe,Q_Key=0x99,TClass=4,"
                          "FlowLabel=0x12345:\n"
                          "mgid=ff15::8,TClass=7,scope=5; B=0x11: mgid=ff18:601b:8011::5;")
                          .rules.groups;
  ASSERT_THAT(groups, SizeIs(6));
  const PreconfiguredGroup wide{.mgid = {0xff1e401b80100000, Guid{0xffffffff}},
                                .p_key = PKey{0x8010},
                                .q_key = 0x99,
                                .mtu = 5,
                                .rate = 7,
                                .sl = 3,
                                .scope = 14,
                                .tclass = 4,
                                .flow_label = 0x12345,
                                .partition = "A"};
  EXPECT_EQ(groups[0].scope, 2);
  EXPECT_EQ(groups[0].mgid, (Gid{0xff12401b80100000, Guid{0xffffffff}}));
  EXPECT_EQ(groups[1], wide);
  // Of each scope that the group or its partition names.
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint8_t scope[] = {2, 5, 14};
    EXPECT_EQ(groups[2 + i].mgid.prefix, 0xff10000000000000 | std::uint64_t{scope[i]} << 48);
    EXPECT_EQ(groups[2 + i].tclass, 7);
    EXPECT_EQ(groups[2 + i].rate, 7);
    EXPECT_EQ(groups[2 + i].q_key, 0x99u);
  }
  // A group's own scope does not count, as in OpenSM: it is 2 unless a flag says otherwise.
  EXPECT_EQ(groups[5].mgid, (Gid{0xff12601b80110000, Guid{5}}));
}

TEST(PartitionFile, KeysAreChosenBesideThoseThatAreGiven) {
  const auto rules = read("A: ALL; B=0x8001: ALL; C=0x0: ALL; 0x5: ALL; A: SELF; 7: ALL;").rules;
  std::vector<std::pair<std::string, unsigned>> keys;
  for (const Partition& each : rules.partitions) keys.emplace_back(each.name, each.key);
  using Key = std::pair<std::string, unsigned>;
  EXPECT_THAT(keys,
              ElementsAre(Key{"Default", 0x7fff},
                          Key{"A", 2},  // 1 is B's, though B comes later
                          Key{"B", 1},
                          Key{"C", 3},
                          Key{"0005", 5},
                          Key{"0007", 7}));
  EXPECT_THAT(rules.partitions[1].members, SizeIs(2)) << "a name that is known stands for its key";
}

TEST(PartitionFile, TheDefaultPartitionIsFoundByName) {
  const auto rules = read("Default: ALL=full;").rules;
  ASSERT_THAT(rules.partitions, SizeIs(1));
  EXPECT_THAT(rules.partitions[0].members, SizeIs(3));
}

/// As OpenSM reads it: each definition begins with the default one.
TEST(PartitionFile, TheSlIsThatOfTheLastDefinition) {
  const auto sl_of = [](std::string_view text) { return read(text).rules.partitions[1].sl; };
  EXPECT_EQ(sl_of("A=1,sl=3: ALL; A=1,sl=2: SELF;"), 2);
  EXPECT_EQ(sl_of("A=1: ALL; A=1,sl=2: SELF;"), 2);
  EXPECT_EQ(sl_of("A=1,sl=3: ALL; A=1: SELF;").value_or(0), 0);
}

TEST(PartitionFile, Index0AndDefaultMembershipHoldForTheirDefinition) {
  const auto rules = read("A=1,indx0,defmember=both:1;A=1:2;").rules;
  EXPECT_THAT(rules.partitions[1].members,
              ElementsAre(port(1, Membership::Both, true), port(2, Membership::Limited)));
}

TEST(PartitionFile, RemarksAndLineEndsAnywhere) {
  const auto rules = read(
                         "  A = 0x10 , # all of it; and more: of it\n"
                         "  ipoib\r\n"
                         "  : # members\n"
                         "  1 = full\t,,\n"
                         "  NONE, 2\n"
                         "  ;;\n"
                         "B=2:")
                         .rules;
  ASSERT_THAT(rules.partitions, SizeIs(3));
  EXPECT_THAT(rules.partitions[1].members,
              ElementsAre(port(1, Membership::Full), port(2, Membership::Limited)));
  EXPECT_THAT(rules.partitions[2].members, IsEmpty());
  EXPECT_THAT(rules.groups, SizeIs(1));
}

TEST(PartitionFile, WithoutADefinitionEverybodyIsAFullMemberOfTheDefault) {
  for (const char* text : {"", "# nothing yet\n\n", " ; "}) {
    EXPECT_EQ(read(text).rules, default_partitions()) << text;
  }
  EXPECT_THAT(default_partitions().partitions[0].members,
              ElementsAre(PartitionMember{MemberKind::All, Guid{}, Membership::Full}));
  EXPECT_EQ(default_partitions().groups.at(0).mgid, (Gid{0xff12401bffff0000, Guid{0xffffffff}}));
}

TEST(PartitionFile, DoublesAreTakenAndSaid) {
  EXPECT_THAT(remarks_of("A=1: 2, 3=full\n2=full;\nA=1: 3=full;"),
              ElementsAre("p.conf:2: port 0x0000000000000002 is in partition 'A' since line 1; the "
                          "membership of this line counts",
                          "p.conf:3: port 0x0000000000000003 is in partition 'A' since line 1 "
                          "already"));
  EXPECT_THAT(remarks_of("A=1: 2;\nB=0x8001: 3;"),
              ElementsAre("p.conf:2: 0x0001 is 'A' already; 'B' is taken for more of it"));
  EXPECT_THAT(remarks_of("A=1,ipoib: 2;\nA=1,ipoib:3;"),
              ElementsAre("p.conf:2: group ff12:401b:8001:0:0:0:ffff:ffff is there since line 1; "
                          "that line counts"));
  EXPECT_THAT(remarks_of("A: 2;"), ElementsAre(HasSubstr("'A' has no P_Key; 0x0001 is chosen")));
  EXPECT_THAT(remarks_of("Default=0x7fff: ALL, SELF=full;"), IsEmpty());
}

struct Wrong {
  const char* text;
  const char* fault;
};

class PartitionFaults : public testing::TestWithParam<Wrong> {};

TEST_P(PartitionFaults, AreOneLineWithPlaceAndRemedy) {
  EXPECT_THAT(faults_of(GetParam().text), ElementsAre(HasSubstr(GetParam().fault)));
  for (const std::string& fault : faults_of(GetParam().text))
    EXPECT_TRUE(test::is_well_placed(GetParam().text, fault)) << fault;
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    PartitionFaults,
    testing::Values(
        Wrong{"A=0x10: 0x1=full\nB=0x11: 0x2;",
              "p.conf:2:1: 'B' is no port; a GUID such as 0x0002c90300000001, ALL, ALL_CAS, "
              "ALL_SWITCHES, ALL_ROUTERS or SELF, or ';' at the end of the definition that begins "
              "in line 1"},
        Wrong{"A=0x10: 0xfg;", "p.conf:1:9: '0xfg' is no port"},
        Wrong{"A=0x10: ALLL;", "p.conf:1:9: 'ALLL' is no port; the nearest is ALL; a GUID such as"},
        Wrong{"A=0x10:\n  ALL_SWITCH , 2;", "p.conf:2:3: 'ALL_SWITCH' is no port; the nearest is "},
        Wrong{"A=0x10: 0;", "p.conf:1:9: '0' is no port"},
        Wrong{"A=0x10: 1=fulll;",
              "p.conf:1:11: no membership 'fulll'; the nearest is full; full, limited or both"},
        Wrong{"A=0x10: 1=;", "no membership ''"},
        Wrong{"\n\nA=0x10;", "p.conf:3: 'A=0x10' has no ':'; NAME=0x…: MEMBERS;"},
        Wrong{"A=0x10", "p.conf:1: 'A=0x10' has no ':'"},
        Wrong{"A=0x10000: ALL;", "p.conf:1:3: '0x10000' is no P_Key; 0x0001 to 0x7fff"},
        Wrong{"A=x: ALL;", "'x' is no P_Key"},
        Wrong{"9z: ALL;", "'9z' is no P_Key"},
        Wrong{"A=1,ipob: ALL;",
              "p.conf:1:5: no flag 'ipob'; the nearest is ipoib; ipoib, indx0, defmember=, rate="},
        Wrong{"A=1,defmember=most: ALL;", "no membership 'most'"},
        Wrong{"A=1,rate=1: ALL;", "rate=1; a number from 2 to 24"},
        Wrong{"A=1,mtu=2048: ALL;", "mtu=2048; a number from 1 to 5"},
        Wrong{"A=1,sl=16: ALL;", "sl=16; a number from 0 to 15"},
        Wrong{"A=1,scope=0: ALL;", "scope=0; a number from 1 to 15"},
        Wrong{"A=1,FlowLabel=0x100000: ALL;", "FlowLabel=0x100000; a number from 0 to 1048575"},
        Wrong{"A=1,TClass: ALL;", "TClass=; a number from 0 to 255"},
        Wrong{"A=1,Q_Key=-1: ALL;", "Q_Key=-1; a number"},
        Wrong{"A=1: mgid=fe80::1;", "'fe80::1' is no multicast GID; one such as ff12:401b::16"},
        Wrong{"A=1: mgid=ff12::1::2;", "is no multicast GID"},
        Wrong{"A=1:\nmgid=ff12::1,ALL;", "p.conf:2:14: no flag 'ALL' of a group"},
        Wrong{
            "A=1: mgid=ff12:401b:8002::1;",
            "p.conf:1: ff12:401b:8002:0:0:0:0:1 names P_Key 0x8002; 0, or 0x8001 of its partition"},
        Wrong{"A=1,mtu=5: mgid=ff12:401b::1,mtu=4;",
              "mtu of the IP group ff12:401b:0:0:0:0:0:1 is 4; 5, as its partition has"},
        Wrong{"A=1: mgid=ff12:401b::1,rate=7;", "rate of the IP group"}));

TEST(PartitionFile, EveryFaultIsSaidOnce) {
  EXPECT_THAT(faults_of("A=1: x;\nB=2: y,z;"), SizeIs(3));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "A=1: x;\n";
  EXPECT_THAT(faults_of(many), SizeIs(20));
}

TEST(PartitionWords, Addresses) {
  using partition_text::read_gid;
  EXPECT_EQ(read_gid("ff12:401b:0:0:0:0:ffff:ffff"), (Gid{0xff12401b00000000, Guid{0xffffffff}}));
  EXPECT_EQ(read_gid("::1"), (Gid{0, Guid{1}}));
  EXPECT_EQ(read_gid("ff02::"), (Gid{0xff02000000000000, Guid{}}));
  EXPECT_EQ(read_gid("::"), (Gid{}));
  for (const char* wrong : {"",
                            "1",
                            ":1",
                            "1:",
                            "1:2:3:4:5:6:7",
                            "1:2:3:4:5:6:7:8:9",
                            "1::2::3",
                            "12345::",
                            "g::",
                            "1:2:3:4:5:6:7::8",
                            ":::",
                            "ff12::1 "}) {
    EXPECT_FALSE(read_gid(wrong)) << wrong;
  }
}

}  // namespace partition_file_test
}  // namespace smd
