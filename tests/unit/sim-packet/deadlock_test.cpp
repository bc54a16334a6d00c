// Circles of full buffers: they happen where routes allow them, they are found, and their hops are
// the ones that wait.
#include <gmock/gmock.h>

#include <array>

#include "smd/base/rng.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace deadlock_test {

//   H1-S1-S2-H2
//      |  |        Every host floods the one before it: three switches on, where all go one way.
//   H4-S4-S3-H3
constexpr const char* kRing = "H1-S1 H2-S2 H3-S3 H4-S4 S1-S2 S2-S3 S3-S4 S4-S1";

PacketOptions tight(bool output_buffers) {
  PacketOptions options = PacketOptions::thesis();
  options.vls = 1;
  options.switches.output_buffers = output_buffers;
  options.switches.input_buffer_bytes = 512;
  options.switches.output_buffer_bytes = 512;
  return options;
}

/// Everything goes round one way.
void turn_one_way(PacketRig& rig) {
  for (const unsigned s : {1u, 2u, 3u, 4u}) {
    NodeState& sw = rig.fabric.nodes[rig.node("S" + std::to_string(s))];
    const PortNum on{static_cast<std::uint8_t>(s == 1 ? 2 : 3)};
    for (HostNum host = 0; host < 4; ++host) {
      if (host + 1 != s) sw.lft[rig.fabric.host_lids[host].value()] = on;
    }
  }
  rig.reload();
}

std::vector<Script::Line> backwards(const PacketRig& rig) {
  std::vector<Script::Line> lines;
  for (HostNum host = 0; host < 4; ++host) {
    for (int i = 0; i < 100; ++i) {
      lines.push_back({.at = i, .source = host, .what = rig.to((host + 3) % 4, 256)});
    }
  }
  return lines;
}

class Deadlock : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutOutputBuffers, Deadlock, testing::Bool());

TEST_P(Deadlock, ARingOfOneWayLocksUp) {
  PacketRig rig(draw(kRing), tight(GetParam()));
  turn_one_way(rig);
  EXPECT_TRUE(rig.net->find_deadlock(kNever).empty()) << "nothing has moved yet";
  Script script(backwards(rig));
  rig.run(script, kSecond);
  EXPECT_GT(rig.net->stats().in_flight, 100u);
  EXPECT_EQ(rig.net->next_event(), kNever) << "nothing will ever move";
  const std::vector<WaitingHop> circle = rig.net->find_deadlock(kNever);
  EXPECT_EQ(circle.size(), 4u);
  // It may be told from any of its hops on.
  EXPECT_THAT(print_deadlock(rig.spec, circle) + " -> ",
              testing::AnyOf("S1:2(VL0) -> S2:3(VL0) -> S3:3(VL0) -> S4:3(VL0) -> ",
                             "S2:3(VL0) -> S3:3(VL0) -> S4:3(VL0) -> S1:2(VL0) -> ",
                             "S3:3(VL0) -> S4:3(VL0) -> S1:2(VL0) -> S2:3(VL0) -> ",
                             "S4:3(VL0) -> S1:2(VL0) -> S2:3(VL0) -> S3:3(VL0) -> "));
}

TEST_P(Deadlock, DirectedRoutesDoNot) {
  PacketRig rig(draw(kRing), tight(GetParam()));
  Script script(backwards(rig));
  rig.run(script, kSecond);
  EXPECT_EQ(script.arrivals.size(), 400u);
  EXPECT_TRUE(rig.net->find_deadlock(kNever).empty());
}

TEST_P(Deadlock, ItIsNotOneWhileSomethingMoves) {
  // Seen at every moment of a run that ends well: no false alarm.
  PacketRig rig(draw(kRing), tight(GetParam()));
  Script script(backwards(rig));
  rig.net->set_workload(&script);
  rig.net->start();
  while (rig.net->run_one()) {
    if (rig.net->stats().events % 16 == 0) {
      ASSERT_TRUE(rig.net->find_deadlock(kNever).empty());
      ASSERT_EQ(rig.net->audit(), "");
    }
  }
  EXPECT_EQ(rig.net->stats().delivered, 400u);
}

