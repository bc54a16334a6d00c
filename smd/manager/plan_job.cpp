// What traffic may use meanwhile, a plan that reckons with it, and its check.
#include "smd/manager/plan_job.h"

#include <algorithm>

#include "smd/fabric/delta.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/routing/sl_to_vl.h"

namespace smd {

namespace {

std::uint32_t rank_of(const Orientation& orientation, Guid guid) {
  const auto found = std::ranges::lower_bound(
      orientation.by_guid, guid, {}, [](const auto& e) { return e.first; });
  return found != orientation.by_guid.end() && found->first == guid ? found->second : 0;
}

// Hosts at unresponsive switches use the SLs that were advertised to them.
PathSls sls_with_unresponsive(const Fabric& fabric,
                              const ActiveSubnet& now,
                              const ActiveSubnet& before) {
  PathSls sls{fabric.switch_count(), now.routing->lft.top()};
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const bool known = sw.value() < now.fabric().switch_count();
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const ActiveSubnet& from = known ? now : before;
    if (from.routing->path_sls.empty()) continue;
    const SwitchIdx there = known ? sw : from.fabric().switch_of[*from.fabric().find_node(guid)];
    const auto row = from.routing->path_sls.row(there);
    const auto to = sls.row(sw);
    std::copy_n(row.begin(), std::min(row.size(), to.size()), to.begin());
  }
  return sls;
}

// Of unresponsive switches what was wanted last; what they are known to hold is in the plan's task.
SlToVlMaps rows_with_unresponsive(const Fabric& fabric,
                                  const ActiveSubnet& now,
                                  const ActiveSubnet& before) {
  SlToVlMaps rows{fabric};
  rows.add_row(now.rows->rows().front());
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const bool known = sw.value() < now.fabric().switch_count();
    const Guid guid = fabric.node_guid[fabric.switch_node[sw]];
    const ActiveSubnet& from = known ? now : before;
    if (from.rows->empty()) continue;
    const SwitchIdx there = known ? sw : from.fabric().switch_of[*from.fabric().find_node(guid)];
    const unsigned ports = fabric.num_ports(fabric.switch_node[sw]);
    for (unsigned in = 0; in <= ports; ++in) {
      for (unsigned out = 0; out <= ports; ++out) {
        const PortNum i{static_cast<std::uint8_t>(in)}, o{static_cast<std::uint8_t>(out)};
        rows.set_row(sw, i, o, rows.add_row(from.rows->row(there, i, o)));
      }
    }
  }
  return rows;
}

/// So many sets of routes are remembered; hosts that may use those of more may use any SL.
constexpr std::size_t kMostAdvertised = 8;

// By `routing`, of the fabric `then`, from every switch that is on `now`.
void add_sls(
    const Fabric& then, const RoutingTables& routing, const Fabric& now, Lid top, SlSets& out) {
  const std::size_t switches = then.switch_count();
  for (const SwitchIdx sw : now.switch_node.indices()) {
    const auto node = then.find_node(now.node_guid[now.switch_node[sw]]);
    if (!node || !then.is_switch(*node)) continue;
    const SwitchIdx row = then.switch_of[*node];
    const Lid last = std::min(top, routing.lft.top());
    Lid lid{1};
    for (; lid <= last && routing.path_sls.covers(switches, lid); lid = next(lid)) {
      // Where there was no path nobody was told an SL.
      if (routing.lft.route(row, lid) != kNoRoute || !routing.default_port.empty())
        out.add(sw, lid, routing.path_sls.sl(row, lid) & 15);
    }
    if (lid <= last) out.add_any(sw, lid, last);
  }
}

