// Hosts with several adapters in packet runs: who sends nothing to whom, and what rails do by
// themselves, judged by deliveries.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim-backend/scenario/result_text.h"
#include "sim-backend/traffic/collective.h"
#include "sim-backend/traffic/patterns.h"
#include "tests/support/scenario_text.h"
#include "tests/unit/sim-packet/rig.h"

namespace smd::sim::test {
namespace rails_test {

using testing::Each;
using testing::HasSubstr;

/// Twelve adapters, numbers 0 to 11: four hosts of three, host by host, two hosts on a switch.
PatternInput twelve(bool among_rails = false) {
  PatternInput in{.hosts = 12, .among_rails = among_rails};
  for (HostNum host = 0; host < 12; ++host) {
    in.ports.host.push_back(host / 3);
    in.ports.rail.push_back(host % 3);
    in.near.push_back({});
    for (HostNum other = host / 6 * 6; other < host / 6 * 6 + 6; ++other)
      in.near.back().push_back(other);
  }
  in.ports.hosts = 4;
  in.ports.rails = 3;
  in.groups = {{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}};
  in.dims = {2};
  in.switches_per_group = 1;
  return in;
}

std::map<HostNum, int> draw_from(const char* name, const PatternInput& in, HostNum source, int n) {
  const PatternRow* row = find_pattern(name);
  auto mix = build_pattern(*row, in);
  EXPECT_TRUE(mix) << name << (mix ? "" : mix.error().context);
  const Destinations destinations(std::move(*mix), row->includes_self, in.ports.host);
  std::map<HostNum, int> out;
  Rng rng(3);
  for (int i = 0; i < n; ++i) ++out[destinations.draw(source, rng)];
  EXPECT_EQ(destinations.sends(source), out.size() > out.count(TrafficPattern::kSilent)) << name;
  return out;
}

TEST(AdaptersOfOneHost, SendEachOtherNothing) {
  for (const PatternRow& row : traffic_patterns()) {
    if (row.includes_self) continue;
    for (HostNum source = 0; source < 12; ++source) {
      for (const auto& [to, count] : draw_from(row.name.data(), twelve(), source, 300)) {
        if (to == TrafficPattern::kSilent) continue;
        EXPECT_NE(to / 3, source / 3) << row.name << ": " << source << " to " << to;
      }
    }
  }
}

TEST(AdaptersOfOneHost, UniformTrafficIsEvenOverAllOthers) {
  const auto drawn = draw_from("uniform", twelve(), 4, 18'000);
  EXPECT_EQ(drawn.size(), 9u);
  for (const auto& [to, count] : drawn) EXPECT_NEAR(count, 2000, 200) << to;
  EXPECT_EQ(draw_from("uniform-self", twelve(), 4, 5000).size(), 12u);
}

TEST(AdaptersOfOneHost, AreSilentWhereNobodyElseIsMeant) {
  PatternInput in = twelve();
  for (HostNum host = 0; host < 12; ++host)
    in.near[host] = {host / 3 * 3, host / 3 * 3 + 1, host / 3 * 3 + 2};
  EXPECT_THAT(draw_from("local", in, 5, 10),
              testing::ElementsAre(testing::Pair(TrafficPattern::kSilent, 10)));
  // Bits of 1 backwards among the first eight are those of 4: another host; 2 is itself.
  EXPECT_EQ(draw_from("bit-reversal", twelve(), 1, 1).begin()->first, 4u);
}

TEST(AdaptersOfOneHost, ChangeNothingWhereEveryHostHasOne) {
  PatternInput apart = twelve();
  for (HostNum host = 0; host < 12; ++host) apart.ports.host[host] = host;
  PatternInput none = twelve();
  none.ports = {};
  for (const PatternRow& row : traffic_patterns()) {
    for (const HostNum source : {0u, 7u}) {
      EXPECT_EQ(draw_from(row.name.data(), apart, source, 200),
                draw_from(row.name.data(), none, source, 200))
          << row.name;
    }
  }
}

TEST(Rails, HaveEveryPatternToThemselves) {
  for (const PatternRow& row : traffic_patterns()) {
    for (HostNum source = 0; source < 12; ++source) {
      for (const auto& [to, count] : draw_from(row.name.data(), twelve(true), source, 200)) {
        if (to != TrafficPattern::kSilent) {
          EXPECT_EQ(to % 3, source % 3) << row.name;
        }
      }
    }
  }
  EXPECT_EQ(draw_from("uniform", twelve(true), 4, 300).size(), 3u) << "hosts 0, 2 and 3";
}

TEST(Rails, DrawTheSameHosts) {
  for (const char* name : {"permutation", "complement", "tornado"}) {
    for (HostNum host = 0; host < 4; ++host) {
      std::set<HostNum> to;
      for (HostNum rail = 0; rail < 3; ++rail) {
        const HostNum drawn = draw_from(name, twelve(true), 3 * host + rail, 1).begin()->first;
        to.insert(drawn == TrafficPattern::kSilent ? drawn : drawn / 3);
      }
      EXPECT_EQ(to.size(), 1u) << name << " of host " << host;
    }
  }
}

/// Who got how many bytes of whom.
class Ledger final : public PacketObserver {
 public:
  void on_delivered(const Delivery& arrival) override {
    bytes[{arrival.source, arrival.destination}] += arrival.payload;
  }

  std::map<std::pair<HostNum, HostNum>, std::uint64_t> bytes;
};

TEST(AllToAll, LeavesOutWhatStaysInTheHost) {
  // Ranks of one host need not follow each other.
  for (const std::vector<std::uint32_t>& host_of :
       {std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2}, {0, 1, 2, 0, 1, 2}, {0, 1, 1, 1, 0, 2}}) {
    PacketRig rig(draw("S1-S2 H1-S1 H2-S1 H3-S1 H4-S2 H5-S2 H6-S2"), PacketOptions::thesis());
    CollectiveRanks ranks(rig.fabric.host_lids);
    ranks.host_of = host_of;
    Collective exchange({.kind = CollectiveKind::AllToAll, .bytes = 300, .mtu = 256}, ranks);
    Ledger ledger;
    rig.net->set_observer(&ledger);
    rig.net->set_workload(&exchange);
    rig.net->start();
    rig.net->run_until(kSecond);
    EXPECT_NE(exchange.finished(), kNever);
    std::uint64_t pairs = 0;
    for (HostNum from = 0; from < 6; ++from) {
      for (HostNum to = 0; to < 6; ++to) {
        const bool apart = host_of[from] != host_of[to];
        pairs += apart;
        EXPECT_EQ((ledger.bytes[{from, to}]), apart ? 300u : 0u) << from << " to " << to;
      }
    }
    EXPECT_EQ(exchange.messages(), pairs);
  }
}

// Eight leaves of four ports: eight hosts with four adapters, each on a leaf of its own.
constexpr const char* kFabric =
    "[fabric]\nname = \"fat-tree:k=8,levels=2,adapters=4\"\nengine = \"ftree\"\n";

PointResult run_text(const std::string& text) {
  const auto made = prepare_text(kFabric + text);
  if (!made) {
    ADD_FAILURE() << print_fault(made.error().at(0));
    return {};
  }
  const PointResult point = made->run(made->scenario().traffic.loads.at(0), 1);
  EXPECT_EQ(point.audit, "");
  EXPECT_EQ(point.stats.discards() + point.stats.in_flight, 0u);
  return point;
}

TEST(RailScenario, ExchangesHaveTheMessagesOfTheirRanks) {
  // h hosts with m adapters, a packet each: among all m h (m h - m) messages, in rails m h (h - 1).
  // A ring takes 2 (n - 1) steps of n ranks, a tree 2 (n - 1) messages.
  constexpr std::uint64_t h = 8, m = 4, n = h * m;
  for (const auto& [what, among, packets] :
       {std::tuple("all-to-all-exchange", "all", n * (n - m)),
        std::tuple("all-to-all-exchange", "rail", m * h * (h - 1)),
        std::tuple("ring-all-reduce", "all", n * 2 * (n - 1)),
        std::tuple("ring-all-reduce", "rail", m * h * 2 * (h - 1)),
        std::tuple("tree-all-reduce", "rail", m * 2 * (h - 1)),
        std::tuple("binomial-broadcast", "rail", m * (h - 1))}) {
    SCOPED_TRACE(fmt::format("{} among {}", what, among));
    const PointResult point = run_text(
        fmt::format("[traffic]\ncollective = \"{}\"\namong = \"{}\"\nbytes = 1024\n", what, among));
    EXPECT_EQ(point.stats.generated, packets);
    EXPECT_EQ(point.stats.delivered, packets);
    EXPECT_NE(point.completed_at, kNever);
  }
}

// Every step is a shift of hosts, which these routes carry at full rate: 28 messages of 16 packets
// at 12.5 bytes a nanosecond. Leaving out the own host where it would be met in a shift of all
// ranks takes more than twice as long: ranks get out of step.
TEST(RailScenario, AllToAllBetweenHostsKeepsStep) {
  const auto made = prepare_text(
      "[fabric]\nname = \"rails:units=2,hosts=4,rails=4,spines=4\"\nengine = \"ftree\"\n"
      "[traffic]\ncollective = \"all-to-all-exchange\"\nbytes = 65536\n");
  ASSERT_TRUE(made) << print_fault(made.error().at(0));
  const PointResult point = made->run(0.5, 1);
  EXPECT_EQ(point.stats.delivered, 32u * 28 * 16);
  const double full_rate = 28 * 16 * (4096 + 26) / 12.5 * static_cast<double>(kNano);
  EXPECT_GE(static_cast<double>(point.completed_at), full_rate);
  EXPECT_LE(static_cast<double>(point.completed_at), 1.1 * full_rate);
}

TEST(RailScenario, AFourthOfTheRanksIsDoneSooner) {
  const std::string all = "[traffic]\ncollective = \"ring-all-reduce\"\nbytes = 65536\n";
  EXPECT_LT(run_text(all + "among = \"rail\"\n").completed_at, run_text(all).completed_at);
}

TEST(RailScenario, WhoIsOnARailAloneHasDoneAtOnce) {
  // Two hosts at spines with an adapter each are on the first rail; 8 + 2 there, 8 on the others.
  const auto made = prepare_text(
      "[fabric]\nname = \"fat-tree:k=8,levels=2,hosts=1,adapters=4,spine_hosts=2\"\n"
      "[traffic]\ncollective = \"ring-all-reduce\"\namong = \"rail\"\nbytes = 512\n");
  ASSERT_TRUE(made) << print_fault(made.error().at(0));
  const PointResult point = made->run(0.5, 1);
  EXPECT_EQ(point.stats.generated, 3u * 2 * (3 - 1));
  EXPECT_NE(point.completed_at, kNever);
}

TEST(RailScenario, SaysHostsAndRails) {
  const auto made = prepare_text(std::string(kFabric) + "[traffic]\npattern = \"permutation\"\n");
  ASSERT_TRUE(made);
  const auto json = nlohmann::json::parse(print_scenario_json(*made, {}));
  EXPECT_EQ(json["fabric"]["hosts"], 32) << "that send";
  EXPECT_EQ(json["fabric"]["systems"], 8);
  EXPECT_EQ(json["fabric"]["rails"], 4);
  const auto plain = prepare_text("[fabric]\nname = \"fat-tree:k=4,levels=2\"\n");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(
      nlohmann::json::parse(print_scenario_json(*plain, {}))["fabric"].contains("systems"));
}

TEST(RailScenario, RailsOfRailsAreTheirLeaves) {
  const auto made = prepare_text(
      "[fabric]\nname = \"rails:units=2,hosts=3,rails=4,spines=2\"\n[traffic]\namong = \"rail\"\n");
  ASSERT_TRUE(made);
  const HostPorts ports = made->pattern_input(1).ports;
  EXPECT_EQ(ports.rails, 4u);
  EXPECT_EQ(ports.hosts, 6u);
  // Adapters come unit by unit and host by host, each on the leaf of its rail: sw-0-U-R.
  for (HostNum host = 0; host < ports.rail.size(); ++host)
    EXPECT_EQ(made->fabric().host_leaf[host].value() % 4, ports.rail[host]);
}

TEST(RailScenario, WhatCannotBeIsSaidWithItsLine) {
  EXPECT_EQ(fault_of_text("[traffic]\namong = \"rails\"\n"),
            "s.toml:2: traffic.among must be \"all\" or \"rail\"");
  EXPECT_EQ(fault_of_text("[fabric]\nname = \"fat-tree:k=4,hosts=1,adapters=2\"\n"),
            "s.toml:2: all 2 adapters are of one host, which needs no network between them");
  EXPECT_EQ(fault_of_text("[fabric]\nname = \"torus:dims=4.4\"\nmodel = \"worms\"\n[traffic]\n"
                          "among = \"rail\"\n"),
            "s.toml:5: traffic.among is of fabric.model = \"packets\"; leave it out");
  EXPECT_EQ(fault_of_text("[traffic]\ncollective = \"ring-all-reduce\"\namong = \"rail\"\n"
                          "[[group]]\n"),
            "s.toml:3: traffic.among = \"rail\" is of collectives without a [[group]]; leave one "
            "of them out");
  EXPECT_EQ(fault_of_text("[traffic]\ntrace = \"t\"\namong = \"rail\"\n"),
            "s.toml:3: traffic.among is of patterns and collectives: a trace says who sends to "
            "whom");
  EXPECT_THAT(fault_of_text("[fabric]\nname = \"fat-tree:k=8,adapters=2\"\n[traffic]\n"
                            "pattern = \"tornado\"\ndims = [3]\namong = \"rail\"\n"),
              HasSubstr("needs the grid of the 8 switches with hosts"));
}

}  // namespace rails_test
}  // namespace smd::sim::test
