#include "smd/fabric/delta.h"

#include <algorithm>

namespace smd {
namespace {

/// Every node and port has the same number in both, without a look at one. False says nothing.
bool are_numbered_alike(const Fabric& a, const Fabric& b) {
  return a.node_guid.shares(b.node_guid) && a.first_port.shares(b.first_port);
}

/// Where the nodes of one snapshot are in another, asked one after the other: who stands beside
/// another mostly does so in both.
class NodeSearch {
 public:
  NodeSearch(const Fabric& of, const Fabric& other) : of_(of), other_(other) {}

  std::optional<NodeIdx> find(NodeIdx node) {
    const Guid guid = of_.node_guid[node];
    if (guess_.value() < other_.node_count() && other_.node_guid[guess_] == guid) {
      const NodeIdx twin = guess_;
      guess_ = next(guess_);
      return twin;
    }
    const auto twin = other_.find_node(guid);
    if (twin) guess_ = next(*twin);
    return twin;
  }

 private:
  const Fabric& of_;
  const Fabric& other_;
  NodeIdx guess_{0};
};

/// Links of `of` that `other` does not have, as their ports in `of`.
std::vector<PortRef> find_missing_links(const Fabric& of, const Fabric& other) {
  std::vector<PortRef> missing;
  if (are_numbered_alike(of, other)) {
    for (const PortIdx port : of.peer.indices()) {
      if (of.peer[port] == other.peer[port] || of.peer[port] == kNone<PortIdx>) continue;
      missing.push_back({of.node_guid[of.node_of[port]], of.number_of(port)});
    }
    std::ranges::sort(missing);
    return missing;
  }
  NodeSearch search(of, other);
  for (const NodeIdx node : of.node_guid.indices()) {
    const Guid guid = of.node_guid[node];
    const auto twin = search.find(node);
    for (const PortIdx port : of.external_ports(node)) {
      const PortIdx peer = of.peer[port];
      if (peer == kNone<PortIdx>) continue;
      const PortNum number = of.number_of(port);
      const PortIdx other_peer = twin && number.value() <= other.num_ports(*twin)
                                     ? other.peer[other.port_of(*twin, number)]
                                     : kNone<PortIdx>;
      const bool same =
          other_peer != kNone<PortIdx> &&
          other.node_guid[other.node_of[other_peer]] == of.node_guid[of.node_of[peer]] &&
          other.number_of(other_peer) == of.number_of(peer);
      if (!same) missing.push_back({guid, number});
    }
  }
  std::ranges::sort(missing);
  return missing;
}

std::vector<Guid> find_missing_nodes(const Fabric& of, const Fabric& other) {
  std::vector<Guid> missing;
  if (are_numbered_alike(of, other)) return missing;
  NodeSearch search(of, other);
  for (const NodeIdx node : of.node_guid.indices()) {
    if (!search.find(node)) missing.push_back(of.node_guid[node]);
  }
  std::ranges::sort(missing);
  return missing;
}

}  // namespace

Delta diff_fabrics(const Fabric& before, const Fabric& now) {
  Delta delta{.ports_down = find_missing_links(before, now),
              .ports_up = find_missing_links(now, before),
              .nodes_gone = find_missing_nodes(before, now),
              .nodes_new = find_missing_nodes(now, before)};
  NodeSearch search(now, before);
  for (const NodeIdx node : now.switch_node) {
    const auto old = search.find(node);
    if (!old || !before.is_switch(*old)) continue;
    const SwitchInfo& was = before.switch_info[before.switch_of[*old]];
    const SwitchInfo& is = now.switch_info[now.switch_of[node]];
    const bool emptied = was.linear_fdb_top != 0 && is.linear_fdb_top == 0;
    const bool resized = was.linear_fdb_cap != is.linear_fdb_cap ||
                         was.random_fdb_cap != is.random_fdb_cap ||
                         before.num_ports(*old) != now.num_ports(node);
    if (emptied || resized) delta.restarted.push_back(now.node_guid[node]);
  }
  std::ranges::sort(delta.restarted);
  return delta;
}

namespace {

class UnresponsiveParts {
 public:
  UnresponsiveParts(const Fabric& now, const Fabric& before)
      : now_(now), before_(before), lost_(before.node_count(), 0) {}

  std::optional<Fabric> find(bool only_joined) {
    for (const NodeIdx node : before_.switch_node)
      lost_[node] = !now_.find_node(before_.node_guid[node]);
    only_joined ? keep_joined() : keep_linked();
    keep_links();
    if (kept_.empty() && links_.empty()) return std::nullopt;
    out_ = now_;
    NodeByGuid by_guid = *now_.node_by_guid;
    for (const NodeIdx node : kept_) append(node, by_guid);
    out_.node_by_guid = std::move(by_guid);
    if (out_.site_nodes) out_.demand = list_demand(out_);  // else switches count as all do
    for (const PortIdx port : links_) join(port);
    return std::move(out_);
  }

