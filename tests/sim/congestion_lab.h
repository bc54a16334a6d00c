// A whole subnet with its congestion control in virtual time. What the agents hold is read from
// their registers, not from what the manager believes.
#pragma once

#include <set>
#include <string>

#include "sim-backend/agents/node_state.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {

using sim::CongestionState;
using std::chrono_literals::operator""s;

/// On a fat tree of 8 hosts, 2 at each of 4 leaves, unless it is told otherwise.
struct Subnet : SimulatedSubnet {
  explicit Subnet(const cc::Options& options = wish(),
                  const std::string& text = "fat-tree:k=4,levels=2")
      : SimulatedSubnet(spec_of(text), {.settings = settings_of(options)}) {}

  static cc::Options wish() {
    cc::Options options;
    options.enabled = true;
    options.log_interval_s = 0;
    return options;
  }

  static Settings settings_of(const cc::Options& options) {
    Settings settings = quiet_settings();
    settings.congestion = options;
    return settings;
  }

  bool settle() { return SimulatedSubnet::settle(manager.cycles() == 0 ? 1 : 0); }

  void start() { ASSERT_TRUE(SimulatedSubnet::start()); }

  /// After a fault that is reported, or a command.
  void sweep() {
    manager.request_sweep("test");
    ASSERT_TRUE(settle());
  }

  [[nodiscard]] const CongestionState& at(std::uint32_t node) const {
    return fabric.node_state(node).congestion(PortNum{1});
  }

  [[nodiscard]] bool is_switch(std::uint32_t node) const {
    return fabric.spec().nodes[node].type == NodeType::Switch;
  }

  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(fabric.spec().nodes.size());
  }

  /// The n-th switch or host of the drawing.
  [[nodiscard]] std::uint32_t nth(bool of_switches, unsigned n) const {
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      if (is_switch(node) == of_switches && n-- == 0) return node;
    }
    return sim::kNoNode;
  }

  [[nodiscard]] Guid guid(std::uint32_t node) const { return fabric.spec().nodes[node].guid; }

  [[nodiscard]] std::uint64_t mads() const {
    return cc_manager.stats().gets + cc_manager.stats().sets;
  }
};

/// Every node but those in `except` holds the plan of its subnet; the message names the first that
/// does not.
inline std::string find_unset(const Subnet& subnet, const std::set<std::uint32_t>& except = {}) {
  const cc::Plan plan =
      cc::build_plan(cc::read_facts(subnet.manager.in_force()->fabric(), {}), Subnet::wish());
  const cc::RatePlan& rate = plan.rates.at(0);
  for (std::uint32_t node = 0; node < subnet.nodes(); ++node) {
    if (except.contains(node)) continue;
    const std::string& name = subnet.fabric.spec().nodes[node].description;
    const CongestionState& state = subnet.at(node);
    if (subnet.is_switch(node)) {
      for (unsigned p = 1; p <= subnet.fabric.spec().nodes[node].num_ports(); ++p) {
        const PortNum port{static_cast<std::uint8_t>(p)};
        const std::uint32_t far = subnet.fabric.spec().nodes[node].ports[p].peer_node;
        const bool host = far != sim::kNoNode && !subnet.is_switch(far);
        const bool up = subnet.fabric.link_up(node, port);
        if (state.switch_setting.victim_mask.test(port) != (host && up)) return name + " victims";
        if (state.rule_of(port).threshold != plan.switches.threshold) return name + " threshold";
        if (state.rule_of(port).marking_rate != plan.switches.marking_rate) return name + " rate";
      }
      continue;
    }
    if (state.ccti_limit != rate.limit()) return name + " limit";
    for (std::size_t i = 0; i < rate.table.size(); ++i) {
      if (state.delay_at(i) != rate.table[i]) return name + " table";
    }
    if (state.ca_setting.entries != rate.setting.entries) return name + " SLs";
  }
  return "";
}

}  // namespace smd::test
