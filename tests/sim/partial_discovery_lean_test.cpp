// What a partial discovery asks, and what it makes of every change that a machine room has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/management/smp_tap.h"
#include "smd/mad/tables.h"
#include "tests/sim/partial_ring.h"
#include "tests/support/cables.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// What is asked.

TEST(PartialDiscovery, NothingToDoIsOneLookAtTheOwnPort) {
  Ring lab;
  const auto found = lab.look({});
  EXPECT_EQ(lab.requests, 1u);
  EXPECT_TRUE(found.delta.empty());
  EXPECT_THAT(found.reread, IsEmpty());
}

TEST(PartialDiscovery, ASuspectThatSawNothingIsNotRead) {
  Ring lab;
  const auto found = lab.look(lab.guids({kS3}));
  EXPECT_EQ(lab.requests, 1u + 2u);
  EXPECT_TRUE(found.delta.empty());
}

// S3 loses its shortest way with the cable, and may be dead: S4, which is on the next one, is asked
// first whether the link from there is up.
TEST(PartialDiscovery, AFailedCableCostsItsTwoSwitches) {
  Ring lab;
  lab.fabric.set_link(kS2, port(2), false);
  const auto found = lab.look(lab.poll().changed);
  EXPECT_EQ(lab.requests, 1u + 2 * read_a_switch(1) + 1);
  EXPECT_EQ(lab.retries, 0u);
  EXPECT_THAT(found.delta.ports_down, ElementsAre(at(lab, kS2, 2), at(lab, kS3, 1)));
  EXPECT_THAT(found.reread, ElementsAre(Guid{0x2002}, Guid{0x2003}));
}

TEST(PartialDiscovery, SwitchesWithoutATableOfStatesAreReadPortByPort) {
  Ring lab(ring(), {.agents = {.port_state_table = false}});
  lab.fabric.set_link(kS2, port(2), false);
  const auto found = lab.look(lab.poll().changed);
  EXPECT_EQ(lab.requests, 1u + 2 * kReadEveryPort + 1);
  EXPECT_THAT(found.delta.ports_down, ElementsAre(at(lab, kS2, 2), at(lab, kS3, 1)));
}

TEST(PartialDiscovery, TablesOfStatesAreNotAskedForWhereTheyAreNotWanted) {
  Ring lab;
  lab.fabric.set_link(kS2, port(2), false);
  const auto changed = lab.poll().changed;
  const auto before = lab.client.stats().requests();
  ASSERT_TRUE(lab.partial(changed, {.port_state_tables = false}));
  EXPECT_EQ(lab.client.stats().requests() - before, 1u + 2 * kReadEveryPort + 1);
}

// A table that is refused though it is announced, one that is out of date, one whose ports are in
// another order, and one that is empty: what there is is found all the same, port by port.
TEST(PartialDiscovery, ATableOfStatesIsNotTrustedBlindly) {
  using Edit = void (*)(Smp&, PortStateBlock&);
  const Edit edits[] = {[](Smp& smp, PortStateBlock&) {
                          smp.status = static_cast<std::uint16_t>(MadStatus::BadMethodAttribute);
                        },
                        [](Smp&, PortStateBlock& states) {
                          for (PortState& state : states) state = PortState::Active;
                          states[3] = states[5] = states[6] = states[7] = states[8] =
                              PortState::Down;
                        },
                        [](Smp&, PortStateBlock& states) {
                          for (std::size_t p = 0; p < states.size(); p += 2)
                            std::swap(states[p], states[p + 1]);
                        },
                        [](Smp&, PortStateBlock& states) { states = {}; }};
  for (const Edit edit : edits) {
    for (const bool up : {false, true}) {
      Ring lab;
      if (up) {
        lab.fabric.set_link(kS2, port(2), false);
        lab.adopt(lab.look(lab.poll().changed).sweep);
      }
      unsigned edited = 0;
      lab.transport.on_answer = [&](Smp& smp) {
        if (!sim::is_about(smp, AttributeId::SwitchPortStateTable)) return true;
        PortStateBlock states = decode_port_state_block(smp.data).value();
        edit(smp, states);
        encode_port_state_block(states, smp.data);
        ++edited;
        return true;
      };
      lab.fabric.set_link(kS2, port(2), up);
      const auto found = lab.look(lab.poll().changed);  // compared with a full discovery
      EXPECT_GE(edited, 2u);
      EXPECT_EQ(found.delta.ports_down.size(), up ? 0u : 2u);
      EXPECT_EQ(found.delta.ports_up.size(), up ? 2u : 0u);
    }
  }
}

