// One partition file, one fabric: the P_Key tables that Debian's smpquery reads after smd are those
// that it reads after OpenSM. Index by index where the files leave no choice; else the keys and
// what stands first: OpenSM hands out indices in an order of its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/cross/read_back.h"
#include "tests/cross/smd_on_ibsim.h"

namespace smd::test {
namespace partitions_test {

/// What a port has, as smpquery prints it.
struct PortTable {
  std::string first;
  std::set<std::string> keys;

  friend bool operator==(const PortTable&, const PortTable&) = default;

  friend void PrintTo(const PortTable& table, std::ostream* out) {
    *out << table.first << " of " << testing::PrintToString(table.keys);
  }
};

using Tables = std::map<std::string, PortTable>;

PortTable read_table(const Stage& stage, std::vector<std::string> place) {
  std::vector<std::string> argv{"smpquery", "pkeys"};
  argv.insert(argv.end(), place.begin(), place.end());
  PortTable table;
  std::istringstream words(stage.tool(std::move(argv)).out);
  for (std::string word; words >> word;) {
    if (!word.starts_with("0x")) continue;
    if (table.first.empty()) table.first = word;
    if (word != "0x0000") table.keys.insert(word);
  }
  return table;
}

/// Of every end port, and of the switch ports before hosts.
Tables read_tables(const Stage& stage) {
  const ReadBack seen = read_back(stage);
  const Fabric& fabric = *seen.fabric;
  Tables tables;
  for (const PortIdx port : fabric.peer.indices()) {
    if (!fabric.is_end_port(port)) continue;
    const std::string name = fmt::format("{}", fabric.port_guid[port]);
    const std::string lid = fmt::format("{}", seen.lids.base[port].value());
    if (fabric.is_switch(fabric.node_of[port])) {
      tables[name] = read_table(stage, {lid, "0"});
      continue;
    }
    tables[name] = read_table(stage, {lid});
    const PortIdx leaf = fabric.peer[port];
    const NodeIdx sw = fabric.node_of[leaf];
    const Lid sw_lid = seen.lids.base[fabric.port_of(sw, PortNum{0})];
    PortTable at_switch = read_table(
        stage,
        {fmt::format("{}", sw_lid.value()), fmt::format("{}", fabric.number_of(leaf).value())});
    at_switch.first.clear();  // OpenSM mirrors indx0, smd keeps the default first
    tables[name + " at its switch"] = std::move(at_switch);
  }
  return tables;
}

struct Rules {
  const char* name;
  const char* text;  // H0 … H3 stand for GUIDs of ports of adapters
};

const Rules kRules[] = {
    {"members",
     "Storage=0x80 : H1=full, H2=limited, H3 ;\n"
     "Everybody = 0x8300 : ALL ;  # bit 15 does not count\n"
     "Switches=0x44,defmember=full: ALL_SWITCHES; Hosts=69:ALL_CAS=full;\n"
     "Wide=0x50,ipoib,rate=3,mtu=4,scope=2,scope=5:\n"
     "  mgid=ff12:601b::16,sl=0\n"
     "  H1 = full,\n  H0;\n"},
    {"index0", "Here=0x99,indx0: H1=full, H2; Default=0x7fff,ipoib: ALL=full, SELF=full;\n"},
    {"nothing", "# nothing yet\n"},
    {"later", "A=0x10: ALL=full; A=0x10: H1=limited; B=0x10: H2; Default: H3=full;\n"},
};

class SamePartitions : public testing::TestWithParam<std::tuple<Server, Rules>> {
 protected:
  [[nodiscard]] static Server server() { return std::get<0>(GetParam()); }

  /// The rules with the GUIDs of this fabric.
  [[nodiscard]] std::string write_rules(const Stage& stage) const {
    std::string text = std::get<1>(GetParam()).text;
    unsigned number = 0;
    for (const sim::NodeSpec& node : stage.spec().nodes) {
      if (node.type != NodeType::Ca || number > 3) continue;
      const std::string word = fmt::format("H{}", number++);
      for (std::size_t at; (at = text.find(word)) != std::string::npos;)
        text.replace(at, word.size(), fmt::format("0x{:x}", node.ports[1].guid.value()));
    }
    const std::string file = scratch_.path() / "partitions.conf";
    std::ofstream(file) << text;
    return file;
  }

  Scratch scratch_;
};

constexpr const char* kFabric = "fat-tree:k=4,levels=2,hosts=6";

TEST_P(SamePartitions, AreTheTablesThatOpensmWrites) {
  Tables ours;
  Tables theirs;
  {
    const Stage stage(server(), kFabric, scratch_.path());
    ASSERT_TRUE(stage.ready());
    const std::string config = write_config(
        scratch_.path(), "interval_s = 0\n[partitions]\nfile = \"" + write_rules(stage) + "\"\n");
    const Finished run = run_process(
        {.argv = {smd_path(), "run", "--once", "-c", config}, .env = stage.env(0)}, seconds(60));
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    ours = read_tables(stage);
  }
  {
    const Stage stage(server(), kFabric, scratch_.path());
    ASSERT_TRUE(stage.ready());
    const OpensmWithPlugin opensm(
        stage, {.engines = "minhop", .config = {"partition_config_file " + write_rules(stage)}});
    ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
    theirs = read_tables(stage);
  }
  EXPECT_GT(ours.size(), 12u);
  EXPECT_EQ(ours, theirs);
}

INSTANTIATE_TEST_SUITE_P(On,
                         SamePartitions,
                         testing::Combine(testing::Values(Server::Ibsim, Server::Smsim),
                                          testing::ValuesIn(kRules)),
                         [](const auto& each) {
                           const bool ibsim = std::get<0>(each.param) == Server::Ibsim;
                           return std::string(ibsim ? "ibsim_" : "smsim_") +
                                  std::get<1>(each.param).name;
                         });

}  // namespace partitions_test
}  // namespace smd::test
