// Layered routes kept over random changes: always sound, and nothing moved that could stay.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "smd/routing/engine.h"
#include "smd/routing/graph/switch_graph.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/changing_fabric.h"
#include "tests/unit/routing/support/generated.h"

namespace smd::test {
namespace layered_update_test {

using View = ChangingFabric::View;

constexpr unsigned kLanes = 8;

ChangingFabric draw() {
  return ChangingFabric{pick(1, 9), pick(0, 9), pick(0, 8), static_cast<unsigned>(pick(0, 1))};
}

RoutingTables compute(const char* engine,
                      const View& now,
                      const View* before = nullptr,
                      const RoutingTables* tables = nullptr,
                      NonMinimal non_minimal = NonMinimal::Off) {
  RoutingRequest request{.options = {.non_minimal = non_minimal}, .max_vls = kLanes};
  PreviousRoutes in_force;
  if (before != nullptr) {
    in_force = {&before->fabric, &before->lids, tables};
    request.in_force = &in_force;
  }
  return find_engine(engine)->compute(now.fabric, now.lids, request).value();
}

void require_sound(const View& v, const RoutingTables& tables) {
  const RouteReport report = check_routes(v.fabric, v.lids, tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
  // Between switches without hosts there may be detours, and then they are told.
  if (tables.notes.empty()) RC_ASSERT(report.minimal == report.pairs);
}

struct Entry {
  PortNum port = kNoRoute;
  unsigned sl = 0;

  friend bool operator==(const Entry&, const Entry&) = default;
};

Entry entry(const RoutingTables& tables, SwitchIdx sw, Lid lid) {
  if (sw == kNone<SwitchIdx> || lid > tables.lft.top()) return {};
  return {tables.lft.route(sw, lid), tables.path_sls.empty() ? 0u : tables.path_sls.sl(sw, lid)};
}

SwitchIdx same_switch(const View& in, const View& other, SwitchIdx sw) {
  const auto node = in.fabric.find_node(other.fabric.node_guid[other.fabric.switch_node[sw]]);
  return node ? in.fabric.switch_of[*node] : kNone<SwitchIdx>;
}

// A LID that is not listed has all its entries and SLs as they were.
void require_listed(const View& now,
                    const RoutingTables& after,
                    const View& before,
                    const RoutingTables& tables) {
  RC_ASSERT(after.recomputed.has_value());
  RC_ASSERT(std::ranges::is_sorted(*after.recomputed));
  for (unsigned value = 1; value <= after.lft.top().value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (std::ranges::binary_search(*after.recomputed, lid)) continue;
    for (const SwitchIdx sw : now.fabric.switch_node.indices())
      RC_ASSERT(entry(after, sw, lid) == entry(tables, same_switch(before, now, sw), lid));
  }
}

// By the entries of before, packets still come from the switch to the owner of the LID.
bool path_stands(
    const View& now, const View& before, const RoutingTables& tables, SwitchIdx sw, Lid lid) {
  const PortIdx owner = now.lids.owner_of(lid);
  for (std::size_t hop = 0; hop <= now.fabric.switch_node.size(); ++hop) {
    const NodeIdx node = now.fabric.switch_node[sw];
    const PortNum port = entry(tables, same_switch(before, now, sw), lid).port;
    if (port == kNoRoute || port.value() > now.fabric.num_ports(node)) return false;
    const PortIdx out = now.fabric.port_of(node, port);
    if (out == owner) return true;
    const PortIdx far = port == PortNum{0} ? kNone<PortIdx> : now.fabric.peer[out];
    if (far == owner) return true;
    if (far == kNone<PortIdx> || !now.fabric.is_switch(now.fabric.node_of[far])) return false;
    sw = now.fabric.switch_at(far);
  }
  return false;
}

// Entries whose path still stood have moved for balance only: put back, the fullest channel
// carries no less.
void require_moves_even(const View& now,
                        const RoutingTables& after,
                        const View& before,
                        const RoutingTables& tables) {
  ForwardingTables put_back = after.lft;
  for (unsigned value = 1; value <= now.lids.top.value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = now.lids.owner_of(lid);
    if (owner == kNone<PortIdx>) continue;
    if (!after.notes.empty() && now.fabric.is_switch(now.fabric.node_of[owner])) continue;
    for (const SwitchIdx sw : now.fabric.switch_node.indices()) {
      const PortNum then = entry(tables, same_switch(before, now, sw), lid).port;
      if (entry(after, sw, lid).port == then || !path_stands(now, before, tables, sw, lid))
        continue;
      put_back.set_route(sw, lid, then);
    }
  }
  RC_CLASSIFY(put_back != after.lft, "moved for balance");
  RC_ASSERT(measure_load(now.fabric, now.lids, after.lft).max <=
            measure_load(now.fabric, now.lids, put_back).max);
}

template <class Change>
void follow_changes(const char* engine, Change&& change, bool only_losses) {
  ChangingFabric network = draw();
  View before = network.view();
  RoutingTables tables = compute(engine, before);
  require_sound(before, tables);
  for (int step = 0; step < 4; ++step) {
    change(network);
    View now = network.view();
    RoutingTables after = compute(engine, now, &before, &tables);
    require_sound(now, after);
    RC_ASSERT((compute(engine, now, &before, &tables).lft == after.lft));
    // Starting from scratch is allowed, and says so by listing nothing.
    RC_CLASSIFY(!after.recomputed);
    if (after.recomputed) require_listed(now, after, before, tables);
    if (only_losses && after.recomputed) require_moves_even(now, after, before, tables);
    before = std::move(now);
    tables = std::move(after);
  }
}

void lose(ChangingFabric& network) { network.lose(1); }

void change_anything(ChangingFabric& network) { network.change(pick(1, 3)); }

RC_GTEST_PROP(KeepLayers, DfssspIsSoundAfterAnyChange, ()) {
  follow_changes("dfsssp", change_anything, false);
}

RC_GTEST_PROP(KeepLayers, LashIsSoundAfterAnyChange, ()) {
  follow_changes("lash", change_anything, false);
}

RC_GTEST_PROP(KeepLayers, AlmostMinimalPathsAreSoundAfterAnyChange, ()) {
  constexpr NonMinimal kApart = NonMinimal::AlmostMinimal;
  ChangingFabric network{pick(3, 10), pick(2, 14), pick(1, 9), static_cast<unsigned>(pick(1, 2))};
  View before = network.view();
  RoutingTables tables = compute("dfsssp", before, nullptr, nullptr, kApart);
  require_sound(before, tables);
  for (int step = 0; step < 4; ++step) {
    network.change(pick(1, 3));
    View now = network.view();
    RoutingTables after = compute("dfsssp", now, &before, &tables, kApart);
    require_sound(now, after);
    RC_ASSERT((compute("dfsssp", now, &before, &tables, kApart).lft == after.lft));
    RC_CLASSIFY(!after.recomputed);
    if (after.recomputed) require_listed(now, after, before, tables);
    RC_ASSERT(compute("dfsssp", now, &now, &after, kApart).recomputed == std::vector<Lid>{});
    before = std::move(now);
    tables = std::move(after);
  }
}

RC_GTEST_PROP(KeepLayers, AfterALossPathsThatStandMoveForBalanceOnly, ()) {
  follow_changes(*rc::gen::element("dfsssp", "lash"), lose, true);
}

RC_GTEST_PROP(KeepLayers, NothingChangesWhenNothingDoes, ()) {
  const char* const engine = *rc::gen::element("dfsssp", "lash");
  ChangingFabric network = draw();
  const View before = network.view();
  const RoutingTables tables = compute(engine, before);
  const RoutingTables again = compute(engine, before, &before, &tables);
  RC_ASSERT(again.lft == tables.lft);
  RC_ASSERT(again.path_sls == tables.path_sls);
  RC_ASSERT(again.recomputed == std::vector<Lid>{});
}

RC_GTEST_PROP(KeepLayers, HostsThatComeBackFindTheirEntries, ()) {
  const char* const engine = *rc::gen::element("dfsssp", "lash");
  ChangingFabric network{pick(2, 9), pick(0, 9), pick(1, 8), static_cast<unsigned>(pick(0, 1))};
  const View before = network.view();
  const RoutingTables tables = compute(engine, before);
  ChangingFabric without = network;
  without.lose_host();
  const View away = without.view();
  const RoutingTables meanwhile = compute(engine, away, &before, &tables);
  RC_ASSERT(meanwhile.lft == tables.lft);
  const RoutingTables back = compute(engine, before, &away, &meanwhile);
  RC_ASSERT(back.lft == tables.lft);
  RC_ASSERT(back.path_sls == tables.path_sls);
}

// A host that is cabled to another switch and keeps its LID has the lanes of that one's pairs.
TEST(KeepLayers, BothDirectionsKeepOneSlWhereAHostMoves) {
  const Generated g = generated("torus:dims=5.5,hosts=2");
  for (const char* engine : {"dfsssp", "lash"}) {
    for (const auto& [from, to] : {std::pair{0u, 30u}, std::pair{11u, 24u}, std::pair{48u, 3u}}) {
      std::vector<PortIdx> hosts;
      for (const PortIdx port : g.fabric.peer.indices()) {
        const bool end = g.fabric.is_end_port(port);
        if (end && !g.fabric.is_switch(g.fabric.node_of[port])) hosts.push_back(port);
      }
      const auto without = [&](PortIdx gone) {
        View view{g.fabric, make_lid_map(g.fabric)};
        view.fabric.peer[view.fabric.peer[gone]] = kNone<PortIdx>;
        view.fabric.peer[gone] = kNone<PortIdx>;
        return view;
      };
      View before = without(hosts[to]), now = without(hosts[from]);
      for (const PortIdx port : g.lids.base.indices()) {
        const Lid lid = g.lids.base[port];
        if (lid == kUnassignedLid || port == hosts[to]) continue;
        set_lid(before.lids, port, lid, 0);
        set_lid(now.lids, port == hosts[from] ? hosts[to] : port, lid, 0);
      }
      const RoutingTables tables = compute(engine, before);
      ASSERT_EQ(tables.notes, std::vector<std::string>{}) << engine;
      const RoutingTables after = compute(engine, now, &before, &tables);
      ASSERT_TRUE(check_routes(now.fabric, now.lids, after).ok());
      EXPECT_TRUE(after.recomputed) << engine;
      for (const std::string& note : after.notes)
        EXPECT_EQ(note.find("different SLs"), std::string::npos) << engine;
      const SwitchIdx last = now.fabric.switch_at(now.fabric.peer[hosts[to]]);
      const Lid moved = g.lids.base[hosts[from]];
      for (const PortIdx port : hosts) {
        if (port == hosts[from] || port == hosts[to]) continue;
        const SwitchIdx sw = now.fabric.switch_at(now.fabric.peer[port]);
        if (sw == last) continue;
        EXPECT_EQ(entry(after, sw, moved).sl, entry(after, last, now.lids.base[port]).sl)
            << engine << " " << from << " " << sw.value();
      }
    }
  }
}

RC_GTEST_PROP(KeepLayers, RoutesOfOtherEnginesAreNotKept, ()) {
  ChangingFabric network = draw();
  const View v = network.view();
  const RoutingTables own = compute("dfsssp", v);
  const RoutingTables foreign = compute("minhop", v);
  RC_ASSERT((compute("dfsssp", v, &v, &foreign).lft == own.lft));
}

// Cables of a torus, one at a time: a path that has to go another way stays on its lane where
// that has room for it.
TEST(KeepLayers, PathsThatChangeStayOnTheirLanes) {
  const Generated g = generated("torus:dims=5.5,hosts=1");
  for (const char* engine : {"dfsssp", "lash"}) {
    const View whole{g.fabric, g.lids};
    const RoutingTables tables = compute(engine, whole);
    unsigned changed = 0, on_another = 0;
    for (unsigned sw = 0; sw < 25; sw += 6) {
      View cut = whole;
      const PortIdx lost = cut.fabric.port_of(cut.fabric.switch_node[SwitchIdx{sw}], PortNum{1});
      cut.fabric.peer[cut.fabric.peer[lost]] = kNone<PortIdx>;
      cut.fabric.peer[lost] = kNone<PortIdx>;
      const RoutingTables after = compute(engine, cut, &whole, &tables);
      ASSERT_TRUE(after.recomputed);
      for (const SwitchIdx at : cut.fabric.switch_node.indices()) {
        for (unsigned value = 1; value <= cut.lids.top.value(); ++value) {
          const Lid lid{static_cast<std::uint16_t>(value)};
          if (entry(after, at, lid).port == entry(tables, at, lid).port) continue;
          ++changed;
          on_another += entry(after, at, lid).sl != entry(tables, at, lid).sl;
        }
      }
    }
    EXPECT_GT(changed, 30u) << engine;
    EXPECT_LE(on_another * 3, changed) << engine << ": " << on_another << " of " << changed;
  }
}

TEST(KeepLayers, APathGoesALongerWayRatherThanToAnotherLane) {
  const Generated g = generated("torus:dims=5.5,hosts=1");
  unsigned longer = 0;
  for (const char* engine : {"dfsssp", "lash"}) {
    const View whole{g.fabric, g.lids};
    const RoutingTables tables = compute(engine, whole);
    for (unsigned sw = 0; sw < 25; ++sw) {
      View cut = whole;
      const PortIdx lost = cut.fabric.port_of(cut.fabric.switch_node[SwitchIdx{sw}], PortNum{1});
      cut.fabric.peer[cut.fabric.peer[lost]] = kNone<PortIdx>;
      cut.fabric.peer[lost] = kNone<PortIdx>;
      const RoutingTables after = compute(engine, cut, &whole, &tables);
      const RouteReport report = check_routes(cut.fabric, cut.lids, after);
      ASSERT_TRUE(report.ok());
      const bool told = std::ranges::any_of(after.notes, [](const std::string& note) {
        return note.find("longer than the shortest") != std::string::npos;
      });
      EXPECT_EQ(told, report.minimal != report.pairs) << engine << " " << sw;
      longer += told;
      // With its cable back more paths are as short as can be than if nothing moved.
      const RoutingTables back = compute(engine, whole, &cut, &after);
      const RouteReport again = check_routes(whole.fabric, whole.lids, back);
      ASSERT_TRUE(again.ok());
      EXPECT_GT(again.minimal, check_routes(whole.fabric, whole.lids, after).minimal)
          << engine << " " << sw;
    }
  }
  EXPECT_GT(longer, 0u);
}

// Whatever somebody says is in force: lanes with a cycle are not built on.
TEST(KeepLayers, LanesInForceThatHaveACycleAreNoStart) {
  const Generated g = generated("torus:dims=5,hosts=1");
  const View ring{g.fabric, g.lids};
  for (const char* engine : {"dfsssp", "lash"}) {
    RoutingTables wrong = compute(engine, ring);
    ASSERT_EQ(wrong.vls, 2u);
    for (const SwitchIdx sw : g.fabric.switch_node.indices()) {
      for (unsigned lid = 0; lid <= g.lids.top.value(); ++lid)
        wrong.path_sls.set_sl(sw, Lid{static_cast<std::uint16_t>(lid)}, 0);
    }
    const RoutingTables after = compute(engine, ring, &ring, &wrong);
    EXPECT_FALSE(after.recomputed) << engine;
    EXPECT_TRUE(check_routes(ring.fabric, ring.lids, after).ok()) << engine;
  }
}

TEST(KeepLayers, LanesBeyondThoseAllowedAreNoStart) {
  const Generated g = generated("torus:dims=5.5,hosts=1");
  const RoutingTables tables = compute("dfsssp", {g.fabric, g.lids});
  ASSERT_GT(tables.vls, 1u);
  const PreviousRoutes in_force{&g.fabric, &g.lids, &tables};
  const auto after = find_engine("dfsssp")->compute(
      g.fabric, g.lids, {.in_force = &in_force, .max_vls = tables.vls - 1});
  EXPECT_TRUE(!after || after->vls < tables.vls);
}

}  // namespace layered_update_test
}  // namespace smd::test
