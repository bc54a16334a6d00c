// Networks that are no subnet: hosts by number, no registers, no tables.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "sim-backend/scenario/run.h"
#include "sim-backend/topology/network.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

using testing::HasSubstr;

struct BeyondCase {
  const char* fabric;
  const char* shape;
  const char* rule;
  const char* traffic = "";
};

std::string text_of(const BeyondCase& of, const char* beyond) {
  return fmt::format(R"([fabric]
name = "{}{}"
engine = "updn"
vls = 4
[routes]
rule = "{}"
{}
[traffic]
load = [0.4]
{}
[measure]
warm_up_us = 3
interval_us = 3
least_intervals = 2
most_intervals = 2
)",
                     of.fabric,
                     beyond,
                     of.rule,
                     of.shape,
                     of.traffic);
}

PointResult run_text(const std::string& text, unsigned partitions = 1) {
  auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  if (!scenario) return {};
  scenario->packet.partitions = partitions;
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  EXPECT_TRUE(prepared.has_value()) << print_fault(prepared.error().at(0));
  if (!prepared) return {};
  PointResult point = prepared->run(0.4, 3);
  EXPECT_EQ(point.audit, "");
  return point;
}

constexpr const char* kElevenGroups = "dragonfly:a=5,c=2,h=2";
constexpr BeyondCase kBeyondCases[] = {
    {kElevenGroups, "group = 5", "min"},
    {kElevenGroups, "group = 5", "valiant"},
    {kElevenGroups, "group = 5", "par", "pattern = \"adv+1\"\ngroup = 5"},
    {"hamming:dims=4.4,hosts=4,trunk=2", "dims = [4, 4]", "ugal-l"},
    {"hamming:dims=4.4,hosts=4", "dims = [4, 4]", "dal", "pattern = \"mdn\"\ndims = [4, 4]"},
};

class BeyondSubnet : public testing::TestWithParam<BeyondCase> {};

TEST_P(BeyondSubnet, RunsAsASubnetUnderTheSameRule) {
  const PointResult subnet = run_text(text_of(GetParam(), ""));
  const PointResult beyond = run_text(text_of(GetParam(), ",beyond=1"));
  EXPECT_GT(subnet.stats.delivered, 1000u);
  EXPECT_EQ(beyond.stats.discards(), 0u);
  EXPECT_EQ(beyond.stats.digest, subnet.stats.digest);
  EXPECT_EQ(beyond.stats.events, subnet.stats.events);
  EXPECT_EQ(beyond.latency.mean, subnet.latency.mean);
}

