#include "smd/multicast/forest.h"

#include <algorithm>
#include <utility>

#include "smd/multicast/realm.h"

namespace smd {
namespace {

/// Kept in memory at a time; each is two bytes a switch.
constexpr std::size_t kMostHeights = 1024;

/// A root that keeps the branches of the tree may cost so much more than the best.
constexpr std::uint64_t kPatience = 125;  // percent

std::uint32_t place(Lid mlid) { return std::uint32_t{mlid.value()} - kFirstMlid.value(); }

SwitchIdx switch_at(const Fabric& fabric, PortIdx port) {
  return fabric.switch_of[fabric.node_of[port]];
}

/// The same port in another snapshot, if its cable leads to the same port.
PortIdx find_same_cable(const Fabric& before, PortIdx port, const Fabric& now) {
  const auto find = [&](PortIdx old) {
    const auto node = now.find_node(before.node_guid[before.node_of[old]]);
    const PortNum number = before.number_of(old);
    return node && number.value() <= now.num_ports(*node) ? now.port_of(*node, number)
                                                          : kNone<PortIdx>;
  };
  const PortIdx here = find(port);
  const PortIdx there = find(before.peer[port]);
  if (here == kNone<PortIdx> || there == kNone<PortIdx> || now.peer[here] != there)
    return kNone<PortIdx>;
  return switch_at(now, here) == kNone<SwitchIdx> || switch_at(now, there) == kNone<SwitchIdx>
             ? kNone<PortIdx>
             : here;
}

}  // namespace

void Forest::adopt(std::shared_ptr<const Fabric> fabric,
                   const IndexVector<SwitchIdx, std::uint32_t>& rank) {
  const std::shared_ptr<const Fabric> before = std::exchange(fabric_, std::move(fabric));
  graph_.emplace(*fabric_);
  const IndexVector<SwitchIdx, Guid> guids = list_switch_guids(*fabric_);
  up_down_.emplace(*graph_, rank, guids);
  rooms_.clear();
  for (const SwitchInfo& info : fabric_->switch_info) rooms_.push_back(info.multicast_fdb_cap);
  std::ranges::sort(rooms_);
  const auto again = std::ranges::unique(rooms_);
  rooms_.erase(again.begin(), again.end());
  load_.assign(fabric_->port_count(), 0);
  roots_.assign(fabric_->switch_count(), 0);
  way_.assign(fabric_->switch_count(), kNone<PortIdx>);
  used_.assign(fabric_->switch_count(), 0);
  heights_.clear();
  for (auto& [mlid, grown] : trees_) {
    std::vector<Branch> kept;
    SwitchIdx root = kNone<SwitchIdx>;
    for (const Branch& branch : grown.tree.branches) {
      if (branch.up == kNone<PortIdx>) {
        const auto node = fabric_->find_node(before->node_guid[before->switch_node[branch.sw]]);
        if (node && fabric_->is_switch(*node)) root = fabric_->switch_of[*node];
        continue;
      }
      const PortIdx up = find_same_cable(*before, branch.up, *fabric_);
      if (up == kNone<PortIdx>) continue;
      const SwitchIdx sw = switch_at(*fabric_, up);
      const SwitchIdx to = switch_at(*fabric_, fabric_->peer[up]);
      const auto above = [&](SwitchIdx a, SwitchIdx b) {
        return rank[a] != rank[b] ? rank[a] < rank[b] : guids[a] < guids[b];
      };
      if (above(to, sw)) kept.push_back({sw, up});
    }
    if (root != kNone<SwitchIdx>) kept.push_back({root, kNone<PortIdx>});
    std::ranges::sort(kept, {}, &Branch::sw);
    grown.tree = {.branches = std::move(kept), .stranded = {}};
    grown.root = root;
    count_in(grown, +1);
  }
}

const Tree& Forest::update(Lid mlid, const std::vector<TreeMember>& members) {
  const unsigned level = level_of(mlid);
  Grown& grown = trees_[mlid];
  std::vector<SwitchIdx> at;
  std::vector<PortIdx> stranded;
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(*fabric_, member.port);
    if (entry == kNone<PortIdx> || !has_room(switch_at(*fabric_, entry), level)) {
      stranded.push_back(member.port);
    } else {
      at.push_back(switch_at(*fabric_, entry));
    }
  }
  std::ranges::sort(at);
  std::vector<Crowd> crowds;
  for (const SwitchIdx sw : at) {
    if (crowds.empty() || crowds.back().sw != sw) crowds.push_back({sw, 0});
    ++crowds.back().members;
  }
  count_in(grown, -1);
  settle_root(grown, crowds, level);
  grow(grown, crowds, level);
  count_in(grown, +1);
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(*fabric_, member.port);
    if (entry == kNone<PortIdx> || !has_room(switch_at(*fabric_, entry), level)) continue;
    if (!std::ranges::binary_search(
            grown.tree.branches, switch_at(*fabric_, entry), {}, &Branch::sw))
      stranded.push_back(member.port);
  }
  std::ranges::sort(stranded);
  grown.tree.stranded = std::move(stranded);
  return grown.tree;
}

