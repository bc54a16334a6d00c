// What every file and folder must be: built, of bounded size, described, formatted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>

#include "tests/lint/layers.h"
#include "tests/lint/source_tree.h"
#include "tests/support/paths.h"

namespace smd::lint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFile = 800;
constexpr std::size_t kLongestReadme = 40;

std::string without_comments(const std::string& cmake) {
  return std::regex_replace(cmake, std::regex("#[^\n]*"), "");
}

/// Whether a CMakeLists.txt names the source, by path or, where a function adds the ending, by
/// stem.
bool lists(const std::string& cmake, const std::string& relative) {
  const std::string stem = relative.substr(0, relative.rfind('.'));
  for (const std::string& name : {relative, stem}) {
    for (std::size_t at = cmake.find(name); at != std::string::npos;
         at = cmake.find(name, at + 1)) {
      const auto is_edge = [&](std::size_t i) {
        return i >= cmake.size() || std::string_view(" \t\n()").find(cmake[i]) != std::string::npos;
      };
      if ((at == 0 || is_edge(at - 1)) && is_edge(at + name.size())) return true;
    }
  }
  return false;
}

/// The files that a tool complains about, once each: its lines begin with "FILE:LINE:COLUMN:".
std::set<std::string> files_named_by(const std::string& command) {
  std::set<std::string> files;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
    static const std::regex place("^([^:]+):[0-9]+:[0-9]+: ");
    std::cmatch match;
    if (std::regex_search(buffer.data(), match, place)) files.insert(match[1]);
  }
  EXPECT_TRUE(::pclose(pipe) == 0 || !files.empty()) << command;
  return files;
}

/// The folder of the CMakeLists.txt that is responsible for `path`.
std::string find_list_folder(const std::string& path) {
  std::string folder = path;
  do {
    folder = folder.substr(0, folder.rfind('/'));
  } while (!fs::exists(test::source_path(folder + "/CMakeLists.txt")));
  return folder;
}

TEST(Tree, EverySourceIsListedInItsCMakeLists) {
  ASSERT_GT(source_files().size(), 100u);
  for (const SourceFile& file : source_files()) {
    if (file.path.ends_with(".h")) continue;
    const std::string folder = find_list_folder(file.path);
    const std::string cmake = without_comments(read_text(folder + "/CMakeLists.txt"));
    // replay_main.cpp is listed by cmake/smd.cmake.
    const std::string rules = without_comments(read_text("cmake/smd.cmake"));
    EXPECT_TRUE(lists(cmake, file.path.substr(folder.size() + 1)) ||
                rules.find(file.path) != std::string::npos)
        << file.path << " is not in " << folder << "/CMakeLists.txt: nobody builds it";
  }
}

TEST(Tree, FilesStayShort) {
  for (const SourceFile& file : source_files()) {
    EXPECT_LE(file.lines.size(), kLongestFile) << file.path << ": split it";
  }
}

TEST(Tree, HeadersAreGuardedOnce) {
  for (const SourceFile& file : source_files()) {
    if (!file.path.ends_with(".h")) continue;
    const auto guards = std::ranges::count(file.lines, "#pragma once", &Line::text);
    EXPECT_EQ(guards, 1) << file.path << " wants one '#pragma once'";
  }
}

TEST(Tree, NothingIsLeftForLater) {
  const std::regex later(std::string("\\b(TO") + "DO|FIX" + "ME|X" + "XX)\\b");
  for (const SourceFile& file : source_files()) {
    for (const Line& line : file.lines) {
      EXPECT_FALSE(std::regex_search(line.text, later)) << file.path << ":" << line.number;
    }
  }
}

TEST(Tree, EveryFolderHasAShortReadme) {
  // Above what holds sources, beside what people read and install; in corpora and golden data the
  // README of the parent speaks for all.
  std::set<std::string> folders = {"docs",
                                   "docs/decisions",
                                   "docs/formats",
                                   "docs/man",
                                   "etc",
                                   "sim-backend",
                                   "smd",
                                   "systemd",
                                   "tests/golden",
                                   "tests/unit"};
  for (const SourceFile& file : source_files()) folders.insert(file.folder());
  for (const Layer& layer : parse_layers(read_lines("smd/LAYERS"))) folders.insert(layer.folder);
  for (const std::string& folder : folders) {
    const std::vector<Line> readme = read_lines(folder + "/README.md");
    EXPECT_GT(readme.size(), 0u) << folder << " has no README.md";
    EXPECT_LE(readme.size(), kLongestReadme) << folder << "/README.md";
  }
}

TEST(Tree, IsFormatted) {
  if (std::system("clang-format-16 --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "clang-format-16 is not installed";
  }
  std::string command = "cd '" + test::source_path() + "' && clang-format-16 --dry-run -Werror";
  for (const SourceFile& file : source_files()) command += " '" + file.path + "'";
  EXPECT_THAT(files_named_by(command + " 2>&1"), testing::IsEmpty()) << "clang-format-16 -i them";
}

TEST(TreeRules, ListedMeansTheWholeName) {
  EXPECT_TRUE(lists("smd_add_library(a SOURCES b.cpp c.cpp)", "c.cpp"));
  EXPECT_TRUE(lists("SOURCES\n  engines/updn.cpp\n", "engines/updn.cpp"));
  EXPECT_TRUE(lists("smd_fuzz_target(fuzz_smp smd_mad)", "fuzz_smp.cpp"));
  EXPECT_FALSE(lists("SOURCES abc.cpp", "c.cpp"));
  EXPECT_FALSE(lists("SOURCES c.cpp.in", "c.cpp"));
  EXPECT_FALSE(lists(without_comments("# c.cpp\n"), "c.cpp"));
}

}  // namespace
}  // namespace smd::lint
