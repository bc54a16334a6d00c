// What a manager and its administration owe each other: clients are served whatever a cycle does,
// and what they left is never lost, whoever is master and whenever this ends.
#include "smd/daemon/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "smd/sa/node_records.h"
#include "smd/sa/path_finder.h"
#include "tests/support/holding_runtime.h"
#include "tests/support/sa_request.h"
#include "tests/unit/manager/small_subnet.h"

namespace smd::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

/// LID and block of a GUIDInfoRecord.
constexpr std::uint64_t kGuidMask = sa::component_bit(0) | sa::component_bit(1);

struct Bench {
  /// `left`: by clients in a former life.
  explicit Bench(ClientRecords left = {}) {
    store.load({}, std::move(left));
    store.changed().subscribe([this](const StateKind& kind) { put.emplace_back(kind.name); });
    host.set_handlers(
        [this](const MadPacket& packet) { answers.push_back(*sa::decode_sa_header(packet.mad)); },
        [](const Error&) {});
    make();
  }

  /// In place of the one there is.
  void make() {
    session.reset();
    Settings settings = small_settings();
    settings.groups.clear();  // none but those of hosts
    SubnetManager::Observer observer;
    observer.on_role = [this](SmState role) {
      if (on_role) on_role(role);
    };
    observer.on_lost = [this](const Error&) { ++lost; };
    // Behind the plan of a cycle comes nothing but statistics.
    observer.on_plan = [this](const Fabric&, const TransitionPlan&) {
      runtime.holds = holds_statistics;
    };
    session = std::make_unique<Session>(runtime,
                                        net.port,
                                        std::move(settings),
                                        SaConfig{},
                                        store,
                                        Session::Hooks{.observer = std::move(observer)});
    session->manager().cycle_ended().subscribe(
        [this](const CycleReport& cycle) { cycles.push_back(cycle); });
  }

  bool settle() {
    return net.run_until([this] { return session->manager().at_rest(); });
  }

  bool bring_up() {
    session->start();
    return settle() && session->manager().active().current() != nullptr;
  }

  bool run_to(Phase phase) {
    return net.run_until([this, phase] { return session->manager().phase() == phase; });
  }

  [[nodiscard]] Gid gid(std::uint32_t node) const {
    return {kDefaultSubnetPrefix, net.port_guid(node)};
  }

  /// h2 asks.
  template <class Record>
  void ask_for(sa::RecordId id,
               std::uint64_t mask,
               const Record& record,
               std::size_t size,
               Method method = Method::Set) {
    EXPECT_TRUE(host.send(encode_sa_request({.manager = net.lid(kH1),
                                             .transaction = ++transaction_,
                                             .method = method,
                                             .id = id,
                                             .mask = mask,
                                             .sm_key = shown},
                                            record,
                                            size)));
  }

  /// Settings that are other than they were, until they are in force.
  void change(const std::function<void(Settings&)>& edit) {
    Settings settings = session->manager().settings();
    edit(settings);
    session->manager().adopt(settings);
    session->manager().request_sweep("configuration");
    EXPECT_TRUE(settle());
  }

  /// The status that h2 gets; nothing where it gets no answer.
  std::optional<std::uint16_t> status_of(const std::function<void()>& request) {
    const std::size_t before = answers.size();
    request();
    net.run_for(50ms);
    if (answers.size() == before) return std::nullopt;
    return answers.back().mad.status;
  }

  /// h2 asks to be in it, or that another one be.
  void join(std::uint64_t group, std::uint32_t node = kH2) {
    ask_for(sa::RecordId::McMemberRecord,
            kJoinMask,
            joining(group, gid(node)),
            sa::kMcMemberRecord.size);
  }

  void offer(std::uint64_t id) {
    namespace part = sa::service_component;
    const sa::ServiceRecord record{.id = id, .gid = gid(kH2), .p_key = kDefaultPKey};
    ask_for(sa::RecordId::ServiceRecord,
            part::kId | part::kGid | part::kPKey,
            record,
            sa::kServiceRecord.size);
  }

