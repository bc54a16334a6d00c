// The contract of the command lines: exit codes, JSON keys, one clear line for everything that is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/sim/command_lines.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace cli_test {

using nlohmann::json;
using testing::HasSubstr;

TEST(DryRun, PrintsEveryKeyOfTheContract) {
  const Finished done = smd({"dry-run",
                             "--fabric",
                             "fat-tree:k=4,levels=3",
                             "--fail",
                             "sw-0-0:3",
                             "--fail",
                             "sw-2-0",
                             "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json out = json::parse(done.out);
  for (const char* key :
       {"fabric", "engine", "bring_up", "routes", "deadlock", "load", "changes", "rss_mb"}) {
    EXPECT_TRUE(out.contains(key)) << key;
  }
  for (const char* key : {"switches", "cas", "links", "lids"})
    EXPECT_TRUE(out["fabric"].contains(key)) << key;
  for (const char* kind : {"smps", "virtual_ms", "wall_ms"}) {
    for (const char* key : {"discovery", "configure", "tables", "activate", "total"}) {
      EXPECT_TRUE(out["bring_up"][kind].contains(key)) << kind << "." << key;
    }
    for (const char* key : {"detection", "discovery", "tables", "activate", "total"}) {
      EXPECT_TRUE(out["changes"][0][kind].contains(key)) << kind << "." << key;
    }
  }
  for (const char* key :
       {"pairs", "unreachable", "loops", "minimal_pct", "mean_hops", "max_hops"}) {
    EXPECT_TRUE(out["routes"].contains(key)) << key;
  }
  for (const char* key : {"acyclic", "vls", "cycle"})
    EXPECT_TRUE(out["deadlock"].contains(key)) << key;
  for (const char* key : {"max", "mean", "stddev"}) EXPECT_TRUE(out["load"].contains(key)) << key;
  ASSERT_EQ(out["changes"].size(), 2u);
  for (const char* key :
       {"what", "kind", "lft_entries_changed_pct", "transition", "routes", "deadlock"}) {
    EXPECT_TRUE(out["changes"][0].contains(key)) << key;
  }
  for (const char* key : {"kind", "phases", "certified"}) {
    EXPECT_TRUE(out["changes"][0]["transition"].contains(key)) << key;
  }
}

TEST(DryRun, TheExampleInBasicModeSends97DiscoverySmps) {
  const Finished done =
      smd({"dry-run", "--fabric", "example:name=fig67", "--mode", "basic", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["bring_up"]["smps"]["discovery"], 97);
}

TEST(DryRun, TheSameSeedGivesTheSameBytes) {
  const auto run = [](const char* seed) {
    const Finished done = smd({"dry-run",
                               "--fabric",
                               "irregular:switches=12,seed=3",
                               "--drop",
                               "0.02",
                               "--seed",
                               seed,
                               "--json"});
    json out = json::parse(done.out);
    out.erase("rss_mb");
    out["bring_up"].erase("wall_ms");
    return out.dump();
  };
  EXPECT_EQ(run("7"), run("7"));
  EXPECT_NE(run("7"), run("8"));
}

TEST(DryRun, DumpsWhatItDidAndTheFabricLoadsAgain) {
  const Written place("x", "");
  const std::string dump = place.folder() + "/dump";
  ASSERT_EQ(smd({"dry-run", "--fabric", "torus:dims=3.3", "--dump", dump}).exit_code, 0);
  for (const char* name : {"opensm-lfts.dump",
                           "opensm.mcfdbs",
                           "opensm-subnet.lst",
                           "guid2lid",
                           "guid2mkey",
                           "neighbors",
                           "fabric.net",
                           "plan.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(dump + "/" + name)) << name;
  }
  EXPECT_EQ(smd({"dry-run", "--fabric", dump + "/fabric.net"}).exit_code, 0);
}

TEST(DryRun, SaysWhatCongestionControlWouldBeSetTo) {
  const Written config("smd.toml",
                       "[congestion]\nenabled = true\ncc_sw_cong_setting_threshold = 5\n");
  const std::string dump = config.folder() + "/dump";
  const Finished done = smd({"dry-run",
                             "--fabric",
                             "fat-tree:k=4,levels=2",
                             "-c",
                             config.path(),
                             "--fail",
                             "host-00007",
                             "--json",
                             "--dump",
                             dump});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json out = json::parse(done.out);
  EXPECT_EQ(out["congestion"]["agents"], 14);
  EXPECT_EQ(out["congestion"]["confirmed"], 14);
  EXPECT_EQ(out["congestion"]["refusal"], "");
  EXPECT_GT(out["congestion"]["sets"], 14);
  const json& change = out["changes"][0]["congestion"];
  EXPECT_EQ(change["agents"], 13);
  EXPECT_EQ(change["confirmed"], 13);
  EXPECT_EQ(change["sets"], 1) << "its leaf no longer marks for it";
  const std::string registers = read_text(dump + "/congestion.txt");
  EXPECT_THAT(registers, HasSubstr("sw-0-0 port 0"));
  EXPECT_THAT(registers, HasSubstr("threshold 5"));
  EXPECT_THAT(registers, HasSubstr("table 3:0 "));
}

TEST(DryRun, ATableBelowTheFloorFailsWithTheFigure) {
  const Written config("smd.toml", "[congestion]\nenabled = true\ncc_cct = \"0:0,0:100\"\n");
  const Finished done =
      smd({"dry-run", "--fabric", "fat-tree:k=4,levels=2", "-c", config.path(), "--json"});
  EXPECT_EQ(done.exit_code, 1);
  const json out = json::parse(done.out);
  EXPECT_THAT(out["congestion"]["refusal"].get<std::string>(), HasSubstr("waits 100 packet times"));
  EXPECT_EQ(out["congestion"]["sets"], 0);
}

/// Requires: no cell is quoted.
std::vector<std::map<std::string, std::string>> read_csv(const std::string& path) {
  std::vector<std::string> columns;
  std::vector<std::map<std::string, std::string>> rows;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), columns.size()) << line;
    rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), columns.size()); ++i)
      rows.back()[columns[i]] = cells[i];
  }
  return rows;
}

