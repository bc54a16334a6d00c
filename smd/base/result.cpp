#include "smd/base/result.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "smd/base/check.h"
#include "smd/base/text.h"

namespace smd {

std::string print_fault(const Fault& fault) {
  if (fault.where.empty()) return printable(fault.message);
  if (fault.line == 0) return printable(fmt::format("{}: {}", fault.where, fault.message));
  return printable(fmt::format("{}:{}: {}", fault.where, fault.line, fault.message));
}

void check_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "smd: bug at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace smd
