// Which algorithms are free of circles: all sources and all small sets of destinations.
#include "sim-backend/multicast/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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
                      bool escape = false) {
  return check_multicast(net, *find_multicast_algorithm(name), most, branches, escape);
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
