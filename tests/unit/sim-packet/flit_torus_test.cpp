// Why packets of the "cycles" preset wait less near the saturation of a torus than flits do
// (docs/packet-level.md): a packet that has the crossbar keeps it. Flit by flit, packets of both
// lanes take turns on a cable, and each holds its lane for twice as long.
#include "tests/unit/sim-packet/flit_torus.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace smd::sim::test {
namespace {

FlitResult measure(double load, FlitRules rules) {
  const FlitResult result = FlitTorus(load, rules, 1).run(20'000);
  fmt::print("load {}, crossbar held {}, whole packets {}: latency {:.1f}, accepted {:.3f}\n",
             load,
             rules.hold_crossbar,
             rules.whole_packets,
             result.latency,
             result.accepted);
  return result;
}

TEST(FlitTorus, AnEmptyOneHasTheLatencyOfTheLaw) {
  const double latency = measure(0.01, {}).latency;
  EXPECT_NEAR(latency, 4.06 * 4.06 + 17 + 3, 2.5) << "4 hops and a little contention";
  EXPECT_NEAR(measure(0.01, {.hold_crossbar = true}).latency, latency, 0.5);
}

TEST(FlitTorus, AHeldCrossbarIsWhatSetsPacketsApart) {
  for (const auto& [load, ours] : {std::pair{0.3, 55.1}, {0.4, 69.9}, {0.5, 100.3}}) {
    const double flits = measure(load, {}).latency;
    const double held = measure(load, {.hold_crossbar = true}).latency;
    EXPECT_LT(held, 0.95 * flits) << load;
    EXPECT_NEAR(held, ours, 0.06 * ours) << load << ": as the packet level has it";
  }
}

// The other candidate: that a packet needs room for all of it before it sets out.
TEST(FlitTorus, RoomForWholePacketsIsNot) {
  for (const double load : {0.3, 0.4}) {
    EXPECT_NEAR(measure(load, {.whole_packets = true}).latency, measure(load, {}).latency, 1.5);
  }
}

TEST(FlitTorus, AHeldCrossbarAcceptsMore) {
  EXPECT_GT(measure(0.9, {.hold_crossbar = true}).accepted, measure(0.9, {}).accepted);
}

}  // namespace
}  // namespace smd::sim::test
