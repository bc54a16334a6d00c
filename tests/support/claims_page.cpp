#include "tests/support/claims_page.h"

#include <fstream>

#include "tests/support/paths.h"

namespace smd::test {
namespace {

std::string trim(const std::string& text) {
  const auto from = text.find_first_not_of(" `");
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(" `") + 1 - from);
}

/// Of "| a | b |": a, b.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = line.find('|', at + 1);
    if (end == std::string::npos) break;
    out.push_back(trim(line.substr(at + 1, end - at - 1)));
    at = end;
  }
  return out;
}

}  // namespace

std::vector<DocumentedClaim> read_claims_page() {
  std::ifstream in(source_path("docs/claims.md"));
  std::vector<DocumentedClaim> out;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (!line.starts_with("| `00")) continue;
    std::vector<std::string> cells = cells_of(line);
    cells.resize(5);
    out.push_back({number, cells[0], cells[1], cells[2], cells[3], cells[4]});
  }
  return out;
}

}  // namespace smd::test