// Whoever has a path has one by `now` as well, on the same SL.
bool tells_no_other_sl(const ActiveSubnet& then, const ActiveSubnet& now) {
  if (then.sweep.fabric == nullptr || now.sweep.fabric == nullptr) return false;
  const Fabric &old = then.fabric(), &fabric = now.fabric();
  const RoutingTables &told = then.routing, &tells = now.routing;
  if (!told.default_port.empty() || !tells.default_port.empty()) return false;
  const auto sl_of = [](const RoutingTables& of, SwitchIdx sw, Lid lid) {
    return of.path_sls.empty() ? 0u : of.path_sls.sl(sw, lid);
  };
  if (!told.path_sls.empty() && !told.path_sls.covers(old.switch_count(), told.lft.top()))
    return false;
  if (!tells.path_sls.empty() && !tells.path_sls.covers(fabric.switch_count(), tells.lft.top()))
    return false;
  for (const SwitchIdx sw : old.switch_node.indices()) {
    const auto node = fabric.find_node(old.node_guid[old.switch_node[sw]]);
    if (!node || !fabric.is_switch(*node)) return false;
    const SwitchIdx here = fabric.switch_of[*node];
    const bool same_sls = told.path_sls.empty() == tells.path_sls.empty() &&
                          (told.path_sls.empty() ||
                           std::ranges::equal(told.path_sls.row(sw), tells.path_sls.row(here)));
    if (same_sls && told.lft.shares_row(sw, tells.lft, here)) continue;
    for (std::uint32_t value = 1; value <= told.lft.top().value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (told.lft.route(sw, lid) == kNoRoute) continue;
      if (lid > tells.lft.top() || tells.lft.route(here, lid) == kNoRoute ||
          sl_of(told, sw, lid) != sl_of(tells, here, lid))
        return false;
    }
  }
  return true;
}

// Nobody knows what hosts were told.
SlSets any_sl(const Fabric& fabric, Lid top) {
  SlSets sets{fabric.switch_count(), top};
  for (const SwitchIdx sw : fabric.switch_node.indices()) sets.add_any(sw, Lid{1}, top);
  return sets;
}

SlSets sls_of_goal(const Fabric& fabric, const RoutingTables& routing, Lid top) {
  SlSets sets{fabric.switch_count(), top};
  add_sls(fabric, routing, fabric, top, sets);
  return sets;
}

SlSets sls_of_advertised(const Fabric& fabric, const AdvertisedRoutes& advertised, Lid top) {
  if (!advertised) return any_sl(fabric, top);
  SlSets sets{fabric.switch_count(), top};
  for (const auto& routes : *advertised)
    add_sls(routes->fabric(), routes->routing, fabric, top, sets);
  return sets;
}

/// A host's link may have fewer VLs; nothing waits in a circle there.
void set_apart(const Fabric& fabric, const MulticastVl& lane, SlToVlMaps& rows) {
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for_each_turn(fabric, sw, [&](PortNum in, PortNum out) {
      const unsigned lanes = count_vls(fabric, fabric.port_of(fabric.switch_node[sw], out));
      SlToVl row = rows.row(sw, in, out);
      row[lane.sl] = Vl{static_cast<std::uint8_t>(lane.vl.value() % lanes)};
      rows.set_row(sw, in, out, rows.add_row(row));
    });
  }
}

// In place of a plan that its check refused. Modes that block on purpose go all the way.
TransitionPlan replace_refused(const TransitionTask& task, PlannerOptions options) {
  const bool proves = options.first == Deactivation::Certified;
  if (proves && options.unproved == Unproved::Hold) return {.kind = TransitionKind::Held};
  if (proves && options.unproved == Unproved::Write) {
    TransitionPlan plan = plan_next_hop_first(task, options);
    for (TransitionPhase& phase : plan.phases) phase.certificate.clear();
    plan.vls = 1;
    return plan;
  }
  options.first = Deactivation::All;
  return plan_transition(task, options);
}

