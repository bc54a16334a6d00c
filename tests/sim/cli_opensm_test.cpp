// What smd makes of OpenSM's files and leaves for it: smd state, smd import-opensm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/sim/command_lines.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace cli_test {

using testing::HasSubstr;

TEST(StateExport, RefusesADirectoryWhereAFileShouldBe) {
  const Written place("x", "");
  std::filesystem::create_directories(place.folder() + "/lids");
  expect_fault(smd({"state", "export", "--dir", place.folder()}), {"/lids: ", "is a directory"});
}

TEST(StateExport, ForOpensmGoesIntoADirectory) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  const std::string cache = lids.folder() + "/cache";
  const Finished done = smd({"state", "export", "--dir", lids.folder(), "--as", "opensm", cache});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, cache + "/guid2lid written: 1 ports with LIDs\n");
  EXPECT_EQ(read_text(cache + "/guid2lid"), "0x0000000000000001 0x0001 0x0001\n\n");
}

TEST(StateExport, ForOpensmNeverReplacesAFile) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  const Written there("guid2lid", "mine\n");
  expect_fault(smd({"state", "export", "--dir", lids.folder(), "--as", "opensm", there.folder()}),
               {there.path() + ": is there already"});
  EXPECT_EQ(read_text(there.path()), "mine\n");
}

TEST(StateExport, ForOpensmPutsAsideWhatIsThere) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  const Written there("guid2lid", "first\n");
  const std::string dump = there.folder() + "/opensm-sa.dump";
  std::ofstream(dump) << "of before\n";
  const std::vector<std::string> words{
      "state", "export", "--dir", lids.folder(), "--as", "opensm", "--replace", there.folder()};
  const std::string fresh = "0x0000000000000001 0x0001 0x0001\n\n";
  const Finished once = smd(words);
  EXPECT_EQ(once.exit_code, 0) << once.err;
  EXPECT_EQ(once.out,
            there.path() + " of before is " + there.path() + ".before-smd now\n" + dump +
                " of before is " + dump + ".before-smd now\n" + there.path() +
                " written: 1 ports with LIDs\n");
  EXPECT_EQ(read_text(there.path()), fresh);
  EXPECT_EQ(read_text(there.path() + ".before-smd"), "first\n");
  EXPECT_FALSE(std::filesystem::exists(dump)) << "OpenSM would take it for what is true now";
  EXPECT_EQ(read_text(dump + ".before-smd"), "of before\n");
  std::ofstream(there.path()) << "second\n";
  const Finished twice = smd(words);
  EXPECT_EQ(twice.exit_code, 0) << twice.err;
  EXPECT_THAT(twice.out, HasSubstr(" is " + there.path() + ".before-smd.2 now\n"));
  EXPECT_EQ(read_text(there.path()), fresh);
  EXPECT_EQ(read_text(there.path() + ".before-smd"), "first\n");
  EXPECT_EQ(read_text(there.path() + ".before-smd.2"), "second\n");
  expect_fault(smd({"state", "export", "--dir", lids.folder(), "--replace"}),
               {"--replace: is for --as opensm"});
}

TEST(StateExport, ForOpensmLeavesNoTurnBlockedUnasked) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  std::ofstream(lids.folder() + "/turns") << "0x0000000000000007 1 2\n0x0000000000000007 2 1\n";
  const std::string cache = lids.folder() + "/cache";
  std::vector<std::string> words{
      "state", "export", "--dir", lids.folder(), "--as", "opensm", cache};
  expect_fault(smd(words), {"/turns: 2 turns may be blocked", "start smd once more"});
  EXPECT_FALSE(std::filesystem::exists(cache));
  words.push_back("--leave-turns");
  EXPECT_EQ(smd(words).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(cache + "/guid2lid"));
}

TEST(StateExport, ForOpensmAndImportsTakeRecordsForIncomplete) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  const std::string mark = lids.folder() + "/records.complete";
  std::ofstream(mark) << "of an end in order\n";
  const std::string cache = lids.folder() + "/cache";
  ASSERT_EQ(smd({"state", "export", "--dir", lids.folder()}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(mark)) << "a copy changes nothing";
  ASSERT_EQ(smd({"state", "export", "--dir", lids.folder(), "--as", "opensm", cache}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(mark)) << "OpenSM rules now";
  std::ofstream(mark) << "of an end in order\n";
  const std::vector<std::string> import{
      "state", "import", "--dir", lids.folder(), cache + "/guid2lid"};
  EXPECT_EQ(smd(import).exit_code, 2);
  EXPECT_TRUE(std::filesystem::exists(mark)) << "nothing was taken over";
  std::vector<std::string> replace = import;
  replace.push_back("--replace");
  ASSERT_EQ(smd(replace).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(mark)) << "OpenSM ruled";
}

/// Runs `work` on a thread whose processes find no file system with hard links.
void without_links(const std::function<void()>& work) {
  std::thread([&] {
    std::vector<sock_filter> steps{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
#ifdef SYS_link
    steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_link, 1, 0));
#endif
    steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1));
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog filter{static_cast<unsigned short>(steps.size()), steps.data()};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
    ASSERT_NE(::link("/dev/null", "/dev/null/x"), 0);
    ASSERT_EQ(errno, EPERM);
    work();
  }).join();
}

