// Groups by the rules of IBA 15.2.5.17: who may make one, who fits, what remains.
#include "smd/multicast/group_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "smd/base/rng.h"
#include "smd/multicast/group.h"
#include "tests/unit/multicast/group_bench.h"

namespace smd {
namespace {

using test::creation;
using test::FakeRealm;
using test::Groups;
using test::joining;
using test::kElse;
using test::kMgid;
using test::kOther;
using test::port_gid;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_F(Groups, AFullMemberMakesOne) {
  const auto made = join(creation());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->mgid, kMgid);
  EXPECT_EQ(made->mlid, Lid{0xc000});
  EXPECT_EQ(made->port, Guid{1});
  EXPECT_EQ(made->member, (Member{.join_state = 1}));
  EXPECT_EQ(made->traits,
            (GroupTraits{.q_key = 0xb1b,
                         .p_key = kDefaultPKey,
                         .mtu = 5,
                         .rate = 16,
                         .life_time = 18,
                         .scope = 2}));
  EXPECT_THAT(table.take_changes(), ElementsAre(GroupChange{kMgid, kDefaultPKey, true}));
  EXPECT_THAT(table.take_touched(), ElementsAre(Lid{0xc000}));
  EXPECT_THAT(table.take_touched(), IsEmpty());
}

TEST_F(Groups, WhatACreationMustSay) {
  const auto without = [](auto leave_out) {
    GroupRequest request = creation();
    leave_out(request);
    return request;
  };
  for (const GroupRequest& request : {without([](GroupRequest& r) { r.q_key.reset(); }),
                                      without([](GroupRequest& r) { r.p_key.reset(); }),
                                      without([](GroupRequest& r) { r.tclass.reset(); }),
                                      without([](GroupRequest& r) { r.flow_label.reset(); }),
                                      without([](GroupRequest& r) { r.sl.reset(); }),
                                      without([](GroupRequest& r) { r.join_state.reset(); })})
    EXPECT_EQ(refusal(table.join(subnet, request, Guid{1})), Refusal::InsufficientComponents);
  GroupRequest nobody = creation();
  nobody.port_gid.reset();
  EXPECT_EQ(refusal(table.join(subnet, nobody, Guid{1})), Refusal::InsufficientComponents);
  EXPECT_THAT(table.groups(), IsEmpty());
}

TEST_F(Groups, OnlyAFullMemberMakesOne) {
  for (const std::uint8_t state : std::initializer_list<std::uint8_t>{0, 2, 4, 6}) {
    GroupRequest request = creation();
    request.join_state = state;
    EXPECT_EQ(refusal(join(request)), Refusal::RequestInvalid) << int{state};
  }
  GroupRequest sender = creation();
  sender.join_state = join_state::kSendOnlyFull;
  EXPECT_TRUE(join(sender));
}

TEST_F(Groups, PortsMustBeHere) {
  EXPECT_EQ(refusal(join(creation(77))), Refusal::InvalidGid);
  GroupRequest elsewhere = creation();
  elsewhere.port_gid->prefix = 0xfec0000000000099u;
  EXPECT_EQ(refusal(join(elsewhere)), Refusal::InvalidGid);
  elsewhere.port_gid->prefix = subnet.subnet_prefix();
  EXPECT_TRUE(join(elsewhere));
}

TEST_F(Groups, MgidsThatMayNotBeAskedFor) {
  const auto ask = [&](std::uint64_t prefix) { return join(creation(1, {prefix, Guid{0x55}})); };
  EXPECT_EQ(refusal(ask(0xfe12401bffff0000u)), Refusal::RequestInvalid) << "unicast";
  EXPECT_EQ(refusal(ask(0xff22000000000000u)), Refusal::RequestInvalid) << "reserved flag";
  EXPECT_EQ(refusal(ask(0xff12a01b00000000u)), Refusal::RequestInvalid) << "assigned, link-local";
  EXPECT_TRUE(ask(0xff15a01b00000000u)) << "assigned elsewhere";
  EXPECT_TRUE(ask(0xff02000000000000u)) << "permanent";
  EXPECT_TRUE(ask(0xff22601bffff0000u)) << "IPoIB: flags are not looked at";
}

TEST_F(Groups, TheScopeIsTheMgids) {
  // Also one that IBA reserves, and whatever the request says beside it.
  GroupRequest scoped = creation(1, {0xff1fa01cfe800000u, Guid{0x12345678}});
  scoped.scope = 2;
  for (int times = 0; times < 2; ++times) {
    const auto made = join(scoped);
    ASSERT_TRUE(made) << "created, then joined";
    EXPECT_EQ(made->traits.scope, 15);
  }
}

TEST_F(Groups, TheTableMakesUpMgids) {
  std::set<Gid> seen;
  for (int i = 0; i < 3; ++i) {
    GroupRequest request = creation(1, Gid{});
    request.scope = 5;
    const auto made = join(request);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->mgid.prefix, 0xff15a01bfec00000u);
    EXPECT_EQ(made->mgid.guid.value() >> 32, 1u) << "the rest of the prefix";
    EXPECT_TRUE(seen.insert(made->mgid).second);
  }
  GroupRequest unnamed = creation();
  unnamed.mgid.reset();
  EXPECT_EQ(mgid_scope(join(unnamed)->mgid), kLinkLocalScope);
  unnamed.scope = 0;
  EXPECT_EQ(refusal(join(unnamed)), Refusal::RequestInvalid);
}

