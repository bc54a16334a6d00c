// What becomes of an OpenSM's configuration. Where OpenSM 3.3.23 is installed, tests/cross compares
// the same table and the same reading with the program itself.
#include "smd/config/opensm_config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "smd/config/config.h"
#include "smd/config/options.h"
#include "smd/routing/engine.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace smd {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// A machine with OpenSM: its configuration and the files that it may name.
struct Site {
  std::string conf;
  std::string flags = "";
  std::optional<std::string> start = std::nullopt;
  std::map<std::string, std::string> files = {};
  std::vector<Guid> ports = {};

  [[nodiscard]] Parsed<OpensmImport> import() const {
    return import_opensm(
        {.file = "opensm.conf",
         .text = conf,
         .flags = flags,
         .start_file = start ? std::optional<std::string>("default") : std::nullopt,
         .start_text = start.value_or(""),
         .local_ports = ports,
         .read = [this](const std::string& path) -> std::optional<Parsed<std::string>> {
           const auto it = files.find(path);
           if (it == files.end()) return std::nullopt;
           return Parsed<std::string>(it->second);
         }});
  }

  [[nodiscard]] std::vector<std::string> faults() const {
    std::vector<std::string> lines;
    const auto done = import();
    if (done) return lines;
    for (const Fault& each : done.error()) lines.push_back(print_fault(each));
    return lines;
  }

  [[nodiscard]] OpensmImport done() const {
    const auto import = this->import();
    EXPECT_TRUE(import) << (import ? "" : print_fault(import.error().front()));
    return import.value_or(OpensmImport{{{"smd.toml", ""}}, {}});
  }

  [[nodiscard]] Config config() const {
    const auto config = parse_config(done().configs.front().text, "smd.toml");
    EXPECT_TRUE(config) << (config ? "" : print_fault(config.error().front()));
    return config.value_or(Config{});
  }

  /// Lines of the report whose option begins so.
  [[nodiscard]] std::vector<std::string> said_of(std::string_view option) const {
    std::vector<std::string> lines;
    for (const OpensmReportLine& line : done().report)
      if (line.option.starts_with(option)) lines.push_back(print_report_line(line));
    return lines;
  }
};

/// What a copy word for word would be: section.key = value.
Config naive(const std::string& section, const std::string& line) {
  return parse_config(fmt::format("[{}]\n{}\n", section, line), "smd.toml").value_or(Config{});
}

const std::string kPartitions = "Default=0x7fff: ALL=limited, SELF=full;\n";

TEST(OpensmTable, HasTheOptionsOfOpensmOnce) {
  std::set<std::string_view> names;
  for (const OpensmOption& row : opensm_options()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_opensm_option(row.name), &row);
    EXPECT_FALSE(find_nvidia_option(row.name)) << row.name;
  }
  EXPECT_THAT(names, SizeIs(162));
}

TEST(OpensmTable, EveryRowSaysWhatBecomesOfIt) {
  for (const OpensmOption& row : opensm_options()) {
    if (row.outcome != OpensmOutcome::Carried) {
      EXPECT_FALSE(row.reason.empty()) << row.name;
      EXPECT_FALSE(row.derived) << row.name;
      continue;
    }
    if (row.ours.empty()) continue;
    const auto options = config_options();
    EXPECT_NE(std::ranges::find(options, row.ours, &ConfigOption::name), options.end())
        << row.name << " is carried as " << row.ours << ", which there is not";
  }
}

TEST(OpensmTable, FlagsSetOptionsThatThereAre) {
  for (const OpensmFlag& flag : opensm_flags())
    EXPECT_TRUE(flag.option.empty() || find_opensm_option(flag.option) != nullptr) << flag.name;
}

TEST(OpensmTable, EnginesAreThoseOfSmd) {
  for (const OpensmEngine& each : opensm_engines())
    EXPECT_TRUE(each.ours.empty() || find_engine(each.ours) != nullptr) << each.ours;
}

TEST(OpensmImport, OfNothingIsOpensmsDefaults) {
  const Site site;
  Config expected;
  expected.sm.engine = {"minhop"};
  expected.sm.sa_key = SmKey{1};
  expected.sm.poll_interval_ms = 10000;
  EXPECT_EQ(site.config(), expected);
  EXPECT_THAT(site.said_of("sminfo_polling_timeout"),
              ElementsAre("OpenSM's default: sminfo_polling_timeout 10000: carried as "
                          "sm.poll_interval_ms = 10000"));
}

TEST(OpensmImport, WhatIsAtItsDefaultIsNoLine) {
  std::string conf;
  for (const OpensmOption& row : opensm_options())
    conf += fmt::format("{} {}\n", row.name, row.initial);
  const Site all{conf};
  std::set<std::string> lines;
  for (const OpensmReportLine& line : all.done().report) {
    const std::string name = line.option.substr(0, line.option.find(' '));
    lines.insert(name);
  }
  // Whose default is not smd's, or not there.
  EXPECT_THAT(
      lines,
      ElementsAre(
          "partition_config_file", "routing_engine", "sa_key", "sm_key", "sminfo_polling_timeout"));
}

