// OpenSM's qos-policy.conf: what it says, which request gets which level, and what is said of one
// that is wrong.
#include <gmock/gmock.h>

#include "smd/policy/qos_rules.h"
#include "tests/support/fabric_text.h"
#include "tests/unit/policy/parsed.h"

namespace smd {
namespace qos_file_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

QosReading read(std::string_view text) { return test::accepted(parse_qos_file(text, "q.conf")); }

std::vector<std::string> faults_of(std::string_view text) {
  return test::print_faults(parse_qos_file(text, "q.conf"));
}

/// All keywords, in the shape of the examples of OpenSM's documentation.
constexpr std::string_view kFull = R"(
port-groups
    port-group # using port GUIDs
        name: Storage
        use: targets: of all kinds
        port-guid: 0x20101, 0x20201-0x20202
    end-port-group
    port-group
        name: Virtual Servers
        port-name: vs 1 HCA-1/P1, "vs2 HCA-1/P2"
    end-port-group
    port-group
        name: Partitions
        partition: Part1
        pkey: 0x1234
    end-port-group
    port-group
        name: CAs and SM
        node-type: CA, SELF
    end-port-group
end-port-groups

qos-setup
    vlarb-tables
        vlarb-scope
            vlarb-high: 0:255
        end-vlarb-scope
    end-vlarb-tables
end-qos-setup

qos-levels
    qos-level
        name: DEFAULT
        use: default QoS Level
        sl: 0
    end-qos-level
    qos-level
        name: WholeSet
        sl: 1
        mtu-limit: 4
        rate-limit: 5
        pkey: 0x1234, 0x8001-0x8003
        packet-life: 8
        path-bits: 0,2-3
    end-qos-level
end-qos-levels

qos-match-rules
    qos-match-rule
        use: by QoS class
        qos-class: 7-9,11
        qos-level-name: WholeSet
    end-qos-match-rule
    qos-match-rule
        destination: storage
        service-id: 0x10000000000001, 0x10000000000008-0x10000000000FFF
        qos-level-name: wholeset
    end-qos-match-rule
    qos-match-rule
        source: Storage, Virtual Servers
        pkey: 0x0F00-0x0FFF
        qos-level-name: DEFAULT
    end-qos-match-rule
end-qos-match-rules
)";

TEST(QosFileTest, EveryKeyword) {
  const QosReading reading = read(kFull);
  const QosFile& file = reading.rules;
  ASSERT_THAT(file.groups, SizeIs(4));
  EXPECT_THAT(file.groups[0].guids,
              ElementsAre(NumberRange{0x20101, 0x20101}, NumberRange{0x20201, 0x20202}));
  EXPECT_THAT(
      file.groups[1].ports,
      ElementsAre(QosPortGroup::PortName{"vs 1 HCA-1", 1}, QosPortGroup::PortName{"vs2 HCA-1", 2}));
  EXPECT_THAT(file.groups[2].partitions, ElementsAre("Part1"));
  EXPECT_THAT(file.groups[2].p_keys, ElementsAre(NumberRange{0x1234, 0x1234}));
  EXPECT_TRUE(file.groups[3].adapters && file.groups[3].self);
  EXPECT_FALSE(file.groups[3].switches || file.groups[3].all);
  ASSERT_THAT(file.levels, SizeIs(2));
  EXPECT_EQ(file.levels[1],
            (QosLevel{.name = "WholeSet",
                      .sl = 1,
                      .mtu_limit = 4,
                      .rate_limit = 5,
                      .packet_life = 8,
                      .path_bits = {{0, 0}, {2, 3}},
                      .p_keys = {{0x1234, 0x1234}, {1, 3}}}));
  EXPECT_EQ(file.default_level, 0u);
  ASSERT_THAT(file.matches, SizeIs(3));
  EXPECT_EQ(file.matches[0], (QosMatch{.classes = {{7, 9}, {11, 11}}, .level = 1}));
  EXPECT_EQ(file.matches[1],
            (QosMatch{.targets = {0},
                      .services = {{0x10000000000001, 0x10000000000001},
                                   {0x10000000000008, 0x10000000000fff}},
                      .level = 1}));
  EXPECT_EQ(file.matches[2], (QosMatch{.sources = {0, 1}, .p_keys = {{0xf00, 0xfff}}, .level = 0}));
  ASSERT_THAT(reading.remarks, SizeIs(1));
  EXPECT_THAT(print_fault(reading.remarks[0]), HasSubstr("q.conf:24: qos-setup means nothing"));
}

