// What a certified reconfiguration itself costs: no packet. Lost are those that a link or node that
// is gone takes with it or that are sent to it until the tables know; with the basic manager many
// more.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "sim-backend/scenario/run.h"
#include "tests/support/cables.h"

namespace smd::sim::test {
namespace {

constexpr const char* kIrregular = "irregular:switches=16,ports=8,links=4,hosts=2,seed=";
constexpr const char* kTree = "fat-tree:k=4,levels=3";

/// A cable between two switches.
std::string find_cable(const std::string& fabric) {
  const FabricSpec spec = load_fabric(fabric).value();
  const smd::test::Cable cable = smd::test::cables_between_switches(spec).front();
  return fmt::format("{}:{}", spec.nodes[cable.node].description, cable.port);
}

/// Goes at 200 us; comes at 5 ms, long after that was taken in.
PointResult change(const std::string& fabric,
                   double load,
                   const char* kind,
                   const std::string& where,
                   const char* mode,
                   const char* engine = "updn",
                   Lid lid_min = Lid{1}) {
  Scenario scenario;
  scenario.fabric = fabric;
  scenario.program.engine = engine;
  scenario.manager.lid_min = lid_min;
  scenario.traffic.loads = {load};
  scenario.manager.how = *parse_reconfiguration_mode(mode);
  scenario.manager.debounce = std::chrono::microseconds(50);
  scenario.measure.plan.interval = 100 * kMicro;
  scenario.measure.plan.least_intervals = 3;
  scenario.measure.limit = 20 * kMilli;
  scenario.faults = {{200 * kMicro, fmt::format("{}-down", kind), where, 1},
                     {5 * kMilli, fmt::format("{}-up", kind), where, 2}};
  const auto prepared = PreparedScenario::prepare(scenario);
  if (!prepared) throw std::runtime_error(print_fault(prepared.error().at(0)));
  return prepared->run(load, 1);
}

void expect_no_loss_but_for_the_fault(const PointResult& point) {
  EXPECT_EQ(point.failure, "");
  EXPECT_EQ(point.audit, "");
  EXPECT_TRUE(point.recovered());
  EXPECT_TRUE(point.steady.deadlock.empty());
  std::uint64_t lost = 0;
  for (const Period& period : point.periods) {
    EXPECT_EQ(period.unexplained, 0u) << print_period(period.kind) << " from " << period.begin;
    EXPECT_GT(period.delivered, 0u);
    for (const std::uint64_t count : period.discarded) lost += count;
    if (period.begin >= 5 * kMilli) {
      for (const std::uint64_t count : period.discarded) {
        EXPECT_EQ(count, 0u) << "what comes back costs nothing";
      }
    }
  }
  EXPECT_GT(lost, 0u) << "the link carried nothing: this run says nothing";
  for (const ChangeResult& made : point.changes) EXPECT_TRUE(made.certified);
}

class LosslessUpdate : public testing::TestWithParam<double> {};

INSTANTIATE_TEST_SUITE_P(Loads, LosslessUpdate, testing::Values(0.25, 0.5));

TEST_P(LosslessUpdate, OnIrregularNetworks) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const std::string fabric = fmt::format("{}{}", kIrregular, seed);
    expect_no_loss_but_for_the_fault(
        change(fabric, GetParam(), "link", find_cable(fabric), "certified"));
  }
}

TEST_P(LosslessUpdate, OnAFatTreeThatLosesACableOrASpine) {
  expect_no_loss_but_for_the_fault(
      change(kTree, GetParam(), "link", find_cable(kTree), "certified"));
  expect_no_loss_but_for_the_fault(change(kTree, GetParam(), "switch", "sw-2-1", "certified"));
}

// Nobody has a LID of its first two blocks: no phase writes them, and the spine forwards nothing
// before it has them.
TEST_P(LosslessUpdate, OnAFatTreeWhoseSpineComesBackToTablesWithEmptyBlocks) {
  expect_no_loss_but_for_the_fault(change(
      "fat-tree:k=4,levels=2", GetParam(), "switch", "sw-1-0", "certified", "ftree", Lid{128}));
}

TEST(LosslessUpdateOfOthers, TheBasicManagerThrowsAwayMore) {
  // The other side: the same counters see what deactivating the subnet costs.
  const std::string fabric = fmt::format("{}1", kIrregular);
  const PointResult point = change(fabric, 0.25, "link", find_cable(fabric), "basic");
  std::uint64_t unexplained = 0;
  for (const Period& period : point.periods) unexplained += period.unexplained;
  EXPECT_GT(unexplained, 1000u);
}

}  // namespace
}  // namespace smd::sim::test