TEST(OpensmImport, EveryOptionThatIsNotAtItsDefaultIsOneLine) {
  const Site empty;
  for (const OpensmOption& row : opensm_options()) {
    std::string value = "/somewhere";
    switch (row.kind) {
      case OpensmKind::Flag:
        value = row.initial == "TRUE" ? "FALSE" : "TRUE";
        break;
      case OpensmKind::Number:
        value = row.initial == "1" ? "0" : "1";
        break;
      case OpensmKind::Limit:
        value = "7";
        break;
      case OpensmKind::Key:
        value = "0x77";
        break;
      case OpensmKind::Mask:
        value = "0x6";
        break;
      case OpensmKind::BySl:
        value = "3 9";
        break;
      case OpensmKind::Text:
        break;
    }
    if (row.name == "part_enforce") value = "in";
    if (row.name.ends_with("vlarb_high") || row.name.ends_with("vlarb_low")) value = "0:4,1:8";
    if (row.name.ends_with("sl2vl")) value = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
    if (row.name == "cc_cct" || row.name.ends_with("return_delay")) value = "1:3";
    // With QoS and congestion control on, and off.
    for (std::string on : {"", "qos TRUE\n", "congestion_control TRUE\n"}) {
      if (on.starts_with(row.name)) on.clear();
      const Site site{fmt::format("{}{} {}\n", on, row.name, value)};
      EXPECT_THAT(site.said_of(std::string(row.name) + " "), SizeIs(1)) << on;
    }
  }
}

TEST(OpensmImport, CarriesValuesThatMeanTheSame) {
  const Site site{
      "m_key 0x77\nm_key_lease_period 60\nm_key_protection_level 2\n"
      "subnet_prefix 0xfe80000000000001\nlmc 2\nsm_priority 017\nsweep_interval 0x14\n"
      "packet_life_time 0x13\nvl_stall_count 3\nleaf_vl_stall_count 4\n"
      "head_of_queue_lifetime 0x11\nleaf_head_of_queue_lifetime 0xf\nsubnet_timeout 17\n"
      "local_phy_errors_threshold 7\noverrun_errors_threshold 6\ntransaction_retries 5\n"
      "transaction_timeout 300\npolling_retry_number 6\nguid 0x0002c90300000001\n"
      "part_enforce out\nallow_both_pkeys TRUE\nuse_optimized_slvl TRUE\n"};
  const Config config = site.config();
  EXPECT_EQ(config.sm.m_key, MKey{0x77});
  EXPECT_EQ(config.sm.m_key_lease_s, 60u);
  EXPECT_EQ(config.sm.m_key_protect, 2u);
  EXPECT_EQ(config.sm.subnet_prefix, 0xfe80000000000001u);
  EXPECT_EQ(config.sm.lmc, 2u);
  EXPECT_EQ(config.sm.priority, 15u);  // 017 is octal
  EXPECT_EQ(config.sweep.interval_s, 20u);
  EXPECT_EQ(config.port.packet_life_time, 19u);
  EXPECT_EQ(config.port.vl_stall_count, 3u);
  EXPECT_EQ(config.port.leaf_vl_stall_count, 4u);
  EXPECT_EQ(config.port.hoq_life, 17u);
  EXPECT_EQ(config.port.leaf_hoq_life, 15u);
  EXPECT_EQ(config.port.subnet_timeout, 17u);
  EXPECT_EQ(config.port.local_phy_errors, 7u);
  EXPECT_EQ(config.port.overrun_errors, 6u);
  EXPECT_EQ(config.smp.retries, 5u);
  EXPECT_EQ(config.smp.timeout_ms, 300u);
  EXPECT_EQ(config.sm.poll_retries, 6u);
  EXPECT_EQ(config.transport.port_guid, Guid{0x0002c90300000001});
  EXPECT_EQ(config.partitions.enforcement, PartitionEnforcement::Out);
  EXPECT_TRUE(config.partitions.allow_both);
  EXPECT_TRUE(config.qos.optimized_sl2vl);
  EXPECT_THAT(site.said_of("sm_priority"),
              ElementsAre("opensm.conf:6: sm_priority 017: carried as sm.priority = 15"));
}

/// OpenSM takes a level without a key, and protects nothing.
TEST(OpensmImport, AProtectionWithoutAKeyIsLeftOut) {
  const Site site{"m_key_protection_level 2\n"};
  EXPECT_EQ(site.config().sm.m_key_protect, 0u);
  EXPECT_THAT(site.said_of("m_key_protection_level"),
              ElementsAre("opensm.conf:1: m_key_protection_level 2: not needed because m_key is 0, "
                          "with which nothing is protected"));
}

TEST(OpensmImport, AValueThatSmdDoesNotTakeIsTheNearest) {
  const Site site{"sweep_interval 100000\nsminfo_polling_timeout 50\npolling_retry_number 0\n"};
  EXPECT_EQ(site.config().sweep.interval_s, 86400u);
  EXPECT_EQ(site.config().sm.poll_interval_ms, 100u);
  EXPECT_EQ(site.config().sm.poll_retries, 1u);
  EXPECT_THAT(site.said_of("sweep_interval"),
              ElementsAre("opensm.conf:1: sweep_interval 100000: carried with another value, "
                          "sweep.interval_s = 86400, because smd takes 0 to 86400"));
}

// The traps of copying by hand.

TEST(OpensmTraps, PartitionsAtTheDefaultPlaceAreNamed) {
  // Left out, everybody is a full member of the default partition.
  EXPECT_EQ(naive("sm", "priority = 1").partitions.file, "");
  for (const char* path : {"/etc/opensm/partitions.conf", "/etc/rdma/partitions.conf"}) {
    const Site site{.conf = "", .files = {{path, kPartitions}}};
    EXPECT_EQ(site.config().partitions.file, path);
    EXPECT_THAT(site.said_of("partition_config_file"),
                ElementsAre(HasSubstr("carried as partitions.file")));
  }
  const Site without;
  EXPECT_THAT(without.said_of("partition_config_file"),
              ElementsAre(HasSubstr("no such file on this machine: every port is a full member")));
}

