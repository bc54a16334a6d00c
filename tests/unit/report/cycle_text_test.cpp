// Reports as RFC 4180 tables.
#include "smd/report/cycle_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smd {
namespace {

using Json = nlohmann::ordered_json;

TEST(Csv, ScalarsOfInnerObjectsAreColumns) {
  const Json row = {{"what", "sw-1:2"}, {"smps", {{"tables", 3}, {"total", 5}}}, {"ok", true}};
  EXPECT_EQ(print_csv({row}), "what,smps.tables,smps.total,ok\nsw-1:2,3,5,true\n");
}

TEST(Csv, ACellThatOnlySomeRowsHaveIsEmptyInTheOthers) {
  EXPECT_EQ(
      print_csv({Json{{"a", 1}}, Json{{"a", 2}, {"why", "no order"}}, Json{{"why", nullptr}}}),
      "a,why\n1,\n2,no order\n,\n");
}

TEST(Csv, ArraysAreJoined) {
  EXPECT_EQ(print_csv({Json{{"cycle", Json::array({"x", "y"})}, {"none", Json::array()}}}),
            "cycle,none\nx; y,\n");
}

TEST(Csv, CommasQuotesAndLineBreaksAreQuoted) {
  EXPECT_EQ(print_csv({Json{{"a", "1,2"}, {"b", "say \"no\""}, {"c", "x\ny"}, {"d", "plain"}}}),
            "a,b,c,d\n\"1,2\",\"say \"\"no\"\"\",\"x\ny\",plain\n");
}

/// An engine refused after a change was found.
CycleReport refused() {
  CycleReport cycle;
  cycle.engine = "dor";
  cycle.error = Error{Errc::Unsupported, "no mesh or torus: two planes"};
  return cycle;
}

TEST(ReportOfARefusal, HasTheReasonAndNoResult) {
  const Json run = run_json(refused());
  EXPECT_EQ(run.at("error"), "no mesh or torus: two planes");
  EXPECT_EQ(run.at("up"), false);
  for (const char* key : {"bring_up", "routes", "deadlock", "load"})
    EXPECT_TRUE(run.at(key).is_null()) << key;
  const Json change = change_json(refused(), "sw-0-0:1", "down");
  for (const char* key : {"lft_entries_changed_pct", "transition", "routes", "deadlock"})
    EXPECT_TRUE(change.at(key).is_null()) << key;
  const std::string csv = print_csv({change});
  EXPECT_THAT(csv, testing::Not(testing::HasSubstr("routes.pairs")));
  EXPECT_THAT(csv, testing::HasSubstr("no mesh or torus: two planes"));
  EXPECT_EQ(print_bring_up(refused()), "FAILED: engine dor: no mesh or torus: two planes\n");
  EXPECT_EQ(print_change(refused(), "sw-0-0:1", "down"),
            "sw-0-0:1 down: FAILED: engine dor: no mesh or torus: two planes\n");
}

TEST(Csv, NothingIsAnEmptyHeader) { EXPECT_EQ(print_csv({}), "\n"); }

}  // namespace
}  // namespace smd
