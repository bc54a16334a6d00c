// Subscriptions and Reports: who is told of what, how often, and when it is given up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/base/bytes.h"
#include "tests/unit/sa/kept.h"

namespace smd::sa {
namespace inform_test {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kWhole = "H1-S1 H2-S1 S1-S2 H3-S2";
constexpr std::string_view kWithoutH3 = "H1-S1 H2-S1 S1-S2";

constexpr std::uint16_t kInvalid = 0x0200;
constexpr std::uint16_t kInvalidGid = 0x0500;
constexpr std::uint16_t kDenied = 0x0700;

Notice link_trap(const KeptBench& bench) { return link_state_notice(bench.lid("S1")); }

std::vector<Lid> told(const KeptBench& bench) {
  std::vector<Lid> out;
  for (const MadPacket& each : bench.reports()) out.push_back(each.remote_lid);
  return out;
}

std::uint16_t trap_in(const MadPacket& report) {
  return decode_notice(std::span(report.mad).subspan(kHeaderSize, 64))->trap_or_device;
}

TEST(Inform, TheConfirmationIsACopyOfTheRequest) {
  KeptBench bench;
  const InformInfo info{.trap_or_device = 64, .resp_time = 18};
  bench.answer(subscribe(info), "H1");
  EXPECT_EQ(bench.answered.mad.status, 0);
  EXPECT_EQ(bench.answered.mad.method, 0x81);
  EXPECT_EQ(bench.answered.mad.attribute_id, 0x0003);
  EXPECT_EQ(*decode_inform_info(bench.body), info);
  EXPECT_EQ(bench.inform.table().count(), 1u);
  EXPECT_GE(bench.changes, 1);
}

TEST(Inform, ATrapIsReportedWithTheGidOfItsIssuer) {
  KeptBench bench;
  MadPacket asked = packet_of(subscribe({}), bench.lid("H1"), 7);
  asked.remote_qp = 1;
  asked.sl = 3;
  asked.pkey_index = 2;
  bench.transport.deliver(asked);
  bench.run();
  bench.transport.sent.clear();
  const Notice notice = link_trap(bench);
  bench.inform.tell(TrapEvent{notice});
  bench.run();
  ASSERT_THAT(bench.transport.sent, SizeIs(1));
  const MadPacket& out = bench.transport.sent[0];
  EXPECT_EQ(out.remote_lid, bench.lid("H1"));
  EXPECT_EQ(out.remote_qp, 1u);
  EXPECT_EQ(out.local_qp, 1u);
  EXPECT_EQ(out.sl, 3);
  EXPECT_EQ(out.pkey_index, 2);
  const SaHeader header = bench.sent(0);
  EXPECT_EQ(header.mad.method, 0x06);
  EXPECT_EQ(header.mad.attribute_id, 0x0002);
  EXPECT_EQ(header.mad.class_version, 2);
  EXPECT_LE(header.mad.transaction_id, 0xffffffffu) << "the other half is the kernel's";
  const auto body = std::span(out.mad).subspan(kHeaderSize);
  EXPECT_EQ(*decode_notice(body.first(64)), notice);
  ByteReader issuer(body.subspan(64, 16));
  EXPECT_EQ(issuer.u64(), kDefaultSubnetPrefix);
  EXPECT_EQ(Guid{issuer.u64()}, guid_of(*bench.view, "S1"));
}

/// The same subnet, where our own port has this P_Key table.
std::shared_ptr<const SubnetView> with_own_keys(KeyTable table) {
  ViewParts parts = parts_of(kWhole);
  const Fabric& fabric = *parts.fabric;
  parts.keys.remember(
      {fabric.node_guid[fabric.node_of[fabric.sm_port]], fabric.number_of(fabric.sm_port)},
      std::move(table));
  return std::make_shared<const SubnetView>(std::move(parts));
}

/// Another manager's port, or the same one under another order, has other P_Keys at an index.
TEST(Inform, AReportGoesInThePartitionOfTheSubscription) {
  KeptBench before;
  before.adopt(with_own_keys({kDefaultPKey, PKey{0}, PKey{0x8007}}));
  MadPacket asked = packet_of(subscribe({}), before.lid("H1"), 7);
  asked.pkey_index = 2;
  before.transport.deliver(asked);
  before.run();
  const auto index_under = [&](std::shared_ptr<const SubnetView> view) {
    KeptBench bench;
    bench.inform.adopt(nullptr);
    bench.inform.restore(before.inform.table().all(), before.inform.in_service());
    bench.adopt(std::move(view));
    bench.inform.tell(TrapEvent{link_trap(bench)});
    bench.run();
    return bench.reports().empty() ? 0xffff : bench.reports()[0].pkey_index;
  };
  EXPECT_EQ(index_under(with_own_keys({kDefaultPKey, PKey{0}, PKey{0x8007}})), 2);
  EXPECT_EQ(index_under(with_own_keys({kDefaultPKey, PKey{0x8007}, PKey{0x8009}})), 1);
  EXPECT_EQ(index_under(with_own_keys({kDefaultPKey, PKey{0x7}, PKey{0x8009}})), 1)
      << "a member of another kind now";
  EXPECT_EQ(index_under(with_own_keys({kDefaultPKey, PKey{0x8008}, PKey{0x8009}})), 0)
      << "nowhere: in the partition that everybody is in";
  EXPECT_EQ(index_under(view_of(kWhole)), 0) << "nobody knows what is at 2";
}

TEST(Inform, AReportHasTheSlOfItsPathWhereThereIsOne) {
  KeptBench bench;
  bench.adopt(view_with_path_sls(kWhole));
  MadPacket asked = packet_of(subscribe({}), bench.lid("H3"), 7);
  asked.sl = 9;
  bench.transport.deliver(asked);
  bench.run();
  bench.transport.sent.clear();
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1));
  EXPECT_EQ(bench.reports()[0].sl, bench.lid("H3").value() % 8);
}

