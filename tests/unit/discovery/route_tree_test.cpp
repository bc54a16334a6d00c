// Routes over the links of a survey, while links come and go.
#include <gtest/gtest.h>

#include <optional>

#include "smd/base/rng.h"
#include "smd/discovery/survey.h"
#include "tests/support/port_num.h"

namespace smd {
namespace {

using test::port_num;

std::uint32_t add_node(Survey& survey, NodeType type, unsigned ports) {
  return survey.add({.node_type = static_cast<std::uint8_t>(type),
                     .num_ports = static_cast<std::uint8_t>(ports),
                     .node_guid = Guid{survey.size() + 1}},
                    SmpRoute::directed({}));
}

/// Where a path ends that starts at the manager; nothing when it crosses a port without a link.
std::optional<std::uint32_t> follow(const Survey& survey, const HopPath& path) {
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto peer = survey.peer({at, path[i]});
    if (!peer) return std::nullopt;
    at = peer->node;
  }
  return at;
}

/// Reaches what a tree made anew does, over links that there are.
void expect_complete(const Survey& survey, const RouteTree& tree) {
  const RouteTree fresh{survey};
  for (std::uint32_t n = 0; n < survey.size(); ++n) {
    ASSERT_EQ(tree.reaches(n), fresh.reaches(n)) << n;
    if (!tree.reaches(n)) continue;
    ASSERT_EQ(follow(survey, tree.path(n)), n);
  }
}

/// Switches with six ports, and adapters with two; node 0 is one of these.
TEST(RouteTree, ALinkThatCameReachesWhatOnlyItLeadsTo) {
  constexpr std::uint32_t kNodes = 14;
  unsigned gained = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng{seed};
    Survey survey;
    for (std::uint32_t n = 0; n < kNodes; ++n) {
      const bool is_switch = n % 4 != 0;
      add_node(survey, is_switch ? NodeType::Switch : NodeType::Ca, is_switch ? 6 : 2);
    }
    survey.set_local_port(port_num(1));
    RouteTree tree{survey};
    const auto pick = [&] {
      const auto n = static_cast<std::uint32_t>(rng.below(kNodes));
      const std::size_t ports = survey.num_ports(n);
      return LinkEnd{n, port_num(1 + static_cast<unsigned>(rng.below(ports)))};
    };
    for (unsigned step = 0; step < 120; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << step);
      const LinkEnd a = pick(), b = pick();
      if (survey.peer(a)) {
        if (rng.below(3) != 0) continue;
        const bool lost = !tree.cut(a).empty();
        survey.unlink(a);
        if (lost) tree = RouteTree{survey};
      } else if (a.node != b.node && !survey.peer(b)) {
        if (rng.below(10) == 0 && survey.size() < 40) add_node(survey, NodeType::Switch, 6);
        const bool reached = tree.reaches(a.node) && tree.reaches(b.node);
        survey.link(a, b);
        ASSERT_TRUE(tree.join(a, b));
        gained += !reached && tree.reaches(a.node) && tree.reaches(b.node) ? 1 : 0;
      }
      ASSERT_NO_FATAL_FAILURE(expect_complete(survey, tree));
    }
  }
  EXPECT_GE(gained, 200u);
}

TEST(RouteTree, ARouteIsNeverLongerThanASmpMayGo) {
  Survey survey;
  survey.set_local_port(port_num(1));
  add_node(survey, NodeType::Ca, 1);
  for (std::size_t i = 0; i <= kMaxHops; ++i) add_node(survey, NodeType::Switch, 2);
  RouteTree tree{survey};
  for (std::uint32_t n = 0; n < kMaxHops; ++n) {
    const LinkEnd from{n, port_num(n == 0 ? 1 : 2)}, to{n + 1, port_num(1)};
    survey.link(from, to);
    ASSERT_TRUE(tree.join(from, to));
  }
  const auto last = static_cast<std::uint32_t>(kMaxHops);
  EXPECT_TRUE(tree.path(last).full());
  const LinkEnd from{last, port_num(2)}, to{last + 1, port_num(1)};
  survey.link(from, to);
  EXPECT_FALSE(tree.join(from, to));
  EXPECT_FALSE(tree.reaches(last + 1));
}

/// Two switches lead to the last one by the same port number, and the first of them loses its link.
TEST(BuildReport, AnotherSwitchOnTheWayIsAnotherPath) {
  Survey survey;
  add_node(survey, NodeType::Ca, 1);
  for (unsigned n = 0; n < 4; ++n) add_node(survey, NodeType::Switch, 3);
  survey.set_local_port(port_num(1));
  survey.link({0, port_num(1)}, {1, port_num(1)});
  survey.link({1, port_num(2)}, {2, port_num(1)});
  survey.link({1, port_num(3)}, {3, port_num(1)});
  survey.link({2, port_num(2)}, {4, port_num(1)});
  survey.link({3, port_num(2)}, {4, port_num(2)});
  const SweepReport known = build_report(survey, {}, Epoch{1});
  ASSERT_EQ(follow(survey, (*known.path)[NodeIdx{4}]), 4u);

  Survey later;
  later.seed(known);
  later.set_local_port(port_num(1));
  later.unlink({2, port_num(2)});
  const SweepReport now = build_report(later, {}, Epoch{2});
  EXPECT_EQ(now.path[NodeIdx{4}].size(), known.path[NodeIdx{4}].size());
  EXPECT_EQ(follow(later, now.path[NodeIdx{4}]), 4u);
}

}  // namespace
}  // namespace smd
