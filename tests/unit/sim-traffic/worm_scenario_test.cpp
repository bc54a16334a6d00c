// Scenarios on worms: keys of the other model, what a run comes to, and that it repeats itself.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sim-backend/scenario/result_text.h"
#include "sim-backend/scenario/run.h"
#include "tests/support/files.h"
#include "tests/support/scenario_text.h"

namespace smd::sim {
namespace worm_scenario_test {

using test::fault_of_text;
using test::prepare_text;

using testing::HasSubstr;
using testing::StartsWith;

const std::string kWorms = R"([fabric]
name = "irregular:switches=8,ports=8,links=4,hosts=4"
model = "worms"
)";

std::string with(const std::string& rest) { return kWorms + rest; }

PointResult run(const std::string& text, double load, std::uint64_t seed = 1) {
  const auto made = prepare_text(text);
  EXPECT_TRUE(made) << fault_of_text(text);
  return made->run(load, seed);
}

constexpr const char* kTraffic = R"(
[traffic]
load_unit = "flits/ns/switch"
arrivals = "uniform-gap"
size = 512
[measure]
interval_us = 50
warm_up_messages = 500
messages = 4000
)";

TEST(WormScenario, RefusesKeysOfTheOtherModelWithTheirLine) {
  EXPECT_EQ(fault_of_text(with("engine = \"updn\"\n")),
            "s.toml:4: fabric.engine is of fabric.model = \"packets\"; leave it out");
  EXPECT_EQ(fault_of_text(with("[switch]\nrouting_ns = 5\n")),
            "s.toml:5: switch.routing_ns is of fabric.model = \"packets\"; leave it out");
  EXPECT_EQ(fault_of_text(with("[congestion]\npreset = \"standard\"\n")),
            "s.toml:5: congestion.preset is of fabric.model = \"packets\"; leave it out");
  EXPECT_EQ(fault_of_text(with("[routes]\nrule = \"min\"\n")),
            "s.toml:5: routes.rule is of fabric.model = \"packets\"; leave it out");
  EXPECT_EQ(fault_of_text(with("orientation = \"depth-first\"\n")),
            "s.toml:4: fabric.orientation is of fabric.model = \"packets\"; leave it out");
  for (const char* key : {"[routes]\nsystem = \"UD\"\n",
                          "[nic]\nmemory = 5\n",
                          "[worm]\ncable = 3\n",
                          "[traffic]\nload_unit = \"share\"\n"}) {
    EXPECT_THAT(fault_of_text(std::string("[fabric]\nname = \"torus:dims=3.3,hosts=1\"\n") + key),
                testing::AllOf(StartsWith("s.toml:4: "),
                               HasSubstr("is of fabric.model = \"worms\"; leave it out")));
  }
}

TEST(WormScenario, TakesTheModelInTheSingularToo) {
  EXPECT_EQ(fault_of_text("[fabric]\nname = \"torus:dims=3.3,hosts=1\"\nmodel = \"worm\"\n"
                          "[routes]\nsystem = \"UD\"\n"),
            "");
}

TEST(WormScenario, RefusesWhatCannotBe) {
  EXPECT_EQ(fault_of_text(with("preset = \"modern\"\n")),
            "s.toml:4: fabric.preset of worms is \"myrinet\" or \"unit\"");
  EXPECT_THAT(fault_of_text("[fabric]\npreset = \"myrinet\"\n"),
              HasSubstr("s.toml:2: fabric.preset \"myrinet\" is of worms"));
  EXPECT_EQ(fault_of_text(with("[worm]\nbuffer = 72\n")),
            "s.toml:5: a buffer of 72 flits overflows: STOP above 56 lets 73 in");
  EXPECT_THAT(fault_of_text(with("[routes]\nsystem = \"UP\"\n")),
              HasSubstr("s.toml:5: routes.system must be one of UD, DFS, "));
  EXPECT_EQ(fault_of_text(with("[routes]\nroot = 8\n")),
            "s.toml:5: routes.root is 8: the fabric has 8 switches");
  EXPECT_THAT(fault_of_text(with("[routes]\nchoose = \"share\"\n")),
              HasSubstr("needs two sets: routes.second"));
  EXPECT_THAT(fault_of_text(with("[routes]\nsecond = \"UD_ITB\"\n")),
              HasSubstr("a second set needs routes.choose"));
  EXPECT_THAT(fault_of_text("[fabric]\nname = \"fat-tree:k=4,levels=2\"\nmodel = "
                            "\"worms\"\n[routes]\nsystem = \"BMAX_ITB\"\n"),
              HasSubstr("s.toml:5: BMAX_ITB needs a host at "));
}

