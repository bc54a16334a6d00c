// A hot-spot pulse: who sends when, how much, and that everything of it arrives.
#include "sim-backend/traffic/pulse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim-backend/experiments/pulse_run.h"
#include "sim-backend/scenario/programmed_nodes.h"

namespace smd::sim::test {
namespace {

constexpr PulseOptions kPulse{
    .load = 0.1, .hot_share = 0.2, .hot_spot = 3, .warm_packets = 500, .batch = 7, .seed = 5};

struct Seen final : PacketObserver {
  void on_delivered(const Arrival& arrival) override {
    if (arrival.tag == kColdPacket) {
      cold.push_back(arrival);
    } else {
      hot.push_back(arrival);
    }
  }

  std::vector<Arrival> cold, hot;
};

TEST(Pulse, HotSourcesAreSilentThenSendTheirBatch) {
  const auto spec = load_fabric("bmin:k=4,stages=2");
  ASSERT_TRUE(spec.has_value());
  const auto fabric = program_nodes(*spec, {.engine = "updn", .mtu = Mtu::B256});
  ASSERT_TRUE(fabric.has_value());
  PacketNet net(*spec, PacketOptions::multistage());
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  ASSERT_EQ(net.host_count(), 16u);
  PulseTraffic traffic(kPulse, 16, net.wiring().wires[net.wiring().host_port[0]].byte_time);
  ASSERT_EQ(traffic.hot_sources().size(), 3u);
  EXPECT_EQ(std::ranges::count(traffic.hot_sources(), HostNum{3}), 0);
  Seen seen;
  net.set_workload(&traffic);
  net.set_observer(&seen);
  net.start();
  while (!traffic.finished()) ASSERT_TRUE(net.run_one());
  EXPECT_EQ(net.audit(), "");
  EXPECT_EQ(traffic.hot_packets(), 21u);
  ASSERT_EQ(seen.hot.size(), 21u);
  std::map<HostNum, unsigned> made;
  for (const Arrival& arrival : seen.hot) {
    ++made[arrival.source];
    EXPECT_EQ(arrival.destination, 3u);
    EXPECT_GE(arrival.generated, traffic.began());
  }
  for (const HostNum source : traffic.hot_sources()) EXPECT_EQ(made[source], 7u);
  // The 500th packet began it, and those who send uniformly are never those of the pulse.
  ASSERT_GE(seen.cold.size(), 500u);
  EXPECT_EQ(seen.cold[499].tail, traffic.began());
  for (const Arrival& arrival : seen.cold) {
    EXPECT_EQ(std::ranges::count(traffic.hot_sources(), arrival.source), 0);
    EXPECT_NE(arrival.destination, arrival.source);
  }
}

TEST(Pulse, ARunRepeatsItselfAndMechanismsTellThemselvesApart) {
  const PulseNetwork small{.fabric = "bmin:k=4,stages=3", .warm_packets = 1000, .batch = 14};
  CongestionSpec none, mvcm;
  ASSERT_TRUE(find_mechanism("mvcm", mvcm));
  const auto first = run_pulse(small, mvcm, 0.19, 1), again = run_pulse(small, mvcm, 0.19, 1);
  const auto free = run_pulse(small, none, 0.19, 1);
  ASSERT_TRUE(first.has_value() && again.has_value() && free.has_value());
  EXPECT_EQ(first->digest, again->digest);
  EXPECT_EQ(free->notices, 0u);
  EXPECT_EQ(free->hot.marked, 0);
  EXPECT_GT(first->hot.marked, 5 * first->cold.marked) << "marks are for those who cause it";
  EXPECT_LT(2 * first->cold.mean_latency, free->cold.mean_latency);
}

}  // namespace
}  // namespace smd::sim::test
