// An engine's tables and their check; what another manager's tables are worth.
#include "smd/manager/route_job.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "smd/base/parallel.h"
#include "smd/routing/nue/paths_of_switches.h"

namespace smd {
namespace {

/// The fullest channel against that of routes from scratch, at rest.
constexpr double kEven = 1.05;

/// Where one switch is left at most, as when the manager's own cable is pulled, there is no shape
/// to find, and none is needed.
const Engine* engine_for(const Fabric& fabric, const std::string& name) {
  const Engine* const asked = find_engine(name);
  return asked != nullptr && fabric.switch_count() <= 1 ? find_engine("updn") : asked;
}

constexpr const char* kStopped = "nobody wants it any more";

enum class Keep : std::uint8_t { Nothing, Routes, RoutesRebalanced };

bool made_by(const RoutingTables& tables, const std::string& engine, const EngineOptions& options) {
  return tables.engine == name_of_routes(engine, options) || tables.chosen_by == engine;
}

/// As they were asked for, in order.
std::vector<std::string> engines_of(const RouteJob& job) {
  std::vector<std::string> engines = {job.engine};
  engines.insert(engines.end(), job.next_engines.begin(), job.next_engines.end());
  return engines;
}

/// And who stands in where all of them refuse.
std::vector<std::string> engines_and_fallback(const RouteJob& job) {
  std::vector<std::string> engines = engines_of(job);
  if (job.fallback && std::ranges::count(engines, "updn") == 0) engines.emplace_back("updn");
  return engines;
}

/// Where no engine that was asked for can make the routes there is one set of paths.
bool wants_path_sets(const RouteJob& job, const std::string& engine) {
  if (!job.engine_options.path_sets || job.fabric->switch_count() <= 1) return false;
  return std::ranges::count(engines_of(job), engine) != 0;
}

/// The engine, or whose name among the candidates of auto its routes have.
std::string candidate_of(const RoutingTables& tables) {
  const auto taken = std::ranges::find(tables.candidates, true, &EngineCandidate::taken);
  return taken == tables.candidates.end() ? tables.engine : taken->engine;
}

/// Weights whose GUIDs are of nodes and of no port that draws traffic. Of GUIDs that are nowhere
/// nobody knows: hosts come and go.
void note_weights(const Fabric& fabric, RoutingTables& tables) {
  if (!fabric.site_nodes) return;
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> idle;
  for (const auto& [guid, weight] : fabric.site_nodes->weights) {
    const std::optional<NodeIdx> node = fabric.find_node(guid);
    if (!node) continue;
    bool draws = false;
    if (!fabric.is_switch(*node)) {
      for (const PortIdx port : fabric.external_ports(*node))
        draws |= fabric.port_guid[port] == guid;
    }
    if (!draws) idle.push_back(fmt::format("{}", guid));
  }
  if (idle.empty()) return;
  const std::size_t more = idle.size() - std::min(idle.size(), kNamed);
  idle.resize(idle.size() - more);
  tables.notes.push_back(
      fmt::format("sm.weights: no effect of {}{}, of a switch or an adapter: weights are of ports "
                  "of adapters, by the GUIDs that ibstat shows",
                  fmt::join(idle, ", "),
                  more > 0 ? fmt::format(" and {} more", more) : ""));
}

/// What was asked for and has no effect.
void note_unheeded(const RouteJob& job, const EngineOptions& options, RoutingTables& tables) {
  note_weights(*job.fabric, tables);
  if (job.engine_options.path_sets && !options.path_sets)
    tables.notes.push_back(
        fmt::format("sm.path_sets: {} routes all LIDs of a port alike", tables.engine));
  if (!options.roots.empty() && tables.chosen_by == "auto" && tables.engine != "updn")
    tables.notes.push_back(fmt::format("sm.roots: {} heeds them not, updn does", tables.engine));
  const NonMinimal asked = job.engine_options.non_minimal;
  if (asked == NonMinimal::Off) return;
  if (std::ranges::all_of(job.lids.lmc, [](std::uint8_t lmc) { return lmc == 0; })) {
    tables.notes.emplace_back("sm.non_minimal: every port has one LID, and sm.lmc gives it more");
  } else if (asked == NonMinimal::AlmostMinimal) {
    if (tables.engine != "dfsssp")
      tables.notes.push_back(fmt::format(
          "sm.non_minimal: {} has no almost minimal paths, dfsssp does", tables.engine));
  } else if (tables.engine != "hamming" && tables.engine != "dragonfly") {
    tables.notes.push_back(
        fmt::format("sm.non_minimal: {} heeds it not, hamming and dragonfly do", tables.engine));
  }
}

/// By what differs from the routes in force, where it is known what was found of those.
void check(const RouteJob& job, Routed& out) {
  const bool known = job.in_force && job.in_force->verified;
  RouteCheck checked =
      check_route_changes(known ? job.in_force->verified.get() : nullptr,
                          known ? job.in_force->routes() : RoutesOnFabric{},
                          {.fabric = &*job.fabric, .lids = &job.lids, .routing = &out.tables},
                          count_threads(job.fabric->switch_count() * job.lids.owner.size()));
  out.routes = std::move(checked.routes);
  out.verified = std::move(checked.verified);
}

/// Where an entry leads, if that is another switch by a port that the switch has.
PortIdx channel_of(const Fabric& fabric, const ForwardingTables& lft, SwitchIdx sw, Lid lid) {
  const NodeIdx node = fabric.switch_node[sw];
  const PortNum egress = lft.route(sw, lid);
  if (egress.value() == 0 || egress.value() > fabric.num_ports(node)) return kNone<PortIdx>;
  const PortIdx port = fabric.port_of(node, egress);
  const PortIdx peer = fabric.peer[port];
  const bool leads_on = peer != kNone<PortIdx> && fabric.switch_at(peer) != kNone<SwitchIdx>;
  return leads_on ? port : kNone<PortIdx>;
}

/// Adds what packets to `lid` make wait for what. False: not all of it rises in the places, or
/// there are none.
bool add_dependencies(const Fabric& fabric,
                      const RoutingTables& tables,
                      const VerifiedRoutes* verified,
                      Lid lid,
                      ChannelGraph& graph) {
  bool rises = true;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const PortIdx first = channel_of(fabric, tables.lft, sw, lid);
    if (first == kNone<PortIdx>) continue;
    const PortIdx in = fabric.peer[first];
    const PortIdx second = channel_of(fabric, tables.lft, fabric.switch_at(in), lid);
    if (second == kNone<PortIdx> || second == in) continue;
    graph.add(in, 0, fabric.number_of(second).value(), 0);
    rises = rises && verified != nullptr && verified->place(first, 0) < verified->place(second, 0);
  }
  return rises;
}

/// Entries to LIDs that nobody has stay, so that who comes back finds them; what is sent there
/// meanwhile waits as all packets do, and the check does not count it. Where it closes a cycle, the
/// entries to LIDs that fall in the order of the check are withdrawn: all that is left rises.
/// Where the check keeps no order, as on a fabric in pieces, all of them are withdrawn.
bool withdraw_closing_entries(const RouteJob& job, Routed& out) {
  const VerifiedRoutes* const verified = out.verified.get();
  if (!out.routes.acyclic || (verified != nullptr ? !verified->is_on_one_vl() : out.tables.vls > 1))
    return false;
  const Fabric& fabric = *job.fabric;
  ForwardingTables& lft = out.tables.lft;
  ChannelGraph graph{fabric, 1};
  std::vector<Lid> falling;
  for (const Lid lid : list_orphaned_lids(lft, job.lids)) {
    if (!add_dependencies(fabric, out.tables, verified, lid, graph)) falling.push_back(lid);
  }
  if (falling.empty()) return false;
  if (verified == nullptr) add_table_turns(fabric, job.lids, lft, graph);
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx in : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[in];
      if (verified != nullptr && peer != kNone<PortIdx> &&
          fabric.switch_at(peer) != kNone<SwitchIdx>)
        graph.add_all(in, verified->turns().outs(in));
    }
  }
  if (graph.find_cycle().empty()) return false;
  for (const Lid lid : falling) {
    for (const SwitchIdx sw : fabric.switch_node.indices()) lft.set_route(sw, lid, kNoRoute);
  }
  return true;
}