  void subscribe(std::uint16_t trap) {
    ask_for(sa::RecordId::InformInfo,
            0,
            sa::InformInfo{.type = 3, .trap_or_device = trap, .producer_or_vendor = 2},
            sa::kInformInfoSize);
  }

  void give_guids_back() {
    ask_for(sa::RecordId::GuidInfoRecord,
            kGuidMask | sa::component_bit(5),
            sa::GuidInfoRecord{.lid = net.lid(kH2)},
            sa::kGuidInfoRecord.size,
            Method::Delete);
  }

  void add_guid(std::uint64_t guid) { add_guid(guid, Guid{guid}); }

  void add_guid(std::uint64_t index, Guid guid) {
    sa::GuidInfoRecord record{.lid = net.lid(kH2)};
    record.guids[index] = guid;
    ask_for(sa::RecordId::GuidInfoRecord,
            kGuidMask | sa::component_bit(static_cast<unsigned>(4 + index)),
            record,
            sa::kGuidInfoRecord.size);
  }

  bool run_to_answer() {
    const std::size_t before = answers.size();
    return net.run_until([&] { return answers.size() > before; });
  }

  /// What a client would be told that asks who is in which group.
  [[nodiscard]] sa::Status ask() {
    const sa::SaHeader header{
        .mad = {.mgmt_class = 3,
                .class_version = sa::kClassVersion,
                .method = static_cast<std::uint8_t>(Method::GetTable),
                .transaction_id = 1,
                .attribute_id = static_cast<std::uint16_t>(sa::RecordId::NodeRecord)}};
    const std::array<std::byte, sa::kDataSize> nothing{};
    return session->administration()
        .server()
        .ask({.header = header, .data = nothing, .trusted = true})
        .status;
  }

  /// As h2 would be told now.
  [[nodiscard]] std::array<Guid, kGuidBlockSize> guid_block_of_h2() const {
    std::array<std::byte, sa::kDataSize> wanted{};
    encode_record(sa::GuidInfoRecord{.lid = net.lid(kH2)},
                  std::span(wanted).first(sa::kGuidInfoRecord.size));
    const sa::SaHeader header{
        .mad = {.mgmt_class = 3,
                .class_version = sa::kClassVersion,
                .method = static_cast<std::uint8_t>(Method::Get),
                .attribute_id = static_cast<std::uint16_t>(sa::RecordId::GuidInfoRecord)},
        .component_mask = kGuidMask};
    const sa::Answer answer =
        session->administration().server().ask({.header = header, .data = wanted, .trusted = true});
    return sa::decode_guid_info_record(answer.records).value().guids;
  }

  [[nodiscard]] std::vector<Gid> kept_groups() const {
    std::vector<Gid> out;
    for (const Group& group : store.records().collect().groups) out.push_back(group.mgid);
    return out;
  }

  SmallSubnet net;
  HoldingRuntime runtime{net.runtime};
  bool holds_statistics = false;
  mutable StateStore store;
  std::vector<std::string> put;  // into the store, in order
  std::function<void(SmState)> on_role;
  unsigned lost = 0;
  std::vector<CycleReport> cycles;
  sim::SimTransport host{net.fabric, kH2, PortNum{1}};
  std::vector<sa::SaHeader> answers;  // that it got
  SmKey shown;                        // in its requests
  std::unique_ptr<Session> session;

 private:
  std::uint64_t transaction_ = 0;
};

/// As h2 would have left it.
Group left_group(std::uint64_t number) {
  return {.mgid = mgid(number),
          .mlid = Lid{0xc005},
          .traits = {.q_key = 0xb1b,
                     .p_key = kDefaultPKey,
                     .mtu = 4,
                     .rate = 3,
                     .life_time = 18,
                     .scope = kLinkLocalScope},
          .creator = Guid{0x301},
          .members = {{Guid{0x301}, {.join_state = join_state::kFull}}}};
}

