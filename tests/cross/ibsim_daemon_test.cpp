// smd as a daemon on Debian's ibsim: cables are pulled and put back on ibsim's console, operators
// ask over the socket, and the process is signalled. Sweeps are off, so that whatever smd learns it
// learns from traps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <tuple>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/readings.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNoSweeps = "interval_s = 0\ndebounce_ms = 50\n";

class DaemonOnIbsim : public ::testing::Test {
 protected:
  DaemonOnIbsim() : net_(net_of("fat-tree:k=4,levels=3", scratch_.path())) {
    ibsim_.emplace(net_);
    config_ = write_config(scratch_.path(), kNoSweeps);
  }

  void SetUp() override {
    ASSERT_TRUE(ibsim_->ready()) << ibsim_->complaint();
    host_ = ibsim_->facts().adapter_ids.front();
    outsider_ = ibsim_->facts().adapter_ids.back();
    start();
    ASSERT_TRUE(wait_until([this] { return status().value("state", "") == "master"; }, 20s))
        << smd_->err();
  }

  void start() {
    smd_.emplace(ProcessOptions{.argv = {smd_path(), "run", "-c", config_},
                                .env = ibsim_->client_environment(host_)});
  }

  Finished ask(std::vector<std::string> argv) { return tool(*ibsim_, outsider_, std::move(argv)); }

  Finished smctl(std::vector<std::string> words) {
    std::vector<std::string> argv{smctl_path(), "--socket", scratch_.path() / "smd.sock", "--json"};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process({.argv = std::move(argv)}, 10s);
  }

  /// The answer to a command; an empty object when there was none.
  nlohmann::json answer(std::vector<std::string> words) {
    nlohmann::json json = nlohmann::json::parse(smctl(std::move(words)).out, nullptr, false);
    return json.is_object() ? json : nlohmann::json::object();
  }

  nlohmann::json status() { return answer({"status"}); }

  SeenFabric see() { return read_ibnetdiscover(ask({"ibnetdiscover"}).out); }

  /// Lines about nodes that are not seen, about routes that do not arrive, and about cabled ports
  /// that are not Active.
  std::vector<std::string> faults() {
    const SeenFabric seen = see();
    const SeenTables tables = read_dump_fts(ask({"dump_fts", "-n"}).out);
    std::vector<std::string> found = find_broken_routes(seen, tables);
    if (seen.nodes.size() != ibsim_->facts().nodes || tables.size() != ibsim_->facts().switches)
      found.push_back(
          fmt::format("{} nodes and {} tables are seen", seen.nodes.size(), tables.size()));
    for (const SeenState& port : read_iblinkinfo(ask({"iblinkinfo", "-l"}).out)) {
      if (port.physical == "LinkUp" && port.logical != "Active")
        found.push_back(port.port + " is " + port.logical);
    }
    return found;
  }

  Scratch scratch_;
  std::filesystem::path net_;
  std::optional<Ibsim> ibsim_;
  std::string host_;
  std::string outsider_;
  std::filesystem::path config_;
  std::optional<Process> smd_;
};

/// A cable between two switches that the tables use.
PortKey cable_in_use(const SeenFabric& seen, const SeenTables& tables) {
  for (const auto& [port, peer] : seen.links) {
    if (!seen.nodes.at(port.first).is_switch || !seen.nodes.at(peer.first).is_switch) continue;
    for (const auto& [lid, egress] : tables.at(port.first)) {
      if (egress == port.second) return port;
    }
  }
  return {};
}

std::string on_console(const char* verb, const PortKey& port) {
  return std::string(verb) + " \"" + port.first + "\"[" + std::to_string(port.second) + "]";
}

