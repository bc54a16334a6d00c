// What survives: the power goes at any moment, the disk is full, files are cut off or foreign.
#include "smd/state/state_directory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "smd/state/state_store.h"

namespace smd {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// A disk that keeps apart what is written and what would still be there without power. Bytes of a
/// file are safe when write() has returned; names when sync_names() has, and before that each
/// change of a name may have reached the disk or not, in order.
class PowerlessDisk final : public StateDisk {
 public:
  explicit PowerlessDisk(int steps) : steps_(steps) {}

  Result<std::optional<std::string>> read(const std::string& name) override {
    const auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    return found->second;
  }

  Result<void> write(const std::string& name, std::string_view bytes) override {
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      if (!step()) {
        names_[name] = std::string(bytes.substr(0, cut));
        return off();
      }
    }
    names_[name] = std::string(bytes);
    return step() ? Result<void>{} : off();
  }

  /// What was there when the power goes, and each part of what was to follow, may be there.
  Result<void> append(const std::string& name, std::string_view bytes) override {
    if (!names_.contains(name)) return fail(Errc::Io, "no such file");
    for (const char byte : bytes) {
      if (!step()) return off();
      names_[name] += byte;
      safe_[name] += byte;
    }
    return step() ? Result<void>{} : off();
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    if (!names_.contains(from)) return fail(Errc::Io, "no such file");
    return change([to, bytes = names_.at(from)](Names& names) { names[to] = bytes; });
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    return change([from, to, bytes = names_.at(from)](Names& names) {
      names[to] = bytes;
      names.erase(from);
    });
  }

  void remove(const std::string& name) override {
    static_cast<void>(change([name](Names& names) { names.erase(name); }));
  }

  Result<void> sync_names() override {
    if (!step()) return off();
    safe_ = names_;
    pending_.clear();
    return {};
  }

  /// What a restart may find: each number of name changes that had reached the disk.
  [[nodiscard]] std::vector<std::map<std::string, std::string>> possible() const {
    std::vector<Names> out{safe_};
    for (const auto& each : pending_) {
      Names next = out.back();
      each(next);
      out.push_back(next);
    }
    out.push_back(names_);
    return out;
  }

  [[nodiscard]] bool off_now() const { return off_; }

  void hold(const std::map<std::string, std::string>& names) { names_ = safe_ = names; }

 private:
  using Names = std::map<std::string, std::string>;

  bool step() { return !off_ && (steps_ < 0 || steps_-- > 0); }

  Result<void> off() {
    off_ = true;
    return fail(Errc::Io, "no power");
  }

  template <class Change>
  Result<void> change(Change how) {
    if (!step()) return off();
    how(names_);
    pending_.push_back(how);
    return {};
  }

  int steps_;  // left; below 0: any number
  bool off_ = false;
  Names names_;
  Names safe_;
  std::vector<std::function<void(Names&)>> pending_;
};

TEST(StateFile, ThePowerGoesAtAnyMomentAndOneOfTheTwoIsThere) {
  PowerlessDisk first(-1);
  ASSERT_TRUE(write_state(first, "lids", "one\n"));
  ASSERT_TRUE(write_state(first, "lids", "two\n"));
  const auto before = first.possible().back();
  bool went = true;
  int moments = 0;
  for (; went; ++moments) {
    PowerlessDisk disk(moments);
    disk.hold(before);
    const auto written = write_state(disk, "lids", "three\n");
    went = disk.off_now();
    EXPECT_EQ(written.has_value(), !went);
    for (const auto& names : disk.possible()) {
      PowerlessDisk after(-1);
      after.hold(names);
      const auto text = read_state(after, "lids", "lids");
      ASSERT_TRUE(text) << moments << ": " << print_fault(text.error().front());
      EXPECT_THAT(*text, AnyOf("\ntwo\n", "\nthree\n")) << moments;
      if (written) {
        EXPECT_EQ(*read_state(disk, "lids", "lids"), "\nthree\n");
      }
    }
  }
  EXPECT_GT(moments, 40) << "each byte, each name, each sync";
}

/// What a restart reads of a file and its journal, as one text; "damaged" where it reads nothing.
std::string whole_of(StateDisk& disk) {
  StateJournal journal(disk, "records", "records");
  const auto content = journal.read();
  return content ? content->text + content->changes : "damaged";
}

