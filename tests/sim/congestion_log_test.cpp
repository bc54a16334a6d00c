// What packets feel stands in the logs that agents answer with, and so among the manager's hot
// ports. Marks are counted by the packets that arrive with one, triggers by who sends.
#include <gmock/gmock.h>

#include "sim-backend/congestion/echo.h"
#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/coupled_fabric.h"
#include "tests/sim/congestion_lab.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::test {
namespace {

using sim::HostNum;
using sim::test::Script;

// Host 1 is beside the hot one, host 3 elsewhere: they meet before the hot one and nowhere else.
constexpr HostNum kHot = 0;
constexpr HostNum kSenders[] = {1, 3};
constexpr unsigned kPackets = 200;  // of each

cc::Options eager(unsigned log_interval_s) {
  cc::Options options = Subnet::wish();
  options.log_interval_s = log_interval_s;
  options.marking_rate = 0;
  options.trigger_threshold[0] = 2;
  options.ccti_timer[0] = 0;  // an index only rises: it comes to its trigger once
  return options;
}

/// The subnet with packets in it.
struct Loaded {
  explicit Loaded(unsigned log_interval_s)
      : subnet(eager(log_interval_s)), net(subnet.fabric.spec(), sim::PacketOptions::modern()) {
    subnet.start();
    for (const HostNum sender : kSenders) {
      for (unsigned i = 0; i < kPackets; ++i) lines.push_back({0, sender, {.payload = 2048}});
    }
  }

  /// All packets at once, until `time` has passed.
  void send(Duration time) {
    sim::IbMarking marking(subnet.nodes());
    sim::IbReaction reaction(net.host_count());
    const auto echo = sim::notify();
    net.set_congestion_control({.marking = &marking, .echo = echo.get(), .reaction = &reaction});
    begun = subnet.runtime.now();
    sim::CoupledFabric follow(subnet.runtime, subnet.fabric, net, begun);
    follow.follow_congestion(marking, reaction);
    for (Script::Line& line : lines) line.what.dlid = net.host_lid(kHot);
    script = std::make_unique<Script>(lines);
    net.set_workload(script.get());
    net.set_observer(script.get());
    net.start();
    subnet.run_for(time);
    follow.catch_up();
    ASSERT_EQ(script->arrivals.size(), kPackets * std::size(kSenders));
    for (const sim::Delivery& arrival : script->arrivals) marked += arrival.marks != 0;
  }

  /// The node of a host, the port of its switch.
  [[nodiscard]] std::uint32_t node_of(HostNum host) const {
    return net.wiring().wires[net.wiring().host_port[host]].node;
  }

  [[nodiscard]] const sim::Wire& far_of(HostNum host) const {
    return net.wiring().wires[net.wiring().wires[net.wiring().host_port[host]].peer];
  }

  Subnet subnet;
  sim::PacketNet net;
  std::vector<Script::Line> lines;
  std::unique_ptr<Script> script;
  TimePoint begun;
  std::uint64_t marked = 0;  // packets that came in with a mark
};

TEST(CongestionLog, TellsWhichPacketsWereMarkedAndWho) {
  Loaded loaded(0);
  loaded.send(Duration{1s});
  ASSERT_GE(loaded.marked, 15u) << "the list of a log is full";
  const sim::Wire& hot = loaded.far_of(kHot);
  std::uint64_t events = 0;
  for (std::uint32_t node = 0; node < loaded.subnet.nodes(); ++node) {
    if (loaded.subnet.is_switch(node)) events += loaded.subnet.at(node).switch_log.events;
  }
  const cc::SwitchLog& log = loaded.subnet.at(hot.node).switch_log;
  EXPECT_EQ(events, loaded.marked) << "each marked once, and written down once";
  EXPECT_EQ(log.events, loaded.marked) << "before the hot host, and nowhere else";
  cc::PortMask only;
  only.set(PortNum{hot.number});
  EXPECT_EQ(log.ports, only);
  std::set<Lid> senders;
  for (const HostNum sender : kSenders) senders.insert(loaded.net.host_lid(sender));
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    EXPECT_TRUE(senders.contains(log.entries[i].source));
    EXPECT_EQ(log.entries[i].destination, loaded.net.host_lid(kHot));
    EXPECT_LE(log.entries[i].time, log.entries[i > 0 ? i - 1 : 0].time) << "newest first";
  }
  // The last mark is as old as the last marked packet's arrival, but for its last hop.
  const auto last = std::ranges::find_if(loaded.script->arrivals.rbegin(),
                                         loaded.script->arrivals.rend(),
                                         [](const sim::Delivery& a) { return a.marks != 0; });
  const TimePoint arrived = loaded.begun + Duration{last->tail / sim::kNano};
  EXPECT_NEAR(log.entries[0].time, double(sim::congestion_ticks(arrived)), 1.0);

