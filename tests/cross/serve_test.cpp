// Debian's OpenSM and infiniband-diags, unmodified, on the fabrics that we simulate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include "tests/cross/served.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace smd::test {
namespace serve_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

/// What two drawings of one fabric have in common, whatever order and names they use.
struct Graph {
  std::set<std::tuple<NodeType, Guid, unsigned>> nodes;         // type, GUID, ports
  std::set<std::tuple<Guid, unsigned, Guid, unsigned>> cables;  // lower end first
  std::set<std::tuple<Guid, unsigned, Guid>> adapter_ports;     // cabled ones

  friend bool operator==(const Graph&, const Graph&) = default;
};

Graph graph_of(const sim::FabricSpec& spec) {
  Graph graph;
  for (const sim::NodeSpec& node : spec.nodes) {
    graph.nodes.emplace(node.type, node.guid, node.num_ports());
    for (unsigned p = 1; p <= node.num_ports(); ++p) {
      const sim::PortSpec& port = node.ports[p];
      if (port.peer_node == sim::kNoNode) continue;
      const Guid peer = spec.nodes[port.peer_node].guid;
      const unsigned peer_port = port.peer_port.value();
      if (node.type == NodeType::Ca) graph.adapter_ports.emplace(node.guid, p, port.guid);
      const auto near = std::pair{node.guid, p};
      const auto far = std::pair{peer, peer_port};
      const auto& [a, b] = std::minmax(near, far);
      graph.cables.emplace(a.first, a.second, b.first, b.second);
    }
  }
  return graph;
}

sim::FabricSpec discovered(const Served& served) {
  const Finished run = served.tool({"ibnetdiscover"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  auto spec = sim::parse_fabric(run.out, "ibnetdiscover");
  EXPECT_TRUE(spec) << print_fault(spec.error().front());
  return spec ? *spec : sim::FabricSpec{};
}

/// LIDs as ibnetdiscover prints them; of a switch that of its port 0.
std::vector<Lid> lids_of(const sim::FabricSpec& spec, NodeType type) {
  std::vector<Lid> lids;
  for (const sim::NodeSpec& node : spec.nodes) {
    if (node.type != type) continue;
    if (type == NodeType::Switch) {
      lids.push_back(node.ports[0].lid);
      continue;
    }
    for (const sim::PortSpec& port : node.ports) {
      if (port.peer_node != sim::kNoNode) lids.push_back(port.lid);
    }
  }
  return lids;
}

std::string text(Lid lid) { return std::to_string(lid.value()); }

void bring_up_with_opensm(const Served& served) {
  const std::filesystem::path log =
      std::filesystem::temp_directory_path() / (served.name + "-opensm.log");
  const Finished opensm =
      served.tool({"opensm", "-o", "-f", log.string()}, served.host(0), seconds(120));
  const std::string lines = read_text(log);
  std::filesystem::remove(log);
  EXPECT_EQ(opensm.exit_code, 0) << opensm.err;
  EXPECT_THAT(lines, HasSubstr("SUBNET UP"));
  EXPECT_THAT(lines, Not(HasSubstr("ERR ")));
}

/// Our own manager, over the same socket.
void bring_up_with_smd(const Served& served) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / (served.name + "-smd");
  std::filesystem::create_directories(folder / "state");
  std::ofstream(folder / "smd.toml")
      << "[sm]\nstate_dir = \"" << (folder / "state").string() << "\"\n[admin]\nsocket = \""
      << (folder / "smd.sock").string() << "\"\n";
  const Finished smd = served.tool({build_path("bin/smd"),
                                    "run",
                                    "--transport",
                                    "umad",
                                    "-c",
                                    (folder / "smd.toml").string(),
                                    "--once"},
                                   served.host(0),
                                   seconds(120));
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  EXPECT_EQ(smd.exit_code, 0) << smd.out << smd.err;
}

class ServeFabrics : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_THAT(umad2sim(), Not(IsEmpty())) << "install ibsim-utils"; }
};

