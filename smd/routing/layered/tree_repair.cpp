#include "smd/routing/layered/layered_tables.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/layered/almost_minimal.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/tree_search.h"

namespace smd {
namespace {

/// Aims at the roots of families, by shortest paths or along the detours.
class Aim {
 public:
  Aim(TreeGrower& grower, DetourSearch* detours, const IndexVector<SwitchIdx, char>& led_around)
      : grower_(grower), detours_(detours), led_around_(led_around) {}

  void at(SwitchIdx root) {
    if (root == root_) return;
    root_ = root;
    if (led_around_[root]) {
      detours_->aim(grower_, root);
    } else {
      grower_.aim_at(root);
    }
  }

 private:
  TreeGrower& grower_;
  DetourSearch* detours_;
  const IndexVector<SwitchIdx, char>& led_around_;
  SwitchIdx root_ = kNone<SwitchIdx>;
};

/// Calls visit(family, offset) for every tree, offset by offset.
template <class Visit>
void each_tree(const TreePlan& plan, Visit&& visit) {
  for (const TreeFamily& family : plan.families) {
    for (std::uint32_t offset = 0; offset < family.trees; ++offset) visit(family, offset);
  }
}

class PreviousTrees {
 public:
  PreviousTrees(const Fabric& fabric,
                const SwitchGraph& graph,
                const RoutingRequest& request,
                RepairedTrees& repaired)
      : graph_(graph),
        before_(*request.in_force),
        repaired_(repaired),
        grower_(fabric, graph, repaired.balanced.plan, repaired.balanced.trees),
        search_(graph, grower_, repaired.balanced.trees),
        slot_by_port_(graph.switches()) {
    const Fabric& old = *before_.fabric;
    const Targets old_targets = find_targets(old, *before_.lids);
    const bool none = std::ranges::all_of(old_targets.hosts, [](auto hosts) { return hosts == 0; });
    for (const SwitchIdx sw : fabric.switch_node.indices()) {
      slot_by_port_[sw].fill(kNoSlot);
      const std::optional<NodeIdx> node = old.find_node(fabric.node_guid[fabric.switch_node[sw]]);
      const bool known = node && old.is_switch(*node);
      repaired.row_before.push_back(known ? old.switch_of[*node] : kNone<SwitchIdx>);
      had_hosts_.push_back(known && (none || old_targets.hosts[old.switch_of[*node]] != 0));
      std::uint8_t slot = 0;
      for (const SwitchEdge& edge : graph.edges(sw)) slot_by_port_[sw][edge.port.value()] = slot++;
    }
  }

  void run() {
    find_lids_before();
    repaired_.led_around = IndexVector<SwitchIdx, char>(graph_.switches(), 0);
    std::optional<DetourSearch> detours;
    if (repaired_.oriented) detours.emplace(*repaired_.oriented);
    IndexVector<SwitchIdx, char> asked(graph_.switches(), 0);
    InTrees& trees = repaired_.balanced.trees;
    Aim aim{grower_, detours ? &*detours : nullptr, repaired_.led_around};
    each_tree(repaired_.balanced.plan, [&](const TreeFamily& family, std::uint32_t offset) {
      if (detours && repaired_.targets.hosts[family.root] == 0 && !asked[family.root]) {
        repaired_.led_around[family.root] = is_led_around(*detours, family);
        asked[family.root] = 1;
      }
      aim.at(family.root);
      take_over(family, offset);
    });
    for (std::uint32_t tree = 0; tree < trees.count(); ++tree)
      repaired_.before.insert(
          repaired_.before.end(), trees.slots(tree).begin(), trees.slots(tree).end());
    each_tree(repaired_.balanced.plan, [&](const TreeFamily& family, std::uint32_t offset) {
      aim.at(family.root);
      search_.put_order(family.first_tree + offset);
    });
  }

 private:
  // A host that is new or has moved does not stand for others, whichever port it is at.
  void find_lids_before() {
    const TreePlan& plan = repaired_.balanced.plan;
    std::vector<Lid>& before = repaired_.lid_before;
    before.assign(repaired_.balanced.trees.count(), kUnassignedLid);
    const auto add = [&](SwitchIdx root, Lid lid) {
      Lid& first = before[plan.of_lid[lid.value()]];
      if (first == kUnassignedLid && serves(before_, repaired_.row_before[root], lid)) first = lid;
    };
    each_tree(plan, [&](const TreeFamily& family, std::uint32_t offset) {
      add(family.root, family.lid(offset));
    });
    for (const SwitchIdx root : repaired_.targets.of.indices()) {
      for (const Target& target : repaired_.targets.of[root]) {
        for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
          add(root, Lid{static_cast<std::uint16_t>(target.base.value() + offset)});
      }
    }
  }

