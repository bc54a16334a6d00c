#include "smd/manager/route_job.h"
#include "smd/fabric/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "smd/routing/graph/switch_graph.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/routing/support/generated.h"

namespace smd {
namespace {

using test::fabric_from_shared;
using test::lids_in_order;
using test::switch_named;

RouteJob job_for(std::shared_ptr<const Fabric> fabric, const std::string& engine) {
  return {.fabric = fabric, .lids = lids_in_order(*fabric), .engine = engine};
}

std::shared_ptr<const ActiveSubnet> in_force(const RouteJob& job, const Routed& routed) {
  return std::make_shared<const ActiveSubnet>(
      ActiveSubnet{.sweep = {.fabric = job.fabric}, .lids = job.lids, .routing = routed.tables});
}

constexpr const char* kRing = "S1-S2 S2-S3 S3-S4 S4-S1 H1-S1 H2-S2 H3-S3 H4-S4";

TEST(RouteJob, KeepsRoutesThatAutoMade) {
  RouteJob job = job_for(fabric_from_shared(kRing), "auto");
  Routed first = compute_routed(job);
  ASSERT_FALSE(first.error) << first.error->context;
  EXPECT_EQ(first.tables.chosen_by, "auto");
  job.orientation = first.tables.orientation;
  job.in_force = in_force(job, first);
  const Routed again = compute_routed(job);
  ASSERT_FALSE(again.error);
  EXPECT_EQ(again.tables.lft, first.tables.lft);
  EXPECT_THAT(again.tables.notes.at(0), testing::HasSubstr("which made the routes in force"));
}

TEST(RouteJob, AutoLeavesAnEngineAtRestWhereAnotherIsWorthATenthMore) {
  const test::Generated g = test::generated("torus:dims=4.4,hosts=2");
  RouteJob job{.fabric = g.shared, .lids = g.lids, .engine = "auto", .max_vls = 8};
  const auto rest_with = [&](const std::string& engine) {
    RouteJob of_engine = job;
    of_engine.engine = engine;
    Routed made = compute_routed(of_engine);
    EXPECT_FALSE(made.error);
    made.tables.chosen_by = "auto";
    job.orientation = made.tables.orientation;
    job.in_force = in_force(job, made);
    return compute_rebalance(job);
  };
  const std::string best = compute_routed(job).tables.engine;
  const auto other = rest_with("updn");
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->error);
  EXPECT_EQ(other->tables.engine, best);
  EXPECT_EQ(other->tables.chosen_by, "auto");
  job.in_force = in_force(job, *other);
  job.orientation = other->tables.orientation;
  EXPECT_FALSE(compute_rebalance(job)) << "and there it ends";
  ASSERT_EQ(best, "dor");
  EXPECT_FALSE(rest_with("hamming")) << "a torus of four by four is one, and as good";
}

TEST(RouteJob, AtRestAutoHeedsItsLimitOfVls) {
  // nue with two VLs carries less on the fullest channel; auto may use one.
  const test::Generated g = test::generated("torus:dims=6,hosts=2");
  RouteJob job{.fabric = g.shared, .lids = g.lids, .engine = "nue", .max_vls = 1};
  Routed made = compute_routed(job);
  ASSERT_FALSE(made.error);
  made.tables.chosen_by = job.engine = "auto";
  job.max_vls = 8;
  job.in_force = in_force(job, made);
  for (const unsigned vls : {1u, 2u}) {
    job.engine_options.auto_vls = vls;
    const auto rested = compute_rebalance(job);
    EXPECT_LE(rested ? rested->tables.vls : 1, vls);
  }
}

/// At a start: nothing is in force.
RouteJob restarted(const test::Generated& g, const std::string& engine) {
  RouteJob job{.fabric = g.shared, .lids = g.lids, .engine = engine, .max_vls = 8};
  job.engine_options.auto_vls = 1;
  return job;
}

// What a damaged tree gets does not hang on who routed it before.
TEST(RouteJob, AtRestAutoLeavesFtreeOnOneVlWhereUpDownIsWorthATenthMore) {
  const auto rest_with = [](const char* call, const char* engine) {
    const test::Generated g = test::generated(call);
    Routed made = compute_routed(restarted(g, engine));
    EXPECT_FALSE(made.error);
    made.tables.chosen_by = "auto";
    RouteJob job = restarted(g, "auto");
    job.in_force = in_force(job, made);
    job.orientation = made.tables.orientation;
    return compute_rebalance(job);
  };
  constexpr const char* kATenthMore = "fat-tree:k=8,levels=3,missing=15,seed=5";
  const auto rested = rest_with(kATenthMore, "ftree");
  ASSERT_TRUE(rested);
  EXPECT_EQ(rested->tables.engine, "updn");
  EXPECT_FALSE(rest_with(kATenthMore, "updn"));
  EXPECT_FALSE(rest_with("fat-tree:k=8,levels=3", "ftree")) << "both have the same of a whole tree";
}

std::shared_ptr<const Fabric> without_cable(const Fabric& whole, std::size_t at) {
  Fabric cut = whole;
  const PortIdx lost = find_channels(cut).at(at);
  cut.peer[cut.peer[lost]] = kNone<PortIdx>;
  cut.peer[lost] = kNone<PortIdx>;
  return std::make_shared<const Fabric>(std::move(cut));
}

Routed route_next(RouteJob& job, std::shared_ptr<const Fabric> fabric, const Routed& before) {
  job.orientation = before.tables.orientation;
  job.in_force = in_force(job, before);
  job.found.reset();
  job.fabric = std::move(fabric);
  return compute_routed(job);
}

/// Routes of updn over which a cable went and came back.
struct WithHistory {
  Routed first, back;
};

WithHistory with_history(const test::Generated& g) {
  RouteJob job = restarted(g, "updn");
  WithHistory out{.first = compute_routed(job), .back = {}};
  const Routed lost = route_next(job, without_cable(g.fabric, 9), out.first);
  out.back = route_next(job, g.shared, lost);
  EXPECT_FALSE(out.back.error);
  EXPECT_NE(out.back.tables.lft, out.first.tables.lft);
  return out;
}

TEST(RouteJob, KeepsRoutesWhereOtherRootsMeanTheDirectionsInForce) {
  const test::Generated g = test::generated("torus:dims=4.4,hosts=2");
  const WithHistory made = with_history(g);
  RouteJob job = restarted(g, "updn");
  job.in_force = in_force(job, made.back);
  job.engine_options.roots = {Guid{0x999}};
  EXPECT_EQ(compute_routed(job).tables.lft, made.first.tables.lft) << "they are laid anew";
  job.keeps_equal_directions = true;
  EXPECT_EQ(compute_routed(job).tables.lft, made.back.tables.lft);
  const SwitchIdx leaf = SwitchIdx{3};
  job.engine_options.roots = {g.fabric.node_guid[g.fabric.switch_node[leaf]]};
  const Routed other = compute_routed(job);
  EXPECT_NE(other.tables.orientation, made.back.tables.orientation);
  EXPECT_NE(other.tables.lft, made.back.tables.lft);
  // Roots that are worse than none change nothing, and it is said that they do not.
  job.engine_options.roots = {
      Guid{0x0002000000000001}, Guid{0x0002000000000002}, Guid{0x0002000000000007}};
  const Routed unheeded = compute_routed(job);
  EXPECT_EQ(unheeded.tables.lft, made.back.tables.lft);
  EXPECT_THAT(unheeded.tables.notes, testing::Contains(testing::HasSubstr("roots given")));
}

TEST(RouteJob, AutoKeepsTheRoutesThatItFindsAndWhatTheyCostAfterwards) {
  const test::Generated g = test::generated("torus:dims=8.8,hosts=2");
  const auto [first, back] = with_history(g);
  const Routed best = compute_routed(restarted(g, "auto"));
  ASSERT_EQ(best.tables.notes.at(0), "auto: updn depth-first, worth most here");

  RouteJob job = restarted(g, "auto");
  job.found = back.tables.lft;
  const Routed kept = compute_routed(job);
  ASSERT_FALSE(kept.error);
  EXPECT_EQ(kept.tables.lft, back.tables.lft);
  EXPECT_EQ(kept.tables.engine, "updn");
  EXPECT_EQ(kept.tables.chosen_by, "auto");
  EXPECT_EQ(kept.tables.orientation, first.tables.orientation);
  EXPECT_TRUE(kept.tables.load.by_edge.empty()) << "nobody has counted those";

  RouteJob as_updn = restarted(g, "updn");
  as_updn.found = back.tables.lft;
  as_updn.taking_over = true;
  const Routed kept_by_updn = compute_routed(as_updn);
  const auto cut = without_cable(g.fabric, 4);
  EXPECT_EQ(route_next(job, cut, kept).tables.lft,
            route_next(as_updn, cut, kept_by_updn).tables.lft);

  // At rest the others are asked again, and weighed.
  RouteJob resting = restarted(g, "auto");
  resting.orientation = kept.tables.orientation;
  resting.in_force = in_force(resting, kept);
  const auto rested = compute_rebalance(resting);
  ASSERT_TRUE(rested);
  EXPECT_EQ(rested->tables.lft, best.tables.lft);
  EXPECT_TRUE(are_worth_a_change(g.fabric, g.lids, kept.tables, rested->tables, TrafficGoal::Both));
  resting.in_force = in_force(resting, *rested);
  resting.orientation = rested->tables.orientation;
  EXPECT_FALSE(compute_rebalance(resting)) << "and there it ends";
}

TEST(RouteJob, AutoKeepsWhatItFindsBesideASwitchThatWasRestarted) {
  const test::Generated g = test::generated("torus:dims=8.8,hosts=2");
  const Routed back = with_history(g).back;
  RouteJob job = restarted(g, "auto");
  job.found = back.tables.lft;
  const SwitchIdx restarted_one{5};
  for (unsigned value = 1; value <= g.lids.top.value(); ++value)
    job.found->set_route(restarted_one, Lid{static_cast<std::uint16_t>(value)}, kNoRoute);
  const Routed kept = compute_routed(job);
  ASSERT_FALSE(kept.error);
  EXPECT_TRUE(kept.kept_found) << "it is looked at again at rest";
  unsigned other = 0;
  for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
    for (unsigned value = 1; value <= g.lids.top.value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (sw == restarted_one || g.lids.owner_of(lid) == kNone<PortIdx>) continue;
      other += kept.tables.lft.route(sw, lid) == back.tables.lft.route(sw, lid) ? 0 : 1;
    }
  }
  EXPECT_EQ(other, 0u);
}

