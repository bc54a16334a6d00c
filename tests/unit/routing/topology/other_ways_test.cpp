// sm.non_minimal: LIDs of a port beyond the first by way of another place, on Hamming graphs
// dimension by dimension, on dragonflies by another group. What the tables say is walked here hop
// by hop; VLs are judged by the checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace other_ways_test {

using ::testing::Contains;
using ::testing::HasSubstr;

using Place = std::vector<int>;

/// "sw-3-0-5": 3, 0, 5.
Place place_of(const std::string& name) {
  Place out;
  for (std::size_t at = name.find('-'); at != std::string::npos; at = name.find('-', at + 1)) {
    out.push_back(std::stoi(name.substr(at + 1)));
  }
  return out;
}

class Fixture {
 public:
  Fixture(std::string_view engine, const Reshaped& shape, std::uint8_t lmc, unsigned vls = 8)
      : fabric(shape.build()),
        lids(lids_in_order(fabric, lmc)),
        tables(compute(engine,
                       fabric,
                       lids,
                       {.options = {.non_minimal = NonMinimal::Valiant}, .max_vls = vls})) {}

  /// Switches from one to the LID of a host.
  [[nodiscard]] std::vector<Place> way(SwitchIdx from, Lid lid) const {
    std::vector<Place> out;
    const std::string name = fabric.description[fabric.switch_node[from]];
    for (const std::string& sw : path(fabric, tables.lft, name, lid)) out.push_back(place_of(sw));
    return out;
  }

  template <class Visit>
  void for_each_host_lid(Visit visit) const {
    for (const NodeIdx node : fabric.node_guid.indices()) {
      if (fabric.is_switch(node)) continue;
      const PortIdx port = fabric.port_of(node, PortNum{1});
      const Place at = place_of(fabric.description[fabric.node_of[fabric.peer[port]]]);
      for (unsigned offset = 0; offset < 1u << lids.lmc[port]; ++offset) {
        visit(at, offset, Lid{static_cast<std::uint16_t>(lids.base[port].value() + offset)});
      }
    }
  }

  Fabric fabric;
  LidMap lids;
  RoutingTables tables;
};

const char* const kGrid = "hamming:dims=4.3,hosts=4";  // the longest side first, as recognised
const char* const kDragonfly = "dragonfly:a=5,c=1,h=2";

std::size_t changed(const Place& a, const Place& b) {
  std::size_t d = 0;
  while (a[d] == b[d]) ++d;
  return d;
}

TEST(OtherWays, OnAHammingGraphTakeTwoHopsInEachDimensionByAllCoordinatesAlike) {
  const Fixture f("hamming", Reshaped{kGrid}.relabel(5), 2);
  expect_sound(f.fabric, f.lids, f.tables);
  EXPECT_EQ(f.tables.vls, 2u);
  const RoutingTables minimal = compute("hamming", f.fabric, f.lids);
  // By source and destination switch, dimension: how often by which coordinate.
  std::map<std::pair<Place, Place>, std::map<std::size_t, std::map<int, int>>> by;
  for (const SwitchIdx from : f.fabric.switch_node.indices()) {
    f.for_each_host_lid([&](const Place& to, unsigned offset, Lid lid) {
      const std::vector<Place> way = f.way(from, lid);
      ASSERT_EQ(way.back(), to);
      if (offset == 0) {
        EXPECT_LE(way.size(), 3u);
        EXPECT_EQ(f.tables.lft.route(from, lid), minimal.lft.route(from, lid));
        return;
      }
      std::size_t last = 0;
      std::map<std::size_t, int> hops;
      for (std::size_t i = 1; i < way.size(); ++i) {
        const std::size_t d = changed(way[i - 1], way[i]);
        EXPECT_GE(d, last) << "dimensions in their order";
        last = d;
        if (++hops[d] == 1) ++by[{way[0], to}][d][way[i][d]];
        EXPECT_LE(hops[d], 2);
      }
    });
  }
  // Four hosts of three further LIDs each: 12 ways by 4 and by 3 coordinates. A source's own
  // coordinate leads straight on to the destination's.
  ASSERT_FALSE(by.empty());
  for (const auto& [ends, dimensions] : by) {
    for (const auto& [d, counts] : dimensions) {
      const int each = d == 0 ? 3 : 4;
      for (const auto& [coordinate, count] : counts) {
        EXPECT_EQ(count, coordinate == ends.second[d] ? 2 * each : each);
      }
      EXPECT_EQ(counts.size(), d == 0 ? 3u : 2u) << "all but its own";
    }
  }
}

TEST(OtherWays, NeedTheirVls) {
  for (const auto& [engine, fabric] :
       {std::pair{"hamming", kGrid}, std::pair{"dragonfly", kDragonfly}}) {
    Fixture f(engine, Reshaped{fabric}, 2);
    expect_sound(f.fabric, f.lids, f.tables);
    EXPECT_FALSE(check_routes(f.fabric, f.lids, f.tables.lft).acyclic) << "on one";
    const unsigned few = f.tables.vls - 1;
    EXPECT_THAT(Fixture(engine, Reshaped{fabric}, 2, few).tables.engine,
                HasSubstr("needs " + std::to_string(f.tables.vls) + " data VLs"));
    EXPECT_THAT(f.tables.notes, Contains(HasSubstr("by way of other places")));
  }
}

