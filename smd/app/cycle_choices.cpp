#include "smd/app/cycle_choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/program/random_tables.h"
#include "smd/routing/switch_rows.h"

namespace smd::app {
namespace {

using Routes = Assimilation::Routes;
using Safety = Assimilation::Safety;

Deactivation first_choice(Safety safety) {
  switch (safety) {
    case Safety::Certified:
      return Deactivation::Certified;
    case Safety::CutDependencies:
      return Deactivation::CutDependencies;
    case Safety::CutPorts:
      return Deactivation::CutPorts;
    case Safety::DeactivateAll:
      return Deactivation::All;
    case Safety::None:
      return Deactivation::None;
  }
  return Deactivation::Certified;
}

/// LIDs below this have a place in the linear forwarding table; 0: there is none.
unsigned count_linear_entries(const SwitchInfo& info) {
  return has_random_table(info) ? 0 : info.linear_fdb_cap;
}

}  // namespace

unsigned count_rounds(const Assimilation& how) {
  return how.routes == Routes::PiraThenFera ? 2 : 1;
}

std::string engine_of_round(const Settings& settings, unsigned round) {
  switch (settings.assimilation.routes) {
    case Routes::Engine:
      return settings.engine;
    case Routes::Fera:
      return "fera";
    case Routes::Pira:
      return "pira";
    case Routes::PiraThenFera:
      return round == 0 ? "pira" : "fera";
  }
  return settings.engine;
}

std::vector<Guid> choose_roots(const Settings& settings, const Fabric& fabric) {
  if (!settings.roots.empty() || !settings.assimilation.literal) return settings.roots;
  NodeIdx root = fabric.sm_node;
  if (!fabric.is_switch(root) && fabric.peer[fabric.sm_port] != kNone<PortIdx>)
    root = fabric.node_of[fabric.peer[fabric.sm_port]];
  return {fabric.node_guid[root]};
}

bool is_indispensable(const SweepReport& found, NodeIdx node) {
  const Fabric& fabric = *found.fabric;
  if (node == fabric.sm_node) return true;
  const SweepReport rest = leave_out(found, {{fabric.node_guid[node], {}}});
  const std::size_t own = fabric.is_switch(node) ? 1 : 0;
  const bool had_link = fabric.peer[fabric.sm_port] != kNone<PortIdx>;
  return rest.fabric->switch_count() + own < fabric.switch_count() ||
         (had_link && rest.fabric->peer[rest.fabric->sm_port] == kNone<PortIdx>);
}

LidPolicy choose_lids(const Settings& settings, const SweepReport& found) {
  LidPolicy lids = settings.lids;
  const Fabric& fabric = *found.fabric;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const unsigned entries = count_linear_entries(fabric.switch_info[sw]);
    if (entries > 0 && entries <= lids.max.value() &&
        is_indispensable(found, fabric.switch_node[sw]))
      lids.max = Lid{static_cast<std::uint16_t>(entries - 1)};
  }
  return lids;
}

std::optional<std::pair<Guid, std::string>> find_small_table(const SweepReport& found, Lid top) {
  const Fabric& fabric = *found.fabric;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const unsigned entries = count_linear_entries(fabric.switch_info[sw]);
    const NodeIdx node = fabric.switch_node[sw];
    if (entries == 0 || entries > top.value() || is_indispensable(found, node)) continue;
    return std::pair(
        fabric.node_guid[node],
        fmt::format(
            "left out: its forwarding table holds LIDs below {}, {} is in use", entries, top));
  }
  return std::nullopt;
}

PlannerOptions planner_options(const Assimilation& how) {
  return {.first = first_choice(how.safety), .whole_tables = how.whole_tables};
}

QosPolicy choose_qos(const Settings& settings,
                     unsigned route_vls,
                     const std::optional<MulticastLane>& apart) {
  QosPolicy qos = settings.qos;
  if (route_vls > 1) {
    qos.sl_to_vl = modulo_row(route_vls);
    for (QosTables& kind : qos.kinds) kind.sl_to_vl.reset();
  }
  if (!apart) return qos;
  if (!qos.sl_to_vl) qos.sl_to_vl = modulo_row(apart->vl.value());
  (*qos.sl_to_vl)[apart->sl] = apart->vl;
  for (QosTables& kind : qos.kinds) {
    if (kind.sl_to_vl) (*kind.sl_to_vl)[apart->sl] = apart->vl;
  }
  return qos;
}

Duration charge(const Settings& settings, unsigned round, std::size_t nodes, double share) {
  if (!settings.computing_time) return Duration{0};
  return settings.computing_time(
      {.engine = engine_of_round(settings, round), .nodes = nodes, .share = share});
}

}  // namespace smd::app
