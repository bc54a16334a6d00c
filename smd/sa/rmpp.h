// What both directions of a segmented transfer share (IBA 13.6): status codes and times. The state
// machines know no clock and no transport: they are told the time and hand out MADs.
#pragma once

#include <cstdint>

#include "smd/runtime/runtime.h"
#include "smd/sa/sa_mad.h"

namespace smd::sa {

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
  std::uint32_t most_ahead = 64;                       // segments sent and not acknowledged
};

inline constexpr std::uint8_t kRmppVersion = 1;

/// Bytes of a segment that PayloadLength counts: data, and the part of the SA header behind the
/// RMPP header.
inline constexpr std::uint32_t kSegmentPayload = 220;
inline constexpr std::uint32_t kSegmentOverhead = kSegmentPayload - kDataSize;

enum class RmppState : std::uint8_t { Running, Done, Failed };

/// A Stop or Abort in answer to `header`; the type follows from the status.
[[nodiscard]] MadBytes make_rmpp_end(const SaHeader& header, RmppStatus status);

}  // namespace smd::sa
