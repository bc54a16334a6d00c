// MCMemberRecord and MFTRecord: who may do and see what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "smd/multicast/group.h"
#include "smd/multicast/subnet_limits.h"
#include "smd/sa/group_manager.h"
#include "tests/unit/sa/subnet.h"

namespace smd::sa {
namespace groups_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

namespace part = member_component;

constexpr std::uint64_t kJoin = part::kMgid | part::kPortGid | part::kJoinState;
constexpr std::uint64_t kCreate =
    kJoin | part::kQKey | part::kPKey | part::kTclass | part::kFlowLabel | part::kSl;
constexpr Gid kMgid{0xff12401bffff0000u, Guid{0x101}};

class GroupRecords : public ::testing::Test {
 protected:
  GroupRecords() {
    ViewParts parts = parts_of("H1-S1 H2-S1 S1-S2 H3-S2");
    auto fabric = std::make_shared<Fabric>(*parts.fabric);
    for (PortInfo& info : fabric->port_info) info.mtu_cap = 5;
    for (SwitchInfo& info : fabric->switch_info) info.multicast_fdb_cap = 64;
    parts.fabric = fabric;
    view = std::make_shared<const SubnetView>(parts);
    lid_map = parts.lids;
    subnet.emplace(SnapshotLimits::Parts{.fabric = parts.fabric, .lids = lid_map});
  }

  /// The cable between the switches has this MTU.
  void narrow(std::uint8_t mtu_cap) {
    auto fabric = std::make_shared<Fabric>(view->fabric());
    for (const NodeIdx node : fabric->switch_node) {
      for (const PortIdx port : fabric->external_ports(node)) {
        const PortIdx peer = fabric->peer[port];
        if (peer != kNone<PortIdx> && fabric->is_switch(fabric->node_of[peer]))
          fabric->port_info[port].mtu_cap = mtu_cap;
      }
    }
    subnet.emplace(SnapshotLimits::Parts{.fabric = fabric, .lids = lid_map});
  }

  [[nodiscard]] Gid gid(std::string_view host) const {
    return {kDefaultSubnetPrefix, guid_of(*view, host)};
  }

  [[nodiscard]] McMemberRecord member(std::string_view host, std::uint8_t state = 1) const {
    return {.mgid = kMgid,
            .port_gid = gid(host),
            .q_key = 0xb1b,
            .p_key = kDefaultPKey,
            .join_state = state};
  }

  Answer ask(Method method,
             std::uint64_t mask,
             const McMemberRecord& wanted,
             std::string_view from,
             bool trusted = false) {
    return put(sa::ask(method, RecordId::McMemberRecord, mask, wanted, 56), from, trusted);
  }

  Answer put(const Asked& asked, std::string_view from, bool trusted = false) {
    Query query = asked.query(trusted);
    query.client.lid = from.empty() ? Lid{99} : lid_of(*view, from);
    return manager.answer(*view, query).value_or(Answer{.status = Status::BadMethodAttribute});
  }

  static std::vector<McMemberRecord> records(const Answer& answer) {
    EXPECT_EQ(answer.status, Status::Ok);
    std::vector<McMemberRecord> out;
    for (std::size_t at = 0; at < answer.records.size(); at += 56)
      out.push_back(*decode_mc_member_record(std::span(answer.records).subspan(at)));
    return out;
  }

