// Two sets of paths beside each other: the first LID of every port by up*/down* on VL 0 and SL 0,
// the others by another engine, whose SL s and VL v are SL s + 1 and VL v + 1 here. No packet goes
// from one set to the other, so the union is free of deadlock as each of them is.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "smd/routing/engines/engines.h"

namespace smd {
namespace {

constexpr std::string_view kFirst = "updn";
constexpr std::string_view kNoteOfOthers = "LIDs beyond the first: ";

// LIDs as the engines see them: of the first set base alone; of the others those beyond, one lower
// than they are, so that every port has a power of two of them from `base` on. Where that leaves
// one over, its routes are made and not written.

unsigned count_others(std::uint8_t lmc) { return (1u << lmc) - 1; }

Lid at(Lid base, unsigned offset) { return Lid{static_cast<std::uint16_t>(base.value() + offset)}; }

template <class Change>
LidMap change_lids(const Fabric& fabric, const LidMap& lids, Lid top, Change change) {
  LidMap out = make_lid_map(fabric);
  for (const PortIdx port : lids.base.indices()) {
    if (lids.base[port] == kUnassignedLid) continue;
    if (const std::optional<std::uint8_t> lmc = change(lids.lmc[port]))
      set_lid(out, port, lids.base[port], *lmc);
  }
  // Tables of all sets have one width.
  out.owner.resize(std::max(out.owner.size(), top.value() + std::size_t{1}), kNone<PortIdx>);
  out.top = top;
  return out;
}

LidMap keep_first(const Fabric& fabric, const LidMap& lids, Lid top) {
  return change_lids(
      fabric, lids, top, [](std::uint8_t) { return std::optional(std::uint8_t{0}); });
}

LidMap keep_others(const Fabric& fabric, const LidMap& lids, Lid top) {
  return change_lids(fabric, lids, top, [](std::uint8_t lmc) -> std::optional<std::uint8_t> {
    if (lmc == 0) return std::nullopt;
    return lmc == 1 ? std::uint8_t{0} : lmc;
  });
}

/// Calls visit(base, lmc) for every port with a LID.
template <class Visit>
void each_port(const LidMap& lids, Visit&& visit) {
  for (const PortIdx port : lids.base.indices()) {
    if (lids.base[port] != kUnassignedLid) visit(lids.base[port], lids.lmc[port]);
  }
}

/// LIDs beyond the first that nobody has any more, ascending: their entries stay for whoever comes
/// back. The SL says whose they are, that of the first set is 0.
std::vector<Lid> find_absent_others(const LidMap& lids, const PreviousRoutes& before) {
  const RoutingTables& tables = *before.routing;
  std::vector<Lid> out;
  if (!tables.path_sls.covers(before.fabric->switch_count(), tables.lft.top())) return out;
  for (const Lid lid : list_orphaned_lids(tables.lft, lids)) {
    if (lid > tables.lft.top()) break;
    bool is_led = false;
    for (const SwitchIdx sw : before.fabric->switch_node.indices())
      is_led =
          is_led || (tables.lft.route(sw, lid) != kNoRoute && tables.path_sls.sl(sw, lid) != 0);
    if (is_led) out.push_back(lid);
  }
  return out;
}

/// Calls visit(lid, theirs) for every LID of the second set.
template <class Visit>
void each_other(const LidMap& lids, std::span<const Lid> absent, Visit&& visit) {
  each_port(lids, [&](Lid base, std::uint8_t lmc) {
    for (unsigned offset = 1; offset <= count_others(lmc); ++offset)
      visit(at(base, offset), at(base, offset - 1));
  });
  for (const Lid lid : absent) visit(lid, Lid{static_cast<std::uint16_t>(lid.value() - 1)});
}

bool has_others(const LidMap& lids) {
  return std::ranges::any_of(lids.lmc, [](std::uint8_t lmc) { return lmc > 0; });
}

// One set's part of a row of SLs, and back.

SlToVl join_row(const SlToVl& others) {
  SlToVl row{};
  for (unsigned sl = 1; sl < kSls; ++sl) {
    const Vl vl = others[sl - 1];
    row[sl] = vl == kManagementVl ? vl : Vl{static_cast<std::uint8_t>(vl.value() + 1)};
  }
  return row;
}

SlToVl split_row(const SlToVl& joined) {
  SlToVl row;
  row.fill(kManagementVl);
  for (unsigned sl = 1; sl < kSls; ++sl) {
    const Vl vl = joined[sl];
    row[sl - 1] =
        vl == kManagementVl || vl == Vl{0} ? vl : Vl{static_cast<std::uint8_t>(vl.value() - 1)};
  }
  return row;
}

/// Nothing waits in a circle at a port that leads to no switch: there all is on VL 0, the only one
/// that every adapter has.
SlToVl on_first_vl(SlToVl row) {
  for (Vl& vl : row) vl = vl == kManagementVl ? vl : Vl{0};
  return row;
}

template <class Change>
SlToVlMaps change_rows(const Fabric& fabric, const SlToVlMaps& rows, Change change) {
  SlToVlMaps out{fabric};
  std::vector<std::uint16_t> number, to_ends;
  for (const SlToVl& row : rows.rows()) {
    number.push_back(out.add_row(change(row)));
    to_ends.push_back(out.add_row(on_first_vl(change(row))));
  }
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const unsigned ports = fabric.num_ports(node);
    for (unsigned exit = 0; exit <= ports; ++exit) {
      const PortNum to{static_cast<std::uint8_t>(exit)};
      const PortIdx peer = fabric.peer[fabric.port_of(node, to)];
      const bool leads_on = peer != kNone<PortIdx> && fabric.is_switch(fabric.node_of[peer]);
      for (unsigned in = 0; in <= ports; ++in) {
        const PortNum from{static_cast<std::uint8_t>(in)};
        out.set_row(sw, from, to, (leads_on ? number : to_ends)[rows.row_number(sw, from, to)]);
      }
    }
  }
  return out;
}

RoutingTables join(const Fabric& fabric,
                   const LidMap& lids,
                   std::span<const Lid> absent,
                   std::string name,
                   RoutingTables first,
                   std::optional<RoutingTables> others) {
  RoutingTables out = std::move(first);
  out.engine = std::move(name);
  // Routes as a whole do not obey the directions, which are kept for the next computation.
  out.orientation.rank.clear();
  out.load = {.imbalance = out.load.imbalance};
  if (!others) {
    out.notes.emplace_back("sm.path_sets: every port has one LID, and sm.lmc gives it more");
    return out;
  }
  out.vls = 1 + others->vls;
  out.path_sls = PathSls{fabric.switch_count(), out.lft.top()};
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const std::span<PortNum> row = out.lft.mutable_row(sw);
    const std::span<std::uint8_t> sls = out.path_sls.row(sw);
    each_other(lids, absent, [&](Lid lid, Lid theirs) {
      row[lid.value()] = others->lft.route(sw, theirs);
      const unsigned sl = others->path_sls.empty() ? 0u : others->path_sls.sl(sw, theirs);
      sls[lid.value()] = static_cast<std::uint8_t>(sl + 1);
    });
  }
  if (!others->sl_to_vl.empty()) out.sl_to_vl = change_rows(fabric, others->sl_to_vl, join_row);
  if (out.recomputed && others->recomputed) {
    std::vector<Lid> all = *out.recomputed;
    each_other(lids, absent, [&](Lid lid, Lid theirs) {
      if (std::ranges::binary_search(*others->recomputed, theirs)) all.push_back(lid);
    });
    std::ranges::sort(all);
    const auto twice = std::ranges::unique(all);
    all.erase(twice.begin(), twice.end());
    out.recomputed = std::move(all);
  } else {
    out.recomputed.reset();
  }
  out.notes.push_back(fmt::format(
      "{}{} on {}",
      kNoteOfOthers,
      others->engine,
      others->vls == 1 ? std::string("VL 1") : fmt::format("VLs 1 to {}", others->vls)));
  for (const std::string& note : others->notes)
    out.notes.push_back(std::string(kNoteOfOthers) + note);
  out.second_set = std::make_shared<const RoutingTables>(std::move(*others));
  return out;
}

