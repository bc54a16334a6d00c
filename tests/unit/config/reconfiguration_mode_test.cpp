// The words of a mode: presets, what overrides what, and what is refused.
#include "smd/config/reconfiguration_mode.h"

#include <gtest/gtest.h>

#include <set>

namespace smd {
namespace {

TEST(ReconfigurationMode, PresetsAreWhatTheThesisCallsThem) {
  const ReconfigurationMode basic = parse_reconfiguration_mode("basic").value();
  EXPECT_EQ(basic.discovery, ReconfigurationMode::Discovery::Full);
  EXPECT_EQ(basic.routes, ReconfigurationMode::Routes::Fera);
  EXPECT_EQ(basic.safety, ReconfigurationMode::Safety::DeactivateAll);
  EXPECT_TRUE(basic.whole_tables);
  EXPECT_TRUE(basic.literal);
  const ReconfigurationMode improved = parse_reconfiguration_mode("improved").value();
  EXPECT_EQ(improved.discovery, ReconfigurationMode::Discovery::Partial);
  EXPECT_EQ(improved.routes, ReconfigurationMode::Routes::PiraThenFera);
  EXPECT_EQ(improved.safety, ReconfigurationMode::Safety::CutDependencies);
  EXPECT_EQ(parse_reconfiguration_mode("certified"), ReconfigurationMode{});
  EXPECT_EQ(parse_reconfiguration_mode("default"), ReconfigurationMode{});
}

TEST(ReconfigurationMode, WordsChangeThePresetInFrontOfThem) {
  ReconfigurationMode wanted = parse_reconfiguration_mode("improved").value();
  wanted.whole_tables = false;
  wanted.safety = ReconfigurationMode::Safety::None;
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

}  // namespace
}  // namespace smd