struct Case {
  const char* name;
  InformInfo info;
  bool told;
};

class WhatIsAsked : public ::testing::TestWithParam<Case> {};

/// A trap 128 of switch S1 (type urgent, producer switch), whose LID is 2 of 1 to 5.
TEST_P(WhatIsAsked, DecidesWhatIsTold) {
  KeptBench bench;
  InformInfo info = GetParam().info;
  if (info.gid.prefix != 0)
    info.gid.guid = guid_of(*bench.view, info.gid.guid == Guid{1} ? "S1" : "S2");
  if (info.lid_first == Lid{1}) {
    info.lid_first = bench.lid("S1");
    info.lid_last = kUnassignedLid;
  } else if (info.lid_first == Lid{2}) {
    info.lid_first = info.lid_last = bench.lid("H2");
  } else if (info.lid_first == Lid{3}) {
    info.lid_last = bench.view->lids().top;
    info.lid_first = Lid{1};
  }
  ASSERT_EQ(bench.status_of(subscribe(info), "H1"), 0);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  EXPECT_EQ(bench.reports().size(), GetParam().told ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(
    By,
    WhatIsAsked,
    ::testing::Values(
        Case{"anything", {}, true},
        Case{"its_number", {.trap_or_device = 128}, true},
        Case{"another_number", {.trap_or_device = 144}, false},
        Case{"its_type", {.type = 1}, true},
        Case{"another_type", {.type = 3}, false},
        Case{"its_producer", {.producer_or_vendor = 2}, true},
        Case{"another_producer", {.producer_or_vendor = 1}, false},
        Case{"vendors", {.is_generic = 0}, false},
        Case{"its_gid", {.gid = {kDefaultSubnetPrefix, Guid{1}}, .lid_first = Lid{9}}, true},
        Case{"another_gid", {.gid = {kDefaultSubnetPrefix, Guid{2}}}, false},
        Case{"its_lid", {.lid_first = Lid{1}}, true},
        Case{"another_lid", {.lid_first = Lid{2}}, false},
        Case{"a_range", {.lid_first = Lid{3}}, true}),
    [](const auto& at) { return at.param.name; });

/// As hosts name each other that do not know the prefix of the subnet.
TEST(Inform, AGidMayHaveTheDefaultPrefix) {
  constexpr std::uint64_t kPrefix = 0xfec0000000000001;
  ViewParts parts = parts_of(kWhole);
  parts.subnet_prefix = kPrefix;
  KeptBench bench;
  bench.adopt(std::make_shared<const SubnetView>(std::move(parts)));
  const Gid s1{kDefaultSubnetPrefix, guid_of(*bench.view, "S1")};
  ASSERT_EQ(bench.status_of(subscribe({.gid = s1}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({.gid = {kPrefix, s1.guid}}), "H2"), 0);
  EXPECT_EQ(bench.status_of(subscribe({.gid = {0x1234, s1.guid}}), "H3"), kInvalidGid);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  EXPECT_THAT(told(bench), ElementsAre(bench.lid("H1"), bench.lid("H2")));
  EXPECT_EQ(bench.inform.table().all().begin()->second[0].info.gid, s1) << "as it was asked for";
}

TEST(Inform, AFurtherGuidOfAPortIsAskedForAsItsOwn) {
  constexpr Guid kAlias{0xaaaa};
  const auto view = [](bool has_alias) {
    ViewParts parts = parts_of(kWhole);
    auto fabric = std::make_shared<Fabric>(*parts.fabric);
    for (PortInfo& info : fabric->port_info) info.guid_cap = 12;
    const Guid h3 = fabric->port_guid[test::end_port(*fabric, "H3")];
    std::map<Guid, std::vector<Guid>> further;
    if (has_alias) further[h3] = {h3, kAlias};
    parts.fabric = std::move(fabric);
    parts.aliases = std::make_shared<const std::map<Guid, std::vector<Guid>>>(std::move(further));
    return std::make_shared<const SubnetView>(std::move(parts));
  };
  KeptBench bench;
  bench.adopt(view(true));
  ASSERT_EQ(bench.status_of(subscribe({.gid = {kDefaultSubnetPrefix, kAlias}}), "H1"), 0);
  bench.inform.tell(TrapEvent{link_state_notice(bench.lid("H2"))});
  bench.inform.tell(TrapEvent{link_state_notice(bench.lid("H3"))});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1)) << "traps have the LID of a port";
  bench.confirm(bench.reports()[0]);
  bench.transport.sent.clear();
  bench.adopt(view(false));
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1)) << "that it went";
  EXPECT_EQ(trap_in(bench.reports()[0]), 65);
}

