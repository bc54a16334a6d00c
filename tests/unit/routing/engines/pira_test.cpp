#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "smd/routing/tables.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/thesis_tables.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

std::string number_of(const Fabric& f, SwitchIdx sw) {
  return f.description[f.switch_node[sw]].substr(1);
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found(1);
  for (const char c : text) {
    if (c == ' ') {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return found;
}

class PiraOnTheExample : public ::testing::Test {
 protected:
  const Fabric f = fabric_from(kFig76);
  const LidMap lids = lids_by_number(f);
  const RoutingTables with_defaults = compute("pira", f, lids, {.default_ports = true});
};

TEST_F(PiraOnTheExample, AddsThePublishedEntriesLidByLid) {
  EXPECT_EQ(with_defaults.sequence.size(), 50u);
  auto next = with_defaults.sequence.begin();
  for (const char* row : kTable19) {
    const std::vector<std::string> published = words(row);
    std::vector<std::string> found;
    for (; found.size() < published.size() && next != with_defaults.sequence.end(); ++next) {
      found.push_back(number_of(f, next->sw) + ":" + std::to_string(next->lid.value()) + "→" +
                      std::to_string(next->egress.value()));
    }
    EXPECT_THAT(found, UnorderedElementsAreArray(published));
  }
}

TEST_F(PiraOnTheExample, HasThePublishedDefaultPorts) {
  std::vector<std::string> found;
  for (const SwitchIdx sw : f.switch_node.indices()) {
    if (with_defaults.default_port[sw] != kNoRoute)
      found.push_back(number_of(f, sw) + "→" +
                      std::to_string(with_defaults.default_port[sw].value()));
  }
  EXPECT_THAT(found, ElementsAreArray(kTable19Defaults));
}

TEST_F(PiraOnTheExample, WritesNothingButItsEntries) {
  std::set<std::pair<SwitchIdx, Lid>> listed;
  for (const ComputedEntry& e : with_defaults.sequence) listed.insert({e.sw, e.lid});
  EXPECT_EQ(listed.size(), 50u);
  for (const SwitchIdx sw : f.switch_node.indices()) {
    for (std::uint16_t lid = 0; lid < 64; ++lid)
      EXPECT_EQ(with_defaults.lft.route(sw, Lid{lid}) != kNoRoute, listed.contains({sw, Lid{lid}}));
  }
}

TEST_F(PiraOnTheExample, FilledTablesRouteEverybodyAndLeaveOtherLidsOut) {
  const RoutingTables filled = compute("pira", f, lids);
  EXPECT_TRUE(check_routes(f, lids, filled.lft).ok());
  EXPECT_TRUE(filled.default_port.empty());
  EXPECT_EQ(filled.sequence, with_defaults.sequence);
  for (const SwitchIdx sw : f.switch_node.indices()) {
    EXPECT_EQ(filled.lft.route(sw, Lid{0}), kNoRoute);
    EXPECT_EQ(filled.lft.route(sw, Lid{16}), kNoRoute);
    for (std::uint16_t lid = 1; lid < 16; ++lid) {
      const PortNum own = with_defaults.lft.route(sw, Lid{lid});
      EXPECT_EQ(filled.lft.route(sw, Lid{lid}),
                own != kNoRoute ? own : with_defaults.default_port[sw]);
    }
  }
}

TEST(Pira, EveryLidOfAPortHasItsEntries) {
  const Fabric f = fabric_from("S1-S2 S1-S3 S2-S3 S2-H1 S3-H2");
  const LidMap lids = lids_in_order(f, 2);
  const RoutingTables tables = compute("pira", f, lids);
  EXPECT_TRUE(check_routes(f, lids, tables.lft).ok());
  const Lid base = lids.base[end_port(f, "H2")];
  for (unsigned o = 1; o < 4; ++o) {
    const Lid lid{static_cast<std::uint16_t>(base.value() + o)};
    EXPECT_EQ(path(f, tables.lft, "S1", lid), path(f, tables.lft, "S1", base));
  }
}

TEST(Pira, ASwitchWithoutALidStillForwards) {
  const Fabric f = fabric_from("S1-S2 S2-S3 S3-H1 S1-H2");
  LidMap lids = make_lid_map(f);
  set_lid(lids, end_port(f, "H1"), Lid{1}, 0);
  set_lid(lids, end_port(f, "H2"), Lid{2}, 0);
  const RoutingTables tables = compute("pira", f, lids);
  EXPECT_THAT(path(f, tables.lft, "S1", Lid{1}), ElementsAre("S1", "S2", "S3"));
  EXPECT_THAT(path(f, tables.lft, "S3", Lid{2}), ElementsAre("S3", "S2", "S1"));
}

TEST(Pira, ParallelLinksGoByTheLowestPortOnEitherSide) {
  const Fabric f = fabric_from("S1:1-S2:5 S1:2-S2:4 S2:1-H1 S1:3-H2");
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("pira", f, lids);
  EXPECT_EQ(egress_of(f, lids, tables.lft, "S1", "H1"), 1u);
  EXPECT_EQ(egress_of(f, lids, tables.lft, "S2", "H2"), 4u);
}

}  // namespace
}  // namespace smd::test
