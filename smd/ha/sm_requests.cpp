#include "smd/ha/sm_requests.h"

#include <fmt/format.h>

namespace smd {
namespace {

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
