#include "smd/routing/nue/update.h"

#include <algorithm>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/nue/tree_growth.h"
#include "smd/routing/trees/rebalance.h"
#include "smd/routing/updn/orientation_repair.h"

namespace smd {
namespace {

constexpr std::uint32_t kDead = kUnreached - 1;  // leads nowhere, or in a circle

}  // namespace

void set_layer_sls(std::size_t switches,
                   Lid top,
                   unsigned layers,
                   const std::vector<std::uint8_t>& layer_of,
                   RoutingTables& tables) {
  tables.vls = layers;
  if (layers == 1) return;
  tables.path_sls = PathSls{switches, top};
  for (std::uint32_t source = 0; source < switches; ++source) {
    for (std::uint32_t lid = 0; lid < layer_of.size(); ++lid)
      tables.path_sls.set_sl(
          SwitchIdx{source}, Lid{static_cast<std::uint16_t>(lid)}, layer_of[lid]);
  }
}

NueUpdate::NueUpdate(const Fabric& fabric,
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
      layer_(top.value() + std::size_t{1}, 0),
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
  relinked_ = changes.any();
  for (const PortChanges::Gained& link : changes.gained)
    gained_.push_back(by_port_[link.sw.value() * std::size_t{256} + link.port.value()]);
  list_wanted();
}

void NueUpdate::list_wanted() {
  for (const SwitchIdx sw : targets_.of.indices()) {
    for (const Target& target : targets_.of[sw]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset)
        wanted_.push_back({Lid{static_cast<std::uint16_t>(target.base.value() + offset)},
                           sw,
                           target.egress,
                           target.host ? target.demand : 0});
    }
  }
  std::ranges::sort(wanted_, {}, &Wanted::lid);
}

std::optional<RoutingTables> NueUpdate::compute(unsigned layers) {
  if (in_force_.routing->vls > layers) return std::nullopt;
  copy_entries();
  std::vector<Wanted> broken;
  for (const Wanted& wanted : wanted_) {
    layer_[wanted.lid.value()] = previous_layer(wanted);
    walk(wanted);
    if (!keep(wanted)) return std::nullopt;
    if (tree_.order.size() != island_size_[wanted.last]) broken.push_back(wanted);
  }
  for (const Wanted& wanted : broken) {
    if (!repair(wanted)) return std::nullopt;
    moved_[wanted.lid.value()] = 1;
  }
  use_gained();
  rebalance();
  result_.recomputed.emplace();
  for (const Wanted& wanted : wanted_) {
    if (moved_[wanted.lid.value()]) result_.recomputed->push_back(wanted.lid);
  }
  set_layer_sls(
      targets_.of.size(), result_.lft.top(), static_cast<unsigned>(turns_.size()), layer_, result_);
  return std::move(result_);
}

// Entries of LIDs that somebody has.
void NueUpdate::copy_entries() {
  const ForwardingTables& old = in_force_.routing->lft;
  std::vector<Lid> kept;
  for (const Wanted& wanted : wanted_) {
    if (wanted.lid <= old.top()) kept.push_back(wanted.lid);
  }
  for (const SwitchIdx sw : before_.indices()) {
    if (before_[sw] == kNone<SwitchIdx>) continue;
    const std::span<const PortNum> from = old.row(before_[sw]);
    const std::span<PortNum> to = result_.lft.mutable_row(sw);
    for (const Lid lid : kept) to[lid.value()] = from[lid.value()];
  }
}

std::uint8_t NueUpdate::previous_layer(const Wanted& wanted) const {
  const PathSls& sls = in_force_.routing->path_sls;
  if (sls.empty() || wanted.lid > in_force_.routing->lft.top()) return 0;
  return static_cast<std::uint8_t>(sls.sl(SwitchIdx{0}, wanted.lid) % in_force_.routing->vls);
}

