// Scenario files: what is read, what is refused and where, and that a run repeats itself.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/fabric_facts.h"
#include "sim-backend/scenario/result_text.h"
#include "sim-backend/scenario/run.h"
#include "sim-backend/scenario/scenario_keys.h"
#include "tests/support/files.h"
#include "tests/support/scenario_text.h"
#include "tests/unit/sim-traffic/locking_ring.h"

namespace smd::sim::test {
namespace {

using testing::HasSubstr;

constexpr const char* kSmall = R"([fabric]
name = "fat-tree:k=4,levels=2,width=1x,speed=SDR"
engine = "ftree"
preset = "thesis"

[traffic]
pattern = "uniform"
load = [0.1, 0.3]
size = 256

[measure]
warm_up_us = 1000
interval_us = 1000
least_intervals = 4
most_intervals = 20
)";

TEST(Scenario, IsRead) {
  const auto read = parse_scenario(R"([fabric]
name = "torus:dims=4.4"
preset = "cycles"
vls = 4
mtu = 1024
[switch]
multiplexed = false
[adapter]
queues = "hashed"
[traffic]
pattern = "hot-spot"
share = 0.1
size = [{bytes = 32, weight = 0.7}, {bytes = 512, weight = 0.3}]
arrivals = "self-similar"
sl = "random"
[measure]
precision = 0.1
)",
                                   "s.toml");
  ASSERT_TRUE(read.has_value()) << print_fault(read.error().at(0));
  EXPECT_EQ(read->fabric, "torus:dims=4.4");
  EXPECT_EQ(read->fabric_line, 2);
  EXPECT_FALSE(read->packet.switches.output_buffers) << "of the preset";
  EXPECT_FALSE(read->packet.switches.multiplexed) << "changed after the preset";
  EXPECT_EQ(read->packet.vls, 4u);
  EXPECT_EQ(read->program.vls, 4u);
  EXPECT_EQ(read->program.mtu, Mtu::B1024);
  EXPECT_EQ(read->packet.adapters.waiting, SourceQueues::Hashed);
  EXPECT_EQ(read->traffic.pattern, "hot-spot");
  EXPECT_EQ(read->traffic.sizes.size(), 2u);
  EXPECT_EQ(read->traffic.sizes[1].bytes, 512u);
  EXPECT_EQ(read->traffic.arrivals.kind, ArrivalKind::SelfSimilar);
  EXPECT_EQ(read->traffic.sl_choice, SlChoice::Random);
  EXPECT_DOUBLE_EQ(read->measure.plan.precision, 0.1);
  EXPECT_TRUE(parse_scenario("", "empty.toml").has_value()) << "everything has a default";
}

/// The first fault of a text must be in this line and contain this.
void expect_fault(const char* text, int line, const char* part) {
  const auto read = parse_scenario(text, "s.toml");
  ASSERT_FALSE(read.has_value()) << text;
  EXPECT_EQ(read.error().at(0).line, line) << text;
  EXPECT_THAT(print_fault(read.error().at(0)), HasSubstr(part)) << text;
}

TEST(Scenario, FaultsHaveTheirLineAndSayWhatWouldBeRight) {
  expect_fault("[fabric]\nnam = \"x\"\n", 2, "fabric.name");
  expect_fault("\n[trafic]\n", 2, "[traffic]");
  expect_fault("traffic = 3\n", 1, "write [traffic]");
  expect_fault("[traffic]\nload = 1.5\n", 2, "above 0 to 1");
  expect_fault("[traffic]\nload = [0.1, true]\n", 2, "above 0 to 1");
  expect_fault("[traffic]\npattern = \"unifrom\"\n", 2, "a pattern");
  expect_fault("[traffic]\nsize = [{bytes = 1, heavy = 2}]\n", 2, "bytes");
  expect_fault("[fabric]\nvls = 3\n", 2, "1, 2, 4, 8 or 15");
  expect_fault("[fabric]\nmtu = 1000\n", 2, "1024");
  expect_fault("[measure]\nwarm_up_us = -1\n", 2, "0 to 1e7");
  expect_fault("[measure]\ninterval_us = 0\n", 2, "0.001");
  expect_fault("[measure]\nleast_intervals = 9\nmost_intervals = 8\n", 2, "more than");
  expect_fault("[switch]\ninput_buffer = 1024\n", 2, "never takes a packet of 2048");
  expect_fault("[traffic]\npattern = \"uniform\"\ntrace = \"t\"\n", 3, "one of them");
  expect_fault("[fabric\n", 1, "TOML");
}

