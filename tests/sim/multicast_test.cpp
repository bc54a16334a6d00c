// Hosts join and leave over the simulated fabric, cables fail, switches lose what is sent to them;
// what the switches hold is judged by letting packets go through their registers after every Set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "sim-backend/agents/node_state.h"
#include "smd/app/administration.h"
#include "smd/multicast/mgid.h"
#include "smd/sa/group_keeper.h"
#include "smd/sa/multicast_records.h"
#include "smd/sa/server.h"
#include "smd/transport/class_split.h"
#include "tests/support/flood.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

using namespace sa;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

namespace part = member_component;

/// A manager and its administration, as the daemon wires them.
class Site {
 public:
  explicit Site(const std::string& fabric_text,
                const std::string& engine = "updn",
                TreeShape trees = TreeShape::UpDown)
      : fabric(runtime, spec_of(fabric_text), sim::Timing::modern(), 1),
        transport(fabric, fabric.spec().sm_node, fabric.spec().sm_port),
        split(transport),
        server(runtime, split.general()),
        manager(runtime, split.subnet(), settings(engine, trees), {}, observer()),
        keeper(app::group_parts(manager)) {
    server.add_keeper(keeper);
    manager.multicast().on_change([this](const std::vector<GroupChange>& changes) {
      news.insert(news.end(), changes.begin(), changes.end());
    });
  }

  static app::Settings settings(const std::string& engine, TreeShape trees) {
    app::Settings out = WorldOptions::default_settings();
    out.sweep_interval = Duration{0};
    out.engine = engine;
    out.multicast_trees = trees;
    return out;
  }

  app::SubnetManager::Observer observer() {
    app::SubnetManager::Observer out;
    out.on_known = [this] { server.adopt(app::make_view(manager, {})); };
    out.on_cycle = [this](const app::CycleReport& cycle) { reports.push_back(cycle); };
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
    return manager.in_force()->lids.base[snapshot().sm_port];
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
  ClassSplit split;
  Server server;
  std::vector<app::CycleReport> reports;
  std::vector<GroupChange> news;
  app::SubnetManager manager;
  GroupKeeper keeper;
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

constexpr const char* kFabric = "fat-tree:k=4,levels=3";

TEST(Multicast, HostsJoinAndLeave) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < 8; ++host) site.join(host, 0x101, host == 3 ? 4 : 1);
  site.join(2, 0x102);
  ASSERT_TRUE(site.settle());
  ASSERT_EQ(site.answers.size(), 9u);
  for (const SaHeader& answer : site.answers) EXPECT_EQ(answer.mad.status, 0);
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.manager.multicast().stats().unmet, 0u);
  for (std::size_t host = 0; host < 4; ++host) site.leave(host, 0x101, host == 3 ? 4 : 1);
  site.leave(2, 0x102);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.manager.multicast().groups().find(Site::mgid(0x102)), nullptr);
  EXPECT_EQ(site.repetition, "");
  EXPECT_GT(site.looks, 10u);
  EXPECT_THAT(site.news, testing::Contains(GroupChange{Site::mgid(0x102), kDefaultPKey, false}));
}

TEST(Multicast, TheBroadcastGroupIsThereFromTheStart) {
  Site site(kFabric);
  site.bring_up();
  const Gid broadcast = ipoib_broadcast(kDefaultPKey);
  ASSERT_NE(site.manager.multicast().groups().find(broadcast), nullptr);
  EXPECT_EQ(site.manager.multicast().groups().find(broadcast)->mlid, Lid{0xc000});
  // What a host's kernel asks for: no more than the group and itself.
  site.ask(0,
           Method::Set,
           {.mgid = broadcast, .port_gid = site.gid(0), .p_key = kDefaultPKey, .join_state = 1},
           part::kMgid | part::kPortGid | part::kPKey | part::kJoinState);
  ASSERT_TRUE(site.settle());
  ASSERT_EQ(site.records.size(), 1u);
  EXPECT_EQ(site.answers[0].mad.status, 0);
  EXPECT_EQ(site.records[0].q_key, 0xb1bu);
  EXPECT_EQ(site.records[0].mtu, (Bound{Selector::Exactly, 4}));
  // Nobody but the site takes it away.
  site.ask(0,
           Method::Delete,
           {.mgid = broadcast, .port_gid = site.gid(0), .join_state = 1},
           part::kMgid | part::kPortGid | part::kJoinState);
  ASSERT_TRUE(site.settle());
  EXPECT_NE(site.manager.multicast().groups().find(broadcast), nullptr);
}

