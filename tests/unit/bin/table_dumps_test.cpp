// Forwarding and SL-to-VL tables as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/bin/table_dumps.h"

namespace smd::bin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kDumpFts =
    R"(Unicast lids [0x0-0x4] of switch DR path slid 0; dlid 0; 0,1 guid 0x0002000000000000 (sw-0 guid 0x1):
  Lid  Out   Destination
       Port     Info 
0x0001 001 : (Channel Adapter portguid 0x0001000000000001: 'host-00000')
0x0002 000 : (Switch portguid 0x0002000000000000: 'sw-0')
0x0004 017 : (Channel Adapter portguid 0x0001000000000003: 'portguid 0x5')
3 valid lids dumped 
Unicast lids [0x0-0x4] of switch DR path slid 0; dlid 0; 0,1,3 guid 0x0002000000000001 (sw-1):
  Lid  Out   Destination
       Port     Info 
0 valid lids dumped 
)";

DumpedEntry entry(unsigned lid, unsigned port) {
  return {Lid{static_cast<std::uint16_t>(lid)}, PortNum{static_cast<std::uint8_t>(port)}};
}

std::string first_fault(const std::string& text) {
  const auto dump = parse_lft_dump(text, "lft");
  return dump ? "none" : print_fault(dump.error().front());
}

TEST(LftDump, ReadsWhatDumpFtsPrints) {
  const auto dump = parse_lft_dump(kDumpFts, "lft");
  ASSERT_TRUE(dump) << print_fault(dump.error().front());
  ASSERT_THAT(dump->switches, SizeIs(2));
  EXPECT_EQ(dump->switches[0].guid, Guid{0x0002000000000000});
  EXPECT_EQ(dump->switches[0].top, Lid{4});
  EXPECT_EQ(dump->switches[0].lid, kUnassignedLid);
  EXPECT_THAT(dump->switches[0].entries, ElementsAre(entry(1, 1), entry(2, 0), entry(4, 17)));
  EXPECT_EQ(dump->switches[1].line, 8);
  EXPECT_THAT(dump->switches[1].entries, IsEmpty());
  ASSERT_THAT(dump->owners, SizeIs(5));
  EXPECT_EQ(dump->owners[1].port_guid, Guid{0x0001000000000001});
  EXPECT_EQ(dump->owners[3].port_guid, Guid{});
  EXPECT_EQ(dump->owners[4].port_guid, Guid{0x0001000000000003}) << "not what the name says";
}

TEST(LftDump, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const auto dump = parse_lft_dump("\xEF\xBB\xBF" + std::string(kDumpFts), "lft");
  ASSERT_TRUE(dump) << print_fault(dump.error().front());
  EXPECT_THAT(dump->switches, SizeIs(2));
}

TEST(LftDump, ReadsWhatOpensmWrites) {
  const auto dump = parse_lft_dump(
      "Unicast lids [0-3] of switch Lid 2 guid 0x0002000000000000 ('sw-0'):\n"
      "0x0001 001 # Channel Adapter portguid 0x0001000000000001: 'host-00000'\n"
      "0x0002 000 # Switch portguid 0x0002000000000000: 'sw-0'\n"
      "0x0003 002 # unknown node and type\n"
      "3 lids dumped\n",
      "opensm-lfts.dump");
  ASSERT_TRUE(dump) << print_fault(dump.error().front());
  EXPECT_EQ(dump->switches[0].lid, Lid{2});
  EXPECT_EQ(dump->switches[0].top, Lid{3});
  EXPECT_THAT(dump->switches[0].entries, ElementsAre(entry(1, 1), entry(2, 0), entry(3, 2)));
  EXPECT_EQ(dump->owners[2].port_guid, Guid{0x0002000000000000});
}

TEST(LftDump, ReadsOptionsOfDumpFts) {
  const std::string heading = "Unicast lids [0x0-0x9] of switch Lid 3 guid 0x2 (s):\r\n";
  const auto brief =
      parse_lft_dump(heading + "0x0001 003 \n0x0002 004 \n2 valid lids dumped \n", "");
  ASSERT_TRUE(brief);
  EXPECT_THAT(brief->switches[0].entries, ElementsAre(entry(1, 3), entry(2, 4)));
  EXPECT_THAT(brief->owners, IsEmpty());

  const auto all = parse_lft_dump(heading +
                                      "0x0001 003 : (Channel Adapter portguid 0x7: 'h')\n"
                                      "0x0002 004 : (path #2 out of 2: portguid 0x7)\n"
                                      "0x0003 255 : (illegal port)\n"
                                      "0x0004 063 : (path #3 - illegal port)\n"
                                      "4 lids dumped \n\n*** WARNING ***: this command …\n",
                                  "");
  ASSERT_TRUE(all) << print_fault(all.error().front());
  EXPECT_THAT(all->switches[0].entries, ElementsAre(entry(1, 3), entry(2, 4)));
  EXPECT_EQ(all->owners[2].port_guid, Guid{7});
}

