// Sources that make no more packets than may wait: when they go on.
#include <gtest/gtest.h>

#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace bounded_source_test {

/// From H1 to H2, faster than the link carries.
struct Flood final : Workload {
  Picos first(HostNum host) override { return host == 0 ? 0 : kNever; }

  Picos emit(DataNet& net, HostNum host, Picos now) override {
    net.send(host, {.dlid = to, .payload = 256});
    return now + 100 * kNano;
  }

  Lid to;
};

class BoundedSource : public testing::TestWithParam<SourceQueues> {
 protected:
  BoundedSource() : rig_(draw("H1-S1 H2-S1"), options()) {
    flood_.to = rig_.fabric.host_lids[1];
    rig_.net->set_workload(&flood_);
    rig_.net->start();
    rig_.net->run_until(100 * kMicro);
  }

  [[nodiscard]] static PacketOptions options() {
    PacketOptions out = PacketOptions::thesis();
    out.adapters.most_waiting = 3;
    out.adapters.waiting = GetParam();
    return out;
  }

  /// Both ends of a host's cable.
  void set_link(const char* host, unsigned switch_port, PortState state) {
    for (const auto& [node, port] : {std::pair(host, 1u), std::pair("S1", switch_port)}) {
      NodeState& registers = rig_.fabric.nodes[rig_.node(node)];
      registers.ports[port].info.port_state = static_cast<std::uint8_t>(state);
      rig_.net->load(rig_.node(node), registers);
    }
  }

  /// 100 us more: a packet takes 1,128 ns.
  void expect_it_sends() {
    const std::uint64_t before = rig_.net->stats().delivered;
    rig_.net->run_until(rig_.net->now() + 100 * kMicro);
    EXPECT_EQ(rig_.net->audit(), "");
    EXPECT_GT(rig_.net->stats().delivered, before + 80);
  }

  Flood flood_;
  PacketRig rig_;
};

INSTANTIATE_TEST_SUITE_P(Queues,
                         BoundedSource,
                         testing::Values(SourceQueues::Shared, SourceQueues::Hashed));

// The packets that it waited for were thrown away, and nobody told it.
TEST_P(BoundedSource, GoesOnWhenItsNodeIsBack) {
  rig_.net->switch_off(rig_.node("H1"));
  rig_.reload();
  expect_it_sends();
}

TEST_P(BoundedSource, GoesOnWhenItsPortIsBack) {
  // The port before H2 sends nothing, so that H1 comes to have no credit: nothing is on its link
  // that would tell it.
  std::unique_ptr<VlArbTables>& tables = rig_.fabric.nodes[rig_.node("S1")].ports[2].vl_arb;
  tables = std::make_unique<VlArbTables>();
  rig_.reload();
  rig_.net->run_until(200 * kMicro);
  ASSERT_EQ(rig_.net->stats().waiting, 3u);
  set_link("H1", 1, PortState::Down);
  ASSERT_EQ(rig_.net->stats().waiting, 0u);
  tables.reset();
  set_link("H2", 2, PortState::Down);
  rig_.net->run_until(210 * kMicro);
  set_link("H2", 2, PortState::Active);
  set_link("H1", 1, PortState::Active);
  expect_it_sends();
}

}  // namespace bounded_source_test
}  // namespace smd::sim::test