TEST_F(DaemonOnIbsim, RoutesAroundAPulledCableAndBackAgain) {
  const SeenFabric whole = see();
  const PortKey cable = cable_in_use(whole, read_dump_fts(ask({"dump_fts", "-n"}).out));
  ASSERT_NE(cable.second, 0U);

  ASSERT_TRUE(ibsim_->command(on_console("Unlink", cable)));
  EXPECT_TRUE(wait_until(
      [&] { return see().links.size() == whole.links.size() - 2 && faults().empty(); }, 10s))
      << ::testing::PrintToString(faults()) << smd_->err();
  EXPECT_EQ(status().at("links"), whole.links.size() / 2 - 1);
  for (const auto& [lid, port] : whole.lids()) {
    const Finished trace = ask({"ibtracert",
                                std::to_string(whole.nodes.at(host_).lids.begin()->second),
                                std::to_string(lid)});
    EXPECT_EQ(trace.exit_code, 0) << "to " << lid << ": " << trace.err;
  }

  ASSERT_TRUE(ibsim_->command(on_console("ReLink", cable)));
  EXPECT_TRUE(
      wait_until([&] { return see().links.size() == whole.links.size() && faults().empty(); }, 10s))
      << ::testing::PrintToString(faults()) << smd_->err();
  EXPECT_EQ(status().at("links"), whole.links.size() / 2);
  EXPECT_EQ(see().lid_of_port(), whole.lid_of_port());
}

TEST_F(DaemonOnIbsim, AHostThatGoesAndComesBackKeepsItsLid) {
  const SeenFabric whole = see();
  const std::string guest = ibsim_->facts().adapter_ids.at(3);
  const PortKey leaf = whole.links.at({guest, 1});

  ASSERT_TRUE(ibsim_->command(on_console("Unlink", leaf)));
  EXPECT_TRUE(
      wait_until([&] { return status().value("nodes", 0U) == whole.nodes.size() - 1; }, 10s));
  ASSERT_TRUE(ibsim_->command(on_console("ReLink", leaf)));
  EXPECT_TRUE(wait_until(
      [&] { return status().value("nodes", 0U) == whole.nodes.size() && faults().empty(); }, 10s))
      << ::testing::PrintToString(faults()) << smd_->err();
  EXPECT_EQ(see().lid_of_port(), whole.lid_of_port());
}

