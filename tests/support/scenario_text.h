// Scenarios as texts that a test writes: prepared, or why they are not.
#pragma once

#include <gtest/gtest.h>

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

/// Runs it at a load that its routes carry and at one that they do not; no packet is lost or stuck.
inline void expect_carried(const PreparedScenario& prepared, double stable, double saturated) {
  for (const double load : {stable, saturated}) {
    const PointResult point = prepared.run(load, 1);
    EXPECT_EQ(point.audit, "");
    EXPECT_EQ(point.steady.deadlock.size(), 0u);
    EXPECT_EQ(point.stats.discards(), 0u);
    EXPECT_EQ(point.steady.state == RunState::Saturated, load == saturated)
        << "load " << load << ": " << print_run_state(point.steady.state);
  }
}

/// What such a run needs besides.
inline constexpr const char* kShortRun = R"([adapter]
queues = "per-destination"
[measure]
warm_up_us = 30
interval_us = 10
least_intervals = 10
most_intervals = 10
)";

}  // namespace smd::sim::test
