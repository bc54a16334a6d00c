// The real writer of state, on a real file system: killed with SIGKILL at every system call and at
// moments nobody chose, out of space, over its limit. Whoever reads afterwards finds one version
// whole: the last that was acknowledged, or the one that was being written.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "smd/base/rng.h"
#include "smd/state/state_directory.h"
#include "smd/state/state_store.h"

namespace smd {
namespace {

using ::testing::AnyOf;

/// Long enough that half of it is no version by chance.
std::string version(int number) {
  std::string text;
  for (int line = 0; line < 2000; ++line) text += fmt::format("version {} line {}\n", number, line);
  return text;
}

/// The number of the version that is there whole; nothing where what is there is none.
std::optional<int> version_in(const std::string& folder) {
  const auto text = read_state(folder, "lids");
  if (!text || !text->starts_with("\nversion ")) return std::nullopt;
  int number = 0;
  std::from_chars(text->data() + 9, text->data() + text->size(), number);
  if (*text != "\n" + version(number)) return std::nullopt;
  return number;
}

struct StateKill : ::testing::Test {
  StateKill() { EXPECT_NE(mkdtemp(folder.data()), nullptr); }

  ~StateKill() override { std::filesystem::remove_all(folder); }

  /// A process of its own, which ends with what `work` returns.
  static pid_t start(const std::function<int()>& work) {
    const pid_t pid = fork();
    if (pid == 0) _exit(work());
    return pid;
  }

  static int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return status;
  }

  /// Runs `work` and kills it after as many entries to and exits from system calls; false when it
  /// ended of its own accord before.
  static bool kill_at_call(int stops, const std::function<int()>& work) {
    const pid_t pid = start([&work] {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 99;
      raise(SIGSTOP);
      return work();
    });
    for (int status = wait_for(pid); WIFSTOPPED(status); status = wait_for(pid)) {
      if (stops-- == 0) {
        ::kill(pid, SIGKILL);
        wait_for(pid);
        return true;
      }
      ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    }
    return false;
  }

