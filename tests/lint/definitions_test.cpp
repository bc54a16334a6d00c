// No type of one namespace is defined twice: whoever searches for a name finds one thing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lint/definitions.h"

namespace smd::lint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SourceFile file_of(const std::string& path, const std::string& text) {
  SourceFile file{path, {}};
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
      continue;
    }
    file.lines.push_back({static_cast<int>(file.lines.size()) + 1, std::exchange(line, "")});
  }
  return file;
}

std::vector<std::string> names_in(const std::string& path, const std::string& text) {
  std::vector<std::string> names;
  for (const Definition& each : definitions_of(file_of(path, text))) names.push_back(each.name);
  return names;
}

TEST(Definitions, NoTypeOfANamespaceIsDefinedTwice) {
  ASSERT_GT(source_files().size(), 500u);
  for (const std::string& fault : find_double_definitions(source_files())) ADD_FAILURE() << fault;
}

TEST(DefinitionRules, TypesAndAliasesOfNamespacesAreDefinitions) {
  EXPECT_THAT(names_in("smd/a.h",
                       "namespace smd::sim {\n"
                       "struct Port final : public Base {\n  struct Nested {};\n};\n"
                       "enum class Kind\n    : std::uint8_t { A, B };\n"
                       "template <class T> class Box {};\n"
                       "struct alignas(64) Line {};\n"
                       "using Done = std::function<void()>;\n"
                       "namespace detail {\nunion Either {};\n}\n"
                       "}\n"
                       "struct Outside {};\n"),
              ElementsAre("smd::sim::Port",
                          "smd::sim::Kind",
                          "smd::sim::Box",
                          "smd::sim::Line",
                          "smd::sim::Done",
                          "smd::sim::detail::Either",
                          "Outside"));
}

TEST(DefinitionRules, WhatOnlyLooksLikeOneIsNone) {
  EXPECT_THAT(names_in("smd/a.cpp",
                       "#define OPEN struct Macro {\n"
                       "// struct Comment {\n"
                       "/* struct Comment { */\n"
                       "class Later;\n"
                       "using std::vector;\n"
                       "struct Client::Impl {};\n"
                       "template <> struct hash<Lid> {};\n"
                       "struct stat find() { using T = int; struct Local {}; }\n"
                       "const char* kText = \"struct Text {\";\n"
                       "const char* kRaw = R\"(struct Raw {\n)\";\n"
                       "const char kQuote = '\"', kBrace = '{'; const int kMany = 10'000;\n"
                       "namespace {\nstruct Hidden {};\n}\n"),
              IsEmpty());
  EXPECT_THAT(names_in("smd/a.cpp", "const char kBrace = '{';\nstruct After {};\n"),
              ElementsAre("After"));
}

TEST(DefinitionRules, AnAnonymousNamespaceHidesNothingInAHeader) {
  EXPECT_THAT(names_in("smd/a.h", "namespace smd {\nnamespace {\nstruct Shown {};\n}\n}\n"),
              ElementsAre("smd::Shown"));
}

TEST(DefinitionRules, ASecondDefinitionIsReportedWithBothPlaces) {
  const std::string text = "namespace smd {\n\nstruct Port {};\n}\n";
  EXPECT_THAT(find_double_definitions({file_of("smd/a.h", text), file_of("smd/b.cpp", text)}),
              ElementsAre("smd/b.cpp:3: smd::Port: also in smd/a.h:3"));
  EXPECT_THAT(find_double_definitions({file_of("smd/a.h", text),
                                       file_of("smd/b.h", "namespace plan {\nstruct Port {};\n}\n"),
                                       file_of("smd/c.h", "namespace smd {\nstruct Port;\n}\n")}),
              IsEmpty());
}

}  // namespace
}  // namespace smd::lint