TEST(Session, WhatAClientAsksForIsAnsweredAndKept) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.put.clear();
  bench.join(1);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0);
  EXPECT_THAT(bench.put, Contains(StateKind::kClientRecords.name));
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
}

TEST(Session, HostsAreServedBeforeTheirRoutesAreMeasured) {
  Bench bench;
  bench.holds_statistics = true;
  bench.session->start();
  ASSERT_TRUE(bench.net.run_until([&] { return bench.runtime.held.size() > 0; }));
  bench.net.run_for(1ms);
  EXPECT_EQ(bench.session->manager().cycles(), 0u);
  bench.join(1);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
  bench.runtime.release();
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.session->manager().cycles(), 1u);
  EXPECT_TRUE(bench.session->manager().last_cycle()->routes.minimality);
  EXPECT_GT(bench.session->manager().last_cycle()->load.max, 0u);
}

TEST(Session, AChangeDoesNotWaitForStatisticsOfTheLastOne) {
  Bench bench;
  bench.holds_statistics = true;
  bench.session->start();
  ASSERT_TRUE(bench.net.run_until([&] { return bench.runtime.held.size() > 0; }));
  bench.session->manager().request_sweep("command");
  bench.holds_statistics = false;
  bench.runtime.release();
  ASSERT_TRUE(bench.settle());
  ASSERT_FALSE(bench.cycles.empty());
  const CycleReport& first = bench.cycles.front();
  EXPECT_FALSE(first.routes.minimality) << "they were computed to the end";
  EXPECT_TRUE(first.up());
  EXPECT_EQ(first.routes.pairs, 20u) << "as the check of the change counted them";
}

TEST(Session, AChangeDuringProgrammingSkipsStatistics) {
  Bench bench;
  bench.holds_statistics = true;
  bench.session->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  bench.session->manager().request_sweep("command");
  ASSERT_TRUE(bench.net.run_until([&] { return bench.runtime.held.size() > 0; }));
  bench.holds_statistics = false;
  bench.runtime.release();
  ASSERT_TRUE(bench.settle());
  ASSERT_FALSE(bench.cycles.empty());
  EXPECT_FALSE(bench.cycles.front().routes.minimality);
}

TEST(Session, ClientsAreServedWhileACycleWaitsForAnswers) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.net.loses = [](const Smp& smp) { return goes_to(smp, kToS2); };
  bench.session->manager().request_sweep("command");
  bench.join(1);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0);
  EXPECT_EQ(bench.session->manager().phase(), Phase::Discovering);
  ASSERT_TRUE(bench.settle());
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
}

TEST(Session, WhatClientsLeftIsThereInTheNextLife) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.join(1);
  ASSERT_TRUE(bench.run_to_answer());
  ASSERT_TRUE(bench.settle());
  const ClientRecords kept = bench.store.records().collect();
  bench.session.reset();
  EXPECT_EQ(bench.store.records().collect(), kept);
  bench.make();
  EXPECT_EQ(bench.store.records().collect().groups, kept.groups) << "before there is a subnet";
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(bench.store.records().collect().groups, kept.groups);
  EXPECT_THAT(bench.session->manager().multicast().groups().groups(), SizeIs(1));
}

TEST(Session, DestroyedAfterAnyStepItSendsNothingMoreAndLosesNothing) {
  bool whole = false;
  for (unsigned tasks = 0; !whole; tasks += 23) {
    Bench bench({.groups = {left_group(1)}});
    bench.session->start();
    for (unsigned run = 0; run < tasks && !whole; ++run) {
      bench.net.runtime.run_one();
      whole = bench.session->manager().phase() == Phase::Up && bench.session->manager().at_rest();
    }
    bench.session.reset();
    const std::size_t sent = bench.net.sent.size();
    bench.net.run_for(100s);
    EXPECT_EQ(bench.net.sent.size(), sent) << "after " << tasks;
    EXPECT_THAT(bench.store.records().collect().groups, ElementsAre(left_group(1)))
        << "after " << tasks;
  }
}

