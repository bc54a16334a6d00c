// How far a command is: what is said, and when nothing is.
#include "smd/base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace smd::progress {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

TEST(PrintStep, LeavesOutWhatNobodyKnows) {
  EXPECT_EQ(print_step({.what = "routing"}, seconds(3)), "routing: 3 s");
  EXPECT_EQ(print_step({.what = "discovery", .unit = "SMPs", .done = 12}, seconds(3)),
            "discovery: 12 SMPs, 3 s");
  EXPECT_EQ(print_step({.what = "simulation", .unit = "runs", .done = 0, .of = 8}, seconds(3)),
            "simulation: 0 of 8 runs, 0 %, 3 s");
}

TEST(PrintStep, EstimatesWhatIsLeft) {
  EXPECT_EQ(print_step({.what = "simulation", .unit = "runs", .done = 2.2, .of = 8.8}, seconds(3)),
            "simulation: 2 of 9 runs, 25 %, 3 s, at most 9 s left");
  EXPECT_EQ(print_step({.what = "simulation", .unit = "runs", .done = 8, .of = 8}, seconds(3)),
            "simulation: 8 of 8 runs, 100 %, 3 s, at most 0 s left");
}

/// A file in place of standard error.
struct Screen {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};

  [[nodiscard]] std::string read() const {
    std::string text(static_cast<std::size_t>(std::ftell(file.get())), '\0');
    std::rewind(file.get());
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return text;
  }

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::ftell(file.get()));
  }
};

TEST(Display, WhatIsSoonDoneIsNotShown) {
  const Screen screen;
  {
    const Display display({.file = screen.file.get(), .quiet = std::chrono::hours(1)});
    begin("discovery", "SMPs");
    add(3);
  }
  EXPECT_EQ(screen.size(), 0u);
}

TEST(Display, WhatTakesLongIsALineEachTime) {
  const Screen screen;
  begin("tables", "switches", 4);
  expect(4);
  set(2);
  add(1);
  {
    const Display display(
        {.file = screen.file.get(), .quiet = milliseconds(0), .pause = milliseconds(0)});
    // Its writer has a thread of its own; two lines are there when two have been written.
    while (display.lines() < 2) std::this_thread::yield();
  }
  const std::string text = screen.read();
  EXPECT_THAT(text, StartsWith("tables: 3 of 8 switches, 37 %, "));
  EXPECT_GE(std::ranges::count(text, '\n'), 2);
  EXPECT_THAT(text, testing::Not(HasSubstr("\r")));
}

TEST(Display, OnATerminalOneLineIsWrittenOverAndErased) {
  const Screen screen;
  begin("routing");
  {
    const Display display({.file = screen.file.get(),
                           .terminal = true,
                           .quiet = milliseconds(0),
                           .pause = milliseconds(0)});
    while (display.lines() < 2) std::this_thread::yield();
  }
  const std::string text = screen.read();
  EXPECT_THAT(text, StartsWith("\rrouting: "));
  EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace smd::progress
