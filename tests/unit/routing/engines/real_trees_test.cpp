// Trees as they really are: aggregation nodes on every switch, uneven trunks, missing cables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "smd/congestion/facts.h"
#include "smd/fabric/builder.h"
#include "smd/routing/fat_tree/shape.h"
#include "smd/routing/nue/paths_of_switches.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "smd/routing/verify/load_bound.h"
#include "smd/routing/verify/patterns.h"
#include "smd/routing/verify/route_measures.h"
#include "smd/routing/verify/verified_routes.h"
#include "tests/support/ndr_582.h"
#include "tests/support/relabel.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace real_trees_test {

struct Worth {
  std::uint64_t fullest = 0;
  double permutations = 0;  // mean share of full rate
};

Worth route(const char* engine, const Fabric& f, const LidMap& lids, RoutingRequest request = {}) {
  request.max_vls = 8;
  const auto tables = find_engine(engine)->compute(f, lids, request);
  if (!tables) {
    ADD_FAILURE() << engine << ": " << tables.error().context;
    return {};
  }
  const RouteReport report = check_routes(f, lids, *tables, {.minimality = false});
  EXPECT_TRUE(report.ok()) << engine << ": " << print_cycle(f, report.cycle);
  const std::vector<PortIdx> hosts = find_hosts(f, lids);
  return {.fullest = measure_load(f, lids, tables->lft).max,
          .permutations = measure_effective_bisection(f, lids, tables->lft, hosts, 30, 1).mean};
}

TEST(RealTrees, ARecogniserSaysWhatItSees) {
  const auto shape = [](const std::string& call) {
    return describe_shape(*generated(call).shared);
  };
  EXPECT_EQ(shape("fat-tree:k=8"), "two-level tree, 8 leaves, 4 spines");
  EXPECT_EQ(shape("fat-tree:k=8,aggregation=1"), "two-level tree, 8 leaves, 4 spines");
  EXPECT_EQ(shape("fat-tree:k=4,levels=3,missing=1"),
            "three-level tree, 8 leaves, 8 spines, 4 cores, 1 cable missing");
  EXPECT_EQ(
      shape("pgft:down=8.32,up=1.8,parallel=1.2,uneven=20,missing=3,aggregation=1,"
            "spine_hosts=2"),
      "two-level tree, 32 leaves, 8 spines, trunks of 1 to 3, 3 cables missing, 2 hosts above "
      "the leaves");
  EXPECT_EQ(shape("fat-tree:k=4,levels=1"), "one-level tree, 1 leaf");
  EXPECT_THAT(shape("torus:dims=4.4,hosts=1"), ::testing::HasSubstr("no fat tree: 28 of 32 links"));
  EXPECT_EQ(describe_shape(*sim::build_snapshot(ndr_582())),
            "two-level tree, 31 leaves, 9 spines, trunks of 1 to 2, 26 cables missing");
}

// With LIDs of their own, since those of the others would be others.
TEST(RealTrees, AggregationNodesChangeNothingForHosts) {
  const Generated bare = generated("fat-tree:k=8,levels=3");
  const Generated full = generated("fat-tree:k=8,levels=3,aggregation=1");
  EXPECT_EQ(find_hosts(full.fabric, full.lids).size(), 128u);
  for (const char* engine : {"updn", "ftree", "dfsssp", "nue", "lash"}) {
    const Worth without = route(engine, bare.fabric, bare.lids);
    const Worth with = route(engine, full.fabric, full.lids);
    EXPECT_LE(with.fullest, without.fullest) << engine;
    EXPECT_NEAR(with.permutations, without.permutations, 0.03) << engine;
  }
}

// The switches that are farthest from the hosts, which is what sites write into OpenSM's file.
std::vector<Guid> list_highest_switches(const Fabric& f, const LidMap& lids) {
  const SwitchGraph graph{f};
  const Targets targets = find_targets(f, lids);
  std::vector<SwitchIdx> leaves;
  for (const SwitchIdx sw : f.switch_node.indices()) {
    if (targets.hosts[sw] != 0) leaves.push_back(sw);
  }
  const auto distance = compute_distances(graph, leaves);
  const std::uint32_t most = *std::ranges::max_element(distance);
  std::vector<Guid> out;
  for (const SwitchIdx sw : f.switch_node.indices()) {
    if (distance[sw] == most) out.push_back(f.node_guid[f.switch_node[sw]]);
  }
  return out;
}

