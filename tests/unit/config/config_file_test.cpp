// Configurations as files: what cannot be read, files of the site that are named in them, and the
// two that are made from the table of options.
#include "smd/base/log.h"
#include "smd/config/config.h"
#include "smd/config/options.h"
#include "smd/config/settings.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace smd {
namespace config_file_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Config config_of(std::string_view text) {
  const auto config = parse_config(text, "smd.toml");
  EXPECT_TRUE(config) << (config ? "" : print_fault(config.error().front()));
  return config.value_or(Config{});
}

/// SMD_UPDATE_GOLDEN=1 writes the file instead of judging it.
void expect_file(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(test::read_text(path), text) << path << " does not say what the table of options says; "
                                         << "SMD_UPDATE_GOLDEN=1 rewrites it";
}

TEST(Config, FilesThatCannotBeRead) {
  const auto missing = load_config("/nonexistent/smd.toml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(print_fault(missing.error()[0]), "/nonexistent/smd.toml: no such file");
  const auto folder = load_config("/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(print_fault(folder.error()[0]), "/: is a directory: name a file in it");
  EXPECT_FALSE(load_config("/dev/zero")) << "must not read for ever";
}

class ConfigFile : public testing::Test {
 protected:
  ConfigFile()
      : path_(testing::TempDir() + "config_test_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml") {}

  ~ConfigFile() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }

  std::string path_;
};

TEST_F(ConfigFile, ThatIsEmptyIsNoneOfASite) {
  for (const char* text : {"", "\n", " \t\r\n\n", "\xef\xbb\xbf\n"}) {
    write(text);
    for (const auto& config : {load_config(path_), load_options(path_, nullptr)}) {
      ASSERT_FALSE(config) << "'" << text << "'";
      EXPECT_EQ(print_fault(config.error()[0]),
                path_ +
                    ": is empty; a write that broke off leaves such a file. One line, such as "
                    "a remark (#), makes it a configuration that sets nothing");
    }
  }
}

TEST_F(ConfigFile, FaultsNameTheFile) {
  write("[sm]\nlmc = 9\n");
  const auto config = load_config(path_);
  ASSERT_FALSE(config);
  EXPECT_EQ(print_fault(config.error()[0]), path_ + ":2:7: sm.lmc is 9; a number from 0 to 7");
}

TEST(Config, AnEngineOrAListOfThem) {
  const Config one = config_of("[sm]\nengine = \"ftree\"\n");
  EXPECT_THAT(one.sm.engine, ElementsAre("ftree"));
  EXPECT_THAT(print_config(one), HasSubstr("\nengine = \"ftree\"\n"));
  EXPECT_EQ(make_settings(one).engine, "ftree");
  EXPECT_THAT(make_settings(one).next_engines, testing::IsEmpty());
  const Config list = config_of("[sm]\nengine = [\"ftree\", \"dor\", \"minhop\"]\n");
  EXPECT_THAT(print_config(list), HasSubstr("\nengine = [\"ftree\", \"dor\", \"minhop\"]\n"));
  EXPECT_EQ(make_settings(list).engine, "ftree");
  EXPECT_THAT(make_settings(list).next_engines, ElementsAre("dor", "minhop"));
}

TEST_F(ConfigFile, ThatHasARemarkAloneIsAllDefaults) {
  write("# nothing\n");
  EXPECT_EQ(load_config(path_).value(), Config{});
}

TEST_F(ConfigFile, FilesOfTheSiteAreReadToo) {
  const std::string partitions = path_ + ".partitions";
  const std::string policy = path_ + ".qos";
  write("[partitions]\nfile = \"" + partitions + "\"\n[qos]\npolicy_file = \"" + policy + "\"\n");
  std::ofstream(partitions) << "A=1: ALL;\nA=1: ALL=full;\n";
  std::ofstream(policy) << "qos-ulps\ndefault: 3\nend-qos-ulps\n";
  const auto config = load_config(path_);
  ASSERT_TRUE(config) << print_fault(config.error()[0]);
  EXPECT_EQ(config->partitions.rules.value().partitions.size(), 2u);
  EXPECT_EQ(config->partitions.remarks.size(), 1u);
  EXPECT_EQ(config->qos.rules.value().levels.at(0).sl, 3);

  std::ofstream(partitions) << "A=1: x;\n";
  std::ofstream(policy) << "\nqos\n";
  const auto wrong = load_config(path_);
  ASSERT_FALSE(wrong);
  ASSERT_GE(wrong.error().size(), 2u) << "those of every file";
  EXPECT_THAT(print_fault(wrong.error()[0]), HasSubstr(partitions + ":1:6: 'x' is no port"));
  EXPECT_THAT(print_fault(wrong.error()[1]), HasSubstr(policy + ":2:1: "));
  std::filesystem::remove(partitions);
  EXPECT_FALSE(load_config(path_)) << "a file that is named must be there";
  std::filesystem::remove(policy);
}

/// As editors of another system begin a file.
TEST_F(ConfigFile, AByteOrderMarkIsNoPartOfAName) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  const std::string partitions = path_ + ".partitions";
  write(std::string(kMark) + "[partitions]\nfile = \"" + partitions + "\"\n");
  std::ofstream(partitions) << kMark << "Storage=1: ALL;\n";
  const auto config = load_config(path_);
  ASSERT_TRUE(config) << print_fault(config.error()[0]);
  const auto& read = config->partitions.rules.value().partitions;
  EXPECT_TRUE(std::ranges::any_of(read, [](const Partition& p) { return p.name == "Storage"; }));
  std::filesystem::remove(partitions);
}

