#include "smd/multicast/label_paths.h"

#include <algorithm>
#include <iterator>

#include "smd/multicast/subnet_limits.h"
#include "smd/routing/engine.h"
#include "smd/routing/topology/hamiltonian_path.h"

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

/// Groups take turns on parallel links.
PortIdx LabelPaths::port_down(std::uint32_t from, std::uint32_t to, Lid mlid) const {
  const SwitchIdx sw = path_[from];
  const auto ports = graph_->ports(graph_->first(sw) + *graph_->find(sw, path_[to]));
  return fabric_->port_of(fabric_->switch_node[sw], ports[mlid.value() % ports.size()]);
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
  std::vector<std::uint32_t> step;
  if (!stops.empty()) {
    const std::uint32_t start = senders.size() == 1 ? senders.front() : stops[stops.size() / 2];
    const auto at = std::ranges::lower_bound(stops, start);
    step = walk(start, {std::make_reverse_iterator(at), stops.rend()}, mlid);
    std::ranges::reverse(step);
    step.push_back(start);
    const std::vector<std::uint32_t> above = walk(start, {at, stops.end()}, mlid);
    step.insert(step.end(), above.begin(), above.end());
  }
  for (std::size_t i = 0; i < step.size(); ++i) {
    tree.branches.push_back(
        {path_[step[i]], i == 0 ? kNone<PortIdx> : port_down(step[i], step[i - 1], mlid)});
  }
  std::ranges::sort(tree.branches, {}, &Branch::sw);
  for (const TreeMember& member : members) {
    const PortIdx entry = entry_of(*fabric_, member.port);
    if (entry == kNone<PortIdx> ||
        !std::ranges::binary_search(step, label_[fabric_->switch_at(entry)]))
      tree.stranded.push_back(member.port);
  }
  std::ranges::sort(tree.stranded);
  return tree;
}

}  // namespace smd
