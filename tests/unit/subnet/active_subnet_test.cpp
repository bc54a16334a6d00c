// Whoever holds an ActiveSubnet can rely on it.
#include "smd/subnet/active_subnet.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "tests/unit/plan/hand_made.h"

namespace smd {
namespace {

template <class Member>
constexpr bool kFixed = std::is_const_v<std::remove_reference_t<Member>>;

TEST(ActiveSubnet, HasNoMemberThatCanBeChanged) {
  ActiveSubnet subnet;
  auto& [sweep, lids, routing, rows, partitions, multicast_vl, verified] = subnet;
  static_assert(kFixed<decltype(sweep)> && kFixed<decltype(lids)> && kFixed<decltype(routing)> &&
                kFixed<decltype(rows)> && kFixed<decltype(partitions)> &&
                kFixed<decltype(multicast_vl)> && kFixed<decltype(verified)>);
  EXPECT_FALSE(multicast_vl);
  EXPECT_FALSE(verified);
}

TEST(ActiveSubnet, AnotherSnapshotCopiesNoTable) {
  const test::HandMade made = test::loop_of_two();
  RoutingTables routing;
  routing.lft = made.wanted;
  const ActiveSubnet before{
      .sweep = {.fabric = made.fabric}, .lids = made.lids, .routing = std::move(routing)};
  const auto fabric = std::make_shared<const Fabric>(*made.fabric);
  const auto after = with_fabric(before, fabric);
  EXPECT_EQ(&after->fabric(), fabric.get());
  EXPECT_EQ(&before.fabric(), made.fabric.get());
  EXPECT_TRUE(after->has_routes_of(before));
  EXPECT_TRUE(after->sweep.path.is(before.sweep.path));
  EXPECT_TRUE(after->lids.is(before.lids));
  EXPECT_TRUE(after->rows.is(before.rows));
}

TEST(ActiveSubnet, EqualRoutesOfAnotherCycleAreOthers) {
  EXPECT_FALSE(ActiveSubnet{}.has_routes_of(ActiveSubnet{}));
}

}  // namespace
}  // namespace smd
