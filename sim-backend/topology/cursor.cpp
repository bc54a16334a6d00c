#include "sim-backend/topology/cursor.h"

#include <algorithm>
#include <charconv>

namespace smd::sim {
namespace {

constexpr std::string_view kBlanks = " \t";

}  // namespace

void Cursor::skip_space() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
}

bool Cursor::eat(char c) {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

bool Cursor::eat(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

std::string_view Cursor::word() {
  const std::size_t length = std::min(rest_.find_first_of(kBlanks), rest_.size());
  const std::string_view found = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return found;
}

std::optional<std::string_view> Cursor::quoted() {
  if (!rest_.starts_with('"')) return std::nullopt;
  const std::size_t end = rest_.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view found = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return found;
}

std::optional<std::uint64_t> Cursor::number() {
  if (rest_.starts_with("0x") || rest_.starts_with("0X")) return hex();
  return digits(10);
}

std::optional<std::uint64_t> Cursor::hex() {
  const Cursor before = *this;
  if (!eat("0x")) eat("0X");
  const auto value = digits(16);
  if (!value) *this = before;
  return value;
}

std::optional<std::uint64_t> Cursor::digits(int base) {
  std::uint64_t value = 0;
  const char* const end = rest_.data() + rest_.size();
  const auto [stop, error] = std::from_chars(rest_.data(), end, value, base);
  if (error != std::errc{}) return std::nullopt;
  rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
  return value;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace smd::sim
