// Every cause for which a packet is thrown away, one by one, and nothing else lost.
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

/// One packet from H1 to the last host over S1 - S2, after `change`, must be lost for `cause` at
/// `where`.
template <class Change>
void expect_lost(const PacketOptions& options, Discard cause, const char* where, Change change) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options);
  change(rig);
  rig.reload();
  Script script({{.at = kMicro, .source = 0, .what = rig.to(1, 256)}});
  rig.run(script);
  ASSERT_EQ(script.losses.size(), 1u) << print_discard(cause);
  EXPECT_EQ(print_discard(script.losses[0].cause), print_discard(cause));
  EXPECT_EQ(rig.spec.nodes[script.losses[0].node].description, where);
  EXPECT_EQ(rig.net->stats().discards(), 1u);
  EXPECT_EQ(rig.net->stats().in_flight, 0u);
  EXPECT_TRUE(script.arrivals.empty());
}

PacketOptions without_output_buffers() {
  PacketOptions options = PacketOptions::thesis();
  options.switches.output_buffers = false;
  return options;
}

class Discards : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static PacketOptions options() {
    return GetParam() ? PacketOptions::thesis() : without_output_buffers();
  }
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutOutputBuffers, Discards, testing::Bool());

void set_state(PacketRig& rig, const char* node, unsigned port, PortState state) {
  rig.fabric.nodes[rig.node(node)].ports[port].info.port_state = static_cast<std::uint8_t>(state);
}

TEST_P(Discards, PortIsDown) {
  expect_lost(options(), Discard::InactivePort, "S1", [](PacketRig& rig) {
    set_state(rig, "S1", 2, PortState::Down);
    set_state(rig, "S2", 1, PortState::Down);
  });
}

TEST_P(Discards, PortIsInitialize) {
  expect_lost(options(), Discard::DeactivatedPort, "S1", [](PacketRig& rig) {
    set_state(rig, "S1", 2, PortState::Initialize);
  });
}

TEST_P(Discards, ArmedTakesButDoesNotSend) {
  expect_lost(options(), Discard::DeactivatedPort, "S2", [](PacketRig& rig) {
    set_state(rig, "S2", 1, PortState::Armed);
    set_state(rig, "S2", 2, PortState::Armed);
  });
}

TEST_P(Discards, FarEndIsInitialize) {
  expect_lost(options(), Discard::DeactivatedPort, "S2", [](PacketRig& rig) {
    set_state(rig, "S2", 1, PortState::Initialize);
  });
}

TEST_P(Discards, OwnPortIsInitialize) {
  expect_lost(options(), Discard::DeactivatedPort, "H1", [](PacketRig& rig) {
    set_state(rig, "H1", 1, PortState::Initialize);
  });
}

TEST_P(Discards, NoEntry) {
  expect_lost(options(), Discard::Unroutable, "S2", [](PacketRig& rig) {
    rig.fabric.nodes[rig.node("S2")].lft[rig.fabric.host_lids[1].value()] = kNoRoute;
  });
}

TEST_P(Discards, BeyondTheTop) {
  expect_lost(options(), Discard::Unroutable, "S1", [](PacketRig& rig) {
    rig.fabric.nodes[rig.node("S1")].switch_info.linear_fdb_top = 1;
  });
}

TEST_P(Discards, BackToWhereItCameFrom) {
  expect_lost(options(), Discard::BackToInput, "S2", [](PacketRig& rig) {
    rig.fabric.nodes[rig.node("S2")].lft[rig.fabric.host_lids[1].value()] = PortNum{1};
  });
}

TEST_P(Discards, ToTheSwitchItself) {
  expect_lost(options(), Discard::WrongNode, "S2", [](PacketRig& rig) {
    rig.fabric.nodes[rig.node("S2")].lft[rig.fabric.host_lids[1].value()] = PortNum{0};
  });
}

TEST_P(Discards, ToAnAdapterThatHasAnotherLid) {
  expect_lost(options(), Discard::WrongNode, "H2", [](PacketRig& rig) {
    rig.fabric.nodes[rig.node("H2")].ports[1].info.lid = Lid{77};
  });
}

TEST_P(Discards, LaneOfItsSlIs15) {
  expect_lost(options(), Discard::Unmappable, "S1", [](PacketRig& rig) {
    SlToVl row{};
    row.fill(Vl{15});
    rig.fabric.nodes[rig.node("S1")].write_sl_to_vl(PortNum{1}, PortNum{2}, row);
  });
}