TEST_P(ServeFabrics, OpensmBringsItUpAndTheToolsAgreeOnIt) {
  Served served(GetParam());
  bring_up_with_opensm(served);

  const sim::FabricSpec found = discovered(served);
  EXPECT_EQ(graph_of(found), graph_of(served.spec));

  const std::vector<Lid> hosts = lids_of(found, NodeType::Ca);
  const std::vector<Lid> switches = lids_of(found, NodeType::Switch);
  ASSERT_GE(hosts.size(), 2u);
  const Lid last = hosts.back();
  for (std::size_t i = 0; i < 4; ++i) {
    const Lid from = hosts[i * (hosts.size() - 1) / 4];
    const Finished trace = served.tool({"ibtracert", text(from), text(last)});
    EXPECT_EQ(trace.exit_code, 0) << text(from) << " to " << text(last) << ": " << trace.err;
    EXPECT_THAT(trace.out, HasSubstr("To ca"));
  }
  EXPECT_EQ(served.tool({"ibtracert", text(switches.front()), text(switches.back())}).exit_code, 0);

  const Finished links = served.tool({"iblinkinfo", "--switches-only"});
  EXPECT_EQ(links.exit_code, 0) << links.err;
  std::size_t cabled = 0;
  for (const sim::NodeSpec& node : served.spec.nodes) {
    if (node.type != NodeType::Switch) continue;
    for (const sim::PortSpec& port : node.ports) cabled += port.peer_node != sim::kNoNode;
  }
  EXPECT_EQ(count(links.out, "Active/"), cabled);

  const Finished table = served.tool({"ibroute", text(switches.front())});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr(std::to_string(hosts.size() + switches.size()) + " valid lids"));

  const Finished tables = served.tool({"dump_fts"});
  EXPECT_EQ(tables.exit_code, 0) << tables.err;
  EXPECT_EQ(count(tables.out, "Unicast lids"), switches.size());
}

TEST_P(ServeFabrics, EveryAgentAnswersByDirectedRouteAndByLid) {
  Served served(GetParam());
  const Finished before = served.tool({"smpquery", "-D", "nodeinfo", "0"});
  EXPECT_EQ(before.exit_code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("Channel Adapter"));
  EXPECT_EQ(graph_of(discovered(served)), graph_of(served.spec)) << "before any manager came";

  bring_up_with_opensm(served);
  const sim::FabricSpec found = discovered(served);
  const std::string host = text(lids_of(found, NodeType::Ca).back());
  const std::string sw = text(lids_of(found, NodeType::Switch).front());
  const std::vector<std::pair<std::vector<std::string>, std::string>> queries = {
      {{"smpquery", "nodeinfo", host}, "Channel Adapter"},
      {{"smpquery", "nodedesc", host}, served.spec.nodes.empty() ? "" : "Node Description"},
      {{"smpquery", "portinfo", host, "1"}, "LinkState:.......................Active"},
      {{"smpquery", "portinfo", sw, "0"}, "Lid:............................." + sw},
      {{"smpquery", "switchinfo", sw}, "LinearFdbTop"},
      {{"smpquery", "pkeys", host, "1"}, "0xffff"},
      {{"smpquery", "sl2vl", sw, "1"}, "SL2VL table"},
      {{"smpquery", "vlarb", sw, "1"}, "Low priority VL Arbitration"},
      {{"smpquery", "guidinfo", host}, "guids capacity"},
      {{"perfquery", host, "1"}, "PortXmitData"},
      {{"perfquery", "-x", host, "1"}, "PortUnicastXmitPkts"},
      {{"perfquery", "-a", sw}, "PortXmitData"},
  };
  for (const auto& [argv, expected] : queries) {
    const Finished query = served.tool(argv);
    EXPECT_EQ(query.exit_code, 0) << testing::PrintToString(argv) << query.err;
    EXPECT_THAT(query.out, HasSubstr(expected)) << testing::PrintToString(argv);
  }
}

TEST_P(ServeFabrics, SmdBringsUpWhatOpensmLeftAndWhatIsNew) {
  Served served(GetParam());
  bring_up_with_smd(served);
  const std::vector<Lid> hosts = lids_of(discovered(served), NodeType::Ca);
  const Finished trace = served.tool({"ibtracert", text(hosts.front()), text(hosts.back())});
  EXPECT_EQ(trace.exit_code, 0) << trace.err;

  Served used(GetParam());
  bring_up_with_opensm(used);
  bring_up_with_smd(used);
  EXPECT_EQ(graph_of(discovered(used)), graph_of(used.spec));
}

INSTANTIATE_TEST_SUITE_P(Cross,
                         ServeFabrics,
                         testing::Values("example:name=fig67",
                                         "fat-tree:k=8,levels=3",
                                         "torus:dims=4.4",
                                         "dragonfly",
                                         "irregular"));

