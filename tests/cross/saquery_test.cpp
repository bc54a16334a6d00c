// Debian's saquery asks smd and then OpenSM on the same fabric, first on ibsim, then on smsim. What
// OpenSM found it keeps: LIDs and links are the same, so records must be, field by field. Where
// they differ on purpose it says why: docs/subnet-administration.md.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "tests/cross/fields.h"
#include "tests/cross/opensm_with_plugin.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace saquery_test {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

struct Question {
  std::string name;
  Words words;
  std::set<std::string> ignored;  // fields that differ for a reason
};

/// For a fabric whose LIDs 1 and 3 … are hosts and switches in the order of discovery.
std::vector<Question> questions() {
  // What the managers wrote into the registers, and how often they swept.
  const std::set<std::string> none;
  const std::set<std::string> enforcement{"PartEnforceInb:", "PartEnforceOutb:"};
  const std::set<std::string> of_port_zero{"NeighborMTU:", "LocalPhysErr:", "OverrunErr:"};
  return {
      {"node", {"NR", "1"}, none},
      {"switch_node", {"NR", "2"}, none},
      {"no_such_node", {"NR", "77"}, none},
      {"port", {"PIR", "1"}, none},
      {"switch_port", {"PIR", "2/1"}, enforcement},
      {"switch_port_zero", {"PIR", "2/0"}, of_port_zero},
      {"managers", {"-s"}, none},
      {"switch", {"SWI", "2"}, none},
      {"manager", {"SMIR"}, {"ActCount"}},
      {"guids", {"GIR", "1/0"}, none},
      {"link", {"LR", "1"}, none},
      {"links", {"-x", "1"}, none},
      {"path", {"PR", "--slid", "1", "--dlid", "5"}, none},
      {"path_back", {"PR", "--slid", "5", "--dlid", "1", "--numb_path", "1"}, none},
      {"path_of_hosts", {"--src-to-dst", "1:8"}, none},
      {"path_to_switch", {"PR", "--slid", "1", "--dlid", "2"}, none},
      {"path_between_switches", {"PR", "--slid", "2", "--dlid", "3"}, none},
      {"path_to_itself", {"PR", "--slid", "1", "--dlid", "1"}, none},
      {"path_to_nobody", {"PR", "--slid", "1", "--dlid", "99"}, none},
      {"mtu_above", {"PR", "--slid", "1", "--dlid", "5", "--mtu", "2"}, none},
      {"mtu_above_all", {"PR", "--slid", "1", "--dlid", "5", "--mtu", "5"}, none},
      {"mtu_below", {"PR", "--slid", "1", "--dlid", "5", "--mtu", "67"}, none},
      {"mtu_exactly", {"PR", "--slid", "1", "--dlid", "5", "--mtu", "131"}, none},
      {"mtu_too_large", {"PR", "--slid", "1", "--dlid", "5", "--mtu", "133"}, none},
      {"rate_above", {"PR", "--slid", "1", "--dlid", "8", "--rate", "3"}, none},
      {"rate_below", {"PR", "--slid", "1", "--dlid", "8", "--rate", "75"}, none},
      {"rate_exactly", {"PR", "--slid", "1", "--dlid", "8", "--rate", "134"}, none},
      {"rate_too_large", {"PR", "--slid", "1", "--dlid", "8", "--rate", "146"}, none},
      {"life_above", {"PR", "--slid", "1", "--dlid", "5", "--pkt_lifetime", "10"}, none},
      {"life_above_all", {"PR", "--slid", "1", "--dlid", "5", "--pkt_lifetime", "19"}, none},
      {"life_below", {"PR", "--slid", "1", "--dlid", "5", "--pkt_lifetime", "83"}, none},
      {"sl", {"PR", "--slid", "1", "--dlid", "5", "--sl", "3"}, none},
      {"partition", {"PR", "--slid", "1", "--dlid", "5", "--pkey", "0x7fff"}, none},
      {"other_partition", {"PR", "--slid", "1", "--dlid", "5", "--pkey", "0x8001"}, none},
      {"services", {"SR"}, none},
      {"subscriptions", {"IIR"}, none},
      {"reversible", {"PR", "--slid", "1", "--dlid", "5", "-r", "1"}, none},
  };
}

