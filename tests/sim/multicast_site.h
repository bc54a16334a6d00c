// Hosts that ask a manager and its administration for multicast groups, and what the switches hold.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smd/manager/multicast_manager.h"
#include "smd/multicast/group.h"
#include "tests/support/flood.h"
#include "tests/support/multicast_subnet.h"

namespace smd::test {

using namespace sa;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

namespace part = member_component;

class Site : public MulticastSubnet {
 public:
  explicit Site(const std::string& fabric_text,
                const std::string& engine = "updn",
                TreeShape trees = TreeShape::UpDown)
      : Site(fabric_text, settings_of(engine, trees)) {}

  Site(const std::string& fabric_text, Settings settings, const sim::AgentOptions& agents = {})
      : MulticastSubnet(fabric_text, std::move(settings), agents) {
    manager.multicast().on_change([this](const std::vector<GroupChange>& changes) {
      news.insert(news.end(), changes.begin(), changes.end());
    });
  }

  static Settings settings_of(const std::string& engine, TreeShape trees) {
    Settings out = quiet_settings();
    out.engine = engine;
    out.multicast_trees = trees;
    return out;
  }

  void bring_up() {
    manager.start();
    ASSERT_TRUE(settle());
    attach_hosts([this](const MadPacket& packet) {
      answers.push_back(*decode_sa_header(packet.mad));
      records.push_back(*decode_mc_member_record(std::span(packet.mad).subspan(kHeaderSize)));
    });
    watch_ = fabric.on_change([this](std::uint32_t, sim::FabricChange) { look(); });
  }

  /// What hosts sent has arrived, and everything is done that follows from it.
  bool settle() {
    run_for(5ms);
    return run_until([this] { return manager.at_rest() && manager.in_force() != nullptr; }, 120s);
  }

  void ask(std::size_t host, Method method, const McMemberRecord& said, std::uint64_t mask) {
    static_cast<void>(hosts.at(host)->send(encode_sa_request(
        {.manager = snapshot_lid(), .transaction = ++transaction_, .method = method, .mask = mask},
        said,
        kMcMemberRecord.size)));
  }

  /// Groups from here on are those of programs, not of IPoIB.
  static constexpr std::uint64_t kOfPrograms = 0x800;

  static Gid group_id(std::uint64_t group) {
    return group < kOfPrograms ? mgid(group) : Gid{0xff124001ffff0000u, Guid{group}};
  }

  void join(std::size_t host, std::uint64_t group, std::uint8_t state = 1) {
    McMemberRecord said = joining(group, gid(host), state);
    said.mgid = group_id(group);
    ask(host, Method::Set, said, kJoinMask);
    wanted[group][guid(host)] = (state & 3) != 0;
  }

  void leave(std::size_t host, std::uint64_t group, std::uint8_t state = 1) {
    ask(host,
        Method::Delete,
        {.mgid = group_id(group), .port_gid = gid(host), .join_state = state},
        kLeaveMask);
    wanted[group].erase(guid(host));
  }

  /// What is wrong with the groups that hosts think they are in. Empty: nothing.
  [[nodiscard]] std::string find_misdelivery() const {
    for (const auto& [group, members] : wanted) {
      const Group* known = manager.multicast().groups().find(group_id(group));
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

  /// The same of groups as the administration knows them: what one sends reaches all receivers,
  /// but where another is the only sender, and nobody twice.
  [[nodiscard]] std::string find_undelivered(bool by_sender) const {
    for (const auto& [id, group] : manager.multicast().groups().groups()) {
      std::set<PortIdx> receivers;
      std::vector<PortIdx> others;
      for (const auto& [port_guid, member] : group.members) {
        const PortIdx port = port_of(port_guid);
        if ((member.join_state & 3) != 0) {
          receivers.insert(port);
        } else {
          others.push_back(port);
        }
      }
      const bool programs = id.prefix == group_id(kOfPrograms).prefix;
      const bool only = by_sender && programs && others.size() == 1;
      std::vector<PortIdx> all(receivers.begin(), receivers.end());
      all.insert(all.end(), others.begin(), others.end());
      for (const PortIdx from : all) {
        const Flood got = flood(
            snapshot(),
            [&](SwitchIdx sw, PortNum port) { return copies(group.mlid, sw, port); },
            from);
        std::size_t missed = 0;
        for (const PortIdx to : receivers) missed += to != from && !got.copies.contains(to) ? 1 : 0;
        for (const auto& [to, times] : got.copies) {
          if (times > 1 || !receivers.contains(to))
            return print_port(snapshot(), to) + " gets too much of what " +
                   print_port(snapshot(), from) + " sends";
        }
        if (got.endless || (missed > 0 && (!only || from == others.front())))
          return fmt::format(
              "{} receivers miss what {} sends", missed, print_port(snapshot(), from));
      }
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
    const Group* known = manager.multicast().groups().find(group_id(group));
    for (const Branch& branch : manager.multicast().find_tree(known->mlid)->branches) {
      if (branch.up == kNone<PortIdx>) continue;
      const NodeIdx own = snapshot().node_of[snapshot().peer[snapshot().sm_port]];
      if (snapshot().node_of[branch.up] != own &&
          snapshot().node_of[snapshot().peer[branch.up]] != own)
        return branch.up;
    }
    return kNone<PortIdx>;
  }

  /// What switches copy to the group, all with one SL.
  [[nodiscard]] std::vector<TreesOfSl> held_trees(std::uint64_t group) const {
    const Lid mlid = manager.multicast().groups().find(group_id(group))->mlid;
    std::vector<SwitchMask> masks;
    for (const SwitchIdx sw : snapshot().switch_node.indices()) {
      SwitchMask mask{sw, {}};
      for (unsigned p = 0; p <= snapshot().num_ports(snapshot().switch_node[sw]); ++p) {
        const PortNum port{static_cast<std::uint8_t>(p)};
        if (copies(mlid, sw, port)) mask.ports.set(port);
      }
      if (mask.ports.any()) masks.push_back(mask);
    }
    return {{.sl = 0, .masks = std::move(masks)}};
  }

  void cut(PortIdx port) {
    fabric.set_link(sim_node(snapshot().node_guid[snapshot().node_of[port]]),
                    snapshot().number_of(port),
                    false);
  }

  std::vector<GroupChange> news;
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
