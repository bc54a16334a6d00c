// RMPP: segmented transfers (IBA 13.6), as pure state machines for either side.
#pragma once

#include <cstdint>
#include <vector>

#include "smd/runtime/runtime.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {

// What both directions of a segmented transfer share (IBA 13.6): status codes and times. The state
// machines know no clock and no transport: they are told the time and hand out MADs.

/// Why a transfer ended early (IBA 13.6.2.3, table 110).
enum class RmppStatus : std::uint8_t {
  Ok = 0,
  NoResources = 1,         // Stop
  TotalTimeTooLong = 118,  // Abort, as all that follow
  BadLength = 119,
  BadSegment = 120,
  BadType = 121,
  WindowTooSmall = 122,  // NewWindowLast below the segment acknowledged
  SegmentTooBig = 123,   // an acknowledgement of what was not sent
  IllegalStatus = 124,
  BadVersion = 125,
  TooManyRetries = 126,
  Unspecified = 127,
};

struct RmppTiming {
  Duration response = std::chrono::milliseconds(500);  // until the window is sent again
  unsigned retries = 5;                                // of one window, in a row
  Duration total = std::chrono::seconds(40);           // of a whole transfer

  /// Segments sent and not acknowledged. The Linux kernel opens a window of an eighth of its
  /// receive queue, at most 8192, and acknowledges nothing before its end: with less than that it
  /// never would.
  std::uint32_t most_ahead = 1024;

  std::uint32_t most_at_once = 64;  // segments, in answer to one event
};

inline constexpr std::uint8_t kRmppVersion = 1;

/// Bytes of a segment that PayloadLength counts: data, and the part of the SA header behind the
/// RMPP header.
inline constexpr std::uint32_t kSegmentPayload = 220;
inline constexpr std::uint32_t kSegmentOverhead = kSegmentPayload - kDataSize;

enum class RmppState : std::uint8_t { Running, Done, Failed };

/// A Stop or Abort in answer to `header`; the type follows from the status.
[[nodiscard]] MadBytes make_rmpp_end(const SaHeader& header, RmppStatus status);

// The receiving side of a segmented transfer (IBA 13.6.6.2): takes segments in order, acknowledges
// the last one in order, and opens a window of a few segments ahead.

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

// The sending side of a segmented transfer (IBA 13.6.6.3): one segment first, then as many as the
// receiver's window allows; what is not acknowledged in time is sent again.
//
// A receiver that opens no window gets nothing but the time that its retries take; one that opens a
// wide one gets it piece by piece, so that nobody fills the send queue, nor keeps who sends busy,
// with one acknowledgement.

class RmppSender {
 public:
  /// `header` is that of the answer; its RMPP part is filled here. No data is one empty segment.
  RmppSender(SaHeader header, std::vector<std::byte> data, RmppTiming timing, TimePoint now);

  /// The next MAD to send now; false when there is none. Ask after every event.
  [[nodiscard]] bool next(MadBytes& mad, TimePoint now);

  /// next() would give more, but for RmppTiming::most_at_once.
  [[nodiscard]] bool has_more() const;

  /// An event of its own: as many again may go out.
  void go_on() { at_once_ = 0; }

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
  std::uint32_t at_once_ = 0;  // sent since the last event
  std::uint32_t acknowledged_ = 0;
  std::uint32_t window_last_ = 1;
  unsigned retries_ = 0;
  std::uint64_t resent_ = 0;
  bool abort_due_ = false;
  RmppState state_ = RmppState::Running;
  RmppStatus status_ = RmppStatus::Ok;
};

}  // namespace smd::sa
