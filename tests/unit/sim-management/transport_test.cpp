// The Transport of software on a simulated node, and several clients at one port.
#include "sim-backend/management/sim_transport.h"

#include <gtest/gtest.h>

#include "smd/mad/node_info.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace {

class TransportTest : public ::testing::Test {
 protected:
  SimRuntime runtime_;
  SimFabric fabric_{runtime_, line(), Timing::none(), 1};

  void run() { runtime_.run_until(runtime_.now() + std::chrono::milliseconds(1)); }

  static MadPacket packet(const Smp& smp) {
    MadPacket out;
    encode_smp(smp, out.mad);
    return out;
  }
};

TEST_F(TransportTest, KnowsItsPort) {
  SimTransport host(fabric_, 0, PortNum{1});
  EXPECT_EQ(host.local_port(), (LocalPort{"sim", PortNum{1}, Guid{0x101}}));
  SimTransport sw(fabric_, 1, PortNum{0});
  EXPECT_EQ(sw.local_port(), (LocalPort{"sim", PortNum{0}, Guid{0x200}}));
}

TEST_F(TransportTest, HandlersNeverRunInsideSend) {
  SimTransport host(fabric_, 0, PortNum{1});
  unsigned received = 0;
  host.set_handlers([&](const MadPacket&) { ++received; }, [](Error) {});
  ASSERT_TRUE(host.send(packet(get({}, AttributeId::NodeInfo))).has_value());
  EXPECT_EQ(received, 0u);
  run();
  EXPECT_EQ(received, 1u);
}

TEST_F(TransportTest, UnplugRunsLostAndStopsEverything) {
  SimTransport host(fabric_, 0, PortNum{1});
  unsigned received = 0;
  std::vector<Errc> lost;
  host.set_handlers([&](const MadPacket&) { ++received; },
                    [&](const Error& error) { lost.push_back(error.code); });
  ASSERT_TRUE(host.set_is_sm(true).has_value());
  ASSERT_TRUE(host.send(packet(get({1}, AttributeId::NodeInfo))).has_value());
  host.unplug();
  host.unplug();
  run();
  EXPECT_EQ(received, 0u);
  EXPECT_EQ(lost, std::vector{Errc::NoDevice});
  EXPECT_EQ(host.send(packet(get({1}, AttributeId::NodeInfo))).error().code, Errc::NoDevice);
  EXPECT_EQ(fabric_.port_info(0, PortNum{1}).capability_mask & port_cap::kIsSm, 0u);
}

TEST_F(TransportTest, ATransportMayDieInItsOwnHandler) {
  auto host = std::make_unique<SimTransport>(fabric_, 0, PortNum{1});
  host->set_handlers([&](const MadPacket&) { host.reset(); }, [](Error) {});
  ASSERT_TRUE(host->send(packet(get({}, AttributeId::NodeInfo))).has_value());
  run();
  EXPECT_EQ(host, nullptr);
}

TEST_F(TransportTest, TwoManagersSpeakThroughSmInfo) {
  SimTransport one(fabric_, 0, PortNum{1});
  SimTransport two(fabric_, 3, PortNum{1});
  std::optional<Smp> answer;
  one.set_handlers([&](const MadPacket& in) { answer = decode_smp(in.mad).value(); }, [](Error) {});
  two.set_handlers(
      [&](const MadPacket& in) {
        Smp smp = decode_smp(in.mad).value();
        EXPECT_EQ(smp.method, Method::Get);
        smp.method = Method::GetResp;
        smp.returning = true;
        encode_sm_info({.guid = Guid{0x401}, .priority = 9}, smp.data);
        MadPacket out = in;
        encode_smp(smp, out.mad);
        ASSERT_TRUE(two.send(out).has_value());
      },
      [](Error) {});
  ASSERT_TRUE(one.send(packet(get({1, 2, 3}, AttributeId::SmInfo))).has_value());
  run();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(decode_sm_info(answer->data).value().priority, 9);
  EXPECT_EQ(answer->hop_pointer, 0);
}

TEST_F(TransportTest, AnAnswerGoesToWhoAsked) {
  SimTransport one(fabric_, 0, PortNum{1});
  SimTransport two(fabric_, 0, PortNum{1});
  unsigned first = 0;
  unsigned second = 0;
  one.set_handlers([&](const MadPacket&) { ++first; }, [](Error) {});
  two.set_handlers([&](const MadPacket&) { ++second; }, [](Error) {});
  ASSERT_TRUE(one.send(packet(get({1}, AttributeId::NodeInfo))).has_value());
  run();
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(second, 0u);
  ASSERT_TRUE(two.send(packet(get({1}, AttributeId::NodeInfo))).has_value());
  run();
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(second, 1u);
}

TEST_F(TransportTest, RequestsGoToTheManagerAmongSeveralClients) {
  SimTransport tool(fabric_, 3, PortNum{1});
  SimTransport manager(fabric_, 3, PortNum{1});
  SimTransport asker(fabric_, 0, PortNum{1});
  unsigned at_tool = 0;
  unsigned at_manager = 0;
  tool.set_handlers([&](const MadPacket&) { ++at_tool; }, [](Error) {});
  manager.set_handlers([&](const MadPacket&) { ++at_manager; }, [](Error) {});
  ASSERT_TRUE(manager.set_is_sm(true).has_value());
  ASSERT_TRUE(asker.send(packet(get({1, 2, 3}, AttributeId::SmInfo))).has_value());
  run();
  EXPECT_EQ(at_tool, 0u);
  EXPECT_EQ(at_manager, 1u);
}

}  // namespace
}  // namespace smd::sim::test
