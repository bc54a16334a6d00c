// Over histories of changes: the record that nue carries says what counting says, and routes out of
// it are as good as routes for which every entry was read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "smd/routing/incremental/changes.h"
#include "smd/routing/nue/turn_record.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/routing/support/generated.h"
#include "tests/unit/routing/support/trees.h"
#include "tests/unit/routing/support/verified_changes.h"

namespace smd::test {
namespace turn_record_test {

using View = ChangingFabric::View;
using TurnKey = std::tuple<unsigned, std::uint32_t, std::uint32_t>;  // layer, in, out

struct Counted {
  std::map<TurnKey, unsigned> turns;  // by how many LIDs
  std::vector<std::uint64_t> paths;   // by edge
};

// Every path of every LID, link by link.
Counted count(const View& on, const RoutingTables& tables) {
  const SwitchGraph graph{on.fabric};
  const Targets targets = find_targets(on.fabric, on.lids);
  Counted counted{.turns = {}, .paths = std::vector<std::uint64_t>(graph.edge_count(), 0)};
  const auto edge_at = [&](SwitchIdx sw, Lid lid) {
    const auto edges = graph.edges(sw);
    for (std::size_t at = 0; at < edges.size(); ++at) {
      if (edges[at].port == tables.lft.route(sw, lid))
        return graph.first_edge(sw) + static_cast<std::uint32_t>(at);
    }
    return kNoEdge;
  };
  for (const SwitchIdx last : targets.of.indices()) {
    for (const Target& target : targets.of[last]) {
      for (unsigned offset = 0; offset < 1u << target.lmc; ++offset) {
        const Lid lid{static_cast<std::uint16_t>(target.base.value() + offset)};
        const unsigned layer = tables.path_sls.empty() ? 0 : tables.path_sls.sl(SwitchIdx{0}, lid);
        for (const SwitchIdx start : targets.of.indices()) {
          const std::uint32_t in = start == last ? kNoEdge : edge_at(start, lid);
          if (in == kNoEdge) continue;
          const SwitchIdx to = graph.edge(in).to;
          if (to != last) ++counted.turns[{layer, in, edge_at(to, lid)}];
          for (SwitchIdx sw = start; sw != last; sw = graph.edge(edge_at(sw, lid)).to) {
            if (target.host) counted.paths[edge_at(sw, lid)] += targets.hosts[start];
          }
        }
      }
    }
  }
  // What is sent to a LID that nobody has takes turns as well.
  for (std::uint16_t value = 1; value <= tables.lft.top().value(); ++value) {
    const Lid lid{value};
    if (on.lids.owner_of(lid) != kNone<PortIdx>) continue;
    const unsigned layer = tables.path_sls.empty() ? 0 : tables.path_sls.sl(SwitchIdx{0}, lid);
    for (const SwitchIdx start : targets.of.indices()) {
      const std::uint32_t in = edge_at(start, lid);
      const std::uint32_t out = in == kNoEdge ? kNoEdge : edge_at(graph.edge(in).to, lid);
      if (out != kNoEdge) ++counted.turns[{layer, in, out}];
    }
  }
  return counted;
}

std::string differs(const View& on, const RoutingTables& tables) {
  const TurnRecord& record = *tables.turns;
  const Counted counted = count(on, tables);
  if (record.paths != counted.paths) return "paths";
  if (record.layers.size() != tables.vls) return "layers";
  std::vector<TreeTurns> taken;
  if (!record.layers.front().taken) {
    taken = record.count_turns();
  } else {
    for (const TurnRecord::Layer& layer : record.layers) taken.push_back(*layer.taken);
  }
  const Channels& channels = *record.channels;
  for (unsigned layer = 0; layer < record.layers.size(); ++layer) {
    std::vector<Channel> order = record.layers[layer].order;
    std::vector<std::size_t> place(channels.size(), 0);
    for (std::size_t at = 0; at < order.size(); ++at) place[order[at]] = at;
    std::ranges::sort(order);
    if (order.size() != channels.size()) return "order";
    for (Channel c = 0; c < channels.size(); ++c) {
      if (order[c] != c) return "order";
    }
    for (Channel in = 0; in < channels.size(); ++in) {
      const std::uint32_t sw = channels.to[in].value();
      for (Channel out = channels.first[sw]; out < channels.first[sw + 1]; ++out) {
        const auto found = counted.turns.find({layer, in, out});
        const unsigned expected = found == counted.turns.end() ? 0 : found->second;
        if (taken[layer].count(in, out) != expected) return "turns";
        if (expected != 0 && place[in] >= place[out]) return "order of a turn";
      }
    }
  }
  return "";
}

RoutingTables route(const View& on, const PreviousRoutes* in_force, unsigned vls) {
  return find_engine("nue")
      ->compute(on.fabric, on.lids, {.in_force = in_force, .max_vls = vls})
      .value();
}

std::size_t count_changed(const View& was,
                          const RoutingTables& before,
                          const View& now,
                          const RoutingTables& after) {
  const auto rows = find_rows_before(was.fabric, now.fabric);
  std::size_t changed = 0;
  for (const SwitchIdx sw : rows.indices()) {
    for (std::uint16_t lid = 1; lid <= now.lids.top.value(); ++lid) {
      if (now.lids.owner_of(Lid{lid}) == kNone<PortIdx>) continue;
      changed += rows[sw] == kNone<SwitchIdx> || Lid{lid} > before.lft.top() ||
                 before.lft.route(rows[sw], Lid{lid}) != after.lft.route(sw, Lid{lid});
    }
  }
  return changed;
}

struct Side {
  std::size_t changed = 0, anew = 0;
  double fullest = 0;  // summed up, against the mean load
};

void judge(Side& side,
           const View& was,
           const RoutingTables& before,
           const View& now,
           const RoutingTables& after) {
  const RouteReport report = check_routes(now.fabric, now.lids, after);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  side.changed += count_changed(was, before, now, after);
  side.anew += !after.recomputed;
  const LoadReport load = measure_load(now.fabric, now.lids, after.lft);
  side.fullest += load.mean == 0 ? 1 : static_cast<double>(load.max) / load.mean;
}

struct Sides {
  Side carried, read;
};

constexpr int kChanges = 20;

// Every change is taken in twice, with the record and without: `network` goes on with the former.
template <class Network>
void live_through(Network& network, unsigned vls, Sides& sides) {
  View before = network.view();
  RoutingTables tables = route(before, nullptr, vls);
  RC_ASSERT(differs(before, tables) == "");
  for (int step = 0; step < kChanges; ++step) {
    network.change(1);
    const View now = network.view();
    const PreviousRoutes with{&before.fabric, &before.lids, &tables};
    RoutingTables unrecorded = tables;
    unrecorded.turns = nullptr;
    const PreviousRoutes without{&before.fabric, &before.lids, &unrecorded};
    RoutingTables carried = route(now, &with, vls);
    const RoutingTables read = route(now, &without, vls);
    RC_ASSERT(differs(now, carried) == "");
    RC_ASSERT(differs(now, read) == "");
    judge(sides.carried, before, tables, now, carried);
    judge(sides.read, before, tables, now, read);
    before = now;
    tables = std::move(carried);
  }
}

RC_GTEST_PROP(TurnRecord, IsWhatCountingFindsAfterAnyHistory, ()) {
  ChangingFabric network{pick(2, 10), pick(0, 10), pick(1, 8), static_cast<unsigned>(pick(0, 1))};
  Sides sides;
  live_through(network, static_cast<unsigned>(pick(1, 4)), sides);
}

class TurnRecordOn : public ::testing::TestWithParam<const char*> {};

// Of all draws together, so that chance decides nothing.
TEST_P(TurnRecordOn, MakesRoutesAsGoodAsReadingEveryEntry) {
  Sides sides;
  const bool passed = rc::check([&] {
    ChangingNetwork network{GetParam(), 0};
    live_through(network, pick(0, 1) == 0 ? 1 : 4, sides);
  });
  EXPECT_TRUE(passed);
  EXPECT_LE(static_cast<double>(sides.carried.changed),
            1.02 * static_cast<double>(sides.read.changed));
  EXPECT_LE(sides.carried.fullest, 1.01 * sides.read.fullest);
  EXPECT_LE(sides.carried.anew, sides.read.anew + 3);  // of 2,000
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         TurnRecordOn,
                         ::testing::Values("torus:dims=4.4,hosts=1",
                                           "dragonfly:a=4,c=1,h=1",
                                           "fat-tree:k=4,levels=3",
                                           "irregular:switches=12,ports=8,links=4,hosts=2"));

// Tables that were altered since are not what the record is of.
TEST(TurnRecord, IsOfTheTablesItWasMadeForAlone) {
  const Generated g = generated("torus:dims=5.5,hosts=1");
  const View view{g.fabric, g.lids};
  const SwitchGraph graph{view.fabric};
  RoutingTables tables = route(view, nullptr, 4);
  ASSERT_GT(tables.vls, 1u);
  const RoutingTables copy = tables;
  EXPECT_TRUE(copy.turns->is_of({&view.fabric, &view.lids, &copy}, graph));

  tables.lft.set_route(SwitchIdx{3}, view.lids.top, kNoRoute);
  EXPECT_FALSE(tables.turns->is_of({&view.fabric, &view.lids, &tables}, graph));
  EXPECT_TRUE(copy.turns->is_of({&view.fabric, &view.lids, &copy}, graph));

  RoutingTables elsewhere = copy;
  const std::uint8_t sl = elsewhere.path_sls.sl(SwitchIdx{0}, view.lids.top);
  elsewhere.path_sls.set_sl(SwitchIdx{0}, view.lids.top, sl == 0 ? 1 : 0);
  EXPECT_FALSE(elsewhere.turns->is_of({&view.fabric, &view.lids, &elsewhere}, graph));

  Fabric cut = view.fabric;
  const PortIdx lost = cut.port_of(cut.switch_node[SwitchIdx{0}], PortNum{1});
  cut.peer[cut.peer[lost]] = kNone<PortIdx>;
  cut.peer[lost] = kNone<PortIdx>;
  EXPECT_FALSE(copy.turns->is_of({&cut, &view.lids, &copy}, SwitchGraph{cut}));
}

TEST(TurnRecord, WithoutAChangeAllRowsAreThoseOfTheTablesBefore) {
  const Generated g = generated("fat-tree:k=6,levels=3");
  const View view{g.fabric, g.lids};
  const RoutingTables tables = route(view, nullptr, 1);
  const PreviousRoutes with{&view.fabric, &view.lids, &tables};
  const RoutingTables kept = route(view, &with, 1);
  for (const SwitchIdx sw : view.fabric.switch_node.indices())
    EXPECT_TRUE(kept.lft.shares_row(sw, tables.lft, sw));
}

// A leaf goes with all its hosts: only those at its links notice.
TEST(TurnRecord, ASwitchThatComesBackFindsTheEntriesThatLeadToIt) {
  for (const char* const call : {"fat-tree:k=6,levels=3", "torus:dims=4.4,hosts=1"}) {
    const Generated g = generated(call);
    const View whole{g.fabric, g.lids};
    const RoutingTables tables = route(whole, nullptr, 4);
    const PortIdx host = list_hosts(whole.fabric).back();
    const NodeIdx leaf = whole.fabric.node_of[whole.fabric.peer[host]];
    std::set<NodeIdx> gone{leaf};
    for (const PortIdx port : list_hosts(whole.fabric)) {
      if (whole.fabric.node_of[whole.fabric.peer[port]] == leaf)
        gone.insert(whole.fabric.node_of[port]);
    }
    const Fabric less = without_nodes(whole.fabric, gone);
    const View lost{less, same_lids(whole.fabric, whole.lids, less)};
    const PreviousRoutes then{&whole.fabric, &whole.lids, &tables};
    const RoutingTables without = route(lost, &then, 4);
    EXPECT_TRUE(check_routes(lost.fabric, lost.lids, without).ok());
    EXPECT_EQ(differs(lost, without), "");
    const PreviousRoutes meanwhile{&lost.fabric, &lost.lids, &without};
    const RoutingTables still = route(lost, &meanwhile, 4);
    EXPECT_EQ(differs(lost, still), "");
    const PreviousRoutes now{&lost.fabric, &lost.lids, &still};
    const RoutingTables back = route(whole, &now, 4);
    EXPECT_TRUE(check_routes(whole.fabric, whole.lids, back).ok());
    EXPECT_EQ(differs(whole, back), "");
    const auto rows = find_rows_before(whole.fabric, lost.fabric);
    const bool is_tree = std::string_view{call}.starts_with("fat-tree");  // on one layer
    std::size_t led = 0;
    for (std::uint16_t value = 1; is_tree && value <= whole.lids.top.value(); ++value) {
      const Lid lid{value};
      if (whole.lids.owner_of(lid) == kNone<PortIdx> || lost.lids.owner_of(lid) != kNone<PortIdx>)
        continue;
      for (const SwitchIdx sw : rows.indices()) {
        const PortNum was = tables.lft.route(rows[sw], lid);
        EXPECT_EQ(without.lft.route(sw, lid), was) << call;
        EXPECT_EQ(still.lft.route(sw, lid), was) << call;
        EXPECT_EQ(back.lft.route(rows[sw], lid), was) << call;
        ++led;
      }
    }
    EXPECT_EQ(led > 0, is_tree);
  }
}

// The port that led to a switch that is away leads back to who would send packets there again.
TEST(TurnRecord, WhatLedToASwitchThatIsAwayGoesWhereItsPortLeadsElsewhere) {
  const Fabric whole = fabric_from("S1-S2 S2-S3 S1-H1 S3-H3 S2-H2 S1-S4 S4-H4");
  const View before{whole, lids_in_order(whole)};
  const RoutingTables tables = route(before, nullptr, 1);
  std::set<NodeIdx> gone;
  for (const char* const name : {"S3", "H3", "S4", "H4"}) gone.insert(node(whole, name));
  const Fabric less = without_nodes(whole, gone);
  const View lost{less, same_lids(whole, before.lids, less)};
  const PreviousRoutes then{&before.fabric, &before.lids, &tables};
  const RoutingTables without = route(lost, &then, 1);
  const Lid away = before.lids.base[end_port(whole, "H3")];
  const PortNum led = tables.lft.route(switch_named(whole, "S2"), away);
  const SwitchIdx at = switch_named(less, "S2");
  ASSERT_EQ(without.lft.route(at, away), led);

  View again = lost;
  const PortIdx free = less.port_of(less.switch_node[at], led);
  ASSERT_EQ(less.peer[free], kNone<PortIdx>);
  const NodeIdx other = less.switch_node[switch_named(less, "S1")];
  PortIdx end = kNone<PortIdx>;
  for (const PortIdx port : less.external_ports(other)) {
    if (less.peer[port] == kNone<PortIdx>) end = port;
  }
  ASSERT_NE(end, kNone<PortIdx>);
  again.fabric.peer[free] = end;
  again.fabric.peer[end] = free;
  const PreviousRoutes now{&lost.fabric, &lost.lids, &without};
  const RoutingTables after = route(again, &now, 1);
  EXPECT_EQ(differs(again, after), "");
  EXPECT_EQ(after.lft.route(at, away), kNoRoute);
  EXPECT_EQ(after.lft.route(switch_named(less, "S1"), before.lids.base[end_port(whole, "H4")]),
            kNoRoute);
  EXPECT_EQ(after.lft.route(switch_named(less, "S1"), away),
            tables.lft.route(switch_named(whole, "S1"), away));
}

}  // namespace turn_record_test
}  // namespace smd::test
