// `smsim run --task` and `smsim collect`, and the scripts of docs/campaigns.md as they stand there.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/page_scripts.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace campaign_test {

using testing::HasSubstr;

constexpr const char* kScenario = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
load = [0.3, 0.1]
size = 256
[measure]
warm_up_us = 5
interval_us = 5
least_intervals = 3
most_intervals = 3
saturation = true
tolerance = 0.2
)";

// Each stands in for a launcher: as much of its command line and environment as the docs use.
constexpr const char* kParallel = R"sh(#!/bin/sh
command=
while [ "$1" != ::: ]; do command="$command $1"; shift; done
shift
for i; do sh -c "$(echo "$command" | sed "s/{}/$i/g")" ||
                                  exit 1; done
)sh";
constexpr const char* kMpirun = R"sh(#!/bin/sh
[ "$1" = -n ] || exit 2
n=$2; shift 2
i=0
while [ $i -lt $n ]; do
  OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=$n "$@" || exit 1
  i=$((i + 1))
done
)sh";
constexpr const char* kSbatch = R"sh(#!/bin/sh
range=$(sed -n 's/^#SBATCH --array=//p' "$1")
first=${range%-*}; last=${range#*-}
for i in $(seq $first $last); do
  SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=$((last - first + 1)) sh "$1" || exit 1
done
)sh";

class Campaign : public testing::Test {
 protected:
  Campaign() {
    write("campaign.toml", kScenario);
    std::filesystem::create_directories(folder / "bin");
    for (const auto& [name, text] : {std::pair{"parallel", kParallel},
                                     std::pair{"mpirun", kMpirun},
                                     std::pair{"sbatch", kSbatch}}) {
      const std::string file = std::string("bin/") + name;
      write(file, text);
      std::filesystem::permissions(folder / file, std::filesystem::perms::owner_all);
    }
  }

  Finished shell(const std::string& script) {
    const std::string path = (folder / "bin").string() + ":" + build_path("bin") + ":/usr/bin:/bin";
    return run_process({.argv = {"sh", "-e", "-c", script}, .env = {{"PATH", path}}, .cwd = folder},
                       std::chrono::seconds(100));
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  }

  std::string read(const std::string& name) { return read_text(folder / name); }

  /// What one run of everything writes.
  void run_whole() {
    const Finished whole = shell("smsim run campaign.toml --seeds 4 --out whole --jobs 2");
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    whole_lines = whole.out;
  }

  void expect_the_whole(const std::string& in) {
    for (const char* name : {"result.json", "result.csv", "series.csv", "plot.svg"}) {
      EXPECT_FALSE(read(std::string("whole/") + name).empty());
      EXPECT_EQ(read(in + "/" + name), read(std::string("whole/") + name)) << name;
    }
  }

  test::Scratch scratch_;
  std::filesystem::path folder = scratch_.path();
  std::string whole_lines;
};

TEST_F(Campaign, TheScriptsOfTheDocumentationMakeTheSameBytes) {
  const std::vector<std::string> scripts = scripts_of("docs/campaigns.md");
  ASSERT_EQ(scripts.size(), 4u);
  run_whole();
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const bool job = scripts[i].starts_with("#!");
    if (job) write("job.sh", scripts[i]);
    const Finished done = shell(job ? "sbatch job.sh; smsim collect runs" : scripts[i]);
    EXPECT_EQ(done.exit_code, 0) << scripts[i] << done.err;
    EXPECT_THAT(done.out, testing::EndsWith(whole_lines));
    expect_the_whole("runs");
    std::filesystem::remove_all(folder / "runs");
  }
}

TEST_F(Campaign, WhatIsMissingIsNamedAndResumed) {
  run_whole();
  ASSERT_EQ(shell("smsim run campaign.toml --seeds 4 --out runs --task 1/2").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "runs/result.json"));
  std::filesystem::remove(folder / "runs/parts/load-0-seed-1.json");
  const Finished part = shell("smsim collect runs");
  EXPECT_EQ(part.exit_code, 1);
  EXPECT_THAT(part.err, HasSubstr("smsim: 7 runs are missing: load 0.3 seed 1, load 0.3 seed 2, "));

  // A run that is kept is not made again: this one would not be the same.
  std::string kept = read("runs/parts/load-0-seed-3.json");
  const std::size_t at = kept.find("\"row\": \"0.3,3,");
  ASSERT_NE(at, std::string::npos);
  kept.replace(at, 14, "\"row\": \"kept,3,");
  write("runs/parts/load-0-seed-3.json", kept);
  ASSERT_EQ(shell("smsim run campaign.toml --seeds 4 --out runs --resume").exit_code, 0);
  EXPECT_THAT(read("runs/result.csv"), HasSubstr("\nkept,3,"));
  ASSERT_EQ(shell("smsim run campaign.toml --seeds 4 --out runs").exit_code, 0);
  expect_the_whole("runs");
}