TEST(PartialDiscovery, ASwitchOfMoreThan127PortsHasTwoBlocksOfStates) {
  FabricSpec spec = ring();
  spec.nodes[kS2].ports.resize(201);
  spec.nodes[kS3].ports.resize(201);
  connect(spec, kS2, port(200), kS3, port(130));
  Ring lab(spec);
  lab.fabric.set_link(kS2, port(200), false);
  const auto found = lab.look(lab.poll().changed);
  EXPECT_EQ(lab.requests, 1u + 2 * (read_a_switch(1) + 1));
  EXPECT_THAT(found.delta.ports_down, ElementsAre(at(lab, kS2, 200), at(lab, kS3, 130)));
}

// Whatever the radix, and whichever cable.
TEST(PartialDiscovery, ALostCableIsLearnedInAFewSmps) {
  for (const char* text : {"fat-tree:k=4,levels=2", "fat-tree:k=16,levels=2", "torus:dims=4.4"}) {
    const FabricSpec spec = sim::load_fabric(text).value();
    Ring lab(spec);
    for (const test::Cable& cable : cables_between_switches(spec)) {
      lab.fabric.set_link(cable.node, cable.port, false);
      const PartialReport found = lab.look(lab.poll().changed);
      EXPECT_LE(lab.requests, 12u) << text;
      EXPECT_TRUE(found.sweep.fabric->node_guid.shares(lab.known.fabric->node_guid))
          << "whoever was found by it keeps its number";
      lab.fabric.set_link(cable.node, cable.port, true);
      lab.adopt(lab.full());
    }
  }
}

TEST(PartialDiscovery, ACableThatComesUpIsAskedFromOneEnd) {
  Ring lab;
  lab.fabric.set_link(kS2, port(2), false);
  lab.adopt(lab.look(lab.poll().changed).sweep);
  lab.fabric.set_link(kS2, port(2), true);
  const auto found = lab.look(lab.poll().changed);
  EXPECT_EQ(lab.requests, 1u + 2 * read_a_switch(1) + 1);
  EXPECT_THAT(found.delta.ports_up, ElementsAre(at(lab, kS2, 2), at(lab, kS3, 1)));
  EXPECT_THAT(found.delta.ports_down, IsEmpty());
}

TEST(PartialDiscovery, TheOtherEndIsAskedWhenOneReports) {
  Ring lab;
  lab.fabric.set_link(kS2, port(2), false);
  const auto found = lab.look(lab.guids({kS2}));
  EXPECT_THAT(found.reread, ElementsAre(Guid{0x2002}, Guid{0x2003}));
  EXPECT_EQ(lab.retries, 0u);
}

TEST(PartialDiscovery, ADeadSwitchIsNotAskedWhenItsNeighboursReported) {
  Ring lab;
  lab.fabric.set_node(kS3, false);
  const auto found = lab.look(lab.poll().changed);
  EXPECT_EQ(lab.requests, 1u + 2 * read_a_switch(1));
  EXPECT_EQ(lab.retries, 0u);
  EXPECT_THAT(found.delta.nodes_gone, UnorderedElementsAre(Guid{0x2003}, Guid{0x1030}));
  EXPECT_EQ(found.delta.ports_down.size(), 6u);
}

