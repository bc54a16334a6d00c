// Link-level flow control (IBA 7.9): per data VL, in blocks of 64 bytes, modulo 4096.
//
// The sender counts what it has sent since the link came up (FCTBS); the receiver counts what has
// arrived (ABR) and tells up to where the sender may go (FCCL = ABR + free blocks).
#pragma once

#include <algorithm>
#include <cstdint>

namespace smd::sim {

inline constexpr unsigned kBlockBytes = 64;
inline constexpr unsigned kCreditModulus = 4096;
inline constexpr unsigned kMostCredit = 2048;  // blocks: 128 KiB may be granted at a time

inline constexpr unsigned kFlowControlBytes = 6;  // Op and FCTBS, VL and FCCL, LPCRC

/// Blocks that a packet takes: headers and CRCs do not count.
[[nodiscard]] constexpr unsigned blocks_of(unsigned payload) {
  return std::max(1u, (payload + kBlockBytes - 1) / kBlockBytes);
}

[[nodiscard]] constexpr std::uint16_t credit_limit(std::uint16_t abr, unsigned free_blocks) {
  return static_cast<std::uint16_t>((abr + std::min(free_blocks, kMostCredit)) % kCreditModulus);
}

[[nodiscard]] constexpr bool has_credit(std::uint16_t fccl, std::uint16_t fctbs, unsigned blocks) {
  return (fccl - (fctbs + blocks)) % kCreditModulus <= kMostCredit;
}

/// FCTBS and ABR after so many blocks more.
[[nodiscard]] constexpr std::uint16_t count_blocks(std::uint16_t counter, unsigned blocks) {
  return static_cast<std::uint16_t>((counter + blocks) % kCreditModulus);
}

/// What the sender may still send.
[[nodiscard]] constexpr unsigned credit_left(std::uint16_t fccl, std::uint16_t fctbs) {
  return (unsigned{fccl} + kCreditModulus - fctbs) % kCreditModulus;
}

}  // namespace smd::sim
