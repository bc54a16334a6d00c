// Files as a test sees them, those below /proc among them.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace smd::test {

/// A folder of a test's own, which goes with its owner.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "smd-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }

  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  Scratch(const Scratch&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Every byte; empty where it cannot be read.
inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Which file it is, and when it was written.
inline std::string file_identity(const std::filesystem::path& path) {
  struct stat is {};

  EXPECT_EQ(::stat(path.c_str(), &is), 0) << path;
  return std::to_string(is.st_ino) + " " + std::to_string(is.st_mtim.tv_sec) + "." +
         std::to_string(is.st_mtim.tv_nsec);
}

/// What /proc/PID/NAME says; empty where the process has ended.
inline std::string read_process(pid_t pid, const std::string& name) {
  return read_text("/proc/" + std::to_string(pid) + "/" + name);
}

/// Processes of this machine of which `is_one` is true, by number. They may end at any time.
inline std::vector<pid_t> find_processes(const std::function<bool(pid_t)>& is_one) {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const pid_t pid = std::stoi(name); is_one(pid)) out.push_back(pid);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace smd::test