// What a host names its queues by are no packets: AddressSanitizer would say so.
TEST_P(Deadlock, QueuesOfAHostAreNoneOfItsBuffers) {
  PacketOptions options = tight(GetParam());
  options.adapters.waiting = SourceQueues::PerDestination;
  PacketRig rig(draw("H1-S1 S1-S2 H2-S2 H3-S2 H4-S2 H5-S2 H6-S2 H7-S2 H8-S2"), options);
  std::vector<Script::Line> lines;
  for (HostNum to = 1; to < 8; ++to) {
    lines.push_back({.at = Picos{to} * 10 * kMicro, .source = 0, .what = rig.to(to, 256)});
  }
  Script script(lines);
  rig.net->set_workload(&script);
  rig.net->start();
  do {
    ASSERT_TRUE(rig.net->find_deadlock(kNever).empty());
  } while (rig.net->run_one());
  EXPECT_EQ(rig.net->stats().delivered, 7u);
}

/// Registers of all nodes; 3 is 32.8 us, 20 for ever.
void set_lives(PacketRig& rig, std::uint8_t head_of_queue, std::uint8_t in_switch) {
  for (NodeState& node : rig.fabric.nodes) {
    node.switch_info.life_time_value = in_switch;
    for (PortRegs& port : node.ports) port.info.hoq_life = head_of_queue;
  }
}

// A circle that waits for packets to grow old ended runs as a deadlock.
TEST_P(Deadlock, AgeOpensTheCircle) {
  for (const Discard cause : {Discard::HeadOfQueueLife, Discard::SwitchLife}) {
    const bool by_head = cause == Discard::HeadOfQueueLife;
    PacketOptions options = tight(GetParam());
    options.lifetimes = true;
    PacketRig rig(draw(kRing), options);
    set_lives(rig, by_head ? 3 : 20, by_head ? 20 : 3);
    turn_one_way(rig);
    Script script(backwards(rig));
    rig.run(script, 0);
    for (Picos at = 0; at < kMilli; at += kMicro) {
      rig.net->run_until(at);
      ASSERT_TRUE(rig.net->find_deadlock(kSecond).empty()) << at / kMicro << " us";
    }
    rig.net->run_until(kSecond);
    EXPECT_EQ(rig.net->audit(), "");
    const NetStats& stats = rig.net->stats();
    EXPECT_EQ(stats.in_flight, 0u);
    EXPECT_GT(rig.discarded(cause), 0u);
    EXPECT_GT(stats.delivered, 0u);
    EXPECT_EQ(stats.delivered + stats.discards(), 400u);
  }
}