TEST(StateJournal, ThePowerGoesAtAnyMomentAndNothingIsLostThatWasWritten) {
  // A life: the file, two appends, the file anew, an append. Each step is there or it is not.
  const std::vector<std::string> states{
      "", "\none\n", "\none\n+ a\n", "\none\n+ a\n+ b\n- c\n", "\ntwo\n", "\ntwo\n+ d\n"};
  // A part of an append is lines of it.
  const std::string part = "\none\n+ a\n+ b\n";
  bool went = true;
  int moments = 0;
  for (; went; ++moments) {
    PowerlessDisk disk(moments);
    StateJournal journal(disk, "records", "records");
    std::size_t done = 0;
    const auto step = [&](const Result<void>& result) {
      if (result) ++done;
      return result.has_value();
    };
    static_cast<void>(step(journal.replace("one\n")) && step(journal.append("+ a\n")) &&
                      step(journal.append("+ b\n- c\n")) && step(journal.replace("two\n")) &&
                      step(journal.append("+ d\n")));
    went = disk.off_now();
    EXPECT_EQ(done == 5, !went);
    for (const auto& names : disk.possible()) {
      PowerlessDisk after(-1);
      after.hold(names);
      const std::string found = whole_of(after);
      const bool is_part = done == 2 && found == part;
      const bool is_state =
          found == states[done] || (done + 1 < states.size() && found == states[done + 1]);
      EXPECT_TRUE(is_part || is_state) << moments << ": " << found;
    }
  }
  EXPECT_GT(moments, 100);
}

/// From the moment on at which more may come.
TEST(StateJournal, ThePowerGoesAtAnyMomentAndASealThatWasTakenAwayIsGone) {
  bool went = true;
  for (int moments = 0; went; ++moments) {
    PowerlessDisk whole(-1);
    StateJournal first(whole, "records", "records");
    ASSERT_TRUE(first.replace("one\n") && first.append("+ a\n") && first.seal());
    EXPECT_TRUE(StateJournal(whole, "records", "records").read()->complete);
    PowerlessDisk disk(moments);
    disk.hold(whole.possible().back());
    StateJournal next(disk, "records", "records");
    const bool taken = next.unseal();
    went = disk.off_now();
    EXPECT_EQ(taken, !went) << moments;
    for (const auto& names : disk.possible())
      EXPECT_FALSE(taken && names.contains("records.complete")) << moments;
    EXPECT_TRUE(!taken || next.unseal()) << "there is none";
  }
}

TEST(StateJournal, ADamagedLineLosesThatAndWhatFollows) {
  PowerlessDisk disk(-1);
  StateJournal journal(disk, "records", "records");
  ASSERT_TRUE(journal.replace("one\n"));
  ASSERT_TRUE(journal.append("+ a\n+ b\n+ c\n"));
  const std::string whole = **disk.read("records.journal");
  const std::size_t first = whole.find('\n') + 1;
  for (std::size_t at = first; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_TRUE(disk.write("records.journal", changed));
    const auto content = StateJournal(disk, "records", "records").read();
    ASSERT_TRUE(content);
    const auto good =
        static_cast<std::size_t>(std::count(whole.begin() + static_cast<std::ptrdiff_t>(first),
                                            whole.begin() + static_cast<std::ptrdiff_t>(at),
                                            '\n'));
    EXPECT_EQ(content->changes, std::string("+ a\n+ b\n+ c\n").substr(0, 4 * good)) << at;
    EXPECT_EQ(content->damage, fmt::format("line {} of it is not as it was written", good + 2));
  }
  // A line that is missing, or stands twice, is as bad.
  const std::size_t second = whole.find('\n', first) + 1;
  for (const std::string& file : {whole.substr(0, first) + whole.substr(second),
                                  whole.substr(0, second) + whole.substr(first)}) {
    ASSERT_TRUE(disk.write("records.journal", file));
    EXPECT_FALSE(StateJournal(disk, "records", "records").read()->damage.empty());
  }
}

