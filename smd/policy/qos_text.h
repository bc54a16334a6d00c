// Words and lines of qos-policy.conf, and what is said of those that are wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/policy/qos_file.h"

namespace smd::qos_text {

// The values of qos-policy.conf, and what is said of those that are none.

inline constexpr std::uint64_t kMostOfGuid = ~std::uint64_t{0};

[[nodiscard]] std::string lowered(std::string_view text);

[[nodiscard]] std::string unquoted(std::string_view text);

/// Trimmed parts; one where there is no `by`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char by);

class Values {
 public:
  explicit Values(const std::string& file) : file_(file) {}

  /// Where faults are from now on. `text` is the line, and stays as long.
  void go_to(int line, std::string_view text = {}) {
    line_ = line;
    text_ = text;
  }

  [[nodiscard]] int line() const { return line_; }

  /// None, and a fault, unless it is a number within these. Requires: max <= 255.
  std::optional<std::uint8_t> number(std::string_view what,
                                     std::string_view text,
                                     std::uint64_t min,
                                     std::uint64_t max);

  /// Numbers and ranges of them between commas.
  void ranges(std::string_view what,
              std::string_view text,
              std::uint64_t max,
              std::vector<NumberRange>& to);

  /// Membership does not count: 0x8001 is partition 1. A range lies on one side of bit 15.
  void keys(std::string_view what, std::string_view text, std::vector<NumberRange>& to);

  void fault(std::string message) { fault_at(line_, std::move(message)); }

  /// Of a word of the line.
  void fault_of(std::string_view word, std::string message);

  /// Twenty are kept.
  void fault_at(int line, std::string message);

  [[nodiscard]] Faults& faults() { return faults_; }

 private:
  const std::string& file_;
  int line_ = 0;
  std::string_view text_;
  Faults faults_;
};

// A line of the qos-ulps section: an application, and the SL of its paths.

struct Ulp {
  int line = 0;
  std::uint8_t sl = 0;
  bool is_default = false;  // of what no rule matches
  QosMatch match;
  std::vector<NumberRange> sources;  // GUIDs
  std::vector<NumberRange> targets;
  bool either = false;  // a source or a target is enough
};

/// "sdp, port-num 10000-20000 : 3". None, and a fault, where it is none.
[[nodiscard]] std::optional<Ulp> read_ulp(Values& values, std::string_view text);

}  // namespace smd::qos_text
