// Phases as a trace: when messages are sent, that the reader takes them as they were made, and that
// a replay carries every byte.
#include "sim-backend/traffic/phases/phase_trace.h"

#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace phase_trace_test {

std::vector<Phase> phases(const std::vector<std::string>& calls, HostNum ranks) {
  return parse_phases(calls, ranks).value();
}

std::vector<TraceLine> lines_of(std::vector<Phase> phases, const PhaseTiming& timing) {
  PhaseTrace trace(std::move(phases), timing);
  std::vector<TraceLine> out;
  while (const auto line = trace.next()) out.push_back(*line);
  return out;
}

std::string text_of(const std::vector<TraceLine>& lines) {
  std::string out;
  for (const TraceLine& line : lines) out += print_trace_line(line);
  return out;
}

// Three ranks, 4 bytes/ns: a gather of 600 takes the root 300 ns; a round of an all-to-all 100 ns.
TEST(PhaseTrace, ARoundBeginsWhenTheBusiestRankIsThrough) {
  const PhaseTiming timing{
      .ranks = 3, .first_host = 10, .start_ns = 1000, .bytes_per_ns = 4, .sl = 2};
  const auto lines =
      lines_of(phases({"gather:bytes=600,root=1,pause-ns=50", "all-to-all:bytes=400"}, 3), timing);
  const auto at = [](double ns) { return static_cast<Picos>(ns * 1000); };
  EXPECT_THAT(lines,
              testing::ElementsAre(TraceLine{at(1000), 10, 11, 600, 2},
                                   TraceLine{at(1000), 12, 11, 600, 2},
                                   TraceLine{at(1350), 10, 11, 400, 2},
                                   TraceLine{at(1350), 11, 12, 400, 2},
                                   TraceLine{at(1350), 12, 10, 400, 2},
                                   TraceLine{at(1450), 10, 12, 400, 2},
                                   TraceLine{at(1450), 11, 10, 400, 2},
                                   TraceLine{at(1450), 12, 11, 400, 2}));
  PhaseTiming fast = timing;
  fast.speed = 2;
  const auto twice = lines_of(phases({"gather:bytes=600,pause-ns=50,times=2"}, 3), fast);
  EXPECT_EQ(twice[2].at, at(1000 + 150 + 25)) << "all but the start";
  EXPECT_EQ(print_trace_line(lines[2]), "1350 10 11 400 2\n");
  EXPECT_EQ(print_trace_line({1'000'050, 1, 2, 3, 0}), "1000.050 1 2 3\n");
}

TEST(PhaseTrace, RanksAreLateByTimesOfTheirOwn) {
  PhaseTiming timing{.ranks = 16, .repeat = 3, .jitter_ns = 5000, .seed = 7};
  const std::vector<std::string> calls{"all-to-all:bytes=100", "all-reduce:bytes=8"};
  const auto lines = lines_of(phases(calls, 16), timing);
  ASSERT_EQ(lines.size(), 3u * (16 * 15 + 16 * 4));
  std::set<Picos> firsts;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) EXPECT_LE(lines[i].at, lines[i + 1].at);
  std::map<HostNum, Picos> first;
  for (const TraceLine& line : lines) first.try_emplace(line.source, line.at);
  for (const auto& [rank, at] : first) {
    EXPECT_LE(at, 5'000'000);
    firsts.insert(at);
  }
  EXPECT_EQ(firsts.size(), 16u) << "no two alike, to a picosecond";
  EXPECT_EQ(lines, lines_of(phases(calls, 16), timing)) << "the same seed";
  timing.seed = 8;
  EXPECT_NE(lines, lines_of(phases(calls, 16), timing));
}

TEST(PhaseTrace, IsWhatItsSumSays) {
  const PhaseTiming timing{.ranks = 12, .repeat = 2, .jitter_ns = 100};
  const auto all = phases({"domain-dynamics", "ring-all-reduce:bytes=1001", "broadcast"}, 12);
  const PhaseSum sum = sum_phases(all, timing);
  double bytes = 0;
  const auto lines = lines_of(all, timing);
  for (const TraceLine& line : lines) bytes += line.bytes;
  EXPECT_EQ(sum.messages, double(lines.size()));
  EXPECT_EQ(sum.bytes, bytes);
  EXPECT_LT(double(lines.back().at) / kNano, sum.lasts_ns + 100);
  // The last message is one of a broadcast's last round, which takes 4,096 ns.
  EXPECT_GE(double(lines.back().at) / kNano, sum.lasts_ns - 4096);
}

TEST(PhaseTrace, TheReaderTakesWhatIsPrinted) {
  const auto lines = lines_of(phases({"plane-wave", "gather"}, 9),
                              {.ranks = 9, .jitter_ns = 333, .speed = 3, .sl = 4});
  std::istringstream text("# made of phases\n" + text_of(lines));
  TraceReader reader(text, "t", 9);
  for (const TraceLine& line : lines) {
    const auto read = reader.next();
    ASSERT_TRUE(read.has_value());
    ASSERT_EQ(**read, line);
  }
  EXPECT_FALSE(reader.next().value().has_value());
}

struct Carried final : PacketObserver {
  void on_delivered(const Delivery& arrival) override {
    bytes[{arrival.source, arrival.destination}] += arrival.payload;
  }

  std::map<std::pair<HostNum, HostNum>, std::uint64_t> bytes;
};

// Two programs at once on four hosts, joined line by line: every pair gets every byte.
TEST(PhaseTrace, AReplayCarriesEveryByteOfEveryPair) {
  PacketRig rig(draw("S1-S2 H1-S1 H2-S1 H3-S2 H4-S2"), PacketOptions::modern());
  auto lines = lines_of(phases({"all-to-all:bytes=5000,times=3", "gather:bytes=9999"}, 4),
                        {.ranks = 4, .jitter_ns = 2000});
  const auto second =
      lines_of(phases({"halo:bytes=700", "broadcast:bytes=64"}, 3),
               {.ranks = 3, .first_host = 1, .repeat = 5, .start_ns = 8000, .seed = 2});
  lines.insert(lines.end(), second.begin(), second.end());
  std::ranges::stable_sort(lines, {}, &TraceLine::at);
  std::vector<std::unique_ptr<std::istream>> copies;
  copies.push_back(std::make_unique<std::istringstream>(text_of(lines)));
  TraceTraffic traffic(*rig.net, std::move(copies), "t", 2048);
  Carried carried;
  rig.net->set_workload(&traffic);
  rig.net->set_observer(&carried);
  rig.net->start();
  while (rig.net->run_one()) {
  }
  EXPECT_TRUE(traffic.finished());
  decltype(carried.bytes) wanted;
  for (const TraceLine& line : lines) wanted[{line.source, line.destination}] += line.bytes;
  EXPECT_EQ(carried.bytes, wanted);
  EXPECT_EQ(rig.net->audit(), "");
}

}  // namespace phase_trace_test
}  // namespace smd::sim::test
