// What `smd check-config --instance` says an instance would run with, and where `smd state` looks
// for what it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace instance_test {

using testing::HasSubstr;
using testing::Not;

class InstanceConfig : public testing::Test {
 protected:
  InstanceConfig() {
    std::ofstream(file()) << "[sm]\n"
                             "state_dir = \"/srv/smd\"\n"
                             "[metrics]\n"
                             "listen = \"127.0.0.1:9684\"\n"
                             "[log]\n"
                             "sink = \"/var/log/smd/smd.log\"\n";
  }

  [[nodiscard]] std::string file() const { return folder / "smd.toml"; }

  static Finished check(const std::vector<std::string>& words) {
    std::vector<std::string> argv{build_path("bin/smd"), "check-config"};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process({.argv = std::move(argv)}, std::chrono::seconds(60));
  }

  Scratch scratch_;
  std::filesystem::path folder = scratch_.path();
};

TEST_F(InstanceConfig, ShowsWhatAnInstanceOfASharedFileHasForItself) {
  const std::string name = "0x0002c9030002fb06";
  const Finished done = check({"-c", file(), "--instance", name, "--print"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const std::string by = " and --instance " + name + "\n";
  // The port is that of docs/operations.md.
  for (const std::string& line :
       {"state_dir = \"/srv/smd/" + name + "\"  # " + file() + ":2" + by,
        "listen = \"127.0.0.1:9698\"  # " + file() + ":4" + by,
        "sink = \"/var/log/smd/" + name + ".smd.log\"  # " + file() + ":6" + by,
        "socket = \"/run/smd/" + name + ".sock\"  # default" + by,
        "port_guid = \"" + name + "\"  # default" + by,
        std::string("lmc = 0  # default\n")})
    EXPECT_THAT(done.out, HasSubstr("\n" + line));
  EXPECT_THAT(done.out,
              testing::StartsWith("# Instance " + name + "; the journal and syslog call it smd@" +
                                  name + ".\n"));
}

TEST_F(InstanceConfig, WithoutOneIsThatOfTheFile) {
  const Finished done = check({"-c", file(), "--print"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\nlisten = \"127.0.0.1:9684\"  # " + file() + ":4\n"));
  EXPECT_THAT(done.out, Not(HasSubstr("Instance")));
  EXPECT_THAT(done.out, Not(HasSubstr("--instance")));
}

/// With an /etc of its own: /etc/smd/rail-1.toml is the file of rail-1 alone.
TEST_F(InstanceConfig, NeedsNoFileToBeNamed) {
  const auto in_own_etc = [&](const std::string& words) {
    return run_process({.argv = {"unshare",
                                 "-rm",
                                 "sh",
                                 "-ec",
                                 "mount -t tmpfs none /etc && mkdir /etc/smd && cp \"$1\" "
                                 "/etc/smd/rail-1.toml && cp \"$1\" /etc/smd/smd.toml && \"$2\" "
                                 "check-config " +
                                     words,
                                 "sh",
                                 file(),
                                 build_path("bin/smd")}},
                       std::chrono::seconds(60));
  };
  if (run_process({.argv = {"unshare", "-rm", "mount", "-t", "tmpfs", "none", "/etc"}},
                  std::chrono::seconds(60))
          .exit_code != 0)
    GTEST_SKIP() << "no mount namespace to be had";
  const Finished own = in_own_etc("--instance rail-1 --print");
  ASSERT_EQ(own.exit_code, 0) << own.err;
  EXPECT_THAT(own.out, HasSubstr("\nstate_dir = \"/srv/smd\"  # /etc/smd/rail-1.toml:2\n"));
  EXPECT_THAT(own.out, HasSubstr("\nlisten = \"127.0.0.1:9684\"  # /etc/smd/rail-1.toml:4\n"));
  EXPECT_THAT(own.out, HasSubstr("\nsocket = \"/run/smd/rail-1.sock\"  # default and --instance"));
  const Finished shared = in_own_etc("--instance rail-2 --print");
  ASSERT_EQ(shared.exit_code, 0) << shared.err;
  EXPECT_THAT(shared.out,
              HasSubstr("\nstate_dir = \"/srv/smd/rail-2\"  # /etc/smd/smd.toml:2 and --instance"));
  EXPECT_EQ(in_own_etc("--instance rail-1").out, "/etc/smd/rail-1.toml: good\n");
}

TEST_F(InstanceConfig, OfWordsThatAreWrongSaysSoInOneLine) {
  for (const auto& [words, part] :
       {std::pair(std::vector<std::string>{}, "-c FILE, or --instance NAME"),
        std::pair(std::vector<std::string>{"--instance", "../up"}, "'../up' is no name")}) {
    const Finished done = check(words);
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, HasSubstr(part));
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
  }
}

/// Where a manager with the same words keeps its state and listens.
class InstanceState : public InstanceConfig {
 protected:
  InstanceState() {
    std::ofstream(file()) << "[sm]\nstate_dir = \"" << folder.string() << "/state\"\n"
                          << "[admin]\nsocket = \"" << folder.string() << "/smd.sock\"\n";
    std::ofstream(folder / "guid2lid") << "0x0002c90300000001 0x0007 0x0007\n\n";
  }

  [[nodiscard]] Finished state(const std::vector<std::string>& words) const {
    std::vector<std::string> argv{build_path("bin/smd"), "state"};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process({.argv = std::move(argv)}, std::chrono::seconds(60));
  }
};

TEST_F(InstanceState, IsImportedIntoAndExportedFromItsOwnDirectory) {
  const std::vector<std::string> where{"-c", file(), "--instance", "rail-1"};
  const auto with = [&where](std::vector<std::string> words) {
    words.insert(words.end(), where.begin(), where.end());
    return words;
  };
  const Finished in = state(with({"import", folder / "guid2lid"}));
  ASSERT_EQ(in.exit_code, 0) << in.err;
  EXPECT_THAT(in.out, HasSubstr(folder.string() + "/state/rail-1/lids written\n"));
  EXPECT_FALSE(std::filesystem::exists(folder / "state/lids"));
  const Finished out = state(with({"export"}));
  ASSERT_EQ(out.exit_code, 0) << out.err;
  EXPECT_THAT(out.out, HasSubstr("0x0002c90300000001"));
}

TEST_F(InstanceState, IsLeftAloneWhileItsManagerRuns) {
  const std::vector<std::string> rail{"-c", file(), "--instance", "rail-1"};
  std::vector<std::string> argv{build_path("bin/smd"), "run", "--fabric", "fat-tree:k=4,levels=2"};
  argv.insert(argv.end(), rail.begin(), rail.end());
  const Process manager({.argv = std::move(argv)});
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(folder / "rail-1.sock"); },
                         std::chrono::seconds(60)));
  std::vector<std::string> words{"import", folder / "guid2lid", "--replace"};
  words.insert(words.end(), rail.begin(), rail.end());
  const Finished busy = state(words);
  EXPECT_EQ(busy.exit_code, 1);
  EXPECT_EQ(busy.err,
            "smd state: a daemon runs; stop it first: " + folder.string() + "/rail-1.sock\n");
  words.insert(words.end(), {"--dir", folder / "elsewhere"});
  EXPECT_EQ(state(words).exit_code, 1) << "whatever directory is named";
}

TEST_F(InstanceState, OfANameThatIsNoneIsRefused) {
  const Finished done = state({"export", "--instance", "../up"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("'../up' is no name"));
}

}  // namespace instance_test
}  // namespace smd::test
