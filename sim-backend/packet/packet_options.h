// How the switches, adapters and cables of a packet-level fabric behave. Presets name the source of
// their figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim-backend/packet/picos.h"

namespace smd::sim {

/// How a switch copies a multicast packet to the ports of its row.
enum class CopyOrder : std::uint8_t {
  InTurn,   // one after the other by number of port: each waits for its port alone
  Together  // all at once, as soon as every port is free and has room; until then others pass
};

/// Times are latencies of a pipeline: work on one packet overlaps the transfer of the one before.
struct SwitchModel {
  Picos routing = 0;  // table look-up
  Picos mapping = 0;  // SL to VL
  Picos crossbar_arbitration = 0;
  Picos crossbar_setup = 0;
  Picos link_arbitration = 0;
  bool one_routing_unit = false;  // per switch, one packet at a time; else one per port
  /// Packets cross into a buffer of the output port. Else they cross onto the link itself, which
  /// must then have credit when they start.
  bool output_buffers = true;
  /// The VLs of an input port share one way into the crossbar. Else each has its own.
  bool multiplexed = false;
  /// Of the packets of a VL that ask for one output, the one that is in the network for longest
  /// crosses first (age-based arbitration); copies that leave together aside. Else they cross in
  /// the order in which they asked.
  bool oldest_first = false;
  /// Packets may leave by the port that they came in by. Switches of a subnet discard them.
  bool turns_back = false;
  CopyOrder copies = CopyOrder::InTurn;
  unsigned speed_up_percent = 100;      // of the crossbar against the switch's fastest link
  unsigned input_buffer_bytes = 4096;   // per port and VL, in payload; at most 128 KiB
  unsigned output_buffer_bytes = 4096;  // likewise
  unsigned vl15_buffer_bytes = 4096;    // per output port; 0: never full
};

/// How the packets of an adapter wait for its port.
enum class SourceQueues : std::uint8_t {
  Shared,          // one queue per VL
  Hashed,          // one of `queues` per VL, by destination
  PerDestination,  // one per VL and destination
  Pool             // one buffer per VL: the oldest packet that may go, of those that it holds
};

struct AdapterModel {
  Picos latency = 0;  // from a packet's making to its being ready for the link
  SourceQueues waiting = SourceQueues::Shared;
  unsigned queues = 16;            // where they are hashed
  unsigned pool_bytes = 25600;     // of the pool, headers included; at least one packet
  unsigned most_waiting = 0;       // packets; the source then stops making more. 0: no limit
  unsigned buffer_bytes = 131072;  // for what arrives, per VL; emptied at once
  bool static_rate = false;        // keep the pace of destinations with slower links (IPD)
};

struct LinkModel {
  Picos propagation = 0;
  /// Groups of so many switches each, in the order of the fabric's nodes; 0: there are none, and
  /// all cables are alike. Else `propagation` is that of adapters' cables only.
  unsigned group_switches = 0;
  Picos within_groups = 0;
  Picos between_groups = 0;
  unsigned header_bytes = 26;  // LRH 8, BTH 12, ICRC 4, VCRC 2
  /// Flow control packets take their time on the link, after the packet that is on it. Else only
  /// their propagation counts.
  bool flow_control_packets = true;
  Picos byte_time = 0;  // of every link; 0: as fast as the cable is
};

/// What events can name, but for a few that one event makes more.
inline constexpr std::uint32_t kMostPackets = (1u << 25) - 1024;

struct PacketOptions {
  SwitchModel switches;
  AdapterModel adapters;
  LinkModel links;
  unsigned vls = 1;  // data VLs that there is room for, 1 to 15
  /// Of a scenario: buffers of switches are made larger where they hold less than the longest
  /// credit loop takes (wiring.h). A net takes them as they are.
  bool fit_buffers = false;
  /// HOQLife and SwitchLifeTime as the registers say. Else nothing grows old.
  bool lifetimes = false;
  std::uint64_t seed = 1;
  // Results do not depend on these, as long as a run comes to its end.
  unsigned partitions = 1;  // see partition_split.h
  /// Of a partition, waiting at their sources or under way; with more the run ends: is_full(). Up
  /// to kMostPackets.
  std::uint32_t most_packets = kMostPackets;
  std::size_t cache_bytes = std::size_t{2} << 20;  // a core's own; see net_ahead.cpp

  /// The evaluation of subnet management changes: 1x SDR, 4 KiB buffers, demultiplexed.
  static PacketOptions thesis();
  /// Today's switches: 130 ns from port to port, 50 ns of cable; buffers that fit the cables.
  static PacketOptions modern();
  /// The network of a flit-level simulator: cycles of 1,024 ps in which a link passes 64 bytes,
  /// three per router and one per cable; one packet in the crossbar per input port.
  static PacketOptions cycles();
  /// Routers in which the crossbar never holds anything back, as BookSim's with an internal
  /// speed-up of 10: cycles of 1,024 ps in which a link passes 64 bytes, one per router, cable and
  /// credit; lanes and output buffers of 64 flits.
  static PacketOptions booksim();
  /// The multistage networks of a study of congestion (Ferrer 2012): cycles of 1 ns in which a link
  /// passes one byte; one each for routing, switch and cable; buffers of four packets of 256 bytes;
  /// 22 bytes of headers; a queue for each destination.
  static PacketOptions multistage();
};

/// "thesis", "modern", "cycles", "booksim", "multistage"; false for other names.
[[nodiscard]] bool find_preset(std::string_view name, PacketOptions& out);

/// What is wrong with them; empty when all is well.
[[nodiscard]] std::string check_options(const PacketOptions& options);

/// Queues of a source for each VL.
[[nodiscard]] std::uint64_t count_queues(const AdapterModel& adapters, std::uint64_t hosts);

/// Why the sources of so many hosts have more queues than can be numbered; empty when they have
/// not.
[[nodiscard]] std::string check_queues(const PacketOptions& options, std::uint64_t hosts);

}  // namespace smd::sim
