// What each way of distributing the tables costs in SMPs on the example network of eight switches,
// switch by switch, when that switch comes or goes: Table 24 of the thesis, first row. Tables are
// written whole, 16 blocks for each switch that is reached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "smd/plan/make/planner.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/routing/updn/orientation.h"
#include "tests/unit/plan/plan_world.h"

namespace smd::test {
namespace {

using testing::ElementsAre;

constexpr unsigned kBlocks = 16;
constexpr std::array<unsigned, 7> kSwitches{2, 3, 5, 6, 8, 9, 10};

constexpr std::string_view kCables =
    "S1:3-H4:1 S1:1-S2:1 S1:2-S3:1 S2:2-S5:2 S2:3-S6:1 S2:4-H7:1 S3:2-S8:1 S3:3-S9:1 S3:4-S6:2 "
    "S5:1-S10:1 S5:3-H11:1 S6:3-S10:2 S6:4-H12:1 S8:2-H13:1 S9:2-H14:1 S10:3-H15:1";

std::string name_of(const std::string& end) { return end.substr(0, end.find(':')); }

std::vector<std::pair<std::string, std::string>> cables() {
  std::vector<std::pair<std::string, std::string>> all;
  std::istringstream tokens{std::string{kCables}};
  for (std::string token; tokens >> token;) {
    const std::size_t dash = token.find('-');
    all.emplace_back(token.substr(0, dash), token.substr(dash + 1));
  }
  return all;
}

/// What the manager on S1 can reach while `dead` is off.
std::set<std::string> reachable(const std::string& dead) {
  std::set<std::string> seen{"S1"};
  for (std::size_t before = 0; before != seen.size();) {
    before = seen.size();
    for (const auto& [a, b] : cables()) {
      if (name_of(a) == dead || name_of(b) == dead) continue;
      if (seen.contains(name_of(a)) || seen.contains(name_of(b))) {
        seen.insert(name_of(a));
        seen.insert(name_of(b));
      }
    }
  }
  return seen;
}

/// Cables between devices of `there`; fresh where one end was not in `before`.
std::string text_of(const std::set<std::string>& there, const std::set<std::string>& before) {
  std::string text;
  for (const unsigned number : {1u, 2u, 3u, 5u, 6u, 8u, 9u, 10u}) {
    const std::string name = "S" + std::to_string(number);
    if (there.contains(name)) text += name + "/4 ";
  }
  for (const auto& [a, b] : cables()) {
    if (!there.contains(name_of(a)) || !there.contains(name_of(b))) continue;
    text += a + (before.contains(name_of(a)) && before.contains(name_of(b)) ? "-" : "~") + b + " ";
  }
  return text;
}

Change make(const std::string& dead, bool comes) {
  const std::set<std::string> all = reachable(""), left = reachable(dead);
  ChangeSpec spec{.before = comes ? text_of(left, left) : text_of(all, all),
                  .after = comes ? text_of(all, left) : text_of(left, left),
                  .switches = 10,
                  .old_roots = {switch_guid(1)},
                  .new_roots = {switch_guid(1)}};
  return make_change(spec);
}

/// Turns that the old orientation forbids are blocked already.
std::vector<Turn> blocked_before(const Change& change) {
  std::vector<Turn> turns;
  for (const ForbiddenTurn& turn :
       find_forbidden_turns(*change.before, change.old_routes.orientation)) {
    const Guid guid = change.before->node_guid[change.before->switch_node[turn.sw]];
    if (const auto node = change.after->find_node(guid))
      turns.push_back({change.after->switch_of[*node], turn.in, turn.out});
  }
  std::ranges::sort(turns);
  return turns;
}

/// Rows of new links are set anyway.
std::set<Turn> new_rows(const Fabric& fabric) {
  std::set<Turn> rows;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (const PortIdx in : fabric.external_ports(fabric.switch_node[sw])) {
      for (const PortIdx out : fabric.external_ports(fabric.switch_node[sw])) {
        if (in == out || fabric.peer[in] == kNone<PortIdx> || fabric.peer[out] == kNone<PortIdx>)
          continue;
        if (awaits_activation(fabric, in) || awaits_activation(fabric, out))
          rows.insert({sw, fabric.number_of(in), fabric.number_of(out)});
      }
    }
  }
  return rows;
}

std::size_t count_smps(const std::string& dead, bool comes, Deactivation turn) {
  const Change change = make(dead, comes);
  TransitionTask task = change.task();
  if (turn == Deactivation::CutDependencies) task.blocked = blocked_before(change);
  const TransitionPlan plan = plan_transition(task, {.first = turn, .whole_tables = true});
  EXPECT_EQ(check_transition(task, plan).fault, "") << dead;
  EXPECT_EQ(plan.certified(), turn != Deactivation::None) << dead << " " << plan.why;
  std::set<Turn> rows = new_rows(*change.after);
  std::size_t smps = kBlocks * change.after->switch_count();
  for (const TransitionPhase& phase : plan.phases) {
    rows.insert(phase.block.begin(), phase.block.end());
    rows.insert(phase.restore.begin(), phase.restore.end());
    smps += phase.deactivate.size() + phase.activate.size();
  }
  return smps + rows.size();
}

std::vector<std::size_t> row(bool comes, Deactivation turn) {
  std::vector<std::size_t> counts;
  for (const unsigned number : kSwitches)
    counts.push_back(count_smps("S" + std::to_string(number), comes, turn));
  return counts;
}

TEST(Table24, ASwitchComes) {
  EXPECT_THAT(row(true, Deactivation::None), ElementsAre(162, 166, 150, 164, 140, 140, 150));
  EXPECT_THAT(row(true, Deactivation::CutDependencies),
              ElementsAre(162, 166, 150, 164, 140, 140, 150));
  EXPECT_THAT(row(true, Deactivation::CutPorts), ElementsAre(164, 170, 152, 166, 144, 144, 152));
  EXPECT_THAT(row(true, Deactivation::All), ElementsAre(210, 206, 202, 212, 196, 196, 202));
}

TEST(Table24, ASwitchGoes) {
  EXPECT_THAT(row(false, Deactivation::None), ElementsAre(112, 80, 112, 112, 112, 112, 112));
  EXPECT_THAT(row(false, Deactivation::CutDependencies),
              ElementsAre(114, 80, 112, 112, 112, 112, 112));
  EXPECT_THAT(row(false, Deactivation::CutPorts), ElementsAre(112, 82, 114, 112, 116, 116, 114));
  EXPECT_THAT(row(false, Deactivation::All), ElementsAre(160, 120, 164, 160, 168, 168, 164));
}

}  // namespace
}  // namespace smd::test
