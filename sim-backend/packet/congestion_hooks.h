// Where congestion control acts on a net: marks at a switch, what a destination sends back, when a
// source may send. The net calls; the mechanisms are in sim-backend/congestion.
//
// Multicast packets, and those for LIDs that nobody has, belong to no flow: they are marked, but
// neither answered nor held back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim-backend/packet/wiring.h"

namespace smd::sim {

/// Bits of a packet's header. Set on the way, never cleared.
using Marks = std::uint8_t;
inline constexpr Marks kFirstMark = 1;   // FECN; MB; MBin
inline constexpr Marks kSecondMark = 2;  // VB; MBout

/// A data packet at a place where it may be marked. `port_vl` is port * VLs + VL.
struct MarkPoint {
  std::uint32_t node = 0;
  std::uint32_t port_vl = 0;  // of the buffer
  std::uint32_t out = 0;      // by which the packet leaves
  std::uint8_t out_port = 0;  // that one's port
  unsigned used = 0;          // blocks of 64 bytes in the buffer, this packet's among them
  unsigned capacity = 0;
  unsigned blocks = 0;  // of this packet
  bool held = false;    // it had the link and no credit, on departure

  // Whose packet it is, and when; on departure alone.
  HostNum source = 0;
  Lid destination;
  std::uint8_t sl = 0;
  Picos at = 0;
};

/// What stands in a switch.
class SwitchQueues {
 public:
  virtual ~SwitchQueues() = default;

  /// VLs that the packets of an input VL want to leave by, once for each packet.
  virtual void list_wanted(std::uint32_t input, std::vector<std::uint32_t>& out) const = 0;

  /// Packets in the buffers of a switch that leave by this VL.
  [[nodiscard]] virtual unsigned count_bound(std::uint32_t output) const = 0;
};

class Marking {
 public:
  virtual ~Marking() = default;

  /// Stored in an input buffer; it is in no queue yet.
  virtual void on_input(const MarkPoint&, const SwitchQueues&, Marks&) {}

  /// Stored in an output buffer, where switches have them.
  virtual void on_output(const MarkPoint&, Marks&) {}

  /// Onto the link. `used` is of the output buffer, or of the packet's input buffer where there is
  /// none, and of the input buffers whose first packet stands in line for this output.
  virtual void on_departure(const MarkPoint&, Marks&) {}

  /// False for marks that no packet can bear under these rules.
  [[nodiscard]] virtual bool may_occur(Marks marks) const = 0;
};

struct Flow {
  HostNum source = 0;
  HostNum destination = 0;
  std::uint8_t sl = 0;
};

/// A small packet back to the source of a flow. Never marked; goes before the data of its VL.
struct Feedback {
  Marks marks = 0;
  bool acknowledges = false;  // one packet of the flow has arrived
  std::uint16_t payload = 0;  // bytes, besides headers and CRCs
  std::uint8_t sl = 0;
};

class Echo {
 public:
  virtual ~Echo() = default;

  /// What the destination sends back for a packet of the flow.
  [[nodiscard]] virtual std::optional<Feedback> on_data(const Flow& flow, Marks marks) = 0;
};

class Reaction {
 public:
  virtual ~Reaction() = default;

  /// When the first packet of the flow may go; kNever: feedback has to come first. `now` or
  /// earlier: at once.
  [[nodiscard]] virtual Picos allowed_at(const Flow& flow, Picos now) = 0;

  virtual void on_queued(const Flow&) {}

  /// Out of the queue: on the link next, or thrown away.
  virtual void on_unqueued(const Flow&) {}

  /// On the link, from `begin` to `end`.
  virtual void on_injected(const Flow&, Picos begin, Picos end) = 0;

  /// Requires: the feedback came back to the flow's source.
  virtual void on_feedback(const Flow&, const Feedback&, Picos now) = 0;

  /// A packet of the flow, or its acknowledgement, was thrown away: what the transport's timeout
  /// would find out, told after the propagation of the fabric's longest cable.
  virtual void on_lost(const Flow&) {}
};

/// Any of them may be null: nothing is done there.
struct CongestionHooks {
  Marking* marking = nullptr;
  Echo* echo = nullptr;
  Reaction* reaction = nullptr;
};

struct FeedbackStats {
  std::uint64_t made = 0;
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t bytes = 0;  // of those made, headers included
};

}  // namespace smd::sim
