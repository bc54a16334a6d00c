#include "sim-backend/congestion/window.h"

#include <gtest/gtest.h>

#include <climits>

namespace smd::sim {
namespace {

TEST(Window, StaticStaysWhatItIs) {
  for (const unsigned most : {1u, 2u, 4u, 8u}) {
    const WindowRule rule{.kind = WindowKind::Static, .most = most};
    WindowState state = open_window(rule);
    EXPECT_FALSE(narrow_window(rule, state));
    widen_window(rule, state);
    EXPECT_EQ(window_of(rule, state), most);
  }
}

TEST(Window, NoneHoldsNothingBack) {
  const WindowRule rule;
  WindowState state = open_window(rule);
  EXPECT_FALSE(narrow_window(rule, state));
  EXPECT_EQ(window_of(rule, state), UINT_MAX);
}

TEST(Window, DynamicGoesFromMostToOneAndBack) {
  const WindowRule rule{.kind = WindowKind::Dynamic, .most = 3};
  WindowState state = open_window(rule);
  EXPECT_EQ(window_of(rule, state), 3u);
  EXPECT_TRUE(narrow_window(rule, state));
  EXPECT_TRUE(narrow_window(rule, state));
  EXPECT_FALSE(narrow_window(rule, state));
  EXPECT_EQ(window_of(rule, state), 1u);
  for (const unsigned now : {2u, 3u, 3u}) {
    widen_window(rule, state);
    EXPECT_EQ(window_of(rule, state), now);
  }
}

// The mean over any stretch of packets is the real window, to within one packet.
TEST(Window, FractionalIsOnAverageWhatItShouldBe) {
  for (const unsigned mean : {1000u, 1070u, 1280u, 2500u, 3999u}) {
    const WindowRule rule{.kind = WindowKind::Fractional, .mean_per_mille = mean};
    WindowState state = open_window(rule);
    std::uint64_t sum = 0;
    for (unsigned packet = 1; packet <= 1000; ++packet) {
      step_window(rule, state);
      const unsigned now = window_of(rule, state);
      EXPECT_GE(now, mean / 1000);
      EXPECT_LE(now, (mean + 999) / 1000);
      sum += now;
      EXPECT_LE(sum * 1000, std::uint64_t{mean} * packet);
      EXPECT_GT(sum * 1000 + 1000, std::uint64_t{mean} * packet);
    }
    EXPECT_EQ(sum, mean);
  }
}

TEST(Window, FractionalNarrowsLikeADynamicOne) {
  const WindowRule rule{.kind = WindowKind::Fractional, .mean_per_mille = 1280};
  WindowState state = open_window(rule);
  EXPECT_TRUE(narrow_window(rule, state));
  for (int i = 0; i < 10; ++i) {
    step_window(rule, state);
    EXPECT_EQ(window_of(rule, state), 1u);
  }
}

}  // namespace
}  // namespace smd::sim
