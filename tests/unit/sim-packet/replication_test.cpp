// Multicast packets of the packet engine: who gets them, what each copy holds, and when it is in,
// by hand.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "sim-backend/kernel/process_team.h"
#include "smd/base/rng.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

constexpr Lid kGroup{0xC001};

PacketOptions copying(PacketOptions options, CopyOrder order) {
  options.switches.copies = order;
  return options;
}

/// The switch copies the group to these ports.
void set_row(PacketRig& rig, const char* node, const std::vector<unsigned>& ports) {
  NodeState& sw = rig.fabric.nodes[rig.node(node)];
  sw.mft[0].assign(2, 0);
  for (const unsigned port : ports) {
    sw.mft[0][1] = static_cast<std::uint16_t>(sw.mft[0][1] | 1u << port);
  }
}

std::map<HostNum, Picos> tails(const Script& script) {
  std::map<HostNum, Picos> out;
  for (const Delivery& each : script.arrivals) {
    EXPECT_TRUE(out.emplace(each.destination, each.tail).second) << each.destination << " twice";
  }
  return out;
}

constexpr Script::Line packet_of(Picos at, HostNum source, std::uint16_t payload) {
  return {.at = at, .source = source, .what = {.dlid = kGroup, .payload = payload}};
}

TEST(MulticastTop, EntriesAboveItCopyNothing) {
  const FabricSpec spec = draw("H1-S1 H2-S1");
  for (const bool has_top : {false, true}) {
    NodeState node = power_on(*std::ranges::find(spec.nodes, NodeType::Switch, &NodeSpec::type),
                              {.multicast_fdb_top = has_top},
                              0);
    node.mft[0] = {0b010, 0b100};
    const auto copies = [&](std::uint16_t mlid) { return NodeTables(node).find_group(mlid)[0]; };
    EXPECT_EQ(copies(0xC000), has_top ? 0u : 0b010u) << "at power-on no entry counts";
    node.switch_info.multicast_fdb_top = 0xC000;
    EXPECT_EQ(copies(0xC000), 0b010u);
    EXPECT_EQ(copies(0xC001), has_top ? 0u : 0b100u);
    node.switch_info.multicast_fdb_top = 0xC001;
    EXPECT_EQ(copies(0xC001), 0b100u);
  }
}

// Preset thesis, 1x SDR, 282 bytes on the wire: 1,128 ns on a link and through a crossbar as fast.
// The head of a copy is at the output 146 ns after it is in (timing_test.cpp).
//
// The first head is in at 160, and asks for the crossbar at 260. The first copy crosses from there
// to 260 + 2 + 1,128 = 1,390; each other 2 + 1,128 = 1,130 later. A copy's first byte is at its
// link 2 + 4 + 40 = 46 after it began to cross, and in at the host 100 + 1,128 later.
TEST(Replication, InTurnOneCopyWaitsForTheOther) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"), PacketOptions::thesis());
  set_row(rig, "S1", {1, 2, 3, 4});
  rig.reload();
  Script script({packet_of(0, 0, 256)});
  rig.run(script);
  const Picos first = 60 + 100 + 100 + 46 + 100 + 1128;
  EXPECT_THAT(tails(script),
              testing::ElementsAre(testing::Pair(1, first * kNano),
                                   testing::Pair(2, (first + 1130) * kNano),
                                   testing::Pair(3, (first + 2 * 1130) * kNano)));
}

TEST(Replication, TogetherAllCopiesAreInWhenOneWouldBe) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"),
                copying(PacketOptions::thesis(), CopyOrder::Together));
  set_row(rig, "S1", {1, 2, 3, 4});
  rig.reload();
  Script script({packet_of(0, 0, 256)});
  rig.run(script);
  const Picos each = (60 + 100 + 146 + 100 + 1128) * kNano;
  EXPECT_THAT(
      tails(script),
      testing::ElementsAre(testing::Pair(1, each), testing::Pair(2, each), testing::Pair(3, each)));
}