// What is in force, as each engine left it.

struct InForce {
  InForce(const PreviousRoutes& all, LidMap own) : fabric(all.fabric), lids(std::move(own)) {}

  [[nodiscard]] PreviousRoutes routes() const { return {fabric, &lids, &tables}; }

  const Fabric* fabric;
  LidMap lids;
  RoutingTables tables;
};

/// The first set obeys its directions; that both do not is why join() leaves ranks out.
void put_ranks_back(const Fabric& fabric, Orientation& orientation) {
  orientation.rank.clear();
  for (const NodeIdx node : fabric.switch_node) {
    const auto known = std::ranges::lower_bound(
        orientation.by_guid, fabric.node_guid[node], {}, &std::pair<Guid, std::uint32_t>::first);
    if (known == orientation.by_guid.end() || known->first != fabric.node_guid[node])
      return orientation.rank.clear();
    orientation.rank.push_back(known->second);
  }
}

// Entries that nobody has any more are of the first set unless they are of the second.
InForce split_first(const PreviousRoutes& all, std::span<const Lid> absent) {
  const RoutingTables& joined = *all.routing;
  InForce out{all, keep_first(*all.fabric, *all.lids, all.routing->lft.top())};
  out.tables = {.engine = std::string(kFirst),
                .lft = joined.lft,
                .orientation = joined.orientation,
                .load = {.imbalance = joined.load.imbalance}};
  put_ranks_back(*all.fabric, out.tables.orientation);
  for (const SwitchIdx sw : all.fabric->switch_node.indices()) {
    each_other(
        *all.lids, absent, [&](Lid lid, Lid) { out.tables.lft.set_route(sw, lid, kNoRoute); });
  }
  return out;
}

