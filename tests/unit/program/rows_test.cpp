// SL-to-VL rows that routes need: what is written, what is believed of switches that do not obey.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "smd/program/sl2vl_writer.h"
#include "smd/routing/sl_to_vl.h"
#include "tests/unit/program/program_lab.h"

namespace smd::test {
namespace rows_test {

constexpr auto kRows = static_cast<std::uint16_t>(AttributeId::SlToVlMappingTable);

struct LaneRows : testing::Test {
  LaneRows() {
    lab.bring_up();
    rows = build_switch_rows(lab.snapshot(), {}, modulo_row(3));
  }

  ProgramReport run() {
    ProgramInput input = lab.input();
    input.sl_to_vl = &rows;
    return lab.program(input);
  }

  /// Every cabled way of every switch.
  [[nodiscard]] std::vector<Turn> turns() const {
    std::vector<Turn> all;
    for (const SwitchIdx sw : lab.snapshot().switch_node.indices()) {
      for_each_turn(lab.snapshot(), sw, [&](PortNum in, PortNum out) {
        all.push_back({sw, in, out});
      });
    }
    std::ranges::sort(all);
    return all;
  }

  [[nodiscard]] SlToVl held(const Turn& of) const {
    return lab.fabric.sl_to_vl(lab.sim_switch(of.sw), of.in, of.out);
  }

  [[nodiscard]] const SlToVl* believed(const Turn& of) const {
    return lab.state.sl_to_vl.find(
        lab.snapshot().node_guid[lab.snapshot().switch_node[of.sw]], of.in, of.out);
  }

  /// Rows that the memory has otherwise than the registers.
  [[nodiscard]] std::size_t count_false_claims() const {
    return static_cast<std::size_t>(std::ranges::count_if(turns(), [&](const Turn& of) {
      return believed(of) != nullptr && *believed(of) != held(of);
    }));
  }

  [[nodiscard]] std::size_t count_unwanted() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        turns(), [&](const Turn& of) { return held(of) != rows.row(of.sw, of.in, of.out); }));
  }

  void want(const Turn& of, unsigned vls) {
    rows.set_row(of.sw, of.in, of.out, rows.add_row(modulo_row(vls)));
  }

  ProgramLab lab{"fat-tree:k=4,levels=2"};
  SlToVlMaps rows;
  Turn turn{SwitchIdx{1}, PortNum{1}, PortNum{2}};
};

TEST_F(LaneRows, AreWrittenOnceAndThenOnlyWhereTheyDiffer) {
  EXPECT_EQ(run().sl_to_vl_written, turns().size());
  EXPECT_EQ(count_unwanted(), 0u);
  EXPECT_EQ(count_false_claims(), 0u);
  EXPECT_EQ(run().sl_to_vl_written, 0u);
  want(turn, 2);
  EXPECT_EQ(run().sl_to_vl_written, 1u);
  EXPECT_EQ(held(turn), modulo_row(2));
}

/// A switch of 64 ports, every one of them cabled to an adapter.
sim::FabricSpec star_of_64() {
  sim::FabricSpec spec;
  sim::add_node(spec, NodeType::Ca, "H1", Guid{0x1001}, 1);
  sim::add_node(spec, NodeType::Switch, "S1", Guid{0x2001}, 64);
  for (unsigned h = 2; h <= 64; ++h)
    sim::add_node(spec, NodeType::Ca, fmt::format("H{}", h), Guid{0x1000 + h}, 1);
  for (unsigned h = 1; h <= 64; ++h) {
    sim::connect(spec, h == 1 ? 0 : h, PortNum{1}, 1, PortNum{static_cast<std::uint8_t>(h)});
  }
  return spec;
}

struct OptimizedRows : testing::TestWithParam<std::uint8_t> {};