// S3 is dead, and S2 says so: nobody waits until the retries to S3 are over.
TEST(PartialDiscovery, ASweepDoesNotWaitForTheDeadOnceTheirNeighboursReport) {
  Ring lab;
  const TimePoint before = lab.runtime.now();
  lab.poll();
  const Duration whole = lab.runtime.now() - before;
  lab.fabric.set_node(kS3, false);
  const TimePoint died = lab.runtime.now();
  const PartialLab::Polled polled = lab.poll();
  EXPECT_THAT(polled.changed, UnorderedElementsAre(Guid{0x2002}, Guid{0x2004}));
  EXPECT_THAT(polled.silent, UnorderedElementsAre(Guid{0x2003}));
  EXPECT_LT(lab.runtime.now() - died, 3 * whole);
}

// A change on the near side, and an agent that hangs: it is not heard of, and is not forgotten.
TEST(PartialDiscovery, ASweepThatHearsOfAChangeStillNamesTheSilent) {
  Ring lab;
  lab.fabric.set_silent(kS3, true);
  lab.fabric.set_link(kS2, port(4), false);
  const PartialLab::Polled polled = lab.poll();
  EXPECT_THAT(polled.changed, UnorderedElementsAre(Guid{0x2002}));
  EXPECT_THAT(polled.silent, UnorderedElementsAre(Guid{0x2003}));
}

// The sweep knows it as silent; asking it again would only wait.
TEST(PartialDiscovery, ADeadSuspectIsNotAskedEither) {
  Ring lab;
  lab.fabric.set_node(kS3, false);
  lab.look(lab.poll().all());
  EXPECT_EQ(lab.requests, 1u + 2 * read_a_switch(1));
  EXPECT_EQ(lab.retries, 0u);
}

// S2 reports. Before S3 is asked on the way that is left, S4 on that way is, and tells.
TEST(PartialDiscovery, OneNeighbourIsEnoughToLearnOfADeathWithoutWaiting) {
  Ring lab;
  lab.fabric.set_node(kS3, false);
  lab.look(lab.guids({kS2}));
  EXPECT_EQ(lab.retries, 0u);
}

TEST(PartialDiscovery, ADeathThatOnlySilenceTellsIsFoundAfterWaiting) {
  Ring lab;
  lab.fabric.set_node(kS3, false);
  const auto found = lab.look(lab.guids({kS3}));
  EXPECT_THAT(found.delta.nodes_gone, UnorderedElementsAre(Guid{0x2003}, Guid{0x1030}));
}

// Its cables are up and carry traffic, so nobody reports it.
TEST(PartialDiscovery, ASwitchWithADeadAgentIsLeftOut) {
  Ring lab;
  lab.fabric.set_silent(kS3, true);
  const auto found = lab.look(lab.guids({kS3}));
  EXPECT_THAT(found.delta.nodes_gone, UnorderedElementsAre(Guid{0x2003}, Guid{0x1030}));
  EXPECT_EQ(found.sweep.silent.size(), 2u);
}

// What changed.

TEST(PartialDiscovery, AHostThatWasReplacedBetweenTwoLooks) {
  Ring lab;
  lab.fabric.move_cable(kH2, port(1), kH9, port(1));
  const auto found = lab.look(lab.guids({kS2}));
  EXPECT_THAT(found.delta.nodes_gone, ElementsAre(Guid{0x1020}));
  EXPECT_THAT(found.delta.nodes_new, ElementsAre(Guid{0x1090}));
}

/// Sets what the manager sets at the end of a cycle, without looking.
void activate(PartialLab& lab, const SmpRoute& route, unsigned number) {
  for (const PortState state : {PortState::Armed, PortState::Active}) {
    SmpRequest request{.route = route, .attribute = AttributeId::PortInfo, .modifier = number};
    PortInfo now = decode_port_info(lab.call(request)->data).value();
    now.port_state = static_cast<std::uint8_t>(state);
    now.port_physical_state = 0;
    request.method = Method::Set;
    encode_port_info(now, request.data);
    ASSERT_EQ(lab.call(request)->status, 0);
  }
}

