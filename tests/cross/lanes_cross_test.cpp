// Routes that change lanes on the way, written by smd itself: what Debian's tools read back from
// the switches is free of credit loops, and would not be without the lanes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/routing/engine.h"
#include "smd/routing/sl_to_vl.h"
#include "smd/routing/verify/check_routes.h"
#include "tests/cross/read_back.h"
#include "tests/cross/smd_on_ibsim.h"

namespace smd::test {
namespace {

using testing::IsEmpty;

SlToVlMaps read_all_lanes(const Stage& stage, const ReadBack& seen) {
  const Fabric& fabric = *seen.fabric;
  SlToVlMaps lanes{fabric};
  lanes.add_row(SlToVl{});
  for (const SwitchIdx sw : fabric.switch_node.indices()) {
    const NodeIdx node = fabric.switch_node[sw];
    const Lid lid = seen.lids.base[fabric.port_of(node, PortNum{0})];
    for (unsigned port = 1; port <= fabric.num_ports(node); ++port) {
      const PortNum out{static_cast<std::uint8_t>(port)};
      if (fabric.peer[fabric.port_of(node, out)] == kNone<PortIdx>) continue;
      const std::vector<SlToVl> rows = read_lanes(stage, lid, out);
      EXPECT_EQ(rows.size(), fabric.num_ports(node) + 1u);
      for (std::size_t in = 0; in < rows.size(); ++in)
        lanes.set_row(sw, PortNum{static_cast<std::uint8_t>(in)}, out, lanes.add_row(rows[in]));
    }
  }
  return lanes;
}

class SmdLanes : public testing::TestWithParam<Server> {};

TEST_P(SmdLanes, OfATorusKeepItFreeOfCreditLoops) {
  const Scratch scratch;
  Stage stage(GetParam(), "torus:dims=5.3", scratch.path());
  ASSERT_TRUE(stage.ready());
  const std::string config = write_config(scratch.path());
  const Finished run = run_process(
      {.argv = {smd_path(), "run", "--once", "-c", config, "--engine", "dor"}, .env = stage.env(0)},
      std::chrono::seconds(60));
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;

  const ReadBack seen = read_back(stage);
  EXPECT_THAT(seen.broken, IsEmpty());
  const auto computed = find_engine("dor")->compute(*seen.fabric, seen.lids, {.max_vls = 2});
  ASSERT_TRUE(computed) << computed.error().context;
  RoutingTables tables = *computed;  // of it, the SLs of paths
  tables.lft = seen.lft;
  tables.sl_to_vl = read_all_lanes(stage, seen);
  const RouteReport report = check_routes(*seen.fabric, seen.lids, tables);
  EXPECT_TRUE(report.ok()) << testing::PrintToString(report.first_faults)
                           << print_cycle(*seen.fabric, report.cycle);
  EXPECT_GT(report.pairs, 0u);

  tables.sl_to_vl = {};
  tables.path_sls = {};
  tables.vls = 1;
  EXPECT_FALSE(check_routes(*seen.fabric, seen.lids, tables).acyclic);
}

INSTANTIATE_TEST_SUITE_P(Servers,
                         SmdLanes,
                         testing::Values(Server::Ibsim, Server::Smsim),
                         [](const auto& each) {
                           return each.param == Server::Ibsim ? "ibsim" : "smsim";
                         });

}  // namespace
}  // namespace smd::test