// A tree of three switches: S1 copies to S2, S3 and H2, S2 to H3 and H4, S3 to H5. Over n switches
// together: 60 + 100 + 246 n + 1,128. In turn a copy is later by 1,130 for each that crosses before
// it in each switch on its way, and cut-through goes on: what comes by a cable at full rate crosses
// as it comes.
TEST(Replication, LatencyOfATreeIsTheClosedForm) {
  for (const CopyOrder order : {CopyOrder::InTurn, CopyOrder::Together}) {
    PacketRig rig(draw("H1-S1 S1-S2 S1-S3 H2-S1 H3-S2 H4-S2 H5-S3"),
                  copying(PacketOptions::thesis(), order));
    set_row(rig, "S1", {1, 2, 3, 4});
    set_row(rig, "S2", {1, 2, 3});
    set_row(rig, "S3", {1, 2});
    rig.reload();
    Script script({packet_of(0, 0, 256)});
    rig.run(script);
    const Picos turn = order == CopyOrder::InTurn ? 1130 : 0;
    const auto after = [&](int switches, int before) {
      return (60 + 100 + 246 * switches + 1128 + turn * before) * kNano;
    };
    EXPECT_THAT(tails(script),
                testing::ElementsAre(testing::Pair(1, after(1, 2)),    // S1's third
                                     testing::Pair(2, after(2, 0)),    // S1's first, S2's first
                                     testing::Pair(3, after(2, 1)),    // S1's first, S2's second
                                     testing::Pair(4, after(2, 1))));  // S1's second
    EXPECT_EQ(rig.net->stats().hops, 6u) << "a channel for each edge, a host's link for each";
  }
}

// Straight onto the links, without a buffer between: the second copy has to wait until the first is
// off the link. In at 160, off from 260 + ... : the link begins when the head is routed.
TEST(Replication, WithoutOutputBuffersALinkAfterTheOther) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1"), PacketOptions::cycles());
  set_row(rig, "S1", {1, 2, 3});
  rig.reload();
  Script script({packet_of(0, 0, 1024)});
  rig.run(script);
  // 4 h + 17 cycles over h switches; the link takes 16 cycles.
  EXPECT_THAT(tails(script),
              testing::ElementsAre(testing::Pair(1, 21 * 1024), testing::Pair(2, 37 * 1024)));
}

// An input buffer of one packet: the second may leave its host when the first one's place is free,
// and a flow control packet of 24 ns has said so over 100 ns of cable. In turn the last of three
// copies has crossed at 260 + 3 * 1,130, together all at 260 + 1,130.
TEST(Replication, ThePlaceInTheBufferIsFreeWhenTheLastCopyHasLeft) {
  for (const CopyOrder order : {CopyOrder::InTurn, CopyOrder::Together}) {
    PacketOptions options = copying(PacketOptions::thesis(), order);
    options.switches.input_buffer_bytes = 256;
    PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"), options);
    set_row(rig, "S1", {1, 2, 3, 4});
    rig.reload();
    Script script({packet_of(0, 0, 256), packet_of(1, 0, 256)});
    rig.run(script);
    std::set<Picos> injected;
    for (const Delivery& each : script.arrivals) injected.insert(each.injected);
    const Picos crossed = 260 + (order == CopyOrder::InTurn ? 3 : 1) * 1130;
    EXPECT_THAT(injected, testing::ElementsAre(60 * kNano, (crossed + 124) * kNano));
  }
}

// H2's link is slow, and full of another host's packets. In turn H3 waits for H2's copy; together
// as well; but who wants H3 alone goes by.
TEST(Replication, OthersPassWhoWaitsForSeveralPorts) {
  for (const CopyOrder order : {CopyOrder::InTurn, CopyOrder::Together}) {
    PacketOptions options = copying(PacketOptions::thesis(), order);
    options.switches.output_buffer_bytes = 256;  // one packet
    PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"), options);
    set_row(rig, "S1", {1, 2, 3});
    rig.reload();
    std::vector<Script::Line> lines;
    for (int i = 0; i < 20; ++i) lines.push_back({.at = i, .source = 3, .what = rig.to(1, 256)});
    lines.push_back(packet_of(1000 * kNano, 0, 256));
    lines.push_back({.at = 2000 * kNano, .source = 3, .what = rig.to(2, 64)});
    Script script(lines);
    rig.run(script);
    std::vector<HostNum> sources;  // at H3
    for (const Delivery& each : script.arrivals) {
      if (each.destination == 2) sources.push_back(each.source);
    }
    EXPECT_THAT(sources, testing::UnorderedElementsAre(0, 3));
    EXPECT_EQ(script.arrivals.size(), 23u);
  }
}

