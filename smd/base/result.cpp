#include "smd/base/result.h"

#include <fmt/core.h>

#include "smd/base/text.h"

namespace smd {

std::string print_fault(const Fault& fault) {
  if (fault.where.empty()) return printable(fault.message);
  if (fault.line == 0) return printable(fmt::format("{}: {}", fault.where, fault.message));
  return printable(fmt::format("{}:{}: {}", fault.where, fault.line, fault.message));
}

}  // namespace smd
