#include "smd/multicast/label_paths.h"

#include <algorithm>
#include <iterator>

#include "smd/multicast/subnet_limits.h"
#include "smd/routing/engine.h"
#include "smd/routing/topology/neighbour_graph.h"

namespace smd {
namespace {

std::vector<std::pair<Guid, Guid>> list_links(const Fabric& fabric, const NeighbourGraph& graph) {
  const auto guid = [&](SwitchIdx sw) { return fabric.node_guid[fabric.switch_node[sw]]; };
  std::vector<std::pair<Guid, Guid>> links;
  for (const SwitchIdx sw : graph.by_guid()) {
    links.emplace_back(guid(sw), guid(sw));  // also one without links
    for (const Neighbour& n : graph.around(sw)) links.emplace_back(guid(sw), guid(n.to));
  }
  return links;
}

}  // namespace

bool LabelPaths::adopt(std::shared_ptr<const Fabric> fabric, TreeShape shape) {
  fabric_ = std::move(fabric);
  shape_ = shape;
  graph_ = std::make_unique<NeighbourGraph>(*fabric_);
  trees_.clear();
  Links links = list_links(*fabric_, *graph_);
  const bool same = links == links_;
  links_ = std::move(links);
  if (same && !refusal_.empty()) return false;
  refusal_.clear();
  if (!same || !keep_labels()) {
    auto found = find_hamiltonian_path(*fabric_, *graph_, RoutingRequest{}.seed);
    if (!found) {
      refusal_ = found.error().context;
      order_.clear();
      return false;
    }
    path_ = std::move(*found);
    order_.clear();
    for (const SwitchIdx sw : path_) order_.push_back(fabric_->node_guid[fabric_->switch_node[sw]]);
  }
  label_.assign(fabric_->switch_count(), 0);
  for (std::uint32_t l = 0; l < path_.size(); ++l) label_[path_[l]] = l;
  return true;
}

/// Finds the switches of before again, which are as they were.
bool LabelPaths::keep_labels() {
  if (order_.empty() || order_.size() != graph_->switches()) return false;
  path_.clear();
  for (const Guid guid : order_) {
    const auto node = fabric_->find_node(guid);
    if (!node || !fabric_->is_switch(*node)) return false;
    const SwitchIdx sw = fabric_->switch_of[*node];
    if (!path_.empty() && !graph_->find(path_.back(), sw)) return false;
    path_.push_back(sw);
  }
  return true;
}

const Tree* LabelPaths::find(Lid mlid) const {
  const auto found = trees_.find(mlid);
  return found == trees_.end() ? nullptr : &found->second;
}

bool LabelPaths::has_room(std::uint32_t label, Lid mlid) const {
  return fabric_->switch_info[path_[label]].multicast_fdb_cap >
         std::uint32_t{mlid.value()} - kFirstMlid.value();
}

/// Labels of neighbours: the furthest that does not pass `to`. There is one, as labels that follow
/// each other are neighbours.
std::uint32_t LabelPaths::next_up(std::uint32_t from, std::uint32_t to) const {
  if (shape_ == TreeShape::PathShared) return from + 1;
  std::uint32_t best = from;
  for (const Neighbour& n : graph_->around(path_[from])) {
    if (label_[n.to] <= to) best = std::max(best, label_[n.to]);
  }
  return best;
}

std::uint32_t LabelPaths::next_down(std::uint32_t from, std::uint32_t to) const {
  if (shape_ == TreeShape::PathShared) return from - 1;
  std::uint32_t best = from;
  for (const Neighbour& n : graph_->around(path_[from])) {
    if (label_[n.to] >= to) best = std::min(best, label_[n.to]);
  }
  return best;
}

/// Labels on the way from `start` by all stops, which lie on one side of it in the order in which
/// they are met; without `start`, and up to the last stop before there is no room.
std::vector<std::uint32_t> LabelPaths::walk(std::uint32_t start,
                                            const std::vector<std::uint32_t>& stops,
                                            Lid mlid) const {
  std::vector<std::uint32_t> step;
  std::uint32_t at = start;
  for (const std::uint32_t stop : stops) {
    const std::size_t met = step.size();
    while (at != stop) {
      at = stop > at ? next_up(at, stop) : next_down(at, stop);
      if (!has_room(at, mlid)) {
        step.resize(met);
        return step;
      }
      step.push_back(at);
    }
  }
  return step;
}

/// As walk(), a path for each neighbour of `start` on that side; one where two would meet, or where
/// switches without room cut more off.
std::vector<std::vector<std::uint32_t>> LabelPaths::walk_by_neighbours(
    std::uint32_t start, const std::vector<std::uint32_t>& stops, Lid mlid) const {
  if (stops.empty()) return {};
  const bool up = stops.front() > start;
  std::vector<std::uint32_t> firsts;  // nearest label first
  for (const Neighbour& n : graph_->around(path_[start])) {
    if ((label_[n.to] > start) == up && label_[n.to] != start && has_room(label_[n.to], mlid))
      firsts.push_back(label_[n.to]);
  }
  std::ranges::sort(firsts);
  if (!up) std::ranges::reverse(firsts);
  std::vector<std::vector<std::uint32_t>> of(firsts.size());  // stops, by neighbour
  bool whole = !firsts.empty();
  for (const std::uint32_t stop : stops) {
    std::size_t best = firsts.size();
    std::size_t least = 0;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (up ? firsts[i] > stop : firsts[i] < stop) continue;
      const std::vector<std::uint32_t> way = walk(firsts[i], {stop}, mlid);
      if (firsts[i] != stop && (way.empty() || way.back() != stop)) continue;
      if (best == firsts.size() || way.size() < least) {
        best = i;
        least = way.size();
      }
    }
    whole = whole && best < firsts.size();
    if (whole) of[best].push_back(stop);
  }
  std::vector<std::vector<std::uint32_t>> paths;
  std::vector<std::uint32_t> met;
  for (std::size_t i = 0; whole && i < firsts.size(); ++i) {
    if (of[i].empty()) continue;
    std::vector<std::uint32_t> path = walk(firsts[i], of[i], mlid);
    path.insert(path.begin(), firsts[i]);
    whole = path.back() == of[i].back();
    met.insert(met.end(), path.begin(), path.end());
    paths.push_back(std::move(path));
  }
  std::ranges::sort(met);
  if (whole && std::ranges::adjacent_find(met) == met.end()) return paths;
  return {walk(start, stops, mlid)};
}