TEST(QosFileTest, EveryApplication) {
  const QosFile file = read(R"(
qos-ulps
    default                       : 0 # default SL
    sdp, port-num 30000           : 1
    SDP, port-num 10000-20000     : 2
    sdp                           : 3
    rds                           : 2
    rds, port-num 25000           : 2
    iser, port-num 900            : 0
    iser                          : 3
    ipoib, pkey 0x0001            : 0
    ipoib                         : 4
    any, service-id 0x6234        : 6
    any, pkey 0x8ABC              : 6
    srp, target-port-guid 0x1234  : 5
    any, target-port-guid 0x0ABC-0xFFFFF : 6
    any, source-port-guid 0x5678  : 7
    any, source-target-port-guid 0x9 : 8
end-qos-ulps
)")
                           .rules;
  const auto& m = file.matches;
  ASSERT_THAT(m, SizeIs(16));
  const auto service = [&](std::size_t i) { return m[i].services.at(0); };
  EXPECT_EQ(service(0), (NumberRange{0x17530, 0x17530}));
  EXPECT_EQ(service(1), (NumberRange{0x12710, 0x14e20}));
  EXPECT_EQ(service(2), (NumberRange{0x10000, 0x1ffff}));
  EXPECT_EQ(service(3), (NumberRange{0x10648ca, 0x10648ca}));
  EXPECT_EQ(service(4), (NumberRange{0x10661a8, 0x10661a8}));
  EXPECT_EQ(service(5), (NumberRange{0x1060384, 0x1060384}));
  EXPECT_EQ(service(6), (NumberRange{0x1060cbc, 0x1060cbc}));
  EXPECT_THAT(m[7].p_keys, ElementsAre(NumberRange{1, 1}));
  EXPECT_THAT(m[8].p_keys, ElementsAre(NumberRange{0x7fff, 0x7fff}));
  EXPECT_EQ(service(9), (NumberRange{0x6234, 0x6234}));
  EXPECT_THAT(m[10].p_keys, ElementsAre(NumberRange{0xabc, 0xabc}));
  const auto guids = [&](const std::vector<std::size_t>& groups) {
    return file.groups.at(groups.at(0)).guids.at(0);
  };
  EXPECT_EQ(guids(m[11].targets), (NumberRange{0x1234, 0x1234}));
  EXPECT_EQ(guids(m[12].targets), (NumberRange{0xabc, 0xfffff}));
  EXPECT_EQ(guids(m[13].sources), (NumberRange{0x5678, 0x5678}));
  EXPECT_EQ(guids(m[14].sources), (NumberRange{9, 9}));
  EXPECT_THAT(m[14].targets, IsEmpty()) << "one end is enough";
  EXPECT_EQ(guids(m[15].targets), (NumberRange{9, 9}));
  const unsigned sls[] = {1, 2, 3, 2, 2, 0, 3, 0, 4, 6, 6, 5, 6, 7, 8, 8};
  for (std::size_t i = 0; i < m.size(); ++i) EXPECT_EQ(file.levels[m[i].level].sl, sls[i]) << i;
  EXPECT_EQ(file.levels[file.default_level].sl, 0);
}

TEST(QosFileTest, FullRulesGoBeforeApplications) {
  const QosFile file = read(
                           "qos-ulps\nsdp: 5\nend-qos-ulps\nqos-levels\nqos-level\nname: default\n"
                           "sl: 2\nend-qos-level\nend-qos-levels\nqos-match-rules\n"
                           "qos-match-rule\nqos-class: 1\nqos-level-name: DEFAULT\n"
                           "end-qos-match-rule\nend-qos-match-rules\n")
                           .rules;
  EXPECT_THAT(file.matches.at(0).classes, SizeIs(1));
  EXPECT_THAT(file.matches.at(1).services, SizeIs(1));
}

