// What clients left, as a whole and by its changes: a log of changes for whoever keeps a copy, on
// the disk or on another host, and the copy on the disk.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "smd/state/client_records.h"

namespace smd {

/// Changes as print_changes() has them, one entry after the other; only so much of them.
class RecordLog {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  void append(std::string changes);

  /// What was there is not what it was, in a way that no change says.
  void restart();

  [[nodiscard]] std::uint64_t end() const { return first_ + entries_.size(); }

  /// What changed since end() was `position`; nothing: all of it may have.
  [[nodiscard]] std::optional<std::string> since(std::uint64_t position) const;

 private:
  std::uint64_t first_ = 1;
  std::deque<std::string> entries_;
  std::size_t bytes_ = 0;
};

/// Without `since` it is always all that is asked for.
struct RecordSource {
  std::function<ClientRecords()> collect;
  std::function<std::uint64_t()> position;  // of what collect() would return now
  std::function<std::optional<std::string>(std::uint64_t position)> since;  // as RecordLog::since
};

// Keeps what clients left with the administration in the state directory: a file and a journal of
// what changed since (state_journal.h). Written a moment after it changed, off the loop, one write
// at a time: a crowd of clients costs a few writes, and each of them what changed.

/// The text of the file with its journal in it; empty where there is none.
[[nodiscard]] Parsed<std::string> read_records(const std::string& state_dir);

/// In place of the file and its journal.
Result<void> replace_records(const std::string& state_dir, const std::string& text);

class RecordStore {
 public:
  /// From a change to the write. What came so shortly before a crash is lost.
  static constexpr Duration kDelay = std::chrono::milliseconds(200);

  RecordStore(Runtime& runtime, std::string state_dir, std::function<std::int64_t()> wall_ms);
  RecordStore(const RecordStore&) = delete;

  /// What a former life left; nothing where there is none. A file that is damaged is put aside and
  /// said so: clients register again with a manager that does not know them.
  [[nodiscard]] ClientRecords load();

  /// Asked for what to write, when it is time. All is written once, then what changed.
  void set_source(RecordSource source);

  void note_change();

  /// Now, if anything changed that was not written; waits for a write that is under way. Before the
  /// end of the process.
  void flush();

  /// Times that all was written, and times that what changed was.
  [[nodiscard]] std::uint64_t wholes() const { return wholes_; }

  [[nodiscard]] std::uint64_t appends() const { return appends_; }

 private:
  struct Files;

  /// What one write does, by itself; null: nothing.
  std::function<Result<void>()> next_write();

  void write();
  void finish(const Result<void>& written);

  [[nodiscard]] Moment now() const { return {runtime_.now(), wall_ms_()}; }

  Runtime& runtime_;
  std::string state_dir_;
  std::function<std::int64_t()> wall_ms_;
  RecordSource source_;
  std::shared_ptr<Files> files_;  // of one write at a time
  std::optional<std::uint64_t>
      position_;  // up to which all is written; nothing: perhaps nothing is
  std::optional<std::uint64_t> writing_to_;  // position_ once what is being written is
  std::uint64_t wholes_ = 0;
  std::uint64_t appends_ = 0;
  bool changed_ = false;  // since what is being written was collected
  bool failed_ = false;   // the last write: said once
  bool writing_ = false;
  std::future<void> written_;
  Timer timer_;
  OffloadOwner work_;
};

}  // namespace smd
