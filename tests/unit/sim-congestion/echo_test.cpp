#include "sim-backend/congestion/echo.h"

#include <gtest/gtest.h>

namespace smd::sim {
namespace echo_test {

constexpr Flow kFlow{.source = 3, .destination = 7, .sl = 2};

TEST(Echo, EveryPacketIsAcknowledgedWithItsMarks) {
  const auto echo = acknowledge();
  for (Marks marks = 0; marks <= 3; ++marks) {
    const auto feedback = echo->on_data(kFlow, marks);
    ASSERT_TRUE(feedback.has_value());
    EXPECT_EQ(feedback->marks, marks);
    EXPECT_TRUE(feedback->acknowledges);
    EXPECT_EQ(feedback->sl, 2);
    EXPECT_EQ(feedback->payload, 0);
  }
}

TEST(Echo, OnlyMarkedPacketsAreNotified) {
  const auto echo = notify();
  EXPECT_FALSE(echo->on_data(kFlow, 0).has_value());
  const auto feedback = echo->on_data(kFlow, kFirstMark);
  ASSERT_TRUE(feedback.has_value());
  EXPECT_EQ(feedback->marks, kFirstMark);
  EXPECT_FALSE(feedback->acknowledges);
  EXPECT_EQ(feedback->payload, 16);
}

TEST(Echo, TheWayBackHasAnSlOfItsOwn) {
  const auto echo = acknowledge(4, [](HostNum from, HostNum to) {
    return static_cast<std::uint8_t>(from == 7 && to == 3 ? 9 : 0);
  });
  EXPECT_EQ(echo->on_data(kFlow, 0)->sl, 9);
  EXPECT_EQ(echo->on_data(kFlow, 0)->payload, 4);
}

}  // namespace echo_test
}  // namespace smd::sim
