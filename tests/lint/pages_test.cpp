// What pages say about the code, as far as it can be read off both.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "tests/lint/source_tree.h"
#include "tests/support/paths.h"

namespace smd::lint {
namespace {

std::vector<std::string> pages() {
  std::vector<std::string> out{"README.md", "CONTRIBUTING.md"};
  const std::filesystem::path root = test::source_path();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md")
      out.push_back(std::filesystem::relative(entry.path(), root).string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What stands between backticks in the first cell of a row.
std::vector<std::string> names_of_row(const std::string& row) {
  static const std::regex kName("`([^`]+)`");
  const std::string cell = row.substr(0, row.find(" | "));
  std::vector<std::string> out;
  for (std::sregex_iterator name(cell.begin(), cell.end(), kName), end; name != end; ++name)
    out.push_back((*name)[1]);
  return out;
}

/// Those of the rows of the first table behind `heading`.
std::vector<std::string> names_of_table(const std::string& page, const std::string& heading) {
  std::vector<std::string> out;
  bool found = false, inside = false;
  for (const Line& line : read_lines(page)) {
    found = found || line.text.starts_with(heading);
    if (!found) continue;
    if (!line.text.starts_with('|')) {
      if (inside) break;
      continue;
    }
    inside = true;
    for (std::string& name : names_of_row(line.text)) out.push_back(std::move(name));
  }
  return out;
}

std::string all_sources() {
  std::string out;
  for (const SourceFile& file : source_files_below("smd")) {
    for (const Line& line : file.lines) out += line.text + "\n";
  }
  return out;
}

/// A row that an empty line parts from its table is shown as plain text.
TEST(Pages, HaveNoRowWithoutItsTable) {
  std::size_t tables = 0;
  for (const std::string& page : pages()) {
    const std::vector<Line> lines = read_lines(page);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      const bool begins =
          lines[i].text.starts_with('|') && (i == 0 || !lines[i - 1].text.starts_with('|'));
      if (!begins) continue;
      ++tables;
      EXPECT_TRUE(lines[i + 1].text.starts_with("|-") || lines[i + 1].text.starts_with("| -"))
          << page << ":" << lines[i].number << ": this row is of no table";
    }
  }
  EXPECT_GT(tables, 100u);
}

TEST(Pages, DescribeEveryEngine) {
  const std::vector<std::string> told = names_of_table("docs/engines.md", "# Routing engines");
  const std::set<std::string> rows(told.begin(), told.end());
  static const std::regex kName(R"re(string_view name\(\) const override \{ return "([a-z-]+)")re");
  std::size_t engines = 0;
  const std::string code = all_sources();
  for (std::sregex_iterator it(code.begin(), code.end(), kName), end; it != end; ++it, ++engines)
    EXPECT_TRUE(rows.contains((*it)[1])) << "docs/engines.md has no row of " << (*it)[1];
  EXPECT_GE(engines, 12u) << "names are found as they are written";
}

TEST(Pages, DescribeEveryKindOfState) {
  const std::vector<std::string> told = names_of_table("docs/formats/state.md", "# The state");
  const std::set<std::string> rows(told.begin(), told.end());
  static const std::regex kKind(
      R"re(const StateKind StateKind::k\w+\{?\s*=?\s*\{?\s*(?:\.name = )?"([a-z_]+)")re");
  std::size_t kinds = 0;
  const std::string code = all_sources();
  for (std::sregex_iterator it(code.begin(), code.end(), kKind), end; it != end; ++it, ++kinds)
    EXPECT_TRUE(rows.contains((*it)[1])) << "docs/formats/state.md has no row of " << (*it)[1];
  EXPECT_EQ(kinds, 9u) << "kinds are found as they are written";
}

/// An operator searches the page for the line that `smctl status` shows.
TEST(Pages, NameAlarmsAsTheCodeDoes) {
  const std::string code = all_sources();
  std::size_t parts = 0;
  for (const std::string& alarm : names_of_table("docs/operations.md", "## After a failure")) {
    std::string rest = alarm;
    for (std::size_t at = 0; !rest.empty();) {
      at = rest.find("…");
      std::string part = rest.substr(0, at);
      rest = at == std::string::npos ? "" : rest.substr(at + std::string("…").size());
      while (!part.empty() && (part.back() == ' ' || part.back() == ':')) part.pop_back();
      if (part.size() < 8) continue;
      ++parts;
      EXPECT_NE(code.find(part), std::string::npos)
          << "docs/operations.md: no alarm has '" << part << "'";
    }
  }
  EXPECT_GT(parts, 12u);
}

}  // namespace
}  // namespace smd::lint
