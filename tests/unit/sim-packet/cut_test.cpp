// Links that drop under a packet whose head has passed them already: it is lost, once, and nothing
// that it held stays held.
#include <gmock/gmock.h>

#include <tuple>

#include "smd/base/rng.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

constexpr std::uint16_t kLong = 4096;  // 16,488 ns on 1x SDR

/// With output buffers or without; partitions.
class Cut : public testing::TestWithParam<std::tuple<bool, unsigned>> {
 protected:
  [[nodiscard]] static PacketOptions options() {
    PacketOptions out = PacketOptions::thesis();
    out.switches.output_buffers = std::get<0>(GetParam());
    out.partitions = std::get<1>(GetParam());
    return out;
  }

  /// A packet of 256 bytes that is made at 0, at the second switch.
  [[nodiscard]] static Picos whole_at() { return (std::get<0>(GetParam()) ? 1534 : 1488) * kNano; }
};

INSTANTIATE_TEST_SUITE_P(BuffersAndPartitions,
                         Cut,
                         testing::Combine(testing::Bool(), testing::Values(1u, 2u)));

void set_cable(PacketRig& rig, const char* a, unsigned port, const char* b, unsigned far, bool up) {
  const auto state = static_cast<std::uint8_t>(up ? PortState::Active : PortState::Down);
  rig.fabric.nodes[rig.node(a)].ports[port].info.port_state = state;
  rig.fabric.nodes[rig.node(b)].ports[far].info.port_state = state;
  rig.net->load(rig.node(a), rig.fabric.nodes[rig.node(a)]);
  rig.net->load(rig.node(b), rig.fabric.nodes[rig.node(b)]);
}

void begin(PacketRig& rig, Script& script, Picos until) {
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  rig.net->run_until(until);
}

/// What was lost is lost; a packet of that size passes again, and its credits are all there.
void expect_works_again(PacketRig& rig, Picos until, HostNum to) {
  const std::uint64_t before = rig.net->stats().delivered;
  for (int i = 0; i < 4; ++i) rig.net->send(0, rig.to(to, kLong));
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->run_until(until);
  EXPECT_EQ(rig.net->stats().delivered - before, 4u);
  EXPECT_EQ(rig.net->stats().in_flight, 0u);
  EXPECT_EQ(rig.net->audit(), "");
}

// The head is in at S2 at 406 ns and on its way to H2 before 1 us; the tail is in at S2 at
// 306 + 16,488 + 100 = 16,894 ns.
TEST_P(Cut, APacketThatIsHalfOver) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, kLong)}});
  begin(rig, script, 5 * kMicro);
  set_cable(rig, "S1", 2, "S2", 1, false);
  EXPECT_EQ(rig.discarded(Discard::OnTheWire), 1u) << "at once";
  EXPECT_EQ(rig.net->stats().in_flight, 0u);
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->run_until(kMilli);
  EXPECT_EQ(rig.net->stats().discards(), 1u);
  EXPECT_TRUE(script.arrivals.empty());
  ASSERT_EQ(script.losses.size(), 1u);
  EXPECT_EQ(script.losses[0].at, 5 * kMicro);
  EXPECT_EQ(script.losses[0].node, rig.node("S2"));
  set_cable(rig, "S1", 2, "S2", 1, true);
  expect_works_again(rig, 2 * kMilli, 1);
}

// The first of its three cables: the packet is on all of them.
TEST_P(Cut, APacketThatIsFarAheadOfTheCable) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, kLong)}});
  begin(rig, script, 5 * kMicro);
  set_cable(rig, "H1", 1, "S1", 1, false);
  EXPECT_EQ(rig.discarded(Discard::OnTheWire), 1u);
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->run_until(kMilli);
  EXPECT_EQ(rig.net->stats().discards(), 1u);
  EXPECT_TRUE(script.arrivals.empty());
  set_cable(rig, "H1", 1, "S1", 1, true);
  expect_works_again(rig, 2 * kMilli, 1);
}