  std::shared_ptr<const SubnetView> view;
  std::shared_ptr<const LidMap> lid_map;
  std::optional<SnapshotLimits> subnet;
  GroupTable groups;
  MftMemory tables;
  unsigned changes = 0;
  GroupManager manager{
      {.groups = groups,
       .tables = tables,
       .subnet = [this]() -> const SubnetLimits* { return subnet ? &*subnet : nullptr; },
       .on_changed = [this] { ++changes; }}};
};

/// What `sa.foreign_gids = "refuse"` refuses: H2 puts H1 into a group, or takes it out.
TEST_F(GroupRecords, WhoSpeaksForAnotherIsSeen) {
  const auto speaks = [&](Method method, std::uint64_t mask, std::string_view from) {
    const Asked asked = sa::ask(method, RecordId::McMemberRecord, mask, member("H1"), 56);
    Query query = asked.query(false);
    query.requester = from.empty() ? kNone<PortIdx> : test::end_port(view->fabric(), from);
    return speaks_for_another(*view, query);
  };
  for (const Method method : {Method::Set, Method::Delete}) {
    EXPECT_TRUE(speaks(method, kJoin, "H2"));
    EXPECT_TRUE(speaks(method, kJoin, "")) << "nobody that is known";
    EXPECT_FALSE(speaks(method, kJoin, "H1"));
    EXPECT_FALSE(speaks(method, part::kMgid, "H2")) << "names no port";
  }
  EXPECT_FALSE(speaks(Method::Get, kJoin, "H2"));
}

TEST_F(GroupRecords, TheAnswerToAJoinIsTheGroup) {
  const auto made = records(ask(Method::Set, kCreate, member("H1"), "H1"));
  McMemberRecord wanted = member("H1");
  wanted.mlid = Lid{0xc000};
  wanted.mtu = {Selector::Exactly, 5};
  wanted.rate = {Selector::Exactly, 16};
  wanted.life_time = {Selector::Exactly, 18};
  wanted.scope = 2;
  EXPECT_THAT(made, ElementsAre(wanted));
  EXPECT_EQ(changes, 1u);
  // Only what the mask names counts.
  McMemberRecord other = member("H2");
  other.q_key = 77;
  EXPECT_EQ(records(ask(Method::Set, kJoin, other, "H2")).front().q_key, 0xb1bu);
  EXPECT_EQ(ask(Method::Set, kJoin | part::kQKey, other, "H2").status, Status::RequestInvalid);
  EXPECT_EQ(changes, 2u);
}

/// A switch in the middle that takes 2048 bytes puts nobody out of IPoIB with 4096.
TEST_F(GroupRecords, WhoCanTakeTheMtuOfAGroupOfTheSiteJoinsWhateverLiesBetween) {
  narrow(4);
  EXPECT_EQ(subnet->mtu_of_switches(), 4);
  groups.keep(*subnet, {{.mgid = kMgid, .p_key = kDefaultPKey, .q_key = 0xb1b, .mtu = 5}});
  EXPECT_EQ(records(ask(Method::Set, kJoin, member("H1"), "H1")).front().mtu.value, 5);
  McMemberRecord own = member("H2");
  own.mgid.guid = Guid{0x102};
  EXPECT_EQ(records(ask(Method::Set, kCreate, own, "H2")).front().mtu.value, 4)
      << "of a new one that asks for none";
}

/// The default group has 2048 bytes where nobody says otherwise.
TEST_F(GroupRecords, AGroupOfTheSiteIsNoLargerThanTheSiteLetsPortsBe) {
  subnet.emplace(SnapshotLimits::Parts{
      .fabric = std::make_shared<Fabric>(subnet->fabric()), .lids = lid_map, .mtu_max = 3});
  groups.keep(*subnet, {{.mgid = kMgid, .p_key = kDefaultPKey, .q_key = 0xb1b}});
  const auto joined = records(ask(Method::Set, kJoin, member("H1"), "H1"));
  ASSERT_THAT(joined, SizeIs(1));
  EXPECT_EQ(joined.front().mtu.value, 3);
}

TEST_F(GroupRecords, AGroupOfItsOwnIsNoLargerThanTheSiteLetsPortsBe) {
  subnet.emplace(SnapshotLimits::Parts{
      .fabric = std::make_shared<Fabric>(subnet->fabric()), .lids = lid_map, .mtu_max = 3});
  EXPECT_EQ(records(ask(Method::Set, kCreate, member("H1"), "H1")).front().mtu.value, 3);
}

TEST_F(GroupRecords, EveryRefusalHasItsStatus) {
  EXPECT_EQ(ask(Method::Set, kJoin, member("H1"), "H1").status, Status::InsufficientComponents);
  McMemberRecord nobody = member("H1");
  nobody.port_gid.guid = Guid{0x4711};
  EXPECT_EQ(ask(Method::Set, kCreate, nobody, "H1").status, Status::InvalidGid);
  EXPECT_EQ(ask(Method::Set, kCreate, member("H1"), "").status, Status::RequestInvalid)
      << "from a LID that is nobody's";
  EXPECT_EQ(ask(Method::Delete, kJoin, member("H1"), "H1").status, Status::RequestInvalid);
  EXPECT_EQ(ask(Method::GetTraceTable, kJoin, member("H1"), "H1").status,
            Status::BadMethodAttribute);
  subnet.reset();
  EXPECT_EQ(ask(Method::Set, kCreate, member("H1"), "H1").status, Status::Busy);
  EXPECT_EQ(changes, 0u);
}

TEST_F(GroupRecords, NoMlidsNoGroup) {
  auto fabric = std::make_shared<Fabric>(view->fabric());
  for (SwitchInfo& info : fabric->switch_info) info.multicast_fdb_cap = 0;
  subnet.emplace(SnapshotLimits::Parts{.fabric = fabric, .lids = view->parts().lids});
  EXPECT_EQ(ask(Method::Set, kCreate, member("H1"), "H1").status, Status::NoResources);
}

TEST_F(GroupRecords, WhoIsAtALimitHearsThatThereAreNoResources) {
  groups.set_limits({.groups_of_one_port = 1, .joins_of_one_port = 2});
  const auto make = [&](std::uint64_t number, std::string_view host) {
    McMemberRecord record = member(host);
    record.mgid.guid = Guid{number};
    return ask(Method::Set, kCreate, record, host).status;
  };
  EXPECT_EQ(make(1, "H1"), Status::Ok);
  EXPECT_EQ(make(2, "H1"), Status::NoResources);
  EXPECT_EQ(make(2, "H2"), Status::Ok);
  EXPECT_EQ(make(2, "H1"), Status::Ok) << "a join";
  EXPECT_EQ(make(3, "H3"), Status::Ok);
  EXPECT_EQ(make(3, "H1"), Status::NoResources) << "a third one";
  EXPECT_EQ(changes, 4u);
  // In the name of H2, from H1: H1's limit, and none of H2's.
  McMemberRecord forged = member("H2");
  forged.mgid.guid = Guid{4};
  EXPECT_EQ(ask(Method::Set, kCreate, forged, "H1").status, Status::NoResources);
  EXPECT_EQ(ask(Method::Set, kCreate, forged, "H1", true).status, Status::NoResources)
      << "with trust, too: who asks is who asks";
}

TEST_F(GroupRecords, LeavingSaysWhatRemains) {
  static_cast<void>(ask(Method::Set, kCreate, member("H1", 3), "H1"));
  EXPECT_EQ(records(ask(Method::Delete, kJoin, member("H1", 2), "H1")).front().join_state, 1);
  EXPECT_EQ(ask(Method::Delete, kJoin, member("H1", 1), "H2").status, Status::RequestInvalid);
  EXPECT_EQ(records(ask(Method::Delete, kJoin, member("H1", 1), "H1")).front().join_state, 0);
  EXPECT_THAT(groups.groups(), IsEmpty());
}

/// H1 has a further GUID, as one of its virtual functions uses it.
struct FurtherGid : GroupRecords {
  FurtherGid() {
    give_to("H1");
    further.port_gid.guid = Guid{0xa1};
  }

