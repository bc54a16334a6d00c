#include "smd/routing/itb_vl/vl_tables.h"

#include <algorithm>

#include "smd/routing/incremental/changes.h"

namespace smd {
namespace {

SlToVl make_row(std::uint16_t sls) {
  SlToVl row;
  for (unsigned sl = 0; sl < kSls; ++sl) row[sl] = (sls >> sl & 1) != 0 ? Vl{0} : kManagementVl;
  return row;
}

// By edge, the SLs of the paths that begin with it.
std::vector<std::uint16_t> find_injected(const ItbVlWriting& what, const ItbVlPlan& plan) {
  std::vector<std::uint16_t> injected(what.graph.edge_count(), 0);
  for (std::size_t o = 0; o < plan.trees.size(); ++o) {
    for (const SwitchIdx to : what.targets.of.indices()) {
      for (const SwitchIdx from : what.targets.of.indices()) {
        const std::uint32_t edge = plan.trees[o].edge(to, from);
        if (from == to || edge == kNoEdge) continue;
        injected[edge] =
            static_cast<std::uint16_t>(injected[edge] | 1u << plan.sls[o].sl(from, to));
      }
    }
  }
  return injected;
}

void write_path_sls(const ItbVlWriting& what, const ItbVlPlan& plan, PathSls& sls) {
  for (const SwitchIdx to : what.targets.of.indices()) {
    for (const Target& target : what.targets.of[to]) {
      for (std::size_t o = 0; o < std::size_t{1} << target.lmc; ++o) {
        const Lid lid{static_cast<std::uint16_t>(target.base.value() + o)};
        for (const SwitchIdx from : what.targets.of.indices()) {
          const std::uint8_t sl = from == to ? PairSls::kUnset : plan.sls[o].sl(from, to);
          if (sl != PairSls::kUnset) sls.set_sl(from, lid, sl);
        }
      }
    }
  }
}

// Rows of one switch: by what a port is cabled to, kNoEdge for all but switches.
void write_switch(const ItbVlWriting& what,
                  const ItbVlPlan& plan,
                  std::span<const std::uint16_t> injected,
                  SwitchIdx sw,
                  std::uint16_t everything,
                  SlToVlMaps& vls) {
  const unsigned ports = what.fabric.num_ports(what.fabric.switch_node[sw]);
  std::vector<std::uint32_t> edge_of(ports + 1, kNoEdge);
  std::uint32_t edge = what.graph.first_edge(sw);
  for (std::size_t i = 0; i < what.graph.edges(sw).size(); ++i, ++edge) {
    for (const ParallelLinks::Link& link : what.links.of(edge)) edge_of[link.port.value()] = edge;
  }
  const auto port = [](unsigned p) { return PortNum{static_cast<std::uint8_t>(p)}; };
  for (unsigned out = 0; out <= ports; ++out) {
    if (edge_of[out] == kNoEdge) {
      for (unsigned in = 0; in <= ports; ++in) vls.set_row(sw, port(in), port(out), everything);
      continue;
    }
    const std::uint16_t from_hosts = vls.add_row(make_row(injected[edge_of[out]]));
    std::vector<std::uint16_t> by_edge(what.graph.edges(sw).size(), from_hosts);
    for (std::size_t i = 0; i < by_edge.size(); ++i) {
      const std::uint32_t in =
          what.links.reverse(what.graph.first_edge(sw) + static_cast<std::uint32_t>(i));
      SlToVl row;
      for (std::uint8_t sl = 0; sl < kSls; ++sl)
        row[sl] = Vl{plan.placer->vl(in, edge_of[out], sl)};
      by_edge[i] = vls.add_row(row);
    }
    for (unsigned in = 0; in <= ports; ++in) {
      const std::uint16_t row =
          edge_of[in] == kNoEdge ? from_hosts : by_edge[edge_of[in] - what.graph.first_edge(sw)];
      vls.set_row(sw, port(in), port(out), row);
    }
  }
}

// Rows of the switches of now in the tables in force; kNone for those that are new.
IndexVector<SwitchIdx, SwitchIdx> find_rows(const Fabric& now, const Fabric& before) {
  IndexVector<SwitchIdx, SwitchIdx> rows;
  for (const NodeIdx node : now.switch_node) {
    const auto known = before.find_node(now.node_guid[node]);
    rows.push_back(known ? before.switch_of[*known] : kNone<SwitchIdx>);
  }
  return rows;
}

// Of cables that share an edge, one that was there before; else port 0.
PortNum find_link(const ItbVlWriting& now,
                  const PreviousRoutes& in_force,
                  SwitchIdx row,
                  std::uint32_t edge) {
  const Fabric& before = *in_force.fabric;
  const NodeIdx node = before.switch_node[row];
  for (const ParallelLinks::Link& link : now.links.of(edge)) {
    if (link.port.value() <= before.num_ports(node) &&
        before.peer[before.port_of(node, link.port)] != kNone<PortIdx>)
      return link.port;
  }
  return PortNum{0};
}

std::vector<std::uint8_t> find_vls(const ItbVlWriting& now,
                                   const PreviousRoutes& in_force,
                                   const IndexVector<SwitchIdx, SwitchIdx>& rows) {
  const SlToVlMaps& before = in_force.routing->sl_to_vl;
  if (before.empty()) return {};
  const Dependencies turns{now.graph};
  std::vector<std::uint8_t> vls(turns.size() * kSls, SlPlacer::kNoVl);
  for (const SwitchIdx sw : rows.indices()) {
    if (rows[sw] == kNone<SwitchIdx>) continue;
    const std::uint32_t first = now.graph.first_edge(sw);
    const auto end = first + static_cast<std::uint32_t>(now.graph.edges(sw).size());
    for (std::uint32_t out = first; out < end; ++out) {
      const PortNum to = find_link(now, in_force, rows[sw], out);
      for (std::uint32_t back = first; back < end && to != PortNum{0}; ++back) {
        const PortNum from = find_link(now, in_force, rows[sw], back);
        if (back == out || from == PortNum{0}) continue;
        const SlToVl& row = before.row(rows[sw], from, to);
        std::uint8_t* const wish = vls.data() + turns.between(now.links.reverse(back), out) * kSls;
        for (unsigned sl = 0; sl < kSls; ++sl) wish[sl] = row[sl].value();
      }
    }
  }
  return vls;
}

// Of the LIDs of an offset at a switch one that it served before, whose entries are those of the
// tree; else that at the lowest port, which is new or has moved. kUnassignedLid: there is none.
Lid find_lid_in_force(std::span<const Target> targets,
                      unsigned offset,
                      const PreviousRoutes& in_force,
                      SwitchIdx row) {
  Lid first = kUnassignedLid;
  for (const Target& target : targets) {
    if (offset >= 1u << target.lmc) continue;
    const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
    if (serves(in_force, row, lid)) return lid;
    if (first == kUnassignedLid) first = lid;
  }
  return first;
}

}  // namespace

ParallelLinks::ParallelLinks(const SwitchGraph& all,
                             const SwitchGraph& simple,
                             const std::vector<std::uint32_t>& costs) {
  for (SwitchIdx sw{0}; sw.value() < simple.switches(); sw = next(sw)) {
    for (const SwitchEdge& edge : simple.edges(sw)) {
      first_.push_back(static_cast<std::uint32_t>(links_.size()));
      std::uint32_t at = all.first_edge(sw);
      for (const SwitchEdge& link : all.edges(sw)) {
        if (link.to == edge.to) links_.push_back({link.port, costs[at]});
        ++at;
      }
      std::uint32_t back = simple.first_edge(edge.to);
      while (simple.edge(back).to != sw) ++back;
      reverse_.push_back(back);
    }
  }
  first_.push_back(static_cast<std::uint32_t>(links_.size()));
}

std::vector<std::uint32_t> ParallelLinks::sum_costs() const {
  constexpr double kFastest = 64;
  std::vector<double> capacity(reverse_.size(), 0);
  for (std::uint32_t edge = 0; edge < reverse_.size(); ++edge) {
    for (const Link& link : of(edge)) capacity[edge] += 1.0 / link.cost;
  }
  std::vector<std::uint32_t> sums(capacity.size(), 1);
  if (capacity.empty()) return sums;
  const auto [least, most] = std::ranges::minmax(capacity);
  for (std::size_t edge = 0; least != most && edge < sums.size(); ++edge)
    sums[edge] = static_cast<std::uint32_t>(kFastest * most / capacity[edge] + 0.5);
  return sums;
}

void write_routes(const ItbVlWriting& what,
                  const ItbVlPlan& plan,
                  const PreviousRoutes* in_force,
                  ForwardingTables& lft) {
  const std::size_t switches = what.graph.switches();
  IndexVector<SwitchIdx, SwitchIdx> rows(switches, kNone<SwitchIdx>);
  if (in_force != nullptr) rows = find_rows(what.fabric, *in_force->fabric);
  const auto port_before = [&](SwitchIdx at, Lid lid) {
    const bool known = rows[at] != kNone<SwitchIdx> && lid <= in_force->routing->lft.top();
    return known ? in_force->routing->lft.route(rows[at], lid) : kNoRoute;
  };
  // What each cable carries, numbered as in ParallelLinks, and what passes each switch to the tree
  // at hand.
  std::vector<std::vector<std::uint64_t>> load(what.graph.edge_count());
  IndexVector<SwitchIdx, std::uint64_t> flow(switches, 0);
  for (std::size_t offset = 0; offset < plan.trees.size(); ++offset) {
    for (std::uint32_t edge = 0; edge < load.size(); ++edge)
      load[edge].assign(what.links.of(edge).size(), 0);
    const SwitchTrees& trees = plan.trees[offset];
    for (const SwitchIdx destination : flow.indices()) {
      const std::vector<Target>& targets = what.targets.of[destination];
      flow.assign(switches, 0);
      for (const SwitchIdx source : flow.indices()) {
        for (SwitchIdx at = source; at != destination;) {
          const std::uint32_t edge = trees.edge(destination, at);
          if (edge == kNoEdge) break;
          flow[at] += what.demand.sends[source];
          at = what.graph.edge(edge).to;
        }
      }
      for (const Target& target : targets) {
        if (offset >= std::size_t{1} << target.lmc) continue;
        const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
        lft.set_route(destination, lid, target.egress);
        for (const SwitchIdx at : flow.indices()) {
          const std::uint32_t edge = trees.edge(destination, at);
          if (at == destination || edge == kNoEdge) continue;
          const auto links = what.links.of(edge);
          auto taken = std::ranges::min_element(load[edge]);
          // The cable of before, as long as that leaves them even.
          const auto before =
              std::ranges::find(links, port_before(at, lid), &ParallelLinks::Link::port);
          if (before != links.end()) {
            const auto its = load[edge].begin() + (before - links.begin());
            const std::uint64_t more = flow[at] * target.demand * before->cost;
            if (more == 0 || *its <= *taken + more) taken = its;
          }
          const ParallelLinks::Link& link =
              links[static_cast<std::size_t>(taken - load[edge].begin())];
          *taken += flow[at] * target.demand * link.cost;
          lft.set_route(at, lid, link.port);
        }
      }
    }
  }
}

void write_vls(const ItbVlWriting& what, const ItbVlPlan& plan, RoutingTables& tables) {
  tables.vls = plan.vls;
  if (plan.vls == 1 && plan.sl_count == 1) return;
  tables.path_sls = PathSls{what.graph.switches(), tables.lft.top()};
  write_path_sls(what, plan, tables.path_sls);
  if (plan.placer->layered()) return;
  tables.sl_to_vl = SlToVlMaps{what.fabric};
  const std::uint16_t everything = tables.sl_to_vl.add_row(make_row(0xffff));
  const std::vector<std::uint16_t> injected = find_injected(what, plan);
  for (const SwitchIdx sw : what.targets.of.indices())
    write_switch(what, plan, injected, sw, everything, tables.sl_to_vl);
}

std::optional<PreviousVls> find_previous_vls(const ItbVlWriting& now,
                                             const PreviousRoutes& in_force,
                                             unsigned offsets) {
  const RoutingTables& before = *in_force.routing;
  const std::size_t switches = now.graph.switches();
  if (before.lft.switches() != in_force.fabric->switch_count()) return std::nullopt;
  if (before.path_sls.empty() != before.sl_to_vl.empty()) return std::nullopt;  // SLs as layers
  const IndexVector<SwitchIdx, SwitchIdx> rows = find_rows(now.fabric, *in_force.fabric);
  PreviousVls previous{.trees = std::vector<SwitchTrees>(offsets, SwitchTrees{switches}),
                       .sls = std::vector<PairSls>(offsets, PairSls{switches}),
                       .vls = find_vls(now, in_force, rows),
                       .imbalance = before.load.imbalance};
  bool any = false;
  std::vector<std::uint32_t> edge_of(256, kNoEdge);  // by port
  ShortestSearch search{now.graph};
  NextHops hops;
  for (const SwitchIdx to : rows.indices()) {
    if (now.targets.of[to].empty()) continue;
    search.find(to, hops);
    std::vector<Lid> of_offset;
    for (unsigned o = 0; o < offsets; ++o)
      of_offset.push_back(find_lid_in_force(now.targets.of[to], o, in_force, rows[to]));
    for (std::size_t i = 0; i < hops.order.size(); ++i) {
      const SwitchIdx at = hops.order[i];
      if (rows[at] == kNone<SwitchIdx>) continue;
      for (std::uint32_t edge = hops.first[i]; edge < hops.first[i + 1]; ++edge) {
        for (const ParallelLinks::Link& link : now.links.of(hops.edges[edge]))
          edge_of[link.port.value()] = hops.edges[edge];
      }
      for (unsigned o = 0; o < offsets; ++o) {
        const Lid lid = of_offset[o];
        if (lid == kUnassignedLid || lid > before.lft.top()) continue;
        const std::uint32_t edge = edge_of[before.lft.route(rows[at], lid).value()];
        if (edge == kNoEdge) continue;
        previous.trees[o].set_edge(to, at, edge);
        any = true;
        if (!before.path_sls.empty())
          previous.sls[o].set_sl(at, to, before.path_sls.sl(rows[at], lid));
      }
      std::ranges::fill(edge_of, kNoEdge);
    }
  }
  if (!any) return std::nullopt;
  return previous;
}

void keep_unowned_lids(const ItbVlWriting& what,
                       const ItbVlPlan& plan,
                       const LidMap& lids,
                       const PreviousRoutes& in_force,
                       RoutingTables& tables) {
  const ForwardingTables& before = in_force.routing->lft;
  Targets unowned;
  unowned.of.resize(what.graph.switches());
  add_orphaned_lids(what.fabric, lids, in_force, unowned);
  const IndexVector<SwitchIdx, SwitchIdx> rows = find_rows(what.fabric, *in_force.fabric);
  // The cable in force where it is one of the edge's, else the first.
  const auto link_of = [&](SwitchIdx at, Lid lid, std::uint32_t edge) {
    const auto links = what.links.of(edge);
    if (rows[at] == kNone<SwitchIdx>) return links.front().port;
    const auto held =
        std::ranges::find(links, before.route(rows[at], lid), &ParallelLinks::Link::port);
    return held == links.end() ? links.front().port : held->port;
  };
  const auto keep = [&](SwitchIdx to, Lid lid, PortNum egress) {
    std::size_t best = 0, most = 0;
    for (std::size_t o = 0; o < plan.trees.size(); ++o) {
      std::size_t same = 0;
      for (const SwitchIdx at : rows.indices()) {
        const std::uint32_t edge = plan.trees[o].edge(to, at);
        same += at != to && edge != kNoEdge && rows[at] != kNone<SwitchIdx> &&
                link_of(at, lid, edge) == before.route(rows[at], lid);
      }
      if (same > most) best = o;
      most = std::max(most, same);
    }
    tables.lft.set_route(to, lid, egress);
    for (const SwitchIdx at : rows.indices()) {
      const std::uint32_t edge = plan.trees[best].edge(to, at);
      if (at == to || edge == kNoEdge) continue;
      tables.lft.set_route(at, lid, link_of(at, lid, edge));
      const std::uint8_t sl = plan.sls[best].sl(at, to);
      if (!tables.path_sls.empty() && sl != PairSls::kUnset) tables.path_sls.set_sl(at, lid, sl);
    }
  };
  for (const SwitchIdx to : unowned.of.indices()) {
    for (const Target& target : unowned.of[to]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        keep(to, Lid{static_cast<std::uint16_t>(target.base.value() + offset)}, target.egress);
    }
  }
}

std::vector<Lid> list_changed(const Fabric& fabric,
                              const ForwardingTables& lft,
                              const PreviousRoutes& in_force) {
  const ForwardingTables& before = in_force.routing->lft;
  std::vector<char> differs(std::size_t{lft.top().value()} + 1, 0);
  const IndexVector<SwitchIdx, SwitchIdx> rows = find_rows(fabric, *in_force.fabric);
  for (const SwitchIdx sw : rows.indices()) {
    for (std::size_t value = 1; value < differs.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const bool known = rows[sw] != kNone<SwitchIdx> && lid <= before.top();
      if ((known ? before.route(rows[sw], lid) : kNoRoute) != lft.route(sw, lid))
        differs[value] = 1;
    }
  }
  std::vector<Lid> changed;
  for (std::size_t value = 1; value < differs.size(); ++value) {
    if (differs[value]) changed.push_back(Lid{static_cast<std::uint16_t>(value)});
  }
  return changed;
}

}  // namespace smd
