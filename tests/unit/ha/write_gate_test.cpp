// What passes the gate of a manager that rules, and of one that does not.
#include "smd/ha/write_gate.h"

#include <gtest/gtest.h>

#include "smd/mad/header.h"
#include "smd/mad/smp.h"

namespace smd {
namespace {

struct Sink final : Transport {
  LocalPort local_port() const override { return {}; }

  Result<void> send(const MadPacket& packet) override {
    sent.push_back(packet);
    return {};
  }

  void set_handlers(Receive, Lost) override {}

  Result<void> set_is_sm(bool) override { return {}; }

  std::vector<MadPacket> sent;
};

MadPacket packet_of(MgmtClass of_class, Method method, std::uint16_t attribute) {
  MadPacket packet;
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(of_class),
                     .method = static_cast<std::uint8_t>(method),
                     .attribute_id = attribute},
                    packet.mad);
  return packet;
}

struct Passage {
  MgmtClass of_class;
  Method method;
  std::uint16_t attribute;
  bool writes;
};

constexpr auto kPortInfo = static_cast<std::uint16_t>(AttributeId::PortInfo);
constexpr auto kSmInfo = static_cast<std::uint16_t>(AttributeId::SmInfo);
constexpr std::uint16_t kCcKeyInfo = 0x12;

constexpr Passage kPassages[] = {
    {MgmtClass::SubnDirected, Method::Set, kPortInfo, true},
    {MgmtClass::SubnLid, Method::Set, kPortInfo, true},
    {MgmtClass::CongestionControl, Method::Set, kCcKeyInfo, true},
    {MgmtClass::SubnDirected, Method::Get, kPortInfo, false},
    {MgmtClass::CongestionControl, Method::Get, kCcKeyInfo, false},
    {MgmtClass::SubnLid, Method::Set, kSmInfo, false},
    {MgmtClass::SubnDirected, Method::Set, kSmInfo, false},
    {MgmtClass::SubnLid, Method::TrapRepress, kPortInfo, false},
};

TEST(WriteGate, HoldsBackWritesAloneAndOnlyWhileItIsClosed) {
  Sink below;
  bool open = true;
  WriteGate gate(below, [&open] { return open; });
  std::uint64_t held = 0;
  for (const Passage& each : kPassages) {
    const MadPacket packet = packet_of(each.of_class, each.method, each.attribute);
    SCOPED_TRACE(testing::Message() << static_cast<unsigned>(each.of_class) << " "
                                    << static_cast<unsigned>(each.method) << " " << each.attribute);
    below.sent.clear();
    open = true;
    EXPECT_TRUE(gate.send(packet));
    ASSERT_EQ(below.sent.size(), 1u);
    EXPECT_EQ(below.sent[0].mad, packet.mad);

    open = false;
    const Result<void> sent = gate.send(packet);
    ASSERT_EQ(sent.has_value(), !each.writes);
    EXPECT_EQ(below.sent.size(), each.writes ? 1u : 2u);
    if (each.writes) {
      EXPECT_EQ(sent.error().code, Errc::Refused);
      ++held;
    }
    EXPECT_EQ(gate.held_back(), held);
  }
}

}  // namespace
}  // namespace smd