/// Entries that lead down to a switch whose entry for the same LID leads up, towards the smaller
/// rank or GUID.
unsigned count_turns_up(const Fabric& fabric,
                        const ForwardingTables& lft,
                        const IndexVector<SwitchIdx, std::uint32_t>& rank) {
  const auto next = [&](SwitchIdx sw, Lid lid) {
    const PortNum out = lft.route(sw, lid);
    if (out == kNoRoute || out == PortNum{0}) return kNone<SwitchIdx>;
    const PortIdx peer = fabric.peer[fabric.port_of(fabric.switch_node[sw], out)];
    return peer == kNone<PortIdx> ? kNone<SwitchIdx> : fabric.switch_at(peer);
  };
  const auto height = [&](SwitchIdx sw) {
    return std::pair(rank[sw], fabric.node_guid[fabric.switch_node[sw]]);
  };
  unsigned turns = 0;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    for (unsigned value = 1; value <= lft.top().value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const SwitchIdx second = next(sw, lid);
      const SwitchIdx third = second == kNone<SwitchIdx> ? second : next(second, lid);
      if (third == kNone<SwitchIdx>) continue;
      turns += height(second) > height(sw) && height(third) < height(second) ? 1 : 0;
    }
  }
  return turns;
}

// Multicast trees along ranks are proved by them: they are those of no routes that turn up again.
TEST(RouteJob, RoutesThatAreFoundHaveTheRanksThatTheyObeyOrNone) {
  const test::Generated g = test::generated("torus:dims=8.8,hosts=2");
  RouteJob former = restarted(g, "updn");
  former.engine_options.roots = {g.fabric.node_guid[g.fabric.switch_node[SwitchIdx{27}]]};
  const Routed found = compute_routed(former);
  for (const char* const engine : {"auto", "updn"}) {
    RouteJob job = restarted(g, engine);
    const auto own = compute_routed(job).tables.orientation;
    ASSERT_EQ(count_turns_up(g.fabric, compute_routed(job).tables.lft, own.rank), 0u);
    ASSERT_FALSE(own.rank.empty());
    job.found = found.tables.lft;
    job.taking_over = true;
    job.engine_options.roots = {g.fabric.node_guid[g.fabric.switch_node[SwitchIdx{0}]]};
    const Routed kept = compute_routed(job);
    ASSERT_FALSE(kept.error);
    ASSERT_EQ(kept.tables.lft, found.tables.lft);
    EXPECT_TRUE(kept.tables.orientation.rank.empty());
    EXPECT_FALSE(kept.tables.orientation.by_guid.empty()) << "for the next computation";

    Routed now = kept;
    for (const std::size_t cable : {4u, 9u, 40u}) {
      now = route_next(job, without_cable(g.fabric, cable), now);
      ASSERT_FALSE(now.error);
      const auto& rank = now.tables.orientation.rank;
      EXPECT_TRUE(rank.empty() || count_turns_up(*job.fabric, now.tables.lft, rank) == 0);
    }
  }
}

