#include "smd/base/program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "smd/base/text.h"

namespace smd {
namespace {

/// Written down before memory is short.
std::string& last_words() {
  static std::string line;
  return line;
}

[[noreturn]] void end_without_memory() {
  const std::string& line = last_words();
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  // Nothing is unwound: handlers and threads would ask for more memory.
  ::_exit(kExitFailed);
}

/// fmt::print would throw where standard error takes no more either.
void complain(const char* name, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", name, why.c_str());
}

/// Where a file system notices a full disk only when a file is closed, this is when.
bool close_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return false;
  const int copy = ::dup(STDOUT_FILENO);
  return copy < 0 || ::close(copy) == 0;
}

}  // namespace

int print_faults(const Faults& faults) {
  for (const Fault& fault : faults) fmt::print(stderr, "{}\n", print_fault(fault));
  return kExitBadInput;
}

int wrong_line(std::string program, std::string what) {
  return print_faults({{std::move(program), 0, std::move(what)}});
}

int run_program(const char* name, const std::function<int()>& body) {
  last_words() = fmt::format("{}: out of memory\n", name);
  std::set_new_handler(end_without_memory);
  int code = kExitFailed;
  std::string why;
  try {
    code = body();
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (const std::length_error&) {  // more than any machine has
    end_without_memory();
  } catch (const std::system_error& e) {  // fmt::print, on a stream that takes nothing more
    why = e.code().message();
  }
  if (!why.empty() && std::ferror(stdout) == 0) {
    complain(name, why);
    return kExitFailed;
  }
  errno = 0;
  if (why.empty() && close_output()) return code;
  if (why.empty()) why = errno != 0 ? std::strerror(errno) : "not all of it was written";
  complain(name, "standard output: " + why);
  return code == 0 ? kExitFailed : code;
}

std::string check_number(const std::string& text, double least, double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // What is no number compares with nothing.
  const bool fits =
      error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most;
  if (fits) return "";
  return fmt::format("'{}' is no number from {} to {}", printable(text), least, most);
}

}  // namespace smd
