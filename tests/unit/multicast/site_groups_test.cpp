// Groups that the site wants, and groups of IPoIB that hosts create like its broadcast group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/multicast/group_bench.h"

namespace smd {
namespace site_groups_test {

using test::creation;
using test::joining;
using test::kElse;
using test::kMgid;
using test::port_gid;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SiteGroups : public test::Groups {};

TEST_F(SiteGroups, WhatTheSiteWantsLivesWithoutMembers) {
  const PreconfiguredGroup preconfigured{.mgid = kMgid, .p_key = kDefaultPKey, .q_key = 0xb1b};
  EXPECT_THAT(table.keep(subnet, {preconfigured}), IsEmpty());
  ASSERT_NE(table.find(kMgid), nullptr);
  EXPECT_EQ(table.find(kMgid)->traits.mtu, 4);
  EXPECT_EQ(table.find(kMgid)->traits.hop_limit, 0);
  ASSERT_TRUE(join(joining(9))) << "the slow one fits: 10 Gb/s and 2048 bytes";
  ASSERT_TRUE(leave(joining(9)));
  EXPECT_NE(table.find(kMgid), nullptr);
  table.drop([](Guid, const Group&) { return true; });
  EXPECT_NE(table.find(kMgid), nullptr);
  // No longer wanted: gone with its last member.
  ASSERT_TRUE(join(joining(2)));
  EXPECT_THAT(table.keep(subnet, {}), IsEmpty());
  EXPECT_NE(table.find(kMgid), nullptr);
  ASSERT_TRUE(leave(joining(2)));
  EXPECT_EQ(table.find(kMgid), nullptr);
}

TEST_F(SiteGroups, WhatTheSiteMakesSomethingElseOfIsSaidWhereThereAreMembers) {
  PreconfiguredGroup group{.mgid = kMgid, .p_key = kDefaultPKey, .q_key = 0xb1b};
  const auto changes = [&](auto change) {
    change(group);
    EXPECT_THAT(table.keep(subnet, {group}), IsEmpty());
    return !table.take_changed_partitions().empty();
  };
  EXPECT_FALSE(changes([](PreconfiguredGroup&) {})) << "a new one";
  EXPECT_FALSE(changes([](PreconfiguredGroup& g) { g.q_key = 1; })) << "nobody is in it";
  ASSERT_TRUE(join(joining(2)));
  EXPECT_FALSE(changes([](PreconfiguredGroup&) {}));
  EXPECT_TRUE(changes([](PreconfiguredGroup& g) { g.q_key = 2; }));
  EXPECT_TRUE(changes([](PreconfiguredGroup& g) { g.sl = 2; }));
  EXPECT_TRUE(changes([](PreconfiguredGroup& g) { g.mtu = 5; }));
  EXPECT_TRUE(changes([](PreconfiguredGroup& g) { g.rate = 16; }));
  EXPECT_FALSE(changes([](PreconfiguredGroup& g) { g.partition = "A"; })) << "a name for people";
  // One that hosts created, and that the site wants now.
  ASSERT_TRUE(join(creation(1, kElse)));
  EXPECT_THAT(table.keep(subnet, {group, {.mgid = kElse, .p_key = kDefaultPKey, .q_key = 7}}),
              IsEmpty());
  EXPECT_THAT(table.take_changed_partitions(), ElementsAre(0x7fff));
  EXPECT_THAT(table.take_changed_partitions(), IsEmpty());
}

// A host gives all its IPoIB groups what the broadcast group has (RFC 4391), and once it has been
// asked to register again it knows no more of what that had before.
TEST_F(SiteGroups, WhatIpoibMadeLikeTheBroadcastGroupFollowsIt) {
  PreconfiguredGroup broadcast{
      .mgid = ipoib_broadcast(kDefaultPKey), .p_key = kDefaultPKey, .q_key = 0xb1b};
  const auto as_the_broadcast_group = [&](std::uint64_t port, Gid mgid) {
    GroupRequest request = creation(port, mgid);
    const GroupTraits& traits = table.find(broadcast.mgid)->traits;
    request.q_key = traits.q_key;
    request.mtu = Bound{Selector::Exactly, traits.mtu};
    request.rate = Bound{Selector::Exactly, traits.rate};
    request.sl = traits.sl;
    request.tclass = traits.tclass;
    request.flow_label = traits.flow_label;
    request.hop_limit = traits.hop_limit;
    return join(request);
  };
  constexpr Gid kIpv6{0xff12601bffff0000u, Guid{0x1ff000001}};
  constexpr Gid kProgram{0xff12a01cffff0000u, Guid{1}};
  constexpr Gid kOwnQKey{0xff12401bffff0000u, Guid{0x103}};
  constexpr Gid kSites{0xff12401bffff0000u, Guid{0x104}};
  ASSERT_THAT(table.keep(subnet, {broadcast}), IsEmpty());
  ASSERT_TRUE(join({.mgid = broadcast.mgid, .port_gid = port_gid(1), .join_state = 1}));
  for (const Gid& mgid : {kMgid, kIpv6, kProgram, kSites})
    ASSERT_TRUE(as_the_broadcast_group(1, mgid));
  GroupRequest own = creation(1, kOwnQKey);
  own.q_key = 5;
  ASSERT_TRUE(join(own));
  const PreconfiguredGroup sites{.mgid = kSites, .p_key = kDefaultPKey, .q_key = 0xb1b};
  const auto changes = [&](auto change) {
    change(broadcast);
    static_cast<void>(table.take_touched());
    static_cast<void>(table.take_changed_groups());
    EXPECT_THAT(table.keep(subnet, {broadcast, sites}), IsEmpty());
    EXPECT_THAT(table.take_changed_partitions(), ElementsAre(0x7fff));
    for (const Gid& mgid : {kMgid, kIpv6}) {
      EXPECT_TRUE(as_the_broadcast_group(1, mgid)) << print_gid(mgid);
      EXPECT_TRUE(as_the_broadcast_group(2, mgid)) << print_gid(mgid);
    }
    const auto noted = table.take_changed_groups();
    EXPECT_TRUE(noted && noted->contains(kMgid) && noted->contains(kIpv6)) << "to be kept";
    EXPECT_THAT(table.take_touched(), Contains(table.find(kMgid)->mlid)) << "copies are made anew";
    EXPECT_EQ(table.find(kProgram)->traits.mtu, 4) << "no group of IPoIB";
    EXPECT_EQ(table.find(kProgram)->traits.q_key, 0xb1bu);
    EXPECT_EQ(table.find(kSites)->traits.q_key, 0xb1bu) << "the site says of it what it shall be";
    EXPECT_EQ(table.find(kOwnQKey)->traits.q_key, 5u) << "never like it";
  };
  changes([](PreconfiguredGroup& g) { g.q_key = 0xb1c; });
  changes([](PreconfiguredGroup& g) { g.mtu = 5; });
  changes([](PreconfiguredGroup& g) { g.rate = 16; });
  changes([](PreconfiguredGroup& g) { g.sl = 3; });
  changes([](PreconfiguredGroup& g) { g.tclass = 7; });
}

TEST_F(SiteGroups, TheSlThatAllGroupsHaveForNowIsNotKeptAsTheirOwn) {
  ASSERT_THAT(
      table.keep(subnet, {{.mgid = ipoib_broadcast(kDefaultPKey), .p_key = kDefaultPKey, .sl = 3}}),
      IsEmpty());
  subnet.lane = 15;
  GroupRequest of_ipoib = creation();
  GroupRequest other = creation(1, {0xff15a01cffff0000u, Guid{1}});
  GroupRequest own = creation(1, kElse);
  of_ipoib.sl = other.sl = 15;
  own.sl = 4;
  for (const GroupRequest& each : {of_ipoib, other, own}) {
    ASSERT_TRUE(join(each));
    EXPECT_TRUE(join(each)) << "again";
  }
  subnet.lane.reset();
  of_ipoib.sl = 3;
  other.sl = 0;
  for (const GroupRequest& each : {of_ipoib, other, own}) EXPECT_TRUE(join(each)) << +*each.sl;
}

// A host that was let into the broadcast group sends packets of that size to all its groups.
TEST_F(SiteGroups, IpoibGetsTheMtuOfTheBroadcastGroupWhateverSwitchesCarry) {
  subnet.mtu_of_switches = 4;
  const Gid broadcast = ipoib_broadcast(kDefaultPKey);
  ASSERT_THAT(table.keep(subnet, {{.mgid = broadcast, .p_key = kDefaultPKey, .mtu = 5}}),
              IsEmpty());
  ASSERT_TRUE(join({.mgid = broadcast, .port_gid = port_gid(1), .join_state = 1}));
  const auto asks = [&](Gid mgid, std::uint8_t mtu) {
    GroupRequest request = creation(1, mgid);
    request.mtu = Bound{Selector::Exactly, mtu};
    return join(request);
  };
  constexpr Gid kIpv6{0xff12601bffff0000u, Guid{0x1ff000001}};
  for (const Gid& mgid : {kMgid, kIpv6}) {
    const auto made = asks(mgid, 5);
    ASSERT_TRUE(made) << print_gid(mgid);
    EXPECT_EQ(made->traits.mtu, 5);
  }
  EXPECT_EQ(asks(kElse, 4)->traits.mtu, 4);
  EXPECT_FALSE(asks({0xff15a01cffff0000u, Guid{1}}, 5)) << "no group of IPoIB";
  EXPECT_FALSE(asks({0xff15401bffff0000u, Guid{1}}, 5)) << "of a scope without a broadcast group";
}

}  // namespace site_groups_test
}  // namespace smd
