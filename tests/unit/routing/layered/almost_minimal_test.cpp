// sm.non_minimal = "almost-minimal": paths to LIDs beyond the first that share few links with those
// to lower ones. What the tables say is walked here hop by hop; lanes are judged by the checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/verify/channel_load.h"
#include "tests/unit/routing/support/shape_checks.h"

namespace smd::test {
namespace almost_minimal_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNote = "LIDs of a port beyond the first have almost minimal paths";

RoutingRequest apart(unsigned vls = 8) {
  return {.options = {.non_minimal = NonMinimal::AlmostMinimal}, .max_vls = vls};
}

using Links = std::vector<PortIdx>;  // by the ports that they leave

/// What the paths from switches to hosts at others are.
struct Paths {
  double fewest = 1e9, mean = 0;  // of paths of a pair no two of which share a link
  double mean_hops = 0;
  unsigned most_beyond = 0;   // the shortest
  unsigned too_long = 0;      // longer than two links more, or than the diameter and one
  unsigned first_longer = 0;  // to first LIDs, longer than the shortest
  double uneven = 0;          // the fullest channel against the mean one, over all LIDs
  std::map<unsigned, unsigned> pairs_by_links;  // by the length of the shortest
  std::map<unsigned, double> apart_by_links;    // mean
};

Links walk(const Fabric& f, const RoutingTables& tables, SwitchIdx at, Lid lid) {
  Links out;
  while (true) {
    const PortIdx port = f.port_of(f.switch_node[at], tables.lft.route(at, lid));
    const NodeIdx next = f.node_of[f.peer[port]];
    if (!f.is_switch(next)) return out;
    out.push_back(port);
    EXPECT_LE(out.size(), f.switch_count());
    if (out.size() > f.switch_count()) return out;
    at = f.switch_of[next];
  }
}

unsigned count_apart(const std::vector<Links>& paths) {
  unsigned most = 0;
  for (unsigned set = 1; set < 1u << paths.size(); ++set) {
    Links all;
    for (unsigned i = 0; i < paths.size(); ++i) {
      if ((set >> i & 1) != 0) all.insert(all.end(), paths[i].begin(), paths[i].end());
    }
    std::ranges::sort(all);
    if (std::ranges::adjacent_find(all) == all.end())
      most = std::max(most, static_cast<unsigned>(std::popcount(set)));
  }
  return most;
}

Paths look_at(const Fabric& f, const LidMap& lids, const RoutingTables& tables) {
  Paths out;
  const SwitchGraph graph{f};
  std::map<SwitchIdx, std::vector<PortIdx>> hosts;  // by their switch
  for (const NodeIdx node : f.node_guid.indices()) {
    if (f.is_switch(node)) continue;
    const PortIdx port = f.port_of(node, PortNum{1});
    hosts[f.switch_of[f.node_of[f.peer[port]]]].push_back(port);
  }
  std::map<SwitchIdx, IndexVector<SwitchIdx, std::uint32_t>> far;
  unsigned diameter = 0;
  for (const auto& [sw, list] : hosts) {
    far[sw] = compute_distances(graph, std::span(&sw, 1));
    for (const auto& [other, some] : hosts) diameter = std::max(diameter, far[sw][other]);
  }
  std::map<PortIdx, double> load;
  double pairs = 0, hops = 0;
  for (const auto& [from, senders] : hosts) {
    for (const auto& [to, list] : hosts) {
      if (from == to) continue;
      const unsigned least = far[from][to];
      for (const PortIdx host : list) {
        std::vector<Links> paths;
        for (unsigned offset = 0; offset < 1u << lids.lmc[host]; ++offset) {
          const Lid lid{static_cast<std::uint16_t>(lids.base[host].value() + offset)};
          paths.push_back(walk(f, tables, from, lid));
          const auto links = static_cast<unsigned>(paths.back().size());
          hops += links;
          out.most_beyond = std::max(out.most_beyond, links - least);
          out.too_long += links > std::min(least + 2, diameter + 1);
          out.first_longer += offset == 0 && links > least;
          for (const PortIdx port : paths.back()) load[port] += static_cast<double>(senders.size());
        }
        const unsigned apart = count_apart(paths);
        out.fewest = std::min<double>(out.fewest, apart);
        out.mean += apart;
        ++out.pairs_by_links[least];
        out.apart_by_links[least] += apart;
        out.mean_hops += static_cast<double>(hops) / static_cast<double>(paths.size());
        hops = 0;
        ++pairs;
      }
    }
  }
  out.mean /= pairs;
  out.mean_hops /= pairs;
  for (auto& [links, sum] : out.apart_by_links) sum /= out.pairs_by_links[links];
  double all = 0, fullest = 0;
  for (const auto& [port, paths] : load) {
    all += paths;
    fullest = std::max(fullest, paths);
  }
  out.uneven = fullest / (all / static_cast<double>(graph.edge_count()));
  return out;
}

struct Made {
  explicit Made(const Reshaped& shape, std::uint8_t lmc = 2, unsigned vls = 8)
      : fabric(shape.build()),
        lids(lids_in_order(fabric, lmc)),
        tables(compute("dfsssp", fabric, lids, apart(vls))) {}

