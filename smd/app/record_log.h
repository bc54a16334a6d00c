// What clients left, as a whole and by its changes: for whoever keeps a copy, on the disk or on
// another host. Each reader has a position of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "smd/app/kept_records.h"

namespace smd::app {

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
  std::function<KeptRecords()> collect;
  std::function<std::uint64_t()> position;  // of what collect() would return now
  std::function<std::optional<std::string>(std::uint64_t position)> since;  // as RecordLog::since
};

}  // namespace smd::app