  for (const HostNum sender : kSenders) {
    const cc::CaLog& own = loaded.subnet.at(loaded.node_of(sender)).ca_log;
    EXPECT_EQ(own.events, 1u);
    EXPECT_EQ(own.sl_map, 1u);
    EXPECT_EQ(own.entries[0].local, loaded.net.host_lid(sender));
    EXPECT_EQ(own.entries[0].remote, loaded.net.host_lid(kHot));
    EXPECT_EQ(own.entries[0].local_qp, 2 + kHot);
    EXPECT_EQ(own.entries[0].remote_qp, 2 + sender);
  }
  EXPECT_EQ(loaded.subnet.at(loaded.node_of(5)).ca_log.events, 0u) << "it sent nothing";
}

// By MADs of the manager, which reads every second, also while packets are under way.
TEST(CongestionLog, IsReadByTheManagerAsHotPorts) {
  Loaded loaded(1);
  loaded.send(Duration{3s});
  ASSERT_GE(loaded.marked, 15u) << "the list of a log is full";
  const auto& hot = loaded.subnet.cc_manager.hot();
  const sim::Wire& port = loaded.far_of(kHot);
  ASSERT_EQ(hot.size(), 1 + std::size(kSenders));
  EXPECT_EQ(hot.at({loaded.subnet.guid(port.node), PortNum{port.number}}).events, loaded.marked);
  for (const HostNum sender : kSenders) {
    const Guid guid = loaded.subnet.guid(loaded.node_of(sender));
    EXPECT_EQ(hot.at({guid, PortNum{1}}).events, 1u);
  }
  EXPECT_EQ(loaded.subnet.at(port.node).switch_log.events, 0u) << "a log that was read is empty";
}

// The agent answers what has happened by then, although nothing else has moved the packets on.
TEST(CongestionLog, AnswersWithWhatHasHappenedByThen) {
  Loaded loaded(0);
  Subnet& subnet = loaded.subnet;
  sim::IbMarking marking(subnet.nodes());
  sim::IbReaction reaction(loaded.net.host_count());
  loaded.net.set_congestion_control({.marking = &marking});
  sim::CoupledFabric follow(subnet.runtime, subnet.fabric, loaded.net, subnet.runtime.now());
  follow.follow_congestion(marking, reaction);
  for (Script::Line& line : loaded.lines) line.what.dlid = loaded.net.host_lid(kHot);
  Script script(loaded.lines);
  loaded.net.set_workload(&script);
  loaded.net.start();
  subnet.run_for(std::chrono::milliseconds(5));
  ASSERT_EQ(subnet.at(loaded.far_of(kHot).node).switch_log.events, 0u) << "nobody has looked";

  MadPacket ask;
  ask.remote_lid = subnet.fabric.port_info(loaded.far_of(kHot).node, PortNum{}).lid;
  ask.local_qp = ask.remote_qp = 1;
  MadHeader header{.mgmt_class = static_cast<std::uint8_t>(MgmtClass::CongestionControl),
                   .class_version = cc::kClassVersion,
                   .method = static_cast<std::uint8_t>(Method::Get),
                   .transaction_id = 77,
                   .attribute_id = static_cast<std::uint16_t>(cc::Attribute::CongestionLog)};
  encode_mad_header(header, ask.mad);
  std::optional<cc::SwitchLog> log;
  const auto client =
      subnet.fabric.attach(loaded.node_of(7), PortNum{1}, [&](const MadPacket& packet) {
        log = *cc::decode_switch_log(std::span(packet.mad).subspan(cc::kLogOffset));
      });
  subnet.fabric.inject(client, ask);
  subnet.run_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(log);
  EXPECT_EQ(log->events, marking.marked(loaded.far_of(kHot).node));
  EXPECT_GT(log->events, 100u);
}

}  // namespace
}  // namespace smd::test
