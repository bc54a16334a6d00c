// Plans for people, and files for other tools.
#include "smd/report/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/fabric_text.h"
#include "tests/support/files.h"
#include "tests/support/subnet_oracles.h"

namespace smd {
namespace dump_test {

using testing::HasSubstr;
using testing::Not;

EntryChange entry(unsigned lid, PortNum egress) {
  return {SwitchIdx{0}, Lid{static_cast<std::uint16_t>(lid)}, egress};
}

TEST(PlanText, NamesKindPhasesAndWhatEachDoes) {
  const Fabric fabric = test::fabric_from("S1-S2 H1-S1 H2-S2");
  const std::string name = fabric.description[fabric.switch_node[SwitchIdx{0}]];
  TransitionPlan plan{.kind = TransitionKind::CutDependencies, .why = "no order was found"};
  plan.phases.resize(2);
  plan.phases[0].block = {Turn{SwitchIdx{0}, PortNum{1}, PortNum{2}}};
  plan.phases[0].entries = {entry(3, PortNum{2}), entry(4, kNoRoute)};
  plan.phases[0].certificate = ChannelOrder(fabric.port_count());
  plan.phases[1].to_wanted = true;
  EXPECT_EQ(print_transition(fabric, plan),
            "plan: cut-dependencies, 2 phases, no order was found\n"
            "phase 1: proved\n"
            "  turns blocked: 1\n    " +
                print_turn(fabric, plan.phases[0].block[0]) +
                "\n"
                "  entries: 2\n    " +
                name + " lid 3 -> port 2\n    " + name +
                " lid 4 withdrawn\n"
                "phase 2: not proved\n"
                "  entries: all, in any order\n");
}

TEST(PlanText, HasAllOfALongList) {
  const Fabric fabric = test::fabric_from("S1-S2 H1-S1 H2-S2");
  TransitionPlan plan{.kind = TransitionKind::Certified};
  plan.phases.resize(1);
  for (unsigned lid = 1; lid <= 23; ++lid) plan.phases[0].entries.push_back(entry(lid, PortNum{1}));
  const std::string text = print_transition(fabric, plan);
  EXPECT_THAT(text, HasSubstr("entries: 23\n"));
  for (unsigned lid = 1; lid <= 23; ++lid)
    EXPECT_THAT(text, HasSubstr(fmt::format(" lid {} -> port 1\n", lid)));
}

/// A subnet of two switches with a host each, up.
struct Dumps : testing::Test {
  Dumps() : subnet(test::spec_of("fat-tree:k=2,levels=2")) { EXPECT_TRUE(subnet.bring_up()); }

  [[nodiscard]] const Fabric& fabric() const { return subnet.manager.in_force()->fabric(); }

  test::SimulatedSubnet subnet;
};

TEST_F(Dumps, OfMulticastTablesAreByMlid) {
  const Guid sw = fabric().node_guid[fabric().switch_node[SwitchIdx{0}]];
  MftMemory memory;
  EXPECT_EQ(print_mft_dump(fabric(), memory), "") << "as OpenSM's of a subnet without groups";
  MftBlock block{};
  block[1] = 0x8005;
  memory.confirm(sw, {.block = 0, .position = 0}, block);
  block[1] = 0x0001;
  memory.confirm(sw, {.block = 0, .position = 1}, block);
  block = {};
  block[0] = 0x0002;
  memory.confirm(sw, {.block = 2, .position = 0}, block);
  EXPECT_EQ(print_mft_dump(fabric(), memory),
            fmt::format("\nSwitch {}\nLID    : Out Port(s)\n"
                        "0xC001 : 0x000  0x002  0x00F  0x010 \n"
                        "0xC040 : 0x001 \n",
                        sw));
}

TEST_F(Dumps, NameBothEndsOfEveryLink) {
  const std::string list = print_subnet_list(fabric(), *subnet.manager.in_force()->lids);
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(list, '\n')), 2 * fabric().link_count());
  EXPECT_THAT(list, HasSubstr("{ CA-SM Ports:")) << "the manager's own";
  EXPECT_THAT(list, HasSubstr(" LOG=ACT SPD="));
  EXPECT_THAT(list, Not(HasSubstr("LOG=INI")));
  const std::string neighbors = print_neighbors(fabric());
  const PortIdx port = fabric().sm_port, peer = fabric().peer[port];
  const PortIdx end = fabric().port_of(fabric().node_of[peer], PortNum{0});
  EXPECT_THAT(neighbors,
              HasSubstr(fmt::format("{}:{} {}:{}\n\n",
                                    fabric().port_guid[port],
                                    fabric().number_of(port),
                                    fabric().port_guid[end],
                                    fabric().number_of(peer))));
}

