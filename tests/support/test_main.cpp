// main() of a program that holds the tests of a folder.
//   --sources=a.cpp,b.cpp   only tests written in these files; with --gtest_filter those of both
// No test at all is a failure. With SMD_NO_SKIPS=1 in the environment so is one that is skipped.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

bool any_matches(const std::vector<std::string>& patterns, const std::string& name) {
  for (const std::string& pattern : patterns) {
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  }
  return false;
}

/// GoogleTest's rule: wanted patterns, a minus, unwanted ones.
bool passes(const std::string& filter, const std::string& name) {
  const auto minus = filter.find('-');
  const std::string wanted = filter.substr(0, minus);
  if (!any_matches(split(wanted.empty() ? "*" : wanted, ':'), name)) return false;
  return minus == std::string::npos || !any_matches(split(filter.substr(minus + 1), ':'), name);
}

bool is_written_in(const testing::TestInfo& test, const std::vector<std::string>& sources) {
  const std::string_view file = test.file();
  const std::string_view last = file.substr(file.find_last_of('/') + 1);
  for (const std::string& source : sources) {
    if (last == std::string_view(source).substr(source.find_last_of('/') + 1)) return true;
  }
  return false;
}

/// The filter of tests in `sources` that pass the one that was given. Empty when no test is there.
std::string filter_of(const std::vector<std::string>& sources) {
  const std::string given = GTEST_FLAG_GET(filter);
  std::string filter;
  bool is_there = false;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (!is_written_in(test, sources)) continue;
      is_there = true;
      const std::string name = std::string(suite.name()) + "." + test.name();
      if (passes(given, name)) filter += (filter.empty() ? "" : ":") + name;
    }
  }
  return !is_there ? "" : filter.empty() ? "-*" : filter;
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

/// One part of several may have no test.
bool is_sharded() { return std::getenv("GTEST_TOTAL_SHARDS") != nullptr; }

/// Says why tests of which none failed prove less than they should; whether there was anything to
/// say.
bool tell_what_was_left_out(const char* program) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0 && !is_sharded()) {
    std::fprintf(stderr, "%s: no test is called '%s'\n", program, GTEST_FLAG_GET(filter).c_str());
    return true;
  }
  if (all.skipped_test_count() == 0 || !is_set("SMD_NO_SKIPS")) return false;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (!test.should_run() || !test.result()->Skipped()) continue;
      std::fprintf(stderr, "%s: SMD_NO_SKIPS: skipped %s.%s\n", program, suite.name(), test.name());
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kSources = "--sources=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kSources)) {
      std::fprintf(stderr, "%s: unknown argument '%s'; --sources=a.cpp,b.cpp\n", argv[0], argv[i]);
      return 2;
    }
    const std::string filter = filter_of(split(argument.substr(kSources.size()), ','));
    if (filter.empty()) {
      std::fprintf(stderr, "%s: no test is written in %s\n", argv[0], argv[i] + kSources.size());
      return 2;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  if (const int failed = RUN_ALL_TESTS(); failed != 0) return failed;
  return tell_what_was_left_out(argv[0]) ? 1 : 0;
}
