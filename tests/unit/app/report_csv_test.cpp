// Reports as RFC 4180 tables.
#include "smd/app/report_csv.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smd::app {
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

TEST(Csv, NothingIsAnEmptyHeader) { EXPECT_EQ(print_csv({}), "\n"); }

}  // namespace
}  // namespace smd::app
