// What the log leaves out, it says: when, and in which order.
#include "smd/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace {
std::string g_openlog_ident;
}

/// In place of the C library's: spdlog finds this one.
extern "C" void openlog(const char* ident, int, int) { g_openlog_ident = ident; }

namespace smd::log {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr RateLimit::Time kStart{std::chrono::hours(7)};

std::vector<std::string> print(const std::vector<RateLimit::Suppressed>& all) {
  std::vector<std::string> out;
  for (const RateLimit::Suppressed& each : all)
    out.push_back(fmt::format("{} {} {}", static_cast<int>(each.level), each.event, each.lines));
  return out;
}

void repeat(RateLimit& limit, Level level, std::string_view event, unsigned times, seconds at) {
  for (unsigned i = 0; i < times; ++i) (void)limit.admit(level, event, kStart + at);
}

TEST(RateLimit, FiftyLinesOfAnEventAreWrittenInTenSeconds) {
  RateLimit limit;
  for (unsigned i = 0; i < 60; ++i)
    EXPECT_EQ(limit.admit(Level::Warn, "a", kStart).written, i < 50) << i;
  EXPECT_TRUE(limit.admit(Level::Warn, "b", kStart).written);
  EXPECT_TRUE(limit.admit(Level::Warn, "a", kStart + seconds(11)).written);
}

TEST(RateLimit, WhatWasLeftOutIsSaidThoughTheEventDoesNotComeAgain) {
  RateLimit limit;
  repeat(limit, Level::Warn, "a", 60, seconds(0));
  EXPECT_THAT(limit.take_suppressed(kStart + seconds(10), false), IsEmpty());
  EXPECT_THAT(print(limit.take_suppressed(kStart + seconds(11), false)), ElementsAre("2 a 10"));
  EXPECT_THAT(limit.take_suppressed(kStart + seconds(30), true), IsEmpty()) << "once";
}

TEST(RateLimit, WhatWasLeftOutIsSaidBeforeTheNextLine) {
  RateLimit limit;
  repeat(limit, Level::Warn, "a", 53, seconds(0));
  const RateLimit::Verdict next = limit.admit(Level::Warn, "a", kStart + seconds(11));
  EXPECT_TRUE(next.written);
  ASSERT_TRUE(next.before);
  EXPECT_EQ(next.before->lines, 3u);
  EXPECT_FALSE(limit.admit(Level::Warn, "a", kStart + seconds(11)).before);
}

TEST(RateLimit, TheEarliestPeriodComesFirstAndAtTheEndAllAreSaid) {
  RateLimit limit;
  repeat(limit, Level::Warn, "late", 51, seconds(5));
  repeat(limit, Level::Info, "first", 52, seconds(1));
  repeat(limit, Level::Info, "also", 54, seconds(1));
  repeat(limit, Level::Error, "also", 1, seconds(2));
  EXPECT_THAT(print(limit.take_suppressed(kStart + seconds(12), false)),
              ElementsAre("3 also 5", "1 first 2"));
  EXPECT_THAT(print(limit.take_suppressed(kStart + seconds(12), true)), ElementsAre("2 late 1"));
}

TEST(RateLimit, DebugLinesAreNotLimited) {
  RateLimit limit;
  repeat(limit, Level::Debug, "a", 1000, seconds(0));
  EXPECT_THAT(limit.take_suppressed(kStart, true), IsEmpty());
}

TEST(LogLine, TextsOfOthersEndNoQuotes) {
  const std::string evil = "evil\" to=\"x\\";
  const std::uint64_t before = entries_after(0).empty() ? 0 : entries_after(0).back().number;
  warn("test.quotes", "plain={} name=\"{}\" {{}} n={} why=\"{}: {}\"", "a\"b", evil, 7, evil, 8);
  const std::vector<Entry> now = entries_after(before);
  ASSERT_EQ(now.size(), 1u);
  EXPECT_EQ(now.front().text,
            R"(plain=a"b name="evil\" to=\"x\\" {} n=7 why="evil\" to=\"x\\: 8")");
}

// In a process of its own, which ends.
TEST(LogDeathTest, AProcessThatEndsSaysWhatItLeftOut) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("smd-log-test-{}", ::getpid());
  EXPECT_EXIT(
      {
        if (!open_sink(file.string())) std::exit(3);
        for (unsigned i = 0; i < 60; ++i) warn("test.repeated", "number={}", i);
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "");
  unsigned lines = 0;
  unsigned long left_out = 0;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::string::size_type at = line.find(" lines=");
    lines += line.find(" warn test.repeated number=") != std::string::npos ? 1 : 0;
    if (line.find(" warn log.suppressed event=test.repeated lines=") != std::string::npos)
      left_out += std::stoul(line.substr(at + 7));
  }
  std::filesystem::remove(file);
  EXPECT_GE(lines, 50u);
  EXPECT_EQ(lines + left_out, 60u);
}

