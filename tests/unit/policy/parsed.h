// What a reader of a file of the site says, for tests: its reading, or the faults as they are
// printed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "smd/base/result.h"

namespace smd::test {

template <class Reading>
Reading accepted(Parsed<Reading> parsed) {
  if (parsed) return std::move(*parsed);
  ADD_FAILURE() << print_fault(parsed.error().front());
  return {};
}

template <class Reading>
std::vector<std::string> print_faults(const Parsed<Reading>& parsed) {
  std::vector<std::string> lines;
  if (parsed) return lines;
  for (const Fault& each : parsed.error()) lines.push_back(print_fault(each));
  return lines;
}

}  // namespace smd::test