TEST_F(ConfigFile, AnPreviousTextTakesThePlaceOfAFileWithFaults) {
  const std::string partitions = path_ + ".partitions", policy = path_ + ".qos",
                    roots = path_ + ".roots";
  write("[partitions]\nfile = \"" + partitions + "\"\n[qos]\npolicy_file = \"" + policy +
        "\"\n[sm]\nroots = [\"0x1\"]\nroots_file = \"" + roots + "\"\n");
  std::ofstream(partitions) << "A=1: ALL;\n";
  std::ofstream(policy) << "qos-ulps\ndefault: 3\nend-qos-ulps\n";
  std::ofstream(roots) << "0x2\n";
  std::map<std::string, std::string> older = {};
  std::vector<std::string> asked;
  const FindPreviousText find =
      [&](const std::string& kind) -> Parsed<std::optional<PreviousText>> {
    asked.push_back(kind);
    if (older[kind] == "damaged") return fault("older", 0, "is cut off");
    if (older[kind].empty()) return std::nullopt;
    return PreviousText{.text = older[kind], .at = "older " + kind};
  };
  Config good = load_options(path_).value();
  EXPECT_FALSE(good.partitions.rules) << "the options alone";
  const auto files = read_named_files(good, find);
  ASSERT_TRUE(files);
  EXPECT_THAT(asked, testing::IsEmpty());
  EXPECT_EQ(good, load_config(path_).value());
  ASSERT_EQ(files->size(), 3u);
  for (const NamedFile& each : *files) {
    EXPECT_THAT(each.faults, testing::IsEmpty());
    older[each.kind] = each.text;
  }
  EXPECT_EQ(older["roots"], "0x2\n");

  std::ofstream(partitions) << "A=1: x;\n";
  std::ofstream(policy) << "\nqos\n";
  std::filesystem::remove(roots);
  Config old = load_options(path_).value();
  const auto kept = read_named_files(old, find);
  ASSERT_TRUE(kept) << print_fault(kept.error()[0]);
  EXPECT_EQ(old, good) << "nothing of the faulty texts";
  ASSERT_EQ(kept->size(), 3u);
  for (const NamedFile& each : *kept) {
    ASSERT_FALSE(each.faults.empty()) << each.kind;
    EXPECT_EQ(each.text, older[each.kind]);
    EXPECT_EQ(each.at, "older " + each.kind);
  }
  EXPECT_EQ(print_fault((*kept)[0].faults[0]), roots + ": no such file");
  EXPECT_THAT(print_fault((*kept)[1].faults[0]), HasSubstr(partitions + ":1:6: 'x' is no port"));

  // Where there is no former text, or none that is good, the faults of all stay.
  older["roots"].clear();
  older["partitions"] = "damaged";
  older["qos_policy"] = "qos\n";
  Config none = load_options(path_).value();
  const auto faults = read_named_files(none, find);
  ASSERT_FALSE(faults);
  std::vector<std::string> said;
  for (const Fault& each : faults.error()) said.push_back(print_fault(each));
  EXPECT_THAT(said, testing::Contains(roots + ": no such file"));
  EXPECT_THAT(said, testing::Contains("older: is cut off"));
  EXPECT_THAT(said, testing::Contains(StartsWith(partitions + ":1:6: ")));
  EXPECT_THAT(said, testing::Contains(StartsWith("older qos_policy:1:1: ")));
  EXPECT_FALSE(read_named_files(none)) << "without anybody to ask they are faults";
  std::filesystem::remove(partitions);
  std::filesystem::remove(policy);
}

