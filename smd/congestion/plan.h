// The settings of congestion control for a fabric, and why they are these.
//
// Computed once per rate of host links: a table counts in packet times of its own link. Every delay
// leaves a host its floor: the fair share of the slowest host link when all hosts send to it, as
// counted_hosts() counts them. A
// table from the options that would leave less is refused, with the figures.
#pragma once

#include <string>
#include <vector>

#include "smd/congestion/facts.h"
#include "smd/congestion/options.h"
#include "smd/congestion/throttle.h"

namespace smd::cc {

/// What adapters on links of one rate get.
struct RatePlan {
  unsigned mbps = 0;
  double window = 1;         // ω in packets
  double round_trip_ns = 0;  // of an empty path
  double packet_ns = 0;      // a packet of the MTU
  double longest_delay = 0;  // in packet times, that the floor allows
  std::vector<CctEntry> table;
  CaSetting setting;

  [[nodiscard]] std::uint16_t limit() const {
    return static_cast<std::uint16_t>(table.empty() ? 0 : table.size() - 1);
  }

  friend bool operator==(const RatePlan&, const RatePlan&) = default;
};

struct Plan {
  Facts facts;
  double path_bytes = 0;        // K, at the slowest rate
  SwitchSetting switches;       // without the victims of each
  std::vector<RatePlan> rates;  // as Facts::mbps
  std::string refusal;          // not empty: why nothing of this may be set
  std::vector<std::string> remarks;

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Requires: nothing; a fabric without hosts or switches has a plan that sets nothing.
[[nodiscard]] Plan build_plan(Facts facts, const Options& options);

/// What a switch shall hold: victims are the ports before hosts.
[[nodiscard]] SwitchSetting switch_setting(const Plan& plan,
                                           const Options& options,
                                           const Fabric& fabric,
                                           NodeIdx node);

/// What ports of a switch shall hold of their own, in blocks of 32 from port 0 on: those before
/// hosts, where the options tell them from others. Empty where nobody does, or the node has a
/// threshold of its own.
[[nodiscard]] std::vector<PortSettingBlock> port_settings(const Plan& plan,
                                                          const Options& options,
                                                          const Fabric& fabric,
                                                          NodeIdx node);

/// What the port of an adapter shall hold. Null where nothing is planned for its rate.
struct CaTarget {
  CaSetting setting;
  std::vector<CctBlock> table;

  friend bool operator==(const CaTarget&, const CaTarget&) = default;
};

[[nodiscard]] std::optional<CaTarget> ca_target(const Plan& plan,
                                                const Options& options,
                                                const Fabric& fabric,
                                                PortIdx port);

/// The table in blocks of 64, each with the limit.
[[nodiscard]] std::vector<CctBlock> table_blocks(const std::vector<CctEntry>& table);

/// Lines for people: what, from what, by which formula.
[[nodiscard]] std::vector<std::string> print_plan(const Plan& plan);

}  // namespace smd::cc
