// The array job of docs/campaigns.md as it is printed there, under Debian's Slurm: a controller and
// a node of this machine, which listen on every interface of a network of the test's own, with all
// that they keep in a folder of the test's own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/own_network.h"
#include "tests/support/page_scripts.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono::seconds;
namespace fs = std::filesystem;

// A search for saturation takes seconds: time to stop a task that has its first run behind it.
constexpr const char* kSlurmScenario = R"([fabric]
name = "fat-tree:k=8,levels=3"
[traffic]
load = [0.3, 0.1]
size = 2048
[measure]
warm_up_us = 10
interval_us = 15
least_intervals = 20
most_intervals = 20
saturation = true
tolerance = 0.02
)";

/// `%` stands for the folder, `@` for the host's name.
constexpr const char* kSlurmConf = R"(ClusterName=campaign
SlurmctldHost=@(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=%/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=%/state
SlurmdSpoolDir=%/spool
SlurmctldPidFile=%/slurmctld.pid
SlurmdPidFile=%/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
NodeName=@ NodeAddr=127.0.0.1 State=UNKNOWN
PartitionName=all Nodes=@ Default=YES MaxTime=INFINITE State=UP
)";

bool has_slurm() {
  return std::system(
             "PATH=$PATH:/usr/sbin:/sbin command -v "
             "munged slurmctld slurmd sbatch squeue scontrol scancel sinfo >/dev/null") == 0;
}

