// Balanced shortest paths, free of deadlock by layers.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/layered/almost_minimal.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/layered_tables.h"
#include "smd/routing/nue/paths_of_switches.h"

namespace smd {
namespace {

void note_directions(RoutingTables& tables) {
  tables.notes.push_back(
      fmt::format("{}: one for both would take more lanes than there are", kDirectionsDiffer));
}

class DfSssp final : public Engine {
 public:
  std::string_view name() const override { return "dfsssp"; }

  bool takes_path_sets() const override { return true; }

  std::string_view contract() const override {
    return "Shortest paths on any fabric, a tree for every LID, balanced by channel weights that "
           "grow with the paths laid over them and count slow links more; then whole paths are "
           "put into lanes, SL = VL = lane, as few as the search finds: 1 on fat trees, whole or "
           "with some cables missing, where paths to switches without hosts are led elsewhere, 2 "
           "on "
           "a ring, more on tori and random networks. Free of deadlock: the channel dependency "
           "graph of every lane has no cycle, and no path changes its lane. After a change paths "
           "keep their lanes where any way fits them, a longer one too, as a note says. Both "
           "directions of a pair of switches have one SL, unless that takes more lanes than "
           "there are. Trees that always take the lowest port come first where their heaviest "
           "channel carries no more, and last elsewhere: regular fabrics need fewer lanes with "
           "them. Refuses when the lanes are not enough. Source: Domke, Hoefler and Nagel 2011. "
           "With sm.non_minimal = \"almost-minimal\" LIDs of a port beyond the first have paths "
           "that share few links with those of lower ones, at most two links longer than the "
           "shortest and one longer than the diameter, each in whatever lane takes it; where none "
           "does, the shortest. Source: Besta et al. 2020, Blach et al. 2024.";
  }

 private:
  std::optional<Result<RoutingTables>> update(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request,
                                              const PreviousRoutes& previous) const override {
    const RoutingTables& before = *previous.routing;
    const bool had_none = has_note(before, kNoAlmostMinimalNote);
    const bool had = has_almost_minimal(before);
    if (wants_almost_minimal(lids, request) != (had || had_none)) return std::nullopt;
    if (had) return update_almost_minimal(fabric, lids, request, before);
    if (had_none && has_more_links(fabric, *previous.fabric)) {
      auto made = compute_almost_minimal(fabric, lids, request);
      if (made && has_almost_minimal(*made)) return made;
    }
    auto updated = update_shortest(fabric, lids, request, before);
    if (had_none && updated && *updated) (*updated)->notes.emplace_back(kNoAlmostMinimalNote);
    return updated;
  }

  std::optional<Result<RoutingTables>> update_shortest(const Fabric& fabric,
                                                       const LidMap& lids,
                                                       const RoutingRequest& request,
                                                       const RoutingTables& before) const {
    if (auto updated = update_on_one_vl(name(), fabric, lids, request)) return std::move(*updated);
    if (stay_apart_on_one_vl_only(before)) return std::nullopt;
    for (const Bundle bundle : {Bundle::Pair, Bundle::Path}) {
      if (auto updated =
              update_layered_tables(name(), fabric, lids, request, TreePer::EachLid, bundle)) {
        if (bundle == Bundle::Path) note_directions(*updated);
        static_cast<void>(record_turns(fabric, lids, *updated));
        return std::move(*updated);
      }
    }
    return std::nullopt;
  }

  static bool has_more_links(const Fabric& now, const Fabric& before) {
    return SwitchGraph{now}.edge_count() > SwitchGraph{before}.edge_count();
  }

  static bool has_note(const RoutingTables& tables, std::string_view note) {
    return std::ranges::count(tables.notes, note) != 0;
  }

  // Every path has its own SL: both directions of a pair, with all their LIDs, are too much to ask.
  std::optional<Result<RoutingTables>> update_almost_minimal(const Fabric& fabric,
                                                             const LidMap& lids,
                                                             const RoutingRequest& request,
                                                             const RoutingTables& before) const {
    auto updated =
        update_layered_tables(name(), fabric, lids, request, TreePer::EachLid, Bundle::Path);
    if (!updated) return std::nullopt;
    updated->notes.emplace_back(kAlmostMinimalNote);
    std::ranges::copy_if(before.notes, std::back_inserter(updated->notes), [](const auto& note) {
      return note.find(kSharingNote) != std::string::npos;
    });
    if (updated->vls > 1) note_directions(*updated);
    return std::move(*updated);
  }