  /// No other port has it then.
  void give_to(const char* host) {
    ViewParts parts = view->parts();
    parts.aliases = std::make_shared<const std::map<Guid, std::vector<Guid>>>(
        std::map<Guid, std::vector<Guid>>{{guid_of(*view, host), {{}, Guid{0xa1}}}});
    view = std::make_shared<const SubnetView>(parts);
  }

  /// Of the group, as the trusted see it.
  std::map<Guid, unsigned> states() {
    std::map<Guid, unsigned> out;
    for (const McMemberRecord& each : records(ask(Method::GetTable, 0, {}, "H3", true)))
      out[each.port_gid.guid] = each.join_state;
    return out;
  }

  /// Ports that its tree is for.
  std::vector<MlidMember> in_tree() {
    const Group* group = groups.find(kMgid);
    return group == nullptr ? std::vector<MlidMember>{} : groups.members_of(group->mlid);
  }

  /// What `host` is told that asks for it.
  std::size_t count_of(const McMemberRecord& wanted, const char* host, bool trusted = false) {
    return ask(Method::GetTable, part::kPortGid | part::kMgid, wanted, host, trusted).count();
  }

  McMemberRecord further = member("H1");
  const Guid own = guid_of(*view, "H1");
};

TEST_F(FurtherGid, IsAMemberByItself) {
  const auto made = records(ask(Method::Set, kCreate, further, "H1"));
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_EQ(made[0].port_gid, further.port_gid) << "as it was asked for";
  EXPECT_FALSE(made[0].proxy_join) << "a port that joins under a GID of its own";
  EXPECT_THAT(states(), ElementsAre(Pair(Guid{0xa1}, 1u)));
  EXPECT_EQ(count_of(further, "H1"), 1u);
  EXPECT_EQ(count_of(further, "H1", true), 1u);
  EXPECT_EQ(count_of(further, "H2"), 0u) << "another port";
  EXPECT_EQ(count_of(member("H1"), "H1"), 0u) << "not asked for under that one";
  static_cast<void>(ask(Method::Set, kJoin, member("H1", 5), "H1"));
  EXPECT_THAT(states(), UnorderedElementsAre(Pair(own, 5u), Pair(Guid{0xa1}, 1u)));
  EXPECT_THAT(in_tree(), ElementsAre(MlidMember{own, true, true})) << "one port";
}

TEST_F(FurtherGid, LeavesAlone) {
  static_cast<void>(ask(Method::Set, kCreate, member("H1"), "H1"));
  static_cast<void>(ask(Method::Set, kJoin, further, "H1"));
  EXPECT_EQ(ask(Method::Delete, kJoin, further, "H2").status, Status::RequestInvalid);
  const auto left = records(ask(Method::Delete, kJoin, further, "H1"));
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].port_gid, further.port_gid);
  EXPECT_EQ(left[0].join_state, 0);
  EXPECT_THAT(states(), ElementsAre(Pair(own, 1u)));
  EXPECT_EQ(ask(Method::Delete, kJoin, further, "H1").status, Status::RequestInvalid) << "twice";
  EXPECT_THAT(in_tree(), SizeIs(1));
  EXPECT_EQ(ask(Method::Delete, kJoin, member("H1"), "H1").status, Status::Ok);
  EXPECT_THAT(groups.groups(), IsEmpty());
}

