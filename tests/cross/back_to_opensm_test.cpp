// A site that leaves smd for Debian's opensm: what `smd state export --as opensm` wrote into its
// cache directory keeps every LID, on a fabric of ibsim that was switched off in between.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/readings.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// opensm on the first adapter; its cache directory, where it also writes, is `cache`.
class Opensm {
 public:
  Opensm(const Ibsim& ibsim, const std::filesystem::path& cache, const std::string& config)
      : cache_(cache) {
    std::filesystem::remove(cache_ / "osm.log");
    std::ofstream(cache_ / "osm.conf") << "sweep_interval 0\nlog_flags 0x03\nforce_log_flush TRUE\n"
                                          "dump_files_dir .\nrouting_engine minhop\n"
                                       << config;
    auto env = ibsim.client_environment(ibsim.facts().adapter_ids.front());
    env.insert(env.end(), {{"OSM_TMP_DIR", "."}, {"OSM_CACHE_DIR", "."}});
    process_.emplace(ProcessOptions{
        .argv = {"opensm", "-F", "osm.conf", "-f", "osm.log"}, .env = env, .cwd = cache_});
  }

  [[nodiscard]] bool wait_until_up() const {
    return wait_until([this] { return log().find("SUBNET UP") != std::string::npos; }, 30s);
  }

  [[nodiscard]] std::string log() const { return read(cache_ / "osm.log"); }

 private:
  std::filesystem::path cache_;
  std::optional<Process> process_;
};

class BackToOpensm : public ::testing::Test {
 protected:
  BackToOpensm()
      : net_(net_of("fat-tree:k=4,levels=2", scratch_.path())),
        config_(write_config(scratch_.path())) {}

  Finished state(std::vector<std::string> words) {
    words.insert(words.begin(), {smd_path(), "state"});
    words.insert(words.end(), {"-c", config_});
    return run_process({.argv = std::move(words)}, 30s);
  }

  /// smd's state directory then has LIDs that nobody else would think of.
  void give_odd_lids() {
    const Ibsim ibsim(net_);
    ASSERT_EQ(run_once(ibsim, ibsim.facts().adapter_ids.front(), config_).process.exit_code, 0);
    std::istringstream book(read(scratch_.path() / "state" / "lids"));
    std::ofstream odd(scratch_.path() / "odd");
    unsigned lid = 0x300;
    for (std::string line; std::getline(book, line);) {
      if (line.starts_with("0x"))
        odd << fmt::format("{} 0x{:04x} 0x{:04x}\n", line.substr(0, line.find(' ')), lid, lid);
      lid -= 7;
    }
    odd.close();
    ASSERT_EQ(state({"import", scratch_.path() / "odd", "--replace"}).exit_code, 0);
  }

  static std::map<PortKey, unsigned> lids(const Ibsim& ibsim) {
    const Finished seen = tool(ibsim, ibsim.facts().adapter_ids.back(), {"ibnetdiscover"});
    return read_ibnetdiscover(seen.out).lid_of_port();
  }

  /// A fabric that was just switched on, under opensm.
  std::map<PortKey, unsigned> lids_of_opensm(const std::filesystem::path& cache,
                                             const std::string& config = {}) {
    const Ibsim ibsim(net_);
    std::filesystem::create_directories(cache);
    const Opensm opensm(ibsim, cache, config);
    EXPECT_TRUE(opensm.wait_until_up()) << opensm.log();
    return lids(ibsim);
  }

  Scratch scratch_;
  std::filesystem::path net_, config_;
};

TEST_F(BackToOpensm, EveryLidStays) {
  give_odd_lids();
  std::map<PortKey, unsigned> given;
  {
    const Ibsim ibsim(net_);
    ASSERT_EQ(run_once(ibsim, ibsim.facts().adapter_ids.front(), config_).process.exit_code, 0);
    given = lids(ibsim);
  }
  ASSERT_EQ(given.size(), 14u);
  const std::filesystem::path cache = scratch_.path() / "cache";
  const Finished written = state({"export", "--as", "opensm", cache});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("guid2lid written: 14 ports with LIDs"));
  EXPECT_EQ(lids_of_opensm(cache), given);
  const auto moved = lids_of_opensm(cache, "lmc 1\n");
  EXPECT_EQ(moved.size(), given.size());
  EXPECT_NE(moved, given) << "ranges of one are not its own";
  EXPECT_NE(lids_of_opensm(scratch_.path() / "empty"), given) << "without the file it has its own";
}

}  // namespace
}  // namespace smd::test