struct BoundCase {
  Bound asked;
  int got;  // 0: refused
};

TEST_F(Groups, MtuOfANewOne) {
  for (const auto& [asked, got] : {BoundCase{{Selector::GreaterThan, 3}, 5},
                                   BoundCase{{Selector::GreaterThan, 5}, 0},
                                   BoundCase{{Selector::LessThan, 4}, 3},
                                   BoundCase{{Selector::LessThan, 9}, 5},
                                   BoundCase{{Selector::LessThan, 1}, 0},
                                   BoundCase{{Selector::Exactly, 4}, 4},
                                   BoundCase{{Selector::Exactly, 6}, 0},
                                   BoundCase{{Selector::Exactly, 0}, 0},
                                   BoundCase{{Selector::Best, 0}, 5}}) {
    GroupTable unwritten;
    GroupRequest request = creation();
    request.mtu = asked;
    const auto made = unwritten.join(subnet, request, Guid{1});
    EXPECT_EQ(made ? int{made->traits.mtu} : 0, got) << int{asked.value};
  }
}

TEST_F(Groups, RateOfANewOneInTheOrderOfSpeed) {
  // Codes: 4 is 30 Gb/s, 7 is 40, 15 is 25, 16 is 100, 17 is 200.
  for (const auto& [asked, got] : {BoundCase{{Selector::GreaterThan, 7}, 16},
                                   BoundCase{{Selector::GreaterThan, 16}, 0},
                                   BoundCase{{Selector::LessThan, 4}, 19},
                                   BoundCase{{Selector::LessThan, 17}, 16},
                                   BoundCase{{Selector::LessThan, 2}, 0},
                                   BoundCase{{Selector::Exactly, 15}, 15},
                                   BoundCase{{Selector::Exactly, 17}, 0},
                                   BoundCase{{Selector::Exactly, 1}, 0},
                                   BoundCase{{Selector::Best, 0}, 16}}) {
    GroupTable unwritten;
    GroupRequest request = creation();
    request.rate = asked;
    const auto made = unwritten.join(subnet, request, Guid{1});
    EXPECT_EQ(made ? int{made->traits.rate} : 0, got) << int{asked.value};
  }
}

TEST_F(Groups, LifetimeOfANewOne) {
  for (const auto& [asked, got] : {BoundCase{{Selector::GreaterThan, 3}, 18},
                                   BoundCase{{Selector::GreaterThan, 20}, 21},
                                   BoundCase{{Selector::GreaterThan, 63}, 0},
                                   BoundCase{{Selector::LessThan, 19}, 18},
                                   BoundCase{{Selector::LessThan, 18}, 0},
                                   BoundCase{{Selector::Exactly, 20}, 20},
                                   BoundCase{{Selector::Exactly, 17}, 0},
                                   BoundCase{{Selector::Best, 0}, 18}}) {
    GroupTable unwritten;
    GroupRequest request = creation();
    request.life_time = asked;
    const auto made = unwritten.join(subnet, request, Guid{1});
    EXPECT_EQ(made ? int{made->traits.life_time} : 0, got) << int{asked.value};
  }
}

TEST_F(Groups, WhoJoinsNeedsNoMoreThanItsName) {
  ASSERT_TRUE(join(creation()));
  const auto joined = join(joining(2, join_state::kNonMember));
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->mlid, Lid{0xc000});
  EXPECT_EQ(joined->traits.q_key, 0xb1bu);
  EXPECT_EQ(table.groups().size(), 1u);
  // States add up, and come back in the answer.
  EXPECT_EQ(join(joining(2, join_state::kSendOnly))->member.join_state, 6);
  EXPECT_EQ(refusal(join(joining(3, 0))), Refusal::RequestInvalid);
}

