// A victim: a flow that only shares a link with those who cause the congestion (Ferrer 2012, 3.2).
//
//   X1 \                    / V       X1, X2, Y1, Y2 send to Z all they can; X3, the victim, to V.
//   X2 - Sx ─ xy ─ Sy ─ yz ─ Sz - Z
//   X3 /          /  \.
//               Y1    Y2              V hangs on Sy.
#include <gtest/gtest.h>

#include "sim-backend/congestion/preset.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace victim_test {

enum Host : HostNum { kX1, kX2, kX3, kY1, kY2, kV, kZ };

/// Shares of a link that arrive of each source, between the 500,000th and the 1,500,000th cycle.
struct Shares {
  std::array<double, 7> of{};
};

Shares measure(std::string_view mechanism, bool with_victim) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 S1-S2 H4-S2 H5-S2 H7-S2 S2-S3 H6-S3"),
                PacketOptions::multistage());
  std::vector<Script::Line> lines;
  for (const HostNum source : {kX1, kX2, kY1, kY2}) lines.push_back({0, source, rig.to(kZ, 256)});
  if (with_victim) lines.push_back({0, kX3, rig.to(kV, 256)});

  /// Each source has six thousand packets waiting from the start.
  struct Flood final : Workload {
    explicit Flood(std::vector<Script::Line> what) : lines(std::move(what)) {}

    Picos first(HostNum) override { return 0; }

    Picos emit(DataNet& net, HostNum host, Picos) override {
      for (const Script::Line& line : lines) {
        for (int i = 0; line.source == host && i < 6000; ++i) net.send(host, line.what);
      }
      return kNever;
    }

    std::vector<Script::Line> lines;
  } flood(lines);

  Script seen({});
  CongestionSpec spec;
  EXPECT_TRUE(find_mechanism(mechanism, spec));
  const FabricFacts around{.nodes = static_cast<std::uint32_t>(rig.spec.nodes.size()),
                           .hosts = rig.net->host_count(),
                           .radix = 4,
                           .stages = 2,
                           .round_trip = 320 * kNano,
                           .switch_ports = 8};
  CongestionControl control(spec, around);
  rig.net->set_congestion_control(control.hooks());
  rig.net->set_workload(&flood);
  rig.net->set_observer(&seen);
  rig.net->start();
  rig.net->run_until(500 * kMicro);
  seen.arrivals.clear();
  rig.net->run_until(1500 * kMicro);
  EXPECT_EQ(rig.net->audit(), "");
  Shares out;
  for (const Delivery& arrival : seen.arrivals) out.of[arrival.source] += 278e3 / (1000 * kMicro);
  return out;
}

TEST(Victim, WithoutOneTheFeedersShareTheLink) {
  const Shares shares = measure("none", false);
  for (const HostNum host : {kY1, kY2}) EXPECT_NEAR(shares.of[host], 1.0 / 3, 0.01);
  for (const HostNum host : {kX1, kX2}) EXPECT_NEAR(shares.of[host], 1.0 / 6, 0.01);
}

// yz takes a third of its packets from xy, one half of X1 and one of X2; X3 stands in the same
// queues and moves as they do: xy is idle for half of the time. (The source says a ninth each and
// two thirds idle: it counts packets of X3 among those that yz takes.)
TEST(Victim, GetsNoMoreThanThoseItWaitsBehind) {
  const Shares shares = measure("none", true);
  for (const HostNum host : {kX1, kX2, kX3}) EXPECT_NEAR(shares.of[host], 1.0 / 6, 0.01);
  for (const HostNum host : {kY1, kY2}) EXPECT_NEAR(shares.of[host], 1.0 / 3, 0.01);
}

// When those who cause the congestion hold back, up to two thirds of xy are its own.
TEST(Victim, IsFreedWhenTheOthersHoldBack) {
  for (const char* mechanism : {"mvcm", "iocm"}) {
    const Shares shares = measure(mechanism, true);
    EXPECT_GT(shares.of[kX3], 1.5 / 6) << mechanism;
    EXPECT_LT(shares.of[kX3], 2.0 / 3 + 0.01) << mechanism;
    double hot = 0;
    for (const HostNum host : {kX1, kX2, kY1, kY2}) hot += shares.of[host];
    EXPECT_GT(hot, 0.95) << mechanism << ": the hot link stays busy";
    // Fair among those who share a switch.
    EXPECT_NEAR(shares.of[kX1], shares.of[kX2], 0.03) << mechanism;
    EXPECT_NEAR(shares.of[kY1], shares.of[kY2], 0.03) << mechanism;
  }
}

}  // namespace victim_test
}  // namespace smd::sim::test
