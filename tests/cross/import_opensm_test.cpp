// What `smd import-opensm` takes for OpenSM's defaults and for OpenSM's reading of a file and a
// command line, against Debian's opensm: `opensm -F FILE FLAGS -c OUT` writes what it has read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "smd/config/config.h"
#include "smd/config/opensm_config.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test {
namespace import_opensm_test {

using testing::IsSupersetOf;

constexpr std::chrono::seconds kLimit{30};

using Values = std::map<std::string, std::string>;

/// The last value of each option; those by SL by "option SL".
Values values_of(const std::vector<OpensmSetting>& settings) {
  Values out;
  for (const OpensmSetting& each : settings) {
    const OpensmOption* row = find_opensm_option(each.name);
    if (row == nullptr) continue;
    const std::string value = each.value.value_or("(null)");
    if (row->kind == OpensmKind::BySl) {
      const std::size_t blank = value.find_first_of(" \t");
      out[fmt::format("{} {}", each.name, value.substr(0, blank))] =
          blank == std::string::npos ? "" : value.substr(blank + 1);
    } else {
      out[each.name] = value;
    }
  }
  return out;
}

class ImportOpensm : public testing::Test {
 protected:
  /// The configuration that opensm has after reading; empty where it refuses.
  std::string written_by_opensm(const std::string& conf, std::vector<std::string> flags = {}) {
    std::ofstream(folder_ / "in") << conf;
    std::filesystem::remove(folder_ / "out");
    std::vector<std::string> argv = {"opensm", "-F", "in"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {"-c", "out"});
    run_process({.argv = argv, .cwd = folder_}, kLimit);
    return read_text(folder_ / "out");
  }

  static std::vector<OpensmSetting> settings(const std::string& text) {
    auto settings = parse_opensm_conf(text, "out");
    EXPECT_TRUE(settings);
    return settings.value_or(std::vector<OpensmSetting>{});
  }

  static OpensmImport import(const std::string& conf, const std::string& flags = "") {
    OpensmSources sources{.file = "opensm.conf", .text = conf, .flags = flags};
    sources.read = [](const std::string&) { return std::nullopt; };
    const auto import = import_opensm(sources);
    EXPECT_TRUE(import) << (import ? "" : print_fault(import.error().front()));
    return import.value_or(OpensmImport{{{"", ""}}, {}});
  }

  static Config config_of(const OpensmImport& import) {
    const auto config = parse_config(import.configs.front().text, "smd.toml");
    EXPECT_TRUE(config);
    return config.value_or(Config{});
  }