/// What a dry run says of each of its changes.
json changes_of(const std::string& words) {
  std::istringstream in("dry-run --json " + words);
  const std::istream_iterator<std::string> first(in), end;
  const Finished done = smd({first, end});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  return json::parse(done.out)["changes"];
}

TEST(DryRun, ServiceIsBelowWhatCablesAllowUntilAFailureIsTakenIn) {
  const json changes =
      changes_of("--fabric fat-tree:k=4,levels=3 --fail sw-0-0:3 --fail host-00012");
  ASSERT_EQ(changes.size(), 2u);
  const json& cable = changes[0]["service"];
  EXPECT_LT(cable["lowest_connectivity"], 1.0);
  EXPECT_GT(cable["lowest_connectivity"], 0.5);
  EXPECT_GT(cable["below_possible_ms"], changes[0]["virtual_ms"]["detection"]);
  EXPECT_LT(cable["below_possible_ms"],
            changes[0]["virtual_ms"]["detection"].get<double>() +
                changes[0]["virtual_ms"]["total"].get<double>());
  EXPECT_EQ(cable["highest_deadlock"], 0.0);
  EXPECT_EQ(cable["forwarding_loop"], false);
  // Nobody can reach a host that is gone, so nobody misses anything.
  EXPECT_EQ(changes[1]["service"]["below_possible_ms"], 0.0);
}

TEST(DryRun, AProvedChangeIsNeverInDangerAndABasicOneIsDownForAWhile) {
  const std::string failures = "--fabric torus:dims=4.4 --fail sw-1-1:1 --fail sw-2-2:2 --mode ";
  const json certified = changes_of(failures + "certified");
  ASSERT_EQ(certified.size(), 2u);
  for (const json& change : certified) {
    EXPECT_EQ(change["service"]["highest_deadlock"], 0.0);
    EXPECT_EQ(change["service"]["forwarding_loop"], false);
  }
  // While every port is down nothing is connected.
  const json basic = changes_of(failures + "basic");
  ASSERT_EQ(basic.size(), 2u);
  for (const json& change : basic) {
    EXPECT_EQ(change["service"]["lowest_connectivity"], 0.0);
  }
}

