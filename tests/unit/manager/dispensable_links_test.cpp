// Which links the switches can do without together: compared with leaving out one after the other.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim-backend/topology/snapshot.h"
#include "smd/base/rng.h"
#include "smd/manager/effective_settings.h"

namespace smd::test {
namespace dispensable_links_test {

using Links = std::map<PortRef, std::string>;

/// Each that leaves every switch reached, without those before it that did.
Links leave_out_one_by_one(const SweepReport& found, const Links& links) {
  Links out;
  for (const auto& link : links) {
    const auto added = out.insert(link).first;
    if (leave_out_links(found, out).fabric->switch_count() != found.fabric->switch_count())
      out.erase(added);
  }
  return out;
}

constexpr unsigned kPorts = 12;

class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : rng_(seed) {}

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(rng_.below(n)); }

  bool chance(double p) { return rng_.chance(p); }

  void add(NodeType type) {
    const auto at = static_cast<std::uint32_t>(spec_.nodes.size());
    // Numbers say nothing of the order of GUIDs.
    const Guid guid{std::uint64_t{below(1u << 20)} << 16 | at};
    sim::add_node(spec_, type, std::to_string(at), guid, type == NodeType::Ca ? 2 : kPorts);
    used_.push_back(0);
  }

  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t needed = a == b ? 2 : 1;
    for (const std::uint32_t node : {a, b}) {
      if (used_[node] + needed > spec_.nodes[node].num_ports()) return;
    }
    const PortNum from{static_cast<std::uint8_t>(++used_[a])};
    sim::connect(spec_, a, from, b, PortNum{static_cast<std::uint8_t>(++used_[b])});
  }

  /// The manager's node is the first: an adapter or a switch.
  SweepReport irregular() {
    const std::uint32_t switches = 1 + below(12);
    const std::uint32_t first = chance(0.7) ? 1 : 0;
    if (first == 1) add(NodeType::Ca);
    for (std::uint32_t sw = 0; sw < switches; ++sw) add(NodeType::Switch);
    if (first == 1) join(0, first + below(switches));
    for (std::uint32_t sw = 1; sw < switches; ++sw) join(first + sw, first + below(sw));
    const std::uint32_t more = below(2 * switches);
    for (std::uint32_t i = 0; i < more; ++i) join(first + below(switches), first + below(switches));
    const std::uint32_t hosts = below(4);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      add(NodeType::Ca);
      join(first + switches + host, first + below(switches));
    }
    return found();
  }

  SweepReport ring(std::uint32_t switches) {
    for (std::uint32_t sw = 0; sw < switches; ++sw) add(NodeType::Switch);
    for (std::uint32_t sw = 0; sw < switches; ++sw) join(sw, (sw + 1) % switches);
    return found();
  }

  /// Ends of links, of cables to hosts as well, and some that are not there.
  Links links(const Fabric& fabric, double share) {
    Links out;
    for (const PortIdx port : fabric.peer.indices()) {
      const PortNum number = fabric.number_of(port);
      if (number != PortNum{0} && chance(share))
        out[{fabric.node_guid[fabric.node_of[port]], number}] = std::to_string(port.value());
    }
    if (chance(0.2)) out[{Guid{0xffffffffff}, PortNum{1}}] = "nobody";
    if (chance(0.2)) out[{fabric.node_guid[NodeIdx{0}], PortNum{200}}] = "no such port";
    return out;
  }

 private:
  SweepReport found() {
    spec_.sm_node = 0;
    spec_.sm_port =
        PortNum{spec_.nodes[0].type == NodeType::Switch ? std::uint8_t{0} : std::uint8_t{1}};
    SweepReport drawn;
    drawn.fabric = sim::build_snapshot(spec_);
    IndexVector<NodeIdx, HopPath> path;
    path.resize(drawn.fabric->node_count());
    drawn.path = std::move(path);
    return leave_out(drawn, {});  // which fills in the paths
  }

  Rng rng_;
  sim::FabricSpec spec_;
  std::vector<std::uint32_t> used_;  // ports, by node
};

TEST(DispensableLinks, AreThoseThatCanBeLeftOutOneByOne) {
  std::size_t needed = 0, dispensable = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Drawing drawing(seed);
    const SweepReport found = drawing.irregular();
    for (const double share : {0.1, 0.5, 1.0}) {
      const Links links = drawing.links(*found.fabric, share);
      const Links out = find_dispensable(found, links);
      ASSERT_EQ(out, leave_out_one_by_one(found, links)) << "seed " << seed << ", share " << share;
      needed += links.size() - out.size();
      dispensable += out.size();
    }
  }
  EXPECT_GT(needed, 500u);
  EXPECT_GT(dispensable, 500u);
}

// Directed routes have at most 63 hops.
TEST(DispensableLinks, LeaveNobodyBeyondTheReachOfDirectedRoutes) {
  Drawing drawing(1);
  const SweepReport found = drawing.ring(100);
  const Fabric& fabric = *found.fabric;
  ASSERT_EQ(fabric.switch_count(), 100u);
  std::size_t far = 0;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const PortRef end{fabric.node_guid[fabric.switch_node[sw]], PortNum{1}};
    far += find_dispensable(found, {{end, ""}}).size();
  }
  EXPECT_EQ(far, 28u) << "links beyond which nobody is further than that";
  for (int i = 0; i < 30; ++i) {
    const Links links = drawing.links(fabric, 0.01);
    ASSERT_EQ(find_dispensable(found, links), leave_out_one_by_one(found, links)) << i;
  }
}

}  // namespace dispensable_links_test
}  // namespace smd::test
