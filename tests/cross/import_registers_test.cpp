// Sites, published ones among them (tests/golden/README.md), one that has set every option and one
// that has the traps, under Debian's opensm and, on a fabric that was switched on anew, under smd
// with what `smd import-opensm` made of their files: every register that a manager writes, but for
// the tables of routes, and every PathRecord that each host gets, field by field. What differs, and
// from what to what, is written down here, and the report of the import says it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <regex>

#include "tests/cross/imported_site.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;
using ::testing::HasSubstr;

/// What differs, and what the report says of it.
struct Difference {
  std::string field;   // a regular expression, of the fields of ImportedSite::dump()
  std::string values;  // another: all of "THIS under OpenSM, THAT under smd"
  std::string report;  // a part of the line
};

struct ComparedSite {
  SiteOnFabric site;
  std::vector<Difference> differences;

  friend void PrintTo(const ComparedSite& at, std::ostream* out) { *out << at.site.name; }
};

/// What counts by itself, and what only routes decide.
bool is_compared(const std::string& field) {
  static const std::regex kOthers(
      ".* (SwitchInfo (LinearFdbTop|DefPort|DefMcastPrimPort|DefMcastNotPrimPort|StateChange)|"
      "PortInfo (MkeyViolations|PkeyViolations|QkeyViolations|ClientReregister)|"
      // Where behind the first place a key stands is the port's own.
      "P_KeyTable\\[[0-9]+\\] .*)");
  return !std::regex_match(field, kOthers);
}

struct Comparison {
  std::map<std::string, std::string> unnamed;  // by field: both values
  std::vector<std::string> without_use;        // named, and no difference
};

Comparison compare(const RegisterFields& theirs,
                   const RegisterFields& ours,
                   const std::vector<Difference>& named) {
  Comparison out;
  std::vector<std::pair<std::regex, std::regex>> patterns;
  for (const Difference& each : named)
    patterns.emplace_back(std::regex(each.field), std::regex(each.values));
  std::vector<bool> used(named.size());
  RegisterFields all = theirs;
  all.insert(ours.begin(), ours.end());
  for (const auto& [field, ignored] : all) {
    if (!is_compared(field)) continue;
    const auto value = [&](const RegisterFields& fields) {
      const auto at = fields.find(field);
      return at == fields.end() ? std::string("nothing") : at->second;
    };
    if (value(theirs) == value(ours)) continue;
    const std::string both =
        fmt::format("{} under OpenSM, {} under smd", value(theirs), value(ours));
    const auto it = std::ranges::find_if(patterns, [&](const auto& each) {
      return std::regex_search(field, each.first) && std::regex_match(both, each.second);
    });
    if (it != patterns.end())
      used[static_cast<std::size_t>(it - patterns.begin())] = true;
    else
      out.unnamed[field] = both;
  }
  for (std::size_t i = 0; i < named.size(); ++i)
    if (!used[i]) out.without_use.push_back(named[i].field);
  return out;
}

/// By kind of node and field, with an example and how many there are.
std::string summary(const std::map<std::string, std::string>& differences) {
  std::map<std::string, std::pair<std::string, int>> kinds;
  static const std::regex kPlace("-[0-9a-f]{16}(\\+[0-9]+)?|\\[[0-9]+\\]");
  for (const auto& [field, values] : differences) {
    auto& kind = kinds[std::regex_replace(field, kPlace, "") + ": " + values];
    kind.first = field;
    kind.second += 1;
  }
  std::string text;
  for (const auto& [kind, example] : kinds)
    text += fmt::format("{} times {}  ({})\n", example.second, kind, example.first);
  return text;
}

class SitesUnderBoth : public ::testing::TestWithParam<ComparedSite> {
 protected:
  [[nodiscard]] RegisterFields under_opensm() {
    const Ibsim ibsim(site_.net());
    EXPECT_TRUE(ibsim.ready()) << ibsim.complaint();
    Process opensm(site_.opensm(ibsim));
    EXPECT_TRUE(wait_until([&] { return site_.opensm_was_up(1); }, 30s)) << site_.opensm_log();
    // Its second sweep knows the VLs that the first one gave the ports of switches.
    ::kill(opensm.pid(), SIGHUP);
    EXPECT_TRUE(wait_until([&] { return site_.opensm_was_up(2); }, 30s)) << site_.opensm_log();
    return site_.dump(ibsim);
  }