// Up*/down* from another root: what is written switch by switch mixes both directions.
TEST(DryRun, AChangeThatIsNotProvedMayLoopAndWaitInACircle) {
  const std::string failure =
      "--fabric irregular:switches=14,links=3,seed=12 --engine updn --fail sw-3 --mode ";
  const json none = changes_of(failure + "none");
  ASSERT_EQ(none.size(), 1u);
  EXPECT_GT(none[0]["service"]["highest_deadlock"], 0.0);
  EXPECT_LT(none[0]["service"]["highest_deadlock"], 1.0);
  EXPECT_EQ(none[0]["service"]["forwarding_loop"], true);
  const json certified = changes_of(failure + "certified");
  ASSERT_EQ(certified.size(), 1u);
  EXPECT_EQ(certified[0]["service"]["highest_deadlock"], 0.0);
  EXPECT_EQ(certified[0]["service"]["forwarding_loop"], false);
}

TEST(DryRun, LargeFabricsAreWatchedOnRequest) {
  const std::vector<std::string> args = {
      "dry-run", "--fabric", "fat-tree:k=8,levels=3", "--fail", "sw-0-0:5", "--json"};
  EXPECT_FALSE(json::parse(smd(args).out)["changes"][0].contains("service"));
  std::vector<std::string> forced = args;
  forced.emplace_back("--timeline");
  EXPECT_TRUE(json::parse(smd(forced).out)["changes"][0].contains("service"));
}

TEST(DryRun, DumpsOneRowPerChangeAndTheTimelineOfEach) {
  const Written place("x", "");
  const std::string dump = place.folder() + "/dump";
  const Finished done = smd({"dry-run",
                             "--fabric",
                             "torus:dims=4.4",
                             "--engine",
                             "updn",
                             "--fail",
                             "sw-1-1:1",
                             "--fail",
                             "sw-2-2",
                             "--json",
                             "--dump",
                             dump});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json changes = json::parse(done.out)["changes"];
  const auto rows = read_csv(dump + "/changes.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("service.lowest_connectivity"), "1.0");  // the dead are not missed
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("what"), changes[i]["what"]);
    EXPECT_EQ(rows[i].at("transition.kind"), changes[i]["transition"]["kind"]);
    EXPECT_EQ(rows[i].at("assimilation.discovery"), changes[i]["assimilation"]["discovery"]);
    for (const char* key : {"detection", "discovery", "tables", "activate", "total"}) {
      EXPECT_EQ(rows[i].at(std::string("smps.") + key), changes[i]["smps"][key].dump()) << key;
      EXPECT_EQ(rows[i].at(std::string("virtual_ms.") + key), changes[i]["virtual_ms"][key].dump())
          << key;
    }
    EXPECT_EQ(rows[i].at("lft_blocks_written"), changes[i]["lft_blocks_written"].dump());
    EXPECT_EQ(rows[i].at("service.below_possible_ms"),
              changes[i]["service"]["below_possible_ms"].dump());

    const auto samples = read_csv(dump + "/timeline-" + std::to_string(i + 1) + ".csv");
    ASSERT_GE(samples.size(), 2u);
    EXPECT_EQ(std::stod(samples.front().at("virtual_ms")), 0.0);
    EXPECT_EQ(samples.front().at("connected"), samples.front().at("possible"));
    EXPECT_EQ(samples.back().at("connected"), samples.back().at("possible"));
    double below = 0;
    for (std::size_t k = 0; k + 1 < samples.size(); ++k) {
      const double begin = std::stod(samples[k].at("virtual_ms"));
      const double end = std::stod(samples[k + 1].at("virtual_ms"));
      EXPECT_LE(begin, end);
      if (std::stoul(samples[k].at("connected")) < std::stoul(samples[k].at("possible")))
        below += end - begin;
    }
    EXPECT_NEAR(below, changes[i]["service"]["below_possible_ms"].get<double>(), 0.01);
  }
}

