#include "smd/app/first_look.h"

#include <algorithm>

#include "smd/smp/timing.h"

namespace smd::app {
namespace {

/// A full window of answers waits in VL15 queues of about 150 us each: an answer is not late before
/// that.
constexpr Duration kTimeoutFloor = std::chrono::milliseconds(50);

/// Propagation and switching of one SMP over one link, from the field: 100 ns of cable, 130 ns of
/// switch.
constexpr Duration kLinkDelayPerSmp{230};

}  // namespace

FabricCounts count(const Fabric& fabric) {
  FabricCounts counts{.switches = fabric.switch_count(), .links = fabric.link_count()};
  counts.cas = fabric.node_count() - fabric.switch_count();
  return counts;
}

Duration answer_timeout(const SweepReport& found, Duration limit) {
  SubnetExtent extent{.link_delay = kLinkDelayPerSmp};
  std::uint8_t resp_time_code = 0;
  for (const HopPath& path : *found.path)
    extent.max_distance = std::max(extent.max_distance, static_cast<unsigned>(path.size()));
  for (const PortInfo& info : found.fabric->port_info)
    resp_time_code = std::max(resp_time_code, info.resp_time_value);
  extent.max_resp_time = subnet_timeout(resp_time_code);
  const Duration specified = response_timeout(compute_subnet_timeout_code(extent), resp_time_code);
  return std::min(std::max(specified, kTimeoutFloor), std::max(limit, kTimeoutFloor));
}

}  // namespace smd::app
