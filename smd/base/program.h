// What every program does around its main function, and how it ends when the machine lets it down.
#pragma once

#include <functional>
#include <string>

#include "smd/base/result.h"

namespace smd {

// Exit codes of every program; 0 is success.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadInput = 2;

/// Prints each on stderr, a line each, and returns kExitBadInput.
[[nodiscard]] int print_faults(const Faults& faults);

/// A command line of `program` is at fault: one line on stderr, and kExitBadInput.
int wrong_line(std::string program, std::string what);

/// Runs `body` and returns the exit code of the program called `name`: what `body` returns, or 1
/// with one line on stderr where all of standard output could not be written. From the call on,
/// lack of memory, in any thread, is one line and exit code 1. Requires: called once, from main.
[[nodiscard]] int run_program(const char* name, const std::function<int()>& body);

/// Why `text` is no finite number from `least` to `most`, for an option of a command line; empty
/// when it is one.
[[nodiscard]] std::string check_number(const std::string& text, double least, double most);

}  // namespace smd
