#include "smd/subnet/cycle_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd {
namespace {

void add(TransitionReport& sum, const TransitionReport& more) {
  sum.interrupted = more.interrupted;
  if (more.phases == 0) return;
  sum.certified = sum.phases == 0 ? more.certified : sum.certified && more.certified;
  sum.kind = sum.phases == 0 ? more.kind : std::max(sum.kind, more.kind);
  sum.phases += more.phases;
  sum.blocked = more.blocked;
  sum.replans += more.replans;
  if (!more.why.empty()) sum.why = more.why;
}

}  // namespace

std::string_view print_phase(Phase phase) {
  switch (phase) {
    case Phase::Idle:
      return "idle";
    case Phase::Discovering:
      return "discovering";
    case Phase::Routing:
      return "routing";
    case Phase::Programming:
      return "programming";
    case Phase::Up:
      return "master";
    case Phase::HandingOver:
      return "handing over";
    case Phase::Standby:
      return "standby";
    case Phase::NotActive:
      return "not active";
  }
  return "unknown";
}

bool CycleReport::up() const {
  return !error && !cut_off && routes.ok() && transition.interrupted.empty() && fault_count == 0 &&
         ports_down_after == 0 && ports_without_lid == 0 && out_of_reach() == 0;
}

std::vector<std::string> print_changes(const FoundChanges& changes) {
  std::vector<std::string> out = changes.first;
  if (changes.count > out.size())
    out.push_back(fmt::format("and {} more", changes.count - out.size()));
  return out;
}

std::string print_out_of_reach(const CycleReport& cycle) {
  const std::uint64_t ports = cycle.out_of_reach();
  if (ports == 0) return "";
  const auto first = std::ranges::find(cycle.silent, true, &SilentPort::out_of_reach);
  return fmt::format(
      "{} port{}, of them {} port {}, {} to nodes beyond the 63 hops that a directed route may "
      "have: they are not managed; a manager nearer to the middle of the fabric reaches more",
      ports,
      ports == 1 ? "" : "s",
      first->node,
      first->port,
      ports == 1 ? "leads" : "lead");
}

std::string print_cut_off(const CycleReport& cycle) {
  if (cycle.has_no_link) return "the manager's own port has no link: nobody is seen";
  if (cycle.duplicates.empty()) return "nobody answers behind the manager's own port";
  return fmt::format("GUID {} stands twice, and nobody else is seen behind the manager's own port",
                     cycle.duplicates.front().guid);
}

Trouble trouble_of(const CycleReport& cycle) {
  using Kind = Trouble::Kind;
  if (cycle.error) return {Kind::CycleFailed, cycle.error->context};
  if (cycle.cut_off) return {Kind::CutOff, print_cut_off(cycle)};
  if (cycle.check_differs) return {Kind::ChecksDiffer, "the checks of routes differ"};
  const auto count = [](Kind kind, std::uint64_t number, std::string_view of_what) {
    return Trouble{kind, fmt::format("{} {}", number, of_what)};
  };
  if (cycle.fault_count > 0)
    return count(Kind::SettingsFailed, cycle.fault_count, "settings failed");
  if (!cycle.transition.interrupted.empty()) return {Kind::PlanInterrupted, "a plan ended early"};
  if (cycle.ports_down_after > 0)
    return count(Kind::PortsNotActive, cycle.ports_down_after, "ports are not active");
  if (const std::uint64_t far = cycle.out_of_reach(); far > 0)
    return count(Kind::OutOfReach, far, "ports lead out of reach");
  if (!cycle.silent.empty())
    return count(Kind::Silence, cycle.silent.size(), "ports lead to silence");
  if (!cycle.duplicates.empty())
    return count(Kind::DuplicateGuids, cycle.duplicates.size(), "GUIDs stand twice");
  return {};
}

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

}  // namespace smd