class SlurmSite {
 public:
  SlurmSite() {
    std::string pattern = testing::TempDir() + "/smsim-slurm-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    // Whoever talks to munged has to reach its socket.
    fs::permissions(folder_, fs::perms(0711));
    for (const char* name : {"state", "spool", "work"}) fs::create_directory(folder_ / name);
    std::ifstream random("/dev/urandom", std::ios::binary);
    std::string key(64, '\0');
    random.read(key.data(), static_cast<std::streamsize>(key.size()));
    // Nobody else may read it at any time.
    const std::string key_file = (folder_ / "munge.key").string();
    const int fd = ::open(key_file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    EXPECT_EQ(::write(fd, key.data(), key.size()), static_cast<ssize_t>(key.size()));
    ::close(fd);
    char host[256] = "localhost";
    ::gethostname(host, sizeof host);
    std::string conf = kSlurmConf;
    put(conf, "%", folder_.string());
    put(conf, "@", std::string(host).substr(0, std::string(host).find('.')));
    const std::string user = std::to_string(::getuid());
    conf += "SlurmUser=" + user + "\nSlurmdUser=" + user;
    conf += "\n";
    std::ofstream(folder_ / "slurm.conf") << conf;
  }

  ~SlurmSite() {
    stop();
    for (const pid_t pid : left_over()) ::kill(pid, SIGKILL);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  /// Empty when the node takes jobs; else what the daemons had to say.
  std::string start() {
    const std::string own = folder_.string();
    munged_ = daemon("munged --foreground --key-file=" + own + "/munge.key --socket=" + own +
                         "/munge.sock --pid-file=" + own + "/munged.pid --log-file=" + own +
                         "/munged.log --seed-file=" + own + "/munged.seed",
                     "munged.out");
    if (!wait_until([&] { return fs::exists(folder_ / "munge.sock"); }, seconds(20))) {
      return read_text(folder_ / "munged.out");
    }
    controller_ = daemon("slurmctld -D", "slurmctld.out");
    node_ = daemon("slurmd -D", "slurmd.out");
    const auto idle = [&] { return shell("sinfo -h -o %T").out == "idle\n"; };
    if (wait_until(idle, seconds(60))) return {};
    return read_text(folder_ / "slurmctld.out") + read_text(folder_ / "slurmd.out");
  }

  /// Cancels what runs and ends the daemons, each by its id.
  void stop() {
    if (controller_ && node_) {
      static_cast<void>(shell("squeue -h -o %A | xargs -r scancel"));
      wait_until([&] { return shell("squeue -h").out.empty(); }, seconds(40));
    }
    for (auto* daemon : {&node_, &controller_, &munged_}) {
      if (*daemon) static_cast<void>((*daemon)->terminate(seconds(20)));
      daemon->reset();
    }
  }

  /// Processes that know of the folder, but for this one.
  [[nodiscard]] std::vector<pid_t> left_over() const {
    return find_processes([this](pid_t pid) {
      const std::string said = read_process(pid, "environ") + read_process(pid, "cmdline");
      return pid != ::getpid() && said.find(folder_.string()) != std::string::npos;
    });
  }

  /// Runs a line in the folder of the campaign.
  [[nodiscard]] Finished shell(const std::string& line) const {
    return run_process({.argv = {"sh", "-c", line}, .env = environment(), .cwd = work()},
                       seconds(200));
  }

  [[nodiscard]] fs::path work() const { return folder_ / "work"; }

 private:
  static void put(std::string& text, const std::string& sign, const std::string& value) {
    for (std::size_t at = text.find(sign); at != std::string::npos;
         at = text.find(sign, at + value.size())) {
      text.replace(at, sign.size(), value);
    }
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const {
    return {{"PATH", build_path("bin") + ":/usr/bin:/bin:/usr/sbin:/sbin"},
            {"SLURM_CONF", (folder_ / "slurm.conf").string()}};
  }

  [[nodiscard]] std::unique_ptr<Process> daemon(const std::string& line, const std::string& log) {
    return std::make_unique<Process>(
        ProcessOptions{.argv = {"sh", "-c", "exec " + line + " >" + log + " 2>&1"},
                       .env = environment(),
                       .cwd = folder_});
  }

  fs::path folder_;
  std::unique_ptr<Process> munged_;
  std::unique_ptr<Process> controller_;
  std::unique_ptr<Process> node_;
};

class SlurmCampaign : public testing::Test {
 protected:
  /// The state that squeue tells of a task; empty when it is over.
  std::string state_of(const std::string& task) {
    const std::string out = site.shell("squeue -h -o %T -j " + task).out;
    return out.substr(0, out.find('\n'));
  }

  /// Waits until the task has its first run behind it and works on the second.
  void await_first_run(const std::string& task, const fs::path& part) {
    ASSERT_TRUE(wait_until([&] { return fs::exists(part); }, seconds(100))) << part;
    ASSERT_EQ(state_of(task), "RUNNING") << "it has nothing left to be stopped in";
  }

  OwnNetwork network;
  SlurmSite site;
};

TEST_F(SlurmCampaign, TheArrayJobOfThePageSurvivesTasksThatAreStopped) {
  if (!has_slurm()) {
    GTEST_SKIP() << "slurmctld, slurmd, slurm-client and munge are not installed";
  }
  if (network.fault().empty()) network.add_address();
  if (!network.fault().empty()) GTEST_SKIP() << network.fault();
  ASSERT_THAT(OwnNetwork::interfaces(), testing::ElementsAre("lo"));
  ASSERT_EQ(site.start(), "");
  std::ofstream(site.work() / "campaign.toml") << kSlurmScenario;
  std::string job;
  for (const std::string& script : scripts_of("docs/campaigns.md")) {
    if (script.find("#SBATCH") != std::string::npos) job = script;
  }
  std::ofstream(site.work() / "job.sh") << job;
  const Finished whole = site.shell("smsim run campaign.toml --seeds 4 --out whole");
  ASSERT_EQ(whole.exit_code, 0) << whole.err;

  const Finished submitted = site.shell("sbatch --parsable job.sh");
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  const std::string array = submitted.out.substr(0, submitted.out.find_first_of(";\n"));
  const fs::path parts = site.work() / "runs/parts";

  // As an operator or a preempting job does it: back into the queue, while it runs.
  const fs::path first = parts / "load-0-seed-1.json";
  await_first_run(array + "_1", first);
  const std::string kept = file_identity(first);
  EXPECT_EQ(site.shell("scontrol requeue " + array + "_1").exit_code, 0);

  // Cancelled, and submitted again later.
  const fs::path third = parts / "load-0-seed-3.json";
  await_first_run(array + "_3", third);
  const std::string also_kept = file_identity(third);
  EXPECT_EQ(site.shell("scancel " + array + "_3").exit_code, 0);
  const Finished early = site.shell("smsim collect runs --out early");
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_THAT(early.err, testing::HasSubstr("runs are missing: "));
  EXPECT_THAT(early.err, testing::HasSubstr("saturation seed 3"));
  const std::string again = "scontrol requeue " + array + "_3";
  EXPECT_TRUE(wait_until([&] { return site.shell(again).exit_code == 0; }, seconds(20)));

  EXPECT_TRUE(wait_until([&] { return site.shell("squeue -h").out.empty(); }, seconds(200)))
      << site.shell("squeue; cat slurm-*").out;
  for (const char* task : {"_1", "_2", "_3"}) {
    EXPECT_THAT(site.shell("scontrol show job " + array + task).out,
                testing::HasSubstr(std::string("Restarts=") + (task[1] == '2' ? "0" : "1")));
  }
  EXPECT_EQ(file_identity(first), kept) << "a run that was kept has been made again";
  EXPECT_EQ(file_identity(third), also_kept);

  const Finished collected = site.shell("smsim collect runs");
  EXPECT_EQ(collected.exit_code, 0) << collected.err;
  EXPECT_EQ(collected.out, whole.out);
  for (const char* name : {"result.json", "result.csv", "series.csv", "plot.svg"}) {
    EXPECT_FALSE(read_text(site.work() / "whole" / name).empty()) << name;
    EXPECT_EQ(read_text(site.work() / "runs" / name), read_text(site.work() / "whole" / name))
        << name;
  }
  site.stop();
  EXPECT_THAT(site.left_over(), testing::IsEmpty());
}

}  // namespace
}  // namespace smd::test
