// Lanes without cycles, from the single dependency to whole sets of trees.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "smd/routing/graph/acyclic_graph.h"
#include "smd/routing/layered/balanced_trees.h"
#include "smd/routing/layered/layering.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace layering_test {

constexpr const char* kRing5 = "S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5";

// A fabric and what layering wants to know of it.
struct Net {
  explicit Net(std::string_view text, std::uint8_t lmc = 0)
      : fabric(fabric_from(text)),
        lids(lids_in_order(fabric, lmc)),
        graph(fabric),
        targets(find_targets(fabric, lids)),
        dependencies(graph) {}

  [[nodiscard]] BalancedTrees trees(TreeStyle style = {}) const {
    return build_balanced_trees(fabric, lids, graph, targets, style);
  }

  [[nodiscard]] Channel channel(std::string_view from, std::string_view to) const {
    const SwitchIdx sw = switch_named(fabric, from);
    Channel at = graph.first_edge(sw);
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (edge.to == switch_named(fabric, to)) return at;
      ++at;
    }
    ADD_FAILURE() << from << " has no cable to " << to;
    return 0;
  }

  /// At the middle one of three neighbours.
  [[nodiscard]] Dependency turn(std::string_view a, std::string_view b, std::string_view c) const {
    return dependencies.between(channel(a, b), channel(b, c));
  }

  Fabric fabric;
  LidMap lids;
  SwitchGraph graph;
  Targets targets;
  Dependencies dependencies;
};

// Taking away, again and again, what nothing leads to.
bool has_cycle(const std::set<std::pair<Channel, Channel>>& waits) {
  auto left = waits;
  for (bool again = true; again;) {
    std::set<Channel> entered;
    for (const auto& [in, out] : left) entered.insert(out);
    again =
        std::erase_if(left, [&](const auto& wait) { return !entered.contains(wait.first); }) != 0;
  }
  return !left.empty();
}

std::set<std::pair<Channel, Channel>> waits_on_layer(const Net& net,
                                                     const InTrees& trees,
                                                     const Layering& layering,
                                                     unsigned layer) {
  std::set<std::pair<Channel, Channel>> waits;
  for (std::uint32_t tree = 0; tree < trees.count(); ++tree) {
    for (std::uint32_t source = 0; source < trees.switches(); ++source) {
      if (layering.layer(tree, SwitchIdx{source}) != layer) continue;
      Channel held = ~Channel{0};
      std::uint32_t sw = source;
      while (trees.slots(tree)[sw] != kNoSlot) {
        const Channel next = net.graph.first_edge(SwitchIdx{sw}) + trees.slots(tree)[sw];
        if (held != ~Channel{0}) waits.emplace(held, next);
        held = next;
        sw = net.graph.edge(next).to.value();
      }
    }
  }
  return waits;
}

void add(AcyclicGraph& layer, Dependency dependency, AcyclicGraph::Answer wanted) {
  std::uint64_t budget = 1000;
  EXPECT_EQ(layer.add(dependency, budget), wanted);
}

TEST(Dependencies, NameTheirTwoChannels) {
  const Net net{"S1-S2 S2-S3 S2-S4"};
  const Channel in = net.channel("S1", "S2");
  for (const char* const to : {"S1", "S3", "S4"}) {
    const Dependency d = net.dependencies.between(in, net.channel("S2", to));
    EXPECT_EQ(net.dependencies.in(d), in);
    EXPECT_EQ(net.dependencies.out(d), net.channel("S2", to));
  }
}

TEST(Dependencies, HaveRowsOfSeveralWordsAtBigSwitches) {
  std::string text;
  for (int s = 2; s <= 101; ++s) text += "S1-S" + std::to_string(s) + " ";
  const Net net{text};
  const Channel in = net.channel("S2", "S1");
  std::set<Dependency> all;
  for (int s = 2; s <= 101; ++s) {
    const Channel out = net.channel("S1", "S" + std::to_string(s));
    const Dependency d = net.dependencies.between(in, out);
    EXPECT_EQ(net.dependencies.in(d), in);
    EXPECT_EQ(net.dependencies.out(d), out);
    all.insert(d);
  }
  EXPECT_EQ(all.size(), 100u);
}