TEST(Multicast, AJoinCostsWhatItTouches) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < 6; ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  const std::uint64_t before = site.manager.smp_stats().sent;
  const std::uint64_t cycles = site.manager.cycles();
  site.join(6, 0x101);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  // At most its leaf, the switch above it, one core, and what is above the others.
  EXPECT_LE(site.manager.smp_stats().sent - before, 5u);
  EXPECT_EQ(site.manager.cycles(), cycles) << "a join is no change of the fabric";
}

TEST(Multicast, ManyJoinsTakeFewRounds) {
  Site site(kFabric);
  site.bring_up();
  site.watching = false;
  for (std::uint64_t group = 0; group < 40; ++group) {
    for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x200 + group);
  }
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_LT(site.manager.multicast().stats().rounds, 60u) << "of " << site.answers.size();
}

TEST(Multicast, ALostCableIsMadeGood) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) {
    site.join(host, 0x101);
    if (host % 3 == 0) site.join(host, 0x102, host == 0 ? 1 : 4);
  }
  ASSERT_TRUE(site.settle());
  for (int i = 0; i < 3; ++i) {
    site.cut(site.any_branch(0x101));
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.find_misdelivery(), "") << i;
    EXPECT_EQ(site.repetition, "") << i;
  }
  EXPECT_EQ(site.manager.multicast().stats().acyclic, true);
}

TEST(Multicast, WhoIsGoneIsNoMember) {
  Site site(kFabric);
  site.bring_up();
  site.join(0, 0x101);
  site.join(5, 0x101);
  site.join(5, 0x102);
  ASSERT_TRUE(site.settle());
  site.news.clear();
  const NodeIdx gone = site.snapshot().node_of[site.port_of(site.guid(5))];
  site.fabric.set_node(site.sim_node(site.snapshot().node_guid[gone]), false);
  site.wanted[0x101].erase(site.guid(5));
  site.wanted.erase(0x102);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_THAT(site.news, ElementsAre(GroupChange{Site::mgid(0x102), kDefaultPKey, false}));
  EXPECT_EQ(site.manager.multicast().groups().find(Site::mgid(0x101))->members.size(), 1u);
}

TEST(Multicast, AManagerThatIsCutOffForgetsNobody) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < 4; ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  const sim::FabricSpec& spec = site.fabric.spec();
  site.fabric.set_link(spec.sm_node, spec.sm_port, false);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_TRUE(site.manager.last_cycle()->cut_off);
  EXPECT_EQ(site.manager.multicast().groups().find(Site::mgid(0x101))->members.size(), 4u);
  site.fabric.set_link(spec.sm_node, spec.sm_port, true);
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
}

TEST(Multicast, ASwitchThatWasOffIsWrittenAgain) {
  Site site(kFabric);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  const PortIdx up = site.any_branch(0x101);
  const Guid above = site.snapshot().node_guid[site.snapshot().node_of[site.snapshot().peer[up]]];
  site.fabric.reboot_node(site.sim_node(above), Duration{50ms});
  site.runtime.run_until(site.runtime.now() + Duration{200ms});
  ASSERT_TRUE(site.settle());
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.repetition, "");
}

