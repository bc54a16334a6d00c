// The fabric's ports as one flat range, and its cables. Fixed for a run: what moves is state.
#pragma once

#include <cstdint>
#include <vector>

#include "sim-backend/kernel/huge_pages.h"
#include "sim-backend/packet/packet_options.h"
#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {

using HostNum = std::uint32_t;
using PortAt = std::uint32_t;  // port p of node n is at first_port[n] + p

inline constexpr std::uint32_t kNowhere = UINT32_MAX;

/// All that moving a packet asks about a port's place: half a cache line.
struct alignas(32) Wire {
  PortAt peer = kNowhere;
  std::uint32_t node = 0;
  PortAt first = 0;                 // first_port of the node
  std::uint32_t byte_time = 0;      // ps, in units of 2^-16
  std::uint32_t crossing_time = 0;  // of a byte through the node's crossbar, likewise
  std::uint32_t propagation = 0;    // ps
  std::uint8_t number = 0;
  std::uint8_t last_number = 0;  // num_ports of the node
  bool on_switch = false;
  bool to_switch = false;
  bool crosses = false;  // the far end is in another partition
};

/// Picoseconds that so many bytes take, to the nearest.
[[nodiscard]] constexpr Picos transfer_time(std::uint32_t byte_time, unsigned bytes) {
  return (Picos{byte_time} * bytes + (1 << 15)) >> 16;
}

/// Of a link of this width and speed, after line coding (8b/10b up to QDR, 64b/66b beyond).
[[nodiscard]] std::uint32_t byte_time_of(LinkWidth width, LinkSpeed speed);

/// A cable into a switch along which a flow sends, and credit comes back for what has left the
/// switch's input buffer. Worst case: a packet is under way as the credit would leave.
struct CreditLoop {
  Picos packet = 0;  // one on the cable
  Picos turn = 0;    // from a packet's first byte until credit for it is back

  /// That are sent within a turn: what the buffer holds for a flow alone to have all of the cable.
  [[nodiscard]] unsigned packets() const {
    return packet == 0 ? 0 : static_cast<unsigned>((turn + packet - 1) / packet);
  }
};

struct Wiring {
  /// Requires: check_spec(spec) is empty.
  Wiring(const FabricSpec& spec, const PacketOptions& options);

  /// By node. Of an adapter, whose ports begin with 1, one less than where they are.
  std::vector<PortAt> first_port;
  std::vector<std::uint8_t> is_switch;
  std::vector<std::uint8_t> num_ports;   // external ones
  PagedVector<Wire> wires;               // by PortAt
  std::vector<PortAt> host_port;         // cabled adapter ports, in node order, then by port
  std::vector<std::uint32_t> host_mbps;  // of the same; empty where adapters keep no static rates
  PagedVector<HostNum> host_of;          // by PortAt; kNowhere where there is none

  [[nodiscard]] PortAt port_of(std::uint32_t node, unsigned number) const {
    return first_port[node] + number;
  }

  /// The first port of a node; behind the last node, the number of all ports.
  [[nodiscard]] PortAt begin_of(std::size_t node) const {
    return node == is_switch.size() ? static_cast<PortAt>(wires.size())
                                    : first_port[node] + (is_switch[node] != 0 ? 0 : 1);
  }

  /// Of all cables the one that takes most packets of so many bytes. All zero where no cable leads
  /// to a switch.
  [[nodiscard]] CreditLoop longest_credit_loop(const PacketOptions& options,
                                               unsigned payload) const;

 private:
  void set_crossing_time(std::uint32_t node, unsigned speed_up_percent);
};

}  // namespace smd::sim