/// smd as a daemon on the stage's first adapter. `more`: sections of its configuration.
class Daemon {
 public:
  explicit Daemon(const Stage& stage, const std::string& more = "")
      : process_({.argv = {smd_path(), "run", "-c", configure(more)}, .env = stage.env(0)}) {}

  /// The first cycle is over and what comes after it is, too: names are known.
  bool wait_until_up() {
    return wait_until(
        [this] {
          const Finished told = run_process(
              {.argv =
                   {smctl_path(), "--socket", scratch_.path() / "smd.sock", "--json", "status"}},
              10s);
          return told.out.find("\"master\"") != std::string::npos;
        },
        20s);
  }

  Process& process() { return process_; }

 private:
  /// With the SM_Key that OpenSM trusts.
  std::string configure(const std::string& more) {
    const std::filesystem::path file = write_config(scratch_.path(), "interval_s = 0\n" + more);
    std::string lines = read_text(file);
    if (!more.empty()) lines.replace(lines.find("[sm]\n"), 5, "[sm]\nsa_key = 1\n");
    std::ofstream(file) << lines;
    return file;
  }

  Scratch scratch_;
  Process process_;
};

class SaQuery : public ::testing::TestWithParam<Server> {
 protected:
  SaQuery() : stage_(GetParam(), "fat-tree:k=4,levels=2", scratch_.path()) {}

  void SetUp() override { ASSERT_TRUE(stage_.ready()); }

  [[nodiscard]] Finished ask(Words words) const {
    words.insert(words.begin(), "saquery");
    return stage_.tool(std::move(words));
  }

  Scratch scratch_;
  Stage stage_;
};

TEST_P(SaQuery, AnswersAsOpensmDoes) {
  std::map<std::string, Finished> ours;
  {
    Daemon smd(stage_);
    ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
    // Names come after the routes.
    ASSERT_TRUE(wait_until(
        [this] {
          return ask({"NR", "2"}).out.find("sw-") != std::string::npos;
        },
        10s));
    for (const Question& question : questions()) ours[question.name] = ask(question.words);
    smd.process().terminate();
  }
  OpensmWithPlugin opensm(stage_, {.engines = "minhop"});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  for (const Question& question : questions()) {
    const Finished theirs = ask(question.words);
    EXPECT_EQ(differences(fields_of(ours[question.name].out, question.ignored),
                          fields_of(theirs.out, question.ignored)),
              "")
        << question.name;
    EXPECT_EQ(ours[question.name].exit_code, theirs.exit_code) << question.name;
  }
}

/// Tables of ports, and who may see what, where there are partitions and tables of service levels.
/// LID 1 is the manager's, 2 its switch; who asks is not in partition 0x10.
std::vector<Question> questions_about_tables() {
  const std::set<std::string> none;
  return {
      {"row_of_host", {"SL2VL", "1"}, none},
      {"arbitration_low", {"VLAR", "2/1/1"}, none},
      {"arbitration_high", {"VLAR", "2/1/3"}, none},
      {"arbitration_of_host", {"VLAR", "1/1/1"}, none},
      {"keys_of_host", {"--smkey", "1", "PKTR", "1/1/0"}, none},
      {"keys_of_switch_port", {"--smkey", "1", "PKTR", "2/1/0"}, none},
      {"keys_of_port_zero", {"--smkey", "1", "PKTR", "2/0/0"}, none},
      {"keys_without_trust", {"PKTR", "1/1/0"}, none},
      {"manager", {"NR", "1"}, none},
      {"switch", {"NR", "2"}, none},
      {"hidden", {"NR", "5"}, none},
      {"hidden_but_for_the_trusted", {"--smkey", "1", "NR", "5"}, none},
      {"hidden_port", {"PIR", "5"}, {"NeighborMTU:", "LocalPhysErr:", "OverrunErr:"}},
      {"path_to_manager", {"PR", "--slid", "8", "--dlid", "1"}, none},
      {"path_without_partition", {"PR", "--slid", "8", "--dlid", "5"}, none},
      {"path_in_default", {"PR", "--slid", "8", "--dlid", "1", "--pkey", "0x7fff"}, none},
      {"path_elsewhere", {"PR", "--slid", "8", "--dlid", "1", "--pkey", "0x8010"}, none},
  };
}