TEST(AcyclicGraph, TakesAllOfARingButTheLastTurn) {
  const Net net{kRing5};
  AcyclicGraph layer{net.dependencies};
  add(layer, net.turn("S1", "S2", "S3"), AcyclicGraph::Answer::Added);
  add(layer, net.turn("S3", "S4", "S5"), AcyclicGraph::Answer::Added);
  add(layer, net.turn("S2", "S3", "S4"), AcyclicGraph::Answer::Added);
  add(layer, net.turn("S5", "S1", "S2"), AcyclicGraph::Answer::Added);
  add(layer, net.turn("S4", "S5", "S1"), AcyclicGraph::Answer::Closes);
  // The other way round is another ring.
  add(layer, net.turn("S1", "S5", "S4"), AcyclicGraph::Answer::Added);
}

TEST(AcyclicGraph, TakesWhatNoLongerClosesACycle) {
  const Net net{"S1-S2 S2-S3 S3-S1"};
  AcyclicGraph layer{net.dependencies};
  add(layer, net.turn("S1", "S2", "S3"), AcyclicGraph::Answer::Added);
  add(layer, net.turn("S2", "S3", "S1"), AcyclicGraph::Answer::Added);
  add(layer, net.turn("S3", "S1", "S2"), AcyclicGraph::Answer::Closes);
  layer.remove(net.turn("S1", "S2", "S3"));
  add(layer, net.turn("S3", "S1", "S2"), AcyclicGraph::Answer::Added);
  add(layer, net.turn("S1", "S2", "S3"), AcyclicGraph::Answer::Closes);
}

TEST(AcyclicGraph, SaysWhenTheSearchIsTooLong) {
  const Net net{kRing5};
  AcyclicGraph layer{net.dependencies};
  std::uint64_t budget = 0;
  unsigned added = 0;
  for (const auto& [a, b, c] : {std::tuple{"S1", "S2", "S3"},
                                {"S2", "S3", "S4"},
                                {"S3", "S4", "S5"},
                                {"S4", "S5", "S1"},
                                {"S5", "S1", "S2"}})
    added += layer.add(net.turn(a, b, c), budget) == AcyclicGraph::Answer::Added;
  EXPECT_LT(added, 5u);
  EXPECT_TRUE(layer.sort());
}

RC_GTEST_PROP(AcyclicGraph, AddsExactlyWhatClosesNoCycle, ()) {
  const Net net{*random_fabric_text()};
  RC_PRE(net.graph.edge_count() > 0u);
  AcyclicGraph layer{net.dependencies};
  std::set<std::pair<Channel, Channel>> waits;
  for (int step = 0; step < 60; ++step) {
    const Channel in = *rc::gen::inRange<Channel>(0, net.dependencies.channels());
    const auto next_ones = net.graph.edges(net.graph.edge(in).to).size();
    const Channel out = net.dependencies.first_out(in) +
                        *rc::gen::inRange<Channel>(0, static_cast<Channel>(next_ones));
    const Dependency d = net.dependencies.between(in, out);
    if (*rc::gen::inRange(0, 8) == 0) {
      layer.remove(d);
      waits.erase({in, out});
      continue;
    }
    std::uint64_t budget = 100000;
    auto wanted = waits;
    wanted.emplace(in, out);
    const bool closes = has_cycle(wanted);
    RC_ASSERT((layer.add(d, budget) == AcyclicGraph::Answer::Closes) == closes);
    if (!closes) waits = std::move(wanted);
    RC_ASSERT(layer.has(d) == !closes);
  }
  RC_ASSERT(layer.sort());
}

TEST(Heaviest, TheLightestTurnOfACycleGoes) {
  const Net net{"S1-S2 S2-S3 S3-S1 S3-S4"};
  AcyclicGraph layer{net.dependencies};
  std::vector<std::uint32_t> uses(net.dependencies.size(), 0);
  const auto use = [&](Dependency d, std::uint32_t paths) {
    layer.set(d);
    uses[d] = paths;
  };
  use(net.turn("S1", "S2", "S3"), 7);
  use(net.turn("S2", "S3", "S1"), 2);
  use(net.turn("S3", "S1", "S2"), 3);
  use(net.turn("S2", "S3", "S4"), 1);  // behind the cycle, not on it
  ASSERT_FALSE(layer.sort());
  keep_heaviest(net.dependencies, uses, layer, 1000);
  EXPECT_TRUE(layer.has(net.turn("S1", "S2", "S3")));
  EXPECT_FALSE(layer.has(net.turn("S2", "S3", "S1")));
  EXPECT_TRUE(layer.has(net.turn("S3", "S1", "S2")));
  EXPECT_TRUE(layer.has(net.turn("S2", "S3", "S4")));
  EXPECT_TRUE(layer.sort());
}

