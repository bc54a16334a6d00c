#include "smd/fabric/delta.h"

#include <algorithm>

namespace smd {
namespace {

/// Every node and port has the same number in both, without a look at one. False says nothing.
bool are_numbered_alike(const Fabric& a, const Fabric& b) {
  return a.node_guid.shares(b.node_guid) && a.first_port.shares(b.first_port);
}

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
  for (const NodeIdx node : of.node_guid.indices()) {
    const Guid guid = of.node_guid[node];
    const auto twin = other.find_node(guid);
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
  for (const Guid guid : of.node_guid) {
    if (!other.find_node(guid)) missing.push_back(guid);
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
  for (const NodeIdx node : now.switch_node) {
    const auto old = before.find_node(now.node_guid[node]);
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

}  // namespace smd
