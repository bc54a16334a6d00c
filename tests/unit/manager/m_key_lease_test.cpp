// M_Key leases: every adapter is asked in time, however slowly SMPs go out.
#include <gtest/gtest.h>

#include <set>

#include "smd/manager/deferred_work.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/manager/small_subnet.h"
#include "tests/unit/smp/fake_transport.h"

namespace smd::test {
namespace m_key_lease_test {

/// Eight adapters at one switch.
struct Bench {
  Bench() {
    wire.on_sent = [&](const MadPacket& packet) {
      const Smp smp = decode_smp(packet.mad).value();
      asked.insert(smp.initial_path[smp.hop_count]);
      runtime.call_at(runtime.now() + Duration{1ms}, [this, smp] { wire.deliver(answer_to(smp)); });
    };
    const auto fabric = std::make_shared<const Fabric>(
        fabric_from("H1-S1:1 H2-S1:2 H3-S1:3 H4-S1:4 H5-S1:5 H6-S1:6 H7-S1:7 H8-S1:8"));
    IndexVector<NodeIdx, HopPath> path(fabric->node_count());
    path[node(*fabric, "S1")] = kToS1;
    in_force = std::make_shared<const ActiveSubnet>(
        ActiveSubnet{.sweep = {.fabric = fabric, .path = std::move(path)},
                     .lids = lids_in_order(*fabric),
                     .routing = RoutingTables{},
                     .rows = SlToVlMaps{}});
  }

  void set_lease(Duration lease) { refresher.set_ports(in_force, MKey{0x1234}, lease); }

  void run_for(Duration time) { runtime.run_until(runtime.now() + time); }

  sim::SimRuntime runtime;
  FakeTransport wire;
  std::set<unsigned> asked;  // by the switch's port
  SmpClient client{runtime, wire, {.max_per_second = 10}};
  std::shared_ptr<const ActiveSubnet> in_force;
  MKeyLeaseRefresher refresher{runtime, client};
};

TEST(MKeyLease, OfTheLastPortIsKeptWhereARoundTakesLongerThanHalfOfIt) {
  Bench bench;
  bench.set_lease(1s);  // asking all takes 0.8 s
  bench.run_for(4s);
  EXPECT_EQ(bench.asked.size(), 8u);
  const std::size_t sent = bench.wire.sent.size();
  bench.refresher.stop();
  bench.run_for(4s);
  EXPECT_LE(bench.wire.sent.size(), sent + 1);
}

TEST(MKeyLease, ThatBecomesShorterIsKeptFromThenOn) {
  Bench bench;
  bench.set_lease(2h);
  bench.run_for(1min);
  EXPECT_EQ(bench.asked.size(), 0u);
  bench.set_lease(20s);
  bench.run_for(8s);
  EXPECT_EQ(bench.asked.size(), 0u);
  bench.run_for(4s);
  EXPECT_EQ(bench.asked.size(), 8u);
}

// In the midst of a round, the next one comes as soon.
TEST(MKeyLease, ThatBecomesShorterWhilePortsAreAskedIsKeptFromThenOn) {
  Bench bench;
  bench.set_lease(2h);
  bench.run_for(1h + 100ms);
  bench.set_lease(20s);
  bench.run_for(5s);
  EXPECT_EQ(bench.asked.size(), 8u);
  bench.asked.clear();
  bench.run_for(7s);
  EXPECT_EQ(bench.asked.size(), 8u);
}

TEST(MKeyLease, OfARoundThatWasDueStaysDueWhereItBecomesLonger) {
  Bench bench;
  bench.set_lease(20s);
  bench.run_for(9s);
  bench.set_lease(2h);
  bench.run_for(3s);
  EXPECT_EQ(bench.asked.size(), 8u);
  bench.asked.clear();
  bench.run_for(59min);
  EXPECT_EQ(bench.asked.size(), 0u);
  bench.run_for(2min);
  EXPECT_EQ(bench.asked.size(), 8u);
}

TEST(MKeyLease, CyclesDoNotPutTheNextRoundOff) {
  Bench bench;
  for (int cycle = 0; cycle < 12; ++cycle) {
    bench.set_lease(20s);
    bench.run_for(1s);
  }
  EXPECT_EQ(bench.asked.size(), 8u);
}

}  // namespace m_key_lease_test
}  // namespace smd::test
