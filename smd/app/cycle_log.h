// What a cycle has to say: lines for the log, alarms for the status screen.
#pragma once

#include <string>
#include <vector>

#include "smd/app/cycle_report.h"
#include "smd/fabric/delta.h"

namespace smd::app {

void log_cycle(const CycleReport& cycle);

/// Values that ports did not keep: each once, when it is news.
void log_not_kept(const std::vector<NotKept>& values);

void log_delta(const Delta& delta);

/// Phase by phase, what is about to be written.
void log_plan(const Fabric& fabric, const TransitionPlan& plan);

/// Switches of `carrying` that `found` has not.
void log_lingering(const Fabric& found, const Fabric& carrying);

/// What is not as it should be, one line each; empty when all is well.
[[nodiscard]] std::vector<std::string> alarms_of(const CycleReport& cycle);

}  // namespace smd::app