TEST_F(DaemonOnIbsim, TerminationLeavesTheFabricRunning) {
  ASSERT_EQ(::kill(smd_->pid(), SIGTERM), 0);
  EXPECT_EQ(smd_->wait(2s), 0) << smd_->err();
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(DaemonOnIbsim, ShutdownOverTheSocketDoesTheSame) {
  EXPECT_EQ(smctl({"shutdown"}).exit_code, 0);
  EXPECT_EQ(smd_->wait(2s), 0) << smd_->err();
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(DaemonOnIbsim, ARestartFindsTheFabricAsItWas) {
  const SeenFabric before = see();
  ASSERT_EQ(smd_->terminate(2s), 0) << smd_->err();
  start();
  ASSERT_TRUE(wait_until([this] { return status().value("state", "") == "master"; }, 20s));
  EXPECT_EQ(see().lid_of_port(), before.lid_of_port());
  EXPECT_EQ(status().at("last_sweep").at("blocks_written"), 0);
}

TEST_F(DaemonOnIbsim, AnswersOperators) {
  const SeenFabric seen = see();
  const nlohmann::json now = status();
  EXPECT_EQ(now.at("nodes"), seen.nodes.size());
  EXPECT_EQ(now.at("links"), seen.links.size() / 2);
  EXPECT_EQ(now.at("engine"), "updn");
  EXPECT_EQ(answer({"nodes"}).at("nodes").size(), seen.nodes.size());
  EXPECT_EQ(answer({"links"}).at("links").size(), seen.links.size() / 2);
  EXPECT_EQ(answer({"fabric"}).at("switches").size(), ibsim_->facts().switches);

  const double last = now.at("last_sweep").at("seconds_ago");
  EXPECT_EQ(smctl({"sweep", "--full"}).exit_code, 0);
  EXPECT_TRUE(wait_until(
      [&] { return status().at("last_sweep").at("seconds_ago").get<double>() < last; }, 10s));

  EXPECT_EQ(smctl({"log", "debug"}).exit_code, 0);
  EXPECT_EQ(smctl({"log", "loud"}).exit_code, 1);
  EXPECT_EQ(smctl({"port", "nobody", "1"}).exit_code, 1);
}

/// Egress port numbers of "[3] -> switch port {0x…}[1] …".
std::vector<unsigned> hops_of(const std::string& ibtracert) {
  std::vector<unsigned> hops;
  std::istringstream lines(ibtracert);
  for (std::string line; std::getline(lines, line);) {
    unsigned port = 0;
    if (std::sscanf(line.c_str(), "[%u] ->", &port) == 1) hops.push_back(port);
  }
  return hops;
}

TEST_F(DaemonOnIbsim, ShowsTheRoutesThatPacketsTake) {
  const std::map<unsigned, PortKey> lids = see().lids();
  std::vector<unsigned> all;
  for (const auto& [lid, port] : lids) all.push_back(lid);
  for (const auto& [from, to] : sample_pairs(all, 40)) {
    std::vector<unsigned> shown;
    const nlohmann::json route = answer({"route", std::to_string(from), std::to_string(to)});
    ASSERT_TRUE(route.contains("hops")) << from << " to " << to;
    for (const auto& hop : route.at("hops")) shown.push_back(hop.at("from_port"));
    EXPECT_EQ(shown, hops_of(ask({"ibtracert", std::to_string(from), std::to_string(to)}).out))
        << from << " to " << to;
  }
}

TEST_F(DaemonOnIbsim, AnswersTheQuestionWhoTheManagerIs) {
  const Finished sminfo = ask({"sminfo"});
  EXPECT_EQ(sminfo.exit_code, 0) << sminfo.err;
  EXPECT_THAT(sminfo.out, HasSubstr("SMINFO_MASTER"));
  const unsigned lid = see().nodes.at(host_).lids.begin()->second;
  EXPECT_THAT(sminfo.out, HasSubstr("sm lid " + std::to_string(lid)));
}

TEST_F(DaemonOnIbsim, KeepsItsConfigurationWhenTheNewOneIsBroken) {
  { std::ofstream(config_) << "[sm]\nengin = \"updn\"\n"; }
  ASSERT_EQ(::kill(smd_->pid(), SIGHUP), 0);
  EXPECT_TRUE(wait_until([&] { return smd_->err().find("kept=old") != std::string::npos; }, 5s));
  EXPECT_THAT(smd_->err(), HasSubstr("smd.toml:2:1: "));
  EXPECT_EQ(status().at("state"), "master");
  EXPECT_THAT(faults(), IsEmpty());
}

/// Whether they count waits is for the agents to say; they answer.
TEST_F(DaemonOnIbsim, AsksAgentsOfSwitchesForTheirCounters) {
  {
    std::ofstream file(config_, std::ios::app);
    file << "[sa]\npath_choice = \"least-contended\"\npath_watch_mads_per_s = 200\n";
  }
  ASSERT_EQ(::kill(smd_->pid(), SIGHUP), 0);
  nlohmann::json watch;
  EXPECT_TRUE(wait_until(
      [&] {
        watch = status().value("path_watch", nlohmann::json::object());
        return watch.value("rounds", 0u) > 0;
      },
      30s))
      << watch << smd_->err();
  EXPECT_GE(watch.at("mads").at("sent"), ibsim_->facts().switches);
  EXPECT_EQ(watch.at("mads").at("timeouts"), 0);
}

TEST_F(DaemonOnIbsim, AdoptsANewConfiguration) {
  {
    std::ofstream file(config_, std::ios::app);
    file << "[port]\nhoq_life = 12\n";
  }
  ASSERT_EQ(::kill(smd_->pid(), SIGHUP), 0);
  const std::string lid =
      std::to_string(see().nodes.at(ibsim_->facts().switch_ids.front()).lids.at(0));
  const unsigned port = [&] {
    for (const auto& [from, to] : see().links) {
      if (from.first == ibsim_->facts().switch_ids.front() && see().nodes.at(to.first).is_switch)
        return from.second;
    }
    return 0U;
  }();
  EXPECT_TRUE(wait_until(
      [&] {
        return ask({"smpquery", "portinfo", lid, std::to_string(port)})
                   .out.find("HoqLife:.........................12") != std::string::npos;
      },
      10s))
      << ask({"smpquery", "portinfo", lid, std::to_string(port)}).out << smd_->err();
}

/// What ibnetdiscover calls each node, by GUID: a switch in its heading, which has an adapter's own
/// description whatever a map says, and adapters where the cables of switches are listed.
std::map<std::string, std::string> names_by_ibnetdiscover(const std::string& text) {
  std::map<std::string, std::string> out;
  static const std::regex kSwitch("Switch\\s+\\d+ \"S-([0-9a-f]{16})\"\\s+# \"([^\"]*)\".*");
  static const std::regex kCable(
      ".*\"H-([0-9a-f]{16})\"\\[\\d+\\]\\([0-9a-f]+\\)\\s+# \"([^\"]*)\".*");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, kSwitch) || std::regex_match(line, found, kCable))
      out["0x" + found[1].str()] = found[2].str();
  }
  return out;
}

