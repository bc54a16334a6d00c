#include "smd/app/congestion_goal.h"

#include <algorithm>

namespace smd::app {

CcGoal build_cc_goal(const cc::Plan& plan,
                     const cc::Options& options,
                     const Fabric& fabric,
                     NodeIdx node,
                     PortNum port,
                     Lid our_lid) {
  CcGoal goal{.key = options.key};
  if (options.protect) {
    goal.protect = cc::KeyInfo{.key = options.key,
                               .protect = true,
                               .lease_s = static_cast<std::uint16_t>(options.lease_s)};
    goal.trap_lid = our_lid;
  }
  if (fabric.is_switch(node)) {
    goal.of_switch = cc::switch_setting(plan, options, fabric, node);
    goal.of_ports = cc::port_settings(plan, options, fabric, node);
  } else {
    goal.of_adapter = cc::ca_wish(plan, options, fabric, fabric.port_of(node, port));
  }
  return goal;
}

bool holds(const cc::KeyInfo& held, const cc::KeyInfo& wish) {
  return held.key == wish.key && held.protect == wish.protect && held.lease_s == wish.lease_s;
}

bool holds(const cc::ClassPortInfo& held, const cc::ClassPortInfo& wish) {
  return held.trap_lid == wish.trap_lid && held.trap_qp == wish.trap_qp;
}

bool holds(const cc::SwitchSetting& held, const cc::SwitchSetting& wish) {
  const auto named = [&](std::uint32_t bit) { return (wish.control_map & bit) != 0; };
  using namespace cc::control;
  if (named(kVictimMask) && held.victim_mask != wish.victim_mask) return false;
  if (named(kCreditMask) && held.credit_mask != wish.credit_mask) return false;
  if (named(kThreshold) &&
      (held.threshold != wish.threshold || held.packet_size != wish.packet_size))
    return false;
  if (named(kCreditStarvation) &&
      (held.cs_threshold != wish.cs_threshold || held.cs_return_delay != wish.cs_return_delay))
    return false;
  return !named(kMarkingRate) || held.marking_rate == wish.marking_rate;
}

bool holds(const cc::CaSetting& held, const cc::CaSetting& wish) {
  if (wish.control_map == 0) return true;
  if (held.port_control != wish.port_control) return false;
  for (std::size_t sl = 0; sl < cc::kSls; ++sl) {
    if ((wish.control_map >> sl & 1u) != 0 && held.entries[sl] != wish.entries[sl]) return false;
  }
  return true;
}

bool holds(const cc::PortSettingBlock& held, const cc::PortSettingBlock& wish) {
  return std::ranges::equal(held, wish, [](const cc::PortSetting& a, const cc::PortSetting& b) {
    return a == b || (!a.valid && !b.valid);
  });
}

bool holds(const cc::CctBlock& held, const cc::CctBlock& wish) { return held == wish; }

}  // namespace smd::app
