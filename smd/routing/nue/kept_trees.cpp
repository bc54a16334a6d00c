#include "smd/routing/nue/kept_trees.h"

#include <algorithm>

#include "smd/routing/keep/port_changes.h"
#include "smd/routing/nue/escape_tree.h"
#include "smd/routing/nue/lane_sls.h"
#include "smd/routing/orientation_repair.h"

namespace smd {
namespace {

constexpr std::uint32_t kDead = kUnreached - 1;  // leads nowhere, or in a circle

}  // namespace

KeptTrees::KeptTrees(const Fabric& fabric,
                     Lid top,
                     const SwitchGraph& graph,
                     const Channels& channels,
                     const Targets& targets,
                     const std::vector<std::uint32_t>& costs,
                     const PreviousRoutes& in_force)
    : graph_(graph),
      channels_(channels),
      targets_(targets),
      costs_(costs),
      in_force_(in_force),
      island_size_(fabric.switch_count(), 0),
      by_port_(fabric.switch_count() * 256, kNoChannel),
      lane_(top.value() + std::size_t{1}, 0),
      result_{.engine = "nue", .lft = {fabric.switch_count(), top}},
      load_(channels.size(), 0),
      moved_(top.value() + std::size_t{1}, 0),
      growth_(channels),
      flow_(fabric.switch_count(), 0) {
  std::vector<SwitchIdx> roots;
  for (const auto& island : find_islands(graph)) {
    roots.push_back(
        *std::ranges::max_element(island, {}, [&](SwitchIdx sw) { return targets.hosts[sw]; }));
    for (const SwitchIdx sw : island) island_size_[sw] = static_cast<std::uint32_t>(island.size());
  }
  const std::vector<Channel> order = EscapeTree{channels, roots}.list_channels();
  turns_.assign(in_force.routing->vls, TurnSet{channels, order});
  for (Channel c = 0; c < channels.size(); ++c)
    by_port_[channels.from[c].value() * std::size_t{256} + graph.edge(c).port.value()] = c;
  const PortChanges changes = find_port_changes(*in_force.fabric, fabric, graph);
  before_ = changes.before;
  recabled_ = changes.any();
  for (const PortChanges::Gained& link : changes.gained)
    gained_.push_back(by_port_[link.sw.value() * std::size_t{256} + link.port.value()]);
  list_wanted();
}

void KeptTrees::list_wanted() {
  for (const SwitchIdx sw : targets_.of.indices()) {
    for (const Target& target : targets_.of[sw]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        wanted_.push_back({Lid{static_cast<std::uint16_t>(target.base.value() + offset)},
                           sw,
                           target.exit,
                           target.host ? target.draws : 0});
    }
  }
  std::ranges::sort(wanted_, {}, &Wanted::lid);
}

std::optional<RoutingTables> KeptTrees::compute(unsigned lanes) {
  if (in_force_.routing->vls > lanes) return std::nullopt;
  copy_entries();
  std::vector<Wanted> broken;
  for (const Wanted& wanted : wanted_) {
    lane_[wanted.lid.value()] = old_lane(wanted);
    walk(wanted);
    if (!keep(wanted)) return std::nullopt;
    if (tree_.order.size() != island_size_[wanted.last]) broken.push_back(wanted);
  }
  for (const Wanted& wanted : broken) {
    if (!mend(wanted)) return std::nullopt;
    moved_[wanted.lid.value()] = 1;
  }
  use_gained();
  relieve();
  result_.recomputed.emplace();
  for (const Wanted& wanted : wanted_) {
    if (moved_[wanted.lid.value()]) result_.recomputed->push_back(wanted.lid);
  }
  set_lane_sls(
      targets_.of.size(), result_.lft.top(), static_cast<unsigned>(turns_.size()), lane_, result_);
  return std::move(result_);
}

// Entries of LIDs that somebody has.
void KeptTrees::copy_entries() {
  const ForwardingTables& old = in_force_.routing->lft;
  std::vector<Lid> kept;
  for (const Wanted& wanted : wanted_) {
    if (wanted.lid <= old.top()) kept.push_back(wanted.lid);
  }
  for (const SwitchIdx sw : before_.indices()) {
    if (before_[sw] == kNone<SwitchIdx>) continue;
    const std::span<const PortNum> from = old.row(before_[sw]);
    const std::span<PortNum> to = result_.lft.row(sw);
    for (const Lid lid : kept) to[lid.value()] = from[lid.value()];
  }
}

std::uint8_t KeptTrees::old_lane(const Wanted& wanted) const {
  const PathSls& sls = in_force_.routing->path_sls;
  if (sls.empty() || wanted.lid > in_force_.routing->lft.top()) return 0;
  return static_cast<std::uint8_t>(sls.sl(SwitchIdx{0}, wanted.lid) % in_force_.routing->vls);
}

// tree_: the switches whose entries lead to the last one. The others' go.
void KeptTrees::walk(const Wanted& wanted) {
  tree_.exit.assign(channels_.switches(), kNoChannel);
  tree_.depth.assign(channels_.switches(), kUnreached);
  tree_.order.assign(1, wanted.last);
  tree_.depth[wanted.last] = 0;
  for (const SwitchIdx start : tree_.depth.indices()) {
    path_.clear();
    SwitchIdx sw = start;
    while (tree_.depth[sw] == kUnreached) {
      const Channel exit = entry(sw, wanted.lid);
      tree_.exit[sw] = exit;
      tree_.depth[sw] = kDead;  // met again on this walk, it is a circle
      path_.push_back(sw);
      if (exit == kNoChannel) break;
      sw = channels_.to[exit];
    }
    std::uint32_t depth = tree_.depth[sw];
    for (std::size_t at = path_.size(); at-- > 0 && depth != kDead;) {
      tree_.depth[path_[at]] = ++depth;
      tree_.order.push_back(path_[at]);
    }
  }
  for (const SwitchIdx sw : tree_.depth.indices()) {
    if (tree_.depth[sw] != kDead) continue;
    tree_.depth[sw] = kUnreached;
    tree_.exit[sw] = kNoChannel;
    result_.lft.set_route(sw, wanted.lid, kNoRoute);
  }
}

// False when its turns do not go together with those of the others.
bool KeptTrees::keep(const Wanted& wanted) {
  TurnSet& turns = turns_[lane_[wanted.lid.value()]];
  for (std::size_t at = 1; at < tree_.order.size(); ++at) {
    const Channel in = tree_.exit[tree_.order[at]];
    const Channel out = tree_.exit[channels_.to[in]];
    if (out != kNoChannel && !turns.add(in, out)) return false;
  }
  turns.keep();
  result_.lft.set_route(wanted.last, wanted.lid, wanted.exit);
  if (tree_.order.size() == island_size_[wanted.last]) count_load(tree_, wanted.draws);
  return true;
}

bool KeptTrees::mend(const Wanted& wanted) {
  walk(wanted);
  growth_.forget_settled();
  for (std::size_t at = 1; at < tree_.order.size(); ++at) {
    const SwitchIdx sw = tree_.order[at];
    growth_.settle(sw, tree_.exit[sw], tree_.depth[sw]);
  }
  const unsigned home = lane_[wanted.lid.value()];
  if (regrow(wanted, home)) return true;
  growth_.forget_settled();
  for (unsigned step = 0; step < turns_.size(); ++step) {
    if (regrow(wanted, static_cast<unsigned>((home + step) % turns_.size()))) return true;
  }
  return false;
}

bool KeptTrees::regrow(const Wanted& wanted, unsigned lane) {
  growth_.grow(turns_[lane], wanted.last, load_, {});
  if (growth_.tree().order.size() != island_size_[wanted.last]) {
    turns_[lane].take_back();
    return false;
  }
  turns_[lane].keep();
  lane_[wanted.lid.value()] = static_cast<std::uint8_t>(lane);
  const GrownTree& tree = growth_.tree();
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    result_.lft.set_route(sw, wanted.lid, graph_.edge(tree.exit[sw]).port);
  }
  count_load(tree, wanted.draws);
  return true;
}

void KeptTrees::count_load(const GrownTree& tree, std::uint32_t draws) {
  if (draws == 0) return;
  for (const SwitchIdx sw : tree.order) flow_[sw] = targets_.hosts[sw];
  for (std::size_t at = tree.order.size(); at-- > 1;) {
    const SwitchIdx sw = tree.order[at];
    const Channel exit = tree.exit[sw];
    load_[exit] += flow_[sw] * draws * costs_[exit];
    flow_[channels_.to[exit]] += flow_[sw];
  }
}

}  // namespace smd