  Scratch scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

TEST_F(ImportOpensm, EveryOptionThatOpensmWritesIsInTheTableWithItsDefault) {
  const std::string text = written_by_opensm("");
  const Values written = values_of(settings(text));
  ASSERT_GT(written.size(), 150u);
  for (const OpensmSetting& each : settings(text))
    EXPECT_NE(find_opensm_option(each.name), nullptr) << each.name;
  std::set<std::string> without;
  for (const OpensmOption& row : opensm_options()) {
    std::string name(row.name), initial(row.initial);
    if (row.kind == OpensmKind::BySl) {
      name += " 0";
      initial = initial.substr(2);
    }
    const auto it = written.find(name);
    if (it == written.end())
      without.insert(name);
    else
      EXPECT_EQ(it->second, initial) << name;
  }
  // Of other versions, and an older name.
  EXPECT_THAT(without, testing::ElementsAre("dimn_ports_file", "max_rate_enum"));
}

/// A configuration that opensm itself says has nothing at its default.
TEST_F(ImportOpensm, EveryOptionThatOpensmHasNotAtItsDefaultIsOneLine) {
  const std::string conf =
      read_text(source_path("tests/golden/import-opensm/every-option/opensm.conf"));
  const Values defaults = values_of(settings(written_by_opensm("")));
  const Values written = values_of(settings(written_by_opensm(conf)));
  for (const auto& [name, value] : defaults) {
    const auto it = written.find(name);
    EXPECT_TRUE(it == written.end() || it->second != value) << name;
  }
  std::map<std::string, int> lines;
  for (const OpensmReportLine& line : import(conf).report)
    lines[line.option.substr(0, line.option.find(' '))] += 1;
  std::map<std::string, int> one_each;
  for (const OpensmOption& row : opensm_options()) one_each[std::string(row.name)] = 1;
  EXPECT_EQ(lines, one_each);
}

TEST_F(ImportOpensm, OpensmsOwnFileIsItsDefaults) {
  EXPECT_EQ(config_of(import(written_by_opensm(""))), config_of(import("")));
}

/// Written down by opensm after it has read it, a configuration is imported as before.
TEST_F(ImportOpensm, AFileMeansWhatOpensmTakesItFor) {
  const char* const confs[] = {
      "  sm_priority   7   # remark\nlmc\t2\r\nlmc_esp0 TRUE#x\nsubnet_timeout 010\n"
      "log_file \"/var/log/my log\"\nm_key 12\nguid 0x12\nsweep_interval=20\nQOS TRUE\n",
      "qos TRUE\nmax_op_vls 3\nqos_sl2vl '0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7'\nqos_high_limit 20\n"
      "qos_ca_vlarb_high 0:4,1:0\nqos_swe_high_limit -5\n",
      "allow_both_pkeys 1\nqos yes\nlmc_esp0 true\nuse_ucast_cache  TRUE  x\nperfmgr_redir FALSE\n",
      "routing_engine updn, ftree,minhop\nrouting_engine ftree,updn\nlmc 1\nlmc 3\n"
      "dimn_ports_file /tmp/x\nroot_guid_file (null)\nno_partition_enforcement TRUE\n",
      "congestion_control TRUE\ncc_key 0x7\ncc_ca_cong_setting_ccti_timer 1 5\n"
      "cc_ca_cong_setting_ccti_timer 3 0x20\ncc_ca_cong_setting_ccti_timer 1 6\n"
      "cc_cct 0:1,1:2,2:3\ncc_sw_cong_setting_victim_mask 0x1e\n"
      "cc_sw_cong_setting_threshold 0x0A\n",
      "max_wire_smps 0\nlog_flags 0x43\ntransaction_timeout 300\nsminfo_polling_timeout 0\n"};
  for (const std::string conf : confs) {
    SCOPED_TRACE(conf);
    const std::string again = written_by_opensm(conf);
    ASSERT_NE(again, "");
    Config ours = config_of(import(conf)), theirs = config_of(import(again));
    // OpenSM writes all four values of an SL where one is set; those are compared below.
    for (Config* each : {&ours, &theirs}) {
      each->congestion.ccti_timer = {};
      each->congestion.ccti_increase = {};
      each->congestion.trigger_threshold = {};
      each->congestion.ccti_min = {};
    }
    EXPECT_EQ(ours, theirs) << print_config(ours) << print_config(theirs);
    const Values written = values_of(settings(again));
    for (const auto& [name, value] : values_of(settings(conf))) {
      if (!name.starts_with("cc_ca_cong_setting_ccti_timer")) continue;
      const std::size_t blank = name.find(' ');  // theirs is in decimal
      const std::string key = fmt::format(
          "{} {}", name.substr(0, blank), read_opensm_number(name.substr(blank)).value_or(99));
      EXPECT_EQ(read_opensm_number(written.at(key)), read_opensm_number(value)) << name;
    }
  }
}

TEST_F(ImportOpensm, AFaultIsWhatOpensmRefusesOrCorrects) {
  for (const std::string line : {"sm_priority 16",
                                 "lmc 8",
                                 "lmc",
                                 "sm_priority 7x",
                                 "sm_priority 7 8",
                                 "sm_priority -1",
                                 "m_key 0x11111111111111111111",
                                 "subnet_prefix fe80",
                                 "console_port 70000",
                                 "log_flags 0x1ff",
                                 "force_link_speed_ext 99",
                                 "fdr10 7",
                                 "m_key_protection_level 4",
                                 "part_enforce OUT",
                                 "sweep_interval 1.5",
                                 "sm_assigned_guid 0x100",
                                 "cc_sw_cong_setting_packet_size 300",
                                 "cc_sw_cong_setting_credit_mask xyz",
                                 "cc_ca_cong_setting_ccti_timer 17 5",
                                 "cc_ca_cong_setting_ccti_min 5"}) {
    const std::string name = line.substr(0, line.find(' '));
    // What OpenSM goes on with is not what stands there.
    const Values written = values_of(settings(written_by_opensm(line + "\n")));
    const auto it = written.find(name);
    EXPECT_TRUE(it == written.end() || line != name + " " + it->second) << line;
    OpensmSources sources{.file = "f", .text = line + "\n"};
    sources.read = [](const std::string&) { return std::nullopt; };
    const auto import = import_opensm(sources);
    ASSERT_FALSE(import) << line;
    EXPECT_THAT(print_fault(import.error().front()), testing::StartsWith("f:1:")) << line;
  }
}

TEST_F(ImportOpensm, FlagsSetWhatOpensmSets) {
  const std::vector<std::vector<std::string>> all = {
      {"-g", "12"},
      {"-p7"},
      {"--prio", "010"},
      {"--priority=9", "-l", "2"},
      {"-k", "010"},
      {"-R", "ftree,updn", "-A", "-z"},
      {"-M", "/m", "-U", "/u", "-S", "/s", "-a", "/a", "-u", "/c", "-G", "/g"},
      {"--port-shifting", "--scatter-ports", "8", "-H", "10", "-m", "/i", "-X", "/x"},
      {"-s", "30", "-t", "500", "--retries", "5", "-n", "9", "-q", "loopback", "-C", "5"},
      {"-i", "/i", "-w", "/w", "-O", "/o", "-x", "--dump_files_dir", "/d", "-f", "/f", "-L", "9"},
      {"-e", "-P", "/p", "-N"},
      {"-Z", "in", "-W", "-Q", "-Y", "/q", "--congestion_control"},
      {"--cc_key", "7", "-y", "-B", "-I", "--perfmgr", "--perfmgr_sweep_time_s", "9"},
      {"--prefix_routes_file", "/p", "--consolidate_ipv6_snm_req", "--log_prefix", "x"},
      {"--torus_config", "/t", "-v"},
      {"-vv"},
      {"-V"},
      {"-D", "0x43"},
      {"-d0", "-d", "1", "-d", "2", "-d", "3"},
      {"-r", "--sm_sl", "3", "--lash_start_vl", "2", "--nue_max_num_vls", "0"},
      {"--do_mesh_analysis", "--subnet_prefix", "0xfe80000000000001"},
      {"--guid_routing_order_no_scatter", "--dimn_ports_file", "/x"},
      {"-qos"},
      {"-routing_engine", "ftree", "-congestion_control", "-debug", "0"},
      {"-maxsmps", "9", "-lmc=1", "-prio", "5", "-rQ", "-n8"}};
  const Values initial = values_of(settings(written_by_opensm("")));
  for (const std::vector<std::string>& words : all) {
    std::string line;
    for (const std::string& word : words) line += word + " ";
    SCOPED_TRACE(line);
    Values expected;
    for (const auto& [name, value] : values_of(settings(written_by_opensm("", words))))
      if (initial.at(name) != value) expected[name] = value;
    const auto flags = parse_opensm_flags(line, "--flags");
    ASSERT_TRUE(flags);
    Values ours;
    for (const OpensmSetting& each : flags->settings) {
      std::string value = *each.value;
      if (each.in_hex && !value.starts_with("0x")) value = "0x" + value;
      const bool renamed = each.name == "dimn_ports_file";
      ours[renamed ? "port_search_ordering_file" : each.name] = value;
    }
    for (const auto& [name, value] : ours) {
      ASSERT_TRUE(expected.contains(name)) << name;
      const auto a = read_opensm_number(value), b = read_opensm_number(expected[name]);
      if (a && b)
        EXPECT_EQ(*a, *b) << name;
      else
        EXPECT_EQ(value, expected[name]) << name;
      expected.erase(name);
    }
    EXPECT_TRUE(expected.empty()) << expected.begin()->first;
  }
}

TEST_F(ImportOpensm, HelpKnowsNoFlagThatWeDoNot) {
  const Finished help = run_process({.argv = {"opensm", "--help"}, .cwd = folder_}, kLimit);
  std::set<std::string> theirs, ours;
  std::istringstream lines(help.out + help.err);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("--") || line.starts_with("---")) continue;
    theirs.insert(line.substr(2, line.find_first_of(", <\r", 2) - 2));
  }
  ASSERT_GT(theirs.size(), 60u);
  for (const OpensmFlag& flag : opensm_flags()) ours.emplace(flag.name);
  EXPECT_THAT(ours, IsSupersetOf(theirs));
}

}  // namespace import_opensm_test
}  // namespace smd::test