/// The second set as its engine left it, if it is known and was written on switches like these.
const RoutingTables* find_second_set(const PreviousRoutes& all) {
  const RoutingTables& joined = *all.routing;
  const RoutingTables* const kept = joined.second_set.get();
  const bool fits = kept != nullptr && kept->lft.switches() == joined.lft.switches() &&
                    kept->lft.top() >= joined.lft.top() &&
                    (kept->sl_to_vl.empty() || kept->sl_to_vl.fits(*all.fabric)) &&
                    (kept->path_sls.empty() ||
                     kept->path_sls.covers(all.fabric->switch_count(), joined.lft.top()));
  return fits ? kept : nullptr;
}

/// Whether nobody altered the entries of the second set since.
bool is_as_left(const PreviousRoutes& all, std::span<const Lid> absent, const RoutingTables& kept) {
  const RoutingTables& joined = *all.routing;
  bool same = true;
  for (const SwitchIdx sw : all.fabric->switch_node.indices()) {
    each_other(*all.lids, absent, [&](Lid lid, Lid theirs) {
      const unsigned sl = kept.path_sls.empty() ? 0u : kept.path_sls.sl(sw, theirs);
      same = same && kept.lft.route(sw, theirs) == joined.lft.route(sw, lid) &&
             joined.path_sls.sl(sw, lid) == sl + 1;
    });
  }
  return same;
}

InForce split_others(const PreviousRoutes& all,
                     std::span<const Lid> absent,
                     std::string_view engine) {
  const RoutingTables& joined = *all.routing;
  InForce out{all, keep_others(*all.fabric, *all.lids, all.routing->lft.top())};
  RoutingTables& tables = out.tables;
  const RoutingTables* const kept = find_second_set(all);
  if (kept != nullptr && is_as_left(all, absent, *kept)) {
    tables = *kept;
    return out;
  }
  tables = {.engine = std::string(engine),
            .lft = {joined.lft.switches(), joined.lft.top()},
            .vls = joined.vls - 1};
  if (kept != nullptr) {
    tables.orientation = kept->orientation;
    tables.load = {.imbalance = kept->load.imbalance};
  }
  const bool has_sls = tables.vls > 1 || !joined.sl_to_vl.empty();
  if (has_sls) tables.path_sls = PathSls{joined.lft.switches(), joined.lft.top()};
  for (const SwitchIdx sw : all.fabric->switch_node.indices()) {
    const auto take = [&](Lid lid, Lid theirs) {
      tables.lft.set_route(sw, theirs, joined.lft.route(sw, lid));
      const std::uint8_t sl = joined.path_sls.sl(sw, lid);
      if (has_sls && sl > 0) tables.path_sls.set_sl(sw, theirs, static_cast<std::uint8_t>(sl - 1));
    };
    each_other(*all.lids, absent, take);
    each_port(*all.lids, [&](Lid base, std::uint8_t lmc) {
      if (lmc > 1) take(at(base, count_others(lmc)), at(base, count_others(lmc)));
    });
  }
  if (!joined.sl_to_vl.empty())
    tables.sl_to_vl = change_rows(*all.fabric, joined.sl_to_vl, split_row);
  for (const std::string& note : joined.notes) {
    if (note.starts_with(kNoteOfOthers)) tables.notes.push_back(note.substr(kNoteOfOthers.size()));
  }
  return out;
}

