// What was really applied, as opposed to what was wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smd/fabric/delta.h"
#include "smd/fabric/fabric.h"
#include "smd/program/cost_meter.h"

namespace smd {

/// A Set that failed, or whose answer is not what was set. The next cycle tries again.
struct ProgramFault {
  Guid node;
  PortNum port;
  std::string what;  // "LFT block 3: no answer after 4 tries"

  friend bool operator==(const ProgramFault&, const ProgramFault&) = default;
};

/// Values that the agents of one kind of device took and did not keep, the same on all these ports.
/// No fault: the fabric works, and setting them again would not help. Reported when they are news.
struct NotKept {
  std::uint32_t vendor_id = 0;
  std::uint16_t device_id = 0;
  std::string what;  // "NeighborMTU 4 set, 5 kept; HOQLife 18 set, 0 kept"
  std::uint64_t ports = 0;
  Guid node;     // of the first of them
  PortNum port;  // likewise

  friend bool operator==(const NotKept&, const NotKept&) = default;
};

/// The plan was left after a list that was not confirmed as a whole. What follows must be planned
/// anew from what is confirmed.
struct PlanInterruption {
  std::size_t phase = 0;       // the one that is not complete
  std::string why;             // one line: the first thing that was not confirmed
  std::vector<Guid> switches;  // who did not confirm, ascending

  friend bool operator==(const PlanInterruption&, const PlanInterruption&) = default;
};

struct ProgramReport {
  IndexVector<PortIdx, PortInfo> port_info;  // of every port, as its last answer said

  /// Of every switch, as its last answer said. The next run must start from a snapshot that
  /// carries it: LinearFDBTop 0 means a switch fresh from power-on.
  IndexVector<SwitchIdx, SwitchInfo> switch_info;

  std::vector<PortIdx> came_up;  // ports that were in Initialize; ascending

  /// Both ends of links that were trained again on purpose, ascending: switches report these
  /// changes (PortStateChange, trap 128) as if they were faults.
  std::vector<PortRef> retrained;

  /// Switches, LIDs and port settings; ports go to Armed with the same Set. With a plan also the
  /// activation of ports that it does not name.
  PhaseCost configure;
  PhaseCost turns;       // SL-to-VL rows: of blocked and restored turns, and of lanes
  PhaseCost deactivate;  // ports that the plan takes down
  PhaseCost tables;
  PhaseCost activate;  // of the ports of the plan: Armed as well

  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_written = 0;
  std::uint64_t rows_written = 0;
  std::uint64_t key_blocks_written = 0;
  std::uint64_t turns_blocked = 0;
  std::uint64_t turns_restored = 0;
  std::uint64_t ports_deactivated = 0;
  std::uint64_t ports_armed = 0;
  std::uint64_t ports_activated = 0;
  std::uint64_t ports_not_active = 0;  // managed ports that are not Active at the end
  std::size_t phases_done = 0;
  std::optional<PlanInterruption> plan_interrupted;
  std::vector<ProgramFault> faults;
  std::uint64_t fault_count = 0;     // `faults` keeps the first 100
  std::vector<NotKept> not_kept;     // the first 100 kinds of device and of values
  std::uint64_t not_kept_count = 0;  // ports
};

}  // namespace smd
