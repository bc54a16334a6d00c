#include "sim-backend/agents/congestion_state.h"

#include <algorithm>

#include "sim-backend/agents/counters.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t kNsPerTick = 1024;

template <class Event, std::size_t N>
void push_front(std::array<Event, N>& events, const Event& event) {
  std::shift_right(events.begin(), events.end(), 1);
  events.front() = event;
}

}  // namespace

std::uint32_t congestion_ticks(TimePoint now) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now.since_epoch.count()) /
                                    kNsPerTick);
}

MarkingRule CongestionState::rule_of(PortNum port) const {
  if (port.value() < port_settings.size() && port_settings[port.value()].valid) {
    const cc::PortSetting& own = port_settings[port.value()];
    return {own.threshold, own.packet_size, own.marking_rate, own.starvation};
  }
  return {switch_setting.threshold, switch_setting.packet_size, switch_setting.marking_rate};
}

void CongestionState::log_mark(PortNum port, const cc::SwitchLogEvent& event) {
  add_sticky<std::uint16_t>(switch_log.events);
  switch_log.ports.set(port);
  push_front(switch_log.entries, event);
}

void CongestionState::log_trigger(const cc::CaLogEvent& event) {
  add_sticky<std::uint16_t>(ca_log.events);
  ca_log.sl_map = static_cast<std::uint16_t>(ca_log.sl_map | 1u << (event.sl.value() & 15));
  push_front(ca_log.entries, event);
}

}  // namespace smd::sim
