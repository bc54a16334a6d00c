// Credits, buffers, lanes, queues of sources: what holds packets back, and who goes first.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <map>

#include "smd/base/rng.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

PacketOptions bare(PacketOptions options) {
  options.switches.output_buffers = false;
  return options;
}

/// `each` packets of 256 bytes from every host but the last to the last.
std::vector<Script::Line> flood(const PacketRig& rig, int each) {
  std::vector<Script::Line> lines;
  const auto last = static_cast<HostNum>(rig.fabric.host_lids.size() - 1);
  for (HostNum host = 0; host < last; ++host) {
    for (int i = 0; i < each; ++i) {
      lines.push_back({.at = 100 * i, .source = host, .what = rig.to(last, 256)});
    }
  }
  return lines;
}

TEST(PacketFlow, NothingIsLostWhereTooMuchIsSent) {
  // Six adapters into one over three switches, as in the published validation: what arrives is
  // what one link carries, and nothing is lost.
  for (const PacketOptions& options : {PacketOptions::thesis(), bare(PacketOptions::thesis())}) {
    PacketRig rig(draw("H1-S1 H2-S1 H3-S2 H4-S2 H5-S3 H6-S3 S1-S3 S2-S3 S3-H7"), options);
    Script script(flood(rig, 50));
    rig.run(script);
    ASSERT_EQ(script.arrivals.size(), 300u);
    EXPECT_EQ(rig.net->stats().discards(), 0u);
    const Picos took = script.arrivals.back().tail - script.arrivals.front().tail;
    const double share = 299.0 * 1128 * kNano / static_cast<double>(took);
    EXPECT_LE(share, 1.0);
    EXPECT_GT(share, 0.99) << "the link to H7 never waits";
  }
}

TEST(PacketFlow, AdaptersAtOneSwitchGetTheSame) {
  PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1 H5-S1"), PacketOptions::thesis());
  Script script(flood(rig, 40));
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  rig.net->run_until(80 * kMicro);
  std::map<HostNum, int> got;
  for (const Delivery& arrival : script.arrivals) ++got[arrival.source];
  ASSERT_EQ(got.size(), 4u);
  for (const auto& [host, packets] : got)
    EXPECT_NEAR(packets, static_cast<double>(script.arrivals.size()) / 4, 1.01);
}

TEST(PacketFlow, CreditsHoldASenderBack) {
  // S2 has room for one packet; S1 must have its credit back before the next goes.
  PacketOptions options = bare(PacketOptions::thesis());
  options.switches.input_buffer_bytes = 256;
  options.switches.one_routing_unit = false;
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options);
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)},
                 {.at = 0, .source = 0, .what = rig.to(1, 256)}});
  rig.run(script);
  // The first leaves S1 from 260 to 1,388, comes in at S2 at 360, leaves it from 460 to 1,588. The
  // credit takes 6 * 4 + 100 = 124: it is at S1 at 1,712. H1, whose credit from S1 was back at
  // 1,388 + 124 = 1,512, sent the second then; at S1 it is routed at 1,712, and goes at once.
  ASSERT_EQ(script.arrivals.size(), 2u);
  EXPECT_EQ(script.arrivals[0].tail, (1588 + 100) * kNano);
  EXPECT_EQ(script.arrivals[1].injected, 1512 * kNano);
  EXPECT_EQ(script.arrivals[1].tail, (1712 + 100 + 100 + 1128 + 100) * kNano);
  EXPECT_EQ(rig.net->blocked_time(rig.node("H1"), PortNum{1}), (1512 - 1188) * kNano);
}

TEST(PacketFlow, AFlowControlPacketWaitsForTheOneOnTheLink) {
  // As before, but H2 sends a long packet to H1: credits to S1 go behind it.
  PacketOptions options = bare(PacketOptions::thesis());
  options.switches.input_buffer_bytes = 4096;
  options.switches.one_routing_unit = false;
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options);
  Script script({{.at = 0, .source = 1, .what = rig.to(0, 4096)},
                 {.at = 0, .source = 0, .what = rig.to(1, 4096)},
                 {.at = 0, .source = 0, .what = rig.to(1, 4096)}});
  rig.run(script);
  ASSERT_EQ(script.arrivals.size(), 3u);
  // A packet takes 4,122 * 4 = 16,488. At S1 the first is gone at 260 + 16,488 = 16,748; the link
  // back to H1 is busy with the one from H2 from 460 to 16,948. Then come 24 and 100.
  EXPECT_EQ(script.arrivals.back().injected, (16948 + 24 + 100) * kNano);
}

