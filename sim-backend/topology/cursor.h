// Reading one line of text from left to right. Nothing here fails loudly: a reader that does not
// find what it wants leaves the position alone and says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smd::sim {

class Cursor {
 public:
  explicit Cursor(std::string_view rest) : rest_(rest) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  void skip_space();
  bool eat(char c);
  bool eat(std::string_view word);

  /// Up to the next blank.
  std::string_view word();

  /// The text between double quotes.
  std::optional<std::string_view> quoted();

  /// Decimal, or hexadecimal after 0x.
  std::optional<std::uint64_t> number();

  /// Hexadecimal, with or without 0x.
  std::optional<std::uint64_t> hex();

 private:
  std::optional<std::uint64_t> digits(int base);

  std::string_view rest_;
};

[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace smd::sim
