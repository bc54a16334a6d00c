// The state directory of a running daemon: read at start, and written as a StateStore says what
// changed; and the last good text of every file that the configuration names.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/config/config.h"
#include "smd/state/record_store.h"
#include "smd/state/state_store.h"

namespace smd {

/// What clients left: the text of the file with its journal in it; empty where there is none.
[[nodiscard]] Parsed<std::string> read_records(const std::string& state_dir);

/// In place of the file and its journal.
Result<void> replace_records(const std::string& state_dir, const std::string& text);

/// What is there may not be all that clients left: the next start asks each of them.
[[nodiscard]] Result<void> unseal_records(const std::string& state_dir);

// The state directory has a copy of each file that the configuration names, as its text came into
// force last: the kind of the file is the name of the copy.

/// For read_named_files(). A copy that is damaged is a fault.
[[nodiscard]] FindPreviousText find_last_good(const std::string& state_dir);

/// Where the copy of a kind is that was named before, until a good file of the kind is again.
[[nodiscard]] std::string unnamed_path(const std::string& state_dir, std::string_view kind);

/// Kinds that have a copy and are not among `files`, which come into force.
[[nodiscard]] std::vector<std::string_view> find_unnamed(const std::string& state_dir,
                                                         const std::vector<NamedFile>& files);

/// Copies the good ones of `files`, which are all that come into force, and puts the copies of
/// kinds that are not among them aside.
Result<void> keep_last_good(const std::string& state_dir, const std::vector<NamedFile>& files);

/// What clients left is a file and a journal of what changed since (StateJournal), written a moment
/// after it changed, off the loop, one write at a time: a crowd of clients costs a few writes, and
/// each of them what changed.
///
/// LIDs and orders of partitions are written at once, and off the loop as well, as is each kind
/// whose write failed: a disk that hangs must not keep other managers and clients from an answer.
/// Until then the store says that LIDs are not kept, and when_saved() waits. Turns, the mark about
/// rows and CC keys are on the disk when note_change() returns.
class StateFiles {
 public:
  /// From a change of what clients left to the write. What came so shortly before a crash is lost.
  static constexpr Duration kDelay = std::chrono::milliseconds(200);

  static constexpr Duration kMostRecordsLate = std::chrono::minutes(1);

  /// Both outlive this.
  StateFiles(Runtime& runtime,
             StateStore& store,
             std::string state_dir,
             std::function<std::int64_t()> wall_ms);
  StateFiles(const StateFiles&) = delete;
  ~StateFiles();

  /// What a former life left, into the store; every fault of a file without which we do not start.
  /// Throws as load_state().
  [[nodiscard]] Faults load();

  /// Of the store.
  void note_change(const StateKind& kind);

  /// keep_last_good() of the files that come into force, and again until it succeeds.
  void keep_copies(std::vector<NamedFile> files);

  using Saved = std::function<void(const Result<void>&)>;

  /// Nobody waits longer for what he was asked for to be on the disk.
  static constexpr Duration kLongestSave = std::chrono::seconds(5);

  /// Tells once, now or later, how it went to write a kind as it is now: Io where the disk does not
  /// take it, Busy where it has not within kLongestSave.
  void when_saved(const StateKind& kind, Saved then);

  /// Kinds, and files that the configuration names, whose last write failed, and that are tried
  /// again until one succeeds, in a line; empty: none. What clients left is among them once the
  /// disk has not taken it for kMostRecordsLate: each change of theirs is another attempt.
  [[nodiscard]] std::string alarm() const;

  /// What is not written yet, now; waits for a write that is under way. Before the end of the
  /// process.
  void flush();

  /// Times that all that clients left was written, and times that what changed was.
  [[nodiscard]] std::uint64_t wholes() const { return wholes_; }

  [[nodiscard]] std::uint64_t appends() const { return appends_; }

 private:
  struct Journal;
  struct CopyTask;

  struct Waiter {
    Saved then;  // null: was told
    Timer limit;
  };

  using Waiters = std::vector<std::shared_ptr<Waiter>>;

  /// One kind as it was, being written off the loop.
  struct PendingCopy {
    StateKind kind;
    bool again = false;    // an earlier write of it failed
    bool changed = false;  // since it was printed
    Waiters waiting{};     // for what is being written
    Waiters next{};        // for what changed since
    std::shared_ptr<CopyTask> task;
  };

  [[nodiscard]] PendingCopy* find_pending(const StateKind& kind) const;
  void save(const StateKind& kind);
  void save_aside(const StateKind& kind, bool again);
  void finish_aside(const std::shared_ptr<PendingCopy>& copy, const Result<void>& written);
  void note_saved(const StateKind& kind, const Result<void>& saved, bool again);
  void save_again();
  void copy_again();
  void note_copied(const Result<void>& copied, bool again);
  ClientRecords load_records();
  void flush_records();
  void note_records();

  /// What one write does, by itself; null: nothing.
  std::function<Result<void>()> next_write();

  void write();
  void finish(const Result<void>& written);

  [[nodiscard]] Moment now() const { return {runtime_.now(), wall_ms_()}; }

  Runtime& runtime_;
  StateStore& store_;
  std::string state_dir_;
  std::function<std::int64_t()> wall_ms_;
  std::shared_ptr<Journal> journal_;  // of one write at a time
  std::optional<std::uint64_t>
      position_;                  // up to which all is written; nothing: perhaps nothing is
  std::uint64_t writing_to_ = 0;  // position_ once what is being written is
  std::uint64_t wholes_ = 0;
  std::uint64_t appends_ = 0;
  bool loaded_complete_ = true;          // what a former life left
  bool changed_ = false;                 // since what is being written was collected
  bool failed_ = false;                  // the last write: said once
  std::optional<TimePoint> late_since_;  // the first write that did not succeed, so far
  bool writing_ = false;
  std::vector<StateKind> unsaved_;                     // whose last write failed
  std::vector<std::shared_ptr<PendingCopy>> pending_;  // one of a kind at most
  Timer retry_;
  std::vector<NamedFile> uncopied_;  // of which some could not be copied; empty: all are
  bool copying_ = false;             // off the loop
  bool copies_changed_ = false;      // meanwhile
  Timer retry_copies_;
  std::future<void> written_;
  Timer timer_;
  OffloadOwner work_;
};

}  // namespace smd
