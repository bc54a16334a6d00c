// A second change hits at every single SMP of the assimilation of a first one, each in its own run.
// Never a credit loop in what the switches hold, never a LID twice; and after a bounded quiet time
// everything is connected and confirmed.
#include <gtest/gtest.h>

#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

struct Second {
  const char* name;
  std::function<void(sim::SimFabric&)> happens;
};

std::uint32_t find(const sim::SimFabric& fabric, const char* name) {
  return sim::find_node(fabric.spec(), name);
}

/// Figure 76: node-5's uplink goes; then something else.
const std::vector<Second>& seconds() {
  static const std::vector<Second> all = {
      {"the same cable returns",
       [](sim::SimFabric& f) { f.set_link(find(f, "node-5"), PortNum{2}, true); }},
      {"another cable goes",
       [](sim::SimFabric& f) { f.set_link(find(f, "node-6"), PortNum{2}, false); }},
      {"a switch dies", [](sim::SimFabric& f) { f.set_node(find(f, "node-8"), false); }},
      {"a switch reboots",
       [](sim::SimFabric& f) { f.reboot_node(find(f, "node-10"), std::chrono::milliseconds(1)); }},
  };
  return all;
}

/// False when the assimilation was over before its n-th SMP.
bool run(const Second& second, std::uint64_t n, const char* engine) {
  SimulatedSubnetOptions options;
  options.settings.engine = engine;
  options.settings.sweep_interval = std::chrono::seconds(10);
  SimulatedSubnet subnet(spec_of("example:name=fig76"), options);
  sim::SimFabric& fabric = subnet.fabric;
  const SubnetManager& manager = subnet.manager;
  subnet.start();
  EXPECT_TRUE(manager.last_cycle()->up());

  sim::FabricTimeline timeline(subnet.runtime, fabric);
  std::uint64_t left = n;
  bool hit = false;
  subnet.tap.on_send = [&](const Smp&) {
    if (!hit && left-- == 0) {
      hit = true;
      second.happens(fabric);
    }
    return true;
  };
  fabric.set_link(find(fabric, "node-5"), PortNum{2}, false);
  subnet.run_for(std::chrono::seconds(5));
  const bool was_hit = hit;
  // Quiet from here on: one sweep, one retry, and a reboot's return are covered.
  subnet.run_for(std::chrono::seconds(60));
  EXPECT_TRUE(manager.at_rest()) << second.name << " at SMP " << n;
  EXPECT_TRUE(manager.last_cycle()->up()) << second.name << " at SMP " << n;
  EXPECT_FALSE(timeline.first_cycle())
      << second.name << " at SMP " << n << ": " << timeline.first_cycle()->text;
  EXPECT_FALSE(timeline.first_shared_lid()) << second.name << " at SMP " << n;
  EXPECT_EQ(timeline.now().find_loop(), "") << second.name << " at SMP " << n;
  const sim::Connectivity now = timeline.now().connectivity();
  EXPECT_EQ(now.connected, now.possible) << second.name << " at SMP " << n;
  return was_hit;
}

class ChangeSweep : public testing::TestWithParam<std::tuple<std::size_t, const char*>> {};

TEST_P(ChangeSweep, NothingIsLostWhereverTheSecondChangeHits) {
  const auto& [which, engine] = GetParam();
  const Second& second = seconds()[which];
  std::uint64_t n = 0;
  while (run(second, n, engine)) {
    ++n;
    if (HasFailure()) return;
  }
  EXPECT_GT(n, 10u);  // the assimilation of the first change alone
  RecordProperty("smps", static_cast<int>(n));
}

INSTANTIATE_TEST_SUITE_P(Seconds,
                         ChangeSweep,
                         testing::Combine(testing::Range(std::size_t{0}, std::size_t{4}),
                                          testing::Values("updn", "auto")));

}  // namespace
}  // namespace smd::test