TEST_F(Groups, WhatAJoinSaysMustBeSo) {
  ASSERT_TRUE(join(creation()));
  const auto with = [](auto say) {
    GroupRequest request = joining(2);
    say(request);
    return request;
  };
  for (const GroupRequest& request : {with([](GroupRequest& r) { r.q_key = 0xb1c; }),
                                      with([](GroupRequest& r) { r.p_key = kOther; }),
                                      with([](GroupRequest& r) { r.tclass = 1; }),
                                      with([](GroupRequest& r) { r.sl = 1; }),
                                      with([](GroupRequest& r) { r.flow_label = 1; }),
                                      with([](GroupRequest& r) { r.hop_limit = 9; }),
                                      with([](GroupRequest& r) { r.mlid = Lid{0xc001}; }),
                                      with([](GroupRequest& r) {
                                        r.mtu = Bound{Selector::GreaterThan, 5};
                                      }),
                                      with([](GroupRequest& r) {
                                        r.mtu = Bound{Selector::LessThan, 5};
                                      }),
                                      with([](GroupRequest& r) {
                                        r.mtu = Bound{Selector::Exactly, 4};
                                      }),
                                      with([](GroupRequest& r) {
                                        r.rate = Bound{Selector::GreaterThan, 17};
                                      }),
                                      with([](GroupRequest& r) {
                                        r.rate = Bound{Selector::LessThan, 7};
                                      }),
                                      with([](GroupRequest& r) {
                                        r.rate = Bound{Selector::Exactly, 7};
                                      }),
                                      with([](GroupRequest& r) {
                                        r.life_time = Bound{Selector::LessThan, 18};
                                      })})
    EXPECT_EQ(refusal(join(request)), Refusal::RequestInvalid);
  GroupRequest all = creation(2);
  all.p_key = PKey{0x7fff};  // a limited member says so
  all.mtu = Bound{Selector::GreaterThan, 4};
  all.rate = Bound{Selector::LessThan, 17};
  all.mlid = Lid{0xc000};
  EXPECT_TRUE(join(all));
}

TEST_F(Groups, ASlowPortDoesNotFit) {
  ASSERT_TRUE(join(creation()));
  EXPECT_EQ(refusal(join(joining(9))), Refusal::RequestInvalid);
  GroupRequest slow = creation(9, {0xff12401bffff0000u, Guid{0x102}});
  EXPECT_EQ(join(slow)->traits.mtu, 4);
  EXPECT_EQ(join(slow)->traits.rate, 3);
}

TEST_F(Groups, PartitionsAreKeptApart) {
  ASSERT_TRUE(join(creation()));
  EXPECT_EQ(refusal(join(joining(7))), Refusal::RequestInvalid);
  GroupRequest request = creation(1, {0xff12401b81230000u, Guid{1}});
  request.p_key = kOther;
  EXPECT_EQ(refusal(join(request)), Refusal::RequestInvalid);
  request.port_gid = port_gid(8);
  EXPECT_TRUE(join(request));
  request = creation(1, {0xff12401b00000000u, Guid{1}});
  request.p_key = PKey{0x8000};
  EXPECT_EQ(refusal(join(request)), Refusal::RequestInvalid) << "no partition has this number";
}

TEST_F(Groups, JoiningForSomebodyElse) {
  ASSERT_TRUE(join(creation()));
  EXPECT_EQ(refusal(table.join(subnet, joining(2), Guid{7})), Refusal::RequestInvalid)
      << "no common partition";
  const auto joined = table.join(subnet, joining(2), Guid{3});
  ASSERT_TRUE(joined);
  EXPECT_TRUE(joined->member.proxy_join);
  // Whoever is of the partition may change it, also somebody else.
  EXPECT_EQ(refusal(table.leave(subnet, joining(2), Guid{7})), Refusal::RequestInvalid);
  EXPECT_TRUE(table.leave(subnet, joining(2), Guid{4}));
  // What the port did itself is its own affair.
  ASSERT_TRUE(join(joining(2)));
  EXPECT_EQ(refusal(table.leave(subnet, joining(2), Guid{3})), Refusal::RequestInvalid);
  EXPECT_EQ(refusal(table.join(subnet, joining(2, join_state::kNonMember), Guid{3})),
            Refusal::RequestInvalid);
}

