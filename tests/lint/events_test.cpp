// Every event that the log can have stands in docs/operations.md.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/lint/source_tree.h"

namespace smd::lint {
namespace {

/// Names of events among the first arguments of `log::debug(` and its like, with the file of each.
std::set<std::pair<std::string, std::string>> events_below(std::string_view folder) {
  static const std::regex kCall(R"(log::(debug|info|warn|error)\(([^,]*))");
  static const std::regex kName(R"re("([a-z_]+\.[a-z_]+)")re");
  std::set<std::pair<std::string, std::string>> out;
  for (const SourceFile& file : source_files_below(folder)) {
    std::string text;
    for (const Line& line : file.lines) text += strip_comment(line.text) + "\n";
    for (std::sregex_iterator call(text.begin(), text.end(), kCall), end; call != end; ++call) {
      const std::string first = (*call)[2];
      for (std::sregex_iterator name(first.begin(), first.end(), kName); name != end; ++name)
        out.emplace((*name)[1], file.path);
    }
  }
  return out;
}

TEST(Events, StandInTheOperationsPage) {
  const std::string page = read_text("docs/operations.md");
  std::size_t found = 0;
  for (const char* folder : {"smd", "sim-backend"}) {
    for (const auto& [event, file] : events_below(folder)) {
      ++found;
      EXPECT_NE(page.find("`" + event + "`"), std::string::npos)
          << event << " in " << file << " is not in docs/operations.md";
    }
  }
  EXPECT_GT(found, 80u) << "calls are found as they are written";
}

}  // namespace
}  // namespace smd::lint