// Of a network that changes the most was compared, which it does not have; of worms nothing was.
TEST(Scenario, NumbersOfIntervalsAreComparedWhereBothAct) {
  const std::string fault = "[[fault]]\nat_us = 1\nwhat = \"link-down\"\nwhere = \"sw-0:1\"\n";
  const std::string worms = "[fabric]\nmodel = \"worms\"\n";
  const std::string many = "[measure]\nleast_intervals = 200\n";
  const auto is_read = [](const std::string& text) {
    return parse_scenario(text, "s.toml").has_value();
  };
  EXPECT_TRUE(is_read(many + fault));
  EXPECT_TRUE(is_read("[traffic]\ncollective = \"ring-all-reduce\"\n" + many + fault));
  EXPECT_TRUE(is_read(worms + "[measure]\nleast_intervals = 200\nmost_intervals = 200\n"));
  expect_fault(many.c_str(), 2, "measure.least_intervals is 200, more than");
  expect_fault((worms + many).c_str(), 4, "measure.least_intervals is 200, more than");
  expect_fault((worms + many + fault).c_str(), 4, "measure.least_intervals is 200, more than");
  expect_fault("[measure]\nmost_intervals = 9\n", 2, "measure.least_intervals is 10, more than");
}

TEST(Scenario, FaultsOfCongestionControl) {
  expect_fault("[congestion]\npreset = \"mvcmm\"\n", 2, "mvcm");
  expect_fault("[congestion]\nmarkings = \"ipm\"\n", 2, "congestion.marking");
  expect_fault("[congestion]\n\nthreshold = 16\n", 3, "0 to 15");
  expect_fault("[congestion]\ncap = 3\n", 2, "stages-1");
  expect_fault(
      "[congestion]\npreset = \"mvcm\"\necho = \"none\"\n", 3, "a window needs acknowledgements");
  expect_fault("[congestion]\npreset = \"mvcm\"\nwindow = \"fractional\"\n", 3, "window_mean");
  expect_fault(
      "[congestion]\nccti_timer = 9\n[[fault]]\nat_us = 1\nwhat = \"link-down\"\n"
      "where = \"sw-0:1\"\n",
      2,
      "congestion.ccti_timer is the manager's to set");
  expect_fault(
      "[congestion]\nmarking = \"iba\"\n[[fault]]\nat_us = 1\nwhat = \"link-down\"\n"
      "where = \"sw-0:1\"\n",
      2,
      "both marking and reaction");
}

TEST(Scenario, CongestionControlIsRead) {
  const auto read = parse_scenario(R"([congestion]
recovery = "progressive"
preset = "mvcm"
window = "fractional"
window_mean = 1.28
radix = 4
cap = "none"
)",
                                   "s.toml");
  ASSERT_TRUE(read.has_value()) << print_fault(read.error().at(0));
  const CongestionSpec& spec = read->congestion;
  EXPECT_EQ(spec.marking, MarkingKind::Mvpm) << "of the preset";
  EXPECT_EQ(spec.recovery, Recovery::Progressive) << "changed, wherever it stands";
  EXPECT_EQ(spec.window.kind, WindowKind::Fractional);
  EXPECT_EQ(spec.window.mean_per_mille, 1280u);
  EXPECT_EQ(spec.radix, 4u);
  EXPECT_EQ(spec.cap, cc::WaitCap::None);
}

// Everybody sends to one host: marks and answers, and with nothing of it the run that was.
TEST(Scenario, CongestionControlActs) {
  const std::string hot = std::string(kSmall) + "[congestion]\npreset = ";
  const auto run = [&](const std::string& preset) {
    const auto read = parse_scenario(hot + '"' + preset + "\"\n", "s.toml");
    EXPECT_TRUE(read.has_value()) << preset;
    Scenario scenario = *read;
    scenario.traffic.pattern = "incast";
    const auto prepared = PreparedScenario::prepare(std::move(scenario));
    EXPECT_TRUE(prepared.has_value()) << preset;
    const PointResult result = prepared->run(0.3, 1);
    EXPECT_EQ(result.audit, "") << preset;
    const ScenarioResult all{.points = {result}, .saturation = {}};
    const auto json = nlohmann::json::parse(print_scenario_json(*prepared, all));
    EXPECT_EQ(json["points"][0]["congestion"]["notices"], result.stats.feedback.made);
    return result.stats;
  };
  Scenario plain = parse_scenario(kSmall, "s.toml").value();
  plain.traffic.pattern = "incast";
  const auto prepared = PreparedScenario::prepare(std::move(plain));
  ASSERT_TRUE(prepared.has_value());
  EXPECT_EQ(prepared->run(0.3, 1).stats.digest, run("none").digest);
  EXPECT_EQ(run("none").feedback.made, 0u);
  const NetStats standard = run("standard"), mvcm = run("mvcm");
  EXPECT_GT(standard.marked, 0u);
  EXPECT_EQ(standard.feedback.made, standard.marked);
  EXPECT_GT(mvcm.marked, 0u);
  EXPECT_EQ(mvcm.feedback.made, mvcm.delivered);
}

