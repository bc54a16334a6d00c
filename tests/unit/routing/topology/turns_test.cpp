// Which of several parallel cables, and which way by another place, a LID is given: evenly, and the
// same whoever else is there.
#include <gtest/gtest.h>

#include <map>

#include "smd/routing/verify/channel_load.h"
#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace turns_test {

struct Routed {
  Routed(Fabric built, std::string_view engine, std::uint8_t lmc = 0, NonMinimal ways = {})
      : fabric(std::move(built)),
        lids(lids_in_order(fabric, lmc)),
        tables(compute(engine, fabric, lids, {.options = {.non_minimal = ways}})) {}

  [[nodiscard]] std::string name(NodeIdx node) const { return fabric.description[node]; }

  /// Who is behind a port: "" for nobody.
  [[nodiscard]] std::string behind(SwitchIdx sw, PortNum port) const {
    if (port == kNoRoute) return "";
    const PortIdx peer = fabric.peer[fabric.port_of(fabric.switch_node[sw], port)];
    return peer == kNone<PortIdx> ? "" : name(fabric.node_of[peer]);
  }

  Fabric fabric;
  LidMap lids;
  RoutingTables tables;
};

struct Moved {
  std::vector<std::string> entries;
  std::size_t of = 0;
};

/// Entries that differ although both have switch and destination, and the next hop before is there
/// as well.
Moved find_moved(const Routed& before, const Routed& after) {
  std::map<std::string, NodeIdx> now;
  for (const NodeIdx node : after.fabric.node_guid.indices()) now[after.name(node)] = node;
  Moved moved;
  for (const SwitchIdx was : before.fabric.switch_node.indices()) {
    const auto at = now.find(before.name(before.fabric.switch_node[was]));
    if (at == now.end()) continue;
    const SwitchIdx is = after.fabric.switch_of[at->second];
    for (const NodeIdx node : before.fabric.node_guid.indices()) {
      const auto there = now.find(before.name(node));
      if (there == now.end()) continue;
      const PortIdx end = end_port(before.fabric, before.name(node));
      const PortIdx end_now = end_port(after.fabric, before.name(node));
      for (unsigned offset = 0; offset < 1u << before.lids.lmc[end]; ++offset) {
        const auto lid = static_cast<std::uint16_t>(before.lids.base[end].value() + offset);
        const auto lid_now = static_cast<std::uint16_t>(after.lids.base[end_now].value() + offset);
        const PortNum port = before.tables.lft.route(was, Lid{lid});
        if (port != PortNum{0} && !now.contains(before.behind(was, port))) continue;
        ++moved.of;
        if (after.tables.lft.route(is, Lid{lid_now}) != port)
          moved.entries.push_back(before.name(before.fabric.switch_node[was]) + " to " +
                                  before.name(node) + " + " + std::to_string(offset));
      }
    }
  }
  return moved;
}

struct Case {
  const char* engine;
  const char* fabric;
  std::uint8_t lmc = 0;
  NonMinimal ways = NonMinimal::Off;
};

class EveryHost : public ::testing::TestWithParam<Case> {};

