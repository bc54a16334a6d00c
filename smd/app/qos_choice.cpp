#include "smd/app/qos_choice.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"

namespace smd::app {
namespace {

bool sets_any_row(const QosPolicy& qos) {
  return qos.sl_to_vl || std::ranges::any_of(qos.kinds, [](const QosTables& kind) {
           return kind.sl_to_vl.has_value();
         });
}

/// SLs that adapters or switches discard.
std::vector<std::uint8_t> discarded_sls(const QosPolicy& qos) {
  std::vector<std::uint8_t> sls;
  for (const PortKind kind : {PortKind::Ca, PortKind::SwitchExternal}) {
    const auto& row = qos.row_of(kind);
    for (std::uint8_t sl = 0; row && sl < row->size(); ++sl) {
      if ((*row)[sl] == kManagementVl) sls.push_back(sl);
    }
  }
  return sls;
}

}  // namespace

std::shared_ptr<const QosRules> make_qos_rules(const Settings& settings, const ActiveSubnet& now) {
  if (!settings.qos_rules) return nullptr;
  return std::make_shared<const QosRules>(
      now.fabric(),
      *settings.qos_rules,
      now.partitions ? &now.partitions->map : nullptr,
      settings.partitions ? settings.partitions->rules : default_partitions());
}

void report_qos_conflicts(const Settings& settings,
                          const RoutingTables& routing,
                          std::vector<std::string>& said) {
  const bool routes_choose = routing.vls > 1 || !routing.path_sls.empty();
  std::vector<std::string> lines;
  if (routes_choose && sets_any_row(settings.qos))
    lines.emplace_back("qos.sl2vl is not written; the routes need rows of their own");
  if (settings.qos_rules) {
    std::ranges::move(
        find_qos_conflicts(*settings.qos_rules, discarded_sls(settings.qos), routes_choose),
        std::back_inserter(lines));
  }
  if (routes_choose && settings.partitions) {
    for (const Partition& each : settings.partitions->rules.partitions) {
      if (each.sl.value_or(0) == 0) continue;
      lines.push_back(
          fmt::format("partition '{}': SL {} is not given out; the routes need SLs of their own",
                      each.name,
                      *each.sl));
    }
  }
  for (const std::string& line : lines) {
    if (std::ranges::find(said, line) == said.end()) log::warn("qos.conflict", "{}", line);
  }
  said = std::move(lines);
}

}  // namespace smd::app