// Alike everywhere; alike for each output; alike for each input, port 0 among them.
TEST_P(OptimizedRows, TakeASetForEachPortAtTheMost) {
  const bool offered = GetParam() != 0;
  for (const unsigned shape : {0u, 1u, 2u}) {
    ProgramLab lab(star_of_64(), {.agents = {.optimized_sl_to_vl = GetParam()}});
    lab.bring_up();
    SlToVlMaps rows = build_switch_rows(lab.snapshot(), {}, modulo_row(3));
    const SwitchIdx sw{0};
    std::vector<Turn> turns;
    for_each_turn(lab.snapshot(), sw, [&](PortNum in, PortNum out) {
      turns.push_back({sw, in, out});
    });
    for (const Turn& turn : turns) {
      const unsigned by = shape == 1 ? turn.out.value() : turn.in.value();
      if (shape > 0) rows.set_row(sw, turn.in, turn.out, rows.add_row(modulo_row(1 + by % 7)));
    }
    unsigned sets = 0;
    lab.tap.on_send = [&](const Smp& smp) {
      if (smp.attribute_id == kRows) ++sets;
      return true;
    };
    ProgramInput input = lab.input();
    input.sl_to_vl = &rows;
    input.writing.optimized_sl_to_vl = true;
    const ProgramReport report = lab.program(input);
    EXPECT_EQ(report.fault_count, 0u);
    EXPECT_EQ(report.sl_to_vl_written, turns.size());
    const std::size_t wide = shape == 0 ? 1 : shape == 1 ? 64 : 65;
    EXPECT_EQ(sets, offered ? wide : turns.size()) << shape;
    for (const Turn& turn : turns) {
      EXPECT_EQ(lab.fabric.sl_to_vl(lab.sim_switch(sw), turn.in, turn.out),
                rows.row(sw, turn.in, turn.out));
    }
    EXPECT_EQ(lab.program(input).sl_to_vl_written, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Switches,
                         OptimizedRows,
                         testing::Values(std::uint8_t{0}, std::uint8_t{1}));

TEST(OptimizedRowsInDoubt, AreWrittenOneByOne) {
  for (const bool refuses : {true, false}) {
    ProgramLab lab("fat-tree:k=4,levels=2", {.agents = {.optimized_sl_to_vl = 1}});
    lab.bring_up();
    const SlToVlMaps rows = build_switch_rows(lab.snapshot(), {}, modulo_row(3));
    unsigned wide = 0;
    lab.tap.on_receive = [&](Smp& smp) {
      if (smp.attribute_id != kRows || smp.attribute_modifier < 0x10000) return true;
      ++wide;
      if (refuses) smp.status = static_cast<std::uint16_t>(MadStatus::BadField);
      if (!refuses) encode_sl_to_vl(modulo_row(5), smp.data);
      return true;
    };
    ProgramInput input = lab.input();
    input.sl_to_vl = &rows;
    input.writing.optimized_sl_to_vl = true;
    const ProgramReport report = lab.program(input);
    EXPECT_EQ(wide, lab.snapshot().switch_count());
    EXPECT_EQ(report.fault_count, 0u);
    EXPECT_GT(report.sl_to_vl_written, wide);
    EXPECT_EQ(lab.program(input).sl_to_vl_written, 0u);
  }
}

// The same for rows of the site (qos.sl2vl), which routes on one VL leave alone.

class SiteRows : public testing::Test {
 protected:
  /// Without those that are sent again.
  struct Smps {
    std::size_t gets = 0, sets = 0;
  };

  explicit SiteRows(const sim::FabricSpec& spec = star_of_64())
      : lab(spec, {.agents = {.optimized_sl_to_vl = 1}}) {
    lab.bring_up();
    qos.sl_to_vl = modulo_row(3);
    lab.tap.on_send = [this](const Smp& smp) {
      if (smp.attribute_id != kRows) return true;
      if (!sent.insert({smp.method, smp.initial_path, smp.attribute_modifier}).second) return true;
      ++(smp.method == Method::Set ? smps.sets : smps.gets);
      return true;
    };
  }

  Smps write(bool optimized) {
    smps = {};
    sent.clear();
    ProgramInput input = lab.input();
    input.qos = qos;
    input.writing.optimized_sl_to_vl = optimized;
    EXPECT_EQ(lab.program(input).fault_count, 0u);
    return smps;
  }

  /// Pairs of external ports of the switch whose row is not this.
  [[nodiscard]] unsigned count_others(const SlToVl& row) const {
    unsigned others = 0;
    for_each_turn(lab.snapshot(), SwitchIdx{0}, [&](PortNum in, PortNum out) {
      if (lab.fabric.sl_to_vl(lab.sim_switch(SwitchIdx{0}), in, out) != row) ++others;
    });
    return others;
  }

  ProgramLab lab;
  QosPolicy qos;
  Smps smps;
  std::set<std::tuple<Method, HopArray, std::uint32_t>> sent;
};

TEST_F(SiteRows, AlikeEverywhereTakeOneSet) {
  const Smps one_by_one = write(false);
  EXPECT_GE(one_by_one.gets, 64u * 64) << "of adapters as well";
  EXPECT_EQ(count_others(modulo_row(3)), 0u);
  qos.sl_to_vl = modulo_row(5);
  const Smps wide = write(true);
  EXPECT_EQ(wide.sets, 1u + 64) << "the switch, and each adapter by itself";
  EXPECT_EQ(wide.gets, 64u);
  EXPECT_EQ(count_others(modulo_row(5)), 0u);
  EXPECT_EQ(write(true).sets, 0u) << "looked at everywhere once";
}

TEST_F(SiteRows, OfABlockedTurnStayBlocked) {
  const SwitchIdx sw{0};
  const Turn turn{sw, PortNum{7}, PortNum{9}};
  const SlToVl before = lab.fabric.sl_to_vl(lab.sim_switch(sw), turn.in, turn.out);
  lab.state.turns.at(lab.snapshot().node_guid[lab.snapshot().switch_node[sw]],
                     turn.in,
                     turn.out) = {.held = TurnMemory::Held::Blocked};
  const Smps wide = write(true);
  EXPECT_EQ(wide.sets, 63u + 64 + 64) << "63 outputs, the inputs to port 9 and the adapters";
  EXPECT_EQ(count_others(modulo_row(3)), 1u);
  EXPECT_EQ(lab.fabric.sl_to_vl(lab.sim_switch(sw), turn.in, turn.out), before);
}

/// Its port 0 has data of its own.
class SiteRowsBesidePort0 : public SiteRows {
 protected:
  SiteRowsBesidePort0() : SiteRows(star()) {}

  static sim::FabricSpec star() {
    sim::FabricSpec spec = star_of_64();
    spec.nodes[1].enhanced_port0 = true;
    return spec;
  }
};

TEST_F(SiteRowsBesidePort0, LeaveItsRowsAloneWhereNobodySetsThem) {
  const auto sw = lab.sim_switch(SwitchIdx{0});
  const SlToVl before = lab.fabric.sl_to_vl(sw, PortNum{3}, PortNum{0});
  qos = {};
  qos.kinds[static_cast<std::size_t>(PortKind::SwitchExternal)].sl_to_vl = modulo_row(3);
  EXPECT_EQ(write(true).sets, 64u) << "one for each output, none for the whole switch";
  EXPECT_EQ(lab.fabric.sl_to_vl(sw, PortNum{3}, PortNum{4}), modulo_row(3));
  EXPECT_EQ(lab.fabric.sl_to_vl(sw, PortNum{3}, PortNum{0}), before);
}

/// Nothing is cabled to port 64.
class SiteRowsWithAFreePort : public SiteRows {
 protected:
  SiteRowsWithAFreePort() : SiteRows(star()) {}

  static sim::FabricSpec star() {
    sim::FabricSpec spec = star_of_64();
    spec.nodes[1].ports[64] = {};
    spec.nodes.pop_back();
    return spec;
  }
};

TEST_F(SiteRowsWithAFreePort, OfATurnThatIsBlockedThereStayBlocked) {
  lab.state.turns.at(lab.snapshot().node_guid[lab.snapshot().switch_node[SwitchIdx{0}]],
                     PortNum{7},
                     PortNum{64}) = {.held = TurnMemory::Held::Blocked};
  unsigned whole = 0;
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id == kRows && smp.attribute_modifier == 0x30000) ++whole;
    return true;
  };
  EXPECT_EQ(write(true).sets, 63u + 63) << "outputs, and adapters";
  EXPECT_EQ(whole, 0u);
  lab.state.turns.forget(lab.snapshot().node_guid[lab.snapshot().switch_node[SwitchIdx{0}]]);
  lab.state.audited.reset();
  write(true);
  EXPECT_EQ(whole, 1u);
}