TEST(OpensmTraps, RootsStandInTheConfiguration) {
  const std::string six = "0x1\n0x2\n0x3\n0x4\n0x5\n0x6\n";
  const Site site{.conf = "routing_engine updn\nroot_guid_file /r\n", .files = {{"/r", six}}};
  EXPECT_THAT(site.config().sm.roots,
              ElementsAre(Guid{1}, Guid{2}, Guid{3}, Guid{4}, Guid{5}, Guid{6}));
  EXPECT_EQ(site.config().sm.roots_file, "");
  EXPECT_THAT(site.said_of("root_guid_file"),
              ElementsAre(AllOf(HasSubstr("sm.roots = ["),
                                HasSubstr("all stand on the top level, as with OpenSM"))));
  const Site one{.conf = "routing_engine updn\nroot_guid_file /r\n", .files = {{"/r", "0x5\n"}}};
  EXPECT_THAT(one.config().sm.roots, ElementsAre(Guid{5}));
  const Site other{.conf = "routing_engine ftree\nroot_guid_file /r\n", .files = {{"/r", "0x5\n"}}};
  EXPECT_THAT(other.config().sm.roots, IsEmpty());
  EXPECT_THAT(other.said_of("root_guid_file"),
              ElementsAre(HasSubstr("engine ftree takes no root")));
}

TEST(OpensmTraps, VlsAreACodeThere) {
  // 4 is taken here, and means 4; 5 is refused.
  EXPECT_EQ(naive("port", "max_operational_vls = 4").port.max_operational_vls, 4u);
  EXPECT_FALSE(parse_config("[port]\nmax_operational_vls = 5\n", "f"));
  const std::map<int, unsigned> vls = {{1, 1}, {2, 2}, {3, 4}, {4, 8}, {5, 15}};
  for (const auto& [code, count] : vls) {
    const Site site{fmt::format("max_op_vls {}\n", code)};
    EXPECT_EQ(site.config().port.max_operational_vls, count);
  }
  EXPECT_THAT(Site{"max_op_vls 4\n"}.said_of("max_op_vls"),
              ElementsAre(HasSubstr("carried with another value, port.max_operational_vls = 8")));
  EXPECT_THAT(Site{"max_op_vls 0\n"}.said_of("max_op_vls"), ElementsAre(HasSubstr("not carried")));
}

TEST(OpensmTraps, QosWithoutTablesHasOpensmsOwn) {
  const Site site{"qos TRUE\nqos_sl2vl (null)\n"};
  const QosConfig qos = site.config().qos;
  EXPECT_FALSE(Config{}.qos.sl2vl);  // what is not set stays as the port has it
  ASSERT_TRUE(qos.sl2vl && qos.vl_arb_low && qos.vl_arb_high && qos.vl_high_limit);
  for (std::uint8_t sl = 0; sl < 15; ++sl) EXPECT_EQ((*qos.sl2vl)[sl], Vl{sl});
  EXPECT_EQ((*qos.sl2vl)[15], Vl{7});
  EXPECT_EQ(*qos.vl_high_limit, 0u);
  EXPECT_EQ(qos.vl_arb_low->at(0), (VlWeight{Vl{0}, 0}));
  EXPECT_EQ(qos.vl_arb_low->at(14), (VlWeight{Vl{14}, 4}));
  EXPECT_EQ(qos.vl_arb_high->at(0), (VlWeight{Vl{0}, 4}));
  EXPECT_EQ(qos.vl_arb_high->at(14), (VlWeight{Vl{14}, 0}));
  EXPECT_THAT(site.said_of("qos_sl2vl"), ElementsAre(HasSubstr("which OpenSM sets where qos is")));
}

TEST(OpensmTraps, TablesWithoutQosAreNotCarried) {
  const Site site{
      "qos FALSE\nqos_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\nqos_high_limit 9\n"
      "qos_ca_vlarb_low 0:1\n"};
  EXPECT_TRUE(naive("qos", "sl2vl = \"0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\"").qos.sl2vl);
  EXPECT_EQ(site.config().qos, QosConfig{});
  for (const char* name : {"qos_sl2vl", "qos_high_limit", "qos_ca_vlarb_low"})
    EXPECT_THAT(site.said_of(name), ElementsAre(HasSubstr("not needed because qos is FALSE")));
}

TEST(OpensmTraps, TheSmKeyOfEveryGeneratedFileIsDropped) {
  EXPECT_NE(naive("sm", "sm_key = \"0x1\"").sm.sm_key, SmKey{});
  const Site site{"sm_key 0x0000000000000001\nsa_key 0x0000000000000001\n"};
  EXPECT_EQ(site.config().sm.sm_key, SmKey{});
  EXPECT_THAT(site.said_of("sm_key"), ElementsAre(HasSubstr("smd shows 1 where sm.sm_key is not")));
  EXPECT_EQ(site.config().sm.sa_key, SmKey{1}) << "`saquery --smkey 1` of scripts is answered";
  EXPECT_THAT(site.said_of("sa_key"), ElementsAre(HasSubstr("carried as sm.sa_key = ")));
  const Site own{"sm_key 0x99\n"};
  EXPECT_EQ(own.config().sm.sm_key, SmKey{0x99});
  EXPECT_THAT(own.said_of("sm_key"),
              Contains(HasSubstr("beside smd leave sm.sm_key out, and set sm_key to 1 there")));
}

TEST(OpensmTraps, PollingIsThatOfTheOtherManagers) {
  EXPECT_EQ(Config{}.sm.poll_interval_ms, 1000u);  // left out, an HA pair would not agree
  EXPECT_EQ(Site{}.config().sm.poll_interval_ms, 10000u);
  EXPECT_EQ(Site{"sminfo_polling_timeout 3000\n"}.config().sm.poll_interval_ms, 3000u);
}