/// Whether the routes in force have everything that split_others() reads.
bool has_set_of_others(const PreviousRoutes& all) {
  return all.routing->vls > 1 && has_others(*all.lids) &&
         all.routing->path_sls.covers(all.fabric->switch_count(), all.lids->top) &&
         (all.routing->sl_to_vl.empty() || all.routing->sl_to_vl.fits(*all.fabric));
}

}  // namespace

Result<RoutingTables> compute_path_sets(const Engine& engine,
                                        const Fabric& fabric,
                                        const LidMap& lids,
                                        const RoutingRequest& request) {
  if (!engine.takes_path_sets()) {
    return fail(Errc::Unsupported,
                fmt::format("{}: makes no shortest paths on VLs of their own (sm.path_sets); "
                            "dfsssp, itb-vl and lash do",
                            engine.name()));
  }
  const unsigned allowed =
      std::min(request.max_vls != 0 ? request.max_vls : count_common_vls(fabric), 15u);
  if (allowed < 2) {
    return fail(Errc::Unsupported,
                fmt::format("{}: two sets of paths (sm.path_sets) need 2 data VLs, and there is 1",
                            engine.name()));
  }
  const std::string name = name_of_routes(engine.name(), request.options);
  const bool is_ours = request.in_force != nullptr && request.in_force->routing->engine == name;

  RoutingRequest own = request;
  own.options.path_sets = false;
  own.in_force = nullptr;
  own.default_ports = false;
  std::optional<InForce> before;
  PreviousRoutes previous;
  const auto take_over = [&](InForce in_force) {
    before.emplace(std::move(in_force));
    previous = before->routes();
    own.in_force = &previous;
  };
  // No narrower than before: entries of hosts that are gone stay.
  Lid top = lids.top;
  std::vector<Lid> absent, were_absent;
  if (is_ours) {
    top = std::max(top, request.in_force->routing->lft.top());
    absent = find_absent_others(lids, *request.in_force);
    were_absent = find_absent_others(*request.in_force->lids, *request.in_force);
    take_over(split_first(*request.in_force, were_absent));
  }
  const LidMap first_lids = keep_first(fabric, lids, top);
  auto first = find_engine(kFirst)->compute(fabric, first_lids, own);
  if (!first) return first;
  if (!has_others(lids)) return join(fabric, lids, {}, name, std::move(*first), std::nullopt);

  own.in_force = nullptr;
  own.max_vls = allowed - 1;
  own.max_sls = kSls - 1;
  // Directions of its own; at first those of the other set where it asks for the same.
  const bool same_search = (request.options.lane_cut == VlChangeRule::DepthFirst) ==
                           (request.options.orientation_search == OrientationSearch::DepthFirst);
  if (!same_search) own.previous = nullptr;
  if (is_ours && has_set_of_others(*request.in_force)) {
    take_over(split_others(*request.in_force, were_absent, engine.name()));
    const Orientation& theirs = before->tables.orientation;
    if (!theirs.by_guid.empty()) own.previous = &theirs;
  }
  auto others = engine.compute(fabric, keep_others(fabric, lids, top), own);
  if (!others) {
    return fail(others.error().code,
                fmt::format("{} (of {} data VLs one is that of up*/down* paths, sm.path_sets)",
                            others.error().context,
                            allowed));
  }
  return join(fabric, lids, absent, name, std::move(*first), std::move(*others));
}

}  // namespace smd