// The tail is in at S2 at 306 + 1,128 + 100 = 1,534 ns, without output buffers 46 ns before: S1's
// link takes no arbitration, and its crossbar no time. Then the packet is S2's, and still crosses
// to its output, or leaves by it.
TEST_P(Cut, AWholePacketIsNot) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)}});
  begin(rig, script, whole_at() + kNano);
  set_cable(rig, "S1", 2, "S2", 1, false);
  rig.net->run_until(kMilli);
  EXPECT_EQ(script.arrivals.size(), 1u);
  EXPECT_EQ(rig.net->stats().discards(), 0u);
}

TEST_P(Cut, ANanosecondBeforeItIsWhole) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)}});
  begin(rig, script, whole_at() - kNano);
  set_cable(rig, "S1", 2, "S2", 1, false);
  rig.net->run_until(kMilli);
  EXPECT_TRUE(script.arrivals.empty());
  EXPECT_EQ(rig.discarded(Discard::OnTheWire), 1u);
}

// H3's packet has the way to H2 until after 16 us; that of H1 waits behind it, and that of H4
// behind both.
TEST_P(Cut, APacketThatWaitsWithItsTailStillToCome) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2 H3-S2 H4-S2"), options());
  Script script({{.at = 0, .source = 2, .what = rig.to(1, kLong)},
                 {.at = kMicro, .source = 0, .what = rig.to(1, kLong)},
                 {.at = 3 * kMicro, .source = 3, .what = rig.to(1, kLong)}});
  begin(rig, script, 8 * kMicro);
  set_cable(rig, "S1", 2, "S2", 1, false);
  EXPECT_EQ(rig.discarded(Discard::OnTheWire), 1u);
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->run_until(kMilli);
  EXPECT_EQ(rig.net->stats().discards(), 1u);
  ASSERT_EQ(script.arrivals.size(), 2u);
  EXPECT_EQ(script.arrivals[1].source, 3u);
  set_cable(rig, "S1", 2, "S2", 1, true);
  expect_works_again(rig, 2 * kMilli, 1);
}

// One packet is whole and waits, the next one of its VL comes in behind it.
TEST_P(Cut, OnlyTheLastOfALine) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2 H3-S2"), options());
  Script script({{.at = 0, .source = 2, .what = rig.to(1, kLong)},
                 {.at = kMicro, .source = 0, .what = rig.to(1, 1024)},
                 {.at = kMicro, .source = 0, .what = rig.to(1, 2048)}});
  begin(rig, script, 8 * kMicro);  // 4.2 us for the first, until 13.5 us for the second
  set_cable(rig, "S1", 2, "S2", 1, false);
  EXPECT_EQ(rig.discarded(Discard::OnTheWire), 1u);
  EXPECT_EQ(rig.net->audit(), "");
  rig.net->run_until(kMilli);
  ASSERT_EQ(script.arrivals.size(), 2u);
  EXPECT_EQ(script.arrivals[1].payload, 1024u);
  EXPECT_EQ(rig.net->stats().discards(), 1u);
}