TEST(RouteJob, KeptDirectionsAreThoseOfTheRoutesThatAreFoundIfTheyObeyThem) {
  const test::Generated g = test::generated("torus:dims=8.8,hosts=2");
  const auto rooted_at = [&](std::uint32_t sw) {
    RouteJob former = restarted(g, "updn");
    former.engine_options.roots = {g.fabric.node_guid[g.fabric.switch_node[SwitchIdx{sw}]]};
    return compute_routed(former).tables;
  };
  const RoutingTables found = rooted_at(27), others = rooted_at(5);
  RouteJob job = restarted(g, "updn");
  job.found = found.lft;
  job.taking_over = true;
  const Orientation own = compute_routed(job).tables.orientation;
  ASSERT_NE(own.by_guid, found.orientation.by_guid);
  ASSERT_NE(own.by_guid, others.orientation.by_guid);
  for (const RoutingTables* known : {&found, &others}) {
    job.orientation.by_guid = known->orientation.by_guid;
    const Routed kept = compute_routed(job);
    ASSERT_FALSE(kept.error);
    EXPECT_EQ(kept.tables.lft, found.lft);
    EXPECT_EQ(kept.tables.orientation, known == &found ? found.orientation : own);
  }
}

TEST(RouteJob, DetoursBetweenSwitchesWithoutHostsHaveTheRanksThatAllRoutesObeyOrNone) {
  unsigned along_directions = 0;
  for (unsigned seed = 1; seed <= 120; ++seed) {
    const test::Generated g =
        test::generated(fmt::format("fat-tree:k=4,levels=3,missing=2,seed={}", seed));
    const Routed routed = compute_routed(job_for(g.shared, "dfsssp"));
    const Orientation& directions = routed.tables.orientation;
    along_directions += directions.by_guid.empty() ? 0 : 1;
    if (directions.rank.empty()) continue;
    EXPECT_EQ(count_turns_up(g.fabric, routed.tables.lft, directions.rank), 0u) << seed;
  }
  EXPECT_GT(along_directions, 0u);
}

