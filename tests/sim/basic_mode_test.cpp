// `basic` mode is the thesis to the letter: the eight-switch example costs 97 discovery SMPs, and
// the requests about nodes 1 to 4 are those of Table 12, with the same LIDs and the same return
// paths. The default mode asks less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "smd/mad/port_info.h"
#include "tests/support/subnet_oracles.h"

namespace smd::test {
namespace {

std::string hops(const HopArray& path, unsigned count, bool reverse) {
  std::string out = "(";
  for (unsigned i = 1; i <= count; ++i) {
    out += fmt::format("{}{}", i == 1 ? "" : ",", path[reverse ? count + 1 - i : i]);
  }
  return out + ")";
}

/// "Get PI 1 (1,1)", "Set PI 0 (1) LID=2".
std::string row(const Smp& smp) {
  const std::string path = hops(smp.initial_path, smp.hop_count, false);
  const char* method = smp.method == Method::Set ? "Set" : "Get";
  switch (static_cast<AttributeId>(smp.attribute_id)) {
    case AttributeId::NodeInfo:
      return fmt::format("{} NI {}", method, path);
    case AttributeId::SwitchInfo:
      return fmt::format("{} SI {}", method, path);
    case AttributeId::PortInfo: {
      std::string out = fmt::format("{} PI {} {}", method, smp.attribute_modifier, path);
      if (smp.method == Method::Set) out += fmt::format(" LID={}", decode_port_info(smp.data)->lid);
      return out;
    }
    default:
      return fmt::format("{} {} {}", method, smp.attribute_id, path);
  }
}

/// What passes until discovery ends.
struct Discovered {
  std::vector<std::string> requests;
  /// By request path; the last hop's entry port first, as Table 12 prints.
  std::map<std::string, std::string> returns;
  CycleReport cycle;
};

Discovered discover(const std::string& fabric_name, bool literal) {
  Discovered out;
  bool recording = true;
  SimulatedSubnetOptions options;
  options.settings.strategy = make_strategy({.literal = literal});
  options.on_phase = [&](smd::Phase phase) { recording = phase == smd::Phase::Discovering; };
  SimulatedSubnet subnet(spec_of(fabric_name), options);
  subnet.tap.on_send = [&](const Smp& smp) {
    if (recording) out.requests.push_back(row(smp));
    return true;
  };
  subnet.tap.on_receive = [&](const Smp& smp) {
    if (recording && smp.directed)
      out.returns[hops(smp.initial_path, smp.hop_count, false)] =
          hops(smp.return_path, smp.hop_count, true);
    return true;
  };
  subnet.manager.start();
  subnet.run_until([&] { return subnet.manager.cycles() > 0; }, std::chrono::minutes(1));
  out.cycle = *subnet.manager.last_cycle();
  return out;
}

/// Rows 1 to 36 of Table 12.
const std::vector<std::string> kTable12 = {
    "Get NI ()",      "Get PI 1 ()",          "Set PI 1 () LID=1",    "Get NI (1)",
    "Get SI (1)",     "Get PI 0 (1)",         "Get PI 1 (1)",         "Get PI 2 (1)",
    "Get PI 3 (1)",   "Get PI 4 (1)",         "Set PI 0 (1) LID=2",   "Get NI (1,1)",
    "Get NI (1,2)",   "Get NI (1,3)",         "Get SI (1,1)",         "Get PI 0 (1,1)",
    "Get PI 1 (1,1)", "Get PI 2 (1,1)",       "Get PI 3 (1,1)",       "Get PI 4 (1,1)",
    "Get SI (1,2)",   "Get PI 0 (1,2)",       "Get PI 1 (1,2)",       "Get PI 2 (1,2)",
    "Get PI 3 (1,2)", "Get PI 4 (1,2)",       "Set PI 0 (1,1) LID=3", "Get NI (1,1,1)",
    "Get NI (1,1,2)", "Set PI 0 (1,2) LID=4", "Get NI (1,1,3)",       "Get NI (1,2,1)",
    "Get NI (1,1,4)", "Get NI (1,2,2)",       "Get NI (1,2,3)",       "Get NI (1,2,4)"};

TEST(BasicMode, TheExampleCosts97DiscoverySmps) {
  const Discovered found = discover("example:name=fig67", true);
  EXPECT_EQ(found.cycle.discovery.smps, 97u);
  EXPECT_EQ(found.requests.size(), 97u);
  EXPECT_TRUE(found.cycle.up());
}

TEST(BasicMode, OtherExamplesCostWhatTheFormulaSays) {
  // 1 + 1 for a manager on an adapter + 7 per 4-port switch + 2 per adapter + 1 per switch port
  // that is up.
  EXPECT_EQ(discover("example:name=fig68", true).cycle.discovery.smps, 114u);
  EXPECT_EQ(discover("example:name=fig76", true).cycle.discovery.smps, 96u);
}

TEST(BasicMode, TheRequestsAboutNodes1To4AreTable12) {
  const Discovered found = discover("example:name=fig67", true);
  // Requests about deeper nodes: anything but NodeInfo with three hops or more.
  std::multiset<std::string> shallow;
  for (const std::string& each : found.requests) {
    const auto commas = std::count(each.begin(), each.end(), ',');
    if (commas <= 1 ||
        (commas == 2 && each.starts_with("Get NI") && !each.starts_with("Get NI (1,3")))
      shallow.insert(each);
  }
  EXPECT_EQ(shallow, (std::multiset<std::string>(kTable12.begin(), kTable12.end())));
}

TEST(BasicMode, AnswersComeBackAsTable12Says) {
  const Discovered found = discover("example:name=fig67", true);
  EXPECT_EQ(found.returns.at("()"), "()");
  EXPECT_EQ(found.returns.at("(1)"), "(3)");
  EXPECT_EQ(found.returns.at("(1,1)"), "(4,3)");
  EXPECT_EQ(found.returns.at("(1,2)"), "(1,3)");
  EXPECT_EQ(found.returns.at("(1,3)"), "(1,3)");
}

TEST(DefaultMode, AsksLessForTheSameKnowledge) {
  const Discovered literal = discover("example:name=fig67", true);
  const Discovered lean = discover("example:name=fig67", false);
  EXPECT_TRUE(lean.cycle.up());
  EXPECT_LT(lean.requests.size(), literal.requests.size());
  EXPECT_EQ(lean.cycle.counts, literal.cycle.counts);
}

TEST(DefaultMode, NoLinkIsAskedFromBothEnds) {
  const Discovered lean = discover("fat-tree:k=4,levels=3", false);
  std::size_t probes = 0;
  for (const std::string& each : lean.requests) probes += each.starts_with("Get NI") ? 1 : 0;
  EXPECT_EQ(probes, lean.cycle.counts.links + 1)
      << "one per link, and one for the manager's own node";
}

}  // namespace
}  // namespace smd::test
