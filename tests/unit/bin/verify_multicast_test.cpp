// Multicast tables and members of groups as text, and the verdict on them: every fault put in and
// named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim-backend/topology/snapshot.h"
#include "smd/bin/verify_report.h"

namespace smd::bin {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kMcfdbs =
    "\nSwitch 0x0000000000000010\nLID    : Out Port(s)\n0xC000 : 0x001  0x003 \n0xC001 :\n"
    "\nSwitch 0x0000000000000011\nLID    : Out Port(s)\n0xC000 : 0x002 \n";

std::string mft_fault(const std::string& text) {
  const auto dump = parse_mft_dump(text, "mcfdbs");
  return dump ? "none" : print_fault(dump.error().front());
}

TEST(MftDump, ReadsWhatOpensmWrites) {
  const auto dump = parse_mft_dump(kMcfdbs, "mcfdbs");
  ASSERT_TRUE(dump) << print_fault(dump.error().front());
  ASSERT_THAT(*dump, SizeIs(3));
  EXPECT_EQ(
      (*dump)[0],
      (DumpedCopies{
          .line = 4, .guid = Guid{0x10}, .mlid = Lid{0xc000}, .ports = {PortNum{1}, PortNum{3}}}));
  EXPECT_THAT((*dump)[1].ports, IsEmpty());
  EXPECT_EQ((*dump)[2].guid, Guid{0x11});
}

TEST(MftDump, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(mft_fault(""), HasSubstr("mcfdbs: no multicast tables"));
  EXPECT_THAT(mft_fault("0xC000 : 0x001\n"), HasSubstr("mcfdbs:1: an entry outside a table"));
  EXPECT_THAT(mft_fault("Switch 0x10\n0xBFFF : 0x001\n"),
              HasSubstr("mcfdbs:2: \"0xBFFF : 0x001\" is no entry"));
  EXPECT_THAT(mft_fault("Switch 0x10\n0xC000 : 0x0FF\n"), HasSubstr("is no entry"));
  EXPECT_THAT(mft_fault("Switch 0x10\n0xC000 : 3 2\n"), HasSubstr("ports of an entry ascend"));
  EXPECT_THAT(mft_fault("Switch 0x10\n0xC001 : 1\n0xC000 : 1\n"),
              HasSubstr("MLIDs of a table ascend"));
  EXPECT_THAT(mft_fault("Switch 0x10\nSwitch 0x10\n"), HasSubstr("again after line 1"));
  EXPECT_THAT(mft_fault("Switch ten\n"), HasSubstr("begins with: Switch 0x"));
}

constexpr const char* kSaquery =
    "MCMemberRecord member dump:\n"
    "\t\tMGID....................ff12:401b:ffff::1\n\t\tMlid....................0xC000\n"
    "\t\tPortGid.................fe80::20\n\t\tScopeState..............0x21\n"
    "\t\tProxyJoin...............0x0\n\t\tNodeDescription.........host-0\n"
    "MCMemberRecord member dump:\n"
    "\t\tMlid....................0xC000\n\t\tPortGid.................fe80::21\n"
    "\t\tScopeState..............0x24\n";

constexpr const char* kSaDump =
    "Service Record: id=0x1\n\n"
    "MC Group 0xc000  (well known): mgid=0xff12401bffff0000:0x0000000000000001 "
    "port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000b1b mlid=0xc000 mtu=0x84\n\n"
    "mcm_port: port_gid=0xfe80000000000000:0x0000000000000020 scope_state=0x21 proxy_join=0x0\n\n"
    "mcm_port: port_gid=0xfe80000000000000:0x0000000000000021 scope_state=0x24 proxy_join=0x0\n";

std::string member_fault(const std::string& text) {
  const auto dump = parse_member_dump(text, "groups");
  return dump ? "none" : print_fault(dump.error().front());
}

TEST(MemberDump, ReadsWhatSaqueryPrintsAndWhatOpensmKeeps) {
  for (const char* text : {kSaquery, kSaDump}) {
    const auto dump = parse_member_dump(text, "groups");
    ASSERT_TRUE(dump) << print_fault(dump.error().front());
    ASSERT_THAT(*dump, SizeIs(2));
    EXPECT_EQ((*dump)[0].mlid, Lid{0xc000});
    EXPECT_EQ((*dump)[0].port_guid, Guid{0x20});
    EXPECT_EQ((*dump)[0].join_state, 1);
    EXPECT_EQ((*dump)[1].port_guid, Guid{0x21});
    EXPECT_EQ((*dump)[1].join_state, 4);
  }
  const auto nobody = parse_member_dump("MC Group 0xc000: mlid=0xc000 x\n", "groups");
  ASSERT_TRUE(nobody);
  EXPECT_THAT(*nobody, IsEmpty());
}

TEST(MemberDump, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(member_fault("\n"), HasSubstr("groups: no members of groups"));
  EXPECT_THAT(member_fault("MCMemberRecord group dump:\nMlid....0xC000\nSL....0x0\n"),
              HasSubstr("groups:1: a record without Mlid, PortGid or ScopeState"));
  EXPECT_THAT(member_fault("MCMemberRecord member dump:\nMlid....0x12\n"),
              HasSubstr("groups:2: \"0x12\" is no multicast LID"));
  EXPECT_THAT(member_fault("MCMemberRecord member dump:\nPortGid....fe80\n"),
              HasSubstr("is no GID of a port"));
  EXPECT_EQ(member_fault("MCMemberRecord member dump:\nMlid....0xC000\nPortGid....::\n"
                         "ScopeState....0x20\n"),
            "groups:3: members are not told to who asks without the manager's key: saquery "
            "--smkey KEY -m");
  EXPECT_THAT(member_fault("MCMemberRecord member dump:\nScopeState....0x20\n"),
              HasSubstr("is no scope and JoinState"));
  EXPECT_THAT(member_fault("mcm_port: port_gid=0xfe80:0x20 scope_state=0x21\n"),
              HasSubstr("a member before its group"));
  EXPECT_THAT(member_fault("what is this\n"), HasSubstr("is no line of a record"));
}

// The verdict: three switches in a ring, a host on each. Port 1 leads to the right, 2 to the left,
// 3 to the host.

std::string ring() {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i), right = std::to_string((i + 1) % 3);
    text += "switchguid=0x1" + n + "\nSwitch 3 \"S" + n + "\" # \"sw-" + n +
            "\" enhanced port 0 lid " + std::to_string(4 + i) + " lmc 0\n[1] \"S" + right +
            "\"[2]\n[3] \"H" + n + "\"[1]\ncaguid=0x3" + n + "\nCa 1 \"H" + n + "\" # \"host-" + n +
            "\"\n[1](2" + n + ") \"S" + n + "\"[3] # lid " + std::to_string(1 + i) +
            " lmc 0 \"sw-" + n + "\" lid " + std::to_string(4 + i) + " 4xEDR\n";
  }
  return text;
}