TEST_F(Groups, WhatAPortJoinsItselfIsItsOwnAffairWhoeverJoinedForItBefore) {
  table.set_limits({.joins_of_one_port = 1});
  ASSERT_TRUE(join(creation()));
  ASSERT_TRUE(table.join(subnet, joining(2), Guid{3}));
  static_cast<void>(table.take_changed_members());
  const std::uint64_t version = table.version();
  const auto joined = join(joining(2));
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->member, (Member{.join_state = 1}));
  EXPECT_THAT(table.take_changed_members(), testing::Optional(ElementsAre(Pair(kMgid, Guid{2}))));
  EXPECT_GT(table.version(), version);
  EXPECT_EQ(refusal(table.leave(subnet, joining(2), Guid{3})), Refusal::RequestInvalid);
  EXPECT_EQ(refusal(table.leave(subnet, joining(2), Guid{4})), Refusal::RequestInvalid);
  EXPECT_EQ(refusal(table.join(subnet, joining(2, join_state::kNonMember), Guid{3})),
            Refusal::RequestInvalid);
  // It counts against the port itself, and no longer against who asked first.
  ASSERT_TRUE(table.join(subnet, joining(4), Guid{3}));
  EXPECT_EQ(refusal(join(creation(2, kElse))), Refusal::NoResources);
  ASSERT_TRUE(table.leave(subnet, joining(4), Guid{3}));
  // Where it has no room the proxy's membership stays as it is.
  ASSERT_TRUE(leave(joining(2)));
  ASSERT_TRUE(join(creation(2, kElse)));
  ASSERT_TRUE(table.join(subnet, joining(2), Guid{3}));
  EXPECT_EQ(refusal(join(joining(2))), Refusal::NoResources);
  EXPECT_TRUE(table.leave(subnet, joining(2), Guid{3}));
}

/// Port 6 is of both partitions.
class BridgedRealm final : public SubnetLimits {
 public:
  [[nodiscard]] std::optional<Ability> find_port(Guid port) const override {
    return realm_.find_port(port);
  }

  [[nodiscard]] bool in_partition(Guid port, PKey p_key) const override {
    return port == Guid{6} || realm_.in_partition(port, p_key);
  }

  [[nodiscard]] bool share_partition(Guid a, Guid b) const override {
    return a == Guid{6} || b == Guid{6} || realm_.share_partition(a, b);
  }

  [[nodiscard]] std::uint64_t subnet_prefix() const override { return realm_.subnet_prefix(); }

  [[nodiscard]] std::uint8_t life_time() const override { return realm_.life_time(); }

  [[nodiscard]] std::uint32_t mlids() const override { return realm_.mlids(); }

 private:
  FakeRealm realm_;
};

TEST_F(Groups, WhoJoinsForSomebodyElseIsOfTheGroupsPartition) {
  const BridgedRealm both;
  GroupRequest request = creation(6);
  request.p_key = kOther;
  EXPECT_EQ(refusal(table.join(both, request, Guid{1})), Refusal::RequestInvalid)
      << "1 shares the default partition with 6, and is not of the group's";
  EXPECT_THAT(table.groups(), IsEmpty());
  ASSERT_TRUE(table.join(both, request, Guid{7}));
  EXPECT_EQ(refusal(table.join(both, joining(8), Guid{1})), Refusal::RequestInvalid);
  ASSERT_TRUE(table.join(both, joining(8), Guid{6}));
  ASSERT_TRUE(table.leave(both, joining(6), Guid{7}));
  EXPECT_EQ(refusal(table.join(both, joining(6), Guid{1})), Refusal::RequestInvalid);
  EXPECT_EQ(table.find(kMgid)->members.size(), 1u);
}

TEST_F(Groups, LeavingTakesBitsAway) {
  ASSERT_TRUE(join(creation()));
  ASSERT_TRUE(join(joining(2, 7)));
  EXPECT_EQ(refusal(leave(joining(2, 8))), Refusal::RequestInvalid) << "a bit that is not set";
  EXPECT_EQ(refusal(leave(joining(2, 0))), Refusal::RequestInvalid);
  EXPECT_EQ(refusal(leave(joining(3))), Refusal::RequestInvalid) << "no member";
  EXPECT_EQ(leave(joining(2, 3))->member.join_state, 4);
  EXPECT_EQ(leave(joining(2, 4))->member.join_state, 0);
  EXPECT_EQ(table.find(kMgid)->members.size(), 1u);
  GroupRequest nowhere = joining(2);
  nowhere.mgid = Gid{0xff12401bffff0000u, Guid{0x999}};
  EXPECT_EQ(refusal(leave(nowhere)), Refusal::RequestInvalid);
  nowhere.mgid.reset();
  EXPECT_EQ(refusal(leave(nowhere)), Refusal::InsufficientComponents);
}

TEST_F(Groups, TheLastFullMemberTakesTheGroupWithIt) {
  ASSERT_TRUE(join(creation()));
  ASSERT_TRUE(join(joining(2, join_state::kNonMember)));
  static_cast<void>(table.take_changes());
  ASSERT_TRUE(leave(joining(1)));
  EXPECT_EQ(table.find(kMgid), nullptr);
  EXPECT_THAT(table.take_changes(), ElementsAre(GroupChange{kMgid, kDefaultPKey, false}));
  EXPECT_THAT(table.take_touched(), ElementsAre(Lid{0xc000}));
  EXPECT_THAT(table.mlids(), IsEmpty());
}

