// What the command line says stays said when a running smd reads its file anew; and what an import
// may write over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace cli_reload_test {

using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kLimit{60};

class OwnFolder : public testing::Test {
 protected:
  [[nodiscard]] std::string in_folder(const std::string& name) const { return folder / name; }

  Scratch scratch_;
  std::filesystem::path folder = scratch_.path();
};

// FILE by itself would be refused: `auto` makes no such paths.
TEST_F(OwnFolder, FileIsJudgedByTheEngineOfTheCommandLine) {
  const std::string path = in_folder("sets.toml");
  std::ofstream(path) << "[sm]\nlmc = 1\npath_sets = [\"updn\", \"shortest\"]\n";
  const auto dry_run = [&](std::vector<std::string> words) {
    std::vector<std::string> argv{
        build_path("bin/smd"), "dry-run", "-c", path, "--fabric", "torus:dims=3.3"};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process({.argv = std::move(argv)}, kLimit);
  };
  EXPECT_EQ(dry_run({"--engine", "dfsssp"}).exit_code, 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"--engine", "updn"}, {"--mode", "basic"}}) {
    const Finished refused = dry_run(words);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("sm.path_sets and sm.engine"));
  }
}

TEST_F(OwnFolder, RefusedRoutesDoNotCountAsDetours) {
  const auto dry_run = [&](std::vector<std::string> words) {
    std::vector<std::string> argv{build_path("bin/smd"), "dry-run", "--fabric", "torus:dims=5"};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process({.argv = std::move(argv)}, kLimit).out;
  };
  EXPECT_THAT(dry_run({"--engine", "minhop"}), Not(HasSubstr("% minimal")));
  EXPECT_THAT(dry_run({"--engine", "minhop", "--json"}), HasSubstr("\"minimal_pct\": null"));
  EXPECT_THAT(dry_run({"--engine", "dor"}), HasSubstr("100.0 % minimal"));
}

class Verbosity : public OwnFolder {
 protected:
  void write_config(const std::string& engine, const std::string& level) const {
    std::ofstream(in_folder("smd.toml"))
        << "[transport]\nkind = \"sim\"\nfabric = \"torus:dims=3.3\"\n[sm]\nengine = \"" << engine
        << "\"\nstate_dir = \"" << in_folder("state") << "\"\n[admin]\nsocket = \""
        << in_folder("s") << "\"\n[log]\nlevel = \"" << level << "\"\n";
  }

  [[nodiscard]] Process start(const std::vector<std::string>& words) const {
    std::vector<std::string> argv{build_path("bin/smd"), "run", "-c", in_folder("smd.toml")};
    argv.insert(argv.end(), words.begin(), words.end());
    return Process({.argv = std::move(argv)});
  }

  [[nodiscard]] bool is_up() const {
    return run_process({.argv = {build_path("bin/smctl"), "--socket", in_folder("s"), "nodes"}},
                       kLimit)
               .exit_code == 0;
  }

  [[nodiscard]] std::string status() const {
    return run_process(
               {.argv = {build_path("bin/smctl"), "--socket", in_folder("s"), "--json", "status"}},
               kLimit)
        .out;
  }
};

TEST_F(Verbosity, OfTheCommandLineOutlivesSighup) {
  write_config("updn", "error");
  Process smd = start({"-v", "-v"});
  ASSERT_TRUE(wait_until([&] { return is_up(); }, kLimit)) << smd.err();
  const std::size_t before = smd.err().size();
  write_config("dfsssp", "error");
  ASSERT_EQ(::kill(smd.pid(), SIGHUP), 0);
  EXPECT_TRUE(wait_until(
      [&] { return smd.err().find(" debug plan.phase ", before) != std::string::npos; }, kLimit))
      << smd.err();
  EXPECT_THAT(smd.err(), Not(HasSubstr("key=log.level")));
  EXPECT_EQ(smd.terminate(kLimit), 0);
}

TEST_F(Verbosity, QuietStaysQuiet) {
  write_config("updn", "info");
  Process smd = start({"--quiet"});
  ASSERT_TRUE(wait_until([&] { return is_up(); }, kLimit)) << smd.err();
  ASSERT_EQ(::kill(smd.pid(), SIGHUP), 0);
  // An order is taken up behind the signal; the stop is told at level info.
  ASSERT_TRUE(is_up());
  EXPECT_EQ(smd.terminate(kLimit), 0);
  EXPECT_THAT(smd.err(), Not(HasSubstr(" info ")));
}

TEST_F(Verbosity, WithoutAWordIsThatOfTheFile) {
  write_config("updn", "error");
  Process smd = start({});
  ASSERT_TRUE(wait_until([&] { return is_up(); }, kLimit)) << smd.err();
  EXPECT_EQ(smd.err(), "");
  write_config("updn", "info");
  ASSERT_EQ(::kill(smd.pid(), SIGHUP), 0);
  EXPECT_TRUE(
      wait_until([&] { return smd.err().find(" info cycle.") != std::string::npos; }, kLimit));
  EXPECT_EQ(smd.terminate(kLimit), 0);
}

