// What a run of the programmer cost, and what was really applied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/fabric/delta.h"
#include "smd/fabric/fabric.h"
#include "smd/smp/smp_client.h"

namespace smd {

// What a stretch of work cost: SMPs injected, time on the runtime's clock, and time on the wall
// where somebody outside the core lends a clock (a dry run does; simulations do not, so that they
// repeat to the byte).

struct PhaseCost {
  std::uint64_t smps = 0;  // injections, retries included
  Duration time{0};
  Duration wall{0};

  PhaseCost& operator+=(const PhaseCost& other) {
    smps += other.smps;
    time += other.time;
    wall += other.wall;
    return *this;
  }
};

using WallClock = std::function<Duration()>;

class CostMeter {
 public:
  CostMeter(const Runtime& runtime, const SmpClient& client, WallClock wall)
      : runtime_(runtime), client_(client), wall_(std::move(wall)) {
    lap();
  }

  /// The cost since construction or the last lap.
  PhaseCost lap() {
    const PhaseCost now{
        client_.stats().sent, runtime_.now().since_epoch, wall_ ? wall_() : Duration{0}};
    const std::uint64_t foreign = std::min(foreign_, now.smps - last_.smps);
    foreign_ -= foreign;
    const PhaseCost cost{
        now.smps - last_.smps - foreign, now.time - last_.time, now.wall - last_.wall};
    last_ = now;
    return cost;
  }

  /// So many SMPs belong to nobody who is measured.
  void leave_out(std::uint64_t smps) { foreign_ += smps; }

 private:
  const Runtime& runtime_;
  const SmpClient& client_;
  WallClock wall_;
  PhaseCost last_;
  std::uint64_t foreign_ = 0;  // sent, and not yet left out
};

// What was really applied, as opposed to what was wanted.

/// A Set that failed, or whose answer is not what was set. The next cycle tries again.
struct ProgramFault {
  Guid node;
  PortNum port;
  std::string what;  // "LFT block 3: no answer after 4 tries"

  friend bool operator==(const ProgramFault&, const ProgramFault&) = default;
};

/// Values that the agents of one kind of device took and did not keep, the same on all these ports.
/// No fault: the fabric works, and setting them again would not help. Reported when they are news.
struct RefusedSetting {
  std::uint32_t vendor_id = 0;
  std::uint16_t device_id = 0;
  std::string what;  // "NeighborMTU 4 set, 5 kept; HOQLife 18 set, 0 kept"
  std::uint64_t ports = 0;
  Guid node;     // of the first of them
  PortNum port;  // likewise

  friend bool operator==(const RefusedSetting&, const RefusedSetting&) = default;
};

/// The plan was left after a list that was not confirmed as a whole. What follows must be planned
/// anew from what is confirmed.
struct PlanInterruption {
  std::size_t phase = 0;       // the one that is not complete
  std::string why;             // one line: the first thing that was not confirmed
  std::vector<Guid> switches;  // who did not confirm, ascending
  std::vector<PortRef> links;  // or: ends of links between switches that are not Active; ascending

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
  PhaseCost turns;       // SL-to-VL entries: of blocked and restored turns, and of VLs
  PhaseCost deactivate;  // ports that the plan takes down
  PhaseCost tables;
  PhaseCost activate;  // of the ports of the plan: Armed as well

  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_written = 0;
  std::uint64_t sl_to_vl_written = 0;
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
  std::uint64_t fault_count = 0;  // `faults` keeps the first 100

  /// End ports whose P_Key table, or that of the switch port before them, is not confirmed: by port
  /// GUID, and why.
  std::map<Guid, std::string> unconfirmed_keys;

  std::vector<RefusedSetting> not_kept;  // the first 100 kinds of device and of values
  std::uint64_t not_kept_count = 0;      // ports

  /// Switches that had restarted when they were set: nothing known of them holds. LinearFDBTop is
  /// 0 again, unless they did not answer.
  std::vector<Guid> restarted;
};

}  // namespace smd
