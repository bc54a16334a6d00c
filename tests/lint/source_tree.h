// The source tree as the lint tests read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::lint {

struct Line {
  int number = 0;  // 1-based
  std::string text;
};

struct SourceFile {
  std::string path;  // from the root: "smd/mad/smp.h"
  std::vector<Line> lines;

  [[nodiscard]] std::string folder() const;
};

/// C++ files below smd/, sim-backend/, plugins/ and tests/, in the order of their paths.
[[nodiscard]] const std::vector<SourceFile>& source_files();

/// Those below `folder` only.
[[nodiscard]] std::vector<SourceFile> source_files_below(std::string_view folder);

[[nodiscard]] std::vector<Line> read_lines(const std::string& path);

[[nodiscard]] std::string read_text(const std::string& path);

[[nodiscard]] bool is_below(std::string_view path, std::string_view folder);

/// Without what follows "//".
[[nodiscard]] std::string strip_comment(std::string_view line);

struct Include {
  int line = 0;
  std::string target;
  bool system = false;  // in angle brackets
};

[[nodiscard]] std::vector<Include> includes_of(const std::vector<Line>& lines);

}  // namespace smd::lint
