#include "sim-backend/campaign/task.h"

#include <charconv>

namespace smd::sim {
namespace {

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Task> parse_task(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto number = parse_number(text.substr(0, slash));
  const auto of = parse_number(text.substr(slash + 1));
  if (!number || !of || *number < 1 || *number > *of) return std::nullopt;
  return Task{.number = *number, .of = *of};
}

std::vector<RunKey> own_runs(const CampaignPlan& plan, const Task& task) {
  const std::vector<RunKey> all = list_runs(plan);
  std::vector<RunKey> own;
  for (std::size_t i = task.number - 1; i < all.size(); i += task.of) own.push_back(all[i]);
  return own;
}

}  // namespace smd::sim