// The formula's round trip of the longest route: nine switches of a bidirectional network.
TEST(Scenario, SurroundingsAreThoseOfTheRoutes) {
  const auto spec = load_fabric("bmin:k=4,stages=5,hosts=512");
  ASSERT_TRUE(spec.has_value());
  const auto fabric = program_nodes(*spec, {.engine = "updn"});
  ASSERT_TRUE(fabric.has_value());
  PacketNet net(*spec, PacketOptions::multistage());
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  EXPECT_EQ(longest_route(net, *fabric), 9u);
  const FabricFacts around = survey(net, *fabric, 256);
  EXPECT_EQ(around.radix, 4u);
  EXPECT_EQ(around.stages, 5u);
  EXPECT_EQ(around.switch_ports, 8u);
  EXPECT_EQ(around.window, 2u) << "1.28, rounded up";
  EXPECT_EQ(survey(net, *fabric, 64).window, 2u);
  EXPECT_EQ(survey(net, *fabric, 0).window, 5u) << "(2 * 28 + 44) / 22";
  EXPECT_EQ(around.host_ports.size(), 512u);
  EXPECT_EQ(around.round_trip, (354 + 2) * kNano);
}

TEST(Scenario, RulesAreRead) {
  const auto read = parse_scenario(R"([fabric]
name = "dragonfly:a=5,c=2,h=2"
vls = 4
[routes]
rule = "ugal-l"
threshold = -16
valiant = "router"
among = "others"
trunk = "hash"
gateway = "random"
group = 5
)",
                                   "s.toml");
  ASSERT_TRUE(read.has_value()) << print_fault(read.error().at(0));
  const RuleSpec& rule = read->routes.rule;
  EXPECT_EQ(rule.rule, RuleKind::UgalLocal);
  EXPECT_EQ(rule.threshold, -16);
  EXPECT_EQ(rule.via, IntermediateKind::ByRouter);
  EXPECT_EQ(rule.among, IntermediateSet::Others);
  EXPECT_EQ(rule.trunk, Spread::Hash);
  EXPECT_EQ(rule.gateway, Spread::Random);
  EXPECT_EQ(read->routes.shape.group, 5u);
}