TEST(StateJournal, BesideAnotherFileItMeansNothing) {
  PowerlessDisk disk(-1);
  StateJournal journal(disk, "records", "records");
  ASSERT_TRUE(journal.replace("one\n"));
  ASSERT_TRUE(journal.append("+ a\n"));
  ASSERT_TRUE(write_state(disk, "records", "two\n"));
  EXPECT_EQ(whole_of(disk), "\ntwo\n");
  disk.remove("records");
  EXPECT_EQ(whole_of(disk), "") << "whoever removes it wants it gone";
}

TEST(StateJournal, TheFileBeforeHasItsOwn) {
  PowerlessDisk disk(-1);
  StateJournal journal(disk, "records", "records");
  ASSERT_TRUE(journal.replace("one\n"));
  ASSERT_TRUE(journal.append("+ a\n"));
  ASSERT_TRUE(journal.replace("two\n"));
  ASSERT_TRUE(journal.append("+ b\n"));
  ASSERT_TRUE(disk.write("records", "# smd-state"));
  EXPECT_EQ(whole_of(disk), "\none\n+ a\n+ b\n");
  // A replace that fails half-way leaves both as they were.
  PowerlessDisk dies(3);
  dies.hold(disk.possible().back());
  EXPECT_FALSE(StateJournal(dies, "records", "records").replace("three\n"));
  EXPECT_EQ(whole_of(dies), "\none\n+ a\n+ b\n");
}

TEST(StateFile, AFileThatIsCutOffAnywhereIsNoticed) {
  const std::string whole = wrap_state("lids", "0x1 1 0\n0x2 2 0\n");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto text = unwrap_state("lids", whole.substr(0, length), "f");
    EXPECT_FALSE(text) << whole.substr(0, length);
  }
  EXPECT_EQ(*unwrap_state("lids", whole, "f"), "\n0x1 1 0\n0x2 2 0\n");
}

TEST(StateFile, AChangedByteIsNoticed) {
  const std::string whole = wrap_state("lids", "0x1 1 0\n0x2 2 0\n");
  for (std::size_t at = 12; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(unwrap_state("lids", changed, "f")) << changed;
  }
}

TEST(StateFile, AFileThatLostItsBeginningIsNoticed) {
  const std::string whole = wrap_state("lids", "0x1 1 0\n0x2 2 0\n");
  const std::size_t last = whole.rfind("# end ");
  for (std::size_t lost = 1; lost <= last; ++lost) {
    EXPECT_FALSE(unwrap_state("lids", whole.substr(lost), "f")) << whole.substr(lost);
    EXPECT_FALSE(unwrap_state("lids", whole.substr(lost, whole.size() - lost - 1), "f"));
  }
}

TEST(StateFile, AFileOfZeroBytesIsNoticed) {
  const std::string whole = wrap_state("lids", "0x1 1 0\n0x2 2 0\n");
  EXPECT_FALSE(unwrap_state("lids", std::string(4096, '\0'), "f"));
  for (std::size_t lost = 1; lost <= whole.size(); ++lost)
    EXPECT_FALSE(unwrap_state("lids", std::string(lost, '\0') + whole.substr(lost), "f"));
}

TEST(StateFile, SaysWhatIsWrong) {
  const auto why = [](const std::string& file) {
    return print_fault(unwrap_state("lids", file, "f").error().front());
  };
  EXPECT_EQ(why("# smd-state lids 2\n# end 0 bytes, crc32 00000000\n"),
            "f:1: '# smd-state lids 2' is no 'lids' of version 1; a newer smd, or another file?");
  EXPECT_THAT(why(wrap_state("turns", "")), HasSubstr("no 'lids'"));
  EXPECT_THAT(why("# smd-state lids 1\n0x1 1 0\n"), HasSubstr("cut off"));
  EXPECT_EQ(*unwrap_state("lids", "0x1 1 0\n", "f"), "0x1 1 0\n") << "written by hand";
}

TEST(StateFile, TheOneBeforeIsUsedWhereTheLastIsEmpty) {
  PowerlessDisk disk(-1);
  ASSERT_TRUE(write_state(disk, "lids", "one\n"));
  ASSERT_TRUE(write_state(disk, "lids", "two\n"));
  ASSERT_TRUE(disk.write("lids", ""));
  EXPECT_EQ(*read_state(disk, "lids", "f"), "\none\n");
  ASSERT_TRUE(write_state(disk, "lids", "three\n"));
  ASSERT_TRUE(disk.write("lids", ""));
  EXPECT_EQ(*read_state(disk, "lids", "f"), "\none\n") << "the empty one did not take its place";
}

