// The sending side of a segmented transfer (IBA 13.6.6.3): one segment first, then as many as the
// receiver's window allows; what is not acknowledged in time is sent again.
//
// A receiver that opens no window gets nothing but the time that its retries take.
#pragma once

#include <vector>

#include "smd/sa/rmpp.h"

namespace smd::sa {

class RmppSender {
 public:
  /// `header` is that of the answer; its RMPP part is filled here. No data is one empty segment.
  RmppSender(SaHeader header, std::vector<std::byte> data, RmppTiming timing, TimePoint now);

  /// The next MAD to send now; false when there is none. Ask after every event.
  [[nodiscard]] bool next(MadBytes& mad, TimePoint now);

  /// An Ack, Stop or Abort of the receiver.
  void on_control(const RmppHeader& control, TimePoint now);

  /// Requires: now >= deadline().
  void on_timeout(TimePoint now);

  /// Meaningful while running.
  [[nodiscard]] TimePoint deadline() const;

  [[nodiscard]] RmppState state() const { return state_; }

  [[nodiscard]] RmppStatus status() const { return status_; }

  [[nodiscard]] std::uint32_t segments() const { return segments_; }

  [[nodiscard]] std::uint64_t resent() const { return resent_; }

 private:
  void on_ack(std::uint32_t segment, std::uint32_t window_last, TimePoint now);
  void abort(RmppStatus status);
  void make_segment(MadBytes& mad, std::uint32_t number) const;

  SaHeader header_;
  std::vector<std::byte> data_;
  RmppTiming timing_;
  TimePoint begun_;
  TimePoint heard_;  // when the receiver last moved, or the window was last sent again
  std::uint32_t segments_;
  std::uint32_t next_ = 1;     // to be sent
  std::uint32_t highest_ = 0;  // ever sent
  std::uint32_t acknowledged_ = 0;
  std::uint32_t window_last_ = 1;
  unsigned retries_ = 0;
  std::uint64_t resent_ = 0;
  bool abort_due_ = false;
  RmppState state_ = RmppState::Running;
  RmppStatus status_ = RmppStatus::Ok;
};

}  // namespace smd::sa