TEST(PacketFlow, AHeadBlocksWhatIsBehindItButNotOtherLanes) {
  // H1 and H2 flood H4 over S1's one way; H1's packet to H3 on the same VL waits behind its own,
  // on another VL it does not.
  for (const bool own_lane : {false, true}) {
    PacketOptions options = PacketOptions::thesis();
    options.switches.input_buffer_bytes = 512;
    options.switches.output_buffer_bytes = 512;
    PacketRig rig(draw("H1-S1 H2-S1 S1-S2 H3-S1 H4-S2 H5-S2 H6-S2"), options);
    std::vector<Script::Line> lines;
    const HostNum h3 = 2, h4 = 3, h5 = 4, h6 = 5;
    for (int i = 0; i < 40; ++i) {
      for (const HostNum host : {HostNum{0}, HostNum{1}, h5, h6}) {
        lines.push_back({.at = i, .source = host, .what = rig.to(h4, 256)});
      }
    }
    lines.push_back({.at = 20 * kMicro, .source = 0, .what = rig.to(h3, 256, own_lane ? 1 : 0)});
    Script script(lines);
    rig.run(script);
    const auto found = std::ranges::find(script.arrivals, h3, &Delivery::destination);
    ASSERT_NE(found, script.arrivals.end());
    const Picos took = found->tail - found->generated;
    if (own_lane) {
      EXPECT_LT(took, 5 * kMicro);
    } else {
      EXPECT_GT(took, 50 * kMicro);
    }
  }
}

TEST(PacketFlow, LanesShareALinkByTheirWeights) {
  PacketOptions options = PacketOptions::thesis();
  PacketRig rig(draw("H1-S1 H2-S1"), options);
  VlArbTables tables;
  tables.low[0] = {Vl{0}, 15};  // 960 bytes: four packets of 282, the last overdraws
  tables.low[1] = {Vl{1}, 5};
  rig.fabric.nodes[0].ports[1].vl_arb = std::make_unique<VlArbTables>(tables);
  rig.reload();
  std::vector<Script::Line> lines;
  for (int i = 0; i < 100; ++i) {
    lines.push_back({.at = 0, .source = 0, .what = rig.to(1, 256, 0)});
    lines.push_back({.at = 0, .source = 0, .what = rig.to(1, 256, 1)});
  }
  Script script(lines);
  rig.net->set_workload(&script);
  rig.net->set_observer(&script);
  rig.net->start();
  rig.net->run_until(120 * kMicro);
  const auto first = std::ranges::count(script.arrivals, 0, &Delivery::sl);
  const auto second = std::ranges::count(script.arrivals, 1, &Delivery::sl);
  // 960 and 320 bytes: 4 and 2 packets.
  EXPECT_NEAR(static_cast<double>(first) / static_cast<double>(second), 2.0, 0.1);
}

TEST(PacketFlow, CrossbarsWithOneWayInSendOneVlAtATime) {
  // H4 and H1 send long packets to H2, H1 then a short one to H3 on another VL. H4's crosses until
  // 262 + 16,488 = 16,750, then H1's until 33,240. The short one asks at
  // 10 + 60 + 16,488 + 100 + 100 = 16,758 and crosses at once where its VL has a way of its own.
  for (const bool multiplexed : {false, true}) {
    PacketOptions options = PacketOptions::thesis();
    options.switches.multiplexed = multiplexed;
    options.switches.one_routing_unit = false;
    options.switches.output_buffer_bytes = 8192;
    PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1"), options);
    Script script({{.at = 0, .source = 3, .what = rig.to(1, 4096, 0)},
                   {.at = 10 * kNano, .source = 0, .what = rig.to(1, 4096, 0)},
                   {.at = 10 * kNano, .source = 0, .what = rig.to(2, 256, 1)}});
    rig.run(script);
    ASSERT_EQ(script.arrivals.size(), 3u);
    const auto found = std::ranges::find(script.arrivals, HostNum{2}, &Delivery::destination);
    const Picos crosses = multiplexed ? 33240 : 16758;
    EXPECT_EQ(found->head, (crosses + 2 + 4 + 40 + 100) * kNano);
  }
}

