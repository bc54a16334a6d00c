#include "smd/routing/layered/tree_repair.h"

#include <algorithm>
#include <array>
#include <utility>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/trees/rebalance.h"

namespace smd {
namespace {

class FamilyTrees final : public MovableTrees {
 public:
  explicit FamilyTrees(const TreesToRebalance& on) : on_(on) {
    for (const TreeFamily& family : on.plan.families) {
      if (on.offset < family.trees && family.weight != 0) families_.push_back(&family);
    }
  }

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(families_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override { return families_[tree]->root; }

  [[nodiscard]] std::uint32_t demand(std::uint32_t tree) const override {
    return static_cast<std::uint32_t>(families_[tree]->weight);
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    const std::uint8_t slot = on_.trees.slots(number(tree))[sw.value()];
    return slot == kNoSlot ? kNoEdge : on_.graph.first_edge(sw) + slot;
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return !on_.changed[number(tree)].empty();
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    return std::ranges::count(on_.changed[number(tree)], sw.value()) != 0;
  }

  /// Not where more LIDs of the same port would go the same way.
  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx sw, std::uint32_t edge) override {
    const TreeFamily& family = *families_[tree];
    const auto to = static_cast<std::uint8_t>(edge - on_.graph.first_edge(sw));
    std::uint8_t& slot = on_.trees.slots(number(tree))[sw.value()];
    int more = 0;
    for (std::uint32_t other = 0; other < family.trees; ++other) {
      const std::uint8_t its = on_.trees.slots(family.first_tree + other)[sw.value()];
      if (other != on_.offset) more += (its == to) - (its == slot);
    }
    if (more > 0) return false;
    slot = to;
    on_.changed[number(tree)].push_back(sw.value());
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t number(std::uint32_t tree) const {
    return families_[tree]->first_tree + on_.offset;
  }

  const TreesToRebalance& on_;
  std::vector<const TreeFamily*> families_;
};

struct Gained {
  SwitchIdx sw;
  std::uint8_t slot;
};

class TreeRepair {
 public:
  TreeRepair(const Fabric& fabric,
             const SwitchGraph& graph,
             const RoutingRequest& request,
             DetourSearch* detours,
             RepairedTrees& repaired)
      : graph_(graph),
        detours_(detours),
        before_(*request.in_force),
        repaired_(repaired),
        grower_(fabric, graph, repaired.balanced.plan, repaired.balanced.trees),
        slot_by_port_(graph.switches()),
        asked_(graph.switches(), 0),
        led_around_(graph.switches(), 0),
        changed_(repaired.balanced.trees.count()),
        relinked_(find_port_changes(*request.in_force->fabric, fabric, graph).any()) {
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
      for (const SwitchEdge& edge : graph.edges(sw)) {
        slot_by_port_[sw][edge.port.value()] = slot;
        const Guid to = fabric.node_guid[fabric.switch_node[edge.to]];
        if (known && !had_edge(old, *node, edge.port, to)) gained_.push_back({sw, slot});
        ++slot;
      }
    }
  }

  void run() {
    std::uint32_t offsets = 0;
    for (const TreeFamily& family : repaired_.balanced.plan.families)
      offsets = std::max(offsets, family.trees);
    for (std::uint32_t offset = 0; offset < offsets; ++offset) {
      grower_.clear_loads();
      std::vector<const TreeFamily*> broken;
      each_family(offset, [&](const TreeFamily& family) {
        take_over(family, offset);
        if (grower_.is_whole(family, offset)) {
          grower_.load(family, offset);
        } else {
          broken.push_back(&family);
        }
      });
      SwitchIdx at = kNone<SwitchIdx>;
      for (const TreeFamily* const family : broken) {
        if (family->root != at) aim(*family);
        at = family->root;
        changed_[family->first_tree + offset] =
            grower_.repair(*family, offset, NextHopChoice::Load);
        grower_.load(*family, offset);
      }
      if (!gained_.empty()) {
        each_family(offset, [&](const TreeFamily& family) {
          for (const Gained& gained : gained_) {
            if (grower_.shift(family, offset, gained.sw, gained.slot))
              changed_[family.first_tree + offset].push_back(gained.sw.value());
          }
        });
      }
      // Hosts that come and go move nobody else.
      if (!relinked_) {
        repaired_.imbalance = before_.routing->load.imbalance;
        continue;
      }
      const Imbalance reached = rebalance_trees({.graph = graph_,
                                                 .plan = repaired_.balanced.plan,
                                                 .trees = repaired_.balanced.trees,
                                                 .offset = offset,
                                                 .changed = changed_},
                                                grower_,
                                                before_.routing->load.imbalance);
      if (offset == 0) repaired_.imbalance = reached;
    }
    for (std::uint32_t tree = 0; tree < changed_.size(); ++tree) {
      for (const std::uint32_t sw : changed_[tree]) repaired_.changes.push_back({tree, sw});
    }
  }

