#include "smd/multicast/forest.h"

#include <algorithm>
#include <utility>

#include "smd/multicast/subnet_limits.h"

namespace smd {
namespace {

/// Kept in memory at a time; each is two bytes a switch.
constexpr std::size_t kMostHeights = 1024;

/// A root that keeps the branches of the tree may cost so much more than the best.
constexpr std::uint64_t kPatience = 125;  // percent

/// The same port in another snapshot, if its link leads to the same port.
PortIdx find_same_link(const Fabric& before, PortIdx port, const Fabric& now) {
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
  return now.switch_at(here) == kNone<SwitchIdx> || now.switch_at(there) == kNone<SwitchIdx>
             ? kNone<PortIdx>
             : here;
}

/// Either end stands for it.
PortIdx link_of(const Fabric& fabric, PortIdx port) { return std::min(port, fabric.peer[port]); }

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
  up_port_.assign(fabric_->switch_count(), kNone<PortIdx>);
  used_.assign(fabric_->switch_count(), 0);
  wanted_.assign(fabric_->switch_count(), 0);
  heights_.clear();
  distances_.clear();
  for (auto& [mlid, grown] : trees_) {
    std::vector<Branch> kept;
    SwitchIdx root = kNone<SwitchIdx>;
    for (const Branch& branch : grown.tree.branches) {
      if (branch.up == kNone<PortIdx>) {
        const auto node = fabric_->find_node(before->node_guid[before->switch_node[branch.sw]]);
        if (node && fabric_->is_switch(*node)) root = fabric_->switch_of[*node];
        continue;
      }
      const PortIdx up = find_same_link(*before, branch.up, *fabric_);
      if (up == kNone<PortIdx> || !is_link_active(*fabric_, up)) continue;
      if (grown.by_sender || leads_up(up)) kept.push_back({fabric_->switch_at(up), up});
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
    if (entry == kNone<PortIdx> || !has_room(fabric_->switch_at(entry), level)) {
      stranded.push_back(member.port);
    } else {
      at.push_back(fabric_->switch_at(entry));
    }
  }
  std::ranges::sort(at);
  std::vector<MemberSwitch> member_switches;
  for (const SwitchIdx sw : at) {
    if (member_switches.empty() || member_switches.back().sw != sw)
      member_switches.push_back({sw, 0});
    ++member_switches.back().members;
  }
  const PortIdx sender = find_only_sender(members);
  const PortIdx way_in = sender == kNone<PortIdx> ? sender : entry_of(*fabric_, sender);
  count_in(grown, -1);
  if (way_in != kNone<PortIdx> && has_room(fabric_->switch_at(way_in), level)) {
    grow_from(grown, fabric_->switch_at(way_in), member_switches, level);
  } else {
    if (std::exchange(grown.by_sender, false)) {
      std::erase_if(grown.tree.branches, [&](const Branch& branch) {
        return branch.up != kNone<PortIdx> && !leads_up(branch.up);
      });
    }
    settle_root(grown, member_switches, level);
    grow(grown, member_switches, level);
  }
  count_in(grown, +1);
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(*fabric_, member.port);
    if (entry == kNone<PortIdx> || !has_room(fabric_->switch_at(entry), level)) continue;
    if (!std::ranges::binary_search(
            grown.tree.branches, fabric_->switch_at(entry), {}, &Branch::sw))
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
  return static_cast<unsigned>(std::ranges::upper_bound(rooms_, place_of(mlid)) - rooms_.begin());
}

bool Forest::has_room(SwitchIdx sw, unsigned level) const {
  return level == 0 || fabric_->switch_info[sw].multicast_fdb_cap > rooms_[level - 1];
}

const Forest::Heights& Forest::heights_of(SwitchIdx root, unsigned level) {
  if (const auto found = heights_.find({root, level}); found != heights_.end())
    return found->second;
  if (heights_.size() >= kMostHeights) heights_.clear();
  Heights& heights = heights_[{root, level}];
  heights.assign(fabric_->switch_count(), kUnreached);
  std::vector<SwitchIdx> queue{root};
  heights[root] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const UpDownGraph::Link& step : up_down_->down(queue[at])) {
      if (heights[step.to] != kUnreached || !has_room(step.to, level)) continue;
      heights[step.to] = static_cast<std::uint16_t>(heights[queue[at]] + 1);
      queue.push_back(step.to);
    }
  }
  return heights;
}