/// Nobody goes by the cable between the first and the last switch, unless `round`: then everybody
/// goes to the right, but from the first to the last.
std::string unicast(bool round) {
  std::string text;
  for (int sw = 0; sw < 3; ++sw) {
    text += "Unicast lids [0x0-0x6] of switch DR path guid 0x1" + std::to_string(sw) + " (s):\n";
    for (int lid = 1; lid <= 6; ++lid) {
      const int at = (lid - 1) % 3;
      const int port = at == sw                                 ? (lid <= 3 ? 3 : 0)
                       : (round ? sw != 0 || at != 2 : at > sw) ? 1
                                                                : 2;
      text += "0x000" + std::to_string(lid) + " 00" + std::to_string(port) + "\n";
    }
    text += "6 valid lids dumped\n";
  }
  return text;
}

struct Given {
  std::vector<std::vector<int>> copies;  // by switch: ports
  std::vector<int> members{0, 1, 2};     // hosts; one below 0 only sends
  bool round = false;
  bool groups = true;
  bool one_sender = false;
};

MulticastReport judge(const Given& given) {
  const auto spec = sim::parse_fabric(ring(), "net");
  Dumps dumps{.fabric_file = "net", .lft_file = "lft"};
  dumps.lft = parse_lft_dump(unicast(given.round), "lft").value();
  const VerifyInput input = join_dumps(*spec, dumps).value();
  std::vector<DumpedCopies> copies;
  for (std::size_t sw = 0; sw < given.copies.size(); ++sw) {
    DumpedCopies entry{.line = 1, .guid = Guid{0x10 + sw}, .mlid = Lid{0xc000}, .ports = {}};
    for (const int port : given.copies[sw])
      entry.ports.emplace_back(static_cast<std::uint8_t>(port));
    copies.push_back(entry);
  }
  std::optional<std::vector<DumpedMember>> members;
  if (given.groups) {
    members.emplace();
    for (const int host : given.members) {
      members->push_back({.line = 1,
                          .mlid = Lid{0xc000},
                          .port_guid = Guid{0x20u + static_cast<unsigned>(host < 0 ? -host : host)},
                          .join_state = host < 0 ? std::uint8_t{4} : std::uint8_t{1}});
    }
  }
  auto joined = join_multicast(input, copies, "mft", members, "groups");
  EXPECT_TRUE(joined) << print_fault(joined.error().front());
  if (given.one_sender) silence_others(*joined);
  return verify_multicast(input, *joined);
}