// Nothing in PortInfo tells; PortStateChange does.
TEST(PartialDiscovery, AHostThatWasReplacedAndActivatedBetweenTwoLooks) {
  Ring lab;
  lab.fabric.move_cable(kH2, port(1), kH9, port(1));
  activate(lab, SmpRoute::directed({port(1), port(2)}), 4);
  activate(lab, SmpRoute::directed({port(1), port(2), port(4)}), 1);
  const auto found = lab.look(lab.guids({kS2}));
  EXPECT_THAT(found.delta.nodes_gone, ElementsAre(Guid{0x1020}));
  EXPECT_THAT(found.delta.nodes_new, ElementsAre(Guid{0x1090}));
}

// … also where something else does: another port of the switch lost its link, or leads to silence.
// H2 and H5 are read in Initialize, change places, and are made Active.
TEST(PartialDiscovery, HostsThatChangedPlacesBeforeTheyWereActivated) {
  for (const bool silent : {false, true}) {
    FabricSpec spec = ring();
    const std::uint32_t h5 = kS9 + 1, h6 = kS9 + 2;
    add_node(spec, NodeType::Ca, "H5", Guid{0x1050}, 1);
    add_node(spec, NodeType::Ca, "H6", Guid{0x1060}, 1);
    connect(spec, kS2, port(6), h5, port(1));
    connect(spec, kS2, port(7), h6, port(1));
    Ring lab(spec);
    if (silent) {
      lab.fabric.set_silent(h6, true);
      lab.fabric.set_link(h6, port(1), false);
      lab.fabric.set_link(h6, port(1), true);
      lab.adopt(lab.look(lab.guids({kS2})).sweep);
    }
    lab.came_up = {at(lab, kS2, 4), at(lab, kH2, 1), at(lab, kS2, 6), at(lab, h5, 1)};
    lab.fabric.move_cable(kH2, port(1), kH9, port(1));
    lab.fabric.move_cable(h5, port(1), kH2, port(1));
    lab.fabric.move_cable(kH9, port(1), h5, port(1));
    for (const unsigned number : {4u, 6u}) {
      activate(lab, SmpRoute::directed({port(1), port(2)}), number);
      activate(lab, SmpRoute::directed({port(1), port(2), port(number)}), 1);
    }
    if (!silent) lab.fabric.set_link(h6, port(1), false);
    const auto found = lab.look(lab.guids({kS2}));
    EXPECT_THAT(found.delta.nodes_new, IsEmpty());
    EXPECT_EQ(found.delta.ports_up.size(), 4u);
    EXPECT_THAT(found.doubtful, ElementsAre(at(lab, kH2, 1), at(lab, h5, 1)));
    EXPECT_THAT(found.look_again, IsEmpty());
  }
}

TEST(PartialDiscovery, WhoCameUpAndIsStillThereCostsOneQuestion) {
  Ring lab;
  lab.fabric.set_link(kS2, port(2), false);
  const auto changed = lab.poll().changed;
  lab.came_up = {at(lab, kS2, 4), at(lab, kH2, 1), at(lab, kS1, 2), at(lab, kS2, 1)};
  const auto found = lab.look(changed);
  EXPECT_EQ(lab.requests, 1u + 2 * read_a_switch(1) + 1 + 2);
  EXPECT_THAT(found.doubtful, ElementsAre(at(lab, kH2, 1)));
  EXPECT_THAT(found.delta.ports_down, ElementsAre(at(lab, kS2, 2), at(lab, kS3, 1)));
}