TEST(DryRun, ThePlanTellsThePhasesOfTheLastChange) {
  const Written place("x", "");
  const std::string dump = place.folder() + "/dump";
  ASSERT_EQ(smd({"dry-run",
                 "--fabric",
                 "torus:dims=4.4",
                 "--engine",
                 "updn",
                 "--fail",
                 "sw-1-1:1",
                 "--dump",
                 dump})
                .exit_code,
            0);
  const std::string plan = read_text(dump + "/plan.txt");
  EXPECT_THAT(plan, HasSubstr("plan: certified, "));
  EXPECT_THAT(plan, HasSubstr("phase 1: proved"));
  EXPECT_THAT(plan, HasSubstr(" -> port "));
  EXPECT_THAT(plan, testing::Not(HasSubstr("plan: initial")));
}

TEST(DryRun, AnEngineThatRefusesSaysWhyAndShowsNoResult) {
  const std::vector<std::string> asked = {
      "dry-run", "--fabric", "fat-tree:k=4,levels=2", "--engine", "dor", "--fail", "sw-0-0:3"};
  const Finished text = smd(asked);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, testing::StartsWith("FAILED: engine dor: no mesh or torus"));
  for (const char* result : {"pairs", "deadlock", "SMPs", "minimal"})
    EXPECT_THAT(text.out, testing::Not(HasSubstr(result)));

  std::vector<std::string> with_json = asked;
  with_json.emplace_back("--json");
  const Finished done = smd(with_json);
  EXPECT_EQ(done.exit_code, 1);
  const json out = json::parse(done.out);
  EXPECT_THAT(out["error"].get<std::string>(), HasSubstr("no mesh or torus"));
  EXPECT_EQ(out["engine"], "dor");
  EXPECT_EQ(out["up"], false);
  for (const char* key : {"bring_up", "routes", "deadlock", "load"})
    EXPECT_TRUE(out.at(key).is_null()) << key;
  EXPECT_TRUE(out.at("changes").empty());
}

TEST(DryRun, AnEngineWithCreditLoopsFails) {
  const Finished done =
      smd({"dry-run", "--fabric", "torus:dims=5.5", "--engine", "minhop", "--json"});
  EXPECT_EQ(done.exit_code, 1);
  const json out = json::parse(done.out);
  EXPECT_FALSE(out["deadlock"]["acyclic"]);
  EXPECT_EQ(out["deadlock"]["cycle"].size(), 1u);
}

TEST(BadCommandLine, IsHeldToTheRulesOfTheFile) {
  const Written conf("smd.toml", "sm.path_sets=['updn','shortest']\nsm.lmc=1\nsm.engine='lash'\n");
  for (const char* const word : {"--engine=updn", "--mode=basic"})
    expect_fault(smd({"dry-run", "-c", conf.path(), "--fabric", "torus:dims=3.3", word}),
                 {"sm.path_sets and sm."});
}