TEST_P(SaQuery, AnswersOfTablesAndPartitionsAsOpensmDoes) {
  const std::string rules = scratch_.path() / "partitions.conf";
  std::string first;
  for (const sim::NodeSpec& node : stage_.spec().nodes) {
    if (node.type == NodeType::Ca && first.empty())
      first = fmt::format("0x{:x}", node.ports[1].guid.value());
  }
  std::ofstream(rules) << "A=0x10: " << first << "=full;\nDefault: ALL_SWITCHES=full;\n";
  const std::string row = "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15";
  std::map<std::string, Finished> ours;
  {
    Daemon smd(stage_,
               "[partitions]\nfile = \"" + rules + "\"\n[qos]\nsl2vl = \"" + row +
                   "\"\nvl_high_limit = 4\nvl_arb_high = \"0:64,1:32\"\nvl_arb_low = "
                   "\"0:1,1:2,2:3\"\n");
    ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
    ASSERT_TRUE(wait_until(
        [this] {
          return ask({"NR", "2"}).out.find("sw-") != std::string::npos;
        },
        10s));
    for (const Question& question : questions_about_tables())
      ours[question.name] = ask(question.words);
    smd.process().terminate();
  }
  OpensmWithPlugin opensm(stage_,
                          {.engines = "minhop",
                           .config = {"partition_config_file " + rules,
                                      "qos TRUE",
                                      "qos_policy_file /nonexistent",
                                      "qos_high_limit 4",
                                      "qos_vlarb_high 0:64,1:32",
                                      "qos_vlarb_low 0:1,1:2,2:3",
                                      "qos_sl2vl " + row}});
  ASSERT_TRUE(opensm.wait_until_up()) << opensm.log();
  for (const Question& question : questions_about_tables()) {
    const Finished theirs = ask(question.words);
    EXPECT_EQ(differences(fields_of(ours[question.name].out, question.ignored),
                          fields_of(theirs.out, question.ignored)),
              "")
        << question.name;
    EXPECT_EQ(ours[question.name].exit_code, theirs.exit_code) << question.name;
  }
}

TEST_P(SaQuery, SaysWhatItIsAndWhatItIsNot) {
  Daemon smd(stage_);
  ASSERT_TRUE(smd.wait_until_up()) << smd.process().err();
  EXPECT_THAT(ask({"-c"}).out, HasSubstr("Capability mask..........0x2600"));
  EXPECT_THAT(ask({"LFTR", "2/0"}).out, HasSubstr("LFT Record dump"));
  EXPECT_THAT(ask({"-g"}).out, HasSubstr("ff12:401b:ffff::ffff:ffff"));
  // A wrong key is met with silence.
  EXPECT_THAT(ask({"--smkey", "5", "-t", "200", "NR", "1"}).out, Not(HasSubstr("node_guid")));
}

INSTANTIATE_TEST_SUITE_P(On,
                         SaQuery,
                         ::testing::Values(Server::Ibsim, Server::Smsim),
                         [](const auto& at) {
                           return at.param == Server::Ibsim ? "ibsim" : "smsim";
                         });

}  // namespace saquery_test
}  // namespace smd::test
