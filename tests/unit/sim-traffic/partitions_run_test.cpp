// Runs in one, two and four partitions on threads, which must tell the same to the last digit.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim-backend/scenario/result_text.h"
#include "sim-backend/scenario/run.h"
#include "smd/base/rng.h"

namespace smd::sim::test {
namespace {

struct Case {
  const char* name;
  const char* text;
};

/// Everything that a run has to say.
std::string tell(const std::string& text,
                 unsigned partitions,
                 PointResult& point,
                 std::size_t cache_bytes = PacketOptions{}.cache_bytes) {
  auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  scenario->packet.partitions = partitions;
  scenario->packet.cache_bytes = cache_bytes;
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  EXPECT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  point = prepared->run(prepared->scenario().traffic.loads.at(0), 7);
  EXPECT_EQ(point.audit, "");
  const ScenarioResult result{.points = {point}, .saturation = {}};
  return print_scenario_json(*prepared, result) + print_series_csv(result);
}

constexpr Case kCases[] = {
    {"FatTree", R"([fabric]
name = "fat-tree:k=4,levels=3"
engine = "ftree"
[traffic]
load = [0.7]
size = [{bytes = 64, weight = 0.8}, {bytes = 4096, weight = 0.2}]
[measure]
warm_up_us = 2
interval_us = 3
most_intervals = 12
)"},
    {"TorusWithLanes", R"([fabric]
name = "torus:dims=4.4"
preset = "cycles"
vls = 4
[traffic]
load = [0.5]
size = 128
sl = "random"
[measure]
warm_up_us = 3
interval_us = 2
least_intervals = 3
most_intervals = 4
)"},
    {"DragonflyWithLongCables", R"([fabric]
name = "dragonfly:a=4,c=2,h=2"
[cable]
group = 4
within_groups_ns = 20
between_groups_ns = 700
[traffic]
load = [0.4]
size = 256
arrivals = "on-off"
[measure]
warm_up_us = 2
interval_us = 2
most_intervals = 25
)"},
    {"HotSpotWithTheStandardsControl", R"([fabric]
name = "fat-tree:k=8,levels=2"
vls = 2
[traffic]
pattern = "hot-spot"
share = 0.3
load = [0.8]
[congestion]
preset = "standard"
[measure]
warm_up_us = 10
interval_us = 10
most_intervals = 15
)"},
    {"WindowsAndAcknowledgements", R"([fabric]
name = "fat-tree:k=4,levels=2,width=1x,speed=SDR"
preset = "thesis"
[adapter]
queues = "per-destination"
[traffic]
pattern = "hot-spot"
share = 0.5
load = [0.9]
[congestion]
preset = "renato"
[measure]
warm_up_us = 100
interval_us = 100
most_intervals = 40
)"},
    {"Exchange", R"([fabric]
name = "torus:dims=3.3,hosts=2"
[traffic]
collective = "ring-all-reduce"
bytes = 200000
[measure]
interval_us = 2
limit_us = 1000
)"},
};

// Many messages at one instant, long ones among them, from hosts that hold one packet at most: what
// one host still has to send holds up nobody, the host that the trace goes by least of all.
TEST(TraceInPartitions, IsReplayedAlike) {
  const std::string path =
      testing::TempDir() + "partitions_run_test_" + std::to_string(::getpid()) + ".trace";
  Rng rng(5);
  std::string trace;
  for (unsigned i = 0; i < 1500; ++i) {
    const std::uint64_t bytes = rng.below(10) == 0 ? 20000 : 64 + rng.below(2000);
    const std::uint64_t source = rng.below(16);
    trace +=
        fmt::format("{} {} {} {}\n", i / 10 * 25, source, (source + 1 + rng.below(15)) % 16, bytes);
  }
  std::ofstream(path) << trace;
  const std::string text = fmt::format(R"([fabric]
name = "fat-tree:k=4,levels=3"
[adapter]
most_waiting = 1
[traffic]
trace = "{}"
[measure]
interval_us = 2
limit_us = 1000
)",
                                       path);
  PointResult one, many;
  const std::string expected = tell(text, 1, one);
  EXPECT_TRUE(one.complete);
  ASSERT_GT(one.stats.delivered, 1500u);
  for (const unsigned partitions : {2u, 4u}) {
    EXPECT_EQ(tell(text, partitions, many), expected) << partitions;
    EXPECT_EQ(many.stats.digest, one.stats.digest);
  }
  std::filesystem::remove(path);
}

class PartitionsRun : public testing::TestWithParam<Case> {};

TEST_P(PartitionsRun, TellTheSame) {
  PointResult one, many;
  const std::string expected = tell(GetParam().text, 1, one);
  ASSERT_GT(one.stats.delivered, 1000u);
  for (const unsigned partitions : {2u, 4u}) {
    EXPECT_EQ(tell(GetParam().text, partitions, many), expected) << partitions;
    EXPECT_EQ(many.stats.digest, one.stats.digest);
  }
}

TEST_P(PartitionsRun, TellTheSameWhereTheyAskForWhatIsNext) {
  PointResult one, ahead;
  const std::string expected = tell(GetParam().text, 1, one);
  for (const unsigned partitions : {1u, 3u}) {
    EXPECT_EQ(tell(GetParam().text, partitions, ahead, 0), expected) << partitions;
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, PartitionsRun, testing::ValuesIn(kCases), [](const auto& row) {
  return std::string(row.param.name);
});

TEST(PartitionsRefused, WithFaultsOrTooFewSwitches) {
  const auto refused = [](std::string text, unsigned partitions) {
    auto scenario = parse_scenario(text, "s.toml");
    EXPECT_TRUE(scenario.has_value());
    scenario->packet.partitions = partitions;
    const auto prepared = PreparedScenario::prepare(std::move(*scenario));
    return prepared ? std::string() : print_fault(prepared.error().at(0));
  };
  const std::string fabric = "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n";
  EXPECT_EQ(refused(fabric, 6), "");
  EXPECT_EQ(refused(fabric, 7), "s.toml:2: 7 partitions; a fabric of 6 switches has 1 to 6");
  EXPECT_EQ(refused(fabric + "[[fault]]\nat_us = 1\nwhat = \"switch-down\"\nwhere = \"sw-0\"\n", 2),
            "s.toml:2: a network with [[fault]] is simulated in 1 partition");
}

}  // namespace
}  // namespace smd::sim::test
