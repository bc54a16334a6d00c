// tests/golden/<topology>/fabric.txt, in the notation of tests/support, routed by updn, against
// lft.txt, and by another engine against lft-<engine>.txt. SMD_UPDATE_GOLDEN=1 rewrites the tables;
// read the difference before committing it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "smd/routing/verify/check_routes.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/unit/routing/support/paths.h"

namespace smd::test {
namespace golden_lft_test {

// With the SLs of paths, where they have some.
std::string print_tables(const Fabric& f, const LidMap& lids, const RoutingTables& routing) {
  std::string text;
  for (const SwitchIdx sw : f.switch_node.indices()) {
    const NodeIdx node = f.switch_node[sw];
    text += fmt::format("Unicast lids [0x1-0x{:x}] of switch {} ({}):\n",
                        lids.top.value(),
                        f.node_guid[node],
                        f.description[node]);
    for (unsigned lid = 1; lid <= lids.top.value(); ++lid) {
      if (lids.owner[lid] == kNone<PortIdx>) continue;
      const Lid to{static_cast<std::uint16_t>(lid)};
      text += fmt::format("0x{:04x} {:03} : {}",
                          lid,
                          routing.lft.route(sw, to).value(),
                          f.description[f.node_of[lids.owner[lid]]]);
      if (!routing.path_sls.empty()) text += fmt::format(", SL {}", routing.path_sls.sl(sw, to));
      text += '\n';
    }
  }
  return text;
}

struct Row {
  const char* topology;
  const char* engine;
};

class GoldenLft : public ::testing::TestWithParam<Row> {};

TEST_P(GoldenLft, Matches) {
  const auto& [topology, engine] = GetParam();
  const std::string folder = test::source_path(fmt::format("tests/golden/{}/", topology));
  const std::string_view name = engine;
  const std::string file =
      folder + (name == "updn" ? std::string{"lft.txt"} : fmt::format("lft-{}.txt", name));
  Fabric f = fabric_from(read_text(folder + "fabric.txt"));
  for (const PortIdx port : f.peer.indices()) f.port_info[port].vl_cap = 4;
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute(name, f, lids, {.max_vls = 8});
  ASSERT_TRUE(check_routes(f, lids, tables).ok());
  const std::string text = print_tables(f, lids, tables);
  if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) std::ofstream{file} << text;
  EXPECT_EQ(text, read_text(file));
}

INSTANTIATE_TEST_SUITE_P(All,
                         GoldenLft,
                         ::testing::Values(Row{"fig76", "updn"},
                                           Row{"ring4", "updn"},
                                           Row{"tree", "updn"},
                                           Row{"tree", "ftree"},
                                           Row{"fig76", "lash"},
                                           Row{"ring5", "lash"}),
                         [](const auto& row) {
                           return std::string{row.param.topology} + "_" + row.param.engine;
                         });

}  // namespace golden_lft_test
}  // namespace smd::test