TEST(Scenario, RulesThatCannotBeAreRefusedWithTheirLine) {
  const std::string dragonfly = "[fabric]\nname = \"dragonfly:a=5,c=2,h=2\"\n";
  const std::string four = dragonfly + "vls = 4\n[routes]\n";
  EXPECT_EQ(fault_of_text(four + "rule = \"ugal-l\"\n"), "");
  EXPECT_EQ(fault_of_text(four + "rule = \"tables\"\n"), "");
  EXPECT_THAT(fault_of_text(four + "rule = \"shortest\"\n"),
              HasSubstr("s.toml:5: routes.rule must be \"tables\", \"min\""));
  EXPECT_THAT(fault_of_text(four + "rule = \"min\"\nthreshold = 1.5\n"),
              HasSubstr("s.toml:6: routes.threshold must be -100000 to 100000"));
  EXPECT_THAT(fault_of_text(four + "rule = \"min\"\ntrunk = \"own-first\"\n"),
              HasSubstr("s.toml:6: routes.trunk must be"));
  EXPECT_THAT(fault_of_text(four + "threshold = 3\n"),
              HasSubstr("s.toml:5: [routes] needs routes.rule"));
  EXPECT_THAT(fault_of_text(four + "rule = \"min\"\ndims = [5, 11]\ngroup = 5\n"),
              HasSubstr("s.toml:7: routes.dims is of a butterfly, routes.group of a dragonfly"));
  EXPECT_THAT(fault_of_text(four + "rule = \"par\"\nvaliant = \"router\"\n"),
              HasSubstr("s.toml:6: par goes by groups"));
  EXPECT_THAT(fault_of_text(dragonfly + "vls = 2\n[routes]\nrule = \"valiant\"\n"),
              HasSubstr("s.toml:5: routes.rule valiant needs 3 VLs here: fabric.vls = 4 or more"));
  EXPECT_THAT(fault_of_text(four + "rule = \"dal\"\n"),
              HasSubstr("s.toml:5: routes.rule dal is for flattened butterflies"));
  EXPECT_THAT(fault_of_text(four + "rule = \"min-adaptive\"\n"),
              HasSubstr("s.toml:5: routes.rule min-adaptive is for flattened butterflies; on a "
                        "dragonfly it is \"min\" with routes.gateway = \"jsq\""));
  EXPECT_THAT(
      fault_of_text("[fabric]\nname = \"hamming:dims=4.4\"\n[routes]\nrule = \"min-adaptive\"\n"),
      HasSubstr("s.toml:4: routes.rule min-adaptive needs 2 VLs here: fabric.vls = 2 or more"));
  EXPECT_THAT(fault_of_text("[fabric]\nname = \"hamming\"\n[routes]\nrule = \"par\"\n"),
              HasSubstr("s.toml:4: routes.rule par is for dragonflies"));
  EXPECT_THAT(fault_of_text(four + "rule = \"ugal-g\"\n", 2),
              HasSubstr("s.toml:5: routes.rule ugal-g looks at other switches"));
  EXPECT_THAT(fault_of_text(four + "rule = \"min\"\ngroup = 4\n"),
              HasSubstr("s.toml:5: routes.rule min: groups of 4 switches each: the fabric has 55"));
  EXPECT_THAT(
      fault_of_text("[fabric]\nname = \"torus:dims=4.5\"\n[routes]\nrule = \"min\"\n"),
      HasSubstr("s.toml:4: routes.rule min: neither a flattened butterfly nor a dragonfly"));
  EXPECT_THAT(fault_of_text(four + "rule = \"min\"\n[[fault]]\nat_us = 5\nwhat = \"switch-down\"\n"
                                   "where = \"sw-0-0\"\n"),
              HasSubstr("s.toml:5: a rule is for a network that does not change"));
}

TEST(Scenario, WeightsOfSizesAreFinite) {
  const auto read = [](const char* weight) {
    return parse_scenario(fmt::format("[traffic]\nsize = [{{bytes = 64, weight = {}}}]\n", weight),
                          "s.toml");
  };
  EXPECT_TRUE(read("1e9"));
  for (const char* weight : {"inf", "-inf", "nan", "1e300", "0.0"}) {
    const auto refused = read(weight);
    ASSERT_FALSE(refused) << weight;
    EXPECT_THAT(print_fault(refused.error().at(0)), HasSubstr("s.toml:2: traffic.size ")) << weight;
  }
}

TEST(Scenario, FaultsOfTheFabricAreThoseOfTheScenario) {
  EXPECT_THAT(fault_of_text("[fabric]\nname = \"fat-tree:k=5\"\n"), HasSubstr("s.toml:2: "));
  EXPECT_THAT(fault_of_text("[fabric]\nengine = \"best\"\nname = \"torus:dims=4.4\"\n"),
              HasSubstr("no engine is called best"));
  EXPECT_THAT(fault_of_text("[traffic]\npattern = \"mdn\"\n"), HasSubstr("s.toml:2: "));
  EXPECT_THAT(fault_of_text("[traffic]\ntrace = \"/dev/zero\"\n"),
              HasSubstr("/dev/zero: is a device: name a regular file"));
  EXPECT_THAT(fault_of_text("[traffic]\ntrace = \"/nowhere/at/all\"\n"),
              HasSubstr("/nowhere/at/all: no such file"));
}

