// When what clients left is written, and what happens where it cannot be.
#include "smd/state/state_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <utility>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/base/log.h"
#include "smd/runtime/asio_runtime.h"
#include "smd/state/state_directory.h"

namespace smd {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// Tables that may know what changed in them, or not.
struct Tables final : RecordTables {
  Moment now() const override { return {}; }

  ClientRecords collect() const override { return kept; }

  bool take_changes(std::string& out) override {
    out = std::exchange(changes, {});
    return std::exchange(knows, always_knows);
  }

  void restore(const ClientRecords& records) override { kept = records; }

  ClientRecords kept;
  std::string changes;
  bool always_knows = false;
  bool knows = false;  // next time
};

struct Records : ::testing::Test {
  Records() {
    store.changed().subscribe([this](const StateKind& kind) { files.note_change(kind); });
    store.records().open(tables);
  }

  ~Records() override { std::filesystem::remove_all(folder); }

  void leave(std::uint64_t port) {
    kept.in_service.push_back(Guid{port});
    store.records().note_change();
  }

  [[nodiscard]] std::vector<Guid> read_back() {
    StateStore next;
    EXPECT_TRUE(StateFiles(runtime, next, state, [] { return 0; }).load().empty());
    return next.records().collect().in_service;
  }

  void pass(Duration time) { runtime.run_until(runtime.now() + time); }

  static std::string make_folder() {
    std::string name = testing::TempDir() + "/smd-records-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  std::string folder = make_folder();
  sim::SimRuntime runtime;
  Tables tables;
  ClientRecords& kept = tables.kept;
  std::string state = folder + "/state";
  StateStore store;
  StateFiles files{runtime, store, state, [] { return 0; }};
};

TEST_F(Records, AreWrittenAMomentAfterTheyChanged) {
  leave(1);
  pass(StateFiles::kDelay - 1ms);
  EXPECT_TRUE(read_back().empty());
  leave(2);
  pass(2ms);
  EXPECT_EQ(read_back(), (std::vector<Guid>{Guid{1}, Guid{2}})) << "both in one write";
}

TEST_F(Records, AFailedWriteIsTriedAgainUntilItSucceeds) {
  std::ofstream(state) << "a file where the directory should be";
  leave(1);
  pass(15s);
  std::filesystem::remove(state);
  pass(10s);
  EXPECT_EQ(read_back(), std::vector<Guid>{Guid{1}});
}

/// A kind that is put once would else wait for ever for its next change.
TEST_F(Records, AnotherKindThatCouldNotBeWrittenIsTriedAgainAndSaid) {
  std::ofstream(state) << "a file where the directory should be";
  store.set_sl_to_vl_mark();
  EXPECT_EQ(files.alarm(), "the state directory does not take rows; tried again every 10 s");
  pass(25s);
  EXPECT_FALSE(files.alarm().empty());
  std::filesystem::remove(state);
  pass(10s);
  EXPECT_EQ(files.alarm(), "");
  StateStore next;
  EXPECT_TRUE(StateFiles(runtime, next, state, [] { return 0; }).load().empty());
  EXPECT_TRUE(next.get().sl_to_vl_mark);
}

TEST_F(Records, AnotherKindThatCouldNotBeWrittenIsWrittenAtTheEndAtTheLatest) {
  std::ofstream(state) << "a file where the directory should be";
  store.set_sl_to_vl_mark();
  std::filesystem::remove(state);
  files.flush();
  EXPECT_TRUE(std::filesystem::exists(state + "/rows"));
}

/// A disk that hangs must not keep routes from being computed, nor routes a write.
TEST_F(Records, AreWrittenWhileRoutesAreComputed) {
  AsioRuntime real;
  StateFiles aside(real, store, state, [] { return 0; });
  std::promise<void> routed;
  real.offload([go_on = routed.get_future().share()] { go_on.wait(); }, [&real] { real.stop(); });
  kept.in_service.push_back(Guid{1});
  aside.note_change(StateKind::kClientRecords);
  const Timer limit(real, real.now() + 20s, [&routed] { routed.set_value(); });
  bool written = false;
  std::function<void()> look;
  Timer again;
  look = [&] {
    written = std::filesystem::exists(state + "/records");
    if (written) return real.stop();
    again = Timer(real, real.now() + 5ms, look);
  };
  again = Timer(real, real.now(), look);
  real.run();
  EXPECT_TRUE(written);
  if (written) routed.set_value();
}

/// Of tables that know what changed.
struct Journaled : Records {
  Journaled() { tables.knows = tables.always_knows = true; }

  void serve(std::uint64_t port) {
    const std::vector<Guid> before = kept.in_service;
    kept.in_service.push_back(Guid{port});
    print_changes(before, kept.in_service, tables.changes);
    store.records().note_change();
    pass(1s);
  }

