#include "sim-backend/scenario/group_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim-backend/management/sim_fabric.h"
#include "smd/base/rng.h"
#include "smd/base/text.h"
#include "smd/config/settings.h"
#include "smd/manager/effective_settings.h"
#include "smd/manager/multicast_manager.h"
#include "smd/manager/plan_job.h"
#include "smd/multicast/group_trees.h"
#include "smd/multicast/subnet_limits.h"

namespace smd::sim {
namespace {

using HostList = std::vector<std::uint32_t>;

class GroupWriter {
 public:
  GroupWriter(const FabricSpec& spec,
              TreeShape shape,
              unsigned vls,
              const std::string& file,
              ProgrammedFabric& fabric)
      : spec_(spec), vls_(vls), file_(file), fabric_(fabric) {
    trees_.adopt(fabric.snapshot, fabric.lids, fabric.routing, shape);
    out_.shape_refused = trees_.shape_refused();
    // In the order of host_lids: cabled ports of adapters.
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (spec.nodes[n].type == NodeType::Switch) continue;
      for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
        if (spec.nodes[n].ports[p].peer_node == kNoNode) continue;
        host_node_.push_back(n);
        host_port_.push_back(
            fabric.snapshot->port_of(NodeIdx{n}, PortNum{static_cast<std::uint8_t>(p)}));
      }
    }
  }

  Parsed<GroupTables> write(const std::vector<GroupText>& groups) {
    choose_mlids(groups);
    for (std::size_t i = 0; i < groups.size() && faults_.empty(); ++i) {
      const std::optional<std::uint32_t> sender = find_sender(groups[i]);
      lay(groups[i], mlids_[i], find_members(groups[i], sender), sender);
    }
    if (!faults_.empty()) return tl::unexpected(std::move(faults_));
    prove();
    for (ProgrammedGroup& group : out_.groups) group.sl = out_.lane ? out_.lane->sl : 0;
    if (out_.lane) write_rows();
    return std::move(out_);
  }

 private:
  void complain(int line, std::string message) {
    faults_.push_back({file_, line, std::move(message)});
  }

  /// As far as every switch has room, as the manager gives them out.
  void choose_mlids(const std::vector<GroupText>& groups) {
    std::uint32_t room = UINT16_MAX - kFirstMlid.value();
    for (const NodeState& node : fabric_.nodes) {
      if (node.is_switch()) {
        room = std::min<std::uint32_t>(room, node.switch_info.multicast_fdb_cap);
      }
    }
    std::map<std::uint16_t, int> taken;  // the line of whose it is
    for (const GroupText& group : groups) {
      if (!group.mlid) continue;
      const auto [at, is_new] = taken.emplace(*group.mlid, group.mlid_line);
      if (!is_new) {
        complain(
            group.mlid_line,
            fmt::format("group.mlid 0x{:04x} is that of the group in line {}; leave it out, or "
                        "take another",
                        *group.mlid,
                        at->second));
      } else if (*group.mlid - kFirstMlid.value() >= static_cast<int>(room)) {
        complain(group.mlid_line,
                 fmt::format("group.mlid is 0x{:04x}: switches have room for 0xc000 to 0x{:04x}",
                             *group.mlid,
                             kFirstMlid.value() + room - 1));
      }
    }
    std::uint32_t next = 0;
    for (const GroupText& group : groups) {
      std::uint16_t mlid = group.mlid.value_or(0);
      while (mlid == 0) {
        const auto free = static_cast<std::uint16_t>(kFirstMlid.value() + next++);
        if (next > room) {
          return complain(
              group.line,
              fmt::format("{} groups, and switches have room for {}", groups.size(), room));
        }
        if (!taken.contains(free)) mlid = free;
      }
      mlids_.push_back(Lid{mlid});
    }
  }

  /// The first port of the adapter.
  std::optional<std::uint32_t> find_sender(const GroupText& group) {
    if (group.sender.empty()) return {};
    const std::uint32_t node = find({group.sender_line, "sender", group.sender}, NodeType::Ca);
    const auto at = std::ranges::find(host_node_, node);
    if (at != host_node_.end()) return static_cast<std::uint32_t>(at - host_node_.begin());
    if (node != kNoNode)
      complain(group.sender_line, fmt::format("group.sender: {} has no cable", group.sender));
    return {};
  }

