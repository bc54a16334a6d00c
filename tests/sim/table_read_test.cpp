// SL-to-VL rows and VL arbitration that nobody set: what the ports hold is what clients are told.
#include <gtest/gtest.h>

#include "smd/sa/port_tables.h"
#include "tests/sim/succession.h"

namespace smd::test {
namespace table_read_test {

struct TableReads : Succession {
  [[nodiscard]] Lid lid(const char* name, std::uint8_t port) const {
    return fabric.port_info(node(name), PortNum{port}).lid;
  }

  /// The answer to what was asked last; its status must be 0.
  [[nodiscard]] std::span<const std::byte> answer() const {
    const auto found = answers.find(transaction);
    if (found == answers.end()) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    EXPECT_EQ(decode_sa_header(found->second.mad)->mad.status, 0);
    return std::span(found->second.mad).subspan(kHeaderSize);
  }

  SlToVl row_of(Lid of, PortNum in, PortNum out) {
    ask(0,
        RecordId::SlToVlTableRecord,
        SlToVlTableRecord{.lid = of, .in = in, .out = out},
        16,
        7,
        Method::Get);
    const auto data = answer();
    return data.empty() ? SlToVl{} : decode_sl_to_vl_table_record(data)->vls;
  }

  [[nodiscard]] std::uint64_t sent() { return first.manager().smp_stats().sent; }
};

TEST_F(TableReads, RowsAreThoseOfThePort) {
  const PortNum none{0};
  const Lid host = lid("host-00003", 1);
  std::uint64_t before = sent();
  EXPECT_EQ(row_of(host, none, none), fabric.sl_to_vl(node("host-00003"), none, none));
  EXPECT_LE(sent() - before, 2u) << "one SMP, and perhaps one of a poll";
  const Lid sw = lid("sw-0-0", 0);
  EXPECT_EQ(row_of(sw, PortNum{1}, PortNum{2}),
            fabric.sl_to_vl(node("sw-0-0"), PortNum{1}, PortNum{2}));
  // Asked again they cost nothing.
  patience = 1ms;
  before = sent();
  for (int i = 0; i < 20; ++i) static_cast<void>(row_of(host, none, none));
  EXPECT_LT(sent() - before, 20u) << "not more than a poll of the switches";
}

TEST_F(TableReads, ArbitrationIsThatOfThePort) {
  const std::uint32_t at = node("host-00005");
  ask(0,
      RecordId::VlArbTableRecord,
      VlArbTableRecord{.lid = lid("host-00005", 1), .out = PortNum{1}, .block = 1},
      72,
      7,
      Method::Get);
  const auto data = answer();
  ASSERT_FALSE(data.empty());
  const VlArbBlock got = decode_vl_arb_table_record(data)->entries;
  const auto held = fabric.node_state(at).read_vl_arb(PortNum{1});
  for (std::size_t i = 0; i < fabric.port_info(at, PortNum{1}).vl_arb_low_cap && i < got.size();
       ++i)
    EXPECT_EQ(got[i], held.low[i]) << i;
}

/// Without a row of its own the site leaves ports what they have: by then another one.
TEST_F(TableReads, WhatWasSetMeanwhileIsReadAgain) {
  const PortNum none{0};
  const Lid host = lid("host-00003", 1);
  const SlToVl before = row_of(host, none, none);
  Settings settings = settings_of(9);
  const auto adopt = [&] {
    first.manager().adopt(settings);
    first.manager().request_sweep("test");
    ASSERT_TRUE(settle(first));
    run_for(10s);  // tables of adapters are looked at when nothing else is to be done
  };
  settings.qos.sl_to_vl.emplace();
  settings.qos.sl_to_vl->fill(Vl{1});
  adopt();
  EXPECT_EQ(row_of(host, none, none), settings.qos.sl_to_vl);
  settings.qos.sl_to_vl.reset();
  adopt();
  const SlToVl held = fabric.sl_to_vl(node("host-00003"), PortNum{1}, none);
  ASSERT_NE(held, before) << "nobody put it back";
  EXPECT_EQ(row_of(host, none, none), held);
}

TEST_F(TableReads, AllOfASwitchHoldsUpNobody) {
  ask(1,
      RecordId::SlToVlTableRecord,
      SlToVlTableRecord{.lid = lid("sw-0-0", 0)},
      16,
      1,
      Method::GetTable);
  const std::uint64_t whole = transaction;
  patience = 30ms;
  static_cast<void>(row_of(lid("host-00006", 1), PortNum{0}, PortNum{0}));
  run_for(5s);
  EXPECT_TRUE(answers.contains(whole));
}

}  // namespace table_read_test
}  // namespace smd::test
