// Reports as tables for spreadsheets and plots: RFC 4180, one header line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace smd::app {

/// One row per object and one column per scalar that any of them has, in the order of their first
/// appearance: {"a": {"b": 1}} gives column "a.b". Elements of arrays are joined by "; ".
[[nodiscard]] std::string print_csv(const std::vector<nlohmann::ordered_json>& objects);

}  // namespace smd::app
