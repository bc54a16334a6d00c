// SMPs on links that carry data: they wait for the packet that is on the link, data waits for them,
// and where no data is they take the time that they take on the fabric's own wires.
#include <gmock/gmock.h>

#include <optional>

#include "sim-backend/scenario/coupled_fabric.h"
#include "sim-backend/traffic/synthetic.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace packet_smps_test {

constexpr const char* kFabric = "irregular:switches=12,ports=8,links=4,hosts=2,seed=3";

/// 1x SDR: a SMP takes 1.2 us, a data packet 8.3.
constexpr const char* kSlowFabric =
    "irregular:switches=12,ports=8,links=4,hosts=2,width=1x,speed=SDR,seed=3";

struct Managed {
  explicit Managed(const char* fabric_text) : subnet(spec_of(fabric_text)) {
    EXPECT_TRUE(subnet.bring_up());
    subnet.run_for(std::chrono::seconds(15));
  }

  /// From now on the net carries SMPs, and data at this load.
  void carry(double load) {
    sim::PacketOptions options = sim::PacketOptions::modern();
    options.vls = 8;
    net.emplace(subnet.fabric.spec(), options);
    follow.emplace(subnet.runtime, subnet.fabric, *net, subnet.runtime.now());
    std::vector<std::uint32_t> byte_time;
    for (sim::HostNum host = 0; host < net->host_count(); ++host) {
      byte_time.push_back(net->wiring().wires[net->wiring().host_port[host]].byte_time);
    }
    traffic.emplace(sim::SyntheticOptions{.load = load, .sizes = {{2048, 1}}, .mtu = 2048},
                    sim::Destinations({{1, uniform_pattern(net->host_count())}}, false),
                    byte_time);
    net->set_workload(&*traffic);
    net->start();
    subnet.run_for(std::chrono::milliseconds(2));
  }

  /// How long the manager takes to look at everything.
  Duration sweep() {
    const std::size_t before = subnet.reports.size();
    subnet.manager.request_sweep("test");
    EXPECT_TRUE(subnet.settle());
    EXPECT_EQ(subnet.reports.size(), before + 1);
    EXPECT_TRUE(subnet.reports.back().up());
    smps = subnet.reports.back().smps();
    return subnet.reports.back().ended - subnet.reports.back().began;
  }

  SimulatedSubnet subnet;
  std::uint64_t smps = 0;
  std::optional<sim::PacketNet> net;
  std::optional<sim::CoupledFabric> follow;
  std::optional<sim::SyntheticTraffic> traffic;
};

double micros(Duration time) { return static_cast<double>(time.count()) / 1e3; }

TEST(PacketSmps, TakeTheTimeOfTheFabricsOwnWiresWhereNoDataIs) {
  for (const char* fabric : {kFabric, kSlowFabric}) {
    Managed by_wire(fabric), by_net(fabric);
    by_net.carry(0);
    by_wire.subnet.run_for(std::chrono::milliseconds(2));
    const double wire = micros(by_wire.sweep()), net = micros(by_net.sweep());
    // The two models are independent of each other; a hop's clock is rounded to a nanosecond.
    EXPECT_NEAR(net, wire, wire / 200) << fabric;
    EXPECT_EQ(by_net.smps, by_wire.smps);
    EXPECT_GT(by_net.net->stats().vl15_sent, by_net.smps);
    EXPECT_EQ(by_net.subnet.fabric.stats().dropped_link,
              by_wire.subnet.fabric.stats().dropped_link);
  }
}

TEST(PacketSmps, WaitForThePacketThatIsOnTheLink) {
  Managed idle(kSlowFabric), busy(kSlowFabric);
  idle.carry(0);
  busy.carry(0.25);
  const Duration alone = idle.sweep(), among = busy.sweep();
  EXPECT_EQ(busy.smps, idle.smps) << "nothing was lost, nothing sent twice";
  EXPECT_GT(micros(among), micros(alone) * 1.02);
  EXPECT_EQ(busy.net->audit(), "");
  EXPECT_EQ(busy.net->stats().vl15_dropped, 0u);
}

TEST(PacketSmps, AreLostWithTheirLinkAndSentAgain) {
  Managed managed(kFabric);
  managed.carry(0);
  const std::uint64_t before = managed.subnet.fabric.stats().dropped_link;
  managed.subnet.manager.request_sweep("test");
  // The manager's own cable, with a SMP on it.
  const sim::FabricSpec& spec = managed.subnet.fabric.spec();
  const auto sent = [&] { return managed.net->sent_bytes(spec.sm_node, spec.sm_port); };
  for (const std::uint64_t so_far = sent(); sent() == so_far;) {
    managed.subnet.run_for(Duration{10});
    managed.follow->catch_up();
  }
  managed.follow->set_link(spec.sm_node, spec.sm_port, false);
  managed.subnet.run_for(Duration{100});  // its head would have come in after 50 at most
  EXPECT_EQ(managed.subnet.fabric.stats().dropped_link, before + 1);
  managed.subnet.run_for(std::chrono::milliseconds(5));
  managed.follow->set_link(spec.sm_node, spec.sm_port, true);
  EXPECT_TRUE(managed.subnet.settle_up());
  EXPECT_EQ(managed.net->audit(), "");
}

}  // namespace packet_smps_test
}  // namespace smd::test
