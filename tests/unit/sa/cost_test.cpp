// What a request costs that finds nothing: every record that was looked at, also those that the
// client may not see. A turn of the loop ends when its requests have cost enough.
#include <gtest/gtest.h>

#include "smd/multicast/subnet_limits.h"
#include "smd/sa/alias_manager.h"
#include "smd/sa/group_manager.h"
#include "smd/sa/path_finder.h"
#include "tests/unit/sa/kept.h"

namespace smd::sa {
namespace cost_test {

constexpr std::size_t kMany = 60;  // subscriptions that one port may have: 64

/// H2 is in partition 7, alone.
struct HiddenBench : KeptBench {
  HiddenBench() { adopt(with_others({"H2"})); }

  [[nodiscard]] Query from(const Asked& asked, std::string_view host) const {
    Query query = asked.query();
    query.client.lid = lid(host);
    query.requester = test::end_port(view->fabric(), host);
    return query;
  }
};

TEST(SaCost, OfServicesThatAClientMayNotSee) {
  HiddenBench bench;
  ServiceRecord record{.gid = {kDefaultSubnetPrefix, guid_of(*bench.view, "H1")}};
  const auto say = [&](Method method, std::uint64_t mask) {
    return ask(method, RecordId::ServiceRecord, mask, record, kServiceRecord.size);
  };
  for (record.id = 1; record.id <= kMany; ++record.id)
    ASSERT_EQ(
        bench.status_of(say(Method::Set, service_component::kId | service_component::kGid), "H1"),
        0);
  const auto answer = [&](std::uint64_t mask, std::string_view host) {
    return *bench.services.answer(*bench.view, bench.from(say(Method::GetTable, mask), host));
  };
  EXPECT_EQ(answer(0, "H2").count(), 0u);
  EXPECT_GE(answer(0, "H2").cost, kMany);
  record.id = 17;
  EXPECT_EQ(answer(service_component::kId, "H1").count(), 1u);
  EXPECT_LE(answer(service_component::kId, "H1").cost, 3u) << "looked up";
  EXPECT_LE(answer(service_component::kId, "H2").cost, 3u);
  record.id = kMany + 1;
  EXPECT_EQ(answer(service_component::kId, "H1").count(), 0u);
}

TEST(SaCost, OfGroupsThatAClientMayNotSee) {
  const auto view = view_of("H1-S1 H2-S1 S1-S2 H3-S2");
  auto fabric = std::make_shared<Fabric>(view->fabric());
  for (SwitchInfo& info : fabric->switch_info) info.multicast_fdb_cap = 1024;
  const SnapshotLimits subnet({.fabric = fabric, .lids = view->parts().lids});
  std::vector<PreconfiguredGroup> preconfigured(kMany);
  for (std::size_t i = 0; i < kMany; ++i)
    preconfigured[i] = {.mgid = {0xff12401b81230000u, Guid{i}}, .p_key = PKey{0x8123}};
  GroupTable groups;
  ASSERT_TRUE(groups.keep(subnet, preconfigured).empty());
  MftMemory tables;
  GroupManager manager({.groups = groups,
                        .tables = tables,
                        .subnet = [&]() -> const SubnetLimits* { return &subnet; },
                        .on_changed = [] {}});
  McMemberRecord wanted;
  const auto answer = [&](std::uint64_t mask, bool trusted) {
    const Asked asked = ask(Method::GetTable, RecordId::McMemberRecord, mask, wanted, 56);
    return *manager.answer(*view, asked.query(trusted));
  };
  EXPECT_EQ(answer(0, false).count(), 0u);
  EXPECT_GE(answer(0, false).cost, kMany);
  EXPECT_GE(answer(0, true).cost, kMany) << "none has a member";
  EXPECT_GE(answer(member_component::kPortGid, true).cost, kMany);
  wanted.mtu = {Selector::GreaterThan, 5};
  EXPECT_GE(answer(member_component::kMtuSelector | member_component::kMtu, true).cost, kMany);
}

TEST(SaCost, OfSubscriptionsThatAClientMayNotSee) {
  HiddenBench bench;
  for (std::uint32_t qp = 2; qp < 2 + kMany; ++qp) {
    MadPacket packet = packet_of(subscribe({}), bench.lid("H1"), 1000 + qp);
    packet.remote_qp = qp;
    bench.transport.deliver(packet);
    bench.run();
  }
  ASSERT_EQ(bench.inform.table().count(), kMany);
  const Asked asked = ask(Method::GetTable, RecordId::InformInfoRecord, 0, InformInfoRecord{}, 64);
  const Answer answer = *bench.inform.answer(*bench.view, bench.from(asked, "H2"));
  EXPECT_EQ(answer.count(), 0u);
  EXPECT_GE(answer.cost, kMany);
}

TEST(SaCost, OfASubscriptionThatIsRefused) {
  KeptBench bench;
  bench.adopt(with_others({"H3"}));
  const Lid hidden = bench.lid("H3");
  ASSERT_GT(hidden.value(), 2u);
  const Asked asked = subscribe({.lid_first = Lid{1}, .lid_last = Lid{0xbfff}});
  Query query = asked.query();
  query.client.lid = bench.lid("H1");
  const Answer answer = *bench.inform.answer(*bench.view, query);
  EXPECT_EQ(answer.status, Status::Denied);
  EXPECT_GE(answer.cost, hidden.value()) << "LIDs that were looked at";
}

TEST(SaCost, OfAFurtherGuidIsThatOfANewView) {
  ViewParts parts = parts_of("H1-S1 H2-S1 S1-S2 H3-S2");
  auto fabric = std::make_shared<Fabric>(*parts.fabric);
  for (PortInfo& info : fabric->port_info) info.guid_cap = 8;
  parts.fabric = fabric;
  const SubnetView view(std::move(parts));
  AliasManager aliases([] {});
  const auto cost = [&](Method method) {
    GuidInfoRecord record{.lid = lid_of(view, "H1")};
    record.guids[1] = Guid{0xaa};
    const std::uint64_t mask = component_bit(0) | component_bit(1) | component_bit(5);
    const Asked asked = ask(method, RecordId::GuidInfoRecord, mask, record, kGuidInfoRecord.size);
    Query query = asked.query();
    query.client.lid = record.lid;
    return aliases.answer(view, query)->cost;
  };
  const std::size_t ports = view.end_ports().size();
  EXPECT_GE(cost(Method::Set), ports);
  EXPECT_EQ(cost(Method::Set), 1u) << "it is there";
  EXPECT_GE(cost(Method::Delete), ports);
  EXPECT_EQ(cost(Method::Delete), 1u);
}

class OfPorts : public ::testing::TestWithParam<RecordId> {};

TEST_P(OfPorts, ThatAClientMayNotSee) {
  const HiddenBench bench;
  Asked asked = ask(Method::GetTable, GetParam(), 0, NodeRecord{}, 112);
  asked.data = {};
  const std::size_t ports = bench.view->end_ports().size();
  EXPECT_GE(answer_query(*bench.view, bench.from(asked, "H2")).cost, ports);
}

INSTANTIATE_TEST_SUITE_P(SaCost,
                         OfPorts,
                         ::testing::Values(RecordId::NodeRecord,
                                           RecordId::PortInfoRecord,
                                           RecordId::SwitchInfoRecord,
                                           RecordId::LinkRecord,
                                           RecordId::LftRecord,
                                           RecordId::GuidInfoRecord,
                                           RecordId::PathRecord,
                                           RecordId::SlToVlTableRecord,
                                           RecordId::VlArbTableRecord),
                         [](const auto& at) {
                           return std::string(
                               print_record_id(static_cast<std::uint16_t>(at.param)));
                         });

}  // namespace cost_test
}  // namespace smd::sa
