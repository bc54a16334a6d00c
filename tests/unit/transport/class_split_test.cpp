// One port, four users.
#include <gtest/gtest.h>

#include <memory>

#include "smd/transport/transport.h"
#include "tests/unit/smp/fake_transport.h"

namespace smd {
namespace {

MadPacket of_class(std::uint8_t mgmt_class) {
  MadPacket packet;
  packet.mad[1] = static_cast<std::byte>(mgmt_class);
  return packet;
}

struct Counted {
  explicit Counted(Transport& transport) {
    transport.set_handlers([this](const MadPacket&) { ++received; },
                           [this](const Error&) { ++lost; });
  }

  int received = 0;
  int lost = 0;
};

TEST(ClassSplit, ThreeKindsOfManagementGoTheirWaysTheRestTheLast) {
  FakeTransport port;
  ClassSplit split(port);
  const Counted subnet(split.subnet());
  const Counted general(split.general());
  const Counted congestion(split.congestion());
  const Counted performance(split.performance());
  for (const std::uint8_t mgmt_class : {std::uint8_t{0x01}, std::uint8_t{0x81}})
    port.deliver(of_class(mgmt_class));
  EXPECT_EQ(subnet.received, 2);
  EXPECT_EQ(general.received, 0);
  for (const std::uint8_t mgmt_class : {std::uint8_t{0x03}, std::uint8_t{0x09}})
    port.deliver(of_class(mgmt_class));
  port.deliver(of_class(0x21));
  port.deliver(of_class(0x04));
  EXPECT_EQ(subnet.received, 2);
  EXPECT_EQ(general.received, 2);
  EXPECT_EQ(congestion.received, 1);
  EXPECT_EQ(performance.received, 1);
}

TEST(ClassSplit, BothSendThroughThePort) {
  FakeTransport port;
  ClassSplit split(port);
  ASSERT_TRUE(split.subnet().send(of_class(1)));
  ASSERT_TRUE(split.general().send(of_class(3)));
  EXPECT_EQ(port.sent.size(), 2u);
  EXPECT_EQ(split.general().local_port(), port.local_port());
  EXPECT_EQ(split.subnet().most_outstanding(), port.most_outstanding());
  EXPECT_TRUE(split.general().carries_segments());
}

TEST(ClassSplit, WhatComesAfterItsEndIsNobodys) {
  FakeTransport port;
  auto split = std::make_unique<ClassSplit>(port);
  const Counted general(split->general());
  split.reset();
  port.deliver(of_class(3));
  port.lose();
  EXPECT_EQ(general.received, 0);
  EXPECT_EQ(general.lost, 0);
}

TEST(ClassSplit, TheManagerHearsOfALossAndMayEndItAll) {
  FakeTransport port;
  auto split = std::make_unique<ClassSplit>(port);
  const Counted general(split->general());
  bool heard = false;
  split->subnet().set_handlers([](const MadPacket&) {},
                               [&](const Error&) {
                                 heard = true;
                                 split.reset();
                               });
  port.lose();
  EXPECT_TRUE(heard);
  EXPECT_EQ(general.lost, 0);
}

}  // namespace
}  // namespace smd