TEST(BadCommandLine, IsCode2WithAClearLine) {
  EXPECT_EQ(smd({}).exit_code, 2);
  EXPECT_EQ(smd({"dry-rum"}).exit_code, 2);
  EXPECT_EQ(smd({"dry-run"}).exit_code, 2);
  EXPECT_EQ(smd({"dry-run", "--fabric", "fat-tree", "--nonsense"}).exit_code, 2);
  expect_fault(smd({"dry-run", "--fabric", "fat-treee"}), {"fat-treee", "fat-tree"});
  expect_fault(smd({"dry-run", "--fabric", "fat-tree:kk=4"}), {"kk", "\"k\""});
  expect_fault(smd({"dry-run", "--fabric", "hamming:beyond=1"}), {"hamming:beyond=1", "no subnet"});
  expect_fault(smd({"dry-run", "--fabric", "fat-tree:k=4", "--engine", "updm"}), {"updm", "updn"});
  expect_fault(smd({"dry-run", "--fabric", "fat-tree:k=4", "--mode", "quick"}), {"quick", "basic"});
  expect_fault(smd({"dry-run", "--fabric", "fat-tree:k=4", "--timing", "slow"}),
               {"slow", "modern"});
  expect_fault(smd({"dry-run", "--fabric", "fat-tree:k=4", "--fail", "nobody"}), {"nobody"});
  expect_fault(smd({"dry-run", "--fabric", "fat-tree:k=4", "--fail", "sw-0-0:77"}), {"1 to 4"});
  expect_fault(smd({"dry-run",
                    "--fabric",
                    "fat-tree:k=4,levels=2",
                    "--fail",
                    "sw-0-0",
                    "--fail",
                    "sw-0-0:3"}),
               {"--fail sw-0-0:3", "is down already, by --fail sw-0-0"});
  expect_fault(smd({"dry-run", "--fabric", "/nowhere/x.net"}), {"/nowhere/x.net"});
  expect_fault(smd({"run", "--once", "--instance", "../up"}), {"--instance", "../up", "0x"});
  expect_fault(smd({"run", "--once", "--port-guid", "mlx5_0"}), {"--port-guid", "mlx5_0", "0x"});
  expect_fault(smd({"run", "--once", "--fabric", "fat-tree:k=4"}),
               {"sm.state_dir", "/var/lib/smd", "-c FILE"});
}

TEST(BadConfig, NamesFileAndLine) {
  const Written config("smd.toml", "[sm]\nlcm = 1\n[sweep]\ninterval_s = -4\n");
  expect_fault(smd({"check-config", "-c", config.path()}),
               {config.path() + ":2", "sm.lmc", config.path() + ":4"});
  expect_fault(smd({"run", "--once", "-c", config.path()}), {config.path() + ":2"});
  const Written engine("smd.toml", "[sm]\nengine = \"updm\"\n");
  expect_fault(smd({"check-config", "-c", engine.path()}), {engine.path() + ":2", "updm", "updn"});
}

TEST(BadConfig, MayBeOneForThisFabricAlone) {
  const Written config("smd.toml", "[congestion]\nenabled = true\ncc_cct = \"0:0,0:100\"\n");
  EXPECT_EQ(smd({"check-config", "-c", config.path()}).exit_code, 0);
  expect_fault(smd({"check-config", "-c", config.path(), "--fabric", "fat-tree:k=4"}),
               {config.path(), "waits 100 packet times", "below its floor"});
  EXPECT_EQ(smd({"check-config", "-c", config.path(), "--fabric", "fat-tree:k=20"}).exit_code, 0)
      << "200 hosts have a lower floor";
  expect_fault(smd({"check-config", "-c", config.path(), "--fabric", "fat-treee"}), {"fat-tree"});
}

struct OddFabric {
  const char* name;
  std::string text;
  int exit_code;
};

class OddFabrics : public testing::TestWithParam<OddFabric> {};

TEST_P(OddFabrics, AreBroughtUpOrRefusedWithALine) {
  const Written file("odd.net", GetParam().text);
  const Finished done = smd({"dry-run", "--fabric", file.path()});
  EXPECT_EQ(done.exit_code, GetParam().exit_code) << done.out << done.err;
  if (GetParam().exit_code == 2) {
    EXPECT_THAT(done.err, HasSubstr(file.path()));
  }
}

std::string wide_switch(unsigned ports) {
  return "Switch " + std::to_string(ports) +
         " \"S1\"\n[1] \"H1\"[1]\n\nCa 1 \"H1\"\n[1] \"S1\"[1]\n";
}