struct Wrong {
  const char* text;
  const char* fault;
};

class QosFaults : public testing::TestWithParam<Wrong> {};

TEST_P(QosFaults, AreOneLineWithPlaceAndRemedy) {
  const std::vector<std::string> faults = faults_of(GetParam().text);
  ASSERT_FALSE(faults.empty());
  EXPECT_THAT(faults.front(), HasSubstr(GetParam().fault));
  for (const std::string& fault : faults)
    EXPECT_TRUE(test::is_well_placed(GetParam().text, fault)) << fault;
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    QosFaults,
    testing::Values(
        Wrong{"", "q.conf: no default level; a qos-level with name: DEFAULT, or default: SL"},
        Wrong{"qos-ulps\nsdp: 1\nend-qos-ulps", "no default level"},
        Wrong{"qos-ulps\ndefault: 0", "q.conf:2: qos-ulps is not closed; end-qos-ulps"},
        Wrong{"qos-ulps\ndefault: 16\nend-qos-ulps",
              "q.conf:2:10: the SL is '16'; a number from 0"},
        Wrong{"qos-ulps\ndefault\nend-qos-ulps", "q.conf:2:1: 'default' has no SL; KEYWORD: SL"},
        Wrong{"qos-ulps\ndefault: 0\ndefault: 1\nend-qos-ulps", "q.conf:3: a second default; one"},
        Wrong{"qos-ulps\ndefault: 0\nnfs: 1\nend-qos-ulps", "q.conf:3:1: 'nfs' is no application;"},
        Wrong{"qos-ulps\ndefault: 0\nsrp: 1\nend-qos-ulps",
              "'srp' is no application; default, sdp"},
        Wrong{"qos-ulps\ndefault: 0\nsdp, port-num 70000: 1\nend-qos-ulps",
              "port-num has '70000'; numbers up to 0xffff"},
        Wrong{"qos-ulps\ndefault: 0\nany, pkey 0x7000-0x8001: 1\nend-qos-ulps",
              "pkey has a range over 0x7fff; P_Keys from 0x0001 to 0x7fff"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-level\nend-qos-levels",
              "q.conf:4:1: qos-level in the file; it stands in qos-levels"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nend-qos-ulps",
              "q.conf:4:1: end-qos-ulps where the file is open"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-levels\nqos-level\nname: a\n"
              "end-qos-level\nend-qos-levels",
              "q.conf:5: qos-level has no SL; sl: 0 to 15"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-levels\nqos-level\nname: A\nsl: 1\n"
              "end-qos-level\nqos-level\nname: a\nsl: 1\nend-qos-level\nend-qos-levels",
              "q.conf:9: a second qos-level 'a'; each name once"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-levels\nqos-level\nname: DEFAULT\nsl: 1\n"
              "end-qos-level\nend-qos-levels",
              "q.conf:2: a second default level, beside that of qos-levels; one"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-match-rules\nqos-match-rule\n"
              "source: nobody\nqos-level-name: default\nend-qos-match-rule\nend-qos-match-rules",
              "q.conf:5: no port-group is called 'nobody'"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-match-rules\nqos-match-rule\n"
              "qos-level-name: gold\nend-qos-match-rule\nend-qos-match-rules",
              "q.conf:5: no qos-level is called 'gold'"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-match-rules\nqos-match-rule\n"
              "end-qos-match-rule\nend-qos-match-rules",
              "q.conf:5: qos-match-rule has no level; qos-level-name: NAME"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nport-groups\nport-group\nport-name: host\n"
              "name: a\nend-port-group\nend-port-groups",
              "q.conf:6:12: 'host' is no port; NODE DESCRIPTION/P1"},
        Wrong{
            "qos-ulps\ndefault: 0\nend-qos-ulps\nport-groups\nport-group\nnode-type: HCA\n"
            "name: a\nend-port-group\nend-port-groups",
            "q.conf:6:12: no node type 'HCA'; the nearest is ca; CA, SWITCH, ROUTER, SELF or ALL"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nport-groups\nport-group\nport: 7\n"
              "name: a\nend-port-group\nend-port-groups",
              "q.conf:6:1: no keyword 'port' in port-group; name, port-guid, port-name, pkey, "},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nport-groups\n port-group\n  nodetype: CA\n"
              "  name: a\n end-port-group\nend-port-groups",
              "q.conf:6:3: no keyword 'nodetype' in port-group; the nearest is node-type; name, "},
        Wrong{"qos-ulps\nipoipb : 1\ndefault: 0\nend-qos-ulps",
              "q.conf:2:1: 'ipoipb' is no application; the nearest is ipoib; default, sdp"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-match-rule\nend-qos-match-rules",
              "q.conf:4:1: qos-match-rule in the file; it stands in qos-match-rules"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-levls",
              "q.conf:4:1: 'qos-levls' in the file; the nearest is qos-levels; KEYWORD: VALUE"},
        Wrong{"qos-ulps\ndefault: 0\nend-qos-ulps\nqos-match-rules\nqos-match-rule\n"
              "qos-level-name: defualt\nend-qos-match-rule\nend-qos-match-rules",
              "q.conf:5: no qos-level is called 'defualt'; the nearest is default"}));

