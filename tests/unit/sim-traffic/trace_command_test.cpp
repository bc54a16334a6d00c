// `smsim trace` from outside: what it prints and answers, and that `smsim run` replays it whole.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TraceCommand : public testing::Test {
 protected:
  Finished smsim(std::vector<std::string> args) {
    args.insert(args.begin(), test::build_path("bin/smsim"));
    return run_process({.argv = std::move(args), .cwd = folder}, std::chrono::seconds(60));
  }

  std::string read(const char* name) { return test::read_text(folder / name); }

  test::Scratch scratch_;
  std::filesystem::path folder = scratch_.path();
};

TEST_F(TraceCommand, PrintsTheSameBytesForTheSameSeed) {
  const std::vector<std::string> call{"trace", "gather:bytes=100", "--ranks", "4", "--sl", "3"};
  const Finished plain = smsim(call);
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out,
            "# gather:bytes=100\n# 4 ranks, 3 messages, 300 bytes, 300 ns; seed 1\n"
            "0 1 0 100 3\n0 2 0 100 3\n0 3 0 100 3\n");
  std::vector<std::string> late = {"trace", "plane-wave", "--ranks", "8", "--jitter-ns", "999"};
  const std::string one = smsim(late).out;
  EXPECT_EQ(smsim(late).out, one);
  late.insert(late.end(), {"--seed", "2"});
  EXPECT_NE(smsim(late).out, one);
  late.insert(late.end(), {"-o", "t.trace"});
  EXPECT_EQ(smsim(late).exit_code, 0);
  late.resize(late.size() - 2);
  EXPECT_EQ(read("t.trace"), smsim(late).out);
}

TEST_F(TraceCommand, ListsWhatThereIs) {
  const Finished list = smsim({"trace", "--list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.out, HasSubstr("ring-all-reduce"));
  EXPECT_THAT(list.out, HasSubstr("plane-wave"));
}

TEST_F(TraceCommand, WrongCallsAreOneLineAndCodeTwo) {
  std::ofstream(folder / "kept") << "as it was";
  for (const auto& [args, message] :
       std::initializer_list<std::pair<std::vector<std::string>, const char*>>{
           {{}, "smsim: trace needs a PHASE"},
           {{"halos"}, "halos: neither a pattern nor a program: did you mean \"halo\"?"},
           {{"gather:root=64"}, "gather:root=64: root is a number, 0 to 63"},
           {{"halo", "--ranks", "1"}, "--ranks"},
           {{"halo", "--speed", "0"}, "--speed"},
           {{"halo", "--sl", "16"}, "--sl"},
           {{"halo:times=1000000000", "--repeat", "1000000000"}, "smsim: trace: 3.84e+20 messages"},
           {{"halo:pause-ns=1000000000000", "--repeat", "10000"},
            "smsim: trace: it lasts longer than a trace can"}}) {
    std::vector<std::string> call{"trace", "-o", "kept"};
    call.insert(call.end(), args.begin(), args.end());
    const Finished wrong = smsim(call);
    EXPECT_EQ(wrong.exit_code, 2) << message;
    EXPECT_THAT(wrong.err, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(wrong.err, '\n'), 1) << wrong.err;
  }
  EXPECT_EQ(read("kept"), "as it was");
  EXPECT_EQ(smsim({"trace", "halo", "-o", "no/such/folder"}).exit_code, 1);
}

// 16 hosts, MTU 2,048: packets and bytes are counted from the lines, not by who made them.
TEST_F(TraceCommand, WhatItWritesIsReplayedWhole) {
  ASSERT_EQ(smsim({"trace",
                   "plane-wave",
                   "domain-dynamics",
                   "--ranks",
                   "16",
                   "--jitter-ns",
                   "500",
                   "--bytes-per-ns",
                   "25",
                   "-o",
                   "t.trace"})
                .exit_code,
            0);
  std::istringstream lines(read("t.trace"));
  std::uint64_t packets = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    double at = 0;
    std::uint64_t source = 0, destination = 0, bytes = 0;
    fields >> at >> source >> destination >> bytes;
    packets += std::max<std::uint64_t>(1, (bytes + 2047) / 2048);
  }
  ASSERT_GT(packets, 1000u);
  std::ofstream(folder / "s.toml")
      << "[fabric]\nname = \"fat-tree:k=8,levels=2,hosts=16\"\nmtu = 2048\n"
         "[traffic]\ntrace = \"t.trace\"\n";
  const Finished run = smsim({"run", "s.toml"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(
      run.out,
      HasSubstr(std::to_string(packets) + " of " + std::to_string(packets) + " packets delivered"));
}

}  // namespace
}  // namespace smd::test