INSTANTIATE_TEST_SUITE_P(
    Files,
    OddFabrics,
    testing::Values(
        OddFabric{"no_switch", "Ca 1 \"H1\"\n[1] \"H2\"[1]\n\nCa 1 \"H2\"\n[1] \"H1\"[1]\n", 0},
        OddFabric{"one_node", "Ca 1 \"H1\"\n", 0},
        OddFabric{"loopback_cable",
                  "Switch 4 \"S1\"\n[1] \"H1\"[1]\n[2] \"S1\"[3]\n[3] \"S1\"[2]\n\nCa 1 "
                  "\"H1\"\n[1] \"S1\"[1]\n",
                  0},
        OddFabric{"two_islands",
                  "Ca 1 \"H1\"\n[1] \"S1\"[1]\n\nSwitch 4 \"S1\"\n[1] \"H1\"[1]\n\nCa 1 "
                  "\"H2\"\n[1] \"S2\"[1]\n\n"
                  "Switch 4 \"S2\"\n[1] \"H2\"[1]\n",
                  0},
        OddFabric{"widest_switch", wide_switch(254), 0},
        OddFabric{"thousand_ports", wide_switch(1000), 2},
        OddFabric{"non_ascii_name",
                  "Switch 4 \"S1\" # \"Zürich \xe2\x9c\x93\"\n[1] \"H1\"[1]\n\nCa 1 \"H1\"\n[1] "
                  "\"S1\"[1]\n",
                  0},
        OddFabric{"nobody", "# nothing here\n", 2},
        OddFabric{"unknown_peer", "Ca 1 \"H1\"\n[1] \"S9\"[1]\n", 2},
        OddFabric{"garbage", std::string("\0\1\2\377\376 binary", 12), 2}),
    [](const auto& param) { return param.param.name; });

TEST(RunOnce, BringsUpASimulatedFabricInRealTime) {
  const Written config("smd.toml", "");
  std::ofstream(config.path()) << "[sm]\nstate_dir = \"" << config.folder() << "/state\"\n";
  const Finished done =
      smd({"run", "--once", "--json", "--fabric", "fat-tree:k=4,levels=2", "-c", config.path()});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json out = json::parse(done.out);
  EXPECT_TRUE(out["up"]);
  EXPECT_FALSE(out.contains("changes"));
  EXPECT_TRUE(std::filesystem::exists(config.folder() + "/state/lids"));
}

TEST(RunOnce, WithoutADeviceIsCode1WithOneLine) {
  const Written config("smd.toml", "");
  std::ofstream(config.path()) << "[sm]\nstate_dir = \"" << config.folder() << "/state\"\n";
  const Finished done = smd({"run", "--once", "--ca", "mlx9_9", "-c", config.path()});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr("no InfiniBand device"));
}

TEST(RunCheck, JudgesTheWholeCommandLineAndStartsNothing) {
  const Written config("smd.toml", "");
  const std::string state = config.folder() + "/state", roots = config.folder() + "/roots";
  std::ofstream(config.path()) << "[sm]\nstate_dir = \"" << state << "\"\nroots_file = \"" << roots
                               << "\"\n";
  std::ofstream(roots) << "0x1\n";
  const auto check = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "-c", config.path(), "--check"});
    return smd(words);
  };
  Finished done = check({});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_FALSE(std::filesystem::exists(state));
  EXPECT_EQ(check({"--instance", "-"}).exit_code, 2);
  EXPECT_EQ(check({"--engine", "what"}).exit_code, 2);
  EXPECT_EQ(check({"--no-such-option"}).exit_code, 2);
  std::ofstream(roots) << "what\n";
  done = check({});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr(roots + ":1:"));
  // Of which there is a good text: a start is not refused.
  std::filesystem::create_directories(state);
  std::ofstream(state + "/roots") << "0x1\n";
  done = check({});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr(roots + ":1:"));
  EXPECT_THAT(done.err, HasSubstr("(in its place: " + state + "/roots)"));
}