TransitionPlan plan_and_check(const PlanJob& job, const PlannerOptions& wanted_options) {
  std::optional<SlToVlTask> lanes;
  if (!job.goal->rows->empty())
    lanes = build_lane_task(*job.goal, job.advertised, job.rows, job.found, job.blocked);
  const VerifiedRoutes* const verified = job.goal->verified.get();
  const bool counted = verified != nullptr && verified->is_on_one_vl();
  ChannelOrder places;
  if (counted) {
    places.reserve(job.goal->fabric().port_count());
    for (const PortIdx port : job.goal->fabric().peer.indices())
      places.push_back(verified->place(port, 0));
  }
  const TransitionTask task{.fabric = job.goal->sweep.fabric.get(),
                            .lids = &*job.goal->lids,
                            .held = &job.held.lft,
                            .wanted = &job.goal->routing->lft,
                            .unknown = job.held.unknown,
                            .blocked = job.blocked,
                            .orientation = &job.goal->routing->orientation,
                            .sl_to_vl = lanes ? &*lanes : nullptr,
                            .turns = counted ? &verified->turns() : nullptr,
                            .places = counted ? &places : nullptr};
  // Where every entry is as wanted, nothing is taken down or rewritten, whatever the mode: a second
  // sweep after ports were retrained on purpose must come to an end.
  const bool settled = job.held.unknown.empty() && job.held.lft == job.goal->routing->lft;
  PlannerOptions options = wanted_options;
  if (settled)
    options = {.unproved = wanted_options.unproved, .other_vls = wanted_options.other_vls};
  TransitionPlan plan =
      job.next_hop_first ? plan_next_hop_first(task, options) : plan_transition(task, options);
  const TransitionVerdict verdict = check_transition(task, plan);
  if (verdict.ok()) return plan;
  TransitionPlan last = replace_refused(task, wanted_options);
  last.why =
      fmt::format("the {} plan was refused: {}", print_transition_kind(plan.kind), verdict.fault);
  return last;
}

std::shared_ptr<const ActiveSubnet> extend(std::shared_ptr<const ActiveSubnet> now,
                                           const ActiveSubnet& before,
                                           std::optional<Fabric> fabric) {
  if (!fabric) return now;
  LidMap lids = now->lids;
  lids.base.resize(fabric->port_count(), kUnassignedLid);
  lids.lmc.resize(fabric->port_count());
  RoutingTables routing = now->routing;
  // By GUID, so that the next plan finds the place of unresponsive switches; ranked only where the
  // routes obey the directions.
  auto& by_guid = routing.orientation.by_guid;
  const bool oriented = !by_guid.empty();
  const bool ranked = oriented && routing.orientation.rank.size() == now->fabric().switch_count();
  const ForwardingTables& known = before.routing->lft;
  ForwardingTables lft(fabric->switch_count(), routing.lft.top());
  const std::size_t blocks = std::min(lft.blocks(), known.blocks());
  for (const SwitchIdx sw : fabric->switch_node.indices()) {
    if (sw.value() < routing.lft.switches()) {
      lft.set_row(sw, routing.lft, sw);
      continue;
    }
    const Guid guid = fabric->node_guid[fabric->switch_node[sw]];
    const SwitchIdx then = before.fabric().switch_of[*before.fabric().find_node(guid)];
    for (std::size_t block = 0; block < blocks; ++block)
      lft.set_block(sw, block, known.block(then, block));
    const std::uint32_t rank = rank_of(before.routing->orientation, guid);
    if (ranked) routing.orientation.rank.push_back(rank);
    if (oriented && std::ranges::count(by_guid, guid, &std::pair<Guid, std::uint32_t>::first) == 0)
      by_guid.emplace_back(guid, rank);
    if (!routing.default_port.empty()) routing.default_port.push_back(kNoRoute);
  }
  routing.lft = std::move(lft);
  if (!routing.path_sls.empty()) routing.path_sls = sls_with_unresponsive(*fabric, *now, before);
  std::ranges::sort(by_guid);
  Shared<SlToVlMaps> rows = now->rows;
  if (!rows->empty()) rows = rows_with_unresponsive(*fabric, *now, before);
  SweepReport sweep = now->sweep;
  sweep.fabric = std::make_shared<const Fabric>(std::move(*fabric));
  return std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = std::move(sweep),
                                                           .lids = std::move(lids),
                                                           .routing = std::move(routing),
                                                           .rows = rows,
                                                           .partitions = now->partitions,
                                                           .multicast_vl = now->multicast_vl});
}

}  // namespace

