// A group with one member that only sends, over the simulated fabric: the tree is for that one as
// long as it is alone, whoever is master, and for all otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "smd/report/subnet_json.h"
#include "tests/sim/multicast_site.h"
#include "tests/sim/succession.h"

namespace smd::test {
namespace only_sender_test {

constexpr std::uint64_t kGroup = Site::kOfPrograms;
constexpr std::uint8_t kSends = 8;  // SendOnlyFullMember, as rdma_cm asks for

struct Row {
  const char* fabric;
  const char* engine;
  TreeShape trees;
};

class OnlySender : public ::testing::TestWithParam<Row> {
 protected:
  OnlySender() : site(GetParam().fabric, GetParam().engine, GetParam().trees) {
    site.bring_up();
    for (const std::size_t host : {0, 2, 5, 7, 9, 10}) site.join(host, kGroup);
    EXPECT_TRUE(site.settle());
  }

  [[nodiscard]] Lid mlid() const {
    return site.manager.multicast().groups().find(Site::group_id(kGroup))->mlid;
  }

  /// The host for whom the tree is; nothing: for all.
  [[nodiscard]] std::optional<std::size_t> sender() const {
    const PortIdx port = site.manager.multicast().sender_of(mlid());
    for (std::size_t host = 0; host < site.hosts.size(); ++host) {
      if (port != kNone<PortIdx> && site.snapshot().port_guid[port] == site.guid(host)) return host;
    }
    return {};
  }

  /// After what hosts asked for: everything is as it should be, and was at every moment.
  void expect_sender(std::optional<std::size_t> wanted) {
    ASSERT_TRUE(site.settle());
    EXPECT_EQ(sender(), wanted);
    EXPECT_EQ(site.find_undelivered(true), "");
    if (!wanted) {
      EXPECT_EQ(site.find_undelivered(false), "");
    }
    EXPECT_EQ(site.repetition, "");
    EXPECT_EQ(site.manager.multicast().stats().unmet, 0u);
  }

