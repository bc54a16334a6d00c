// Debian's opensm with our engines in it, on ibsim and on smsim: what it writes into the switches,
// read back by Debian's diagnostics, is what the engines compute.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "plugins/opensm/compute_routes.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/cross/opensm_with_plugin.h"
#include "tests/cross/read_back.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using opensm::Routes;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTree = "fat-tree:k=4,levels=2";
constexpr const char* kTorus = "torus:dims=5.3";
constexpr const char* kDragonfly = "dragonfly:a=3,c=1,h=1";
constexpr const char* kHamming = "hamming:dims=3.3";

/// Small ones of every family: an engine is tried on the first that suits it. Rings come first,
/// where routes need lanes.
constexpr const char* kFabrics[] = {kTorus, kTree, kDragonfly, kHamming};

/// Which of them that is.
std::string_view fabric_of(std::string_view engine) {
  if (engine == "ftree" || engine == "minhop") return kTree;
  if (engine == "dragonfly") return kDragonfly;
  if (engine == "hamming") return kHamming;
  return kTorus;
}

/// A cable between two switches, as a console names its end.
std::string some_cable(const sim::FabricSpec& spec) {
  for (const sim::NodeSpec& node : spec.nodes) {
    if (node.type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= node.num_ports(); ++p) {
      const std::uint32_t peer = node.ports[p].peer_node;
      if (peer != sim::kNoNode && spec.nodes[peer].type == NodeType::Switch)
        return "\"" + node.id + "\"[" + std::to_string(p) + "]";
    }
  }
  return {};
}

opensm::SweepRequest sweep_of(const ReadBack& seen, std::shared_ptr<const Routes> in_force = {}) {
  return {.fabric = seen.fabric, .lids = seen.lids, .in_force = std::move(in_force)};
}

/// The checker's verdict on what is in the switches, with the lanes that were computed for it.
void expect_clean(const ReadBack& seen, const Routes& computed) {
  RoutingTables tables = computed.tables;
  tables.lft = seen.lft;
  const RouteReport report = check_routes(*seen.fabric, seen.lids, tables);
  EXPECT_TRUE(report.ok()) << testing::PrintToString(report.first_faults)
                           << print_cycle(*seen.fabric, report.cycle);
  EXPECT_GT(report.pairs, 0u);
  EXPECT_THAT(seen.broken, IsEmpty());
}

/// Rows that are not as computed, of one port of every switch.
std::vector<std::string> find_wrong_lanes(const Stage& stage,
                                          const ReadBack& seen,
                                          const Routes& computed) {
  std::vector<std::string> wrong;
  const Fabric& fabric = *seen.fabric;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const Lid lid = seen.lids.base[fabric.port_of(node, PortNum{0})];
    const PortNum out{static_cast<std::uint8_t>(1 + sw.value() % fabric.num_ports(node))};
    if (fabric.peer[fabric.port_of(node, out)] == kNone<PortIdx>) continue;
    const std::vector<SlToVl> rows = read_lanes(stage, lid, out);
    if (rows.size() != fabric.num_ports(node) + 1u) wrong.push_back("too few rows");
    for (std::uint8_t in = 0; in < rows.size(); ++in) {
      const SlToVl wanted = opensm::find_sl_to_vl(computed, sw, PortNum{in}, out);
      if (rows[in] == wanted) continue;
      wrong.push_back(fmt::format("switch {} from {} to {}: {}, computed {}",
                                  lid.value(),
                                  in,
                                  out.value(),
                                  testing::PrintToString(rows[in]),
                                  testing::PrintToString(wanted)));
    }
  }
  return wrong;
}

/// OpenSM may sweep once more before ports have the lanes that the rows need.
void expect_lanes(const Stage& stage, const ReadBack& seen, const Routes& computed) {
  if (!opensm::needs_sl_to_vl(computed.tables)) return;
  std::vector<std::string> wrong;
  wait_until([&] { return (wrong = find_wrong_lanes(stage, seen, computed)).empty(); },
             std::chrono::seconds(20));
  EXPECT_THAT(wrong, IsEmpty());
}

