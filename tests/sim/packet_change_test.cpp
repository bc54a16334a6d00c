// Data packets while the real manager takes in a change: lost only for causes that the change
// explains, and none any more when it is in.
#include <gmock/gmock.h>

#include "sim-backend/packet/packet_net.h"
#include "sim-backend/scenario/coupled_fabric.h"
#include "sim-backend/traffic/synthetic.h"
#include "smd/config/reconfiguration_mode.h"
#include "tests/support/cables.h"
#include "tests/support/subnet_oracles.h"
#include "tests/unit/sim-management/rig.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::test {
namespace {

using sim::Discard;
using sim::Picos;

sim::PacketOptions options() {
  sim::PacketOptions out = sim::PacketOptions::modern();
  out.vls = 8;  // what the manager has switches use
  return out;
}

SimulatedSubnetOptions world_options(const char* mode) {
  SimulatedSubnetOptions out;
  out.settings.strategy = make_strategy(*parse_reconfiguration_mode(mode));
  return out;
}

/// A subnet that is up and carries data from now on.
struct Carrying {
  explicit Carrying(const char* mode)
      : subnet(spec_of("irregular:switches=12,ports=8,links=4,hosts=2,seed=3"),
               world_options(mode)),
        net(subnet.fabric.spec(), options()) {
    EXPECT_TRUE(subnet.bring_up());
    follow.emplace(subnet.runtime, subnet.fabric, net);
    std::vector<std::uint32_t> byte_time;
    for (sim::HostNum host = 0; host < net.host_count(); ++host) {
      byte_time.push_back(net.wiring().wires[net.wiring().host_port[host]].byte_time);
    }
    traffic.emplace(
        sim::SyntheticOptions{
            .load = 0.02, .sizes = {{2048, 1}}, .mtu = 2048, .start = net.now() + sim::kMicro},
        sim::Destinations({{1, uniform_pattern(net.host_count())}}, false),
        byte_time);
    net.set_workload(&*traffic);
    net.start();
  }

  void run_for(Duration time) {
    subnet.run_for(time);
    follow->catch_up();
    EXPECT_EQ(net.audit(), "");
    EXPECT_TRUE(net.find_deadlock(sim::kNever).empty());
  }

  [[nodiscard]] std::uint64_t lost(Discard cause) const {
    return net.stats().discarded[static_cast<std::size_t>(cause)];
  }

  /// The change is in, and from then on nothing is lost.
  void expect_recovery(std::size_t cycles) {
    if (subnet.reports.size() == cycles) {
      EXPECT_TRUE(subnet.settle());
    }
    EXPECT_TRUE(subnet.settle_up());
    EXPECT_GT(subnet.reports.size(), cycles);
    follow->catch_up();
    run_for(std::chrono::microseconds(200));  // what was under way
    const std::uint64_t before = net.stats().discards();
    const std::uint64_t delivered = net.stats().delivered;
    run_for(std::chrono::milliseconds(2));
    EXPECT_EQ(net.stats().discards(), before);
    EXPECT_GT(net.stats().delivered, delivered + 1000);
  }

  SimulatedSubnet subnet;
  sim::PacketNet net;
  std::optional<sim::CoupledFabric> follow;
  std::optional<sim::SyntheticTraffic> traffic;
};

class PacketChange : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Modes, PacketChange, testing::Values("certified", "improved", "basic"));

TEST_P(PacketChange, ACableGoesAndComes) {
  Carrying carrying(GetParam());
  carrying.run_for(std::chrono::milliseconds(1));
  ASSERT_EQ(carrying.net.stats().discards(), 0u);
  ASSERT_GT(carrying.net.stats().delivered, 500u);
  const auto [node, port] = cables_between_switches(carrying.subnet.fabric.spec()).front();
  std::size_t cycles = carrying.subnet.reports.size();
  carrying.follow->set_link(node, port, false);
  carrying.run_for(std::chrono::milliseconds(1));
  EXPECT_GT(carrying.lost(Discard::InactivePort), 0u) << "routes still lead over it";
  carrying.expect_recovery(cycles);
  if (std::string_view(GetParam()) != "basic") {
    EXPECT_EQ(carrying.lost(Discard::DeactivatedPort), 0u) << "no port was taken down for it";
  } else {
    EXPECT_GT(carrying.lost(Discard::DeactivatedPort), 0u) << "the whole subnet was";
  }

  cycles = carrying.subnet.reports.size();
  const std::uint64_t before = carrying.net.stats().discards();
  carrying.follow->set_link(node, port, true);
  carrying.run_for(std::chrono::milliseconds(1));
  carrying.expect_recovery(cycles);
  if (std::string_view(GetParam()) == "certified") {
    EXPECT_EQ(carrying.net.stats().discards(), before)
        << "a cable that comes costs nobody anything";
  }
}