// As after the first look of a term, which clears nothing.
TEST(PartialDiscovery, WhatWasRaisedBeforeTellsNothingOfAHostThatCameUp) {
  Ring lab;
  lab.fabric.set_link(kS2, port(2), false);
  lab.came_up = {at(lab, kS2, 4), at(lab, kH2, 1)};
  lab.left_raised = {lab.guids({kS2})[0]};
  const auto found = lab.look(lab.guids({kS2}));
  EXPECT_EQ(lab.requests, 1u + 2 * read_a_switch(1) + 1 + 1);
  EXPECT_THAT(found.doubtful, IsEmpty());
}

// Nothing happened there.
TEST(PartialDiscovery, WhoCameUpAtASwitchThatSawNothingIsNotAsked) {
  Ring lab;
  lab.came_up = {at(lab, kS3, 4), at(lab, kH3, 1)};
  const auto found = lab.look(lab.guids({kS3}));
  EXPECT_EQ(lab.requests, 1u + 2u);
  EXPECT_THAT(found.doubtful, IsEmpty());
}

TEST(PartialDiscovery, ASwitchReplacedByABiggerOne) {
  Ring lab;
  lab.fabric.move_cable(kS3, port(1), kS9, port(13));
  lab.fabric.move_cable(kS3, port(2), kS9, port(14));
  lab.fabric.move_cable(kS3, port(4), kS9, port(16));
  const auto found = lab.look(lab.poll().changed);
  EXPECT_THAT(found.delta.nodes_gone, ElementsAre(Guid{0x2003}));
  EXPECT_THAT(found.delta.nodes_new, ElementsAre(Guid{0x2009}));
  EXPECT_EQ(lab.retries, 0u);
}

// A repaired chassis keeps its GUID.
TEST(PartialDiscovery, ASwitchReplacedByABiggerOneOfTheSameGuid) {
  FabricSpec spec = ring();
  spec.nodes[kS9].guid = spec.nodes[kS3].guid;
  Ring lab(spec);
  lab.fabric.move_cable(kS3, port(1), kS9, port(13));
  lab.fabric.move_cable(kS3, port(2), kS9, port(14));
  lab.fabric.move_cable(kS3, port(4), kS9, port(16));
  const auto found = lab.look(lab.guids({kS2, kS4}));
  EXPECT_THAT(found.delta.restarted, ElementsAre(Guid{0x2003}));
  EXPECT_THAT(found.delta.nodes_new, IsEmpty());
  EXPECT_THAT(found.sweep.duplicates, IsEmpty());
}

TEST(PartialDiscovery, AMovedCableIsDownAndUpInOneReport) {
  Ring lab;
  lab.fabric.move_cable(kS3, port(2), kS2, port(7));  // S3:2-S4:1 becomes S2:7-S4:1
  const auto found = lab.look(lab.poll().changed);
  EXPECT_THAT(found.delta.ports_down, ElementsAre(at(lab, kS3, 2), at(lab, kS4, 1)));
  EXPECT_THAT(found.delta.ports_up, ElementsAre(at(lab, kS2, 7), at(lab, kS4, 1)));
  EXPECT_EQ(lab.retries, 0u);
}

// Only one of the three that saw it reports.
TEST(PartialDiscovery, AMovedCableIsFoundFromEveryWitness) {
  for (const std::uint32_t witness : {kS2, kS3, kS4}) {
    Ring lab;
    lab.fabric.move_cable(kS3, port(2), kS2, port(7));
    const auto found = lab.partial(lab.guids({witness}));
    ASSERT_TRUE(found);
    EXPECT_EQ(check_invariants(*found->sweep.fabric), "");
    // Who did not report, and is at no cable that changed as far as the others know, still can.
    const auto again = [&] {
      lab.known = found->sweep;
      std::vector<Guid> left;
      for (const std::uint32_t sw : {kS1, kS2, kS3, kS4}) {
        if (lab.fabric.switch_info(sw).port_state_change) left.push_back(lab.guids({sw})[0]);
      }
      return lab.partial(left);
    }();
    ASSERT_TRUE(again);
    EXPECT_EQ(find_difference(lab.full(), again->sweep), "") << witness;
  }
}

