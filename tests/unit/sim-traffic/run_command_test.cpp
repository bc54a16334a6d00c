// The program `smsim run`: files, lines, exit codes.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/unit/sim-traffic/locking_ring.h"

namespace smd::test {
namespace {

using testing::HasSubstr;

class RunCommand : public testing::Test {
 protected:
  Finished smsim(std::vector<std::string> args) {
    args.insert(args.begin(), {test::build_path("bin/smsim"), "run"});
    return run_process({.argv = std::move(args), .cwd = folder}, std::chrono::seconds(60));
  }

  void write(const char* name, const char* text) { std::ofstream(folder / name) << text; }

  std::string read(const char* name) { return test::read_text(folder / name); }

  test::Scratch scratch_;
  std::filesystem::path folder = scratch_.path();
};

constexpr const char* kScenario = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
load = [0.1, 0.2]
size = 256
[measure]
warm_up_us = 50
interval_us = 50
most_intervals = 10
)";

TEST_F(RunCommand, PartitionsChangeNothing) {
  write("s.toml", kScenario);
  const Finished one = smsim({"s.toml", "--json"});
  const Finished two = smsim({"s.toml", "--json", "--partitions", "2"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(two.out, one.out);
  for (const char* wrong : {"0", "65", "many"}) {
    const Finished refused = smsim({"s.toml", "--partitions", wrong});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--partitions"));
  }
  const Finished many = smsim({"s.toml", "--partitions", "7"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_EQ(many.err, "s.toml:2: 7 partitions; a fabric of 6 switches has 1 to 6\n");
}

TEST_F(RunCommand, WritesItsFilesAndRepeatsItself) {
  write("s.toml", kScenario);
  const Finished lines = smsim({"s.toml", "--seeds", "2", "--out", "here", "--jobs", "2"});
  EXPECT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_EQ(lines.err, "");
  EXPECT_EQ(std::ranges::count(lines.out, '\n'), 4);
  const auto json = nlohmann::json::parse(read("here/result.json"));
  EXPECT_EQ(json["points"].size(), 4u);
  EXPECT_EQ(std::ranges::count(read("here/result.csv"), '\n'), 5);
  EXPECT_GT(std::ranges::count(read("here/series.csv"), '\n'), 40);
  EXPECT_THAT(read("here/plot.svg"), HasSubstr("</svg>"));
  const Finished again = smsim({"s.toml", "--seeds", "2", "--json", "--jobs", "1"});
  EXPECT_EQ(again.out, read("here/result.json"));
}

TEST_F(RunCommand, RefusesWhatIsWrongWithFileAndLine) {
  write("s.toml", "[fabric]\nname = \"fat-tree:k=4\"\n[traffic]\nlod = 1\nload = 2\n");
  const Finished wrong = smsim({"s.toml", "--out", "here"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("s.toml:4: unknown key traffic.lod"));
  EXPECT_THAT(wrong.err, HasSubstr("s.toml:5: traffic.load must be"));
  EXPECT_FALSE(std::filesystem::exists(folder / "here"));
  EXPECT_EQ(smsim({"nowhere.toml"}).exit_code, 2);
  EXPECT_EQ(smsim({}).exit_code, 2);
  EXPECT_EQ(smsim({"s.toml", "--seeds", "0"}).exit_code, 2);
}

TEST_F(RunCommand, ReplaysATraceThatLiesBesideItsScenario) {
  std::filesystem::create_directories(folder / "sub");
  write("sub/s.toml", "[fabric]\nname = \"fat-tree:k=4\"\n[traffic]\ntrace = \"t.trace\"\n");
  write("sub/t.trace", "0 0 1 5000\n10 1 0 64\n");
  const Finished done = smsim({"sub/s.toml"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("3 of 3 packets delivered"));
  write("sub/t.trace", "0 0 1 5000\n10 1 99 64\n");
  const Finished wrong = smsim({"sub/s.toml"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("t.trace:2: "));
}

// As smd dry-run counts them; and what the file leaves open is said.
TEST_F(RunCommand, RoutersAreNoHosts) {
  write("f.net",
        "Switch 4 \"s\"\n[1] \"a\"[1] # \"a\" lid 0 4x???\n[2] \"b\"[1]\n[3] \"r\"[2]\n\n"
        "Ca 1 \"a\"\n\nCa 1 \"b\"\n\nRt 2 \"r\"\n");
  write("s.toml", "[fabric]\nname = \"f.net\"\n[measure]\nmost_intervals = 10\n");
  const Finished done = smsim({"s.toml", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(nlohmann::json::parse(done.out)["fabric"]["hosts"], 2);
  EXPECT_THAT(done.err, HasSubstr("f.net:2: note: ??? in place of the speed of 1 cable:"));
}

constexpr const char* kChanges = R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
load = 0.1
[manager]
debounce_us = 50
[measure]
warm_up_us = 50
interval_us = 100
least_intervals = 3
[[fault]]
at_us = 200
what = "switch-down"
where = "sw-1-1"
)";

constexpr const char* kBackInTime = R"([[fault]]
at_us = 100
what = "switch-up"
where = "sw-1-1"
)";

TEST_F(RunCommand, SaysWhatAFaultDoesToTraffic) {
  write("s.toml", kChanges);
  const Finished done = smsim({"s.toml", "--out", "here", "--progress"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("200.000 us: switch-down sw-1-1, taken in after "));
  EXPECT_THAT(done.out, HasSubstr("\n  during, 200.000 to "));
  EXPECT_EQ(done.err, "") << "what takes no two seconds has no progress to say";
  EXPECT_EQ(std::ranges::count(read("here/stretches.csv"), '\n'), 4);
  write("s.toml", (std::string(kChanges) + "[[fault]]\nat_us = 100\n").c_str());
  EXPECT_EQ(smsim({"s.toml"}).exit_code, 2);
  write("w.toml", (std::string(kChanges) + kBackInTime).c_str());
  const Finished wrong = smsim({"w.toml", "--out", "there"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "w.toml:15: a fault at 100 us goes back: the one before it is at 200 us\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "there"));
}

TEST_F(RunCommand, KeepsWhatItHasWhenInterrupted) {
  write("s.toml", R"([fabric]
name = "fat-tree:k=4,levels=2"
[traffic]
load = 0.5
[measure]
interval_us = 100
least_intervals = 1000000
most_intervals = 1000000
)");
  Process run({.argv = {test::build_path("bin/smsim"),
                        "run",
                        "s.toml",
                        "--out",
                        "here",
                        "--seeds",
                        "3",
                        "--jobs",
                        "1",
                        "--progress"},
               .cwd = folder});
  // It has begun: somebody tells how far it is.
  while (run.is_running() && run.err().find("0 of 3 runs") == std::string::npos) {
    run.wait(std::chrono::milliseconds(20));
  }
  ASSERT_TRUE(run.is_running()) << run.err();
  ASSERT_EQ(::kill(run.pid(), SIGINT), 0);
  EXPECT_EQ(run.wait(std::chrono::seconds(60)), 1);
  EXPECT_THAT(run.err(), HasSubstr("interrupted"));
  const auto json = nlohmann::json::parse(read("here/result.json"));
  EXPECT_TRUE(json["interrupted"]);
  ASSERT_EQ(json["points"].size(), 1u) << "the others had not begun";
  EXPECT_EQ(json["points"][0]["state"], "interrupted");
  EXPECT_GT(json["points"][0]["packets"]["delivered"], 0);
  EXPECT_GT(std::ranges::count(read("here/series.csv"), '\n'), 1);
}

TEST_F(RunCommand, FailsWhereACollectiveDoesNotEnd) {
  write("s.toml",
        "[fabric]\nname = \"fat-tree:k=4\"\n[traffic]\ncollective = \"ring-all-reduce\"\n"
        "[measure]\ninterval_us = 1\nlimit_us = 1\n");
  const Finished cut = smsim({"s.toml"});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.out, HasSubstr("not done after 1.000 us"));
}

TEST_F(RunCommand, FailsWhereNothingArrives) {
  write("s.toml",
        "[fabric]\nname = \"fat-tree:k=4\"\n[measure]\nwarm_up_us = 0\ninterval_us = 0.001\n");
  const Finished nothing = smsim({"s.toml"});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.out, HasSubstr("load 0.500 seed 1: undelivered"));
}

TEST_F(RunCommand, FailsWhereItLocksUp) {
  write("s.toml", sim::kLockingRing);
  const Finished locked = smsim({"s.toml"});
  EXPECT_EQ(locked.exit_code, 1);
  EXPECT_THAT(locked.out, HasSubstr("deadlock, found after"));
}

/// A message in every packet time or so, from one host to the other over one cable.
std::string one_flow(std::string_view speed, unsigned propagation_ns, std::string_view more = "") {
  return fmt::format(
      "[fabric]\nname = \"torus:dims=2,hosts=1,speed={}\"\n{}"
      "[traffic]\nload = 0.95\nsize = 4096\narrivals = \"constant\"\n"
      "[cable]\npropagation_ns = {}\n"
      "[measure]\nwarm_up_us = 20\ninterval_us = 20\n",
      speed,
      more,
      propagation_ns);
}

// Nothing else wants the cable: what holds a flow back is a buffer that is full before its first
// credit is back.
TEST_F(RunCommand, BuffersHoldWhatIsUnderWayOnTheLongestCable) {
  for (const auto& [speed, propagation_ns] : {std::pair{"XDR", 50u},
                                              std::pair{"NDR", 100u},
                                              std::pair{"HDR", 400u},
                                              std::pair{"XDR", 400u}}) {
    write("s.toml", one_flow(speed, propagation_ns).c_str());
    const Finished ran = smsim({"s.toml"});
    EXPECT_THAT(ran.out, HasSubstr(": stable, accepted 0.9"))
        << speed << ", " << propagation_ns << " ns";
    EXPECT_EQ(ran.err, "");
  }
}

TEST_F(RunCommand, BuffersThatHoldLessAreNamedBeforeTheFirstPoint) {
  write("s.toml", one_flow("XDR", 50, "[switch]\ninput_buffer = 16384\n").c_str());
  const Finished given = smsim({"s.toml"});
  EXPECT_EQ(given.exit_code, 0);
  EXPECT_THAT(given.out, HasSubstr(": saturated, accepted 0.6"));
  EXPECT_EQ(
      given.err,
      "s.toml:4: note: an input buffer of 16384 bytes holds 4 packets of 4096; on the longest "
      "of the fast cables 7 are under way until credit for the first is back: there "
      "is credit for 62 % of what it carries at worst\n");
  // As much credit as a port can give.
  write("s.toml", one_flow("XDR", 1000).c_str());
  EXPECT_THAT(
      smsim({"s.toml"}).err,
      HasSubstr("s.toml:2: note: an input buffer of 131072 bytes holds 32 packets of 4096"));
  // What holds it, and what another preset says, is nobody's slip.
  for (const char* quiet : {"[switch]\ninput_buffer = 28672\n", "preset = \"thesis\"\n"}) {
    write("s.toml", one_flow("XDR", 50, quiet).c_str());
    EXPECT_EQ(smsim({"s.toml"}).err, "") << quiet;
  }
}

}  // namespace
}  // namespace smd::test
