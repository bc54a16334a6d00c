// systemd/smd.service: what an operator relies on, and systemd's own opinion where it is installed.
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

/// "Service.Type" → "notify". A key that is given twice keeps its last value.
std::map<std::string, std::string> read_unit() {
  std::map<std::string, std::string> settings;
  std::string section;
  for (const Line& line : read_lines("systemd/smd.service")) {
    const std::string& text = line.text;
    if (text.empty() || text[0] == '#') continue;
    if (text[0] == '[') {
      section = text.substr(1, text.find(']') - 1);
      continue;
    }
    const std::size_t equals = text.find('=');
    EXPECT_NE(equals, std::string::npos) << "systemd/smd.service:" << line.number;
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
  EXPECT_EQ(unit.at("Service.DeviceAllow"), "char-infiniband_mad rw");
  EXPECT_FALSE(unit.contains("Service.PrivateDevices")) << "would hide /dev/infiniband";
  EXPECT_FALSE(unit.contains("Service.User")) << "the devices belong to root";
}

TEST(ServiceUnit, DirectoriesAreThoseOfTheDefaultConfiguration) {
  const std::string config = read_text("etc/smd.toml");
  EXPECT_THAT(config, HasSubstr("#state_dir = \"/var/lib/smd\"\n"));
  EXPECT_THAT(config, HasSubstr("#socket = \"/run/smd/smd.sock\"\n"));
}

TEST(ServiceUnit, SystemdAcceptsIt) {
  if (std::system("systemd-analyze --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "systemd-analyze is not installed";
  }
  // The daemon need not be installed where the test runs: any program stands in for it.
  std::string text = read_text("systemd/smd.service");
  const std::string program = "ExecStart=/usr/sbin/smd ";
  ASSERT_THAT(text, HasSubstr(program));
  text.replace(text.find(program), program.size(), "ExecStart=/bin/true ");
  const std::string folder = testing::TempDir() + "smd_service_unit_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/smd.service") << text;

  const std::string command =
      "systemd-analyze verify --man=no --recursive-errors=no " + folder + "/smd.service 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string said;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << said;
  EXPECT_EQ(said, "") << "a misspelt setting is a warning to systemd, a fault to us";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace smd::lint
