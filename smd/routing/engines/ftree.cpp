// Destination modulo parents, for fat trees and what is left of them.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "smd/routing/engines/engines.h"
#include "smd/routing/fat_tree/tree_fabric.h"
#include "smd/routing/fat_tree/tree_tables.h"
#include "smd/routing/verify/channel_load.h"

namespace smd {
namespace {

/// Of those that climb from one level: nobody has a choice between others.
bool differ_in_speed(const Fabric& fabric, const FatTreeShape& shape) {
  const std::vector<PortIdx> channels = find_channels(fabric);
  const ChannelSpeeds speeds{fabric, channels};
  if (!speeds.mixed()) return false;
  std::vector<std::uint64_t> mbps(shape.levels.size(), 0);
  for (const PortIdx channel : channels) {
    const std::uint32_t from = shape.level[fabric.switch_of[fabric.node_of[channel]]];
    if (shape.level[fabric.switch_at(fabric.peer[channel])] <= from) continue;
    if (mbps[from] == 0) mbps[from] = speeds.of(channel);
    if (mbps[from] != speeds.of(channel)) return true;
  }
  return false;
}

class FatTree final : public Engine {
 public:
  std::string_view name() const override { return "ftree"; }

  std::string_view contract() const override {
    return "Fat trees (parallel ports generalised ones), whole or damaged, hosts at upper switches "
           "included; 1 VL, any SL. Hosts are numbered in the order of the subtrees; at every "
           "level a destination's number, divided by the parents below and taken modulo the "
           "cables up, says the cable. In a whole tree with as many cables up as down no two "
           "flows of any shift permutation share a channel. Where a cable is missing, what it "
           "carried is spread over those from which the destination can still be reached; nothing "
           "else moves, and when it is back the tables are what they were. Free of deadlock: "
           "routes climb, then descend, in one order of all switches, which is that of the "
           "levels with the links above one leaf turned round, so that switches reach each other "
           "too. Refused when more than a tenth of the links join switches of one level. Source: "
           "D-mod-k (Zahavi et al. 2009) and its form for degraded trees, Dmodc (Gliksberg et al. "
           "2019).";
  }

 private:
  std::optional<Result<RoutingTables>> update(const Fabric& fabric,
                                              const LidMap& lids,
                                              const RoutingRequest& request,
                                              const PreviousRoutes& previous) const override {
    return route(fabric, lids, request, &previous);
  }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    return route(fabric, lids, request, nullptr);
  }

  // `previous`: null for tables from scratch.
  Result<RoutingTables> route(const Fabric& fabric,
                              const LidMap& lids,
                              const RoutingRequest& request,
                              const PreviousRoutes* previous) const {
    auto built = build_tree_fabric(fabric, lids);
    if (!built) return tl::unexpected<Error>(built.error());
    const TreeFabric& tree = **built;
    RoutingTables result{
        .engine = std::string{name()}, .orientation = tree.orientation, .tree = *built};
    if (request.previous != nullptr) result.altered = list_altered(tree, *request.previous);
    if (std::size_t missing = tree.shape.missing(); missing != 0 || tree.shape.level_links != 0)
      result.notes.push_back(print_fat_tree(tree.shape));
    if (differ_in_speed(fabric, tree.shape))
      result.notes.emplace_back(
          "cables between two levels differ in speed: ftree counts cables, not Gb/s");
    std::optional<TreeChange> change;
    if (previous != nullptr) change = change_in_force(fabric, lids, tree, *previous);
    if (change) {
      result.lft = std::move(change->lft);
      result.recomputed = std::move(change->recomputed);
    } else {
      result.lft = compute_all(fabric, lids, tree);
    }
    return result;
  }

  static std::optional<TreeChange> change_in_force(const Fabric& fabric,
                                                   const LidMap& lids,
                                                   const TreeFabric& tree,
                                                   const PreviousRoutes& previous) {
    std::shared_ptr<const TreeFabric> before = previous.routing->tree;
    if (before == nullptr || !before->is_of(*previous.fabric, *previous.lids)) {
      auto built = build_tree_fabric(*previous.fabric, *previous.lids);
      if (!built) return std::nullopt;
      before = std::move(*built);
    }
    return change_tree(fabric, lids, tree, previous, *before);
  }

  static ForwardingTables compute_all(const Fabric& fabric,
                                      const LidMap& lids,
                                      const TreeFabric& tree) {
    ForwardingTables tables{fabric.switch_count(), lids.top};
    BatchSearch search{tree.graph, tree.up_down};
    TreeWriter writer{tree, search};
    const std::vector<SwitchIdx>& all = tree.destinations;
    for (std::size_t from = 0; from < all.size(); from += BatchSearch::kBatch) {
      const std::size_t count = std::min(BatchSearch::kBatch, all.size() - from);
      const std::span<const SwitchIdx> some{all.data() + from, count};
      search.find(some);
      writer.begin(some);
      for (const SwitchIdx sw : tree.guids.indices())
        writer.write(
            sw, ~std::uint64_t{0} >> (BatchSearch::kBatch - count), tables.mutable_row(sw));
    }
    return tables;
  }

  // Known switches whose rank is not what it was.
  static std::vector<Guid> list_altered(const TreeFabric& tree, const Orientation& previous) {
    std::vector<Guid> altered;
    auto known = previous.by_guid.begin();
    for (const auto& [guid, rank] : tree.orientation.by_guid) {
      while (known != previous.by_guid.end() && known->first < guid) ++known;
      if (known != previous.by_guid.end() && known->first == guid && known->second != rank)
        altered.push_back(guid);
    }
    return altered;
  }
};

}  // namespace

const Engine& ftree_engine() {
  static const FatTree engine;
  return engine;
}

}  // namespace smd