// A run that ended before any packet was old was not called one.
TEST_P(Deadlock, AgeBeyondTheEndOfTheRunOpensNothing) {
  for (const bool by_head : {true, false}) {
    PacketOptions options = tight(GetParam());
    options.lifetimes = true;
    PacketRig rig(draw(kRing), options);
    set_lives(rig, by_head ? 3 : 20, by_head ? 20 : 3);
    turn_one_way(rig);
    Script script(backwards(rig));
    rig.run(script, 30 * kMicro);
    EXPECT_EQ(rig.net->stats().discards(), 0u);
    EXPECT_EQ(rig.net->find_deadlock(30 * kMicro).size(), 4u);
    EXPECT_EQ(rig.net->find_deadlock(32'768 * kNano).size(), 4u);
    EXPECT_TRUE(rig.net->find_deadlock(50 * kMicro).empty());
    EXPECT_TRUE(rig.net->find_deadlock(kNever).empty()) << "it goes on for ever";
  }
}

TEST_P(Deadlock, LivesWithoutEndOpenNothing) {
  PacketOptions options = tight(GetParam());
  options.lifetimes = true;
  PacketRig rig(draw(kRing), options);
  set_lives(rig, 20, 20);
  turn_one_way(rig);
  Script script(backwards(rig));
  rig.run(script);
  EXPECT_EQ(rig.net->find_deadlock(kNever).size(), 4u);
}

/// Of several sizes: a small packet may find room, and yet stand behind a large one that does not.
class MixedSizes : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static PacketOptions options() {
    PacketOptions out = tight(GetParam() == "output buffers");
    if (GetParam() != "shared ways") return out;
    out.vls = 2;
    out.switches.multiplexed = true;
    return out;
  }

  /// To any other host, or to the one before, `packets` from each host.
  static std::vector<Script::Line> draw_packets(
      const PacketRig& rig, Rng& rng, int packets, std::uint64_t gap, bool far, unsigned sls) {
    constexpr std::array<std::uint16_t, 4> kSizes{64, 64, 192, 256};
    const auto hosts = static_cast<HostNum>(rig.fabric.host_lids.size());
    std::vector<Script::Line> out;
    for (HostNum host = 0; host < hosts; ++host) {
      Picos at = 0;
      for (int i = 0; i < packets; ++i) {
        const auto on = static_cast<HostNum>(far ? hosts - 1 : 1 + rng.below(hosts - 1));
        at += static_cast<Picos>(1 + rng.below(gap));
        out.push_back({.at = at,
                       .source = host,
                       .what = rig.to((host + on) % hosts,
                                      kSizes[rng.below(kSizes.size())],
                                      static_cast<std::uint8_t>(rng.below(sls)))});
      }
    }
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Switches,
                         MixedSizes,
                         testing::Values("output buffers", "no output buffers", "shared ways"));

TEST_P(MixedSizes, WhatStandsStillForEverIsFoundAndNothingElse) {
  unsigned locked = 0, ended_well = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    PacketRig rig(draw(kRing), options());
    turn_one_way(rig);
    // From a flood to loads that a ring bears for a while, or always.
    const std::uint64_t gap = static_cast<std::uint64_t>(kMicro) << seed % 5;
    Script script(draw_packets(rig, rng, 60, gap, seed % 2 == 0, options().vls));
    rig.net->set_workload(&script);
    rig.net->start();
    bool found = false;
    while (rig.net->run_one()) {
      if (rig.net->stats().events % 16 == 0) {
        const bool now = !rig.net->find_deadlock(kNever).empty();
        ASSERT_TRUE(now || !found) << "seed " << seed << ": what was locked has opened";
        found = now;
      }
    }
    const bool stands = rig.net->stats().in_flight > 0;
    locked += stands;
    ended_well += !stands;
    ASSERT_EQ(rig.net->find_deadlock(kNever).empty(), !stands) << "seed " << seed;
    ASSERT_TRUE(stands || !found) << "seed " << seed << ": everything arrived after all";
  }
  EXPECT_GT(locked, 5u);
  EXPECT_GT(ended_well, 5u);
}

TEST_P(MixedSizes, FabricsWithoutCirclesAreNeverCalledLocked) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    Rng rng(seed);
    // Six switches in a tree and three cables more; updn's routes have no circle.
    std::string text;
    for (int s = 1; s <= 6; ++s)
      text += (s > 1 ? " H" : "H") + std::to_string(s) + "-S" + std::to_string(s);
    for (std::uint64_t s = 2; s <= 6; ++s) {
      text += " S" + std::to_string(s) + "-S" + std::to_string(1 + rng.below(s - 1));
    }
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t a = rng.below(6), b = (a + 1 + rng.below(5)) % 6;
      text += " S" + std::to_string(a + 1) + "-S" + std::to_string(b + 1);
    }
    PacketRig rig(draw(text), options());
    Script script(draw_packets(rig, rng, 60, 1, false, options().vls));
    rig.net->set_workload(&script);
    rig.net->start();
    while (rig.net->run_one()) {
      if (rig.net->stats().events % 16 == 0) {
        ASSERT_TRUE(rig.net->find_deadlock(kNever).empty()) << text;
      }
    }
    EXPECT_EQ(rig.net->stats().delivered, 360u) << text;
  }
}

}  // namespace deadlock_test
}  // namespace smd::sim::test