/// Directions that routes do not obey are kept for the next computation alone: who reads ranks
/// (multicast trees, plans) takes them for obeyed.
void drop_ranks_not_obeyed(const RouteJob& job, Routed& out) {
  auto& rank = out.tables.orientation.rank;
  if (rank.empty()) return;
  const VerifiedRoutes* const verified = out.verified.get();
  const bool obeyed =
      rank.size() == job.fabric->switch_count() && out.tables.vls == 1 &&
      obeys_ranks(*job.fabric,
                  job.lids,
                  out.tables,
                  verified != nullptr && verified->is_on_one_vl() ? &verified->turns() : nullptr);
  if (!obeyed) rank.clear();
}

/// Computed without those in force.
bool finds_directions_in_force(const RouteJob& job,
                               const std::string& engine,
                               const EngineOptions& options,
                               const RoutingTables& tables) {
  return job.keeps_equal_directions && job.in_force && job.orientation.by_guid.empty() &&
         made_by(job.in_force->routing, engine, options) && !tables.orientation.by_guid.empty() &&
         tables.orientation.by_guid == job.in_force->routing->orientation.by_guid;
}

Routed compute_with(const RouteJob& job, const std::string& engine, Keep keep) {
  Routed out;
  const Engine* chosen = engine_for(*job.fabric, engine);
  if (chosen == nullptr) {
    out.error = Error{Errc::Invalid, fmt::format("no engine '{}'", engine)};
    return out;
  }
  PreviousRoutes previous;
  RoutingRequest request{.options = job.engine_options,
                         .max_vls = std::min(job.max_vls, count_common_vls(*job.fabric)),
                         .rebalance = keep == Keep::RoutesRebalanced,
                         .found = job.found ? &*job.found : nullptr};
  if (!job.orientation.by_guid.empty()) request.previous = &job.orientation;
  request.lattice = &job.lattice;
  // Routes over other directions than those of the request are no help.
  const bool same_directions =
      keep != Keep::Nothing && job.in_force &&
      (job.in_force->routing->orientation.by_guid.empty() ||
       job.in_force->routing->orientation.by_guid == job.orientation.by_guid);
  request.options.path_sets = wants_path_sets(job, engine);
  if (same_directions && made_by(job.in_force->routing, engine, request.options)) {
    previous = {.fabric = job.in_force->sweep.fabric.get(),
                .lids = &*job.in_force->lids,
                .routing = &*job.in_force->routing};
    request.in_force = &previous;
  }
  auto tables = chosen->compute(*job.fabric, job.lids, request);
  if (!tables) {
    out.error = tables.error();
    return out;
  }
  if (keep != Keep::Nothing && finds_directions_in_force(job, engine, request.options, *tables)) {
    RouteJob same = job;
    same.orientation = tables->orientation;
    out = compute_with(same, engine, keep);
    // Why other roots changed nothing is known to whoever tried them.
    std::vector<std::string>& notes = out.tables.notes;
    std::erase_if(tables->notes,
                  [&](const std::string& each) { return std::ranges::count(notes, each) != 0; });
    notes.insert(notes.begin(), tables->notes.begin(), tables->notes.end());
    return out;
  }
  out.tables = std::move(*tables);
  if (chosen->name() != engine && engine != "auto")
    out.tables.notes.push_back(
        fmt::format("sm.engine: routes of one switch are the same by any engine, and called those "
                    "of {}; {} is asked again where there are two",
                    chosen->name(),
                    engine));
  note_unheeded(job, request.options, out.tables);
  if (request.in_force != nullptr)
    static_cast<void>(keep_switches_apart(previous, *job.fabric, job.lids, out.tables));
  check(job, out);
  if (!out.routes.acyclic && lead_switches_apart(*job.fabric, job.lids, out.tables))
    check(job, out);
  if (withdraw_closing_entries(job, out)) check(job, out);
  drop_ranks_not_obeyed(job, out);
  if (!out.routes.ok()) {
    std::string why = "unverified tables: ";
    if (!out.routes.first_faults.empty()) why += out.routes.first_faults.front();
    if (!out.routes.acyclic) why += "credit loop " + print_cycle(*job.fabric, out.routes.cycle);
    out.error = Error{Errc::Unsupported, engine + ": " + why};
  }
  return out;
}