TEST(Session, MayBeDestroyedInTheTurnAfterItsPortIsGone) {
  Bench bench;
  bench.session->start();
  ASSERT_TRUE(bench.run_to(Phase::Programming));
  bench.net.wire.unplug();
  ASSERT_TRUE(bench.net.run_until([&] { return bench.lost == 1; }));
  bench.session.reset();
  bench.net.run_for(100s);
  EXPECT_EQ(bench.lost, 1u);
}

TEST(Session, NobodyIsAnsweredBeforeThereIsASubnet) {
  Bench bench;
  EXPECT_EQ(bench.ask(), sa::Status::Busy);
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(bench.ask(), sa::Status::Ok);
}

/// A port comes up, and is told to register again, in the middle of a cycle.
TEST(Session, AHostThatAsksAsSoonAsItsPortIsActiveIsAnswered) {
  for (const bool first : {true, false}) {
    Bench bench;
    if (first) {
      bench.session->start();
    } else {
      bench.net.fabric.set_link(kH2, PortNum{1}, false);
      ASSERT_TRUE(bench.bring_up());
      bench.net.fabric.set_link(kH2, PortNum{1}, true);
    }
    ASSERT_TRUE(bench.net.run_until(
        [&] { return bench.net.fabric.port_info(kH2, PortNum{1}).state() == PortState::Active; }));
    bench.join(1);
    ASSERT_TRUE(bench.run_to_answer());
    EXPECT_EQ(bench.answers.front().mad.status, 0) << (first ? "in the first cycle" : "later on");
    EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
  }
}

TEST(Session, WhoIsMasterNoMoreAnswersNobodyAndKeepsWhatClientsLeft) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.join(1);
  ASSERT_TRUE(bench.run_to_answer());
  Rival rival(bench.net, SmState::Master, 5);
  rival.tell();
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  EXPECT_EQ(bench.ask(), sa::Status::Busy);
  EXPECT_EQ(bench.status_of([&] { bench.join(2); }), std::nullopt);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
  bench.net.sent.clear();
  bench.net.run_for(100s);
  EXPECT_EQ(bench.net.writes(), 0u);
}

TEST(Session, WhatTheMasterKeptIsOursBeforeOurRoleIsTold) {
  Bench bench;
  Rival rival(bench.net, SmState::Master, 5);
  bench.session->start();
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  bench.store.records().replace({.groups = {left_group(1)}});
  EXPECT_THAT(bench.put, Contains(StateKind::kClientRecords.name));
  std::string changes;
  print_changes({{mgid(2), left_group(2)}}, {mgid(2)}, {{mgid(2), Guid{0x301}}}, changes);
  ASSERT_TRUE(bench.store.records().apply(changes, 0));
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1), mgid(2)));
  std::size_t known = 0;
  bench.on_role = [&](SmState role) {
    if (role == SmState::Master) known = bench.session->manager().multicast().to_restore().size();
  };
  rival.silent = true;
  ASSERT_TRUE(bench.run_to(Phase::Up));
  EXPECT_EQ(known, 2u);
  ASSERT_TRUE(bench.settle());
  const auto& groups = bench.session->manager().multicast().groups().groups();
  ASSERT_TRUE(groups.contains(mgid(2)));
  EXPECT_EQ(groups.at(mgid(2)).members, left_group(2).members);
}

TEST(Session, LimitsHoldFromNowOnAndTakeNothingAway) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.join(1);
  ASSERT_TRUE(bench.run_to_answer());
  SaConfig narrow;
  narrow.groups_per_port = 1;
  bench.session->set_limits(narrow);
  bench.join(2);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_NE(bench.answers.back().mad.status, 0);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
  narrow.groups_per_port = 0;
  bench.session->set_limits(narrow);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
  bench.session->set_limits(SaConfig{});
  bench.join(2);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0);
}

/// A limit, and what goes over it the second time.
struct Limit {
  const char* name;
  unsigned SaConfig::*limit;
  void (*ask)(Bench& bench, std::uint64_t i);