TEST(Inform, EachReportIsAnsweredOnceAndThenTheNextGoesOut) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  bench.inform.tell(TrapEvent{link_state_notice(bench.lid("S1"))});
  bench.inform.tell(TrapEvent{link_state_notice(bench.lid("S2"))});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1)) << "one at a time, in order";
  bench.confirm(bench.reports()[0]);
  ASSERT_THAT(bench.reports(), SizeIs(2));
  bench.confirm(bench.reports()[1]);
  bench.run_for(60s);
  EXPECT_THAT(bench.reports(), SizeIs(2));
  EXPECT_EQ(bench.inform.reporter().stats().answered, 2u);
  EXPECT_TRUE(bench.inform.reporter().at_rest());
}

TEST(Inform, AReportIsRepeatedUnderANewIdUntilItIsAnswered) {
  KeptBench bench({.reports = {.attempts = 4, .least_wait = 500ms}});
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run_for(700ms);
  ASSERT_THAT(bench.reports(), SizeIs(2));
  const SaHeader first = *decode_sa_header(bench.reports()[0].mad);
  const SaHeader second = *decode_sa_header(bench.reports()[1].mad);
  EXPECT_NE(first.mad.transaction_id, second.mad.transaction_id);
  bench.confirm(bench.reports()[0]);  // the first was slow, not lost
  bench.run_for(10s);
  EXPECT_THAT(bench.reports(), SizeIs(2));
  EXPECT_EQ(bench.inform.reporter().stats().answered, 1u);
  bench.confirm(bench.reports()[1]);
  EXPECT_EQ(bench.inform.reporter().stats().unasked, 1u);
}

TEST(Inform, TheDeadCostSoManySendsAndThenTheirSubscription) {
  KeptBench bench({.reports = {.attempts = 4, .failures = 3}});
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({}), "H2"), 0);
  const int before = bench.changes;
  for (int i = 0; i < 10; ++i) bench.inform.tell(TrapEvent{link_trap(bench)});
  std::size_t confirmed = 0;
  for (int i = 0; i < 300; ++i) {
    bench.run_for(100ms);
    for (; confirmed < bench.transport.sent.size(); ++confirmed) {
      const MadPacket packet = bench.transport.sent[confirmed];
      if (packet.remote_lid == bench.lid("H2")) bench.confirm(packet);
    }
  }
  EXPECT_EQ(std::ranges::count(told(bench), bench.lid("H1")), 12);
  EXPECT_EQ(std::ranges::count(told(bench), bench.lid("H2")), 10) << "the living miss nothing";
  EXPECT_EQ(bench.inform.table().all().size(), 1u);
  EXPECT_EQ(bench.inform.reporter().stats().given_up, 1u);
  EXPECT_EQ(bench.changes, before + 1);
  EXPECT_TRUE(bench.inform.reporter().at_rest());
}

TEST(Inform, OneAnswerInTimeForgivesEarlierSilence) {
  KeptBench bench({.reports = {.attempts = 1, .failures = 2, .least_wait = 500ms}});
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  for (int round = 0; round < 4; ++round) {
    bench.transport.sent.clear();
    bench.inform.tell(TrapEvent{link_trap(bench)});
    bench.inform.tell(TrapEvent{link_trap(bench)});
    bench.run_for(600ms);  // the first is not answered
    ASSERT_THAT(bench.reports(), SizeIs(2));
    bench.confirm(bench.reports()[1]);
  }
  EXPECT_EQ(bench.inform.table().count(), 1u);
}