TEST_F(SiteRows, AreWrittenOneByOneWhereTheSwitchRefuses) {
  unsigned refused = 0;
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id != kRows || smp.attribute_modifier < 0x10000) return true;
    ++refused;
    smp.status = static_cast<std::uint16_t>(MadStatus::BadField);
    encode_sl_to_vl(modulo_row(2), smp.data);
    return true;
  };
  const Smps one_by_one = write(true);
  EXPECT_EQ(refused, 1u);
  EXPECT_GE(one_by_one.gets, 64u * 64) << "every row is looked at";
  EXPECT_EQ(count_others(modulo_row(3)), 0u);
}

/// How many Sets were for entries of many ports at once.
unsigned write_wide(ProgramLab& lab, const SlToVlMaps& rows, bool refused) {
  unsigned wide = 0;
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id != kRows || smp.attribute_modifier < 0x10000) return true;
    ++wide;
    if (refused) smp.status = static_cast<std::uint16_t>(MadStatus::BadField);
    return true;
  };
  ProgramInput input = lab.input();
  input.sl_to_vl = &rows;
  input.writing.optimized_sl_to_vl = true;
  EXPECT_EQ(lab.program(input).fault_count, 0u);
  lab.tap.on_receive = {};
  return wide;
}

// What was as wanted before a Set for all of them that was refused is asked for again.
TEST(OptimizedRowsInDoubt, LeaveNothingUnknown) {
  ProgramLab lab("fat-tree:k=4,levels=2", {.agents = {.optimized_sl_to_vl = 1}});
  lab.bring_up();
  const SwitchIdx sw{0};
  std::vector<Turn> turns;
  for_each_turn(lab.snapshot(), sw, [&](PortNum in, PortNum out) {
    turns.push_back({sw, in, out});
  });
  const SlToVlMaps wanted = build_switch_rows(lab.snapshot(), {}, modulo_row(5));
  SlToVlMaps rows = wanted;
  for (const std::size_t at : {0, 1})
    rows.set_row(sw, turns[at].in, turns[at].out, rows.add_row(modulo_row(3)));
  ProgramInput input = lab.input();
  input.sl_to_vl = &rows;
  ASSERT_EQ(lab.program(input).fault_count, 0u);
  EXPECT_EQ(write_wide(lab, wanted, true), 1u);
  const Guid guid = lab.snapshot().node_guid[lab.snapshot().switch_node[sw]];
  for (const Turn& turn : turns)
    EXPECT_NE(lab.state.sl_to_vl.find(guid, turn.in, turn.out), nullptr);
}

