#include "smd/multicast/subnet_limits.h"

#include <algorithm>
#include <utility>

#include "smd/ib/rates.h"

namespace smd {
namespace {

constexpr std::uint8_t kSlowest = 3;  // 10 Gb/s: 4x SDR

std::uint8_t smallest_mtu(const Fabric& fabric) {
  auto smallest = static_cast<std::uint8_t>(Mtu::B4096);
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx port : fabric.external_ports(node)) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || !fabric.is_switch(fabric.node_of[peer])) continue;
      const std::uint8_t mtu = fabric.port_info[port].mtu_cap;
      if (mtu != 0) smallest = std::min(smallest, mtu);
    }
  }
  return smallest;
}

/// Switches without a multicast table are none that a tree could use.
std::uint32_t count_mlids(const Fabric& fabric) {
  std::uint32_t least = kMostMlids;
  bool any = fabric.switch_count() == 0;
  for (const SwitchInfo& info : fabric.switch_info) {
    if (info.multicast_fdb_cap == 0) continue;
    least = std::min<std::uint32_t>(least, info.multicast_fdb_cap);
    any = true;
  }
  return any ? least : 0;
}

}  // namespace

PartitionFacts PartitionFacts::only_default() {
  return {.in_partition = [](Guid, PKey p_key) { return same_partition(p_key, kDefaultPKey); },
          .share_partition = [](Guid, Guid) { return true; }};
}

SnapshotLimits::SnapshotLimits(Parts parts, const SnapshotLimits* before)
    : parts_(std::move(parts)),
      mtu_(smallest_mtu(*parts_.fabric)),
      mlids_(count_mlids(*parts_.fabric)) {
  const Fabric& fabric = *parts_.fabric;
  if (before != nullptr && fabric.port_guid.shares(before->fabric().port_guid) &&
      parts_.lids->base == before->parts_.lids->base) {
    by_guid_ = before->by_guid_;
    return;
  }
  std::unordered_map<Guid, PortIdx> by_guid;
  by_guid.reserve(parts_.lids->owner.size());
  for (const PortIdx port : parts_.lids->base.indices()) {
    if (parts_.lids->base[port] != kUnassignedLid) by_guid.emplace(fabric.port_guid[port], port);
  }
  by_guid_ = std::make_shared<const std::unordered_map<Guid, PortIdx>>(std::move(by_guid));
}

PortIdx SnapshotLimits::port_of(Guid guid) const {
  const auto found = by_guid_->find(guid);
  return found == by_guid_->end() ? kNone<PortIdx> : found->second;
}

std::optional<SubnetLimits::Ability> SnapshotLimits::find_port(Guid port) const {
  const PortIdx at = port_of(port);
  if (at == kNone<PortIdx>) return std::nullopt;
  const PortInfo& info = parts_.fabric->port_info[at];
  // Port 0 of a switch has no link of its own, and need not say that it is fast.
  const std::uint8_t rate = rate_code(active_width(info), link_speed(*parts_.fabric, at));
  const std::uint8_t mtu = std::min(info.mtu_cap, parts_.mtu_max);
  return Ability{.mtu = mtu, .rate = rate != 0 ? rate : kSlowest, .mtu_all = std::min(mtu, mtu_)};
}

bool SnapshotLimits::in_partition(Guid port, PKey p_key) const {
  return parts_.partitions.in_partition(port, p_key);
}

bool SnapshotLimits::share_partition(Guid a, Guid b) const {
  return parts_.partitions.share_partition(a, b);
}

}  // namespace smd