Forest::RootChoice Forest::choose_root(const std::vector<MemberSwitch>& member_switches,
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
      for (const UpDownGraph::Link& step : up_down_->up(queue[at])) {
        if (hops[step.to] != kUnreached || !has_room(step.to, level)) continue;
        hops[step.to] = hops[queue[at]] + 1;
        queue.push_back(step.to);
      }
    }
    for (const SwitchIdx sw : queue) hops[sw] = kUnreached;
  };
  for (const MemberSwitch& member_switch : member_switches) {
    climb(member_switch.sw, [&](SwitchIdx sw, std::uint32_t distance) {
      ++candidates[sw].reached;
      candidates[sw].cost += std::uint64_t{distance} * member_switch.members;
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
void Forest::settle_root(Grown& grown,
                         const std::vector<MemberSwitch>& member_switches,
                         unsigned level) {
  if (member_switches.empty()) {
    grown.root = kNone<SwitchIdx>;
    return;
  }
  if (member_switches.size() == 1) {
    grown.root = member_switches.front().sw;
    grown.chosen_for = 1;
    return;
  }
  const bool doubled = member_switches.size() > 2 * grown.chosen_for ||
                       2 * member_switches.size() < grown.chosen_for;
  if (grown.root != kNone<SwitchIdx> && has_room(grown.root, level) && !doubled) {
    const Heights& heights = heights_of(grown.root, level);
    if (std::ranges::all_of(member_switches, [&](const MemberSwitch& each) {
          return heights[each.sw] != kUnreached;
        }))
      return;
  }
  grown.root = choose_root(member_switches, level, grown.root).root;
  grown.chosen_for = member_switches.size();
}

void Forest::grow(Grown& grown, const std::vector<MemberSwitch>& member_switches, unsigned level) {
  std::vector<SwitchIdx> taken;
  if (grown.root != kNone<SwitchIdx>) {
    for (const Branch& branch : grown.tree.branches) up_port_[branch.sw] = branch.up;
    up_port_[grown.root] = kNone<PortIdx>;
    const Heights& heights = heights_of(grown.root, level);
    used_[grown.root] = 1;
    taken.push_back(grown.root);
    for (const MemberSwitch& member_switch : member_switches) {
      if (heights[member_switch.sw] == kUnreached) continue;
      for (SwitchIdx at = member_switch.sw; used_[at] == 0;) {
        used_[at] = 1;
        taken.push_back(at);
        const PortIdx old = up_port_[at];
        if (old == kNone<PortIdx> || heights[fabric_->switch_at(fabric_->peer[old])] == kUnreached)
          up_port_[at] = choose_up_port(at, heights);
        at = fabric_->switch_at(fabric_->peer[up_port_[at]]);
      }
    }
  }
  replace_branches(grown, taken);
}

/// By the scratch, which is empty afterwards.
void Forest::replace_branches(Grown& grown, const std::vector<SwitchIdx>& taken) {
  std::vector<Branch> branches;
  branches.reserve(taken.size());
  for (const SwitchIdx sw : taken) branches.push_back({sw, up_port_[sw]});
  std::ranges::sort(branches, {}, &Branch::sw);
  for (const Branch& branch : grown.tree.branches) up_port_[branch.sw] = kNone<PortIdx>;
  for (const SwitchIdx sw : taken) {
    up_port_[sw] = kNone<PortIdx>;
    used_[sw] = 0;
  }
  grown.tree.branches = std::move(branches);
}

Forest::PortChoice Forest::choice_of(SwitchIdx from,
                                     const UpDownGraph::Link& step,
                                     bool in_tree) const {
  const PortIdx port = fabric_->port_of(fabric_->switch_node[from], graph_->edge(step.edge).port);
  return {.port = port,
          .discards = !is_link_active(*fabric_, port),
          .outside = !in_tree,
          .trees = load_[link_of(*fabric_, port)]};
}

/// One hop nearer to the root.
PortIdx Forest::choose_up_port(SwitchIdx from, const Heights& heights) const {
  PortChoice best;
  for (const UpDownGraph::Link& step : up_down_->up(from)) {
    if (heights[step.to] + 1 != heights[from]) continue;
    best =
        std::ranges::min(best, choice_of(from, step, used_[step.to] != 0), {}, &PortChoice::cost);
  }
  return best.port;
}

bool Forest::leads_up(PortIdx port) const {
  const std::uint8_t number = fabric_->number_of(port).value();
  return std::ranges::any_of(up_down_->up(fabric_->switch_at(port)),
                             [&](const UpDownGraph::Link& step) {
                               return graph_->edge(step.edge).port.value() == number;
                             });
}

const Forest::SenderDistances& Forest::distances_of(SwitchIdx sender, unsigned level) {
  if (const auto found = distances_.find({sender, level}); found != distances_.end())
    return found->second;
  if (distances_.size() >= kMostHeights) distances_.clear();
  SenderDistances& distances = distances_[{sender, level}];
  distances.hops.assign(fabric_->switch_count(), kUnreached);
  distances.by_ups.assign(fabric_->switch_count(), 0);
  const auto take = [&](SwitchIdx sw, std::uint16_t hops, std::vector<SwitchIdx>& queue) {
    if (distances.hops[sw] != kUnreached || !has_room(sw, level)) return;
    distances.hops[sw] = hops;
    queue.push_back(sw);
  };
  std::vector<SwitchIdx> above, below;  // both nearest first
  take(sender, 0, above);
  for (std::size_t at = 0; at < above.size(); ++at) {
    distances.by_ups[above[at]] = 1;
    for (const UpDownGraph::Link& step : up_down_->up(above[at]))
      take(step.to, static_cast<std::uint16_t>(distances.hops[above[at]] + 1), above);
  }
  for (std::size_t a = 0, b = 0; a < above.size() || b < below.size();) {
    const bool climbs = b == below.size() ||
                        (a < above.size() && distances.hops[above[a]] <= distances.hops[below[b]]);
    const SwitchIdx sw = climbs ? above[a++] : below[b++];
    for (const UpDownGraph::Link& step : up_down_->down(sw))
      take(step.to, static_cast<std::uint16_t>(distances.hops[sw] + 1), below);
  }
  return distances;
}

void Forest::grow_from(Grown& grown,
                       SwitchIdx sender,
                       const std::vector<MemberSwitch>& member_switches,
                       unsigned level) {
  const SenderDistances& distances = distances_of(sender, level);
  for (const Branch& branch : grown.tree.branches) up_port_[branch.sw] = branch.up;
  up_port_[sender] = kNone<PortIdx>;
  for (const MemberSwitch& member_switch : member_switches) wanted_[member_switch.sw] = 1;
  used_[sender] = 1;
  std::vector<SwitchIdx> taken{sender};
  for (const MemberSwitch& member_switch : member_switches) {
    if (distances.hops[member_switch.sw] == kUnreached) continue;
    for (SwitchIdx at = member_switch.sw; used_[at] == 0;) {
      used_[at] = 1;
      taken.push_back(at);
      up_port_[at] = choose_port_back(at, distances, up_port_[at]);
      at = fabric_->switch_at(fabric_->peer[up_port_[at]]);
    }
  }
  for (const MemberSwitch& member_switch : member_switches) wanted_[member_switch.sw] = 0;
  replace_branches(grown, taken);
  grown.root = sender;
  grown.chosen_for = 0;
  grown.by_sender = true;
}

/// One hop nearer to the sender: the old port if it is. The tree is what it has or will have.
PortIdx Forest::choose_port_back(SwitchIdx from,
                                 const SenderDistances& distances,
                                 PortIdx old) const {
  const bool by_ups = distances.by_ups[from] != 0;
  PortChoice best;
  for (const UpDownGraph::Link& step : by_ups ? up_down_->down(from) : up_down_->up(from)) {
    if (distances.hops[step.to] + 1 != distances.hops[from] ||
        (by_ups && distances.by_ups[step.to] == 0))
      continue;
    const PortChoice choice = choice_of(from, step, used_[step.to] != 0 || wanted_[step.to] != 0);
    if (choice.port == old) return old;
    best = std::ranges::min(best, choice, {}, &PortChoice::cost);
  }
  return best.port;
}

void Forest::count_in(const Grown& grown, int sign) {
  const auto add = static_cast<std::uint32_t>(sign);
  for (const Branch& branch : grown.tree.branches) {
    if (branch.up != kNone<PortIdx>) load_[link_of(*fabric_, branch.up)] += add;
  }
  if (grown.root != kNone<SwitchIdx> && !grown.tree.branches.empty()) roots_[grown.root] += add;
}

}  // namespace smd
