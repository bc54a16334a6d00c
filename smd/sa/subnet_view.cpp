#include "smd/sa/subnet_view.h"

#include <algorithm>
#include <utility>

namespace smd::sa {
namespace {

constexpr std::uint16_t kPartition = 0x7fff;

bool same_partition(PKey a, PKey b) {
  return (a.value() & kPartition) == (b.value() & kPartition) && (a.value() & kPartition) != 0;
}

}  // namespace

SubnetView::SubnetView(ViewParts parts) : parts_(std::move(parts)) {
  for (const PortIdx port : lids().base.indices()) {
    if (lids().base[port] == kUnassignedLid) continue;
    end_ports_.push_back(port);
  }
  by_guid_.reserve(end_ports_.size());
  for (const PortIdx port : end_ports_) by_guid_.emplace(fabric().port_guid[port], port);
  if (!parts_.aliases) return;
  for (const auto& [guid, further] : *parts_.aliases) {
    const auto port = by_guid_.find(guid);
    if (port == by_guid_.end()) continue;
    const PortIdx owner = port->second;
    for (const Guid alias : further) {
      if (alias != Guid{}) by_guid_.emplace(alias, owner);
    }
  }
}

PortIdx SubnetView::find_port(Guid port_guid) const {
  const auto found = by_guid_.find(port_guid);
  return found == by_guid_.end() ? kNone<PortIdx> : found->second;
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
  return std::ranges::any_of(keys_of(view, port),
                             [key](PKey own) { return same_partition(own, key); });
}

}  // namespace smd::sa
