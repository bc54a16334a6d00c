// M_Key leases: every adapter is asked in time, however slowly SMPs go out.
#include <gtest/gtest.h>

#include <set>

#include "smd/manager/deferred_work.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/manager/small_subnet.h"
#include "tests/unit/smp/fake_transport.h"

namespace smd::test {
namespace m_key_lease_test {

TEST(MKeyLease, OfTheLastPortIsKeptWhereARoundTakesLongerThanHalfOfIt) {
  sim::SimRuntime runtime;
  FakeTransport wire;
  std::set<unsigned> asked;  // by the switch's port
  wire.on_sent = [&](const MadPacket& packet) {
    const Smp smp = decode_smp(packet.mad).value();
    asked.insert(smp.initial_path[smp.hop_count]);
    runtime.call_at(runtime.now() + Duration{1ms}, [&wire, smp] { wire.deliver(answer_to(smp)); });
  };
  SmpClient client{runtime, wire, {.max_per_second = 10}};
  const auto fabric = std::make_shared<const Fabric>(
      fabric_from("H1-S1:1 H2-S1:2 H3-S1:3 H4-S1:4 H5-S1:5 H6-S1:6 H7-S1:7 H8-S1:8"));
  IndexVector<NodeIdx, HopPath> path(fabric->node_count());
  path[node(*fabric, "S1")] = kToS1;
  MKeyLeaseRefresher refresher{runtime, client};
  // Eight adapters take 0.8 s, half a lease is 0.5 s.
  refresher.set_ports(std::make_shared<const ActiveSubnet>(
                          ActiveSubnet{.sweep = {.fabric = fabric, .path = std::move(path)},
                                       .lids = lids_in_order(*fabric),
                                       .routing = RoutingTables{},
                                       .rows = SlToVlMaps{}}),
                      MKey{0x1234},
                      1s);
  runtime.run_until(runtime.now() + Duration{4s});
  EXPECT_EQ(asked.size(), 8u);
  const std::size_t sent = wire.sent.size();
  refresher.stop();
  runtime.run_until(runtime.now() + Duration{4s});
  EXPECT_LE(wire.sent.size(), sent + 1);
}

}  // namespace m_key_lease_test
}  // namespace smd::test
