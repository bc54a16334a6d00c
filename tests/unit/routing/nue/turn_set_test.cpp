// Turns that close no cycle, against a search through all turns that are in.
#include "smd/routing/nue/turn_set.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "smd/base/rng.h"
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

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         TurnSets,
                         ::testing::Values("hamming:dims=9,hosts=0",
                                           "torus:dims=5.5,hosts=0",
                                           "irregular:switches=24,links=6,hosts=0,seed=2"));

}  // namespace turn_set_test
}  // namespace smd::test
