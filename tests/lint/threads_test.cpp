// What other threads read cannot change: who may make threads, what work off the loop captures, and
// how values are made that are shared. See "Threads" in docs/architecture.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/lint/source_tree.h"

namespace smd::lint {
namespace threads_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<SourceFile> product_files() {
  std::vector<SourceFile> files = source_files_below("smd");
  for (const char* folder : {"sim-backend", "plugins"}) {
    for (SourceFile& file : source_files_below(folder)) files.push_back(std::move(file));
  }
  return files;
}

std::string text_of(const SourceFile& file) {
  std::string out;
  for (const Line& line : file.lines) out += strip_comment(line.text) + "\n";
  return out;
}

std::set<std::string> matches(const std::string& text, const std::regex& what) {
  std::set<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), what), end; at != end; ++at)
    out.insert((*at)[1]);
  return out;
}

/// Types of which somebody holds a `shared_ptr<const T>`, without namespaces.
std::set<std::string> shared_as_const(const std::string& text) {
  static const std::regex held("shared_ptr<const (?:\\w+::)*([A-Z]\\w\\w+)>");
  return matches(text, held);
}

/// Types of which somebody holds or makes a shared one that can be changed.
std::set<std::string> shared_to_change(const std::string& text) {
  static const std::regex held("\\b(?:shared_ptr|make_shared)<(?:\\w+::)*([A-Z]\\w+)>");
  return matches(text, held);
}

/// What the work of each call of offload() captures: the text between the brackets of the first
/// lambda.
std::vector<std::string> captures_of_work(const std::string& text) {
  static const std::regex call("[.> ]offload\\(\\s*(?:[\\w.()]*\\bruntime_?,\\s*)?\\[");
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position() + at->length());
    std::size_t stop = begin;
    for (int depth = 1; stop < text.size() && depth > 0; ++stop)
      depth += text[stop] == '[' ? 1 : text[stop] == ']' ? -1 : 0;
    out.push_back(text.substr(begin, stop - begin - 1));
  }
  return out;
}

/// By reference, or through the object that the loop goes on changing.
bool reaches_the_loop(const std::string& captures) {
  static const std::regex reach("(^|,)\\s*(=|&|\\*?this\\b)|=\\s*(&|std::ref|std::cref|this\\b)");
  return std::regex_search(captures, reach);
}

bool makes_threads(const std::string& text) {
  static const std::regex made("std::(jthread|thread|async)\\b(?!::)|asio::thread_pool");
  return std::regex_search(text, made);
}

TEST(Threads, WhatIsSharedAsConstIsMadeConst) {
  std::set<std::string> held;
  for (const SourceFile& file : product_files()) held.merge(shared_as_const(text_of(file)));
  ASSERT_TRUE(held.contains("Fabric") && held.contains("ActiveSubnet"));
  for (const SourceFile& file : product_files()) {
    for (const std::string& type : shared_to_change(text_of(file)))
      EXPECT_FALSE(held.contains(type))
          << file.path << ": readers hold shared_ptr<const " << type
          << ">, so nobody keeps a way to change it: make_shared<const " << type << ">(…)";
  }
}

TEST(Threads, NobodyCastsConstAway) {
  for (const SourceFile& file : source_files_below("smd"))
    EXPECT_EQ(text_of(file).find("const_cast"), std::string::npos) << file.path;
}

TEST(Threads, OffloadedWorkOwnsWhatItReads) {
  unsigned seen = 0;
  for (const SourceFile& file : product_files()) {
    for (const std::string& captures : captures_of_work(text_of(file))) {
      ++seen;
      EXPECT_FALSE(reaches_the_loop(captures))
          << file.path << ": work off the loop captures [" << captures << "]";
    }
  }
  EXPECT_GE(seen, 8u);
}

TEST(Threads, EachPlaceThatMakesThreadsIsExplained) {
  const std::string table = read_text("docs/architecture.md");
  for (const SourceFile& file : product_files()) {
    if (!makes_threads(text_of(file))) continue;
    EXPECT_NE(table.find("`" + file.path + "`"), std::string::npos)
        << file.path << ": say under Threads in docs/architecture.md what its threads share";
  }
}

TEST(ThreadRules, TypesAreFoundWhateverTheirNamespace) {
  EXPECT_THAT(shared_as_const("std::shared_ptr<const sa::View> a; shared_ptr<const T> b;"),
              ElementsAre("View"));
  EXPECT_THAT(shared_to_change("std::make_shared<sa::View>(x); shared_ptr<const View> y;"),
              ElementsAre("View"));
  EXPECT_THAT(shared_to_change("std::make_shared<const View>(x)"), IsEmpty());
}

TEST(ThreadRules, TheCapturesOfTheWorkAreThoseOfTheFirstLambda) {
  EXPECT_THAT(captures_of_work("work_.offload(\n  runtime_,\n  [job = a[1]] { }, [this](int) {});"),
              ElementsAre("job = a[1]"));
  EXPECT_THAT(captures_of_work("  work_.offload(parts_.runtime, [x] {}, then);"), ElementsAre("x"));
}

TEST(ThreadRules, NeitherReferencesNorTheObjectMayBeCaptured) {
  for (const char* bad : {"&", "=", "this", "job, this", "&job", "a = &job", "a = std::ref(job)"})
    EXPECT_TRUE(reaches_the_loop(bad)) << bad;
  for (const char* good : {"job = std::move(job)", "now = now_, trees = std::move(trees)", ""})
    EXPECT_FALSE(reaches_the_loop(good)) << good;
}

TEST(ThreadRules, AThreadsIdIsNoThread) {
  EXPECT_TRUE(makes_threads("std::jthread t;"));
  EXPECT_FALSE(makes_threads("std::thread::id at = std::thread::hardware_concurrency();"));
}

}  // namespace threads_test
}  // namespace smd::lint
