// What a session makes of cycles that see little of the subnet, or do not write it to its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim-backend/agents/node_state.h"
#include "smd/daemon/session.h"
#include "smd/mad/tables.h"
#include "smd/sa/node_records.h"
#include "tests/support/sa_request.h"
#include "tests/unit/manager/small_subnet.h"

namespace smd::test {
namespace session_faults_test {

using testing::SizeIs;

struct Bench {
  explicit Bench(Settings settings = small_settings(), PersistentState kept = {})
      : store(std::move(kept)),
        session(net.runtime, net.port, std::move(settings), SaConfig{}, store, {}) {
    host.set_handlers([this](const MadPacket&) { ++heard; }, [](const Error&) {});
  }

  SubnetManager& manager() { return session.manager(); }

  bool settle() {
    return net.run_until([this] { return manager().at_rest(); });
  }

  bool bring_up() {
    session.start();
    return settle() && manager().active().current() != nullptr;
  }

  bool sweep() {
    manager().request_sweep("command");
    const bool rests = settle();
    net.run_for(1s);
    return rests && manager().at_rest();
  }

  /// h2 asks for a further GUID, or gives it back.
  void change_guid(std::size_t index, Guid guid, Method method = Method::Set) {
    sa::GuidInfoRecord record{.lid = net.lid(kH2)};
    record.guids[index] = guid;
    EXPECT_TRUE(
        host.send(encode_sa_request({.manager = net.lid(kH1),
                                     .transaction = ++transaction,
                                     .method = method,
                                     .id = sa::RecordId::GuidInfoRecord,
                                     .mask = sa::component_bit(0) | sa::component_bit(1) |
                                             sa::component_bit(static_cast<unsigned>(4 + index))},
                                    record,
                                    sa::kGuidInfoRecord.size)));
    net.run_for(50ms);
  }

  /// In the register of h2.
  [[nodiscard]] Guid guid_of_h2(std::size_t index) const {
    const std::vector<Guid>& guids = net.fabric.node_state(kH2).ports[1].guids;
    return index < guids.size() ? guids[index] : Guid{};
  }

  std::uint64_t transaction = 0;
  SmallSubnet net;
  StateStore store;
  sim::SimTransport host{net.fabric, kH2, PortNum{1}};
  unsigned heard = 0;  // by it
  Session session;
};

/// Whoever takes over from it gets what it has then.
TEST(SessionFaults, AManagerThatLostItsOwnCableForgetsNobody) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.host.send(encode_sa_request({.manager = bench.net.lid(kH1),
                                                 .transaction = 1,
                                                 .method = Method::Set,
                                                 .id = sa::RecordId::InformInfo,
                                                 .mask = 0},
                                                sa::InformInfo{},
                                                sa::kInformInfoSize)));
  bench.net.run_for(50ms);
  const ClientRecords left = bench.store.records().collect();
  ASSERT_THAT(left.subscriptions, SizeIs(1));
  ASSERT_THAT(left.in_service, SizeIs(5));
  for (const bool up : {false, true}) {
    bench.net.fabric.set_link(kH1, PortNum{1}, up);
    ASSERT_TRUE(bench.sweep());
    EXPECT_EQ(bench.manager().last_cycle()->cut_off, !up);
    const ClientRecords now = bench.store.records().collect();
    EXPECT_EQ(now.subscriptions, left.subscriptions) << (up ? "up" : "down");
    EXPECT_EQ(now.in_service, left.in_service) << (up ? "up" : "down");
  }
  const unsigned heard = bench.heard;
  bench.net.fabric.set_node(kH3, false);
  ASSERT_TRUE(bench.sweep());
  EXPECT_THAT(bench.store.records().collect().in_service, SizeIs(4));
  EXPECT_GT(bench.heard, heard) << "h2 is told of who is gone";
}

/// h3 restarts while h2 moves, and s1 takes no entries: under routes that need several VLs.
struct InterruptedCycles : testing::Test {
  static Settings settings() {
    Settings out = small_settings();
    out.congestion.enabled = true;
    out.engine = "dfsssp";
    out.lids.lmc = 1;
    out.engine_options.path_sets = true;
    return out;
  }