void Forest::erase(Lid mlid) {
  const auto found = trees_.find(mlid);
  if (found == trees_.end()) return;
  count_in(found->second, -1);
  trees_.erase(found);
}

const Tree* Forest::find(Lid mlid) const {
  const auto found = trees_.find(mlid);
  return found == trees_.end() ? nullptr : &found->second.tree;
}

/// Switches of a level have room for the same MLIDs.
unsigned Forest::level_of(Lid mlid) const {
  return static_cast<unsigned>(std::ranges::upper_bound(rooms_, place(mlid)) - rooms_.begin());
}

bool Forest::has_room(SwitchIdx sw, unsigned level) const {
  return level == 0 || fabric_->switch_info[sw].multicast_fdb_cap > rooms_[level - 1];
}

const Forest::Heights& Forest::heights_of(SwitchIdx root, unsigned level) {
  if (const auto found = heights_.find({root, level}); found != heights_.end())
    return found->second;
  if (heights_.size() >= kMostHeights) heights_.clear();
  Heights& heights = heights_[{root, level}];
  heights.assign(fabric_->switch_count(), kFar);
  std::vector<SwitchIdx> queue{root};
  heights[root] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const UpDownGraph::Way& way : up_down_->down(queue[at])) {
      if (heights[way.to] != kFar || !has_room(way.to, level)) continue;
      heights[way.to] = static_cast<std::uint16_t>(heights[queue[at]] + 1);
      queue.push_back(way.to);
    }
  }
  return heights;
}

Forest::RootChoice Forest::choose_root(const std::vector<Crowd>& crowds,
                                       unsigned level,
                                       SwitchIdx old_root) {
  struct Candidate {
    std::uint32_t reached = 0;
    std::uint64_t cost = 0;
    bool above_old = false;
  };

  IndexVector<SwitchIdx, Candidate> candidates(fabric_->switch_count());
  IndexVector<SwitchIdx, std::uint32_t> hops(fabric_->switch_count(), kUnreached);
  std::vector<SwitchIdx> queue;
  const auto climb = [&](SwitchIdx from, auto visit) {
    queue.assign(1, from);
    hops[from] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      visit(queue[at], hops[queue[at]]);
      for (const UpDownGraph::Way& way : up_down_->up(queue[at])) {
        if (hops[way.to] != kUnreached || !has_room(way.to, level)) continue;
        hops[way.to] = hops[queue[at]] + 1;
        queue.push_back(way.to);
      }
    }
    for (const SwitchIdx sw : queue) hops[sw] = kUnreached;
  };
  for (const Crowd& crowd : crowds) {
    climb(crowd.sw, [&](SwitchIdx sw, std::uint32_t distance) {
      ++candidates[sw].reached;
      candidates[sw].cost += std::uint64_t{distance} * crowd.members;
    });
  }
  if (old_root != kNone<SwitchIdx> && has_room(old_root, level))
    climb(old_root, [&](SwitchIdx sw, std::uint32_t) { candidates[sw].above_old = true; });

  RootChoice best;
  RootChoice keeping;  // the best of those that keep what the tree has
  // Of equals the one with fewer trees, then the upmost.
  const auto better = [&](SwitchIdx sw, const RootChoice& than) {
    const Candidate& candidate = candidates[sw];
    if (than.root == kNone<SwitchIdx>) return true;
    if (candidate.reached != than.reached) return candidate.reached > than.reached;
    if (candidate.cost != than.cost) return candidate.cost < than.cost;
    return roots_[sw] < roots_[than.root];
  };
  for (const SwitchIdx sw : up_down_->order()) {
    const Candidate& candidate = candidates[sw];
    if (candidate.reached == 0) continue;
    if (better(sw, best)) best = {sw, candidate.reached, candidate.cost};
    if (candidate.above_old && better(sw, keeping))
      keeping = {sw, candidate.reached, candidate.cost};
  }
  const bool keep = keeping.root != kNone<SwitchIdx> && keeping.reached == best.reached &&
                    keeping.cost * 100 <= best.cost * kPatience;
  return keep ? keeping : best;
}