// Names are looked up when all are known: after the lines below them were read.
TEST(QosFaultsOfAFile, AreInItsOrder) {
  EXPECT_THAT(faults_of("qos-ulps\ndefault: 0\nend-qos-ulps\nqos-match-rules\nqos-match-rule\n"
                        "qos-level-name: gold\nend-qos-match-rule\nend-qos-match-rules\n"
                        "port-groups\nport-group\nport: 7\nname: a\nend-port-group\n"
                        "end-port-groups\n"),
              ElementsAre(HasSubstr("q.conf:5: no qos-level is called 'gold'"),
                          HasSubstr("q.conf:11:1: no keyword 'port' in port-group")));
}

class Levels : public testing::Test {
 protected:
  Levels() {
    fabric = test::fabric_from("H1-S1 H2-S1 R3-S1");
    h1 = test::end_port(fabric, "H1");
    h2 = test::end_port(fabric, "H2");
    fabric.description[test::node(fabric, "H2")] = "vs 1 HCA-1";
  }

  std::string level(std::string_view text, QosRequest request, const PartitionFile& rules = {}) {
    request.source = h1;
    request.target = h2;
    return QosRules(fabric, read(text).rules, map ? &*map : nullptr, rules)
        .find_level(request)
        .name;
  }

  /// A policy with one rule, of level "gold".
  static std::string rule(const std::string& lines, const std::string& group = "") {
    return "qos-ulps\ndefault: 0\nend-qos-ulps\nport-groups\nport-group\nname: g\n" + group +
           "end-port-group\nend-port-groups\nqos-levels\nqos-level\nname: gold\nsl: 3\n"
           "end-qos-level\nend-qos-levels\nqos-match-rules\nqos-match-rule\n" +
           lines + "qos-level-name: gold\nend-qos-match-rule\nend-qos-match-rules\n";
  }

  Fabric fabric;
  PortIdx h1 = kNone<PortIdx>;
  PortIdx h2 = kNone<PortIdx>;
  std::optional<PartitionMap> map;
};

TEST_F(Levels, OfRequestsByWhatTheySay) {
  EXPECT_EQ(level(rule("service-id: 5-7\n"), {.service = 6}), "gold");
  EXPECT_EQ(level(rule("service-id: 5-7\n"), {.service = 8}), "default");
  EXPECT_EQ(level(rule("service-id: 5-7\n"), {}), "default") << "nothing asked is no match";
  EXPECT_EQ(level(rule("qos-class: 2\n"), {.qos_class = 2}), "gold");
  EXPECT_EQ(level(rule("qos-class: 2\n"), {.qos_class = 3}), "default");
  EXPECT_EQ(level(rule("pkey: 1\n"), {.p_key = PKey{0x8001}}), "gold");
  EXPECT_EQ(level(rule("pkey: 1\n"), {}), "default");
  EXPECT_EQ(level(rule("pkey: 1\nqos-class: 2\n"), {.p_key = PKey{1}}), "default") << "all of it";
}

