// Congestion control while the network changes: the real manager sets the registers, and sets them
// again after each fault; packets obey what agents hold by then.
#include <gtest/gtest.h>

#include "sim-backend/scenario/run.h"

namespace smd::test {
namespace congestion_faults_test {

constexpr const char* kScenario = R"([fabric]
name = "irregular:switches=12,ports=8,links=4,hosts=2,seed=3"
[traffic]
pattern = "hot-spot"
share = 0.5
load = 0.3
[manager]
debounce_us = 100
[measure]
warm_up_us = 50
interval_us = 100
least_intervals = 5
limit_us = 50000
[[fault]]
at_us = 300
what = "link-down"
where = "sw-4:4"
[[fault]]
at_us = 3000
what = "link-up"
where = "sw-4:4"
[[fault]]
at_us = 6000
what = "switch-down"
where = "sw-7"
)";

sim::PointResult run(const std::string& more, std::uint64_t seed) {
  auto read = sim::parse_scenario(kScenario + more, "s.toml");
  EXPECT_TRUE(read) << print_fault(read.error().at(0));
  const auto made = sim::PreparedScenario::prepare(*read);
  EXPECT_TRUE(made);
  return made->run(0.3, seed);
}

TEST(CongestionFaults, RegistersOfTheManagerAreFeltWhileTheNetworkChanges) {
  const sim::PointResult without = run("", 1);
  const sim::PointResult with = run("[congestion]\npreset = \"standard\"\n", 1);
  for (const sim::PointResult* point : {&without, &with}) {
    EXPECT_EQ(point->failure, "");
    EXPECT_EQ(point->audit, "") << "every packet is accounted for";
    EXPECT_TRUE(point->recovered());
  }
  EXPECT_EQ(without.stats.marked, 0u);
  EXPECT_GT(with.stats.marked, 0u) << "no threshold but that of the manager would mark";
  EXPECT_GT(with.stats.feedback.delivered, 0u);
  EXPECT_NE(with.stats.digest, without.stats.digest);
}

TEST(CongestionFaults, RepeatThemselves) {
  for (const char* preset : {"standard", "mvcm"}) {
    const std::string section = std::string("[congestion]\npreset = \"") + preset + "\"\n";
    const sim::PointResult first = run(section, 1), again = run(section, 1);
    EXPECT_EQ(first.failure, "") << preset;
    EXPECT_EQ(first.audit, "") << preset;
    EXPECT_TRUE(first.recovered()) << preset;
    EXPECT_EQ(first.stats.digest, again.stats.digest) << preset;
    EXPECT_NE(first.stats.digest, run(section, 2).stats.digest) << preset;
  }
}

}  // namespace congestion_faults_test
}  // namespace smd::test