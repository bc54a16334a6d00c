// The form of the thesis on its own example: the very requests of its tables, with their ways back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/discovery/light_sweep.h"
#include "smd/policy/port_policy.h"
#include "tests/sim/partial_lab.h"

namespace smd::test {
namespace {

using ::testing::UnorderedElementsAreArray;

struct Example : PartialLab {
  explicit Example(const std::string& name, std::vector<std::string> off = {})
      : PartialLab(sim::load_fabric("example:name=" + name).value(),
                   {.timing = sim::Timing::thesis()}) {
    for (const std::string& late : off) fabric.set_node(node(late), false);
    bring_up(true);
  }

  Result<PartialReport> look() {
    next_lid = static_cast<std::uint16_t>(lids.top.value() + 1);
    return partial(
        {}, {.requests = RequestSet::Thesis, .set_end_port = [this](Guid, const PortInfo& now) {
               PortInfo wanted = now;
               wanted.lid = Lid{next_lid++};
               wanted.master_sm_lid = Lid{1};
               return std::optional(set_body(wanted, PortState::NoChange));
             }});
  }

  std::uint16_t next_lid = 0;
};

/// Switch 16 with its two hosts comes to the network of eight switches.
struct Activation : Example {
  Activation() : Example("fig68", {"node-16", "node-17", "node-18"}) {
    for (const char* name : {"node-16", "node-17", "node-18"}) fabric.set_node(node(name), true);
  }
};

TEST(LiteralPartialDiscovery, LidsAreTheLabelsOfTheExample) {
  Example lab("fig67");
  for (const NodeIdx n : lab.known.fabric->node_guid.indices()) {
    const Fabric& f = *lab.known.fabric;
    const PortIdx own = f.is_switch(n) ? f.port_of(n, PortNum{0}) : f.port_of(n, port(1));
    EXPECT_EQ(lab.guid(fmt::format("node-{}", lab.lids.base[own].value())), f.node_guid[n]);
  }
}

TEST(LiteralPartialDiscovery, NothingChangedIsTheSweepAlone) {
  Example lab("fig67");
  const auto found = lab.look();
  ASSERT_TRUE(found);
  EXPECT_THAT(lab.transport.requests(),
              UnorderedElementsAreArray({"Get SI 1→2 [2→1]",
                                         "Get SI 1→3 [3→1]",
                                         "Get SI 1→4 [4→1]",
                                         "Get SI 1→5 [5→1]",
                                         "Get SI 1→6 [6→1]",
                                         "Get SI 1→8 [8→1]",
                                         "Get SI 1→9 [9→1]",
                                         "Get SI 1→10 [10→1]"}));
  EXPECT_TRUE(found->delta.empty());
  EXPECT_EQ(find_difference(lab.known, found->sweep), "");
}

TEST(LiteralPartialDiscovery, ActivationTakesThe35RequestsOfTable14) {
  Activation lab;
  const auto before = lab.client.stats().requests();
  const auto found = lab.look();
  ASSERT_TRUE(found);
  EXPECT_EQ(lab.client.stats().requests() - before, 35u);
  EXPECT_THAT(lab.transport.requests(),
              UnorderedElementsAreArray({
                  "Get SI 1→2 [2→1]",
                  "Get SI 1→3 [3→1]",
                  "Get SI 1→4 [4→1]",
                  "Get SI 1→5 [5→1]",
                  "Get SI 1→6 [6→1]",
                  "Get SI 1→8 [8→1]",
                  "Get SI 1→9 [9→1]",
                  "Get SI 1→10 [10→1]",
                  "Set SI 1→8 [8→1]",
                  "Get PI 1 1→8 [8→1]",
                  "Get PI 2 1→8 [8→1]",
                  "Get PI 3 1→8 [8→1]",
                  "Get PI 4 1→8 [8→1]",
                  "Set SI 1→9 [9→1]",
                  "Get PI 1 1→9 [9→1]",
                  "Get PI 2 1→9 [9→1]",
                  "Get PI 3 1→9 [9→1]",
                  "Get PI 4 1→9 [9→1]",
                  "Get NI 1→8,(3) [(2),8→1]",
                  "Get NI 1→9,(3) [(4),9→1]",
                  "Get SI 1→8,(3) [(2),8→1]",
                  "Get PI 0 1→8,(3) [(2),8→1]",
                  "Get PI 1 1→8,(3) [(2),8→1]",
                  "Get PI 2 1→8,(3) [(2),8→1]",
                  "Get PI 3 1→8,(3) [(2),8→1]",
                  "Get PI 4 1→8,(3) [(2),8→1]",
                  "Set PI 0 1→8,(3) [(2),8→1]",
                  "Get NI 1→8,(3,1) [(1,2),8→1]",
                  "Get NI 1→8,(3,2) [(3,2),8→1]",
                  "Get NI 1→8,(3,3) [(1,2),8→1]",
                  "Get NI 1→8,(3,4) [(3,2),8→1]",
                  "Get PI 1 1→8,(3,1) [(1,2),8→1]",
                  "Get PI 1 1→8,(3,3) [(1,2),8→1]",
                  "Set PI 1 1→8,(3,1) [(1,2),8→1]",
                  "Set PI 1 1→8,(3,3) [(1,2),8→1]",
              }));
  EXPECT_EQ(lab.client.stats().timeouts, 0u);
  EXPECT_THAT(
      found->delta.nodes_new,
      ::testing::ElementsAre(lab.guid("node-16"), lab.guid("node-17"), lab.guid("node-18")));
  EXPECT_EQ(found->delta.ports_up.size(), 8u);
  EXPECT_TRUE(found->delta.ports_down.empty());
  EXPECT_EQ(lab.fabric.port_info(lab.node("node-16"), PortNum{0}).lid, Lid{16});
}

TEST(LiteralPartialDiscovery, DeathOfSwitch3TakesThe26RequestsOfTable15) {
  Example lab("fig67");
  lab.fabric.set_node(lab.node("node-3"), false);
  const auto before = lab.client.stats().requests();
  const TimePoint began = lab.runtime.now();
  const auto found = lab.look();
  ASSERT_TRUE(found);
  EXPECT_EQ(lab.client.stats().requests() - before, 26u);
  // Routes of Table 13: 6 is 1→4,(4); 10 is 1→4,(4,3); 5 is 1→4,(4,3,1).
  EXPECT_THAT(lab.transport.requests(),
              UnorderedElementsAreArray({
                  "Get SI 1→2 [2→1]",
                  "Get SI 1→3 []",
                  "Get SI 1→4 [4→1]",
                  "Get SI 1→5 []",
                  "Get SI 1→6 []",
                  "Get SI 1→8 [8→1]",
                  "Get SI 1→9 [9→1]",
                  "Get SI 1→10 []",
                  "Set SI 1→2 [2→1]",
                  "Get PI 1 1→2 [2→1]",
                  "Get PI 2 1→2 [2→1]",
                  "Get PI 3 1→2 [2→1]",
                  "Get PI 4 1→2 [2→1]",
                  "Get SI 1→4,(4) [(2),4→1]",
                  "Set SI 1→4,(4) [(2),4→1]",
                  "Get PI 1 1→4,(4) [(2),4→1]",
                  "Get PI 2 1→4,(4) [(2),4→1]",
                  "Get PI 3 1→4,(4) [(2),4→1]",
                  "Get PI 4 1→4,(4) [(2),4→1]",
                  "Get SI 1→4,(4,3) [(2,2),4→1]",
                  "Get SI 1→4,(4,3,1) [(1,2,2),4→1]",
                  "Set SI 1→4,(4,3,1) [(1,2,2),4→1]",
                  "Get PI 1 1→4,(4,3,1) [(1,2,2),4→1]",
                  "Get PI 2 1→4,(4,3,1) [(1,2,2),4→1]",
                  "Get PI 3 1→4,(4,3,1) [(1,2,2),4→1]",
                  "Get PI 4 1→4,(4,3,1) [(1,2,2),4→1]",
              }));
  // Those that were marked missing were not waited for.
  EXPECT_EQ(lab.client.stats().retries, 0u);
  EXPECT_LT(lab.runtime.now() - began, Duration(std::chrono::milliseconds(20)));
  EXPECT_THAT(found->delta.nodes_gone,
              ::testing::UnorderedElementsAre(lab.guid("node-3"), lab.guid("node-7")));
  EXPECT_EQ(find_difference(lab.full(), found->sweep), "");
}

// 123 in the thesis: 8 of the sweep that noticed, 1 that cleared the first PortStateChange, and 114
// of the discovery from nothing.
TEST(LiteralFullDiscovery, ActivationTakes123WithTheSweep) {
  Activation lab;
  const auto requests = [&] { return lab.client.stats().requests(); };
  const auto before = requests();
  LightSweep poll(lab.runtime, lab.client, {}, true);
  std::optional<LightSweepReport> seen;
  poll.start(
      *lab.known.fabric, lab.lids, [&](LightSweepReport report) { seen = std::move(report); });
  lab.run_until([&] { return seen.has_value(); }, std::chrono::minutes(1));
  ASSERT_TRUE(seen);
  EXPECT_EQ(requests() - before, 8u + 1u);
  EXPECT_EQ(seen->changed.size(), 1u);
  const auto swept = requests();
  lab.full(true);
  EXPECT_EQ(requests() - swept, 114u);
  EXPECT_EQ(requests() - before, 123u);
}

}  // namespace
}  // namespace smd::test
