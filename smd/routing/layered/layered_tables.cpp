#include "smd/routing/layered/layered_tables.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "smd/routing/layered/almost_minimal.h"
#include "smd/routing/layered/balanced_trees.h"

namespace smd {
namespace {

// The SL in force; nothing where there was no path.
std::optional<std::uint8_t> find_sl(const RoutingTables& before, SwitchIdx row, Lid lid) {
  if (row == kNone<SwitchIdx> || lid > before.lft.top() || before.lft.route(row, lid) == kNoRoute)
    return std::nullopt;
  if (before.path_sls.empty()) return 0;
  return static_cast<std::uint8_t>(before.path_sls.sl(row, lid) % before.vls);
}

class LayerUpdate {
 public:
  LayerUpdate(const RepairedTrees& repaired, const RoutingTables& before, Bundle bundle)
      : repaired_(repaired), before_(before), bundle_(bundle) {}

  // False: what shares a bundle does not share a layer.
  [[nodiscard]] bool put_layers(Layering& layering) const {
    bool agree = true;
    each_tree([&](std::uint32_t tree, Lid lid) {
      if (const Lid held = repaired_.lid_before[tree]; held != kUnassignedLid) {
        lid = held;
      } else if (bundle_ == Bundle::Pair) {
        return;
      }
      const SwitchIdx root = repaired_.balanced.trees.root(tree);
      for (const std::uint32_t sw : repaired_.balanced.trees.near_to_far(root)) {
        if (sw == root.value()) continue;
        if (const auto sl = find_sl(before_, repaired_.row_before[SwitchIdx{sw}], lid))
          agree = layering.put(tree, SwitchIdx{sw}, *sl) && agree;
      }
    });
    return agree;
  }

 private:
  template <class Visit>
  void each_tree(Visit&& visit) const {
    for (const TreeFamily& family : repaired_.balanced.plan.families) {
      for (std::uint32_t offset = 0; offset < family.trees; ++offset)
        visit(family.first_tree + offset, family.lid(offset));
    }
  }

  const RepairedTrees& repaired_;
  const RoutingTables& before_;
  Bundle bundle_;
};

// Paths to a LID that has moved had the layers of pairs with another switch: they are laid as those
// to a new one.
void forget_moved(RepairedTrees& repaired) {
  InTrees& trees = repaired.balanced.trees;
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree) {
    if (repaired.lid_before[tree] != kUnassignedLid) continue;
    std::ranges::fill(trees.slots(tree), kNoSlot);
    trees.set_order(tree, trees.near_to_far(trees.root(tree)));
  }
}

// Some path is longer than the shortest, those to switches without hosts aside, and those that are
// meant to be.
bool takes_detours(const RepairedTrees& repaired, bool almost_minimal) {
  const InTrees& trees = repaired.balanced.trees;
  for (const TreeFamily& family : repaired.balanced.plan.families) {
    if (repaired.led_around[family.root]) continue;
    for (std::uint32_t offset = 0; offset < (almost_minimal ? 1 : family.trees); ++offset) {
      if (trees.has_own_order(family.first_tree + offset)) return true;
    }
  }
  return false;
}

// LIDs for which any switch has another entry or another SL than before.
std::vector<Lid> list_recomputed(const RoutingTables& before,
                                 const RoutingTables& now,
                                 const IndexVector<SwitchIdx, SwitchIdx>& row_before) {
  std::vector<char> differs(now.lft.top().value() + std::size_t{1}, 0);
  for (const SwitchIdx sw : row_before.indices()) {
    const SwitchIdx row = row_before[sw];
    for (std::uint32_t value = 0; value < differs.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const PortNum port = now.lft.route(sw, lid);
      const bool known = row != kNone<SwitchIdx> && lid <= before.lft.top();
      if (port != (known ? before.lft.route(row, lid) : kNoRoute)) differs[value] = 1;
      if (port == kNoRoute || differs[value]) continue;
      const unsigned sl = now.path_sls.empty() ? 0 : now.path_sls.sl(sw, lid);
      if (sl != find_sl(before, row, lid)) differs[value] = 1;
    }
  }
  std::vector<Lid> lids;
  for (std::uint32_t value = 0; value < differs.size(); ++value) {
    if (differs[value]) lids.push_back(Lid{static_cast<std::uint16_t>(value)});
  }
  return lids;
}

}  // namespace