TEST_F(ConfigFile, OversizeIsRefused) {
  write(std::string((1 << 20) + 1, '\n'));
  const auto config = load_config(path_);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error()[0].message, HasSubstr("1 MiB at most"));
}

TEST(ConfigText, PrintedConfigReadsBack) {
  Config config;
  config.transport.kind = TransportKind::Sim;
  config.transport.device = "a\"b\\c";
  config.sm.m_key = MKey{0xfedcba9876543210};
  config.sm.roots = {Guid{1}, Guid{2}};
  config.qos.vl_high_limit = 255;
  config.qos.vl_arb_low = {{Vl{0}, 1}, {Vl{3}, 0}};
  config.qos.sl2vl.emplace().fill(Vl{2});
  config.admin.socket_mode = 0600;
  EXPECT_EQ(config_of(print_config(config)), config);
  EXPECT_EQ(config_of(print_config(Config{})), Config{});
}

TEST(ConfigText, InstalledFileIsTheTable) {
  expect_file(test::source_path("etc/smd.toml"), print_default_config());
}

TEST(ConfigText, ReferenceIsTheTable) {
  const std::filesystem::path path = test::source_path("docs/formats/config.md");
  const std::string text = test::read_text(path);
  const std::string mark = "<!-- generated from the table of options -->\n";
  ASSERT_THAT(text, HasSubstr(mark));
  const std::string head = text.substr(0, text.find(mark) + mark.size());
  expect_file(path, head + print_config_reference());
}

TEST(ConfigText, InstalledFileIsAllDefaultsWithAndWithoutItsComments) {
  const std::string text = print_default_config();
  EXPECT_EQ(config_of(text), Config{});

  std::istringstream in(text);
  std::string uncommented;
  for (std::string line; std::getline(in, line);) {
    // "# words" is prose, "#key = value" an option.
    const bool option = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    uncommented += (option ? line.substr(1) : line) + "\n";
  }
  Config config = config_of(uncommented);
  EXPECT_TRUE(config.qos.sl2vl && config.qos.vl_high_limit && config.qos.vl_arb_high &&
              config.qos.vl_arb_low)
      << "examples of options without a default must be right too";
  const cc::Options& congestion = config.congestion;
  EXPECT_TRUE(congestion.cct && congestion.victim_mask && congestion.credit_mask &&
              congestion.cs_return_delay && congestion.marking_rate && congestion.ccti_timer[1]);
  config.qos = {};
  config.congestion = {};
  EXPECT_EQ(config, Config{});
}

TEST(Documents, OptionsThatLimitWhatAHostCanDoExist) {
  const std::string text = test::read_text(test::source_path("docs/operations.md"));
  const std::size_t from = text.find("## What one host can do to you");
  ASSERT_NE(from, std::string::npos);
  std::istringstream section(text.substr(from, text.find("\n## ", from) - from));
  std::size_t named = 0;
  for (std::string line; std::getline(section, line);) {
    if (!line.starts_with("| ") || line.starts_with("| what the host sends")) continue;
    // The last column: `section.key`, `section.key`
    std::string options = line.substr(line.rfind('|', line.size() - 2));
    for (std::size_t at = 0; (at = options.find('`', at)) != std::string::npos; ++named) {
      const std::size_t end = options.find('`', at + 1);
      const std::string name = options.substr(at + 1, end - at - 1);
      EXPECT_NE(std::ranges::find(config_options(), name, &ConfigOption::name),
                config_options().end())
          << name << " in: " << line;
      at = end + 1;
    }
  }
  EXPECT_GT(named, 20u);
}

// Instances: several managers on one machine.

