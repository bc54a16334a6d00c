// A manager that dies while turns are blocked: the next one knows of them and opens them.
#include <gtest/gtest.h>

#include "sim-backend/agents/node_state.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

Settings cutting() {
  Settings settings = WorldOptions::default_settings();
  settings.mode = parse_reconfiguration_mode("partial+fera+cut-dependencies+delta").value();
  return settings;
}

/// One fabric, several lives of the manager.
struct Lives : testing::Test {
  std::unique_ptr<SubnetManager> live(Settings settings) {
    manager.reset();
    port.emplace(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
    SubnetManager::Observer observer;
    observer.on_lids = [this](const LidBook& book) { kept.book = book; };
    observer.on_turns = [this](const std::vector<TurnRef>& turns) { kept.turns = turns; };
    return std::make_unique<SubnetManager>(
        runtime, *port, std::move(settings), kept, std::move(observer));
  }

  bool settle_up() {
    return runtime.run_while_not(
        [this] {
          return manager->last_cycle() != nullptr && manager->last_cycle()->up() &&
                 manager->at_rest();
        },
        runtime.now() + Duration(std::chrono::minutes(5)));
  }

  /// Rows of all switches that discard every SL.
  [[nodiscard]] std::vector<TurnRef> blocked() const {
    SlToVl row;
    row.fill(kManagementVl);
    std::vector<TurnRef> out;
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
      const sim::NodeSpec& node = fabric.spec().nodes[n];
      if (node.type != NodeType::Switch) continue;
      for (unsigned in = 0; in <= node.num_ports(); ++in) {
        for (unsigned to = 0; to <= node.num_ports(); ++to) {
          const PortNum i{static_cast<std::uint8_t>(in)};
          const PortNum o{static_cast<std::uint8_t>(to)};
          if (fabric.sl_to_vl(n, i, o) == row) out.push_back({node.guid, i, o});
        }
      }
    }
    std::ranges::sort(out);
    return out;
  }

  /// Takes one cable after the other until the manager blocks a turn for it; it dies there.
  bool die_with_blocked_turns() {
    for (std::uint32_t n = 0; n < fabric.spec().nodes.size(); ++n) {
      const sim::NodeSpec& node = fabric.spec().nodes[n];
      for (unsigned p = 1; p <= node.num_ports(); ++p) {
        const std::uint32_t peer = node.ports[p].peer_node;
        if (node.type != NodeType::Switch || peer == sim::kNoNode || peer < n ||
            fabric.spec().nodes[peer].type != NodeType::Switch)
          continue;
        for (const bool up : {false, true}) {
          fabric.set_link(n, PortNum{static_cast<std::uint8_t>(p)}, up);
          const bool hit = runtime.run_while_not([this] { return !blocked().empty(); },
                                                 runtime.now() + Duration(std::chrono::seconds(1)));
          if (hit) return manager.reset(), true;
        }
      }
    }
    return false;
  }

  sim::SimRuntime runtime;
  sim::SimFabric fabric{runtime, spec_of("torus:dims=4.4"), sim::Timing::modern(), 1};
  std::optional<sim::SimTransport> port;
  PersistentState kept;
  std::unique_ptr<SubnetManager> manager;
};

TEST_F(Lives, TurnsThatOneLeftBlockedAreOpenedByTheNext) {
  manager = live(cutting());
  manager->start();
  ASSERT_TRUE(settle_up());
  EXPECT_TRUE(kept.turns.empty());
  ASSERT_TRUE(die_with_blocked_turns());
  for (const TurnRef& turn : blocked())
    EXPECT_TRUE(std::ranges::count(kept.turns, turn)) << "written down before it was blocked";

  manager = live(WorldOptions::default_settings());
  manager->start();
  ASSERT_TRUE(settle_up());
  EXPECT_TRUE(blocked().empty());
  EXPECT_TRUE(kept.turns.empty()) << "nothing is left to be opened";
}

}  // namespace
}  // namespace smd::test