std::vector<Lid> find_hosts(const ReadBack& seen) {
  std::vector<Lid> hosts;
  for (const PortIdx port : seen.fabric->peer.indices()) {
    if (seen.lids.base[port] != kUnassignedLid &&
        !seen.fabric->is_switch(seen.fabric->node_of[port]))
      hosts.push_back(seen.lids.base[port]);
  }
  return hosts;
}

void expect_path_sls(const Stage& stage, const ReadBack& seen, const Routes& computed) {
  if (computed.tables.path_sls.empty()) return;
  const std::vector<Lid> hosts = find_hosts(seen);
  for (std::size_t i = 1; i < std::min<std::size_t>(hosts.size(), 6); ++i) {
    EXPECT_EQ(ask_path_sl(stage, hosts[0], hosts[i]),
              opensm::find_path_sl(computed, hosts[0], hosts[i], 0));
  }
}

struct Case {
  Server server;
  std::string_view engine;
};

class OpensmPlugin : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { ASSERT_THAT(umad2sim(), Not(IsEmpty())) << "install ibsim-utils"; }

  Scratch scratch_;
};

TEST_P(OpensmPlugin, PutsTheEnginesTablesIntoTheSwitchesThroughALossAndItsRepair) {
  const Engine& engine = *find_engine(GetParam().engine);
  const std::string name = "smd-" + std::string(GetParam().engine);
  for (const char* fabric : kFabrics) {
    SCOPED_TRACE(fabric);
    Stage stage(GetParam().server, fabric, scratch_.path());
    ASSERT_TRUE(stage.ready());
    OpensmWithPlugin opensm(stage, {.engines = name + ",minhop", .config = {"qos TRUE"}});
    ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
    ASSERT_TRUE(opensm.wait_until_quiet()) << opensm.log();
    ReadBack seen = read_back(stage);
    auto routes = opensm::compute_routes(engine, sweep_of(seen));
    if (!routes) {
      EXPECT_GT(opensm.count(name + ": refused: "), 0u) << routes.error().context << opensm.log();
      EXPECT_GT(opensm.count("minhop tables configured"), 0u) << opensm.log();
      EXPECT_TRUE(opensm.process().is_running());
      ASSERT_NE(fabric, fabric_of(GetParam().engine)) << routes.error().context;
      continue;
    }
    EXPECT_EQ(fabric, fabric_of(GetParam().engine));
    EXPECT_GT(opensm.count(name + " tables configured"), 0u) << opensm.log();
    EXPECT_THAT(find_differences(*seen.fabric, seen.lft, (*routes)->tables.lft), IsEmpty());
    expect_clean(seen, **routes);
    expect_lanes(stage, seen, **routes);
    expect_path_sls(stage, seen, **routes);

    for (const char* change : {"Unlink ", "ReLink "}) {
      SCOPED_TRACE(change);
      const std::size_t links = seen.fabric->link_count();
      const std::size_t sweeps = opensm.sweeps();
      stage.console(change + some_cable(stage.spec()));
      ASSERT_TRUE(opensm.wait_for_more("tables configured on all switches", sweeps))
          << opensm.log();
      ASSERT_TRUE(opensm.wait_until_quiet()) << opensm.log();
      seen = read_back(stage);
      EXPECT_NE(seen.fabric->link_count(), links);
      routes = opensm::compute_routes(engine, sweep_of(seen, *routes));
      if (!routes) {
        EXPECT_GT(opensm.count(name + ": refused: "), 0u) << routes.error().context;
        break;
      }
      EXPECT_THAT(find_differences(*seen.fabric, seen.lft, (*routes)->tables.lft), IsEmpty());
      expect_clean(seen, **routes);
      expect_lanes(stage, seen, **routes);
      expect_path_sls(stage, seen, **routes);
    }
    EXPECT_EQ(opensm.process().terminate(seconds(20)), 0) << opensm.log();
    return;
  }
  ADD_FAILURE() << "refused on every fabric";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Server server : {Server::Ibsim, Server::Smsim}) {
    for (const std::string_view engine : engine_names()) cases.push_back({server, engine});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(
    EveryEngine, OpensmPlugin, testing::ValuesIn(all_cases()), [](const auto& each) {
      std::string name = each.param.server == Server::Ibsim ? "ibsim_" : "smsim_";
      name += each.param.engine;
      std::ranges::replace(name, '-', '_');
      return name;
    });

class OpensmPluginLife : public testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(umad2sim(), Not(IsEmpty())) << "install ibsim-utils"; }

  Scratch scratch_;
};

