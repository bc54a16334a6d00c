// The site's QoS rules on what is in force, and what of them cannot be kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "smd/app/active_subnet.h"
#include "smd/app/settings.h"
#include "smd/policy/qos_rules.h"

namespace smd::app {

/// Null where the site has none.
[[nodiscard]] std::shared_ptr<const QosRules> make_qos_rules(const Settings& settings,
                                                             const ActiveSubnet& now);

/// Levels and tables that routes on several lanes overrule, levels whose SL is discarded: one line
/// each in the log, when it is news.
void report_qos_conflicts(const Settings& settings,
                          const RoutingTables& routing,
                          std::vector<std::string>& said);

}  // namespace smd::app