TEST(OtherWays, AreNoneWithOneLidEach) {
  for (const auto& [engine, fabric] :
       {std::pair{"hamming", kGrid}, std::pair{"dragonfly", kDragonfly}}) {
    const Fixture f(engine, Reshaped{fabric}, 0);
    const RoutingTables plain = compute(engine, f.fabric, f.lids);
    EXPECT_EQ(f.tables.lft, plain.lft) << engine;
    EXPECT_EQ(f.tables.vls, plain.vls);
  }
}

TEST(OtherWays, OnADragonflyGoByOneMoreGroup) {
  const Fixture f("dragonfly", Reshaped{kDragonfly}.relabel(3), 3);
  expect_sound(f.fabric, f.lids, f.tables);
  EXPECT_EQ(f.tables.vls, 3u);
  std::map<std::pair<int, int>, std::set<int>> by;
  std::map<std::pair<int, int>, std::set<unsigned>> roundabout;  // offsets
  for (const SwitchIdx from : f.fabric.switch_node.indices()) {
    f.for_each_host_lid([&](const Place& to, unsigned offset, Lid lid) {
      const std::vector<Place> way = f.way(from, lid);
      ASSERT_EQ(way.back(), to);
      std::vector<int> groups{way[0][0]};
      for (const Place& place : way) {
        if (place[0] != groups.back()) groups.push_back(place[0]);
      }
      EXPECT_LE(groups.size(), offset == 0 ? 2u : 3u);
      EXPECT_LE(way.size(), groups.size() == 3 ? 6u : 4u);
      if (groups.size() < 3) return;
      by[{groups[0], groups[2]}].insert(groups[1]);
      roundabout[{groups[0], groups[2]}].insert(offset);
    });
  }
  // Seven further LIDs: one leads straight on from each distance; most of the others find a group
  // that lies in the order of the groups behind or before both ends.
  EXPECT_EQ(by.size(), 110u);
  double ways = 0;
  for (const auto& [ends, groups] : by) {
    EXPECT_LE(roundabout[ends].size(), 6u);
    EXPECT_GE(roundabout[ends].size(), 2u);
    EXPECT_GE(groups.size(), 2u);
    ways += static_cast<double>(groups.size());
  }
  EXPECT_GE(ways / 110, 5.0);
}

TEST(OtherWays, HaveOneSlInBothDirections) {
  const Fixture f("dragonfly", Reshaped{kDragonfly}, 3);
  std::set<unsigned> used;
  std::map<std::pair<SwitchIdx, SwitchIdx>, std::map<unsigned, unsigned>> sl;
  for (const NodeIdx node : f.fabric.node_guid.indices()) {
    if (f.fabric.is_switch(node)) continue;
    const PortIdx port = f.fabric.port_of(node, PortNum{1});
    const SwitchIdx end = f.fabric.switch_of[f.fabric.node_of[f.fabric.peer[port]]];
    for (const SwitchIdx from : f.fabric.switch_node.indices()) {
      for (unsigned offset = 0; offset < 8; ++offset) {
        const Lid lid{static_cast<std::uint16_t>(f.lids.base[port].value() + offset)};
        const unsigned own = f.tables.path_sls.sl(from, lid);
        used.insert(own);
        sl[{from, end}][offset] = own;
      }
    }
  }
  EXPECT_EQ(used, (std::set<unsigned>{0, 1, 2, 3, 4}));
  for (const auto& [ends, of] : sl) EXPECT_EQ(of, (sl[{ends.second, ends.first}]));
}

TEST(OtherWays, AreMinimalOnesWhereSomethingIsMissing) {
  const Fixture whole("hamming", Reshaped{kGrid}, 2);
  for (const Reshaped& damaged : {Reshaped{kGrid}.without_cable("sw-0-0", "sw-0-1"),
                                  Reshaped{kGrid}.without_switch("sw-1-1")}) {
    const Fixture f("hamming", damaged, 2);
    expect_sound(f.fabric, f.lids, f.tables);
    EXPECT_THAT(f.tables.notes, Contains(HasSubstr("need a shape of which nothing is missing")));
    for (const SwitchIdx from : f.fabric.switch_node.indices()) {
      std::map<Place, std::size_t> first;
      f.for_each_host_lid([&](const Place& to, unsigned offset, Lid lid) {
        if (offset == 0) first[to] = f.way(from, lid).size();
        EXPECT_EQ(f.way(from, lid).size(), first[to]);
      });
    }
  }
  for (const Reshaped& damaged : {Reshaped{kDragonfly}.without_cable("sw-0-0", "sw-0-1"),
                                  Reshaped{kDragonfly}.without_switch("sw-3-1")}) {
    const Fixture f("dragonfly", damaged, 2);
    expect_sound(f.fabric, f.lids, f.tables);
    EXPECT_THAT(f.tables.notes, Contains(HasSubstr("need a shape of which nothing is missing")));
  }
}

}  // namespace other_ways_test
}  // namespace smd::test