  /// As soon as it is what is wanted, else as it is in the end.
  [[nodiscard]] RegisterFields under_smd(const std::function<bool(const RegisterFields&)>& wanted) {
    const Ibsim ibsim(site_.net());
    EXPECT_TRUE(ibsim.ready()) << ibsim.complaint();
    Process smd(site_.smd(ibsim, ibsim.facts().adapter_ids.front()));
    RegisterFields seen;
    wait_until(
        [&] {
          seen = site_.dump(ibsim);
          return wanted(seen);
        },
        60s);  // one look takes a second, and more on a busy machine
    EXPECT_EQ(smd.terminate(), 0) << smd.err();
    return seen;
  }

  ImportedSite site_{GetParam().site};
};

TEST_P(SitesUnderBoth, RegistersAndPathsAreTheSameOrTheReportSaysWhy) {
  const RegisterFields theirs = under_opensm();
  ASSERT_GT(theirs.size(), 1000u) << site_.opensm_log();
  const std::string report = site_.import();
  for (const Difference& each : GetParam().differences)
    EXPECT_THAT(report, HasSubstr(each.report)) << each.field;
  const RegisterFields ours = under_smd([&](const RegisterFields& seen) {
    return compare(theirs, seen, GetParam().differences).unnamed.empty();
  });
  const Comparison found = compare(theirs, ours, GetParam().differences);
  EXPECT_TRUE(found.unnamed.empty()) << summary(found.unnamed);
  EXPECT_THAT(found.without_use, ::testing::IsEmpty()) << "said to differ, and does not";
}

std::string from_to(const std::string& theirs, const std::string& ours) {
  return theirs + " under OpenSM, " + ours + " under smd";
}

/// Switches of the top level, which OpenSM leaves without paths between them.
const Difference kTops{.field = ": S-000200000000000[45] S-000200000000000[45] Path",
                       .values = "(nothing under OpenSM, .*| under OpenSM, nothing) under smd",
                       .report = "connect_roots FALSE: switches of the top level"};

const std::string kEightVls = "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7";

/// The full key of the default partition, which stood first, is gone under OpenSM, and its limited
/// one not in its place.
Difference nothing_first() {
  return {.field = "P_KeyTable first",
          .values = from_to("0x0000", "0x7fff"),
          .report = "allow_both_pkeys"};
}

Difference own_partition(const std::string& values) {
  return {.field = "Path\\[any\\] pkey",
          .values = values,
          .report =
              "; where no P_Key is asked for, the path of two ports that share several "
              "partitions is in the default one"};
}

/// A port 0 that is mapped by the row of the port where a packet came in.
Difference port_0(const std::string& theirs, const std::string& ours) {
  return {.field = "S-[0-9a-f]{16} 0 SL2VL\\[[1-9]",
          .values = from_to(theirs, ours),
          .report = "packets to an enhanced port 0 are mapped by its own row in smd"};
}

Difference without_two_levels(const std::string& field, const std::string& values) {
  return {.field = field,
          .values = values,
          .report =
              "sm.engine = \"dor\", because dor comes nearest; there are no two levels of "
              "QoS"};
}

Difference slower(const std::string& field, const std::string& theirs, const std::string& ours) {
  return {.field = field,
          .values = from_to(theirs, ours),
          .report = "force_link_speed_ext 1: not carried because smd leaves"};
}

SiteOnFabric on_tree(const std::string& name) {
  return {.name = name, .fabric = "fat-tree:k=4,levels=2", .replaced = {}, .start = ""};
}

SiteOnFabric at_default_places(SiteOnFabric site) {
  site.at_default_places = true;
  return site;
}