TEST(Heaviest, WhatClosesNoCycleStaysHoweverLight) {
  // Two rings with one switch in common: one turn of each goes, the rest stays.
  const Net net{"S1-S2 S2-S3 S3-S1 S1-S4 S4-S5 S5-S1"};
  AcyclicGraph layer{net.dependencies};
  std::vector<std::uint32_t> uses(net.dependencies.size(), 0);
  std::uint32_t paths = 20;
  std::vector<Dependency> used;
  for (const auto& [a, b, c] : {std::tuple{"S1", "S2", "S3"},
                                {"S2", "S3", "S1"},
                                {"S3", "S1", "S2"},
                                {"S1", "S4", "S5"},
                                {"S4", "S5", "S1"},
                                {"S5", "S1", "S4"},
                                {"S3", "S1", "S4"}}) {
    used.push_back(net.turn(a, b, c));
    layer.set(used.back());
    uses[used.back()] = paths--;
  }
  ASSERT_FALSE(layer.sort());
  keep_heaviest(net.dependencies, uses, layer, 1000);
  EXPECT_TRUE(layer.sort());
  EXPECT_EQ(std::ranges::count_if(used, [&](Dependency d) { return layer.has(d); }), 5);
  EXPECT_FALSE(layer.has(net.turn("S3", "S1", "S2")));
  EXPECT_FALSE(layer.has(net.turn("S5", "S1", "S4")));
}

TEST(Layering, ARingOfFiveNeedsTwoLanes) {
  const Net net{kRing5};
  const BalancedTrees trees = net.trees();
  for (const Bundle bundle : {Bundle::Pair, Bundle::Path}) {
    Layering layering{net.graph, trees.trees, bundle};
    EXPECT_EQ(layering.assign(8), 2u);
    EXPECT_EQ((Layering{net.graph, trees.trees, bundle}.assign(2)), 2u);
    EXPECT_EQ((Layering{net.graph, trees.trees, bundle}.assign(1)), std::nullopt);
  }
}

// Whatever layer it is on, a path that is reopened stays there if that has room.
TEST(Layering, WhatIsReopenedGoesBackToItsLane) {
  const Net net{"S1-S2 S2-S3 S1-H1 S2-H2 S3-H3"};
  const BalancedTrees trees = net.trees();
  Layering layering{net.graph, trees.trees, Bundle::Path};
  for (std::uint32_t tree = 0; tree < trees.trees.count(); ++tree) {
    for (const std::uint32_t sw : trees.trees.near_to_far(trees.trees.root(tree)))
      EXPECT_TRUE(layering.put(tree, SwitchIdx{sw}, 1));
  }
  for (std::uint32_t tree = 0; tree < trees.trees.count(); ++tree) {
    for (const std::uint32_t sw : trees.trees.near_to_far(trees.trees.root(tree)))
      layering.reopen(tree, SwitchIdx{sw});
  }
  EXPECT_EQ(layering.resume(2), 2u);
  for (std::uint32_t tree = 0; tree < trees.trees.count(); ++tree) {
    for (const SwitchIdx sw : {SwitchIdx{0}, SwitchIdx{2}}) {
      const bool is_path = sw != trees.trees.root(tree);
      EXPECT_TRUE(!is_path || layering.layer(tree, sw) == 1);
    }
  }
}

