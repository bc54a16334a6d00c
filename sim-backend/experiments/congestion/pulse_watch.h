// Who looks on at a hot-spot pulse: what arrives, bin by bin, and what sources do about marks.
#pragma once

#include <vector>

#include "sim-backend/experiments/congestion/pulse_run.h"
#include "sim-backend/packet/packet_net.h"

namespace smd::sim {

class PulseWatch final : public PacketObserver, private Reaction {
 public:
  /// Requires: all outlive the watch.
  PulseWatch(const PacketNet& net,
             const PulseTraffic& traffic,
             const CongestionControl& control,
             const CongestionSpec& mechanism);

  /// The mechanism's own, looked at on their way.
  [[nodiscard]] CongestionHooks hooks();

  void on_delivered(const Delivery& arrival) override;

  [[nodiscard]] Picos longest_gap() const { return gap_; }

  /// Requires: no more packets come.
  [[nodiscard]] std::vector<PulseBin> take_bins();

 private:
  Picos allowed_at(const Flow& flow, Picos now) override { return inner_->allowed_at(flow, now); }

  void on_queued(const Flow& flow) override { inner_->on_queued(flow); }

  void on_unqueued(const Flow& flow) override { inner_->on_unqueued(flow); }

  void on_injected(const Flow& flow, Picos begin, Picos end) override {
    inner_->on_injected(flow, begin, end);
  }

  void on_lost(const Flow& flow) override { inner_->on_lost(flow); }

  void on_notice(const Flow& flow, const Notice& notice, Picos now) override;

  /// Null before the pulse began.
  [[nodiscard]] PulseBin* bin_at(Picos now);
  void read_link();

  const PacketNet& net_;
  const PulseTraffic& traffic_;
  CongestionHooks hooks_;
  Reaction* inner_;
  WindowReaction* window_;
  Marks all_;
  std::uint32_t link_node_;  // of the hot spot's link
  PortNum link_port_;
  std::uint64_t link_bytes_ = 0;  // when it was last read
  Picos last_hot_ = kNever, gap_ = 0;
  std::vector<PulseBin> bins_;
};

}  // namespace smd::sim
