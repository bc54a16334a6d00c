// Malformed files: every fault with its line and with what would be right, nothing half-read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/topology/net_lines.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace faults_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> faults_of(std::string_view text) {
  std::vector<std::string> lines;
  const auto spec = parse_fabric(text, "f");
  if (!spec) {
    for (const Fault& fault : spec.error()) lines.push_back(print_fault(fault));
  }
  return lines;
}

/// The text of a row follows a switch and an adapter on lines 1 to 4, joined, so line 5 is its
/// first.
constexpr std::string_view kGood = "Switch 4 \"s\"\n[1] \"h\"[1]\nCa 2 \"h\"\n[1] \"s\"[1]\n";

struct Wrong {
  std::string_view text;
  int line;
  const char* message;
};

void PrintTo(const Wrong& wrong, std::ostream* os) { *os << wrong.text; }

class Faulty : public ::testing::TestWithParam<Wrong> {};

TEST_P(Faulty, IsRefusedWithItsLine) {
  const Wrong& wrong = GetParam();
  const std::string text = std::string(kGood) + std::string(wrong.text);
  EXPECT_THAT(faults_of(text), ElementsAre(HasSubstr("f:" + std::to_string(wrong.line) + ": ")));
  EXPECT_THAT(faults_of(text), ElementsAre(HasSubstr(wrong.message)));
}

INSTANTIATE_TEST_SUITE_P(
    Nodes,
    Faulty,
    ::testing::Values(
        Wrong{"Switch 1000 \"big\"\n", 5, "a node has 1 to 254"},
        Wrong{"Switch 255 \"big\"\n", 5, "a node has 1 to 254"},
        Wrong{"Switch 0 \"none\"\n", 5, "a node has 1 to 254"},
        Wrong{"Switch \"x\"\n", 5, "Switch 36 \"id\""},
        Wrong{"Switch 36 x\n", 5, "an id in quotes"},
        Wrong{"Ca 1 \"open\n", 5, "Ca 36 \"id\""},
        Wrong{"Ca 1 \"\"\n", 5, "empty"},
        Wrong{"Ca 1 \"a@b\"\n", 5, "reserved"},
        Wrong{"Ca 1 \"a\" and more\n", 5, "only a comment may follow"},
        Wrong{"Ca 1 \"a\" # \"no end\n", 5, "no closing quote"},
        Wrong{"Switch 1 \"a\" # \"d\" base port 0 lid 49152 lmc 0\n", 5, "from 0 to 49151"},
        Wrong{"Switch 1 \"a\" # \"d\" base port 0 lid 3 lmc 8\n", 5, "from 0 to 7"},
        Wrong{
            "Ca 1 \"a\" # \"1234567890123456789012345678901234567890123456789012345678901234x\"\n",
            5,
            "64 bytes"},
        Wrong{"Ca 1 \"s\"\n", 5, "already taken by line 1"},
        Wrong{"caguid=0x100000\nCa 1 \"t\"\n", 6, "already taken by the node in line 3"},
        Wrong{"caguid=0x100001\nCa 1 \"t\"\n\n", 6, "port GUID 0x0000000000100002 is already"},
        Wrong{"switchguid=0\nSwitch 1 \"t\"\n", 6, "GUID 0"}));

