#include "smd/app/congestion_heat.h"

namespace smd::app {

void CcHeat::note(const CcPort& port, std::uint16_t events, TimePoint now) {
  HotPort& hot = ports_[port];
  ++hot.readings;
  hot.events += events;
  hot.last = now;
}

void CcHeat::take(const CcPort& agent,
                  bool is_switch,
                  const Fabric& fabric,
                  const MadBytes& answer,
                  TimePoint now) {
  const auto data = std::span(answer).subspan(cc::kLogOffset);
  if (!is_switch) {
    const cc::CaLog log = *cc::decode_ca_log(data);
    if (log.events > 0) note(agent, log.events, now);
    return;
  }
  const cc::SwitchLog log = *cc::decode_switch_log(data);
  if (log.events == 0) return;
  const unsigned ports = fabric.num_ports(*fabric.find_node(agent.first));
  for (unsigned port = 0; port <= ports; ++port) {
    const PortNum number{static_cast<std::uint8_t>(port)};
    if (log.ports.test(number)) note({agent.first, number}, log.events, now);
  }
}

void CcHeat::forget_gone(const Fabric& fabric) {
  std::erase_if(ports_, [&](const auto& item) { return !fabric.find_node(item.first.first); });
}

}  // namespace smd::app