TEST_F(Verbosity, ALogThatCannotBeOpenedLeavesTheFabricItsManager) {
  write_config("updn", "info");
  const std::string sink = in_folder("later/smd.log");
  std::ofstream(in_folder("smd.toml"), std::ios::app) << "sink = \"" << sink << "\"\n";
  std::ofstream(in_folder("later")) << "a file where the folder should be";
  Process smd = start({});
  ASSERT_TRUE(wait_until([&] { return is_up(); }, kLimit)) << smd.err();
  EXPECT_THAT(smd.err(), HasSubstr(" error log.open why=\"cannot log to '" + sink));
  EXPECT_THAT(smd.err(), HasSubstr(" info cycle."));
  EXPECT_THAT(status(), HasSubstr("the log is not where log.sink says: "));
  ASSERT_EQ(::kill(smd.pid(), SIGUSR1), 0);
  EXPECT_TRUE(wait_until([&] { return smd.err().find(" error log.reopen ") != std::string::npos; },
                         kLimit));
  std::filesystem::remove(in_folder("later"));
  ASSERT_EQ(::kill(smd.pid(), SIGHUP), 0);
  EXPECT_TRUE(
      wait_until([&] { return read_text(sink).find(" info cycle.") != std::string::npos; }, kLimit))
      << smd.err();
  EXPECT_THAT(status(), Not(HasSubstr("log.sink")));
  EXPECT_EQ(smd.terminate(kLimit), 0);
}

TEST_F(Verbosity, ALogOnAFullDiskIsAnAlarmAndItsLinesGoToStandardError) {
  write_config("updn", "info");
  const std::string sink = in_folder("smd.log");
  std::ofstream(in_folder("smd.toml"), std::ios::app) << "sink = \"" << sink << "\"\n";
  std::filesystem::create_symlink("/dev/full", sink);
  Process smd = start({});
  ASSERT_TRUE(wait_until([&] { return is_up(); }, kLimit)) << smd.err();
  EXPECT_THAT(smd.err(), HasSubstr(" error log.write why=\"" + sink + ": No space left"));
  EXPECT_THAT(smd.err(), HasSubstr(" info cycle."));
  EXPECT_THAT(status(), HasSubstr("the log file takes no lines, which go to standard error: "));
  std::filesystem::remove(sink);
  ASSERT_EQ(::kill(smd.pid(), SIGUSR1), 0);
  EXPECT_TRUE(wait_until(
      [&] { return read_text(sink).find(" warn log.lost ") != std::string::npos; }, kLimit))
      << "without another line";
  EXPECT_THAT(status(), Not(HasSubstr("takes no lines")));
  EXPECT_EQ(smd.terminate(kLimit), 0);
}

TEST_F(Verbosity, AReloadThatNamesALogWhichCannotBeOpenedIsAnAlarmUntilOneCan) {
  const auto name_log = [&](const std::string& name) {
    write_config("updn", "info");
    std::ofstream(in_folder("smd.toml"), std::ios::app) << "sink = \"" << in_folder(name) << "\"\n";
  };
  const auto has = [&](const std::string& name, const std::string& text) {
    return wait_until([&] { return read_text(in_folder(name)).find(text) != std::string::npos; },
                      kLimit);
  };
  std::ofstream(in_folder("later")) << "a file where the folder should be";
  name_log("smd.log");
  Process smd = start({});
  ASSERT_TRUE(wait_until([&] { return is_up(); }, kLimit)) << smd.err();
  name_log("later/smd.log");
  ASSERT_EQ(::kill(smd.pid(), SIGHUP), 0);
  EXPECT_TRUE(has("smd.log", " error log.reopen why=\"cannot log to '" + in_folder("later/")));
  EXPECT_THAT(status(), HasSubstr("the log is not where log.sink says: "));
  // Rotated meanwhile: a new file under the old name.
  std::filesystem::rename(in_folder("smd.log"), in_folder("smd.log.1"));
  ASSERT_EQ(::kill(smd.pid(), SIGUSR1), 0);
  EXPECT_TRUE(has("smd.log", " error log.reopen why=\"cannot log to '" + in_folder("later/")));
  EXPECT_THAT(status(), HasSubstr("the log is not where log.sink says: "));
  // Another name, or the one before.
  for (const char* name : {"other.log", "smd.log"}) {
    name_log(name);
    ASSERT_EQ(::kill(smd.pid(), SIGHUP), 0);
    EXPECT_TRUE(
        wait_until([&] { return status().find("log.sink says") == std::string::npos; }, kLimit));
    EXPECT_TRUE(has(name, " info cycle.")) << name;
    name_log("later/smd.log");
    ASSERT_EQ(::kill(smd.pid(), SIGHUP), 0);
    EXPECT_TRUE(
        wait_until([&] { return status().find("log.sink says") != std::string::npos; }, kLimit));
  }
  EXPECT_EQ(smd.terminate(kLimit), 0);
}

