// A MAD on its way, and the pool it comes from.
#pragma once

#include <deque>

#include "smd/ib/types.h"
#include "smd/mad/header.h"
#include "smd/runtime/runtime.h"

namespace smd::sim {

/// LRH 8, BTH 12, DETH 8, MAD 256, ICRC 4, VCRC 2.
inline constexpr unsigned kWireBytes = 290;
/// What the data counters see of it: without the VCRC, in units of 4 bytes.
inline constexpr std::uint32_t kCountedWords = 72;

enum class Step : std::uint8_t { Arrive, SmiDone, SmaDone, GsiDone, Deliver };

struct Packet {
  MadBytes mad;
  Lid slid;
  Lid dlid;
  Lid origin;  // source of a request that its answer goes back to
  std::uint32_t source_qp;
  std::uint32_t dest_qp;
  std::uint16_t pkey_index;
  std::uint16_t hops;  // wires passed
  std::uint8_t sl;
  PortNum port;  // where it came in; of a local one on an adapter, where it goes out
  Step step;
  bool local;                // made by this node's own software
  bool by_lid;               // reached this node by its LID
  bool corrupt;              // its ICRC does not hold
  bool live;                 // out of the pool
  bool carried;              // came in by a carrier, which knows when its last byte does
  std::uint32_t node;        // where it is, or where it arrives next
  std::uint32_t node_epoch;  // of that node while the packet is inside
  std::uint32_t link_epoch;  // of the wire while the packet is on it
  TimePoint ready;           // its last byte is in
  TimerId timer;
  Packet* next;  // in a SMI's queue, or in the free list
};

/// Packets are never given back to the system: their number is that of the busiest moment.
class PacketPool {
 public:
  /// Every field but `mad` is reset.
  Packet* take();

  void give_back(Packet* packet);

  template <class F>
  void for_each_live(F f) {
    for (Packet& packet : packets_) {
      if (packet.live) f(packet);
    }
  }

 private:
  std::deque<Packet> packets_;
  Packet* free_ = nullptr;
};

}  // namespace smd::sim