TEST(Multicast, WiresThatLoseSmps) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    Site site(kFabric);
    site.bring_up();
    site.fabric.set_wire_faults({.drop = 0.02 * static_cast<double>(seed)});
    // Requests get lost as well: only who was answered is a member for sure.
    for (int times = 0; times < 8; ++times) {
      for (std::size_t host = 0; host < 10; ++host) site.join(host, 0x101);
      site.runtime.run_until(site.runtime.now() + Duration{20ms});
    }
    ASSERT_TRUE(site.settle());
    site.cut(site.any_branch(0x101));
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
    site.fabric.set_wire_faults({});
    site.runtime.run_until(site.runtime.now() + Duration{70s});
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
    // Whoever was not seen for a while has to come back himself.
    for (std::size_t host = 0; host < 10; ++host) site.join(host, 0x101);
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.manager.multicast().stats().unmet, 0u);
    EXPECT_EQ(site.find_misdelivery(), "");
    // What a switch holds that no sweep has found is not counted with.
    const bool all_seen = std::ranges::all_of(
        site.reports, [](const app::CycleReport& each) { return each.counts.switches == 20; });
    EXPECT_TRUE(!all_seen || site.repetition.empty()) << site.repetition;
  }
}

TEST(Multicast, EnginesWithoutDirections) {
  for (const char* engine : {"ftree", "dfsssp", "nue"}) {
    SCOPED_TRACE(engine);
    Site site(kFabric, engine);
    site.bring_up();
    for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.find_misdelivery(), "");
    site.runtime.run_until(site.runtime.now() + Duration{6s});
    EXPECT_NE(site.manager.multicast().stats().acyclic, false);
  }
}

TEST(Multicast, LoopsWithUnicastRoutesAreFound) {
  // lash takes shortest ways whichever way they turn: a lane without loops has some with the trees.
  Site site(kFabric, "lash");
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
  site.runtime.run_until(site.runtime.now() + Duration{6s});
  EXPECT_EQ(site.manager.multicast().stats().acyclic, false);
}

TEST(Multicast, PathsAlongLabels) {
  for (const TreeShape shape : {TreeShape::PathShared, TreeShape::DualPath}) {
    SCOPED_TRACE(shape == TreeShape::DualPath ? "dual path" : "shared path");
    Site site("torus:dims=4.4,mesh=1", "hamiltonian", shape);
    site.bring_up();
    for (std::size_t host = 0; host < site.hosts.size(); ++host) {
      if (host % 3 != 1) site.join(host, 0x101);
      if (host % 5 == 0) site.join(host, 0x102, host == 5 ? 4 : 1);
    }
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.manager.multicast().stats().shape_refused, "");
    EXPECT_EQ(site.find_misdelivery(), "");
    site.runtime.run_until(site.runtime.now() + Duration{6s});
    EXPECT_EQ(site.manager.multicast().stats().acyclic, true) << "with unicast routes";
    // Hosts that leave and cables that are lost: other paths, and no moment without one copy each.
    site.leave(0, 0x102);
    site.leave(2, 0x101);
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(site.find_misdelivery(), "");
    for (int i = 0; i < 2; ++i) {
      site.cut(site.any_branch(0x101));
      site.manager.request_sweep("test");
      ASSERT_TRUE(site.settle());
      EXPECT_EQ(site.find_misdelivery(), "") << i;
      site.runtime.run_until(site.runtime.now() + Duration{6s});
      if (site.manager.multicast().stats().shape_refused.empty()) {
        EXPECT_EQ(site.manager.multicast().stats().acyclic, true) << i;
      }
    }
    EXPECT_EQ(site.repetition, "");
    EXPECT_GT(site.looks, 10u);
  }
}

TEST(Multicast, WithoutLabelsTreesLeadUpAndDown) {
  Site site(kFabric, "updn", TreeShape::PathShared);
  site.bring_up();
  for (std::size_t host = 0; host < site.hosts.size(); ++host) site.join(host, 0x101);
  ASSERT_TRUE(site.settle());
  EXPECT_THAT(site.manager.multicast().stats().shape_refused,
              testing::HasSubstr("no path meets every switch once"));
  EXPECT_EQ(site.find_misdelivery(), "");
  EXPECT_EQ(site.manager.multicast().stats().unmet, 0u);
}

TEST(Multicast, SameSeedSameBytes) {
  const auto run = [] {
    Site site(kFabric);
    site.bring_up();
    for (std::size_t host = 0; host < site.hosts.size(); ++host) {
      site.join(host, 0x101 + host % 4);
    }
    EXPECT_TRUE(site.settle());
    return site.fabric.trace_hash();
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace smd::test