TEST_F(Dumps, KeepKeysForTheirOwnerAndReplaceWhatIsThereAsAWhole) {
  const test::Scratch scratch;
  const std::filesystem::path folder = scratch.path(), dump = folder / "deep" / "dump";
  DumpInput input = dump_input_of(subnet.manager);
  input.m_keys = {{.seed = {}, .key = MKey{0x1234}}};
  const auto read = [&](std::string_view name) { return test::read_text(dump / name); };
  const auto umask_before = ::umask(0);
  const auto written = write_opensm_dumps(dump, input);
  ::umask(umask_before);
  ASSERT_TRUE(written) << written.error().context;
  EXPECT_EQ(*written,
            (std::vector<std::string>{"opensm-lfts.dump",
                                      "opensm.mcfdbs",
                                      "opensm-subnet.lst",
                                      "guid2lid",
                                      "guid2mkey",
                                      "neighbors"}));
  for (const std::string& name : *written) {
    EXPECT_TRUE(std::filesystem::exists(dump / name)) << name;
    const auto open_to_others =
        std::filesystem::status(dump / name).permissions() & std::filesystem::perms::others_all;
    EXPECT_EQ(open_to_others == std::filesystem::perms::none, name == "guid2mkey") << name;
  }
  EXPECT_THAT(
      read("guid2mkey"),
      HasSubstr(fmt::format("{} 0x0000000000001234\n\n", fabric().port_guid[fabric().sm_port])));
  const Guid own = fabric().port_guid[fabric().sm_port];
  input.m_keys = {{.seed = std::string(16, 'a'), .key = {}}, {.seed = {}, .key = MKey{0x1234}}};
  ASSERT_TRUE(write_opensm_dumps(dump, input));
  EXPECT_THAT(read("guid2mkey"),
              HasSubstr(fmt::format(
                  "{} 0x{:016x}\n\n", own, derive_m_key(std::string(16, 'a'), own).value())));
  // Somebody else's link is replaced, never followed.
  std::ofstream(dump / "opensm-sl2vl.dump") << "of routes on lanes, before\n";
  std::ofstream(folder / "other") << "other\n";
  std::filesystem::remove(dump / "neighbors");
  std::filesystem::create_symlink(folder / "other", dump / "neighbors");
  std::filesystem::create_symlink(folder / "other", dump / "guid2lid.new");
  ASSERT_TRUE(write_opensm_dumps(dump, input));
  EXPECT_EQ(test::read_text(folder / "other"), "other\n");
  EXPECT_FALSE(std::filesystem::is_symlink(dump / "neighbors"));
  EXPECT_FALSE(std::filesystem::exists(dump / "guid2lid.new"));
  EXPECT_FALSE(std::filesystem::exists(dump / "opensm-sl2vl.dump"));
}

TEST_F(Dumps, RowsOfTheSiteAreThereWhereRoutesNeedNone) {
  const test::Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  DumpInput input = dump_input_of(subnet.manager);
  input.qos.sl_to_vl.emplace();
  for (std::uint8_t sl = 0; sl < 16; ++sl)
    (*input.qos.sl_to_vl)[sl] = Vl{static_cast<std::uint8_t>(sl == 5 ? 15 : sl % 2)};
  ASSERT_TRUE(write_opensm_dumps(folder, input));
  std::ifstream in(folder / "opensm-sl2vl.dump");
  std::size_t rows = 0, wanted = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find(" : ") == std::string::npos || line.starts_with('#')) continue;
    EXPECT_THAT(line, HasSubstr(" : 0  1  0  1  0  15 0  1  0  1  0  1  0  1  0  1 "));
    ++rows;
  }
  for (const NodeIdx node : fabric().switch_node) {
    for (const PortIdx exit : fabric().external_ports(node)) {
      if (fabric().peer[exit] != kNone<PortIdx>) wanted += fabric().num_ports(node) + 1;
    }
  }
  EXPECT_EQ(rows, wanted);
  EXPECT_GT(rows, 0u);
}

// What a plan has left in the way is in the switches, whatever routes would like.
TEST_F(Dumps, RowsAreThoseThatSwitchesHold) {
  const test::Scratch scratch;
  const std::filesystem::path& folder = scratch.path();
  DumpInput input = dump_input_of(subnet.manager);
  const SwitchIdx sw{0};
  const NodeIdx node = fabric().switch_node[sw];
  std::vector<PortNum> linked;
  for (const PortIdx port : fabric().external_ports(node)) {
    if (fabric().peer[port] != kNone<PortIdx>) linked.push_back(fabric().number_of(port));
  }
  ASSERT_GE(linked.size(), 2u);
  input.blocked = {Turn{sw, linked[0], linked[1]}};
  SlToVl row;
  row.fill(Vl{0});
  row[3] = kManagementVl;
  input.sl_to_vl.confirm(fabric().node_guid[node], linked[1], linked[0], row);
  ASSERT_TRUE(write_opensm_dumps(folder, input));
  const std::string text = test::read_text(folder / "opensm-sl2vl.dump");
  const auto starts = [](PortNum in, PortNum out) {
    return fmt::format("\n{:<3} {:<3} :", in.value(), out.value());
  };
  EXPECT_THAT(text, HasSubstr(starts(linked[0], linked[1]) + " 15 15 15 15"));
  EXPECT_THAT(text, HasSubstr(starts(linked[1], linked[0]) + " 0  0  0  15 0 "));
}

}  // namespace dump_test
}  // namespace smd