TEST(RealTrees, SeveralRootsAreNeverWorseThanNone) {
  for (const std::string call :
       {"fat-tree:k=8,levels=3",
        "fat-tree:k=8,levels=3,missing=24,seed=3",
        "fat-tree:k=8,levels=3,missing=60,seed=4",
        "fat-tree:k=16,missing=20,aggregation=1",
        "pgft:down=8.32,up=1.8,parallel=1.2,uneven=20,missing=3,aggregation=1"}) {
    const Generated of = generated(call);
    RoutingRequest request;
    request.options.roots = list_highest_switches(of.fabric, of.lids);
    ASSERT_GT(request.options.roots.size(), 1u) << call;
    const Worth with = route("updn", of.fabric, of.lids, request);
    const Worth without = route("updn", of.fabric, of.lids);
    EXPECT_LE(with.fullest, without.fullest) << call;
    EXPECT_GE(with.permutations, 0.97 * without.permutations) << call;
  }
}

// Other GUIDs and LIDs, cables at other ports, nodes in another order.
TEST(RealTrees, WhatRoutesAreWorthDoesNotHangOnNames) {
  struct Row {
    const char* engine;
    double more;  // of the worst labels against the best
  };

  for (const std::string& call : {std::string(),
                                  std::string("pgft:down=8.16,up=1.8,parallel=1.2,"
                                              "uneven=20,missing=6,seed=3")}) {
    for (const auto& [engine, more] :
         {Row{"updn", 1.1}, Row{"minhop", 1.1}, Row{"dfsssp", 1.1}, Row{"nue", 1.15}}) {
      std::uint64_t least = 0, most = 0;
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        sim::FabricSpec spec = call.empty() ? ndr_582() : sim::load_fabric(call).value();
        sim::relabel(spec, seed);
        const Fabric f = *sim::build_snapshot(spec);
        const LidMap lids = lids_in_order(f);
        const auto tables = find_engine(engine)->compute(f, lids, {.max_vls = 8});
        ASSERT_TRUE(tables) << engine;
        EXPECT_EQ(check_routes(f, lids, *tables, {.minimality = false}).unreachable, 0u);
        const std::uint64_t load = measure_load(f, lids, tables->lft).max;
        least = seed == 1 ? load : std::min(least, load);
        most = std::max(most, load);
      }
      EXPECT_LE(static_cast<double>(most), more * static_cast<double>(least)) << engine << call;
    }
  }
}

// Cables of different speed, several LIDs a port: what the fullest channel carries for its speed.
TEST(RealTrees, LoadsAreEvenAlsoWhereLinksDifferAndPortsHaveSeveralLids) {
  for (const std::uint8_t lmc : {std::uint8_t{0}, std::uint8_t{1}}) {
    const Fabric f =
        generated("pgft:down=12.20,up=1.7,parallel=1.2,uneven=15,missing=9,slow=10,seed=77").fabric;
    const LidMap lids = lids_in_order(f, lmc);
    const LoadBound bound = find_load_bound(f, lids);
    for (const char* engine : {"updn", "minhop", "dfsssp"}) {
      const auto tables = find_engine(engine)->compute(f, lids, {.max_vls = 8});
      ASSERT_TRUE(tables) << engine;
      EXPECT_EQ(check_routes(f, lids, *tables, {.minimality = false}).unreachable, 0u);
      EXPECT_LE(bound.ratio(measure_load(f, lids, tables->lft).fullest), 1.3) << engine << +lmc;
    }
  }
}