TEST(VerifyMulticast, AChainIsSound) {
  const MulticastReport report = judge({.copies = {{1, 3}, {1, 2, 3}, {2, 3}}});
  EXPECT_TRUE(report.sound()) << print_multicast(report);
  EXPECT_THAT(report.first_faults, IsEmpty());
  EXPECT_EQ(report.members, 3u);
  EXPECT_EQ(report.acyclic, true);
  EXPECT_EQ(report.lock_step, true);
  EXPECT_EQ(report.quality.depth, 2u);
  EXPECT_EQ(report.quality.shortest_depth, 1u);
  EXPECT_EQ(report.cables.most, 1u);
  EXPECT_THAT(print_multicast(report),
              HasSubstr("1 MLIDs: 0 in loops, 0 with duplicates, 0 that miss a receiver"));
  EXPECT_EQ(multicast_json(report)["trees"]["depth"], 2);
}

TEST(VerifyMulticast, EveryFaultIsNamed) {
  const MulticastReport loop = judge({.copies = {{1, 3}, {1, 3}, {1, 3}}});
  EXPECT_EQ(loop.loops, 1u);
  EXPECT_THAT(loop.first_faults,
              testing::Contains(HasSubstr("MLID 0xc000: what is sent at sw-0 goes round by")));
  EXPECT_FALSE(loop.sound());
  EXPECT_EQ(loop.acyclic, false) << "also a credit loop";

  // From sw-0 both ways round to sw-1, which copies no further.
  const MulticastReport twice = judge({.copies = {{1, 2, 3}, {3}, {2, 3}}});
  EXPECT_EQ(twice.duplicates, 1u);
  EXPECT_THAT(twice.first_faults.front(), HasSubstr("comes twice to sw-1:3"));

  const MulticastReport missed = judge({.copies = {{1, 3}, {2, 3}, {2, 3}}});
  EXPECT_EQ(missed.missed, 1u);
  EXPECT_THAT(missed.first_faults.front(), HasSubstr("sent at sw-0 does not come to sw-2:3"));
  EXPECT_EQ(missed.loops + missed.duplicates, 0u);

  const MulticastReport stray = judge({.copies = {{1, 3}, {1, 2, 3}, {2, 3}}, .members = {0, 1}});
  EXPECT_EQ(stray.strays, 1u);
  EXPECT_TRUE(stray.sound()) << "wasted, and no harm";
}

