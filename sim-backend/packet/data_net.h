// A network that carries data, whatever its switches do: what hosts, meters and campaigns ask of
// it. Two models stand behind it: packets that move whole (packet_net.h) and worms
// (sim-backend/worm/worm_net.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/packet/congestion_hooks.h"
#include "sim-backend/packet/discard.h"
#include "sim-backend/packet/wiring.h"

namespace smd::sim {

/// One packet to make.
struct PacketRequest {
  Lid dlid;
  std::uint8_t sl = 0;
  std::uint16_t payload = 0;  // bytes, at most 4,096
  std::uint32_t tag = 0;      // the workload's own
  std::uint32_t copies = 1;   // hosts that it is for
  /// The host itself, in a net of routes that need no LIDs (PacketNet::open_all); `dlid` counts for
  /// nothing then.
  HostNum to = kNowhere;
};

/// A packet that has arrived whole.
struct Delivery {
  HostNum source = 0;
  HostNum destination = 0;
  Picos generated = 0;
  Picos injected = 0;  // its first bit went onto the first link
  Picos head = 0;      // its first bit came in
  Picos tail = 0;      // its last bit: now
  std::uint32_t tag = 0;
  std::uint32_t number = 0;  // of those that its source has made, where packets move
  std::uint16_t payload = 0;
  std::uint16_t dlid = 0;  // there, in a net that goes by LIDs
  std::uint8_t sl = 0;
  std::uint8_t hops = 0;  // switches passed
  Marks marks = 0;
  std::uint8_t partition = 0;  // that simulates the destination
};

struct Loss {
  HostNum source = 0;
  std::uint32_t node = 0;  // where it was thrown away
  Discard cause{};
  Picos at = 0;
  Picos generated = 0;
  std::uint32_t tag = 0;
  std::uint8_t partition = 0;  // that simulates `node`
};

class DataNet;

/// Who makes packets. Called at exact times and in a fixed order; may call DataNet::send and
/// wake.
class Workload {
 public:
  virtual ~Workload() = default;

  /// When the host is first asked; kNever for one that only answers what it gets.
  [[nodiscard]] virtual Picos first(HostNum host) = 0;

  /// Sends what is due; returns when to ask again (kNever: when woken).
  virtual Picos emit(DataNet& net, HostNum host, Picos now) = 0;

  virtual void on_delivered(DataNet&, const Delivery&) {}

  /// What it does for a host follows from that host's own calls and arrivals, by whose times it
  /// goes: several threads may ask about hosts of their own. Others need a net of one partition.
  [[nodiscard]] virtual bool splits() const { return false; }

  /// When it sends is given: AdapterModel::most_waiting holds nothing of it back.
  [[nodiscard]] virtual bool keeps_times() const { return false; }
};

/// Who looks on. Where there are several partitions on threads, each calls from its own: keep apart
/// what `partition` tells apart, and join it in that order.
class PacketObserver {
 public:
  virtual ~PacketObserver() = default;

  virtual void on_delivered(const Delivery&) {}

  virtual void on_discarded(const Loss&) {}
};

struct NetStats {
  std::uint64_t generated = 0;
  std::uint64_t wanted_bytes = 0;  // of those, headers included, once for each host that one is for
  std::uint64_t replicated = 0;    // copies of multicast packets beyond the first
  std::uint64_t taken_in = 0;      // by port 0 of switches
  std::uint64_t delivered = 0;
  std::uint64_t delivered_bytes = 0;  // payload
  DiscardCounts discarded{};
  std::uint64_t in_flight = 0;  // waiting at their source among them
  std::uint64_t waiting = 0;    // those
  std::uint64_t injected = 0;   // first bit on the first link
  // Of AdapterModel::most_waiting: times that a host was to make a message and was held back; hosts
  // that are now; how long all were, in ps, less the moment since when of those that are.
  std::uint64_t held_messages = 0;
  std::uint64_t held_hosts = 0;
  std::uint64_t held_time = 0;
  std::uint64_t hops = 0;    // packets forwarded, by switch
  std::uint64_t events = 0;  // but those in which a port only looks again, or a trace is read
  std::uint64_t vl15_sent = 0;
  std::uint64_t vl15_dropped = 0;
  std::uint64_t marked = 0;  // of those delivered
  FeedbackStats feedback;
  std::uint64_t impossible_marks = 0;  // packets with marks that Marking::may_occur denies
  std::uint64_t digest = 0;            // of every delivery and discard, with its time and place
  Picos last_out = 0;                  // when a packet was last delivered, taken in or discarded