/// As a configuration of an earlier version may have it, which looked names up.
TEST_F(Verbosity, ANameToListenOnLeavesTheFabricItsManager) {
  write_config("updn", "info");
  std::ofstream(in_folder("smd.toml"), std::ios::app)
      << "[metrics]\nlisten = \"head.invalid:9684\"\n";
  const Finished checked = run_process(
      {.argv = {build_path("bin/smd"), "check-config", "-c", in_folder("smd.toml")}}, kLimit);
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_THAT(checked.err, HasSubstr("metrics.listen: head.invalid is a name, which is not used"));
  Process smd = start({});
  ASSERT_TRUE(wait_until([&] { return is_up(); }, kLimit)) << smd.err();
  EXPECT_THAT(smd.err(), HasSubstr(" warn config.remark metrics.listen: head.invalid is a name"));
  EXPECT_THAT(status(), HasSubstr("nobody can read numbers: head.invalid:9684: "));
  EXPECT_EQ(smd.terminate(kLimit), 0);
}

/// smd import-opensm into the folder of a configuration that is there.
class ImportOver : public OwnFolder {
 protected:
  ImportOver() {
    std::ofstream(in_folder("opensm.conf")) << "sm_priority 7\n";
    std::filesystem::create_directory(folder / "etc");
  }

  [[nodiscard]] std::string toml() const { return in_folder("etc/smd.toml"); }

  [[nodiscard]] Finished import() const {
    return run_process({.argv = {build_path("bin/smd"),
                                 "import-opensm",
                                 in_folder("opensm.conf"),
                                 "-o",
                                 in_folder("etc")}},
                       kLimit);
  }

  [[nodiscard]] std::size_t count_files() const {
    std::size_t files = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder / "etc"))
      files += each.exists() ? 1 : 0;
    return files;
  }

  const std::string installed = read_text(source_path("etc/site.toml"));

  // As packages put it there up to 2026-11-30, with fewer options than there are now.
  const std::string of_earlier_package =
      "# Configuration of smd. Every option is shown at its default; remove the leading # to set\n"
      "# one. `smd check-config -c FILE` says whether a file is right, and SIGHUP makes a running\n"
      "# daemon read it again.\n"
      "\n"
      "# Where MADs come from and go to.\n"
      "[transport]\n"
      "\n"
      "# Real adapters, or the built-in simulated fabric. Default: \"umad\".\n"
      "#kind = \"umad\"\n"
      "\n"
      "# The subnet: who manages it, its LIDs and its routes.\n"
      "[sm]\n"
      "\n"
      "#another = 1\n";
};

// The package puts it there, and the lines of docs/operations.md come after that.
TEST_F(ImportOver, TheFileOfThePackageSaysNothingAndIsWrittenOver) {
  std::ofstream(toml()) << installed;
  const Finished done = import();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::ofstream(toml()) << of_earlier_package;
  EXPECT_EQ(import().exit_code, 2) << "the report is there";
  std::filesystem::remove(in_folder("etc/import-opensm.txt"));
  EXPECT_EQ(import().exit_code, 0) << "what packages put there up to 2026-11-30";
  EXPECT_THAT(read_text(toml()), HasSubstr("priority = 7"));
  EXPECT_EQ(count_files(), 2u) << "the configuration and the report";
  EXPECT_EQ(import().exit_code, 2) << "what was imported is nobody's default";
}

TEST_F(ImportOver, WhateverElseIsThereStays) {
  for (const std::string& text : {installed + "\n",
                                  installed.substr(1),
                                  std::string(),
                                  std::string("[sm]\n"),
                                  of_earlier_package + "priority = 3\n",
                                  of_earlier_package + "[sm\n",
                                  of_earlier_package.substr(of_earlier_package.find('\n') + 1)}) {
    std::ofstream(toml()) << text;
    const Finished done = import();
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.err, toml() + ": is there already; --force writes over it\n");
    EXPECT_EQ(read_text(toml()), text);
    EXPECT_EQ(count_files(), 1u);
  }
  // A link may be the way to a file that others share.
  std::filesystem::remove(toml());
  std::ofstream(in_folder("shared.toml")) << installed;
  std::filesystem::create_symlink(in_folder("shared.toml"), toml());
  EXPECT_EQ(import().exit_code, 2);
  EXPECT_EQ(read_text(in_folder("shared.toml")), installed);
}

TEST_F(ImportOver, AReportThatIsThereKeepsTheFileOfThePackage) {
  std::ofstream(toml()) << installed;
  std::ofstream(in_folder("etc/import-opensm.txt")) << "mine\n";
  EXPECT_EQ(import().exit_code, 2);
  EXPECT_EQ(read_text(toml()), installed);
  EXPECT_EQ(count_files(), 2u);
}

}  // namespace cli_reload_test
}  // namespace smd::test