/// Follows the entries of one LID from every switch at most once.
class Column {
 public:
  Column(const Fabric& fabric, const ForwardingTables& tables, Lid lid)
      : fabric_(fabric), tables_(tables), lid_(lid), leads_(tables.switches(), Mark::Unknown) {}

  /// True when a packet at `sw` leaves for good: to a host, or to port 0.
  bool arrives(SwitchIdx start, PortIdx owner) {
    std::vector<SwitchIdx> way;
    Mark mark = Mark::Unknown;
    for (SwitchIdx sw = start; mark == Mark::Unknown;) {
      if (leads_[sw.value()] != Mark::Unknown) {
        mark = leads_[sw.value()] == Mark::Arrives ? Mark::Arrives : Mark::Lost;
        break;
      }
      leads_[sw.value()] = Mark::OnTheWay;  // met again: a loop
      way.push_back(sw);
      mark = step(sw, owner);
    }
    for (const SwitchIdx sw : way) leads_[sw.value()] = mark;
    return mark == Mark::Arrives;
  }

 private:
  enum class Mark : std::uint8_t { Unknown, OnTheWay, Arrives, Lost };

  /// Moves on to the next switch, or says how it ended.
  Mark step(SwitchIdx& sw, PortIdx owner) const {
    const NodeIdx node = fabric_.switch_node[sw];
    const PortNum exit = tables_.route(sw, lid_);
    if (exit == kNoRoute || exit.value() > fabric_.num_ports(node)) return Mark::Lost;
    const PortIdx port = fabric_.port_of(node, exit);
    if (exit == PortNum{0}) return port == owner ? Mark::Arrives : Mark::Lost;
    const PortIdx peer = fabric_.peer[port];
    if (peer == kNone<PortIdx>) return Mark::Lost;
    if (peer == owner) return Mark::Arrives;
    const SwitchIdx next = fabric_.switch_at(peer);
    if (next == kNone<SwitchIdx>) return Mark::Lost;
    sw = next;
    return Mark::Unknown;
  }

