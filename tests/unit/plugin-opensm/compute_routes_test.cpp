#include "plugins/opensm/compute_routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/snapshot.h"
#include "smd/routing/verify/channel_load.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/support/fabric_text.h"
#include "tests/support/files.h"
#include "tests/support/ndr_582.h"
#include "tests/support/paths.h"

namespace smd::opensm {
namespace {

using test::fabric_from_shared;
using test::lids_in_order;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

constexpr const char* kTree = "S1-S3 S1-S4 S2-S3 S2-S4 S3-H1 S3-H2 S4-H3 S4-H4";
constexpr const char* kRing = "S1-S2 S2-S3 S3-S4 S4-S5 S5-S1 S1-H1 S2-H2 S3-H3 S4-H4 S5-H5";

SweepRequest sweep_of(std::string_view text) {
  auto fabric = fabric_from_shared(text);
  LidMap lids = lids_in_order(*fabric);
  return {.fabric = std::move(fabric), .lids = std::move(lids)};
}

/// Answers as a test wants it, and remembers what it was asked.
class Scripted final : public Engine {
 public:
  explicit Scripted(std::string_view makes) : makes_(find_engine(makes)) {}

  std::string_view name() const override { return "scripted"; }

  std::string_view contract() const override { return "For tests."; }

  Result<RoutingTables> compute_new(const Fabric& fabric,
                                    const LidMap& lids,
                                    const RoutingRequest& request) const override {
    asked.push_back(request);
    if (refuses_routes_in_force && request.in_force != nullptr)
      return fail(Errc::Unsupported, "not near these");
    RoutingRequest plain = request;
    plain.in_force = nullptr;
    auto tables = makes_->compute(fabric, lids, plain);
    if (!tables) return tables;
    tables->engine = name();
    tables->vls = vls;
    if (discards) {
      tables->path_sls = PathSls{fabric.switch_count(), lids.top};
      tables->sl_to_vl = SlToVlMaps{fabric};
      SlToVl row;
      row.fill(kManagementVl);
      row[0] = Vl{0};
      tables->sl_to_vl.add_row(row);
    }
    if (breaks_tables) tables->lft.set_route(SwitchIdx{0}, lids.top, kNoRoute);
    return tables;
  }

  mutable std::vector<RoutingRequest> asked;
  unsigned vls = 1;
  bool discards = false;  // SLs other than 0, which all paths have
  bool refuses_routes_in_force = false;
  bool breaks_tables = false;

