// Data packets while the real manager takes in a change: lost only for causes that the change
// explains, and none any more when it is in.
#include <gmock/gmock.h>

#include "sim-backend/scenario/followed_fabric.h"
#include "sim-backend/traffic/synthetic.h"
#include "smd/config/reconfiguration_mode.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

using sim::Discard;
using sim::Picos;

sim::PacketOptions options() {
  sim::PacketOptions out = sim::PacketOptions::modern();
  out.vls = 8;  // what the manager has switches use
  return out;
}

WorldOptions world_options(const char* mode) {
  WorldOptions out;
  out.settings.mode = *parse_reconfiguration_mode(mode);
  return out;
}

/// A subnet that is up and carries data from now on.
struct Carrying {
  explicit Carrying(const char* mode)
      : world(spec_of("irregular:switches=12,ports=8,links=4,hosts=2,seed=3"), world_options(mode)),
        net(world.fabric.spec(), options()) {
    world.manager.start();
    EXPECT_TRUE(world.settle_up());
    follow.emplace(world.runtime, world.fabric, net);
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
    world.run_for(time);
    follow->catch_up();
    EXPECT_EQ(net.audit(), "");
    EXPECT_TRUE(net.find_deadlock().empty());
  }

  [[nodiscard]] std::uint64_t lost(Discard cause) const {
    return net.stats().discarded[static_cast<std::size_t>(cause)];
  }

  /// The change is in, and from then on nothing is lost.
  void expect_recovery(std::size_t cycles) {
    if (world.reports.size() == cycles) {
      EXPECT_TRUE(world.settle());
    }
    EXPECT_TRUE(world.settle_up());
    EXPECT_GT(world.reports.size(), cycles);
    follow->catch_up();
    run_for(std::chrono::microseconds(200));  // what was under way
    const std::uint64_t before = net.stats().discards();
    const std::uint64_t delivered = net.stats().delivered;
    run_for(std::chrono::milliseconds(2));
    EXPECT_EQ(net.stats().discards(), before);
    EXPECT_GT(net.stats().delivered, delivered + 1000);
  }

  World world;
  sim::PacketNet net;
  std::optional<sim::FollowedFabric> follow;
  std::optional<sim::SyntheticTraffic> traffic;
};

/// A cable between two switches, both of which keep others.
std::pair<std::uint32_t, PortNum> find_cable(const sim::FabricSpec& spec) {
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch) continue;
    for (unsigned p = 1; p <= spec.nodes[n].num_ports(); ++p) {
      const std::uint32_t peer = spec.nodes[n].ports[p].peer_node;
      if (peer != sim::kNoNode && spec.nodes[peer].type == NodeType::Switch) {
        return {n, PortNum{static_cast<std::uint8_t>(p)}};
      }
    }
  }
  ADD_FAILURE();
  return {};
}

class PacketChange : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Modes, PacketChange, testing::Values("certified", "improved", "basic"));

TEST_P(PacketChange, ACableGoesAndComes) {
  Carrying carrying(GetParam());
  carrying.run_for(std::chrono::milliseconds(1));
  ASSERT_EQ(carrying.net.stats().discards(), 0u);
  ASSERT_GT(carrying.net.stats().delivered, 500u);
  const auto [node, port] = find_cable(carrying.world.fabric.spec());
  std::size_t cycles = carrying.world.reports.size();
  carrying.follow->set_link(node, port, false);
  carrying.run_for(std::chrono::milliseconds(1));
  EXPECT_GT(carrying.lost(Discard::InactivePort), 0u) << "routes still lead over it";
  carrying.expect_recovery(cycles);
  if (std::string_view(GetParam()) != "basic") {
    EXPECT_EQ(carrying.lost(Discard::DeactivatedPort), 0u) << "no port was taken down for it";
  } else {
    EXPECT_GT(carrying.lost(Discard::DeactivatedPort), 0u) << "the whole subnet was";
  }

  cycles = carrying.world.reports.size();
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
  const auto [node, port] = find_cable(carrying.world.fabric.spec());
  const std::uint32_t other =
      carrying.world.fabric.spec().nodes[node].ports[port.value()].peer_node;
  const std::size_t cycles = carrying.world.reports.size();
  carrying.follow->set_node(other, false);
  carrying.run_for(std::chrono::milliseconds(1));
  EXPECT_GT(carrying.lost(Discard::InactivePort), 0u);
  EXPECT_TRUE(carrying.world.settle());
  EXPECT_GT(carrying.world.reports.size(), cycles);
  const std::size_t between = carrying.world.reports.size();
  carrying.follow->set_node(other, true);
  carrying.expect_recovery(between);
}

}  // namespace
}  // namespace smd::test