// What is sent to a LID that nobody has any more waits as all packets do.
TEST(RouteJob, EntriesToALidThatNobodyHasLeadNotRoundInACircle) {
  for (const char* const text :
       {"S1-S2 S2-S3 S3-S1 H1-S1 H2-S2 H3-S3", "S1-S2 S2-S3 S3-S1 H1-S1 H2-S2 H3-S3 S4-H4 S4-S5"}) {
    RouteJob job = job_for(fabric_from_shared(text), "minhop");
    Routed before = compute_routed(job);
    ASSERT_FALSE(before.error);
    const Fabric& fabric = *job.fabric;
    ForwardingTables wider(fabric.switch_count(), Lid{64});
    for (const SwitchIdx sw : fabric.switch_node.indices())
      wider.set_row(sw, before.tables.lft, sw);
    constexpr Lid kNobodys{40};
    for (const auto& [from, to] : {std::pair{"S1", "S2"}, {"S2", "S3"}, {"S3", "S1"}}) {
      for (const PortIdx out :
           fabric.external_ports(fabric.switch_node[switch_named(fabric, from)])) {
        const PortIdx peer = fabric.peer[out];
        if (peer != kNone<PortIdx> && fabric.switch_at(peer) == switch_named(fabric, to))
          wider.set_route(switch_named(fabric, from), kNobodys, fabric.number_of(out));
      }
    }
    before.tables.lft = std::move(wider);
    job.in_force = in_force(job, before);
    const Routed now = compute_routed(job);
    ASSERT_FALSE(now.error);
    ChannelGraph graph{fabric, 1};
    std::vector<std::uint16_t> all(now.tables.lft.top().value());
    std::iota(all.begin(), all.end(), std::uint16_t{1});
    add_table_turns(fabric, now.tables.lft, all, 0, fabric.switch_count(), graph);
    EXPECT_TRUE(graph.find_cycle().empty()) << text;
  }
}

/// Of one LID the other shortest ways, wherever there are two.
ForwardingTables with_other_ways(const test::Generated& g, const ForwardingTables& lft, Lid lid) {
  const SwitchGraph graph{g.fabric};
  const SwitchIdx to = g.fabric.switch_at(g.fabric.peer[g.lids.owner_of(lid)]);
  const auto distance = compute_distances(graph, {&to, 1});
  ForwardingTables out = lft;
  for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
    for (const SwitchEdge& edge : graph.edges(sw)) {
      if (distance[edge.to] < distance[sw] && edge.port != lft.route(sw, lid))
        out.set_route(sw, lid, edge.port);
    }
  }
  return out;
}

// An engine that makes all routes anew at every change would move all of them with the first cable.
TEST(RouteJob, AtRestAClosedFormTakesThePlaceOfWhatItFound) {
  const test::Generated g = test::generated("torus:dims=8.8,mesh=1,hosts=6");
  Lid at_corner{};
  for (const PortIdx port : g.lids.base.indices()) {
    if (g.fabric.is_host(port) && g.fabric.switch_at(g.fabric.peer[port]) == SwitchIdx{0})
      at_corner = g.lids.base[port];
  }
  for (const std::string& engine : {std::string("dor"), std::string("updn")}) {
    const Routed own = compute_routed(restarted(g, engine));
    ASSERT_FALSE(own.error);
    RouteJob job = restarted(g, engine);
    job.found = engine == "dor" ? with_other_ways(g, own.tables.lft, at_corner)
                                : with_history(g).back.tables.lft;
    ASSERT_NE(*job.found, own.tables.lft);
    job.taking_over = true;
    const Routed kept = compute_routed(job);
    ASSERT_FALSE(kept.error);
    ASSERT_EQ(kept.tables.lft, *job.found);
    EXPECT_TRUE(kept.kept_found);
    job.in_force = in_force(job, kept);
    job.orientation = kept.tables.orientation;
    const auto rested = compute_rebalance(job);
    ASSERT_EQ(rested.has_value(), engine == "dor");
    if (!rested) continue;
    EXPECT_EQ(rested->tables.lft, own.tables.lft);
    job.in_force = in_force(job, *rested);
    EXPECT_FALSE(compute_rebalance(job)) << "and there it ends";
  }
}

