// Every registered engine on random and on regular fabrics, whole and damaged: right, or refused
// with a reason; the same after a change as from scratch. 400 of each kind for every engine.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "smd/routing/verify/check_routes.h"
#include "tests/unit/routing/support/changing_fabric.h"
#include "tests/unit/routing/support/paths.h"
#include "tests/unit/routing/support/random_fabric.h"
#include "tests/unit/routing/support/reshaped.h"

namespace smd::test {
namespace all_engines_property_test {

constexpr int kFabricsPerCase = 4;  // of each kind; 100 cases

struct View {
  Fabric fabric;
  LidMap lids;
};

class AllEngines : public ::testing::TestWithParam<std::string_view> {
 protected:
  // Nothing where the engine refuses.
  static std::optional<RoutingTables> route(const View& view,
                                            const PreviousRoutes* in_force = nullptr) {
    const std::string_view engine = GetParam();
    RoutingRequest request{.in_force = in_force, .max_vls = 8};
    if (in_force != nullptr) request.previous = &in_force->routing->orientation;
    auto tables = find_engine(engine)->compute(view.fabric, view.lids, request);
    if (!tables) {
      RC_ASSERT(tables.error().code == Errc::Unsupported);
      RC_ASSERT(!tables.error().context.empty());
      return std::nullopt;
    }
    RC_ASSERT(tables->vls <= 8u);
    const RouteReport report = check_routes(view.fabric, view.lids, *tables);
    RC_ASSERT(report.unreachable == 0u);
    RC_ASSERT(report.loops == 0u);
    // The one that promises nothing about rings.
    if (engine != "minhop" && !report.acyclic) RC_FAIL(print_cycle(view.fabric, report.cycle));
    return std::move(*tables);
  }

  static void route_before_and_after(const View& before, const View& after) {
    const auto tables = route(before);
    route(after);
    if (!tables) return;
    const PreviousRoutes in_force{&before.fabric, &before.lids, &*tables};
    const auto kept = route(after, &in_force);
    if (!kept) return;
    const PreviousRoutes then{&after.fabric, &after.lids, &*kept};
    route(before, &then);
  }
};

void connect(Fabric& fabric, PortIdx a, PortIdx b) {
  fabric.peer[a] = b;
  fabric.peer[b] = a;
}

// Cables go, or two of them are plugged in crosswise.
void damage(Fabric& fabric) {
  std::vector<PortIdx> cables;
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.peer[port] != kNone<PortIdx> && fabric.is_switch(fabric.node_of[port]))
      cables.push_back(port);
  }
  for (int count = cables.empty() ? 0 : pick(1, 3); count > 0; --count) {
    const PortIdx port =
        cables[static_cast<std::size_t>(pick(0, static_cast<int>(cables.size()) - 1))];
    const PortIdx far = fabric.peer[port];
    const PortIdx other =
        cables[static_cast<std::size_t>(pick(0, static_cast<int>(cables.size()) - 1))];
    const PortIdx far_of_other = fabric.peer[other];
    if (far == kNone<PortIdx>) continue;
    if (pick(0, 3) != 0 || far_of_other == kNone<PortIdx>) {
      fabric.peer[far] = kNone<PortIdx>;
      fabric.peer[port] = kNone<PortIdx>;
    } else if (far != other && port != other) {
      connect(fabric, port, far_of_other);
      connect(fabric, other, far);
    }
  }
}

std::string regular_fabric() {
  const auto one_of = [](std::vector<std::string> calls) {
    return calls[static_cast<std::size_t>(pick(0, static_cast<int>(calls.size()) - 1))];
  };
  return one_of({"fat-tree:k=4",
                 "fat-tree:k=4,levels=3",
                 "torus:dims=5,hosts=1",
                 "torus:dims=3.4,hosts=1",
                 "torus:dims=5.5,hosts=1",
                 "torus:dims=3.3.3,hosts=1",
                 "torus:dims=4.4,hosts=1,mesh=1",
                 "torus:dims=3.3.2,hosts=1,mesh=1",
                 "hamming:dims=4.3,hosts=1",
                 "hamming:dims=5,hosts=2",
                 "dragonfly:a=4,h=1,c=1",
                 "dragonfly:a=3,h=1,c=2",
                 "irregular:switches=12,links=3,hosts=1,seed=" + std::to_string(pick(1, 50))});
}

TEST_P(AllEngines, AreRightOnRandomFabricsOrRefuseThem) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < kFabricsPerCase; ++i) {
      const Fabric whole = fabric_from(*random_fabric_text());
      Fabric damaged = whole;
      damage(damaged);
      const auto lmc = static_cast<std::uint8_t>(pick(0, 1));
      const LidMap lids = lids_in_order(whole, lmc);
      route_before_and_after({whole, lids}, {damaged, lids});
    }
  }));
}

TEST_P(AllEngines, AreRightOnRegularFabricsThatAreDamagedOrRefuseThem) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < kFabricsPerCase; ++i) {
      const Fabric whole = Reshaped{regular_fabric()}.build();
      Fabric damaged = whole;
      damage(damaged);
      const LidMap lids = lids_in_order(whole);
      route_before_and_after({whole, lids}, {damaged, lids});
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Each,
                         AllEngines,
                         ::testing::ValuesIn(engine_names()),
                         [](const auto& row) {
                           std::string name{row.param};
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace all_engines_property_test
}  // namespace smd::test
