// What smctl can ask: a table of commands, and the one line of JSON that each request and each
// answer is. The grammar is docs/formats/admin-socket.md.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "smd/base/result.h"

namespace smd {

class CommandTable {
 public:
  /// `args` is always an object. A JSON exception that leaves the handler (an argument of the wrong
  /// type) becomes an error answer.
  using Handler = std::function<Result<nlohmann::json>(const nlohmann::json& args)>;

  /// Has one command from the start, `help`, which lists all of them.
  CommandTable();
  CommandTable(const CommandTable&) = delete;

  /// Requires: no command of that name yet. `help` is half a line: what it answers, and its
  /// arguments.
  void add(std::string name, std::string help, Handler handler);

  /// Runs one request. Total: any bytes get an answer, which is one line without its end.
  [[nodiscard]] std::string answer(std::string_view request) const;

 private:
  struct Command {
    std::string help;
    Handler handler;
  };

  std::map<std::string, Command, std::less<>> commands_;
};

/// The answer to what never became a request.
[[nodiscard]] std::string print_error_answer(std::string_view error);

// A guard for JSON from outside: copying and printing a value recurse, so its nesting is bounded
// before it is parsed.

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
