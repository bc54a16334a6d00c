// Values that never change: shared by their copies, and published.
#include "smd/base/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "smd/base/shared.h"

namespace smd {
namespace {

using testing::ElementsAre;

struct State {
  const int number;
};

std::shared_ptr<const State> state(int number) {
  return std::make_shared<const State>(State{number});
}

TEST(Shared, CopiesAreOneObject) {
  const Shared<std::string> one(std::string("a"));
  const Shared<std::string> copy = one, equal(std::string("a"));
  EXPECT_EQ(&*one, &*copy);
  EXPECT_TRUE(one.is(copy));
  EXPECT_FALSE(one.is(equal));
  EXPECT_EQ(one, equal);
}

TEST(Shared, WhatWasMovedFromHasItsValueStill) {
  Shared<std::string> one(std::string("a"));
  const Shared<std::string> other = std::move(one);
  EXPECT_EQ(*one, "a");
  EXPECT_EQ(*other, "a");
}

TEST(Shared, AnotherValueLeavesTheOldOneToWhoHoldsIt) {
  Shared<std::string> one(std::string("a"));
  const std::shared_ptr<const std::string> held = one.share();
  one = std::string("b");
  EXPECT_EQ(*held, "a");
  EXPECT_EQ(*one, "b");
}

TEST(Publisher, TellsInOrderWhatIsAndWhatWas) {
  Publisher<State> published;
  std::vector<std::string> heard;
  const auto print = [](const auto& value) {
    return value ? std::to_string(value->number) : std::string("none");
  };
  published.subscribe([&](const auto& change) {
    EXPECT_EQ(change.now, published.current());
    heard.push_back("first " + print(change.before) + " " + print(change.now));
  });
  published.subscribe([&](const auto& change) { heard.push_back("second " + print(change.now)); });
  EXPECT_EQ(published.version(), 0u);
  EXPECT_EQ(published.current(), nullptr);
  published.publish(state(1));
  published.publish(published.current());
  published.publish(nullptr);
  EXPECT_EQ(published.version(), 3u);
  EXPECT_THAT(
      heard,
      ElementsAre(
          "first none 1", "second 1", "first 1 1", "second 1", "first 1 none", "second none"));
}

}  // namespace
}  // namespace smd