TEST(LftDump, SaysWhatIsWrongAndWhere) {
  const std::string head = "Unicast lids [0x0-0x9] of switch Lid 3 guid 0x2 (s):\n";
  EXPECT_THAT(first_fault(""), HasSubstr("lft: no forwarding tables; the output of dump_fts"));
  EXPECT_THAT(first_fault("hello\n"), HasSubstr("lft:1: \"hello\" is no line of a forwarding"));
  EXPECT_THAT(first_fault("0x0001 003\n"), HasSubstr("lft:1: an entry outside a table"));
  EXPECT_THAT(first_fault(head), HasSubstr("lft:1: the table that begins here does not end"));
  EXPECT_THAT(first_fault(head + "0x0001 003\n0x0002 0"), HasSubstr("the file is cut"));
  EXPECT_THAT(first_fault(head + "0x0001\n"), HasSubstr("lft:2: an entry is a LID and a port"));
  EXPECT_THAT(first_fault(head + "0x0001 256\n"), HasSubstr("a port from 0 to 255"));
  EXPECT_THAT(first_fault(head + "0x0001 3x\n"), HasSubstr("lft:2: an entry is"));
  EXPECT_THAT(first_fault(head + "0xc000 003\n"), HasSubstr("LID 0xc000; unicast LIDs end"));
  EXPECT_THAT(first_fault(head + "0x2 003\n0x2 003\n"), HasSubstr("lft:3: LID 0x2 after 0x2"));
  EXPECT_THAT(first_fault(head + "0x2 003\n2 valid lids dumped\n"),
              HasSubstr("lft:3: 2 LIDs announced, 1 listed"));
  EXPECT_THAT(first_fault(head + "0 valid lids dumped\n" + head),
              HasSubstr("lft:3: switch 0x0000000000000002 again after line 1"));
  EXPECT_THAT(first_fault("Unicast lids [0x0-0x9] of switch Lid 3 (s):\n"),
              HasSubstr("lft:1: a table begins with"));
  EXPECT_THAT(first_fault("Unicast lids [0x0-0xc000] of switch Lid 3 guid 0x2 (s):\n"),
              HasSubstr("LIDs up to 49152; unicast LIDs end at 49151"));
  EXPECT_THAT(first_fault("Multicast mlids [0xc000-0xc000] of switch …\n"),
              HasSubstr("unicast ones come from dump_fts without -M"));
  EXPECT_THAT(first_fault(head + "0x1 001 : (Switch portguid 0x5: 's')\n1 valid lids dumped\n"
                                 "Unicast lids [0x0-0x9] of switch Lid 4 guid 0x3 (t):\n"
                                 "0x1 001 : (Switch portguid 0x6: 's')\n1 valid lids dumped\n"),
              HasSubstr("lft:5: LID 0x1 is port 0x0000000000000006 here but 0x0000000000000005 in "
                        "line 2"));
}

TEST(LftDump, AFaultyHeadingDoesNotBlameItsEntries) {
  const auto dump = parse_lft_dump(
      "Unicast lids of some switch\n0x0001 003\n0x0002 003\n2 valid lids dumped\n", "lft");
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error(), SizeIs(1));
}

TEST(LftDump, NamesAtMostTwentyFaultsAndKeepsTerminalsSafe) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\x1b[31mred\n";
  const auto dump = parse_lft_dump(text, "lft");
  ASSERT_FALSE(dump);
  EXPECT_THAT(dump.error(), SizeIs(20));
  EXPECT_THAT(dump.error()[0].message, HasSubstr("?[31mred"));
}

constexpr const char* kSl2vl =
    "Switch 0x0002000000000000, base LID 2, \"sw-0\"\n"
    "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
    "#--------------------------------------------------------\n"
    "0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n"
    "1   1   : 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15\n"
    "#--------------------------------------------------------\n"
    "\n"
    "Channel Adapter 0x0001000000000001, base LID 1, \"host-00000\"\n"
    "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
    "0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n";

