// smd and Debian's opensm as managers of one fabric of Debian's ibsim: each rules by priority,
// dies, comes back, is cut off and joined again. Who rules is asked with sminfo; that all is well,
// of the registers by ibnetdiscover, iblinkinfo and dump_fts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/readings.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

// Both poll a master twice a second and give up after two more questions.
constexpr const char* kOpensmConfig =
    "sminfo_polling_timeout 500\npolling_retry_number 2\nsweep_interval 1\nlog_flags 0x03\n"
    "force_log_flush TRUE\ndump_files_dir .\nrouting_engine minhop\n";
constexpr const char* kSmdPolls = "poll_interval_ms = 500\npoll_retries = 2\n";

class ManagersOnIbsim : public ::testing::Test {
 protected:
  ManagersOnIbsim() : net_(net_of("torus:dims=4,hosts=2", scratch_.path())) {
    ibsim_.emplace(net_);
  }

  void SetUp() override {
    ASSERT_TRUE(ibsim_->ready()) << ibsim_->complaint();
    const auto& hosts = ibsim_->facts().adapter_ids;
    smd_host_ = hosts.front();
    opensm_host_ = hosts.at(hosts.size() / 2);
    outsider_ = hosts.at(1);
    far_outsider_ = hosts.at(hosts.size() / 2 + 1);
  }

  void start_smd(unsigned priority, const std::string& more = "") {
    const std::filesystem::path config = write_config(scratch_.path(), "interval_s = 1\n");
    std::ifstream in(config);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    text.insert(text.find("[sm]\n") + 5,
                "priority = " + std::to_string(priority) + "\n" + kSmdPolls + more);
    std::ofstream(config) << text;
    smd_.emplace(ProcessOptions{.argv = {smd_path(), "run", "-c", config},
                                .env = ibsim_->client_environment(smd_host_)});
  }

  void start_opensm(unsigned priority) {
    auto env = ibsim_->client_environment(opensm_host_);
    const auto preload =
        std::find_if(env.begin(), env.end(), [](const auto& e) { return e.first == "LD_PRELOAD"; });
    std::vector<std::string> argv{"/bin/sh",
                                  "-c",
                                  "printf %s \"$CONFIG\" > osm.conf; exec \"$@\"",
                                  "sh",
                                  "env",
                                  "LD_PRELOAD=" + preload->second,
                                  "opensm",
                                  "-F",
                                  "osm.conf",
                                  "-f",
                                  "osm.log"};
    env.erase(preload);
    const std::string rank = std::to_string(priority);
    env.insert(env.end(),
               {{"CONFIG",
                 kOpensmConfig + ("sm_priority " + rank + "\nmaster_sm_priority " + rank + "\n")},
                {"OSM_TMP_DIR", "."},
                {"OSM_CACHE_DIR", "."}});
    opensm_.emplace(ProcessOptions{.argv = std::move(argv), .env = std::move(env)});
  }

  std::string opensm_log() {
    std::ostringstream text;
    if (opensm_) text << std::ifstream(opensm_->cwd() / "osm.log").rdbuf();
    return text.str();
  }

  Finished ask(std::vector<std::string> argv, bool far = false) {
    return tool(*ibsim_, far ? far_outsider_ : outsider_, std::move(argv));
  }

  nlohmann::json status() {
    const nlohmann::json json = nlohmann::json::parse(
        run_process(
            {.argv = {smctl_path(), "--socket", scratch_.path() / "smd.sock", "--json", "status"}},
            10s)
            .out,
        nullptr,
        false);
    return json.is_object() ? json : nlohmann::json::object();
  }

  SeenFabric see(bool far = false) { return read_ibnetdiscover(ask({"ibnetdiscover"}, far).out); }

  /// Routes that do not arrive, ports that are not Active, as seen from one side.
  std::vector<std::string> faults(bool far = false) {
    std::vector<std::string> found =
        find_broken_routes(see(far), read_dump_fts(ask({"dump_fts", "-n"}, far).out));
    for (const SeenState& port : read_iblinkinfo(ask({"iblinkinfo", "-l"}, far).out)) {
      if (port.physical == "LinkUp" && port.logical != "Active")
        found.push_back(port.port + " is " + port.logical);
    }
    return found;
  }

  unsigned lid_of(const std::string& host, bool far = false) {
    const SeenFabric seen = see(far);
    const auto node = seen.nodes.find(host);
    return node == seen.nodes.end() ? 0 : node->second.lids.begin()->second;
  }

  /// sminfo asks whoever the outsider's own port takes for the master.
  bool rules(const std::string& host, bool far = false) {
    const std::string out = ask({"sminfo"}, far).out;
    return out.find("SMINFO_MASTER") != std::string::npos &&
           out.find("sm lid " + std::to_string(lid_of(host, far)) + " ") != std::string::npos;
  }

  ::testing::AssertionResult one_rules(const std::string& host) {
    const bool smd_is_it = host == smd_host_;
    const bool well = wait_until(
        [&] {
          return rules(host) && rules(host, true) && faults().empty() &&
                 (!smd_ || status().value("state", "") == (smd_is_it ? "master" : "standby"));
        },
        40s);
    if (well) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << ask({"sminfo"}).out << ::testing::PrintToString(faults()) << "\nsmd: " << status()
           << "\n"
           << (smd_ ? smd_->err() : "") << "\nopensm: " << opensm_log();
  }

  Scratch scratch_;
  std::filesystem::path net_;
  std::optional<Ibsim> ibsim_;
  std::string smd_host_, opensm_host_, outsider_, far_outsider_;
  std::optional<Process> smd_;
  std::optional<Process> opensm_;
};

TEST_F(ManagersOnIbsim, OpensmHandsOverToAHigherSmdWhichKeepsEveryLid) {
  start_opensm(3);
  ASSERT_TRUE(wait_until([&] { return rules(opensm_host_) && faults().empty(); }, 30s));
  const auto lids = see().lid_of_port();
  start_smd(9);
  ASSERT_TRUE(one_rules(smd_host_)) << "smd is the higher";
  EXPECT_EQ(see().lid_of_port(), lids);
  const nlohmann::json now = status();
  ASSERT_EQ(now.at("managers").size(), 1U) << now;
  EXPECT_EQ(now.at("managers").at(0).at("state"), "standby");
  EXPECT_EQ(now.at("managers").at(0).at("priority"), 3);
}

TEST_F(ManagersOnIbsim, ALowerSmdWaitsUntilOpensmIsKilled) {
  start_opensm(9);
  ASSERT_TRUE(wait_until([&] { return rules(opensm_host_) && faults().empty(); }, 30s));
  const auto lids = see().lid_of_port();
  start_smd(3);
  ASSERT_TRUE(wait_until([&] { return status().value("state", "") == "standby"; }, 10s));
  std::this_thread::sleep_for(3s);
  ASSERT_TRUE(one_rules(opensm_host_));
  ASSERT_EQ(::kill(opensm_->pid(), SIGKILL), 0);
  opensm_->wait(2s);
  opensm_.reset();
  ASSERT_TRUE(one_rules(smd_host_));
  EXPECT_EQ(see().lid_of_port(), lids);
}

TEST_F(ManagersOnIbsim, ALowerOpensmStandsBy) {
  start_smd(9);
  ASSERT_TRUE(one_rules(smd_host_));
  start_opensm(3);
  EXPECT_TRUE(wait_until([&] { return status().at("standbys").size() == 1; }, 20s)) << status();
  ASSERT_TRUE(one_rules(smd_host_));
}

}  // namespace
}  // namespace smd::test
