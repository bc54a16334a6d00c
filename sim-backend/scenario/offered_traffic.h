// The traffic of a scenario as a workload on one net.
#pragma once

#include <memory>

#include "sim-backend/scenario/scenario.h"
#include "sim-backend/traffic/in_network.h"
#include "sim-backend/traffic/trace.h"

namespace smd::sim {

class ProcessTeam;

struct TrafficInput {
  double load = 0;
  std::uint64_t seed = 1;
  unsigned mtu = 4096;
  PatternInput pattern;                // of the hosts of the net; its rails, of collectives too
  std::uint32_t lids = 1;              // of each host, that messages are spread over
  bool by_host_number = false;         // hosts have no LIDs
  SyntheticTraffic::PathSl path_sl{};  // where SLs are those of paths
  /// Multicast groups of the net; the first one's members are the ranks of a collective. Outlives
  /// it.
  const std::vector<ProgrammedGroup>* groups = nullptr;
  InNetworkAllReduce::Tree adders{};  // of the first group, where switches add
  /// From a host to several, so many bytes; where nets have that.
  std::function<void(HostNum, std::span<const HostNum>, std::uint16_t)> send_to{};
  ProcessTeam* processes = nullptr;  // that simulate the net, where they are several; outlive it
};

/// Of a pattern, among so many hosts whose links have this beside each payload.
[[nodiscard]] SyntheticOptions pattern_options(const TrafficSpec& spec,
                                               const TrafficInput& input,
                                               HostNum hosts,
                                               unsigned header_bytes);

/// Is the net's workload for as long as it lives.
class OfferedTraffic {
 public:
  /// Requires: the pattern or the trace has been checked; `net` outlives this; hosts have their
  /// LIDs.
  OfferedTraffic(DataNet& net, const TrafficSpec& spec, TrafficInput input);
  ~OfferedTraffic();
  OfferedTraffic(const OfferedTraffic&) = delete;

  /// It is one that ends: a collective or a trace.
  [[nodiscard]] bool is_closed() const { return trace_ || collective_; }

  /// Of a collective in which switches take part; else null.
  [[nodiscard]] SwitchPortHandler* switch_ports() const {
    return collective_ ? collective_->switch_ports() : nullptr;
  }

  // Of several processes all have to ask.

  /// Everything that was to be sent has arrived, or has been lost.
  [[nodiscard]] bool finished() const;

  /// Of a collective: when its last packet came in; of a trace: when its last one was delivered or
  /// discarded, 0 of one without messages. kNever before.
  [[nodiscard]] Picos completed_at() const;

 private:
  DataNet& net_;
  ProcessTeam* processes_;
  std::unique_ptr<TraceTraffic> trace_;
  std::unique_ptr<CollectiveWorkload> collective_;
  std::unique_ptr<SyntheticTraffic> synthetic_;
};

}  // namespace smd::sim