TEST(PacketFlow, TheOldestPacketCrossesFirstWhereTheSwitchLooksAtAges) {
  // Packets of 16,488 ns for H1. While H2's leaves and H3's is next, five more come to S1: H4's and
  // H5's by one switch, H6's by two, H7's and H8's by three. A switch more before S1 is 242 ns
  // more, so they ask in the order H4, H6, H7, H8, H5; by age it is H7, H4, H8, H6, H5: at the end,
  // in front, in between, and at the end again.
  constexpr Picos kLast = 17'000 * kNano;
  const std::vector<std::pair<HostNum, Picos>> sent{{1, 0},
                                                    {2, kMicro},
                                                    {3, kLast},
                                                    {4, kLast + 600 * kNano},
                                                    {5, kLast + 50 * kNano},
                                                    {6, kLast - 100 * kNano},
                                                    {7, kLast + 30 * kNano}};
  for (const bool output_buffers : {true, false}) {
    for (const bool oldest_first : {false, true}) {
      PacketOptions options = PacketOptions::thesis();
      options.switches.output_buffers = output_buffers;
      options.switches.oldest_first = oldest_first;
      options.switches.one_routing_unit = false;
      PacketRig rig(draw("H1-S1 H2-S1 H3-S1 H4-S1 H5-S1 H6-S2 S2-S1 H7-S3 S3-S4 S4-S1 H8-S5 S5-S6 "
                         "S6-S1"),
                    options);
      std::vector<Script::Line> lines;
      for (const auto& [source, at] : sent)
        lines.push_back({.at = at, .source = source, .what = rig.to(0, 4096)});
      Script script(lines);
      rig.run(script);
      std::vector<HostNum> order;
      for (const Delivery& arrival : script.arrivals) order.push_back(arrival.source);
      EXPECT_EQ(order,
                oldest_first ? (std::vector<HostNum>{1, 2, 6, 3, 7, 5, 4})
                             : (std::vector<HostNum>{1, 2, 3, 5, 6, 7, 4}))
          << output_buffers;
    }
  }
}

TEST(PacketFlow, ASourceWithAQueuePerDestinationPassesASlowOne) {
  // H2 hangs on 1x, H3 on 4x as H1 does. With the pace of H2 kept, a packet to H2 follows the one
  // before it after four packet times.
  for (const SourceQueues waiting : {SourceQueues::Shared, SourceQueues::PerDestination}) {
    PacketOptions options = PacketOptions::thesis();
    options.adapters.waiting = waiting;
    options.adapters.static_rate = true;
    FabricSpec spec = draw("H1-S1", LinkWidth::X4);
    const std::uint32_t h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x20200}, 1);
    const std::uint32_t h3 = add_node(spec, NodeType::Ca, "H3", Guid{0x20300}, 1);
    connect(spec, 1, PortNum{2}, h2, PortNum{1}, LinkWidth::X1, LinkSpeed::Sdr);
    connect(spec, 1, PortNum{3}, h3, PortNum{1}, LinkWidth::X4, LinkSpeed::Sdr);
    PacketRig rig(spec, options);
    Script script({{.at = 0, .source = 0, .what = rig.to(1, 256)},
                   {.at = 0, .source = 0, .what = rig.to(1, 256)},
                   {.at = 0, .source = 0, .what = rig.to(2, 256)}});
    rig.run(script);
    std::map<HostNum, Picos> last;
    for (const Delivery& arrival : script.arrivals) last[arrival.destination] = arrival.injected;
    EXPECT_EQ(last[1], (60 + 4 * 282) * kNano);
    const bool passes = waiting == SourceQueues::PerDestination;
    EXPECT_EQ(last[2], (passes ? 60 + 282 : 60 + 5 * 282) * kNano);
  }
}

/// What H1 of this rate leaves between two packets to H2 of that one, in packet times.
double find_pace(LinkWidth own, LinkSpeed own_speed, LinkWidth far, LinkSpeed far_speed) {
  PacketOptions options = PacketOptions::thesis();
  options.adapters.static_rate = true;
  FabricSpec spec = draw("H1-S1", own, own_speed);
  const std::uint32_t h2 = add_node(spec, NodeType::Ca, "H2", Guid{0x20200}, 1);
  connect(spec, 1, PortNum{2}, h2, PortNum{1}, far, far_speed);
  PacketRig rig(spec, options);
  std::vector<Script::Line> lines(9, {.at = 0, .source = 0, .what = rig.to(1, 256)});
  Script script(lines);
  rig.run(script);
  if (script.arrivals.size() != 9) return 0;
  const Picos packet = transfer_time(rig.net->host_byte_time(0), 282);
  return double(script.arrivals[8].injected - script.arrivals[0].injected) / 8 / double(packet);
}

