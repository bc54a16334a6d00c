// The lines of a text with their numbers, and the faults found in them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "smd/base/result.h"

namespace smd::bin {

/// So much of a line that a message stays a line, with what a terminal could take for commands
/// replaced.
[[nodiscard]] std::string shorten(std::string_view text);

inline constexpr std::size_t kMaxTextFaults = 20;

class TextLines {
 public:
  TextLines(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {}

  /// False after the last line.
  bool next();

  /// Without its end, "\n" or "\r\n".
  [[nodiscard]] std::string_view text() const { return line_; }

  [[nodiscard]] int number() const { return number_; }

  void add_fault(std::string message) { add_fault_at(number_, std::move(message)); }

  /// Line 0: the file as a whole. Beyond kMaxTextFaults nothing is added.
  void add_fault_at(int line, std::string message) {
    if (faults_.size() < kMaxTextFaults) faults_.push_back({file_, line, std::move(message)});
  }

  [[nodiscard]] bool full() const { return faults_.size() >= kMaxTextFaults; }

  [[nodiscard]] const Faults& faults() const { return faults_; }

  [[nodiscard]] Faults take_faults() { return std::move(faults_); }

 private:
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
  std::string file_;
  Faults faults_;
};

}  // namespace smd::bin