TEST_F(Groups, PortsThatAreGoneLeave) {
  ASSERT_TRUE(join(creation(1)));
  ASSERT_TRUE(join(joining(2)));
  ASSERT_TRUE(join(creation(1, {0xff12401bffff0000u, Guid{0x102}})));
  static_cast<void>(table.take_touched());
  static_cast<void>(table.take_changes());
  table.drop([](Guid port, const Group&) { return port == Guid{1}; });
  EXPECT_THAT(table.find(kMgid)->members, ElementsAre(Pair(Guid{2}, Member{1, false})));
  EXPECT_EQ(table.groups().size(), 1u);
  EXPECT_THAT(table.take_touched(), ElementsAre(Lid{0xc000}, Lid{0xc001}));
  EXPECT_EQ(table.take_changes().size(), 1u);
}

TEST_F(Groups, FreedMlidsAreUsedAgain) {
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_TRUE(join(creation(1, {0xff12401bffff0000u, Guid{0x100 + i}})));
  GroupRequest second = joining(1);
  second.mgid = Gid{0xff12401bffff0000u, Guid{0x101}};
  ASSERT_TRUE(leave(second));
  EXPECT_EQ(join(creation(1, {0xff12401bffff0000u, Guid{0x200}}))->mlid, Lid{0xc001});
  EXPECT_EQ(join(creation(1, {0xff12401bffff0000u, Guid{0x201}}))->mlid, Lid{0xc004});
}

Gid numbered(std::uint64_t number) { return {0xff12401bffff0000u, Guid{0x1000 + number}}; }

GroupRequest joining_group(std::uint64_t port, Gid mgid) {
  GroupRequest request = joining(port);
  request.mgid = mgid;
  return request;
}

TEST_F(Groups, APortCreatesSoManyAndNoMore) {
  table.set_limits({.groups_of_one_port = 3});
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(join(creation(1, numbered(i))));
  EXPECT_EQ(refusal(join(creation(1, numbered(3)))), Refusal::NoResources);
  EXPECT_EQ(table.find(numbered(3)), nullptr) << "nothing of it is kept";
  EXPECT_TRUE(join(creation(2, numbered(3)))) << "others go on";
  EXPECT_TRUE(join(joining_group(1, numbered(3)))) << "a membership is no group";
  ASSERT_TRUE(leave(joining_group(1, numbered(0))));
  EXPECT_TRUE(join(creation(1, numbered(4)))) << "what it gave back is its own again";
}

TEST_F(Groups, APortIsInSoManyAndNoMore) {
  table.set_limits({.joins_of_one_port = 3});
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(join(creation(2 + i, numbered(i))));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(join(joining_group(1, numbered(i))));
  EXPECT_EQ(refusal(join(joining_group(1, numbered(3)))), Refusal::NoResources);
  EXPECT_EQ(refusal(join(creation(1, numbered(9)))), Refusal::NoResources)
      << "no group without its first member";
  EXPECT_EQ(table.groups().size(), 4u);
  EXPECT_TRUE(join(joining_group(1, numbered(0)))) << "once more is not one more";
  ASSERT_TRUE(leave(joining_group(1, numbered(0))));
  EXPECT_TRUE(join(joining_group(1, numbered(3))));
}

TEST_F(Groups, WhoAsksForOthersUsesUpItsOwn) {
  table.set_limits({.groups_of_one_port = 2, .joins_of_one_port = 3});
  const auto as_port_2 = [&](std::uint64_t group) {
    return table.join(subnet, creation(2, numbered(group)), Guid{1});
  };
  ASSERT_TRUE(as_port_2(0));
  ASSERT_TRUE(as_port_2(1));
  EXPECT_EQ(refusal(as_port_2(2)), Refusal::NoResources);
  EXPECT_TRUE(join(creation(2, numbered(2)))) << "port 2 has all of its own left";
  EXPECT_TRUE(join(creation(2, numbered(3))));
  ASSERT_TRUE(table.join(subnet, joining_group(3, numbered(2)), Guid{1}));
  EXPECT_EQ(refusal(table.join(subnet, joining_group(3, numbered(3)), Guid{1})),
            Refusal::NoResources);
  // Somebody else takes the membership back: port 1 is given what it used.
  ASSERT_TRUE(table.leave(subnet, joining_group(3, numbered(2)), Guid{4}));
  EXPECT_TRUE(table.join(subnet, joining_group(3, numbered(3)), Guid{1}));
}

