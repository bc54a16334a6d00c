#include "smd/policy/partition_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace smd {
namespace {

/// What the rules of one partition come to at each port.
struct Standing {
  std::optional<Membership> membership;
  bool first = false;
};

bool is_meant(const Fabric& fabric, PortIdx port, MemberKind kind) {
  const auto type = static_cast<NodeType>(fabric.node_info[fabric.node_of[port]].node_type);
  switch (kind) {
    case MemberKind::All:
      return true;
    case MemberKind::AllCas:
      return type == NodeType::Ca;
    case MemberKind::AllSwitches:
      return type == NodeType::Switch;
    case MemberKind::AllRouters:
      return type == NodeType::Router;
    case MemberKind::Self:
    case MemberKind::Port:
      break;
  }
  return false;
}

void add_keys(const Standing& standing, std::uint16_t key, bool allow_both, PortKeys& out) {
  if (!standing.membership) return;
  const PKey full = full_member_of(key);
  const PKey limited{key};
  const bool both = *standing.membership == Membership::Both;
  const bool as_full = *standing.membership != Membership::Limited;
  if (both && allow_both) out.keys.push_back(limited);
  out.keys.push_back(as_full ? full : limited);
  if (standing.first) out.first = out.keys.back();
}

}  // namespace

PartitionMap build_partition_map(const Fabric& fabric, const PartitionPolicy& policy) {
  PartitionMap map(fabric.port_count());
  std::vector<PortIdx> ends;
  std::unordered_map<Guid, PortIdx> by_guid;  // look-ups only
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port)) continue;
    ends.push_back(port);
    by_guid.emplace(fabric.port_guid[port], port);
  }
  for (const Partition& partition : policy.rules.partitions) {
    IndexVector<PortIdx, Standing> standing(fabric.port_count());
    const auto let_in = [&](PortIdx port, const PartitionMember& member) {
      standing[port] = {member.membership, member.first};
    };
    for (const PartitionMember& member : partition.members) {
      if (member.kind == MemberKind::Port) {
        if (const auto at = by_guid.find(member.guid); at != by_guid.end())
          let_in(at->second, member);
      } else if (member.kind == MemberKind::Self) {
        if (fabric.sm_port != kNone<PortIdx>) let_in(fabric.sm_port, member);
      } else {
        for (const PortIdx port : ends) {
          if (is_meant(fabric, port, member.kind)) let_in(port, member);
        }
      }
    }
    if (partition.key == kDefaultPartition && fabric.sm_port != kNone<PortIdx>) {
      Standing& own = standing[fabric.sm_port];
      if (own.membership.value_or(Membership::Limited) == Membership::Limited)
        own.membership = Membership::Full;
    }
    for (const PortIdx port : ends) {
      add_keys(standing[port], partition.key, policy.allow_both, map[port]);
    }
  }
  return map;
}

bool keys_match(PKey a, PKey b) {
  return same_partition(a, b) && partition_of(a) != 0 && (is_full_member(a) || is_full_member(b));
}

bool share_partition(const PartitionMap& map, PortIdx a, PortIdx b) {
  if (a == b) return true;
  return std::ranges::any_of(map[a].keys, [&](PKey mine) {
    return std::ranges::any_of(map[b].keys, [&](PKey theirs) { return keys_match(mine, theirs); });
  });
}

PortIdx find_enforcer(const Fabric& fabric, PortIdx end_port) {
  if (fabric.is_switch(fabric.node_of[end_port])) return kNone<PortIdx>;
  const PortIdx peer = fabric.peer[end_port];
  if (peer == kNone<PortIdx>) return peer;
  const SwitchIdx sw = fabric.switch_at(peer);
  const bool able = sw != kNone<SwitchIdx> && fabric.number_of(peer) != PortNum{0} &&
                    fabric.switch_info[sw].partition_enforcement_cap > 0;
  return able ? peer : kNone<PortIdx>;
}