TEST(OpensmTraps, AFaultyPartitionFileIsSaidNow) {
  // OpenSM shrugs it off; named as it is, smd would not start after the next boot.
  const Site site{.conf = "",
                  .files = {{"/etc/opensm/partitions.conf",
                             "Default=0x7fff: ALL=limited;\n"
                             "hpc=0x2: hpc-node-*=full;\n"}}};
  EXPECT_THAT(site.faults(),
              AllOf(Contains(StartsWith("/etc/opensm/partitions.conf:2:10: ")),
                    Contains(HasSubstr("OpenSM shrugs such a fault off"))));
}

TEST(OpensmTraps, RootsMayHaveNamesAndAnyBase) {
  const std::string file = "# top\n0x10 spine1\n  17\t\"spine 2\"\n020\r\n\n0x11 # again\n";
  EXPECT_FALSE(parse_root_file(file, "roots"));  // a copy of the file ends smd with 2
  const Site site{.conf = "routing_engine updn\nroot_guid_file /r\n", .files = {{"/r", file}}};
  EXPECT_THAT(site.config().sm.roots, ElementsAre(Guid{0x10}, Guid{0x11}));
  const Site wrong{.conf = "routing_engine updn\nroot_guid_file /r\n",
                   .files = {{"/r", "0x10\n  spine\n"}}};
  EXPECT_THAT(wrong.faults(), ElementsAre(StartsWith("/r:2:3: no GUID of a switch")));
}

TEST(OpensmFiles, NamesOfNodesAndPrefixRoutesAreCarried) {
  const Site site{.conf = "node_name_map_name /names\n",
                  .files = {{"/names", "0x1 \"leaf\"\n"},
                            {"/etc/opensm/prefix-routes.conf",
                             "# two routers\n0xfec0000000000007 0x10\n* * # others\n"}}};
  EXPECT_EQ(site.config().sm.node_name_map, "/names");
  EXPECT_THAT(site.config().sa.prefix_routes, ElementsAre("0xfec0000000000007 0x10", "* *"));
  const Site wrong{.conf = "node_name_map_name /names\nprefix_routes_file /routes\n",
                   .files = {{"/names", "0x1 \"leaf\"\nleaf 0x2\n"}, {"/routes", "* host\n"}}};
  EXPECT_EQ(wrong.config().sm.node_name_map, "");
  EXPECT_THAT(wrong.said_of("node_name_map_name"), ElementsAre(HasSubstr("/names:2:1: no node")));
  EXPECT_THAT(wrong.said_of("prefix_routes_file"),
              ElementsAre(HasSubstr("/routes: '* host' is no prefix and GUID")));
}

TEST(OpensmValues, RatesOfOldHosts) {
  const auto rate = [](const char* conf) { return Site{conf}.config().sa.max_rate; };
  EXPECT_EQ(rate(""), 63u);
  EXPECT_EQ(rate("max_rate_enum 12\n"), 12u);
  EXPECT_EQ(rate("max_rate_enum 1\n"), 63u) << "no code of a rate";
  EXPECT_EQ(rate("use_original_extended_sa_rates_only TRUE\n"), 18u);
  EXPECT_EQ(rate("use_original_extended_sa_rates_only TRUE\nmax_rate_enum 20\n"), 18u);
  EXPECT_EQ(rate("use_original_extended_sa_rates_only TRUE\nmax_rate_enum 10\n"), 10u);
}

TEST(OpensmTraps, AListOfEnginesStaysOne) {
  const auto engine = [](const std::string& list) {
    return Site{fmt::format("routing_engine {}\n", list)}.config().sm.engine;
  };
  EXPECT_THAT(engine("ftree,updn,minhop"), ElementsAre("ftree", "updn", "minhop"));
  EXPECT_THAT(engine("updn"), ElementsAre("updn"));
  EXPECT_THAT(engine("dnup, updn"), ElementsAre("updn"));
  EXPECT_THAT(engine("file"), ElementsAre("auto"));
  EXPECT_THAT(engine("torus-2QoS,no_fallback"), ElementsAre("dor"));
  EXPECT_THAT(engine("ar_updn,updn,minhop"), ElementsAre("updn", "minhop"));
  EXPECT_THAT(engine("smd-nue,minhop"), ElementsAre("nue", "minhop"));
  EXPECT_THAT(engine("smd-updn2,smd-dfsssp,updn"), ElementsAre("dfsssp", "updn"));
  EXPECT_THAT(engine("smd-"), ElementsAre("auto"));
  EXPECT_THAT(engine("(null)"), ElementsAre("minhop"));  // smd's own default is another one
  EXPECT_THAT(Site{"routing_engine ftree,updn\n"}.said_of("routing_engine"),
              ElementsAre(HasSubstr("carried as sm.engine = [\"ftree\", \"updn\"]")));
  EXPECT_THAT(Site{"routing_engine dnup,ftree,updn\n"}.said_of("routing_engine"),
              ElementsAre(AllOf(HasSubstr("sm.engine = [\"ftree\", \"updn\"]"),
                                HasSubstr("smd has nothing like dnup"))));
}

// More that a copy gets wrong, found by running OpenSM.

