// A second change hits at every single SMP of the assimilation of a first one, each in its own run.
// Never a credit loop in what the switches hold, never a LID twice; and after a bounded quiet time
// everything is connected and confirmed.
#include <gtest/gtest.h>

#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

/// Calls `at` when the n-th SMP is sent after arm().
class CountingTransport final : public Transport {
 public:
  explicit CountingTransport(Transport& inner) : inner_(inner) {}

  void arm(std::uint64_t n, std::function<void()> at) {
    left_ = n;
    at_ = std::move(at);
  }

  [[nodiscard]] bool fired() const { return !at_; }

  LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override {
    if (at_ && left_-- == 0) std::exchange(at_, nullptr)();
    return inner_.send(packet);
  }

  void set_handlers(Receive receive, Lost lost) override {
    inner_.set_handlers(std::move(receive), std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

 private:
  Transport& inner_;
  std::uint64_t left_ = 0;
  std::function<void()> at_;
};

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
bool run(const Second& second, std::uint64_t n) {
  sim::SimRuntime runtime;
  sim::SimFabric fabric(runtime, spec_of("example:name=fig76"), sim::Timing::modern(), 1);
  sim::SimTransport port(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
  CountingTransport counting(port);
  Settings settings = WorldOptions::default_settings();
  settings.sweep_interval = std::chrono::seconds(10);
  SubnetManager manager(runtime, counting, settings, {}, {});
  manager.start();
  runtime.run_while_not([&] { return manager.cycles() > 0 && manager.at_rest(); },
                        runtime.now() + Duration(std::chrono::minutes(1)));
  EXPECT_TRUE(manager.last_cycle()->up());

  sim::FabricTimeline timeline(runtime, fabric);
  counting.arm(n, [&] { second.happens(fabric); });
  fabric.set_link(find(fabric, "node-5"), PortNum{2}, false);
  runtime.run_until(runtime.now() + std::chrono::seconds(5));
  const bool hit = counting.fired();
  // Quiet from here on: one sweep, one retry, and a reboot's return are covered.
  runtime.run_until(runtime.now() + std::chrono::seconds(60));
  EXPECT_TRUE(manager.at_rest()) << second.name << " at SMP " << n;
  EXPECT_TRUE(manager.last_cycle()->up()) << second.name << " at SMP " << n;
  EXPECT_FALSE(timeline.first_cycle())
      << second.name << " at SMP " << n << ": " << timeline.first_cycle()->text;
  EXPECT_FALSE(timeline.first_shared_lid()) << second.name << " at SMP " << n;
  EXPECT_EQ(timeline.now().find_loop(), "") << second.name << " at SMP " << n;
  const sim::Connectivity now = timeline.now().connectivity();
  EXPECT_EQ(now.connected, now.possible) << second.name << " at SMP " << n;
  return hit;
}

class ChangeSweep : public testing::TestWithParam<std::size_t> {};

TEST_P(ChangeSweep, NothingIsLostWhereverTheSecondChangeHits) {
  const Second& second = seconds()[GetParam()];
  std::uint64_t n = 0;
  while (run(second, n)) {
    ++n;
    if (HasFailure()) return;
  }
  EXPECT_GT(n, 10u);  // the assimilation of the first change alone
  RecordProperty("smps", static_cast<int>(n));
}

INSTANTIATE_TEST_SUITE_P(Seconds, ChangeSweep, testing::Range(std::size_t{0}, std::size_t{4}));

}  // namespace
}  // namespace smd::test
