// How many packets cross each channel between switches when routes are followed. For measurement
// only; tables may be any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "smd/fabric/fabric.h"
#include "smd/routing/verify/walk.h"

namespace smd {

/// Paths per switch-to-switch channel over all pairs of host base LIDs.
struct LoadReport {
  std::uint64_t max = 0;
  double mean = 0;
  double stddev = 0;  // population

  // Where links differ in speed, the channel with most paths need not be the fullest.
  bool mixed_speeds = false;
  double fullest = 0;       // paths on the fullest channel, were it as fast as the slowest
  double slowest_gbps = 0;  // 0: no speed is known

  [[nodiscard]] double per_gbps() const { return slowest_gbps > 0 ? fullest / slowest_gbps : 0; }

  friend bool operator==(const LoadReport&, const LoadReport&) = default;
};

/// Data rate of a link in Mbit/s; 0: unknown.
[[nodiscard]] std::uint64_t link_mbps(const Fabric& fabric, PortIdx port);

/// How fast channels are. One of unknown rate is taken for one of the slowest.
class ChannelSpeeds {
 public:
  ChannelSpeeds(const Fabric& fabric, const std::vector<PortIdx>& channels);

  /// In Mbit/s; 1 where no rate is known.
  [[nodiscard]] std::uint64_t of(PortIdx channel) const {
    return mixed_ ? std::max(link_mbps(fabric_, channel), slowest_) : slowest_;
  }

  [[nodiscard]] std::uint64_t slowest() const { return slowest_; }

  [[nodiscard]] bool mixed() const { return mixed_; }

  [[nodiscard]] bool known() const { return known_; }

 private:
  const Fabric& fabric_;
  std::uint64_t slowest_ = 1;
  bool mixed_ = false;
  bool known_ = false;
};

[[nodiscard]] LoadReport measure_load(const Fabric& fabric,
                                      const LidMap& lids,
                                      const ForwardingTables& tables);

/// Of the loads of `channels`.
[[nodiscard]] LoadReport summarise_load(const Fabric& fabric,
                                        const std::vector<PortIdx>& channels,
                                        const IndexVector<PortIdx, std::uint64_t>& load);

/// Ports of switches that lead to another switch, ascending.
[[nodiscard]] std::vector<PortIdx> find_channels(const Fabric& fabric);

class ChannelLoad {
 public:
  ChannelLoad(const Fabric& fabric, const ForwardingTables& tables);

  /// Sends packets[s] from every switch s to the LID. Returns how many do not arrive; those load
  /// nothing.
  std::uint64_t add_tree(Lid lid,
                         PortIdx owner,
                         const IndexVector<SwitchIdx, std::uint64_t>& packets);

  /// Appends the channels from a switch to the LID's owner. False, and nothing, where the path does
  /// not end there.
  bool find_path(SwitchIdx from, Lid lid, PortIdx owner, std::vector<PortIdx>& channels) const;

  void add(PortIdx channel, std::uint64_t packets) { load_[channel] += packets; }

  [[nodiscard]] std::uint64_t of(PortIdx channel) const { return load_[channel]; }

  [[nodiscard]] const IndexVector<PortIdx, std::uint64_t>& all() const { return load_; }

  void clear();

 private:
  /// The port by which a switch sends packets to the LID on; kNone where it has none.
  [[nodiscard]] PortIdx find_egress(SwitchIdx sw, Lid lid) const;

  const Fabric& fabric_;
  const ForwardingTables& tables_;
  Walk walk_;
  IndexVector<PortIdx, std::uint64_t> load_;
  IndexVector<SwitchIdx, std::uint64_t> passing_;
  std::vector<std::vector<SwitchIdx>> by_hops_;
};

}  // namespace smd
