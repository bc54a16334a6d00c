#include "smd/routing/topology/topology_tables.h"

#include <fmt/core.h>
#include <algorithm>
#include <utility>

#include "smd/routing/topology/lattice_record.h"

namespace smd {
namespace {

// SLs that nobody is given travel as the regular one with the same remainder.
SlToVl extend(const VlBySl& regular, const ShapeRoutes& routes, unsigned detour_vls) {
  SlToVl row{};
  for (unsigned sl = 0; sl < kSls; ++sl) {
    const unsigned detour = sl - routes.regular_sls;
    const unsigned vl = sl >= routes.regular_sls && detour < detour_vls
                            ? routes.regular_vls + detour
                            : regular[sl % routes.regular_sls];
    row[sl] = Vl{static_cast<std::uint8_t>(vl)};
  }
  return row;
}

SlToVlMaps write_vls(const Fabric& fabric,
                     const NeighbourGraph& graph,
                     const ShapeRoutes& routes,
                     unsigned detour_vls) {
  SlToVlMaps vls{fabric};
  (void)vls.add_row(SlToVl{});  // towards hosts: VL 0
  std::vector<std::uint16_t> rows;
  for (const VlBySl& row : routes.rows)
    rows.push_back(vls.add_row(extend(row, routes, detour_vls)));
  std::vector<std::uint8_t> place;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const unsigned ports = fabric.num_ports(fabric.switch_node[sw]);
    place.assign(ports + 1, kHere);
    const auto around = graph.around(sw);
    for (std::uint32_t i = 0; i < around.size(); ++i) {
      for (const PortNum port : graph.ports(graph.first(sw) + i))
        place[port.value()] = static_cast<std::uint8_t>(i);
    }
    for (unsigned out = 1; out <= ports; ++out) {
      if (place[out] == kHere) continue;
      for (unsigned in = 0; in <= ports; ++in) {
        vls.set_row(sw,
                    PortNum{static_cast<std::uint8_t>(in)},
                    PortNum{static_cast<std::uint8_t>(out)},
                    rows[routes.row_of(sw, place[in], place[out])]);
      }
    }
  }
  return vls;
}

}  // namespace

bool wants_other_ways(const LidMap& lids, const RoutingRequest& request) {
  return request.options.non_minimal == NonMinimal::Valiant &&
         std::ranges::any_of(lids.lmc, [](std::uint8_t lmc) { return lmc > 0; });
}

std::string describe_other_ways(bool whole) {
  return whole
             ? "LIDs of a port beyond the first are reached by way of other places"
             : "LIDs of a port beyond the first are reached as the first one: ways by other places "
               "need a shape of which nothing is missing";
}

const LatticeRecord* find_lattice_before(const RoutingRequest& request, std::string_view engine) {
  const PreviousRoutes* const before = request.in_force;
  const LatticeRecord* known = before != nullptr ? before->routing->lattice.get() : nullptr;
  if (known == nullptr) known = request.lattice;
  return known != nullptr && known->engine == engine ? known : nullptr;
}

unsigned count_allowed_vls(const Fabric& fabric, const RoutingRequest& request) {
  return request.max_vls != 0 ? std::min(request.max_vls, 15u) : count_common_vls(fabric);
}