/// What switches hold of buffers, and the copies that wait there, at every event.
TEST(Replication, BuffersAndCreditsAddUpAtEveryEvent) {
  for (const bool buffers : {true, false}) {
    for (const CopyOrder order : {CopyOrder::InTurn, CopyOrder::Together}) {
      if (order == CopyOrder::Together && !buffers) continue;
      PacketOptions options = copying(PacketOptions::modern(), order);
      options.switches.output_buffers = buffers;
      options.switches.input_buffer_bytes = 1024;
      options.switches.output_buffer_bytes = 1024;
      options.vls = 2;
      // Links of two speeds: what leaves by a fast one may not begin before a slow one has brought
      // it.
      FabricSpec spec = draw("H1-S1 S1-S2 H2-S1 H3-S2 H4-S2");
      const std::uint32_t fast = add_node(spec, NodeType::Ca, "H5", Guid{0x20500}, 1);
      connect(spec, 2, PortNum{8}, fast, PortNum{1}, LinkWidth::X4, LinkSpeed::Sdr);
      PacketRig rig(spec, options);
      set_row(rig, "S1", {1, 2, 3});
      set_row(rig, "S2", {1, 2, 3, 8});
      rig.reload();
      Rng rng(5);
      std::vector<Script::Line> lines;
      std::map<HostNum, std::uint64_t> sent;
      for (int i = 0; i < 300; ++i) {
        const auto from = static_cast<HostNum>(rng.below(5));
        const auto payload = static_cast<std::uint16_t>(1 + rng.below(1024));
        const auto at = static_cast<Picos>(rng.below(kMilli));
        const auto sl = static_cast<std::uint8_t>(rng.below(2));
        lines.push_back(packet_of(at, from, payload));
        lines.back().what.sl = sl;
        if (rng.chance(0.5)) lines.back().what.dlid = rig.fabric.host_lids[(from + 1) % 5];
      }
      Script script(lines);
      rig.net->set_workload(&script);
      rig.net->set_observer(&script);
      rig.net->start();
      while (rig.net->run_one()) ASSERT_EQ(rig.net->audit(), "");
      const NetStats& stats = rig.net->stats();
      EXPECT_EQ(stats.in_flight, 0u);
      EXPECT_EQ(stats.discards(), 0u);
      std::uint64_t wanted = 0;
      for (const Script::Line& line : lines) wanted += line.what.dlid == kGroup ? 4 : 1;
      EXPECT_EQ(stats.delivered, wanted);
    }
  }
}

// A packet to a port that cannot have it is lost there, and nowhere else; the place in the buffer
// is kept until the others have left.
TEST(Replication, OnePortThatCannotHaveItCostsOneCopy) {
  for (const CopyOrder order : {CopyOrder::InTurn, CopyOrder::Together}) {
    for (const unsigned bad : {2u, 3u, 4u}) {
      PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"), copying(PacketOptions::thesis(), order));
      set_row(rig, "S1", {1, 2, 3, 4});
      rig.fabric.nodes[rig.node("S1")].ports[bad].info.neighbor_mtu =
          static_cast<std::uint8_t>(Mtu::B256);
      rig.reload();
      Script script({packet_of(0, 0, 512)});
      rig.net->set_workload(&script);
      rig.net->set_observer(&script);
      rig.net->start();
      while (rig.net->run_one()) ASSERT_EQ(rig.net->audit(), "") << bad;
      EXPECT_EQ(script.arrivals.size(), 2u);
      EXPECT_EQ(rig.discarded(Discard::TooLong), 1u);
    }
  }
}

TEST(Replication, ASwitchThatDiesLosesTheCopiesThatItHolds) {
  for (const CopyOrder order : {CopyOrder::InTurn, CopyOrder::Together}) {
    PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"), copying(PacketOptions::thesis(), order));
    set_row(rig, "S1", {1, 2, 3, 4});
    rig.reload();
    std::vector<Script::Line> lines;
    for (int i = 0; i < 10; ++i) lines.push_back(packet_of(i, 0, 256));
    Script script(lines);
    rig.net->set_workload(&script);
    rig.net->set_observer(&script);
    rig.net->start();
    rig.net->run_until(3 * kMicro);
    rig.net->switch_off(rig.node("S1"));
    EXPECT_EQ(rig.net->audit(), "");
    rig.net->run_until(kMilli);
    EXPECT_EQ(rig.net->audit(), "");
    rig.net->load(rig.node("S1"), rig.fabric.nodes[rig.node("S1")]);
    const std::uint64_t before = rig.net->stats().delivered;
    rig.net->send(0, {.dlid = kGroup, .payload = 256});
    rig.net->run_until(2 * kMilli);
    EXPECT_EQ(rig.net->audit(), "");
    EXPECT_EQ(rig.net->stats().delivered, before + 3) << "as new after it came back";
  }
}