// Nobody hangs on a switch with them, so nobody is near them.
TEST(Scenario, HostsThatAreCabledToEachOtherAreRefused) {
  const smd::test::Scratch folder;
  const std::string file = folder.path() / "islands.net";
  std::ofstream(file)
      << "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n\nCa 1 \"a\"\n\nCa 1 \"b\"\n\n"
         "Ca 1 \"c\"\n[1] \"d\"[1]\n\nCa 1 \"d\"\n";
  for (const char* traffic : {"pattern = \"local\"\nradius = 1\n",
                              "pattern = \"combined\"\nradius = 1\nshare = 0.5\n",
                              "pattern = \"uniform\"\n"}) {
    EXPECT_EQ(fault_of_text("[fabric]\nname = \"" + file + "\"\n[traffic]\nload = 0.1\n" + traffic),
              "s.toml:2: port 1 of c is cabled to d, which is no switch: cables of hosts lead to "
              "switches");
  }
}

TEST(Scenario, RunsAndRepeatsItself) {
  const auto prepared = PreparedScenario::prepare(parse_scenario(kSmall, "s.toml").value());
  ASSERT_TRUE(prepared.has_value());
  const PointResult first = prepared->run(0.3, 1), again = prepared->run(0.3, 1);
  const PointResult other = prepared->run(0.3, 2);
  EXPECT_EQ(first.audit, "");
  EXPECT_EQ(first.stats.digest, again.stats.digest);
  EXPECT_NE(first.stats.digest, other.stats.digest);
  EXPECT_EQ(first.steady.state, RunState::Stable);
  EXPECT_NEAR(first.steady.accepted_load, 0.3, 0.03);
  EXPECT_GT(first.mean_hops, 1);
  EXPECT_LE(first.latency.p50, first.latency.p99);
  EXPECT_GT(first.fairness, 0.9);
  EXPECT_EQ(first.stats.discards(), 0u);

  const ScenarioResult result{.points = {first, other}, .saturation = {}};
  const auto json = nlohmann::json::parse(print_scenario_json(*prepared, result));
  EXPECT_EQ(json["fabric"]["hosts"], 8);
  EXPECT_EQ(json["points"].size(), 2u);
  EXPECT_EQ(json["points"][0]["state"], "stable");
  EXPECT_EQ(json["points"][0]["packets"]["generated"],
            json["points"][0]["packets"]["delivered"].get<std::uint64_t>() +
                json["points"][0]["packets"]["in_flight"].get<std::uint64_t>());
  const std::string csv = print_points_csv(result);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
  const std::string series = print_series_csv(result);
  EXPECT_EQ(std::ranges::count(series, '\n'),
            static_cast<std::ptrdiff_t>(1 + first.steady.intervals.size() +
                                        other.steady.intervals.size()));
  EXPECT_THAT(print_points(*prepared, result), HasSubstr("load 0.300 seed 2: stable"));
}

TEST(Scenario, EveryKeyIsListed) {
  const std::string list = list_scenario_keys();
  for (const ScenarioKey& key : scenario_keys()) {
    const std::size_t section = list.find("[" + std::string(key.section) + "]");
    ASSERT_NE(section, std::string::npos) << key.section;
    const std::string rest = list.substr(section, list.find("\n[", section + 1) - section);
    EXPECT_THAT(rest, HasSubstr("\n  " + std::string(key.key) + " ")) << key.section;
  }
  for (const char* part : {"[fabric]", "[measure]", "speed_up_percent", "bit-reversal", "adv+1"}) {
    EXPECT_THAT(list, HasSubstr(part));
  }
}

TEST(Scenario, CollectivesEndAndDeadlocksAreTold) {
  auto scenario = parse_scenario(kSmall, "s.toml").value();
  scenario.traffic.collective = CollectiveKind::RingAllReduce;
  scenario.traffic.bytes = 8 * 1024;
  const auto prepared = PreparedScenario::prepare(scenario);
  ASSERT_TRUE(prepared.has_value());
  const PointResult point = prepared->run(1, 1);
  EXPECT_TRUE(point.complete);
  EXPECT_LT(point.completed_at, kSecond);
  EXPECT_EQ(point.stats.in_flight, 0u);

  const auto ring = parse_scenario(kLockingRing, "r.toml");
  const auto round = PreparedScenario::prepare(ring.value());
  ASSERT_TRUE(round.has_value());
  const PointResult locked = round->run(1, 1);
  EXPECT_EQ(locked.steady.state, RunState::Deadlocked);
  EXPECT_GE(locked.steady.deadlock.size(), 3u);
  EXPECT_THAT(print_points(*round, {.points = {locked}, .saturation = {}}),
              HasSubstr("(VL0) -> sw-"));
}

}  // namespace
}  // namespace smd::sim::test
