// The lines of a text with their numbers, and the faults found in them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "smd/base/result.h"

namespace smd::bin {

/// So much of a line that a message stays a line, with what a terminal could take for commands
/// replaced.
[[nodiscard]] inline std::string shorten(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string out(text.substr(0, kShown));
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  // A character of several bytes is shown whole or not at all.
  if (text.size() > kShown) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
    out += "…";
  }
  return out;
}

inline constexpr std::size_t kMaxTextFaults = 20;

class TextLines {
 public:
  /// A byte order mark before the first line is none of its characters.
  TextLines(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kMark)) rest_.remove_prefix(kMark.size());
  }

  /// False after the last line.
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    return true;
  }

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