  Site site;
};

TEST_P(OnlySender, ComesGoesHasCompanyReceivesAndIsAnotherOne) {
  expect_sender({});
  site.join(3, kGroup, kSends);
  expect_sender(3);
  site.join(8, kGroup, 4);
  expect_sender({});
  site.leave(3, kGroup, kSends);
  expect_sender(8);
  site.join(8, kGroup, 1);
  expect_sender({});
  site.leave(8, kGroup, 1);
  expect_sender(8);
  site.leave(8, kGroup, 4);
  site.join(1, kGroup, kSends);
  expect_sender(1);
  site.leave(1, kGroup, kSends);
  expect_sender({});
  EXPECT_GT(site.looks, 8u);
  site.run_for(6s);
  EXPECT_EQ(site.manager.multicast().stats().acyclic, true);
}

TEST_P(OnlySender, ReceiversComeAndGoCablesAreLost) {
  site.join(3, kGroup, kSends);
  site.join(4, kGroup);
  expect_sender(3);
  site.leave(0, kGroup);
  expect_sender(3);
  for (int i = 0; i < 3; ++i) {
    const Tree& tree = *site.manager.multicast().find_tree(mlid());
    for (const Branch& branch : tree.branches) {
      if (branch.up == kNone<PortIdx>) continue;
      const NodeIdx own = site.snapshot().node_of[site.snapshot().peer[site.snapshot().sm_port]];
      if (site.snapshot().node_of[branch.up] == own ||
          site.snapshot().node_of[site.snapshot().peer[branch.up]] == own)
        continue;
      site.cut(branch.up);
      break;
    }
    site.manager.request_sweep("test");
    ASSERT_TRUE(site.settle());
    const bool by_labels = GetParam().trees == TreeShape::MultiPath;
    if (by_labels && !site.manager.multicast().stats().shape_refused.empty()) return;
    expect_sender(3);
  }
}

TEST_P(OnlySender, IsGone) {
  site.join(3, kGroup, kSends);
  expect_sender(3);
  const NodeIdx gone = site.snapshot().node_of[site.port_of(site.guid(3))];
  site.fabric.set_node(site.sim_node(site.snapshot().node_guid[gone]), false);
  site.manager.request_sweep("test");
  expect_sender({});
}

INSTANTIATE_TEST_SUITE_P(
    All,
    OnlySender,
    ::testing::Values(
        Row{"torus:dims=4.4", "updn", TreeShape::BySender},
        Row{"fat-tree:k=4,levels=3", "ftree", TreeShape::BySender},
        Row{"irregular:switches=12,ports=6,links=3,hosts=2,seed=3", "updn", TreeShape::BySender},
        Row{"torus:dims=4.4,mesh=1", "hamiltonian", TreeShape::MultiPath}));

// Its host is plugged into another switch, and sends from there.
TEST(OnlySenderMoves, ItsTreeStartsWhereItIs) {
  Site site("irregular:switches=12,ports=6,links=3,hosts=2,seed=3", "updn", TreeShape::BySender);
  site.bring_up();
  for (const std::size_t host : {0, 2, 5, 7, 9}) site.join(host, kGroup);
  site.join(12, kGroup, kSends);
  ASSERT_TRUE(site.settle());
  const Lid mlid = site.manager.multicast().groups().find(Site::group_id(kGroup))->mlid;
  const auto root = [&] {
    for (const Branch& branch : site.manager.multicast().find_tree(mlid)->branches) {
      if (branch.up == kNone<PortIdx>)
        return site.snapshot().node_guid[site.snapshot().switch_node[branch.sw]];
    }
    return Guid{};
  };
  const auto switch_of = [&] {
    return site.snapshot()
        .node_guid[site.snapshot().node_of[site.snapshot().peer[site.port_of(site.guid(12))]]];
  };
  const Guid before = switch_of();
  EXPECT_EQ(root(), before);
  const PortIdx plug = site.snapshot().peer[site.port_of(site.guid(12))];
  const sim::FabricSpec& spec = site.fabric.spec();
  std::optional<std::uint32_t> to;
  for (std::uint32_t n = 0; n < spec.nodes.size() && !to; ++n) {
    if (spec.nodes[n].type == NodeType::Switch && spec.nodes[n].guid != before &&
        spec.nodes[n].ports[6].peer_node == sim::kNoNode)
      to = n;
  }
  ASSERT_TRUE(to);
  site.fabric.move_cable(site.sim_node(before), site.snapshot().number_of(plug), *to, PortNum{6});
  site.manager.request_sweep("test");
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(switch_of(), spec.nodes[*to].guid);
  EXPECT_EQ(root(), spec.nodes[*to].guid);
  EXPECT_EQ(site.find_undelivered(true), "");
  EXPECT_EQ(site.repetition, "");
}

// A kernel that sends to a group of IPoIB joins to send alone, and whoever receives sends, too.
TEST(OnlySenderOfIpoib, TakesNothingFromOthers) {
  Site site("torus:dims=4.4", "updn", TreeShape::BySender);
  site.bring_up();
  for (const std::size_t host : {0, 2, 5, 7, 9}) site.join(host, 0x101);
  site.join(3, 0x101, kSends);
  ASSERT_TRUE(site.settle());
  EXPECT_EQ(site.find_misdelivery(), "");
}

struct OnlySenderSuccession : Succession {
  /// Host 3 alone sends to what the others receive.
  void SetUp() override {
    Succession::SetUp();
    for (Machine* machine : {&first, &second}) {
      machine->kill();
      machine->start(by_sender(machine == &first ? 9 : 2),
                     machine == &first ? "first" : "second",
                     machine == &first ? "second" : "first");
    }
    ASSERT_TRUE(settle(first));
    ASSERT_TRUE(run_until([&] { return second.state() == SmState::Standby; }));
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      McMemberRecord said = joining(kGroup, gid(host), host == 3 ? kSends : std::uint8_t{1});
      said.mgid = Site::group_id(kGroup);
      ask(host, RecordId::McMemberRecord, said, kMcMemberRecord.size, kJoinMask);
    }
    run_for(1s);
    ASSERT_EQ(sender(first), gid(3).guid);
  }

