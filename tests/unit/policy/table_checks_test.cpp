// What is looked at, and what is written when it is not as it should be.
#include <gtest/gtest.h>

#include <set>

#include "smd/mad/tables.h"
#include "smd/policy/port_policy.h"
#include "smd/policy/qos.h"
#include "tests/support/fabric_text.h"

namespace smd {
namespace {

SmpData keys(std::initializer_list<unsigned> values) {
  PKeyBlock block{};
  std::size_t i = 0;
  for (unsigned value : values) block[i++] = PKey{static_cast<std::uint16_t>(value)};
  SmpData data{};
  encode_p_key_block(block, data);
  return data;
}

/// The repair of H1's table in a two-host fabric.
std::optional<SmpData> repaired(const SmpData& now) {
  const Fabric fabric = test::fabric_from("S1-H1 S1-H2");
  for (const TableCheck& check : build_default_pkey_checks(fabric)) {
    if (check.port == test::end_port(fabric, "H1")) return check.repair(now);
  }
  ADD_FAILURE() << "H1 is not looked at";
  return std::nullopt;
}

const CheckFilter kAll = [](PortIdx, AttributeId, std::uint32_t) { return true; };

TEST(DefaultPartition, EveryEndPortIsLookedAtOnce) {
  const Fabric fabric = test::fabric_from("S1-H1 S1-H2 S1-S2");
  std::multiset<std::uint32_t> seen;
  for (const TableCheck& check : build_default_pkey_checks(fabric)) seen.insert(check.port.value());
  EXPECT_EQ(seen,
            (std::multiset<std::uint32_t>{test::end_port(fabric, "S1").value(),
                                          test::end_port(fabric, "S2").value(),
                                          test::end_port(fabric, "H1").value(),
                                          test::end_port(fabric, "H2").value()}));
}

TEST(DefaultPartition, FullMembersAreLeftAlone) {
  EXPECT_FALSE(repaired(keys({0xffff})));
  EXPECT_FALSE(repaired(keys({0x8001, 0x7fff, 0xffff})));
}

TEST(DefaultPartition, ALimitedMemberBecomesAFullOne) {
  EXPECT_EQ(repaired(keys({0, 0x8001, 0x7fff})), keys({0, 0x8001, 0xffff}));
}

TEST(DefaultPartition, TheFirstFreeEntryTakesIt) {
  EXPECT_EQ(repaired(keys({0x8001, 0, 0x8002})), keys({0x8001, 0xffff, 0x8002}));
  EXPECT_EQ(repaired(keys({})), keys({0xffff}));
}

TEST(DefaultPartition, InAFullTableEntry0Yields) {
  PKeyBlock full;
  full.fill(PKey{0x8005});
  SmpData now{};
  encode_p_key_block(full, now);
  const auto after = repaired(now);
  ASSERT_TRUE(after);
  const auto block = decode_p_key_block(*after).value();
  EXPECT_EQ(block[0], PKey{0xffff});
  EXPECT_EQ(block[1], PKey{0x8005});
}

class QosChecks : public testing::Test {
 protected:
  QosChecks() {
    fabric = test::fabric_from("S1:1-H1:1 S1:2-S2:1 S1/4");
    for (PortInfo& info : fabric.port_info) {
      info.vl_cap = 4;  // VL0 to VL7
      info.vl_arb_low_cap = 40;
      info.vl_arb_high_cap = 8;
      info.capability_mask = port_cap::kIsSlMappingSupported;
    }
    for (SwitchInfo& info : fabric.switch_info) info.enhanced_port0 = true;
  }

  Fabric fabric;
  QosPolicy policy;
};

TEST_F(QosChecks, NothingIsLookedAtUnlessConfigured) {
  EXPECT_TRUE(build_qos_checks(fabric, policy, kAll).empty());
}

TEST_F(QosChecks, OneRowPerPairOfManagedPorts) {
  policy.sl_to_vl = SlToVl{};
  // S1 has ports 0, 1, 2: nine pairs; S2 has 0, 1: four; H1 one.
  EXPECT_EQ(build_qos_checks(fabric, policy, kAll).size(), 14u);
}

TEST_F(QosChecks, OnlyWhatIsDueIsLookedAt) {
  policy.sl_to_vl = SlToVl{};
  const PortIdx due = test::end_port(fabric, "H1");
  const auto checks = build_qos_checks(
      fabric, policy, [&](PortIdx port, AttributeId, std::uint32_t) { return port == due; });
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].port, due);
}

TEST_F(QosChecks, ARowNeverNamesALaneThatTheLinkLacks) {
  SlToVl row;
  for (std::size_t sl = 0; sl < row.size(); ++sl) row[sl] = Vl{static_cast<std::uint8_t>(sl)};
  policy.sl_to_vl = row;
  fabric.port_info[test::port(fabric, "H1:1")].vl_cap = 2;  // VL0 and VL1
  for (const TableCheck& check : build_qos_checks(fabric, policy, kAll)) {
    const auto wanted = check.repair({});
    ASSERT_TRUE(wanted);
    const SlToVl written = decode_sl_to_vl(*wanted).value();
    const bool narrow =
        check.port == test::port(fabric, "H1:1") || check.port == test::port(fabric, "S1:1");
    EXPECT_EQ(written[5], Vl{static_cast<std::uint8_t>(narrow ? 1 : 5)});
    EXPECT_EQ(written[15], kManagementVl) << "a discarded level stays discarded";
  }
}

TEST_F(QosChecks, ArbitrationIsCutIntoBlocksOf32) {
  policy.low = std::vector<VlArbEntry>(64, VlArbEntry{.vl = Vl{1}, .weight = 9});
  std::vector<std::uint32_t> modifiers;
  for (const TableCheck& check : build_qos_checks(fabric, policy, kAll)) {
    if (check.port != test::port(fabric, "S1:2")) continue;
    modifiers.push_back(check.modifier);
    const auto block = decode_vl_arb_block(check.repair({}).value()).value();
    EXPECT_EQ(block[0].weight, 9);
    // 40 entries: 32 in the first block, 8 in the second.
    EXPECT_EQ(block[8].weight, modifiers.size() == 1 ? 9 : 0);
  }
  EXPECT_EQ(modifiers,
            (std::vector<std::uint32_t>{
                encode_modifier(VlArbModifier{.part = VlArbPart::LowFirst, .port = PortNum{2}}),
                encode_modifier(VlArbModifier{.part = VlArbPart::LowSecond, .port = PortNum{2}})}));
}

TEST_F(QosChecks, WhatAnAgentSaysBeyondItsCapacityDoesNotCount) {
  policy.high = std::vector<VlArbEntry>{{.vl = Vl{0}, .weight = 4}};
  for (const TableCheck& check : build_qos_checks(fabric, policy, kAll)) {
    SmpData now = check.repair({}).value();
    now[2 * 8] = std::byte{0x77};  // entry 8 of 8
    EXPECT_FALSE(check.repair(now));
    now[0] = std::byte{0x77};
    EXPECT_TRUE(check.repair(now));
  }
}

}  // namespace
}  // namespace smd