TEST_F(DaemonOnIbsim, CallsNodesAsIbnetdiscoverDoesWithTheSameMap) {
  const std::filesystem::path map = scratch_.path() / "names";
  const auto& [switches, adapters] =
      std::tie(ibsim_->facts().switch_ids, ibsim_->facts().adapter_ids);
  const auto guid = [](const std::string& id) { return "0x" + id.substr(2); };
  // Behind the GUID; what a reader takes of it.
  const std::vector<std::pair<std::string, std::string>> shapes{
      {" \"spine 1\"", "spine 1"},
      {"\t\"tab\"  ", "tab"},
      {" \"with a remark\" # of mine", "with a remark"},
      {" \"rack #3\"", "rack "},
      {" \"Gr\u00f6\u00dfe\"", "Gr\u00f6\u00dfe"},
      {" \"line of DOS\"\r", "line of DOS"},
      {"    \"" + std::string(90, 'y') + "\"", std::string(90, 'y')}};
  ASSERT_GT(switches.size(), shapes.size());
  std::map<std::string, std::string> wanted;
  {
    std::ofstream file(map);
    file << "# the machine room\n\n";
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      file << (i == 1 ? " \t" : "") << guid(switches[i]) << shapes[i].first << '\n';
      wanted[guid(switches[i])] = shapes[i].second;
    }
    std::string upper = guid(adapters[1]).substr(2);
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    file << "0X" << upper << " \"login\"\n0x" << std::stoull(upper, nullptr, 16)
         << " \"of nobody\"\n"
         << guid(adapters[2]) << " \"last, without a line feed\"";
    wanted[guid(adapters[1])] = "login";
    wanted[guid(adapters[2])] = "last, without a line feed";
  }
  std::ostringstream text;
  text << std::ifstream(config_).rdbuf();
  std::string config = text.str();
  config.insert(config.find("[sm]\n") + 5, "node_name_map = \"" + map.string() + "\"\n");
  std::ofstream(config_) << config;
  ASSERT_EQ(::kill(smd_->pid(), SIGHUP), 0);
  const auto ours = [&] {
    std::map<std::string, std::string> out;
    for (const auto& node : answer({"nodes"}).value("nodes", nlohmann::json::array()))
      out[node.at("guid")] = node.value("name", node.at("description").get<std::string>());
    return out;
  };
  EXPECT_TRUE(wait_until([&] { return ours()[guid(adapters[1])] == "login"; }, 20s)) << smd_->err();
  const auto theirs = names_by_ibnetdiscover(ask({"ibnetdiscover", "--node-name-map", map}).out);
  EXPECT_EQ(theirs.size(), switches.size() + adapters.size());
  EXPECT_EQ(ours(), theirs);
  for (const auto& [node, name] : wanted) EXPECT_EQ(ours()[node], name) << node;
}

TEST_F(DaemonOnIbsim, KeepsTryingWhenTheAdapterDoesNotTakeAnythingAnyMore) {
  ibsim_->stop();
  EXPECT_EQ(smctl({"sweep", "--full"}).exit_code, 0);
  EXPECT_TRUE(wait_until([&] { return smd_->err().find("cannot send") != std::string::npos; }, 10s))
      << smd_->err();
  EXPECT_NE(status().at("state"), "master");
  EXPECT_EQ(smd_->terminate(2s), 0);
}

TEST(WithoutADevice, OnceSaysSoInOneLine) {
  const Scratch scratch;
  const Finished run = run_process({.argv = {smd_path(),
                                             "run",
                                             "-c",
                                             write_config(scratch.path()),
                                             "--once",
                                             "--ca",
                                             "no-such-adapter"}},
                                   10s);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("smd: no"));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_THAT(run.out, IsEmpty());
}

TEST(WithoutADevice, TheDaemonSaysSoAndWaits) {
  const Scratch scratch;
  Process smd(
      {.argv = {smd_path(), "run", "-c", write_config(scratch.path()), "--ca", "no-such-adapter"}});
  EXPECT_TRUE(wait_until([&] { return smd.err().find("retry_in=1s") != std::string::npos; }, 10s))
      << smd.err();
  EXPECT_TRUE(smd.is_running());
  EXPECT_EQ(smd.terminate(2s), 0);
}