TEST(Inform, WhoRefusesReportsLosesThemToo) {
  KeptBench bench({.reports = {.failures = 2}});
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  for (int i = 0; i < 2; ++i) {
    bench.transport.sent.clear();
    bench.inform.tell(TrapEvent{link_trap(bench)});
    bench.run();
    ASSERT_THAT(bench.reports(), SizeIs(1));
    bench.confirm(bench.reports()[0], 0x0c);
  }
  EXPECT_EQ(bench.inform.table().count(), 0u);
}

TEST(Inform, NobodyAnswersForAnother) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  MadPacket forged = bench.reports().at(0);
  forged.remote_lid = bench.lid("H2");
  bench.confirm(forged);
  EXPECT_EQ(bench.inform.reporter().stats().answered, 0u);
  EXPECT_EQ(bench.inform.reporter().stats().unasked, 1u);
  EXPECT_FALSE(bench.inform.reporter().at_rest());
}

/// Nothing in a request says who is told: it names the source of events, and a queue pair of the
/// port that asks.
TEST(Inform, NobodySubscribesOrUnsubscribesAnother) {
  KeptBench bench;
  InformInfo info;
  info.gid = {kDefaultSubnetPrefix, guid_of(*bench.view, "H1")};
  ASSERT_EQ(bench.status_of(subscribe(info), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe(info), "H2"), 0);
  info.subscribe = 0;
  ASSERT_EQ(bench.status_of(subscribe(info), "H2"), 0);
  ASSERT_EQ(bench.inform.table().all().size(), 1u);
  EXPECT_EQ(bench.inform.table().all().begin()->first.port, guid_of(*bench.view, "H1"));
}

TEST(Inform, TwoSubscriptionsToOneEventAreOneReport) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 128}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0) << "again the same: as it was";
  EXPECT_EQ(bench.inform.table().count(), 2u);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1));
  bench.confirm(bench.reports()[0]);
  EXPECT_THAT(bench.reports(), SizeIs(1));
}

TEST(Inform, UnsubscribingEndsJustTheOneThatIsNamed) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 128}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 64}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 128}), "H2"), 0);
  const InformInfo end{.subscribe = 0, .trap_or_device = 128, .qpn = 1};
  EXPECT_EQ(bench.status_of(subscribe(end), "H1"), 0);
  EXPECT_EQ(bench.status_of(subscribe(end), "H1"), kInvalid) << "there is none any more";
  InformInfo of_another_qp = end;
  of_another_qp.qpn = 5;
  EXPECT_EQ(bench.status_of(subscribe(of_another_qp), "H2"), kInvalid);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  EXPECT_THAT(told(bench), ElementsAre(bench.lid("H2")));
}

TEST(Inform, WhatMakesNoSenseIsRefused) {
  KeptBench bench;
  EXPECT_EQ(bench.status_of(subscribe({.subscribe = 2}), "H1"), kInvalid);
  EXPECT_EQ(bench.status_of(subscribe({.is_generic = 2}), "H1"), kInvalid);
  EXPECT_EQ(bench.status_of(subscribe({.lid_first = Lid{0}}), "H1"), kInvalid);
  EXPECT_EQ(bench.status_of(subscribe({.lid_first = Lid{3}, .lid_last = Lid{2}}), "H1"), kInvalid);
  EXPECT_EQ(bench.status_of(subscribe({.lid_first = Lid{0xc000}}), "H1"), kInvalid);
  EXPECT_EQ(bench.status_of(subscribe({.gid = {kDefaultSubnetPrefix, Guid{0xbad}}}), "H1"),
            kInvalidGid);
  EXPECT_EQ(bench.inform.table().count(), 0u);
  bench.transport.sent.clear();
  bench.give(subscribe({}), Lid{99}, 1);  // nobody's LID
  bench.run();
  EXPECT_EQ(bench.sent(0).mad.status, kInvalid);
  Asked get = subscribe({});
  get.header.mad.method = 0x01;
  EXPECT_EQ(bench.status_of(get, "H1"), 0x000c);
}