  std::string folder = testing::TempDir() + "/smd-kill-XXXXXX";
};

TEST_F(StateKill, AtEachSystemCallOneOfTheTwoVersionsIsThere) {
  bool killed = true;
  bool old_seen = false;
  bool new_seen = false;
  int stops = 0;
  for (; killed; ++stops) {
    ASSERT_TRUE(write_state(folder, "lids", version(1)));
    killed =
        kill_at_call(stops, [this] { return write_state(folder, "lids", version(2)) ? 0 : 1; });
    const std::optional<int> found = version_in(folder);
    ASSERT_TRUE(found) << "killed at stop " << stops;
    (*found == 1 ? old_seen : new_seen) = true;
    EXPECT_THAT(*found, AnyOf(1, 2)) << stops;
  }
  EXPECT_EQ(version_in(folder), 2) << "nobody killed the last one";
  EXPECT_TRUE(old_seen && new_seen);
  EXPECT_GT(stops, 2 * 8) << "open, write, fsync, unlink, link, rename, open, fsync; in and out";
}

TEST_F(StateKill, AnOrderOfPartitionsIsThereOrNot) {
  const PartitionOrders before{{.key = 0x20, .name = "Red", .created = true}};
  PartitionOrders after = before;
  after[0].members = {{Guid{1}, Membership::Full}, {Guid{2}, Membership::Limited}};
  after.push_back({.key = 0x30, .name = "Storage"});
  std::set<PartitionOrders::size_type> seen;
  bool killed = true;
  for (int stops = 0; killed; ++stops) {
    ASSERT_TRUE(save_state(folder, {.partitions = before}, StateKind::kPartitionOrders));
    killed = kill_at_call(stops, [&] {
      return save_state(folder, {.partitions = after}, StateKind::kPartitionOrders) ? 0 : 1;
    });
    const auto found = load_state(folder);
    ASSERT_TRUE(found) << "killed at stop " << stops;
    ASSERT_TRUE(found->partitions == before || found->partitions == after) << stops;
    seen.insert(found->partitions.size());
  }
  EXPECT_EQ(load_state(folder)->partitions, after) << "nobody killed the last one";
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(StateKill, ADamagedFileDoesNotTakeTheGoodPredecessorWithIt) {
  bool killed = true;
  for (int stops = 0; killed; ++stops) {
    ASSERT_TRUE(write_state(folder, "lids", version(1)));
    ASSERT_TRUE(write_state(folder, "lids", version(1)));
    std::filesystem::resize_file(folder + "/lids", 100);
    killed =
        kill_at_call(stops, [this] { return write_state(folder, "lids", version(2)) ? 0 : 1; });
    ASSERT_TRUE(version_in(folder)) << "killed at stop " << stops;
  }
}

/// Lines of a journal, one per acknowledged append, behind a version.
std::optional<std::pair<int, int>> journal_in(const std::string& folder) {
  RealDisk disk(folder);
  const auto content = StateJournal(disk, "lids", folder).read();
  if (!content || !content->text.starts_with("\nversion ")) return std::nullopt;
  int number = 0;
  std::from_chars(content->text.data() + 9, content->text.data() + content->text.size(), number);
  if (content->text != "\n" + version(number)) return std::nullopt;
  int lines = 0;
  std::string expected;
  for (; expected.size() < content->changes.size(); ++lines)
    expected += fmt::format("+ {} of {}\n", lines, number);
  if (content->changes != expected) return std::nullopt;
  return std::pair{number, lines};
}

TEST_F(StateKill, AJournalKilledAtEachSystemCallHasAllThatWasAcknowledged) {
  // One version with two lines; then killed within: a third line, the next version, its first line.
  bool killed = true;
  std::set<std::pair<int, int>> seen;
  int stops = 0;
  for (; killed; ++stops) {
    std::filesystem::remove_all(folder);
    RealDisk disk(folder);
    StateJournal journal(disk, "lids", folder);
    ASSERT_TRUE(journal.replace(version(1)));
    ASSERT_TRUE(journal.append("+ 0 of 1\n+ 1 of 1\n"));
    killed = kill_at_call(stops, [&journal] {
      return journal.append("+ 2 of 1\n") && journal.replace(version(2)) &&
                     journal.append("+ 0 of 2\n")
                 ? 0
                 : 1;
    });
    const auto found = journal_in(folder);
    ASSERT_TRUE(found) << "killed at stop " << stops;
    EXPECT_THAT(*found, AnyOf(std::pair{1, 2}, std::pair{1, 3}, std::pair{2, 0}, std::pair{2, 1}))
        << stops;
    if (!seen.contains(*found)) {
      EXPECT_TRUE(seen.empty() || *seen.rbegin() < *found) << "nothing that was there is gone";
    }
    seen.insert(*found);
  }
  EXPECT_EQ(seen.size(), 4u) << "each of the four";
  EXPECT_GT(stops, 2 * 20);
}

TEST_F(StateKill, WhatWasAcknowledgedOutlivesAKillAtAnyMoment) {
  int last = 0;
  ASSERT_TRUE(write_state(folder, "lids", version(last)));
  for (int life = 0; life < 60; ++life) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t pid = start([&] {
      for (int number = last + 1;; ++number) {
        if (!write_state(folder, "lids", version(number))) return 1;
        if (::write(pipe_ends[1], &number, sizeof number) != sizeof number) return 2;
      }
    });
    ::close(pipe_ends[1]);
    int acknowledged = last;
    int before_the_kill = life % 4;
    int number = 0;
    while (::read(pipe_ends[0], &number, sizeof number) == sizeof number) {
      acknowledged = number;
      if (before_the_kill-- == 0) ::kill(pid, SIGKILL);
    }
    ::close(pipe_ends[0]);
    const int status = wait_for(pid);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    const std::optional<int> found = version_in(folder);
    ASSERT_TRUE(found) << "life " << life;
    EXPECT_THAT(*found, AnyOf(acknowledged, acknowledged + 1));
    last = *found;
  }
}

TEST_F(StateKill, KilledAfterAnyNumberOfCallsOfManyWrites) {
  Rng rng(7);
  int last = 0;
  ASSERT_TRUE(write_state(folder, "lids", version(last)));
  for (int life = 0; life < 40; ++life) {
    const int stops = static_cast<int>(rng.below(200));
    ASSERT_TRUE(kill_at_call(stops, [&] {
      for (int number = last + 1; number < last + 1000; ++number)
        if (!write_state(folder, "lids", version(number))) return 1;
      return 0;
    }));
    const std::optional<int> found = version_in(folder);
    ASSERT_TRUE(found) << "life " << life << ", stop " << stops;
    EXPECT_GE(*found, last);
    last = *found;
  }
  EXPECT_GT(last, 40) << "several versions per life";
}

TEST_F(StateKill, OverTheLimitOfFilesTheOldVersionStays) {
  ASSERT_TRUE(write_state(folder, "lids", version(1)));
  const int status = wait_for(start([this] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 98;
    const auto written = write_state(folder, "lids", version(2));
    return !written && written.error().context.find("File too large") != std::string::npos ? 0 : 1;
  }));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(version_in(folder), 1);
  EXPECT_FALSE(std::filesystem::exists(folder + "/lids.new"));
}

TEST_F(StateKill, OnAFullDiskTheOldVersionStaysAndTheNextIsWrittenOnceThereIsRoom) {
  constexpr int kNoMount = 97;
  const int status = wait_for(start([this] {
    // A file system of our own: as root, or as root of a user namespace.
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNoMount;
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") != 0) return kNoMount;
    if (!write_state(folder, "lids", version(1))) return 1;
    {
      const std::string rest(256 << 10, 'x');
      FILE* filler = fopen((folder + "/filler").c_str(), "w");
      setvbuf(filler, nullptr, _IONBF, 0);
      static_cast<void>(fwrite(rest.data(), 1, rest.size(), filler));
      fclose(filler);
    }
    const auto full = write_state(folder, "lids", version(2));
    if (full || full.error().context.find("No space left") == std::string::npos) return 2;
    if (version_in(folder) != 1) return 3;
    std::filesystem::remove(folder + "/filler");
    if (!write_state(folder, "lids", version(3))) return 4;
    return version_in(folder) == 3 ? 0 : 5;
  }));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMount)
    GTEST_SKIP() << "this process may mount nothing";
  EXPECT_EQ(status, 0) << "step " << WEXITSTATUS(status);
}

}  // namespace
}  // namespace smd
