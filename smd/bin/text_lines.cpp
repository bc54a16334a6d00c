#include "smd/bin/text_lines.h"

#include <algorithm>

namespace smd::bin {

std::string shorten(std::string_view text) {
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

bool TextLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

}  // namespace smd::bin
