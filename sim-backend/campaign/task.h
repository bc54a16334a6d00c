// A campaign's runs shared out to tasks that know nothing of each other.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "sim-backend/campaign/part.h"

namespace smd::sim {

/// The I-th of N tasks, from 1 on: what an array job's script knows of itself.
struct Task {
  std::size_t number = 1;
  std::size_t of = 1;
};

/// "3/16".
[[nodiscard]] std::optional<Task> parse_task(std::string_view text);

/// Every N-th run, from the I-th on: heavy loads, which stand together, go to different tasks.
[[nodiscard]] std::vector<RunKey> own_runs(const CampaignPlan& plan, const Task& task);

}  // namespace smd::sim
