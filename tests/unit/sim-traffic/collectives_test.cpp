// Collectives over multicast and in switches, against times worked out by hand, on switches of
// preset thesis (timing_test.cpp of sim-packet): a packet of 256 bytes takes 1,128 ns on a link.
//
//   60          adapter                               T(n) = 60 + 100 + 246 n + 1,128: over n
//   switches 100         cable 146 + 100   switch and cable 1,130       from packet to packet on
//   one way: 2 ns to set up the crossbar
#include <gmock/gmock.h>

#include "sim-backend/scenario/group_tables.h"
#include "sim-backend/traffic/in_network.h"
#include "sim-backend/traffic/segmented.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace collectives_test {

constexpr const char* kOneSwitch = "H1-S1 H2-S1 H3-S1 H4-S1";
constexpr const char* kTwoSwitches = "S1-S2 H1-S1 H2-S1 H3-S2 H4-S2";

constexpr Picos over(int switches) { return (60 + 100 + 246 * switches + 1128) * kNano; }

/// A fabric whose hosts are one group, with the trees of the manager.
struct GroupRig {
  GroupRig(const std::string& text, CopyOrder copies) : rig(draw(text), options_of(copies)) {
    auto made =
        program_groups(rig.spec, {GroupText{.line = 1}}, TreeShape::UpDown, 2, "t", rig.fabric);
    EXPECT_TRUE(made) << (made ? "" : print_fault(made.error().at(0)));
    tables = std::move(*made);
    rig.reload();
  }

  static PacketOptions options_of(CopyOrder copies) {
    PacketOptions options = PacketOptions::thesis();
    options.switches.copies = copies;
    return options;
  }

  [[nodiscard]] CollectiveOptions options(CollectiveKind kind, std::uint64_t bytes) const {
    return {.kind = kind,
            .bytes = bytes,
            .mtu = 256,
            .group = tables.groups[0].mlid,
            .group_sl = tables.groups[0].sl};
  }

  [[nodiscard]] CollectiveRanks ranks() const { return CollectiveRanks(rig.fabric.host_lids); }

  [[nodiscard]] InNetworkAllReduce::Tree adders(Picos adding) const {
    InNetworkAllReduce::Tree out{.entry = tables.groups[0].entry, .adding = adding};
    for (const TreeNode& each : tables.groups[0].tree) {
      out.adders.push_back({.node = each.node,
                            .parent = each.parent,
                            .up = each.up,
                            .lid = rig.fabric.nodes[each.node].ports[0].info.lid});
    }
    return out;
  }

  /// When it is done.
  Picos run(CollectiveWorkload& collective, std::uint64_t packets) {
    rig.net->set_switch_port_handler(collective.switch_ports());
    rig.net->set_workload(&collective);
    rig.net->start();
    rig.net->run_until(kSecond);
    EXPECT_EQ(rig.net->audit(), "");
    const NetStats& stats = rig.net->stats();
    EXPECT_EQ(stats.discards() + stats.in_flight, 0u);
    EXPECT_EQ(stats.generated, packets);
    rig.net->set_switch_port_handler(nullptr);
    return collective.finished();
  }

  PacketRig rig;
  GroupTables tables;
};

Picos run_segmented(const char* fabric,
                    CopyOrder copies,
                    CollectiveOptions options,
                    std::uint64_t packets) {
  GroupRig here(fabric, copies);
  CollectiveOptions with = here.options(options.kind, options.bytes);
  with.segment = options.segment;
  SegmentedCollective collective(with, here.ranks());
  EXPECT_EQ(collective.finished(), kNever) << "not before it began";
  return here.run(collective, packets);
}

// Round by round: 0 to 1; 0 to 2 and 1 to 3; 0 to 4 … The last of 2^k hosts has it after k packets
// one after the other.
TEST(Collectives, BinomialBroadcast) {
  const CollectiveOptions one{.kind = CollectiveKind::BinomialBroadcast, .bytes = 256};
  EXPECT_EQ(run_segmented("H1-S1 H2-S1", CopyOrder::InTurn, one, 1), over(1));
  EXPECT_EQ(run_segmented(kOneSwitch, CopyOrder::InTurn, one, 3), 2 * over(1));
  EXPECT_EQ(
      run_segmented("H1-S1 H2-S1 H3-S1 H4-S1 H5-S1 H6-S1 H7-S1 H8-S1", CopyOrder::InTurn, one, 7),
      3 * over(1));
}

// Two segments of a packet each to 0's one child 1 and its other one 2, 1's child being 3: 0 sends
// 1a 2a 1b 2b, 1,130 ns apart. 1 sends on the first when it has it, and has the second when 0's
// third packet is in; so has 3, one hop later.
TEST(Collectives, BinomialBroadcastBySegments) {
  CollectiveOptions two{.kind = CollectiveKind::BinomialBroadcast, .bytes = 512, .segment = 256};
  EXPECT_EQ(run_segmented(kOneSwitch, CopyOrder::InTurn, two, 6), 2 * over(1) + 2 * 1130 * kNano);
  // As one segment of two packets: each hop takes both.
  two.segment = 0;
  EXPECT_EQ(run_segmented(kOneSwitch, CopyOrder::InTurn, two, 6), 2 * (over(1) + 1130 * kNano));
}

// n packets follow each other; together as a packet to one host does; in turn the switch copies all
// of one before the next: 3 copies of each, 1,130 ns each.
TEST(Collectives, MulticastBroadcast) {
  const CollectiveOptions four{.kind = CollectiveKind::MulticastBroadcast, .bytes = 1024};
  EXPECT_EQ(run_segmented(kOneSwitch, CopyOrder::Together, four, 4), over(1) + 3 * 1130 * kNano);
  EXPECT_EQ(run_segmented(kOneSwitch, CopyOrder::InTurn, four, 4),
            over(1) + (4 * 3 - 1) * 1130 * kNano);
  EXPECT_EQ(run_segmented(kTwoSwitches, CopyOrder::Together, four, 4), over(2) + 3 * 1130 * kNano);
}