TEST(OpensmTraps, OnlyTrueInCapitalsIsTrue) {
  for (const char* word : {"true", "yes", "1", "TRUEx"}) {
    const Site site{fmt::format("allow_both_pkeys {}\n", word)};
    EXPECT_FALSE(site.config().partitions.allow_both);
    EXPECT_THAT(site.said_of("allow_both_pkeys"), ElementsAre(HasSubstr("read as FALSE")));
  }
  EXPECT_TRUE(Site{"allow_both_pkeys 'TRUE'\n"}.config().partitions.allow_both);
  EXPECT_THAT(Site{"mcgroup_join_validation yes\n"}.said_of("mcgroup_join_validation"),
              ElementsAre(AllOf(HasSubstr("read as FALSE"), EndsWith("joins are always checked"))));
}

TEST(OpensmTraps, TablesAreOfTheVlsThatThereAre) {
  const Site site{"qos TRUE\nmax_op_vls 2\nqos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"};
  // As it stands it would be a fault: VL 2 of 2 VLs.
  EXPECT_FALSE(
      parse_config("[port]\nmax_operational_vls = 2\n[qos]\n"
                   "sl2vl = \"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\"\n",
                   "f"));
  const auto sl2vl = site.config().qos.sl2vl;
  ASSERT_TRUE(sl2vl);
  EXPECT_EQ((*sl2vl)[2], Vl{0});
  EXPECT_EQ((*sl2vl)[13], Vl{1});
  EXPECT_EQ((*sl2vl)[15], Vl{15});
  EXPECT_EQ(site.config().qos.vl_arb_low->at(3), (VlWeight{Vl{1}, 4}));
  const Site shorter{"qos TRUE\nqos_ca_sl2vl 1,2,3\n"};
  EXPECT_EQ((*shorter.config().qos.ca.sl2vl)[2], Vl{3});
  EXPECT_EQ((*shorter.config().qos.ca.sl2vl)[3], Vl{0});
  EXPECT_THAT(shorter.said_of("qos_ca_sl2vl"), ElementsAre(HasSubstr("a short list leaves out")));
}

TEST(OpensmTraps, ALogGoesWhereTheServiceMayWrite) {
  EXPECT_EQ(Site{"log_file /var/log/ib/opensm.log\n"}.config().log.sink, "/var/log/smd/opensm.log");
  // /etc/logrotate.d/smd knows *.log alone.
  EXPECT_EQ(Site{"log_file /var/log/opensm\n"}.config().log.sink, "/var/log/smd/opensm.log");
  EXPECT_EQ(Site{"log_file /var/log/opensm.log.1\n"}.config().log.sink,
            "/var/log/smd/opensm.log.1.log");
  EXPECT_EQ(Site{"log_file stdout\n"}.config().log.sink, "stderr");
  EXPECT_EQ(Site{}.config().log.sink, "stderr");
  EXPECT_EQ(Site{"log_flags 0x43\n"}.config().log.level, "info");
  EXPECT_EQ(Site{"log_flags 0x0f\n"}.config().log.level, "info");
  EXPECT_EQ(Site{"log_flags 1\n"}.config().log.level, "warn");
}

TEST(OpensmTraps, LevelsOfPartitionsCountWithoutQos) {
  const std::string file = kPartitions + "a=0x1, sl=3: ALL;\n";
  const Site off{.conf = "", .files = {{"/etc/opensm/partitions.conf", file}}};
  EXPECT_THAT(off.said_of("sl=3 of a"), ElementsAre(HasSubstr("counts in smd")));
  const Site on{.conf = "qos TRUE\n", .files = {{"/etc/opensm/partitions.conf", file}}};
  EXPECT_THAT(on.said_of("sl=3 of a"), IsEmpty());
}

TEST(OpensmTraps, CongestionControlThatIsOffIsNotCarried) {
  const Site off{"cc_sw_cong_setting_threshold 5\ncc_ca_cong_setting_ccti_timer 2 7\n"};
  EXPECT_EQ(off.config().congestion, Config{}.congestion);
  EXPECT_THAT(off.said_of("cc_ca_cong_setting_ccti_timer"),
              ElementsAre(HasSubstr("congestion_control is FALSE")));
  const Site on{
      "congestion_control TRUE\ncc_ca_cong_setting_ccti_timer 2 7\n"
      "cc_ca_cong_setting_ccti_timer 0x3 9\ncc_ca_cong_setting_ccti_timer 2 8\n"};
  const cc::Options options = on.config().congestion;
  EXPECT_TRUE(options.enabled);
  EXPECT_EQ(options.ccti_timer[2], 8u);
  EXPECT_EQ(options.ccti_timer[3], 9u);
  EXPECT_EQ(options.threshold, 0u);  // left out, smd would compute one
  EXPECT_THAT(on.said_of("cc_ca_cong_setting_ccti_timer 2 7"),
              ElementsAre(EndsWith("overruled by opensm.conf:4")));
}

// Reading.

TEST(OpensmConf, IsReadAsOpensmDoes) {
  const auto settings = parse_opensm_conf(
      "# remark\n\n  sm_priority   7   # more\nlmc\t2\r\nlog_file \"/var/log/my log\"\n"
      "log_prefix\nrouting_engine (null)\nlmc 3",
      "f");
  ASSERT_TRUE(settings);
  std::vector<std::string> read;
  for (const OpensmSetting& each : *settings) {
    read.push_back(
        fmt::format("{}:{} {}={}", each.where, each.column, each.name, each.value.value_or("-")));
  }
  EXPECT_THAT(read,
              ElementsAre("f:3:17 sm_priority=7",
                          "f:4:5 lmc=2",
                          "f:5:11 log_file=/var/log/my log",
                          "f:6:1 log_prefix=-",
                          "f:7:16 routing_engine=-",
                          "f:8:5 lmc=3"));
}

