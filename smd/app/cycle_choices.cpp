#include "smd/app/cycle_choices.h"

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
