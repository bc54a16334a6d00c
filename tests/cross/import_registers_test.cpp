// Five sites, and one that has set every option, under Debian's opensm and, on a fabric that was
// switched on anew, under smd with what `smd import-opensm` made of their files: every register
// that a manager writes, but for the tables of routes, and every PathRecord that each host gets,
// field by field. What differs the report of the import says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
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
      // Where in its table a key stands is the port's own.
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
  std::map<std::string, std::regex> patterns;
  for (const Difference& each : named) patterns.emplace(each.field, std::regex(each.field));
  std::set<std::string> used;
  RegisterFields all = theirs;
  all.insert(ours.begin(), ours.end());
  for (const auto& [field, ignored] : all) {
    if (!is_compared(field)) continue;
    const auto value = [&](const RegisterFields& fields) {
      const auto at = fields.find(field);
      return at == fields.end() ? std::string("nothing") : at->second;
    };
    if (value(theirs) == value(ours)) continue;
    const auto it = std::ranges::find_if(
        patterns, [&](const auto& each) { return std::regex_search(field, each.second); });
    if (it != patterns.end())
      used.insert(it->first);
    else
      out.unnamed[field] = fmt::format("{} under OpenSM, {} under smd", value(theirs), value(ours));
  }
  for (const auto& [field, ignored] : patterns)
    if (!used.contains(field)) out.without_use.push_back(field);
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
        10s);
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

const Difference kTops{.field = ": S-000200000000000[45] S-000200000000000[45] Path",
                       .report = "connect_roots FALSE: switches of the top level"};

INSTANTIATE_TEST_SUITE_P(
    Each,
    SitesUnderBoth,
    ::testing::Values(
        ComparedSite{
            .site = hpc_updn_site(),
            .differences = {{.field = "Path\\[(any|0x8001)\\] sl",
                             .report = "sl=1 of alice: counts in smd, and not in OpenSM"}}},
        ComparedSite{.site = {.name = "qos-bring-up",
                              .fabric = "fat-tree:k=4,levels=2",
                              .replaced = {},
                              .start = ""},
                     .differences = {kTops}},
        // ibsim takes attributes of class 0x21 for those of SMPs, 0x16 for P_KeyTable.
        ComparedSite{.site = {.name = "two-rails",
                              .fabric = "fat-tree:k=4,levels=2",
                              .replaced = {{"congestion_control TRUE", "congestion_control FALSE"}},
                              .start = "PORTS=\"0x0001000000000001\"\n"
                                       "OPTIONS=\"--priority 10 -v\"\n",
                              .m_key = "0xdeadbeef"},
                     .differences = {}},
        // What keeps opensm from running on ibsim, or from managing, is at its default; so is
        // keep_pkey_indexes, without which 3.3.23 gives nobody a path (ERR 1F1B).
        ComparedSite{
            .site = {.name = "every-option",
                     .fabric = "fat-tree:k=4,levels=2",
                     .replaced = {{"congestion_control TRUE", "congestion_control FALSE"},
                                  {"daemon TRUE", "daemon FALSE"},
                                  {"sm_inactive TRUE", "sm_inactive FALSE"},
                                  {"keep_pkey_indexes FALSE", "keep_pkey_indexes TRUE"}},
                     .start = "",
                     .m_key = "0x0badcafe"},
            .differences = {{.field = "LinkSpeedExt(Enabled|Active)|Path.* rate",
                             .report = "force_link_speed_ext 1: not carried because smd leaves"},
                            {.field = "S-[0-9a-f]{16} 0 SL2VL\\[[1-9]",
                             .report = "packets to an enhanced port 0 are mapped by its own row in "
                                       "smd"}}},
        ComparedSite{
            .site = {.name = "tenants-qos",
                     .fabric = "fat-tree:k=4,levels=2",
                     .replaced = {},
                     .start = ""},
            .differences =
                {kTops,
                 {.field = "S-[0-9a-f]{16} 0 SL2VL\\[[1-9]",
                  .report = "packets to an enhanced port 0 are mapped by its own row in smd"},
                 {.field = "H-000100000000000[0e] H-000100000000000[0e] Path\\[any\\] pkey",
                  .report = "; where no P_Key is asked for, the path of two ports that share "
                            "several partitions is in the default one"}}},
        ComparedSite{.site = {.name = "torus-lmc",
                              .fabric = "torus:dims=3.3,hosts=1",
                              .replaced = {},
                              .start = "",
                              .m_key = "0x0badcafe"},
                     .differences = {{.field = "SL2VL|VLArbLow|Path.* sl",
                                      .report = "sm.engine = \"dor\", because dor comes "
                                                "nearest; there are no two levels of QoS"}}}),
    [](const auto& at) {
      std::string name = at.param.site.name;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace smd::test