// Whoever asks afterwards, at rest, knows that nobody was weighed.
TEST(RouteJob, AutoSaysThatItTookWhomItFoundAlsoWhereNothingIsToBeWritten) {
  const test::Generated g = test::generated("torus:dims=8.8,hosts=2");
  RouteJob job = restarted(g, "auto");
  EXPECT_FALSE(compute_routed(job).kept_found);
  job.found = compute_routed(restarted(g, "updn")).tables.lft;
  const Routed kept = compute_routed(job);
  EXPECT_EQ(kept.tables.lft, *job.found);
  EXPECT_TRUE(kept.kept_found);
}

TEST(RouteJob, AutoKeepsWhatItFindsAlsoWhereAnotherEngineIsAskedFirst) {
  const test::Generated g = test::generated("torus:dims=8.8,hosts=2");
  const Routed back = with_history(g).back;
  RouteJob job = restarted(g, "ftree");
  job.next_engines = {"auto"};
  job.found = back.tables.lft;
  const Routed kept = compute_routed(job);
  EXPECT_EQ(kept.tables.chosen_by, "auto") << kept.fallback_reason;
  EXPECT_EQ(kept.tables.lft, back.tables.lft);

  RouteJob named = restarted(g, "updn");
  const Routed anew = compute_routed(named);
  named.found = back.tables.lft;
  EXPECT_EQ(compute_routed(named).tables.lft, anew.tables.lft) << "who is named makes them anew";
  named.taking_over = true;
  EXPECT_EQ(compute_routed(named).tables.lft, back.tables.lft);
}

// Directions by either search make routes of updn: one is not left for the other for evenness.
TEST(RouteJob, AutoLeavesDirectionsAtRestWhereOthersAreWorthATenthMore) {
  unsigned left = 0, kept_on = 0;
  for (const char* const call : {"irregular:switches=16,ports=16,links=4,hosts=2,seed=1",
                                 "irregular:switches=24,ports=16,links=4,hosts=2,seed=3",
                                 "torus:dims=5.5,hosts=2",
                                 "hamming:dims=4.4,hosts=4",
                                 "dragonfly:a=4,c=2,h=2"}) {
    const test::Generated g = test::generated(call);
    const Routed best = compute_routed(restarted(g, "auto"));
    for (const auto search : {OrientationSearch::BreadthFirst, OrientationSearch::DepthFirst}) {
      RouteJob made = restarted(g, "updn");
      made.engine_options.orientation_search = search;
      RouteJob job = restarted(g, "auto");
      job.found = compute_routed(made).tables.lft;
      const Routed kept = compute_routed(job);
      job.found.reset();
      job.in_force = in_force(job, kept);
      job.orientation = kept.tables.orientation;
      const bool worth =
          are_worth_a_change(g.fabric, g.lids, kept.tables, best.tables, TrafficGoal::Both);
      const auto rested = compute_rebalance(job);
      EXPECT_EQ(rested.has_value(), worth) << call;
      ++(worth ? left : kept_on);
    }
  }
  EXPECT_GT(left, 0u);
  EXPECT_GT(kept_on, 0u);
}

TEST(RouteJob, SaysWhyRoutesOfOneSwitchHaveAnotherName) {
  const test::Generated g = test::generated("fat-tree:k=4,levels=1");
  ASSERT_EQ(g.fabric.switch_count(), 1u);
  for (const char* engine : {"dor", "ftree"}) {
    const Routed routed = compute_routed(restarted(g, engine));
    ASSERT_FALSE(routed.error);
    EXPECT_EQ(routed.tables.engine, "updn");
    EXPECT_THAT(routed.tables.notes,
                testing::Contains(fmt::format(
                    "sm.engine: routes of one switch are the same by any engine, and called those "
                    "of updn; {} is asked again where there are two",
                    engine)));
  }
  for (const char* engine : {"updn", "auto"}) {
    EXPECT_THAT(compute_routed(restarted(g, engine)).tables.notes,
                testing::Not(testing::Contains(testing::HasSubstr("sm.engine"))));
  }
}

