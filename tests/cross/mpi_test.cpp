// One run on the processes that Debian's mpirun starts, on this machine: the bytes of one process.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/partition_cases.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// mpirun as it may be run by root, with more processes than cores, and through memory alone.
std::vector<std::string> mpirun(unsigned processes, const std::vector<std::string>& command) {
  std::vector<std::string> out{"mpirun",
                               "--allow-run-as-root",
                               "--oversubscribe",
                               "--mca",
                               "btl",
                               "self,vader",
                               "-n",
                               std::to_string(processes)};
  out.insert(out.end(), command.begin(), command.end());
  return out;
}

class MpiRun : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v mpirun >/dev/null") != 0) {
      GTEST_SKIP() << "openmpi-bin is not installed";
    }
    std::string pattern = testing::TempDir() + "/smsim-mpi-XXXXXX";
    folder = ::mkdtemp(pattern.data());
  }

  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }

  void write(const std::string& text) { std::ofstream(folder / "s.toml") << text; }

  [[nodiscard]] Finished run_in_folder(std::vector<std::string> argv) const {
    return run_process({.argv = std::move(argv), .cwd = folder}, seconds(200));
  }

  /// `smsim run`, or what processes make of it.
  [[nodiscard]] Finished run(unsigned processes, std::vector<std::string> options) const {
    options.insert(options.begin(), {build_path("bin/smsim-mpi"), "run", "s.toml"});
    if (processes > 0) return run_in_folder(mpirun(processes, options));
    options[0] = build_path("bin/smsim");
    return run_in_folder(options);
  }

  /// Processes that work in the folder, by rank; 0 where there is none.
  [[nodiscard]] std::vector<pid_t> ranks() const {
    std::vector<pid_t> out(2, 0);
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code gone;
      if (fs::read_symlink(entry.path() / "cwd", gone) != folder) continue;
      const std::string environment = bytes_of(entry.path() / "environ");
      for (std::size_t rank = 0; rank < out.size(); ++rank) {
        const std::string is = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0';
        if (environment.find(is) != std::string::npos) out[rank] = std::stoi(name);
      }
    }
    return out;
  }

  /// Lines on stderr that are the program's, not mpirun's.
  static std::vector<std::string> own_lines(const std::string& err) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < err.size();) {
      const std::size_t end = std::min(err.find('\n', at), err.size());
      const std::string line = err.substr(at, end - at);
      if (line.starts_with("smsim") || line.starts_with("s.toml")) out.push_back(line);
      at = end + 1;
    }
    return out;
  }

  fs::path folder;
};

constexpr const char* kMpiCampaign = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
load = [0.3, 0.6]
size = 256
[measure]
warm_up_us = 1
interval_us = 1
most_intervals = 12
saturation = true
tolerance = 0.3
)";

class MpiRuns : public MpiRun, public testing::WithParamInterface<sim::test::PartitionCase> {};

TEST_P(MpiRuns, WriteTheBytesOfOneProcess) {
  write(GetParam().text);
  const Finished alone = run(0, {"--out", "alone"});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("hash "));
  const auto expect_alike = [&](unsigned processes, unsigned partitions) {
    SCOPED_TRACE(std::to_string(processes) + " processes, " + std::to_string(partitions));
    const Finished joint =
        run(processes, {"--partitions", std::to_string(partitions), "--out", "joint"});
    EXPECT_EQ(joint.exit_code, alone.exit_code) << joint.err;
    EXPECT_EQ(joint.out, alone.out);
    for (const char* file : {"result.json", "result.csv", "series.csv", "plot.svg"}) {
      EXPECT_FALSE(bytes_of(folder / "alone" / file).empty());
      EXPECT_EQ(bytes_of(folder / "joint" / file), bytes_of(folder / "alone" / file)) << file;
    }
    fs::remove_all(folder / "joint");
  };
  expect_alike(2, 2);
  expect_alike(2, 4);
  expect_alike(4, 4);
  if (GetParam().name != "Campaign") return;
  expect_alike(1, 1);
  expect_alike(1, 2);
  expect_alike(1, 4);
  expect_alike(3, 5);
}

INSTANTIATE_TEST_SUITE_P(Scenarios,
                         MpiRuns,
                         testing::ValuesIn([] {
                           // Processes without a core of their own take long over many windows.
                           auto cases = sim::test::partition_cases();
                           std::erase_if(cases, [](const auto& row) {
                             return !row.name.starts_with("Rule") && row.name != "FatTree" &&
                                    row.name != "Exchange" && row.name != "SwitchesThatAdd";
                           });
                           cases.push_back({"Campaign", kMpiCampaign});
                           return cases;
                         }()),
                         sim::test::name_of_case<testing::TestParamInfo<sim::test::PartitionCase>>);

