// Watches a net: what arrives and what is lost, interval by interval and in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim-backend/measure/batch_means.h"
#include "sim-backend/measure/histogram.h"
#include "sim-backend/packet/data_net.h"

namespace smd::sim {

/// What happened between two moments.
struct Interval {
  Picos begin = 0;
  Picos end = 0;
  std::uint64_t generated = 0;
  std::uint64_t wanted_bytes = 0;  // of those, as NetStats has them
  std::uint64_t injected = 0;
  std::uint64_t delivered = 0;
  std::uint64_t delivered_bytes = 0;  // payload
  std::uint64_t wire_bytes = 0;       // of what was delivered, headers included
  DiscardCounts discarded{};
  std::uint64_t in_flight = 0;  // at the end, waiting at their source among them
  std::uint64_t waiting = 0;    // of them: at their source
  std::uint64_t held_back = 0;  // ps: what all hosts together were, as NetStats has it
  double latency = 0;           // mean, ps: from generation until the last byte is in
  double network_latency = 0;   // from injection
};

class Meter final : public PacketObserver {
 public:
  /// Requires: `net` outlives the meter; the meter is its observer.
  explicit Meter(DataNet& net);

  void on_delivered(const Delivery& arrival) override;

  /// Ends the interval that runs and begins the next.
  Interval cut();

  /// Has the counts of each partition passed on, piece by piece: what the net is to several
  /// processes, each of which has those of its own partitions, after each of its runs.
  void share(const std::function<void(unsigned partition, std::span<std::byte>)>& pass);

  /// Forgets everything but where the net is: the transient is over.
  void restart();

  [[nodiscard]] Histogram latency() const { return join(&PartitionCounts::latency); }

  [[nodiscard]] Histogram network_latency() const {
    return join(&PartitionCounts::network_latency);
  }

  [[nodiscard]] Histogram head_latency() const { return join(&PartitionCounts::head_latency); }

  /// Switches passed, on average.
  [[nodiscard]] double mean_hops() const;

  /// Payload bytes delivered, by source.
  [[nodiscard]] std::vector<double> bytes_of() const;

 private:
  /// What arrives in one partition. Whole numbers: joined, they are those of one partition.
  struct alignas(64) PartitionCounts {
    Histogram latency;
    Histogram network_latency;
    Histogram head_latency;
    ExactSum interval_latency;
    ExactSum interval_network;
    std::uint64_t hops = 0;
    std::vector<std::uint64_t> bytes_of;
  };

  [[nodiscard]] Histogram join(Histogram PartitionCounts::*of) const;

  DataNet& net_;
  NetStats at_begin_;
  Picos began_ = 0;
  std::vector<PartitionCounts> counts_;  // by partition
};

}  // namespace smd::sim