TEST(RouteJob, SaysWhichWeightsHaveNoEffect) {
  const test::Generated g = test::generated("fat-tree:k=4,levels=2");
  const auto notes_with = [&](std::vector<Guid> guids) {
    SiteNodes rules;
    std::ranges::sort(guids);
    for (const Guid each : guids) rules.weights.emplace_back(each, 4);
    Fabric weighed = g.fabric;
    weighed.site_nodes = std::make_shared<const SiteNodes>(rules);
    RouteJob job = restarted(g, "updn");
    job.fabric = std::make_shared<const Fabric>(std::move(weighed));
    std::vector<std::string> notes = compute_routed(job).tables.notes;
    std::erase_if(notes, [](const std::string& each) { return !each.starts_with("sm.weights"); });
    return notes;
  };
  std::vector<Guid> switches;
  for (const NodeIdx node : g.fabric.switch_node) switches.push_back(g.fabric.node_guid[node]);
  std::ranges::sort(switches);
  const PortIdx leaf = g.fabric.port_of(g.fabric.switch_node[SwitchIdx{0}], PortNum{1});
  ASSERT_TRUE(g.fabric.is_host(g.fabric.peer[leaf]));
  const Guid host = g.fabric.port_guid[g.fabric.peer[leaf]];
  EXPECT_THAT(notes_with({host, Guid{0xdead}}), testing::IsEmpty());
  EXPECT_THAT(notes_with({switches[0]}),
              testing::ElementsAre(fmt::format(
                  "sm.weights: no effect of {}, of a switch or an adapter: weights are of ports of "
                  "adapters, by the GUIDs that ibstat shows",
                  switches[0])));
  EXPECT_THAT(notes_with({switches[0], switches[1], switches[2], switches[3], switches[4]}),
              testing::ElementsAre(testing::HasSubstr(fmt::format(
                  "{}, {}, {} and 2 more, of", switches[0], switches[1], switches[2]))));
}

TEST(RouteJob, AutoSaysWhereRootsHaveNoEffect) {
  const test::Generated g = test::generated("torus:dims=4.4,hosts=2");
  const std::string note = "sm.roots: dor heeds them not, updn does";
  for (const unsigned vls : {1u, 8u}) {
    RouteJob job = restarted(g, "auto");
    job.engine_options.auto_vls = vls;
    EXPECT_THAT(compute_routed(job).tables.notes, testing::Not(testing::Contains(note)));
    job.engine_options.roots = {g.fabric.node_guid[g.fabric.switch_node[SwitchIdx{0}]]};
    const std::vector<std::string> notes = compute_routed(job).tables.notes;
    EXPECT_EQ(std::ranges::count(notes, note), vls == 1 ? 0 : 1);
  }
}

TEST(RouteJob, AutoWeighsWhereWhatItFindsCannotStay) {
  // A credit loop round the ring.
  const test::Generated g = test::generated("torus:dims=6,hosts=2");
  RouteJob job = restarted(g, "auto");
  const Routed fresh = compute_routed(job);
  job.found = test::compute("minhop", g.fabric, g.lids).lft;
  const Routed routed = compute_routed(job);
  ASSERT_FALSE(routed.error);
  EXPECT_EQ(routed.tables.lft, fresh.tables.lft);
  EXPECT_EQ(routed.tables.notes, fresh.tables.notes);
}

TEST(RouteJob, AutoKeepsTheEngineOfRoutesOnSeveralVls) {
  // hamming is as good there, and was in force.
  const test::Generated g = test::generated("torus:dims=4.4,hosts=2");
  RouteJob job = restarted(g, "auto");
  job.engine_options.auto_vls = 8;
  for (const char* const engine : {"dor", "nue", "dfsssp", "itb-vl"}) {
    RouteJob made = restarted(g, engine);
    const Routed before = compute_routed(made);
    ASSERT_FALSE(before.error);
    job.found = before.tables.lft;
    const Routed after = compute_routed(job);
    EXPECT_EQ(after.tables.engine, engine);
    EXPECT_EQ(after.tables.lft, before.tables.lft);
    EXPECT_EQ(after.tables.path_sls, before.tables.path_sls);
    EXPECT_EQ(after.tables.sl_to_vl, before.tables.sl_to_vl);
  }
}

/// With one LID less than there are.
std::shared_ptr<const VerifiedRoutes> find_too_little(const ActiveSubnet& of) {
  LidMap fewer = of.lids;
  fewer.owner.back() = kNone<PortIdx>;
  return VerifiedRoutes::build({&of.fabric(), &fewer, &*of.routing});
}

TEST(RouteJob, WhatTheCheckFoundGoesWithTheRoutes) {
  RouteJob job = job_for(fabric_from_shared(kRing), "updn");
  const Routed first = compute_routed(job);
  EXPECT_EQ(first.verified, nullptr) << "the full check keeps nothing";
  job.in_force = in_force(job, first);
  EXPECT_EQ(compute_routed(job).verified, nullptr);
  const RouteStatistics measured = compute_statistics(*job.in_force);
  EXPECT_FALSE(measured.differs);
  ASSERT_NE(measured.verified, nullptr);
  job.in_force = with_verified(*job.in_force, measured.verified);
  Fabric cut = *job.fabric;
  const PortIdx lost = find_channels(cut).front();
  cut.peer[cut.peer[lost]] = kNone<PortIdx>;
  cut.peer[lost] = kNone<PortIdx>;
  job.fabric = std::make_shared<const Fabric>(std::move(cut));
  const Routed next = compute_routed(job);
  ASSERT_FALSE(next.error);
  const RouteReport full = check_routes(*job.fabric, job.lids, next.tables);
  EXPECT_EQ(next.routes.hops, full.hops);
  EXPECT_EQ(next.routes.pairs, full.pairs);
  ASSERT_NE(next.verified, nullptr);
  const auto now = with_verified(*in_force(job, next), next.verified);
  const RouteStatistics again = compute_statistics(*now);
  EXPECT_FALSE(again.differs);
  EXPECT_EQ(again.verified, next.verified);
  EXPECT_EQ(again.load.max, measure_load(*job.fabric, job.lids, next.tables.lft).max);
}