// A rate that is a whole part of the source's takes that many packet times: not one more because
// the times of a byte are rounded.
TEST(PacketFlow, StaticRatesGoByTheRatesThemselves) {
  constexpr LinkWidth kX1 = LinkWidth::X1, kX4 = LinkWidth::X4, kX8 = LinkWidth::X8,
                      kX12 = LinkWidth::X12;
  constexpr LinkSpeed kQdr = LinkSpeed::Qdr, kFdr = LinkSpeed::Fdr, kEdr = LinkSpeed::Edr,
                      kHdr = LinkSpeed::Hdr;
  EXPECT_NEAR(find_pace(kX12, kQdr, kX4, kQdr), 3, 1e-3) << "96,000 and 32,000 Mbit/s";
  EXPECT_NEAR(find_pace(kX8, kFdr, kX4, kFdr), 2, 1e-3);
  EXPECT_NEAR(find_pace(kX12, kHdr, kX1, kEdr), 24, 1e-3);
  EXPECT_NEAR(find_pace(kX4, kFdr, kX4, kQdr), 2, 1e-3) << "54,544 and 32,000: rounded up";
  EXPECT_NEAR(find_pace(kX4, kQdr, kX4, kQdr), 1, 1e-3);
}

TEST(PacketFlow, SourcesTakeMemoryForWhoIsSentToAlone) {
  // 412 hosts: of all of their pairs a pace takes 3 kB per host, a queue 5 kB for each VL.
  std::string text = "H1-S1 H2-S1";
  for (int i = 2; i < 84; ++i) {
    for (int host = 0; host < 5; ++host) text += fmt::format(" H{}-S{}", 5 * i + host, i);
    text += fmt::format(" S{}-S{}", i, i / 2);
  }
  PacketOptions options = PacketOptions::thesis();
  const PacketRig rig(draw(text), options);
  ASSERT_EQ(rig.net->host_count(), 412u);
  options.adapters.static_rate = true;
  EXPECT_LT(PacketNet(rig.spec, options).memory_use().hosts, 412u * 300);
  options.adapters.static_rate = false;
  options.adapters.waiting = SourceQueues::PerDestination;
  PacketRig busy(rig.spec, options);
  std::vector<Script::Line> lines;
  for (HostNum host = 0; host < 412; ++host) {
    for (HostNum i = 1; i < 9; ++i) {
      lines.push_back({.at = 0, .source = host, .what = busy.to((host + i) % 412, 256)});
    }
  }
  Script script(lines);
  busy.run(script);
  EXPECT_EQ(script.arrivals.size(), 8u * 412);
  EXPECT_LT(busy.net->memory_use().hosts, 412u * 600) << "eight of 412 queues";
}

