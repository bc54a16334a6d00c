// Phases of parallel programs: who sends how much to whom, round by round; what a person may write.
#include "sim-backend/traffic/phases/phases.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace smd::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Messages = std::vector<PhaseMessage>;

std::vector<Messages> rounds_of(const char* name, const PhaseInput& input) {
  const PhasePattern* pattern = find_phase_pattern(name);
  EXPECT_NE(pattern, nullptr) << name;
  std::vector<Messages> out(pattern->rounds(input));
  for (std::uint32_t r = 0; r < out.size(); ++r) pattern->list(input, r, out[r]);
  return out;
}

/// Data as sets of the ranks whose part is in it: what each rank has at the end when a message
/// carries all that its sender had before the round.
std::vector<std::set<HostNum>> spread(const std::vector<Messages>& rounds, HostNum ranks) {
  std::vector<std::set<HostNum>> has(ranks);
  for (HostNum rank = 0; rank < ranks; ++rank) has[rank].insert(rank);
  for (const Messages& round : rounds) {
    const auto before = has;
    for (const PhaseMessage& m : round)
      has[m.to].insert(before[m.from].begin(), before[m.from].end());
  }
  return has;
}

TEST(Phases, AnAllToAllBringsEveryoneTheDataOfEveryone) {
  for (const HostNum n : {2u, 5u, 8u}) {
    std::map<std::pair<HostNum, HostNum>, std::uint64_t> sent;
    const auto rounds = rounds_of("all-to-all", {.ranks = n, .bytes = 100});
    EXPECT_EQ(rounds.size(), n - 1);
    for (const Messages& round : rounds) {
      std::set<HostNum> from, to;
      for (const PhaseMessage& m : round) {
        sent[{m.from, m.to}] += m.bytes;
        EXPECT_NE(m.from, m.to);
        EXPECT_TRUE(from.insert(m.from).second && to.insert(m.to).second) << "one each a round";
      }
    }
    EXPECT_EQ(sent.size(), std::size_t{n} * (n - 1));
    for (const auto& [pair, bytes] : sent) EXPECT_EQ(bytes, 100u);
  }
}

// Also where their number is no power of two.
TEST(Phases, SumsHaveEveryonesPartWhereTheyAreWanted) {
  for (HostNum n = 2; n <= 17; ++n) {
    for (const HostNum root : {0u, n - 1}) {
      const PhaseInput input{.ranks = n, .bytes = 64, .root = root};
      for (const auto& has : spread(rounds_of("all-reduce", input), n)) EXPECT_EQ(has.size(), n);
      EXPECT_EQ(spread(rounds_of("reduce", input), n)[root].size(), n);
      EXPECT_EQ(spread(rounds_of("gather", input), n)[root].size(), n);
      std::size_t messages = 0;
      for (const auto& round : rounds_of("broadcast", input)) messages += round.size();
      EXPECT_EQ(messages, n - 1);
      for (const auto& has : spread(rounds_of("broadcast", input), n)) {
        EXPECT_TRUE(has.contains(root)) << n;
      }
    }
  }
}

TEST(Phases, TheLengthOfASumIsThatOfDoubling) {
  EXPECT_EQ(rounds_of("all-reduce", {.ranks = 64, .bytes = 8}).size(), 6u);
  EXPECT_EQ(rounds_of("all-reduce", {.ranks = 65, .bytes = 8}).size(), 8u) << "in, and out again";
  EXPECT_EQ(rounds_of("broadcast", {.ranks = 64, .bytes = 8}).size(), 6u);
  EXPECT_EQ(rounds_of("reduce", {.ranks = 65, .bytes = 8}).size(), 7u);
}

// Follows each piece: after n - 1 rounds somebody has its sum, after as many more all have.
TEST(Phases, ARingCarriesEachPieceOnceAroundAndOnceMore) {
  constexpr HostNum kRanks = 5;
  constexpr std::uint32_t kBytes = 23;  // pieces of 5, 5, 5, 4 and 4
  const auto rounds = rounds_of("ring-all-reduce", {.ranks = kRanks, .bytes = kBytes});
  ASSERT_EQ(rounds.size(), 2 * (kRanks - 1));
  std::map<HostNum, std::uint64_t> sent;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    std::uint64_t round_bytes = 0;
    for (const PhaseMessage& m : rounds[r]) {
      EXPECT_EQ(m.to, (m.from + 1) % kRanks);
      if (r > 0 && r != kRanks - 1) {
        // It hands on what it got the round before.
        const auto got = std::ranges::find(rounds[r - 1], m.from, &PhaseMessage::to);
        ASSERT_NE(got, rounds[r - 1].end());
        EXPECT_EQ(m.bytes, got->bytes) << r << " " << m.from;
      }
      sent[m.from] += m.bytes;
      round_bytes += m.bytes;
    }
    EXPECT_EQ(round_bytes, kBytes) << "each piece once";
  }
  // The last piece of sums comes in at the rank that the first result leaves from.
  for (const PhaseMessage& m : rounds[kRanks - 1]) {
    const auto got = std::ranges::find(rounds[kRanks - 2], m.from, &PhaseMessage::to);
    EXPECT_EQ(m.bytes, got->bytes);
  }
}

