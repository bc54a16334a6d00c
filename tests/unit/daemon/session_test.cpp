// What a manager and its administration owe each other: clients are served whatever a cycle does,
// and what they left is never lost, whoever is master and whenever this ends.
#include "smd/daemon/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "tests/unit/manager/small_subnet.h"

namespace smd::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

namespace part = sa::member_component;

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
    session = std::make_unique<Session>(net.runtime,
                                        net.port,
                                        std::move(settings),
                                        SaConfig{},
                                        store,
                                        Session::Hooks{.observer = std::move(observer)});
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

  static Gid mgid(std::uint64_t group) { return {0xff12401bffff0000u, Guid{group}}; }

  /// h2 asks to be in it.
  void join(std::uint64_t group) {
    const sa::SaHeader header{
        .mad = {.mgmt_class = 3,
                .class_version = sa::kClassVersion,
                .method = static_cast<std::uint8_t>(Method::Set),
                .transaction_id = ++transaction_,
                .attribute_id = static_cast<std::uint16_t>(sa::RecordId::McMemberRecord)},
        .component_mask = part::kMgid | part::kPortGid | part::kJoinState | part::kQKey |
                          part::kPKey | part::kTclass | part::kFlowLabel | part::kSl};
    const sa::McMemberRecord wanted{.mgid = mgid(group),
                                    .port_gid = {kDefaultSubnetPrefix, net.port_guid(kH2)},
                                    .q_key = 0xb1b,
                                    .p_key = kDefaultPKey,
                                    .join_state = join_state::kFull};
    MadPacket packet{.remote_lid = net.lid(kH1), .local_qp = 1, .remote_qp = 1};
    encode_sa_header(header, packet.mad);
    encode_record(wanted, std::span(packet.mad).subspan(sa::kHeaderSize, sa::kMcMemberRecord.size));
    EXPECT_TRUE(host.send(packet));
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

  [[nodiscard]] std::vector<Gid> kept_groups() const {
    std::vector<Gid> out;
    for (const Group& group : store.records().collect().groups) out.push_back(group.mgid);
    return out;
  }

  SmallSubnet net;
  mutable StateStore store;
  std::vector<std::string> put;  // into the store, in order
  std::function<void(SmState)> on_role;
  unsigned lost = 0;
  sim::SimTransport host{net.fabric, kH2, PortNum{1}};
  std::vector<sa::SaHeader> answers;  // that it got
  std::unique_ptr<Session> session;

 private:
  std::uint64_t transaction_ = 0;
};

/// As h2 would have left it.
Group left_group(std::uint64_t number) {
  return {.mgid = Bench::mgid(number),
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
  EXPECT_THAT(bench.kept_groups(), ElementsAre(Bench::mgid(1)));
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
  EXPECT_THAT(bench.kept_groups(), ElementsAre(Bench::mgid(1)));
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

TEST(Session, WhoIsMasterNoMoreAnswersNobodyAndKeepsWhatClientsLeft) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.join(1);
  ASSERT_TRUE(bench.run_to_answer());
  Rival rival(bench.net, SmState::Master, 5);
  rival.tell();
  ASSERT_TRUE(bench.run_to(Phase::Standby));
  EXPECT_EQ(bench.ask(), sa::Status::Busy);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(Bench::mgid(1)));
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
  print_changes({{Bench::mgid(2), left_group(2)}},
                {Bench::mgid(2)},
                {{Bench::mgid(2), Guid{0x301}}},
                changes);
  ASSERT_TRUE(bench.store.records().apply(changes, 0));
  EXPECT_THAT(bench.kept_groups(), ElementsAre(Bench::mgid(1), Bench::mgid(2)));
  std::size_t known = 0;
  bench.on_role = [&](SmState role) {
    if (role == SmState::Master) known = bench.session->manager().multicast().to_restore().size();
  };
  rival.silent = true;
  ASSERT_TRUE(bench.run_to(Phase::Up));
  EXPECT_EQ(known, 2u);
  ASSERT_TRUE(bench.settle());
  const auto& groups = bench.session->manager().multicast().groups().groups();
  ASSERT_TRUE(groups.contains(Bench::mgid(2)));
  EXPECT_EQ(groups.at(Bench::mgid(2)).members, left_group(2).members);
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
  EXPECT_THAT(bench.kept_groups(), ElementsAre(Bench::mgid(1)));
  narrow.groups_per_port = 0;
  bench.session->set_limits(narrow);
  EXPECT_THAT(bench.kept_groups(), ElementsAre(Bench::mgid(1)));
  bench.session->set_limits(SaConfig{});
  bench.join(2);
  ASSERT_TRUE(bench.run_to_answer());
  EXPECT_EQ(bench.answers.back().mad.status, 0);
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
  const sa::ViewParts apart = view_under(SmKey{5}, SmKey{1});
  EXPECT_EQ(apart.trust_key, SmKey{1});
  EXPECT_EQ(apart.sm.sm_key, SmKey{}) << "who knows the one does not learn the other";
  const sa::ViewParts alone = view_under(SmKey{}, SmKey{1});
  EXPECT_EQ(alone.trust_key, SmKey{1}) << "beside OpenSM";
}

}  // namespace
}  // namespace smd::test
