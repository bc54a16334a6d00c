#include "smd/base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace smd {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Outcome {
  std::optional<int> code;
  std::string complaint;
};

Outcome parse(CommandLine& line, std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  Outcome outcome;
  outcome.code = line.parse(static_cast<int>(words.size()), words.data(), [&](const char* what) {
    outcome.complaint = what;
  });
  return outcome;
}

TEST(CommandLine, EveryTypeIsReadIntoItsVariable) {
  CommandLine line{"about"};
  std::string text;
  int whole = 0;
  unsigned count = 0;
  std::uint16_t small = 0;
  std::uint64_t large = 0;
  double share = 0;
  std::vector<std::string> words;
  std::vector<unsigned> numbers;
  bool is_set = false;
  int verbose = 0;
  line.option("WORD", words);
  line.option("--text", text);
  line.option("--whole", whole);
  line.option("--count", count);
  line.option("--small", small);
  line.option("--large", large);
  line.option("--share", share);
  line.option("--numbers", numbers).separator(',');
  line.flag("--set", is_set, "");
  line.flag("-v,--verbose", verbose, "");
  const Outcome outcome = parse(line,
                                {"a",
                                 "b",
                                 "--text",
                                 "t",
                                 "--whole=-3",
                                 "--count",
                                 "4",
                                 "--small",
                                 "65535",
                                 "--large",
                                 "18446744073709551615",
                                 "--share",
                                 "0.5",
                                 "--numbers",
                                 "1,2",
                                 "--set",
                                 "-vv"});
  EXPECT_EQ(outcome.code, std::nullopt) << outcome.complaint;
  EXPECT_THAT(words, ElementsAre("a", "b"));
  EXPECT_EQ(text, "t");
  EXPECT_EQ(whole, -3);
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(small, 65535u);
  EXPECT_EQ(large, 18446744073709551615u);
  EXPECT_EQ(share, 0.5);
  EXPECT_THAT(numbers, ElementsAre(1u, 2u));
  EXPECT_TRUE(is_set);
  EXPECT_EQ(verbose, 2);
}

TEST(CommandLine, AFaultNamesItsOptionAndEndsWithTwo) {
  int port = 0;
  std::string kind;
  std::string file;
  std::uint64_t seed = 0;
  const auto outcome_of = [&](std::vector<const char*> words) {
    CommandLine line{"about"};
    line.option("--port", port).range(0, 254);
    line.option("--seed", seed);
    line.number(
        "--count", [](std::uint64_t) {}, "");
    line.option("--kind", kind).one_of({"umad", "sim"});
    line.option("FILE", file).check([](const std::string& text) {
      return text == "bad" ? "'bad' is no file" : "";
    });
    return parse(line, std::move(words));
  };
  for (const auto& [words, complaint] :
       std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"--port", "255"}, "--port"},
           {{"--port", "x"}, "--port"},
           {{"--seed", "-1"}, "--seed: Value -1 is no whole number from 0"},
           {{"--seed=18446744073709551616"}, "--seed: Value 18446744073709551616 is no whole"},
           {{"--count=-2"}, "--count: Value -2 is no whole number from 0"},
           {{"--count", "x"}, "--count: Value x is no whole number from 0"},
           {{"--count", "2.5"}, "--count: Value 2.5 is no whole number from 0"},
           {{"--kind", "else"}, "--kind"},
           {{"bad"}, "'bad' is no file"},
           {{"--no-such-option"}, "--no-such-option"},
       }) {
    const Outcome outcome = outcome_of(words);
    EXPECT_EQ(outcome.code, 2) << words.front();
    EXPECT_THAT(outcome.complaint, HasSubstr(complaint));
  }
}

TEST(CommandLine, WhatIsRequiredAndWhatExcludesEachOtherIsSaid) {
  std::string fabric;
  std::string out;
  std::string folder;
  const auto outcome_of = [&](std::vector<const char*> words) {
    CommandLine line{"about"};
    line.option("--fabric", fabric).required();
    const CommandOption file = line.option("--out", out);
    line.option("--folder", folder).excludes(file);
    return parse(line, std::move(words));
  };
  EXPECT_THAT(outcome_of({}).complaint, HasSubstr("--fabric is required"));
  EXPECT_THAT(outcome_of({"--fabric=f", "--out=a", "--folder=b"}).complaint,
              AllOf(HasSubstr("--folder"), HasSubstr("--out")));
  EXPECT_EQ(outcome_of({"--fabric=f", "--out=a"}).code, std::nullopt);
}

TEST(CommandLine, OnlyTheCommandThatWasGivenRuns) {
  CommandLine line{"about"};
  line.require_command();
  line.let_options_follow_commands();
  bool quiet = false;
  line.flag("--quiet", quiet, "");
  std::vector<std::string> ran;
  line.on_parsed([&] { ran.push_back("parsed " + line.given_command()); });
  Command first = line.command("first", "");
  Command second = line.command("second", "");
  first.on_run([&] { ran.push_back("first"); });
  second.on_run([&] { ran.push_back("second"); });
  EXPECT_EQ(parse(line, {"second", "--quiet"}).code, std::nullopt);
  EXPECT_THAT(ran, ElementsAre("parsed second", "second"));
  EXPECT_TRUE(quiet);
  EXPECT_FALSE(first.was_given());
  EXPECT_TRUE(second.was_given());
}

TEST(CommandLine, WithoutACommandItSaysThatOneIsNeeded) {
  CommandLine line{"about"};
  line.require_command();
  line.command("first", "");
  const Outcome outcome = parse(line, {});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.complaint, HasSubstr("subcommand is required"));
}

TEST(CommandLine, HelpAndVersionEndWithZero) {
  CommandLine line{"what it is for", "program"};
  line.show_version("program 1.2");
  unsigned runs = 7;
  line.option("--runs", runs, "Of each row").range(1u, 9u).show_default();
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse(line, {"--version"}).code, 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "program 1.2\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse(line, {"--help"}).code, 0);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_THAT(help, HasSubstr("what it is for"));
  EXPECT_THAT(help, HasSubstr("--runs UINT:UINT in [1 - 9]=7"));
}

}  // namespace
}  // namespace smd