std::vector<PKey> enforced_keys(const PortKeys& keys) {
  std::vector<PKey> out;
  for (const PKey key : keys.keys) {
    const PKey full = full_member_of(partition_of(key));
    if (is_full_member(key) || std::ranges::find(keys.keys, full) == keys.keys.end())
      out.push_back(key);
  }
  return out;
}

std::size_t key_capacity(const Fabric& fabric, PortIdx port) {
  const NodeIdx node = fabric.node_of[port];
  const SwitchIdx sw = fabric.switch_of[node];
  if (sw != kNone<SwitchIdx> && fabric.number_of(port) != PortNum{0})
    return fabric.switch_info[sw].partition_enforcement_cap;
  return std::max<std::size_t>(1, fabric.node_info[node].partition_cap);
}

namespace {

std::vector<PKey> by_precedence(const PortKeys& port) {
  std::vector<PKey> keys = port.keys;
  std::ranges::stable_sort(keys, {}, [&](PKey key) {
    if (!same_partition(key, kDefaultPKey)) return key == port.first ? 2 : 3;
    return is_full_member(key) ? 0 : 1;
  });
  return keys;
}

}  // namespace

std::vector<KeyOverflow> fit_keys(const Fabric& fabric,
                                  PartitionMap& map,
                                  const PartitionPolicy& policy) {
  std::vector<KeyOverflow> out = find_overflows(fabric, map, policy);
  std::erase_if(out, [](const KeyOverflow& each) { return each.enforcement; });
  for (const KeyOverflow& each : out) {
    PortKeys& port = map[each.port];
    const auto is_out = [&](PKey key) { return std::ranges::count(each.left_over, key) != 0; };
    std::erase_if(port.keys, is_out);
    if (is_out(port.first)) port.first = PKey{0};
  }
  for (KeyOverflow& each : find_overflows(fabric, map, policy)) out.push_back(std::move(each));
  std::ranges::sort(out, {}, &KeyOverflow::port);
  return out;
}

std::vector<KeyOverflow> find_overflows(const Fabric& fabric,
                                        const PartitionMap& map,
                                        const PartitionPolicy& policy) {
  std::vector<KeyOverflow> out;
  const auto look = [&](PortIdx port, bool enforcement, const std::vector<PKey>& keys) {
    const std::size_t room = key_capacity(fabric, port);
    if (keys.size() <= room) return;
    out.push_back({.port = port,
                   .enforcement = enforcement,
                   .wanted = keys.size(),
                   .capacity = room,
                   .left_over = {keys.begin() + static_cast<std::ptrdiff_t>(room), keys.end()}});
  };
  for (const PortIdx port : map.indices()) {
    if (map[port].keys.empty()) continue;
    look(port, false, by_precedence(map[port]));
    if (policy.enforcement == PartitionEnforcement::Off) continue;
    const PortIdx enforcer = find_enforcer(fabric, port);
    if (enforcer != kNone<PortIdx>) look(enforcer, true, enforced_keys(map[port]));
  }
  std::ranges::sort(out, {}, &KeyOverflow::port);
  return out;
}

std::string print_overflow(const Fabric& fabric, const KeyOverflow& overflow) {
  constexpr std::size_t kMostNamed = 8;
  std::string keys;
  for (std::size_t i = 0; i < std::min(kMostNamed, overflow.left_over.size()); ++i) {
    keys += fmt::format("{}0x{:04x}", i == 0 ? "" : ", ", overflow.left_over[i].value());
  }
  if (overflow.left_over.size() > kMostNamed)
    keys += fmt::format(" and {} more", overflow.left_over.size() - kMostNamed);
  return fmt::format("{}: room for {} {}P_Keys, {} wanted; {} would not fit",
                     print_port(fabric, overflow.port),
                     overflow.capacity,
                     overflow.enforcement ? "enforced " : "",
                     overflow.wanted,
                     keys);
}

}  // namespace smd
