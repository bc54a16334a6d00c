#include "smd/sa/subnet_view.h"

#include <utility>

namespace smd::sa {

SubnetView::SubnetView(ViewParts parts) : parts_(std::move(parts)) {
  for (const PortIdx port : lids().base.indices()) {
    if (lids().base[port] == kUnassignedLid) continue;
    end_ports_.push_back(port);
  }
  by_guid_.reserve(end_ports_.size());
  for (const PortIdx port : end_ports_) by_guid_.emplace(fabric().port_guid[port], port);
}

PortIdx SubnetView::find_port(Guid port_guid) const {
  const auto found = by_guid_.find(port_guid);
  return found == by_guid_.end() ? kNone<PortIdx> : found->second;
}

Lid SubnetView::lid_of(PortIdx port) const {
  const NodeIdx node = fabric().node_of[port];
  return lids().base[fabric().is_switch(node) ? fabric().port_of(node, PortNum{0}) : port];
}

}  // namespace smd::sa
