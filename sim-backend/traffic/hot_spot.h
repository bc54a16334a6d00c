// A hot-spot pulse: most hosts send uniformly all the time; the others are silent until so many
// packets have arrived in all, then send a batch each to one host, at the same pace, and stop.
//
// Source: Ferrer 2012, 7.4 (pattern I) and 8.6 (pattern II). Gaps are exponential where nothing
// else is said: the source is silent.
#pragma once

#include <vector>

#include "sim-backend/packet/data_net.h"
#include "sim-backend/traffic/arrivals.h"

namespace smd::sim {

struct HotSpotOptions {
  double load = 0.1;  // of a host's link, headers included
  std::uint16_t payload = 256;
  std::uint16_t other_payload = 0;  // of every second packet, by chance; 0: all are alike
  unsigned header_bytes = 22;
  ArrivalKind arrivals = ArrivalKind::Poisson;
  /// Ports of a host: with two it sends by the first and receives by the second, as in
  /// unidirectional networks.
  unsigned ports = 1;
  double hot_share = 0.2;              // of the hosts, drawn; never the hot spot itself
  HostNum hot_spot = 0;                // a host, not a port
  std::uint64_t warm_packets = 50000;  // delivered, before the pulse
  unsigned batch = 14;                 // packets of each hot source
  /// Packets that each of the others sends to the hot spot at once, at some moment while hot
  /// sources make theirs (pattern II).
  unsigned burst = 0;
  std::uint64_t seed = 1;
};

/// Tags of its packets.
inline constexpr std::uint32_t kColdPacket = 0;
inline constexpr std::uint32_t kHotPacket = 1;

class HotSpotTraffic final : public Workload {
 public:
  /// `places`: ports of hosts, as PacketNet counts them. `byte_time`: of their links, as Wire has
  /// it.
  HotSpotTraffic(const HotSpotOptions& options, HostNum places, std::uint32_t byte_time);

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;
  void on_delivered(DataNet& net, const Delivery& arrival) override;

  /// Ports that the pulse is sent by, ascending.
  [[nodiscard]] const std::vector<HostNum>& hot_sources() const { return hot_; }

  /// The port that the pulse is sent to.
  [[nodiscard]] HostNum hot_spot() const { return receiver(options_.hot_spot); }

  [[nodiscard]] HostNum hosts() const { return static_cast<HostNum>(sources_.size()); }

  /// kNever until then.
  [[nodiscard]] Picos began() const { return began_; }

  [[nodiscard]] std::uint64_t hot_packets() const {
    return std::uint64_t{options_.batch} * hot_.size() + std::uint64_t{options_.burst} * bursting();
  }

  /// Every packet of the pulse has arrived.
  [[nodiscard]] bool finished() const { return hot_arrived_ == hot_packets(); }

 private:
  struct Source {
    Rng rng;
    Arrivals arrivals;
    Picos burst_at = kNever;
    unsigned left = 0;  // of the batch
    bool hot = false;
  };

  [[nodiscard]] HostNum receiver(HostNum host) const {
    return host * options_.ports + options_.ports - 1;
  }

  /// Hosts that burst: those that are neither hot nor the hot spot.
  [[nodiscard]] std::uint64_t bursting() const { return sources_.size() - hot_.size() - 1; }

  [[nodiscard]] PacketRequest packet(Source& source, DataNet& net, HostNum to, std::uint32_t tag);

  HotSpotOptions options_;
  ArrivalModel model_;
  std::vector<Source> sources_;
  std::vector<HostNum> hot_;
  std::uint64_t arrived_ = 0;
  std::uint64_t hot_arrived_ = 0;
  Picos began_ = kNever;
};

}  // namespace smd::sim
