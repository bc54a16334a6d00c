#include "plugins/opensm/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "plugins/opensm/shared_routes.h"
#include "tests/support/fabric_text.h"

namespace smd::opensm {
namespace {

using test::end_port;
using test::fabric_from_shared;
using test::lids_in_order;
using test::switch_named;
using testing::Each;

// H1 - S1 - S2 - H2, and two adapters that are cabled to each other alone.
Routes two_switches() {
  const auto fabric = fabric_from_shared("S1-S2 S1-H1 S2-H2 H3-H4");
  return {.fabric = fabric,
          .lids = lids_in_order(*fabric),
          .tables = {.lft = {fabric->switch_count(), lids_in_order(*fabric).top}}};
}

Lid lid_of(const Routes& routes, std::string_view node) {
  return routes.lids.base[end_port(*routes.fabric, node)];
}

TEST(PathSl, IsTheHintWhereRoutesDoNotCare) {
  const Routes routes = two_switches();
  EXPECT_EQ(find_path_sl(routes, lid_of(routes, "H1"), lid_of(routes, "H2"), 5), 5);
}

TEST(PathSl, IsThatOfTheFirstSwitchOnThePath) {
  Routes routes = two_switches();
  const SwitchIdx s1 = switch_named(*routes.fabric, "S1"), s2 = switch_named(*routes.fabric, "S2");
  const Lid h1 = lid_of(routes, "H1"), h2 = lid_of(routes, "H2");
  routes.tables.path_sls = {routes.fabric->switch_count(), routes.lids.top};
  routes.tables.path_sls.set_sl(s1, h2, 3);
  routes.tables.path_sls.set_sl(s2, h1, 7);
  EXPECT_EQ(find_path_sl(routes, h1, h2, 5), 3);
  EXPECT_EQ(find_path_sl(routes, h2, h1, 5), 7);
  EXPECT_EQ(find_path_sl(routes, lid_of(routes, "S1"), h2, 5), 3) << "a switch sends by itself";
}

TEST(PathSl, IsTheHintForLidsThatNobodyRoutes) {
  Routes routes = two_switches();
  routes.tables.path_sls = {routes.fabric->switch_count(), routes.lids.top};
  const Lid h1 = lid_of(routes, "H1"), h2 = lid_of(routes, "H2");
  EXPECT_EQ(find_path_sl(routes, Lid{0}, h2, 5), 5);
  EXPECT_EQ(find_path_sl(routes, Lid{999}, h2, 5), 5);
  EXPECT_EQ(find_path_sl(routes, h1, Lid{999}, 5), 5);
  EXPECT_EQ(find_path_sl(routes, h1, Lid{0xffff}, 5), 5);
  EXPECT_EQ(find_path_sl(routes, lid_of(routes, "H3"), h2, 5), 5) << "there is no switch";
  EXPECT_EQ(find_path_sl(routes, h1, h2, 5), 0) << "the ones above are told from a routed pair";
}

TEST(Lanes, OneLaneNeedsNoTables) {
  Routes routes = two_switches();
  EXPECT_FALSE(needs_sl_to_vl(routes.tables));
  routes.tables.vls = 2;
  EXPECT_TRUE(needs_sl_to_vl(routes.tables));
  routes.tables.vls = 1;
  routes.tables.sl_to_vl = SlToVlMaps{*routes.fabric};
  routes.tables.sl_to_vl.add_row({});
  EXPECT_TRUE(needs_sl_to_vl(routes.tables)) << "turns may be blocked";
}

TEST(Lanes, WithoutMapsSlsGoRound) {
  Routes routes = two_switches();
  routes.tables.vls = 3;
  const SlToVl row = find_sl_to_vl(routes, SwitchIdx{0}, PortNum{1}, PortNum{2});
  for (unsigned sl = 0; sl < 16; ++sl) EXPECT_EQ(row[sl].value(), sl % 3) << sl;
  EXPECT_EQ(find_entry_sl_to_vl(routes), row);
  routes.tables.vls = 0;
  EXPECT_THAT(find_entry_sl_to_vl(routes), Each(Vl{0}));
}

TEST(Lanes, MapsSpeakForTheirPairOfPorts) {
  Routes routes = two_switches();
  routes.tables.vls = 2;
  routes.tables.sl_to_vl = SlToVlMaps{*routes.fabric};
  SlToVl zeros{}, ones;
  ones.fill(Vl{1});
  routes.tables.sl_to_vl.add_row(zeros);
  const std::uint16_t other = routes.tables.sl_to_vl.add_row(ones);
  const SwitchIdx s2 = switch_named(*routes.fabric, "S2");
  routes.tables.sl_to_vl.set_row(s2, PortNum{1}, PortNum{2}, other);
  EXPECT_EQ(find_sl_to_vl(routes, s2, PortNum{1}, PortNum{2}), ones);
  EXPECT_EQ(find_sl_to_vl(routes, s2, PortNum{2}, PortNum{1}), zeros);
}

// Query threads read while a sweep replaces: everybody sees one set of routes or the other.
TEST(SharedRoutes, AreReplacedWhole) {
  SharedRoutes shared;
  EXPECT_EQ(shared.get(), nullptr);
  const auto with_sl = [](std::uint8_t sl) {
    auto routes = std::make_shared<Routes>(two_switches());
    routes->tables.vls = sl;
    routes->tables.path_sls = {routes->fabric->switch_count(), routes->lids.top};
    routes->tables.path_sls.set_sl(switch_named(*routes->fabric, "S1"), lid_of(*routes, "H2"), sl);
    return std::shared_ptr<const Routes>(routes);
  };
  shared.set(with_sl(1));
  std::thread reader([&] {
    for (int i = 0; i < 2000; ++i) {
      const auto seen = shared.get();
      ASSERT_EQ(find_path_sl(*seen, lid_of(*seen, "H1"), lid_of(*seen, "H2"), 9), seen->tables.vls);
    }
  });
  for (std::uint8_t sl = 2; sl < 12; ++sl) shared.set(with_sl(sl));
  reader.join();
  EXPECT_EQ(shared.get()->tables.vls, 11u);
}

}  // namespace
}  // namespace smd::opensm