TEST_F(Groups, ThereIsRoomForSoManyInAll) {
  table.set_limits({.groups = 2, .joins = 3});
  ASSERT_TRUE(join(creation(1, numbered(0))));
  ASSERT_TRUE(join(creation(2, numbered(1))));
  EXPECT_EQ(refusal(join(creation(3, numbered(2)))), Refusal::NoResources);
  EXPECT_TRUE(join(joining_group(3, numbered(0))));
  EXPECT_EQ(refusal(join(joining_group(4, numbered(0)))), Refusal::NoResources);
  table.drop([](Guid port, const Group&) { return port == Guid{3}; });
  EXPECT_TRUE(join(joining_group(4, numbered(0)))) << "who is gone keeps nothing";
  table.drop([](Guid port, const Group&) { return port == Guid{2}; });
  EXPECT_TRUE(join(creation(3, numbered(2)))) << "its group went with it";
}

TEST_F(Groups, WhatTheSiteWantsDoesNotCount) {
  const PreconfiguredGroup broadcast{.mgid = kMgid, .p_key = kDefaultPKey, .q_key = 0xb1b};
  table.set_limits({.groups = 1, .groups_of_one_port = 1, .joins = 1, .joins_of_one_port = 1});
  ASSERT_THAT(table.keep(subnet, {broadcast}), IsEmpty());
  ASSERT_TRUE(join(creation(1, numbered(0))));
  for (std::uint64_t port = 1; port <= 6; ++port) EXPECT_TRUE(join(joining(port))) << port;
  EXPECT_EQ(refusal(join(creation(2, numbered(1)))), Refusal::NoResources);
  // Once the site wants it no more it counts, with all who are in it; and not when it does again.
  ASSERT_THAT(table.keep(subnet, {}), IsEmpty());
  ASSERT_TRUE(leave(joining_group(1, numbered(0))));
  EXPECT_EQ(refusal(join(creation(7, numbered(1)))), Refusal::RequestInvalid) << "its partition";
  EXPECT_EQ(refusal(join(creation(9, numbered(1)))), Refusal::NoResources);
  ASSERT_THAT(table.keep(subnet, {broadcast}), IsEmpty());
  EXPECT_TRUE(join(creation(9, numbered(1))));
}

TEST_F(Groups, WhatWasRestoredCountsAndStays) {
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(join(creation(1, numbered(i))));
  std::vector<Group> left = table.snapshot();
  left[2].creator = Guid{};  // of an smd that did not say
  GroupTable next;
  next.set_limits({.groups_of_one_port = 2});
  next.restore(subnet, left);
  EXPECT_EQ(next.groups().size(), 3u);
  EXPECT_EQ(next.find(numbered(2))->creator, Guid{1});
  EXPECT_EQ(refusal(next.join(subnet, creation(1, numbered(3)), Guid{1})), Refusal::NoResources);
  ASSERT_TRUE(next.leave(subnet, joining_group(1, numbered(0)), Guid{1}));
  EXPECT_EQ(refusal(next.join(subnet, creation(1, numbered(3)), Guid{1})), Refusal::NoResources);
  ASSERT_TRUE(next.leave(subnet, joining_group(1, numbered(1)), Guid{1}));
  EXPECT_TRUE(next.join(subnet, creation(1, numbered(3)), Guid{1}));
}

TEST_F(Groups, MlidsAreSharedWhenThereAreNoMore) {
  subnet.room = 4;
  static_cast<void>(table.keep(subnet, {{.mgid = kMgid, .p_key = kDefaultPKey}}));  // 0xc000
  const auto make = [&](std::uint64_t id, std::uint8_t mtu) {
    GroupRequest request = creation(1, {0xff12401bffff0000u, Guid{id}});
    request.mtu = Bound{Selector::Exactly, mtu};
    return join(request)->mlid;
  };
  EXPECT_EQ(make(0x200, 5), Lid{0xc001});
  EXPECT_EQ(make(0x201, 4), Lid{0xc002});
  EXPECT_EQ(make(0x202, 4), Lid{0xc003});
  EXPECT_EQ(make(0x203, 5), Lid{0xc001}) << "like it";
  EXPECT_EQ(make(0x204, 5), Lid{0xc001}) << "like it, though others are emptier";
  EXPECT_EQ(make(0x205, 4), Lid{0xc002});
  EXPECT_EQ(make(0x206, 4), Lid{0xc003}) << "the emptier one";
  EXPECT_EQ(make(0x207, 3), Lid{0xc002}) << "never the site's own; the emptiest";
  // Who sends to one reaches those of both.
  GroupRequest other = joining(2, join_state::kSendOnly);
  other.mgid = Gid{0xff12401bffff0000u, Guid{0x203}};
  ASSERT_TRUE(join(other));
  EXPECT_THAT(table.members_of(Lid{0xc001}),
              ElementsAre(MlidMember{Guid{1}, true}, MlidMember{Guid{2}, false}));
  subnet.room = 0;
  EXPECT_EQ(refusal(join(creation(1, {0xff12401bffff0000u, Guid{0x300}}))), Refusal::NoResources);
}

/// As programs ask for that are not of IPoIB: with the signature of rdma_cm.
constexpr Gid kMarket{0xff124001ffff0000u, Guid{0x101}};

