// ServiceRecord: who may set, see and delete it, and for how long it stands.
#include <gtest/gtest.h>

#include "tests/unit/sa/kept.h"

namespace smd::sa {
namespace service_test {

using std::chrono_literals::operator""s;
namespace part = service_component;

constexpr std::uint64_t kRid = part::kId | part::kGid | part::kPKey;

ServiceRecord service(const KeptBench& bench, std::uint64_t id, std::string_view host) {
  ServiceRecord record{
      .id = id, .gid = {kDefaultSubnetPrefix, guid_of(*bench.view, host)}, .p_key = kDefaultPKey};
  record.name[0] = 'x';
  record.data[63] = 9;
  return record;
}

Asked say(Method method, std::uint64_t mask, const ServiceRecord& record) {
  return ask(method, RecordId::ServiceRecord, mask, record, kServiceRecord.size);
}

TEST(Service, IsFoundByAnyOfItsFieldsWithoutItsKey) {
  KeptBench bench;
  ServiceRecord record = service(bench, 0x1234, "H1");
  record.key.fill(7);
  bench.answer(say(Method::Set, ~0ull, record), "H1");
  EXPECT_EQ(bench.answered.mad.status, 0);
  EXPECT_EQ(bench.answered.mad.method, 0x81);
  ServiceRecord shown = record;
  shown.key = {};
  EXPECT_EQ(*decode_service_record(bench.body), shown);
  bench.answer(say(Method::Get, part::kId, record), "H2");
  EXPECT_EQ(*decode_service_record(bench.body), shown);
  bench.answer(trusted(say(Method::Get, part::kId, record)), "H2");
  EXPECT_EQ(*decode_service_record(bench.body), record);
  EXPECT_EQ(bench.status_of(say(Method::Get, part::kKey, record), "H2"), 0x0300)
      << "nobody finds a key by asking";
  EXPECT_EQ(bench.status_of(say(Method::Get, 1ull << 36, record), "H2"), 0) << "ServiceData64.2";
  record.data[63] = 8;
  EXPECT_EQ(bench.status_of(say(Method::Get, 1ull << 36, record), "H2"), 0x0300);
  EXPECT_EQ(bench.status_of(say(Method::Get, 1ull << 35, record), "H2"), 0);
}

/// H2 takes the place of H1's service: its clients would come to it, where ServiceKeys are not
/// used.
TEST(Service, NobodySpeaksForAnotherWhereTheSiteForbidsIt) {
  KeptBench bench;
  const ServiceRecord record = service(bench, 1, "H1");
  ASSERT_EQ(bench.status_of(say(Method::Set, kRid, record), "H1"), 0);
  ServiceRecord forged = record;
  forged.data[63] = 66;
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, forged), "H2"), 0) << "as IBA has it";
  bench.server.set_limits({.own_gids_only = true});
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, forged), "H2"), 0x0700);
  EXPECT_EQ(bench.status_of(say(Method::Delete, kRid, record), "H2"), 0x0700);
  EXPECT_EQ(bench.server.stats().foreign, 2u);
  bench.answer(say(Method::Get, part::kId, record), "H3");
  EXPECT_EQ(decode_service_record(bench.body)->data[63], 9);
  EXPECT_EQ(bench.status_of(trusted(say(Method::Delete, kRid, record)), "H2"), 0);
}

TEST(Service, NobodyDeletesThatOfAHostThatIsAwayWhereTheSiteForbidsIt) {
  KeptBench bench;
  const ServiceRecord record = service(bench, 1, "H1");
  ASSERT_EQ(bench.status_of(say(Method::Set, kRid, record), "H1"), 0);
  bench.server.set_limits({.own_gids_only = true});
  bench.adopt(view_of("H2-S1 S1-S2 H3-S2"));
  EXPECT_EQ(bench.status_of(say(Method::Delete, kRid, record), "H2"), 0x0700);
  EXPECT_EQ(bench.services.table().all().size(), 1u);
  EXPECT_EQ(bench.status_of(trusted(say(Method::Delete, kRid, record)), "H2"), 0);
}

TEST(Service, ALeaseRunsOut) {
  KeptBench bench;
  ServiceRecord record = service(bench, 1, "H1");
  record.lease_s = 10;
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  record.id = 2;
  record.lease_s = 20;
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  record.id = 3;
  record.lease_s = kForever;
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  bench.run_for(6s);
  record.id = 1;
  bench.answer(say(Method::Get, part::kId, record), "H2");
  EXPECT_EQ(decode_service_record(bench.body)->lease_s, 4u) << "what is left of it";
  const int before = bench.changes;
  bench.run_for(4s);
  EXPECT_EQ(bench.status_of(say(Method::Get, part::kId, record), "H2"), 0x0300);
  EXPECT_EQ(bench.services.table().all().size(), 2u);
  EXPECT_EQ(bench.changes, before + 1);
  bench.run_for(3600s);
  EXPECT_EQ(bench.services.table().all().size(), 1u);
}

TEST(Service, ALeaseIsRenewedBySettingItAgain) {
  KeptBench bench;
  ServiceRecord record = service(bench, 1, "H1");
  record.lease_s = 10;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
    bench.run_for(8s);
  }
  EXPECT_EQ(bench.services.table().all().size(), 1u);
  bench.run_for(3s);
  EXPECT_EQ(bench.services.table().all().size(), 0u);
}

