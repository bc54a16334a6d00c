// smd as a process: what it is told, and what comes of it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace smd::test::cli_test {

inline constexpr std::chrono::seconds kLimit{60};

inline std::string program(const std::string& name) {
  return test::build_path(std::string("bin/") + name);
}

inline Finished smd(std::vector<std::string> args) {
  args.insert(args.begin(), program("smd"));
  return run_process({.argv = std::move(args)}, kLimit);
}

/// A file in a folder of its own.
class Written {
 public:
  Written(const std::string& name, const std::string& text) : path_(folder_.path() / name) {
    std::ofstream(path_, std::ios::binary) << text;
  }

  [[nodiscard]] std::string path() const { return path_.string(); }

  [[nodiscard]] std::string folder() const { return folder_.path().string(); }

 private:
  Scratch folder_;
  std::filesystem::path path_;
};

/// Requires: exit code 2 and one line on stderr that contains every one of `parts`.
inline void expect_fault(const Finished& done, const std::vector<std::string>& parts) {
  EXPECT_EQ(done.exit_code, 2) << done.err;
  for (const std::string& part : parts) EXPECT_THAT(done.err, testing::HasSubstr(part));
  EXPECT_EQ(done.out, "");
}

}  // namespace smd::test::cli_test