TEST_F(Groups, WhoAloneDoesNotReceiveIsTheOnlySender) {
  ASSERT_TRUE(join(creation(1, kMarket)));
  const auto ask = [&](std::uint64_t port, std::uint8_t state) {
    GroupRequest request = joining(port, state);
    request.mgid = kMarket;
    return request;
  };
  const auto members = [&] { return table.members_of(Lid{0xc000}); };
  ASSERT_TRUE(join(ask(2, join_state::kFull)));
  EXPECT_THAT(members(), ElementsAre(MlidMember{Guid{1}}, MlidMember{Guid{2}})) << "all may send";
  ASSERT_TRUE(join(ask(3, join_state::kSendOnlyFull)));
  const auto with_sender = ElementsAre(MlidMember{Guid{1}, true, false},
                                       MlidMember{Guid{2}, true, false},
                                       MlidMember{Guid{3}, false, true});
  EXPECT_THAT(members(), with_sender);
  static_cast<void>(table.take_touched());
  // A second sender, of the other kind, comes and goes.
  ASSERT_TRUE(join(ask(4, join_state::kSendOnly)));
  for (const MlidMember& member : members()) EXPECT_TRUE(member.sends);
  EXPECT_THAT(table.take_touched(), ElementsAre(Lid{0xc000}));
  ASSERT_TRUE(leave(ask(4, join_state::kSendOnly)));
  EXPECT_THAT(members(), with_sender);
  // The sender begins to receive, and stops.
  static_cast<void>(table.take_touched());
  ASSERT_TRUE(join(ask(3, join_state::kNonMember)));
  EXPECT_THAT(table.take_touched(), ElementsAre(Lid{0xc000}));
  for (const MlidMember& member : members()) EXPECT_TRUE(member.sends && member.receives);
  ASSERT_TRUE(leave(ask(3, join_state::kNonMember)));
  EXPECT_THAT(members(), with_sender);
  EXPECT_EQ(find_only_sender(*table.find(kMarket)), Guid{3});
}

// A kernel joins to send where it has no socket that receives; whoever has one sends as well.
TEST_F(Groups, InGroupsOfIpoibAndOfTheSiteEverybodySends) {
  ASSERT_TRUE(join(creation(1)));
  ASSERT_TRUE(join(joining(2, join_state::kSendOnlyFull)));
  EXPECT_EQ(find_only_sender(*table.find(kMgid)), Guid{});
  EXPECT_THAT(table.members_of(Lid{0xc000}),
              ElementsAre(MlidMember{Guid{1}}, MlidMember{Guid{2}, false}));
  static_cast<void>(table.keep(subnet, {{.mgid = kMarket, .p_key = kDefaultPKey}}));
  for (const std::uint64_t port : {1, 2}) {
    GroupRequest request = joining(port, port == 1 ? join_state::kFull : join_state::kSendOnly);
    request.mgid = kMarket;
    ASSERT_TRUE(join(request));
  }
  EXPECT_EQ(find_only_sender(*table.find(kMarket)), Guid{});
  static_cast<void>(table.keep(subnet, {}));
  EXPECT_EQ(find_only_sender(*table.find(kMarket)), Guid{2}) << "no longer the site's";
}

// Groups that share an MLID share a tree: one with an only sender takes nothing from the others.
TEST_F(Groups, OfGroupsThatShareAnMlidAllMustHaveTheSameSender) {
  subnet.room = 1;
  const Gid other{kMarket.prefix, Guid{0x102}};
  const auto ask = [&](const Gid& mgid, std::uint64_t port, std::uint8_t state) {
    GroupRequest request = joining(port, state);
    request.mgid = mgid;
    return request;
  };
  for (const Gid& mgid : {kMarket, other}) ASSERT_TRUE(join(creation(1, mgid)));
  ASSERT_TRUE(join(ask(kMarket, 3, join_state::kSendOnlyFull)));
  ASSERT_EQ(table.find(other)->mlid, table.find(kMarket)->mlid);
  EXPECT_THAT(table.members_of(Lid{0xc000}),
              ElementsAre(MlidMember{Guid{1}}, MlidMember{Guid{3}, false}))
      << "1 may send to the other group";
  ASSERT_TRUE(join(ask(other, 3, join_state::kSendOnly)));
  EXPECT_THAT(table.members_of(Lid{0xc000}),
              ElementsAre(MlidMember{Guid{1}, true, false}, MlidMember{Guid{3}, false, true}));
  ASSERT_TRUE(leave(ask(other, 3, join_state::kSendOnly)));
  ASSERT_TRUE(join(ask(other, 4, join_state::kSendOnly)));
  EXPECT_THAT(table.members_of(Lid{0xc000}),
              ElementsAre(MlidMember{Guid{1}, true, false},
                          MlidMember{Guid{3}, false, true},
                          MlidMember{Guid{4}, false, true}))
      << "two senders";
}

