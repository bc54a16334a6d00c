#include "sim-backend/serve/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim-serve/served_fabric.h"

namespace smd::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct ConsoleTest : testing::Test {
  bool up() { return served.fabric.link_up(0, PortNum{1}); }

  ServedFabric served;
  Console console{served.fabric, served.board};
};

TEST_F(ConsoleTest, PullsAndReplacesCablesInEverySpelling) {
  const std::pair<const char*, const char*> spellings[] = {
      {"Unlink \"sw\"[1]", "ReLink \"sw\"[1]"},
      {"unlink sw[1]\n", "relink sw[1]\n"},
      {"u sw:1", "r sw:1"},
      {"link down sw:1", "link up sw:1"},
      {"Unlink \"host-a\"", "ReLink \"host-a\""},
      {"u 0x0000000000000010[1]", "r \"sw\":1"},
  };
  for (const auto& [down, up_again] : spellings) {
    EXPECT_EQ(console.run(down), "1 link down\n");
    EXPECT_FALSE(up()) << down;
    EXPECT_EQ(console.run(up_again), "1 link up\n");
    EXPECT_TRUE(up()) << up_again;
  }
}

TEST_F(ConsoleTest, ShowsRegistersOfCongestionControl) {
  const std::string power_on = console.run("congestion \"host-a\"");
  EXPECT_THAT(power_on, StartsWith("\n\"host-a\"[1]\nkey 0x0000000000000000 protect false"));
  EXPECT_THAT(power_on, HasSubstr("\ncontrol 0x0 map 0x0000\nfrom 0 limit 0\n"));
  EXPECT_THAT(console.run("congestion sw"), HasSubstr("threshold 0 packet size 0"));
  const std::string all = console.run("congestion");
  for (const char* agent : {"\"sw\"[0]", "\"host-a\"[1]", "\"host-b\"[1]"})
    EXPECT_THAT(all, HasSubstr(agent));
  EXPECT_THAT(console.run("congestion nobody"), StartsWith("# "));
}

TEST_F(ConsoleTest, ANodeWithoutAPortMeansAllItsCables) {
  EXPECT_EQ(console.run("Unlink sw"), "2 links down\n");
  EXPECT_FALSE(served.fabric.link_up(0, PortNum{2}));
}

TEST_F(ConsoleTest, MovesACable) {
  EXPECT_EQ(console.run("Link \"host-a\"[1] \"sw\"[4]"), "linked\n");
  EXPECT_TRUE(served.fabric.link_up(0, PortNum{4}));
  EXPECT_FALSE(up());
  EXPECT_EQ(console.run("Link sw:1 host-a:1"), "linked\n");
  EXPECT_TRUE(up());
  EXPECT_FALSE(served.fabric.link_up(0, PortNum{4}));
}

TEST_F(ConsoleTest, SwitchesNodesOffAndOn) {
  EXPECT_EQ(console.run("node down host-a"), "host-a is off\n");
  EXPECT_FALSE(up());
  EXPECT_EQ(console.run("Up host-a"), "host-a is on\n");
  EXPECT_TRUE(up());
}

TEST_F(ConsoleTest, APortAfterItsNodeMeansItsCableAlone) {
  EXPECT_EQ(console.run("down sw 1"), "1 link down\n");
  EXPECT_FALSE(up());
  EXPECT_TRUE(served.fabric.link_up(0, PortNum{2})) << "the switch stays on";
  EXPECT_EQ(console.run("up \"sw\" 1"), "1 link up\n");
  EXPECT_EQ(console.run("node down sw:1"), "1 link down\n");
  EXPECT_EQ(console.run("Up sw[1]"), "1 link up\n");
  EXPECT_TRUE(up());
}