 private:
  const Engine* makes_;
};

std::string refusal(const Engine& engine, const SweepRequest& request) {
  const auto routes = compute_routes(engine, request);
  return routes ? "accepted" : routes.error().context;
}

TEST(ComputeRoutes, HandsOutTheTablesOfTheEngine) {
  const SweepRequest request = sweep_of(kTree);
  const auto routes = compute_routes(*find_engine("updn"), request);
  ASSERT_TRUE(routes) << routes.error().context;
  const auto direct = find_engine("updn")->compute(*request.fabric, request.lids, {.max_vls = 15});
  EXPECT_EQ((*routes)->tables.lft, direct->lft);
  EXPECT_EQ((*routes)->fabric, request.fabric);
  EXPECT_EQ((*routes)->lids, request.lids);
}

// Every switch of it has an aggregation node.
TEST(ComputeRoutes, RoutesARealClusterAsTheEngineDoes) {
  SweepRequest request{.fabric = sim::build_snapshot(test::ndr_582()), .lids = {}};
  request.lids = lids_in_order(*request.fabric);
  for (const char* const engine : {"updn", "ftree", "dfsssp"}) {
    const auto routes = compute_routes(*find_engine(engine), request);
    ASSERT_TRUE(routes) << engine << ": " << routes.error().context;
    const LoadReport load = measure_load(*request.fabric, request.lids, (*routes)->tables.lft);
    // Paths between 542 hosts, over 1,064 channels between leaves and spines.
    EXPECT_NEAR(load.mean, 534.3, 0.1) << engine;
    const auto direct = find_engine(engine)->compute(*request.fabric, request.lids, {.max_vls = 8});
    EXPECT_EQ((*routes)->tables.lft, direct->lft) << engine;
  }
}

TEST(ComputeRoutes, PassesTheOptionsOn) {
  const Scripted engine("updn");
  SweepRequest request = sweep_of(kTree);
  request.options = {.roots = {Guid{0x1002}},
                     .vls = 3,
                     .seed = 9,
                     .orientation_search = OrientationSearch::DepthFirst,
                     .lane_cut = VlChangeRule::MinimalCycles,
                     .gateways = GatewayChoice::Uniform,
                     .rebalance = true,
                     .shorten_detours = true};
  ASSERT_TRUE(compute_routes(engine, request));
  const RoutingRequest& asked = engine.asked.at(0);
  EXPECT_EQ(asked.options.roots, request.options.roots);
  EXPECT_EQ(asked.seed, 9u);
  EXPECT_EQ(asked.options.orientation_search, OrientationSearch::DepthFirst);
  EXPECT_EQ(asked.options.lane_cut, VlChangeRule::MinimalCycles);
  EXPECT_EQ(asked.options.gateways, GatewayChoice::Uniform);
  EXPECT_TRUE(asked.options.shorten_detours);
  EXPECT_TRUE(asked.rebalance);
  EXPECT_EQ(asked.in_force, nullptr);
}

// The fewest of: what the links have, what OpenSM lets ports use, what the operator allows; and one
// where OpenSM writes no SL-to-VL tables.
TEST(ComputeRoutes, AllowsAsManyLanesAsWillWork) {
  const Scripted engine("updn");
  const auto allowed = [&](SweepRequest request) {
    engine.asked.clear();
    (void)compute_routes(engine, request);
    return engine.asked.at(0).max_vls;
  };
  SweepRequest request = sweep_of(kTree);
  const unsigned common = count_common_vls(*request.fabric);
  EXPECT_EQ(allowed(request), common);
  request.usable_vls = 0;
  EXPECT_EQ(allowed(request), 1u) << "a code that means nothing";

  auto wide = std::make_shared<Fabric>(*request.fabric);
  for (PortInfo& info : wide->port_info) info.vl_cap = 4;
  request.fabric = wide;
  request.usable_vls = 15;
  EXPECT_EQ(allowed(request), 8u) << "of the links";
  request.usable_vls = 4;
  EXPECT_EQ(allowed(request), 4u) << "max_op_vls";
  request.options.vls = 2;
  EXPECT_EQ(allowed(request), 2u) << "vls=2";
  request.options.vls = 9;
  EXPECT_EQ(allowed(request), 4u) << "vls=9";
  request.writes_sl_to_vl = false;
  EXPECT_EQ(allowed(request), 1u) << "qos FALSE";
}

TEST(ComputeRoutes, RefusesWhatNeedsMoreLanes) {
  Scripted engine("updn");
  engine.vls = 4;
  SweepRequest request = sweep_of(kTree);
  auto wide = std::make_shared<Fabric>(*request.fabric);
  for (PortInfo& info : wide->port_info) info.vl_cap = 4;
  request.fabric = wide;
  EXPECT_EQ(refusal(engine, request), "accepted");
  request.usable_vls = 2;
  EXPECT_THAT(refusal(engine, request), HasSubstr("need 4 VLs"));
  request.usable_vls = 8;
  request.writes_sl_to_vl = false;
  EXPECT_THAT(refusal(engine, request), HasSubstr("qos TRUE"));
}

TEST(ComputeRoutes, RefusesTablesThatFailTheCheck) {
  EXPECT_THAT(refusal(*find_engine("minhop"), sweep_of(kRing)),
              AllOf(HasSubstr("credit loop"), HasSubstr("VL0")));
  Scripted broken("updn");
  broken.breaks_tables = true;
  EXPECT_THAT(refusal(broken, sweep_of(kTree)), HasSubstr("no route"));
}

SweepRequest sweep_over(const std::string& fabric) {
  SweepRequest request{.fabric = sim::build_snapshot(sim::load_fabric(fabric).value()), .lids = {}};
  request.lids = lids_in_order(*request.fabric);
  return request;
}

/// Turns on which a switch discards any SL.
unsigned count_discarding(const Routes& routes) {
  const Fabric& fabric = *routes.fabric;
  unsigned discarding = 0;
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const unsigned ports = fabric.num_ports(fabric.switch_node[sw]);
    for (unsigned in = 0; in <= ports; ++in) {
      for (unsigned out = 0; out <= ports; ++out) {
        const SlToVl row = find_sl_to_vl(routes,
                                         sw,
                                         PortNum{static_cast<std::uint8_t>(in)},
                                         PortNum{static_cast<std::uint8_t>(out)});
        discarding += std::ranges::count(row, kManagementVl) != 0 ? 1 : 0;
      }
    }
  }
  return discarding;
}

// OpenSM gives no PathRecord for an SL that any switch on the way discards, and its own multicast
// trees take turns that no unicast path takes.
TEST(ComputeRoutes, NoSlIsDiscardedAnywhere) {
  for (const char* const fabric :
       {"torus:dims=5.3", "torus:dims=5.5", "hamming:dims=4.4", "hypercube:dim=4,hosts=1"}) {
    const SweepRequest request = sweep_over(fabric);
    std::vector<std::string_view> made;
    for (const std::string_view name : engine_names()) {
      const auto routes = compute_routes(*find_engine(name), request);
      if (!routes) continue;
      made.push_back(name);
      EXPECT_EQ(count_discarding(**routes), 0u) << fabric << ", " << name;
    }
    EXPECT_THAT(made, IsSupersetOf({"auto", "itb-vl", "updn"})) << fabric;
  }
}

TEST(ComputeRoutes, RefusesTablesThatDiscardAnSl) {
  Scripted engine("updn");
  engine.discards = true;
  EXPECT_THAT(refusal(engine, sweep_of(kTree)), HasSubstr("its SL-to-VL tables discard SLs"));
}

TEST(ComputeRoutes, StaysNearTheRoutesInForce) {
  const Engine& updn = *find_engine("updn");
  SweepRequest request = sweep_of(kRing);
  const auto before = compute_routes(updn, request);
  ASSERT_TRUE(before);
  request.in_force = *before;
  const auto same = compute_routes(updn, request);
  ASSERT_TRUE(same);
  EXPECT_EQ((*same)->tables.lft, (*before)->tables.lft);
  EXPECT_EQ((*same)->tables.orientation, (*before)->tables.orientation);

  const Scripted engine("updn");
  ASSERT_TRUE(compute_routes(engine, request));
  EXPECT_EQ(engine.asked.at(0).in_force, nullptr) << "another engine's routes";
  request.in_force = *compute_routes(engine, request);
  engine.asked.clear();
  ASSERT_TRUE(compute_routes(engine, request));
  EXPECT_NE(engine.asked.at(0).in_force, nullptr);
  request.options.keep = false;
  engine.asked.clear();
  ASSERT_TRUE(compute_routes(engine, request));
  EXPECT_EQ(engine.asked.at(0).in_force, nullptr) << "keep=no";
}

// Candidates cost seconds on large fabrics, and OpenSM's lock is held for as long.
TEST(ComputeRoutes, AutoStaysNearTheRoutesInForce) {
  const Engine& engine = *find_engine("auto");
  SweepRequest request = sweep_over("torus:dims=5.3");
  const auto notes = [&] {
    const auto routes = compute_routes(engine, request);
    if (!routes) return routes.error().context;
    request.in_force = *routes;
    return fmt::format("{}", fmt::join((*routes)->tables.notes, "\n"));
  };
  constexpr const char* kKept = "which made the routes in force";
  EXPECT_THAT(notes(), Not(HasSubstr(kKept)));
  EXPECT_NE(request.in_force->tables.engine, "auto");
  const ForwardingTables before = request.in_force->tables.lft;
  EXPECT_THAT(notes(), HasSubstr(kKept));
  EXPECT_EQ(request.in_force->tables.lft, before);
  EXPECT_THAT(notes(), HasSubstr(kKept)) << "and after that";
  request.options.keep = false;
  EXPECT_THAT(notes(), Not(HasSubstr(kKept))) << "keep=no";
}

TEST(ComputeRoutes, StartsFromScratchWhereStayingNearFails) {
  Scripted engine("updn");
  SweepRequest request = sweep_of(kRing);
  request.in_force = *compute_routes(engine, request);
  engine.asked.clear();
  engine.refuses_routes_in_force = true;
  const auto routes = compute_routes(engine, request);
  ASSERT_TRUE(routes) << routes.error().context;
  ASSERT_EQ(engine.asked.size(), 2u);
  EXPECT_EQ(engine.asked[1].in_force, nullptr);
  EXPECT_EQ(engine.asked[1].previous, nullptr);
}

TEST(ComputeRoutes, ThePageShowsTheEnginesThatThereAre) {
  std::string line = "smd_opensm: engines";
  for (const std::string_view name : engine_names()) line += " smd-" + std::string(name);
  EXPECT_THAT(test::read_text(test::source_path("docs/opensm-plugin.md")), HasSubstr(line + "\n"));
}

TEST(ComputeRoutes, StrictMeansThatHostsMayUseAnySl) {
  SweepRequest request = sweep_of(kTree);
  request.options.any_sl = true;
  std::vector<std::string_view> made;
  for (const std::string_view name : engine_names()) {
    const auto routes = compute_routes(*find_engine(name), request);
    if (!routes) continue;
    made.push_back(name);
    EXPECT_TRUE(
        check_routes(
            *request.fabric, request.lids, (*routes)->tables, {.minimality = false, .any_sl = true})
            .ok())
        << name;
  }
  EXPECT_THAT(made,
              IsSupersetOf({"auto", "dfsssp", "ftree", "itb-vl", "lash", "minhop", "nue", "updn"}));
}

// How often OpenSM swept and found nothing new is no part of what comes of a change.
TEST(ComputeRoutes, PathsBetweenSwitchesDoNotHangOnSweepsWithoutAChange) {
  const auto sweep = [](SweepRequest on, std::shared_ptr<const Routes> in_force) {
    on.in_force = std::move(in_force);
    auto routes = compute_routes(*find_engine("minhop"), on);
    return routes ? *routes : nullptr;
  };
  const SweepRequest whole = sweep_over("fat-tree:k=8,levels=3");
  const auto first = sweep(whole, nullptr);
  ASSERT_NE(first, nullptr);
  const auto later = sweep(whole, sweep(whole, first));
  EXPECT_EQ(later->tables.lft, first->tables.lft);
  std::size_t compared = 0;
  for (const NodeIdx node : whole.fabric->switch_node) {
    auto less = std::make_shared<Fabric>(*whole.fabric);
    for (const PortIdx port : less->external_ports(node)) {
      const PortIdx peer = less->peer[port];
      if (peer == kNone<PortIdx> || !less->is_switch(less->node_of[peer])) continue;
      less->peer.set(port, kNone<PortIdx>);
      less->peer.set(peer, kNone<PortIdx>);
      break;
    }
    SweepRequest hurt = whole;
    hurt.fabric = less;
    const auto seldom = sweep(hurt, first), often = sweep(hurt, later);
    ASSERT_EQ(seldom == nullptr, often == nullptr);
    if (seldom == nullptr) continue;
    ++compared;
    EXPECT_EQ(often->tables.lft, seldom->tables.lft);
  }
  EXPECT_GE(compared, 40u);
}

// On a torus these engines keep paths apart by SLs: a host that takes another closes a circle.
TEST(ComputeRoutes, StrictRefusesWhereTheSlsOfPathsKeepThemFree) {
  SweepRequest request = sweep_over("torus:dims=5.5");
  for (const char* const name : {"dfsssp", "lash"}) {
    const Engine& engine = *find_engine(name);
    request.options.any_sl = false;
    EXPECT_EQ(refusal(engine, request), "accepted") << name;
    request.options.any_sl = true;
    EXPECT_THAT(refusal(engine, request), HasSubstr("credit loop ")) << name;
  }
  EXPECT_EQ(refusal(*find_engine("updn"), request), "accepted") << "one SL is as good as another";
}

}  // namespace
}  // namespace smd::opensm