  const Fabric& fabric_;
  const ForwardingTables& tables_;
  Lid lid_;
  std::vector<Mark> leads_;
};

bool has_lanes(const RoutingTables& made) {
  return made.vls > 1 || !made.sl_to_vl.empty() || !made.path_sls.empty();
}

/// `found`, with entries of `made` where a switch holds none, as one that was restarted.
ForwardingTables complete(const ForwardingTables& found, const ForwardingTables& made) {
  ForwardingTables out = made;
  for (unsigned value = 1; value <= std::min(made.top(), found.top()).value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    for (std::uint32_t sw = 0; sw < made.switches(); ++sw) {
      const PortNum held = found.route(SwitchIdx{sw}, lid);
      if (held != kNoRoute) out.set_route(SwitchIdx{sw}, lid, held);
    }
  }
  return out;
}

/// `fresh`, with every LID's entries replaced by those of `found` where they, and those of `fresh`
/// where a switch holds none, lead from all switches that `fresh` serves to the same end; verified.
/// Nothing where that is not free of deadlock, or where routes need several VLs.
std::optional<Routed> keep_found(const RouteJob& job,
                                 const ForwardingTables& found,
                                 const Routed& fresh) {
  const RoutingTables& made = fresh.tables;
  if (fresh.error || has_lanes(made) || made.default_port.size() != 0 ||
      found.switches() != made.lft.switches())
    return std::nullopt;
  Routed out = fresh;
  const ForwardingTables held = complete(found, made.lft);
  bool kept_any = false;
  for (unsigned value = 1; value <= std::min(made.lft.top(), found.top()).value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = job.lids.owner_of(lid);
    if (owner == kNone<PortIdx>) continue;
    Column column{*job.fabric, held, lid};
    bool good = true;
    for (std::uint32_t sw = 0; good && sw < made.lft.switches(); ++sw)
      good = made.lft.route(SwitchIdx{sw}, lid) == kNoRoute || column.arrives(SwitchIdx{sw}, owner);
    if (!good) continue;
    kept_any = true;
    for (std::uint32_t sw = 0; sw < made.lft.switches(); ++sw)
      out.tables.lft.set_route(SwitchIdx{sw}, lid, held.route(SwitchIdx{sw}, lid));
  }
  if (!kept_any) return std::nullopt;
  check(job, out);
  if (!out.routes.ok()) return std::nullopt;
  drop_ranks_not_obeyed(job, out);
  out.tables.recomputed.reset();
  if (out.tables.lft != made.lft) out.tables.load.by_edge.clear();  // they were those of `fresh`
  return out;
}

/// Every switch holds the entry already, of all LIDs that somebody has.
bool is_found(const RouteJob& job, const ForwardingTables& made) {
  const ForwardingTables& found = *job.found;
  if (found.switches() != made.switches() || found.top() < job.lids.top) return false;
  for (unsigned value = 1; value <= job.lids.top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (job.lids.owner_of(lid) == kNone<PortIdx>) continue;
    for (std::uint32_t sw = 0; sw < made.switches(); ++sw)
      if (made.route(SwitchIdx{sw}, lid) != found.route(SwitchIdx{sw}, lid)) return false;
  }
  return true;
}