  friend void PrintTo(const Limit& limit, std::ostream* out) { *out << limit.name; }
};

class SessionLimits : public testing::TestWithParam<Limit> {};

TEST_P(SessionLimits, OneIsOfWhatItSays) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const auto is_refused = [&](std::uint64_t i) {
    return bench.status_of([&] { GetParam().ask(bench, i); }) != 0;
  };
  EXPECT_FALSE(is_refused(1));
  EXPECT_FALSE(is_refused(2)) << "without it";
  bench.net.run_for(1s);
  SaConfig narrow;
  narrow.*GetParam().limit = GetParam().limit == &SaConfig::requests_per_port_in_100ms ? 1 : 3;
  bench.session->set_limits(narrow);
  EXPECT_FALSE(is_refused(3));
  EXPECT_TRUE(is_refused(4));
}

constexpr auto kJoin = [](Bench& bench, std::uint64_t i) { bench.join(i); };
constexpr auto kOffer = [](Bench& bench, std::uint64_t i) { bench.offer(i); };
constexpr auto kSubscribe = [](Bench& bench, std::uint64_t i) {
  bench.subscribe(static_cast<std::uint16_t>(63 + i));
};
constexpr auto kAddGuid = [](Bench& bench, std::uint64_t i) { bench.add_guid(i); };

INSTANTIATE_TEST_SUITE_P(
    Each,
    SessionLimits,
    testing::Values(
        Limit{"groups", &SaConfig::groups, kJoin},
        Limit{"groups_per_port", &SaConfig::groups_per_port, kJoin},
        Limit{"joins", &SaConfig::joins, kJoin},
        Limit{"joins_per_port", &SaConfig::joins_per_port, kJoin},
        Limit{"services", &SaConfig::services, kOffer},
        Limit{"services_per_port", &SaConfig::services_per_port, kOffer},
        Limit{"subscriptions", &SaConfig::subscriptions, kSubscribe},
        Limit{"subscriptions_per_port", &SaConfig::subscriptions_per_port, kSubscribe},
        Limit{"aliases", &SaConfig::aliases, kAddGuid},
        Limit{"aliases_per_port", &SaConfig::aliases_per_port, kAddGuid},
        Limit{"requests_per_port_in_100ms", &SaConfig::requests_per_port_in_100ms, kJoin}),
    [](const auto& at) { return at.param.name; });

TEST(Session, WhoSpeaksForAnotherIsRefusedWhereTheSiteSaysSo) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.join(1, kH3);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0);
  SaConfig strict;
  strict.refuse_foreign_gids = true;
  bench.session->set_limits(strict);
  bench.join(2, kH3);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_NE(bench.answers.back().mad.status, 0);
  bench.join(2);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0) << "for itself";
}

/// Each would cost as much as the fabric is large.
TEST(Session, FurtherGuidsAreKnownAtOnceAndMakeAViewTogether) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const sa::InformManager& inform = bench.session->administration().inform();
  const sa::SubnetView* const before = inform.view();
  for (std::uint64_t guid = 1; guid < 8; ++guid) {
    bench.add_guid(guid);
    bench.net.run_for(1ms);
    EXPECT_EQ(bench.guid_block_of_h2()[guid], Guid{guid});
    EXPECT_EQ(inform.view(), before);
  }
  EXPECT_THAT(bench.answers, testing::IsEmpty());
  bench.net.run_for(50ms);
  EXPECT_NE(inform.view()->find_port(Guid{7}), kNone<PortIdx>);
  EXPECT_THAT(bench.answers, SizeIs(7));
}

TEST(Session, TheGuidOfAHostThatIsAwayWaitsForIt) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const Guid away = bench.net.port_guid(kH3);
  bench.net.fabric.set_node(kH3, false);
  bench.change([](Settings& settings) { settings.sa_key = SmKey{7}; });
  bench.add_guid(1, away);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.guid_block_of_h2()[1], Guid{});
  bench.shown = SmKey{7};
  bench.add_guid(1, away);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.guid_block_of_h2()[1], away) << "who may do everything";
}

