// What becomes of event_plugin_options where OpenSM had smd's engines in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/config/config.h"
#include "smd/config/opensm_config.h"

namespace smd {
namespace opensm_plugin_words_test {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOurs = "event_plugin_name smd_opensm\n";

struct Imported {
  Config config;
  std::string report;
};

Imported import(const std::string& conf) {
  const auto done =
      import_opensm({.file = "opensm.conf",
                     .text = conf,
                     .read = [](const std::string& path) -> std::optional<Parsed<std::string>> {
                       if (path != "/etc/roots") return std::nullopt;
                       return Parsed<std::string>(std::string("0x77\n"));
                     }});
  EXPECT_TRUE(done) << (done ? "" : print_fault(done.error().front()));
  if (!done) return {};
  Imported out{.config = parse_config(done->configs.front().text, "smd.toml").value()};
  for (const OpensmReportLine& line : done->report) out.report += print_report_line(line) + "\n";
  return out;
}

TEST(OpensmPluginWords, WhatSmdHasAsWellIsCarried) {
  const Imported all = import(std::string(kOurs) +
                              "routing_engine smd-updn\n"
                              "event_plugin_options roots=0x1,0x2 weights=0x4:9,0x3:0;"
                              "no_data=0x5,ufm-*?HCA-1 orientation=dfs lane_cut=cycles "
                              "gateways=least auto_for=uniform\n");
  const SmConfig& sm = all.config.sm;
  EXPECT_EQ(sm.roots, (std::vector{Guid{1}, Guid{2}}));
  EXPECT_EQ(sm.weights, (decltype(sm.weights){{Guid{3}, 0}, {Guid{4}, 9}}));
  EXPECT_EQ(sm.no_data, (std::vector<std::string>{"0x5", "ufm-*?HCA-1"}));
  EXPECT_EQ(sm.orientation, OrientationSearch::DepthFirst);
  EXPECT_EQ(sm.lane_cut, VlChangeRule::MinimalCycles);
  EXPECT_EQ(sm.gateways, GatewayChoice::LeastLoaded);
  EXPECT_EQ(sm.auto_for, TrafficGoal::Uniform);
  EXPECT_THAT(all.report, HasSubstr("gateways=least carried as sm.gateways = \"least-loaded\"; "));
  EXPECT_THAT(all.report, Not(HasSubstr("options roots=0x1,0x2: not")));
  const Imported others = import(std::string(kOurs) +
                                 "event_plugin_options orientation=bfs lane_cut=dfs gateways=own "
                                 "auto_for=both\n");
  EXPECT_EQ(others.config.sm.orientation, OrientationSearch::BreadthFirst);
  EXPECT_EQ(others.config.sm.lane_cut, VlChangeRule::DepthFirst);
  EXPECT_EQ(others.config.sm.gateways, GatewayChoice::OwnFirst);
  EXPECT_EQ(import(std::string(kOurs) + "event_plugin_options lane_cut=updown gateways=uniform\n")
                .config.sm.gateways,
            GatewayChoice::Uniform);
}

TEST(OpensmPluginWords, TheRestIsNamed) {
  for (const char* const word :
       {"vls=4", "seed=7", "relieve=yes", "shorten_detours=yes", "keep=no", "any_sl=yes"}) {
    const Imported one = import(std::string(kOurs) + "event_plugin_options " + word + "\n");
    EXPECT_THAT(one.report, HasSubstr(std::string(word) + " not carried because ")) << word;
    EXPECT_EQ(one.config, import("").config) << word;
  }
  for (const auto& [word, part] : {std::pair{"rots=0x1", "the plugin has no such option"},
                                   std::pair{"orientation=up", "one of "},
                                   std::pair{"weights=0x1:70000", "weight 0 to 65535"},
                                   std::pair{"roots", "an option has a value"},
                                   std::pair{"seed=1 seed=1", "it stands there twice"}}) {
    const Imported one = import(std::string(kOurs) + "event_plugin_options " + word + "\n");
    EXPECT_THAT(one.report, HasSubstr(part)) << word;
    EXPECT_EQ(one.config, import("").config) << word;
  }
}

TEST(OpensmPluginWords, NoneAreNeeded) {
  EXPECT_THAT(import(std::string(kOurs) + "event_plugin_options ; ;\n").report,
              HasSubstr("event_plugin_options ; ;: not needed because it has no words"));
}

TEST(OpensmPluginWords, OfAnotherPluginNothingIsCarried) {
  const Imported other =
      import("event_plugin_name site-events\nevent_plugin_options roots=0x1 --quiet\n");
  EXPECT_EQ(other.config, import("").config);
  EXPECT_THAT(other.report, HasSubstr("roots=0x1 --quiet: not carried because nothing is loaded"));
  const Imported both =
      import("event_plugin_name site-events smd_opensm\nevent_plugin_options roots=0x1 --quiet\n");
  EXPECT_EQ(both.config.sm.roots, std::vector{Guid{1}});
  EXPECT_THAT(both.report,
              HasSubstr("event_plugin_name site-events smd_opensm: not carried because nothing"));
  EXPECT_THAT(both.report, HasSubstr("--quiet not carried because the plugin has no such option"));
}

// Engines of the plugin do not read OpenSM's file, those of OpenSM not the plugin's words.
TEST(OpensmPluginWords, RootsAreThoseThatTheFirstEngineReads) {
  const std::string both = std::string(kOurs) +
                           "root_guid_file /etc/roots\nevent_plugin_options roots=0x1\n"
                           "routing_engine ";
  const Imported ours = import(both + "smd-updn,updn\n");
  EXPECT_EQ(ours.config.sm.roots, std::vector{Guid{1}});
  EXPECT_THAT(ours.report, HasSubstr("root_guid_file /etc/roots: overruled by roots="));
  const Imported theirs = import(both + "updn,smd-updn\n");
  EXPECT_EQ(theirs.config.sm.roots, std::vector{Guid{0x77}});
  EXPECT_THAT(theirs.report, HasSubstr("roots=0x1 not carried because "));
}

TEST(OpensmPluginWords, AnEngineThatHadOneVlMayTakeMore) {
  const auto has_one = HasSubstr("had one VL, and takes what it needs here");
  const auto said = [](const std::string& rest) { return import("routing_engine " + rest).report; };
  EXPECT_THAT(said("smd-dfsssp,smd-updn\n"), has_one);
  EXPECT_THAT(said("nue\n"), has_one);
  EXPECT_THAT(said("smd-dfsssp\nqos TRUE\n"), Not(has_one));
  EXPECT_THAT(said("nue\nnue_max_num_vls 8\n"), Not(has_one));
  EXPECT_THAT(said("smd-updn\n"), Not(has_one));
}

}  // namespace opensm_plugin_words_test
}  // namespace smd
