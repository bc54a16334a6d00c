#include "smd/admin/exposition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "smd/base/rng.h"
#include "tests/support/exposition_check.h"

namespace smd {
namespace {

TEST(Exposition, IsOneLineForEachSample) {
  Exposition out;
  out.family(MetricType::Gauge, "smd_ports", "Ports by state.");
  out.sample(12, {{"state", "active"}, {"name", "a\"b\\c\nd"}});
  out.sample(0.25);
  out.family(MetricType::Counter, "smd_sent_total", "Sent.");
  out.sample(1e12);
  EXPECT_EQ(out.take(),
            "# HELP smd_ports Ports by state.\n"
            "# TYPE smd_ports gauge\n"
            "smd_ports{state=\"active\",name=\"a\\\"b\\\\c\\nd\"} 12\n"
            "smd_ports 0.25\n"
            "# HELP smd_sent_total Sent.\n"
            "# TYPE smd_sent_total counter\n"
            "smd_sent_total 1000000000000\n");
}

TEST(Exposition, BucketsCountEverythingBelowThem) {
  Histogram values({0.1, 1});
  for (const double value : {0.05, 0.1, 0.5, 7.0}) values.note(value);
  Exposition out;
  out.family(MetricType::Histogram, "smd_wait_seconds", "Waits.");
  out.histogram(values, {{"kind", "x"}});
  const std::string text = out.take();
  EXPECT_EQ(text,
            "# HELP smd_wait_seconds Waits.\n"
            "# TYPE smd_wait_seconds histogram\n"
            "smd_wait_seconds_bucket{kind=\"x\",le=\"0.1\"} 2\n"
            "smd_wait_seconds_bucket{kind=\"x\",le=\"1\"} 3\n"
            "smd_wait_seconds_bucket{kind=\"x\",le=\"+Inf\"} 4\n"
            "smd_wait_seconds_sum{kind=\"x\"} 7.65\n"
            "smd_wait_seconds_count{kind=\"x\"} 4\n");
  EXPECT_EQ(test::read_metric_page(text).trouble, "");
}

/// Descriptions of nodes come from strangers.
TEST(Exposition, AnyBytesMakeAPage) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (std::uint64_t n = rng.below(12); n > 0; --n)
      bytes += static_cast<char>(rng.below(2) == 0 ? rng.below(256) : 0xe0 + rng.below(24));
    Exposition out;
    out.family(MetricType::Gauge, "smd_x", "X.");
    out.sample(1, {{"node", bytes}});
    const std::string text = out.take();
    EXPECT_EQ(test::read_metric_page(text).trouble, "");
    EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  }
  Exposition out;
  out.family(MetricType::Gauge, "smd_x", "X.");
  out.sample(1, {{"node", "\xc3\xa9 \xff \xed\xa0\x80 \xf0\x9f\x98\x80 \xc0\xaf"}});
  EXPECT_TRUE(out.take().ends_with("{node=\"\xc3\xa9 ? ??? \xf0\x9f\x98\x80 ??\"} 1\n"));
}

/// The reader that other tests lean on sees what is wrong.
TEST(ExpositionCheck, RefusesWhatIsNoPage) {
  const std::string good = "# HELP a_total A.\n# TYPE a_total counter\n";
  EXPECT_EQ(test::read_metric_page(good + "a_total{x=\"1\"} 2\na_total{x=\"2\"} 3\n").trouble, "");
  for (const char* bad : {"a_total",
                          "a_total x",
                          "a_total{x=\"1} 2",
                          "a_total{x=1} 2",
                          "b 1",
                          "a_total -1",
                          "a_total{x=\"1\",x=\"2\"} 2",
                          "a_total 1\na_total 1",
                          "# TYPE a_total counter",
                          "# HELP a_total B.",
                          "#x",
                          "a_total_sum 1"})
    EXPECT_NE(test::read_metric_page(good + bad + "\n").trouble, "") << bad;
  EXPECT_NE(test::read_metric_page("# HELP a A.\n# TYPE a counter\n").trouble, "");
  EXPECT_NE(test::read_metric_page("# TYPE a gauge\n").trouble, "");
  EXPECT_NE(test::read_metric_page("# HELP a A.\n# TYPE a gauge\na 1").trouble, "");
  const std::string wait = "# HELP w W.\n# TYPE w histogram\nw_bucket{le=\"1\"} 2\n";
  EXPECT_NE(test::read_metric_page(wait + "w_sum 1\nw_count 2\n").trouble, "");
  EXPECT_NE(test::read_metric_page(wait + "w_bucket{le=\"+Inf\"} 1\nw_sum 1\nw_count 1\n").trouble,
            "");
}

}  // namespace
}  // namespace smd
