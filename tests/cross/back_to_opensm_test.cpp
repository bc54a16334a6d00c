// A site that leaves smd for Debian's opensm: what `smd state export --as opensm` wrote into its
// cache directory keeps every LID, on a fabric of ibsim that was switched off in between, and
// opensm dumps the records that it was left word for word.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/readings.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace back_to_opensm_test {

using std::chrono_literals::operator""s;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

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

  [[nodiscard]] std::string log() const { return read_text(cache_ / "osm.log"); }

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
    std::istringstream book(read_text(scratch_.path() / "state" / "lids"));
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

/// A group under the MLID of another.
constexpr const char* kSharing = "mgid=0xff15a01c00000000:0x0000000000000008";

/// What clients left, as an export of smd; `ports` are GUIDs.
std::string some_records(const std::vector<std::string>& ports) {
  const auto hex = [](std::string_view bytes) {
    std::string text;
    for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
  };
  const auto service = [&](unsigned id, const std::string& name, const std::string& lease) {
    std::string bytes = name, data;
    bytes.resize(64);
    for (int i = 1; i <= 64; ++i) data += static_cast<char>(3 * i);
    return fmt::format("service {0} 0x{1:x} 0xfe80000000000000 {0} 0xffff {2} {3} {4} {5}\n",
                       ports.at(2),
                       id,
                       lease,
                       hex("0123456789abcdef"),
                       hex(bytes),
                       hex(data));
  };
  return "# smd-export 1\n== records\n" +
         fmt::format("subscription {} 1 0 0 0 65535 0 1 65535 65 16777215 18 3 0 0\n",
                     ports.at(1)) +
         fmt::format("subscription {} 1 1 0 0 4 5 1 3 144 4 19 0 2 0\n", ports.at(1)) +
         fmt::format("subscription {} 7 0 0xfe80000000000000 {} 0 0 0 1 64 5 0 0 0 0\n",
                     ports.at(2),
                     ports.at(3)) +
         fmt::format("alias {0} 2 0x0002000000000077\nalias {0} 9 0x78\n", ports.at(3)) +
         "group 0xff12401bffff0000 0xffffffff 0xc000 2843 0xffff 4 3 18 0 0 0 2 0\n" +
         fmt::format("member {} 1 0\nmember {} 1 0\n", ports.at(1), ports.at(2)) +
         "group 0xff15a01c00000000 7 0xc009 77 0xffff 4 3 19 2 3 4 5 6\n" +
         fmt::format("member {} 1 0\nmember {} 6 1\n", ports.at(3), ports.at(4)) +
         "group 0xff15a01c00000000 8 0xc009 78 0xffff 4 3 19 2 3 4 5 6\n" +
         fmt::format("member {} 1 0\n", ports.at(6)) +
         service(0x11, "fast files", "4294967295 never") + service(0x12, "", "4294967295 never") +
         service(0x13, "it's", "4294967295 never") +
         service(0x14, std::string(63, 'n'), "4294967295 never") +
         service(0x15, "leased", "9000 9000000000000");
}

/// Lines that say something. Which groups are well known OpenSM's own configuration says.
/// Leases run meanwhile.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (const auto at = line.find(" (well known)"); at != std::string::npos) line.erase(at, 13);
    if (const auto at = line.find(" modified_time="); at != std::string::npos) {
      const bool forever = line.ends_with("lease_period=0xffffffff");
      line.replace(at, std::string::npos, forever ? " forever" : " for a while");
    }
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

TEST_F(BackToOpensm, GroupsSubscriptionsServicesAndAliasesStay) {
  const auto adapters = read_net_facts(net_).adapter_ids;
  std::vector<std::string> ports;
  for (const std::string& id : adapters)
    ports.push_back(fmt::format("0x{:016x}", std::stoull(id.substr(2), nullptr, 16) + 1));
  std::ofstream(scratch_.path() / "left") << some_records(ports);
  {
    const Ibsim ibsim(net_);
    ASSERT_EQ(run_once(ibsim, adapters.front(), config_).process.exit_code, 0);
  }
  ASSERT_EQ(state({"import", scratch_.path() / "left", "--replace"}).exit_code, 0);
  const std::filesystem::path cache = scratch_.path() / "cache";
  const Finished written = state({"export", "--as", "opensm", cache});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("left out: 1\n")) << "the name with a quote";
  std::filesystem::rename(cache / "opensm-sa.dump", cache / "ours");

  const Ibsim ibsim(net_);
  const Opensm opensm(ibsim, cache, "sweep_interval 1\nsa_db_file ours\nsa_db_dump TRUE\n");
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  // It writes its own when something changed.
  const Finished change = tool(
      ibsim,
      adapters.at(5),
      {build_path("bin/sa_client"), "set", "SR", "id=0x99", "gid=self", "p_key=0xffff", "name=n"});
  ASSERT_THAT(change.out, HasSubstr("status=0x0000"));
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(cache / "opensm-sa.dump"); }, 20s));
  auto ours = lines_of(read_text(cache / "ours"));
  const auto theirs = lines_of(read_text(cache / "opensm-sa.dump"));
  const std::string member = ports[6].substr(2);
  const auto is_of_sharing = [&](const std::string& line) {
    return line.find(kSharing) != std::string::npos || line.find(member) != std::string::npos;
  };
  EXPECT_EQ(std::erase_if(ours, is_of_sharing), 2u) << "the group and its member";
  EXPECT_THAT(theirs, ::testing::IsSupersetOf(ours));
  EXPECT_THAT(theirs, Contains(AllOf(HasSubstr(kSharing), Not(HasSubstr("0xc009")))))
      << "OpenSM lets no group share";
  EXPECT_THAT(theirs, Not(Contains(HasSubstr(member))));
  EXPECT_THAT(opensm.log(), HasSubstr("cannot create MC group with mlid 0xc009"));
  EXPECT_THAT(opensm.log(), Not(HasSubstr("PARSE ERROR")));
  EXPECT_EQ(lids(ibsim).size(), 14u);
}

}  // namespace back_to_opensm_test
}  // namespace smd::test
