// Scenarios as texts that a test writes: prepared, or why they are not.
#pragma once

#include <string>
#include <utility>

#include "sim-backend/scenario/run.h"

namespace smd::sim::test {

/// Faults name the file "s.toml".
inline Parsed<PreparedScenario> prepare_text(const std::string& text, unsigned partitions = 1) {
  auto read = parse_scenario(text, "s.toml");
  if (!read) return tl::unexpected(std::move(read.error()));
  read->packet.partitions = partitions;
  return PreparedScenario::prepare(std::move(*read));
}

/// The first thing that is wrong with it; empty.
inline std::string fault_of_text(const std::string& text, unsigned partitions = 1) {
  const auto made = prepare_text(text, partitions);
  return made ? std::string() : print_fault(made.error().at(0));
}

}  // namespace smd::sim::test