TEST_P(Cut, AllCopiesOfAPacket) {
  for (const CopyOrder copies : {CopyOrder::InTurn, CopyOrder::Together}) {
    PacketOptions with = options();
    if (copies == CopyOrder::Together && !with.switches.output_buffers) continue;
    with.switches.copies = copies;
    for (const Picos when : {400 * kNano, 5 * kMicro, 30 * kMicro}) {
      PacketRig rig(draw("H1-S1 S1-S2 H2-S1 H3-S2 H4-S2"), with);
      for (const char* node : {"S1", "S2"}) {
        rig.fabric.nodes[rig.node(node)].mft[0].assign(2, 0);
        rig.fabric.nodes[rig.node(node)].mft[0][1] = 0b1110;
      }
      rig.reload();
      Script script({{.at = 0, .source = 1, .what = rig.to(2, 2048)},
                     {.at = 100, .source = 0, .what = {.dlid = Lid{0xC001}, .payload = kLong}}});
      begin(rig, script, when);
      set_cable(rig, "H1", 1, "S1", 1, false);
      EXPECT_EQ(rig.net->audit(), "");
      rig.net->run_until(kMilli);
      const NetStats& stats = rig.net->stats();
      // Until 16.8 us it comes in; then it is in the switches, whole.
      const bool is_whole = when == 30 * kMicro;
      EXPECT_EQ(script.arrivals.size(), is_whole ? 4u : 1u) << when;
      EXPECT_EQ(rig.discarded(Discard::OnTheWire), stats.discards());
      EXPECT_EQ(stats.generated + stats.replicated, stats.delivered + stats.discards());
      EXPECT_EQ(stats.in_flight, 0u);
      EXPECT_EQ(rig.net->audit(), "");
    }
  }
}

// The switch at the far end dies with the cable: what has left it for H2 is not whole there.
TEST_P(Cut, APacketThatADyingSwitchPassesOn) {
  PacketRig rig(draw("H1-S1 S1-S2 S2-S3 S3-H2"), options());
  Script script({{.at = 0, .source = 0, .what = rig.to(1, kLong)}});
  begin(rig, script, 5 * kMicro);
  rig.net->switch_off(rig.node("S2"));
  EXPECT_EQ(rig.net->stats().discards(), 1u);
  EXPECT_EQ(rig.net->stats().in_flight, 0u);
  rig.net->run_until(kMilli);
  EXPECT_TRUE(script.arrivals.empty());
  EXPECT_EQ(rig.net->stats().discards(), 1u);
  EXPECT_EQ(rig.net->audit(), "");
}

// Its output is said to be blocked while it wants to send, and no longer. H5 keeps the way from S3
// to H2, so that S2 runs out of credit; the first packet to find none there is cut.
TEST_P(Cut, APacketThatWaitsForCredit) {
  bool found = false;
  for (int count = 1; count < 20 && !found; ++count) {
    PacketRig rig(draw("H1-S1 S1-S2 S2-S3 S3-H2 H5-S3"), options());
    std::vector<Script::Line> lines;
    for (int i = 0; i < 60; ++i) lines.push_back({.at = i, .source = 2, .what = rig.to(1, kLong)});
    for (int i = 0; i < count; ++i)
      lines.push_back({.at = 100 + i, .source = 0, .what = rig.to(1, kLong)});
    Script script(lines);
    begin(rig, script, kMicro);
    const auto blocked = [&] { return rig.net->blocked_time(rig.node("S2"), PortNum{2}); };
    while (blocked() == 0 && rig.net->now() < 400 * kMicro)
      rig.net->run_until(rig.net->now() + kMicro);
    if (blocked() == 0) continue;
    found = true;
    set_cable(rig, "S1", 2, "S2", 1, false);
    EXPECT_EQ(rig.discarded(Discard::OnTheWire), 1u);
    const Picos then = blocked();
    rig.net->run_until(rig.net->now() + 50 * kMicro);
    EXPECT_EQ(blocked(), then);
    EXPECT_EQ(rig.net->audit(), "");
  }
  EXPECT_TRUE(found);
}

