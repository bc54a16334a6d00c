// Findings as files and lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "sim-backend/lab/findings_text.h"
#include "sim-backend/lab/svg_plot.h"

namespace smd::sim {
namespace experiment_text_test {

using testing::HasSubstr;
using testing::Not;

constexpr ClaimSpec kClaims[] = {
    {.id = "A", .text = "apples are round", .source = "book, page 1", .must_hold = true},
    {.id = "B", .text = "bananas are blue", .source = "book, page 2"},
};

Experiment example() {
  return {.name = "000-fruit", .source = "book", .about = "fruit", .claims = kClaims, .run = {}};
}

Findings findings() {
  return {
      .columns = {"fruit", "price", "a,b"},
      .rows = {{"apple", 1.5, 3.0},
               {std::string("say \"hi\", twice"), std::numeric_limits<double>::infinity(), 0.001}},
      .verdicts = {{.id = "A", .measured = "0.9", .expected = "1", .holds = true},
                   {.id = "B", .measured = "yellow", .expected = "blue", .holds = false}}};
}

TEST(ExperimentText, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(print_csv(findings()),
            "fruit,price,\"a,b\"\n"
            "apple,1.5,3\n"
            "\"say \"\"hi\"\", twice\",,0.001\n");
}

TEST(ExperimentText, JsonHasRowsAndClaims) {
  const auto json = nlohmann::json::parse(print_json(example(), {.quick = true}, findings()));
  EXPECT_EQ(json.at("experiment"), "000-fruit");
  EXPECT_EQ(json.at("quick"), true);
  EXPECT_EQ(json.at("rows").at(0).at("price"), 1.5);
  EXPECT_TRUE(json.at("rows").at(0).at("a,b").is_number_integer());
  EXPECT_TRUE(json.at("rows").at(1).at("price").is_null());
  EXPECT_EQ(json.at("claims").at(0),
            nlohmann::json::parse(R"({"claim": "A", "text": "apples are round",
              "source": "book, page 1", "measured": "0.9", "expected": "1", "holds": true,
              "must_hold": true})"));
  EXPECT_EQ(json.at("claims").at(1).at("holds"), false);
}

TEST(ExperimentText, AClaimIsOneLineWithBothNumbers) {
  EXPECT_EQ(print_claim(example(), kClaims[1], findings().verdicts[1]),
            "000-fruit B: bananas are blue; book, page 2; measured yellow; expected blue; does not "
            "hold\n");
  EXPECT_THAT(print_claim(example(), kClaims[0], findings().verdicts[0]), HasSubstr("; holds\n"));
}

TEST(ExperimentText, OnlyClaimsThatMustHoldFailARun) {
  Findings out = findings();
  EXPECT_TRUE(required_hold(example(), out));
  out.verdicts[0].holds = false;
  EXPECT_FALSE(required_hold(example(), out));
}

TEST(ExperimentText, IncompleteFindingsAreFound) {
  EXPECT_EQ(check_findings(example(), findings()), "");
  Findings short_row = findings();
  short_row.rows[1].pop_back();
  EXPECT_EQ(check_findings(example(), short_row), "000-fruit: a row of 2 cells under 3 columns");
  Findings unjudged = findings();
  unjudged.verdicts.pop_back();
  EXPECT_THAT(check_findings(example(), unjudged), HasSubstr("not every claim"));
  Findings swapped = findings();
  std::swap(swapped.verdicts[0], swapped.verdicts[1]);
  EXPECT_THAT(check_findings(example(), swapped), HasSubstr("not every claim"));
}

TEST(ExperimentText, RowsNameTheColumnsAndPointsTheLines) {
  Findings out;
  out.add_row({{"fruit", "apple"}, {"price", 2u}});
  out.add_row({{"fruit", std::string("pear")}, {"price", 1.5}});
  EXPECT_EQ(print_csv(out), "fruit,price\napple,2\npear,1.5\n");
  out.plot.add_point("a", 1, 2);
  out.plot.add_point("b", 3, 4);
  out.plot.add_point("a", 5, 6);
  ASSERT_EQ(out.plot.series.size(), 2u);
  EXPECT_EQ(out.plot.series[0].points.size(), 2u);
  EXPECT_EQ(out.plot.series[1].name, "b");
}

TEST(SvgPlot, PointsAreWhereTheAxesSay) {
  const Plot plot{.title = "a < b & c",
                  .x_label = "x",
                  .y_label = "y",
                  .series = {{.name = "line", .points = {{0, 0}, {10, 50}, {5, 25}}}}};
  const std::string svg = print_svg(plot);
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  // The frame goes from (90, 420) to (560, 40).
  EXPECT_THAT(svg, HasSubstr("points=\"90.0,420.0 560.0,40.0 325.0,230.0\""));
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg;
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(SvgPlot, LogarithmicAxesAreDecadesAndSkipWhatHasNoLogarithm) {
  const Plot plot{.log_x = true,
                  .log_y = true,
                  .series = {{.name = "line", .points = {{1, 0.1}, {10, 1}, {100, 10}, {0, 5}}}}};
  const std::string svg = print_svg(plot);
  EXPECT_THAT(svg, HasSubstr("points=\"90.0,420.0 325.0,230.0 560.0,40.0\""));
}

TEST(SvgPlot, NothingAndOddValuesStillPlot) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const bool log : {false, true}) {
    for (const Series& series : {Series{},
                                 Series{.name = "a", .points = {{1, 1}}},
                                 Series{.name = "b", .points = {{inf, 1}, {2, -inf}}},
                                 Series{.name = "c", .points = {{-5, -7}, {-5, -7}}}}) {
      const std::string svg = print_svg({.log_x = log, .log_y = log, .series = {series, series}});
      EXPECT_THAT(svg, Not(HasSubstr("nan")));
      EXPECT_THAT(svg, Not(HasSubstr("inf")));
    }
  }
}

}  // namespace experiment_text_test
}  // namespace smd::sim