// Ranks 1 and 2 send to 0 at once, whose link carries one after the other: the second is in 1,130
// ns later (timing_test, TwoInputsShareAnOutput). Then one packet to both.
TEST(Collectives, MulticastAllReduce) {
  const CollectiveOptions one{.kind = CollectiveKind::MulticastAllReduce, .bytes = 256};
  const char* three = "H1-S1 H2-S1 H3-S1";
  EXPECT_EQ(run_segmented(three, CopyOrder::Together, one, 3), 2 * over(1) + 1130 * kNano);
  EXPECT_EQ(run_segmented(three, CopyOrder::InTurn, one, 3), 2 * over(1) + 2 * 1130 * kNano);
}

// At the switch a packet is whole after 60 + 100 + 1,128, added 500 ns later, and what the switch
// sends is in at a host 146 + 100 + 1,128 after that. All hosts' packets are added side by side.
TEST(Collectives, InNetworkAllReduce) {
  for (const CopyOrder copies : {CopyOrder::InTurn, CopyOrder::Together}) {
    const Picos turn = copies == CopyOrder::InTurn ? 1130 * kNano : 0;
    {
      GroupRig here(kOneSwitch, copies);
      InNetworkAllReduce sum(here.options(CollectiveKind::InNetworkAllReduce, 256),
                             here.ranks(),
                             here.adders(500 * kNano));
      EXPECT_EQ(here.run(sum, 4 + 1), (1288 + 500 + 1374) * kNano + 3 * turn);
      EXPECT_EQ(here.rig.net->stats().taken_in, 4u);
    }
    // Two switches: the lower one's sum is in at the upper one 146 + 100 + 1,128 later, and added
    // there; what comes down takes 246 more over the second switch.
    {
      GroupRig here(kTwoSwitches, copies);
      InNetworkAllReduce sum(here.options(CollectiveKind::InNetworkAllReduce, 256),
                             here.ranks(),
                             here.adders(500 * kNano));
      const Picos down = (1288 + 500 + 1374 + 500 + 1374 + 246) * kNano;
      // In turn the upper switch copies to the other one first or last, as its ports are numbered
      // (S1: 1, S2: 1): first. Then the lower one to its two hosts, and the upper one too.
      const Picos at_lower = down + turn;
      const Picos at_upper = down - 246 * kNano + 2 * turn;
      EXPECT_EQ(here.run(sum, 4 + 2), std::max(at_lower, at_upper));
      EXPECT_EQ(here.rig.net->stats().taken_in, 5u);
    }
  }
}

// An adder takes one packet at a time: where it is slower than the link, it sets the pace.
TEST(Collectives, SlowAddersSetThePace) {
  const auto done = [](Picos adding) {
    GroupRig here(kOneSwitch, CopyOrder::Together);
    InNetworkAllReduce sum(here.options(CollectiveKind::InNetworkAllReduce, 8 * 256),
                           here.ranks(),
                           here.adders(adding));
    return here.run(sum, 4 * 8 + 8);
  };
  // On the link to a host 1,128 ns, and 24 for the flow control packet that answers his own.
  EXPECT_EQ(done(500 * kNano), (1288 + 500 + 1374 + 7 * 1152) * kNano);
  EXPECT_EQ(done(3000 * kNano), (1288 + 3000 + 1374 + 7 * 3000) * kNano);
}

TEST(Collectives, MembersOfAGroupAreTheRanks) {
  // Hosts 0, 2 and 5: ring and tree among these alone.
  PacketRig rig(draw("S1-S2 H1-S1 H2-S1 H3-S1 H4-S2 H5-S2 H6-S2"), PacketOptions::thesis());
  std::vector<HostNum> hosts{0, 2, 5};
  std::vector<Lid> lids;
  for (const HostNum host : hosts) lids.push_back(rig.fabric.host_lids[host]);
  for (const CollectiveKind kind :
       {CollectiveKind::RingAllReduce, CollectiveKind::TreeAllReduce, CollectiveKind::AllToAll}) {
    PacketNet net(rig.spec, PacketOptions::thesis());
    for (std::uint32_t n = 0; n < rig.spec.nodes.size(); ++n) net.load(n, rig.fabric.nodes[n]);
    Collective exchange({.kind = kind, .bytes = 768, .mtu = 256}, CollectiveRanks(hosts, lids));

    struct Seen final : PacketObserver {
      void on_delivered(const Delivery& each) override {
        hosts.insert(each.source);
        hosts.insert(each.destination);
      }

      std::set<HostNum> hosts;
    };

    Seen seen;
    net.set_workload(&exchange);
    net.set_observer(&seen);
    net.start();
    net.run_until(kSecond);
    EXPECT_NE(exchange.finished(), kNever);
    EXPECT_THAT(seen.hosts, testing::ElementsAre(0, 2, 5));
  }
}

TEST(Collectives, WhatASwitchAddsIsCounted) {
  //   0     Two hosts at 1, one at 2, none at 3.
  //  1 3
  //  2
  InNetworkAllReduce::Tree tree{.entry = {1, 1, 2}};
  tree.adders = {
      {.node = 0}, {.node = 1, .parent = 0}, {.node = 2, .parent = 1}, {.node = 3, .parent = 0}};
  EXPECT_THAT(count_below(tree), testing::ElementsAre(1, 3, 1, 0));
}

}  // namespace collectives_test
}  // namespace smd::sim::test