// Shortest paths on a torus have credit loops: the check refuses them, and OpenSM goes on.
TEST_F(OpensmPluginLife, ARefusedFabricGoesToTheNextEngineOfTheList) {
  Stage stage(Server::Ibsim, "torus:dims=5.5", scratch_.path());
  OpensmWithPlugin opensm(stage, {.engines = "smd-minhop,smd-updn"});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr("smd-minhop: refused: "));
  EXPECT_THAT(opensm.log(), HasSubstr("credit loop"));
  EXPECT_THAT(opensm.log(), HasSubstr("smd-updn tables configured on all switches"));
}

// OpenSM refuses a pair any SL that a switch on its way discards (ERR 1F24), and multicast takes
// turns that no unicast path does.
TEST_F(OpensmPluginLife, EveryPairOfHostsHasAPathAndNoTurnDiscards) {
  Stage stage(Server::Smsim, "torus:dims=5.5", scratch_.path());
  OpensmWithPlugin opensm(stage, {.engines = "smd-itb-vl", .config = {"qos TRUE"}});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  ASSERT_TRUE(opensm.wait_until_quiet()) << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr("smd-itb-vl tables configured on all switches"));
  const ReadBack seen = read_back(stage);
  const auto routes = opensm::compute_routes(*find_engine("itb-vl"), sweep_of(seen));
  ASSERT_TRUE(routes) << routes.error().context;
  ASSERT_GT((*routes)->tables.vls, 1u) << "on one lane nobody asks";
  std::vector<std::string> wrong;
  const std::vector<Lid> hosts = find_hosts(seen);
  ASSERT_EQ(hosts.size(), 25u);
  for (const Lid from : hosts) {
    for (const Lid to : hosts) {
      if (from == to) continue;
      const unsigned given = ask_path_sl(stage, from, to);
      const unsigned wanted = opensm::find_path_sl(**routes, from, to, 0);
      if (given != wanted)
        wrong.push_back(fmt::format("{} to {}: SL {}, not {}", from, to, given, wanted));
    }
  }
  EXPECT_THAT(wrong, IsEmpty());
  EXPECT_EQ(opensm.count("ERR 1F24"), 0u);

  std::vector<std::string> discarding;
  const Fabric& fabric = *seen.fabric;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const Lid lid = seen.lids.base[fabric.port_of(node, PortNum{0})];
    for (unsigned p = 1; p <= fabric.num_ports(node); ++p) {
      for (const SlToVl& row : read_lanes(stage, lid, PortNum{static_cast<std::uint8_t>(p)})) {
        if (std::ranges::count(row, kManagementVl) != 0)
          discarding.push_back(fmt::format("switch {} to port {}", lid, p));
      }
    }
  }
  EXPECT_THAT(discarding, IsEmpty());
}

TEST_F(OpensmPluginLife, AfterARefusalOpensmsOwnEngineFindsEverythingAsItPreparedIt) {
  Stage stage(Server::Ibsim, "torus:dims=5.5", scratch_.path());
  const auto tables_of = [&](const std::string& engines) {
    OpensmWithPlugin opensm(stage, {.engines = engines});
    EXPECT_TRUE(opensm.wait_until_up()) << opensm.log();
    EXPECT_THAT(opensm.log(), HasSubstr("dor tables configured on all switches"));
    EXPECT_EQ(opensm.process().terminate(seconds(20)), 0);
    return read_back(stage).lft;
  };
  const ForwardingTables alone = tables_of("dor");
  EXPECT_EQ(tables_of("smd-minhop,dor"), alone);
}

