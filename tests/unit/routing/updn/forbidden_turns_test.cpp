#include "smd/routing/updn/orientation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/routing/support/paths.h"

namespace smd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Orientation rank_switches(const Fabric& f,
                          std::initializer_list<std::pair<const char*, std::uint32_t>> ranks) {
  Orientation o;
  o.rank.resize(f.switch_count());
  for (const auto& [name, rank] : ranks) {
    o.rank[switch_named(f, name)] = rank;
    o.by_guid.emplace_back(f.node_guid[node(f, name)], rank);
  }
  std::sort(o.by_guid.begin(), o.by_guid.end());
  return o;
}

std::vector<std::string> print_turns(const Fabric& f, const Orientation& o) {
  std::vector<std::string> turns;
  for (const ForbiddenTurn& turn : find_forbidden_turns(f, o))
    turns.push_back(f.description[f.switch_node[turn.sw]] + ":" + std::to_string(turn.in.value()) +
                    ">" + std::to_string(turn.out.value()));
  return turns;
}

TEST(CutNodes, TheThesisExampleHasTwo) {
  const Fabric f = fabric_from(kFig76);
  const LidMap lids = lids_by_number(f);
  const Orientation o =
      compute("updn", f, lids, {.options = {.roots = {f.node_guid[node(f, "S1")]}}}).orientation;
  EXPECT_THAT(print_turns(f, o), ElementsAre("S6:1>2", "S6:2>1", "S10:1>2", "S10:2>1"));
}

TEST(CutNodes, ThreeUpPortsMakeSixTurns) {
  const Fabric f = fabric_from("S1:1-S4:1 S2:1-S4:2 S3:1-S4:3 S4:4-H1 S1:2-S2:2 S2:3-S3:2");
  const Orientation o = rank_switches(f, {{"S1", 0}, {"S2", 1}, {"S3", 2}, {"S4", 3}});
  EXPECT_THAT(print_turns(f, o),
              ElementsAre("S4:1>2", "S4:1>3", "S4:2>1", "S4:2>3", "S4:3>1", "S4:3>2"));
}

TEST(CutNodes, EqualRanksGoByGuid) {
  //   S1        S2 and S3 are ranked alike: the smaller GUID is up.
  //  /  \       .
  // S2--S3
  const Fabric f = fabric_from("S1:1-S2:1 S1:2-S3:1 S2:2-S3:2");
  const Orientation o = rank_switches(f, {{"S1", 0}, {"S2", 1}, {"S3", 1}});
  EXPECT_THAT(print_turns(f, o), ElementsAre("S3:1>2", "S3:2>1"));
}

TEST(CutNodes, ParallelLinksCountAndLoopBacksAndHostsDoNot) {
  const Fabric f = fabric_from("S1:1-S2:1 S1:2-S2:2 S2:3-S2:4 S2:5-S2:5 S2:6-H1 S2:7-H1:2");
  const Orientation o = rank_switches(f, {{"S1", 0}, {"S2", 1}});
  EXPECT_THAT(print_turns(f, o), ElementsAre("S2:1>2", "S2:2>1"));
}

TEST(CutNodes, ATreeHasNone) {
  const Fabric f = fabric_from("S1-S2 S1-S3 S3-S4 S4-H1");
  const Orientation o = rank_switches(f, {{"S1", 0}, {"S2", 1}, {"S3", 1}, {"S4", 2}});
  EXPECT_THAT(find_forbidden_turns(f, o), IsEmpty());
}

}  // namespace
}  // namespace smd::test
