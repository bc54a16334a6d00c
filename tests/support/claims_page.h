// The table of docs/claims.md: published claims that do not hold here.
#pragma once

#include <string>
#include <vector>

namespace smd::test {

struct DocumentedClaim {
  int line = 0;
  std::string experiment;
  std::string claim;
  std::string measured;
  std::string expected;
  std::string why;
};

/// In the order of the page. A row that has not five cells has an empty `why`.
std::vector<DocumentedClaim> read_claims_page();

}  // namespace smd::test
