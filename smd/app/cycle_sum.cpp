#include "smd/app/cycle_sum.h"

#include <algorithm>

namespace smd::app {
namespace {

void add(TransitionReport& sum, const TransitionReport& more) {
  if (more.phases == 0) return;
  sum.certified = sum.phases == 0 ? more.certified : sum.certified && more.certified;
  sum.kind = sum.phases == 0 ? more.kind : std::max(sum.kind, more.kind);
  sum.phases += more.phases;
  sum.blocked = more.blocked;
  sum.replans += more.replans;
  if (!more.why.empty()) sum.why = more.why;
}

}  // namespace

CycleReport sum_cycles(const std::vector<CycleReport>& cycles) {
  CycleReport sum = cycles.back();
  sum.reason = cycles.front().reason;
  sum.began = cycles.front().began;
  sum.full_why = cycles.front().full_why;
  sum.partial = std::ranges::all_of(cycles, &CycleReport::partial);
  sum.shrank = std::ranges::any_of(cycles, &CycleReport::shrank);
  sum.provisional = cycles.front().provisional;
  sum.transition = {.certified = true};
  for (const CycleReport& each : cycles) add(sum.transition, each.transition);
  for (auto part = cycles.begin(); part + 1 != cycles.end(); ++part) {
    sum.detection += part->detection;
    sum.discovery += part->discovery;
    sum.routing += part->routing;
    sum.configure += part->configure;
    sum.turns += part->turns;
    sum.deactivate += part->deactivate;
    sum.tables += part->tables;
    sum.activate += part->activate;
    sum.blocks_written += part->blocks_written;
    sum.lft_entries_changed_pct += part->lft_entries_changed_pct;
  }
  return sum;
}

}  // namespace smd::app