/// The root stays while it has all members below, until there are twice or half as many of their
/// switches as when it was chosen.
void Forest::settle_root(Grown& grown, const std::vector<Crowd>& crowds, unsigned level) {
  if (crowds.empty()) {
    grown.root = kNone<SwitchIdx>;
    return;
  }
  if (crowds.size() == 1) {
    grown.root = crowds.front().sw;
    grown.chosen_for = 1;
    return;
  }
  const bool doubled = crowds.size() > 2 * grown.chosen_for || 2 * crowds.size() < grown.chosen_for;
  if (grown.root != kNone<SwitchIdx> && has_room(grown.root, level) && !doubled) {
    const Heights& heights = heights_of(grown.root, level);
    if (std::ranges::all_of(crowds, [&](const Crowd& each) { return heights[each.sw] != kFar; }))
      return;
  }
  grown.root = choose_root(crowds, level, grown.root).root;
  grown.chosen_for = crowds.size();
}

void Forest::grow(Grown& grown, const std::vector<Crowd>& crowds, unsigned level) {
  std::vector<SwitchIdx> taken;
  if (grown.root != kNone<SwitchIdx>) {
    for (const Branch& branch : grown.tree.branches) way_[branch.sw] = branch.up;
    way_[grown.root] = kNone<PortIdx>;
    const Heights& heights = heights_of(grown.root, level);
    used_[grown.root] = 1;
    taken.push_back(grown.root);
    for (const Crowd& crowd : crowds) {
      if (heights[crowd.sw] == kFar) continue;
      for (SwitchIdx at = crowd.sw; used_[at] == 0;) {
        used_[at] = 1;
        taken.push_back(at);
        const PortIdx old = way_[at];
        if (old == kNone<PortIdx> || heights[switch_at(*fabric_, fabric_->peer[old])] == kFar)
          way_[at] = choose_way(at, heights);
        at = switch_at(*fabric_, fabric_->peer[way_[at]]);
      }
    }
  }
  std::vector<Branch> branches;
  branches.reserve(taken.size());
  for (const SwitchIdx sw : taken) branches.push_back({sw, way_[sw]});
  std::ranges::sort(branches, {}, &Branch::sw);
  for (const Branch& branch : grown.tree.branches) way_[branch.sw] = kNone<PortIdx>;
  for (const SwitchIdx sw : taken) {
    way_[sw] = kNone<PortIdx>;
    used_[sw] = 0;
  }
  grown.tree.branches = std::move(branches);
}

/// One hop nearer to the root: into the tree where that can be, over the cable with fewest trees.
PortIdx Forest::choose_way(SwitchIdx from, const Heights& heights) const {
  PortIdx best = kNone<PortIdx>;
  bool best_used = false;
  for (const UpDownGraph::Way& way : up_down_->up(from)) {
    if (heights[way.to] + 1 != heights[from]) continue;
    const SwitchEdge& edge = graph_->edge(way.edge);
    const PortIdx port = fabric_->port_of(fabric_->switch_node[from], edge.port);
    const bool used = used_[way.to] != 0;
    if (best == kNone<PortIdx> || (used && !best_used) ||
        (used == best_used && load_[port] < load_[best])) {
      best = port;
      best_used = used;
    }
  }
  return best;
}

void Forest::count_in(const Grown& grown, int sign) {
  const auto add = static_cast<std::uint32_t>(sign);
  for (const Branch& branch : grown.tree.branches) {
    if (branch.up != kNone<PortIdx>) load_[branch.up] += add;
  }
  if (grown.root != kNone<SwitchIdx> && !grown.tree.branches.empty()) roots_[grown.root] += add;
}

}  // namespace smd