TEST(Sl2vlDump, ReadsWhatOpensmWrites) {
  const auto dump = parse_sl2vl_dump(kSl2vl, "sl2vl");
  ASSERT_TRUE(dump) << print_fault(dump.error().front());
  ASSERT_THAT(*dump, SizeIs(1)) << "adapters are left out";
  EXPECT_EQ(dump->front().guid, Guid{0x0002000000000000});
  ASSERT_THAT(dump->front().rows, SizeIs(2));
  EXPECT_EQ(dump->front().rows[0].in, PortNum{0});
  EXPECT_EQ(dump->front().rows[0].out, PortNum{1});
  EXPECT_EQ(dump->front().rows[0].vls[9], Vl{1});
  EXPECT_EQ(dump->front().rows[1].vls[0], kManagementVl);
}

std::string sl2vl_fault(const std::string& text) {
  const auto dump = parse_sl2vl_dump(text, "sl2vl");
  return dump ? "none" : print_fault(dump.error().front());
}

TEST(Sl2vlDump, SaysWhatIsWrongAndWhere) {
  const std::string head = "Switch 0x2, base LID 2, \"s\"\n";
  const std::string row = " : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
  EXPECT_THAT(sl2vl_fault(""), HasSubstr("sl2vl: no SL-to-VL tables"));
  EXPECT_THAT(sl2vl_fault("Switch two\n"), HasSubstr("sl2vl:1: the table of a switch begins with"));
  EXPECT_THAT(sl2vl_fault("0 1" + row), HasSubstr("sl2vl:1: a row outside a table"));
  EXPECT_THAT(sl2vl_fault(head + head), HasSubstr("sl2vl:2: switch 0x0000000000000002 again"));
  EXPECT_THAT(sl2vl_fault(head + "0 1 : 0 0 0\n"), HasSubstr("sl2vl:2: \"0 1 : 0 0 0\" is no row"));
  EXPECT_THAT(sl2vl_fault(head + "0 1 : 16 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), HasSubstr("no row"));
  EXPECT_THAT(sl2vl_fault(head + "0 1 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), HasSubstr("no row"));
  EXPECT_THAT(sl2vl_fault(head + "0 255" + row), HasSubstr("no row"));
  EXPECT_THAT(sl2vl_fault(head + "1 1" + row + "0 1" + row),
              HasSubstr("sl2vl:3: ports 0 to 1 after 1 to 1"));
}

constexpr const char* kRecord =
    "PathRecord dump:\n"
    "\t\tservice_id..............0x0000000000000000\n"
    "\t\tdgid....................fe80::2:0:0:3\n"
    "\t\tdlid....................17\n"
    "\t\tslid....................3\n"
    "\t\tsl......................0x5\n"
    "\t\tmtu.....................0x85\n";

TEST(PathSlDump, ReadsWhatSaqueryPrints) {
  const auto paths = parse_path_sl_dump(std::string(kRecord) + kRecord, "sl");
  ASSERT_TRUE(paths) << print_fault(paths.error().front());
  ASSERT_THAT(*paths, SizeIs(2));
  EXPECT_EQ(paths->front(), (DumpedPath{1, Lid{3}, Lid{17}, Sl{5}}));
  EXPECT_EQ(paths->back().line, 8);
}

TEST(PathSlDump, SaysWhatIsWrongAndWhere) {
  const auto first = [](const std::string& text) {
    const auto paths = parse_path_sl_dump(text, "sl");
    return paths ? "none" : print_fault(paths.error().front());
  };
  EXPECT_THAT(first(""), HasSubstr("sl: no paths; saquery -p prints"));
  EXPECT_THAT(first("hello\n"), HasSubstr("sl:1: \"hello\" is no line of a PathRecord"));
  EXPECT_THAT(first("PathRecord dump:\nslid....1\n"), HasSubstr("sl:1: a PathRecord without"));
  EXPECT_THAT(first("PathRecord dump:\nsl....16\n"), HasSubstr("sl:2: \"16\" is no number from 0"));
  EXPECT_THAT(first("PathRecord dump:\nslid....\n"), HasSubstr("sl:2: \"\" is no number"));
}

}  // namespace
}  // namespace smd::bin
