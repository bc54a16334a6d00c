#include "smd/app/partition_choice.h"

#include <algorithm>
#include <set>

#include "smd/base/log.h"

namespace smd::app {
namespace {

std::vector<std::string> describe(const Fabric& fabric, const std::vector<KeyOverflow>& overflows) {
  std::vector<std::string> lines;
  for (const KeyOverflow& each : overflows) lines.push_back(print_overflow(fabric, each));
  return lines;
}

/// Tables that the rules in force already do not fit say nothing against new ones.
bool is_news(const std::vector<KeyOverflow>& wanted, const std::vector<KeyOverflow>& now) {
  return std::ranges::any_of(wanted, [&](const KeyOverflow& each) {
    return std::ranges::find(now, each.port, &KeyOverflow::port) == now.end();
  });
}

}  // namespace

std::shared_ptr<const PartitionPlan> choose_partitions(const Settings& settings,
                                                       const Fabric& fabric,
                                                       PartitionState& state) {
  std::optional<PartitionPolicy> wanted = settings.partitions;
  if (!wanted && state.in_force) {
    wanted = {.rules = default_partitions(), .enforcement = PartitionEnforcement::Off};
  }
  if (!wanted) return nullptr;
  const std::set<std::string> said(state.faults.begin(), state.faults.end());
  const auto say = [&said](const std::vector<std::string>& faults, std::string_view effect) {
    for (const std::string& each : faults) {
      if (!said.contains(each)) log::error("partition.too_small", "{}; {}", each, effect);
    }
  };

  if (!state.in_force) state.in_force = wanted;
  PartitionMap map = build_partition_map(fabric, *state.in_force);
  std::vector<KeyOverflow> overflows = find_overflows(fabric, map, *state.in_force);
  state.faults = describe(fabric, overflows);
  say(state.faults, "this table is left as it is");
  if (wanted != state.in_force) {
    PartitionMap next = build_partition_map(fabric, *wanted);
    std::vector<KeyOverflow> beyond = find_overflows(fabric, next, *wanted);
    if (is_news(beyond, overflows)) {
      const std::vector<std::string> refused = describe(fabric, beyond);
      say(refused, "the partitions in force stay");
      state.faults.insert(state.faults.end(), refused.begin(), refused.end());
    } else {
      log::info("partition.adopted", "partitions={}", wanted->rules.partitions.size());
      state.in_force = wanted;
      state.faults = describe(fabric, beyond);
      map = std::move(next);
      overflows = std::move(beyond);
    }
  }
  PartitionPlan plan;
  plan.map = std::move(map);
  plan.enforcement = state.in_force->enforcement;
  for (const Partition& each : state.in_force->rules.partitions) {
    if (each.sl) plan.sls.emplace(each.key, *each.sl);
  }
  for (const KeyOverflow& each : overflows) plan.too_small.push_back(each.port);
  return std::make_shared<const PartitionPlan>(std::move(plan));
}

}  // namespace smd::app