  // Whether the tree in force of a switch without hosts is a detour; if it is neither that nor
  // whole, whether it should be.
  bool is_led_around(DetourSearch& detours, const TreeFamily& family) {
    grower_.aim_at(family.root);
    take_over(family, 0);
    if (grower_.is_whole(family, 0)) return false;
    detours.aim(grower_, family.root);
    return grower_.is_whole(family, 0) || !had_hosts_[family.root];
  }

  void take_over(const TreeFamily& family, std::uint32_t offset) {
    const ForwardingTables& tables = before_.routing->lft;
    const Lid before = repaired_.lid_before[family.first_tree + offset];
    const Lid lid = before != kUnassignedLid ? before : family.lid(offset);
    if (lid > tables.top()) return;
    const std::span<std::uint8_t> slots =
        repaired_.balanced.trees.slots(family.first_tree + offset);
    for (const std::uint32_t sw : repaired_.balanced.trees.near_to_far(family.root)) {
      const SwitchIdx row = repaired_.row_before[SwitchIdx{sw}];
      if (row == kNone<SwitchIdx> || sw == family.root.value()) continue;
      slots[sw] = slot_by_port_[SwitchIdx{sw}][tables.route(row, lid).value()];
    }
  }

  const SwitchGraph& graph_;
  const PreviousRoutes& before_;
  RepairedTrees& repaired_;
  TreeGrower grower_;
  TreeSearch search_;
  IndexVector<SwitchIdx, std::array<std::uint8_t, 256>> slot_by_port_;
  IndexVector<SwitchIdx, char> had_hosts_;
};

struct Gained {
  SwitchIdx sw;
  std::uint8_t slot;
};

/// Links that the fabric of before did not have, at switches that it had.
std::vector<Gained> find_gained(const Fabric& old,
                                const Fabric& fabric,
                                const SwitchGraph& graph,
                                const IndexVector<SwitchIdx, SwitchIdx>& row_before) {
  const auto had_edge = [&](NodeIdx node, PortNum port, Guid to) {
    if (port.value() > old.num_ports(node)) return false;
    const PortIdx peer = old.peer[old.port_of(node, port)];
    return peer != kNone<PortIdx> && old.node_guid[old.node_of[peer]] == to;
  };
  std::vector<Gained> gained;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    if (row_before[sw] == kNone<SwitchIdx>) continue;
    std::uint8_t slot = 0;
    for (const SwitchEdge& edge : graph.edges(sw)) {
      const Guid to = fabric.node_guid[fabric.switch_node[edge.to]];
      if (!had_edge(old.switch_node[row_before[sw]], edge.port, to)) gained.push_back({sw, slot});
      ++slot;
    }
  }
  return gained;
}

// Which layers paths of a switch that is new have is not known yet, nor what it would close to send
// others over it.
bool has_unknown_layers(const RepairedTrees& repaired, const RoutingTables& before) {
  return before.vls > 1 && std::ranges::count(repaired.row_before.raw(), kNone<SwitchIdx>) != 0;
}

// Hosts that come and go move nobody else.
class TreeRepair {
 public:
  TreeRepair(const Fabric& fabric,
             const SwitchGraph& graph,
             const RoutingRequest& request,
             RepairedTrees& repaired,
             Layering& layering)
      : graph_(graph),
        before_(*request.in_force),
        repaired_(repaired),
        plan_(repaired.balanced.plan),
        trees_(repaired.balanced.trees),
        layering_(layering),
        grower_(fabric, graph, plan_, trees_),
        search_(graph, grower_, trees_),
        detours_(repaired.oriented ? std::make_unique<DetourSearch>(*repaired.oriented) : nullptr),
        aim_(grower_, detours_.get(), repaired.led_around),
        gained_(find_gained(*before_.fabric, fabric, graph, repaired.row_before)),
        changed_(trees_.count()),
        settled_(trees_.count(), 0),
        moves_(request.rebalance || (find_port_changes(*before_.fabric, fabric, graph).any() &&
                                     !has_unknown_layers(repaired, *before_.routing))),
        shortens_(moves_ && (request.rebalance || !gained_.empty())) {
    if (!has_almost_minimal(*before_.routing)) return;
    std::vector<std::uint32_t> rank;
    for (std::uint32_t sw = 0; sw < graph.switches(); ++sw) rank.push_back(grower_.rank(sw));
    apart_.emplace(graph, plan_, trees_, grower_.slowness(), grower_.loads(), std::move(rank));
    for (const Gained& gained : gained_) {
      at_gained_.push_back(gained.sw.value());
      for (const SwitchEdge& edge : graph.edges(gained.sw)) at_gained_.push_back(edge.to.value());
    }
  }