  [[nodiscard]] std::uint64_t discards() const;

  /// In ps, of all hosts together.
  [[nodiscard]] std::uint64_t held_back(Picos now) const {
    return held_time + held_hosts * static_cast<std::uint64_t>(now);
  }

  NetStats& operator+=(const NetStats& other);
};

/// One step of a circle of waiting: this buffer is full, and its first packet waits for the next.
struct WaitingHop {
  std::uint32_t node = 0;
  PortNum port;                           // that the packet wants to leave by
  Vl vl;                                  // on which
  std::optional<std::uint64_t> holder{};  // in a worm network: the worm that has it
};

/// What stands in the input and output buffers of all switches, in shares of their size.
struct Occupancy {
  double mean_input = 0;
  double max_input = 0;
  double mean_output = 0;
  double max_output = 0;
};

/// What a port has done since the start, on all its lanes; the rest of the time it was idle.
struct PortUse {
  std::uint32_t node = 0;
  PortNum port;
  Picos active = 0;  // bytes went out
  // It had something to send, or might have, and was not allowed to; where that is told of each
  // lane, the one for which it was so longest.
  Picos blocked = 0;
  std::vector<Picos> blocked_lanes{};  // of each lane; empty where it is the port's alone
};

class DataNet {
 public:
  virtual ~DataNet() = default;

  /// Requires: `workload` and `observer` outlive the net, or null.
  virtual void set_workload(Workload* workload) = 0;
  virtual void set_observer(PacketObserver* observer) = 0;

  /// Asks every host for its first packet.
  virtual void start() = 0;

  /// Runs everything due up to `until`; the clock then shows `until`.
  virtual void run_until(Picos until) = 0;

  /// When the next event is due; kNever when there is none.
  [[nodiscard]] virtual Picos next_event() const = 0;

  /// Not for those who are called while several partitions run.
  [[nodiscard]] virtual Picos now() const = 0;

  [[nodiscard]] virtual unsigned partitions() const = 0;
  [[nodiscard]] virtual std::uint32_t partition_of(HostNum host) const = 0;

  /// Makes a packet at `source`, now.
  virtual void send(HostNum source, const PacketRequest& sending) = 0;

  /// Asks the workload about `host` at `at`.
  virtual void wake(HostNum host, Picos at) = 0;

  [[nodiscard]] virtual const NetStats& stats() const = 0;
  [[nodiscard]] virtual HostNum host_count() const = 0;
  [[nodiscard]] virtual Lid host_lid(HostNum host) const = 0;

  /// Of the host's link, as Wire has it; 0 where it has none.
  [[nodiscard]] virtual std::uint32_t host_byte_time(HostNum host) const = 0;

  /// It was asked to send something, since the start.
  [[nodiscard]] virtual bool has_sent(HostNum host) const = 0;

  /// What each packet has on a link beside its payload.
  [[nodiscard]] virtual unsigned header_bytes() const = 0;

  [[nodiscard]] virtual Occupancy occupancy() const = 0;

  /// Of all cabled ports of switches, in the order of nodes and ports.
  [[nodiscard]] virtual std::vector<PortUse> port_use() const = 0;

  /// A circle of waiting that nothing opens before `end`, when the run is over at the latest; empty
  /// when there is none. kNever: the run goes on for as long as it takes.
  [[nodiscard]] virtual std::vector<WaitingHop> find_deadlock(Picos end) const = 0;

  /// Counts everything again. The first thing that does not hold, or nothing.
  [[nodiscard]] virtual std::string audit() const = 0;
};

/// "sw-0:3(VL0) -> sw-1:2(VL0) -> …".
[[nodiscard]] std::string print_deadlock(const FabricSpec& spec,
                                         const std::vector<WaitingHop>& circle);

}  // namespace smd::sim