TEST_F(MpiRun, KeepsPartsAndGoesOnWithThem) {
  write(kMpiCampaign);
  ASSERT_EQ(run(0, {"--seeds", "2", "--out", "alone"}).exit_code, 0);
  ASSERT_EQ(run(2, {"--seeds", "2", "--out", "joint", "--task", "1/2"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder / "joint/result.json"));

  struct stat before {
  }, after{};

  const fs::path part = folder / "joint/parts/load-0-seed-1.json";
  ASSERT_EQ(::stat(part.c_str(), &before), 0);
  ASSERT_EQ(run(2, {"--seeds", "2", "--out", "joint", "--resume"}).exit_code, 0);
  ASSERT_EQ(::stat(part.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino) << "a run that was there has been made again";
  EXPECT_EQ(bytes_of(folder / "joint/result.json"), bytes_of(folder / "alone/result.json"));
}

TEST_F(MpiRun, RefusesInOneLineWhatProcessesCannotShare) {
  const std::string fabric = "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n";
  const auto refused = [&](const std::string& text, std::vector<std::string> options) {
    write(text);
    const Finished done = run(2, std::move(options));
    EXPECT_EQ(done.exit_code, 2) << done.err;
    const std::vector<std::string> lines = own_lines(done.err);
    return lines.size() == 1 ? lines[0] : std::to_string(lines.size()) + " lines: " + done.err;
  };
  EXPECT_EQ(
      refused(fabric + "[[fault]]\nat_us = 1\nwhat = \"switch-down\"\nwhere = \"sw-0\"\n", {}),
      "s.toml:2: a network with [[fault]] is simulated in 1 partition");
  EXPECT_THAT(refused("[fabric]\nname = \"hamming:dims=4.4,hosts=2\"\npreset = \"booksim\"\n"
                      "[routes]\nrule = \"ugal-g\"\n[traffic]\nload = [0.1]\n",
                      {}),
              HasSubstr("routes.rule ugal-g looks at other switches: it runs in 1 partition"));
  EXPECT_THAT(refused("[fabric]\nname = \"torus:dims=4.4\"\nmodel = \"worms\"\n", {}),
              HasSubstr("worms are simulated in 1 partition"));
  EXPECT_THAT(refused(fabric, {"--partitions", "1"}),
              HasSubstr("--partitions 1: 2 processes share 2 or more"));
  EXPECT_THAT(refused(fabric, {"--partitions", "7"}), HasSubstr("7 partitions; a fabric of 6"));
  EXPECT_THAT(refused(fabric, {"--jobs", "2"}), HasSubstr("--jobs 2: what several processes"));
  EXPECT_THAT(refused(fabric, {"--resume"}), HasSubstr("need --out DIR"));
  EXPECT_THAT(refused(fabric, {"--wrong"}), HasSubstr("--wrong"));
  EXPECT_THAT(refused("[fabric]\nname = \"fat-tree:k=5\"\n", {}), HasSubstr("s.toml:2: "));
}

TEST_F(MpiRun, ComparesWhatProcessesHaveRead) {
  write(kMpiCampaign);
  std::ofstream(folder / "other.toml") << sim::test::partition_cases()[0].text;
  const auto both = [&](std::vector<std::string> of_second) {
    const std::string program = build_path("bin/smsim-mpi");
    std::vector<std::string> line = mpirun(1, {program, "run", "s.toml", ":", "-n", "1", program});
    line.insert(line.end(), of_second.begin(), of_second.end());
    const Finished done = run_in_folder(line);
    EXPECT_EQ(done.exit_code, 2) << done.err;
    return done.err;
  };
  const char* differ = "smsim: processes have different scenarios, fabrics, traces or options";
  EXPECT_THAT(both({"run", "other.toml"}), HasSubstr(differ));
  EXPECT_THAT(both({"run", "s.toml", "--seeds", "2"}), HasSubstr(differ));
  EXPECT_THAT(both({"run", "none.toml"}), HasSubstr("none.toml: "));
}

TEST_F(MpiRun, EndsWhenAProcessDies) {
  write(
      "[fabric]\nname = \"fat-tree:k=8,levels=3\"\n[traffic]\nload = [0.5]\n[measure]\n"
      "interval_us = 1000\nleast_intervals = 100\n");
  Process all({.argv = mpirun(2, {build_path("bin/smsim-mpi"), "run", "s.toml", "--out", "joint"}),
               .cwd = folder});
  ASSERT_TRUE(wait_until([&] { return ranks()[1] != 0; }, seconds(30))) << all.err();
  static_cast<void>(all.wait(std::chrono::seconds(1)));  // it runs
  ASSERT_TRUE(all.is_running()) << all.err();
  ::kill(ranks()[1], SIGKILL);
  const auto code = all.wait(seconds(60));
  ASSERT_TRUE(code) << "it hangs";
  EXPECT_NE(*code, 0);
  EXPECT_THAT(all.err(), HasSubstr("rank 1"));
  EXPECT_FALSE(fs::exists(folder / "joint/result.json"));
  EXPECT_TRUE(wait_until([&] { return ranks() == std::vector<pid_t>{0, 0}; }, seconds(20)));
}

TEST_F(MpiRun, EndsWhenAMessageIsLost) {
  const auto said_without = [&](const char* how_long) {
    const Finished done = run_in_folder(mpirun(2, {build_path("bin/mpi_lossy"), how_long}));
    EXPECT_EQ(done.exit_code, 1) << done.out << done.err;
    EXPECT_EQ(done.out, "");
    return own_lines(done.err);
  };
  // The next one comes in its place, unless none comes.
  EXPECT_THAT(said_without("once"),
              testing::ElementsAre(HasSubstr("smsim-mpi: process 1: what process 0 sent with "
                                             "agreement ")));
  EXPECT_THAT(said_without("on"),
              testing::ElementsAre("smsim-mpi: process 1: a message of process 0 is lost: it was "
                                   "sent before all agreed, and is not here 0.5 s later"));
}

}  // namespace
}  // namespace smd::test
