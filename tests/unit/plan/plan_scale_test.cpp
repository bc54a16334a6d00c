// One failed cable in a fat tree of 1,620 switches and 11,664 hosts, and its bring-up: the plan
// holds. What it costs is bench_change's.
#include <gtest/gtest.h>

#include "smd/fabric/builder.h"
#include "smd/plan/make/planner.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/policy/lid_assignment.h"
#include "smd/routing/engine.h"
#include "tests/support/port_num.h"

namespace smd {
namespace {

using test::port_num;

constexpr unsigned kRadix = 36, kHalf = kRadix / 2;

struct Ends {
  NodeIdx a, b;
  unsigned port_a, port_b;
};

/// Without the cable between the first pod's switches `aggregate` and core 0, when asked to.
std::shared_ptr<const Fabric> build_fat_tree(bool blocked_sls) {
  FabricBuilder builder;
  std::uint64_t guid = 0;
  const auto add = [&](NodeType type, unsigned ports) {
    NodeInfo info;
    info.node_type = static_cast<std::uint8_t>(type);
    info.num_ports = static_cast<std::uint8_t>(ports);
    info.node_guid = info.port_guid = Guid{++guid};
    info.local_port = port_num(1);
    const NodeIdx node = builder.add_node(info);
    PortInfo active;
    active.port_state = static_cast<std::uint8_t>(PortState::Active);
    for (unsigned p = 0; p <= ports; ++p) builder.set_port_info(node, port_num(p), active);
    return node;
  };
  std::vector<NodeIdx> cores;
  for (unsigned c = 0; c < kHalf * kHalf; ++c) cores.push_back(add(NodeType::Switch, kRadix));
  for (unsigned pod = 0; pod < kRadix; ++pod) {
    std::vector<NodeIdx> aggregates;
    for (unsigned a = 0; a < kHalf; ++a) {
      aggregates.push_back(add(NodeType::Switch, kRadix));
      for (unsigned c = 0; c < kHalf; ++c) {
        if (blocked_sls && pod == 0 && a == 0 && c == 0) continue;
        builder.add_link(
            aggregates[a], port_num(kHalf + c + 1), cores[a * kHalf + c], port_num(pod + 1));
      }
    }
    for (unsigned l = 0; l < kHalf; ++l) {
      const NodeIdx leaf = add(NodeType::Switch, kRadix);
      for (unsigned a = 0; a < kHalf; ++a)
        builder.add_link(leaf, port_num(kHalf + a + 1), aggregates[a], port_num(l + 1));
      for (unsigned h = 0; h < kHalf; ++h)
        builder.add_link(leaf, port_num(h + 1), add(NodeType::Ca, 1), port_num(1));
    }
  }
  builder.set_sm_port(cores[0], PortNum{0});
  return builder.build(Epoch{1});
}

void plan_and_check(const char* what, const TransitionTask& task) {
  SCOPED_TRACE(what);
  const TransitionPlan plan = plan_transition(task, {});
  EXPECT_EQ(check_transition(task, plan).fault, "");
  EXPECT_TRUE(plan.certified()) << plan.why;
}

TEST(PlanScale, OneCableOfAFatTree) {
  const auto whole = build_fat_tree(false), blocked_sls = build_fat_tree(true);
  const LidMap lids = assign_lids(*whole, {}, {}).value().map;
  const Engine& engine = *find_engine("updn");
  const RoutingTables before = engine.compute(*whole, lids, {}).value();
  const Orientation* orientation = before.orientation.rank.empty() ? nullptr : &before.orientation;
  const PreviousRoutes in_force{whole.get(), &lids, &before};
  const RoutingTables fresh = engine.compute(*blocked_sls, lids, {.previous = orientation}).value();
  const RoutingTables sticky =
      engine.compute(*blocked_sls, lids, {.previous = orientation, .in_force = &in_force}).value();
  const auto task = [&](const RoutingTables& wanted) {
    return TransitionTask{.fabric = blocked_sls.get(),
                          .lids = &lids,
                          .held = &before.lft,
                          .wanted = &wanted.lft,
                          .unknown = {},
                          .blocked = {},
                          .orientation = &wanted.orientation};
  };
  plan_and_check("nothing", task(before));
  plan_and_check("routes kept where they hold", task(sticky));
  plan_and_check("routes made from scratch", task(fresh));
}

TEST(PlanScale, BringUp) {
  const auto fabric = build_fat_tree(false);
  const LidMap lids = assign_lids(*fabric, {}, {}).value().map;
  const RoutingTables wanted = find_engine("updn")->compute(*fabric, lids, {}).value();
  const ForwardingTables none{fabric->switch_count(), wanted.lft.top()};
  auto quiet = *fabric;
  for (PortInfo& info : quiet.port_info) {
    if (info.state() == PortState::Active)
      info.port_state = static_cast<std::uint8_t>(PortState::Initialize);
  }
  plan_and_check("bring-up",
                 {.fabric = &quiet,
                  .lids = &lids,
                  .held = &none,
                  .wanted = &wanted.lft,
                  .unknown = {},
                  .blocked = {},
                  .orientation = &wanted.orientation});
}

}  // namespace
}  // namespace smd
