// An adapter whose SMI and GSI are two devices, as XDR adapters have them: smd on Debian's ibsim
// behind a library that splits its one adapter in two. Debian's tools are the judges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace umad_pair_test {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kShim = build_path("tests/libumad_pair_shim.so");

class SplitAdapter : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ibsim_.emplace(net_of("fat-tree:k=4,levels=2", scratch_.path()));
    ASSERT_TRUE(ibsim_->ready()) << ibsim_->complaint();
  }

  ProcessOptions smd(const std::string& transport) {
    const std::filesystem::path config = write_config(scratch_.path());
    std::string text = read_text(config);
    const std::string head = "[transport]\n";
    text.insert(text.find(head) + head.size(), transport);
    std::ofstream(config) << text;
    ProcessOptions options{.argv = {smd_path(), "run", "-c", config},
                           .env = ibsim_->client_environment(ibsim_->facts().adapter_ids.front())};
    for (auto& [name, value] : options.env) {
      if (name == "LD_PRELOAD") value = kShim + (":" + value);
    }
    options.env.emplace_back("SMD_UMAD_PAIR", GetParam());
    options.env.emplace_back("SMD_UMAD_PAIR_LOG", log_);
    return options;
  }

  [[nodiscard]] std::map<std::string, unsigned> requests() const {
    std::map<std::string, unsigned> out;
    std::ifstream in(log_);
    for (std::string word; in >> word;) ++out[word];
    return out;
  }

  std::string ask(std::vector<std::string> words) {
    return tool(*ibsim_, ibsim_->facts().adapter_ids.back(), std::move(words)).out;
  }

  Scratch scratch_;
  std::filesystem::path log_ = scratch_.path() / "requests";
  std::optional<Ibsim> ibsim_;
};

INSTANTIATE_TEST_SUITE_P(Known,
                         SplitAdapter,
                         ::testing::Values("guid", "library"),
                         [](const auto& row) { return std::string(row.param); });

TEST_P(SplitAdapter, ManagesThroughTheOneAndAnswersThroughTheOther) {
  Process process(smd(""));
  ASSERT_TRUE(
      wait_until([&] { return ask({"sminfo"}).find("SMINFO_MASTER") != std::string::npos; }, 20s))
      << process.err();
  EXPECT_THAT(process.err(), HasSubstr("smi0"));
  // Light sweeps, one a second, find every switch.
  const auto before = requests();
  ASSERT_TRUE(wait_until([&] { return requests()["directed"] > before.at("directed") + 20; }, 20s));
  EXPECT_EQ(requests().count("by-lid"), 0u) << "switches of planes route no SMPs by LID";
  // Subnet administration is on the GSI.
  EXPECT_THAT(ask({"saquery", "-s"}), HasSubstr("IsSM"));
  EXPECT_THAT(ask({"saquery", "NR", "1"}), HasSubstr("NodeRecord dump"));
  EXPECT_THAT(ask({"smpquery", "-D", "portinfo", "0,1"}), Not(HasSubstr("failed")));
  EXPECT_EQ(process.terminate(5s), 0) << process.err();
}

TEST_P(SplitAdapter, WhoNamesTheGsiMeansThePair) {
  const Finished run = run_process(
      [&] {
        ProcessOptions options = smd("device = \"xdr0\"\nport = 1\n");
        options.argv.emplace_back("--once");
        return options;
      }(),
      60s);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("smi0"));
}

}  // namespace umad_pair_test
}  // namespace smd::test
