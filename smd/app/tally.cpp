#include "smd/app/tally.h"

namespace smd::app {
namespace {

/// From what a single SMP takes to what nobody waits for.
const std::vector<double> kSeconds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300};

}  // namespace

void Tally::note(const CycleReport& cycle, bool is_change) {
  ++cycles_[cycle.up() ? 1 : 0];
  if (!is_change || cycle.error) return;
  const ChangeKind kind{cycle.shrank, cycle.transition.kind};
  const auto at = changes_.try_emplace(kind, kSeconds).first;
  at->second.note(std::chrono::duration<double>(cycle.ended - cycle.began).count());
}

void Tally::note(const Notice& trap) {
  const bool known = trap.is_generic && is_known_trap(trap.trap_or_device);
  ++traps_[known ? trap.trap_or_device : std::uint16_t{0}];
}

}  // namespace smd::app
