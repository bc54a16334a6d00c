// Plans of random changes, and what is made of them to see that a verifier refuses it: made and
// judged by what differs, from counted turns, as against in full.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "smd/plan/make/planner.h"
#include "smd/plan/verify/check_transition.h"
#include "smd/routing/updn/orientation.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/verified_routes.h"
#include "tests/unit/plan/random_change.h"

namespace smd::test {

inline bool is_acyclic(const Fabric& fabric, const LidMap& lids, const RoutingTables& routes) {
  return check_routes(fabric, lids, routes.lft, {.minimality = false}).acyclic;
}

/// None when the routes are no good before or afterwards, as those of minhop may be.
inline std::optional<Change> draw_good_change(Draw& draw, Keeps& keeps) {
  const Drawn drawn = draw_change(draw);
  keeps = drawn.keeps;
  Change change = make_change(drawn.spec);
  if (!is_acyclic(*change.before, change.lids_before, change.old_routes) ||
      !is_acyclic(*change.after, change.lids_after, change.new_routes))
    return std::nullopt;
  return change;
}

/// One fault, or what may be one: entries too early, too late, missing or other ones; turns, ports
/// and places of a certificate that are not as they were.
inline TransitionPlan mutate(const TransitionTask& task, TransitionPlan plan, Rng& rng) {
  const auto any = [&rng](const auto& list) { return rng.below(list.size()); };
  TransitionPhase& phase = plan.phases[any(plan.phases)];
  TransitionPhase& other = plan.phases[any(plan.phases)];
  const auto end_of = [](auto& list, std::size_t at) {
    return list.begin() + static_cast<std::ptrdiff_t>(at);
  };
  switch (rng.below(6)) {
    case 0:  // moved to another phase
      if (phase.entries.empty()) break;
      {
        const std::size_t at = any(phase.entries);
        const EntryChange moved = phase.entries[at];
        phase.entries.erase(end_of(phase.entries, at));
        other.entries.push_back(moved);
        std::ranges::sort(other.entries);
      }
      break;
    case 1:  // left out
      if (!phase.entries.empty()) phase.entries.erase(end_of(phase.entries, any(phase.entries)));
      break;
    case 2:  // another value
      if (!phase.entries.empty()) {
        EntryChange& entry = phase.entries[any(phase.entries)];
        const unsigned ports = task.fabric->num_ports(task.fabric->switch_node[entry.sw]);
        entry.egress = PortNum{static_cast<std::uint8_t>(rng.below(ports + 2))};
      }
      break;
    case 3:  // one more, of any value, which the next phase may set right
    {
      const SwitchIdx sw{static_cast<std::uint32_t>(rng.below(task.fabric->switch_count()))};
      const Lid lid{static_cast<std::uint16_t>(1 + rng.below(task.wanted->top().value()))};
      const unsigned ports = task.fabric->num_ports(task.fabric->switch_node[sw]);
      phase.entries.push_back({sw, lid, PortNum{static_cast<std::uint8_t>(rng.below(ports + 1))}});
      if (&other > &phase) other.entries.push_back({sw, lid, task.wanted->route(sw, lid)});
      std::ranges::sort(phase.entries);
      std::ranges::sort(other.entries);
      break;
    }
    case 4:  // two places of the certificate swapped
      if (!phase.certificate.empty())
        std::swap(phase.certificate[PortIdx{static_cast<std::uint32_t>(any(phase.certificate))}],
                  phase.certificate[PortIdx{static_cast<std::uint32_t>(any(phase.certificate))}]);
      break;
    default:  // links that come up too early
      std::swap(phase.activate, other.activate);
  }
  return plan;
}

/// The verifier that starts from counted turns and the one that looks at all entries say the same,
/// of the plan and of what becomes of it; returns how many of its mutants are refused.
inline unsigned compare_verdicts(const TransitionTask& full,
                                 const TransitionTask& counted,
                                 const TransitionPlan& plan,
                                 unsigned mutants,
                                 Rng& rng) {
  EXPECT_EQ(check_transition(counted, plan).fault, check_transition(full, plan).fault);
  unsigned refused = 0;
  for (unsigned i = 0; i < mutants && !plan.phases.empty(); ++i) {
    const TransitionPlan mutant = mutate(full, plan, rng);
    const TransitionVerdict verdict = check_transition(full, mutant);
    EXPECT_EQ(check_transition(counted, mutant).fault, verdict.fault);
    refused += verdict.ok() ? 0 : 1;
  }
  return refused;
}

/// A turn that the first certificate does not allow is counted besides.
inline bool refuses_another_turn(const TransitionTask& counted,
                                 const TransitionPlan& plan,
                                 Rng& rng) {
  const Fabric& fabric = *counted.fabric;
  const ChannelOrder& order = plan.phases.front().certificate;
  if (plan.vls > 1 || order.empty()) return false;
  std::vector<std::pair<PortIdx, PortIdx>> turns;
  const auto is_open = [&](PortIdx port) {
    return carries_data(fabric, port) && fabric.is_switch(fabric.node_of[fabric.peer[port]]);
  };
  for (const NodeIdx node : fabric.switch_node) {
    for (const PortIdx in : fabric.external_ports(node)) {
      for (const PortIdx out : fabric.external_ports(node)) {
        if (in != out && is_open(in) && is_open(out) && order[fabric.peer[in]] >= order[out])
          turns.emplace_back(in, out);
      }
    }
  }
  if (turns.empty()) return false;
  const auto [in, out] = turns[rng.below(turns.size())];
  TurnCounts more = *counted.turns;
  more.add(in, fabric.number_of(out));
  TransitionTask other = counted;
  other.turns = &more;
  return !check_transition(other, plan).ok();
}

inline std::size_t count_entries(const TransitionPlan& plan) {
  std::size_t entries = 0;
  for (const TransitionPhase& phase : plan.phases) entries += phase.entries.size();
  return entries;
}

// An order of the wanted routes' channels, as a check of these keeps it; none where it finds a
// fault. `backwards`: one that the turns do not respect, which a planner has to notice.
inline ChannelOrder find_places(const TransitionTask& task, bool backwards) {
  RoutingTables wanted;
  wanted.lft = *task.wanted;
  const auto verified =
      VerifiedRoutes::build({.fabric = task.fabric, .lids = task.lids, .routing = &wanted});
  ChannelOrder places;
  for (const PortIdx port : task.fabric->peer.indices()) {
    if (verified != nullptr) places.push_back(verified->place(port, 0));
  }
  if (backwards) std::reverse(places.begin(), places.end());
  return places;
}

// Made and judged by what differs, as against in full.
inline void compare_made_by_change(std::uint64_t first, std::uint64_t last, unsigned mutants) {
  unsigned plans = 0, refused = 0, several = 0, seen = 0, placed = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw{seed};
    Keeps keeps{};
    const std::optional<Change> change = draw_good_change(draw, keeps);
    if (!change) continue;
    TransitionTask full = change->task();
    // Blocked turns, those that stay so and those that are to be opened again.
    if (full.orientation != nullptr && draw.chance(0.2))
      for (const ForbiddenTurn& turn : find_forbidden_turns(*full.fabric, *full.orientation))
        full.blocked.push_back({turn.sw, turn.in, turn.out});
    TurnCounts turns{*full.fabric};
    turns.add(*full.fabric, *full.wanted, find_owned_lids(*full.lids, *full.wanted));
    TransitionTask counted = full;
    counted.turns = &turns;
    const ChannelOrder places = find_places(full, seed % 5 == 0);
    if (!places.empty()) counted.places = &places;
    placed += places.empty() ? 0 : 1;
    const TransitionPlan plan = plan_transition(full, {});
    const TransitionPlan by_change = plan_transition(counted, {});
    ASSERT_EQ(print_transition_kind(by_change.kind), print_transition_kind(plan.kind));
    ASSERT_EQ(by_change.phases.size(), plan.phases.size());
    ASSERT_EQ(by_change.in_flight, plan.in_flight);
    ASSERT_EQ(by_change.blocked, plan.blocked);
    ASSERT_EQ(count_entries(by_change), count_entries(plan));
    ASSERT_EQ(check_transition(full, by_change).fault, "");
    ASSERT_EQ(check_transition(counted, by_change).fault, "");
    refused += compare_verdicts(full, counted, by_change, mutants, draw.rng());
    refused += compare_verdicts(full, counted, plan, mutants, draw.rng());
    if (!plan.phases.empty()) seen += refuses_another_turn(counted, by_change, draw.rng()) ? 1 : 0;
    ++plans;
    several += plan.phases.size() > 1 ? 1 : 0;
  }
  std::printf("%u plans, %u of several phases, %u judged from counted turns, %u mutants refused\n",
              plans,
              several,
              seen,
              refused);
  EXPECT_GT(plans, (last - first) / 2);
  EXPECT_GT(several, plans / 10);
  EXPECT_GT(seen, plans / 4);
  EXPECT_GT(placed, plans / 4);
  EXPECT_GT(refused, plans * mutants / 2);
}

}  // namespace smd::test
