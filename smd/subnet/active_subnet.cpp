#include "smd/subnet/active_subnet.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "smd/config/settings.h"

namespace smd {

namespace {

using tl::unexpected;

/// The VLs that SLs of paths need, counted from VL 0.
unsigned count_used(const RoutingTables& routing, const QosPolicy& qos, unsigned lanes) {
  const auto highest = [](const SlToVl& row, unsigned modulo) {
    unsigned used = 1;
    for (const Vl vl : row) {
      if (vl < kManagementVl) used = std::max(used, vl.value() % modulo + 1u);
    }
    return used;
  };
  unsigned used = std::max(1u, routing.vls);
  for (const SlToVl& row : routing.sl_to_vl.rows()) used = std::max(used, highest(row, kSls));
  if (routing.vls > 1 || !routing.sl_to_vl.empty()) return used;
  const auto& row = qos.row_of(PortKind::SwitchExternal);
  // Without an SL-to-VL table of the site's the SLs of paths can do with one VL less.
  return row ? highest(*row, lanes) : std::max(1u, lanes - 1);
}

std::array<bool, kSls> find_sls_given_out(const Fabric& fabric,
                                          const RoutingTables& routing,
                                          const Settings& settings,
                                          const PartitionPlan* partitions) {
  std::array<bool, kSls> given{};
  given[0] = true;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (routing.path_sls.empty()) break;
    for (const std::uint8_t sl : routing.path_sls.row(sw)) given[sl % kSls] = true;
  }
  if (settings.qos_rules) {
    for (const QosLevel& level : settings.qos_rules->levels) given[level.sl % kSls] = true;
  }
  if (partitions != nullptr) {
    for (const auto& [key, sl] : partitions->sls) given[sl % kSls] = true;
  }
  return given;
}

}  // namespace

tl::expected<MulticastVl, std::string> choose_multicast_vl(const Fabric& fabric,
                                                           const RoutingTables& routing,
                                                           const Settings& settings,
                                                           const PartitionPlan* partitions) {
  const unsigned lanes = std::min(count_common_vls(fabric),
                                  std::max(1u, data_vls(settings.ports.max_operational_vls)));
  const unsigned used = count_used(routing, settings.qos, lanes);
  if (used >= lanes)
    return unexpected(fmt::format("links have {} VLs, and unicast packets need {}", lanes, used));
  const std::array<bool, kSls> given = find_sls_given_out(fabric, routing, settings, partitions);
  const auto free = std::find(given.rbegin(), given.rend(), false);
  if (free == given.rend()) return unexpected(std::string("every SL is given out"));
  const MulticastVl chosen{.sl = static_cast<std::uint8_t>(given.rend() - free - 1),
                           .vl = Vl{static_cast<std::uint8_t>(used)}};
  if (starves(settings.qos, PortKind::SwitchExternal, chosen.vl))
    return unexpected(fmt::format("qos.vl_arb_high and qos.vl_arb_low leave VL {} out", used));
  return chosen;
}

std::optional<Guid> find_port_at(const ActiveSubnet& now, const SmpRoute& route) {
  const Fabric& fabric = now.fabric();
  PortIdx at = fabric.sm_port;
  if (route.kind != SmpRoute::Kind::Directed) {
    at = now.lids->owner_of(route.lid);
    return at == kNone<PortIdx> ? Guid{} : fabric.port_guid[at];
  }
  for (std::size_t hop = 0; hop < route.path.size(); ++hop) {
    const NodeIdx node = fabric.node_of[at];
    if ((hop > 0 && !fabric.is_switch(node)) || route.path[hop].value() > fabric.num_ports(node))
      return Guid{};
    at = fabric.peer[fabric.port_of(node, route.path[hop])];
    if (at == kNone<PortIdx>) return std::nullopt;
  }
  return fabric.port_guid[at];
}

bool is_cut_off(const Fabric& fabric) {
  const auto leads_nowhere = [](PortIdx peer) { return peer == kNone<PortIdx>; };
  return fabric.node_count() == 1 && !fabric.is_switch(fabric.sm_node) &&
         std::ranges::all_of(fabric.peer, leads_nowhere);
}

std::shared_ptr<const ActiveSubnet> with_fabric(const ActiveSubnet& now,
                                                std::shared_ptr<const Fabric> fabric) {
  SweepReport sweep = now.sweep;
  // What was found of the routes counts loads by who sent data, as it was known then.
  const bool same_hosts = fabric->demand == now.fabric().demand;
  sweep.fabric = std::move(fabric);
  return std::make_shared<const ActiveSubnet>(
      ActiveSubnet{.sweep = std::move(sweep),
                   .lids = now.lids,
                   .routing = now.routing,
                   .rows = now.rows,
                   .partitions = now.partitions,
                   .multicast_vl = now.multicast_vl,
                   .verified = same_hosts ? now.verified : nullptr});
}

std::shared_ptr<const ActiveSubnet> with_verified(const ActiveSubnet& now,
                                                  std::shared_ptr<const VerifiedRoutes> verified) {
  return std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = now.sweep,
                                                           .lids = now.lids,
                                                           .routing = now.routing,
                                                           .rows = now.rows,
                                                           .partitions = now.partitions,
                                                           .multicast_vl = now.multicast_vl,
                                                           .verified = std::move(verified)});
}

}  // namespace smd
