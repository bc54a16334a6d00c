// Files of OpenSM that an import does not find, or cannot read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "smd/config/config.h"
#include "smd/config/opensm_config.h"

namespace smd {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(OpensmImport, FilesThatCannotBeReadAreFaults) {
  OpensmSources sources{.file = "f", .text = "root_guid_file /dev/zero\n"};
  sources.read = [](const std::string& path) -> std::optional<Parsed<std::string>> {
    if (path != "/dev/zero") return std::nullopt;
    return Parsed<std::string>(fault(path, 0, "is a device"));
  };
  const auto done = import_opensm(sources);
  ASSERT_FALSE(done);
  EXPECT_EQ(print_fault(done.error().front()), "/dev/zero: is a device");
}

TEST(OpensmImport, WithoutItsFileOpensmHasItsDefaults) {
  OpensmSources sources{.file = "/etc/opensm/opensm.conf", .text = std::nullopt};
  std::map<std::string, std::string> files = {
      {"/etc/opensm/partitions.conf", "Default=0x7fff: ALL=limited, SELF=full;\n"}};
  sources.read = [&](const std::string& path) -> std::optional<Parsed<std::string>> {
    const auto it = files.find(path);
    if (it == files.end()) return std::nullopt;
    return Parsed<std::string>(it->second);
  };
  const auto done = import_opensm(sources);
  ASSERT_TRUE(done) << print_fault(done.error().front());
  EXPECT_EQ(print_report_line(done->report.front()),
            "/etc/opensm/opensm.conf: opensm.conf: no such file: OpenSM's defaults");
  const std::string& text = done->configs.front().text;
  EXPECT_THAT(text, StartsWith("# From OpenSM's defaults, by smd import-opensm.\n"));
  EXPECT_THAT(text, HasSubstr("file = \"/etc/opensm/partitions.conf\""));
  // All but the first line is as with a file that says nothing.
  sources.text = "";
  const auto empty = import_opensm(sources);
  ASSERT_TRUE(empty);
  const auto rest = [](const std::string& of) { return of.substr(of.find('\n')); };
  EXPECT_EQ(rest(text), rest(empty->configs.front().text));
  sources.text.reset();
  // Another build's place has one.
  files["/etc/rdma/opensm.conf"] = "";
  const auto elsewhere = import_opensm(sources);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(print_fault(elsewhere.error().front()),
            "/etc/opensm/opensm.conf: no such file; /etc/rdma/opensm.conf is there");
  for (const char* by_hand : {"/srv/opensm.conf", "/etc/opensm/site.conf", "opensm.conf"}) {
    sources.file = by_hand;
    const auto refused = import_opensm(sources);
    ASSERT_FALSE(refused);
    EXPECT_EQ(print_fault(refused.error().front()), std::string(by_hand) + ": no such file");
  }
}

/// Lines of debug are not limited in number.
TEST(OpensmImport, DebugIsForThoseWhoHaveAllOfIt) {
  const auto level = [](const std::string& bits) {
    OpensmSources sources{.file = "f", .text = "log_flags " + bits + "\n"};
    sources.read = [](const std::string&) { return std::nullopt; };
    const auto done = import_opensm(sources);
    const auto config = done ? parse_config(done->configs.front().text, "smd.toml") : Config{};
    std::string said;
    for (const OpensmReportLine& line : done ? done->report : std::vector<OpensmReportLine>())
      if (line.option.starts_with("log_flags")) said = line.text;
    return (config ? config->log.level : "") + ": " + said;
  };
  EXPECT_THAT(level("0x01"), StartsWith("warn: "));
  EXPECT_THAT(level("0x07"), AllOf(StartsWith("info: "), Not(HasSubstr("limited"))));
  EXPECT_THAT(level("0x0b"), AllOf(StartsWith("info: "), HasSubstr("for all of OpenSM's alone")));
  EXPECT_THAT(level("0xff"), AllOf(StartsWith("debug: "), HasSubstr("are not limited")));
}

}  // namespace
}  // namespace smd
