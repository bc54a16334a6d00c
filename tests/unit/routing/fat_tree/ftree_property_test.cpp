// ftree on random fabrics: right or refused, and after a change what it would be from scratch.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "smd/routing/engine.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/routing/support/changing_fabric.h"
#include "tests/unit/routing/support/random_fabric.h"

namespace smd::test {
namespace {

/// Two to four levels, cables between neighbouring ones as they come, parallel ones too; hosts at
/// the leaves, now and then one above, now and then a cable within a level.
std::string draw_ragged_tree() {
  const int levels = pick(2, 4);
  std::vector<std::vector<std::string>> names;
  int next = 1;
  std::string text;
  for (int level = 0; level < levels; ++level) {
    names.emplace_back();
    for (int n = pick(1, 5); n > 0; --n) {
      names.back().push_back("S" + std::to_string(next++));
      text += names.back().back() + "/1 ";
    }
  }
  const auto any = [&](int level) -> const std::string& {
    const auto& all = names[static_cast<std::size_t>(level)];
    return all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))];
  };
  for (int level = 1; level < levels; ++level) {
    for (int links = pick(2, 14); links > 0; --links)
      text += any(level - 1) + "-" + any(level) + " ";
  }
  int host = 1;
  for (int n = pick(0, 12); n > 0; --n) text += any(0) + "-H" + std::to_string(host++) + " ";
  if (pick(0, 3) == 0) text += any(levels - 1) + "-H" + std::to_string(host++) + " ";
  if (pick(0, 5) == 0) text += any(0) + "-" + any(0) + " ";
  return text;
}

void require_right_or_refused(const Fabric& fabric, const LidMap& lids) {
  const auto tables = find_engine("ftree")->compute(fabric, lids, {});
  RC_TAG(tables ? "routed" : "refused");
  if (!tables) {
    RC_ASSERT(tables.error().code == Errc::Unsupported);
    RC_ASSERT(!tables.error().context.empty());
    return;
  }
  const RouteReport report = check_routes(fabric, lids, *tables);
  RC_ASSERT(report.first_faults == std::vector<std::string>{});
  RC_ASSERT(report.ok());
}

RC_GTEST_PROP(Ftree, AnyFabricIsRoutedOrRefused, ()) {
  const Fabric fabric = fabric_from(*random_fabric_text());
  require_right_or_refused(fabric, lids_in_order(fabric, static_cast<std::uint8_t>(pick(0, 2))));
}

// What goes wrong does so once in some thousand trees.
constexpr int kTreesPerCase = 20;

RC_GTEST_PROP(Ftree, RaggedTreesAreRouted, ()) {
  for (int tree = 0; tree < kTreesPerCase; ++tree) {
    const Fabric fabric = fabric_from(draw_ragged_tree());
    require_right_or_refused(fabric, lids_in_order(fabric, static_cast<std::uint8_t>(pick(0, 2))));
  }
}

void follow_changes() {
  const int switches = pick(1, 10);
  ChangingFabric network{
      switches, pick(0, switches), pick(0, 14), static_cast<unsigned>(pick(0, 1))};
  ChangingFabric::View before = network.view();
  auto tables = find_engine("ftree")->compute(before.fabric, before.lids, {});
  for (int step = 0; step < 5; ++step) {
    network.change(pick(1, 3));
    ChangingFabric::View now = network.view();
    const auto scratch = find_engine("ftree")->compute(now.fabric, now.lids, {});
    if (!scratch || !tables) {
      tables = scratch;
      before = std::move(now);
      continue;
    }
    const PreviousRoutes in_force{&before.fabric, &before.lids, &*tables};
    auto after = find_engine("ftree")->compute(
        now.fabric, now.lids, {.previous = &tables->orientation, .in_force = &in_force});
    RC_ASSERT(after.has_value());
    RC_TAG(after->recomputed ? "kept" : "anew");
    RC_ASSERT(after->orientation == scratch->orientation);
    for (unsigned lid = 1; lid <= now.lids.top.value(); ++lid) {
      const Lid each{static_cast<std::uint16_t>(lid)};
      if (now.lids.owner_of(each) == kNone<PortIdx>) continue;
      for (const SwitchIdx sw : now.fabric.switch_node.indices())
        RC_ASSERT((after->lft.route(sw, each) == scratch->lft.route(sw, each)));
    }
    RC_ASSERT(check_routes(now.fabric, now.lids, *after).ok());
    before = std::move(now);
    tables = std::move(after);
  }
}

RC_GTEST_PROP(Ftree, WhateverChangesTheRoutesAreThoseFromScratch, ()) {
  for (int tree = 0; tree < kTreesPerCase; ++tree) follow_changes();
}

}  // namespace
}  // namespace smd::test