SiteOnFabric with(SiteOnFabric site, std::vector<std::pair<std::string, std::string>> replaced) {
  site.replaced = std::move(replaced);
  return site;
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    SitesUnderBoth,
    ::testing::Values(
        ComparedSite{.site = hpc_updn_site(),
                     .differences = {{.field = "Path\\[(any|0x8001)\\] sl",
                                      .values = from_to("0", "1"),
                                      .report = "sl=1 of alice: counts in smd, and not in OpenSM"},
                                     nothing_first()}},
        ComparedSite{.site = on_tree("qos-bring-up"), .differences = {kTops}},
        // ibsim takes attributes of class 0x21 for those of SMPs, 0x16 for P_KeyTable.
        ComparedSite{.site = {.name = "two-rails",
                              .fabric = "fat-tree:k=4,levels=2",
                              .replaced = {{"congestion_control TRUE", "congestion_control FALSE"}},
                              .start = "PORTS=\"0x0001000000000001\"\n"
                                       "OPTIONS=\"--priority 10 -v\"\n",
                              .m_key = "0xdeadbeef"},
                     .differences = {}},
        ComparedSite{
            .site = every_option_site(),
            .differences =
                {slower("LinkSpeedExtEnabled", "14.0625 Gbps", "14.0625 Gbps or 25.78125 Gbps"),
                 slower("LinkSpeedExtActive", "14.0625 Gbps", "25.78125 Gbps"),
                 slower("Path.* rate", "12", "16"),  // 56 and 100 Gb/s
                 port_0("0,3,0,3,0,3,0,3,0,3,0,3,0,3,0,3", "0,2,0,2,0,2,0,2,0,2,0,2,0,2,0,2"),
                 nothing_first()}},
        ComparedSite{.site = on_tree("tenants-qos"),
                     .differences = {kTops,
                                     port_0("0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15",
                                            "0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0"),
                                     own_partition("(0x0100 under OpenSM, 0xffff|"
                                                   "0x8100 under OpenSM, 0x7fff) under smd")}},
        ComparedSite{.site = {.name = "torus-lmc",
                              .fabric = "torus:dims=3.3,hosts=1",
                              .replaced = {},
                              .start = "",
                              .m_key = "0x0badcafe"},
                     .differences =
                         {without_two_levels("H-[0-9a-f]{16} 1 SL2VL|S-[0-9a-f]{16} [05] SL2VL",
                                             from_to("0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1", kEightVls)),
                          without_two_levels("S-[0-9a-f]{16} [12] SL2VL",
                                             from_to("(0,1,0,1,0,1,0,1,4,5,4,5,4,5,4,5|"
                                                     "2,3,2,3,2,3,2,3,6,7,6,7,6,7,6,7)",
                                                     kEightVls)),
                          without_two_levels("S-[0-9a-f]{16} [34] SL2VL",
                                             from_to("0,0,1,1,0,0,1,1,4,4,5,5,4,4,5,5", kEightVls)),
                          without_two_levels("S-[0-9a-f]{16} 5 VLArbLow",
                                             from_to("1:4", "1:4,2:4,3:4,4:4,5:4,6:4,7:4")),
                          without_two_levels("Path.* sl", from_to("[1-3]", "0"))}},
        ComparedSite{.site = with(on_tree("scinet10"), {{"opensmskummeeplugin", "(null)"}}),
                     .differences = {}},
        ComparedSite{.site = at_default_places(
                         with(on_tree("ceph-three-hosts"),
                              {{"--daemon ", ""}, {"0x7cfe900300179b31", "0x0001000000000001"}})),
                     .differences = {kTops}},
        ComparedSite{.site = at_default_places(on_tree("ethernet-gateway")),
                     .differences = {own_partition(from_to("0x9000", "0xffff"))}},
        ComparedSite{.site = on_tree("qos-bench"), .differences = {}},
        ComparedSite{.site = on_tree("inference-qos"), .differences = {}},
        ComparedSite{.site = at_default_places(on_tree("traps")), .differences = {}}),
    [](const auto& at) {
      std::string name = at.param.site.name;
      std::erase(name, '-');
      return name;
    });

/// What the traps would do to a site whose file was copied word for word.
class TrapsUnderBoth : public SitesUnderBoth {};

TEST_P(TrapsUnderBoth, AreSeenInTheRegistersWhereOneIsNotHandled) {
  const RegisterFields theirs = under_opensm();
  ASSERT_NE(site_.import(), "");
  const std::filesystem::path config = site_.folder() / "smd.toml";
  const std::string text = read_text(config);
  const std::vector<std::pair<std::string, std::string>> traps = {
      {"\nfile = ", "P_KeyTable keys"},
      {"\nsl2vl = ", " SL2VL"},
      {"\nvl_arb_low = ", " VLArbLow"},
      {"\nmax_operational_vls = ", "PortInfo OperVLs"}};
  for (const auto& [line, registers] : traps) {
    std::string without = text;
    const std::size_t at = without.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    without.erase(at, without.find('\n', at + 1) - at);
    std::ofstream(config) << without;
    const auto differs = [&, &part = registers](const RegisterFields& seen) {
      const auto found = compare(theirs, seen, {}).unnamed;
      return seen.size() > 1000 && std::ranges::any_of(found, [&](const auto& each) {
               return each.first.find(part) != std::string::npos;
             });
    };
    EXPECT_TRUE(differs(under_smd(differs))) << "without" << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Each,
                         TrapsUnderBoth,
                         ::testing::Values(ComparedSite{.site = at_default_places(on_tree("traps")),
                                                        .differences = {}}),
                         [](const auto& at) { return at.param.site.name; });

}  // namespace
}  // namespace smd::test
