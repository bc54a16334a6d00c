// Parts of a campaign become one result, the very bytes that one long run would have written.
#pragma once

#include <string>
#include <vector>

#include "sim-backend/campaign/part.h"

namespace smd::sim {

struct NamedPart {
  std::string file;  // what a fault names
  Part part;
};

struct JoinedResult {
  std::string json;        // result.json
  std::string points_csv;  // result.csv
  std::string series_csv;
  std::string periods_csv;  // empty where nothing changed
  std::string svg;
  std::string lines;
  bool sound = true;
  bool interrupted = false;
  std::vector<std::string> audits;   // what does not add up
  std::vector<std::string> missing;  // runs of the plans that no part is of, as print_run says them
};

/// Refuses parts of different scenarios or versions of the program, and two that differ for the
/// same load and seed. At least one part is expected.
[[nodiscard]] Parsed<JoinedResult> join_parts(std::vector<NamedPart> parts);

}  // namespace smd::sim
