// Reports as RFC 4180 tables.
#include "smd/report/cycle_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smd {
namespace cycle_text_test {

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

// Tables that were made and refused are not those in force.
TEST(ReportOfARefusal, SaysNothingOfTablesThatWereNotWritten) {
  CycleReport cycle = refused();
  cycle.routed = cycle.transition.certified = true;
  cycle.routes.pairs = 30;
  cycle.error = Error{Errc::Unsupported, "minhop: unverified tables: credit loop"};
  const Json change = change_json(cycle, "sw-1-0", "down");
  for (const char* key : {"lft_entries_changed_pct", "transition", "routes", "deadlock"})
    EXPECT_TRUE(change.at(key).is_null()) << key;
  EXPECT_EQ(change.at("error"), cycle.error->context);
  EXPECT_EQ(print_change(cycle, "sw-1-0", "down"),
            "sw-1-0 down: FAILED: minhop: unverified tables: credit loop\n");
  EXPECT_TRUE(run_json(cycle).at("load").is_null());
  EXPECT_TRUE(run_json(cycle).at("routes").is_object()) << "why it was refused";
  EXPECT_THAT(print_bring_up(cycle), testing::Not(testing::HasSubstr("  load ")));
  cycle.transition.kind = TransitionKind::Certified;
  EXPECT_EQ(change_json(cycle, "sw-1-0", "down").at("transition").at("certified"), true)
      << "the error came later";
}

TEST(ReportOfACutOffManager, IsNotUp) {
  CycleReport cycle;
  ASSERT_TRUE(cycle.up());
  cycle.cut_off = cycle.has_no_link = true;
  EXPECT_FALSE(cycle.up());
  EXPECT_EQ(run_json(cycle).at("up"), false);
  EXPECT_THAT(print_bring_up(cycle),
              testing::EndsWith("NOT UP: the manager's own port has no link: nobody is seen\n"));
}

// Whoever looks for a cable that is out should not find one that is in.
TEST(ReportOfACutOffManager, SaysWhatIsBehindThePort) {
  CycleReport cycle;
  cycle.cut_off = true;
  EXPECT_EQ(print_cut_off(cycle), "nobody answers behind the manager's own port");
  cycle.duplicates = {{.guid = Guid{0x1234}, .first = {}, .second = {}}};
  EXPECT_EQ(
      print_cut_off(cycle),
      "GUID 0x0000000000001234 stands twice, and nobody else is seen behind the manager's own "
      "port");
  cycle.silent = {{.node = Guid{1}, .port = PortNum{1}, .why = "timeout"}};
  cycle.has_no_link = true;
  EXPECT_EQ(print_cut_off(cycle), "the manager's own port has no link: nobody is seen");
}

TEST(ReportOfRoutes, CountsBySpeedWhereLinksDiffer) {
  LoadReport load{.max = 40, .mean = 20, .fullest = 30, .slowest_gbps = 100};
  EXPECT_EQ(print_per_gbps(load), "");
  EXPECT_THAT(print_load_bound(load, 15), testing::StartsWith("15 paths must cross"));
  load.mixed_speeds = true;
  EXPECT_EQ(print_per_gbps(load), ", 0.30 per Gb/s on the fullest for its speed");
  EXPECT_EQ(
      print_load_bound(load, 15),
      "0.15 paths per Gb/s must cross some channel whatever the routes; these have 2.00 times "
      "as many on their fullest");
  const Json known = load_json(load, 15);
  EXPECT_EQ(known.at("max_per_gbps"), 0.3);
  EXPECT_EQ(known.at("ratio"), 2);
  EXPECT_FALSE(load_json(load, 0).contains("bound"));
}

TEST(ReportOfRoutes, SaysWhatWasAskedAndWhatTheEngineNotes) {
  CycleReport cycle;
  cycle.routed = true;
  EXPECT_THAT(print_bring_up(cycle), testing::Not(testing::HasSubstr("uniform")));
  EXPECT_FALSE(run_json(cycle).contains("traffic"));
  EXPECT_FALSE(run_json(cycle).contains("candidates"));
  cycle.load = {.max = 30, .fullest = 30};
  cycle.load_bound = 15;
  cycle.measures = RouteMeasures{.uniform = 0.5, .permutations = 0.25, .shifts = 0.125};
  cycle.notes = {"torus 5 x 5"};
  cycle.candidates = {{.engine = "dor", .taken = true, .measured = true, .worth = 1.05},
                      {.engine = "ftree", .refused = "no tree"}};
  const std::string text = print_bring_up(cycle);
  EXPECT_THAT(text, testing::HasSubstr("  bound      15 paths must cross"));
  EXPECT_THAT(text, testing::HasSubstr("50.0 % of full rate; random permutations 25.0 %"));
  EXPECT_THAT(text, testing::HasSubstr("  note       torus 5 x 5\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("  spread ")));
  const Json run = run_json(cycle);
  EXPECT_EQ(run.at("traffic").at("shifts"), 0.125);
  EXPECT_FALSE(run.at("traffic").contains("spread"));
  cycle.measures->spread = SpreadMeasures{.uniform = 0.75, .shifts = 0.5, .worst_shift = 0.25};
  EXPECT_THAT(print_bring_up(cycle),
              testing::HasSubstr("  spread     where flows take all LIDs of a port alike: uniform "
                                 "75.0 %, shifts 50.0 %, 25.0 % in the worst\n"));
  EXPECT_EQ(run_json(cycle).at("traffic").at("spread").at("worst_shift"), 0.25);
  EXPECT_EQ(run.at("notes"), Json::array({"torus 5 x 5"}));
  EXPECT_EQ(run.at("candidates")[0].at("worth"), 1.05);
  EXPECT_EQ(run.at("candidates")[1].at("refused"), "no tree");
  EXPECT_FALSE(run.at("candidates")[1].contains("worth"));
}

TEST(Csv, NothingIsAnEmptyHeader) { EXPECT_EQ(print_csv({}), "\n"); }

}  // namespace cycle_text_test
}  // namespace smd
