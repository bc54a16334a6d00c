// Distribution SMPs of the eight-switch network, switch by switch: the row of Table 24 for 8
// switches, of which the thesis prints the means.
//
// The plans are made here by the rules behind that table, from the graph alone: a link is walked
// upwards towards the smaller distance that was stored when a switch was discovered; a switch with
// two ports upwards is a cut node; turns between such ports are forbidden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace {

enum class Mechanism { None, Dependencies, Ports, Full };

constexpr unsigned kSwitches[] = {2, 3, 5, 6, 8, 9, 10};

using Distances = std::map<Guid, unsigned>;  // stored: of switches

class Network {
 public:
  Network() : lab_("example:name=fig76", options()) {
    // The thesis' ports know no Armed: one Set takes them from Initialize to Active.
    lab_.tap.on_send = [this](const Smp& smp) {
      if (smp.method != Method::Set ||
          smp.attribute_id != static_cast<std::uint16_t>(AttributeId::PortInfo))
        return true;
      auto info = decode_port_info(smp.data);
      if (info->state() != PortState::Active) return true;
      info->port_state = static_cast<std::uint8_t>(PortState::Armed);
      Smp armed = smp;
      armed.transaction_id |= 0x80000000u;  // an answer that nobody waits for
      encode_port_info(*info, armed.data);
      MadPacket packet;
      encode_smp(armed, packet.mad);
      EXPECT_TRUE(lab_.port.send(packet));
      return true;
    };
  }

  void switch_node(unsigned label, bool on) {
    const std::uint32_t node = sim::find_node(lab_.fabric.spec(), fmt::format("node-{}", label));
    lab_.fabric.set_node(node, on);
    lab_.dead[node] = !on;
  }

  /// As it is now, with everything in force; blocked turns where the mechanism has them.
  void settle(Mechanism mechanism) {
    lab_.bring_up();
    store_distances(false);
    if (mechanism != Mechanism::Dependencies) return;
    TransitionPlan plan{.kind = TransitionKind::CutDependencies, .phases = {{}}};
    plan.phases[0].block = forbidden_turns();
    ASSERT_FALSE(run(plan, BlockChoice::Changed).plan_interrupted);
  }

  /// Takes the change in and counts the SMPs of its distribution.
  std::uint64_t assimilate(Mechanism mechanism) {
    const std::vector<bool> known = known_switches();
    lab_.discover();
    store_distances(!grown(known));
    TransitionPlan plan{.kind = TransitionKind::Unordered, .phases = {{}}};
    TransitionPhase& phase = plan.phases[0];
    phase.to_wanted = true;
    const std::vector<Turn> forbidden = forbidden_turns();
    const bool blocks = mechanism == Mechanism::Dependencies;
    for (const Turn& turn : turns()) {
      const bool is_new = initialises(turn.sw, turn.in) || initialises(turn.sw, turn.out);
      const bool bad = blocks && std::ranges::binary_search(forbidden, turn);
      const bool was_bad = is_blocked(turn);
      if (is_new || bad != was_bad) (bad ? phase.block : phase.restore).push_back(turn);
    }
    const Fabric& fabric = lab_.snapshot();
    for (PortIdx port : fabric.peer.indices()) {
      if (fabric.peer[port] == kNone<PortIdx>) continue;
      const bool active = fabric.port_info[port].state() == PortState::Active;
      const bool goes_down =
          mechanism == Mechanism::Full || (mechanism == Mechanism::Ports && is_lower_up_port(port));
      if (active && goes_down) phase.deactivate.push_back(port);
      if (!active || goes_down) phase.activate.push_back(port);
    }
    const ProgramReport report = run(plan, BlockChoice::Whole);
    EXPECT_FALSE(report.plan_interrupted) << report.plan_interrupted->why;
    EXPECT_EQ(report.fault_count, 0u);
    EXPECT_EQ(lab_.find_wrong_entry(lab_.routing.lft), "");
    EXPECT_EQ(lab_.find_false_claim(), "");
    EXPECT_EQ(lab_.find_inactive_port(), "");
    return report.turns.smps + report.deactivate.smps + report.tables.smps + report.activate.smps;
  }

 private:
  static LabOptions options() {
    LabOptions out{.timing = sim::Timing::none()};
    out.agents.lft_cap = 1024;
    return out;
  }

  ProgramReport run(const TransitionPlan& plan, BlockChoice blocks) {
    ProgramInput input = lab_.input();
    input.plan = &plan;
    input.blocks = blocks;
    input.writing = kThesisWriting;
    input.writing.one_set_activation = true;
    return lab_.program(input);
  }