/// Two subnets of one machine, as a head node with two ports has them: one configuration, two
/// instances.
class TwoInstances : public ::testing::Test {
 protected:
  struct Subnet {
    Subnet(const char* instance, const std::string& fabric, const std::filesystem::path& folder)
        : name(instance), net(net_of(fabric, folder)), ibsim(net) {}

    std::string name;
    std::filesystem::path net;
    Ibsim ibsim;
    std::optional<Process> smd;
  };

  TwoInstances() {
    for (const char* name : {"a", "b"}) std::filesystem::create_directories(folder_of(name));
    config_ = write_config(scratch_.path(), kNoSweeps);
    rail_a_.emplace("rail-a", "fat-tree:k=4,levels=2", folder_of("a"));
    rail_b_.emplace("rail-b", "torus:dims=3.3,hosts=1", folder_of("b"));
  }

  std::filesystem::path folder_of(const char* name) { return scratch_.path() / name; }

  void start(Subnet& subnet) {
    const std::string& host = subnet.ibsim.facts().adapter_ids.front();
    subnet.smd.emplace(
        ProcessOptions{.argv = {smd_path(), "run", "-c", config_, "--instance", subnet.name},
                       .env = subnet.ibsim.client_environment(host)});
  }

  nlohmann::json status(const Subnet& subnet) {
    const std::string socket = scratch_.path() / (subnet.name + ".sock");
    const Finished done =
        run_process({.argv = {smctl_path(), "--socket", socket, "--json", "status"}}, 10s);
    const nlohmann::json json = nlohmann::json::parse(done.out, nullptr, false);
    return json.is_object() ? json : nlohmann::json::object();
  }

  bool is_up(const Subnet& subnet) {
    return wait_until([&] { return status(subnet).value("state", "") == "master"; }, 20s);
  }

  static std::string tables(const Subnet& subnet) {
    return tool(subnet.ibsim, subnet.ibsim.facts().adapter_ids.back(), {"dump_fts", "-n"}).out;
  }

  Scratch scratch_;
  std::filesystem::path config_;
  std::optional<Subnet> rail_a_, rail_b_;
};

TEST_F(TwoInstances, OneIsRestartedAndTheOtherUntouched) {
  ASSERT_TRUE(rail_a_->ibsim.ready() && rail_b_->ibsim.ready());
  start(*rail_a_);
  start(*rail_b_);
  ASSERT_TRUE(is_up(*rail_a_)) << rail_a_->smd->err();
  ASSERT_TRUE(is_up(*rail_b_)) << rail_b_->smd->err();
  EXPECT_EQ(status(*rail_a_).at("nodes"), rail_a_->ibsim.facts().nodes);
  EXPECT_EQ(status(*rail_b_).at("nodes"), rail_b_->ibsim.facts().nodes);
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "state/rail-a"));
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "state/rail-b"));
  const std::string tables_a = tables(*rail_a_), tables_b = tables(*rail_b_);
  const nlohmann::json b_before = status(*rail_b_);
  const std::string said_by_b = rail_b_->smd->err();

  start(*rail_a_);  // the one before is ended
  ASSERT_TRUE(is_up(*rail_a_)) << rail_a_->smd->err();
  EXPECT_EQ(tables(*rail_a_), tables_a) << "no LID moves";

  EXPECT_EQ(tables(*rail_b_), tables_b);
  EXPECT_EQ(rail_b_->smd->err(), said_by_b) << "it has nothing to say";
  const nlohmann::json b_after = status(*rail_b_);
  EXPECT_EQ(b_after.at("state"), "master");
  for (const char* key : {"reason", "smps", "blocks_written"})
    EXPECT_EQ(b_after.at("last_sweep").at(key), b_before.at("last_sweep").at(key)) << key;
}

TEST_F(TwoInstances, TwoOfOneNameDoNotShareAState) {
  ASSERT_TRUE(rail_a_->ibsim.ready() && rail_b_->ibsim.ready());
  start(*rail_a_);
  ASSERT_TRUE(is_up(*rail_a_)) << rail_a_->smd->err();
  rail_b_->name = "rail-a";
  start(*rail_b_);
  EXPECT_NE(rail_b_->smd->wait(10s), 0);
  EXPECT_THAT(rail_b_->smd->err(), HasSubstr("state/rail-a"));
  EXPECT_EQ(status(*rail_a_).value("state", ""), "master");
}

