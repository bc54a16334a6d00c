#include "tests/lint/layers.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace smd::lint {
namespace layers_test {

using testing::HasSubstr;
using testing::Optional;

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = parse_layers(read_lines("smd/LAYERS"));
  return all;
}

std::vector<SourceFile> product_files() {
  std::vector<SourceFile> files = source_files_below("smd");
  for (SourceFile& file : source_files_below("sim-backend")) files.push_back(std::move(file));
  return files;
}

std::string at(const SourceFile& file, int line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

TEST(Layers, EveryIncludePointsDown) {
  ASSERT_GT(product_files().size(), 50u);
  for (const SourceFile& file : product_files()) {
    for (const Include& include : includes_of(file.lines)) {
      if (include.system) continue;
      const auto wrong = find_wrong_arrow(layers(), file.path, include.target);
      if (wrong) ADD_FAILURE() << at(file, include.line) << *wrong;
    }
  }
}

TEST(Layers, IncludesAreByPathFromTheRoot) {
  for (const SourceFile& file : source_files()) {
    for (const Include& include : includes_of(file.lines)) {
      if (include.system) continue;
      EXPECT_TRUE(std::filesystem::exists(test::source_path(include.target)))
          << at(file, include.line) << "\"" << include.target << "\" is no path from the root";
    }
  }
}

TEST(Layers, PureFoldersHaveNoEffects) {
  for (const SourceFile& file : product_files()) {
    const auto layer = find_layer(layers(), file.path);
    if (!layer || !layers()[*layer].pure) continue;
    for (const Line& line : file.lines) {
      const auto impure = find_impurity(line.text);
      if (impure) ADD_FAILURE() << at(file, line.number) << *impure;
    }
  }
}

TEST(Layers, EveryFolderOfTheListExists) {
  for (const Layer& layer : layers()) {
    EXPECT_TRUE(std::filesystem::is_directory(test::source_path(layer.folder))) << layer.folder;
  }
}

// The judges themselves.

const std::vector<Layer> kExample = parse_layers({{1, "# lowest first"},
                                                  {2, "smd/base"},
                                                  {3, "smd/mad pure"},
                                                  {4, "smd/daemon"},
                                                  {5, "sim-backend/kernel"},
                                                  {6, "smd/bin"},
                                                  {7, "smd/plan pure"},
                                                  {8, "smd/plan/make pure apart"},
                                                  {9, "smd/plan/verify apart pure"},
                                                  {10, "smd/scan/make apart"}});

TEST(LayerRules, ReadsTheList) {
  ASSERT_EQ(kExample.size(), 9u);
  EXPECT_EQ(kExample[0].folder, "smd/base");
  EXPECT_FALSE(kExample[0].pure);
  EXPECT_TRUE(kExample[1].pure);
  EXPECT_FALSE(kExample[1].apart);
  EXPECT_TRUE(kExample[6].pure && kExample[6].apart);
  EXPECT_TRUE(kExample[7].pure && kExample[7].apart);
}

TEST(LayerRules, ArrowsGoDown) {
  EXPECT_EQ(find_wrong_arrow(kExample, "smd/mad/a.h", "smd/base/b.h"), std::nullopt);
  EXPECT_EQ(find_wrong_arrow(kExample, "smd/mad/deep/a.h", "smd/mad/b.h"), std::nullopt);
  EXPECT_EQ(find_wrong_arrow(kExample, "smd/bin/a.cpp", "sim-backend/kernel/b.h"), std::nullopt);
  EXPECT_EQ(find_wrong_arrow(kExample, "sim-backend/kernel/a.h", "smd/daemon/b.h"), std::nullopt);
  EXPECT_THAT(find_wrong_arrow(kExample, "smd/base/a.h", "smd/mad/b.h"),
              Optional(HasSubstr("smd/base stands below smd/mad")));
  EXPECT_THAT(find_wrong_arrow(kExample, "smd/daemon/a.h", "sim-backend/kernel/b.h"),
              Optional(HasSubstr("only smd/bin may include sim-backend")));
  EXPECT_THAT(find_wrong_arrow(kExample, "smd/daemon/a.h", "smd/madness/b.h"),
              Optional(HasSubstr("in no folder")));
}

TEST(LayerRules, FoldersThatStandApartIncludeNothingOfEachOther) {
  EXPECT_EQ(find_wrong_arrow(kExample, "smd/plan/make/a.h", "smd/plan/make/b.h"), std::nullopt);
  EXPECT_EQ(find_wrong_arrow(kExample, "smd/plan/verify/a.h", "smd/plan/b.h"), std::nullopt);
  EXPECT_EQ(find_wrong_arrow(kExample, "smd/scan/make/a.h", "smd/plan/verify/b.h"), std::nullopt);
  EXPECT_THAT(find_wrong_arrow(kExample, "smd/plan/verify/a.h", "smd/plan/make/b.h"),
              Optional(HasSubstr("smd/plan/verify and smd/plan/make stand apart")));
  EXPECT_THAT(find_wrong_arrow(kExample, "smd/plan/make/a.h", "smd/plan/verify/b.h"),
              Optional(HasSubstr("smd/plan/make and smd/plan/verify stand apart")));
  EXPECT_THAT(find_wrong_arrow(kExample, "smd/plan/a.h", "smd/plan/make/b.h"),
              Optional(HasSubstr("smd/plan stands below smd/plan/make")));
}

/// The verifier of plans is worth something because it was not made by whoever makes plans.
TEST(Layers, MakersAndVerifiersOfPlansStandApart) {
  for (const auto& [from, target] : {std::pair("smd/plan/make/a.cpp", "smd/plan/verify/replay.h"),
                                     std::pair("smd/plan/verify/a.cpp", "smd/plan/make/planner.h")})
    EXPECT_THAT(find_wrong_arrow(layers(), from, target), Optional(HasSubstr("stand apart")));
}

TEST(LayerRules, EffectsAreSeen) {
  for (const char* pure : {"#include <vector>",
                           "#include \"smd/base/result.h\"",
                           "// steady_clock is for others",
                           "  static const std::regex pattern(\"x\");",
                           "  static constexpr int kPorts = 3;",
                           "static int compare(int a, int b) {",
                           "  static const Engine engine;"}) {
    EXPECT_EQ(find_impurity(pure), std::nullopt) << pure;
  }
  for (const char* impure : {"#include <iostream>",
                             "#include <chrono>",
                             "#include <thread>",
                             "#include <sys/socket.h>",
                             "#include <boost/asio/io_context.hpp>",
                             "#include <spdlog/spdlog.h>",
                             "#include \"smd/base/log.h\"",
                             "#include \"smd/base/progress.h\"",
                             "const auto t = std::chrono::steady_clock::now();",
                             "fmt::print(\"x\");",
                             "  static int calls = 0;",
                             "static std::vector<int> cache;",
                             "static bool seen{false};",
                             "thread_local int x;"}) {
    EXPECT_NE(find_impurity(impure), std::nullopt) << impure;
  }
}

}  // namespace layers_test
}  // namespace smd::lint