RoutingTables make_layered_tables(std::string_view engine,
                                  const SwitchGraph& graph,
                                  const Targets& targets,
                                  const BalancedTrees& trees,
                                  const Layering& layering,
                                  unsigned vls) {
  const TreeOfLid& tree_of = trees.plan.of_lid;
  const Lid top{static_cast<std::uint16_t>(tree_of.size() - 1)};
  RoutingTables result{.engine = std::string{engine}, .lft = {graph.switches(), top}, .vls = vls};
  result.load.imbalance = trees.imbalance;
  write_entries(graph, targets, trees.trees, tree_of, result.lft);
  if (vls == 1) return result;
  result.path_sls = PathSls{graph.switches(), top};
  for (std::uint32_t lid = 0; lid < tree_of.size(); ++lid) {
    if (tree_of[lid] == kNoTree) continue;
    for (std::uint32_t sw = 0; sw < graph.switches(); ++sw) {
      const std::uint8_t layer = layering.layer(tree_of[lid], SwitchIdx{sw});
      if (layer != 0)
        result.path_sls.set_sl(SwitchIdx{sw}, Lid{static_cast<std::uint16_t>(lid)}, layer);
    }
  }
  return result;
}

unsigned find_vl_budget(const Fabric& fabric, const RoutingRequest& request) {
  return std::min(kMostVls, request.max_vls != 0 ? request.max_vls : count_common_vls(fabric));
}

Error refuse_for_vls(std::optional<unsigned> needed, unsigned budget) {
  const std::string layers = budget == 1 ? "1 data VL" : fmt::format("{} data VLs", budget);
  if (!needed)
    return {Errc::Unsupported,
            fmt::format("the routes need more than {} data VLs, more than there can be; {} may be "
                        "used",
                        kMostVls,
                        layers)};
  return {
      Errc::Unsupported,
      fmt::format(
          "the routes need {} data VLs to be free of deadlock, {} may be used", *needed, layers)};
}

std::optional<RoutingTables> update_layered_tables(std::string_view engine,
                                                   const Fabric& fabric,
                                                   const LidMap& lids,
                                                   const RoutingRequest& request,
                                                   TreePer per,
                                                   Bundle bundle) {
  const RoutingTables& before = *request.in_force->routing;
  const SwitchGraph graph{fabric};
  RepairedTrees repaired = take_trees_over(fabric, lids, graph, request, per);
  if (bundle == Bundle::Pair) forget_moved(repaired);
  Layering layering{graph, repaired.balanced.trees, bundle};
  if (!LayerUpdate{repaired, before, bundle}.put_layers(layering) ||
      !repair_trees(fabric, graph, request, repaired, layering))
    return std::nullopt;
  const std::optional<unsigned> vls = layering.resume(find_vl_budget(fabric, request));
  if (!vls) return std::nullopt;
  RoutingTables tables =
      make_layered_tables(engine, graph, repaired.targets, repaired.balanced, layering, *vls);
  tables.load.imbalance = repaired.imbalance;
  if (repaired.oriented) tables.orientation = std::move(repaired.oriented->oriented.orientation);
  if (!tables.orientation.by_guid.empty()) tables.notes.emplace_back(kDetoursNote);
  if (takes_detours(repaired, has_almost_minimal(before))) tables.notes.emplace_back(kLongerNote);
  tables.recomputed = list_recomputed(before, tables, repaired.row_before);
  return tables;
}

}  // namespace smd