INSTANTIATE_TEST_SUITE_P(
    Cables,
    Faulty,
    ::testing::Values(
        Wrong{"[2] \"s\"[9]\n", 5, "\"s\" has ports 1 to 4, not 9"},
        Wrong{"[3] \"s\"[2]\n", 5, "it has ports 1 to 2"},
        Wrong{"[0] \"s\"[2]\n", 5, "it has ports 1 to 2"},
        Wrong{"[2] \"s\"[0]\n", 5, "the other end's port is 1 to 254"},
        Wrong{"[2] \"s\"[300]\n", 5, "the other end's port is 1 to 254"},
        Wrong{"[2] \"s\"[2\n", 5, "the other end's port is 1 to 254"},
        Wrong{"[2] \"ss\"[2]\n", 5, "no node is called \"ss\": did you mean \"s\"?"},
        Wrong{"[2] \"h\"[2]\n", 5, "cabled to itself"},
        Wrong{"[1] \"s\"[2]\n", 5, "already has a cable in line 4"},
        Wrong{"[2] \"s\"[1]\n", 5, "line 2 says that \"s\"[1] leads to \"h\"[1]"},
        Wrong{"[x] \"s\"[2]\n", 5, "a port is a number in brackets"},
        Wrong{"[2\n", 5, "a port is a number in brackets"},
        Wrong{"[2] s[2]\n", 5, "a node id in quotes"},
        Wrong{"[2] \"s\"[2] w=0\n", 5, "a sum of 1 (1x)"},
        Wrong{"[2] \"s\"[2] w=32\n", 5, "a sum of 1 (1x)"},
        Wrong{"[2] \"s\"[2] e=16\n", 5, "a sum of 1 (FDR)"},
        Wrong{"[2] \"s\"[2] s\n", 5, "a sum of 1 (SDR)"},
        Wrong{"[2] \"s\"[2] s=8\n", 5, "a sum of 1 (SDR)"},
        Wrong{"[2] \"s\"[2] x=1\n", 5, "is no option"},
        Wrong{"[2] \"s\"[2] # lid 70000 lmc 0 \"s\" lid 1 4xEDR\n", 5, "from 0 to 49151"},
        Wrong{"\n[2] \"s\"[2]\n", 6, "a Switch or Ca line comes first"},
        Wrong{
            "Ca 1 \"a\"\n[1] \"s\"[2]\nCa 1 \"b\"\n[1] \"s\"[2]\n", 8, "already leads to \"a\"[1]"},
        Wrong{"[2] \"s\"[2] w=1\nCa 1 \"a\"\n[1] \"b\"[1] w=1\nCa 1 \"b\"\n[1] \"a\"[1]\n",
              7,
              "no width (w=) in common"},
        Wrong{"Ca 1 \"a\"\n[1] \"b\"[1] s=4\nCa 1 \"b\"\n[1] \"a\"[1]\n", 6, "no speed (s=)"},
        Wrong{"Ca 1 \"a\"\n[1] \"b\"[1] # 4xEDR\nCa 1 \"b\"\n[1] \"a\"[1] # 4xHDR\n",
              6,
              "one cable has one rate"}));

INSTANTIATE_TEST_SUITE_P(
    Lines,
    Faulty,
    ::testing::Values(Wrong{"Swich 4 \"t\"\n", 5, "a line begins with Switch"},
                      Wrong{"hello\n", 5, "\"hello\" is not understood"},
                      Wrong{"vendid=0x1000000\n", 5, "up to 0xffffff"},
                      Wrong{"devid=many\n", 5, "up to 0xffff"},
                      Wrong{"switchguid=none\n", 5, "switchguid=0x200000"},
                      Wrong{"caguid\n", 5, "needs = or +"},
                      Wrong{"switchguid=2c90300f0a080\n",
                            5,
                            "\"c90300f0a080\" after the number: only a comment "
                            "may follow, and a hexadecimal number begins with "
                            "0x"},
                      Wrong{"switchguid=0x20(20\n", 5, "\"(20\" after"},
                      Wrong{"switchguid=0x20(0x2x)\n", 5, "\"(0x2x)\" after"},
                      Wrong{"switchguid=0x20(20)1\n", 5, "\"1\" after"},
                      Wrong{"caguid+0x10 0x20\n", 5, "\"0x20\" after"},
                      Wrong{"rtguid=12,\n", 5, "\",\" after"},
                      Wrong{"sysimgguid=9c05\n", 5, "\"c05\" after"},
                      Wrong{"vendid=2c9\n", 5, "\"c9\" after"},
                      Wrong{"devid=0x1g\n", 5, "\"g\" after"},
                      Wrong{"devid=0x1(1)\n", 5, "\"(1)\" after"},
                      Wrong{"width=2x\n", 5, "\"x\" after"},
                      Wrong{"speed=4 7\n", 5, "\"7\" after"},
                      Wrong{"extspeed=1.5\n", 5, "\".5\" after"},
                      Wrong{"width=0\n", 5, "a sum of 1 (1x)"},
                      Wrong{"module=\"m\"\n", 5, "not supported"},
                      Wrong{"@[1] \"alias\"\n", 5, "aliases are not supported"},
                      Wrong{"do unlink \"s\"[1]\n", 5, "console commands"},
                      Wrong{"include \"x\"\n", 5, "does not come from a file"},
                      Wrong{"include x\n", 5, "in quotes"},
                      Wrong{"\x01\x02\n", 5, "binary data"}));