TEST_F(Levels, OfRequestsByTheirEnds) {
  EXPECT_EQ(level(rule("source: g\n", "port-guid: 0x20101\n"), {}), "gold");
  EXPECT_EQ(level(rule("source: g\n", "port-guid: 0x20201\n"), {}), "default");
  EXPECT_EQ(level(rule("destination: g\n", "port-guid: 0x20200-0x20300\n"), {}), "gold");
  EXPECT_EQ(level(rule("destination: g\n", "port-name: vs 1 HCA-1/P1\n"), {}), "gold");
  EXPECT_EQ(level(rule("destination: g\n", "port-name: vs 1 HCA-1/P2\n"), {}), "default");
  EXPECT_EQ(level(rule("destination: g\n", "node-type: CA\n"), {}), "gold");
  EXPECT_EQ(level(rule("destination: g\n", "node-type: SWITCH, ROUTER\n"), {}), "default");
  EXPECT_EQ(level(rule("source: g\n", "node-type: SELF\n"), {}), "gold");
  EXPECT_EQ(level(rule("destination: g\n", "node-type: SELF\n"), {}), "default");
  EXPECT_EQ(level(rule("destination: g\n", "node-type: ALL\n"), {}), "gold");
}

TEST_F(Levels, OfRequestsByPartition) {
  EXPECT_EQ(level(rule("source: g\n", "pkey: 0x7fff\n"), {}), "gold") << "all are in the default";
  EXPECT_EQ(level(rule("source: g\n", "pkey: 1\n"), {}), "default");
  const PartitionFile rules = parse_partition_file("A=1: 0x20101;", "p").value().rules;
  map = build_partition_map(fabric, {.rules = rules});
  EXPECT_EQ(level(rule("source: g\n", "partition: A\n"), {}, rules), "gold");
  EXPECT_EQ(level(rule("destination: g\n", "partition: A\n"), {}, rules), "default");
  EXPECT_EQ(level(rule("source: g\n", "pkey: 0x8001\n"), {}, rules), "gold");
}

TEST(QosConflicts, AreNamed) {
  const QosFile file = read("qos-ulps\ndefault: 0\nsdp: 3\nend-qos-ulps").rules;
  EXPECT_THAT(find_qos_conflicts(file, {}, false), IsEmpty());
  EXPECT_THAT(find_qos_conflicts(file, {3}, false),
              ElementsAre("level 'SL 3': SL 3 is discarded by qos.sl2vl"));
  EXPECT_THAT(find_qos_conflicts(file, {}, true),
              ElementsAre(HasSubstr("'SL 3': SL 3 is not given")));
}

TEST(QosConflicts, SlsThatAreDiscarded) {
  const PartitionFile rules =
      parse_partition_file("Default=0x7fff: ALL;\np=0x1,sl=5: ALL;", "p").value().rules;
  EXPECT_THAT(find_discarded_sls(rules, {}), IsEmpty());
  EXPECT_THAT(find_discarded_sls(rules, {3}), IsEmpty());
  EXPECT_THAT(find_discarded_sls(rules, {0, 5}),
              ElementsAre(kSl0Discarded, "partition 'p': SL 5 is discarded by qos.sl2vl"));
}

TEST(QosConflicts, PartitionsThatAreNotThere) {
  const PartitionFile rules = parse_partition_file("Storage=1: ALL;", "p").value().rules;
  const QosFile file = read(R"(
port-groups
    port-group
        name: g
        partition: Storage, Storag, x
    end-port-group
end-port-groups
qos-ulps
    default: 0
end-qos-ulps
)")
                           .rules;
  EXPECT_THAT(find_unknown_partitions(file, rules),
              ElementsAre("port group 'g': no partition 'Storag'; the nearest is Storage; none of "
                          "its ports are in the group",
                          "port group 'g': no partition 'x'; none of its ports are in the group"));
  EXPECT_THAT(find_unknown_partitions(read(kFull).rules, rules), SizeIs(1));
}

}  // namespace qos_file_test
}  // namespace smd
