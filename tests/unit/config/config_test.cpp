#include "smd/config/config.h"
#include "smd/base/log.h"
#include "smd/config/options.h"
#include "tests/support/paths.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace smd {
namespace config_test {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

std::vector<std::string> faults_of(std::string_view text) {
  const auto config = parse_config(text, "smd.toml");
  std::vector<std::string> lines;
  if (config) return lines;
  for (const Fault& fault : config.error()) lines.push_back(print_fault(fault));
  return lines;
}

Config config_of(std::string_view text) {
  const auto config = parse_config(text, "smd.toml");
  EXPECT_TRUE(config) << (config ? "" : print_fault(config.error().front()));
  return config.value_or(Config{});
}

/// `section.key = value` as a document.
std::string set(const std::string& name, const std::string& value) {
  const std::size_t dot = name.find('.');
  return "[" + name.substr(0, dot) + "]\n" + name.substr(dot + 1) + " = " + value + "\n";
}

TEST(Config, EmptyFileIsAllDefaults) { EXPECT_EQ(config_of(""), Config{}); }

TEST(Config, ReadsEveryKind) {
  const Config config = config_of(R"(
[transport]
kind = "sim"
fabric = "fat-tree:k=8"
port_guid = "0x0002c90300000001"
[sm]
m_key = "0xffffffffffffffff"
sm_key = 17
roots = ["0x10", "0x0000000000000020"]
roots_file = "/etc/smd/roots"
root_choice = "central"
orientation = "depth-first"
lane_cut = "cycles"
gateways = "least-loaded"
non_minimal = "valiant"
auto_for = "permutations"
auto_budget_ms = 500
auto_vls = 8
multicast_trees = "dual-path"
multicast_proof = "lock-step"
weights = ["0x20:0", "0x0000000000000010:65535"]
no_data = ["ufm-*", "0x30"]
lid_min = 0x10
mode = "basic"
[qos]
sl2vl = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
vl_arb_high = ["0:4", "14:255"]
vl_arb_low = []
[log]
sink = "/var/log/smd"
[admin]
socket_mode = "0600"
)");
  EXPECT_EQ(config.transport.kind, TransportKind::Sim);
  EXPECT_EQ(config.transport.fabric, "fat-tree:k=8");
  EXPECT_EQ(config.transport.port_guid, Guid{0x0002c90300000001});
  EXPECT_EQ(config.sm.m_key, MKey{0xffffffffffffffff});
  EXPECT_EQ(config.sm.sm_key, SmKey{17});
  EXPECT_THAT(config.sm.roots, ElementsAre(Guid{0x10}, Guid{0x20}));
  EXPECT_EQ(config.sm.roots_file, "/etc/smd/roots");
  EXPECT_EQ(config.sm.root_choice, RootChoice::Central);
  EXPECT_EQ(config.sm.orientation, OrientationSearch::DepthFirst);
  EXPECT_EQ(config.sm.lane_cut, VlChangeRule::MinimalCycles);
  EXPECT_EQ(config.sm.gateways, GatewayChoice::LeastLoaded);
  EXPECT_EQ(config.sm.non_minimal, NonMinimal::Valiant);
  EXPECT_EQ(config.sm.auto_for, TrafficGoal::Permutations);
  EXPECT_EQ(config.sm.auto_budget_ms, 500u);
  EXPECT_EQ(config.sm.auto_vls, 8u);
  EXPECT_EQ(config.sm.multicast_trees, TreeShape::DualPath);
  EXPECT_EQ(config.sm.multicast_proof, CopyModel::LockStep);
  EXPECT_THAT(config.sm.weights, ElementsAre(Pair(Guid{0x10}, 65535u), Pair(Guid{0x20}, 0u)))
      << "sorted by GUID, as engines want it";
  EXPECT_THAT(config.sm.no_data, ElementsAre("ufm-*", "0x30"));
  EXPECT_EQ(config.sm.lid_min, Lid{16});
  EXPECT_EQ(config.sm.mode, "basic");
  ASSERT_TRUE(config.qos.sl2vl);
  EXPECT_EQ((*config.qos.sl2vl)[14], Vl{14});
  EXPECT_THAT(config.qos.vl_arb_high.value(),
              ElementsAre(VlWeight{Vl{0}, 4}, VlWeight{Vl{14}, 255}));
  EXPECT_TRUE(config.qos.vl_arb_low.value().empty()) << "an empty table is not an absent one";
  EXPECT_FALSE(config.qos.vl_high_limit);
  EXPECT_EQ(config.log.sink, "/var/log/smd");
  EXPECT_EQ(config.admin.socket_mode, 0600u);
}

TEST(Config, TakesTablesAsOpensmWritesThem) {
  const Config config = config_of(R"(
[qos]
sl2vl = "0,1,2,3,4,5,6,7,0, 1,2,3,4,5,6,15"
vl_arb_low = "0:0,1:64, 14:255"
ca_vl_high_limit = 6
swe_sl2vl = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
[partitions]
enforcement = "in"
allow_both = "yes"
)");
  EXPECT_EQ((*config.qos.sl2vl)[9], Vl{1});
  EXPECT_EQ((*config.qos.sl2vl)[15], Vl{15});
  EXPECT_THAT(config.qos.vl_arb_low.value(),
              ElementsAre(VlWeight{Vl{0}, 0}, VlWeight{Vl{1}, 64}, VlWeight{Vl{14}, 255}));
  EXPECT_EQ(config.qos.ca.vl_high_limit, 6u);
  EXPECT_FALSE(config.qos.vl_high_limit);
  EXPECT_EQ((*config.qos.swe.sl2vl)[15], Vl{1});
  EXPECT_EQ(config.partitions.enforcement, PartitionEnforcement::In);
  EXPECT_TRUE(config.partitions.allow_both);
  for (const char* wrong : {"\"0,1\"", "\"0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,16\"", "\"\""})
    EXPECT_THAT(faults_of(set("qos.sl2vl", wrong)), testing::SizeIs(1)) << wrong;
  EXPECT_THAT(faults_of(set("qos.vl_arb_low", "\"0:4,15:1\"")), testing::SizeIs(1));
  EXPECT_THAT(faults_of("[port]\nmax_operational_vls = 4\n[qos]\nswe_vl_arb_high = \"5:1\"\n"),
              ElementsAre(HasSubstr("qos.swe_vl_arb_high names VL 5; a VL below")));
}

TEST(Config, TakesCongestionControlAsOpensmWritesIt) {
  const Config config = config_of(R"(
[congestion]
enabled = true
cc_key = 0x1122334455667788
cc_max_outstanding_mads = 100
cc_sw_cong_setting_control_map = 0x1f
cc_sw_cong_setting_victim_mask = "0x000000000000000000000000000000000000000000000000000000000000011e"
cc_sw_cong_setting_threshold = 0x0b
cc_sw_cong_setting_packet_size = 8
cc_sw_cong_setting_credit_starvation_return_delay = "1:9"
cc_sw_cong_setting_marking_rate = 3
cc_ca_cong_setting_port_control = 0x0001
cc_ca_cong_setting_control_map = 0xffff
cc_ca_cong_setting_ccti_timer = ["0 10", "15 150"]
cc_ca_cong_setting_ccti_increase = 1
cc_ca_cong_setting_ccti_min = "3 1"
cc_cct = "0:0,1:3, 2:16383"
host_threshold = 4
nodes = ["0x20: threshold=3, marking_rate=0x7", "0x10: off"]
)");
  const cc::Options& options = config.congestion;
  EXPECT_TRUE(options.enabled);
  EXPECT_EQ(options.key, cc::CcKey{0x1122334455667788});
  EXPECT_EQ(options.max_outstanding, 100u);
  EXPECT_EQ(options.sw_control_map, 31u);
  ASSERT_TRUE(options.victim_mask);
  for (unsigned port = 0; port < 32; ++port) {
    EXPECT_EQ(options.victim_mask->test(PortNum{static_cast<std::uint8_t>(port)}),
              (port >= 1 && port <= 4) || port == 8);
  }
  EXPECT_EQ(options.threshold, 11u);
  EXPECT_EQ(options.host_threshold, 4u);
  EXPECT_EQ(options.cs_return_delay, (cc::CctEntry{1, 9}));
  EXPECT_EQ(options.ccti_timer[15], 150u);
  EXPECT_FALSE(options.ccti_timer[1]);
  EXPECT_EQ(options.ccti_increase[7], 1u) << "a number is that of every SL";
  EXPECT_EQ(options.ccti_min[3], 1u);
  EXPECT_THAT(options.cct.value(),
              ElementsAre(cc::CctEntry{0, 0}, cc::CctEntry{1, 3}, cc::CctEntry{2, 16383}));
  ASSERT_EQ(options.nodes.size(), 2u);
  EXPECT_TRUE(options.nodes[0].off);
  EXPECT_EQ(options.nodes[1].marking_rate, 7u);
  EXPECT_EQ(parse_config(print_config(config), "printed")->congestion, options);
  EXPECT_FALSE(config_of("").congestion.enabled) << "nobody asked for it";
}

TEST(Config, MetricsAreReadAtAnAddressOrASocket) {
  EXPECT_EQ(config_of("").metrics.listen, "") << "nobody asked for them";
  for (const char* good : {"127.0.0.1:9684", "[::1]:9684", "/run/smd/metrics.sock", ""})
    EXPECT_TRUE(faults_of(set("metrics.listen", std::string("\"") + good + "\"")).empty()) << good;
  for (const char* bad : {"9684", "metrics.sock", "127.0.0.1:", "127.0.0.1:70000"})
    EXPECT_THAT(faults_of(set("metrics.listen", std::string("\"") + bad + "\"")),
                ElementsAre(testing::HasSubstr("ADDRESS:PORT")))
        << bad;
}

TEST(Config, RefusesCongestionControlThatIsNone) {
  for (const auto& [key, wrong] : {std::pair{"enabled", "1"},
                                   std::pair{"cc_sw_cong_setting_victim_mask", "\"1e\""},
                                   std::pair{"cc_sw_cong_setting_threshold", "16"},
                                   std::pair{"host_threshold", "16"},
                                   std::pair{"host_marking_rate", "65536"},
                                   std::pair{"cc_ca_cong_setting_ccti_timer", "[\"16 1\"]"},
                                   std::pair{"cc_ca_cong_setting_ccti_timer", "\"5\""},
                                   std::pair{"cc_ca_cong_setting_ccti_increase", "256"},
                                   std::pair{"cc_cct", "\"4:1\""},
                                   std::pair{"cc_cct", "\"0:16384\""},
                                   std::pair{"nodes", "[\"0x10: speed=3\"]"},
                                   std::pair{"nodes", "[\"0x10: off\", \"0x10: off\"]"},
                                   std::pair{"nodes", "[\"10: off\"]"}}) {
    EXPECT_THAT(faults_of(set(std::string("congestion.") + key, wrong)), testing::SizeIs(1))
        << key << " = " << wrong;
  }
  EXPECT_THAT(
      faults_of("[congestion]\nfloor_hosts = 24\ncc_cct = \"0:0,0:23,0:100\"\n"),
      ElementsAre(
          "smd.toml:3:10: entry 2 of congestion.cc_cct waits 100 packet times: a host falls "
          "to 0.9901 % of its link, below its floor of 4.167 %; at most 23, which is "
          "congestion.floor_hosts - 1"));
  EXPECT_TRUE(faults_of("[congestion]\nfloor_hosts = 101\ncc_cct = \"0:0,0:100\"\n").empty());
  EXPECT_THAT(faults_of(set("congestion.protect", "true")), ElementsAre(HasSubstr("cc_key")));
  EXPECT_THAT(faults_of("[congestion]\ncc_cct = \"0:0,0:1\"\n"
                        "cc_ca_cong_setting_ccti_min = \"7 2\"\n"),
              ElementsAre(HasSubstr("of SL 7 is 2; at most 1")));
}

// Options that are a range of numbers, with the document that keeps rules between options quiet.
struct Range {
  std::string name;
  unsigned long min;
  unsigned long max;
  std::string beside = "";
};

void PrintTo(const Range& range, std::ostream* out) { *out << range.name; }

class ConfigRange : public testing::TestWithParam<Range> {};

TEST_P(ConfigRange, TakesItsEdgesAndNothingBeyond) {
  const auto& [name, min, max, beside] = GetParam();
  for (const unsigned long edge : {min, max}) {
    const auto faults = faults_of(set(name, std::to_string(edge)) + beside);
    EXPECT_TRUE(faults.empty()) << edge << ": " << faults.front();
  }
  const std::string at = fmt::format("smd.toml:2:{}: ", name.size() - name.find('.') + 3);
  const std::string range = "a number from " + std::to_string(min) + " to " + std::to_string(max);
  const std::string below = min == 0 ? "-1" : std::to_string(min - 1);
  for (const std::string& beyond : {below, std::to_string(max + 1)}) {
    EXPECT_THAT(faults_of(set(name, beyond) + beside),
                ElementsAre(at + name + " is " + beyond + "; " + range));
  }
  EXPECT_THAT(faults_of(set(name, "1.5") + beside), ElementsAre(at + name + " is 1.5; " + range));
  EXPECT_THAT(faults_of(set(name, "\"1\"") + beside),
              ElementsAre(at + name + " is \"1\"; " + range));
  EXPECT_THAT(faults_of(set(name, "true") + beside), ElementsAre(at + name + " is true; " + range));
}

INSTANTIATE_TEST_SUITE_P(
    Options,
    ConfigRange,
    testing::Values(Range{"transport.port", 0, 254},
                    Range{"transport.retry_backoff_min_s", 1, 3600, "retry_backoff_max_s = 3600\n"},
                    Range{"transport.retry_backoff_max_s", 1, 3600},
                    Range{"smp.window_min", 1, 4096, "window_start = 4096\nwindow_max = 4096\n"},
                    Range{"smp.window_start", 1, 4096, "window_min = 1\nwindow_max = 4096\n"},
                    Range{"smp.window_max", 1, 4096, "window_min = 1\nwindow_start = 1\n"},
                    Range{"congestion.lease_s", 0, 65535},
                    Range{"congestion.cc_max_outstanding_mads", 1, 4096},
                    Range{"congestion.log_interval_s", 0, 86400},
                    Range{"congestion.hop_ns", 1, 100000},
                    Range{"congestion.occupancy_pct", 1, 100},
                    Range{"congestion.floor_hosts", 0, 65535},
                    Range{"smp.retries", 0, 20},
                    Range{"smp.timeout_ms", 1, 60000},
                    Range{"smp.max_per_second", 0, 10000000},
                    Range{"sm.priority", 0, 15},
                    Range{"sm.m_key_protect", 0, 3, "m_key = 1\n"},
                    Range{"sm.m_key_lease_s", 0, 65535},
                    Range{"sm.lmc", 0, 7},
                    Range{"sm.lmc_enhanced_port0", 0, 7},
                    Range{"sm.lid_min", 1, 0xbfff},
                    Range{"sm.lid_max", 1, 0xbfff},
                    Range{"sweep.interval_s", 0, 86400},
                    Range{"sweep.debounce_ms", 0, 60000, "debounce_max_ms = 600000\n"},
                    Range{"sweep.debounce_max_ms", 0, 600000, "debounce_ms = 0\n"},
                    Range{"port.subnet_timeout", 0, 31},
                    Range{"port.packet_life_time", 0, 31},
                    Range{"port.hoq_life", 0, 31},
                    Range{"port.leaf_hoq_life", 0, 31},
                    Range{"port.vl_stall_count", 1, 7},
                    Range{"port.leaf_vl_stall_count", 1, 7},
                    Range{"port.local_phy_errors", 0, 15},
                    Range{"port.overrun_errors", 0, 15},
                    Range{"qos.vl_high_limit", 0, 255},
                    Range{"sa.groups", 1, 10000000},
                    Range{"sa.groups_per_port", 1, 10000000},
                    Range{"sa.path_margin", 0, 10000},
                    Range{"sa.path_watch_mads_per_s", 1, 1000},
                    Range{"sa.transfer_mib", 1, 10000000},
                    Range{"sa.transfer_mib_per_port", 1, 10000000}));

// One value that is wrong, and what the message must say would be right.
struct Wrong {
  std::string name;
  std::string value;
  std::string range;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name << " = " << wrong.value; }

class ConfigWrongValue : public testing::TestWithParam<Wrong> {};

TEST_P(ConfigWrongValue, IsOneFaultThatSaysWhatIsRight) {
  const auto& [name, value, range] = GetParam();
  EXPECT_THAT(
      faults_of(set(name, value)),
      ElementsAre(AllOf(
          StartsWith(fmt::format("smd.toml:2:{}: {} is ", name.size() - name.find('.') + 3, name)),
          HasSubstr(range))));
}

constexpr const char* kHex = "64 bits as \"0x...\"";
constexpr const char* kArb = "at most 64 entries \"VL:WEIGHT\", VL 0 to 14, weight 0 to 255";
constexpr const char* kSl2vl = "16 numbers from 0 to 15";

std::string list_of(int count, const std::string& item) {
  std::string list = "[";
  for (int i = 0; i < count; ++i) list += item + ",";
  return list + "]";
}

INSTANTIATE_TEST_SUITE_P(
    Values,
    ConfigWrongValue,
    testing::Values(Wrong{"transport.kind", "\"verbs\"", "one of \"umad\", \"sim\""},
                    Wrong{"transport.kind", "1", "one of \"umad\", \"sim\""},
                    Wrong{"transport.device", "7", "the name of an adapter"},
                    Wrong{"transport.device", "\"mlx5\\n0\"", "the name of an adapter"},
                    Wrong{"transport.fabric", "[]", "a fabric file or a generator"},
                    Wrong{"replica.listen", "\"7011\"", "ADDRESS:PORT or [ADDRESS]:PORT"},
                    Wrong{"replica.peers", "[\"sm2\"]", "a list of HOST:PORT"},
                    Wrong{"replica.key", "\"own.key\"", "an absolute path"},
                    Wrong{"transport.port_guid", "\"2c9\"", "a GUID as \"0x"},
                    Wrong{"transport.port_guid", "\"0x\"", "a GUID as \"0x"},
                    Wrong{"transport.port_guid", "\"0x10000000000000000\"", "a GUID as \"0x"},
                    Wrong{"sm.sm_key", "-1", kHex},
                    Wrong{"sm.m_key", "\"secret\"", kHex},
                    Wrong{"sm.m_key", "\"0x12 \"", kHex},
                    Wrong{"sm.m_key", "1.0", kHex},
                    Wrong{"sm.subnet_prefix", "\"fe80::\"", kHex},
                    Wrong{"sm.state_dir", "\"state\"", "an absolute path"},
                    Wrong{"sm.engine", "\"\"", "the name of an engine"},
                    Wrong{"sm.engine", "[]", "a list of different ones"},
                    Wrong{"sm.engine", "[\"ftree\", \"\"]", "a list of different ones"},
                    Wrong{"sm.engine", "[\"updn\", \"updn\"]", "a list of different ones"},
                    Wrong{"sm.roots", "\"0x1\"", "a list of GUIDs"},
                    Wrong{"sm.roots", "[\"0x1\", \"spine-1\"]", "a list of GUIDs"},
                    Wrong{"sm.roots", "[\"0x0\"]", "a list of GUIDs"},
                    Wrong{"sm.weights", "[\"0x1\"]", "GUID:WEIGHT"},
                    Wrong{"sm.weights", "[\"0x1:-1\"]", "GUID:WEIGHT"},
                    Wrong{"sm.weights", "[\"0x1:65536\"]", "GUID:WEIGHT"},
                    Wrong{"sm.weights", "[\"0x0:1\"]", "GUID:WEIGHT"},
                    Wrong{"sm.weights", "[\"0x1:2\", \"0x01:3\"]", "each port once"},
                    Wrong{"sm.gateways", "\"any\"", "own-first"},
                    Wrong{"sm.non_minimal", "\"any\"", "valiant"},
                    Wrong{"sm.path_sets", "[\"\"]", "a list of \"updn\" and \"shortest\""},
                    Wrong{"sm.path_sets", "\"updn\"", "a list of \"updn\" and \"shortest\""},
                    Wrong{"sm.mode", "\"fast\"", "certified, basic or improved"},
                    Wrong{"sm.lmc", "{ a = 1 }", "a number from 0 to 7"},
                    Wrong{"sm.lmc", "2001-01-01", "a number from 0 to 7"},
                    Wrong{"port.mtu_max", "1500", "one of 256, 512, 1024, 2048, 4096"},
                    Wrong{"port.max_operational_vls", "3", "one of 1, 2, 4, 8, 15"},
                    Wrong{"qos.sl2vl", list_of(15, "0"), kSl2vl},
                    Wrong{"qos.sl2vl", list_of(17, "0"), kSl2vl},
                    Wrong{"qos.sl2vl", list_of(16, "16"), kSl2vl},
                    Wrong{"qos.vl_arb_high", list_of(65, "\"0:1\""), kArb},
                    Wrong{"qos.vl_arb_high", "[\"15:1\"]", kArb},
                    Wrong{"qos.vl_arb_high", "[\"0:256\"]", kArb},
                    Wrong{"qos.vl_arb_low", "[\"0\"]", kArb},
                    Wrong{"qos.vl_arb_low", "[\"0:\"]", kArb},
                    Wrong{"qos.vl_arb_low", "[0]", kArb},
                    Wrong{"log.level", "\"chatty\"", "one of \"debug\", \"info\", \"warn\""},
                    Wrong{"log.sink", "\"smd.log\"", "\"stderr\", \"syslog\" or an absolute path"},
                    Wrong{"admin.socket", "\"smd.sock\"", "an absolute path of at most 107 bytes"},
                    Wrong{"admin.socket",
                          "\"/" + std::string(107, 'x') + "\"",
                          "an absolute path of at most 107 bytes"},
                    Wrong{"admin.socket_mode", "0o1000", "an octal number from 0o000 to 0o777"},
                    Wrong{"admin.socket_mode", "660", "an octal number from 0o000 to 0o777"},
                    Wrong{"admin.socket_mode", "400", "an octal number from 0o000 to 0o777"},
                    Wrong{"admin.socket_mode", "\"rw\"", "an octal number"}));

/// Earlier versions took names: a manager that ends over one leaves the fabric without.
TEST(Config, NamesToListenOnAreTakenAndSaid) {
  const auto remarks = [](const std::string& key, const std::string& at) {
    std::string text = set(key, "\"" + at + "\"");
    if (key != "metrics.listen") text += "certificate = \"/c\"\nkey = \"/k\"\nca = \"/a\"\n";
    EXPECT_THAT(faults_of(text), testing::IsEmpty()) << at;
    std::vector<std::string> out;
    for (const Fault& each : find_remarks(config_of(text))) out.push_back(print_fault(each));
    return out;
  };
  for (const char* good : {"0.0.0.0:1",
                           "[::]:1",
                           "[fe80::1%later0]:1",
                           "192.0.2.1:1",
                           "127.1:1",
                           "localhost:1",
                           "/run/s",
                           "/run/s:1",
                           ""})
    EXPECT_THAT(remarks("metrics.listen", good), testing::IsEmpty()) << good;
  for (const char* bad : {"head.example.com:1", "fe80:1", "[127.0.0.1%lo]:1", "LOCALHOST.:1"})
    EXPECT_THAT(remarks("metrics.listen", bad),
                ElementsAre(testing::AllOf(HasSubstr("metrics.listen: "), HasSubstr(" is a name"))))
        << bad;
  EXPECT_THAT(remarks("rest.listen", "head:1"), ElementsAre(HasSubstr("rest.listen: head is a")));
  EXPECT_THAT(remarks("replica.listen", "sm1:7011"),
              ElementsAre(HasSubstr("replica.listen: sm1 is a name, which is not used")));
}

TEST(Config, LongestSocketPathFits) {
  EXPECT_TRUE(faults_of(set("admin.socket", "\"/" + std::string(106, 'x') + "\"")).empty());
}

TEST(Config, UnknownNamesComeWithTheNearestKnownOne) {
  EXPECT_THAT(faults_of("[sm]\nlcm = 1\n"),
              ElementsAre("smd.toml:2:1: unknown key sm.lcm; the nearest known one is sm.lmc"));
  EXPECT_THAT(faults_of("[sm]\ninterval_s = 1\n"),
              ElementsAre("smd.toml:2:1: unknown key sm.interval_s; the nearest known one is "
                          "sweep.interval_s"));
  EXPECT_THAT(faults_of("\n[sweeep]\ninterval_s = 1\n"),
              ElementsAre("smd.toml:2:2: unknown section [sweeep]; the nearest known one is "
                          "[sweep]"));
  EXPECT_THAT(
      faults_of("priority = 1\n"),
      ElementsAre("smd.toml:1:1: priority stands outside of every section; the nearest known "
                  "key is sm.priority"));
  EXPECT_THAT(faults_of("sm = 1\n"), ElementsAre("smd.toml:1:1: sm is no section; write [sm]"));
  EXPECT_THAT(faults_of("[[sm]]\nlmc = 1\n"),
              ElementsAre("smd.toml:1:3: sm is no section; write [sm]"));
  EXPECT_THAT(faults_of("[sm]\n\"a\\nb\" = 1\n"),
              ElementsAre(StartsWith("smd.toml:2:1: unknown key sm.\"a\\u000Ab\"; ")))
      << "a fault is one line, whatever the key";
}

TEST(Config, AlmostMinimalPathsAreRefusedWhereTheyCannotBe) {
  const auto with = [](std::string_view more) {
    return faults_of(fmt::format("[sm]\nnon_minimal = \"almost-minimal\"\n{}", more));
  };
  EXPECT_THAT(with("lmc = 1\nengine = \"dfsssp\"\n"), ::testing::IsEmpty());
  EXPECT_THAT(with("lmc = 7\nengine = [\"dfsssp\", \"updn\"]\n"), ::testing::IsEmpty());
  EXPECT_THAT(with("engine = \"dfsssp\"\n"),
              ElementsAre("smd.toml:2:15: sm.non_minimal almost-minimal is about LIDs beyond the "
                          "first of a port; sm.lmc of 1 to 7"));
  EXPECT_THAT(with("lmc = 1\nengine = \"dfsssp\"\npath_sets = [\"updn\", \"shortest\"]\n"),
              ElementsAre("smd.toml:2:15: sm.non_minimal almost-minimal and sm.path_sets both say "
                          "what LIDs beyond the first lead to; one of them"));
}

TEST(Config, PathSetsAreRefusedWhereTheyCannotBe) {
  const auto with = [](std::string_view sets, std::string_view more) {
    return faults_of(fmt::format("[sm]\npath_sets = {}\n{}", sets, more));
  };
  constexpr std::string_view kRight = "[\"updn\", \"shortest\"]";
  EXPECT_THAT(with(kRight, "lmc = 1\nengine = \"itb-vl\"\n"), ::testing::IsEmpty());
  EXPECT_THAT(with(kRight, "lmc = 7\nengine = [\"dfsssp\", \"lash\"]\n"), ::testing::IsEmpty());
  EXPECT_THAT(with("[]", ""), ::testing::IsEmpty());
  EXPECT_THAT(with("[\"updn\", \"shortst\"]", "lmc = 1\nengine = \"lash\"\n"),
              ElementsAre("smd.toml:2:13: sm.path_sets names \"shortst\"; the nearest known set is "
                          "\"shortest\""));
  for (const std::string_view wrong :
       {"[\"shortest\", \"updn\"]", "[\"updn\"]", "[\"updn\", \"shortest\", \"shortest\"]"}) {
    EXPECT_THAT(with(wrong, "lmc = 1\nengine = \"lash\"\n"),
                ElementsAre("smd.toml:2:13: sm.path_sets gives the first LID of a port one set and "
                            "the others the other; [\"updn\", \"shortest\"], or []"));
  }
  EXPECT_THAT(with(kRight, "engine = \"itb-vl\"\n"),
              ElementsAre("smd.toml:2:13: sm.path_sets is about LIDs beyond the first of a port; "
                          "sm.lmc of 1 to 7"));
  EXPECT_THAT(
      with(kRight, "lmc = 1\nengine = [\"dfsssp\", \"ftree\"]\n"),
      ElementsAre("smd.toml:2:13: sm.path_sets and sm.engine ftree, which makes no shortest "
                  "paths on VLs of their own; dfsssp, itb-vl or lash"));
  EXPECT_THAT(with(kRight, "lmc = 1\n"),
              ElementsAre("smd.toml:2:13: sm.path_sets and sm.engine auto, which makes no shortest "
                          "paths on VLs of their own; dfsssp, itb-vl or lash"));
  EXPECT_THAT(with(kRight, "lmc = 1\nengine = \"lash\"\n[port]\nmax_operational_vls = 1\n"),
              ElementsAre("smd.toml:2:13: sm.path_sets takes VLs for each set of paths; "
                          "port.max_operational_vls of 2 or more"));
  for (const char* const mode : {"basic", "improved", "certified+fera"}) {
    EXPECT_THAT(
        with(kRight, fmt::format("lmc = 1\nengine = \"lash\"\nmode = \"{}\"\n", mode)),
        ElementsAre(fmt::format("smd.toml:2:13: sm.path_sets and sm.mode {}, whose routes are "
                                "not by sm.engine; certified, or words without fera, pira "
                                "and pira-fera",
                                mode)));
  }
  EXPECT_THAT(with(kRight, "lmc = 1\nengine = \"lash\"\nmode = \"certified\"\n"),
              ::testing::IsEmpty());
}

TEST(Config, EveryFaultIsReportedInTheOrderOfTheFile) {
  EXPECT_THAT(faults_of("[sweep]\ninterval_s = -1\n[sm]\nlmc = 9\npriority = 16\nmude = 1\n"),
              ElementsAre("smd.toml:2:14: sweep.interval_s is -1; a number from 0 to 86400",
                          "smd.toml:4:7: sm.lmc is 9; a number from 0 to 7",
                          "smd.toml:5:12: sm.priority is 16; a number from 0 to 15",
                          "smd.toml:6:1: unknown key sm.mude; the nearest known one is sm.mode"));
}

TEST(Config, FaultsOfALineAreReportedFromItsLeft) {
  // As the table has them: lmc, mude, priority.
  EXPECT_THAT(faults_of("sm = { priority = 16, mude = 1, lmc = 9 }\nsa = { groups = 0 }\n"),
              ElementsAre("smd.toml:1:19: sm.priority is 16; a number from 0 to 15",
                          "smd.toml:1:23: unknown key sm.mude; the nearest known one is sm.mode",
                          "smd.toml:1:39: sm.lmc is 9; a number from 0 to 7",
                          HasSubstr("smd.toml:2:17: sa.groups is 0")));
}

TEST(Config, OneFaultAndNothingIsApplied) {
  const auto config = parse_config("[sm]\npriority = 3\nlmc = 9\n", "f");
  EXPECT_FALSE(config.has_value()) << "priority must not come out of a file that is wrong";
}

TEST(Config, RulesBetweenOptions) {
  EXPECT_THAT(faults_of("[smp]\nwindow_min = 64\n"),
              ElementsAre("smd.toml:2:14: smp.window_min is 64; a number up to smp.window_start, "
                          "which is 32"));
  EXPECT_THAT(faults_of("[smp]\nwindow_max = 16\n"),
              ElementsAre("smd.toml:2:14: smp.window_start is 32; a number up to smp.window_max, "
                          "which is 16"));
  EXPECT_THAT(faults_of("[sm]\nlid_min = 100\nlid_max = 99\n"),
              ElementsAre(HasSubstr(":2:11: sm.lid_min is 100; a number up to sm.lid_max")));
  EXPECT_THAT(faults_of("[sm]\nlmc = 3\nlid_max = 14\n"),
              ElementsAre("smd.toml:3:11: sm.lid_max is 14; at least 15, for the 8 LIDs of the "
                          "manager's own port (sm.lmc)"));
  EXPECT_TRUE(faults_of("[sm]\nlmc = 3\nlid_max = 15\n").empty());
  EXPECT_THAT(faults_of("[sm]\nm_key_protect = 2\n"),
              ElementsAre("smd.toml:2:17: sm.m_key_protect is 2; an sm.m_key that is not 0, or an "
                          "sm.m_key_file, to protect with"));
  EXPECT_TRUE(faults_of("[sm]\nm_key_protect = 2\nm_key = 1\n").empty());
  EXPECT_TRUE(faults_of("[sm]\nm_key_protect = 2\nm_key_file = \"/k\"\n").empty());
  EXPECT_THAT(faults_of("[transport]\nretry_backoff_min_s = 31\n"),
              ElementsAre(HasSubstr("a number up to transport.retry_backoff_max_s")));
  EXPECT_THAT(faults_of("[replica]\npeers = [\"sm2:7011\"]\nkey = \"/k\"\n"),
              ElementsAre(HasSubstr("set replica.certificate, replica.key and replica.ca")));
  EXPECT_THAT(faults_of("[sweep]\ndebounce_max_ms = 2\n"),
              ElementsAre(HasSubstr("a number up to sweep.debounce_max_ms")));
  EXPECT_THAT(faults_of("[port]\nmax_operational_vls = 4\n[qos]\nvl_arb_high = [\"4:1\"]\n"),
              ElementsAre("smd.toml:4:15: qos.vl_arb_high names VL 4; a VL below "
                          "port.max_operational_vls, which is 4"));
  EXPECT_THAT(faults_of("[port]\nmax_operational_vls = 4\n[qos]\nvl_arb_low = [\"4:1\"]\n"),
              ElementsAre(HasSubstr("qos.vl_arb_low names VL 4")));
  const std::string sl2vl = "sl2vl = [0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,15]\n";
  EXPECT_THAT(faults_of("[port]\nmax_operational_vls = 2\n[qos]\n" + sl2vl),
              ElementsAre(HasSubstr("qos.sl2vl names VL 2")));
  EXPECT_TRUE(faults_of("[port]\nmax_operational_vls = 4\n[qos]\n" + sl2vl).empty())
      << "VL 15 discards, on any port";
}

TEST(Config, RulesKeepQuietAboutOptionsThatAreWrongThemselves) {
  EXPECT_THAT(faults_of("[sm]\nlid_min = 0xbfff\nlid_max = 0\n"),
              ElementsAre(HasSubstr("sm.lid_max is 0")));
}

TEST(Config, TextThatIsNoToml) {
  EXPECT_THAT(faults_of("[sm]\nlmc = \n"), ElementsAre(StartsWith("smd.toml:2:7: not TOML: ")));
  EXPECT_THAT(faults_of("[sm]\nlmc = 1\nlmc = 2\n"),
              ElementsAre(StartsWith("smd.toml:3:7: not TOML: ")));
  EXPECT_THAT(faults_of("[transport]\ndevice = \"\xc3\xa9\xe2\x82\xac\" x\n"),
              ElementsAre(StartsWith("smd.toml:2:15: not TOML: ")))
      << "columns count characters";
  for (const char* header : {"[=", "[[[", "[", "[.]", "[]", "[sm", "[sm]]", "[[sm]", "[\"sm]"}) {
    EXPECT_THAT(faults_of(header), ElementsAre(ContainsRegex("^smd.toml:1:[2-6]: not TOML: ")))
        << header;
  }
  EXPECT_THAT(faults_of("[sm]\nlmc = " + std::string(100000, '[')),
              ElementsAre(HasSubstr("not TOML: ")));
}

TEST(Config, CharactersBeyondAsciiStandInDoubleQuotesAndComments) {
  const Config config = config_of(
      "\xef\xbb\xbf# g\xc3\xa9n\xc3\xa9ral \"\n[transport]\n"
      "device = \"d\\\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\" # \"\"\"\nfabric = '\"\"\"'\n");
  EXPECT_EQ(config.transport.device, "d\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e");
  EXPECT_EQ(config.transport.fabric, "\"\"\"");

  struct Stray {
    const char* text;
    int column;
  };

  for (const Stray& stray : {Stray{"[s\xc3\xb6]\n", 3},
                             Stray{"[sm]\xc2\xa0\n", 5},
                             Stray{"x = \xc3\x9f\n", 5},
                             Stray{"x = '\xc3\x9f'\n", 6},
                             Stray{"[sm] 'a' \xc3\xa9", 10},
                             Stray{"x = \"\xc3\xa9\\\\\" \xc3\xa9", 11}}) {
    EXPECT_THAT(
        faults_of(stray.text),
        ElementsAre(fmt::format("smd.toml:1:{}: not TOML that smd reads: a character beyond ASCII "
                                "outside of double quotes and comments",
                                stray.column)))
        << stray.text;
  }
  EXPECT_THAT(faults_of("\nx = \"\\\xc3\xa9\""),
              ElementsAre(HasSubstr(":2:7: not TOML that smd reads: a backslash before")));
}

TEST(Config, BytesThatAreNoUtf8) {
  for (const char* bytes : {"\xff\xfe",
                            "\xc3",              // cut
                            "\xc0\x80",          // overlong
                            "\xe0\x82\x80",      // overlong
                            "\xf0\x82\x82\xac",  // overlong
                            "\xf4\x90\x80\x80",  // beyond Unicode
                            "\xed\xa0\x80"}) {   // a surrogate
    for (const char* before : {"#", "x = \""}) {
      if (std::string_view(bytes) == "\xed\xa0\x80" && *before == '#') continue;
      EXPECT_THAT(faults_of("\n" + std::string(before) + bytes + "\"\n"),
                  ElementsAre(ContainsRegex("^smd.toml:2:[0-9]: not TOML")))
          << before << bytes;
    }
  }
}

TEST(Config, StringsOfSeveralLinesAreForNoOption) {
  for (const char* quote : {"\"\"\"", "'''"}) {
    EXPECT_THAT(faults_of(std::string("[sm]\nengine = ") + quote + "x\n\\ \xc3\x9f" + quote),
                ElementsAre("smd.toml:2:10: not TOML that smd reads: a string of several lines; no "
                            "option takes it"));
  }
  EXPECT_TRUE(faults_of("[transport]\ndevice = \"\"\nfabric = ''\n").empty());
}

TEST(Config, FaultsOfTheSyntaxStayOneLine) {
  EXPECT_THAT(faults_of("[sm]\nlmc = t\n"),
              ElementsAre(AllOf(StartsWith("smd.toml:2:8: not TOML: "), Not(HasSubstr("\n")))));
}

TEST(Config, TheFirstHundredFaultsOfAFileAndHowManyMoreThereAre) {
  std::string text = "[sm]\n";
  for (int i = 0; i < 100000; ++i) text += fmt::format("k{}=1\n", i);
  const auto faults = faults_of(text);
  ASSERT_EQ(faults.size(), 101u);
  EXPECT_THAT(faults.front(), StartsWith("smd.toml:2:1: unknown key sm.k0; "));
  EXPECT_THAT(faults[99], StartsWith("smd.toml:101:1: unknown key sm.k99; "));
  EXPECT_EQ(faults.back(), "smd.toml: and 99900 more faults");
}

TEST(Config, NumbersAreShownInTheBaseInWhichTheyWereWritten) {
  EXPECT_THAT(
      faults_of("[admin]\nsocket_mode = 0o1777\n"),
      ElementsAre("smd.toml:2:15: admin.socket_mode is 0o1777; an octal number from 0o000 to "
                  "0o777"));
  EXPECT_THAT(faults_of("[sm]\nlmc = 0xff\n"), ElementsAre(HasSubstr("sm.lmc is 0xff; ")));
}

TEST(Config, ColumnsCountCharactersAlsoAfterThoseBeyondAscii) {
  EXPECT_THAT(faults_of("sm = {engine = \"\xc3\xa9\xe2\x82\xac\", lmc = 9}\n"),
              testing::Contains("smd.toml:1:28: sm.lmc is 9; a number from 0 to 7"));
}

TEST(Config, TheLongWordForWarnIsTakenForOneRelease) {
  EXPECT_TRUE(faults_of("[log]\nlevel = \"warning\"\n").empty());
  EXPECT_EQ(log::parse_level("warning").value(), log::Level::Warn);
}

TEST(Config, LongValuesAreCutInMessages) {
  const auto faults = faults_of(set("sm.roots", list_of(5000, "\"\xc3\xa9t\xc3\xa9\"")));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_LT(faults[0].size(), 300u);
}

TEST(ConfigDiff, NamesWhatChangedAndWhetherItNeedsARestart) {
  Config before;
  Config after = before;
  EXPECT_TRUE(diff_config(before, after).empty());
  after.sm.lmc = 1;
  after.transport.port = 2;
  after.qos.vl_arb_high.emplace();
  EXPECT_THAT(diff_config(before, after),
              ElementsAre(ConfigChange{"transport.port", true},
                          ConfigChange{"sm.lmc", false},
                          ConfigChange{"qos.vl_arb_high", false}));
}

TEST(Rest, NobodyCallsInTheClearOrUnasked) {
  const std::string at = "[rest]\nlisten = ";
  const std::string token = "\ntoken_file = \"/t\"\n";
  const std::string tls = "certificate = \"/c\"\nkey = \"/k\"\n";
  for (const char* good :
       {"\"127.0.0.1:1\"", "\"127.1.2.3:1\"", "\"[::1]:1\"", "\"localhost:1\"", "\"/run/s\""})
    EXPECT_THAT(faults_of(at + good + token), testing::IsEmpty()) << good;
  for (const char* far : {"\"0.0.0.0:1\"", "\"[::]:1\"", "\"192.0.2.1:1\""}) {
    EXPECT_THAT(faults_of(at + far + token), ElementsAre(HasSubstr("in the clear"))) << far;
    EXPECT_THAT(faults_of(at + far + token + tls), testing::IsEmpty()) << far;
    EXPECT_THAT(faults_of(at + far + "\nca = \"/a\"\n" + tls), testing::IsEmpty()) << far;
  }
  EXPECT_THAT(faults_of(at + "\"127.0.0.1:1\"\n" + tls),
              ElementsAre(HasSubstr("lets whoever reaches it change partitions")));
  EXPECT_THAT(faults_of(at + "\"127.0.0.1:1\"" + token + "key = \"/k\"\n"),
              ElementsAre(HasSubstr("set both rest.certificate and rest.key")));
  EXPECT_THAT(faults_of(at + "\"127.0.0.1:1\"\nca = \"/a\"\n"),
              ElementsAre(HasSubstr("set both rest.certificate and rest.key")));
}

}  // namespace config_test
}  // namespace smd
