// What a plan does to lanes, phase by phase.
#include <fmt/format.h>

#include <algorithm>

#include "smd/plan/plan_playback.h"

namespace smd {

std::string PlanPlayback::take_rows(const TransitionPhase& phase) {
  if (phase.rows && task_.lanes == nullptr) return "it writes rows, and none are wanted";
  if (phase.rows && wrote_rows_) return "it writes rows that are written";
  if (phase.told && told_) return "hosts are told twice";
  if (plan_.kind == TransitionKind::Certified && plan_.lanes == 1 && rows_discard(task_))
    return "rows discard packets, and lanes are not told apart";
  writes_rows_ = phase.rows;
  told_ = told_ || phase.told;
  return "";
}

bool PlanPlayback::is_silent_kind() const {
  return plan_.kind == TransitionKind::Initial || plan_.kind == TransitionKind::DeactivateAll;
}

std::string PlanPlayback::prove_lanes(const ChannelOrder& certificate) {
  if (!lane_proof_) return "it tells lanes apart, and nothing is known of them";
  if (certificate.size() != fabric_.port_count() * plan_.lanes)
    return fmt::format("its certificate has {} lanes instead of {}",
                       certificate.size(),
                       fabric_.port_count() * plan_.lanes);
  const bool silent = is_silent_kind();
  if (!silent && (!task_.unknown.empty() || !task_.lanes->unknown.empty()))
    return "nobody knows what all blocks and rows hold";
  if (!silent && plan_.phases.size() > 1 && plan_.in_flight != InFlight::Drained)
    return "it tells lanes apart in several phases without counting on a drained fabric";
  IndexVector<SwitchIdx, char> live;
  for (const SwitchIdx sw : fabric_.switch_node.indices()) live.push_back(forwards_data(sw));
  const bool certified = plan_.kind == TransitionKind::Certified;
  std::vector<char> lossless(after_.lids(), certified && (told_ || writes_rows_));
  for (const EntryChange& change : overwritten_) {
    if (certified && live[change.sw]) lossless[change.lid.value()] = 1;
  }
  // Rows are confirmed before entries follow, and what only discards adds nothing meanwhile.
  const bool only_discards = plan_.in_flight == InFlight::Drained &&
                             rows_only_discard(task_, with_cuts(task_.lanes->wanted, plan_.cut));
  return lane_proof_->find_fall({.before = &before_,
                                 .after = &after_,
                                 .earlier = &earlier_,
                                 .use = &use_,
                                 .live = &live,
                                 .blocked = &blocked_,
                                 .lossless = &lossless,
                                 .held_rows = !wrote_rows_ && !(writes_rows_ && only_discards),
                                 .wanted_rows = wrote_rows_ || writes_rows_,
                                 .silent = silent,
                                 .told = told_,
                                 .bounces = certified},
                                certificate);
}

// Requires: every phase was begun, and ended.
std::string PlanPlayback::find_lane_rest() {
  if (plan_.lanes > 1 && !told_) return "hosts are never told of the wanted routes";
  if (plan_.cut.empty()) return "";
  if (!lane_proof_ || !wrote_rows_) return "it discards SLs without writing rows, or without proof";
  if (plan_.kind == TransitionKind::Certified)
    return "it discards SLs, which a certified plan does not";
  if (!std::ranges::is_sorted(plan_.cut, {}, &SlCut::way))
    return "its list of SLs to discard is not sorted";
  use_.assign(fabric_.port_count(), LinkUse::Open);
  const IndexVector<SwitchIdx, char> live(fabric_.switch_count(), 1);
  const std::vector<char> lossless(after_.lids(), 1);
  const std::string fault = lane_proof_->find_fall({.before = &after_,
                                                    .after = &after_,
                                                    .earlier = &earlier_,
                                                    .use = &use_,
                                                    .live = &live,
                                                    .blocked = &blocked_,
                                                    .lossless = &lossless,
                                                    .wanted_rows = true,
                                                    .silent = true,
                                                    .bounces = false},
                                                   plan_.phases.back().certificate);
  return fault.empty() ? "" : "after the last phase " + fault;
}

}  // namespace smd
