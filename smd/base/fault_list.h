// Faults of one file, of which a person reads the first few: a damaged file has one in every line.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "smd/base/result.h"
#include "smd/base/text.h"

namespace smd {

/// Where `word` begins in `line`, in bytes from 1; 0 where it is no part of it.
[[nodiscard]] inline int column_of(std::string_view line, std::string_view word) {
  const std::less<> before;
  if (before(word.data(), line.data()) || before(line.data() + line.size(), word.data())) return 0;
  return static_cast<int>(word.data() - line.data()) + 1;
}

/// "the nearest is WORD; ", or nothing where half of the letters would have to change.
[[nodiscard]] inline std::string name_nearest(std::string_view word,
                                              std::span<const std::string_view> known) {
  const std::string_view nearest = find_nearest(word, known);
  if (word == nearest || 2 * edit_distance(word, nearest) >= std::max(word.size(), nearest.size()))
    return "";
  return fmt::format("the nearest is {}; ", nearest);
}

/// Of one file, as people read it: by line, then by column. What the file as a whole lacks comes
/// first.
inline void sort_by_place(Faults& faults) {
  std::ranges::stable_sort(
      faults, {}, [](const Fault& each) { return std::pair(each.line, each.column); });
}

class FaultList {
 public:
  explicit FaultList(std::string file, std::size_t most = 20)
      : file_(std::move(file)), most_(most) {}

  /// Line 0: the file as a whole.
  void add(int line, std::string message) {
    add_lazily(line, 0, [&] { return std::move(message); });
  }

  /// At a column of a line.
  void add(int line, int column, std::string message) {
    add_lazily(line, column, [&] { return std::move(message); });
  }

  /// `message` is called only where the fault is one of the first.
  template <class Message>
  void add_lazily(int line, int column, Message&& message) {
    if (faults_.size() < most_)
      faults_.push_back({file_, line, message(), column});
    else
      ++more_;
  }

  [[nodiscard]] bool empty() const { return faults_.empty(); }

  /// The last one says how many more there are.
  [[nodiscard]] Faults take() {
    if (more_ > 0) faults_.push_back({file_, 0, fmt::format("and {} more faults", more_)});
    return std::move(faults_);
  }

 private:
  std::string file_;
  std::size_t most_;
  Faults faults_;
  std::size_t more_ = 0;
};

}  // namespace smd