TEST(Instance, HasAStateASocketAndALogOfItsOwn) {
  Config shared = config_of(
      "[sm]\nstate_dir = \"/srv/smd\"\ndump_dir = \"/srv/dumps\"\n[admin]\nsocket = "
      "\"/run/ib/admin\"\n"
      "[log]\nsink = \"/var/log/smd/smd.log\"\n");
  Config own = shared;
  set_instance("rail-a", false, shared);
  EXPECT_EQ(shared.sm.state_dir, "/srv/smd/rail-a");
  EXPECT_EQ(shared.sm.dump_dir, "/srv/dumps/rail-a");
  EXPECT_EQ(shared.admin.socket, "/run/ib/rail-a.sock");
  EXPECT_EQ(shared.log.sink, "/var/log/smd/rail-a.smd.log");
  EXPECT_EQ(shared.transport.port_guid, Guid{0});
  const Config named = own;
  set_instance("rail-a", true, own);
  EXPECT_EQ(own, named) << "what its own file names stays";
  Config empty;
  set_instance("rail-a", true, empty);
  EXPECT_EQ(empty.sm.state_dir, "/var/lib/smd/rail-a");
  EXPECT_EQ(empty.admin.socket, "/run/smd/rail-a.sock");
  EXPECT_EQ(empty.log.sink, "stderr");
}

TEST(Instance, OfASharedFileListensOnPortsOfItsOwn) {
  using std::string_literals::operator""s;
  const auto listens = [](std::string_view name, bool own_file) {
    Config config;
    config.metrics.listen = "127.0.0.1:9684";
    config.rest.listen = "[::1]:9685";
    set_instance(name, own_file, config);
    return std::pair(config.metrics.listen, config.rest.listen);
  };
  EXPECT_EQ(listens("0x0002c9030002fb06", false), std::pair("127.0.0.1:9698"s, "[::1]:9699"s));
  EXPECT_EQ(listens("0x0002c9030002fb07", false), std::pair("127.0.0.1:9700"s, "[::1]:9701"s));
  EXPECT_EQ(listens("a", false), std::pair("127.0.0.1:9880"s, "[::1]:9881"s));  // 'a' is 97
  EXPECT_EQ(listens("a", true), std::pair("127.0.0.1:9684"s, "[::1]:9685"s));
  Config sockets = config_of("[metrics]\nlisten = \"/run/smd/metrics\"\n");
  set_instance("rail-a", false, sockets);
  EXPECT_EQ(sockets.metrics.listen, "/run/smd/rail-a.metrics");
  EXPECT_EQ(sockets.rest.listen, "");
  Config high = config_of("[metrics]\nlisten = \"127.0.0.1:65500\"\n");
  set_instance("z", false, high);
  EXPECT_EQ(high.metrics.listen, "127.0.0.1:65254") << "no port is beyond 65535";
  Config any = config_of("[metrics]\nlisten = \"127.0.0.1:0\"\n");
  set_instance("rail-a", false, any);
  EXPECT_EQ(any.metrics.listen, "127.0.0.1:0") << "whichever is free";
}

TEST(Instance, CalledAfterAPortManagesThatPort) {
  for (const bool own_file : {false, true}) {
    Config config;
    set_instance("0x0002c9030002fb06", own_file, config);
    EXPECT_EQ(config.transport.port_guid, Guid{0x0002c9030002fb06});
    Config elsewhere = config_of("[transport]\nport_guid = \"0x1\"\n");
    set_instance("0x0002c9030002fb06", own_file, elsewhere);
    EXPECT_EQ(elsewhere.transport.port_guid, Guid{1});
    Config by_device = config_of("[transport]\ndevice = \"mlx5_1\"\n");
    set_instance("0x0002c9030002fb06", own_file, by_device);
    EXPECT_EQ(by_device.transport.port_guid, Guid{0});
  }
}

TEST(Instance, NamesAreThoseOfUnits) {
  for (const char* good : {"a", "0x0002c9030002fb06", "rail-1", "mlx5_0.1"})
    EXPECT_TRUE(is_instance_name(good)) << good;
  for (const std::string& bad :
       std::vector<std::string>{"", "..", "a/b", "-a", ".a", "a b", "a\n", std::string(65, 'a')})
    EXPECT_FALSE(is_instance_name(bad)) << bad;
  EXPECT_TRUE(is_instance_name(std::string(64, 'a')));
}

}  // namespace config_file_test
}  // namespace smd
