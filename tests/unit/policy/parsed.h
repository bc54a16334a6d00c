// What a reader of a file of the site says, for tests: its reading, or the faults as they are
// printed.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <string_view>
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

/// A fault printed as FILE:LINE:COLUMN: … 'WORD' … stands where the word begins in `text`. Others
/// have no column to be wrong.
inline bool is_well_placed(std::string_view text, const std::string& fault) {
  std::smatch place;
  static const std::regex kPlace("^[^:]*:([0-9]+):([0-9]+): [^']*'([^']+)'.*");
  if (!std::regex_match(fault, place, kPlace)) return true;
  for (int line = std::stoi(place[1]); line > 1; --line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  const auto column = static_cast<std::size_t>(std::stoi(place[2]));
  return column <= text.size() && text.substr(column - 1).starts_with(place[3].str());
}

}  // namespace smd::test