 private:
  /// The port of a living switch that a link of `before` ended in and that nothing was found at,
  /// though it may carry data (an Armed port does with the first packet); kNone: none.
  PortIdx open_end(PortIdx port) const {
    const NodeIdx node = before_.node_of[port];
    const std::optional<NodeIdx> here = now_.find_node(before_.node_guid[node]);
    if (!here || !now_.is_switch(*here)) return kNone<PortIdx>;
    const PortNum number = before_.number_of(port);
    if (number.value() > now_.num_ports(*here)) return kNone<PortIdx>;
    const PortIdx end = now_.port_of(*here, number);
    const bool open =
        now_.peer[end] == kNone<PortIdx> && now_.port_info[end].state() >= PortState::Armed;
    return open ? end : kNone<PortIdx>;
  }

  bool is_between_switches(PortIdx port) const {
    const PortIdx peer = before_.peer[port];
    return peer != kNone<PortIdx> && peer != port && before_.is_switch(before_.node_of[peer]) &&
           before_.node_of[peer] != before_.node_of[port];
  }

  // Of the lost ones those that a chain of links joins to a living switch, in node order.
  void keep_joined() {
    for (const NodeIdx node : before_.switch_node) {
      if (lost_[node] && (now_.switch_count() == 0 || reaches_the_living(node)))
        kept_.push_back(node);
    }
    for (const NodeIdx node : kept_) lost_[node] = kKept;
    for (std::size_t at = 0; at < kept_.size(); ++at) {
      for (const PortIdx port : before_.external_ports(kept_[at])) {
        if (!is_between_switches(port)) continue;
        const NodeIdx peer = before_.node_of[before_.peer[port]];
        if (lost_[peer] != 1) continue;
        lost_[peer] = kKept;
        kept_.push_back(peer);
      }
    }
    std::ranges::sort(kept_);
  }

  void keep_linked() {
    for (const NodeIdx node : before_.switch_node) {
      if (lost_[node] && (now_.switch_count() == 0 || has_link(node))) kept_.push_back(node);
    }
    for (const NodeIdx node : kept_) lost_[node] = kKept;
  }

  bool has_link(NodeIdx node) const {
    for (const PortIdx port : before_.external_ports(node)) {
      if (!is_between_switches(port)) continue;
      const PortIdx peer = before_.peer[port];
      if (lost_[before_.node_of[peer]] || open_end(peer) != kNone<PortIdx>) return true;
    }
    return false;
  }

  bool reaches_the_living(NodeIdx node) const {
    for (const PortIdx port : before_.external_ports(node)) {
      if (is_between_switches(port) && open_end(before_.peer[port]) != kNone<PortIdx>) return true;
    }
    return false;
  }

  void keep_links() {
    for (const NodeIdx node : before_.switch_node) {
      for (const PortIdx port : before_.external_ports(node)) {
        if (is_between_switches(port) && port < before_.peer[port] && is_open(port) &&
            is_open(before_.peer[port]))
          links_.push_back(port);
      }
    }
  }

  bool is_open(PortIdx port) const {
    return lost_[before_.node_of[port]] == kKept || open_end(port) != kNone<PortIdx>;
  }

  void append(NodeIdx node, NodeByGuid& by_guid) {
    const NodeIdx here = out_.node_guid.push_back(before_.node_guid[node]);
    const SwitchIdx sw = out_.switch_node.push_back(here);
    out_.switch_info.push_back(before_.switch_info[before_.switch_of[node]]);
    out_.switch_of.push_back(sw);
    out_.node_info.push_back(before_.node_info[node]);
    out_.description.push_back(before_.description[node]);
    by_guid.emplace(before_.node_guid[node], here);
    for (const PortIdx port : before_.ports_of(node)) {
      out_.peer.push_back(kNone<PortIdx>);
      out_.node_of.push_back(here);
      out_.port_guid.push_back(before_.port_guid[port]);
      out_.port_info.push_back(before_.port_info[port]);
    }
    out_.first_port.push_back(static_cast<std::uint32_t>(out_.port_count()));
  }

  PortIdx in_out(PortIdx port) const {
    return out_.port_of(*out_.find_node(before_.node_guid[before_.node_of[port]]),
                        before_.number_of(port));
  }

  void join(PortIdx port) {
    const PortIdx one = in_out(port);
    const PortIdx other = in_out(before_.peer[port]);
    out_.peer[one] = other;
    out_.peer[other] = one;
    for (const PortIdx end : {one, other})
      out_.port_info[end].port_state = static_cast<std::uint8_t>(PortState::Active);
  }

  static constexpr char kKept = 2;

  const Fabric& now_;
  const Fabric& before_;
  IndexVector<NodeIdx, char> lost_;  // 1: not in `now_`; kKept: of these, to be appended
  std::vector<NodeIdx> kept_;
  std::vector<PortIdx> links_;  // by one end, in `before_`
  Fabric out_;
};

}  // namespace

std::optional<Fabric> with_unresponsive(const Fabric& now, const Fabric& before) {
  return UnresponsiveParts{now, before}.find(true);
}

std::optional<Fabric> with_lost(const Fabric& now, const Fabric& before) {
  return UnresponsiveParts{now, before}.find(false);
}

}  // namespace smd
