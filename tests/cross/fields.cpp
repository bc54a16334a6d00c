#include "tests/cross/fields.h"

#include <algorithm>
#include <sstream>

namespace smd::test {

std::vector<std::string> fields_of(const std::string& text, const std::set<std::string>& ignored) {
  std::vector<std::string> fields;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dots = line.find("..");
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos) continue;
    if (dots == std::string::npos) {
      fields.push_back(line.substr(start));
      continue;
    }
    const std::size_t value = line.find_first_not_of('.', dots);
    const std::string name = line.substr(start, dots - start);
    if (ignored.contains(name)) continue;
    fields.push_back(name + "=" + (value == std::string::npos ? "" : line.substr(value)));
  }
  return fields;
}

std::string differences(std::vector<std::string> ours, std::vector<std::string> theirs) {
  std::string text;
  ours.resize(std::max(ours.size(), theirs.size()), "nothing");
  theirs.resize(ours.size(), "nothing");
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] != theirs[i]) text += ours[i] + ", " + theirs[i] + "; ";
  }
  return text;
}

}  // namespace smd::test
