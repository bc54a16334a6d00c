// Networks that are no subnet: hosts by number, no registers, no tables.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "sim-backend/scenario/run.h"
#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/network.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct BeyondCase {
  const char* fabric;
  const char* shape;
  const char* rule;
  const char* traffic = "";
};

std::string text_of(const BeyondCase& of, const char* beyond) {
  return fmt::format(R"([fabric]
name = "{}{}"
{}vls = 4
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
                     *beyond == '\0' ? "engine = \"updn\"\n" : "",
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

/// What the scenario is refused with: "LINE: WHY" for each fault.
std::vector<std::string> refusals_of(const std::string& text) {
  auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario.has_value()) << print_fault(scenario.error().at(0));
  if (!scenario) return {"no scenario"};
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  if (prepared) return {};
  std::vector<std::string> out;
  for (const Fault& fault : prepared.error()) {
    EXPECT_EQ(fault.where, "s.toml");
    out.push_back(fmt::format("{}: {}", fault.line, fault.message));
  }
  return out;
}

struct RefusedKey {
  const char* fabric = "";  // lines of [fabric], from line 3 on
  const char* sections;     // after [routes], which has four lines
  const char* why;          // with its line
};

class BeyondSubnetKeys : public testing::TestWithParam<RefusedKey> {};

TEST_P(BeyondSubnetKeys, WhatNeedsASubnetIsRefusedWithItsLine) {
  const RefusedKey& row = GetParam();
  const std::string text = fmt::format(
      "[fabric]\nname = \"hamming:dims=4.4,hosts=4,beyond=1\"\n{}"
      "[routes]\nrule = \"min\"\ndims = [4, 4]\n{}",
      row.fabric,
      row.sections);
  const std::string why(row.why);
  const std::size_t colon = why.find(": ") + 2;
  EXPECT_THAT(refusals_of(text),
              ElementsAre(StartsWith(why.substr(0, colon) +
                                     "beyond=1 is no subnet: " + why.substr(colon))));
}

constexpr RefusedKey kRefusedKeys[] = {
    {"lmc = 1\n", "", "3: fabric.lmc needs LIDs"},
    {"lifetimes = true\n", "", "3: fabric.lifetimes needs registers"},
    {"engine = \"updm\"\n", "", "3: fabric.engine means nothing there"},
    {"orientation = \"depth-first\"\n", "", "3: fabric.orientation means nothing there"},
    {"non_minimal = \"valiant\"\n", "", "3: fabric.non_minimal means nothing there"},
    {"path_sets = \"updn-shortest\"\n",
     "",
     "3: fabric.path_sets means nothing there, where hosts have no LIDs: leave it out"},
    {"path_sets = \"off\"\n", "", "3: fabric.path_sets means nothing there"},
    {"preset = \"multistage\"\n",
     "[switch]\ninput_buffer = 16384\noutput_buffer = 16384\n",
     "3: adapter.queues = \"per-destination\" keeps"},
    {"", "[congestion]\npreset = \"standard\"\n", "7: [congestion] answers by LID"},
    {"", "[congestion]\nmarking = \"iba\"\n", "7: [congestion] answers by LID"},
    {"", "[traffic]\ncollective = \"ring-all-reduce\"\n", "7: traffic.collective sends by LID"},
    {"", "[traffic]\ntrace = \"t.txt\"\n", "7: traffic.trace sends by LID"},
    {"", "[traffic]\npattern = \"local\"\n", "7: the patterns local and combined"},
    {"", "[traffic]\npattern = \"combined\"\n", "7: the patterns local and combined"},
    {"", "[traffic]\nload = 0.3\nlid = \"any\"\n", "8: traffic.lid needs LIDs"},
    {"", "[traffic]\nsl = 0\n", "7: traffic.sl means nothing there"},
    {"", "[traffic]\nsl = \"path\"\n", "7: traffic.sl means nothing there"},
    {"", "[traffic]\nsl = \"random\"\n", "7: traffic.sl means nothing there"},
    {"",
     "[adapter]\nqueues = \"per-destination\"\n",
     "7: adapter.queues = \"per-destination\" keeps something for each pair"},
    {"", "[adapter]\nstatic_rate = true\n", "7: adapter.static_rate keeps something"},
};

INSTANTIATE_TEST_SUITE_P(Keys, BeyondSubnetKeys, testing::ValuesIn(kRefusedKeys));

TEST(BeyondSubnetScenario, NeedsARuleAndItsShape) {
  const std::string name = "[fabric]\nname = \"hamming:dims=4.4,hosts=4,beyond=1\"\n";
  const std::string no = "beyond=1 is no subnet: ";
  EXPECT_THAT(refusals_of(name + "[routes]\nrule = \"min\"\ndims = [4, 4]\n"), ElementsAre());
  const std::string rule = no + "routes.rule has to choose the ways, which no table holds";
  EXPECT_THAT(refusals_of(name), ElementsAre("2: " + rule));
  EXPECT_THAT(refusals_of(name + "[routes]\nrule = \"min\"\n"),
              ElementsAre("4: " + no + "routes.dims or routes.group has to say the shape"));
  EXPECT_THAT(refusals_of(name + "model = \"worms\"\n"),
              ElementsAre("3: " + no + "fabric.model = \"worms\" needs a subnet"));
  EXPECT_THAT(refusals_of(name + "[[group]]\nmembers = \"all\"\n"),
              ElementsAre("2: " + rule, "4: " + no + "[[group]] needs tables of a subnet"));
  EXPECT_THAT(refusals_of(name + "[[fault]]\nat_us = 50\nwhat = \"link-down\"\nwhere = "
                                 "\"sw-0-0:5\"\n"),
              ElementsAre("2: " + rule, StartsWith("3: " + no + "[[fault]] needs a manager")));
}

TEST(BeyondSubnetScenario, EveryFaultIsTold) {
  EXPECT_THAT(
      refusals_of("[fabric]\nname = \"hamming:dims=4.4,hosts=4,beyond=1\"\nlmc = 1\n"
                  "[routes]\nrule = \"min\"\ndims = [4, 4]\n[adapter]\nstatic_rate = true\n"
                  "[traffic]\nlid = \"any\"\npattern = \"combined\"\n"),
      ElementsAre(StartsWith("3: "), StartsWith("8: "), StartsWith("10: "), StartsWith("11: ")));
}

TEST(BeyondSubnetScenario, SourceQueuesThatCannotBeNumberedAreRefused) {
  // 80,000 hosts with 15 VLs and 4,096 queues each: 4.9 thousand million.
  EXPECT_THAT(refusals_of("[fabric]\nname = \"hamming:dims=20.20,hosts=200,beyond=1\"\nvls = 15\n"
                          "[routes]\nrule = \"min\"\ndims = [20, 20]\n"
                          "[adapter]\nqueues = \"hashed\"\nhashed_queues = 4096\n"),
              ElementsAre("9: 80000 hosts of 15 VLs with 4096 queues each: 4294967295 queues at "
                          "most in all"));
}

/// One group's traffic over one cable: sources fill up.
PointResult run_full(std::uint32_t most_packets, unsigned partitions) {
  auto scenario = parse_scenario(
      text_of({kElevenGroups, "group = 5", "min", "pattern = \"adv+1\"\ngroup = 5"}, ",beyond=1"),
      "s.toml");
  EXPECT_TRUE(scenario.has_value());
  scenario->packet.partitions = partitions;
  scenario->packet.most_packets = most_packets;
  scenario->measure.plan.least_intervals = scenario->measure.plan.most_intervals = 1000;
  scenario->measure.plan.interval = kMicro;
  return PreparedScenario::prepare(std::move(*scenario))->run(1, 3);
}

TEST(BeyondSubnetScenario, APointOfTooManyPacketsEndsWithOneLine) {
  for (const unsigned partitions : {1u, 2u, 4u}) {
    const PointResult full = run_full(3000, partitions);
    EXPECT_THAT(full.audit, StartsWith("load 1 seed 3: ended before "));
    EXPECT_THAT(full.audit, HasSubstr("with more than 3000 packets of a partition"));
    EXPECT_THAT(full.audit, HasSubstr("adapter.most_waiting"));
    EXPECT_EQ(full.steady.state, RunState::Full) << partitions;
    EXPECT_TRUE(full.steady.deadlock.empty());
    EXPECT_LT(full.simulated, 1000 * kMicro) << "of the thousand intervals it runs a few";
    EXPECT_EQ(run_full(3000, partitions).audit, full.audit);
  }
}

TEST(BeyondSubnetScenario, ALimitThatIsNotReachedChangesNothing) {
  const std::string text = text_of(kBeyondCases[1], ",beyond=1");
  auto scenario = parse_scenario(text, "s.toml");
  ASSERT_TRUE(scenario.has_value());
  scenario->packet.most_packets = 20'000;
  const PointResult with = PreparedScenario::prepare(std::move(*scenario))->run(0.4, 3);
  EXPECT_EQ(with.audit, "");
  EXPECT_EQ(with.stats.digest, run_text(text).stats.digest);
}

TEST(BeyondSubnetScenario, MoreGroupsThanCablesAreRefusedBeforeRoomIsMade) {
  const auto network = load_network("dragonfly:a=5,c=2,h=2,beyond=1");
  ASSERT_TRUE(network.has_value());
  const auto shape = Shape::find(network->spec, {.dims = {}, .group = 1});
  ASSERT_FALSE(shape.has_value());
  // 11 groups of 10 cables within, and 55 between them.
  EXPECT_EQ(shape.error().context,
            "groups of 1 switches each: 55 groups need 1485 cables, the fabric has 165");
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
  const auto many = load_network("dragonfly:a=90,c=40,h=45,beyond=1");
  ASSERT_FALSE(many.has_value());
  EXPECT_THAT(print_fault(many.error()[0]), HasSubstr("a network has 8388607 ports at most"));
  const auto wide = load_network("hamming:dims=255.255.255,hosts=1,trunk=1,beyond=1");
  ASSERT_FALSE(wide.has_value());
  EXPECT_THAT(print_fault(wide.error()[0]), HasSubstr("763 ports on one switch"));
}

TEST(BeyondSubnetFabric, HasAsManyPortsAsEventsName) {
  // A switch of 46 ports has 47 with port 0: 47 * 178,481 = 2^23 - 1.
  EXPECT_EQ(check_size({.switches = 178'481, .host_ports = 0, .radix = 46, .beyond = true}), "");
  EXPECT_EQ(
      check_size({.switches = 100, .host_ports = 8'388'607 - 4'700, .radix = 46, .beyond = true}),
      "");
  EXPECT_EQ(check_size({.switches = 178'481, .host_ports = 1, .radix = 46, .beyond = true}),
            "178481 switches of 46 ports and 1 host ports: a network has 8388607 ports at most");
  EXPECT_NE(
      check_size({.switches = 100, .host_ports = 8'388'608 - 4'700, .radix = 46, .beyond = true}),
      "");
  EXPECT_NE(check_size({.switches = UINT64_MAX / 2, .host_ports = 1, .radix = 46, .beyond = true}),
            "")
      << "products that wrap";
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

TEST(BeyondSubnetNet, TellsApartWhatGrowsWithIt) {
  const auto memory_of = [](const std::string& call) {
    const auto network = load_network(call);
    EXPECT_TRUE(network.has_value());
    PacketNet net(network->spec, PacketOptions::modern());
    net.open_all(4096);
    return net.memory_use();
  };
  const NetMemory small = memory_of("hamming:dims=4.4,hosts=4,beyond=1");
  const NetMemory large = memory_of("hamming:dims=4.4,hosts=40,beyond=1");
  // Whose each of 65,536 LIDs is, and 16,384 buckets.
  EXPECT_EQ(small.fixed, 65'536u * 4 + 16'384u * 4);
  EXPECT_EQ(large.fixed, small.fixed);
  // 16 switches of 10 or 46 ports and port 0; an adapter's port has no other. 164 bytes each, of
  // which a host's number is 4; one VL of 96.
  EXPECT_EQ(small.ports % (16u * 11 + 64), 0u);
  EXPECT_EQ(small.ports / (16u * 11 + 64), large.ports / (16u * 47 + 640));
  EXPECT_EQ(small.lanes, (16u * 11 + 64) * 96);
  EXPECT_EQ(large.lanes, (16u * 47 + 640) * 96);
  EXPECT_EQ(small.hosts, 64u * 32);
  EXPECT_EQ(large.hosts, 640u * 32);
  EXPECT_EQ(small.packets, 0u);
  EXPECT_EQ(small.events, 0u);
  EXPECT_EQ(small.grown(), small.nodes + small.ports + small.lanes + small.hosts);
  EXPECT_EQ(small.total(), small.grown() + small.fixed + small.spare);
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