TEST(OpensmConf, TheLastOneCountsAndTheOthersAreSaid) {
  const Site site{"lmc 1\nlmc 2\n", "-l 3"};
  EXPECT_EQ(site.config().sm.lmc, 3u);
  EXPECT_THAT(site.said_of("lmc"),
              ElementsAre("opensm.conf:1: lmc 1: overruled by --flags",
                          "opensm.conf:2: lmc 2: overruled by --flags",
                          "--flags: lmc 3: carried as sm.lmc = 3"));
}

TEST(OpensmConf, StrangersAreNamed) {
  const Site site{"sm_prioritty 4\nar_mode 1\nsharp_enabled 2\nsweep_interval=20\n"};
  EXPECT_THAT(site.said_of("sm_prioritty"),
              ElementsAre("opensm.conf:1: sm_prioritty 4: unknown, to OpenSM as well, which reads "
                          "over it; the nearest option is sm_priority"));
  EXPECT_THAT(site.said_of("ar_mode"), ElementsAre(HasSubstr("NVIDIA's, not carried: adaptive")));
  EXPECT_THAT(site.said_of("sharp_enabled"), ElementsAre(HasSubstr("NVIDIA's, not carried")));
  EXPECT_THAT(site.said_of("sweep_interval=20"), ElementsAre(HasSubstr("unknown")));
  EXPECT_EQ(site.config().sweep.interval_s, 10u);
}

TEST(OpensmConf, EveryFaultHasItsPlace) {
  const Site site{
      "sm_priority 16\n  lmc x\nvl_stall_count 0\nm_key 0x11111111111111111\nsubnet_timeout\n"
      "cc_ca_cong_setting_ccti_min 5\ncc_sw_cong_setting_credit_mask xyz\nmax_op_vls 6\n"
      "qos_high_limit 300\npacket_life_time 1.5\n"};
  EXPECT_THAT(
      site.faults(),
      ElementsAre("opensm.conf:1:13: sm_priority is \"16\"; a number from 0 to 15",
                  "opensm.conf:2:7: lmc is \"x\"; a number from 0 to 7",
                  "opensm.conf:3:16: vl_stall_count is \"0\"; a number from 1 to 7",
                  StartsWith("opensm.conf:4:7: m_key is "),
                  "opensm.conf:5:1: subnet_timeout is not set; a number from 0 to 31",
                  StartsWith("opensm.conf:6:29: cc_ca_cong_setting_ccti_min is \"5\"; an SL"),
                  StartsWith("opensm.conf:7:32: cc_sw_cong_setting_credit_mask is"),
                  "opensm.conf:8:12: max_op_vls is \"6\"; a number from 0 to 5",
                  StartsWith("opensm.conf:9:16: qos_high_limit is \"300\"; a number from 0 "
                             "to 255, or -1"),
                  StartsWith("opensm.conf:10:18: packet_life_time is \"1.5\"")));
  EXPECT_THAT(Site{"part_enforce OUT\n"}.faults(),
              ElementsAre("opensm.conf:1:14: part_enforce is \"OUT\"; one of both, in, out, off"));
  EXPECT_THAT(Site{"qos TRUE\nqos_sl2vl 0,1,x\n"}.faults(),
              ElementsAre(StartsWith("opensm.conf:2:11: qos_sl2vl is \"0,1,x\"; 16 VLs")));
  EXPECT_THAT(Site{"partition_config_file p.conf\n"}.faults(),
              ElementsAre(StartsWith("opensm.conf:1:23: partition_config_file is \"p.conf\"; an "
                                     "absolute path")));
}

TEST(OpensmConf, WhatIsNoTextIsRefused) {
  EXPECT_THAT(Site{std::string("lmc 1\nlm\0c 2\n", 13)}.faults(),
              ElementsAre("opensm.conf:2:3: byte 0x00 is no text; is this the right file?"));
  EXPECT_THAT(Site{"log_file /\xff\n"}.faults(), ElementsAre(StartsWith("opensm.conf:1:11: byte")));
  EXPECT_THAT(Site{"log_file /" + std::string(2000, 'a') + "\n"}.faults(),
              ElementsAre(StartsWith("opensm.conf:1:1023: the line has 2010 characters")));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "\x01\n";
  EXPECT_THAT(Site{many}.faults(), AllOf(SizeIs(testing::Le(21u)), Not(IsEmpty())));
}

TEST(OpensmFlags, AreReadAsOpensmDoes) {
  const auto flags = parse_opensm_flags(
      "-p7 --prio 8 --lmc=1 -g 12 -k 010 -Q -vv --cc_key 7 -d0 -Z in -e -J /pid -F /f '-f' 'a b' x",
      "--flags");
  ASSERT_TRUE(flags) << print_fault(flags.error().front());
  std::vector<std::string> read;
  for (const OpensmSetting& each : flags->settings)
    read.push_back(fmt::format("{}={}{}", each.name, *each.value, each.in_hex ? " hex" : ""));
  EXPECT_THAT(read,
              ElementsAre("sm_priority=7",
                          "sm_priority=8",
                          "lmc=1",
                          "guid=12 hex",
                          "sm_key=010 hex",
                          "qos=TRUE",
                          "log_flags=0x07",
                          "log_flags=0x0f",
                          "cc_key=0x0700000000000000",
                          "ignore_other_sm=TRUE",
                          "part_enforce=in",
                          "accum_log_file=FALSE",
                          "log_file=a b"));
  EXPECT_EQ(flags->config_file, "/f");
  EXPECT_THAT(flags->remarks, SizeIs(2));  // -J and the word
}

