// What was really applied, as opposed to what was wanted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

struct ProgramReport {
  IndexVector<PortIdx, PortInfo> port_info;  // of every port, as its last answer said
  std::vector<PortIdx> came_up;              // ports that were in Initialize
  PhaseCost configure;  // switches, LIDs and port settings; ports go to Armed with the same Set
  PhaseCost tables;
  PhaseCost activate;
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_written = 0;
  std::uint64_t ports_armed = 0;
  std::uint64_t ports_activated = 0;
  std::uint64_t ports_not_active = 0;  // managed ports that are not Active at the end
  std::vector<ProgramFault> faults;
  std::uint64_t fault_count = 0;  // `faults` keeps the first 100
};

}  // namespace smd
