// The receiving side of a segmented transfer, fed by our own sender and by hand.
#include <gtest/gtest.h>

#include <random>

#include "smd/sa/rmpp.h"

namespace smd::sa {
namespace {

using std::chrono_literals::operator""ms;

constexpr TimePoint kStart{};

SaHeader segment(std::uint32_t number, std::uint8_t flags, std::uint32_t length = 0) {
  return {.mad = {.mgmt_class = 3, .class_version = 2, .method = 0x14, .transaction_id = 9},
          .rmpp = {.version = 1, .type = 1, .flags = flags, .segment = number, .length = length}};
}

constexpr std::uint8_t kFirst = 3;
constexpr std::uint8_t kMiddle = 1;
constexpr std::uint8_t kLast = 5;
constexpr std::uint8_t kOnly = 7;

struct Taking {
  explicit Taking(RmppReceiverLimits limits = {})
      : receiver(segment(1, kFirst), limits, {.total = 100ms}, kStart) {}

  void give(std::uint32_t number, std::uint8_t flags, std::uint32_t length = 0) {
    std::array<std::byte, kDataSize> data{};
    data.fill(static_cast<std::byte>(number));
    receiver.on_segment(segment(number, flags, length), data);
  }

  SaHeader reply() {
    MadBytes mad{};
    EXPECT_TRUE(receiver.next(mad));
    return *decode_sa_header(mad);
  }

  bool silent() {
    MadBytes mad{};
    return !receiver.next(mad);
  }

  RmppReceiver receiver;
};

TEST(RmppReceiver, AcknowledgesAndOpensAWindow) {
  Taking taking({.window = 4});
  taking.give(1, kFirst);
  const SaHeader ack = taking.reply();
  EXPECT_EQ(ack.mad.method, 0x94);  // as an answer to a GetMulti
  EXPECT_EQ(ack.mad.transaction_id, 9u);
  EXPECT_EQ(ack.rmpp.type, 2);
  EXPECT_EQ(ack.rmpp.flags, 1);
  EXPECT_EQ(ack.rmpp.segment, 1u);
  EXPECT_EQ(ack.rmpp.length, 5u);
  EXPECT_TRUE(taking.silent());
}

TEST(RmppReceiver, TheLastSegmentCountsByItsLength) {
  Taking taking;
  taking.give(1, kFirst);
  taking.give(2, kLast, 20 + 7);
  EXPECT_EQ(taking.receiver.state(), RmppState::Done);
  EXPECT_EQ(taking.receiver.data().size(), 207u);
  EXPECT_EQ(taking.reply().rmpp.segment, 2u);
}

TEST(RmppReceiver, WhatComesOutOfTurnWaitsForItsTurn) {
  Taking taking;
  taking.give(1, kFirst);
  taking.give(3, kLast, 30);
  EXPECT_EQ(taking.reply().rmpp.segment, 1u);
  taking.give(2, kMiddle);
  taking.give(2, kMiddle);
  taking.give(3, kLast, 30);
  EXPECT_EQ(taking.receiver.data().size(), 410u);
  EXPECT_EQ(taking.receiver.data()[200], std::byte{2});
  taking.give(3, kLast, 30);  // its acknowledgement got lost
  EXPECT_EQ(taking.reply().rmpp.segment, 3u);
  EXPECT_EQ(taking.receiver.data().size(), 410u);
}

struct BadSegment {
  std::uint32_t number;
  std::uint8_t flags;
  std::uint32_t length;
  RmppStatus status;
};

TEST(RmppReceiver, SegmentsThatCannotBeEndIt) {
  const BadSegment cases[] = {{0, kMiddle, 0, RmppStatus::BadSegment},
                              {0, kFirst, 0, RmppStatus::BadSegment},
                              {2, kFirst, 0, RmppStatus::BadSegment},
                              {1, kMiddle, 0, RmppStatus::BadSegment},
                              {9, kMiddle, 0, RmppStatus::SegmentTooBig},
                              {UINT32_MAX, kMiddle, 0, RmppStatus::SegmentTooBig},
                              {1, kOnly, 19, RmppStatus::BadLength},
                              {1, kOnly, 221, RmppStatus::BadLength}};
  for (const BadSegment& bad : cases) {
    Taking taking({.window = 8});
    taking.give(bad.number, bad.flags, bad.length);
    EXPECT_EQ(taking.receiver.status(), bad.status) << bad.number << " " << bad.length;
    EXPECT_EQ(taking.reply().rmpp.type, 4);
    taking.give(1, kFirst);
    EXPECT_TRUE(taking.silent()) << "an ended transfer says nothing more";
  }
}

TEST(RmppReceiver, TooMuchIsStoppedForWantOfRoom) {
  Taking taking({.window = 8, .most_bytes = 400});
  taking.give(1, kFirst);
  taking.give(2, kMiddle);
  taking.give(3, kMiddle);
  EXPECT_EQ(taking.receiver.status(), RmppStatus::NoResources);
  EXPECT_EQ(taking.reply().rmpp.type, 3);  // Stop
}

TEST(RmppReceiver, HalfOpenTransfersEnd) {
  Taking taking;
  taking.give(1, kFirst);
  EXPECT_EQ(taking.receiver.deadline(), kStart + 100ms);
  taking.receiver.on_timeout();
  EXPECT_EQ(taking.receiver.status(), RmppStatus::TotalTimeTooLong);
}

TEST(RmppReceiver, TakesWhatOurSenderSendsOverALossyWire) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> data(random() % 5000);
    for (std::byte& each : data) each = static_cast<std::byte>(random());
    const SaHeader request = segment(1, 0);
    RmppSender sender(request, data, {.response = 20ms, .retries = 60}, kStart);
    RmppReceiver receiver(request, {}, {}, kStart);
    for (Duration now = 0ms; sender.state() == RmppState::Running; now += 10ms) {
      MadBytes mad{};
      while (sender.next(mad, {now})) {
        if (random() % 3 == 0) continue;
        receiver.on_segment(*decode_sa_header(mad),
                            std::span<const std::byte>(mad).subspan<kHeaderSize, kDataSize>());
      }
      while (receiver.next(mad)) {
        if (random() % 3 != 0) sender.on_control(decode_sa_header(mad)->rmpp, {now});
      }
      if (TimePoint{now} >= sender.deadline()) sender.on_timeout({now});
    }
    EXPECT_EQ(sender.state(), RmppState::Done);
    EXPECT_EQ(receiver.data(), data) << "seed " << seed;
  }
}

}  // namespace
}  // namespace smd::sa
