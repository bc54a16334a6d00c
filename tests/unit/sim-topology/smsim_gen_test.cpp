// `smsim gen` from outside: what it prints, writes and answers, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/unit/sim-topology/graph.h"

namespace smd::sim::testing {
namespace smsim_gen_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string text;
};

/// Runs smsim with the words of a shell line; `2>&1` in it brings in the faults.
Outcome smsim(const std::string& words) {
  Outcome outcome;
  std::FILE* pipe = ::popen((test::build_path("bin/smsim ") + words).c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.text += buffer.data();
  outcome.code = WEXITSTATUS(::pclose(pipe));
  return outcome;
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(SmsimGen, PrintsTheFabric) {
  const Outcome outcome = smsim("gen torus:dims=4.4");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text, print_fabric(draw("torus:dims=4.4")));
}

TEST(SmsimGen, WritesAFileThatItReadsBackToTheSameBytes) {
  const smd::test::Scratch scratch;
  const std::string path = scratch.path() / "smsim-gen-test.net";
  EXPECT_EQ(smsim("gen example:name=fig76 -o " + path).code, 0);
  EXPECT_EQ(content(path), print_fabric(draw("example:name=fig76")));
  EXPECT_EQ(smsim("gen " + path).text, content(path));
  // A wrong call leaves the file as it was.
  EXPECT_EQ(smsim("gen example:name=fig0 -o " + path + " 2>/dev/null").code, 2);
  EXPECT_EQ(content(path), print_fabric(draw("example:name=fig76")));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

// Whoever converts it learns it, and so does whoever uses its speeds.
TEST(SmsimGen, SpeedsThatNobodyKnewAreSaidOnce) {
  const smd::test::Scratch scratch;
  const std::string path = scratch.path() / "unknown.net";
  std::ofstream(path) << "Switch 4 \"s\"\n[1] \"a\"[1] # \"a\" lid 0 4x???\n[2] \"b\"[1]\n\n"
                         "Ca 1 \"a\"\n\nCa 1 \"b\"\n";
  for (const std::string command : {"gen", "cc-plan"}) {
    const Outcome outcome = smsim(command + " " + path + " 2>&1 >/dev/null");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.text, StartsWith(path + ":2: note: ??? in place of the speed of 1 cable:"));
    EXPECT_EQ(std::ranges::count(outcome.text, '\n'), 1) << command;
  }
}

TEST(SmsimGen, ListsTheGenerators) {
  const Outcome outcome = smsim("gen --list");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text, list_generators());
}

TEST(SmsimGen, WrongCallsEndWithTwoAndOneLineEach) {
  for (const auto& [words, message] :
       {std::pair{"gen", "gen needs a FABRIC"},
        std::pair{"gen tors", "tors: neither a file nor a generator: did you mean \"torus\"?"},
        std::pair{"gen torus:dim=3", "torus:dim=3: torus has no key \"dim\""},
        std::pair{"gen /no/such.net", "/no/such.net: no such file"},
        std::pair{"gen torus --nope", "--nope"},
        std::pair{"", "subcommand is required"}}) {
    const Outcome outcome = smsim(std::string(words) + " 2>&1");
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.text, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(outcome.text, '\n'), 1) << outcome.text;
  }
}

TEST(SmsimGen, WhatCannotBeWrittenEndsWithOne) {
  const Outcome folder = smsim("gen torus -o /no/such/folder/x 2>&1");
  EXPECT_EQ(folder.code, 1);
  EXPECT_THAT(folder.text, StartsWith("/no/such/folder/x: cannot be written"));
  EXPECT_EQ(smsim("gen torus 2>&1 >/dev/full").code, 1);
}

TEST(SmsimGen, HelpAndVersion) {
  EXPECT_EQ(smsim("--version").text, "smsim 0.1.0\n");
  EXPECT_EQ(smsim("--version").code, 0);
  EXPECT_THAT(smsim("gen --help").text, HasSubstr("--list"));
  EXPECT_EQ(smsim("gen --help").code, 0);
}

}  // namespace smsim_gen_test
}  // namespace smd::sim::testing
