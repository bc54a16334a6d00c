// What clients left, as a whole and by its changes, for whoever keeps a copy on the disk or on
// another host (decision 37).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

/// What holds the records while a subnet is managed. They are too many to be put at every change:
/// they are asked for.
class RecordTables {
 public:
  virtual ~RecordTables() = default;

  [[nodiscard]] virtual Moment now() const = 0;
  [[nodiscard]] virtual ClientRecords collect() const = 0;

  /// What changed since the last call, as print_changes() has it; false: anything may have.
  [[nodiscard]] virtual bool take_changes(std::string& out) = 0;

  /// In place of what they have.
  virtual void restore(const ClientRecords& records) = 0;
};

/// Of tables that are open; of what was left when they were closed; while we stand by, of the
/// master.
class RecordStore {
 public:
  /// `on_change`: what is kept is not what it was.
  explicit RecordStore(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  RecordStore(const RecordStore&) = delete;

  /// What a former life left, before tables are opened.
  void load(ClientRecords left) { left_ = std::move(left); }

  /// `tables` take what was left, and hold it until close().
  void open(RecordTables& tables);
  void close();

  /// What is kept says of whom it may lack something: tables that took what was left do, since they
  /// count nobody as in service who has to be asked.
  [[nodiscard]] bool is_complete() const { return tables_ != nullptr || left_.complete; }

  /// Of the open tables.
  void note_change() { on_change_(); }

  [[nodiscard]] ClientRecords collect() const;

  /// Where the log of changes ends, for what collect() returns now; never 0.
  [[nodiscard]] std::uint64_t position();

  /// What changed since position() was that; nothing: all of it may have.
  [[nodiscard]] std::optional<std::string> since(std::uint64_t position);

  /// In place of what the open tables have: as the master keeps it whom we may succeed.
  void replace(const ClientRecords& records);

  /// What the master says changed of it since, by a clock that is `ahead_ms` before ours; false
  /// when it cannot be read. Requires: tables are open.
  [[nodiscard]] bool apply(std::string_view changes, std::int64_t ahead_ms);

  /// What was the master's is ours, and goes into the tables.
  void adopt_copy();

 private:
  void note_in_log();
  [[nodiscard]] Moment runtime_moment() const;

  std::function<void()> on_change_;
  ClientRecords left_;
  RecordTables* tables_ = nullptr;
  RecordLog log_;
  std::optional<RecordLines> copy_;  // of what the master keeps, where that was changed since; its
                                     // times are the runtime's
};

}  // namespace smd
