// Settings of the site, on the fabric that was found.
#include "smd/manager/effective_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "smd/base/log.h"
#include "smd/policy/port_policy.h"
#include "smd/program/agent_memory.h"
#include "smd/routing/graph/disjoint_sets.h"
#include "smd/routing/sl_to_vl.h"

namespace smd {

namespace {

/// LIDs below this have a place in the linear forwarding table; 0: there is none.
unsigned count_linear_entries(const SwitchInfo& info) {
  return has_random_table(info) ? 0 : info.linear_fdb_cap;
}

std::vector<std::string> describe(const Fabric& fabric, const std::vector<KeyOverflow>& overflows) {
  std::vector<std::string> lines;
  for (const KeyOverflow& each : overflows) lines.push_back(print_overflow(fabric, each));
  return lines;
}

/// Tables that the rules in force already do not fit say nothing against new ones.
std::vector<PartitionState::Misfit> list_misfits(const Fabric& fabric,
                                                 const std::vector<KeyOverflow>& wanted,
                                                 const std::vector<KeyOverflow>& now) {
  std::vector<PartitionState::Misfit> out;
  for (const KeyOverflow& each : wanted) {
    const bool refuses = std::ranges::find(now, each.port, &KeyOverflow::port) == now.end();
    out.push_back(
        {.port = {fabric.node_guid[fabric.node_of[each.port]], fabric.number_of(each.port)},
         .refuses = refuses,
         .fault = print_overflow(fabric, each)});
  }
  return out;
}

/// With a link, but for port 0 of a switch: nobody behind one needs no room there.
bool is_there(const Fabric& fabric, const PortRef& port) {
  const auto node = fabric.find_node(port.node);
  return node && port.port.value() <= fabric.num_ports(*node) &&
         is_managed(fabric, fabric.port_of(*node, port.port));
}

/// Why the snapshot says nothing of rules that are not in force, one line each; empty: it does.
std::vector<std::string> find_waiting(const Fabric& fabric, const PartitionState& state) {
  const bool cut_off = is_cut_off(fabric);
  std::vector<std::string> lines;
  bool waits = cut_off;
  if (state.refused) {
    for (const PartitionState::Misfit& each : state.refused->misfits) {
      const bool gone = !cut_off && each.refuses && !is_there(fabric, each.port);
      waits = waits || gone;
      lines.push_back(each.fault + (gone ? "; it is gone, and the new rules wait for it: SIGHUP or "
                                           "smctl sweep --full tries them without it"
                                         : ""));
    }
  }
  if (!waits) return {};
  if (lines.empty()) lines.emplace_back("new rules wait until the manager's own port has a link");
  return lines;
}

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

/// kNone where `end` has no link, or is not there.
PortIdx find_linked_port(const Fabric& fabric, const PortRef& end) {
  const auto node = fabric.find_node(end.node);
  if (!node || end.port.value() > fabric.num_ports(*node)) return kNone<PortIdx>;
  const PortIdx port = fabric.port_of(*node, end.port);
  return fabric.peer[port] == kNone<PortIdx> ? kNone<PortIdx> : port;
}

/// Stands for the link.
PortIdx first_end(const Fabric& fabric, PortIdx port) { return std::min(port, fabric.peer[port]); }

/// Those of `links` that the manager and the switches are joined by alone, by their first ends: a
/// spanning tree takes links that are not named first, and then the later ones.
std::set<PortIdx> find_needed_links(const Fabric& fabric,
                                    const std::map<PortRef, std::string>& links) {
  std::set<PortIdx> named;
  std::vector<PortIdx> order;  // each link where its first end is named
  for (const auto& [end, why] : links) {
    const PortIdx port = find_linked_port(fabric, end);
    if (port != kNone<PortIdx> && named.insert(first_end(fabric, port)).second)
      order.push_back(first_end(fabric, port));
  }
  const SwitchIdx manager{static_cast<std::uint32_t>(fabric.switch_count())};
  DisjointSets joined(fabric.switch_count() + 1);
  const auto side = [&](PortIdx port) {
    const SwitchIdx sw = fabric.switch_at(port);
    return sw == kNone<SwitchIdx> && port == fabric.sm_port ? manager : sw;
  };
  const auto join = [&](PortIdx port) {
    const SwitchIdx a = side(port), b = side(fabric.peer[port]);
    return a != kNone<SwitchIdx> && b != kNone<SwitchIdx> && joined.join(a, b);
  };
  for (const PortIdx port : fabric.peer.indices()) {
    const bool has_link = fabric.peer[port] != kNone<PortIdx>;
    if (has_link && port == first_end(fabric, port) && !named.contains(port)) join(port);
  }
  std::set<PortIdx> needed;
  for (const PortIdx port : std::views::reverse(order)) {
    if (join(port)) needed.insert(port);
  }
  return needed;
}

}  // namespace

unsigned count_rounds(const Settings& settings) {
  return std::max(1u, static_cast<unsigned>(settings.strategy.engines.size()));
}

const std::string& engine_of_round(const Settings& settings, unsigned round) {
  const std::vector<std::string>& engines = settings.strategy.engines;
  return engines.empty() ? settings.engine : engines[round];
}

std::vector<Guid> choose_roots(const Settings& settings, const Fabric& fabric) {
  if (!settings.engine_options.roots.empty() || !settings.strategy.roots_at_manager)
    return settings.engine_options.roots;
  NodeIdx root = fabric.sm_node;
  if (!fabric.is_switch(root) && fabric.peer[fabric.sm_port] != kNone<PortIdx>)
    root = fabric.node_of[fabric.peer[fabric.sm_port]];
  return {fabric.node_guid[root]};
}

std::string print_hosts_at(const Fabric& fabric, NodeIdx node) {
  constexpr std::size_t kMostNamed = 8;
  std::set<NodeIdx> hosts;
  for (const PortIdx port : fabric.external_ports(node)) {
    const PortIdx peer = fabric.peer[port];
    if (peer != kNone<PortIdx> && !fabric.is_switch(fabric.node_of[peer]))
      hosts.insert(fabric.node_of[peer]);
  }
  if (hosts.empty()) return "";
  std::string names;
  for (const NodeIdx host : hosts | std::views::take(kMostNamed))
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(fabric, host));
  if (hosts.size() > kMostNamed) names += fmt::format(" and {} more", hosts.size() - kMostNamed);
  return fmt::format(
      "; {} {} out with it: {}", hosts.size(), hosts.size() == 1 ? "host is" : "hosts are", names);
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

std::map<PortRef, std::string> find_dispensable(const SweepReport& found,
                                                const std::map<PortRef, std::string>& links) {
  const auto reaches_all = [&](const std::map<PortRef, std::string>& without) {
    return leave_out_links(found, without).fabric->switch_count() == found.fabric->switch_count();
  };
  if (links.empty()) return links;
  const std::set<PortIdx> needed = find_needed_links(*found.fabric, links);
  std::map<PortRef, std::string> out;
  for (const auto& link : links) {
    const PortIdx port = find_linked_port(*found.fabric, link.first);
    if (port == kNone<PortIdx> || !needed.contains(first_end(*found.fabric, port)))
      out.insert(link);
  }
  if (reaches_all(out)) return out;
  // Without them somebody is beyond the hops that a directed route may have.
  std::map<PortRef, std::string> fewer;
  for (const auto& link : links) {
    const auto added = fewer.insert(link).first;
    if (!reaches_all(fewer)) fewer.erase(added);
  }
  return fewer;
}

Lid find_highest_lid(const SweepReport& found, const LidPolicy& lids, Lid top) {
  Lid most = lids.max;
  const Fabric& fabric = *found.fabric;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const unsigned entries = count_linear_entries(fabric.switch_info[sw]);
    if (entries > 0 && entries <= std::min(most, top).value() &&
        is_indispensable(found, fabric.switch_node[sw]))
      most = Lid{static_cast<std::uint16_t>(entries - 1)};
  }
  return most;
}