TEST(Session, RequestsAreTrustedByAKeyOfTheirOwn) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const auto view_under = [&](SmKey sm_key, SmKey sa_key) {
    SubnetManager& manager = bench.session->manager();
    Settings settings = manager.settings();
    settings.election.sm_key = sm_key;
    settings.sa_key = sa_key;
    manager.adopt(settings);
    manager.request_sweep("configuration");
    EXPECT_TRUE(bench.settle());
    return make_view(manager, {}, nullptr, nullptr)->parts();
  };
  const sa::ViewParts one = view_under(SmKey{5}, SmKey{});
  EXPECT_EQ(one.trust_key, SmKey{5});
  EXPECT_EQ(one.sm.sm_key, SmKey{5});
  EXPECT_FALSE(one.shows_m_keys) << "a master shows that key to who says that he is a manager";
  const sa::ViewParts apart = view_under(SmKey{5}, SmKey{1});
  EXPECT_EQ(apart.trust_key, SmKey{1});
  EXPECT_TRUE(apart.shows_m_keys);
  EXPECT_EQ(apart.sm.sm_key, SmKey{}) << "who knows the one does not learn the other";
  const sa::ViewParts alone = view_under(SmKey{}, SmKey{1});
  EXPECT_EQ(alone.trust_key, SmKey{1}) << "beside OpenSM";
}

/// Who has learned the SM_Key, which managers show each other, gives no orders with it.
TEST(Session, AnOrderWithAWrongSaKeyIsDropped) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.change([](Settings& settings) {
    settings.election.sm_key = SmKey{5};
    settings.sa_key = SmKey{7};
  });
  SaConfig strict;
  strict.refuse_foreign_gids = true;
  bench.session->set_limits(strict);
  const auto for_another = [&] { bench.join(1, kH3); };
  EXPECT_NE(bench.status_of(for_another).value_or(0), 0) << "without a key";
  for (const std::uint64_t wrong : {5, 6}) {
    bench.shown = SmKey{wrong};
    EXPECT_EQ(bench.status_of(for_another), std::nullopt) << wrong;
  }
  EXPECT_EQ(bench.session->administration().server().stats().wrong_key, 2u);
  EXPECT_THAT(bench.kept_groups(), testing::IsEmpty());
  bench.shown = SmKey{7};
  EXPECT_EQ(bench.status_of(for_another), 0);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
}

/// Whoever sets it tells others, and goes on at once.
TEST(Session, AFurtherGuidIsKnownEverywhereAsSoonAsItIsConfirmed) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const Gid further{kDefaultSubnetPrefix, Guid{0x77770001}};
  const auto path = [&](const Gid& from, const Gid& to) {
    bench.ask_for(sa::RecordId::PathRecord,
                  sa::path_component::kSgid | sa::path_component::kDgid,
                  sa::PathRecord{.dgid = to, .sgid = from},
                  sa::kPathRecordSize,
                  Method::Get);
    return bench.run_to_answer() ? bench.answers.back().mad.status : 0xffff;
  };
  for (int round = 0; round < 2; ++round) {
    bench.add_guid(1, further.guid);
    ASSERT_TRUE(bench.run_to_answer());
    EXPECT_EQ(path(further, bench.gid(kH3)), 0) << round;
    bench.add_guid(1, further.guid);
    ASSERT_TRUE(bench.run_to_answer());
    EXPECT_EQ(path(bench.gid(kH3), further), 0) << round;
    bench.give_guids_back();
    ASSERT_TRUE(bench.run_to_answer());
    EXPECT_NE(path(bench.gid(kH3), further), 0) << round << ": given back";
  }
  bench.add_guid(1, further.guid);
  ASSERT_TRUE(bench.run_to_answer());
  bench.ask_for(
      sa::RecordId::McMemberRecord, kJoinMask, joining(1, further), sa::kMcMemberRecord.size);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0);
}