// Trunks have two cables: who goes, goes without those that stay changing theirs.
TEST(RealTrees, AHostThatIsGoneMovesNobodyElse) {
  const std::shared_ptr<const Fabric> whole = sim::build_snapshot(ndr_582());
  const LidMap lids = lids_in_order(*whole);
  for (const char* engine : {"updn", "minhop", "nue", "dfsssp", "lash", "itb-vl"}) {
    const auto first = find_engine(engine)->compute(*whole, lids, {.max_vls = 8});
    ASSERT_TRUE(first) << engine;
    std::size_t moved = 0;
    const std::vector<PortIdx> hosts = find_hosts(*whole, lids);
    for (const std::size_t host : {7u, 300u, 500u}) {
      Fabric left = *whole;
      const PortIdx port = hosts.at(host);
      left.peer[left.peer[port]] = kNone<PortIdx>;
      left.peer[port] = kNone<PortIdx>;
      const PreviousRoutes in_force{whole.get(), &lids, &*first};
      const auto kept =
          find_engine(engine)->compute(left, lids, {.in_force = &in_force, .max_vls = 8});
      ASSERT_TRUE(kept) << engine;
      for (const SwitchIdx sw : whole->switch_node.indices()) {
        for (unsigned lid = 1; lid <= lids.top.value(); ++lid) {
          const Lid to{static_cast<std::uint16_t>(lid)};
          moved += to != lids.base[port] && first->lft.route(sw, to) != kept->lft.route(sw, to);
        }
      }
    }
    // Of 74,640 entries in three losses. itb-vl gives single LIDs the other cable of a trunk.
    EXPECT_LE(moved, std::string_view(engine) == "itb-vl" ? 200u : 0u) << engine;
  }
}

constexpr std::uint16_t kHostAdapter = 0x1021;  // ConnectX-7

/// The production cluster, and what is counted on it by looking at devices and walking entries.
class RealCluster : public ::testing::Test {
 protected:
  struct Recount {
    std::map<PortIdx, std::uint64_t> load;  // paths over a channel, from host to host
    std::uint64_t fullest = 0, hops = 0, paths = 0;
  };

  static std::shared_ptr<const Fabric> fabric() {
    static const auto snapshot = sim::build_snapshot(ndr_582());
    return snapshot;
  }

  /// The cluster, had nobody built aggregation nodes into switches.
  static std::shared_ptr<const Fabric> bare() {
    return sim::build_snapshot(sim::load_fabric("ndr-582:aggregation=0").value());
  }

  /// Switch by switch, as switches stand.
  static std::vector<PortIdx> list_hosts(const Fabric& f) {
    std::vector<PortIdx> hosts;
    for (const NodeIdx sw : f.switch_node) {
      for (const PortIdx port : f.external_ports(sw)) {
        const PortIdx peer = f.peer[port];
        if (peer != kNone<PortIdx> && f.node_info[f.node_of[peer]].device_id == kHostAdapter)
          hosts.push_back(peer);
      }
    }
    return hosts;
  }

  /// Channels from one host to the LID of another one.
  static std::vector<PortIdx> walk(const Fabric& f,
                                   const ForwardingTables& lft,
                                   PortIdx from,
                                   Lid lid) {
    std::vector<PortIdx> out;
    for (NodeIdx at = f.node_of[f.peer[from]]; f.is_switch(at);) {
      const PortIdx egress = f.port_of(at, lft.route(f.switch_of[at], lid));
      at = f.node_of[f.peer[egress]];
      if (f.is_switch(at)) out.push_back(egress);
    }
    return out;
  }

  static Recount recount(const Fabric& f, const LidMap& lids, const ForwardingTables& lft) {
    Recount out;
    const std::vector<PortIdx> hosts = list_hosts(f);
    for (const PortIdx from : hosts) {
      for (const PortIdx to : hosts) {
        if (from == to) continue;
        ++out.paths;
        for (const PortIdx channel : walk(f, lft, from, lids.base[to])) {
          ++out.hops;
          out.fullest = std::max(out.fullest, ++out.load[channel]);
        }
      }
    }
    return out;
  }

  /// Of all shifts from the first switch to another one, what the slowest flow of each gets.
  static std::vector<double> recount_shifts(const Fabric& f,
                                            const LidMap& lids,
                                            const ForwardingTables& lft) {
    const std::vector<PortIdx> hosts = list_hosts(f);
    std::vector<double> out;
    for (std::size_t by = 1; by < hosts.size(); ++by) {
      if (f.node_of[f.peer[hosts[by]]] == f.node_of[f.peer[hosts[by - 1]]]) continue;
      std::map<PortIdx, unsigned> load;
      unsigned most = 1;
      for (std::size_t at = 0; at < hosts.size(); ++at) {
        const Lid lid = lids.base[hosts[(at + by) % hosts.size()]];
        for (const PortIdx channel : walk(f, lft, hosts[at], lid))
          most = std::max(most, ++load[channel]);
      }
      out.push_back(1.0 / most);
    }
    return out;
  }

  const Fabric& f = *fabric();
  LidMap lids = lids_in_order(f);
};