// Around a ring of five on one layer all turns but one fit.
TEST(Layering, DependenciesAreTakenInWholeOrNotAtAll) {
  const Net net{kRing5};
  const BalancedTrees trees = net.trees();
  Layering layering{net.graph, trees.trees, Bundle::Path};
  for (std::uint32_t tree = 0; tree < trees.trees.count(); ++tree) {
    for (const std::uint32_t sw : trees.trees.near_to_far(trees.trees.root(tree)))
      EXPECT_TRUE(layering.put(tree, SwitchIdx{sw}, 2));
  }
  EXPECT_FALSE(layering.open({})) << "all on one layer close the ring";

  InTrees cut = trees.trees;
  for (std::uint32_t tree = 0; tree < cut.count(); ++tree)
    std::ranges::fill(cut.slots(tree), kNoSlot);
  Layering empty{net.graph, cut, Bundle::Path};
  for (const std::uint32_t sw : cut.near_to_far(cut.root(0)))
    EXPECT_TRUE(empty.put(0, SwitchIdx{sw}, 2));
  ASSERT_TRUE(empty.open({}));
  const auto on_layer_2 = [&](auto... turns) {
    return std::vector<Layering::LayeredUse>{{net.turn(turns[0], turns[1], turns[2]), 1u << 2}...};
  };
  using Turn3 = std::array<const char*, 3>;
  EXPECT_TRUE(empty.take_in(on_layer_2(Turn3{"S1", "S2", "S3"}, Turn3{"S2", "S3", "S4"})));
  EXPECT_FALSE(empty.take_in(
      on_layer_2(Turn3{"S3", "S4", "S5"}, Turn3{"S4", "S5", "S1"}, Turn3{"S5", "S1", "S2"})));
  EXPECT_TRUE(empty.take_in(on_layer_2(Turn3{"S4", "S5", "S1"}, Turn3{"S5", "S1", "S2"})))
      << "nothing of what did not fit is left behind";
  EXPECT_FALSE(empty.take_in(on_layer_2(Turn3{"S3", "S4", "S5"})));
}

// Towards every switch of a ring of seven, the three on one side go round by the other side. The
// longest of these seven times three paths have five turns of seven, so that a lane takes two.
TEST(Layering, PathsMoveToALaneThatTakesThemOrStay) {
  const Net net{"S1-S2 S2-S3 S3-S4 S4-S5 S5-S6 S6-S7 S7-S1"};
  const auto count_moved = [&](unsigned most) {
    BalancedTrees trees = net.trees();
    Layering layering{net.graph, trees.trees, Bundle::Path};
    EXPECT_EQ(layering.assign(2), 2u);
    EXPECT_TRUE(layering.open({}));
    unsigned moved = 0;
    for (std::uint32_t tree = 0; tree < trees.trees.count(); ++tree) {
      const std::vector<std::uint32_t> far = trees.trees.near_to_far(trees.trees.root(tree));
      for (const std::uint32_t sw : {far[5], far[3], far[1]}) {  // the outer one first
        std::uint8_t& slot = trees.trees.slots(tree)[sw];
        const std::uint8_t before = slot;
        slot = static_cast<std::uint8_t>(1 - before);
        std::vector<std::uint8_t> lanes;
        for (std::uint32_t at = 0; at < trees.trees.switches(); ++at)
          lanes.push_back(layering.layer(tree, SwitchIdx{at}));
        if (layering.move(tree, std::span(&sw, 1), most)) {
          ++moved;
          continue;
        }
        slot = before;
        for (std::uint32_t at = 0; at < trees.trees.switches(); ++at)
          EXPECT_EQ(layering.layer(tree, SwitchIdx{at}), lanes[at]);
        break;  // behind it nobody could go by it
      }
    }
    EXPECT_LE(layering.count_layers(), most);
    for (unsigned lane = 0; lane < most; ++lane)
      EXPECT_FALSE(has_cycle(waits_on_layer(net, trees.trees, layering, lane))) << lane;
    return moved;
  };
  EXPECT_LT(count_moved(2), 21u);
  EXPECT_EQ(count_moved(7), 21u);
}

TEST(Layering, ATreeNeedsOne) {
  const Net net{"S1-S2 S1-S3 S2-S4 S2-S5 S3-S6 S4-H1 S5-H2 S6-H3 S1-H4"};
  const BalancedTrees trees = net.trees();
  EXPECT_EQ((Layering{net.graph, trees.trees, Bundle::Path}.assign(1)), 1u);
}

TEST(Layering, NothingNeedsOne) {
  const Net net{"S1-H1"};
  const BalancedTrees trees = net.trees();
  EXPECT_EQ((Layering{net.graph, trees.trees, Bundle::Pair}.assign(1)), 1u);
}

// Between opposite switches of a ring both ways are equally long. A pair that goes round with both
// its paths takes every turn of the ring but two, and there are four such pairs.
TEST(Layering, APairThatComesBackOverItsCablesNeedsFewerLanes) {
  const Net net{
      "S1-S2 S2-S3 S3-S4 S4-S5 S5-S6 S6-S7 S7-S8 S8-S1 "
      "S1-H1 S2-H2 S3-H3 S4-H4 S5-H5 S6-H6 S7-H7 S8-H8"};
  const auto count = [&](NextHopChoice choice) {
    const BalancedTrees trees = net.trees({TreePer::EachSwitch, choice});
    return Layering{net.graph, trees.trees, Bundle::Pair}.assign(15);
  };
  EXPECT_EQ(count(NextHopChoice::Guids), 2u);
  EXPECT_EQ(count(NextHopChoice::Walk), 2u);
  EXPECT_GT(count(NextHopChoice::Order), 2u);
}

