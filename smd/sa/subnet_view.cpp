#include "smd/sa/subnet_view.h"

#include <algorithm>
#include <utility>

namespace smd::sa {
SubnetView::SubnetView(ViewParts parts, const SubnetView* before)
    : parts_(std::move(parts)),
      index_(before != nullptr && has_index_of(*before)
                 ? before->index_
                 : std::make_shared<const Index>(make_index())) {}

bool SubnetView::has_index_of(const SubnetView& before) const {
  const auto& now = parts_.aliases;
  const auto& then = before.parts_.aliases;
  return fabric().port_guid.shares(before.fabric().port_guid) &&
         lids().base == before.lids().base &&
         (now == then || (now != nullptr && then != nullptr && *now == *then));
}

SubnetView::Index SubnetView::make_index() const {
  Index index;
  for (const PortIdx port : lids().base.indices()) {
    if (lids().base[port] != kUnassignedLid) index.end_ports.push_back(port);
  }
  index.by_guid.reserve(index.end_ports.size());
  for (const PortIdx port : index.end_ports) index.by_guid.emplace(fabric().port_guid[port], port);
  if (!parts_.aliases) return index;
  for (const auto& [guid, further] : *parts_.aliases) {
    const auto port = index.by_guid.find(guid);
    if (port == index.by_guid.end()) continue;
    const PortIdx owner = port->second;
    for (const Guid alias : further) {
      if (alias != Guid{}) index.by_guid.emplace(alias, owner);
    }
  }
  return index;
}

PortIdx SubnetView::find_port(Guid port_guid) const {
  const auto found = index_->by_guid.find(port_guid);
  return found == index_->by_guid.end() ? kNone<PortIdx> : found->second;
}

Guid SubnetView::guid_of(PortIdx port, std::size_t index) const {
  const Guid own = fabric().port_guid[port];
  if (index == 0) return own;
  if (!parts_.aliases) return {};
  const auto found = parts_.aliases->find(own);
  return found == parts_.aliases->end() || index >= found->second.size() ? Guid{}
                                                                         : found->second[index];
}

PortIdx SubnetView::end_of(PortIdx port) const {
  const NodeIdx node = fabric().node_of[port];
  return fabric().is_switch(node) ? fabric().port_of(node, PortNum{0}) : port;
}

bool SubnetView::share_partition(PortIdx a, PortIdx b) const {
  return partitions() == nullptr || smd::share_partition(partitions()->map, end_of(a), end_of(b));
}

std::uint8_t SubnetView::sl_to(Lid lid, std::uint8_t asked) const {
  return find_path_sl(fabric(), routing().path_sls, fabric().sm_port, lid).value_or(asked);
}

const KeyTable* SubnetView::own_keys() const {
  const PortIdx own = fabric().sm_port;
  return parts_.keys.find_part(
      {fabric().node_guid[fabric().node_of[own]], fabric().number_of(own)});
}

Lid SubnetView::lid_of(PortIdx port) const { return lids().base[end_of(port)]; }

const std::vector<PKey>& keys_of(const SubnetView& view, PortIdx port) {
  static const std::vector<PKey> everybody{kDefaultPKey};
  static const std::vector<PKey> nobody;
  if (port == kNone<PortIdx>) return nobody;
  return view.partitions() != nullptr ? view.partitions()->map[port].keys : everybody;
}

bool shares_partition(const SubnetView& view, PortIdx port, const std::vector<PKey>& keys) {
  return std::ranges::any_of(keys_of(view, port), [&](PKey own) {
    return std::ranges::any_of(keys, [own](PKey other) { return keys_match(own, other); });
  });
}

bool is_member(const SubnetView& view, PortIdx port, PKey key) {
  return std::ranges::any_of(keys_of(view, port), [key](PKey own) {
    return partition_of(key) != 0 && same_partition(own, key);
  });
}

}  // namespace smd::sa
