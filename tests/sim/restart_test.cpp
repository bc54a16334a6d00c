// A manager that dies while turns are blocked: the next one knows of them and opens them.
#include <gtest/gtest.h>

#include "sim-backend/agents/node_state.h"
#include "tests/support/cables.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace restart_test {

Settings cutting() {
  Settings settings = default_settings();
  settings.strategy =
      make_strategy(parse_reconfiguration_mode("partial+fera+cut-dependencies+delta").value());
  return settings;
}

/// One fabric, several lives of the manager.
struct Lives : testing::Test, TimedFabric {
  Lives() : TimedFabric(spec_of("torus:dims=4.4")) {}

  void live(Settings settings) {
    life.emplace(*this, SimulatedSubnetOptions{.settings = std::move(settings), .kept = kept});
    life->manager.start();
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
    for (const Cable& cable : cables_between_switches(fabric.spec())) {
      for (const bool up : {false, true}) {
        fabric.set_link(cable.node, cable.port, up);
        if (!run_until([this] { return !blocked().empty(); }, std::chrono::seconds(1))) continue;
        die();
        return true;
      }
    }
    return false;
  }

  void die() {
    kept = life->kept();
    life.reset();
  }

  PersistentState kept;
  std::optional<SimulatedManager> life;
};

TEST_F(Lives, TurnsThatOneLeftBlockedAreOpenedByTheNext) {
  live(cutting());
  ASSERT_TRUE(life->settle_up());
  EXPECT_TRUE(life->kept().turns.empty());
  ASSERT_TRUE(die_with_blocked_turns());
  for (const TurnRef& turn : blocked())
    EXPECT_TRUE(std::ranges::count(kept.turns, turn)) << "written down before it was blocked";

  live(default_settings());
  ASSERT_TRUE(life->settle_up());
  EXPECT_TRUE(blocked().empty());
  EXPECT_TRUE(life->kept().turns.empty()) << "nothing is left to be opened";
}

}  // namespace restart_test
}  // namespace smd::test