TEST(StateFile, TheOneBeforeIsUsedWhereTheLastIsDamaged) {
  PowerlessDisk disk(-1);
  ASSERT_TRUE(write_state(disk, "lids", "one\n"));
  ASSERT_TRUE(write_state(disk, "lids", "two\n"));
  const std::string whole = wrap_state("lids", "two\n");
  ASSERT_TRUE(disk.write("lids", whole.substr(0, 30)));
  EXPECT_EQ(*read_state(disk, "lids", "lids"), "\none\n");
  ASSERT_TRUE(disk.write("lids.old", "# smd-state"));
  EXPECT_FALSE(read_state(disk, "lids", "lids"));
  disk.remove("lids");
  EXPECT_EQ(*read_state(disk, "lids", "lids"), "") << "whoever removes it wants it gone";
}

// Whoever edits a book of LIDs and forgets its last line does not want the LIDs of before.
TEST(StateFile, TheOneBeforeIsNotUsedForLidsThatMayBeEdited) {
  PowerlessDisk disk(-1);
  for (const char* name : {"lids", "turns"}) {
    ASSERT_TRUE(write_state(disk, name, "0x1 1 0\n"));
    ASSERT_TRUE(write_state(disk, name, "0x1 2 0\n"));
    const std::string whole = wrap_state(name, "0x1 3 0\n");
    ASSERT_TRUE(disk.write(name, whole.substr(whole.find('\n') + 1)));
    EXPECT_EQ(read_state(disk, name, "f").has_value(), name == std::string_view("turns"));
  }
}

/// Where one file cannot be read.
class UnreadableDisk final : public StateDisk {
 public:
  UnreadableDisk(StateDisk& below, std::string name, Errc why)
      : below_(below), name_(std::move(name)), why_(why) {}

  Result<std::optional<std::string>> read(const std::string& name) override {
    if (name == name_) return fail(why_, "cannot be read: it says why");
    return below_.read(name);
  }

  Result<void> write(const std::string& name, std::string_view bytes) override {
    return below_.write(name, bytes);
  }

  Result<void> append(const std::string& name, std::string_view bytes) override {
    return below_.append(name, bytes);
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    return below_.link(from, to);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    return below_.rename(from, to);
  }

  void remove(const std::string& name) override { below_.remove(name); }

  Result<void> sync_names() override { return below_.sync_names(); }

 private:
  StateDisk& below_;
  std::string name_;
  Errc why_;
};

TEST(StateFile, TheOneBeforeIsUsedWhereTheDiskGivesTheLastNoMore) {
  PowerlessDisk below(-1);
  ASSERT_TRUE(write_state(below, "lids", "one\n"));
  ASSERT_TRUE(write_state(below, "lids", "two\n"));
  UnreadableDisk broken(below, "lids", Errc::Malformed);
  const auto text = read_state(broken, "lids", "f");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "\none\n");
}

/// Its LIDs may be later than those of the one before.
TEST(StateFile, WhatCannotBeReadIsNotReplacedByTheOneBefore) {
  PowerlessDisk below(-1);
  ASSERT_TRUE(write_state(below, "lids", "one\n"));
  ASSERT_TRUE(write_state(below, "lids", "two\n"));
  UnreadableDisk broken(below, "lids", Errc::Io);
  EXPECT_EQ(print_fault(read_state(broken, "lids", "f").error().front()),
            "f: cannot be read: it says why");
  UnreadableDisk foreign(below, "lids", Errc::NoPermission);
  EXPECT_EQ(print_fault(read_state(foreign, "lids", "f").error().front()),
            "f: cannot be read: it says why: let the user of smd read it");
}

/// While it lives, the process has no descriptors left.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }

  NoDescriptors(const NoDescriptors&) = delete;

  ~NoDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