TEST_P(Discards, LaneOfItsSlIsNotInUse) {
  expect_lost(options(), Discard::Unmappable, "S2", [](PacketRig& rig) {
    SlToVl row{};
    row.fill(Vl{1});
    rig.fabric.nodes[rig.node("S2")].write_sl_to_vl(PortNum{1}, PortNum{2}, row);
    rig.fabric.nodes[rig.node("S2")].ports[2].info.operational_vls = 1;
  });
}

TEST_P(Discards, TooLongForTheMtu) {
  PacketOptions o = options();
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), o);
  rig.fabric.nodes[rig.node("S2")].ports[2].info.neighbor_mtu =
      static_cast<std::uint8_t>(Mtu::B256);
  rig.reload();
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 257)},
                 {.at = 1, .source = 0, .what = rig.to(1, 256)}});
  rig.run(script);
  EXPECT_EQ(rig.discarded(Discard::TooLong), 1u);
  EXPECT_EQ(script.arrivals.size(), 1u);
}

TEST_P(Discards, LinkDropsUnderAPacket) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)}});
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  rig.net->run_until(350 * kNano);  // its head left S1 at 306 ns and is in at S2 at 406
  set_state(rig, "S1", 2, PortState::Down);
  set_state(rig, "S2", 1, PortState::Down);
  rig.reload();
  rig.net->run_until(kMilli);
  EXPECT_EQ(rig.discarded(Discard::OnTheWire), 1u);
  EXPECT_EQ(rig.net->audit(), "");
  // Up again: both ends count their credits from 0.
  set_state(rig, "S1", 2, PortState::Active);
  set_state(rig, "S2", 1, PortState::Active);
  rig.reload();
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->send(0, rig.to(1, 256));
  rig.net->run_until(2 * kMilli);
  EXPECT_EQ(rig.net->stats().delivered, 1u);
}

TEST_P(Discards, NodeDiesWithPacketsInside) {
  // Three hosts flood one: its switch holds packets when it dies.
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 S1-S2 S2-H4"), options());
  std::vector<Script::Line> lines;
  for (HostNum host = 0; host < 3; ++host) {
    for (int i = 0; i < 20; ++i) lines.push_back({.at = i, .source = host, .what = rig.to(3, 256)});
  }
  Script script(lines);
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  rig.net->run_until(6 * kMicro);
  ASSERT_EQ(rig.net->audit(), "");
  const std::uint64_t before = rig.net->stats().delivered;
  rig.net->switch_off(rig.node("S1"));
  for (const char* host : {"H1", "H2", "H3"}) {
    rig.fabric.nodes[rig.node(host)].ports[1].info.port_state = 1;
    rig.net->load(rig.node(host), rig.fabric.nodes[rig.node(host)]);
  }
  rig.fabric.nodes[rig.node("S2")].ports[1].info.port_state = 1;
  rig.net->load(rig.node("S2"), rig.fabric.nodes[rig.node("S2")]);
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->run_until(kMilli);
  const NetStats& stats = rig.net->stats();
  EXPECT_GT(rig.discarded(Discard::ClearedWithNode), 3u);
  EXPECT_GT(rig.discarded(Discard::InactivePort), 10u) << "what waits in the adapters";
  EXPECT_GT(before, 0u);
  EXPECT_EQ(stats.in_flight, 0u);
  EXPECT_EQ(stats.generated, stats.delivered + stats.discards());
  EXPECT_EQ(rig.net->audit(), "");

  // Alive again, with the registers that it has then.
  for (NodeState& node : rig.fabric.nodes) {
    for (PortRegs& port : node.ports) port.info.port_state = 4;
  }
  rig.reload();
  rig.net->send(0, rig.to(3, 256));
  rig.net->run_until(2 * kMilli);
  EXPECT_EQ(stats.in_flight, 0u);
  EXPECT_EQ(rig.net->audit(), "");
}