// A turn to a port without a link is still blocked when it has one.
TEST(OptimizedRowsInDoubt, OverwriteNoBlockedTurnOfAPortWithoutALink) {
  ProgramLab lab("fat-tree:k=4,levels=2,hosts=7", {.agents = {.optimized_sl_to_vl = 1}});
  lab.bring_up();
  const Fabric& fabric = lab.snapshot();
  const SlToVlMaps rows = build_switch_rows(fabric, {}, modulo_row(3));
  unsigned whole = 0, sent = 0;  // switches without an open port; Sets for all of a switch
  for (const NodeIdx node : fabric.switch_node) {
    bool open = false;
    for (const PortIdx port : fabric.external_ports(node)) {
      if (fabric.peer[port] != kNone<PortIdx>) continue;
      open = true;
      lab.state.turns.at(fabric.node_guid[node], PortNum{1}, fabric.number_of(port)).held =
          TurnMemory::Held::Blocked;
    }
    whole += open ? 0 : 1;
  }
  ASSERT_LT(whole, fabric.switch_count());
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.attribute_id != kRows || smp.method != Method::Set) return true;
    const SlToVlModifier all = decode_sl_to_vl_modifier(smp.attribute_modifier);
    sent += all.all_in && all.all_out ? 1 : 0;
    return true;
  };
  write_wide(lab, rows, false);
  EXPECT_EQ(sent, whole);
}

TEST_F(LaneRows, AreRightWhereOnlyTheAnswerWasBad) {
  run();
  want(turn, 2);
  unsigned bad = 0;
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id == kRows && bad++ == 0) smp.status = 4 << 2;
    return true;
  };
  const ProgramReport report = run();
  EXPECT_EQ(bad, 2u) << "the answer to the Set, and what the switch says when asked";
  EXPECT_EQ(report.sl_to_vl_written, 1u);
  EXPECT_EQ(report.fault_count, 0u);
  EXPECT_EQ(*believed(turn), modulo_row(2));
}

TEST_F(LaneRows, ThatASwitchKeepsOtherwiseAreAFaultAndKnownAsTheyAre) {
  run();
  want(turn, 2);
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id == kRows) encode_sl_to_vl(modulo_row(5), smp.data);
    return true;
  };
  const ProgramReport report = run();
  EXPECT_EQ(report.sl_to_vl_written, 0u);
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_THAT(report.faults[0].what, testing::HasSubstr("in port 1, out port 2"));
  ASSERT_NE(believed(turn), nullptr);
  EXPECT_EQ(*believed(turn), modulo_row(5)) << "as it says, not as it was told";
}