TEST(VerifyMulticast, WhoOnlySendsIsMissedNowhere) {
  EXPECT_TRUE(judge({.copies = {{1, 3}, {2, 3}, {2}}, .members = {0, 1, -2}}).sound());
  EXPECT_EQ(judge({.copies = {{1, 3}, {2, 3}, {}}, .members = {0, 1, -2}}).missed, 1u);
  EXPECT_TRUE(judge({.copies = {}, .members = {1}}).sound()) << "nobody else is there";
}

// What is sent at sw-1 goes both ways; who is at the others hears it, and is heard by nobody.
TEST(VerifyMulticast, OfOneSenderNobodyElseIsMissed) {
  Given given{.copies = {{3}, {1, 2}, {3}}, .members = {0, -1, 2}};
  EXPECT_EQ(judge(given).missed, 1u);
  given.one_sender = true;
  EXPECT_TRUE(judge(given).sound());
  given.copies = {{3}, {1, 2}, {}};
  EXPECT_EQ(judge(given).missed, 1u);
  given.copies = {{1, 3}, {1, 2}, {1, 3}};
  EXPECT_EQ(judge(given).loops, 1u);
  // Of two nobody is the one.
  given.copies = {{3}, {2}, {}};
  given.members = {0, -1, -2};
  EXPECT_EQ(judge(given).missed, 1u);
}

TEST(VerifyMulticast, CirclesWithUnicastRoutesAreFound) {
  EXPECT_EQ(judge({.copies = {}, .round = true}).acyclic, true) << "the routes alone";
  const MulticastReport report = judge({.copies = {{1, 3}, {1, 2, 3}, {2, 3}}, .round = true});
  EXPECT_EQ(report.acyclic, false);
  EXPECT_NE(report.cycle, "");
  EXPECT_FALSE(report.sound());
  EXPECT_THAT(print_multicast(report), HasSubstr("circles      FOUND: sw-"));
}

TEST(VerifyMulticast, WithoutGroupsLoopsAndDuplicatesAreFoundAllTheSame) {
  EXPECT_EQ(judge({.copies = {{1}, {1}, {1}}, .groups = false}).loops, 1u);
  const MulticastReport report = judge({.copies = {{1, 3}, {2, 3}, {}}, .groups = false});
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.members, 0u);
}

TEST(VerifyMulticast, WhatTheFabricDoesNotHaveIsAFault) {
  const auto spec = sim::parse_fabric(ring(), "net");
  Dumps dumps{.fabric_file = "net", .lft_file = "lft"};
  dumps.lft = parse_lft_dump(unicast(false), "lft").value();
  const VerifyInput input = join_dumps(*spec, dumps).value();
  const auto first = [&](const DumpedCopies& copies, std::optional<DumpedMember> member) {
    std::optional<std::vector<DumpedMember>> members;
    if (member) members.emplace({*member});
    const auto out = join_multicast(input, {copies}, "mft", members, "groups");
    return out ? "none" : print_fault(out.error().front());
  };
  EXPECT_THAT(first({.line = 3, .guid = Guid{0x99}, .mlid = Lid{0xc000}, .ports = {}}, {}),
              HasSubstr("mft:3: switch"));
  EXPECT_THAT(
      first({.line = 4, .guid = Guid{0x10}, .mlid = Lid{0xc000}, .ports = {PortNum{9}}}, {}),
      HasSubstr("which has ports 0 to 3"));
  EXPECT_THAT(
      first({.line = 4, .guid = Guid{0x10}, .mlid = Lid{0xc000}, .ports = {}},
            DumpedMember{.line = 7, .mlid = Lid{0xc000}, .port_guid = Guid{0x77}, .join_state = 1}),
      HasSubstr("groups:7: port"));
}

}  // namespace
}  // namespace smd::bin
