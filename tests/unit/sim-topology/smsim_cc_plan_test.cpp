// `smsim cc-plan` from outside. Figures are computed here from the formulas of the thesis, with the
// rates and sizes of the fabric, not by the code that plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"

namespace smd::sim::testing {
namespace smsim_cc_plan_test {

using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Outcome {
  int code = -1;
  std::string text;
};

Outcome smsim(const std::string& words) {
  Outcome outcome;
  std::FILE* pipe = ::popen((test::build_path("bin/smsim ") + words).c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.text += buffer.data();
  outcome.code = WEXITSTATUS(::pclose(pipe));
  return outcome;
}

// fat-tree:k=8,levels=2: 8 leaves of 4 hosts below 4 spines; EDR; h = 3 switches.
TEST(SmsimCcPlan, GivesTheFiguresOfTheFormulas) {
  const Outcome outcome = smsim("cc-plan fat-tree:k=8,levels=2 --mtu 2048 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const Json plan = Json::parse(outcome.text);
  EXPECT_EQ(plan["fabric"]["hosts"], 32);
  EXPECT_EQ(plan["fabric"]["radix"], 4);
  EXPECT_EQ(plan["fabric"]["stages"], 2);
  EXPECT_EQ(plan["fabric"]["path_switches"], 3);
  EXPECT_EQ(plan["fabric"]["mtu"], 2048);

  const double bytes_per_ns = 12.5;  // 100 Gbit/s
  const double data = 2048 + 26;
  const double ack = 30;
  const double path = 2 * 3 * 180 * bytes_per_ns + ack;
  ASSERT_EQ(plan["hosts"].size(), 1u);
  const Json& host = plan["hosts"][0];
  const double window = (path + data) / data;
  EXPECT_NEAR(plan["path_bytes"].get<double>(), path, 1e-6);
  EXPECT_NEAR(host["window"].get<double>(), window, 1e-9);
  EXPECT_EQ(host["window_ceiling"], static_cast<int>(std::ceil(window)));
  EXPECT_NEAR(host["round_trip_ns"].get<double>(), 2 * 3 * 180 + (data + ack) / bytes_per_ns, 1e-6);
  EXPECT_NEAR(host["packet_ns"].get<double>(), data / bytes_per_ns, 1e-6);
  EXPECT_EQ(host["waiting_slots"], Json::parse("[0, 1, 4, 16]")) << "k^2 is the most";
  EXPECT_EQ(plan["switches"]["threshold"], 11) << "marks above 5/16 of a buffer";
  EXPECT_EQ(plan["switches"]["marks_above_pct"], 31.25);
  EXPECT_EQ(plan["switches"]["packet_size"], 4) << "256 bytes";
  EXPECT_EQ(plan["switches"]["marking_rate"], 0) << "every packet above the threshold";
  EXPECT_EQ(host["longest_wait_packet_times"], 23) << "24 senders are reckoned with for 32 hosts";

  // A packet of 2,074 bytes for each of 32 hosts, and as many as the window; a queue for four
  // hosts.
  const Json& memory = host["source_memory"];
  EXPECT_EQ(memory["per_destination"]["data_bytes"], 32 * std::ceil(window) * 2074);
  EXPECT_EQ(memory["per_destination_counted"]["data_bytes"], 32 * 2074);
  EXPECT_EQ(memory["hashed_queues"], 8);
  EXPECT_EQ(memory["hashed"]["data_bytes"], 8 * 2074);
  EXPECT_EQ(memory["pool"]["data_bytes"], 32 * static_cast<int>(std::ceil(window)) * 2074 / 10);

  const Json& table = host["table"];
  EXPECT_EQ(table.size(), host["ccti_limit"].get<std::size_t>() + 1);
  EXPECT_EQ(table[0]["packet_times"], 0);
  for (const Json& entry : table) {
    EXPECT_EQ(entry["packet_times"].get<double>(),
              std::ldexp(entry["multiplier"].get<double>(), -entry["shift"].get<int>()));
    EXPECT_LE(entry["packet_times"], 23);
  }
  ASSERT_EQ(host["sls"].size(), 16u);
  const double longest = table.back()["packet_times"];
  const double gap = (1 + longest) * data / bytes_per_ns + host["round_trip_ns"].get<double>();
  for (std::size_t sl = 0; sl < 16; ++sl) {
    EXPECT_EQ(host["sls"][sl]["sl"], sl);
    EXPECT_EQ(host["sls"][sl]["ccti_increase"], 1);
    EXPECT_EQ(host["sls"][sl]["ccti_timer"], static_cast<int>(std::ceil(gap / 1024)));
  }
}

TEST(SmsimCcPlan, TakesTheTimeOfAHop) {
  const auto window = [](const std::string& words) {
    const Json plan = Json::parse(smsim("cc-plan torus:dims=4.4 --json" + words).text);
    return plan["hosts"][0]["window"].get<double>();
  };
  EXPECT_LT(window(" --hop-ns 90"), window(""));
}

TEST(SmsimCcPlan, SaysItInWords) {
  const Outcome outcome = smsim("cc-plan torus:dims=4.4,hosts=2");
  EXPECT_EQ(outcome.code, 0);
  for (const char* words : {"radix 2, stages 3, longest path 5 switches",
                            "threshold",
                            "marking_rate",
                            "ccti_limit",
                            "ccti_increase      1",
                            "ccti_timer",
                            "memory of a source"}) {
    EXPECT_THAT(outcome.text, HasSubstr(words));
  }
}

TEST(SmsimCcPlan, WrongCallsEndWithTwo) {
  for (const auto& [words, message] : {std::pair{"cc-plan", "FABRIC is required"},
                                       std::pair{"cc-plan tors", "did you mean \"torus\"?"},
                                       std::pair{"cc-plan torus --mtu 1500", "--mtu"},
                                       std::pair{"cc-plan torus --hop-ns 0", "--hop-ns"}}) {
    const Outcome outcome = smsim(std::string(words) + " 2>&1");
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.text, HasSubstr(message));
  }
}

}  // namespace smsim_cc_plan_test
}  // namespace smd::sim::testing
