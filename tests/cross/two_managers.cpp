#include "tests/cross/two_managers.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "tests/support/files.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;

// Both poll a master twice a second and give up after two more questions.
constexpr const char* kOpensmConfig =
    "sminfo_polling_timeout 500\npolling_retry_number 2\nsweep_interval 1\nlog_flags 0x03\n"
    "force_log_flush TRUE\ndump_files_dir .\nrouting_engine minhop\n";
constexpr const char* kSmdPolls = "poll_interval_ms = 500\npoll_retries = 2\n";

}  // namespace

void TwoManagers::SetUp() {
  const auto hosts = read_net_facts(net_).adapter_ids;
  smd_host_ = hosts.front();
  opensm_host_ = hosts.at(hosts.size() / 2);
  outsider_ = hosts.at(1);
  far_outsider_ = hosts.at(hosts.size() / 2 + 1);
}

void TwoManagers::start_smd(unsigned priority) {
  const std::filesystem::path config = write_config(scratch_.path(), "interval_s = 1\n");
  std::string text = read_text(config);
  std::string ours = "priority = " + std::to_string(priority) + "\n" + kSmdPolls;
  if (!m_key_.empty()) ours += "m_key = \"" + m_key_ + "\"\n";
  text.insert(text.find("[sm]\n") + 5, ours);
  std::ofstream(config) << text;
  smd_.emplace(ProcessOptions{.argv = {smd_path(), "run", "-c", config}, .env = client(smd_host_)});
}

void TwoManagers::start_opensm(unsigned priority) {
  Environment env = client(opensm_host_);
  const auto preload =
      std::ranges::find(env, "LD_PRELOAD", [](const auto& each) { return each.first; });
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
  std::string config =
      kOpensmConfig + ("sm_priority " + rank + "\nmaster_sm_priority " + rank + "\n");
  if (!m_key_.empty()) config += "m_key " + m_key_ + "\n";
  env.insert(env.end(),
             {{"CONFIG", std::move(config)}, {"OSM_TMP_DIR", "."}, {"OSM_CACHE_DIR", "."}});
  opensm_.emplace(ProcessOptions{.argv = std::move(argv), .env = std::move(env)});
}

void TwoManagers::kill(std::optional<Process>& manager) {
  ASSERT_TRUE(manager);
  ASSERT_EQ(::kill(manager->pid(), SIGKILL), 0);
  manager->wait(2s);
  manager.reset();
}

std::string TwoManagers::opensm_log() const {
  return opensm_ ? read_text(opensm_->cwd() / "osm.log") : std::string();
}

Finished TwoManagers::ask(std::vector<std::string> argv, bool far) const {
  return run_process({.argv = std::move(argv), .env = client(far ? far_outsider_ : outsider_)},
                     60s);
}

nlohmann::json TwoManagers::status() const {
  const nlohmann::json json = nlohmann::json::parse(
      run_process(
          {.argv = {smctl_path(), "--socket", scratch_.path() / "smd.sock", "--json", "status"}},
          10s)
          .out,
      nullptr,
      false);
  return json.is_object() ? json : nlohmann::json::object();
}

SeenFabric TwoManagers::see(bool far) const {
  return read_ibnetdiscover(ask({"ibnetdiscover"}, far).out);
}

std::vector<std::string> TwoManagers::faults(bool far, unsigned parts) const {
  const SeenFabric seen = see(far);
  const SeenTables tables = read_dump_fts(ask({"dump_fts", "-n"}, far).out);
  std::vector<std::string> found = find_broken_routes(seen, tables);
  const NetFacts facts = read_net_facts(net_);
  if (seen.nodes.size() != facts.nodes / parts || tables.size() != facts.switches / parts)
    found.push_back(
        fmt::format("{} nodes and {} tables are seen", seen.nodes.size(), tables.size()));
  for (const SeenState& port : read_iblinkinfo(ask({"iblinkinfo", "-l"}, far).out)) {
    if (port.physical == "LinkUp" && port.logical != "Active")
      found.push_back(port.port + " is " + port.logical);
  }
  return found;
}

unsigned TwoManagers::lid_of(const std::string& host, bool far) const {
  const SeenFabric seen = see(far);
  const auto node = seen.nodes.find(host);
  return node == seen.nodes.end() ? 0 : node->second.lids.begin()->second;
}

bool TwoManagers::rules(const std::string& host, bool far) const {
  const std::string out = ask({"sminfo"}, far).out;
  return out.find("SMINFO_MASTER") != std::string::npos &&
         out.find("sm lid " + std::to_string(lid_of(host, far)) + " ") != std::string::npos;
}

std::string TwoManagers::story() const {
  std::string text = ask({"sminfo"}).out + ask({"sminfo"}, true).out +
                     ::testing::PrintToString(faults()) + "\nsmd: " + status().dump() + "\n";
  if (smd_) text += const_cast<Process&>(*smd_).err();
  return text + "\nopensm: " + opensm_log();
}

::testing::AssertionResult TwoManagers::one_rules(const std::string& host) {
  const bool smd_is_it = host == smd_host_;
  const auto is_well = [&] {
    return rules(host) && rules(host, true) && faults().empty() &&
           (!smd_ || status().value("state", "") == (smd_is_it ? "master" : "standby"));
  };
  const bool well = wait_until(is_well, 60s);
  return well ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << story();
}

::testing::AssertionResult TwoManagers::rules_its_half(const std::string& host) {
  const bool far = host != smd_host_;
  const bool well = wait_until([&] { return rules(host, far) && faults(far, 2).empty(); }, 40s);
  return well ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << story();
}

}  // namespace smd::test