struct StateRead : ::testing::Test {
  StateRead() {
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    for (const Lid lid : {Lid{1}, Lid{2}})
      EXPECT_TRUE(save_state(folder, {.lids = {{Guid{7}, {.base = lid}}}}, StateKind::kLids));
  }

  ~StateRead() override { std::filesystem::remove_all(folder); }

  std::string folder = testing::TempDir() + "/smd-state-XXXXXX";
  int waits = 0;
};

TEST_F(StateRead, ReadsWhatIsThereOnceThereAreDescriptorsAgain) {
  auto none = std::make_unique<NoDescriptors>();
  RetryDisk disk(folder, [&] {
    if (++waits == 3) none.reset();
  });
  const auto state = load_state(disk, folder);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->lids.at(Guid{7}).base, Lid{2}) << "not those of the one before";
  EXPECT_EQ(waits, 3);
}

TEST_F(StateRead, EndsWhereThereAreNone) {
  const NoDescriptors none;
  RetryDisk disk(folder, [&] { ++waits; });
  std::string why;
  try {
    static_cast<void>(load_state(disk, folder));
  } catch (const UnreadableState& e) {
    why = e.what();
  }
  EXPECT_THAT(why, HasSubstr(folder + "/lids: cannot be opened: Too many open files; "));
  EXPECT_EQ(waits, RetryDisk::kMostWaits);
}

TEST_F(StateRead, WaitsOnceForAllFilesAndDoesWithoutHints) {
  for (const char* name : {"/directions", "/lattice"})
    std::filesystem::create_symlink(folder + name, folder + name);  // ELOOP
  RetryDisk disk(folder, [&] { ++waits; });
  const auto state = load_state(disk, folder);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->lids.at(Guid{7}).base, Lid{2});
  EXPECT_EQ(waits, RetryDisk::kMostWaits);
}

/// Fails one operation, once, and goes on.
class FullDisk final : public StateDisk {
 public:
  FullDisk(StateDisk& below, int fails) : below_(below), fails_(fails) {}

  Result<std::optional<std::string>> read(const std::string& name) override {
    return below_.read(name);
  }

  Result<void> write(const std::string& name, std::string_view bytes) override {
    if (fails_-- != 0) return below_.write(name, bytes);
    static_cast<void>(below_.write(name, bytes.substr(0, bytes.size() / 2)));
    return no_space();
  }

  Result<void> append(const std::string& name, std::string_view bytes) override {
    if (fails_-- != 0) return below_.append(name, bytes);
    static_cast<void>(below_.append(name, bytes.substr(0, bytes.size() / 2)));
    return no_space();
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    return fails_-- != 0 ? below_.link(from, to) : no_space();
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    return fails_-- != 0 ? below_.rename(from, to) : no_space();
  }

  void remove(const std::string& name) override { below_.remove(name); }

  Result<void> sync_names() override { return fails_-- != 0 ? below_.sync_names() : no_space(); }

 private:
  static Result<void> no_space() { return fail(Errc::Io, "No space left on device"); }

  StateDisk& below_;
  int fails_;
};

TEST(StateFile, AFullDiskLeavesTheOldFileAndNoRubbish) {
  std::string folder = testing::TempDir() + "/smd-state-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  for (int fails = 0; fails < 4; ++fails) {
    RealDisk real(folder + "/deep");
    ASSERT_TRUE(write_state(real, "lids", "one\n"));
    FullDisk disk(real, fails);
    const auto written = write_state(disk, "lids", "two\n");
    const bool only_the_predecessor = fails == 1;
    EXPECT_EQ(written.has_value(), only_the_predecessor) << fails;
    const auto text = read_state(real, "lids", "lids");
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, AnyOf("\none\n", "\ntwo\n")) << fails;
    if (fails == 0) {
      EXPECT_FALSE(std::filesystem::exists(folder + "/deep/lids.new"));
    }
  }
  EXPECT_EQ(*read_state(folder + "/deep", "turns"), "");
  ASSERT_TRUE(write_state(folder + "/deep", "turns", "a\n"));
  set_aside(folder + "/deep", "turns");
  EXPECT_EQ(*read_state(folder + "/deep", "turns"), "");
  EXPECT_TRUE(std::filesystem::exists(folder + "/deep/turns.damaged"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace smd