TEST_P(EveryHost, ThatIsGoneMovesNobody) {
  const Case& c = GetParam();
  const Routed whole{Reshaped{c.fabric}.build(), c.engine, c.lmc, c.ways};
  for (const char* host : {"host-00000", "host-00001", "host-00005", "host-00011", "host-00031"}) {
    const Routed rest{Reshaped{c.fabric}.without_host(host).build(), c.engine, c.lmc, c.ways};
    const Moved moved = find_moved(whole, rest);
    EXPECT_EQ(moved.entries, std::vector<std::string>{}) << host << ", of " << moved.of;
    EXPECT_NE(moved.of, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    EveryHost,
    ::testing::Values(Case{"hamming", "hamming:dims=4.4,hosts=4", 2, NonMinimal::Valiant},
                      Case{"hamming", "hamming:dims=4.3,hosts=3", 1, NonMinimal::Valiant},
                      Case{"hamming", "hamming:dims=4.4,hosts=3,trunk=2.2"},
                      Case{"hamming", "hamming:dims=4.4,hosts=3,trunk=3.2", 1},
                      Case{"dragonfly", "dragonfly:a=4,c=2,h=2,global-trunk=2"},
                      Case{"dragonfly", "dragonfly:a=4,c=3,h=2,local-trunk=2"},
                      Case{"dragonfly", "dragonfly:a=5,c=1,h=2", 3, NonMinimal::Valiant}));

TEST(Turns, HeadNodeThatIsGoneMovesNobody) {
  const std::string line =
      "S1-S2 S1-S2 S2-S3 S2-S3 S3-S4 S3-S4 H1-S1:6 H2-S1:7 H3-S1:8 H4-S2:6 H5-S2:7 H6-S2:8 "
      "H7-S3:6 H8-S3:7 H9-S3:8 H10-S4:6 H11-S4:7 H12-S4:8";
  const Routed whole{fabric_from(line + " H20-S2:20"), "dor"}, rest{fabric_from(line), "dor"};
  ASSERT_EQ(whole.tables.engine, "dor");
  EXPECT_EQ(find_moved(whole, rest).entries, std::vector<std::string>{});
}

TEST(Turns, SwitchThatIsGoneMovesOnlyWhatPassedIt) {
  for (const Case& c : {Case{"hamming", "hamming:dims=4.4,hosts=3,trunk=2.2"},
                        Case{"hamming", "hamming:dims=3.3.4,hosts=1,trunk=2.3.1"}}) {
    const Routed whole{Reshaped{c.fabric}.build(), c.engine};
    for (const std::string& name : Reshaped{c.fabric}.switches()) {
      const Routed rest{Reshaped{c.fabric}.without_switch(name).build(), c.engine};
      ASSERT_EQ(rest.tables.engine, c.engine);
      EXPECT_EQ(find_moved(whole, rest).entries, std::vector<std::string>{}) << name;
    }
  }
}

/// Rows and columns of switches with that many parallel cables and hosts; a torus or a mesh.
std::string grid(unsigned rows, unsigned columns, unsigned trunk, unsigned hosts, bool torus) {
  const auto at = [&](unsigned r, unsigned c) {
    return "S" + std::to_string(1 + r % rows * columns + c % columns);
  };
  std::string text;
  for (unsigned copy = 0; copy < trunk; ++copy) {
    for (unsigned r = 0; r < rows; ++r) {
      for (unsigned c = 0; c < columns; ++c) {
        if (torus || c + 1 < columns) text += at(r, c) + "-" + at(r, c + 1) + " ";
        if (torus || r + 1 < rows) text += at(r, c) + "-" + at(r + 1, c) + " ";
      }
    }
  }
  for (unsigned host = 0; host < rows * columns * hosts; ++host)
    text += "H" + std::to_string(host + 1) + "-S" + std::to_string(1 + host / hosts) + " ";
  return text;
}

// Against what was on the fullest channel when the GUIDs of a column had one parity. Where no more
// is said the remainder comes from the few hosts of the last dimension.
TEST(Turns, ParallelCablesOfAGridAreAllUsed) {
  struct Row {
    unsigned rows, columns, trunk, hosts;
    bool torus;
    std::uint64_t most;
  };

  for (const Row& row : {Row{8, 8, 2, 1, true, 48},    // 72
                         Row{8, 8, 4, 2, true, 112},   // 144
                         Row{6, 6, 2, 3, true, 162},   // 180
                         Row{7, 7, 2, 1, true, 35},    // odd: as it was
                         Row{5, 5, 3, 2, true, 30},    // as it was
                         Row{8, 8, 2, 1, false, 80},   // 128
                         Row{8, 8, 4, 2, false, 192},  // 256
                         Row{5, 5, 2, 1, false, 20}}) {
    const Routed routed{fabric_from(grid(row.rows, row.columns, row.trunk, row.hosts, row.torus)),
                        "dor"};
    ASSERT_EQ(routed.tables.engine, "dor");
    EXPECT_LE(measure_load(routed.fabric, routed.lids, routed.tables.lft).max, row.most)
        << row.rows << " x " << row.columns << ", trunk " << row.trunk;
  }
}

}  // namespace turns_test
}  // namespace smd::test
