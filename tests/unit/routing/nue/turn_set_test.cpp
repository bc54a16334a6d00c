// Turns that close no cycle, against a search through all turns that are in.
#include "smd/routing/nue/turn_set.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "smd/base/rng.h"
#include "smd/routing/nue/tree_growth.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace turn_set_test {

using Turn = std::pair<Channel, Channel>;

// Whether turns lead from one channel to the other.
bool leads(const std::set<Turn>& turns, Channel from, Channel to) {
  std::vector<Channel> found{from};
  std::set<Channel> seen{from};
  for (std::size_t at = 0; at < found.size(); ++at) {
    if (found[at] == to) return true;
    for (auto turn = turns.lower_bound({found[at], 0});
         turn != turns.end() && turn->first == found[at];
         ++turn) {
      if (seen.insert(turn->second).second) found.push_back(turn->second);
    }
  }
  return false;
}

class TurnSets : public ::testing::TestWithParam<const char*> {};

TEST_P(TurnSets, LetInWhateverClosesNoCycleAndNothingElse) {
  const Generated g = generated(GetParam());
  const SwitchGraph graph{g.fabric};
  const Channels channels{graph};
  std::vector<Channel> order(channels.size());
  std::iota(order.begin(), order.end(), Channel{0});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng{seed};
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    TurnSet set{channels, order};
    std::set<Turn> in_set, before;
    for (int draw = 0; draw < 600; ++draw) {
      const auto in = static_cast<Channel>(rng.below(channels.size()));
      const SwitchIdx sw = channels.to[in];
      const std::uint32_t first = channels.first[sw.value()];
      const auto out =
          first + static_cast<Channel>(rng.below(channels.first[sw.value() + 1] - first));
      const bool free = out != channels.reverse[in] && !leads(in_set, out, in);
      ASSERT_EQ(set.add(in, out), free) << "seed " << seed << ", draw " << draw;
      if (free) in_set.insert({in, out});
      ASSERT_EQ(set.has(in, out), free);
      if (draw % 10 != 9) continue;
      // What is taken back is out again, and bars nothing any more.
      if (rng.below(2) == 0) {
        set.take_back();
        in_set = before;
      } else {
        set.keep();
        before = in_set;
      }
    }
  }
}

TEST_P(TurnSets, TurnsOfOneSwitchGoInTogetherOrNotAtAll) {
  const Generated g = generated(GetParam());
  const SwitchGraph graph{g.fabric};
  const Channels channels{graph};
  std::vector<Channel> order(channels.size());
  std::iota(order.begin(), order.end(), Channel{0});
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng{seed};
    TurnSet set{channels, order};
    std::set<Turn> in_set;
    for (int draw = 0; draw < 300; ++draw) {
      std::vector<Turn> turns;
      const auto out = static_cast<Channel>(rng.below(channels.size()));
      const std::uint32_t sw = channels.from[out].value();
      for (Channel c = channels.first[sw]; c < channels.first[sw + 1]; ++c) {
        if (c != out && rng.below(3) == 0) turns.emplace_back(channels.reverse[c], out);
      }
      std::set<Turn> with = in_set;
      with.insert(turns.begin(), turns.end());
      const bool free = std::ranges::none_of(
          turns, [&](const Turn& turn) { return leads(with, turn.second, turn.first); });
      ASSERT_EQ(set.add_together(turns), free) << "seed " << seed << ", draw " << draw;
      ASSERT_TRUE(set.is_kept());
      if (free) in_set = with;
      refused += !free;
      for (const auto& [in, other] : turns)
        ASSERT_EQ(set.has(in, other), in_set.contains({in, other}));
    }
  }
  EXPECT_GT(refused, 0u);
}

// A set of so many random turns, and what is in it.
struct Drawn {
  Drawn(const Channels& channels, std::uint64_t seed, int draws)
      : set(channels, numbers(channels)) {
    Rng rng{seed};
    for (int draw = 0; draw < draws; ++draw) {
      const auto in = static_cast<Channel>(rng.below(channels.size()));
      const std::uint32_t sw = channels.to[in].value();
      const Channel first = channels.first[sw];
      const auto out = first + static_cast<Channel>(rng.below(channels.first[sw + 1] - first));
      if (set.add(in, out)) turns.insert({in, out});
    }
    set.keep();
  }

  static std::vector<Channel> numbers(const Channels& channels) {
    std::vector<Channel> order(channels.size());
    std::iota(order.begin(), order.end(), Channel{0});
    return order;
  }

  TurnSet set;
  std::set<Turn> turns;
};

// What is in the set, read turn by turn.
std::set<Turn> list_turns(const Channels& channels, const TurnSet& set) {
  std::set<Turn> found;
  for (Channel in = 0; in < channels.size(); ++in) {
    const std::uint32_t sw = channels.to[in].value();
    for (Channel out = channels.first[sw]; out < channels.first[sw + 1]; ++out) {
      if (set.has(in, out)) found.insert({in, out});
    }
  }
  return found;
}

bool has_cycle(const std::set<Turn>& turns) {
  return std::ranges::any_of(
      turns, [&](const Turn& turn) { return leads(turns, turn.second, turn.first); });
}

