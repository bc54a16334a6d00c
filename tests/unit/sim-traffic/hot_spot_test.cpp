// A hot-spot pulse: who sends when, how much, and that everything of it arrives.
#include "sim-backend/traffic/hot_spot.h"
#include "sim-backend/packet/packet_net.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim-backend/experiments/congestion/hot_spot_run.h"
#include "sim-backend/scenario/programmed_nodes.h"

namespace smd::sim::test {
namespace hot_spot_test {

constexpr HotSpotOptions kPulse{
    .load = 0.1, .hot_share = 0.2, .hot_spot = 3, .warm_packets = 500, .batch = 7, .seed = 5};

struct Seen final : PacketObserver {
  void on_delivered(const Delivery& arrival) override {
    if (arrival.tag == kColdPacket) {
      cold.push_back(arrival);
    } else {
      hot.push_back(arrival);
    }
  }

  std::vector<Delivery> cold, hot;
};

TEST(Pulse, HotSourcesAreSilentThenSendTheirBatch) {
  const auto spec = load_fabric("bmin:k=4,stages=2");
  ASSERT_TRUE(spec.has_value());
  const auto fabric = program_nodes(*spec, {.engine = "updn", .mtu = Mtu::B256});
  ASSERT_TRUE(fabric.has_value());
  PacketNet net(*spec, PacketOptions::multistage());
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  ASSERT_EQ(net.host_count(), 16u);
  HotSpotTraffic traffic(kPulse, 16, net.wiring().wires[net.wiring().host_port[0]].byte_time);
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
  for (const Delivery& arrival : seen.hot) {
    ++made[arrival.source];
    EXPECT_EQ(arrival.destination, 3u);
    EXPECT_GE(arrival.generated, traffic.began());
  }
  for (const HostNum source : traffic.hot_sources()) EXPECT_EQ(made[source], 7u);
  // The 500th packet began it, and those who send uniformly are never those of the pulse.
  ASSERT_GE(seen.cold.size(), 500u);
  EXPECT_EQ(seen.cold[499].tail, traffic.began());
  for (const Delivery& arrival : seen.cold) {
    EXPECT_EQ(std::ranges::count(traffic.hot_sources(), arrival.source), 0);
    EXPECT_NE(arrival.destination, arrival.source);
  }
}

/// Runs a pulse in a net of its own and returns what arrived.
Seen run(const std::string& network, const HotSpotOptions& options) {
  const auto spec = load_fabric(network);
  const auto fabric = program_nodes(*spec, {.engine = "updn", .mtu = Mtu::B512});
  PacketOptions packets = PacketOptions::multistage();
  packets.switches.input_buffer_bytes = packets.switches.output_buffer_bytes = 2048;
  PacketNet net(*spec, packets);
  for (std::uint32_t n = 0; n < spec->nodes.size(); ++n) net.load(n, fabric->nodes[n]);
  HotSpotTraffic traffic(
      options, net.host_count(), net.wiring().wires[net.wiring().host_port[0]].byte_time);
  Seen seen;
  net.set_workload(&traffic);
  net.set_observer(&seen);
  net.start();
  while (!traffic.finished()) {
    if (!net.run_one()) {
      ADD_FAILURE() << "the pulse does not end";
      break;
    }
  }
  EXPECT_EQ(net.audit(), "");
  EXPECT_EQ(seen.hot.size(), traffic.hot_packets());
  return seen;
}

// 16 hosts, 3 of them hot: the 12 that are neither hot nor the hot spot burst.
TEST(Pulse, TheOthersMayBurstToTheHotSpot) {
  HotSpotOptions options = kPulse;
  options.burst = 5;
  const Seen seen = run("bmin:k=4,stages=2", options);
  std::map<HostNum, unsigned> made;
  for (const Delivery& arrival : seen.hot) ++made[arrival.source];
  EXPECT_EQ(made.size(), 15u);
  EXPECT_EQ(std::ranges::count_if(made, [](const auto& each) { return each.second == 5; }), 12);
  EXPECT_EQ(std::ranges::count_if(made, [](const auto& each) { return each.second == 7; }), 3);
}

TEST(Pulse, SizesAreMixedEvenlyAndTheLoadStays) {
  HotSpotOptions options = kPulse;
  options.payload = 64;
  options.other_payload = 512;
  options.warm_packets = 4000;
  const Seen seen = run("bmin:k=4,stages=2", options);
  const auto small = std::ranges::count(seen.cold, 64, &Delivery::payload);
  EXPECT_EQ(
      static_cast<std::size_t>(small + std::ranges::count(seen.cold, 512, &Delivery::payload)),
      seen.cold.size());
  EXPECT_NEAR(double(small) / double(seen.cold.size()), 0.5, 0.03);
  double bytes = 0;
  for (const Delivery& arrival : seen.cold) bytes += arrival.payload + 22;
  // Of thirteen hosts that send, in cycles of a byte each.
  EXPECT_NEAR(bytes / 13 / (double(seen.cold.back().tail) / kNano), 0.1, 0.005);
}

// A host of a unidirectional network sends by its first port and receives by its second.
TEST(Pulse, UnidirectionalNetworksArePassedFromTheFirstStageToTheLast) {
  HotSpotOptions options = kPulse;
  options.ports = 2;
  const Seen seen = run("umin:k=2,stages=3", options);
  ASSERT_FALSE(seen.cold.empty());
  for (const auto* arrivals : {&seen.cold, &seen.hot}) {
    for (const Delivery& arrival : *arrivals) {
      EXPECT_EQ(arrival.source % 2, 0u);
      EXPECT_EQ(arrival.destination % 2, 1u);
      EXPECT_NE(arrival.source / 2, arrival.destination / 2);
      EXPECT_EQ(arrival.hops, 3) << "every stage once";
    }
  }
}

TEST(Pulse, ARunRepeatsItselfAndMechanismsTellThemselvesApart) {
  const HotSpotNetwork small{.fabric = "bmin:k=4,stages=3",
                             .traffic = {.warm_packets = 1000, .batch = 14}};
  CongestionSpec none, mvcm;
  ASSERT_TRUE(find_mechanism("mvcm", mvcm));
  const auto first = run_hot_spot(small, mvcm, 0.19, 1), again = run_hot_spot(small, mvcm, 0.19, 1);
  const auto free = run_hot_spot(small, none, 0.19, 1);
  ASSERT_TRUE(first.has_value() && again.has_value() && free.has_value());
  EXPECT_EQ(first->digest, again->digest);
  EXPECT_EQ(free->notices, 0u);
  EXPECT_EQ(free->hot.marked, 0);
  EXPECT_GT(first->hot.marked, 5 * first->cold.marked) << "marks are for those who cause it";
  EXPECT_LT(2 * first->cold.mean_latency, free->cold.mean_latency);
}

}  // namespace hot_spot_test
}  // namespace smd::sim::test