TEST(Service, OnlyItsKeyChangesOrDeletesIt) {
  KeptBench bench;
  ServiceRecord record = service(bench, 1, "H1");
  record.key.fill(7);
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  ServiceRecord other = record;
  other.key.fill(8);
  other.data[0] = 1;
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, other), "H1"), 0x0700);
  EXPECT_EQ(bench.status_of(say(Method::Delete, ~0ull, other), "H1"), 0x0700);
  EXPECT_EQ(bench.status_of(say(Method::Delete, kRid, record), "H1"), 0x0700)
      << "the key does not count without its bit";
  EXPECT_EQ(bench.services.table().all().size(), 1u);
  bench.answer(say(Method::Delete, kRid | part::kKey, record), "H1");
  EXPECT_EQ(bench.answered.mad.status, 0);
  EXPECT_EQ(bench.answered.mad.method, 0x95);
  EXPECT_EQ(decode_service_record(bench.body)->id, 1u);
  EXPECT_EQ(bench.services.table().all().size(), 0u);
  EXPECT_EQ(bench.status_of(say(Method::Delete, ~0ull, record), "H1"), 0x0300);
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  EXPECT_EQ(bench.status_of(trusted(say(Method::Delete, ~0ull, other)), "H2"), 0);
}

TEST(Service, WhatIsLeftOutHasADefault) {
  KeptBench bench;
  ServiceRecord record = service(bench, 1, "H1");
  record.lease_s = 0;
  record.p_key = PKey{5};
  bench.answer(say(Method::Set, part::kId | part::kGid, record), "H1");
  const ServiceRecord kept = *decode_service_record(bench.body);
  EXPECT_EQ(kept.lease_s, kForever);
  EXPECT_EQ(kept.p_key, kDefaultPKey);
  EXPECT_EQ(bench.status_of(say(Method::Set, part::kId, record), "H1"), 0x0600);
  EXPECT_EQ(bench.status_of(say(Method::Delete, part::kGid, record), "H1"), 0x0600);
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0x0200) << "no lease at all";
}

TEST(Service, ThePartitionDecidesWhoOffersAndWhoSees) {
  KeptBench bench;
  bench.adopt(with_others({"H2"}));
  const ServiceRecord record = service(bench, 1, "H1");
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H2"), 0x0700);
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, service(bench, 1, "H2")), "H1"), 0x0700);
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  EXPECT_EQ(bench.status_of(say(Method::Get, part::kId, record), "H3"), 0);
  EXPECT_EQ(bench.status_of(say(Method::Get, part::kId, record), "H2"), 0x0300);
  EXPECT_EQ(bench.status_of(say(Method::Delete, ~0ull, record), "H2"), 0x0300);
  EXPECT_EQ(bench.status_of(trusted(say(Method::Get, part::kId, record)), "H2"), 0);
}

TEST(Service, OfAPortThatIsGoneIsNotShownButKept) {
  KeptBench bench;
  const ServiceRecord record = service(bench, 1, "H3");
  ASSERT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H3"), 0);
  bench.adopt(view_of("H1-S1 H2-S1 S1-S2"));
  EXPECT_EQ(bench.status_of(say(Method::Get, part::kId, record), "H1"), 0x0300);
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, record), "H1"), 0x0500);
  bench.adopt(view_of("H1-S1 H2-S1 S1-S2 H3-S2"));
  EXPECT_EQ(bench.status_of(say(Method::Get, part::kId, record), "H1"), 0);
}

TEST(Service, OneHostCannotCrowdOutTheOthers) {
  KeptBench bench({}, {.all = 4, .of_one_port = 3});
  for (std::uint64_t id = 1; id <= 3; ++id)
    EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, service(bench, id, "H1")), "H1"), 0);
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, service(bench, 9, "H2")), "H1"), 0x0100)
      << "whomever it is for";
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, service(bench, 3, "H1")), "H1"), 0)
      << "what is there may be renewed";
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, service(bench, 4, "H2")), "H2"), 0);
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, service(bench, 5, "H2")), "H2"), 0x0100);
  ASSERT_EQ(bench.status_of(say(Method::Delete, ~0ull, service(bench, 1, "H1")), "H1"), 0);
  EXPECT_EQ(bench.status_of(say(Method::Set, ~0ull, service(bench, 5, "H2")), "H2"), 0);
}

TEST(Service, OutlivesTheManagerWithWhatIsLeftOfItsLease) {
  KeptBench before;
  ServiceRecord record = service(before, 1, "H1");
  record.lease_s = 100;
  ASSERT_EQ(before.status_of(say(Method::Set, ~0ull, record), "H1"), 0);
  std::vector<Service> kept;
  for (const auto& [id, each] : before.services.table().all()) kept.push_back(each);
  KeptBench after;
  kept.front().expires = after.runtime.now() + Duration{30s};
  after.services.restore(kept);
  after.answer(say(Method::Get, part::kId, record), "H2");
  EXPECT_EQ(decode_service_record(after.body)->lease_s, 30u);
  after.run_for(31s);
  EXPECT_TRUE(after.services.table().all().empty());
}

}  // namespace service_test
}  // namespace smd::sa
