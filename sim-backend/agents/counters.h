// What a port counts. The 32-bit and the 64-bit traffic counters are reset separately, so both are
// kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace smd::sim {

/// IBA counters stick at their largest value.
template <class T>
constexpr void add_sticky(T& counter, T amount = 1) {
  const T room = static_cast<T>(std::numeric_limits<T>::max() - counter);
  counter = amount > room ? std::numeric_limits<T>::max() : static_cast<T>(counter + amount);
}

struct PortCounterRegs {
  std::uint64_t wide_xmit_data = 0;  // units of 4 bytes
  std::uint64_t wide_rcv_data = 0;
  std::uint64_t wide_xmit_packets = 0;
  std::uint64_t wide_rcv_packets = 0;
  std::uint64_t wide_unicast_xmit = 0;
  std::uint64_t wide_unicast_rcv = 0;
  std::uint64_t wide_xmit_wait = 0;  // ticks, each the time that 4 bytes take
  std::uint32_t xmit_data = 0;
  std::uint32_t rcv_data = 0;
  std::uint32_t xmit_packets = 0;
  std::uint32_t rcv_packets = 0;
  std::uint32_t xmit_wait = 0;
  std::uint16_t rcv_errors = 0;
  std::uint16_t rcv_switch_relay_errors = 0;
  std::uint16_t xmit_discards = 0;
  std::uint16_t vl15_dropped = 0;
  std::uint8_t link_downed = 0;

  void count_xmit(std::uint32_t words) {
    add_sticky<std::uint64_t>(wide_xmit_data, words);
    add_sticky<std::uint64_t>(wide_xmit_packets);
    add_sticky<std::uint64_t>(wide_unicast_xmit);
    add_sticky(xmit_data, words);
    add_sticky(xmit_packets);
  }

  /// Of data packets that were carried elsewhere.
  void count_data(std::uint64_t words, std::uint64_t waits) {
    const auto narrow = [](std::uint64_t number) {
      return static_cast<std::uint32_t>(
          std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
    };
    add_sticky(wide_xmit_data, words);
    add_sticky(wide_xmit_wait, waits);
    add_sticky(xmit_data, narrow(words));
    add_sticky(xmit_wait, narrow(waits));
  }

  void count_rcv(std::uint32_t words) {
    add_sticky<std::uint64_t>(wide_rcv_data, words);
    add_sticky<std::uint64_t>(wide_rcv_packets);
    add_sticky<std::uint64_t>(wide_unicast_rcv);
    add_sticky(rcv_data, words);
    add_sticky(rcv_packets);
  }
};

}  // namespace smd::sim