// The path to S3 now ends in S9, whose bit must stay: nobody has read its ports.
TEST(PartialDiscovery, AStrangerOnTheWayIsLeftAlone) {
  Ring lab;
  lab.fabric.set_link(kS3, port(2), false);
  lab.adopt(lab.look(lab.poll().changed).sweep);
  lab.fabric.move_cable(kS3, port(1), kS9, port(1));
  const auto found = lab.look(lab.guids({kS3}));
  EXPECT_THAT(found.delta.nodes_gone, UnorderedElementsAre(Guid{0x2003}, Guid{0x1030}));
  EXPECT_THAT(found.delta.nodes_new, ElementsAre(Guid{0x2009}));
}

// The path to S3 now ends in S4, a switch with tables like its own.
TEST(PartialDiscovery, AnotherKnownSwitchOnTheWayIsNotTakenForTheSuspect) {
  Ring lab;
  lab.fabric.move_cable(kS3, port(1), kS4, port(7));
  const auto found = lab.look(lab.guids({kS3}));
  EXPECT_THAT(found.delta.nodes_gone, IsEmpty());
  EXPECT_THAT(found.delta.ports_up, ElementsAre(at(lab, kS2, 2), at(lab, kS4, 7)));
}

TEST(PartialDiscovery, ARestartedSwitchIsReadAsANewOne) {
  Ring lab;
  lab.fabric.set_node(kS3, false);
  lab.fabric.set_node(kS3, true);
  const auto found = lab.look(lab.poll().all());
  EXPECT_THAT(found.delta.restarted, ElementsAre(Guid{0x2003}));
  EXPECT_THAT(found.delta.nodes_gone, IsEmpty());
  EXPECT_THAT(found.delta.nodes_new, IsEmpty());
  const Fabric& now = *found.sweep.fabric;
  const NodeIdx s3 = now.find_node(Guid{0x2003}).value();
  EXPECT_EQ(now.port_info[now.port_of(s3, port(0))].lid, kUnassignedLid);
  EXPECT_EQ(now.switch_info[now.switch_of[s3]].linear_fdb_top, 0);
  EXPECT_EQ(lab.retries, 0u);
}

