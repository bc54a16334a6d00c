// One run on the processes that Debian's mpirun starts, on this machine: the bytes of one process.
// mpirun listens on every interface, whatever it is told (`oob_tcp_if_include`): here on those of a
// network of the test's own.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/own_network.h"
#include "tests/support/page_scripts.h"
#include "tests/support/partition_cases.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// mpirun as it may be run by root, with more processes than cores, and through memory alone.
/// After a fault it gives processes a second to end themselves, unless it is told otherwise.
std::vector<std::string> mpirun(unsigned processes, const std::vector<std::string>& command) {
  std::vector<std::string> out{"mpirun",
                               "--allow-run-as-root",
                               "--oversubscribe",
                               "--mca",
                               "btl",
                               "self,vader",
                               "--mca",
                               "odls_base_sigkill_timeout",
                               "0",
                               "-n",
                               std::to_string(processes)};
  out.insert(out.end(), command.begin(), command.end());
  return out;
}

class MpiRun : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0) {
      GTEST_SKIP() << "mpirun is none of Open MPI (openmpi-bin)";
    }
    if (!network.fault().empty()) GTEST_SKIP() << network.fault();
    ASSERT_THAT(OwnNetwork::interfaces(), testing::ElementsAre("lo"));
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
    const auto is_here = [this](pid_t pid) {
      std::error_code gone;
      return fs::read_symlink("/proc/" + std::to_string(pid) + "/cwd", gone) == folder;
    };
    for (const pid_t pid : find_processes(is_here)) {
      const std::string environment = read_process(pid, "environ");
      for (std::size_t rank = 0; rank < out.size(); ++rank) {
        const std::string is = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0';
        if (environment.find(is) != std::string::npos) out[rank] = pid;
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

  OwnNetwork network;
  fs::path folder;
};

bool catches_sigterm(pid_t pid) {
  const std::string status = read_process(pid, "status");
  const std::size_t at = status.find("SigCgt:");
  if (at == std::string::npos) return false;
  return (std::stoull(status.substr(at + 7), nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
}

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

/// A scenario, and how many processes share how many partitions of it.
struct MpiCase {
  std::string name;
  std::string text;
  std::vector<std::pair<unsigned, unsigned>> shares;
};

class MpiRuns : public MpiRun, public testing::WithParamInterface<MpiCase> {};

TEST_P(MpiRuns, WriteTheBytesOfOneProcess) {
  write(GetParam().text);
  const Finished alone = run(0, {"--out", "alone"});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("hash "));
  for (const auto& [processes, partitions] : GetParam().shares) {
    SCOPED_TRACE(std::to_string(processes) + " processes, " + std::to_string(partitions));
    const Finished joint =
        run(processes, {"--partitions", std::to_string(partitions), "--out", "joint"});
    EXPECT_EQ(joint.exit_code, alone.exit_code) << joint.err;
    EXPECT_EQ(joint.out, alone.out);
    for (const char* file : {"result.json", "result.csv", "series.csv", "plot.svg"}) {
      EXPECT_FALSE(read_text(folder / "alone" / file).empty());
      EXPECT_EQ(read_text(folder / "joint" / file), read_text(folder / "alone" / file)) << file;
    }
    fs::remove_all(folder / "joint");
  }
}

/// Processes without a core of their own take long over many windows: those, and the rules, are
/// asked for by name.
std::vector<MpiCase> mpi_cases(bool brief) {
  std::vector<MpiCase> out;
  for (const auto& row : sim::test::partition_cases()) {
    const bool rule = row.name.starts_with("Rule");
    if (!rule && row.name != "FatTree" && row.name != "Exchange" && row.name != "SwitchesThatAdd") {
      continue;
    }
    if (!brief) {
      out.push_back({row.name, row.text, {{2, 2}, {2, 4}, {4, 4}}});
    } else if (!rule || row.name == "RuleUgalL") {
      out.push_back({row.name, row.text, {{2, row.name == "FatTree" ? 4u : 2u}}});
    }
  }
  if (brief) {
    out.push_back({"Campaign", kMpiCampaign, {{2, 2}, {1, 1}, {1, 2}}});
  } else {
    out.push_back({"Campaign", kMpiCampaign, {{1, 4}, {2, 4}, {3, 5}, {4, 4}}});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Brief,
                         MpiRuns,
                         testing::ValuesIn(mpi_cases(true)),
                         sim::test::name_of_case<testing::TestParamInfo<MpiCase>>);
INSTANTIATE_TEST_SUITE_P(Long,
                         MpiRuns,
                         testing::ValuesIn(mpi_cases(false)),
                         sim::test::name_of_case<testing::TestParamInfo<MpiCase>>);

TEST_F(MpiRun, KeepsPartsAndGoesOnWithThem) {
  write(kMpiCampaign);
  ASSERT_EQ(run(0, {"--seeds", "2", "--out", "alone"}).exit_code, 0);
  ASSERT_EQ(run(2, {"--seeds", "2", "--out", "joint", "--task", "1/2"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder / "joint/result.json"));

  const fs::path part = folder / "joint/parts/load-0-seed-1.json";
  const std::string before = file_identity(part);
  ASSERT_EQ(run(2, {"--seeds", "2", "--out", "joint", "--resume"}).exit_code, 0);
  EXPECT_EQ(file_identity(part), before) << "a run that was there has been made again";
  EXPECT_EQ(read_text(folder / "joint/result.json"), read_text(folder / "alone/result.json"));
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
  const char* differ = "smsim-mpi: processes have different scenarios, fabrics, traces, options";
  EXPECT_THAT(both({"run", "other.toml"}), HasSubstr(differ));
  EXPECT_THAT(both({"run", "s.toml", "--seeds", "2"}), HasSubstr(differ));
  EXPECT_THAT(both({"run", "s.toml", "--list"}), HasSubstr(differ));
  EXPECT_THAT(both({"--help"}), HasSubstr(differ));
  EXPECT_THAT(both({"run", "none.toml"}), HasSubstr("none.toml: "));
  // What one refuses by itself, the others learn.
  EXPECT_THAT(both({"run", "s.toml", "--jobs", "2"}), HasSubstr("smsim-mpi: --jobs 2: what"));
  EXPECT_THAT(both({"run", "s.toml", "--partitions", "1"}), HasSubstr("--partitions 1: 2 proc"));
  EXPECT_THAT(both({"run", "s.toml", "--resume"}), HasSubstr("need --out DIR"));
  EXPECT_THAT(both({"run", "s.toml", "--wrong"}), HasSubstr("--wrong; see smsim-mpi --help"));
  // Of another build: a byte more, which nobody looks at.
  fs::copy_file(build_path("bin/smsim-mpi"), folder / "other_build");
  std::ofstream(folder / "other_build", std::ios::app) << '\n';
  std::vector<std::string> line =
      mpirun(1, {build_path("bin/smsim-mpi"), "run", "s.toml", ":", "-n", "1"});
  line.insert(line.end(), {"./other_build", "run", "s.toml"});
  const Finished done = run_in_folder(line);
  EXPECT_EQ(done.exit_code, 2) << done.err;
  EXPECT_THAT(own_lines(done.err), testing::ElementsAre(HasSubstr("or builds of smsim-mpi: give")));
}

TEST_F(MpiRun, EndsWhenOneCannotWriteItsResult) {
  write(kMpiCampaign);
  const std::string run = build_path("bin/smsim-mpi") + " run s.toml --json --seeds 4";
  const Finished done = run_in_folder(mpirun(
      1, {"sh", "-c", "exec " + run + " >/dev/full", ":", "-n", "1", "sh", "-c", "exec " + run}));
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(own_lines(done.err),
              testing::ElementsAre("smsim-mpi: standard output: No space left on device"));
}

TEST_F(MpiRun, KeepsWhatHadEndedWhenItIsStopped) {
  // The first run takes a moment; the second one is what it is stopped in.
  write(R"([fabric]
name = "fat-tree:k=8,levels=3"
[traffic]
load = [0.01, 0.8]
size = 2048
[measure]
warm_up_us = 10
interval_us = 10
least_intervals = 150
most_intervals = 150
)");
  const std::vector<std::string> options{"--out", "joint", "--resume"};
  const fs::path first = folder / "joint/parts/load-0-seed-1.json";
  const fs::path second = folder / "joint/parts/load-1-seed-1.json";
  std::string kept;
  // What came of it when `stop` had to do with mpirun and the process of rank 1.
  const auto stopped = [&](const std::function<void(pid_t, pid_t)>& stop) {
    std::vector<std::string> line{build_path("bin/smsim-mpi"), "run", "s.toml"};
    line.insert(line.end(), options.begin(), options.end());
    Process all({.argv = mpirun(2, line), .cwd = folder});
    pid_t rank = 0;
    EXPECT_TRUE(wait_until(
        [&] {
          rank = ranks()[1];
          return rank > 0 && catches_sigterm(rank) && fs::exists(first);
        },
        seconds(60)))
        << all.err();
    EXPECT_FALSE(fs::exists(second)) << "it has nothing left to be stopped in";
    if (rank > 0) stop(all.pid(), rank);
    const auto code = all.wait(seconds(60));
    EXPECT_TRUE(code) << "it hangs";
    EXPECT_NE(code.value_or(0), 0);
    EXPECT_TRUE(wait_until([&] { return ranks() == std::vector<pid_t>{0, 0}; }, seconds(20)));
    EXPECT_FALSE(fs::exists(second));
    if (kept.empty()) kept = file_identity(first);
    EXPECT_EQ(file_identity(first), kept) << "a run that was kept has been made again";
    return all.err();
  };
  EXPECT_THAT(stopped([](pid_t, pid_t rank) { ::kill(rank, SIGKILL); }), HasSubstr("rank 1"));
  EXPECT_THAT(stopped([](pid_t, pid_t rank) { ::kill(rank, SIGTERM); }),
              HasSubstr("smsim-mpi: interrupted: the results are those of what was run"));
  static_cast<void>(stopped([](pid_t mpirun, pid_t) { ::kill(mpirun, SIGINT); }));

  fs::remove_all(folder / "joint/result.json");  // of what was run before SIGTERM
  ASSERT_EQ(run(2, options).exit_code, 0);
  EXPECT_EQ(file_identity(first), kept);
  ASSERT_EQ(run(0, {"--out", "alone"}).exit_code, 0);
  EXPECT_EQ(read_text(folder / "joint/result.json"), read_text(folder / "alone/result.json"));
}

TEST_F(MpiRun, TheCommandOfThePageLeavesProcessesAllCores) {
  std::string command;
  for (const std::string& script : scripts_of("docs/packet-level.md")) {
    if (script.starts_with("mpirun ")) command = script;
  }
  ASSERT_THAT(command, HasSubstr(" smsim-mpi run S.toml "));
  std::ofstream(folder / "S.toml") << kMpiCampaign;
  fs::create_directory(folder / "bin");
  const auto as_printed = [&](const std::string& path) {
    // What it takes to be run by root, and with fewer cores.
    return run_process({.argv = {"sh", "-c", command},
                        .env = {{"PATH", path + ":/usr/bin:/bin"},
                                {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                {"OMPI_MCA_btl", "self,vader"}},
                        .cwd = folder},
                       seconds(60));
  };
  const Finished done = as_printed(build_path("bin"));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  write(kMpiCampaign);
  ASSERT_EQ(run(0, {"--out", "alone"}).exit_code, 0);
  EXPECT_EQ(read_text(folder / "DIR/result.csv"), read_text(folder / "alone/result.csv"));

  // In its place one that says which cores it may use: those of the test.
  std::ofstream(folder / "bin/smsim-mpi")
      << "#!/bin/sh\ngrep Cpus_allowed_list /proc/self/status\n";
  fs::permissions(folder / "bin/smsim-mpi", fs::perms(0755));
  const Finished cores = as_printed((folder / "bin").string());
  const Finished own = run_in_folder({"grep", "Cpus_allowed_list", "/proc/self/status"});
  EXPECT_EQ(cores.out, own.out + own.out) << cores.err;
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