  void run() {
    std::uint32_t offsets = 0;
    for (const TreeFamily& family : plan_.families) offsets = std::max(offsets, family.trees);
    for (std::uint32_t offset = 0; offset < offsets; ++offset) run(offset);
    for (const auto& [tree, sw] : elsewhere_) layering_.reopen(tree, SwitchIdx{sw});
  }

 private:
  void run(std::uint32_t offset) {
    grower_.clear_loads();
    // What an almost minimal path is longer than the shortest is no detour to be made good, as long
    // as it is within its bound.
    const bool apart = apart_ && offset != 0;
    std::vector<const TreeFamily*> rest;
    each_family(offset, [&](const TreeFamily& family) {
      if (is_whole(family.first_tree + offset) &&
          (!shortens_ || !trees_.has_own_order(family.first_tree + offset) ||
           (apart && !apart_->exceeds(family.first_tree + offset)))) {
        grower_.load(family, offset);
      } else {
        rest.push_back(&family);
      }
    });
    for (const TreeFamily* const family : rest) {
      aim_.at(family->root);
      if (repaired_.led_around[family->root]) {
        lead_around(*family, offset);
      } else {
        complete(*family, offset);
      }
      grower_.load(*family, offset);
    }
    if (apart) return each_family(offset, [&](const auto& family) { spread(family, offset); });
    if (moves_ && !gained_.empty())
      each_family(offset, [&](const auto& family) { shift(family, offset); });
    if (!moves_) {
      repaired_.imbalance = before_.routing->load.imbalance;
      return;
    }
    const Imbalance reached =
        rebalance_trees({.graph = graph_,
                         .plan = plan_,
                         .trees = trees_,
                         .offset = offset,
                         .changed = changed_,
                         .led_around = &repaired_.led_around,
                         .fits = [this](auto... what) { return fits(what...); }},
                        grower_,
                        before_.routing->load.imbalance);
    if (offset == 0) repaired_.imbalance = reached;
  }

  template <class Visit>
  void each_family(std::uint32_t offset, Visit&& visit) {
    for (const TreeFamily& family : plan_.families) {
      if (offset >= family.trees) continue;
      aim_.at(family.root);
      visit(family);
    }
  }

  [[nodiscard]] bool is_whole(std::uint32_t tree) const {
    return std::ranges::all_of(trees_.near_to_far(trees_.root(tree)), [&](std::uint32_t sw) {
      return sw == trees_.root(tree).value() || trees_.slots(tree)[sw] != kNoSlot;
    });
  }

  void complete(const TreeFamily& family, std::uint32_t offset) {
    const std::uint32_t tree = family.first_tree + offset;
    TreeSearch::Outcome completed = search_.complete(family, offset, layering_);
    changed_[tree] = std::move(completed.changed);
    settled_[tree] = !completed.fits;
    for (const std::uint32_t sw : completed.elsewhere) elsewhere_.emplace_back(tree, sw);
    if (!shortens_ || !trees_.has_own_order(tree) || settled_[tree]) return;
    const bool apart = apart_ && offset != 0;
    const auto most = apart ? apart_->most_links(family.root) : grower_.distances();
    for (const std::uint32_t sw : search_.shorten(tree, before(tree), most, layering_))
      changed_[tree].push_back(sw);
  }

  // Whoever moves anyhow, and whoever may have lost other ways to the links that came up.
  void spread(const TreeFamily& family, std::uint32_t offset) {
    const std::uint32_t tree = family.first_tree + offset;
    if (repaired_.led_around[family.root]) return;
    std::vector<std::uint32_t> some = changed_[tree];
    if (moves_) some.insert(some.end(), at_gained_.begin(), at_gained_.end());
    if (some.empty()) return;
    std::ranges::sort(some);
    const auto twice = std::ranges::unique(some);
    some.erase(twice.begin(), twice.end());
    const auto moved =
        apart_->spread(family,
                       offset,
                       AlmostMinimalSearch::Beside::AllOffsets,
                       some,
                       [this](std::uint32_t of, std::uint32_t sw, std::uint8_t slot, auto) {
                         return fits(of, sw, slot);
                       });
    changed_[tree].insert(changed_[tree].end(), moved.begin(), moved.end());
  }

