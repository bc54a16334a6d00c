// A rule in place of the tables: what it is told, what becomes of its answers.
#include <gmock/gmock.h>

#include <functional>

#include "sim-backend/measure/arrival_order.h"
#include "sim-backend/packet/route_hook.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace route_hook_test {

using testing::ElementsAre;

/// Asks a function, and writes down what it is told.
class Asked final : public RouteChoice {
 public:
  using Answer = std::function<std::optional<RouteAnswer>(const RouteView&, const PortFill&)>;

  explicit Asked(Answer answer) : answer_(std::move(answer)) {}

  std::optional<RouteAnswer> choose(const RouteView& view, const PortFill& fill) const override {
    views.push_back(view);
    return answer_(view, fill);
  }

  mutable std::vector<RouteView> views;

 private:
  Answer answer_;
};

/// What the tables say.
Asked::Answer by_tables(const PacketRig& rig) {
  return [&rig](const RouteView& view, const PortFill&) {
    return RouteAnswer{
        .out = static_cast<std::uint8_t>(rig.fabric.nodes[view.node].lft[view.dlid].value())};
  };
}

std::vector<Script::Line> everybody(const PacketRig& rig, int rounds) {
  std::vector<Script::Line> lines;
  const auto hosts = static_cast<HostNum>(rig.fabric.host_lids.size());
  for (int i = 0; i < rounds; ++i) {
    for (HostNum host = 0; host < hosts; ++host) {
      const HostNum to = (host + 1 + static_cast<HostNum>(i)) % hosts;
      if (to != host) lines.push_back({.at = 100 * i, .source = host, .what = rig.to(to, 256)});
    }
  }
  return lines;
}

PacketOptions options(unsigned partitions = 1) {
  PacketOptions out = PacketOptions::modern();
  out.partitions = partitions;
  return out;
}

const char* const kRing = "S1-S2 S2-S3 S3-S4 S4-S1 H1-S1 H2-S2 H3-S3 H4-S4";

// The first of two packets goes by S2, and waits there behind what H2 sends.
TEST(RouteHook, WaysOfOnePathOvertakeEachOtherAndTablesKeepTheOrder) {
  for (const bool by_rule : {true, false}) {
    PacketRig rig(draw("S1-S2 S2-S3 S3-S1 H1-S1 H2-S2 H3-S3 H4-S3"), options());
    int asked = 0;
    const Asked one_by_s2([&](const RouteView& view, const PortFill& fill) {
      const bool first = view.node == rig.node("S1") && asked++ == 0;
      return first ? RouteAnswer{.out = 1} : *by_tables(rig)(view, fill);
    });
    if (by_rule) rig.net->set_route_choice(&one_by_s2);
    Script script({{.at = 0, .source = 1, .what = rig.to(3, 2048)},
                   {.at = 0, .source = 1, .what = rig.to(3, 2048)},
                   {.at = 1000, .source = 0, .what = rig.to(2, 256)},
                   {.at = 2000, .source = 0, .what = rig.to(2, 256)}});
    rig.run(script);
    ASSERT_EQ(script.arrivals.size(), 4u);
    ArrivalOrder order(4);
    for (const Delivery& arrival : script.arrivals) {
      EXPECT_EQ(arrival.dlid, rig.fabric.host_lids[arrival.destination].value());
      order.on_delivered(arrival);
    }
    EXPECT_EQ(order.late_share(), by_rule ? 0.25 : 0);
  }
}

TEST(RouteHook, OneThatReadsTheTablesChangesNothing) {
  for (const unsigned partitions : {1u, 2u}) {
    PacketRig plain(draw(kRing), options()), hooked(draw(kRing), options(partitions));
    Script a(everybody(plain, 20)), b(everybody(hooked, 20));
    const Asked asked(by_tables(hooked));
    hooked.net->set_route_choice(&asked);
    plain.run(a);
    hooked.run(b);
    EXPECT_EQ(hooked.net->stats().digest, plain.net->stats().digest) << partitions;
    EXPECT_EQ(hooked.net->stats().delivered, plain.net->stats().delivered);
    EXPECT_EQ(asked.views.size(), hooked.net->stats().hops) << "once for each switch";
  }
}

TEST(RouteHook, WhatItSaysOfAPacketComesAlong) {
  for (const unsigned partitions : {1u, 3u}) {
    PacketRig rig(draw("H1-S1 S1-S2 S2-S3 S3-H2"), options(partitions));
    const Asked asked([&](const RouteView& view, const PortFill& fill) {
      RouteAnswer taken = *by_tables(rig)(view, fill);
      taken.via = view.via + 1000;
      taken.phase = static_cast<std::uint8_t>(view.phase + 3);
      return taken;
    });
    rig.net->set_route_choice(&asked);
    Script script({{.at = 5, .source = 0, .what = rig.to(1, 256)}});
    rig.run(script);
    ASSERT_EQ(asked.views.size(), 3u);
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(asked.views[i].hops, i);
      EXPECT_EQ(asked.views[i].via, 1000 * i);
      EXPECT_EQ(asked.views[i].phase, 3 * i);
      EXPECT_EQ(asked.views[i].source, 0u);
      EXPECT_EQ(asked.views[i].to, 1u);
      EXPECT_EQ(asked.views[i].dlid, rig.fabric.host_lids[1].value());
    }
  }
}

/// (source, number of the packet at it by its order, hops): draw.
std::vector<std::uint64_t> draws(unsigned partitions, std::uint64_t seed) {
  PacketOptions with = options(partitions);
  with.seed = seed;
  PacketRig rig(draw(kRing), with);
  const Asked asked(by_tables(rig));
  rig.net->set_route_choice(&asked);
  Script script(everybody(rig, 12));
  rig.run(script);
  std::vector<std::uint64_t> out;
  for (const RouteView& view : asked.views) out.push_back(view.draw);
  std::ranges::sort(out);
  return out;
}