TEST_F(ConsoleTest, AWordTooManyChangesNothing) {
  const unsigned client = served.connect(77, "host-a");
  unsigned changes = 0;
  served.fabric.on_change([&](std::uint32_t, FabricChange) { ++changes; });
  const char* lines[] = {"down sw 1 2",
                         "down sw now",
                         "up sw now",
                         "node down sw now",
                         "node up sw[1] now",
                         "unlink sw 1 again",
                         "relink sw[1] sw[2]",
                         "link down sw[1] sw[2]",
                         "link \"host-a\"[1] sw[4] sw[5]",
                         "clear sw host-a",
                         "clear sw[1] now",
                         "reboot sw host-a",
                         "silent sw now",
                         "speak sw now",
                         "drop 100 sw[1]",
                         "dump sw host-a",
                         "congestion sw host-a",
                         "route 1 2 3",
                         "attached 0",
                         "x 0 1",
                         "counters sw",
                         "start now",
                         "help drop",
                         "quit now"};
  for (const char* line : lines) {
    const std::string answer = console.run(line);
    EXPECT_THAT(answer, StartsWith("# '")) << line;
    EXPECT_THAT(answer, testing::EndsWith("' is more than this command takes\n")) << line;
    EXPECT_EQ(changes, 0u) << line;
    EXPECT_EQ(served.board.clients().size(), 1u) << line;
    EXPECT_FALSE(console.wants_to_quit()) << line;
  }
  EXPECT_THAT(console.run("silent sw 3"), StartsWith("# "));
  served.send(client, directed_get(AttributeId::NodeInfo, {1}, 1));
  EXPECT_EQ(served.wire.got[client].size(), 1u)
      << "the switch answers, over cables that lose nothing";
}

TEST_F(ConsoleTest, AnswersAreOneLineWhateverWasAsked) {
  EXPECT_EQ(console.run("\x1b[31mfrob"), "# unknown command '\\x1b[31mfrob'; help lists them\n");
}

TEST_F(ConsoleTest, ClearLeavesTheLinksDown) {
  EXPECT_THAT(console.run("Clear \"host-a\""), HasSubstr("reset"));
  EXPECT_FALSE(up());
  console.run("ReLink host-a");
  EXPECT_TRUE(up());
}

TEST_F(ConsoleTest, WhatIsWrongChangesNothingAndIsOneLine) {
  const char* lines[] = {"frobnicate",
                         "Unlink",
                         "Unlink \"host-z\"[1]",
                         "Unlink sw[9]",
                         "Unlink sw[0]",
                         "Unlink sw[-1]",
                         "Unlink sw[1",
                         "Unlink sw[]",
                         "Unlink \"sw[1]",
                         "Unlink \"sw\"[1",
                         "Unlink \"\"[1]",
                         "Link sw[1]",
                         "Link sw[1] sw",
                         "Drop 101",
                         "Drop",
                         "Drop x",
                         "Route 1",
                         "Route 1 2",
                         "X 9",
                         "X",
                         "node sideways sw",
                         "Down sw[9]",
                         "Down \xff\xfe",
                         "u sw[99999999999]",
                         "link down",
                         "Silent nobody"};
  for (const char* line : lines) {
    const std::string answer = console.run(line);
    EXPECT_THAT(answer, StartsWith("# ")) << line;
    EXPECT_EQ(std::count(answer.begin(), answer.end(), '\n'), 1) << line;
    EXPECT_TRUE(up()) << line;
  }
  EXPECT_THAT(console.run("frobnicate"), HasSubstr("help lists them"));
}

TEST_F(ConsoleTest, EmptyLinesAndCommentsAreSilent) {
  EXPECT_EQ(console.run(""), "");
  EXPECT_EQ(console.run("  \t\r\n"), "");
  EXPECT_EQ(console.run("# a script's comment"), "");
}

TEST_F(ConsoleTest, TellsWhoIsAttachedAndDetaches) {
  EXPECT_EQ(console.run("Attached"), "no clients\n");
  served.connect(77, "host-a");
  EXPECT_THAT(console.run("Attached"), HasSubstr("Client 0: pid 77 connected at \"host-a\""));
  EXPECT_EQ(console.run("X 0"), "client 0 is detached\n");
  EXPECT_EQ(console.run("a"), "no clients\n");
}

TEST_F(ConsoleTest, DumpsNodesWithTheirCables) {
  EXPECT_THAT(console.run("Dump sw"), HasSubstr("\"host-b\"[1]"));
  EXPECT_THAT(console.run("Dump"), HasSubstr("# dumped 3 nodes\n"));
}

TEST_F(ConsoleTest, Counts) {
  const unsigned client = served.connect(1, "host-a");
  served.send(client, directed_get(AttributeId::NodeInfo, {1}, 1));
  EXPECT_THAT(console.run("Counters"), HasSubstr("from_clients 1\n"));
}

TEST_F(ConsoleTest, QuitsOnlyWhenTold) {
  console.run("help");
  EXPECT_FALSE(console.wants_to_quit());
  console.run("Quit");
  EXPECT_TRUE(console.wants_to_quit());
}

}  // namespace
}  // namespace smd::sim
