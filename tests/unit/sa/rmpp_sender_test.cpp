// The sending side of a segmented transfer against a receiver written here from the specification:
// losses, disorder, windows that make no sense, silence.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "smd/sa/rmpp.h"

namespace smd::sa {
namespace {

using std::chrono_literals::operator""ms;

TimePoint at(Duration time) { return {time}; }

std::vector<std::byte> numbers(std::size_t size) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
  return data;
}

SaHeader table_header() {
  return {.mad = {.mgmt_class = 3, .class_version = 2, .method = 0x92, .transaction_id = 5}};
}

RmppHeader ack(std::uint32_t segment, std::uint32_t window_last) {
  return {.version = 1, .type = 2, .flags = 1, .segment = segment, .length = window_last};
}

/// Every MAD that may go out now.
std::vector<MadBytes> drain(RmppSender& sender, TimePoint now) {
  std::vector<MadBytes> out;
  MadBytes mad{};
  while (sender.next(mad, now)) out.push_back(mad);
  return out;
}

RmppHeader rmpp_of(const MadBytes& mad) { return decode_sa_header(mad)->rmpp; }

std::vector<std::uint32_t> segments_of(const std::vector<MadBytes>& mads) {
  std::vector<std::uint32_t> numbers;
  for (const MadBytes& mad : mads) numbers.push_back(rmpp_of(mad).segment);
  return numbers;
}

using Segments = std::vector<std::uint32_t>;

TEST(RmppSender, OneSegmentSaysThatItIsFirstAndLast) {
  RmppSender sender(table_header(), numbers(112), {}, at(0ms));
  const std::vector<MadBytes> mads = drain(sender, at(0ms));
  ASSERT_EQ(mads.size(), 1u);
  EXPECT_EQ(rmpp_of(mads[0]).flags, 7);
  EXPECT_EQ(rmpp_of(mads[0]).type, 1);
  EXPECT_EQ(rmpp_of(mads[0]).version, 1);
  EXPECT_EQ(rmpp_of(mads[0]).length, 132u);  // data, and 20 bytes of header
  EXPECT_EQ(sender.state(), RmppState::Running);
  sender.on_control(ack(1, 1), at(1ms));
  EXPECT_EQ(sender.state(), RmppState::Done);
}

TEST(RmppSender, AnEmptyTableIsOneEmptySegment) {
  RmppSender sender(table_header(), {}, {}, at(0ms));
  const std::vector<MadBytes> mads = drain(sender, at(0ms));
  ASSERT_EQ(mads.size(), 1u);
  EXPECT_EQ(rmpp_of(mads[0]).length, 20u);
  EXPECT_EQ(rmpp_of(mads[0]).flags, 7);
}

TEST(RmppSender, FirstSegmentGoesAloneThenTheWindow) {
  RmppSender sender(table_header(), numbers(1000), {}, at(0ms));
  EXPECT_EQ(sender.segments(), 5u);
  EXPECT_EQ(segments_of(drain(sender, at(0ms))), Segments({1}));
  sender.on_control(ack(1, 3), at(1ms));
  const std::vector<MadBytes> window = drain(sender, at(1ms));
  EXPECT_EQ(segments_of(window), Segments({2, 3}));
  EXPECT_EQ(rmpp_of(window[0]).flags, 1);
  sender.on_control(ack(3, 64), at(2ms));
  const std::vector<MadBytes> rest = drain(sender, at(2ms));
  EXPECT_EQ(segments_of(rest), Segments({4, 5}));
  EXPECT_EQ(rmpp_of(rest[1]).flags, 5);
  EXPECT_EQ(rmpp_of(rest[1]).length, 220u);
  sender.on_control(ack(5, 64), at(3ms));
  EXPECT_EQ(sender.state(), RmppState::Done);
}

TEST(RmppSender, TheFirstSegmentAnnouncesTheWholeLength) {
  RmppSender sender(table_header(), numbers(450), {}, at(0ms));
  EXPECT_EQ(rmpp_of(drain(sender, at(0ms))[0]).length, 450u + 3 * 20);
  sender.on_control(ack(1, 9), at(0ms));
  EXPECT_EQ(rmpp_of(drain(sender, at(0ms))[1]).length, 50u + 20);
}

TEST(RmppSender, SilenceRepeatsWhatWasNotAcknowledged) {
  RmppSender sender(table_header(), numbers(900), {.response = 100ms, .retries = 2}, at(0ms));
  drain(sender, at(0ms));
  sender.on_control(ack(1, 5), at(10ms));
  EXPECT_EQ(segments_of(drain(sender, at(10ms))), Segments({2, 3, 4, 5}));
  EXPECT_EQ(sender.deadline(), at(110ms));
  sender.on_control(ack(3, 5), at(20ms));
  EXPECT_EQ(sender.deadline(), at(120ms));
  sender.on_timeout(at(120ms));
  EXPECT_EQ(segments_of(drain(sender, at(120ms))), Segments({4, 5}));
  EXPECT_EQ(sender.resent(), 2u);
}

TEST(RmppSender, GivesUpAfterItsRetriesAndSaysSo) {
  RmppSender sender(table_header(), numbers(10), {.response = 100ms, .retries = 2}, at(0ms));
  drain(sender, at(0ms));
  for (const Duration when : {100ms, 200ms}) {
    sender.on_timeout(at(when));
    EXPECT_EQ(drain(sender, at(when)).size(), 1u);
  }
  sender.on_timeout(at(300ms));
  EXPECT_EQ(sender.state(), RmppState::Failed);
  const std::vector<MadBytes> last = drain(sender, at(300ms));
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(rmpp_of(last[0]).type, 4);  // Abort
  EXPECT_EQ(rmpp_of(last[0]).status, 126);
}

TEST(RmppSender, ProgressRenewsTheRetriesButNotTheWholeTime) {
  RmppSender sender(
      table_header(), numbers(2000), {.response = 100ms, .retries = 1, .total = 450ms}, at(0ms));
  drain(sender, at(0ms));
  Duration now = 0ms;
  for (std::uint32_t segment = 1; segment <= 4; ++segment) {
    now += 100ms;
    sender.on_timeout(at(now));
    drain(sender, at(now));
    sender.on_control(ack(segment, segment + 1), at(now));
    drain(sender, at(now));
    EXPECT_EQ(sender.state(), RmppState::Running);
  }
  EXPECT_EQ(sender.deadline(), at(450ms));
  sender.on_timeout(at(450ms));
  EXPECT_EQ(sender.status(), RmppStatus::TotalTimeTooLong);
}

TEST(RmppSender, AWindowOfNothingEndsInTime) {
  RmppSender sender(table_header(), numbers(900), {.response = 100ms, .retries = 3}, at(0ms));
  drain(sender, at(0ms));
  sender.on_control(ack(1, 1), at(0ms));  // took the segment, opened no window
  EXPECT_TRUE(drain(sender, at(0ms)).empty());
  for (int i = 1; i <= 4; ++i) sender.on_timeout(at(i * 100ms));
  EXPECT_EQ(sender.status(), RmppStatus::TooManyRetries);
}

TEST(RmppSender, AWindowBelowItsSegmentIsAnAbort) {
  RmppSender sender(table_header(), numbers(900), {}, at(0ms));
  drain(sender, at(0ms));
  sender.on_control(ack(1, 0), at(0ms));
  EXPECT_EQ(sender.status(), RmppStatus::WindowTooSmall);
  EXPECT_EQ(rmpp_of(drain(sender, at(0ms)).at(0)).status, 122);
}

TEST(RmppSender, AnAckOfWhatWasNotSentIsAnAbort) {
  RmppSender sender(table_header(), numbers(900), {}, at(0ms));
  drain(sender, at(0ms));
  sender.on_control(ack(2, 9), at(0ms));
  EXPECT_EQ(sender.status(), RmppStatus::SegmentTooBig);
}

TEST(RmppSender, AnAckOfSegmentZeroOnlyOpensTheWindow) {
  RmppSender sender(table_header(), numbers(900), {}, at(0ms));
  EXPECT_EQ(segments_of(drain(sender, at(0ms))), Segments({1}));
  sender.on_control(ack(0, 3), at(0ms));
  EXPECT_EQ(segments_of(drain(sender, at(0ms))), Segments({2, 3}));
}

TEST(RmppSender, OldAcksChangeNothing) {
  RmppSender sender(table_header(), numbers(2000), {}, at(0ms));
  drain(sender, at(0ms));
  sender.on_control(ack(1, 8), at(0ms));
  drain(sender, at(0ms));
  sender.on_control(ack(6, 9), at(0ms));
  EXPECT_EQ(segments_of(drain(sender, at(0ms))), Segments({9}));
  sender.on_control(ack(6, 7), at(0ms));
  sender.on_control(ack(2, 9), at(0ms));
  EXPECT_TRUE(drain(sender, at(0ms)).empty());
  EXPECT_EQ(sender.state(), RmppState::Running);
  sender.on_timeout(at(1000ms));
  EXPECT_EQ(segments_of(drain(sender, at(1000ms))), Segments({7, 8, 9}));
}

TEST(RmppSender, AGreedyWindowIsNotFilledAtOnce) {
  RmppSender sender(
      table_header(), numbers(200'000), {.most_ahead = 150, .most_at_once = 64}, at(0ms));
  EXPECT_EQ(segments_of(drain(sender, at(0ms))), Segments({1}));
  EXPECT_FALSE(sender.has_more()) << "there is no window yet";
  sender.on_control(ack(1, UINT32_MAX), at(0ms));
  EXPECT_EQ(drain(sender, at(0ms)).size(), 64u);
  EXPECT_TRUE(sender.has_more());
  sender.go_on();
  EXPECT_EQ(drain(sender, at(0ms)).size(), 64u);
  sender.go_on();
  EXPECT_EQ(segments_of(drain(sender, at(0ms))).back(), 151u) << "150 without an acknowledgement";
  EXPECT_FALSE(sender.has_more());
  sender.go_on();
  EXPECT_TRUE(drain(sender, at(0ms)).empty());
  sender.on_control(ack(11, UINT32_MAX), at(0ms));
  EXPECT_EQ(drain(sender, at(0ms)).size(), 10u);
}

TEST(RmppSender, WhatIsSentAgainGoesInPiecesToo) {
  RmppSender sender(table_header(), numbers(200'000), {.most_at_once = 64}, at(0ms));
  drain(sender, at(0ms));
  sender.on_control(ack(1, 129), at(0ms));
  drain(sender, at(0ms));
  sender.go_on();
  EXPECT_EQ(segments_of(drain(sender, at(0ms))).back(), 129u);
  EXPECT_FALSE(sender.has_more());
  sender.on_timeout(at(1000ms));
  EXPECT_EQ(segments_of(drain(sender, at(1000ms))).back(), 65u);
  EXPECT_TRUE(sender.has_more());
  sender.go_on();
  EXPECT_EQ(segments_of(drain(sender, at(1000ms))).back(), 129u);
  EXPECT_EQ(sender.resent(), 128u);
}

TEST(RmppSender, StopAndAbortEndIt) {
  for (const RmppType type : {RmppType::Stop, RmppType::Abort}) {
    RmppSender sender(table_header(), numbers(900), {}, at(0ms));
    drain(sender, at(0ms));
    sender.on_control(
        {.version = 1, .type = static_cast<std::uint8_t>(type), .flags = 1, .status = 127},
        at(0ms));
    EXPECT_EQ(sender.state(), RmppState::Failed);
    EXPECT_TRUE(drain(sender, at(0ms)).empty()) << "an end is not answered";
  }
}

TEST(RmppSender, StrangeControlIsAnAbort) {
  const std::pair<RmppHeader, RmppStatus> cases[] = {
      {{.version = 2, .type = 2, .flags = 1, .segment = 1, .length = 1}, RmppStatus::BadVersion},
      {{.version = 1, .type = 9, .flags = 1}, RmppStatus::BadType},
      {{.version = 1, .type = 2, .flags = 1, .status = 9, .segment = 1, .length = 1},
       RmppStatus::IllegalStatus}};
  for (const auto& [control, status] : cases) {
    RmppSender sender(table_header(), numbers(900), {}, at(0ms));
    drain(sender, at(0ms));
    sender.on_control(control, at(0ms));
    EXPECT_EQ(sender.status(), status);
  }
}

/// Takes segments as the specification says a receiver does.
struct Receiver {
  std::uint32_t received = 0;
  std::vector<std::byte> data;
  bool complete = false;

  void take(const MadBytes& mad) {
    const RmppHeader rmpp = rmpp_of(mad);
    if (rmpp.type != 1 || rmpp.segment != received + 1) return;
    const bool last = (rmpp.flags & rmpp_flag::kLast) != 0;
    const std::size_t size = last ? rmpp.length - 20 : 200;
    data.insert(data.end(), mad.begin() + 56, mad.begin() + 56 + static_cast<long>(size));
    ++received;
    complete = last;
  }
};

TEST(RmppSender, ArrivesWholeOverALossyDisorderlyWire) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const std::vector<std::byte> data = numbers(random() % 6000);
    RmppSender sender(table_header(), data, {.response = 50ms, .retries = 40}, at(0ms));
    Receiver receiver;
    std::uint32_t window_last = 1;
    Duration now = 0ms;
    while (sender.state() == RmppState::Running) {
      std::vector<MadBytes> wire = drain(sender, at(now));
      std::shuffle(wire.begin(), wire.end(), random);
      for (const MadBytes& mad : wire) {
        if (random() % 4 == 0) continue;
        receiver.take(mad);
        if (random() % 4 == 0) continue;
        window_last =
            std::max(window_last, receiver.received + static_cast<std::uint32_t>(1 + random() % 8));
        sender.on_control(ack(receiver.received, window_last), at(now));
      }
      now += 10ms;
      if (at(now) >= sender.deadline()) sender.on_timeout(at(now));
    }
    EXPECT_EQ(sender.state(), RmppState::Done) << "seed " << seed;
    EXPECT_TRUE(receiver.complete);
    EXPECT_EQ(receiver.data, data) << "seed " << seed;
  }
}

}  // namespace
}  // namespace smd::sa