/// What was found, with directions that it obeys: those of the master before us, where we have a
/// copy of his state. Nothing where they are of other routes.
std::optional<Routed> keep_found_directions(const RouteJob& job, const std::string& engine) {
  Routed fresh = compute_with(job, engine, Keep::Nothing);
  fresh.kept_found = true;
  auto found = keep_found(job, *job.found, fresh);
  if (!found || found->tables.orientation.rank.empty()) return std::nullopt;
  return found;
}

/// Those in force as far as they can be kept, or as far as they were found; else from scratch.
Routed compute_routes_of(const RouteJob& job, const std::string& engine) {
  const bool heeds_found = job.found && (job.taking_over || engine == "auto");
  if (heeds_found && job.taking_over && !job.orientation.by_guid.empty()) {
    if (auto found = keep_found_directions(job, engine)) return std::move(*found);
    RouteJob without = job;
    without.orientation = {};
    return compute_routes_of(without, engine);
  }
  if (!heeds_found) {
    Routed kept = compute_with(job, engine, Keep::Routes);
    if (!kept.error) return kept;
  }
  Routed fresh = compute_with(job, engine, Keep::Nothing);
  if (!heeds_found) return fresh;
  // Of the candidates of auto the one was taken that is most like them, whatever it is worth.
  fresh.kept_found = true;
  if (auto found = keep_found(job, *job.found, fresh)) return std::move(*found);
  if (fresh.error || fresh.tables.chosen_by.empty() || has_lanes(fresh.tables) ||
      is_found(job, fresh.tables.lft))
    return fresh;
  // The choice was for the sake of entries that cannot stay.
  RouteJob anew = job;
  anew.found.reset();
  if (!job.in_force) anew.orientation = {};  // of those entries
  return compute_with(anew, engine, Keep::Nothing);
}

struct EngineRefusal {
  std::string engine;
  std::string why;
};

/// The reason of a single one stands for itself.
std::string print_refusals(const std::vector<EngineRefusal>& refusals) {
  if (refusals.size() == 1) return refusals.front().why;
  std::string out;
  for (const auto& [engine, why] : refusals) {
    out += out.empty() ? "" : "; ";
    out += why.starts_with(engine + ": ") ? why : fmt::format("{}: {}", engine, why);
  }
  return out;
}

}  // namespace

Routed compute_routed(const RouteJob& job) {
  Routed out;
  std::vector<EngineRefusal> refusals;
  for (const std::string& engine : engines_and_fallback(job)) {
    out = compute_routes_of(job, engine);
    if (!out.error) break;
    refusals.push_back({engine, out.error->context});
  }
  if (out.error) refusals.pop_back();  // the last one's reason is the error
  out.fallback_reason = print_refusals(refusals);
  return out;
}

namespace {

/// Of routes that are as even as `fresh`: an engine that keeps none would bring those with the next
/// change, all at once, and not now that nothing is in a hurry.
bool stay_at_a_change(const RouteJob& job, const std::string& engine, const Routed& fresh) {
  const RoutingTables& now = job.in_force->routing;
  if (now.recomputed || now.lft == fresh.tables.lft) return true;
  return compute_with(job, engine, Keep::Routes).tables.lft == now.lft;
}

bool has_made_those_in_force(const RouteJob& job, const std::string& engine) {
  const Engine* const made = engine_for(*job.fabric, engine);
  if (made == nullptr) return false;
  EngineOptions options = job.engine_options;
  options.path_sets = wants_path_sets(job, engine);
  return made_by(job.in_force->routing, std::string(made->name()), options);
}

tl::unexpected<std::string> leave(std::string why) {
  return tl::unexpected<std::string>(std::move(why));
}

}  // namespace

