// systemd/smd.service and smd@.service: what an operator relies on, and systemd's own opinion where
// it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/lint/source_tree.h"

namespace smd::lint {
namespace {

using testing::HasSubstr;
using testing::Not;

/// "Service.Type" → "notify". A key that is given twice keeps its last value.
std::map<std::string, std::string> read_unit(const char* path = "systemd/smd.service") {
  std::map<std::string, std::string> settings;
  std::string section;
  for (const Line& line : read_lines(path)) {
    const std::string& text = line.text;
    if (text.empty() || text[0] == '#') continue;
    if (text[0] == '[') {
      section = text.substr(1, text.find(']') - 1);
      continue;
    }
    const std::size_t equals = text.find('=');
    EXPECT_NE(equals, std::string::npos) << path << ":" << line.number;
    settings[section + "." + text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

TEST(ServiceUnit, KeepsWhatOperatorsRelyOn) {
  const auto unit = read_unit();
  const std::map<std::string, std::string> wanted = {
      {"Service.Type", "notify"},
      {"Service.ExecReload", "/bin/kill -HUP $MAINPID"},
      {"Service.WatchdogSec", "30"},
      {"Service.Restart", "on-failure"},
      {"Service.RestartPreventExitStatus", "2"},
      {"Service.StateDirectory", "smd"},
      {"Service.RuntimeDirectory", "smd"},
      {"Service.RuntimeDirectoryPreserve", "yes"},  // instances have their sockets there
      {"Service.ProtectSystem", "strict"},
      {"Service.PrivateTmp", "yes"},
      {"Service.NoNewPrivileges", "yes"},
      {"Service.CapabilityBoundingSet", ""},
      {"Service.MemoryDenyWriteExecute", "yes"},
      {"Service.RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK"},
  };
  for (const auto& [key, value] : wanted) {
    const auto it = unit.find(key);
    ASSERT_NE(it, unit.end()) << key;
    EXPECT_EQ(it->second, value) << key;
  }
  EXPECT_THAT(unit.at("Service.ExecStart"), HasSubstr("/smd run -c "));
}

TEST(ServiceUnit, CanOpenTheAdapters) {
  const auto unit = read_unit();
  // By name, and by number where the module is loaded after the unit was started.
  for (const char* path : {"systemd/smd.service", "systemd/smd@.service"})
    EXPECT_THAT(read_text(path), HasSubstr("DeviceAllow=char-infiniband_mad rw\n"));
  EXPECT_EQ(unit.at("Service.DeviceAllow"), "char-231 rw");
  EXPECT_EQ(unit.at("Unit.Wants"), "modprobe@ib_umad.service");
  EXPECT_FALSE(unit.contains("Service.PrivateDevices")) << "would hide /dev/infiniband";
  EXPECT_FALSE(unit.contains("Service.User")) << "the devices belong to root";
}

TEST(ServiceUnit, LetsTheReceivingThreadGoAhead) {
  for (const char* path : {"systemd/smd.service", "systemd/smd@.service"}) {
    const std::string unit = read_text(path);
    EXPECT_THAT(unit, HasSubstr("\nLimitRTPRIO=1\n"));
    EXPECT_THAT(unit, Not(HasSubstr("RestrictRealtime="))) << "would refuse it all the same";
  }
}

TEST(ServiceUnit, DirectoriesAreThoseOfTheDefaultConfiguration) {
  const std::string config = read_text("etc/smd.toml");
  EXPECT_THAT(config, HasSubstr("#state_dir = \"/var/lib/smd\"\n"));
  EXPECT_THAT(config, HasSubstr("#socket = \"/run/smd/smd.sock\"\n"));
}

TEST(ServiceUnit, AnInstanceDiffersInNamesAlone) {
  auto one = read_unit(), instance = read_unit("systemd/smd@.service");
  const std::map<std::string, std::string> own = {
      {"Unit.Description", "InfiniBand subnet manager %i"},
      {"Unit.PartOf", "smd.target"},
      {"Service.EnvironmentFile", "-/etc/default/smd@%i"},
      {"Service.ExecStart", "/usr/sbin/smd run --instance %i $SMD_OPTIONS"},
      {"Service.SyslogIdentifier", "smd@%i"},
      {"Service.StateDirectory", "smd smd/%i"},
  };
  for (const auto& [key, value] : own) {
    EXPECT_EQ(instance[key], value) << key;
    one.erase(key);
    instance.erase(key);
  }
  EXPECT_EQ(one, instance);
}

TEST(ServiceUnit, SystemdAcceptsThem) {
  if (std::system("systemd-analyze --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "systemd-analyze is not installed";
  }
  const std::string folder = testing::TempDir() + "smd_service_unit_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  for (const auto& [unit, name] : {std::pair{"smd.service", "smd.service"},
                                   std::pair{"smd@.service", "smd@0x0002c9030002fb06.service"}}) {
    // The daemon need not be installed where the test runs: any program stands in for it.
    std::string text = read_text(std::string("systemd/") + unit);
    const std::string program = "ExecStart=/usr/sbin/smd ";
    ASSERT_THAT(text, HasSubstr(program));
    text.replace(text.find(program), program.size(), "ExecStart=/bin/true ");
    std::ofstream(folder + "/" + name) << text;
    const std::string command =
        "systemd-analyze verify --man=no --recursive-errors=no " + folder + "/" + name + " 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string said;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
    EXPECT_EQ(::pclose(pipe), 0) << said;
    EXPECT_EQ(said, "") << "a misspelt setting is a warning to systemd, a fault to us";
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace smd::lint