TEST(Inform, KeysThatWereTriedAreForTheTrustedAlone) {
  KeptBench bench;
  EXPECT_EQ(bench.status_of(subscribe({.trap_or_device = 257}), "H1"), kDenied);
  EXPECT_EQ(bench.status_of(trusted(subscribe({.trap_or_device = 257})), "H1"), 0);
  EXPECT_EQ(bench.status_of(subscribe({}), "H2"), 0) << "any trap: any that it may know of";
  bench.inform.tell(TrapEvent{key_notice(
      {.trap = 257, .source = bench.lid("H2"), .destination = bench.lid("H3")}, NodeType::Ca)});
  bench.run();
  EXPECT_THAT(told(bench), ElementsAre(bench.lid("H1")));
}

TEST(Inform, WhoCameAndWhoWentIsToldAfterTheCycleThatFindsIt) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 65}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 64}), "H2"), 0);
  const Guid h3 = guid_of(*bench.view, "H3");
  const auto subject = [&](const MadPacket& packet) {
    ByteReader in(std::span(packet.mad).subspan(kHeaderSize + 10 + 6));
    EXPECT_EQ(in.u64(), kDefaultSubnetPrefix);
    return Guid{in.u64()};
  };
  bench.adopt(view_of(kWithoutH3));
  bench.run();
  ASSERT_THAT(told(bench), ElementsAre(bench.lid("H1")));
  const MadPacket ended = bench.reports()[0];
  EXPECT_EQ(subject(ended), h3);
  const Notice notice = *decode_notice(std::span(ended.mad).subspan(kHeaderSize, 64));
  EXPECT_EQ(notice.trap_or_device, 65);
  EXPECT_EQ(notice.producer_or_vendor, 4u);
  EXPECT_EQ(notice.type, 3);
  EXPECT_EQ(notice.issuer_lid, bench.view->lid_of(bench.view->fabric().sm_port));
  bench.confirm(ended);
  bench.transport.sent.clear();
  bench.adopt(view_of(kWithoutH3));
  bench.run();
  EXPECT_THAT(bench.reports(), IsEmpty()) << "nothing changed";
  bench.adopt(view_of(kWhole));
  bench.run();
  ASSERT_THAT(told(bench), ElementsAre(bench.lid("H2")));
  EXPECT_EQ(subject(bench.reports()[0]), h3);
}

TEST(Inform, WhoLeavesTheFabricLosesItsSubscriptions) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H3"), 0);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  bench.adopt(view_of(kWithoutH3));
  EXPECT_EQ(bench.inform.table().count(), 0u);
  bench.transport.sent.clear();
  bench.run_for(60s);
  EXPECT_THAT(bench.transport.sent, IsEmpty());
  EXPECT_TRUE(bench.inform.reporter().at_rest());
}

TEST(Inform, ASubscriberThatMovesIsFoundUnderItsNewLid) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  bench.adopt(view_of(kWhole, 2));
  bench.transport.sent.clear();
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  ASSERT_THAT(told(bench), ElementsAre(bench.lid("H1")));
  bench.confirm(bench.reports()[0]);
  EXPECT_EQ(bench.inform.reporter().stats().answered, 1u);
}

TEST(Inform, WhoSharesNoPartitionIsNotTold) {
  KeptBench bench;
  bench.adopt(with_others({"H2"}));
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({}), "H2"), 0) << "any source: those that it may know of";
  EXPECT_EQ(bench.status_of(subscribe({.lid_first = bench.lid("S1")}), "H2"), kDenied);
  EXPECT_EQ(
      bench.status_of(subscribe({.gid = {kDefaultSubnetPrefix, guid_of(*bench.view, "H1")}}), "H2"),
      kDenied);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.inform.tell(GroupEvent{.mgid = {1, Guid{2}}, .p_key = PKey{0x8007}});
  bench.run();
  EXPECT_THAT(told(bench), ElementsAre(bench.lid("H1"), bench.lid("H2")));
  EXPECT_EQ(trap_in(bench.reports()[0]), 128);
  EXPECT_EQ(trap_in(bench.reports()[1]), 66);
  // Somebody of the default partition goes: the other partition does not hear of it.
  bench.adopt(with_others({"H2"}));
  EXPECT_EQ(bench.inform.table().count(), 2u);
}

TEST(Inform, GroupsAreReported) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 67}), "H1"), 0);
  bench.inform.tell(GroupEvent{.mgid = {0xff12, Guid{5}}, .p_key = kDefaultPKey});
  bench.inform.tell(GroupEvent{.mgid = {0xff12, Guid{5}}, .p_key = kDefaultPKey, .created = false});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1));
  const MadPacket report = bench.reports()[0];
  ByteReader in(std::span(report.mad).subspan(kHeaderSize + 4));
  EXPECT_EQ(in.u16(), 67);
}

