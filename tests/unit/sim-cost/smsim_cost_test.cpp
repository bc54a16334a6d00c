// `smsim cost` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::sim::testing {
namespace smsim_cost_test {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// `words` as a shell takes them.
smd::test::Finished cost(const std::string& words) {
  return smd::test::run_process(
      {.argv = {"/bin/sh", "-c", smd::test::build_path("bin/smsim cost ") + words},
       .env = {},
       .cwd = {}},
      std::chrono::seconds(30));
}

TEST(SmsimCost, CountsSideBySide) {
  const smd::test::Finished run = cost("hamming:dims=6.16,hosts=16 dragonfly:a=5,c=2,h=2 --json");
  ASSERT_EQ(run.exit_code, 0) << run.out;
  const Json all = Json::parse(run.out);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["hosts"], 1536);
  EXPECT_EQ(all[0]["switches"], Json::parse(R"([{"ports": 36, "count": 96}])"));
  EXPECT_EQ(all[0]["cables"][1]["count"], 720);
  EXPECT_EQ(all[0]["cables"][2]["count"], 240);
  EXPECT_EQ(all[0]["limits"][0]["rule"], "min");
  EXPECT_NEAR(all[0]["limits"][0]["counted"].get<double>(), 0.375, 1e-9);
  EXPECT_EQ(all[0]["price"], nullptr);
  EXPECT_EQ(all[1]["cables"][2]["class"], "between groups");
  EXPECT_EQ(all[1]["cables"][2]["count"], 55);
}

TEST(SmsimCost, SaysItInWords) {
  const smd::test::Finished run = cost("hamming:dims=6.16,hosts=16 fat-tree:k=8,levels=3");
  ASSERT_EQ(run.exit_code, 0);
  for (const char* words :
       {"  switches   96 of 36 ports\n",
        "3.5 t (K - 1) is the same in every dimension: violated (15 in dimension 0, 5 in dimension "
        "1); would hold with trunks of 1, 3\n",
        "carries    uniform by min at most: 0.3750, by formula 0.3750\n",
        "cables     level 1 to 2: 128, 1.000 a host",
        "of a host"}) {
    EXPECT_THAT(run.out, HasSubstr(words));
  }
}

TEST(SmsimCost, TakesPrices) {
  const smd::test::Scratch scratch;
  const std::string file = scratch.path() / "cost_prices.toml";
  std::ofstream(file) << "[switch]\neach = 1\nper_port = 0\n[adapter]\nper_port = 2\n[cable]\n"
                         "copper = 0\ncopper_per_m = 0\ncopper_most_m = 0\noptical = 3\n"
                         "optical_per_m = 0\n";
  const smd::test::Finished run = cost("dragonfly:a=5,c=2,h=2 --json --prices " + file);
  ASSERT_EQ(run.exit_code, 0) << run.out;
  const Json price = Json::parse(run.out)[0]["price"];
  EXPECT_EQ(price["switches"], 55);
  EXPECT_EQ(price["adapters"], 220);
  EXPECT_EQ(price["cables"], 3 * (110 + 110 + 55));
  EXPECT_EQ(price["total"], 55 + 220 + 825);
  std::ofstream(file) << "[switch]\neach = many\n";
  const smd::test::Finished wrong = cost("dragonfly --prices " + file);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr(file + ":2"));
}

TEST(SmsimCost, WrongCallsEndWithTwo) {
  for (const auto& [words, message] :
       {std::pair{"", "cost needs a FABRIC, or --radix"},
        std::pair{"tors", "did you mean \"torus\"?"},
        std::pair{"torus dragonfly --group 4", "--group is of one FABRIC: 2 are given"},
        std::pair{"dragonfly:a=5,c=2,h=2 --group 7", "groups of 7 switches each"},
        std::pair{"torus --prices /nonexistent", "/nonexistent"},
        std::pair{"--radix 2", "--radix"}}) {
    const smd::test::Finished outcome = cost(words);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

TEST(SmsimCost, SaysHowLargeNetworksOfARadixAre) {
  const smd::test::Finished run = cost("--radix 64");
  ASSERT_EQ(run.exit_code, 0);
  EXPECT_THAT(
      run.out,
      HasSubstr("64 ports: flattened butterfly of 3 dimensions: 16 on a side, 65536 hosts"));
  EXPECT_THAT(run.out, HasSubstr("64 ports: dragonfly: 529 groups of 33"));
}

}  // namespace smsim_cost_test
}  // namespace smd::sim::testing
