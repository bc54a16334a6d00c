#include "smd/app/retry_clock.h"

#include <fmt/format.h>

namespace smd::app {

std::string trouble_of(const CycleReport& cycle) {
  if (cycle.error) return cycle.error->context;
  if (cycle.fault_count > 0) return fmt::format("{} settings failed", cycle.fault_count);
  if (cycle.ports_down_after > 0)
    return fmt::format("{} ports are not active", cycle.ports_down_after);
  if (cycle.ports_without_lid > 0)
    return fmt::format("{} ports have no LID", cycle.ports_without_lid);
  if (cycle.out_of_reach() > 0)
    return fmt::format("{} ports lead out of reach", cycle.out_of_reach());
  if (!cycle.silent.empty()) return fmt::format("{} ports lead to silence", cycle.silent.size());
  if (!cycle.duplicates.empty())
    return fmt::format("{} GUIDs stand twice", cycle.duplicates.size());
  return "";
}

}  // namespace smd::app
