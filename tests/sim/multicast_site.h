// A manager with its multicast desk and its administration on a simulated fabric, hosts that ask
// it, and what the switches hold.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim-backend/agents/node_state.h"
#include "smd/daemon/administration.h"
#include "smd/multicast/group.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/server.h"
#include "smd/transport/transport.h"
#include "tests/support/flood.h"
#include "tests/support/smp_tap.h"
#include "tests/support/world.h"

namespace smd::test {

using namespace sa;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

namespace part = member_component;

/// A manager and its administration, as the daemon wires them.
class Site {
 public:
  explicit Site(const std::string& fabric_text,
                const std::string& engine = "updn",
                TreeShape trees = TreeShape::UpDown)
      : Site(fabric_text, settings(engine, trees)) {}

  Site(const std::string& fabric_text, Settings settings)
      : fabric(runtime, spec_of(fabric_text), sim::Timing::modern(), 1),
        transport(fabric, fabric.spec().sm_node, fabric.spec().sm_port),
        tap(transport),
        split(tap),
        server(runtime, split.general()),
        manager(runtime, split.subnet(), std::move(settings), {}, observer()),
        keeper(group_parts(manager)) {
    server.add_manager(keeper);
    manager.active().subscribe([this](const auto&) { server.adopt(make_view(manager, {})); });
    manager.multicast().on_change([this](const std::vector<GroupChange>& changes) {
      news.insert(news.end(), changes.begin(), changes.end());
    });
  }

  static Settings settings(const std::string& engine, TreeShape trees) {
    Settings out = WorldOptions::default_settings();
    out.sweep_interval = Duration{0};
    out.engine = engine;
    out.multicast_trees = trees;
    return out;
  }

  SubnetManager::Observer observer() {
    SubnetManager::Observer out;
    out.on_cycle = [this](const CycleReport& cycle) { reports.push_back(cycle); };
    return out;
  }

  void bring_up() {
    manager.start();
    ASSERT_TRUE(settle());
    const sim::FabricSpec& spec = fabric.spec();
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (n == spec.sm_node || spec.nodes[n].type != NodeType::Ca) continue;
      auto host = std::make_unique<sim::SimTransport>(fabric, n, PortNum{1});
      host->set_handlers(
          [this](const MadPacket& packet) {
            answers.push_back(*decode_sa_header(packet.mad));
            records.push_back(*decode_mc_member_record(std::span(packet.mad).subspan(kHeaderSize)));
          },
          [](const Error&) {});
      hosts.push_back(std::move(host));
    }
    watch_ = fabric.on_change([this](std::uint32_t, sim::FabricChange) { look(); });
  }

  /// What hosts sent has arrived, and everything is done that follows from it.
  bool settle() {
    runtime.run_until(runtime.now() + Duration{5ms});
    return runtime.run_while_not(
        [this] { return manager.at_rest() && manager.in_force() != nullptr; },
        runtime.now() + Duration{120s});
  }

  void ask(std::size_t host, Method method, const McMemberRecord& said, std::uint64_t mask) {
    const SaHeader header{.mad = {.mgmt_class = 3,
                                  .class_version = kClassVersion,
                                  .method = static_cast<std::uint8_t>(method),
                                  .transaction_id = ++transaction_,
                                  .attribute_id = 0x38},
                          .component_mask = mask};
    MadPacket packet{.remote_lid = snapshot_lid(), .local_qp = 1, .remote_qp = 1};
    encode_sa_header(header, packet.mad);
    encode_record(said, std::span(packet.mad).subspan(kHeaderSize, kMcMemberRecord.size));
    static_cast<void>(hosts.at(host)->send(packet));
  }

  void join(std::size_t host, std::uint64_t group, std::uint8_t state = 1) {
    ask(host,
        Method::Set,
        {.mgid = mgid(group),
         .port_gid = gid(host),
         .q_key = 0xb1b,
         .p_key = kDefaultPKey,
         .join_state = state},
        part::kMgid | part::kPortGid | part::kJoinState | part::kQKey | part::kPKey |
            part::kTclass | part::kFlowLabel | part::kSl);
    wanted[group][guid(host)] = (state & 3) != 0;
  }

  void leave(std::size_t host, std::uint64_t group, std::uint8_t state = 1) {
    ask(host,
        Method::Delete,
        {.mgid = mgid(group), .port_gid = gid(host), .join_state = state},
        part::kMgid | part::kPortGid | part::kJoinState);
    wanted[group].erase(guid(host));
  }

  static Gid mgid(std::uint64_t group) { return {0xff12401bffff0000u, Guid{group}}; }

  [[nodiscard]] Guid guid(std::size_t host) const { return hosts.at(host)->local_port().port_guid; }