/// A manager that stays: OpenSM as a site runs it.
class Manager {
 public:
  Manager(const Served& served, const std::string& host)
      : opensm_({.argv = {"opensm", "-f", "osm.log"}, .env = served.env(host)}) {
    EXPECT_TRUE(wait_until([&] { return times_up() > 0; }, seconds(60))) << log();
  }

  [[nodiscard]] std::string log() const { return read_text(opensm_.cwd() / "osm.log"); }

  [[nodiscard]] std::size_t times_up() const { return count(log(), "SUBNET UP"); }

  [[nodiscard]] std::size_t sweeps() const {
    return count(log(), "tables configured on all switches");
  }

  Process& process() { return opensm_; }

 private:
  Process opensm_;
};

class ServeManager : public testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(umad2sim(), Not(IsEmpty())) << "install ibsim-utils"; }
};

TEST_F(ServeManager, AnswersSminfoAndSaqueryFromItsOwnAndFromOtherHosts) {
  Served served("example:name=fig67");
  Manager manager(served, served.host(2));
  for (const std::size_t at : {0u, 2u}) {
    const Finished info = served.tool({"sminfo"}, served.host(at));
    EXPECT_EQ(info.exit_code, 0) << info.err;
    EXPECT_THAT(info.out, HasSubstr("SMINFO_MASTER")) << "asked from " << served.host(at);
    const Finished path = served.tool({"saquery", "--src-to-dst", "1:2"}, served.host(at));
    EXPECT_EQ(path.exit_code, 0) << path.err;
    EXPECT_EQ(count(path.out, "PathRecord dump"), 1u) << path.out;
    EXPECT_THAT(path.out, HasSubstr("slid....................1\n"));
  }
  EXPECT_THAT(served.console("Attached"), HasSubstr(" SM"));
}

TEST_F(ServeManager, HearsOfAPulledCableAndRoutesAroundIt) {
  Served served("torus:dims=4.4");
  Manager manager(served, served.host(5));
  const auto sw = static_cast<std::size_t>(
      std::find_if(served.spec.nodes.begin(),
                   served.spec.nodes.end(),
                   [](const auto& node) { return node.type == NodeType::Switch; }) -
      served.spec.nodes.begin());
  const sim::NodeSpec& near = served.spec.nodes[sw];
  unsigned port = 1;
  while (near.ports[port].peer_node == sim::kNoNode ||
         served.spec.nodes[near.ports[port].peer_node].type != NodeType::Switch) {
    ++port;
  }
  const std::size_t sweeps = manager.sweeps();
  EXPECT_THAT(served.console("Unlink \"" + near.description + "\"[" + std::to_string(port) + "]"),
              HasSubstr("1 link down"));
  EXPECT_TRUE(wait_until([&] { return manager.sweeps() > sweeps; }, seconds(30))) << manager.log();

  sim::FabricSpec cut = served.spec;
  sim::PortSpec& one = cut.nodes[sw].ports[port];
  cut.nodes[one.peer_node].ports[one.peer_port.value()].peer_node = sim::kNoNode;
  one.peer_node = sim::kNoNode;
  const sim::FabricSpec found = discovered(served);
  EXPECT_EQ(graph_of(found), graph_of(cut));
  const std::vector<Lid> hosts = lids_of(found, NodeType::Ca);
  EXPECT_TRUE(wait_until(
      [&] {
        return std::all_of(hosts.begin() + 1, hosts.begin() + 6, [&](Lid to) {
          return served.tool({"ibtracert", text(hosts[0]), text(to)}).exit_code == 0;
        });
      },
      seconds(30)));

  served.console("ReLink \"" + near.description + "\"[" + std::to_string(port) + "]");
  EXPECT_TRUE(wait_until([&] { return graph_of(discovered(served)) == graph_of(served.spec); },
                         seconds(30)));
}

TEST_F(ServeManager, ThatDiesLeavesItsPlaceToAnother) {
  Served served("example:name=fig67");
  {
    Manager first(served, served.host(0));
    ::kill(first.process().pid(), SIGKILL);
    first.process().wait(seconds(5));
  }
  Manager second(served, served.host(0));
  EXPECT_THAT(served.tool({"sminfo"}, served.host(1)).out, HasSubstr("SMINFO_MASTER"));
}