// H3's packet has been on its link since 17 us. H1's begins to cross behind it and is given up when
// the port leaves Active: what comes in of it then is nobody's.
TEST_P(Cut, APacketThatWasGivenUpMeanwhile) {
  PacketOptions fast = options();
  if (!fast.switches.output_buffers) return;
  fast.switches.speed_up_percent = 400;
  fast.switches.output_buffer_bytes = 3 * 8192;
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2 H3-S2 H4-S2"), fast);
  Script script({{.at = 0, .source = 3, .what = rig.to(1, kLong)},
                 {.at = kMicro, .source = 2, .what = rig.to(1, kLong)},
                 {.at = 15 * kMicro, .source = 0, .what = rig.to(1, kLong)}});
  begin(rig, script, 28 * kMicro);
  const auto set_state = [&](PortState state) {
    rig.fabric.nodes[rig.node("S2")].ports[2].info.port_state = static_cast<std::uint8_t>(state);
    rig.net->load(rig.node("S2"), rig.fabric.nodes[rig.node("S2")]);
  };
  set_state(PortState::Armed);
  EXPECT_EQ(rig.discarded(Discard::DeactivatedPort), 1u);
  set_state(PortState::Active);
  rig.net->run_until(29 * kMicro);
  set_cable(rig, "S1", 2, "S2", 1, false);
  rig.net->run_until(kMilli);
  EXPECT_EQ(script.arrivals.size(), 2u);
  EXPECT_EQ(rig.discarded(Discard::OnTheWire), 0u);
  EXPECT_EQ(rig.net->audit(), "");
}

struct Outcome {
  std::uint64_t digest = 0;
  std::uint64_t delivered = 0;
  std::uint64_t cut = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// A ring under load whose cables go and come.
Outcome run_ring(PacketOptions options, unsigned partitions) {
  options.partitions = partitions;
  PacketRig rig(draw("S1-S2 S2-S3 S3-S4 S4-S1 H1-S1 H2-S1 H3-S2 H4-S2 H5-S3 H6-S3 H7-S4 H8-S4"),
                options);
  Rng rng(7);
  std::vector<Script::Line> lines;
  for (int i = 0; i < 800; ++i) {
    const auto from = static_cast<HostNum>(rng.below(8));
    const auto to = static_cast<HostNum>((from + 1 + rng.below(7)) % 8);
    lines.push_back({.at = static_cast<Picos>(rng.below(1500)) * kMicro + i,
                     .source = from,
                     .what = rig.to(to, static_cast<std::uint16_t>(256 + rng.below(3840)))});
  }
  Script script(lines);
  begin(rig, script, 20 * kMicro);
  const char* names[] = {"S1", "S2", "S3", "S4"};
  for (int i = 0; i < 40; ++i) {
    const auto at = rng.below(4);
    const unsigned port = at == 0 ? 1 : 2;  // S1-S2, S2-S3, S3-S4, S4-S1
    const unsigned far = at == 3 ? 2 : 1;
    set_cable(rig, names[at], port, names[(at + 1) % 4], far, false);
    // What goes to another partition now is in neither until the next window.
    if (partitions == 1) {
      EXPECT_EQ(rig.net->audit(), "");
    }
    rig.net->run_until(rig.net->now() + 7 * kMicro);
    set_cable(rig, names[at], port, names[(at + 1) % 4], far, true);
    rig.net->run_until(rig.net->now() + 31 * kMicro + static_cast<Picos>(rng.below(999)));
    EXPECT_EQ(rig.net->audit(), "");
  }
  rig.net->run_until(kSecond);
  const NetStats& stats = rig.net->stats();
  EXPECT_EQ(rig.net->audit(), "");
  EXPECT_EQ(stats.in_flight, 0u);
  EXPECT_EQ(stats.generated, stats.delivered + stats.discards());
  EXPECT_EQ(script.losses.size(), stats.discards());
  EXPECT_EQ(script.arrivals.size(), stats.delivered);
  return {stats.digest, stats.delivered, rig.discarded(Discard::OnTheWire)};
}

TEST_P(Cut, InAnyNumberOfPartitions) {
  if (std::get<1>(GetParam()) != 1) return;  // it runs with several itself
  const Outcome one = run_ring(options(), 1);
  EXPECT_GT(one.cut, 5u);
  EXPECT_EQ(run_ring(options(), 2), one);
  EXPECT_EQ(run_ring(options(), 4), one);
}

}  // namespace
}  // namespace smd::sim::test
