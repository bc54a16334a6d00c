// What an adapter can do to the manager, through the real umad transport on Debian's ibsim: it is
// missing, forbidden, taken, pulled out. Each has one line that says what is wrong and what would
// be right; the daemon waits, longer every time, and is there again when the adapter is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/paths.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace umad_faults_test {

using std::chrono_literals::operator""s;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kShim = build_path("tests/libumad_fault_shim.so");

class BreakingAdapter : public ::testing::Test {
 protected:
  void SetUp() override {
    ibsim_.emplace(net_of("fat-tree:k=4,levels=3", scratch_.path()));
    ASSERT_TRUE(ibsim_->ready()) << ibsim_->complaint();
    config_ = scratch_.path() / "smd.toml";
    std::ofstream(config_) << "[sm]\nstate_dir = \"" << (scratch_.path() / "state").string()
                           << "\"\n[sweep]\ninterval_s = 1\n[smp]\ntimeout_ms = 100\n"
                           << "[transport]\nretry_backoff_max_s = 2\n[admin]\nsocket = \""
                           << (scratch_.path() / "smd.sock").string() << "\"\n";
    std::filesystem::create_directories(scratch_.path() / "state");
    breaks("");
  }

  /// From now on the adapter does this; at once for who looks.
  void breaks(const std::string& faults) {
    const std::filesystem::path fresh = scratch_.path() / "faults.new";
    std::ofstream(fresh) << faults;
    std::filesystem::rename(fresh, scratch_.path() / "faults");
  }

  void mends() { breaks(""); }

  ProcessOptions smd(std::vector<std::string> more) {
    ProcessOptions options{.argv = {smd_path(), "run", "-c", config_},
                           .env = ibsim_->client_environment(ibsim_->facts().adapter_ids.front())};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    for (auto& [name, value] : options.env) {
      if (name == "LD_PRELOAD") value = kShim + (":" + value);
    }
    options.env.emplace_back("SMD_UMAD_FAULTS", scratch_.path() / "faults");
    return options;
  }

  Finished once() { return run_process(smd({"--once"}), 60s); }

  void start() { smd_.emplace(smd({})); }

  bool logs(const std::string& text, std::chrono::milliseconds limit = 10s) {
    return wait_until([&] { return smd_->err().find(text, read_) != std::string::npos; }, limit);
  }

  /// What it logged so far no longer counts.
  void forget_log() { read_ = smd_->err().size(); }

  [[nodiscard]] std::string log() { return smd_->err().substr(read_); }

  /// Lines about a port that cannot be opened, or was lost.
  [[nodiscard]] int complaints() {
    std::istringstream lines(log());
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      count += line.find(" error transport.") != std::string::npos ? 1 : 0;
    }
    return count;
  }

  std::size_t open_files() {
    const auto folder = "/proc/" + std::to_string(smd_->pid()) + "/fd";
    const std::filesystem::directory_iterator each(folder);
    return static_cast<std::size_t>(std::distance(begin(each), end(each)));
  }

  nlohmann::json status() {
    const Finished run = run_process(
        {.argv = {smctl_path(), "--socket", scratch_.path() / "smd.sock", "--json", "status"}},
        10s);
    nlohmann::json json = nlohmann::json::parse(run.out, nullptr, false);
    return json.is_object() ? json : nlohmann::json::object();
  }

  bool comes_up() {
    return wait_until([this] { return status().value("state", "") == "master"; }, 20s);
  }

  Scratch scratch_;
  std::optional<Ibsim> ibsim_;
  std::filesystem::path config_;
  std::optional<Process> smd_;
  std::size_t read_ = 0;
};

TEST_F(BreakingAdapter, WorksLikeAnyOtherWhileItIsWhole) {
  const Finished run = once();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  start();
  EXPECT_TRUE(comes_up()) << log();
  EXPECT_EQ(smd_->terminate(2s), 0) << log();
}

struct Fault {
  const char* name;
  std::string faults;
  const char* complaint;
  const char* advice;
};

class UnusableAdapter : public BreakingAdapter, public ::testing::WithParamInterface<Fault> {};

TEST_P(UnusableAdapter, OnceSaysSoInOneLine) {
  breaks(GetParam().faults);
  const Finished run = once();
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr(GetParam().complaint), HasSubstr(GetParam().advice)));
  EXPECT_THAT(run.err, ::testing::StartsWith("smd: "));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_THAT(run.out, IsEmpty());
}