TEST(RouteHook, DrawsAreOfThePacketAndTheSeedAlone) {
  const auto one = draws(1, 1);
  EXPECT_EQ(std::ranges::adjacent_find(one), one.end()) << "each its own";
  EXPECT_EQ(draws(2, 1), one);
  EXPECT_EQ(draws(4, 1), one);
  EXPECT_NE(draws(1, 2), one);
}

TEST(RouteHook, TellsWhatStandsBeforeALink) {
  // 4 blocks each; the cable back and forth takes far less than 10 us.
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options());
  std::vector<unsigned> used;
  const std::uint32_t first = rig.node("S1");
  const Asked asked([&](const RouteView& view, const PortFill& fill) {
    const RouteAnswer taken = *by_tables(rig)(view, fill);
    if (view.node == first) used.push_back(fill.used(first, taken.out, 0));
    return taken;
  });
  rig.net->set_route_choice(&asked);
  const PacketRequest what = rig.to(1, 256);
  const Picos late = 10 * kMicro;
  Script script({{.at = 0, .source = 0, .what = what},
                 {.at = 0, .source = 0, .what = what},
                 {.at = late, .source = 0, .what = what}});
  rig.run(script);
  // The first one is on the link when the second comes, and counts once.
  EXPECT_THAT(used, ElementsAre(0, 4, 0));
}

TEST(RouteHook, AFullBufferIsAsFullAsTheFarEnd) {
  // Two into one: S1's output buffer fills up, and holds more than S2's input takes.
  PacketOptions with = options();
  with.switches.input_buffer_bytes = 1024;
  with.switches.output_buffer_bytes = 8192;
  PacketRig rig(draw("H1-S1 H2-S1 S1-S2 S2-H3"), with);
  unsigned most = 0;
  const std::uint32_t first = rig.node("S1");
  const Asked asked([&](const RouteView& view, const PortFill& fill) {
    const RouteAnswer taken = *by_tables(rig)(view, fill);
    if (view.node == first) most = std::max(most, fill.used(first, taken.out, 0));
    return taken;
  });
  rig.net->set_route_choice(&asked);
  std::vector<Script::Line> lines;
  for (int i = 0; i < 100; ++i) {
    for (const HostNum host : {0u, 1u})
      lines.push_back({.at = i, .source = host, .what = rig.to(2, 256)});
  }
  Script script(std::move(lines));
  rig.run(script);
  EXPECT_EQ(most, 1024u / 64);
  EXPECT_EQ(script.arrivals.size(), 200u);
}

TEST(RouteHook, WrongAnswersAreDroppedByCause) {
  struct Case {
    std::optional<RouteAnswer> taken;
    Discard cause;
  };

  for (const Case& c : {Case{std::nullopt, Discard::Unroutable},
                        Case{RouteAnswer{.out = 200}, Discard::Unroutable},
                        Case{RouteAnswer{.out = 0}, Discard::WrongNode},
                        Case{RouteAnswer{.out = 1}, Discard::BackToInput},
                        Case{RouteAnswer{.out = 2, .vl = 1}, Discard::Unmappable},
                        Case{RouteAnswer{.out = 3}, Discard::InactivePort}}) {
    PacketRig rig(draw("H1-S1 S1-H2"), options());
    const Asked asked([&](const RouteView&, const PortFill&) { return c.taken; });
    rig.net->set_route_choice(&asked);
    Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)}});
    rig.run(script);
    EXPECT_EQ(rig.discarded(c.cause), 1u) << print_discard(c.cause);
    EXPECT_EQ(script.arrivals.size(), 0u);
  }
}

TEST(RouteHook, LidsOfNobodyAreUnroutable) {
  PacketRig rig(draw("H1-S1 S1-H2"), options());
  const Asked asked(by_tables(rig));
  rig.net->set_route_choice(&asked);
  Script script({{.at = 0, .source = 0, .what = {.dlid = Lid{0x4000}, .payload = 256}}});
  rig.run(script);
  EXPECT_EQ(rig.discarded(Discard::Unroutable), 1u);
  EXPECT_TRUE(asked.views.empty());
}

class LooksFar final : public RouteChoice {
 public:
  std::optional<RouteAnswer> choose(const RouteView&, const PortFill&) const override { return {}; }

  bool looks_far() const override { return true; }
};

TEST(RouteHookDeathTest, LookingFarNeedsOnePartition) {
  PacketRig rig(draw(kRing), options(2));
  const LooksFar far;
  EXPECT_DEATH(rig.net->set_route_choice(&far), "one partition");
}

TEST(RouteHook, PresetBookSimMovesAFlitInFourCyclesPerSwitch) {
  // A flit's link time, one cycle of cable and one of routing per switch; the crossbar a tenth.
  const PacketRig probe(draw("H1-S1 S1-S2 S2-H2"), PacketOptions::booksim());
  const PacketOptions& booksim = probe.net->options();
  EXPECT_EQ(booksim.switches.input_buffer_bytes, 64u * 64);
  EXPECT_EQ(booksim.switches.output_buffer_bytes, 64u * 64);
  EXPECT_EQ(booksim.switches.speed_up_percent, 1000u);
  EXPECT_EQ(booksim.links.header_bytes, 0u);
  PacketOptions found;
  ASSERT_TRUE(find_preset("booksim", found));
  EXPECT_EQ(found.links.byte_time, 16);
}

}  // namespace route_hook_test
}  // namespace smd::sim::test
