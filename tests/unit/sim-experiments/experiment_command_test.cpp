// The program `smsim experiment`: files, lines, exit codes.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace {

using testing::HasSubstr;

class ExperimentCommand : public testing::Test {
 protected:
  Finished smsim(std::vector<std::string> args) {
    args.insert(args.begin(), {test::build_path("bin/smsim"), "experiment"});
    return run_process({.argv = std::move(args), .cwd = folder}, std::chrono::seconds(60));
  }

  test::Scratch scratch_;
  std::filesystem::path folder = scratch_.path();
};

TEST_F(ExperimentCommand, WritesItsFilesAndALinePerClaim) {
  const Finished done =
      smsim({"003-sweep-time", "003-entries", "--quick", "--jobs", "2", "--out", "here"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  for (const char* name : {"003-sweep-time", "003-entries"}) {
    const auto json =
        nlohmann::json::parse(test::read_text(folder / "here" / name / "result.json"));
    EXPECT_EQ(json.at("experiment"), name);
    EXPECT_EQ(json.at("quick"), true);
    for (const auto& claim : json.at("claims")) {
      EXPECT_THAT(done.out,
                  HasSubstr(std::string(name) + " " + claim.at("claim").get<std::string>() + ": "));
    }
    const std::string csv = test::read_text(folder / "here" / name / "result.csv");
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), json.at("rows").size() + 1);
    EXPECT_THAT(test::read_text(folder / "here" / name / (std::string(name) + ".svg")),
                HasSubstr("</svg>"));
  }
}

// docs/network-cost.md has the prices that the command prints.
TEST_F(ExperimentCommand, PricesOnThePageAreThoseOfItsTable) {
  const Finished done = smsim({"002-cost", "--out", "here"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto result = nlohmann::json::parse(test::read_text(folder / "here/002-cost/result.json"));
  const auto prices = [&](const char* column) {
    std::vector<double> out;
    for (const auto& row : result["rows"]) {
      if (row[column].is_number()) out.push_back(row[column]);
    }
    std::ranges::sort(out);
    EXPECT_EQ(out.size(), 2u) << column;
    return fmt::format("{:.2f} and {:.2f} times", out.at(0), out.at(1));
  };
  const std::string page = test::read_text(test::source_path("docs/network-cost.md"));
  EXPECT_THAT(page, HasSubstr("as many hosts (" + prices("alike_from") + " at 20,000"));
  EXPECT_THAT(page, HasSubstr("a fifth less (" + prices("a_fifth_less_from") + ")"));
}

TEST_F(ExperimentCommand, LeavesNothingBehindWithoutOut) {
  const Finished done = smsim({"003-entries", "--quick"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("003-entries "));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(ExperimentCommand, ListsWhatThereIs) {
  const Finished done = smsim({"--list"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.out, HasSubstr("003-sweep-time "));
  EXPECT_THAT(done.out, HasSubstr("Table 11"));
}

TEST_F(ExperimentCommand, UnknownNamesAreCodeTwoAndNothingRuns) {
  const Finished done = smsim({"003-entries", "003-frob", "--quick"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "smsim: no experiment is called '003-frob'; smsim experiment --list\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(ExperimentCommand, BadCommandLinesAreCodeTwoAndOneLine) {
  struct Row {
    std::vector<std::string> args;
    const char* why;
  };

  for (const Row& row :
       {Row{{}, "experiment needs a NAME, or --list"},
        Row{{"--jobs", "0", "003-entries"}, "--jobs: Value 0 not in range 1 to 1024"},
        Row{{"--jobs", "x", "003-entries"}, "--jobs: Value x is no whole number"},
        Row{{"--frob", "003-entries"}, "was not expected: --frob"}}) {
    const Finished done = smsim(row.args);
    EXPECT_EQ(done.exit_code, 2) << row.why;
    EXPECT_EQ(done.out, "") << row.why;
    EXPECT_THAT(done.err, HasSubstr(row.why));
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
  }
}

TEST_F(ExperimentCommand, AFolderThatCannotBeMadeIsCodeOne) {
  std::ofstream(folder / "file") << "in the way";
  const Finished done = smsim({"003-entries", "--quick", "--out", "file"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr("file/003-entries: cannot be made"));
}

}  // namespace
}  // namespace smd::test
