// The keys of a scenario, one row each: reading, messages and documentation come from the same
// table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim-backend/scenario/scenario.h"

namespace smd::sim {

struct ScenarioSize {
  std::int64_t bytes = 0;
  double weight = 1;
};

/// A value as the file has it: numbers are doubles where a key wants one.
using ScenarioValue = std::variant<bool,
                                   std::int64_t,
                                   double,
                                   std::string,
                                   std::vector<double>,
                                   std::vector<ScenarioSize>,
                                   std::monostate>;

struct ScenarioKey {
  std::string_view section;
  std::string_view key;
  std::string_view range;  // what would be right, for messages and the list
  std::string_view meaning;
  bool (*apply)(const ScenarioValue&, Scenario&);
};

/// `fabric.preset` first: it sets what others change.
[[nodiscard]] std::span<const ScenarioKey> scenario_keys();

}  // namespace smd::sim
