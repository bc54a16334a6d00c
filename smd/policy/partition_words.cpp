// Numbers and addresses of the partition file.
#include <charconv>

#include "smd/policy/partition_text.h"

namespace smd::partition_text {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::uint64_t> read_number(std::string_view word) {
  int base = 10;
  if (word.starts_with("0x") || word.starts_with("0X")) {
    base = 16;
    word.remove_prefix(2);
  } else if (word.size() > 1 && word.front() == '0') {
    base = 8;
  }
  std::uint64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number, base);
  if (word.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<Gid> read_gid(std::string_view word) {
  std::array<std::uint16_t, 8> head{};
  std::array<std::uint16_t, 8> tail{};
  std::size_t heads = 0;
  std::size_t tails = 0;
  bool gap = false;
  if (word.starts_with("::")) {
    gap = true;
    word.remove_prefix(2);
  }
  while (!word.empty()) {
    unsigned group = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, group, 16);
    if (error != std::errc{} || group > 0xffff || stop - word.data() > 4) return std::nullopt;
    if (heads + tails == 8) return std::nullopt;
    (gap ? tail[tails++] : head[heads++]) = static_cast<std::uint16_t>(group);
    word.remove_prefix(static_cast<std::size_t>(stop - word.data()));
    if (word.empty()) break;
    if (word.starts_with("::")) {
      if (gap) return std::nullopt;
      gap = true;
      word.remove_prefix(2);
    } else if (word.front() == ':' && word.size() > 1) {
      word.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  if (gap ? heads + tails > 7 : heads != 8) return std::nullopt;
  for (std::size_t i = 0; i < tails; ++i) head[8 - tails + i] = tail[i];
  const auto half = [&head](std::size_t from) {
    std::uint64_t bits = 0;
    for (std::size_t i = from; i < from + 4; ++i) bits = bits << 16 | head[i];
    return bits;
  };
  return Gid{half(0), Guid{half(4)}};
}

}  // namespace smd::partition_text
