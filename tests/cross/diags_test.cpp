// Debian's diagnostic tools on a fabric that smd brought up and on one that OpenSM brought up,
// first on ibsim, then on smsim: what sminfo, smpquery, ibnetdiscover and perfquery print is the
// same, field by field. What differs has its reason here and in docs/operations.md.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <regex>

#include "tests/cross/fields.h"
#include "tests/cross/opensm_with_plugin.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace diags_test {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr const char* kFabric = "fat-tree:k=4,levels=2";

/// Directed routes from the adapter where tools run to every node, "0,1,3".
std::map<std::uint32_t, std::string> routes_from_last_adapter(const sim::FabricSpec& spec) {
  std::uint32_t from = 0;
  for (std::uint32_t n = 0; n < spec.nodes.size(); ++n) {
    if (spec.nodes[n].type == NodeType::Ca) from = n;
  }
  std::map<std::uint32_t, std::string> routes{{from, "0"}};
  for (std::deque<std::uint32_t> open{from}; !open.empty(); open.pop_front()) {
    const sim::NodeSpec& node = spec.nodes[open.front()];
    if (node.type == NodeType::Ca && open.front() != from) continue;
    for (unsigned p = 1; p <= node.num_ports(); ++p) {
      const std::uint32_t peer = node.ports[p].peer_node;
      if (peer == sim::kNoNode || routes.contains(peer)) continue;
      routes[peer] = fmt::format("{},{}", routes[open.front()], p);
      open.push_back(peer);
    }
  }
  return routes;
}

struct Question {
  Words words;
  std::set<std::string> ignored;  // fields that differ for a reason
};

/// LIDs are every manager's own to give. smd enforces partitions on switches where a partition file
/// asks for it, OpenSM always.
const std::set<std::string> kOfSwitches{"Lid:", "PartEnforceInb:", "PartEnforceOutb:"};

/// No packet of a neighbour comes in at a management port.
const std::set<std::string> kOfPortZero{"Lid:", "NeighborMTU:", "LocalPhysErr:", "OverrunErr:"};

const std::set<std::string> kOfAdapters{"Lid:"};

/// Without LIDs, the time, and what counts while one looks.
std::string without_accidents(const Words& tool, const std::string& text) {
  static const std::regex kAccidents("[Ll]id [0-9]+|activity count [0-9]+|# Topology file[^\n]*");
  static const std::regex kCounts("\\.[0-9]+\n");
  const std::string out = std::regex_replace(text, kAccidents, "");
  return tool.front() == "perfquery" ? std::regex_replace(out, kCounts, "\n") : out;
}

void ask_of_port(const std::string& route,
                 unsigned port,
                 const std::set<std::string>& ignored,
                 std::vector<Question>& out) {
  const std::string number = std::to_string(port);
  out.push_back({{"smpquery", "-D", "portinfo", route, number}, ignored});
  out.push_back({{"smpquery", "-D", "pkeys", route, number}, {}});
  out.push_back({{"smpquery", "-D", "vlarb", route, number}, {}});
}

std::uint64_t guid_of(const sim::NodeSpec& node) {
  return node.type == NodeType::Switch ? node.guid.value() : node.ports[1].guid.value();
}

std::vector<Question> questions(const sim::FabricSpec& spec) {
  std::vector<Question> out{{{"sminfo"}, {}}, {{"ibnetdiscover"}, {}}};
  for (const auto& [n, route] : routes_from_last_adapter(spec)) {
    const sim::NodeSpec& node = spec.nodes[n];
    for (const char* what : {"nodeinfo", "nodedesc"}) {
      out.push_back({{"smpquery", "-D", what, route}, {}});
    }
    out.push_back({{"smpquery", "-D", "sl2vl", route, "1"}, {}});
    out.push_back({{"perfquery", "-G", fmt::format("{:#x}", guid_of(node)), "1"}, {}});
    const bool is_switch = node.type == NodeType::Switch;
    if (is_switch) {
      out.push_back({{"smpquery", "-D", "switchinfo", route}, {}});
      out.push_back({{"smpquery", "-D", "portinfo", route, "0"}, kOfPortZero});
    }
    for (unsigned p = 1; p <= node.num_ports(); ++p) {
      ask_of_port(route, p, is_switch ? kOfSwitches : kOfAdapters, out);
    }
  }
  return out;
}

/// smd gives the default partition to hosts last of all.
bool everybody_is_a_full_member(const Stage& stage) {
  for (const auto& [n, route] : routes_from_last_adapter(stage.spec())) {
    if (stage.spec().nodes[n].type == NodeType::Switch) continue;
    const std::string keys = stage.tool({"smpquery", "-D", "pkeys", route, "1"}).out;
    if (keys.find("0xffff") == std::string::npos) return false;
  }
  return true;
}

class Diagnosed : public ::testing::TestWithParam<Server> {
 protected:
  using Answers = std::vector<Finished>;

  [[nodiscard]] static Answers ask_all(const Stage& stage) {
    Answers out;
    for (const Question& question : questions(stage.spec())) {
      out.push_back(stage.tool(question.words));
    }
    return out;
  }

  [[nodiscard]] Answers under_smd() {
    const Stage stage(GetParam(), kFabric, scratch_.path());
    EXPECT_TRUE(stage.ready());
    const std::filesystem::path config = write_config(scratch_.path(), "interval_s = 0\n");
    Process smd({.argv = {smd_path(), "run", "-c", config}, .env = stage.env(0)});
    EXPECT_TRUE(wait_until([&] { return everybody_is_a_full_member(stage); }, 20s)) << smd.err();
    Answers out = ask_all(stage);
    smd.terminate();
    return out;
  }

  [[nodiscard]] Answers under_opensm() const {
    const Stage stage(GetParam(), kFabric, scratch_.path());
    EXPECT_TRUE(stage.ready());
    OpensmWithPlugin opensm(stage, {.engines = "minhop"});
    EXPECT_TRUE(opensm.wait_until_up()) << opensm.log();
    EXPECT_TRUE(opensm.wait_until_quiet());
    return ask_all(stage);
  }

  Scratch scratch_;
};

TEST_P(Diagnosed, AsUnderOpensm) {
  const Answers ours = under_smd();
  const Answers theirs = under_opensm();
  const std::vector<Question> asked = questions(sim::load_fabric(kFabric).value());
  ASSERT_EQ(ours.size(), asked.size());
  ASSERT_EQ(theirs.size(), asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::string what = fmt::format("{}", fmt::join(asked[i].words, " "));
    EXPECT_EQ(ours[i].exit_code, 0) << what << ours[i].err;
    EXPECT_EQ(
        differences(fields_of(without_accidents(asked[i].words, ours[i].out), asked[i].ignored),
                    fields_of(without_accidents(asked[i].words, theirs[i].out), asked[i].ignored)),
        "")
        << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Each,
                         Diagnosed,
                         ::testing::Values(Server::Ibsim, Server::Smsim),
                         [](const auto& server) {
                           return server.param == Server::Ibsim ? "OnIbsim" : "OnSmsim";
                         });

}  // namespace diags_test
}  // namespace smd::test