TEST_F(Campaign, RunsThatHadEndedSurviveAnInterruption) {
  run_whole();
  Process first({.argv = {build_path("bin/smsim"),
                          "run",
                          "campaign.toml",
                          "--seeds",
                          "4000",
                          "--out",
                          "runs",
                          "--jobs",
                          "1"},
                 .cwd = folder});
  const auto second = folder / "runs/parts/load-0-seed-2.json";
  for (int i = 0; i < 3000 && !std::filesystem::exists(second); ++i) {
    static_cast<void>(first.wait(std::chrono::milliseconds(10)));
  }
  first.terminate();
  ASSERT_TRUE(std::filesystem::exists(second));
  const Finished collected = shell("smsim collect runs --out joined --json || true");
  EXPECT_EQ(collected.out, read("joined/result.json"));
  EXPECT_THAT(collected.err, HasSubstr(" runs are missing: load 0.3 seed "));
  EXPECT_THAT(collected.out, HasSubstr("\"interrupted\": true"));
  EXPECT_THAT(collected.out, testing::Not(HasSubstr("\"state\": \"interrupted\"")));
  const std::string row = read("whole/result.csv");
  const std::size_t at = row.find("0.3,2,");
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(read("joined/result.csv"), HasSubstr(row.substr(at, row.find('\n', at) - at)));
}

TEST_F(Campaign, ChangedScenariosAreNotMixed) {
  ASSERT_EQ(shell("smsim run campaign.toml --out runs --task 1/3").exit_code, 0);
  std::string changed = kScenario;
  changed.replace(changed.find("256"), 3, "512");
  write("campaign.toml", changed);
  ASSERT_EQ(shell("smsim run campaign.toml --out runs --task 2/3").exit_code, 0);
  const Finished mixed = shell("smsim collect runs");
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err,
              HasSubstr("load-1-seed-1.json: is of another scenario than runs/parts/load-0"));
  EXPECT_FALSE(std::filesystem::exists(folder / "runs/result.json"));
  // Another scenario's run is made again, even with --resume.
  ASSERT_EQ(shell("smsim run campaign.toml --out runs --resume").exit_code, 0);
  EXPECT_EQ(shell("smsim collect runs").exit_code, 0);
}

TEST_F(Campaign, RunsOfAnotherVersionAreNotMixed) {
  run_whole();
  ASSERT_EQ(shell("smsim run campaign.toml --seeds 4 --out runs").exit_code, 0);
  const char* name = "runs/parts/load-0-seed-3.json";
  std::string other = read(name);
  const std::size_t at = other.find("\"program\": \"");
  ASSERT_NE(at, std::string::npos);
  write(name, other.insert(at + 12, "9."));
  const Finished mixed = shell("smsim collect runs");
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err, HasSubstr(std::string(name) + ": is of smsim 9."));
  ASSERT_EQ(shell("smsim run campaign.toml --seeds 4 --out runs --resume").exit_code, 0);
  EXPECT_TRUE(read(name) == read("whole/parts/load-0-seed-3.json")) << "made anew";
  expect_the_whole("runs");
}

TEST_F(Campaign, WrongCommandLinesSayWhatWouldBeRight) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"smsim run campaign.toml --task 1/2", "need --out DIR"},
      {"smsim run campaign.toml --resume", "need --out DIR"},
      {"smsim run campaign.toml --out runs --task 3/2", "must be I/N, with I from 1 to N"},
      {"smsim collect", "DIR"},
      {"smsim collect bin", "bin: has no parts/*.json"},
  };
  for (const auto& [command, text] : wrong) {
    const Finished done = shell(command);
    EXPECT_EQ(done.exit_code, 2) << command;
    EXPECT_THAT(done.err, HasSubstr(text)) << command;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

}  // namespace campaign_test
}  // namespace smd::test
