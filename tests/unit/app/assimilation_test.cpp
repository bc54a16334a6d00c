// The words of a mode: presets, what overrides what, and what is refused.
#include "smd/app/assimilation.h"

#include <gtest/gtest.h>

#include <set>

namespace smd {
namespace {

TEST(Assimilation, PresetsAreWhatTheThesisCallsThem) {
  const Assimilation basic = parse_assimilation("basic").value();
  EXPECT_EQ(basic.discovery, Assimilation::Discovery::Full);
  EXPECT_EQ(basic.routes, Assimilation::Routes::Fera);
  EXPECT_EQ(basic.safety, Assimilation::Safety::DeactivateAll);
  EXPECT_TRUE(basic.whole_tables);
  EXPECT_TRUE(basic.literal);
  const Assimilation improved = parse_assimilation("improved").value();
  EXPECT_EQ(improved.discovery, Assimilation::Discovery::Partial);
  EXPECT_EQ(improved.routes, Assimilation::Routes::PiraThenFera);
  EXPECT_EQ(improved.safety, Assimilation::Safety::CutDependencies);
  EXPECT_EQ(parse_assimilation("certified"), Assimilation{});
  EXPECT_EQ(parse_assimilation("default"), Assimilation{});
}

TEST(Assimilation, WordsChangeThePresetInFrontOfThem) {
  Assimilation wanted = parse_assimilation("improved").value();
  wanted.whole_tables = false;
  wanted.safety = Assimilation::Safety::None;
  EXPECT_EQ(parse_assimilation("improved+delta+none"), wanted);
}

TEST(Assimilation, RefusesWhatContradictsItself) {
  for (const char* text : {"certified+none+whole+delta",
                           "certified+none",
                           "certified+cut-ports",
                           "whole+delta",
                           "improved+cut-ports+none",
                           "delta+delta",
                           "lean+literal",
                           "delta+improved",
                           "basic+improved"})
    EXPECT_FALSE(parse_assimilation(text)) << text;
  EXPECT_TRUE(parse_assimilation("certified+proved+lid-routed"));
}

TEST(Assimilation, EveryCombinationPrintsAndParses) {
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
              const auto parsed = parse_assimilation(text);
              ASSERT_TRUE(parsed) << text;
              const std::string printed = print_assimilation(*parsed);
              EXPECT_EQ(parse_assimilation(printed), parsed) << printed;
              seen.insert(printed);
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 2u * 4 * 5 * 2 * 2 * 2);
}

TEST(Assimilation, RefusesWhatIsNoWord) {
  for (const char* text : {"", "fast", "basic+", "+basic", "basic,delta", "Basic", "delta +whole"})
    EXPECT_FALSE(parse_assimilation(text)) << text;
}

}  // namespace
}  // namespace smd