std::shared_ptr<const ActiveSubnet> add_unresponsive(std::shared_ptr<const ActiveSubnet> now,
                                                     const ActiveSubnet& before) {
  if (now.get() == &before) return now;
  std::optional<Fabric> fabric = with_unresponsive(now->fabric(), before.fabric());
  return extend(std::move(now), before, std::move(fabric));
}

std::shared_ptr<const ActiveSubnet> add_lost(std::shared_ptr<const ActiveSubnet> now,
                                             const ActiveSubnet& before) {
  if (now.get() == &before) return now;
  std::optional<Fabric> fabric = with_lost(now->fabric(), before.fabric());
  return extend(std::move(now), before, std::move(fabric));
}

std::shared_ptr<const ActiveSubnet> freeze_unresponsive(SwitchIdx first,
                                                        const ActiveSubnet& extended,
                                                        const HeldTables& held) {
  RoutingTables routing = extended.routing;
  ForwardingTables& wanted = routing.lft;
  for (SwitchIdx sw = first; sw.value() < wanted.switches(); sw = next(sw))
    wanted.set_row(sw, held.lft, sw);
  return std::make_shared<const ActiveSubnet>(ActiveSubnet{.sweep = extended.sweep,
                                                           .lids = extended.lids,
                                                           .routing = std::move(routing),
                                                           .rows = extended.rows,
                                                           .partitions = extended.partitions,
                                                           .multicast_vl = extended.multicast_vl});
}

std::vector<PortIdx> find_ports_to_unresponsive(const Fabric& found, const Fabric& extended) {
  std::vector<PortIdx> ends;
  for (const PortIdx port : found.peer.indices()) {
    if (found.peer[port] == kNone<PortIdx> && extended.peer[port] != kNone<PortIdx>)
      ends.push_back(port);
  }
  return ends;
}

bool reaches_beyond(const Fabric& fabric, const TransitionPlan& plan) {
  const auto is_beyond = [&](const auto& item) { return item.sw.value() >= fabric.switch_count(); };
  const auto is_far_port = [&](PortIdx port) { return port.value() >= fabric.port_count(); };
  const auto is_far_entry = [&](const BlockedSls& each) { return is_beyond(each.turn); };
  if (std::ranges::any_of(plan.blocked_sls, is_far_entry)) return true;
  return std::ranges::any_of(plan.phases, [&](const TransitionPhase& phase) {
    return std::ranges::any_of(phase.block, is_beyond) ||
           std::ranges::any_of(phase.restore, is_beyond) ||
           std::ranges::any_of(phase.entries, is_beyond) ||
           std::ranges::any_of(phase.deactivate, is_far_port) ||
           std::ranges::any_of(phase.activate, is_far_port);
  });
}

AdvertisedRoutes AdvertisedSls::at(TimePoint now) const {
  std::vector<std::shared_ptr<const ActiveSubnet>> advertised;
  for (const Entry& entry : entries_) {
    if (entry.replaced && *entry.replaced + kHostsAskAgainWithin <= now) continue;
    if (!entry.routes) return std::nullopt;
    advertised.push_back(entry.routes);
  }
  return advertised;
}

void AdvertisedSls::advertise(std::shared_ptr<const ActiveSubnet> routes,
                              bool complete,
                              bool silent,
                              TimePoint now) {
  std::erase_if(entries_, [&](const Entry& entry) {
    return (complete && silent) || (entry.routes && entry.routes->has_routes_of(*routes)) ||
           (entry.replaced && *entry.replaced + kHostsAskAgainWithin <= now);
  });
  for (Entry& entry : entries_) {
    if (complete && !entry.replaced) entry.replaced = now;
  }
  // As where hosts come and go: nobody else's paths have other SLs.
  if (entries_.size() >= kMostAdvertised) {
    std::erase_if(entries_, [&](const Entry& entry) {
      return entry.routes && tells_no_other_sl(*entry.routes, *routes);
    });
  }
  if (entries_.size() >= kMostAdvertised)
    entries_ = {{.routes = nullptr, .replaced = complete ? std::optional(now) : std::nullopt}};
  entries_.push_back({std::move(routes), std::nullopt});
}

