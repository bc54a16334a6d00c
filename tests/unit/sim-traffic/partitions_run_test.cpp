// Runs in one, two and four partitions on threads, and shared out among processes, which must tell
// the same to the last digit.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim-backend/kernel/process_team.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/result_text.h"
#include "sim-backend/scenario/run.h"
#include "smd/base/rng.h"
#include "tests/support/memory_processes.h"
#include "tests/support/partition_cases.h"
#include "tests/support/scenario_text.h"

namespace smd::sim::test {
namespace {

/// Everything that a run has to say.
std::string tell(const std::string& text,
                 unsigned partitions,
                 PointResult& point,
                 std::size_t cache_bytes = PacketOptions{}.cache_bytes) {
  auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  scenario->packet.partitions = partitions;
  scenario->packet.cache_bytes = cache_bytes;
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  EXPECT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  point = prepared->run(prepared->scenario().traffic.loads.at(0), 7);
  EXPECT_EQ(point.audit, "");
  const ScenarioResult result{.points = {point}, .saturation = {}};
  return print_scenario_json(*prepared, result) + print_series_csv(result);
}

/// The same of a run that several processes share: each of them gets all of it.
void expect_told_by_processes(const std::string& text,
                              unsigned count,
                              unsigned partitions,
                              const std::string& expected) {
  const auto prepared = prepare_text(text, partitions);
  ASSERT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  std::vector<std::string> told(count);
  MemoryProcesses processes(count);
  const std::string failure = processes.run([&](Processes& own) {
    const double load = prepared->scenario().traffic.loads.at(0);
    const ScenarioResult result{.points = {prepared->run(load, 7, {.processes = &own})},
                                .saturation = {}};
    told[own.number()] =
        result.points[0].audit + print_scenario_json(*prepared, result) + print_series_csv(result);
  });
  EXPECT_EQ(failure, "");
  for (unsigned i = 0; i < count; ++i) {
    EXPECT_EQ(told[i], expected) << "process " << i << " of " << count << ", " << partitions;
  }
}

// Many messages at one instant, long ones among them, from hosts that hold one packet at most: what
// one host still has to send holds up nobody, the host that the trace goes by least of all.
TEST(TraceInPartitions, IsReplayedAlike) {
  const std::string path =
      testing::TempDir() + "partitions_run_test_" + std::to_string(::getpid()) + ".trace";
  Rng rng(5);
  std::string trace;
  for (unsigned i = 0; i < 1500; ++i) {
    const std::uint64_t bytes = rng.below(10) == 0 ? 20000 : 64 + rng.below(2000);
    const std::uint64_t source = rng.below(16);
    trace +=
        fmt::format("{} {} {} {}\n", i / 10 * 25, source, (source + 1 + rng.below(15)) % 16, bytes);
  }
  std::ofstream(path) << trace;
  const std::string text = fmt::format(R"([fabric]
name = "fat-tree:k=4,levels=3"
[adapter]
most_waiting = 1
[traffic]
trace = "{}"
[measure]
interval_us = 2
limit_us = 1000
)",
                                       path);
  PointResult one, many;
  const std::string expected = tell(text, 1, one);
  EXPECT_TRUE(one.complete);
  EXPECT_LT(one.completed_at, one.simulated) << "the moment is told, in JSON too";
  ASSERT_GT(one.stats.delivered, 1500u);
  for (const unsigned partitions : {2u, 4u}) {
    EXPECT_EQ(tell(text, partitions, many), expected) << partitions;
    EXPECT_EQ(many.stats.digest, one.stats.digest);
    expect_told_by_processes(text, 2, partitions, expected);
  }
  std::filesystem::remove(path);
}

class PartitionsRun : public testing::TestWithParam<PartitionCase> {};

TEST_P(PartitionsRun, TellTheSame) {
  PointResult one, many;
  const std::string expected = tell(GetParam().text, 1, one);
  ASSERT_GT(one.stats.delivered, 500u);
  EXPECT_EQ(!one.steady.deadlock.empty(), GetParam().name.starts_with("Deadlock"));
  for (const unsigned partitions : {2u, 4u}) {
    EXPECT_EQ(tell(GetParam().text, partitions, many), expected) << partitions;
    EXPECT_EQ(many.stats.digest, one.stats.digest);
  }
}

TEST_P(PartitionsRun, TellTheSameInSeveralProcesses) {
  PointResult one;
  const std::string expected = tell(GetParam().text, 1, one);
  expect_told_by_processes(GetParam().text, 1, 1, expected);
  expect_told_by_processes(GetParam().text, 2, 2, expected);
  expect_told_by_processes(GetParam().text, 3, 5, expected);
}

TEST_P(PartitionsRun, TellTheSameWhereTheyAskForWhatIsNext) {
  PointResult one, ahead;
  const std::string expected = tell(GetParam().text, 1, one);
  for (const unsigned partitions : {1u, 3u}) {
    EXPECT_EQ(tell(GetParam().text, partitions, ahead, 0), expected) << partitions;
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         PartitionsRun,
                         testing::ValuesIn(partition_cases()),
                         name_of_case<testing::TestParamInfo<PartitionCase>>);

/// The point of an exchange that two partitions share, on threads or in as many processes.
std::vector<PointResult> run_exchange(const std::string& kind,
                                      std::uint32_t most_packets,
                                      bool by_processes) {
  auto scenario = parse_scenario(
      "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n[traffic]\n"
      "collective = \"" +
          kind + "\"\nbytes = 300000\n[measure]\ninterval_us = 2\n",
      "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  scenario->packet.partitions = 2;
  scenario->packet.most_packets = most_packets;
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  EXPECT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  if (!by_processes) return {prepared->run(1, 7)};
  std::vector<PointResult> out(2);
  MemoryProcesses processes(2);
  EXPECT_EQ(processes.run([&](Processes& own) {
    out[own.number()] = prepared->run(1, 7, {.processes = &own});
  }),
            "");
  return out;
}

// Of a broadcast the root alone has packets that wait, and its process tells the other; of an
// exchange of all with all both are full at once.
TEST(FullPartitions, EndAnExchangeInEveryProcessAlike) {
  for (const char* kind : {"binomial-broadcast", "all-to-all-exchange"}) {
    const PointResult threads = run_exchange(kind, 60, false)[0];
    EXPECT_EQ(threads.steady.state, RunState::Full) << kind;
    EXPECT_FALSE(threads.complete) << kind;
    EXPECT_EQ(threads.completed_at, kNever) << kind;
    EXPECT_THAT(threads.audit, testing::HasSubstr("with more than 60 packets of a partition"));
    for (const PointResult& point : run_exchange(kind, 60, true)) {
      EXPECT_EQ(point.steady.state, RunState::Full) << kind;
      EXPECT_EQ(point.audit, threads.audit);
      EXPECT_EQ(point.simulated, threads.simulated);
      EXPECT_EQ(point.stats.delivered, threads.stats.delivered) << kind;
      EXPECT_FALSE(point.complete) << kind;
    }
    for (const PointResult& point : run_exchange(kind, 10'000, true)) {
      EXPECT_EQ(point.audit, "") << kind;
      EXPECT_TRUE(point.complete) << kind;
    }
  }
}

/// One of several that nobody has joined: enough for a net that does not run.
struct AloneOf final : Processes {
  AloneOf(unsigned own, unsigned all) : own_number(own), all_count(all) {}

  [[nodiscard]] unsigned number() const override { return own_number; }

  [[nodiscard]] unsigned count() const override { return all_count; }

  void agree(std::span<std::int64_t>) override { std::abort(); }

  void exchange(std::span<std::int64_t>, std::span<const Bytes>, std::span<Bytes>) override {
    std::abort();
  }

  void share(std::span<std::byte>, unsigned) override { std::abort(); }

  [[noreturn]] void fail(const std::string&) override { std::abort(); }

  unsigned own_number;
  unsigned all_count;
};

TEST(SeveralProcesses, DivideTheStateOfPortsAndVls) {
  const auto spec = load_fabric("fat-tree:k=8,levels=3");
  ASSERT_TRUE(spec.has_value());
  PacketOptions options = PacketOptions::modern();
  options.partitions = 6;
  const std::size_t whole = PacketNet(*spec, options).memory_use().lanes;
  for (const unsigned count : {1u, 2u, 3u, 6u}) {
    std::size_t sum = 0, most = 0;
    for (unsigned number = 0; number < count; ++number) {
      AloneOf process(number, count);
      ProcessTeam team(process, options.partitions);
      const PacketNet net(*spec, options, &team);
      sum += net.memory_use().lanes;
      most = std::max(most, net.memory_use().lanes);
    }
    EXPECT_EQ(sum, whole) << count;
    EXPECT_LE(most * count, whole * 5 / 4) << count;
  }
}

/// What two processes end with when what they send each other is meddled with.
std::string failure_of(const MemoryProcesses::Meddler& meddler) {
  const auto prepared = prepare_text(partition_cases()[0].text, 2);
  MemoryProcesses processes(2, meddler);
  return processes.run(
      [&](Processes& own) { static_cast<void>(prepared->run(0.7, 7, {.processes = &own})); });
}

TEST(ProcessesFail, WhereAMessageIsNotTheOneThatBelongsThere) {
  constexpr std::uint64_t kAt = 40;  // of the exchanges
  const auto is_it = [](unsigned from, std::uint64_t number) { return from == 0 && number == kAt; };
  EXPECT_THAT(failure_of([&](unsigned from, unsigned, std::uint64_t number, auto& message) {
                if (is_it(from, number)) message.clear();
              }),
              testing::MatchesRegex("what process 0 sent with agreement [0-9]+ is not what belongs "
                                    "there \\(0 bytes, of agreement 0\\)"));
  Processes::Bytes before;
  EXPECT_THAT(failure_of([&](unsigned from, unsigned, std::uint64_t number, auto& message) {
                if (from == 0 && number == kAt - 1) before = message;
                if (is_it(from, number)) message = before;
              }),
              testing::HasSubstr("is not what belongs there"));
  EXPECT_THAT(failure_of([&](unsigned from, unsigned, std::uint64_t number, auto& message) {
                if (is_it(from, number)) message.pop_back();
              }),
              testing::HasSubstr("is not what belongs there"));
  EXPECT_EQ(failure_of({}), "");
}

TEST(ProcessesFail, WhereTheyAreOutOfStep) {
  MemoryProcesses processes(2);
  const std::string failure = processes.run([](Processes& own) {
    ProcessTeam team(own, 2);
    // The second has missed one.
    if (own.number() == 0) static_cast<void>(team.most(1));
    std::array<std::int64_t, 3> missed{};
    if (own.number() == 1) own.agree(missed);
    static_cast<void>(team.most(1));
  });
  EXPECT_THAT(failure, testing::HasSubstr("processes are out of step: one is at agreement"));
}

TEST(PartitionsRefused, WithFaultsOrTooFewSwitches) {
  const std::string fabric = "[fabric]\nname = \"fat-tree:k=4,levels=2\"\n";
  EXPECT_EQ(fault_of_text(fabric, 6), "");
  EXPECT_EQ(fault_of_text(fabric, 7), "s.toml:2: 7 partitions; a fabric of 6 switches has 1 to 6");
  EXPECT_EQ(
      fault_of_text(fabric + "[[fault]]\nat_us = 1\nwhat = \"switch-down\"\nwhere = \"sw-0\"\n", 2),
      "s.toml:2: a network with [[fault]] is simulated in 1 partition");
}

}  // namespace
}  // namespace smd::sim::test