// S1 and S2 are joined by S3 and, at their lowest ports, by S4: 2 + 1 against 3 + 2.
TEST(CablePrices, TheCheaperOfTwoWaysIsTakenThereAndBack) {
  const Net net{"S1 S2 S3 S4 S1:1-S4:1 S2:1-S4:2 S1:2-S3:1 S2:2-S3:2 S1-H1 S2-H2"};
  const std::vector<std::uint32_t> prices = price_links(net.fabric, net.graph, Numbering::Guids);
  EXPECT_EQ(prices[net.channel("S1", "S4")], 3u);
  EXPECT_EQ(prices[net.channel("S4", "S1")], 3u);
  EXPECT_EQ(prices[net.channel("S3", "S2")], 1u);
  for (const auto& [choice, by] :
       {std::pair{NextHopChoice::Order, "S4"}, std::pair{NextHopChoice::Guids, "S3"}}) {
    const BalancedTrees trees = net.trees({TreePer::EachSwitch, choice});
    for (const auto& [from, to] : {std::pair{"S1", "S2"}, std::pair{"S2", "S1"}}) {
      const SwitchIdx source = switch_named(net.fabric, from);
      const std::uint32_t tree = trees.trees.first_tree(switch_named(net.fabric, to));
      EXPECT_EQ(net.graph.first_edge(source) + trees.trees.slots(tree)[source.value()],
                net.channel(from, by));
    }
  }
}

TEST(CablePrices, AWalkNumbersARowInItsOrderWhateverTheGuids) {
  // A line whose GUIDs are out of order. From S1 by the lowest port to S5, S3, S6; then S4, S2.
  const Net net{"S1:1-S5:1 S5:2-S3:1 S3:2-S6:1 S1:2-S4:1 S4:2-S2:1 S6:2-S2:2"};
  const std::vector<std::uint32_t> prices = price_links(net.fabric, net.graph, Numbering::Walk);
  EXPECT_EQ(prices[net.channel("S1", "S5")], 1u);
  EXPECT_EQ(prices[net.channel("S3", "S5")], 1u);
  EXPECT_EQ(prices[net.channel("S2", "S4")], 1u);
  EXPECT_EQ(prices[net.channel("S4", "S1")], 5u);  // closes the ring
}

RC_GTEST_PROP(Layering, NoLaneHasACycle, ()) {
  const Net net{*random_fabric_text(), *rc::gen::inRange<std::uint8_t>(0, 2)};
  const TreePer per = *rc::gen::element(TreePer::EachLid, TreePer::EachSwitch);
  const NextHopChoice choice = *rc::gen::element(
      NextHopChoice::Load, NextHopChoice::Order, NextHopChoice::Guids, NextHopChoice::Walk);
  const Bundle bundle = *rc::gen::element(Bundle::Pair, Bundle::Path);
  const BalancedTrees trees = net.trees({per, choice});
  Layering layering{net.graph, trees.trees, bundle};
  const auto layers = layering.assign(15);
  RC_ASSERT(layers.has_value());
  RC_CLASSIFY(*layers > 1);
  for (unsigned layer = 0; layer < 15; ++layer) {
    const auto waits = waits_on_layer(net, trees.trees, layering, layer);
    RC_ASSERT(!has_cycle(waits));
    RC_ASSERT(layer < *layers || waits.empty());
  }
}

RC_GTEST_PROP(Layering, PairsHaveOneLaneForAllTheirPaths, ()) {
  const Net net{*random_fabric_text()};
  const BalancedTrees trees = net.trees();
  Layering layering{net.graph, trees.trees, Bundle::Pair};
  RC_ASSERT(layering.assign(15).has_value());
  for (std::uint32_t a = 0; a < trees.trees.count(); ++a) {
    for (std::uint32_t b = 0; b < trees.trees.count(); ++b) {
      RC_ASSERT(layering.layer(a, trees.trees.root(b)) == layering.layer(b, trees.trees.root(a)));
    }
  }
}

}  // namespace layering_test
}  // namespace smd::test
