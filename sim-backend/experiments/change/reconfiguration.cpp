#include "sim-backend/experiments/change/reconfiguration.h"

namespace smd::sim {
namespace {

constexpr std::uint16_t kTableSize = 1024;

bool is_thesis(const Preset& preset) { return preset.name == kPresets[0].name; }

Result<ProgramReport> run(Subnet& subnet,
                          const Preset& preset,
                          const TransitionPlan& plan,
                          const DistributionOptions& options) {
  ProgramInput input;
  input.plan = &plan;
  input.blocks = options.blocks;
  input.lid_routed_activation = options.lid_routed_activation;
  input.one_set_activation = is_thesis(preset);
  input.literal = options.blocks == BlockChoice::Whole;
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