class LogFile : public testing::Test {
 protected:
  LogFile() { std::filesystem::create_directories(folder); }

  ~LogFile() override {
    (void)open_sink("stderr");
    std::filesystem::remove_all(folder);
  }

  /// The numbers that the lines of `event` in a file have, in its order.
  static std::vector<unsigned> numbers_in(const std::filesystem::path& path) {
    std::vector<unsigned> out;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      const std::string::size_type at = line.find(" test.moved number=");
      if (at != std::string::npos)
        out.push_back(static_cast<unsigned>(std::stoul(line.substr(at + 19))));
    }
    return out;
  }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("smd-log-file-{}", ::getpid());
  std::filesystem::path file = folder / "smd.log";
};

TEST_F(LogFile, IsOpenedAnewByItsName) {
  ASSERT_TRUE(open_sink(file));
  error("test.moved", "number=1");
  std::filesystem::rename(file, folder / "smd.log.1");
  error("test.moved", "number=2");
  ASSERT_TRUE(reopen_sink());
  error("test.moved", "number=3");
  EXPECT_THAT(numbers_in(folder / "smd.log.1"), ElementsAre(1u, 2u));
  EXPECT_THAT(numbers_in(file), ElementsAre(3u));
  ASSERT_TRUE(reopen_sink()) << "that nobody moved it does no harm";
  error("test.moved", "number=4");
  EXPECT_THAT(numbers_in(file), ElementsAre(3u, 4u));
}

TEST_F(LogFile, SaysFromWhichClockATimeIs) {
  ASSERT_EQ(::setenv("TZ", "UTC-9", 1), 0);
  ::tzset();
  ASSERT_TRUE(open_sink(file));
  error("test.time", "number=1");
  ASSERT_EQ(::unsetenv("TZ"), 0);
  ::tzset();
  std::ifstream in(file);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_THAT(line,
              testing::MatchesRegex("....-..-..T..:..:..\\....\\+09:00 error test.time number=1"));
}

TEST_F(LogFile, LosesNoLineWhileItIsMoved) {
  constexpr unsigned kLines = 20000, kMoves = 20;
  ASSERT_TRUE(open_sink(file));
  set_level(Level::Debug);
  std::jthread writer([] {  // joins, too, where the rest fails
    for (unsigned i = 0; i < kLines; ++i) debug("test.moved", "number={}", i);
  });
  for (unsigned move = 0; move < kMoves; ++move) {
    std::filesystem::rename(file, folder / fmt::format("{:02}", move));
    EXPECT_TRUE(reopen_sink());
  }
  writer.join();
  set_level(Level::Info);
  ASSERT_TRUE(open_sink("stderr")) << "what was held back is in the file now";
  std::vector<unsigned> found;
  for (unsigned move = 0; move <= kMoves; ++move) {
    const auto path = move < kMoves ? folder / fmt::format("{:02}", move) : file;
    for (const unsigned number : numbers_in(path)) found.push_back(number);
  }
  ASSERT_EQ(found.size(), kLines);
  for (unsigned i = 0; i < kLines; ++i) ASSERT_EQ(found[i], i);
}

TEST_F(LogFile, ThatCannotBeOpenedLeavesTheOldOne) {
  ASSERT_TRUE(open_sink(file));
  std::filesystem::rename(file, folder / "smd.log.1");
  std::filesystem::create_directory(file);
  const auto reopened = reopen_sink();
  ASSERT_FALSE(reopened);
  EXPECT_THAT(reopened.error().context, testing::HasSubstr(file.string()));
  error("test.moved", "number=1");
  EXPECT_THAT(numbers_in(folder / "smd.log.1"), ElementsAre(1u));
  std::filesystem::remove(file);
  ASSERT_TRUE(reopen_sink()) << "and the name is kept";
  error("test.moved", "number=2");
  EXPECT_THAT(numbers_in(file), ElementsAre(2u));
}

