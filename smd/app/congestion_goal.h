// What an agent shall hold, and whether what it holds is that.
#pragma once

#include <optional>
#include <vector>

#include "smd/congestion/plan.h"

namespace smd::app {

/// Absent parts are left as they are.
struct CcGoal {
  cc::CcKey key;                       // of every MAD
  std::vector<cc::CcKey> former;       // that it may still be under, the likeliest first
  std::optional<cc::KeyInfo> protect;  // the violations do not count
  Lid trap_lid;                        // unassigned: traps are not asked for
  std::optional<cc::SwitchSetting> of_switch;
  std::vector<cc::PortSettingBlock> of_ports;  // of a switch
  std::optional<cc::CaWish> of_adapter;

  friend bool operator==(const CcGoal&, const CcGoal&) = default;
};

/// Of one agent: a switch, where `port` is 0, or a port of an adapter.
/// Requires: `node` is of `fabric`, whose plan this is; traps go to `our_lid`.
[[nodiscard]] CcGoal build_cc_goal(const cc::Plan& plan,
                                   const cc::Options& options,
                                   const Fabric& fabric,
                                   NodeIdx node,
                                   PortNum port,
                                   Lid our_lid);

/// The violations do not count.
[[nodiscard]] bool holds(const cc::KeyInfo& held, const cc::KeyInfo& wish);

/// Only where traps go counts.
[[nodiscard]] bool holds(const cc::ClassPortInfo& held, const cc::ClassPortInfo& wish);

/// Only what the control map names counts.
[[nodiscard]] bool holds(const cc::SwitchSetting& held, const cc::SwitchSetting& wish);

/// Likewise of the SLs.
[[nodiscard]] bool holds(const cc::CaSetting& held, const cc::CaSetting& wish);

[[nodiscard]] bool holds(const cc::CctBlock& held, const cc::CctBlock& wish);

/// What is not valid counts as one thing.
[[nodiscard]] bool holds(const cc::PortSettingBlock& held, const cc::PortSettingBlock& wish);

}  // namespace smd::app