TEST_F(LaneRows, InDoubtAreNotBelievedToBeAsBefore) {
  run();
  const SlToVl before = held(turn);
  want(turn, 2);
  // The Set arrives, no answer ever does.
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id == kRows) smp.transaction_id ^= 0xffff;
    return true;
  };
  EXPECT_EQ(run().fault_count, 1u);
  EXPECT_EQ(held(turn), modulo_row(2));
  EXPECT_EQ(believed(turn), nullptr);

  lab.tap.on_receive = nullptr;
  rows = build_switch_rows(lab.snapshot(), {}, modulo_row(3));
  EXPECT_EQ(run().sl_to_vl_written, 1u);
  EXPECT_EQ(held(turn), before) << "wanted as before, so written again";
}

TEST_F(LaneRows, OfBlockedTurnsAreLeftAlone) {
  run();
  TransitionPlan plan{.kind = TransitionKind::CutDependencies, .phases = {{}}};
  plan.phases[0].block = {turn};
  ProgramInput input = lab.input();
  input.plan = &plan;
  input.sl_to_vl = &rows;
  EXPECT_EQ(lab.program(input).turns_blocked, 1u);
  EXPECT_EQ(run().sl_to_vl_written, 0u);
  EXPECT_EQ(held(turn)[0], kManagementVl);
}

TEST_F(LaneRows, AreReadBackByTheNextLife) {
  run();
  const ConfirmedSlToVl nothing;
  const std::vector<Turn> unread = find_unread_sl_to_vl(lab.snapshot(), nothing);
  EXPECT_EQ(unread, turns());
  EXPECT_THAT(find_unread_sl_to_vl(lab.snapshot(), lab.state.sl_to_vl), testing::IsEmpty());

  // One way answers with a status, which says nothing of its row.
  lab.state.sl_to_vl = {};
  unsigned answers = 0;
  lab.tap.on_receive = [&](Smp& smp) {
    if (smp.attribute_id == kRows && answers++ == 3) smp.status = 7 << 2;
    return true;
  };
  bool done = false;
  SlToVlReader reader(lab.client, lab.policy.m_key);
  reader.start(lab.sweep, unread, lab.state.sl_to_vl, [&] { done = true; });
  ASSERT_TRUE(lab.run_until([&] { return done; }, std::chrono::minutes(1)));
  EXPECT_THAT(find_unread_sl_to_vl(lab.snapshot(), lab.state.sl_to_vl), testing::SizeIs(1));
  EXPECT_EQ(count_false_claims(), 0u);
  EXPECT_EQ(count_unwanted(), 0u);
}

TEST(ConfirmedSlToVl, KeepsWhatItKnowsWhenAPortOfAHigherNumberComes) {
  ConfirmedSlToVl memory;
  memory.confirm(Guid{1}, PortNum{1}, PortNum{2}, modulo_row(2));
  memory.confirm(Guid{1}, PortNum{9}, PortNum{4}, modulo_row(4));
  ASSERT_NE(memory.find(Guid{1}, PortNum{1}, PortNum{2}), nullptr);
  EXPECT_EQ(*memory.find(Guid{1}, PortNum{1}, PortNum{2}), modulo_row(2));
  EXPECT_EQ(*memory.find(Guid{1}, PortNum{9}, PortNum{4}), modulo_row(4));
  EXPECT_EQ(memory.find(Guid{1}, PortNum{2}, PortNum{1}), nullptr);
  EXPECT_EQ(memory.find(Guid{1}, PortNum{40}, PortNum{1}), nullptr);
  EXPECT_EQ(memory.find(Guid{2}, PortNum{1}, PortNum{2}), nullptr);
}

/// Somebody left one VL on links that carry data, and rows are to lead to four.
struct RowsOnLinksOfOneVl : testing::Test {
  RowsOnLinksOfOneVl() {
    lab.policy.max_operational_vls = 1;
    lab.bring_up();
    lab.policy.max_operational_vls = 3;
    lab.discover();
    rows = build_switch_rows(lab.snapshot(), {}, modulo_row(4));
    plan.phases[0].sl_to_vl = true;
    lab.tap.on_send = [this](const Smp& smp) {
      if (smp.method != Method::Set || smp.attribute_id != kRows) return true;
      ++sets_of_rows;
      too_early += links_below(4);
      return true;
    };
  }

