#include "smd/base/result.h"

#include <fmt/core.h>

namespace smd {

std::string print_fault(const Fault& fault) {
  if (fault.where.empty()) return fault.message;
  if (fault.line == 0) return fmt::format("{}: {}", fault.where, fault.message);
  return fmt::format("{}:{}: {}", fault.where, fault.line, fault.message);
}

}  // namespace smd
