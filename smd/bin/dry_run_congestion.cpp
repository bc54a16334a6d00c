#include "smd/bin/dry_run_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim-backend/agents/node_state.h"

namespace smd::bin {
namespace {

std::size_t count_confirmed(const CcManager& cc_manager) {
  return static_cast<std::size_t>(std::ranges::count_if(
      cc_manager.agents(), [](const auto& item) { return item.second.agent.is_confirmed(); }));
}

void print_switch(const sim::CongestionState& state, std::string& out) {
  out += fmt::format("  {}\n", cc::print_switch_setting(state.switch_setting));
  for (std::size_t port = 0; port < state.port_settings.size(); ++port) {
    const cc::PortSetting& own = state.port_settings[port];
    if (!own.valid) continue;
    out += fmt::format("  port {}: threshold={}{} packet_size={} marking_rate={}\n",
                       port,
                       own.threshold,
                       own.starvation ? " of credit starvation" : "",
                       own.packet_size,
                       own.marking_rate);
  }
}

void print_adapter(const sim::CongestionState& state, std::string& out) {
  out += fmt::format("  {}\n", cc::print_ca_setting(state.ca_setting));
  std::string table;
  for (std::size_t i = 0; i <= state.ccti_limit; ++i) {
    const cc::CctEntry entry = state.delay_at(i);
    table += fmt::format(" {}:{}", entry.shift, entry.multiplier);
  }
  out += fmt::format("  table{}\n", table);
}

}  // namespace

nlohmann::ordered_json congestion_report(const CcManager& cc_manager, const CongestionCost& cost) {
  return {{"agents", cc_manager.agents().size()},
          {"confirmed", count_confirmed(cc_manager)},
          {"gets", cost.gets},
          {"sets", cost.sets},
          {"plan", cc::print_plan(cc_manager.plan())},
          {"refusal", cc_manager.plan().refusal},
          {"alarms", cc_manager.alarms()}};
}

std::string print_congestion(const CcManager& cc_manager, const CongestionCost& cost) {
  std::string out = "congestion control:\n";
  for (const std::string& line : cc::print_plan(cc_manager.plan())) out += "  " + line + "\n";
  for (const std::string& line : cc_manager.alarms()) out += "  " + line + "\n";
  return out + fmt::format("  {} of {} agents hold it; {} Gets, {} Sets\n",
                           count_confirmed(cc_manager),
                           cc_manager.agents().size(),
                           cost.gets,
                           cost.sets);
}

std::string print_congestion_cost(const CongestionCost& cost) {
  return fmt::format("  congestion control: {} Gets, {} Sets\n", cost.gets, cost.sets);
}

std::string print_congestion_registers(const sim::SimFabric& fabric) {
  std::string out;
  for (std::uint32_t node = 0; node < fabric.spec().nodes.size(); ++node) {
    const sim::NodeSpec& spec = fabric.spec().nodes[node];
    const bool is_switch = spec.type == NodeType::Switch;
    for (unsigned port = is_switch ? 0 : 1; port <= (is_switch ? 0 : spec.num_ports()); ++port) {
      const PortNum number{static_cast<std::uint8_t>(port)};
      out += fmt::format("{} {} port {}\n", spec.guid, spec.description, port);
      const sim::CongestionState& state = fabric.node_state(node).congestion(number);
      is_switch ? print_switch(state, out) : print_adapter(state, out);
    }
  }
  return out;
}

}  // namespace smd::bin