  HostList find_members(const GroupText& group, std::optional<std::uint32_t> sender) {
    const auto hosts = static_cast<std::uint32_t>(host_node_.size());
    HostList out;
    const auto add_where = [&](auto matches) {
      for (std::uint32_t host = 0; host < hosts; ++host) {
        if (matches(host)) out.push_back(host);
      }
    };
    for (const std::string& name : group.names) {
      const std::uint32_t node = find({group.line, "members", name}, NodeType::Ca);
      add_where([&](std::uint32_t host) { return host_node_[host] == node; });
    }
    for (const std::string& name : group.leaves) {
      const std::uint32_t node = find({group.line, "leaf", name}, NodeType::Switch);
      if (node == kNoNode) continue;
      const std::size_t before = out.size();
      const SwitchIdx sw = fabric_.snapshot->switch_of[NodeIdx{node}];
      add_where([&](std::uint32_t host) { return fabric_.host_leaf[host] == sw; });
      if (out.size() == before)
        complain(group.line, fmt::format("group.leaf: {} is a switch without hosts", name));
    }
    const std::uint32_t number = std::max(group.count, group.random);
    if (number > hosts) {
      complain(group.line,
               fmt::format("group.{} is {}: the fabric has {} hosts",
                           group.random > 0 ? "random" : "count",
                           number,
                           hosts));
    } else if (group.names.empty() && group.leaves.empty()) {
      out.resize(hosts);
      std::iota(out.begin(), out.end(), 0u);
      Rng rng(group.seed);
      // The first so many of a shuffle.
      for (std::uint32_t i = 0; i < group.random; ++i) {
        std::swap(out[i], out[i + rng.below(hosts - i)]);
      }
      if (number > 0) out.resize(number);
    }
    if (sender) out.push_back(*sender);
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.size() < 2 && faults_.empty())
      complain(group.line, "a group of one member has nobody to send to: at least two");
    return out;
  }

  struct Named {
    int line;
    const char* key;
    const std::string& name;
  };

  std::uint32_t find(const Named& named, NodeType type) {
    const std::uint32_t node = find_node(spec_, named.name);
    if (node != kNoNode && spec_.nodes[node].type == type) return node;
    std::vector<std::string_view> known;
    for (const NodeSpec& each : spec_.nodes) {
      if (each.type == type) known.push_back(each.description);
    }
    complain(named.line,
             fmt::format("group.{}: no {} is called {}; did you mean {}?",
                         named.key,
                         type == NodeType::Ca ? "host" : "switch",
                         named.name,
                         find_nearest(named.name, known)));
    return kNoNode;
  }

  void lay(const GroupText& text, Lid mlid, HostList hosts, std::optional<std::uint32_t> sender) {
    if (!faults_.empty()) return;
    std::vector<TreeMember> members;
    for (const std::uint32_t host : hosts) {
      const bool sends = sender == host;
      members.push_back({.port = host_port_[host], .receives = !sends, .sends = sends || !sender});
    }
    std::ranges::sort(members, {}, &TreeMember::port);
    GroupTrees::Outcome laid = trees_.lay(mlid, members);
    if (laid.stranded > 0 || !laid.fault.empty()) {
      return complain(text.line,
                      laid.fault.empty()
                          ? fmt::format("{} of the group's {} members are on no tree: a part of "
                                        "the fabric that others cannot reach",
                                        laid.stranded,
                                        members.size())
                          : fmt::format("the group's tree is wrong: {}", laid.fault));
    }
    const Fabric& fabric = *fabric_.snapshot;
    ProgrammedGroup group{.mlid = mlid, .members = std::move(hosts), .sender = sender};
    group.quality = measure_tree(fabric, laid.masks, members);
    for (const SwitchMask& mask : laid.masks) write_row(mlid, mask);
    list_tree(*trees_.find(mlid), group);
    masks_.push_back(std::move(laid.masks));
    out_.groups.push_back(std::move(group));
  }

  void write_row(Lid mlid, const SwitchMask& mask) {
    NodeState& node = fabric_.nodes[fabric_.snapshot->switch_node[mask.sw].value()];
    const std::size_t at = mlid.value() - kFirstMlid.value();
    for (unsigned position = 0; position < node.mft.size(); ++position) {
      const std::uint16_t ports = mask.ports.position(position);
      if (ports == 0) continue;
      std::vector<std::uint16_t>& column = node.mft[position];
      if (column.size() <= at) column.resize(at + 1, 0);
      column[at] = ports;
    }
  }

  void list_tree(const Tree& tree, ProgrammedGroup& group) const {
    const Fabric& fabric = *fabric_.snapshot;
    const auto place_of = [&tree](SwitchIdx sw) {
      const auto at = std::ranges::lower_bound(tree.branches, sw, {}, &Branch::sw);
      return static_cast<std::uint32_t>(at - tree.branches.begin());
    };
    for (const Branch& branch : tree.branches) {
      TreeNode node{.node = fabric.switch_node[branch.sw].value()};
      if (branch.up != kNone<PortIdx>) {
        node.parent = place_of(fabric.switch_of[fabric.node_of[fabric.peer[branch.up]]]);
        node.up = fabric.number_of(branch.up);
      }
      group.tree.push_back(node);
    }
    for (const std::uint32_t host : group.members) {
      group.entry.push_back(place_of(fabric_.host_leaf[host]));
    }
  }

  /// As the manager does before it writes: trees with the unicast routes, and where these close a
  /// circle, on a lane of their own.
  void prove() {
    const auto judge = [&](std::optional<MulticastVl> lane) {
      std::vector<TreesOfSl> trees;
      for (const auto& masks : masks_) trees.push_back({lane ? lane->sl : std::uint8_t{0}, masks});
      return check_multicast_deadlock({.sweep = {.fabric = fabric_.snapshot},
                                       .lids = fabric_.lids,
                                       .routing = fabric_.routing,
                                       .rows = SlToVlMaps{},
                                       .multicast_vl = lane},
                                      trees);
    };
    MulticastVerdict verdict = judge({});
    if (verdict.acyclic != true) {
      Settings settings;
      settings.ports.max_operational_vls = vl_code(vls_);
      const auto lane = choose_multicast_vl(*fabric_.snapshot, fabric_.routing, settings, nullptr);
      if (lane) {
        out_.lane = *lane;
        verdict = judge(out_.lane);
      } else {
        out_.lane_refused = lane.error();
      }
    }
    out_.acyclic = verdict.acyclic;
    out_.cycle = std::move(verdict.cycle);
  }

  /// The rows of switches and hosts, as a cycle writes them for a lane.
  void write_rows() {
    const Fabric& fabric = *fabric_.snapshot;
    const SlToVlMaps rows = choose_rows(fabric, fabric_.routing, QosPolicy{}, out_.lane, vls_);
    const QosPolicy qos = choose_qos(Settings{}, fabric_.routing.vls, out_.lane);
    for (std::uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      NodeState& node = fabric_.nodes[n];
      const auto ports = static_cast<std::uint8_t>(node.ports.size());
      for (std::uint8_t in = 0; in < ports; ++in) {
        if (!node.is_switch()) {
          node.write_sl_to_vl(PortNum{in}, PortNum{}, *qos.sl_to_vl);
          continue;
        }
        for (std::uint8_t out = 1; out < ports; ++out) {
          if (spec_.nodes[n].ports[out].peer_node == kNoNode) continue;
          if (in > 0 && spec_.nodes[n].ports[in].peer_node == kNoNode) continue;
          node.write_sl_to_vl(PortNum{in},
                              PortNum{out},
                              rows.row(fabric.switch_of[NodeIdx{n}], PortNum{in}, PortNum{out}));
        }
      }
    }
  }

  const FabricSpec& spec_;
  unsigned vls_;
  const std::string& file_;
  ProgrammedFabric& fabric_;
  GroupTrees trees_;
  std::vector<std::uint32_t> host_node_;
  std::vector<PortIdx> host_port_;
  std::vector<Lid> mlids_;
  std::vector<std::vector<SwitchMask>> masks_;
  GroupTables out_;
  Faults faults_;
};

}  // namespace

Parsed<GroupTables> program_groups(const FabricSpec& spec,
                                   const std::vector<GroupText>& groups,
                                   TreeShape shape,
                                   unsigned vls,
                                   const std::string& file,
                                   ProgrammedFabric& fabric) {
  if (groups.empty()) return GroupTables{};
  return GroupWriter(spec, shape, vls, file, fabric).write(groups);
}

}  // namespace smd::sim