// tree_: the switches whose entries lead to the last one. The others' go.
void NueUpdate::walk(const Wanted& wanted) {
  tree_.egress.assign(channels_.switches(), kNoChannel);
  tree_.depth.assign(channels_.switches(), kUnreached);
  tree_.order.assign(1, wanted.last);
  tree_.depth[wanted.last] = 0;
  for (const SwitchIdx start : tree_.depth.indices()) {
    path_.clear();
    SwitchIdx sw = start;
    while (tree_.depth[sw] == kUnreached) {
      const Channel egress = entry(sw, wanted.lid);
      tree_.egress[sw] = egress;
      tree_.depth[sw] = kDead;  // met again on this walk, it is a circle
      path_.push_back(sw);
      if (egress == kNoChannel) break;
      sw = channels_.to[egress];
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
    tree_.egress[sw] = kNoChannel;
    result_.lft.set_route(sw, wanted.lid, kNoRoute);
  }
}

// False when its turns do not go together with those of the others.
bool NueUpdate::keep(const Wanted& wanted) {
  TurnSet& turns = turns_[layer_[wanted.lid.value()]];
  for (std::size_t at = 1; at < tree_.order.size(); ++at) {
    const Channel in = tree_.egress[tree_.order[at]];
    const Channel out = tree_.egress[channels_.to[in]];
    if (out != kNoChannel && !turns.add(in, out)) return false;
  }
  turns.keep();
  result_.lft.set_route(wanted.last, wanted.lid, wanted.egress);
  if (tree_.order.size() == island_size_[wanted.last]) count_load(tree_, wanted.demand);
  return true;
}

bool NueUpdate::repair(const Wanted& wanted) {
  walk(wanted);
  growth_.forget_settled();
  for (std::size_t at = 1; at < tree_.order.size(); ++at) {
    const SwitchIdx sw = tree_.order[at];
    growth_.settle(sw, tree_.egress[sw], tree_.depth[sw]);
  }
  const unsigned home = layer_[wanted.lid.value()];
  if (regrow(wanted, home)) return true;
  growth_.forget_settled();
  for (unsigned step = 0; step < turns_.size(); ++step) {
    if (regrow(wanted, static_cast<unsigned>((home + step) % turns_.size()))) return true;
  }
  return false;
}

bool NueUpdate::regrow(const Wanted& wanted, unsigned layer) {
  growth_.grow(turns_[layer], wanted.last, load_, {});
  if (growth_.tree().order.size() != island_size_[wanted.last]) {
    turns_[layer].take_back();
    return false;
  }
  turns_[layer].keep();
  layer_[wanted.lid.value()] = static_cast<std::uint8_t>(layer);
  const GrownTree& tree = growth_.tree();
  for (std::size_t at = 1; at < tree.order.size(); ++at) {
    const SwitchIdx sw = tree.order[at];
    result_.lft.set_route(sw, wanted.lid, graph_.edge(tree.egress[sw]).port);
  }
  count_load(tree, wanted.demand);
  return true;
}

void NueUpdate::count_load(const GrownTree& tree, std::uint32_t demand) {
  if (demand == 0) return;
  for (const SwitchIdx sw : tree.order) flow_[sw] = targets_.hosts[sw];
  for (std::size_t at = tree.order.size(); at-- > 1;) {
    const SwitchIdx sw = tree.order[at];
    const Channel egress = tree.egress[sw];
    load_[egress] += flow_[sw] * demand * costs_[egress];
    flow_[channels_.to[egress]] += flow_[sw];
  }
}

// Links that came up, and the trees in force: what gets shorter over them goes there, and of the
// rest their share.

void NueUpdate::use_gained() {
  for (const Channel gained : gained_) {
    for (const Wanted& wanted : wanted_) shorten(wanted, gained);
  }
  for (const Channel gained : gained_) fill(gained);
}

// Every link from the switch to the last one.
template <class Visit>
void NueUpdate::follow(SwitchIdx sw, const Wanted& wanted, Visit&& visit) const {
  while (sw != wanted.last) {
    const Channel egress = entry(sw, wanted.lid);
    if (egress == kNoChannel) return;
    visit(egress);
    sw = channels_.to[egress];
  }
}

// Links to the last switch; kUnreached on other islands.
std::uint32_t NueUpdate::depth(SwitchIdx sw, const Wanted& wanted) const {
  std::uint32_t links = 0;
  for (; sw != wanted.last; ++links) {
    const Channel egress = entry(sw, wanted.lid);
    if (egress == kNoChannel) return kUnreached;
    sw = channels_.to[egress];
  }
  return links;
}

std::uint64_t NueUpdate::count_paths(SwitchIdx sw, Lid lid) const {
  std::uint64_t paths = targets_.hosts[sw];
  for (Channel c = channels_.first[sw.value()]; c < channels_.first[sw.value() + 1]; ++c) {
    if (entry(channels_.to[c], lid) == channels_.reverse[c])
      paths += count_paths(channels_.to[c], lid);
  }
  return paths;
}

// On from the switch that the link makes nearer, as far as others get nearer by that or their load
// gets more even.
void NueUpdate::shorten(const Wanted& wanted, Channel gained) {
  const SwitchIdx start = channels_.from[gained];
  const std::uint32_t now = depth(start, wanted);
  if (now == kUnreached || depth(channels_.to[gained], wanted) + 1 >= now ||
      !move(wanted, gained, false))
    return;
  std::vector<SwitchIdx> nearer{start};
  for (std::size_t at = 0; at < nearer.size(); ++at) {
    const std::uint32_t own = depth(nearer[at], wanted);
    for (Channel c = channels_.first[nearer[at].value()];
         c < channels_.first[nearer[at].value() + 1];
         ++c) {
      const SwitchIdx neighbour = channels_.to[c];
      const Channel channel = channels_.reverse[c];
      const bool follows = entry(neighbour, wanted.lid) == channel;
      if (!follows) {
        const std::uint32_t links = depth(neighbour, wanted);
        if (links == own + 1) move(wanted, channel, true);
        if (links <= own + 1 || !move(wanted, channel, false)) continue;
      }
      nearer.push_back(neighbour);
    }
  }
}

// Of the LIDs that are as far over the link as otherwise, those that lie far apart first.
void NueUpdate::fill(Channel gained) {
  const SwitchIdx sw = channels_.from[gained];
  std::vector<std::pair<std::uint16_t, const Wanted*>> some;
  for (const Wanted& wanted : wanted_) {
    const Channel egress = entry(sw, wanted.lid);
    if (wanted.demand == 0 || egress == kNoChannel || egress == gained) continue;
    if (depth(channels_.to[gained], wanted) + 1 == depth(sw, wanted))
      some.emplace_back(static_cast<std::uint16_t>(wanted.lid.value() * 40503u), &wanted);
  }
  std::ranges::sort(some);
  for (const auto& [place, wanted] : some) {
    if (load_[entry(sw, wanted->lid)] > load_[gained]) move(*wanted, gained, true);
  }
}

// As turn(). With `if_even` only if the sum of the squares of the loads shrinks by that.
// Requires: the path behind it does not come back.
bool NueUpdate::move(const Wanted& wanted, Channel egress, bool if_even) {
  const SwitchIdx sw = channels_.from[egress];
  const std::uint64_t paths = count_paths(sw, wanted.lid) * wanted.demand;
  if (if_even && paths == 0) return false;
  const auto change_load = [&](Channel first, bool add) {
    double grown = 0;
    const auto visit = [&](Channel c) {
      const std::uint64_t weight = paths * costs_[c];
      const auto before = static_cast<double>(load_[c]);
      load_[c] += add ? weight : 0 - weight;
      const auto after = static_cast<double>(load_[c]);
      grown += after * after - before * before;
    };
    visit(first);
    follow(channels_.to[first], wanted, visit);
    return grown;
  };
  const Channel old = entry(sw, wanted.lid);
  const double shrunk = -change_load(old, false);
  const double grown = change_load(egress, true);
  const auto refuse = [&] {
    change_load(egress, false);
    change_load(old, true);
    return false;
  };
  if (if_even && grown >= shrunk) return refuse();

  return turn(wanted, egress) || refuse();
}

// What a change leaves uneven in the trees that are kept: the fullest links give away what other
// paths take as well.

class NueUpdate::Movable final : public MovableTrees {
 public:
  explicit Movable(NueUpdate& update) : update_(update) {}

  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(update_.wanted_.size());
  }

  [[nodiscard]] SwitchIdx root(std::uint32_t tree) const override {
    return update_.wanted_[tree].last;
  }

  [[nodiscard]] std::uint32_t demand(std::uint32_t tree) const override {
    return update_.wanted_[tree].demand;
  }

  [[nodiscard]] std::uint32_t edge(std::uint32_t tree, SwitchIdx sw) const override {
    const Wanted& wanted = update_.wanted_[tree];
    return sw == wanted.last ? kNoEdge : update_.entry(sw, wanted.lid);
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree) const override {
    return update_.moved_[update_.wanted_[tree].lid.value()] != 0;
  }

  [[nodiscard]] bool has_changed(std::uint32_t tree, SwitchIdx sw) const override {
    const Lid lid = update_.wanted_[tree].lid;
    const ForwardingTables& before = update_.in_force_.routing->lft;
    const SwitchIdx row = update_.before_[sw];
    return row == kNone<SwitchIdx> || lid > before.top() ||
           before.route(row, lid) != update_.result_.lft.route(sw, lid);
  }

  [[nodiscard]] bool take(std::uint32_t tree, SwitchIdx, std::uint32_t edge) override {
    return update_.turn(update_.wanted_[tree], edge);
  }

 private:
  NueUpdate& update_;
};