TEST_P(TurnSets, AnEscapeTreeGoesBesideTheTurnsThatAreThereOrLeavesThemAlone) {
  const Generated g = generated(GetParam());
  const SwitchGraph graph{g.fabric};
  const Channels channels{graph};
  std::size_t found = 0, none = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Drawn drawn{channels, seed, static_cast<int>(seed) * 10};
    const auto links = find_escape_links(channels, drawn.set, {});
    const std::set<Turn> after = list_turns(channels, drawn.set);
    ASSERT_TRUE(drawn.set.is_kept());
    if (!links) {
      ++none;
      ASSERT_EQ(after, drawn.turns);
      continue;
    }
    ++found;
    // One tree over all switches, with every turn between two of its links.
    ASSERT_EQ(links->size() + 1, graph.switches());
    std::set<Turn> wanted = drawn.turns;
    std::set<SwitchIdx> ends;
    for (const Channel link : *links) {
      ends.insert({channels.from[link], channels.to[link]});
      for (const Channel other : *links) {
        for (const Channel in : {link, channels.reverse[link]}) {
          for (const Channel out : {other, channels.reverse[other]}) {
            if (link != other && channels.to[in] == channels.from[out]) wanted.insert({in, out});
          }
        }
      }
    }
    ASSERT_EQ(ends.size(), graph.switches());
    ASSERT_EQ(after, wanted);
    ASSERT_FALSE(has_cycle(after));
    // Without one of its links the others stay.
    const Channel lost = (*links)[seed % links->size()];
    Drawn again{channels, seed, static_cast<int>(seed) * 10};
    const auto mended = find_escape_links(channels, again.set, *links, lost);
    if (!mended) continue;
    EXPECT_EQ(std::ranges::count(*mended, lost), 0);
    std::size_t kept = 0;
    for (const Channel link : *mended) kept += std::ranges::count(*links, link) != 0 ? 1 : 0;
    EXPECT_EQ(kept + 1, links->size());
  }
  EXPECT_GT(found, 0u);
  EXPECT_GT(none, 0u);
}

// Turns that are in the set cost a look as well: without a bound on these a search that is out of
// steps would still go through all of them.
TEST_P(TurnSets, ASearchOfAFreePathEndsWithItsSteps) {
  const Generated g = generated(GetParam());
  const SwitchGraph graph{g.fabric};
  const Channels channels{graph};
  const IndexVector<SwitchIdx, Channel> nobody(graph.switches(), kNoChannel);
  const EscapeTree escape{channels, {SwitchIdx{0}}};
  TurnSet turns{channels, escape.list_channels()};
  for (const auto& [in, out] : escape.list_turns()) turns.add(in, out);
  turns.keep();
  for (std::uint32_t sw = 1; sw < graph.switches(); ++sw) {
    const auto find = [&](std::size_t& steps) {
      return find_free_path(channels, turns, SwitchIdx{sw}, SwitchIdx{0}, nobody, steps);
    };
    std::size_t steps = 1'000'000;
    const std::vector<Channel> path = find(steps);
    ASSERT_FALSE(path.empty());
    EXPECT_GE(1'000'000 - steps, path.size());  // the turns of the path alone, and its beginning
    if (path.size() > 1) {
      std::size_t few = 1;
      EXPECT_TRUE(find(few).empty());
      EXPECT_EQ(few, 0u);
    }
    std::size_t none = 0;
    EXPECT_TRUE(find(none).empty());
  }
}

TEST_P(TurnSets, AFreePathIsThereWhereAnyIs) {
  const Generated g = generated(GetParam());
  const SwitchGraph graph{g.fabric};
  const Channels channels{graph};
  const IndexVector<SwitchIdx, Channel> nobody(graph.switches(), kNoChannel);
  const SwitchIdx destination{0};
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Drawn drawn{channels, seed, static_cast<int>(seed) * 40};
    const auto is_free = [&](Channel in, Channel out) {
      return out != channels.reverse[in] && !leads(drawn.turns, out, in);
    };
    for (std::uint32_t sw = 1; sw < graph.switches(); ++sw) {
      std::size_t steps = 1'000'000;
      const std::vector<Channel> path =
          find_free_path(channels, drawn.set, SwitchIdx{sw}, destination, nobody, steps);
      ASSERT_EQ(list_turns(channels, drawn.set), drawn.turns);
      if (path.empty()) {
        // Then all channels from the switch lead along free turns to others than the destination.
        std::vector<Channel> reached;
        std::vector<char> seen(channels.size(), 0);
        for (Channel c = channels.first[sw]; c < channels.first[sw + 1]; ++c) {
          reached.push_back(c);
          seen[c] = 1;
        }
        for (std::size_t at = 0; at < reached.size(); ++at) {
          const SwitchIdx to = channels.to[reached[at]];
          ASSERT_NE(to, destination) << "seed " << seed << ", switch " << sw;
          for (Channel out = channels.first[to.value()]; out < channels.first[to.value() + 1];
               ++out) {
            if (seen[out] || !is_free(reached[at], out)) continue;
            seen[out] = 1;
            reached.push_back(out);
          }
        }
        continue;
      }
      EXPECT_EQ(channels.from[path.front()], SwitchIdx{sw});
      EXPECT_EQ(channels.to[path.back()], destination);
      for (std::size_t at = 1; at < path.size(); ++at) {
        ASSERT_EQ(channels.to[path[at - 1]], channels.from[path[at]]);
        EXPECT_TRUE(is_free(path[at - 1], path[at]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         TurnSets,
                         ::testing::Values("hamming:dims=9,hosts=0",
                                           "torus:dims=5.5,hosts=0",
                                           "irregular:switches=24,links=6,hosts=0,seed=2"));

}  // namespace turn_set_test
}  // namespace smd::test
