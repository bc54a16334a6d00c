// The standard's mechanism in a net: what is marked, answered and slowed down, and what it costs.
#include <gtest/gtest.h>

#include "sim-backend/congestion/echo.h"
#include "sim-backend/congestion/ib_marking.h"
#include "sim-backend/congestion/ib_reaction.h"
#include "sim-backend/congestion/window_reaction.h"
#include "smd/congestion/throttle.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace ib_run_test {

//  H1 \        / H4      H1, H2, H3 all send to H4.
//  H2 - S1 - S2
//  H3 /        \ H5
constexpr const char* kTree = "S1-S2 H1-S1 H2-S1 H3-S1 H4-S2 H5-S2";

PacketOptions options() {
  PacketOptions out = PacketOptions::modern();
  out.switches.input_buffer_bytes = out.switches.output_buffer_bytes = 4096;
  return out;
}

/// `count` packets of 1,000 bytes of each source to one destination, all at once.
std::vector<Script::Line> flood(const PacketRig& rig, unsigned count, HostNum to) {
  std::vector<Script::Line> lines;
  for (const HostNum source : {0u, 1u, 2u}) {
    for (unsigned i = 0; i < count; ++i) lines.push_back({0, source, rig.to(to, 1000)});
  }
  return lines;
}

struct Standard {
  Standard(PacketRig& rig, std::unique_ptr<Echo> with)
      : marking(rig.spec.nodes.size()), echo(std::move(with)), reaction(rig.net->host_count()) {
    for (std::uint32_t node = 0; node < rig.spec.nodes.size(); ++node) {
      marking.set(node, {.setting = {.threshold = 12}, .ports = {}});
    }
    IbCaRegisters set;
    for (int i = 0; i < 64; ++i) set.table.push_back(cc::encode_delay(i));
    set.limit = 63;
    set.setting.entries.fill({.timer = 50, .increase = 1});
    for (HostNum host = 0; host < rig.net->host_count(); ++host) reaction.set(host, set);
    rig.net->set_congestion_control(
        {.marking = &marking, .echo = echo.get(), .reaction = &reaction});
  }

  IbMarking marking;
  std::unique_ptr<Echo> echo;
  IbReaction reaction;
};

TEST(IbRun, HooksThatDoNothingChangeNothing) {
  const FabricSpec spec = draw(kTree);
  PacketRig plain(spec, options()), hooked(spec, options());
  Script a(flood(plain, 50, 3)), b(flood(hooked, 50, 3));
  IbMarking marking(spec.nodes.size());
  const auto echo = notify();
  IbReaction reaction(hooked.net->host_count());
  hooked.net->set_congestion_control(
      {.marking = &marking, .echo = echo.get(), .reaction = &reaction});
  plain.run(a);
  hooked.run(b);
  EXPECT_EQ(plain.net->stats().delivered, 150u);
  EXPECT_EQ(plain.net->stats().digest, hooked.net->stats().digest);
  EXPECT_EQ(plain.net->stats().events, hooked.net->stats().events);
}

TEST(IbRun, SourcesOfCongestionAreSlowedDown) {
  PacketRig rig(draw(kTree), options());
  Script script(flood(rig, 200, 3));
  Standard standard(rig, notify());
  rig.run(script);
  const NetStats& stats = rig.net->stats();
  EXPECT_EQ(stats.delivered, 600u);
  std::uint64_t marked = 0;
  for (const Delivery& arrival : script.arrivals) marked += arrival.marks != 0;
  EXPECT_GT(marked, 0u);
  EXPECT_LT(marked, 600u);
  EXPECT_EQ(stats.feedback.made, marked);
  EXPECT_EQ(stats.feedback.delivered, marked);
  EXPECT_EQ(stats.feedback.bytes, marked * (16 + 26));
  std::uint64_t becns = 0;
  for (const HostNum host : {0u, 1u, 2u}) becns += standard.reaction.becns(host);
  EXPECT_EQ(becns, marked);
}

TEST(IbRun, WhatAnAgentHoldsIsWhatThePacketsFeel) {
  CongestionState state;
  state.switch_setting = {.threshold = 12, .marking_rate = 1};
  state.port_settings.resize(3);
  state.port_settings[2] = {.valid = true, .threshold = 3};
  state.table = {cc::encode_delay(0), cc::encode_delay(7)};
  state.ccti_limit = 1;
  state.ca_setting.entries[0] = {.timer = 9, .increase = 1};
  const IbSwitchRegisters at_switch = read_switch(state);
  EXPECT_EQ(at_switch.setting, state.switch_setting);
  EXPECT_EQ(at_switch.ports, state.port_settings);
  IbReaction rule(2);
  rule.set(0, read_ca(state));
  rule.on_feedback({0, 1, 0}, {.marks = kFirstMark}, 0);
  rule.on_injected({0, 1, 0}, 0, 100);
  EXPECT_EQ(rule.allowed_at({0, 1, 0}, 100), 800);
  EXPECT_EQ(rule.index({0, 1, 0}, 9 * Picos{1'024'000}), 0u);
}

// One flow alone makes no congestion: no mark, and the time of an open loop.
TEST(IbRun, AFlowByItselfIsNotMarked) {
  const FabricSpec spec = draw(kTree);
  PacketRig plain(spec, options()), rig(spec, options());
  std::vector<Script::Line> lines;
  for (int i = 0; i < 100; ++i) lines.push_back({0, 0, rig.to(3, 1000)});
  Script a(lines), b(lines);
  Standard standard(rig, notify());
  plain.run(a);
  rig.run(b);
  EXPECT_EQ(rig.net->stats().feedback.made, 0u);
  EXPECT_EQ(plain.net->stats().digest, rig.net->stats().digest);
}