  static Settings by_sender(unsigned priority) {
    Settings settings = settings_of(priority);
    settings.multicast_trees = TreeShape::BySender;
    return settings;
  }

  static Guid sender(Machine& machine) {
    const MulticastManager& multicast = machine.manager().multicast();
    const Group* group = multicast.groups().find(Site::group_id(kGroup));
    if (group == nullptr) return {};
    const PortIdx port = multicast.sender_of(group->mlid);
    return port == kNone<PortIdx> ? Guid{} : machine.manager().in_force()->fabric().port_guid[port];
  }
};

/// Entries by the GUIDs of switches, which managers number as they find them.
std::map<std::pair<Lid, Guid>, PortMask> entries_of(Machine& machine) {
  const Fabric& fabric = machine.manager().in_force()->fabric();
  std::map<std::pair<Lid, Guid>, PortMask> out;
  for (const auto& [mlid, masks] : machine.manager().multicast().masks()) {
    for (const SwitchMask& mask : masks)
      out[{mlid, fabric.node_guid[fabric.switch_node[mask.sw]]}] = mask.ports;
  }
  return out;
}

// Nothing of the shape is stored or copied: who only sends is in the records.
TEST_F(OnlySenderSuccession, TheNextMasterHasTheSameTree) {
  const auto entries = entries_of(first);
  ASSERT_FALSE(entries.empty());
  first.kill();
  ASSERT_TRUE(run_until([&] { return second.state() == SmState::Master; }));
  ASSERT_TRUE(settle(second));
  run_for(10s);
  EXPECT_EQ(sender(second), gid(3).guid);
  EXPECT_TRUE(entries_of(second) == entries);
  EXPECT_EQ(second.mft_sets, 0u);
}

TEST_F(OnlySenderSuccession, SoHasTheSameAfterARestart) {
  second.kill();
  const auto entries = entries_of(first);
  const ClientRecords left = first.records();
  first.kill();
  const std::uint64_t sets = first.mft_sets;
  first.start(by_sender(9), "first", "second");
  first.store->records().replace(left);
  ASSERT_TRUE(settle(first));
  run_for(10s);
  EXPECT_EQ(sender(first), gid(3).guid);
  EXPECT_TRUE(entries_of(first) == entries);
  EXPECT_EQ(first.mft_sets, sets);
}

// What an operator reads of it.
TEST(OnlySenderReport, NamesThePortAndMeasuresFromThere) {
  Site site("torus:dims=4.4", "updn", TreeShape::BySender);
  site.bring_up();
  for (const std::size_t host : {0, 2, 5, 7, 9, 10}) site.join(host, kGroup);
  ASSERT_TRUE(site.settle());
  const auto tree = [&] { return multicast_json(site.manager.multicast()).at("trees").at(0); };
  EXPECT_FALSE(tree().contains("only_sender"));
  site.join(3, kGroup, kSends);
  ASSERT_TRUE(site.settle());
  const auto told = tree();
  EXPECT_EQ(told.at("only_sender"), print_port(site.snapshot(), site.port_of(site.guid(3))));
  EXPECT_EQ(told.at("members"), 7);
  EXPECT_EQ(told.at("channels"), told.at("cables")) << "a packet takes every cable once";
  site.leave(3, kGroup, kSends);
  ASSERT_TRUE(site.settle());
  EXPECT_FALSE(tree().contains("only_sender"));
}

}  // namespace only_sender_test
}  // namespace smd::test
