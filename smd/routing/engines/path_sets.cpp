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
LidMap change_lids(const Fabric& fabric, const LidMap& lids, Change change) {
  LidMap out = make_lid_map(fabric);
  for (const PortIdx port : lids.base.indices()) {
    if (lids.base[port] == kUnassignedLid) continue;
    if (const std::optional<std::uint8_t> lmc = change(lids.lmc[port]))
      set_lid(out, port, lids.base[port], *lmc);
  }
  // Tables of all sets have one width.
  out.owner.resize(std::max(out.owner.size(), lids.owner.size()), kNone<PortIdx>);
  out.top = lids.top;
  return out;
}

LidMap keep_first(const Fabric& fabric, const LidMap& lids) {
  return change_lids(fabric, lids, [](std::uint8_t) { return std::optional(std::uint8_t{0}); });
}

LidMap keep_others(const Fabric& fabric, const LidMap& lids) {
  return change_lids(fabric, lids, [](std::uint8_t lmc) -> std::optional<std::uint8_t> {
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

template <class Change>
SlToVlMaps change_rows(const Fabric& fabric, const SlToVlMaps& rows, Change change) {
  SlToVlMaps out{fabric};
  std::vector<std::uint16_t> number;
  for (const SlToVl& row : rows.rows()) number.push_back(out.add_row(change(row)));
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const unsigned ports = fabric.num_ports(fabric.switch_node[sw]);
    for (unsigned in = 0; in <= ports; ++in) {
      for (unsigned exit = 0; exit <= ports; ++exit) {
        const PortNum from{static_cast<std::uint8_t>(in)};
        const PortNum to{static_cast<std::uint8_t>(exit)};
        out.set_row(sw, from, to, number[rows.row_number(sw, from, to)]);
      }
    }
  }
  return out;
}

RoutingTables join(const Fabric& fabric,
                   const LidMap& lids,
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
  out.path_sls = PathSls{fabric.switch_count(), lids.top};
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const std::span<PortNum> row = out.lft.mutable_row(sw);
    const std::span<std::uint8_t> sls = out.path_sls.row(sw);
    each_port(lids, [&](Lid base, std::uint8_t lmc) {
      for (unsigned offset = 1; offset <= count_others(lmc); ++offset) {
        const Lid theirs = at(base, offset - 1);
        row[base.value() + offset] = others->lft.route(sw, theirs);
        const unsigned sl = others->path_sls.empty() ? 0u : others->path_sls.sl(sw, theirs);
        sls[base.value() + offset] = static_cast<std::uint8_t>(sl + 1);
      }
    });
  }
  if (!others->sl_to_vl.empty()) out.sl_to_vl = change_rows(fabric, others->sl_to_vl, join_row);
  if (out.recomputed && others->recomputed) {
    std::vector<Lid> all = *out.recomputed;
    each_port(lids, [&](Lid base, std::uint8_t lmc) {
      for (unsigned offset = 1; offset <= count_others(lmc); ++offset) {
        if (std::ranges::binary_search(*others->recomputed, at(base, offset - 1)))
          all.push_back(at(base, offset));
      }
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

InForce split_first(const PreviousRoutes& all) {
  InForce out{all, keep_first(*all.fabric, *all.lids)};
  out.tables = {.engine = std::string(kFirst),
                .lft = {all.routing->lft.switches(), all.routing->lft.top()},
                .orientation = all.routing->orientation,
                .load = {.imbalance = all.routing->load.imbalance}};
  for (const SwitchIdx sw : all.fabric->switch_node.indices()) {
    each_port(out.lids, [&](Lid base, std::uint8_t) {
      out.tables.lft.set_route(sw, base, all.routing->lft.route(sw, base));
    });
  }
  return out;
}

InForce split_others(const PreviousRoutes& all, std::string_view engine) {
  const RoutingTables& joined = *all.routing;
  InForce out{all, keep_others(*all.fabric, *all.lids)};
  RoutingTables& tables = out.tables;
  tables = {.engine = std::string(engine),
            .lft = {joined.lft.switches(), joined.lft.top()},
            .orientation = {.rank = {}, .by_guid = joined.orientation.by_guid},
            .vls = joined.vls - 1};
  const bool has_sls = tables.vls > 1 || !joined.sl_to_vl.empty();
  if (has_sls) tables.path_sls = PathSls{joined.lft.switches(), joined.lft.top()};
  for (const SwitchIdx sw : all.fabric->switch_node.indices()) {
    each_port(*all.lids, [&](Lid base, std::uint8_t lmc) {
      if (lmc == 0) return;
      for (unsigned offset = 0; offset < (lmc == 1 ? 1u : 1u << lmc); ++offset) {
        const Lid ours = at(base, std::min(offset + 1, count_others(lmc)));
        tables.lft.set_route(sw, at(base, offset), joined.lft.route(sw, ours));
        const std::uint8_t sl = joined.path_sls.sl(sw, ours);
        if (has_sls && sl > 0)
          tables.path_sls.set_sl(sw, at(base, offset), static_cast<std::uint8_t>(sl - 1));
      }
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
  if (is_ours) take_over(split_first(*request.in_force));
  const LidMap first_lids = keep_first(fabric, lids);
  auto first = find_engine(kFirst)->compute(fabric, first_lids, own);
  if (!first) return first;
  if (!has_others(lids)) return join(fabric, lids, name, std::move(*first), std::nullopt);

  own.in_force = nullptr;
  own.max_vls = allowed - 1;
  own.max_sls = kSls - 1;
  const bool other_directions = request.options.lane_cut == VlChangeRule::DepthFirst &&
                                request.options.orientation_search != OrientationSearch::DepthFirst;
  if (other_directions) own.previous = nullptr;
  if (is_ours && has_set_of_others(*request.in_force)) {
    take_over(split_others(*request.in_force, engine.name()));
    if (other_directions) before->tables.orientation = {};
  }
  auto others = engine.compute(fabric, keep_others(fabric, lids), own);
  if (!others) {
    return fail(others.error().code,
                fmt::format("{} (of {} data VLs one is that of up*/down* paths, sm.path_sets)",
                            others.error().context,
                            allowed));
  }
  return join(fabric, lids, name, std::move(*first), std::move(*others));
}

}  // namespace smd