TEST_P(UnusableAdapter, TheDaemonWaitsLongerAndLongerUntilItIsUsable) {
  breaks(GetParam().faults);
  start();
  ASSERT_TRUE(logs("retry_in=1s")) << log();
  EXPECT_THAT(log(), AllOf(HasSubstr(GetParam().complaint), HasSubstr(GetParam().advice)));
  const std::size_t files = open_files();              // before anybody is connected
  EXPECT_NE(status().value("state", "none"), "none");  // operators are answered meanwhile
  ASSERT_TRUE(logs("retry_in=2s")) << log();
  EXPECT_EQ(complaints(), 2) << log();
  EXPECT_EQ(open_files(), files);  // nothing stays open after a failure
  mends();
  EXPECT_TRUE(comes_up()) << log();
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    UnusableAdapter,
    ::testing::Values(
        Fault{
            "Missing", "absent", "no InfiniBand device on this machine", "is the adapter's driver"},
        Fault{"WithoutAManagementDevice",
              "no_umad",
              "ibsim0 port 1: cannot open the management device",
              "is the kernel module ib_umad loaded?"},
        Fault{"Forbidden",
              "open=" + std::to_string(EACCES),
              "ibsim0 port 1: cannot open the management device: permission denied",
              "run as root, or as a member"},
        Fault{"InUse",
              "open=" + std::to_string(EBUSY),
              "ibsim0 port 1: cannot open the management device",
              "it is in use"},
        // EINVAL is how the kernel's MAD layer says that another agent takes the methods.
        Fault{"TakenByAnotherManager",
              "register=" + std::to_string(EINVAL),
              "ibsim0 port 1: cannot register for subnet management",
              "another subnet manager may be running on this port; stop it first"},
        Fault{"OfAVirtualFunction",
              "register=" + std::to_string(EPROTONOSUPPORT),
              "ibsim0 port 1: cannot register for subnet management",
              "the port has no QP0"}),
    [](const auto& row) { return row.param.name; });

TEST_F(BreakingAdapter, PulledOutWhileRunningIsWaitedFor) {
  start();
  ASSERT_TRUE(comes_up()) << log();
  const nlohmann::json before = status();
  forget_log();
  breaks("unplugged");
  ASSERT_TRUE(logs("cannot receive: the device is gone")) << log();
  EXPECT_THAT(log(), HasSubstr("retry_in=1s"));
  ASSERT_TRUE(logs("no InfiniBand device on this machine")) << log();
  EXPECT_THAT(log(), HasSubstr("retry_in=2s"));
  EXPECT_EQ(complaints(), 2) << log();
  EXPECT_NE(status().value("state", "none"), "master");
  mends();
  ASSERT_TRUE(comes_up()) << log();
  EXPECT_EQ(status().at("nodes"), before.at("nodes"));
  EXPECT_EQ(status().at("last_sweep").at("blocks_written"), 0);
  EXPECT_EQ(smd_->terminate(2s), 0) << log();
}

TEST_F(BreakingAdapter, SignalsThatInterruptItsWaitAreNoLoss) {
  start();
  ASSERT_TRUE(comes_up()) << log();
  forget_log();
  breaks("interrupted");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  mends();
  ASSERT_TRUE(comes_up()) << log();
  EXPECT_EQ(complaints(), 0) << log();
}

TEST_F(BreakingAdapter, TheWaitStartsAfreshAfterASuccess) {
  breaks("absent");
  start();
  ASSERT_TRUE(logs("retry_in=2s")) << log();
  mends();
  ASSERT_TRUE(comes_up()) << log();
  forget_log();
  breaks("unplugged");
  EXPECT_TRUE(logs("retry_in=1s")) << log();
}

TEST_F(BreakingAdapter, OneThatDiesWithoutAWordIsNoticedAtTheNextSend) {
  start();
  ASSERT_TRUE(comes_up()) << log();
  forget_log();
  breaks("mute");
  ASSERT_TRUE(logs("cannot send: the device is gone")) << log();
  EXPECT_TRUE(logs("retry_in=1s")) << log();
  mends();
  EXPECT_TRUE(comes_up()) << log();
}

TEST_F(BreakingAdapter, ManagesWithoutShowingThatItManages) {
  breaks("issm=" + std::to_string(EAGAIN));
  start();
  ASSERT_TRUE(comes_up()) << log();
  EXPECT_TRUE(logs("another subnet manager holds it on this port")) << log();
}

TEST_F(BreakingAdapter, AFullSendQueueIsTriedAgain) {
  start();
  ASSERT_TRUE(comes_up()) << log();
  forget_log();
  breaks("send=" + std::to_string(EAGAIN));
  EXPECT_TRUE(logs("the send queue is full", 20s)) << log();
  mends();
  EXPECT_TRUE(comes_up()) << log();
  EXPECT_THAT(log(), Not(HasSubstr("transport.open")));
}

class DyingAdapter : public BreakingAdapter, public ::testing::WithParamInterface<int> {};

TEST_P(DyingAdapter, AtAnySendOfTheBringUpIsOpenedAgain) {
  breaks("reset=" + std::to_string(GetParam()));
  start();
  EXPECT_TRUE(comes_up()) << log();
  EXPECT_THAT(log(), AllOf(HasSubstr("the device is gone"), HasSubstr("retry_in=1s")));
  EXPECT_EQ(smd_->terminate(2s), 0) << log();
}

TEST_P(DyingAdapter, EndsOnceWithTheReason) {
  breaks("reset=" + std::to_string(GetParam()));
  const Finished run = once();
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err,
              ::testing::ContainsRegex("ibsim0 port 1: cannot (send|receive): the device is gone"));
}

INSTANTIATE_TEST_SUITE_P(Sends, DyingAdapter, ::testing::Values(1, 2, 20, 150, 400));

}  // namespace umad_faults_test
}  // namespace smd::test
