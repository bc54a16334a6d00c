// tests/golden/<topology>/fabric.txt, in the notation of tests/support, routed by updn, against
// lft.txt. SMD_UPDATE_GOLDEN=1 rewrites the latter; read the difference before committing it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "smd/routing/check.h"
#include "tests/unit/routing/paths.h"

namespace smd::test {
namespace {

std::string read_file(const std::string& name) {
  std::ifstream in{name};
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string print_tables(const Fabric& f, const LidMap& lids, const ForwardingTables& tables) {
  std::string text;
  for (const SwitchIdx sw : f.switch_node.indices()) {
    const NodeIdx node = f.switch_node[sw];
    text += fmt::format("Unicast lids [0x1-0x{:x}] of switch {} ({}):\n",
                        lids.top.value(),
                        f.node_guid[node],
                        f.description[node]);
    for (unsigned lid = 1; lid <= lids.top.value(); ++lid) {
      if (lids.owner[lid] == kNone<PortIdx>) continue;
      const PortNum port = tables.route(sw, Lid{static_cast<std::uint16_t>(lid)});
      text += fmt::format(
          "0x{:04x} {:03} : {}\n", lid, port.value(), f.description[f.node_of[lids.owner[lid]]]);
    }
  }
  return text;
}

class GoldenLft : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenLft, Matches) {
  const std::string folder = fmt::format("{}/tests/golden/{}/", SMD_SOURCE_DIR, GetParam());
  const Fabric f = fabric_from(read_file(folder + "fabric.txt"));
  const LidMap lids = lids_in_order(f);
  const RoutingTables tables = compute("updn", f, lids);
  ASSERT_TRUE(check_routes(f, lids, tables.lft).ok());
  const std::string text = print_tables(f, lids, tables.lft);
  if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) std::ofstream{folder + "lft.txt"} << text;
  EXPECT_EQ(text, read_file(folder + "lft.txt"));
}

INSTANTIATE_TEST_SUITE_P(All,
                         GoldenLft,
                         ::testing::Values("fig76", "ring4", "tree"),
                         [](const auto& row) { return std::string{row.param}; });

}  // namespace
}  // namespace smd::test