// The snapshot may be from before the tables were written: then the tables themselves tell.
TEST(PartialDiscovery, ARestartShowsByTheTablesThatWereWritten) {
  Ring lab;
  auto before = std::make_shared<Fabric>(*lab.known.fabric);
  for (SwitchInfo& info : before->switch_info) info.linear_fdb_top = 0;
  lab.known.fabric = before;
  lab.fabric.set_node(kS3, false);
  lab.fabric.set_node(kS3, true);
  const auto found = lab.partial(lab.guids({kS3}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->delta.restarted, ElementsAre(Guid{0x2003}));
}

TEST(PartialDiscovery, AHealedPartitionComesBackWithItsLids) {
  Ring lab;
  const Lid lid = lab.fabric.port_info(kS3, port(0)).lid;
  lab.fabric.set_link(kS2, port(2), false);
  lab.fabric.set_link(kS4, port(2), false);
  const auto cut = lab.look(lab.poll().all());
  EXPECT_THAT(cut.delta.nodes_gone,
              UnorderedElementsAre(Guid{0x2003}, Guid{0x2004}, Guid{0x1030}, Guid{0x1040}));
  lab.known = cut.sweep;
  lab.fabric.set_link(kS2, port(2), true);
  const auto found = lab.look(lab.guids({kS2}));
  EXPECT_THAT(found.delta.nodes_new,
              UnorderedElementsAre(Guid{0x2003}, Guid{0x2004}, Guid{0x1030}, Guid{0x1040}));
  const Fabric& now = *found.sweep.fabric;
  EXPECT_EQ(now.port_info[now.port_of(now.find_node(Guid{0x2003}).value(), port(0))].lid, lid);
}

// S4 hangs on S3, whose only cable moves to S1: while it was cut off S4 lost its host, and could
// tell nobody.
TEST(PartialDiscovery, WhatWasOutOfReachIsAskedOnceItIsFound) {
  FabricSpec spec = ring();
  spec.nodes[kS4].ports[2] = {};
  spec.nodes[kS1].ports[3] = {};
  Ring lab(spec);
  lab.fabric.move_cable(kS2, port(2), kS1, port(8));
  lab.fabric.set_node(kH4, false);
  const auto found = lab.look(lab.guids({kS1, kS2}));
  EXPECT_THAT(found.delta.nodes_gone, ElementsAre(Guid{0x1040}));
}

// The way to S3 breaks after its bit was cleared: read by another way, it shows nothing any more.
TEST(PartialDiscovery, WhatWasClearedIsReadEvenIfTheWayBreaks) {
  Ring lab;
  lab.fabric.set_node(kH3, false);
  lab.transport.on_request = [&](std::size_t) {
    if (lab.transport.log().back() == "Get PI 1 (1,2,2) []") {
      lab.fabric.set_link(kS1, port(2), false);
    }
  };
  const auto found = lab.look(lab.guids({kS3}));
  EXPECT_THAT(found.delta.nodes_gone, ElementsAre(Guid{0x1030}));
}

TEST(PartialDiscovery, LoopbackCablesAndParallelLinks) {
  Ring lab;
  lab.fabric.move_cable(kH3, port(1), kS3, port(8));  // S3:4-H3 becomes S3:4-S3:8
  lab.fabric.move_cable(kH4, port(1), kS1, port(8));  // S4:4-H4 becomes S4:4-S1:8
  const auto found = lab.look(lab.poll().changed);
  EXPECT_THAT(found.delta.nodes_gone, UnorderedElementsAre(Guid{0x1030}, Guid{0x1040}));
  EXPECT_EQ(found.sweep.fabric->link_count(), 8u);
}

// What does not answer.

TEST(PartialDiscovery, ASilentPortStaysReportedUntilItIsGone) {
  Ring lab;
  lab.fabric.set_silent(kH3, true);
  lab.fabric.set_link(kS3, port(4), false);
  lab.fabric.set_link(kS3, port(4), true);
  const auto first = lab.look(lab.guids({kS3}));
  ASSERT_EQ(first.sweep.silent.size(), 1u);
  lab.known = first.sweep;
  lab.fabric.set_link(kS1, port(2), false);
  const auto second = lab.look(lab.guids({kS1, kS2}));
  ASSERT_EQ(second.sweep.silent.size(), 1u);
  EXPECT_EQ(second.sweep.silent[0].why, first.sweep.silent[0].why);
  lab.known = second.sweep;
  lab.fabric.set_silent(kH3, false);
  lab.fabric.set_link(kS3, port(4), false);
  lab.fabric.set_link(kS3, port(4), true);
  const auto third = lab.look(lab.guids({kS3}));
  EXPECT_THAT(third.sweep.silent, IsEmpty());
  EXPECT_THAT(third.delta.nodes_new, ElementsAre(Guid{0x1030}));
}

// Whoever answers nothing would be waited for at every change of his switch. Light sweeps ask him.
TEST(PartialDiscovery, WhoIsKnownToBeSilentIsNotWaitedFor) {
  Ring lab;
  lab.fabric.set_silent(kH3, true);
  lab.known = lab.full();
  ASSERT_THAT(lab.known.silent, testing::SizeIs(1));
  lab.fabric.set_link(kS3, port(2), false);
  const auto found = lab.look(lab.guids({kS3, kS4}));
  EXPECT_EQ(found.sweep.silent, lab.known.silent);
  EXPECT_EQ(lab.retries, 0u);
  lab.known = found.sweep;
  lab.fabric.set_silent(kH3, false);
  EXPECT_THAT(lab.partial({}, {}, {at(lab, kS3, 4)})->delta.nodes_new, ElementsAre(Guid{0x1030}));
}

TEST(PartialDiscovery, TwinsStayReportedUntilOneIsGone) {
  FabricSpec spec = ring();
  spec.nodes[kS9].guid = spec.nodes[kS3].guid;
  spec.nodes[kS3].ports[2] = {};
  spec.nodes[kS4].ports[1] = {};
  connect(spec, kS4, port(7), kS9, port(8));
  Ring lab(spec);
  ASSERT_EQ(lab.known.duplicates.size(), 1u);
  lab.fabric.set_node(kH2, false);
  const auto first = lab.look(lab.guids({kS2}));
  EXPECT_EQ(first.sweep.duplicates, lab.known.duplicates);
  lab.known = first.sweep;
  lab.fabric.set_node(kS9, false);
  const auto second = lab.look(lab.guids({kS4}));
  EXPECT_THAT(second.sweep.duplicates, IsEmpty());
}

// What only a full discovery can tell.

// What the second one says of itself is not taken for what the first one says.
TEST(PartialDiscovery, ATwinThatIsPluggedInNearerIsLeftOut) {
  FabricSpec spec = ring();
  spec.nodes[kH9].guid = spec.nodes[kH3].guid;
  connect(spec, kH9, port(1), kS1, port(5));
  PartialLab lab(spec);
  lab.fabric.set_link(kH9, port(1), false);
  lab.bring_up();
  lab.fabric.set_link(kH9, port(1), true);
  const auto found = lab.partial({lab.guid("S1")});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->sweep.duplicates, testing::SizeIs(1));
  EXPECT_EQ(find_difference(lab.full(), found->sweep), "");
  const Fabric& fabric = *found->sweep.fabric;
  const PortIdx host = fabric.port_of(*fabric.find_node(spec.nodes[kH3].guid), port(1));
  EXPECT_NE(fabric.port_info[host].lid, kUnassignedLid);
  EXPECT_EQ(fabric.port_info[host].lid, lab.fabric.port_info(kH3, port(1)).lid);
  EXPECT_EQ(fabric.node_guid[fabric.node_of[fabric.peer[host]]], spec.nodes[kS3].guid);
}