/// getopt_long_only takes one dash before a name, and before the beginning of one.
TEST(OpensmFlags, ADashDoesForANameAsInOpensm) {
  const auto read = [](const std::string& text) {
    const auto flags = parse_opensm_flags(text, "--flags");
    EXPECT_TRUE(flags) << text;
    std::vector<std::string> out;
    if (!flags) return out;
    for (const OpensmSetting& each : flags->settings)
      out.push_back(fmt::format("{}={}@{}", each.name, *each.value, each.column));
    return out;
  };
  EXPECT_THAT(read("-qos -routing_engine ftree"),
              ElementsAre("qos=TRUE@1", "routing_engine=ftree@22"));
  EXPECT_THAT(
      read("-congestion_control -maxsmps=9 -debug 0"),
      ElementsAre("congestion_control=TRUE@1", "max_wire_smps=9@30", "ignore_other_sm=TRUE@39"));
  EXPECT_THAT(read("-prio 8 -lmc 1"), ElementsAre("sm_priority=8@7", "lmc=1@14"));
  EXPECT_THAT(read("-p8 -l 1 -rQ"),
              ElementsAre("sm_priority=8@3", "lmc=1@8", "reassign_lids=TRUE@11", "qos=TRUE@12"))
      << "letters, where no name begins so";
  EXPECT_THAT((Site{"", "-ro"}.faults()),
              ElementsAre("--flags:1: several options of OpenSM begin with -ro"));
  EXPECT_THAT((Site{"", "-qos=1"}.faults()), ElementsAre("--flags:1: --qos takes no value"));
}

TEST(OpensmFlags, FaultsNameTheNearest) {
  EXPECT_THAT((Site{"", "--priorty 3"}.faults()),
              ElementsAre("--flags:1: OpenSM has no option --priorty; the nearest is --priority"));
  EXPECT_THAT((Site{"", "-Q -T 1"}.faults()), Contains("--flags:5: OpenSM has no option -T"));
  EXPECT_THAT((Site{"", "-p"}.faults()), ElementsAre("--flags:1: --priority wants a value"));
  EXPECT_THAT((Site{"", "-p 16"}.faults()), ElementsAre(HasSubstr("sm_priority is \"16\"")));
  EXPECT_THAT((Site{"", "-f \"a"}.faults()), ElementsAre(HasSubstr("without a second one")));
  EXPECT_THAT((Site{"", "-g $GUID"}.faults()), ElementsAre(HasSubstr("what only a shell knows")));
  EXPECT_THAT((Site{"", "-F /other.conf"}.faults()),
              ElementsAre(HasSubstr("-F names /other.conf")));
  EXPECT_THAT((Site{"", "-F opensm.conf"}.faults()), IsEmpty());
}

TEST(OpensmStart, OfSeveralPortsAFileEach) {
  const Site site{.conf = "lmc 1\nlog_file /var/log/o.log\n",
                  .start = "# ports\nPORTS=\"0x0002c9030002fce9 2c9030002fb06\"\n"};
  const OpensmImport done = site.done();
  ASSERT_THAT(done.configs, SizeIs(2));
  EXPECT_EQ(done.configs[0].name, "0x0002c9030002fce9.toml");
  std::set<std::string> own;
  for (const ImportedConfig& each : done.configs) {
    const auto config = parse_config(each.text, each.name);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->sm.lmc, 1u);
    own.insert({config->sm.state_dir, config->admin.socket, config->log.sink});
    own.insert(fmt::format("{}", config->transport.port_guid));
  }
  EXPECT_THAT(own, SizeIs(8));  // nothing is shared
}

TEST(OpensmStart, AllNoneAndRedHats) {
  const Site all{.conf = "", .start = "PORTS=ALL\n", .ports = {Guid{7}, Guid{8}}};
  EXPECT_THAT(all.done().configs, SizeIs(2));
  const Site bare{.conf = "", .start = "PORTS=ALL # default\n"};
  EXPECT_THAT(bare.done().configs, SizeIs(1));
  EXPECT_THAT(bare.said_of("PORTS ALL"), ElementsAre(HasSubstr("no InfiniBand port")));
  const Site none{.conf = "", .start = "PORTS=NONE\n"};
  EXPECT_THAT(none.said_of("PORTS NONE"), ElementsAre(HasSubstr("is not started")));
  const Site red{.conf = "sm_priority 3\n",
                 .start = "export PRIORITY=14\nGUIDS='0x7'\nOPTIONS=\"-R ftree\"\nFOO=1\nEMPTY=\n"};
  EXPECT_EQ(red.config().sm.priority, 14u);
  EXPECT_THAT(red.config().sm.engine, ElementsAre("ftree"));
  EXPECT_EQ(red.config().transport.port_guid, Guid{7});
  EXPECT_EQ(red.config().sm.state_dir, Config{}.sm.state_dir);
  EXPECT_THAT(red.said_of("FOO"), ElementsAre(HasSubstr("default:4: FOO: unknown")));
}

TEST(OpensmStart, WhatIsNoAssignmentIsAFault) {
  const Site site{.conf = "", .start = "PORTS=ALL\n. /lib/functions\nif x; then\nGUIDS=zz\n"};
  EXPECT_THAT(site.faults(),
              ElementsAre(StartsWith("default:2:1: no assignment"),
                          StartsWith("default:3:1: no assignment"),
                          StartsWith("default:4:1: GUIDS has 'zz'")));
}

TEST(OpensmImport, FilesThatOpensmReadsUnaskedAreSaid) {
  const Site site{.conf = "", .files = {{"/etc/opensm/per-module-logging.conf", "\n"}}};
  EXPECT_THAT(site.said_of("per_module_logging_file"),
              ElementsAre(HasSubstr("the file is there, and OpenSM reads it")));
}

