// A meter that keeps its figures period by period, and in all.
#pragma once

#include <vector>

#include "sim-backend/measure/meter.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/change_result.h"

namespace smd::sim {

class PeriodMeter final : public PacketObserver {
 public:
  /// Becomes the net's observer. Requires: `net` outlives this.
  explicit PeriodMeter(PacketNet& net);
  ~PeriodMeter() override;
  PeriodMeter(const PeriodMeter&) = delete;

  void on_delivered(const Delivery& arrival) override { meter_.on_delivered(arrival); }

  void on_discarded(const Loss& loss) override;

  /// From now on a link of this node, or the node, may be the reason of a loss here.
  void blame(std::uint32_t node);

  /// Everything so far is forgotten, and a period begins.
  void begin(PeriodKind kind);

  /// The period that runs ends here, another begins.
  void turn(PeriodKind next);

  /// Ends the interval that runs.
  void cut();

  /// Ends the period that runs.
  void finish();

  [[nodiscard]] PeriodKind kind() const { return now_.kind; }

  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

  [[nodiscard]] const std::vector<Period>& periods() const { return periods_; }

  // Of all periods that have ended.
  [[nodiscard]] const Histogram& latency() const { return latency_; }

  [[nodiscard]] const Histogram& network_latency() const { return network_latency_; }

  [[nodiscard]] const Histogram& head_latency() const { return head_latency_; }

  [[nodiscard]] double mean_hops() const;

  [[nodiscard]] const std::vector<double>& bytes_of() const { return bytes_of_; }

 private:
  PacketNet& net_;
  Meter meter_;
  std::vector<bool> blamed_;  // by node
  Period now_;
  std::uint64_t wire_bytes_ = 0;  // delivered in it
  std::vector<Interval> intervals_;
  std::vector<Period> periods_;
  Histogram latency_;
  Histogram network_latency_;
  Histogram head_latency_;
  double hops_ = 0;
  std::vector<double> bytes_of_;
};

}  // namespace smd::sim