TEST_F(OpensmPluginLife, WithoutFallbackOpensmLivesAndSaysWhy) {
  Stage stage(Server::Ibsim, "torus:dims=5.5", scratch_.path());
  OpensmWithPlugin opensm(stage, {.engines = "smd-minhop,no_fallback"});
  ASSERT_TRUE(opensm.wait_for_more("No routing engine able to", 0)) << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr("smd-minhop: refused: "));
  EXPECT_TRUE(opensm.process().is_running());
  EXPECT_EQ(opensm.process().terminate(seconds(20)), 0);
}

// As above, but the refusal comes after a loss: what switches hold is still there, and so are
// paths.
TEST_F(OpensmPluginLife, WithoutFallbackTablesInForceStayAndPathsAreAnswered) {
  Stage stage(Server::Smsim, "torus:dims=5.5", scratch_.path());
  OpensmWithPlugin opensm(
      stage, {.engines = "smd-dor,no_fallback", .options = "vls=2", .config = {"qos TRUE"}});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  ASSERT_TRUE(opensm.wait_until_quiet()) << opensm.log();
  const ReadBack before = read_back(stage);
  const std::vector<Lid> hosts = find_hosts(before);
  std::vector<unsigned> sls;
  const auto ask_all = [&] {
    std::vector<unsigned> answers;
    for (std::size_t i = 1; i < hosts.size(); ++i)
      answers.push_back(ask_path_sl(stage, hosts[i], hosts[(7 * i) % hosts.size()]));
    return answers;
  };
  sls = ask_all();
  for (const char* sw : {"sw-1-1", "sw-2-1"}) {
    for (const char* port : {"1", "2", "3"})
      stage.console(fmt::format("Unlink \"{}\"[{}]", sw, port));
  }
  ASSERT_TRUE(opensm.wait_for_more("smd-dor: no other engine is asked", 0)) << opensm.log();
  ASSERT_TRUE(opensm.wait_for_more("ERRORS DURING INITIALIZATION", 0)) << opensm.log();
  EXPECT_THAT(sls, Contains(testing::Gt(0u))) << "SLs of several lanes";
  const ReadBack seen = read_back(stage);
  const Fabric& fabric = *seen.fabric;
  const ChannelLoad walk{fabric, seen.lft};
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    const Lid to = hosts[(7 * i) % hosts.size()];
    const SwitchIdx first = fabric.switch_at(fabric.peer[seen.lids.owner_of(hosts[i])]);
    std::vector<PortIdx> path;
    if (!walk.find_path(first, to, seen.lids.owner_of(to), path)) sls[i - 1] = 255;  // over a gap
  }
  EXPECT_THAT(sls, Contains(testing::AllOf(testing::Gt(0u), testing::Ne(255u))));
  EXPECT_EQ(ask_all(), sls);
  EXPECT_EQ(opensm.process().terminate(seconds(20)), 0);
}

// OpenSM writes what its cache holds, and asks no engine, where what was computed is gone again.
TEST_F(OpensmPluginLife, WithoutFallbackNoCacheTakesTablesInForceForGoodOnes) {
  Stage stage(Server::Smsim, "torus:dims=5.5", scratch_.path());
  OpensmWithPlugin opensm(stage,
                          {.engines = "smd-dor,no_fallback",
                           .options = "vls=2",
                           .config = {"qos TRUE", "use_ucast_cache TRUE"}});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  ASSERT_TRUE(opensm.wait_until_quiet()) << opensm.log();
  for (const char* sw : {"sw-1-1", "sw-2-1"}) {
    for (const char* port : {"1", "2", "3"})
      stage.console(fmt::format("Unlink \"{}\"[{}]", sw, port));
  }
  ASSERT_TRUE(opensm.wait_for_more("no other engine is asked", 0)) << opensm.log();
  const std::size_t up = opensm.count("SUBNET UP");
  const std::size_t refused = opensm.count("no other engine is asked");
  ASSERT_TRUE(opensm.wait_for_more("no other engine is asked", refused)) << opensm.log();
  EXPECT_EQ(opensm.count("SUBNET UP"), up);
  for (const char* sw : {"sw-1-1", "sw-2-1"}) {
    for (const char* port : {"1", "2", "3"})
      stage.console(fmt::format("ReLink \"{}\"[{}]", sw, port));
  }
  EXPECT_TRUE(opensm.wait_for_more("SUBNET UP", up)) << opensm.log();
  EXPECT_EQ(opensm.process().terminate(seconds(20)), 0);
}

