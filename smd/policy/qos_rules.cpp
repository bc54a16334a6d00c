#include "smd/policy/qos_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "smd/base/fault_list.h"

namespace smd {
namespace {

bool is_of_type(const Fabric& fabric, PortIdx port, const QosPortGroup& group) {
  if (group.all || (group.self && port == fabric.sm_port)) return true;
  switch (static_cast<NodeType>(fabric.node_info[fabric.node_of[port]].node_type)) {
    case NodeType::Ca:
      return group.adapters;
    case NodeType::Switch:
      return group.switches;
    case NodeType::Router:
      return group.routers;
  }
  return false;
}

bool has_name(const Fabric& fabric, PortIdx port, const QosPortGroup& group) {
  const std::string& node = fabric.description[fabric.node_of[port]];
  return std::ranges::any_of(group.ports, [&](const QosPortGroup::PortName& each) {
    return each.port == fabric.number_of(port).value() && each.node == node;
  });
}

bool has_key(const PartitionMap* map, PortIdx port, const std::vector<NumberRange>& keys) {
  if (keys.empty()) return false;
  if (map == nullptr) return is_in(keys, kDefaultPartition);
  return std::ranges::any_of((*map)[port].keys,
                             [&](PKey key) { return is_in(keys, partition_of(key)); });
}

bool names(const std::vector<NumberRange>& ranges, std::optional<std::uint64_t> number) {
  return ranges.empty() || (number && is_in(ranges, *number));
}

}  // namespace

QosRules::QosRules(const Fabric& fabric,
                   const QosFile& file,
                   const PartitionMap* map,
                   const PartitionFile& partitions)
    : file_(file) {
  for (const QosPortGroup& group : file_.groups) {
    std::vector<NumberRange> keys = group.p_keys;
    for (const Partition& each : partitions.partitions) {
      if (std::ranges::find(group.partitions, each.name) != group.partitions.end())
        keys.push_back({each.key, each.key});
    }
    IndexVector<PortIdx, bool>& members = members_.emplace_back(fabric.port_count(), false);
    for (const PortIdx port : fabric.peer.indices()) {
      if (!fabric.is_end_port(port)) continue;
      members[port] = is_in(group.guids, fabric.port_guid[port].value()) ||
                      is_of_type(fabric, port, group) || has_name(fabric, port, group) ||
                      has_key(map, port, keys);
    }
  }
}

bool QosRules::is_member(const std::vector<std::size_t>& groups, PortIdx port) const {
  return groups.empty() ||
         std::ranges::any_of(groups, [&](std::size_t group) { return members_[group][port]; });
}

const QosLevel& QosRules::find_level(const QosRequest& request) const {
  std::optional<std::uint64_t> key;
  if (request.p_key) key = partition_of(*request.p_key);
  for (const QosMatch& each : file_.matches) {
    if (names(each.services, request.service) && names(each.classes, request.qos_class) &&
        names(each.p_keys, key) && is_member(each.sources, request.source) &&
        is_member(each.targets, request.target))
      return file_.levels[each.level];
  }
  return file_.levels[file_.default_level];
}

std::vector<std::string> find_qos_conflicts(const QosFile& file,
                                            const std::vector<std::uint8_t>& discarded,
                                            bool routes_choose) {
  std::vector<std::string> lines;
  for (const QosLevel& level : file.levels) {
    if (routes_choose) {
      if (level.sl != 0)
        lines.push_back(
            fmt::format("level '{}': SL {} is not given out; the routes need SLs of their own",
                        level.name,
                        level.sl));
    } else if (std::ranges::find(discarded, level.sl) != discarded.end()) {
      lines.push_back(
          fmt::format("level '{}': SL {} is discarded by qos.sl2vl", level.name, level.sl));
    }
  }
  return lines;
}

std::vector<std::string> find_discarded_sls(const PartitionFile& partitions,
                                            const std::vector<std::uint8_t>& discarded) {
  const auto is_discarded = [&discarded](std::uint8_t sl) {
    return std::ranges::find(discarded, sl) != discarded.end();
  };
  std::vector<std::string> lines;
  if (is_discarded(0)) lines.emplace_back(kSl0Discarded);
  for (const Partition& each : partitions.partitions) {
    if (each.sl.value_or(0) != 0 && is_discarded(*each.sl))
      lines.push_back(
          fmt::format("partition '{}': SL {} is discarded by qos.sl2vl", each.name, *each.sl));
  }
  return lines;
}

std::vector<std::string> find_unknown_partitions(const QosFile& file,
                                                 const PartitionFile& partitions) {
  std::vector<std::string_view> known;
  for (const Partition& each : partitions.partitions) known.push_back(each.name);
  std::vector<std::string> lines;
  for (const QosPortGroup& group : file.groups) {
    for (const std::string& name : group.partitions) {
      if (std::ranges::find(known, name) == known.end())
        lines.push_back(
            fmt::format("port group '{}': no partition '{}'; {}none of its ports are in the group",
                        group.name,
                        name,
                        name_nearest(name, known)));
    }
  }
  return lines;
}

}  // namespace smd