/// Four adapters flood one that hangs on a quarter of their rate: what waits at S1, whose turn is
/// one in four, waits for longer than 4.096 us.
void expect_too_old(const PacketOptions& options, Discard cause) {
  PacketOptions with = options;
  with.lifetimes = true;
  FabricSpec spec = draw("H1-S1 S1-S2", LinkWidth::X4);
  const auto hang = [&](unsigned port, LinkWidth width) {
    const std::uint32_t host =
        add_node(spec, NodeType::Ca, "H" + std::to_string(port), Guid{0x20000u + 0x100 * port}, 1);
    connect(
        spec, 2, PortNum{static_cast<std::uint8_t>(port)}, host, PortNum{1}, width, LinkSpeed::Sdr);
  };
  hang(2, LinkWidth::X1);
  for (const unsigned port : {3u, 4u, 5u}) hang(port, LinkWidth::X4);
  PacketRig rig(spec, with);
  for (NodeState& node : rig.fabric.nodes) {
    for (PortRegs& port : node.ports) port.info.hoq_life = 20;
    node.switch_info.life_time_value = 20;
  }
  NodeState& s1 = rig.fabric.nodes[rig.node("S1")];
  (cause == Discard::SwitchLife ? s1.switch_info.life_time_value : s1.ports[2].info.hoq_life) = 0;
  rig.reload();
  std::vector<Script::Line> lines;
  for (int i = 0; i < 12; ++i) {
    for (const HostNum host : {0u, 2u, 3u, 4u}) {
      lines.push_back({.at = i, .source = host, .what = rig.to(1, 4096)});
    }
  }
  Script script(lines);
  rig.run(script);
  const NetStats& stats = rig.net->stats();
  EXPECT_GT(rig.discarded(cause), 3u);
  EXPECT_EQ(rig.discarded(cause), stats.discards());
  for (const Loss& loss : script.losses) EXPECT_EQ(loss.node, rig.node("S1"));
  EXPECT_EQ(stats.generated, stats.delivered + stats.discards());
  EXPECT_GE(stats.delivered, 36u) << "only those of H1 pass S1";
}

TEST_P(Discards, TooLongAtTheHead) { expect_too_old(options(), Discard::HeadOfQueueLife); }

TEST_P(Discards, TooLongInASwitch) { expect_too_old(options(), Discard::SwitchLife); }

