#include "tests/lint/source_tree.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace smd::lint {
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = test::source_path();

bool is_cpp(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cpp" || path.extension() == ".c";
}

std::vector<SourceFile> read_tree() {
  std::vector<SourceFile> files;
  for (const char* top : {"smd", "sim-backend", "plugins", "tests"}) {
    if (!fs::exists(kRoot / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      if (!entry.is_regular_file() || !is_cpp(entry.path())) continue;
      const std::string path = fs::relative(entry.path(), kRoot).string();
      files.push_back({path, read_lines(path)});
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace

std::string SourceFile::folder() const { return path.substr(0, path.rfind('/')); }

const std::vector<SourceFile>& source_files() {
  static const std::vector<SourceFile> files = read_tree();
  return files;
}

std::vector<SourceFile> source_files_below(std::string_view folder) {
  std::vector<SourceFile> files;
  for (const SourceFile& file : source_files()) {
    if (is_below(file.path, folder)) files.push_back(file);
  }
  return files;
}

std::string read_text(const std::string& path) { return test::read_text(kRoot / path); }

std::vector<Line> read_lines(const std::string& path) {
  std::ifstream in(kRoot / path);
  std::vector<Line> lines;
  int number = 0;
  for (std::string text; std::getline(in, text);) lines.push_back({++number, text});
  return lines;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

std::string strip_comment(std::string_view line) {
  return std::string(line.substr(0, line.find("//")));
}

std::vector<Include> includes_of(const std::vector<Line>& lines) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> includes;
  for (const Line& line : lines) {
    std::smatch match;
    if (std::regex_search(line.text, match, pattern)) {
      includes.push_back({line.number, match[2], match[1] == "<"});
    }
  }
  return includes;
}

}  // namespace smd::lint