  Fabric fabric;
  LidMap lids;
  RoutingTables tables;
};

struct Row {
  const char* fabric;
  unsigned vls;
  double mean, fewest;  // paths of a pair over other links, of four
  double uneven;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.fabric; }

class AlmostMinimal : public ::testing::TestWithParam<Row> {};

TEST_P(AlmostMinimal, PathsShareFewLinksWithinTheBoundAndTheVls) {
  const Row& row = GetParam();
  const Made made{Reshaped{row.fabric}};
  expect_sound(made.fabric, made.lids, made.tables);
  EXPECT_LE(made.tables.vls, row.vls);
  const Paths paths = look_at(made.fabric, made.lids, made.tables);
  EXPECT_EQ(paths.too_long, 0u);
  EXPECT_EQ(paths.first_longer, 0u);
  EXPECT_GE(paths.mean, row.mean);
  EXPECT_GE(paths.fewest, row.fewest);
  EXPECT_LE(paths.uneven, row.uneven);
  EXPECT_THAT(made.tables.notes, Contains(HasSubstr(kNote)));
  const Paths plain =
      look_at(made.fabric, made.lids, compute("dfsssp", made.fabric, made.lids, {.max_vls = 8}));
  EXPECT_GT(paths.mean, plain.mean);
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics,
    AlmostMinimal,
    ::testing::Values(Row{"slim-fly:q=5", 4, 2.59, 1, 1.03},
                      Row{"slim-fly:q=7", 4, 2.88, 1, 1.02},
                      Row{"dragonfly:a=4,c=2,h=2", 8, 2.35, 1, 1.5},
                      Row{"torus:dims=4.4,hosts=2", 8, 2.65, 1, 1.3},
                      Row{"irregular:switches=24,links=5,hosts=3,ports=8", 8, 2.75, 1, 1.5},
                      Row{"hamming:dims=4.4,hosts=2", 4, 2.85, 2, 1.3}));

// Its graph has no circle of less than five links: neighbours have one path of less than four, and
// two switches that are not have one of two and six of three.
TEST(AlmostMinimalPaths, OfASlimFlyAreWhatItsGraphHas) {
  const Made made{Reshaped{"slim-fly:q=5"}};
  const Paths paths = look_at(made.fabric, made.lids, made.tables);
  EXPECT_EQ(paths.pairs_by_links, (std::map<unsigned, unsigned>{{1, 1400}, {2, 8400}}));
  EXPECT_EQ(paths.apart_by_links.at(1), 1);
  EXPECT_GE(paths.apart_by_links.at(2), 2.85);
  const Made eight{Reshaped{"slim-fly:q=5"}, 3};
  expect_sound(eight.fabric, eight.lids, eight.tables);
  const Paths more = look_at(eight.fabric, eight.lids, eight.tables);
  EXPECT_GE(more.apart_by_links.at(2), 4);
  EXPECT_EQ(more.too_long, 0u);
}

TEST(AlmostMinimalPaths, AreTheSameEachTime) {
  const Reshaped shape = Reshaped{"slim-fly:q=5"}.relabel(3);
  const Made a{shape}, b{shape};
  EXPECT_EQ(a.tables.lft, b.tables.lft);
  EXPECT_EQ(a.tables.path_sls, b.tables.path_sls);
}

TEST(AlmostMinimalPaths, WhereCablesAreMissing) {
  Reshaped shape{"slim-fly:q=5"};
  const auto cables = shape.cables();
  for (std::size_t i = 0; i < cables.size(); i += 17)
    shape.without_cable(cables[i].first, cables[i].second);
  const Made made{shape};
  expect_sound(made.fabric, made.lids, made.tables);
  const Paths paths = look_at(made.fabric, made.lids, made.tables);
  EXPECT_EQ(paths.too_long, 0u);
  EXPECT_EQ(paths.first_longer, 0u);
  EXPECT_GE(paths.mean, 2.0);
}

TEST(AlmostMinimalPaths, AreAsManyAsTheVlsTake) {
  double before = 1;
  std::vector<bool> refused;
  for (const unsigned vls : {2u, 3u, 4u, 6u, 8u}) {
    const Made made{Reshaped{"slim-fly:q=5"}, 2, vls};
    const RouteReport report = expect_sound(made.fabric, made.lids, made.tables);
    EXPECT_LE(report.vls, vls);
    const double mean = look_at(made.fabric, made.lids, made.tables).mean;
    EXPECT_GE(mean, 0.99 * before);  // of paths that are as good, another fits first
    before = mean;
    refused.push_back(std::ranges::count_if(made.tables.notes, [](const std::string& note) {
                        return note.find("share links with lower ones") != std::string::npos;
                      }) != 0);
  }
  EXPECT_THAT(refused, ElementsAre(true, true, false, false, false));
  EXPECT_THAT(Made(Reshaped{"slim-fly:q=5"}, 2, 1).tables.engine, HasSubstr("need 2 data VLs"));
}

unsigned count_differing(const RoutingTables& a, const RoutingTables& b) {
  unsigned count = 0;
  for (std::size_t sw = 0; sw < a.lft.switches(); ++sw) {
    const SwitchIdx row{static_cast<std::uint32_t>(sw)};
    for (std::size_t i = 0; i < a.lft.row(row).size(); ++i)
      count += a.lft.row(row)[i] != b.lft.row(row)[i];
  }
  return count;
}

TEST(AlmostMinimalPaths, StayWhereALostCableDoesNotTakeThemAndComeBackWithIt) {
  const Reshaped whole{"slim-fly:q=5"};
  const Made first{whole};
  const auto [a, b] = whole.cables().front();
  const Fabric lost = Reshaped{whole}.without_cable(a, b).build();
  const auto update = [&](const Fabric& to, const Fabric& from, const RoutingTables& in_force) {
    const PreviousRoutes previous{&from, &first.lids, &in_force};
    RoutingRequest request = apart();
    request.in_force = &previous;
    RoutingTables tables = compute("dfsssp", to, first.lids, request);
    expect_sound(to, first.lids, tables);
    EXPECT_TRUE(tables.recomputed);
    EXPECT_THAT(tables.notes, Contains(HasSubstr(kNote)));
    return tables;
  };
  const double paths = look_at(first.fabric, first.lids, first.tables).mean;
  const RoutingTables without = update(lost, first.fabric, first.tables);
  const unsigned used = 2 * 4 * 50 * 4 / 7;  // entries of two switches, one in seven by the cable
  EXPECT_LE(count_differing(without, first.tables), 5 * used / 2);
  const Paths meanwhile = look_at(lost, first.lids, without);
  EXPECT_GE(meanwhile.mean, 0.97 * paths);
  EXPECT_EQ(meanwhile.too_long, 0u);
  const RoutingTables again = update(first.fabric, lost, without);
  const Paths after = look_at(first.fabric, first.lids, again);
  EXPECT_GE(after.mean, 0.995 * paths);
  // Paths that had to be longer meanwhile may stay so, for the SLs that hosts have.
  EXPECT_LE(after.too_long, 20u);
  EXPECT_LE(after.first_longer, 98u);
  if (after.first_longer != 0) {
    EXPECT_THAT(again.notes, Contains(HasSubstr("longer than the shortest")));
  }
}

// Four shortest paths to each port that differ where they can take eleven VLs on this torus.
TEST(AlmostMinimalPaths, BeginAlikeWhereShortestPathsThatDifferDoNotFit) {
  const Made made{Reshaped{"torus:dims=8.8,hosts=1"}};
  EXPECT_THAT(compute("dfsssp", made.fabric, made.lids, {.max_vls = 8}).engine,
              HasSubstr("8 data VLs may be used"));
  expect_sound(made.fabric, made.lids, made.tables);
  EXPECT_THAT(made.tables.notes, Contains(HasSubstr("8 data VLs have no room for the others")));
  const Paths paths = look_at(made.fabric, made.lids, made.tables);
  EXPECT_EQ(paths.too_long, 0u);
  EXPECT_EQ(paths.first_longer, 0u);
  EXPECT_GE(paths.mean, 1.5);
}

// A line of switches has one path for each pair; the cable that makes it a ring brings others.
TEST(AlmostMinimalPaths, BeginWhereAFabricGetsThem) {
  const Reshaped ring{"torus:dims=4,hosts=2"};
  const auto [a, b] = ring.cables().front();
  const Made line{Reshaped{ring}.without_cable(a, b)};
  EXPECT_THAT(line.tables.notes, Not(Contains(HasSubstr(kNote))));
  const Fabric whole = ring.build();
  const PreviousRoutes previous{&line.fabric, &line.lids, &line.tables};
  RoutingRequest request = apart();
  request.in_force = &previous;
  const RoutingTables grown = compute("dfsssp", whole, line.lids, request);
  expect_sound(whole, line.lids, grown);
  EXPECT_THAT(grown.notes, Contains(HasSubstr(kNote)));
  EXPECT_GT(look_at(whole, line.lids, grown).mean, 1.5);
}

// Where the paths in force are repaired it is not looked for again what shares links.
TEST(AlmostMinimalPaths, AreSaidToShareLinksAlsoAfterAChange) {
  const Reshaped whole{"slim-fly:q=5"};
  const Made first{whole, 2, 2};
  const auto shares = Contains(HasSubstr("share links with lower ones"));
  ASSERT_THAT(first.tables.notes, shares);
  const PreviousRoutes previous{&first.fabric, &first.lids, &first.tables};
  RoutingRequest request = apart(2);
  request.in_force = &previous;
  bool repaired = false;
  for (const auto& [a, b] : whole.cables()) {
    const Fabric lost = Reshaped{whole}.without_cable(a, b).build();
    const RoutingTables after = compute("dfsssp", lost, first.lids, request);
    EXPECT_THAT(after.notes, shares);
    repaired = after.recomputed.has_value();
    if (repaired) break;
  }
  EXPECT_TRUE(repaired);
}

// In which layers the paths of a new switch are is not known yet: nobody else's are led over it.
TEST(AlmostMinimalPaths, StayWhereASwitchIsNew) {
  constexpr std::uint8_t kLmc = 2;
  const Reshaped whole{"slim-fly:q=5"};
  const Fabric grown = whole.build();
  const LidMap lids = lids_in_order(grown, kLmc);
  const Fabric smaller = Reshaped{whole}.without_switch(whole.switches().front()).build();
  LidMap fewer = make_lid_map(smaller);
  const auto in_grown = [&](NodeIdx node) { return *grown.find_node(smaller.node_guid[node]); };
  for (const PortIdx port : smaller.node_of.indices()) {
    const NodeIdx node = smaller.node_of[port];
    const PortNum number = smaller.number_of(port);
    const Lid lid = lids.base[grown.port_of(in_grown(node), number)];
    if (lid != Lid{}) set_lid(fewer, port, lid, smaller.is_switch(node) ? 0 : kLmc);
  }
  const RoutingTables before = compute("dfsssp", smaller, fewer, apart());
  const PreviousRoutes previous{&smaller, &fewer, &before};
  RoutingRequest request = apart();
  request.in_force = &previous;
  const RoutingTables after = compute("dfsssp", grown, lids, request);
  expect_sound(grown, lids, after);
  ASSERT_TRUE(after.recomputed);
  ASSERT_GT(before.vls, 1u);
  unsigned moved = 0;
  for (const SwitchIdx sw : smaller.switch_node.indices()) {
    const SwitchIdx now = grown.switch_of[in_grown(smaller.switch_node[sw])];
    for (unsigned value = 1; value <= fewer.top.value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const PortNum was = before.lft.route(sw, lid);
      moved += was != kNoRoute && was != after.lft.route(now, lid);
    }
  }
  EXPECT_EQ(moved, 0u);
}

TEST(AlmostMinimalPaths, BeginAndEndWithTheOption) {
  const Reshaped shape{"slim-fly:q=5"};
  const Made made{shape};
  const RoutingTables plain = compute("dfsssp", made.fabric, made.lids, {.max_vls = 8});
  PreviousRoutes previous{&made.fabric, &made.lids, &plain};
  RoutingRequest request = apart();
  request.in_force = &previous;
  EXPECT_EQ(compute("dfsssp", made.fabric, made.lids, request).lft, made.tables.lft);
  previous.routing = &made.tables;
  request.options = {};
  EXPECT_EQ(compute("dfsssp", made.fabric, made.lids, request).lft, plain.lft);
}

// Shortest paths of a fat tree differ where they can; nothing longer would differ more.
TEST(AlmostMinimalPaths, AreNoneInAFatTreeWhichStaysOnOneVl) {
  const Made made{Reshaped{"fat-tree:k=4,levels=3"}};
  EXPECT_EQ(made.tables.vls, 1u);
  const RoutingTables plain = compute("dfsssp", made.fabric, made.lids, {.max_vls = 8});
  EXPECT_EQ(made.tables.lft, plain.lft);
  EXPECT_THAT(made.tables.notes, Contains(HasSubstr("none that are little longer")));
  const PreviousRoutes previous{&made.fabric, &made.lids, &made.tables};
  RoutingRequest request = apart();
  request.in_force = &previous;
  const RoutingTables again = compute("dfsssp", made.fabric, made.lids, request);
  EXPECT_EQ(again.lft, plain.lft);
  EXPECT_EQ(again.recomputed, std::vector<Lid>{});
  EXPECT_THAT(again.notes, Contains(HasSubstr("none that are little longer")));
}

TEST(AlmostMinimalPaths, AreNoneWithOneLidEach) {
  const Made made{Reshaped{"slim-fly:q=5"}, 0};
  const RoutingTables plain = compute("dfsssp", made.fabric, made.lids, {.max_vls = 8});
  EXPECT_EQ(made.tables.lft, plain.lft);
  EXPECT_THAT(made.tables.notes, Not(Contains(HasSubstr(kNote))));
}

}  // namespace almost_minimal_test
}  // namespace smd::test