  [[nodiscard]] Gid gid(std::size_t host) const { return {kDefaultSubnetPrefix, guid(host)}; }

  [[nodiscard]] const Fabric& snapshot() const { return manager.in_force()->fabric(); }

  [[nodiscard]] Lid snapshot_lid() const {
    return manager.in_force()->lids->base[snapshot().sm_port];
  }

  /// As the registers of the simulated switch say.
  [[nodiscard]] bool copies(Lid mlid, SwitchIdx sw, PortNum port) const {
    const sim::NodeState& node =
        fabric.node_state(sim_node(snapshot().node_guid[snapshot().switch_node[sw]]));
    const auto& table = node.mft[port.value() / 16];
    const std::size_t at = mlid.value() - 0xc000u;
    return at < table.size() && (table[at] >> port.value() % 16 & 1) != 0;
  }

  /// What is wrong with the groups that hosts think they are in. Empty: nothing.
  [[nodiscard]] std::string find_misdelivery() const {
    for (const auto& [group, members] : wanted) {
      const Group* known = manager.multicast().groups().find(mgid(group));
      if (members.empty()) continue;
      if (known == nullptr) return fmt::format("group {} is not there", group);
      std::vector<std::pair<PortIdx, bool>> all;
      for (const auto& [port_guid, receives] : members) {
        const PortIdx port = port_of(port_guid);
        if (port != kNone<PortIdx>) all.emplace_back(port, receives);
      }
      const Lid mlid = known->mlid;
      std::string found = test::find_misdelivery(
          snapshot(), [&](SwitchIdx sw, PortNum port) { return copies(mlid, sw, port); }, all);
      if (!found.empty()) return found;
    }
    return {};
  }

  [[nodiscard]] PortIdx port_of(Guid port_guid) const {
    for (const PortIdx port : snapshot().peer.indices()) {
      if (snapshot().is_end_port(port) && snapshot().port_guid[port] == port_guid) return port;
    }
    return kNone<PortIdx>;
  }

  /// A cable of the group's tree, by the end that looks up; none of the manager's own switch.
  [[nodiscard]] PortIdx any_branch(std::uint64_t group) const {
    const Group* known = manager.multicast().groups().find(mgid(group));
    for (const Branch& branch : manager.multicast().find_tree(known->mlid)->branches) {
      if (branch.up == kNone<PortIdx>) continue;
      const NodeIdx own = snapshot().node_of[snapshot().peer[snapshot().sm_port]];
      if (snapshot().node_of[branch.up] != own &&
          snapshot().node_of[snapshot().peer[branch.up]] != own)
        return branch.up;
    }
    return kNone<PortIdx>;
  }

  [[nodiscard]] std::uint32_t sim_node(Guid guid) const {
    const sim::FabricSpec& spec = fabric.spec();
    for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
      if (spec.nodes[n].guid == guid) return n;
    }
    return sim::kNoNode;
  }

  void cut(PortIdx port) {
    fabric.set_link(sim_node(snapshot().node_guid[snapshot().node_of[port]]),
                    snapshot().number_of(port),
                    false);
  }

  sim::SimRuntime runtime;
  sim::SimFabric fabric;
  sim::SimTransport transport;
  SmpTap tap;
  ClassSplit split;
  Server server;
  std::vector<CycleReport> reports;
  std::vector<GroupChange> news;
  SubnetManager manager;
  GroupManager keeper;
  std::vector<std::unique_ptr<sim::SimTransport>> hosts;
  std::vector<SaHeader> answers;
  std::vector<McMemberRecord> records;
  std::map<std::uint64_t, std::map<Guid, bool>> wanted;  // group, port, receives
  std::string repetition;                                // the first that was ever seen
  unsigned looks = 0;

 private:
  /// After every Set: no packet of anybody goes round or comes twice.
  void look() {
    if (!repetition.empty() || !watching || manager.in_force() == nullptr) return;
    ++looks;
    std::vector<PortIdx> senders;
    for (const PortIdx port : snapshot().peer.indices()) {
      if (snapshot().is_end_port(port)) senders.push_back(port);
    }
    std::set<Lid> mlids{Lid{0xc000}, Lid{0xc001}, Lid{0xc002}};
    for (const Lid mlid : mlids) {
      repetition = find_repetition(
          snapshot(), [&](SwitchIdx sw, PortNum port) { return copies(mlid, sw, port); }, senders);
      if (!repetition.empty()) return;
    }
  }

 public:
  bool watching = true;

 private:
  sim::ObserverId watch_{};
  std::uint64_t transaction_ = 0;
};

}  // namespace smd::test