TEST_P(BeyondSubnet, TellsTheSameInAnyPartitions) {
  const std::string text = text_of(GetParam(), ",beyond=1");
  const PointResult one = run_text(text);
  for (const unsigned partitions : {2u, 4u}) {
    EXPECT_EQ(run_text(text, partitions).stats.digest, one.stats.digest) << partitions;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, BeyondSubnet, testing::ValuesIn(kBeyondCases));

/// What the scenario is refused with, on one line.
std::string refusal_of(const std::string& text) {
  auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  if (!scenario) return "no scenario";
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  if (prepared) return "taken";
  EXPECT_EQ(prepared.error().size(), 1u);
  return print_fault(prepared.error().front());
}

TEST(BeyondSubnetScenario, WhatNeedsASubnetIsRefusedInOneLine) {
  const std::string name = "[fabric]\nname = \"hamming:dims=4.4,hosts=4,beyond=1\"\n";
  const std::string rule = "[routes]\nrule = \"min\"\n", shape = "dims = [4, 4]\n";
  EXPECT_EQ(refusal_of(name + rule + shape), "taken");

  struct Row {
    std::string text, why;
  };

  const Row rows[] = {
      {name, "routes.rule has to choose the ways"},
      {name + rule, "routes.dims or routes.group has to say the shape"},
      {name + "lmc = 1\n" + rule + shape, "need LIDs"},
      {name + "lifetimes = true\n" + rule + shape, "needs registers"},
      {name + rule + shape + "[congestion]\npreset = \"standard\"\n", "[congestion] answers"},
      {name + rule + shape + "[traffic]\ncollective = \"ring-all-reduce\"\n", "traffic.collective"},
      {name + rule + shape + "[traffic]\npattern = \"local\"\n", "the patterns local and combined"},
      {name + rule + shape + "[adapter]\nqueues = \"per-destination\"\n", "each pair of hosts"},
      {name + "[[fault]]\nat_us = 50\nwhat = \"link-down\"\nwhere = \"sw-0-0:5\"\n",
       "[[fault]] needs a manager"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(refusal_of(row.text), HasSubstr("s.toml:2: beyond=1 is no subnet: ")) << row.text;
    EXPECT_THAT(refusal_of(row.text), HasSubstr(row.why)) << row.text;
  }
}

TEST(BeyondSubnetFabric, IsTakenByNobodyWhoNeedsASubnet) {
  const auto fabric = load_fabric("hamming:dims=4.4,hosts=4,beyond=1");
  ASSERT_FALSE(fabric.has_value());
  ASSERT_EQ(fabric.error().size(), 1u);
  EXPECT_THAT(print_fault(fabric.error()[0]), HasSubstr("beyond=1 is no subnet"));
  EXPECT_TRUE(load_fabric("hamming:dims=4.4,hosts=4,beyond=0").has_value());
}

TEST(BeyondSubnetFabric, IsAsLargeAsANetAndNoLarger) {
  // 49,536 hosts.
  const char* const call = "dragonfly:a=16,c=24,h=8";
  EXPECT_FALSE(load_network(call).has_value());
  const auto network = load_network(std::string(call) + ",beyond=1");
  ASSERT_TRUE(network.has_value());
  EXPECT_FALSE(network->is_subnet);
  EXPECT_EQ(network->spec.nodes.size(), 129u * 16 * 25);
  const auto too_large = load_network("hamming:dims=255.255.255,hosts=1,trunk=1,beyond=1");
  ASSERT_FALSE(too_large.has_value());
  const auto many = load_network("dragonfly:a=90,c=40,h=45,beyond=1");
  ASSERT_FALSE(many.has_value());
  EXPECT_THAT(print_fault(many.error()[0]), HasSubstr("a network has 8388607 ports at most"));
}

TEST(BeyondSubnetNet, HostsAboveSixteenBitsAreTold) {
  // 80,000 hosts; 70,000 and 4,464 are alike in their last 16 bits.
  const auto network = load_network("hamming:dims=20.20,hosts=200,beyond=1");
  ASSERT_TRUE(network.has_value());
  PacketOptions options = PacketOptions::modern();
  options.switches.turns_back = true;
  PacketNet net(network->spec, options);
  net.open_all(4096);
  auto shape = Shape::find(network->spec, {.dims = {20, 20}});
  ASSERT_TRUE(shape.has_value()) << shape.error().context;
  const AdaptiveRoutes routes(std::move(*shape), {.rule = RuleKind::Minimal});
  net.set_route_choice(&routes);
  Script script({{.at = 0, .source = 1, .what = {.payload = 64, .to = 70'000}},
                 {.at = 5 * kMicro, .source = 79'999, .what = {.payload = 64, .to = 4'464}},
                 {.at = 9 * kMicro, .source = 4'464, .what = {.payload = 64, .to = 79'999}}});
  net.set_workload(&script);
  net.set_observer(&script);
  net.start();
  net.run_until(20 * kMicro);
  std::vector<std::pair<HostNum, HostNum>> arrived;
  for (const Delivery& each : script.arrivals) arrived.push_back({each.source, each.destination});
  using Pairs = std::vector<std::pair<HostNum, HostNum>>;
  EXPECT_EQ(arrived, (Pairs{{1, 70'000}, {79'999, 4'464}, {4'464, 79'999}}));
  EXPECT_EQ(net.audit(), "");
}

TEST(BeyondSubnetNet, WithoutARuleNothingArrivesByNumber) {
  const auto network = load_network("hamming:dims=4.4,hosts=2,beyond=1");
  ASSERT_TRUE(network.has_value());
  PacketNet net(network->spec, PacketOptions::modern());
  net.open_all(4096);
  Script script({{.at = 0, .source = 0, .what = {.payload = 64, .to = 20}}});
  net.set_workload(&script);
  net.set_observer(&script);
  net.start();
  net.run_until(20 * kMicro);
  EXPECT_EQ(net.stats().discarded[static_cast<std::size_t>(Discard::Unroutable)], 1u);
  EXPECT_EQ(net.audit(), "");
}

}  // namespace
}  // namespace smd::sim::test