TEST(StateExport, ForOpensmNeedsNoHardLinks) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  const Written there("guid2lid", "first\n");
  const std::string dump = there.folder() + "/opensm-sa.dump";
  std::ofstream(dump) << "of before\n";
  const std::string cache = lids.folder() + "/cache";
  const std::string fresh = "0x0000000000000001 0x0001 0x0001\n\n";
  without_links([&] {
    const auto leave = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"state", "export", "--dir", lids.folder(), "--as", "opensm"});
      return smd(words);
    };
    EXPECT_EQ(leave({cache}).exit_code, 0);
    const Finished done = leave({"--replace", there.folder()});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    std::ofstream(there.path()) << "second\n";
    EXPECT_EQ(leave({"--replace", there.folder()}).exit_code, 0);
  });
  EXPECT_EQ(read_text(cache + "/guid2lid"), fresh);
  EXPECT_EQ(read_text(there.path()), fresh);
  EXPECT_EQ(read_text(there.path() + ".before-smd"), "first\n");
  EXPECT_EQ(read_text(there.path() + ".before-smd.2"), "second\n");
  EXPECT_FALSE(std::filesystem::exists(dump));
  EXPECT_EQ(read_text(dump + ".before-smd"), "of before\n");
}

TEST(StateExport, ForOpensmThatCannotBeWrittenChangesNothing) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  const Written there("guid2lid", "mine\n");
  std::filesystem::create_directory(there.folder() + "/opensm-sa.dump");
  const Finished done = smd(
      {"state", "export", "--dir", lids.folder(), "--as", "opensm", "--replace", there.folder()});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr(there.folder() + "/opensm-sa.dump.before-smd: "));
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(read_text(there.path()), "mine\n");
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(there.folder()))
    files += each.exists() ? 1 : 0;
  EXPECT_EQ(files, 2u);
}

TEST(StateExport, ForOpensmSaysWhereItCannotWrite) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  // A file where a directory should be; a folder in which nobody may create anything, not even
  // root.
  for (const std::string& place : {lids.path(), std::string("/proc/self/net")}) {
    const Finished done = smd({"state", "export", "--dir", lids.folder(), "--as", "opensm", place});
    EXPECT_EQ(done.exit_code, 1) << place;
    EXPECT_THAT(done.err, HasSubstr("smd state: " + place));
    EXPECT_EQ(done.out, "");
  }
}

