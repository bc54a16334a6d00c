// Rows and arbitration are looked at everywhere once, then where ports come up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace qos_audit_test {

constexpr auto kRows = static_cast<std::uint16_t>(AttributeId::SlToVlMappingTable);

struct Audit : testing::Test {
  Audit() {
    SlToVl row;
    row.fill(Vl{2});
    qos.sl_to_vl = row;
    lab.bring_up();
  }

  std::size_t rows_read() {
    std::set<std::pair<HopArray, std::uint32_t>> gets;  // retries aside
    lab.discover();
    lab.tap.on_send = [&](const Smp& smp) {
      if (smp.attribute_id == kRows && smp.method == Method::Get)
        gets.insert({smp.initial_path, smp.attribute_modifier});
      return true;
    };
    ProgramInput input = lab.input();
    input.qos = qos;
    last = lab.program(input);
    lab.tap.on_send = nullptr;
    return gets.size();
  }

  /// Rows between managed ports that are not as the site wants them, whoever is there now or not.
  std::size_t wrong_rows() {
    std::size_t wrong = 0;
    const std::vector<sim::NodeSpec>& nodes = lab.fabric.spec().nodes;
    const auto count_wrong = [&](std::uint32_t node, std::size_t in, std::size_t out) {
      const auto number = [](std::size_t port) { return PortNum{static_cast<std::uint8_t>(port)}; };
      wrong += lab.fabric.sl_to_vl(node, number(in), number(out)) == *qos.sl_to_vl ? 0 : 1;
    };
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
      if (nodes[node].type != NodeType::Switch) {
        count_wrong(node, 1, 0);
        continue;
      }
      for (std::size_t out = 1; out < nodes[node].ports.size(); ++out) {
        for (std::size_t in = 0; in < nodes[node].ports.size(); ++in) count_wrong(node, in, out);
      }
    }
    return wrong;
  }

  ProgramLab lab{"fat-tree:k=4,levels=2"};
  QosPolicy qos;
  ProgramReport last;
};

TEST_F(Audit, LooksEverywhereOnce) {
  EXPECT_GT(rows_read(), 50u);
  EXPECT_EQ(rows_read(), 0u);
}

TEST_F(Audit, LooksEverywhereAgainWhenTheSiteWantsSomethingElse) {
  const std::size_t all = rows_read();
  qos.sl_to_vl->fill(Vl{1});
  EXPECT_EQ(rows_read(), all);
  EXPECT_EQ(lab.fabric.sl_to_vl(lab.sim_switch(SwitchIdx{0}), PortNum{1}, PortNum{2})[0], Vl{1});
}

TEST_F(Audit, LooksAtRowsOfPortsThatComeUp) {
  const std::size_t all = rows_read();
  const std::uint32_t node = lab.sim_switch(SwitchIdx{2});
  lab.fabric.set_node(node, false);
  lab.fabric.set_node(node, true);
  const std::size_t some = rows_read();
  EXPECT_GT(some, 10u);
  EXPECT_LT(some, all);
  EXPECT_EQ(lab.fabric.sl_to_vl(node, PortNum{1}, PortNum{2})[0], Vl{2});
}

// Their links stay Active: nothing comes up when they are back.
TEST_F(Audit, LooksAtRowsOfThoseThatWereAwayWhenTheSiteWantedSomethingElse) {
  rows_read();
  ASSERT_EQ(wrong_rows(), 0u);
  const std::uint32_t leaf = sim::find_node(lab.fabric.spec(), "sw-0-1");
  const std::uint32_t host = sim::find_node(lab.fabric.spec(), "host-00001");
  for (const std::uint32_t node : {leaf, host}) lab.fabric.set_silent(node, true);
  qos.sl_to_vl->fill(Vl{1});
  const std::size_t those_there = rows_read();
  EXPECT_GT(wrong_rows(), 0u);
  for (const std::uint32_t node : {leaf, host}) lab.fabric.set_silent(node, false);
  const std::size_t missed = rows_read();
  EXPECT_EQ(wrong_rows(), 0u);
  EXPECT_LT(missed, those_there);
  EXPECT_EQ(rows_read(), 0u);
}

TEST_F(Audit, LooksAtNobodyWhoWasAwayWhileTheSiteWantedTheSame) {
  rows_read();
  const std::uint32_t leaf = sim::find_node(lab.fabric.spec(), "sw-0-1");
  lab.fabric.set_silent(leaf, true);
  rows_read();
  lab.fabric.set_silent(leaf, false);
  EXPECT_EQ(rows_read(), 0u);
  EXPECT_EQ(wrong_rows(), 0u);
}

TEST_F(Audit, LooksAtRowsOfTwoPortsThatWereNeverThereTogether) {
  const std::uint32_t leaf = sim::find_node(lab.fabric.spec(), "sw-0-1");
  const auto host_at = [&](std::uint8_t port) {
    return lab.fabric.spec().nodes[leaf].ports[port].peer_node;
  };
  const std::uint32_t one = host_at(1), other = host_at(2);
  lab.fabric.set_silent(one, true);
  rows_read();
  lab.fabric.set_silent(one, false);
  lab.fabric.set_silent(other, true);
  rows_read();
  lab.fabric.set_silent(other, false);
  rows_read();
  EXPECT_EQ(wrong_rows(), 0u);
}

TEST_F(Audit, LooksAtWhatCameUpWhileTheSiteWantedNothing) {
  const std::size_t all = rows_read();
  const QosPolicy wanted = std::exchange(qos, {});
  const std::uint32_t node = lab.sim_switch(SwitchIdx{2});
  lab.fabric.set_node(node, false);
  lab.fabric.set_node(node, true);
  rows_read();
  lab.take_port_info(last);
  qos = wanted;
  const std::size_t some = rows_read();
  EXPECT_GT(some, 10u);
  EXPECT_LT(some, all);
  EXPECT_EQ(wrong_rows(), 0u);
}

TEST_F(Audit, ThatFailedSomewhereLooksAgain) {
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id == kRows) smp.status = 0x1c;
    return true;
  };
  const std::size_t all = rows_read();
  EXPECT_GT(last.fault_count, 0u);
  lab.tap.on_receive = nullptr;
  EXPECT_EQ(rows_read(), all);
  EXPECT_EQ(last.fault_count, 0u);
}

TEST_F(Audit, OfOneThatFailsLooksAtThatOneAgainAlone) {
  // Of the second switch of the path the row from port 1 to port 2.
  const auto is_it = [](const Smp& smp) {
    return smp.attribute_id == kRows && smp.hop_count == 1 && smp.attribute_modifier == 0x0102;
  };
  lab.tap.on_receive = [&](Smp& smp) {
    if (is_it(smp)) smp.status = 0x1c;
    return true;
  };
  EXPECT_GT(rows_read(), 50u);
  EXPECT_EQ(last.fault_count, 1u);
  for (int cycle = 0; cycle < 3; ++cycle) {
    EXPECT_EQ(rows_read(), 1u);
    EXPECT_EQ(last.fault_count, 1u);
  }
  lab.tap.on_receive = nullptr;
  EXPECT_EQ(rows_read(), 1u);
  EXPECT_EQ(last.fault_count, 0u);
  EXPECT_EQ(rows_read(), 0u);
}

}  // namespace qos_audit_test
}  // namespace smd::test
