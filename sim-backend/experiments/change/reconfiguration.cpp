#include "sim-backend/experiments/change/reconfiguration.h"

#include <algorithm>
#include <map>

namespace smd::sim {
namespace {

/// The plans behind Tables 23 and 24, made from the graph alone by the rules of the thesis: a link
/// is walked upwards towards the smaller distance that was stored when a switch was discovered; a
/// switch with two ports upwards is a cut node; turns between such ports are forbidden.
class ThesisPlan {
 public:
  explicit ThesisPlan(const Subnet& subnet) : subnet_(subnet) {}

  /// After each discovery. Known switches keep their distance when the network grew; when it
  /// shrank, what was re-routed gets its new one.
  void learn();

  /// What the mechanism does about the change.
  [[nodiscard]] TransitionPlan plan(Mechanism mechanism) const;

  /// One phase that blocks what the mechanism keeps blocked.
  [[nodiscard]] TransitionPlan first_blocks() const;

 private:
  [[nodiscard]] bool leads_up(PortIdx port) const;
  [[nodiscard]] bool is_lower_up_port(PortIdx port) const;
  [[nodiscard]] bool initialises(SwitchIdx sw, PortNum port) const;
  [[nodiscard]] bool is_blocked(const Turn& turn) const;
  [[nodiscard]] std::vector<Turn> turns() const;
  [[nodiscard]] std::vector<Turn> forbidden_turns() const;

  const Subnet& subnet_;
  std::map<Guid, std::size_t> stored_;  // distance of each switch
};

void ThesisPlan::learn() {
  const Fabric& fabric = subnet_.snapshot();
  const bool grew = std::ranges::any_of(
      fabric.switch_node, [&](NodeIdx node) { return !stored_.contains(fabric.node_guid[node]); });
  if (!grew) stored_.clear();
  for (NodeIdx node : fabric.switch_node) {
    stored_.emplace(fabric.node_guid[node], subnet_.sweep.path[node].size());
  }
}

bool ThesisPlan::leads_up(PortIdx port) const {
  const Fabric& fabric = subnet_.snapshot();
  const PortIdx peer = fabric.peer[port];
  if (peer == kNone<PortIdx>) return false;
  const NodeIdx here = fabric.node_of[port];
  const NodeIdx there = fabric.node_of[peer];
  if (!fabric.is_switch(here) || !fabric.is_switch(there)) return false;
  return stored_.at(fabric.node_guid[there]) < stored_.at(fabric.node_guid[here]);
}

/// Of a cut node: a port upwards that is not the highest-numbered one.
bool ThesisPlan::is_lower_up_port(PortIdx port) const {
  if (!leads_up(port)) return false;
  const Fabric& fabric = subnet_.snapshot();
  for (PortIdx other : fabric.external_ports(fabric.node_of[port])) {
    if (other > port && leads_up(other)) return true;
  }
  return false;
}

bool ThesisPlan::initialises(SwitchIdx sw, PortNum port) const {
  const Fabric& fabric = subnet_.snapshot();
  const PortIdx at = fabric.port_of(fabric.switch_node[sw], port);
  return fabric.port_info[at].state() == PortState::Initialize;
}

bool ThesisPlan::is_blocked(const Turn& turn) const {
  const Guid guid = subnet_.snapshot().node_guid[subnet_.snapshot().switch_node[turn.sw]];
  const auto& nodes = subnet_.fabric.spec().nodes;
  const auto node = std::ranges::find(nodes, guid, &NodeSpec::guid) - nodes.begin();
  return subnet_.fabric.sl_to_vl(static_cast<std::uint32_t>(node), turn.in, turn.out)[0] ==
         kManagementVl;
}

/// Ordered pairs of linked ports inside switches, sorted.
std::vector<Turn> ThesisPlan::turns() const {
  const Fabric& fabric = subnet_.snapshot();
  std::vector<Turn> out;
  for (SwitchIdx sw : fabric.switch_node.indices()) {
    for (PortIdx in : fabric.external_ports(fabric.switch_node[sw])) {
      for (PortIdx to : fabric.external_ports(fabric.switch_node[sw])) {
        if (in == to || fabric.peer[in] == kNone<PortIdx> || fabric.peer[to] == kNone<PortIdx>) {
          continue;
        }
        out.push_back({sw, fabric.number_of(in), fabric.number_of(to)});
      }
    }
  }
  return out;
}

std::vector<Turn> ThesisPlan::forbidden_turns() const {
  const Fabric& fabric = subnet_.snapshot();
  std::vector<Turn> out = turns();
  std::erase_if(out, [&](const Turn& turn) {
    const NodeIdx node = fabric.switch_node[turn.sw];
    return !leads_up(fabric.port_of(node, turn.in)) || !leads_up(fabric.port_of(node, turn.out));
  });
  return out;
}

TransitionPlan ThesisPlan::first_blocks() const {
  TransitionPlan plan{.kind = TransitionKind::CutDependencies, .phases = {{}}};
  plan.phases[0].block = forbidden_turns();
  return plan;
}

TransitionPlan ThesisPlan::plan(Mechanism mechanism) const {
  TransitionPlan plan{.kind = TransitionKind::Unordered, .phases = {{}}};
  TransitionPhase& phase = plan.phases[0];
  phase.to_wanted = true;
  const std::vector<Turn> forbidden = forbidden_turns();
  for (const Turn& turn : turns()) {
    const bool is_new = initialises(turn.sw, turn.in) || initialises(turn.sw, turn.out);
    const bool blocked =
        mechanism == Mechanism::Dependencies && std::ranges::binary_search(forbidden, turn);
    if (is_new || blocked != is_blocked(turn)) {
      (blocked ? phase.block : phase.restore).push_back(turn);
    }
  }
  const Fabric& fabric = subnet_.snapshot();
  for (PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] == kNone<PortIdx>) continue;
    const bool active = fabric.port_info[port].state() == PortState::Active;
    const bool goes_down =
        mechanism == Mechanism::Full || (mechanism == Mechanism::Ports && is_lower_up_port(port));
    if (active && goes_down) phase.deactivate.push_back(port);
    if (!active || goes_down) phase.activate.push_back(port);
  }
  return plan;
}