TEST(PacketFlow, ABoundedSourceStopsMakingPackets) {
  PacketOptions options = PacketOptions::thesis();
  options.adapters.most_waiting = 3;
  options.adapters.waiting = SourceQueues::Hashed;
  PacketRig rig(draw("H1-S1 H2-S1"), options);

  struct Endless final : Workload {
    Picos first(HostNum host) override { return host == 0 ? 0 : kNever; }

    Picos emit(DataNet& net, HostNum host, Picos now) override {
      net.send(host, {.dlid = to, .payload = 256});
      return now + 1;
    }

    Lid to;
  };

  Endless endless;
  endless.to = rig.fabric.host_lids[1];
  rig.net->set_workload(&endless);
  rig.net->start();
  rig.net->run_until(100 * kMicro);
  const NetStats& stats = rig.net->stats();
  EXPECT_EQ(rig.net->audit(), "");
  EXPECT_LE(stats.generated - stats.injected, 3u);
  EXPECT_EQ(stats.injected, 100'000u / 1128 + 1);
}

TEST(PacketFlow, MulticastPacketsAreCopied) {
  for (const PacketOptions& options : {PacketOptions::thesis(), bare(PacketOptions::thesis())}) {
    PacketRig rig(draw("H1-S1 S1-S2 H2-S1 H3-S2 H4-S2"), options);
    const auto join = [&](const char* node, std::vector<unsigned> ports) {
      NodeState& sw = rig.fabric.nodes[rig.node(node)];
      sw.mft[0].assign(2, 0);
      for (const unsigned port : ports) {
        sw.mft[0][1] = static_cast<std::uint16_t>(sw.mft[0][1] | 1u << port);
      }
    };
    join("S1", {1, 2, 3});
    join("S2", {1, 2, 3});
    rig.reload();
    Script script({{.at = 0, .source = 0, .what = {.dlid = Lid{0xC001}, .payload = 256}},
                   {.at = 1, .source = 3, .what = {.dlid = Lid{0xC001}, .payload = 256}},
                   {.at = 2, .source = 0, .what = {.dlid = Lid{0xC000}, .payload = 256}}});
    rig.run(script);
    std::map<HostNum, std::vector<HostNum>> got;
    for (const Delivery& arrival : script.arrivals)
      got[arrival.source].push_back(arrival.destination);
    EXPECT_THAT(got[0], testing::UnorderedElementsAre(1, 2, 3)) << "all but the sender";
    EXPECT_THAT(got[3], testing::UnorderedElementsAre(0, 1, 2));
    EXPECT_EQ(rig.net->stats().replicated, 4u);
    EXPECT_EQ(rig.discarded(Discard::Unroutable), 1u) << "nobody's group";
    EXPECT_EQ(rig.net->stats().in_flight, 0u);
  }
}

TEST(PacketFlow, RandomTablesHaveADefaultPort) {
  ProgramOptions with;
  PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), PacketOptions::thesis());
  NodeState& s1 = rig.fabric.nodes[rig.node("S1")];
  s1.options.rft_cap = 16;
  s1.switch_info.default_port = PortNum{2};
  s1.rft = {{.lid = rig.fabric.host_lids[0], .valid = true, .port = PortNum{1}}};
  rig.reload();
  Script script({{.at = 0, .source = 0, .what = rig.to(1, 64)},
                 {.at = 0, .source = 1, .what = rig.to(0, 64)}});
  rig.run(script);
  EXPECT_EQ(script.arrivals.size(), 2u);
  s1.switch_info.default_port = kNoRoute;
  rig.reload();
  rig.net->send(0, rig.to(1, 64));
  rig.net->run_until(2 * kSecond);
  EXPECT_EQ(rig.discarded(Discard::Unroutable), 1u);
}

TEST(PacketFlow, ALongCableHoldsManyCredits) {
  // A packet takes 360 ns, there and back 4 us: with room for 20 packets the link never waits.
  const auto last = [](unsigned buffer, bool flow_control_packets) {
    PacketOptions options = PacketOptions::modern();
    options.switches.input_buffer_bytes = buffer;
    options.links.propagation = 2 * kMicro;
    options.links.flow_control_packets = flow_control_packets;
    PacketRig rig(draw("H1-S1 S1-S2 S2-H2"), options);
    Script script(std::vector<Script::Line>(300, {.at = 0, .source = 0, .what = rig.to(1, 64)}));
    rig.run(script);
    EXPECT_EQ(script.arrivals.size(), 300u);
    return script.arrivals.back().tail;
  };
  for (const bool packets : {true, false}) EXPECT_EQ(last(1280, packets), last(16384, packets));
}

TEST(PacketFlow, TheSameSeedGivesTheSameRunAndAnotherOneDoesNot) {
  const auto digest = [](std::uint64_t seed) {
    PacketRig rig(draw("H1-S1 H2-S1 S1-S2 H3-S2 H4-S2"), PacketOptions::modern());
    Rng rng(seed);
    std::vector<Script::Line> lines;
    for (int i = 0; i < 200; ++i) {
      const auto from = static_cast<HostNum>(rng.below(4));
      lines.push_back({.at = static_cast<Picos>(rng.below(kMilli)),
                       .source = from,
                       .what = rig.to((from + 1 + static_cast<HostNum>(rng.below(3))) % 4, 512)});
    }
    Script script(lines);
    rig.run(script);
    return rig.net->stats().digest;
  };
  EXPECT_EQ(digest(1), digest(1));
  EXPECT_NE(digest(1), digest(2));
}

}  // namespace
}  // namespace smd::sim::test