/// The sites of tests/golden/README.md: SMD_UPDATE_GOLDEN=1 writes what comes of them.
class OpensmSites : public testing::TestWithParam<const char*> {
 protected:
  static void expect_file(const std::filesystem::path& path, const std::string& text) {
    if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    EXPECT_EQ(test::read_text(path), text) << path;
  }
};

TEST_P(OpensmSites, AreImported) {
  const std::filesystem::path folder =
      test::source_path(fmt::format("tests/golden/import-opensm/{}", GetParam()));
  Site site{.conf = test::read_text(folder / "opensm.conf")};
  std::istringstream flags(test::read_text(folder / "flags"));
  std::getline(flags, site.flags);
  for (const auto& each : std::filesystem::directory_iterator(folder))
    site.files["/etc/opensm/" + each.path().filename().string()] = test::read_text(each.path());
  if (const std::string start = test::read_text(folder / "default"); !start.empty())
    site.start = start;
  const OpensmImport done = site.done();
  for (const ImportedConfig& each : done.configs) expect_file(folder / each.name, each.text);
  std::string report;
  for (const OpensmReportLine& line : done.report) report += print_report_line(line) + "\n";
  expect_file(folder / "import-opensm.txt", report);
}

INSTANTIATE_TEST_SUITE_P(OfThePast,
                         OpensmSites,
                         testing::Values("hpc-updn",
                                         "qos-bring-up",
                                         "two-rails",
                                         "tenants-qos",
                                         "torus-lmc",
                                         "every-option",
                                         "scinet10",
                                         "ceph-three-hosts",
                                         "ethernet-gateway",
                                         "qos-bench",
                                         "inference-qos",
                                         "traps"));

TEST(OpensmImport, NoInputMakesItFail) {
  std::mt19937 random{20261125};  // always the same inputs
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const char* const words[] = {"TRUE",    "(null)",
                               "-1",      "0x7fffffffffffffff1",
                               "0:4,1:0", "\"",
                               "#",       "\t",
                               "updn,",   "99999999999999999999",
                               "=",       "/",
                               "$x",      "-F",
                               "--",      "-p",
                               "PORTS=",  "ALL",
                               "3 4",     "\xc3\xa9"};
  const auto text = [&](bool is_conf) {
    std::string out;
    for (std::size_t n = below(6); n-- > 0;) {
      if (is_conf && below(4) != 0) out += opensm_options()[below(opensm_options().size())].name;
      for (std::size_t k = below(4); k-- > 0;)
        out += std::string(" ") + words[below(std::size(words))];
      if (below(40) == 0) out += static_cast<char>(below(256));
      out += is_conf || below(2) == 0 ? "\n" : " ";
    }
    return out;
  };
  std::size_t good = 0;
  for (int run = 0; run < 3000; ++run) {
    Site site{.conf = text(true),
              .flags = below(2) == 0 ? text(false) : "",
              .start = below(2) == 0 ? std::optional(text(false)) : std::nullopt,
              .files = {{"/", text(false)}}};
    if (below(8) == 0) site.files["/etc/opensm/partitions.conf"] = text(false);
    const auto done = site.import();
    if (!done) {
      ASSERT_FALSE(done.error().empty());
      for (const Fault& each : done.error()) {
        ASSERT_FALSE(each.message.empty());
        ASSERT_EQ(print_fault(each).find('\n'), std::string::npos) << print_fault(each);
      }
      continue;
    }
    ++good;
    for (const ImportedConfig& each : done->configs)
      ASSERT_TRUE(parse_config(each.text, each.name)) << each.text;
    for (const OpensmReportLine& line : done->report)
      ASSERT_EQ(print_report_line(line).find('\n'), std::string::npos);
  }
  EXPECT_GT(good, 100u) << "some inputs are meant to be taken";
}

TEST(UnnamedFiles, AreThoseAtOpensmsDefaultPlaces) {
  const std::set<std::string> there = {
      "/etc/opensm/partitions.conf", "/etc/rdma/partitions.conf", "/etc/rdma/qos-policy.conf"};
  const auto exists = [&](const std::string& path) { return there.contains(path); };
  EXPECT_THAT(find_unnamed_files(Config{}, exists),
              ElementsAre(UnnamedFile{"/etc/opensm/partitions.conf", "partitions.file"},
                          UnnamedFile{"/etc/rdma/qos-policy.conf", "qos.policy_file"}));
  Config named;
  named.partitions.file = "/etc/smd/partitions.conf";
  EXPECT_THAT(find_unnamed_files(named, exists),
              ElementsAre(UnnamedFile{"/etc/rdma/qos-policy.conf", "qos.policy_file"}));
  named.qos.policy_file = "/etc/smd/qos.conf";
  EXPECT_THAT(find_unnamed_files(named, exists), IsEmpty());
}

TEST(ConfigSources, SayWhereEachValueComesFrom) {
  ConfigLines lines;
  const auto config = parse_config("[sm]\npriority = 5\n\nlmc = 1\n", "smd.toml", &lines);
  ASSERT_TRUE(config);
  const std::string text = print_config_sources(*config, lines, "smd.toml", *config, "");
  EXPECT_THAT(text,
              AllOf(HasSubstr("priority = 5  # smd.toml:2\n"),
                    HasSubstr("lmc = 1  # smd.toml:4\n"),
                    HasSubstr("engine = \"auto\"  # default\n"),
                    HasSubstr("#sl2vl is not set  # default\n")));
  EXPECT_EQ(parse_config(text, "again").value_or(Config{}), *config);
}

}  // namespace
}  // namespace smd