TEST_F(OpensmPluginLife, AMistypedOptionIsOneLineAndNoEngine) {
  Stage stage(Server::Ibsim, kTree, scratch_.path());
  OpensmWithPlugin opensm(stage, {.engines = "smd-updn", .options = "rots=0x1"});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  EXPECT_EQ(opensm.count("smd_opensm: event_plugin_options: 'rots=0x1': there is no such option"),
            1u)
      << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr("cannot load plugin 'smd_opensm'"));
  EXPECT_THAT(opensm.log(), HasSubstr("minhop tables configured on all switches"));
}

TEST_F(OpensmPluginLife, OptionsReachTheEngines) {
  Stage stage(Server::Smsim, kTree, scratch_.path());
  const Guid root =
      std::ranges::find(stage.spec().nodes, NodeType::Switch, &sim::NodeSpec::type)->guid;
  const std::string options = fmt::format("roots={} ; seed=7", root);
  OpensmWithPlugin opensm(stage, {.engines = "smd-updn", .options = options});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr(fmt::format("options roots={} seed=7", root)));
  const ReadBack seen = read_back(stage);
  opensm::SweepRequest request = sweep_of(seen);
  request.options.roots = {root};
  request.options.seed = 7;
  const auto routes = opensm::compute_routes(*find_engine("updn"), request);
  ASSERT_TRUE(routes);
  EXPECT_THAT(find_differences(*seen.fabric, seen.lft, (*routes)->tables.lft), IsEmpty());
}

// Several LIDs for each port: every one of them is routed.
TEST_F(OpensmPluginLife, LmcIsServed) {
  Stage stage(Server::Smsim, kTree, scratch_.path());
  OpensmWithPlugin opensm(stage, {.engines = "smd-updn", .config = {"lmc 2"}});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr("smd-updn tables configured on all switches"));
  const ReadBack seen = read_back(stage);
  const auto routes = opensm::compute_routes(*find_engine("updn"), sweep_of(seen));
  ASSERT_TRUE(routes) << routes.error().context;
  EXPECT_EQ(std::ranges::max(seen.lids.lmc), 2);
  EXPECT_THAT(find_differences(*seen.fabric, seen.lft, (*routes)->tables.lft), IsEmpty());
  EXPECT_TRUE(check_routes(*seen.fabric, seen.lids, seen.lft).ok());
}

TEST_F(OpensmPluginLife, SurvivesResweepsAndLogRotation) {
  Stage stage(Server::Smsim, kTree, scratch_.path());
  OpensmWithPlugin opensm(stage, {.engines = "smd-updn"});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  const ForwardingTables before = read_back(stage).lft;
  const auto resweep = [&] {
    const std::size_t sweeps = opensm.sweeps();
    ::kill(opensm.process().pid(), SIGHUP);
    return opensm.wait_for_more("smd-updn tables configured on all switches", sweeps);
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(resweep()) << opensm.log();

  std::filesystem::rename(opensm.log_file(), opensm.log_file().string() + ".1");
  ::kill(opensm.process().pid(), SIGUSR1);
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(opensm.log_file()); }, seconds(10)));
  ASSERT_TRUE(resweep()) << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr("smd-updn: ")) << "our lines go to the new file";
  EXPECT_EQ(read_back(stage).lft, before);
  EXPECT_EQ(opensm.process().terminate(seconds(20)), 0);
}

