// Some hosts send all they can to one; all others, its victims, send evenly among each other.
#pragma once

#include <functional>
#include <vector>

#include "sim-backend/packet/data_net.h"
#include "sim-backend/traffic/arrivals.h"

namespace smd::sim {

struct ContentionOptions {
  HostNum hot_spot = 0;
  unsigned contributors = 0;  // drawn; never the hot spot
  unsigned packets = 0;       // of each contributor; 0: without end
  double load = 0.3;          // of a victim's link, headers included
  std::uint16_t payload = 2048;
  unsigned header_bytes = 26;
  Picos start = 0;  // of the contributors
  std::uint64_t seed = 1;
  std::function<std::uint8_t(HostNum from, HostNum to)> sl;  // empty: 0
};

/// Tags of its packets.
inline constexpr std::uint32_t kVictimPacket = 0;
inline constexpr std::uint32_t kContendingPacket = 1;

class ContentionTraffic final : public Workload {
 public:
  /// `byte_time`: of the hosts' links, as Wire has it. Requires: three hosts or more, contributors
  /// below their number.
  ContentionTraffic(ContentionOptions options, HostNum hosts, std::uint32_t byte_time);

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;
  void on_delivered(DataNet& net, const Delivery& arrival) override;

  [[nodiscard]] const std::vector<HostNum>& contributors() const { return contributors_; }

  /// When the last packet of contributors that have an end came in; kNever before.
  [[nodiscard]] Picos completed() const { return completed_; }

 private:
  struct Source {
    Rng rng;
    Arrivals arrivals;
    unsigned left = 0;
    bool contributes = false;
  };

  ContentionOptions options_;
  ArrivalModel model_;
  double packet_time_;
  std::vector<Source> sources_;
  std::vector<HostNum> contributors_;
  std::uint64_t arrived_ = 0;
  Picos completed_ = kNever;
};

}  // namespace smd::sim