TEST_F(FurtherGid, ThatNobodyHasJoinsNothing) {
  further.port_gid.guid = Guid{0xa2};
  EXPECT_EQ(ask(Method::Set, kCreate, further, "H1").status, Status::InvalidGid);
}

/// A virtual machine moves: its memberships under the old port end where it joins from the new one.
TEST_F(FurtherGid, ThatAnotherPortHasNowIsAMemberThere) {
  static_cast<void>(ask(Method::Set, kCreate, further, "H1"));
  give_to("H2");
  EXPECT_EQ(ask(Method::Delete, kJoin, further, "H2").status, Status::RequestInvalid)
      << "what H1 joined";
  EXPECT_EQ(records(ask(Method::Set, kCreate, further, "H2")).front().join_state, 1);
  EXPECT_THAT(states(), ElementsAre(Pair(Guid{0xa1}, 1u)));
  EXPECT_THAT(in_tree(), ElementsAre(MlidMember{guid_of(*view, "H2"), true, true}));
}

/// Each GID counts: else one port would have as many memberships as all its GIDs together.
TEST_F(FurtherGid, CountsAgainstTheLimitOfItsPort) {
  groups.set_limits({.joins_of_one_port = 1});
  static_cast<void>(ask(Method::Set, kCreate, member("H1"), "H1"));
  EXPECT_EQ(ask(Method::Set, kJoin, further, "H1").status, Status::NoResources);
  EXPECT_EQ(ask(Method::Set, kJoin, member("H2"), "H2").status, Status::Ok);
}