  Result<RoutingTables> compute_almost_minimal(const Fabric& fabric,
                                               const LidMap& lids,
                                               const RoutingRequest& request) const {
    const SwitchGraph graph{fabric};
    const Targets targets = find_targets(fabric, lids);
    const unsigned budget = find_vl_budget(fabric, request);
    BalancedTrees trees =
        build_balanced_trees(fabric, lids, graph, targets, {.choice = NextHopChoice::Load});
    BalancedTrees orderly =
        build_balanced_trees(fabric, lids, graph, targets, {.choice = NextHopChoice::Order});
    if (orderly.heaviest_load <= trees.heaviest_load) std::swap(trees, orderly);
    // Where shortest paths that differ by offset take too many layers, all begin as the first.
    for (const bool alike : {false, true}) {
      for (BalancedTrees* const some : {&trees, &orderly}) {
        if (alike) start_alike(*some);
        Layering layering{graph, some->trees, Bundle::Path};
        if (!layering.assign_if_likely(budget)) continue;
        std::vector<std::string> notes;
        const auto vls = lead_apart(fabric, graph, *some, layering, budget, notes);
        if (!vls) return compute_without(fabric, lids, request);
        RoutingTables tables = make_layered_tables(name(), graph, targets, *some, layering, *vls);
        tables.notes = std::move(notes);
        if (*vls > 1) note_directions(tables);
        return tables;
      }
    }
    return compute_without(fabric, lids, request);
  }

  // Shortest paths, or a refusal that says how many layers they take.
  Result<RoutingTables> compute_without(const Fabric& fabric,
                                        const LidMap& lids,
                                        const RoutingRequest& request) const {
    auto shortest = compute_shortest(fabric, lids, request);
    if (shortest) shortest->notes.emplace_back(kNoAlmostMinimalNote);
    return shortest;
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    return wants_almost_minimal(lids, request) ? compute_almost_minimal(fabric, lids, request)
                                               : compute_shortest(fabric, lids, request);
  }

  Result<RoutingTables> compute_shortest(const Fabric& fabric,
                                         const LidMap& lids,
                                         const RoutingRequest& request) const {
    const SwitchGraph graph{fabric};
    const Targets targets = find_targets(fabric, lids);
    BalancedTrees trees =
        build_balanced_trees(fabric, lids, graph, targets, {.choice = NextHopChoice::Load});
    if (auto tables = lay_on_one_vl(name(), fabric, lids, graph, targets, request, trees))
      return std::move(*tables);

    const unsigned budget = find_vl_budget(fabric, request);
    BalancedTrees others =
        build_balanced_trees(fabric, lids, graph, targets, {.choice = NextHopChoice::Order});
    const bool swapped = others.heaviest_load <= trees.heaviest_load;
    if (swapped) std::swap(trees, others);
    const BalancedTrees& orderly = swapped ? trees : others;
    const auto write = [&](const BalancedTrees& some, const Layering& layering, unsigned vls) {
      return make_layered_tables(name(), graph, targets, some, layering, vls);
    };
    const auto write_directed = [&](const auto&... parts) {
      RoutingTables tables = write(parts...);
      note_directions(tables);
      return tables;
    };
    for (const BalancedTrees* const some : {&trees, &others}) {
      Layering pairs{graph, some->trees, Bundle::Pair};
      if (const auto vls = pairs.assign_if_likely(budget)) return write(*some, pairs, *vls);
      Layering paths{graph, some->trees, Bundle::Path};
      if (const auto vls = paths.assign_if_likely(budget))
        return write_directed(*some, paths, *vls);
    }
    // However unlikely; a refusal says how many layers it would take.
    Layering last{graph, orderly.trees, Bundle::Path};
    const std::optional<unsigned> needed = last.assign(kMostVls);
    if (needed && *needed <= budget) return write_directed(orderly, last, *needed);
    return tl::unexpected<Error>(refuse_for_vls(needed, budget));
  }
};

}  // namespace

const Engine& dfsssp_engine() {
  static const DfSssp engine;
  return engine;
}

}  // namespace smd
