// Faults of one file, of which a person reads the first few: a damaged file has one in every line.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <utility>

#include "smd/base/result.h"

namespace smd {

class FaultList {
 public:
  explicit FaultList(std::string file, std::size_t most = 20)
      : file_(std::move(file)), most_(most) {}

  /// Line 0: the file as a whole.
  void add(int line, std::string message) {
    add_lazily(line, [&] { return std::move(message); });
  }

  /// At a column of a line.
  void add(int line, int column, std::string message) {
    add_to(fmt::format("{}:{}", file_, line), column, [&] { return std::move(message); });
  }

  /// `message` is called only where the fault is one of the first.
  template <class Message>
  void add_lazily(int line, Message&& message) {
    add_to(file_, line, message);
  }

  [[nodiscard]] bool empty() const { return faults_.empty(); }

  /// The last one says how many more there are.
  [[nodiscard]] Faults take() {
    if (more_ > 0) faults_.push_back({file_, 0, fmt::format("and {} more faults", more_)});
    return std::move(faults_);
  }

 private:
  template <class Message>
  void add_to(std::string where, int number, Message&& message) {
    if (faults_.size() < most_)
      faults_.push_back({std::move(where), number, message()});
    else
      ++more_;
  }

  std::string file_;
  std::size_t most_;
  Faults faults_;
  std::size_t more_ = 0;
};

}  // namespace smd