// Rows that no manager would write: every switch of a ring copies on to the next and to its hosts.
// What locks is found, whichever way is full.
TEST(Replication, ACircleOfCopiesIsFound) {
  for (const CopyOrder order : {CopyOrder::InTurn, CopyOrder::Together}) {
    PacketOptions options = copying(PacketOptions::thesis(), order);
    options.vls = 1;
    options.switches.input_buffer_bytes = 512;
    options.switches.output_buffer_bytes = 512;
    PacketRig rig(draw("H1-S1 H2-S2 H3-S3 H4-S4 S1-S2 S2-S3 S3-S4 S4-S1 H5-S1 H6-S2 H7-S3 H8-S4"),
                  options);
    // S1: 1 and 4 hosts, 2 to S2, 3 to S4; others: 1 and 4 hosts, 2 back, 3 on.
    set_row(rig, "S1", {1, 2, 4});
    for (const char* node : {"S2", "S3", "S4"}) set_row(rig, node, {1, 3, 4});
    rig.reload();
    std::vector<Script::Line> lines;
    for (HostNum host = 0; host < 8; ++host) {
      for (int i = 0; i < 20; ++i) lines.push_back(packet_of(i, host, 256));
    }
    Script script(lines);
    rig.net->set_workload(&script);
    rig.net->start();
    rig.net->run_until(kMilli);
    EXPECT_EQ(rig.net->audit(), "");
    EXPECT_EQ(rig.net->next_event(), kNever) << "nothing moves any more";
    EXPECT_THAT(print_deadlock(rig.spec, rig.net->find_deadlock(kNever)),
                testing::AllOf(testing::HasSubstr("S1:2(VL0)"), testing::HasSubstr("S3:3(VL0)")));
  }
}

TEST(Replication, TogetherNeedsOutputBuffers) {
  PacketOptions options = copying(PacketOptions::cycles(), CopyOrder::Together);
  EXPECT_THAT(check_options(options), testing::HasSubstr("switch.output_buffers = true"));
  options.switches.output_buffers = true;
  EXPECT_EQ(check_options(options), "");
}

/// Notes what port 0 takes in, and answers each packet to a port, or to a group.
struct Answering final : SwitchPortHandler {
  void on_taken_in(PacketNet& net, std::uint32_t node, const Delivery& arrival) override {
    taken.push_back(arrival);
    if (silent) return;
    net.send_from_switch({.node = node,
                          .out = out,
                          .source = arrival.source,
                          .ready = arrival.tail + 500 * kNano,
                          .packet = {.dlid = to, .payload = arrival.payload}});
  }

  bool silent = false;
  PortNum out;
  Lid to;
  std::vector<Delivery> taken;
};

Lid lid_of(const PacketRig& rig, const char* node) {
  return rig.fabric.nodes[rig.node(node)].ports[0].info.lid;
}

// Over one switch the packet's last byte is in at 60 + 1,128 + 100; a switch that sends is at the
// link 146 ns after the packet is ready, as if its head had come in then.
TEST(SwitchPort, TakesInAndSends) {
  PacketRig rig(draw("H1-S1 S1-S2 H2-S2 H3-S2"), PacketOptions::thesis());
  Answering handler;
  handler.to = rig.fabric.host_lids[1];
  rig.net->set_switch_port_handler(&handler);
  Script script({{.at = 0, .source = 0, .what = {.dlid = lid_of(rig, "S1"), .payload = 256}}});
  rig.run(script);
  ASSERT_EQ(handler.taken.size(), 1u);
  EXPECT_EQ(handler.taken[0].tail, (60 + 100 + 1128) * kNano);
  EXPECT_EQ(handler.taken[0].source, 0u);
  ASSERT_EQ(script.arrivals.size(), 1u);
  EXPECT_EQ(script.arrivals[0].destination, 1u);
  EXPECT_EQ(script.arrivals[0].tail, (1288 + 500 + 2 * 246 + 1128) * kNano);
  EXPECT_EQ(rig.net->stats().taken_in, 1u);
  EXPECT_EQ(rig.net->stats().in_flight, 0u);
}