  /// Devices that are re-routed get a new distance, known ones keep theirs.
  void store_distances(bool afresh) {
    if (afresh) stored_.clear();
    const Fabric& fabric = lab_.snapshot();
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      const NodeIdx node = fabric.switch_node[sw];
      stored_.emplace(fabric.node_guid[node], lab_.sweep.path[node].size());
    }
  }

  [[nodiscard]] std::vector<bool> known_switches() const {
    std::vector<bool> out;
    for (const sim::NodeSpec& node : lab_.fabric.spec().nodes)
      out.push_back(stored_.contains(node.guid));
    return out;
  }

  [[nodiscard]] bool grown(const std::vector<bool>& known) const {
    const Fabric& fabric = lab_.snapshot();
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      if (!known[lab_.sim_switch(sw)]) return true;
    }
    return false;
  }

  [[nodiscard]] bool leads_up(PortIdx port) const {
    const Fabric& fabric = lab_.snapshot();
    const PortIdx peer = fabric.peer[port];
    if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer]) ||
        !fabric.is_switch(fabric.node_of[port]))
      return false;
    return stored_.at(fabric.node_guid[fabric.node_of[peer]]) <
           stored_.at(fabric.node_guid[fabric.node_of[port]]);
  }

  /// Of a cut node: a port upwards that is not the highest-numbered one.
  [[nodiscard]] bool is_lower_up_port(PortIdx port) const {
    if (!leads_up(port)) return false;
    for (PortIdx other : lab_.snapshot().external_ports(lab_.snapshot().node_of[port])) {
      if (other > port && leads_up(other)) return true;
    }
    return false;
  }

  /// Ordered pairs of ports with a link, inside switches.
  [[nodiscard]] std::vector<Turn> turns() const {
    const Fabric& fabric = lab_.snapshot();
    std::vector<Turn> out;
    for (SwitchIdx sw : fabric.switch_node.indices()) {
      for (PortIdx in : fabric.external_ports(fabric.switch_node[sw])) {
        for (PortIdx to : fabric.external_ports(fabric.switch_node[sw])) {
          if (in != to && fabric.peer[in] != kNone<PortIdx> && fabric.peer[to] != kNone<PortIdx>)
            out.push_back({sw, fabric.number_of(in), fabric.number_of(to)});
        }
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Turn> forbidden_turns() const {
    const Fabric& fabric = lab_.snapshot();
    std::vector<Turn> out = turns();
    std::erase_if(out, [&](const Turn& turn) {
      const NodeIdx node = fabric.switch_node[turn.sw];
      return !leads_up(fabric.port_of(node, turn.in)) || !leads_up(fabric.port_of(node, turn.out));
    });
    return out;
  }

  [[nodiscard]] bool initialises(SwitchIdx sw, PortNum port) const {
    const Fabric& fabric = lab_.snapshot();
    return fabric.port_info[fabric.port_of(fabric.switch_node[sw], port)].state() ==
           PortState::Initialize;
  }

  [[nodiscard]] bool is_blocked(const Turn& turn) const {
    return lab_.fabric.sl_to_vl(lab_.sim_switch(turn.sw), turn.in, turn.out)[0] == kManagementVl;
  }

  ProgramLab lab_;
  Distances stored_;
};

std::vector<std::uint64_t> activations(Mechanism mechanism) {
  std::vector<std::uint64_t> out;
  for (unsigned label : kSwitches) {
    Network network;
    network.switch_node(label, false);
    network.settle(mechanism);
    network.switch_node(label, true);
    out.push_back(network.assimilate(mechanism));
  }
  return out;
}

std::vector<std::uint64_t> deactivations(Mechanism mechanism) {
  std::vector<std::uint64_t> out;
  for (unsigned label : kSwitches) {
    Network network;
    network.settle(mechanism);
    network.switch_node(label, false);
    out.push_back(network.assimilate(mechanism));
  }
  return out;
}

double mean(const std::vector<std::uint64_t>& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})) /
         static_cast<double>(counts.size());
}

using testing::ElementsAre;

TEST(Table24, ActivationWithoutDeactivation) {
  const auto counts = activations(Mechanism::None);
  EXPECT_THAT(counts, ElementsAre(162, 166, 150, 164, 140, 140, 150));
  EXPECT_NEAR(mean(counts), 153.14, 0.005);
}

TEST(Table24, ActivationWithCutNodeDependencies) {
  const auto counts = activations(Mechanism::Dependencies);
  EXPECT_THAT(counts, ElementsAre(162, 166, 150, 164, 140, 140, 150));
  EXPECT_NEAR(mean(counts), 153.14, 0.005);
}

TEST(Table24, ActivationWithCutNodePorts) {
  const auto counts = activations(Mechanism::Ports);
  EXPECT_THAT(counts, ElementsAre(164, 170, 152, 166, 144, 144, 152));
  EXPECT_NEAR(mean(counts), 156.00, 0.005);
}

TEST(Table24, ActivationWithFullDeactivation) {
  const auto counts = activations(Mechanism::Full);
  EXPECT_THAT(counts, ElementsAre(210, 206, 202, 212, 196, 196, 202));
  EXPECT_NEAR(mean(counts), 203.43, 0.005);
}

TEST(Table24, DeathWithoutDeactivation) {
  const auto counts = deactivations(Mechanism::None);
  EXPECT_THAT(counts, ElementsAre(112, 80, 112, 112, 112, 112, 112));
  EXPECT_NEAR(mean(counts), 107.43, 0.005);
}

TEST(Table24, DeathWithCutNodeDependencies) {
  const auto counts = deactivations(Mechanism::Dependencies);
  EXPECT_THAT(counts, ElementsAre(114, 80, 112, 112, 112, 112, 112));
  EXPECT_NEAR(mean(counts), 107.71, 0.005);
}

TEST(Table24, DeathWithCutNodePorts) {
  const auto counts = deactivations(Mechanism::Ports);
  EXPECT_THAT(counts, ElementsAre(112, 82, 114, 112, 116, 116, 114));
  EXPECT_NEAR(mean(counts), 109.43, 0.005);
}

TEST(Table24, DeathWithFullDeactivation) {
  const auto counts = deactivations(Mechanism::Full);
  EXPECT_THAT(counts, ElementsAre(160, 120, 164, 160, 168, 168, 164));
  EXPECT_NEAR(mean(counts), 157.71, 0.005);
}

}  // namespace
}  // namespace smd::test