TEST(Inform, OneHostCannotCrowdOutTheOthers) {
  KeptBench bench({.table = {.all = 6, .of_one_port = 4}});
  for (std::uint16_t trap = 0; trap < 4; ++trap)
    EXPECT_EQ(bench.status_of(subscribe({.trap_or_device = trap}), "H1"), 0);
  EXPECT_EQ(bench.status_of(subscribe({.trap_or_device = 9}), "H1"), 0x0100);
  EXPECT_EQ(bench.status_of(subscribe({.trap_or_device = 1}), "H2"), 0);
  EXPECT_EQ(bench.status_of(subscribe({.trap_or_device = 2}), "H2"), 0);
  EXPECT_EQ(bench.status_of(subscribe({.trap_or_device = 3}), "H2"), 0x0100) << "nobody can";
}

TEST(Inform, AStormPassesAtABoundedRateAndItsEndIsTold) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  Notice notice = link_trap(bench);
  for (std::uint16_t i = 0; i < 1000; ++i) {
    notice.count = i;
    bench.inform.tell(TrapEvent{notice});
  }
  for (int i = 0; i < 100; ++i) {
    for (const MadPacket& each : bench.reports()) bench.confirm(each);
    bench.run_for(20ms);
  }
  const unsigned burst = InformLimits{}.traps.burst;
  EXPECT_EQ(bench.inform.reporter().stats().events, burst + 1);
  EXPECT_EQ(bench.inform.reporter().stats().answered, burst + 1);
  const auto last = bench.reports().back();
  EXPECT_EQ(decode_notice(std::span(last.mad).subspan(kHeaderSize, 64))->count, 999);
}

TEST(Inform, ForgedTrapsLeaveNothingBehindAndAreNotTold) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  Notice notice = link_trap(bench);
  const std::uint16_t first = static_cast<std::uint16_t>(bench.view->lids().top.value() + 1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    notice.issuer_lid = Lid{static_cast<std::uint16_t>(first + i % 40'000)};
    notice.trap_or_device = static_cast<std::uint16_t>(i);
    bench.inform.tell(TrapEvent{notice});
  }
  EXPECT_EQ(bench.inform.stats().unknown_issuer, 100'000u);
  EXPECT_EQ(bench.inform.trap_sources(), 0u);
  EXPECT_EQ(bench.inform.reporter().stats().events, 0u);
}

TEST(Inform, NumbersThatNobodyDefinedShareOneRate) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  Notice notice = link_trap(bench);
  for (std::uint32_t number = 1000; number < 60'000; ++number) {
    notice.trap_or_device = static_cast<std::uint16_t>(number);
    bench.inform.tell(TrapEvent{notice});
  }
  EXPECT_EQ(bench.inform.trap_sources(), 1u);
  EXPECT_EQ(bench.inform.reporter().stats().events, InformLimits{}.traps.burst);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  EXPECT_EQ(bench.inform.reporter().stats().events, InformLimits{}.traps.burst + 1)
      << "and a real one passes";
}

TEST(Inform, WhoIsTooSlowMissesWhatIsGoneAndIsCounted) {
  KeptBench bench({.reports = {.log = 4}});
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  for (std::uint64_t i = 1; i <= 10; ++i)
    bench.inform.tell(GroupEvent{.mgid = {1, Guid{i}}, .p_key = kDefaultPKey});
  for (int i = 0; i < 20; ++i) {
    const auto reports = bench.reports();
    if (!reports.empty()) bench.confirm(reports.back());
    bench.run();
  }
  EXPECT_EQ(bench.inform.reporter().stats().missed, 6u);
  EXPECT_EQ(bench.inform.reporter().stats().answered, 4u);
  EXPECT_EQ(bench.inform.table().count(), 1u);
}

TEST(Inform, ReportsUnderWayAreBounded) {
  KeptBench bench({.reports = {.under_way = 2, .attempts = 1}});
  for (const char* host : {"H1", "H2", "H3"}) ASSERT_EQ(bench.status_of(subscribe({}), host), 0);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(2));
  bench.confirm(bench.reports()[0]);
  EXPECT_THAT(bench.reports(), SizeIs(3));
}

