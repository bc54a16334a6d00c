// `smsim multicast` and `smsim check` from outside: lists, figures, verdicts, exit codes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace {

using testing::HasSubstr;

constexpr const char* kMesh = "torus:dims=6.6,mesh=1";

Finished smsim(std::vector<std::string> args) {
  args.insert(args.begin(), build_path("bin/smsim"));
  return run_process({.argv = std::move(args)}, std::chrono::seconds(60));
}

TEST(MulticastCommand, PrintsWhatEachMessageVisits) {
  const std::string to =
      "sw-0-0,sw-2-0,sw-5-0,sw-3-1,sw-5-4,sw-0-5,sw-1-5,sw-3-5,sw-4-5";  // rows come first
  const Finished text =
      smsim({"multicast", kMesh, "--algorithm", "dual-path", "--source", "sw-2-3", "--to", to});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out,
            "message sw-3-5(3) sw-3-1(7) sw-4-5(12) sw-5-4(14) sw-5-0(18): 18 channels\n"
            "message sw-2-0(3) sw-1-5(9) sw-0-5(10) sw-0-0(15): 15 channels\n"
            "channels 33.00, distance 10.11 on average, farthest 18.00\n");
  const Finished json = smsim({"multicast",
                               kMesh,
                               "--algorithm",
                               "multi-path",
                               "--source",
                               "sw-2-3",
                               "--to",
                               to,
                               "--json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["figures"]["mean_channels"], 21.0);
  const Finished random =
      smsim({"multicast", kMesh, "--algorithm", "pm", "--random", "10", "--size", "5", "--json"});
  EXPECT_EQ(nlohmann::json::parse(random.out)["sets"], 10);
}

TEST(MulticastCommand, VerdictsAreExitCodes) {
  const std::string small = "torus:dims=4.4,mesh=1";
  const Finished free = smsim({"check", small, "--relation", "dual-path"});
  EXPECT_EQ(free.exit_code, 0) << free.err;
  EXPECT_THAT(free.out, HasSubstr("free of circles: 1920 sets of destinations"));
  const Finished circle = smsim({"check", small, "--relation", "path-xy"});
  EXPECT_EQ(circle.exit_code, 1);
  EXPECT_THAT(circle.out, HasSubstr("a circle: sw-"));
  EXPECT_EQ(smsim({"check", small, "--relation", "tree-xy"}).exit_code, 0);
  EXPECT_EQ(smsim({"check", small, "--relation", "tree-xy", "--branches", "next"}).exit_code, 1);
  EXPECT_EQ(smsim({"check", small, "--relation", "xy-adaptive"}).exit_code, 1);
  EXPECT_EQ(smsim({"check", small, "--relation", "xy-adaptive", "--escape"}).exit_code, 0);
}

TEST(MulticastCommand, BadInputIsOneLineAndExitCodeTwo) {
  const auto fails = [](std::vector<std::string> args, const char* why) {
    const Finished run = smsim(std::move(args));
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_THAT(run.err, HasSubstr(why));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  };
  fails({"multicast", kMesh, "--algorithm", "nobodys"}, "there are separate separate-labels");
  fails({"multicast", kMesh, "--algorithm", "pm", "--source", "x", "--to", "y"},
        "--source x: no switch of that name");
  fails({"multicast", kMesh, "--algorithm", "pm", "--source", "sw-0-0", "--to", "sw-0-0"},
        "--to sw-0-0: the source");
  fails({"multicast", kMesh, "--algorithm", "pm", "--source", "sw-0-0", "--to", "sw-0-1,sw-0-1"},
        "--to sw-0-1: twice");
  fails({"multicast", kMesh, "--algorithm", "pm", "--random", "1", "--size", "36"},
        "35 switches beside the source");
  fails({"multicast", "torus:dims=4.4", "--algorithm", "pm"}, "pm needs a mesh of two dimensions");
  fails({"check", "torus:dims=32.32,mesh=1", "--relation", "pm"}, "3000000 are looked at");
  fails({"check", kMesh, "--relation", "pm", "--escape"}, "pm has no channels to escape to");
}

}  // namespace
}  // namespace smd::test
