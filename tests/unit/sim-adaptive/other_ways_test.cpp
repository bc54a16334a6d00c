// Valiant's ways by LIDs, as switches of today have them: what they carry, packet by packet,
// against closed forms and against loads counted along the tables.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "sim-backend/scenario/run.h"

namespace smd::sim::test {
namespace {

/// Accepted, of the hosts' links.
double accepted(const std::string& fabric,
                const std::string& engine,
                unsigned lmc,
                const std::string& traffic,
                double load = 1) {
  const std::string text = fmt::format(R"(
[fabric]
name = "{}"
engine = "{}"
preset = "booksim"
vls = 4
lmc = {}
non_minimal = "valiant"
[adapter]
queues = "per-destination"
most_waiting = 64
[traffic]
{}
lid = "any"
load = 1.0
arrivals = "bernoulli"
slot_ns = 1.024
size = 64
[measure]
warm_up_us = 1.5
interval_us = 0.2
least_intervals = 10
most_intervals = 10
)",
                                       fabric,
                                       engine,
                                       lmc,
                                       traffic);
  auto scenario = parse_scenario(text, "other_ways.toml");
  EXPECT_TRUE(scenario) << print_fault(scenario.error().at(0));
  const auto prepared = PreparedScenario::prepare(std::move(*scenario));
  EXPECT_TRUE(prepared) << print_fault(prepared.error().at(0));
  const PointResult point = prepared->run(load, 1);
  EXPECT_EQ(point.audit, "");
  EXPECT_EQ(point.stats.discards(), 0u);
  EXPECT_TRUE(point.steady.deadlock.empty());
  return point.steady.accepted_load;
}

// With a share w of the messages on LIDs beyond the first and K hosts on each of K routers of a
// side: mdn gets 1 / ((1 - w) K + 2 w), since of K messages by K coordinates two take the cable
// that all others take; uniform traffic 1 / (1 + w (1 - 2 / K)), since two of K coordinates are its
// own ends'.
TEST(OtherWays, OfAButterflyCarryWhatTheFormulaSays) {
  constexpr unsigned kSide = 4;
  for (const unsigned lmc : {0u, 1u, 2u, 3u}) {
    const double w = 1 - 1.0 / (1 << lmc);
    const std::string fabric = "hamming:dims=4.4,hosts=4";
    const double mdn = 1 / ((1 - w) * kSide + 2 * w);
    EXPECT_NEAR(
        accepted(fabric, "hamming", lmc, "pattern = \"mdn\"\ndims = [4, 4]"), mdn, 0.05 * mdn)
        << lmc;
    const double uniform = 1 / (1 + w * (1 - 2.0 / kSide));
    EXPECT_NEAR(
        accepted(fabric, "hamming", lmc, "pattern = \"uniform-self\""), uniform, 0.05 * uniform)
        << lmc;
  }
}

/// The share of full rate at which the fullest cable is full when every host sends to all hosts of
/// the next group, to each of their LIDs alike: counted along the entries.
double count_next_group(const std::string& call, std::uint32_t group, std::uint8_t lmc) {
  const FabricSpec spec = load_fabric(call).value();
  const ProgrammedFabric programmed =
      program_nodes(
          spec, {.engine = "dragonfly", .vls = 4, .lmc = lmc, .non_minimal = NonMinimal::Valiant})
          .value();
  std::map<std::uint32_t, std::uint32_t> number;  // of switches, by node
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Switch) {
      number.emplace(n, static_cast<std::uint32_t>(number.size()));
    }
  }

  struct Host {
    std::uint32_t node, sw;
  };

  std::vector<Host> hosts;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type != NodeType::Switch)
      hosts.push_back({n, spec.nodes[n].ports[1].peer_node});
  }
  const auto groups = static_cast<std::uint32_t>(number.size()) / group;
  std::map<std::pair<std::uint32_t, unsigned>, double> load;
  for (const Host& from : hosts) {
    std::vector<std::uint32_t> to;
    for (std::uint32_t h = 0; h < hosts.size(); ++h) {
      if (number[hosts[h].sw] / group == (number[from.sw] / group + 1) % groups) to.push_back(h);
    }
    for (const std::uint32_t h : to) {
      for (unsigned offset = 0; offset < 1u << lmc; ++offset) {
        const auto lid = programmed.host_lids[h].value() + offset;
        for (std::uint32_t at = from.sw; at != hosts[h].node;) {
          const unsigned port = programmed.nodes[at].lft[lid].value();
          const std::uint32_t next = spec.nodes[at].ports[port].peer_node;
          if (spec.nodes[next].type == NodeType::Switch) {
            load[{at, port}] += 1.0 / static_cast<double>(to.size() << lmc);
          }
          at = next;
        }
      }
    }
  }
  double most = 0;
  for (const auto& [channel, carried] : load) most = std::max(most, carried);
  return 1 / most;
}

// Where the fullest cable is full others are not: behind it some hosts get more than others.
TEST(OtherWays, OfADragonflyCarryWhatItsTablesAllow) {
  const std::string fabric = "dragonfly:a=5,c=2,h=2";
  EXPECT_NEAR(count_next_group(fabric, 5, 0), 0.1, 1e-9);
  EXPECT_NEAR(count_next_group(fabric, 5, 1), 0.1, 1e-9) << "there are pairs without a group";
  const double limit = count_next_group(fabric, 5, 3);
  EXPECT_GE(limit, 0.2) << "twice what minimal paths carry";
  const double load = 0.95 * limit;
  EXPECT_NEAR(
      accepted(fabric, "dragonfly", 3, "pattern = \"adv+1\"\ngroup = 5", load), load, 0.02 * load);
  EXPECT_GE(accepted(fabric, "dragonfly", 3, "pattern = \"adv+1\"\ngroup = 5"), limit);
}

}  // namespace
}  // namespace smd::sim::test