/// The MLID to share, by looking at every group of every MLID.
Lid find_best_company(const GroupTable& table, const GroupTraits& traits) {
  std::map<Lid, std::tuple<bool, bool, std::size_t>> company;
  for (const auto& [mgid, group] : table.groups()) {
    const GroupTraits& its = group.traits;
    const bool alike = its.p_key == traits.p_key && its.mtu == traits.mtu &&
                       its.rate == traits.rate && its.sl == traits.sl;
    auto& [permanent, strange, size] = company[group.mlid];
    if (std::tuple(group.permanent, !alike) > std::tuple(permanent, strange)) {
      permanent = group.permanent;
      strange = !alike;
    }
    ++size;
  }
  return std::ranges::min_element(company, {}, [](const auto& each) { return each.second; })->first;
}

TEST_F(Groups, TheBestCompanyIsFoundAmongMany) {
  subnet.room = 12;
  Rng rng(5);
  std::vector<PreconfiguredGroup> preconfigured_groups;
  for (std::uint64_t id = 0; id < 2; ++id)
    preconfigured_groups.push_back(
        {.mgid = {kMgid.prefix, Guid{0x900 + id}}, .p_key = kDefaultPKey});
  static_cast<void>(table.keep(subnet, preconfigured_groups));
  unsigned shared = 0;
  for (std::uint64_t id = 0; id < 600; ++id) {
    if (rng.below(4) == 0 && id > 0) {
      GroupRequest gone = joining(1);
      gone.mgid = Gid{kMgid.prefix, Guid{0x1000 + rng.below(id)}};
      static_cast<void>(leave(gone));
    }
    GroupRequest request = creation(1, {kMgid.prefix, Guid{0x1000 + id}});
    request.mtu = Bound{Selector::Exactly, static_cast<std::uint8_t>(3 + rng.below(3))};
    request.sl = static_cast<std::uint8_t>(rng.below(3));
    std::set<Lid> used;
    for (const auto& [mgid, group] : table.groups()) used.insert(group.mlid);
    const GroupTraits traits{
        .p_key = kDefaultPKey, .mtu = request.mtu->value, .rate = 16, .sl = *request.sl};
    const Lid wanted =
        used.size() < subnet.room ? kUnassignedLid : find_best_company(table, traits);
    const auto made = join(request);
    ASSERT_TRUE(made);
    if (wanted == kUnassignedLid) continue;
    ++shared;
    ASSERT_EQ(made->mlid, wanted) << id;
  }
  EXPECT_GT(shared, 400u);
}

TEST_F(Groups, WhatIsKeptComesBack) {
  ASSERT_TRUE(join(creation()));
  ASSERT_TRUE(join(joining(2, join_state::kSendOnly)));
  ASSERT_TRUE(join(creation(3, {0xff12401bffff0000u, Guid{0x102}})));
  GroupTable later;
  later.restore(subnet, table.snapshot());
  EXPECT_EQ(later.groups(), table.groups());
  EXPECT_THAT(later.take_changes(), IsEmpty());
  EXPECT_THAT(later.take_touched(), ElementsAre(Lid{0xc000}, Lid{0xc001}));
  // MLIDs in use are not given again.
  EXPECT_EQ(later.join(subnet, creation(1, {0xff12401bffff0000u, Guid{0x103}}), Guid{1})->mlid,
            Lid{0xc002});
}

TEST_F(Groups, WhatCannotBeIsNotBroughtBack) {
  ASSERT_TRUE(join(creation()));
  Group good = table.snapshot().front();
  Group unicast = good;
  unicast.mgid.prefix = kDefaultSubnetPrefix;
  Group empty = good;
  empty.mgid.guid = Guid{2};
  empty.members.clear();
  Group nowhere = good;
  nowhere.mgid.guid = Guid{3};
  nowhere.mlid = Lid{17};
  Group stateless = good;
  stateless.mgid.guid = Guid{4};
  stateless.members.begin()->second.join_state = 0;
  GroupTable later;
  later.restore(subnet, {nowhere, unicast, empty, stateless, good, good});
  EXPECT_EQ(later.groups().size(), 2u);
  EXPECT_EQ(later.find(kMgid)->mlid, Lid{0xc000});
  EXPECT_EQ(later.find(nowhere.mgid)->mlid, Lid{0xc001});
}

TEST(Mgid, Prints) {
  EXPECT_EQ(print_gid(ipoib_broadcast(PKey{0x7fff})), "ff12:401b:ffff:0000:0000:0000:ffff:ffff");
}

}  // namespace
}  // namespace smd