  void SetUp() override {
    ASSERT_TRUE(bench.bring_up());
    ASSERT_GT(bench.manager().in_force()->routing->vls, 1u);
    bench.net.run_for(1s);
    ASSERT_GT(limit(), 0u);
    bench.net.loses = [](const Smp& smp) {
      return sets(smp, AttributeId::LinearForwardingTable) && !goes_to(smp, kToS2);
    };
    bench.net.fabric.reboot_node(kH3, Duration{1ms});
    bench.net.fabric.move_cable(kS1, PortNum{2}, kS1, PortNum{4});
    bench.net.run_for(2ms);
    ASSERT_TRUE(bench.sweep());
    ASSERT_TRUE(is_interrupted());
    ASSERT_EQ(bench.net.fabric.port_info(kH3, PortNum{1}).state(), PortState::Active);
    ASSERT_EQ(limit(), 0u);
  }

  [[nodiscard]] unsigned limit() const {
    return bench.net.fabric.node_state(kH3).congestion(PortNum{1}).ccti_limit;
  }

  [[nodiscard]] bool is_interrupted() {
    return !bench.manager().last_cycle()->transition.interrupted.empty();
  }

  Bench bench{settings()};
};

/// Hosts hear of a change when it is whole, and who restarted meanwhile has lost its settings.
TEST_F(InterruptedCycles, LeaveAdaptersThatCameUpToTheOneThatIsNot) {
  bench.net.loses = nullptr;
  ASSERT_TRUE(bench.sweep());
  ASSERT_FALSE(is_interrupted());
  EXPECT_GT(limit(), 0u);
}

TEST_F(InterruptedCycles, GiveAdaptersTheirCongestionSettingsWhenTheyArePublished) {
  ASSERT_TRUE(bench.sweep());
  ASSERT_TRUE(is_interrupted());
  EXPECT_EQ(limit(), 0u);
  ASSERT_TRUE(bench.sweep());
  ASSERT_TRUE(is_interrupted());
  ASSERT_EQ(bench.manager().active().current(), bench.manager().share_in_force());
  EXPECT_GT(limit(), 0u);
}

/// Whoever was master meanwhile may have taken them away.
TEST(SessionFaults, FurtherGuidsAreSetAnewAfterAnotherMaster) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.change_guid(1, Guid{1});
  ASSERT_EQ(bench.guid_of_h2(1), Guid{1});
  Rival rival(bench.net, SmState::Master, 5);
  rival.tell();
  ASSERT_TRUE(bench.net.run_until([&] { return bench.manager().phase() == Phase::Standby; }));
  SmpRequest clearing{.route = SmpRoute::directed({PortNum{1}, PortNum{2}}),
                      .method = Method::Set,
                      .attribute = AttributeId::GuidInfo};
  encode_guid_block({bench.net.port_guid(kH2)}, clearing.data);
  ASSERT_TRUE(bench.host.send(build_request(clearing, Lid{0}, 99)));
  bench.net.run_for(1ms);
  ASSERT_EQ(bench.guid_of_h2(1), Guid{});
  rival.silent = true;
  ASSERT_TRUE(bench.net.run_until([&] { return bench.manager().phase() == Phase::Up; }));
  ASSERT_TRUE(bench.settle());
  bench.net.run_for(50ms);
  EXPECT_EQ(bench.guid_of_h2(1), Guid{1});
}

TEST(SessionFaults, AFurtherGuidWhoseSetIsNotAnsweredIsTakenBackAllTheSame) {
  Bench bench;
  ASSERT_TRUE(bench.bring_up());
  bench.change_guid(1, Guid{1});
  bench.net.port.on_receive = [](Smp& smp) { return !is_about(smp, AttributeId::GuidInfo); };
  bench.change_guid(2, Guid{2});
  ASSERT_EQ(bench.guid_of_h2(2), Guid{2});
  bench.net.run_for(10s);
  bench.net.port.on_receive = nullptr;
  bench.change_guid(2, Guid{2}, Method::Delete);
  EXPECT_EQ(bench.guid_of_h2(2), Guid{});
  EXPECT_EQ(bench.guid_of_h2(1), Guid{1});
}

}  // namespace session_faults_test
}  // namespace smd::test