tl::expected<Routed, std::string> compute_rebalance(const RouteJob& job) {
  const RoutingTables& now = job.in_force->routing;
  const std::vector<std::string> engines = engines_and_fallback(job);
  const auto engine = std::ranges::find_if(
      engines, [&](const std::string& each) { return has_made_those_in_force(job, each); });
  if (engine == engines.end())
    return leave("no engine of the configuration made these routes, " + now.engine + " did");
  RouteJob without_past = job;
  without_past.orientation = {};
  Routed fresh = compute_with(without_past, *engine, Keep::Nothing);
  if (job.stop.stop_requested()) return leave(kStopped);
  if (fresh.error) return leave("no routes from scratch: " + fresh.error->context);
  if (candidate_of(fresh.tables) != candidate_of(now)) {
    const TrafficGoal goal = job.engine_options.auto_for;
    if (are_worth_a_change(*job.fabric, job.lids, now, fresh.tables, goal)) return fresh;
    if (now.chosen_by == "auto") {
      const unsigned there = std::min(job.max_vls, count_common_vls(*job.fabric));
      without_past.max_vls = count_auto_vls(now.engine, there, job.engine_options);
    }
    if (candidate_of(now) == kDepthFirstCandidate)
      without_past.engine_options.orientation_search = OrientationSearch::DepthFirst;
    fresh = compute_with(without_past, now.engine, Keep::Nothing);
    if (job.stop.stop_requested()) return leave(kStopped);
    if (fresh.error) return leave("no routes from scratch: " + fresh.error->context);
    fresh.tables.chosen_by = now.chosen_by;
    fresh.tables.candidates = now.candidates;
  }
  const auto peak_of = [&](const RoutingTables& tables, const VerifiedRoutes* verified) {
    return verified != nullptr ? verified->measure_load(*job.fabric).fullest
                               : measure_load(*job.fabric, job.lids, tables.lft).fullest;
  };
  const double least = peak_of(fresh.tables, fresh.verified.get());
  const auto is_even = [&](double peak) { return kEven * least >= peak; };
  const double peak = peak_of(now, job.in_force->verified.get());
  if (is_even(peak)) {
    if (stay_at_a_change(job, *engine, fresh)) return leave("routes are even");
    return fresh;
  }
  if (job.stop.stop_requested()) return leave(kStopped);
  Routed rebalanced = compute_with(job, *engine, Keep::RoutesRebalanced);
  if (rebalanced.error) return fresh;
  const double reached = peak_of(rebalanced.tables, rebalanced.verified.get());
  if (is_even(reached)) return rebalanced;
  if (now.vls > 1 && reached < peak)
    fresh.instead = std::make_shared<const Routed>(std::move(rebalanced));
  return fresh;
}

Routed check_in_force(const RouteJob& job) {
  Routed out;
  out.tables = job.in_force->routing;
  check(job, out);
  if (!out.routes.ok())
    out.error = Error{Errc::Unsupported, "routes in force do not hold any more"};
  return out;
}

RoutingTables take_over(const RoutingTables& now, const RoutingTables& next, Lid last) {
  RoutingTables out = next;
  for (std::uint32_t sw = 0; sw < next.lft.switches(); ++sw) {
    for (unsigned lid = last.value() + 1u; lid <= next.lft.top().value(); ++lid) {
      const Lid destination{static_cast<std::uint16_t>(lid)};
      out.lft.set_route(SwitchIdx{sw}, destination, now.lft.route(SwitchIdx{sw}, destination));
    }
  }
  return out;
}

RouteStatistics compute_statistics(const ActiveSubnet& in_force, const std::stop_token& stop) {
  const std::size_t entries = in_force.fabric().switch_count() * in_force.lids->owner.size();
  RouteStatistics out{.routes = {}, .load = {}, .verified = in_force.verified};
  RouteReport full = check_routes(in_force.fabric(),
                                  in_force.lids,
                                  in_force.routing,
                                  {.threads = count_threads(entries), .stop = stop});
  if (stop.stop_requested()) {
    // Without it every change of a burst would be checked in full, and planned as if by nothing.
    if (out.verified == nullptr) out.verified = VerifiedRoutes::build(in_force.routes());
    if (out.verified != nullptr) out.load = out.verified->measure_load(in_force.fabric());
    return out;
  }
  if (out.verified != nullptr && !out.verified->agrees_with(full)) {
    out.differs = true;
    out.verified = nullptr;
  }
  out.routes = std::move(full);
  if (out.verified == nullptr) out.verified = VerifiedRoutes::build(in_force.routes());
  out.load = out.verified != nullptr
                 ? out.verified->measure_load(in_force.fabric())
                 : measure_load(in_force.fabric(), in_force.lids, in_force.routing->lft);
  return out;
}

}  // namespace smd
