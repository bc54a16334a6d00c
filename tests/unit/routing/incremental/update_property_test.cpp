// Routes kept over random changes: always legal, and after a loss nothing moved that could stay.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "smd/routing/engine.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/changing_fabric.h"
#include "tests/unit/routing/support/fera_oracle.h"

namespace smd::test {
namespace update_property_test {

enum class End { Arrives, Stops, Turns };  // Turns: up after down

struct Walked {
  End end;
  unsigned links = 0;
};

// Follows the entries of one LID from one switch; `exit` says what each switch has.
template <class Exit>
Walked follow(const Fabric& f, const Orientation& o, PortIdx owner, SwitchIdx at, Exit&& egress) {
  bool down = false;
  for (unsigned links = 0;; ++links) {
    const NodeIdx node = f.switch_node[at];
    const PortNum out = egress(at);
    if (out.value() > f.num_ports(node)) return {End::Stops, links};
    const PortIdx port = f.port_of(node, out);
    if (out == PortNum{0}) return {port == owner ? End::Arrives : End::Stops, links};
    const PortIdx far = f.peer[port];
    if (far == kNone<PortIdx>) return {End::Stops, links};
    if (!f.is_switch(f.node_of[far])) return {far == owner ? End::Arrives : End::Stops, links};
    const SwitchIdx onward = f.switch_at(far);
    if (fera_above(f, o, onward, at)) {
      if (down) return {End::Turns, links};
    } else {
      down = true;
    }
    at = onward;
  }
}

using View = ChangingFabric::View;

Walked follow(const View& v, const RoutingTables& tables, Lid lid, SwitchIdx at) {
  return follow(v.fabric, tables.orientation, v.lids.owner_of(lid), at, [&](SwitchIdx sw) {
    return tables.lft.route(sw, lid);
  });
}

// LIDs that nobody has count too: packets to them must not turn either.
void require_legal(const View& v, const RoutingTables& tables) {
  for (std::size_t lid = 1; lid < tables.lft.blocks() * kLftBlockSize; ++lid) {
    for (const SwitchIdx sw : v.fabric.switch_node.indices())
      RC_ASSERT(follow(v, tables, Lid(std::uint16_t(lid)), sw).end != End::Turns);
  }
  const RouteReport report = check_routes(v.fabric, v.lids, tables.lft);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
}

RoutingTables compute_updn(const View& now,
                           const View* before,
                           const RoutingTables* tables,
                           bool shorten_detours = false) {
  if (before == nullptr) return find_engine("updn")->compute(now.fabric, now.lids, {}).value();
  const PreviousRoutes in_force{&before->fabric, &before->lids, tables};
  return find_engine("updn")
      ->compute(now.fabric,
                now.lids,
                {.options = {.shorten_detours = shorten_detours},
                 .previous = &tables->orientation,
                 .in_force = &in_force})
      .value();
}

// What every switch that was there before had for a LID; kNoRoute where it was not there.
PortNum entry_before(const View& now,
                     const View& before,
                     const RoutingTables& tables,
                     SwitchIdx sw,
                     std::size_t lid) {
  const auto node = before.fabric.find_node(now.fabric.node_guid[now.fabric.switch_node[sw]]);
  if (!node || lid >= tables.lft.blocks() * kLftBlockSize) return kNoRoute;
  return tables.lft.route(before.fabric.switch_of[*node], Lid(std::uint16_t(lid)));
}

// The link behind a port of a switch as it was, if it is a link between switches.
bool is_as_it_was(const View& now,
                  const RoutingTables& after,
                  const View& before,
                  const RoutingTables& tables,
                  SwitchIdx sw,
                  PortNum port) {
  const NodeIdx was = before.fabric.switch_node[sw];
  if (port == PortNum{0} || port.value() > before.fabric.num_ports(was)) return true;
  const PortIdx far_was = before.fabric.peer[before.fabric.port_of(was, port)];
  if (far_was == kNone<PortIdx> || !before.fabric.is_switch(before.fabric.node_of[far_was]))
    return true;
  const auto is = now.fabric.find_node(before.fabric.node_guid[was]);
  if (!is) return false;
  const PortIdx far_is = now.fabric.peer[now.fabric.port_of(*is, port)];
  if (far_is == kNone<PortIdx>) return false;
  const NodeIdx next_was = before.fabric.node_of[far_was];
  const NodeIdx next_is = now.fabric.node_of[far_is];
  return before.fabric.node_guid[next_was] == now.fabric.node_guid[next_is] &&
         fera_above(before.fabric,
                    tables.orientation,
                    before.fabric.switch_of[next_was],
                    before.fabric.switch_of[was]) == fera_above(now.fabric,
                                                                after.orientation,
                                                                now.fabric.switch_of[next_is],
                                                                now.fabric.switch_of[*is]);
}

// An entry need not have changed when the old one in its place would do as well: when every switch
// still had a legal route and, where detours are shortened, the switch itself none that is longer.
// Of LIDs that nobody has none need change at all unless links were turned round.
void require_nothing_needless(const View& now,
                              const RoutingTables& after,
                              const View& before,
                              const RoutingTables& tables,
                              bool shorten_detours) {
  for (std::size_t value = 1; value < after.lft.blocks() * kLftBlockSize; ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const PortIdx owner = now.lids.owner_of(lid);
    for (const SwitchIdx changed : now.fabric.switch_node.indices()) {
      const PortNum old = entry_before(now, before, tables, changed, value);
      if (old == after.lft.route(changed, lid)) continue;
      if (owner == kNone<PortIdx>) {
        RC_ASSERT(!after.altered.empty());
        continue;
      }
      const auto with_old = [&](SwitchIdx from) {
        return follow(now.fabric, after.orientation, owner, from, [&](SwitchIdx sw) {
          return sw == changed ? old : after.lft.route(sw, lid);
        });
      };
      bool legal = true;
      for (const SwitchIdx from : now.fabric.switch_node.indices())
        legal = legal && with_old(from).end == End::Arrives;
      const bool longer = legal && with_old(changed).links > follow(now, after, lid, changed).links;
      if (legal && !(longer && shorten_detours)) {
        RC_FAIL(fmt::format("{} to lid {}: {} became {}{}",
                            now.fabric.description[now.fabric.switch_node[changed]],
                            value,
                            old,
                            after.lft.route(changed, lid),
                            shorten_detours ? ", shortening" : ""));
      }
    }
  }
}

// A route that met no link that is gone or turned round is not touched at all.
void require_others_untouched(const View& now,
                              const RoutingTables& after,
                              const View& before,
                              const RoutingTables& tables) {
  for (const SwitchIdx start : now.fabric.switch_node.indices()) {
    const auto node = before.fabric.find_node(now.fabric.node_guid[now.fabric.switch_node[start]]);
    for (std::size_t value = 1; value < before.lids.owner.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const PortIdx owner = before.lids.owner_of(lid);
      if (owner == kNone<PortIdx> || now.lids.owner_of(lid) == kNone<PortIdx>) continue;
      bool met = false;
      follow(before.fabric,
             tables.orientation,
             owner,
             before.fabric.switch_of[*node],
             [&](SwitchIdx sw) {
               const PortNum port = tables.lft.route(sw, lid);
               met = met || !is_as_it_was(now, after, before, tables, sw, port);
               return port;
             });
      if (!met)
        RC_ASSERT((after.lft.route(start, lid) == entry_before(now, before, tables, start, value)));
    }
  }
}

ChangingFabric draw() {
  const int switches = pick(1, 14);
  return {switches, pick(0, 2 * switches), pick(0, 14), static_cast<unsigned>(pick(0, 1))};
}

RC_GTEST_PROP(Keep, WhateverChangesTheRoutesStayLegalAndComplete, ()) {
  ChangingFabric network = draw();
  View before = network.view();
  RoutingTables tables = compute_updn(before, nullptr, nullptr);
  for (int step = 0; step < 5; ++step) {
    network.change(pick(1, 4));
    View now = network.view();
    RoutingTables after = compute_updn(now, &before, &tables);
    require_legal(now, after);
    RC_ASSERT(compute_updn(now, &before, &tables).lft == after.lft);
    before = std::move(now);
    tables = std::move(after);
  }
}

RC_GTEST_PROP(Keep, AfterALossNoEntryChangesThatCouldStay, ()) {
  ChangingFabric network = draw();
  View before = network.view();
  RoutingTables tables = compute_updn(before, nullptr, nullptr);
  bool turned = false;
  const bool shorten_detours = pick(0, 1) == 1;
  for (int step = 0; step < 4; ++step) {
    network.lose(pick(1, 2));
    View now = network.view();
    RoutingTables after = compute_updn(now, &before, &tables, shorten_detours);
    turned = turned || !after.altered.empty();
    require_legal(now, after);
    require_nothing_needless(now, after, before, tables, shorten_detours);
    require_others_untouched(now, after, before, tables);
    before = std::move(now);
    tables = std::move(after);
  }
  RC_TAG(turned ? "orientation altered" : "orientation kept");
}

RC_GTEST_PROP(Keep, NothingChangesWhenNothingDoes, ()) {
  ChangingFabric network = draw();
  const View before = network.view();
  const RoutingTables tables = compute_updn(before, nullptr, nullptr);
  const RoutingTables again = compute_updn(before, &before, &tables);
  RC_ASSERT(again.lft == tables.lft);
  RC_ASSERT(again.orientation == tables.orientation);
}

RC_GTEST_PROP(Keep, NodesThatComeBackFindTheirEntries, ()) {
  // A reboot: everybody else keeps the entries towards whoever was away.
  ChangingFabric network = draw();
  const View before = network.view();
  const RoutingTables tables = compute_updn(before, nullptr, nullptr);
  ChangingFabric without = network;
  without.lose_node();
  const View away = without.view();
  const RoutingTables meanwhile = compute_updn(away, &before, &tables);
  const RoutingTables back = compute_updn(before, &away, &meanwhile);
  require_legal(before, back);
  for (std::size_t lid = 1; lid < meanwhile.lft.blocks() * kLftBlockSize; ++lid) {
    if (away.lids.owner_of(Lid(std::uint16_t(lid))) != kNone<PortIdx>) continue;
    for (const SwitchIdx sw : away.fabric.switch_node.indices()) {
      const PortNum then = entry_before(away, before, tables, sw, lid);
      if (meanwhile.altered.empty())
        RC_ASSERT((meanwhile.lft.route(sw, Lid(std::uint16_t(lid))) == then));
    }
  }
}

RC_GTEST_PROP(Keep, RoutesOfOtherEnginesAreNotKept, ()) {
  ChangingFabric network = draw();
  const View v = network.view();
  const RoutingTables own = compute_updn(v, nullptr, nullptr);
  const RoutingTables foreign = find_engine("minhop")->compute(v.fabric, v.lids, {}).value();
  const PreviousRoutes in_force{&v.fabric, &v.lids, &foreign};
  RC_ASSERT((find_engine("updn")->compute(v.fabric, v.lids, {.in_force = &in_force}).value().lft ==
             own.lft));
}

}  // namespace update_property_test
}  // namespace smd::test