TEST(Phases, AHaloIsSentToBothNeighboursInEveryDimension) {
  // 12 = 2 x 2 x 3: rank = x + 2 y + 4 z.
  const auto rounds = rounds_of("halo", {.ranks = 12, .bytes = 9});
  ASSERT_EQ(rounds.size(), 6u);
  const auto to_of = [&](std::size_t round, HostNum rank) {
    return std::ranges::find(rounds[round], rank, &PhaseMessage::from)->to;
  };
  for (const Messages& round : rounds) EXPECT_EQ(round.size(), 12u);
  EXPECT_EQ(to_of(0, 6), 7u);
  EXPECT_EQ(to_of(1, 6), 7u) << "both faces of two domains";
  EXPECT_EQ(to_of(2, 6), 4u);
  EXPECT_EQ(to_of(4, 6), 10u);
  EXPECT_EQ(to_of(5, 6), 2u);
  EXPECT_EQ(to_of(5, 2), 10u) << "periodic";
  const auto line = rounds_of("halo", {.ranks = 7, .bytes = 9});
  EXPECT_TRUE(line[0].empty() && line[3].empty()) << "1 x 1 x 7";
  EXPECT_EQ(line[4].size(), 7u);
}

TEST(Phases, AreReadAsTheyAreWritten) {
  const auto phases =
      parse_phases({"gather:bytes=81920,root=3", "all-to-all:times=2,pause-ns=500", "halo"}, 8);
  ASSERT_TRUE(phases.has_value());
  ASSERT_EQ(phases->size(), 3u);
  EXPECT_EQ((*phases)[0],
            (Phase{.pattern = find_phase_pattern("gather"), .bytes = 81920, .root = 3}));
  EXPECT_EQ((*phases)[1],
            (Phase{.pattern = find_phase_pattern("all-to-all"), .times = 2, .pause_ns = 500}));
  EXPECT_EQ(*(*phases)[2].pattern->name.data(), 'h');
  const auto program = parse_phases({"plane-wave", "reduce"}, 8);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->size(), 3u);
}

TEST(Phases, EachFaultIsOneLineThatSaysWhatWouldBeRight) {
  const auto wrong = parse_phases({"gater",
                                   "gather:root=8",
                                   "halo:root=0",
                                   "halo:bytes=2000000000",
                                   "halo:bytes=12k",
                                   "halo:times=0",
                                   "halo:byte=3",
                                   "halo:bytes",
                                   "halo:",
                                   "halo:bytes=1,",
                                   "halo"},
                                  8);
  ASSERT_FALSE(wrong.has_value());
  std::vector<std::string> lines;
  for (const Fault& fault : wrong.error()) lines.push_back(print_fault(fault));
  EXPECT_THAT(
      lines,
      ElementsAre(HasSubstr("gater: neither a pattern nor a program: did you mean \"gather\"?"),
                  HasSubstr("gather:root=8: root is a number, 0 to 7"),
                  HasSubstr("halo has no root"),
                  HasSubstr("bytes is a number, 0 to 1073741824"),
                  HasSubstr("bytes is a number"),
                  HasSubstr("times is a number, 1 to"),
                  HasSubstr("no key \"byte\"; there are bytes, root, times, pause-ns"),
                  HasSubstr("NAME:key=value"),
                  HasSubstr("NAME:key=value"),
                  HasSubstr("NAME:key=value")));
}

TEST(Phases, AreAllListed) {
  const std::string list = list_phases();
  for (const PhasePattern* pattern : phase_patterns()) {
    EXPECT_THAT(list, HasSubstr(std::string(pattern->meaning)));
    EXPECT_EQ(find_phase_pattern(pattern->name), pattern);
  }
  EXPECT_THAT(list, HasSubstr("domain-dynamics"));
  EXPECT_EQ(find_phase_pattern(""), nullptr);
}

}  // namespace
}  // namespace smd::sim