TEST(Inform, SilentQueuePairsOfOnePortHoldUpNobodyElse) {
  KeptBench bench({.reports = {.under_way = 8, .under_way_to_one_port = 2, .attempts = 1}});
  const auto subscribe_from = [&](std::uint32_t qp) {
    MadPacket packet = packet_of(subscribe({}), bench.lid("H1"), 1000 + qp);
    packet.remote_qp = qp;
    bench.transport.deliver(packet);
    bench.run();
  };
  for (std::uint32_t qp = 10; qp < 30; ++qp) subscribe_from(qp);
  ASSERT_EQ(bench.inform.table().count(), 20u);
  for (const char* host : {"H2", "H3"}) ASSERT_EQ(bench.status_of(subscribe({}), host), 0);
  bench.transport.sent.clear();
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  EXPECT_THAT(told(bench),
              testing::UnorderedElementsAre(
                  bench.lid("H1"), bench.lid("H1"), bench.lid("H2"), bench.lid("H3")));
  // Each answer, and each silence, makes room for the next of them.
  for (std::size_t at = 0; at < bench.reports().size(); ++at) bench.confirm(bench.reports()[at]);
  EXPECT_THAT(bench.reports(), SizeIs(22));
  EXPECT_TRUE(bench.inform.reporter().at_rest());
}

class HeldBack : public ::testing::TestWithParam<std::size_t> {};

/// Also where answers come together, and where who comes next has nothing to be told.
TEST_P(HeldBack, EveryQueuePairOfAPortIsToldOfEveryEvent) {
  KeptBench bench({.reports = {.under_way_to_one_port = GetParam(), .attempts = 1}});
  constexpr std::uint32_t kPairs = 9;
  for (std::uint32_t qp = 0; qp < kPairs; ++qp) {
    const InformInfo info{.trap_or_device = static_cast<std::uint16_t>(qp % 2 == 0 ? 128 : 64)};
    MadPacket packet = packet_of(subscribe(info), bench.lid("H1"), 1000 + qp);
    packet.remote_qp = 10 + qp;
    bench.transport.deliver(packet);
    bench.run();
  }
  ASSERT_EQ(bench.inform.table().count(), kPairs);
  bench.transport.sent.clear();
  for (int event = 0; event < 3; ++event) bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  for (std::size_t at = 0; at < bench.reports().size();) {
    const std::vector<MadPacket> reports = bench.reports();
    for (; at < reports.size(); ++at) {
      MadPacket back = reports[at];
      SaHeader header = *decode_sa_header(back.mad);
      header.mad.method = 0x86;
      encode_sa_header(header, back.mad);
      bench.transport.deliver(back);  // no turn of the loop in between
    }
    bench.run();
  }
  EXPECT_THAT(bench.reports(), SizeIs(3 * 5));
  EXPECT_TRUE(bench.inform.reporter().at_rest());
}

INSTANTIATE_TEST_SUITE_P(ByLimit, HeldBack, ::testing::Values(1, 2, 3, 4));

TEST(Inform, APortThatGoesTakesWhatItsLimitHeldBackWithIt) {
  KeptBench bench({.reports = {.under_way_to_one_port = 1, .attempts = 1}});
  for (std::uint32_t qp = 10; qp < 15; ++qp) {
    MadPacket packet = packet_of(subscribe({}), bench.lid("H3"), 1000 + qp);
    packet.remote_qp = qp;
    bench.transport.deliver(packet);
    bench.run();
  }
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  bench.adopt(view_of(kWithoutH3));
  bench.run_for(60s);
  EXPECT_EQ(bench.inform.table().count(), 0u);
  EXPECT_TRUE(bench.inform.reporter().at_rest());
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  EXPECT_THAT(bench.reports(), SizeIs(1));
}

TEST(Inform, TheRecordsSayWhoAskedForWhat) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 64}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 65}), "H1"), 0);
  ASSERT_EQ(bench.status_of(subscribe({.trap_or_device = 64}), "H3"), 0);
  const Gid h1{kDefaultSubnetPrefix, guid_of(*bench.view, "H1")};
  const auto query = [&](Method method, std::uint64_t mask, const InformInfoRecord& wanted) {
    return ask(method, RecordId::InformInfoRecord, mask, wanted, kInformInfoRecord.size);
  };
  bench.answer(query(Method::Get, 3, {.subscriber = h1, .number = 1}), "H2");
  EXPECT_EQ(bench.answered.mad.status, 0);
  const InformInfoRecord record = *decode_inform_info_record(bench.body);
  EXPECT_EQ(record.subscriber, h1);
  EXPECT_EQ(record.info.trap_or_device, 65);
  EXPECT_EQ(record.info.qpn, 1u);
  EXPECT_EQ(bench.status_of(query(Method::Get, 1, {.subscriber = h1}), "H2"), 0x0400);
  const auto of_trap_64 = query(Method::GetTable, 1 << 10, {.info = {.trap_or_device = 64}});
  bench.transport.sent.clear();
  bench.give(of_trap_64, bench.lid("H2"));
  bench.run();
  EXPECT_EQ(bench.sent(0).attribute_offset, 8);
  EXPECT_EQ(bench.sent(0).rmpp.length, 20u + 2 * 64);
}