/// As on a disk that has so much room left: what is beyond is refused, and the line before torn.
class FullDisk {
 public:
  FullDisk(const std::filesystem::path& file, std::size_t room) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{.rlim_cur = std::filesystem::file_size(file) + room,
                     .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }

  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST_F(LogFile, ThatTakesNothingIsSaidAndItsLinesGoToStderr) {
  ASSERT_TRUE(open_sink(file));
  for (unsigned i = 0; i < 40; ++i) error("test.moved", "number={} {}", i, std::string(200, 'x'));
  EXPECT_EQ(write_trouble(), "");
  const std::uint64_t said = entries_after(0).back().number;
  testing::internal::CaptureStderr();
  {
    const FullDisk full(file, 40);
    error("test.moved", "number=40");
    EXPECT_THAT(write_trouble(), testing::StartsWith(file.string() + ": "));
    error("test.moved", "number=41");
    report_suppressed();
    EXPECT_NE(write_trouble(), "");
  }
  const std::string lost = testing::internal::GetCapturedStderr();
  EXPECT_THAT(lost, testing::HasSubstr(" error test.moved number=40\n"));
  EXPECT_THAT(lost, testing::HasSubstr(" error test.moved number=41\n"));
  std::vector<std::string> events;
  for (const Entry& each : entries_after(said)) events.push_back(each.event);
  EXPECT_THAT(events, ElementsAre("test.moved", "log.write", "test.moved")) << "said once";

  // Nobody has to write for it to be found out that there is room.
  report_suppressed();
  EXPECT_EQ(write_trouble(), "");
  EXPECT_EQ(entries_after(said + 3).at(0).event, "log.lost");
  EXPECT_EQ(entries_after(said + 3).at(0).text, "lines=2 instead=stderr");
  error("test.moved", "number=42");
  report_suppressed();
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 43u) << "40, the torn one, what was lost, and the one after it";
  EXPECT_THAT(lines[41], testing::EndsWith(" warn log.lost lines=2 instead=stderr"));
  EXPECT_THAT(lines[41], testing::StartsWith("20")) << "by itself";
  EXPECT_THAT(numbers_in(file), testing::SizeIs(41));
}

TEST_F(LogFile, IsNoneWhereLinesGoToStderr) {
  ASSERT_TRUE(open_sink(file));
  ASSERT_TRUE(open_sink("stderr"));
  std::filesystem::remove(file);
  ASSERT_TRUE(reopen_sink());
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Syslog, KnowsTheProgramByTheNameThatItIsGiven) {
  ASSERT_TRUE(open_sink("syslog"));
  EXPECT_EQ(g_openlog_ident, "smd");
  set_ident("smd@rail-1");
  ASSERT_TRUE(open_sink("syslog"));
  EXPECT_EQ(g_openlog_ident, "smd@rail-1");
  set_ident("smd");
  ASSERT_TRUE(open_sink("stderr"));
}

TEST(LatestLines, AreThoseAboveDebugInTheOrderOfWriting) {
  const std::vector<Entry> before = entries_after(0);
  const std::uint64_t last = before.empty() ? 0 : before.back().number;
  info("test.entry", "n={}", 1);
  set_level(Level::Debug);
  debug("test.entry", "n={}", 2);
  set_level(Level::Info);
  error("test.entry", "n={} bytes=\"{}\"", 3, '\x1b');
  const std::vector<Entry> after = entries_after(last);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after[0].text, "n=1");
  EXPECT_EQ(after[0].number, last + 1);
  EXPECT_EQ(after[1].level, Level::Error);
  EXPECT_EQ(after[1].number, last + 2);
  EXPECT_EQ(after[1].text.find('\x1b'), std::string::npos) << "as it stands in the log";
  EXPECT_TRUE(entries_after(last + 2).empty());
}

TEST(LatestLines, AreAThousand) {
  // Fifty lines of one event are written in ten seconds.
  static std::vector<std::string> names;
  for (std::size_t i = 0; i < kKeptEntries / 40 + 2; ++i)
    names.push_back(fmt::format("test.{}", i));
  for (const std::string& name : names) {
    for (int i = 0; i < 40; ++i) info(name, "i={}", i);
  }
  const std::vector<Entry> kept = entries_after(0);
  ASSERT_EQ(kept.size(), kKeptEntries);
  EXPECT_EQ(kept.back().event, names.back());
  for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_EQ(kept[i].number, kept[i - 1].number + 1);
}

}  // namespace
}  // namespace smd::log
