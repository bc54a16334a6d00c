// The words of a mode: presets, what overrides what, what is refused; and what a mode makes of a
// strategy.
#include "smd/config/reconfiguration_mode.h"

#include <gtest/gtest.h>

#include <set>

#include "smd/config/settings.h"

namespace smd {
namespace {

TEST(ReconfigurationMode, PresetsAreWhatTheThesisCallsThem) {
  const ReconfigurationMode basic = parse_reconfiguration_mode("basic").value();
  EXPECT_EQ(basic.discovery, ReconfigurationMode::Discovery::Full);
  EXPECT_EQ(basic.routes, ReconfigurationMode::Routes::Fera);
  EXPECT_EQ(basic.safety, Deactivation::All);
  EXPECT_TRUE(basic.whole_tables);
  EXPECT_TRUE(basic.literal);
  const ReconfigurationMode improved = parse_reconfiguration_mode("improved").value();
  EXPECT_EQ(improved.discovery, ReconfigurationMode::Discovery::Partial);
  EXPECT_EQ(improved.routes, ReconfigurationMode::Routes::PiraThenFera);
  EXPECT_EQ(improved.safety, Deactivation::CutDependencies);
  EXPECT_EQ(parse_reconfiguration_mode("certified"), ReconfigurationMode{});
  EXPECT_EQ(parse_reconfiguration_mode("default"), ReconfigurationMode{});
}

TEST(ReconfigurationMode, WordsChangeThePresetInFrontOfThem) {
  ReconfigurationMode wanted = parse_reconfiguration_mode("improved").value();
  wanted.whole_tables = false;
  wanted.safety = Deactivation::None;
  EXPECT_EQ(parse_reconfiguration_mode("improved+delta+none"), wanted);
}

TEST(ReconfigurationMode, RefusesWhatContradictsItself) {
  for (const char* text : {"certified+none+whole+delta",
                           "certified+none",
                           "certified+cut-ports",
                           "whole+delta",
                           "improved+cut-ports+none",
                           "delta+delta",
                           "lean+literal",
                           "delta+improved",
                           "basic+improved"})
    EXPECT_FALSE(parse_reconfiguration_mode(text)) << text;
  EXPECT_TRUE(parse_reconfiguration_mode("certified+proved+lid-routed"));
}

TEST(ReconfigurationMode, EveryCombinationPrintsAndParses) {
  std::set<std::string> seen;
  for (const char* discovery : {"partial", "full"}) {
    for (const char* routes : {"engine", "fera", "pira", "pira-fera"}) {
      for (const char* safety :
           {"proved", "cut-dependencies", "cut-ports", "deactivate-all", "none"}) {
        for (const char* tables : {"delta", "whole"}) {
          for (const char* activation : {"directed", "lid-routed"}) {
            for (const char* form : {"lean", "literal"}) {
              const std::string text = std::string(discovery) + "+" + routes + "+" + safety + "+" +
                                       tables + "+" + activation + "+" + form;
              const auto parsed = parse_reconfiguration_mode(text);
              ASSERT_TRUE(parsed) << text;
              const std::string printed = print_reconfiguration_mode(*parsed);
              EXPECT_EQ(parse_reconfiguration_mode(printed), parsed) << printed;
              seen.insert(printed);
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 2u * 4 * 5 * 2 * 2 * 2);
}

TEST(ReconfigurationMode, RefusesWhatIsNoWord) {
  for (const char* text : {"", "fast", "basic+", "+basic", "basic,delta", "Basic", "delta +whole"})
    EXPECT_FALSE(parse_reconfiguration_mode(text)) << text;
}

Strategy strategy_of(std::string_view mode) {
  return make_strategy(parse_reconfiguration_mode(mode).value(), std::chrono::microseconds(500));
}

TEST(Strategy, OfTheProductAsksLittleReadsFirstAndWaits) {
  const Strategy it = strategy_of("certified+lid-routed");
  EXPECT_FALSE(it.full_sweeps);
  EXPECT_EQ(it.requests, RequestSet::Fewest);
  EXPECT_TRUE(it.light_sweeps);
  EXPECT_FALSE(it.lids_while_sweeping);
  EXPECT_TRUE(it.engines.empty());
  EXPECT_EQ(it.planner.first, Deactivation::Certified);
  EXPECT_EQ(it.writing.whole_tables, BlockChoice::ToTop);
  EXPECT_TRUE(it.writing.lid_routed_activation);
  EXPECT_TRUE(it.writing.reads_before_blocking);
  EXPECT_EQ(it.writing.drain_time, std::chrono::microseconds(500));
}

TEST(Strategy, OfTheThesisGoesByItsRequestsAndItsWrites) {
  const Strategy basic = strategy_of("basic");
  const Strategy improved = strategy_of("improved+lid-routed");
  EXPECT_TRUE(basic.full_sweeps);
  EXPECT_FALSE(improved.full_sweeps);
  EXPECT_TRUE(basic.light_sweeps);
  EXPECT_FALSE(improved.light_sweeps) << "its discovery begins with the sweep";
  EXPECT_EQ(basic.engines, std::vector<std::string>{"fera"});
  EXPECT_EQ(improved.engines, (std::vector<std::string>{"pira", "fera"}));
  EXPECT_EQ(basic.planner.first, Deactivation::All);
  EXPECT_TRUE(improved.writing.lid_routed_activation);
  for (const Strategy& it : {basic, improved}) {
    EXPECT_EQ(it.requests, RequestSet::Thesis);
    EXPECT_TRUE(it.lids_while_sweeping);
    EXPECT_TRUE(it.roots_at_manager);
    EXPECT_TRUE(it.planner.whole_tables);
    EXPECT_EQ(it.writing.whole_tables, BlockChoice::Whole);
    EXPECT_FALSE(it.writing.reads_before_blocking);
    EXPECT_EQ(it.writing.drain_time, Duration{0});
  }
}

}  // namespace
}  // namespace smd