/// Groups take turns on parallel links, those that are Active where any is.
PortIdx LabelPaths::port_between(std::uint32_t from, std::uint32_t to, Lid mlid) const {
  const SwitchIdx sw = path_[from];
  std::vector<PortIdx> all;
  for (const PortNum port : graph_->ports(graph_->first(sw) + *graph_->find(sw, path_[to])))
    all.push_back(fabric_->port_of(fabric_->switch_node[sw], port));
  std::vector<PortIdx> active;
  std::ranges::copy_if(all, std::back_inserter(active), [&](PortIdx port) {
    return is_link_active(*fabric_, port);
  });
  const std::vector<PortIdx>& ports = active.empty() ? all : active;
  return ports[mlid.value() % ports.size()];
}

const Tree& LabelPaths::update(Lid mlid, const std::vector<TreeMember>& members) {
  Tree& tree = trees_[mlid];
  tree = {};
  std::vector<std::uint32_t> stops;
  std::vector<std::uint32_t> senders;  // who does not receive
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(*fabric_, member.port);
    if (entry == kNone<PortIdx>) continue;
    const std::uint32_t label = label_[fabric_->switch_at(entry)];
    if (!has_room(label, mlid)) continue;
    stops.push_back(label);
    if (!member.receives) senders.push_back(label);
  }
  std::ranges::sort(stops);
  const auto again = std::ranges::unique(stops);
  stops.erase(again.begin(), again.end());
  std::vector<std::uint32_t> met;
  if (!stops.empty()) {
    const std::uint32_t start = senders.size() == 1 ? senders.front() : stops[stops.size() / 2];
    const auto at = std::ranges::lower_bound(stops, start);
    const std::vector<std::uint32_t> below(std::make_reverse_iterator(at), stops.rend());
    const std::vector<std::uint32_t> above(std::ranges::upper_bound(stops, start), stops.end());
    met.push_back(start);
    if (shape_ == TreeShape::MultiPath && senders.size() == 1 &&
        find_only_sender(members) != kNone<PortIdx>) {
      tree.branches.push_back({path_[start], kNone<PortIdx>});
      for (const std::vector<std::uint32_t>* side : {&below, &above}) {
        for (const auto& path : walk_by_neighbours(start, *side, mlid)) {
          std::uint32_t before = start;
          for (const std::uint32_t label : path) {
            tree.branches.push_back({path_[label], port_between(label, before, mlid)});
            before = label;
          }
          met.insert(met.end(), path.begin(), path.end());
        }
      }
      std::ranges::sort(met);
    } else {
      const std::vector<std::uint32_t> down = walk(start, below, mlid);
      met.insert(met.begin(), down.rbegin(), down.rend());
      const std::vector<std::uint32_t> up = walk(start, above, mlid);
      met.insert(met.end(), up.begin(), up.end());
      for (std::size_t i = 0; i < met.size(); ++i) {
        tree.branches.push_back(
            {path_[met[i]], i == 0 ? kNone<PortIdx> : port_between(met[i], met[i - 1], mlid)});
      }
    }
  }
  std::ranges::sort(tree.branches, {}, &Branch::sw);
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(*fabric_, member.port);
    if (entry == kNone<PortIdx> ||
        !std::ranges::binary_search(met, label_[fabric_->switch_at(entry)]))
      tree.stranded.push_back(member.port);
  }
  std::ranges::sort(tree.stranded);
  return tree;
}

}  // namespace smd
