#include "smd/ha/state_machine.h"

#include <algorithm>
#include <array>

namespace smd {
namespace {

using enum SmAction;
using S = SmState;
using E = SmEvent;

constexpr std::array kRows = {
    SmRow{S::Discovering, E::NobodyAbove, {S::Master, TakeOver}},
    SmRow{S::Discovering, E::HigherFound, {S::Standby, Poll}},
    SmRow{S::Discovering, E::HigherMasterFound, {S::Standby, Poll}},
    SmRow{S::Discovering, E::LowerMasterFound, {S::Standby, Poll}},

    SmRow{S::Standby, E::MasterLost, {S::Discovering, Discover}},
    SmRow{S::Standby, E::Discover, {S::Discovering, Discover}},
    SmRow{S::Standby, E::Handover, {S::Master, AcknowledgeAndTake}},
    SmRow{S::Standby, E::Disable, {S::NotActive, StopPolling}},
    SmRow{S::Standby, E::Acknowledge, {S::Standby, None}},

    SmRow{S::NotActive, E::Standby, {S::Standby, Poll}},

    SmRow{S::Master, E::NobodyAbove, {S::Master, None}},
    SmRow{S::Master, E::HigherFound, {S::Master, SendHandover}},
    SmRow{S::Master, E::HigherMasterFound, {S::Master, SendHandover}},
    SmRow{S::Master, E::LowerMasterFound, {S::Master, AwaitHandover}},
    SmRow{S::Master, E::Handover, {S::Master, AcknowledgeAndTake}},
    SmRow{S::Master, E::Acknowledge, {S::Standby, Poll}},
    SmRow{S::Master, E::Unanswered, {S::Master, Resume}},
    SmRow{S::Master, E::Overdue, {S::Master, SendHandover}},
    SmRow{S::Master, E::Stalled, {S::Discovering, Discover}},
};

}  // namespace

std::span<const SmRow> sm_rows() { return kRows; }

std::optional<SmStep> find_step(SmState state, SmEvent event) {
  const auto row = std::ranges::find_if(
      kRows, [&](const SmRow& each) { return each.state == state && each.event == event; });
  if (row == kRows.end()) return std::nullopt;
  return row->step;
}

bool outranks(const SmInfo& a, const SmInfo& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.guid < b.guid;
}

SmJudgement judge_others(const SmInfo& own, const std::vector<SmInfo>& others) {
  std::optional<std::size_t> master;
  std::optional<std::size_t> higher;
  const auto raise = [&](std::optional<std::size_t>& to, std::size_t i) {
    if (!to || outranks(others[i], others[*to])) to = i;
  };
  const bool rules = state_of(own) == S::Master;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const SmState state = state_of(others[i]);
    if (state == S::Master) raise(master, i);
    const bool may_take = state == S::Standby || (!rules && state == S::Discovering);
    if (may_take && outranks(others[i], own)) raise(higher, i);
  }
  const bool master_is_higher = master && outranks(others[*master], own);
  if (!rules) {
    // Whoever rules goes on until it hands over.
    if (master) return {master_is_higher ? E::HigherMasterFound : E::LowerMasterFound, master};
    if (higher) return {E::HigherFound, higher};
    return {};
  }
  if (master_is_higher) return {E::HigherMasterFound, master};
  if (higher) return {E::HigherFound, higher};
  if (master) return {E::LowerMasterFound, master};
  return {};
}

bool keeps_in_standby(const SmInfo& own, const SmInfo& polled) {
  switch (state_of(polled)) {
    case S::Master:
      return true;
    case S::Discovering:  // on its way
      return outranks(polled, own);
    case S::Standby:  // of somebody else, whom a look will find
    case S::NotActive:
      return false;
  }
  return false;
}

std::string_view print_sm_event(SmEvent event) {
  switch (event) {
    case E::NobodyAbove:
      return "nobody above";
    case E::HigherFound:
      return "a higher manager was found";
    case E::HigherMasterFound:
      return "a higher master was found";
    case E::LowerMasterFound:
      return "a lower master was found";
    case E::MasterLost:
      return "the master is gone";
    case E::Handover:
      return "handover";
    case E::Acknowledge:
      return "acknowledge";
    case E::Disable:
      return "disable";
    case E::Standby:
      return "standby";
    case E::Discover:
      return "discover";
    case E::Unanswered:
      return "the handover was not answered";
    case E::Overdue:
      return "the other master does not hand over";
    case E::Stalled:
      return "this process stood still";
  }
  return "unknown";
}

}  // namespace smd