TEST(PacketChange, ASwitchDiesWithWhatItHolds) {
  Carrying carrying("certified");
  carrying.run_for(std::chrono::milliseconds(1));
  const auto [node, port] = cables_between_switches(carrying.subnet.fabric.spec()).front();
  const std::uint32_t other =
      carrying.subnet.fabric.spec().nodes[node].ports[port.value()].peer_node;
  const std::size_t cycles = carrying.subnet.reports.size();
  carrying.follow->set_node(other, false);
  carrying.run_for(std::chrono::milliseconds(1));
  EXPECT_GT(carrying.lost(Discard::InactivePort), 0u);
  EXPECT_TRUE(carrying.subnet.settle());
  EXPECT_GT(carrying.subnet.reports.size(), cycles);
  const std::size_t between = carrying.subnet.reports.size();
  carrying.follow->set_node(other, true);
  carrying.expect_recovery(between);
}

// Hosts 1 and 2 send to host 0 as fast as they can, each on a VL of its own.
TEST(PacketRegisters, ArbitrationThatAnActivePortIsSetToIsObeyed) {
  sim::test::Drawing drawing;
  for (const char* host : {"h0", "h1", "h2"}) drawing.ca(host);
  const std::uint32_t sw = drawing.sw("s");
  for (const std::uint32_t host : {0u, 1u, 2u}) drawing.cable(sw, host + 1, host, 1);
  sim::test::Rig rig(drawing.spec());
  rig.set_lid({}, 1, 1);
  rig.set_routes({1}, {{1, 1}});
  const auto activate = [&](sim::test::Hops path, unsigned port) {
    rig.set_port(path, port, [](PortInfo& info) { info.operational_vls = 2; });
    rig.activate(path, port);
  };
  for (const unsigned port : {1u, 2u, 3u}) activate({1}, port);
  for (const sim::test::Hops host : {sim::test::Hops{}, {1, 2}, {1, 3}}) activate(host, 1);

  std::vector<sim::test::Script::Line> lines;
  for (int i = 0; i < 3000; ++i) {
    for (const std::uint8_t sl : {std::uint8_t{0}, std::uint8_t{1}})
      lines.push_back({.source = sl + 1u, .what = {.dlid = Lid{1}, .sl = sl, .payload = 256}});
  }
  sim::test::Script script(lines);
  sim::PacketNet net(rig.fabric.spec(), options());
  sim::CoupledFabric follow(rig.runtime, rig.fabric, net, rig.runtime.now());
  net.set_workload(&script);
  net.set_observer(&script);
  net.start();
  const auto share_of_first = [&] {
    script.arrivals.clear();
    rig.run(std::chrono::microseconds(20));
    follow.catch_up();
    const auto first = std::ranges::count(script.arrivals, 0, &sim::Delivery::sl);
    return static_cast<double>(first) / static_cast<double>(script.arrivals.size());
  };
  EXPECT_NEAR(share_of_first(), 0.5, 0.05);
  Smp set =
      sim::test::along({1},
                       sim::test::request(Method::Set,
                                          AttributeId::VlArbitrationTable,
                                          encode_modifier(VlArbModifier{.port = PortNum{1}})));
  encode_vl_arb_block({{{Vl{0}, 240}, {Vl{1}, 16}}}, set.data);
  rig.inject(set);
  rig.run(std::chrono::microseconds(5));
  EXPECT_GT(share_of_first(), 0.85);
}

}  // namespace
}  // namespace smd::test