// Packets were looked at only where the link had nothing to send.
TEST_P(Discards, TooLongAtTheHeadBesideAVlThatKeepsTheLinkBusy) {
  PacketOptions with = options();
  with.vls = 2;
  with.lifetimes = true;
  with.switches.input_buffer_bytes = with.switches.output_buffer_bytes = 512;
  PacketRig rig(draw("H1-S1 H3-S1 S1-S2 H2-S2 H4-S2"), with);
  for (NodeState& node : rig.fabric.nodes) {
    node.switch_info.life_time_value = 20;
    for (PortRegs& port : node.ports) port.info.hoq_life = 20;
  }
  rig.fabric.nodes[rig.node("S1")].ports[3].info.hoq_life = 3;  // 32.768 us
  // Of what is for H4, the port before it sends VL0 alone: VL1 has no credit from S1 on.
  VlArbTables tables;
  tables.low[0] = {Vl{0}, 255};
  NodeState& s2 = rig.fabric.nodes[rig.node("S2")];
  s2.ports[3].vl_arb = std::make_unique<VlArbTables>(tables);
  rig.reload();
  std::vector<Script::Line> lines;
  for (int i = 0; i < 300; ++i) {
    for (const HostNum host : {0u, 1u}) {
      lines.push_back({.at = i, .source = host, .what = rig.to(2, 256, 0)});
    }
    if (i < 40) lines.push_back({.at = i, .source = 1, .what = rig.to(3, 256, 1)});
  }
  Script script(lines);
  rig.run(script, 300 * kMicro);  // of the 600 packets of VL0 more than a half are still to come
  std::vector<Picos> lost;
  for (const Loss& loss : script.losses) {
    EXPECT_EQ(loss.node, rig.node("S1"));
    lost.push_back(loss.at);
  }
  EXPECT_EQ(rig.discarded(Discard::HeadOfQueueLife), script.losses.size());
  ASSERT_GE(lost.size(), 5u);
  // One after the other comes to the head, and is there for as long.
  for (std::size_t i = 1; i < lost.size(); ++i) {
    EXPECT_GE(lost[i] - lost[i - 1], 32'768 * kNano);
    EXPECT_LE(lost[i] - lost[i - 1], 34 * kMicro);
  }
  // The last of VL1 goes when nothing else is left: then the port has nothing that credit holds up.
  rig.net->run_until(2 * kMilli);
  const Picos blocked = rig.net->blocked_time(rig.node("S1"), PortNum{3});
  EXPECT_GT(blocked, 300 * kMicro);
  rig.net->run_until(3 * kMilli);
  EXPECT_EQ(rig.net->blocked_time(rig.node("S1"), PortNum{3}), blocked);
}

/// What departs from one switch.
class Departures final : public Marking {
 public:
  explicit Departures(std::uint32_t node) : node_(node) {}

  void on_departure(const MarkPoint& point, Marks&) override {
    if (point.node == node_) points.push_back(point);
  }

  [[nodiscard]] bool may_occur(Marks marks) const override { return marks == 0; }

  std::vector<MarkPoint> points;

 private:
  std::uint32_t node_;
};

/// S1 has a packet and no credit for it, `lose` has it thrown away; how a small one of `next_at`
/// departs, which has credit.
MarkPoint depart_after(PacketOptions options,
                       Picos next_at,
                       const std::function<void(PacketRig&)>& lose) {
  options.lifetimes = true;
  options.switches.output_buffer_bytes = 512;
  options.switches.input_buffer_bytes = 512 + 64;
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options);
  for (NodeState& node : rig.fabric.nodes) {
    node.switch_info.life_time_value = 20;
    for (PortRegs& port : node.ports) port.info.hoq_life = 20;
  }
  rig.fabric.nodes[rig.node("S1")].ports[2].info.hoq_life = 3;  // 32.768 us
  // The port before H2 sends nothing.
  std::unique_ptr<VlArbTables>& tables = rig.fabric.nodes[rig.node("S2")].ports[2].vl_arb;
  tables = std::make_unique<VlArbTables>();
  rig.reload();
  Departures departures(rig.node("S1"));
  rig.net->set_congestion_control({.marking = &departures});
  const unsigned fit = options.switches.output_buffers ? 4 : 2;  // into S2
  std::vector<Script::Line> lines;
  for (unsigned i = 0; i <= fit; ++i) lines.push_back({.at = i, .what = rig.to(1, 256)});
  lines.push_back({.at = next_at, .what = rig.to(1, 64)});
  Script script(lines);
  rig.run(script, 20 * kMicro);
  EXPECT_EQ(departures.points.size(), fit);
  EXPECT_EQ(rig.net->stats().in_flight, fit + (next_at < 20 * kMicro ? 2 : 1));
  EXPECT_GT(rig.net->blocked_time(rig.node("S1"), PortNum{2}), 0);
  lose(rig);
  EXPECT_GE(rig.net->stats().discards(), 1u);
  // What stands before H2 is thrown away with its link: S1 has credit again.
  tables.reset();
  for (const PortState state : {PortState::Down, PortState::Active}) {
    set_state(rig, "S2", 2, state);
    set_state(rig, "H2", 1, state);
    rig.reload();
    rig.net->run_until(rig.net->now() + 10 * kMicro);
  }
  rig.net->run_until(300 * kMicro);
  EXPECT_EQ(rig.net->audit(), "");
  EXPECT_EQ(rig.net->stats().in_flight, 0u);
  EXPECT_EQ(departures.points.size(), fit + 1);
  return departures.points.back();
}

void grow_old(PacketRig& rig) { rig.net->run_until(100 * kMicro); }

// The next one was marked as if it had waited for credit itself.
TEST_P(Discards, WhoGrewOldLeavesNoWordOfWaitingForCredit) {
  const MarkPoint next = depart_after(options(), 200 * kMicro, grow_old);
  EXPECT_GE(next.at, 200 * kMicro);
  EXPECT_FALSE(next.held);
}

TEST_P(Discards, WhoGrewOldLeavesNoneToTheOneBehind) {
  const MarkPoint next = depart_after(options(), kMicro, grow_old);
  EXPECT_GE(next.at, 32'768 * kNano);
  EXPECT_LE(next.at, 40 * kMicro);
  EXPECT_FALSE(next.held);
}

TEST_P(Discards, WhoWasDrainedLeavesNoWordOfWaitingForCredit) {
  const MarkPoint next = depart_after(options(), 200 * kMicro, [](PacketRig& rig) {
    for (const PortState state : {PortState::Down, PortState::Active}) {
      set_state(rig, "S1", 2, state);
      set_state(rig, "S2", 1, state);
      rig.reload();
    }
  });
  EXPECT_GE(next.at, 200 * kMicro);
  EXPECT_FALSE(next.held);
}

TEST(DiscardNames, AreDifferent) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kDiscards; ++i) names.insert(print_discard(static_cast<Discard>(i)));
  EXPECT_EQ(names.size(), kDiscards);
}

}  // namespace
}  // namespace smd::sim::test