  // Detours have their own candidates; whose path changes may change its layer.
  void lead_around(const TreeFamily& family, std::uint32_t offset) {
    const std::uint32_t tree = family.first_tree + offset;
    std::ranges::copy(before(tree), trees_.slots(tree).begin());
    trees_.set_order(tree, {});
    changed_[tree] = grower_.repair(family, offset, NextHopChoice::Load);
    std::vector<char> differs(graph_.switches(), 0);
    for (const std::uint32_t sw : changed_[tree]) differs[sw] = 1;
    for (const std::uint32_t sw : std::span(trees_.order(tree)).subspan(1)) {
      const std::uint32_t edge = graph_.first_edge(SwitchIdx{sw}) + trees_.slots(tree)[sw];
      differs[sw] = differs[sw] || differs[graph_.edge(edge).to.value()];
      if (differs[sw]) elsewhere_.emplace_back(tree, sw);
    }
  }

  void shift(const TreeFamily& family, std::uint32_t offset) {
    const std::uint32_t tree = family.first_tree + offset;
    if (trees_.has_own_order(tree) || repaired_.led_around[family.root]) return;
    for (const Gained& gained : gained_) {
      if (grower_.shift(family, offset, gained.sw, gained.slot, [&] {
            return fits(tree, gained.sw.value(), gained.slot);
          }))
        changed_[tree].push_back(gained.sw.value());
    }
  }

  // Everybody who comes by the switch keeps his layer.
  [[nodiscard]] bool fits(std::uint32_t tree, std::uint32_t sw, std::uint8_t slot) {
    return !settled_[tree] && search_.may_take(tree, sw, slot, before(tree), layering_);
  }

  [[nodiscard]] std::span<const std::uint8_t> before(std::uint32_t tree) const {
    return {repaired_.before.data() + tree * trees_.switches(), trees_.switches()};
  }

  const SwitchGraph& graph_;
  const PreviousRoutes& before_;
  RepairedTrees& repaired_;
  const TreePlan& plan_;
  InTrees& trees_;
  Layering& layering_;
  TreeGrower grower_;
  TreeSearch search_;
  std::unique_ptr<DetourSearch> detours_;
  Aim aim_;
  std::vector<Gained> gained_;
  std::vector<std::vector<std::uint32_t>> changed_;  // by tree
  std::vector<char> settled_;  // by tree: whose layers do not take all that may happen
  std::vector<std::pair<std::uint32_t, std::uint32_t>> elsewhere_;  // tree, switch
  const bool moves_;                                                // what could stay
  const bool shortens_;  // paths that are longer than they need be
  std::optional<AlmostMinimalSearch> apart_;
  std::vector<std::uint32_t> at_gained_;
};

}  // namespace

RepairedTrees take_trees_over(const Fabric& fabric,
                              const LidMap& lids,
                              const SwitchGraph& graph,
                              const RoutingRequest& request,
                              TreePer per) {
  Targets targets = find_targets(fabric, lids);
  add_orphaned_lids(fabric, lids, *request.in_force, targets);
  const Lid top = std::max(lids.top, request.in_force->routing->lft.top());
  TreePlan plan = plan_trees(lids, targets, top, per, false);
  const auto per_switch = plan.count_trees();
  RepairedTrees taken{std::move(targets),
                      {std::move(plan), InTrees{graph, per_switch}, 0, {}},
                      nullptr,
                      {},
                      {},
                      {},
                      {},
                      {}};
  const Orientation& along = request.in_force->routing->orientation;
  if (!along.by_guid.empty())
    taken.oriented = std::make_unique<OrientedFabric>(fabric, lids, request.options.roots, &along);
  PreviousTrees{fabric, graph, request, taken}.run();
  return taken;
}

bool repair_trees(const Fabric& fabric,
                  const SwitchGraph& graph,
                  const RoutingRequest& request,
                  RepairedTrees& repaired,
                  Layering& layering) {
  if (!layering.open(repaired.before)) return false;
  TreeRepair{fabric, graph, request, repaired, layering}.run();
  return true;
}

}  // namespace smd