// H4 gets as much from H3 as from beyond S1: the port before H4 is the root, the one between the
// switches its victim.
TEST(IbRun, TheVictimDoesNotMark) {
  PacketRig rig(draw("S1-S2 H1-S1 H2-S1 H3-S2 H4-S2"), options());
  std::vector<Script::Line> lines;
  for (const HostNum source : {0u, 1u, 2u, 2u}) {
    for (int i = 0; i < 100; ++i) lines.push_back({0, source, rig.to(3, 1000)});
  }
  Script script(lines);
  IbMarking marking(rig.spec.nodes.size());
  for (std::uint32_t node = 0; node < rig.spec.nodes.size(); ++node) {
    marking.set(node, {.setting = {.threshold = 12}, .ports = {}});
  }
  rig.net->set_congestion_control({.marking = &marking});
  rig.run(script);
  const std::uint64_t root = marking.marked(rig.node("S2")), far = marking.marked(rig.node("S1"));
  EXPECT_GT(root, 100u);
  EXPECT_LT(far * 10, root);

  PacketRig with(draw("S1-S2 H1-S1 H2-S1 H3-S2 H4-S2"), options());
  Script again(lines);
  cc::SwitchSetting victims{.threshold = 12};
  for (std::uint8_t port = 1; port < 9; ++port) victims.victim_mask.set(PortNum{port});
  IbMarking both(with.spec.nodes.size());
  for (std::uint32_t node = 0; node < with.spec.nodes.size(); ++node) {
    both.set(node, {.setting = victims, .ports = {}});
  }
  with.net->set_congestion_control({.marking = &both});
  with.run(again);
  EXPECT_GT(both.marked(with.node("S1")), 10 * std::max<std::uint64_t>(far, 1));
}

TEST(IbRun, AcknowledgementsTakeBandwidthOnTheWayBack) {
  PacketRig rig(draw(kTree), options());
  Script script({{0, 0, rig.to(3, 1000)}, {0, 0, rig.to(3, 1000)}, {0, 0, rig.to(3, 1000)}});
  const auto echo = acknowledge();
  rig.net->set_congestion_control({.echo = echo.get()});
  rig.run(script);
  EXPECT_EQ(rig.net->stats().feedback.delivered, 3u);
  EXPECT_EQ(rig.net->stats().generated, 3u) << "they are no data";
  EXPECT_EQ(rig.net->stats().injected, 3u);
  EXPECT_EQ(rig.net->sent_bytes(rig.node("H4"), PortNum{1}), 3u * 26u);
  EXPECT_EQ(rig.net->sent_bytes(rig.node("H1"), PortNum{1}), 3u * 1026u);
}

// S2 dies with data, acknowledgements and waiting packets in it: all are accounted for.
TEST(IbRun, WhatIsLostIsCounted) {
  PacketRig rig(draw(kTree), options());
  Script script(flood(rig, 50, 3));
  Standard standard(rig, acknowledge());
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  for (Picos at = kMicro; at <= 60 * kMicro; at += kMicro) {
    rig.net->run_until(at);
    ASSERT_EQ(rig.net->audit(), "") << at;
  }
  while (rig.net->stats().feedback.in_flight == 0) ASSERT_TRUE(rig.net->run_one());
  rig.net->switch_off(rig.node("S2"));
  ASSERT_EQ(rig.net->audit(), "");
  rig.net->run_until(kSecond);
  EXPECT_EQ(rig.net->audit(), "");
  const NetStats& stats = rig.net->stats();
  EXPECT_GT(stats.feedback.lost, 0u);
  EXPECT_EQ(stats.feedback.made,
            stats.feedback.delivered + stats.feedback.lost + stats.feedback.in_flight);
}

// The first packet is too long for the last link. Its loss opens the window again, after the
// longest cable's 50 ns, where the source is in another partition too.
TEST(IbRun, ALossLetsTheNextPacketGo) {
  for (const unsigned partitions : {1u, 2u}) {
    PacketOptions with = options();
    with.partitions = partitions;
    PacketRig rig(draw(kTree, LinkWidth::X4, LinkSpeed::Ndr), with);
    for (PortRegs& port : rig.fabric.nodes[rig.node("S2")].ports) {
      port.info.neighbor_mtu = static_cast<std::uint8_t>(Mtu::B256);
    }
    rig.reload();
    const auto echo = acknowledge();
    std::vector<std::unique_ptr<WindowReaction>> windows;
    std::vector<CongestionHooks> hooks;
    for (unsigned i = 0; i < partitions; ++i) {
      windows.push_back(std::make_unique<WindowReaction>(
          rig.net->host_count(), WindowOptions{.window = {.kind = WindowKind::Static, .most = 1}}));
      hooks.push_back({.echo = echo.get(), .reaction = windows.back().get()});
    }
    rig.net->set_congestion_control(hooks);
    Script script({{0, 0, rig.to(3, 1000)}, {0, 0, rig.to(3, 100)}});
    rig.run(script);
    ASSERT_EQ(script.losses.size(), 1u);
    ASSERT_EQ(script.arrivals.size(), 1u);
    EXPECT_EQ(script.arrivals[0].injected, script.losses[0].at + 50 * kNano);
    EXPECT_EQ(rig.net->stats().feedback.delivered, 1u);
  }
}

}  // namespace ib_run_test
}  // namespace smd::sim::test