TEST_F(GroupRecords, TheTrustedSeeEveryMember) {
  static_cast<void>(ask(Method::Set, kCreate, member("H1"), "H1"));
  static_cast<void>(ask(Method::Set, kJoin, member("H2", 4), "H3"));
  const auto all = records(ask(Method::GetTable, 0, {}, "H3", true));
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].port_gid, gid("H1"));
  EXPECT_EQ(all[1].join_state, 4);
  EXPECT_TRUE(all[1].proxy_join);
  EXPECT_THAT(records(ask(Method::GetTable, part::kPortGid, member("H2"), "H3", true)), SizeIs(1));
  EXPECT_THAT(records(ask(Method::GetTable, part::kJoinState, member("H1", 4), "H3", true)),
              SizeIs(1));
}

TEST_F(GroupRecords, OthersSeeGroupsAndNobodyInThem) {
  static_cast<void>(ask(Method::Set, kCreate, member("H1"), "H1"));
  static_cast<void>(ask(Method::Set, kJoin, member("H2"), "H2"));
  const auto seen = records(ask(Method::GetTable, 0, {}, "H3"));
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].mgid, kMgid);
  EXPECT_EQ(seen[0].port_gid, Gid{});
  EXPECT_EQ(seen[0].join_state, 0);
  // They may ask for themselves, and for nobody else.
  EXPECT_THAT(records(ask(Method::GetTable, part::kPortGid, member("H2"), "H2")), SizeIs(1));
  EXPECT_THAT(records(ask(Method::GetTable, part::kPortGid, member("H2"), "H3")), IsEmpty());
  EXPECT_THAT(records(ask(Method::GetTable, part::kJoinState, member("H2"), "H3")), IsEmpty());
}

TEST_F(GroupRecords, GroupsOfOtherPartitionsAreNotThere) {
  static_cast<void>(groups.keep(*subnet, {{.mgid = kMgid, .p_key = PKey{0x8123}}}));
  EXPECT_THAT(records(ask(Method::GetTable, 0, {}, "H1")), IsEmpty());
}

TEST_F(GroupRecords, FoundByWhatTheyAreLike) {
  static_cast<void>(ask(Method::Set, kCreate, member("H1"), "H1"));
  McMemberRecord wanted = member("H1");
  const auto found = [&](std::uint64_t mask) {
    return records(ask(Method::GetTable, mask, wanted, "H2")).size();
  };
  EXPECT_EQ(found(part::kMgid | part::kQKey | part::kPKey), 1u);
  wanted.mlid = Lid{0xc001};
  EXPECT_EQ(found(part::kMlid), 0u);
  wanted.mtu = {Selector::GreaterThan, 4};
  wanted.rate = {Selector::LessThan, 17};
  EXPECT_EQ(found(part::kMtuSelector | part::kMtu | part::kRateSelector | part::kRate), 1u);
  wanted.mtu = {Selector::LessThan, 5};
  EXPECT_EQ(found(part::kMtuSelector | part::kMtu), 0u);
  wanted.mgid.guid = Guid{1};
  EXPECT_EQ(found(part::kMgid), 0u);
  EXPECT_EQ(ask(Method::Get, part::kMgid, wanted, "H2").status, Status::NoRecords);
}