/// smd on the second host, whatever its configuration says.
class OnACommandLine : public ::testing::Test {
 protected:
  OnACommandLine() : ibsim_(net_of("fat-tree:k=4,levels=2", scratch_.path())) {
    config_ = write_config(scratch_.path(), kNoSweeps);
    std::string lines = read_text(config_);
    const std::string head = "[transport]\n";
    lines.insert(lines.find(head) + head.size(), "port_guid = \"0x0001000000000001\"\n");
    std::ofstream(config_) << lines;
  }

  [[nodiscard]] ProcessOptions smd(std::vector<std::string> more) const {
    std::vector<std::string> argv = {smd_path(), "run", "-c", config_};
    argv.insert(argv.end(), more.begin(), more.end());
    return {.argv = argv, .env = ibsim_.client_environment(ibsim_.facts().adapter_ids.at(1))};
  }

  Scratch scratch_;
  Ibsim ibsim_;
  std::filesystem::path config_;
};

TEST_F(OnACommandLine, APortGuidIsThePortThatIsManagedFrom) {
  ASSERT_TRUE(ibsim_.ready()) << ibsim_.complaint();
  EXPECT_EQ(ibsim_.facts().adapter_ids.at(1), "H-0001000000000002");
  Process run(smd({"--port-guid", "0x0001000000000003"}));
  const auto manager = [&] {
    return tool(ibsim_, ibsim_.facts().adapter_ids.back(), {"sminfo"}).out;
  };
  EXPECT_TRUE(wait_until(
      [&] { return manager().find("sm guid 0x1000000000003") != std::string::npos; }, 20s))
      << manager() << run.err();
  EXPECT_EQ(run.terminate(), 0);

  const Finished without = run_process(smd({"--once"}), 20s);
  EXPECT_NE(without.exit_code, 0) << "the port of the configuration is another machine's";
  EXPECT_THAT(without.err, HasSubstr("0x0001000000000001"));
}

TEST_F(OnACommandLine, APortGuidThatIsNoneIsOneLine) {
  for (const char* wrong : {"mlx5_0", "0x", "0x12345678901234567", "fe80::1"}) {
    const Finished done = run_process(smd({"--port-guid", wrong}), 20s);
    EXPECT_EQ(done.exit_code, 2) << wrong;
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
    EXPECT_THAT(done.err, HasSubstr("--port-guid: '" + std::string(wrong) + "' is no GUID"));
  }
}

/// The folder of this test is what smd finds at /etc/opensm.
TEST_F(OnACommandLine, FilesThatOpensmReadsUnaskedAreNamedWhereNoOptionDoes) {
  ASSERT_TRUE(ibsim_.ready()) << ibsim_.complaint();
  const std::filesystem::path home = scratch_.path() / "opensm";
  std::filesystem::create_directories(home);
  std::ofstream(home / "partitions.conf") << "Default=0x7fff: ALL=full;\n";
  const auto said = [&] {
    ProcessOptions options = smd({"--port-guid", "0x0001000000000003", "--once"});
    const std::vector<std::string> there = {"unshare",
                                            "--map-root-user",
                                            "--mount",
                                            "sh",
                                            "-c",
                                            "mount --bind \"$0\" /etc/opensm && exec \"$@\"",
                                            home};
    options.argv.insert(options.argv.begin(), there.begin(), there.end());
    const Finished done = run_process(options, 30s);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.err;
  };
  EXPECT_THAT(said(),
              HasSubstr("config.not_named file=/etc/opensm/partitions.conf option=partitions.file "
                        "OpenSM reads it unasked, smd where the option names it"));
  std::ofstream(config_, std::ios::app) << "[partitions]\nfile = \"/etc/opensm/partitions.conf\"\n";
  EXPECT_THAT(said(), ::testing::Not(HasSubstr("config.not_named")));
}

