// Which algorithms are free of circles: all sources and all small sets of destinations.
#include "sim-backend/multicast/verdict.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace smd::sim {
namespace {

using ::testing::SizeIs;

const std::vector<LabelledNet>& meshes() {
  static const std::vector<LabelledNet> nets = [] {
    std::vector<LabelledNet> out;
    for (const char* text :
         {"torus:dims=4.4,mesh=1", "torus:dims=3.5,mesh=1", "torus:dims=5.4,mesh=1"})
      out.push_back(LabelledNet::build(*load_fabric(text)).value());
    return out;
  }();
  return nets;
}

RelationVerdict judge(const LabelledNet& net,
                      const std::string& name,
                      unsigned most,
                      ForkModel branches = ForkModel::Apart,
                      bool escape = false,
                      unsigned host_channels = 0) {
  return check_multicast(
      net, *find_multicast_algorithm(name), most, branches, escape, {.count = host_channels});
}

TEST(MulticastVerdict, SetsAreCountedAsTheyAreVisited) {
  std::uint64_t visited = 0;
  for_each_set(meshes()[0], 3, [&](Node, std::span<const Node>) { ++visited; });
  EXPECT_EQ(static_cast<double>(visited), count_sets(meshes()[0], 3));
  EXPECT_EQ(visited, 16u * (15 + 105 + 455));
}

TEST(MulticastVerdict, PathsAlongLabelsCloseNoCircle) {
  for (const LabelledNet& net : meshes()) {
    for (const char* name :
         {"separate", "separate-labels", "dual-path", "dual-path-2", "label-path", "multi-path"}) {
      const RelationVerdict verdict = judge(net, name, 2);
      EXPECT_TRUE(verdict.is_safe()) << name << ": " << print_circle(net.fabric(), verdict.cycle);
    }
  }
}

TEST(MulticastVerdict, UnsplitPathsByRowsCloseOne) {
  for (const LabelledNet& net : meshes()) EXPECT_FALSE(judge(net, "path-xy", 2).acyclic);
}

TEST(MulticastVerdict, NorthAfterSouthClosesOne) {
  for (const LabelledNet& net : {meshes()[0], meshes()[2]}) {
    EXPECT_FALSE(judge(net, "pm-printed", 3).acyclic);
    EXPECT_FALSE(judge(net, "fm-printed", 3).acyclic);
  }
  for (const LabelledNet& net : meshes()) {
    for (const char* name : {"pm", "pm-split", "fm"}) {
      const RelationVerdict verdict = judge(net, name, 3);
      EXPECT_TRUE(verdict.is_safe()) << name << ": " << print_circle(net.fabric(), verdict.cycle)
                                     << ", dead ends " << verdict.dead_ends;
    }
  }
}

TEST(MulticastVerdict, AdaptiveOnesNeedTheirEscapes) {
  for (const LabelledNet& net : meshes()) {
    for (const char* name : {"dual-path-adaptive", "xy-adaptive"}) {
      EXPECT_FALSE(judge(net, name, 2).acyclic) << name;
      const RelationVerdict verdict = judge(net, name, 2, ForkModel::Apart, true);
      EXPECT_TRUE(verdict.is_safe()) << name << ": " << print_circle(net.fabric(), verdict.cycle);
    }
  }
}

// On other networks shortest ways that go back along the labels would come to the escapes again.
TEST(MulticastVerdict, AdaptiveDualPathIsFreeOfCirclesOnAnyNetwork) {
  for (const char* fabric : {"torus:dims=3.3.3,hosts=1",
                             "torus:dims=3.3.3,hosts=1,mesh=1",
                             "torus:dims=5.5,hosts=1",
                             "torus:dims=2.2.2.2,hosts=1,mesh=1",
                             "irregular:switches=16,ports=8,links=4,hosts=1"}) {
    const LabelledNet net = LabelledNet::build(*load_fabric(fabric)).value();
    for (const bool escape : {false, true}) {
      const RelationVerdict verdict = judge(net, "dual-path-adaptive", 2, ForkModel::Apart, escape);
      EXPECT_TRUE(verdict.is_safe()) << fabric << ": " << print_circle(net.fabric(), verdict.cycle);
    }
  }
}

TEST(MulticastVerdict, ForksThatGoOnByThemselvesCloseNoCircle) {
  for (const LabelledNet& net : meshes()) {
    for (const char* name : {"tree-xy", "double-channel", "single-channel", "up-down-tree"})
      EXPECT_TRUE(judge(net, name, 3).acyclic) << name;
  }
}

TEST(MulticastVerdict, ForksInLockStep) {
  for (const LabelledNet& net : meshes()) {
    const RelationVerdict knot = judge(net, "tree-xy", 2, ForkModel::Next);
    EXPECT_FALSE(knot.acyclic);
    EXPECT_THAT(knot.cycle, SizeIs(testing::Gt(1u)));
    EXPECT_FALSE(judge(net, "single-channel", 3, ForkModel::Next).acyclic);
    EXPECT_FALSE(judge(net, "up-down-tree", 2, ForkModel::Next).acyclic);
    const RelationVerdict quadrants = judge(net, "double-channel", 3, ForkModel::Next);
    EXPECT_TRUE(quadrants.acyclic) << print_circle(net.fabric(), quadrants.cycle);
  }
}

// On a line of four, a list from the first holds the channel to the second one's host and waits for
// the one to the third's; one from the fourth holds that and waits for the other.
TEST(MulticastVerdict, ListsThatMeetWaitForEachOthersHostChannels) {
  const LabelledNet line = LabelledNet::build(*load_fabric("torus:dims=4.1,mesh=1")).value();
  const RelationVerdict verdict = judge(line, "dual-path", 2, ForkModel::Apart, false, 1);
  std::set<std::string> circle;
  for (const RelationChannel& channel : verdict.cycle) {
    const PortIdx peer = line.fabric().peer[channel.out];
    const NodeIdx from = line.fabric().node_of[channel.out], to = line.fabric().node_of[peer];
    circle.insert(line.fabric().description[from] + " " + line.fabric().description[to]);
  }
  EXPECT_THAT(circle,
              testing::ElementsAre(
                  "sw-1-0 host-00001", "sw-1-0 sw-2-0", "sw-2-0 host-00002", "sw-2-0 sw-1-0"));
  EXPECT_TRUE(judge(line, "dual-path", 2, ForkModel::Apart, false, 2).is_safe());
}

/// Switches with a host each, by cables between them.
LabelledNet net_of(std::uint32_t switches,
                   const std::vector<std::pair<unsigned, unsigned>>& cables) {
  FabricSpec spec;
  std::vector<unsigned> used(switches, 0);
  const auto next_port = [&](std::uint32_t sw) {
    return PortNum{static_cast<std::uint8_t>(++used[sw])};
  };
  for (std::uint32_t sw = 0; sw < switches; ++sw)
    add_node(spec, NodeType::Switch, fmt::format("sw-{}", sw), Guid{0x100 + sw}, 8);
  for (std::uint32_t sw = 0; sw < switches; ++sw) {
    const std::uint32_t host =
        add_node(spec, NodeType::Ca, fmt::format("host-{}", sw), Guid{0x200 + sw}, 1);
    connect(spec, sw, next_port(sw), host, PortNum{1}, LinkWidth::X4, LinkSpeed::Edr);
  }
  for (const auto& [a, b] : cables)
    connect(spec, a, next_port(a), b, next_port(b), LinkWidth::X4, LinkSpeed::Edr);
  spec.sm_node = switches;  // the first host
  spec.sm_port = PortNum{1};
  return LabelledNet::build(spec).value();
}

// Two triangles that meet at a switch with two channels to its host. Lists that come from both
// sides and go on to the other are four: two may have the host's channels and two those on.
TEST(MulticastVerdict, ListsThatPassAHostWaitForItAndForTheWayOn) {
  const LabelledNet net = net_of(5, {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {2, 4}});
  EXPECT_FALSE(judge(net, "dual-path", 2, ForkModel::Apart, false, 2).acyclic);
  EXPECT_TRUE(judge(net, "dual-path", 2, ForkModel::Apart, false, 4).is_safe());
}

// Two that fork at the middle of a star to the same two leaves have one of them each.
TEST(MulticastVerdict, BranchesOfOneForkAreGrantedOneByOne) {
  const LabelledNet net = net_of(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  EXPECT_FALSE(judge(net, "up-down-tree", 2, ForkModel::Whole).acyclic);
  for (const ForkModel model : {ForkModel::Apart, ForkModel::Next})
    EXPECT_TRUE(judge(net, "up-down-tree", 2, model).acyclic) << "as published: taken together";
  // On a line only the middle's own messages fork, from a second channel of its host on.
  const LabelledNet line = net_of(3, {{0, 1}, {0, 2}});
  EXPECT_TRUE(judge(line, "up-down-tree", 2, ForkModel::Whole).acyclic);
  EXPECT_FALSE(judge(line, "up-down-tree", 2, ForkModel::Whole, false, 2).acyclic);
}

TEST(MulticastVerdict, AChannelToTheHostForEachLaneIntoASwitchIsEnough) {
  for (const LabelledNet& net : meshes()) {
    for (const char* name : {"dual-path", "multi-path", "pm", "label-path"}) {
      for (const unsigned channels : {1, 2, 3})
        EXPECT_FALSE(judge(net, name, 2, ForkModel::Apart, false, channels).acyclic) << name;
      EXPECT_TRUE(judge(net, name, 2, ForkModel::Apart, false, 4).is_safe()) << name;
    }
    for (const unsigned channels : {1, 7})
      EXPECT_FALSE(judge(net, "dual-path-adaptive", 2, ForkModel::Apart, true, channels).acyclic);
    EXPECT_FALSE(judge(net, "double-channel", 2, ForkModel::Next, false, 1).acyclic);
    EXPECT_TRUE(judge(net, "double-channel", 2, ForkModel::Next, false, 8).acyclic);
    EXPECT_TRUE(judge(net, "dual-path-adaptive", 2, ForkModel::Apart, true, 8).is_safe());
  }
}

// Whoever is at his end waits for nothing more.
TEST(MulticastVerdict, OneChannelToTheHostIsEnoughForOneDestination) {
  for (const LabelledNet& net : meshes()) {
    EXPECT_TRUE(judge(net, "separate", 2, ForkModel::Apart, false, 1).is_safe());
    EXPECT_TRUE(judge(net, "xy-adaptive", 2, ForkModel::Apart, true, 1).is_safe());
    for (const char* name : {"tree-xy", "up-down-tree"})
      EXPECT_TRUE(judge(net, name, 2, ForkModel::Apart, false, 1).acyclic) << name;
  }
}

// On 4 x 4 switches, both in the north-east quadrant of their sources:
//
//   y=2  .  a  b  .     one from (0,1) forks at (1,1) and (2,1): it has the channel to a and waits
//   y=1  V  +--+  .     for the one to b;
//   y=0  W  +--+  .     one from (0,0) forks at (1,0) and (2,0): it has the one to b and waits for
//                       the one to a.
//
// Each branch stands still as long as the other branch of its message does.
TEST(MulticastVerdict, TwoMessagesOfOneQuadrantLockInLockStep) {
  const LabelledNet& net = meshes()[0];
  const auto path = [&](Node from, Node to) {
    const std::vector<Node> one{to};
    return trace_multicast(net, *find_multicast_algorithm("separate"), from, one).front().channels;
  };
  const Node a = net.at(1, 2), b = net.at(2, 2);
  const auto v_a = path(net.at(0, 1), a), v_b = path(net.at(0, 1), b);
  const auto w_a = path(net.at(0, 0), a), w_b = path(net.at(0, 0), b);
  std::set<PortIdx> v_holds(v_a.begin(), v_a.end()), w_holds(w_b.begin(), w_b.end());
  v_holds.insert(v_b.begin(), v_b.end() - 1);
  w_holds.insert(w_a.begin(), w_a.end() - 1);
  for (const PortIdx channel : v_holds) EXPECT_FALSE(w_holds.contains(channel));
  EXPECT_TRUE(w_holds.contains(v_b.back())) << "what the one waits for";
  EXPECT_TRUE(v_holds.contains(w_a.back())) << "what the other waits for";
  // What lies right behind forks does not show it; all that lies further down does.
  EXPECT_FALSE(judge(net, "double-channel", 2, ForkModel::Whole).acyclic);
}

}  // namespace
}  // namespace smd::sim
