// What `cmake --install` puts where, and that it leaves an edited configuration alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "tests/support/files.h"
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

  [[nodiscard]] std::string read(const char* path) const { return read_text(root / path); }

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

/// Run as systemd runs it: three folders, of which it writes to the first.
class Generator : public Install {
 protected:
  void SetUp() override {
    install();
    for (const char* folder : {"configs", "normal", "early", "late"})
      fs::create_directories(root / folder);
  }

  void configure(const std::string& name) const { std::ofstream(root / "configs" / name) << "\n"; }

  [[nodiscard]] Finished run(std::vector<std::string> folders = {"normal", "early", "late"}) const {
    std::vector<std::string> argv = {root / "usr/lib/systemd/system-generators/smd-generator"};
    for (const std::string& each : folders) argv.push_back(root / each);
    return run_process({.argv = argv, .env = {{"SMD_CONFIG_DIR", root / "configs"}}, .cwd = {}},
                       std::chrono::seconds(10));
  }

  /// Every unit that it wrote, with where it leads.
  [[nodiscard]] std::map<std::string, std::string> written() const {
    std::map<std::string, std::string> out;
    for (const char* folder : {"normal", "early", "late"}) {
      for (const auto& each : fs::recursive_directory_iterator(root / folder)) {
        if (each.is_symlink())
          out[each.path().lexically_relative(root)] = fs::read_symlink(each.path());
        else
          EXPECT_TRUE(each.is_directory()) << each.path();
      }
    }
    return out;
  }
};

TEST_F(Generator, StartsAManagerForEachPortThatHasAConfiguration) {
  for (const char* name : {"0x0002c9030002fb06.toml",
                           "0x0002c9030002fce9.toml",
                           "smd.toml",
                           "storage.toml",
                           "import-opensm.txt",
                           "0x0002c9030002fb06.toml.old"})
    configure(name);
  const std::string unit = root / "usr/lib/systemd/system/smd@.service";
  const std::map<std::string, std::string> wanted = {
      {"normal/smd.target.wants/smd@0x0002c9030002fb06.service", unit},
      {"normal/smd.target.wants/smd@0x0002c9030002fce9.service", unit}};
  for (int i = 0; i < 2; ++i) {  // again over what is there
    const Finished done = run();
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.out + done.err, "");
    EXPECT_EQ(written(), wanted);
    EXPECT_TRUE(fs::exists(unit));
  }
  EXPECT_NE(read("usr/lib/systemd/system/smd.target").find("WantedBy=multi-user.target"),
            std::string::npos);
  EXPECT_NE(read("usr/lib/systemd/system/smd@.service").find("PartOf=smd.target"),
            std::string::npos);
}

TEST_F(Generator, WithoutConfigurationsWritesNothing) {
  configure("smd.toml");
  EXPECT_EQ(run().exit_code, 0);
  fs::remove_all(root / "configs");
  const Finished done = run();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out + done.err, "");
  EXPECT_TRUE(written().empty());
}

TEST_F(Generator, SaysWhichFileIsOfNoPortAndGoesOn) {
  const std::vector<std::string> bad = {"0X0002C9030002FB06.toml",
                                        "0x0002C9030002FB06.toml",
                                        "0x2c9.toml",
                                        "0x.toml",
                                        "0x0002c9030002fb0g.toml",
                                        "0x00002c9030002fb06.toml",
                                        "0x 002c9030002fb06.toml"};
  for (const std::string& each : bad) configure(each);
  fs::create_directories(root / "configs/0x0002c9030002fb07.toml");
  configure("0x0002c9030002fb08.toml");
  const Finished done = run();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(std::ranges::count(done.err, '\n'), static_cast<std::ptrdiff_t>(bad.size()) + 1);
  for (const std::string& each : bad)
    EXPECT_NE(done.err.find("/" + each + ": no port of that name; a file called 0x and 16"),
              std::string::npos)
        << done.err;
  ASSERT_EQ(written().size(), 1u);
  EXPECT_EQ(written().begin()->first, "normal/smd.target.wants/smd@0x0002c9030002fb08.service");
  EXPECT_EQ(run({"normal", "early"}).exit_code, 2) << "called wrongly";
  EXPECT_EQ(run({}).exit_code, 2);
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
  EXPECT_NE(read("etc/logrotate.d/smd").find("\n    maxsize 200M\n"), std::string::npos);
  EXPECT_NE(read("etc/logrotate.d/smd").find("\n    dateformat -%Y%m%d-%s\n"), std::string::npos)
      << "maxsize moves several away in one day";
  EXPECT_NE(read("usr/share/smd/smd.toml").find("#lmc = 0"), std::string::npos);
  EXPECT_EQ(read("etc/smd/smd.toml"), read("usr/share/smd/site.toml"));
  EXPECT_EQ(read("etc/smd/smd.toml").find(" = "), std::string::npos)
      << "an option's text changes with releases";
  std::ofstream(root / "etc/smd/smd.toml") << "[sm]\nlmc = 1\n";
  std::ofstream(root / "etc/logrotate.d/smd") << "# none\n";
  install();
  EXPECT_EQ(read("etc/smd/smd.toml"), "[sm]\nlmc = 1\n");
  EXPECT_EQ(read("etc/logrotate.d/smd"), "# none\n");
}

}  // namespace
}  // namespace smd::test
