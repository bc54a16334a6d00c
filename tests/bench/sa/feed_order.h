// What a bench orders from libsmd_sa_feed.so, which it has loaded into a manager: over the Unix
// socket that $SMD_SA_FEED names, one line
//
//     FILE WINDOW MILLISECONDS RATE
//
// asks what FILE holds, round and round, with up to WINDOW requests in flight, RATE times a second
// or, where that is 0, as often as they are answered; with 0 ms everything once, and then the LIDs
// of the answers are in FILE. A wait begins when its question was due, also where the window was
// full then. The answer is one line: a JSON object, or "error:" and the reason.
//
// FILE: the request as a MAD whose ends mean nothing, then a FeedPair for each question.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace smd::bench {

inline constexpr std::size_t kFeedMad = 256;
inline constexpr std::size_t kFeedMostInFlight = 64;

/// As on the wire: source GUID, destination GUID, source LID, destination LID, LID of who asks.
using FeedPair = std::array<std::byte, 24>;

namespace feed_pair {
inline constexpr std::size_t kSourceGuid = 0;
inline constexpr std::size_t kTargetGuid = 8;
inline constexpr std::size_t kSourceLid = 16;
inline constexpr std::size_t kTargetLid = 18;
inline constexpr std::size_t kAsker = 20;
}  // namespace feed_pair

/// Offsets in a MAD that carries a PathRecord (IBA 15.2.5.16).
namespace feed_mad {
inline constexpr std::size_t kMethod = 3;
inline constexpr std::size_t kStatus = 4;
inline constexpr std::size_t kTransaction = 8;
inline constexpr std::size_t kTargetGuid = 72;
inline constexpr std::size_t kSourceGuid = 88;
inline constexpr std::size_t kTargetLid = 96;
inline constexpr std::size_t kSourceLid = 98;
}  // namespace feed_mad

template <class Number>
[[nodiscard]] Number big_endian(const std::byte* at) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number = static_cast<Number>(number << 8 | std::to_integer<Number>(at[i]));
  return number;
}

template <class Number>
void put_big_endian(std::byte* at, Number number) {
  for (std::size_t i = sizeof(Number); i-- > 0; number = static_cast<Number>(number >> 8))
    at[i] = static_cast<std::byte>(number & 0xff);
}

}  // namespace smd::bench