TEST(Faults, WhatIsNoFabricIsRefusedInOneLine) {
  EXPECT_THAT(faults_of(""), ElementsAre(HasSubstr("f: no nodes")));
  EXPECT_THAT(faults_of("\n\n# nothing\n"), ElementsAre(HasSubstr("f: no nodes")));
  EXPECT_THAT(faults_of("{\n  \"json\": 1\n}\n"), ElementsAre(HasSubstr("f:1: no nodes")));
  EXPECT_THAT(faults_of(std::string_view("\x7f\x45LF\0\0", 6)),
              ElementsAre(HasSubstr("f:1: binary data")));
}

TEST(Faults, AllOfThemUpToTwenty) {
  EXPECT_THAT(faults_of("Switch 2 \"a\"\n[1] \"x\"[1]\n[9] \"a\"[1]\nSwitch 2 \"a\"\nfoo\n"),
              SizeIs(4));
  std::string many = "Switch 2 \"a\"\n";
  for (int i = 0; i < 100; ++i) many += "[9] \"a\"[1]\n";
  EXPECT_THAT(faults_of(many), SizeIs(20));
}

// What would have been right is looked for among all nodes.
TEST(Faults, NobodyMakesAMessageThatIsNotKept) {
  NetRecords records;
  records.files = {"f"};
  unsigned made = 0;
  for (int i = 0; i < 1000; ++i) {
    records.add_fault({0, 1}, [&] {
      ++made;
      return std::string("no node is called that");
    });
  }
  EXPECT_THAT(records.faults, SizeIs(kMaxFaults));
  EXPECT_EQ(made, kMaxFaults);
}

TEST(Faults, AFileThatIsCutInHalfEndsAtTwenty) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += "Switch 2 \"s" + std::to_string(i) + "\"\n[1] \"h" + std::to_string(i) + "\"[1]\n";
  }
  const auto faults = faults_of(text);
  EXPECT_THAT(faults, SizeIs(kMaxFaults));
  EXPECT_THAT(faults, ::testing::Each(HasSubstr("did you mean \"s")));
}

TEST(Faults, AsymmetricCablesAreReportedFromTheEndThatIsNotAnswered) {
  // A leads to B[3], B says that its port 3 leads to C[1].
  const auto faults = faults_of(R"(Switch 4 "A"
[1] "B"[3]
Switch 4 "B"
[3] "C"[1]
Switch 4 "C"
[1] "B"[3]
)");
  EXPECT_THAT(faults, ElementsAre(HasSubstr("f:2: \"A\"[1] leads to \"B\"[3], but line 4 says")));
}

TEST(Faults, MoreLidsThanASubnetHas) {
  std::string text;
  for (int i = 0; i < 49152; ++i) text += "Switch 1 \"s" + std::to_string(i) + "\"\n";
  EXPECT_THAT(faults_of(text), ElementsAre(HasSubstr("a subnet has 49151")));
}

}  // namespace faults_test
}  // namespace smd::sim::testing
