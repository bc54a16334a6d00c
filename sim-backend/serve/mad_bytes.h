// The few fields of a MAD that a switchboard looks at, read and written in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "smd/mad/header.h"

namespace smd::sim {

[[nodiscard]] inline std::uint8_t byte_at(const MadBytes& mad, std::size_t at) {
  return static_cast<std::uint8_t>(mad[at]);
}

[[nodiscard]] inline MgmtClass class_of(const MadBytes& mad) {
  return static_cast<MgmtClass>(byte_at(mad, 1));
}

[[nodiscard]] inline Method method_of(const MadBytes& mad) {
  return static_cast<Method>(byte_at(mad, 3));
}

[[nodiscard]] inline bool has_response_bit(const MadBytes& mad) {
  return (byte_at(mad, 3) & 0x80u) != 0;
}

/// True for what the receiver must answer: no response bit, and no Send, Trap or TrapRepress.
[[nodiscard]] inline bool wants_answer(const MadBytes& mad) {
  const Method method = method_of(mad);
  return !has_response_bit(mad) && method != Method::Send && method != Method::Trap &&
         method != Method::TrapRepress;
}

[[nodiscard]] inline bool is_smp(const MadBytes& mad) {
  return class_of(mad) == MgmtClass::SubnLid || class_of(mad) == MgmtClass::SubnDirected;
}

[[nodiscard]] inline std::uint64_t transaction_of(const MadBytes& mad) {
  std::uint64_t id = 0;
  for (std::size_t i = 8; i < 16; ++i) id = id << 8 | byte_at(mad, i);
  return id;
}

inline void set_transaction(MadBytes& mad, std::uint64_t id) {
  for (std::size_t i = 16; i-- > 8; id >>= 8) mad[i] = static_cast<std::byte>(id & 0xff);
}

/// libumad2sim leaves the hop pointer to the simulator. A directed SMP starts at 0; one that
/// returns (D bit) starts one beyond its hop count (IBA 14.2.2.1, 14.2.2.3).
inline void start_directed(MadBytes& mad) {
  if (class_of(mad) != MgmtClass::SubnDirected) return;
  const bool returning = (byte_at(mad, 4) & 0x80u) != 0;
  mad[6] = returning ? static_cast<std::byte>(byte_at(mad, 7) + 1) : std::byte{0};
}

}  // namespace smd::sim
