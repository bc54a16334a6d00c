// The receiving side of a segmented transfer (IBA 13.6.6.2): takes segments in order, acknowledges
// the last one in order, and opens a window of a few segments ahead.
#pragma once

#include <vector>

#include "smd/sa/rmpp.h"

namespace smd::sa {

struct RmppReceiverLimits {
  std::uint32_t window = 8;                        // segments ahead of the last acknowledged
  std::size_t most_bytes = std::size_t{16} << 10;  // of a whole transfer
};

class RmppReceiver {
 public:
  /// `first` is the header of the first segment that came, whatever its number.
  RmppReceiver(const SaHeader& first, RmppReceiverLimits limits, RmppTiming timing, TimePoint now);

  void on_segment(const SaHeader& header, std::span<const std::byte, kDataSize> data);

  /// A Stop or Abort of the sender.
  void on_control(const RmppHeader& control);

  /// Requires: now >= deadline().
  void on_timeout();

  /// The next MAD to send now; false when there is none.
  [[nodiscard]] bool next(MadBytes& mad);

  [[nodiscard]] TimePoint deadline() const { return begun_ + timing_.total; }

  [[nodiscard]] RmppState state() const { return state_; }

  [[nodiscard]] RmppStatus status() const { return status_; }

  /// Complete when Done.
  [[nodiscard]] const std::vector<std::byte>& data() const { return data_; }

 private:
  void end(RmppStatus status);

  SaHeader header_;  // of what is sent back
  RmppReceiverLimits limits_;
  RmppTiming timing_;
  TimePoint begun_;
  std::uint32_t received_ = 0;  // the last segment in order
  std::vector<std::byte> data_;
  bool ack_due_ = false;
  bool end_due_ = false;
  RmppState state_ = RmppState::Running;
  RmppStatus status_ = RmppStatus::Ok;
};

}  // namespace smd::sa
