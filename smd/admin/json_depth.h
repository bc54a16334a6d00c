// A guard for JSON from outside: copying and printing a value recurse, so its nesting is bounded
// before it is parsed.
#pragma once

#include <string_view>

namespace smd {

/// No request or answer of ours nests deeper.
inline constexpr int kDeepestJson = 32;

/// Whether brackets nest deeper than kDeepestJson. Text that is no JSON may give either answer.
[[nodiscard]] constexpr bool nests_too_deep(std::string_view json) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace smd