// OpenSM's multicast trees are made from its LID matrices: they must be what its own engine makes.
TEST_F(OpensmPluginLife, LidMatricesAreThoseOfOpensmsMinhop) {
  Stage stage(Server::Ibsim, "fat-tree:k=4,levels=3", scratch_.path());
  const auto matrices_of = [&](const std::string& engine) {
    OpensmWithPlugin opensm(stage, {.engines = engine, .config = {"log_flags 0x43"}});
    EXPECT_TRUE(opensm.wait_until_up()) << opensm.log();
    const auto file = opensm.process().cwd() / "opensm-lid-matrix.dump";
    EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(file); }, seconds(10)));
    EXPECT_THAT(opensm.log(), HasSubstr(engine + " tables configured on all switches"));
    EXPECT_EQ(opensm.process().terminate(seconds(20)), 0);
    return read_text(file);
  };
  const std::string own = matrices_of("minhop");
  EXPECT_GT(own.size(), 1000u);
  EXPECT_EQ(matrices_of("smd-updn"), own) << "whatever our engine does";
}

TEST_F(OpensmPluginLife, ListsSeveralEnginesOfOurs) {
  Stage stage(Server::Smsim, kTree, scratch_.path());
  OpensmWithPlugin opensm(stage, {.engines = "smd-updn smd-minhop,smd-updn"});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  for (const std::string_view name : engine_names())
    EXPECT_THAT(opensm.log(), HasSubstr("smd-" + std::string(name))) << "told at the start";
  EXPECT_EQ(opensm.process().terminate(seconds(20)), 0);
}

/// Errors of valgrind's report in which our library has a part.
std::vector<std::string> errors_of_ours(const std::string& report) {
  std::vector<std::string> errors;
  std::size_t at = 0;
  while ((at = report.find("<error>", at)) != std::string::npos) {
    const std::size_t end = report.find("</error>", at);
    const std::string error = report.substr(at, end - at);
    if (error.find("libsmd_opensm.so") != std::string::npos) errors.push_back(error);
    at = end;
  }
  return errors;
}

TEST_F(OpensmPluginLife, ValgrindFindsNoErrorOfOurs) {
  if (run_process({.argv = {"valgrind", "--version"}}, seconds(10)).exit_code != 0)
    GTEST_SKIP() << "install valgrind";
  Stage stage(Server::Smsim, kTree, scratch_.path());
  OpensmWithPlugin opensm(stage,
                          {.engines = "smd-minhop,smd-updn",
                           .config = {"qos TRUE"},
                           .wrapper = {"valgrind",
                                       "--trace-children=yes",
                                       "--leak-check=full",
                                       "--xml=yes",
                                       "--xml-file=valgrind.xml"}});
  ASSERT_TRUE(opensm.wait_for_more("SUBNET UP", 0, seconds(120))) << opensm.log();
  for (const char* change : {"Unlink ", "ReLink "}) {
    const std::size_t sweeps = opensm.sweeps();
    stage.console(change + some_cable(stage.spec()));
    ASSERT_TRUE(opensm.wait_for_more("tables configured on all switches", sweeps, seconds(60)));
  }
  ASSERT_TRUE(opensm.wait_until_quiet());
  EXPECT_EQ(opensm.process().terminate(seconds(60)), 0) << opensm.log();
  EXPECT_THAT(opensm.log(), HasSubstr("smd-"));
  const std::string report = read_text(opensm.process().cwd() / "valgrind.xml");
  EXPECT_THAT(report, HasSubstr("<tool>memcheck</tool>"));
  EXPECT_THAT(report, HasSubstr("</valgrindoutput>")) << "it ran to its end";
  EXPECT_THAT(errors_of_ours(report), IsEmpty());
}

}  // namespace
}  // namespace smd::test
