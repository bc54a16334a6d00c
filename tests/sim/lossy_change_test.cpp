// Random changes on a wire that loses, doubles and delays SMPs, and beside switches that answer
// nothing but pass traffic on. Never a credit loop in what the switches hold, never a LID twice;
// after a bounded quiet time everything that cables join is connected.
#include <gtest/gtest.h>

#include <string_view>

#include "smd/base/rng.h"
#include "tests/support/cables.h"
#include "tests/support/oracle_watch.h"

namespace smd::test {
namespace {

/// Per hop: one SMP in twenty is lost.
constexpr double kEndurable = 0.005;

SimulatedSubnetOptions watched(std::uint64_t seed, const char* engine = "updn") {
  SimulatedSubnetOptions options{.seed = seed};
  options.settings.engine = engine;
  const std::string_view name = engine;
  if (name == "nue" || name == "hamming" || name == "dor")
    options.settings.ports.max_operational_vls = 1;  // one VL
  options.settings.sweep_interval = std::chrono::seconds(10);
  return options;
}

/// Engine, fabric, seed, and the SMPs that are lost per hop: a request and its answer cross about
/// ten.
class LossyChange
    : public testing::TestWithParam<std::tuple<const char*, const char*, std::uint64_t, double>> {};

TEST_P(LossyChange, EndsConnectedAndNeverPassesThroughACreditLoop) {
  const auto& [engine, name, seed, loss] = GetParam();
  SimulatedSubnet subnet(spec_of(name), watched(seed, engine));
  ASSERT_TRUE(subnet.bring_up());
  OracleWatch watch(subnet);
  subnet.fabric.set_wire_faults({.drop = loss, .duplicate = 0.005, .reorder = 0.05});

  Rng rng(seed);
  std::vector<Cable> cables = cable_ends_at_switches(subnet.fabric.spec());
  for (int change = 0; change < 8; ++change) {
    const Cable& cable = cables[rng.below(cables.size())];
    subnet.fabric.set_link(cable.node, cable.port, !subnet.fabric.link_up(cable.node, cable.port));
    subnet.run_for(std::chrono::milliseconds(1 + rng.below(300)));
  }
  subnet.run_for(std::chrono::seconds(60));
  for (const Cable& cable : cables) subnet.fabric.set_link(cable.node, cable.port, true);
  if (loss > kEndurable) subnet.fabric.set_wire_faults({.drop = kEndurable});
  subnet.run_for(std::chrono::seconds(120));

  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_EQ(watch.present_loop(), "");
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics,
    LossyChange,
    testing::Combine(testing::Values("updn", "auto"),
                     testing::Values("example:name=fig76",
                                     "fat-tree:k=4,levels=3",
                                     "torus:dims=4.4",
                                     "irregular:switches=12,ports=8,links=4,hosts=2,seed=3"),
                     testing::Range(std::uint64_t{1}, std::uint64_t{13}),
                     testing::Values(kEndurable, 0.05)));

// Their changes may have to block turns.
INSTANTIATE_TEST_SUITE_P(
    OneVl,
    LossyChange,
    testing::Combine(testing::Values("nue"),
                     testing::Values("example:name=fig76",
                                     "torus:dims=4.4",
                                     "irregular:switches=12,ports=8,links=4,hosts=2,seed=3"),
                     testing::Range(std::uint64_t{1}, std::uint64_t{7}),
                     testing::Values(kEndurable, 0.05)));

// Ways round what is lost go with all other paths; where they cannot, updn takes over.
INSTANTIATE_TEST_SUITE_P(WaysRoundOnOneVl,
                         LossyChange,
                         testing::Combine(testing::Values("hamming"),
                                          testing::Values("hamming:dims=3.4,hosts=1",
                                                          "hamming:dims=3.3.3,hosts=1"),
                                          testing::Range(std::uint64_t{1}, std::uint64_t{7}),
                                          testing::Values(kEndurable, 0.05)));
INSTANTIATE_TEST_SUITE_P(WaysRoundOnAMesh,
                         LossyChange,
                         testing::Combine(testing::Values("dor"),
                                          testing::Values("torus:dims=5.4,mesh=1"),
                                          testing::Range(std::uint64_t{1}, std::uint64_t{7}),
                                          testing::Values(kEndurable, 0.05)));

INSTANTIATE_TEST_SUITE_P(
    Trees,
    LossyChange,
    testing::Combine(testing::Values("updn", "auto", "ftree"),
                     testing::Values("fat-tree:k=4,levels=3",
                                     "fat-tree:k=8,levels=3,missing=21,seed=7",
                                     "fat-tree:k=6,levels=3,missing=12,seed=2"),
                     testing::Range(std::uint64_t{1}, std::uint64_t{7}),
                     testing::Values(kEndurable, 0.05)));

// What a switch held that fell silent was taken for known (torus); switches that had fallen silent
// were forgotten when tables were read again (missing cables), or when they were cut off and others
// in front of them came back (updn); entries to LIDs that nobody had closed a cycle (151).
INSTANTIATE_TEST_SUITE_P(
    PassedThroughACreditLoop,
    LossyChange,
    testing::Values(std::tuple{"nue", "torus:dims=4.4", 9, 0.05},
                    std::tuple{"nue", "torus:dims=4.4", 22, 0.05},
                    std::tuple{"nue", "torus:dims=4.4", 76, 0.05},
                    std::tuple{"ftree", "fat-tree:k=6,levels=3,missing=12,seed=2", 65, 0.05},
                    std::tuple{"updn", "fat-tree:k=4,levels=3", 178, 0.05},
                    std::tuple{"ftree", "fat-tree:k=4,levels=3", 151, 0.05}));

// Ports that had come up were looked for by the numbers that they had before a switch was left out.
INSTANTIATE_TEST_SUITE_P(ReadBeyondTheSnapshot,
                         LossyChange,
                         testing::Values(std::tuple{"nue", "torus:dims=4.4", 171, 0.05}));

/// A switch whose agent hangs keeps its tables and passes packets on.
class SilentSwitch : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SilentSwitch, ThatPassesTrafficOnIsRoutedAround) {
  SimulatedSubnet subnet(spec_of("fat-tree:k=4,levels=3"), watched(GetParam()));
  ASSERT_TRUE(subnet.bring_up());
  OracleWatch watch(subnet);
  Rng rng(GetParam());
  const std::uint32_t hung = subnet.node(GetParam() % 2 == 0 ? "sw-2-1" : "sw-1-3");
  subnet.fabric.set_silent(hung, true);
  std::vector<Cable> cables = cable_ends_at_switches(subnet.fabric.spec());
  std::erase_if(cables, [&](const Cable& c) {
    const std::uint32_t peer = subnet.fabric.spec().nodes[c.node].ports[c.port.value()].peer_node;
    return c.node == hung || peer == hung ||
           subnet.fabric.spec().nodes[peer].type != NodeType::Switch;
  });
  const Cable cable = cables[rng.below(cables.size())];
  subnet.fabric.set_link(cable.node, cable.port, false);
  subnet.run_for(std::chrono::seconds(60));
  EXPECT_EQ(watch.present_loop(), "");
  subnet.fabric.set_link(cable.node, cable.port, true);
  subnet.fabric.set_silent(hung, false);
  subnet.run_for(std::chrono::minutes(6));  // the longest wait of a retry
  EXPECT_EQ(watch.never_allowed(), "");
  EXPECT_TRUE(subnet.manager.last_cycle()->up());
  EXPECT_TRUE(watch.connected());
  EXPECT_EQ(find_broken_route(subnet), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, SilentSwitch, testing::Range(std::uint64_t{1}, std::uint64_t{9}));

}  // namespace
}  // namespace smd::test
