// What the source queues of a host cost in memory.
//
//   FVOQ   a queue per destination, of as many packets as the window; a packet is kept until it is
//          acknowledged. With counters instead of the kept packets: one packet per queue.
//   PVOQ   so many queues, destinations by remainder; one packet per queue
//   SB     one buffer of a given size; a packet leaves it when it is injected
//
// Control is what is kept per flow besides: packets on their way and the window, 0 … window each,
// and the wait, an exponent 0 … stages + 1. Those of FVOQ that keeps packets need no counter.
//
// Source: Ferrer 2012, 8.6. It rounds the logarithm of a counter's values; here it is rounded up,
// or a counter could not hold them.
#pragma once

#include <cstdint>

namespace smd::sim {

struct SourceNeeds {
  std::uint64_t destinations = 0;
  unsigned window = 2;        // packets
  unsigned packet_bytes = 0;  // headers included, or not: as one counts
  unsigned stages = 1;        // n
};

struct SourceMemory {
  std::uint64_t data_bytes = 0;
  std::uint64_t control_bits = 0;

  [[nodiscard]] std::uint64_t bytes() const { return data_bytes + (control_bits + 7) / 8; }
};

[[nodiscard]] SourceMemory fvoq_memory(const SourceNeeds& needs);
[[nodiscard]] SourceMemory counted_fvoq_memory(const SourceNeeds& needs);
[[nodiscard]] SourceMemory pvoq_memory(const SourceNeeds& needs, unsigned queues);
[[nodiscard]] SourceMemory pool_memory(const SourceNeeds& needs, std::uint64_t pool_bytes);

/// Bits of a counter from 0 to `most`.
[[nodiscard]] unsigned counter_bits(unsigned most);

/// What was found enough for latencies up to ten times that near saturation, by simulation (Table
/// 8.5): a queue for four hosts, a tenth of FVOQ.
[[nodiscard]] unsigned published_queues(std::uint64_t hosts);
[[nodiscard]] std::uint64_t published_pool(const SourceNeeds& needs);

}  // namespace smd::sim