void AdvertisedSls::refresh(const std::shared_ptr<const ActiveSubnet>& better) {
  for (Entry& entry : entries_) {
    if (entry.routes && entry.routes->has_routes_of(*better)) entry.routes = better;
  }
}

SlToVlMaps choose_rows(const Fabric& fabric,
                       const RoutingTables& routing,
                       const QosPolicy& qos,
                       const std::optional<MulticastVl>& apart,
                       unsigned most_vls) {
  const bool one_lane = routing.sl_to_vl.empty() && routing.vls <= 1;
  const SlToVl free_choice = modulo_row(apart ? apart->vl.value() : most_vls);
  const SlToVl common = one_lane ? qos.row_of(PortKind::SwitchExternal).value_or(free_choice)
                                 : modulo_row(std::clamp(routing.vls, 1u, 15u));
  SlToVlMaps rows = build_switch_rows(fabric, routing.sl_to_vl, common);
  if (apart) set_apart(fabric, *apart, rows);
  return rows;
}

SlToVlTask build_lane_task(const ActiveSubnet& goal,
                           const AdvertisedRoutes& advertised,
                           const ConfirmedSlToVl& known,
                           std::size_t found,
                           const std::vector<Turn>& blocked) {
  const Fabric& fabric = goal.fabric();
  const Lid top = goal.routing->lft.top();
  // Each has two bytes for every entry of every table, and most plans tell no VLs apart.
  SlToVlTask task{
      .advertised = OnFirstUse<SlSets>{[on = goal.sweep.fabric, advertised, top] {
        return sls_of_advertised(*on, advertised, top);
      }},
      .wanted_sls = OnFirstUse<SlSets>{[on = goal.sweep.fabric, of = goal.routing, top] {
        return sls_of_goal(*on, of, top);
      }},
      .held = goal.rows,
      .wanted = goal.rows,
      .unknown = {}};
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const bool answers = sw.value() < found;
    const auto held = known.of(fabric.node_guid[fabric.switch_node[sw]]);
    const bool forwards = fabric.switch_info[sw].linear_fdb_top != 0;
    for_each_turn(fabric, sw, [&](PortNum in, PortNum out) {
      const SlToVl* row = held.find(in, out);
      if (std::ranges::binary_search(blocked, Turn{sw, in, out})) return;
      if (row != nullptr) {
        task.held.set_row(sw, in, out, task.held.add_row(*row));
        if (!answers) task.wanted.set_row(sw, in, out, task.wanted.add_row(*row));
      } else if (forwards) {
        task.unknown.push_back({sw, in, out});
      } else {
        task.fresh = true;
      }
    });
  }
  std::ranges::sort(task.unknown);
  return task;
}

TransitionPlan compute_plan(const PlanJob& job) { return plan_and_check(job, job.options); }

TransitionPlan compute_plan(const UnresponsiveJob& job) {
  const Fabric& found = job.without.goal->fabric();
  const bool known = std::ranges::none_of(job.job.held.unknown, [&](const TableBlock& block) {
    return block.sw.value() >= found.switch_count();
  });
  if (known) {
    PlannerOptions options = job.job.options;
    options.detours = false;  // unresponsive switches take no entries
    TransitionPlan plan = plan_and_check(job.job, options);
    if (plan.certified() && !reaches_beyond(found, plan)) return plan;
  }
  TransitionPlan other = compute_plan(job.without);
  std::vector<PortIdx> ends = find_ports_to_unresponsive(found, job.job.goal->fabric());
  const std::string why =
      fmt::format("{} ports to switches that answer nothing are taken down", ends.size());
  other.why = other.why.empty() ? why : why + "; " + other.why;
  if (other.is_free()) other.kind = TransitionKind::CutPorts;
  other.phases.insert(other.phases.begin(), TransitionPhase{.deactivate = std::move(ends)});
  return other;
}

}  // namespace smd
