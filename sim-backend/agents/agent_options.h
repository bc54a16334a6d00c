// What the simulated adapters and switches of a fabric are able to do.
#pragma once

#include <cstdint>

#include "smd/ib/types.h"

namespace smd::sim {

enum class CongestionSupport : std::uint8_t {
  Full,
  None,    // the port refuses the class, as hardware without an agent for it
  Silent,  // it does not answer
  Deaf     // it answers every Set as done, and keeps what it had
};

/// Who is shown the extended speeds of PortInfo.
enum class ExtendedSpeeds : std::uint8_t {
  OnDemand,    // who asks with bit 31 of the attribute modifier
  Always,      // everybody
  Unannounced  // everybody, and CapabilityMask says nothing of them
};

/// Which counters of waiting (PortXmitWait) a port has.
enum class WaitCounters : std::uint8_t {
  Wide,   // in PortCountersExtended, and in PortCounters
  Short,  // in PortCounters alone
  None,
  Busy,   // the agent of performance management answers that it is busy, and does nothing
  Silent  // it does not answer at all
};

struct AgentOptions {
  std::uint16_t lft_cap = 49152;  // LinearFDBCap
  std::uint16_t rft_cap = 0;  // above 0: switches route by a random forwarding table, without a LFT
  std::uint16_t mft_cap = 1024;
  std::uint16_t ca_partition_cap = 128;
  std::uint16_t switch_partition_cap = 32;  // of port 0 and of each external port
  std::uint8_t vl_cap = 4;                  // code: VL0-7
  std::uint8_t vl_arb_cap = 8;              // entries of the high and of the low table, at most 64
  std::uint8_t mtu_cap = 5;                 // code: 4096 bytes
  std::uint8_t guid_cap = 8;
  std::uint8_t optimized_sl_to_vl = 0;  // what SwitchInfo offers; 0 refuses wildcards
  ExtendedSpeeds extended_speeds = ExtendedSpeeds::OnDemand;
  bool port_state_table = true;      // switches have SwitchPortStateTable
  bool routes_smps_by_lid = true;    // false: SMPs by LID are dropped, as planarized switches do
  bool adaptive_routing = false;     // Mellanox switches have the registers of it: sma_vendor.cpp
  bool multicast_fdb_top = false;    // switches have MulticastFDBTop, and announce it
  bool one_step_activation = false;  // Initialize may go to Active at once, as in the thesis
  bool traps = true;
  unsigned trap_repeats = 10;  // a trap nobody represses is given up after so many repetitions
  CongestionSupport congestion = CongestionSupport::Full;
  std::uint8_t cct_blocks = 2;     // of 64 entries each, in an adapter's congestion control table
  bool credit_starvation = false;  // switches detect it
  WaitCounters wait_counters = WaitCounters::Wide;
  PhysState link_down_default_state = PhysState::Polling;  // at power-on
  PortState base_port0_state = PortState::Active;  // without a meaning: IBA leaves it unused
};

}  // namespace smd::sim