/// A limited member knows the partition by a P_Key that the group does not have.
TEST_F(GroupRecords, FoundByThePartitionWhateverTheMembership) {
  groups.keep(*subnet, {{.mgid = kMgid, .p_key = kDefaultPKey, .q_key = 0xb1b}});
  McMemberRecord wanted = member("H1");
  for (const auto& [p_key, count] :
       {std::pair(0xffffu, 1u), std::pair(0x7fffu, 1u), std::pair(0x8001u, 0u)}) {
    wanted.p_key = PKey{static_cast<std::uint16_t>(p_key)};
    const auto found = records(ask(Method::GetTable, part::kPKey, wanted, "H2"));
    ASSERT_THAT(found, SizeIs(count)) << p_key;
    for (const McMemberRecord& each : found)
      EXPECT_EQ(each.p_key, kDefaultPKey) << "as the group has it";
  }
}

TEST_F(GroupRecords, TablesOfSwitches) {
  const Guid first = view->fabric().node_guid[test::node(view->fabric(), "S1")];
  tables.confirm(first, {.block = 1, .position = 2}, MftBlock{7});
  tables.confirm(view->fabric().node_guid[test::node(view->fabric(), "S2")], {}, MftBlock{9});
  const auto find = [&](std::uint64_t mask, const MftRecord& wanted) {
    return put(sa::ask(Method::GetTable, RecordId::MftRecord, mask, wanted, 72), "H1");
  };
  EXPECT_EQ(find(0, {}).count(), 2u);
  const MftRecord wanted{.lid = lid_of(*view, "S1"), .position = 2, .block = 1};
  const Answer found = find(component_bit(0) | component_bit(1) | component_bit(3), wanted);
  ASSERT_EQ(found.count(), 1u);
  EXPECT_EQ(decode_mft_record(found.records)->masks[0], 7);
  EXPECT_EQ(find(component_bit(3), {.block = 2}).count(), 0u);
  EXPECT_EQ(put(sa::ask(Method::Set, RecordId::MftRecord, 0, wanted, 72), "H1").status,
            Status::BadMethodAttribute);
}

TEST_F(GroupRecords, AnyLidOfPort0NamesItsSwitch) {
  ViewParts parts = view->parts();
  auto lids = std::make_shared<LidMap>(*parts.lids);
  constexpr Lid base{32};
  set_lid(*lids, test::end_port(*parts.fabric, "S1"), base, 2);
  parts.lids = lids;
  view = std::make_shared<const SubnetView>(parts);
  tables.confirm(view->fabric().node_guid[test::node(view->fabric(), "S1")], {}, MftBlock{7});
  const MftRecord wanted{.lid = Lid{35}};
  const Answer found =
      put(sa::ask(Method::GetTable, RecordId::MftRecord, component_bit(0), wanted, 72), "H1");
  ASSERT_EQ(found.count(), 1u);
  EXPECT_EQ(decode_mft_record(found.records)->lid, base);
}

TEST(MulticastRecords, AreWhatTheyWere) {
  std::array<std::byte, kDataSize> data{};
  const McMemberRecord member{.mgid = kMgid,
                              .port_gid = {1, Guid{2}},
                              .q_key = 3,
                              .mlid = Lid{0xc004},
                              .mtu = {Selector::Exactly, 4},
                              .tclass = 5,
                              .p_key = PKey{6},
                              .rate = {Selector::LessThan, 7},
                              .life_time = {Selector::Best, 8},
                              .sl = 9,
                              .flow_label = 0xabcde,
                              .hop_limit = 10,
                              .scope = 11,
                              .join_state = 12,
                              .proxy_join = true};
  encode_record(member, std::span(data).first(kMcMemberRecord.size));
  EXPECT_EQ(*decode_mc_member_record(data), member);
  const MftRecord table{.lid = Lid{1}, .position = 15, .block = 511, .masks = {1, 2}};
  encode_record(table, std::span(data).first(kMftRecord.size));
  EXPECT_EQ(*decode_mft_record(data), table);
  EXPECT_FALSE(decode_mc_member_record(std::span(data).first(49)));
  EXPECT_FALSE(decode_mft_record(std::span(data).first(71)));
}

}  // namespace groups_test
}  // namespace smd::sa