constexpr std::uint16_t kTableSize = 1024;

bool is_thesis(const Preset& preset) { return preset.name == kPresets[0].name; }

Result<ProgramReport> run(Subnet& subnet,
                          const Preset& preset,
                          const TransitionPlan& plan,
                          const DistributionOptions& options) {
  ProgramInput input;
  input.plan = &plan;
  input.blocks = options.blocks;
  if (options.blocks == BlockChoice::Whole) input.writing = kThesisWriting;
  input.writing.lid_routed_activation = options.lid_routed_activation;
  input.writing.one_set_activation = is_thesis(preset);
  return subnet.program(input);
}

/// What every switch holds, by GUID and LID.
using Tables = std::map<Guid, std::vector<PortNum>>;

Tables tables_of(const Subnet& subnet) {
  Tables out;
  const auto& nodes = subnet.fabric.spec().nodes;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].type != NodeType::Switch) continue;
    std::vector<PortNum>& table = out[nodes[n].guid];
    for (std::uint16_t lid = 0; lid < kTableSize; ++lid) {
      table.push_back(subnet.fabric.lft(n, Lid{lid}));
    }
  }
  return out;
}

double changed_share(const Subnet& subnet, const Tables& before) {
  const Tables after = tables_of(subnet);
  std::size_t changed = 0;
  std::size_t all = 0;
  for (NodeIdx node : subnet.snapshot().switch_node) {
    const auto& old_table = before.at(subnet.snapshot().node_guid[node]);
    const auto& table = after.at(subnet.snapshot().node_guid[node]);
    for (std::size_t lid = 0; lid < table.size(); ++lid) changed += table[lid] != old_table[lid];
    all += table.size();
  }
  return static_cast<double>(changed) / static_cast<double>(all);
}

}  // namespace

SubnetOptions distribution_subnet(const Preset& preset) {
  SubnetOptions options{.preset = preset};
  options.agents.lft_cap = kTableSize;
  options.agents.one_step_activation = is_thesis(preset);
  return options;
}

Result<DistributionCost> measure_distribution(const std::string& fabric,
                                              const Preset& preset,
                                              std::uint32_t node,
                                              bool comes,
                                              const DistributionOptions& options) {
  Subnet subnet(fabric, distribution_subnet(preset));
  ThesisPlan planner(subnet);
  if (comes) subnet.fabric.set_node(node, false);
  if (auto up = subnet.bring_up(); !up) return tl::unexpected<Error>(up.error());
  planner.learn();
  if (options.mechanism == Mechanism::Dependencies) {
    const TransitionPlan blocks = planner.first_blocks();
    if (auto done = run(subnet, preset, blocks, {.blocks = BlockChoice::Changed}); !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  const Tables before = tables_of(subnet);
  subnet.fabric.set_node(node, comes);
  if (options.renumber) subnet.book.clear();
  const auto looked = options.renumber ? subnet.plan_routes() : subnet.look_again();
  if (!looked) return tl::unexpected<Error>(looked.error());
  planner.learn();
  const TransitionPlan plan = planner.plan(options.mechanism);
  const auto done = run(subnet, preset, plan, options);
  if (!done) return tl::unexpected<Error>(done.error());
  PhaseCost sum = done->turns;
  for (const PhaseCost& part : {done->deactivate, done->tables, done->activate}) sum += part;
  return DistributionCost{.smps = static_cast<double>(sum.smps),
                          .time = seconds(sum.time),
                          .activation_time = seconds(done->activate.time),
                          .changed_entries = changed_share(subnet, before)};
}

}  // namespace smd::sim