// Traps that keep coming stop the full check, each time.
TEST(RouteJob, WhoeverIsStoppedLeavesTheNextChangeACheckByDifference) {
  RouteJob job = job_for(fabric_from_shared(kRing), "updn");
  const auto now = in_force(job, compute_routed(job));
  std::stop_source stopped;
  stopped.request_stop();
  const RouteStatistics measured = compute_statistics(*now, stopped.get_token());
  EXPECT_FALSE(measured.routes);
  ASSERT_NE(measured.verified, nullptr);
  EXPECT_EQ(measured.load.max, measure_load(*job.fabric, job.lids, now->routing->lft).max);
}

TEST(RouteJob, WhatWasKeptAndIsWrongIsFoundAndReplaced) {
  RouteJob job = job_for(fabric_from_shared(kRing), "updn");
  const auto now = in_force(job, compute_routed(job));
  const RouteStatistics measured = compute_statistics(*with_verified(*now, find_too_little(*now)));
  EXPECT_TRUE(measured.differs);
  ASSERT_NE(measured.verified, nullptr);
  EXPECT_TRUE(measured.verified->counts_equal(*VerifiedRoutes::build(now->routes())));
}

TEST(RouteJob, DoesNotKeepRoutesOfAnotherEngine) {
  RouteJob job = job_for(fabric_from_shared(kRing), "updn");
  const Routed first = compute_routed(job);
  job.in_force = in_force(job, first);
  job.engine = "auto";
  const Routed other = compute_routed(job);
  ASSERT_FALSE(other.error);
  EXPECT_THAT(other.tables.notes.at(0), testing::Not(testing::HasSubstr("in force")));
}

TEST(RouteJob, RoutesOfTheFallbackAreKeptAsAnyOthers) {
  RouteJob job = job_for(fabric_from_shared(kRing), "ftree");
  job.fallback = true;
  const Routed first = compute_routed(job);
  ASSERT_FALSE(first.error);
  EXPECT_EQ(first.tables.engine, "updn");
  EXPECT_NE(first.fallback_reason, "");
  EXPECT_FALSE(first.tables.recomputed);
  job.orientation = first.tables.orientation;
  job.in_force = in_force(job, first);
  const Routed again = compute_routed(job);
  EXPECT_EQ(again.fallback_reason, first.fallback_reason);
  EXPECT_TRUE(again.tables.recomputed) << "made from those in force";
  EXPECT_EQ(again.tables.lft, first.tables.lft);
}

TEST(RouteJob, RoutesOfTheFallbackAreRelievedAsThoseOfAnEngineAskedFor) {
  const test::Generated g = test::generated("torus:dims=4.4,hosts=2");
  unsigned relieved = 0;
  for (std::size_t cable = 0; cable < find_channels(g.fabric).size(); cable += 5) {
    const auto cut = without_cable(g.fabric, cable);
    const auto rest_with = [&](RouteJob job) {
      const Routed lost = route_next(job, cut, compute_routed(job));
      EXPECT_EQ(lost.tables.engine, "updn");
      job.orientation = lost.tables.orientation;
      job.in_force = in_force(job, lost);
      return compute_rebalance(job);
    };
    RouteJob refused = restarted(g, "ftree");
    refused.fallback = true;
    const auto asked = rest_with(restarted(g, "updn"));
    const auto stood_in = rest_with(refused);
    ASSERT_EQ(stood_in.has_value(), asked.has_value()) << cable;
    if (!asked) continue;
    ++relieved;
    EXPECT_EQ(stood_in->tables.lft, asked->tables.lft) << cable;
    // Also of LIDs that would have two sets of paths under an engine that was asked for.
    refused.engine_options.path_sets = true;
    EXPECT_TRUE(rest_with(refused)) << cable;
  }
  EXPECT_GT(relieved, 0u);
}

TEST(RouteJob, RestSaysWhyItLeavesRoutesAsTheyAre) {
  const test::Generated g = test::generated("torus:dims=4.4,hosts=2");
  RouteJob job = restarted(g, "updn");
  const Routed made = compute_routed(job);
  job.orientation = made.tables.orientation;
  job.in_force = in_force(job, made);
  EXPECT_EQ(compute_rebalance(job).error(), "routes are even");
  job.engine = "ftree";  // and no fallback
  EXPECT_EQ(compute_rebalance(job).error(),
            "no engine of the configuration made these routes, updn did");
  job.fallback = true;
  EXPECT_EQ(compute_rebalance(job).error(), "routes are even");
  Routed of_ftree = made;
  of_ftree.tables.engine = "ftree";
  job.in_force = in_force(job, of_ftree);
  EXPECT_THAT(compute_rebalance(job).error(),
              testing::StartsWith("no routes from scratch: no fat tree"));
  std::stop_source stopped;
  stopped.request_stop();
  job.stop = stopped.get_token();
  EXPECT_EQ(compute_rebalance(job).error(), "nobody wants it any more");
}

