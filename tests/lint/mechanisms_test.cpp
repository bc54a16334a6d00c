// The table of docs/congestion-mechanisms.md: every row is there, and the code and tests that it
// names exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "tests/lint/source_tree.h"
#include "tests/support/paths.h"

namespace smd::lint {
namespace {

constexpr unsigned kRows = 36;

struct Named {
  int line = 0;
  std::vector<unsigned> rows;  // that begin here; none where one goes on
  std::vector<std::string> code;
  std::string file, suite, name;
};

std::vector<std::string> quoted(const std::string& cell) {
  static const std::regex mark("`([^`]+)`");
  std::vector<std::string> out;
  for (std::sregex_iterator at(cell.begin(), cell.end(), mark), end; at != end; ++at)
    out.push_back((*at)[1]);
  return out;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    out.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// "F5", "F22 to F27"; nothing where the cell is empty.
std::vector<unsigned> rows_of(const std::string& cell) {
  static const std::regex range("F([0-9]+)(?: to F([0-9]+))?");
  std::smatch match;
  if (!std::regex_search(cell, match, range)) return {};
  const unsigned first = static_cast<unsigned>(std::stoul(match[1]));
  const unsigned last = match[2].matched ? static_cast<unsigned>(std::stoul(match[2])) : first;
  std::vector<unsigned> out;
  for (unsigned row = first; row <= last; ++row) out.push_back(row);
  return out;
}

/// Lines of the table that are neither its head nor the rule below it.
std::vector<Named> read_table(const std::vector<Line>& lines) {
  std::vector<Named> out;
  for (const Line& line : lines) {
    if (!line.text.starts_with("|") || line.text.starts_with("|-")) continue;
    const std::vector<std::string> cells = cells_of(line.text);
    if (cells.size() != 5 || cells[0] == " row ") continue;
    Named row{.line = line.number, .rows = rows_of(cells[0]), .code = quoted(cells[2])};
    const auto file = quoted(cells[3]), test = quoted(cells[4]);
    if (file.size() == 1) row.file = file[0];
    if (test.size() == 1) {
      const std::size_t dot = std::min(test[0].find('.'), test[0].size());
      row.suite = test[0].substr(0, dot);
      row.name = test[0].substr(std::min(dot + 1, test[0].size()));
    }
    out.push_back(std::move(row));
  }
  return out;
}

bool defines(const std::string& source, const std::string& suite, const std::string& name) {
  if (suite.empty() || name.empty()) return false;
  return std::regex_search(
      source, std::regex("(^|\n)TEST(_F|_P)?\\(\\s*" + suite + ",\\s*" + name + "\\s*\\)"));
}

TEST(Mechanisms, EveryTestAndFileOfTheTableExists) {
  std::set<unsigned> rows;
  for (const Named& row : read_table(read_lines("docs/congestion-mechanisms.md"))) {
    const std::string where = "docs/congestion-mechanisms.md:" + std::to_string(row.line);
    rows.insert(row.rows.begin(), row.rows.end());
    for (const std::string& code : row.code)
      EXPECT_TRUE(std::filesystem::exists(test::source_path(code))) << where << ": no " << code;
    ASSERT_TRUE(!row.file.empty() && std::filesystem::exists(test::source_path(row.file)))
        << where << ": no test file " << row.file;
    EXPECT_TRUE(defines(read_text(row.file), row.suite, row.name))
        << where << ": " << row.file << " has no " << row.suite << "." << row.name;
  }
  for (unsigned row = 1; row <= kRows; ++row)
    EXPECT_TRUE(rows.contains(row)) << "F" << row << " has no test";
}

TEST(MechanismRules, ATestIsDefinedByItsMacro) {
  EXPECT_TRUE(defines("TEST(A, B) {", "A", "B"));
  EXPECT_TRUE(defines("\nTEST_P(A, B) {", "A", "B"));
  EXPECT_TRUE(defines("\nTEST_F(A,\n       B) {", "A", "B"));
  EXPECT_FALSE(defines("TEST(A, Bc) {", "A", "B"));
  EXPECT_FALSE(defines("// TEST(A, B) {", "A", "B"));
  EXPECT_FALSE(defines("TEST(A, B) {", "A", ""));
}

TEST(MechanismRules, ATableIsReadCellByCell) {
  const auto rows = read_table({{1, "| row | mechanism | code | test file | test |"},
                                {2, "|---|---|---|---|---|"},
                                {3, "| F2 to F4 | what | `a.cpp`, `b.cpp` | `c.cpp` | `D.E` |"},
                                {4, "| | more | | `c.cpp` | |"}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].rows, testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(rows[0].code, testing::ElementsAre("a.cpp", "b.cpp"));
  EXPECT_EQ(rows[0].suite + rows[0].name, "DE");
  EXPECT_TRUE(rows[1].rows.empty());
  EXPECT_EQ(rows[1].name, "") << "which no file defines";
}

}  // namespace
}  // namespace smd::lint