Result<RoutingTables> finish_tables(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request,
                                    const NeighbourGraph& graph,
                                    ShapeRoutes routes) {
  const unsigned allowed = count_allowed_vls(fabric, request);
  if (routes.regular_vls > allowed) {
    return fail(Errc::Unsupported,
                fmt::format("{}: needs {} data VLs, and there {} {}",
                            routes.shape,
                            routes.regular_vls,
                            allowed == 1 ? "is" : "are",
                            allowed));
  }
  const unsigned spare = std::min(allowed - routes.regular_vls, kSls - routes.regular_sls);
  const Result<Detours> detours =
      find_detours(fabric,
                   graph,
                   routes.columns,
                   {.further = spare, .may_stay = routes.regular_vls == 1},
                   routes.hops);
  if (!detours) {
    return fail(detours.error().code, fmt::format("{}: {}", routes.shape, detours.error().context));
  }
  if (routes.rows.empty()) {
    routes.rows.push_back({});
    routes.row_of = [](SwitchIdx, std::uint8_t, std::uint8_t) { return std::size_t{0}; };
  }
  if (!detours->pairs.empty() && !routes.sls)
    routes.sls.emplace(graph.switches(), routes.columns.count, std::uint8_t{0});
  for (const Detour& detour : detours->pairs) {
    const auto sl = static_cast<std::uint8_t>(routes.regular_sls + detour.vl);
    for (std::uint32_t v = 0; v < routes.columns.variants; ++v) {
      routes.sls->row(detour.a)[routes.columns.of(detour.b, v)] = sl;
      routes.sls->row(detour.b)[routes.columns.of(detour.a, v)] = sl;
    }
    for (std::uint32_t o = 0; o < routes.columns.others; ++o) {
      routes.sls->row(detour.a)[routes.columns.other(detour.b, o)] = sl;
      routes.sls->row(detour.b)[routes.columns.other(detour.a, o)] = sl;
    }
  }
  if (routes.others_follow) {
    for (const SwitchIdx sw : graph.by_guid()) {
      const auto row = routes.hops.row(sw);
      for (const SwitchIdx end : graph.by_guid()) {
        for (std::uint32_t o = 0; o < routes.columns.others; ++o) {
          row[routes.columns.other(end, o)] = row[routes.columns.of(end, o)];
        }
      }
    }
  }

  const Targets targets = find_targets(fabric, lids);
  RoutingTables tables{
      .engine = std::string{routes.engine},
      .lft = write_tables(fabric, lids, graph, targets, routes.columns, routes.hops)};
  tables.lattice = std::move(routes.lattice);
  tables.vls = routes.regular_vls + detours->vls;
  if (routes.sls) tables.path_sls = write_sls(lids, graph, targets, routes.columns, *routes.sls);
  if (tables.vls > 1) tables.sl_to_vl = write_vls(fabric, graph, routes, detours->vls);
  tables.notes.push_back(routes.shape);
  if (detours->among_regular != 0) {
    tables.notes.push_back(fmt::format(
        "{} pairs of switches take ways round what is missing, on the data VL of all others",
        detours->among_regular));
  }
  if (!detours->pairs.empty()) {
    tables.notes.push_back(
        fmt::format("{} pairs of switches take ways round what is missing, on "
                    "{} data VL{} of their own",
                    detours->pairs.size(),
                    detours->vls,
                    detours->vls == 1 ? "" : "s"));
  }
  if (request.in_force != nullptr)
    tables.recomputed = find_recomputed(fabric, lids, tables, *request.in_force);
  return tables;
}

std::vector<Lid> find_recomputed(const Fabric& fabric,
                                 const LidMap& lids,
                                 const RoutingTables& tables,
                                 const PreviousRoutes& before) {
  const std::size_t count = lids.owner.size();
  std::vector<char> differs(count, 0);
  const ForwardingTables& old = before.routing->lft;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    SwitchIdx was = kNone<SwitchIdx>;
    if (const auto node = before.fabric->find_node(fabric.node_guid[fabric.switch_node[sw]]))
      was = before.fabric->switch_of[*node];
    const std::span<const PortNum> row = tables.lft.row(sw);
    if (was == kNone<SwitchIdx> || was.value() >= old.switches()) {
      for (std::size_t lid = 0; lid < count; ++lid) differs[lid] |= row[lid] != kNoRoute;
      continue;
    }
    const std::span<const PortNum> old_row = old.row(was);
    for (std::size_t lid = 0; lid < count; ++lid)
      differs[lid] |= row[lid] != (lid < old_row.size() ? old_row[lid] : kNoRoute);

    const bool now_any = tables.path_sls.empty(), then_any = before.routing->path_sls.empty();
    if (now_any && then_any) continue;
    const auto own = now_any ? std::span<const std::uint8_t>{} : tables.path_sls.row(sw);
    const auto then =
        then_any ? std::span<const std::uint8_t>{} : before.routing->path_sls.row(was);
    for (std::size_t lid = 0; lid < count; ++lid)
      differs[lid] |= (lid < own.size() ? own[lid] : 0) != (lid < then.size() ? then[lid] : 0);
  }
  std::vector<Lid> changed;
  for (std::size_t lid = 0; lid < count; ++lid) {
    if (differs[lid] && lids.owner[lid] != kNone<PortIdx>)
      changed.push_back(Lid{static_cast<std::uint16_t>(lid)});
  }
  return changed;
}

}  // namespace smd