TEST(SwitchPort, SendsByAPortOrToAGroup) {
  PacketRig rig(draw("H1-S1 S1-S2 H2-S2 H3-S2"), PacketOptions::thesis());
  set_row(rig, "S1", {1, 2});
  set_row(rig, "S2", {1, 2, 3});
  rig.reload();
  Answering handler;
  handler.to = kGroup;
  rig.net->set_switch_port_handler(&handler);
  Script script({{.at = 0, .source = 2, .what = {.dlid = lid_of(rig, "S1"), .payload = 256}}});
  rig.run(script);
  EXPECT_EQ(tails(script).size(), 3u) << "S1 and S2 copy to all hosts, the one that sent as well";

  handler.out = PortNum{2};
  handler.to = rig.fabric.host_lids[2];
  handler.taken.clear();
  script.arrivals.clear();
  rig.net->send(0, {.dlid = lid_of(rig, "S1"), .payload = 64});
  rig.net->run_until(2 * kSecond);
  ASSERT_EQ(script.arrivals.size(), 1u);
  EXPECT_EQ(script.arrivals[0].destination, 2u);
}

/// One of one: what several processes may do is the same.
struct LoneProcess final : Processes {
  [[nodiscard]] unsigned number() const override { return 0; }

  [[nodiscard]] unsigned count() const override { return 1; }

  void agree(std::span<std::int64_t>) override {}

  void exchange(std::span<std::int64_t>, std::span<const Bytes>, std::span<Bytes>) override {}

  void share(std::span<std::byte>, unsigned) override {}

  [[noreturn]] void fail(const std::string&) override { std::abort(); }
};

TEST(SwitchPort, OfSeveralProcessesSendsWhileItRuns) {
  LoneProcess process;
  ProcessTeam team(process, 1);
  PacketRig rig(draw("H1-S1 S1-S2 H2-S2 H3-S2"), PacketOptions::thesis());
  rig.net = std::make_unique<PacketNet>(rig.spec, PacketOptions::thesis(), &team);
  rig.reload();
  Answering handler;
  handler.to = rig.fabric.host_lids[1];
  rig.net->set_switch_port_handler(&handler);
  Script script({{.at = 0, .source = 0, .what = {.dlid = lid_of(rig, "S1"), .payload = 256}}});
  rig.run(script);
  EXPECT_EQ(script.arrivals.size(), 1u);
  const SwitchSending later{.node = rig.node("S1"), .ready = kSecond, .packet = rig.to(1, 256)};
  EXPECT_DEATH(rig.net->send_from_switch(later), "sends while its partition runs");
  EXPECT_DEATH(rig.reload(), "before several processes start");
  EXPECT_DEATH(rig.net->switch_off(rig.node("S1")), "before several processes start");
  rig.net = std::make_unique<PacketNet>(rig.spec, PacketOptions::thesis(), &team);
  rig.reload();
  EXPECT_DEATH(rig.reload(), "load a node once");
}

TEST(SwitchPort, WithoutAHandlerItIsNoEndOfAWay) {
  PacketRig rig(draw("H1-S1 H2-S1"), PacketOptions::thesis());
  Script script({{.at = 0, .source = 0, .what = {.dlid = lid_of(rig, "S1"), .payload = 256}}});
  rig.run(script);
  EXPECT_EQ(rig.discarded(Discard::WrongNode), 1u);
}

TEST(SwitchPort, WhatStandsThereDiesWithTheSwitch) {
  PacketRig rig(draw("H1-S1 H2-S1"), PacketOptions::thesis());
  Answering handler;
  handler.to = rig.fabric.host_lids[1];
  rig.net->set_switch_port_handler(&handler);
  Script script({{.at = 0, .source = 0, .what = {.dlid = lid_of(rig, "S1"), .payload = 256}},
                 {.at = 2, .source = 0, .what = {.dlid = lid_of(rig, "S1"), .payload = 256}}});
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  // The first is in and answered, the answer not yet on its way; the second has its head in.
  rig.net->run_until(1500 * kNano);
  EXPECT_EQ(handler.taken.size(), 1u);
  rig.net->switch_off(rig.node("S1"));
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->run_until(kMilli);
  EXPECT_EQ(rig.net->audit(), "");
  EXPECT_EQ(rig.net->stats().in_flight, 0u);
  EXPECT_EQ(script.arrivals.size(), 0u);
}

}  // namespace
}  // namespace smd::sim::test