  /// Ports of links that carry data and operate fewer VLs.
  [[nodiscard]] unsigned links_below(unsigned vls) const {
    const Fabric& fabric = lab.snapshot();
    unsigned below = 0;
    for (const PortIdx port : fabric.peer.indices()) {
      if (fabric.peer[port] == kNone<PortIdx>) continue;
      const std::uint32_t n = lab.sim_node(fabric.node_guid[fabric.node_of[port]]);
      const PortInfo info = lab.fabric.port_info(n, fabric.number_of(port));
      below += info.state() == PortState::Active && data_vls(info.operational_vls) < vls ? 1 : 0;
    }
    return below;
  }

  ProgramReport run() {
    ProgramInput input = lab.input();
    input.sl_to_vl = &rows;
    input.plan = &plan;
    return lab.program(input);
  }

  ProgramLab lab{"fat-tree:k=4,levels=2"};
  SlToVlMaps rows;
  TransitionPlan plan{.kind = TransitionKind::Certified, .phases = {{}}};
  unsigned sets_of_rows = 0;
  unsigned too_early = 0;
};

TEST_F(RowsOnLinksOfOneVl, AreWrittenWhenLinksOperateTheVlsThatTheyLeadTo) {
  ASSERT_GT(links_below(2), 0u);
  EXPECT_FALSE(run().plan_interrupted);
  EXPECT_GT(sets_of_rows, 0u);
  EXPECT_EQ(too_early, 0u);
  EXPECT_EQ(links_below(4), 0u);
}

TEST_F(RowsOnLinksOfOneVl, LoseTheirVlsWhenNoneOfThemLeadsThere) {
  ASSERT_FALSE(run().plan_interrupted);
  lab.policy.max_operational_vls = 1;
  lab.discover();
  rows = build_switch_rows(lab.snapshot(), {}, modulo_row(1));
  sets_of_rows = too_early = 0;
  ASSERT_FALSE(run().plan_interrupted);
  EXPECT_GT(sets_of_rows, 0u);
  EXPECT_EQ(too_early, 0u) << "while one may be left that does";
  EXPECT_GT(links_below(2), 0u);
}

TEST_F(RowsOnLinksOfOneVl, WaitForALinkBetweenSwitchesThatIsNotHeardOf) {
  const auto judge = lab.tap.on_send;
  const HopPath path = lab.sweep.path[lab.snapshot().switch_node[SwitchIdx{0}]];
  lab.tap.on_send = [&](const Smp& smp) {
    if (smp.method == Method::Set &&
        smp.attribute_id == static_cast<std::uint16_t>(AttributeId::PortInfo) &&
        smp.hop_count == path.size() && smp.initial_path[1] == path[0].value() &&
        (path.size() < 2 || smp.initial_path[2] == path[1].value()))
      return false;
    return judge(smp).value();
  };
  const ProgramReport report = run();
  ASSERT_TRUE(report.plan_interrupted);
  EXPECT_THAT(report.plan_interrupted->why, testing::HasSubstr("OperationalVLs"));
  EXPECT_EQ(sets_of_rows, 0u);
}

TEST_F(RowsOnLinksOfOneVl, AreNotHeldUpByAgentsThatKeepTheirs) {
  lab.tap.on_receive = [](Smp& smp) {
    if (smp.attribute_id != static_cast<std::uint16_t>(AttributeId::PortInfo)) return true;
    PortInfo info = decode_port_info(smp.data).value();
    info.operational_vls = 1;
    encode_port_info(info, smp.data);
    return true;
  };
  const ProgramReport first = run();
  EXPECT_FALSE(first.plan_interrupted);
  EXPECT_GT(first.not_kept_count, 0u);
  lab.take_port_info(first);
  const ProgramReport second = run();
  EXPECT_EQ(second.not_kept_count, 0u) << "no news";
  const ProgramReport third = run();
  EXPECT_EQ(third.configure.smps, 0u) << "nor asked again";
}

TEST_F(RowsOnLinksOfOneVl, AreNotHeldUpByAgentsThatRefuse) {
  unsigned raised = 0;
  lab.tap.on_receive = [&raised](Smp& smp) {
    if (smp.attribute_id != static_cast<std::uint16_t>(AttributeId::PortInfo)) return true;
    smp.status = 0x1c;
    ++raised;
    return true;
  };
  const ProgramReport first = run();
  EXPECT_FALSE(first.plan_interrupted);
  EXPECT_GT(first.fault_count, 0u);
  EXPECT_GT(sets_of_rows, 0u);
  const unsigned before = raised;
  EXPECT_FALSE(run().plan_interrupted);
  EXPECT_LT(raised - before, before) << "no port is asked again before the rows";
}

}  // namespace rows_test
}  // namespace smd::test