// The time of a byte has 32 bits, in 2^-16 ps.
TEST(WormScenario, RefusesCyclesThatAreTooLong) {
  EXPECT_EQ(fault_of_text(with("[worm]\ncycle_ps = 65536\n")),
            "s.toml:5: worm.cycle_ps must be 1 to 65535");
  const PointResult out = run(with("[worm]\ncycle_ps = 65535\n[traffic]\nsize = 512\n[measure]\n"
                                   "interval_us = 500\nwarm_up_messages = 500\nmessages = 4000\n"),
                              0.02);
  EXPECT_NEAR(out.steady.offered_load, 0.02, 0.001);
  EXPECT_NEAR(out.steady.accepted_load, 0.02, 0.001);
}

// Each of these ended the program.
TEST(WormScenario, RefusesAPatternInWhichHostsSendToThemselves) {
  EXPECT_EQ(fault_of_text(with("[traffic]\npattern = \"uniform-self\"\n")),
            "s.toml:5: traffic.pattern uniform-self has hosts send to themselves, which worms do "
            "not: uniform");
}

TEST(WormScenario, RefusesTracesInWhichAHostSendsToItself) {
  const smd::test::Scratch scratch;
  const std::string trace = (scratch.path() / "t.trace").string();
  std::ofstream(trace) << "0 0 1 64\n# 3 is next\n5 3 3 64\n";
  const std::string traffic = "[traffic]\ntrace = \"" + trace + "\"\n";
  EXPECT_EQ(fault_of_text(with(traffic)),
            trace + ":3: host 3 sends to itself, which worms do not: another destination");
  EXPECT_EQ(fault_of_text("[fabric]\nname = \"torus:dims=3.3\"\n" + traffic), "");
}

TEST(WormScenario, RefusesCollectivesThatSendToAGroup) {
  for (const char* kind : {"multicast-broadcast", "multicast-all-reduce"}) {
    EXPECT_EQ(fault_of_text(with(fmt::format("[traffic]\ncollective = \"{}\"\n", kind))),
              "s.toml:5: this traffic.collective sends to a [[group]], which is of fabric.model = "
              "\"packets\": one that sends to one host each, as binomial-broadcast");
  }
}

TEST(WormScenario, RefusesSumsInSwitches) {
  EXPECT_THAT(fault_of_text(with("[traffic]\ncollective = \"in-network-all-reduce\"\n")),
              StartsWith("s.toml:5: this traffic.collective sends to a [[group]], which is of "));
}

std::string fault(double at_us, const std::string& what, const std::string& where) {
  return fmt::format("[[fault]]\nat_us = {}\nwhat = \"{}\"\nwhere = \"{}\"\n", at_us, what, where);
}

TEST(WormScenario, RefusesFaultsThatWormsDoNotHave) {
  EXPECT_EQ(fault_of_text(with(fault(1, "switch-down", "sw-0"))),
            "s.toml:4: fault.what of worms must be link-down or link-up");
  EXPECT_THAT(fault_of_text(with(fault(1, "link-down", "sw-0:9"))),
              HasSubstr("s.toml:4: sw-0 has ports 1 to 8, not 9"));
  EXPECT_EQ(fault_of_text(with("[nic]\nheader = true\n" + fault(1, "link-down", "sw-0:1"))),
            "s.toml:5: nic.header is of a network without [[fault]]; leave it out");
  EXPECT_EQ(fault_of_text(with("[measure]\nsaturation = true\n" + fault(1, "link-down", "sw-0:1"))),
            "s.toml:5: a saturation load is that of a network without faults");
}

TEST(WormScenario, RunsRepeatThemselvesAndCountUp) {
  for (const char* routes :
       {"[routes]\nsystem = \"UD_ITB\"\n",
        "[routes]\nsystem = \"B50_ITB\"\n[nic]\nheader = true\n",
        "[routes]\nchoose = \"contention\"\n",
        "[routes]\nsystem = \"UD\"\nsecond = \"UD_ITB\"\nchoose = \"share\"\n"}) {
    const std::string text = with(std::string(routes) + kTraffic);
    const PointResult a = run(text, 0.03), b = run(text, 0.03), c = run(text, 0.03, 2);
    EXPECT_EQ(a.stats.digest, b.stats.digest) << routes;
    EXPECT_NE(a.stats.digest, c.stats.digest) << routes;
    EXPECT_EQ(a.audit, "") << routes;
    EXPECT_GE(a.stats.delivered, 4500u);
    ASSERT_TRUE(a.worms);
    EXPECT_NEAR(a.worms->accepted_per_switch, 0.03, 0.0015) << routes;
  }
}

// A lone message: 150 ns for each switch, 50 for each cable, 6.25 for each byte.
TEST(WormScenario, LatencyAtNextToNoLoadIsThatOfTheLaw) {
  const PointResult out = run(R"([fabric]
name = "torus:dims=2.1,mesh=1,hosts=1"
model = "worms"
)" + std::string(kTraffic),
                              1e-5);
  EXPECT_NEAR(out.network_latency.mean, (2 * 150 + 3 * 50 + 512 * 6.25) * 1000, 0.001);
  EXPECT_EQ(out.mean_hops, 2);
  EXPECT_EQ(out.worms->stops_per_message, 0);
}

