// The real transport on Debian's ibsim, through libibumad and libumad2sim.
#include <gmock/gmock.h>

#include <memory>

#include "tests/support/ibsim.h"
#include "tests/support/paths.h"

namespace smd::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kNet = "/usr/share/doc/ibsim-utils/net-examples/net";
const std::string kProbe = build_path("bin/umad_probe");

class UmadOnIbsim : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(ibsim_.ready()) << ibsim_.complaint(); }

  void start_probe(std::vector<std::string> argv = {kProbe}) {
    probe_ = std::make_unique<Process>(
        ProcessOptions{.argv = std::move(argv), .env = ibsim_.client_environment("Hca1")});
  }

  /// What the probe says next, up to and including `text`.
  bool hears(std::string_view text) { return probe_->wait_for_output(text, 20s); }

  Ibsim ibsim_{kNet};
  std::unique_ptr<Process> probe_;
};

TEST_F(UmadOnIbsim, OpensTheFirstPortAndAsksItselfAndItsNeighbour) {
  start_probe();
  ASSERT_TRUE(hears("opened ibsim0 port 1 guid 0x")) << probe_->out() << probe_->err();
  probe_->write("ask\nask 1\nask 1,2\n");
  // Hca1 sits on port 1 of Switch1, an 8-port switch, whose port 2 leads to Hca2.
  EXPECT_TRUE(hears("node () type 1 ports")) << probe_->out();
  EXPECT_TRUE(hears("node (1) type 2 ports 8 guid 0x")) << probe_->out();
  EXPECT_THAT(probe_->out(), HasSubstr("arrived 1\n"));
  EXPECT_TRUE(hears("node (1,2) type 1")) << probe_->out();
}

TEST_F(UmadOnIbsim, AgreesWithSomebodyElsesDiagnostics) {
  start_probe();
  probe_->write("ask 1\n");
  ASSERT_TRUE(hears("node (1)")) << probe_->out();
  const std::size_t answer = probe_->out().find("node (1)");
  const std::string guid = probe_->out().substr(probe_->out().find("0x", answer), 18);
  const Finished smpquery =
      tool(ibsim_, "Hca2", {"smpquery", "-D", "nodeinfo", "0,2"});  // the same switch
  EXPECT_EQ(smpquery.exit_code, 0) << smpquery.err;
  EXPECT_THAT(smpquery.out, HasSubstr(guid));
}

TEST_F(UmadOnIbsim, ManyRequestsAtOnceAreAllAnswered) {
  start_probe();
  probe_->write("burst 20000\n");
  EXPECT_TRUE(hears("burst answered 20000")) << probe_->out() << probe_->err();
}

TEST_F(UmadOnIbsim, ShowsAndHidesTheIsSmBit) {
  start_probe();
  ASSERT_TRUE(hears("opened"));
  probe_->write("issm on\n");
  ASSERT_TRUE(hears("issm done\n"));
  EXPECT_THAT(tool(ibsim_, "Hca1", {"smpquery", "-D", "portinfo", "0", "1"}).out,
              HasSubstr("IsSM\n"));
  probe_->write("issm off\nask\n");
  ASSERT_TRUE(hears("node ()"));
  EXPECT_THAT(tool(ibsim_, "Hca1", {"smpquery", "-D", "portinfo", "0", "1"}).out,
              ::testing::Not(HasSubstr("IsSM\n")));
}

TEST_F(UmadOnIbsim, AnUnknownDeviceIsNamedTogetherWithThoseThatExist) {
  start_probe({kProbe, "mlx5_7"});
  EXPECT_EQ(probe_->wait(20s), 1);
  EXPECT_THAT(probe_->out(),
              HasSubstr("no InfiniBand device 'mlx5_7'; there are: ibsim0 port 1 ("));
}

TEST_F(UmadOnIbsim, ADeadFabricEndsRequestsInsteadOfHanging) {
  start_probe();
  probe_->write("ask 1\n");
  ASSERT_TRUE(hears("node (1)"));
  ibsim_.stop();
  probe_->write("ask 1\n");
  EXPECT_TRUE(hears("failed ")) << probe_->out();
}

TEST_F(UmadOnIbsim, ExitsAtOnceWhenTold) {
  start_probe();
  probe_->write("ask 1\n");
  ASSERT_TRUE(hears("node (1)"));
  EXPECT_EQ(probe_->terminate(1s), 0) << probe_->err();  // 200 ms on an idle machine
}

TEST_F(UmadOnIbsim, ExitsCleanlyWhileAnswersAreStillComing) {
  for (int i = 0; i < 5; ++i) {
    start_probe();
    ASSERT_TRUE(hears("opened"));
    probe_->write("burst 100000\nissm on\n");
    ASSERT_TRUE(hears("issm done"));  // the burst is on its way
    EXPECT_EQ(probe_->terminate(10s), 0) << probe_->err();
  }
}

}  // namespace
}  // namespace smd::test
