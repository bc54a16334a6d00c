// When what clients left is written, and what happens where it cannot be.
#include "smd/state/state_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <utility>

#include "sim-backend/kernel/sim_runtime.h"
#include "smd/base/log.h"
#include "smd/runtime/asio_runtime.h"
#include "smd/state/state_directory.h"
#include "tests/support/files.h"
#include "tests/support/holding_runtime.h"

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

TEST_F(Records, ThatTheDiskDoesNotTakeForLongAreSaid) {
  std::ofstream(state) << "a file where the directory should be";
  leave(1);
  pass(50s);
  EXPECT_EQ(files.alarm(), "") << "the log says so";
  leave(2);
  pass(11s);
  EXPECT_EQ(files.alarm(), "the state directory does not take records; tried again every 10 s");
  std::filesystem::remove(state);
  pass(10s);
  EXPECT_EQ(files.alarm(), "");
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

/// However long it is, and off the loop, which would feel that it is read once more.
TEST_F(Records, LinksThatTheNextStartWouldRefuseAreNotWritten) {
  const StateKind broken{StateKind::kMKeyLinks.name,
                         StateKind::kMKeyLinks.loss,
                         [](const PersistentState&) { return fmt::format("{:x<100000}\n", ""); },
                         StateKind::kMKeyLinks.parse};
  files.note_change(broken);
  pass(1s);
  EXPECT_EQ(files.alarm(), "the state directory does not take m_key_links; tried again every 10 s");
  EXPECT_FALSE(std::filesystem::exists(state + "/m_key_links"));
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

LidBook book_of(std::uint64_t port, std::uint16_t lid) {
  return {{Guid{port}, {.base = Lid{lid}}}};
}

/// Work aside waits until it is asked for.
struct Lids : Records {
  Lids() {
    holding.holds = true;
    book_store.changed().subscribe([this](const StateKind& kind) { aside.note_change(kind); });
  }

  /// The oldest write that waits.
  void write_one() {
    ASSERT_FALSE(holding.held.empty());
    const auto [work, then] = std::move(holding.held.front());
    holding.held.erase(holding.held.begin());
    work();
    then();
  }

  [[nodiscard]] PersistentState on_disk() const {
    auto found = load_state(state);
    EXPECT_TRUE(found);
    return found ? *found : PersistentState{};
  }

  test::HoldingRuntime holding{runtime};
  StateStore book_store;
  StateFiles aside{holding, book_store, state, [] { return 0; }};
};

TEST_F(Lids, AreKeptWhenTheyAreWrittenAndTheLastOnesStay) {
  EXPECT_TRUE(book_store.is_kept());
  book_store.put_lids(book_of(1, 5));
  EXPECT_FALSE(book_store.is_kept());
  book_store.put_lids(book_of(1, 6));
  book_store.put_lids(book_of(1, 7));
  ASSERT_EQ(holding.held.size(), 1u) << "one write at a time";
  write_one();
  EXPECT_EQ(on_disk().lids, book_of(1, 5));
  EXPECT_FALSE(book_store.is_kept()) << "there are newer ones";
  write_one();
  EXPECT_EQ(on_disk().lids, book_of(1, 7));
  EXPECT_TRUE(book_store.is_kept());
  EXPECT_TRUE(holding.held.empty());
}

TEST_F(Lids, ThatCouldNotBeWrittenAreTriedAgainAside) {
  std::ofstream(state) << "a file where the directory should be";
  const auto errors = log::count(log::Level::Error);
  book_store.put_lids(book_of(1, 5));
  EXPECT_EQ(aside.alarm(), "");
  write_one();
  EXPECT_EQ(log::count(log::Level::Error), errors + 1);
  EXPECT_EQ(aside.alarm(), "the state directory does not take lids; tried again every 10 s");
  EXPECT_TRUE(book_store.is_kept()) << "the log says that they are not, and nobody waits for it";
  for (int retry = 0; retry < 2; ++retry) {
    pass(10s);
    write_one();
  }
  EXPECT_EQ(log::count(log::Level::Error), errors + 1) << "said once";
  std::filesystem::remove(state);
  pass(10s);
  EXPECT_FALSE(std::filesystem::exists(state));
  write_one();
  EXPECT_EQ(aside.alarm(), "");
  EXPECT_EQ(on_disk().lids, book_of(1, 5));
}

TEST_F(Lids, AKindThatTheNextStartWouldRefuseIsNotWrittenAndSaid) {
  const SwitchRanks good{{Guid{0x10}, 1}};
  book_store.put_directions(good);
  write_one();
  book_store.put_directions({{Guid{}, 1}});
  write_one();
  EXPECT_EQ(aside.alarm(), "the state directory does not take directions; tried again every 10 s");
  EXPECT_EQ(on_disk().directions, good);
  book_store.put_directions({{Guid{0x20}, 1}});
  write_one();
  EXPECT_EQ(aside.alarm(), "");
}

/// Whoever puts it needs to know at once how it went.
TEST_F(Lids, AnotherKindIsWrittenAtOnceAndAfterTheWriteOfItThatIsUnderWay) {
  std::ofstream(state) << "a file where the directory should be";
  book_store.put_cc_keys({cc::CcKey{5}});
  EXPECT_NE(aside.alarm(), "");
  pass(10s);
  ASSERT_EQ(holding.held.size(), 1u) << "tried again";
  EXPECT_TRUE(book_store.is_kept()) << "of LIDs";
  std::filesystem::remove(state);
  book_store.put_cc_keys({cc::CcKey{6}});
  EXPECT_EQ(aside.alarm(), "");
  EXPECT_EQ(on_disk().cc_keys, std::vector{cc::CcKey{6}});
  write_one();
  EXPECT_EQ(on_disk().cc_keys, std::vector{cc::CcKey{6}}) << "the older one is not written late";
  EXPECT_EQ(aside.alarm(), "");
  pass(20s);
  EXPECT_TRUE(holding.held.empty());
}

/// Who is told waits for what he put, and not for what was put before or after him.
TEST_F(Lids, OrdersOfPartitionsAreWrittenAsideAsWellAndWhoeverAsksIsTold) {
  const auto order = [](std::uint16_t key) {
    return PartitionOrders{{.key = key, .name = "A", .created = true}};
  };
  std::vector<std::string> told;
  const auto ask = [&](const std::string& who) {
    aside.when_saved(StateKind::kPartitionOrders, [&told, who](const Result<void>& saved) {
      told.push_back(saved ? who : who + ": " + saved.error().context);
    });
  };
  book_store.put_partition_orders(order(1));
  ask("one");
  book_store.put_partition_orders(order(2));
  ask("two");
  EXPECT_TRUE(told.empty());
  EXPECT_TRUE(on_disk().partitions.empty());
  write_one();
  EXPECT_EQ(told, std::vector<std::string>{"one"});
  EXPECT_EQ(on_disk().partitions, order(1));
  write_one();
  EXPECT_EQ(told, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(on_disk().partitions, order(2));
  ask("later");
  EXPECT_EQ(told.back(), "later") << "it is on the disk already";
  told.clear();
  book_store.put_partition_orders(order(3));
  ask("slow");
  pass(4s);
  EXPECT_TRUE(told.empty());
  pass(2s);
  EXPECT_EQ(told, std::vector<std::string>{"slow: the disk has not taken it within 5 s"});
  write_one();
  EXPECT_EQ(told.size(), 1u) << "once";
  told.clear();
  std::filesystem::remove_all(state);
  std::ofstream(state) << "a file where the directory should be";
  book_store.put_partition_orders(order(4));
  ask("full");
  write_one();
  ask("after that");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].find("full: "), 0u) << told[0];
  EXPECT_EQ(told[1], "after that: the state directory does not take it");
}

TEST_F(Lids, AreOnTheDiskAtTheEnd) {
  book_store.put_lids(book_of(1, 5));
  book_store.put_lids(book_of(1, 6));
  aside.flush();
  EXPECT_EQ(on_disk().lids, book_of(1, 6));
  EXPECT_TRUE(book_store.is_kept());
  write_one();
  EXPECT_EQ(on_disk().lids, book_of(1, 6));
  EXPECT_TRUE(holding.held.empty());
}

TEST_F(Lids, AreKeptWhereNobodyWritesThemAnyMore) {
  StateStore other;
  {
    StateFiles gone(holding, other, state, [] { return 0; });
    gone.note_change(StateKind::kLids);
    EXPECT_FALSE(other.is_kept());
  }
  EXPECT_TRUE(other.is_kept());
}

/// Who opens it to write waits for a reader, as for a disk that does not answer.
TEST_F(Lids, OfADiskThatHangsKeepNobodyWaiting) {
  std::filesystem::create_directories(state);
  const std::string pipe = state + "/lids.new";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  AsioRuntime real;
  StateStore hanging;
  StateFiles on_it(real, hanging, state, [] { return 0; });
  hanging.changed().subscribe([&](const StateKind& kind) { on_it.note_change(kind); });
  hanging.put_lids(book_of(1, 5));
  hanging.put_lids(book_of(1, 6));
  int reader = -1;
  const Timer answer(real, real.now() + 50ms, [&] {
    EXPECT_FALSE(hanging.is_kept());
    reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a pipe takes no fsync
  });
  const Timer limit(real, real.now() + 20s, [&] { real.stop(); });
  std::function<void()> look;
  Timer again;
  look = [&] {
    if (hanging.is_kept()) return real.stop();
    again = Timer(real, real.now() + 5ms, look);
  };
  again = Timer(real, real.now(), look);
  real.run();
  EXPECT_TRUE(hanging.is_kept());
  EXPECT_EQ(on_disk().lids, book_of(1, 6));
  EXPECT_EQ(on_it.alarm(), "");
  ::close(reader);
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

/// Whether nothing is missing of what a start finds.
bool is_complete(sim::SimRuntime& runtime, const std::string& state) {
  StateStore next;
  EXPECT_TRUE(StateFiles(runtime, next, state, [] { return 0; }).load().empty());
  return next.records().collect().complete;
}

TEST_F(Journaled, AreCompleteAfterAnEndInOrderAndOnce) {
  serve(1);
  serve(2);
  EXPECT_FALSE(is_complete(runtime, state)) << "more may have come";
  files.flush();
  EXPECT_TRUE(is_complete(runtime, state));
  EXPECT_FALSE(is_complete(runtime, state)) << "that life did not end in order";
}

TEST_F(Journaled, AreCompleteOnlyAsTheyWere) {
  for (std::uint64_t port = 1; port <= 3; ++port) serve(port);
  files.flush();
  const std::string good = folder + "/good";
  std::filesystem::copy(state, good);
  const auto complete_with = [&](const std::string& name, auto damage) {
    std::filesystem::remove_all(state);
    std::filesystem::copy(good, state);
    damage(state + "/" + name);
    return is_complete(runtime, state);
  };
  EXPECT_TRUE(complete_with("", [](const std::string&) {}));
  EXPECT_FALSE(complete_with("records.journal", [](const std::string& file) {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  }));
  EXPECT_FALSE(complete_with("records.journal", [](const std::string& file) {
    std::fstream(file, std::ios::in | std::ios::out | std::ios::ate) << "what";
  })) << "a line was begun";
  EXPECT_FALSE(complete_with("records.journal",
                             [](const std::string& file) { std::filesystem::remove(file); }));
  EXPECT_FALSE(complete_with(
      "records.complete", [](const std::string& file) { std::filesystem::resize_file(file, 9); }));
  EXPECT_FALSE(complete_with("records", [&](const std::string&) {
    EXPECT_TRUE(replace_records(state, "port 0x0000000000000007\n")) << "as by an import";
  }));
}

TEST_F(Records, ThatCouldNotBeWrittenAreNotComplete) {
  leave(1);
  pass(1s);
  std::filesystem::create_directories(state + "/records.new/x");
  leave(2);
  files.flush();
  EXPECT_FALSE(is_complete(runtime, state));
}

TEST_F(Records, OfALifeThatNobodyUsedAreAsCompleteAsBefore) {
  leave(1);
  pass(1s);
  for (const bool whole : {false, true}) {
    if (whole) files.flush();
    {
      StateStore next;
      StateFiles unused(runtime, next, state, [] { return 0; });
      EXPECT_TRUE(unused.load().empty());
      unused.flush();
    }
    EXPECT_EQ(is_complete(runtime, state), whole);
  }
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

  // One with faults leaves its copy, that of one that is not named is nobody's from then on.
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

TEST_F(Records, ACopyOfAKindThatIsNotNamedAnyMoreStaysBesideUntilOneIs) {
  const NamedFile roots{.kind = "roots", .text = "0x1\n", .faults = {}, .at = {}};
  NamedFile partitions{.kind = "partitions", .text = "A=1: ALL;\n", .faults = {}, .at = {}};
  EXPECT_THAT(find_unnamed(state, {}), testing::IsEmpty());
  ASSERT_TRUE(keep_last_good(state, {roots, partitions}));
  EXPECT_THAT(find_unnamed(state, {roots, partitions}), testing::IsEmpty());
  EXPECT_THAT(find_unnamed(state, {roots}), testing::ElementsAre("partitions"));
  ASSERT_TRUE(keep_last_good(state, {roots}));
  EXPECT_THAT(find_unnamed(state, {roots}), testing::IsEmpty()) << "said once";
  EXPECT_EQ(last_good(state, "partitions"), "nothing") << "not in force for another file";
  EXPECT_NE(test::read_text(state + "/partitions.unnamed").find("A=1: ALL;\n"), std::string::npos);
  ASSERT_TRUE(keep_last_good(state, {roots}));
  EXPECT_TRUE(std::filesystem::exists(state + "/partitions.unnamed"));

  // A file with faults is no other one yet.
  partitions.faults = {{"partitions.conf", 1, "no"}};
  ASSERT_TRUE(keep_last_good(state, {roots, partitions}));
  EXPECT_TRUE(std::filesystem::exists(state + "/partitions.unnamed"));
  partitions.faults.clear();
  ASSERT_TRUE(keep_last_good(state, {roots, partitions}));
  EXPECT_EQ(last_good(state, "partitions"), "\nA=1: ALL;\n");
  EXPECT_FALSE(std::filesystem::exists(state + "/partitions.unnamed"));
}

TEST_F(Records, AFileThatCannotBeKeptIsSaid) {
  const NamedFile roots{.kind = "roots", .text = "0x1\n", .faults = {}, .at = {}};
  std::ofstream(folder + "/file") << "x";
  const auto result = keep_last_good(folder + "/file/state", {roots});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().context.find("/file/state"), std::string::npos);
}

// As on a disk that is full for a while: a folder stands where the copy is to be written.
TEST_F(Records, ACopyThatCannotBeWrittenIsTriedAgainUntilItCan) {
  NamedFile partitions{.kind = "partitions", .text = "A=1: ALL;\n", .faults = {}, .at = {}};
  files.keep_copies({partitions});
  EXPECT_EQ(files.alarm(), "");
  const std::string in_the_way = state + "/partitions.new";
  std::filesystem::create_directories(in_the_way + "/x");
  partitions.text = "A=1: ALL;\nB=2: ALL;\n";
  files.keep_copies({partitions});
  const std::string alarm =
      "the state directory does not take copies of files that the configuration names; tried again "
      "every 10 s";
  EXPECT_EQ(files.alarm(), alarm);
  pass(30s);
  EXPECT_EQ(files.alarm(), alarm);
  EXPECT_EQ(last_good(state, "partitions"), "\nA=1: ALL;\n");
  std::filesystem::remove_all(in_the_way);
  pass(11s);
  EXPECT_EQ(files.alarm(), "");
  EXPECT_EQ(last_good(state, "partitions"), "\nA=1: ALL;\nB=2: ALL;\n");
}

}  // namespace
}  // namespace smd