/// Code 1, after which systemd starts it again, which it does not after code 2.
TEST(RunOnce, WithLidsThatCannotBeReadIsCode1AndTakesNoOlderOnes) {
  const Written config("smd.toml", "");
  const std::string state = config.folder() + "/state";
  std::ofstream(config.path()) << "[sm]\nstate_dir = \"" << state << "\"\n";
  std::filesystem::create_directories(state);
  std::ofstream(state + "/lids.old") << "0x0001000000000001 7 0\n";
  std::filesystem::create_symlink("lids", state + "/lids");  // ELOOP
  const Finished done =
      smd({"run", "--once", "--fabric", "fat-tree:k=4,levels=2", "-c", config.path()});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr("state.unreadable"));
  EXPECT_THAT(done.err, HasSubstr("smd: " + state + "/lids: cannot be read: "));
  EXPECT_TRUE(std::filesystem::is_symlink(state + "/lids")) << "as it was";
}

/// Through a shell, for what only a shell can set up.
Finished shell(const std::string& line) {
  return run_process(
      {.argv = {"sh", "-c", line}, .env = {{"CONFIG", test::source_path("etc/smd.toml")}}}, kLimit);
}

TEST(LogReader, ThatGoesIsNoEndOfTheManager) {
  const Written config("smd.toml", "");
  std::ofstream(config.path()) << "[sm]\nstate_dir = \"" << config.folder() << "/state\"\n";
  const Finished done = run_process(
      {.argv = {"bash",
                "-c",
                program("smd") + " run --once -vv --fabric fat-tree:k=8,levels=2 --transport sim" +
                    " -c " + config.path() + " 2>&1 >/dev/null | head -1; exit ${PIPESTATUS[0]}"}},
      kLimit);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(std::ranges::count(done.out, '\n'), 1);
}

class FullDisk : public testing::TestWithParam<const char*> {};

TEST_P(FullDisk, IsCode1WithTheReason) {
  const Finished done = shell(program("") + std::string(GetParam()) + " >/dev/full");
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.err,
              testing::AnyOf(testing::EndsWith(": standard output: No space left on device\n"),
                             testing::EndsWith(": standard output: not all of it was written\n")));
  EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
}

INSTANTIATE_TEST_SUITE_P(Programs,
                         FullDisk,
                         testing::Values("smd dry-run --fabric fat-tree:k=4,levels=2",
                                         "smd dry-run --fabric fat-tree:k=4,levels=2 --json",
                                         "smd check-config -c $CONFIG",
                                         "smd --version",
                                         "smd run --help",
                                         "smd state export --dir /",
                                         "smctl --help",
                                         "smsim --version",
                                         "smsim gen --list",
                                         "smsim gen fat-tree:k=4,levels=2",
                                         "smsim gen fat-tree:k=16,levels=2",
                                         "smsim cc-plan fat-tree:k=4,levels=2 --json",
                                         "smsim cost fat-tree:k=4,levels=2 --json",
                                         "smsim run --list",
                                         "smsim trace --list",
                                         "smsim trace all-to-all:bytes=8 --ranks 64",
                                         "smsim experiment --list"));

TEST(FullDisk, OfVerifyAndOfOneBringUp) {
  const Written place("smd.toml", "");
  std::ofstream(place.path()) << "[sm]\nstate_dir = \"" << place.folder() << "/state\"\n";
  const std::string dump = place.folder() + "/dump";
  ASSERT_EQ(smd({"dry-run", "--fabric", "torus:dims=3.3", "--dump", dump}).exit_code, 0);
  const std::string fabric = " --fabric " + dump + "/fabric.net";
  for (const std::string& line :
       {"smd verify" + fabric + " --lft " + dump + "/opensm-lfts.dump",
        "smd run --once --json --fabric fat-tree:k=4,levels=2 -c " + place.path()}) {
    const Finished done = shell(program("") + line + " >/dev/full");
    EXPECT_EQ(done.exit_code, 1) << line;
    EXPECT_THAT(done.err, HasSubstr("smd: standard output: No space left on device\n")) << line;
  }
}