TEST_F(RealCluster, HasHostsAndAggregationNodes) {
  EXPECT_EQ(list_hosts(f).size(), 542u);
  std::vector<PortIdx> hosts = find_hosts(f, lids), own = list_hosts(f);
  std::ranges::sort(hosts);
  std::ranges::sort(own);
  EXPECT_EQ(hosts, own);
  EXPECT_EQ(count_no_data(f), (AdapterCounts{.aggregation_nodes = 40}));
  EXPECT_EQ(cc::read_facts(f, {}).hosts, 542u);
  EXPECT_EQ(cc::read_facts(f, {}).radix, 19u) << "the fullest leaf";
}

class CountsOnRealCluster : public RealCluster,
                            public ::testing::WithParamInterface<const char*> {};

TEST_P(CountsOnRealCluster, AreThoseOfPathsBetweenHosts) {
  auto tables = find_engine(GetParam())->compute(f, lids, {.max_vls = 4});
  ASSERT_TRUE(tables) << tables.error().context;
  if (tables->engine == "minhop") {
    ASSERT_TRUE(lead_switches_apart(f, lids, *tables));
  }
  const Recount own = recount(f, lids, tables->lft);
  ASSERT_EQ(own.paths, 542u * 541u);
  const std::vector<PortIdx> channels = find_channels(f);
  const double mean = static_cast<double>(own.hops) / static_cast<double>(channels.size());

  const LoadReport load = measure_load(f, lids, tables->lft);
  EXPECT_EQ(load.max, own.fullest);
  EXPECT_DOUBLE_EQ(load.mean, mean);

  const RouteMeasures measures = measure_routes(f, lids, tables->lft, {.permutations = 1});
  EXPECT_EQ(measures.load, load);
  EXPECT_EQ(measures.lost, 0u);
  EXPECT_DOUBLE_EQ(measures.uniform, 542.0 / static_cast<double>(own.fullest));
  EXPECT_DOUBLE_EQ(measures.mean_hops,
                   static_cast<double>(own.hops) / static_cast<double>(own.paths));
  const std::vector<double> shifts = recount_shifts(f, lids, tables->lft);
  ASSERT_EQ(shifts.size(), 30u) << "to every leaf but the first";
  EXPECT_DOUBLE_EQ(measures.worst_shift, std::ranges::min(shifts));
  const double time = std::accumulate(
      shifts.begin(), shifts.end(), 0.0, [](double sum, double share) { return sum + 1 / share; });
  EXPECT_NEAR(measures.shifts, 30 / time, 1e-12);

  const auto verified = VerifiedRoutes::build({&f, &lids, &*tables});
  ASSERT_NE(verified, nullptr);
  EXPECT_EQ(verified->measure_load(f), load);

  // What the engine keeps, so that a change costs only what it moves.
  if (!tables->load.by_edge.empty()) {
    const SwitchGraph graph(f);
    ASSERT_EQ(tables->load.by_edge.size(), graph.edge_count());
    for (const SwitchIdx sw : f.switch_node.indices()) {
      std::uint32_t at = graph.first_edge(sw);
      for (const SwitchEdge& edge : graph.edges(sw)) {
        const auto counted = own.load.find(f.port_of(f.switch_node[sw], edge.port));
        EXPECT_EQ(tables->load.by_edge[at++], counted == own.load.end() ? 0 : counted->second);
      }
    }
  }
  for (const EngineCandidate& each : tables->candidates) {
    if (each.taken) {
      EXPECT_DOUBLE_EQ(each.fullest, static_cast<double>(own.fullest));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         CountsOnRealCluster,
                         ::testing::Values("minhop", "updn", "ftree", "dfsssp", "nue", "auto"),
                         [](const auto& engine) { return std::string(engine.param); });

// A balance that counted aggregation nodes would keep room for them.
TEST_F(RealCluster, RoutesAreAsEvenAsWithoutAggregationNodes) {
  const auto without = bare();
  const LidMap bare_lids = lids_in_order(*without);
  for (const char* const engine : {"minhop", "updn", "ftree", "dfsssp", "nue"}) {
    const auto tables = find_engine(engine)->compute(f, lids, {.max_vls = 4});
    const auto of_bare = find_engine(engine)->compute(*without, bare_lids, {.max_vls = 4});
    ASSERT_TRUE(tables && of_bare) << engine;
    EXPECT_LE(recount(f, lids, tables->lft).fullest,
              recount(*without, bare_lids, of_bare->lft).fullest * 21 / 20)
        << engine;
  }
}

TEST_F(RealCluster, TheBoundIsThatOfTheHosts) {
  const LoadBound bound = find_load_bound(f, lids);
  const auto without = bare();
  EXPECT_EQ(bound.fullest, find_load_bound(*without, lids_in_order(*without)).fullest);
  // Around a leaf: its hosts send to all others over its cables.
  std::uint64_t around = 0;
  const sim::FabricSpec spec = sim::load_fabric("ndr-582:aggregation=0").value();
  for (const sim::NodeSpec& node : spec.nodes) {
    if (node.description.find("leaf") == std::string::npos) continue;
    std::uint64_t hosts = 0, cables = 0;
    for (const sim::PortSpec& port : node.ports) {
      if (port.peer_node == sim::kNoNode) continue;
      ++(spec.nodes[port.peer_node].type == NodeType::Switch ? cables : hosts);
    }
    around = std::max(around, hosts * ((542 - hosts + cables - 1) / cables));
  }
  EXPECT_GE(bound.fullest, static_cast<double>(around));
  EXPECT_LE(bound.fullest, static_cast<double>(around) * 1.1);
}

TEST_F(RealCluster, OnlyLidsOfHostsAndSwitchesAreComparedByPath) {
  const LidMap doubled = lids_in_order(f, 1);
  const auto tables = find_engine("updn")->compute(f, doubled, {});
  ASSERT_TRUE(tables) << tables.error().context;
  EXPECT_EQ(measure_path_sets(f, doubled, tables->lft).paths, 542u * 2 * 30)
      << "from every other leaf to both LIDs of every host";
}

// It is told later than the routes were made that a switch's adapter is an aggregation node; then a
// cable goes, and comes back.
TEST_F(RealCluster, WhatIsLearnedLaterCountsFromThenOn) {
  Fabric unknown = f;
  for (const NodeIdx node : f.node_guid.indices()) {
    if (f.node_info[node].device_id == kHostAdapter || f.is_switch(node)) continue;
    unknown.node_info[node].device_id = 0;
    unknown.description[node].clear();
  }
  unknown = *with_traffic(unknown, nullptr);
  ASSERT_EQ(find_hosts(unknown, lids).size(), 582u);
  std::unordered_map<Guid, std::string> names;
  for (const NodeIdx node : f.node_guid.indices()) names[f.node_guid[node]] = f.description[node];
  const Fabric learned = *with_descriptions(unknown, names, nullptr);
  ASSERT_EQ(find_hosts(learned, lids).size(), 542u);
  Fabric lost = learned;
  const PortIdx cable = find_channels(f)[7];
  lost.peer[lost.peer[cable]] = kNone<PortIdx>;
  lost.peer[cable] = kNone<PortIdx>;

  for (const char* const engine : {"updn", "ftree", "dfsssp", "nue"}) {
    RoutingTables before = find_engine(engine)->compute(unknown, lids, {.max_vls = 4}).value();
    std::shared_ptr<const VerifiedRoutes> verified =
        VerifiedRoutes::build({&unknown, &lids, &before});
    const Fabric* was = &learned;
    for (const Fabric* const now : {&std::as_const(lost), &learned}) {
      const PreviousRoutes in_force{was, &lids, &before};
      RoutingTables next =
          find_engine(engine)
              ->compute(*now,
                        lids,
                        {.previous = &before.orientation, .in_force = &in_force, .max_vls = 4})
              .value();
      const RouteCheck checked =
          check_route_changes(verified.get(), {was, &lids, &before}, {now, &lids, &next});
      EXPECT_TRUE(checked.routes.ok()) << engine;
      verified = checked.verified != nullptr ? checked.verified
                                             : VerifiedRoutes::build({now, &lids, &next});
      ASSERT_NE(verified, nullptr) << engine;
      const Recount own = recount(*now, lids, next.lft);
      EXPECT_EQ(verified->measure_load(*now).max, own.fullest) << engine;
      EXPECT_EQ(measure_load(*now, lids, next.lft).max, own.fullest) << engine;
      if (!next.load.by_edge.empty()) {
        EXPECT_EQ(std::ranges::max(next.load.by_edge), own.fullest) << engine;
      }
      before = std::move(next);
      was = now;
    }
  }
}

}  // namespace real_trees_test
}  // namespace smd::test