TEST(StateExport, WrongWordsAreCode2WithOneLine) {
  const Written lids("lids", "0x0000000000000001 0x0001 0\n");
  const std::vector<std::string> common{"state", "export", "--dir", lids.folder()};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = common;
    words.insert(words.end(), more.begin(), more.end());
    return smd(words);
  };
  expect_fault(with({"--as", "opensm"}), {"--as: opensm needs a DIR"});
  expect_fault(with({"/nowhere"}), {"--as: opensm needs a DIR"});
  EXPECT_EQ(with({"--as", "ibm", "/nowhere"}).exit_code, 2);
  EXPECT_EQ(with({"--as", "opensm", "/nowhere", "-o", "/nowhere/x"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists("/nowhere"));
  const Written nothing("other", "");
  expect_fault(smd({"state", "export", "--dir", nothing.folder(), "--as", "opensm", "/nowhere"}),
               {nothing.folder() + ": has no LIDs"});
}

TEST(StateImport, TakesGuid2mkeyForWhatItIs) {
  const Written keys("guid2mkey",
                     "0x0000000000000001 0x0000000000000022\n\n"
                     "0x0000000000000002 0x0000000000000022\n");
  const Finished done = smd({"state", "import", keys.path(), "--dir", keys.folder() + "/state"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(std::ranges::count(done.out, '\n'), 1) << done.out;
  EXPECT_THAT(done.out, HasSubstr("guid2mkey: smd's keys are those of sm.m_key or sm.m_key_file"));
}

TEST(StateImport, ADamagedFileHasTwentyFaultsAndACount) {
  std::string text = "0x1 0x1 0x1\n";
  for (int i = 0; i < 5000; ++i) text += "0x\x1b[31m\n";
  const Written lids("guid2lid", text);
  const Finished done = smd({"state", "import", lids.path(), "--dir", lids.folder() + "/state"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(std::ranges::count(done.err, '\n'), 21);
  EXPECT_THAT(done.err, HasSubstr("and 4980 more faults"));
  EXPECT_THAT(done.err, testing::Not(HasSubstr("\x1b")));
}

TEST(ImportOpensm, WritesAConfigurationAndAReport) {
  const Written conf("opensm.conf", "sm_priority 7\nmax_op_vls 4\npartition_config_file /no/p\n");
  const std::string dir = conf.folder() + "/smd/new";
  const Finished done = smd({"import-opensm", conf.path(), "--flags", "-l 1", "-o", dir});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr(dir + "/smd.toml written\n"));
  EXPECT_THAT(done.out, HasSubstr("--flags: lmc 1: carried as sm.lmc = 1\n"));
  EXPECT_THAT(read_text(dir + "/import-opensm.txt"),
              HasSubstr("max_op_vls 4: carried with another"));
  EXPECT_EQ(smd({"check-config", "-c", dir + "/smd.toml"}).exit_code, 0);
  const Finished shown = smd({"check-config", "-c", dir + "/smd.toml", "--print"});
  EXPECT_THAT(shown.out, HasSubstr("max_operational_vls = 8  # " + dir + "/smd.toml:"));
  EXPECT_THAT(shown.out, HasSubstr("mtu_max = 4096  # default\n"));
  // Without a directory: the configuration alone on stdout.
  const Finished printed = smd({"import-opensm", conf.path(), "--flags", "-l 1"});
  EXPECT_EQ(printed.out, read_text(dir + "/smd.toml"));
  EXPECT_THAT(printed.err, HasSubstr("sm_priority 7: carried as sm.priority = 7\n"));
}

TEST(ImportOpensm, OfSeveralPortsSaysWhatIsToBeRun) {
  const Written conf("opensm.conf", "");
  const Written start("start", "PORTS=\"0x0002c9030002fb06 0x0002c9030002fce9\"\n");
  const Written book("guid2lid", "");
  const std::string dir = conf.folder();
  const auto import = [&](const std::string& cache) {
    return run_process({.argv = {program("smd"),
                                 "import-opensm",
                                 conf.path(),
                                 "--sysconfig",
                                 start.path(),
                                 "--force",
                                 "-o",
                                 dir},
                        .env = {{"OSM_CACHE_DIR", cache}}},
                       kLimit);
  };
  const std::string files = dir + "/0x0002c9030002fb06.toml " + dir + "/0x0002c9030002fce9.toml";
  const std::string books = "  sudo smd state import --instance 0x0002c9030002fb06 " + book.path() +
                            " &&\n  sudo smd state import --instance 0x0002c9030002fce9 " +
                            book.path() + " &&\n";
  const std::string none =
      "  # no /none/guid2lid: no LIDs of OpenSM; where its cache directory is "
      "another, import the guid2lid there first\n";
  const std::string begin = "\n  sudo install -D -m 0640 -t /etc/smd " + files + " &&\n";
  const std::string end =
      "  sudo systemctl disable --now opensm &&\n"
      "  sudo systemctl daemon-reload &&\n"
      "  sudo systemctl enable --now smd.target &&\n"
      "  sudo smctl -i 0x0002c9030002fb06 status &&\n"
      "  sudo smctl -i 0x0002c9030002fce9 status\n";
  EXPECT_THAT(import(book.folder()).out, testing::EndsWith(begin + books + end));
  EXPECT_THAT(import("/none").out, testing::EndsWith(begin + none + end)) << "OpenSM left no LIDs";
  EXPECT_THAT(import("").out, testing::HasSubstr("/var/cache/opensm/guid2lid"))
      << "no name is the default, as with OpenSM";
  const Written spaced("guid2lid", "");
  const std::string odd = spaced.folder() + "/it's; one";
  std::filesystem::create_directory(odd);
  std::filesystem::copy_file(spaced.path(), odd + "/guid2lid");
  EXPECT_THAT(import(odd).out,
              testing::HasSubstr(" '" + spaced.folder() + "/it'\\''s; one/guid2lid' &&\n"));
  // The page has the same lines for a folder that needs no copy.
  std::string page = books + end;
  for (std::size_t at = 0; (at = page.find(book.folder(), at)) != std::string::npos;)
    page.replace(at, book.folder().size(), "/var/cache/opensm");
  for (std::size_t at = 0; (at = page.find("  sudo", at)) != std::string::npos;) page.erase(at, 2);
  EXPECT_THAT(read_text(source_path("docs/operations.md")), HasSubstr("```\n" + page + "```\n"));
  std::ofstream(start.path()) << "PORTS=0x0002c9030002fb06\n";
  EXPECT_THAT(import(book.folder()).out, testing::Not(HasSubstr("smd.target")));
}

TEST(Run, SaysThatConfigurationsOfPortsAreThere) {
  const Written port("0x0002c9030002fb06.toml", "");
  const std::string toml = port.folder() + "/smd.toml";
  const auto run = [&](const std::string& text, std::vector<std::string> words) {
    std::ofstream(toml) << text << "[sm]\nstate_dir = \"" << port.folder() << "/state\"\n";
    words.insert(words.begin(), {"run", "--once", "-c", toml});
    return smd(words).err;
  };
  const std::string said = " warn config.ports files=0x0002c9030002fb06.toml folder=";
  EXPECT_THAT(run("", {}), HasSubstr(said + port.folder()));
  EXPECT_THAT(run("[transport]\nport_guid = \"0x7\"\n", {}), testing::Not(HasSubstr(said)));
  EXPECT_THAT(run("", {"--port-guid", "0x7"}), testing::Not(HasSubstr(said)));
  EXPECT_THAT(run("", {"--instance", "storage"}), testing::Not(HasSubstr(said)));
  std::filesystem::remove(port.path());
  EXPECT_THAT(run("", {}), testing::Not(HasSubstr("config.ports")));
}

TEST(ImportOpensm, LeavesWhatIsThereUnlessForced) {
  const Written conf("opensm.conf", "sm_priority 7\n");
  const std::string dir = conf.folder(), toml = dir + "/smd.toml";
  std::ofstream(toml) << "# mine\n";
  expect_fault(smd({"import-opensm", conf.path(), "-o", dir}),
               {toml + ": is there already; --force writes over it"});
  EXPECT_EQ(read_text(toml), "# mine\n");
  EXPECT_FALSE(std::filesystem::exists(dir + "/import-opensm.txt"));
  EXPECT_EQ(smd({"import-opensm", conf.path(), "-o", dir, "--force"}).exit_code, 0);
  EXPECT_THAT(read_text(toml), HasSubstr("priority = 7"));
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(dir)) files += each.exists() ? 1 : 0;
  EXPECT_EQ(files, 3u) << "the input, the configuration, the report";
}

TEST(ImportOpensm, AFaultLeavesNothingBehind) {
  const Written conf("opensm.conf", "sm_priority 7\n  lmc 9\nroot_guid_file /dev/zero\n");
  const std::string dir = conf.folder() + "/new";
  expect_fault(smd({"import-opensm", conf.path(), "-o", dir}),
               {conf.path() + ":2:7: lmc is \"9\"; a number from 0 to 7\n"});
  const Written root("opensm.conf", "routing_engine updn\nroot_guid_file /dev/zero\n");
  expect_fault(smd({"import-opensm", root.path(), "-o", dir}), {"/dev/zero: is a device"});
  const Written start("start", "PORTS=\"0x1 0x2\"\n");
  const Written good("opensm.conf", "");
  expect_fault(smd({"import-opensm", good.path(), "--sysconfig", start.path()}),
               {"-o: 2 ports have a configuration each"});
  expect_fault(smd({"import-opensm", good.path(), "--sysconfig", "/nowhere", "-o", dir}),
               {"/nowhere: "});
  expect_fault(smd({"import-opensm", good.path(), "--flags", "-p 16", "-o", dir}), {"--flags:4: "});
  expect_fault(smd({"import-opensm", "/no/opensm.conf", "-o", dir}),
               {"/no/opensm.conf: no such file\n"});
  EXPECT_FALSE(std::filesystem::exists(dir));
  const Finished unwritable = smd({"import-opensm", good.path(), "-o", "/proc/none"});
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.err, testing::StartsWith("smd import-opensm: /proc/none: "));
}

TEST(ImportOpensm, OfKeysOnlyWhoReadThemBeforeMayRead) {
  const Written conf("opensm.conf", "m_key 0x77\n");
  const std::string toml = conf.folder() + "/smd.toml";
  const auto mode_of_import = [&](::mode_t mode) {
    EXPECT_EQ(::chmod(conf.path().c_str(), mode), 0);
    EXPECT_EQ(smd({"import-opensm", conf.path(), "-o", conf.folder(), "--force"}).exit_code, 0);

    struct stat made {};

    EXPECT_EQ(::stat(toml.c_str(), &made), 0);
    return made.st_mode & 0777;
  };
  EXPECT_EQ(mode_of_import(0600), 0600u);
  EXPECT_EQ(mode_of_import(0644), 0600u) << "as the file before";
  std::filesystem::remove(toml);
  EXPECT_EQ(mode_of_import(0644), 0640u);
  ASSERT_EQ(::chmod(toml.c_str(), 0664), 0);
  EXPECT_EQ(mode_of_import(0644), 0644u) << "the site's own choice";
}

}  // namespace cli_test
}  // namespace smd::test
