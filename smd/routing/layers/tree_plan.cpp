#include "smd/routing/layers/tree_plan.h"

#include <algorithm>
#include <utility>

namespace smd {
namespace {

std::uint64_t find_weight(const RoutingRequest& request, Guid port) {
  const auto found =
      std::ranges::lower_bound(request.weights, port, {}, &std::pair<Guid, std::uint32_t>::first);
  return found == request.weights.end() || found->first != port ? 1 : found->second;
}

}  // namespace

IndexVector<SwitchIdx, std::uint32_t> TreePlan::count_trees() const {
  IndexVector<SwitchIdx, std::uint32_t> per_switch(weight_of_source.size(), 0);
  for (const TreeFamily& family : families) per_switch[family.root] += family.trees;
  return per_switch;
}

TreePlan plan_trees(const Fabric& fabric,
                    const LidMap& lids,
                    const Targets& targets,
                    const RoutingRequest& request,
                    Lid top,
                    TreePer per,
                    bool sharing) {
  TreePlan plan{.of_lid = TreeOfLid(std::size_t{top.value()} + 1, kNoTree),
                .weight_of_source = targets.hosts.raw()};
  const bool hosts_exist =
      std::ranges::any_of(targets.hosts.raw(), [](std::uint32_t hosts) { return hosts != 0; });
  // Without hosts the switches themselves are all the traffic there is.
  if (!hosts_exist) plan.weight_of_source.assign(targets.hosts.size(), 1);

  std::uint32_t next = 0;
  for (const SwitchIdx sw : targets.of.indices()) {
    const std::size_t first = plan.families.size();
    for (const Target& target : targets.of[sw]) {
      if (!target.host && per == TreePer::EachLid && sharing && targets.of[sw].size() > 1) continue;
      TreeFamily family{.root = sw,
                        .base = target.base,
                        .first_tree = next,
                        .trees = 1u << target.lmc,
                        .weight = hosts_exist ? 0u : 1u};
      if (target.host) {
        const PortIdx end = lids.owner_of(target.base);
        family.weight = end == kNone<PortIdx> ? 0 : find_weight(request, fabric.port_guid[end]);
      }
      if (per == TreePer::EachSwitch && plan.families.size() > first) {
        TreeFamily& all = plan.families[first];
        all.weight += family.weight;
        if (family.trees > all.trees) all.base = family.base;
        all.trees = std::max(all.trees, family.trees);
      } else {
        plan.families.push_back(family);
      }
      next = plan.families.back().first_tree + plan.families.back().trees;
    }
    // A LID whose port has no family of its own has the trees of the first.
    std::size_t own = first;
    for (const Target& target : targets.of[sw]) {
      const bool named = own < plan.families.size() && plan.families[own].base == target.base;
      const TreeFamily& family = plan.families[named ? own++ : first];
      for (std::uint32_t offset = 0; offset < 1u << target.lmc; ++offset)
        plan.of_lid[target.base.value() + offset] = family.first_tree + offset % family.trees;
    }
  }
  return plan;
}

}  // namespace smd