/// A virtual function that is taken away need not have left its groups.
TEST(Session, WithAFurtherGuidThatIsGivenBackItsMembershipsEnd) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const Gid further{kDefaultSubnetPrefix, Guid{0x77770001}};
  bench.add_guid(1, further.guid);
  ASSERT_TRUE(bench.run_to_answer());
  const auto join_as = [&](std::uint64_t group, const Gid& port) {
    bench.ask_for(
        sa::RecordId::McMemberRecord, kJoinMask, joining(group, port), sa::kMcMemberRecord.size);
    ASSERT_TRUE(bench.run_to_answer());
    EXPECT_EQ(bench.answers.back().mad.status, 0);
  };
  join_as(1, bench.gid(kH2));
  join_as(1, further);
  join_as(2, further);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1), mgid(2)));
  bench.give_guids_back();
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_THAT(bench.kept_groups(), ElementsAre(mgid(1)));
  const auto& members = bench.session->manager().multicast().groups().find(mgid(1))->members;
  EXPECT_THAT(members, ElementsAre(testing::Key(bench.net.port_guid(kH2))));
}

/// What waits for the view counts as requests that wait do.
TEST(Session, FurtherGuidsThatAreNotConfirmedYetAreRequestsThatWait) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  SaConfig strict;
  strict.requests_per_port = 3;
  bench.session->set_limits(strict);
  bench.answers.clear();
  for (std::uint64_t i = 0; i < 9; ++i) {
    bench.add_guid(1, Guid{0x77770001 + i});
    bench.net.run_for(1ms);
  }
  EXPECT_EQ(bench.session->administration().server().parked(), 3u);
  bench.net.run_for(50ms);
  EXPECT_EQ(bench.session->administration().server().parked(), 0u);
  EXPECT_EQ(bench.answers.size(), 3u);
}

/// Two hosts that are limited members of the one partition they share: neither finds the other, nor
/// puts it into a group.
TEST(Session, ALimitedMemberIsToldNothingOfAnother) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  const auto path_to = [&](std::uint32_t node, PKey p_key) {
    const sa::PathRecord wanted{.dgid = bench.gid(node), .sgid = bench.gid(kH2), .p_key = p_key};
    const std::uint64_t by_key = p_key == PKey{} ? 0 : sa::component_bit(13);
    return bench.status_of([&] {
      bench.ask_for(sa::RecordId::PathRecord,
                    sa::component_bit(2) | sa::component_bit(3) | by_key,
                    wanted,
                    sa::kPathRecordSize,
                    Method::Get);
    });
  };
  const auto node_of = [&](std::uint32_t node) {
    const sa::NodeRecord wanted{.lid = bench.net.lid(node)};
    return bench.status_of([&] {
      bench.ask_for(sa::RecordId::NodeRecord,
                    sa::component_bit(0),
                    wanted,
                    sa::kNodeRecord.size,
                    Method::Get);
    });
  };
  const auto join_for = [&](std::uint32_t node) {
    return bench.status_of([&] { bench.join(1, node); });
  };
  EXPECT_EQ(path_to(kH3, PKey{}), 0) << "both are full members";
  EXPECT_EQ(node_of(kH3), 0);
  EXPECT_EQ(join_for(kH3), 0);

  bench.change([](Settings& settings) {
    settings.partitions = PartitionPolicy{
        .rules =
            parse_partition_file("Default=0x7fff: ALL=limited, SELF=full;\n", "f").value().rules};
  });
  for (const PKey key : {PKey{}, PKey{0x7fff}, PKey{0xffff}})
    EXPECT_NE(path_to(kH3, key).value_or(0), 0) << key.value();
  EXPECT_NE(node_of(kH3).value_or(0), 0);
  EXPECT_NE(join_for(kH3).value_or(0), 0);
  EXPECT_EQ(path_to(kH1, PKey{}), 0) << "to the manager";
  EXPECT_EQ(join_for(kH2), 0) << "itself";
}

}  // namespace
}  // namespace smd::test