 private:
  static bool had_edge(const Fabric& old, NodeIdx node, PortNum port, Guid to) {
    if (port.value() > old.num_ports(node)) return false;
    const PortIdx peer = old.peer[old.port_of(node, port)];
    return peer != kNone<PortIdx> && old.node_guid[old.node_of[peer]] == to;
  }

  template <class Visit>
  void each_family(std::uint32_t offset, Visit&& visit) {
    SwitchIdx at = kNone<SwitchIdx>;
    for (const TreeFamily& family : repaired_.balanced.plan.families) {
      if (offset >= family.trees) continue;
      if (family.root != at) aim(family);
      at = family.root;
      visit(family);
    }
  }

  void aim(const TreeFamily& family) {
    if (detours_ != nullptr && repaired_.targets.hosts[family.root] == 0) {
      if (!asked_[family.root]) led_around_[family.root] = is_led_around(family);
      asked_[family.root] = 1;
    }
    if (led_around_[family.root]) {
      detours_->aim(grower_, family.root);
    } else {
      grower_.aim_at(family.root);
    }
  }

  // Whether the tree in force of a switch without hosts is a detour; if it is neither that nor
  // whole, whether it should be.
  bool is_led_around(const TreeFamily& family) {
    grower_.aim_at(family.root);
    take_over(family, 0);
    if (grower_.is_whole(family, 0)) return false;
    detours_->aim(grower_, family.root);
    return grower_.is_whole(family, 0) || !had_hosts_[family.root];
  }

  void take_over(const TreeFamily& family, std::uint32_t offset) {
    const ForwardingTables& tables = before_.routing->lft;
    const Lid lid{static_cast<std::uint16_t>(family.base.value() + offset)};
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
  DetourSearch* detours_;
  const PreviousRoutes& before_;
  RepairedTrees& repaired_;
  TreeGrower grower_;
  IndexVector<SwitchIdx, std::array<std::uint8_t, 256>> slot_by_port_;
  IndexVector<SwitchIdx, char> had_hosts_;
  IndexVector<SwitchIdx, char> asked_;
  IndexVector<SwitchIdx, char> led_around_;
  std::vector<Gained> gained_;
  std::vector<std::vector<std::uint32_t>> changed_;  // by tree
  const bool relinked_;
};

}  // namespace

Imbalance rebalance_trees(TreesToRebalance on, TreeGrower& grower, const Imbalance& before) {
  FamilyTrees trees{on};
  Traffic traffic{.sources = IndexVector<SwitchIdx, std::uint32_t>(on.graph.switches(), 0),
                  .demand = IndexVector<SwitchIdx, std::uint64_t>(on.graph.switches(), 0)};
  for (const SwitchIdx sw : traffic.sources.indices())
    traffic.sources[sw] = on.plan.weight_of_source[sw.value()];
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree)
    traffic.demand[trees.root(tree)] += trees.demand(tree);
  std::vector<std::uint64_t>& load = grower.loads();
  const LoadTarget aim =
      find_load_target(find_least_peak(on.graph, traffic, grower.slowness(), load), before, load);
  LoadRebalancer rebalancer{on.graph, traffic.sources, grower.slowness(), load, trees};
  rebalancer.run(aim);
  return carry_imbalance(before, load);
}

RepairedTrees repair_trees(const Fabric& fabric,
                           const LidMap& lids,
                           const SwitchGraph& graph,
                           const RoutingRequest& request,
                           TreePer per) {
  Targets targets = find_targets(fabric, lids);
  add_orphaned_lids(fabric, lids, *request.in_force, targets);
  const Lid top = std::max(lids.top, request.in_force->routing->lft.top());
  TreePlan plan = plan_trees(lids, targets, top, per, false);
  const auto per_switch = plan.count_trees();
  RepairedTrees repaired{
      std::move(targets), {std::move(plan), InTrees{graph, per_switch}, 0, {}}, {}, {}, {}, {}};
  const Orientation& along = request.in_force->routing->orientation;
  if (along.by_guid.empty()) {
    TreeRepair{fabric, graph, request, nullptr, repaired}.run();
    return repaired;
  }
  OrientedFabric oriented{fabric, lids, request.options.roots, &along};
  DetourSearch detours{oriented};
  TreeRepair{fabric, graph, request, &detours, repaired}.run();
  repaired.orientation = std::move(oriented.oriented.orientation);
  return repaired;
}

}  // namespace smd
