// What `cmake --install` puts where, and that it leaves an edited configuration alone.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace {

namespace fs = std::filesystem;

class Install : public testing::Test {
 protected:
  Install() : root(fs::path(testing::TempDir()) / ("smd-install-" + std::to_string(getpid()))) {
    fs::create_directories(root);
  }

  ~Install() override { fs::remove_all(root); }

  void install() {
    Process cmake({.argv = {"cmake", "--install", build_path(), "--prefix", "/usr"},
                   .env = {{"DESTDIR", root.string()}},
                   .cwd = {}});
    ASSERT_EQ(cmake.wait(std::chrono::seconds(60)), 0) << cmake.err();
  }

  [[nodiscard]] std::string read(const char* path) const {
    std::ostringstream text;
    text << std::ifstream(root / path).rdbuf();
    return text.str();
  }

  fs::path root;
};

TEST_F(Install, PutsProgramsWhereTheUnitLooksForThem) {
  install();
  EXPECT_NE(read("usr/lib/systemd/system/smd.service").find("ExecStart=/usr/sbin/smd run"),
            std::string::npos);
  EXPECT_NE(read("usr/lib/systemd/system/smd@.service").find("/usr/sbin/smd run --instance %i"),
            std::string::npos);
  EXPECT_NE(read("usr/share/man/man1/smctl-partition.1").find("smctl partition create"),
            std::string::npos);
  EXPECT_NE(read("usr/share/man/man1/smd-import-opensm.1").find("smd import-opensm"),
            std::string::npos);
  for (const char* program : {"usr/sbin/smd", "usr/bin/smctl", "usr/bin/smsim"}) {
    Process version({.argv = {(root / program).string(), "--version"}, .env = {}, .cwd = {}});
    EXPECT_EQ(version.wait(std::chrono::seconds(10)), 0) << program << ": " << version.err();
  }
  Process check({.argv = {(root / "usr/sbin/smd").string(),
                          "check-config",
                          "-c",
                          (root / "etc/smd/smd.toml").string()},
                 .env = {},
                 .cwd = {}});
  EXPECT_EQ(check.wait(std::chrono::seconds(10)), 0) << check.err();
}

#ifdef SMD_HAS_PLUGIN  // else no part of this build
TEST_F(Install, PutsThePluginOfOpensmWhereTheLoaderLooks) {
  install();
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / "usr/lib")) {
    if (entry.path().filename() == "libsmd_opensm.so") found.push_back(entry.path().string());
  }
  EXPECT_EQ(found.size(), 1u);
  EXPECT_NE(read("usr/share/man/man7/smd_opensm.7").find("event_plugin_name"), std::string::npos);
}
#endif

TEST_F(Install, LeavesAnEditedConfigurationAlone) {
  install();
  EXPECT_NE(read("etc/logrotate.d/smd").find("--signal=USR1"), std::string::npos);
  std::ofstream(root / "etc/smd/smd.toml") << "[sm]\nlmc = 1\n";
  std::ofstream(root / "etc/logrotate.d/smd") << "# none\n";
  install();
  EXPECT_EQ(read("etc/smd/smd.toml"), "[sm]\nlmc = 1\n");
  EXPECT_EQ(read("etc/logrotate.d/smd"), "# none\n");
}

}  // namespace
}  // namespace smd::test
