// The lines that an operator types while a fabric is served: ibsim's commands and plain words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim-backend/management/sim_fabric.h"
#include "sim-backend/serve/switchboard.h"

namespace smd::sim {

class Console {
 public:
  Console(SimFabric& fabric, Switchboard& board) : fabric_(fabric), board_(board) {}

  /// Runs one line and returns what to print, with its last newline; nothing for an empty line.
  /// A line that is wrong changes nothing and is answered in one line that starts with '#'.
  std::string run(std::string_view line);

  /// The operator typed quit.
  [[nodiscard]] bool wants_to_quit() const { return quit_; }

 private:
  SimFabric& fabric_;
  Switchboard& board_;
  bool quit_ = false;
};

/// A node, and a port where one was named, as a console line names them: "sw-0-3"[5], sw-0-3[5],
/// sw-0-3:5.
struct ConsoleTarget {
  std::string node;
  bool has_port = false;
  unsigned port = 0;

  friend bool operator==(const ConsoleTarget&, const ConsoleTarget&) = default;
};

/// What a line is made of: one or two command words, then targets and numbers.
class ConsoleWords {
 public:
  explicit ConsoleWords(std::string_view line) : rest_(line) {}

  /// The next blank-separated word; empty at the end of the line.
  [[nodiscard]] std::string next_word();

  /// The next target; Malformed says what one looks like.
  [[nodiscard]] Result<ConsoleTarget> next_target();

  /// The next number; Malformed when there is none or it is above `largest`.
  [[nodiscard]] Result<unsigned> next_number(unsigned largest);

  [[nodiscard]] bool at_end();

 private:
  void skip_blanks();

  std::string_view rest_;
};

}  // namespace smd::sim
