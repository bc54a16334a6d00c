// A hot-spot pulse: most hosts send uniformly all the time; the others are silent until so many
// packets have arrived in all, then send a batch each to one host, at the same pace, and stop.
//
// Source: Ferrer 2012, 7.4 (pattern I). Gaps are exponential: the source does not say.
#pragma once

#include <vector>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/traffic/arrivals.h"

namespace smd::sim {

struct PulseOptions {
  double load = 0.1;  // of a host's link, headers included
  std::uint16_t payload = 256;
  unsigned header_bytes = 22;
  double hot_share = 0.2;  // of the hosts, drawn; never the hot spot itself
  HostNum hot_spot = 0;
  std::uint64_t warm_packets = 50000;  // delivered, before the pulse
  unsigned batch = 14;                 // packets of each hot source
  std::uint64_t seed = 1;
};

/// Tags of its packets.
inline constexpr std::uint32_t kColdPacket = 0;
inline constexpr std::uint32_t kHotPacket = 1;

class PulseTraffic final : public Workload {
 public:
  /// `byte_time`: of the hosts' links, as Wire has it.
  PulseTraffic(const PulseOptions& options, HostNum hosts, std::uint32_t byte_time);

  Picos first(HostNum host) override;
  Picos emit(PacketNet& net, HostNum host, Picos now) override;
  void on_delivered(PacketNet& net, const Arrival& arrival) override;

  [[nodiscard]] const std::vector<HostNum>& hot_sources() const { return hot_; }

  /// kNever until then.
  [[nodiscard]] Picos began() const { return began_; }

  [[nodiscard]] Picos last_hot_made() const { return last_made_; }

  [[nodiscard]] std::uint64_t hot_packets() const {
    return std::uint64_t{options_.batch} * hot_.size();
  }

  /// Every packet of the pulse has arrived.
  [[nodiscard]] bool finished() const { return hot_arrived_ == hot_packets(); }

 private:
  struct Source {
    Rng rng;
    Arrivals arrivals;
    unsigned left = 0;  // of the batch
    bool hot = false;
  };

  PulseOptions options_;
  ArrivalModel model_;
  std::vector<Source> sources_;
  std::vector<HostNum> hot_;
  std::uint64_t arrived_ = 0;
  std::uint64_t hot_arrived_ = 0;
  Picos began_ = kNever;
  Picos last_made_ = 0;
};

}  // namespace smd::sim