void NueUpdate::rebalance() {
  // What is aimed at later must not depend on how often nothing changed before.
  if (!relinked_) {
    result_.load.imbalance = in_force_.routing->load.imbalance;
    return;
  }
  Movable trees{*this};
  Traffic traffic{.sources = targets_.hosts,
                  .demand = IndexVector<SwitchIdx, std::uint64_t>(graph_.switches(), 0)};
  for (const Wanted& wanted : wanted_) traffic.demand[wanted.last] += wanted.demand;
  const LoadTarget aim = find_load_target(
      find_least_peak(graph_, traffic, costs_, load_), in_force_.routing->load.imbalance, load_);
  LoadRebalancer{graph_, traffic.sources, costs_, load_, trees}.run(aim);
  result_.load.imbalance = carry_imbalance(in_force_.routing->load.imbalance, load_);
}

// The switch that `egress` leaves takes it, if the turns are free on the LID's layer.
bool NueUpdate::turn(const Wanted& wanted, Channel egress) {
  const SwitchIdx sw = channels_.from[egress];
  TurnSet& turns = turns_[layer_[wanted.lid.value()]];
  const Channel next =
      channels_.to[egress] == wanted.last ? kNoChannel : entry(channels_.to[egress], wanted.lid);
  bool free = next == kNoChannel || turns.add(egress, next);
  for (Channel c = channels_.first[sw.value()]; free && c < channels_.first[sw.value() + 1]; ++c) {
    if (entry(channels_.to[c], wanted.lid) == channels_.reverse[c])
      free = turns.add(channels_.reverse[c], egress);
  }
  if (!free) {
    turns.take_back();
    return false;
  }
  turns.keep();
  result_.lft.set_route(sw, wanted.lid, graph_.edge(egress).port);
  moved_[wanted.lid.value()] = 1;
  return true;
}

}  // namespace smd