TEST(FullDisk, OfFilesNamesThem) {
  const Written place("x", "");
  // A limit on the length of files stands for the disk: what was there before stays whole.
  const std::string dump = place.folder() + "/dump", file = dump + "/opensm-lfts.dump";
  std::filesystem::create_directories(dump);
  std::ofstream(file) << "as it was\n";
  const Finished full = shell("trap '' XFSZ; ulimit -f 1; exec " +
                              program("smd dry-run --fabric torus:dims=3.3 --dump ") + dump);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.err, file + ": File too large\n");
  EXPECT_EQ(read_text(file), "as it was\n");
  EXPECT_FALSE(std::filesystem::exists(file + ".new"));
  for (const char* name : {"opensm-lfts.dump", "guid2mkey", "plan.txt"}) {
    const std::string other = place.folder() + "/" + name + ".d";
    std::filesystem::create_directories(other + "/" + name + "/in");
    const Finished done = smd({"dry-run", "--fabric", "torus:dims=3.3", "--dump", other});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err, HasSubstr(other + "/" + name + ": Is a directory"));
  }
  expect_fault(run_process({.argv = {program("smsim"), "cost", "--radix", "36", "--json"}}, kLimit),
               {"leave --radix out"});
  const Finished gen = run_process(
      {.argv = {program("smsim"), "gen", "fat-tree:k=4,levels=2", "-o", "/dev/full"}}, kLimit);
  EXPECT_EQ(gen.exit_code, 1);
  EXPECT_THAT(gen.err, HasSubstr("/dev/full: cannot be written: No space left on device"));
  const Finished out = smd({"state", "export", "--dir", place.folder(), "-o", "/dev/full"});
  expect_fault(smd({"state", "export", "--dir", "/nonexistent"}), {"/nonexistent", "no folder"});
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_THAT(out.err, HasSubstr("/dev/full: No space left on device"));
}

TEST(OutOfMemory, IsCode1WithOneLine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes more address space than the limit leaves";
#endif
  const Finished done = shell("ulimit -v 150000; exec " + program("smd") +
                              " dry-run --fabric fat-tree:k=36,levels=3");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_EQ(done.err, "smd: out of memory\n");
}

class UnreadableInput : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(UnreadableInput, IsCode2WithOneLine) {
  const Written place("x", "");
  ASSERT_EQ(::mkfifo((place.folder() + "/pipe").c_str(), 0600), 0);
  for (const std::string& name :
       {std::string("/dev/zero"), place.folder(), place.folder() + "/pipe"}) {
    std::vector<std::string> args = GetParam();
    std::ranges::replace(args, std::string("FILE"), name);
    args.front() = program(args.front());
    const Finished done = run_process({.argv = std::move(args)}, kLimit);
    EXPECT_EQ(done.exit_code, 2) << name << ": " << done.err;
    EXPECT_THAT(done.err, HasSubstr(name));
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs,
    UnreadableInput,
    testing::Values(std::vector<std::string>{"smd", "state", "import", "FILE", "--dir", "/none"},
                    std::vector<std::string>{"smd", "dry-run", "--fabric", "FILE"},
                    std::vector<std::string>{"smd", "dry-run", "--fabric", "star", "-c", "FILE"},
                    std::vector<std::string>{"smd", "check-config", "-c", "FILE"},
                    std::vector<std::string>{"smd", "import-opensm", "FILE"},
                    std::vector<std::string>{
                        "smd", "verify", "--fabric", "example", "--lft", "FILE"},
                    std::vector<std::string>{"smsim", "run", "FILE"},
                    std::vector<std::string>{"smsim", "gen", "FILE"}));

TEST(CheckConfig, RefusesModesThatContradictThemselves) {
  const Written config("smd.toml", "[sm]\nmode = \"certified+none+whole+delta\"\n");
  expect_fault(smd({"check-config", "-c", config.path()}),
               {":2:8: sm.mode is ", "not with certified"});
}

TEST(Versions, EveryProgramHasOneAndHelp) {
  for (const char* name : {"smd", "smctl", "smsim"}) {
    EXPECT_EQ(run_process({.argv = {program(name), "--version"}}, kLimit).exit_code, 0) << name;
    EXPECT_EQ(run_process({.argv = {program(name), "--help"}}, kLimit).exit_code, 0) << name;
  }
}

}  // namespace cli_test
}  // namespace smd::test