TEST(WormScenario, FindsTheKnotOfShortestRoutesAndSaysWhoHoldsWhat) {
  const std::string text = R"([fabric]
name = "torus:dims=6,hosts=2"
model = "worms"
[routes]
system = "SHORTEST"
seed = 3
)" + std::string(kTraffic);
  const auto made = prepare_text(text);
  ASSERT_TRUE(made) << fault_of_text(text);
  EXPECT_EQ(made->worms()->can_deadlock(), true);
  const PointResult out = made->run(0.3, 1);
  EXPECT_EQ(out.steady.state, RunState::Deadlocked);
  const std::string knot = print_deadlock(made->spec(), out.steady.deadlock);
  EXPECT_THAT(knot, testing::ContainsRegex("sw-[0-9]+:[0-9]+\\(VL0\\) held by worm [0-9]+ -> sw-"));
  EXPECT_EQ(out.audit, "");
  const std::string safe = R"([fabric]
name = "torus:dims=6,hosts=2"
model = "worms"
[routes]
system = "BMIN_ITB"
)" + std::string(kTraffic);
  EXPECT_TRUE(run(safe, 0.3).steady.deadlock.empty());
}

TEST(WormScenario, DropsWhatAHostHasNoMemoryForAndCountsIt) {
  const PointResult out = run(
      with("[routes]\nsystem = \"BMAX_ITB\"\n[nic]\nmemory = 600\n" + std::string(kTraffic)), 0.08);
  const auto dropped = out.stats.discarded[static_cast<std::size_t>(Discard::NoTransitRoom)];
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(dropped, out.stats.discards());
  EXPECT_EQ(out.audit, "");
}

TEST(WormScenario, ACollectiveEndsOnWormsToo) {
  const auto made =
      prepare_text(with("[traffic]\ncollective = \"all-to-all-exchange\"\nbytes = 2048\n"));
  ASSERT_TRUE(made);
  const PointResult out = made->run(0.5, 1);
  EXPECT_TRUE(out.complete);
  EXPECT_EQ(out.stats.delivered, 32u * 31);
  ScenarioResult result;
  result.points.push_back(out);
  EXPECT_THAT(print_scenario_json(*made, result), HasSubstr("\"stops_per_message\""));
}

// UD goes from switch 4 of the ring to switch 2 by switch 0, UD_ITB the other way and by a host.
// The second message from host 8 finds the buffer at its switch full, behind one that waits for the
// link that host 9 has for 25 us: none of its 32 flits leaves before that, and then all do at once.
TEST(WormScenario, TheWaitBeforeTheFirstFlitIsContention) {
  const smd::test::Scratch scratch;
  const std::string trace = (scratch.path() / "t.trace").string();
  const auto stops = [&](const char* last) {
    std::ofstream(trace) << "0 9 0 4000\n1000 8 4 73\n5000 8 4 32\n" << last;
    const PointResult out = run(R"([fabric]
name = "torus:dims=5,hosts=2"
model = "worms"
[routes]
system = "UD"
second = "UD_ITB"
choose = "contention"
margin = 1
[traffic]
trace = ")" + trace + "\"\n",
                                1);
    EXPECT_TRUE(out.complete);
    return out.worms->stops_per_message * static_cast<double>(out.stats.delivered);
  };
  EXPECT_EQ(stops(""), 0) << "all of them by UD";
  EXPECT_EQ(stops("100000 8 4 32\n"), 1) << "and the next one not";
}

// Two switches and two hosts: every message crosses the link that goes down.
TEST(WormScenario, ALinkThatGoesDownLosesWhatIsSentUntilItIsBack) {
  const std::string line =
      "[fabric]\nname = \"torus:dims=2.1,mesh=1,hosts=1\"\nmodel = \"worms\"\n";
  constexpr double kLoad = 0.05;
  const PointResult whole = run(line + kTraffic, kLoad);
  const double time = static_cast<double>(whole.simulated) / double(kMicro);
  const std::string link = "sw-0-0:1";
  const PointResult out =
      run(line + kTraffic + fault(time / 4, "link-down", link) + fault(time / 2, "link-up", link),
          kLoad);
  EXPECT_EQ(out.audit, "");
  const auto lost = out.stats.discarded[static_cast<std::size_t>(Discard::OnTheWire)];
  EXPECT_EQ(lost, out.stats.discards());
  // As many as are made in a quarter of the time.
  EXPECT_NEAR(static_cast<double>(lost), static_cast<double>(whole.stats.delivered) / 4, 60);
  EXPECT_GE(out.stats.delivered, 4500u) << "messages are counted until enough have come in";
  // After the end, or over before the first message, it changes nothing.
  EXPECT_EQ(run(line + kTraffic + fault(1000 * time, "link-down", link), kLoad).stats.digest,
            whole.stats.digest);
  EXPECT_EQ(run(line + kTraffic + fault(0, "link-up", link), kLoad).stats.digest,
            whole.stats.digest);
}

}  // namespace worm_scenario_test
}  // namespace smd::sim
