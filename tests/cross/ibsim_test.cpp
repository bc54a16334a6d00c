// smd brings up fabrics that Debian's ibsim simulates, and Debian's diagnostics say what came of
// it. They sit on another node than smd, and know nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/readings.h"

namespace smd::test {
namespace {

using ::testing::IsEmpty;

struct Net {
  const char* name;
  const char* fabric;  // a generator, or a file
};

constexpr const char* kExamples = "/usr/share/doc/ibsim-utils/net-examples/";

class SmdOnIbsim : public ::testing::TestWithParam<Net> {
 protected:
  void SetUp() override {
    const std::string fabric = GetParam().fabric;
    const auto net =
        net_of(fabric.starts_with("net") ? kExamples + fabric : fabric, scratch_.path());
    ibsim_.emplace(net);
    ASSERT_TRUE(ibsim_->ready()) << ibsim_->complaint();
    host_ = ibsim_->facts().adapter_ids.front();
    outsider_ = ibsim_->facts().switch_ids.back();
    config_ = write_config(scratch_.path());
  }

  Finished ask(std::vector<std::string> argv) { return tool(*ibsim_, outsider_, std::move(argv)); }

  Scratch scratch_;
  std::optional<Ibsim> ibsim_;
  std::string host_;
  std::string outsider_;
  std::filesystem::path config_;
};

std::vector<unsigned> adapter_lids(const SeenFabric& seen) {
  std::vector<unsigned> lids;
  for (const auto& [id, node] : seen.nodes) {
    if (node.is_switch) continue;
    for (const auto& [port, lid] : node.lids) lids.push_back(lid);
  }
  return lids;
}

TEST_P(SmdOnIbsim, ComesUpWithEveryPortActiveAndEveryPairConnected) {
  const OnceRun run = run_once(*ibsim_, host_, config_);
  ASSERT_EQ(run.process.exit_code, 0) << run.process.err << run.process.out;
  ASSERT_TRUE(run.report.is_object()) << run.process.out;
  EXPECT_EQ(run.report.at("up"), true);
  EXPECT_EQ(run.report.at("routes").at("unreachable"), 0);
  EXPECT_EQ(run.report.at("routes").at("loops"), 0);
  EXPECT_EQ(run.report.at("deadlock").at("acyclic"), true);

  const SeenFabric seen = read_ibnetdiscover(ask({"ibnetdiscover"}).out);
  EXPECT_EQ(run.report.at("fabric").at("switches"), ibsim_->facts().switches);
  EXPECT_EQ(seen.nodes.size(), ibsim_->facts().nodes);
  EXPECT_EQ(run.report.at("fabric").at("links"), seen.links.size() / 2);
  const std::map<unsigned, PortKey> lids = seen.lids();
  EXPECT_EQ(lids.count(0), 0U) << "a port without a LID";
  EXPECT_EQ(lids.size(), seen.lid_of_port().size()) << "a LID handed out twice";

  std::size_t linked = 0;
  for (const SeenState& port : read_iblinkinfo(ask({"iblinkinfo", "-l"}).out)) {
    if (port.physical != "LinkUp") continue;
    linked += 1;
    EXPECT_EQ(port.logical, "Active") << port.port;
  }
  EXPECT_EQ(linked, seen.links.size());

  const SeenTables tables = read_dump_fts(ask({"dump_fts", "-n"}).out);
  EXPECT_EQ(tables.size(), ibsim_->facts().switches);
  EXPECT_THAT(find_broken_routes(seen, tables), IsEmpty());

  for (const auto& [from, to] : sample_pairs(adapter_lids(seen), 100)) {
    const Finished trace = ask({"ibtracert", std::to_string(from), std::to_string(to)});
    ASSERT_EQ(trace.exit_code, 0) << from << " to " << to << ": " << trace.out << trace.err;
  }

  const auto& [id, some_switch] = *std::find_if(
      seen.nodes.begin(), seen.nodes.end(), [](const auto& each) { return each.second.is_switch; });
  const Finished shown = ask({"ibroute", std::to_string(some_switch.lids.at(0))});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(read_ibroute(shown.out), tables.at(id));
  EXPECT_EQ(tables.at(id).size(), lids.size()) << "every LID has an egress";
}

TEST_P(SmdOnIbsim, AnotherRunFindsItAllDone) {
  const OnceRun first = run_once(*ibsim_, host_, config_);
  ASSERT_EQ(first.process.exit_code, 0) << first.process.err << first.process.out;
  const SeenFabric before = read_ibnetdiscover(ask({"ibnetdiscover"}).out);

  const OnceRun second = run_once(*ibsim_, host_, config_);
  ASSERT_EQ(second.process.exit_code, 0) << second.process.err << second.process.out;
  EXPECT_EQ(read_ibnetdiscover(ask({"ibnetdiscover"}).out).lid_of_port(), before.lid_of_port());
  // ibsim does not keep every field of a PortInfo, so a manager that has just started asks once
  // more for those. Tables are read back block by block and found right; states are not touched.
  const auto smps = [](const OnceRun& run) { return run.report.at("bring_up").at("smps"); };
  EXPECT_EQ(smps(second).at("activate"), 0);
  // The first run set them in the Sets that armed the ports, which count as activation.
  const auto of_ports = [&](const OnceRun& run) {
    return smps(run).at("configure").get<int>() + smps(run).at("activate").get<int>();
  };
  EXPECT_LE(of_ports(second), of_ports(first));
  // Tables read and then written anew would double the count. What a busy machine answers so late
  // that it is asked again is not counted.
  EXPECT_LE(smps(second).at("tables").get<int>() - second.report.at("retries").get<int>(),
            smps(first).at("tables").get<int>());
}

TEST_P(SmdOnIbsim, KeepsTheLidsThatPortsHaveWhenTheBookIsLost) {
  const OnceRun first = run_once(*ibsim_, host_, config_);
  ASSERT_EQ(first.process.exit_code, 0) << first.process.err << first.process.out;
  const SeenFabric before = read_ibnetdiscover(ask({"ibnetdiscover"}).out);

  std::filesystem::remove_all(scratch_.path() / "state");
  std::filesystem::create_directories(scratch_.path() / "state");
  const OnceRun second = run_once(*ibsim_, host_, config_);
  ASSERT_EQ(second.process.exit_code, 0) << second.process.err << second.process.out;
  EXPECT_EQ(read_ibnetdiscover(ask({"ibnetdiscover"}).out).lid_of_port(), before.lid_of_port());
}

// Sockets towards ibsim fill up, and then both sides wait for the other for good.
TEST(SmdOnABusyIbsim, AsksNoMoreAtOnceThanItsSocketsHold) {
  Scratch scratch;
  const Ibsim ibsim(net_of("fat-tree:k=36,hosts=324", scratch.path()));
  ASSERT_TRUE(ibsim.ready()) << ibsim.complaint();
  const auto config = write_config(scratch.path());
  std::ofstream(config, std::ios::app) << "[smp]\nwindow_start = 4096\nwindow_max = 4096\n";
  const OnceRun run = run_once(ibsim, ibsim.facts().adapter_ids.front(), config);
  EXPECT_EQ(run.process.exit_code, 0) << run.process.err << run.process.out;
}

std::string name_of(const ::testing::TestParamInfo<Net>& each) { return each.param.name; }

INSTANTIATE_TEST_SUITE_P(ExamplesOfIbsim,
                         SmdOnIbsim,
                         ::testing::Values(Net{"net", "net"},
                                           Net{"net1", "net.1"},
                                           Net{"twoPaths", "net.2sw2path"},
                                           Net{"fourAdapters", "net.2sw2path4hca"},
                                           Net{"twoPorts", "net.2sw2path4hca2port"}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Generated,
    SmdOnIbsim,
    ::testing::Values(Net{"fatTree324", "fat-tree:k=36,hosts=324"},
                      Net{"fatTree648", "fat-tree:k=36,hosts=648"},
                      Net{"fatTree1728", "fat-tree:k=36,levels=3,hosts=1728"},
                      Net{"torus", "torus:dims=6.6"},
                      Net{"dragonfly", "dragonfly:a=4,c=2,h=2"},
                      Net{"hypercube", "hypercube:dim=4,hosts=1"},
                      Net{"irregular1", "irregular:switches=16,seed=1"},
                      Net{"irregular2", "irregular:switches=32,ports=12,links=6,seed=2"},
                      Net{"irregular4Ports", "irregular4:switches=24,nodes=60,seed=3"}),
    name_of);

}  // namespace
}  // namespace smd::test