  [[nodiscard]] std::uintmax_t bytes(const std::string& name) const {
    return std::filesystem::file_size(state + "/" + name);
  }
};

TEST_F(Journaled, AChangeCostsItselfAndNotTheFile) {
  for (std::uint64_t port = 1; port <= 2000; ++port) kept.in_service.push_back(Guid{port});
  serve(10'000);
  EXPECT_EQ(files.wholes(), 1u) << "of this life";
  const auto file = bytes("records");
  const auto empty = bytes("records.journal");
  for (std::uint64_t port = 10'001; port <= 10'010; ++port) serve(port);
  EXPECT_EQ(files.wholes(), 1u);
  EXPECT_EQ(files.appends(), 10u);
  EXPECT_EQ(bytes("records"), file);
  EXPECT_LT(bytes("records.journal") - empty, 10u * 50) << "a line each";
  EXPECT_EQ(read_back(), kept.in_service);
  store.records().note_change();
  pass(1s);
  EXPECT_EQ(files.appends(), 10u) << "nothing changed";
}

TEST_F(Journaled, AJournalThatOutgrowsItsFileBecomesOneWithIt) {
  serve(1);
  std::uintmax_t longest = 0;
  for (std::uint64_t port = 2; port <= 6000; ++port) {
    serve(port);
    longest = std::max(longest, bytes("records.journal"));
  }
  EXPECT_EQ(files.wholes(), 1u) << "nobody was asked for all of it again";
  EXPECT_GT(bytes("records"), 40'000u);
  EXPECT_LT(longest, 200'000u);
  EXPECT_EQ(read_back(), kept.in_service);
}

TEST_F(Journaled, ADamagedLineIsSaidOnceAndWhatIsBeforeItIsKept) {
  for (std::uint64_t port = 1; port <= 5; ++port) serve(port);
  std::filesystem::resize_file(state + "/records.journal", bytes("records.journal") - 3);
  const auto before = log::count(log::Level::Error);
  std::vector<Guid> left = kept.in_service;
  left.pop_back();
  EXPECT_EQ(read_back(), left);
  EXPECT_EQ(log::count(log::Level::Error), before + 1);
}

TEST_F(Journaled, AfterAGapAllIsWritten) {
  for (std::uint64_t port = 1; port <= 3; ++port) serve(port);
  kept.in_service = {Guid{77}};
  tables.knows = false;
  store.records().note_change();
  pass(1s);
  EXPECT_EQ(files.wholes(), 2u);
  EXPECT_EQ(read_back(), std::vector<Guid>{Guid{77}});
  serve(78);
  EXPECT_EQ(files.wholes(), 2u);
  EXPECT_EQ(read_back(), (std::vector<Guid>{Guid{77}, Guid{78}}));
}

TEST_F(Journaled, AFailedAppendIsFollowedByAllOfIt) {
  for (std::uint64_t port = 1; port <= 3; ++port) serve(port);
  std::filesystem::remove(state + "/records.journal");  // what an append needs
  serve(4);
  EXPECT_EQ(files.wholes(), 1u);
  pass(11s);
  EXPECT_EQ(files.wholes(), 2u);
  EXPECT_EQ(read_back(), kept.in_service);
}

TEST_F(Records, WhatIsDamagedIsPutAsideAndNothingIsKnown) {
  leave(1);
  pass(1s);
  for (const char* name : {"/records", "/records.old"}) {
    if (std::filesystem::exists(state + name)) std::filesystem::resize_file(state + name, 30);
  }
  EXPECT_TRUE(read_back().empty());
  EXPECT_TRUE(std::filesystem::exists(state + "/records.damaged"));
  leave(2);
  files.flush();
  EXPECT_EQ(read_back(), (std::vector<Guid>{Guid{1}, Guid{2}}));
}

/// What a start finds of one kind: the text, "nothing", or the fault.
std::string last_good(const std::string& state, const char* kind) {
  const auto found = find_last_good(state)(kind);
  if (!found) return print_fault(found.error().front());
  return *found ? (*found)->text : "nothing";
}

TEST_F(Records, FilesThatCameIntoForceAreKept) {
  const NamedFile roots{.kind = "roots", .text = "0x1", .faults = {}, .at = {}};
  NamedFile partitions{.kind = "partitions", .text = "A=1: ALL;\n", .faults = {}, .at = {}};
  EXPECT_EQ(last_good(state, "roots"), "nothing");
  ASSERT_TRUE(keep_last_good(state, {roots, partitions}));
  EXPECT_EQ(last_good(state, "roots"), "\n0x1\n") << "lines have the numbers of the copy's";
  EXPECT_EQ(last_good(state, "partitions"), "\nA=1: ALL;\n");
  EXPECT_EQ(last_good(state, "qos_policy"), "nothing");

  // One with faults leaves its copy, one that is not named loses it.
  partitions.text = "A=1: ALL;\nB=2: ALL;\n";
  partitions.faults = {{"partitions.conf", 1, "no"}};
  ASSERT_TRUE(keep_last_good(state, {partitions}));
  EXPECT_EQ(last_good(state, "partitions"), "\nA=1: ALL;\n");
  EXPECT_EQ(last_good(state, "roots"), "nothing");

  // A copy that is damaged gives way to its predecessor, then it is a fault.
  partitions.faults.clear();
  ASSERT_TRUE(keep_last_good(state, {partitions}));
  const std::string copy = state + "/partitions";
  std::filesystem::resize_file(copy, std::filesystem::file_size(copy) - 3);
  EXPECT_EQ(last_good(state, "partitions"), "\nA=1: ALL;\n");
  std::filesystem::remove(copy + ".old");
  EXPECT_EQ(last_good(state, "partitions"),
            copy + ": is not as it was written: its checksum is another");
  ASSERT_TRUE(keep_last_good(state, {partitions})) << "and is written anew";
  EXPECT_EQ(last_good(state, "partitions"), "\nA=1: ALL;\nB=2: ALL;\n");
}

TEST_F(Records, AFileThatCannotBeKeptIsSaid) {
  const NamedFile roots{.kind = "roots", .text = "0x1\n", .faults = {}, .at = {}};
  std::ofstream(folder + "/file") << "x";
  const auto result = keep_last_good(folder + "/file/state", {roots});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().context.find("/file/state"), std::string::npos);
}

}  // namespace
}  // namespace smd