TEST(RouteJob, TheFirstEngineOfAListThatCanRouteTheFabricDoes) {
  RouteJob job = job_for(
      fabric_from_shared("S1-S2 S1-S3 S2-S3 S2-S4 S3-S4 S4-S5 H1-S1 H2-S5 H3-S4"), "dragonfly");
  job.next_engines = {"dor", "nue", "updn"};
  job.max_vls = 8;
  const Routed routed = compute_routed(job);
  ASSERT_FALSE(routed.error) << routed.error->context;
  EXPECT_EQ(routed.tables.engine, "nue");
  EXPECT_THAT(routed.fallback_reason, testing::StartsWith("dragonfly: no dragonfly: "));
  EXPECT_THAT(routed.fallback_reason, testing::HasSubstr("; dor: no mesh or torus: "));

  // Its routes are kept, and rebalanced, as those of the first would be.
  job.orientation = routed.tables.orientation;
  job.in_force = in_force(job, routed);
  const Routed again = compute_routed(job);
  EXPECT_TRUE(again.tables.recomputed) << "made from those in force";
  EXPECT_EQ(again.tables.lft, routed.tables.lft);

  // The first again, where it can; nobody is asked behind one that routes.
  job.engine = "nue";
  job.next_engines = {"no engine"};
  EXPECT_EQ(compute_routed(job).fallback_reason, "");

  // None can: what the last said is the error, the others' reasons stand beside it.
  job.engine = "dragonfly";
  job.next_engines = {"dor"};
  const Routed none = compute_routed(job);
  ASSERT_TRUE(none.error);
  EXPECT_THAT(none.error->context, testing::StartsWith("no mesh or torus"));
  EXPECT_THAT(none.fallback_reason, testing::StartsWith("no dragonfly"));
  job.fallback = true;
  const Routed last = compute_routed(job);
  EXPECT_EQ(last.tables.engine, "updn") << "behind the list";
}

TEST(RouteJob, WhatIsLeftOfAFabricNeedsNoShape) {
  for (const char* rest : {"H1~H2", "S1-H1", "S1-H1 S1-H2"}) {
    for (const char* engine : {"dor", "hamming", "dragonfly", "ftree", "hamiltonian"}) {
      const Routed routed = compute_routed(job_for(fabric_from_shared(rest), engine));
      EXPECT_FALSE(routed.error) << engine << " on " << rest << ": " << routed.error->context;
    }
  }
  EXPECT_TRUE(compute_routed(job_for(fabric_from_shared("S1-H1"), "door")).error);
}

TEST(RouteJob, PassesOnHowToOrient) {
  RouteJob job = job_for(fabric_from_shared("S1-S2 S1-S3 S2-S3 S2-S4 S3-S4 S4-S5 H1-S1"), "updn");
  job.engine_options.roots = {job.fabric->node_guid[test::node(*job.fabric, "S1")]};
  job.engine_options.orientation_search = OrientationSearch::DepthFirst;
  EXPECT_EQ(compute_routed(job).tables.orientation.rank[switch_named(*job.fabric, "S5")], 4u);

  job = job_for(fabric_from_shared("S1-S2 S2-S3 S3-S4 S4-S5 H1-S1"), "updn");
  job.engine_options.root_choice = RootChoice::Central;
  EXPECT_EQ(compute_routed(job).tables.orientation.rank[switch_named(*job.fabric, "S3")], 0u);
}

TEST(RouteJob, GoesByWhatPortsDraw) {
  //  Two cables from S1 to S2. What H1 draws fills one of them.
  RouteJob job =
      job_for(fabric_from_shared("S1:1-S2:1 S1:2-S2:2 H1-S2 H2-S2 H3-S2 H4-S2 H5-S1"), "minhop");
  const std::shared_ptr<const Fabric> bare = job.fabric;
  const Fabric& f = *bare;
  const PortIdx heavy = test::end_port(f, "H1");
  const auto beside = [&](const RoutingTables& tables) {
    unsigned count = 0;
    for (const char* name : {"H2", "H3", "H4"})
      count += tables.lft.route(switch_named(f, "S1"), job.lids.base[test::end_port(f, name)]) ==
               tables.lft.route(switch_named(f, "S1"), job.lids.base[heavy]);
    return count;
  };
  EXPECT_EQ(beside(compute_routed(job).tables), 1u);
  job.fabric = with_traffic(
      f, std::make_shared<const SiteNodes>(SiteNodes{.weights = {{f.port_guid[heavy], 10}}}));
  EXPECT_EQ(beside(compute_routed(job).tables), 0u);
}

}  // namespace
}  // namespace smd
