#include "smd/ha/state_machine.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace smd {
namespace {

using enum SmAction;
using S = SmState;
using E = SmEvent;

constexpr std::array kRows = {
    SmTransition{S::Discovering, E::NobodyAbove, {S::Master, TakeOver}},
    SmTransition{S::Discovering, E::HigherFound, {S::Standby, Poll}},
    SmTransition{S::Discovering, E::HigherMasterFound, {S::Standby, Poll}},
    SmTransition{S::Discovering, E::LowerMasterFound, {S::Standby, Poll}},
    SmTransition{S::Discovering, E::CutOff, {S::Discovering, LookOn}},

    SmTransition{S::Standby, E::MasterLost, {S::Discovering, Discover}},
    SmTransition{S::Standby, E::Discover, {S::Discovering, Discover}},
    SmTransition{S::Standby, E::Handover, {S::Master, AcknowledgeAndTake}},
    SmTransition{S::Standby, E::Disable, {S::NotActive, StopPolling}},
    SmTransition{S::Standby, E::Acknowledge, {S::Standby, None}},

    SmTransition{S::NotActive, E::Standby, {S::Standby, Poll}},

    SmTransition{S::Master, E::NobodyAbove, {S::Master, None}},
    SmTransition{S::Master, E::HigherFound, {S::Master, SendHandover}},
    SmTransition{S::Master, E::HigherMasterFound, {S::Master, SendHandover}},
    SmTransition{S::Master, E::LowerMasterFound, {S::Master, AwaitHandover}},
    SmTransition{S::Master, E::Handover, {S::Master, AcknowledgeAndTake}},
    SmTransition{S::Master, E::Acknowledge, {S::Standby, Poll}},
    SmTransition{S::Master, E::Unanswered, {S::Master, Resume}},
    SmTransition{S::Master, E::Overdue, {S::Master, SendHandover}},
    SmTransition{S::Master, E::Stalled, {S::Discovering, Discover}},
    SmTransition{S::Master, E::CutOff, {S::Discovering, LookOn}},
};

std::optional<SmEvent> event_of(std::uint32_t modifier) {
  switch (static_cast<SmControl>(modifier)) {
    case SmControl::Handover:
      return SmEvent::Handover;
    case SmControl::Acknowledge:
      return SmEvent::Acknowledge;
    case SmControl::Disable:
      return SmEvent::Disable;
    case SmControl::Standby:
      return SmEvent::Standby;
    case SmControl::Discover:
      return SmEvent::Discover;
  }
  return std::nullopt;
}

/// A master orders. Who acknowledges is in Standby, or already master.
bool may_send(const SmInfo& sender, SmEvent event) {
  if (state_of(sender) == SmState::Master) return true;
  return event == SmEvent::Acknowledge && state_of(sender) == SmState::Standby;
}

std::string find_fault(const SmInfo& own, const SmInfo& sender, std::optional<SmEvent> event) {
  if (!event) return "an order that does not exist";
  if (own.sm_key != SmKey{} && sender.sm_key != own.sm_key) return "a wrong SM_Key";
  if (!may_send(sender, *event))
    return fmt::format("the sender is {}, not master", print_sm_state(state_of(sender)));
  if (!find_step(state_of(own), *event))
    return fmt::format("it means nothing in {}", print_sm_state(state_of(own)));
  return "";
}

}  // namespace

std::span<const SmTransition> sm_transitions() { return kRows; }

std::optional<SmStep> find_step(SmState state, SmEvent event) {
  const auto row = std::ranges::find_if(
      kRows, [&](const SmTransition& each) { return each.state == state && each.event == event; });
  if (row == kRows.end()) return std::nullopt;
  return row->step;
}

bool outranks(const SmInfo& a, const SmInfo& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.guid < b.guid;
}

SmAssessment assess_others(const SmInfo& own, const std::vector<SmInfo>& others) {
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
    case E::CutOff:
      return "nobody is seen";
  }
  return "unknown";
}

SmAnswer answer_sm_request(const SmInfo& own, const Smp& request) {
  SmAnswer out{.info = own};
  if (const auto from = decode_sm_info(request.data)) out.from = *from;
  const bool trusted = own.sm_key != SmKey{} && out.from.sm_key == own.sm_key &&
                       state_of(out.from) == SmState::Master;
  if (own.sm_key == SmKey{}) {
    out.info.sm_key = kCommonSmKey;
  } else if (!trusted) {
    out.info.sm_key = SmKey{};
  }
  if (request.method == Method::Get) return out;
  const auto event = event_of(request.attribute_modifier);
  out.refused = find_fault(own, out.from, event);
  if (out.refused.empty()) {
    out.event = event;
  } else {
    out.status = MadStatus::BadField;
  }
  return out;
}

}  // namespace smd