TEST(Inform, SubscriptionsOutliveTheManager) {
  KeptBench before;
  ASSERT_EQ(before.status_of(trusted(subscribe({.trap_or_device = 65})), "H1"), 0);
  const SubscriptionTable::Map kept = before.inform.table().all();
  KeptBench restored;
  restored.inform.restore(kept, before.inform.in_service());
  EXPECT_EQ(restored.inform.table().all(), kept);
  restored.adopt(view_of(kWithoutH3));  // it went while nobody looked
  restored.run();
  EXPECT_THAT(told(restored), ElementsAre(restored.lid("H1")));
}

TEST(Inform, AManagerThatIsNoLongerMasterSendsNoReport) {
  KeptBench bench;
  ASSERT_EQ(bench.status_of(subscribe({}), "H1"), 0);
  bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.inform.adopt(nullptr);  // before the Report is on its way
  bench.run_for(60s);
  EXPECT_THAT(bench.reports(), IsEmpty());
  bench.inform.adopt(bench.view);
  bench.inform.tell(GroupEvent{.mgid = {1, Guid{2}}, .p_key = kDefaultPKey});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1));
  EXPECT_EQ(trap_in(bench.reports()[0]), 66);
  bench.confirm(bench.reports()[0]);
  EXPECT_TRUE(bench.inform.reporter().at_rest());
}

/// Also where a Report is under way, and others wait for it.
TEST(Inform, EventsOfAFormerTermAreNotTold) {
  KeptBench bench({.reports = {.under_way_to_one_port = 1, .failures = 1}});
  for (std::uint32_t qp = 10; qp < 13; ++qp) {
    MadPacket packet = packet_of(subscribe({}), bench.lid("H1"), 1000 + qp);
    packet.remote_qp = qp;
    bench.transport.deliver(packet);
    bench.run();
  }
  for (int i = 0; i < 2; ++i) bench.inform.tell(TrapEvent{link_trap(bench)});
  bench.run();
  ASSERT_THAT(bench.reports(), SizeIs(1));
  const MadPacket former = bench.reports()[0];
  bench.inform.adopt(nullptr);
  EXPECT_TRUE(bench.inform.reporter().at_rest());
  bench.run_for(60s);
  bench.transport.sent.clear();
  bench.inform.restore(SubscriptionTable::Map(bench.inform.table().all()),
                       bench.inform.in_service());
  bench.inform.adopt(bench.view);
  bench.run_for(60s);
  EXPECT_THAT(bench.reports(), IsEmpty());
  EXPECT_EQ(bench.inform.table().count(), 3u) << "whom nobody told anything was not silent";
  bench.confirm(former);
  EXPECT_EQ(bench.inform.reporter().stats().unasked, 1u);
  bench.inform.tell(GroupEvent{.mgid = {1, Guid{2}}, .p_key = kDefaultPKey});
  bench.run();
  for (std::size_t at = 0; at < bench.reports().size(); ++at) {
    EXPECT_EQ(trap_in(bench.reports()[at]), 66);
    bench.confirm(bench.reports()[at]);
  }
  EXPECT_EQ(told(bench).size(), 3u);
  EXPECT_EQ(bench.inform.reporter().stats().missed, 0u);
  EXPECT_TRUE(bench.inform.reporter().at_rest());
}

/// A port that went between two lives: nobody knows any more in which partitions it was.
TEST(Inform, WhoWentUnseenIsToldToTheTrustedAloneWhereThereArePartitions) {
  KeptBench before;
  ASSERT_EQ(before.status_of(subscribe({.trap_or_device = 65}), "H1"), 0);
  ASSERT_EQ(before.status_of(trusted(subscribe({.trap_or_device = 65})), "H2"), 0);
  const SubscriptionTable::Map kept = before.inform.table().all();
  std::vector<Guid> in_service = before.inform.in_service();
  in_service.push_back(Guid{0x4711});
  for (const bool partitions : {false, true}) {
    KeptBench restored;
    restored.inform.restore(kept, in_service);
    restored.adopt(partitions ? with_others({"H2"}) : view_of(kWhole));
    restored.run();
    if (partitions)
      EXPECT_THAT(told(restored), ElementsAre(restored.lid("H2")));
    else
      EXPECT_THAT(told(restored), ElementsAre(restored.lid("H1"), restored.lid("H2")));
  }
}

}  // namespace inform_test
}  // namespace smd::sa
