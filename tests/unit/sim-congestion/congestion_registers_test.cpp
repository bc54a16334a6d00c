// What a MAD of class 0x21 sets is what the packets feel.
#include <gtest/gtest.h>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/coupled_fabric.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace {

constexpr std::size_t kData = 64;
constexpr std::uint32_t kSwitchNode = 1;
constexpr Flow kFlow{.source = 1, .destination = 0, .sl = 0};

/// A Set, by offset of its fields.
struct Set {
  Set(cc::Attribute attribute, Lid to, std::uint64_t transaction) {
    packet.remote_lid = to;
    packet.local_qp = packet.remote_qp = 1;
    put(0, 4, 0x01210202u);
    put(8, 8, transaction);
    put(16, 2, static_cast<unsigned>(attribute));
  }

  void put(std::size_t offset, std::size_t bytes, std::uint64_t value) {
    for (std::size_t i = 0; i < bytes; ++i) {
      packet.mad[offset + i] = static_cast<std::byte>(value >> (8 * (bytes - 1 - i)) & 0xff);
    }
  }

  MadPacket packet;
};

bool is_marked(IbMarking& marking) {
  Marks marks = 0;
  marking.on_departure({.node = kSwitchNode,
                        .port_vl = 2,
                        .out = 2,
                        .out_port = 2,
                        .used = 40,
                        .capacity = 64,
                        .blocks = 4},
                       marks);
  return marks != 0;
}

TEST(CongestionRegisters, WhatIsSetIsObeyedFromThenOn) {
  Rig rig{line()};
  configure_line(rig);
  activate_line(rig);
  PacketNet net(rig.fabric.spec(), PacketOptions::modern());
  IbMarking marking(rig.fabric.spec().nodes.size());
  IbReaction reaction(net.host_count());
  CoupledFabric follow(rig.runtime, rig.fabric, net, rig.runtime.now());
  follow.follow_congestion(marking, reaction);
  EXPECT_FALSE(is_marked(marking));

  Set at_switch(cc::Attribute::SwitchCongestionSetting, Lid{2}, 1);
  at_switch.put(kData, 4, 0x04);       // the threshold
  at_switch.put(kData + 68, 1, 0xb0);  // 11
  rig.fabric.inject(rig.client, at_switch.packet);
  rig.run(std::chrono::microseconds(100));
  EXPECT_TRUE(is_marked(marking));

  // SL 0: a timer of 150, up by 2; entry 2 of the table is 3 packet times.
  Set setting(cc::Attribute::CaCongestionSetting, Lid{4}, 2);
  setting.put(kData + 2, 2, 1);
  setting.put(kData + 4, 5, 0x00'96'02'00'00u);
  rig.fabric.inject(rig.client, setting.packet);
  Set table(cc::Attribute::CongestionControlTable, Lid{4}, 3);
  table.put(kData, 2, 2);
  table.put(kData + 4 + 4, 2, 3);
  rig.fabric.inject(rig.client, table.packet);
  rig.run(std::chrono::microseconds(100));
  reaction.on_feedback(kFlow, {.marks = kFirstMark}, 0);
  EXPECT_EQ(reaction.index(kFlow, 0), 2u);
  reaction.on_injected(kFlow, 0, 1000);
  EXPECT_EQ(reaction.allowed_at(kFlow, 1000), 4000);
  const Flow other{.source = 0, .destination = 1, .sl = 0};
  reaction.on_feedback(other, {.marks = kFirstMark}, 0);
  EXPECT_EQ(reaction.index(other, 0), 0u) << "nobody has set that host";
}

TEST(CongestionRegisters, WhatWasSetBeforeIsObeyedToo) {
  Rig rig{line()};
  configure_line(rig);
  activate_line(rig);
  Set at_switch(cc::Attribute::SwitchCongestionSetting, Lid{2}, 1);
  at_switch.put(kData, 4, 0x04);
  at_switch.put(kData + 68, 1, 0xb0);
  rig.fabric.inject(rig.client, at_switch.packet);
  rig.run(std::chrono::microseconds(100));
  PacketNet net(rig.fabric.spec(), PacketOptions::modern());
  IbMarking marking(rig.fabric.spec().nodes.size());
  IbReaction reaction(net.host_count());
  CoupledFabric follow(rig.runtime, rig.fabric, net, rig.runtime.now());
  follow.follow_congestion(marking, reaction);
  EXPECT_TRUE(is_marked(marking));
}

}  // namespace
}  // namespace smd::sim::test
