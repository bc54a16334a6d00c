// What congestion control came to in a dry run: for people, as JSON, and the registers themselves.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim-backend/management/sim_fabric.h"
#include "smd/cc/cc_manager.h"

namespace smd::bin {

/// Requests that a stretch of time has cost.
struct CongestionCost {
  std::uint64_t gets = 0;
  std::uint64_t sets = 0;
};

/// {"agents", "confirmed", "gets", "sets", "plan", "refusal", "alarms"}
[[nodiscard]] nlohmann::ordered_json congestion_report(const CcManager& cc_manager,
                                                       const CongestionCost& cost);

/// Of the bring-up: the plan and what it cost.
[[nodiscard]] std::string print_congestion(const CcManager& cc_manager, const CongestionCost& cost);

/// Of a change: one line.
[[nodiscard]] std::string print_congestion_cost(const CongestionCost& cost);

/// Every register that an agent holds, as simulated.
[[nodiscard]] std::string print_congestion_registers(const sim::SimFabric& fabric);

}  // namespace smd::bin