TEST(PartialDiscovery, NamesAndFdr10OfWhatStayedAreKept) {
  Ring lab;
  const Fabric& f = *lab.known.fabric;
  const auto port_at = [](const Fabric& fabric, std::uint64_t guid, unsigned number) {
    return fabric.port_of(fabric.find_node(Guid{guid}).value(), port(number));
  };
  std::vector<PortIdx> fdr10{port_at(f, 0x2002, 1), port_at(f, 0x2002, 2), port_at(f, 0x2004, 2)};
  std::ranges::sort(fdr10);
  lab.known.fabric = with_fdr10(*with_descriptions(f, {{Guid{0x2003}, "leaf"}}, nullptr), fdr10);
  lab.fabric.set_link(kS2, port(2), false);
  const auto found = lab.partial(lab.poll().changed);
  ASSERT_TRUE(found);
  const Fabric& now = *found->sweep.fabric;
  EXPECT_EQ(now.description[now.find_node(Guid{0x2003}).value()], "leaf");
  EXPECT_THAT(now.fdr10, UnorderedElementsAre(port_at(now, 0x2002, 1), port_at(now, 0x2004, 2)));
}

TEST(PartialDiscovery, DestroyedWhileItRunsItSaysNothing) {
  Ring lab;
  bool called = false;
  {
    PartialDiscovery discovery(lab.client, {}, Epoch{9});
    discovery.start(lab.known_subnet(), lab.guids({kS1, kS3}), [&](const Result<PartialReport>&) {
      called = true;
    });
    lab.run_for(std::chrono::microseconds(10));
  }
  lab.run_for(std::chrono::minutes(1));
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace smd::test
