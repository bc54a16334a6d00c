// Contributors and victims: who sends to whom, how much, and when it is over.
#include "sim-backend/traffic/contention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

// Six hosts at a switch; two contribute ten packets each to H1 from the 5th microsecond on.
TEST(Contention, ContributorsSendAllTheyCanAndVictimsToEachOther) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1 H5-S1 H6-S1"), PacketOptions::modern());
  const Wire& wire = rig.net->wiring().wires[rig.net->wiring().host_port[0]];
  ContentionTraffic traffic({.contributors = 2,
                             .packets = 10,
                             .load = 0.2,
                             .payload = 256,
                             .start = 5 * kMicro,
                             .seed = 3},
                            6,
                            wire.byte_time);
  ASSERT_EQ(traffic.contributors().size(), 2u);
  EXPECT_EQ(std::ranges::count(traffic.contributors(), HostNum{0}), 0);
  Script seen({});
  rig.net->set_workload(&traffic);
  rig.net->set_observer(&seen);
  rig.net->start();
  while (traffic.completed() == kNever) ASSERT_TRUE(rig.net->run_one());
  EXPECT_EQ(rig.net->audit(), "");
  std::map<HostNum, unsigned> contended;
  unsigned victims = 0;
  for (const Delivery& arrival : seen.arrivals) {
    const bool contributes = std::ranges::count(traffic.contributors(), arrival.source) == 1;
    EXPECT_EQ(arrival.tag, contributes ? kContendingPacket : kVictimPacket);
    if (contributes) {
      ++contended[arrival.source];
      EXPECT_EQ(arrival.destination, 0u);
      EXPECT_GE(arrival.generated, 5 * kMicro);
    } else {
      ++victims;
      EXPECT_NE(arrival.destination, 0u);
      EXPECT_NE(arrival.destination, arrival.source);
    }
  }
  for (const HostNum host : traffic.contributors()) EXPECT_EQ(contended[host], 10u);
  EXPECT_GT(victims, 20u);
  EXPECT_EQ(seen.arrivals.back().tail, traffic.completed());
  // Twenty packets of 282 bytes, one after the other on the link of the hot spot.
  const double packet = 282.0 * wire.byte_time / 65536;
  EXPECT_GE(double(traffic.completed() - 5 * kMicro), 20 * packet);
  EXPECT_LT(double(traffic.completed() - 5 * kMicro), 20 * packet + kMicro);
}

}  // namespace
}  // namespace smd::sim::test