TEST_F(DaemonOnIbsim, DumpsWhatIsInForceForOtherTools) {
  const std::filesystem::path folder = scratch_.path() / "dump", net = scratch_.path() / "net";
  const nlohmann::json written = answer({"dump", folder});
  EXPECT_EQ(written.value("dir", ""), folder.string()) << written;
  ASSERT_EQ(written.value("files", nlohmann::json::array()).size(), 6u) << written;
  for (const auto& name : written["files"])
    EXPECT_TRUE(std::filesystem::exists(folder / name.get<std::string>())) << name;
  std::ofstream(net) << ask({"ibnetdiscover"}).out;
  const Finished verified = run_process(
      {.argv = {smd_path(), "verify", "--fabric", net, "--lft", folder / "opensm-lfts.dump"}}, 60s);
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;

  // The daemon has another working directory than whoever asks.
  const Finished here =
      run_process({.argv = {smctl_path(), "--socket", scratch_.path() / "smd.sock", "dump", "here"},
                   .env = {},
                   .cwd = scratch_.path()},
                  10s);
  EXPECT_EQ(here.exit_code, 0) << here.err;
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "here" / "neighbors"));

  const Finished nowhere = smctl({"dump", "/proc/none"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("smctl: /proc/none: "));
  EXPECT_THAT(smctl({"dump"}).exit_code, 2) << "a folder is needed";
}

/// The events that a program printed, a line of JSON each.
std::vector<nlohmann::json> events_in(const std::string& out) {
  std::vector<nlohmann::json> events;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) events.push_back(nlohmann::json::parse(line, nullptr, false));
  }
  return events;
}

TEST_F(DaemonOnIbsim, TellsWhoWatchesWhatItLogs) {
  const std::string socket = scratch_.path() / "smd.sock";
  Process watcher({.argv = {smctl_path(), "--socket", socket, "watch", "--last", "1"}});
  ASSERT_TRUE(watcher.wait_for_output("\n", 10s)) << watcher.err();
  const PortKey cable = cable_in_use(see(), read_dump_fts(ask({"dump_fts", "-n"}).out));
  ASSERT_TRUE(ibsim_->command(on_console("Unlink", cable)));
  EXPECT_TRUE(watcher.wait_for_output("\"event\":\"cycle.end\"", 10s)) << watcher.out();
  std::uint64_t number = 0;
  for (const nlohmann::json& event : events_in(watcher.out())) {
    ASSERT_TRUE(event.is_object()) << watcher.out();
    if (number != 0) {
      EXPECT_EQ(event["number"], number + 1) << "none is missing and none comes twice";
    }
    number = event["number"];
    EXPECT_NE(smd_->err().find(event["event"].get<std::string>() + " " +
                               event["text"].get<std::string>()),
              std::string::npos)
        << event;
    if (event["event"] == "cycle.begin") {
      EXPECT_TRUE(event["fields"].contains("reason")) << event;
    }
  }

  // Whoever watches goes on with the next daemon's first line.
  smd_->terminate();
  start();
  const std::size_t seen = watcher.out().size();
  EXPECT_TRUE(watcher.wait_for_output("\"event\":\"transport.open\"", 10s, seen)) << watcher.out();
  watcher.terminate();

  Process severe(
      {.argv = {smctl_path(), "--socket", socket, "watch", "--last", "1000", "--level", "error"}});
  EXPECT_FALSE(severe.wait_for_output("info", 1s)) << severe.out();
  severe.terminate();
  EXPECT_EQ(run_process({.argv = {smctl_path(), "--socket", "/nowhere", "watch"}}, 10s).exit_code,
            1);
}

TEST_F(DaemonOnIbsim, RunsTheSitesProgramForWhatItLogs) {
  const std::filesystem::path program = scratch_.path() / "on-event",
                              heard = scratch_.path() / "heard";
  std::ofstream(program) << "#!/bin/sh\ncat >> " << heard.string() << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::ofstream(config_, std::ios::app)
      << "[log]\nevent_program = \"" << program.string() << "\"\nevent_level = \"info\"\n";
  ::kill(smd_->pid(), SIGHUP);
  const auto told = [&](std::string_view name) {
    return std::ranges::any_of(events_in(read_text(heard)), [&](const nlohmann::json& event) {
      return event.is_object() && event.value("event", "") == name;
    });
  };
  EXPECT_TRUE(wait_until([&] { return told("config.change"); }, 10s)) << smd_->err();
  ASSERT_TRUE(ibsim_->command(
      on_console("Unlink", cable_in_use(see(), read_dump_fts(ask({"dump_fts", "-n"}).out)))));
  EXPECT_TRUE(wait_until([&] { return told("cycle.end"); }, 10s)) << smd_->err();
}

}  // namespace
}  // namespace smd::test
