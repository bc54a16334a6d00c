// Hosts with four adapters under a manager, judged by the registers of the simulated nodes, and
// what the programs print of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sim-backend/topology/fabric_spec.h"
#include "smd/base/log.h"
#include "tests/support/files.h"
#include "tests/support/ndr_582.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace several_adapters_test {

using ::testing::HasSubstr;
using ::testing::Not;

class FourAdapters : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {};

TEST_P(FourAdapters, AreEndPortsWithALidEach) {
  const auto& [call, hosts] = GetParam();
  const unsigned long errors = log::count(log::Level::Error);
  SimulatedSubnet subnet(spec_of(call));
  ASSERT_TRUE(subnet.start());
  const CycleReport& cycle = *subnet.manager.last_cycle();
  EXPECT_TRUE(cycle.up()) << (cycle.error ? cycle.error->context : "");
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
  EXPECT_EQ(cycle.counts.cas, 4 * hosts);
  EXPECT_EQ(cycle.counts.hosts, (HostCounts{.hosts = hosts, .least = 4, .most = 4}));
  std::set<unsigned> lids;
  const ActiveSubnet& now = *subnet.manager.in_force();
  for (const PortIdx port : now.fabric().peer.indices()) {
    if (now.fabric().is_end_port(port)) lids.insert(now.lids->base[port].value());
  }
  EXPECT_EQ(lids.size(), 4 * hosts + cycle.counts.switches) << "a LID for each end port";
  EXPECT_FALSE(lids.contains(0));
  EXPECT_EQ(log::count(log::Level::Error), errors);
}

TEST_P(FourAdapters, OneThatGoesTakesNoOtherAway) {
  const auto& [call, hosts] = GetParam();
  SimulatedSubnet subnet(spec_of(call));
  ASSERT_TRUE(subnet.start());
  const sim::FabricSpec& spec = subnet.fabric.spec();
  std::uint32_t last = 0;  // an adapter of the last host; the manager sits on the first
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].description.ends_with(" mlx5_3")) last = n;
  }
  subnet.fabric.set_link(last, PortNum{1}, false);
  ASSERT_TRUE(subnet.settle());
  const CycleReport& change = *subnet.manager.last_cycle();
  EXPECT_TRUE(change.up());
  EXPECT_EQ(change.counts.hosts, (HostCounts{.hosts = hosts, .least = 3, .most = 4}));
  EXPECT_EQ(find_inactive_port(subnet), "");
  EXPECT_EQ(find_broken_route(subnet), "");
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics,
    FourAdapters,
    testing::Values(std::tuple("fat-tree:k=8,levels=2,adapters=4", 8u),
                    std::tuple("torus:dims=3.3,hosts=1,adapters=4", 9u),
                    std::tuple("rails:units=2,hosts=3,rails=4,spines=2", 6u),
                    std::tuple("multi-plane:planes=4,leaves=2,hosts=2,adapters=4", 4u)));

std::string print(std::vector<std::string> argv) {
  argv.front() = build_path("bin/" + argv.front());
  const Finished done = run_process({.argv = std::move(argv)}, std::chrono::minutes(2));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  return done.out;
}

TEST(SeveralAdaptersPrinted, ByDryRunAndVerify) {
  const Scratch folder;
  const std::string fabric = "fat-tree:k=8,levels=2,adapters=4";
  const std::string text = print({"smd",
                                  "dry-run",
                                  "--fabric",
                                  fabric,
                                  "--dump",
                                  folder.path().string(),
                                  "--engine",
                                  "ftree"});
  EXPECT_THAT(text, HasSubstr("12 switches, 32 adapters (8 hosts with 4 adapters each), "));
  EXPECT_THAT(text, HasSubstr("\nuniform among the adapters of each rail: 100.0 % of full rate\n"));
  const auto json = nlohmann::json::parse(
      print({"smd", "dry-run", "--json", "--fabric", fabric, "--engine", "ftree"}));
  EXPECT_EQ(json["fabric"]["hosts"], 8);
  EXPECT_EQ(json["fabric"]["least_adapters"], 4);
  EXPECT_EQ(json["fabric"]["most_adapters"], 4);
  EXPECT_EQ(json["traffic"]["uniform_rail"], 1.0);

  // Uneven, and with aggregation nodes, from a file.
  const std::string file = folder.path().string() + "/uneven.net";
  std::ofstream(file) << sim::print_fabric(
      sim::load_fabric(fabric + ",spine_hosts=3,aggregation=1").value());
  EXPECT_THAT(print({"smd", "dry-run", "--fabric", file}),
              HasSubstr("47 adapters, 12 of them aggregation nodes (11 hosts with 1 to 4 "
                        "adapters), "));
  const std::string verdict = print({"smd",
                                     "verify",
                                     "--fabric",
                                     folder.path().string() + "/fabric.net",
                                     "--lft",
                                     folder.path().string() + "/opensm-lfts.dump"});
  EXPECT_THAT(verdict, HasSubstr("32 adapters (8 hosts with 4 adapters each), "));
  EXPECT_THAT(verdict, HasSubstr("\n  uniform-rail 100.0 % of full rate;"));
}

// 4 units of 8 hosts with 8 adapters, half as many spines as a leaf has adapters. Of 256 ports
// those on other leaves are 248, of the 32 on a rail 24: what 8 adapters send there goes over 4
// cables.
TEST(SeveralAdaptersPrinted, ARailCarriesWhatTheCountSays) {
  const auto json = nlohmann::json::parse(print({"smd",
                                                 "dry-run",
                                                 "--json",
                                                 "--engine",
                                                 "ftree",
                                                 "--fabric",
                                                 "rails:units=4,hosts=8,rails=8,spines=4"}));
  EXPECT_NEAR(json["traffic"]["uniform"], 4 / (8 * 248.0 / 256), 0.001);
  EXPECT_NEAR(json["traffic"]["uniform_rail"], 4 / (8 * 24.0 / 32), 0.001);
}

// Each of the cards of this cluster has a SystemImageGUID of its own, and so has each host that is
// drawn with one adapter: everything is as it was.
TEST(SeveralAdaptersPrinted, NotWhereEachHostHasOne) {
  const Scratch folder;
  const std::string file = folder.path().string() + "/fabric.net";
  std::ofstream(file) << sim::print_fabric(ndr_582());
  for (const std::string& fabric : {file, std::string("fat-tree:k=8,levels=2")}) {
    const std::string text = print({"smd", "dry-run", "--fabric", fabric, "--engine", "updn"});
    EXPECT_THAT(text, Not(HasSubstr("hosts with")));
    EXPECT_THAT(text, Not(HasSubstr("rail")));
  }
}

TEST(SeveralAdaptersPrinted, ByCostAndThePlanOfCongestionControl) {
  const std::string rails = "rails:units=2,hosts=3,rails=4,spines=2";
  EXPECT_THAT(print({"smsim", "cost", rails}),
              HasSubstr("hosts      6 hosts with 4 adapters each, 24 cables"));
  EXPECT_THAT(print({"smsim", "cost", "fat-tree:k=4,levels=2"}),
              HasSubstr("hosts      8 with 8 cables"));
  EXPECT_THAT(print({"smsim", "cc-plan", rails}),
              HasSubstr("6 hosts with 4 adapters each, 10 switches: fat tree of 8 + 2 switches, 6 "
                        "hosts with 4 adapters each"));
}

}  // namespace several_adapters_test
}  // namespace smd::test