TEST_F(ServeManager, StandsByForAnother) {
  Served served("example:name=fig67");
  Manager first(served, served.host(0));
  Process second({.argv = {"opensm", "-f", "osm.log"}, .env = served.env(served.host(1))});
  EXPECT_TRUE(second.wait_for_output("STANDBY", seconds(30))) << second.out() << second.err();
}

TEST_F(ServeManager, ComesUpOverLossyCables) {
  Served served("example:name=fig67", {"--drop", "0.01"});
  const Finished opensm =
      served.tool({"opensm", "-o", "-f", "stdout"}, served.host(0), seconds(60));
  EXPECT_THAT(opensm.out, HasSubstr("SUBNET UP"));
}

TEST_F(ServeManager, SharesItsPortWithTools) {
  Served served("example:name=fig67");
  Manager manager(served, served.host(0));
  std::vector<std::unique_ptr<Process>> tools;
  for (int i = 0; i < 20; ++i) {
    tools.push_back(std::make_unique<Process>(ProcessOptions{
        .argv = {"ibnetdiscover"}, .env = served.env(served.host(i % 2 == 0 ? 0 : 3))}));
  }
  for (const auto& tool : tools) {
    EXPECT_EQ(tool->wait(seconds(60)), 0) << tool->err();
    const auto seen = sim::parse_fabric(tool->out(), "ibnetdiscover");
    ASSERT_TRUE(seen);
    EXPECT_EQ(graph_of(*seen), graph_of(served.spec));
  }
}

TEST_F(ServeManager, SurvivesGarbageOnItsSockets) {
  Served served("example:name=fig67");
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  for (const std::string& socket : {served.name + ":ctl", served.name + ":out0"}) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::copy(socket.begin(), socket.end(), to.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size() + 2);
    for (std::size_t size = 0; size < 600; ++size) {
      const std::string garbage(size, static_cast<char>(size));
      ::sendto(fd, garbage.data(), garbage.size(), 0, reinterpret_cast<sockaddr*>(&to), length);
    }
  }
  ::close(fd);
  EXPECT_EQ(served.tool({"smpquery", "-D", "nodeinfo", "0"}).exit_code, 0);
  EXPECT_THAT(served.console("Counters"), HasSubstr("malformed 600\n"));
}

TEST_F(ServeManager, RefusesAnUnknownHost) {
  Served served("example:name=fig67");
  EXPECT_NE(served.tool({"smpquery", "-D", "nodeinfo", "0"}, "nobody").exit_code, 0);
  EXPECT_THAT(served.server.err(), HasSubstr("nobody"));
}

TEST(ServeCommand, ServesOnWithoutAConsoleAndEndsOnSigterm) {
  Served served("example:name=fig67");
  served.server.close_stdin();
  EXPECT_EQ(served.tool({"smpquery", "-D", "nodeinfo", "0"}).exit_code, 0);
  EXPECT_TRUE(served.server.is_running());
  EXPECT_EQ(served.server.terminate(seconds(2)), 0);
}

TEST(ServeCommand, QuitsWhenTold) {
  Served served("example:name=fig67");
  EXPECT_THAT(served.console("nonsense"), HasSubstr("# unknown command 'nonsense'"));
  EXPECT_THAT(served.console(std::string(100000, 'x')), HasSubstr("at most 4096"));
  served.server.write("quit\n");
  EXPECT_EQ(served.server.wait(seconds(2)), 0);
}

TEST(ServeCommand, SaysInOneLineWhatIsWrong) {
  Served served("example:name=fig67");
  const auto refused = [&](const std::string& fabric, const std::string& name, int code) {
    const Finished run = run_process(
        {.argv = {smsim_path(), "serve", "--fabric", fabric, "--name", name}}, seconds(10));
    EXPECT_EQ(run.exit_code, code) << fabric << " " << name;
    EXPECT_EQ(count(run.err, "\n"), 1u) << run.err;
    EXPECT_THAT(run.out, IsEmpty());
    return run.err;
  };
  EXPECT_THAT(refused("example:name=fig67", served.name, 1), HasSubstr("--name"));
  EXPECT_THAT(refused("no-such-generator:x=1", served.name + "x", 2), Not(IsEmpty()));
  EXPECT_THAT(refused("example:name=fig67", std::string(200, 'n'), 2), HasSubstr("name"));
}

}  // namespace serve_test
}  // namespace smd::test