std::optional<std::pair<Guid, std::string>> find_small_table(const SweepReport& found, Lid top) {
  const Fabric& fabric = *found.fabric;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const unsigned entries = count_linear_entries(fabric.switch_info[sw]);
    const NodeIdx node = fabric.switch_node[sw];
    if (entries == 0 || entries > top.value() || is_indispensable(found, node)) continue;
    return std::pair(
        fabric.node_guid[node],
        fmt::format("left out: its forwarding table holds LIDs below {}, {} is in use{}",
                    entries,
                    top,
                    print_hosts_at(fabric, node)));
  }
  return std::nullopt;
}

QosPolicy choose_qos(const Settings& settings,
                     unsigned route_vls,
                     const std::optional<MulticastVl>& apart) {
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

std::uint16_t choose_other_vls(const Settings& settings, const ActiveSubnet& goal) {
  unsigned vls = std::clamp(data_vls(settings.ports.max_operational_vls), 1u, 15u);
  if (goal.multicast_vl) vls = std::min<unsigned>(vls, goal.multicast_vl->vl.value());
  if (settings.qos.high_of(PortKind::SwitchExternal) ||
      settings.qos.low_of(PortKind::SwitchExternal))
    vls = std::min(vls, goal.routing->vls);
  return static_cast<std::uint16_t>((1u << vls) - 1);
}

std::shared_ptr<const PartitionPlan> choose_partitions(const Settings& settings,
                                                       const Fabric& fabric,
                                                       PartitionState& state) {
  std::optional<PartitionPolicy> wanted = settings.partitions;
  if (!wanted && state.in_force) {
    wanted = {.rules = default_partitions(), .enforcement = PartitionEnforcement::Off};
  }
  if (!wanted) return nullptr;
  std::set<std::string> said(state.faults.begin(), state.faults.end());
  if (state.refused) {
    for (const PartitionState::Misfit& each : state.refused->misfits) said.insert(each.fault);
  }
  const auto say = [&](const std::vector<KeyOverflow>& overflows, std::string_view effect) {
    for (const KeyOverflow& each : overflows) {
      const std::string line = print_overflow(fabric, each);
      const std::string_view own =
          each.enforcement ? "this table is left as it is" : "the port gets the others";
      if (!said.contains(line))
        log::error("partition.too_small", "{}; {}", line, effect.empty() ? own : effect);
    }
  };

  if (!state.in_force) state.in_force = wanted;
  const bool anew = !is_cut_off(fabric) && std::exchange(state.tries_anew, false);
  if (anew || wanted == state.in_force || (state.refused && state.refused->policy != *wanted))
    state.refused.reset();
  PartitionMap map = build_partition_map(fabric, *state.in_force);
  std::vector<KeyOverflow> overflows = fit_keys(fabric, map, *state.in_force);
  state.faults = describe(fabric, overflows);
  say(overflows, "");
  const std::vector<std::string> waiting =
      wanted != state.in_force ? find_waiting(fabric, state) : std::vector<std::string>{};
  state.faults.insert(state.faults.end(), waiting.begin(), waiting.end());
  if (wanted != state.in_force && waiting.empty()) {
    PartitionMap next = build_partition_map(fabric, *wanted);
    std::vector<KeyOverflow> beyond = fit_keys(fabric, next, *wanted);
    auto misfits = list_misfits(fabric, beyond, overflows);
    if (std::ranges::any_of(misfits, &PartitionState::Misfit::refuses)) {
      const std::vector<std::string> why = describe(fabric, beyond);
      say(beyond, "the partitions in force stay");
      state.faults.insert(state.faults.end(), why.begin(), why.end());
      state.refused = PartitionState::Refused{.policy = *wanted, .misfits = std::move(misfits)};
    } else {
      log::info("partition.adopted", "partitions={}", wanted->rules.partitions.size());
      state.in_force = wanted;
      state.refused.reset();
      state.faults = describe(fabric, beyond);
      map = std::move(next);
      overflows = std::move(beyond);
    }
  }
  state.not_taken = wanted == state.in_force ? std::string{}
                    : waiting.empty()        ? state.refused->misfits.front().fault
                                             : waiting.front();
  PartitionPlan plan;
  plan.map = std::move(map);
  plan.enforcement = state.in_force->enforcement;
  plan.rules = state.in_force->rules;
  for (const Partition& each : state.in_force->rules.partitions) {
    if (each.sl) plan.sls.emplace(each.key, *each.sl);
  }
  for (const KeyOverflow& each : overflows) plan.too_small.push_back(each.port);
  return std::make_shared<const PartitionPlan>(std::move(plan));
}

unsigned count_route_vls(const Settings& settings) {
  return std::min(std::max(1u, data_vls(settings.ports.max_operational_vls)),
                  count_served_vls(settings.qos));
}

std::shared_ptr<const QosRules> make_qos_rules(const Settings& settings, const ActiveSubnet& now) {
  if (!settings.qos_rules) return nullptr;
  return std::make_shared<const QosRules>(
      now.fabric(),
      *settings.qos_rules,
      now.partitions ? &now.partitions->map : nullptr,
      now.partitions ? now.partitions->rules : default_partitions());
}

bool are_directions_free(const EngineOptions& options) {
  const EngineOptions usual;
  return options.roots.empty() && options.root_choice == usual.root_choice &&
         options.orientation_search == usual.orientation_search &&
         options.lane_cut == usual.lane_cut;
}

void report_qos_conflicts(const Settings& settings,
                          const RoutingTables& routing,
                          const PartitionPlan* partitions,
                          std::vector<std::string>& said) {
  const bool routes_choose = routing.vls > 1 || !routing.path_sls.empty();
  std::vector<std::string> lines;
  if (routes_choose && sets_any_row(settings.qos))
    lines.emplace_back("qos.sl2vl is not written; the routes need rows of their own");
  const unsigned vls = count_route_vls(settings);
  if (routes_choose && vls < data_vls(settings.ports.max_operational_vls))
    lines.push_back(fmt::format(
        "routes take {} VLs at most; qos.vl_arb_high and qos.vl_arb_low never let VL {} "
        "send",
        vls,
        vls));
  const PartitionFile rules = partitions != nullptr ? partitions->rules : default_partitions();
  const auto add = [&lines](std::vector<std::string> more) {
    std::ranges::move(more, std::back_inserter(lines));
  };
  const std::vector<std::uint8_t> discarded = discarded_sls(settings.qos);
  if (settings.qos_rules) {
    add(find_qos_conflicts(*settings.qos_rules, discarded, routes_choose));
    add(find_unknown_partitions(*settings.qos_rules, rules));
  }
  if (!routes_choose) add(find_discarded_sls(rules, discarded));
  if (routes_choose) {
    for (const Partition& each : rules.partitions) {
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

}  // namespace smd
